//! Translates the merge fields of an email into the language of another platform.
//!
//! A field without a counterpart is removed (a link becomes `#`), because the platform would show it as text or reject the template.
//! Statements are removed for the same reason. The removed fields and statements are listed, so that users can replace them.

use super::regions::{self, body_end};
use crate::engine::render::merge::decoded;
use crate::features::connections::templates::TemplateKind;
use crate::vocab::providers::Provider;

/// An email in a platform's merge language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    pub html: String,
    /// The removed merge fields and statements as written in the email, without duplicates.
    pub untranslated: Vec<String>,
}

/// Translates the HTML of an email for a kind of template or draft, and marks the parts that users can edit on the platform.
pub fn translate_for(html: &str, kind: TemplateKind, name: &str) -> Translation {
    let translation = translate(html, kind.provider(), name);
    let html = match kind {
        TemplateKind::KlaviyoHybrid => regions::klaviyo(&translation.html),
        TemplateKind::MailchimpTemplate => regions::mailchimp(&translation.html),
        TemplateKind::KlaviyoCode
        | TemplateKind::MailchimpCampaign
        | TemplateKind::HubSpotTemplate
        | TemplateKind::HubSpotEmail => translation.html,
    };
    Translation { html, ..translation }
}

/// Translates the HTML of an email and adds the footer that the platform requires. `name` is the name of the template.
fn translate(html: &str, provider: Provider, name: &str) -> Translation {
    let (html, untranslated) = translate_fields(html, provider, Markup::Html);
    let html = with_footer(&html, provider);
    let html = if provider == Provider::HubSpot { as_coded_template(&html, name) } else { html };
    Translation { html, untranslated }
}

/// The format of text, which determines how special characters are escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Markup {
    Html,
    Plain,
}

impl Markup {
    fn decoded(self, text: &str) -> String {
        match self {
            Self::Html => decoded(text),
            Self::Plain => text.to_owned(),
        }
    }
}

/// Translates the merge fields in plain text, such as a subject. Returns the text and the removed fields and statements.
pub fn translate_text(text: &str, provider: Provider) -> (String, Vec<String>) {
    translate_fields(text, provider, Markup::Plain)
}

fn translate_fields(html: &str, provider: Provider, markup: Markup) -> (String, Vec<String>) {
    let mut out = String::with_capacity(html.len() + 512);
    let mut untranslated: Vec<String> = Vec::new();
    let mut rest = html;
    let mut marks = ClosingMarks::default();
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let Some(end) = marks.end_of(rest) else {
            out.push('{');
            rest = &rest[1..];
            // HubSpot rejects a template with an opening mark that is never closed. In minified CSS, HubSpot reads a brace and the first
            // character of a selector, such as `{#`, as an opening mark, so a space is inserted between the brace and the character.
            if provider == Provider::HubSpot && rest.starts_with(['#', '%', '{']) {
                out.push(' ');
            }
            continue;
        };
        let (written, after) = rest.split_at(end);
        rest = after;
        let field = written.starts_with("{{").then(|| Field::parse(&written[2..end - 2], markup)).flatten();
        match field.and_then(|field| field.spelled(provider)) {
            Some(spelled) => out.push_str(&spelled),
            // A comment has no output, so removing it is not reported.
            None if written.starts_with("{#") => {}
            None => {
                let written = markup.decoded(written);
                // A link without a target is less harmful than a link to a placeholder.
                out.push_str(if written.contains("_url") { "#" } else { "" });
                if !untranslated.contains(&written) {
                    untranslated.push(written);
                }
            }
        }
    }
    out.push_str(rest);
    (out, untranslated)
}

/// Finds the closing marks of fields, statements and comments. Stores which closing marks are absent, so that HTML is not searched to its
/// end for each opening mark.
#[derive(Default)]
struct ClosingMarks {
    no_field: bool,
    no_statement: bool,
    /// The length, in bytes, of the text after the line in which the last search for the end of a comment failed. If the remaining text is
    /// longer, it starts in that line, so the search is not repeated.
    no_comment: Option<usize>,
}

