//! Reports of states that the code rules out.

use std::fmt::Arguments;

/// Reports a state that the code rules out. It panics if debug assertions are on, as in tests. In production it logs an
/// error, and the caller fails the smallest unit that is safe to fail.
///
/// ```should_panic
/// let slots: Vec<u8> = Vec::new();
/// if slots.is_empty() {
///     never::never!("a project of {} slots", slots.len());
/// }
/// ```
#[macro_export]
macro_rules! never {
    ($($message:tt)+) => { $crate::report(format_args!($($message)+)) };
}

/// Reports the state; called by [`never!`].
#[doc(hidden)]
#[cold]
#[expect(clippy::panic, reason = "tests must fail on such a state; production does not panic")]
pub fn report(message: Arguments<'_>) {
    if cfg!(debug_assertions) {
        panic!("impossible state: {message}");
    }
    tracing::error!(detail = %message, "impossible state");
}
