//! The samples of the archive: three made-up registers of a few hundred rows, and the places that they name. The large
//! sample has the same registers, and more places.
//!
//! A load finds categories, collections and posts by name, or, for the day for which the platform keeps an
//! `Idempotency-Key`, by the one with which they were created. It leaves a post that has been published as it is.

use std::sync::Arc;
use std::time::Duration;

use archive::gazetteer::{Gazetteer, LOAD, Mode};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use table::{Access, Engines, clock};
use tokio::time::Instant;

use super::target::{Answer, Target};
use super::{SampleError, Size};
use crate::{Progress, gazetteer};

const STAGE: &str = "archive";

const CATEGORIES: &str = "/archive/categories";
const COLLECTIONS: &str = "/archive/collections";
const POSTS: &str = "/archive/posts";

/// The interval at which a file or a run is polled.
const POLL: Duration = Duration::from_millis(250);

/// How long a file or a run may take.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The countries that the registers name. The small sample has no other places than theirs, since it is loaded before the
/// platform is ready.
const COUNTRIES: [&str; 4] = ["GB", "DE", "NL", "FR"];

/// A register: a post in a collection and a category of its own.
struct Register {
    category: &'static str,
    collection: &'static str,
    description: &'static str,
    citation: &'static str,
    post: &'static str,
    mapping: &'static str,
    file: &'static str,
}

const REGISTERS: [Register; 3] = [
    Register {
        category: "Censuses",
        collection: "Census of Wales and England, 1871",
        description: "Households with relations to the head, ages and birthplaces. All people in it are made up.",
        citation: "Census of 1871, house {House}, entry {Entry}.",
        post: "Households 1 to 49",
        mapping: include_str!("../../../samples/archive/census.mapping.json"),
        file: include_str!("../../../samples/archive/small/census.csv"),
    },
    Register {
        category: "Parish registers",
        collection: "Baptisms in German parishes",
        description: "Baptisms with both parents and a godparent. All people in it are made up.",
        citation: "Baptisms of {Ort}, number {Nr}.",
        post: "Parishes in Hesse",
        mapping: include_str!("../../../samples/archive/baptisms.mapping.json"),
        file: include_str!("../../../samples/archive/small/baptisms.csv"),
    },
    Register {
        category: "Passenger lists",
        collection: "Arrivals in New York",
        description: "Passengers of four ships, in parties. All people in it are made up.",
        citation: "Passengers of the {Ship}, arrived {Arrived}, number {No}.",
        post: "Fulda, Werra and others",
        mapping: include_str!("../../../samples/archive/passengers.mapping.json"),
        file: include_str!("../../../samples/archive/small/passengers.csv"),
    },
];

/// The tokens of a load.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'a> {
    pub editor: &'a str,
    /// Of the volunteer who makes the posts.
    pub volunteer: &'a str,
}

/// Loads the places into the table, and then the registers through the gateway. Returns the numbers of created places and
/// records, and of those that existed or were deleted since.
pub async fn load(
    size: Size,
    engines: &Arc<Engines>,
    gateway: &str,
    tokens: Tokens<'_>,
    progress: &Progress,
) -> Result<(u64, u64), SampleError> {
    progress.started(STAGE);
    let mut places = gazetteer::sample().map_err(SampleError::unreadable)?;
    if size == Size::Small {
        places.keep_inside(&COUNTRIES);
    }
    let (mut made, mut present) = load_places(engines, &places, progress).await?;
    let (editor, volunteer) = (Target::new(gateway, tokens.editor), Target::new(gateway, tokens.volunteer));
    let loads = REGISTERS.iter().map(|register| register.load(&editor, &volunteer));
    for (register, is_new) in REGISTERS.iter().zip(futures::future::try_join_all(loads).await?) {
        *(if is_new { &mut made } else { &mut present }) += register.rows();
    }
    progress.finished(STAGE, format!("{made} places and records created, {present} existed"));
    Ok((made, present))
}

async fn load_places(
    engines: &Arc<Engines>,
    places: &Gazetteer,
    progress: &Progress,
) -> Result<(u64, u64), SampleError> {
    let (access, now) = (Access::new(Arc::clone(engines), &[&LOAD]), clock::rfc3339(engines.clock.now()));
    let bar = progress.clone();
    let advanced = move |done, total| bar.advanced(STAGE, done, Some(total));
    let loaded = archive::gazetteer::load(&access, places, Mode::Write, &now, &advanced).await;
    let loaded = loaded.map_err(SampleError::unreadable)?;
    Ok((loaded.created, loaded.updated + loaded.unchanged + loaded.kept))
}

