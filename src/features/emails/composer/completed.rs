//! Completes a brief before the email is written.
//!
//! The prompt parser reports names, and words before an address, as unclear text, because they mean little on their own. Here they are
//! joined with the statement, contact or story that they belong to.

use super::language::{Bank, Language};
use super::purposes::{correct_by_facts, count, is_statement};
use super::text::{capital, folded, tidy};
use crate::features::emails::brief::{Brief, Fact, FactKind, Goal, Part, Span, Story};

/// The maximum number of words in a passage that is a label: "New in the shop: …".
const LABEL_WORDS_MAX: usize = 4;
/// The maximum number of words in a label that is the name of a product.
const NAME_WORDS_MAX: usize = 3;
/// The minimum number of characters in a product's name without its plural ending. Shorter strings occur in many words.
const NAME_STEM_CHARACTERS_MIN: usize = 3;
/// The number of characters between a story and the part that completes its last sentence: a punctuation mark and a space.
const SIGN_GAP: u32 = 2;
/// The maximum number of words that a conjunction adds to the scope of an offer: "all mugs and small bowls".
const SCOPE_WORDS_MAX: usize = 2;

/// Returns the brief with incomplete sentences completed, stories titled, length limits removed, the scope of the offer completed, and the
/// purpose corrected based on the facts.
pub fn completed(brief: &Brief, language: Language) -> Brief {
    let mut brief = brief.clone();
    for part in std::mem::take(&mut brief.unclear) {
        let is_joined = part.span.is_some_and(|span| {
            leads_to_contact(&mut brief, &part, span)
                || ends_story(&mut brief, &part, span)
                || names_product(&mut brief, &part, span, language, ":")
        });
        if !is_joined {
            brief.unclear.push(part);
        }
    }
    // The name before a statement can also be a label in an instruction: "Announce Budgets: set a cap per project …".
    let labels: Vec<Part> = brief.instructions.iter().filter(|part| part.text.trim_end().ends_with(':')).cloned().collect();
    for label in labels {
        let name = Part { text: label.text.trim().trim_end_matches(':').to_owned(), span: label.span };
        if let Some(span) = name.span {
            names_product(&mut brief, &name, span, language, " –");
        }
    }
    title_stories(&mut brief);
    drop_limits(&mut brief, language);
    whole_scope(&mut brief, language);
    drop_kinds(&mut brief, language);
    correct_by_facts(&mut brief, language);
    brief
}

