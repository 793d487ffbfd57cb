//! Converts a Markdown page to HTML with heading anchors, scrollable tables, and tabbed groups of code samples.
//!
//! HTML in the source is shown as text. Consecutive code blocks whose language is followed by `tab=NAME` become a group of tabs. The
//! tabs are radio buttons, so they work without scripts.

use std::collections::BTreeMap;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};

/// The maximum length, in characters, of inline code that browsers must not break.
const WORD_CHARACTERS_MAX: usize = 24;

pub type Titles = BTreeMap<String, String>;

/// The part of a page from one heading to the next, as plain text.
#[derive(Clone, Debug, Default)]
pub struct Section {
    pub heading: String,
    pub anchor: String,
    pub level: u8,
    pub text: String,
}

/// A page as HTML, with its sections for the table of contents and the search.
#[derive(Debug, Default)]
pub struct Rendered {
    pub html: String,
    /// The sections of the page; the first one starts with the page's title.
    pub sections: Vec<Section>,
}

/// Returns the text of the first heading of level 1.
pub fn title(source: &str) -> &str {
    source.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default().trim_end()
}

/// Converts a page to HTML. If a link's text is a file name, it is replaced with the title of that page in `titles`.
pub fn render(source: &str, titles: &Titles) -> Rendered {
    let options = Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES;
    let events: Vec<Event<'_>> = Parser::new_ext(source, options).collect();
    let mut writer = Writer { titles, out: Vec::with_capacity(events.len()), page: Rendered::default(), groups: 0 };
    let mut rest = events.as_slice();
    while !rest.is_empty() {
        rest = writer.step(rest);
    }
    html::push_html(&mut writer.page.html, writer.out.into_iter());
    writer.page
}

struct Writer<'a> {
    titles: &'a Titles,
    out: Vec<Event<'a>>,
    page: Rendered,
    /// The number of tab groups written so far, which makes the name of each group unique.
    groups: usize,
}

