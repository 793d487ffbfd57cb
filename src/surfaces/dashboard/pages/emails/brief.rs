//! The page that shows a prompt's brief before the email is written, so that users can correct, remove or add facts.

use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::Done;
use crate::features::emails;
use crate::features::emails::brief::{Brief, CallToAction, Constraint, Fact, FactKind, FactRole, Part, Signature, Span};
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::limits;

/// The fields of the form for new emails that this page submits again.
const FIELDS: [&str; 9] = ["brand", "prompt", "count", "languages", "images", "reference", "visibility", "model", "no-web"];

/// The kinds of facts, with their labels.
const KINDS: [(FactKind, &str); 17] = [
    (FactKind::Sentence, "Statement"),
    (FactKind::Percentage, "Percentage"),
    (FactKind::Amount, "Amount"),
    (FactKind::Code, "Code"),
    (FactKind::Date, "Date"),
    (FactKind::Period, "Period"),
    (FactKind::Time, "Time"),
    (FactKind::Place, "Place"),
    (FactKind::Capacity, "Number"),
    (FactKind::Price, "Price"),
    (FactKind::OldPrice, "Original price"),
    (FactKind::Minimum, "Minimum order"),
    (FactKind::Product, "Product"),
    (FactKind::Person, "Person"),
    (FactKind::Contact, "Contact details"),
    (FactKind::Link, "Link"),
    (FactKind::Condition, "Condition"),
];

/// The kinds of facts whose removal also removes the statements that contain them.
const VALUES: [FactKind; 9] = [
    FactKind::Percentage,
    FactKind::Amount,
    FactKind::Code,
    FactKind::Date,
    FactKind::Period,
    FactKind::Time,
    FactKind::Price,
    FactKind::OldPrice,
    FactKind::Minimum,
];

#[derive(Serialize)]
pub struct BriefPage {
    prompt: String,
    brand: String,
    /// The values of the form for new emails, which this page submits in hidden fields.
    fields: Vec<Hidden>,
    /// The brief as JSON, which the form submits together with the corrections.
    brief: String,
    facts: Vec<Chip>,
    lines: Vec<Line>,
    limits: Vec<String>,
    tone: Vec<String>,
    instructions: Vec<String>,
    unclear: Vec<String>,
    kinds: Vec<Choice>,
    text_max: usize,
}

/// Text that the email must contain in a certain place, such as the subject.
#[derive(Serialize)]
struct Line {
    name: &'static str,
    label: &'static str,
    value: String,
    characters_max: usize,
}

#[derive(Serialize)]
struct Hidden {
    name: &'static str,
    value: String,
}

#[derive(Serialize)]
struct Choice {
    word: String,
    label: &'static str,
}

/// A fact as shown in the form: a label for its kind and role, and its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chip {
    label: String,
    text: String,
}

impl Chip {
    fn new(fact: &Fact) -> Self {
        let kind = KINDS.iter().find(|(kind, _)| *kind == fact.kind).map_or("Fact", |(_, label)| *label);
        let role = match fact.role {
            Some(FactRole::Offer) => "offer",
            Some(FactRole::OfferStarts) => "offer starts",
            Some(FactRole::OfferEnds) => "offer ends",
            Some(FactRole::OrderBy) => "order by",
            Some(FactRole::Event) => "event",
            Some(FactRole::Closed) => "closed",
            Some(FactRole::Reopens) => "reopens",
            Some(FactRole::PriceChanges) => "price changes",
            Some(FactRole::Delivery) => "delivery",
            Some(FactRole::Happened) => "happened",
            Some(FactRole::Other) | None => "",
        };
        let label = if role.is_empty() { kind.to_owned() } else { format!("{kind}, {role}") };
        Self { label, text: fact.text.clone() }
    }

    pub fn all(brief: &Brief) -> Vec<Self> {
        brief.facts.iter().map(Self::new).collect()
    }
}

