//! The samples of agencies: two hundred made-up agencies with up to a thousand members, and fifty open invitations.
//!
//! A load leaves a completed agency as it is, and completes one whose load was interrupted. It finds an agency by name.
//! One that was renamed or deleted since is found by the `Idempotency-Key` of its creation, for the day for which the
//! platform keeps it, and is created again after that.

use std::collections::HashMap;
use std::ops::Range;

use futures::stream::{self, StreamExt, TryStreamExt};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::target::{Answer, Target};
use super::{CONCURRENCY, SampleError, Size};
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

/// The numbers of the agencies of the small sample: six avalanche services, including Moorland's.
const SMALL: Range<usize> = 74..80;

/// An agency of the sample.
#[derive(Clone, Debug)]
pub struct Planned {
    number: usize,
    pub name: String,
    members: usize,
    /// The operation that sets its status.
    status: Option<&'static str>,
    invitation: bool,
}

/// Returns the agencies of a sample of this size.
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

/// Returns the id of a member, a person of the platform's default issuer. Some people are members of several agencies.
fn volunteer(agency: usize, member: usize) -> String {
    format!("local:volunteer-{:04}", (agency * 13 + member) % 1500)
}

/// Loads the agencies of this size with a platform administrator's token. Returns the numbers of created items, and of
/// items that existed or were deleted since.
pub async fn load(size: Size, gateway: &str, token: &str, progress: &Progress) -> Result<(u64, u64), SampleError> {
    load_these(&planned(size), gateway, token, progress).await
}

/// Loads these agencies.
pub async fn load_these(
    planned: &[Planned],
    gateway: &str,
    token: &str,
    progress: &Progress,
) -> Result<(u64, u64), SampleError> {
    progress.started(STAGE);
    let target = Target::new(gateway, token)?;
    let there = target.agencies().await?;
    let (target, there) = (&target, &there);
    let loads = planned.iter().map(|agency| async move {
        let made = target.complete_agency(agency, there.get(&agency.name)).await?;
        Ok::<_, SampleError>((made, agency.count()))
    });
    let mut loads = stream::iter(loads).buffer_unordered(CONCURRENCY);
    let total = planned.iter().map(Planned::count).sum::<u64>();
    let (mut made, mut done) = (0, 0);
    while let Some((made_of_agency, count)) = loads.try_next().await? {
        (made, done) = (made + made_of_agency, done + count);
        progress.advanced(STAGE, done, Some(total));
    }
    let present = total.saturating_sub(made);
    progress.finished(STAGE, format!("{made} created, {present} existed, with their members and invitations"));
    Ok((made, present))
}

impl Planned {
    /// Counts the agency, its members and its invitation.
    fn count(&self) -> u64 {
        1 + self.members as u64 + u64::from(self.invitation)
    }

    /// Whether a load has completed the agency. Its last step sets the status, or adds the administrator if the status
    /// stays pending.
    fn is_finished(&self, agency: &Answer) -> bool {
        agency.text("status").is_none_or(|status| status != "pending") || self.status.is_none() && has_admin(agency)
    }
}

fn has_admin(agency: &Answer) -> bool {
    agency.number("admins").is_some_and(|admins| admins > 0)
}

impl Target {
    /// Returns the paths of the existing agencies by name.
    async fn agencies(&self) -> Result<HashMap<String, String>, SampleError> {
        let mut there = HashMap::new();
        let mut page = "/agencies?limit=100".to_owned();
        loop {
            let answer = self.call(Method::GET, &page, String::new(), None).await?.expecting(&[StatusCode::OK])?;
            let (items, next) = answer.page()?;
            for agency in items {
                let text = |name: &str| agency.get(name).and_then(Value::as_str).ok_or_else(|| answer.unexpected());
                there.insert(text("name")?.to_owned(), format!("/agencies/{}", text("agencyId")?));
            }
            match next {
                Some(cursor) => page = format!("/agencies?limit=100&cursor={cursor}"),
                None => return Ok(there),
            }
        }
    }

    /// Completes an agency with its members, its invitation and its status. Returns the number of created items.
    async fn complete_agency(&self, planned: &Planned, there: Option<&String>) -> Result<u64, SampleError> {
        let path = match there {
            Some(path) => path.clone(),
            None => self.create_agency(planned).await?,
        };
        let agency = self.call(Method::GET, &path, String::new(), None).await?;
        let agency = agency.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?;
        if agency.status == StatusCode::NOT_FOUND || planned.is_finished(&agency) {
            return Ok(0);
        }
        let mut made = u64::from(there.is_none());
        // The administrator joins last.
        let missing = if has_admin(&agency) { 0 } else { planned.members };
        for member in (0..missing).rev() {
            let role = if member == 0 { "admin" } else { "member" };
            let name = format!("Volunteer {}", (planned.number * 13 + member) % 1500);
            let new = json!({ "idpid": volunteer(planned.number, member), "role": role, "displayName": name });
            made += self.add(&format!("{path}/members"), &new).await?;
        }
        if planned.invitation {
            let address = format!("volunteer-{}@example.org", planned.number);
            made += self.add(&format!("{path}/invitations"), &json!({ "address": address, "days": 90 })).await?;
        }
        if let Some(status) = planned.status {
            let set = self.call(Method::POST, &format!("{path}/{status}"), "{}".to_owned(), None).await?;
            set.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?;
        }
        Ok(made)
    }

    /// Creates an agency, or finds the one that an earlier load created.
    async fn create_agency(&self, planned: &Planned) -> Result<String, SampleError> {
        let body = json!({ "name": planned.name }).to_string();
        let once = Some(format!("sample agency {}", planned.number));
        let answer = self.call(Method::POST, "/agencies", body, once).await?.expecting(&[StatusCode::CREATED])?;
        answer.created_path()
    }

    /// Adds an entry to a list. Returns 1 if it was created, 0 if it exists or its agency was deleted.
    async fn add(&self, list: &str, new: &Value) -> Result<u64, SampleError> {
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
