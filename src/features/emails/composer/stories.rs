//! Writes the stories of a newsletter: a section for each story, or a list if the stories are short or numerous.

use super::language::{Bank, Language};
use super::material;
use super::sections::Writer;
use super::text::{addresses, capital, closed, ended, folded, tidy, unquoted};
use super::tokens::plain;
use crate::features::emails::brief::{FactKind, Part, Story};
use crate::features::emails::document::*;
use crate::vocab::limits;

/// The minimum length of a heading, in characters. Shorter text, such as "Soup €9", is not a heading.
const HEADING_CHARACTERS_MIN: usize = 8;
/// The maximum length of a heading, in characters. A heading of this length fits on two lines.
const HEADING_CHARACTERS_MAX: usize = 64;
/// The maximum length, in characters, of a story without a heading that is printed as a list item.
const ITEM_CHARACTERS_MAX: usize = 90;
/// The maximum number of words in the label of a link, and the maximum number of characters between the label and the link.
const LABEL_WORDS_MAX: usize = 3;
const LABEL_GAP: u32 = 3;
/// The maximum number of stories that get a section each. A section consists of several blocks, and the number of blocks is limited.
const SECTIONS_MAX: usize = 8;

/// Returns the heading of a story: the heading that the prompt gives or, without one, the words at the start of the story that can be its
/// heading.
pub fn title(story: &Story, language: Language) -> Option<String> {
    split(story, language).0
}

/// Returns the heading and the text of a story. Text that is only the address of the story's link is left out.
fn split(story: &Story, language: Language) -> (Option<String>, String) {
    let text = tidy(&story.text.text);
    let (heading, text) = match &story.heading {
        Some(heading) => {
            let heading = tidy(unquoted(&heading.text));
            let rest = text.strip_prefix(heading.as_str()).unwrap_or(&text);
            let rest = rest.trim_start_matches([':', '.', ',', '–', '—', '-', ' ', '!']).to_owned();
            (Some(heading), rest)
        }
        None => parted(&text, language),
    };
    let is_address = addresses(&text).first().is_some_and(|address| text.trim_end_matches('.') == *address);
    (heading.map(|heading| capital(&closed(&heading))), if is_address { String::new() } else { text })
}

/// Returns the words at the start of the text that can be its heading, and the remaining text.
fn parted(text: &str, language: Language) -> (Option<String>, String) {
    let fits = |head: &str| head.chars().count() <= HEADING_CHARACTERS_MAX && addresses(head).is_empty();
    // The heading can precede the text on the same line: "Heading: text" and "Heading – text".
    for mark in [": ", " – ", " — ", " - "] {
        if let Some((head, rest)) = text.split_once(mark)
            && fits(head)
            && !head.contains(['.', '?', '!', ','])
        {
            return (Some(head.to_owned()), capital(rest));
        }
    }
    let is_name = |head: &str| fits(head) && head.chars().count() >= HEADING_CHARACTERS_MIN && head.contains(' ');
    // A short first sentence is a heading if text follows it.
    let end = sentence_end(text);
    let head = text[..end].trim_end_matches(['.', ' ']);
    if is_name(head) && end < text.len() {
        return (Some(head.to_owned()), text[end..].trim().to_owned());
    }
    // The words before the first comma are a heading, as in "Name, text", unless they start a clause that the rest completes: "If you like
    // tea, come by."
    if let Some((name, rest)) = text.split_once(", ")
        && is_name(name)
        && super::knowledge::split(name).len() == 1
        && rest.contains(' ')
        && !starts_clause(name, language)
    {
        return (Some(name.to_owned()), capital(rest));
    }
    if is_name(head) { (Some(head.to_owned()), String::new()) } else { (None, text.to_owned()) }
}

/// Returns whether the first word of the text starts a part of a sentence that cannot stand alone: "If", "On".
pub fn starts_clause(text: &str, language: Language) -> bool {
    let first = plain(text.split(' ').next().unwrap_or_default());
    Bank::of(language).phrases("words.clause_starts").iter().any(|word| plain(word) == first)
}

fn sentence_end(text: &str) -> usize {
    super::knowledge::split(text).first().map_or(text.len(), |first| first.len()).min(text.len())
}