impl<'a> Writer<'a> {
    /// Converts the first event or, if this module writes the HTML of the element itself, all events of the first element. Returns
    /// the remaining events.
    fn step<'e>(&mut self, events: &'e [Event<'a>]) -> &'e [Event<'a>] {
        match &events[0] {
            Event::Start(Tag::Heading { level, id, .. }) => {
                let end = end_of(events, |tag| matches!(tag, TagEnd::Heading(_)));
                self.heading(*level, id.as_deref(), &events[1..end]);
                return &events[end + 1..];
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if tab(info).is_some() => return self.samples(events),
            Event::Start(Tag::CodeBlock(_)) => {
                let end = end_of(events, |tag| matches!(tag, TagEnd::CodeBlock));
                let code = text(&events[1..end]);
                self.find(&code);
                self.raw(format!("<pre><code>{}</code></pre>\n", escaped(code.trim_end())));
                return &events[end + 1..];
            }
            Event::Start(Tag::Table(_)) => {
                // Keyboard users can scroll only elements that can receive focus.
                self.raw("<div class=\"scroll\" role=\"group\" aria-label=\"Table\" tabindex=\"0\">".to_owned());
                self.out.push(events[0].clone());
            }
            Event::End(TagEnd::Table) => {
                self.out.push(events[0].clone());
                self.raw("</div>\n".to_owned());
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                let end = end_of(events, |tag| matches!(tag, TagEnd::Link));
                return self.link(dest_url, events, end);
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url: CowStr<'a> = address(dest_url).into();
                // On phones, a picture can be wider than the page. The link opens the picture alone, and gives keyboard users a focus
                // target for scrolling.
                self.raw(format!("<a class=\"picture\" href=\"{}\">", escaped(&dest_url)));
                let image = Tag::Image { link_type: *link_type, dest_url, title: title.clone(), id: id.clone() };
                self.out.push(Event::Start(image));
            }
            Event::End(TagEnd::Image) => {
                self.out.push(events[0].clone());
                self.raw("</a>".to_owned());
            }
            Event::Html(code) | Event::InlineHtml(code) => {
                self.find(code);
                self.out.push(Event::Text(code.clone()));
            }
            Event::Code(code) if is_word(code) => {
                self.find(code);
                self.raw(format!("<code class=\"word\">{}</code>", escaped(code)));
            }
            other => {
                match other {
                    Event::Text(text) | Event::Code(text) => self.find(text),
                    Event::SoftBreak | Event::HardBreak => self.find(" "),
                    Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => self.find(" "),
                    _ => {}
                }
                self.out.push(other.clone());
            }
        }
        &events[1..]
    }

    fn raw(&mut self, code: String) {
        self.out.push(Event::Html(code.into()));
    }

    /// Adds text to the current section, for the search.
    fn find(&mut self, text: &str) {
        if let Some(section) = self.page.sections.last_mut() {
            section.text.push_str(text);
        }
    }

    fn heading(&mut self, level: HeadingLevel, id: Option<&str>, inner: &[Event<'a>]) {
        let heading = text(inner);
        let anchor = self.free(id.map_or_else(|| anchor(&heading), str::to_owned));
        let level = level as u8;
        let mut code = String::new();
        html::push_html(&mut code, inner.iter().cloned());
        self.raw(match level {
            1 => format!("<h1 id=\"{anchor}\">{code}</h1>\n"),
            _ => format!("<h{level} id=\"{anchor}\"><a class=\"anchor\" href=\"#{anchor}\">{code}</a></h{level}>\n"),
        });
        self.page.sections.push(Section { heading, anchor, level, text: String::new() });
    }

    /// Returns `anchor`, with a number appended if the page already has this anchor.
    fn free(&self, anchor: String) -> String {
        let is_used = |anchor: &str| self.page.sections.iter().any(|section| section.anchor == anchor);
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        std::iter::once(anchor.clone()).chain(numbered).find(|anchor| !is_used(anchor)).expect("there are enough numbers")
    }

    fn link<'e>(&mut self, target: &str, events: &'e [Event<'a>], end: usize) -> &'e [Event<'a>] {
        let to = address(target);
        let file = target.split('#').next().unwrap_or_default();
        let named = text(&events[1..end]);
        let dest_url: CowStr<'a> = to.into();
        self.out.push(Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, title: "".into(), id: "".into() }));
        match self.titles.get(file.trim_end_matches(".md")).filter(|_| named == file) {
            Some(title) => {
                self.find(title);
                self.out.push(Event::Text(title.clone().into()));
            }
            None => {
                self.find(&named);
                self.out.extend(events[1..end].iter().cloned());
            }
        }
        self.out.push(events[end].clone());
        &events[end + 1..]
    }

    /// Writes a group of tabbed code samples, which starts with the first event. Returns the remaining events.
    fn samples<'e>(&mut self, events: &'e [Event<'a>]) -> &'e [Event<'a>] {
        self.groups += 1;
        let group = format!("sample-{}", self.groups);
        let (mut tabs, mut codes) = (String::new(), String::new());
        let mut rest = events;
        for number in 1.. {
            let Some(Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info)))) = rest.first() else { break };
            let Some(name) = tab(info) else { break };
            let end = end_of(rest, |tag| matches!(tag, TagEnd::CodeBlock));
            let checked = if number == 1 { " checked" } else { "" };
            tabs.push_str(&format!(
                "<input type=\"radio\" name=\"{group}\" id=\"{group}-{number}\" value=\"{name}\"{checked}><label for=\"{group}-{number}\">{name}</label>"
            ));
            codes.push_str(&format!("<pre><code>{}</code></pre>", escaped(text(&rest[1..end]).trim_end())));
            rest = &rest[end + 1..];
        }
        self.raw(format!(
            "<fieldset class=\"samples\"><legend class=\"hidden\">Language of the sample</legend>{tabs}{codes}</fieldset>\n"
        ));
        rest
    }
}

