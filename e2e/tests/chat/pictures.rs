//! Pictures: uploads by a signed link, their check, and how they are served.

use std::io::Cursor;
use std::time::Duration;

use flate2::Crc;
use image::{DynamicImage, ImageFormat, RgbImage, Rgba, RgbaImage};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::harness::stopper::WRITES;
use crate::harness::{Answer, Cairn, Setup, User, fetch, send_file};
use crate::tests;

use super::stage::{Chat, Member};

tests! { chat_pictures:
    #[long] picture_comes_back_in_two_sizes_without_its_metadata,
    refused_file_says_why_and_leaves_the_earlier_picture,
    new_picture_replaces_the_earlier_one_and_its_files,
    event_delivered_twice_changes_nothing,
    event_of_a_picture_without_its_item_leaves_the_files,
    upload_is_seen_by_its_user_only,
    picture_of_a_community_needs_its_founder,
    picture_that_is_stored_during_an_update_leaves_no_files,
    pictures_above_their_rate_are_refused,
}

/// The latitude in the metadata of a file, as text that is easy to find.
const LOCATION: &[u8] = b"GPSLatitude 45.4215 GPSLongitude -75.6972";

/// Returns a picture as PNG.
pub fn png(width: u32, height: u32, pixel: [u8; 4]) -> Vec<u8> {
    let picture = DynamicImage::ImageRgba8(RgbaImage::from_pixel(width, height, Rgba(pixel)));
    encoded(&picture, ImageFormat::Png)
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Vec::new();
    picture.write_to(&mut Cursor::new(&mut file), format).unwrap();
    file
}

/// Returns a chunk of a PNG file (ISO/IEC 15948, section 5.3).
fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let body = [kind.as_slice(), data].concat();
    let mut check = Crc::new();
    check.update(&body);
    [&u32::try_from(data.len()).unwrap().to_be_bytes(), body.as_slice(), &check.sum().to_be_bytes()].concat()
}

/// Adds a location to a PNG file: as a text and in its Exif chunk, after the header.
fn with_location(file: &[u8]) -> Vec<u8> {
    let (header, rest) = file.split_at(8 + 12 + 13);
    let text = [b"Comment\0", LOCATION].concat();
    [header, &chunk(b"tEXt", &text), &chunk(b"eXIf", &[b"MM\0*\0\0\0\x08\0\0\0\0\0\0", LOCATION].concat()), rest]
        .concat()
}

/// Returns the begin of a PNG file whose header announces these dimensions.
fn announcing(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    let data = [0x78, 0x9c, 0x63, 0, 0, 0, 1, 0, 1];
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", &data), chunk(b"IEND", b"")].concat()
}

/// Uploads a file as a picture, and waits until it is ready or refused.
pub async fn upload(user: &User, mut new: Value, file: &[u8]) -> Answer {
    new["bytes"] = json!(file.len());
    let link = user.post("/chat/pictures", new).await.is(201);
    assert_eq!(send_file(&link, file).await, 200);
    settled(user, link.header("location")).await
}

async fn settled(user: &User, picture: &str) -> Answer {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let read = user.get(picture).await.is(200);
        if ["ready", "refused"].contains(&read.text("status")) {
            return read;
        }
        assert_eq!(read.header("retry-after"), "1");
        assert!(Instant::now() < end, "{}", read.told());
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// Fetches a picture as a page of a browser does.
pub async fn served(cairn: &Cairn, path: &str) -> Answer {
    let redirect = cairn.visitor().get(path).await.is(303);
    assert_eq!(redirect.header("cache-control"), "public, max-age=120");
    fetch(redirect.header("location")).await.is(200)
}

/// Returns the names of the objects of the bucket under a prefix.
pub fn objects(cairn: &Cairn, prefix: &str) -> Vec<String> {
    let folder = cairn.bucket("chat").join(prefix);
    let mut names = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => names.push(path.to_string_lossy().into_owned()),
            }
        }
    }
    names.sort();
    names
}

/// Returns the path of a user's avatar, as the table has it.
async fn avatar(chat: &Chat, member: &Member) -> Option<String> {
    let users = chat.cairn.table_of(&::chat::schema::USERS).items().await;
    let key = format!("USER#{}", member.id);
    let user = users.into_iter().find(|item| item["pk"].as_s().unwrap() == &key).unwrap();
    user.get("AvatarURL").map(|url| url.as_s().unwrap().clone())
}

