//! 200 files of HTML and CSS, each a different mix of what breaks parsers, in all checks that read HTML in bounded time.

#![expect(clippy::disallowed_methods, reason = "the tests measure time")]

use std::time::{Duration, Instant};

use mailmill::engine::clients::findings::Checker;
use mailmill::engine::clients::report;
use mailmill::engine::deliverability::message::Input;
use mailmill::engine::deliverability::result::analyze;
use mailmill::engine::spelling::dictionaries::Dictionaries;
use mailmill::engine::spelling::{Options, check_html};

const FILES: usize = 200;
const PARTS_OF_A_FILE: usize = 6;

/// The time for one file in all checks, in a debug build on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(20);

const PARTS: &[&str] = &[
    "<div",
    "<div style=\"",
    "<p style='color:rgb(0 1 2'>",
    "</p></div></table></body></html>",
    "<table><td><table><tr><b><td>x",
    "<style>",
    "</style>",
    "<style>@media screen{@media (min-width:1px){.a{color:red",
    "<style>.a{b:url(\"</style>",
    "<style>@import url(x.css);@font-face{src:url(",
    "<style>/* ",
    "*/ .a:not(:has(> .b ~ .c + *)){color:red}</style>",
    "<style>.a{--x:{}};;}}}{{</style>",
    "<style>@charset \"x\";@@media{{}}@supports not (x:y){a{b:c}}</style>",
    "<style>\\61\\000062 .\\.a{c\\6flor:r\\65 d}</style>",
    "<style>a{color:red!important!important! important}</style>",
    "<style>[a=\"\\\"]\"]{b:c}[d='{}']{e:f}</style>",
    "<style>a{width:calc(((((((1px+",
    "<!--[if mso]>",
    "<![endif]-->",
    "<!--[if (gte mso 9)|(!(mso))&((",
    "<![if !mso]>",
    "<!--[if !mso]><!-->",
    "<!--<![endif]-->",
    "<!---->",
    "<!-->",
    "<!doctype html public \"",
    "<?xml version=1?><![CDATA[ ]]>",
    "<svg><style><a></style><foreignObject><p>x",
    "<math><mi><table><mglyph>",
    "<script>'</script'",
    "<textarea></textarea ",
    "<title><p>",
    "<img src=\"data:image/gif;base64,R0lGODlh\" srcset=\", , a 1x,, b\">",
    "<a href=\"http://[::1/%zz?{{x}}#\">recieve</a>",
    "<a href='javascript:alert(1)'>teh the the</a>",
    "<frameset><frame><plaintext",
    "&#x110000;&#0;&notanentity;&amp",
    "\0\u{1}\u{FEFF}\u{202E}\u{FFFC}",
    "e\u{301}\u{301}\u{301}\u{200D}\u{1F468}\u{200D}\u{1F469}",
    "{{#if x}}{{{ %% *| [[ ${ <%",
    "Its a the the recieve , now..Buy VIAGRA $$$ 100% free!!!",
    " lang=\"de\" lang='fr' dir=rtl hidden =\"=\" ==>",
    "<font size=99999999999 color=#gggggg face=\"\">",
    "<td colspan=999999 rowspan=-1 width=1e309>",
    "<base href=//><meta http-equiv=refresh content=0;url=x>",
    "<object data=a.pdf><param><embed><applet>",
    "<select><option><optgroup></select><select>",
    "<p>Straße am\u{AD}Ende\u{A0}\u{2028}\u{2029}",
];

/// Returns a file: its parts depend on the number, and some repeat many times.
fn file(number: usize) -> String {
    let part = |at: usize| {
        let text = PARTS[(number * 31 + at * at * 17 + at * 7) % PARTS.len()];
        text.repeat([1, 2, 1, 40, 1, 300][(number + at) % 6])
    };
    (0..PARTS_OF_A_FILE).map(part).collect()
}

#[test]
fn two_hundred_broken_files_are_checked_in_bounded_time() {
    let (checker, dictionaries) = (Checker::embedded(), Dictionaries::new(None, 10));
    let options = Options { languages: vec!["en".to_owned()], grammar: true, ..Options::default() };
    let clients = ["gmail.desktop-webmail", "outlook.windows", "yahoo.ios"].map(String::from);
    let mut longest = Duration::ZERO;
    for number in 0..FILES {
        let html = file(number);
        let start = Instant::now();
        let report = report::check(checker, &html, &clients);
        assert!(report.summary.compatibility_score <= 100, "file {number}");
        let spelled = check_html(&html, &options, &dictionaries, 0);
        for finding in &spelled.errors {
            assert!(html.get(finding.offset..finding.offset + finding.length).is_some(), "file {number}: {finding:?}");
        }
        let input = Input { html: &html, subject: Some(&html), ..Input::default() };
        let analysis = analyze(&input, None);
        assert!((0.0..=100.0).contains(&analysis.prediction.score) && analysis.prediction.confidence <= 0.8, "file {number}");
        assert!(start.elapsed() < TIME_MAX, "file {number} takes {:?}", start.elapsed());
        longest = longest.max(start.elapsed());
    }
    println!("{FILES} files, the longest takes {longest:?}");
}
