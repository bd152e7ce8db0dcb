//! The `coordinates` of a geometry: positions in lines or rings, and these in parts.

use super::{Raw, Reader};
use crate::json::Stop;
use crate::position::place;
use crate::{Repair, Shape, ShapeType};

impl Reader<'_, '_> {
    pub(super) fn coordinates(&mut self, of: ShapeType) -> Result<(), Stop> {
        self.raw = Some(Raw { shape: Shape::empty(of), sound: Vec::new(), coordinates: self.at.clone() });
        match of {
            ShapeType::Point => {
                self.position(&mut true)?;
                self.end_row(true)?;
                self.end_part()
            }
            ShapeType::LineString => self.line(),
            ShapeType::MultiLineString => self.array("an array of lines", Self::line),
            ShapeType::Polygon => self.polygon(),
            ShapeType::MultiPolygon => self.array("an array of polygons", Self::polygon),
        }
    }

    fn line(&mut self) -> Result<(), Stop> {
        self.row("a line is an array of positions")?;
        self.end_part()
    }

    fn polygon(&mut self) -> Result<(), Stop> {
        self.array("a polygon is an array of rings", |reader| reader.row("a ring is an array of positions"))?;
        self.end_part()
    }

    fn row(&mut self, what: &'static str) -> Result<(), Stop> {
        let mut sound = true;
        let mut any = false;
        self.array(what, |reader| {
            any = true;
            reader.position(&mut sound)
        })?;
        self.end_row(sound && any)
    }

    /// Reads the elements of an array that must have some; anything else is a fault here.
    fn array(
        &mut self,
        what: &'static str,
        mut element: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if self.json.peek() != Some(b'[') {
            self.json.skip()?;
            self.faults.within(&self.at, self.path, || what.to_owned());
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
            self.faults.within(&self.at, above, || format!("empty: {what}"));
        }
        Ok(())
    }

    fn position(&mut self, sound: &mut bool) -> Result<(), Stop> {
        let numbers = &mut [0.0; 3];
        let mut count = 0;
        let mut all_numbers = self.json.peek() == Some(b'[');
        if all_numbers {
            self.json.open(b'[')?;
            let mut first = true;
            while self.json.more(&mut first, b']')? {
                let number = match self.json.peek() {
                    Some(b'-' | b'0'..=b'9' | b'N' | b'I') if self.json.not_a_number() => f64::NAN,
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
        let placed = place(numbers, self.dimensions);
        let Some(raw) = &mut self.raw else { return Ok(()) };
        match placed {
            Ok(placed) => {
                raw.shape.push(placed.position, placed.altitude);
                if placed.snapped {
                    self.repairs.insert(Repair::Snapped);
                }
            }
            Err(detail) => {
                *sound = false;
                raw.shape.push([0.0, 0.0], (self.dimensions == 3).then_some(0.0));
                self.faults.within(&self.at, self.path, || detail);
            }
        }
        if raw.shape.positions() > self.limits.positions {
            return Err(Stop::TooLarge(format!("a shape has at most {} positions", self.limits.positions)));
        }
        Ok(())
    }

    fn end_row(&mut self, sound: bool) -> Result<(), Stop> {
        let Some(raw) = &mut self.raw else { return Ok(()) };
        raw.shape.end_ring();
        raw.sound.push(sound);
        if raw.shape.rings() > self.limits.rings {
            return Err(Stop::TooLarge(format!("a shape has at most {} rings", self.limits.rings)));
        }
        Ok(())
    }

    fn end_part(&mut self) -> Result<(), Stop> {
        let Some(raw) = &mut self.raw else { return Ok(()) };
        raw.shape.end_part();
        if raw.shape.parts() > self.limits.parts {
            return Err(Stop::TooLarge(format!("a shape has at most {} parts", self.limits.parts)));
        }
        Ok(())
    }
}
