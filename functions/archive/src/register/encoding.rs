//! Encodings, and decoding a file that is read in pieces.

use encoding_rs::DecoderResult;
use serde::{Deserialize, Serialize};

/// An encoding of the WHATWG Encoding Standard, stored by its name, such as `windows-1252`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    pub const UTF_8: Self = Self(encoding_rs::UTF_8);
    pub const WINDOWS_1252: Self = Self(encoding_rs::WINDOWS_1252);

    /// Returns the encoding with this label, such as `latin2`. None if there is none, or if it is not for plain text.
    pub fn labelled(label: &str) -> Option<Self> {
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes())?;
        let is_text = encoding != encoding_rs::REPLACEMENT && encoding != encoding_rs::X_USER_DEFINED;
        is_text.then_some(Self(encoding))
    }

    /// Whether a text in this encoding can also be one in UTF-8, with another meaning, as in UTF-16.
    pub(super) fn may_look_like_utf_8(self) -> bool {
        !self.0.is_ascii_compatible()
    }

    /// Returns the encoding that the byte-order mark at the start of a file names.
    pub(super) fn of_mark(start: &[u8]) -> Option<Self> {
        encoding_rs::Encoding::for_bom(start).map(|(encoding, _)| Self(encoding))
    }

    /// Returns the encoding that the non-ASCII bytes of a text in an unknown language most resemble.
    pub(super) fn guessed(start: &[u8]) -> Self {
        let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
        detector.feed(start, true);
        Self(detector.guess(None, chardetng::Utf8Detection::Deny))
    }

    /// Returns the text of the problem that a file has bytes without a meaning in this encoding.
    pub(super) fn undecodable(self) -> String {
        let name = self.name();
        // Such an encoding is known from the file itself.
        let is_unicode = self.0.output_encoding() != self.0 || self == Self::UTF_8;
        let advice = if is_unicode { "" } else { ", or state another encoding" };
        format!("Some bytes of the file mean nothing in its encoding, {name}. Save the file as UTF-8{advice}.")
    }

    /// Returns the name of the encoding.
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl From<Encoding> for &'static str {
    fn from(encoding: Encoding) -> Self {
        encoding.name()
    }
}

impl TryFrom<String> for Encoding {
    type Error = String;

    fn try_from(label: String) -> Result<Self, String> {
        Self::labelled(&label).ok_or_else(|| {
            format!("no encoding is called `{label}`: use a name such as UTF-8, windows-1252 or ISO-8859-2")
        })
    }
}

/// What a call of [`Decoder::decode`] has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// It filled the buffer. There may be more.
    Text,
    /// It decoded the whole input.
    Input,
    /// It came to bytes that mean nothing in the encoding. The buffer has the text before them.
    Malformed,
}

/// A decoder of a file, which drops a byte-order mark at its start.
pub(super) struct Decoder {
    decoder: encoding_rs::Decoder,
    is_finished: bool,
}

impl Decoder {
    pub(super) fn new(encoding: Encoding) -> Self {
        Self { decoder: encoding.0.new_decoder_with_bom_removal(), is_finished: false }
    }

    /// Appends text to the buffer up to its capacity, and removes its bytes from the input. `is_last` says that the
    /// file ends with this input.
    pub(super) fn decode(&mut self, input: &mut &[u8], is_last: bool, buffer: &mut String) -> Decoded {
        // A decoder must not be used after the end of its file.
        if self.is_finished {
            return Decoded::Input;
        }
        let (result, read) = self.decoder.decode_to_string_without_replacement(input, buffer, is_last);
        *input = input.get(read..).unwrap_or_default();
        match result {
            DecoderResult::OutputFull => Decoded::Text,
            DecoderResult::InputEmpty => {
                self.is_finished = is_last;
                Decoded::Input
            }
            DecoderResult::Malformed(..) => {
                self.is_finished = true;
                Decoded::Malformed
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_is_stored_by_its_name_and_read_by_any_label() {
        let latin2: Encoding = serde_json::from_str("\"latin2\"").unwrap();
        assert_eq!(serde_json::to_string(&latin2).unwrap(), "\"ISO-8859-2\"");
        assert_eq!(Encoding::labelled("ISO-8859-1"), Some(Encoding::WINDOWS_1252));
        for label in ["", "EBCDIC", "replacement", "x-user-defined", "iso-2022-kr"] {
            assert_eq!(Encoding::labelled(label), None, "{label}");
        }
    }

    #[test]
    fn decoder_after_the_end_of_its_file_gives_no_text() {
        let mut decoder = Decoder::new(Encoding::UTF_8);
        let mut buffer = String::with_capacity(16);
        assert_eq!(decoder.decode(&mut b"a\xc3".as_slice(), true, &mut buffer), Decoded::Malformed);
        assert_eq!(decoder.decode(&mut b"b".as_slice(), true, &mut buffer), Decoded::Input);
        assert_eq!(buffer, "a");
    }
}
