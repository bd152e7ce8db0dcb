//! The rules of an item that a schema cannot state.

use table::Escaped;
use web::Fault;

use crate::item::Item;
use crate::open_days::MAX_DAYS;

/// The limit of an altitude in metres.
const MAX_ALTITUDE: f64 = 100_000.0;

/// All faults of an item.
pub fn faults(item: &Item) -> Vec<Fault> {
    let mut faults = Vec::new();
    match &item.location {
        Some(location) => faults.extend(location_faults(location)),
        None if item.needs_location() => {
            faults.push(Fault::pointer("/location", "is required: [longitude, latitude]"));
        }
        None => {}
    }
    faults.extend(item.timezone.as_deref().and_then(timezone_fault));
    let mut fault = |pointer: &str, detail: String| faults.push(Fault::pointer(pointer, detail));
    if let (Some(min), Some(max)) = (item.min_map_zoom, item.max_map_zoom)
        && min > max
    {
        fault("/minMapZoom", format!("must be at most maxMapZoom, which is {max}"));
    }
    if let (Some(min), Some(max)) = (item.min_stay_days, item.max_stay_days)
        && min > max
    {
        fault("/minStayDays", format!("must be at most maxStayDays, which is {max}"));
    }
    if let (Some(start), Some(_)) = (item.range_start, item.range_end) {
        match item.range() {
            None => fault("/rangeEnd", format!("must not be before rangeStart, which is {start}")),
            Some(days) if days.count() > MAX_DAYS => {
                fault(
                    "/rangeEnd",
                    format!("must be at most {MAX_DAYS} days from rangeStart on, and the range has {}", days.count()),
                );
            }
            Some(_) => {}
        }
    }
    faults.extend(item.external_id.as_deref().and_then(external_id_fault));
    faults
}

/// The faults of those members of a body whose rules concern no other member.
pub fn member_faults(location: Option<&[f64]>, timezone: Option<&str>, external_id: Option<&str>) -> Vec<Fault> {
    let mut faults = location.map(location_faults).unwrap_or_default();
    faults.extend(timezone.and_then(timezone_fault));
    faults.extend(external_id.and_then(external_id_fault));
    faults
}

fn timezone_fault(timezone: &str) -> Option<Fault> {
    let detail = "must be a name of the IANA time zone database, such as America/Vancouver";
    jiff::tz::TimeZone::get(timezone).is_err().then(|| Fault::pointer("/timezone", detail))
}

fn external_id_fault(external_id: &str) -> Option<Fault> {
    let is_too_long = Escaped::new(external_id).is_ok_and(|escaped| escaped.to_string().len() > 400);
    is_too_long.then(|| Fault::pointer("/externalId", "must have at most 400 bytes once escaped for its key"))
}

/// The faults of a position. `[0, 0]` is refused, because it usually means missing coordinates.
fn location_faults(position: &[f64]) -> Vec<Fault> {
    let whole = |detail: &str| vec![Fault::pointer("/location", detail)];
    let (&[longitude, latitude] | &[longitude, latitude, _]) = position else {
        return whole("must be [longitude, latitude] or [longitude, latitude, metres]");
    };
    if (longitude, latitude) == (0.0, 0.0) {
        return whole("[0, 0] usually means missing coordinates and is refused");
    }
    let may_be_swapped = longitude.abs() <= 90.0 && latitude.abs() <= 180.0;
    let detail = |index: usize, size: f64| match index {
        0 if size > 180.0 => Some("must be a longitude of -180 to 180"),
        1 if size > 90.0 && may_be_swapped => {
            Some("must be a latitude of -90 to 90; longitude comes first, so the coordinates may be swapped")
        }
        1 if size > 90.0 => Some("must be a latitude of -90 to 90"),
        2 if size > MAX_ALTITUDE => Some("must be an altitude of at most 100000 metres either way"),
        // DynamoDB cannot store numbers closer to 0.
        _ if size > 0.0 && size < 1e-100 => Some("must be 0 instead of a number this small"),
        _ => None,
    };
    let numbers = position.iter().enumerate();
    let fault = |(index, number): (usize, &f64)| {
        Some(Fault::pointer(format!("/location/{index}"), detail(index, number.abs())?))
    };
    numbers.filter_map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(location: &[f64]) -> Vec<Fault> {
        faults(&Item { pk: "geozone::a".to_owned(), location: Some(location.to_vec()), ..Item::default() })
    }

    #[test]
    fn location_off_the_map_or_swapped_is_a_fault() {
        assert_eq!(place(&[-125.589, 49.498]), []);
        assert_eq!(place(&[180.0, -90.0, 12.5]), []);
        for bad in [
            &[0.0, 0.0][..],
            &[0.0, 0.0, 5.0],
            &[49.28, -123.12],
            &[181.0, 0.0],
            &[1.0],
            &[1.0, 2.0, 1e9],
            &[1e-200, 2.0],
        ] {
            assert_eq!(place(bad).len(), 1, "{bad:?}");
        }
        assert_eq!(place(&[181.0, 91.0, 1e9]).len(), 3);
    }

    #[test]
    fn all_faults_are_returned() {
        let item = Item {
            pk: "facility::a".to_owned(),
            timezone: Some("Mars/Olympus".to_owned()),
            min_map_zoom: Some(9),
            max_map_zoom: Some(3),
            external_id: Some("#".repeat(140)),
            ..Item::default()
        };
        let places: Vec<_> = faults(&item).into_iter().map(|fault| fault.place).collect();
        let pointers = ["/location", "/timezone", "/minMapZoom", "/externalId"];
        assert_eq!(places, pointers.map(|pointer| web::fault::Place::Pointer(pointer.to_owned())));
    }
}
