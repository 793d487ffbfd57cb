//! Changes the arrangement of an email: adds, removes and moves blocks, and swaps pictures.

use std::collections::HashSet;

use super::texts::{block_contains, pick};
use super::{Anchor, EditResources, Place, Target, Which};
use crate::features::emails::brief::{self, Brief, Fact, FactKind, FactValue};
use crate::features::emails::composer::content::Content;
use crate::features::emails::composer::language::{Bank, Language};
use crate::features::emails::composer::rules::Rules;
use crate::features::emails::composer::text::{self, capital, tidy};
use crate::features::emails::composer::tokens::Tokens;
use crate::features::emails::composer::{material, phrases};
use crate::features::emails::document::*;
use crate::vocab::limits;

/// The number of products in an added grid.
const PRODUCTS: usize = 3;

/// Returns whether a block is of the target's kind.
fn is(block: &Block, target: Target) -> bool {
    match target {
        Target::Text | Target::Story | Target::Lead | Target::Sentence => matches!(block, Block::Text(_)),
        Target::Heading | Target::Title => matches!(block, Block::Heading(_)),
        Target::Button => matches!(block, Block::Button(_)),
        Target::Image | Target::Alt => matches!(block, Block::Image(_)),
        Target::Coupon => matches!(block, Block::Coupon(_)),
        Target::Divider => matches!(block, Block::Divider(_)),
        Target::Products => matches!(block, Block::Products(_)),
        Target::Quote => matches!(block, Block::Quote(_)),
        Target::List => matches!(block, Block::List(_)),
        Target::Countdown => matches!(block, Block::Countdown(_)),
        Target::Social => matches!(block, Block::Social(_)),
        Target::Table => matches!(block, Block::Table(_)),
        Target::Subject | Target::Preheader | Target::Eyebrow | Target::Closing => false,
    }
}

/// Returns the indexes of the blocks of the target's kind.
fn places(email: &Email, target: Target) -> Vec<usize> {
    let all = || email.blocks.iter().enumerate();
    if target == Target::Closing {
        // The closing is the last short text with several lines.
        let closes = |(_, block): &(usize, &Block)| matches!(block, Block::Text(text) if text.text.words().contains('\n') && text.text.words().chars().count() < 80);
        return all().filter(closes).map(|(place, _)| place).next_back().into_iter().collect();
    }
    all().filter(|(_, block)| is(block, target)).map(|(place, _)| place).collect()
}

/// Removes a block, or the picture or button of the opening.
pub fn remove(email: &mut Email, target: Target, which: Which) -> Result<String, String> {
    let all = which == Which::All;
    let mut removed = 0;
    if matches!(target, Target::Image | Target::Button | Target::Eyebrow | Target::Lead)
        && matches!(which, Which::Unsaid | Which::Nth(0) | Which::All)
        && remove_from_hero(email, target)
    {
        removed += 1;
    }
    if removed == 0 || all {
        let found = places(email, target);
        let found = if all { found } else { pick(found, which).into_iter().collect() };
        for place in found.into_iter().rev() {
            email.blocks.remove(place);
            // Also remove the heading above the removed block if no content would follow the heading.
            if let Some(before) = place.checked_sub(1)
                && matches!(email.blocks[before], Block::Heading(_))
                && email.blocks.get(place).is_none_or(|next| !matches!(next, Block::Text(_) | Block::List(_) | Block::Image(_)))
            {
                email.blocks.remove(before);
            }
            removed += 1;
        }
    }
    match removed {
        0 => Err(format!("The email has no matching {}.", target.name())),
        1 => Ok(format!("Removed the {}.", target.name())),
        count => Ok(format!("Removed {count} blocks of type \"{}\".", target.name())),
    }
}

/// Removes the blocks of the target's kind that contain these words. If the instruction says only "text", blocks of any kind are removed.
pub fn remove_saying(email: &mut Email, target: Target, words: &str) -> Result<String, String> {
    let before = email.blocks.len();
    email.blocks.retain(|block| {
        let is_meant = match target {
            Target::Text => !matches!(block, Block::Header(_) | Block::Footer(_)),
            target => is(block, target),
        };
        !(is_meant && block_contains(block, words))
    });
    match before - email.blocks.len() {
        0 => Err(format!("The email has no {} with the words \"{words}\".", target.name())),
        1 => Ok(format!("Removed the {} with the words \"{words}\".", target.name())),
        count => Ok(format!("Removed {count} blocks with the words \"{words}\".")),
    }
}

