//! Decides whether conditions on declarations apply.

use super::super::css::{CssToken, Declaration, TokenKind};
use super::super::features::detect::Use;
use super::super::html::Element;
use super::super::view::View;
use super::{Condition, Test, is_inline, styled};

/// The maximum number of tokens that are read from a value. The longest values are lists of gradients.
const PIECES_MAX: usize = 1000;

/// Returns whether the condition applies to a use in a declaration.
pub fn decide(condition: &Condition, view: &View<'_>, one: &Use, declaration: &Declaration) -> bool {
    let source = view.source;
    let pieces = view.sheets.value(declaration);
    let pieces = pieces.get(..PIECES_MAX).unwrap_or(pieces);
    let name = declaration.name.of(source);
    let words = || {
        pieces.iter().filter(|piece| matches!(piece.kind, TokenKind::Ident | TokenKind::Function)).map(|piece| piece.name(source))
    };
    let has = |kind: TokenKind| pieces.iter().any(|piece| piece.kind == kind);
    match condition.test {
        Test::Negative => pieces.iter().any(is_negative),
        Test::NegativeLiteral => !has(TokenKind::Function) && pieces.iter().any(is_negative),
        Test::WordIn => words().any(|word| condition.has(word)),
        Test::WordNotIn => words().any(|word| !condition.has(word)) || has(TokenKind::Dimension),
        Test::SeveralWords => top_level(pieces).filter(is_content).count() > 1,
        Test::SeveralValues => top_level(pieces).any(|piece| piece.kind == TokenKind::Comma),
        Test::Slash => top_level(pieces).any(|piece| piece.kind == TokenKind::Delim('/')),
        Test::ImageValue => has_image(source, pieces),
        Test::ListStyleMore => has_image(source, pieces) || words().any(|word| ["inside", "outside"].contains(&word)),
        Test::InlineImageProperty => name.eq_ignore_ascii_case("background-image") && is_inline(view, declaration.owner),
        Test::CursorNotIn => has_image(source, pieces) || words().any(|word| !condition.has(word)),
        Test::UnitIn => pieces.iter().any(|piece| match piece.kind {
            TokenKind::Percentage => condition.has("%"),
            TokenKind::Dimension => condition.has(piece.unit(source)),
            _ => false,
        }),
        Test::RelativeSize => has(TokenKind::Percentage) || words().any(|word| ["larger", "smaller"].contains(&word)),
        Test::NumberNotIn => {
            pieces.iter().any(|piece| piece.kind == TokenKind::Number && !condition.has(&piece.number.to_string()))
        }
        Test::PropertyIn => condition.has(name),
        Test::BorderWide => {
            pieces.iter().any(|piece| piece.kind == TokenKind::Dimension && piece.unit(source) == "px" && piece.number > 8.0)
        }
        Test::MarginBackground => has_size(pieces) && has_background(view, declaration),
        Test::RowPadding => row_padding(view, declaration),
        Test::LineHeight => {
            let unit = pieces.iter().any(|piece| piece.kind == TokenKind::Dimension && condition.has(piece.unit(source)));
            unit && !view.siblings(declaration).any(|other| other.name.of(source).eq_ignore_ascii_case("mso-line-height-rule"))
        }
        Test::DisplayTables => {
            words().any(|word| word.eq_ignore_ascii_case("none"))
                && styled(view, declaration).any(|element| element.has_table && element.name != "table")
        }
        Test::DisplayWord => {
            let hides = words().all(|word| word.eq_ignore_ascii_case("none"));
            !hides || styled(view, declaration).any(|element| element.name == "img")
        }
        Test::SpacedColor | Test::AlphaColor => color_form(condition, view, one, pieces),
        Test::TextContentEscape => view.value_text(declaration).contains('\\'),
        Test::ImportantUppercase => declaration.important.is_some_and(|important| !important.lowercase),
        Test::ImportantLowercase => declaration.important.is_some_and(|important| important.lowercase),
        Test::ImportantTight => declaration.important.is_some_and(|important| !important.space_before),
        Test::ImportantTightBackground => {
            declaration.important.is_some_and(|important| !important.space_before)
                && name.eq_ignore_ascii_case("background-image")
        }
        Test::Inline => is_inline(view, declaration.owner),
        Test::InSheet => !is_inline(view, declaration.owner),
        Test::KeyframePercent => false,
        Test::ElementIn => styled(view, declaration).any(|element| condition.has(&element.name)),
        // Most elements have no padding by default, so nothing is lost if a client ignores a padding of zero.
        Test::ElementNotIn if is_padding(name) && !has_size(pieces) => false,
        Test::ElementNotIn => styled(view, declaration).any(|element| !condition.has(&element.name)),
        Test::Base64In | Test::Base64NotIn => {
            let found = super::attributes::data_type(one.span.of(source));
            condition.has(found) == (condition.test == Test::Base64In)
        }
        _ => false,
    }
}

