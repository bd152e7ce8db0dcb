//! The search for the end of a string, which is most of the cost of reading an event.

/// Returns the position of the first quote, backslash or control character. Compares eight bytes at a time within one
/// integer ("SIMD within a register"), of whose matches only the lowest is exact.
#[inline]
pub(crate) fn special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    const fn below(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(ONES * limit as u64) & !word & HIGH
    }
    const fn equal(word: u64, byte: u8) -> u64 {
        below(word ^ (ONES * byte as u64), 1)
    }
    let (words, rest) = bytes.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let hits = equal(word, b'"') | equal(word, b'\\') | below(word, b' ');
        if hits != 0 {
            return Some(place * 8 + hits.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' '))?;
    Some(words.len() * 8 + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_byte_is_found_at_every_offset() {
        for special_byte in [b'"', b'\\', 0, 31] {
            for at in 0..20 {
                for other in [b' ', b'!', b'#', b'[', 0x7f, 0x80, 0xa2, 0xff] {
                    let mut bytes = vec![other; 24];
                    assert_eq!(special(&bytes), None);
                    bytes[at] = special_byte;
                    bytes[at + 3] = b'"';
                    assert_eq!(special(&bytes), Some(at), "{special_byte} at {at} among {other}");
                }
            }
        }
    }
}