impl ClosingMarks {
    /// Returns the end of the field, statement or comment at the start of the text; `None` if none starts there, or if its closing mark is
    /// missing. A comment must end on its first line, because CSS rules often start with `{#`.
    fn end_of(&mut self, text: &str) -> Option<usize> {
        let (close, is_absent) = match text.as_bytes().get(1)? {
            b'{' => ("}}", &mut self.no_field),
            b'%' => ("%}", &mut self.no_statement),
            b'#' => return self.end_of_comment(text),
            _ => return None,
        };
        if *is_absent {
            return None;
        }
        let end = text[2..].find(close).map(|at| at + 4);
        *is_absent = end.is_none();
        end
    }

    fn end_of_comment(&mut self, text: &str) -> Option<usize> {
        if self.no_comment.is_some_and(|left| text.len() > left) {
            return None;
        }
        let line = text.lines().next().unwrap_or_default();
        let end = line[2..].find("#}").map(|at| at + 4);
        if end.is_none() {
            self.no_comment = Some(text.len() - line.len());
        }
        end
    }
}

/// A merge field: its name and the default for contacts who have no value.
struct Field {
    name: String,
    default: Option<String>,
}

impl Field {
    fn parse(inside: &str, markup: Markup) -> Option<Self> {
        let inside = markup.decoded(inside);
        let inside = inside.trim();
        let (name, filter) = inside.split_once('|').map_or((inside, None), |(name, filter)| (name, Some(filter)));
        let name = name.trim();
        let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_name = name.split('.').all(is_word);
        let default = match filter.map(str::trim) {
            None => None,
            Some(filter) => Some(filter.strip_prefix("default(\"")?.strip_suffix("\")")?.to_owned()),
        };
        let is_plain = |words: &String| !words.contains(['"', '\\', '{', '}', '|', '*', '<', '>']);
        let is_valid = is_name && default.as_ref().is_none_or(is_plain);
        // The decoded text is inserted into HTML again, so `&` is escaped again.
        let written = |words: String| if markup == Markup::Html { words.replace('&', "&amp;") } else { words };
        is_valid.then(|| Self { name: name.to_owned(), default: default.map(written) })
    }

    /// Returns the field in a platform's merge language; `None` if the platform has no counterpart.
    fn spelled(&self, provider: Provider) -> Option<String> {
        match provider {
            Provider::Klaviyo => self.klaviyo(),
            Provider::Mailchimp => self.mailchimp(),
            Provider::HubSpot => self.hubspot(),
        }
    }

    /// Returns the field's name without the prefix `customFields.`.
    fn custom(&self) -> &str {
        self.name.strip_prefix("customFields.").unwrap_or(&self.name)
    }

    fn klaviyo(&self) -> Option<String> {
        let own = |property: &str| format!("person|lookup:'{property}'");
        let value = match self.name.as_str() {
            "unsubscribe_url" => return Some("{% unsubscribe_link %}".to_owned()),
            "preferences_url" => return Some("{% manage_preferences_link %}".to_owned()),
            "view_url" => return Some("{% web_view_link %}".to_owned()),
            "email" => "email".to_owned(),
            "first_name" | "firstName" => "first_name".to_owned(),
            "last_name" | "lastName" => "last_name".to_owned(),
            "company" => own("$organization"),
            "phone" => own("$phone_number"),
            "city" => own("$city"),
            "country" => own("$country"),
            "postal_address" => return Some("{{ organization.full_address }}".to_owned()),
            "name" | "language" | "tags" | "customFields" => return None,
            _ => own(self.custom()),
        };
        Some(match &self.default {
            // The default is in single quotation marks. A double quotation mark would end an HTML attribute, and an entity would not be
            // decoded inside braces.
            Some(words) => format!("{{{{ {value}|default:'{}' }}}}", words.replace('\'', "\\'")),
            None => format!("{{{{ {value}|default:'' }}}}"),
        })
    }

