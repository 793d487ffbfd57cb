//! Walks through imported HTML and keeps only harmless parts.

use std::collections::HashMap;

use scraper::ElementRef;

use super::outlook::{self, Comments};
use super::styles::Styles;
use super::{ImportedHtml, Outline, RemovedCounts, addresses, text};
use crate::engine::render::html_limits::{HtmlRefusal, admit, stood_in};
use crate::engine::render::tree::{Descend, Visitor, is_plain_name, is_void, parse, push_attribute, push_text, raw_text, walk};

/// The HTML elements that the sanitizer keeps.
const ELEMENTS: [&str; 70] = [
    "a",
    "abbr",
    "address",
    "article",
    "aside",
    "b",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "menu",
    "nav",
    "nobr",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "tt",
    "u",
    "ul",
    "wbr",
];
/// The elements that the sanitizer removes together with their content. Elements with malformed names are removed in the same way. If any
/// other element is not in [`ELEMENTS`], only its tags are removed.
const DROPPED: [&str; 28] = [
    "script",
    "iframe",
    "object",
    "embed",
    "applet",
    "frame",
    "frameset",
    "noframes",
    "noscript",
    "template",
    "svg",
    "math",
    "video",
    "audio",
    "canvas",
    "select",
    "textarea",
    "input",
    "datalist",
    "base",
    "link",
    "param",
    "source",
    "track",
    "dialog",
    "portal",
    "xml",
    "plaintext",
];
/// The attributes that the sanitizer keeps on any element. Attributes that contain URLs are checked separately.
const ATTRIBUTES: [&str; 37] = [
    "abbr",
    "align",
    "alt",
    "bgcolor",
    "border",
    "bordercolor",
    "cellpadding",
    "cellspacing",
    "class",
    "clear",
    "color",
    "colspan",
    "dir",
    "face",
    "headers",
    "height",
    "hspace",
    "id",
    "lang",
    "leftmargin",
    "marginheight",
    "marginwidth",
    "noshade",
    "nowrap",
    "role",
    "rowspan",
    "scope",
    "size",
    "span",
    "start",
    "summary",
    "text",
    "title",
    "topmargin",
    "valign",
    "vspace",
    "width",
];
/// The `meta` elements that the sanitizer keeps. They only tell email clients how to show the text and colors of the email.
const METAS: [&str; 4] = ["color-scheme", "supported-color-schemes", "x-apple-disable-message-reformatting", "format-detection"];
/// The entry in the list of removed content for conditional comments in the head, which contain styles and settings.
const HEAD_COMMENTS: &str = "conditional comments in the head, with settings for Outlook on Windows";
/// The entry in the list of removed content for conditional comments outside the head. All of them are removed if their tags are
/// unbalanced, or if one of them contains more than tables and VML shapes, because sending replaces no merge fields in comments.
const CONDITIONAL_COMMENTS: &str = "conditional comments for Outlook on Windows, so Outlook shows the content that they hid, but not the \
                                    content that they added";
/// The maximum length of an attribute value, except in `src`. Tracking URLs and long class lists are about a thousand bytes long.
const VALUE_BYTES_MAX: usize = 8 * 1024;
const TITLE_CHARACTERS_MAX: usize = 300;

/// Sanitizes HTML. `parts` maps the content IDs of a message's attached images to the images' data URLs.
pub fn html(source: &str, parts: &HashMap<String, String>) -> Result<ImportedHtml, HtmlRefusal> {
    let admitted = admit(source)?;
    let document = parse(&admitted.html);
    let mut cleaner = Cleaner::new(&admitted.embedded, parts);
    walk(&document, &mut cleaner)?;
    if !cleaner.comments.can_stay() {
        cleaner = Cleaner { keeps_comments: false, ..Cleaner::new(&admitted.embedded, parts) };
        cleaner.removed.note(CONDITIONAL_COMMENTS);
        walk(&document, &mut cleaner)?;
    }
    let imported_html = cleaner.finish();
    let (text, language) = text::of(&imported_html.html)?;
    let outline = Outline::read(&imported_html.html)?;
    Ok(ImportedHtml { text, language, outline, ..imported_html })
}

struct Cleaner<'a> {
    embedded: &'a [&'a str],
    parts: &'a HashMap<String, String>,
    removed: RemovedCounts,
    head: String,
    body: String,
    /// The attributes of the `html` and `body` elements, in order of occurrence.
    attributes: Vec<(&'static str, String)>,
    title: Option<String>,
    comments: Comments,
    keeps_comments: bool,
    is_in_body: bool,
    /// The number of open elements.
    depth: usize,
}

