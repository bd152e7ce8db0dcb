//! Issuers of bearer tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use opensearch::http::Url;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// An issuer whose bearer tokens are accepted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Declared", into = "Declared")]
pub struct Issuer {
    /// The unique short name that keys contain, as `{name}:{subject}`. See [`Issuer::may_be_named`].
    pub name: String,
    /// The `iss` claim.
    pub issuer: String,
    /// The expected value of the audience claim.
    pub audience: String,
    pub keys: Keys,
    pub claims: ClaimNames,
    /// Our names for its roles. If present, roles that are not in it are ignored.
    pub role_names: Option<BTreeMap<String, Vec<String>>>,
}

/// The paths of claims whose names differ between providers. Nested names are separated by dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimNames {
    pub audience: String,
    pub roles: String,
}

impl Default for ClaimNames {
    fn default() -> Self {
        Self { audience: "aud".to_owned(), roles: "roles".to_owned() }
    }
}

impl Issuer {
    /// Creates an issuer with the claim names of RFC 7519 and our role names.
    pub fn new(name: &str, issuer: &str, audience: &str, keys: Keys) -> Self {
        let (name, issuer, audience) = (name.to_owned(), issuer.to_owned(), audience.to_owned());
        Self { name, issuer, audience, keys, claims: ClaimNames::default(), role_names: None }
    }

    /// Describes the names that are allowed.
    pub const NAME: &str = "1 to 64 letters, digits, `.`, `_` or `-`, and not `address`";

    /// Whether an issuer may have this name. Keys contain it unescaped, up to the first colon. `address` is reserved:
    /// keys that begin with `address:` belong to addresses, not to people.
    pub fn may_be_named(name: &str) -> bool {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        (1..=64).contains(&name.len()) && name.bytes().all(fits) && name != "address"
    }
}

/// The source of an issuer's public keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keys {
    /// A JWK set document (RFC 7517), part of the configuration.
    Set(String),
    /// The URL of a JWK set document, either https or http on a loopback address.
    At(String),
}

/// An issuer in `CAIRN_ISSUERS`.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Declared {
    name: String,
    issuer: String,
    audience: String,
    /// A key set as JSON, or as a string that contains JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audience_claim: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    roles_claim: Option<String>,
    /// By the issuer's name of a role, one or several of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role_names: Option<BTreeMap<String, OneOrMany>>,
}

#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for Vec<String> {
    fn from(names: OneOrMany) -> Self {
        match names {
            OneOrMany::One(name) => vec![name],
            OneOrMany::Many(names) => names,
        }
    }
}

impl TryFrom<Declared> for Issuer {
    type Error = String;

    fn try_from(declared: Declared) -> Result<Self, String> {
        let Declared { name, issuer, audience, keys, jwks, audience_claim, roles_claim, role_names } = declared;
        if !Self::may_be_named(&name) {
            return Err(format!("`{name}` is not a valid name of an issuer; use {}", Self::NAME));
        }
        let keys = match (keys, jwks) {
            (Some(serde_json::Value::String(text)), None) => Keys::Set(text),
            (Some(document), None) => Keys::Set(document.to_string()),
            (None, Some(url)) => Keys::At(checked(&name, url)?),
            (Some(_), Some(_)) => {
                return Err(format!("issuer `{name}` has both `keys` and `jwks`; remove one of them"));
            }
            (None, None) => {
                return Err(format!("issuer `{name}` needs `keys`, a JWK set, or `jwks`, the URL of one"));
            }
        };
        let usual = ClaimNames::default();
        let claims = ClaimNames {
            audience: audience_claim.unwrap_or(usual.audience),
            roles: roles_claim.unwrap_or(usual.roles),
        };
        let role_names = role_names.map(|names| names.into_iter().map(|(own, ours)| (own, ours.into())).collect());
        Ok(Self { name, issuer, audience, keys, claims, role_names })
    }
}

impl From<Issuer> for Declared {
    fn from(issuer: Issuer) -> Self {
        let Issuer { name, issuer, audience, keys, claims, role_names } = issuer;
        let usual = ClaimNames::default();
        let unless = |usual: String, named: String| (named != usual).then_some(named);
        let (keys, jwks) = match keys {
            Keys::Set(document) => (Some(document.into()), None),
            Keys::At(url) => (None, Some(url)),
        };
        let many = |(own, ours)| (own, OneOrMany::Many(ours));
        Self {
            name,
            issuer,
            audience,
            keys,
            jwks,
            audience_claim: unless(usual.audience, claims.audience),
            roles_claim: unless(usual.roles, claims.roles),
            role_names: role_names.map(|names| names.into_iter().map(many).collect()),
        }
    }
}

/// Checks the URL of a key set. An attacker who can alter it in transit can sign tokens, so it needs TLS or a loopback
/// address.
fn checked(name: &str, url: String) -> Result<String, String> {
    let is_safe = Url::parse(&url).is_ok_and(|parsed| match parsed.scheme() {
        "https" => parsed.host_str().is_some_and(|host| !host.is_empty()),
        "http" => parsed.host_str().and_then(address).is_some_and(|address| address.is_loopback()),
        _ => false,
    });
    if is_safe {
        Ok(url)
    } else {
        Err(format!("`jwks` of issuer `{name}` must be an https URL, or an http URL with a loopback address"))
    }
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']']).parse().ok()
}

