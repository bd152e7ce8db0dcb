//! An idempotency key belongs to its caller. Its response is not repeated to other callers, nor to a caller who has
//! lost the right.

use super::operations::Operation;
use super::stage::Stage;
use crate::harness::Answer;

/// A UUID, since a message needs one.
const KEY: &str = "0c5f5a3e-8f3b-4d0e-9c5e-2f6a1b7c8d90";

pub async fn of_others(stage: &Stage) {
    let creations = stage.operations.iter().filter(|operation| operation.takes("idempotency-key"));
    let mut repeated = 0;
    for creation in creations {
        let path = stage.own(creation);
        let may = |(name, _): &&(&str, _)| stage.stated(creation, name) < 300;
        let makers: Vec<_> = stage.principals.iter().filter(may).collect();
        let (owner, user) = makers.first().unwrap_or_else(|| panic!("nobody may {}", creation.name));
        let done = stage.stated(creation, owner);
        let first = creation.call_once(user, &path, KEY).await.is(done);
        let again = creation.call_once(user, &path, KEY).await.is(done);
        assert_eq!(made(&first), made(&again), "{owner} gets the first answer again");
        repeated += 1;
        for (name, other) in stage.principals.iter().filter(|(name, _)| name != owner) {
            let answer = creation.call_once(other, &path, KEY).await;
            assert!(made(&answer) != made(&first), "{name} gets the answer of {owner}: {}", answer.told());
            let stated = stage.stated(creation, name);
            // An item of one principal may conflict with that of another.
            assert!(answer.status == stated || (stated, answer.status) == (done, 409), "{}", answer.told());
            if stage.hides(creation, name) && stage.parts.outsiders.contains(name) {
                let absent = creation.call_once(other, &stage.absent(creation), KEY).await;
                assert_eq!(answer.but_for_the_request(), absent.but_for_the_request(), "{}", answer.told());
            }
        }
        removed(stage, creation).await;
        stage.restore().await;
    }
    assert!(repeated > if stage.is_shared() { 0 } else { 2 }, "{repeated} creations");
}

/// Asserts that a former administrator is refused, and that the response is not repeated.
async fn removed(stage: &Stage, creation: &Operation) {
    let done = stage.stated(creation, "administrator");
    let Some(removal) = stage.parts.removal.filter(|_| done < 300) else { return };
    stage.restore().await;
    let (user, path) = (stage.user("administrator"), stage.own(creation));
    creation.call_once(user, &path, KEY).await.is(done);
    stage.user("platform").delete(removal).await.is(204);
    let answer = creation.call_once(user, &path, KEY).await.refused(404, "not-found");
    let absent = creation.call_once(user, &stage.absent(creation), KEY).await;
    assert_eq!(answer.but_for_the_request(), absent.but_for_the_request());
}

/// The members that differ between two creations.
fn made(answer: &Answer) -> (u16, String, String) {
    (answer.status, answer.header("location").to_owned(), answer.header("etag").to_owned())
}
