//! Turns an email into the HTML that a client shows.
//!
//! First, the email is clipped. Then the parts that the client drops are cut, based on the same findings as the report. Later steps draw
//! Word's shapes, apply dark mode, and replace blocked images with boxes. The result is approximate: it contains what a client keeps, but
//! does not imitate the client's rendering engine.

mod clip;
mod dark;
mod images;
mod notes;
mod vml;
mod word;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::conditions::Applies;
use super::css::{Owner, Part, SelectorPart};
use super::features::detect::Site;
use super::features::{Effect, TABLE};
use super::findings::{Analysis, Checker, Finding, Findings};
use super::html::VOID;
use super::profile::{DarkMode, Profile};
use super::side::Hit;
use super::view::{Texts, View};
use crate::base::source::{Lines, Span};
use crate::base::text::without_markdown;

pub use self::clip::clip_end;
pub use self::notes::Note;

/// The maximum number of cuts that are listed.
const CUTS_MAX: usize = 500;
const WHAT_CHARACTERS_MAX: usize = 120;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub dark: bool,
    pub images: bool,
    /// The scale factor that is set in Windows, such as 1.25 for 120 dpi.
    pub scale: f32,
}

impl Default for Options {
    fn default() -> Self {
        Self { dark: false, images: true, scale: 1.0 }
    }
}

/// A part of an email that a client removes or changes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[schemars(rename = "PreviewCut")]
pub struct Cut {
    pub line: u32,
    /// The source of the part, shortened.
    pub what: String,
    pub why: String,
    /// The slug of the feature in the support tables.
    pub slug: String,
    /// The number of times that the line contains this part.
    pub count: u32,
}

#[derive(Clone, Debug)]
pub struct Transformed {
    pub html: String,
    /// The style sheet that applies before the email's own styles: the client's font, and its colors in dark mode.
    pub default_style: String,
    pub cuts: Vec<Cut>,
    pub notes: Vec<Note>,
}

/// A replacement for a span of the text.
#[derive(Clone, Debug)]
struct Edit {
    span: Span,
    replacement: String,
}

impl Edit {
    fn remove(span: Span) -> Self {
        Self { span, replacement: String::new() }
    }

    fn replace(span: Span, replacement: impl Into<String>) -> Self {
        Self { span, replacement: replacement.into() }
    }
}

/// Applies edits. If two edits overlap, only the one that starts first applies; if both start at the same place, only the longer one.
fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.span.start, std::cmp::Reverse(edit.span.end)));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        if edit.span.start < at {
            continue;
        }
        out.push_str(Span { start: at, end: edit.span.start }.of(text));
        out.push_str(&edit.replacement);
        at = edit.span.end;
    }
    out.push_str(text.get(at as usize..).unwrap_or_default());
    out
}

/// Returns an email as a client shows it.
pub fn transform(checker: &Checker, html: &str, profile: &Profile, options: Options) -> Transformed {
    let clipped = profile.clips_at.and_then(|limit| clip::clip(html, limit));
    let shown = clipped.as_ref().map_or(html, |clipped| &clipped.html);
    let texts = Texts::new(shown);
    let analysis = Analysis::new(checker, &texts);
    let side = analysis.side(profile);
    let lines = Lines::new(shown);
    let (found, _) = Findings::default().of(&analysis, profile);
    let mut cutter = EditCollector {
        view: &side.view,
        profile,
        lines,
        edits: Vec::new(),
        cuts: Vec::new(),
        listed: HashMap::new(),
        selectors: BTreeMap::new(),
    };
    for finding in &found {
        cutter.finding(finding);
    }
    if profile.body_to_div {
        cutter.body_to_div();
    }
    cutter.remove_selectors();
    if profile.word {
        word::own_properties(&side.view, &mut cutter.edits);
        vml::draw(&side.view, &mut cutter.edits);
        if options.scale > 1.0 {
            word::keep_attribute_sizes(&side.view, options.scale, &mut cutter.edits);
        }
    }
    let EditCollector { edits, mut cuts, .. } = cutter;
    cuts.sort_by(|one, other| one.line.cmp(&other.line).then_with(|| one.slug.cmp(&other.slug)));
    if let Some(clipped) = &clipped {
        let why = "The client shows only the first 102 KB, with a link to the entire message.".to_owned();
        cuts.push(Cut { line: clipped.line, what: "the rest of the message".into(), why, slug: "clipping".into(), count: 1 });
    }
    let mut html = apply(side.view.source, edits);
    let dark = if options.dark { profile.dark } else { DarkMode::None };
    let canvas = dark::canvas(&html, dark);
    if dark != DarkMode::None {
        html = dark::darken(&html, dark);
    }
    let mut notes = Vec::new();
    if !options.images {
        notes = notes::without_images(&side.view);
        html = images::block(&html);
    }
    let mut default_style = format!("html{{font-family:{}}}", profile.font);
    default_style.push_str(canvas);
    Transformed { html, default_style, cuts, notes }
}

