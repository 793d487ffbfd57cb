//! Adds blocks to an email. Their content comes from the instruction, the brand's material or the brand's knowledge base.

use super::action::{Details, Place, Target, Topic};
use super::blocks::{chosen, default_place, label, place_for};
use super::reply::{ActionResult, Fact, Reply};
use super::resources::EditResources;
use super::texts::{day_of, sentences};
use super::vocabulary::Vocabulary;
use crate::features::emails::composer::Knowledge;
use crate::features::emails::composer::language::{Bank, Language};
use crate::features::emails::composer::material;
use crate::features::emails::composer::phrases::{Phrasebook, escape};
use crate::features::emails::composer::rules::Rules;
use crate::features::emails::composer::text::{self, capital, is_in, tidy};
use crate::features::emails::composer::tokens::Tokens;
use crate::features::emails::composer::voice::Voice;
use crate::features::emails::document::*;
use crate::vocab::limits;

/// The maximum number of products in an added grid.
const PRODUCTS: usize = 3;
/// The maximum length, in characters, of text from the knowledge base.
const KNOWLEDGE_CHARACTERS: usize = 420;

pub fn add(
    email: &mut Email,
    target: Target,
    details: &Details,
    place: Option<&Place>,
    means: &EditResources<'_>,
) -> ActionResult {
    let blocks = Maker { email, details, means, language: Language::of(&email.language).unwrap_or(Language::En) }.make(target)?;
    insert(email, blocks, place, target == Target::Social)?;
    Ok(match &details.text {
        Some(text) => Reply::about("added_text", target).text("text", text),
        None => Reply::about("added", target),
    })
}

fn insert(email: &mut Email, blocks: Vec<Block>, place: Option<&Place>, at_end: bool) -> Result<(), Reply> {
    if email.blocks.len() + blocks.len() > limits::EMAIL_BLOCKS_MAX {
        return Err(Reply::new("full"));
    }
    let end = email.blocks.len().saturating_sub(1);
    let place = match place {
        Some(place) => {
            place_for(email, place).ok_or_else(|| Reply::new("no_place").with("parts", Fact::Parts(super::parts(email))))?
        }
        None if at_end => end,
        None => default_place(email),
    };
    let place = place.clamp(1, end.max(1));
    email.blocks.splice(place..place, blocks);
    Ok(())
}

/// Creates blocks from an instruction and the brand's material.
struct Maker<'a> {
    email: &'a Email,
    details: &'a Details,
    means: &'a EditResources<'a>,
    language: Language,
}

