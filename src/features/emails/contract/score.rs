//! Scores the emails for the prompts of `tests/samples/prompts`: how many facts the emails keep, how many missing facts are reported, and
//! how often the emails print instructions or invent facts. The README of that folder explains the prompts.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;

use super::outline::{Outline, Place};
use super::reading::Reading;
use super::{Terms, constraints, sources};
use crate::base::locale::LanguageTag;
use crate::features::emails::brief::{self, Brief, CallToAction, Constraint, ConstraintKind, Fact, FactKind, Goal, Part};
use crate::features::emails::document::Email;
use crate::features::emails::finding::Finding;
use crate::features::emails::given_brief;
use crate::features::emails::model::{COMPOSER, GenerationRequest, Source, Visibility};
use crate::features::emails::writing::material::Material;
use crate::features::emails::writing::{self, Draft, Writer};
use crate::features::projects::brand::{Brand, BrandContact, BrandProduct};
use crate::vocab::settings::OnFailure;

#[derive(Deserialize)]
struct SampleBrand {
    id: String,
    name: String,
    url: String,
    language: String,
    tagline: String,
    description: String,
    address: String,
    products: Vec<SampleProduct>,
}

#[derive(Deserialize)]
struct SampleProduct {
    name: String,
    price: String,
    url: String,
}

#[derive(Deserialize)]
struct Sample {
    id: String,
    brand: String,
    language: String,
    today: Date,
    prompt: String,
    facts: Vec<SampleFact>,
    constraints: Vec<SampleConstraint>,
    signature: Option<SampleSignature>,
    subject: Option<String>,
    button: Option<String>,
    link: Option<String>,
    forbidden: Vec<String>,
}

#[derive(Deserialize)]
struct SampleFact {
    kind: FactKind,
    span: String,
    shows: Vec<String>,
    #[serde(default)]
    once: bool,
}

#[derive(Deserialize)]
struct SampleConstraint {
    kind: String,
    /// The text or the number that the constraint states.
    value: Option<Value>,
}