struct EditCollector<'c, 'a> {
    view: &'c View<'a>,
    profile: &'c Profile,
    lines: Lines<'c>,
    edits: Vec<Edit>,
    cuts: Vec<Cut>,
    /// The positions of the cuts in [`Self::cuts`], by line, source text and feature.
    listed: HashMap<(u32, String, String), usize>,
    /// The selectors that the client does not support, by rule.
    selectors: BTreeMap<u32, BTreeSet<u32>>,
}

impl EditCollector<'_, '_> {
    fn finding(&mut self, finding: &Finding) {
        let Some(entry) = TABLE.entry(finding.feature) else { return };
        let note = finding.notes.iter().rev().max_by_key(|(_, _, applies)| *applies).map(|(_, note, _)| &**note);
        let why = without_markdown(note.unwrap_or("The client does not support this feature.").trim());
        for hit in &finding.hits {
            if !hit.cuts || hit.applies != Applies::True {
                continue;
            }
            self.hit(hit, &entry.slug);
            self.cut(hit.used.span, &why, &entry.slug);
        }
    }

    /// Lists a cut, up to a limit. Identical cuts on one line are listed once, because a minified email has only one line.
    fn cut(&mut self, span: Span, why: &str, slug: &str) {
        let what: String = span.of(self.view.source).chars().take(WHAT_CHARACTERS_MAX).collect();
        let line = self.lines.position(span.start).0;
        let key = (line, what, slug.to_owned());
        if let Some(cut) = self.listed.get(&key).and_then(|index| self.cuts.get_mut(*index)) {
            cut.count += 1;
        } else if self.cuts.len() < CUTS_MAX {
            self.cuts.push(Cut { line, what: key.1.clone(), why: why.to_owned(), slug: slug.to_owned(), count: 1 });
            self.listed.insert(key, self.cuts.len() - 1);
        }
    }

    fn hit(&mut self, hit: &Hit, slug: &str) {
        match hit.used.site {
            Site::Element(index) => self.element(index),
            Site::Attribute(_, span) => self.edits.push(Edit::remove(span)),
            Site::Declaration(index) => self.declaration(index, hit.effect, slug),
            Site::Selector(rule, selector) => {
                self.selectors.entry(rule).or_default().insert(selector);
            }
            Site::Rule(rule) => self.edits.extend(self.view.rule(rule).map(|rule| Edit::remove(rule.span))),
            Site::AtRule(index) => {
                self.edits.extend(self.view.sheets.at_rules.get(index as usize).map(|at_rule| Edit::remove(at_rule.span)));
            }
            Site::CssComment(index) => match self.view.sheets.comments.get(index as usize) {
                Some((_, Owner::Element(element))) if hit.effect == Effect::DropsAttribute => self.style_of(*element),
                _ => self.edits.push(Edit::remove(hit.used.span)),
            },
            Site::Document => self.edits.push(Edit::remove(hit.used.span)),
        }
    }

    /// Removes the tags of an element, and also the content of some elements, such as `style` and `svg`.
    fn element(&mut self, index: u32) {
        let Some(element) = self.view.element(index) else { return };
        if matches!(&*element.name, "style" | "svg" | "object" | "select" | "dialog") {
            self.edits.push(Edit::remove(element.span()));
            return;
        }
        self.edits.push(Edit::remove(element.start_tag));
        if !VOID.contains(&&*element.name) {
            self.edits.extend(element.end_tag.map(Edit::remove));
        }
    }

