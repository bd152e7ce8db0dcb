//! Three made-up tenants with five projects, one of ten thousand issues and thirty attributes; one person is in two of
//! the tenants. Issues come as CSV files, as from any client.
//!
//! A tenant is loaded in parts, a small one first. The first member of a part joins when all else of the part is there:
//! where that person is a member, the part is complete, and later loads leave it as users have changed it. Other parts
//! are completed, except for projects that have issues or whose import has ended. Tenants and projects are found by
//! name, or, for the day for which the platform keeps an `Idempotency-Key`, by the one with which they were created. A
//! tenant or project that was renamed or deleted before its part was complete is created again after that day.

mod issues;
mod tenants;

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::target::{Answer, Target};
use super::{SampleError, Size};
use crate::Progress;
pub use tenants::{Part, Project, TENANTS, Tenant};

const STAGE: &str = "tracker";
const LIST: &str = "/tracker/tenants";

/// The interval at which an import is polled.
const POLL: Duration = Duration::from_millis(500);

/// How long an import may take without progress.
const STALL_TIMEOUT: Duration = Duration::from_secs(300);

/// The import of a project's file.
enum Import {
    /// The path of its job.
    Running(String),
    Ended,
}

/// Loads the tenants of this size with a platform administrator's token, whose subject becomes an administrator of the
/// tenants. Returns the numbers of created tenants and issues, and of those that existed or were deleted since.
pub async fn load(size: Size, gateway: &str, token: &str, progress: &Progress) -> Result<(u64, u64), SampleError> {
    load_these(TENANTS, size, gateway, token, progress).await
}

/// Loads the parts of these tenants that a sample of this size has.
pub async fn load_these(
    tenants: &[Tenant],
    size: Size,
    gateway: &str,
    token: &str,
    progress: &Progress,
) -> Result<(u64, u64), SampleError> {
    progress.started(STAGE);
    let target = Target::new(gateway, token)?;
    let tenants: Vec<&Tenant> = tenants.iter().filter(|tenant| tenant.parts(size).next().is_some()).collect();
    let issues: u64 = tenants.iter().flat_map(|tenant| tenant.parts(size)).map(Part::issues).sum();
    let there = target.names(LIST).await?;
    let there = there.ok_or_else(|| SampleError::unreadable(format!("the token does not allow to list {LIST}")))?;
    let (mut made, mut done) = (0, 0);
    for tenant in &tenants {
        let found = there.iter().find(|(name, _)| name == tenant.name).map(|(_, id)| format!("{LIST}/{id}"));
        let mut is_new = found.is_none();
        let path = match found {
            Some(path) => path,
            None => target.create_named(LIST, tenant.name, format!("sample {}", tenant.name)).await?,
        };
        for part in tenant.parts(size) {
            if target.is_complete(&path, part).await? {
                // The tenant has a complete part, so it was renamed or deleted since.
                is_new = false;
            } else {
                let tell = |more: u64| progress.advanced(STAGE, done + more, Some(issues));
                made += u64::from(std::mem::take(&mut is_new)) + target.complete(&path, part, tell).await?;
            }
            done += part.issues();
            progress.advanced(STAGE, done, Some(issues));
        }
    }
    let before = (tenants.len() as u64 + issues).saturating_sub(made);
    progress.finished(STAGE, format!("{made} created, {before} existed"));
    Ok((made, before))
}

impl Target {
    /// Whether a part needs nothing more: a load has completed it, or its tenant has been deleted.
    async fn is_complete(&self, path: &str, part: &Part) -> Result<bool, SampleError> {
        if !self.exists(path).await? {
            return Ok(true);
        }
        match part.members.first() {
            Some((last, _)) => self.exists(&format!("{path}/members/local:{last}")).await,
            None => Ok(false),
        }
    }

    async fn exists(&self, path: &str) -> Result<bool, SampleError> {
        let answer = self.call(Method::GET, path, String::new(), None).await?;
        Ok(answer.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?.status == StatusCode::OK)
    }

    /// Creates the missing projects of a part with their issues, then adds its members. Returns the number of new issues.
    async fn complete(&self, path: &str, part: &Part, tell: impl Fn(u64)) -> Result<u64, SampleError> {
        let (list, id) = (format!("{path}/projects"), path.rsplit('/').next().unwrap_or_default());
        // The token's subject was removed from the tenant.
        let Some(there) = self.names(&list).await? else { return Ok(0) };
        let (mut made, mut done) = (0, 0);
        for project in part.projects {
            let project_path = match there.iter().find(|(name, _)| name == project.name) {
                Some((_, id)) => format!("{list}/{id}"),
                // The same name in another tenant is another project.
                None => self.create_named(&list, project.name, format!("{id} {}", project.name)).await?,
            };
            made += self.fill(path, &project_path, project, |more| tell(done + more)).await?;
            done += project.issues as u64;
        }
        for (subject, role) in part.members.iter().rev() {
            let new = json!({ "idpid": format!("local:{subject}"), "role": role, "name": subject });
            self.create_if_absent(&format!("{path}/members"), &new).await?;
        }
        Ok(made)
    }

