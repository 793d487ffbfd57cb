//! Writes the facts that no statement contains: the offer, a table of dates and places, and lines for the remaining facts.

use super::sections::Writer;
use super::text::{capital, ended, folded};
use crate::features::emails::brief::{Fact, FactKind, FactRole, FactValue, Goal};
use crate::features::emails::document::*;
use crate::vocab::limits;

/// Folded stems of words that identify text about delivery, in the composer's languages.
const DELIVERY: [&str; 14] = [
    "shipping",
    "deliver",
    "postage",
    "versand",
    "liefer",
    "livraison",
    "expedi",
    "envio",
    "spedizion",
    "consegna",
    "frete",
    "entrega",
    "verzend",
    "bezorg",
];

/// Folded words before a price that is the lowest of several, and therefore not the price of the event: "seconds from £8".
const FROM: [&str; 7] = [" from ", " ab ", " des ", " partir de ", " desde ", " da ", " vanaf "];

/// The maximum length, in characters, of an offer that can be the title of its coupon.
const OFFER_CHARACTERS_MAX: usize = 64;

impl Writer<'_> {
    /// Returns whether the email still has to print a fact.
    fn is_open(&self, fact: &Fact) -> bool {
        !self.content.is_said(fact, &self.said)
    }

    /// Writes each code as a coupon. The first coupon contains the conditions of the offer. If there is no code or the email may have no
    /// coupon, writes the conditions as text.
    pub fn offer(&mut self) {
        let content = self.content;
        let facts = &content.brief.facts;
        let codes: Vec<&Fact> = facts.iter().filter(|fact| fact.kind == FactKind::Code && fact.story.is_none()).collect();
        if codes.is_empty() || !self.gives() {
            let conditions = self.conditions();
            return self.text(&conditions.join(" "));
        }
        // The statement with the code becomes the text of the coupon and is removed from the statements, so that the email states the code
        // only once.
        let own: Vec<usize> = self.statements.iter().copied().filter(|at| self.has_code(*at)).collect();
        self.statements.retain(|at| !own.contains(at));
        let split = own.first().filter(|_| codes.len() == 1).and_then(|at| self.split_offer(*at));
        let (stated, told) = match split {
            // The coupon omits an offer that the email's title already states. For example, if the title is "20% off everything", the
            // coupon omits the offer of the statement "20% off everything with code TEA20".
            Some((offer, rest)) if self.repeats_title(&offer) => {
                self.book.facts.remove("offer");
                (None, vec![rest])
            }
            Some((offer, rest)) => (Some(offer), vec![rest]),
            None => (None, own.iter().map(|at| self.untold(*at)).collect()),
        };
        self.said.push_str(&folded(&told.join(" ")));
        let note =
            if self.book.facts.contains_key("shop") && told.is_empty() { self.book.text("common.coupon_note") } else { None };
        let conditions = self.conditions();
        let text: Vec<String> = told.into_iter().chain(note).chain(conditions).collect();
        // The coupon's title states the offer unless the opening or the coupon's text already does.
        let is_saving = |at: &usize| matches!(content.fact(*at).kind, FactKind::Percentage | FactKind::Amount);
        let has_saving = own.iter().any(|at| content.facts_in(*at).iter().any(is_saving));
        let deal =
            self.book.facts.get("bare_deal").filter(|deal| codes.len() == 1 && !has_saving && !self.said.contains(&folded(deal)));
        let title =
            stated.or_else(|| deal.map(|deal| capital(deal))).or_else(|| self.common("coupon_heading")).unwrap_or_default();
        for (at, code) in codes.into_iter().enumerate() {
            let text = if at == 0 { Rich::parse(&text.join(" ")).ok().filter(|text: &Paragraph| !text.is_empty()) } else { None };
            let code = Line::cut(&super::text::tidy(&code.text));
            let coupon = Coupon { id: self.id("coupon"), title: Line::cut(&title), code, text, button: None };
            self.push(Block::Coupon(coupon));
        }
    }

    /// Returns whether the email may have a coupon. Only emails that sell, apologize, report an outage or thank the recipients may have
    /// one.
    fn gives(&self) -> bool {
        self.shape.sells || matches!(self.goal, Goal::Apology | Goal::Outage | Goal::ThankYou)
    }

    /// Returns whether the title contains all words of an offer except its code and common words.
    fn repeats_title(&self, offer: &str) -> bool {
        let codes = self.content.brief.facts.iter().filter(|fact| fact.kind == FactKind::Code);
        let offer = codes.fold(folded(offer), |text, code| text.replace(&folded(&code.text), " "));
        let common = self.book.bank().phrases("words.common");
        let is_small = |word: &str| word == "code" || common.iter().any(|own| own == word);
        offer.split_whitespace().all(|word| is_small(word) || self.title.contains(&format!(" {word} ")))
    }

    /// Splits a statement into the offer with its code, which becomes the title of the coupon, and the rest, which usually
    /// states the period.
    fn split_offer(&self, at: usize) -> Option<(String, String)> {
        let content = self.content;
        let text = content.text(at);
        let (offer, rest) = text.split_once(", ").filter(|(_, rest)| rest.chars().count() > 5)?;
        let facts = content.facts_in(at);
        let has = |kinds: &[FactKind]| {
            facts.iter().map(|at| content.fact(*at)).any(|fact| kinds.contains(&fact.kind) && offer.contains(fact.text.trim()))
        };
        let delivers = content.brief.offer.as_ref().is_some_and(|offer| offer.free_delivery);
        let fits = offer.chars().count() <= OFFER_CHARACTERS_MAX
            && has(&[FactKind::Code])
            && (delivers || has(&[FactKind::Percentage, FactKind::Amount]));
        let calm = |text: &str| if content.rules.no_exclamation { text.replace('!', ".") } else { text.to_owned() };
        fits.then(|| (calm(&capital(offer)), self.marked(&ended(&capital(rest)), &facts)))
    }

    /// Returns a statement as a sentence, without the words before its first comma if the email already contains them.
    fn untold(&self, at: usize) -> String {
        let text = self.content.text(at);
        match text.split_once(", ") {
            Some((head, rest)) if self.said.contains(&folded(head)) && rest.chars().count() > 12 => {
                self.marked(&ended(&capital(rest)), &self.content.facts_in(at))
            }
            _ => self.sentence(at),
        }
    }

    /// Returns whether a statement is the text of the coupon: the first statement with a code, if it is short and the email may have a
    /// coupon.
    pub fn has_code(&self, at: usize) -> bool {
        let content = self.content;
        let is_code = |fact: &usize| content.fact(*fact).kind == FactKind::Code;
        let first = content.statements.iter().copied().find(|at| content.facts_in(*at).iter().any(is_code));
        let fits = content.text(at).chars().count() < limits::EMAIL_PARAGRAPH_CHARACTERS_MAX / 2;
        self.gives() && fits && first == Some(at)
    }

    /// Returns sentences about the offer's dates, minimum and delivery, without the facts that the email already states.
    fn conditions(&mut self) -> Vec<String> {
        let content = self.content;
        let open = |role: FactRole| content.days(role).is_some_and(|(_, _, fact)| self.is_open(fact));
        let dates = open(FactRole::OfferEnds) || open(FactRole::OfferStarts);
        let minimum = content.only(FactKind::Minimum).is_some_and(|fact| self.is_open(fact));
        let delivers = self.book.facts.contains_key("shipping") && !DELIVERY.iter().any(|word| self.says_all().contains(word));
        let is_offer = self.book.facts.contains_key("offer") || self.book.facts.contains_key("shipping");
        let period = if dates && is_offer { self.book.text("common.period") } else { None };
        let shipping = if delivers { self.book.text("common.shipping") } else { None };
        let threshold = if minimum && shipping.is_none() && self.book.facts.contains_key("offer") {
            self.book.text("common.threshold")
        } else {
            None
        };
        [period, threshold, shipping].into_iter().flatten().collect()
    }

    /// Returns the folded text that the email contains so far, together with all statements.
    fn says_all(&self) -> String {
        let statements = self.content.statements.iter().map(|at| folded(&self.content.fact(*at).text));
        std::iter::once(self.said.clone()).chain(statements).collect()
    }

    /// Writes a table of the opening hours or, if there are none, of the dates, times, places, prices and contacts that no
    /// statement contains. In an invitation, the table also repeats the date, time and place of the event.
    pub fn details(&mut self) {
        let hours = self.hours().0;
        let weekly = self.weekly_hours().into_iter().map(|(_, day, time)| (day, Rich::plain(&time)));
        let mut rows: Vec<(String, Value)> = weekly.collect();
        if hours.is_empty() {
            rows.extend(self.rows());
        } else {
            rows.extend(hours.into_iter().map(|(day, text)| (day, Rich::plain(&text))));
        }
        if rows.is_empty() {
            return;
        }
        let row = |(label, value): (String, Value)| Row { cells: vec![Rich::plain(&label), value], strong: false };
        let rows: Vec<Row> = rows.into_iter().map(row).take(limits::EMAIL_TABLE_ROWS_MAX).collect();
        let title =
            if rows.len() > 1 && !self.lean { self.common("details_heading").map(|title| Line::cut(&title)) } else { None };
        self.push(Block::Table(Table { id: "details".into(), title, head: Vec::new(), rows }));
    }

    /// Removes the statements that only repeat what the table shows, so that the opening does not print them.
    pub fn keep_untabled(&mut self) {
        let (rows, replaced) = self.hours();
        if !rows.is_empty() {
            return self.statements.retain(|at| !replaced.contains(at));
        }
        if matches!(self.goal, Goal::Event | Goal::Webinar) {
            let rows = self.rows();
            let shown: String = rows.iter().map(|(label, value)| folded(label) + &folded(&value.words())).collect();
            self.statements.retain(|at| rows.len() < 2 || !self.content.is_covered(*at, &shown));
        }
    }

    fn rows(&mut self) -> Vec<(String, Value)> {
        let content = self.content;
        let mut rows: Vec<(String, Value)> = Vec::new();
        let invites = matches!(self.goal, Goal::Event | Goal::Webinar);
        let mut done: Vec<usize> = self.weekly_hours().into_iter().map(|(time, ..)| time).collect();
        if invites {
            let facts = self.book.facts.clone();
            for (name, key) in [("when", "when"), ("time", "time"), ("where", "place")] {
                if let Some(value) = facts.get(key) {
                    rows.push((self.label(name), Rich::plain(&capital(value))));
                }
            }
            // A single row is kept only if no other text of the email contains its information.
            let said = self.says_all();
            if rows.len() < 2 {
                rows.retain(|(_, value)| !said.contains(folded(&value.words()).trim()));
            }
        }
        let shown: String = rows.iter().map(|(_, value)| folded(&value.words())).collect();
        // The table of an invitation contains the price, the deadline and the number of places even if a statement contains them.
        let belongs = |at: &usize| {
            let fact = content.fact(*at);
            let is_only = |kind| content.only(kind).is_some_and(|only| std::ptr::eq(only, fact));
            let is_least = || FROM.iter().any(|word| folded(&content.before(fact)).ends_with(word));
            let is_day = matches!(fact.kind, FactKind::Date | FactKind::Period);
            let is_deadline = fact.role == Some(FactRole::OrderBy) && fact.value.is_some() && is_day;
            invites
                && fact.story.is_none()
                && (is_deadline || is_only(FactKind::Price) && !is_least() || is_only(FactKind::Capacity))
        };
        let has_table = !rows.is_empty();
        let all = (0..content.brief.facts.len()).filter(|at| content.loose.contains(at) || has_table && belongs(at));
        for at in all.collect::<Vec<_>>() {
            let fact = content.fact(at);
            let is_open = self.is_open(fact) || has_table && belongs(&at);
            let said = content.is_said(fact, &shown) || !is_open || self.is_on_card(at);
            if said || done.contains(&at) {
                continue;
            }
            let Some(name) = row_label(fact, invites, invites || !self.shape.sells) else { continue };
            // If the words of a capacity are in another language, only its number is shown.
            let count = || match fact.value {
                Some(FactValue::Count { count }) if fact.kind == FactKind::Capacity => Some(count.to_string()),
                _ => None,
            };
            let Some(mut value) = content.shown(fact).or_else(count) else { continue };
            // If the words of the fact repeat the label, the value is only the number. This avoids "Places: 12 places".
            if let (FactKind::Capacity, Some(FactValue::Count { count })) = (fact.kind, &fact.value)
                && folded(&fact.text).contains(&folded(&self.label(name)))
            {
                value = count.to_string();
            }
            // A time belongs to the date before it.
            if matches!(fact.kind, FactKind::Date | FactKind::Period) {
                let times = content.loose.iter().skip_while(|other| **other <= at);
                let times = times.take_while(|other| !matches!(content.fact(**other).kind, FactKind::Date | FactKind::Period));
                let own =
                    |other: &&usize| content.fact(**other).kind == FactKind::Time && content.fact(**other).role == fact.role;
                for time in times.filter(own).copied().collect::<Vec<_>>() {
                    let open = self.is_open(content.fact(time)) && !content.is_said(content.fact(time), &shown);
                    if let Some(text) = content.shown(content.fact(time)).filter(|_| open) {
                        value = format!("{value}, {text}");
                        done.push(time);
                    }
                }
            }
            rows.push((self.label(name), self.value(fact, &capital(&value))));
        }
        rows.retain(|(label, _)| !label.is_empty());
        joined(rows)
    }

    fn label(&self, name: &str) -> String {
        self.book.label(&format!("common.label_{name}"))
    }

    /// Returns the value of a row. Email addresses and telephone numbers become links.
    fn value(&self, fact: &Fact, value: &str) -> Value {
        let text = super::phrases::escape(value);
        let link = super::material::contact(&fact.text).filter(|_| fact.kind == FactKind::Contact);
        let markup = link.map_or_else(|| text.clone(), |link| format!("[{text}]({link})"));
        Rich::parse(&markup).unwrap_or_else(|_| Rich::plain(value))
    }

    /// Writes the facts, the gift and the links that the email does not contain yet.
    pub fn leftovers(&mut self) {
        let content = self.content;
        let mut lines: Vec<String> = Vec::new();
        // A length of time in the description of the recipients is omitted, because it says nothing on its own: "users whose trial ended 30
        // days ago".
        let audience = content.brief.audience.as_ref().and_then(|part| part.span);
        let describes = |fact: &Fact| {
            let inside = fact.span.zip(audience).is_some_and(|(own, part)| part.start <= own.start && own.end <= part.end);
            inside && fact.kind == FactKind::Period && fact.value.is_none()
        };
        for at in content.loose.clone() {
            let fact = content.fact(at);
            let has_place = fact.kind == FactKind::Link || (fact.kind == FactKind::Code && self.gives()) || self.is_on_card(at);
            let has_place = has_place || describes(fact);
            if has_place || !self.is_open(fact) {
                continue;
            }
            lines.extend(content.shown(fact).map(|text| capital(&text)));
        }
        let gift = content.brief.offer.iter().flat_map(|offer| &offer.gift);
        lines.extend(gift.map(|gift| gift.text.trim().to_owned()).filter(|gift| content.prints(gift)).filter(|gift| {
            let gift = folded(gift);
            !self.said.contains(&gift) && !self.says_all().contains(&gift)
        }));
        lines.dedup();
        match lines.as_slice() {
            [] => {}
            [line] => {
                let text = self.marked(&ended(&capital(line)), &[]);
                self.text(&text);
            }
            lines => self.list(lines),
        }
        self.other_links();
    }

    /// Writes the links that are not the target of the button.
    fn other_links(&mut self) {
        let content = self.content;
        let target = self.target.as_ref().map(ToString::to_string).unwrap_or_default();
        let own = |fact: &&Fact| fact.kind == FactKind::Link && !super::content::same_address(&fact.text, &target);
        let facts: Vec<&Fact> = content.loose.iter().map(|at| content.fact(*at)).filter(own).collect();
        let markup = |fact: &Fact| {
            let link = super::material::link(&fact.text)?;
            let open = !self.said.contains(&folded(&fact.text));
            open.then(|| format!("[{}]({link})", super::phrases::escape(super::text::bare_address(&fact.text))))
        };
        let links: Vec<String> = facts.into_iter().filter_map(markup).collect();
        self.text(&links.join("\n"));
    }

    pub fn list(&mut self, lines: &[String]) {
        self.list_with(lines, ListMarks::Bullets);
    }

    pub fn list_with(&mut self, lines: &[String], marks: ListMarks) {
        for part in lines.chunks(limits::EMAIL_LIST_ITEMS_MAX) {
            let items = part.iter().map(|line| Item { title: None, text: self.rich(&self.marked(line, &[])) }).collect();
            let list = List { id: self.id("list"), marks, items };
            self.push(Block::List(list));
        }
    }
}

