//! Three made-up tenants with five projects, one of ten thousand issues and thirty attributes; one person is in two of the
//! tenants. Issues come as CSV files, as from any client: tenants and projects are told by their names, and a project
//! that has issues, or had some, is left as it is.

mod issues;

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::SampleError;
use super::target::Target;
use crate::Progress;

const STAGE: &str = "tracker";

/// How often an import is asked how far it has come.
const LOOK: Duration = Duration::from_millis(500);

/// How long an import may rest between two counts.
const PATIENCE: Duration = Duration::from_secs(300);

/// A tenant with its people, by their subjects at the platform's own issuer, and its projects.
struct Tenant {
    name: &'static str,
    members: &'static [(&'static str, &'static str)],
    projects: &'static [Project],
}

/// A project with so many attributes and issues.
struct Project {
    name: &'static str,
    attributes: usize,
    issues: usize,
}

const TENANTS: &[Tenant] = &[
    Tenant {
        name: "Northern Bridges",
        members: &[("ada", "admin"), ("ann", "editor"), ("vic", "viewer")],
        projects: &[
            Project { name: "Estuary crossing", attributes: 30, issues: 10_000 },
            Project { name: "Footbridge survey", attributes: 6, issues: 60 },
        ],
    },
    Tenant {
        name: "Harbour Press",
        members: &[("max", "admin"), ("ann", "editor")],
        projects: &[
            Project { name: "Weekend edition", attributes: 4, issues: 80 },
            Project { name: "New website", attributes: 8, issues: 120 },
        ],
    },
    Tenant {
        name: "Hillside Clinic",
        members: &[("zoe", "admin")],
        projects: &[Project { name: "Equipment", attributes: 5, issues: 40 }],
    },
];

/// Sends all of it with a platform administrator's token, whose subject becomes an administrator of the tenants. Returns
/// how much was made, and how much was there before.
pub async fn load(gateway: &str, token: &str, progress: &Progress) -> Result<(u64, u64), SampleError> {
    progress.started(STAGE);
    let target = Target::new(gateway, token);
    let total: u64 = TENANTS.iter().flat_map(|tenant| tenant.projects).map(|project| project.issues as u64).sum();
    let there = target.named("/tracker/tenants").await?;
    let (mut made, mut before) = (0, 0);
    for tenant in TENANTS {
        let path = match there.iter().find(|(name, _)| name == tenant.name) {
            Some((_, id)) => {
                before += 1;
                format!("/tracker/tenants/{id}")
            }
            None => {
                made += 1;
                target.created("/tracker/tenants", &json!({ "name": tenant.name })).await?
            }
        };
        for (subject, role) in tenant.members {
            let new = json!({ "idpid": format!("local:{subject}"), "role": role, "name": subject });
            target.unless_there(&format!("{path}/members"), &new).await?;
        }
        let projects = target.named(&format!("{path}/projects")).await?;
        for project in tenant.projects {
            let project_path = match projects.iter().find(|(name, _)| name == project.name) {
                Some((_, id)) => format!("{path}/projects/{id}"),
                None => target.created(&format!("{path}/projects"), &json!({ "name": project.name })).await?,
            };
            for attribute in issues::attributes(project.attributes) {
                target.unless_there(&format!("{project_path}/attributes"), &attribute).await?;
            }
            let loaded = made + before;
            let tell = |done: u64| progress.advanced(STAGE, loaded + done, Some(total));
            let issues = target.fill(&path, &project_path, project, tell).await?;
            (made, before) = (made + issues, before + project.issues as u64 - issues);
        }
    }
    progress.finished(STAGE, format!("{made} made, {before} there before"));
    Ok((made, before))
}

impl Target {
    /// The names and ids of all that a list has.
    async fn named(&self, list: &str) -> Result<Vec<(String, String)>, SampleError> {
        let mut all = Vec::new();
        let mut page = format!("{list}?limit=100");
        loop {
            let answer = self.call(Method::GET, &page, String::new(), None).await?.expecting(&[StatusCode::OK])?;
            let body: Value = answer.json();
            for entry in body.get("items").and_then(Value::as_array).into_iter().flatten() {
                let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                all.push((text("name"), text("id")));
            }
            match body.get("nextCursor").and_then(Value::as_str) {
                Some(cursor) => page = format!("{list}?limit=100&cursor={cursor}"),
                None => return Ok(all),
            }
        }
    }

