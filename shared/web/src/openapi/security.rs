//! Security requirements. Each role is a scheme, since many tools accept scopes of a scheme only for OAuth.

use serde_json::{Map, Value, json};

use crate::Who;

/// Returns the alternative requirements of a request; `{}` requires nothing.
pub(super) fn of(who: Who) -> Value {
    let anonymous = matches!(who, Who::Views { .. }).then(|| json!({}));
    let tokens = tokens(who).into_iter().map(|role| json!({ (name(role)): [] }));
    anonymous.into_iter().chain(tokens).collect()
}

/// Returns the schemes of these requirements.
pub(super) fn schemes(who: Who) -> Map<String, Value> {
    tokens(who).into_iter().map(|role| (name(role).to_owned(), scheme(role))).collect()
}

/// Returns the alternative roles of a token; `None` stands for any valid token.
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
