//! Changes the arrangement of an email: removes and moves blocks and products, and swaps pictures.

use super::action::{Anchor, PartName, Place, Target, Which};
use super::passages::{block_contains, find, pick, with_replaced, words_of};
use super::reply::{ActionResult, Fact, Reply};
use super::resources::EditResources;
use super::style::missing;
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::material;
use crate::features::emails::composer::phrases::Phrasebook;
use crate::features::emails::composer::rules::Rules;
use crate::features::emails::composer::text::tidy;
use crate::features::emails::composer::tokens::plain;
use crate::features::emails::composer::voice::Voice;
use crate::features::emails::document::*;
use crate::features::projects::brand::Brand;
use crate::vocab::limits;

/// The maximum number of pictures that a reply lists.
const PICTURES_NAMED: usize = 5;

/// Returns the target that refers to a block; `None` for the header, the opening, columns and the footer.
pub fn kind(block: &Block) -> Option<Target> {
    Some(match block {
        Block::Text(text) if is_closing(text) => Target::Closing,
        Block::Text(_) => Target::Text,
        Block::Heading(_) => Target::Heading,
        Block::Button(_) => Target::Button,
        Block::Image(_) => Target::Image,
        Block::Coupon(_) => Target::Coupon,
        Block::Divider(_) => Target::Divider,
        Block::Products(_) => Target::Products,
        Block::Quote(_) => Target::Quote,
        Block::List(_) => Target::List,
        Block::Countdown(_) => Target::Countdown,
        Block::Social(_) => Target::Social,
        Block::Table(_) => Target::Table,
        Block::Header(_) | Block::Hero(_) | Block::Columns(_) | Block::Footer(_) => return None,
    })
}

/// Returns whether the text is a signature: a few words on several lines.
fn is_closing(text: &Text) -> bool {
    let words = text.text.words();
    words.contains('\n') && !words.contains("\n\n") && words.chars().count() < 80
}

/// Returns the index of the signature.
pub fn closing(email: &Email) -> Option<usize> {
    email.blocks.iter().rposition(|block| kind(block) == Some(Target::Closing))
}

/// Returns the indexes of the blocks of the target's kind.
fn places(email: &Email, target: Target) -> Vec<usize> {
    let wanted = match target {
        Target::Story | Target::Lead | Target::Sentence => Target::Text,
        Target::Alt => Target::Image,
        Target::Label => Target::Button,
        other => other,
    };
    let all = email.blocks.iter().enumerate();
    all.filter(|(_, block)| kind(block) == Some(wanted)).map(|(place, _)| place).collect()
}

/// Removes blocks, or the picture, button, text or eyebrow of the opening.
pub fn remove(email: &mut Email, part: PartName) -> ActionResult {
    let PartName { target, which, .. } = part;
    let all = which == Which::All;
    let mut removed = 0;
    if let Some(name) = nth_product(email, part) {
        return remove_product(email, &name);
    }
    if matches!(target, Target::Image | Target::Button | Target::Eyebrow | Target::Lead)
        && matches!(which, Which::Unsaid | Which::Nth(0) | Which::All)
        && remove_from_hero(email, target)
    {
        removed += 1;
    }
    if (removed == 0 || all) && !matches!(target, Target::Lead | Target::Eyebrow) {
        // If the opening contains a picture or a button, the second picture or button of the email is in the first block of that kind.
        let in_hero = usize::from(matches!(target, Target::Image | Target::Button) && !all && hero_has(email, target));
        let which = match which {
            Which::Nth(place) => Which::Nth(place.saturating_sub(in_hero)),
            which => which,
        };
        let found = places(email, target);
        let found = if all { found } else { pick(found, which).into_iter().collect() };
        for place in found.into_iter().rev() {
            take(email, place);
            removed += 1;
        }
    }
    match removed {
        0 => Err(missing(target, email)),
        // If the instruction says which story, as in "the third story", it refers to an item in a newsletter, not to the text about the
        // brand, so the reply calls the block a text.
        1 if target == Target::Story && which != Which::Unsaid => Ok(Reply::about("removed", Target::Text)),
        1 => Ok(Reply::about("removed", target)),
        count => Ok(Reply::about("removed_many", target).text("count", count)),
    }
}

