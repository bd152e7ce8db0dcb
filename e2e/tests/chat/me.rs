//! The caller's own user.

use crate::tests;

use super::stage::Chat;

tests! { chat_me:
    person_of_another_issuer_gets_one_user,
}

async fn person_of_another_issuer_gets_one_user() {
    let chat = Chat::new().await;
    let again = chat.ann.user.get("/chat/me").await.is(200);
    assert_eq!((again.text("id"), again.text("username")), (chat.ann.id.as_str(), "ann"));
    assert_ne!(chat.bob.id, chat.ann.id);
    chat.visitor.get("/chat/me").await.is(401);
}
