//! Writes the stories of a newsletter: a section for each story or, if all stories are short, a list.

use super::material;
use super::sections::Writer;
use super::text::{addresses, capital, ended, tidy, unquoted};
use crate::features::emails::brief::Story;
use crate::features::emails::document::*;
use crate::vocab::limits;

/// The length up to which a heading fits on two lines.
const HEADING_CHARACTERS_MAX: usize = 64;
/// The length up to which a story without a heading is an item of a list.
const ITEM_CHARACTERS_MAX: usize = 90;
/// The number of stories up to which each story has a section of its own. A section has up to four blocks.
const SECTIONS_MAX: usize = 8;

/// Returns the heading of a story: the heading that the prompt gives, or the first words of the story if they stand alone.
pub fn title(story: &Story) -> Option<String> {
    split(story).0
}

/// Returns the heading and the text of a story.
fn split(story: &Story) -> (Option<String>, String) {
    let text = tidy(&story.text.text);
    if let Some(heading) = &story.heading {
        let heading = tidy(unquoted(&heading.text));
        let rest = text.strip_prefix(heading.as_str()).unwrap_or(&text);
        let rest = rest.trim_start_matches([':', '.', ',', '–', '—', '-', ' ', '!']).to_owned();
        return (Some(capital(&heading)), rest);
    }
    let short = |head: &str| {
        let length = head.chars().count();
        (8..=HEADING_CHARACTERS_MAX).contains(&length) && head.contains(' ') && !head.contains("http")
    };
    // "Heading: text" and "Heading – text".
    for mark in [": ", " – ", " — ", " - "] {
        if let Some((head, rest)) = text.split_once(mark)
            && head.chars().count() <= HEADING_CHARACTERS_MAX
            && !head.contains(['.', '?', '!', ','])
            && !head.contains("http")
        {
            return (Some(capital(head)), capital(rest));
        }
    }
    // A first sentence that is short is a heading.
    let end = sentence_end(&text);
    let head = text[..end].trim_end_matches(['.', ' ']);
    if short(head) && addresses(head).is_empty() {
        return (Some(capital(head)), text[end..].trim().to_owned());
    }
    (None, text)
}

/// Returns the position after the first sentence.
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
        let short = |story: &&Story| {
            story.heading.is_none() && story.link.is_none() && story.text.text.chars().count() <= ITEM_CHARACTERS_MAX
        };
        if all.len() > SECTIONS_MAX || (all.len() > 1 && all.iter().all(short)) {
            return self.story_list(&all);
        }
        for at in content.stories.clone() {
            self.story(at, &content.brief.stories[at]);
        }
    }

    fn story_list(&mut self, stories: &[&Story]) {
        for part in stories.chunks(limits::EMAIL_LIST_ITEMS_MAX) {
            let item = |story: &&Story| {
                let link = story.link.as_deref().and_then(material::link);
                match split(story) {
                    (Some(title), text) if !text.is_empty() => Item {
                        title: Some(Line::cut(&title)),
                        text: self.rich(&with_link(&ended(&text), link, &self.read_more())),
                    },
                    (title, text) => {
                        let text = title.unwrap_or(text);
                        Item { title: None, text: self.rich(&with_link(&text, link, &self.read_more())) }
                    }
                }
            };
            let items = part.iter().map(item).collect();
            let list = List { id: self.id("list"), marks: ListMarks::Bullets, items };
            self.push(Block::List(list));
        }
    }

    /// Writes the heading, picture, text, further facts and link of a story.
    fn story(&mut self, at: usize, story: &Story) {
        let (title, text) = split(story);
        if let Some(title) = &title {
            self.heading(title);
        }
        if let Some(picture) = self.picture_of(&story.text.text) {
            let block = Image { id: self.id("image"), image: picture, caption: None, width: ImageWidth::Content };
            self.push(Block::Image(block));
        }
        let link = story.link.as_deref().and_then(material::link);
        let mut text = if text.is_empty() { text } else { ended(&capital(&text)) };
        let more: Vec<String> = self.content.facts_of_story(at).into_iter().filter_map(|fact| self.unsaid(fact, &text)).collect();
        if !more.is_empty() {
            text = format!("{text} {}", ended(&capital(&more.join(", "))));
        }
        let shows_link = link
            .as_ref()
            .is_some_and(|link| addresses(&text).iter().any(|known| super::content::same_address(known, link.as_str())));
        let mut markup = self.marked(text.trim(), &[]);
        if let Some(link) = link.filter(|_| !shows_link) {
            let more = format!("[{}]({link})", super::phrases::escape(&self.read_more()));
            markup = [markup, more].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        }
        self.text(&markup);
    }

    /// Returns a fact as text if a text does not contain it.
    fn unsaid(&self, fact: usize, text: &str) -> Option<String> {
        let fact = self.content.fact(fact);
        let said = super::text::folded(text);
        if self.content.is_said(fact, &said) || self.content.is_said(fact, &self.said) { None } else { self.content.shown(fact) }
    }

    fn read_more(&self) -> String {
        self.book.label("common.read_more")
    }
}

fn with_link(text: &str, link: Option<Link>, label: &str) -> String {
    let text = super::phrases::escape(text);
    link.map_or_else(|| text.clone(), |link| format!("{text} [{}]({link})", super::phrases::escape(label)))
}
