//! Making HTML shorter without changing what is seen: space between tags and in style sheets.
//!
//! It knows only HTML as the MJML renderer writes it: no `pre`, and no space between tags that matters.

/// The HTML with every run of space that holds a line end cut down: between tags to nothing, elsewhere to one space.
pub fn shrink(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(|character: char| character.is_ascii_whitespace()) {
        let (before, from) = rest.split_at(at);
        let length = from.find(|character: char| !character.is_ascii_whitespace()).unwrap_or(from.len());
        let (space, after) = from.split_at(length);
        out.push_str(before);
        let between = matches!(out.bytes().next_back(), None | Some(b'>' | b'{' | b'}' | b';')) || after.is_empty();
        let ends = matches!(after.bytes().next(), Some(b'<' | b'}' | b'{'));
        match space {
            " " => out.push(' '),
            _ if space.contains('\n') && (between || ends) => {}
            _ => out.push(' '),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_between_tags_goes_and_space_between_words_stays() {
        let html = "<style>\n  a {\n  b: c;\n }\n</style>\n <p>one\n  two <b>three</b> <i>four</i></p>\n";
        assert_eq!(shrink(html), "<style>a {b: c;}</style><p>one two <b>three</b> <i>four</i></p>");
    }
}
