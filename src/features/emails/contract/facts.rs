//! Checks that the email states the facts from the brief, gives numbers and dates the same roles as the brief, contains the prescribed
//! text, and does not repeat codes, products or sentences.

use std::collections::HashSet;

use jiff::civil::Time;

use super::add;
use super::lexicon::Words;
use super::mentions::{self, Mention, Value};
use super::outline::{Outline, Place};
use super::reading::{Reading, is_clock, number_of, share};
use super::text::{fold, same_address, sentences, spaced, words};
use crate::base::locale::LanguageTag;
use crate::features::emails::brief::{Brief, CallToAction, Fact, FactKind, FactRole, FactValue};
use crate::features::emails::document::Email;
use crate::features::emails::finding::{Finding, FindingKind};

/// The minimum share of a statement's words that the email must contain if it rephrases the statement.
const SHARE_MIN: f64 = 0.6;
/// The maximum number of words in a label before a statement.
const LABEL_WORDS_MAX: usize = 4;
/// The minimum number of words in a sentence that the email must not repeat. Shorter sentences, such as "See you soon.", can occur twice.
const REPEATED_WORDS_MIN: usize = 5;

pub fn check(email: &Reading, document: &Email, brief: &Brief, prompt: &str) -> Vec<Finding> {
    let missing = brief.facts.iter().filter(|fact| !states(email, fact)).map(lost);
    let misused = misused(email, brief, prompt);
    missing.chain(prescribed(email, document, brief)).chain(repeated(email, brief)).chain(misused).collect()
}

fn lost(fact: &Fact) -> Finding {
    let what = name_of(fact.kind);
    let message = format!("The email does not contain {:?} ({what}). Add it.", fact.text);
    Finding::new(FindingKind::FactMissing, message).about(&fact.text, fact.span)
}

fn name_of(kind: FactKind) -> &'static str {
    match kind {
        FactKind::Percentage => "percentage",
        FactKind::Amount => "amount",
        FactKind::Code => "code",
        FactKind::Date => "date",
        FactKind::Period => "period",
        FactKind::Time => "time",
        FactKind::Place => "place",
        FactKind::Capacity => "number",
        FactKind::Price => "price",
        FactKind::OldPrice => "original price",
        FactKind::Minimum => "minimum",
        FactKind::Product => "product",
        FactKind::Person => "person",
        FactKind::Contact => "contact",
        FactKind::Link => "link",
        FactKind::Condition => "condition",
        FactKind::Sentence => "statement",
    }
}

/// Returns whether the email states a fact. Links and email addresses can be anywhere, phone numbers in the body, header or footer, and
/// other facts only in the body.
pub fn states(email: &Reading, fact: &Fact) -> bool {
    if let Some(value) = &fact.value {
        // A date or a time can be written in words: "Silvester". Other values are not compared as text, because their digits can be part of
        // any number.
        let is_named =
            matches!(value, FactValue::Days { .. } | FactValue::Clock { .. }) && fact.text.contains(char::is_alphabetic);
        // A range such as "10-19" is also compared as text, because two numbers joined by a hyphen are almost always hours.
        let is_range = matches!(value, FactValue::Clock { end: Some(_), .. });
        return states_value(email, value) || (is_named || is_range) && email.contains(&fact.text);
    }
    match fact.kind {
        FactKind::Code => email.contains(&fact.text),
        FactKind::Link => email.outline.links.iter().any(|(_, href)| same_address(href, &fact.text)),
        FactKind::Contact => states_contact(email, &fact.text),
        FactKind::Place | FactKind::Product | FactKind::Person => states_words(email, &fact.text, 1.0),
        _ => states_words(email, &fact.text, SHARE_MIN) || states_labeled(email, &fact.text),
    }
}

