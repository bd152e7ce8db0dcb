//! One item, date or relationship is answered in several representations, and each has an entity tag of its own.

use serde_json::{Value, json};

use super::products::product;
use super::relationships::relate;
use super::shapes::rectangle;
use crate::harness::{Answer, Cairn, User};
use crate::tests;

tests! { representations:
    #[long] etag_of_one_representation_does_not_match_another,
    dates_and_relationships_have_an_etag_per_view,
    if_match_accepts_the_etag_of_any_representation,
}

const CAMP: &str = "/parks/facilities/bcparks_1/campground/1";
const LIST: &str = "/parks/facilities/bcparks_1";

/// A platform with a visible campground 1 that has a shape and notes, and its path by global id.
async fn with_camp() -> (Cairn, User, User, String) {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let new = json!({
        "facilityType": "campground", "displayName": "Bear Camp", "location": [-125.5, 49.5], "isVisible": true,
        "adminNotes": "den", "externalId": "A-1", "boundary": rectangle(-125.6, 49.4, -125.4, 49.6)
    });
    let id = admin.post(LIST, new).await.is(201).text("globalId").to_owned();
    (cairn, admin, visitor, format!("/parks/items/{id}"))
}

/// A way to ask for an item.
#[derive(Clone)]
struct Asked {
    user: User,
    query: &'static str,
    geojson: bool,
}

impl Asked {
    fn all(admin: &User, visitor: &User) -> Vec<Self> {
        let mut all = Vec::new();
        for user in [admin, visitor] {
            for query in ["", "?geometry=full", "?geometry=none"] {
                for geojson in [false, true] {
                    all.push(Self { user: user.clone(), query, geojson });
                }
            }
        }
        all
    }

    async fn get(&self, path: &str, known: Option<&str>) -> Answer {
        let call = self.user.get(&format!("{path}{}", self.query));
        let call = if self.geojson { call.geojson() } else { call };
        if let Some(tag) = known { call.if_none_match(tag).await } else { call.await }
    }
}

async fn etag_of_one_representation_does_not_match_another() {
    let (_cairn, admin, visitor, by_id) = with_camp().await;
    let ways = Asked::all(&admin, &visitor);
    let mut seen: Vec<Answer> = Vec::new();
    for asked in &ways {
        let read = asked.get(CAMP, None).await.is(200);
        let content_type = if asked.geojson { "application/geo+json" } else { "application/json" };
        assert_eq!(read.header("content-type"), content_type, "{}", read.told());
        seen.push(read);
    }
    for (asked, own) in ways.iter().zip(&seen) {
        for other in &seen {
            for path in [CAMP, &by_id] {
                let answer = asked.get(path, Some(&other.tag())).await;
                if answer.status == 304 {
                    assert_eq!(own.body, other.body, "{} spares {}", other.request, answer.request);
                } else {
                    assert_eq!(answer.is(200).body, own.body);
                    assert_ne!(own.tag(), other.tag());
                }
            }
        }
        let same = asked.get(&by_id, Some(&own.tag())).await.is(304);
        assert_eq!(same.tag(), own.tag());
    }
    // An administrator who asks for the visitors' view gets their representation, tag and all.
    let public = admin.get(&format!("{CAMP}?view=public")).await.is(200);
    let visitors = visitor.get(CAMP).await.is(200);
    assert_eq!((public.tag(), &public.body), (visitors.tag(), &visitors.body));
    // A list names no state, so nothing is spared.
    for asked in ways.iter().filter(|asked| asked.query.is_empty()) {
        assert_eq!(asked.get(LIST, Some("*")).await.is(200).header("etag"), "");
    }
}

async fn dates_and_relationships_have_an_etag_per_view() {
    let (_cairn, admin, visitor, _) = with_camp().await;
    let activity = json!({ "activityType": "dayuse", "displayName": "Day use", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    admin.post("/parks/products/bcparks_1/dayuse/1", product("Pass")).await.is(201);
    let dates = "/parks/products/bcparks_1/dayuse/1/1/dates";
    let seed = json!({ "from": "2025-12-01", "to": "2025-12-01", "status": "open" });
    admin.post(dates, seed).await.is(200);
    let date = format!("{dates}/2025-12-01");
    let (mine, theirs) = (admin.get(&date).await.is(200), visitor.get(&date).await.is(200));
    assert_ne!(mine.tag(), theirs.tag());
    admin.get(&date).if_none_match(&theirs.tag()).await.is(200);
    visitor.get(&date).if_none_match(&mine.tag()).await.is(200);
    admin.get(&date).if_none_match(&mine.tag()).await.is(304);
    visitor.get(&date).if_none_match(&theirs.tag()).await.is(304);
    admin.patch(&date, json!({ "reason": "storm" })).if_match(&theirs.tag()).await.is(200);
    admin.patch(&date, json!({ "reason": "snow" })).if_match(&theirs.tag()).await.refused(412, "stale");

    let zone = json!({ "displayName": "Bedwell Lakes", "location": [-125.5, 49.5], "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
    let ends = ("geozone::bcparks_1/1", "facility::bcparks_1/campground::1");
    relate(&admin, ends.0, ends.1).await.is(201);
    let path = format!("/parks/relationships/{}/{}", ends.0, ends.1);
    let (mine, theirs) = (admin.get(&path).await.is(200), visitor.get(&path).await.is(200));
    assert_ne!(mine.tag(), theirs.tag());
    admin.delete(&path).if_match("\"2-public\"").await.refused(412, "stale");
    admin.delete(&path).if_match(&theirs.tag()).await.is(204);
}

async fn if_match_accepts_the_etag_of_any_representation() {
    let (_cairn, admin, visitor, _) = with_camp().await;
    let boundary = format!("{CAMP}/geometry/boundary");
    for (round, asked) in Asked::all(&admin, &visitor).into_iter().enumerate() {
        let tag = asked.get(CAMP, None).await.is(200).tag();
        let change = |name: String| admin.patch(CAMP, json!({ "displayName": name }));
        change(format!("Camp {round}")).if_match(&tag).await.is(200);
        change("Too late".to_owned()).if_match(&tag).await.refused(412, "stale");
        admin.put(&boundary, rectangle(1.0, 1.0, 2.0, 2.0)).if_match(&tag).await.refused(412, "stale");
        admin.delete(CAMP).if_match(&tag).await.refused(412, "stale");
    }
    let tag = visitor.get(CAMP).geojson().await.is(200).tag();
    let put = admin.put(&boundary, rectangle(1.0, 1.0, 2.0, 2.0)).if_match(&tag).await.is(200);
    let retype = format!("{CAMP}/retype");
    admin.post(&retype, json!({ "facilityType": "trail" })).if_match(&tag).await.refused(412, "stale");
    admin.post(&retype, json!({ "facilityType": "trail" })).if_match(&put.tag()).await.is(200);
    let read: Value = visitor.get("/parks/facilities/bcparks_1/trail/1").await.is(200).body;
    assert_eq!(read["displayName"], "Camp 11");
}
