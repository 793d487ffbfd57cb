//! Writes a table of changed prices: each product with its old and its new price.

use std::collections::{BTreeMap, VecDeque};

use super::content::Content;
use super::sections::Writer;
use super::text::{capital, folded, tidy};
use crate::features::emails::brief::{FactKind, Goal};
use crate::features::emails::document::*;
use crate::vocab::limits;

/// The maximum number of words in the name of a product whose price changes.
const NAME_WORDS_MAX: usize = 4;

struct Change {
    name: String,
    before: String,
    now: String,
}

/// The last product read in a statement, and the old and new prices after it that are not part of a pair yet.
#[derive(Default)]
struct Group {
    product: Option<usize>,
    old: VecDeque<usize>,
    new: Vec<usize>,
}

/// An old price, the new price that replaces it, and their product, as indexes of facts.
struct Pair {
    old: usize,
    new: usize,
    product: Option<usize>,
    statement: Option<usize>,
}

impl Content<'_> {
    /// Returns the price changes that the brief announces, in the order of the brief.
    fn price_changes(&self) -> Vec<Change> {
        let facts = &self.brief.facts;
        let mut groups: BTreeMap<Option<usize>, Group> = BTreeMap::new();
        let mut pairs: Vec<Pair> = Vec::new();
        for (at, fact) in facts.iter().enumerate().filter(|(_, fact)| fact.story.is_none()) {
            if !matches!(fact.kind, FactKind::Product | FactKind::Price | FactKind::OldPrice) {
                continue;
            }
            let statement = self.statement_of(at);
            let group = groups.entry(statement).or_default();
            // The new price can come first ("10.90 instead of 9.90"), or the old price ("from $12 to $14").
            let pair = match fact.kind {
                FactKind::OldPrice => match group.new.pop() {
                    Some(new) => Some((at, new)),
                    None => {
                        group.old.push_back(at);
                        None
                    }
                },
                FactKind::Price => match group.old.pop_front() {
                    Some(old) => Some((old, at)),
                    None => {
                        group.new.push(at);
                        None
                    }
                },
                _ => {
                    *group = Group { product: Some(at), ..Group::default() };
                    None
                }
            };
            pairs.extend(pair.map(|(old, new)| Pair { old, new, product: group.product, statement }));
        }
        pairs.sort_by_key(|pair| pair.old);
        pairs.into_iter().filter_map(|pair| self.change(&pair)).collect()
    }

    fn change(&self, pair: &Pair) -> Option<Change> {
        let name = pair.product.map(|at| self.text(at));
        let name = name.or_else(|| self.name_before(pair.statement?, pair.old.min(pair.new)))?;
        let shown = |at: usize| self.shown(self.fact(at));
        Some(Change { name: capital(&name), before: shown(pair.old)?, now: shown(pair.new)? })
    }

    /// Returns the words of a statement before its first price, without articles, verbs and prepositions at their start and end:
    /// "matcha tin" for "Our matcha tin goes from …".
    fn name_before(&self, statement: usize, price: usize) -> Option<String> {
        let text = self.text(statement);
        let (before, _) = text.split_once(tidy(&self.fact(price).text).as_str())?;
        let before = before.rsplit([':', ';', ',']).next().unwrap_or(before);
        let bank = super::language::Bank::of(self.language);
        let is_small = |word: &&str| {
            let word = folded(word);
            let known = ["words.common", "words.costs", "words.changes", "words.clause_starts"];
            known.iter().any(|place| bank.phrases(place).iter().any(|own| folded(own).trim() == word.trim()))
        };
        let mut words: Vec<&str> = before.split_whitespace().skip_while(is_small).collect();
        while words.last().is_some_and(is_small) {
            words.pop();
        }
        let fits =
            (1..=NAME_WORDS_MAX).contains(&words.len()) && !words.iter().any(|word| word.contains(|c: char| c.is_ascii_digit()));
        fits.then(|| words.join(" "))
    }
}

impl Writer<'_> {
    /// Writes the table of changed prices. There is no table in emails that sell, which show prices on product cards, or in an apology,
    /// whose first price is the mistake rather than a new price: "£4.50 instead of £45".
    pub fn changed_prices(&mut self) {
        let has_table = !self.shape.sells && self.goal != Goal::Apology;
        let changes = if has_table { self.content.price_changes() } else { Vec::new() };
        if changes.is_empty() {
            return;
        }
        let label = |name: &str| Line::cut(&self.book.label(&format!("common.label_{name}")));
        let head = vec![label("product"), label("price_before"), label("price_now")];
        let row = |change: Change| {
            let cells = [change.name, change.before, change.now].iter().map(|text| Rich::plain(text)).collect();
            Row { cells, strong: false }
        };
        let mut rows = changes.into_iter().map(row).peekable();
        while rows.peek().is_some() {
            let rows = rows.by_ref().take(limits::EMAIL_TABLE_ROWS_MAX).collect();
            self.push(Block::Table(Table { id: self.id("prices"), title: None, head: head.clone(), rows }));
        }
    }
}