impl Register {
    fn rows(&self) -> u64 {
        self.file.lines().skip(1).count() as u64
    }

    /// Publishes the register. Returns false if its post has had a run, or was deleted.
    async fn load(&self, editor: &Target, volunteer: &Target) -> Result<bool, SampleError> {
        let new = json!({ "name": self.category });
        let Some(category) = editor.find_or_create(CATEGORIES, CATEGORIES, &new).await? else { return Ok(false) };
        let new = json!({
            "name": self.collection, "description": self.description, "citationTemplate": self.citation,
            "categoryIds": [category],
        });
        let Some(collection) = editor.find_or_create(COLLECTIONS, COLLECTIONS, &new).await? else { return Ok(false) };
        let mapping: Value = serde_json::from_str(self.mapping).map_err(SampleError::unreadable)?;
        let new = json!({ "name": self.post, "collectionId": collection, "mapping": mapping });
        let posts = format!("{COLLECTIONS}/{collection}/posts");
        let Some(post) = volunteer.find_or_create(&posts, POSTS, &new).await? else { return Ok(false) };
        volunteer.publish(&format!("{POSTS}/{post}"), self.file).await
    }
}

impl Target {
    /// Returns the id of the item with this name in a list, or creates it. None if it was deleted since.
    async fn find_or_create(&self, list: &str, created_in: &str, new: &Value) -> Result<Option<String>, SampleError> {
        let name = new.get("name").and_then(Value::as_str).unwrap_or_default();
        let there = self.names(list).await?.unwrap_or_default();
        if let Some((_, id)) = there.into_iter().find(|(there, _)| there == name) {
            return Ok(Some(id));
        }
        let once = format!("sample {}", if list == created_in { name.to_owned() } else { format!("{list} {name}") });
        let once: String = once.chars().take(64).collect();
        let answer = self.call(Method::POST, created_in, new.to_string(), Some(once)).await?;
        // 422: what it belongs to was deleted. 409: another load is faster with a category of this name.
        let taken = [StatusCode::CREATED, StatusCode::UNPROCESSABLE_ENTITY, StatusCode::CONFLICT];
        let answer = answer.expecting(&taken)?;
        if answer.status == StatusCode::UNPROCESSABLE_ENTITY {
            return Ok(None);
        }
        if answer.status == StatusCode::CONFLICT {
            let there = self.names(list).await?.unwrap_or_default();
            return Ok(there.into_iter().find(|(there, _)| there == name).map(|(_, id)| id));
        }
        let path = answer.created_path()?;
        // The answer may be that of an earlier load.
        let read = self.call(Method::GET, &path, String::new(), None).await?;
        let is_there = read.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?.status == StatusCode::OK;
        Ok(path.rsplit('/').next().filter(|_| is_there).map(str::to_owned))
    }

    /// Uploads the file of a post and publishes it. Returns false if the post has had a run.
    async fn publish(&self, post: &str, file: &str) -> Result<bool, SampleError> {
        let read = self.get(post).await?;
        let is_untouched = read.number("run") == Some(0);
        if is_untouched {
            let path = format!("{post}/file");
            let announced = json!({ "bytes": file.len() }).to_string();
            let link = self.call(Method::POST, &path, announced, None).await?.expecting(&[StatusCode::CREATED])?;
            self.upload(&link, file.as_bytes().to_vec()).await?;
            self.wait_until(&path, |file| file.text("waitsFor").is_none()).await?;
            let begun = self.call(Method::POST, &format!("{post}/publish"), json!({}).to_string(), None).await?;
            // 409: another load is faster.
            begun.expecting(&[StatusCode::ACCEPTED, StatusCode::CONFLICT])?;
        }
        let is_in_transit = |status: Option<String>| status.is_some_and(|status| status == "publishing");
        let ended = self.wait_until(post, |post| !is_in_transit(post.text("status"))).await?;
        if is_untouched && ended.text("status").as_deref() == Some("error") {
            return Err(ended.unexpected());
        }
        Ok(is_untouched)
    }

    async fn get(&self, path: &str) -> Result<Answer, SampleError> {
        self.call(Method::GET, path, String::new(), None).await?.expecting(&[StatusCode::OK])
    }

    /// Reads a path until it answers so.
    async fn wait_until(&self, path: &str, is_done: impl Fn(&Answer) -> bool) -> Result<Answer, SampleError> {
        let end = Instant::now() + TIMEOUT;
        loop {
            let answer = self.get(path).await?;
            if is_done(&answer) {
                return Ok(answer);
            }
            if Instant::now() > end {
                return Err(answer.unexpected());
            }
            tokio::time::sleep(POLL).await;
        }
    }
}
