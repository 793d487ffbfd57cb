//! The built-in composer: writes complete emails from a prompt and the facts about a brand, without a language model.
//!
//! The composer is deterministic: the same brief, brand and texts give the same email. An email contains only facts that the prompt or the
//! brand states; the composer never invents discounts, dates, prices, quotes or deadlines. It understands prompts and writes complete copy
//! in seven languages; for Arabic and Hebrew, it has a small set of phrases that it combines with the brand's own texts.
//!
//! The composer consists of pure functions that use no store, network or clock.

pub mod edit;
mod facts;
mod format;
mod frame;
mod knowledge;
mod language;
mod lexicon;
mod material;
mod phrases;
mod plan;
mod recipe;
mod sections;
#[cfg(test)]
mod tests;
mod tokens;
mod understand;
mod voice;

pub use knowledge::Knowledge;
pub use language::Language;
pub use plan::{Plan, Slot};

use jiff::civil::Date;

use crate::base::locale::LanguageTag;
use crate::features::emails::document::{
    Direction, Email, Footer, Header, Layout, Line, Link, Picture, Product, Purpose, Style, VERSION,
};
use crate::features::projects::brand::Brand;
use crate::vocab::limits;
use facts::Source;
use phrases::{Phrasebook, mix};
use sections::Writer;
use tokens::Tokens;
use understand::{ParsedPrompt, Scope};
use voice::Voice;

/// The input for an email or a series.
#[derive(Clone, Debug)]
pub struct Brief<'a> {
    /// The request in the user's words, in any of the seven languages.
    pub prompt: &'a str,
    /// The pictures to use, most important first.
    pub images: &'a [Picture],
    /// An email whose purpose and theme to reuse.
    pub reference: Option<&'a Email>,
    /// The brand's home page, which is the target of buttons if the prompt gives no link.
    pub site: Option<&'a str>,
    /// The seed that determines free choices, such as phrases, arrangement and layout.
    pub seed: u64,
    /// The day on which the prompt was written, from which "this Friday" is counted.
    pub today: Date,
}

/// An email and its warnings.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    pub email: Email,
    /// Warnings about requests that the composer could not meet, and about its guesses.
    pub warnings: Vec<String>,
}

/// The maximum length of a subject. Email clients cut longer subjects.
const SUBJECT_CHARACTERS_MAX: usize = 60;
/// The number of preheader characters that email clients show.
const PREHEADER_CHARACTERS_MAX: usize = 110;
const PREHEADER_CHARACTERS_MIN: usize = 40;

/// Returns the default language: the language that the prompt requests, otherwise the brand's language, otherwise the prompt's language.
pub fn language(prompt: &str, brand: &Brand, today: Date) -> LanguageTag {
    let understood = understand::parse_prompt(prompt, brand, today);
    let asked = understood.languages.first().map(|language| language.tag());
    let of_brand = || brand.languages.first().and_then(|tag| LanguageTag::parse(tag).ok());
    asked.or_else(of_brand).unwrap_or_else(|| understood.language.tag())
}

/// Plans an email or a series. `count` is the number of emails that the caller requests; if absent, the prompt determines the number.
pub fn plan(brief: &Brief<'_>, brand: &Brand, has_knowledge: bool, language: &LanguageTag, count: Option<usize>) -> Plan {
    let understood = understand(brief, brand);
    let slots = plan::slots(&understood, brand, has_knowledge, count, brief.today);
    let written = written_in(language);
    let bank = language::Bank::of(written);
    let place = format!("series.{}", plan::key(understood.purpose));
    let name = bank.phrases(&place).first().cloned();
    Plan { name: name.unwrap_or_else(|| brand.name.clone().unwrap_or_default()), slots }
}

