//! Exit codes for scripts. A failure is 1, and a command line that cannot be read is 2.

/// The output is a closed pipe: the code that shells show for a process that SIGPIPE has killed.
pub const CLOSED_PIPE: u8 = 141;

/// Nothing failed, and there is something to do.
pub const TO_DO: u8 = 3;
