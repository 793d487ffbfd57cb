//! Placeholders in emails for values that are known later, such as `{{ name }}`.
//!
//! A placeholder consists of two opening braces, a name of lowercase letters, digits and underscores, an optional filter `default("…")` for
//! recipients without the value, and two closing braces. Documents, MJML, HTML and plain text contain placeholders unchanged. Except for
//! [`POSTAL_ADDRESS`], they are filled in for each recipient when the email is sent.

/// The placeholder for the recipient's unsubscribe URL.
pub const UNSUBSCRIBE_URL: &str = "{{ unsubscribe_url }}";

/// The placeholder for the URL that shows the email in a browser.
pub const VIEW_URL: &str = "{{ view_url }}";

/// The placeholder for the URL where the recipient chooses topics.
pub const PREFERENCES_URL: &str = "{{ preferences_url }}";

/// The placeholder for the brand's postal address, which is filled in whenever a stored email is loaded.
pub const POSTAL_ADDRESS: &str = "{{ postal_address }}";

/// The placeholders whose value is a URL.
pub const LINKS: [&str; 3] = [UNSUBSCRIBE_URL, VIEW_URL, PREFERENCES_URL];

/// Returns a description of an invalid use of braces in `text`; `None` if all braces belong to placeholders or plain text.
///
/// `{%` and `{#` start statements and comments of the merge language, which documents do not support.
pub fn problem(text: &str) -> Option<String> {
    if let Some(mark) = ["{%", "{#"].into_iter().find(|mark| text.contains(mark)) {
        return Some(format!("contains {mark}, which is not allowed here; write merge fields like {{{{ first_name }}}}"));
    }
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        let inside = &rest[open + 2..];
        let Some(close) = inside.find("}}") else { return Some("contains {{ without }}; close or remove the braces".to_owned()) };
        if !is_field(inside[..close].trim()) {
            let wrong = &rest[open..open + 2 + close + 2];
            return Some(format!("contains {wrong}, which is not a merge field; write merge fields like {{{{ first_name }}}}"));
        }
        rest = &inside[close + 2..];
    }
    None
}

/// Returns whether the text between the braces has the form `name` or `name | default("words")`.
fn is_field(inside: &str) -> bool {
    is_field_of(inside, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Returns whether the text between the braces is a merge field of an imported email, such as `firstName` or `customFields.plan`.
fn is_foreign_field(inside: &str) -> bool {
    is_field_of(inside, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

fn is_field_of(inside: &str, may_be_in_name: fn(char) -> bool) -> bool {
    let (name, filter) = inside.split_once('|').map_or((inside, None), |(name, filter)| (name.trim_end(), Some(filter.trim())));
    let named = name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(may_be_in_name);
    let words = |filter: &str| {
        let words = filter.strip_prefix("default(\"")?.strip_suffix("\")")?;
        Some(!words.contains(['"', '\\', '{', '}', '<', '>', '&']))
    };
    named && filter.is_none_or(|filter| words(filter) == Some(true))
}

/// Returns the HTML as a recipient might see it: placeholders are replaced with their default or, without one, with the words of their
/// name. A placeholder for a URL becomes `#`.
pub fn preview(html: &str) -> String {
    let mut shown = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(open) = rest.find("{{") {
        let Some(close) = rest[open..].find("}}").map(|close| open + close) else { break };
        let inside = rest[open + 2..close].trim().replace("&quot;", "\"");
        shown.push_str(&rest[..open]);
        match is_foreign_field(&inside) {
            true => shown.push_str(&stand_in(&inside)),
            false => shown.push_str(&rest[open..close + 2]),
        }
        rest = &rest[close + 2..];
    }
    shown.push_str(rest);
    shown
}

/// Returns the preview text for a field: its default or, without one, the words of its name; `#` for a URL.
fn stand_in(field: &str) -> String {
    let default = field.split_once("default(\"").and_then(|(_, words)| words.strip_suffix("\")"));
    match (field, default) {
        // Links in a preview must lead nowhere, so a default for a URL is ignored.
        (name, _) if name.ends_with("_url") => "#".to_owned(),
        (_, Some(words)) => words.to_owned(),
        (name, None) => words(name.rsplit('.').next().unwrap_or(name)),
    }
}

/// Converts a field's name to words. `first_name` and `firstName` become the same words.
fn words(name: &str) -> String {
    let mut said = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        match c {
            '_' => said.push(' '),
            c if c.is_ascii_uppercase() => said.extend([' ', c.to_ascii_lowercase()]),
            c => said.push(c),
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_plain_braces_are_fine() {
        for text in ["", "a { b } c", "Hello {{ first_name }}!", "{{first_name|default(\"friend\")}}", UNSUBSCRIBE_URL] {
            assert_eq!(problem(text), None, "{text}");
        }
    }

    #[test]
    fn a_preview_shows_defaults_and_names() {
        for (html, shown) in [
            ("Hello {{ first_name | default(&quot;there&quot;) }},", "Hello there,"),
            ("{{ first_name }}! <a href=\"{{ unsubscribe_url }}\">", "first name! <a href=\"#\">"),
            ("{{ firstName }} {{ customFields.shoeSize | default(\"38\") }} {{ customFields.plan }}", "first name 38 plan"),
            ("{{ 1 + 1 }} {{ a", "{{ 1 + 1 }} {{ a"),
        ] {
            assert_eq!(preview(html), shown);
        }
    }

    #[test]
    fn any_other_merge_syntax_is_reported() {
        for text in ["{% for x in y %}", "{# a #}", "{{ a.b }}", "{{ 1 + 1 }}", "{{ a", "{{ A }}", "{{ a | safe }}", "{{}}"] {
            assert!(problem(text).is_some(), "{text}");
        }
    }
}