/// Returns whether text from a brief in this language states values of the same kind as `value`, none of which equals `value`. Text without
/// a value of this kind, such as "Silvester", does not contradict `value`.
pub fn contradicts(text: &str, value: &FactValue, language: &LanguageTag) -> bool {
    let compare = |mention: &Value| match (mention, value) {
        (Value::Percent(own), FactValue::Percent { percent }) => Some(own == percent),
        (Value::Money { amount: own, currency: sign }, FactValue::Money { amount, currency }) => {
            Some(own == amount && sign.is_none_or(|sign| sign == currency))
        }
        (Value::Day { .. }, FactValue::Days { .. }) => Some(is_value(mention, value)),
        (Value::Weekday(day), FactValue::Days { first, last }) => {
            Some(std::iter::once(first).chain(last).any(|date| date.weekday().to_monday_one_offset() == *day))
        }
        (Value::Clock { .. }, FactValue::Clock { start, end }) => {
            Some(std::iter::once(start).chain(end).any(|time| is_clock(mention, minutes(*time))))
        }
        _ => None,
    };
    // A brief can quote other languages, so the text is also read in English and in the language detected in it.
    let own = Words::of(language.as_str().split('-').next().unwrap_or_default());
    let read = [Some(own), Some(Words::of("en")), Words::language_of(&fold(text))].into_iter().flatten();
    let matches: Vec<bool> =
        read.flat_map(|words| mentions::read(text, words)).filter_map(|mention| compare(&mention.value)).collect();
    !matches.is_empty() && !matches.contains(&true)
}

/// Returns whether the email states all the words after a statement's label: "Why: we doubled our hours". If an address follows the label,
/// the email must link to it.
fn states_labeled(email: &Reading, text: &str) -> bool {
    let labeled = [": ", " - ", " – "].into_iter().filter_map(|mark| text.split_once(mark)).min_by_key(|(label, _)| label.len());
    // A URL can also follow a label directly, without a colon or a dash: "Button to https://example.com".
    let labeled = labeled.or_else(|| text.find("http").map(|at| text.split_at(at)));
    let Some((label, rest)) = labeled.filter(|(label, _)| words(&fold(label)).count() <= LABEL_WORDS_MAX) else { return false };
    let address = rest.trim().trim_end_matches('.');
    let is_address = address.contains("://") && !address.contains(' ') && !label.is_empty();
    let is_linked = || email.outline.links.iter().any(|(_, href)| same_address(href, address));
    if is_address { is_linked() } else { states_words(email, rest, 1.0) }
}

fn states_value(email: &Reading, value: &FactValue) -> bool {
    match value {
        FactValue::Percent { percent } => email.mentions(|value| *value == Value::Percent(*percent)),
        FactValue::Money { amount, currency } => email.mentions(|value| match value {
            Value::Money { amount: found, currency: own } => found == amount && own.is_none_or(|own| own == currency),
            _ => false,
        }),
        FactValue::Days { first, last } => email.mentions_day(*first) && last.is_none_or(|last| email.mentions_day(last)),
        FactValue::Clock { start, end } => {
            email.mentions_clock(minutes(*start)) && end.is_none_or(|end| email.mentions_clock(minutes(end)))
        }
        FactValue::Count { count } => email.mentions_number(*count as f64),
    }
}

pub fn minutes(time: Time) -> u16 {
    u16::try_from(time.hour()).unwrap_or(0) * 60 + u16::try_from(time.minute()).unwrap_or(0)
}

fn states_contact(email: &Reading, text: &str) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let wanted = digits(text);
    if text.contains('@') {
        let address = fold(text);
        let linked = |(_, href): &(String, String)| href.strip_prefix("mailto:").is_some_and(|own| fold(own) == address);
        return email.outline.links.iter().any(linked) || email.outline.passages.iter().any(|own| own.folded.contains(&address));
    }
    let linked = email.outline.links.iter().any(|(_, href)| href.starts_with("tel:") && digits(href) == wanted);
    let is_frame = |place: Place| place == Place::Frame || place.is_body();
    let written = email.outline.passages.iter().filter(|own| is_frame(own.place)).any(|own| digits(&own.text).contains(&wanted));
    !wanted.is_empty() && (linked || written)
}

