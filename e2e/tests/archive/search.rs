//! The search for categories, collections, posts and users by words.

use std::collections::BTreeMap;

use local::identity::Person;
use serde_json::{Value, json};

use super::people::publish_in;
use super::stage::{Archive, id};
use crate::harness::{Answer, User};
use crate::tests;

tests! { archive_search:
    name_is_found_before_its_beginning_and_its_description,
    typos_are_tolerated_after_all_other_matches,
    entity_narrows_the_catalog,
    catalog_entries_are_found_with_the_records_that_the_caller_can_find,
    renamed_and_deleted_entries_are_found_by_their_present_names,
    names_in_any_script_are_found,
    posts_are_found_by_name_and_metadata,
    users_are_found_by_name_and_address,
    highlights_are_pieces_of_the_present_texts,
    pages_of_hits_follow_each_other,
    query_without_a_letter_is_refused,
    word_that_is_long_when_folded_is_searched,
}

async fn find(archive: &Archive, user: &User, path: &str) -> Answer {
    archive.cairn.caught_up().await;
    user.get(path).await.is(200)
}

/// Returns the names and the points of the hits of this kind.
fn hits(found: &Answer, kind: &str) -> Vec<(String, f64)> {
    let hits = found["items"].as_array().unwrap().iter().filter(|hit| hit[kind].is_object());
    hits.map(|hit| (hit[kind]["name"].as_str().unwrap().to_owned(), hit["score"].as_f64().unwrap())).collect()
}

async fn name_is_found_before_its_beginning_and_its_description() {
    let archive = Archive::new().await;
    for (name, description) in [("Deaths", "Registers of births too"), ("Birthstones", ""), ("Births", "")] {
        let new = json!({ "name": name, "description": description });
        archive.editor.post("/archive/categories", new).await.is(201);
    }
    let found = find(&archive, &archive.visitor, "/archive/search/catalog?q=births").await;
    let expected =
        [("Births", 10.0), ("Birthstones", 6.0), ("Deaths", 2.0)].map(|(name, score)| (name.to_owned(), score));
    assert_eq!(hits(&found, "category"), expected);
    assert_eq!(found["total"], json!({ "value": 3, "exact": true }));
    // Every word must be found.
    let found = find(&archive, &archive.visitor, "/archive/search/catalog?q=births+regist").await;
    assert_eq!(found["items"], json!([]), "{}", found.told());
    let found = find(&archive, &archive.visitor, "/archive/search/catalog?q=deaths+registers").await;
    assert_eq!(hits(&found, "category"), [("Deaths".to_owned(), 12.0)]);
}

async fn typos_are_tolerated_after_all_other_matches() {
    let archive = Archive::new().await;
    for (name, description) in [
        ("Wills", "Of each parish"),
        ("Tithe maps", "In the Parrish chest"),
        ("Barrish", ""),
        ("Parish registers", ""),
        ("Parrishes", ""),
        ("Parrish papers", ""),
    ] {
        let new = json!({ "name": name, "description": description });
        archive.editor.post("/archive/categories", new).await.is(201);
    }
    archive.cairn.caught_up().await;
    // Entries with equal points are in the order of their ids. A typo is not in the first letter.
    let expected =
        [("Parrish papers", 10.0), ("Parrishes", 6.0), ("Tithe maps", 2.0), ("Wills", 1.0), ("Parish registers", 1.0)]
            .map(|(name, score)| (name.to_owned(), score));
    let pages = archive.visitor.pages("/archive/search/catalog?q=parrish", 2).await;
    let found: Vec<_> = pages.iter().flat_map(|page| hits(page, "category")).collect();
    assert_eq!(found, expected);
    for (q, expected) in [
        // One typo from three letters, two from six.
        ("tythe", vec![("Tithe maps", 1.0)]),
        ("tytha", vec![]),
        ("parisch+regsters", vec![("Parish registers", 2.0)]),
        ("ow", vec![]),
        // A hit must have every word.
        ("parish+tythe", vec![("Tithe maps", 2.0)]),
    ] {
        let found = archive.visitor.get(&format!("/archive/search/catalog?q={q}")).await.is(200);
        let expected: Vec<_> =
            expected.into_iter().map(|(name, score): (&str, f64)| (name.to_owned(), score)).collect();
        assert_eq!(hits(&found, "category"), expected, "{q}: {}", found.told());
    }
}

