//! Finds statements of the brief that only repeat typed facts. The email does not print them, because the composer states the facts in its
//! own sentences.

use super::content::Content;
use super::language::{Bank, Language};
use super::text::{folded, tidy};
use crate::features::emails::brief::{Fact, FactKind, FactRole, Goal, Part};

/// Folded words of offers, invitations and notices in the languages of the composer. The email need not print these words, because its own
/// sentences replace them.
const WORDS: [&str; 91] = [
    "up",
    "bis",
    "fermons",
    "chiudiamo",
    "fechamos",
    "encerramos",
    "sluiten",
    "off",
    "code",
    "use",
    "with",
    "using",
    "get",
    "save",
    "discount",
    "sale",
    "coupon",
    "promotion",
    "flash",
    "join",
    "place",
    "takes",
    "closed",
    "close",
    "shop",
    "new",
    "now",
    "available",
    "out",
    "rabatt",
    "mit",
    "dem",
    "sparen",
    "gibt",
    "es",
    "aktion",
    "gutscheincode",
    "rabattcode",
    "findet",
    "statt",
    "geschlossen",
    "betriebsferien",
    "neu",
    "neue",
    "neuer",
    "neues",
    "neuen",
    "sofort",
    "erhaltlich",
    "unsere",
    "unser",
    "unseren",
    "reduction",
    "remise",
    "avec",
    "le",
    "de",
    "promo",
    "soldes",
    "nouveau",
    "nouvelle",
    "fermes",
    "conges",
    "disponible",
    "descuento",
    "con",
    "el",
    "codigo",
    "rebajas",
    "nuevo",
    "nueva",
    "cerramos",
    "cerrado",
    "sconto",
    "il",
    "codice",
    "saldi",
    "nuovo",
    "nuova",
    "chiusi",
    "desconto",
    "com",
    "o",
    "novo",
    "nova",
    "korting",
    "met",
    "actie",
    "kortingscode",
    "nieuw",
    "gesloten",
];
/// Folded words for "everything".
const ALL: [&str; 7] = ["everything", "sitewide", "alles", "tout", "todo", "tutto", "tudo"];
/// Folded words of scopes that do not restrict an offer to certain products: "the whole range", "your first order".
const EVERYTHING: [&str; 68] = [
    "first",
    "next",
    "order",
    "purchase",
    "your",
    "erste",
    "ersten",
    "nachste",
    "nachsten",
    "bestellung",
    "einkauf",
    "premiere",
    "prochaine",
    "commande",
    "achat",
    "primer",
    "primera",
    "pedido",
    "compra",
    "su",
    "tu",
    "primo",
    "ordine",
    "encomenda",
    "eerste",
    "bestelling",
    "everything",
    "all",
    "the",
    "whole",
    "entire",
    "shop",
    "store",
    "range",
    "products",
    "sitewide",
    "items",
    "orders",
    "alles",
    "das",
    "ganze",
    "gesamte",
    "sortiment",
    "den",
    "gesamten",
    "ganzen",
    "produkte",
    "tout",
    "toute",
    "la",
    "boutique",
    "le",
    "site",
    "magasin",
    "todo",
    "toda",
    "tienda",
    "tutto",
    "il",
    "negozio",
    "tudo",
    "a",
    "loja",
    "o",
    "winkel",
    "hele",
    "todos",
    "os",
];
/// Prepositions between an offer and what it applies to. They are removed from the scope, because the phrases that print the scope contain
/// their own prepositions.
const JOINTS: [&str; 9] = ["auf ", "sur ", "en ", "su ", "op ", "em ", "on ", "sobre ", "for "];
/// The keys of the phrases that translate common scopes of offers.
const SCOPES: [&str; 2] = ["scopes.everything", "scopes.first_order"];
/// The minimum length, in characters, of the words of a statement that [`Content::is_listed`] looks for. Shorter words are mostly articles
/// and conjunctions.
const LISTED_CHARACTERS_MIN: usize = 4;
/// The possible lengths, in characters, of an item in a list of news.
const ITEM_CHARACTERS: std::ops::RangeInclusive<usize> = 6..=72;

