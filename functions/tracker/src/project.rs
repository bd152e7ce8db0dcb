//! A project with its attributes and gates, as they were read.

use table::{Access, Action, Condition, EntityKey, Error, Stored, item};

use crate::access::{PROJECT, TOTALS};
use crate::items::{AttributeItem, Gate, Project, Status};
use crate::keys::{AttributeKey, GateKey, ProjectKey};
use crate::names::{AttributeId, GateNumber, ProjectId, TenantId};
use crate::options::Options;
use crate::schema::TRACKER;
use crate::values::folded;

/// An attribute of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub id: AttributeId,
    pub item: AttributeItem,
}

/// A project with its attributes in column order, those that are being deleted among them.
#[derive(Clone, Debug)]
pub struct Schema {
    pub tenant: TenantId,
    pub id: ProjectId,
    pub project: Project,
    pub stored: Stored,
    pub attributes: Vec<Attribute>,
}

/// How fresh a read is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// As some recent moment saw it.
    Eventual,
    /// With every write that was answered.
    Strong,
}

impl Schema {
    /// Pattern 6: the project, if it is this tenant's and not being deleted.
    pub async fn read(access: &Access, tenant: TenantId, id: ProjectId, read: Read) -> Result<Option<Self>, Error> {
        let any = Self::read_any(access, tenant, id, read).await?;
        Ok(any.filter(|schema| schema.project.data.is_some()))
    }

    /// The project, also while it is being deleted.
    pub async fn read_any(access: &Access, tenant: TenantId, id: ProjectId, read: Read) -> Result<Option<Self>, Error> {
        let key = ProjectKey { project: id, tenant }.key();
        let query = access.table(&PROJECT, &TRACKER).query(key.pk.as_str());
        let items = if read == Read::Strong { query.consistent() } else { query }.all().await?;
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

    /// The attributes that people see, in column order.
    pub fn columns(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.item.status != Status::Deleting)
    }

    /// The attribute that people see under this id.
    pub fn column(&self, id: AttributeId) -> Option<&Attribute> {
        self.columns().find(|attribute| attribute.id == id)
    }

    /// The attribute that people see under this name, however written.
    pub fn named(&self, name: &str) -> Option<&Attribute> {
        let name = folded(name);
        self.columns().find(|attribute| folded(&attribute.item.name) == name)
    }

    pub fn key(&self) -> ProjectKey {
        ProjectKey { project: self.id, tenant: self.tenant }
    }

    /// The gate of one worker of many.
    pub fn gate(&self, gate: GateNumber) -> GateKey {
        GateKey { project: self.id, gate }
    }

    /// One gate, which lets through who has seen the present schema of a project that is not being deleted.
    pub fn pass(&self, action: Action) -> Action {
        action
            .when(Condition::Equals("SchemaRev", item::number(self.project.schema_rev)))
            .when(Condition::Absent("Closed"))
    }

    /// A gate of this project, any of them.
    pub fn any_gate(&self) -> GateKey {
        GateKey { project: self.id, gate: GateNumber::random() }
    }
}

impl Attribute {
    pub fn options(&self) -> &Options {
        &self.item.options
    }
}

/// The gates of a project with what they count.
#[derive(Clone, Debug)]
pub struct Gates(pub Vec<(GateKey, Gate)>);

impl Gates {
    /// Pattern 10.
    pub async fn read(access: &Access, project: ProjectId) -> Result<Self, Error> {
        let pk = GateKey { project, gate: GateNumber::random() }.key().pk;
        let stored = access.table(&TOTALS, &TRACKER).query(pk).consistent().all().await?;
        let gate = |stored: &Stored| Some(GateKey::parse(&stored.key)?).map(|key| Ok((key, stored.read()?)));
        Ok(Self(stored.iter().filter_map(gate).collect::<Result<_, Error>>()?))
    }

    /// How many issues there are.
    pub fn live(&self) -> i64 {
        self.0.iter().map(|(_, gate)| gate.live).sum()
    }

    /// How many of them are open.
    pub fn open(&self) -> i64 {
        self.0.iter().map(|(_, gate)| gate.open).sum()
    }
}
