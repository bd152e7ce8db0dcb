//! The keys of every entity.

use table::{EntityKey, Idpid, Key};

use crate::address::AddressHash;
use crate::names::AgencyId;

table::key! {
    pub struct AgencyKey { agency: AgencyId }
    pk "AGENCY#{agency}"
    sk "AGENCY#{agency}"
}

table::key! {
    pub struct MemberKey { agency: AgencyId, person: Idpid }
    pk "AGENCY#{agency}"
    sk "MEMBER#{person}"
}

table::key! {
    pub struct InvitationKey { agency: AgencyId, address: AddressHash }
    pk "AGENCY#{agency}"
    sk "INVITATION#{address}"
}

table::key! {
    /// When a person was last removed: it lies in the agency, so that the agency's deletion finds it.
    pub struct RemovalKey { agency: AgencyId, person: Idpid }
    pk "AGENCY#{agency}"
    sk "REMOVAL#{person}"
}

table::key! {
    /// Whose an address was when an invitation to it was last accepted. It lies in the agency, too.
    pub struct KnownAddressKey { agency: AgencyId, address: AddressHash }
    pk "AGENCY#{agency}"
    sk "KNOWN#{address}"
}

table::key! {
    /// What every change of an agency's members passes: it counts them, and closes when the agency is deleted.
    pub struct GateKey { agency: AgencyId }
    pk "GATE#{agency}"
    sk "GATE#{agency}"
}

/// What members' sort keys begin with.
pub const MEMBERS: &str = "MEMBER#";

/// What invitations' sort keys begin with.
pub const INVITATIONS: &str = "INVITATION#";

/// After the sort keys of invitations, known addresses, members and removals: `$` follows `#`.
pub const AFTER_REMOVALS: &str = "REMOVAL$";

/// What stands for an issuer's name where an invitation is listed among a person's memberships.
pub const ADDRESS: &str = "address";

/// The partition of what lies in an agency.
pub fn partition(agency: &AgencyId) -> String {
    agency_key(agency).pk
}

pub fn agency_key(agency: &AgencyId) -> Key {
    AgencyKey { agency: agency.clone() }.key()
}

pub fn gate_key(agency: &AgencyId) -> Key {
    GateKey { agency: agency.clone() }.key()
}

pub fn member_key(agency: &AgencyId, person: &Idpid) -> Key {
    MemberKey { agency: agency.clone(), person: person.clone() }.key()
}

pub fn removal_key(agency: &AgencyId, person: &Idpid) -> Key {
    RemovalKey { agency: agency.clone(), person: person.clone() }.key()
}

pub fn invitation_key(agency: &AgencyId, address: &AddressHash) -> Key {
    InvitationKey { agency: agency.clone(), address: address.clone() }.key()
}

pub fn known_address_key(agency: &AgencyId, address: &AddressHash) -> Key {
    KnownAddressKey { agency: agency.clone(), address: address.clone() }.key()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;

    #[test]
    fn all_that_lies_in_an_agency_sorts_between_the_bounds_and_the_agency_before() {
        let agency: AgencyId = "n".parse().unwrap();
        let person = Idpid::new("idp", "ann").unwrap();
        let sk = |key: Key| key.sk.unwrap();
        let member = sk(member_key(&agency, &person));
        assert!(member.starts_with(MEMBERS) && INVITATIONS < member.as_str() && member.as_str() < AFTER_REMOVALS);
        let address: Address = "ann@example.org".parse().unwrap();
        let known = sk(known_address_key(&agency, &address.hash()));
        assert!(INVITATIONS < known.as_str() && known.as_str() < AFTER_REMOVALS);
        let removal = sk(removal_key(&agency, &person));
        assert!(member < removal && removal.as_str() < AFTER_REMOVALS);
        assert!(sk(agency_key(&agency)).as_str() < INVITATIONS);
    }
}
