//! Three made-up tenants with five projects, one of ten thousand issues and thirty attributes; one person is in two of
//! the tenants. Issues come as CSV files, as from any client.
//!
//! A tenant's administrator joins last: where that one is, a load has come to its end, and the next leaves all of it as
//! it has become. Elsewhere it completes what was broken off, but for a project that has issues, or whose import has
//! ended. Tenants and projects are told by their names; one that was renamed or deleted since by the `Idempotency-Key`
//! under which it was made, for the day that the platform keeps it. After that it is made anew.

mod issues;

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::SampleError;
use super::target::{Answer, Target};
use crate::Progress;

const STAGE: &str = "tracker";
const LIST: &str = "/tracker/tenants";

/// How often an import is asked how far it has come.
const LOOK: Duration = Duration::from_millis(500);

/// How long an import may rest between two counts.
const PATIENCE: Duration = Duration::from_secs(300);

/// A tenant with its people, by their subjects at the platform's own issuer, the administrator first, and its projects.
#[derive(Clone, Copy, Debug)]
pub struct Tenant {
    pub name: &'static str,
    pub members: &'static [(&'static str, &'static str)],
    pub projects: &'static [Project],
}

/// A project with so many attributes and issues.
#[derive(Debug)]
pub struct Project {
    pub name: &'static str,
    attributes: usize,
    issues: usize,
}

