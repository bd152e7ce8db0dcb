//! The agencies that the caller may search, as a filter of the query.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use table::{Error, Stored};
use web::{Context, Problem};

use super::NARROW_SEARCH;
use super::query::ParsedQuery;
use crate::access::MEMBERSHIPS;
use crate::authorization::{AgencyAccess, is_platform_admin};
use crate::item::Member;
use crate::names::{AgencyId, Role};
use crate::schema::{AGENCIES, BY_PERSON};

/// Agencies in one query.
const MAX_AGENCIES: u32 = 200;

/// The agencies that the caller may search, with the caller's role in each.
#[derive(Debug)]
pub enum Scope {
    All,
    Only(BTreeMap<AgencyId, Option<Role>>),
}

impl Scope {
    pub async fn load(cx: &Context, query: &ParsedQuery) -> Result<Self, Problem> {
        if let Some(agency) = &query.agency {
            let agency = agency.as_ref().ok_or_else(Problem::not_found)?;
            let role = AgencyAccess::load(cx, agency).await?.role();
            return Ok(Self::Only(BTreeMap::from([(agency.clone(), role)])));
        }
        let caller = cx.principal().signed_in()?;
        if is_platform_admin(caller) {
            return Ok(Self::All);
        }
        let memberships = cx.access().table(&MEMBERSHIPS, &AGENCIES).query(caller.idpid().as_str());
        let roles = |page: Vec<Stored>| async move { page.iter().map(role_in).collect::<Result<Vec<_>, Error>>() };
        let (roles, next) = memberships.index(BY_PERSON).page_of(MAX_AGENCIES, roles).await?;
        if next.is_some() {
            let detail = format!("You are a member of more than {MAX_AGENCIES} agencies; name one with `agencyId`.");
            return Err(NARROW_SEARCH.because(detail));
        }
        Ok(Self::Only(roles.into_iter().collect()))
    }

    /// The caller's role in the agency.
    pub fn role(&self, agency: &AgencyId) -> Option<Role> {
        match self {
            Self::All => None,
            Self::Only(agencies) => agencies.get(agency).copied().flatten(),
        }
    }

    /// Whether the caller may search the agency.
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

/// The agency and the role of a membership. None if it is suspended.
fn role_in(membership: &Stored) -> Result<Option<(AgencyId, Option<Role>)>, Error> {
    let member: Member = membership.read()?;
    Ok((!member.is_suspended()).then_some((member.agency_id, Some(member.role))))
}