impl SampleConstraint {
    fn text(&self) -> Option<String> {
        self.value.as_ref().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

#[derive(Deserialize)]
struct SampleSignature {
    name: String,
}

/// The score of one or more emails.
#[derive(Clone, Debug, Default)]
struct Score {
    emails: usize,
    clean: usize,
    facts: usize,
    kept: usize,
    reported: usize,
    repeated: usize,
    leaks: usize,
    inventions: usize,
    broken: usize,
}

impl Score {
    fn add(&mut self, other: &Self) {
        self.emails += other.emails;
        self.clean += other.clean;
        self.facts += other.facts;
        self.kept += other.kept;
        self.reported += other.reported;
        self.repeated += other.repeated;
        self.leaks += other.leaks;
        self.inventions += other.inventions;
        self.broken += other.broken;
    }

    fn line(&self, name: &str) -> String {
        let Self { emails, clean, facts, kept, reported, repeated, leaks, inventions, broken } = self;
        let lost = facts - kept;
        format!(
            "{name:<18} {emails:>6} {clean:>6} {facts:>6} {kept:>6} {lost:>6} {reported:>9} {repeated:>9} {leaks:>6} {inventions:>10} {broken:>7}"
        )
    }
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).expect("the samples exist");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn material(brand: &SampleBrand) -> Material {
    let currency = |price: &str| {
        let signs = [("€", "EUR"), ("£", "GBP"), ("$", "USD"), ("₪", "ILS"), ("دينار", "JOD")];
        signs.iter().find(|(sign, _)| price.contains(sign)).map(|(_, code)| (*code).to_owned())
    };
    let number = |price: &str| {
        let figures: String = price.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
        super::mentions::parse_number(&figures).map(|value| format!("{value:.2}"))
    };
    let products = brand.products.iter().map(|product| BrandProduct {
        name: product.name.clone(),
        url: Some(product.url.clone()),
        price: number(&product.price),
        currency: currency(&product.price),
        ..BrandProduct::default()
    });
    Material {
        name: brand.name.clone(),
        site: brand.url.clone(),
        brand: Brand {
            name: Some(brand.name.clone()),
            tagline: Some(brand.tagline.clone()),
            description: Some(brand.description.clone()),
            languages: vec![brand.language.clone()],
            products: products.collect(),
            contact: BrandContact { address: Some(brand.address.clone()), ..BrandContact::default() },
            ..Brand::default()
        },
        ..Material::default()
    }
}

fn language(sample: &Sample) -> LanguageTag {
    LanguageTag::parse(&sample.language).expect("the samples have valid languages")
}

/// Writes the email for a sample as a generation does, including all warnings.
async fn email(sample: &Sample, material: &Material) -> Draft {
    let wanted = GenerationRequest {
        prompt: sample.prompt.clone(),
        brief: Some(brief::parse(&sample.prompt, &material.brand, Some(&language(sample)), sample.today)),
        model: COMPOSER.to_owned(),
        languages: vec![sample.language.clone()],
        count: Some(1),
        images: Vec::new(),
        reference: None,
        web: false,
        pages: Vec::new(),
        visibility: Visibility::Private,
        source: Source::Prompt,
        on_failure: OnFailure::Fail,
    };
    let brief = writing::Brief {
        wanted,
        plan: None,
        slot: 0,
        language: sample.language.clone(),
        pattern: None,
        original: None,
        others: None,
        edits: Vec::new(),
        seed: 7,
        today: sample.today,
    };
    let (draft, _) = Writer::composer().write(brief, material.clone().into()).await;
    draft.unwrap_or_else(|reason| panic!("{}: {reason}", sample.id))
}

/// Returns the text in the normalized form that the README of the samples describes.
fn plain(text: &str) -> String {
    let quotes = |c: char| match c {
        '’' | '‘' | '‚' => '\'',
        '“' | '”' | '„' | '«' | '»' => '"',
        other => other,
    };
    let text: String = text.chars().map(quotes).collect();
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the byte ranges where the wanted text occurs as whole words and numbers.
fn places(text: &str, wanted: &str) -> Vec<(usize, usize)> {
    let is_part = |one: Option<char>, other: Option<char>| {
        one.zip(other).is_some_and(|(one, other)| one.is_alphanumeric() && other.is_alphanumeric())
    };
    let fits = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + wanted.len()..]);
        let mut next = after.chars();
        let (first, second) = (next.next(), next.next());
        let ends_in_number = wanted.ends_with(|c: char| c.is_ascii_digit());
        let continues = ends_in_number && matches!(first, Some('.' | ',')) && second.is_some_and(|c| c.is_ascii_digit());
        !is_part(before.chars().next_back(), wanted.chars().next()) && !is_part(wanted.chars().next_back(), first) && !continues
    };
    let found = text.match_indices(wanted).map(|(at, _)| at).filter(fits);
    found.map(|at| (at, at + wanted.len())).collect()
}

/// Counts the mentions of a fact. Overlapping forms count as one mention.
fn count(text: &str, shows: &[String]) -> usize {
    let mut all: Vec<(usize, usize)> = shows.iter().flat_map(|form| places(text, &plain(form))).collect();
    all.sort_unstable();
    let mut end = 0;
    let mut count = 0;
    for (from, to) in all {
        if from >= end {
            count += 1;
        }
        end = end.max(to);
    }
    count
}

/// The text and links of an email, in the normalized form that the README of the samples describes.
struct Shown {
    all: String,
    body: String,
    links: String,
}

impl Shown {
    fn of(email: &Email) -> Self {
        let outline = Outline::of(email);
        let join = |keep: &dyn Fn(Place) -> bool| {
            let texts = outline.passages.iter().filter(|passage| keep(passage.place)).map(|passage| passage.text.as_str());
            plain(&texts.collect::<Vec<_>>().join("\n"))
        };
        let links: Vec<&str> = outline.links.iter().map(|(_, href)| href.as_str()).collect();
        Self {
            all: join(&|place| place != Place::Alt),
            body: join(&|place| place.is_body() && place != Place::Label),
            links: plain(&links.join("\n")),
        }
    }

    fn shows(&self, fact: &SampleFact) -> bool {
        count(&self.all, &fact.shows) > 0
            || fact.kind == FactKind::Link && fact.shows.iter().any(|form| self.links.contains(&plain(form)))
    }
}