/// Joins the values of rows with the same label: "Where: the shop, Walcot Street".
fn joined(rows: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut out: Vec<(String, Value)> = Vec::new();
    for (label, value) in rows {
        match out.iter_mut().find(|(own, _)| *own == label) {
            Some((_, first)) => {
                // Values that contain commas, such as dates, need another separator.
                let gap = if value.words().contains(", ") { " · " } else { ", " };
                let both = format!("{}{gap}{}", first.markup(), value.markup());
                *first = Rich::parse(&both).unwrap_or_else(|_| Rich::plain(&both));
            }
            None => out.push((label, value)),
        }
    }
    out
}

/// Returns the key of the label for a fact in a table; `None` if the fact needs a sentence. Places get a row only if `visits` is true, as
/// in invitations and in emails that do not sell.
fn row_label(fact: &Fact, invites: bool, visits: bool) -> Option<&'static str> {
    let has_days = matches!(fact.value, Some(FactValue::Days { .. }));
    Some(match (fact.kind, fact.role) {
        (FactKind::Date | FactKind::Period, Some(role)) if has_days => match role {
            FactRole::OfferStarts => "starts",
            FactRole::OfferEnds if matches!(fact.value, Some(FactValue::Days { last: Some(_), .. })) => "when",
            FactRole::OfferEnds => "ends",
            FactRole::OrderBy if invites => "reply_by",
            FactRole::OrderBy => "order_by",
            FactRole::Closed => "closed",
            FactRole::Reopens => "reopens",
            FactRole::PriceChanges => "changes",
            FactRole::Delivery => "delivery",
            FactRole::Offer | FactRole::Event | FactRole::Happened | FactRole::Other => "when",
        },
        (FactKind::Date | FactKind::Period, None) if has_days => "when",
        (FactKind::Time, _) => "time",
        (FactKind::Place, _) if visits => "where",
        (FactKind::Capacity, _) if invites => "places",
        (FactKind::Price, _) => "price",
        (FactKind::OldPrice, _) => "price_before",
        (FactKind::Minimum, _) if matches!(fact.value, Some(FactValue::Money { .. })) => "minimum",
        (FactKind::Contact, _) => "contact",
        (FactKind::Person, _) if invites => "with",
        _ => return None,
    })
}