impl BriefPage {
    fn new(form: &Fields, brief: &Brief) -> Self {
        let word = |kind: FactKind| json!(kind).as_str().unwrap_or_default().to_owned();
        let text = |part: Option<&Part>| part.map(|part| part.text.clone()).unwrap_or_default();
        let line = |name, label, characters_max, value| Line { name, label, value, characters_max };
        let signature = brief.signature.as_ref();
        let parts = |parts: &[Part]| parts.iter().map(|part| part.text.clone()).collect::<Vec<_>>();
        let limit = |constraint: &Constraint| {
            let name = json!(constraint.kind).as_str().unwrap_or_default().replace('_', " ");
            constraint.value.as_ref().map_or(name.clone(), |value| format!("{name}: {value}"))
        };
        Self {
            prompt: form.get("prompt").to_owned(),
            brand: form.get("brand").to_owned(),
            fields: FIELDS.into_iter().map(|name| Hidden { name, value: form.get(name).to_owned() }).collect(),
            brief: json!(brief).to_string(),
            facts: Chip::all(brief),
            lines: vec![
                line("subject", "Subject", limits::EMAIL_SUBJECT_CHARACTERS_MAX, text(brief.subject.as_ref())),
                line("preheader", "Preheader", limits::EMAIL_PREHEADER_CHARACTERS_MAX, text(brief.preheader.as_ref())),
                line("headline", "Headline", limits::EMAIL_TITLE_CHARACTERS_MAX, text(brief.headline.as_ref())),
                line(
                    "button",
                    "Button label",
                    limits::EMAIL_LABEL_CHARACTERS_MAX,
                    text(brief.cta.as_ref().and_then(|cta| cta.label.as_ref())),
                ),
                line(
                    "signature",
                    "Signature: name",
                    limits::EMAIL_LABEL_CHARACTERS_MAX,
                    signature.map(|own| own.name.clone()).unwrap_or_default(),
                ),
                line(
                    "signature-title",
                    "Signature: job title",
                    limits::EMAIL_LABEL_CHARACTERS_MAX,
                    signature.and_then(|own| own.title.clone()).unwrap_or_default(),
                ),
            ],
            limits: brief.constraints.iter().map(limit).collect(),
            tone: parts(&brief.tone),
            instructions: parts(&brief.instructions),
            unclear: parts(&brief.unclear),
            kinds: KINDS.into_iter().map(|(kind, label)| Choice { word: word(kind), label }).collect(),
            text_max: limits::PROMPT_CHARACTERS_MAX,
        }
    }
}

page_context!(BriefPage, "email_brief.html", {
    use crate::engine::api::Operation;

    let brief = emails::ops::brief::ReadBrief::example().1.0;
    let part = |text: &str| Part { text: text.into(), span: None };
    let full = Brief {
        unclear: vec![part("the blue ones")],
        tone: vec![part("dry")],
        instructions: vec![part("Sell")],
        ..brief.clone()
    };
    let none = Brief { facts: Vec::new(), constraints: Vec::new(), ..brief };
    vec![Self::new(&Fields::default(), &full), Self::new(&Fields::default(), &none)]
});

/// Shows the submitted brief with the user's corrections or, if none was submitted, the brief of the prompt. `error` is the reason if the
/// generation could not be started.
pub async fn review(visit: &Visit, error: Option<&PageError>) -> Result<PageResponse, PageError> {
    let brief = match sent(visit).await? {
        Some(brief) => brief,
        None => {
            read(visit, visit.form.get("prompt"), super::parts(visit.form.get("languages")), visit.form.some("model")).await?
        }
    };
    Ok(PageResponse::draw_with(&BriefPage::new(&visit.form, &brief), error))
}

async fn read(visit: &Visit, prompt: &str, languages: Vec<&str>, model: Option<&str>) -> Result<Brief, PageError> {
    let wanted = json!({ "projectId": visit.form.get("brand"), "prompt": prompt, "languages": languages, "model": model });
    let Done(brief) = visit.ask::<emails::ops::brief::ReadBrief>(wanted).await?;
    Ok(brief)
}