impl<'a> Content<'a> {
    /// Returns whether a statement consists only of facts that the email states elsewhere: "20% off all teas until Sunday, code
    /// TEA20".
    pub fn is_bare(&self, at: usize) -> bool {
        self.bare[at]
    }

    /// Computes [`Self::is_bare`] for one fact.
    pub(super) fn repeats_facts(&self, at: usize) -> bool {
        let fact = self.fact(at);
        let Some(span) = fact.span.filter(|_| fact.kind == FactKind::Sentence && fact.story.is_none()) else { return false };
        let inside = |other: &&Fact| {
            !matches!(other.kind, FactKind::Sentence | FactKind::Condition)
                && other.span.is_some_and(|own| span.start <= own.start && own.end <= span.end)
        };
        let facts: Vec<&Fact> = self.brief.facts.iter().filter(inside).collect();
        let has = |kinds: &[FactKind], role: Option<FactRole>| {
            facts.iter().any(|fact| kinds.contains(&fact.kind) && (role.is_none() || fact.role == role))
        };
        let all = |known: &dyn Fn(&Fact) -> bool| facts.iter().all(|fact| known(fact));
        let is_day = |fact: &Fact, roles: &[FactRole]| {
            let known = fact.value.is_some() && fact.role.is_some_and(|role| roles.contains(&role));
            matches!(fact.kind, FactKind::Date | FactKind::Period) && known
        };
        let scope = self.scope_words().map(|scope| folded(&scope)).unwrap_or_default();
        let name = self.brief.event.as_ref().map(|event| folded(&event.name.text)).unwrap_or_default();
        let days = [FactKind::Date, FactKind::Period];
        let is_bare = match self.brief.purpose {
            Goal::Event | Goal::Webinar => {
                let known = |fact: &Fact| {
                    is_day(fact, &[FactRole::Event]) || matches!(fact.kind, FactKind::Time | FactKind::Place | FactKind::Person)
                };
                let told = folded(&fact.text).contains(name.trim()) && !name.is_empty();
                told && has(&days, Some(FactRole::Event)) && self.days(FactRole::Event).is_some() && all(&known)
            }
            Goal::Closing => {
                has(&days, Some(FactRole::Closed))
                    && self.days(FactRole::Closed).is_some()
                    && all(&|fact| is_day(fact, &[FactRole::Closed]))
            }
            Goal::Launch => {
                let known = |fact: &Fact| {
                    is_day(fact, &[FactRole::OfferStarts]) || matches!(fact.kind, FactKind::Product | FactKind::Price)
                };
                has(&[FactKind::Product], None) && self.only(FactKind::Product).is_some() && all(&known)
            }
            _ => {
                let known = |fact: &Fact| match fact.kind {
                    FactKind::Percentage | FactKind::Amount => fact.role == Some(FactRole::Offer),
                    FactKind::Date | FactKind::Period => is_day(fact, &[FactRole::OfferStarts, FactRole::OfferEnds]),
                    FactKind::Code | FactKind::Minimum => true,
                    FactKind::Product => scope.contains(&folded(&fact.text)),
                    _ => false,
                };
                let offers = has(&[FactKind::Percentage, FactKind::Amount], Some(FactRole::Offer));
                let sells = super::goals::shape(self.brief.purpose).sells;
                sells && offers && self.saving().is_some() && all(&known)
            }
        };
        is_bare && self.has_no_other_words(fact, &facts, &[scope, name])
    }

