//! Rewrites the text of a part piece by piece, so that unchanged words keep their bold type and links.

use crate::engine::render::imported_html::{Change, TextPart, TextRun};

/// The maximum number of tokens of the old or the new text that are compared one by one. The start and end that both texts have in common
/// do not count.
const WORDS_MAX: usize = 400;
/// The maximum length of a short text, in bytes. A short text is rewritten piece by piece even if nearly all of its words change. If all
/// words of a link are replaced, the new words become the text of the link only if they are short.
const SHORT: usize = 40;

/// Replaces the words of a text part and returns the changes to make to the HTML.
pub fn rewrite(text_part: &mut TextPart, text: &str) -> Vec<Change> {
    let old = text_part.text();
    let new = merged(text_part, text);
    let mut changes = Vec::new();
    let mut behind: Option<(usize, String)> = None;
    for (piece, new) in text_part.pieces.iter_mut().zip(new) {
        match new {
            PieceChange::Piece(text) if text != piece.text => {
                changes.push(Change::Words { node: piece.node, text: text.clone() });
                piece.text = text;
            }
            PieceChange::Piece(_) => {}
            PieceChange::Behind(text, more) => {
                if text != piece.text {
                    changes.push(Change::Words { node: piece.node, text: text.clone() });
                    piece.text = text;
                }
                behind = piece.link.map(|link| (link, more));
            }
        }
    }
    text_part.pieces.retain(|piece| !piece.text.is_empty());
    changes.extend(behind.map(|(link, text)| Change::Behind { link, text }));
    if text == old { Vec::new() } else { changes }
}

/// The change to a piece of a text part.
enum PieceChange {
    Piece(String),
    /// The new text of the last piece, which belongs to a link, and the text to insert after the link.
    Behind(String, String),
}

/// A token of the old text, with the index of its piece.
struct Token<'a> {
    text: &'a str,
    piece: usize,
}

fn merged(text_part: &TextPart, new: &str) -> Vec<PieceChange> {
    let pieces = &text_part.pieces;
    let old = tokens_of(pieces);
    let new = split_alike(tokens(new), &old);
    let mut kept = common(&old, &new);
    let letters = |tokens: &mut dyn Iterator<Item = &Token<'_>>| -> usize {
        tokens.filter(|token| token.text.starts_with(char::is_alphanumeric)).map(|token| token.text.len()).sum()
    };
    let all = letters(&mut old.iter());
    let share = |kept: &[(usize, usize)], piece: Option<usize>| {
        let mut own = kept.iter().map(|(at, _)| &old[*at]).filter(|token| piece.is_none_or(|piece| token.piece == piece));
        letters(&mut own)
    };
    let base =
        (0..pieces.len()).max_by_key(|piece| (pieces[*piece].link.is_none(), pieces[*piece].text.len())).unwrap_or_default();
    if all > SHORT && share(&kept, None) * 3 < all {
        // If less than a third of the letters are kept, the old and new text count as unrelated. A word that both contain by chance does
        // not keep its link or bold type.
        let said = (0..pieces.len()).map(|piece| if piece == base { new.concat() } else { String::new() });
        return said.map(PieceChange::Piece).collect();
    }
    // A piece whose style differs from the main style is also replaced as a whole if less than half of its letters are kept.
    for piece in (0..pieces.len()).filter(|piece| *piece != base && pieces[*piece].text != "\n") {
        let whole = letters(&mut old.iter().filter(|token| token.piece == piece));
        if share(&kept, Some(piece)) * 2 < whole {
            kept.retain(|(at, _)| old[*at].piece != piece);
        }
    }
    let mut said: Vec<String> = vec![String::new(); pieces.len()];
    let mut more = String::new();
    let (mut at_old, mut at_new) = (0, 0);
    for (kept_old, kept_new) in kept.into_iter().chain([(old.len(), new.len())]) {
        let gone = &old[at_old..kept_old];
        let come: String = new[at_new..kept_new].concat();
        if !come.is_empty() {
            match home(pieces, &old, gone, (at_old, kept_old), (text_part, come.len())) {
                Some(home) => said[home].push_str(&come),
                None => more.push_str(&come),
            }
        }
        if let Some(token) = old.get(kept_old) {
            said[token.piece].push_str(token.text);
        }
        (at_old, at_new) = (kept_old + 1, kept_new + 1);
    }
    let last = said.len().saturating_sub(1);
    let mut said: Vec<PieceChange> = said.into_iter().map(PieceChange::Piece).collect();
    if let (false, Some(PieceChange::Piece(text))) = (more.is_empty(), said.get(last)) {
        said[last] = PieceChange::Behind(text.clone(), more);
    }
    said
}

