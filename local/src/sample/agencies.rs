//! Two hundred made-up agencies: one of a thousand members, most of a few, one of none, and fifty open invitations. An
//! agency is told by its name, so that a second load finds it.

use std::collections::HashMap;

use futures::stream::{self, StreamExt, TryStreamExt};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::target::Target;
use super::{AT_ONCE, SampleError};
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

/// An agency to be there.
struct Planned {
    number: usize,
    name: String,
    members: usize,
    status: Option<&'static str>,
    invitation: bool,
}

fn planned() -> Vec<Planned> {
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
    names.enumerate().map(agency).collect()
}

/// A person of the platform's own issuer: of whom there are so many that some are in several agencies.
fn volunteer(agency: usize, member: usize) -> String {
    format!("local:volunteer-{:04}", (agency * 13 + member) % 1500)
}

/// Sends all of it with a platform administrator's token. Returns how much was made, and how much was there before.
pub async fn load(gateway: &str, token: &str, progress: &Progress) -> Result<(u64, u64), SampleError> {
    progress.started(STAGE);
    let target = Target::new(gateway, token);
    let there = target.agencies().await?;
    let planned = planned();
    let total = planned.len() as u64;
    let loads = planned.iter().map(|agency| target.bring_up(agency, there.get(&agency.name)));
    let mut loads = stream::iter(loads).buffer_unordered(AT_ONCE);
    let (mut made, mut present, mut done) = (0, 0, 0);
    while let Some((of_it_made, of_it_present)) = loads.try_next().await? {
        (made, present, done) = (made + of_it_made, present + of_it_present, done + 1);
        progress.advanced(STAGE, done, Some(total));
    }
    progress.finished(STAGE, format!("{made} made, {present} there before, with their members and invitations"));
    Ok((made, present))
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

    /// An agency with its members and its invitation: how much was made, and how much was there.
    async fn bring_up(&self, planned: &Planned, there: Option<&String>) -> Result<(u64, u64), SampleError> {
        let all = 1 + planned.members as u64 + u64::from(planned.invitation);
        let (path, mut made) = match there {
            Some(path) => (path.clone(), 0),
            None => (self.found(planned).await?, 1),
        };
        let read = self.call(Method::GET, &path, String::new(), None).await?.expecting(&[StatusCode::OK])?;
        let members = read.number("members").unwrap_or_default();
        if members < planned.members as u64 {
            for member in 0..planned.members {
                let role = if member == 0 { "admin" } else { "member" };
                let name = format!("Volunteer {}", (planned.number * 13 + member) % 1500);
                let new = json!({ "idpid": volunteer(planned.number, member), "role": role, "displayName": name });
                made += self.put_in(&format!("{path}/members"), &new).await?;
            }
        }
        if planned.invitation {
            let address = format!("volunteer-{}@example.org", planned.number);
            made += self.put_in(&format!("{path}/invitations"), &json!({ "address": address, "days": 90 })).await?;
        }
        if let Some(status) = planned.status.filter(|_| there.is_none()) {
            let path = format!("{path}/{status}");
            self.call(Method::POST, &path, "{}".to_owned(), None).await?.expecting(&[StatusCode::OK])?;
        }
        Ok((made, all.saturating_sub(made)))
    }

    async fn found(&self, planned: &Planned) -> Result<String, SampleError> {
        let body = json!({ "name": planned.name }).to_string();
        let once = Some(format!("sample agency {}", planned.number));
        let answer = self.call(Method::POST, "/agencies", body, once).await?.expecting(&[StatusCode::CREATED])?;
        Ok(answer.location.unwrap_or_default())
    }

    /// 1 if it was made, 0 if it is there.
    async fn put_in(&self, list: &str, new: &Value) -> Result<u64, SampleError> {
        let answer = self.call(Method::POST, list, new.to_string(), None).await?;
        let answer = answer.expecting(&[StatusCode::CREATED, StatusCode::CONFLICT])?;
        Ok(u64::from(answer.status == StatusCode::CREATED))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn two_hundred_agencies_of_realistic_sizes() {
        let planned = planned();
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
}