/// Returns the name of the product that words such as "the second product" select in the email's only grid.
fn nth_product(email: &Email, part: PartName) -> Option<String> {
    let grids = email.blocks.iter().filter_map(|block| if let Block::Products(grid) = block { Some(grid) } else { None });
    let grids: Vec<&Products> = grids.collect();
    let ([grid], Target::Products) = (grids.as_slice(), part.target) else { return None };
    let product = match part.which {
        Which::Nth(place) => grid.products.get(place),
        Which::Last => grid.products.last(),
        Which::Unsaid | Which::All => None,
    };
    product.filter(|_| grid.products.len() > 1).map(|product| product.name.to_string())
}

/// Removes a block, and the heading above it if no text, list or picture then follows the heading.
fn take(email: &mut Email, place: usize) {
    email.blocks.remove(place);
    if let Some(before) = place.checked_sub(1)
        && matches!(email.blocks[before], Block::Heading(_))
        && email.blocks.get(place).is_none_or(|next| !matches!(next, Block::Text(_) | Block::List(_) | Block::Image(_)))
    {
        email.blocks.remove(before);
    }
}

fn hero(email: &mut Email) -> Option<&mut Hero> {
    email.blocks.iter_mut().find_map(|block| if let Block::Hero(hero) = block { Some(hero) } else { None })
}

fn hero_has(email: &Email, target: Target) -> bool {
    email.blocks.iter().any(|block| match block {
        Block::Hero(hero) if target == Target::Image => hero.image.is_some(),
        Block::Hero(hero) => hero.button.is_some(),
        _ => false,
    })
}

fn remove_from_hero(email: &mut Email, target: Target) -> bool {
    let Some(hero) = hero(email) else { return false };
    match target {
        Target::Image => hero.image.take().is_some(),
        Target::Button => hero.button.take().is_some(),
        Target::Eyebrow => hero.eyebrow.take().is_some(),
        Target::Lead => hero.text.take().is_some(),
        _ => false,
    }
}

/// Removes the blocks of the target's kind that contain these words. If the target is "text", removes blocks of any kind except the header,
/// the opening and the footer.
pub fn remove_saying(email: &mut Email, target: Target, words: &str) -> ActionResult {
    let before = email.blocks.len();
    email.blocks.retain(|block| {
        let is_meant = match target {
            Target::Text => !matches!(block, Block::Header(_) | Block::Hero(_) | Block::Footer(_)),
            target => kind(block) == Some(target),
        };
        !(is_meant && block_contains(block, words))
    });
    match before - email.blocks.len() {
        0 => Err(Reply::new("no_words").text("words", words)),
        _ => Ok(Reply::about("removed_saying", target).text("words", words)),
    }
}

pub fn remove_product(email: &mut Email, name: &str) -> ActionResult {
    let is_meant =
        |product: &Product| find(&product.name, name).is_some_and(|(start, end)| start == 0 && end == product.name.len());
    for block in &mut email.blocks {
        let Block::Products(grid) = block else { continue };
        let Some(at) = grid.products.iter().position(is_meant) else { continue };
        if grid.products.len() == 1 {
            return Err(Reply::new("last_product").text("name", name));
        }
        let removed = grid.products.remove(at);
        return Ok(Reply::new("removed_product").text("name", removed.name));
    }
    Err(Reply::new("no_words").text("words", name))
}

/// Returns the value of the table row with this label, if the label occurs nowhere else in the email.
pub fn labeled(email: &Email, label: &str) -> Option<String> {
    let tables = email.blocks.iter().filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None });
    let rows = tables.flat_map(|table| &table.rows).filter(|row| row.cells.len() == 2);
    let is_it = |row: &&Row| row.cells.first().is_some_and(|cell| find(&cell.words(), label) == Some((0, cell.words().len())));
    let [row] = rows.filter(is_it).collect::<Vec<_>>()[..] else { return None };
    let mut count = 0;
    words_of(&mut email.to_json(), &mut |text| count += with_replaced(text, label, "").1);
    row.cells.last().map(Rich::words).filter(|_| count == 1)
}

