//! The built-in composer: writes complete emails from a brief and the facts about a brand, without a language model.
//!
//! The composer is deterministic: the same inputs produce the same email. It does not receive the prompt. The facts in an email come from
//! the brief, the brand, and the pages and knowledge that the caller provides. The composer prints the statements in the brief's words, and
//! writes dates, times and prices in the format of the email's language. It returns the parts of the brief that it could not use. It writes
//! complete copy in seven languages. For Arabic and Hebrew, it has a small set of phrases.
//!
//! The composer consists of pure functions that use no store, network or clock.

mod address_form;
mod bare;
mod buttons;
mod completed;
mod content;
mod details;
pub mod edit;
mod facts;
mod format;
mod frame;
mod goals;
mod groups;
mod headlines;
mod knowledge;
mod labels;
mod language;
mod lead;
mod marks;
mod material;
mod phrases;
mod plan;
mod prices;
mod printed;
mod purposes;
mod rules;
mod sections;
mod stories;
#[cfg(test)]
mod tests;
mod text;
mod tokens;
mod venue;
mod voice;

pub use knowledge::Knowledge;
pub use language::Language;
pub use material::alt;
pub use plan::{Plan, Slot};

use std::collections::HashSet;

use jiff::civil::Date;

use super::brief::{Brief, FactKind, Goal, Part};
use crate::base::locale::LanguageTag;
use crate::features::emails::document::{
    Block, Direction, Email, Footer, Header, Layout, Link, Picture, Product, Purpose, Style, VERSION,
};
use crate::features::emails::merge_words;
use crate::features::emails::theme;
use crate::features::projects::brand::Brand;
use crate::vocab::limits;
use content::Content;
use facts::Source;
use goals::{Pictures, Shape};
use language::Bank;
use phrases::{Phrasebook, mix};
use sections::Writer;
use text::tidy;
use voice::Voice;

/// The input of the composer for an email or a series.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub brief: &'a Brief,
    /// The pictures to use, most important first.
    pub images: &'a [Picture],
    /// An email whose style is reused. If the brief has no purpose, the purpose of this email is used.
    pub reference: Option<&'a Email>,
    /// The brand's home page: the target of the main button if neither the brief nor the products give a better one.
    pub site: Option<&'a str>,
    /// The seed that determines free choices, such as phrases and layout.
    pub seed: u64,
    /// The date of the prompt. It determines which dates need a year, and which dates can be written as a weekday or "today".
    pub today: Date,
}

/// An email, with the parts of the brief that it omits and the composer's warnings.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    pub email: Email,
    /// The parts of the brief that the email does not contain.
    pub unused: Vec<Part>,
    /// The unused parts whose words are not in the email's language.
    pub untranslated: Vec<Part>,
    /// Warnings about what the user should check before sending, such as a missing link.
    pub warnings: Vec<String>,
}

/// Plans an email or a series. `count` is the number of emails that the caller requests. If absent, the brief determines the number.
pub fn plan(request: &Request<'_>, brand: &Brand, has_knowledge: bool, language: &LanguageTag, count: Option<usize>) -> Plan {
    let written = written_in(language);
    let bank = Bank::of(written);
    let brief = completed::completed(&merge_words::hide(request.brief), written);
    let request = &Request { brief: &brief, ..*request };
    let content = Content::of(request.brief, brand, written, bank.format(None), request.today);
    let goal = goal(request, &content);
    let slots = plan::slots(goal, &content, brand, has_knowledge, count);
    let name = bank.phrases(&format!("series.{}", plan::key(goals::shape(goal).purpose))).first().cloned();
    Plan { name: name.unwrap_or_else(|| brand.name.clone().unwrap_or_default()), slots }
}