impl Maker<'_> {
    fn phrase(&self, place: &str) -> Option<String> {
        label(self.email, self.means, place)
    }

    fn make(&self, target: Target) -> Result<Vec<Block>, Reply> {
        let id = self.email.free_id(target_id(target));
        let said = self.details.text.as_deref();
        let text = || said.ok_or_else(|| Reply::about("quote_text", target));
        let block = match target {
            Target::Divider => Block::Divider(Divider { id, look: Pause::Line }),
            Target::Button => self.button(id)?,
            Target::Image => {
                let image = chosen(&self.email.to_json().to_string(), self.details.url.as_deref(), said, self.means)?;
                Block::Image(Image { id, image, caption: None, width: ImageWidth::Content })
            }
            Target::Coupon => self.coupon(id)?,
            Target::Products => self.products(id)?,
            Target::Countdown => self.countdown(id)?,
            Target::List => self.list(id)?,
            Target::Table => self.table(id)?,
            Target::Quote => {
                let text = said.ok_or_else(|| Reply::new("no_inventions"))?;
                let author = self.details.author.as_deref().map(|author| Line::cut(author.trim_end_matches('.')));
                Block::Quote(Quote { id, text: Rich::plain(text), author, role: None, image: None, stars: None })
            }
            Target::Heading | Target::Title => {
                let text = Line::cut(text()?.trim_end_matches('.'));
                Block::Heading(Heading { id, text, level: HeadingLevel::Section })
            }
            Target::Text | Target::Lead => {
                Block::Text(Text { id, text: Rich::parse(text()?).unwrap_or_else(|_| Rich::plain(said.unwrap_or_default())) })
            }
            Target::Social => {
                let links = material::social(self.means.brand);
                if links.is_empty() {
                    return Err(Reply::new("no_social"));
                }
                let title = self.phrase("common.social_heading").map(|title| Line::cut(&title));
                Block::Social(Social { id, title, links })
            }
            Target::Story => return self.story(id),
            Target::Closing => {
                let lines = [self.phrase("common.closing"), self.phrase("common.signature")];
                Block::Text(Text { id, text: Rich::plain(&lines.into_iter().flatten().collect::<Vec<_>>().join("\n")) })
            }
            other => return Err(Reply::about("cannot_add", other)),
        };
        Ok(vec![block])
    }

    fn button(&self, id: BlockId) -> Result<Block, Reply> {
        let given = self.details.url.as_deref().and_then(material::link);
        let present = self.email.blocks.iter().find_map(|block| match block {
            Block::Hero(hero) => hero.button.as_ref().map(|button| button.href.clone()),
            Block::Button(button) => Some(button.href.clone()),
            _ => None,
        });
        let site = self.means.site.and_then(material::link);
        let href = given.or(present).or(site).ok_or_else(|| Reply::new("need_url"))?;
        let label = self.details.text.clone().or_else(|| self.phrase("common.default_button"));
        let label = label.ok_or_else(|| Reply::about("quote_text", Target::Button))?;
        Ok(Block::Button(Button { id, label: Line::cut(label.trim_end_matches('.')), href, emphasis: Emphasis::Primary }))
    }

    fn coupon(&self, id: BlockId) -> Result<Block, Reply> {
        let code = self.details.code.as_deref().map(|code| code.trim_end_matches('.').trim());
        let code = code.filter(|code| !code.contains(' ')).ok_or_else(|| Reply::new("need_code"))?;
        let title = self.phrase("common.coupon_heading").unwrap_or_else(|| code.to_owned());
        let text = self.phrase("common.coupon_note").map(|note| Rich::plain(&note));
        Ok(Block::Coupon(Coupon { id, title: Line::cut(&capital(&title)), code: Line::cut(code), text, button: None }))
    }

    fn products(&self, id: BlockId) -> Result<Block, Reply> {
        let brand = self.means.brand;
        let json = self.email.to_json().to_string();
        let site = self.means.site.and_then(material::link);
        let format = &Bank::of(self.language).format;
        let fresh = brand.products.iter().take(limits::COMPOSER_PRODUCTS_MAX).filter(|product| !json.contains(&product.name));
        let shown = fresh.filter_map(|product| material::product(product, format, site.as_ref(), false));
        let products: Vec<Product> = shown.take(PRODUCTS).collect();
        if products.is_empty() {
            return Err(Reply::new("no_products"));
        }
        let title = self.phrase("common.products_heading").map(|title| Line::cut(&title));
        Ok(Block::Products(Products { id, title, products, columns: None }))
    }

    /// Returns a countdown to the day that the instruction names as a date. Words such as "tonight" are rejected, because they are wrong
    /// for recipients who read the email later.
    fn countdown(&self, id: BlockId) -> Result<Block, Reply> {
        let need = || Reply::new("need_date");
        let said = self.details.date.as_deref().map(|date| date.trim_end_matches('.').trim()).ok_or_else(need)?;
        let day = day_of(said, self.email, self.means).ok_or_else(need)?;
        let bank = Bank::of(self.language);
        let date = bank.format.date(day, self.means.today);
        let place = if self.email.purpose == Purpose::Sale { "common.ends_heading" } else { "common.label_ends" };
        let title = self.phrase(place).unwrap_or_else(|| date.clone());
        let until = day.to_string().parse().map_err(|_| need())?;
        Ok(Block::Countdown(Countdown { id, title: Line::cut(&title), date: Line::cut(&date), until, text: None }))
    }

    fn list(&self, id: BlockId) -> Result<Block, Reply> {
        let told = self.details.text.as_deref().unwrap_or_default();
        let items = told.split([',', ';']).map(|item| item.trim().trim_end_matches('.')).filter(|item| !item.is_empty());
        let items = items.take(limits::EMAIL_LIST_ITEMS_MAX);
        let items: Vec<Item> = items.map(|item| Item { title: None, text: Rich::plain(&capital(item)) }).collect();
        if items.is_empty() {
            return Err(Reply::new("need_items"));
        }
        Ok(Block::List(List { id, marks: ListMarks::Bullets, items }))
    }

    fn table(&self, id: BlockId) -> Result<Block, Reply> {
        let told = self.details.text.as_deref().unwrap_or_default();
        let cells = |row: &str| {
            let (name, value) = row.split_once(['=', ':'])?;
            Some(Row { cells: vec![Rich::plain(name.trim()), Rich::plain(value.trim())], strong: false })
        };
        let rows: Option<Vec<Row>> = told.split([',', ';']).take(limits::EMAIL_TABLE_ROWS_MAX).map(cells).collect();
        let rows = rows.filter(|rows| !rows.is_empty()).ok_or_else(|| Reply::new("need_rows"))?;
        Ok(Block::Table(Table { id, title: None, head: Vec::new(), rows }))
    }

    fn story(&self, id: BlockId) -> Result<Vec<Block>, Reply> {
        let brand = self.means.brand;
        let text = brand.description.as_ref().filter(|_| material::speaks(brand, &self.email.language)).map(|text| tidy(text));
        let text = text.ok_or_else(|| Reply::new("no_story"))?;
        let heading_id = self.email.free_id("heading");
        let heading = self
            .phrase("common.story_heading")
            .map(|text| Block::Heading(Heading { id: heading_id, text: Line::cut(&text), level: HeadingLevel::Section }));
        Ok(heading.into_iter().chain([Block::Text(Text { id, text: Rich::plain(&text) })]).collect())
    }
}

