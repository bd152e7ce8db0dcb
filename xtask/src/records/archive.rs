//! A morning in an archive: a user is seen for the first time, a category is created, counted and renamed, a place is
//! created, a record is published and corrected by hand, and its household, which search never shows, is written.

use archive::audit::Audit;
use archive::households::Member;
use archive::item::{Category, User};
use archive::keys::{CategoryKey, CategoryUseKey, RecordHouseholdKey, RecordKey, UserKey};
use archive::mapping::PersonRole;
use archive::names::{CategoryId, CollectionId, Household, PlaceId, PostId, RecordId, RunNumber, UserId};
use archive::places::item::{Place, PlaceType, Source};
use archive::record::{Event, EventType, Person, Record, Sex};
use archive::schema::ARCHIVE;
use serde_json::{Value, json};
use table::EntityKey;

use super::{Write, invalid, of, stored};

const CREATED: &str = "2026-01-01T08:00:00.000000Z";
const UPDATED: &str = "2026-01-01T09:30:00.000000Z";
const REV: u64 = 3_534_508_800_000_000;

/// The stream records of all this.
pub fn records() -> Vec<Value> {
    let category = CategoryId::new(7_000_000_001);
    let (user, place) = (UserId::new(7_000_000_004), PlaceId::new(7_000_000_005));
    let (Some(category), Some(user), Some(place)) = (category, user, place) else { return invalid() };
    let catalog = of_catalog(category, user);
    let (Some(place), Some(register)) = (of_place(place, user), of_register(place, user)) else { return invalid() };
    of(&ARCHIVE, &catalog.into_iter().chain([place]).chain(register).collect::<Vec<_>>())
}

/// A user at first sight, and a category that is created and renamed and counts.
fn of_catalog(category: CategoryId, user: UserId) -> [Write; 4] {
    let births =
        Category::new(category, "Births".to_owned(), String::new(), Audit { at: CREATED.to_owned(), by: user });
    let baptisms = Category { name: "Baptisms".to_owned(), listed_by: "Baptisms".to_owned(), ..births.clone() };
    let sort_key = "iss=https%3A%2F%2Fid.example.org&sub=ann".to_owned();
    let ann = User::new(user, sort_key, Some("Ann Field".to_owned()), None, CREATED.to_owned());
    let (key, counts, of_ann) = (CategoryKey { category }.key(), CategoryUseKey {}.key(), UserKey { user }.key());
    let used = json!({ "n": 1, "c7000000001": 0 });
    let kept = |item: &Category, rev| stored(&ARCHIVE, &key, item, rev);
    [
        Write { before: None, after: stored(&ARCHIVE, &of_ann, &ann, REV), key: of_ann.clone() },
        Write { before: None, after: kept(&births, REV), key: key.clone() },
        Write { before: None, after: stored(&ARCHIVE, &counts, &used, REV), key: counts.clone() },
        Write { before: kept(&births, REV), after: kept(&baptisms, REV + 10), key: key.clone() },
    ]
}

/// A village that is created.
fn of_place(id: PlaceId, user: UserId) -> Option<Write> {
    let place = Place {
        alt_names: vec!["Llanuwchlyn".to_owned()],
        lat: Some("52.86".to_owned()),
        lon: Some("-3.67".to_owned()),
        created_by: Some(user),
        ..Place::new(id, PlaceType::Settlement, Source::Archive, CREATED)
    };
    let place = place.named("Llanuwchllyn", None).ok()?;
    let key = place.key()?;
    Some(Write { before: None, after: stored(&ARCHIVE, &key, &place, REV), key })
}

/// A record that is published and corrected, and its household.
fn of_register(place: PlaceId, user: UserId) -> Option<[Write; 3]> {
    let (post, id) = (PostId::new(7_000_000_003)?, RecordId::new(7_000_000_007)?);
    let household = Household::new("14").ok()?;
    let member = Member {
        id,
        permanent_id: id,
        name: "Evan Pugh".to_owned(),
        relation: Some("Head".to_owned()),
        visible_from: None,
    };
    let evan = Record {
        id,
        listed_by: id,
        run: RunNumber(1),
        row: 1,
        collection_id: CollectionId::new(7_000_000_002)?,
        permanent_id: id,
        values: ["14", "Pugh", "Evan", "Head", "abt 1838", "Llanuwchllyn"].map(str::to_owned).to_vec(),
        people: vec![person("Evan")],
        events: vec![Event {
            kind: EventType::Birth,
            role: PersonRole::Principal,
            date_text: "abt 1838".to_owned(),
            from: Some(18_360_101),
            to: Some(18_401_231),
            place_text: "Llanuwchllyn".to_owned(),
            place_id: Some(place),
            place_path: vec![place],
            lat: Some("52.86".to_owned()),
            lon: Some("-3.67".to_owned()),
        }],
        relatives: Vec::new(),
        keywords: Vec::new(),
        household: Some(household.name().to_owned()),
        relation: Some("Head".to_owned()),
        visible_from: None,
        corrections: Default::default(),
        created_at: CREATED.to_owned(),
        updated_at: CREATED.to_owned(),
        created_by: user,
    };
    let ifan = Record { people: vec![person("Ifan")], updated_at: UPDATED.to_owned(), ..evan.clone() };
    let key = RecordKey { record: id, post }.key();
    let of_household = RecordHouseholdKey { post, household }.key();
    let members = json!({ RunNumber(1).attribute(): [member] });
    let kept = |item: &Record, rev| stored(&ARCHIVE, &key, item, rev);
    Some([
        Write { before: None, after: kept(&evan, REV + 2), key: key.clone() },
        Write { before: None, after: stored(&ARCHIVE, &of_household, &members, REV + 4), key: of_household.clone() },
        Write { before: kept(&evan, REV + 2), after: kept(&ifan, REV + 12), key: key.clone() },
    ])
}

fn person(given: &str) -> Person {
    Person { role: PersonRole::Principal, given: given.to_owned(), surname: "Pugh".to_owned(), sex: Some(Sex::Male) }
}
