//! What a request needs to be let in. Roles are told as schemes, since the scopes of a scheme are for OAuth alone in the
//! eyes of many tools.

use serde_json::{Map, Value, json};

use crate::Who;

/// Any one of these will do; `{}` needs nothing.
pub(super) fn of(who: Who) -> Value {
    let anyone = matches!(who, Who::Views { .. }).then(|| json!({}));
    let tokens = tokens(who).into_iter().map(|role| json!({ (name(role)): [] }));
    anyone.into_iter().chain(tokens).collect()
}

/// The schemes that it names.
pub(super) fn schemes(who: Who) -> Map<String, Value> {
    tokens(who).into_iter().map(|role| (name(role).to_owned(), scheme(role))).collect()
}

/// The roles of which a token has one, or none where any token will do.
fn tokens(who: Who) -> Vec<Option<&'static str>> {
    match who {
        Who::Public => Vec::new(),
        Who::SignedIn => vec![None],
        Who::Views { fuller: role } | Who::Role(role) => vec![Some(role)],
        Who::AnyRole(roles) => roles.iter().copied().map(Some).collect(),
    }
}

fn name(role: Option<&'static str>) -> &'static str {
    role.unwrap_or("signed-in")
}

fn scheme(role: Option<&str>) -> Value {
    let description = role.map_or("Any valid token.".to_owned(), |role| format!("A token with the role `{role}`."));
    json!({ "type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": description })
}
