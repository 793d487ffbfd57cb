//! HTML made harmless to parse: by its rules, elements that are never closed cost more with each tag that follows, and a few
//! megabytes of them keep a machine busy for hours or fill its memory. What is dropped here no page for people has.

use std::borrow::Cow;
use std::collections::HashMap;

/// Tags of one page. The largest pages have some 50,000.
const TAGS_MAX: usize = 200_000;
/// Elements that are open at a time. Browsers stop at 512.
const OPEN_MAX: usize = 500;
/// Elements that change the writing are opened again in every paragraph until they are closed; old pages forget some.
const FORMATTING_MAX: usize = 24;

const FORMATTING: [&str; 14] = ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// Elements that have no end, or that the next one of their kind ends.
const PASSING: [&str; 32] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "p", "li",
    "dt", "dd", "option", "optgroup", "tr", "td", "th", "tbody", "thead", "tfoot", "colgroup", "caption", "html", "head", "body",
    "frame",
];
/// Elements whose inside is text, whatever it looks like.
const RAW: [&str; 6] = ["script", "style", "textarea", "title", "xmp", "iframe"];

/// `html` without the tags that would make too much of it.
pub fn hardened(html: &str) -> Cow<'_, str> {
    let mut open: HashMap<String, usize> = HashMap::new();
    let (mut open_count, mut formatting_count, mut tags) = (0_usize, 0_usize, 0_usize);
    let mut kept: Option<String> = None;
    // What stands before `done` is kept or dropped already.
    let (mut done, mut at) = (0, 0);
    while let Some(start) = html[at..].find('<').map(|found| at + found) {
        let rest = &html[start + 1..];
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
        tags += 1;
        if tags > TAGS_MAX {
            kept.get_or_insert_default().push_str(&html[done..start]);
            return Cow::Owned(kept.unwrap_or_default());
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

/// Where the tag that begins at `start` ends: behind its bracket, or at the end of everything.
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

/// Where the end tag of the text that begins at `from` stands.
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

    #[test]
    fn pages_for_people_stay_as_they_are() {
        let page = "<!doctype html><!-- <b><b> --><script>if (a<b) '<div>'</script><p><font>One<p><font>Two<br><a title='a>b'>x</a><DIV></div>";
        assert!(matches!(hardened(page), Cow::Borrowed(same) if same == page));
        let forgetful = "<p><font size=2>One".repeat(20);
        assert_eq!(hardened(&forgetful), forgetful);
    }

    #[test]
    fn what_is_open_is_bounded_and_the_text_stays() {
        for tag in ["<div>", "<b>", "<div></x>", "<b a=1>", "<table>"] {
            let page = format!("{}text", tag.repeat(100_000));
            let tamed = hardened(&page);
            assert!(tamed.matches(tag.split_once('>').map_or("", |(start, _)| start)).count() <= OPEN_MAX, "{tag}");
            assert!(tamed.ends_with("text"));
        }
    }

    #[test]
    fn a_page_without_end_is_cut() {
        let page = "<br>".repeat(TAGS_MAX * 2);
        assert_eq!(hardened(&page).len(), TAGS_MAX * 4);
    }
}
