//! Writes a table of changed prices: each product with its old and its new price.

use super::content::Content;
use super::sections::Writer;
use super::text::{capital, folded, tidy};
use crate::features::emails::brief::FactKind;
use crate::features::emails::document::*;
use crate::vocab::limits;

/// The maximum number of words in the name of a product whose price changes.
const NAME_WORDS_MAX: usize = 4;

/// A product with its old and its new price.
struct Change {
    name: String,
    before: String,
    now: String,
}

impl Content<'_> {
    /// Returns the products whose prices a notice changes.
    fn price_changes(&self) -> Vec<Change> {
        let facts = &self.brief.facts;
        let own = |at: usize, kind: FactKind| facts[at].kind == kind && facts[at].story.is_none();
        let mut changes = Vec::new();
        let mut used: Vec<usize> = Vec::new();
        for old in (0..facts.len()).filter(|at| own(*at, FactKind::OldPrice)) {
            let statement = self.statement_of(old);
            let beside = |at: &usize| own(*at, FactKind::Price) && self.statement_of(*at) == statement && !used.contains(at);
            let after = (old + 1..facts.len()).find(beside);
            let before = (0..old).rev().find(beside);
            // "10.90 instead of 9.90" has the new price first, "from $12 to $14" the old one.
            let is_next = |at: &usize| !(old.min(*at) + 1..old.max(*at)).any(|between| own(between, FactKind::Product));
            let Some(new) = before.filter(|at| is_next(at)).or_else(|| after.filter(|at| is_next(at))) else { continue };
            let first = old.min(new);
            let product = (0..first).rev().find(|at| own(*at, FactKind::Product) && self.statement_of(*at) == statement);
            let name = product.map(|at| self.text(at)).or_else(|| self.name_before(statement?, first));
            let shown = |at: usize| self.shown(&facts[at]);
            if let (Some(name), Some(before), Some(now)) = (name, shown(old), shown(new)) {
                used.push(new);
                changes.push(Change { name: capital(&name), before, now });
            }
        }
        changes
    }

    /// Returns the words of a statement before its first price, without articles, verbs and prepositions at their ends: "Our matcha tin goes
    /// from".
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
    /// Writes the table of changed prices. Emails that sell show prices on the cards of their products.
    pub fn changed_prices(&mut self) {
        let changes = if self.shape.sells { Vec::new() } else { self.content.price_changes() };
        if changes.is_empty() {
            return;
        }
        let label = |name: &str| Line::cut(&self.book.label(&format!("common.label_{name}")));
        let head = vec![label("product"), label("price_before"), label("price_now")];
        let row = |change: Change| {
            let cells = [change.name, change.before, change.now].iter().map(|text| Rich::plain(text)).collect();
            Row { cells, strong: false }
        };
        let rows = changes.into_iter().map(row).take(limits::EMAIL_TABLE_ROWS_MAX).collect();
        self.push(Block::Table(Table { id: self.id("prices"), title: None, head, rows }));
    }
}
