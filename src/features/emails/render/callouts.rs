//! Renders coupons and countdowns, in the form that the layout defines.

use super::block_context::BlockContext;
use super::cells::{Cell, Row};
use super::inline;
use crate::features::emails::document::{Countdown, Coupon};
use crate::features::emails::theme::GroundName;
use crate::features::emails::theme::design::{Align, BoxForm};

/// The padding of a box in pixels.
const INSIDE: u16 = 30;

pub fn coupon(set: BlockContext<'_>, coupon: &Coupon) -> Row {
    let form = set.design().coupon;
    let inner = set.on(box_ground(form, set)).aligned(box_align(form, set));
    let size = if matches!(form, BoxForm::Sides | BoxForm::Tint) { "small" } else { "section" };
    let title = inner.words(0, "h2", size, "tx", inline::words(&coupon.title));
    let text = coupon.text.as_ref().map(|text| inner.prose(10, "body", "tx", text));
    let button = coupon.button.as_ref().map(|button| inner.action(20, button));
    let code = |gap| inner.code(gap, &coupon.code);
    if form == BoxForm::Sides {
        let words = std::iter::once(title).chain(text).collect();
        let action = std::iter::once(code(0)).chain(button.map(|button| Cell { gap: 12, ..button })).collect();
        let mut row = inner.row(vec![(54.0, words), (46.0, action)], 14, false);
        row.stand = "middle";
        return row;
    }
    let mut cells = vec![title, code(18)];
    cells.extend(text.map(|text| Cell { gap: 16, ..text }));
    cells.extend(button);
    framed(set, inner, form, cells)
}

pub fn countdown(set: BlockContext<'_>, countdown: &Countdown) -> Row {
    let form = set.design().countdown;
    let inner = set.on(box_ground(form, set)).aligned(box_align(form, set));
    let title = inner.line(0, "eyebrow", "ac", &countdown.title);
    let until = inline::escape(countdown.until.as_str());
    let html = format!("<time datetime=\"{until}\">{}</time>", inline::words(&countdown.date));
    let date = inner.words(10, "p", "figure", "tx", html);
    let text = countdown.text.as_ref().map(|text| inner.prose(10, "body", "mu", text));
    framed(set, inner, form, [title, date].into_iter().chain(text).collect())
}

fn box_ground(form: BoxForm, set: BlockContext<'_>) -> GroundName {
    match form {
        BoxForm::Tint | BoxForm::Ticket => GroundName::Tint,
        // These boxes have the background of their part. The module `parts` renders colored and full-width tinted boxes as separate parts.
        BoxForm::Band | BoxForm::Sides | BoxForm::Ruled | BoxForm::Frame | BoxForm::Bare => set.ground,
    }
}

/// Returns the alignment of boxes. Depending on the form, boxes are centered or use the layout's alignment.
fn box_align(form: BoxForm, set: BlockContext<'_>) -> Align {
    match form {
        BoxForm::Ticket | BoxForm::Frame | BoxForm::Band | BoxForm::Bare => Align::Center,
        BoxForm::Ruled | BoxForm::Tint | BoxForm::Sides => set.align,
    }
}

fn framed(set: BlockContext<'_>, inner: BlockContext<'_>, form: BoxForm, mut cells: Vec<Cell>) -> Row {
    match form {
        BoxForm::Band | BoxForm::Bare => Row::stack(cells, set.room().side),
        BoxForm::Ruled => {
            if let Some(first) = cells.first_mut() {
                first.gap += 26;
            }
            cells.insert(0, set.rule(0, "100%", 1, false));
            cells.push(set.rule(28, "100%", 1, false));
            Row::stack(cells, set.room().side)
        }
        BoxForm::Ticket => inner.boxed(cells, format!("2px dashed {}", inner.colors().mark), INSIDE),
        BoxForm::Frame => inner.boxed(cells, format!("1px solid {}", inner.colors().text), INSIDE),
        BoxForm::Tint | BoxForm::Sides => inner.boxed(cells, "none".to_owned(), INSIDE),
    }
}