/// Returns whether the email states the numbers in `text`, and either two neighboring blocks of the body contain at least the share `least`
/// of the words in `text` or the whole body contains all of these words. If `text` contains a negation, the same blocks must contain a
/// negation. If the text is not in the email's language, only the numbers count.
fn states_words(email: &Reading, text: &str, least: f64) -> bool {
    // An address in a statement is a separate fact, and the email can link to it from any words.
    let is_address = |word: &&str| word.contains("://") || word.starts_with("www.");
    let text = text.split_whitespace().filter(|word| !is_address(word)).collect::<Vec<_>>().join(" ");
    let folded = fold(&text);
    let numbers = mentions::read(&text, email.words);
    if !numbers.iter().all(|mention| states_mention(email, &mention.value)) {
        return false;
    }
    // A statement in another language is translated, so its words cannot be compared.
    if Words::language_of(&folded).is_some_and(|own| own.code != email.words.code) {
        return true;
    }
    let is_content = |word: &&str| !email.words.is_stop(word) && !word.chars().all(|c| c.is_ascii_digit());
    let wanted: Vec<&str> = words(&folded).filter(is_content).collect();
    let negated = |words: &[&str]| words.iter().any(|word| email.words.table.negations.iter().any(|own| own == word));
    let is_negated = negated(&words(&folded).collect::<Vec<_>>());
    let blocks = email.blocks();
    // A day or month matches any of its names: "December" states "dec".
    let day = |word: &str| Some((email.words.month(word), email.words.weekday(word))).filter(|day| *day != (None, None));
    let same = |word: &'_ str, block: &[&str]| day(word).is_some_and(|own| block.iter().any(|other| day(other) == Some(own)));
    let share = |wanted: &[&str], block: &[&str]| {
        let open: Vec<&str> = wanted.iter().copied().filter(|word| !same(word, block)).collect();
        if open.is_empty() {
            return 1.0;
        }
        (share(&open, block) * open.len() as f64 + (wanted.len() - open.len()) as f64) / wanted.len() as f64
    };
    let is_stated = blocks.iter().any(|block| share(&wanted, block) >= least && (!is_negated || negated(block)));
    is_stated || share(&wanted, &blocks.concat()) >= 1.0 && (!is_negated || negated(&blocks.concat()))
}

/// Returns whether the email mentions `value`. Phone numbers can be in the body, header or footer, and other values only in the body.
/// Returns `true` for values that are compared as words.
fn states_mention(email: &Reading, value: &Value) -> bool {
    match value {
        Value::Day { day, month, .. } => email.mentions(|own| match own {
            Value::Day { day: own_day, month: own_month, other, .. } => {
                (own_day, own_month) == (day, month) || *other == Some((*day, *month))
            }
            _ => false,
        }),
        Value::Clock { minutes, .. } => email.mentions_clock(*minutes),
        Value::Phone(digits) => states_contact(email, digits),
        Value::Percent(_) | Value::Mixed(_) => email.mentions(|own| own == value),
        Value::Money { .. } | Value::Number(_) => number_of(value).is_none_or(|number| email.mentions_number(number)),
        Value::Weekday(_) | Value::Hour { .. } | Value::Worded(_) | Value::Today | Value::Tomorrow => true,
    }
}

/// Checks that the email contains the text that the brief prescribes.
pub fn prescribed(email: &Reading, document: &Email, brief: &Brief) -> Vec<Finding> {
    let outline = &email.outline;
    let lines = [
        ("subject", &brief.subject, Place::Subject),
        ("preheader", &brief.preheader, Place::Preheader),
        ("headline", &brief.headline, Place::Headline),
    ];
    let mut found = Vec::new();
    for (name, wanted, place) in lines {
        let Some(wanted) = wanted else { continue };
        let own = outline.line(place).map_or("", |line| line.folded.as_str());
        if spaced(own) != spaced(&fold(&wanted.text)) {
            let message = format!("The {name} is not {:?}. Set the {name} to this text.", wanted.text);
            let add = match place {
                Place::Headline => add::set_headline(document, outline, &wanted.text),
                _ => add::set(name, &wanted.text),
            };
            let finding = Finding::new(FindingKind::TextMissing, message).about(&wanted.text, wanted.span);
            found.push(Finding { add: Some(add), ..finding });
        }
    }
    found.extend(brief.cta.as_ref().and_then(|cta| button(outline, document, cta)));
    if let Some(signature) = &brief.signature {
        let lost = std::iter::once(&signature.name).chain(&signature.title).find(|text| !email.contains(text));
        if let Some(lost) = lost {
            let message = format!("The email does not contain {lost:?}, which is part of the signature. Add it.");
            let whole = std::iter::once(signature.name.as_str()).chain(signature.title.as_deref()).collect::<Vec<_>>().join("\n");
            let finding = Finding::new(FindingKind::TextMissing, message).about(lost, signature.span);
            found.push(Finding { add: Some(add::insert(document, &whole)), ..finding });
        }
    }
    found
}

