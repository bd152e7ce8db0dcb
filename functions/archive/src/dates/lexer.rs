//! The tokens of a date text.

use super::months;
use crate::fold::fold;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A number with its count of digits: `03` is a day or a month, and no year.
    Number(u16, usize),
    Month(i8),
    /// A folded word that names no month, or `~`.
    Word(String),
    /// `-`, `/` or `.`. Other dashes are `-`. A dot is one only between two numbers.
    Sign(char),
}

/// The longest text in bytes that is read. A cell may have 10 000 characters, and no date has 200.
const MAX_BYTES: usize = 200;

/// The most tokens that are read. The longest date has about twenty.
const MAX_TOKENS: usize = 24;

/// Words without meaning within a date: "the 3rd of March 1850", "3 de marzo de 1850", "die 3 Martii anno 1850".
const FILLERS: [&str; 16] =
    ["the", "of", "on", "ad", "de", "del", "el", "le", "den", "der", "am", "die", "dnia", "anno", "domini", "roku"];

/// Endings of ordinal numbers: 1st, 2nd, 3rd, 4th, 1er, 2e, 3de, 1ste, 4ten, 1ro.
const ORDINALS: [&str; 13] = ["st", "nd", "rd", "th", "er", "e", "eme", "de", "ste", "te", "ten", "o", "ro"];

/// September to December by their numbers, as clerks abbreviated them: 7ber, 8bre, 9bris, 10br.
const NUMBERED_MONTH: [&str; 4] = ["ber", "bre", "bris", "br"];

/// Splits a text into tokens. Returns `None` for a text with other characters, or one that is too long for a date.
pub fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut rest = text.trim();
    if rest.len() > MAX_BYTES {
        return None;
    }
    let mut tokens = Vec::new();
    // Whether the last character was a digit: `3rd` is one word, and `3 de` are two.
    let mut follows_digit = false;
    while let Some(first) = rest.chars().next() {
        let class = Class::of(first)?;
        let end = match class {
            Class::Digit | Class::Letter => rest.find(|next| Class::of(next) != Some(class)).unwrap_or(rest.len()),
            Class::Sign(_) | Class::Tilde | Class::Space => first.len_utf8(),
        };
        let (taken, left) = rest.split_at_checked(end)?;
        match class {
            Class::Digit => tokens.push(Token::Number(taken.parse().ok()?, taken.len())),
            Class::Sign(sign) => tokens.push(Token::Sign(sign)),
            Class::Tilde => tokens.push(Token::Word(taken.to_owned())),
            Class::Letter => push_word(&mut tokens, &fold(taken), follows_digit)?,
            Class::Space => {}
        }
        if tokens.len() > MAX_TOKENS {
            return None;
        }
        (rest, follows_digit) = (left, class == Class::Digit);
    }
    Some(without_dots_of_abbreviations(tokens))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Digit,
    Letter,
    Sign(char),
    Tilde,
    Space,
}

impl Class {
    fn of(character: char) -> Option<Self> {
        Some(match character {
            '0'..='9' => Self::Digit,
            '-' | '‐' | '‑' | '–' | '—' | '−' => Self::Sign('-'),
            '/' | '.' => Self::Sign(character),
            '~' => Self::Tilde,
            ',' => Self::Space,
            _ if character.is_whitespace() => Self::Space,
            // A combining mark is part of its word. Any other character makes a word that is not known.
            _ if character.is_alphabetic() || !character.is_ascii() => Self::Letter,
            _ => return None,
        })
    }
}

fn push_word(tokens: &mut Vec<Token>, word: &str, follows_digit: bool) -> Option<()> {
    if follows_digit {
        if let Some(Token::Number(number @ 7..=10, _)) = tokens.last()
            && NUMBERED_MONTH.contains(&word)
        {
            let month = i8::try_from(number + 2).ok()?;
            tokens.pop();
            tokens.push(Token::Month(month));
            return Some(());
        }
        if ORDINALS.contains(&word) {
            return Some(());
        }
    }
    if FILLERS.contains(&word) {
        return Some(());
    }
    // A word of several words, such as one with a sign of another script, is none.
    (!word.is_empty() && !word.contains(' ')).then_some(())?;
    // Only after a number, as in `3.V.1850` and `1850. V. 3.`: the `v.` of `v. 1850` may be "von" or "vers".
    let numeral = matches!(tokens.as_slice(), [.., Token::Number(..)] | [.., Token::Number(..), Token::Sign(_)])
        .then(|| months::numeral(word));
    let month = months::month(word).or(numeral.flatten());
    tokens.push(month.map_or_else(|| Token::Word(word.to_owned()), Token::Month));
    Some(())
}

/// Drops each dot that is not between two numbers: it ends an abbreviation or an ordinal number.
fn without_dots_of_abbreviations(tokens: Vec<Token>) -> Vec<Token> {
    let is_number = |token: Option<&Token>| matches!(token, Some(Token::Number(..)));
    let keeps = |index: usize, token: &Token| {
        *token != Token::Sign('.')
            || (is_number(index.checked_sub(1).and_then(|before| tokens.get(before)))
                && is_number(tokens.get(index + 1)))
    };
    tokens.iter().enumerate().filter(|(index, token)| keeps(*index, token)).map(|(_, token)| token.clone()).collect()
}
