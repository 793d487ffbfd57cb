//! Hostile and large inputs: the work is bounded, nothing panics, and fixes never lower the score.

#![expect(clippy::disallowed_methods, reason = "the tests measure time")]

use std::time::{Duration, Instant};

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use mailmill::engine::clients::findings::Checker;
use mailmill::engine::clients::html;
use mailmill::engine::clients::report::{self, Report};
use mailmill::engine::clients::transform::{self, Options};
use proptest::prelude::*;

use super::many;

fn check(html: &str) -> Report {
    report::check(Checker::embedded(), html, &[])
}

/// Returns the time of a check in all clients and of a transform for Gmail and Word.
fn time(html: &str) -> Duration {
    let checker = Checker::embedded();
    let start = Instant::now();
    check(html);
    for key in ["gmail.desktop-webmail", "outlook.windows"] {
        let profile = checker.profile(key).expect("the client exists");
        transform::transform(checker, html, profile, Options { dark: true, images: false, ..Options::default() });
    }
    start.elapsed()
}

fn hostile() -> Vec<(&'static str, String)> {
    let style = |css: String| format!("<style>{css}</style><p class=\"a\">x</p>");
    vec![
        ("deep elements", many("<div>", 200_000)),
        ("end tags without start", many("<div>", 500) + &many("</b></p>", 200_000)),
        ("open formatting", many("<b><td>", 100_000) + &many("</b>", 100_000)),
        ("open tags", many("<a href=\"", 200_000)),
        ("unclosed tag", "<p ".to_owned() + &many("a=b ", 300_000)),
        ("attributes", format!("<p {}>x</p>", many("style=\"color:red\" ", 100_000))),
        ("comments", many("<!--", 300_000)),
        ("conditional comments", many("<!--[if mso]>", 100_000)),
        ("conditional comments, one end", many("<!--[if mso]>", 100_000) + "<![endif]-->"),
        ("revealed comments", many("<!--[if mso]><!-->x", 50_000) + &many("<!--<![endif]-->", 50_000)),
        ("bogus conditionals", many("<![if !mso]>x<![endif]>", 50_000)),
        ("expressions", format!("<!--[if {}]>x<![endif]-->", many("(", 100_000))),
        ("rules", style(many(".a{color:red}", 100_000))),
        ("rules that match all", many("<p>x", 20_000) + &style(many("*{color:red}", 50_000))),
        ("descendants", many("<div>", 500) + &style(many("div div div div b{color:red}", 10_000)) + &many("<b>x</b>", 5_000)),
        (
            "siblings",
            many("<p class=a>x</p>", 20_000) + &style(many(".a ~ .a ~ .a ~ .b{color:red}", 1_000)) + &many("<p class=b>", 2_000),
        ),
        ("nested rules", style(many(".a{", 100_000))),
        ("nested media", style(many("@media screen{", 100_000))),
        ("media", style(many("@media (min-width:1px){.a{color:red}}", 50_000))),
        ("brackets", style(format!(".a{{color:{}", many("(", 300_000)))),
        ("functions", style(format!(".a{{width:{}", many("calc(", 200_000)))),
        ("selector", style(format!("{}{{color:red}}", many(".a", 200_000)))),
        ("pseudo-classes", style(format!("{}{{color:red}}", many(":hover", 100_000)))),
        ("selectors", style(format!("{}{{color:red}}", many(".a,", 200_000)))),
        ("long value", style(format!(".a{{background:{}", many("url(a.png),", 100_000)))),
        ("declarations", format!("<p style=\"{}\">x</p>", many("width:calc(1px + 2rem);", 50_000))),
        ("anchors", many("<a href=\"#a\">x</a>", 60_000)),
        ("lists", many("<ol>", 50_000) + &many("<ol><li>x</li></ol>", 50_000)),
        ("styles", many("<style>p{color:red}</style><p>", 20_000)),
        ("line", many("<font color=red>é</font> ", 200_000)),
        ("less than", many("<", 1_000_000)),
        ("references", format!("<p style=\"{}\">x</p>", many("&quot;", 200_000))),
        ("images", many("<img src=\"data:image/gif;base64,AAAA\" srcset=\"a.png 1x, b.webp 2x\">", 20_000)),
        ("zero bytes", many("\0<p\0 style=\0>", 100_000)),
        ("five megabytes", many("<table width=100%><tr><td style=\"padding:4px;color:rgb(0 1 2)\">x</td></tr></table>", 60_000)),
        ("five megabytes of text", many("word ", 1_000_000)),
    ]
}

