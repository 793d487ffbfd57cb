//! Tests each accessibility rule with HTML that breaks it and with HTML that follows it.

use super::accessibility::AccessibilityRule as Rule;
use super::*;

/// An email that follows every rule, with `body` as its content.
fn email(body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><head><title>News</title></head><body><h1>News of the week</h1><p>One two three four five six \
         seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty.</p>{body}</body></html>"
    )
}

fn broken(html: &str) -> Vec<(Rule, usize)> {
    inspect(html).expect("the HTML is small enough").accessibility.iter().map(|problem| (problem.rule, problem.count)).collect()
}

#[test]
fn an_email_that_follows_every_rule_has_no_problem() {
    let body = "<table role=presentation><tr><td><img src=a.png width=300 alt='A red shoe'><img src=s.gif width=1 alt=''></td></tr></table>\
        <h2>Offers</h2><a href=https://a.example>See the shoes</a><table><tr><th>Price</th></tr><tr><td>3</td></tr></table>";
    assert_eq!(broken(&email(body)), []);
}

#[test]
fn each_rule_finds_what_breaks_it() {
    for (body, rule, count) in [
        ("<h4>x</h4>", Rule::HeadingOrder, 1),
        ("<h2> <span></span></h2><h2><img src=a alt=x></h2>", Rule::HeadingText, 1),
        ("<p style='color:#999'>x</p><td></td><p style='color:#767676'>y</p>", Rule::ContrastLight, 1),
        ("<p style='color:#949494;font-size:24px'>x</p><p style='color:#949494'>x</p>", Rule::ContrastLight, 1),
        ("<div style='background:#003366'><p>x<b>y</b></p></div>", Rule::ContrastLight, 2),
        ("<div style='background:#000'><p style='color:rgba(255,255,255,.3)'>x</p></div>", Rule::ContrastLight, 1),
        ("<div bgcolor=x><table role=none bgcolor=#000000><tr><td>x</table>", Rule::ContrastLight, 1),
        ("<img src=a.png><img src=b.png role=presentation>", Rule::ImageAlt, 1),
        ("<img src=a.png alt=IMG_2041.JPG><img src=b.png alt=image>", Rule::ImageAltFileName, 2),
        ("<img src=a.gif width=1 height=1>", Rule::SpacerAlt, 1),
        ("<a href=https://a.example><img src=a.png alt=''></a>", Rule::LinkedImageAlt, 1),
        ("<a href=https://a.example> </a><a name=x></a><a href=https://a.example aria-label=Home></a>", Rule::LinkText, 1),
        ("<a href=https://a.example>Click here!</a><a href=https://a.example>Hier</a>", Rule::LinkTextVague, 2),
        ("<p style=font-size:11px>x</p><div style='font-size:1px'>hidden</div>", Rule::FontSize, 1),
        ("<table><tr><td><table role=presentation><tr><td>x</table></table>", Rule::TableRole, 1),
        ("<table role=presentation><tr><th>x</table>", Rule::DataTableRole, 1),
        ("<meta name=viewport content='width=device-width, maximum-scale=1'>", Rule::Zoom, 1),
        ("<marquee>x</marquee>", Rule::Motion, 1),
    ] {
        assert_eq!(broken(&email(body)), [(rule, count)], "{body}");
    }
}

#[test]
fn an_embedded_image_is_named_by_its_line() {
    let detail = |image: &str| {
        let found = inspect(&email(&format!("\n{image}"))).expect("the HTML is small enough").accessibility;
        found.into_iter().map(|problem| problem.detail).collect::<String>()
    };
    let embedded = "<img src=\"data:image/png;base64,iVBORw0KGgo=\">";
    assert_eq!(detail(embedded), "The embedded PNG image on line 2 has no alt attribute.");
    let signed = "<img src=\"https://shop.example/a.png?token=s3cret\">";
    assert_eq!(detail(signed), "The image https://shop.example/a.png has no alt attribute.");
    let pixel = "<img width=1 src=\"data:image/gif;base64,R0lGODlh\">";
    assert_eq!(detail(pixel), "The embedded GIF image on line 2, a spacer or tracking pixel, has no alt attribute.");
}

