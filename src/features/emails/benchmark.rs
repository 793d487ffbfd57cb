//! Benchmarks a language model: the model writes 40 emails from the briefs in `assets/models`, and the emails are compared with the briefs.
//!
//! Nothing is stored, and no account is charged. The figures help to choose a model; they do not replace reading some of the emails.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use super::brief;
use super::contract::{self, Terms};
use super::document::Email;
use super::finding::{Finding, FindingKind};
use super::model::{GenerationRequest, Source, Visibility};
use super::writing::material::Material;
use super::writing::{Brief, Writer};
use crate::base::locale::LanguageTag;
use crate::engine::language_model::{Client, ModelError, Usage};
use crate::features::projects::brand::{Brand, BrandContact, BrandProduct};
use crate::vocab::settings::OnFailure;

/// The test briefs, and the brands that send the emails.
static ASSETS: LazyLock<Assets> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../assets/models/briefs.json")).expect("the briefs are valid"));

#[derive(Deserialize)]
struct Assets {
    brands: BTreeMap<String, TestBrand>,
    briefs: Vec<TestBrief>,
}

#[derive(Deserialize)]
struct TestBrand {
    name: String,
    site: String,
    description: String,
    company: String,
    address: String,
    /// The name, address, price and currency of each product.
    products: Vec<[String; 4]>,
}

/// A brief, and what its email must and must not contain.
#[derive(Deserialize)]
struct TestBrief {
    id: String,
    brand: String,
    language: String,
    prompt: String,
    /// The facts, each with its accepted spellings.
    facts: Vec<Vec<String>>,
    /// Notes to the writer, which the email must not contain.
    forbidden: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchmarkReport {
    pub model: String,
    pub briefs: usize,
    /// The number of emails that the model wrote.
    pub written: usize,
    /// The number of times that the model declined to write.
    pub refusals: usize,
    /// The number of emails that failed for any other reason, such as an invalid response.
    pub failures: usize,
    pub facts: usize,
    pub facts_kept: usize,
    /// The number of notes to the writer that appear in emails.
    pub leaks: usize,
    /// How many numbers, dates, codes, names and links in the emails are in neither the brief nor the brand.
    pub inventions: usize,
    pub seconds: f64,
    pub calls: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The cost in the currency of the configured prices.
    pub cost: f64,
    pub results: Vec<BriefResult>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BriefResult {
    pub id: String,
    pub language: String,
    pub subject: Option<String>,
    /// Why the model wrote no email; `None` if it wrote one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The facts that the email lacks, each in its first spelling.
    pub lost: Vec<String>,
    pub leaked: Vec<String>,
    pub invented: Vec<String>,
    pub seconds: f64,
    pub cost: f64,
}

/// The number of failures after which the benchmark stops if every brief so far has failed, for example because the model cannot be
/// reached.
const HOPELESS_AFTER: usize = 3;

/// The date on which the briefs were written. The weekdays in the briefs match the dates of that winter.
const WRITTEN_ON: Date = Date::constant(2025, 11, 24);

/// Requests an email from the model for each brief, one after the other. Stops if the first briefs all fail. `progress` receives
/// each result.
pub async fn run(client: &Arc<Client>, mut progress: impl FnMut(&BriefResult)) -> BenchmarkReport {
    let today = WRITTEN_ON;
    let mut report = BenchmarkReport { model: client.name().to_owned(), briefs: ASSETS.briefs.len(), ..Default::default() };
    for brief in &ASSETS.briefs {
        let started = Instant::now();
        let writer = Writer::unmetered(client.clone());
        let (drafted, usage) = writer.write(brief.input(client.name(), today), Arc::new(brief.material())).await;
        let drafted = drafted.map(|draft| draft.document);
        let result = brief.judge(drafted, today, started.elapsed().as_secs_f64(), usage);
        report.add(brief, &result, usage);
        progress(&result);
        report.results.push(result);
        if report.written == 0 && report.refusals == 0 && report.failures == HOPELESS_AFTER {
            break;
        }
    }
    report
}

impl BenchmarkReport {
    fn add(&mut self, brief: &TestBrief, result: &BriefResult, usage: Usage) {
        match &result.error {
            None => self.written += 1,
            Some(reason) if reason.starts_with(ModelError::DECLINED) => self.refusals += 1,
            Some(_) => self.failures += 1,
        }
        self.facts += brief.facts.len();
        self.facts_kept += brief.facts.len() - result.lost.len();
        self.leaks += result.leaked.len();
        self.inventions += result.invented.len();
        self.seconds += result.seconds;
        self.cost += result.cost;
        self.calls += usage.calls;
        self.input_tokens += usage.input_tokens;
        self.output_tokens += usage.output_tokens;
    }

    /// Returns whether the benchmark stopped early, because the first attempts all failed.
    pub fn is_hopeless(&self) -> bool {
        self.results.len() < self.briefs
    }

    /// Formats the figures for a terminal.
    pub fn text(&self) -> String {
        let share = |part: usize, all: usize| if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 };
        let mean = self.seconds / self.results.len().max(1) as f64;
        format!(
            "model       {}\nwritten     {} of {}\nfacts kept  {} of {} ({:.1}%)\nleaks       {}\ninventions  {}\nrefusals    {}\n\
             failures    {}\nseconds     {:.1} ({mean:.1} per email)\ncost        {:.4} ({} requests, {} input and {} output tokens)\n",
            self.model,
            self.written,
            self.briefs,
            self.facts_kept,
            self.facts,
            share(self.facts_kept, self.facts),
            self.leaks,
            self.inventions,
            self.refusals,
            self.failures,
            self.seconds,
            self.cost,
            self.calls,
            self.input_tokens,
            self.output_tokens,
        )
    }
}

impl BriefResult {
    /// Formats the result as one line.
    pub fn line(&self) -> String {
        let list = |label: &str, items: &[String]| match items {
            [] => String::new(),
            items => format!("; {label}: {}", items.join(" | ")),
        };
        let end = match (&self.error, &self.subject) {
            (Some(reason), _) => format!("failed: {reason}"),
            (None, subject) => subject.clone().unwrap_or_default(),
        };
        let (lost, leaked, invented) = (list("lost", &self.lost), list("leaked", &self.leaked), list("invented", &self.invented));
        format!("{:<18} {:>5.1} s  {end}{lost}{leaked}{invented}\n", self.id, self.seconds)
    }
}

impl TestBrief {
    fn brand(&self) -> &'static TestBrand {
        &ASSETS.brands[&self.brand]
    }