fn remove_from_hero(email: &mut Email, target: Target) -> bool {
    let Some(Block::Hero(hero)) = email.blocks.iter_mut().find(|block| matches!(block, Block::Hero(_))) else { return false };
    match target {
        Target::Image => hero.image.take().is_some(),
        Target::Button => hero.button.take().is_some(),
        Target::Eyebrow => hero.eyebrow.take().is_some(),
        Target::Lead => hero.text.take().is_some(),
        _ => false,
    }
}

/// Moves a block. The header and the footer cannot be moved.
pub fn shift(email: &mut Email, target: Target, which: Which, to: &Place) -> Result<String, String> {
    let from = pick(places(email, target), which).ok_or_else(|| format!("The email has no matching {}.", target.name()))?;
    let block = email.blocks.remove(from);
    let place = match to {
        Place::Up => Some(from.saturating_sub(1)),
        Place::Down => Some(from + 1),
        place => place_for(email, place),
    };
    let Some(place) = place else {
        email.blocks.insert(from, block);
        return Err(format!("The position for the {} was not found: the email has no block of that type.", target.name()));
    };
    let place = place.clamp(1, email.blocks.len().saturating_sub(1).max(1));
    email.blocks.insert(place, block);
    if place == from {
        return Err(format!("The {} cannot be moved further.", target.name()));
    }
    Ok(format!("Moved the {}.", target.name()))
}

/// Returns the index for a new block. The default position is before the closing parts.
fn place_for(email: &Email, place: &Place) -> Option<usize> {
    let end = email.blocks.len().saturating_sub(1);
    let opening = email.blocks.iter().position(|block| matches!(block, Block::Hero(_))).map_or(1, |hero| hero + 1);
    let of = |anchor: &Anchor| match anchor {
        Anchor::Words(words) => email.blocks.iter().position(|block| block_contains(block, words)),
        Anchor::Target(target, which) => of_kind(email, *target, *which),
    };
    match place {
        Place::Top | Place::Up => Some(opening),
        Place::Bottom | Place::Down => Some(end),
        Place::Before(anchor) => of(anchor),
        Place::After(anchor) => of(anchor).map(|place| place + 1),
    }
}

fn of_kind(email: &Email, target: Target, which: Which) -> Option<usize> {
    match target {
        Target::Title | Target::Lead | Target::Eyebrow => email.blocks.iter().position(|block| matches!(block, Block::Hero(_))),
        target => pick(places(email, target), which),
    }
}

fn default_place(email: &Email) -> usize {
    let closing = places(email, Target::Closing).first().copied();
    let social = places(email, Target::Social).first().copied();
    let end = email.blocks.len().saturating_sub(1);
    [closing, social].into_iter().flatten().min().unwrap_or(end).min(end)
}

/// Replaces a picture with the given picture or, if none is given, with the brand's most relevant picture that the email does not show yet.
pub fn swap(
    email: &mut Email,
    which: Which,
    url: Option<&str>,
    clause: &str,
    means: &EditResources<'_>,
) -> Result<String, String> {
    let picture = match url {
        Some(url) => material::picture(url, None, (None, None)).ok_or("This URL is not an image.")?,
        None => next_picture(&email.to_json().to_string(), clause, means)
            .ok_or("The brand has no other suitable image. Enter the URL of an image.")?,
    };
    let source = picture.src.clone();
    if pictures(email).is_empty()
        && let Some(Block::Hero(hero)) = email.blocks.iter_mut().find(|block| matches!(block, Block::Hero(_)))
    {
        hero.image = Some(picture);
        return Ok(format!("Put the image {source} at the top."));
    }
    let place = pick(pictures(email), which).ok_or("The email has no matching image.")?;
    let href = place.href.clone();
    *place = Picture { href, ..picture };
    Ok(format!("Changed the image to {source}."))
}

