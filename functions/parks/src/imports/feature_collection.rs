//! A GeoJSON FeatureCollection, read feature by feature: only the brackets round them are looked at here.

use super::parser::{Parsed, ParserState};

/// What may lie before or after the features must fit so many bytes.
const AROUND: usize = 1024 * 1024;

/// Reads feature after feature.
#[derive(Debug)]
pub struct FeatureCollection {
    place: ParserState,
    /// How much of the present feature was scanned, with what stands before it, and how it stands there.
    scanned: usize,
    begin: usize,
    value: Value,
}

impl FeatureCollection {
    pub fn at(place: ParserState) -> Self {
        Self { place, scanned: 0, begin: 0, value: Value::default() }
    }

    pub fn place(&self) -> ParserState {
        self.place.clone()
    }

    pub fn find(&mut self, rest: &[u8], at_end: bool) -> Parsed {
        let found = match self.place {
            ParserState::Features { any, typed } => self.feature(rest, any, typed),
            ParserState::End => Ok(Parsed::End),
            _ => self.around(rest, at_end),
        };
        match found {
            Ok(found) => found,
            Err(Stop::Short) if at_end => Parsed::Broken("the file ends before the FeatureCollection does".to_owned()),
            Err(Stop::Short) => Parsed::More,
            Err(Stop::Wrong(reason)) => Parsed::Broken(reason),
            Err(Stop::Refused(pointer, detail)) => Parsed::Refused { pointer, detail },
        }
    }

    /// Gives up what was scanned of a feature that is too large.
    pub fn drop_scanned(&mut self) -> usize {
        self.begin = 0;
        std::mem::take(&mut self.scanned)
    }

    fn feature(&mut self, rest: &[u8], any: bool, typed: bool) -> Result<Parsed, Stop> {
        if !self.value.begun() {
            let mut text = Text { rest, at: 0 };
            let first = text.peek()?;
            match first {
                b']' => {
                    self.place = ParserState::Tail { typed };
                    return Ok(Parsed::Nothing(text.at + 1));
                }
                b',' if any => text.at += 1,
                _ if any => return Err(wrong("the features are not between commas")),
                _ => {}
            }
            if matches!(text.peek()?, b',' | b']' | b'}' | b':') {
                return Err(wrong("a feature is missing between two commas"));
            }
            (self.begin, self.scanned) = (text.at, text.at);
        }
        match self.value.end(rest, self.scanned) {
            Some(end) => {
                let begin = self.begin;
                self.place = ParserState::Features { any: true, typed };
                (self.scanned, self.begin, self.value) = (0, 0, Value::default());
                Ok(Parsed::Row { begin, end, taken: end })
            }
            None => {
                self.scanned = rest.len();
                Err(Stop::Short)
            }
        }
    }

    /// What lies before the list of features, or after it.
    fn around(&mut self, rest: &[u8], at_end: bool) -> Result<Parsed, Stop> {
        let mut text = Text { rest, at: 0 };
        let (mut typed, tail) = match self.place {
            ParserState::Tail { typed } => (typed, true),
            _ => (false, false),
        };
        let result = text.members(&mut typed, tail);
        if matches!(result, Err(Stop::Short)) && rest.len() > AROUND {
            return Err(wrong("the members around `features` are too large"));
        }
        if result? {
            self.place = ParserState::Features { any: false, typed };
            return Ok(Parsed::Nothing(text.at));
        }
        if !typed {
            return Err(wrong("its `type` is not FeatureCollection"));
        }
        if !tail {
            return Err(wrong("it has no `features`"));
        }
        match text.peek() {
            Ok(_) => Err(wrong("something follows the FeatureCollection")),
            Err(_) if at_end => {
                self.place = ParserState::End;
                Ok(Parsed::End)
            }
            Err(stop) => Err(stop),
        }
    }
}

#[derive(Debug)]
enum Stop {
    /// What is at hand ends here.
    Short,
    Wrong(String),
    /// What the file says at this JSON pointer is not taken.
    Refused(&'static str, &'static str),
}

fn wrong(reason: &str) -> Stop {
    Stop::Wrong(reason.to_owned())
}

/// JSON text as far as it is at hand.
struct Text<'a> {
    rest: &'a [u8],
    at: usize,
}

