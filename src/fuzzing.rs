//! TABLE: fuzz targets for parsers that read untrusted input.
//!
//! Two drivers run the targets. On stable Rust, the tests below mutate the seeds for `FUZZ_SECONDS` each (CI: 60). `tests/fuzz` runs the
//! targets under libFuzzer, with coverage guidance. A target calls its parser, which must not panic, and checks rules that hold for any
//! input, such as a bounded output. An input that crashed a target is added to `tests/samples/fuzz`. Every run starts with these inputs.

mod cursors;
mod platforms;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::base::clock::Timestamp;
use crate::base::strict_objects::Objects;
use crate::engine::access::jwt::Tokens as Jwt;
use crate::engine::access::links::Links;
use crate::engine::access::token;
use crate::engine::api::input::Arguments;
use crate::engine::api::response::WireTime;
use crate::engine::clients::findings::Checker;
use crate::engine::clients::report;
use crate::engine::deliverability::message::Input;
use crate::engine::deliverability::result::analyze;
use crate::engine::mail::inbound::listener::{HandlerResult, Handling, MailHandler, ReceivedMessage, converse};
use crate::engine::mail::inbound::{self, Envelope};
use crate::engine::render::inspect::inspect;
use crate::engine::render::merge::{OutputKind, Template};
use crate::engine::render::pixels::client_views;
use crate::engine::render::{css, html_limits, imported_html, mjml};
use crate::engine::spelling;
use crate::engine::spelling::dictionaries::Dictionaries;
use crate::engine::store::seal::Seal;
use crate::engine::tasks::Tasks;
use crate::features::contacts::jobs::{Columns, Encoding, Records, Sniffer, headers};
use crate::features::filters::FilterTree;
use crate::features::sending::token::Tokens;
use crate::operations::OPERATIONS;
use crate::vocab::limits;

/// A parser to fuzz, with seeds and words for its inputs.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// The folders under `tests/samples` with seeds, in addition to `fuzz/NAME`.
    pub seeds: &'static [&'static str],
    /// Words that the target's parser recognizes.
    pub words: &'static [&'static str],
}

