//! A valid shape and its canonical form.

use std::fmt::{self, Write as _};
use std::ops::Range;

use never::never;
use sha2::{Digest, Sha256};

/// Longitude and latitude in degrees, WGS 84.
pub type Position = [f64; 2];

/// The geometry types of GeoJSON (RFC 7946, section 1.4) that Cairn supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShapeType {
    Point,
    LineString,
    MultiLineString,
    Polygon,
    MultiPolygon,
}

impl ShapeType {
    pub const ALL: [Self; 5] =
        [Self::Point, Self::LineString, Self::MultiLineString, Self::Polygon, Self::MultiPolygon];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Point => "Point",
            Self::LineString => "LineString",
            Self::MultiLineString => "MultiLineString",
            Self::Polygon => "Polygon",
            Self::MultiPolygon => "MultiPolygon",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }

    /// Returns whether shapes of this type have rings, and so an area.
    pub const fn is_areal(self) -> bool {
        matches!(self, Self::Polygon | Self::MultiPolygon)
    }

    /// Returns the type of a shape with several parts of this type.
    pub(crate) const fn multi(self) -> Self {
        match self {
            Self::Polygon => Self::MultiPolygon,
            Self::LineString => Self::MultiLineString,
            other => other,
        }
    }
}

impl fmt::Display for ShapeType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A geometry.
///
/// Its positions stand in one array. `line_ends` has the end of each ring or line among them, `part_ends` the end of
/// each part among these. A part is a polygon, a line or a point. In this crate, a *line* of a shape is also a ring of
/// a polygon, and the position of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    shape_type: ShapeType,
    positions: Vec<Position>,
    /// One for each position, or none.
    altitudes: Vec<f64>,
    line_ends: Vec<usize>,
    part_ends: Vec<usize>,
}

impl Shape {
    pub(crate) fn empty(shape_type: ShapeType) -> Self {
        Self { shape_type, positions: Vec::new(), altitudes: Vec::new(), line_ends: Vec::new(), part_ends: Vec::new() }
    }

    pub(crate) fn push(&mut self, position: Position, altitude: Option<f64>) {
        self.positions.push(position);
        self.altitudes.extend(altitude);
    }

    /// Ends a ring or line, with the positions that were pushed since the last one ended.
    pub(crate) fn end_line(&mut self) {
        self.line_ends.push(self.positions.len());
    }

    /// Ends a part, with the rings or the line that ended since the last one.
    pub(crate) fn end_part(&mut self) {
        self.part_ends.push(self.line_ends.len());
    }

    pub const fn shape_type(&self) -> ShapeType {
        self.shape_type
    }

    /// Returns the number of positions, the closing ones of rings included.
    pub fn positions(&self) -> usize {
        self.positions.len()
    }

    /// Returns the number of polygons, lines or points.
    pub fn parts(&self) -> usize {
        self.part_ends.len()
    }

    /// Returns the number of rings: shells and holes. Lines and points have none.
    pub fn rings(&self) -> usize {
        if self.shape_type.is_areal() { self.line_ends.len() } else { 0 }
    }

    /// Returns the rings or lines of each part, as ranges of their indices.
    pub(crate) fn part_lines(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        ranges(&self.part_ends)
    }

    /// Returns the positions of a ring or line.
    pub(crate) fn line(&self, line: usize) -> &[Position] {
        self.positions.get(self.line_range(line)).unwrap_or_else(|| {
            never!("line {line} has more than {} positions", self.positions.len());
            &[]
        })
    }

    /// Returns the altitudes of a ring or line, empty if the shape has none.
    pub(crate) fn line_altitudes(&self, line: usize) -> &[f64] {
        self.altitudes.get(self.line_range(line)).unwrap_or_default()
    }

    fn line_range(&self, line: usize) -> Range<usize> {
        let end = self.line_ends.get(line).copied().unwrap_or_else(|| {
            never!("line {line} of {}", self.line_ends.len());
            0
        });
        let start = line.checked_sub(1).and_then(|before| self.line_ends.get(before).copied()).unwrap_or(0);
        start..end
    }

    pub(crate) fn all_positions(&self) -> &[Position] {
        &self.positions
    }

    /// Returns the canonical form: `type` and `coordinates` without spaces. Each number is the shortest text that reads
    /// back to the same double, as Rust's `Display` writes it, with −0 as 0. Checking it returns the same form.
    pub fn canonical(&self) -> String {
        let mut text = String::with_capacity(64 + self.positions.len() * 44);
        self.write(&mut text, |text, number| {
            let _ = write!(text, "{}", number + 0.0);
        });
        text
    }

    /// Returns the SHA-256 of the canonical form, in lower-case hexadecimal.
    pub fn sha256(&self) -> String {
        sha256(self.canonical().as_bytes())
    }

    /// Writes the geometry as JSON, with numbers as the caller writes them.
    pub(crate) fn write(&self, text: &mut String, number: impl Fn(&mut String, f64)) {
        let _ = write!(text, "{{\"type\":\"{}\",\"coordinates\":", self.shape_type);
        let many = matches!(self.shape_type, ShapeType::MultiLineString | ShapeType::MultiPolygon);
        let mut altitudes = self.altitudes.iter();
        let mut position = |text: &mut String, [longitude, latitude]: Position| {
            text.push('[');
            number(text, longitude);
            text.push(',');
            number(text, latitude);
            if let Some(altitude) = altitudes.next() {
                text.push(',');
                number(text, *altitude);
            }
            text.push(']');
        };
        if many {
            text.push('[');
        }
        for (part, lines) in self.part_lines().enumerate() {
            separate(text, part);
            if self.shape_type.is_areal() {
                text.push('[');
            }
            for (index, line) in lines.enumerate() {
                separate(text, index);
                let is_point = self.shape_type == ShapeType::Point;
                if !is_point {
                    text.push('[');
                }
                for (index, at) in self.line(line).iter().enumerate() {
                    separate(text, index);
                    position(text, *at);
                }
                if !is_point {
                    text.push(']');
                }
            }
            if self.shape_type.is_areal() {
                text.push(']');
            }
        }
        if many {
            text.push(']');
        }
        text.push('}');
    }
}

/// Returns the SHA-256 of bytes, in lower-case hexadecimal: the form in which an upload declares its content and S3
/// names it.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes the comma before all elements but the first.
fn separate(text: &mut String, index: usize) {
    if index > 0 {
        text.push(',');
    }
}

fn ranges(ends: &[usize]) -> impl Iterator<Item = Range<usize>> + '_ {
    std::iter::once(&0).chain(ends).zip(ends).map(|(start, end)| *start..*end)
}
