//! Conditional comments: what Word shows of an email, and what other clients show.
//!
//! Word reads `<!--[if mso]>…<![endif]-->` and skips `<!--[if !mso]><!-->…<!--<![endif]-->`. Other clients read the markers as comments. In
//! the text that Word sees, spaces replace what Word skips, so that positions are the same as in the source.

/// The assumed version of Word, which Outlook 2016 to 2024 use.
const MSO_VERSION: f32 = 16.0;
const DEPTH_MAX: u8 = 16;

/// Returns what Word sees of the source, or `None` if the source has no conditional comments.
pub fn word_view(source: &str) -> Option<String> {
    if !source.contains("[if") {
        return None;
    }
    let mut bytes = source.as_bytes().to_vec();
    let mut closings = Closings { source, hidden: Some(0), revealed: Some(0), bogus: Some(0) };
    let mut at = 0;
    while let Some(start) = source.get(at..).and_then(|rest| rest.find("[if")).map(|found| at + found) {
        at = start + 3;
        let before = source.get(..start).unwrap_or_default();
        let Some(opening_end) = source.get(start..).and_then(|rest| rest.get(..256.min(rest.len())).or(Some(rest))?.find("]>"))
        else {
            continue;
        };
        let opening_end = start + opening_end + 2;
        let applies = evaluate(source.get(start + 3..opening_end - 2).unwrap_or_default());
        at = if before.ends_with("<!--") {
            comment(&mut bytes, start - 4, opening_end, applies, &mut closings)
        } else if before.ends_with("<!") {
            let closing = closings.bogus(opening_end);
            closing.map_or(opening_end, |closing| mark(&mut bytes, (start - 2, opening_end), closing, applies))
        } else {
            opening_end
        };
    }
    String::from_utf8(bytes).ok()
}

/// Processes the conditional comment that starts at `start`, and returns the offset to continue from.
fn comment(bytes: &mut [u8], start: usize, opening_end: usize, applies: bool, closings: &mut Closings<'_>) -> usize {
    let rest = closings.source.get(opening_end..).unwrap_or_default();
    let revealed = ["<!-->", "-->", "<!-- -->", "<!--->"].iter().find(|marker| rest.starts_with(**marker));
    if let Some(marker) = revealed {
        let opening = (start, opening_end + marker.len());
        return closings.revealed(opening.1).map_or(opening.1, |closing| mark(bytes, opening, closing, applies));
    }
    match closings.hidden(opening_end) {
        // To Word, a conditional comment that does not apply is an ordinary comment, so it needs no change.
        Some(closing) if !applies => closing.1,
        Some(closing) => {
            mark(bytes, (start, opening_end), closing, true);
            closing.1
        }
        None => opening_end,
    }
}

/// Replaces the markers with spaces if the content applies; otherwise replaces the markers and the content.
fn mark(bytes: &mut [u8], opening: (usize, usize), closing: (usize, usize), applies: bool) -> usize {
    if applies {
        blank(bytes, opening);
        blank(bytes, closing);
        return opening.1;
    }
    blank(bytes, (opening.0, closing.1));
    closing.1
}

fn blank(bytes: &mut [u8], (start, end): (usize, usize)) {
    for byte in bytes.get_mut(start..end).unwrap_or_default() {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Finds the next closing marker of each kind, and remembers the marker's position so that the source is read only once.
struct Closings<'a> {
    source: &'a str,
    /// The offset of the next marker, or 0 before the first search; `None` if there are no more markers.
    hidden: Option<usize>,
    revealed: Option<usize>,
    bogus: Option<usize>,
}

impl Closings<'_> {
    fn hidden(&mut self, from: usize) -> Option<(usize, usize)> {
        let found = next(self.source, &mut self.hidden, from, "<![endif]-->");
        found.map(|start| (start, start + "<![endif]-->".len()))
    }

    fn revealed(&mut self, from: usize) -> Option<(usize, usize)> {
        let marker = "<!--<![endif]-->";
        let found = next(self.source, &mut self.revealed, from, marker);
        found.map(|start| (start, start + marker.len()))
    }

    fn bogus(&mut self, from: usize) -> Option<(usize, usize)> {
        let found = next(self.source, &mut self.bogus, from, "<![endif]>");
        found.map(|start| (start, start + "<![endif]>".len()))
    }
}

