//! Writes the parts of an email as blocks of the document, from the brief, phrases and the brand's material.
//!
//! Invariant: a part without material adds no block, and no content is invented to fill a part.

use std::collections::HashSet;

use super::content::Content;
use super::goals::{Pictures, Shape};
use super::knowledge::Excerpt;
use super::material;
use super::phrases::{Phrasebook, escape};
use super::text::{ended, folded, tidy};
use super::{content, printed};
use crate::features::emails::brief::{FactKind, Goal};
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
    /// The indexes of the brand's products for a grid; empty if the email has no grid.
    pub products: Vec<usize>,
    /// The product that the email is about.
    pub featured: Option<usize>,
    pub excerpts: Vec<Excerpt<'a>>,
    pub opening: Option<Picture>,
    /// The request's pictures, except the one at the top.
    pub pictures: Vec<Picture>,
    /// The target of the main button.
    pub target: Option<Link>,
    pub site: Option<Link>,
    /// Whether the brand's own descriptions are in the email's language.
    pub brand_speaks: bool,
    /// Whether the brief limits the number of words, so that the email contains only what the brief requires.
    pub lean: bool,
    pub blocks: Vec<Block>,
    /// The title of the email, folded.
    pub title: String,
    /// The visible text so far, folded for comparisons.
    pub said: String,
    /// The statements that are still to be printed.
    pub statements: Vec<usize>,
    pub shown_pictures: HashSet<String>,
    pub has_button: bool,
    /// Whether the title and the product cards contain all statements of the brief.
    pub is_stated: bool,
}

/// The maximum number of products in a layout that stacks them, and in a grid with two per row, unless the brief prescribes a number.
const ROW_PRODUCTS: usize = 3;
const GRID_PRODUCTS: usize = 4;
/// The maximum length, in characters, of the opening's text: two or three sentences.
pub const LEAD_CHARACTERS: usize = 240;
/// The maximum number of excerpts that an email quotes.
const EXCERPTS: usize = 2;