/// Writes one email of a plan in one language. A slot beyond the plan is treated as the last slot.
pub fn compose(
    brief: &Brief<'_>,
    brand: &Brand,
    knowledge: &[Knowledge<'_>],
    plan: &Plan,
    place: usize,
    language: &LanguageTag,
) -> Composed {
    compose_with(brief, brand, knowledge, plan, place, language, EditWishes::default())
}

/// The changes to the brief that an edit requests.
#[derive(Clone, Copy, Debug, Default)]
struct EditWishes {
    formal: Option<bool>,
}

fn compose_with(
    brief: &Brief<'_>,
    brand: &Brand,
    knowledge: &[Knowledge<'_>],
    plan: &Plan,
    place: usize,
    language: &LanguageTag,
    wishes: EditWishes,
) -> Composed {
    let mut understood = understand(brief, brand);
    understood.formal = wishes.formal.or(understood.formal);
    let place = place.min(plan.slots.len().saturating_sub(1));
    let written = written_in(language);
    let job = match plan.slots.get(place) {
        Some(slot) if written.is_complete() => slot.job.clone(),
        Some(_) | None if written.is_complete() => format!("{}.main", plan::key(understood.purpose)),
        Some(_) | None => "plain".to_owned(),
    };
    let teased = plan.slots[..place.min(plan.slots.len())].iter().any(|slot| slot.job.ends_with(".teaser"));
    let draft =
        Draft { brief, brand, knowledge, understood: &understood, language, written, job: &job, place, has_started: teased };
    let email = draft.email();
    let warnings = draft.warnings(&email);
    Composed { email, warnings }
}

fn understand(brief: &Brief<'_>, brand: &Brand) -> ParsedPrompt {
    let mut understood = understand::parse_prompt(brief.prompt, brand, brief.today);
    if let Some(reference) = brief.reference
        && brief.prompt.split_whitespace().count() < REMIX_WORDS
    {
        understood.purpose = reference.purpose;
    }
    understood
}

/// The number of words below which a prompt with a reference describes a change to the reference instead of a purpose.
const REMIX_WORDS: usize = 4;

/// Returns the language of the phrases for a tag: the tag's language, or English if there are no phrases in that language.
/// Returns the header and the footer of the brand's emails in a language.
pub fn frame(brand: &Brand, site: Option<&str>, language: &LanguageTag, layout: Layout, purpose: Purpose) -> (Header, Footer) {
    let (language, site) = (written_in(language), site.and_then(material::link));
    let name = brand.name.as_deref().map(facts::without_legal_form).or(site.as_ref().map(Link::as_str)).unwrap_or_default();
    let facts = [("brand", name.to_owned())].into();
    let voice = Voice::of(brand, &understand::parse_prompt("", brand, Date::ZERO), language);
    let mut book = Phrasebook::new(language, None, voice, 0, facts);
    let footer = frame::footer(brand, site.as_ref(), &mut book, purpose);
    (frame::header(brand, site.as_ref(), layout), footer)
}

/// Returns the brand's products in the form that documents use, without descriptions.
pub fn products(brand: &Brand, site: Option<&str>, language: &LanguageTag) -> Vec<Product> {
    let (format, site) = (language::Bank::of(written_in(language)).format(None), site.and_then(material::link));
    let products = brand.products.iter().take(limits::EMAIL_PRODUCTS_MAX);
    products.filter_map(|product| material::product(product, format, site.as_ref(), false)).collect()
}

fn written_in(language: &LanguageTag) -> Language {
    Language::of(language).unwrap_or(Language::En)
}

/// The inputs of one email.
struct Draft<'a> {
    brief: &'a Brief<'a>,
    brand: &'a Brand,
    knowledge: &'a [Knowledge<'a>],
    understood: &'a ParsedPrompt,
    /// The requested language.
    language: &'a LanguageTag,
    /// The language of the phrases.
    written: Language,
    job: &'a str,
    place: usize,
    /// Whether an earlier email of the series has announced the start.
    has_started: bool,
}