    /// Where what was made is: once, in however many loads at once.
    async fn created(&self, list: &str, new: &Value) -> Result<String, SampleError> {
        let once = Some(format!("sample {}", new.get("name").and_then(Value::as_str).unwrap_or_default()));
        let answer = self.call(Method::POST, list, new.to_string(), once).await?;
        Ok(answer.expecting(&[StatusCode::CREATED])?.location.unwrap_or_default())
    }

    /// Makes what has a name of its own in its list, unless it is there.
    async fn unless_there(&self, list: &str, new: &Value) -> Result<(), SampleError> {
        let answer = self.call(Method::POST, list, new.to_string(), None).await?;
        answer.expecting(&[StatusCode::CREATED, StatusCode::CONFLICT]).map(|_| ())
    }

    /// Imports the issues of a project that never had any. Returns how many were made.
    async fn fill(&self, tenant: &str, path: &str, project: &Project, tell: impl Fn(u64)) -> Result<u64, SampleError> {
        let grid = format!("{path}/grid?limit=1&count=true");
        let answer = self.call(Method::GET, &grid, String::new(), None).await?.expecting(&[StatusCode::OK])?;
        let there = answer.json().pointer("/total/value").and_then(Value::as_u64).unwrap_or_default();
        let (work, made) = match self.import_of(tenant, path).await? {
            // A load before was broken off, and its work goes on.
            Some(work) => (work, 0),
            None if there > 0 => return Ok(0),
            None => (self.send(path, issues::file(project)).await?, project.issues as u64),
        };
        self.wait(&work, tell).await?;
        Ok(made)
    }

    /// The import of a project that is under way. One that waits for its file would wait in vain, and is cancelled.
    async fn import_of(&self, tenant: &str, project: &str) -> Result<Option<String>, SampleError> {
        let list = format!("{tenant}/work?limit=100");
        let answer = self.call(Method::GET, &list, String::new(), None).await?.expecting(&[StatusCode::OK])?;
        for work in answer.json().get("items").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| work.get(name).and_then(Value::as_str).unwrap_or_default();
            let path = format!("{tenant}/work/{}", text("id"));
            if text("kind") != "import" || !project.ends_with(text("project")) {
                continue;
            }
            match text("state") {
                "running" => return Ok(Some(path)),
                "waiting" => drop(self.call(Method::DELETE, &path, String::new(), None).await?),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Announces a file and sends it. Returns the path of its work.
    async fn send(&self, project: &str, file: Vec<u8>) -> Result<String, SampleError> {
        let new = json!({ "bytes": file.len(), "mode": "create", "onError": "stop" });
        let answer = self.call(Method::POST, &format!("{project}/imports"), new.to_string(), None).await?;
        let answer = answer.expecting(&[StatusCode::CREATED])?;
        let body: Value = answer.json();
        let link = body.get("link").and_then(Value::as_str).unwrap_or_default();
        let headers = body.get("headers").and_then(Value::as_object).into_iter().flatten();
        let headers = headers.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
        self.put(link, headers, file).await?;
        Ok(answer.location.unwrap_or_default())
    }

    async fn wait(&self, work: &str, tell: impl Fn(u64)) -> Result<(), SampleError> {
        let (mut done, mut moved) = (0, tokio::time::Instant::now());
        loop {
            let answer = self.call(Method::GET, work, String::new(), None).await?.expecting(&[StatusCode::OK])?;
            let body: Value = answer.json();
            let now = body.pointer("/counts/done").and_then(Value::as_u64).unwrap_or_default();
            match body.get("state").and_then(Value::as_str) {
                Some("done") => return Ok(()),
                Some("waiting" | "running") if moved.elapsed() < PATIENCE => {}
                _ => return Err(answer.unexpected()),
            }
            if now > done {
                (done, moved) = (now, tokio::time::Instant::now());
                tell(done);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_tenants_five_projects_and_one_person_in_two() {
        let projects: Vec<&Project> = TENANTS.iter().flat_map(|tenant| tenant.projects).collect();
        assert_eq!((TENANTS.len(), projects.len()), (3, 5));
        assert!(projects.iter().any(|project| (project.attributes, project.issues) == (30, 10_000)));
        let in_tenants = |subject: &str| {
            TENANTS.iter().filter(|tenant| tenant.members.iter().any(|(who, _)| *who == subject)).count()
        };
        assert_eq!((in_tenants("ann"), in_tenants("ada")), (2, 1));
    }
}