    /// Removes the `style` attribute of an element, or a `style` element.
    fn style_of(&mut self, index: u32) {
        let Some(element) = self.view.element(index) else { return };
        if element.name == "style" {
            self.edits.push(Edit::remove(element.span()));
            return;
        }
        let attribute = self.view.document.attributes_of(element).iter().find(|attribute| attribute.name == "style");
        self.edits.extend(attribute.map(|attribute| Edit::remove(attribute.span)));
    }

    fn declaration(&mut self, index: u32, effect: Effect, slug: &str) {
        let Some(declaration) = self.view.sheets.declarations.get(index as usize) else { return };
        if let Some(name) = self.profile.renames.get(slug) {
            self.edits.push(Edit::replace(declaration.name, name.clone()));
            return;
        }
        if effect == Effect::DropsAttribute || effect == Effect::DropsStyleElement {
            match declaration.owner {
                Owner::Element(element) => self.style_of(element),
                Owner::Rule(rule) => {
                    if let Some(rule) = self.view.rule(rule) {
                        self.style_of(rule.element);
                    }
                }
                Owner::AtRule(at_rule) => {
                    if let Some(at_rule) = self.view.sheets.at_rules.get(at_rule as usize) {
                        self.style_of(at_rule.element);
                    }
                }
            }
            return;
        }
        let rest = self.view.source.get(declaration.span.end as usize..).unwrap_or_default();
        let semicolon = u32::from(rest.starts_with(';'));
        self.edits.push(Edit::remove(Span { start: declaration.span.start, end: declaration.span.end + semicolon }));
    }

    /// Removes the selectors that the client does not support, and the rules that have no other selectors.
    fn remove_selectors(&mut self) {
        for (rule, refused) in std::mem::take(&mut self.selectors) {
            let Some(rule) = self.view.rule(rule) else { continue };
            let kept: Vec<&str> = (rule.selectors.start..)
                .zip(self.view.sheets.selectors_of(rule))
                .filter(|(index, _)| !refused.contains(index))
                .map(|(_, selector)| selector.span.of(self.view.source))
                .collect();
            let edit = if kept.is_empty() { Edit::remove(rule.span) } else { Edit::replace(rule.prelude, kept.join(", ")) };
            self.edits.push(edit);
        }
    }

