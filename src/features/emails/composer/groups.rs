//! Turns statements into suitable blocks: sentences into paragraphs, list items and programs into lists, prices into tables, and customers'
//! words into quotations.

use super::sections::Writer;
use super::text::{capital, folded};
use crate::features::emails::brief::{Fact, FactKind, FactRole, Goal};
use crate::features::emails::document::*;
use crate::vocab::limits;

/// The maximum length, in characters, of a paragraph with several sentences.
const PARAGRAPH_CHARACTERS: usize = 260;
/// The maximum length, in characters, of a statement that can be a list item.
const ITEM_CHARACTERS_MAX: usize = 110;
/// A notice of opening hours prints a statement as a list only if it has at least this many comma-separated parts. Other emails require one
/// more.
const PARTS_MIN: usize = 3;
/// The maximum average length, in characters, of the parts of a statement that is printed as a list.
const PART_CHARACTERS_MAX: usize = 44;
/// The maximum number of words before and after a quotation, and in a name before its price.
const LABEL_WORDS_MAX: usize = 5;
/// The minimum number of words in a quotation. Fewer quoted words are usually a name.
const QUOTED_WORDS_MIN: usize = 4;

/// Statements that are printed together.
pub enum Group {
    Paragraph(Vec<usize>),
    /// List items, with the words that introduce them.
    List(Option<String>, Vec<String>),
    /// The steps of a numbered list.
    Steps(Vec<String>),
    /// Names, such as dishes or plans, with their prices, and the words that introduce them.
    Prices(Option<String>, Vec<(String, String)>),
    /// The words of a customer and the customer's name.
    Quote(String, Option<String>),
}

/// Returns the words and the author of a statement that quotes a customer: `A tester: "Like a garden." - Helen, Widcombe`.
pub fn testimonial(text: &str) -> Option<(String, Option<String>)> {
    let open = text.find(['"', '“', '„', '«'])?;
    let rest = &text[open..];
    let inner = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
    let close = inner.find(['"', '”', '“', '»'])?;
    let (words, after) = inner.split_at(close);
    let author = after.trim_start_matches(['"', '”', '“', '»', ',', ' ']);
    let name = author.trim_start_matches(['-', '–', '—', ' ', '(']).trim_end_matches(['.', ')', ' ']);
    let count = |text: &str| text.split_whitespace().count();
    let before = text[..open].trim();
    let is_label = before.is_empty() || before.ends_with(':');
    let is_quote =
        count(words) >= QUOTED_WORDS_MIN && is_label && count(before) <= LABEL_WORDS_MAX && count(name) <= LABEL_WORDS_MAX;
    let is_signed = name.is_empty() || author.starts_with(['-', '–', '—', '(']);
    let name = (!name.is_empty()).then(|| name.to_owned());
    (is_quote && is_signed && (name.is_some() || !before.is_empty())).then(|| (words.trim().to_owned(), name))
}

/// Pairs of a name and its price.
type PriceRows = Vec<(String, String)>;