fn next(source: &str, known: &mut Option<usize>, from: usize, marker: &str) -> Option<usize> {
    let start = (*known)?;
    if start >= from && source.get(start..).is_some_and(|rest| rest.starts_with(marker)) {
        return Some(start);
    }
    *known = source.get(from..).and_then(|rest| rest.find(marker)).map(|found| from + found);
    *known
}

/// Evaluates the expression of a conditional comment, such as `(gte mso 9)|(IE)`, as Word would.
pub fn evaluate(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('!', " ! ").replace('&', " & ").replace('|', " | ");
    let words: Vec<&str> = spaced.split_whitespace().take(64).collect();
    let mut words = words.into_iter().peekable();
    either(&mut words, 0)
}

type Words<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

fn either(words: &mut Words<'_>, depth: u8) -> bool {
    let mut result = both(words, depth);
    while words.next_if_eq(&"|").is_some() {
        result |= both(words, depth);
    }
    result
}

fn both(words: &mut Words<'_>, depth: u8) -> bool {
    let mut result = one(words, depth);
    while words.next_if_eq(&"&").is_some() {
        result &= one(words, depth);
    }
    result
}

fn one(words: &mut Words<'_>, depth: u8) -> bool {
    if depth > DEPTH_MAX {
        return false;
    }
    let Some(word) = words.next() else { return false };
    match word.to_ascii_lowercase().as_str() {
        "!" => !one(words, depth + 1),
        "(" => {
            let result = either(words, depth + 1);
            words.next_if_eq(&")");
            result
        }
        comparison @ ("lt" | "lte" | "gt" | "gte") => {
            let feature = words.next().unwrap_or_default();
            let version: f32 = words.next().and_then(|version| version.parse().ok()).unwrap_or_default();
            feature.eq_ignore_ascii_case("mso")
                && match comparison {
                    "lt" => MSO_VERSION < version,
                    "lte" => MSO_VERSION <= version,
                    "gt" => MSO_VERSION > version,
                    _ => MSO_VERSION >= version,
                }
        }
        "mso" => match words.peek().and_then(|version| version.parse::<f32>().ok()) {
            Some(version) => {
                words.next();
                (version - MSO_VERSION).abs() < 0.5
            }
            None => true,
        },
        "vml" | "true" => true,
        _ => {
            words.next_if(|word| word.parse::<f32>().is_ok());
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_evaluated_as_in_word() {
        for expression in ["mso", "gte mso 9", "(gte mso 9)|(IE)", "mso | IE", "!IE", "vml", "(mso)&(gt mso 12)", "mso 16"] {
            assert!(evaluate(expression), "{expression}");
        }
        for expression in ["!mso", "lt mso 12", "IE", "gte IE 9", "(mso)&(lt mso 12)", "!(mso)", "", "(((", "mso 12", "false"] {
            assert!(!evaluate(expression), "{expression}");
        }
    }

    #[test]
    fn word_sees_what_is_hidden_from_others() {
        let view = |source: &str| {
            let view = word_view(source).unwrap_or_else(|| source.to_owned());
            assert_eq!(view.len(), source.len());
            view.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(view("a <!--[if mso]><p>b</p><![endif]--> c"), "a <p>b</p> c");
        assert_eq!(view("a <!--[if !mso]><!--><p>ä</p><!--<![endif]--> c"), "a c");
        assert_eq!(view("a <![if !mso]><p>b</p><![endif]> c"), "a c");
        assert_eq!(view("a <!--[if lt mso 9]><p>b</p><![endif]--> c"), "a <!--[if lt mso 9]><p>b</p><![endif]--> c");
        assert_eq!(view("a <!--[if mso]>b"), "a <!--[if mso]>b");
        assert_eq!(view("plain"), "plain");
        let nested = "<!--[if !vml]>--><i>x</i><!--<![endif]--><!--[if mso]>y<![endif]-->";
        assert_eq!(view(nested), "y");
    }
}