#[test]
fn the_document_needs_a_language_a_direction_and_a_title() {
    let start = email("");
    let other = |from: &str, to: &str| broken(&start.replace(from, to));
    assert_eq!(other(" lang=en", ""), [(Rule::Language, 1)]);
    assert_eq!(other("lang=en", "lang=english_"), [(Rule::Language, 1)]);
    assert_eq!(other("lang=en", "lang=ar"), [(Rule::Direction, 1)]);
    assert_eq!(other("lang=en", "lang=ar dir=rtl"), []);
    assert_eq!(other("News</title>", " </title>"), [(Rule::Title, 1)]);
    let images =
        "<html lang=en><title>x</title><a href=https://a.example><img src=a.png alt='Sale: everything for half the price'></a>";
    assert_eq!(broken(images), [(Rule::TextInImages, 1)]);
}

#[test]
fn dark_mode_uses_the_rules_of_the_email() {
    let dark = |rules: &str, body: &str| {
        let style = format!("<style>@media (prefers-color-scheme:dark){{{rules}}}</style>");
        broken(&email(body).replace("<title>", &format!("{style}<title>")))
    };
    // The background becomes dark, but the text keeps the dark color of its inline style.
    let body = "<div class=box style='background:#fff'><p style='color:#222'>x</p></div>";
    assert_eq!(dark(".box{background:#111 !important}", body), [(Rule::ContrastDark, 1)]);
    assert_eq!(dark(".box{background:#111 !important} .box p{color:#eee !important}", body), []);
    assert_eq!(dark(".box{background:#111}", body), [], "without !important, the inline style applies");
    assert_eq!(broken(&email("<p style='color:#333;background:#eee'>x</p><a href=https://a.example>Our shop</a>")), []);
}

/// Regression test: white text on a gradient without a background color was reported only as a suggestion.
#[test]
fn links_that_readers_cannot_see_are_found() {
    let link = |style: &str| email(&format!("<a href=https://a.example style='padding:9px;{style}'>Buy tea</a>"));
    for style in [
        "background-color:#fff;color:#fffffe",
        "background:#2F6F4F;color:#2F6F50",
        "background:linear-gradient(#123456,#234567);color:#fff",
        "background-image:url(a.png);color:#fff",
    ] {
        assert_eq!(broken(&link(style)), [(Rule::LinkInvisible, 1)], "{style}");
    }
    for style in [
        "background:#123456 linear-gradient(#123456,#234567);color:#fff",
        "background:#123456;background:linear-gradient(#123456,#234567);color:#fff",
        "background-image:url(a.png);background-color:#123456;color:#fff",
    ] {
        assert_eq!(broken(&link(style)), [], "{style}");
    }
    let cell = "<table role=presentation><tr><td bgcolor=#123456 style='background:url(a.png)'>\
                <a href=https://a.example style='color:#fff'>Buy tea</a></table>";
    assert_eq!(broken(&email(cell)), []);
    assert_eq!(broken(&email(&cell.replace(" bgcolor=#123456", ""))), [(Rule::LinkInvisible, 1)]);
    assert_eq!(broken(&email("<p style='color:#fff'>x</p>")), [(Rule::ContrastLight, 1)], "other text is hard to read");
    let dark = "<style>@media (prefers-color-scheme:dark){.box{background:#222 !important}}</style>\
                <div class=box style='background:#fff'><a href=https://a.example style='color:#222'>Buy tea</a></div>";
    let found = inspect(&email(dark)).expect("the HTML is small enough").accessibility;
    assert_eq!(found.iter().map(|problem| problem.rule).collect::<Vec<_>>(), [Rule::LinkInvisible]);
    assert_eq!(found[0].detail, "The link \"Buy tea\" is invisible in dark mode: its text is #222222 on #222222.");
}

#[test]
fn problems_have_places_and_a_bound() {
    let html = email(&"<img src=a.png>\n".repeat(500));
    let found = inspect(&html).expect("the HTML is small enough").accessibility;
    assert_eq!((found[0].count, found[0].places.len()), (500, crate::vocab::limits::PLACES_PER_FINDING_MAX));
    assert_eq!((found[0].places[1].line, found[0].places[1].excerpt.as_str()), (2, "<img src=a.png>"));
}