impl Draft<'_> {
    fn email(&self) -> Email {
        let layout = self.layout();
        let mut writer = self.writer(layout);
        let special = writer.special();
        let subject = self.subject(&mut writer.book, special.as_deref());
        let preheader = self.preheader(&mut writer.book, special.as_deref());
        writer.header();
        for part in writer.parts {
            writer.write(*part);
        }
        writer.footer();
        let mut blocks = writer.blocks;
        if blocks.len() > limits::EMAIL_BLOCKS_MAX {
            let footer = blocks.pop();
            blocks.truncate(limits::EMAIL_BLOCKS_MAX - 1);
            blocks.extend(footer);
        }
        let tag = self.tag();
        let reference = self.brief.reference.map(|reference| reference.style.clone()).unwrap_or_default();
        let style = Style { layout: Some(layout), primary: self.understood.color.or(reference.primary), ..reference };
        let direction = Direction::of(&tag);
        Email { version: VERSION, language: tag, direction, purpose: self.understood.purpose, subject, preheader, style, blocks }
    }

    /// Returns the tag of the language that the phrases are in: the requested tag with its region, or the tag of the fallback language.
    fn tag(&self) -> LanguageTag {
        if Language::of(self.language).is_some() { *self.language } else { self.written.tag() }
    }

    /// Returns the seed that all emails of a series share in every language, because a series has one theme.
    fn seed(&self) -> u64 {
        mix(self.brief.seed, self.brief.prompt)
    }

    fn slot_seed(&self) -> u64 {
        mix(self.seed(), &format!("{} {}", self.job, self.place))
    }

    fn layout(&self) -> Layout {
        let asked = self.understood.layout.or(self.brief.reference.and_then(|reference| reference.style.layout));
        if let Some(layout) = asked {
            return layout;
        }
        let has_picture = !self.brief.images.is_empty() || material::opening(self.brand, &Tokens::read(""), 0, "").is_some();
        let all = recipe::layouts(self.understood.purpose);
        let fitting: Vec<Layout> = all.iter().copied().filter(|layout| has_picture || !recipe::needs_picture(*layout)).collect();
        fitting[(mix(self.seed(), "layout") % fitting.len() as u64) as usize]
    }

    fn writer(&self, layout: Layout) -> Writer<'_> {
        let brand_speaks = material::speaks(self.brand, self.language) && (Language::of(self.language).is_some());
        let featured = self.featured();
        let product = featured.and_then(|place| self.brand.products.get(place)).map(|product| facts::tidy(&product.name));
        let region = self.region();
        let parts = recipe::parts(self.job, mix(self.slot_seed(), "arrangement") as usize % 64);
        let products = self.products(featured);
        let source = Source {
            understood: self.understood,
            brand: self.brand,
            language: self.written,
            today: self.brief.today,
            product: product.as_deref(),
            region: region.as_deref(),
            has_grid: parts.contains(&recipe::Part::Products) && products.len() > 1,
            has_started: self.has_started,
        };
        let voice = Voice::of(self.brand, self.understood, self.written);
        let book = Phrasebook::new(self.written, region.as_deref(), voice, self.slot_seed(), source.facts());
        let prompt_speaks = source.prompt_speaks();
        let words = Tokens::read(self.brief.prompt);
        let site = self.brief.site.and_then(material::link);
        let (opening, pictures) = self.pictures(layout, featured);
        Writer {
            book,
            job: self.job,
            layout,
            understood: self.understood,
            brand: self.brand,
            products,
            featured,
            excerpts: knowledge::excerpts(self.knowledge, self.written, &words, self.slot_seed()),
            opening,
            parts,
            format: language::Bank::of(self.written).format(region.as_deref()),
            pictures,
            target: self.target(featured),
            site,
            prompt_speaks,
            brand_speaks,
            blocks: Vec::new(),
            has_verbatim: false,
            is_featured: false,
            is_signed: false,
        }
    }

    /// Returns the region whose spelling to use: the tag's region or, in English, `GB` if the brand has a price in pounds.
    fn region(&self) -> Option<String> {
        let parts = self.language.as_str().split('-').skip(1);
        let region = parts.into_iter().find(|part| part.len() == 2).map(str::to_owned);
        let pounds = || self.brand.products.iter().any(|product| product.currency.as_deref() == Some("GBP"));
        region.or_else(|| (self.written == Language::En && pounds()).then(|| "GB".to_owned()))
    }

    /// Returns the index of the product that the email is about: the named product or, in a spotlight, the next product of the range.
    fn featured(&self) -> Option<usize> {
        let named = self.understood.products.first().copied();
        let spotlight = self.job == "general.spotlight" && !self.brand.products.is_empty();
        let next = || (mix(self.seed(), "products") as usize).wrapping_add(self.place) % self.brand.products.len();
        match self.job.split('.').next().unwrap_or_default() {
            "launch" | "cart" | "review" | "sale" | "seasonal" | "stock" | "shipping" => named,
            _ if spotlight => named.filter(|_| self.place == 0).or_else(|| Some(next())),
            _ => None,
        }
    }

    /// Returns the indexes of the products to show: the named products, then other products, starting at a position that the seed
    /// determines.
    fn products(&self, featured: Option<usize>) -> Vec<usize> {
        let count = self.brand.products.len().min(limits::COMPOSER_PRODUCTS_MAX);
        let mut order = self.understood.products.clone();
        if count > 0 {
            let first = mix(self.slot_seed(), "products") as usize % count;
            order.extend((0..count).map(|step| (first + step) % count));
        }
        let mut seen = std::collections::HashSet::new();
        order.retain(|place| seen.insert(*place) && (Some(*place) != featured || self.understood.products.len() > 1));
        // For example, an offer for lamps shows only lamps, if the brand has more than one product that is about lamps.
        if let Some(Scope::Words(scope)) = &self.understood.scope {
            let about = |place: &usize| self.brand.products.get(*place).is_some_and(|product| material::is_about(product, scope));
            if order.iter().filter(|place| about(place)).count() > 1 {
                order.retain(about);
            }
        }
        // A grid needs images, so products with an image come first.
        let has_picture = |place: &usize| self.brand.products.get(*place).is_some_and(|product| product.image.is_some());
        let named = self.understood.products.len().min(order.len());
        order[named..].sort_by_key(|place| !has_picture(place));
        order
    }

    /// Returns the picture for the top of the email, and the other given pictures.
    fn pictures(&self, layout: Layout, featured: Option<usize>) -> (Option<Picture>, Vec<Picture>) {
        let shows = sections::shows_picture(self.job, layout, self.written);
        let mut given = self.brief.images.iter().take(limits::COMPOSER_LIST_MAX).cloned();
        if !shows {
            return (None, given.collect());
        }
        if let Some(first) = given.next() {
            return (Some(first), given.collect());
        }
        let product = featured.and_then(|place| self.brand.products.get(place));
        let is_about_it = self.job.starts_with("launch") || self.job.starts_with("stock");
        let of_product = product
            .filter(|_| is_about_it)
            .and_then(|product| material::picture(product.image.as_deref()?, Some(facts::tidy(&product.name)), (None, None)));
        let words = Tokens::read(self.brief.prompt);
        (of_product.or_else(|| material::opening(self.brand, &words, self.slot_seed(), self.job)), Vec::new())
    }

    /// Returns the target of buttons: the prompt's link, the product's page or the home page.
    fn target(&self, featured: Option<usize>) -> Option<Link> {
        let given = self.understood.links.iter().find_map(|address| material::link(address));
        let product = featured.and_then(|place| self.brand.products.get(place)).and_then(|product| product.url.as_deref());
        let is_about_it = matches!(self.job.split('.').next(), Some("launch" | "general" | "stock"));
        let page = product.filter(|_| is_about_it).and_then(material::link);
        let site = self.brief.site.and_then(material::link);
        let mail = self.brand.contact.email.as_deref().and_then(|address| material::link(&format!("mailto:{address}")));
        let help = mail.clone().filter(|_| self.job == "general.help");
        given.or(page).or(help).or(site).or(mail)
    }

    fn subject(&self, book: &mut Phrasebook, special: Option<&str>) -> Line<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }> {
        let speaks = self.understood.language == self.written;
        if let Some(subject) = self.understood.subject.as_ref().filter(|_| speaks && self.place == 0) {
            return Line::cut(&facts::tidy(subject));
        }
        let emoji = Voice::of(self.brand, self.understood, self.written)
            .emoji
            .then(|| emoji(self.understood.purpose, self.understood.season.as_deref()));
        let room = SUBJECT_CHARACTERS_MAX - emoji.map_or(0, |emoji| emoji.chars().count() + 1);
        let place = special.map_or_else(|| sections::place(book, self.job, "subject"), str::to_owned);
        let text = book.line_within(&place, room);
        let text = text.or_else(|| book.line(&place)).unwrap_or_else(|| self.name());
        let text = Line::<SUBJECT_CHARACTERS_MAX>::cut(&text);
        match emoji {
            Some(emoji) if text.chars().count() <= room => Line::new(&format!("{text} {emoji}")),
            Some(_) | None => Line::new(&text),
        }
    }

    fn preheader(&self, book: &mut Phrasebook, special: Option<&str>) -> Line<{ limits::EMAIL_PREHEADER_CHARACTERS_MAX }> {
        let place =
            special.map_or_else(|| sections::place(book, self.job, "preheader"), |_| "common.special_preheader".to_owned());
        // The preheader contains the part of the news that the subject of an announcement omits.
        let more = self.understood.news.as_ref().filter(|_| book.facts.contains_key("news") && self.job.ends_with(".main"));
        let next = || self.understood.statements.get(1).cloned();
        let more = more.and_then(|news| news.more.clone().or_else(next)).map(|more| facts::tidy(&more).replace('\'', "’"));
        if let Some(more) =
            more.filter(|more| (PREHEADER_CHARACTERS_MIN..=PREHEADER_CHARACTERS_MAX).contains(&more.chars().count()))
        {
            return Line::cut(&more);
        }
        let text = book.line_within(&place, PREHEADER_CHARACTERS_MAX).or_else(|| book.line(&place)).unwrap_or_default();
        let more = if text.chars().count() < PREHEADER_CHARACTERS_MIN { book.line("common.preheader_more") } else { None };
        let text = [Some(text), more].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let text = Line::<PREHEADER_CHARACTERS_MAX>::cut(&text);
        if text.is_empty() { Line::new(&self.name()) } else { Line::new(&text) }
    }

    /// Returns the name of the brand, as a last resort when no phrase is available.
    fn name(&self) -> String {
        let name = self.brand.name.as_deref().map(facts::tidy).filter(|name| !name.is_empty());
        name.or_else(|| self.brief.site.map(facts::tidy)).unwrap_or_else(|| "—".to_owned())
    }

    /// Returns warnings about facts that the user should check before sending.
    fn warnings(&self, email: &Email) -> Vec<String> {
        let understood = self.understood;
        let mut warnings = understood.notes.clone();
        let mut warn = |applies: bool, text: String| {
            if applies {
                warnings.push(text);
            }
        };
        let language = self.language;
        warn(
            Language::of(language).is_none(),
            format!(
                "The composer does not write in {language}, so the email is in English. Configure a language model to write in {language}."
            ),
        );
        warn(
            Language::of(language).is_some() && !self.written.is_complete(),
            format!(
                "In {}, the composer has only a small set of phrases around the brand's own texts. Review the email before sending.",
                self.written.english_name()
            ),
        );
        let has_words = !understood.statements.is_empty() || !understood.points.is_empty() || understood.clause.is_some();
        let other = understood.language != self.written;
        warn(
            other && (has_words || understood.subject.is_some() || understood.praise.is_some()),
            format!(
                "The prompt is in {}, so its sentences were left out of the email in {}. Add them to the email.",
                understood.language.english_name(),
                self.written.english_name()
            ),
        );
        if let (Some(Scope::Words(scope)), true) = (&understood.scope, other && understood.saving.is_some()) {
            warn(
                true,
                format!(
                    "The offer applies to \"{scope}\", which the email in {} does not mention. Add \"{scope}\" to the email.",
                    self.written.english_name()
                ),
            );
        }
        if !understood.unused.is_empty() {
            warn(
                true,
                format!(
                    "These sentences were left out because they are about the recipients instead of addressing them: {}",
                    understood.unused.join(" ")
                ),
            );
        }
        let needs_page = matches!(
            understood.purpose,
            Purpose::CartReminder | Purpose::Event | Purpose::ReviewRequest | Purpose::Receipt | Purpose::Referral
        );
        warn(
            needs_page && understood.links.is_empty(),
            "The prompt has no link, so the buttons lead to the brand's home page. Set the correct link.".to_owned(),
        );
        let tips = knowledge::excerpts(self.knowledge, self.written, &Tokens::read(self.brief.prompt), 0);
        warn(
            self.job == "tips.main" && understood.points.len() < 2 && tips.iter().all(|text| !text.fits),
            "The brand has no text with these tips. Add the tips to the prompt or to the project's knowledge base.".to_owned(),
        );
        warn(
            email.blocks.iter().all(|block| !has_button(block)),
            "The email has no button, because there is no link. Add a link to the prompt.".to_owned(),
        );
        warnings
    }
}

