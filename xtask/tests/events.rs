//! The sample stream events, handled by the mirror.

use mirror::transform;
use parks::documents::Parks;
use serde_json::Value;
use table::Config;

#[tokio::test]
async fn stream_event_of_parks_becomes_documents_and_a_tombstone() {
    let payload = std::fs::read(xtask::root().join("events/parks/mirror.json")).unwrap();
    let mut lines = Vec::new();
    let take = |request: &str| lines.extend(request.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    transform(&Parks, &mirror::NoShapes, &config(), &payload, 1_000_000, 1_767_225_600_000_000, take).await.unwrap();
    let written: Vec<(&str, bool)> = lines
        .chunks(2)
        .map(|pair| (pair[0]["index"]["_id"].as_str().unwrap(), pair[1]["deleted"] == Value::Bool(true)))
        .collect();
    // The sixth record is a counter's, which has no document.
    let expected = [
        ("collection#bcparks_1", false),
        ("geozone::bcparks_1#1", false),
        ("facility::bcparks_1#campground::1", false),
        ("facility::bcparks_1#trail::2", true),
        ("product::bcparks_1::dayuse::1#1", false),
    ];
    assert_eq!(written, expected);
}

/// Returns the configuration of a deployment on AWS without a prefix, as in the events.
fn config() -> Config {
    Config::new(xtask::records::REGION, "")
}
