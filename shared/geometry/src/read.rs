//! A GeoJSON document, read in one pass: its geometry's type and positions, as they were sent, within the limits.

mod coordinates;

use std::collections::BTreeSet;

use crate::fault::{Faults, Member, Path};
use crate::json::{Json, Stop};
use crate::reference_system::{ONLY_WGS84, is_wgs84};
use crate::{Kind, Limits, Repair, Shape, ShapeType};

/// A geometry as it was sent, with longitudes up to ±360.
pub(crate) struct Raw {
    pub shape: Shape,
    /// For each ring or line: all its positions could be read, and it is one.
    pub sound: Vec<bool>,
    pub coordinates: Member,
}

impl Raw {
    /// The way to a ring, line or point: the members of `coordinates` above its positions.
    pub(crate) fn path(&self, part: usize, ring: usize) -> Path {
        match self.shape.shape_type() {
            ShapeType::Point | ShapeType::LineString => Path::default(),
            ShapeType::MultiLineString => Path::default().down(part),
            ShapeType::Polygon => Path::default().down(ring),
            ShapeType::MultiPolygon => Path::default().down(part).down(ring),
        }
    }
}

/// Reads what can be read, of one kind or of any. Nothing comes back if there is no geometry of it.
pub(crate) fn read(
    document: &[u8],
    kind: Option<Kind>,
    limits: &Limits,
    faults: &mut Faults,
    repairs: &mut BTreeSet<Repair>,
) -> Option<Raw> {
    let top = Member::default();
    if document.len() > limits.bytes {
        let detail = format!("{} bytes: a document has at most {}", document.len(), limits.bytes);
        faults.too_large(&top, Path::default(), detail);
        return None;
    }
    let text = match std::str::from_utf8(document) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            faults.at(&top, || format!("not UTF-8 at byte {}", error.valid_up_to()));
            return None;
        }
    };
    let json = Json::new(text, limits.depth);
    let mut reader =
        Reader { json, kind, limits, faults, repairs, at: top, path: Path::default(), dimensions: 0, raw: None };
    match reader.document() {
        Ok(()) => reader.raw,
        Err(stop) => {
            reader.stopped(stop);
            None
        }
    }
}

/// A text that no check has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the canonical form of a shape")]
pub struct NotCanonical;

impl Shape {
    /// Reads what [`Shape::canonical`] wrote, without checking it again. Who stored it under its hash compares that.
    pub fn parse_canonical(text: &str) -> Result<Self, NotCanonical> {
        let limits =
            Limits { bytes: usize::MAX, positions: usize::MAX, parts: usize::MAX, rings: usize::MAX, depth: 8 };
        let mut faults = Faults::default();
        let raw = read(text.as_bytes(), None, &limits, &mut faults, &mut BTreeSet::new());
        raw.filter(|_| faults.is_empty()).map(|raw| raw.shape).ok_or(NotCanonical)
    }
}

struct Reader<'a, 'b> {
    json: Json<'a>,
    kind: Option<Kind>,
    limits: &'b Limits,
    faults: &'b mut Faults,
    repairs: &'b mut BTreeSet<Repair>,
    /// Where the reader is, for faults.
    at: Member,
    path: Path,
    /// Of the first position; 0 before it.
    dimensions: usize,
    raw: Option<Raw>,
}

/// What an object may be, by where it stands.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Top,
    OnlyFeature,
    Geometry,
}

/// What an object is, by its `type`.
#[derive(Clone, Copy, PartialEq)]
enum Is {
    FeatureCollection,
    Feature,
    Geometry(ShapeType),
}

impl Is {
    /// The member that holds what it is about.
    fn content(self) -> &'static str {
        match self {
            Self::FeatureCollection => "features",
            Self::Feature => "geometry",
            Self::Geometry(_) => "coordinates",
        }
    }
}

impl Reader<'_, '_> {
    fn document(&mut self) -> Result<(), Stop> {
        self.object(Role::Top)?;
        self.json.end()
    }

    fn stopped(&mut self, stop: Stop) {
        match stop {
            Stop::Syntax { expected, byte } => {
                self.faults.within(&self.at, self.path, || {
                    format!("not JSON: at byte {byte} comes something else than {expected}")
                });
            }
            Stop::TooLarge(detail) => self.faults.too_large(&self.at, self.path, detail),
        }
    }

