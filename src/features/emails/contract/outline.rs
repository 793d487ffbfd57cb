//! Lists the text, links, buttons and images of a document, each with the block that contains it.

use super::text::{fold, without_fields};
use crate::features::emails::document::*;

/// The place of text in an email.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Subject,
    Preheader,
    /// The headline of the email: the title of the hero, or a heading of the first level.
    Headline,
    /// Any other title.
    Title,
    Body,
    /// The label of a button.
    Label,
    /// The name of a product.
    Name,
    /// The signature under a quote.
    Author,
    /// A coupon code.
    Code,
    /// The alternative text of an image, which most recipients do not see.
    Alt,
    /// The header, the footer and the links to social networks, which are not part of the email's content.
    Frame,
}

impl Place {
    /// Returns whether text at this place is part of the content that recipients see when they open the email.
    pub fn is_body(self) -> bool {
        !matches!(self, Self::Subject | Self::Preheader | Self::Alt | Self::Frame)
    }
}

/// A piece of text in the email.
#[derive(Clone, Debug)]
pub struct Passage {
    pub block: Option<String>,
    pub place: Place,
    /// The text without merge fields.
    pub text: String,
    pub folded: String,
}

/// A button of the email.
#[derive(Clone, Debug)]
pub struct Press {
    pub block: String,
    /// The path of the button in the document. Buttons in columns and buttons of products have no path.
    pub path: Option<String>,
    pub label: String,
    pub href: String,
}

/// The text, buttons, links, images and products of a document.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    pub passages: Vec<Passage>,
    pub buttons: Vec<Press>,
    /// The links, including buttons: the block and the target of each.
    pub links: Vec<(String, String)>,
    /// The blocks that show images, except the logo.
    pub images: Vec<String>,
    /// The products: the block, the name and the page of each.
    pub products: Vec<(String, String, String)>,
    /// The block that is being read.
    block: String,
}

impl Outline {
    pub fn of(email: &Email) -> Self {
        let mut outline = Self::default();
        outline.add(None, Place::Subject, &email.subject);
        outline.add(None, Place::Preheader, &email.preheader);
        for block in &email.blocks {
            outline.block = block.id().as_str().to_owned();
            outline.block(block);
        }
        outline
    }

    /// Returns the text that recipients see when they open the email.
    pub fn body(&self) -> impl Iterator<Item = &Passage> {
        self.passages.iter().filter(|passage| passage.place.is_body())
    }

    /// Returns the first text at a place, such as the subject.
    pub fn line(&self, place: Place) -> Option<&Passage> {
        self.passages.iter().find(|passage| passage.place == place)
    }

    fn add(&mut self, block: Option<&str>, place: Place, text: &str) {
        let text = without_fields(text);
        if !text.trim().is_empty() {
            let folded = fold(&text);
            self.passages.push(Passage { block: block.map(str::to_owned), place, text, folded });
        }
    }

    fn say(&mut self, place: Place, text: &str) {
        let block = std::mem::take(&mut self.block);
        self.add(Some(&block), place, text);
        self.block = block;
    }

    fn maybe<const MAX: usize>(&mut self, place: Place, text: &Option<Line<MAX>>) {
        if let Some(text) = text {
            self.say(place, text);
        }
    }

    fn rich<const MAX: usize>(&mut self, place: Place, text: &Rich<MAX>) {
        self.say(place, &text.words());
        for link in text.links() {
            self.link(link.as_str());
        }
    }

    fn maybe_rich<const MAX: usize>(&mut self, place: Place, text: &Option<Rich<MAX>>) {
        if let Some(text) = text {
            self.rich(place, text);
        }
    }

    fn link(&mut self, href: &str) {
        self.links.push((self.block.clone(), href.to_owned()));
    }

    fn button(&mut self, path: Option<String>, label: &str, href: &str) {
        self.say(Place::Label, label);
        self.link(href);
        self.buttons.push(Press { block: self.block.clone(), path, label: label.to_owned(), href: href.to_owned() });
    }

    fn action(&mut self, action: &Option<Action>) {
        if let Some(action) = action {
            let path = format!("blocks.{}.button", self.block);
            self.button(Some(path), &action.label, action.href.as_str());
        }
    }

