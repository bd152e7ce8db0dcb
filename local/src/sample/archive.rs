//! The samples of the archive: three made-up registers of a few hundred rows, and the places that they name. The large
//! sample has 50 000 further rows, and more places.
//!
//! A load finds categories, collections and posts by name, or, for the day for which the platform keeps an
//! `Idempotency-Key`, by the one with which they were created. It leaves a post that has been published as it is.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use archive::gazetteer::{Gazetteer, LOAD, Mode};
use flate2::read::GzDecoder;
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

/// How long a file or a run may take. Ten thousand rows take a minute or two beside the loads of the other systems.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// The countries that the registers name. The small sample has no other places than theirs, since it is loaded before the
/// platform is ready.
const COUNTRIES: [&str; 4] = ["GB", "DE", "NL", "FR"];

/// The posts of one collection, in a category of its own.
struct Register {
    category: &'static str,
    collection: &'static str,
    description: &'static str,
    citation: &'static str,
    mapping: &'static str,
    small: Post<&'static str>,
    /// What the large sample has in addition.
    world: &'static [Post<Compressed>],
}

/// A post with its CSV file.
struct Post<File> {
    name: &'static str,
    file: File,
}

/// A file in gzip's format.
struct Compressed(&'static [u8]);

const REGISTERS: [Register; 3] = [
    Register {
        category: "Censuses",
        collection: "Census of Wales and England, 1871",
        description: "Households with relations to the head, ages and birthplaces. All people in it are made up.",
        citation: "Census of 1871, house {House}, entry {Entry}.",
        mapping: include_str!("../../../samples/archive/census.mapping.json"),
        small: Post { name: "Households 1 to 78", file: include_str!("../../../samples/archive/small/census.csv") },
        world: &[
            Post {
                name: "Households 79 to 2340",
                file: Compressed(include_bytes!("../../../samples/archive/world/census-1.csv.gz")),
            },
            Post {
                name: "Households 2341 to 4589",
                file: Compressed(include_bytes!("../../../samples/archive/world/census-2.csv.gz")),
            },
            Post {
                name: "Households 4590 to 6828",
                file: Compressed(include_bytes!("../../../samples/archive/world/census-3.csv.gz")),
            },
        ],
    },
    Register {
        category: "Parish registers",
        collection: "Baptisms in German parishes",
        description: "Baptisms with both parents and a godparent. All people in it are made up.",
        citation: "Baptisms of {Ort}, number {Nr}.",
        mapping: include_str!("../../../samples/archive/baptisms.mapping.json"),
        small: Post { name: "Baptisms 1 to 99", file: include_str!("../../../samples/archive/small/baptisms.csv") },
        world: &[Post {
            name: "Baptisms 100 to 10099",
            file: Compressed(include_bytes!("../../../samples/archive/world/baptisms-1.csv.gz")),
        }],
    },
    Register {
        category: "Passenger lists",
        collection: "Arrivals in New York",
        description: "Passengers of four ships, in parties. All people in it are made up.",
        citation: "Passengers of the {Ship}, arrived {Arrived}, number {No}.",
        mapping: include_str!("../../../samples/archive/passengers.mapping.json"),
        small: Post { name: "Parties 1 to 58", file: include_str!("../../../samples/archive/small/passengers.csv") },
        world: &[Post {
            name: "Parties 59 to 4051",
            file: Compressed(include_bytes!("../../../samples/archive/world/passengers-1.csv.gz")),
        }],
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
    let posts = REGISTERS.iter().map(|register| register.posts(size)).collect::<Result<Vec<_>, _>>()?;
    let total = places.count() + posts.iter().flatten().map(Post::rows).sum::<u64>();
    let (mut made, mut present) = load_places(engines, &places, total, progress).await?;
    let done = AtomicU64::new(made + present);
    let (editor, volunteer) = (Target::new(gateway, tokens.editor)?, Target::new(gateway, tokens.volunteer)?);
    let published = |post: &Post<String>| {
        let done = done.fetch_add(post.rows(), Ordering::Relaxed) + post.rows();
        progress.advanced(STAGE, done, Some(total));
    };
    let loads =
        REGISTERS.iter().zip(&posts).map(|(register, posts)| register.load(posts, &editor, &volunteer, &published));
    for (new, existing) in futures::future::try_join_all(loads).await? {
        made += new;
        present += existing;
    }
    progress.finished(STAGE, format!("{made} places and records created, {present} existed"));
    Ok((made, present))
}
async fn load_places(
    engines: &Arc<Engines>,
    places: &Gazetteer,
    total: u64,
    progress: &Progress,
) -> Result<(u64, u64), SampleError> {
    let (access, now) = (Access::new(Arc::clone(engines), &[&LOAD]), clock::rfc3339(engines.clock.now()));
    let (bar, count) = (progress.clone(), places.count());
    // The words by which places are found are written after the places, and the sample does not count them.
    let advanced = move |done: u64, _| bar.advanced(STAGE, done.min(count), Some(total));
    let loaded = archive::gazetteer::load(&access, places, Mode::Write, &now, &advanced).await;
    let loaded = loaded.map_err(SampleError::unreadable)?;
    Ok((loaded.created, loaded.updated + loaded.unchanged + loaded.kept))
}

impl Post<String> {
    fn rows(&self) -> u64 {
        self.file.lines().skip(1).count() as u64
    }
}

impl Register {
    /// Returns the posts of the sample of this size.
    fn posts(&self, size: Size) -> Result<Vec<Post<String>>, SampleError> {
        let mut posts = vec![Post { name: self.small.name, file: self.small.file.to_owned() }];
        if size == Size::World {
            for Post { name, file: Compressed(packed) } in self.world {
                let mut file = String::new();
                GzDecoder::new(*packed).read_to_string(&mut file).map_err(SampleError::unreadable)?;
                posts.push(Post { name, file });
            }
        }
        Ok(posts)
    }

    /// Publishes the posts one after another. Returns the numbers of new records, and of those of posts that have had a
    /// run or were deleted.
    async fn load(
        &self,
        posts: &[Post<String>],
        editor: &Target,
        volunteer: &Target,
        published: &(dyn Fn(&Post<String>) + Sync),
    ) -> Result<(u64, u64), SampleError> {
        let collection = self.collection(editor).await?;
        let (mut made, mut present) = (0, 0);
        for post in posts {
            let is_new = match &collection {
                Some(collection) => self.publish(post, collection, volunteer).await?,
                None => false,
            };
            *(if is_new { &mut made } else { &mut present }) += post.rows();
            published(post);
        }
        Ok((made, present))
    }

    /// Returns the id of the collection, or none if it or its category was deleted.
    async fn collection(&self, editor: &Target) -> Result<Option<String>, SampleError> {
        let new = json!({ "name": self.category });
        let Some(category) = editor.find_or_create(CATEGORIES, CATEGORIES, self.category, &new).await? else {
            return Ok(None);
        };
        let new = json!({
            "name": self.collection, "description": self.description, "citationTemplate": self.citation,
            "categoryIds": [category],
        });
        editor.find_or_create(COLLECTIONS, COLLECTIONS, self.collection, &new).await
    }

    /// Publishes a post. Returns false if it has had a run, or was deleted.
    async fn publish(&self, post: &Post<String>, collection: &str, volunteer: &Target) -> Result<bool, SampleError> {
        let mapping: Value = serde_json::from_str(self.mapping).map_err(SampleError::unreadable)?;
        let new = json!({ "name": post.name, "collectionId": collection, "mapping": mapping });
        let (posts, once) = (format!("{COLLECTIONS}/{collection}/posts"), format!("{} {collection}", post.name));
        let Some(created) = volunteer.find_or_create(&posts, POSTS, &once, &new).await? else { return Ok(false) };
        volunteer.publish(&format!("{POSTS}/{created}"), &post.file).await
    }
}

impl Target {
    /// Returns the id of the item with this name in a list, or creates it with this `Idempotency-Key`. None if it was
    /// deleted since.
    async fn find_or_create(
        &self,
        list: &str,
        created_in: &str,
        once: &str,
        new: &Value,
    ) -> Result<Option<String>, SampleError> {
        let name = new.get("name").and_then(Value::as_str).unwrap_or_default();
        let there = self.names(list).await?.unwrap_or_default();
        if let Some((_, id)) = there.into_iter().find(|(there, _)| there == name) {
            return Ok(Some(id));
        }
        let answer = self.call(Method::POST, created_in, new.to_string(), Some(once.to_owned())).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a register, without their headers.
    fn rows(register: &Register) -> Vec<String> {
        let posts = register.posts(Size::World).unwrap();
        let headers: Vec<&str> = posts.iter().filter_map(|post| post.file.lines().next()).collect();
        assert!(headers.windows(2).all(|pair| pair[0] == pair[1]), "{headers:?}");
        posts.iter().flat_map(|post| post.file.lines().skip(1)).map(str::to_owned).collect()
    }

    #[test]
    fn large_registers_continue_the_small_ones() {
        let numbers = REGISTERS.iter().map(|register| rows(register).len());
        assert_eq!(numbers.collect::<Vec<_>>(), [30_208, 10_099, 10_102]);
        for (register, letter) in REGISTERS.iter().zip(["C", "B", "P"]) {
            for (row, number) in rows(register).iter().zip(1..) {
                assert!(row.contains(&format!("{letter}{number:05},")), "{row}");
            }
        }
    }

    #[test]
    fn posts_are_named_by_their_first_and_last_numbers() {
        for register in &REGISTERS {
            for post in register.posts(Size::World).unwrap() {
                // Households and parties have a number of their own, baptisms that of their entry.
                let number = |row: &str| {
                    let mut cells = row.split(',');
                    let number = match register.category {
                        "Passenger lists" => cells.nth(1),
                        _ => cells.next(),
                    };
                    number.unwrap().trim_start_matches(['B', '0']).to_owned()
                };
                let ends = [post.file.lines().nth(1), post.file.lines().last()].map(|row| number(row.unwrap()));
                assert!(post.name.ends_with(&format!(" {} to {}", ends[0], ends[1])), "{} {ends:?}", post.name);
            }
        }
    }
}
