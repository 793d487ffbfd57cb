//! Creates the typed brief for a prompt with a language model.
//!
//! The model quotes the prompt. A part whose quote is not in the prompt is dropped, and longer passages that no part covers count as
//! unclear. The brief that the rule-based parser created from the same prompt supplies the language and, where available, the values of
//! numbers and dates.

use std::collections::HashMap;

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

use super::material::{Material, links_in};
use super::model::{BrandPrompt, ModelConversation, PROMPTS};
use crate::engine::language_model::{AnswerSchema, Usage};
use crate::features::emails::brief::{
    Brief, CallToAction, Constraint, ConstraintKind, Event, Fact, FactKind, FactRole, FactValue, Goal, Offer, Part, Signature,
    Span, Story,
};
use crate::features::models::MeteredModel;
use crate::vocab::limits;

/// Creates a brief. `rules` is the brief that the rule-based parser created from the same prompt.
pub async fn make(model: &MeteredModel, prompt: &str, rules: &Brief, material: &Material) -> (Result<Brief, String>, Usage) {
    let system = PROMPTS.write("brief", &json!({ "brand": BrandPrompt::of(material) }));
    let request = format!("<request>\n{prompt}\n</request>");
    let read = |json: &Value| {
        let answer: BriefAnswer = serde_path_to_error::deserialize(json).map_err(|error| vec![format!("{error}")])?;
        Ok(Quotes::new(prompt).brief(answer, rules))
    };
    ModelConversation::new(model, system, request, schema()).until(read).await
}

/// Returns the schema of a brief with quotes in place of spans.
pub fn schema() -> AnswerSchema {
    let quote = || json!({ "type": ["string", "null"] });
    let object = |fields: Value| {
        let required: Vec<&String> = fields.as_object().map(|fields| fields.keys().collect()).unwrap_or_default();
        json!({ "type": "object", "required": required, "properties": fields, "additionalProperties": false })
    };
    let or_null = |schema: Value| json!({ "anyOf": [schema, { "type": "null" }] });
    let list = |items: Value| json!({ "type": "array", "items": items, "maxItems": limits::BRIEF_PARTS_MAX });
    let or_no_word = |words: Vec<String>| {
        let words: Vec<Value> = words.into_iter().map(Value::from).chain([Value::Null]).collect();
        json!({ "enum": words })
    };
    let quotes = || list(json!({ "type": "string" }));
    let schema = object(json!({
        "purpose": { "enum": words_of::<Goal>() },
        "audience": quote(), "subject": quote(), "preheader": quote(), "headline": quote(),
        "facts": list(object(json!({
            "kind": { "enum": words_of::<FactKind>() }, "role": or_no_word(words_of::<FactRole>()), "quote": { "type": "string" },
            "sentence": quote(), "value": quote(), "story": { "type": ["integer", "null"] },
        }))),
        "stories": list(object(json!({ "heading": quote(), "quote": { "type": "string" }, "link": quote() }))),
        "offer": or_null(object(json!({ "scope": quote(), "freeDelivery": { "type": "boolean" }, "gift": quote() }))),
        "event": quote(),
        "cta": or_null(object(json!({ "label": quote(), "link": quote() }))),
        "signature": or_null(object(json!({ "name": { "type": "string" }, "title": quote(), "quote": { "type": "string" } }))),
        "tone": quotes(),
        "constraints": list(object(json!({ "kind": { "enum": words_of::<ConstraintKind>() }, "value": quote(), "quote": quote() }))),
        "instructions": quotes(), "unclear": quotes(),
    }));
    AnswerSchema { name: "make_brief", about: "What the request says, part by part.", schema }
}

