//! The writer that calls a language model, first for an outline and then for the blocks, and validates the responses. A document must be
//! valid, link only to known pages and show only known images. Errors are returned to the model for correction, a limited number of times.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::material::Material;
use super::outline::{self, Outline};
use super::{Brief, Draft, EditRequest, EditResult, PlannedSeries, blocks, patch, patterns};
use crate::engine::language_model::{AnswerSchema, ModelRequest, Speaker, Turn, Usage};
use crate::engine::render::texts::Texts;
use crate::features::emails::document::{self, ChangeError, Direction, Email};
use crate::features::emails::finding::Finding;
use crate::features::emails::model::{GenerationRequest, Plan, PlannedSlot};
use crate::features::models::MeteredModel;
use crate::vocab::limits;

/// The prompts for the language model.
pub static PROMPTS: LazyLock<Texts> = LazyLock::new(|| {
    Texts::new(&[
        ("write", include_str!("../../../../assets/prompts/write.txt")),
        ("request", include_str!("../../../../assets/prompts/request.txt")),
        ("outline", include_str!("../../../../assets/prompts/outline.txt")),
        ("blocks", include_str!("../../../../assets/prompts/blocks.txt")),
        ("brief", include_str!("../../../../assets/prompts/brief.txt")),
        ("repair", include_str!("../../../../assets/prompts/repair.txt")),
        ("plan", include_str!("../../../../assets/prompts/plan.txt")),
        ("correct", include_str!("../../../../assets/prompts/correct.txt")),
        ("edit", include_str!("../../../../assets/prompts/edit.txt")),
        ("edit_html", include_str!("../../../../assets/prompts/edit_html.txt")),
    ])
});

/// The messages exchanged with the model until it returns one valid response.
pub struct ModelConversation<'a> {
    model: &'a MeteredModel,
    question: ModelRequest,
    usage: Usage,
    corrections_max: usize,
}

impl<'a> ModelConversation<'a> {
    pub fn new(model: &'a MeteredModel, system: String, request: String, schema: AnswerSchema) -> Self {
        let turns = vec![Turn { speaker: Speaker::User, text: request }];
        let question = ModelRequest { system, turns, picture: None, schema: Some(schema) };
        Self { model, question, usage: Usage::default(), corrections_max: limits::LANGUAGE_MODEL_CORRECTIONS_MAX }
    }

    /// Calls the model until `read` accepts the response. If `read` returns errors, sends them to the model for correction, at most
    /// `corrections_max` times.
    pub async fn until<T>(mut self, read: impl Fn(&Value) -> Result<T, Vec<String>>) -> (Result<T, String>, Usage) {
        let mut corrections = 0;
        loop {
            let (reply, usage) = self.model.ask(&self.question).await;
            self.usage = self.usage.plus(usage);
            let text = match reply {
                Ok(reply) => reply.text,
                Err(trouble) => return (Err(trouble.to_string()), self.usage),
            };
            let errors = match parse(&text).and_then(|json| read(&json)) {
                Ok(value) => return (Ok(value), self.usage),
                Err(errors) => errors,
            };
            if corrections == self.corrections_max {
                let first = errors.first().map(String::as_str).unwrap_or_default();
                let times = if corrections == 1 { "1 correction".into() } else { format!("{corrections} corrections") };
                let reason = format!("The language model's response was unusable even after {times}: {first}");
                return (Err(reason), self.usage);
            }
            corrections += 1;
            self.question.turns.push(Turn { speaker: Speaker::Model, text });
            self.question
                .turns
                .push(Turn { speaker: Speaker::User, text: PROMPTS.write("correct", &json!({ "errors": errors })) });
        }
    }
}

/// Parses the JSON in a response. Some models put the JSON in a code fence or after a sentence.
fn parse(text: &str) -> Result<Value, Vec<String>> {
    let trimmed = text.trim();
    let (open, close) = (trimmed.find('{'), trimmed.rfind('}'));
    let inner = match (open, close) {
        (Some(open), Some(close)) if open < close => &trimmed[open..=close],
        _ => trimmed,
    };
    serde_json::from_str(inner).map_err(|error| vec![format!("the response is not JSON: {error}")])
}

