//! Random values from the schemas of an API description. Most of them are valid, some deliberately invalid.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// A generator whose values depend only on its seed.
pub struct Generator<'a> {
    pub random: Rng,
    description: &'a Value,
}

/// One of this many values is not of its schema's type.
const BROKEN: usize = 40;

/// Texts that are valid for some field.
const WORDS: [&str; 16] = [
    "bcparks_1",
    "1",
    "campground",
    "boundary",
    "entity",
    "grid:3",
    "bedwell lak",
    "https://example.org/a.png",
    "America/Vancouver",
    "2025-12-24/2025-12-26",
    "2025-12-24",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "-126,49.3,-125,49.9",
    "geozone::bcparks_1",
    "name",
    "true",
];

/// Texts that are valid for no field.
const TRAPS: [&str; 16] = [
    "",
    " ",
    "::",
    "#",
    "a::b#c",
    "\u{0}",
    "é\u{301}😀\u{202e}",
    "../../etc/passwd",
    "%2e%2e%2f",
    "2026-02-29",
    "9999999999999999999999",
    "-1",
    "NaN",
    "1e400",
    "{{7*7}}",
    "' OR 1=1 --",
];

impl<'a> Generator<'a> {
    pub fn new(random: Rng, description: &'a Value) -> Self {
        Self { random, description }
    }

    /// Returns true once in this many calls on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.random.usize(..times) == 0
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.random.usize(..from.len())].clone()
    }

    /// Returns a value as the text of a path, a query or a header.
    pub fn text(&mut self, schema: &Value) -> String {
        if let Some(example) = example(schema).as_str().filter(|_| !self.once_in(10)) {
            return example.to_owned();
        }
        let value = self.value(schema);
        plain_text(&value)
    }

    pub fn value(&mut self, schema: &Value) -> Value {
        if self.once_in(BROKEN) { self.broken() } else { self.fitting(schema) }
    }

    fn fitting(&mut self, schema: &Value) -> Value {
        if let Some(path) = schema["$ref"].as_str() {
            let referred = self.description.pointer(path.trim_start_matches('#')).unwrap_or_else(|| panic!("{path}"));
            return self.fitting(referred);
        }
        for choice in ["oneOf", "anyOf", "enum"] {
            let Some(choices) = schema[choice].as_array() else { continue };
            let chosen = self.pick(choices);
            return if choice == "enum" { chosen } else { self.fitting(&chosen) };
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().filter_map(|part| self.fitting(part).as_object().cloned());
            return Value::Object(parts.flatten().collect());
        }
        if !example(schema).is_null() && self.random.bool() {
            return example(schema).clone();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => self.pick(kinds),
            kind => kind.clone(),
        };
        match kind.as_str().unwrap_or("object") {
            "null" => Value::Null,
            "boolean" => Value::Bool(self.random.bool()),
            "integer" => json!(self.number(schema).round() as i64),
            "number" => json!(self.number(schema)),
            "array" => {
                let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
                let most = schema["maxItems"].as_u64().unwrap_or(3) as usize;
                let count = self.random.usize(least..=most.min(least + 3));
                (0..count).map(|_| self.value(&schema["items"])).collect()
            }
            "string" => json!(self.string(schema)),
            _ => self.object(schema),
        }
    }

    fn object(&mut self, schema: &Value) -> Value {
        let Some(properties) = schema["properties"].as_object() else { return self.geojson() };
        let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        let mut object = Map::new();
        for (name, property) in properties {
            let wanted = if required(name) { !self.once_in(BROKEN) } else { self.once_in(properties.len().max(3)) };
            if wanted {
                object.insert(name.clone(), self.value(property));
            }
        }
        if self.once_in(BROKEN) {
            object.insert(self.pick(&TRAPS).to_owned(), self.broken());
        }
        Value::Object(object)
    }

    fn string(&mut self, schema: &Value) -> String {
        let most = schema["maxLength"].as_u64().unwrap_or(40) as usize;
        match self.random.u8(..30) {
            0 | 1 => self.pick(&TRAPS).to_owned(),
            2 => "x".repeat(most),
            3 => "ü".repeat(most.min(300) + 1),
            // NFC makes three characters of four bytes of each.
            4 => "\u{1d160}".repeat(most.min(300)),
            _ => self.pick(&WORDS).to_owned(),
        }
    }

    fn number(&mut self, schema: &Value) -> f64 {
        let least = schema["minimum"].as_f64().unwrap_or(-200.0);
        let most = schema["maximum"].as_f64().unwrap_or(least + 400.0);
        match self.random.u8(..6) {
            0 => least,
            1 => most,
            _ => least + self.random.f64() * (most - least),
        }
    }

    fn geojson(&mut self) -> Value {
        let mut position = || json!([self.random.f64() * 370.0 - 185.0, self.random.f64() * 170.0 - 85.0]);
        let [a, b, c] = [position(), position(), position()];
        self.pick(&[
            json!({ "type": "Polygon", "coordinates": [[a, b, c, a]] }),
            json!({ "type": "MultiPolygon", "coordinates": [[[a, c, b, a]], [[b, c, a, b]]] }),
            json!({ "type": "LineString", "coordinates": [a, b, c] }),
            json!({ "type": "Feature", "geometry": { "type": "Polygon", "coordinates": [[a, b, c]] } }),
            json!({ "type": "Polygon", "coordinates": a }),
            json!({ "type": "Polygon" }),
            json!({}),
        ])
    }

    /// Returns a value that hardly any schema allows.
    pub fn broken(&mut self) -> Value {
        let trap = self.pick(&TRAPS);
        let deep = (0..60).fold(json!(1), |inner, _| json!([inner]));
        let long = "long ".repeat(5000);
        self.pick(&[
            Value::Null,
            json!(trap),
            json!(long),
            deep,
            json!({ trap: trap }),
            json!([]),
            json!([null, trap, 1]),
            json!(1e308),
            json!(-0.0),
            json!(9_007_199_254_740_993_i64),
            json!(-1),
            json!(true),
        ])
    }
}

/// Returns the example of a schema, or null if it has none.
fn example(schema: &Value) -> &Value {
    if schema["examples"].is_null() { &schema["example"] } else { &schema["examples"][0] }
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
