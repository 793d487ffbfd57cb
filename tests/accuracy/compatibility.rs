//! The compatibility check on hand-written cases, and its agreement with the transform.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use mailmill::engine::clients::conditions::{Applies, of_note};
use mailmill::engine::clients::data::SupportLevel;
use mailmill::engine::clients::features::TABLE;
use mailmill::engine::clients::findings::{Checker, Support};
use mailmill::engine::clients::profile::Profile;
use mailmill::engine::clients::report::{self, ClientIssues, Issue};
use mailmill::engine::clients::transform::{self, Options};

#[derive(serde::Deserialize)]
struct Cases {
    cases: Vec<(String, String)>,
}

fn cases() -> Vec<(String, String)> {
    toml::from_str::<Cases>(include_str!("../samples/validation/compatibility/cases.toml")).expect("the file is valid").cases
}

fn check(html: &str, client: &str) -> ClientIssues {
    let mut report = report::check(Checker::embedded(), html, &[client.to_owned()]);
    report.client_issues.pop().expect("the client is known")
}

fn issues(client: &ClientIssues) -> impl Iterator<Item = &Issue> {
    client.issues.iter().chain(&client.warnings)
}

/// The notes, such as `css-margin#1`, whose condition is decided without the email.
static DECIDED_WITHOUT_EMAIL: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    #[derive(serde::Deserialize)]
    struct Conditions {
        condition: Vec<Condition>,
    }
    #[derive(serde::Deserialize)]
    struct Condition {
        test: String,
        notes: Vec<String>,
    }
    let text = include_str!("../../assets/email_clients/conditions.toml");
    let all = toml::from_str::<Conditions>(text).expect("the file is valid").condition.into_iter();
    let is_decided = |test: &str| matches!(test, "always" | "reader" | "account" | "google-account");
    all.filter(|condition| is_decided(&condition.test)).flat_map(|condition| condition.notes).collect()
});

/// Returns the issue that the support tables predict for a use, if the notes that the use lists apply.
fn expected(checker: &Checker, profile: &Profile, used: &str) -> Option<(String, Support)> {
    let (used, side) = used.split_once('/').map_or((used, None), |(used, side)| (used, Some(side)));
    if side == Some("drops") {
        return (!profile.drops.is_empty()).then(|| (used.into(), Support::None));
    }
    if side.is_some_and(|side| (side == "word") != profile.word) {
        return None;
    }
    let mut parts = used.split('#');
    let slug = parts.next()?;
    let holds: BTreeSet<u16> = parts.map(|number| number.parse().expect("the note is a number")).collect();
    let id = TABLE.get(slug).unwrap_or_else(|| panic!("{slug} is unknown"));
    let feature = checker.feature(id)?;
    let cell = &feature.cells[profile.column];
    match cell.answer {
        SupportLevel::Yes | SupportLevel::Unknown => None,
        // Note 1 says that the client forces a target, which changes nothing if the link already has this target.
        SupportLevel::No if slug == "html-target" && cell.notes.contains(&1) && !holds.contains(&1) => None,
        SupportLevel::No => Some((slug.into(), Support::None)),
        SupportLevel::Partly => {
            let is_decided = |number: &u16| DECIDED_WITHOUT_EMAIL.contains(&format!("{}#{number}", feature.slug));
            let free = |number: &u16| of_note(feature, *number).is_none() || is_decided(number);
            let applies = cell.notes.is_empty() || cell.notes.iter().any(|number| holds.contains(number) || free(number));
            applies.then(|| (slug.into(), Support::Partial))
        }
    }
}

