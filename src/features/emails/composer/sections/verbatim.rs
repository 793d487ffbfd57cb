//! Writes the statements of the prompt in the prompt's own words.

use super::super::facts::tidy;
use super::super::phrases::escape;
use super::super::understand::ended;
use super::Writer;
use crate::features::emails::document::*;
use crate::vocab::limits;

/// The number of words above which a sentence about a new item is assumed to contain more than the name and the day.
const LAUNCH_WORDS: usize = 9;

impl Writer<'_> {
    /// Writes the prompt's sentences and points, and the product's description if the email is about a product.
    pub(super) fn told(&mut self) {
        if !self.prompt_speaks || std::mem::replace(&mut self.has_verbatim, true) {
            return;
        }
        let rest = self.left_to_tell();
        let statements: Vec<String> = rest.iter().map(|text| escape(&tidy(text)).replace('\'', "’")).collect();
        let mut told = Vec::new();
        if let Some(clause) = &self.understood.clause {
            self.book.facts.insert("clause", tidy(clause));
            told.extend(self.book.text("common.clause").map(|text| ended(&text)));
        }
        told.extend(statements);
        let mut paragraphs = if told.is_empty() { Vec::new() } else { vec![told.join(" ")] };
        let points: Vec<String> =
            self.understood.points.iter().map(|point| tidy(point)).filter(|point| !point.is_empty()).collect();
        if let [point] = points.as_slice() {
            self.book.facts.insert("point", point.clone());
            paragraphs.extend(self.book.text("common.also").map(|text| ended(&text)));
        }
        self.text(&paragraphs.join("\n\n"));
        if points.len() > 1 {
            if let Some(heading) = self.common("points_heading") {
                self.heading(&heading);
            }
            let items = points.iter().map(|point| Item { title: None, text: Rich::plain(point) });
            let items = items.take(limits::EMAIL_LIST_ITEMS_MAX).collect();
            let marks = if self.book.pick("marks", 2) == 0 { ListMarks::Checks } else { ListMarks::Bullets };
            let list = List { id: self.id("list"), marks, items };
            self.blocks.push(Block::List(list));
        }
    }

    /// Returns the prompt's sentences that the title does not already contain.
    fn left_to_tell(&self) -> Vec<String> {
        let titles = self.blocks.iter().filter_map(|block| match block {
            Block::Hero(hero) => Some(hero.title.as_str()),
            Block::Heading(heading) => Some(heading.text.as_str()),
            _ => None,
        });
        let titles: Vec<String> = titles.map(super::super::tokens::plain).collect();
        let is_title = |text: &str| {
            let text = super::super::tokens::plain(&tidy(text));
            titles.iter().any(|title| title.contains(text.trim_end_matches(['.', '!'])))
        };
        let news = self.understood.news.as_ref().filter(|news| is_title(&news.title));
        let mut statements = self.understood.statements.clone();
        if let (Some(news), Some(first)) = (news, statements.first_mut()) {
            *first = news.more.clone().unwrap_or_default();
        }
        // The opening of a launch already states the name and day, as in "Our new lamp is available from Monday".
        if self.job == "launch.main" && self.book.facts.contains_key("starts") && self.book.facts.contains_key("product") {
            let is_short = |text: &String| text.split(' ').count() <= LAUNCH_WORDS;
            statements.drain(..usize::from(statements.first().is_some_and(is_short)));
        }
        statements.retain(|text| !text.is_empty() && !is_title(text));
        statements
    }
}
