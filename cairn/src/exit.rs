//! Exit codes for scripts. A failure is 1, and a command line that cannot be read is 2.

/// Nothing failed, and there is something to do.
pub const TO_DO: u8 = 3;
