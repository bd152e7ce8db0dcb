//! A project full of issues, put into the table past the API, as it would have put them.

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use futures::stream::{self, StreamExt, TryStreamExt};
use table::access::{AccessPattern, Call, TableAction};
use table::{Access, Action, Changes, EntityKey, Item, Key, item};
use tracker::access::PROJECT;
use tracker::audit::Audit;
use tracker::items::{Issue, State, Value};
use tracker::keys::{CounterKey, IssueKey};
use tracker::names::{IssueId, ProjectId, TenantId};
use tracker::project::{Consistency, Schema};
use tracker::rows::rows;
use tracker::schema::{DATA, TRACKER};
use tracker::values::{Input, number_key};

use crate::bare_tracker::BareTracker;
use crate::tenant::{Project, last};
use crate::{Failure, columns};

/// What `BatchWriteItem` takes.
const TOGETHER: usize = 25;
const AT_ONCE: usize = 4;

/// How many issues are in memory at once.
const BLOCK: usize = 1_000;

const COUNT: AccessPattern =
    AccessPattern { name: "backlog", calls: &[Call::Table { table: "tracker", action: TableAction::UpdateItem }] };

/// Puts so many issues, with the numbers from 1 on and all values set but for those that `has` leaves out by column and
/// number. Returns their ids by number.
pub async fn fill(
    tracker: &BareTracker,
    project: &Project,
    issues: usize,
    has: impl Fn(usize, usize) -> bool,
) -> Result<Vec<String>, Failure> {
    let tenant = TenantId::parse_id(last(tracker.tenant.path())).ok_or("no tenant")?;
    let id = ProjectId::parse_id(last(&project.path)).ok_or("no project")?;
    let access = Access::new(tracker.engines.clone(), &[&PROJECT, &COUNT]);
    let schema = Schema::load(&access, tenant, id, Consistency::Strong).await?.ok_or("the project is gone")?;
    let mut ids = Vec::with_capacity(issues);
    for begin in (1..=issues).step_by(BLOCK) {
        let mut items = Vec::new();
        for number in begin..(begin + BLOCK).min(issues + 1) {
            let issue = IssueId::new();
            ids.push(issue.id());
            items.extend(stored(&schema, issue, number, |column| has(column, number))?);
        }
        put(tracker, items).await?;
    }
    let count = i64::try_from(issues)?;
    let counter = CounterKey { project: id };
    access.write(&COUNT, Action::update(&TRACKER, counter, Changes::new().add("Last", count))).await?;
    let counted = Changes::new().add("Live", count).add("Open", count);
    access.write(&COUNT, Action::update(&TRACKER, schema.any_gate(), counted)).await?;
    Ok(ids)
}

/// An issue with its rows.
fn stored(schema: &Schema, id: IssueId, number: usize, has: impl Fn(usize) -> bool) -> Result<Vec<Item>, Failure> {
    let num = u64::try_from(number)?;
    let now = "2026-01-01T00:00:00.000000Z";
    let who = Some("local:bench".to_owned());
    let audit =
        Audit { created_at: now.to_owned(), created_by: who.clone(), updated_at: now.to_owned(), updated_by: who };
    let mut issue = Issue {
        data: number_key(num),
        name: format!("Bolt {number}"),
        state: State::Open,
        num,
        tenant: schema.tenant,
        values: Default::default(),
        import: None,
        unsettled: None,
        audit,
    };
    for (column, attribute) in schema.attributes.iter().enumerate().filter(|(column, _)| has(*column)) {
        let (of, slot) = (attribute.item.of, attribute.item.slot);
        let plain = of.read(&Input::from(columns::value(column, number).as_str()), attribute.options())?;
        issue.set(attribute.id, Some(Value { slot, of, value: plain.as_str().to_owned() }));
    }
    let mut items = vec![with_key(item::to_item(&issue)?, &IssueKey { issue: id, project: schema.id }.key())];
    for (key, data) in rows(id, schema.id, &issue, &schema.attributes) {
        items.push(with_key(Item::from([(DATA.to_owned(), AttributeValue::S(data))]), &key));
    }
    Ok(items)
}

fn with_key(mut item: Item, key: &Key) -> Item {
    item.extend(item::key_item(&TRACKER, key));
    item.insert("rev".to_owned(), item::number(2));
    item
}

async fn put(tracker: &BareTracker, items: Vec<Item>) -> Result<(), Failure> {
    let table = tracker.engines.config.table(TRACKER.name);
    let mut batches = Vec::new();
    for together in items.chunks(TOGETHER) {
        let mut requests = Vec::new();
        for item in together {
            let put = PutRequest::builder().set_item(Some(item.clone())).build()?;
            requests.push(WriteRequest::builder().put_request(put).build());
        }
        batches.push(tracker.engines.dynamodb().batch_write_item().request_items(&table, requests).send());
    }
    let written = stream::iter(batches).buffer_unordered(AT_ONCE);
    written
        .map_err(Failure::from)
        .try_for_each(async |answer| match answer.unprocessed_items {
            Some(left) if !left.is_empty() => Err("not all items were taken".into()),
            _ => Ok(()),
        })
        .await
}
