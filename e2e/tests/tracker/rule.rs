//! What always holds: each issue's rows equal f(issue item, attributes), and the gates sum to the live and open issues.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::types::AttributeValue;
use table::item::from_item;
use table::{EntityKey, Item, Key};
use tracker::items::{AttributeItem, Gate, Issue, State, Status};
use tracker::keys::{AttributeKey, BlankRowKey, GateKey, IssueDueKey, IssueKey, StateRowKey, ValueRowKey};
use tracker::names::ProjectId;
use tracker::project::Attribute;
use tracker::rows::{Rows, rows};

use crate::harness::Cairn;

/// What a whole table was found to hold.
pub struct Project {
    pub issues: usize,
    pub items: Vec<Item>,
}

pub async fn all(cairn: &Cairn) -> Vec<Item> {
    let engines = cairn.engines();
    let mut items = Vec::new();
    let mut start = None;
    loop {
        let page = engines.dynamodb().scan().table_name(engines.config.table("tracker")).consistent_read(true);
        let page = page.set_exclusive_start_key(start).send().await.unwrap();
        items.extend(page.items.unwrap_or_default());
        start = page.last_evaluated_key;
        if start.is_none() {
            return items;
        }
    }
}

pub async fn check(cairn: &Cairn) -> Project {
    let items = all(cairn).await;
    let mut attributes: BTreeMap<ProjectId, Vec<Attribute>> = BTreeMap::new();
    let mut issues: Vec<(IssueKey, Issue)> = Vec::new();
    let mut found = Rows::new();
    let mut gates: BTreeMap<ProjectId, (i64, i64)> = BTreeMap::new();
    for item in &items {
        let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned();
        let key = Key::new(text("PK").unwrap(), text("SK").unwrap());
        if let Some(AttributeKey { project, attribute }) = AttributeKey::parse(&key) {
            let read: AttributeItem = from_item(item.clone()).unwrap();
            attributes.entry(project).or_default().push(Attribute { id: attribute, item: read });
        } else if let Some(issue) = IssueKey::parse(&key) {
            issues.push((issue, from_item(item.clone()).unwrap()));
        } else if let Some(GateKey { project, .. }) = GateKey::parse(&key) {
            let gate: Gate = from_item(item.clone()).unwrap();
            let sums = gates.entry(project).or_default();
            (sums.0, sums.1) = (sums.0 + gate.live, sums.1 + gate.open);
        } else if is_row(&key) {
            found.insert(key, text("Data").unwrap());
        } else {
            assert_eq!(IssueDueKey::parse(&key), None, "an issue is not settled");
        }
    }
    each_open_job_has_its_slots(&items);
    let mut expected = Rows::new();
    let mut numbers = BTreeSet::new();
    for (IssueKey { issue: id, project }, issue) in &issues {
        assert_eq!(issue.unsettled, None, "{id:?}");
        assert!(numbers.insert((*project, issue.num)), "number {} is given twice", issue.num);
        expected.extend(rows(*id, *project, issue, attributes.get(project).map_or(&[], Vec::as_slice)));
    }
    // Until an attribute is ready its blanks come one by one; while it is being deleted its rows go so.
    let unfinished: Vec<String> = attributes
        .values()
        .flatten()
        .filter(|attribute| attribute.item.status != Status::Ready)
        .map(|attribute| attribute.id.to_string())
        .collect();
    let finished = |key: &Key| !unfinished.iter().any(|id| key.sk.as_ref().is_some_and(|sk| sk.ends_with(id.as_str())));
    found.retain(|key, _| finished(key));
    expected.retain(|key, _| finished(key));
    assert_eq!(found, expected, "rows differ from what issues and attributes make");
    for (project, (live, open)) in gates {
        let of_project = || issues.iter().filter(|(key, _)| key.project == project);
        assert_eq!(live, of_project().count() as i64, "live issues of {project}");
        let opened = of_project().filter(|(_, issue)| issue.state == State::Open).count();
        assert_eq!(open, opened as i64, "open issues of {project}");
    }
    Project { issues: issues.len(), items }
}

/// And nobody else has any.
fn each_open_job_has_its_slots(items: &[Item]) {
    let text =
        |item: &Item, name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
    let is_open = |item: &&Item| {
        let job = ["import", "export"].contains(&text(item, "kind").as_str());
        job && ["queued", "running"].contains(&text(item, "status").as_str())
    };
    let open = items.iter().filter(|item| text(item, "SK").starts_with("job-")).filter(is_open).count();
    let slots = items.iter().filter(|item| text(item, "PK").starts_with("jobs-")).count();
    assert_eq!(slots, 3 * open, "slots of open imports and exports");
}

fn is_row(key: &Key) -> bool {
    ValueRowKey::parse(key).is_some() || BlankRowKey::parse(key).is_some() || StateRowKey::parse(key).is_some()
}

impl Project {
    /// Whether anything in the table speaks of this.
    pub fn mentions(&self, what: &str) -> bool {
        fn says(value: &AttributeValue, what: &str) -> bool {
            match value {
                AttributeValue::S(text) => text.contains(what),
                AttributeValue::M(map) => map.iter().any(|(name, value)| name.contains(what) || says(value, what)),
                AttributeValue::L(list) => list.iter().any(|value| says(value, what)),
                _ => false,
            }
        }
        self.items.iter().any(|item| {
            let sk = item["SK"].as_s().unwrap();
            // The changes of a project list its deleted issues for 30 days.
            let says_of = |(name, value): (&String, &AttributeValue)| {
                !(sk.starts_with("change-") && name == "Issue") && says(value, what)
            };
            !sk.starts_with("job-") && item.iter().any(says_of)
        })
    }
}