async fn picture_comes_back_in_two_sizes_without_its_metadata() {
    let chat = Chat::new().await;
    for (pixel, content_type) in [([200, 10, 10, 255], "image/jpeg"), ([200, 10, 10, 99], "image/png")] {
        let file = with_location(&png(1000, 500, pixel));
        assert!(file.windows(LOCATION.len()).any(|bytes| bytes == LOCATION));
        let ready = upload(&chat.ann.user, json!({ "kind": "avatar" }), &file).await;
        assert_eq!(ready["status"], "ready", "{}", ready.told());
        assert_eq!(avatar(&chat, &chat.ann).await.as_deref(), Some(ready.text("large")));
        for (size, dimensions) in [("small", (96, 48)), ("large", (512, 256))] {
            let served = served(&chat.cairn, ready.text(size)).await;
            assert_eq!(served.header("content-type"), content_type);
            let picture = image::load_from_memory(&served.bytes).unwrap();
            assert_eq!((picture.width(), picture.height()), dimensions);
            assert!(!served.bytes.windows(3).any(|bytes| bytes == b"GPS"));
        }
    }
    let cover = DynamicImage::ImageRgb8(RgbImage::new(2500, 1000));
    for format in [ImageFormat::Jpeg, ImageFormat::WebP] {
        let ready = upload(&chat.bob.user, json!({ "kind": "cover" }), &encoded(&cover, format)).await;
        let served = served(&chat.cairn, ready.text("large")).await;
        assert_eq!(image::load_from_memory(&served.bytes).unwrap().width(), 1920, "{format:?}");
    }
}

async fn refused_file_says_why_and_leaves_the_earlier_picture() {
    let chat = Chat::new().await;
    let first = upload(&chat.ann.user, json!({ "kind": "avatar" }), &png(20, 20, [1, 2, 3, 255])).await;
    let whole = png(300, 300, [1, 2, 3, 255]);
    let cases: [(&[u8], &str); 4] = [
        (b"This is a text, whatever its name.", "is not a PNG, JPEG or WebP file"),
        (&announcing(50_000, 50_000), "50000 × 50000 pixels"),
        (&announcing(10_000, 10_000), "10000 × 10000 pixels"),
        (&whole[..whole.len() - 40], "cannot be decoded"),
    ];
    for (file, reason) in cases {
        let refused = upload(&chat.ann.user, json!({ "kind": "avatar" }), file).await;
        assert_eq!(refused["status"], "refused", "{}", refused.told());
        assert!(refused.text("reason").contains(reason), "{}", refused.told());
    }
    let large = json!({ "kind": "avatar", "bytes": 6 * 1024 * 1024 });
    chat.ann.user.post("/chat/pictures", large).await.refused(413, "too-large");
    // A link takes a file of the announced size only. A small file is read whole before it is refused, so that its sender
    // gets the response.
    let link = chat.ann.user.post("/chat/pictures", json!({ "kind": "avatar", "bytes": 1000 })).await.is(201);
    assert_eq!(send_file(&link, &[0; 1001]).await, 403);
    assert_eq!(avatar(&chat, &chat.ann).await.as_deref(), Some(first.text("large")));
    served(&chat.cairn, first.text("small")).await;
    assert_eq!((objects(&chat.cairn, "incoming").len(), objects(&chat.cairn, "pictures").len()), (0, 2));
}

async fn new_picture_replaces_the_earlier_one_and_its_files() {
    let chat = Chat::new().await;
    let avatar = json!({ "kind": "avatar" });
    let first = upload(&chat.ann.user, avatar.clone(), &png(20, 20, [1, 2, 3, 255])).await;
    let second = upload(&chat.ann.user, avatar, &png(20, 20, [3, 2, 1, 255])).await;
    let end = Instant::now() + Duration::from_secs(20);
    // The files of the earlier picture are removed after the new one is seen.
    while objects(&chat.cairn, "pictures").len() > 2 {
        assert!(Instant::now() < end);
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    chat.visitor.get(first.text("large")).await.refused(404, "not-found");
    served(&chat.cairn, second.text("large")).await;
}

async fn event_delivered_twice_changes_nothing() {
    let chat = Chat::new().await;
    let ready = upload(&chat.ann.user, json!({ "kind": "avatar" }), &png(20, 20, [1, 2, 3, 255])).await;
    let key = format!("incoming/{}/{}", chat.ann.id, ready.text("id"));
    let event = json!({ "Records": [{ "s3": { "bucket": { "name": "chat" }, "object": { "key": key } } }] });
    let before = (avatar(&chat, &chat.ann).await, objects(&chat.cairn, "pictures"));
    chat.cairn.event("chat", "storePicture", &event).await.unwrap();
    assert_eq!((avatar(&chat, &chat.ann).await, objects(&chat.cairn, "pictures")), before);
    for key in ["incoming/x", "incoming/a/b", "other/a/b"] {
        let foreign = json!({ "Records": [{ "s3": { "object": { "key": key } } }] });
        chat.cairn.event("chat", "storePicture", &foreign).await.unwrap();
    }
}

async fn event_of_a_picture_without_its_item_leaves_the_files() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.ann.creates_community().await;
    let new = json!({ "kind": "communityAvatar", "communityId": community });
    let stored = upload(&chat.ann.user, new, &png(20, 20, [1, 2, 3, 255])).await;
    // The founder was deleted, and another one has the community with its picture.
    let live = chat.cairn.table_of(&::chat::schema::LIVE);
    live.delete(&format!("USER#{}", chat.ann.id), &format!("PICTURE#{}", stored.text("id"))).await;
    let key = format!("incoming/{}/{}", chat.ann.id, stored.text("id"));
    let event = json!({ "Records": [{ "s3": { "bucket": { "name": "chat" }, "object": { "key": key } } }] });
    chat.cairn.event("chat", "storePicture", &event).await.unwrap();
    assert_eq!(objects(&chat.cairn, "pictures").len(), 2);
}

