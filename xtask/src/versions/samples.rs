//! Sample items of the searchable entities that the sample stream records lack.

use serde_json::{Value, json};

const PERSON: &str = "019b76da-a800-7000-8000-000000000001";
const OTHER: &str = "019b76da-a800-7000-8000-000000000002";
const COMMUNITY: &str = "019b76da-a800-7000-8000-000000000011";
const GROUP: &str = "019b76da-a800-7000-8000-000000000021";
const PRIVATE: &str = "019b76da-a800-7000-8000-000000000031";
const MESSAGE: &str = "019b76da-a800-7000-8000-000000000041";
const TIME: &str = "2026-01-01T00:00:00.000Z";

/// Returns items of a system in DynamoDB JSON, each with the name of its table.
pub fn of(system: &str) -> Vec<(&'static str, Value)> {
    match system {
        "archive" => vec![("archive", collection()), ("archive", post())],
        "chat" => vec![
            ("chat-Users", user()),
            ("chat-Communities", community()),
            ("chat-GroupChats", group_chat()),
            ("chat-GroupChats", message(&format!("GROUPCHAT#{GROUP}"))),
            ("chat-PrivateChats", private_message()),
        ],
        "parks" => vec![("parks", activity()), ("parks", facility())],
        _ => Vec::new(),
    }
}

fn activity() -> Value {
    json!({
        "pk": {"S": "activity::bcparks_1"}, "sk": {"S": "dayuse::1"}, "rev": {"N": "2"}, "collectionId": {"S": "bcparks_1"},
        "displayName": {"S": "Day use"}, "activityType": {"S": "dayuse"}, "subType": {"S": "vehicle"},
        "number": {"N": "1"}, "isVisible": {"BOOL": true}, "createdAt": {"S": TIME}, "updatedAt": {"S": TIME},
    })
}

fn facility() -> Value {
    json!({
        "pk": {"S": "facility::bcparks_1"}, "sk": {"S": "campground::3"}, "rev": {"N": "2"},
        "globalId": {"S": PERSON}, "collectionId": {"S": "bcparks_1"}, "displayName": {"S": "Elk Camp"},
        "searchTerms": {"L": [{"S": "elk river"}]}, "imageUrls": {"L": [{"S": "https://example.org/elk.jpg"}]},
        "description": {"S": "By the river"}, "adminNotes": {"S": "Muddy"}, "isVisible": {"BOOL": true},
        "isDeleted": {"BOOL": false}, "createdAt": {"S": TIME}, "createdBy": {"S": "ann"}, "updatedAt": {"S": TIME},
        "updatedBy": {"S": "bob"}, "facilityType": {"S": "campground"}, "subType": {"S": "walk-in"}, "number": {"N": "3"},
        "address": {"S": "1 River Road"}, "isOpen": {"BOOL": true}, "showOnMap": {"BOOL": false},
        "minMapZoom": {"N": "4"}, "maxMapZoom": {"N": "12.5"}, "externalId": {"S": "E 3"},
        "location": {"L": [{"N": "-125.50"}, {"N": "49.6"}]},
        "envelope": {"L": [{"N": "-125.6"}, {"N": "49.5"}, {"N": "-125.4"}, {"N": "49.7"}]},
    })
}

fn collection() -> Value {
    json!({
        "PK": {"S": "7000000002"}, "SK": {"S": "collection"}, "GSISK": {"S": "Llanfair"}, "rev": {"N": "2"},
        "name": {"S": "Llanfair"}, "description": {"S": "Łódź and others"},
        "categoryIds": {"L": [{"S": "7000000001"}]}, "placeId": {"S": "7000000005"},
    })
}

fn post() -> Value {
    json!({
        "PK": {"S": "7000000003"}, "SK": {"S": "post"}, "GSISK": {"S": "7000000002"}, "rev": {"N": "2"},
        "name": {"S": "Page 1"}, "status": {"S": "draft"}, "ownerId": {"S": "7000000004"},
        "metadata": {"M": {"volume": {"S": "Baptisms"}, "page": {"N": "12"}}},
    })
}

fn user() -> Value {
    json!({
        "pk": {"S": format!("USER#{PERSON}")}, "rev": {"N": "2"}, "Id": {"S": PERSON}, "Username": {"S": "ann"},
        "Name": {"S": "Ann Field"}, "Bio": {"S": "walks"}, "CreatedAt": {"S": TIME},
        "Location": {"M": {"Country": {"S": "Wales"}, "City": {"S": "Bangor"}}},
        "Ban": {"M": {"Reason": {"S": "spam"}, "Until": {"S": "2026-02-01T00:00:00Z"}}},
    })
}

fn community() -> Value {
    json!({
        "pk": {"S": format!("COMMUNITY#{COMMUNITY}")}, "sk": {"S": format!("COMMUNITY#{COMMUNITY}")},
        "rev": {"N": "2"}, "Id": {"S": COMMUNITY}, "Name": {"S": "Hill Walkers"}, "Description": {"S": "Out at dawn"},
        "Topic": {"S": "Walking"}, "NumMembers": {"N": "12"}, "CreatedAt": {"S": TIME},
        "Location": {"M": {"Country": {"S": "Wales"}, "State": {"S": "Gwynedd"}, "City": {"S": "Bangor"}}},
    })
}

fn group_chat() -> Value {
    json!({
        "pk": {"S": format!("GROUPCHAT#{GROUP}")}, "sk": {"S": format!("GROUPCHAT#{GROUP}")}, "rev": {"N": "2"},
        "Id": {"S": GROUP}, "CommunityId": {"S": COMMUNITY}, "Name": {"S": "Routes"}, "Description": {"S": "By bus"},
        "Private": {"BOOL": true},
    })
}

fn message(chat: &str) -> Value {
    json!({
        "pk": {"S": chat}, "sk": {"S": format!("MESSAGE#{TIME}#{MESSAGE}")}, "rev": {"N": "2"}, "Id": {"S": MESSAGE},
        "SenderId": {"S": PERSON}, "Content": {"S": "Up \"there\""}, "CreatedAt": {"S": TIME},
        "Editted": {"BOOL": false},
    })
}

fn private_message() -> Value {
    let mut message = message(&format!("PRIVATECHAT#{PRIVATE}"));
    if let Some(attributes) = message.as_object_mut() {
        attributes.insert("MemberIds".to_owned(), json!({"SS": [OTHER, PERSON]}));
    }
    message
}