    fn picture(&mut self, picture: &Option<Picture>) {
        if let Some(picture) = picture {
            self.images.push(self.block.clone());
            self.maybe(Place::Alt, &picture.alt);
            if let Some(href) = &picture.href {
                self.link(href.as_str());
            }
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Header(header) => {
                self.say(Place::Frame, &header.name);
                if let Some(href) = &header.href {
                    self.link(href.as_str());
                }
                self.menu(&header.links);
            }
            Block::Hero(hero) => {
                self.maybe(Place::Body, &hero.eyebrow);
                self.say(Place::Headline, &hero.title);
                self.maybe_rich(Place::Body, &hero.text);
                self.picture(&hero.image);
                self.action(&hero.button);
            }
            Block::Text(text) => self.rich(Place::Body, &text.text),
            Block::Heading(heading) => self.heading(heading),
            Block::Image(image) => self.image(image),
            Block::Button(button) => {
                let path = format!("blocks.{}", self.block);
                self.button(Some(path), &button.label, button.href.as_str());
            }
            Block::Columns(columns) => columns.columns.iter().flat_map(|column| &column.blocks).for_each(|cell| self.cell(cell)),
            Block::Products(products) => self.products(products),
            Block::Quote(quote) => {
                self.rich(Place::Body, &quote.text);
                self.maybe(Place::Author, &quote.author);
                self.maybe(Place::Body, &quote.role);
                self.picture(&quote.image);
            }
            Block::List(list) => self.list(list),
            Block::Coupon(coupon) => {
                self.say(Place::Title, &coupon.title);
                self.say(Place::Code, &coupon.code);
                self.maybe_rich(Place::Body, &coupon.text);
                self.action(&coupon.button);
            }
            Block::Countdown(countdown) => {
                self.say(Place::Body, &format!("{}: {}", countdown.title, countdown.date));
                self.maybe_rich(Place::Body, &countdown.text);
            }
            Block::Table(table) => self.table(table),
            Block::Divider(_) => {}
            Block::Social(social) => {
                self.maybe(Place::Frame, &social.title);
                for link in &social.links {
                    self.link(link.href.as_str());
                }
            }
            Block::Footer(footer) => {
                self.say(Place::Frame, &footer.sender);
                self.maybe(Place::Frame, &footer.address);
                self.maybe_rich(Place::Frame, &footer.reason);
                self.menu(&footer.links);
            }
        }
    }

    fn menu(&mut self, links: &[NavLink]) {
        for link in links {
            self.say(Place::Frame, &link.label);
            self.link(link.href.as_str());
        }
    }

    fn heading(&mut self, heading: &Heading) {
        let place = if heading.level == HeadingLevel::Title { Place::Headline } else { Place::Title };
        self.say(place, &heading.text);
    }

    fn image(&mut self, image: &Image) {
        self.picture(&Some(image.image.clone()));
        self.maybe(Place::Body, &image.caption);
    }

    fn list(&mut self, list: &List) {
        for item in &list.items {
            let title = item.title.as_ref().map(|title| format!("{title} ")).unwrap_or_default();
            self.say(Place::Body, &format!("{title}{}", item.text.words()));
            item.text.links().for_each(|link| self.link(link.as_str()));
        }
    }

    fn products(&mut self, products: &Products) {
        self.maybe(Place::Title, &products.title);
        for product in &products.products {
            self.say(Place::Name, &product.name);
            self.maybe(Place::Body, &product.text);
            self.maybe(Place::Body, &product.price);
            self.maybe(Place::Body, &product.price_before);
            self.picture(&product.image);
            match &product.button {
                Some(label) => self.button(None, label, product.href.as_str()),
                None => self.link(product.href.as_str()),
            }
            self.products.push((self.block.clone(), product.name.to_string(), product.href.as_str().to_owned()));
        }
    }

    fn table(&mut self, table: &Table) {
        self.maybe(Place::Title, &table.title);
        let head: Vec<&str> = table.head.iter().map(|cell| cell.as_str()).collect();
        self.say(Place::Body, &head.join(" · "));
        for row in &table.rows {
            let cells: Vec<String> = row.cells.iter().map(Rich::words).collect();
            self.say(Place::Body, &cells.join(" · "));
            row.cells.iter().flat_map(Rich::links).for_each(|link| self.link(link.as_str()));
        }
    }

    fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Text(text) => self.rich(Place::Body, &text.text),
            Cell::Heading(heading) => self.heading(heading),
            Cell::Image(image) => self.image(image),
            Cell::Button(button) => self.button(None, &button.label, button.href.as_str()),
            Cell::List(list) => self.list(list),
            Cell::Divider(_) => {}
        }
    }
}
