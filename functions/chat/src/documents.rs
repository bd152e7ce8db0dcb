//! The search documents of users, communities, group chats and messages. Each comes from its own item alone. A field that
//! is not written here is not indexed.

use jiff::Timestamp;
use mirror::{Document, Documents, Found, Image, Mapping, Unfit, WithoutShapes};
use table::Key;
use table::schema::{Entity, System};

use crate::keys::message_of;
use crate::names::ChatId;

/// The documents of chat.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chat;

/// The mapping. Its version grows by one with every change of the documents.
pub const MAPPING: Mapping = Mapping { version: 1, body: include_str!("documents/mapping.json") };

impl Documents for Chat {
    fn tables(&self) -> &'static System {
        &crate::schema::SYSTEM
    }

    fn mapping(&self) -> Mapping {
        MAPPING
    }

    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut document = Document::new();
        let is_found = match entity.name {
            "user" => user(&mut document, image)?,
            "community" => community(&mut document, image)?,
            "groupChat" => group_chat(&mut document, image)?,
            "groupChatMessage" | "privateChatMessage" => message(&mut document, image)?,
            _ => false,
        };
        Ok(if is_found { Found::Document(document) } else { Found::Hidden })
    }
}

impl WithoutShapes for Chat {}

/// Writes the document of a user. Deleted users and those who are banned without an end have none. A ban with an end is
/// compared with the present time by the query, since a document knows no clock.
fn user(document: &mut Document, image: &Image<'_>) -> Result<bool, Unfit> {
    if image.optional_text("DeletedAt")?.is_some() {
        return Ok(false);
    }
    let mut banned_until = None;
    if let Some(ban) = image.optional_map("Ban")? {
        let until = ban.optional_text("Until")?.and_then(|until| until.parse::<Timestamp>().ok());
        let Some(until) = until else { return Ok(false) };
        banned_until = Some(until.as_microsecond());
    }
    let name = image.optional_text("Name")?;
    document
        .keyword("userId", &*image.text("Id")?)
        .keyword("username", &*image.text("Username")?)
        .text("name", name.as_deref())
        .keyword("nameKey", name.as_deref())
        .text("bio", image.optional_text("Bio")?.as_deref())
        .keyword("createdAt", &*image.text("CreatedAt")?)
        .integer("bannedUntil", banned_until);
    location(document, image)?;
    Ok(true)
}

/// Writes the document of a community, unless the community is being deleted.
fn community(document: &mut Document, image: &Image<'_>) -> Result<bool, Unfit> {
    if image.optional_text("DeletingAt")?.is_some() {
        return Ok(false);
    }
    let topic = image.text("Topic")?;
    document
        .keyword("communityId", &*image.text("Id")?)
        .text("name", &*image.text("Name")?)
        .text("description", &*image.text("Description")?)
        .text("topic", &*topic)
        .keyword("topicKey", &*topic)
        .number("numMembers", image.number("NumMembers")?)
        .keyword("createdAt", &*image.text("CreatedAt")?);
    location(document, image)?;
    Ok(true)
}

/// Writes the document of a group chat, unless the chat is being deleted.
fn group_chat(document: &mut Document, image: &Image<'_>) -> Result<bool, Unfit> {
    if image.optional_text("DeletingAt")?.is_some() {
        return Ok(false);
    }
    document
        .keyword("groupChatId", &*image.text("Id")?)
        .keyword("communityId", &*image.text("CommunityId")?)
        .text("name", &*image.text("Name")?)
        .text("description", &*image.text("Description")?)
        .flag("private", image.flag("Private")?);
    Ok(true)
}

/// Writes the document of a message, unless the message is deleted. Only the document of a private message names the
/// members of its chat, since those of a group change.
fn message(document: &mut Document, image: &Image<'_>) -> Result<bool, Unfit> {
    if image.optional_text("DeletedAt")?.is_some() {
        return Ok(false);
    }
    let key = Key::new(image.text("pk")?, image.text("sk")?);
    let Some((chat, id)) = message_of(&key) else { return Ok(false) };
    document
        .keyword("chat", &*chat.to_string())
        .keyword("messageId", &*id.to_string())
        .keyword("senderId", &*image.text("SenderId")?)
        .text("text", &*image.text("Content")?)
        .keyword("createdAt", &*id.time().to_string())
        .flag("edited", image.flag("Editted")?);
    if let ChatId::Private(_) = chat {
        document.keywords("members", image.text_set("MemberIds")?);
    }
    Ok(true)
}