/// Returns the pictures of an email from top to bottom, excluding those in product grids.
pub fn pictures(email: &mut Email) -> Vec<&mut Picture> {
    let mut shown: Vec<&mut Picture> = Vec::new();
    for block in &mut email.blocks {
        match block {
            Block::Hero(Hero { image: Some(image), .. }) => shown.push(image),
            Block::Image(image) => shown.push(&mut image.image),
            Block::Columns(columns) => {
                let cells = columns.columns.iter_mut().flat_map(|column| &mut column.blocks);
                shown.extend(cells.filter_map(|cell| if let Cell::Image(image) = cell { Some(&mut image.image) } else { None }));
            }
            _ => {}
        }
    }
    shown
}

/// Returns the brand's picture that is most relevant to an instruction and not yet in the email.
pub fn next_picture(shown: &str, clause: &str, means: &EditResources<'_>) -> Option<Picture> {
    let mut brand = means.brand.clone();
    brand.images.retain(|image| !shown.contains(&image.url));
    material::fitting(&brand, clause, &HashSet::new()).or_else(|| material::opening(&brand, 0, ""))
}

/// Adds a block.
pub fn add(
    email: &mut Email,
    target: Target,
    clause: &str,
    place: Option<&Place>,
    means: &EditResources<'_>,
) -> Result<String, String> {
    if email.blocks.len() + 2 > limits::EMAIL_BLOCKS_MAX {
        return Err("The email has the maximum number of blocks. Remove one first.".to_owned());
    }
    let blocks = Maker::new(email, clause, place, means).make(target)?;
    let place = match place {
        Some(place) => place_for(email, place).ok_or("The position was not found: the email has no block of that type.")?,
        None if target == Target::Social => email.blocks.len().saturating_sub(1),
        None => default_place(email),
    };
    let place = place.clamp(1, email.blocks.len().saturating_sub(1).max(1));
    email.blocks.splice(place..place, blocks);
    Ok(format!("Added: {}.", target.name()))
}

/// Creates blocks from an instruction and the brand's material.
struct Maker<'a> {
    email: &'a Email,
    clause: &'a str,
    means: &'a EditResources<'a>,
    quotes: Vec<String>,
    brief: Brief,
    language: Language,
}

impl<'a> Maker<'a> {
    fn new(email: &'a Email, clause: &'a str, place: Option<&Place>, means: &'a EditResources<'a>) -> Self {
        let quotes = quotes(clause, place);
        let brief = brief::parse(clause, means.brand, Some(&email.language), means.today);
        let language = Language::of(&email.language).unwrap_or(Language::En);
        Self { email, clause, means, quotes, brief, language }
    }

    /// Returns a label in the email's language that needs no facts except the brand's name.
    fn phrase(&self, place: &str) -> Option<String> {
        let facts = [("brand", self.means.brand.name.clone()?)].into_iter().collect();
        let voice = super::super::voice::Voice::of(self.means.brand, &Rules::default(), self.language);
        phrases::Phrasebook::new(self.language, None, voice, 0, facts).line(place)
    }

    /// Returns the facts of a kind that the instruction states.
    fn facts(&self, kind: FactKind) -> impl Iterator<Item = &Fact> {
        self.brief.facts.iter().filter(move |fact| fact.kind == kind)
    }