impl Writer<'_> {
    /// Groups the statements that are still to be printed.
    pub fn groups(&self) -> Vec<Group> {
        let content = self.content;
        let short = |at: usize| content.text(at).chars().count() <= ITEM_CHARACTERS_MAX;
        let items = |rest: &[usize]| {
            let follow = rest.windows(2).take_while(|pair| content.follows_as_item(pair[0], pair[1]) && short(pair[1])).count();
            if follow > 0 && short(rest[0]) { follow + 1 } else { 0 }
        };
        let line = |at: &usize| capital(content.text(*at).trim_end_matches(['.', ',', ';']));
        let mut groups: Vec<Group> = Vec::new();
        let open: Vec<usize> = self.statements.iter().copied().filter(|at| !self.has_code(*at)).collect();
        let mut rest = open.as_slice();
        while let Some(first) = rest.first() {
            let prices: Vec<(String, String)> = rest.iter().map_while(|at| content.priced(*at)).collect();
            let points = items(rest);
            let mut taken = 1;
            if prices.len() > 1 {
                taken = prices.len();
                groups.push(Group::Prices(None, prices));
            } else if points > 2 {
                taken = points;
                let lines = rest[..points].iter().map(line).collect();
                groups.push(if self.has_steps() { Group::Steps(lines) } else { Group::List(None, lines) });
            } else if let Some((words, author)) = testimonial(&content.text(*first)) {
                groups.push(Group::Quote(words, author));
            } else if let Some((head, prices)) = self.price_list(*first) {
                groups.push(Group::Prices(head, prices));
            } else if let Some((head, parts)) = self.program(*first) {
                groups.push(Group::List(head, parts));
            } else if let Some(Group::Paragraph(paragraph)) = groups.last_mut() {
                paragraph.push(*first);
            } else {
                groups.push(Group::Paragraph(vec![*first]));
            }
            rest = &rest[taken..];
        }
        groups
    }

    /// Returns the names and prices within a statement, with the words before the colon: "Three options: Monthly £42, Quarterly £50".
    fn price_list(&self, at: usize) -> Option<(Option<String>, PriceRows)> {
        let content = self.content;
        let (head, parts) = content.parts(at);
        let prices = content.facts_in(at).into_iter().filter(|at| content.fact(*at).kind == FactKind::Price);
        let prices: Vec<String> = prices.map(|at| content.text(at)).collect();
        let priced = |part: &String| {
            let price = prices.iter().find(|price| part.ends_with(price.as_str()))?;
            let name = part.strip_suffix(price.as_str())?.trim_end_matches([' ', ':', '–', '-', '(']);
            // A preposition before the price belongs to the price, not to the name: "Four courses for €58".
            let (start, last) = name.rsplit_once(' ').unwrap_or(("", name));
            let name = if super::stories::starts_clause(last, content.language) { start } else { name };
            (!name.is_empty() && name.split(' ').count() <= LABEL_WORDS_MAX).then(|| (capital(name), price.clone()))
        };
        let all: PriceRows = parts.iter().map_while(priced).collect();
        (all.len() > 1 && all.len() == parts.len()).then_some((head, all))
    }

    /// Returns the parts of a statement that lists opening hours, the program of an evening or the properties of a product, with the words
    /// before the colon. At least half of the parts must contain a fact with a value. In an invitation, the date of the event is left out,
    /// because the table contains it.
    fn program(&self, at: usize) -> Option<(Option<String>, Vec<String>)> {
        let content = self.content;
        let (head, parts) = content.parts(at);
        let facts = content.facts_in(at);
        let is_typed =
            |part: &&String| facts.iter().any(|at| content.fact(*at).value.is_some() && part.contains(&content.text(*at)));
        let typed = parts.iter().filter(is_typed).count();
        let invites = matches!(self.goal, Goal::Event | Goal::Webinar);
        let is_day = |part: &String| {
            let is_event = |fact: &Fact| fact.kind == FactKind::Date && fact.role == Some(FactRole::Event);
            invites && facts.iter().any(|at| is_event(content.fact(*at)) && content.text(*at) == *part)
        };
        let parts: Vec<String> = parts.iter().filter(|part| !is_day(part)).cloned().collect();
        let least = if self.goal == Goal::OpeningHours { PARTS_MIN } else { PARTS_MIN + 1 };
        let length: usize = parts.iter().map(|part| part.chars().count()).sum();
        let fits = parts.len() >= least && typed * 2 >= parts.len() && length <= parts.len() * PART_CHARACTERS_MAX;
        let is_new = |part: &&String| !self.title.contains(&folded(part));
        fits.then(|| (head, parts.iter().filter(is_new).map(|part| self.point(part, &facts)).collect()))
    }

    /// Returns a part of a list. A part that is only a price gets a label: "Price: £68".
    fn point(&self, part: &str, facts: &[usize]) -> String {
        let is_price = |at: &usize| self.content.fact(*at).kind == FactKind::Price && self.content.text(*at) == part;
        if facts.iter().any(is_price) {
            return format!("{}: {part}", self.book.label("common.label_price"));
        }
        capital(part)
    }

    /// Writes the statements that the opening does not contain or, if there are none, the body phrases of the email's job.
    pub fn body(&mut self) {
        let is_offer = |at: &&usize| {
            let fact = self.content.fact(**at);
            matches!(fact.role, Some(FactRole::Offer | FactRole::OfferStarts | FactRole::OfferEnds))
                || matches!(fact.kind, FactKind::Code | FactKind::Minimum)
        };
        let others = self.content.loose.iter().filter(|at| !is_offer(at)).count();
        let items = self.content.items();
        if !items.is_empty() && !self.statements.is_empty() {
            self.statements.clear();
            let items: Vec<String> = items.iter().map(|item| capital(item)).collect();
            return self.list(&items);
        }
        if self.tells_stories() {
            let stories = std::mem::take(&mut self.statements);
            for part in stories.chunks(limits::EMAIL_LIST_ITEMS_MAX) {
                let items = part.iter().map(|at| Item { title: None, text: self.rich(&self.sentence(*at)) }).collect();
                let list = List { id: self.id("list"), marks: ListMarks::Bullets, items };
                self.push(Block::List(list));
            }
            return;
        }
        if (self.content.is_thin() || self.is_stated && self.book.has(&format!("{}.body", self.job))) && others < 3 && !self.lean
        {
            let body = self.markup("body").filter(|_| !self.presents_product()).unwrap_or_default();
            return self.text(&body);
        }
        let groups = self.groups();
        self.statements.clear();
        groups.into_iter().for_each(|group| self.group(group));
    }

    /// Returns whether the statements are the stories of a newsletter. They are if the prompt announces their number: "Three bits: …".
    pub fn tells_stories(&self) -> bool {
        let mut notes = self.content.brief.instructions.iter().map(|part| part.text.trim_end());
        let has_stories = self.content.brief.stories.is_empty() && self.statements.len() > 1;
        let is_count = |note: &str| note.ends_with(':') && self.book.bank().has_word("words.counts", note);
        self.goal == Goal::Digest && has_stories && notes.any(is_count)
    }

    /// Returns whether the prompt calls its list items steps: "Three first steps: 1. Connect your calendar".
    fn has_steps(&self) -> bool {
        let notes = self.content.brief.instructions.iter().map(|part| part.text.clone());
        let told = self.content.statements.iter().map(|at| self.content.text(*at));
        notes.chain(told).any(|text| text.trim_end().ends_with(':') && self.book.bank().has_word("words.steps", &text))
    }

    fn group(&mut self, group: Group) {
        match group {
            Group::Paragraph(all) => self.paragraphs(&all),
            Group::List(head, lines) => {
                self.head(head);
                self.list(&lines);
            }
            Group::Steps(lines) => {
                let heading = self.common("steps_heading");
                self.head(heading);
                self.list_with(&lines, ListMarks::Numbers);
            }
            Group::Prices(head, all) => {
                self.head(head);
                let days = self.days_of(&all);
                let row = |(name, price): &(String, String)| {
                    let day = days.iter().find(|day| name.starts_with(&format!("{day} ")));
                    let dish = day.map_or(name.as_str(), |day| &name[day.len() + 1..]);
                    let cells = day.map(String::as_str).into_iter().chain([dish, price.as_str()]);
                    Row { cells: cells.map(Rich::plain).collect(), strong: false }
                };
                for part in all.chunks(limits::EMAIL_TABLE_ROWS_MAX) {
                    let rows = part.iter().map(row).collect();
                    self.push(Block::Table(Table { id: self.id("prices"), title: None, head: Vec::new(), rows }));
                }
            }
            Group::Quote(words, author) => {
                let (author, role) = match author.as_deref().map(|author| author.split_once(", ").unwrap_or((author, ""))) {
                    Some((author, role)) => (Some(Line::cut(author)), (!role.is_empty()).then(|| Line::cut(role))),
                    None => (None, None),
                };
                let text = self.rich(&self.marked(&words, &[]));
                self.push(Block::Quote(Quote { id: self.id("quote"), text, author, role, image: None, stars: None }));
            }
        }
    }

    /// Returns the days with which the names in a price list start, as in the menu of a week: "Monday minestrone". Empty unless every name
    /// starts with a day.
    fn days_of(&self, all: &[(String, String)]) -> Vec<String> {
        let dates = self.content.brief.facts.iter().filter(|fact| fact.kind == FactKind::Date);
        let days: Vec<String> = dates.map(|fact| capital(&fact.text)).filter(|day| !day.contains(' ')).collect();
        let has_day = |(name, _): &(String, String)| days.iter().any(|day| name.starts_with(&format!("{day} ")));
        if all.iter().all(has_day) { days } else { Vec::new() }
    }

    /// Writes the words that introduce a list or a table, unless the email already contains them.
    fn head(&mut self, head: Option<String>) {
        if let Some(head) = head.filter(|head| !self.said.contains(folded(head).trim())) {
            let told = head.split_once(", ").filter(|(start, rest)| self.is_title(start) && rest.contains(' '));
            let head = told.map_or(head.as_str(), |(_, rest)| rest);
            let text = self.marked(&format!("{}:", capital(head)), &[]);
            self.text(&text);
        }
    }

    fn paragraphs(&mut self, statements: &[usize]) {
        let mut paragraphs: Vec<String> = Vec::new();
        for at in statements {
            let sentence = self.sentence(*at);
            match paragraphs.last_mut() {
                Some(last) if last.chars().count() + sentence.chars().count() < PARAGRAPH_CHARACTERS => {
                    last.push(' ');
                    last.push_str(&sentence);
                }
                _ => paragraphs.push(sentence),
            }
        }
        self.text(&paragraphs.join("\n\n"));
    }
}
