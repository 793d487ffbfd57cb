//! Hostile inputs: whatever the input is, a check ends, stays within its limits, and its positions are valid.

use std::time::{Duration, Instant};

use mailmill::engine::spelling::dictionaries::Dictionaries;
use mailmill::engine::spelling::{FINDINGS_MAX, Options, Report, WORDS_MAX, check_html};
use proptest::prelude::*;

use super::{SHARE, many};

fn options() -> Options {
    Options { grammar: true, ..Options::default() }
}

fn assert_valid(source: &str, report: &Report) {
    assert!(report.errors.len() <= FINDINGS_MAX);
    assert!(report.metadata.words_checked <= WORDS_MAX);
    for finding in &report.errors {
        assert!(source.get(finding.offset..finding.offset + finding.length).is_some(), "{finding:?}");
        assert!(finding.line >= 1 && finding.column >= 1 && finding.suggestions.len() <= 5);
    }
}

/// The limit is generous, because tests run without optimization; the point is that time does not grow without bound.
const TIME_MAX: Duration = Duration::from_secs(60);

#[test]
#[expect(clippy::disallowed_methods, reason = "measures the time of a check")]
fn large_and_deep_inputs_are_bounded() {
    let dictionaries = Dictionaries::new(None, 10);
    let inputs = [
        ("one word of 1 MB", format!("<p>{}</p>", many("a", 1_000_000))),
        ("apostrophes", format!("<p>{}</p>", many("a'", 500_000))),
        ("a 5 MB paragraph", format!("<p>{}</p>", many("recieve teh offer now ", 240_000))),
        ("5 MB of paragraphs", many("<p>Recieve its a nice day</p>\n", 180_000)),
        (
            "unknown words",
            (0..100_000 / SHARE)
                .map(|n| format!("<p>zq{}x</p>", "abcdefghij".chars().cycle().skip(n % 10).take(6).collect::<String>()))
                .collect(),
        ),
        ("deep nesting", format!("{}text{}", many("<div lang=en><b translate=no>", 100_000), many("</b></div>", 100_000))),
        ("open tags", many("<", 2_000_000)),
        ("unclosed tags", many("<a href=\"", 400_000)),
        ("unclosed comments", many("<!--", 1_000_000)),
        ("open merge tags", many("<p>{{ {% *| %% [[ ${ ", 150_000)),
        ("references", many("&amp;&notit;&#x110000;&#99999999999;&", 100_000)),
        ("attributes", format!("<p {}>x</p>", many("a=b ", 500_000))),
        ("hyphens", format!("<p>{}</p>", many("ab-", 500_000))),
        ("repeats", format!("<p>{}</p>", many("the ", 500_000))),
        ("one line of findings", many("<i>teh</i> cat ", 100_000)),
    ];
    for (name, source) in inputs {
        let start = Instant::now();
        let report = check_html(&source, &options(), &dictionaries, 0);
        println!("{name}: {:?}, {} words, {} findings", start.elapsed(), report.total_words, report.errors.len());
        assert!(start.elapsed() < TIME_MAX, "{name}: {:?}", start.elapsed());
        assert_valid(&source, &report);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn any_text_is_checked_without_panic(source in "\\PC{0,400}") {
        let dictionaries = Dictionaries::new(None, 10);
        assert_valid(&source, &check_html(&source, &options(), &dictionaries, 0));
    }

    #[test]
    fn any_markup_is_checked_without_panic(parts in proptest::collection::vec(prop::sample::select(vec![
        "<p>", "</p>", "<b>", "</b>", "<", ">", "</", "<!--", "-->", "<![if", "&", "&amp", "&#x", "&rsquo;", "'", "\"", "=", "<img alt='", "<code>",
        "</code>", "<title>", "<script>", "</script>", "its", "Its a", "teh", "recieve", "é", "e\u{301}", "🎉", "\u{FFFC}", " ", "\n", "{{", "}}", "%",
        "*|", "|*", "the", "ß", "Straße", "don’t", "-", ".", "https://a.b", "@", "#", "8", "a", "an", "<svg/>", "<br>", " lang=de>", "<p lang=", "\u{AD}",
    ]), 0..60)) {
        let source = parts.concat();
        let dictionaries = Dictionaries::new(None, 10);
        assert_valid(&source, &check_html(&source, &options(), &dictionaries, 0));
    }
}
