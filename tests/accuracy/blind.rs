//! Test sets that were written without knowledge of the detectors, the rules and the other samples. `tests/samples/validation/README.md`
//! has the figures of their first run.

use std::collections::BTreeSet;

use mailmill::engine::clients::conditions::Applies;
use mailmill::engine::clients::findings::{Checker, Support};
use mailmill::engine::clients::report;
use mailmill::engine::deliverability::category::Category;
use mailmill::engine::deliverability::message::Input;
use mailmill::engine::deliverability::result::analyze;
use mailmill::engine::spelling::dictionaries::Dictionaries;
use mailmill::engine::spelling::findings::FindingKind;
use mailmill::engine::spelling::{Options, check_html};

#[derive(serde::Deserialize)]
struct CompatibilitySet {
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    html: String,
    clients: Vec<String>,
    expect: Vec<(String, String)>,
    /// Findings that count neither as right nor as wrong, because the support tables can be read in two ways.
    ignore: Vec<(String, String)>,
}

fn share(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

/// Returns the certain findings of a report as pairs of client and feature, without findings about features that no element uses.
fn certain(report: &report::Report) -> BTreeSet<(String, String)> {
    let of_client = |client: &report::ClientIssues| {
        let key = client.client.to_string();
        let issues = client.issues.iter().chain(&client.warnings);
        let certain = issues.filter(|issue| {
            issue.support == Support::None || issue.condition.as_ref().is_some_and(|condition| condition.applies == Applies::True)
        });
        certain.filter(|issue| !issue.unused).map(|issue| (key.clone(), issue.slug.to_string())).collect::<Vec<_>>()
    };
    report.client_issues.iter().flat_map(of_client).collect()
}

#[test]
fn compatibility_findings_are_right() {
    let set: CompatibilitySet =
        serde_json::from_str(include_str!("../samples/validation/blind/compatibility.json")).expect("the file is valid");
    let (mut right, mut wrong, mut missed) = (0, 0, 0);
    for case in &set.cases {
        let report = report::check(Checker::embedded(), &case.html, &case.clients);
        let found = certain(&report);
        let expected: BTreeSet<_> = case.expect.iter().cloned().collect();
        let ignored: BTreeSet<_> = case.ignore.iter().cloned().collect();
        right += expected.intersection(&found).count();
        for (client, slug) in found.difference(&expected).filter(|one| !ignored.contains(*one)) {
            wrong += 1;
            println!("{}: wrong {slug} in {client}", case.name);
        }
        for (client, slug) in expected.difference(&found) {
            missed += 1;
            println!("{}: missed {slug} in {client}", case.name);
        }
    }
    let (precision, recall) = (share(right, right + wrong), share(right, right + missed));
    println!(
        "{} cases: {right} right, {wrong} wrong, {missed} missed: precision {precision:.3}, recall {recall:.3}",
        set.cases.len()
    );
    assert!(precision >= 0.99 && recall >= 0.98);
}

#[test]
fn a_receipt_has_few_warnings() {
    let six = [
        "gmail.desktop-webmail",
        "gmail.ios",
        "apple-mail.ios",
        "outlook.windows",
        "outlook.outlook-com",
        "yahoo.desktop-webmail",
    ];
    let html = include_str!("../samples/validation/blind/receipt.html");
    let report = report::check(Checker::embedded(), html, &six.map(String::from));
    for client in &report.client_issues {
        for issue in client.issues.iter().chain(&client.warnings) {
            let condition = issue.condition.as_ref();
            println!(
                "{} {} {:?} applies {:?} reach {} unused {}: {}",
                client.client,
                issue.slug,
                issue.support,
                condition.map(|one| one.applies),
                issue.reach,
                issue.unused,
                condition.map_or("", |one| &one.note)
            );
        }
    }
    println!(
        "{} errors, {} warnings, score {}",
        report.summary.total_errors, report.summary.total_warnings, report.summary.compatibility_score
    );
    assert!(report.summary.total_warnings <= 20);
}

/// A sentence with its seeded errors.
pub(super) struct Sentence {
    pub language: String,
    pub text: String,
    pub errors: Vec<Seeded>,
}

/// A seeded error: its range, and its type or its class of mistakes if the set names one.
#[derive(Clone)]
pub(super) struct Seeded {
    start: usize,
    end: usize,
    kind: Option<FindingKind>,
    pub class: String,
}

/// Reads lines with a language and a sentence. Errors are in brackets: `[[wrong]]`, `[[wrong>right|type]]`, or `[[wrong>right|class]]`.
pub(super) fn sentences(set: &str) -> Vec<Sentence> {
    let lines = set.lines().filter(|line| !line.starts_with('#'));
    let parse = |line: &str| {
        let (language, mut rest) = line.split_once('\t').expect("a language and a sentence");
        let (mut text, mut errors) = (String::new(), Vec::new());
        while let Some((before, after)) = rest.split_once("[[") {
            let (error, after) = after.split_once("]]").expect("an end of the error");
            let (error, class) = error.rsplit_once('|').unwrap_or((error, ""));
            let wrong = error.split_once('>').map_or(error, |(wrong, _)| wrong);
            let kind = match class {
                "s" => Some(FindingKind::Spelling),
                "g" => Some(FindingKind::Grammar),
                "r" => Some(FindingKind::Repeat),
                _ => None,
            };
            text.push_str(before);
            errors.push(Seeded { start: text.len(), end: text.len() + wrong.len(), kind, class: class.to_owned() });
            text.push_str(wrong);
            rest = after;
        }
        text.push_str(rest);
        Sentence { language: language.to_owned(), text, errors }
    };
    lines.map(parse).collect()
}

/// How many of the seeded errors a check found.
#[derive(Default)]
pub(super) struct Found {
    pub seeded: usize,
    pub found: usize,
    pub wrong: usize,
    /// The number of found errors whose type the set names, and the number of those whose finding has the same type.
    typed: usize,
    typed_right: usize,
}

impl Found {
    pub fn recall(&self) -> f64 {
        share(self.found, self.seeded)
    }

    pub fn precision(&self) -> f64 {
        share(self.found, self.found + self.wrong)
    }

    pub fn add(&mut self, other: &Self) {
        self.seeded += other.seeded;
        self.found += other.found;
        self.wrong += other.wrong;
        self.typed += other.typed;
        self.typed_right += other.typed_right;
    }
}

pub(super) fn measure_sentence(sentence: &Sentence, dictionaries: &Dictionaries) -> Found {
    let language = &sentence.language;
    let options = Options { languages: vec![language.clone()], grammar: true, ..Options::default() };
    let before = "<p>";
    let text = sentence.text.replace('&', "&#38;").replace('<', "&#60;");
    let report = check_html(&format!("{before}{text}</p>"), &options, dictionaries, 0);
    let mut missed = sentence.errors.clone();
    let mut result = Found { seeded: missed.len(), ..Found::default() };
    for finding in &report.errors {
        // In the HTML, `&` and `<` are longer than in the sentence, but only sentences without errors contain these characters.
        let (start, end) = (finding.offset - before.len(), finding.offset - before.len() + finding.length);
        let overlaps = |one: &Seeded| start < one.end && one.start < end;
        if let Some(at) = missed.iter().position(overlaps) {
            let seeded = missed.remove(at);
            result.found += 1;
            result.typed += usize::from(seeded.kind.is_some());
            result.typed_right += usize::from(seeded.kind == Some(finding.kind));
        } else if !sentence.errors.iter().any(overlaps) {
            result.wrong += 1;
            println!("{language}: wrong: {:?} ({}) in: {}", finding.word, finding.rule, sentence.text);
        }
    }
    for one in missed {
        println!("{language}: missed: {:?} in: {}", &sentence.text[one.start..one.end], sentence.text);
    }
    result
}

/// Measures all sentences of a set, and prints the figures of each language. `name` is the file of the set, which `peers/all.py` reads.
fn measure_spelling(name: &str, set: &str) -> Found {
    let dictionaries = Dictionaries::new(None, 10);
    let sentences = sentences(set);
    let mut total = Found::default();
    for language in ["en-US", "en-GB", "de", "fr", "es", "nl"] {
        let mut one = Found::default();
        for sentence in sentences.iter().filter(|sentence| sentence.language == language) {
            one.add(&measure_sentence(sentence, &dictionaries));
        }
        println!("{language}: {} of {} found, {} wrong", one.found, one.seeded, one.wrong);
        total.add(&one);
    }
    println!(
        "{name}: found {:.3}, precision {:.3}, type right {} of {}",
        total.recall(),
        total.precision(),
        total.typed_right,
        total.typed
    );
    total
}

fn assert_good(found: &Found) {
    assert!(found.precision() >= 0.90 && found.recall() >= 0.85);
    assert!(share(found.typed_right, found.typed.max(1)) >= 0.90 || found.typed == 0);
}

#[test]
fn spelling_finds_most_errors_and_is_mostly_right() {
    assert_good(&measure_spelling("spelling.txt", include_str!("../samples/validation/blind/spelling.txt")));
}

#[test]
fn spelling_is_as_good_on_the_second_set() {
    assert_good(&measure_spelling("spelling-second.txt", include_str!("../samples/validation/blind/spelling-second.txt")));
}

#[test]
fn several_errors_in_a_sentence_are_found_with_their_types() {
    assert_good(&measure_spelling("third.txt", include_str!("../samples/validation/spelling/third.txt")));
    assert_good(&measure_spelling("fourth.txt", include_str!("../samples/validation/spelling/fourth.txt")));
    assert_good(&measure_spelling("fifth.txt", include_str!("../samples/validation/spelling/fifth.txt")));
    assert_good(&measure_spelling("sixth.txt", include_str!("../samples/validation/spelling/sixth.txt")));
    // The German dictionary is not embedded. Under CI, it must be installed.
    if std::env::var_os("CI").is_some() || std::path::Path::new("/usr/share/hunspell/de_DE.dic").exists() {
        assert_good(&measure_spelling("other-languages.txt", include_str!("../samples/validation/spelling/other-languages.txt")));
    } else {
        println!("other languages were not measured: install hunspell-de-de");
    }
}

#[derive(serde::Deserialize)]
struct DeliverabilitySet {
    messages: Vec<Message>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    name: String,
    spam: bool,
    subject: String,
    from_name: String,
    from_email: String,
    html: String,
}

#[test]
fn modern_spam_is_found_and_modern_legitimate_mail_is_not() {
    let set: DeliverabilitySet =
        serde_json::from_str(include_str!("../samples/validation/blind/deliverability.json")).expect("the file is valid");
    let (mut spam, mut legitimate) = (Vec::new(), Vec::new());
    let (mut found, mut alarms) = (0, 0);
    for message in &set.messages {
        let input = Input {
            html: &message.html,
            subject: Some(&message.subject),
            from_name: Some(&message.from_name),
            from_email: Some(&message.from_email),
            ..Input::default()
        };
        let analysis = analyze(&input, None);
        let is_spam = analysis.prediction.category == Category::Spam;
        let score = analysis.spam_score.score;
        let triggers: Vec<_> = analysis.spam_score.findings.iter().map(|one| format!("{} {:.1}", one.rule, one.points)).collect();
        if message.spam {
            spam.push(score)
        } else {
            legitimate.push(score)
        }
        found += usize::from(is_spam && message.spam);
        alarms += usize::from(is_spam && !message.spam);
        println!(
            "{} {} {score:.2} {:?} {}: tokens {:.1}, {}",
            if message.spam { "spam" } else { "ham " },
            if is_spam == message.spam { "ok   " } else { "WRONG" },
            analysis.prediction.category,
            message.name,
            analysis.spam_score.token_points,
            triggers.join(", ")
        );
    }
    let area = crate::deliverability::auc(&spam, &legitimate);
    println!("AUC {area:.4}, {found} of {} spam, {alarms} of {} false alarms", spam.len(), legitimate.len());
    assert!(area >= 0.985);
    assert!(found * 100 >= spam.len() * 70);
    assert!(alarms * 50 <= legitimate.len());
}
