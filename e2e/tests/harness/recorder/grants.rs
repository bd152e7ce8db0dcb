//! The comparison of calls with grants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use table::grant::Resource;

/// An action on a resource, as a request used it or as a policy grants it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    pub action: String,
    pub resource: Resource,
}

/// The actions by function: `{system}-{operation}`.
pub type Used = BTreeMap<String, BTreeSet<Use>>;

/// The grants in the policy of each function.
pub struct Grants(BTreeMap<String, Vec<Use>>);

/// The grants that are kept although no test uses them, which are the table in `e2e/unused.md`.
pub struct Kept(BTreeSet<[String; 3]>);

const DECLARATION: &str = include_str!("../../../../infra/declaration.json");
const UNUSED: &str = include_str!("../../../unused.md");

impl Use {
    pub fn new(action: impl Into<String>, resource: Resource) -> Self {
        Self { action: action.into(), resource }
    }

    /// Returns the action that must be granted so that S3 responds 404 for an absent object.
    pub fn names(&self) -> Option<Self> {
        match &self.resource {
            Resource::Objects { bucket, prefix } if self.action == "s3:GetObject" => {
                let (bucket, prefix) = (bucket.clone(), prefix.clone());
                Some(Self::new("s3:ListBucket", Resource::Names { bucket, prefix }))
            }
            _ => None,
        }
    }

    fn covers(&self, used: &Self) -> bool {
        let resource = match (&self.resource, &used.resource) {
            (Resource::Table(granted), Resource::Table(table) | Resource::Attributes { table, .. }) => granted == table,
            (Resource::Attributes { table, attributes }, Resource::Attributes { table: on, attributes: named }) => {
                table == on && named.iter().all(|name| attributes.contains(name))
            }
            (Resource::Objects { bucket, prefix }, Resource::Objects { bucket: of, prefix: under })
            | (Resource::Names { bucket, prefix }, Resource::Names { bucket: of, prefix: under }) => {
                bucket == of && under.starts_with(prefix)
            }
            (Resource::Search { path }, Resource::Search { path: asked }) => matches_path(path, asked),
            (granted, used) => granted == used,
        };
        self.action == used.action && resource
    }
}

/// Matches a pattern in which `*` stands for digits and `?` for one digit.
fn matches_path(granted: &str, asked: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(at) = granted.find(['*', '?']) else { return granted == asked };
    let (before, after) = granted.split_at(at);
    let Some(rest) = asked.strip_prefix(before) else { return false };
    match after.strip_prefix('*') {
        Some(after) => rest.strip_suffix(after).is_some_and(digits),
        None => rest.get(..1).is_some_and(digits) && matches_path(&after[1..], &rest[1..]),
    }
}

impl Grants {
    pub fn declared() -> Self {
        Self::read(DECLARATION)
    }

    /// Parses an entry of `infra/declaration.json`.
    pub fn read(declaration: &str) -> Self {
        let declaration: Declaration = serde_json::from_str(declaration).unwrap();
        let mut grants = BTreeMap::new();
        for System { name, functions } in declaration.systems {
            for function in functions {
                let uses = function.grants.into_iter().map(Use::from).collect();
                grants.insert(format!("{name}-{}", function.name), uses);
            }
        }
        Self(grants)
    }

    /// Returns the calls that no grant of their function covers. The check for an absent object is not one of them:
    /// without the grant it is answered 403, which the code handles as well.
    pub fn past(&self, used: &Used) -> Vec<String> {
        let mut past = Vec::new();
        for (operation, uses) in used {
            let granted = self.0.get(operation).map(Vec::as_slice).unwrap_or_default();
            let made = uses.iter().filter(|call| !matches!(call.resource, Resource::Names { .. }));
            let uncovered = made.filter(|call| !granted.iter().any(|grant| grant.covers(call)));
            past.extend(uncovered.map(|call| format!("`{operation}` makes a call that its policy refuses: {call}")));
        }
        past
    }

