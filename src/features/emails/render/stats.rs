//! Computes statistics about an email for its authors.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text;
use crate::features::emails::document::{Block, Cell, Column, Email};
use crate::features::emails::theme::Theme;

/// The measured properties of an email, such as its number of words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailStats {
    /// The number of pictures, excluding the logo.
    pub image_count: u32,
    pub button_count: u32,
    /// The number of words to read, excluding the footer and the links to social networks.
    pub estimated_length: u32,
    /// The main colors of the email as `#RRGGBB`: the colors of the background, the buttons, the filled boxes, the links, the text
    /// and the page around the email.
    pub colors: Vec<String>,
}

pub fn stats(email: &Email, theme: &Theme) -> EmailStats {
    let (mut images, mut buttons) = (0, 0);
    for block in &email.blocks {
        let (more_images, more_buttons) = count(block);
        images += more_images;
        buttons += more_buttons;
    }
    let said = email.blocks.iter().filter(|block| !matches!(block, Block::Footer(_) | Block::Social(_)));
    let length =
        said.map(|block| text::block_text(block).split_whitespace().filter(|word| has_letters(word)).count()).sum::<usize>();
    EmailStats { image_count: images, button_count: buttons, estimated_length: length as u32, colors: colors(theme) }
}

fn has_letters(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric) && !word.contains("://")
}

fn count(block: &Block) -> (u32, u32) {
    let one = u32::from;
    match block {
        Block::Hero(hero) => (one(hero.image.is_some()), one(hero.button.is_some())),
        Block::Image(_) => (1, 0),
        Block::Button(_) => (0, 1),
        Block::Columns(columns) => columns.columns.iter().map(column).fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1)),
        Block::Products(products) => products.products.iter().fold((0, 0), |(images, buttons), product| {
            (images + one(product.image.is_some()), buttons + one(product.button.is_some()))
        }),
        Block::Quote(quote) => (one(quote.image.is_some()), 0),
        Block::Coupon(coupon) => (0, one(coupon.button.is_some())),
        Block::Header(_) | Block::Text(_) | Block::Heading(_) | Block::List(_) | Block::Countdown(_) => (0, 0),
        Block::Table(_) | Block::Divider(_) | Block::Social(_) | Block::Footer(_) => (0, 0),
    }
}

fn column(column: &Column) -> (u32, u32) {
    let images = column.blocks.iter().filter(|cell| matches!(cell, Cell::Image(_))).count();
    let buttons = column.blocks.iter().filter(|cell| matches!(cell, Cell::Button(_))).count();
    (images as u32, buttons as u32)
}

fn colors(theme: &Theme) -> Vec<String> {
    let light = &theme.light;
    let all =
        [light.sheet.ground, light.sheet.button, light.band.ground, light.sheet.accent, light.sheet.text, light.page.ground];
    let mut seen = BTreeSet::new();
    all.iter().map(ToString::to_string).filter(|color| seen.insert(color.clone())).collect()
}
