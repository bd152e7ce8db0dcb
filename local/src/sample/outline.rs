//! Containment of places in a boundary.

/// The rings of a boundary, shells and holes of all its parts, with the box around them.
#[derive(Debug)]
pub struct Outline {
    rings: Vec<Vec<[f64; 2]>>,
    west_south: [f64; 2],
    east_north: [f64; 2],
}

impl Outline {
    pub fn new(rings: Vec<Vec<[f64; 2]>>) -> Self {
        let (mut west_south, mut east_north) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for [x, y] in rings.iter().flatten() {
            west_south = [west_south[0].min(*x), west_south[1].min(*y)];
            east_north = [east_north[0].max(*x), east_north[1].max(*y)];
        }
        Self { rings, west_south, east_north }
    }

    /// Whether the boundary contains a place, by the number of edges east of it. The rings must not cross ±180 degrees
    /// or enclose a pole.
    pub fn contains(&self, [x, y]: [f64; 2]) -> bool {
        let boxed =
            self.west_south[0] <= x && x <= self.east_north[0] && self.west_south[1] <= y && y <= self.east_north[1];
        let edges = self.rings.iter().flat_map(|ring| ring.iter().zip(ring.iter().skip(1)));
        let east = edges.filter(|([from_x, from_y], [to_x, to_y])| {
            (*from_y > y) != (*to_y > y) && x < from_x + (to_x - from_x) * ((y - from_y) / (to_y - from_y))
        });
        boxed && east.count() % 2 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline_excludes_holes_and_includes_islands() {
        let square = |from: f64, to: f64| vec![[from, from], [to, from], [to, to], [from, to], [from, from]];
        let outline = Outline::new(vec![square(0.0, 9.0), square(3.0, 6.0), square(20.0, 21.0)]);
        assert!(outline.contains([1.0, 1.0]) && outline.contains([20.5, 20.5]));
        assert!(!outline.contains([4.0, 4.0]) && !outline.contains([10.0, 10.0]) && !outline.contains([15.0, 5.0]));
    }
}