fn has_button(block: &crate::features::emails::document::Block) -> bool {
    use crate::features::emails::document::Block;
    match block {
        Block::Hero(hero) => hero.button.is_some(),
        Block::Button(_) => true,
        _ => false,
    }
}

/// Returns an emoji for a subject.
fn emoji(purpose: Purpose, season: Option<&str>) -> &'static str {
    match (purpose, season) {
        (Purpose::Receipt, _) => "🧾",
        (_, Some("christmas")) => "🎄",
        (_, Some("easter")) => "🐣",
        (_, Some("valentines_day" | "mothers_day" | "fathers_day")) => "💝",
        (_, Some("halloween")) => "🎃",
        (_, Some("new_year")) => "🎆",
        (_, Some("spring")) => "🌷",
        (_, Some("summer")) => "☀️",
        (_, Some("autumn" | "thanksgiving")) => "🍂",
        (_, Some("winter")) => "❄️",
        (_, Some("birthday" | "anniversary")) => "🎂",
        (Purpose::Welcome, _) => "👋",
        (Purpose::Sale, _) => "🎁",
        (Purpose::Launch, _) => "✨",
        (Purpose::Newsletter, _) => "📬",
        (Purpose::Event, _) => "📅",
        (Purpose::CartReminder, _) => "🛒",
        (Purpose::WinBack, _) => "💛",
        (Purpose::ReviewRequest, _) => "⭐",
        (Purpose::Referral, _) => "🤝",
        (Purpose::Seasonal, _) => "🎁",
        (Purpose::Announcement, _) => "📣",
    }
}