pub const TARGETS: &[Target] = &[
    Target {
        name: "mime",
        run: mime,
        seeds: &["bounces"],
        words: &["\r\n\r\n", "\r\n--b\r\n", "Content-Type: multipart/mixed; boundary=b\r\n", "=?utf-8?q?=00?=", "base64"],
    },
    Target {
        name: "dsn",
        run: dsn,
        seeds: &[],
        words: &["Final-Recipient: rfc822; ", "Action: failed", "Status: 5.1.1", "Diagnostic-Code: smtp; 550 ", "\r\n\r\n"],
    },
    Target {
        name: "arf",
        run: arf,
        seeds: &[],
        words: &["Feedback-Type: abuse", "Original-Rcpt-To: ", "Version: 1", "User-Agent: x", "\r\n\r\n"],
    },
    Target {
        name: "smtp_server",
        run: smtp_server,
        seeds: &[],
        words: &[
            "EHLO x\r\n",
            "MAIL FROM:<>\r\n",
            "RCPT TO:<b+t@x.example>\r\n",
            "DATA\r\n",
            "\r\n.\r\n",
            "BDAT 5 LAST\r\n",
            "SIZE=",
        ],
    },
    Target {
        name: "html",
        run: html,
        seeds: &["emails", "imported-html"],
        words: &[
            "<table>",
            "</td>",
            "<!--[if mso]>",
            "<![endif]-->",
            "<style>",
            "&#x0;",
            "javascript:",
            "<svg><script>",
            "style=\"",
        ],
    },
    Target {
        name: "css",
        run: css,
        seeds: &[],
        words: &["@media", "@import", "url(", "\\0", "/*", "*/", "!important", "calc(", "{", "}", "#fff", "rgba("],
    },
    Target {
        name: "template",
        run: template,
        seeds: &["emails"],
        words: &[
            "{{ ",
            " }}",
            "{% if ",
            "{% for x in ",
            "{% endif %}",
            "{% endfor %}",
            "|default(",
            "|date(",
            "first_name",
            "}}}",
        ],
    },
    Target {
        name: "csv",
        run: csv,
        seeds: &[],
        words: &["\"", "\"\"", ",", ";", "\r\n", "email", "\u{feff}", "customFields.x", "\0"],
    },
    Target {
        name: "json_body",
        run: json_body,
        seeds: &[],
        words: &[
            "{\"",
            "\":",
            "null",
            "[",
            "]",
            "1e400",
            "18446744073709551616",
            "\\ud800",
            "projectId",
            "66f1a2b3d4e5f60718293a4b",
        ],
    },
    Target {
        name: "segment_filter",
        run: segment_filter,
        seeds: &[],
        words: &["\"fields\":[", "\"groups\":[", "\"mode\":\"date_between\"", "\"any\"", "\"values\":[", "\"activity\":["],
    },
    Target {
        name: "url",
        run: url,
        seeds: &[],
        words: &["https://", "@", "[::1]", "0x7f.1", "%00", "\\", "xn--", "..", "?utm_source=", "{{ x }}", "mailto:", "data:"],
    },
    Target {
        name: "date",
        run: date,
        seeds: &[],
        words: &["2026-02-29", "T24:00:00Z", "+25:00", "9999-12-31", "-000001", "[Europe/Berlin]", "23:59:60", "Mon, 1 Jan"],
    },
    Target { name: "token", run: token, seeds: &[], words: &["sk_test_", "sk_live_", ".", "eyJ", "_", "-", "=", "u+", "b+"] },
    Target {
        name: "mjml",
        run: mjml,
        seeds: &["emails"],
        words: &[
            "<mjml>",
            "<mj-body>",
            "<mj-section>",
            "<mj-column width=\"",
            "<mj-raw>",
            "<mj-include path=\"",
            "</mj-text>",
            "<![CDATA[",
        ],
    },
    Target { name: "client_report", run: client_report, seeds: &["emails"], words: EMAIL_WORDS },
    Target { name: "preview", run: preview, seeds: &["emails"], words: EMAIL_WORDS },
    Target {
        name: "spelling",
        run: spelling_text,
        seeds: &[],
        words: &[
            "their", " is ", "it's", "\u{2019}", "{{", "}}", "&nbsp;", "<b>", "</b>", ". ", "recieve", "\u{ad}", "ß", "你好", "-",
        ],
    },
    Target {
        name: "deliverability",
        run: deliverability,
        seeds: &["validation/deliverability"],
        words: &[
            "FREE",
            "$$$",
            "http://1.2.3.4/",
            "<span style=\"display:none\">",
            "&#0;",
            "w i n",
            "\u{200b}",
            "!!!",
            "<a href=",
        ],
    },
    Target {
        name: "check_file",
        run: check_file,
        seeds: &["bounces"],
        words: &["Content-Type: text/html; charset=utf-8\r\n", "Subject: =?utf-8?q?=00?=\r\n", "\r\n\r\n", "<p>", "--b--"],
    },
    Target {
        name: "support_tables",
        run: support_tables,
        seeds: &[],
        words: &["\"stats\":", "\"notes_by_num\":", "\"y #1\"", "\"a #1 #2\"", "\"2026-01\"", "{", "}", "[", "]", "null", "-1"],
    },
    platforms::PLATFORM_CONTACTS,
    platforms::PLATFORM_RESPONSES,
    platforms::STORE_WEBHOOK,
    platforms::INCOMING_WEBHOOK,
    platforms::MAIL_FEEDBACK,
    cursors::CURSOR,
];

const EMAIL_WORDS: &[&str] = &[
    "<style>",
    "</style>",
    "@media (prefers-color-scheme: dark) {",
    "style=\"",
    "rgb(0 128 0 / 50%)",
    "<!--[if mso]>",
    "<![endif]-->",
    "<v:rect style=\"",
    "url(",
    "/*",
    ":not(",
    "!important",
    "width=",
    "<table>",
];

const ENVELOPE: Envelope<'_> = Envelope { sender: "", recipient: "b+token@bounces.acme.example" };

/// Fuzzes the message parser: the input is the whole message.
fn mime(data: &[u8]) {
    if let Ok(incoming) = inbound::read(data, &ENVELOPE) {
        assert!(incoming.tokens.len() <= data.len(), "tokens come from the message");
    }
    // The message parser also reads the mail files that users import.
    let _ = imported_html::mail(data);
}

/// Fuzzes one part of an otherwise valid bounce or complaint report, so that mutations reach the part's parser.
fn part(kind: &str, report: &str, data: &[u8]) {
    let head = format!(
        "From: mailer-daemon@example.com\r\nContent-Type: multipart/report; report-type={report}; boundary=b\r\n\r\n\
         --b\r\n\r\nIt did not arrive.\r\n--b\r\nContent-Type: message/{kind}\r\n\r\n"
    );
    let _ = inbound::read(&[head.as_bytes(), data, b"\r\n--b--\r\n"].concat(), &ENVELOPE);
}

