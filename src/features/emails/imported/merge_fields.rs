//! Translates the merge fields of Klaviyo, Mailchimp and HubSpot in imported HTML into those of Mailmill.
//!
//! A field without a counterpart is removed. Otherwise, recipients would see the field as text, or the email could not be sent. The first
//! removed fields are listed, so that users can replace them. Fields that may already be Mailmill fields stay unchanged.

use crate::engine::render::merge::{OutputKind, Template, decoded};
use crate::vocab::placeholders::{POSTAL_ADDRESS, PREFERENCES_URL, UNSUBSCRIBE_URL, VIEW_URL};

/// The maximum number of bytes of a merge field. Longer text between braces is not a merge field.
const FIELD_BYTES_MAX: usize = 400;
/// The maximum number of removed fields that are listed.
const LISTED_MAX: usize = 30;

/// TABLE: Mailmill's names for contact fields, each with the field's names on other platforms. Any other name refers to a custom field.
const NAMES: [(&str, &[&str]); 8] = [
    ("first_name", &["FNAME", "firstname", "$first_name"]),
    ("last_name", &["LNAME", "lastname", "$last_name"]),
    ("email", &["EMAIL", "$email"]),
    ("phone", &["PHONE", "phone_number", "$phone_number"]),
    ("company", &["COMPANY", "organization", "$organization"]),
    ("city", &["$city"]),
    ("country", &["$country"]),
    ("language", &["MC_LANGUAGE", "hs_language"]),
];

/// A merge field or statement, and its length including its delimiters.
struct Mark<'h> {
    syntax: Syntax,
    inside: &'h str,
    length: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// `{{ … }}`, in Klaviyo, HubSpot and Mailmill.
    Expression,
    /// `{% … %}`, in Klaviyo, HubSpot and Mailmill.
    Statement,
    /// `*|…|*`, in Mailchimp.
    Tag,
}

/// How a mark is translated.
#[derive(Debug, PartialEq, Eq)]
enum Translation {
    Unchanged,
    Into(String),
    /// A link with this URL and label. At the start of a quoted attribute value, only the URL is written.
    Link(&'static str, String),
    Removed,
}

/// Returns the HTML with its fields in Mailmill's merge language, and the first removed fields and statements, without duplicates.
pub fn translated(html: &str) -> (String, Vec<String>) {
    let source = Source { keeps_conditions: has_balanced_conditions(html), has_full_link: html.contains("unsubscribe_link_all") };
    let (mut out, mut removed) = (String::with_capacity(html.len()), Vec::new());
    let (mut marks, mut blocks, mut done) = (Marks::new(html), Blocks::default(), 0);
    while let Some(distance) = html[done..].find(['{', '*']) {
        let start = done + distance;
        out.push_str(&html[done..start]);
        let Some(mark) = marks.at(start) else {
            out.push_str(&html[start..=start]);
            done = start + 1;
            continue;
        };
        done = start + mark.length;
        let written = &html[start..done];
        let is_value = out.ends_with("=\"") || out.ends_with("='");
        match blocks.checked(&mark, written, source.translate(&mark)) {
            Translation::Unchanged => out.push_str(written),
            Translation::Into(own) => out.push_str(&own),
            Translation::Link(url, _) if is_value => out.push_str(url),
            Translation::Link(url, text) => out.push_str(&format!("<a href=\"{url}\">{text}</a>")),
            Translation::Removed => {
                // At the start of a quoted attribute value, "#" replaces the removed field, because a link without a target is less harmful
                // than an empty URL.
                out.push_str(if is_value { "#" } else { "" });
                let written = decoded(written);
                if removed.len() < LISTED_MAX && !removed.contains(&written) {
                    removed.push(written);
                }
            }
        }
    }
    out.push_str(&html[done..]);
    (out, removed)
}

/// For each open condition or loop, whether its tags are kept. If Mailmill's language cannot express a condition or loop, all its tags are
/// removed and its content stays.
#[derive(Default)]
struct Blocks(Vec<bool>);

impl Blocks {
    fn checked(&mut self, mark: &Mark<'_>, written: &str, translation: Translation) -> Translation {
        if mark.syntax != Syntax::Statement {
            return translation;
        }
        let word = mark.inside.trim_matches('-').split_whitespace().next().unwrap_or_default();
        match word {
            "if" | "for" => {
                let own = if let Translation::Into(own) = &translation { own.as_str() } else { written };
                let is_valid = Template::compile(&format!("{own}{{% end{word} %}}"), OutputKind::Html).is_ok();
                self.0.push(is_valid);
                if is_valid { translation } else { Translation::Removed }
            }
            "elif" if self.0.last() == Some(&false) => Translation::Removed,
            "else" if self.0.last() == Some(&false) => Translation::Into(String::new()),
            "endif" | "endfor" if self.0.pop() == Some(false) => Translation::Into(String::new()),
            _ => translation,
        }
    }
}

/// Finds the marks in HTML, in order.
struct Marks<'h> {
    html: &'h str,
    /// The position of the next closing delimiter of each syntax. It is stored so that not every opening delimiter causes a new search.
    closings: [usize; 3],
}

