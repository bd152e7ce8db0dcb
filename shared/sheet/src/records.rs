//! Records between line breaks, which may also stand between quotes.

/// Finds one record after the other in a file that comes in pieces.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// How much of the present record was scanned, and where that has led.
    scanned: usize,
    within: Within,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    /// Where a field begins.
    #[default]
    Begin,
    Plain,
    Quoted,
    /// After a quote in a quoted field: its end, unless another quote follows.
    Closing,
}

impl Within {
    /// Only a quote with which a field begins holds line breaks: a stray one spoils its own record alone.
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Begin | Self::Closing, b'"') => Self::Quoted,
            (Self::Quoted, b'"') => Self::Closing,
            (Self::Quoted, _) => Self::Quoted,
            (_, b',' | b'\n') => Self::Begin,
            // Before the first field there may be a byte-order mark.
            (Self::Begin, 0xef | 0xbb | 0xbf) => Self::Begin,
            _ => Self::Plain,
        }
    }
}

/// What there is at the begin of what is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A record of so many bytes, and how many it takes with its line break. Empty lines are empty records.
    Record {
        end: usize,
        taken: usize,
    },
    /// It takes more than is at hand.
    More,
    End,
    /// The file ends between quotes.
    Unclosed,
}

impl Records {
    /// The record that begins here. `at_end` says that nothing follows what is at hand.
    pub fn find(&mut self, rest: &[u8], at_end: bool) -> Found {
        let new = rest.get(self.scanned..).unwrap_or_default();
        let line_break = new.iter().position(|byte| {
            self.within = self.within.after(*byte);
            *byte == b'\n' && self.within == Within::Begin
        });
        let (end, taken) = match line_break {
            Some(at) => (self.scanned + at, self.scanned + at + 1),
            None if !at_end => {
                self.scanned = rest.len();
                return Found::More;
            }
            None if self.within == Within::Quoted => return Found::Unclosed,
            None if rest.is_empty() => return Found::End,
            None => (rest.len(), rest.len()),
        };
        *self = Self::default();
        let carriage_return = line_break.is_some() && end > 0 && rest.get(end - 1) == Some(&b'\r');
        Found::Record { end: end - usize::from(carriage_return), taken }
    }

    /// Gives up what was scanned of a record that is too large; so many bytes may be dropped.
    pub fn drop_scanned(&mut self) -> usize {
        std::mem::take(&mut self.scanned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records of a file that comes in pieces of this size.
    fn records(file: &str, piece: usize) -> Option<Vec<&str>> {
        let (mut records, mut from, mut to, mut all) = (Records::default(), 0, 0, Vec::new());
        loop {
            match records.find(&file.as_bytes()[from..to], to == file.len()) {
                Found::Record { end, taken } => {
                    all.push(file.get(from..from + end).unwrap());
                    from += taken;
                }
                Found::More => to = (to + piece).min(file.len()),
                Found::End => return Some(all),
                Found::Unclosed => return None,
            }
        }
    }

    #[test]
    fn line_breaks_between_quotes_belong_to_their_record() {
        let file = "a,b\r\n1,\"two\r\nlines\"\n\n2,x";
        for piece in 1..20 {
            assert_eq!(records(file, piece).unwrap(), ["a,b", "1,\"two\r\nlines\"", "", "2,x"], "{piece}");
            assert_eq!(records("a\n\"b", piece), None);
            assert_eq!(records("\u{feff}\"a\n\"\nb", piece).unwrap(), ["\u{feff}\"a\n\"", "b"]);
            assert_eq!(
                records("5\" pipe,1\n\"a\"\"\n\",6\"\nb", piece).unwrap(),
                ["5\" pipe,1", "\"a\"\"\n\",6\"", "b"]
            );
            assert_eq!(records("", piece).unwrap(), [""; 0]);
        }
    }
}