impl Visitor for Cleaner<'_> {
    fn open(&mut self, element: ElementRef<'_>) -> Descend {
        let descend = self.element(element);
        self.depth += usize::from(descend == Descend::Into);
        descend
    }

    fn close(&mut self, name: &str) {
        self.depth -= 1;
        if ELEMENTS.contains(&name) {
            self.body.push_str(&format!("</{name}>"));
        }
    }

    fn text(&mut self, text: &str) {
        push_text(text, &mut self.body);
    }

    fn comment(&mut self, text: &str) {
        if !outlook::is_conditional(text) {
            return;
        }
        if !self.is_in_body {
            self.removed.note(HEAD_COMMENTS);
            return;
        }
        if !self.keeps_comments {
            return;
        }
        let mut comments = std::mem::take(&mut self.comments);
        let written = comments.sanitized(text, self.depth, &mut |name, value| self.comment_attribute(name, value));
        self.comments = comments;
        self.body.push_str(&written.unwrap_or_default());
    }
}

/// Returns an untrusted name, shortened for the list of removed content.
fn shortened(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_graphic()).take(40).collect()
}

impl<'a> Cleaner<'a> {
    fn new(embedded: &'a [&'a str], parts: &'a HashMap<String, String>) -> Self {
        Self {
            embedded,
            parts,
            removed: RemovedCounts::default(),
            head: String::new(),
            body: String::new(),
            attributes: Vec::new(),
            title: None,
            comments: Comments::default(),
            keeps_comments: true,
            is_in_body: false,
            depth: 0,
        }
    }
}

impl Cleaner<'_> {
    /// Returns the sanitized value of an attribute in a conditional comment; `None` if the value must not stay.
    fn comment_attribute(&mut self, name: &str, value: &str) -> Option<String> {
        match name {
            "style" => Some(self.styles(|styles| styles.declarations(value))),
            "src" => addresses::image(value).and_then(|address| put_in_place(&address, self.embedded, self.parts)),
            _ => (value.len() <= VALUE_BYTES_MAX).then(|| value.to_owned()),
        }
    }

    fn element(&mut self, element: ElementRef<'_>) -> Descend {
        let name = element.value().name();
        match name {
            "html" | "body" => {
                self.is_in_body |= name == "body";
                let mut attributes = String::new();
                self.attributes(element, &mut attributes);
                self.attributes.push((if name == "html" { "html" } else { "body" }, attributes));
                return Descend::Into;
            }
            "head" => return Descend::Into,
            "style" => {
                self.style(element);
                return Descend::Past;
            }
            "title" => {
                let title: String = raw_text(element).split_whitespace().collect::<Vec<_>>().join(" ");
                self.title = Some(title.chars().take(TITLE_CHARACTERS_MAX).collect()).filter(|title: &String| !title.is_empty());
                return Descend::Past;
            }
            "meta" => {
                self.meta(element);
                return Descend::Past;
            }
            _ => {}
        }
        if DROPPED.contains(&name) || !is_plain_name(name) {
            self.removed.note(&format!("element {}", shortened(name)));
            return Descend::Past;
        }
        if !ELEMENTS.contains(&name) {
            self.removed.note(&format!("tag {}", shortened(name)));
            return Descend::Into;
        }
        let mut attributes = String::new();
        self.attributes(element, &mut attributes);
        self.body.push_str(&format!("<{name}{attributes}>"));
        if is_void(name) { Descend::Past } else { Descend::Into }
    }

    fn finish(self) -> ImportedHtml {
        let attributes =
            |wanted: &str| self.attributes.iter().find(|(name, _)| *name == wanted).map_or("", |(_, found)| found.as_str());
        let mut title = String::new();
        push_text(self.title.as_deref().unwrap_or_default(), &mut title);
        let html = format!(
            "<!doctype html><html{}><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
             initial-scale=1\"><title>{title}</title>{}</head><body{}>{}</body></html>",
            attributes("html"),
            self.head,
            attributes("body"),
            self.body
        );
        ImportedHtml { html, subject: self.title, removed: self.removed.list(), ..ImportedHtml::default() }
    }

    fn meta(&mut self, element: ElementRef<'_>) {
        if element.attr("http-equiv").is_some_and(|kind| kind.trim().eq_ignore_ascii_case("refresh")) {
            self.removed.note("meta refresh");
        }
        let name = element.attr("name").unwrap_or_default().trim().to_ascii_lowercase();
        let content = element.attr("content").unwrap_or_default();
        if METAS.contains(&name.as_str()) && content.len() <= VALUE_BYTES_MAX {
            self.head.push_str("<meta");
            push_attribute("name", &name, &mut self.head);
            if !content.is_empty() {
                push_attribute("content", content, &mut self.head);
            }
            self.head.push('>');
        }
    }

    fn style(&mut self, element: ElementRef<'_>) {
        let kind = element.attr("type").unwrap_or_default().trim().to_ascii_lowercase();
        if !matches!(kind.as_str(), "" | "text/css") {
            self.removed.note("style sheet of an unknown type");
            return;
        }
        let text = raw_text(element);
        let media = element.attr("media").map(str::trim).filter(|media| !media.is_empty());
        let text = match media {
            Some(media) => format!("@media {media}{{{text}\n}}"),
            None => text,
        };
        let kept = self.styles(|styles| styles.sheet(&text));
        if !kept.is_empty() {
            self.head.push_str(&format!("<style>\n{kept}</style>"));
        }
    }

    fn styles<T>(&mut self, work: impl FnOnce(&mut Styles<'_>) -> T) -> T {
        let (embedded, parts) = (self.embedded, self.parts);
        let mut image = |address: &str| put_in_place(address, embedded, parts);
        work(&mut Styles { removed: &mut self.removed, image: &mut image })
    }

    fn attributes(&mut self, element: ElementRef<'_>, out: &mut String) {
        let tag = element.value().name();
        for (name, value) in element.value().attrs() {
            if name != "src" && value.len() > VALUE_BYTES_MAX {
                self.removed.note(&format!("attribute {} that is too long", shortened(name)));
                continue;
            }
            match name {
                "style" => {
                    let kept = self.styles(|styles| styles.declarations(value));
                    if !kept.is_empty() {
                        push_attribute("style", &kept, out);
                    }
                }
                "href" if tag == "a" => match addresses::link(value) {
                    Some(address) => {
                        push_attribute("href", &address, out);
                        push_attribute("target", "_blank", out);
                    }
                    None => self.removed.note("link to something other than a web page, an email address or a phone number"),
                },
                "src" | "background" if name == "background" || tag == "img" => {
                    let address = addresses::image(value).and_then(|address| put_in_place(&address, self.embedded, self.parts));
                    match address {
                        Some(address) => push_attribute(name, &address, out),
                        None => self.removed.note("image that cannot be shown in email"),
                    }
                }
                "type" if matches!(tag, "ul" | "ol" | "li") => push_attribute(name, value, out),
                "name" if tag == "a" => push_attribute(name, value, out),
                _ if ATTRIBUTES.contains(&name) || (name.starts_with("aria-") && is_plain_name(name)) => {
                    push_attribute(name, value, out);
                }
                // These attributes are removed but not listed as removed, because they have no effect in emails and many tags have them.
                "target" | "rel" | "srcset" | "sizes" | "loading" | "decoding" | "xmlns" | "charset" => {}
                _ if name.starts_with("data-") || name.starts_with("xmlns:") => {}
                _ => self.removed.note(&format!("attribute {}", shortened(name))),
            }
        }
    }
}