    fn make(&self, target: Target) -> Result<Vec<Block>, String> {
        let id = self.email.free_id(target_id(target));
        let quoted = self.quotes.first();
        let block = match target {
            Target::Divider => Block::Divider(Divider { id, look: Pause::Line }),
            Target::Button => self.button(id)?,
            Target::Image => self.image(id)?,
            Target::Coupon => self.coupon(id)?,
            Target::Products => self.products(id)?,
            Target::Countdown => self.countdown(id)?,
            Target::List => self.list(id)?,
            Target::Table => self.table(id)?,
            Target::Quote => {
                let text = quoted.ok_or("Put the text of the quote in quotation marks. The composer never invents quotes.")?;
                let author = self.facts(FactKind::Person).next().map(|fact| Line::cut(&fact.text));
                Block::Quote(Quote { id, text: Rich::plain(text), author, role: None, image: None, stars: None })
            }
            Target::Heading | Target::Title => {
                let text = quoted
                    .cloned()
                    .or_else(|| after_colon(self.clause))
                    .ok_or("Put the text of the heading in quotation marks.")?;
                Block::Heading(Heading { id, text: Line::cut(&text), level: HeadingLevel::Section })
            }
            Target::Text | Target::Sentence | Target::Lead => {
                let text = quoted.cloned().or_else(|| after_colon(self.clause)).ok_or("Put the text in quotation marks.")?;
                Block::Text(Text { id, text: Rich::parse(&text).unwrap_or_else(|_| Rich::plain(&text)) })
            }
            Target::Social => {
                let links = material::social(self.means.brand);
                if links.is_empty() {
                    return Err("The brand has no social links. Add social links to the project.".to_owned());
                }
                let title = self.phrase("common.social_heading").map(|title| Line::cut(&title));
                Block::Social(Social { id, title, links })
            }
            Target::Story => return self.story(id),
            Target::Closing => {
                let lines = [self.phrase("common.closing"), self.phrase("common.signature")];
                let text = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
                Block::Text(Text { id, text: Rich::plain(&text) })
            }
            Target::Subject | Target::Preheader | Target::Eyebrow | Target::Alt => {
                return Err(format!("The {0} cannot be added. Write \"Change the {0} to …\" instead.", target.name()));
            }
        };
        Ok(vec![block])
    }

    fn button(&self, id: BlockId) -> Result<Block, String> {
        let given = text::links(self.clause).iter().find_map(|address| material::link(address));
        let present = self.email.blocks.iter().find_map(|block| match block {
            Block::Hero(hero) => hero.button.as_ref().map(|button| button.href.clone()),
            Block::Button(button) => Some(button.href.clone()),
            _ => None,
        });
        let site = self.means.site.and_then(material::link);
        let href = given.or(present).or(site).ok_or("Enter the URL that the button links to.")?;
        let label = self.quotes.first().cloned().or_else(|| self.phrase("common.default_button"));
        let label = label.ok_or("Put the button text in quotation marks.")?;
        Ok(Block::Button(Button { id, label: Line::cut(&label), href, emphasis: Emphasis::Primary }))
    }

    fn image(&self, id: BlockId) -> Result<Block, String> {
        let given =
            text::links(self.clause).iter().find_map(|url| material::picture(url, self.quotes.first().cloned(), (None, None)));
        let image = given.or_else(|| next_picture(&self.email.to_json().to_string(), self.clause, self.means));
        let image = image.ok_or("The brand has no other suitable image. Enter the URL of an image.")?;
        Ok(Block::Image(Image { id, image, caption: None, width: ImageWidth::Content }))
    }

    fn coupon(&self, id: BlockId) -> Result<Block, String> {
        let code = self.facts(FactKind::Code).next().map(|fact| fact.text.clone()).or_else(|| self.quotes.first().cloned());
        let code = code.ok_or("Enter the coupon code in uppercase.")?;
        let format = &Bank::of(self.language).format;
        let content = Content::of(&self.brief, self.means.brand, self.language, format, self.means.today);
        let offer = content.saving().map(|saving| format.offer(&saving));
        let title = offer.or_else(|| self.phrase("common.coupon_heading")).unwrap_or_else(|| code.clone());
        let text = self.phrase("common.coupon_note").map(|note| Rich::plain(&note));
        let title = capital(&title);
        Ok(Block::Coupon(Coupon { id, title: Line::cut(&title), code: Line::cut(&code), text, button: None }))
    }

    fn products(&self, id: BlockId) -> Result<Block, String> {
        let brand = self.means.brand;
        let json = self.email.to_json().to_string();
        let site = self.means.site.and_then(material::link);
        let format = &Bank::of(self.language).format;
        let content = Content::of(&self.brief, brand, self.language, format, self.means.today);
        let named: Vec<_> = content.cards.iter().filter_map(|card| brand.products.get(card.product)).collect();
        let count = PRODUCTS.max(named.len());
        let fresh = brand.products.iter().take(limits::COMPOSER_PRODUCTS_MAX).filter(|product| !json.contains(&product.name));
        let chosen: Vec<_> = if named.is_empty() { fresh.collect() } else { named };
        let shown = chosen.into_iter().filter_map(|product| material::product(product, format, site.as_ref(), false));
        let products: Vec<Product> = shown.take(count).collect();
        if products.is_empty() {
            return Err("The brand has no other products.".to_owned());
        }
        let title = self.phrase("common.products_heading").map(|title| Line::cut(&title));
        Ok(Block::Products(Products { id, title, products }))
    }