async fn entity_narrows_the_catalog() {
    let archive = Archive::new().await;
    let births = archive.category("Llanfair births").await;
    archive.category("Llanfair deaths").await;
    archive.collection("Llanfair", &[&births]).await;
    let path = "/archive/search/catalog?q=llanfair";
    for (entity, count) in [("category", 2), ("collection", 1)] {
        let found = find(&archive, &archive.visitor, &format!("{path}&entity={entity}")).await;
        assert_eq!(found["total"], json!({ "value": count, "exact": true }), "{}", found.told());
        assert_eq!((hits(&found, entity).len(), found.each("score").len()), (count, count));
    }
    // A cursor belongs to the entity.
    let path_of = |entity: &str| format!("{path}{entity}&limit=1");
    let first = archive.visitor.get(&path_of("&entity=category")).await.is(200);
    let cursor = first.next().unwrap();
    let after = |entity: &str| format!("{}&cursor={cursor}", path_of(entity));
    let second = archive.visitor.get(&after("&entity=category")).await.is(200);
    assert_eq!(hits(&second, "category"), [("Llanfair deaths".to_owned(), 10.0)]);
    assert_eq!(second.next(), None);
    for other in ["", "&entity=collection"] {
        archive.visitor.get(&after(other)).await.faulty(&["cursor"]);
    }
    let refused = archive.visitor.get(&format!("{path}&entity=post")).await.faulty(&["entity"]);
    assert_eq!(refused.fault("entity"), "must be one of `category`, `collection`");
}

async fn catalog_entries_are_found_with_the_records_that_the_caller_can_find() {
    let archive = Archive::new().await;
    let births = archive.category("Llanfair births").await;
    archive.category("Llanfair wills").await;
    let new = json!({ "name": "Llanfair", "categoryIds": [births], "closedYears": { "birth": 100 } });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let post = publish_in(&archive, &collection, "Surname,Forenames,Born\nRees,Huw,1850\nRees,Nia,1990\n").await;
    // The words do not find this one, but its records are in the category.
    let bala = archive.collection("Bala", &[&births]).await;
    publish_in(&archive, &bala, "Surname,Forenames,Born\nPugh,Ann,1860\n").await;
    let path = "/archive/search/catalog?q=llanfair";
    let counts = async |user: &User, path: &str| -> BTreeMap<String, Value> {
        let found = find(&archive, user, path).await;
        let entries = found["items"].as_array().unwrap().iter().map(|hit| match hit.get("collection") {
            Some(collection) => collection,
            None => &hit["category"],
        });
        entries.map(|entry| (entry["name"].as_str().unwrap().to_owned(), entry["recordCount"].clone())).collect()
    };
    let expected = |counts: &[(&str, u64)]| -> BTreeMap<String, Value> {
        counts.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect()
    };
    for (user, of_collection, of_category) in [(&archive.visitor, 1, 2), (&archive.volunteer, 2, 3)] {
        let all = [("Llanfair", of_collection), ("Llanfair births", of_category), ("Llanfair wills", 0)];
        assert_eq!(counts(user, path).await, expected(&all));
        for (entity, some) in [("collection", &all[..1]), ("category", &all[1..])] {
            assert_eq!(counts(user, &format!("{path}&entity={entity}")).await, expected(some), "{entity}");
        }
    }
    // Records of a run that is being deleted are not found.
    let mut hidden = archive.table().get("hiddenRuns", "hiddenRuns").await.unwrap();
    hidden.insert(format!("{}-1", post.rsplit('/').next().unwrap()), table::item::text("going"));
    archive.table().put(hidden).await;
    let all = [("Llanfair", 0), ("Llanfair births", 1), ("Llanfair wills", 0)];
    assert_eq!(counts(&archive.volunteer, path).await, expected(&all));
}

