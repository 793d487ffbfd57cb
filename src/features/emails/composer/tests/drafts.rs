//! Builds briefs by hand, without a prompt.

use jiff::civil::{Date, Time};

use super::tag;
use crate::features::emails::brief::*;

/// A brief under construction. Statements follow each other in an imagined prompt.
#[derive(Debug)]
pub struct DraftBrief {
    pub brief: Brief,
    /// The length of the imagined prompt so far.
    length: u32,
}

pub fn draft(purpose: Goal, language: &str) -> DraftBrief {
    DraftBrief { brief: Brief::empty(purpose, tag(language)), length: 0 }
}

impl DraftBrief {
    fn next(&mut self, text: &str) -> Span {
        let start = self.length;
        self.length += u32::try_from(text.chars().count()).expect("test texts are short");
        let span = Span { start, end: self.length };
        self.length += 1;
        span
    }

    pub fn part(&mut self, text: &str) -> Part {
        Part { text: text.to_owned(), span: Some(self.next(text)) }
    }

    /// Adds a statement and the facts that it contains.
    pub fn says(mut self, text: &str, facts: &[(FactKind, Option<FactRole>, &str, Option<FactValue>)]) -> Self {
        let span = self.next(text);
        self.brief.facts.push(Fact {
            kind: FactKind::Sentence,
            role: None,
            text: text.to_owned(),
            value: None,
            story: None,
            span: Some(span),
        });
        for (kind, role, words, value) in facts {
            let at = text.find(words).expect("the statement has the fact");
            let start = span.start + u32::try_from(text[..at].chars().count()).expect("test texts are short");
            let end = start + u32::try_from(words.chars().count()).expect("test texts are short");
            let span = Some(Span { start, end });
            self.brief.facts.push(Fact {
                kind: *kind,
                role: *role,
                text: (*words).to_owned(),
                value: value.clone(),
                story: None,
                span,
            });
        }
        self
    }

    /// Adds statements as the items of a list.
    pub fn lists(mut self, items: &[&str]) -> Self {
        for item in items {
            self.length += 2;
            self = self.says(item, &[]);
        }
        self
    }

    /// Adds a fact that no statement contains.
    pub fn fact(mut self, kind: FactKind, role: Option<FactRole>, text: &str, value: Option<FactValue>) -> Self {
        let span = Some(self.next(text));
        self.brief.facts.push(Fact { kind, role, text: text.to_owned(), value, story: None, span });
        self
    }

    pub fn story(mut self, heading: Option<&str>, text: &str, link: Option<&str>) -> Self {
        let heading = heading.map(|heading| Part { text: heading.to_owned(), span: None });
        let text = self.part(text);
        self.brief.stories.push(Story { heading, text, link: link.map(str::to_owned) });
        self
    }

    pub fn constrained(mut self, kind: ConstraintKind, value: Option<&str>) -> Self {
        self.brief.constraints.push(Constraint { kind, value: value.map(str::to_owned), span: None });
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Brief)) -> Self {
        change(&mut self.brief);
        self
    }
}

pub fn day(month: i8, day: i8) -> Option<FactValue> {
    Some(FactValue::Days { first: Date::constant(2026, month, day), last: None })
}

pub fn days(from: (i8, i8), to: (i8, i8)) -> Option<FactValue> {
    let date = |(month, day)| Date::constant(if month < 6 { 2027 } else { 2026 }, month, day);
    Some(FactValue::Days { first: date(from), last: Some(date(to)) })
}

pub fn clock(hour: i8, minute: i8) -> Option<FactValue> {
    Some(FactValue::Clock { start: Time::constant(hour, minute, 0, 0), end: None })
}

pub fn percent(percent: f64) -> Option<FactValue> {
    Some(FactValue::Percent { percent })
}

pub fn money(amount: f64, currency: &str) -> Option<FactValue> {
    Some(FactValue::Money { amount, currency: currency.to_owned() })
}