    /// Returns the unused grants that are not listed as kept, and the kept grants that are used or do not exist.
    pub fn unused(&self, used: &Used, kept: &Kept) -> Vec<String> {
        let mut unused = BTreeSet::new();
        for (operation, grants) in &self.0 {
            let uses = used.get(operation);
            let idle = |grant: &&Use| !uses.is_some_and(|uses| uses.iter().any(|call| grant.covers(call)));
            unused.extend(grants.iter().filter(idle).map(|grant| grant.row(operation)));
        }
        let told = |row: &[String; 3]| row.join(" | ");
        let more = unused.difference(&kept.0).map(|row| format!("nothing uses a grant: {}", told(row)));
        let stale = kept.0.difference(&unused).map(|row| format!("e2e/unused.md is out of date: {}", told(row)));
        more.chain(stale).collect()
    }
}

impl Kept {
    pub fn read() -> Self {
        Self::of(UNUSED)
    }

    pub fn of(table: &str) -> Self {
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
        let cells = rows.map(|row| {
            let mut cells = row.split(" | ").map(|cell| cell.trim_matches('`').to_owned());
            [(); 3].map(|()| cells.next().unwrap())
        });
        Self(cells.collect())
    }
}

impl Use {
    fn row(&self, operation: &str) -> [String; 3] {
        [operation.to_owned(), self.action.clone(), Told(&self.resource).to_string()]
    }
}

impl fmt::Display for Use {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} on {}", self.action, Told(&self.resource))
    }
}

struct Told<'a>(&'a Resource);

impl fmt::Display for Told<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Resource::Table(table) => write!(formatter, "table {table}"),
            Resource::Attributes { table, attributes } => write!(formatter, "table {table}: {}", attributes.join(", ")),
            Resource::Index { table, index } => write!(formatter, "index {index} of {table}"),
            Resource::Objects { bucket, prefix } => write!(formatter, "objects {bucket}/{prefix}"),
            Resource::Names { bucket, prefix } => write!(formatter, "names {bucket}/{prefix}"),
            Resource::Queue(queue) => write!(formatter, "queue {queue}"),
            Resource::EventBus { source } => write!(formatter, "events of {source}"),
            Resource::Connections { method } => write!(formatter, "connections by {method}"),
            Resource::Secret(secret) => write!(formatter, "secret {secret}"),
            Resource::Search { path } => write!(formatter, "search {path}"),
        }
    }
}

#[derive(Deserialize)]
struct Declaration {
    systems: Vec<System>,
}

#[derive(Deserialize)]
struct System {
    name: String,
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    grants: Vec<Grant>,
}

/// An action, and the members that name its resource.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Grant {
    action: String,
    table: Option<String>,
    index: Option<String>,
    attributes: Option<Vec<String>>,
    bucket: Option<String>,
    objects: Option<String>,
    names: Option<String>,
    queue: Option<String>,
    event_source: Option<String>,
    connections: Option<String>,
    secret: Option<String>,
    search_path: Option<String>,
}

impl From<Grant> for Use {
    fn from(grant: Grant) -> Self {
        let resource = match grant.clone() {
            Grant { table: Some(table), index: Some(index), .. } => Resource::Index { table, index },
            Grant { table: Some(table), attributes: Some(attributes), .. } => {
                Resource::Attributes { table, attributes }
            }
            Grant { table: Some(table), .. } => Resource::Table(table),
            Grant { bucket: Some(bucket), objects: Some(prefix), .. } => Resource::Objects { bucket, prefix },
            Grant { bucket: Some(bucket), names: Some(prefix), .. } => Resource::Names { bucket, prefix },
            Grant { queue: Some(queue), .. } => Resource::Queue(queue),
            Grant { event_source: Some(source), .. } => Resource::EventBus { source },
            Grant { connections: Some(method), .. } => Resource::Connections { method },
            Grant { secret: Some(secret), .. } => Resource::Secret(secret),
            Grant { search_path: Some(path), .. } => Resource::Search { path },
            other => panic!("{other:?} names no resource"),
        };
        Self { action: grant.action, resource }
    }
}
