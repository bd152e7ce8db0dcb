//! What the caller may find: the rule of every read, inside the query.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use web::{Problem, Request};

use super::NARROW_SEARCH;
use super::form::Question;
use crate::access::MEMBERSHIPS;
use crate::item::Member;
use crate::names::{AgencyId, Role};
use crate::schema::{AGENCIES, BY_PERSON};
use crate::standing::{Standing, is_platform_admin};

/// The most agencies that one query names.
const MOST: u32 = 200;

/// The agencies in which the caller may find something, with the caller's own role where it is a member.
#[derive(Debug)]
pub enum Scope {
    All,
    Only(BTreeMap<AgencyId, Option<Role>>),
}

impl Scope {
    pub async fn of(request: &Request, question: &Question) -> Result<Self, Problem> {
        if let Some(agency) = &question.agency {
            let agency = agency.as_ref().ok_or_else(Problem::not_found)?;
            let role = Standing::of(request, agency).await?.role();
            return Ok(Self::Only(BTreeMap::from([(agency.clone(), role)])));
        }
        let caller = request.principal().signed_in()?;
        if is_platform_admin(caller) {
            return Ok(Self::All);
        }
        let memberships = request.access().table(&MEMBERSHIPS, &AGENCIES).query(caller.idpid().as_str());
        let page = memberships.index(BY_PERSON).page(MOST).await?;
        if page.next.is_some() {
            let detail = format!("You are a member of more than {MOST} agencies; name one with `agencyId`.");
            return Err(NARROW_SEARCH.because(detail));
        }
        let member =
            |stored: &table::Stored| stored.read::<Member>().map(|member| (member.agency_id, Some(member.role)));
        Ok(Self::Only(page.items.iter().map(member).collect::<Result<_, _>>()?))
    }

    /// The caller's own role.
    pub fn role(&self, agency: &AgencyId) -> Option<Role> {
        match self {
            Self::All => None,
            Self::Only(agencies) => agencies.get(agency).copied().flatten(),
        }
    }

    /// Whether the caller may find something of this agency.
    pub fn has(&self, agency: &AgencyId) -> bool {
        match self {
            Self::All => true,
            Self::Only(agencies) => agencies.contains_key(agency),
        }
    }

    pub fn filter(&self) -> Option<Value> {
        match self {
            Self::All => None,
            Self::Only(agencies) => Some(json!({ "terms": { "agencyId": agencies.keys().collect::<Vec<_>>() } })),
        }
    }
}
