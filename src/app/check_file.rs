//! `mailmill check`: runs all checks on an email in a file, without the data folder or a running service. Links are requested only if
//! `--links` is given.
//!
//! The file belongs to the user who runs the command, so it is parsed in this process, with the same limits as in a worker process.

mod report;

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use self::report::{FileReport, rule};
use super::open::{shares, support_tables};
use super::{print, runtime};
use crate::base::clock::{Clock, SystemClock};
use crate::engine::clients::findings::Checker;
use crate::engine::clients::report as clients;
use crate::engine::deliverability::message::Input;
use crate::engine::deliverability::result::analyze;
use crate::engine::fetch::{Fetch, LinkProbes};
use crate::engine::render::imported_html::{MailSource, mail_source};
use crate::engine::render::inspect::inspect;
use crate::engine::spelling::dictionaries::Dictionaries;
use crate::engine::spelling::{Options, check_html};
use crate::features::checks::accessibility::AccessibilityAnalysis;
use crate::features::checks::compatibility::CompatibilityAnalysis;
use crate::features::checks::links::check::{LinkChecker, LinkOptions};
use crate::features::checks::links::views::LinkAnalysis;
use crate::features::checks::model::EmailChecks;
use crate::features::checks::report::Results;
use crate::features::checks::results;
use crate::features::checks::rules;
use crate::features::checks::spelling::SpellingAnalysis;
use crate::surfaces::cli::{CheckFile, Problem};
use crate::vocab::limits;
use crate::vocab::settings::Settings;

/// Checks a file and prints the report. Returns the exit code.
pub(super) fn run(settings: &Settings, wanted: &CheckFile) -> Result<u8, Problem> {
    wanted.ignored.iter().try_for_each(|rule| require_rule(rule))?;
    let bytes = read(&wanted.file)?;
    let (source, is_message) = source(wanted, &bytes)?;
    let mut checks = runtime()?.block_on(check(settings, wanted, &source))?;
    checks.findings.retain(|finding| !wanted.ignored.contains(&rule(finding)));
    let report = FileReport { name: name(&wanted.file), is_message, checks, min_score: wanted.min_score };
    print(&report.shown(wanted.format()));
    Ok(report.exit_code())
}

/// Fails if no rule has this ID, because `--ignore` with an unknown rule would silently have no effect.
fn require_rule(id: &str) -> Result<(), Problem> {
    if rules::is_known(id) {
        return Ok(());
    }
    Err(Problem::misused(match rules::nearest(id) {
        Some(nearest) => format!("--ignore: there is no rule {id:?}; did you mean {nearest}?"),
        None => format!(
            "--ignore: there is no rule {id:?}; use a rule from the report, where each finding names its rule in brackets, such \
             as links/unsubscribe_missing"
        ),
    }))
}

fn name(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { file.to_string_lossy().into_owned() }
}

fn read(file: &Path) -> Result<Vec<u8>, Problem> {
    let unreadable = |error: std::io::Error| match file == Path::new("-") {
        true => Problem::misused(format_args!("stdin cannot be read: {error}; use the path of a file instead")),
        false => {
            Problem::misused(format_args!("{} cannot be read: {error}; check the path and the file's permissions", name(file)))
        }
    };
    let max = limits::DRAWN_INPUT_BYTES_MAX;
    let mut bytes = Vec::new();
    let most = max as u64 + 1;
    if file == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(unreadable)?;
    } else {
        std::fs::File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(unreadable)?;
    }
    match bytes.len() {
        0 => Err(Problem::misused(format_args!(
            "{} is empty; use a file that contains the HTML of an email, or a complete message (.eml)",
            name(file)
        ))),
        size if size > max => {
            Err(Problem::misused(format_args!("{} is larger than {} MB; use a smaller file", name(file), max / (1024 * 1024))))
        }
        _ => Ok(bytes),
    }
}

/// Returns the email in the file, and whether the file is a whole message.
fn source(wanted: &CheckFile, bytes: &[u8]) -> Result<(MailSource, bool), Problem> {
    let is_eml = wanted.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("eml"));
    let is_message = is_eml || (wanted.file == Path::new("-") && starts_with_header(bytes));
    let refused = |error: &dyn std::fmt::Display| Problem::misused(format_args!("{}: {error}", name(&wanted.file)));
    let mut source = match is_message {
        true => mail_source(bytes).map_err(|error| refused(&error))?,
        false => {
            let text = std::str::from_utf8(bytes).map_err(|_| refused(&"the file is not UTF-8; convert it to UTF-8"))?;
            MailSource { html: text.trim_start_matches('\u{feff}').to_owned(), ..MailSource::default() }
        }
    };
    if source.html.trim().is_empty() {
        return Err(refused(&"the file contains no HTML; use a file that contains the HTML of an email"));
    }
    source.subject = wanted.subject.clone().or(source.subject);
    Ok((source, is_message))
}

