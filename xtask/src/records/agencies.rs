//! A day of agencies: one is founded with its first administrator, another is renamed, somebody leaves, one is marked for
//! its deletion, and a gate counts, which search never shows.

use agencies::audit::Audit;
use agencies::item::{Agency, Gate, Member};
use agencies::keys::{agency_key, gate_key, member_key};
use agencies::names::{AgencyId, Role, Status};
use agencies::schema::AGENCIES;
use serde::Serialize;
use serde_json::Value;
use table::{Idpid, Key};

use super::{OBJECT, Write, invalid, of, stored};

const REV: u64 = 3_534_508_800_000_000;

/// The job that deletes an agency.
const JOB: &str = "019e0000-0000-7000-8000-000000000001";

/// The stream records of all this.
pub fn records() -> Vec<Value> {
    let (Ok(north), Ok(south)) = (OBJECT.parse::<AgencyId>(), OBJECT.replace("57", "58").parse::<AgencyId>()) else {
        return invalid();
    };
    let (Some(ann), Some(bob)) = (Idpid::new("idp", "ann"), Idpid::new("idp", "bob")) else { return invalid() };
    let stamp = Audit { at: "2026-01-01T08:00:00.000000Z".to_owned(), by: "idp:root".to_owned() };
    let founded = Agency { agency_id: north.clone(), ..Agency::new("North Rescue".to_owned(), &stamp) };
    let patrol = Agency { agency_id: south.clone(), ..Agency::new("South Patrol".to_owned(), &stamp) };
    let renamed = Agency { name: "Southern Patrol".to_owned(), ..patrol.clone() };
    let Ok(job) = JOB.parse() else { return invalid() };
    let ended = Agency { kind: None, deletion: Some(job), ..renamed.clone() };
    let admin = Member::new(north.clone(), ann.clone(), Role::Admin, Some("Ann Field".to_owned()), &stamp);
    let leaver = Member::new(south.clone(), bob.clone(), Role::Member, None, &stamp);
    let gate = |members| Gate { status: Status::Pending, members, admins: 1, closed: None };
    let write = |key: Key, before: Option<Value>, after: Option<Value>| Write { key, before, after };
    of(
        &AGENCIES,
        &[
            write(agency_key(&north), None, kept(&agency_key(&north), &founded, REV)),
            write(member_key(&north, &ann), None, kept(&member_key(&north, &ann), &admin, REV)),
            write(
                agency_key(&south),
                kept(&agency_key(&south), &patrol, REV),
                kept(&agency_key(&south), &renamed, REV + 10),
            ),
            write(member_key(&south, &bob), kept(&member_key(&south, &bob), &leaver, REV), None),
            write(
                gate_key(&south),
                kept(&gate_key(&south), &gate(2), REV),
                kept(&gate_key(&south), &gate(1), REV + 12),
            ),
            write(
                agency_key(&south),
                kept(&agency_key(&south), &renamed, REV + 10),
                kept(&agency_key(&south), &ended, REV + 14),
            ),
        ],
    )
}

/// The item as the table keeps it.
fn kept(key: &Key, item: &impl Serialize, rev: u64) -> Option<Value> {
    stored(&AGENCIES, key, item, rev)
}