/// Returns, as a brief, those expectations of a sample that the contract can check.
fn expected(sample: &Sample) -> Brief {
    let kind = |name: &str| serde_json::from_value::<ConstraintKind>(name.into()).ok();
    let constraints = sample
        .constraints
        .iter()
        .filter_map(|constraint| Some(Constraint { kind: kind(&constraint.kind)?, value: constraint.text(), span: None }));
    let fact =
        |text: &String| Fact { kind: FactKind::Sentence, role: None, text: text.clone(), value: None, story: None, span: None };
    Brief {
        subject: sample.subject.as_ref().map(|text| Part { text: text.clone(), span: None }),
        facts: sample.facts.iter().flat_map(|own| &own.shows).map(fact).collect(),
        cta: (sample.button.is_some() || sample.link.is_some()).then(|| CallToAction {
            label: sample.button.as_ref().map(|text| Part { text: text.clone(), span: None }),
            link: sample.link.clone(),
        }),
        constraints: constraints.collect(),
        ..Brief::empty(Goal::Unclear, language(sample))
    }
}

/// Returns whether the span of a warning overlaps the span of a fact.
fn covers(warning: &Finding, fact: &SampleFact, prompt: &str) -> bool {
    let Some(span) = warning.span else { return false };
    let at = prompt.find(&fact.span).map(|at| prompt[..at].chars().count());
    let place = at.map(|start| (start, start + fact.span.chars().count()));
    place.is_some_and(|(start, end)| (span.start as usize) < end && start < span.end as usize)
}

/// Scores one email and describes its failures.
fn judge(sample: &Sample, material: &Material, draft: &Draft) -> (Score, Vec<String>) {
    let shown = Shown::of(&draft.document);
    let text_of = |finding: &Finding| format!("{}\n{}", finding.message, finding.text.as_deref().unwrap_or_default());
    let warnings = plain(&draft.warnings.iter().map(text_of).collect::<Vec<_>>().join("\n"));
    let mut score = Score { emails: 1, facts: sample.facts.len(), ..Score::default() };
    let mut failures = Vec::new();
    for fact in &sample.facts {
        if shown.shows(fact) {
            score.kept += 1;
            let times = count(&shown.body, &fact.shows);
            if fact.once && times > 1 {
                score.repeated += 1;
                failures.push(format!("{times} times: {:?}", fact.span));
            }
            continue;
        }
        let is_named = std::iter::once(&fact.span).chain(&fact.shows).any(|text| !places(&warnings, &plain(text)).is_empty());
        let is_reported = is_named || draft.warnings.iter().any(|warning| covers(warning, fact, &sample.prompt));
        score.reported += usize::from(is_reported);
        let how = if is_reported { "reported" } else { "lost" };
        failures.push(format!("{how}: {:?} ({:?})", fact.span, fact.kind));
    }
    for text in &sample.forbidden {
        if shown.all.contains(&plain(text)) {
            score.leaks += 1;
            failures.push(format!("leaked: {text:?}"));
        }
    }
    let brief = expected(sample);
    let reading = Reading::of(&draft.document, sample.today);
    let terms = Terms { brief: &brief, prompt: &sample.prompt, material, today: sample.today };
    for finding in sources::check(&reading, &terms) {
        score.inventions += 1;
        failures.push(format!("invented: {}", finding.message));
    }
    let mut broken = constraints::check(&reading, &draft.document, &brief, Some(&material.name));
    broken.extend(super::facts::prescribed(&reading, &draft.document, &brief));
    if let Some(signature) = sample.signature.as_ref().filter(|own| places(&shown.all, &plain(&own.name)).is_empty()) {
        broken.push(Finding::note(format!("{:?} does not sign.", signature.name)));
    }
    broken.extend(super::lines::check(&reading, &brief, &sample.prompt));
    score.broken = broken.len();
    failures.extend(broken.into_iter().map(|finding| format!("broken: {}", finding.message)));
    score.clean = usize::from(failures.is_empty());
    (score, failures)
}

fn files(set: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder().join(set)).expect("the samples exist");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/prompts")
}

