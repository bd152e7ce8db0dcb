//! Two hundred made-up agencies: one of a thousand members, most of a few, one of none, and fifty open invitations.
//!
//! What a load has finished the next leaves as it has become, and it completes what was broken off. An agency is told by
//! its name; one that was renamed or deleted since by the `Idempotency-Key` under which it was made, for the day that the
//! platform keeps it. After that it is made anew.

use std::collections::HashMap;
use std::ops::Range;

use futures::stream::{self, StreamExt, TryStreamExt};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::target::{Answer, Target};
use super::{AT_ONCE, SampleError, Size};
use crate::Progress;

const STAGE: &str = "agencies";

const REGIONS: [&str; 20] = [
    "North Shore",
    "South Ridge",
    "East Valley",
    "West Coast",
    "Lakeside",
    "Highland",
    "Harbour",
    "Riverbend",
    "Old Forest",
    "Upper Pass",
    "Lower Falls",
    "Islands",
    "Glacier",
    "Prairie",
    "Canyon",
    "Delta",
    "Moorland",
    "Strait",
    "Peninsula",
    "Foothills",
];

const KINDS: [&str; 10] = [
    "Rescue",
    "Patrol",
    "Fire Watch",
    "Avalanche Service",
    "Lifeguards",
    "Ski Patrol",
    "Dog Teams",
    "Cave Rescue",
    "Flood Watch",
    "First Aid",
];

/// Six avalanche services, Moorland's among them: the numbers of the agencies of the small sample.
const SMALL: Range<usize> = 74..80;

/// An agency to be there.
#[derive(Clone, Debug)]
pub struct Planned {
    number: usize,
    pub name: String,
    members: usize,
    /// The operation that sets it.
    status: Option<&'static str>,
    invitation: bool,
}

/// The agencies of this size.
pub fn planned(size: Size) -> Vec<Planned> {
    let names = KINDS.iter().flat_map(|kind| REGIONS.iter().map(move |region| format!("{region} {kind}")));
    let agency = |(number, name): (usize, String)| Planned {
        members: match number {
            0 => 1000,
            1 => 400,
            2 => 200,
            3..=10 => 60,
            199 => 0,
            other => 2 + other * 7 % 19,
        },
        // The others stay pending.
        status: match number % 20 {
            18 => None,
            19 => Some("deactivate"),
            _ => Some("activate"),
        },
        invitation: number % 4 == 0,
        number,
        name,
    };
    names.enumerate().filter(|(number, _)| size == Size::World || SMALL.contains(number)).map(agency).collect()
}

/// A person of the platform's own issuer: of whom there are so many that some are in several agencies.
fn volunteer(agency: usize, member: usize) -> String {
    format!("local:volunteer-{:04}", (agency * 13 + member) % 1500)
}

/// Sends the agencies of this size with a platform administrator's token. Returns how much was made, and how much was
/// there before, or has been deleted since.
pub async fn load(size: Size, gateway: &str, token: &str, progress: &Progress) -> Result<(u64, u64), SampleError> {
    load_these(&planned(size), gateway, token, progress).await
}

/// Sends these.
pub async fn load_these(
    planned: &[Planned],
    gateway: &str,
    token: &str,
    progress: &Progress,
) -> Result<(u64, u64), SampleError> {
    progress.started(STAGE);
    let target = Target::new(gateway, token);
    let there = target.agencies().await?;
    let (target, there) = (&target, &there);
    let loads = planned.iter().map(|agency| async move {
        let made = target.bring_up(agency, there.get(&agency.name)).await?;
        Ok::<_, SampleError>((made, agency.count()))
    });
    let mut loads = stream::iter(loads).buffer_unordered(AT_ONCE);
    let total = planned.iter().map(Planned::count).sum::<u64>();
    let (mut made, mut done) = (0, 0);
    while let Some((made_of_agency, count)) = loads.try_next().await? {
        (made, done) = (made + made_of_agency, done + count);
        progress.advanced(STAGE, done, Some(total));
    }
    let present = total.saturating_sub(made);
    progress.finished(STAGE, format!("{made} made, {present} there before, with their members and invitations"));
    Ok((made, present))
}

impl Planned {
    /// It, its members and its invitation.
    fn count(&self) -> u64 {
        1 + self.members as u64 + u64::from(self.invitation)
    }

    /// Whether a load has come to its end here: what it does last is to set the status, or, where that is to stay, to
    /// make somebody the administrator.
    fn is_finished(&self, agency: &Answer) -> bool {
        agency.text("status").is_none_or(|status| status != "pending") || self.status.is_none() && has_admin(agency)
    }
}

fn has_admin(agency: &Answer) -> bool {
    agency.number("admins").is_some_and(|admins| admins > 0)
}