    fn mailchimp(&self) -> Option<String> {
        let tag = match self.name.as_str() {
            "unsubscribe_url" => return Some("*|UNSUB|*".to_owned()),
            "preferences_url" => return Some("*|UPDATE_PROFILE|*".to_owned()),
            "view_url" => return Some("*|ARCHIVE|*".to_owned()),
            "postal_address" => return Some("*|LIST:ADDRESSLINE|*".to_owned()),
            "email" => "EMAIL",
            "first_name" | "firstName" => "FNAME",
            "last_name" | "lastName" => "LNAME",
            "phone" => "PHONE",
            "company" => "COMPANY",
            "language" => "MC_LANGUAGE",
            _ => self.custom(),
        };
        // Merge tags have up to ten uppercase letters, digits and underscores, except for `MC_LANGUAGE`, which has eleven. Custom fields
        // imported from Mailchimp have such names.
        let is_tag = (tag.len() <= 10 || tag == "MC_LANGUAGE")
            && tag.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        is_tag.then(|| match &self.default {
            Some(words) => format!("*|IF:{tag}|**|{tag}|**|ELSE:|*{words}*|END:IF|*"),
            None => format!("*|{tag}|*"),
        })
    }

    fn hubspot(&self) -> Option<String> {
        let property = match self.name.as_str() {
            "unsubscribe_url" => return Some("{{ unsubscribe_link_all }}".to_owned()),
            "preferences_url" => return Some("{{ unsubscribe_link }}".to_owned()),
            "view_url" => return Some("{{ view_as_page_url }}".to_owned()),
            "first_name" | "firstName" => "firstname",
            "last_name" | "lastName" => "lastname",
            "language" => "hs_language",
            "name" | "tags" | "customFields" | "postal_address" => return None,
            "email" | "phone" | "company" | "city" | "country" => self.name.as_str(),
            _ => self.custom(),
        };
        // HubSpot's internal property names contain only lowercase letters, digits and underscores.
        let is_property = property.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        is_property.then(|| match &self.default {
            Some(words) => format!("{{{{ personalization_token('contact.{property}', '{}') }}}}", words.replace('\'', "\\'")),
            None => format!("{{{{ contact.{property} }}}}"),
        })
    }
}

/// Adds an unsubscribe link and the postal address from the account's settings on the platform, unless the HTML already has an unsubscribe
/// link. The platforms require both in marketing email.
fn with_footer(html: &str, provider: Provider) -> String {
    let (marks, link, address): (&[&str], _, _) = match provider {
        Provider::Klaviyo => (
            &["{% unsubscribe", "{%unsubscribe"],
            "{% unsubscribe_link %}",
            "{{ organization.name }}, {{ organization.full_address }}<br>",
        ),
        Provider::Mailchimp => (&["*|UNSUB|*"], "*|UNSUB|*", "*|LIST:COMPANY|*, *|LIST:ADDRESSLINE|*<br>"),
        // For HubSpot, the function `as_coded_template` adds the address.
        Provider::HubSpot => (&["unsubscribe_link", "unsubscribe_section"], "{{ unsubscribe_link_all }}", ""),
    };
    if marks.iter().any(|mark| html.contains(mark)) {
        return html.to_owned();
    }
    let footer = format!("<div style=\"{FOOTER_STYLE}\">{address}<a href=\"{link}\">Unsubscribe</a></div>");
    let at = body_end(html);
    format!("{}{footer}{}", &html[..at], &html[at..])
}

const FOOTER_STYLE: &str = "font-family:Arial,sans-serif;font-size:12px;color:#666666;text-align:center;padding:16px";

/// The variables that HubSpot requires in a coded email, in the order of a postal address.
const HUBSPOT_FOOTER: [&str; 4] = [
    "{{ site_settings.company_name }}",
    "{{ site_settings.company_street_address_1 }}",
    "{{ site_settings.company_city }}",
    "{{ site_settings.company_state }}",
];