/// Returns a statement as the continuation of a sentence: its first letter becomes lowercase, unless it starts with a name or a German
/// noun.
fn lowered(brief: &Brief, at: usize, language: Language) -> String {
    let fact = &brief.facts[at];
    let start = fact.span.map(|span| span.start);
    let is_name = |other: &Fact| {
        matches!(other.kind, FactKind::Person | FactKind::Product | FactKind::Place) && other.span.map(|span| span.start) == start
    };
    let mut letters = fact.text.chars();
    let first = letters.next();
    let is_spelled = letters.clone().next().is_none_or(|second| !second.is_lowercase());
    let word = folded(fact.text.split(' ').next().unwrap_or_default());
    let is_common = Bank::of(language).phrases("words.common").iter().any(|own| own == word.trim());
    if is_spelled || brief.facts.iter().any(is_name) || language == Language::De && !is_common {
        return fact.text.clone();
    }
    first.map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Turns a passage before an email address or a telephone number into a statement: "You can order vouchers by mail: hello@example.com".
fn leads_to_contact(brief: &mut Brief, part: &Part, span: Span) -> bool {
    if !part.text.trim_end().ends_with(':') || count(&part.text) <= LABEL_WORDS_MAX {
        return false;
    }
    let follows = |fact: &Fact| fact.span.and_then(|own| own.start.checked_sub(span.end)).is_some_and(|gap| gap <= 1);
    let is_it = |fact: &Fact| fact.kind == FactKind::Contact && fact.story.is_none() && follows(fact);
    let Some(at) = brief.facts.iter().position(is_it) else { return false };
    let text = format!("{} {}", capital(part.text.trim()), brief.facts[at].text.trim());
    let end = brief.facts[at].span.map_or(span.end, |own| own.end);
    let whole = Some(Span { start: span.start, end });
    brief.facts.insert(at, Fact { kind: FactKind::Sentence, role: None, text, value: None, story: None, span: whole });
    true
}

/// Adds an unclear part to the story whose last sentence it completes.
fn ends_story(brief: &mut Brief, part: &Part, span: Span) -> bool {
    let ends = |own: Span| own.end + SIGN_GAP == span.start && count(&part.text) > LABEL_WORDS_MAX;
    let Some(story) = brief.stories.iter_mut().find(|story| story.text.span.is_some_and(ends)) else { return false };
    let text = tidy(&story.text.text);
    story.text.text = format!("{}, {}", text.trim_end_matches('.'), part.text.trim());
    story.text.span = story.text.span.map(|own| Span { end: span.end, ..own });
    true
}

/// Puts a name before the first statement ("Budgets: set a cap") if the name stands before that statement in the prompt and also occurs in
/// the button's label or link. `sign` separates the name from the statement. Names from instructions get a dash, because a colon would
/// make them labels again.
fn names_product(brief: &mut Brief, part: &Part, span: Span, language: Language, sign: &str) -> bool {
    let name = tidy(&part.text);
    let label = brief.cta.as_ref().and_then(|cta| cta.label.as_ref()).map(|label| folded(&label.text)).unwrap_or_default();
    // The plural "s" is ignored in the button's label, so both the button "Set your first budget" and a link to /budgets contain the name
    // "Budgets".
    let own = folded(&name);
    let stem = own.trim_end().trim_end_matches('s');
    if stem.chars().count() < NAME_STEM_CHARACTERS_MIN {
        return false;
    }
    let link = brief.cta.as_ref().and_then(|cta| cta.link.as_deref()).map(folded).unwrap_or_default();
    let is_known = label.contains(stem) || link.contains(own.trim_end());
    let is_name = name.starts_with(char::is_uppercase) && count(&name) <= NAME_WORDS_MAX && is_known;
    let after = |fact: &Fact| is_statement(fact) && fact.span.is_some_and(|own| own.start >= span.end);
    let Some(at) = brief.facts.iter().position(after).filter(|_| is_name) else { return false };
    let is_first = brief.facts.iter().position(is_statement) == Some(at);
    if !is_first || folded(&brief.facts[at].text).contains(&folded(&name)) {
        return false;
    }
    let whole = Span { start: span.start, end: brief.facts[at].span.map_or(span.end, |own| own.end) };
    (brief.facts[at].text, brief.facts[at].span) = (format!("{name}{sign} {}", lowered(brief, at, language)), Some(whole));
    true
}

/// Uses the words before a story as its title: "Malin goes to Iceland: we fetched 200 kilos of wool". A short title, such as "News:", is
/// not used, because it can be the title of all stories.
fn title_stories(brief: &mut Brief) {
    let titles =
        brief.instructions.iter().filter(|part| part.text.trim_end().ends_with(':') && count(&part.text) > NAME_WORDS_MAX);
    let titles: Vec<(Part, Span)> = titles.filter_map(|part| Some((part.clone(), part.span?))).collect();
    for (title, span) in titles.into_iter().filter(|(_, span)| span.start > 0) {
        let follows = |own: Span| own.start.checked_sub(span.end).is_some_and(|gap| gap <= 1);
        let is_it = |story: &&mut Story| story.heading.is_none() && story.text.span.is_some_and(follows);
        if let Some(story) = brief.stories.iter_mut().find(is_it) {
            let text = title.text.trim().trim_end_matches(':').to_owned();
            story.heading = Some(Part { text, span: title.span });
        }
    }
}

/// Removes facts that only limit the length of the email: "max 40 characters".
fn drop_limits(brief: &mut Brief, language: Language) {
    let bank = Bank::of(language);
    brief.facts.retain(|fact| fact.kind != FactKind::Capacity || !bank.has_word("words.limits", &fact.text));
}

/// Extends the scope of the offer to include the words after a conjunction: "20% off all mugs and bowls". A part of the scope alone would
/// promise too little or too much.
fn whole_scope(brief: &mut Brief, language: Language) {
    let Some(scope) = brief.offer.as_ref().and_then(|offer| offer.scope.clone()) else { return };
    let bank = Bank::of(language);
    let common = bank.phrases("words.common");
    let own = tidy(&scope.text);
    let after = |text: &str| {
        let (before, rest) = text.split_once(own.as_str())?;
        let is_whole = !before.ends_with(char::is_alphanumeric);
        rest.strip_prefix(' ').filter(|_| is_whole).map(str::to_owned)
    };
    let Some(rest) = brief.facts.iter().filter(|fact| is_statement(fact)).find_map(|fact| after(&fact.text)) else { return };
    let mut words = rest.split(' ').peekable();
    let Some(and) = words.next().filter(|word| bank.phrases("words.and").iter().any(|and| and == word)) else { return };
    let is_plain = |word: &str| word.chars().all(|c| c.is_alphabetic() || c == '-') && !common.iter().any(|own| own == word);
    let mut more: Vec<&str> = Vec::new();
    while let Some(word) = words.peek() {
        let bare = word.trim_end_matches(['.', ',', ';', ':']);
        if !is_plain(bare) {
            break;
        }
        let is_last = bare.len() < word.len();
        more.push(bare);
        words.next();
        if is_last {
            break;
        }
    }
    // A longer passage is another clause: "and get a tote bag".
    let more = Some(more).filter(|more| more.len() <= SCOPE_WORDS_MAX).unwrap_or_default();
    let Some(offer) = brief.offer.as_mut().filter(|_| !more.is_empty()) else { return };
    offer.scope = Some(Part { text: format!("{own} {and} {}", more.join(" ")), span: scope.span });
}

/// Removes products that a launch email mentions only generically: "Our flower subscription: a seasonal bouquet every two weeks". The email
/// is not about the brand's product of this name, whose price can differ.
fn drop_kinds(brief: &mut Brief, language: Language) {
    if brief.purpose != Goal::Launch {
        return;
    }
    // After an indefinite article or a word such as "every", a product's name denotes a kind of product: "a seasonal bouquet" is not the
    // product "Seasonal bouquet".
    let articles = Bank::of(language).phrases("words.articles");
    let texts: Vec<String> = brief.facts.iter().filter(|fact| is_statement(fact)).map(|fact| fact.text.clone()).collect();
    let is_kind = |fact: &Fact| {
        let name = fact.text.trim();
        let is_after = |text: &String| {
            let (head, rest) = text.split_once(": ")?;
            let (before, _) = rest.split_once(name)?;
            let article = before.trim_end().rsplit(' ').next().unwrap_or_default().to_lowercase();
            Some(!folded(head).contains(&folded(name)) && articles.contains(&article))
        };
        fact.kind == FactKind::Product
            && name.starts_with(char::is_lowercase)
            && texts.iter().filter_map(is_after).any(|is_kind| is_kind)
    };
    brief.facts.retain(|fact| !is_kind(fact));
}
