//! The items behind the hits of a search: records, posts, collections and households.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use table::{Access, EntityKey, Error, Key, Stored};
use web::Problem;
use web::search::{Hit, One};

use super::criteria::Criteria;
use super::matched::matched;
use super::response::FoundRecord;
use crate::access::RECORD_HITS;
use crate::households::listed;
use crate::item::{Collection, Post};
use crate::keys::{CollectionKey, PostKey, RecordHouseholdKey, RecordKey};
use crate::names::{CollectionId, Household, PostId};
use crate::record::Record;
use crate::records::{CollectionOfRecord, PostOfRecord};
use crate::schema::ARCHIVE;
use crate::viewer::Viewer;

/// The fields of a hit.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HitFields {
    pk: One<String>,
    sk: One<String>,
    collection_id: One<String>,
    household: One<String>,
}

/// The parts of the keys of a hit's items.
struct FoundHit {
    record: Key,
    post: PostId,
    collection: CollectionId,
    household: Option<Household>,
    score: f64,
}

/// Loads the records of hits, in the order of the hits. A record that was deleted, whose run is no longer published, or
/// that the viewer may not see any more is `None`.
pub async fn load(
    access: &Access,
    hits: Vec<Hit<HitFields>>,
    criteria: &Criteria,
    viewer: &Viewer,
) -> Result<Vec<Option<FoundRecord>>, Problem> {
    let hits: Option<Vec<FoundHit>> = hits.into_iter().map(FoundHit::of).collect();
    let hits = hits.ok_or_else(|| Problem::internal("a hit lacks its keys"))?;
    let keys: Vec<Key> = hits.iter().flat_map(FoundHit::keys).collect();
    let table = access.table(&RECORD_HITS, &ARCHIVE);
    let found = joined(&hits, by_key(table.batch_get(&keys).await?), criteria, viewer)?;
    if found.iter().all(Option::is_some) {
        return Ok(found);
    }
    // An eventually consistent read may be older than search.
    Ok(joined(&hits, by_key(table.batch_get_consistent(&keys).await?), criteria, viewer)?)
}

fn by_key(stored: Vec<Option<Stored>>) -> HashMap<Key, Stored> {
    stored.into_iter().flatten().map(|stored| (stored.key.clone(), stored)).collect()
}

fn joined(
    hits: &[FoundHit],
    items: HashMap<Key, Stored>,
    criteria: &Criteria,
    viewer: &Viewer,
) -> Result<Vec<Option<FoundRecord>>, Error> {
    hits.iter().map(|hit| hit.join(&items, criteria, viewer)).collect()
}

impl FoundHit {
    fn of(hit: Hit<HitFields>) -> Option<Self> {
        let HitFields { pk, sk, collection_id, household } = hit.fields;
        let record = Key { pk: pk.get()?, sk: sk.get() };
        let post = RecordKey::parse(&record)?.post;
        let collection: CollectionId = collection_id.get()?.parse().ok()?;
        let household = household.get().and_then(|name| Household::new(&name).ok());
        Some(Self { record, post, collection, household, score: hit.score.unwrap_or_default() })
    }

    fn post_key(&self) -> Key {
        PostKey { post: self.post }.key()
    }

    fn collection_key(&self) -> Key {
        CollectionKey { collection: self.collection }.key()
    }

    fn household_key(&self) -> Option<Key> {
        let household = self.household.clone()?;
        Some(RecordHouseholdKey { post: self.post, household }.key())
    }

    fn keys(&self) -> impl Iterator<Item = Key> {
        [self.record.clone(), self.post_key(), self.collection_key()].into_iter().chain(self.household_key())
    }

    fn join(
        &self,
        items: &HashMap<Key, Stored>,
        criteria: &Criteria,
        viewer: &Viewer,
    ) -> Result<Option<FoundRecord>, Error> {
        let record: Option<Record> = read(items, &self.record)?;
        let post: Option<Post> = read(items, &self.post_key())?;
        let collection: Option<Collection> = read(items, &self.collection_key())?;
        let (Some(record), Some(post), Some(collection)) = (record, post, collection) else { return Ok(None) };
        if post.published_run != Some(record.run) || !viewer.sees_record(&record) {
            return Ok(None);
        }
        let household = match (&self.household, self.household_key().and_then(|key| items.get(&key))) {
            (Some(id), Some(stored)) => listed(id.clone(), stored, record.run, viewer)?,
            _ => None,
        };
        Ok(Some(FoundRecord {
            record: record.permanent_id,
            score: self.score,
            matched: matched(&record, criteria, viewer),
            people: record.people,
            events: record.events,
            household,
            post: PostOfRecord { id: post.id, name: post.name },
            collection: CollectionOfRecord { id: collection.id, name: collection.name },
        }))
    }
}