/// Checks that a button has the prescribed label and link.
fn button(outline: &Outline, document: &Email, cta: &CallToAction) -> Option<Finding> {
    let label = cta.label.as_ref();
    let is_label = |own: &str| label.is_none_or(|label| spaced(&fold(own)) == spaced(&fold(&label.text)));
    let is_link = |own: &str| cta.link.as_ref().is_none_or(|link| same_address(own, link));
    if outline.buttons.iter().any(|button| is_label(&button.label) && is_link(&button.href)) {
        return None;
    }
    let named = outline.buttons.iter().any(|button| is_label(&button.label));
    let (message, text, add) = match (label, &cta.link) {
        (Some(label), _) if !named => {
            let message = format!("No button is labeled {:?}. Change the label of the main button, or add a button.", label.text);
            let insert = || add::insert_button(document, outline, &label.text, cta.link.as_deref());
            (message, label.text.as_str(), add::set_button(outline, "label", &label.text).or_else(insert))
        }
        (_, link) => {
            let link = link.as_deref().unwrap_or_default();
            let message = match label {
                Some(label) => format!("The button {:?} does not open {link}. Change its link.", label.text),
                None => format!("No button opens {link}. Change the link of the main button, or add a button."),
            };
            (message, link, add::set_button(outline, "href", link))
        }
    };
    let finding = Finding::new(FindingKind::TextMissing, message).about(text, label.and_then(|label| label.span));
    Some(Finding { add, ..finding })
}

/// Finds codes, products and sentences that the body repeats.
fn repeated(email: &Reading, brief: &Brief) -> Vec<Finding> {
    let mut found = Vec::new();
    for code in brief.facts.iter().filter(|fact| fact.kind == FactKind::Code) {
        let wanted = spaced(&fold(&code.text));
        let passages = email.outline.body().filter(|passage| passage.place != Place::Label);
        let mut blocks: Vec<Option<&str>> = passages
            .filter(|passage| spaced(&passage.folded).contains(&wanted))
            .map(|passage| passage.block.as_deref())
            .collect();
        blocks.dedup();
        if let [_, second, ..] = blocks[..] {
            let message = format!("The body contains the code {:?} more than once. Show it only once.", code.text);
            found.push(Finding::new(FindingKind::FactRepeated, message).about(&code.text, code.span).in_block(second));
        }
    }
    let mut seen = HashSet::new();
    for (block, name, _) in &email.outline.products {
        if !seen.insert(fold(name)) {
            let message = format!("The email shows the product {name:?} more than once. Show it only once.");
            found.push(Finding::new(FindingKind::FactRepeated, message).about(name, None).in_block(Some(block)));
        }
    }
    let mut seen = HashSet::new();
    for passage in email.outline.body().filter(|passage| passage.place == Place::Body) {
        for sentence in sentences(&passage.text) {
            let own = spaced(&fold(sentence));
            if words(&own).count() >= REPEATED_WORDS_MIN && !seen.insert(own) {
                let message = format!("The email contains {sentence:?} more than once. Remove the repetition.");
                let finding = Finding::new(FindingKind::FactRepeated, message).about(sentence, None);
                found.push(finding.in_block(passage.block.as_deref()));
            }
        }
    }
    found
}