/// Scores a set of samples. Prints the failures and a table.
async fn score(set: &str) -> Score {
    let brands: Vec<SampleBrand> = read(&folder().join("brands.json"));
    let mut out = format!(
        "{set:<18} {:>6} {:>6} {:>6} {:>6} {:>6} {:>9} {:>9} {:>6} {:>10} {:>7}\n",
        "emails", "clean", "facts", "kept", "lost", "reported", "repeated", "leaks", "inventions", "broken"
    );
    let (mut total, mut details) = (Score::default(), String::new());
    for file in files(set) {
        let mut own = Score::default();
        for sample in read::<Vec<Sample>>(&file) {
            let brand = brands.iter().find(|brand| brand.id == sample.brand).expect("the samples have known brands");
            let material = material(brand);
            let draft = email(&sample, &material).await;
            let (score, failures) = judge(&sample, &material, &draft);
            own.add(&score);
            if !failures.is_empty() {
                writeln!(details, "{}\n    {}", sample.id, failures.join("\n    ")).expect("writing to memory cannot fail");
            }
        }
        writeln!(out, "{}", own.line(&file.file_stem().unwrap_or_default().to_string_lossy()))
            .expect("writing to memory cannot fail");
        total.add(&own);
    }
    writeln!(out, "{}", total.line("total")).expect("writing to memory cannot fail");
    println!("{details}\n{out}");
    total
}

/// Asserts that a score is at least as good as these figures. `silent` is the number of missing facts that no warning reports.
fn holds(score: &Score, kept: usize, silent: usize, leaks: usize, inventions: usize) {
    let found = (score.kept, score.facts - score.kept - score.reported, score.leaks, score.inventions);
    let holds = found.0 >= kept && found.1 <= silent && found.2 <= leaks && found.3 <= inventions;
    assert!(holds, "kept, lost in silence, leaks and inventions: {found:?}, but were {:?}", (kept, silent, leaks, inventions));
}

/// The first set of samples. It was used to develop the parser's rules.
#[tokio::test]
async fn the_first_samples_keep_their_facts() {
    holds(&score("first").await, 1377, 0, 1, 1);
}

/// The second set of samples, which was written after the rules. It was then used to improve the parser's rules.
#[tokio::test]
async fn the_second_samples_keep_their_facts() {
    holds(&score("second").await, 1416, 0, 5, 0);
}

/// Prompts by two adversarial writers who did not know the rules. The prompts were then used to improve the parser's rules.
#[tokio::test]
async fn the_hostile_samples_keep_their_facts() {
    holds(&score("hostile").await, 1105, 4, 33, 0);
}

/// Prompts by a third adversarial writer. The prompts were then used to improve the parser's rules and the note model.
#[tokio::test]
async fn the_third_samples_keep_their_facts() {
    holds(&score("third").await, 568, 3, 10, 0);
}

/// Twenty normal and twenty hurried prompts by a fourth writer. The prompts were then used to improve the parser's rules and the note
/// model.
#[tokio::test]
async fn the_fourth_samples_keep_their_facts() {
    holds(&score("fourth").await, 371, 0, 0, 0);
}

/// Forty normal and forty hurried prompts by a fifth writer. The prompts were then used to improve the parser's rules and the note model.
#[tokio::test]
async fn the_blind_samples_keep_their_facts() {
    holds(&score("blind").await, 535, 5, 0, 0);
}

/// Forty normal and forty hurried prompts by a sixth writer. The prompts were then used to improve the parser's rules.
#[tokio::test]
async fn the_sixth_samples_keep_their_facts() {
    holds(&score("sixth").await, 772, 10, 7, 1);
}

/// Thirty normal and thirty hurried prompts, written before the composer's emails for any of them were seen. The prompts were then used to
/// improve the parser's rules.
#[tokio::test]
async fn the_seventh_samples_keep_their_facts() {
    holds(&score("seventh").await, 426, 0, 6, 0);
}

/// Sixty-one hurried prompts, written by someone who had not yet read the rules. The prompts were then used to improve the parser's rules.
#[tokio::test]
async fn the_eighth_samples_keep_their_facts() {
    holds(&score("eighth").await, 474, 0, 3, 0);
}

