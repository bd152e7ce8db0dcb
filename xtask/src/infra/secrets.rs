//! The secrets of a system. They stay when their stack is deleted, since tokens are signed with keys of them.

use table::schema::Secret;

use super::names;
use super::node::{Node, sub};
use super::storage::kept;

/// The number of letters and digits of a secret, of about 6 random bits each.
pub const SECRET_LENGTH: u64 = 64;

pub fn secret(system: &str, secret: &Secret) -> Node {
    let generated = map! { "PasswordLength" => SECRET_LENGTH, "ExcludePunctuation" => true };
    let properties = vec![
        ("Name".to_owned(), sub(names::secret(secret.name))),
        ("Description".to_owned(), secret.description.into()),
        ("GenerateSecretString".to_owned(), generated),
        ("Tags".to_owned(), names::tag_list(system)),
    ];
    kept("AWS::SecretsManager::Secret", None, properties)
}