/// Returns the piece that new words belong to, or `None` if they follow a link at the end of the text.
fn home(
    pieces: &[TextRun],
    old: &[Token<'_>],
    gone: &[Token<'_>],
    (from, to): (usize, usize),
    (text_part, come): (&TextPart, usize),
) -> Option<usize> {
    let is_text = |piece: &usize| pieces[*piece].text != "\n";
    let gone_pieces = || gone.iter().map(|token| token.piece).filter(is_text);
    // If all words of a link are replaced, the new words become the text of the link, unless they are too long.
    let length = |piece: usize| gone.iter().filter(|token| token.piece == piece).map(|token| token.text.len()).sum::<usize>();
    let is_whole = |piece: &usize| pieces[*piece].link.is_some() && length(*piece) == pieces[*piece].text.len();
    let whole = gone_pieces().find(is_whole).filter(|_| come <= SHORT);
    let longest = gone_pieces().max_by_key(|piece| (pieces[*piece].link.is_none(), pieces[*piece].text.len()));
    if let Some(piece) = whole.or(longest) {
        return Some(piece);
    }
    let before = from.checked_sub(1).map(|place| old[place].piece);
    let behind = old.get(to).map(|token| token.piece);
    let around: Vec<usize> = [before, behind].into_iter().flatten().filter(is_text).collect();
    let is_button = text_part.kind == crate::engine::render::imported_html::TextPartKind::Button;
    if let Some(same) = before.filter(|before| Some(*before) == behind && is_text(before)) {
        return Some(same);
    }
    let plain = around.iter().copied().find(|piece| is_button || pieces[*piece].link.is_none());
    match (plain, behind) {
        (Some(piece), _) => Some(piece),
        (None, None) if before.is_some_and(|piece| is_text(&piece)) => None,
        (None, _) => around.first().copied().or_else(|| (0..pieces.len()).find(is_text)),
    }
}

/// Splits text into words, spaces, punctuation and line ends.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let kind = |c: char| match c {
        _ if c.is_alphanumeric() => 0,
        '\n' => 1,
        _ => 2 + u32::from(c),
    };
    let mut last = None;
    for (at, c) in text.char_indices() {
        if last.is_some_and(|last| last != kind(c) || last == 1) {
            found.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    if start < text.len() {
        found.push(&text[start..]);
    }
    found
}

fn tokens_of(pieces: &[TextRun]) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (piece, own) in pieces.iter().enumerate() {
        found.extend(tokens(&own.text).into_iter().map(|text| Token { text, piece }));
    }
    found
}

/// Splits new words at the positions where the old text divides the same words between two pieces, for example because only a part of the
/// word is bold.
fn split_alike<'a>(new: Vec<&'a str>, old: &[Token<'_>]) -> Vec<&'a str> {
    let is_word = |text: &str| text.starts_with(char::is_alphanumeric);
    let glued = |pair: &[Token<'_>]| pair[0].piece != pair[1].piece && is_word(pair[0].text) && is_word(pair[1].text);
    let halves: Vec<(&str, &str)> = old.windows(2).filter(|pair| glued(pair)).map(|pair| (pair[0].text, pair[1].text)).collect();
    let cut = |token: &'a str| match halves.iter().find(|(head, tail)| token.strip_prefix(head) == Some(*tail)) {
        Some((head, _)) => vec![&token[..head.len()], &token[head.len()..]],
        None => vec![token],
    };
    new.into_iter().flat_map(cut).collect()
}

/// Returns the tokens that the old and the new text have in common, in order. Each token is returned as its index in the old text and its
/// index in the new text.
fn common(old: &[Token<'_>], new: &[&str]) -> Vec<(usize, usize)> {
    let same = |(one, other): &(&Token<'_>, &&str)| one.text == **other;
    let head = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let (old_middle, new_middle) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    let mut found: Vec<(usize, usize)> = (0..head).map(|place| (place, place)).collect();
    if old_middle.len() <= WORDS_MAX && new_middle.len() <= WORDS_MAX {
        found.extend(longest(old_middle, new_middle).into_iter().map(|(one, other)| (head + one, head + other)));
    }
    found.extend((0..tail).rev().map(|back| (old.len() - 1 - back, new.len() - 1 - back)));
    found
}

/// Returns the common subsequence of tokens with the largest total weight. A run of spaces has a quarter of the weight of any other token.
fn longest(old: &[Token<'_>], new: &[&str]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    let weight = |text: &str| if text.trim_matches(' ').is_empty() { 1 } else { 4 };
    for (one, token) in old.iter().enumerate().rev() {
        for (other, text) in new.iter().enumerate().rev() {
            let apart = lengths[(one + 1) * width + other].max(lengths[one * width + other + 1]);
            let together = if token.text == *text { lengths[(one + 1) * width + other + 1] + weight(text) } else { 0 };
            lengths[one * width + other] = apart.max(together);
        }
    }
    let (mut one, mut other) = (0, 0);
    let mut found = Vec::new();
    while one < old.len() && other < new.len() {
        let here = lengths[one * width + other];
        let together = old[one].text == new[other] && here == lengths[(one + 1) * width + other + 1] + weight(new[other]);
        if together {
            found.push((one, other));
            (one, other) = (one + 1, other + 1);
        } else if here == lengths[(one + 1) * width + other] {
            one += 1;
        } else {
            other += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::render::imported_html::TextPartKind;

    /// Creates a text part from a string in which `*bold*` is bold type and `[link]` is a link.
    fn text_part(marked: &str) -> TextPart {
        let mut pieces = Vec::new();
        let mut open = None;
        let mut text = String::new();
        let mut push = |text: &mut String, link: bool| {
            if !text.is_empty() {
                let node = pieces.len();
                pieces.push(TextRun { node, text: std::mem::take(text), link: link.then_some(100 + node) });
            }
        };
        for c in marked.chars() {
            match c {
                '*' | '[' | ']' => {
                    push(&mut text, open == Some('['));
                    open = if matches!(c, ']') || open == Some(c) { None } else { Some(c) };
                }
                '\n' => {
                    push(&mut text, false);
                    text.push('\n');
                    push(&mut text, false);
                }
                _ => text.push(c),
            }
        }
        push(&mut text, false);
        TextPart { kind: TextPartKind::Paragraph, pieces, size: 16 }
    }

    fn after(marked: &str, new: &str) -> (Vec<String>, Option<String>) {
        let mut text_part = text_part(marked);
        let changes = rewrite(&mut text_part, new);
        let behind =
            changes.into_iter().find_map(|change| if let Change::Behind { text, .. } = change { Some(text) } else { None });
        assert_eq!(format!("{}{}", text_part.text(), behind.clone().unwrap_or_default()), new);
        (text_part.pieces.into_iter().map(|piece| piece.text).collect(), behind)
    }

    #[test]
    fn unchanged_words_keep_their_type_and_links() {
        for (old, new, pieces) in [
            ("Save *20%* today", "Save 25% today", vec!["Save ", "25%", " today"]),
            ("Read [all about it] now.", "Please read all about it at once.", vec!["Please read ", "all about it", " at once."]),
            ("Click [here] now", "Buy now", vec!["Buy", " now"]),
            ("One\nTwo", "One Two", vec!["One ", "Two"]),
            ("*Hello* you", "Goodbye you", vec!["Goodbye", " you"]),
            ("A [b] c", "A b d c", vec!["A ", "b", " d c"]),
            (
                "The evenings are drawing in. We have *three new teas* from [growers we have known for years]. Come and see.",
                "Short and sweet: new teas are here.",
                vec!["Short and sweet: new teas are here."],
            ),
            (
                "Until Sunday you *save 20%* on all of them with the code. Free shipping is included in this.",
                "This week everything is 10% off. Free shipping is included in this.",
                vec!["This week everything is 10%", " off. Free shipping is included in this."],
            ),
            ("Ma*gic* tea", "Magic teas", vec!["Ma", "gic", " teas"]),
        ] {
            assert_eq!(after(old, new), (pieces.iter().map(|piece| (*piece).to_owned()).collect(), None), "{old} → {new}");
        }
    }

    #[test]
    fn words_after_a_link_do_not_become_part_of_it() {
        assert_eq!(after("See [our teas]", "See our teas and cups").1.as_deref(), Some(" and cups"));
        assert_eq!(after("[Our teas] are here", "See our teas are here").0.concat(), "See our teas are here");
    }
}