/// Adds the sentences about a topic from the entry of the brand's knowledge base that fits best, with a link to the entry's page.
pub fn inform(email: &mut Email, topic: Topic, place: Option<&Place>, means: &EditResources<'_>) -> ActionResult {
    let language = Language::of(&email.language).unwrap_or(Language::En);
    if topic == Topic::Contact {
        return contact(email, place, means, language);
    }
    let found = || means.knowledge.iter().filter_map(|entry| Some((about(entry, topic)?, entry)));
    let is_own = |text: &str| is_in(text, language, None);
    let own = found().filter(|((_, text), _)| is_own(text)).max_by_key(|((score, _), _)| *score);
    let Some(((_, text), entry)) = own else {
        return Err(match found().max_by_key(|((score, _), _)| *score) {
            Some(((_, text), entry)) => {
                let other = Language::SPOKEN.into_iter().find(|other| is_in(&text, *other, None)).unwrap_or(language);
                Reply::new("other_language").text("title", bare_title(entry)).with("language", named_language(other))
            }
            None => Reply::new("no_topic").with("topic", Fact::Message(topic_key(topic).to_owned())),
        });
    };
    if super::texts::contains(email, &text) {
        return Err(Reply::new("has_text"));
    }
    let title = bare_title(entry);
    let source = entry.url.and_then(material::link).zip(label(email, means, "common.read_more"));
    let source = source.map_or_else(String::new, |(url, more)| format!(" [{}]({url})", escape(&more)));
    let markup = format!("**{}**\n{}{source}", escape(&title), escape(&text));
    let block =
        Block::Text(Text { id: email.free_id("text"), text: Rich::parse(&markup).unwrap_or_else(|_| Rich::plain(&text)) });
    insert(email, vec![block], place, false)?;
    Ok(Reply::new("informed").text("title", title))
}

/// Adds a sentence with the brand's email address and telephone number.
fn contact(email: &mut Email, place: Option<&Place>, means: &EditResources<'_>, language: Language) -> ActionResult {
    let brand = means.brand;
    let own = [("email", &brand.contact.email), ("phone", &brand.contact.phone)];
    let facts = own.into_iter().filter_map(|(name, value)| Some((name, tidy(value.as_deref()?)))).collect();
    let voice = Voice::of(brand, &Rules::default(), language);
    let text = Phrasebook::new(language, None, voice, 0, facts).text("common.contact");
    let Some(text) = text else {
        return Err(Reply::new("no_topic").with("topic", Fact::Message(topic_key(Topic::Contact).to_owned())));
    };
    let shown = Rich::parse(&text).unwrap_or_else(|_| Rich::plain(&text));
    if super::texts::contains(email, &shown.words()) {
        return Err(Reply::new("has_text"));
    }
    let text = shown.words();
    insert(email, vec![Block::Text(Text { id: email.free_id("text"), text: shown })], place, false)?;
    Ok(Reply::about("added_text", Target::Text).text("text", text))
}

