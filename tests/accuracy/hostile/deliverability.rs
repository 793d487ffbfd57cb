//! Input that was built to break the check: it must end soon, and never panic.

use mailmill::engine::deliverability::authentication::{DmarcScope, Lookup, Records, Selector, Sending, audit};
use mailmill::engine::deliverability::message::Input;
use mailmill::engine::deliverability::result::analyze;
use proptest::prelude::*;

use super::many;

fn check(html: &str) {
    let found =
        analyze(&Input { html, subject: Some(html), from_name: Some(html), from_email: Some(html), ..Input::default() }, None);
    assert!(found.prediction.score.is_finite() && found.spam_score.score.is_finite());
    assert!((0.0..=0.8).contains(&found.prediction.confidence));
    let places = found.spam_score.findings.iter().map(|finding| finding.evidence.len()).max().unwrap_or_default();
    assert!(places <= 5);
}

#[expect(clippy::disallowed_methods, reason = "the test measures time")]
fn timed(name: &str, html: &str) {
    let start = std::time::Instant::now();
    check(html);
    let elapsed = start.elapsed();
    println!("{name}: {} bytes in {elapsed:?}", html.len());
    assert!(elapsed.as_secs() < 5, "{name} took {elapsed:?}");
}

#[test]
fn large_and_nested_input_ends_soon() {
    timed("5 MB of text", &many("A word of free money, $5,000! ", 170_000));
    timed("10,000 links", &many("<a href='http://user@192.0.2.1:81/a?b=c@d'>www.a.example</a>", 10_000));
    timed("1 MB word", &many("a", 1 << 20));
    timed("1 MB subject-like word with digits", &many("v1", 1 << 19));
    timed("nested elements", &many("<div style='font-size:90%'>", 180_000));
    timed("nested tables", &many("<table><tr><td>", 300_000));
    timed("end tags in deep nesting", &("<b><table>".to_owned() + &"<i>".repeat(300) + &many("</b>", 1_000_000)));
    timed("unclosed comment", &many("<!--", 1_200_000));
    timed("unclosed tags", &many("<a href=\"", 500_000));
    timed("many attributes", &format!("<p {}>", many("a=1 ", 1_000_000)));
    timed("large style", &format!("<p style='{}'>x</p>", many("color:#fff;", 400_000)));
    timed("references", &many("&#x76;&amp;&notit;&", 250_000));
    timed("zero-width characters", &many("a\u{200B}", 1_000_000));
    timed("hidden passages", &many("<p hidden>words that are hidden</p>", 140_000));
    timed("single letters", &many("q w e r t y ", 400_000));
    timed("less-than signs", &many("<", 5_000_000));
    timed("scripts", &many("<script></script>", 300_000));
    timed("closing slashes", &many("</", 2_000_000));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures time")]
fn a_newsletter_of_100_kb_takes_less_than_10_ms() {
    let html = include_str!("../../samples/validation/deliverability/newsletter.html").repeat(112);
    let input = Input { html: &html, subject: Some("Three new glazes for autumn"), ..Input::default() };
    // Use the shortest of several runs, because other tests run at the same time.
    let run = || {
        let start = std::time::Instant::now();
        analyze(&input, None);
        start.elapsed()
    };
    let least = (0..30).map(|_| run()).min().unwrap_or_default();
    println!("{} bytes in {least:?}", html.len());
    // Debug builds are several times slower.
    assert!(cfg!(debug_assertions) || least.as_millis() < 10, "{least:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_text_is_checked(text in "\\PC{0,400}") {
        check(&text);
    }

    #[test]
    fn any_markup_is_checked(parts in prop::collection::vec(prop::sample::select(vec![
        "<a href='", "http://", "@", "%2e", "[::1]", ":99999999", "'>", "</a>", "<img src=x width=-1 ", "alt=>", "<p style='", "font-size:", "1e999px", "NaNpx",
        "color:rgb(256,0,0)", ";", "<!--", "-->", "&#", "x110000;", "&notin", "$", "€1,000,000", "M0ney", "é", "\u{200B}", "<xyz", ">", "\"", " ", "\u{1F600}",
        "display:none", "<table><td>", "</td>", "<script>", "</script", "#é", "#12345é",
    ]), 0..60)) {
        check(&parts.concat());
    }

    #[test]
    fn any_record_is_audited(one in "\\PC{0,80}", two in "(v=spf1|v=DMARC1;|v=DKIM1;)? ?(p=[A-Za-z0-9+/=]{0,40}|include:[a-z.%]{0,10}|p=none|redirect=|[ ;=:]{0,9}){0,6}") {
        let found = || Lookup::Found(vec![two.clone(), one.clone()]);
        let records = Records {
            domain: one.clone(),
            txt: found(),
            dmarc: found(),
            dmarc_scope: DmarcScope::AbsentSubdomain,
            selectors: vec![Selector { name: one.clone(), records: found() }],
            mx: Lookup::Found(vec![(0, one.clone())]),
            bimi: found(),
        };
        let sending = Sending { spf_mechanism: Some(two.clone()), envelope_domain: Some(one.clone()), dkim_domain: Some(two.clone()) };
        let report = audit(&records, &sending, &|_| found());
        prop_assert!(report.spf_lookups.unwrap_or_default() <= 4_000);
    }
}
