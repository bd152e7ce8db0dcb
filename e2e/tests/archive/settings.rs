//! The settings of the archive and of its places.

use serde_json::json;

use super::stage::Archive;
use crate::tests;

tests! { archive_settings:
    settings_that_were_never_put_are_empty,
    put_settings_replace_the_earlier_ones,
    field_that_is_declared_twice_is_refused,
    place_settings_have_at_most_500_words_with_a_letter,
    place_settings_of_long_words_are_stored_if_they_fit_an_item,
}

async fn settings_that_were_never_put_are_empty() {
    let archive = Archive::new().await;
    let settings = archive.visitor.get("/archive/settings").await.is(200);
    assert_eq!(settings.body, json!({ "title": "", "postMetadata": [] }));
    let settings = archive.visitor.get("/archive/place-settings").await.is(200);
    assert_eq!(settings.body, json!({ "abbreviations": {}, "noiseWords": [] }));
}

async fn put_settings_replace_the_earlier_ones() {
    let archive = Archive::new().await;
    let put =
        |title: &str| archive.administrator.put("/archive/settings", json!({ "title": title, "postMetadata": [] }));
    archive
        .editor
        .put("/archive/settings", json!({ "title": "A", "postMetadata": [] }))
        .await
        .refused(403, "forbidden");
    let first = put("County Archive").await.is(200);
    let read = archive.visitor.get("/archive/settings").await.is(200);
    assert_eq!((read.text("title"), read.tag()), ("County Archive", first.tag()));
    let second = put("Town Archive").if_match(&first.tag()).await.is(200);
    put("Village Archive").if_match(&first.tag()).await.refused(412, "stale");
    let item = archive.table().get("settings", "settings").await.unwrap();
    assert_eq!(item["GSISK"].as_s().unwrap(), "general");
    assert_eq!(archive.visitor.get("/archive/settings").await.tag(), second.tag());
}

async fn field_that_is_declared_twice_is_refused() {
    let archive = Archive::new().await;
    let field = json!({ "name": "Source", "type": "string", "tooltip": "Where it is kept" });
    let twice = json!({ "title": "A", "postMetadata": [field, field] });
    archive.administrator.put("/archive/settings", twice).await.faulty(&["/postMetadata/1/name"]);
    let many: Vec<_> = (0..21).map(|number| json!({ "name": format!("F{number}"), "type": "date" })).collect();
    let many = json!({ "title": "A", "postMetadata": many });
    archive.administrator.put("/archive/settings", many).await.faulty(&["/postMetadata"]);
}

async fn place_settings_have_at_most_500_words_with_a_letter() {
    let archive = Archive::new().await;
    let put = |settings| archive.administrator.put("/archive/place-settings", settings);
    let settings = json!({ "abbreviations": { "Glos": "Gloucestershire" }, "noiseWords": ["near"] });
    assert_eq!(put(settings.clone()).await.is(200).body, settings);
    assert_eq!(archive.visitor.get("/archive/place-settings").await.is(200).body, settings);
    let faulty = json!({ "abbreviations": { "G": "--" }, "noiseWords": ["near", ""] });
    put(faulty).await.faulty(&["/abbreviations/G", "/noiseWords/1"]);
    let many: serde_json::Map<_, _> = (0..501).map(|number| (format!("W{number}"), json!("Word"))).collect();
    put(json!({ "abbreviations": many, "noiseWords": [] })).await.faulty(&["/abbreviations"]);
}

async fn place_settings_of_long_words_are_stored_if_they_fit_an_item() {
    let archive = Archive::new().await;
    let put = |settings| archive.administrator.put("/archive/place-settings", settings);
    let long = |letter: &str, noise: &str| {
        let word = |number: u32, letter: &str| format!("{number:03}{}", letter.repeat(117));
        let abbreviations = (0..500).map(|number| (word(number, letter), json!(word(number, letter))));
        let abbreviations: serde_json::Map<_, _> = abbreviations.collect();
        let noise: Vec<String> = (0..500).map(|number| word(number, noise)).collect();
        json!({ "abbreviations": abbreviations, "noiseWords": noise })
    };
    let settings = long("ж", "ж");
    assert_eq!(put(settings.clone()).await.is(200).body, settings);
    // Letters of three and of two bytes.
    let refused = put(long("語", "ж")).await.refused(413, "too-large");
    assert!(refused.text("detail").contains("400 KB"), "{}", refused.told());
    assert_eq!(archive.visitor.get("/archive/place-settings").await.is(200).body, settings);
}