fn dsn(data: &[u8]) {
    part("delivery-status", "delivery-status", data);
}

fn arf(data: &[u8]) {
    part("feedback-report", "feedback-report", data);
}

/// An inbox that accepts every message.
struct Anything;

impl MailHandler for Anything {
    fn wants(&self, _: &str) -> bool {
        true
    }

    fn take(&self, mail: ReceivedMessage) -> Handling {
        assert!(!mail.recipients.is_empty(), "a message without recipients is not accepted");
        assert!(!mail.bytes.windows(3).any(|three| three[1] == b'\n' && three[0] != b'\r'), "lines end in CRLF");
        Box::pin(std::future::ready(HandlerResult::Durable))
    }
}

fn smtp_server(data: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime can be created");
    runtime.block_on(async {
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        converse(Arc::new(Anything), tasks.shutdown(), data).await;
    });
}

fn html(data: &[u8]) {
    let Ok(html) = std::str::from_utf8(data) else { return };
    let Ok(clean) = imported_html::html(html, &HashMap::new()) else { return };
    let lower = clean.html.to_ascii_lowercase();
    assert!(!lower.contains("<script") && !lower.contains("<iframe"), "{}", clean.html);
}

fn css(data: &[u8]) {
    let Ok(sheet) = std::str::from_utf8(data) else { return };
    for piece in css::pieces(sheet) {
        if let css::CssRule::Rule { body, .. } = piece {
            for declaration in css::declarations(body) {
                let _ = css::with_urls(declaration.value, &mut |address| address.to_owned());
                let _ = css::with_colors(declaration.value, &mut |_| None);
            }
        }
    }
}

fn template(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let fields = json!({
        "first_name": "Ada", "email": "ada@example.com", "language": "de", "tags": ["a", "b"], "x": null, "n": 9007199254740993_i64,
        "when": "2026-02-28T09:30:00Z", "nested": { "list": [1, 2.5, true] },
    });
    let Value::Object(fields): Value = fields else { return };
    for kind in [OutputKind::Html, OutputKind::Text, OutputKind::Header] {
        let Ok(template) = Template::compile(source, kind) else { continue };
        let _ = template.missing(&fields);
        let _ = template.missing(&Map::new());
        let _ = template.render(&Map::new());
        if let Ok(text) = template.render(&fields) {
            assert!(text.len() <= limits::MERGE_OUTPUT_BYTES_MAX, "the output is bounded");
        }
    }
}

fn csv(data: &[u8]) {
    let (mut sniffer, mut bytes) = (Sniffer::default(), Vec::new());
    // The input is passed in small chunks with arbitrary boundaries, like an upload.
    data.chunks(7).for_each(|part| sniffer.take(part, &mut bytes));
    let encoding: Encoding = sniffer.end(&mut bytes);
    for delimiter in [b',', b';', b'\t'] {
        let Ok((headers, offset)) = headers(&bytes, delimiter, encoding) else { continue };
        let offset = usize::try_from(offset).expect("a file in memory is smaller than the address space");
        assert!(offset <= bytes.len(), "the rows begin within the file");
        let Ok(columns) = Columns::guessed(&headers) else { continue };
        let mut records = Records::new(&bytes[offset..], delimiter, offset as u64);
        let mut row = 1;
        while let Ok(Some(record)) = records.read() {
            let _ = columns.contact_input(&record, encoding, row);
            row += 1;
        }
        assert!(records.offset() <= bytes.len() as u64, "the reader stays within the file");
    }
}

/// Fuzzes the input of operations. The first byte selects the operation, and the remaining bytes are its body or its query.
fn json_body(data: &[u8]) {
    let Some((&first, body)) = data.split_first() else { return };
    let entry = &OPERATIONS[usize::from(first) % OPERATIONS.len()];
    let read = |query: &str, body: &[u8]| {
        let arguments = Arguments { spec: entry.spec, path: Vec::new(), query, body, given: None };
        if let Err(failure) = (entry.reads)(&arguments) {
            assert!(failure.cause.is_none(), "{} answers 500 to {:?}", entry.spec.id, String::from_utf8_lossy(body));
        }
    };
    match entry.spec.verb.has_body() {
        true => read("", body),
        false => read(&String::from_utf8_lossy(body), b""),
    }
}

fn segment_filter(data: &[u8]) {
    let mut reader = serde_json::Deserializer::from_slice(data);
    if let Ok(tree) = FilterTree::deserialize(Objects(&mut reader))
        && let Err(failure) = tree.check("filters")
    {
        assert!(failure.cause.is_none(), "an invalid filter is a client error");
    }
}

