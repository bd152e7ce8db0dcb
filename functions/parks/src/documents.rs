//! The search documents of items, field by field. A field that is not written here is not indexed.

pub mod name;
mod shapes;

use std::borrow::Cow;

use mirror::{Document, Found, Image, Mapping, Number, ShapeSource, StoredShape, Unfit};
use table::schema::{Entity, System};
use table::{Access, AccessPattern, Key};

use crate::keys::ItemKey;
use crate::names::Kind;
use crate::open_days::OpenDays;

pub use shapes::{BucketShapes, SHAPE};

/// The documents of parks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parks;

/// The mapping: every field with its type and its analyzer. Its version grows by one with every change of the
/// documents.
pub const MAPPING: Mapping = Mapping { version: 3, body: include_str!("documents/mapping.json") };

impl mirror::Documents for Parks {
    fn tables(&self) -> &'static System {
        &crate::schema::SYSTEM
    }

    fn mapping(&self) -> Mapping {
        MAPPING
    }

    /// Hidden and deleted items have documents, too, for administrators. Searches filter by `isVisible` and
    /// `isDeleted`.
    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut document = Document::new();
        match entity.name {
            "collection" => common(&mut document, image, Kind::Collection)?,
            "geozone" => {
                common(&mut document, image, Kind::Geozone)?;
                place(&mut document, image)?;
            }
            "facility" => {
                common(&mut document, image, Kind::Facility)?;
                place(&mut document, image)?;
                facility(&mut document, image)?;
            }
            "activity" => {
                common(&mut document, image, Kind::Activity)?;
                place(&mut document, image)?;
                activity(&mut document, image)?;
            }
            "product" => {
                common(&mut document, image, Kind::Product)?;
                product(&mut document, image)?;
            }
            _ => return Ok(Found::Hidden),
        }
        Ok(Found::Document(document))
    }
}

impl mirror::Mirrored for Parks {
    type Shapes = BucketShapes;

    const PATTERNS: &'static [&'static AccessPattern] = &[&SHAPE];

    fn shapes(access: Access) -> BucketShapes {
        BucketShapes::new(access)
    }
}

/// The fields of every kind of item.
fn common(document: &mut Document, image: &Image<'_>, kind: Kind) -> Result<(), Unfit> {
    document
        .keyword("globalId", image.optional_text("globalId")?.as_deref())
        .keyword("collectionId", image.optional_text("collectionId")?.as_deref())
        .integer("rank", name::rank(kind));
    if let Some(text) = image.optional_text("displayName")? {
        document
            .text("name", &*text)
            .text("wholeName", &*name::whole(&text))
            .keyword("nameOrder", &*name::in_order(&text))
            .integer("nameLength", i64::try_from(text.chars().count()).ok());
    }
    if let Some(terms) = image.optional_texts("searchTerms")? {
        document.texts("wholeTerms", terms.iter().map(|term| name::whole(term))).texts("searchTerms", terms);
    }
    if let Some(images) = image.optional_texts("imageUrls")? {
        document.text("image", images.first().map(|url| &**url));
    }
    document
        .text("description", image.optional_text("description")?.as_deref())
        .flag("isVisible", image.optional_flag("isVisible")?.unwrap_or(false))
        .flag("isDeleted", image.optional_flag("isDeleted")?.unwrap_or(false))
        .text("adminNotes", image.optional_text("adminNotes")?.as_deref())
        .keyword("createdAt", image.optional_text("createdAt")?.as_deref())
        .keyword("createdBy", image.optional_text("createdBy")?.as_deref())
        .keyword("updatedAt", image.optional_text("updatedAt")?.as_deref())
        .keyword("updatedBy", image.optional_text("updatedBy")?.as_deref());
    Ok(())
}

/// Further fields of items on the map.
fn place(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    document
        .number("number", image.optional_number("number")?)
        .number("minMapZoom", image.optional_number("minMapZoom")?)
        .number("maxMapZoom", image.optional_number("maxMapZoom")?)
        .keyword("externalId", image.optional_text("externalId")?.as_deref());
    if let Some(location) = image.optional_numbers("location")? {
        document.numbers("location", counted("location", "two or three numbers", location, &[2, 3])?);
    }
    if let Some(envelope) = image.optional_numbers("envelope")? {
        let degrees = degrees("envelope", envelope)?;
        document.text("envelope", degrees.join(",").as_str()).integer("extentArea", area(&degrees));
    }
    document
        .shape("boundary", shape(image, "boundary", "boundaryRef")?)
        .shape("path", shape(image, "path", "pathRef")?);
    Ok(())
}

