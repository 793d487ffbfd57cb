//! Writes the parts of an email as blocks of the document, from phrases, facts of the prompt and material of the brand.
//!
//! Invariant: a part without material adds no block, and no content is invented to fill a part.

mod verbatim;

use super::facts::tidy;
use super::frame;
use super::knowledge::Excerpt;
use super::language::{Format, Language};
use super::material;
use super::phrases::{Phrasebook, escape};
use super::recipe::{self, Part};
use super::understand::{ParsedPrompt, capital, ended};
use crate::features::emails::document::*;
use crate::features::projects::brand::{self, Brand};
use crate::vocab::limits;

/// The inputs and the state that all parts of an email share.
pub struct Writer<'a> {
    pub book: Phrasebook,
    pub job: &'a str,
    pub layout: Layout,
    pub understood: &'a ParsedPrompt,
    pub brand: &'a Brand,
    /// The indexes of the brand's products in the order of this email.
    pub products: Vec<usize>,
    /// The product that the email is about.
    pub featured: Option<usize>,
    pub excerpts: Vec<Excerpt<'a>>,
    pub opening: Option<Picture>,
    /// The email's parts. Some parts depend on the parts that follow.
    pub parts: &'static [Part],
    pub format: &'static Format,
    pub pictures: Vec<Picture>,
    /// The target of buttons.
    pub target: Option<Link>,
    pub site: Option<Link>,
    /// Whether the prompt's own words are in the email's language.
    pub prompt_speaks: bool,
    /// Whether the brand's own descriptions are in the email's language.
    pub brand_speaks: bool,
    pub blocks: Vec<Block>,
    /// Whether the email already contains the prompt's own words.
    pub has_verbatim: bool,
    /// Whether a product is already featured.
    pub is_featured: bool,
    /// Whether the email is signed.
    pub is_signed: bool,
}

/// The maximum length of a button text, which must fit on one line on a phone.
const BUTTON_CHARACTERS_MAX: usize = 28;
/// The number of products in a grid.
const GRID_PRODUCTS: usize = 3;
const SHOWCASE_PRODUCTS: usize = 4;
/// The maximum number of excerpts that a newsletter quotes. Most other emails quote at most one.
const NEWSLETTER_EXCERPTS: usize = 2;

