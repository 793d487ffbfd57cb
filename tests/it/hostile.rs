//! Tests hostile HTML and CSS in everything that parses it: sanitizing, MJML, and rendering. Nothing may panic, hang or fetch a
//! URL.
//!
//! Each input is tried unchanged and in four mutations. All URLs lead to a loopback listener, which must never receive a
//! connection.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use mailmill::base::text::Color;
use mailmill::engine::render::html_limits::admit;
use mailmill::engine::render::imported_html::{Change, ColorTarget, ImportedHtml, New, Part};
use mailmill::engine::render::pixels::{HtmlPage, Options, Paper, Pixels, RenderError, ScreenshotOptions, Workers};
use scraper::{Html, Node};
use tokio::time::Instant;

/// `HOST` is replaced by the listener's address.
const INPUTS: &[&str] = &[
    "<script src=http://HOST/a></script><script>fetch('http://HOST/b')</script><p>x",
    "<img src=http://HOST/c><img srcset='http://HOST/d 2x'><input type=image src=http://HOST/e>",
    "<link rel=stylesheet href=http://HOST/f><link rel=preconnect href=http://HOST><link rel=prefetch href=http://HOST/g>",
    "<style>@import 'http://HOST/h';@import url(http://HOST/i);@font-face{font-family:f;src:url(http://HOST/j)}p{font-family:f}</style><p>x",
    "<style>p{background:url(http://HOST/k);list-style:url(http://HOST/l);cursor:url(http://HOST/m),auto;content:url(http://HOST/n)}</style><p>x",
    "<p style=\"background:url('http://HOST/o');border-image:url(http://HOST/p) 1;mask:url(http://HOST/q)\">x",
    "<iframe src=http://HOST/r srcdoc='<script>x</script>'></iframe><object data=http://HOST/s></object><embed src=http://HOST/t>",
    "<video src=http://HOST/u poster=http://HOST/v></video><audio src=http://HOST/w></audio><track src=http://HOST/x>",
    "<svg><image href=http://HOST/y /><use href='http://HOST/z#a'/><script>x</script><foreignObject><p>x</foreignObject></svg>",
    "<base href=http://HOST/><img src=a><a href=b>c</a><meta http-equiv=refresh content='0;url=http://HOST/d'>",
    "<body background=http://HOST/e><table background='http://HOST/f'><td background=http://HOST/g>x",
    "<form action=http://HOST/h><input autofocus onfocus=alert(1)><button formaction=javascript:alert(1)>x</button></form>",
    "<a href='javascript:alert(1)'>a</a><a href='java&#9;script:alert(1)'>b</a><a href=' &#1;javascript:alert(1)'>c</a>",
    "<a href=\"data:text/html,<script>alert(1)</script>\">a</a><a href=vbscript:x>b</a><a href='file:///etc/passwd'>c</a>",
    "<img src=x onerror=alert(1)><img src='data:image/svg+xml,<svg onload=alert(1)>'><body onload=alert(1)>",
    "<div style='width:expression(alert(1));behavior:url(http://HOST/i);-moz-binding:url(http://HOST/j)'>x",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'><template><script>x</script></template>",
    "<style>a{font-family:'</style><img src=x onerror=alert(1)>'}</style><xmp><script>x</script></xmp>",
    "<table><tr><td colspan=65535 rowspan=65535>x<td colspan=-1><td colspan=99999999999999>y</table>",
    "<table><table><tr><table><td><table>x</table></td><p><tr></table></tbody></thead></td></table>",
    "<div style='width:1e38px;height:1e38px;margin:-1e38px;font-size:1e30px;border:1e20px solid red'>x</div>",
    "<div style='width:calc(1px/0);height:calc(0px/0);font-size:calc(infinity*1px);line-height:NaN'>x</div>",
    "<p style='font-size:100000px'>W</p><p style='letter-spacing:1000000px;word-spacing:-1e9px'>a b</p>",
    "<style>:root{--a:x x;--b:var(--a) var(--a);--c:var(--b) var(--b);--d:var(--c) var(--c);--e:var(--e)}p{color:var(--d)}</style><p>x",
    "<style>*{position:fixed;float:left;display:table-cell}*:not(:not(:not(a))){display:grid}</style><p>x<b>y<i>z",
    "<style>a{{{{{{{{{{{{{{{{{{{{{{{{{{b:c</style><style>}}}}}}]]]]))))</style><style>@media(((((((((((</style><p>x",
    "<style>/* never closed p{color:red}</style><style>p{color:\\</style><style>\\00003cscript\\00003e</style><p>x",
    "<style>@media all{@media all{@media all{@media all{@media all{@media all{@media all{@media all{@media all{p{color:red}}}}}}}}}}</style><p>x",
    "<div style='box-shadow:0 0 9999px 9999px red,0 0 9999px 9999px red;filter:blur(9999px);backdrop-filter:blur(99px)'>x</div>",
    "<div style='background:linear-gradient(red,blue,red,blue,red,blue),radial-gradient(circle,red,blue) 0 0/1px 1px'>x</div>",
    "<div style='transform:rotate(45deg) scale(99999) translate(9e9px);opacity:.001;mix-blend-mode:difference'>x</div>",
    "<p>\u{202e}bidi \u{2066}\u{2067}\u{2068}x\u{2069} Z\u{0300}\u{0301}\u{0302}\u{0303}\u{0304}\u{0305}\u{0306}\u{0307}\u{0308} \u{feff}\u{0}\u{ffff}",
    "<p>👨\u{200d}👩\u{200d}👧\u{200d}👦🏳\u{fe0f}\u{200d}🌈🇩🇪\u{e0067}\u{e007f} \u{1f3fb}\u{200d}\u{200d}\u{200d}",
    "<img width=99999999 height=99999999 src='data:image/png;base64,iVBORw0KGgo='><img width=-5 height=1e9%>",
    "<img src='data:image/png;base64,AAAA'><img src='data:image/gif;base64,R0lGODlh'><img src='data:;base64,%%%'>",
    "<ul><li><ol><li><dl><dt><dd><ul><li><blockquote><pre><fieldset><legend><details><summary>x",
    "<b><i><u><s><em><strong><font><a href=x><p><div><b><i><u></div></p>x</b></i></u></a><nobr><nobr>",
    "<select><option>x<optgroup><textarea><input><keygen><isindex><plaintext>rest <b>of it",
    "<html><head><title><script></title><body><frameset><frame src=http://HOST/k></frameset><html lang='\"><script>'>",
    "<!DOCTYPE html [<!ENTITY a \"b\">]><!--><img src=x>--><!-- -- --!><!----!><![CDATA[<p>]]><?php echo 1 ?><p>&a;",
    "<p &#x3c; &= =\"=' '=\"a\"b'c <p/onclick=x/ style=color:red/><p\tclass\n=\r'x'><p \u{a0}id=y>",
    "&#0;&#xD800;&#x110000;&#99999999999;&notanentity;&amp;amp;&lt;script&gt;alert(1)&lt;/script&gt;",
    "<svg><style>*{background:url(http://HOST/l)}</style></svg><math><annotation-xml encoding=text/html><script>x</script></math>",
    "<!--[if mso]><v:rect xmlns:v=x><v:fill src=http://HOST/m></v:rect><![endif]--><![if !mso]><p>x<![endif]><o:p>y</o:p>",
];