    fn object(&mut self, role: Role) -> Result<(), Stop> {
        let offset = self.json.offset();
        self.at.offset = offset;
        if self.json.peek() != Some(b'{') {
            self.json.skip()?;
            self.faults.at(&self.at, || "a GeoJSON object has a type".to_owned());
            return Ok(());
        }
        self.json.open(b'{')?;
        let (mut is, mut typed, mut done) = (None, false, false);
        let mut before: Vec<(&'static str, usize)> = Vec::new();
        let mut first = true;
        while self.json.more(&mut first, b'}')? {
            let name = self.json.name()?;
            let Some(name) =
                ["type", "coordinates", "geometry", "features", "crs"].into_iter().find(|known| *known == name)
            else {
                self.json.skip()?;
                continue;
            };
            let value = self.json.offset();
            if before.iter().any(|(seen, _)| *seen == name) {
                self.fault(name, value, "a second member of this name");
                self.json.skip()?;
                continue;
            }
            before.push((name, value));
            match name {
                "type" => {
                    typed = true;
                    is = self.type_of(role)?;
                }
                "crs" => self.reference_system()?,
                _ if is.is_some_and(|is| is.content() == name) => {
                    done = true;
                    self.member(name, |reader| reader.content(is))?;
                }
                _ => {
                    self.json.skip()?;
                }
            }
        }
        if !typed {
            self.fault("type", offset, "missing: a GeoJSON object has a type");
        }
        let Some(content) = is.map(Is::content).filter(|_| !done) else { return Ok(()) };
        let Some((_, value)) = before.iter().find(|(name, _)| *name == content) else {
            self.fault(content, offset, "missing");
            return Ok(());
        };
        // It came before the type, by which alone it can be read.
        let end = self.json.revisit(*value);
        self.member(content, |reader| reader.content(is))?;
        self.json.resume(end);
        Ok(())
    }

    fn type_of(&mut self, role: Role) -> Result<Option<Is>, Stop> {
        let value = self.json.offset();
        if self.json.peek() != Some(b'"') {
            self.json.skip()?;
            self.fault("type", value, "the type is a text");
            return Ok(None);
        }
        let name = self.json.string()?;
        let is = match (role, name.as_ref()) {
            (Role::Top, "FeatureCollection") => Some(Is::FeatureCollection),
            (Role::Top | Role::OnlyFeature, "Feature") => Some(Is::Feature),
            (Role::Top | Role::Geometry, name) => {
                ShapeType::parse(name).filter(|of| self.kind.is_none_or(|kind| kind.takes(*of))).map(Is::Geometry)
            }
            (Role::OnlyFeature, _) => None,
        };
        if is.is_none() {
            let types = self.kind.filter(|_| role != Role::OnlyFeature).map_or("Feature", Kind::types);
            let name: String = name.chars().take(40).collect();
            self.fault("type", value, &format!("{name:?} is not taken here, but {types}"));
        }
        Ok(is)
    }

    fn reference_system(&mut self) -> Result<(), Stop> {
        let value = self.json.offset();
        if is_wgs84(self.json.skip()?) {
            self.repairs.insert(Repair::Crs);
        } else {
            self.fault("crs", value, ONLY_WGS84);
        }
        Ok(())
    }

    fn content(&mut self, is: Option<Is>) -> Result<(), Stop> {
        match is {
            None => Ok(()),
            Some(Is::Feature) => self.object(Role::Geometry),
            Some(Is::FeatureCollection) => self.only_feature(),
            Some(Is::Geometry(of)) => self.coordinates(of),
        }
    }

    fn only_feature(&mut self) -> Result<(), Stop> {
        if self.json.peek() != Some(b'[') {
            self.json.skip()?;
            self.faults.at(&self.at, || "features is an array of one Feature".to_owned());
            return Ok(());
        }
        self.json.open(b'[')?;
        let (mut first, mut count) = (true, 0);
        while self.json.more(&mut first, b']')? {
            count += 1;
            if count == 1 {
                self.member("0", |reader| reader.object(Role::OnlyFeature))?;
            } else {
                self.json.skip()?;
            }
        }
        if count != 1 {
            self.faults.at(&self.at, || format!("one Feature is taken, not {count}"));
        }
        Ok(())
    }

    fn fault(&mut self, member: &str, offset: usize, detail: &str) {
        let member = Member { pointer: format!("{}/{member}", self.at.pointer), offset };
        self.faults.at(&member, || detail.to_owned());
    }

    /// Reads a member's value. Where that stops, the reader stays there.
    fn member(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        let member = Member { pointer: format!("{}/{name}", self.at.pointer), offset: self.json.offset() };
        let above = std::mem::replace(&mut self.at, member);
        read(self)?;
        self.at = above;
        Ok(())
    }
}
