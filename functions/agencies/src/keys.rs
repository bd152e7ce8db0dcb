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
    /// The last removal of a person. It is in the agency's partition, so the agency's deletion finds it.
    pub struct RemovalKey { agency: AgencyId, person: Idpid }
    pk "AGENCY#{agency}"
    sk "REMOVAL#{person}"
}

table::key! {
    /// The member who last accepted an invitation to an address, in the agency's partition for the same reason.
    pub struct KnownAddressKey { agency: AgencyId, address: AddressHash }
    pk "AGENCY#{agency}"
    sk "KNOWN#{address}"
}

table::key! {
    /// Every change of an agency's members updates the gate: it counts them, and the agency's deletion closes it.
    pub struct GateKey { agency: AgencyId }
    pk "GATE#{agency}"
    sk "GATE#{agency}"
}

/// The prefix of members' sort keys.
pub const MEMBER_PREFIX: &str = "MEMBER#";

/// The prefix of invitations' sort keys.
pub const INVITATION_PREFIX: &str = "INVITATION#";

/// A bound above the sort keys of invitations, known addresses, members and removals: `$` follows `#`.
pub const AFTER_REMOVALS: &str = "REMOVAL$";

/// The issuer's name of invitations in the index of people.
pub const ADDRESS: &str = "address";

/// The partition of an agency's items.
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
    fn items_of_an_agency_sort_between_the_bounds_and_after_the_agency() {
        let agency: AgencyId = "n".parse().unwrap();
        let person = Idpid::new("idp", "ann").unwrap();
        let sk = |key: Key| key.sk.unwrap();
        let member = sk(member_key(&agency, &person));
        assert!(
            member.starts_with(MEMBER_PREFIX)
                && INVITATION_PREFIX < member.as_str()
                && member.as_str() < AFTER_REMOVALS
        );
        let address: Address = "ann@example.org".parse().unwrap();
        let known = sk(known_address_key(&agency, &address.hash()));
        assert!(INVITATION_PREFIX < known.as_str() && known.as_str() < AFTER_REMOVALS);
        let removal = sk(removal_key(&agency, &person));
        assert!(member < removal && removal.as_str() < AFTER_REMOVALS);
        assert!(sk(agency_key(&agency)).as_str() < INVITATION_PREFIX);
    }
}
