//! Reads an email for the contract: its passages and the values that each passage mentions.

use jiff::civil::Date;

use super::lexicon::Words;
use super::mentions::{self, Mention, Value};
use super::outline::{Outline, Passage};
use super::text::{alike, fold, spaced, words};
use crate::features::emails::document::Email;

/// An email that is being checked.
pub struct Reading {
    pub outline: Outline,
    pub words: &'static Words,
    /// The mentions in each passage of the outline.
    pub mentions: Vec<Vec<Mention>>,
    pub today: Date,
}

impl Reading {
    pub fn of(email: &Email, today: Date) -> Self {
        let words = Words::of(email.language.primary());
        let outline = Outline::of(email);
        let mentions = outline.passages.iter().map(|passage| mentions::read(&passage.text, words)).collect();
        Self { outline, words, mentions, today }
    }

    /// Returns each passage with its mentions.
    pub fn passages(&self) -> impl Iterator<Item = (&Passage, &[Mention])> {
        self.outline.passages.iter().zip(self.mentions.iter().map(Vec::as_slice))
    }

    /// Returns whether the body mentions a value for which `fits` is true.
    pub fn mentions(&self, fits: impl Fn(&Value) -> bool) -> bool {
        let mut body = self.passages().filter(|(passage, _)| passage.place.is_body());
        body.any(|(_, mentions)| mentions.iter().any(|mention| fits(&mention.value)))
    }

    /// Returns whether a passage of the body contains these words consecutively.
    pub fn contains(&self, text: &str) -> bool {
        let wanted = spaced(&fold(text));
        wanted.trim().is_empty() || self.outline.body().any(|passage| spaced(&passage.folded).contains(&wanted))
    }

    /// Returns whether a passage of the body contains these words, or two neighboring blocks contain all of them except common
    /// words.
    pub fn states(&self, text: &str) -> bool {
        let folded = fold(text);
        let wanted: Vec<&str> = words(&folded).filter(|word| !self.words.is_stop(word)).collect();
        self.contains(text) || !wanted.is_empty() && self.blocks().iter().any(|block| share(&wanted, block) >= 1.0)
    }

    /// Returns the words of each pair of neighboring blocks in the body. If the body has only one block, returns the words of that block.
    pub fn blocks(&self) -> Vec<Vec<&str>> {
        let mut blocks: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
        for passage in self.outline.body() {
            match blocks.last_mut() {
                Some((block, own)) if *block == passage.block.as_deref() => own.extend(words(&passage.folded)),
                _ => blocks.push((passage.block.as_deref(), words(&passage.folded).collect())),
            }
        }
        // A heading and the text below it can form one statement.
        let pairs: Vec<Vec<&str>> = blocks.windows(2).map(|pair| [pair[0].1.as_slice(), &pair[1].1].concat()).collect();
        if pairs.is_empty() { blocks.into_iter().map(|(_, own)| own).collect() } else { pairs }
    }

    pub fn mentions_day(&self, date: Date) -> bool {
        let ahead = self.today.until(date).map_or(i32::MAX, |span| span.get_days());
        let weekday = date.weekday().to_monday_one_offset();
        self.mentions(|value| match value {
            Value::Day { .. } => is_day(value, date),
            Value::Weekday(day) => *day == weekday && (0..=DAYS_BY_WEEKDAY_MAX).contains(&ahead),
            Value::Today => ahead == 0,
            Value::Tomorrow => ahead == 1,
            _ => false,
        })
    }

    /// Returns whether the body mentions the time of day that is this many minutes after midnight.
    pub fn mentions_clock(&self, minutes: u16) -> bool {
        self.mentions(|value| is_clock(value, minutes))
    }

    /// Returns whether the body mentions this number in figures or in words.
    pub fn mentions_number(&self, number: f64) -> bool {
        self.mentions(|value| number_of(value) == Some(number))
    }
}

/// The maximum number of days from today to the day that a weekday without a date refers to.
const DAYS_BY_WEEKDAY_MAX: i32 = 7;
/// The last minute of a day, which some writers call midnight.
const LAST_MINUTE: u16 = 24 * 60 - 1;

/// Returns whether a mentioned day is this date. A day without a year can be in any year.
pub fn is_day(value: &Value, date: Date) -> bool {
    let Value::Day { day, month, year, other, .. } = value else { return false };
    let same = (*day, *month) == (date.day(), date.month()) || *other == Some((date.day(), date.month()));
    same && year.is_none_or(|year| year == date.year())
}

/// Returns whether a mentioned time can mean the time of day that is this many minutes after midnight. The last minute of a day can mean
/// midnight.
pub fn is_clock(value: &Value, minutes: u16) -> bool {
    let (Value::Clock { minutes: found, vague } | Value::Hour { minutes: found, vague }) = value else { return false };
    let is_midnight = |time: u16| time == 0 || time == LAST_MINUTE;
    *found == minutes || *vague && (found + 720) % 1440 == minutes || is_midnight(*found) && is_midnight(minutes)
}

/// Returns the number that a value states.
pub fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) | Value::Worded(number) | Value::Percent(number) => Some(*number),
        Value::Money { amount, .. } => Some(*amount),
        _ => None,
    }
}

/// Returns the share of the wanted words that the text contains, including inflected forms.
pub fn share(wanted: &[&str], text: &[&str]) -> f64 {
    if wanted.is_empty() {
        return 1.0;
    }
    let found = wanted.iter().filter(|word| text.iter().any(|other| alike(word, other))).count();
    found as f64 / wanted.len() as f64
}