impl<'h> Marks<'h> {
    fn new(html: &'h str) -> Self {
        Self { html, closings: [0; 3] }
    }

    /// Returns the mark that starts at a position.
    fn at(&mut self, start: usize) -> Option<Mark<'h>> {
        let (syntax, close) = match self.html.get(start..start + 2)? {
            "{{" => (Syntax::Expression, "}}"),
            "{%" => (Syntax::Statement, "%}"),
            "*|" => (Syntax::Tag, "|*"),
            _ => return None,
        };
        let (inner, closing) = (start + 2, &mut self.closings[syntax as usize]);
        if *closing < inner {
            *closing = self.html[inner..].find(close).map_or(usize::MAX, |distance| inner + distance);
        }
        let end = *closing;
        if end - inner > FIELD_BYTES_MAX {
            return None;
        }
        let inside = &self.html[inner..end];
        let is_mark = syntax != Syntax::Tag || inside.starts_with(|c: char| c.is_ascii_uppercase());
        is_mark.then_some(Mark { syntax, inside, length: end + 2 - start })
    }
}

/// Returns whether each Mailchimp condition checks one field and is closed.
fn has_balanced_conditions(html: &str) -> bool {
    let (mut marks, mut depth) = (Marks::new(html), 0_u32);
    for (at, _) in html.match_indices("*|") {
        let Some(Mark { syntax: Syntax::Tag, inside, .. }) = marks.at(at) else { continue };
        let (word, field) = inside.split_once(':').unwrap_or((inside, ""));
        depth = match word {
            "IF" | "IFNOT" if own_name(field).is_some() => depth + 1,
            "ELSEIF" if depth > 0 && own_name(field).is_some() => depth,
            "ELSE" if depth > 0 => depth,
            "END" if depth > 0 && field == "IF" => depth - 1,
            "IF" | "IFNOT" | "ELSEIF" | "ELSE" | "END" => return false,
            _ => depth,
        };
    }
    depth == 0
}

/// The properties of the HTML that affect how its fields are translated.
struct Source {
    /// Whether Mailchimp's conditions are translated. If not, their tags are removed and their content stays.
    keeps_conditions: bool,
    /// Whether the HTML contains HubSpot's link for unsubscribing from all emails.
    has_full_link: bool,
}

impl Source {
    fn translate(&self, mark: &Mark<'_>) -> Translation {
        let inside = decoded(mark.inside);
        // A hyphen next to a brace tells the template engine to remove whitespace. It is not part of the field.
        let inside = inside.trim_matches('-').trim();
        match mark.syntax {
            Syntax::Expression => self.expression(inside),
            Syntax::Statement => statement(inside),
            Syntax::Tag => self.tag(inside),
        }
    }

    fn expression(&self, inside: &str) -> Translation {
        if let Some(call) = inside.strip_prefix("personalization_token(").and_then(|call| call.strip_suffix(')')) {
            let (name, default) = call.split_once(',').map_or((call, None), |(name, default)| (name, unquoted(default)));
            let name = unquoted(name).and_then(|name| name.strip_prefix("contact."));
            return name.map_or(Translation::Removed, |name| field(name, default.unwrap_or_default()));
        }
        let mut filters = inside.split('|').map(str::trim);
        let name = filters.next().unwrap_or_default();
        let mut filters: Vec<&str> = filters.collect();
        let looked_up = filters.first().and_then(|first| first.strip_prefix("lookup:")).and_then(unquoted);
        if let (Some(property), "person") = (looked_up, name) {
            filters.remove(0);
            return with_filters(property, &filters);
        }
        match name {
            "unsubscribe_link_all" => Translation::Into(UNSUBSCRIBE_URL.to_owned()),
            "unsubscribe_link" if self.has_full_link => Translation::Into(PREFERENCES_URL.to_owned()),
            "unsubscribe_link" => Translation::Into(UNSUBSCRIBE_URL.to_owned()),
            "view_as_page_url" => Translation::Into(VIEW_URL.to_owned()),
            "organization.full_address" | "site_settings.company_street_address_1" => {
                Translation::Into(POSTAL_ADDRESS.to_owned())
            }
            _ => match name.split_once('.') {
                Some(("person" | "contact", name)) => with_filters(name, &filters),
                Some(("organization" | "site_settings", _)) => Translation::Removed,
                // In Mailmill's merge language, the argument of a filter is in parentheses, so a field with `default:` is from another
                // platform.
                _ if filters.iter().any(|filter| filter.starts_with("default:")) => with_filters(name, &filters),
                _ => Translation::Unchanged,
            },
        }
    }

