//! The tables and buckets of a system. They stay when their stack is deleted.

use table::schema::{Bucket, EXPIRES, EventSource, Projection, System, Table, failures_bucket};
use web::cors;

use super::function::Function;
use super::names::{self, resource};
use super::node::{Map, Node, attribute, reference, sub};

pub fn table(system: &str, table: &Table) -> Node {
    let mut names: Vec<&str> = [Some(table.pk), table.sk].into_iter().flatten().collect();
    for index in table.indexes {
        names.extend([Some(index.pk), index.sk].into_iter().flatten());
    }
    names.sort_unstable();
    names.dedup();
    let attributes: Vec<Node> =
        names.into_iter().map(|name| map! { "AttributeName" => name, "AttributeType" => "S" }).collect();
    let indexes: Vec<Node> = table
        .indexes
        .iter()
        .map(|index| {
            let projection = match index.projection {
                Projection::KeysOnly => map! { "ProjectionType" => "KEYS_ONLY" },
                Projection::All => map! { "ProjectionType" => "ALL" },
                Projection::Include(attributes) => {
                    let attributes: Vec<Node> = attributes.iter().map(|name| (*name).into()).collect();
                    map! { "ProjectionType" => "INCLUDE", "NonKeyAttributes" => attributes }
                }
            };
            map! { "IndexName" => index.name, "KeySchema" => key(index.pk, index.sk), "Projection" => projection }
        })
        .collect();
    let mut properties: Map = vec![
        ("TableName".to_owned(), sub(names::table(table.name))),
        ("BillingMode".to_owned(), "PAY_PER_REQUEST".into()),
        ("AttributeDefinitions".to_owned(), attributes.into()),
        ("KeySchema".to_owned(), key(table.pk, table.sk)),
    ];
    if !indexes.is_empty() {
        properties.push(("GlobalSecondaryIndexes".to_owned(), indexes.into()));
    }
    if table.stream {
        properties.push(("StreamSpecification".to_owned(), map! { "StreamViewType" => "NEW_AND_OLD_IMAGES" }));
    }
    properties.extend([
        ("TimeToLiveSpecification".to_owned(), map! { "AttributeName" => EXPIRES, "Enabled" => true }),
        ("PointInTimeRecoverySpecification".to_owned(), map! { "PointInTimeRecoveryEnabled" => true }),
        ("DeletionProtectionEnabled".to_owned(), reference("DeletionProtection")),
        ("Tags".to_owned(), names::tag_list(system)),
    ]);
    kept("AWS::DynamoDB::Table", None, properties)
}

fn key(pk: &str, sk: Option<&str>) -> Node {
    let part = |name: &str, kind: &str| map! { "AttributeName" => name, "KeyType" => kind };
    std::iter::once(part(pk, "HASH")).chain(sk.map(|sk| part(sk, "RANGE"))).collect::<Vec<_>>().into()
}

/// Returns a declared bucket with its notifications.
pub fn bucket(system: &System, bucket: &Bucket, functions: &[Function]) -> Node {
    let heard: Vec<(&str, &Function)> = system
        .sources
        .iter()
        .filter_map(|source| match source {
            EventSource::Objects { bucket: of, prefix, handler } if *of == bucket.name => {
                Some((*prefix, functions.iter().find(|function| function.name == *handler)?))
            }
            _ => None,
        })
        .collect();
    let notified: Vec<Node> = heard
        .iter()
        .map(|(prefix, function)| {
            let rules = list![map! { "Name" => "prefix", "Value" => *prefix }];
            map! {
                "Event" => "s3:ObjectCreated:*",
                "Filter" => map! { "S3Key" => map! { "Rules" => rules } },
                "Function" => attribute(function.resource("Function"), "Arn"),
            }
        })
        .collect();
    // S3 checks its permission when a notification is added.
    let after = heard.iter().map(|(_, function)| function.resource("Permission").into()).collect::<Vec<Node>>();
    let mut properties = private(bucket.name, system.name, bucket.expiring, RECOVERY_DAYS);
    if !notified.is_empty() {
        properties.push(("NotificationConfiguration".to_owned(), map! { "LambdaConfigurations" => notified }));
    }
    // Web pages use signed links, too.
    let methods: Vec<Node> = cors::LINK_METHODS.iter().map(|method| (*method).into()).collect();
    let rule = map! {
        "AllowedMethods" => methods,
        "AllowedOrigins" => reference("CorsOrigins"),
        "AllowedHeaders" => list!["*"],
        "ExposedHeaders" => list!["ETag"],
        "MaxAge" => u64::from(cors::MAX_AGE),
    };
    properties.push(("CorsConfiguration".to_owned(), map! { "CorsRules" => list![rule] }));
    kept("AWS::S3::Bucket", (!after.is_empty()).then_some(after), properties)
}

