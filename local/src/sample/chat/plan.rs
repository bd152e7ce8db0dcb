//! The people, communities, chats and messages of the sample, the same in every load. Those of the small sample are the
//! first of the large one.

use fastrand::Rng;

use super::super::Size;
use super::words::{List, Place, Topic, Words};

/// The seed of all choices.
const SEED: u64 = 1967;

const COMMUNITIES: usize = 40;
const PEOPLE: usize = 3000;

/// The communities and people of the small sample.
const SMALL_COMMUNITIES: usize = 2;
const SMALL_PEOPLE: usize = 16;

/// The messages of a group chat and of a private chat in the small sample.
const SMALL_MESSAGES: usize = 30;
const PRIVATE_MESSAGES: usize = 10;

/// What a load creates.
#[derive(Debug)]
pub struct Plan {
    pub people: Vec<PlannedPerson>,
    pub communities: Vec<PlannedCommunity>,
    pub private_chats: Vec<PlannedPrivateChat>,
}

#[derive(Clone, Debug)]
pub struct PlannedPerson {
    /// The subject of the person's tokens.
    pub subject: String,
    pub name: String,
    pub bio: String,
    pub place: Place,
}

/// A community. Its first member is the founder and the owner of its chats. Its last member joins when all else is there
/// and is in no chat.
#[derive(Debug)]
pub struct PlannedCommunity {
    pub number: usize,
    pub name: String,
    pub description: String,
    pub topic: &'static str,
    pub place: Place,
    /// The numbers of people.
    pub members: Vec<usize>,
    pub chats: Vec<PlannedChat>,
}

#[derive(Debug)]
pub struct PlannedChat {
    /// The number among all chats.
    pub number: usize,
    pub name: &'static str,
    pub description: String,
    pub private: bool,
    pub members: Vec<usize>,
    pub message_count: usize,
    topic: &'static str,
}

/// A private chat of two people.
#[derive(Debug)]
pub struct PlannedPrivateChat {
    pub number: usize,
    pub members: [usize; 2],
}

#[derive(Debug)]
pub struct PlannedMessage {
    pub sender: usize,
    /// The text, in which `{name}` is the username of `mentioned`.
    pub text: String,
    pub mentioned: usize,
    /// The people who react, each with a kind.
    pub reactions: Vec<(usize, &'static str)>,
}

const KINDS: [&str; 5] = ["👍", "❤️", "😄", "🎉", ":wave:"];

impl Plan {
    /// Returns the plan of a sample of this size.
    pub fn new(size: Size, words: &Words) -> Self {
        let (people, communities) = match size {
            Size::Small => (SMALL_PEOPLE, SMALL_COMMUNITIES),
            Size::World => (PEOPLE, COMMUNITIES),
        };
        Self {
            people: (0..people).map(|number| person(number, words)).collect(),
            communities: (0..communities).map(|number| community(number, words)).collect(),
            private_chats: [[0, 1], [0, 2]]
                .into_iter()
                .enumerate()
                .map(|(number, members)| PlannedPrivateChat { number, members })
                .collect(),
        }
    }

    /// Counts the people, communities, chats and messages.
    pub fn count(&self) -> u64 {
        let communities = self.communities.iter().map(PlannedCommunity::count).sum::<u64>();
        let private = self.private_chats.iter().map(PlannedPrivateChat::count).sum::<u64>();
        self.people.len() as u64 + communities + private
    }
}

impl PlannedCommunity {
    /// Counts the community, its chats and their messages.
    pub fn count(&self) -> u64 {
        1 + self.chats.iter().map(|chat| 1 + chat.message_count as u64).sum::<u64>()
    }
}

impl PlannedPrivateChat {
    /// Counts the chat and its messages.
    pub fn count(&self) -> u64 {
        1 + PRIVATE_MESSAGES as u64
    }

