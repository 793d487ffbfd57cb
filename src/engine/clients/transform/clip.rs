//! Clips a message that exceeds a client's size limit.

use super::super::html::{self, VOID};
use crate::base::source::Lines;

/// The line that Gmail shows at the end of a clipped message.
const MESSAGE: &str = concat!(
    "<div style=\"padding:16px 0;font-family:Arial,sans-serif;font-size:14px\">[Message clipped]&nbsp; ",
    "<a href=\"#\">View entire message</a></div>"
);

pub struct Clipped {
    pub html: String,
    /// The line of the email where the clipped message ends.
    pub line: u32,
}

/// Returns where a client with this limit clips a message, or `None` if the message is short enough.
pub fn clip_end(html: &str, limit: usize) -> Option<usize> {
    if html.len() <= limit {
        return None;
    }
    let mut end = limit;
    while !html.is_char_boundary(end) {
        end -= 1;
    }
    let head = html.get(..end)?;
    // Browsers would not show `MESSAGE` in a comment or after an incomplete tag, so the email is clipped before such a comment or tag.
    let comment = head.rfind("<!--").filter(|open| !head[*open..].contains("-->"));
    Some(match (comment, head.rfind('<'), head.rfind('>')) {
        (Some(comment), ..) => comment,
        (None, Some(open), Some(close)) if open > close => open,
        (None, Some(open), None) => open,
        _ => end,
    })
}

/// Clips a message at the limit, or before a comment or tag that crosses the limit. Returns `None` if the message is short enough.
pub fn clip(html: &str, limit: usize) -> Option<Clipped> {
    let end = clip_end(html, limit)?;
    let head = html.get(..end)?;
    let document = html::parse(head, false);
    let is_open = |element: &&html::Element<'_>| {
        element.end_tag.is_none() && element.content_end as usize == head.len() && !VOID.contains(&&*element.name)
    };
    let open: Vec<String> = document.elements.iter().filter(is_open).map(|element| format!("</{}>", element.name)).collect();
    let (inside, outside): (Vec<&String>, Vec<&String>) =
        open.iter().rev().partition(|tag| !matches!(tag.as_str(), "</body>" | "</html>"));
    let join = |tags: Vec<&String>| tags.into_iter().map(String::as_str).collect::<String>();
    let line = Lines::new(html).position(u32::try_from(end).unwrap_or(u32::MAX)).0;
    Some(Clipped { html: format!("{head}{}{MESSAGE}{}", join(inside), join(outside)), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_ends_before_the_tag_at_the_limit() {
        let html = format!("<html><body><table><tr><td>{}<b title=\"x\">y</b></td></tr></table></body></html>", "é".repeat(20));
        assert!(clip(&html, 1000).is_none());
        let clipped = clip(&html, 75).expect("the message is too long");
        assert!(clipped.html.starts_with("<html><body><table><tr><td>éé"), "{}", clipped.html);
        assert!(clipped.html.ends_with("View entire message</a></div></body></html>"), "{}", clipped.html);
        assert!(clipped.html.contains("</td></tr></table><div"), "{}", clipped.html);
    }

    #[test]
    fn a_message_that_is_clipped_in_a_comment_shows_the_line() {
        let html = format!("<body><!-- a --><p>x</p><!--[if mso]><table><tr><td>{}<![endif]--></body>", "y".repeat(80));
        let clipped = clip(&html, 80).expect("the message is too long");
        assert!(clipped.html.starts_with("<body><!-- a --><p>x</p><div"), "{}", clipped.html);
    }
}