/// Returns the bucket of stream records that the mirror could not handle in time.
pub fn failures(system: &str) -> Node {
    kept("AWS::S3::Bucket", None, private(&failures_bucket(system), system, &[("", FAILURES_DAYS)], DEALT_WITH_DAYS))
}

const FAILURES_DAYS: u32 = 90;

/// The days for which a deleted object still counts as a discarded record.
const DEALT_WITH_DAYS: u64 = 1;

/// The days for which a table can be restored. The objects that its items refer to must exist as long.
const RECOVERY_DAYS: u64 = 35;

/// Returns the policy of a bucket, which refuses requests without TLS.
pub fn bucket_policy(bucket: &str) -> Node {
    let arn = names::bucket_arn(bucket);
    let statement = map! {
        "Sid" => "TlsOnly",
        "Effect" => "Deny",
        "Principal" => "*",
        "Action" => "s3:*",
        "Resource" => list![sub(arn.clone()), sub(format!("{arn}/*"))],
        "Condition" => map! { "Bool" => map! { "aws:SecureTransport" => "false" } },
    };
    map! {
        "Type" => "AWS::S3::BucketPolicy",
        "DeletionPolicy" => "RetainExceptOnCreate",
        "UpdateReplacePolicy" => "Retain",
        "Properties" => map! {
            "Bucket" => reference(resource(bucket, "Bucket")),
            "PolicyDocument" => map! { "Version" => super::policy::VERSION, "Statement" => list![statement] },
        },
    }
}

fn private(name: &str, system: &str, expiring: &[(&str, u32)], noncurrent: u64) -> Map {
    let rule = |prefix: &str, days: u32| {
        let mut rule: Map = vec![("Status".to_owned(), "Enabled".into())];
        if !prefix.is_empty() {
            rule.push(("Prefix".to_owned(), prefix.into()));
        }
        rule.push(("ExpirationInDays".to_owned(), u64::from(days).into()));
        Node::Map(rule)
    };
    let mut rules: Vec<Node> = expiring.iter().map(|(prefix, days)| rule(prefix, *days)).collect();
    rules.push(map! {
        "Status" => "Enabled",
        "AbortIncompleteMultipartUpload" => map! { "DaysAfterInitiation" => 1 },
        "NoncurrentVersionExpiration" => map! { "NoncurrentDays" => noncurrent },
        "ExpiredObjectDeleteMarker" => true,
    });
    let encryption = map! { "ServerSideEncryptionByDefault" => map! { "SSEAlgorithm" => "AES256" } };
    vec![
        ("BucketName".to_owned(), sub(names::bucket(name))),
        ("BucketEncryption".to_owned(), map! { "ServerSideEncryptionConfiguration" => list![encryption] }),
        (
            "PublicAccessBlockConfiguration".to_owned(),
            map! {
                "BlockPublicAcls" => true,
                "BlockPublicPolicy" => true,
                "IgnorePublicAcls" => true,
                "RestrictPublicBuckets" => true,
            },
        ),
        (
            "OwnershipControls".to_owned(),
            map! { "Rules" => list![map! { "ObjectOwnership" => "BucketOwnerEnforced" }] },
        ),
        ("VersioningConfiguration".to_owned(), map! { "Status" => "Enabled" }),
        ("LifecycleConfiguration".to_owned(), map! { "Rules" => rules }),
        ("Tags".to_owned(), names::tag_list(system)),
    ]
}

/// Returns a resource that outlives its stack, so that deleting the stack loses no data.
pub fn kept(kind: &str, after: Option<Vec<Node>>, properties: Map) -> Node {
    let mut resource: Map = vec![
        ("Type".to_owned(), kind.into()),
        // The resources of a failed first deployment are empty, and would block the next.
        ("DeletionPolicy".to_owned(), "RetainExceptOnCreate".into()),
        ("UpdateReplacePolicy".to_owned(), "Retain".into()),
    ];
    resource.extend(after.map(|after| ("DependsOn".to_owned(), after.into())));
    resource.push(("Properties".to_owned(), properties.into()));
    Node::Map(resource)
}