/// Finds numbers and dates that have a different role in the email than in the brief.
fn misused(email: &Reading, brief: &Brief, prompt: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (passage, _) in email.passages().filter(|(passage, _)| passage.place != Place::Frame) {
        for sentence in sentences(&passage.text) {
            let folded = fold(sentence);
            let mentions = mentions::read(sentence, email.words);
            let mut days = given_roles(email.words, &folded, &mentions);
            days.retain(|(day, given)| {
                let mut own = roles_of(brief, day);
                contradict(given, &own) && {
                    own.extend(stated_roles(email.words, brief, prompt, day));
                    contradict(given, &own)
                }
            });
            for fact in &brief.facts {
                let Some(value) = &fact.value else { continue };
                let wrong = match value {
                    FactValue::Percent { .. } | FactValue::Money { .. } if !is_offer(fact, brief) => {
                        let mut stating = mentions.iter().filter(|mention| is_value(&mention.value, value));
                        stating.any(|mention| is_reduction(email.words, &folded[mention.range.end.min(folded.len())..]))
                    }
                    FactValue::Days { .. } => days.iter().any(|(day, _)| is_value(day, value)),
                    _ => false,
                };
                if wrong {
                    let role = match value {
                        FactValue::Days { .. } => "in a different sense from the brief",
                        _ => "as a discount",
                    };
                    let message = format!("{sentence:?} uses {:?} {role}. Use it as in the brief.", fact.text);
                    let finding = Finding::new(FindingKind::FactMisused, message).about(sentence, fact.span);
                    found.push(finding.in_block(passage.block.as_deref()));
                }
            }
        }
    }
    found
}

/// Returns the days that a sentence mentions, each with the roles that the sentence gives it. Phrases about an offer count only if the
/// sentence mentions a single day. If it mentions two days, one usually starts the offer and the other ends it. Other phrases apply to the
/// day directly after them.
fn given_roles<'m>(words: &Words, folded: &str, mentions: &'m [Mention]) -> Vec<(&'m Value, Vec<FactRole>)> {
    let table = &words.table;
    let offers = [(&table.offer_starts, FactRole::OfferStarts), (&table.offer_ends, FactRole::OfferEnds)];
    let others = [
        (&table.order_by, FactRole::OrderBy),
        (&table.event, FactRole::Event),
        (&table.closed, FactRole::Closed),
        (&table.reopens, FactRole::Reopens),
        (&table.price_changes, FactRole::PriceChanges),
    ];
    let days: Vec<_> = mentions.iter().filter(|mention| matches!(mention.value, Value::Day { .. })).collect();
    let is_only = days.len() == 1;
    let given = |mention: &'m Mention| {
        let before = folded.get(..mention.range.start).unwrap_or_default();
        let whole = offers.iter().filter(|(cues, _)| is_only && cues.iter().any(|cue| folded.contains(cue.as_str())));
        let near = others.iter().filter(|(cues, _)| is_after(words, cues, before));
        (&mention.value, whole.chain(near).map(|(_, role)| *role).collect())
    };
    days.into_iter().map(given).collect()
}

/// Returns whether one of these phrases directly precedes a date or its weekday.
fn is_after(words: &Words, cues: &[String], before: &str) -> bool {
    let end = words.patterns().weekday_last.find(before).map_or(before.len(), |found| found.start());
    let before = before[..end].trim_end_matches([',', ':', '·', ' ']);
    cues.iter().any(|cue| before.strip_suffix(cue.as_str()).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric)))
}

/// Returns whether the roles that a sentence gives to a day contradict the roles that the day can have.
fn contradict(given: &[FactRole], own: &[FactRole]) -> bool {
    let is_offer = |role: &&FactRole| matches!(role, FactRole::OfferStarts | FactRole::OfferEnds);
    let mut offers = given.iter().filter(is_offer).peekable();
    let is_other_offer = offers.peek().is_some() && !offers.any(|role| own.contains(role));
    is_other_offer || given.iter().any(|role| !own.is_empty() && own.iter().all(|own| excluded(*role).contains(own)))
}

