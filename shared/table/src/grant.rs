//! The IAM permissions that a call needs: single actions on single resources.

use crate::access::{AccessPattern, Call, ObjectAction, SocketAction, TableAction};

/// One action on one resource, as a statement of a policy allows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grant {
    /// The action in IAM's spelling, such as `dynamodb:GetItem`.
    pub action: &'static str,
    pub resource: Resource,
}

/// The resource of an action, by logical names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    Table(String),
    /// These attributes of a table's items (`dynamodb:Attributes`).
    Attributes {
        table: String,
        attributes: Vec<String>,
    },
    Index {
        table: String,
        index: String,
    },
    /// The objects under a prefix of a bucket.
    Objects {
        bucket: String,
        prefix: String,
    },
    /// The names of a bucket's objects under a prefix (`s3:prefix`).
    Names {
        bucket: String,
        prefix: String,
    },
    Queue(String),
    /// The account's event bus, for events of this source (`events:source`).
    EventBus {
        source: String,
    },
    /// The connections of the system's socket, by this HTTP method of the management API.
    Connections {
        method: String,
    },
    Secret(String),
    /// A path of the search domain, without the first slash. `*` or `??????` stands for a generation's number.
    Search {
        path: String,
    },
}

impl AccessPattern {
    /// Returns the permissions that all calls of the pattern need.
    pub fn grants(&self) -> impl Iterator<Item = Grant> {
        self.calls.iter().map(Call::grant)
    }
}

impl Call {
    /// Returns the permission that the call needs.
    pub fn grant(&self) -> Grant {
        match *self {
            Self::Table { table, action } => {
                Grant { action: action.iam(), resource: Resource::Table(table.to_owned()) }
            }
            Self::Index { table, index } => Grant {
                action: TableAction::Query.iam(),
                resource: Resource::Index { table: table.to_owned(), index: index.to_owned() },
            },
            Self::Objects { bucket, prefix, action } => {
                let (bucket, prefix) = (bucket.to_owned(), prefix.to_owned());
                let resource = match action {
                    ObjectAction::ListBucket => Resource::Names { bucket, prefix },
                    _ => Resource::Objects { bucket, prefix },
                };
                Grant { action: action.iam(), resource }
            }
            Self::Queue { queue } => Grant { action: "sqs:SendMessage", resource: Resource::Queue(queue.to_owned()) },
            Self::EventBus { source } => {
                Grant { action: "events:PutEvents", resource: Resource::EventBus { source: source.to_owned() } }
            }
            Self::Socket { action } => {
                let method = action.method().to_owned();
                Grant { action: "execute-api:ManageConnections", resource: Resource::Connections { method } }
            }
            Self::Secret { secret } => {
                Grant { action: "secretsmanager:GetSecretValue", resource: Resource::Secret(secret.to_owned()) }
            }
            Self::Search { alias } => {
                Grant { action: "es:ESHttpPost", resource: Resource::Search { path: format!("{alias}/_search") } }
            }
        }
    }
}

impl TableAction {
    fn iam(self) -> &'static str {
        match self {
            Self::GetItem => "dynamodb:GetItem",
            Self::BatchGetItem => "dynamodb:BatchGetItem",
            Self::BatchWriteItem => "dynamodb:BatchWriteItem",
            Self::Query => "dynamodb:Query",
            Self::PutItem => "dynamodb:PutItem",
            Self::UpdateItem => "dynamodb:UpdateItem",
            Self::DeleteItem => "dynamodb:DeleteItem",
            Self::ConditionCheckItem => "dynamodb:ConditionCheckItem",
        }
    }
}

impl SocketAction {
    /// Returns the HTTP method of the operation, by which a policy distinguishes operations.
    fn method(self) -> &'static str {
        match self {
            Self::PostToConnection => "POST",
            Self::DeleteConnection => "DELETE",
        }
    }
}

impl ObjectAction {
    fn iam(self) -> &'static str {
        match self {
            // `s3:GetObject` allows HEAD, too.
            Self::GetObject | Self::HeadObject => "s3:GetObject",
            Self::PutObject => "s3:PutObject",
            Self::DeleteObject => "s3:DeleteObject",
            Self::ListBucket => "s3:ListBucket",
        }
    }
}
