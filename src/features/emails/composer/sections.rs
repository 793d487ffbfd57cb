//! Writes the parts of an email as blocks of the document, from the brief, phrases and the brand's material.
//!
//! Invariant: a part without material adds no block, and no content is invented to fill a part.

use std::collections::HashSet;

use super::content::Content;
use super::goals::{Pictures, Shape};
use super::knowledge::Excerpt;
use super::material;
use super::phrases::{Phrasebook, escape};
use super::text::{bare_address, capital, ended, folded, tidy, unquoted};
use super::{content, printed};
use crate::features::emails::brief::{FactKind, FactRole, Goal};
use crate::features::emails::document::*;
use crate::features::projects::brand::Brand;
use crate::vocab::limits;

/// The inputs and the state that all parts of an email share.
pub struct Writer<'a> {
    pub book: Phrasebook,
    pub content: &'a Content<'a>,
    pub brand: &'a Brand,
    pub goal: Goal,
    pub shape: Shape,
    pub job: &'a str,
    pub layout: Layout,
    /// The indexes of the brand's products that fill a grid, if the brief names none.
    pub products: Vec<usize>,
    /// The product that the email is about.
    pub featured: Option<usize>,
    pub excerpts: Vec<Excerpt<'a>>,
    pub opening: Option<Picture>,
    /// The given pictures that are not at the top.
    pub pictures: Vec<Picture>,
    /// The target of the main button.
    pub target: Option<Link>,
    pub site: Option<Link>,
    /// Whether the brand's own descriptions are in the email's language.
    pub brand_speaks: bool,
    /// Whether the email has only what the brief asks for, for example because its words are limited.
    pub lean: bool,
    pub blocks: Vec<Block>,
    /// The visible text so far, folded for comparisons.
    pub said: String,
    /// The statements that are still to be printed.
    pub statements: Vec<usize>,
    pub shown_pictures: HashSet<String>,
    pub has_button: bool,
    /// Whether the title states everything that the brief says.
    pub is_stated: bool,
}

/// The maximum length of a button text from a phrase, which must fit on one line on a phone.
const BUTTON_CHARACTERS_MAX: usize = 28;
/// The number of products that are stacked, and in a grid with two in a row.
const ROW_PRODUCTS: usize = 3;
const GRID_PRODUCTS: usize = 4;
/// The length of an opening's text: two or three sentences.
pub const LEAD_CHARACTERS: usize = 240;
/// The length of a paragraph after which the next sentence starts a new one.
const PARAGRAPH_CHARACTERS: usize = 260;
/// The length up to which a statement can be an item of a list.
const ITEM_CHARACTERS_MAX: usize = 110;
/// The number of excerpts that a newsletter quotes.
const EXCERPTS: usize = 2;

/// Statements that are printed together.
pub enum Group {
    Paragraph(Vec<usize>),
    List(Vec<usize>),
    /// Dishes or plans with their prices.
    Prices(Vec<(String, String)>),
}