fn location(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    let Some(location) = image.optional_map("Location")? else { return Ok(()) };
    document
        .keyword("country", &*location.text("Country")?)
        .keyword("state", location.optional_text("State")?.as_deref())
        .keyword("city", location.optional_text("City")?.as_deref());
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const PERSON: &str = "019b76da-a800-7000-8000-000000000001";
    const OTHER: &str = "019b76da-a800-7000-8000-000000000002";
    const COMMUNITY: &str = "019b76da-a800-7000-8000-000000000011";
    const GROUP: &str = "019b76da-a800-7000-8000-000000000021";
    const PRIVATE: &str = "019b76da-a800-7000-8000-000000000031";
    const MESSAGE: &str = "019b76da-a800-7000-8000-000000000041";
    const TIME: &str = "2026-01-01T00:00:00.000Z";

    fn documented(name: &str, item: &Value) -> Result<Value, Unfit> {
        let entities = crate::schema::SYSTEM.tables.iter().flat_map(|table| table.entities);
        let entity = entities.into_iter().find(|entity| entity.name == name);
        let text = item.to_string();
        match Chat.document(entity.unwrap(), &Image::parse(&text).unwrap())? {
            Found::Document(document) => Ok(serde_json::from_str(&format!("{{{}}}", document.fields())).unwrap()),
            Found::Hidden => Ok(Value::Null),
        }
    }

    fn user() -> Value {
        json!({
            "pk": {"S": format!("USER#{PERSON}")}, "rev": {"N": "2"}, "Id": {"S": PERSON}, "Username": {"S": "ann"},
            "Name": {"S": "Ann Field"}, "PasswordHash": {"S": "$argon2id$v=19$x"}, "Email": {"S": "ann@example.org"},
            "Bio": {"S": "walks"}, "Location": {"M": {"Country": {"S": "Wales"}, "City": {"S": "Bangor"}}},
            "AvatarURL": {"S": "https://example.org/a.png"}, "Role": {"S": "user"}, "CreatedAt": {"S": TIME},
            "LastSeenAt": {"S": TIME},
        })
    }

    fn community() -> Value {
        json!({
            "pk": {"S": format!("COMMUNITY#{COMMUNITY}")}, "sk": {"S": format!("COMMUNITY#{COMMUNITY}")},
            "rev": {"N": "2"}, "Id": {"S": COMMUNITY}, "Name": {"S": "Hill Walkers"}, "Description": {"S": "Out at dawn"},
            "Topic": {"S": "Walking"}, "Founder": {"S": PERSON}, "NumMembers": {"N": "12"}, "NumGroupChats": {"N": "2"},
            "Location": {"M": {"Country": {"S": "Wales"}, "State": {"S": "Gwynedd"}, "City": {"S": "Bangor"}}},
            "CountryKey": {"S": "COUNTRY#wales"}, "PlaceKey": {"S": "STATE#gwynedd#CITYbangor"}, "CreatedAt": {"S": TIME},
        })
    }

    fn group_chat() -> Value {
        json!({
            "pk": {"S": format!("GROUPCHAT#{GROUP}")}, "sk": {"S": format!("GROUPCHAT#{GROUP}")}, "rev": {"N": "2"},
            "Id": {"S": GROUP}, "CommunityId": {"S": COMMUNITY}, "Name": {"S": "Routes"}, "Description": {"S": ""},
            "Capacity": {"N": "100"}, "Private": {"BOOL": true}, "NumMembers": {"N": "3"}, "Owner": {"S": PERSON},
            "CreatedAt": {"S": TIME},
        })
    }

    fn group_message() -> Value {
        json!({
            "pk": {"S": format!("GROUPCHAT#{GROUP}")}, "sk": {"S": format!("MESSAGE#{TIME}#{MESSAGE}")},
            "rev": {"N": "2"}, "Id": {"S": MESSAGE}, "SenderId": {"S": PERSON}, "Content": {"S": "Up \"there\"\n<b>"},
            "CreatedAt": {"S": TIME}, "Editted": {"BOOL": false}, "Mentions": {"SS": [OTHER]},
        })
    }

    fn private_message() -> Value {
        let mut message = group_message();
        message["pk"] = json!({"S": format!("PRIVATECHAT#{PRIVATE}")});
        message["MemberIds"] = json!({"SS": [OTHER, PERSON]});
        message
    }

    fn items() -> [(&'static str, Value); 5] {
        [
            ("user", user()),
            ("community", community()),
            ("groupChat", group_chat()),
            ("groupChatMessage", group_message()),
            ("privateChatMessage", private_message()),
        ]
    }

    #[test]
    fn documents_have_these_fields_and_no_others() {
        let message = json!({
            "messageId": MESSAGE, "senderId": PERSON, "text": "Up \"there\"\n<b>", "createdAt": TIME, "edited": false,
        });
        let with = |more: Value| {
            let mut message = message.clone();
            message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            message
        };
        let expected = [
            json!({
                "userId": PERSON, "username": "ann", "name": "Ann Field", "nameKey": "Ann Field", "bio": "walks",
                "country": "Wales", "city": "Bangor", "createdAt": TIME,
            }),
            json!({
                "communityId": COMMUNITY, "name": "Hill Walkers", "description": "Out at dawn", "topic": "Walking",
                "topicKey": "Walking", "numMembers": 12, "country": "Wales", "state": "Gwynedd", "city": "Bangor",
                "createdAt": TIME,
            }),
            json!({
                "groupChatId": GROUP, "communityId": COMMUNITY, "name": "Routes", "description": "", "private": true,
            }),
            with(json!({ "chat": format!("groupchat/{GROUP}") })),
            with(json!({ "chat": format!("privatechat/{PRIVATE}"), "members": [PERSON, OTHER] })),
        ];
        for ((entity, item), expected) in items().into_iter().zip(expected) {
            assert_eq!(documented(entity, &item), Ok(expected), "{entity}");
        }
    }

    #[test]
    fn deleted_things_have_no_documents() {
        for (entity, mut item) in items() {
            item["DeletedAt"] = json!({"S": TIME});
            item["DeletingAt"] = json!({"S": TIME});
            // A placeholder has no content, and a deleted user has no name.
            for gone in ["Content", "Name"] {
                item.as_object_mut().unwrap().remove(gone);
            }
            assert_eq!(documented(entity, &item), Ok(Value::Null), "{entity}");
        }
    }

    #[test]
    fn user_banned_without_an_end_has_no_document() {
        let banned = |ban: Value| {
            let mut user = user();
            user["Ban"] = json!({"M": ban});
            documented("user", &user)
        };
        assert_eq!(banned(json!({"Reason": {"S": "spam"}})), Ok(Value::Null));
        let until = banned(json!({"Reason": {"S": "spam"}, "Until": {"S": "1970-01-01T00:00:01.5Z"}})).unwrap();
        assert_eq!(until["bannedUntil"], 1_500_000);
        // A ban whose end cannot be read has no end.
        assert_eq!(banned(json!({"Until": {"S": "soon"}})), Ok(Value::Null));
    }

    #[test]
    fn every_field_is_in_the_mapping() {
        let mapping: Value = serde_json::from_str(MAPPING.body).unwrap();
        let known = mapping["mappings"]["properties"].as_object().unwrap();
        for (entity, item) in items() {
            for name in documented(entity, &item).unwrap().as_object().unwrap().keys() {
                assert!(known.contains_key(name), "{name}");
            }
        }
        assert!(known.contains_key("bannedUntil"));
    }

    #[test]
    fn attribute_of_another_type_is_unfit() {
        let read: [&[&str]; 5] = [
            &["DeletedAt", "Ban", "Id", "Username", "Name", "Bio", "CreatedAt", "Location"],
            &["DeletingAt", "Id", "Name", "Description", "Topic", "NumMembers", "CreatedAt", "Location"],
            &["DeletingAt", "Id", "CommunityId", "Name", "Description", "Private"],
            &["DeletedAt", "SenderId", "Content", "Editted"],
            &["DeletedAt", "SenderId", "Content", "Editted", "MemberIds"],
        ];
        for ((entity, whole), read) in items().into_iter().zip(read) {
            for name in read {
                for wrong in [json!({"L": []}), json!({"B": "eA=="}), json!({"NULL": true})] {
                    let mut item = whole.clone();
                    item[*name] = wrong;
                    assert_eq!(documented(entity, &item).unwrap_err().attribute, *name);
                }
            }
        }
    }
}
