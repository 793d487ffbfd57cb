//! Makes HTML safe to parse. Under the rules of HTML, each unclosed element makes the tags after it more expensive to parse. A few
//! megabytes of such tags can therefore keep a machine busy for hours or fill its memory. Few real pages exceed the limits of this module.

use std::borrow::Cow;
use std::collections::HashMap;

/// The maximum number of tags and comments in a page. The largest pages have about 50,000.
pub const TAGS_MAX: usize = 200_000;
/// The maximum number of open elements. Browsers allow at most 512.
const OPEN_MAX: usize = 500;
/// The maximum number of open formatting elements. Unclosed formatting elements are reopened in every paragraph, and old pages leave some
/// unclosed.
const FORMATTING_MAX: usize = 24;

const FORMATTING: [&str; 14] = ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// Elements that have no end tag or whose end tag is optional.
const PASSING: [&str; 32] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "p", "li",
    "dt", "dd", "option", "optgroup", "tr", "td", "th", "tbody", "thead", "tfoot", "colgroup", "caption", "html", "head", "body",
    "frame",
];
/// Elements whose content is raw text.
const RAW: [&str; 6] = ["script", "style", "textarea", "title", "xmp", "iframe"];

/// Returns `html` without the start tags that exceed the nesting limits, cut after `tags_left` tags and comments. Reduces `tags_left` by
/// the number of tags and comments that were read.
pub fn hardened<'h>(html: &'h str, tags_left: &mut usize) -> Cow<'h, str> {
    let mut open: HashMap<String, usize> = HashMap::new();
    let (mut open_count, mut formatting_count) = (0_usize, 0_usize);
    let mut kept: Option<String> = None;
    // The text before `done` has already been copied or removed.
    let (mut done, mut at) = (0, 0);
    while let Some(start) = html[at..].find('<').map(|found| at + found) {
        let rest = &html[start + 1..];
        if rest.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '/' | '!' | '?')) {
            if *tags_left == 0 {
                kept.get_or_insert_default().push_str(&html[done..start]);
                return Cow::Owned(kept.unwrap_or_default());
            }
            *tags_left -= 1;
        }
        if rest.starts_with("!--") {
            at = rest.find("-->").map_or(html.len(), |end| start + 1 + end + 3);
            continue;
        }
        let is_end = rest.starts_with('/');
        let name: String = rest[usize::from(is_end)..]
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .take(24)
            .collect::<String>()
            .to_ascii_lowercase();
        at = start + 1;
        if name.is_empty() || !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            continue;
        }
        let end = tag_end(html, start);
        if !is_end && RAW.contains(&name.as_str()) {
            at = raw_end(html, end, &name);
            continue;
        }
        at = end;
        if PASSING.contains(&name.as_str()) {
            continue;
        }
        let is_formatting = FORMATTING.contains(&name.as_str());
        let count = open.entry(name).or_default();
        if is_end {
            if *count > 0 {
                *count -= 1;
                open_count -= 1;
                formatting_count -= usize::from(is_formatting);
            }
        } else if open_count >= OPEN_MAX || is_formatting && formatting_count >= FORMATTING_MAX {
            kept.get_or_insert_default().push_str(&html[done..start]);
            done = end;
        } else {
            *count += 1;
            open_count += 1;
            formatting_count += usize::from(is_formatting);
        }
    }
    match kept {
        None => Cow::Borrowed(html),
        Some(mut kept) => {
            kept.push_str(&html[done..]);
            Cow::Owned(kept)
        }
    }
}

/// Returns the position of the end of the tag that starts at `start`: after its closing bracket, or at the end of the text.
fn tag_end(html: &str, start: usize) -> usize {
    let mut quote = None;
    for (at, byte) in html.as_bytes()[start..].iter().enumerate() {
        match (byte, quote) {
            (b'>', None) => return start + at + 1,
            (b'"' | b'\'', None) if at > 0 && html.as_bytes()[start + at - 1] == b'=' => quote = Some(*byte),
            (byte, Some(open)) if *byte == open => quote = None,
            _ => {}
        }
    }
    html.len()
}

/// Returns the position of the end tag that closes the raw text starting at `from`, or the end of the HTML if there is no such tag.
fn raw_end(html: &str, from: usize, name: &str) -> usize {
    let mut at = from;
    while let Some(found) = html.get(at..).and_then(|rest| rest.find("</")).map(|found| at + found) {
        if html.get(found + 2..found + 2 + name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name)) {
            return found;
        }
        at = found + 2;
    }
    html.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardened(html: &str) -> Cow<'_, str> {
        let mut left = TAGS_MAX;
        super::hardened(html, &mut left)
    }

    #[test]
    fn ordinary_pages_are_unchanged() {
        let page = "<!doctype html><!-- <b><b> --><script>if (a<b) '<div>'</script><p><font>One<p><font>Two<br><a title='a>b'>x</a><DIV></div>";
        assert!(matches!(hardened(page), Cow::Borrowed(same) if same == page));
        let forgetful = "<p><font size=2>One".repeat(20);
        assert_eq!(hardened(&forgetful), forgetful);
    }

    #[test]
    fn open_elements_are_limited_and_the_text_stays() {
        for tag in ["<div>", "<b>", "<div></x>", "<b a=1>", "<table>"] {
            let page = format!("{}text", tag.repeat(100_000));
            let tamed = hardened(&page);
            assert!(tamed.matches(tag.split_once('>').map_or("", |(start, _)| start)).count() <= OPEN_MAX, "{tag}");
            assert!(tamed.ends_with("text"));
        }
    }

    #[test]
    fn an_endless_page_is_cut() {
        for tag in ["<br>", "</p>", "<!-->", "<?a>"] {
            let page = tag.repeat(TAGS_MAX * 2);
            assert_eq!(hardened(&page).len(), TAGS_MAX * tag.len(), "{tag}");
        }
    }

    #[test]
    fn pages_share_a_number_of_tags() {
        let mut left = 3;
        assert_eq!(super::hardened("<p>a<p>b", &mut left), "<p>a<p>b");
        assert_eq!((super::hardened("<p>a<p>b", &mut left), left), (Cow::Borrowed("<p>a"), 0));
    }
}