/// Returns an input and four mutations of it.
fn mutations(input: &str, number: usize) -> [String; 5] {
    let half = input.char_indices().nth(input.chars().count() / 2).map_or(0, |(at, _)| at);
    let stirred: String = input
        .chars()
        .enumerate()
        .map(|(at, letter)| match (at * 31 + number * 17) % 23 {
            0 => ['<', '>', '"', '\'', '{', '\0', '&', '\u{2028}'][(at + number) % 8],
            1 => letter.to_ascii_uppercase(),
            _ => letter,
        })
        .collect();
    let deep = format!("{}{input}", "<div><table><tr><td>".repeat(40));
    [input.to_owned(), input[..half].to_owned(), stirred, input.repeat(60), deep]
}

fn pixels() -> Pixels {
    Pixels::embedded(Workers::new(Options { program: Some(PathBuf::from(env!("CARGO_BIN_EXE_mailmill"))), ..Options::default() }))
}

/// A listener that counts its connections.
pub fn listener() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let host = listener.local_addr().expect("it has an address").to_string();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let count = move || {
        for _ in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    };
    std::thread::Builder::new().name("listener".to_owned()).spawn(count).expect("a thread");
    (host, calls)
}

/// Returns the forbidden content that sanitized HTML still contains.
fn dangers(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    for node in Html::parse_document(html).tree.nodes() {
        let Node::Element(element) = node.value() else { continue };
        if ["script", "iframe", "object", "embed", "svg", "math", "form", "input", "base", "link"].contains(&element.name()) {
            found.push(format!("<{}>", element.name()));
        }
        for (name, value) in element.attrs() {
            let value: String = value.to_ascii_lowercase().split_whitespace().collect();
            let acts = ["javascript:", "vbscript:", "data:text", "expression(", "behavior:", "-moz-binding", "@import"];
            if name.starts_with("on") || (!["title", "alt"].contains(&name) && acts.iter().any(|act| value.contains(act))) {
                found.push(format!("{name}={value}"));
            }
        }
    }
    found
}

