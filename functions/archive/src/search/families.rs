//! The roles of the people around one person of a record.

use super::criteria::Relation;
use crate::mapping::PersonRole;
use crate::record::RelativeKind;

/// A person's role in a record, and the roles of the people around that person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The role of the person. None for a person in any role.
    pub person: Option<PersonRole>,
    father: PersonRole,
    mother: PersonRole,
    spouse: PersonRole,
}

/// A record is of one principal person, or a marriage of a bride and a groom with their parents.
const PRINCIPAL: Family = Family {
    person: Some(PersonRole::Principal),
    father: PersonRole::Father,
    mother: PersonRole::Mother,
    spouse: PersonRole::Spouse,
};
const BRIDE: Family = Family {
    person: Some(PersonRole::Bride),
    father: PersonRole::BrideFather,
    mother: PersonRole::BrideMother,
    spouse: PersonRole::Groom,
};
const GROOM: Family = Family {
    person: Some(PersonRole::Groom),
    father: PersonRole::GroomFather,
    mother: PersonRole::GroomMother,
    spouse: PersonRole::Bride,
};

impl Family {
    /// Returns the family of a person in this role, or in any role if none is given.
    pub const fn of_person(role: Option<PersonRole>) -> Self {
        Self { person: role, ..PRINCIPAL }
    }

    /// Returns the families in which a person in this role can have relatives.
    pub fn with_relatives(role: Option<PersonRole>) -> Vec<Self> {
        match role {
            None => vec![PRINCIPAL, BRIDE, GROOM],
            Some(PersonRole::Bride) => vec![BRIDE],
            Some(PersonRole::Groom) => vec![GROOM],
            Some(_) => vec![Self::of_person(role)],
        }
    }

    /// Returns the role of the people of a record who have this relation to the person, and the kinds of relatives who
    /// have it.
    pub const fn related(&self, relation: Relation) -> (PersonRole, &'static [RelativeKind]) {
        match relation {
            Relation::Father => (self.father, &[RelativeKind::Father]),
            Relation::Mother => (self.mother, &[RelativeKind::Mother]),
            Relation::Spouse => (self.spouse, &[RelativeKind::Spouse]),
            Relation::Other => (PersonRole::Other, &[RelativeKind::Child, RelativeKind::Sibling]),
        }
    }
}