/// Returns the URL with which an image can be shown: for a placeholder URL or the content ID of an attached image, the image's data URL,
/// and otherwise the URL itself.
fn put_in_place(address: &str, embedded: &[&str], parts: &HashMap<String, String>) -> Option<String> {
    if let Some(number) = stood_in(address) {
        return embedded.get(number).and_then(|data| addresses::image(data));
    }
    match address.get(..4).filter(|start| start.eq_ignore_ascii_case("cid:")) {
        Some(_) => Some(parts.get(address[4..].trim_matches(['<', '>'])).cloned().unwrap_or_else(|| address.to_owned())),
        None => Some(address.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(source: &str) -> ImportedHtml {
        html(source, &HashMap::new()).expect("the HTML is small enough")
    }

    fn body(source: &str) -> String {
        let html = cleaned(source).html;
        let body = html.split_once("<body>").and_then(|(_, rest)| rest.strip_suffix("</body></html>"));
        body.unwrap_or_else(|| panic!("{html}")).to_owned()
    }

    #[test]
    fn a_harmless_email_stays_unchanged() {
        let source = "<table align=\"center\" width=\"600\"><tbody><tr><td bgcolor=\"#ffffff\" style=\"padding:10px;\">\
                      <a href=\"https://x.example/?a=1&amp;b=2\" target=\"_blank\">Go</a><img alt=\"x\" src=\"https://x.example/a.png\" \
                      width=\"10\"></td></tr></tbody></table>";
        assert_eq!(body(source), source);
        assert_eq!(cleaned(source).removed, Vec::<String>::new());
        let page = cleaned("<html lang=de dir=ltr><title>Neues  aus\nCork</title><style>a{color:red}</style><body class=k>x");
        assert!(page.html.contains("<html dir=\"ltr\" lang=\"de\">") && page.html.contains("<style>\na{color:red;}\n</style>"));
        assert_eq!(page.subject.as_deref(), Some("Neues aus Cork"));
    }

    #[test]
    fn active_content_is_removed_and_reported() {
        let source = "<script>alert(1)</script><p onclick=x style='position:fixed;color:red'>a<form action=x><input><b>b</b></form>\
                      <a href='javascript:x'>c</a><svg onload=x><p>d</svg><meta http-equiv=refresh content='0;url=x'><base href=x>\
                      <iframe srcdoc='<script>'></iframe><custom-tag>e</custom-tag><!--[if mso]>f<![endif]--><img src=x onerror=y>";
        assert_eq!(body(source), "<p style=\"color:red;\">a</p><b>b</b><a>c</a><p>de<img></p>");
        let removed = cleaned(source).removed;
        for what in [
            "element script",
            "attribute onclick",
            "tag form",
            "element input",
            "meta refresh",
            "element iframe",
            "tag custom-tag",
        ] {
            assert!(removed.iter().any(|one| one.starts_with(what)), "{what}: {removed:?}");
        }
    }

    #[test]
    fn metas_for_dark_mode_and_apple_mail_are_kept() {
        let metas = "<meta name=\"color-scheme\" content=\"light dark\"><meta name=\"supported-color-schemes\" content=\"light dark\">\
                     <meta name=\"x-apple-disable-message-reformatting\">";
        let source =
            format!("<head><meta name=generator content=x>{metas}<meta http-equiv=refresh content='0;url=x'></head><body>x");
        let once = cleaned(&source).html;
        assert!(once.contains(&format!("</title>{metas}</head>")), "{once}");
        assert_eq!(cleaned(&once).html, once);
    }

    #[test]
    fn the_effect_of_removed_conditional_comments_is_described() {
        let link = "<!--[if mso]><a href=https://x.example>Buy</a><![endif]--><!--[if !mso]><!--><p>x</p><!--<![endif]-->";
        let page = cleaned(link);
        assert_eq!((page.removed, page.html.contains("[if")), (vec![CONDITIONAL_COMMENTS.to_owned()], false));
        let settings = "<head><!--[if mso]><style>td{padding:0}</style><![endif]--></head><body><p>x</p>";
        assert_eq!(cleaned(settings).removed, [HEAD_COMMENTS]);
    }

    /// Regression test: an email with tables for Outlook lost its width in Outlook.
    #[test]
    fn conditional_comments_with_tables_and_shapes_are_kept() {
        let source = "<div><!--[if mso]><table width=\"600\" style=\"width:600px;\"><tr><td><![endif]--><p>x</p>\
                      <!--[if mso]></td></tr></table><![endif]--><!--[if !mso]><!--><i>y</i><!--<![endif]--></div>";
        assert_eq!(body(source), source);
        assert_eq!(cleaned(source).removed, Vec::<String>::new());
        let once = cleaned(source).html;
        assert_eq!(cleaned(&once).html, once);
    }

    #[test]
    fn html_that_could_mutate_when_parsed_again_does_not() {
        for source in [
            "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
            "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
            "<svg></p><style><a id='</style><img src=1 onerror=alert(1)>'>",
            "<a title='\"><script>alert(1)</script>'>x</a>",
            "<style>a{font-family:'</style><img src=x onerror=alert(1)>'}</style>",
            "<textarea></textarea><xmp><img src=x onerror=alert(1)></xmp>",
            "<plaintext><script>alert(1)",
            "<p>\u{0}<scr\u{0}ipt>alert(1)</scr\u{0}ipt>",
        ] {
            let once = cleaned(source).html;
            assert_eq!(cleaned(&once).html, once, "{source}");
            for bad in ["<img src=x", "<img src=1", "<script", " onerror=\""] {
                assert!(!once.contains(bad), "{source}: {once}");
            }
        }
    }

    #[test]
    fn embedded_and_attached_images_are_restored() {
        let parts = HashMap::from([("logo@x".to_owned(), "data:image/png;base64,QUJD".to_owned())]);
        let source = "<img src='CID:logo@x'><img src=cid:none><img src='data:image/gif;base64,R0lG'><p style='background:url(cid:logo@x)'>\
                      <img src='data:image/svg+xml;base64,AAAA'>";
        let made = html(source, &parts).expect("the HTML is small enough").html;
        let expected = "<img src=\"data:image/png;base64,QUJD\"><img src=\"cid:none\"><img src=\"data:image/gif;base64,R0lG\">\
                        <p style=\"background:url(&quot;data:image/png;base64,QUJD&quot;);\"><img></p></body></html>";
        assert!(made.ends_with(expected), "{made}");
    }
}