/// Returns the serialized names of the variants of an enum without fields.
pub fn words_of<T: JsonSchema>() -> Vec<String> {
    fn collect(schema: &Value, words: &mut Vec<String>) {
        words.extend(schema["const"].as_str().map(str::to_owned));
        words.extend(schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
        schema["oneOf"].as_array().into_iter().flatten().for_each(|one| collect(one, words));
    }
    let mut words = Vec::new();
    collect(&Value::from(schema_for!(T)), &mut words);
    words
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BriefAnswer {
    purpose: Goal,
    audience: Option<String>,
    subject: Option<String>,
    preheader: Option<String>,
    headline: Option<String>,
    facts: Vec<FactAnswer>,
    stories: Vec<StoryAnswer>,
    offer: Option<OfferAnswer>,
    event: Option<String>,
    cta: Option<ButtonAnswer>,
    signature: Option<SignatureAnswer>,
    tone: Vec<String>,
    constraints: Vec<ConstraintAnswer>,
    instructions: Vec<String>,
    unclear: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FactAnswer {
    kind: FactKind,
    role: Option<FactRole>,
    quote: String,
    sentence: Option<String>,
    value: Option<String>,
    story: Option<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoryAnswer {
    heading: Option<String>,
    quote: String,
    link: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OfferAnswer {
    scope: Option<String>,
    free_delivery: bool,
    gift: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ButtonAnswer {
    label: Option<String>,
    link: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureAnswer {
    name: String,
    title: Option<String>,
    quote: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstraintAnswer {
    kind: ConstraintKind,
    value: Option<String>,
    quote: Option<String>,
}

/// Finds quotes in a prompt.
struct Quotes<'a> {
    prompt: &'a str,
    /// For each quote, the byte position where the search for its next occurrence starts.
    next: HashMap<String, usize>,
    links: Vec<String>,
}

impl<'a> Quotes<'a> {
    fn new(prompt: &'a str) -> Self {
        Self { prompt, next: HashMap::new(), links: links_in(prompt) }
    }

    /// Returns the part of the prompt that a quote repeats; `None` if the prompt does not contain the quote. If the same quote is used
    /// again, returns its next occurrence or, after the last occurrence, the first one.
    fn part(&mut self, quote: &str) -> Option<Part> {
        let quote = quote.trim();
        let from = self.next.get(quote).copied().unwrap_or(0);
        let later = self.prompt[from..].find(quote).map(|at| from + at);
        let at = later.or_else(|| self.prompt.find(quote)).filter(|_| !quote.is_empty())?;
        self.next.insert(quote.to_owned(), at + quote.len());
        let start = self.prompt[..at].chars().count() as u32;
        let span = Span { start, end: start + quote.chars().count() as u32 };
        Some(Part { text: quote.to_owned(), span: Some(span) })
    }

    fn maybe(&mut self, quote: Option<String>) -> Option<Part> {
        quote.and_then(|quote| self.part(&quote))
    }

    fn parts(&mut self, quotes: Vec<String>) -> Vec<Part> {
        quotes.iter().take(limits::BRIEF_PARTS_MAX).filter_map(|quote| self.part(quote)).collect()
    }

    /// Returns the link if the prompt contains it.
    fn link(&self, link: Option<String>) -> Option<String> {
        link.filter(|link| links_in(link).first().is_some_and(|link| self.links.contains(link)))
    }

    fn brief(mut self, answer: BriefAnswer, rules: &Brief) -> Brief {
        let stories: Vec<Option<Story>> =
            answer.stories.into_iter().take(limits::BRIEF_PARTS_MAX).map(|story| self.story(story)).collect();
        let facts = answer.facts.into_iter().take(limits::BRIEF_PARTS_MAX);
        let facts = facts.filter_map(|fact| self.fact(fact, &stories, rules)).collect();
        let cta = answer.cta.map(|cta| CallToAction { label: self.maybe(cta.label), link: self.link(cta.link) });
        let mut brief = Brief {
            purpose: answer.purpose,
            audience: self.maybe(answer.audience),
            language: rules.language,
            subject: self.maybe(answer.subject),
            preheader: self.maybe(answer.preheader),
            headline: self.maybe(answer.headline),
            facts,
            stories: stories.into_iter().flatten().collect(),
            offer: answer.offer.map(|offer| Offer {
                scope: self.maybe(offer.scope),
                free_delivery: offer.free_delivery,
                gift: self.maybe(offer.gift),
            }),
            event: self.maybe(answer.event).map(|name| Event { name }),
            cta: cta.filter(|cta| cta.label.is_some() || cta.link.is_some()),
            signature: answer.signature.and_then(|signature| self.signature(signature)),
            tone: self.parts(answer.tone),
            constraints: answer
                .constraints
                .into_iter()
                .take(limits::BRIEF_PARTS_MAX)
                .filter_map(|one| self.constraint(one))
                .collect(),
            instructions: self.parts(answer.instructions),
            unclear: self.parts(answer.unclear),
        };
        brief.unclear.extend(uncovered(&brief, self.prompt));
        brief
    }

    fn story(&mut self, story: StoryAnswer) -> Option<Story> {
        let text = self.part(&story.quote)?;
        let heading = story.heading.filter(|heading| text.text.contains(heading.trim()));
        Some(Story { heading: self.maybe(heading), text, link: self.link(story.link) })
    }

    fn fact(&mut self, fact: FactAnswer, stories: &[Option<Story>], rules: &Brief) -> Option<Fact> {
        let Part { text: quote, span } = self.part(&fact.quote)?;
        let sentence = fact.sentence.filter(|sentence| fact.kind == FactKind::Sentence && has_only_numbers_of(sentence, &quote));
        let by_rules = rules.facts.iter().find(|known| known.kind == fact.kind && overlap(known.span, span));
        let value = by_rules.and_then(|known| known.value.clone()).or_else(|| value(fact.kind, &fact.value?));
        // Dropping a story shifts the indexes of the stories after it.
        let place = fact.story.map(usize::from).filter(|place| stories.get(*place).is_some_and(Option::is_some));
        let story = place.map(|place| stories[..place].iter().flatten().count() as u8);
        Some(Fact { kind: fact.kind, role: fact.role, text: sentence.unwrap_or(quote), value, story, span })
    }

    fn signature(&mut self, signature: SignatureAnswer) -> Option<Signature> {
        let quote = self.part(&signature.quote)?;
        let title = signature.title.filter(|title| quote.text.contains(title.trim()));
        quote.text.contains(signature.name.trim()).then_some(Signature { name: signature.name, title, span: quote.span })
    }

    fn constraint(&mut self, constraint: ConstraintAnswer) -> Option<Constraint> {
        let span = self.maybe(constraint.quote)?.span;
        Some(Constraint { kind: constraint.kind, value: constraint.value, span })
    }
}

/// Returns whether each number in the sentence is also in the quote that the sentence restates.
fn has_only_numbers_of(sentence: &str, quote: &str) -> bool {
    let is_mark = |c: char| !c.is_ascii_digit();
    let known: Vec<&str> = quote.split(is_mark).collect();
    !sentence.trim().is_empty() && sentence.split(is_mark).all(|number| number.is_empty() || known.contains(&number))
}

fn overlap(one: Option<Span>, other: Option<Span>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.start < other.end && other.start < one.end)
}

/// Parses a value in the notation that the system prompt prescribes; `None` if the value is invalid.
fn value(kind: FactKind, text: &str) -> Option<FactValue> {
    let text = text.trim();
    let (first, last) = text.split_once('/').map_or((text, None), |(first, last)| (first, Some(last)));
    Some(match kind {
        FactKind::Percentage => FactValue::Percent { percent: text.trim_end_matches('%').trim().parse().ok()? },
        FactKind::Amount | FactKind::Price | FactKind::OldPrice | FactKind::Minimum => {
            let (amount, currency) = text.split_once(' ')?;
            let is_code = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
            if !is_code {
                return None;
            }
            FactValue::Money { amount: amount.parse().ok()?, currency: currency.to_owned() }
        }
        FactKind::Date | FactKind::Period => {
            FactValue::Days { first: first.parse().ok()?, last: last.map(str::parse).transpose().ok()? }
        }
        FactKind::Time => FactValue::Clock { start: first.parse().ok()?, end: last.map(str::parse).transpose().ok()? },
        FactKind::Capacity => FactValue::Count { count: text.parse().ok()? },
        _ => return None,
    })
}

/// The minimum number of words in an uncovered passage that is reported as unclear. Fewer words, such as "and until", only connect two
/// parts.
const UNCOVERED_WORDS_MIN: usize = 3;

/// Returns the longer passages in the prompt that no part covers.
fn uncovered(brief: &Brief, prompt: &str) -> Vec<Part> {
    let mut is_covered = vec![false; prompt.chars().count()];
    for Span { start, end } in spans(brief) {
        is_covered[start as usize..end as usize].fill(true);
    }
    let mut parts = Vec::new();
    let mut run: Option<(u32, String)> = None;
    let end = prompt.chars().chain(['\n']).zip(is_covered.into_iter().chain([true])).enumerate();
    for (at, (c, is_covered)) in end {
        if !is_covered {
            run.get_or_insert((at as u32, String::new())).1.push(c);
        } else if let Some((start, text)) = run.take() {
            let skipped = text.chars().take_while(|c| !c.is_alphanumeric()).count() as u32;
            let trimmed = text.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end();
            if trimmed.split_whitespace().count() >= UNCOVERED_WORDS_MIN {
                let start = start + skipped;
                let span = Span { start, end: start + trimmed.chars().count() as u32 };
                parts.push(Part { text: trimmed.to_owned(), span: Some(span) });
            }
        }
    }
    parts
}

fn spans(brief: &Brief) -> impl Iterator<Item = Span> {
    let Brief { audience, subject, preheader, headline, stories, offer, event, cta, .. } = brief;
    let offered = offer.iter().flat_map(|offer| [&offer.scope, &offer.gift]).flatten();
    let label = cta.iter().filter_map(|cta| cta.label.as_ref());
    let parts = [audience, subject, preheader, headline].into_iter().flatten().chain(stories.iter().map(|story| &story.text));
    let parts = parts.chain(offered).chain(event.iter().map(|event| &event.name)).chain(label);
    let parts = parts.chain(&brief.tone).chain(&brief.instructions).chain(&brief.unclear).filter_map(|part| part.span);
    let facts = brief.facts.iter().filter_map(|fact| fact.span);
    let rest = brief.constraints.iter().map(|constraint| constraint.span).chain(brief.signature.iter().map(|one| one.span));
    parts.chain(facts).chain(rest.flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::locale::LanguageTag;
    use crate::vocab::limits::SCHEMA_CHARACTERS_MAX;

    const PROMPT: &str = "Sale: 20% off teas until 30 November with FROST20. Keep it short. We will also close the small shop. \
                          Sign as Maartje, CTO. https://shop.example/sale";

    fn empty() -> Brief {
        let language = LanguageTag::parse("en").expect("the language is valid");
        serde_json::from_value(json!({ "purpose": "unclear", "language": language })).expect("the brief is valid")
    }

    fn read(change: impl FnOnce(&mut Value), rules: &Brief) -> Brief {
        let mut answer = json!({
            "purpose": "sale", "audience": null, "subject": null, "preheader": null, "headline": null, "stories": [], "offer": null,
            "facts": [
                { "kind": "percentage", "role": "offer", "quote": "20% off", "sentence": null, "value": "20", "story": null },
                { "kind": "date", "role": "offer_ends", "quote": "30 November", "sentence": null, "value": "2026-11-30", "story": null },
                { "kind": "code", "role": "offer", "quote": "FROST20", "sentence": null, "value": null, "story": null },
            ],
            "event": null, "cta": { "label": "Shop now", "link": "https://shop.example/sale" },
            "signature": { "name": "Maartje", "title": "CTO", "quote": "Sign as Maartje, CTO." },
            "tone": [], "constraints": [], "instructions": ["Keep it short."], "unclear": [],
        });
        change(&mut answer);
        assert!(jsonschema::is_valid(&schema().schema, &answer), "{answer}");
        Quotes::new(PROMPT).brief(serde_json::from_value(answer).expect("the answer is valid"), rules)
    }

    /// Returns the text in the prompt at a span.
    fn text(span: Option<Span>) -> String {
        let Span { start, end } = span.expect("the part has a span");
        PROMPT.chars().skip(start as usize).take((end - start) as usize).collect()
    }

    #[test]
    fn parts_have_the_spans_of_their_quotes_and_the_rest_is_unclear() {
        let brief = read(|_| {}, &empty());
        let facts: Vec<String> = brief.facts.iter().map(|fact| text(fact.span)).collect();
        assert_eq!(facts, ["20% off", "30 November", "FROST20"]);
        assert_eq!(brief.facts[0].value, Some(FactValue::Percent { percent: 20.0 }));
        assert_eq!(brief.facts[1].role, Some(FactRole::OfferEnds));
        assert_eq!(brief.signature.map(|signature| signature.name), Some("Maartje".to_owned()));
        let cta = brief.cta.expect("the button has a link");
        assert_eq!((cta.label, cta.link.as_deref()), (None, Some("https://shop.example/sale")), "the label is not in the prompt");
        let unclear: Vec<(&str, String)> = brief.unclear.iter().map(|part| (part.text.as_str(), text(part.span))).collect();
        let rest = "We will also close the small shop.";
        assert_eq!(unclear, [(rest, rest.to_owned())]);
    }

    #[test]
    fn a_quote_that_is_not_in_the_prompt_is_dropped() {
        let brief = read(
            |answer| {
                answer["facts"][0]["quote"] = json!("25% off");
                answer["facts"][2] = json!({
                    "kind": "sentence", "role": null, "quote": "close the small shop", "sentence": "Our shop closes on 3 May.",
                    "value": null, "story": null,
                });
                answer["cta"]["link"] = json!("https://evil.example/");
                answer["signature"]["name"] = json!("Anna");
                answer["instructions"] = json!(["Be funny."]);
            },
            &empty(),
        );
        let facts: Vec<&str> = brief.facts.iter().map(|fact| fact.text.as_str()).collect();
        assert_eq!(facts, ["30 November", "close the small shop"], "a sentence with new numbers is replaced by its quote");
        assert!(brief.cta.is_none() && brief.signature.is_none() && brief.instructions.is_empty());
        assert!(brief.unclear.iter().any(|part| part.text.contains("Keep it short")), "{:?}", brief.unclear);
    }

    #[test]
    fn values_of_the_rules_come_first_and_repeated_quotes_are_distinguished() {
        let mut rules = empty();
        rules.facts = read(|_| {}, &empty()).facts;
        rules.facts[1].value = Some(FactValue::Count { count: 7 });
        let brief = read(|answer| answer["instructions"] = json!(["shop", "shop", "shop"]), &rules);
        assert_eq!(brief.facts[1].value, Some(FactValue::Count { count: 7 }));
        let starts: Vec<u32> = brief.instructions.iter().filter_map(|part| Some(part.span?.start)).collect();
        assert!(starts[0] < starts[1] && starts.len() == 3, "{starts:?}");
    }

    #[test]
    fn the_schema_is_small() {
        let length = schema().schema.to_string().chars().count();
        assert!(length <= SCHEMA_CHARACTERS_MAX, "{length}");
    }
}