/// Returns the text that recipients read in a block.
pub fn said_by(block: &Block) -> String {
    let mut said = String::new();
    let mut json = serde_json::to_value(block).unwrap_or_default();
    words_of(&mut json, &mut |text| said.push_str(text));
    said
}

/// Sets the number of columns in the product grids.
pub fn columns(email: &mut Email, count: u8) -> ActionResult {
    if usize::from(count) > limits::EMAIL_COLUMNS_MAX || count == 0 {
        return Err(Reply::new("columns_range"));
    }
    let lacking = missing(Target::Products, email);
    let grids = email.blocks.iter_mut().filter_map(|block| if let Block::Products(grid) = block { Some(grid) } else { None });
    let grids: Vec<&mut Products> = grids.collect();
    let most = grids.iter().map(|grid| grid.products.len()).max().ok_or(lacking)?;
    if most < usize::from(count) {
        return Err(Reply::new("few_products").text("count", most));
    }
    if grids.iter().all(|grid| grid.columns == Some(count)) {
        return Err(Reply::new("is_columns").text("count", count));
    }
    grids.into_iter().for_each(|grid| grid.columns = Some(count));
    Ok(Reply::new("columns").text("count", count))
}

/// Moves a block. The header, the opening and the footer cannot be moved.
pub fn shift(email: &mut Email, part: PartName, to: &Place) -> ActionResult {
    let target = part.target;
    let from = pick(places(email, target), part.which).ok_or_else(|| missing(target, email))?;
    let block = email.blocks.remove(from);
    let place = match to {
        Place::Up => Some(from.saturating_sub(1)),
        Place::Down => Some(from + 1),
        place => place_for(email, place),
    };
    let Some(place) = place else {
        email.blocks.insert(from, block);
        return Err(Reply::new("no_place").with("parts", Fact::Parts(super::parts(email))));
    };
    let first = email.blocks.iter().position(|block| matches!(block, Block::Hero(_))).map_or(1, |hero| hero + 1);
    let place = place.clamp(first, email.blocks.len().saturating_sub(1).max(first));
    email.blocks.insert(place, block);
    if place == from { Err(Reply::about("is_there", target)) } else { Ok(Reply::about("moved", target)) }
}

/// Returns the index at which to insert a block for a place; `None` if the email does not contain the anchor.
pub fn place_for(email: &Email, place: &Place) -> Option<usize> {
    let opening = email.blocks.iter().position(|block| matches!(block, Block::Hero(_))).map_or(1, |hero| hero + 1);
    match place {
        Place::Top | Place::Up => Some(opening),
        Place::Bottom | Place::Down => Some(default_place(email)),
        Place::End => places(email, Target::Social).first().copied().or(email.blocks.len().checked_sub(1)),
        Place::Before(anchor) => anchored(email, anchor),
        Place::After(anchor) => anchored(email, anchor).map(|place| place + 1),
    }
}

/// Returns the index of the block that an anchor refers to.
pub fn anchored(email: &Email, anchor: &Anchor) -> Option<usize> {
    match anchor {
        Anchor::Words(words) => email.blocks.iter().position(|block| block_contains(block, words)),
        Anchor::Part(PartName { target: Target::Title | Target::Lead | Target::Eyebrow, .. }) => {
            email.blocks.iter().position(|block| matches!(block, Block::Hero(_)))
        }
        Anchor::Part(part) => pick(places(email, part.target), part.which),
    }
}

/// Returns the index at the end of the content, before the signature and the links to social networks.
pub fn default_place(email: &Email) -> usize {
    let end = email.blocks.len().saturating_sub(1);
    let social = places(email, Target::Social).first().copied();
    [closing(email), social].into_iter().flatten().min().unwrap_or(end).min(end)
}

