//! Reads a GeoJSON document in one pass: the type and the positions of its geometry as sent, within the limits.

mod coordinates;

use std::collections::BTreeSet;

use crate::fault::{Faults, Member, Path};
use crate::json::{JsonReader, ReadError};
use crate::reference_system::{ONLY_WGS84, is_wgs84};
use crate::{Kind, Limits, Repair, Shape, ShapeType};

/// A geometry as sent, with longitudes up to ±360.
pub(crate) struct RawShape {
    pub shape: Shape,
    /// For each ring or line: it is an array, and each of its positions is valid.
    pub readable: Vec<bool>,
    pub coordinates: Member,
}

impl RawShape {
    /// Returns the path within `coordinates` to a ring, line or point, by its part and its index in the part.
    pub(crate) fn path(&self, part: usize, index: usize) -> Path {
        match self.shape.shape_type() {
            ShapeType::Point | ShapeType::LineString => Path::default(),
            ShapeType::MultiLineString => Path::default().down(part),
            ShapeType::Polygon => Path::default().down(index),
            ShapeType::MultiPolygon => Path::default().down(part).down(index),
        }
    }
}

/// Reads a geometry of one kind or of any, and collects its faults. Returns nothing if the document has no such
/// geometry or cannot be read to its end.
pub(crate) fn read(
    document: &[u8],
    kind: Option<Kind>,
    limits: &Limits,
    faults: &mut Faults,
    repairs: &mut BTreeSet<Repair>,
) -> Option<RawShape> {
    let top = Member::default();
    if document.len() > limits.bytes {
        let detail = format!("the document has {} bytes: at most {} are allowed", document.len(), limits.bytes);
        faults.too_large(&top, Path::default(), detail);
        return None;
    }
    let text = match std::str::from_utf8(document) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            faults.at(&top, || format!("the document is not UTF-8 at byte {}", error.valid_up_to()));
            return None;
        }
    };
    let json = JsonReader::new(text, limits.depth);
    let mut reader =
        Reader { json, kind, limits, faults, repairs, at: top, path: Path::default(), dimensions: 0, raw: None };
    match reader.document() {
        Ok(()) => reader.raw,
        Err(error) => {
            reader.fail(error);
            None
        }
    }
}

/// A text that [`Shape::canonical`] has not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is not the canonical form of a shape")]
pub struct NotCanonical;

impl Shape {
    /// Reads the output of [`Shape::canonical`] without checking it again. The caller compares its hash.
    pub fn parse_canonical(text: &str) -> Result<Self, NotCanonical> {
        let limits =
            Limits { bytes: usize::MAX, positions: usize::MAX, parts: usize::MAX, rings: usize::MAX, depth: 8 };
        let mut faults = Faults::default();
        let raw = read(text.as_bytes(), None, &limits, &mut faults, &mut BTreeSet::new());
        raw.filter(|_| faults.is_empty()).map(|raw| raw.shape).ok_or(NotCanonical)
    }
}

struct Reader<'a, 'b> {
    json: JsonReader<'a>,
    kind: Option<Kind>,
    limits: &'b Limits,
    faults: &'b mut Faults,
    repairs: &'b mut BTreeSet<Repair>,
    /// The current member and the path in it, for faults.
    at: Member,
    path: Path,
    /// The number of dimensions of the first position; 0 before it.
    dimensions: usize,
    raw: Option<RawShape>,
}

/// The place of an object in the document, which determines its types.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Top,
    OnlyFeature,
    Geometry,
}

/// The `type` of an object.
#[derive(Clone, Copy, PartialEq)]
enum ObjectType {
    FeatureCollection,
    Feature,
    Geometry(ShapeType),
}

impl ObjectType {
    /// Returns the name of the member with the content.
    fn content(self) -> &'static str {
        match self {
            Self::FeatureCollection => "features",
            Self::Feature => "geometry",
            Self::Geometry(_) => "coordinates",
        }
    }
}

impl Reader<'_, '_> {
    fn document(&mut self) -> Result<(), ReadError> {
        self.object(Role::Top)?;
        self.json.end()
    }

    fn fail(&mut self, error: ReadError) {
        match error {
            ReadError::Syntax { expected, byte } => {
                self.faults.within(&self.at, self.path, || {
                    format!("the document is not JSON: expected {expected} at byte {byte}")
                });
            }
            ReadError::TooLarge(detail) => self.faults.too_large(&self.at, self.path, detail),
        }
    }