/// Returns the submitted brief with the user's corrections; `None` if the form contains no brief.
pub async fn sent(visit: &Visit) -> Result<Option<Brief>, PageError> {
    let form = &visit.form;
    let Some(json) = form.some("brief") else { return Ok(None) };
    let mut brief: Brief = serde_json::from_str(json).map_err(|_| PageError::not_found())?;
    let part = |text: &str| Part { text: text.to_owned(), span: None };
    let mut facts = Vec::new();
    let mut removed: Vec<Span> = Vec::new();
    for (index, fact) in brief.facts.iter().enumerate() {
        let text = form.get(&format!("fact-{index}")).trim();
        if text.is_empty() || form.some(&format!("drop-{index}")).is_some() {
            removed.extend(fact.span.filter(|_| VALUES.contains(&fact.kind)));
            continue;
        }
        facts.push(match text == fact.text.trim() {
            true => fact.clone(),
            false => Fact { role: fact.role, story: fact.story, span: fact.span, ..typed(visit, fact.kind, text, &brief).await? },
        });
    }
    // Unclear parts and instructions that the user selected become facts, in the order in which the page lists them.
    for (name, parts) in [("use", &mut brief.unclear), ("say", &mut brief.instructions)] {
        let all = std::mem::take(parts).into_iter().enumerate();
        let (ticked, others): (Vec<_>, Vec<_>) = all.partition(|(index, _)| form.some(&format!("{name}-{index}")).is_some());
        let statement = |part: Part| Fact {
            kind: FactKind::Sentence,
            role: None,
            value: None,
            story: None,
            text: part.text,
            span: part.span,
        };
        facts.extend(ticked.into_iter().map(|(_, part)| statement(part)));
        *parts = others.into_iter().map(|(_, part)| part).collect();
    }
    let constraints = std::mem::take(&mut brief.constraints).into_iter().enumerate();
    let kept = constraints.filter(|(index, _)| form.some(&format!("lift-{index}")).is_none());
    brief.constraints = kept.map(|(_, constraint)| constraint).collect();
    if let Some(text) = form.some("new-text").map(str::trim).filter(|text| !text.is_empty()) {
        let kind = serde_json::from_value(Value::from(form.get("new-kind"))).unwrap_or(FactKind::Sentence);
        facts.push(typed(visit, kind, text, &brief).await?);
    }
    // A statement that contains a removed value would still state the value, so it is removed too, unless the user has changed it.
    let repeats = |fact: &Fact| {
        let inside = |span: Span| removed.iter().any(|own| span.start <= own.start && own.end <= span.end);
        !VALUES.contains(&fact.kind) && fact.span.is_some_and(inside) && brief.facts.contains(fact)
    };
    let (left_out, kept): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(repeats);
    brief.unclear.extend(left_out.into_iter().map(|fact| Part { text: fact.text, span: fact.span }));
    brief.facts = kept;
    let changed = |old: &Option<Part>, name: &str| {
        let text = form.get(name).trim();
        let same = old.as_ref().is_some_and(|old| old.text == text);
        if same { old.clone() } else { Some(part(text)).filter(|part| !part.text.is_empty()) }
    };
    brief.subject = changed(&brief.subject, "subject");
    brief.preheader = changed(&brief.preheader, "preheader");
    brief.headline = changed(&brief.headline, "headline");
    let (name, title) = (form.get("signature").trim(), form.get("signature-title").trim());
    let is_same = |own: &Signature| own.name == name && own.title.as_deref().unwrap_or_default() == title;
    brief.signature = brief.signature.filter(is_same).or_else(|| {
        let title = Some(title.to_owned()).filter(|title| !title.is_empty());
        (!name.is_empty()).then(|| Signature { name: name.to_owned(), title, span: None })
    });
    let link = brief.cta.as_ref().and_then(|cta| cta.link.clone());
    let label = changed(&brief.cta.as_ref().and_then(|cta| cta.label.clone()), "button");
    brief.cta = (label.is_some() || link.is_some()).then_some(CallToAction { label, link });
    Ok(Some(brief))
}

/// Returns a fact of this kind with the text that the user entered, and with the role and value found in that text.
async fn typed(visit: &Visit, kind: FactKind, text: &str, brief: &Brief) -> Result<Fact, PageError> {
    // The built-in rules are sufficient for a single fact; a language model would need seconds for each fact.
    let own = read(visit, text, vec![brief.language.as_str()], Some(super::COMPOSER)).await?;
    let found = own.facts.into_iter().find(|fact| fact.kind == kind);
    let (role, value) = found.map_or((None, None), |fact| (fact.role, fact.value));
    Ok(Fact { kind, role, text: text.to_owned(), value, story: None, span: None })
}