/// Returns one change of every kind to a sanitized email, with hostile values.
fn changes(foreign: &ImportedHtml, hostile: &str) -> Vec<Change> {
    let parts = &foreign.outline.parts;
    let nodes = |place: usize| parts.get(place).map(Part::nodes).unwrap_or_default();
    let color = Color { red: 200, green: 0, blue: 0 };
    let say = hostile.to_owned();
    let mut changes = vec![
        Change::Preheader(say.clone()),
        Change::Title(say.clone()),
        Change::Insert { beside: nodes(1), before: true, new: New::Paragraph(say.clone()), pattern: nodes(0) },
        Change::Insert {
            beside: nodes(0),
            before: false,
            new: New::Image { address: say.clone(), alt: say.clone() },
            pattern: nodes(2),
        },
        Change::Insert {
            beside: Vec::new(),
            before: false,
            new: New::Button { words: say.clone(), address: "javascript:alert(1)".into() },
            pattern: Vec::new(),
        },
        Change::Paint { surface: ColorTarget::Ground, color },
        Change::Paint { surface: ColorTarget::Buttons, color },
        Change::Paint { surface: ColorTarget::Text, color },
        Change::Paint { surface: ColorTarget::Headings, color },
        Change::Recolor { from: foreign.outline.colors.clone(), to: color },
        Change::Move { nodes: nodes(2), beside: nodes(0), before: true },
        Change::Remove { nodes: nodes(3) },
    ];
    changes.extend(foreign.outline.links.iter().map(|link| Change::Link { element: link.element, address: say.clone() }));
    changes.extend(nodes(0).into_iter().map(|node| Change::Words { node, text: say.clone() }));
    changes
}

