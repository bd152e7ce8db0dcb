//! A person for each kind of caller: those of the samples, the staff of the archive, those of chat, and a librarian of
//! the shelf.

use crate::identity::Person;

/// The people by kind. The agency is Moorland Avalanche Service, the tenant Northern Bridges. The member
/// of chat is the first person of its sample.
pub const PEOPLE: [(&str, Person<'static>); 14] = [
    ("parks-admin", Person { roles: &["parks-admin"], ..Person::new("parks-admin") }),
    ("platform-admin", Person { roles: &["platform-admin"], ..Person::new("platform-admin") }),
    ("agency-admin", Person::new("volunteer-0988")),
    ("agency-member", Person::new("volunteer-0989")),
    ("agency-invitee", Person { address: Some("volunteer-76@example.org"), ..Person::new("invitee") }),
    ("tenant-admin", Person::new("ada")),
    ("tenant-editor", Person::new("ann")),
    ("tenant-viewer", Person::new("vic")),
    ("archive-administrator", Person { roles: &["archive-administrator"], ..Person::new("archivist") }),
    ("archive-editor", Person { roles: &["archive-editor"], ..Person::new("editor") }),
    ("archive-volunteer", Person { roles: &["archive-volunteer"], ..Person::new("transcriber") }),
    ("chat-admin", Person { roles: &["chat-admin"], ..Person::new("chat-admin") }),
    ("chat-member", Person::new("chatter-0000")),
    ("librarian", Person { roles: &["librarian"], ..Person::new("librarian") }),
];