async fn renamed_and_deleted_entries_are_found_by_their_present_names() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let path = format!("/archive/categories/{category}");
    archive.editor.patch(&path, json!({ "name": "Baptisms" })).await.is(200);
    let count = async |q: &str| {
        let found = find(&archive, &archive.visitor, &format!("/archive/search/catalog?q={q}")).await;
        found["total"]["value"].as_u64().unwrap()
    };
    assert_eq!((count("births").await, count("baptisms").await), (0, 1));
    archive.editor.delete(&path).await.is(204);
    assert_eq!(count("baptisms").await, 0);
}

async fn names_in_any_script_are_found() {
    let archive = Archive::new().await;
    for name in ["Łódź", "東京", "Москва", "Saint-Étienne"] {
        archive.category(name).await;
    }
    for (q, name) in [("lodz", "Łódź"), ("東", "東京"), ("моск", "Москва"), ("saint+etienne", "Saint-Étienne")]
    {
        let found = find(&archive, &archive.visitor, &format!("/archive/search/catalog?q={q}")).await;
        assert_eq!(hits(&found, "category").first().map(|(name, _)| name.as_str()), Some(name), "{}", found.told());
    }
}

async fn posts_are_found_by_name_and_metadata() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let settings = json!({ "title": "A", "postMetadata": [{ "name": "Source", "type": "string" }] });
    archive.administrator.put("/archive/settings", settings).await.is(200);
    let new = json!({ "name": "Volume 3", "collectionId": collection, "metadata": { "Source": "County Office" } });
    archive.volunteer.post("/archive/posts", new).await.is(201);
    archive.post("Office list", &collection).await;
    let found = find(&archive, &archive.volunteer, "/archive/search/posts?q=office").await;
    assert_eq!(hits(&found, "post"), [("Office list".to_owned(), 10.0), ("Volume 3".to_owned(), 2.0)]);
    let public = find(&archive, &archive.visitor, "/archive/search/catalog?q=office").await;
    assert_eq!(public["items"], json!([]));
}

async fn users_are_found_by_name_and_address() {
    let archive = Archive::new().await;
    let person = Person { name: Some("Zoë Field"), address: Some("hill@example.org"), ..Person::new("zoe") };
    archive.cairn.person("zoe", person).await.get("/archive/me").await.is(200);
    for q in ["zoe", "fiel", "hill", "hill@example.org"] {
        let found = find(&archive, &archive.administrator, &format!("/archive/search/users?q={q}")).await;
        assert_eq!(hits(&found, "user").len(), 1, "{q}: {}", found.told());
    }
}