    fn material(&self) -> Material {
        let TestBrand { name, site, description, company, address, products } = self.brand();
        let product = |[name, url, price, currency]: &[String; 4]| BrandProduct {
            name: name.clone(),
            url: Some(url.clone()),
            price: Some(price.clone()),
            price_before: None,
            currency: Some(currency.clone()),
            image: None,
            description: None,
        };
        let contact = BrandContact { company: Some(company.clone()), address: Some(address.clone()), ..Default::default() };
        let brand = Brand {
            name: Some(name.clone()),
            description: Some(description.clone()),
            products: products.iter().map(product).collect(),
            contact,
            ..Default::default()
        };
        Material { name: name.clone(), site: site.clone(), brand, ..Default::default() }
    }

    fn input(&self, model: &str, today: Date) -> Brief {
        let wanted = GenerationRequest {
            prompt: self.prompt.clone(),
            brief: None,
            model: model.to_owned(),
            on_failure: OnFailure::Fail,
            languages: vec![self.language.clone()],
            count: Some(1),
            images: Vec::new(),
            reference: None,
            web: false,
            pages: Vec::new(),
            visibility: Visibility::Private,
            source: Source::Prompt,
        };
        let language = self.language.clone();
        Brief {
            wanted,
            plan: None,
            slot: 0,
            language,
            pattern: None,
            original: None,
            others: None,
            edits: Vec::new(),
            seed: 1,
            today,
        }
    }

