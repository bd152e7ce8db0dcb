//! Physical names and endpoints of one deployment. Nothing else reads the environment for them.

/// Where this deployment's engines are and what its resources are called.
#[derive(Clone, Debug)]
pub struct Config {
    /// Before every table, bucket, function and index name.
    pub prefix: String,
    pub region: String,
    /// Endpoint of DynamoDB; absent on AWS.
    pub dynamodb: Option<String>,
    /// Endpoint of S3; absent on AWS.
    pub s3: Option<String>,
    /// Endpoint of OpenSearch.
    pub search: String,
    /// Static credentials for local engines; absent on AWS, where the function's role is used.
    pub credentials: Option<(String, String)>,
    /// Secrets that sign cursors: the first signs, all verify, so that a secret can be rotated.
    pub cursor_secrets: Vec<String>,
    pub issuers: Vec<Issuer>,
}

/// Somebody whose bearer tokens are accepted.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// The short name that stands in keys: `{name}:{subject}`.
    pub name: String,
    /// The `iss` claim.
    pub issuer: String,
    /// The `aud` claim.
    pub audience: String,
    /// Its public keys as a JWK set document.
    pub keys: String,
}

impl Config {
    pub fn table(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub fn bucket(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The alias or index name in OpenSearch.
    pub fn search_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}
