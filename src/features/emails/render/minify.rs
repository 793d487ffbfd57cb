//! Shortens HTML by removing whitespace between tags and in style sheets. The appearance does not change.
//!
//! The code supports only the HTML of the MJML renderer, which has no `pre` elements and no significant whitespace between tags.

/// Shortens every run of whitespace that contains a line break: removes the run between tags and rules, and replaces it with one space
/// elsewhere.
pub fn minify(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('\n') {
        out.push_str(rest[..at].trim_ascii_end());
        rest = rest[at..].trim_ascii_start();
        let between = matches!(out.bytes().next_back(), None | Some(b'>' | b'{' | b'}' | b';'));
        let ends = matches!(rest.bytes().next(), None | Some(b'<' | b'}' | b'{'));
        if !between && !ends {
            out.push(' ');
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_between_tags_is_removed_and_space_between_words_stays() {
        let html = "<style>\n  a {\n  b: c;\n }\n</style>\n <p>one\n  two <b>three</b> <i>four</i></p>\n";
        assert_eq!(minify(html), "<style>a {b: c;}</style><p>one two <b>three</b> <i>four</i></p>");
    }
}
