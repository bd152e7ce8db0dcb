//! Exit codes for scripts. A failure is 1, and a command line that cannot be read is 2.

/// What reads the output has ended: the code of a process that the signal SIGPIPE ends.
pub const CLOSED_PIPE: u8 = 141;

/// Nothing failed, and there is something to do.
pub const TO_DO: u8 = 3;