    fn tag(&self, inside: &str) -> Translation {
        let into = |own: &str| Translation::Into(own.to_owned());
        let condition = |word: &str, name: &str| match own_name(name) {
            Some(name) if self.keeps_conditions => Translation::Into(format!("{{% {word} {name} %}}")),
            _ => Translation::Removed,
        };
        match inside.split_once(':') {
            Some(("IF", name)) => condition("if", name),
            Some(("IFNOT", name)) => condition("if not", name),
            Some(("ELSEIF", name)) => condition("elif", name),
            Some(("ELSE", "")) if self.keeps_conditions => into("{% else %}"),
            Some(("END", "IF")) if self.keeps_conditions => into("{% endif %}"),
            Some(("LIST", "ADDRESS" | "ADDRESSLINE") | ("HTML", "LIST_ADDRESS_HTML")) => into(POSTAL_ADDRESS),
            Some(_) => Translation::Removed,
            None => match inside {
                "UNSUB" => into(UNSUBSCRIBE_URL),
                "UPDATE_PROFILE" => into(PREFERENCES_URL),
                "ARCHIVE" => into(VIEW_URL),
                // Mailchimp's system tags, which are not contact fields.
                "CURRENT_YEAR" | "REWARDS" | "REWARDS_TEXT" => Translation::Removed,
                name => field(name, ""),
            },
        }
    }
}

fn statement(inside: &str) -> Translation {
    let (word, rest) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
    let link = |url: &'static str, text: &str| {
        let text = unquoted(rest).unwrap_or(text);
        Translation::Link(url, text.replace('&', "&amp;").replace('<', "&lt;"))
    };
    match word {
        "unsubscribe_link" => Translation::Into(UNSUBSCRIBE_URL.to_owned()),
        "manage_preferences_link" => Translation::Into(PREFERENCES_URL.to_owned()),
        "web_view_link" => Translation::Into(VIEW_URL.to_owned()),
        "unsubscribe" => link(UNSUBSCRIBE_URL, "Unsubscribe"),
        "manage_preferences" => link(PREFERENCES_URL, "Manage preferences"),
        "web_view" => link(VIEW_URL, "View in browser"),
        "if" | "elif" => match rest.trim().split_once('.') {
            Some(("person" | "contact", name)) if own_name(name).is_some() => {
                Translation::Into(format!("{{% {word} {} %}}", own_name(name).unwrap_or_default()))
            }
            _ => Translation::Unchanged,
        },
        "else" | "endif" | "for" | "endfor" => Translation::Unchanged,
        _ => Translation::Removed,
    }
}

/// Returns the text between quotation marks.
fn unquoted(text: &str) -> Option<&str> {
    let text = text.trim();
    ['\'', '"'].into_iter().find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark))
}

/// Translates a field that has no filter or only a `default` filter. A field with any other filter is removed.
fn with_filters(name: &str, filters: &[&str]) -> Translation {
    match filters {
        [] => field(name, ""),
        [only] => {
            let default = only.strip_prefix("default:").and_then(unquoted);
            default.map_or(Translation::Removed, |default| field(name, default))
        }
        _ => Translation::Removed,
    }
}

/// Returns a field with default text for contacts who have no value. Without a default, Mailmill would not send the email to these
/// contacts, whereas the other platforms insert an empty string.
fn field(name: &str, default: &str) -> Translation {
    let is_plain = !default.contains(['"', '\\', '{', '}', '<', '>']);
    match own_name(name).filter(|_| is_plain) {
        // The quotation marks are entities, because the field can be in an attribute.
        Some(name) => Translation::Into(format!("{{{{ {name} | default(&quot;{}&quot;) }}}}", default.replace('&', "&amp;"))),
        None => Translation::Removed,
    }
}