    fn countdown(&self, id: BlockId) -> Result<Block, String> {
        let day = self.brief.facts.iter().find_map(|fact| match &fact.value {
            Some(FactValue::Days { first, last }) => Some(last.unwrap_or(*first)),
            _ => None,
        });
        let day = day.ok_or("Enter the end date of the countdown, for example \"until 30 November\".")?;
        let date = Bank::of(self.language).format.date(day, self.means.today);
        let title = self.phrase("common.ends_heading").unwrap_or_else(|| date.clone());
        let until = day.to_string().parse().map_err(|_| "The end date of the countdown is invalid.".to_owned())?;
        Ok(Block::Countdown(Countdown { id, title: Line::cut(&title), date: Line::cut(&date), until, text: None }))
    }

    fn list(&self, id: BlockId) -> Result<Block, String> {
        let told = after_colon(self.clause);
        let split = told.iter().flat_map(|text| text.split([',', ';'])).map(|item| item.trim().to_owned());
        let items: Vec<String> = if self.quotes.len() > 1 { self.quotes.clone() } else { split.collect() };
        let items = items.iter().filter(|item| !item.is_empty()).take(limits::EMAIL_LIST_ITEMS_MAX);
        let items: Vec<Item> = items.map(|item| Item { title: None, text: Rich::plain(&capital(item)) }).collect();
        if items.is_empty() {
            return Err("Enter the list items after a colon: \"add a list: first point, second point\".".to_owned());
        }
        Ok(Block::List(List { id, marks: ListMarks::Bullets, items }))
    }

    fn table(&self, id: BlockId) -> Result<Block, String> {
        let told =
            after_colon(self.clause).ok_or("Enter the rows after a colon: \"add a table: Monday = 9–17, Sunday = closed\".")?;
        let cells = |row: &str| {
            let (name, value) = row.split_once(['=', ':'])?;
            Some(Row { cells: vec![Rich::plain(name.trim()), Rich::plain(value.trim())], strong: false })
        };
        let rows: Vec<Row> = told.split([',', ';']).filter_map(cells).take(limits::EMAIL_TABLE_ROWS_MAX).collect();
        if rows.is_empty() {
            return Err("Enter each row as \"name = value\" and separate the rows with commas.".to_owned());
        }
        Ok(Block::Table(Table { id, title: None, head: Vec::new(), rows }))
    }

    fn story(&self, id: BlockId) -> Result<Vec<Block>, String> {
        let brand = self.means.brand;
        let text = brand.description.as_ref().filter(|_| material::speaks(brand, &self.email.language)).map(|text| tidy(text));
        let text = text.ok_or("The brand has no description in the email's language.")?;
        let heading = self.phrase("common.story_heading");
        let heading_id = self.email.free_id("heading");
        let heading =
            heading.map(|text| Block::Heading(Heading { id: heading_id, text: Line::cut(&text), level: HeadingLevel::Section }));
        Ok(heading.into_iter().chain([Block::Text(Text { id, text: Rich::plain(&text) })]).collect())
    }
}

/// Returns the quotations in an instruction, excluding those that describe a position.
pub fn quotes(clause: &str, place: Option<&Place>) -> Vec<String> {
    let words = Tokens::read(clause);
    let quoted = text::quotations(&words).into_iter().map(|(_, text)| text.to_owned());
    let anchor = match place {
        Some(Place::Before(Anchor::Words(words)) | Place::After(Anchor::Words(words))) => Some(words),
        _ => None,
    };
    quoted.filter(|quote| anchor != Some(quote)).collect()
}

/// Returns the text after the first colon of an instruction.
pub fn after_colon(clause: &str) -> Option<String> {
    let (_, rest) = clause.split_once(": ").or_else(|| clause.split_once(":\n"))?;
    let rest = rest.trim();
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// Returns the name that documents use for the target's kind of blocks.
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
        Target::Text | Target::Sentence | Target::Story | Target::Lead | Target::Closing => "text",
        Target::Subject | Target::Preheader | Target::Eyebrow | Target::Alt => "block",
    }
}