/// Returns the index of the event that ends the element started by the first event. That element must not contain elements of the same
/// kind.
fn end_of(events: &[Event<'_>], is_end: impl Fn(&TagEnd) -> bool) -> usize {
    let found = events.iter().position(|event| matches!(event, Event::End(tag) if is_end(tag)));
    found.expect("the parser closes every element")
}

fn text(events: &[Event<'_>]) -> String {
    let mut all = String::new();
    for event in events {
        match event {
            Event::Text(text) | Event::Code(text) => all.push_str(text),
            Event::SoftBreak => all.push(' '),
            _ => {}
        }
    }
    all
}

/// Returns whether inline code must stay on one line, so that browsers do not break an option after a hyphen. Longer code may break,
/// because a line has only about 40 characters on a phone.
fn is_word(code: &str) -> bool {
    code.chars().count() <= WORD_CHARACTERS_MAX && !code.contains(' ')
}

/// Returns the tab's name from the info string of a code block: `curl` for `sh tab=curl`.
fn tab(info: &str) -> Option<&str> {
    info.split_once(" tab=").map(|(_, name)| name)
}

/// Returns the anchor for a heading: lowercase words joined with hyphens, as on code hosting sites.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_'));
    kept.map(|character| if character == ' ' { '-' } else { character.to_ascii_lowercase() })
        .collect::<String>()
        .trim_end_matches('-')
        .to_owned()
}

/// Converts a link target to a URL. Pages link to each other by file name, so that the links also work in the source tree.
fn address(target: &str) -> String {
    let (file, anchor) = target.split_once('#').map_or((target, String::new()), |(file, anchor)| (file, format!("#{anchor}")));
    if file.starts_with("pictures/") {
        return format!("/docs/{file}");
    }
    match file.strip_suffix(".md").filter(|name| !name.contains("://")) {
        Some("README") => format!("/docs{anchor}"),
        Some(name) if !name.starts_with('/') => format!("/docs/{name}{anchor}"),
        _ => target.to_owned(),
    }
}

pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(source: &str) -> Rendered {
        render(source, &Titles::from([("contacts".to_owned(), "Contacts".to_owned())]))
    }

    #[test]
    fn markup_in_pages_is_shown_as_text() {
        let page = page("A <script>alert(1)</script>.\n\n<img src=x onerror=alert(1)>\n\n    <b>\n");
        assert!(!page.html.contains("<script") && !page.html.contains("<img") && !page.html.contains("<b>"), "{}", page.html);
        assert!(page.html.contains("&lt;script&gt;"), "{}", page.html);
    }

    #[test]
    fn headings_have_unique_anchors_and_sections_have_their_text() {
        let page = page("# Title\n\nFirst.\n\n## The `Rules`\n\nOne *two*\nthree.\n\n## The rules\n\n### Add {#create}\n");
        let anchors: Vec<&str> = page.sections.iter().map(|section| section.anchor.as_str()).collect();
        assert_eq!(anchors, ["title", "the-rules", "the-rules-1", "create"]);
        assert_eq!(page.sections[1].text.trim(), "One two three.");
        assert!(
            page.html.contains("<h2 id=\"the-rules\"><a class=\"anchor\" href=\"#the-rules\">The <code>Rules</code></a></h2>")
        );
    }

    #[test]
    fn short_code_stays_on_one_line() {
        let page = page("Use `--wait-timeout` or `GET /v1/contacts/{id}/subscriptions`.");
        assert!(page.html.contains("<code class=\"word\">--wait-timeout</code>"), "{}", page.html);
        assert!(page.html.contains("<code>GET /v1/"), "{}", page.html);
    }

    #[test]
    fn links_to_files_lead_to_pages_and_show_their_titles() {
        let page = page(
            "[contacts.md](contacts.md) [all](contacts.md#fields) [a](README.md) [b](https://x.example/y.md) ![p](pictures/p.svg)",
        );
        assert!(page.html.contains("<a href=\"/docs/contacts\">Contacts</a>"), "{}", page.html);
        for address in ["/docs/contacts#fields", "/docs", "https://x.example/y.md", "/docs/pictures/p.svg"] {
            assert!(page.html.contains(&format!("=\"{address}\"")), "{address} in {}", page.html);
        }
    }

    #[test]
    fn consecutive_samples_are_one_group_of_tabs() {
        let page = page("```sh tab=curl\ncurl <x>\n```\n\n```js tab=Node\nawait 1;\n```\n\n```sh\nother\n```\n");
        assert_eq!(page.html.matches("<fieldset").count(), 1);
        assert_eq!((page.html.matches("type=\"radio\"").count(), page.html.matches(" checked").count()), (2, 1));
        assert!(
            page.html.contains("<pre><code>curl &lt;x&gt;</code></pre>") && page.html.contains("<pre><code>other</code></pre>")
        );
    }
}