fn url(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = crate::features::sending::marked(text, &Default::default());
    if let Ok(url) = text.parse::<Url>()
        && let Some(host) = url.host_str()
    {
        let _ = crate::base::domain::DomainName::parse(host);
    }
    let _ = crate::base::email::EmailAddress::parse(text).map(|email| email.normalized());
}

fn date(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(moment) = text.parse::<WireTime>() {
        assert!(serde_json::to_string(&moment).is_ok(), "a value that was read can be written");
    }
    let _ = crate::base::zone::Zone::parse(text);
    for mode in ["date_on", "date_after", "number_gt"] {
        let field = json!({ "fields": [{ "key": "x", "mode": mode, "values": [text] }] });
        if let Ok(tree) = FilterTree::deserialize(field) {
            let _ = tree.check("filters");
        }
    }
}

/// Fuzzes the parsers of tokens. Random input is practically never a valid token, so if a parser accepts it, tokens can be forged.
fn token(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = token::parse(text).map(|key| key.hash());
    let seal = Seal::from_key(&[7; 32]);
    let tokens = Tokens::new(&seal);
    assert!(tokens.read_link(text).is_none() && tokens.read_local_part(text).is_none(), "a forged token: {text}");
    assert!(Jwt::new([1; 32], "at+jwt", "api").read("https://mail.example.com", text).is_none(), "a forged JWT: {text}");
    assert!(!Links::new([2; 32]).check("/a", text, Timestamp(0)), "a forged link: {text}");
    let _ = inbound::Token::of_address(text);
}

fn mjml(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let _ = mjml::to_html(source);
}

fn client_report(data: &[u8]) {
    let Ok(html) = std::str::from_utf8(data) else { return };
    if html_limits::admit(html).is_err() {
        return;
    }
    let report = report::check(Checker::embedded(), html, &[]);
    assert!(report.summary.compatibility_score <= 100);
}

/// Fuzzes the conversion of an email into what each client shows, which must be HTML of a bounded size.
fn preview(data: &[u8]) {
    let Ok(html) = std::str::from_utf8(data) else { return };
    let devices = ["outlook.windows.dark", "gmail.desktop-webmail.no-images", "gmail.ios.dark", "apple-mail.ios", "plain.text"];
    let Ok(views) = client_views::of(Checker::embedded(), html, &devices.map(String::from)) else { return };
    for view in views {
        assert!(view.html.len() <= 64 * (html.len() + 1024), "{}: {} bytes of {}", view.head.device, view.html.len(), html.len());
    }
}

fn spelling_text(data: &[u8]) {
    static DICTIONARIES: LazyLock<Dictionaries> = LazyLock::new(|| Dictionaries::new(None, u32::MAX));
    let Ok(html) = std::str::from_utf8(data) else { return };
    let options = spelling::Options { languages: vec!["en".to_owned()], grammar: true, names: Vec::new() };
    let report = spelling::check_html(html, &options, &DICTIONARIES, 0);
    assert!(report.errors.len() <= spelling::FINDINGS_MAX);
    for finding in &report.errors {
        assert!(html.get(finding.offset..finding.offset + finding.length).is_some(), "{finding:?}");
    }
}

fn deliverability(data: &[u8]) {
    let Ok(html) = std::str::from_utf8(data) else { return };
    let start = html.lines().next().unwrap_or_default();
    let input =
        Input { html, subject: Some(start), from_name: Some(start), from_email: Some("a@example.com"), ..Input::default() };
    assert!(analyze(&input, None).spam_score.score.is_finite());
}

/// Fuzzes the parsers of `mailmill check`: the parser of messages, and the parser of their HTML.
fn check_file(data: &[u8]) {
    let Ok(source) = imported_html::mail_source(data) else { return };
    let _ = inspect(&source.html);
}