async fn highlights_are_pieces_of_the_present_texts() {
    let archive = Archive::new().await;
    // A text in pieces, with the words that were found in brackets.
    let pieces = |text: &str| -> Value {
        let pieces = text.split('[').flat_map(|part| match part.split_once(']') {
            Some((hit, between)) => vec![(hit, true), (between, false)],
            None => vec![(part, false)],
        });
        pieces.filter(|(text, _)| !text.is_empty()).map(|(text, hit)| json!({ "text": text, "hit": hit })).collect()
    };
    let described = async |name: &str, description: &str| {
        let new = json!({ "name": name, "description": description });
        id(&archive.editor.post("/archive/categories", new).await.is(201))
    };
    let registers = described("Saint-Étienne’s REGISTERS", "<b>Register</b> de Étienne").await;
    let found = find(&archive, &archive.visitor, "/archive/search/catalog?q=etienne+registers").await;
    let expected = json!({
        "name": [pieces("Saint-[Étienne’s] [REGISTERS]")],
        "description": [pieces("<b>[Register]</b> de [Étienne]")],
    });
    assert_eq!(found.each("highlights"), [&expected], "{}", found.told());
    // Of a long text there are the fragments that were found.
    let words = "mosses ".repeat(100);
    let long = format!("{words}fern {words}");
    let births = described("Births", &long).await;
    archive.collection("Fernhill", &[&registers, &births]).await;
    let found = find(&archive, &archive.visitor, "/archive/search/catalog?q=fern").await;
    let highlights = found.each("highlights");
    assert_eq!(highlights[0], &json!({ "name": [pieces("[Fernhill]")] }), "{}", found.told());
    let fragments = highlights[1]["description"].as_array().unwrap();
    let texts = |fragment: &Value| -> Vec<String> {
        fragment.as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((highlights.len(), fragments.len()), (2, 1), "{}", found.told());
    let fragment = texts(&fragments[0]);
    assert!(fragment[1] == "fern" && long.contains(&fragment.concat()), "{}", found.told());
    assert!(fragment.concat().len() <= 160, "{}", found.told());
    // Posts and users have highlights, too.
    let collection = archive.collection("Llanfair", &[&births]).await;
    let fields = json!([{ "name": "Source", "type": "string" }, { "name": "Pages", "type": "number" }]);
    archive.administrator.put("/archive/settings", json!({ "title": "A", "postMetadata": fields })).await.is(200);
    let metadata = json!({ "Source": "Bala, Cóunty Office", "Pages": 12 });
    let new = json!({ "name": "Bala", "collectionId": collection, "metadata": metadata });
    archive.volunteer.post("/archive/posts", new).await.is(201);
    let person = Person { name: Some("Zoë Field"), address: Some("hill@example.org"), ..Person::new("zoe") };
    archive.cairn.person("zoe", person).await.get("/archive/me").await.is(200);
    for (user, path, expected) in [
        (&archive.volunteer, "posts?q=county", json!({ "metadata": [pieces("Bala, [Cóunty] Office")] })),
        (
            &archive.volunteer,
            "posts?q=bala",
            json!({ "name": [pieces("[Bala]")], "metadata": [pieces("[Bala], Cóunty Office")] }),
        ),
        (&archive.administrator, "users?q=zoe", json!({ "name": [pieces("[Zoë] Field")] })),
        (&archive.administrator, "users?q=hil", json!({ "email": [pieces("[hill]@example.org")] })),
    ] {
        let found = find(&archive, user, &format!("/archive/search/{path}")).await;
        assert_eq!(found.each("highlights"), [&expected], "{}", found.told());
    }
}

async fn pages_of_hits_follow_each_other() {
    let archive = Archive::new().await;
    for number in 0..7 {
        archive.category(&format!("Births {number}")).await;
    }
    archive.cairn.caught_up().await;
    let pages = archive.visitor.pages("/archive/search/catalog?q=births", 3).await;
    let names: Vec<_> = pages.iter().flat_map(|page| hits(page, "category")).map(|(name, _)| name).collect();
    assert_eq!(names, (0..7).map(|number| format!("Births {number}")).collect::<Vec<_>>());
}

async fn query_without_a_letter_is_refused() {
    let archive = Archive::new().await;
    archive.visitor.get("/archive/search/catalog?q=--").await.faulty(&["q"]);
    archive.visitor.get("/archive/search/catalog").await.faulty(&["q"]);
    let category = archive.category("Births").await;
    assert_eq!(id(&archive.visitor.get(&format!("/archive/categories/{category}")).await.is(200)), category);
}

async fn word_that_is_long_when_folded_is_searched() {
    let archive = Archive::new().await;
    // One character that folds to six. A word of up to 50 letters may have typos.
    for q in ["㌖".repeat(8), "㌖".repeat(200)] {
        for path in ["/archive/search/catalog", "/archive/search/posts", "/archive/search/users"] {
            let found = find(&archive, &archive.administrator, &format!("{path}?q={q}")).await;
            assert_eq!(found["items"], json!([]));
        }
    }
    let name = "㌖".repeat(100);
    archive.visitor.get(&format!("/archive/search?surname={name}")).await.faulty(&["surname"]);
    archive.visitor.get(&format!("/archive/search?surname={name}*")).await.faulty(&["surname"]);
}