/// Returns the roles that a day cannot have in the brief if the email gives it this role. Other combinations are valid: an order deadline
/// on the last day of an offer, or an event on a day with an unknown role.
fn excluded(role: FactRole) -> &'static [FactRole] {
    use FactRole as R;
    match role {
        R::OrderBy => &[R::OfferStarts, R::Event, R::Closed, R::Reopens, R::PriceChanges, R::Happened],
        R::Event => &[R::OfferEnds, R::OrderBy, R::PriceChanges, R::Delivery],
        R::Closed => &[R::OfferStarts, R::Reopens, R::PriceChanges],
        R::Reopens => &[R::OfferEnds, R::OrderBy, R::Closed, R::PriceChanges],
        R::PriceChanges => &[R::OfferEnds, R::OrderBy, R::Event, R::Closed, R::Reopens, R::Delivery],
        R::Offer | R::OfferStarts | R::OfferEnds | R::Delivery | R::Happened | R::Other => &[],
    }
}

/// Returns the roles of the facts that state this day. The period or date of an offer can be both its start and its end.
fn roles_of(brief: &Brief, day: &Value) -> Vec<FactRole> {
    let mut roles = Vec::new();
    for fact in &brief.facts {
        let (Some(value), Some(role)) = (&fact.value, fact.role) else { continue };
        if !is_value(day, value) {
            continue;
        }
        let is_period = matches!(value, FactValue::Days { last: Some(_), .. });
        match role {
            FactRole::Offer => roles.extend([role, FactRole::OfferStarts, FactRole::OfferEnds]),
            FactRole::OfferStarts | FactRole::OfferEnds if is_period => {
                roles.extend([FactRole::OfferStarts, FactRole::OfferEnds])
            }
            _ => roles.push(role),
        }
    }
    roles
}

/// Returns the roles that the prompt and the statements in the brief give to a day. An email may repeat their wording even if the brief
/// gives the day another role.
fn stated_roles(words: &Words, brief: &Brief, prompt: &str, day: &Value) -> Vec<FactRole> {
    let same = |other: &Value| match (day, other) {
        (Value::Day { day, month, .. }, Value::Day { day: other, month: of, .. }) => (day, month) == (other, of),
        _ => false,
    };
    let statements = brief.facts.iter().map(|fact| fact.text.as_str());
    let stories = brief.stories.iter().map(|story| story.text.text.as_str());
    let mut roles = Vec::new();
    for sentence in statements.chain(stories).chain([prompt]).flat_map(sentences) {
        let mentions = mentions::read(sentence, words);
        let given = given_roles(words, &fold(sentence), &mentions).into_iter().filter(|(other, _)| same(other));
        roles.extend(given.flat_map(|(_, given)| given));
    }
    roles
}

/// Returns whether a number is an offer in the brief or has the same value as an offer.
fn is_offer(fact: &Fact, brief: &Brief) -> bool {
    let reduces = |other: &&Fact| match other.role {
        Some(role) => role == FactRole::Offer,
        None => matches!(other.kind, FactKind::Percentage | FactKind::Amount),
    };
    brief.facts.iter().filter(reduces).any(|other| other.value == fact.value)
}

/// Returns whether the text starts with a word for a discount: "off".
fn is_reduction(words: &Words, rest: &str) -> bool {
    let rest = rest.trim_start();
    words.table.off.iter().any(|word| {
        let end = rest.strip_prefix(word.as_str());
        end.is_some_and(|end| !end.starts_with(char::is_alphanumeric))
    })
}

fn is_value(mention: &Value, value: &FactValue) -> bool {
    match (mention, value) {
        (Value::Percent(own), FactValue::Percent { percent }) => own == percent,
        (Value::Money { amount: own, .. }, FactValue::Money { amount, .. }) => own == amount,
        (Value::Day { .. }, FactValue::Days { first, last }) => {
            std::iter::once(first).chain(last).any(|date| super::reading::is_day(mention, *date))
        }
        _ => false,
    }
}
