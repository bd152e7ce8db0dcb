//! The query string of a search.

use serde::Deserialize;
use utoipa::ToSchema;
use web::search::Words;
use web::{Fault, Limit};

use crate::names::{AgencyId, Role, Status};

/// The entity that is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Searched {
    #[default]
    Agency,
    /// The members of the agency that `agencyId` names.
    Member,
}

/// The query string as sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchQuery {
    /// Words of a name. The last word may be a prefix; typos are tolerated.
    #[schema(min_length = 1, max_length = 200)]
    pub q: Option<String>,
    #[serde(default)]
    pub entity: Searched,
    /// Only this agency.
    #[schema(min_length = 1, max_length = 64)]
    pub agency_id: Option<String>,
    /// Only agencies of this status.
    pub status: Option<Status>,
    /// Only members in this role.
    pub role: Option<Role>,
    #[serde(default)]
    pub limit: Limit,
    #[schema(min_length = 1)]
    pub cursor: Option<String>,
}

/// The query string after validation.
#[derive(Clone, Debug)]
pub struct ParsedQuery {
    pub words: Option<Words>,
    pub entity: Searched,
    /// `Some(None)` for a text that is no agency id, which finds nothing.
    pub agency: Option<Option<AgencyId>>,
    /// The value of the faceted field that hits must have.
    pub chosen: Option<&'static str>,
    pub limit: usize,
}

impl Searched {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agency => "agency",
            Self::Member => "member",
        }
    }

    /// The faceted field.
    pub const fn facet_field(self) -> &'static str {
        match self {
            Self::Agency => "status",
            Self::Member => "role",
        }
    }

    /// The field that is searched for words.
    pub const fn name_field(self) -> &'static str {
        match self {
            Self::Agency => "name",
            Self::Member => "displayName",
        }
    }
}

impl SearchQuery {
    pub fn parse(self) -> Result<ParsedQuery, Vec<Fault>> {
        let mut faults = Vec::new();
        let words = self.q.map(|q| Words::parse(&q)).transpose();
        let words = words.map_err(|detail| faults.push(Fault::parameter("q", detail))).unwrap_or_default();
        let chosen = match self.entity {
            Searched::Agency => {
                faults.extend(self.role.map(|_| Fault::parameter("role", "is allowed only with `entity=member`")));
                self.status.map(Status::as_str)
            }
            Searched::Member => {
                faults.extend(self.status.map(|_| Fault::parameter("status", "is allowed only with `entity=agency`")));
                let missing = || Fault::parameter("agencyId", "must name the agency whose members are searched");
                faults.extend(self.agency_id.is_none().then(missing));
                self.role.map(Role::as_str)
            }
        };
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(ParsedQuery {
            words,
            entity: self.entity,
            agency: self.agency_id.map(|id| id.parse().ok()),
            chosen,
            limit: usize::try_from(self.limit.0).unwrap_or(usize::MAX),
        })
    }
}
