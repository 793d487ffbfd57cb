//! Groups blocks into parts, and chooses the background and spacing of each part.

use super::block_context::BlockContext;
use super::cells::{Cell, Content, Part};
use super::draft::Draft;
use super::{body, footer, header};
use crate::features::emails::document::{Block, Email, HeadingLevel};
use crate::features::emails::theme::design::{BoxForm, QuoteForm};
use crate::features::emails::theme::{GroundName, Theme};

pub fn parts(email: &Email, theme: &Theme) -> Vec<Part> {
    let set = BlockContext::new(email, theme);
    let mut drafts: Vec<Draft> = Vec::new();
    let mut before: Option<&Block> = None;
    for block in &email.blocks {
        match block {
            Block::Header(header) => drafts.push(header::header(set, header)),
            Block::Hero(hero) => drafts.extend(header::hero(set, hero)),
            Block::Footer(footer) => {
                let footer = footer::footer(set, footer);
                match drafts.last_mut().filter(|_| matches!(before, Some(Block::Social(_)))) {
                    Some(social) => footer.rows.into_iter().for_each(|row| social.follow(row, 24)),
                    None => drafts.push(footer),
                }
            }
            Block::Social(social) => drafts.push(footer::social(set, social)),
            _ => {
                // A button directly below a coupon belongs to the offer, so it has the coupon's background.
                let follows_code = matches!((before, block), (Some(Block::Coupon(_)), Block::Button(_)));
                let ground = match drafts.last().filter(|_| follows_code) {
                    Some(offer) => offer.ground,
                    None => unlike(ground(block, theme), &drafts),
                };
                if begins(block, before, ground, drafts.last()) {
                    let mut draft = Draft::new(ground);
                    draft.card = theme.design.cards;
                    drafts.push(draft);
                }
                let draft = drafts.last_mut().expect("the list has at least one draft");
                draft.is_brief = is_brief(block) && (draft.rows.is_empty() || draft.is_brief);
                let gap = gap(block, before, set);
                for (index, row) in body::rows(set.on(ground), block).into_iter().enumerate() {
                    draft.follow(row, if index == 0 { gap } else { 0 });
                }
                join_rules(&mut drafts);
            }
        }
        before = Some(block);
    }
    spaced(drafts, theme)
}

/// Returns the background of a block that is not a header, hero, social or footer block.
fn ground(block: &Block, theme: &Theme) -> GroundName {
    let field = |form: BoxForm| match form {
        BoxForm::Band => GroundName::Band,
        BoxForm::Sides => GroundName::Tint,
        BoxForm::Ticket | BoxForm::Ruled | BoxForm::Frame | BoxForm::Tint | BoxForm::Bare => GroundName::Sheet,
    };
    match block {
        Block::Quote(_) if theme.design.quote == QuoteForm::Band => GroundName::Band,
        Block::Coupon(_) => field(theme.design.coupon),
        Block::Countdown(_) => field(theme.design.countdown),
        _ => GroundName::Sheet,
    }
}

/// Returns `ground`, the background of a block. If `ground` is a colored field directly after another colored field, returns a tinted
/// background instead, because the two fields would merge.
fn unlike(ground: GroundName, drafts: &[Draft]) -> GroundName {
    let is_field = |draft: &Draft| draft.ground == GroundName::Band && draft.pad.is_none_or(|(_, bottom)| bottom > 0);
    if ground == GroundName::Band && drafts.last().is_some_and(is_field) { GroundName::Tint } else { ground }
}

/// Returns whether the block is a text block that is too short for a separate card.
fn is_brief(block: &Block) -> bool {
    const BRIEF_CHARACTERS: usize = 140;
    matches!(block, Block::Text(text) if text.text.words().chars().count() <= BRIEF_CHARACTERS)
}