/// Parses the value of `CAIRN_ISSUERS`.
pub(super) fn read(text: &str) -> Result<Vec<Issuer>, ConfigError> {
    let wrong = |fault| ConfigError { variable: "CAIRN_ISSUERS", fault };
    let issuers: Vec<Issuer> = serde_json::from_str(text).map_err(|error| {
        wrong(format!(
            "must be a JSON list of issuers with `name`, `issuer`, `audience`, and `keys` or `jwks`: {error}"
        ))
    })?;
    let mut names = BTreeSet::new();
    if let Some(second) = issuers.iter().find(|issuer| !names.insert(issuer.name.as_str())) {
        return Err(wrong(format!("has two issuers named `{}`; names must be unique", second.name)));
    }
    Ok(issuers)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn with(keys: &str) -> Result<Keys, String> {
        let text = format!(r#"[{{"name": "a", "issuer": "https://a", "audience": "x"{keys}}}]"#);
        read(&text).map(|issuers| issuers[0].keys.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn key_set_is_read_as_json_and_as_string() {
        let set = Ok(Keys::Set(r#"{"keys":[]}"#.to_owned()));
        assert_eq!(with(r#", "keys": {"keys": []}"#), set);
        assert_eq!(with(r#", "keys": "{\"keys\":[]}""#), set);
    }

    #[test]
    fn key_set_url_without_tls_is_refused_unless_loopback() {
        for url in ["https://a.test/jwks", "http://127.0.0.1:8080/jwks", "http://127.1.2.3/", "http://[::1]:1/"] {
            assert_eq!(with(&format!(r#", "jwks": "{url}""#)), Ok(Keys::At(url.to_owned())));
        }
        for url in [
            "http://a.test/jwks",
            "http://localhost/jwks",
            "http://127.0.0.1.a.test/",
            "http://169.254.169.254/",
            "file:///etc/passwd",
            "a.test",
            "",
        ] {
            let refused = with(&format!(r#", "jwks": "{url}""#)).unwrap_err();
            assert!(refused.contains("`jwks` of issuer `a` must be an https URL"), "{refused}");
        }
    }

    #[test]
    fn serialised_issuer_is_read_back() {
        for keys in [Keys::Set(r#"{"keys":[]}"#.to_owned()), Keys::At("https://a.test/jwks".to_owned())] {
            let plain = Issuer::new("a", "https://a", "x", keys);
            let claims = ClaimNames { audience: "client_id".to_owned(), roles: "realm_access.roles".to_owned() };
            let role_names = Some(BTreeMap::from([("staff".to_owned(), vec!["b".to_owned(), "c".to_owned()])]));
            for issuer in [plain.clone(), Issuer { claims, role_names, ..plain }] {
                let written = serde_json::to_string(&[&issuer]).unwrap();
                assert_eq!(read(&written).unwrap(), [issuer], "{written}");
            }
        }
    }

    #[test]
    fn issuer_needs_exactly_one_of_keys_and_jwks() {
        let both = with(r#", "keys": {}, "jwks": "https://a.test""#).unwrap_err();
        assert!(both.contains("both `keys` and `jwks`"), "{both}");
        let neither = with("").unwrap_err();
        assert!(neither.contains("needs `keys`"), "{neither}");
        assert!(with(r#", "keys": {}, "kyes": 1"#).unwrap_err().contains("kyes"));
    }

    #[test]
    fn role_maps_to_one_name_or_several() {
        let text = r#"[{"name": "a", "issuer": "https://a", "audience": "x", "keys": {},
            "roleNames": {"staff": "editor", "it": ["editor", "platform-admin"]}}]"#;
        let names = read(text).unwrap()[0].role_names.clone().unwrap();
        assert_eq!((names["staff"].len(), names["it"].len()), (1, 2));
        let refused = read(&text.replace(r#""editor","#, "7,")).unwrap_err();
        assert_eq!(refused.variable, "CAIRN_ISSUERS");
    }

    /// Parses a list of issuers with these names.
    fn named(names: &[&str]) -> Result<Vec<Issuer>, ConfigError> {
        let declared = |name: &&str| json!({ "name": name, "issuer": "https://a", "audience": "x", "keys": {} });
        read(&Value::from_iter(names.iter().map(declared)).to_string())
    }

    #[test]
    fn name_with_other_characters_is_refused() {
        let longest = "x".repeat(64);
        for name in ["local", "A-1_b.c", "addresses", "Address", &longest] {
            assert_eq!(named(&[name]).unwrap()[0].name, name);
        }
        let too_long = "x".repeat(65);
        for name in ["", "corp:eu", "a/b", "a#b", "a~23b", "é", "a b", "address", &too_long] {
            let refused = named(&["local", name]).unwrap_err();
            assert_eq!(refused.variable, "CAIRN_ISSUERS");
            assert!(refused.fault.contains(&format!("`{name}` is not a valid name of an issuer")), "{refused}");
            assert!(refused.fault.contains(Issuer::NAME), "{refused}");
        }
    }

    #[test]
    fn two_issuers_with_one_name_are_refused() {
        assert_eq!(named(&["corp", "corp-eu"]).unwrap().len(), 2);
        let refused = named(&["corp", "local", "corp"]).unwrap_err().to_string();
        assert_eq!(refused, "CAIRN_ISSUERS has two issuers named `corp`; names must be unique");
    }
}