impl Text<'_> {
    /// The next byte that is no white space.
    fn peek(&mut self) -> Result<u8, Stop> {
        loop {
            match self.rest.get(self.at).ok_or(Stop::Short)? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                byte => return Ok(*byte),
            }
        }
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Stop> {
        let found = self.peek()?;
        if found != wanted {
            return Err(Stop::Wrong(format!("`{}` is expected", char::from(wanted))));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self) -> Result<&[u8], Stop> {
        self.peek()?;
        let begin = self.at;
        self.at = Value::default().end(self.rest, begin).ok_or(Stop::Short)?;
        Ok(self.rest.get(begin..self.at).unwrap_or_default())
    }

    /// Members up to the list of features: true there, false at the end of the object.
    fn members(&mut self, typed: &mut bool, tail: bool) -> Result<bool, Stop> {
        let mut first = !tail;
        if first {
            if self.rest.get(..3).ok_or(Stop::Short)? == "\u{feff}".as_bytes() {
                self.at = 3;
            }
            self.expect(b'{').map_err(|stop| match stop {
                Stop::Wrong(_) => wrong("it is not a JSON object"),
                stop => stop,
            })?;
        }
        loop {
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    return Ok(false);
                }
                _ if first => first = false,
                _ => self.expect(b',')?,
            }
            if self.peek()? != b'"' {
                return Err(wrong("a member's name is expected"));
            }
            let name: String =
                serde_json::from_slice(self.value()?).map_err(|_| wrong("a member's name is not a string"))?;
            self.expect(b':')?;
            match name.as_str() {
                "features" if tail => return Err(wrong("it has `features` twice")),
                "features" => {
                    self.expect(b'[')?;
                    return Ok(true);
                }
                "type" => {
                    let value = serde_json::from_slice::<String>(self.value()?);
                    *typed = value.is_ok_and(|value| value == "FeatureCollection");
                    if !*typed {
                        return Err(wrong("its `type` is not FeatureCollection"));
                    }
                }
                "crs" => {
                    let crs = std::str::from_utf8(self.value()?).is_ok_and(geometry::is_wgs84);
                    if !crs {
                        return Err(Stop::Refused("/crs", geometry::ONLY_WGS84));
                    }
                }
                _ => {
                    self.value()?;
                }
            }
        }
    }
}

/// The end of one JSON value, found byte by byte, in as many pieces as it comes.
#[derive(Debug, Default)]
struct Value {
    depth: usize,
    string: bool,
    escaped: bool,
    scalar: bool,
}

impl Value {
    fn begun(&self) -> bool {
        self.depth > 0 || self.string || self.scalar
    }

    /// Where the value ends, scanning from here; none if not in these bytes.
    fn end(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate().skip(from) {
            if self.string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.string = false;
                        if self.depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b'}' | b']' | b':' if self.scalar => return Some(at),
                b'"' if !self.scalar => self.string = true,
                b'{' | b'[' if !self.scalar => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ if self.depth == 0 => self.scalar = true,
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The features of a file that comes in pieces of this size, each read by a reader made anew.
    fn features(file: &str, piece: usize) -> Result<Vec<String>, String> {
        let (mut reader, mut from, mut to, mut features) =
            (FeatureCollection::at(ParserState::Start), 0, 0, Vec::new());
        loop {
            match reader.find(&file.as_bytes()[from..to], to == file.len()) {
                Parsed::Nothing(taken) => from += taken,
                Parsed::Row { begin, end, taken } => {
                    features.push(file.get(from + begin..from + end).unwrap().to_owned());
                    from += taken;
                    let place: ParserState =
                        serde_json::from_str(&serde_json::to_string(&reader.place()).unwrap()).unwrap();
                    reader = FeatureCollection::at(place);
                }
                Parsed::More => to = (to + piece).min(file.len()),
                Parsed::End => return Ok(features),
                Parsed::Broken(reason) => return Err(reason),
                Parsed::Refused { pointer, detail } => return Err(format!("{pointer} {detail}")),
            }
        }
    }

    #[test]
    fn features_are_found_in_whatever_pieces_they_come() {
        let file = r#"{"name":"a]}","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}, "x":{"x":[1]}, "features" : [ {"a":"}]\"{"} ,{"b":[[]]},  7 ,"s,"], "type":"FeatureCollection", "n":1 }
"#;
        for piece in 1..60 {
            let found = features(file, piece).unwrap();
            assert_eq!(found, [r#"{"a":"}]\"{"}"#, r#"{"b":[[]]}"#, "7", r#""s,""#], "{piece}");
        }
        assert_eq!(features(r#"{"type":"FeatureCollection","features":[]}"#, 5).unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_no_feature_collection_is_refused() {
        for (file, told) in [
            ("", "ends before"),
            ("[1]", "not a JSON object"),
            ("externalId,displayName", "not a JSON object"),
            (r#"{"type":"Feature","features":[]}"#, "`type`"),
            (r#"{"features":[]}"#, "`type`"),
            (r#"{"type":"FeatureCollection"}"#, "no `features`"),
            (r#"{"type":"FeatureCollection","features":{}}"#, "`[`"),
            (r#"{"type":"FeatureCollection","features":[1"#, "ends before"),
            (r#"{"type":"FeatureCollection","features":[{}{}]}"#, "commas"),
            (r#"{"type":"FeatureCollection","features":[{},]}"#, "missing"),
            (r#"{"type":"FeatureCollection","features":[],"features":[]}"#, "twice"),
            (r#"{"type":"FeatureCollection","features":[]}{"#, "follows"),
            (r#"{"type":"FeatureCollection","features":[]"#, "ends before"),
            (r#"{"crs":{"x":[1]},"type":"FeatureCollection","features":[]}"#, "/crs only WGS 84"),
            (r#"{"type":"FeatureCollection","features":[{}],"crs":"EPSG:3005"}"#, "/crs only WGS 84"),
        ] {
            for piece in [1, 7, 100] {
                let reason = features(file, piece).unwrap_err();
                assert!(reason.contains(told), "{file}: {reason}");
            }
        }
    }
}