pub async fn plan(
    model: &MeteredModel,
    wanted: &GenerationRequest,
    material: &Material,
) -> (Result<PlannedSeries, String>, Usage) {
    let max = limits::EMAILS_PER_SERIES_MAX;
    if wanted.count == Some(1) {
        // A single email needs no plan.
        let title = wanted.topic().chars().take(LINE_CHARACTERS_MAX).collect();
        return (Ok(PlannedSeries { title, plan: None }), Usage::default());
    }
    let system = PROMPTS.write("plan", &json!({ "brand": BrandPrompt::of(material), "count": wanted.count, "count_max": max }));
    let request = format!("<request>\n{}\n</request>", request_text(wanted));
    let schema =
        AnswerSchema { name: "plan_emails", about: "The plan of one email or a series.", schema: plan_schema(wanted.count) };
    ModelConversation::new(model, system, request, schema).until(|json| read_plan(json, wanted.count)).await
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlanAnswer {
    title: String,
    emails: Vec<SlotAnswer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SlotAnswer {
    purpose: String,
    send_offset_days: i32,
}

fn plan_schema(count: Option<u8>) -> Value {
    let (min, max) = count.map_or((1, limits::EMAILS_PER_SERIES_MAX), |count| (usize::from(count), usize::from(count)));
    json!({
        "type": "object",
        "properties": {
            "title": { "type": "string" },
            "emails": {
                "type": "array", "minItems": min, "maxItems": max,
                "items": {
                    "type": "object",
                    "properties": { "purpose": { "type": "string" }, "sendOffsetDays": { "type": "integer", "minimum": 0, "maximum": DAYS_MAX } },
                    "required": ["purpose", "sendOffsetDays"], "additionalProperties": false,
                },
            },
        },
        "required": ["title", "emails"], "additionalProperties": false,
    })
}

/// The maximum length of a series in days.
const DAYS_MAX: i32 = 365;
/// The maximum length, in characters, of a title or a purpose. Each of them is a single line.
const LINE_CHARACTERS_MAX: usize = 200;

fn read_plan(json: &Value, count: Option<u8>) -> Result<PlannedSeries, Vec<String>> {
    let answer: PlanAnswer = serde_path_to_error::deserialize(json).map_err(|error| vec![format!("{error}")])?;
    let mut errors = Vec::new();
    let found = answer.emails.len();
    if count.is_some_and(|count| usize::from(count) != found) || !(1..=limits::EMAILS_PER_SERIES_MAX).contains(&found) {
        let wanted = count.map_or(format!("1 to {}", limits::EMAILS_PER_SERIES_MAX), |count| count.to_string());
        errors.push(format!("emails has {found} items; expected {wanted}"));
    }
    let days: Vec<i32> = answer.emails.iter().map(|slot| slot.send_offset_days).collect();
    if days.first().is_some_and(|first| *first != 0) || !days.is_sorted() || days.iter().any(|days| *days > DAYS_MAX) {
        errors.push(format!("emails: sendOffsetDays must start with 0, never decrease and be at most {DAYS_MAX}"));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let line = |text: &str| text.trim().chars().take(LINE_CHARACTERS_MAX).collect::<String>();
    let slots =
        answer.emails.iter().map(|slot| PlannedSlot { purpose: line(&slot.purpose), send_offset_days: slot.send_offset_days });
    let title = line(&answer.title);
    let plan = (found > 1).then(|| Plan { name: title.clone(), slots: slots.collect() });
    Ok(PlannedSeries { title, plan })
}

/// Writes an email in three steps: the outline, the blocks and, if the document has errors, corrections.
pub async fn write(model: &MeteredModel, brief: &Brief, material: &Material) -> (Result<Draft, String>, Usage) {
    let mut writing = Writing::new(model, brief, material);
    let document = writing.document().await;
    let written_by = model.client().name().to_owned();
    (document.map(|document| Draft { document, written_by, warnings: Vec::new() }), writing.usage)
}

/// The state while a model writes one email: the prompts, the known addresses, and the usage.
struct Writing<'a> {
    model: &'a MeteredModel,
    brief: &'a Brief,
    material: &'a Material,
    system: String,
    request: String,
    known: KnownAddresses,
    usage: Usage,
}

impl<'a> Writing<'a> {
    fn new(model: &'a MeteredModel, brief: &'a Brief, material: &'a Material) -> Self {
        let request = request(brief, None);
        // Reserve space for the request, the responses so far, and a schema.
        let reserved = request.len() + 2 * limits::SCHEMA_CHARACTERS_MAX;
        let system = system(brief, material, model.client().request_characters_max().saturating_sub(reserved));
        let known = KnownAddresses::new(material, &brief.wanted, brief.original.as_ref());
        Self { model, brief, material, system, request, known, usage: Usage::default() }
    }

    async fn document(&mut self) -> Result<Email, String> {
        let outline = self.outline().await?;
        let content = self.content(&outline).await?;
        self.corrected(outline.document(content)).await
    }

    /// Calls the model until `read` accepts the response. Adds the usage to the total.
    async fn ask<T>(
        &mut self,
        request: String,
        schema: AnswerSchema,
        read: impl Fn(&Value) -> Result<T, Vec<String>>,
    ) -> Result<T, String> {
        let (answer, usage) = ModelConversation::new(self.model, self.system.clone(), request, schema).until(read).await;
        self.usage = self.usage.plus(usage);
        answer
    }

    async fn outline(&mut self) -> Result<Outline, String> {
        let (brief, material) = (self.brief, self.material);
        let original = brief.original.as_ref();
        let request =
            PROMPTS.write("outline", &json!({ "request": request(brief, Some(brief)), "is_translation": original.is_some() }));
        let read = move |json: &Value| outline::read(json, &brief.language, material, original);
        self.ask(request, outline::schema(original.is_some()), read).await
    }

    /// Writes the content blocks, a few per request.
    async fn content(&mut self, outline: &Outline) -> Result<Vec<Value>, String> {
        let originals: Vec<Value> =
            self.brief.original.as_ref().map(|email| outline::content(email).collect()).unwrap_or_default();
        let mut written: Vec<Value> = Vec::new();
        for batch in blocks::batches(&outline.blocks, self.model.client().blocks_at_once()) {
            let ids: Vec<&str> = batch.iter().map(|block| block.id.as_str()).collect();
            let original: Vec<&Value> = originals.iter().skip(written.len()).take(batch.len()).collect();
            let planned = |block: &outline::PlannedBlock| json!({ "id": block.id, "kind": block.kind, "says": block.says });
            let request = PROMPTS.write(
                "blocks",
                &json!({
                    "request": self.request, "subject": outline.frame["subject"], "preheader": outline.frame["preheader"],
                    "outline": outline.blocks.iter().map(planned).collect::<Vec<_>>(), "ids": ids,
                    "pattern": patterns::of(outline.frame["purpose"].as_str().unwrap_or_default()),
                    "written": text_of(&written), "original": text_of(&original), "language": self.brief.language,
                }),
            );
            let known = &self.known;
            let read = |json: &Value| {
                let read = blocks::read(json, batch)?;
                let errors = outline.check(&read, |email| known.strange(email));
                if errors.is_empty() { Ok(read) } else { Err(errors) }
            };
            let asked = ModelConversation::new(self.model, self.system.clone(), request, blocks::schema(batch)).until(read).await;
            self.usage = self.usage.plus(asked.1);
            written.extend(asked.0?);
        }
        Ok(written)
    }

    /// Returns the email. If the document contains errors, asks the model to correct them.
    async fn corrected(&mut self, document: Value) -> Result<Email, String> {
        let errors = match self.checked(&document) {
            Ok(email) => return Ok(email),
            Err(errors) => errors,
        };
        let request = PROMPTS.write(
            "repair",
            &json!({ "request": self.request, "email": document.to_string(), "errors": errors, "notation": document::notation() }),
        );
        let schema = AnswerSchema { name: "repair_email", about: "The changes to the email.", schema: patch::schema() };
        let mut talk = ModelConversation::new(self.model, self.system.clone(), request, schema);
        talk.corrections_max -= 1;
        let read = |json: &Value| {
            let patch: patch::Patch = serde_path_to_error::deserialize(json).map_err(|error| vec![format!("{error}")])?;
            self.checked(&document::changed(document.clone(), &patch.changes).map_err(|errors| errors_of(&errors))?)
        };
        let (email, usage) = talk.until(read).await;
        self.usage = self.usage.plus(usage);
        email
    }

    /// Returns the email if it is valid, contains only known addresses and complies with the contract. Otherwise, returns the errors.
    fn checked(&self, json: &Value) -> Result<Email, Vec<String>> {
        let document = Email::from_json(json).map_err(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        let mut errors = self.known.strange(&document);
        errors.extend(messages(self.brief.breaches(&document, self.material)));
        if errors.is_empty() { Ok(document) } else { Err(errors) }
    }
}

fn errors_of(errors: &[ChangeError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// Returns the values as a JSON list; `None` if there are no values.
fn text_of<T: Serialize>(values: &[T]) -> Option<String> {
    (!values.is_empty()).then(|| json!(values).to_string())
}

/// Returns the system prompt. If the prompt is too long, leaves out pages first, then knowledge about the brand, then products.
fn system(brief: &Brief, material: &Material, characters_max: usize) -> String {
    let direction = match brief.language.parse().map(|language| Direction::of(&language)) {
        Ok(Direction::Rtl) => "its direction is rtl",
        _ => "its direction is ltr",
    };
    let (mut brand, mut pages) = (BrandPrompt::of(material), material.page_texts());
    let (images, links) = (material.images(), material.links(&brief.wanted));
    loop {
        let system = PROMPTS.write(
            "write",
            &json!({
                "brand": brand, "images": images, "links": links, "pages": pages, "language": brief.language, "direction": direction,
            }),
        );
        if system.len() <= characters_max || pages.pop().or_else(|| brand.facts.pop()).or_else(|| brand.products.pop()).is_none()
        {
            return system;
        }
    }
}

/// Returns the request for an email. If `documents` is given, as for the outline, the request also contains the reference email and the
/// original of a translation.
fn request(brief: &Brief, documents: Option<&Brief>) -> String {
    let slot = brief.plan.as_ref().map(|plan| {
        let others = plan.slots.iter().enumerate().filter(|(index, _)| *index != brief.slot);
        json!({
            "number": brief.slot + 1, "count": plan.slots.len(), "series": plan.name, "days": plan.slots[brief.slot].send_offset_days,
            "purpose": plan.slots[brief.slot].purpose, "others": others.map(|(_, slot)| &slot.purpose).collect::<Vec<_>>(),
        })
    });
    let text = |of: fn(&Brief) -> &Option<Email>| Some(of(documents?).as_ref()?.to_json().to_string());
    PROMPTS.write(
        "request",
        &json!({
            "prompt": request_text(&brief.wanted), "slot": slot, "pattern": text(|brief| &brief.pattern),
            "original": text(|brief| &brief.original),
            "original_language": brief.original.as_ref().map(|original| original.language.as_str().to_owned()),
            "language": brief.language,
        }),
    )
}

/// Returns the prompt followed by the brief as JSON. An empty prompt or a missing brief is left out.
fn request_text(wanted: &GenerationRequest) -> String {
    let brief = wanted.brief.as_ref().map(|brief| json!(brief).to_string());
    [Some(wanted.prompt.clone()), brief].into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

pub async fn edit(model: &MeteredModel, wish: &EditRequest, material: &Material) -> (Result<EditResult, String>, Usage) {
    let EditRequest { document, prompt, brief, .. } = wish;
    let system = PROMPTS.write(
        "edit",
        &json!({
            "brand": BrandPrompt::of(material), "images": material.images(), "links": material.site_links(),
            "notation": document::notation(),
        }),
    );
    let request = format!("The email:\n{}\n\n<request>\n{prompt}\n</request>", document.to_json());
    let about = "The changes to the email.";
    let talk =
        ModelConversation::new(model, system, request, AnswerSchema { name: "edit_email", about, schema: patch::schema() });
    let known = KnownAddresses::of_edit(material, document, prompt);
    let read = |json: &Value| -> Result<(Option<Email>, patch::Patch), Vec<String>> {
        let patch: patch::Patch = serde_path_to_error::deserialize(json).map_err(|error| vec![format!("{error}")])?;
        if patch.changes.is_empty() {
            return Ok((None, patch));
        }
        let changed = document.changed(&patch.changes).map_err(|errors| errors_of(&errors))?;
        let mut errors = known.strange(&changed);
        errors.extend(messages(brief.breaches_of_edit(document, &changed, prompt, material)));
        if !patch.drops_facts {
            let lost = brief.lost(document, &changed, material).into_iter();
            errors.extend(lost.map(|text| {
                format!(
                    "The changes remove {text:?}, a fact of the email. Keep it, or set drops_facts to true if the request asks \
                     to remove or replace it."
                )
            }));
        }
        if errors.is_empty() { Ok((Some(changed), patch)) } else { Err(errors) }
    };
    let (answer, usage) = talk.until(read).await;
    let edited = answer.and_then(|(changed, patch)| match changed {
        Some(changed) => {
            let written_by = model.client().name().to_owned();
            let lost: Vec<String> = brief.lost(document, &changed, material).iter().map(|text| format!("“{text}”")).collect();
            let lost = (!lost.is_empty()).then(|| format!("The email no longer contains {}.", lost.join(", ")));
            let done = std::iter::once(patch.summary).chain(lost).collect();
            Ok(EditResult { document: changed, written_by, done, not_done: patch.skipped, brief: None, notes: Vec::new() })
        }
        None => Err(format!("Nothing was changed: {}", patch.summary)),
    });
    (edited, usage)
}

fn messages(findings: Vec<Finding>) -> Vec<String> {
    findings.into_iter().map(|finding| finding.message).collect()
}

/// The addresses of links and images that an email may contain.
pub struct KnownAddresses {
    links: Vec<String>,
    /// The hosts that an email may link to with any path.
    hosts: Vec<String>,
    images: Vec<String>,
}

impl KnownAddresses {
    fn new(material: &Material, wanted: &GenerationRequest, original: Option<&Email>) -> Self {
        let mut known = Self { links: material.links(wanted), hosts: material.hosts(), images: material.image_urls() };
        known.add(original);
        known
    }

    fn of_edit(material: &Material, document: &Email, prompt: &str) -> Self {
        let mut known = Self::of_prompt(material, prompt);
        known.add(Some(document));
        known
    }

    /// Returns the addresses that the brand's material and the prompt contain.
    pub fn of_prompt(material: &Material, prompt: &str) -> Self {
        let mut known = Self { links: material.site_links(), hosts: material.hosts(), images: material.image_urls() };
        let given = super::material::links_in(prompt);
        known.images.extend(given.iter().cloned());
        known.links.extend(given);
        known
    }

    /// Adds the links that an email already contains to the known addresses.
    pub fn with_links<'a>(mut self, links: impl Iterator<Item = &'a str>) -> Self {
        self.links.extend(links.map(str::to_owned));
        self
    }

    /// Adds the images that an email already shows to the known addresses.
    pub fn with_images<'a>(mut self, images: impl Iterator<Item = &'a str>) -> Self {
        self.images.extend(images.map(str::to_owned));
        self
    }

    fn add(&mut self, document: Option<&Email>) {
        for address in document.map(addresses).unwrap_or_default() {
            match address.kind {
                AddressKind::Link => self.links.push(address.url),
                AddressKind::Image => self.images.push(address.url),
            }
        }
    }

    /// Returns an error for each unknown address in the document.
    fn strange(&self, document: &Email) -> Vec<String> {
        let strange = addresses(document).into_iter().filter(|address| !self.knows(address));
        strange
            .map(|Address { path, url, kind }| match kind {
                AddressKind::Link => format!("{path}: {url} is not among the links you may use"),
                AddressKind::Image => format!("{path}: {url} is not among the images you may use"),
            })
            .collect()
    }

    fn knows(&self, address: &Address) -> bool {
        match address.kind {
            AddressKind::Image => self.knows_image(&address.url),
            AddressKind::Link => self.knows_link(&address.url),
        }
    }

    pub fn knows_image(&self, url: &str) -> bool {
        self.images.iter().any(|known| known == url)
    }

    pub fn knows_link(&self, url: &str) -> bool {
        let host = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
        url.starts_with("{{")
            || self.links.iter().any(|known| same_page(known, url))
            || host.is_some_and(|host| self.hosts.iter().any(|known| known == host))
    }
}

/// Returns whether two URLs are equal, ignoring a trailing slash.
fn same_page(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

enum AddressKind {
    Link,
    Image,
}

/// An address in a document, with the path of its field.
struct Address {
    path: String,
    url: String,
    kind: AddressKind,
}

fn addresses(document: &Email) -> Vec<Address> {
    let mut found = Vec::new();
    collect(&document.to_json(), "", "", &mut found);
    found
}

fn collect(json: &Value, path: &str, key: &str, found: &mut Vec<Address>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match json {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| collect(value, &below(name), name, found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| collect(item, &format!("{path}[{index}]"), key, found));
        }
        Value::String(text) => match key {
            "href" => found.push(Address { path: path.to_owned(), url: text.clone(), kind: AddressKind::Link }),
            "src" | "logo" => found.push(Address { path: path.to_owned(), url: text.clone(), kind: AddressKind::Image }),
            _ => {
                let rich = document::Paragraph::parse(text);
                for link in rich.iter().flat_map(document::Paragraph::links) {
                    found.push(Address { path: path.to_owned(), url: link.to_string(), kind: AddressKind::Link });
                }
            }
        },
        _ => {}
    }
}

/// The brand in the form used in prompts.
#[derive(Serialize)]
pub struct BrandPrompt<'a> {
    name: &'a str,
    tagline: Option<&'a str>,
    description: Option<&'a str>,
    site: &'a str,
    guidelines: Option<&'a str>,
    voice: Option<String>,
    address: Option<&'a str>,
    company: Option<&'a str>,
    products: Vec<String>,
    facts: Vec<String>,
}

impl<'a> BrandPrompt<'a> {
    pub fn of(material: &'a Material) -> Self {
        let brand = &material.brand;
        Self {
            name: &material.name,
            tagline: brand.tagline.as_deref(),
            description: brand.description.as_deref(),
            site: &material.site,
            guidelines: material.guidelines.as_deref(),
            voice: material.voice(),
            address: brand.contact.address.as_deref(),
            company: brand.contact.company.as_deref(),
            products: material.products(),
            facts: material.facts(),
        }
    }
}
