//! The page that shows a prompt's brief before the email is written, so that users can correct, remove or add facts.

use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::Done;
use crate::features::emails;
use crate::features::emails::brief::{Brief, CallToAction, Constraint, Fact, FactKind, FactRole, Part};
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
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
    (FactKind::Contact, "Contact"),
    (FactKind::Link, "Link"),
    (FactKind::Condition, "Condition"),
];

#[derive(Serialize)]
pub struct BriefPage {
    prompt: String,
    brand: String,
    /// The values of the form for new emails, as hidden fields.
    fields: Vec<Hidden>,
    /// The brief as JSON, which the form submits together with the corrections.
    brief: String,
    facts: Vec<Chip>,
    subject: String,
    button: String,
    limits: Vec<String>,
    notes: Vec<String>,
    unclear: Vec<String>,
    kinds: Vec<Choice>,
    subject_max: usize,
    label_max: usize,
    text_max: usize,
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

/// A fact as shown in the form: its kind and role in words, and its text.
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
        let text = |part: &Option<Part>| part.as_ref().map(|part| part.text.clone()).unwrap_or_default();
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
            subject: text(&brief.subject),
            button: brief.cta.as_ref().map(|cta| text(&cta.label)).unwrap_or_default(),
            limits: brief.constraints.iter().map(limit).collect(),
            notes: [parts(&brief.tone), parts(&brief.instructions)].concat(),
            unclear: parts(&brief.unclear),
            kinds: KINDS.into_iter().map(|(kind, label)| Choice { word: word(kind), label }).collect(),
            subject_max: limits::EMAIL_SUBJECT_CHARACTERS_MAX,
            label_max: limits::EMAIL_LABEL_CHARACTERS_MAX,
            text_max: limits::PROMPT_CHARACTERS_MAX,
        }
    }
}

page_context!(BriefPage, "email_brief.html", {
    use crate::engine::api::Operation;

    let brief = emails::ops::brief::ReadBrief::example().1.0;
    let part = |text: &str| Part { text: text.into(), span: None };
    let full =
        Brief { unclear: vec![part("the blue ones")], tone: vec![part("dry")], subject: Some(part("Tea")), ..brief.clone() };
    let none = Brief { facts: Vec::new(), constraints: Vec::new(), ..brief };
    vec![Self::new(&Fields::default(), &full), Self::new(&Fields::default(), &none)]
});

/// Shows the brief with the corrections in the form.
pub async fn review(visit: &Visit) -> Result<Outcome, PageError> {
    let brief = match sent(visit).await? {
        Some(brief) => brief,
        None => read(visit, visit.form.get("prompt"), super::parts(visit.form.get("languages"))).await?,
    };
    Ok(Outcome::draw(&BriefPage::new(&visit.form, &brief)))
}

async fn read(visit: &Visit, prompt: &str, languages: Vec<&str>) -> Result<Brief, PageError> {
    let wanted = json!({ "projectId": visit.form.get("brand"), "prompt": prompt, "languages": languages });
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
    for (index, fact) in brief.facts.iter().enumerate() {
        let text = form.get(&format!("fact-{index}")).trim();
        if text.is_empty() || form.some(&format!("drop-{index}")).is_some() {
            continue;
        }
        facts.push(match text == fact.text.trim() {
            true => fact.clone(),
            false => Fact { role: fact.role, story: fact.story, span: fact.span, ..typed(visit, fact.kind, text, &brief).await? },
        });
    }
    for (index, unclear) in brief.unclear.iter().enumerate() {
        if form.some(&format!("use-{index}")).is_some() {
            let statement = Fact {
                kind: FactKind::Sentence,
                role: None,
                value: None,
                story: None,
                text: unclear.text.clone(),
                span: unclear.span,
            };
            facts.push(statement);
        }
    }
    if let Some(text) = form.some("new-text").map(str::trim).filter(|text| !text.is_empty()) {
        let kind = serde_json::from_value(Value::from(form.get("new-kind"))).unwrap_or(FactKind::Sentence);
        facts.push(typed(visit, kind, text, &brief).await?);
    }
    let unused = |index: usize| form.some(&format!("use-{index}")).is_none();
    brief.unclear = brief.unclear.into_iter().enumerate().filter(|(index, _)| unused(*index)).map(|(_, part)| part).collect();
    brief.facts = facts;
    let changed = |old: &Option<Part>, name: &str| {
        let text = form.get(name).trim();
        let same = old.as_ref().is_some_and(|old| old.text == text);
        if same { old.clone() } else { Some(part(text)).filter(|part| !part.text.is_empty()) }
    };
    brief.subject = changed(&brief.subject, "subject");
    let link = brief.cta.as_ref().and_then(|cta| cta.link.clone());
    let label = changed(&brief.cta.as_ref().and_then(|cta| cta.label.clone()), "button");
    brief.cta = (label.is_some() || link.is_some()).then_some(CallToAction { label, link });
    Ok(Some(brief))
}

/// Parses a fact that the user entered: returns a fact of this kind with the role and value found in its text.
async fn typed(visit: &Visit, kind: FactKind, text: &str, brief: &Brief) -> Result<Fact, PageError> {
    let own = read(visit, text, vec![brief.language.as_str()]).await?;
    let found = own.facts.into_iter().find(|fact| fact.kind == kind);
    let (role, value) = found.map_or((None, None), |fact| (fact.role, fact.value));
    Ok(Fact { kind, role, text: text.to_owned(), value, story: None, span: None })
}