/// Twenty-nine hurried prompts, written after the first improvements based on the eighth set. The prompts were then used to improve the
/// parser's rules.
#[tokio::test]
async fn the_ninth_samples_keep_their_facts() {
    holds(&score("ninth").await, 220, 0, 3, 0);
}

/// Forty hurried prompts in seven languages, written before the composer's emails for any of them were seen. The prompts were then used to
/// improve the parser's rules.
#[tokio::test]
async fn the_tenth_samples_keep_their_facts() {
    holds(&score("tenth").await, 264, 0, 7, 0);
}

/// Twenty normal and forty hurried prompts by a writer who did not know the rules. The prompts were then used to improve the parser's
/// rules.
#[tokio::test]
async fn the_eleventh_samples_keep_their_facts() {
    holds(&score("eleventh").await, 547, 0, 13, 0);
}

/// Twenty normal and forty hurried prompts by another writer. The prompts were then used to improve the parser's rules.
#[tokio::test]
async fn the_twelfth_samples_keep_their_facts() {
    holds(&score("twelfth").await, 654, 5, 25, 0);
}

/// Thirty normal and thirty hurried prompts by a writer who had not read the word lists. The prompts were then used to improve the parser's
/// rules.
#[tokio::test]
async fn the_thirteenth_samples_keep_their_facts() {
    holds(&score("thirteenth").await, 454, 3, 6, 0);
}

/// Every number in the prompt is in the email, in a warning, in a value from the brief, or in an instruction.
#[tokio::test]
async fn no_number_of_a_prompt_is_lost_in_silence() {
    let brands: Vec<SampleBrand> = read(&folder().join("brands.json"));
    for sample in SETS.into_iter().flat_map(files).flat_map(|file| read::<Vec<Sample>>(&file)) {
        let brand = brands.iter().find(|brand| brand.id == sample.brand).expect("the samples have known brands");
        let material = material(brand);
        let draft = email(&sample, &material).await;
        let parsed = brief::parse(&sample.prompt, &material.brand, Some(&language(&sample)), sample.today);
        let shown = Shown::of(&draft.document);
        let classes = brief::coverage(&parsed, &sample.prompt);
        let values = parsed.facts.iter().filter(|fact| fact.value.is_some()).filter_map(|fact| fact.span);
        let known: Vec<brief::Span> = values.chain(draft.warnings.iter().filter_map(|warning| warning.span)).collect();
        for (number, at) in numbers(&sample.prompt) {
            let is_in = |span: &brief::Span| span.start <= at && at < span.end;
            let is_instruction = classes.iter().any(|(span, class)| *class == brief::Class::Instruction && is_in(span));
            let is_shown = shown.all.contains(&number) || shown.links.contains(&number);
            assert!(is_shown || is_instruction || known.iter().any(is_in), "{}: {number} in {}", sample.id, sample.prompt);
        }
    }
}

/// Returns the runs of digits in the text, each with the position of its first character.
fn numbers(text: &str) -> Vec<(String, u32)> {
    let mut found: Vec<(String, u32)> = Vec::new();
    let mut is_open = false;
    for (at, c) in text.chars().enumerate() {
        match (c.is_ascii_digit(), is_open) {
            (true, true) => found.last_mut().into_iter().for_each(|(number, _)| number.push(c)),
            (true, false) => found.push((c.to_string(), at as u32)),
            (false, _) => {}
        }
        is_open = c.is_ascii_digit();
    }
    found
}

const SETS: [&str; 14] = [
    "first",
    "second",
    "hostile",
    "third",
    "fourth",
    "blind",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
];

/// If a client sends back a parsed brief unchanged, the brief must be accepted and stay the same.
#[test]
fn a_brief_that_is_given_unchanged_stays_unchanged() {
    for sample in SETS.into_iter().flat_map(files).flat_map(|file| read::<Vec<Sample>>(&file)) {
        let brief = brief::parse(&sample.prompt, &Brand::default(), Some(&language(&sample)), sample.today);
        let read = given_brief::read(&brief, &sample.prompt, sample.today);
        assert_eq!(read.map_err(|refusal| refusal.text()), Ok(brief), "{}: {}", sample.id, sample.prompt);
    }
}