fn is_answer<T>(done: &Result<T, RenderError>) -> bool {
    matches!(done, Ok(_) | Err(RenderError::Refused(_) | RenderError::TooCostly | RenderError::Failed(_)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_hostile_emails_do_no_harm() {
    let (host, calls) = listener();
    let (pixels, began) = (pixels(), Instant::now());
    let inputs: Vec<String> =
        INPUTS.iter().enumerate().flat_map(|(number, input)| mutations(&input.replace("HOST", &host), number)).collect();
    assert!(inputs.len() >= 200);
    let harm: Vec<String> = stream::iter(inputs.iter().enumerate())
        .map(|(number, input)| {
            let pixels = &pixels;
            async move {
                let page = HtmlPage { html: input.clone(), ..HtmlPage::default() };
                let look = ScreenshotOptions { dark: number % 2 == 1, ..ScreenshotOptions::of(&[[600, 375, 320][number % 3]]) };
                let cleaned = pixels.clean_html(input).await;
                let drawn = pixels.screenshots(&page, &look).await;
                let written = if number % 5 == 0 { pixels.pdf(&page, Paper::A4, "x").await.map(drop) } else { Ok(()) };
                let mut harm = cleaned.as_ref().map(|foreign| dangers(&foreign.html)).unwrap_or_default();
                let revised = match &cleaned {
                    Ok(foreign) => pixels.revise_html(&foreign.html, changes(foreign, input)).await,
                    Err(fault) => Err(fault.clone()),
                };
                harm.extend(revised.iter().flat_map(|foreign| dangers(&foreign.html)));
                if !is_answer(&cleaned) || !is_answer(&drawn) || !is_answer(&written) || !is_answer(&revised) {
                    harm.push(format!("{:?} {:?} {written:?} {:?}", cleaned.err(), drawn.err(), revised.err()));
                }
                (!harm.is_empty()).then(|| format!("{number}: {harm:?}\n  {}", input.chars().take(200).collect::<String>()))
            }
        })
        .buffer_unordered(4)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(harm.is_empty(), "{}", harm.join("\n"));
    assert_eq!(calls.load(Ordering::SeqCst), 0, "a server was called");
    assert!(began.elapsed() < Duration::from_secs(300), "{:?}", began.elapsed());
}

#[test]
fn hostile_text_in_mjml_does_no_harm() {
    let work = || {
        for (number, input) in INPUTS.iter().enumerate() {
            for hostile in mutations(input, number).iter().filter(|hostile| admit(hostile).is_ok()) {
                let text = format!(
                    "<mjml><mj-body><mj-section><mj-column><mj-text>{hostile}</mj-text></mj-column></mj-section></mj-body></mjml>"
                );
                for mjml in [text.as_str(), hostile] {
                    if let Ok(parsed) = mrml::parse(mjml) {
                        let _ = parsed.element.render(&mrml::prelude::render::RenderOptions::default());
                    }
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(32 << 20).spawn(work).expect("a thread");
    assert!(thread.join().is_ok(), "it panicked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expensive_inputs_are_refused_or_ended() {
    let pixels = pixels();
    let attributes: String = (0..100_000).map(|number| format!(" a{number}=1")).collect();
    let misnested: String = (0..3_000).map(|number| format!("<b class={number}><p>x")).collect();
    let selectors: String = (0..5_000).map(|number| format!(".a{number} * > * ~ *,")).collect();
    let bomb = [
        0x89_u8, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 8, 6,
    ];
    let inputs = [
        "<div>".repeat(100_000),
        "x".repeat(10 << 20),
        format!("<p{attributes}>"),
        misnested,
        "<table>".repeat(5_000),
        format!("<style>{selectors}a{{color:red}}</style>{}", "<p>x".repeat(2_000)),
        "<td>x".repeat(50_000),
        format!("<p>{}", "W".repeat(1 << 20)),
        format!("<style>{}</style>", "@media all{".repeat(100_000)),
        format!("<p style='color:{}'>x", "(".repeat(100_000)),
    ];
    for (number, html) in inputs.into_iter().enumerate() {
        let page =
            HtmlPage { html: format!("{html}<img src=bomb>"), images: [("bomb".to_owned(), Arc::new(bomb.to_vec()))].into() };
        let began = Instant::now();
        let (look, html) = (ScreenshotOptions::of(&[600]), page.html.as_str());
        let (drawn, cleaned) = tokio::join!(pixels.screenshots(&page, &look), pixels.clean_html(html));
        assert!(is_answer(&drawn) && is_answer(&cleaned), "{number}: {:?} {:?}", drawn.err(), cleaned.err());
        assert!(began.elapsed() < Duration::from_secs(40), "{number}: {:?}", began.elapsed());
    }
}