    fn object(&mut self, role: Role) -> Result<(), ReadError> {
        let offset = self.json.offset();
        self.at.offset = offset;
        if self.json.peek() != Some(b'{') {
            self.json.skip()?;
            self.faults.at(&self.at, || "must be a GeoJSON object".to_owned());
            return Ok(());
        }
        self.json.open(b'{')?;
        let (mut object_type, mut has_type, mut has_content) = (None, false, false);
        let mut members: Vec<(&'static str, usize)> = Vec::new();
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
            if members.iter().any(|(seen, _)| *seen == name) {
                self.fault(name, value, "duplicate member");
                self.json.skip()?;
                continue;
            }
            members.push((name, value));
            match name {
                "type" => {
                    has_type = true;
                    object_type = self.type_of(role)?;
                }
                "crs" => self.reference_system()?,
                _ if object_type.is_some_and(|known| known.content() == name) => {
                    has_content = true;
                    self.member(name, |reader| reader.content(object_type))?;
                }
                _ => {
                    self.json.skip()?;
                }
            }
        }
        if !has_type {
            self.fault("type", offset, "missing: a GeoJSON object must have a type");
        }
        let Some(content) = object_type.map(ObjectType::content).filter(|_| !has_content) else { return Ok(()) };
        let Some((_, value)) = members.iter().find(|(name, _)| *name == content) else {
            self.fault(content, offset, "missing");
            return Ok(());
        };
        // The member came before the type that determines how to read it.
        let end = self.json.revisit(*value);
        self.member(content, |reader| reader.content(object_type))?;
        self.json.resume(end);
        Ok(())
    }

    fn type_of(&mut self, role: Role) -> Result<Option<ObjectType>, ReadError> {
        let value = self.json.offset();
        if self.json.peek() != Some(b'"') {
            self.json.skip()?;
            self.fault("type", value, "the type must be a string");
            return Ok(None);
        }
        let name = self.json.string()?;
        let object_type = match (role, name.as_ref()) {
            (Role::Top, "FeatureCollection") => Some(ObjectType::FeatureCollection),
            (Role::Top | Role::OnlyFeature, "Feature") => Some(ObjectType::Feature),
            (Role::Top | Role::Geometry, name) => ShapeType::parse(name)
                .filter(|known| self.kind.is_none_or(|kind| kind.allows(*known)))
                .map(ObjectType::Geometry),
            (Role::OnlyFeature, _) => None,
        };
        if object_type.is_none() {
            let types = self.kind.filter(|_| role != Role::OnlyFeature).map_or("Feature", Kind::types);
            let name: String = name.chars().take(40).collect();
            self.fault("type", value, &format!("{name:?} is not allowed here: must be {types}"));
        }
        Ok(object_type)
    }

    fn reference_system(&mut self) -> Result<(), ReadError> {
        let value = self.json.offset();
        if is_wgs84(self.json.skip()?) {
            self.repairs.insert(Repair::Crs);
        } else {
            self.fault("crs", value, ONLY_WGS84);
        }
        Ok(())
    }

    fn content(&mut self, object_type: Option<ObjectType>) -> Result<(), ReadError> {
        match object_type {
            None => Ok(()),
            Some(ObjectType::Feature) => self.object(Role::Geometry),
            Some(ObjectType::FeatureCollection) => self.only_feature(),
            Some(ObjectType::Geometry(shape_type)) => self.coordinates(shape_type),
        }
    }

    fn only_feature(&mut self) -> Result<(), ReadError> {
        if self.json.peek() != Some(b'[') {
            self.json.skip()?;
            self.faults.at(&self.at, || "features must be an array of one Feature".to_owned());
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
            self.faults.at(&self.at, || format!("must have one Feature, not {count}"));
        }
        Ok(())
    }

    fn fault(&mut self, member: &str, offset: usize, detail: &str) {
        let member = Member { pointer: format!("{}/{member}", self.at.pointer), offset };
        self.faults.at(&member, || detail.to_owned());
    }

    /// Reads the value of a member. After an error, the reader stays at that member.
    fn member(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Result<(), ReadError>) -> Result<(), ReadError> {
        let member = Member { pointer: format!("{}/{name}", self.at.pointer), offset: self.json.offset() };
        let above = std::mem::replace(&mut self.at, member);
        read(self)?;
        self.at = above;
        Ok(())
    }
}
