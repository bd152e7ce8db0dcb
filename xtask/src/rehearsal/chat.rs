//! The rehearsal of chat.

use super::Step::{self, Others};

pub const STEPS: &[Step] = &[Others];