impl Writer<'_> {
    pub fn stories(&mut self) {
        let content = self.content;
        if content.stories.is_empty() {
            return;
        }
        let all: Vec<&Story> = content.stories.iter().map(|at| &content.brief.stories[*at]).collect();
        let language = content.language;
        let short = |story: &&Story| {
            story.heading.is_none() && story.link.is_none() && story.text.text.chars().count() <= ITEM_CHARACTERS_MAX
        };
        // As a section, a story with only a heading would look unfinished, and its heading would seem to belong to the next section's text.
        // The stories are then printed as a list.
        let bare = |story: &&Story| story.link.is_none() && split(story, language).1.is_empty();
        if all.len() > SECTIONS_MAX || (all.len() > 1 && (all.iter().all(short) || all.iter().any(bare))) {
            return self.story_list(&all);
        }
        for at in content.stories.clone() {
            self.story(at, &content.brief.stories[at]);
        }
    }

    fn story_list(&mut self, stories: &[&Story]) {
        let language = self.content.language;
        // A story that consists only of the email's title is left out.
        let is_title = |story: &Story| match split(story, language) {
            (Some(whole), text) if text.is_empty() => folded(&whole) == self.title,
            (heading, text) => heading.is_none() && folded(&text) == self.title,
        };
        let stories: Vec<&Story> = stories.iter().copied().filter(|story| story.link.is_some() || !is_title(story)).collect();
        for part in stories.chunks(limits::EMAIL_LIST_ITEMS_MAX) {
            let item = |story: &&Story| {
                let (title, text) = split(story, language);
                let (title, text) = match title {
                    Some(title) if text.is_empty() => (None, title),
                    Some(title) => (Some(title), ended(&capital(&text))),
                    None => (None, text),
                };
                let text = self.with_link(self.marked(&text, &[]), story, " ");
                Item { title: title.map(|title| Line::cut(&title)), text: self.rich(&text) }
            };
            let items = part.iter().map(item).collect();
            let list = List { id: self.id("list"), marks: ListMarks::Bullets, items };
            self.push(Block::List(list));
        }
    }

    /// Writes the heading, picture, text, additional facts and link of a story. A divider separates a story without a heading from the
    /// story before it.
    fn story(&mut self, at: usize, story: &Story) {
        let (title, text) = split(story, self.content.language);
        let is_first = self.content.stories.first() == Some(&at);
        match &title {
            // The heading of the first story is left out if it is the title of the email.
            Some(title) if is_first && folded(title) == self.title => {}
            Some(title) => self.heading(title),
            None if !is_first => {
                let divider = Divider { id: self.id("divider"), look: Pause::default() };
                self.push(Block::Divider(divider));
            }
            None => {}
        }
        if let Some(picture) = self.picture_of(&story.text.text) {
            let block = Image { id: self.id("image"), image: picture, caption: None, width: ImageWidth::Content };
            self.push(Block::Image(block));
        }
        // A link at the end of the text is removed here and added below with a label of its own.
        let own = story
            .link
            .as_deref()
            .and_then(|link| text.trim_end_matches('.').strip_suffix(link))
            .map(|head| head.trim_end().to_owned());
        let text = own.unwrap_or(text);
        let mut text = if text.is_empty() { text } else { ended(&capital(&text)) };
        let more = self.content.facts_of_story(at).into_iter().filter_map(|fact| self.unsaid(fact, &story.text.text));
        let more: Vec<String> = more.collect();
        if !more.is_empty() {
            text = format!("{text} {}", ended(&capital(&more.join(", "))));
        }
        let markup = self.with_link(self.marked(text.trim(), &[]), story, "\n\n");
        self.text(&markup);
    }

    /// Adds the link of a story to its markup, unless the markup already contains it.
    fn with_link(&self, markup: String, story: &Story, gap: &str) -> String {
        let address = story.link.as_deref().or(addresses(&story.text.text).first().copied());
        let Some(link) = address.and_then(material::link).filter(|link| !markup.contains(&format!("({link})"))) else {
            return markup;
        };
        let label = self.label_of(story).unwrap_or_else(|| self.book.label("common.read_more"));
        let more = format!("[{}]({link})", super::phrases::escape(&label));
        [markup, more].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(gap)
    }

    /// Returns the label that the prompt contains for a story's link: "Book" in "Book: https://example.com".
    fn label_of(&self, story: &Story) -> Option<String> {
        let content = self.content;
        let link = story.link.as_deref()?;
        let is_it = |fact: &&crate::features::emails::brief::Fact| {
            fact.kind == FactKind::Link && super::content::same_address(&fact.text, link)
        };
        let start = content.brief.facts.iter().find(is_it)?.span?.start;
        let is_before = |part: &&Part| part.span.is_some_and(|span| span.end <= start && start - span.end <= LABEL_GAP);
        let label = content.brief.instructions.iter().find(is_before)?;
        let label = tidy(label.text.trim().strip_suffix(':')?);
        let fits = label.split(' ').count() <= LABEL_WORDS_MAX && content.prints(&label);
        (fits && !self.book.bank().has_word("words.link", &label) && !label.is_empty()).then(|| capital(&label))
    }

    /// Returns a fact as text, unless the given text or the email so far contains it.
    fn unsaid(&self, fact: usize, text: &str) -> Option<String> {
        let fact = self.content.fact(fact);
        let said = super::text::folded(text);
        if self.content.is_said(fact, &said) || self.content.is_said(fact, &self.said) { None } else { self.content.shown(fact) }
    }
}