/// Returns whether the first line is a header field (RFC 5322 §2.2).
fn starts_with_header(bytes: &[u8]) -> bool {
    let name = bytes.split(|byte| *byte == b':').next().unwrap_or_default();
    name.len() < bytes.len() && !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'<')
}

async fn check(settings: &Settings, wanted: &CheckFile, source: &MailSource) -> Result<EmailChecks, Problem> {
    let refused = |error: &dyn std::fmt::Display| Problem::misused(format_args!("{}: {error}", name(&wanted.file)));
    let html = &source.html;
    let mut inspection = inspect(html).map_err(|error| refused(&error))?;
    for link in inspection.links.uses.iter_mut().filter(|link| source.unsubscribe_urls.contains(&link.url)) {
        link.rel.push_str(" unsubscribe");
    }
    let newer = support_tables(settings)?;
    let newer = newer.as_ref().map(|(_, checker)| checker);
    let report = clients::check(newer.unwrap_or_else(|| Checker::embedded()), html, &[]).with_shares(&shares(settings, newer)?);
    let json = serde_json::to_vec(&report).map_err(Problem::failed)?;
    let compatibility =
        CompatibilityAnalysis::read(&json, Duration::ZERO).map_err(|failure| Problem::failed(failure.sentence()))?;
    let (fetch, probes, now) = (Fetch::new(settings), LinkProbes::default(), SystemClock.now());
    let checker = LinkChecker { fetch: &fetch, probes: &probes, base: "", now };
    let start = Instant::now();
    let checked = match wanted.links {
        true => {
            let options = LinkOptions { follows: true, each: limits::LINK_CHECK_TIME, all: limits::LINKS_CHECK_TIME };
            checker.check(&inspection.links, options).await
        }
        false => checker.read(&inspection.links),
    };
    let dictionaries = Dictionaries::new(settings.validation.dictionaries.clone(), limits::DICTIONARY_IDLE_MINUTES);
    let options = Options { languages: Vec::new(), grammar: true, names: wanted.names.clone() };
    let spelling = check_html(html, &options, &dictionaries, now.0 / 1000);
    let input = Input {
        html,
        subject: source.subject.as_deref(),
        from_name: source.from_name.as_deref(),
        from_email: source.from_email.as_deref(),
        ..Input::default()
    };
    let results = Results {
        compatibility: Some(compatibility),
        links: Some(LinkAnalysis::of(&inspection.links, &checked, now, start.elapsed())),
        spelling: Some(SpellingAnalysis::of(spelling, Vec::new(), Duration::ZERO)),
        deliverability: Some(analyze(&input, None)),
        accessibility: Some(AccessibilityAnalysis::of(&inspection.accessibility)),
        incomplete: Vec::new(),
    };
    Ok(results::checks(&results, wanted.links))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings;
    use crate::features::checks::report::Check;

    fn wanted(file: &Path) -> CheckFile {
        CheckFile {
            file: file.to_owned(),
            json: false,
            sarif: false,
            min_score: None,
            links: false,
            subject: None,
            ignored: Vec::new(),
            names: Vec::new(),
        }
    }

    fn checked(file: &Path) -> Result<(EmailChecks, bool), Problem> {
        let settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the defaults are valid");
        let wanted = wanted(file);
        let (source, is_message) = source(&wanted, &read(file)?)?;
        let checks = runtime()?.block_on(check(&settings, &wanted, &source))?;
        Ok((checks, is_message))
    }

    #[test]
    fn a_file_is_checked_without_requests() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = folder.path().join("news.html");
        std::fs::write(&file, "<html lang=en><title>News</title><p>You will recieve it.</p><img src=a.png></html>")
            .expect("written");
        let (checks, is_message) = checked(&file).expect("the file is an email");
        let rules: Vec<&str> = checks.findings.iter().map(|finding| finding.rule.as_str()).collect();
        assert!(rules.contains(&"image_alt") && rules.contains(&"UNKNOWN_WORD"), "{rules:?}");
        assert!(!checks.links_requested && !is_message);
        assert!(checks.scores.overall.is_some_and(|score| score < 100));
    }

    #[test]
    fn the_html_of_a_message_is_checked_with_its_subject_and_sender() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = folder.path().join("spam.EML");
        let message = "From: Dr. Fund <a1234567@gmail.com>\r\nSubject: YOU HAVE WON A PRIZE!!!\r\nMIME-Version: 1.0\r\n\
                       Content-Type: text/html; charset=utf-8\r\n\r\n<html lang=en><p>Hello Ada, see you at nine.</p></html>";
        std::fs::write(&file, message).expect("written");
        let (checks, is_message) = checked(&file).expect("the file is an email");
        let rules: Vec<&str> = checks.findings.iter().map(|finding| finding.rule.as_str()).collect();
        assert!(is_message && rules.contains(&"subject_capitals") && rules.contains(&"from_freemail"), "{rules:?}");
    }

    #[test]
    fn a_link_to_the_url_of_the_header_list_unsubscribe_is_an_unsubscribe_link() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let has_link = |header: &str| {
            let file = folder.path().join("news.eml");
            let message = format!(
                "From: Ada <ada@acme.example>\r\nSubject: News\r\n{header}MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n\
                 <html lang=en><p>News.</p><a href=\"https://acme.example/l/1\">Manage</a></html>"
            );
            std::fs::write(&file, message).expect("written");
            let (checks, _) = checked(&file).expect("the file is an email");
            !checks.findings.iter().any(|one| one.check == Check::Links && one.rule == "unsubscribe_missing")
        };
        assert!(!has_link(""));
        assert!(has_link("List-Unsubscribe: <mailto:leave@acme.example>,\r\n <https://acme.example/l/1>\r\n"));
    }

    #[test]
    fn files_that_cannot_be_checked_are_incorrect_usage() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = |name: &str, bytes: &[u8]| {
            let file = folder.path().join(name);
            std::fs::write(&file, bytes).expect("written");
            file
        };
        for (path, word) in [
            (folder.path().join("none.html"), "cannot be read"),
            (file("empty.html", b""), "is empty"),
            (file("blank.html", b" \n"), "no HTML"),
            (file("latin.html", b"<p>Gr\xfc\xdfe"), "not UTF-8"),
            (file("deep.html", "<div>".repeat(5_000).as_bytes()), "deep.html: "),
        ] {
            let problem = checked(&path).expect_err("the file cannot be checked");
            assert!(problem.to_string().contains(word), "{problem}");
            assert_eq!(problem.code(), 2, "{problem}");
        }
    }

    #[test]
    fn shares_of_unknown_clients_are_rejected() {
        let shares = |share: &str| {
            let own = [("validation.shares".to_owned(), share.to_owned())];
            let settings = settings::load(settings::DEFAULT, None, &[], &own).map_err(|error| error.to_string())?;
            super::shares(&settings, None).map_err(|problem| problem.to_string())
        };
        let expected = [("outlook.windows", 0.6), ("gmail.ios", 0.2)].map(|(key, share)| (key.to_owned(), share));
        assert_eq!(shares("outlook.desktop-windows=0.6, gmail.ios = 0.2"), Ok(expected.into()));
        for (wrong, part) in
            [("gmail.ios", "like gmail.ios=0.06"), ("gmail.ios=2", "from 0 to 1"), ("gmail.tv=0.1", "outlook.ios")]
        {
            assert!(shares(wrong).is_err_and(|error| error.contains(part)), "{wrong}");
        }
    }

    #[test]
    fn unknown_rules_cannot_be_ignored() {
        let settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the defaults are valid");
        for (rule, part) in [("address_missing", "did you mean deliverability/address_missing?"), ("foo/bar", "in brackets")] {
            let wanted = CheckFile { ignored: vec![rule.to_owned()], ..wanted(Path::new("none.html")) };
            let problem = run(&settings, &wanted).expect_err("the rule does not exist");
            assert_eq!(problem.code(), 2);
            assert!(problem.to_string().contains(part), "{problem}");
        }
        assert_eq!(require_rule("links/unsubscribe_missing"), Ok(()));
    }

    #[test]
    fn a_message_on_standard_input_is_recognized_by_its_headers() {
        assert!(starts_with_header(b"Subject: Hi\r\n\r\n"));
        for html in ["<html>", "<p style=\"color:red\">", "Hello there: <p>", ""] {
            assert!(!starts_with_header(html.as_bytes()), "{html}");
        }
    }
}