/// Writes one email of a plan in one language. A `place` past the end of the plan refers to its last slot.
pub fn compose(
    request: &Request<'_>,
    brand: &Brand,
    knowledge: &[Knowledge<'_>],
    plan: &Plan,
    place: usize,
    language: &LanguageTag,
) -> Composed {
    let composed = with_draft(request, brand, knowledge, plan, place, language, |draft| draft.compose());
    Composed {
        email: merge_words::show(&composed.email),
        unused: merge_words::show(&composed.unused),
        untranslated: merge_words::show(&composed.untranslated),
        warnings: composed.warnings,
    }
}

/// Returns the warnings about an email of a plan. A user may have edited the email since the composer wrote it.
pub fn notes(request: &Request<'_>, brand: &Brand, plan: &Plan, place: usize, email: &Email) -> Vec<String> {
    with_draft(request, brand, &[], plan, place, &email.language, |draft| draft.warnings(email))
}

fn with_draft<T>(
    request: &Request<'_>,
    brand: &Brand,
    knowledge: &[Knowledge<'_>],
    plan: &Plan,
    place: usize,
    language: &LanguageTag,
    work: impl FnOnce(&Draft<'_>) -> T,
) -> T {
    let place = place.min(plan.slots.len().saturating_sub(1));
    let written = written_in(language);
    let brief = completed::completed(&merge_words::hide(request.brief), written);
    let request = &Request { brief: &brief, ..*request };
    let region = region(language, written, brand, request.brief);
    let format = Bank::of(written).format(region.as_deref());
    let content = Content::of(request.brief, brand, written, format, request.today);
    let goal = goal(request, &content);
    let shape = goals::shape(goal);
    let job = match plan.slots.get(place) {
        Some(slot) if written.is_complete() => slot.job.clone(),
        Some(_) | None if written.is_complete() => format!("{}.main", shape.key),
        Some(_) | None => "plain".to_owned(),
    };
    let has_started = plan.slots[..place.min(plan.slots.len())].iter().any(|slot| slot.job.ends_with(".teaser"));
    let draft = Draft {
        request,
        brand,
        knowledge,
        content: &content,
        goal,
        shape,
        language,
        written,
        region,
        job: &job,
        place,
        has_started,
    };
    work(&draft)
}

/// Returns the header and the footer of the brand's emails in a language.
pub fn frame(brand: &Brand, site: Option<&str>, language: &LanguageTag, layout: Layout, purpose: Purpose) -> (Header, Footer) {
    // Only the header and the footer are needed, so the brief is empty.
    let brief = Brief::empty(goals::of(purpose), *language);
    let request = Request { brief: &brief, images: &[], reference: None, site, seed: 0, today: Date::ZERO };
    let plan = Plan { name: String::new(), slots: Vec::new() };
    let blocks = compose(&request, brand, &[], &plan, 0, language).email.blocks;
    let header = blocks.iter().find_map(|block| if let Block::Header(header) = block { Some(header.clone()) } else { None });
    let footer = blocks.iter().find_map(|block| if let Block::Footer(footer) = block { Some(footer.clone()) } else { None });
    let header = header.expect("the composer starts every email with a header");
    (Header { logo: material::logo(brand, layout), ..header }, footer.expect("the composer ends every email with a footer"))
}

/// Returns the brand's products in the form that documents use, without descriptions.
pub fn products(brand: &Brand, site: Option<&str>, language: &LanguageTag) -> Vec<Product> {
    let (format, site) = (Bank::of(written_in(language)).format(None), site.and_then(material::link));
    let products = brand.products.iter().take(limits::EMAIL_PRODUCTS_MAX);
    let products = products.filter_map(|product| material::product(product, format, site.as_ref(), false));
    products.map(|product| material::sized_product(brand, product)).collect()
}

/// Returns the goal of the email: the brief's goal or, if the brief has none, the goal that fits the reference. A sale or seasonal email
/// that starts with news and has a conditional offer is written as a launch.
fn goal(request: &Request<'_>, content: &Content<'_>) -> Goal {
    match (request.brief.purpose, request.reference) {
        (Goal::Sale | Goal::Seasonal, _) if content.is_news_with_offer() => Goal::Launch,
        (Goal::Unclear, Some(reference)) => goals::of(reference.purpose),
        (goal, _) => goal,
    }
}

/// Returns the language of the phrases for a tag: the tag's language, or English if there are no phrases in that language.
fn written_in(language: &LanguageTag) -> Language {
    Language::of(language).unwrap_or(Language::En)
}

/// Returns the region whose spelling and formats to use: the tag's region or, in English, `GB` if the brand has a price in pounds or the
/// brief writes the day before the month.
fn region(language: &LanguageTag, written: Language, brand: &Brand, brief: &Brief) -> Option<String> {
    let region = language.as_str().split('-').skip(1).find(|part| part.len() == 2).map(str::to_owned);
    let in_pounds = |product: &crate::features::projects::brand::BrandProduct| {
        product.currency.as_deref() == Some("GBP") || product.price.as_deref().is_some_and(|price| price.contains('£'))
    };
    let days = brief.facts.iter().filter(|fact| fact.kind == FactKind::Date).map(|fact| fact.text.as_str());
    let is_british = || brand.products.iter().any(in_pounds) || days.clone().any(is_day_first);
    region.or_else(|| (written == Language::En && is_british()).then(|| "GB".to_owned()))
}

/// Returns whether a date has its day before its month: "3 December".
fn is_day_first(date: &str) -> bool {
    let rest = date.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = ["st ", "nd ", "rd ", "th ", " "].into_iter().find_map(|end| rest.strip_prefix(end));
    rest.is_some_and(|rest| rest.trim_start_matches("of ").starts_with(|c: char| c.is_ascii_uppercase()))
}

/// The inputs for one email.
struct Draft<'a> {
    request: &'a Request<'a>,
    brand: &'a Brand,
    knowledge: &'a [Knowledge<'a>],
    content: &'a Content<'a>,
    goal: Goal,
    shape: Shape,
    /// The requested language.
    language: &'a LanguageTag,
    /// The language of the phrases.
    written: Language,
    region: Option<String>,
    job: &'a str,
    place: usize,
    /// Whether a teaser precedes this email in the series.
    has_started: bool,
}

impl Draft<'_> {
    fn compose(&self) -> Composed {
        let layout = self.layout();
        let mut writer = self.writer(layout);
        let subject = self.subject(&mut writer.book);
        let title = self.title(&mut writer.book, &subject);
        writer.write(&title);
        let preheader = self.preheader(&mut writer, &subject, &title);
        let mut blocks = writer.blocks;
        if blocks.len() > limits::EMAIL_BLOCKS_MAX {
            let footer = blocks.pop();
            blocks.truncate(limits::EMAIL_BLOCKS_MAX - 1);
            blocks.extend(footer);
        }
        let language = if Language::of(self.language).is_some() { *self.language } else { self.written.tag() };
        let reference = self.request.reference.map(|reference| reference.style.clone()).unwrap_or_default();
        let rules = &self.content.rules;
        let style = Style { layout: Some(layout), primary: rules.color.or(reference.primary), ..reference };
        let (version, direction, purpose) = (VERSION, Direction::of(&language), self.shape.purpose);
        let email = Email { version, language, direction, purpose, subject, preheader, style, blocks };
        let unused: Vec<Part> = if self.job.starts_with("general.") {
            Vec::new()
        } else {
            self.content.missing(&printed::email(&email), &printed::links(&email))
        };
        let untranslated = unused.iter().filter(|part| self.content.is_foreign(&part.text)).cloned().collect();
        let warnings = self.warnings(&email);
        Composed { email, unused, untranslated, warnings }
    }

    /// Returns the seed. All emails in a series share it in every language, because a series has one layout.
    fn seed(&self) -> u64 {
        mix(self.request.seed, &self.content.topic())
    }

    fn slot_seed(&self) -> u64 {
        mix(self.seed(), &format!("{} {}", self.job, self.place))
    }

    fn layout(&self) -> Layout {
        let asked = self.content.rules.layout.or(self.request.reference.and_then(|reference| reference.style.layout));
        if let Some(layout) = asked {
            return layout;
        }
        let named = self.content.first(FactKind::Product).is_some();
        let has_picture = !self.request.images.is_empty() || self.opening_picture(named.then_some(0)).is_some();
        let all = self.shape.layouts;
        // A letter has no picture, so an announcement is not a letter if the brand has a picture of the announcement's subject.
        let is_plain = |layout: &Layout| *layout == Layout::Letter && has_picture && !self.shape.sells;
        let fits = |layout: &Layout| {
            (has_picture || !goals::needs_picture(*layout))
                && (*layout != Layout::Midnight || theme::is_dark(self.brand))
                && !is_plain(layout)
        };
        let fitting: Vec<Layout> = all.iter().copied().filter(fits).collect();
        fitting[(mix(self.seed(), "layout") % fitting.len().max(1) as u64) as usize]
    }

    fn writer(&self, layout: Layout) -> Writer<'_> {
        let content = self.content;
        let featured = self.featured();
        let product = featured.and_then(|place| self.brand.products.get(place)).map(|product| tidy(&product.name));
        let product = product.or_else(|| content.only(FactKind::Product).map(|fact| tidy(&fact.text)));
        let products = self.products();
        let source = Source {
            content,
            brand: self.brand,
            shape: self.shape,
            goal: self.goal,
            has_grid: products.len() > 1,
            has_started: self.has_started,
            product: product.as_deref(),
        };
        let voice = Voice::of(self.brand, &content.rules, self.written);
        let excerpts = knowledge::excerpts(self.knowledge, self.written, &content.topic(), self.slot_seed());
        let mut facts = source.facts();
        // The subject of an email that quotes the brand's pages names the first page, unless there is an offer.
        let quotes = self.job == "general.knowledge" || self.job == "newsletter.main" && content.is_thin();
        let names_page = quotes && content.rules.words_max.is_none() && !facts.contains_key("offer");
        if let Some(first) = excerpts.first().filter(|_| names_page) {
            facts.entry("story").or_insert_with(|| first.title.clone());
        }
        let pick = products.first().filter(|_| products.len() > 1).map(|place| tidy(&self.brand.products[*place].name));
        facts.extend(pick.map(|pick| ("pick", pick)));
        let mut book = Phrasebook::new(self.written, self.region.as_deref(), voice, self.slot_seed(), facts);
        book.season = source.season();
        book.rules = content.rules.clone();
        book.avoided.avoided = self.brand.voice.avoid.iter().map(|word| word.to_lowercase()).collect();
        let site = self.request.site.and_then(material::link);
        let (opening, pictures) = self.pictures(layout, featured);
        Writer {
            book,
            content,
            brand: self.brand,
            goal: self.goal,
            shape: self.shape,
            job: self.job,
            layout,
            products,
            featured,
            excerpts,
            opening,
            pictures,
            target: self.target(featured),
            site,
            brand_speaks: material::speaks(self.brand, self.language) && Language::of(self.language).is_some(),
            lean: content.rules.words_max.is_some(),
            blocks: Vec::new(),
            title: String::new(),
            said: String::new(),
            statements: content.statements.clone(),
            shown_pictures: HashSet::new(),
            has_button: false,
            is_stated: false,
        }
    }

    /// Returns the index of the product that the email is about: the named product or, in a spotlight, the next product of the range.
    fn featured(&self) -> Option<usize> {
        let named = if let [card] = self.content.cards.as_slice() { Some(card.product) } else { None };
        let spotlight = self.job == "general.spotlight" && !self.brand.products.is_empty();
        let next = || (mix(self.seed(), "products") as usize).wrapping_add(self.place) % self.brand.products.len();
        if spotlight { named.filter(|_| self.place == 0).or_else(|| Some(next())) } else { named }
    }

    /// Returns the indexes of the products for a grid, starting at a position that the seed determines. If the brief names products of the
    /// brand, an email has a grid only if its job is `general.picks` or the brief prescribes a number of products. An offer for lamps shows
    /// only lamps. An email with a lot of text shows only products that have an image and suit its topic; the topic does not matter if the
    /// email is about the whole brand or range.
    fn products(&self) -> Vec<usize> {
        let content = self.content;
        let rules = &content.rules;
        let scope = content.scope();
        let count = self.brand.products.len().min(limits::COMPOSER_PRODUCTS_MAX);
        let fills = self.shape.fills && content.cards.is_empty() && content.stories.is_empty();
        // A sale with statements is filled with products only if it has a general saving or free delivery, because any other offer may
        // apply to only some products.
        let delivers = content.brief.offer.as_ref().is_some_and(|offer| offer.free_delivery);
        let fills = fills && (self.goal != Goal::Sale || content.is_thin() || content.saving().is_some() || delivers);
        // A price in the brief belongs to the product or event that the brief names. Other products would distract from it.
        let fills = fills && content.first(FactKind::Price).is_none();
        let fills = fills || self.job == "general.picks" || rules.products.is_some();
        if count == 0 || rules.no_products || rules.words_max.is_some() || !fills {
            return Vec::new();
        }
        let first = mix(self.slot_seed(), "products") as usize % count;
        let mut order: Vec<usize> = (0..count).map(|step| (first + step) % count).collect();
        let is_open = content.says_little() || self.job == "general.picks" || rules.products.is_some();
        let suits_all = goals::is_about_brand(self.goal) || content.is_for_everything();
        let topic = content.topic();
        let kinds = self.kinds();
        order.retain(|place| {
            let product = &self.brand.products[*place];
            match &scope {
                Some(scope) => material::is_about(product, scope),
                None if !kinds.is_empty() => kinds.contains(place),
                None => is_open || product.image.is_some() && (suits_all || material::is_named(product, &topic)),
            }
        });
        // A grid needs images, so products with an image come first.
        order.sort_by_key(|place| self.brand.products[*place].image.is_none());
        order
    }

    /// Returns the indexes of the brand's products of the kind that the email names: the clay teapot for "our teapots". Empty if the email
    /// names no such kind, or is about the brand or all its products.
    fn kinds(&self) -> Vec<usize> {
        let suits_all = goals::is_about_brand(self.goal) || self.content.is_for_everything();
        let is_free = self.job == "general.picks" || self.content.rules.products.is_some();
        if suits_all || is_free { Vec::new() } else { material::of_kind(self.brand, &self.content.topic()) }
    }

    /// Returns the indexes of the products that the email shows as cards, because the brief names them.
    fn cards(&self) -> Vec<usize> {
        let shows = self.shape.sells && !self.content.rules.no_products;
        let cards = self.content.cards.iter().filter(|card| card.shown && shows);
        cards.map(|card| card.product).filter(|place| *place < self.brand.products.len()).collect()
    }

    /// Returns the picture for the top of the email, and the request's other pictures.
    fn pictures(&self, layout: Layout, featured: Option<usize>) -> (Option<Picture>, Vec<Picture>) {
        if self.content.rules.no_images {
            return (None, Vec::new());
        }
        let mut given = self.request.images.iter().take(limits::COMPOSER_LIST_MAX).cloned();
        if layout == Layout::Letter {
            return (None, given.collect());
        }
        if let Some(first) = given.next() {
            return (Some(first), given.collect());
        }
        (self.opening_picture(featured), Vec::new())
    }

    /// Returns one of the brand's pictures for the top of the email: a picture of what the email names or, if it names nothing, any
    /// picture.
    fn opening_picture(&self, featured: Option<usize>) -> Option<Picture> {
        let brief = self.content.brief;
        let suits_all = goals::is_about_brand(self.goal) || self.content.is_for_everything();
        let names = !(self.content.says_little() || suits_all) || featured.is_some() || self.content.scope().is_some();
        let is_general = self.job.starts_with("general.");
        let topic = self.content.topic();
        // The pictures of the products in the grid or on cards are not shown again at the top.
        let cards: HashSet<String> = self
            .products()
            .into_iter()
            .chain(self.cards())
            .filter_map(|place| self.brand.products[place].image.clone())
            .collect();
        match self.shape.pictures {
            Pictures::None => None,
            _ if self.content.rules.no_images || !brief.stories.is_empty() => None,
            Pictures::Any if !names || is_general => material::opening(self.brand, self.slot_seed(), self.job, suits_all),
            Pictures::Any | Pictures::Named if featured.is_some() && self.shape.sells => None,
            Pictures::Any | Pictures::Named => material::fitting(self.brand, &topic, &cards)
                .or_else(|| material::picture_of_kind(self.brand, &self.content.title_words()))
                .filter(|picture| !cards.contains(picture.src.as_str())),
        }
    }

    /// Returns the target of the main button: the first available of the brief's link, the product's page, the brief's contact, the home
    /// page, and the brand's email address. The brief's contact counts only in emails that recipients usually reply to. In an email that
    /// asks for reservations, the brand's email address or phone number comes before the home page.
    fn target(&self, featured: Option<usize>) -> Option<Link> {
        let brief = self.content.brief;
        let links =
            brief.facts.iter().filter(|fact| fact.kind == FactKind::Link && fact.story.is_none()).map(|fact| fact.text.as_str());
        let given = brief.cta.iter().flat_map(|cta| cta.link.as_deref()).chain(links).find_map(material::link);
        // An invitation or a launch is not about an existing product, even if the product is of the kind that the brief names.
        let is_new = matches!(self.goal, Goal::Event | Goal::Webinar | Goal::Waitlist | Goal::Launch);
        let only = || match (self.content.cards.as_slice(), self.kinds().as_slice()) {
            ([], [only]) if !is_new => Some(*only),
            _ => None,
        };
        let page =
            featured.or_else(only).and_then(|place| self.brand.products.get(place)?.url.as_deref()).and_then(material::link);
        // In a win-back offer for the whole range, the main button leads to the shop, and each product card leads to the product's page.
        let for_all = self.job == "winback.main" && self.content.saving().is_some() && self.content.scope_words().is_none();
        let page = page.filter(|_| (self.shape.sells && !for_all) || self.content.announces_product(self.shape));
        // Recipients reply to emails such as invitations and surveys, so a contact in the brief is a better target than the home page.
        let writes =
            matches!(self.goal, Goal::Hiring | Goal::Event | Goal::Webinar | Goal::Waitlist | Goal::Review | Goal::Survey)
                || self.goal == Goal::Voucher;
        let contact = self.content.first(FactKind::Contact).filter(|_| writes).and_then(|fact| material::contact(&fact.text));
        let site = self.request.site.and_then(material::link);
        let mail = self.brand.contact.email.as_deref().and_then(material::contact);
        let help = mail.clone().filter(|_| self.job == "general.help");
        let phone = self.brand.contact.phone.as_deref().and_then(material::contact);
        // Guests cannot reserve a place on the home page, so in an email that asks for reservations, the brand's email address or phone
        // number comes first.
        let invites = matches!(self.goal, Goal::Event | Goal::Webinar);
        let is_labeled = brief.cta.as_ref().is_some_and(|cta| cta.label.is_some());
        let books = (self.asks_to_reserve() || invites) && !self.content.needs_no_booking();
        let reply = mail.clone().or(phone).filter(|_| !is_labeled && books);
        // A home page is rarely about the event. Without a better target, the invitation has no button, and a warning asks for one.
        let home = site.filter(|_| !invites || is_labeled);
        let mail = mail.filter(|_| !invites || books);
        given.or(page).or(contact).or(help).or(reply).or(home).or(mail)
    }

    /// Returns whether a statement asks the recipients to reserve, register or book, and the email has a button.
    fn asks_to_reserve(&self) -> bool {
        let bank = Bank::of(self.written);
        let asks = |at: &usize| {
            let action = bank.action(&text::folded(&self.content.text(*at)));
            action.is_some_and(|place| {
                ["action.reserve.button", "action.register.button", "action.book.button"].contains(&place.as_str())
            })
        };
        self.shape.calls && self.content.statements.iter().any(asks)
    }

    /// Returns the brand's name, the URL of its home page if it has no name, or a dash if both are missing. The subject and the preheader
    /// consist of this text if no phrase fits.
    fn name(&self) -> String {
        let name = self.brand.name.as_deref().map(tidy).filter(|name| !name.is_empty());
        name.or_else(|| self.request.site.map(tidy)).unwrap_or_else(|| "—".to_owned())
    }

    /// Returns warnings about what the user should check before sending.
    fn warnings(&self, email: &Email) -> Vec<String> {
        let (brief, language) = (self.content.brief, self.language);
        let mut warnings = Vec::new();
        let mut warn = |applies: bool, text: String| warnings.extend(applies.then_some(text));
        warn(
            Language::of(language).is_none(),
            format!(
                "The composer does not write in {language}, so the email is in English. Configure a language model to write in {language}."
            ),
        );
        let written = self.written.english_name();
        warn(
            Language::of(language).is_some() && !self.written.is_complete(),
            format!(
                "In {written}, the composer has only a small set of phrases around the brand's own texts. Review the email before sending."
            ),
        );
        warn(
            brief.purpose == Goal::Unclear && self.request.reference.is_none(),
            "The prompt does not say what the email is for. Add its purpose.".to_owned(),
        );
        let needs_page = matches!(
            self.goal,
            Goal::Cart | Goal::Event | Goal::Webinar | Goal::Review | Goal::Survey | Goal::Receipt | Goal::Referral
        );
        let has_contact = self.content.first(FactKind::Contact).is_some();
        let needs_page = needs_page || !has_contact && self.asks_to_reserve();
        let label = brief.cta.as_ref().is_some_and(|cta| cta.label.is_some());
        let to_site = self.target(self.featured()) == self.request.site.and_then(material::link);
        let has_button = email.blocks.iter().any(has_button);
        warn(
            (needs_page || label) && to_site && has_button,
            "The button leads to the brand's home page. Set a more specific link if there is one.".to_owned(),
        );
        warn(
            self.shape.calls && !has_button && !self.content.needs_no_booking(),
            "The email has no button. Add a button with a link.".to_owned(),
        );
        if let Some(max) = self.content.rules.words_max {
            let count = printed::words(&email.blocks);
            warn(count > max, format!("The email has {count} words, but the limit is {max}. Remove facts or raise the limit."));
        }
        warnings
    }
}

/// Returns whether a block is a button or a hero with a button.
fn has_button(block: &Block) -> bool {
    match block {
        Block::Hero(hero) => hero.button.is_some(),
        Block::Button(_) => true,
        _ => false,
    }
}