fn read<T: DeserializeOwned>(items: &HashMap<Key, Stored>, key: &Key) -> Result<Option<T>, Error> {
    items.get(key).map(Stored::read).transpose()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use table::item::to_item;

    use super::*;

    const TODAY: u32 = 20_261_125;

    fn stored(key: Key, item: Value) -> (Key, Stored) {
        (key.clone(), Stored { key, rev: None, item: to_item(&item).unwrap() })
    }

    /// The items of a record of run 2, whose post shows this run.
    fn items(published_run: Option<u32>, visible_from: Option<u32>) -> HashMap<Key, Stored> {
        let hit = hit();
        let audit = json!({ "createdAt": "", "updatedAt": "", "createdBy": "1000000000" });
        let with_audit = |mut item: Value| {
            item.as_object_mut().unwrap().extend(audit.as_object().unwrap().clone());
            item
        };
        let record = json!({
            "PK": "1000000008", "GSISK": "1000000008", "run": 2, "row": 1, "collectionId": "1000000002",
            "permanentId": "1000000004", "values": [], "people": [{ "role": "principal", "given": "Evan" }],
            "events": [], "relatives": [], "keywords": [], "household": "14", "visibleFrom": visible_from,
        });
        let post = json!({
            "PK": "1000000003", "GSISK": "1000000002", "name": "House 14", "ownerId": "1000000000", "metadata": {},
            "mapping": [], "status": "published", "run": 2, "publishedRun": published_run, "recordCount": 2,
            "householdCount": 1, "searchLag": false,
        });
        let collection = json!({
            "PK": "1000000002", "GSISK": "Census", "name": "Census", "description": "", "categoryIds": [],
            "citationTemplate": "",
        });
        let member = |id: &str, visible_from: Option<u32>| {
            let mut member = json!({ "id": id, "permanentId": id, "name": "A Pugh" });
            if let Some(day) = visible_from {
                member["visibleFrom"] = json!(day);
            }
            member
        };
        let members = json!({ "run_2": [member("1000000008", None), member("1000000009", Some(TODAY + 1))] });
        HashMap::from([
            stored(hit.record.clone(), with_audit(record)),
            stored(hit.post_key(), with_audit(post)),
            stored(hit.collection_key(), with_audit(collection)),
            stored(hit.household_key().unwrap(), members),
        ])
    }

    fn hit() -> FoundHit {
        let fields = json!({ "fields": {
            "pk": ["1000000008"], "sk": ["record_post#1000000003"], "collectionId": ["1000000002"],
            "household": ["14"],
        }, "_score": 20.0 });
        FoundHit::of(serde_json::from_value(fields).unwrap()).unwrap()
    }

    fn joined_for(viewer: Viewer, items: HashMap<Key, Stored>) -> Vec<FoundRecord> {
        let found = joined(&[hit()], items, &Criteria::default(), &viewer).unwrap();
        found.into_iter().flatten().collect()
    }

    #[test]
    fn hit_has_its_record_by_the_permanent_id_with_the_open_members_of_its_household() {
        let found = joined_for(Viewer::new(false, TODAY), items(Some(2), None));
        let found = found.first().unwrap();
        let names = (found.post.name.as_str(), found.collection.name.as_str());
        assert_eq!((found.record.number(), found.score, names), (1_000_000_004, 20.0, ("House 14", "Census")));
        assert_eq!(found.household.as_ref().map(|household| household.count), Some(1));
        let staff = joined_for(Viewer::new(true, TODAY), items(Some(2), None));
        assert_eq!(staff[0].household.as_ref().map(|household| household.count), Some(2));
    }

    #[test]
    fn hit_of_a_run_that_is_not_published_is_left_out() {
        for run in [None, Some(1), Some(3)] {
            assert!(joined_for(Viewer::new(true, TODAY), items(run, None)).is_empty(), "{run:?}");
        }
    }

    #[test]
    fn hit_that_was_closed_or_deleted_meanwhile_is_left_out() {
        let closed = items(Some(2), Some(TODAY + 1));
        assert!(joined_for(Viewer::new(false, TODAY), closed.clone()).is_empty());
        assert_eq!(joined_for(Viewer::new(true, TODAY), closed).len(), 1);
        for key in [hit().record, hit().post_key(), hit().collection_key()] {
            let mut items = items(Some(2), None);
            items.remove(&key);
            assert!(joined_for(Viewer::new(true, TODAY), items).is_empty(), "{key:?}");
        }
    }
}
