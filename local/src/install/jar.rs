//! Jars: zip archives with uncompressed files (PKWARE's APPNOTE, sections 4.3.7, 4.3.12, 4.3.16).

use flate2::Crc;

/// Creates a jar with one file.
pub fn with_one_file(name: &str, content: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(content);
    let (length, name_length) = (low32(content.len()), low16(name.len()));

    // The fields that the local header and the central directory have in common.
    let mut described = Vec::new();
    described.extend([10, 0, 0, 0, 0, 0]); // version 1.0; no flags; stored
    described.extend([0, 0, 0x21, 0]); // 1980-01-01
    described.extend(crc.sum().to_le_bytes());
    described.extend(length);
    described.extend(length);
    described.extend(name_length);
    described.extend([0, 0]); // nothing extra

    let mut jar = Vec::new();
    jar.extend(b"PK\x03\x04");
    jar.extend(&described);
    jar.extend(name.as_bytes());
    jar.extend(content);
    let directory = low32(jar.len());
    let begin = jar.len();
    jar.extend(b"PK\x01\x02");
    jar.extend([10, 0]);
    jar.extend(&described);
    jar.extend([0; 14]); // no comment, disk 0, no attributes, at offset 0
    jar.extend(name.as_bytes());
    let directory_length = low32(jar.len() - begin);
    jar.extend(b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00");
    jar.extend(directory_length);
    jar.extend(directory);
    jar.extend([0, 0]);
    jar
}

fn low32(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

fn low16(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jar_is_a_zip_with_a_stored_file() {
        let jar = with_one_file("A.class", b"hello");
        assert_eq!(jar.len(), 30 + 7 + 5 + 46 + 7 + 22);
        assert_eq!(&jar[14..18], 0x3610_a686_u32.to_le_bytes(), "the CRC-32 of `hello`");
        assert_eq!(&jar[30..42], b"A.classhello");
        assert_eq!(jar[jar.len() - 6..jar.len() - 2], 42_u32.to_le_bytes(), "where the central directory begins");
    }
}
