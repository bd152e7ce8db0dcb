//! The items that make usernames and addresses unique, and their moves. Each is in the transaction of its user.

use table::part::Escaped;
use table::{Action, Condition, item};
use web::Problem;

use crate::keys::{UserEmailKey, UsernameKey};
use crate::names::UserId;
use crate::schema::USERS;
use crate::usernames::address_key;
use crate::users::Guard;

/// The attribute of a guard with its owner.
const OWNER: &str = "UserId";

pub fn create_username(username: &str, user: UserId) -> Result<Action, Problem> {
    Ok(Action::create(&USERS, username_key(username)?, &Guard { user_id: user })?)
}

pub fn delete_username(username: &str, user: UserId) -> Result<Action, Problem> {
    Ok(Action::delete(&USERS, username_key(username)?).when(Condition::Equals(OWNER, item::text(user.to_string()))))
}

pub fn create_email(email: &str, user: UserId) -> Result<Action, Problem> {
    Ok(Action::create(&USERS, email_key(email)?, &Guard { user_id: user })?)
}

pub fn delete_email(email: &str, user: UserId) -> Result<Action, Problem> {
    Ok(Action::delete(&USERS, email_key(email)?).when(Condition::Equals(OWNER, item::text(user.to_string()))))
}

fn username_key(username: &str) -> Result<UsernameKey, Problem> {
    Ok(UsernameKey { username: Escaped::new(username).map_err(Problem::internal)? })
}

fn email_key(email: &str) -> Result<UserEmailKey, Problem> {
    Ok(UserEmailKey { email: Escaped::new(address_key(email)).map_err(Problem::internal)? })
}