    fn judge(&self, drafted: Result<Email, String>, today: Date, seconds: f64, usage: Usage) -> BriefResult {
        let empty = BriefResult {
            id: self.id.clone(),
            language: self.language.clone(),
            subject: None,
            error: None,
            lost: self.facts.iter().filter_map(|spellings| spellings.first().cloned()).collect(),
            leaked: Vec::new(),
            invented: Vec::new(),
            seconds,
            cost: usage.micro_cost as f64 / 1e6,
        };
        let email = match drafted {
            Ok(email) => email,
            Err(reason) => return BriefResult { error: Some(reason), ..empty },
        };
        let text = printed(&email);
        let breaches = self.breaches(&email, today);
        let texts_of = |kind: FindingKind| {
            let found = breaches.iter().filter(move |finding| finding.kind == kind);
            found.map(|finding| finding.text.clone().unwrap_or_else(|| finding.message.clone()))
        };
        let mut leaked: Vec<String> = self.forbidden.iter().filter(|note| contains(&text, note)).cloned().collect();
        // Count a note only once if the parser also reads it as an instruction.
        let is_new = |note: &String| !self.forbidden.iter().any(|known| contains(&normal(note), known));
        leaked.extend(texts_of(FindingKind::InstructionPrinted).filter(is_new));
        let lost = self.facts.iter().filter(|spellings| !spellings.iter().any(|spelling| contains(&text, spelling)));
        BriefResult {
            subject: Some(email.subject.as_str().to_owned()),
            lost: lost.filter_map(|spellings| spellings.first().cloned()).collect(),
            leaked,
            invented: texts_of(FindingKind::NotInBrief).collect(),
            ..empty
        }
    }

    /// Checks an email against the brief that the parser reads from the prompt, and returns the findings.
    fn breaches(&self, email: &Email, today: Date) -> Vec<Finding> {
        let material = self.material();
        let language = LanguageTag::parse(&self.language).ok();
        let brief = brief::parse(&self.prompt, &material.brand, language.as_ref(), today);
        contract::check(email, &Terms { brief: &brief, prompt: &self.prompt, material: &material, today })
    }
}

/// Returns the text and the links of an email on one line, in normalized form.
fn printed(email: &Email) -> String {
    let mut texts = vec![email.subject.as_str().to_owned(), email.preheader.as_str().to_owned()];
    collect(&email.to_json()["blocks"], "", &mut texts);
    normal(&texts.join(" \n "))
}

fn collect(json: &Value, key: &str, texts: &mut Vec<String>) {
    match json {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| collect(value, name, texts)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, key, texts)),
        Value::String(text) if !matches!(key, "id" | "type" | "src" | "logo" | "until") => texts.push(text.replace('*', "")),
        _ => {}
    }
}