fn bare_title(entry: &Knowledge<'_>) -> String {
    let title = tidy(entry.title);
    let cut = [" | ", " – ", " — ", " · "].into_iter().filter_map(|mark| title.find(mark)).min().unwrap_or(title.len());
    title[..cut].trim().to_owned()
}

fn topic_key(topic: Topic) -> &'static str {
    match topic {
        Topic::Returns => "topic_returns",
        Topic::Shipping => "topic_shipping",
        Topic::Hours => "topic_hours",
        Topic::Warranty => "topic_warranty",
        Topic::Contact => "topic_contact",
    }
}

/// Returns the name of a language, for use in a reply.
pub fn named_language(language: Language) -> Fact {
    Fact::Message(format!("language_{}", language.code()))
}

/// Returns how well an entry fits a topic, and the sentences about the topic.
fn about(entry: &Knowledge<'_>, topic: Topic) -> Option<(usize, String)> {
    let speaks_of = |text: &str, topic: Topic| {
        let words = Tokens::read(text);
        let of = |language: &Language| Vocabulary::of(*language).topics.get(&topic);
        Language::SPOKEN
            .iter()
            .filter_map(of)
            .any(|phrases| (0..words.len()).any(|at| phrases.iter().any(|phrase| stands(&words, at, phrase))))
    };
    let names = |text: &str| speaks_of(text, topic);
    let others = [Topic::Returns, Topic::Shipping, Topic::Hours, Topic::Warranty].into_iter().filter(|other| *other != topic);
    let digresses = |text: &str| !names(text) && others.clone().any(|other| speaks_of(text, other));
    let is_titled = names(entry.title);
    let lines: Vec<String> = entry.text.lines().map(tidy).filter(|line| !line.is_empty()).collect();
    let all: Vec<&str> =
        lines.iter().flat_map(|line| sentences(line)).filter(|sentence| sentence.ends_with(['.', '!', '?'])).collect();
    let first = all.iter().position(|sentence| names(sentence)).or(is_titled.then_some(0))?;
    let mut out = String::new();
    for sentence in all.get(first..)? {
        let length = out.chars().count() + sentence.chars().count();
        // Additional sentences must name the topic unless the title does, and must not be about another topic.
        if length > KNOWLEDGE_CHARACTERS || !out.is_empty() && (!is_titled && !names(sentence) || digresses(sentence)) {
            break;
        }
        out.push_str(if out.is_empty() { "" } else { " " });
        out.push_str(sentence);
    }
    (!out.is_empty()).then_some((usize::from(is_titled) * 2 + 1, out))
}

/// Returns whether a phrase of a topic starts at this word, possibly as the start of a compound: "Rückgaberecht".
fn stands(words: &Tokens<'_>, at: usize, phrase: &text::Phrase) -> bool {
    const COMPOUND_CHARACTERS_MIN: usize = 7;
    let compound =
        matches!(phrase.as_slice(), [word] if word.len() >= COMPOUND_CHARACTERS_MIN && words.fold(at).starts_with(word.as_str()));
    compound || words.matches(at, phrase).is_some()
}

/// Returns the ID prefix of the blocks that a target refers to.
fn target_id(target: Target) -> &'static str {
    match target {
        Target::Heading | Target::Title => "heading",
        Target::Button => "button",
        Target::Image => "image",
        Target::Coupon => "coupon",
        Target::Divider => "divider",
        Target::Products => "products",
        Target::Quote => "quote",
        Target::List => "list",
        Target::Countdown => "deadline",
        Target::Social => "social",
        Target::Table => "table",
        _ => "text",
    }
}
