//! Search, facets and suggestions do not find foreign items, neither by unique words nor by their names.

use web::Who;

use super::operations::Operation;
use super::stage::Stage;

/// A word that no item has, nor any similar one.
const NOTHING: &str = "zzyzxq";

pub async fn find_nothing(stage: &Stage) {
    let word = stage.parts.word;
    // No item is foreign to an administrator of the platform.
    let open = |operation: &&Operation| operation.who != Who::Role("platform-admin");
    let hides = |operation: &&Operation| open(operation) && !stage.parts.open_searches.contains(&operation.name);
    let searches =
        stage.operations.iter().filter(|operation| operation.only_reads() && operation.takes("q")).filter(hides);
    let mut asked = 0;
    for search in searches {
        let facets = if search.takes("facets") { "&facets=entity,type" } else { "" };
        let ask = |path: &str, q: &str| format!("{path}?q={q}{facets}");
        // A principal with access finds the item.
        let found = stage.user(stage.parts.others).get(&ask(&stage.foreign(search), word)).await.is(200);
        assert!(!found["items"].as_array().unwrap().is_empty(), "{}", found.told());
        for name in stage.parts.insiders {
            let (user, path) = (stage.user(name), stage.own(search));
            let hidden = user.get(&ask(&path, word)).await.is(200);
            let nothing = user.get(&ask(&path, NOTHING)).await.is(200);
            assert_eq!(hidden.but_for_the_request(), nothing.but_for_the_request(), "{}", hidden.told());
            asked += 1;
        }
    }
    assert!(asked > 0 || stage.is_shared());
    named(stage).await;
}

/// Asserts that a query with foreign names has the same response as one with absent names.
async fn named(stage: &Stage) {
    let reads = stage.operations.iter().filter(|operation| operation.only_reads());
    for operation in reads {
        for (name, thing) in stage.named() {
            let in_path = operation.names().any(|own| own == name);
            if !operation.takes(name) || in_path || thing.foreign == thing.absent {
                continue;
            }
            for insider in stage.parts.insiders {
                let (user, path) = (stage.user(insider), stage.own(operation));
                let about = |value: &str| format!("{path}?q={}&{name}={value}", stage.parts.word);
                let foreign = user.get(&about(&thing.foreign)).await;
                let absent = user.get(&about(&thing.absent)).await;
                assert_eq!(foreign.but_for_the_request(), absent.but_for_the_request(), "{}", foreign.told());
            }
        }
    }
}