    /// Turns the body into a `div`, as the client does, and removes the selectors for `body` and `html`, which no longer match.
    fn body_to_div(&mut self) {
        for (number, rule) in (0..).zip(&self.view.sheets.rules) {
            for (index, selector) in (rule.selectors.start..).zip(self.view.sheets.selectors_of(rule)) {
                let mut parts = self.view.sheets.parts_of(selector).iter();
                let names_body = |part: &SelectorPart| {
                    part.part == Part::Type
                        && ["body", "html"].iter().any(|name| part.name.of(self.view.source).eq_ignore_ascii_case(name))
                };
                if !parts.any(names_body) || !self.selectors.entry(number).or_default().insert(index) {
                    continue;
                }
                let why = "The client turns the body element into a div, so rules for html or body do not apply.";
                self.cut(selector.span, why, "html-body");
            }
        }
        let Some(body) = self.view.document.elements.iter().find(|element| element.name == "body") else { return };
        let name = |start: u32| Edit::replace(Span { start, end: start + 4 }, "div");
        self.edits.push(name(body.start_tag.start + 1));
        self.edits.extend(body.end_tag.map(|tag| name(tag.start + 2)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(html: &str, key: &str, options: Options) -> Transformed {
        let checker = Checker::embedded();
        transform(checker, html, checker.profile(key).expect("the client is known"), options)
    }

    #[test]
    fn rules_for_the_body_match_nothing_if_the_client_renames_it() {
        let html =
            "<style>\nbody, p{color:red}\nbody .a{color:blue}\n.a{color:green}</style><body bgcolor=red><p class=a>x</body>";
        let gmail = shown(html, "gmail.desktop-webmail", Options::default());
        assert_eq!(gmail.html, "<style>\np{color:red}\n\n.a{color:green}</style><div bgcolor=red><p class=a>x</div>");
        let cuts: Vec<(u32, &str, &str)> = gmail.cuts.iter().map(|cut| (cut.line, &*cut.what, &*cut.slug)).collect();
        assert!(cuts.contains(&(2, "body", "html-body")) && cuts.contains(&(3, "body .a", "html-body")), "{cuts:?}");
        assert_eq!(shown(html, "apple-mail.ios", Options::default()).html, html);
    }

    /// Regression test: previews of some clients lost every background color, so white text was on a white page.
    #[test]
    fn only_background_colors_with_newer_names_are_cut() {
        for key in ["gmx.desktop-webmail", "web-de.desktop-webmail", "orange.ios"] {
            for color in ["#1A3D2F", "navy", "rgb(1,2,3)", "transparent"] {
                let html = format!("<p style=\"background-color:{color}\">x</p>");
                let shown = shown(&html, key, Options::default()).html;
                assert!(shown.contains(&format!("background-color:{color}")), "{key}: {shown}");
            }
            let cuts = shown("<p style=\"background-color:rebeccapurple\">x</p>", key, Options::default()).cuts;
            assert!(cuts.iter().any(|cut| cut.slug == "css-background-color"), "{key}: {cuts:?}");
        }
    }

    #[test]
    fn equal_cuts_in_one_line_are_counted() {
        let html =
            "<p style=\"border-radius:4px\">a</p><p style=\"border-radius:4px\">b</p>\n<p style=\"border-radius:4px\">c</p>";
        let cuts = shown(html, "outlook.windows", Options::default()).cuts;
        let rounded: Vec<(u32, u32)> =
            cuts.iter().filter(|cut| cut.slug == "css-border-radius").map(|cut| (cut.line, cut.count)).collect();
        assert_eq!(rounded, [(1, 2), (2, 1)]);
    }

    #[test]
    fn the_reasons_of_cuts_are_plain_text() {
        let html =
            "<style>a:hover{color:red}</style><p style=\"border-radius:4px;display:flex;background-image:url(a.png)\">x</p>";
        let checker = Checker::embedded();
        let cuts = |profile| transform(checker, html, profile, Options::default()).cuts;
        let reasons: Vec<String> = checker.profiles.iter().flat_map(cuts).map(|cut| cut.why).collect();
        assert!(reasons.iter().any(|why| why.contains("buttons.cm")), "{reasons:?}");
        assert!(reasons.iter().all(|why| !why.contains('`') && !why.contains("](")), "{reasons:?}");
    }

    #[test]
    fn a_clipped_message_ends_with_the_line_of_gmail() {
        let html = format!("<html><body><p>{}</p></body></html>", "Many words. ".repeat(10_000));
        let gmail = shown(&html, "gmail.desktop-webmail", Options::default());
        assert!(gmail.html.contains("[Message clipped]") && gmail.html.len() < 106_000, "{}", gmail.html.len());
        assert_eq!(gmail.cuts.last().map(|cut| &*cut.slug), Some("clipping"));
        assert!(!shown(&html, "apple-mail.ios", Options::default()).html.contains("[Message clipped]"));
    }

    /// Thunderbird changes the colors of every message in dark mode, and applies none of the email's own rules for dark mode.
    #[test]
    fn thunderbird_changes_light_backgrounds_and_dark_text_in_dark_mode() {
        let html = "<style>@media (prefers-color-scheme:dark){p{color:#00FF00}}</style><body bgcolor=\"#FFFFFF\">\
                    <p style=\"color:#222222\">x</p><p style=\"background-color:#1A3D2F;color:#FFFFFF\">y</p></body>";
        let dark = shown(html, "thunderbird.macos", Options { dark: true, ..Options::default() }).html;
        assert!(!dark.contains("bgcolor=\"#FFFFFF\"") && !dark.contains("color:#222222"), "{dark}");
        assert!(dark.contains("background-color:#1A3D2F;color:#FFFFFF") && !dark.contains("#00FF00"), "{dark}");
        let light = shown(html, "thunderbird.macos", Options::default()).html;
        assert!(light.contains("color:#222222"), "{light}");
    }

    #[test]
    fn dark_mode_and_blocked_images_change_what_is_shown() {
        let html = "<p style=\"color:#222222\">x<img src=\"https://x.example/a.png\" alt=Cup></p>";
        let dark = shown(html, "gmail.android", Options { dark: true, ..Options::default() });
        assert!(!dark.html.contains("#222222") && dark.default_style.contains("background-color:#121212"), "{}", dark.html);
        let blocked = shown(html, "gmail.android", Options { images: false, ..Options::default() });
        assert!(blocked.html.contains(">Cup</span>") && blocked.notes[0].rule == "few_words", "{blocked:?}");
    }
}