async fn upload_is_seen_by_its_user_only() {
    let chat = Chat::new().await;
    let new = json!({ "kind": "avatar", "bytes": 10 });
    let link = chat.ann.user.post("/chat/pictures", new.clone()).once("avatar").await.is(201);
    let again = chat.ann.user.post("/chat/pictures", new.clone()).once("avatar").await.is(201);
    assert_eq!(link.body, again.body);
    let awaiting = chat.ann.user.get(link.header("location")).await.is(200);
    assert_eq!((awaiting.text("status"), awaiting.header("retry-after")), ("awaiting", "1"));
    chat.bob.user.get(link.header("location")).await.refused(404, "not-found");
    chat.visitor.post("/chat/pictures", new).await.refused(401, "not-signed-in");
    let unknown = "/chat/pictures/019b76da-a800-7000-8000-000000000081/small";
    chat.visitor.get(unknown).await.refused(404, "not-found");
}

async fn picture_of_a_community_needs_its_founder() {
    let chat = Chat::new().await;
    let community = chat.ann.creates_community().await;
    let new = json!({ "kind": "communityAvatar", "communityId": community });
    let ready = upload(&chat.ann.user, new.clone(), &png(20, 20, [1, 2, 3, 255])).await;
    let path = format!("/chat/communities/{community}");
    assert_eq!(chat.bob.user.get(&path).await.is(200)["avatarURL"], ready["large"]);
    let of_bob = json!({ "kind": "communityCover", "communityId": community, "bytes": 10 });
    chat.bob.user.post("/chat/pictures", of_bob).await.refused(403, "forbidden");
    let unknown =
        json!({ "kind": "communityCover", "communityId": "019b76da-a800-7000-8000-000000000011", "bytes": 10 });
    chat.ann.user.post("/chat/pictures", unknown).await.refused(404, "not-found");
    let without = json!({ "kind": "communityCover", "bytes": 10 });
    chat.ann.user.post("/chat/pictures", without).await.faulty(&["/communityId"]);
    let superfluous = json!({ "kind": "avatar", "communityId": community, "bytes": 10 });
    chat.ann.user.post("/chat/pictures", superfluous).await.faulty(&["/communityId"]);
    // The founder hands the community over while the file is on its way.
    chat.bob.joins_community(&community).await.is(201);
    let file = png(30, 30, [3, 2, 1, 255]);
    let mut late = new;
    late["bytes"] = json!(file.len());
    let link = chat.ann.user.post("/chat/pictures", late).await.is(201);
    chat.ann.user.patch(&path, json!({ "founderId": chat.bob.id })).await.is(200);
    assert_eq!(send_file(&link, &file).await, 200);
    let refused = settled(&chat.ann.user, link.header("location")).await;
    assert!(refused.text("reason").contains("no longer the founder"), "{}", refused.told());
    assert_eq!(chat.bob.user.get(&path).await.is(200)["avatarURL"], ready["large"]);
    assert_eq!(objects(&chat.cairn, "pictures").len(), 2);
}

async fn picture_that_is_stored_during_an_update_leaves_no_files() {
    let chat = Chat::new().await;
    let community = chat.ann.creates_community().await;
    let path = format!("/chat/communities/{community}");
    let elsewhere = "https://example.org/moss.png";
    let (stopper, update) = chat.held(WRITES, Method::PATCH, &path, Some(json!({ "avatarURL": elsewhere }))).await;
    let new = json!({ "kind": "communityAvatar", "communityId": community });
    let ready = upload(&chat.ann.user, new, &png(20, 20, [1, 2, 3, 255])).await;
    assert_eq!(ready["status"], "ready", "{}", ready.told());
    stopper.resume();
    assert_eq!(update.await.unwrap(), 200);
    assert_eq!(chat.ann.user.get(&path).await.is(200)["avatarURL"], elsewhere);
    assert_eq!(objects(&chat.cairn, "pictures"), Vec::<String>::new());
}

async fn pictures_above_their_rate_are_refused() {
    let chat = Chat::with(Setup { limits: vec![("pictures", 1)], ..Setup::of("chat") }).await;
    let create =
        |user: &User, key: &str| user.post("/chat/pictures", json!({ "kind": "avatar", "bytes": 9 })).once(key);
    let first = create(&chat.ann.user, "one").await.is(201);
    let refused = create(&chat.ann.user, "two").await.refused(429, "too-many-requests");
    assert!((1..=3600).contains(&refused.header("retry-after").parse().unwrap()), "{}", refused.told());
    // The same request again creates nothing.
    assert_eq!(create(&chat.ann.user, "one").await.is(201)["id"], first["id"]);
    create(&chat.bob.user, "three").await.is(201);
    chat.cairn.clock.advance(Duration::from_secs(3601));
    create(&chat.ann.user, "four").await.is(201);
}