    fn has_no_other_words(&self, fact: &Fact, facts: &[&Fact], more: &[String]) -> bool {
        let mut rest = folded(&fact.text);
        let parts = facts.iter().map(|fact| folded(&fact.text)).chain(more.iter().cloned());
        let mut parts: Vec<String> = parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
        // Longer facts are removed first, because they can contain shorter ones.
        parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        for part in parts {
            rest = rest.replacen(&format!(" {part} "), " ", 1);
        }
        let common = Bank::of(self.language).phrases("words.common");
        rest.split_whitespace().all(|word| WORDS.contains(&word) || common.iter().any(|own| own == word))
    }

    /// Returns what the offer applies to, without the preposition before it: "alle Leuchten".
    pub fn scope_words(&self) -> Option<String> {
        let scope = tidy(&self.brief.offer.as_ref()?.scope.as_ref()?.text);
        let bare = JOINTS.iter().find_map(|joint| scope.strip_prefix(joint)).unwrap_or(&scope).to_owned();
        (!bare.is_empty()).then_some(bare)
    }

    /// Returns what the offer applies to, in the email's language; `None` if the words are in another language and no phrase translates
    /// them.
    pub fn scope_shown(&self) -> Option<String> {
        let scope = self.scope_words()?;
        if self.prints(&scope) {
            // Keep "for" if the prompt contains it: "10% off for students".
            let written = self.brief.offer.as_ref()?.scope.as_ref().map(|part| tidy(&part.text));
            return written.filter(|written| written.starts_with("for ")).or(Some(scope));
        }
        let own = folded(&scope);
        let says = |place: &&str| {
            let mut all = Language::SPOKEN.into_iter().flat_map(|language| Bank::of(language).phrases(place));
            all.any(|phrase| folded(phrase) == own)
        };
        let place = SCOPES.into_iter().find(says)?;
        Bank::of(self.language).phrases(place).first().filter(|words| self.rules.allow(words)).cloned()
    }