impl Writer<'_> {
    pub fn write(&mut self, part: Part) {
        match part {
            Part::Opening => self.opening(),
            Part::Body => self.body(),
            Part::Verbatim => self.told(),
            Part::Steps => self.steps(),
            Part::Offer => self.offer(),
            Part::Deadline => self.deadline(),
            Part::Facts => self.facts(),
            Part::Order => self.order(),
            Part::Featured => self.featured(),
            Part::Products => self.products(),
            Part::Story => self.story(),
            Part::Knowledge => self.knowledge(),
            Part::Praise => self.praise(),
            Part::Pictures => self.further_pictures(),
            Part::Call => self.call(),
            Part::Contact => self.contact(),
            Part::Closing => self.closing(),
            Part::Social => self.social(),
        }
    }

    /// Returns an unused name for a block.
    fn id(&self, kind: &str) -> BlockId {
        let count = self.blocks.iter().filter(|block| block.id().starts_with(kind)).count();
        if count == 0 { kind.into() } else { format!("{kind}-{}", count + 1).into() }
    }

    fn place(&self, name: &str) -> String {
        place(&self.book, self.job, name)
    }

    fn line(&mut self, name: &str) -> Option<String> {
        let place = self.place(name);
        self.book.line(&place)
    }

    fn markup(&mut self, name: &str) -> Option<String> {
        let place = self.place(name);
        self.book.text(&place)
    }

    fn common(&mut self, name: &str) -> Option<String> {
        self.book.line(&format!("common.{name}"))
    }

    fn text(&mut self, markup: &str) {
        if markup.trim().is_empty() {
            return;
        }
        let text = Rich::parse(markup).unwrap_or_else(|_| Rich::plain(markup));
        let block = Text { id: self.id("text"), text };
        self.blocks.push(Block::Text(block));
    }

    fn heading(&mut self, text: &str) {
        let block = Heading { id: self.id("heading"), text: Line::cut(text), level: HeadingLevel::Section };
        self.blocks.push(Block::Heading(block));
    }

    fn action(&mut self) -> Option<Action> {
        let href = self.target.clone()?;
        let (own, common) = (self.place("button"), "common.default_button");
        let label = [own.as_str(), common].into_iter().find_map(|place| self.book.line_within(place, BUTTON_CHARACTERS_MAX));
        let label = label.or_else(|| self.book.line(&own))?;
        Some(Action { label: Line::cut(&label), href })
    }

    /// Writes the title and lead, with the season's own phrases if the email is about a season.
    fn opening(&mut self) {
        let season = self.understood.season.clone().filter(|_| matches!(self.job, "seasonal.main" | "sale.main"));
        let has_season = season.as_ref().is_some_and(|season| self.book.has(&format!("season.{season}.lead")));
        let season = season.filter(|_| has_season);
        let is_sale = self.job == "sale.main";
        let special = self.special();
        let own_title = special.is_some() || (season.is_some() && !is_sale && self.book.pick("title", 2) == 0);
        let eyebrow = if special.is_some() { None } else { self.eyebrow() };
        let title = match &season {
            Some(season) if own_title => self.book.line(&format!("season.{season}.headline")),
            _ => None,
        };
        let Some(title) = title.or_else(|| self.line("headline")) else { return };
        let lead = match &season {
            Some(season) => {
                let kind = if self.book.facts.contains_key("grid") { "lead" } else { "wish" };
                let lead = self.book.text(&format!("season.{season}.{kind}"));
                let deal = if is_sale { self.book.text("common.deal_sentence") } else { None };
                [lead, deal].into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
            None => self.markup("lead").unwrap_or_default(),
        };
        let text: Option<Paragraph> = Rich::parse(&lead).ok().filter(|text| !text.is_empty());
        // In an email with news, the news comes before the button, so the button is at the end.
        let late = matches!(self.understood.purpose, Purpose::Newsletter | Purpose::Announcement)
            && self.parts.contains(&Part::Call)
            && self.layout != Layout::Letter;
        let button = if late { None } else { self.action() };
        if self.layout == Layout::Letter {
            let greeting = self.common("greeting").map(|greeting| escape(&greeting));
            let heading = Heading { id: "title".into(), text: Line::cut(&title), level: HeadingLevel::Title };
            self.blocks.push(Block::Heading(heading));
            let text = [greeting, Some(lead)].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
            self.text(&text);
            self.told();
            self.body();
            if let Some(Action { label, href }) = button {
                self.blocks.push(Block::Button(Button { id: "button".into(), label, href, emphasis: Emphasis::Primary }));
            }
            return;
        }
        let image = self.opening.take();
        let hero = Hero { id: "hero".into(), eyebrow, title: Line::cut(&title), text, image, button };
        self.blocks.push(Block::Hero(hero));
    }

    /// Returns the key of the season's own phrases for the subject, if the email is about a season with such phrases.
    pub fn special(&self) -> Option<String> {
        let season = self.understood.season.as_ref().filter(|_| self.job == "seasonal.main")?;
        let place = format!("season.{season}.subject");
        self.book.has(&place).then_some(place)
    }

    fn eyebrow(&mut self) -> Option<Label> {
        let audience = self.book.facts.get("audience").map(|audience| capital(audience));
        let audience = audience.filter(|audience| audience.chars().count() <= 40);
        let eyebrow = audience.or_else(|| {
            let place = self.place("eyebrow");
            self.book.line_within(&place, 40)
        });
        eyebrow.map(|eyebrow| Line::cut(&eyebrow))
    }

    fn body(&mut self) {
        // The opening of a letter already contains the running text.
        let said = self.blocks.iter().any(|block| block.id().as_str() == "body");
        let Some(body) = (!said).then(|| self.markup("body")).flatten() else { return };
        let text = Rich::parse(&body).unwrap_or_else(|_| Rich::plain(&body));
        self.blocks.push(Block::Text(Text { id: "body".into(), text }));
    }

    fn steps(&mut self) {
        let sets = (0..4).map(|index| self.place(&format!("points.{index}")));
        let Some(steps) = sets.into_iter().find_map(|place| self.book.all(&place)) else { return };
        if let Some(heading) = self.line("points_heading") {
            self.heading(&heading);
        }
        let item = |step: &String| Item { title: None, text: Rich::parse(step).unwrap_or_else(|_| Rich::plain(step)) };
        let list = List { id: self.id("steps"), marks: ListMarks::Numbers, items: steps.iter().map(item).collect() };
        self.blocks.push(Block::List(list));
    }

    /// Writes the code of an offer as a coupon or, without a code, writes the conditions as text.
    fn offer(&mut self) {
        if self.job.starts_with("event") || self.understood.purpose == Purpose::Newsletter && self.understood.saving.is_none() {
            return;
        }
        let is_offer = self.book.facts.contains_key("offer") || self.book.facts.contains_key("shipping");
        let code = self.book.facts.get("code").cloned();
        let counts_down = self.parts.contains(&Part::Deadline) && self.has_deadline();
        let order_by = if is_offer { None } else { self.book.text("common.order_by") };
        let period = if is_offer && !counts_down { self.book.text("common.period") } else { order_by };
        let threshold = if self.book.facts.contains_key("offer") { self.book.text("common.threshold") } else { None };
        let shipping = self.book.text("common.shipping").filter(|_| self.book.facts.contains_key("shipping"));
        match code {
            Some(code) => {
                let deal = self.book.facts.get("bare_deal").map(|deal| capital(deal));
                let title = deal.or_else(|| self.common("coupon_heading")).unwrap_or_default();
                let note = self.book.text("common.coupon_note");
                let text = [note, period, threshold].into_iter().flatten().collect::<Vec<_>>().join(" ");
                let text = Rich::parse(&text).ok().filter(|text: &Paragraph| !text.is_empty());
                let coupon = Coupon { id: "coupon".into(), title: Line::cut(&title), code: Line::cut(&code), text, button: None };
                self.blocks.push(Block::Coupon(coupon));
                self.text(&shipping.unwrap_or_default());
            }
            None => {
                let sentences = [period, threshold, shipping].into_iter().flatten().collect::<Vec<_>>();
                self.text(&sentences.join(" "));
            }
        }
    }

    /// Returns whether a date is shown in large type: in a teaser, the start; in other emails, the end. A period with a start and an end is
    /// stated in a sentence instead.
    fn has_deadline(&self) -> bool {
        let facts = &self.book.facts;
        if facts.contains_key("order_day") {
            return false;
        }
        self.begins() || (facts.contains_key("ends") && !facts.contains_key("starts"))
    }

    /// Returns whether the email is about the start of an offer or event, not its end.
    fn begins(&self) -> bool {
        self.job.ends_with(".teaser")
    }

    fn deadline(&mut self) {
        if !self.has_deadline() {
            return;
        }
        let begins = self.begins();
        let understood = self.understood;
        let day = if begins { understood.starts.or(understood.on) } else { understood.ends };
        let (Some(day), false) = (day, self.blocks.iter().any(|block| matches!(block, Block::Countdown(_)))) else { return };
        let name = if begins { "starts" } else { "ends" };
        let Some(date) = self.book.facts.get(name).cloned() else { return };
        let Some(title) = self.common(if begins { "starts_heading" } else { "ends_heading" }) else { return };
        let Ok(until) = day.to_string().parse() else { return };
        let date = match self.book.facts.get("time").filter(|_| begins) {
            Some(time) => format!("{date}, {time}"),
            None => date,
        };
        let block = Countdown { id: "deadline".into(), title: Line::cut(&title), date: Line::cut(&date), until, text: None };
        self.blocks.push(Block::Countdown(block));
    }

    /// Writes the day, time, place and price as a table of names and values.
    fn facts(&mut self) {
        // The text of an announcement already contains its days.
        let told = !self.understood.statements.is_empty() || self.understood.clause.is_some();
        if self.understood.purpose == Purpose::Announcement && self.prompt_speaks && told {
            return;
        }
        let is_range = self.understood.purpose == Purpose::Event && self.understood.on.is_none();
        let when = self.book.facts.get("when").map(|when| match self.book.facts.get("ends").filter(|_| is_range) {
            Some(ends) => format!("{} – {ends}", capital(when)),
            None => capital(when),
        });
        let venue = self.understood.venue.as_ref().map(|venue| capital(&tidy(&venue.name)));
        let price = self.book.facts.get("price").cloned();
        let starts = self.book.facts.get("starts").filter(|_| when.is_none()).map(|day| capital(day));
        let ends = self.book.facts.get("ends").filter(|_| when.is_none()).map(|day| capital(day));
        let time = self.book.facts.get("time").cloned();
        let known = [("when", when), ("starts", starts), ("ends", ends), ("time", time), ("where", venue), ("price", price)];
        let mut rows = Vec::new();
        for (name, value) in known {
            let label = self.book.label(&format!("common.label_{name}"));
            let Some(value) = value.filter(|_| !label.is_empty()) else { continue };
            rows.push(Row { cells: vec![Rich::plain(&label), Rich::plain(&value)], strong: false });
        }
        if rows.is_empty() {
            return;
        }
        let title = self.common("details_heading").map(|title| Line::cut(&title));
        self.blocks.push(Block::Table(Table { id: "details".into(), title, head: Vec::new(), rows }));
    }

    /// Writes the order from the prompt: the lines, then the total.
    fn order(&mut self) {
        let understood = self.understood;
        let format = self.format;
        let label = |name: &str| self.book.label(&format!("common.label_{name}"));
        let priced = understood.items.iter().any(|item| item.price.is_some());
        let mut rows = Vec::new();
        for item in &understood.items {
            let price = item.price.as_ref().map(|price| format.sum(price)).unwrap_or_default();
            let cells = [tidy(&item.name), item.quantity.to_string(), price];
            let cells = cells.iter().take(if priced { 3 } else { 2 }).map(|cell| Rich::plain(cell)).collect();
            rows.push(Row { cells, strong: false });
        }
        let mut head = Vec::new();
        if !rows.is_empty() {
            let names = ["item", "quantity", "amount"];
            head = names.iter().take(if priced { 3 } else { 2 }).map(|name| Line::cut(&label(name))).collect();
        }
        if let Some(total) = &understood.total {
            let width = head.len().max(2);
            let mut cells = vec![Rich::plain(&label("total"))];
            cells.resize(width - 1, Rich::plain(""));
            cells.push(Rich::plain(&format.sum(total)));
            rows.push(Row { cells, strong: true });
        }
        if rows.is_empty() {
            return;
        }
        let number = understood.order.as_ref().map(|number| format!("{} {number}", label("order")));
        let title = number.or_else(|| Some(label("order"))).filter(|title| !title.trim().is_empty());
        let table = Table { id: "order".into(), title: title.map(|title| Line::cut(&title)), head, rows };
        self.blocks.push(Block::Table(table));
    }

    fn product(&self, place: usize) -> Option<&brand::BrandProduct> {
        self.brand.products.get(place)
    }

    /// Writes the featured product, with its picture next to its text and price.
    fn featured(&mut self) {
        let Some(product) = self.featured.take().and_then(|place| self.product(place)).cloned() else { return };
        let format = self.format;
        let Some(shown) = material::product(&product, format, self.site.as_ref(), self.brand_speaks) else { return };
        self.is_featured = true;
        self.products.retain(|place| self.brand.products.get(*place) != Some(&product));
        let shown = Product { price: self.book.facts.get("price").map(|price| Line::cut(price)).or(shown.price), ..shown };
        let at_top = self.blocks.iter().any(|block| matches!(block, Block::Hero(hero) if hero.image.as_ref().map(|image| &image.src) == shown.image.as_ref().map(|image| &image.src)));
        if at_top && shown.image.is_some() {
            if let Some(price) = &shown.price {
                self.book.facts.insert("price", price.to_string());
            }
            // The prompt's description of the product takes precedence over the description on the product's page.
            let told = self.has_verbatim && !(self.understood.statements.is_empty() && self.understood.points.is_empty());
            let text = shown.text.as_ref().filter(|_| !told).map(|text| escape(text));
            let price = self.book.text("common.price");
            return self.text(&[text, price].into_iter().flatten().collect::<Vec<_>>().join(" "));
        }
        let Some(picture) = shown.image.clone() else {
            let block = Products { id: self.id("product"), title: None, products: vec![shown] };
            return self.blocks.push(Block::Products(block));
        };
        let (id, label) = (self.id("product"), self.common("product_button"));
        let part = |name: &str| format!("{id}-{name}").into();
        let mut words =
            vec![Cell::Heading(Heading { id: part("name"), text: Line::cut(&shown.name), level: HeadingLevel::Small })];
        let price = shown.price.as_ref().map(|price| format!("**{}**", escape(price)));
        let text = [shown.text.as_ref().map(|text| escape(text)), price].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
        if let Ok(text) = Rich::parse(&text)
            && !text.is_empty()
        {
            words.push(Cell::Text(Text { id: part("text"), text }));
        }
        if let Some(label) = label {
            words.push(Cell::Button(Button {
                id: part("button"),
                label: Line::cut(&label),
                href: shown.href.clone(),
                emphasis: Emphasis::Secondary,
            }));
        }
        let image = Picture { href: Some(shown.href), ..picture };
        let image = Cell::Image(Image { id: part("image"), image, caption: None, width: ImageWidth::Content });
        let columns = vec![Column { blocks: vec![image] }, Column { blocks: words }];
        self.blocks.push(Block::Columns(Columns { id, columns }));
    }

    fn products(&mut self) {
        let most = if self.layout == Layout::Showcase { SHOWCASE_PRODUCTS } else { GRID_PRODUCTS };
        let mentioned = self.understood.products.len();
        let count = most.max(mentioned).min(limits::EMAIL_PRODUCTS_MAX);
        let format = self.format;
        let label = self.book.line("common.product_button").filter(|_| self.layout != Layout::Minimal);
        let with_text = self.brand_speaks && self.layout != Layout::Showcase;
        let shown = |place: &usize| material::product(self.product(*place)?, format, self.site.as_ref(), with_text);
        let mut products: Vec<Product> = self.products.iter().filter_map(shown).take(count).collect();
        // A grid with a single product, or with an incomplete row, looks like a mistake.
        if products.is_empty() || (products.len() == 1 && mentioned == 0) {
            return;
        }
        for product in &mut products {
            product.button = label.as_ref().map(|label| Line::cut(label));
        }
        let name = match (self.is_featured, mentioned > 0) {
            (true, _) => "more_products_heading",
            (false, true) => "products_heading_mentioned",
            (false, false) => "products_heading",
        };
        let title = self.common(name).map(|title| Line::cut(&title));
        let block = Products { id: self.id("products"), title, products };
        self.blocks.push(Block::Products(block));
    }

    /// Quotes the brand's description of itself.
    fn story(&mut self) {
        let description = self.brand.description.as_ref().filter(|_| self.brand_speaks).map(|text| tidy(text));
        let Some(description) = description.filter(|text| text.split(' ').count() >= 5) else { return };
        let Some(heading) = self.common("story_heading") else { return };
        self.heading(&heading);
        self.text(&ended(&escape(&description)));
    }

    fn knowledge(&mut self) {
        // Tips on a different topic than the prompt's are not useful.
        if self.job == "tips.main" {
            self.excerpts.retain(|excerpt| excerpt.fits);
        }
        let about_it = matches!(self.job, "newsletter.main" | "tips.main" | "general.knowledge" | "general.story");
        let count = if about_it { NEWSLETTER_EXCERPTS } else { 1 };
        let count = count.min(self.excerpts.len());
        for excerpt in self.excerpts.drain(..count).collect::<Vec<_>>() {
            self.heading(&excerpt.title);
            let more = excerpt.url.and_then(material::link).zip(self.common("read_more"));
            let more = more.map(|(link, label)| format!("[{}]({link})", escape(&label)));
            let text = [Some(escape(&excerpt.text)), more].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
            self.text(&text);
        }
    }

    fn praise(&mut self) {
        let Some(praise) = self.understood.praise.clone().filter(|_| self.prompt_speaks) else { return };
        let author = praise.author.map(|author| Line::cut(&tidy(&author)));
        let text = Rich::plain(&tidy(&praise.text));
        let block = Quote { id: self.id("quote"), text, author, role: None, image: None, stars: None };
        self.blocks.push(Block::Quote(block));
    }

    fn further_pictures(&mut self) {
        for image in std::mem::take(&mut self.pictures) {
            let block = Image { id: self.id("image"), image, caption: None, width: ImageWidth::Content };
            self.blocks.push(Block::Image(block));
        }
    }

    fn call(&mut self) {
        // A second button directly after the opening would only repeat the first button.
        let has_button = self.blocks.iter().any(super::has_button);
        if has_button && self.blocks.len() < 4 {
            return;
        }
        if let Some(Action { label, href }) = self.action() {
            let block = Button { id: self.id("button"), label, href, emphasis: Emphasis::Primary };
            self.blocks.push(Block::Button(block));
        }
    }

    fn contact(&mut self) {
        if let Some(text) = self.book.text("common.contact") {
            self.text(&text);
        }
    }

    fn closing(&mut self) {
        self.is_signed = true;
        let alone = self.brand.voice.person == Some(brand::BrandPerson::I);
        let signature = if alone { "signature_one" } else { "signature" };
        let (Some(closing), Some(signature)) = (self.common("closing"), self.common(signature)) else { return };
        self.text(&format!("{}\n{}", escape(&closing), escape(&signature)));
    }

    fn social(&mut self) {
        self.sign_letter();
        let links = material::social(self.brand);
        let said = self.blocks.iter().any(|block| matches!(block, Block::Social(_)));
        if links.is_empty() || said {
            return;
        }
        let title = self.common("social_heading").map(|title| Line::cut(&title));
        self.blocks.push(Block::Social(Social { id: "social".into(), title, links }));
    }

    /// Writes the signature of a letter.
    fn sign_letter(&mut self) {
        if self.layout == Layout::Letter && !self.is_signed {
            self.closing();
        }
    }

    /// Writes the legally required footer.
    pub fn footer(&mut self) {
        self.sign_letter();
        let footer = frame::footer(self.brand, self.site.as_ref(), &mut self.book, self.understood.purpose);
        self.blocks.push(Block::Footer(footer));
    }

    pub fn header(&mut self) {
        let header = frame::header(self.brand, self.site.as_ref(), self.layout);
        self.blocks.push(Block::Header(header));
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
        "tips.main" => "newsletter.main",
        _ if job.ends_with(".main") => "announcement.main",
        _ => return own,
    };
    let subject = format!("{job}.subject");
    if name == "headline" && book.has(&subject) { subject } else { format!("{kind}.{name}") }
}

/// Returns whether a picture at the top suits this email.
pub fn shows_picture(job: &str, layout: Layout, language: Language) -> bool {
    layout != Layout::Letter && (recipe::opens_with_picture(job) || !language.is_complete())
}