impl Writer<'_> {
    /// Writes the whole email, with this title.
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
        self.changed_prices();
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

    /// Writes the content of an email that presents the brand, such as a later email in a series.
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

    /// Adds a block, and its visible text to `said`.
    pub fn push(&mut self, block: Block) {
        self.said.push_str(&printed::block(&block));
        self.blocks.push(block);
    }

    /// Returns an unused ID for a block.
    pub fn id(&self, kind: &str) -> BlockId {
        let count = self.blocks.iter().filter(|block| block.id().starts_with(kind)).count();
        if count == 0 { kind.into() } else { format!("{kind}-{}", count + 1).into() }
    }

    pub fn line(&mut self, name: &str) -> Option<String> {
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

    /// Adds markup as text blocks, unless it is empty.
    pub fn text(&mut self, markup: &str) {
        if markup.trim().is_empty() {
            return;
        }
        // Text that is too long for one block continues in the next block.
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

    /// Writes the title and the lead. Statements that the title or the product cards contain are not printed again.
    fn opening(&mut self, title: &str) {
        let said = folded(title);
        self.statements.retain(|at| {
            let own = folded(&self.content.text(*at));
            !said.contains(&own)
        });
        if self.shows_cards() {
            self.statements.retain(|at| !self.content.is_list_of_products(*at));
        }
        self.title = said.clone();
        // If both the title and the coupon state the offer, no phrase between them repeats it.
        let is_stated = self.book.facts.get("bare_deal").is_some_and(|deal| said.contains(&folded(deal)));
        if self.job == "sale.main" && is_stated && self.content.first(FactKind::Code).is_some() {
            self.book.facts.remove("deal");
        }
        self.keep_untabled();
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

    /// Writes the steps of a referral or the brand's own text, if the brief has nothing more to print.
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

    pub fn is_on_card(&self, at: usize) -> bool {
        let card = |card: &content::Card| card.shown && (card.fact == at || card.price == Some(at) || card.old_price == Some(at));
        self.shows_cards() && self.content.cards.iter().any(card)
    }

    pub fn shows_cards(&self) -> bool {
        self.shape.sells && !self.content.rules.no_products && self.content.cards.iter().any(|card| card.shown)
    }

    /// Writes the products that the brief names, with the prices that it gives, or a grid of the brand's products.
    fn cards(&mut self) {
        if !self.shows_cards() {
            return if self.products.is_empty() { self.story_if_thin() } else { self.grid() };
        }
        let content = self.content;
        let money = |fact: Option<usize>| fact.and_then(|at| content.shown(content.fact(at))).map(|price| Line::cut(&price));
        let product = |card: &content::Card| {
            let shown = self.product(card.product, true)?;
            let (price, old) = (money(card.price), money(card.old_price));
            // The price and the original price both come from the brief, or both come from the shop.
            let before = match &price {
                Some(price) => old.filter(|old| old != price),
                None => shown.price_before.clone(),
            };
            Some(Product { price: price.or(shown.price.clone()), price_before: before, ..shown })
        };
        // If the email is not in the brand's language, a card without a picture or a price from the brief would only repeat a name from the
        // text, so it is left out.
        let tells = |card: &&content::Card| {
            let has_image = self.brand.products.get(card.product).is_some_and(|product| product.image.is_some());
            let is_named = content.statement_of(card.fact).is_some();
            self.brand_speaks || has_image || card.price.is_some() || !is_named
        };
        let shown = content.cards.iter().filter(|card| card.shown).filter(tells);
        let products: Vec<Product> = shown.filter_map(product).take(limits::EMAIL_PRODUCTS_MAX).collect();
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

    /// Returns a product of the brand in the form that documents use; `None` if its name contains an avoided word.
    fn product(&self, place: usize, with_text: bool) -> Option<Product> {
        let product = self.brand.products.get(place).filter(|product| self.content.rules.allow_product(&product.name))?;
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
        // Layouts that do not stack products show an even number of them, because two products also fit side by side on a phone, where
        // three would be stacked.
        let has_rows = matches!(self.layout, Layout::Editorial | Layout::Letter | Layout::Bulletin);
        let usual = if has_rows { ROW_PRODUCTS } else { products.len().min(GRID_PRODUCTS) & !1 };
        let wanted = self.content.rules.products;
        let count = wanted.unwrap_or(usual);
        let products: Vec<Product> = products.into_iter().take(count.max(1)).collect();
        // A grid with a single product looks like a mistake, unless the email is about this product or the brief requests only one.
        let is_only = || material::of_kind(self.brand, &self.content.topic()) == self.products;
        if let ([only], true) = (products.as_slice(), self.content.scope().is_some() || wanted == Some(1) || is_only()) {
            let products = vec![only.clone()];
            return self.push(Block::Products(Products { id: self.id("products"), title: None, products, columns: None }));
        }
        if products.len() < 2 {
            return;
        }
        let title = self.common("products_heading").map(|title| Line::cut(&title));
        self.push(Block::Products(Products { id: self.id("products"), title, products, columns: None }));
    }

    fn feature(&mut self) {
        let Some(product) = self.featured.and_then(|place| self.product(place, true)) else { return };
        self.push(Block::Products(Products { id: self.id("product"), title: None, products: vec![product], columns: None }));
    }

    /// Quotes the brand's own description.
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

    /// Returns one of the brand's pictures that fits text from the brief and that the email does not show yet. Records the picture as
    /// shown.
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

    /// Writes how to contact the brand, in emails that recipients are likely to answer. A contact or a link in the brief makes this
    /// unnecessary.
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

/// Returns the key of the phrases for one part of an email, such as its subject: the key of the email's job, or a key that similar jobs
/// share. For the headline of a job that has no headline phrases, returns the key of the job's subject.
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