fn is_content(piece: &&CssToken) -> bool {
    !matches!(piece.kind, TokenKind::Space | TokenKind::Comment | TokenKind::Close)
}

fn is_padding(name: &str) -> bool {
    name.get(.."padding".len()).is_some_and(|start| start.eq_ignore_ascii_case("padding"))
}

fn is_negative(piece: &CssToken) -> bool {
    matches!(piece.kind, TokenKind::Number | TokenKind::Dimension | TokenKind::Percentage) && piece.number < 0.0
}

/// Returns whether a value contains a length or percentage other than zero.
fn has_size(pieces: &[CssToken]) -> bool {
    pieces.iter().any(|piece| matches!(piece.kind, TokenKind::Dimension | TokenKind::Percentage) && piece.number != 0.0)
}

/// Returns the tokens that are not in functions or brackets.
fn top_level(pieces: &[CssToken]) -> impl Iterator<Item = &CssToken> {
    let mut depth = 0_usize;
    pieces.iter().filter(move |piece| {
        let is_top = depth == 0;
        match piece.kind {
            TokenKind::Function | TokenKind::Parenthesis | TokenKind::Square | TokenKind::Curly => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_top
    })
}

fn has_image(source: &str, pieces: &[CssToken]) -> bool {
    pieces.iter().any(|piece| match piece.kind {
        TokenKind::Url => true,
        TokenKind::Function => {
            let name = piece.name(source).to_ascii_lowercase();
            name == "url" || name.ends_with("gradient") || name.ends_with("image-set") || name == "cross-fade"
        }
        _ => false,
    })
}

/// Returns whether an element to which this margin applies has a background.
fn has_background(view: &View<'_>, declaration: &Declaration) -> bool {
    let is_background = |name: &str| name.eq_ignore_ascii_case("background-color") || name.eq_ignore_ascii_case("background");
    let source = view.source;
    view.siblings(declaration).any(|other| is_background(other.name.of(source)))
        || styled(view, declaration).any(|element| view.document.attribute(source, element, "bgcolor").is_some())
}

/// Returns whether this declaration sets the vertical padding of a table cell, and the cell before it has a different padding.
fn row_padding(view: &View<'_>, declaration: &Declaration) -> bool {
    let vertical =
        !["padding-left", "padding-right"].iter().any(|name| declaration.name.of(view.source).eq_ignore_ascii_case(name));
    vertical && styled(view, declaration).filter(|element| is_cell(element)).any(|element| neighbor_differs(view, element))
}

fn is_cell(element: &Element<'_>) -> bool {
    matches!(&*element.name, "td" | "th")
}

fn neighbor_differs(view: &View<'_>, element: &Element<'_>) -> bool {
    let Some(previous) = element.previous.and_then(|index| view.element(index)).filter(|element| is_cell(element)) else {
        return false;
    };
    paddings(view, previous) != paddings(view, element)
}

/// Returns the class and the vertical paddings of a cell, which are compared to decide whether two cells have the same padding.
fn paddings<'a>(view: &View<'a>, element: &Element<'a>) -> (Option<&'a str>, Vec<&'a str>) {
    let style = view.document.attribute(view.source, element, "style").unwrap_or_default();
    let found = style
        .split(';')
        .map(str::trim)
        .filter(|one| one.starts_with("padding") && !one.contains("-left") && !one.contains("-right"));
    (view.document.attribute(view.source, element, "class"), found.collect())
}

/// Returns whether the color function in a use has the form that the condition names: values separated with spaces instead of commas, or an
/// alpha value.
fn color_form(condition: &Condition, view: &View<'_>, one: &Use, pieces: &[CssToken]) -> bool {
    let mut inside = pieces.iter().filter(|piece| one.span.contains(piece.span)).skip(1);
    if condition.test == Test::SpacedColor {
        return !inside.any(|piece| piece.kind == TokenKind::Comma) && view.source.len() > one.span.end as usize;
    }
    let (mut commas, mut slash) = (0, false);
    for piece in inside {
        commas += usize::from(piece.kind == TokenKind::Comma);
        slash |= piece.kind == TokenKind::Delim('/');
    }
    slash || commas > 2
}