/// Returns the label for a key in the email's language; `None` if the label needs facts other than the brand's name.
pub fn label(email: &Email, means: &EditResources<'_>, place: &str) -> Option<String> {
    let language = Language::of(&email.language).unwrap_or(Language::En);
    let facts = means.brand.name.iter().map(|name| ("brand", tidy(name))).collect();
    let voice = Voice::of(means.brand, &Rules::default(), language);
    Phrasebook::new(language, None, voice, 0, facts).line(place)
}

/// Replaces a picture with the picture at `url` or with the brand's picture that `words` describes. If both are `None`, uses a picture of
/// the brand that the email does not show yet.
pub fn swap(email: &mut Email, which: Which, url: Option<&str>, words: Option<&str>, means: &EditResources<'_>) -> ActionResult {
    let picture = chosen(&email.to_json().to_string(), url, words, means)?;
    let shown = picture.alt.as_ref().map_or_else(|| picture.src.to_string(), ToString::to_string);
    let lacking = missing(Target::Image, email);
    if pictures(email).is_empty() {
        hero(email).ok_or(lacking)?.image = Some(picture);
    } else {
        let place = pick(pictures(email), which).ok_or(lacking)?;
        let href = place.href.clone();
        *place = Picture { href, ..picture };
    }
    Ok(Reply::new("swapped").text("alt", shown))
}

/// Returns the picture that an instruction names or, if it names none, a picture of the brand that the email does not show yet. `shown`
/// contains the URLs of the email's pictures.
pub fn chosen(shown: &str, url: Option<&str>, words: Option<&str>, means: &EditResources<'_>) -> Result<Picture, Reply> {
    match (url, words) {
        (Some(url), _) => material::picture(url, None, (None, None)).ok_or_else(|| Reply::new("no_image")),
        (None, Some(words)) => named_picture(words, means.brand),
        (None, None) => next_picture(shown, means).ok_or_else(|| Reply::new("no_picture")),
    }
}

/// Returns the brand's picture whose tags, description or product name contains all of these words. Short words are ignored, and similar
/// words match.
fn named_picture(words: &str, brand: &Brand) -> Result<Picture, Reply> {
    let images = brand.images.iter().filter_map(|image| {
        let own =
            material::picture(&image.url, image.description.as_deref().and_then(material::alt), (image.width, image.height))?;
        Some((image.tags.iter().cloned().chain(image.description.clone()).collect::<Vec<_>>().join(" "), own))
    });
    let products = brand.products.iter().filter_map(|product| {
        let own = material::picture(product.image.as_deref()?, Some(tidy(&product.name)), (None, None))?;
        Some((product.name.clone(), own))
    });
    let all: Vec<(String, Picture)> = images.chain(products).collect();
    let folded = plain(words);
    let wanted: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 3).collect();
    let alike = |one: &str, other: &str| {
        let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
        common >= 4 && common * 4 >= one.chars().count().max(other.chars().count()) * 3
    };
    let shows = |told: &String| {
        let told = plain(told);
        let own: Vec<&str> = told.split(|c: char| !c.is_alphanumeric()).collect();
        wanted.iter().all(|word| own.iter().any(|other| alike(word, other)))
    };
    if let Some((_, picture)) = all.iter().find(|(told, _)| !wanted.is_empty() && shows(told)) {
        return Ok(picture.clone());
    }
    let names: Vec<String> =
        all.iter().filter_map(|(_, own)| own.alt.as_ref().map(ToString::to_string)).take(PICTURES_NAMED).collect();
    match names.is_empty() {
        true => Err(Reply::new("no_picture")),
        false => Err(Reply::new("no_such_picture").text("words", words).text("images", super::quoted(&names))),
    }
}

/// Returns the pictures of the opening, the image blocks and the columns, from top to bottom.
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

/// Returns a picture of the brand that the email does not show yet. `shown` contains the URLs of the email's pictures.
pub fn next_picture(shown: &str, means: &EditResources<'_>) -> Option<Picture> {
    let mut brand = means.brand.clone();
    brand.images.retain(|image| !shown.contains(&image.url));
    material::opening(&brand, 0, "", true)
}