/// Returns whether this block starts a new part.
fn begins(block: &Block, before: Option<&Block>, ground: GroundName, last: Option<&Draft>) -> bool {
    if last.is_none_or(|draft| draft.ground != ground || draft.pad.is_some()) {
        return true;
    }
    let Some(before) = before else { return true };
    // In a layout with cards, short text stays on the card of the block that it introduces or concludes.
    if let Some(card) = last.filter(|draft| draft.card) {
        let introduced = card.is_brief && !matches!(block, Block::Coupon(_) | Block::Countdown(_) | Block::Quote(_));
        let concluded = is_brief(block) && !matches!(before, Block::Coupon(_) | Block::Countdown(_));
        if introduced || concluded {
            return false;
        }
    }
    match block {
        Block::Heading(heading) => heading.level != HeadingLevel::Small,
        Block::Button(_) | Block::List(_) | Block::Divider(_) => matches!(before, Block::Header(_)),
        Block::Text(_) => !matches!(before, Block::Heading(_) | Block::Text(_) | Block::Image(_) | Block::List(_)),
        Block::Products(products) => products.title.is_some() || !matches!(before, Block::Heading(_) | Block::Text(_)),
        Block::Table(table) => table.title.is_some() || !matches!(before, Block::Heading(_) | Block::Text(_)),
        _ => !matches!(before, Block::Heading(_) | Block::Text(_) | Block::Divider(_)),
    }
}

/// Returns the space above a block within its part, in pixels.
fn gap(block: &Block, before: Option<&Block>, set: BlockContext<'_>) -> u16 {
    let block_room = set.room().block;
    match (before, block) {
        (Some(Block::Heading(_)), Block::Text(_)) => block_room * 2 / 3,
        // A new topic within a part needs more space above than a continuation.
        (Some(_), Block::Heading(_) | Block::Products(_)) | (Some(Block::Products(_)), _) => block_room + 8,
        (_, Block::Button(_)) => block_room + 6,
        (_, Block::Divider(_)) => block_room + 10,
        (Some(Block::Divider(_)), _) => block_room + 10,
        _ => block_room,
    }
}

/// Merges a hairline at the end of the second-to-last part with a hairline at the start of the last part.
fn join_rules(drafts: &mut [Draft]) {
    let [.., before, last] = drafts else { return };
    let is_hairline = |cell: &Cell| matches!(&cell.content, Content::Rule(rule) if rule.thickness == 1 && rule.width == "100%");
    let ends = before.rows.last().and_then(|row| row.columns.last()?.cells.last()).is_some_and(is_hairline);
    let Some(first) = last.rows.first_mut().and_then(|row| row.columns.first_mut()).filter(|_| ends) else { return };
    if first.frame.is_none() && first.cells.len() > 1 && is_hairline(&first.cells[0]) {
        first.cells.remove(0);
        first.cells[0].gap = 0;
    }
}

/// Converts drafts to parts and sets their padding.
fn spaced(drafts: Vec<Draft>, theme: &Theme) -> Vec<Part> {
    let room = theme.design.room.part;
    let grounds: Vec<(GroundName, bool)> = drafts.iter().map(|draft| (draft.ground, draft.pad.is_some())).collect();
    let each = drafts.into_iter().enumerate().filter(|(_, draft)| !draft.rows.is_empty()).map(|(index, draft)| {
        // Neighboring parts on the same background share the space between them.
        let next_is_same = grounds.get(index + 1).is_some_and(|(next, padded)| *next == draft.ground && !padded);
        let (top, bottom) = match draft.pad {
            Some((top, bottom)) => (top, bottom),
            None if draft.card => (room, room),
            None => (room, if next_is_same { 0 } else { room }),
        };
        Part {
            ground: draft.ground,
            name: draft.ground.as_str(),
            g: *theme.light.ground(draft.ground),
            top: if draft.flush_top { 0 } else { top },
            bottom,
            card: draft.card,
            rows: draft.rows,
        }
    });
    each.collect()
}
