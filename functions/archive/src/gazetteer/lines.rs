//! The gazetteer as lines of tab-separated values: the form of the sample.
//!
//! | line | columns |
//! |---|---|
//! | country | code, GeoNames number, name, inhabitants |
//! | division | code, name, inhabitants |
//! | city | GeoNames number, name, code of the division, latitude, longitude, inhabitants, alternative names |

use std::fmt::Write;

use super::{City, Country, Division, Gazetteer, GazetteerError};

impl Gazetteer {
    /// Reads what [`Gazetteer::to_lines`] wrote.
    pub fn from_lines(text: &str) -> Result<Self, GazetteerError> {
        let mut gazetteer = Self::default();
        for (index, line) in text.lines().enumerate() {
            let columns: Vec<&str> = line.split('\t').collect();
            gazetteer.read(&columns).ok_or_else(|| GazetteerError::Unreadable {
                file: "the lines of places",
                reason: format!("line {} is neither a country nor a division nor a city", index + 1),
            })?;
        }
        Ok(gazetteer)
    }

    fn read(&mut self, columns: &[&str]) -> Option<()> {
        match *columns {
            [code, number, name, inhabitants] => {
                let inhabitants = inhabitants.parse().ok()?;
                let country = Country { number: number.parse().ok()?, name: name.to_owned(), inhabitants };
                self.countries.insert(code.to_owned(), country);
            }
            [code, name, inhabitants] => {
                let division = Division { name: name.to_owned(), inhabitants: inhabitants.parse().ok()? };
                self.divisions.insert(code.to_owned(), division);
            }
            [number, name, division, lat, lon, inhabitants, ref alternatives @ ..] => {
                let position = [lat.to_owned(), lon.to_owned()];
                let alternatives = alternatives.iter().map(|name| (*name).to_owned()).collect();
                let inhabitants = inhabitants.parse().ok()?;
                let city = City::new(name.to_owned(), division.to_owned(), position, inhabitants, alternatives);
                self.cities.insert(number.parse().ok()?, city);
            }
            _ => return None,
        }
        Some(())
    }

    /// Writes the gazetteer as lines.
    pub fn to_lines(&self) -> String {
        let mut text = String::new();
        for (code, Country { number, name, inhabitants }) in &self.countries {
            let _ = writeln!(text, "{code}\t{number}\t{name}\t{inhabitants}");
        }
        for (code, Division { name, inhabitants }) in &self.divisions {
            let _ = writeln!(text, "{code}\t{name}\t{inhabitants}");
        }
        for (number, City { name, division, lat, lon, inhabitants, alternatives }) in &self.cities {
            let _ = write!(text, "{number}\t{name}\t{division}\t{lat}\t{lon}\t{inhabitants}");
            for alternative in alternatives {
                let _ = write!(text, "\t{alternative}");
            }
            text.push('\n');
        }
        text
    }
}
