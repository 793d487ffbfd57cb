//! Tests with hostile pages: reading finishes in bounded time without a panic.

use super::*;

/// The time limit for reading a page. Each page takes a second or two in builds without optimization; a quadratic algorithm would take
/// hours.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(600);

fn read_page(html: &[u8], css: &str) -> Draft {
    let url: Url = "https://acme.example/".parse().expect("the address is valid");
    let raw = |content_type, bytes| Raw { url: &url, given: true, content_type, language: "", bytes };
    let (page, style) = (raw("text/html", html), raw("text/css", css.as_bytes()));
    read(&Sources {
        pages: vec![page],
        styles: vec![style],
        manifests: vec![raw("application/json", b"{\"icons\":[{}],\"name\":7}")],
    })
}

fn ends_soon(name: &str, html: &[u8], css: &str) -> Draft {
    let start = tokio::time::Instant::now();
    let draft = read_page(html, css);
    let took = start.elapsed();
    assert!(took < PATIENCE, "{name} took {took:?}");
    draft
}

fn many(text: &str, times: usize) -> String {
    text.repeat(times)
}

/// Regression test: the pages of a hostile site were all parsed completely, which took gigabytes of memory.
#[test]
fn the_pages_of_a_site_share_its_number_of_tags() {
    let html = format!("{}<p>{}", many("<!-->", 150_000), many("The workshop makes lamps. ", 10));
    let urls: Vec<Url> =
        (0..4).map(|page| format!("https://acme.example/{page}").parse().expect("the address is valid")).collect();
    let content_type = "text/html; charset=utf-8";
    let pages = urls.iter().map(|url| Raw { url, given: true, content_type, language: "", bytes: html.as_bytes() }).collect();
    let notes = read(&Sources { pages, ..Sources::default() }).notes;
    let empty: Vec<bool> = urls.iter().map(|url| notes.iter().any(|note| note.contains(url.as_str()))).collect();
    assert_eq!(empty, [false, false, true, true], "{notes:?}");
}

#[test]
fn hostile_pages_are_read_in_bounded_time() {
    let body = |inside: &str| format!("<!doctype html><html lang=en><title>Acme – a shop</title><body>{inside}");
    let pages: Vec<(&str, String)> = vec![
        ("nothing", String::new()),
        ("deep divs", body(&many("<div>", 100_000))),
        ("deep divs with strange ends", body(&many("<div></x>", 60_000))),
        (
            "open writing in many paragraphs",
            body(&format!("{}{}", (0..2_000).map(|number| format!("<b id=b{number}>")).collect::<String>(), many("<p>a", 5_000))),
        ),
        ("deep formatting", body(&many("<b><i>", 40_000))),
        ("deep tables", body(&many("<table><tr><td>", 20_000))),
        ("deep lists of images", body(&format!("{}{}", many("<div class=logo>", 500), many("<img src=a.png class=logo>", 800)))),
        (
            "many paragraphs",
            body(&(0..4_000).map(|number| format!("<p>The paragraph number {number} says little.")).collect::<String>()),
        ),
        ("many buttons", body(&many("<a class=btn href=x>Buy it</a>", 3_000))),
        ("a long attribute", body(&format!("<img src=\"{}\" alt=\"{}\">", many("a", 500_000), many("b ", 500_000)))),
        ("a long set", body(&format!("<img srcset=\"{}\">", many("a.png 100w, ", 50_000)))),
        ("nested footers", body(&format!("{}© 2024 Acme GmbH", many("<div class=footer>Acme ", 400)))),
        ("deep data", body(&format!("<script type=application/ld+json>{}</script>", many("[{\"a\":", 20_000)))),
        (
            "broad data",
            body(&format!(
                "<script type=application/ld+json>[{}]</script>",
                many("{\"@type\":\"Product\",\"name\":\"a\",\"offers\":{\"price\":1}},", 3_000)
            )),
        ),
        ("deep microdata", body(&many("<div itemscope itemprop=a itemtype=Product>", 400))),
        ("flat microdata", body(&many("<div itemscope itemtype=https://schema.org/Product><b itemprop=name>x</b></div>", 1_000))),
        (
            "circular base",
            "<base href='//'><base href='javascript:x'><a href='//[::'>x</a><link rel=icon href='data:,'>".to_owned(),
        ),
        ("no letters", "\u{0}\u{1}\u{fffd}\u{202e}".repeat(10_000)),
        ("entities", body(&many("&#x110000;&amp&lt;&notit;", 20_000))),
        ("comments", body(&many("<!-- <div> --", 5_000))),
        ("one word", body(&many("x", 300_000))),
    ];
    for (name, page) in &pages {
        ends_soon(name, page.as_bytes(), ".btn{background:red} body{color:var(--a)}");
    }
    assert_eq!(ends_soon("the usual", body("<h1>Hello</h1>").as_bytes(), "").brand.name.as_deref(), Some("Acme"));
}