#[test]
fn findings_on_hand_written_cases_are_right() {
    let checker = Checker::embedded();
    let (mut right, mut wrong, mut missed) = (0_usize, 0_usize, 0_usize);
    let mut report = BTreeMap::<String, usize>::new();
    let cases = cases();
    assert!(cases.len() >= 150, "{}", cases.len());
    for (html, uses) in &cases {
        for profile in checker.profiles.iter().filter(|profile| profile.assumptions.foreign_account.is_none()) {
            let expected: BTreeSet<(String, Support)> =
                uses.split_whitespace().filter_map(|used| expected(checker, profile, used)).collect();
            let client = check(html, &profile.key);
            let found: BTreeSet<(String, Support)> =
                issues(&client).map(|issue| (issue.slug.to_string(), issue.support)).collect();
            right += expected.intersection(&found).count();
            wrong += found.difference(&expected).count();
            missed += expected.difference(&found).count();
            for (slug, support) in found.difference(&expected) {
                *report
                    .entry(format!("wrong {slug} {support:?} in {html}: {}", profile.key.split('.').next().unwrap_or_default()))
                    .or_default() += 1;
            }
            for (slug, support) in expected.difference(&found) {
                *report
                    .entry(format!("missed {slug} {support:?} in {html}: {}", profile.key.split('.').next().unwrap_or_default()))
                    .or_default() += 1;
            }
        }
    }
    for (line, count) in report.iter().take(80) {
        println!("{count:3} {line}");
    }
    let precision = right as f64 / (right + wrong) as f64;
    let recall = right as f64 / (right + missed) as f64;
    println!(
        "{} cases, {right} right, {wrong} wrong, {missed} missed: precision {precision:.4}, recall {recall:.4}",
        cases.len()
    );
    assert!(precision >= 0.99 && recall >= 0.98, "precision {precision:.4}, recall {recall:.4}");
}

/// Returns whether the condition of an issue applies, and every note of the feature says that the client removes the use.
fn removes(checker: &Checker, profile: &Profile, slug: &str, issue: &Issue) -> bool {
    let id = TABLE.get(slug).unwrap_or_else(|| panic!("{slug} is unknown"));
    let feature = checker.feature(id).unwrap_or_else(|| panic!("{slug} is not in the tables"));
    let cell = &feature.cells[profile.column];
    let holds = issue.condition.as_ref().is_some_and(|condition| condition.applies == Applies::True);
    holds && cell.notes.iter().all(|number| of_note(feature, *number).is_some_and(|condition| condition.cuts))
}

/// Compares the report of an email with its transform, feature by feature. Returns the numbers of features that are reported as lost, as
/// lost in part, and as uncertain.
fn compare(checker: &Checker, profile: &Profile, html: &str, faults: &mut Vec<String>) -> [usize; 3] {
    let before = check(html, &profile.key);
    let shown = transform::transform(checker, html, profile, Options::default());
    let after = check(&shown.html, &profile.key);
    let mut counts = [0; 3];
    let mut fault = |problem: String| faults.push(format!("{}: {problem} in {html}: {}", profile.key, shown.html));
    for issue in issues(&before) {
        let slug = &*issue.slug;
        let cuts: Vec<_> = shown.cuts.iter().filter(|cut| cut.slug == slug).collect();
        let applies = issue.condition.as_ref().map(|condition| condition.applies);
        let is_lost = issue.support == Support::None;
        counts[if is_lost {
            0
        } else if applies == Some(Applies::True) {
            1
        } else {
            2
        }] += 1;
        // A use is cut if and only if the client does not support the feature or the condition of a note applies. One feature can have
        // several issues: Gmail drops a style element for its content, and reads no style elements in some accounts.
        let must_cut = is_lost || removes(checker, profile, slug, issue);
        let may_cut = issues(&before).filter(|other| *other.slug == *slug).any(|other| {
            let applies = other.condition.as_ref().map(|condition| condition.applies);
            other.support == Support::None || applies.is_none_or(|applies| applies == Applies::True)
        });
        if must_cut && cuts.is_empty() || !may_cut && !cuts.is_empty() {
            fault(format!("{slug} {:?} {applies:?}, {} cuts", issue.support, cuts.len()));
        }
        // The report and the transform count and locate the same uses.
        let total: usize = cuts.iter().map(|cut| cut.count as usize).sum();
        if total > issue.count {
            fault(format!("{slug}: {total} cuts of {} uses", issue.count));
        }
        let is_placed = |line: u32| issue.occurrences.iter().any(|place| place.line == line);
        if issue.count == issue.occurrences.len() && !cuts.iter().all(|cut| is_placed(cut.line)) {
            fault(format!("{slug}: a cut in a line without a use"));
        }
        // In the transformed email, the check no longer finds the features that were cut.
        let is_loss = |other: &&Issue| other.support == Support::None || removes(checker, profile, slug, other);
        if must_cut && issues(&after).filter(|other| *other.slug == *slug).any(|other| is_loss(&other)) {
            fault(format!("{slug} remains"));
        }
    }
    for cut in &shown.cuts {
        if !issues(&before).any(|issue| *issue.slug == *cut.slug) {
            fault(format!("{} is cut but not reported", cut.slug));
        }
    }
    counts
}

