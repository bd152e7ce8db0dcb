//! The entries of an issue in the index: **rows(issue) = f(issue item, the project's attributes)**, and of nothing else.
//! Every write of an issue writes exactly the difference.

use std::collections::BTreeMap;

use table::{Action, Changes, EntityKey, Key, item};

use crate::items::{Issue, Status};
use crate::keys::{BlankRowKey, StateRowKey, ValueRowKey};
use crate::names::{IssueId, ProjectId};
use crate::project::Attribute;
use crate::schema::{DATA, TRACKER};
use crate::values::{ENDS, number_key};

/// Sort keys of the index by the keys of their rows.
pub type Rows = BTreeMap<Key, String>;

/// The rows of an issue: one for its state, and one for each attribute, with its value or for the lack of one. The rows of
/// an attribute that is being deleted are left to the job that deletes it, but see [`rows_to_delete`].
pub fn rows(id: IssueId, project: ProjectId, issue: &Issue, attributes: &[Attribute]) -> Rows {
    let number = number_key(issue.num);
    let state = StateRowKey { issue: id, project }.key();
    let mut rows = Rows::from([(state, format!("{}{ENDS}{number}", issue.state.as_str()))]);
    for attribute in attributes.iter().filter(|attribute| attribute.item.status != Status::Deleting) {
        let (key, data) = match issue.value(attribute.id) {
            Some(value) => (ValueRowKey { issue: id, attribute: attribute.id }.key(), value.key().data(issue.num)),
            None => (BlankRowKey { issue: id, attribute: attribute.id }.key(), number.clone()),
        };
        rows.insert(key, data);
    }
    rows
}

/// The rows that an issue may have when it is deleted or leaves its project: [`rows`], and those of attributes that
/// are being deleted. The job of such an attribute fails if the project is deleted first, and would leave the row. An
/// update may have removed the value and not its row, so both rows of the attribute are listed, without sort keys of
/// the index.
pub fn rows_to_delete(id: IssueId, project: ProjectId, issue: &Issue, attributes: &[Attribute]) -> Rows {
    let mut all = rows(id, project, issue, attributes);
    for attribute in attributes.iter().filter(|attribute| attribute.item.status == Status::Deleting) {
        let attribute = attribute.id;
        let keys = [ValueRowKey { issue: id, attribute }.key(), BlankRowKey { issue: id, attribute }.key()];
        all.extend(keys.map(|key| (key, String::new())));
    }
    all
}

/// The actions that turn the first rows into the second. Rows are written unconditionally, over anything that a crashed
/// run has left: the condition on the issue in the same transaction decides alone.
pub fn difference(before: &Rows, after: &Rows) -> Vec<Action> {
    let changed = after.iter().filter(|(key, data)| before.get(*key) != Some(data));
    let written = changed.map(|(key, data)| put(key, data));
    let removed = before.keys().filter(|key| !after.contains_key(*key));
    written.chain(removed.map(|key| Action::delete(&TRACKER, key.clone()).or_absent())).collect()
}

/// Writes a row, whether it exists or not.
pub fn put(key: &Key, data: &str) -> Action {
    Action::update(&TRACKER, key.clone(), Changes::new().set(DATA, item::text(data))).or_absent()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Audit;
    use crate::items::{AttributeItem, State, Value};
    use crate::names::AttributeId;
    use crate::values::Type;

    fn attribute(id: &str, status: Status) -> Attribute {
        let item = AttributeItem {
            name: id.to_owned(),
            num: 1.0,
            of: Type::Int,
            slot: 0,
            status,
            options: Default::default(),
            audit: Audit::default(),
        };
        Attribute { id: AttributeId::parse_id(id).unwrap(), item }
    }

    fn issue(num: u64, values: &[(&str, &str)]) -> Issue {
        let value = |text: &str| Value { slot: 0, of: Type::Int, value: text.to_owned() };
        Issue {
            data: number_key(num),
            name: "Girder needs replacing".to_owned(),
            state: State::Open,
            num,
            tenant: "tenant-0807".to_owned().try_into().unwrap(),
            values: values.iter().map(|(id, text)| ((*id).to_owned(), value(text))).collect(),
            import: None,
            unsettled: None,
            audit: Audit::default(),
        }
    }

    fn of(issue: &Issue, attributes: &[Attribute]) -> Vec<(String, String)> {
        let (id, project) = (IssueId::parse_id("issue-af34").unwrap(), ProjectId::parse_id("project-35e9").unwrap());
        let shown = |(key, data): (Key, String)| (key.sk.unwrap_or_default(), data.replace(ENDS, " "));
        rows(id, project, issue, attributes).into_iter().map(shown).collect()
    }

    #[test]
    fn each_attribute_has_one_row_unless_it_is_being_deleted() {
        let attributes = [
            attribute("xattrib-3fe6", Status::Ready),
            attribute("xattrib-3812", Status::Building),
            attribute("xattrib-882a", Status::Deleting),
        ];
        let expected = [("blank-3812", "p1303"), ("state-35e9", "open p1303"), ("value-3fe6", "p13142 p1303")];
        let expected: Vec<_> = expected.iter().map(|(key, data)| ((*key).to_owned(), (*data).to_owned())).collect();
        assert_eq!(of(&issue(3, &[("3fe6", "42"), ("882a", "1")]), &attributes), expected);
    }

    #[test]
    fn deleted_issue_has_both_rows_of_an_attribute_that_is_being_deleted() {
        let (id, project) = (IssueId::new(), ProjectId::new());
        let attributes = [attribute("xattrib-3fe6", Status::Ready), attribute("xattrib-882a", Status::Deleting)];
        let all = rows_to_delete(id, project, &issue(3, &[("3fe6", "42"), ("882a", "1")]), &attributes);
        let keys: Vec<_> = all.keys().filter_map(|key| key.sk.clone()).collect();
        let state = StateRowKey { issue: id, project }.key().sk.unwrap();
        assert_eq!(keys, ["blank-882a".to_owned(), state, "value-3fe6".to_owned(), "value-882a".to_owned()]);
        assert_eq!(difference(&all, &Rows::new()).len(), 4);
    }

    #[test]
    fn difference_has_only_the_rows_that_differ() {
        let (id, project) = (IssueId::new(), ProjectId::new());
        let attributes = [attribute("xattrib-3fe6", Status::Ready), attribute("xattrib-3812", Status::Ready)];
        let all = |issue: &Issue| rows(id, project, issue, &attributes);
        let count = |before: &Issue, after: &Issue| difference(&all(before), &all(after)).len();
        let (none, one) = (issue(3, &[]), issue(3, &[("3fe6", "42")]));
        assert_eq!((count(&none, &none), count(&none, &one), count(&one, &issue(3, &[("3fe6", "43")]))), (0, 2, 1));
        assert_eq!(count(&one, &issue(4, &[("3fe6", "42")])), 3);
        assert_eq!(difference(&Rows::new(), &all(&one)).len(), 3);
    }
}