impl Target {
    /// The agencies that are there: their paths by their names.
    async fn agencies(&self) -> Result<HashMap<String, String>, SampleError> {
        let mut there = HashMap::new();
        let mut page = "/agencies?limit=100".to_owned();
        loop {
            let answer = self.call(Method::GET, &page, String::new(), None).await?.expecting(&[StatusCode::OK])?;
            let body: Value = answer.json();
            for agency in body.get("items").and_then(Value::as_array).into_iter().flatten() {
                let text = |name: &str| agency.get(name).and_then(Value::as_str).unwrap_or_default();
                there.insert(text("name").to_owned(), format!("/agencies/{}", text("agencyId")));
            }
            match body.get("nextCursor").and_then(Value::as_str) {
                Some(cursor) => page = format!("/agencies?limit=100&cursor={cursor}"),
                None => return Ok(there),
            }
        }
    }

    /// An agency with its members, its invitation and its status: how much was made.
    async fn bring_up(&self, planned: &Planned, there: Option<&String>) -> Result<u64, SampleError> {
        let path = match there {
            Some(path) => path.clone(),
            None => self.found(planned).await?,
        };
        let agency = self.call(Method::GET, &path, String::new(), None).await?;
        let agency = agency.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?;
        if agency.status == StatusCode::NOT_FOUND || planned.is_finished(&agency) {
            return Ok(0);
        }
        let mut made = u64::from(there.is_none());
        // Where the administrator is, who joins last, all others have joined.
        let missing = if has_admin(&agency) { 0 } else { planned.members };
        for member in (0..missing).rev() {
            let role = if member == 0 { "admin" } else { "member" };
            let name = format!("Volunteer {}", (planned.number * 13 + member) % 1500);
            let new = json!({ "idpid": volunteer(planned.number, member), "role": role, "displayName": name });
            made += self.put_in(&format!("{path}/members"), &new).await?;
        }
        if planned.invitation {
            let address = format!("volunteer-{}@example.org", planned.number);
            made += self.put_in(&format!("{path}/invitations"), &json!({ "address": address, "days": 90 })).await?;
        }
        if let Some(status) = planned.status {
            let set = self.call(Method::POST, &format!("{path}/{status}"), "{}".to_owned(), None).await?;
            set.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?;
        }
        Ok(made)
    }

    /// Makes an agency, or finds the one that it has become.
    async fn found(&self, planned: &Planned) -> Result<String, SampleError> {
        let body = json!({ "name": planned.name }).to_string();
        let once = Some(format!("sample agency {}", planned.number));
        let answer = self.call(Method::POST, "/agencies", body, once).await?.expecting(&[StatusCode::CREATED])?;
        Ok(answer.location.unwrap_or_default())
    }

    /// 1 if it was made, 0 if it is there, or its agency has just been deleted.
    async fn put_in(&self, list: &str, new: &Value) -> Result<u64, SampleError> {
        let answer = self.call(Method::POST, list, new.to_string(), None).await?;
        let answer = answer.expecting(&[StatusCode::CREATED, StatusCode::CONFLICT, StatusCode::NOT_FOUND])?;
        Ok(u64::from(answer.status == StatusCode::CREATED))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn world_has_two_hundred_agencies_of_realistic_sizes() {
        let planned = planned(Size::World);
        let names: BTreeSet<&str> = planned.iter().map(|agency| agency.name.as_str()).collect();
        assert_eq!((planned.len(), names.len()), (200, 200));
        assert_eq!(planned.iter().filter(|agency| agency.members == 0).count(), 1);
        assert_eq!(planned.iter().map(|agency| agency.members).max(), Some(1000));
        assert!(planned.iter().filter(|agency| agency.members > 0).all(|agency| agency.members >= 2));
        assert_eq!(planned.iter().filter(|agency| agency.invitation).count(), 50);
        for agency in &planned {
            let people: BTreeSet<String> = (0..agency.members).map(|member| volunteer(agency.number, member)).collect();
            assert_eq!(people.len(), agency.members, "{}", agency.name);
        }
    }

    #[test]
    fn small_sample_has_six_agencies_with_the_people_who_have_tokens() {
        let planned = planned(Size::Small);
        assert_eq!((planned.len(), planned.iter().map(Planned::count).sum::<u64>()), (6, 59));
        let moorland = planned.iter().find(|agency| agency.name == "Moorland Avalanche Service").unwrap();
        assert!(moorland.invitation && moorland.status == Some("activate"));
        assert_eq!(
            [0, 1].map(|member| volunteer(moorland.number, member)),
            ["local:volunteer-0988", "local:volunteer-0989"]
        );
        for status in [None, Some("activate"), Some("deactivate")] {
            assert!(planned.iter().any(|agency| agency.status == status), "{status:?}");
        }
    }
}
