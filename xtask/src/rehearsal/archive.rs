//! The rehearsal of the archive.

use super::Step::{self, Names, Others, Request, Sample, Until, Upload, Wait};

pub const STEPS: &[Step] = &[
    Names("getMe", "/id", "7000000004"),
    Names("createCategory", "/id", "7000000001"),
    Names("createCollection", "/id", "7000000002"),
    Names("createPost", "/id", "7000000003"),
    Names("createPlace", "/id", "7000000005"),
    Sample("updateMe"),
    Request("PATCH", POST, MAPPING),
    Upload("/archive/posts/7000000003/file", FILE),
    Wait("/archive/posts/7000000003/file", "/inspection/headers/0", "House"),
    // A link for the next file follows later, which the post then waits for.
    Sample("getFile"),
    Sample("publishPost"),
    Wait("/archive/posts/7000000003/runs/1", "/phase", "ended"),
    Names("listPostRecords", "/items/0/id", "7000000007"),
    Names("createReport", "/id", "7000000006"),
    // All items exist now.
    Until("searchCatalog"),
    Until("searchPosts"),
    Until("searchUsers"),
    Until("autocompletePlaces"),
    Until("searchRecords"),
    Others,
    Sample("unpublishPost"),
    Wait(POST, "/status", "draft"),
    Sample("deletePost"),
    // The problem of an absent post.
    Wait(POST, "/status", "404"),
    Sample("deleteCollection"),
    Sample("deleteCategory"),
    Sample("deletePlace"),
    Request("POST", "/archive/categories", r#"{"name":"Marriages"}"#),
];

const POST: &str = "/archive/posts/7000000003";

/// The sample mapping has no column with names, which publishing needs.
const MAPPING: &str = r#"{"mapping":[
    {"header":"House","field":"household"},
    {"header":"Surname","field":"surname"},
    {"header":"Forenames","field":"given"},
    {"header":"Rel","field":"relation"},
    {"header":"Born","field":"birthDate"},
    {"header":"Birthplace","field":"birthPlace"}
]}"#;

/// A household, whose members were born in the sample place and in one that the archive does not know.
const FILE: &str = "House,Surname,Forenames,Rel,Born,Birthplace\n\
    14,Pugh,Evan,Head,abt 1838,Llanuwchllyn\n\
    14,Pugh,Margaret,Wife,1841,Bala\n";