    /// Creates an item under this `Idempotency-Key`, so that concurrent loads create it once. Returns its path.
    async fn create_named(&self, list: &str, name: &str, once: String) -> Result<String, SampleError> {
        let answer = self.call(Method::POST, list, json!({ "name": name }).to_string(), Some(once)).await?;
        answer.expecting(&[StatusCode::CREATED])?.created_path()
    }

    /// Creates an item whose name is unique in its list, unless it exists.
    async fn create_if_absent(&self, list: &str, new: &Value) -> Result<(), SampleError> {
        let answer = self.call(Method::POST, list, new.to_string(), None).await?;
        answer.expecting(&[StatusCode::CREATED, StatusCode::CONFLICT]).map(|_| ())
    }

    /// Creates the attributes of a project without issues, and imports its issues. Returns their number.
    async fn fill(&self, tenant: &str, path: &str, project: &Project, tell: impl Fn(u64)) -> Result<u64, SampleError> {
        let grid = format!("{path}/grid?limit=1&count=true");
        let grid = self.call(Method::GET, &grid, String::new(), None).await?;
        let grid = grid.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?;
        if grid.status == StatusCode::NOT_FOUND {
            // The project has been deleted.
            return Ok(0);
        }
        // Without a filter the count comes from the table, not from search.
        let there = grid.json()?.pointer("/total/value").and_then(Value::as_u64);
        let there = there.ok_or_else(|| grid.unexpected())?;
        match self.import_of(tenant, path).await? {
            // The import of an interrupted load is still running.
            Some(Import::Running(work)) => self.wait(&work, tell).await.map(|_| 0),
            Some(Import::Ended) => Ok(0),
            None if there > 0 => Ok(0),
            None => {
                for attribute in issues::attributes(project.attributes) {
                    self.create_if_absent(&format!("{path}/attributes"), &attribute).await?;
                }
                let work = self.send(path, issues::file(project)).await?;
                let ended = self.wait(&work, tell).await?;
                // Users may cancel the import or delete the project.
                let is_deleted = ended.text("reason").as_deref() == Some("its project was deleted");
                if ended.text("status").as_deref() == Some("failed") && !is_deleted {
                    return Err(ended.unexpected());
                }
                Ok(project.issues as u64)
            }
        }
    }

    /// Returns the last import of a project, unless it was cancelled or has created nothing. An import that still waits for its
    /// file is cancelled.
    async fn import_of(&self, tenant: &str, project: &str) -> Result<Option<Import>, SampleError> {
        let list = format!("{tenant}/jobs?limit=100");
        let answer = self.call(Method::GET, &list, String::new(), None).await?.expecting(&[StatusCode::OK])?;
        for work in answer.page()?.0 {
            let text = |name: &str| work.get(name).and_then(Value::as_str).unwrap_or_default();
            let path = format!("{tenant}/jobs/{}", text("id"));
            if text("kind") != "import" || project.rsplit('/').next() != Some(text("project")) {
                continue;
            }
            match text("status") {
                "running" => return Ok(Some(Import::Running(path))),
                "queued" => {
                    let cancelled = self.call(Method::DELETE, &path, String::new(), None).await?;
                    if cancelled.status != StatusCode::NO_CONTENT {
                        // Its file has arrived meanwhile.
                        return Ok(Some(Import::Running(path)));
                    }
                }
                "succeeded" => return Ok(Some(Import::Ended)),
                "failed" if work.pointer("/counts/created").is_some_and(|created| *created != 0) => {
                    return Ok(Some(Import::Ended));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Creates an import and uploads its file. Returns the path of its job.
    async fn send(&self, project: &str, file: Vec<u8>) -> Result<String, SampleError> {
        let new = json!({ "bytes": file.len(), "mode": "create", "onError": "stop" });
        let answer = self.call(Method::POST, &format!("{project}/imports"), new.to_string(), None).await?;
        let answer = answer.expecting(&[StatusCode::CREATED])?;
        self.upload(&answer, file).await?;
        answer.created_path()
    }

    /// Waits until a job has ended, and reports its progress.
    async fn wait(&self, work: &str, tell: impl Fn(u64)) -> Result<Answer, SampleError> {
        let (mut done, mut moved) = (0, tokio::time::Instant::now());
        loop {
            let answer = self.call(Method::GET, work, String::new(), None).await?.expecting(&[StatusCode::OK])?;
            let now = answer.json()?.pointer("/counts/done").and_then(Value::as_u64).unwrap_or_default();
            match answer.text("status").as_deref() {
                Some("queued" | "running") if moved.elapsed() < STALL_TIMEOUT => {}
                Some("queued" | "running") | None => return Err(answer.unexpected()),
                Some(_) => return Ok(answer),
            }
            if now > done {
                (done, moved) = (now, tokio::time::Instant::now());
                tell(done);
            }
            tokio::time::sleep(POLL).await;
        }
    }
}
