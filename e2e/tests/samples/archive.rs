//! The samples of the archive: the small one.

use std::sync::{Arc, Mutex};

use local::Progress;
use local::progress::Event;
use local::sample::Size;
use local::sample::archive::{Tokens, load};
use serde_json::{Value, json};

use crate::archive::stage::{Archive, listed};
use crate::harness::User;
use crate::tests;

tests! { samples_archive:
    #[long] second_load_creates_no_register_and_no_place,
    #[long] changed_sample_posts_are_kept,
}

const ROWS: u64 = 201 + 99 + 102;

async fn load_small(archive: &Archive) -> (u64, u64) {
    load_with(archive, &Progress::silent()).await
}

async fn load_with(archive: &Archive, progress: &Progress) -> (u64, u64) {
    let editor = archive.cairn.token("sample", &["archive-editor"]).await;
    let volunteer = archive.cairn.token("val", &["archive-volunteer"]).await;
    let tokens = Tokens { editor: &editor, volunteer: &volunteer };
    load(Size::Small, archive.cairn.engines(), archive.cairn.url(), tokens, progress).await.unwrap()
}

async fn found(user: &User, query: &str) -> Value {
    user.get(&format!("/archive/search?{query}")).await.is(200)["total"]["value"].clone()
}

async fn second_load_creates_no_register_and_no_place() {
    let archive = Archive::new().await;
    let advances = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&advances);
    let progress = Progress::new(move |event| {
        if let Event::Advanced { done, total, .. } = event {
            seen.lock().unwrap().push((done, total));
        }
    });
    let (made, present) = load_with(&archive, &progress).await;
    assert!(made > ROWS && present == 0, "{made} {present}");
    let advances = advances.lock().unwrap().clone();
    assert!(advances.is_sorted() && advances.iter().all(|(_, total)| *total == Some(made)), "{advances:?}");
    assert_eq!(advances.last(), Some(&(made, Some(made))));
    assert_eq!(found(&archive.visitor, "given=Evan&surname=Pugh&match=exact&birthPlace=Wales").await, 1);
    assert_eq!(found(&archive.visitor, "date=1500-2000&missing=include").await, ROWS);
    assert_eq!(load_small(&archive).await, (0, made));
    assert_eq!(listed(&archive.volunteer, "/archive/posts", "id").await.len(), 3);
}

async fn changed_sample_posts_are_kept() {
    let archive = Archive::new().await;
    let (made, _) = load_small(&archive).await;
    let posts = listed(&archive.volunteer, "/archive/posts", "id").await;
    let path = |post: &String| format!("/archive/posts/{post}");
    archive.volunteer.patch(&path(&posts[0]), json!({ "name": "Another name" })).await.is(200);
    archive.delete_post(&archive.volunteer, &path(&posts[1])).await;
    archive.volunteer.post(&format!("{}/unpublish", path(&posts[2])), json!({})).await.is(202);
    assert_eq!(load_small(&archive).await, (0, made));
    let mut kept = listed(&archive.volunteer, "/archive/posts", "id").await;
    kept.sort();
    let mut expected = [posts[0].clone(), posts[2].clone()];
    expected.sort();
    assert_eq!(kept, expected);
}
