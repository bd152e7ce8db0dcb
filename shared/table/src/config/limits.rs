//! The limits that a deployment changes.

use std::collections::BTreeMap;

use super::ConfigError;

/// Parses limits such as `sends=300,searches=600`.
pub fn read(text: &str) -> Result<BTreeMap<String, u32>, ConfigError> {
    let fault = || ConfigError {
        variable: "CAIRN_LIMITS",
        fault: "must be limits such as `sends=300,searches=600`, each of at least 1".to_owned(),
    };
    let limit = |part: &str| {
        let (name, most) = part.split_once('=')?;
        let most = most.trim().parse().ok().filter(|most| *most > 0)?;
        Some((name.trim().to_owned(), most))
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(|part| limit(part).ok_or_else(fault)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_names_with_numbers_of_at_least_1() {
        let limits = read("sends=300, searches=1").unwrap();
        assert_eq!(limits, [("searches".to_owned(), 1), ("sends".to_owned(), 300)].into());
        assert_eq!(read("").unwrap(), BTreeMap::new());
        for wrong in ["sends", "sends=0", "sends=x", "sends=1;searches=2"] {
            assert_eq!(read(wrong).unwrap_err().variable, "CAIRN_LIMITS", "{wrong}");
        }
    }
}