fn support_tables(data: &[u8]) {
    let Ok(checker) = Checker::parse(data) else { return };
    let _ = report::check(&checker, "<p style=\"border-radius:4px\">x</p><video src=a.mp4></video>", &[]);
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;
    use crate::base::random::{Random, SeededRandom};

    /// The maximum time for an input. An input that takes longer could be used to keep the server busy. The limit is high, because debug
    /// builds are tens of times slower than release builds.
    const SLOW: Duration = Duration::from_secs(10);
    const INPUT_BYTES_MAX: usize = 64 * 1024;
    const DEFAULT_SECONDS: u64 = 2;

    #[expect(clippy::disallowed_methods, reason = "the person or job that runs the fuzzer chooses the duration")]
    fn setting(name: &str, default: u64) -> u64 {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
    }

    fn seeds(target: &Target) -> Vec<Vec<u8>> {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
        let own = format!("fuzz/{}", target.name);
        let folders = target.seeds.iter().copied().chain([own.as_str()]);
        let files = folders.flat_map(|folder| std::fs::read_dir(samples.join(folder)).into_iter().flatten());
        let mut paths: Vec<PathBuf> = files.map(|file| file.expect("the sample can be read").path()).collect();
        paths.sort();
        let seeds: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("the sample can be read")).collect();
        assert!(!seeds.is_empty(), "{} has seeds", target.name);
        seeds
    }

    struct Mutator {
        random: SeededRandom,
        seeds: Vec<Vec<u8>>,
        words: &'static [&'static str],
    }

    impl Mutator {
        fn below(&self, limit: usize) -> usize {
            let random: &dyn Random = &self.random;
            u32::from_le_bytes(random.bytes()) as usize % limit.max(1)
        }

        fn next(&self) -> Vec<u8> {
            let mut input = self.seeds[self.below(self.seeds.len())].clone();
            for _ in 0..=self.below(6) {
                self.change(&mut input);
            }
            input.truncate(INPUT_BYTES_MAX);
            input
        }

        fn change(&self, input: &mut Vec<u8>) {
            let at = self.below(input.len() + 1);
            let end = (at + 1 + self.below(32)).min(input.len()).max(at);
            match self.below(8) {
                0 if at < input.len() => input[at] ^= 1 << self.below(8),
                1 => drop(input.splice(at..at, self.words[self.below(self.words.len())].bytes())),
                2 => drop(input.drain(at..end)),
                3 => {
                    let copied = input[at..end].to_vec();
                    let times = 1 + self.below(64);
                    drop(input.splice(at..at, copied.repeat(times)));
                }
                4 => input.truncate(at),
                5 => {
                    let other = &self.seeds[self.below(self.seeds.len())];
                    let from = self.below(other.len() + 1);
                    input.truncate(at);
                    input.extend_from_slice(&other[from..]);
                }
                6 => drop(input.splice(at..end, self.words[self.below(self.words.len())].bytes())),
                _ => input.insert(at, self.below(256) as u8),
            }
        }
    }

    /// Runs one input on the test's thread, whose stack is as large as those of the server's worker threads. Returns a description of the
    /// failure, if there is one.
    fn complaint(target: &Target, input: &[u8]) -> Option<String> {
        let started = Instant::now();
        let run = target.run;
        let outcome = std::panic::catch_unwind(|| run(input));
        let took = started.elapsed();
        match outcome {
            Err(_) => Some("it panics".to_owned()),
            Ok(()) if took > SLOW => Some(format!("it takes {took:?}")),
            Ok(()) => None,
        }
    }

    fn fuzz(name: &str) {
        let target = TARGETS.iter().find(|target| target.name == name).expect("a target with this name exists");
        let seeds = seeds(target);
        let check = |input: &[u8]| {
            if let Some(complaint) = complaint(target, input) {
                let path = std::env::temp_dir().join(format!("fuzz-{name}-{:016x}", crc32fast::hash(input)));
                std::fs::write(&path, input).expect("a file can be written to a temporary folder");
                panic!("{complaint}; the input is {}: add it to tests/samples/fuzz/{name}", path.display());
            }
        };
        seeds.iter().for_each(|seed| check(seed));
        let seed = setting("FUZZ_SEED", 1);
        let mutator = Mutator { random: SeededRandom::new(seed), seeds, words: target.words };
        let (time, started, mut runs) = (Duration::from_secs(setting("FUZZ_SECONDS", DEFAULT_SECONDS)), Instant::now(), 0_u64);
        while started.elapsed() < time {
            check(&mutator.next());
            runs += 1;
        }
        println!("{name}: {runs} inputs in {} s, seed {seed}", time.as_secs());
        assert!(time.is_zero() || runs > 0);
    }

    macro_rules! targets {
        ($($name:ident)*) => {
            $(#[test] fn $name() { fuzz(stringify!($name)) })*

            #[test]
            fn every_target_has_a_test() {
                assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), [$(stringify!($name)),*]);
            }
        };
    }

    targets! {
        mime dsn arf smtp_server html css template csv json_body segment_filter url date token mjml client_report preview spelling deliverability check_file support_tables platform_contacts platform_responses store_webhook incoming_webhook mail_feedback cursor
    }
}
