//! A loaded project with its attributes and its gates.

use table::{Access, Action, Condition, EntityKey, Error, Rev, Stored, item};

use crate::access::{PROJECT, TOTALS};
use crate::items::{AttributeItem, Gate, Project, Status};
use crate::keys::{AttributeKey, GateKey, ProjectKey};
use crate::names::{AttributeId, GateNumber, ProjectId, TenantId};
use crate::options::Options;
use crate::schema::TRACKER;
use crate::values::folded;

/// An attribute with its id.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub id: AttributeId,
    pub item: AttributeItem,
}

/// A loaded project with all its attributes in column order, also those that are being deleted.
#[derive(Clone, Debug)]
pub struct Schema {
    pub tenant: TenantId,
    pub id: ProjectId,
    pub project: Project,
    pub stored: Stored,
    pub attributes: Vec<Attribute>,
}

/// The consistency of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// May miss recent writes.
    Eventual,
    /// Sees every acknowledged write.
    Strong,
}

impl Schema {
    /// Loads a project of a tenant. None if it is being deleted.
    pub async fn load(
        access: &Access,
        tenant: TenantId,
        id: ProjectId,
        consistency: Consistency,
    ) -> Result<Option<Self>, Error> {
        let schema = Self::load_also_deleted(access, tenant, id, consistency).await?;
        Ok(schema.filter(|schema| schema.project.data.is_some()))
    }

    /// [`Self::load`] that also loads a project that is being deleted.
    pub async fn load_also_deleted(
        access: &Access,
        tenant: TenantId,
        id: ProjectId,
        consistency: Consistency,
    ) -> Result<Option<Self>, Error> {
        let key = ProjectKey { project: id, tenant }.key();
        let query = access.table(&PROJECT, &TRACKER).query(key.pk.as_str());
        let items = if consistency == Consistency::Strong { query.consistent() } else { query }.all().await?;
        let Some(stored) = items.iter().find(|stored| stored.key == key).cloned() else { return Ok(None) };
        let mut attributes = Vec::new();
        for stored in &items {
            if let Some(AttributeKey { attribute, .. }) = AttributeKey::parse(&stored.key) {
                attributes.push(Attribute { id: attribute, item: stored.read()? });
            }
        }
        attributes.sort_by(|one, other| one.item.num.total_cmp(&other.item.num).then(one.id.cmp(&other.id)));
        Ok(Some(Self { tenant, id, project: stored.read()?, stored, attributes }))
    }

    /// The attributes in column order, without those that are being deleted.
    pub fn columns(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.item.status != Status::Deleting)
    }

    /// The attribute with this id, unless it is being deleted.
    pub fn column(&self, id: AttributeId) -> Option<&Attribute> {
        self.columns().find(|attribute| attribute.id == id)
    }

    /// The attribute with this name, compared without case, unless it is being deleted.
    pub fn named(&self, name: &str) -> Option<&Attribute> {
        let name = folded(name);
        self.columns().find(|attribute| folded(&attribute.item.name) == name)
    }

    pub fn key(&self) -> ProjectKey {
        ProjectKey { project: self.id, tenant: self.tenant }
    }

    /// A gate of the project.
    pub fn gate(&self, gate: GateNumber) -> GateKey {
        GateKey { project: self.id, gate }
    }

    /// Adds the conditions that the gate has this schema revision and is open.
    pub fn pass(&self, action: Action) -> Action {
        action
            .when(Condition::Equals("SchemaRev", item::number(self.project.schema_rev)))
            .when(Condition::Absent("Closed"))
    }

    /// A random gate of the project.
    pub fn any_gate(&self) -> GateKey {
        GateKey { project: self.id, gate: GateNumber::random() }
    }

    /// The condition that the project's attributes are unchanged since they were read.
    pub fn unchanged(&self) -> Condition {
        Condition::Equals("AttribRev", item::number(self.project.attrib_rev))
    }
}

impl Attribute {
    pub fn options(&self) -> &Options {
        &self.item.options
    }
}

/// The most issues of a small project.
const MAX_SMALL: i64 = 500;

/// The gates of a project with their counts.
#[derive(Clone, Debug)]
pub struct Gates {
    pub all: Vec<(GateKey, Gate)>,
    /// The revisions of the gates. They change with the counts and with the schema.
    pub revs: Vec<Option<Rev>>,
}

impl Gates {
    /// Loads all gates with a consistent read.
    pub async fn load(access: &Access, project: ProjectId) -> Result<Self, Error> {
        let pk = GateKey { project, gate: GateNumber::random() }.key().pk;
        let stored = access.table(&TOTALS, &TRACKER).query(pk).consistent().all().await?;
        let gate = |stored: &Stored| Some(GateKey::parse(&stored.key)?).map(|key| Ok((key, stored.read()?)));
        let all = stored.iter().filter_map(gate).collect::<Result<_, Error>>()?;
        Ok(Self { all, revs: stored.iter().map(|stored| stored.rev).collect() })
    }

    /// The number of issues.
    pub fn live(&self) -> i64 {
        self.all.iter().map(|(_, gate)| gate.live).sum()
    }

    /// Whether the request that changes an attribute also changes the issues.
    pub fn is_small(&self) -> bool {
        self.live() <= MAX_SMALL
    }

    /// The number of open issues.
    pub fn open(&self) -> i64 {
        self.all.iter().map(|(_, gate)| gate.open).sum()
    }
}
