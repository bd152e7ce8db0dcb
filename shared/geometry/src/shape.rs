//! A shape that passed the rules, and its canonical form.

use std::fmt::{self, Write as _};
use std::ops::Range;

use sha2::{Digest, Sha256};

/// Longitude and latitude in degrees, WGS 84.
pub type Position = [f64; 2];

/// GeoJSON's name of a geometry (RFC 7946, section 1.4), of those that Cairn takes.
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
        Self::ALL.into_iter().find(|of| of.as_str() == name)
    }

    /// Has rings, and so an area.
    pub const fn is_areal(self) -> bool {
        matches!(self, Self::Polygon | Self::MultiPolygon)
    }

    /// The type that holds several of this one's parts.
    pub(crate) const fn of_many(self) -> Self {
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

/// One geometry. Its positions lie in one row; `rings` says where each ring or line of them ends, `parts` where each
/// polygon's rings end. A line is a part of one such row, a point a part of one position.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    of: ShapeType,
    positions: Vec<Position>,
    /// One per position, or none at all.
    altitudes: Vec<f64>,
    rings: Vec<usize>,
    parts: Vec<usize>,
}

impl Shape {
    pub(crate) fn empty(of: ShapeType) -> Self {
        Self { of, positions: Vec::new(), altitudes: Vec::new(), rings: Vec::new(), parts: Vec::new() }
    }

    pub(crate) fn push(&mut self, position: Position, altitude: Option<f64>) {
        self.positions.push(position);
        self.altitudes.extend(altitude);
    }

    /// What was pushed since the last ring is a ring, or a line.
    pub(crate) fn end_ring(&mut self) {
        self.rings.push(self.positions.len());
    }

    /// What was ended since the last part is a part.
    pub(crate) fn end_part(&mut self) {
        self.parts.push(self.rings.len());
    }

    pub const fn shape_type(&self) -> ShapeType {
        self.of
    }

    /// How many positions, closing ones included.
    pub fn positions(&self) -> usize {
        self.positions.len()
    }

    /// How many polygons, lines or points.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// How many rings, shells and holes; lines and points have none.
    pub fn rings(&self) -> usize {
        if self.of.is_areal() { self.rings.len() } else { 0 }
    }

    /// The rings or lines of each part, as ranges of rows.
    pub(crate) fn part_rows(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        spans(&self.parts)
    }

    pub(crate) fn row(&self, row: usize) -> &[Position] {
        self.row_span(row).and_then(|span| self.positions.get(span)).unwrap_or_default()
    }

    pub(crate) fn row_altitudes(&self, row: usize) -> &[f64] {
        self.row_span(row).and_then(|span| self.altitudes.get(span)).unwrap_or_default()
    }

    fn row_span(&self, row: usize) -> Option<Range<usize>> {
        let end = self.rings.get(row).copied()?;
        let start = row.checked_sub(1).and_then(|before| self.rings.get(before).copied()).unwrap_or(0);
        Some(start..end)
    }

    pub(crate) fn all_positions(&self) -> &[Position] {
        &self.positions
    }

    /// `type` and `coordinates` without spaces, numbers as the shortest text that reads back to the same double, as
    /// Rust's `Display` writes them, −0 as 0. It is its own canonical form.
    pub fn canonical(&self) -> String {
        let mut text = String::with_capacity(64 + self.positions.len() * 44);
        self.write(&mut text, |text, number| {
            let _ = write!(text, "{}", number + 0.0);
        });
        text
    }

    /// The SHA-256 of the canonical form, in lower-case hexadecimal.
    pub fn sha256(&self) -> String {
        sha256(self.canonical().as_bytes())
    }

    /// The geometry as JSON, with numbers as the caller writes them.
    pub(crate) fn write(&self, text: &mut String, number: impl Fn(&mut String, f64)) {
        let _ = write!(text, "{{\"type\":\"{}\",\"coordinates\":", self.of);
        let many = matches!(self.of, ShapeType::MultiLineString | ShapeType::MultiPolygon);
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
        for (part, rows) in self.part_rows().enumerate() {
            separate(text, part);
            if self.of.is_areal() {
                text.push('[');
            }
            for (ring, row) in rows.enumerate() {
                separate(text, ring);
                let bare = self.of == ShapeType::Point;
                if !bare {
                    text.push('[');
                }
                for (at, place) in self.row(row).iter().enumerate() {
                    separate(text, at);
                    position(text, *place);
                }
                if !bare {
                    text.push(']');
                }
            }
            if self.of.is_areal() {
                text.push(']');
            }
        }
        if many {
            text.push(']');
        }
        text.push('}');
    }
}

/// The SHA-256 of some bytes, in lower-case hexadecimal: how an upload declares its content and S3 names it.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn separate(text: &mut String, at: usize) {
    if at > 0 {
        text.push(',');
    }
}

fn spans(ends: &[usize]) -> impl Iterator<Item = Range<usize>> + '_ {
    std::iter::once(&0).chain(ends).zip(ends).map(|(start, end)| *start..*end)
}
