//! The relatives of each member of a household, derived from the relations to its head.
//!
//! A census names no parents: "Son" tells that the head is a parent, and the head's wife counts as the mother. What the
//! relations do not tell is not guessed:
//!
//! - A household with two heads has no relatives, since no relation tells whose son a son is. Its numbers may restart.
//! - With two wives of the head, the children have no mother. The wives have no relation to each other.
//! - The head's father and mother may not be married to each other, and the head's brother may have other parents.
//! - A parent whose sex neither a column nor a relation tells is not given: it may be the father or the mother.
//! - Words for other relations, such as son-in-law, stepson, lodger or servant, give no relatives.

mod relations;

use crate::record::{Person, Relative, RelativeKind, Sex};
use relations::Relation;

/// The most members of a household with relatives. Larger ones are ships, barracks and schools.
pub const MAX_MEMBERS: usize = 40;

/// A member of a household.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The principal person of the record. A record may name none.
    pub person: Option<&'a Person>,
    /// The relation to the head, as the file has it.
    pub relation: Option<&'a str>,
    /// The first day on which the public may see the record, as `yyyymmdd`. None if it is open.
    pub visible_from: Option<u32>,
}

/// Returns the relatives of each member, in the order of the members: father, mother, spouse, children and siblings.
pub fn relatives(members: &[Member<'_>]) -> Vec<Vec<Relative>> {
    let none = || vec![Vec::new(); members.len()];
    if members.len() > MAX_MEMBERS {
        return none();
    }
    let family = Family::of(members);
    if family.with(Relation::Head).count() > 1 {
        return none();
    }
    (0..members.len()).map(|own| family.relatives_of(own)).collect()
}

/// The relations of a household that are understood, in the order of its members.
struct Family<'a> {
    members: Vec<(Option<Relation>, Member<'a>)>,
}

impl<'a> Family<'a> {
    fn of(members: &[Member<'a>]) -> Self {
        let read = |member: &Member<'a>| (member.relation.and_then(relations::read), *member);
        Self { members: members.iter().map(read).collect() }
    }

    /// Returns the indexes of the members with a relation.
    fn with(&self, relation: Relation) -> impl Iterator<Item = usize> {
        self.members.iter().enumerate().filter(move |(_, member)| member.0 == Some(relation)).map(|(index, _)| index)
    }

    fn relation(&self, index: usize) -> Option<Relation> {
        self.members.get(index)?.0
    }

    fn relatives_of(&self, own: usize) -> Vec<Relative> {
        let Some(relation) = self.relation(own) else { return Vec::new() };
        let mut found = Vec::new();
        match relation {
            Relation::Head => {
                self.push(&mut found, RelativeKind::Father, self.with(Relation::Father));
                self.push(&mut found, RelativeKind::Mother, self.with(Relation::Mother));
                self.push(&mut found, RelativeKind::Spouse, self.spouses());
                self.push(&mut found, RelativeKind::Child, self.children());
                self.push(&mut found, RelativeKind::Sibling, self.siblings_of_head());
            }
            Relation::Wife | Relation::Husband => {
                self.push(&mut found, RelativeKind::Spouse, self.with(Relation::Head));
                if self.only_spouse() == Some(own) {
                    self.push(&mut found, RelativeKind::Child, self.children());
                }
            }
            Relation::Son | Relation::Daughter => {
                let parents: Vec<usize> = self.with(Relation::Head).chain(self.only_spouse()).collect();
                let of_sex = |sex| parents.iter().copied().filter(move |parent| self.sex(*parent) == Some(sex));
                self.push(&mut found, RelativeKind::Father, of_sex(Sex::Male));
                self.push(&mut found, RelativeKind::Mother, of_sex(Sex::Female));
                self.push(&mut found, RelativeKind::Sibling, self.children().filter(|other| *other != own));
            }
            Relation::Father | Relation::Mother => {
                self.push(&mut found, RelativeKind::Child, self.with(Relation::Head));
            }
            Relation::Brother | Relation::Sister => {
                let others = self.siblings_of_head().filter(|other| *other != own);
                self.push(&mut found, RelativeKind::Sibling, self.with(Relation::Head).chain(others));
            }
        }
        found
    }

    fn spouses(&self) -> impl Iterator<Item = usize> {
        self.with_either(Relation::Wife, Relation::Husband)
    }

    fn children(&self) -> impl Iterator<Item = usize> {
        self.with_either(Relation::Son, Relation::Daughter)
    }

    fn siblings_of_head(&self) -> impl Iterator<Item = usize> {
        self.with_either(Relation::Brother, Relation::Sister)
    }

    fn with_either(&self, one: Relation, other: Relation) -> impl Iterator<Item = usize> {
        (0..self.members.len()).filter(move |index| self.relation(*index).is_some_and(|own| own == one || own == other))
    }

    /// Returns the wife or husband of the head, if there is one only.
    fn only_spouse(&self) -> Option<usize> {
        let mut spouses = self.spouses();
        let spouse = spouses.next()?;
        spouses.next().is_none().then_some(spouse)
    }

    /// Returns the sex of a member from its column, or else from the relation. A head with a wife is a man.
    fn sex(&self, index: usize) -> Option<Sex> {
        let (relation, member) = self.members.get(index)?;
        let told = member.person.and_then(|person| person.sex);
        told.or_else(|| match relation.as_ref()? {
            Relation::Head => match self.relation(self.only_spouse()?)? {
                Relation::Wife => Some(Sex::Male),
                _ => Some(Sex::Female),
            },
            Relation::Husband | Relation::Son | Relation::Father | Relation::Brother => Some(Sex::Male),
            Relation::Wife | Relation::Daughter | Relation::Mother | Relation::Sister => Some(Sex::Female),
        })
    }

    /// Adds members with a name as relatives.
    fn push(&self, found: &mut Vec<Relative>, relation: RelativeKind, members: impl Iterator<Item = usize>) {
        let relative = |index: usize| {
            let (_, member) = self.members.get(index)?;
            let person = member.person.filter(|person| person.has_name())?;
            Some(Relative {
                relation,
                given: person.given.clone(),
                surname: person.surname.clone(),
                visible_from: member.visible_from,
            })
        };
        found.extend(members.filter_map(relative));
    }
}

#[cfg(test)]
mod tests;