/// The area in square metres of a box of west, south, east, north; at least 1. Items that contain a point are sorted by
/// it.
fn area(degrees: &[String; 4]) -> Option<i64> {
    const RADIUS: f64 = 6_371_008.771_4;
    let degrees: Result<Vec<f64>, _> = degrees.iter().map(|degrees| degrees.parse()).collect();
    let [west, south, east, north] = degrees.ok()?.try_into().ok()?;
    let width = if east < west { east - west + 360.0 } else { east - west };
    let height = north.to_radians().sin() - south.to_radians().sin();
    #[expect(clippy::cast_possible_truncation, reason = "the Earth has 5.1e14 square metres, and a cast saturates")]
    let area = (RADIUS * RADIUS * width.to_radians() * height) as i64;
    Some(area.max(1))
}

/// Further fields of facilities.
fn facility(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    document
        .keyword("type", image.optional_text("facilityType")?.as_deref())
        .keyword("subType", image.optional_text("subType")?.as_deref())
        .text("address", image.optional_text("address")?.as_deref())
        .flag("isOpen", image.optional_flag("isOpen")?)
        .flag("showOnMap", image.optional_flag("showOnMap")?.unwrap_or(true));
    Ok(())
}

/// Further fields of activities.
fn activity(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    document
        .keyword("type", image.optional_text("activityType")?.as_deref())
        .keyword("subType", image.optional_text("subType")?.as_deref())
        .keyword("activityKey", Some(key(image)?.document_id().as_str()));
    Ok(())
}

/// Further fields of products. `activityKey` joins an activity to its products, so that a search by days finds it.
fn product(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    let activity = ItemKey::parse(&key(image)?).and_then(|key| key.parent().key());
    let activity = activity.ok_or_else(|| unfit("pk", "the key of a product"))?;
    document
        .number("number", image.optional_number("number")?)
        .keyword("type", image.optional_text("activityType")?.as_deref())
        .keyword("activityKey", Some(activity.document_id().as_str()));
    if let Some(ranges) = image.optional_texts("openRanges")? {
        let open = OpenDays::of_ranges(ranges);
        let open =
            open.ok_or_else(|| unfit("openRanges", "a list of ranges as 2025-12-24/2025-12-26 of at most 1500 days"))?;
        document.keywords("openDates", open.each().map(|day| day.to_string()));
    }
    Ok(())
}

fn key(image: &Image<'_>) -> Result<Key, Unfit> {
    Ok(Key::new(image.text("pk")?, image.text("sk")?))
}

/// A shape from the item's own text or, if that is absent, from the object in S3 that the item references.
fn shape(image: &Image<'_>, inline: &str, reference: &str) -> Result<Option<ShapeSource>, Unfit> {
    let stored = image.optional_map(reference)?;
    if let Some(text) = image.optional_text(inline)? {
        return Ok(Some(ShapeSource::Inline(text.into_owned())));
    }
    let Some(stored) = stored else { return Ok(None) };
    let tolerances = stored.map("tolerances")?;
    Ok(Some(ShapeSource::Object(StoredShape {
        sha256: stored.text("sha256").map(Cow::into_owned)?,
        bytes: size(&stored, "bytes")?,
        positions: size(&stored, "positions")?,
        envelope: degrees("envelope", stored.numbers("envelope")?)?,
        fine_tolerance: tolerances.optional_number("fine")?.map(|fine| fine.as_str().to_owned()),
        coarse_tolerance: tolerances.number("coarse")?.as_str().to_owned(),
    })))
}

fn size(image: &Image<'_>, attribute: &str) -> Result<u64, Unfit> {
    let number = image.number(attribute)?.integer().and_then(|number| number.try_into().ok());
    number.ok_or_else(|| unfit(attribute, "a whole number from 0"))
}

/// West, south, east and north, digit for digit.
fn degrees(attribute: &str, numbers: Vec<Number<'_>>) -> Result<[String; 4], Unfit> {
    let texts: Vec<String> = numbers.iter().map(|number| number.as_str().to_owned()).collect();
    texts.try_into().map_err(|_| unfit(attribute, "four numbers"))
}

fn counted<'a>(
    attribute: &str,
    expected: &'static str,
    numbers: Vec<Number<'a>>,
    counts: &[usize],
) -> Result<Vec<Number<'a>>, Unfit> {
    if counts.contains(&numbers.len()) { Ok(numbers) } else { Err(unfit(attribute, expected)) }
}

fn unfit(attribute: &str, expected: &'static str) -> Unfit {
    Unfit { attribute: attribute.to_owned(), expected }
}

#[cfg(test)]
mod tests;