/// Adds the parts that HubSpot requires in a coded email: the template annotations and a footer with the postal address from the HubSpot
/// account's settings.
fn as_coded_template(html: &str, name: &str) -> String {
    let label: String = name.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>' | '-' | '{' | '}')).collect();
    let head = format!("<!--\n  templateType: email\n  isAvailableForNewContent: true\n  label: {label}\n-->\n");
    let footer = format!("<div style=\"{FOOTER_STYLE}\">{}</div>", HUBSPOT_FOOTER.join(", "));
    let at = body_end(html);
    format!("{head}{}{footer}{}", &html[..at], &html[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(html: &str, provider: Provider) -> (String, Vec<String>) {
        translate_fields(html, provider, Markup::Html)
    }

    #[test]
    fn fields_defaults_and_links_are_spelled_in_each_language() {
        let html = "Hi {{ first_name | default(&quot;there&quot;) }} {{firstName}} <a href=\"{{ unsubscribe_url }}\">x</a>";
        assert_eq!(
            one(html, Provider::Klaviyo).0,
            "Hi {{ first_name|default:'there' }} {{ first_name|default:'' }} <a href=\"{% unsubscribe_link %}\">x</a>"
        );
        assert_eq!(
            one(html, Provider::Mailchimp).0,
            "Hi *|IF:FNAME|**|FNAME|**|ELSE:|*there*|END:IF|* *|FNAME|* <a href=\"*|UNSUB|*\">x</a>"
        );
        let hubspot = translate(html, Provider::HubSpot, "Welcome").html;
        assert!(hubspot.starts_with("<!--\n  templateType: email\n") && hubspot.contains("label: Welcome"), "{hubspot}");
        assert!(
            hubspot.contains("Hi {{ personalization_token('contact.firstname', 'there') }} {{ contact.firstname }} "),
            "{hubspot}"
        );
        assert!(hubspot.contains("href=\"{{ unsubscribe_link_all }}\""), "{hubspot}");
    }

    #[test]
    fn fields_without_a_counterpart_are_removed_and_listed_once() {
        for (provider, kept) in
            [(Provider::Klaviyo, "{{ person|lookup:'shoeSize'|default:'' }}"), (Provider::Mailchimp, ""), (Provider::HubSpot, "")]
        {
            let (html, untranslated) = one("a{{ customFields.shoeSize }}b{{ tags }}c{{ tags }}{% if x %}{# note #}", provider);
            assert!(html.contains(&format!("a{kept}bc")), "{html}");
            let mut expected = vec!["{{ tags }}".to_owned(), "{% if x %}".to_owned()];
            if kept.is_empty() {
                expected.insert(0, "{{ customFields.shoeSize }}".to_owned());
            }
            assert_eq!(untranslated, expected, "{provider}");
        }
        assert_eq!(one("{{ customFields.SHOE }}", Provider::Mailchimp), ("*|SHOE|*".to_owned(), Vec::new()));
        assert_eq!(one("<a href=\"{{ other_url | upper }}\">", Provider::Klaviyo).0, "<a href=\"#\">");
    }

    #[test]
    fn the_footer_of_a_coded_email_is_inside_the_body() {
        let html = translate("<html><body>Hello</BODY></html>", Provider::HubSpot, "Welcome").html;
        assert!(html.contains("Hello<div") && html.ends_with("</div></BODY></html>"), "{html}");
        assert!(HUBSPOT_FOOTER.iter().all(|variable| html.contains(variable)));
    }

    #[test]
    fn html_without_an_unsubscribe_link_gets_one_with_the_address() {
        for (provider, link, address) in [
            (Provider::Klaviyo, "{% unsubscribe_link %}", "{{ organization.full_address }}"),
            (Provider::Mailchimp, "*|UNSUB|*", "*|LIST:ADDRESSLINE|*"),
            (Provider::HubSpot, "{{ unsubscribe_link_all }}", "{{ site_settings.company_street_address_1 }}"),
        ] {
            let bare = translate("<body>Hello</body>", provider, "Welcome").html;
            assert!(bare.contains(&format!("href=\"{link}\"")) && bare.contains(address), "{provider}: {bare}");
            let linked = translate("<body><a href=\"{{ unsubscribe_url }}\">Stop</a></body>", provider, "Welcome").html;
            assert_eq!(linked.matches("unsub").count() + linked.matches("UNSUB").count(), 1, "{provider}: {linked}");
            let own = translate("<body>{{ postal_address }}</body>", Provider::Klaviyo, "Welcome");
            assert!(own.untranslated.is_empty() && own.html.contains("<body>{{ organization.full_address }}"), "{}", own.html);
        }
    }

    #[test]
    fn words_cannot_leave_their_quotation_marks() {
        let html = "{{ first_name | default(\"it's\") }}";
        assert_eq!(one(html, Provider::Klaviyo).0, "{{ first_name|default:'it\\'s' }}");
        assert!(one(html, Provider::HubSpot).0.contains("personalization_token('contact.firstname', 'it\\'s')"));
        let (html, untranslated) = one("{{ first_name | default(\"*|UNSUB|*\") }} {{ open", Provider::Mailchimp);
        assert_eq!((html.as_str(), untranslated.len()), (" {{ open", 1));
    }

    #[test]
    fn css_rules_are_text_and_opening_marks_without_an_end_hide_nothing() {
        let css = "<style>@media screen{#main{color:red}}\n</style>";
        for (before, kept) in [(css, css), ("{{ open", ""), ("{% open", "{% open"), ("{#\n#}", "{#\n#}"), ("{{{", "")] {
            let (html, untranslated) = one(&format!("{before} }}}} {{{{ first_name }}}}{{# note #}}."), Provider::Mailchimp);
            assert!(html.ends_with("*|FNAME|*.") && html.starts_with(kept), "{before}: {html}");
            assert!(untranslated.len() <= 1, "{before}: {untranslated:?}");
        }
        assert_eq!(one("{{ first_name }} {{ open {# x", Provider::Mailchimp).0, "*|FNAME|* {{ open {# x");
        let many = "{#a{{".repeat(200_000);
        assert_eq!(one(&many, Provider::Mailchimp).0, many);
    }

    #[test]
    fn words_in_attributes_and_entities_stay_valid() {
        let html = "<img alt=\"{{ first_name | default(&#34;R&amp;D isn&#39;t&#x22;) }}\">";
        assert_eq!(one(html, Provider::Klaviyo).0, "<img alt=\"{{ first_name|default:'R&amp;D isn\\'t' }}\">");
        assert_eq!(one(html, Provider::Mailchimp).0, "<img alt=\"*|IF:FNAME|**|FNAME|**|ELSE:|*R&amp;D isn't*|END:IF|*\">");
        assert_eq!(one("{{ tags | join(&#34;, &#34;) }}", Provider::Klaviyo).1, ["{{ tags | join(\", \") }}"]);
    }

    // Regression test: if the default of a merge field in a subject was "Tom & Jerry", the exported subject contained `&amp;`.
    #[test]
    fn plain_text_has_no_entities() {
        let subject = "R&amp;D for {{ first_name | default(\"Tom & Jerry\") }}";
        assert_eq!(
            translate_text(subject, Provider::Klaviyo).0,
            "R&amp;D for {{ first_name|default:'Tom & Jerry' }}",
            "text outside of fields stays as it is"
        );
        assert_eq!(
            translate_text("{{ first_name | default(\"Tom & Jerry\") }}", Provider::Mailchimp).0,
            "*|IF:FNAME|**|FNAME|**|ELSE:|*Tom & Jerry*|END:IF|*"
        );
    }

    // Regression test: HubSpot rejected the template, because it read `{#` in minified CSS as a comment without an end.
    #[test]
    fn css_rules_open_no_comment_in_hubspot() {
        let css = "<style>@media screen{#main{color:red}}\n</style>{{ first_name }} {{# note #}{% open";
        let (html, _) = one(css, Provider::HubSpot);
        assert_eq!(html, "<style>@media screen{ #main{color:red}}\n</style>{{ contact.firstname }} { { % open");
        assert!(
            one(css, Provider::Klaviyo).0.contains("screen{#main{"),
            "only a comment that ends on its line is one in Klaviyo"
        );
    }

    #[test]
    fn names_have_words_and_labels_have_no_braces() {
        for provider in [Provider::Klaviyo, Provider::Mailchimp, Provider::HubSpot] {
            for field in ["{{ customFields. }}", "{{ .x }}", "{{ customFields..x }}"] {
                assert_eq!(one(field, provider).1, [field], "{provider}");
            }
        }
        let hubspot = translate("x", Provider::HubSpot, "Hi {{ first_name }}{% x %}").html;
        assert!(hubspot.contains("label: Hi  first_name % x %\n"), "{hubspot}");
    }
}
