//! The proof that a caller knows the current password. A stolen access token alone changes neither password, name nor
//! address.

use web::{Context, Fault, Problem};

use crate::passwords::{Password, WRONG_PASSWORD};
use crate::rates;
use crate::users::User;

/// Returns 403 unless this is the password of the caller. A person whom another issuer signs in has none, and needs none.
pub async fn require(cx: &Context, user: &User, pointer: &str, current: Option<&Password>) -> Result<(), Problem> {
    let Some(hash) = user.password_hash.as_deref() else { return Ok(()) };
    let Some(current) = current.filter(|current| !current.is_absent()) else {
        return Err(Problem::faults(vec![Fault::pointer(pointer, "is required")]));
    };
    let who = user.id.to_string();
    // The attempt counts before the password is checked, so that attempts at the same time count as well.
    rates::count(cx, &rates::PASSWORDS, &[&who]).await?;
    if !current.verify(cx, Some(hash)).await? {
        return Err(WRONG_PASSWORD.because("This is not your current password."));
    }
    rates::give_back(cx, &rates::PASSWORDS, &[&who]).await
}