/// All of them.
pub const TENANTS: &[Tenant] = &[
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

/// The import of a project's file.
enum Import {
    /// The path of its work.
    Running(String),
    Ended,
}

/// Sends all of it with a platform administrator's token, whose subject becomes an administrator of the tenants.
/// Returns how many tenants and issues were made, and how many were there before, or have been deleted since.
pub async fn load(gateway: &str, token: &str, progress: &Progress) -> Result<(u64, u64), SampleError> {
    load_these(TENANTS, gateway, token, progress).await
}

/// Sends these.
pub async fn load_these(
    tenants: &[Tenant],
    gateway: &str,
    token: &str,
    progress: &Progress,
) -> Result<(u64, u64), SampleError> {
    progress.started(STAGE);
    let target = Target::new(gateway, token);
    let issues: u64 = tenants.iter().map(Tenant::issues).sum();
    let there = target.named(LIST).await?.unwrap_or_default();
    let (mut made, mut done) = (0, 0);
    for tenant in tenants {
        let found = there.iter().find(|(name, _)| name == tenant.name).map(|(_, id)| format!("{LIST}/{id}"));
        let is_there = found.is_some();
        let path = match found {
            Some(path) => path,
            None => target.created(LIST, tenant.name, format!("sample {}", tenant.name)).await?,
        };
        if !target.is_settled(&path, tenant).await? {
            let tell = |more: u64| progress.advanced(STAGE, done + more, Some(issues));
            made += u64::from(!is_there) + target.complete(&path, tenant, tell).await?;
        }
        done += tenant.issues();
        progress.advanced(STAGE, done, Some(issues));
    }
    let before = (tenants.len() as u64 + issues).saturating_sub(made);
    progress.finished(STAGE, format!("{made} made, {before} there before"));
    Ok((made, before))
}

impl Tenant {
    fn issues(&self) -> u64 {
        self.projects.iter().map(|project| project.issues as u64).sum()
    }
}

impl Target {
    /// Whether there is nothing to do in a tenant: a load has come to its end there, or it has been deleted.
    async fn is_settled(&self, path: &str, tenant: &Tenant) -> Result<bool, SampleError> {
        if !self.is_there(path).await? {
            return Ok(true);
        }
        match tenant.members.first() {
            Some((administrator, _)) => self.is_there(&format!("{path}/members/local:{administrator}")).await,
            None => Ok(false),
        }
    }

    async fn is_there(&self, path: &str) -> Result<bool, SampleError> {
        let answer = self.call(Method::GET, path, String::new(), None).await?;
        Ok(answer.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?.status == StatusCode::OK)
    }

    /// Makes what a tenant lacks of its projects, and then lets its people in. Returns how many issues were made.
    async fn complete(&self, path: &str, tenant: &Tenant, tell: impl Fn(u64)) -> Result<u64, SampleError> {
        let (list, id) = (format!("{path}/projects"), path.rsplit('/').next().unwrap_or_default());
        // Somebody has shut us out.
        let Some(there) = self.named(&list).await? else { return Ok(0) };
        let (mut made, mut done) = (0, 0);
        for project in tenant.projects {
            let project_path = match there.iter().find(|(name, _)| name == project.name) {
                Some((_, id)) => format!("{list}/{id}"),
                // The same name in another tenant is another project.
                None => self.created(&list, project.name, format!("{id} {}", project.name)).await?,
            };
            made += self.fill(path, &project_path, project, |more| tell(done + more)).await?;
            done += project.issues as u64;
        }
        for (subject, role) in tenant.members.iter().rev() {
            let new = json!({ "idpid": format!("local:{subject}"), "role": role, "name": subject });
            self.unless_there(&format!("{path}/members"), &new).await?;
        }
        Ok(made)
    }

    /// The names and ids of all that a list has; none if it is not there, or not for us.
    async fn named(&self, list: &str) -> Result<Option<Vec<(String, String)>>, SampleError> {
        let mut all = Vec::new();
        let mut page = format!("{list}?limit=100");
        loop {
            let answer = self.call(Method::GET, &page, String::new(), None).await?;
            let answer = answer.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?;
            if answer.status == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            let body: Value = answer.json();
            for entry in body.get("items").and_then(Value::as_array).into_iter().flatten() {
                let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                all.push((text("name"), text("id")));
            }
            match body.get("nextCursor").and_then(Value::as_str) {
                Some(cursor) => page = format!("{list}?limit=100&cursor={cursor}"),
                None => return Ok(Some(all)),
            }
        }
    }

    /// Where what was made is: under this `Idempotency-Key` once, in however many loads at once.
    async fn created(&self, list: &str, name: &str, once: String) -> Result<String, SampleError> {
        let answer = self.call(Method::POST, list, json!({ "name": name }).to_string(), Some(once)).await?;
        Ok(answer.expecting(&[StatusCode::CREATED])?.location.unwrap_or_default())
    }

    /// Makes what has a name of its own in its list, unless it is there.
    async fn unless_there(&self, list: &str, new: &Value) -> Result<(), SampleError> {
        let answer = self.call(Method::POST, list, new.to_string(), None).await?;
        answer.expecting(&[StatusCode::CREATED, StatusCode::CONFLICT]).map(|_| ())
    }

    /// Imports the issues of a project that never had any, once it has its attributes. Returns how many were made.
    async fn fill(&self, tenant: &str, path: &str, project: &Project, tell: impl Fn(u64)) -> Result<u64, SampleError> {
        let grid = format!("{path}/grid?limit=1&count=true");
        let grid = self.call(Method::GET, &grid, String::new(), None).await?;
        let grid = grid.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?;
        if grid.status == StatusCode::NOT_FOUND {
            // It has been deleted.
            return Ok(0);
        }
        // Without a filter the table counts, and not search.
        let there = grid.json().pointer("/total/value").and_then(Value::as_u64).unwrap_or_default();
        match self.import_of(tenant, path).await? {
            // A load before was broken off, and its work goes on.
            Some(Import::Running(work)) => self.wait(&work, tell).await.map(|_| 0),
            Some(Import::Ended) => Ok(0),
            None if there > 0 => Ok(0),
            None => {
                for attribute in issues::attributes(project.attributes) {
                    self.unless_there(&format!("{path}/attributes"), &attribute).await?;
                }
                let work = self.send(path, issues::file(project)).await?;
                let ended = self.wait(&work, tell).await?;
                // Whoever has cancelled it, or deletes the project, may do so.
                if ended.text("state").as_deref() == Some("rejected") {
                    return Err(ended.unexpected());
                }
                Ok(project.issues as u64)
            }
        }
    }

    /// The last import of a project, unless it was cancelled or its file never came. One that waits for its file would
    /// wait in vain, and is cancelled.
    async fn import_of(&self, tenant: &str, project: &str) -> Result<Option<Import>, SampleError> {
        let list = format!("{tenant}/work?limit=100");
        let answer = self.call(Method::GET, &list, String::new(), None).await?.expecting(&[StatusCode::OK])?;
        for work in answer.json().get("items").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| work.get(name).and_then(Value::as_str).unwrap_or_default();
            let path = format!("{tenant}/work/{}", text("id"));
            if text("kind") != "import" || project.rsplit('/').next() != Some(text("project")) {
                continue;
            }
            match text("state") {
                "running" => return Ok(Some(Import::Running(path))),
                "waiting" => {
                    let cancelled = self.call(Method::DELETE, &path, String::new(), None).await?;
                    if cancelled.status != StatusCode::NO_CONTENT {
                        // Its file has come meanwhile.
                        return Ok(Some(Import::Running(path)));
                    }
                }
                "done" | "rejected" => return Ok(Some(Import::Ended)),
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

    /// Waits until work has ended, and tells how far it has come.
    async fn wait(&self, work: &str, tell: impl Fn(u64)) -> Result<Answer, SampleError> {
        let (mut done, mut moved) = (0, tokio::time::Instant::now());
        loop {
            let answer = self.call(Method::GET, work, String::new(), None).await?.expecting(&[StatusCode::OK])?;
            let now = answer.json().pointer("/counts/done").and_then(Value::as_u64).unwrap_or_default();
            match answer.text("state").as_deref() {
                Some("waiting" | "running") if moved.elapsed() < PATIENCE => {}
                Some("waiting" | "running") | None => return Err(answer.unexpected()),
                Some(_) => return Ok(answer),
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
        // With the id of a tenant it is an `Idempotency-Key`, which has at most 64 characters.
        assert!(projects.iter().all(|project| project.name.len() <= 64 - " tenant-".len() - 36));
    }
}