    /// Returns the messages in their order.
    pub fn messages<'a>(&'a self, words: &'a Words) -> impl Iterator<Item = PlannedMessage> + 'a {
        messages(
            words,
            words.topics.at(self.number),
            &self.members,
            PRIVATE_MESSAGES,
            SEED ^ (1 << 40) ^ self.number as u64,
        )
    }
}

impl PlannedChat {
    /// Returns the messages in their order.
    pub fn messages<'a>(&'a self, words: &'a Words) -> impl Iterator<Item = PlannedMessage> + 'a {
        messages(
            words,
            words.topic(self.topic),
            &self.members,
            self.message_count,
            SEED ^ (1 << 32) ^ self.number as u64,
        )
    }
}

fn person(number: usize, words: &Words) -> PlannedPerson {
    let mut rng = Rng::with_seed(SEED ^ (1 << 48) ^ number as u64);
    // No pair of names is used twice.
    let (round, given) = (number / words.given.len(), number % words.given.len());
    let name = format!("{} {}", words.given.at(given), words.surnames.at(round + given * 7));
    let topic = choice(&mut rng, &words.topics);
    let bio = choice(&mut rng, &words.bios);
    PlannedPerson {
        subject: format!("chatter-{number:04}"),
        name,
        bio: sentence(&mut rng, bio, topic, words),
        place: *choice(&mut rng, &words.places),
    }
}

fn community(number: usize, words: &Words) -> PlannedCommunity {
    let mut rng = Rng::with_seed(SEED ^ (1 << 56) ^ number as u64);
    let is_small = number < SMALL_COMMUNITIES;
    let topic = words.topics.at(number);
    let place = *words.places.at(number * 7);
    let member = |at: usize| if is_small { number * 4 + at } else { (number * 71 + at * 11) % PEOPLE };
    let size = if is_small { 12 } else { 80 + number * 7 % 140 };
    // The last member is in no chat.
    let others = size - 2;
    let chats = if is_small { 3 } else { 6 };
    let chats = (0..chats).map(|chat| {
        let private = chat == chats - 1;
        let names = if private { &words.private_chats } else { &words.chats };
        let number = number * 6 + chat;
        let size = if is_small { 7 } else { 20 + number * 13 % 40 };
        let start = rng.usize(0..others);
        let others = (0..size.min(others)).map(|at| member(1 + (start + at) % others));
        PlannedChat {
            number,
            name: names.at(chat),
            description: format!("{} about {}.", topic.topic, choice(&mut rng, &topic.things)),
            private,
            members: [member(0)].into_iter().chain(others).collect(),
            message_count: if is_small { SMALL_MESSAGES } else { 830 + number * 131 % 445 },
            topic: topic.topic,
        }
    });
    let chats = chats.collect();
    PlannedCommunity {
        number,
        name: format!("{} {}", place.city, topic.names.at(number / words.topics.len())),
        description: format!(
            "{} in and around {}. We {} together.",
            topic.topic,
            place.city,
            choice(&mut rng, &topic.doings)
        ),
        topic: topic.topic,
        place,
        members: (0..size).map(member).collect(),
        chats,
    }
}

fn messages<'a>(
    words: &'a Words,
    topic: &'a Topic,
    members: &'a [usize],
    count: usize,
    seed: u64,
) -> impl Iterator<Item = PlannedMessage> + 'a {
    let mut rng = Rng::with_seed(seed);
    (0..count).map(move |_| {
        let member = |rng: &mut Rng| members.get(rng.usize(0..members.len().max(1))).copied().unwrap_or_default();
        let (sender, mentioned) = (member(&mut rng), member(&mut rng));
        let (first, second) = (*choice(&mut rng, &words.sentences), *choice(&mut rng, &words.sentences));
        let mut text = sentence(&mut rng, first, topic, words);
        if first != second && rng.usize(0..3) == 0 {
            text = format!("{text} {}", sentence(&mut rng, second, topic, words));
        }
        let reactions = if rng.usize(0..8) == 0 { 1 + rng.usize(0..2) } else { 0 };
        let mut reaction = || (member(&mut rng), KINDS.get(rng.usize(0..KINDS.len())).copied().unwrap_or("👍"));
        let reactions = (0..reactions).map(|_| reaction()).collect();
        PlannedMessage { sender, text, mentioned, reactions }
    })
}

/// Fills the gaps of a sentence, except for the name.
fn sentence(rng: &mut Rng, sentence: &str, topic: &Topic, words: &Words) -> String {
    let filled = sentence
        .replace("{thing}", choice::<&str>(rng, &topic.things))
        .replace("{doing}", choice::<&str>(rng, &topic.doings))
        .replace("{when}", choice::<&str>(rng, &words.times))
        .replace("{city}", choice(rng, &words.places).city);
    let mut characters = filled.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

fn choice<'a, T>(rng: &mut Rng, values: &'a List<T>) -> &'a T {
    values.at(rng.usize(0..values.len()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn plan(size: Size) -> (Plan, Words) {
        let words = Words::read().unwrap();
        (Plan::new(size, &words), words)
    }

    fn texts(plan: &Plan, words: &Words) -> Vec<String> {
        let chats = plan.communities.iter().flat_map(|community| &community.chats);
        chats.flat_map(|chat| chat.messages(words)).map(|message| message.text).collect()
    }

    #[test]
    fn small_sample_is_the_beginning_of_the_large_one() {
        let ((small, words), (world, _)) = (plan(Size::Small), plan(Size::World));
        let private: usize = small.private_chats.iter().map(|chat| chat.messages(&words).count()).sum();
        assert_eq!((small.people.len(), small.communities.len(), texts(&small, &words).len() + private), (16, 2, 200));
        assert_eq!((world.people.len(), world.communities.len()), (3000, 40));
        let (small, world) = (texts(&small, &words), texts(&world, &words));
        assert_eq!(small, world[..small.len()]);
        assert!((200_000..300_000).contains(&world.len()), "{}", world.len());
    }

    #[test]
    fn gaps_are_filled_and_people_and_communities_have_names_of_their_own() {
        let (world, words) = plan(Size::World);
        for text in texts(&world, &words) {
            let text = text.replace("{name}", "");
            assert!(!text.contains(['{', '}']) && text.len() < 300, "{text}");
        }
        let people: HashSet<&str> = world.people.iter().map(|person| person.name.as_str()).collect();
        assert_eq!(people.len(), world.people.len());
        let communities: HashSet<&str> = world.communities.iter().map(|community| community.name.as_str()).collect();
        assert_eq!(communities.len(), world.communities.len());
    }

    #[test]
    fn members_of_chats_are_members_of_the_community_and_its_last_member_is_in_none() {
        for community in plan(Size::World).0.communities {
            let members: HashSet<usize> = community.members.iter().copied().collect();
            assert_eq!(members.len(), community.members.len(), "{}", community.name);
            let last = community.members[community.members.len() - 1];
            for chat in &community.chats {
                assert!(chat.members.iter().all(|member| members.contains(member) && *member != last));
                assert_eq!(chat.members[0], community.members[0]);
                let different: HashSet<&usize> = chat.members.iter().collect();
                assert_eq!(different.len(), chat.members.len());
            }
        }
    }
}
