//! The `coordinates` of a geometry: positions in rings or lines, and these in parts.

use never::never;

use super::{RawShape, Reader};
use crate::json::ReadError;
use crate::position::check_position;
use crate::{Repair, Shape, ShapeType};

impl Reader<'_, '_> {
    pub(super) fn coordinates(&mut self, shape_type: ShapeType) -> Result<(), ReadError> {
        self.raw =
            Some(RawShape { shape: Shape::empty(shape_type), readable: Vec::new(), coordinates: self.at.clone() });
        match shape_type {
            ShapeType::Point => {
                self.position(&mut true)?;
                self.end_line(true)?;
                self.end_part()
            }
            ShapeType::LineString => self.line(),
            ShapeType::MultiLineString => self.array("must be an array of lines", Self::line),
            ShapeType::Polygon => self.polygon(),
            ShapeType::MultiPolygon => self.array("must be an array of polygons", Self::polygon),
        }
    }

    fn line(&mut self) -> Result<(), ReadError> {
        self.positions("a line must be an array of positions")?;
        self.end_part()
    }

    fn polygon(&mut self) -> Result<(), ReadError> {
        self.array("a polygon must be an array of rings", |reader| {
            reader.positions("a ring must be an array of positions")
        })?;
        self.end_part()
    }

    fn positions(&mut self, expected: &'static str) -> Result<(), ReadError> {
        let mut readable = true;
        let mut any = false;
        self.array(expected, |reader| {
            any = true;
            reader.position(&mut readable)
        })?;
        self.end_line(readable && any)
    }

    /// Reads the elements of an array that must not be empty. Anything else is a fault.
    fn array(
        &mut self,
        expected: &'static str,
        mut element: impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if self.json.peek() != Some(b'[') {
            self.json.skip()?;
            self.faults.within(&self.at, self.path, || expected.to_owned());
            return Ok(());
        }
        self.json.open(b'[')?;
        let above = self.path;
        let (mut first, mut count) = (true, 0);
        while self.json.more(&mut first, b']')? {
            self.path = above.down(count);
            count += 1;
            element(self)?;
        }
        self.path = above;
        if count == 0 {
            self.faults.within(&self.at, above, || format!("must not be empty: {expected}"));
        }
        Ok(())
    }

    fn position(&mut self, readable: &mut bool) -> Result<(), ReadError> {
        let numbers = &mut [0.0; 3];
        let mut count = 0;
        let mut all_numbers = self.json.peek() == Some(b'[');
        if all_numbers {
            self.json.open(b'[')?;
            let mut first = true;
            while self.json.more(&mut first, b']')? {
                let number = match self.json.peek() {
                    Some(b'-' | b'0'..=b'9' | b'N' | b'I') if self.json.skip_not_finite() => f64::NAN,
                    Some(b'-' | b'0'..=b'9') => self.json.number()?,
                    _ => {
                        self.json.skip()?;
                        all_numbers = false;
                        continue;
                    }
                };
                if let Some(slot) = numbers.get_mut(count) {
                    *slot = number;
                }
                count += 1;
            }
        } else {
            self.json.skip()?;
        }
        let numbers = if all_numbers { numbers.get(..count).unwrap_or_default() } else { &[] };
        if self.dimensions == 0 && matches!(count, 2 | 3) {
            self.dimensions = count;
        }
        let checked = check_position(numbers, self.dimensions);
        let has_altitude = self.dimensions == 3;
        let Some(raw) = self.raw() else { return Ok(()) };
        match checked {
            Ok(checked) => {
                raw.shape.push(checked.position, checked.altitude);
                if checked.snapped {
                    self.repairs.insert(Repair::Snapped);
                }
            }
            Err(detail) => {
                *readable = false;
                raw.shape.push([0.0, 0.0], has_altitude.then_some(0.0));
                self.faults.within(&self.at, self.path, || detail);
            }
        }
        self.check_limit("positions", Shape::positions, self.limits.positions)
    }

    fn end_line(&mut self, readable: bool) -> Result<(), ReadError> {
        let Some(raw) = self.raw() else { return Ok(()) };
        raw.shape.end_line();
        raw.readable.push(readable);
        self.check_limit("rings", Shape::rings, self.limits.rings)
    }

    fn end_part(&mut self) -> Result<(), ReadError> {
        let Some(raw) = self.raw() else { return Ok(()) };
        raw.shape.end_part();
        self.check_limit("parts", Shape::parts, self.limits.parts)
    }

    fn check_limit(&mut self, what: &str, count: fn(&Shape) -> usize, limit: usize) -> Result<(), ReadError> {
        match self.raw() {
            Some(raw) if count(&raw.shape) > limit => {
                Err(ReadError::TooLarge(format!("a shape may have at most {limit} {what}")))
            }
            _ => Ok(()),
        }
    }

    fn raw(&mut self) -> Option<&mut RawShape> {
        if self.raw.is_none() {
            never!("positions are read outside of `coordinates`");
        }
        self.raw.as_mut()
    }
}
