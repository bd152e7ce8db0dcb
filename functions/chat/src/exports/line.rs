//! The lines of an export: a row of a table as JSON, without secrets.

use serde_json::{Value, json};
use table::schema::Table;
use table::{Error, Item, Stored, item};

use crate::names::UserId;

/// The attributes with credentials. They say nothing about the person, and a thief of the file could act as the person.
const SECRETS: [&str; 2] = ["PasswordHash", "Salt"];

/// Writes a row as a line. Attributes in `without` are left out.
pub fn write(file: &mut Vec<u8>, table: &Table, stored: &Stored, without: &[&str]) -> Result<(), Error> {
    let mut row = stored.item.clone();
    row.retain(|name, _| !SECRETS.contains(&name.as_str()) && !without.contains(&name.as_str()));
    let line = json!({ "table": table.name, "item": item::from_item::<Value>(row)? });
    file.extend_from_slice(line.to_string().as_bytes());
    file.push(b'\n');
    Ok(())
}

/// Whether a row names a user, in its key or in an attribute.
pub fn names(row: &Item, user: UserId) -> bool {
    let id = user.to_string();
    let value = item::from_item::<Value>(row.clone()).unwrap_or_default();
    contains(&value, &id)
}

fn contains(value: &Value, id: &str) -> bool {
    match value {
        Value::String(text) => text.contains(id),
        Value::Array(values) => values.iter().any(|value| contains(value, id)),
        Value::Object(members) => members.values().any(|value| contains(value, id)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use table::Key;

    use super::*;
    use crate::names::UserId;
    use crate::schema::USERS;

    #[test]
    fn line_has_no_secret() {
        let user = UserId::at(1);
        let value = json!({ "pk": format!("USER#{user}"), "Username": "ann", "PasswordHash": "$argon2id$", "rev": 1 });
        let item = item::to_item(&value).unwrap();
        let stored = Stored { key: Key::partition(format!("USER#{user}")), rev: None, item };
        let mut file = Vec::new();
        write(&mut file, &USERS, &stored, &["rev"]).unwrap();
        let line: Value = serde_json::from_slice(&file).unwrap();
        let expected = json!({ "table": "chat-Users", "item": { "pk": format!("USER#{user}"), "Username": "ann" } });
        assert_eq!(line, expected);
        assert!(file.ends_with(b"\n"));
    }

    #[test]
    fn row_names_a_user_in_any_attribute() {
        let user = UserId::at(1);
        let rows = [
            json!({ "sk": format!("REACTION#1#{user}") }),
            json!({ "Mentions": [user.to_string()] }),
            json!({ "LastReaction": { "By": user.to_string() } }),
        ];
        for row in rows {
            assert!(names(&item::to_item(&row).unwrap(), user), "{row}");
        }
        assert!(!names(&item::to_item(&json!({ "Content": "hi" })).unwrap(), user));
    }
}
