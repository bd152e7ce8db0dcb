use bytes::Bytes;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use sha2::{Digest, Sha256};
use table::access::ObjectAction;
use table::{Access, AccessPattern, Call, Clock, Config, Declared, Engines, Error, Link, Trace};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::canned::answering;
use crate::shop::{calls, engines};

static FILES: AccessPattern = AccessPattern {
    name: "files",
    calls: &[
        on_covers(ObjectAction::PutObject),
        on_covers(ObjectAction::GetObject),
        on_covers(ObjectAction::HeadObject),
        on_covers(ObjectAction::DeleteObject),
        on_covers(ObjectAction::ListBucket),
    ],
};

const fn on_covers(action: ObjectAction) -> Call {
    Call::Objects { bucket: "shop", prefix: "covers/", action }
}

/// Starts S3 over a temporary folder with an empty bucket.
async fn open() -> (Access, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("test-shop")).unwrap();
    let mut service = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
    service.set_auth(SimpleAuth::from_single("local", "local"));
    let service = service.build();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service.clone();
            let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let service = service.clone();
                async move { service.call(request.map(s3s::Body::from)).await }
            });
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    let config = Config { s3: Some(endpoint), ..engines("http://127.0.0.1:1").config.clone() };
    (reaching(config), folder)
}

fn reaching(config: Config) -> Access {
    static GRANTED: &[&AccessPattern] = &[&FILES];
    Access::new(Engines::new(config, Clock::system()), GRANTED)
}

async fn send(link: &Link, body: &'static str) -> u16 {
    let request = link.headers.iter().fold(reqwest::Client::new().put(&link.url), |request, (name, value)| {
        if name == "content-length" { request } else { request.header(name, value) }
    });
    request.body(body).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn put_new_creates_an_object_once() {
    let (access, folder) = open().await;
    let covers = access.objects(&FILES, "shop", "covers/");
    covers.put_new("1/front.txt", Bytes::from("fern"), "text/plain").await.unwrap();
    let again = covers.put_new("1/front.txt", Bytes::from("moss"), "text/plain").await;
    assert!(matches!(again, Err(Error::Exists)));
    assert_eq!(covers.get("1/front.txt").await.unwrap(), "fern");
    let head = covers.head("1/front.txt").await.unwrap();
    assert_eq!((head.bytes, head.content_type.as_deref()), (4, Some("text/plain")));
    assert!(folder.path().join("test-shop/covers/1/front.txt").exists());

    covers.delete("1/front.txt").await.unwrap();
    assert!(matches!(covers.get("1/front.txt").await, Err(Error::NotFound)));
    assert!(matches!(covers.head("1/front.txt").await, Err(Error::NotFound)));
    assert!(access.performed().iter().all(|performed| FILES.calls.contains(&performed.call)));
    assert_eq!(calls(&access), 7);
}

#[tokio::test]
async fn refusal_and_missing_bucket_are_not_a_missing_object() {
    let (access, _folder) = open().await;
    let other = Some(("other".to_owned(), "other".to_owned()));
    let stranger = reaching(Config { credentials: other, ..access.engines().config.clone() });
    let covers = stranger.objects(&FILES, "shop", "covers/");
    assert!(covers.get("1").await.unwrap_err().is_refusal(), "403 is no 404");
    assert!(covers.head("1").await.unwrap_err().is_refusal(), "403 is no 404");

    let (endpoint, _requests) = answering(404, "<Error><Code>NoSuchBucket</Code></Error>").await;
    let access = reaching(Config { s3: Some(endpoint), ..access.engines().config.clone() });
    let got = access.objects(&FILES, "shop", "covers/").get("1").await;
    assert!(
        matches!(got, Err(Error::Engine { engine: "S3", .. })),
        "a missing bucket is not a missing object: {got:?}"
    );
}

#[tokio::test]
async fn put_link_accepts_the_declared_body_once() {
    let (access, _folder) = open().await;
    let covers = access.objects(&FILES, "shop", "covers/");
    let sha256: [u8; 32] = Sha256::digest("fern").into();
    let declared = Declared { bytes: 4, sha256: Some(&sha256) };
    let trace = Trace::new(&access.engines().clock);
    let link = trace.scope(covers.put_link("1", declared)).await.unwrap();
    assert!(link.url.contains("X-Amz-Expires=900"), "{}", link.url);
    let mut names: Vec<_> = link.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["content-length", "if-none-match", "x-amz-checksum-sha256"]);

    assert_eq!(send(&link, "fern!").await, 403, "another length");
    for left_out in ["if-none-match", "x-amz-checksum-sha256"] {
        let headers = link.headers.iter().filter(|(name, _)| name != left_out).cloned().collect();
        assert_eq!(send(&Link { headers, ..link.clone() }, "fern").await, 403, "without {left_out}");
    }
    assert!(matches!(covers.head("1").await, Err(Error::NotFound)));
    assert_eq!(send(&link, "fern").await, 200);
    assert_eq!(send(&link, "fern").await, 412);
    let other = covers.put_link("2", declared).await.unwrap();
    assert_eq!(send(&other, "moss").await, 400, "another hash");
    let any = covers.put_link("3", Declared { sha256: None, ..declared }).await.unwrap();
    assert_eq!(send(&any, "moss").await, 200);

    let link = covers.get_link("1").await.unwrap();
    assert!(link.url.contains("X-Amz-Expires=300") && link.headers.is_empty(), "{link:?}");
    assert_eq!(reqwest::get(&link.url).await.unwrap().text().await.unwrap(), "fern");
    let elsewhere = link.url.replacen("covers/1", "covers/2", 1);
    assert_eq!(reqwest::get(&elsewhere).await.unwrap().status(), 403);
}

#[tokio::test]
async fn name_outside_its_prefix_and_undeclared_call_are_refused() {
    let (access, _folder) = open().await;
    let covers = access.objects(&FILES, "shop", "covers/");
    for name in ["", "..", "../secret", "a/../../secret", "/a", "a//b", "./a"] {
        assert!(matches!(covers.get(name).await, Err(Error::ForeignName(_))), "{name}");
    }
    let secrets = access.objects(&FILES, "shop", "secrets/");
    assert!(matches!(secrets.get("1").await, Err(Error::Undeclared(_))));
    assert!(matches!(secrets.get_link("1").await, Err(Error::Undeclared(_))));
    assert!(access.performed().is_empty());
}