#[test]
fn hostile_emails_take_bounded_time() {
    let mut slow = Vec::new();
    for (name, html) in hostile() {
        let spent = time(&html);
        println!("{:>6} ms  {:>4} KB  {name}", spent.as_millis(), html.len() / 1024);
        // Unoptimized code on a busy machine is about ten times slower than a release build.
        if spent > Duration::from_secs(20) {
            slow.push(name);
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

/// Returns a newsletter of about 100 KB.
fn newsletter() -> String {
    let receipt = include_str!("../../samples/validation/compatibility/receipt.html");
    let (head, rest) = receipt.split_once("<table class=\"body-action\"").expect("the receipt has a button");
    let (button, tail) = rest.split_once("</table>").expect("the table ends");
    format!("{head}{}{tail}", format!("<table class=\"body-action\"{button}</table>").repeat(118))
}

#[test]
#[ignore = "measures time; run it in a release build"]
fn a_newsletter_takes_less_than_five_milliseconds() {
    let html = newsletter();
    check(&html);
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(check(&html));
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("{} KB in all clients: median {:?}, worst {:?}", html.len() / 1024, times[100], times[199]);
    let start = Instant::now();
    let checker = Checker::embedded();
    for profile in &checker.profiles {
        std::hint::black_box(transform::transform(checker, &html, profile, Options::default()));
    }
    println!("transforms for {} clients: {:?}", checker.profiles.len(), start.elapsed());
    assert!(times[100] < Duration::from_millis(5), "{:?}", times[100]);
}

/// Parts of emails that have findings, each of which can be removed.
const PARTS: &[&str] = &[
    "<p style=\"margin:-4px\">x</p>",
    "<div style=\"display:flex;gap:4px\"><p>x</p></div>",
    "<video src=\"https://example.com/a.mp4\"></video>",
    "<table style=\"padding:4px\"><tr><td style=\"border:10px solid red\">x</td></tr></table>",
    "<form><input type=\"text\"><button>x</button></form>",
    "<a href=\"#a\">x</a>",
    "<p class=\"a\" style=\"color:rgb(0 1 2)\">x</p>",
    "<img src=\"https://example.com/a.svg\" alt=\"x\">",
    "<!--[if mso]><div style=\"padding:4px\">x</div><![endif]-->",
    "<style>.a:hover{color:red}</style>",
    "<style>@media screen{@media (min-height:1px){p{color:red}}}</style>",
    "<style>p{position:absolute;color:red!IMPORTANT}</style>",
    "<span style=\"width:10rem;float:left\">x</span>",
    "<section><ol reversed><li>x</li></ol></section>",
    "plain text",
    "<div style=\"display:none;opacity:0;float:left\">x</div>",
    "<style>@font-face{font-family:A;src:url(a.woff)} .a, b:nth-child(2){text-shadow:0 0 1px red}</style>",
    "<!--[if !mso]><!--><p style=\"line-height:20px;font-weight:500\">x</p><!--<![endif]-->",
    "<p style=\"font-size:1.5rem;text-align:start;line-height:20px;font-weight:500\">x</p>",
];

fn any_text() -> impl Strategy<Value = String> {
    let parts = concat!(
        "(<style>|<p style=\"|@media|\\{|\\}|;|color:|rgb\\(|<!--\\[if mso\\]>|<!\\[endif\\]-->|<td>|</|é|\u{0}|url\\(|!important|",
        "\">|</style>){0,60}"
    );
    prop_oneof!["[<>/!a-e=\"' {}:;@.#&\\[\\]()-]{0,200}", parts]
}

fn tags() -> impl Strategy<Value = String> {
    concat!(
        "(<p|<a|<td|<table|<style>|</style>|<b>|</b>|</p>|</table>| class=|\"|'|x|=|/|>|<!--|-->|<!|&amp;| |\n|<tr>|<li>|<br/>|",
        "<img src=a>|<DIV Id='a\"b'>|</div>){0,25}"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn removing_a_part_never_lowers_the_score(choice in prop::collection::vec(0..PARTS.len(), 1..12), removed in 0..12_usize) {
        let join = |parts: &[usize]| parts.iter().map(|part| PARTS[*part]).collect::<String>();
        let before = check(&join(&choice));
        let mut rest = choice.clone();
        rest.remove(removed % choice.len());
        let after = check(&join(&rest));
        prop_assert!(after.summary.compatibility_score >= before.summary.compatibility_score);
        for (before, after) in before.client_issues.iter().zip(&after.client_issues) {
            prop_assert!(after.score >= before.score, "{} {} {}", before.client, before.score, after.score);
        }
    }

    #[test]
    fn an_automatic_fix_never_lowers_the_score(choice in prop::collection::vec(0..PARTS.len(), 1..8)) {
        let html: String = choice.iter().map(|part| PARTS[*part]).collect();
        let before = check(&html);
        let issues = before.client_issues.iter().flat_map(|client| client.issues.iter().chain(&client.warnings));
        let fixes = issues.filter_map(|issue| issue.autofix.clone());
        for fix in fixes {
            let mut fixed = html.clone();
            for edit in fix.iter().rev() {
                fixed.replace_range(edit.start as usize..edit.end as usize, &edit.replacement);
            }
            prop_assert!(check(&fixed).summary.compatibility_score >= before.summary.compatibility_score, "{}", fixed);
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(html in any_text()) {
        let checker = Checker::embedded();
        let report = check(&html);
        prop_assert!(report.summary.compatibility_score <= 100);
        for key in ["gmail.ios", "outlook.windows"] {
            let profile = checker.profile(key).expect("the client exists");
            transform::transform(checker, &html, profile, Options { dark: true, images: false, ..Options::default() });
        }
    }

    #[test]
    fn tags_and_attributes_are_those_of_html5ever(html in tags()) {
        prop_assert_eq!(ours(&html), theirs(&html));
    }
}

type Tags = Vec<(String, Vec<String>)>;

/// Returns the start tags of an email with the names of their attributes, without repeated ones.
fn ours(html: &str) -> Tags {
    let document = html::parse(html, false);
    let attributes = |element: &html::Element<'_>| {
        let mut names: Vec<String> = document.attributes_of(element).iter().map(|attribute| attribute.name.to_string()).collect();
        names.sort();
        names.dedup();
        names
    };
    document.elements.iter().map(|element| (element.name.to_string(), attributes(element))).collect()
}

#[derive(Default)]
struct Sink(std::cell::RefCell<Tags>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        if tag.kind != TagKind::StartTag {
            return TokenSinkResult::Continue;
        }
        let mut names: Vec<String> = tag.attrs.iter().map(|attribute| attribute.name.local.to_string()).collect();
        names.sort();
        self.0.borrow_mut().push((tag.name.to_string(), names));
        if &*tag.name == "style" { TokenSinkResult::RawData(RawKind::Rawtext) } else { TokenSinkResult::Continue }
    }
}

/// Returns the start tags that html5ever finds.
fn theirs(html: &str) -> Tags {
    let queue = BufferQueue::default();
    queue.push_back(html.into());
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}
