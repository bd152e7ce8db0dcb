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
        Some(location) => faults.extend(location_fault(location)),
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
    let location = location.and_then(location_fault);
    let (timezone, external_id) = (timezone.and_then(timezone_fault), external_id.and_then(external_id_fault));
    [location, timezone, external_id].into_iter().flatten().collect()
}

fn location_fault(position: &[f64]) -> Option<Fault> {
    check_location(position).err().map(|detail| Fault::pointer("/location", detail))
}

fn timezone_fault(timezone: &str) -> Option<Fault> {
    let detail = "must be a name of the IANA time zone database, such as America/Vancouver";
    jiff::tz::TimeZone::get(timezone).is_err().then(|| Fault::pointer("/timezone", detail))
}

fn external_id_fault(external_id: &str) -> Option<Fault> {
    let is_too_long = Escaped::new(external_id).is_ok_and(|escaped| escaped.to_string().len() > 400);
    is_too_long.then(|| Fault::pointer("/externalId", "must have at most 400 bytes once escaped for its key"))
}

/// Checks a position. `[0, 0]` is refused, because it usually means missing coordinates.
fn check_location(position: &[f64]) -> Result<(), String> {
    let (&[longitude, latitude] | &[longitude, latitude, _]) = position else {
        return Err("must be [longitude, latitude] or [longitude, latitude, metres]".to_owned());
    };
    if (longitude, latitude) == (0.0, 0.0) {
        return Err("[0, 0] usually means missing coordinates and is refused".to_owned());
    }
    if latitude.abs() > 90.0 && longitude.abs() <= 90.0 && latitude.abs() <= 180.0 {
        return Err("the latitude exceeds 90; longitude comes first, so the coordinates may be swapped".to_owned());
    }
    if longitude.abs() > 180.0 || latitude.abs() > 90.0 {
        return Err("must be a longitude of -180 to 180 and a latitude of -90 to 90".to_owned());
    }
    if position.get(2).is_some_and(|metres| metres.abs() > MAX_ALTITUDE) {
        return Err("must have an altitude of at most 100000 metres either way".to_owned());
    }
    // DynamoDB cannot store numbers closer to 0.
    if position.iter().any(|number| *number != 0.0 && number.abs() < 1e-100) {
        return Err("must have 0 instead of a number this small".to_owned());
    }
    Ok(())
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