#[test]
fn hostile_styles_are_read_in_bounded_time() {
    let page =
        format!("<html><body><main>{}</main></body></html>", many("<p class='a b c'><a class=btn href=x>Buy it</a></p>", 300));
    let doubling: String = (0..40).map(|number| format!("--v{number}: var(--v{}) var(--v{});", number + 1, number + 1)).collect();
    let styles: Vec<(&str, String)> = vec![
        (
            "many rules",
            (0..5_000).map(|number| format!(".a{number}, p a.b{number} > * {{ color: #123; --x{number}: red }}")).collect(),
        ),
        ("many matching rules", many("p a { color: red } * { background: blue }", 2_000)),
        ("open braces", many("{", 300_000)),
        ("open blocks", many("a{", 100_000)),
        ("open brackets", many("a[", 100_000)),
        ("closed braces", many("}", 300_000)),
        ("deep media", format!("{}a{{color:red}}", many("@media screen{", 10_000))),
        ("deep not", format!("{}a{{color:red}}", many(":not(", 50_000))),
        ("long selector", format!("{} {{ color: red }}", many("a > ", 20_000))),
        ("has", many("body:has(p:has(a)) { color: red }", 2_000)),
        ("circular variables", ":root{--a:var(--b);--b:var(--a)} body{color:var(--a)}".to_owned()),
        ("doubling variables", format!(":root{{{doubling}--v40:red}} body{{color:var(--v0)}}")),
        ("deep variables", format!("body{{color:{}red{}}}", many("var(--x,", 20_000), many(")", 20_000))),
        ("deep gradients", format!("body{{background:{}red{}}}", many("linear-gradient(", 20_000), many(")", 20_000))),
        ("deep colors", format!("body{{background:{}}}", many("rgb(", 100_000))),
        ("open string", format!("a{{content:\"{}", many("x", 500_000))),
        ("open comment", many("/*", 300_000)),
        ("escapes", many("\\", 300_000)),
        ("numbers", format!("body{{border-radius:{}px;color:rgb({},1e999,-5)}}", many("9", 10_000), many("9", 10_000))),
    ];
    for (name, style) in &styles {
        ends_soon(name, page.as_bytes(), style);
    }
}

#[test]
fn arbitrary_bytes_are_read_without_a_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    let usual = "<html lang=ja><title>Acme｜店</title><style>:root{--a:#123}body{color:var(--a)}</style><p>日本語 text, 12,00 € <img srcset='a 1w, b 2w'>";
    for round in 0..150 {
        let mut bytes = usual.as_bytes().to_vec();
        for _ in 0..=round {
            let place = usize::from(byte()) * 7 % bytes.len();
            bytes[place] = byte();
        }
        read_page(&bytes, &String::from_utf8_lossy(&bytes));
        read_page(&bytes[..bytes.len() / 2], "");
        let _ = outline::sitemap(&bytes);
        let _ = outline::Rules::parse(&bytes);
    }
}
