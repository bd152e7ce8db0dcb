//! The words of the sample of chat, which are part of the program.

use super::super::SampleError;

const WORDS: &str = include_str!("../../../../samples/chat/words.tsv");

/// The words by kind.
#[derive(Debug)]
pub struct Words {
    pub given: List<&'static str>,
    pub surnames: List<&'static str>,
    pub places: List<Place>,
    pub times: List<&'static str>,
    pub sentences: List<&'static str>,
    pub bios: List<&'static str>,
    /// The names of group chats that everybody may join.
    pub chats: List<&'static str>,
    /// The names of private group chats.
    pub private_chats: List<&'static str>,
    pub topics: List<Topic>,
}

/// A list that is not empty.
#[derive(Debug)]
pub struct List<T> {
    first: T,
    rest: Vec<T>,
}

#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub country: &'static str,
    pub state: Option<&'static str>,
    pub city: &'static str,
}

/// A topic, with the names of its communities and what people talk about.
#[derive(Debug)]
pub struct Topic {
    pub topic: &'static str,
    pub names: List<&'static str>,
    pub things: List<&'static str>,
    pub doings: List<&'static str>,
}

/// The lines of the file.
struct Lines(Vec<[&'static str; 3]>);

impl Words {
    pub fn read() -> Result<Self, SampleError> {
        let lines = Lines::read()?;
        let mut names: Vec<&str> = Vec::new();
        for [_, topic, _] in &lines.0 {
            if !topic.is_empty() && !names.contains(topic) {
                names.push(topic);
            }
        }
        let place = |text: &'static str| Place::parse(text).ok_or_else(|| unreadable(text));
        let places = lines.of("place", "").into_iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let topic = |topic: &'static str| {
            let list = |kind| List::new(lines.of(kind, topic), kind);
            Ok(Topic { topic, names: list("name")?, things: list("thing")?, doings: list("doing")? })
        };
        let topics = names.into_iter().map(topic).collect::<Result<Vec<_>, SampleError>>()?;
        let list = |kind| List::new(lines.of(kind, ""), kind);
        Ok(Self {
            given: list("given")?,
            surnames: list("surname")?,
            places: List::new(places, "place")?,
            times: list("when")?,
            sentences: list("sentence")?,
            bios: list("bio")?,
            chats: list("chat")?,
            private_chats: list("privateChat")?,
            topics: List::new(topics, "topic")?,
        })
    }
}

impl Words {
    /// Returns the topic of this name, or the first one.
    pub fn topic(&self, name: &str) -> &Topic {
        let topics = (0..self.topics.len()).map(|index| self.topics.at(index));
        topics.clone().find(|topic| topic.topic == name).unwrap_or_else(|| self.topics.at(0))
    }
}

impl Lines {
    fn read() -> Result<Self, SampleError> {
        let cells = |line: &'static str| {
            let cells: Vec<&str> = line.split('\t').collect();
            <[&str; 3]>::try_from(cells).map_err(|_| unreadable(line))
        };
        WORDS.lines().skip(1).map(cells).collect::<Result<_, _>>().map(Self)
    }

    fn of(&self, kind: &str, topic: &str) -> Vec<&'static str> {
        self.0.iter().filter(|[of, about, _]| *of == kind && *about == topic).map(|[_, _, value]| *value).collect()
    }
}

impl<T> List<T> {
    fn new(values: Vec<T>, kind: &str) -> Result<Self, SampleError> {
        let mut values = values.into_iter();
        let first = values.next().ok_or_else(|| SampleError::unreadable(format!("there is no `{kind}`")))?;
        Ok(Self { first, rest: values.collect() })
    }

    pub fn len(&self) -> usize {
        1 + self.rest.len()
    }

    /// Returns the value at an index, which starts again after the last value.
    pub fn at(&self, index: usize) -> &T {
        (index % self.len()).checked_sub(1).and_then(|index| self.rest.get(index)).unwrap_or(&self.first)
    }
}

fn unreadable(line: &str) -> SampleError {
    SampleError::unreadable(format!("line `{line}`"))
}

impl Place {
    fn parse(text: &'static str) -> Option<Self> {
        let mut parts = text.split('|');
        let (country, state, city) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self { country, state: Some(state).filter(|state| !state.is_empty()), city })
    }
}