#[test]
fn the_report_and_the_transform_agree_on_every_feature_and_note() {
    let checker = Checker::embedded();
    let examples = TABLE.entries.iter().filter_map(|entry| entry.example());
    // The cases contain uses that meet the conditions of notes, and uses that do not.
    let emails: Vec<String> = examples.chain(cases().into_iter().map(|(html, _)| html)).collect();
    let (mut counts, mut faults) = ([0; 3], Vec::new());
    for html in &emails {
        for profile in &checker.profiles {
            let found = compare(checker, profile, html, &mut faults);
            counts.iter_mut().zip(found).for_each(|(count, more)| *count += more);
        }
    }
    println!(
        "{} emails: {} lost, {} lost in part, {} uncertain; {} faults",
        emails.len(),
        counts[0],
        counts[1],
        counts[2],
        faults.len()
    );
    faults.truncate(60);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// Writes a report for each email of a JSON list.
#[test]
#[ignore = "writes the reports for tests/accuracy/peers/compatibility.py"]
fn write_reports_for_peers() {
    let named = |name: &str| std::env::var_os(name).and_then(|value| value.into_string().ok()).expect(name);
    let clients: Vec<String> = named("ACCURACY_CLIENTS").split_whitespace().map(String::from).collect();
    let emails = std::fs::read_to_string(named("ACCURACY_EMAILS")).expect("a readable file");
    let emails: Vec<String> = serde_json::from_str(&emails).expect("a list of emails");
    let reports: Vec<_> = emails.iter().map(|html| report::check(Checker::embedded(), html, &clients)).collect();
    let text = serde_json::to_string(&reports).expect("reports can be written");
    std::fs::write(named("ACCURACY_REPORTS"), text).expect("a writable file");
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
    let report = report::check(
        Checker::embedded(),
        include_str!("../samples/validation/compatibility/receipt.html"),
        &six.map(String::from),
    );
    let warnings = report.client_issues.iter().flat_map(|client| &client.warnings);
    let doubtful =
        warnings.clone().filter(|issue| issue.condition.as_ref().is_none_or(|condition| condition.applies != Applies::True));
    println!(
        "{} warnings, {} of them uncertain, {} errors, score {}",
        warnings.count(),
        doubtful.count(),
        report.summary.total_errors,
        report.summary.compatibility_score
    );
    assert!(report.summary.total_warnings <= 40);
}

#[test]
fn a_client_can_have_two_keys() {
    assert_eq!(check("<p>x</p>", "outlook.desktop-windows").client, "outlook.windows");
}

#[test]
fn a_newer_data_file_changes_the_answers() {
    let file = include_str!("../../assets/email_clients/caniemail.json");
    let html = "<video src=\"https://example.com/a.mp4\" controls></video>";
    let unsupported = |checker: &Checker| {
        let report = report::check(checker, html, &["gmail.ios".to_owned()]);
        report.client_issues.iter().any(|client| issues(client).any(|issue| &*issue.slug == "html-video"))
    };
    assert!(unsupported(Checker::embedded()));
    let newer: serde_json::Value = serde_json::from_str(file).expect("the file is valid");
    let mut newer = newer;
    let features = newer["data"].as_array_mut().expect("the file has features");
    let video = features.iter_mut().find(|feature| feature["slug"] == "html-video").expect("the feature exists");
    video["stats"]["gmail"]["ios"] = serde_json::json!({ "2030-01": "y" });
    let newer = Checker::parse(newer.to_string().as_bytes()).expect("the file is valid");
    assert!(!unsupported(&newer));
    assert!(Checker::parse(b"[]").is_err());
}

#[test]
fn gmail_drops_whole_style_elements() {
    let nested = "<style>@media screen { @media (min-width: 1px) { p { color: red } } }</style><p>x</p>";
    let large = format!("<style>p {{ color: red }}</style><style>{}</style><p>x</p>", ".a { color: red } ".repeat(1000));
    for html in [nested, &large] {
        let client = check(html, "gmail.desktop-webmail");
        let drop = client.issues.iter().find(|issue| &*issue.slug == "html-style").expect("the drop is reported");
        assert_eq!((drop.count, drop.reach), (1, usize::from(html == nested)));
        let checker = Checker::embedded();
        let profile = checker.profile("gmail.desktop-webmail").expect("the client exists");
        let shown = transform::transform(checker, html, profile, Options::default());
        assert_eq!(shown.html.matches("<style>").count(), usize::from(html != nested), "{}", shown.html);
    }
    let attribute = "<p style=\"color: rgb(0 128 0); margin: 0\">x</p>";
    let checker = Checker::embedded();
    let profile = checker.profile("gmail.ios").expect("the client exists");
    let shown = transform::transform(checker, attribute, profile, Options::default());
    assert_eq!(shown.html, "<p >x</p>");
    let cut = &shown.cuts[0];
    assert_eq!((cut.line, &*cut.what, &*cut.slug), (1, "rgb(0 128 0)", "css-rgb"));
}

#[test]
fn a_replacement_for_other_clients_halves_no_more_than_it_must() {
    let score = |html: &str| check(html, "outlook.windows").score;
    let plain = "<td style=\"background-image: linear-gradient(red, blue)\">x</td>";
    let replaced = "<td bgcolor=\"red\" style=\"background-image: linear-gradient(red, blue)\">x</td>";
    assert!(score(replaced) > score(plain));
    let client = check(replaced, "outlook.windows");
    let gradient = client.issues.iter().find(|issue| &*issue.slug == "css-linear-gradient").expect("the gradient is reported");
    assert_eq!(gradient.fallback, Some("the bgcolor attribute"));
    let vml = concat!(
        "<!--[if mso]><v:rect style=\"width:600px\"><v:fill src=\"https://example.com/a.png\"/></v:rect><![endif]-->",
        "<!--[if !mso]><!--><div style=\"border-radius:4px\">x</div><!--<![endif]-->"
    );
    assert!(check(vml, "outlook.windows").issues.is_empty());
}

#[test]
fn occurrences_have_positions_and_selectors() {
    let html = "<style>\n  p.a,\n  b { display: flex }\n</style>\n<p class=\"a\">é<b style='x:y;display:flex'>x</b></p>";
    let client = check(html, "yahoo.desktop-webmail");
    assert!(client.issues.iter().all(|issue| &*issue.slug != "css-display-flex"));
    let client = check(html, "outlook.windows");
    let flex = client.issues.iter().find(|issue| &*issue.slug == "css-display-flex").expect("the use is reported");
    let places: Vec<_> =
        flex.occurrences.iter().map(|one| (one.line, one.column, one.end_column, one.selector.as_deref())).collect();
    assert_eq!(places, [(3, 16, 20, Some("p.a,\n  b")), (5, 37, 41, None)]);
    assert_eq!((flex.count, flex.reach, &*flex.occurrences[0].excerpt), (2, 2, "flex"));
    assert_eq!(flex.tested.date.len(), 7);
}

#[test]
fn a_list_of_selectors_keeps_those_that_the_client_supports() {
    let html = "<style>p, p:nth-child(2), b { color: red } i:nth-child(2) { color: red }</style><p>x</p>";
    let checker = Checker::embedded();
    let profile = checker.profile("gmail.desktop-webmail").expect("the client exists");
    let shown = transform::transform(checker, html, profile, Options::default());
    assert_eq!(shown.html, "<style>p, b { color: red } </style><p>x</p>");
    assert_eq!(shown.cuts.iter().map(|cut| cut.count).sum::<u32>(), 2);
}

#[test]
fn word_shows_what_it_understands() {
    let html = concat!(
        "<!--[if mso]><v:roundrect href=\"https://example.com/\" style=\"width:200px;height:40px\" arcsize=\"10%\" fillcolor=\"#2F6F4F\">",
        "<center>Buy</center></v:roundrect><![endif]--><!--[if !mso]><!--><a style=\"border-radius:4px\">Buy</a><!--<![endif]-->",
        "<div style=\"width:300px;padding:8px;border-radius:4px;background-image:url(a.png);color:red\">x</div>"
    );
    let checker = Checker::embedded();
    let profile = checker.profile("outlook.windows").expect("the client exists");
    let shown = transform::transform(checker, html, profile, Options::default()).html;
    assert!(shown.contains("border-radius:4px\"><center>Buy</center></div></a>"), "{shown}");
    assert!(shown.ends_with("<div style=\"color:red\">x</div>") && !shown.contains("<a style"), "{shown}");
    assert_eq!(transform::transform(checker, "<p>x</p>", profile, Options::default()).html, "<p>x</p>");
}