/// Returns Mailmill's name for another platform's field; `None` if the name is not valid for a merge field.
fn own_name(name: &str) -> Option<&str> {
    let name = name.trim();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match NAMES.iter().find(|(_, theirs)| theirs.contains(&name)) {
        Some(&(own, _)) => Some(own),
        None => (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_word)).then_some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_links_of_each_platform_become_our_own() {
        let first = "{{ first_name | default(&quot;there&quot;) }}";
        for (theirs, own) in [
            ("{{ first_name|default:'there' }}", first),
            ("{{ person.first_name|default:&#39;there&#39; }}", first),
            ("{{ person|lookup:'Shoe'|default:'' }}", "{{ Shoe | default(&quot;&quot;) }}"),
            ("{{ person|lookup:'$organization' }}", "{{ company | default(&quot;&quot;) }}"),
            ("{{ personalization_token('contact.firstname', 'there') }}", first),
            ("{{ contact.hs_language }}", "{{ language | default(&quot;&quot;) }}"),
            ("*|FNAME|*", "{{ first_name | default(&quot;&quot;) }}"),
            ("*|SHOE|*", "{{ SHOE | default(&quot;&quot;) }}"),
            (
                "*|IF:FNAME|**|FNAME|**|ELSE:|*R&D*|END:IF|*",
                "{% if first_name %}{{ first_name | default(&quot;&quot;) }}{% else %}R&D{% endif %}",
            ),
            ("*|LIST:ADDRESSLINE|*", POSTAL_ADDRESS),
            ("{{ organization.full_address }}", POSTAL_ADDRESS),
            ("<a href=\"{% unsubscribe_link %}\">", "<a href=\"{{ unsubscribe_url }}\">"),
            ("<a href=\"{% unsubscribe %}\">", "<a href=\"{{ unsubscribe_url }}\">"),
            ("{% unsubscribe 'Stop' %}", "<a href=\"{{ unsubscribe_url }}\">Stop</a>"),
            ("{% web_view %}", "<a href=\"{{ view_url }}\">View in browser</a>"),
            ("*|UNSUB|* *|UPDATE_PROFILE|* *|ARCHIVE|*", "{{ unsubscribe_url }} {{ preferences_url }} {{ view_url }}"),
            ("{{ unsubscribe_link }}", UNSUBSCRIBE_URL),
            ("{{ unsubscribe_link_all }}{{ unsubscribe_link }}", "{{ unsubscribe_url }}{{ preferences_url }}"),
            ("{% if person.first_name %}a{% endif %}", "{% if first_name %}a{% endif %}"),
        ] {
            assert_eq!(translated(theirs), (own.to_owned(), Vec::new()), "{theirs}");
            assert!(Template::compile(own, OutputKind::Html).is_ok(), "{own}");
        }
    }

    #[test]
    fn fields_without_a_counterpart_are_removed_and_listed_once() {
        let (html, removed) =
            translated("a*|MC:SUBJECT|*b{{ person|lookup:'a b' }}c{% current_year %}*|MC:SUBJECT|*<a href=\"*|REWARDS|*\">");
        assert_eq!(html, "abc<a href=\"#\">");
        assert_eq!(removed, ["*|MC:SUBJECT|*", "{{ person|lookup:'a b' }}", "{% current_year %}", "*|REWARDS|*"]);
        for open in ["*|IF:FNAME|*x", "x*|END:IF|*", "*|IF:A=B|*x*|END:IF|*", "x*|ELSE:|*"] {
            assert_eq!(translated(open).0, "x", "{open}: an open condition could not be sent");
        }
        let foreign = "{% if person|lookup:'a b' %}{% if tags %}x{% endif %}{% else %}y{% endif %}";
        let expected = ("{% if tags %}x{% endif %}y".to_owned(), vec!["{% if person|lookup:'a b' %}".to_owned()]);
        assert_eq!(translated(foreign), expected);
    }

    #[test]
    fn our_own_fields_and_other_text_stay() {
        for text in [
            "{{ first_name | default(\"there\") }} {{- first_name -}} {%- if tags %}{% for tag in tags %}{% endfor %}{% endif %}",
            "<style>@media screen{#main{color:red}}</style> 5 * 3 | 2 *| x |* {{ open {% open *|OPEN",
            "a*b {",
        ] {
            assert_eq!(translated(text), (text.to_owned(), Vec::new()));
        }
        let long = format!("{{{{ {} }}}}", "x".repeat(FIELD_BYTES_MAX));
        assert_eq!(translated(&long).0, long);
        // If each opening delimiter caused a search of the remaining text, this test would take minutes.
        let many = "{{*|{%".repeat(200_000);
        assert_eq!(translated(&many).0, many);
    }
}