/// Returns text in lowercase with plain spaces and apostrophes.
fn normal(text: &str) -> String {
    let text = text.to_lowercase().replace(['\u{2019}', '\u{2018}'], "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn contains(text: &str, words: &str) -> bool {
    let words = normal(words);
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(&words).any(|(at, found)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + found.len()..].chars().next());
        let joins_before = is_word(before) && is_word(words.chars().next());
        let joins_after = is_word(after) && is_word(words.chars().next_back());
        !joins_before && !joins_after
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::random::SeededRandom;
    use crate::engine::fetch::Fetch;
    use crate::engine::language_model::Models;
    use crate::engine::settings;
    use crate::testing::fake_model::{FakeModel, ModelCall, Reaction};

    #[test]
    fn there_are_forty_briefs_whose_facts_are_in_their_prompts() {
        let assets = &ASSETS;
        assert_eq!(assets.briefs.len(), 40);
        let languages: std::collections::BTreeSet<&str> = assets.briefs.iter().map(|brief| brief.language.as_str()).collect();
        assert!(languages.len() >= 8 && ["en", "de", "fr", "es"].iter().all(|tag| languages.contains(tag)), "{languages:?}");
        for brief in &assets.briefs {
            assert!(!brief.facts.is_empty() && assets.brands.contains_key(&brief.brand), "{}", brief.id);
            let prompt = normal(&brief.prompt);
            for spellings in &brief.facts {
                let is_there = spellings.iter().any(|spelling| contains(&prompt, spelling));
                assert!(is_there, "{}: {spellings:?} is not in the prompt", brief.id);
            }
            for note in &brief.forbidden {
                assert!(contains(&prompt, note), "{}: {note:?} is not in the prompt", brief.id);
            }
        }
    }

    #[test]
    fn the_weekdays_of_dates_are_correct() {
        let mut read = Vec::new();
        for brief in &ASSETS.briefs {
            for (day, month, weekday) in contract::days_with_weekdays(&brief.prompt, &brief.language) {
                let years = [WRITTEN_ON.year(), WRITTEN_ON.year() + 1];
                let dates = years.map(|year| Date::new(year, month, day).expect("the date exists"));
                let nearest =
                    dates.into_iter().min_by_key(|date| WRITTEN_ON.until(*date).expect("the dates are near").get_days().abs());
                let actual = nearest.map(|date| date.weekday().to_monday_one_offset());
                assert_eq!(actual, Some(weekday), "{}: {day}.{month}.", brief.id);
                read.push(brief.id.as_str());
            }
        }
        assert!(
            read.len() >= 7 && ["en-apology", "en-trial"].iter().all(|id| read.contains(id)),
            "not all dates are read: {read:?}"
        );
    }

    fn test_run(peer: &FakeModel) -> BenchmarkReport {
        let url = peer.url();
        let given = [("protocol", "openai"), ("url", &url), ("model", "peer"), ("repeats", "0"), ("input_price", "1")];
        let given: Vec<_> = given.iter().map(|(key, value)| (format!("models.peer.{key}"), (*value).to_owned())).collect();
        let settings = settings::load(settings::DEFAULT, None, &[], &given).expect("the settings are valid");
        let random: Arc<dyn crate::base::random::Random> = Arc::new(SeededRandom::new(1));
        let models = Models::new(&settings, &Arc::new(Fetch::new(&settings)), &random);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
        let client = models.find("peer").expect("the model is enabled");
        runtime.block_on(run(client, |_| {}))
    }

    /// Returns a response with this text, after replacing `PROMPT` with the text between the request's `<request>` tags.
    fn reply(call: &ModelCall, text: &str) -> String {
        let turns = call.body["messages"].as_array().expect("the body has messages");
        let request = turns[1]["content"].as_str().expect("the turn has text");
        let prompt = request.split("<request>\n").nth(1).and_then(|rest| rest.split("\n</request>").next());
        let text = text.replace("PROMPT", prompt.expect("the request is marked"));
        let block = json!({ "type": "text", "id": "body", "text": text.replace(['!', '"'], " ") });
        let footer = json!({ "reason": "You subscribed.", "unsubscribe": "Unsubscribe", "view": "View" });
        let document = json!({
            "subject": "News", "preheader": "Please read this", "purpose": "announcement", "style": { "layout": null },
            "blocks": [{ "type": "header" }, block, footer],
        });
        document.to_string()
    }

    #[test]
    fn a_model_that_repeats_the_prompt_keeps_all_facts_and_leaks_all_notes() {
        let peer = FakeModel::by(|call| Reaction::Text(reply(call, "PROMPT")));
        let report = test_run(&peer);
        let notes: usize = ASSETS.briefs.iter().map(|brief| brief.forbidden.len()).sum();
        assert_eq!((report.written, report.facts_kept), (40, report.facts), "{}", report.text());
        assert!(report.leaks >= notes, "{} of {notes}", report.leaks);
        assert!(report.inventions <= 4, "the prompt invents nothing: {:?}", report.results);
        assert_eq!((report.calls, report.input_tokens), (80, 8_000));
        assert!((report.cost - 0.008).abs() < 1e-9, "{}", report.cost);
    }

    #[test]
    fn inventions_losses_and_refusals_are_counted() {
        let peer = FakeModel::by(|call| match call.last_turn().contains("RECALL.") {
            true => Reaction::Refuse("I will not.".into()),
            false => Reaction::Text(reply(call, "Only today: 77% off.")),
        });
        let report = test_run(&peer);
        assert_eq!((report.written, report.refusals, report.failures), (39, 1, 0), "{}", report.text());
        assert!(report.inventions >= 39, "{}", report.text());
        assert!(report.facts_kept < 5, "{}", report.text());
        let text = report.text();
        assert!(text.contains("refusals    1\n") && text.contains("written     39 of 40"), "{text}");
    }

    #[test]
    fn a_test_stops_if_the_endpoint_does_not_work() {
        let peer = FakeModel::with(vec![Reaction::Status(401, "Incorrect API key".into(), None)]);
        let report = test_run(&peer);
        assert!(report.is_hopeless() && report.results.len() == HOPELESS_AFTER);
        assert!(report.results[0].line().contains("failed: ") && report.results[0].line().contains("Incorrect API key"));
    }
}