    /// Returns the scope of the offer if the email states the offer's number without its scope, because the number alone promises
    /// too much. `said` is the folded text of the email.
    pub(super) fn lost_scope(&self, said: &str) -> Option<&'a Part> {
        let brief = self.brief;
        let scope = brief.offer.as_ref()?.scope.as_ref()?;
        let promises = |fact: &Fact| {
            let is_number = matches!(fact.kind, FactKind::Percentage | FactKind::Amount);
            is_number && fact.role == Some(FactRole::Offer) && self.is_said(fact, said)
        };
        let known = [self.scope_words(), self.scope_shown()];
        // The scope can have another first word in the email: "your next order" for "their next order".
        let rest = self.scope_words().and_then(|words| words.split_once(' ').map(|(_, rest)| rest.to_owned()));
        let rest = rest.filter(|rest| rest.contains(' '));
        let says_it = known.iter().flatten().chain(&rest).any(|words| said.contains(folded(words).trim()));
        (!says_it && brief.facts.iter().any(promises)).then_some(scope)
    }

    /// Returns what the offer applies to: its scope or, without a scope, the products that the brief names, if none of them is a product of
    /// the brand. `None` if the offer applies to everything, or if the brief does not specify what it applies to.
    pub fn scope(&self) -> Option<String> {
        let products = self.brief.facts.iter().filter(|fact| fact.kind == FactKind::Product && fact.story.is_none());
        let products: Vec<String> = products.map(|fact| tidy(&fact.text)).collect();
        let unknown = || Some(products.join(" ")).filter(|names| self.cards.is_empty() && !names.is_empty());
        let scope = self.scope_words().or_else(unknown)?;
        let is_all = folded(&scope).split_whitespace().all(|word| EVERYTHING.contains(&word));
        (!is_all).then_some(scope)
    }

    /// Returns whether the brief states that the offer applies to everything, either as its scope or within three words after the number:
    /// "30 % auf alles".
    pub fn is_for_everything(&self) -> bool {
        let says_all = |at: &usize| {
            let is_saving = |at: &usize| matches!(self.fact(*at).kind, FactKind::Percentage | FactKind::Amount);
            let numbers = self.facts_in(*at).into_iter().filter(is_saving).map(|at| self.text(at));
            let text = self.text(*at);
            let mut after = numbers.filter_map(|number| text.split_once(number.as_str()).map(|(_, after)| folded(after)));
            after.any(|after| after.split_whitespace().take(3).any(|word| ALL.contains(&word)))
        };
        self.scope().is_none() && (self.scope_words().is_some() || self.statements.iter().any(says_all))
    }

    /// Returns whether folded text contains all numbers and longer words of a printed statement. Any order is accepted, because a list, a
    /// table or a quotation separates the words of the statement.
    pub fn is_listed(&self, at: usize, said: &str) -> bool {
        let text = self.text(at);
        let quoted = super::groups::testimonial(&text).map(|(words, author)| format!("{words} {}", author.unwrap_or_default()));
        let text = quoted.unwrap_or(text);
        let text = super::text::addresses(&text).iter().fold(text.clone(), |text, address| text.replace(address, ""));
        // The table in an invitation or in a notice of opening hours formats dates, times and numbers differently, so these facts are
        // compared separately from the words.
        let has_table = matches!(self.brief.purpose, Goal::Event | Goal::Webinar | Goal::OpeningHours);
        let valued = self.facts_in(at).into_iter().map(|at| self.fact(at)).filter(|fact| has_table && fact.value.is_some());
        let valued: Vec<&Fact> = valued.filter(|fact| self.is_said(fact, said)).collect();
        let text = valued.iter().fold(text, |text, fact| text.replacen(fact.text.trim(), " ", 1));
        let only = Bank::of(self.language).phrases("words.only");
        let is_small = |word: &str| has_table && only.iter().any(|own| folded(own).trim() == word);
        let matters = |word: &&str| {
            !is_small(word) && (word.chars().count() >= LISTED_CHARACTERS_MIN || word.chars().any(|c| c.is_ascii_digit()))
        };
        let text = folded(&text);
        let mut words = text.split_whitespace().filter(matters).peekable();
        let is_statement = matches!(self.fact(at).kind, FactKind::Sentence | FactKind::Condition);
        let is_printed = self.statements.contains(&at) || is_statement && self.is_in_story(self.fact(at));
        is_printed && (words.peek().is_some() || !valued.is_empty()) && words.all(|word| said.contains(&format!(" {word} ")))
    }

    /// Returns whether an announcement or a thank-you email presents a product: its first statement names the only one of the brand's
    /// products that the brief mentions. Notices, such as recalls, do not advertise.
    pub fn announces_product(&self, shape: super::goals::Shape) -> bool {
        let [card] = self.cards.as_slice() else { return false };
        let announces = matches!(shape.key, "announcement" | "thanks");
        announces
            && !self.rules.no_products
            && self.statement_of(card.fact).is_some_and(|at| self.statements.first() == Some(&at))
    }

    /// Returns the items of a newsletter that a single statement lists: "the harvest is here, the shop opens on Sundays, and …".
    pub fn items(&self) -> Vec<String> {
        let [only] = self.statements.as_slice() else { return Vec::new() };
        let text = self.text(*only);
        let text = text.trim_end_matches('.');
        if self.brief.purpose != Goal::Digest
            || !self.stories.is_empty()
            || text.contains(['?', '!', ':', ';'])
            || text.contains(". ")
        {
            return Vec::new();
        }
        const AND: [&str; 7] = ["and ", "und ", "et ", "y ", "e ", "en ", "sowie "];
        let item = |part: &str| {
            let part = part.trim();
            AND.iter().find_map(|and| part.strip_prefix(and)).unwrap_or(part).to_owned()
        };
        let items: Vec<String> = text.split(", ").map(item).collect();
        let fits = items.len() > 2 && items.iter().all(|item| ITEM_CHARACTERS.contains(&item.chars().count()));
        if fits { items } else { Vec::new() }
    }
}
