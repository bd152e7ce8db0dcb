//! Search: the caller's agencies and nobody else's, and the members of one.

use ::agencies::audit::Audit;
use ::agencies::item::Member;
use ::agencies::keys::member_key;
use ::agencies::names::{AgencyId, MemberStatus, Role};
use serde_json::{Value, json};
use table::Idpid;

use super::stage::Stage;
use crate::harness::{Answer, User};
use crate::tests;

tests! { agency_search:
    caller_finds_own_agencies_only,
    search_finds_members_of_one_agency_only,
    search_tolerates_typos_and_prefixes,
    search_over_more_than_200_agencies_is_refused,
    suspended_memberships_do_not_count_towards_the_200_agencies,
    search_faults_name_their_parameters,
}

async fn search(stage: &Stage, user: &User, query: &str) -> Answer {
    stage.cairn.caught_up().await;
    user.get(&format!("/agencies/search?{query}")).await.is(200)
}

fn found(answer: &Answer) -> Vec<&str> {
    let items = answer["items"].as_array().unwrap().iter();
    let mut ids: Vec<&str> = items.map(|item| item["agency"]["agencyId"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

fn facet(answer: &Answer, name: &str) -> Vec<(String, u64)> {
    let counts = answer["facets"][name].as_array().unwrap_or_else(|| panic!("{}", answer.told())).iter();
    let mut counts: Vec<_> =
        counts.map(|count| (count["value"].as_str().unwrap().to_owned(), count["count"].as_u64().unwrap())).collect();
    counts.sort();
    counts
}

fn counts(counts: &[(&str, u64)]) -> Vec<(String, u64)> {
    counts.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect()
}

async fn caller_finds_own_agencies_only() {
    let stage = Stage::new().await;
    assert_eq!(found(&search(&stage, &stage.ann, "").await), ["n", "s"]);
    assert_eq!(found(&search(&stage, &stage.ann, "q=Coast").await), Vec::<&str>::new());
    assert_eq!(found(&search(&stage, &stage.cay, "q=coast").await), ["c"]);
    let all = search(&stage, &stage.root, "").await;
    assert_eq!(found(&all), ["c", "n", "s"]);
    assert_eq!(facet(&all, "status"), counts(&[("active", 1), ("inactive", 1), ("pending", 1)]));
    let pending = search(&stage, &stage.root, "status=pending").await;
    assert_eq!((found(&pending), pending["total"]["value"].as_u64()), (vec!["s"], Some(1)));
    // Counted under every filter but its own.
    assert_eq!(facet(&pending, "status").len(), 3);
    stage.root.post("/agencies/s/activate", json!({})).await.is(200);
    let all = search(&stage, &stage.root, "").await;
    assert_eq!(facet(&all, "status"), counts(&[("active", 2), ("inactive", 1)]));
    assert_eq!(found(&search(&stage, &stage.root, "status=pending").await), Vec::<&str>::new());
    // Facets tell of the caller's own agencies alone.
    assert_eq!(facet(&search(&stage, &stage.ann, "").await, "status"), counts(&[("active", 2)]));
}

async fn search_finds_members_of_one_agency_only() {
    let stage = Stage::new().await;
    let of_n = search(&stage, &stage.bob, "entity=member&agencyId=n").await;
    assert_eq!(facet(&of_n, "role"), counts(&[("admin", 1), ("member", 1)]));
    let admins = search(&stage, &stage.bob, "entity=member&agencyId=n&role=admin").await;
    assert_eq!(admins["items"][0]["member"]["idpid"], "idp:ann");
    assert_eq!(admins["items"].as_array().unwrap().len(), 1);
    stage.cay.get("/agencies/search?entity=member&agencyId=n").await.refused(404, "not-found");
    stage.bob.get("/agencies/search?entity=member&agencyId=none").await.refused(404, "not-found");
    stage.bob.get("/agencies/search?entity=member").await.faulty(&["agencyId"]);
    // A removed member is not found any more, not even by that person.
    stage.ann.delete("/agencies/n/members/idp:bob").await.is(204);
    stage.bob.get("/agencies/search?entity=member&agencyId=n").await.refused(404, "not-found");
    assert_eq!(found(&search(&stage, &stage.bob, "").await), Vec::<&str>::new());
}

async fn search_tolerates_typos_and_prefixes() {
    let stage = Stage::new().await;
    for (name, also) in [("Rescue North", "x"), ("North Rescue Dogs", "y"), ("Nörth Shore", "z")] {
        stage.root.post("/agencies", json!({ "name": name })).once(also).await.is(201);
    }
    let names = async |query: &str| {
        let answer = search(&stage, &stage.root, query).await;
        let items = answer["items"].as_array().unwrap().iter();
        items.map(|item| item["agency"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let phrase = names("q=north+rescue").await;
    assert_eq!(phrase.len(), 3);
    assert_eq!(phrase[2], "Rescue North", "the phrase counts more: {phrase:?}");
    assert_eq!(names("q=nort").await.len(), 4);
    assert_eq!(names("q=nirth+resc").await.len(), 3);
    assert_eq!(names("q=rescur").await.len(), 3);
    assert_eq!(names("q=shore").await, ["Nörth Shore"]);
    let marked = search(&stage, &stage.root, "q=shor").await;
    let pieces = json!([[{ "text": "Nörth ", "hit": false }, { "text": "Shore", "hit": true }]]);
    assert_eq!(marked["items"][0]["highlights"]["name"], pieces, "{}", marked.told());
    let pages: Vec<Value> = {
        let pages = stage.root.pages("/agencies/search?q=north", 2).await;
        pages.iter().flat_map(|page| page["items"].as_array().unwrap().clone()).collect()
    };
    assert_eq!(pages.len(), 4);
}

/// Creates memberships of bob, with this status, in 200 agencies that do not exist.
async fn make_bob_a_member_of_200(stage: &Stage, status: MemberStatus) {
    let (person, stamp) = (
        Idpid::new("idp", "bob").unwrap(),
        Audit { at: "2026-01-07T00:00:00.000000Z".to_owned(), by: "idp:root".to_owned() },
    );
    let items = (0..200).map(|number| {
        let agency: AgencyId = format!("many{number}").parse().unwrap();
        let member = Member::new(agency.clone(), person.clone(), Role::Member, None, &stamp);
        super::stage::stored(&member_key(&agency, &person), &Member { status, ..member })
    });
    stage.table().put_all(items.collect()).await;
}

async fn search_over_more_than_200_agencies_is_refused() {
    let stage = Stage::new().await;
    make_bob_a_member_of_200(&stage, MemberStatus::Active).await;
    stage.bob.get("/agencies/search?q=north").await.refused(400, "narrow-search");
    let narrowed = search(&stage, &stage.bob, "q=north&agencyId=n").await;
    assert_eq!(found(&narrowed), ["n"]);
    // Their agencies are not there: the page is filled up past them.
    assert_eq!(stage.bob.get("/agencies/me/agencies").await.is(200).each("agencyId"), ["n"]);
}

async fn suspended_memberships_do_not_count_towards_the_200_agencies() {
    let stage = Stage::new().await;
    make_bob_a_member_of_200(&stage, MemberStatus::Suspended).await;
    assert_eq!(found(&search(&stage, &stage.bob, "q=north").await), ["n"]);
}

async fn search_faults_name_their_parameters() {
    let stage = Stage::new().await;
    stage.ann.get("/agencies/search?role=admin").await.faulty(&["role"]);
    stage.ann.get("/agencies/search?entity=member&agencyId=n&status=active").await.faulty(&["status"]);
    stage.ann.get("/agencies/search?q=--&status=gone&more=1").await.faulty(&["status", "more"]);
    stage.ann.get("/agencies/search?q=--").await.faulty(&["q"]);
}