impl Writer<'_> {
    /// Writes the whole email with its subject line's title.
    pub fn write(&mut self, title: &str) {
        self.header();
        let general = self.job.strip_prefix("general.").map(str::to_owned);
        self.opening(title);
        match general {
            Some(kind) => self.general(&kind),
            None => self.message(),
        }
        self.closing();
        self.social();
        self.footer();
    }

    /// Writes the content of the brief.
    fn message(&mut self) {
        self.offer();
        self.details();
        self.body();
        self.leftovers();
        self.stories();
        self.further();
        self.further_pictures();
        self.call();
        self.cards();
        self.contact();
    }

    /// Writes an email of a series that introduces the brand.
    fn general(&mut self, kind: &str) {
        match kind {
            "story" => self.story_of_brand(),
            "picks" => self.grid(),
            "spotlight" => self.feature(),
            "help" => self.contact_text(),
            "knowledge" => self.quote_excerpts(EXCERPTS),
            _ => {}
        }
        if let Some(body) = self.markup("body") {
            self.text(&body);
        }
        self.call();
    }

    /// Adds a block.
    pub fn push(&mut self, block: Block) {
        self.said.push_str(&printed::block(&block));
        self.blocks.push(block);
    }

    /// Returns an unused name for a block.
    pub fn id(&self, kind: &str) -> BlockId {
        let count = self.blocks.iter().filter(|block| block.id().starts_with(kind)).count();
        if count == 0 { kind.into() } else { format!("{kind}-{}", count + 1).into() }
    }

    fn line(&mut self, name: &str) -> Option<String> {
        let place = place(&self.book, self.job, name);
        self.book.line(&place)
    }

    pub fn markup(&mut self, name: &str) -> Option<String> {
        let place = place(&self.book, self.job, name);
        self.book.text(&place)
    }

    pub fn common(&mut self, name: &str) -> Option<String> {
        self.book.line(&format!("common.{name}"))
    }

    /// Adds a paragraph from markup, unless it is empty.
    pub fn text(&mut self, markup: &str) {
        if markup.trim().is_empty() {
            return;
        }
        // A text longer than a block can hold continues in another block.
        let mut rest = markup.trim();
        while !rest.is_empty() {
            let most = rest.char_indices().nth(limits::EMAIL_PROSE_CHARACTERS_MAX - 1).map_or(rest.len(), |(at, _)| at);
            let cut = if most == rest.len() { most } else { rest[..most].rfind(['\n', ' ']).unwrap_or(most) };
            let block = Text { id: self.id("text"), text: self.rich(&rest[..cut]) };
            self.push(Block::Text(block));
            rest = rest[cut..].trim_start();
        }
    }

    pub fn rich<const MAX: usize>(&self, markup: &str) -> Rich<MAX> {
        Rich::parse(markup).unwrap_or_else(|_| Rich::plain(markup))
    }

    pub fn heading(&mut self, text: &str) {
        let block = Heading { id: self.id("heading"), text: Line::cut(text), level: HeadingLevel::Section };
        self.push(Block::Heading(block));
    }

    /// Returns a text of the prompt as markup: its addresses are links, and the dates and codes of `facts` are bold.
    pub fn marked(&self, text: &str, facts: &[usize]) -> String {
        let text = if self.content.rules.no_exclamation { text.replace('!', ".") } else { text.to_owned() };
        let mut markup = escape(&text);
        for at in facts {
            let fact = self.content.fact(*at);
            let bold = matches!(fact.kind, FactKind::Date | FactKind::Code);
            let words = escape(&tidy(&fact.text));
            if bold && words.len() > 2 && !markup.contains(&format!("*{words}")) && words == tidy(&fact.text) {
                markup = markup.replacen(&words, &format!("**{words}**"), 1);
            }
        }
        for address in super::text::addresses(&text) {
            let full = if address.starts_with("www.") { format!("https://{address}") } else { address.to_owned() };
            let (written, Some(link)) = (escape(address), material::link(&full)) else { continue };
            markup = markup.replacen(&written, &format!("[{}]({link})", escape(bare_address(address))), 1);
        }
        markup
    }

    /// Returns the main button, with the label that the brief prescribes.
    fn action(&mut self) -> Option<Action> {
        let cta = self.content.brief.cta.as_ref();
        let asked =
            cta.and_then(|cta| cta.label.as_ref()).map(|label| tidy(unquoted(&label.text))).filter(|label| !label.is_empty());
        let is_given = asked.is_some() || self.target.as_ref() != self.site.as_ref();
        if self.has_button || !(self.shape.calls || is_given || self.job.starts_with("general.")) {
            return None;
        }
        let href = self.target.clone()?;
        let own = place(&self.book, self.job, "button");
        let places = match href.as_str().split(':').next() {
            Some("mailto") => ["common.button_mail", "common.default_button"],
            Some("tel") => ["common.button_call", "common.default_button"],
            _ => [own.as_str(), "common.default_button"],
        };
        let mut phrase = || places.into_iter().find_map(|place| self.book.line_within(place, BUTTON_CHARACTERS_MAX));
        let label = asked.or_else(&mut phrase)?;
        self.has_button = true;
        Some(Action { label: Line::cut(&capital(&label)), href })
    }

    /// Writes the title and lead.
    fn opening(&mut self, title: &str) {
        let said = folded(title);
        self.statements.retain(|at| {
            let own = folded(&self.content.fact(*at).text);
            !said.contains(&own)
        });
        self.is_stated = !self.content.statements.is_empty() && self.statements.is_empty() && self.content.stories.is_empty();
        self.said.push_str(&said);
        let eyebrow = self.eyebrow();
        let lead = self.lead();
        let text: Option<Paragraph> = Rich::parse(&lead).ok().filter(|text| !text.is_empty());
        if self.layout == Layout::Letter {
            let greeting = self.common("greeting").map(|greeting| escape(&greeting)).filter(|_| !self.lean);
            let heading = Heading { id: "title".into(), text: Line::cut(title), level: HeadingLevel::Title };
            self.push(Block::Heading(heading));
            let text = greeting.into_iter().chain(Some(lead).filter(|lead| !lead.is_empty())).collect::<Vec<_>>().join("\n\n");
            return self.text(&text);
        }
        let image = self.opening.take();
        self.shown_pictures.extend(image.as_ref().map(|image| image.src.as_str().to_owned()));
        // The button follows the content, unless all of it is in the opening.
        let button = if self.has_more() { None } else { self.action() };
        self.push(Block::Hero(Hero { id: "hero".into(), eyebrow, title: Line::cut(title), text, image, button }));
    }

    /// Returns whether the email has content after the opening.
    fn has_more(&self) -> bool {
        let content = self.content;
        let facts = &content.brief.facts;
        let open = content.loose.iter().any(|at| facts[*at].kind != FactKind::Link && !self.is_on_card(*at));
        !self.statements.is_empty() || !content.stories.is_empty() || open || self.job.starts_with("general.")
    }

    fn eyebrow(&mut self) -> Option<Label> {
        let place = place(&self.book, self.job, "eyebrow");
        let eyebrow = self.book.line_within(&place, 40).filter(|_| !self.lean)?;
        let repeats = self.said.contains(folded(&eyebrow).trim());
        (!repeats).then(|| Line::cut(&eyebrow))
    }

    /// Returns a statement as a sentence in markup.
    pub fn sentence(&self, at: usize) -> String {
        self.marked(&ended(&capital(&self.content.text(at))), &self.content.facts_in(at))
    }

    /// Groups the statements that are still to be printed: sentences into paragraphs, points into lists, and prices into tables.
    pub fn groups(&self) -> Vec<Group> {
        let content = self.content;
        let short = |at: usize| content.text(at).chars().count() <= ITEM_CHARACTERS_MAX;
        let items = |rest: &[usize]| {
            let follow = rest.windows(2).take_while(|pair| content.follows_as_item(pair[0], pair[1]) && short(pair[1])).count();
            if follow > 0 && short(rest[0]) { follow + 1 } else { 0 }
        };
        let mut groups: Vec<Group> = Vec::new();
        let open: Vec<usize> = self.statements.iter().copied().filter(|at| !self.has_code(*at)).collect();
        let mut rest = open.as_slice();
        while let Some(first) = rest.first() {
            let prices: Vec<(String, String)> = rest.iter().map_while(|at| self.priced(*at)).collect();
            let points = items(rest);
            let taken = if prices.len() > 1 {
                let taken = prices.len();
                groups.push(Group::Prices(prices));
                taken
            } else if points > 2 {
                groups.push(Group::List(rest[..points].to_vec()));
                points
            } else {
                match groups.last_mut() {
                    Some(Group::Paragraph(paragraph)) => paragraph.push(*first),
                    _ => groups.push(Group::Paragraph(vec![*first])),
                }
                1
            };
            rest = &rest[taken..];
        }
        groups
    }

    /// Returns the name and the price of a statement that is only a name with its price at the end.
    fn priced(&self, at: usize) -> Option<(String, String)> {
        let text = self.content.text(at);
        let text = text.trim_end_matches('.');
        let is_price = |at: &&usize| self.content.fact(**at).kind == FactKind::Price;
        let facts = self.content.facts_in(at);
        let price =
            facts.iter().filter(is_price).map(|at| self.content.text(*at)).find(|price| text.ends_with(price.as_str()))?;
        let name = text.strip_suffix(price.as_str())?.trim_end_matches([' ', ':', ',', '–', '—', '-', '…', '.', '(', '|', '=']);
        let plain = name.chars().count() > 2 && !name.contains(['.', '!', '?']) && name.split(' ').count() <= 9;
        (plain && facts.iter().filter(is_price).count() == 1).then(|| (capital(name), price))
    }

    /// Writes the statements that the opening does not contain. Without any, writes the running text of the job.
    fn body(&mut self) {
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
        if (self.content.is_thin() || self.is_stated && self.book.has(&format!("{}.body", self.job))) && others < 3 && !self.lean
        {
            let body = self.markup("body").unwrap_or_default();
            return self.text(&body);
        }
        let groups = self.groups();
        self.statements.clear();
        for group in groups {
            match group {
                Group::Paragraph(all) => self.paragraphs(&all),
                Group::List(all) => {
                    let line = |at: &usize| capital(self.content.text(*at).trim_end_matches(['.', ',', ';']));
                    let lines: Vec<String> = all.iter().map(line).collect();
                    self.list(&lines);
                }
                Group::Prices(all) => {
                    let row = |(name, price): &(String, String)| Row {
                        cells: vec![Rich::plain(name), Rich::plain(price)],
                        strong: false,
                    };
                    for part in all.chunks(limits::EMAIL_TABLE_ROWS_MAX) {
                        let table =
                            Table { id: self.id("prices"), title: None, head: Vec::new(), rows: part.iter().map(row).collect() };
                        self.push(Block::Table(table));
                    }
                }
            }
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

    /// Writes the steps of a recommendation or the brand's own texts, if the brief says too little.
    fn further(&mut self) {
        if self.lean || !(self.content.is_thin() || self.is_stated) {
            return;
        }
        match self.job {
            "referral.main" | "referral.reminder" => self.steps(),
            "welcome.main" if self.brand.products.is_empty() => self.story_of_brand(),
            "newsletter.main" => self.quote_excerpts(EXCERPTS),
            _ => {}
        }
    }

    fn steps(&mut self) {
        let sets = (0..4).map(|index| place(&self.book, self.job, &format!("points.{index}")));
        let Some(steps) = sets.into_iter().find_map(|place| self.book.all(&place)) else { return };
        if let Some(heading) = self.line("points_heading") {
            self.heading(&heading);
        }
        let items = steps.iter().map(|step| Item { title: None, text: self.rich(step) }).collect();
        self.push(Block::List(List { id: self.id("steps"), marks: ListMarks::Numbers, items }));
    }

    /// Returns whether a fact is shown on the card of a product.
    pub fn is_on_card(&self, at: usize) -> bool {
        let card = |card: &content::Card| card.fact == at || card.price == Some(at) || card.old_price == Some(at);
        self.shows_cards() && self.content.cards.iter().any(card)
    }

    fn shows_cards(&self) -> bool {
        self.shape.sells && !self.content.rules.no_products && !self.content.cards.is_empty()
    }

    /// Writes the products that the brief names, with the prices that it gives, or products of the brand.
    fn cards(&mut self) {
        if !self.shows_cards() {
            return if self.products.is_empty() { self.story_if_thin() } else { self.grid() };
        }
        let content = self.content;
        let money = |fact: Option<usize>| fact.and_then(|at| content.shown(content.fact(at))).map(|price| Line::cut(&price));
        let product = |card: &content::Card| {
            let shown = self.product(card.product, true)?;
            let (price, old) = (money(card.price), money(card.old_price));
            // The price on the site is the old price, if the brief gives only a new one.
            Some(Product {
                price: price.clone().or(shown.price),
                price_before: old.filter(|old| price.as_ref() != Some(old)),
                ..shown
            })
        };
        let products: Vec<Product> = content.cards.iter().filter_map(product).take(limits::EMAIL_PRODUCTS_MAX).collect();
        if !products.is_empty() {
            self.push(Block::Products(Products { id: self.id("products"), title: None, products, columns: None }));
        }
    }

    fn story_if_thin(&mut self) {
        if self.job == "seasonal.main" || !self.content.is_thin() || self.lean {
            return;
        }
        if matches!(self.job, "winback.main") {
            self.story_of_brand();
        }
    }

    /// Returns a product of the brand as the document shows it, with a picture that the email does not show yet. Products with an
    /// avoided word in their name are not shown.
    fn product(&self, place: usize, with_text: bool) -> Option<Product> {
        let product = self.brand.products.get(place).filter(|product| self.content.rules.allow(&product.name))?;
        let text = with_text && self.brand_speaks && !self.lean && self.layout != Layout::Showcase;
        let shown = material::product(product, self.content.format, self.site.as_ref(), text)?;
        let mut shown = material::sized_product(self.brand, shown);
        shown.text = shown.text.filter(|text| self.content.rules.allow(text));
        if self.content.rules.no_images {
            shown.image = None;
        }
        Some(shown)
    }

    fn grid(&mut self) {
        let shown = |place: &usize| self.product(*place, true);
        let products: Vec<Product> = self.products.iter().filter_map(shown).collect();
        // Two products side by side also fit on a phone, where three would be stacked.
        let has_rows = matches!(self.layout, Layout::Editorial | Layout::Letter | Layout::Bulletin);
        let count = if has_rows { ROW_PRODUCTS } else { products.len().min(GRID_PRODUCTS) & !1 };
        let products: Vec<Product> = products.into_iter().take(count.max(1)).collect();
        // A grid with a single product looks like a mistake, unless the offer is for this product.
        if let ([only], true) = (products.as_slice(), self.content.scope().is_some()) {
            let products = vec![only.clone()];
            return self.push(Block::Products(Products { id: self.id("products"), title: None, products, columns: None }));
        }
        if products.len() < 2 {
            return;
        }
        let title = self.common("products_heading").map(|title| Line::cut(&title));
        self.push(Block::Products(Products { id: self.id("products"), title, products, columns: None }));
    }

    /// Writes the product that the email is about.
    fn feature(&mut self) {
        let Some(product) = self.featured.and_then(|place| self.product(place, true)) else { return };
        self.push(Block::Products(Products { id: self.id("product"), title: None, products: vec![product], columns: None }));
    }

    /// Quotes the brand's description of itself.
    fn story_of_brand(&mut self) {
        let description = self.brand.description.as_ref().filter(|_| self.brand_speaks).map(|text| tidy(text));
        let fits = |text: &String| text.split(' ').count() >= 5 && self.content.rules.allow(text);
        let Some(description) = description.filter(fits) else { return };
        let Some(heading) = self.common("story_heading") else { return };
        self.heading(&heading);
        self.text(&ended(&escape(&description)));
    }

    fn quote_excerpts(&mut self, count: usize) {
        let count = count.min(self.excerpts.len());
        for excerpt in self.excerpts.drain(..count).collect::<Vec<_>>() {
            self.heading(&excerpt.title);
            let more = excerpt.url.and_then(material::link).zip(self.common("read_more"));
            let more = more.map(|(link, label)| format!("[{}]({link})", escape(&label)));
            let text = [Some(escape(&excerpt.text)), more].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
            self.text(&text);
        }
    }

    /// Returns the picture of the brand that fits a text of the brief and that the email does not show yet.
    pub fn picture_of(&mut self, text: &str) -> Option<Picture> {
        if self.content.rules.no_images || self.shape.pictures == Pictures::None {
            return None;
        }
        let picture = material::fitting(self.brand, text, &self.shown_pictures)?;
        self.shown_pictures.insert(picture.src.as_str().to_owned());
        Some(picture)
    }

    fn further_pictures(&mut self) {
        for image in std::mem::take(&mut self.pictures) {
            let block = Image { id: self.id("image"), image, caption: None, width: ImageWidth::Content };
            self.push(Block::Image(block));
        }
    }

    /// Writes the main button, if the opening has none.
    fn call(&mut self) {
        if let Some(Action { label, href }) = self.action() {
            let block = Button { id: self.id("button"), label, href, emphasis: Emphasis::Primary };
            self.push(Block::Button(block));
        }
    }

    /// Writes how to reach the brand, in an email about a problem.
    fn contact(&mut self) {
        let is_problem = matches!(
            self.goal,
            Goal::Apology | Goal::Outage | Goal::Recall | Goal::PriceChange | Goal::Cart | Goal::Receipt | Goal::Hiring
        );
        let told = self.content.first(FactKind::Contact).is_some() || self.content.first(FactKind::Link).is_some();
        if is_problem && !told && !self.lean {
            self.contact_text();
        }
    }

    fn contact_text(&mut self) {
        if let Some(text) = self.book.text("common.contact") {
            self.text(&text);
        }
    }
}

/// Returns the key of the phrases for a part of a job: the job's own key, or the key that similar jobs share. If a job has no title of its
/// own, its subject is the title.
pub fn place(book: &Phrasebook, job: &str, name: &str) -> String {
    let own = format!("{job}.{name}");
    if book.has(&own) {
        return own;
    }
    let kind = match job {
        "shipping.main" => "sale.main",
        _ if job.ends_with(".main") => "announcement.main",
        _ => return own,
    };
    let subject = format!("{job}.subject");
    if name == "headline" && book.has(&subject) { subject } else { format!("{kind}.{name}") }
}
