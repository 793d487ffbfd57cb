//! The tab with a brand's name, contact details, voice and default sender, which users can correct.

use serde::Serialize;
use serde_json::{Value, json};

use super::brand_parts::{done, is_shown, prepare};
use super::brands::{BrandHead, in_full};
use crate::base::domain::registrable;
use crate::features::projects;
use crate::features::projects::brand::BrandSocialLink;
use crate::features::projects::views::ProjectView;
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::limits;

#[derive(Serialize)]
pub struct DetailsPage {
    #[serde(flatten)]
    head: BrandHead,
    groups: Vec<FieldGroup>,
    /// The names of the form's fields. An error in any other field is shown above the form.
    names: Vec<&'static str>,
    /// The name of the field that gets the keyboard focus because the user followed a link to it; empty if there is none.
    focus: String,
}

#[derive(Serialize)]
struct FieldGroup {
    title: &'static str,
    about: &'static str,
    fields: Vec<DetailField>,
}

#[derive(Serialize)]
struct DetailField {
    field: &'static str,
    label: &'static str,
    hint: &'static str,
    /// `lines` for a text area, `choice` for a list of choices, and otherwise the `type` of the `input` element.
    kind: &'static str,
    rows: u8,
    characters_max: usize,
    choices: &'static [(&'static str, &'static str)],
    value: String,
    /// The value that the page showed before the user's changes, so that only changed values are saved.
    was: String,
    /// Whether a user set the value. If so, it can be reset.
    is_own: bool,
}

/// A form field, with the JSON pointers to its value in the project and to the value that a user set.
struct Detail {
    /// The field's name in the form and in errors of `projects.update`.
    field: &'static str,
    label: &'static str,
    hint: &'static str,
    kind: &'static str,
    rows: u8,
    characters_max: usize,
    choices: &'static [(&'static str, &'static str)],
    /// The JSON pointer to the value in the project.
    value: &'static str,
    /// The JSON pointer to the value that a user set; empty for the default sender, which imports do not change.
    own: &'static str,
}

const LINE: Detail = Detail {
    field: "",
    label: "",
    hint: "",
    kind: "text",
    rows: 0,
    characters_max: limits::BRAND_LINE_CHARACTERS_MAX,
    choices: &[],
    value: "",
    own: "",
};

const PERSONS: &[(&str, &str)] =
    &[("", "Automatic"), ("we", "First person (we)"), ("i", "First person (I)"), ("third", "Third person (the brand's name)")];
const FORMALITIES: &[(&str, &str)] = &[
    ("", "Automatic"),
    ("casual", "Informal (du, tu, first names)"),
    ("neutral", "Neutral"),
    ("formal", "Formal (Sie, vous, usted)"),
];

/// TABLE: the groups of fields, in the order of the page.
const GROUPS: &[(&str, &str, &[Detail])] = &[
    (
        "Brand",
        "",
        &[
            Detail {
                field: "name",
                label: "Name",
                characters_max: limits::PROJECT_NAME_CHARACTERS_MAX,
                value: "/brand/name",
                own: "/overrides/name",
                ..LINE
            },
            Detail { field: "tagline", label: "Tagline", value: "/brand/tagline", own: "/overrides/tagline", ..LINE },
            Detail {
                field: "description",
                label: "Description",
                hint: "Describe what the brand does in one or two sentences.",
                kind: "lines",
                rows: 3,
                characters_max: limits::DESCRIPTION_CHARACTERS_MAX,
                value: "/brand/description",
                own: "/overrides/description",
                ..LINE
            },
        ],
    ),
    (
        "Contact details",
        "New emails show the company and the postal address in the footer. If you change the postal address, existing emails also \
         show the new one, unless their footer has its own address.",
        &[
            Detail {
                field: "company",
                label: "Company",
                hint: "The legal name of the company.",
                value: "/brand/contact/company",
                own: "/overrides/company",
                ..LINE
            },
            Detail {
                field: "address",
                label: "Postal address",
                hint: "Many countries require a postal address in marketing emails. Line breaks become commas.",
                kind: "lines",
                rows: 2,
                value: "/brand/contact/address",
                own: "/overrides/address",
                ..LINE
            },
            Detail {
                field: "email",
                label: "Email",
                kind: "email",
                characters_max: 254,
                value: "/brand/contact/email",
                own: "/overrides/email",
                ..LINE
            },
            Detail {
                field: "phone",
                label: "Phone",
                kind: "tel",
                characters_max: limits::BRAND_PHONE_CHARACTERS_MAX,
                value: "/brand/contact/phone",
                own: "/overrides/phone",
                ..LINE
            },
            Detail {
                field: "social",
                label: "Social profiles",
                hint: "One URL per line.",
                kind: "lines",
                rows: 4,
                characters_max: 0,
                value: "/brand/social",
                own: "/overrides/social",
                ..LINE
            },
        ],
    ),
    (
        "Voice",
        "How your emails sound. In the text fields, separate words with commas.",
        &[
            Detail {
                field: "voice.person",
                label: "Point of view",
                kind: "choice",
                choices: PERSONS,
                value: "/brand/voice/person",
                own: "/overrides/voice/person",
                ..LINE
            },
            Detail {
                field: "voice.formality",
                label: "Formality",
                kind: "choice",
                choices: FORMALITIES,
                value: "/brand/voice/formality",
                own: "/overrides/voice/formality",
                ..LINE
            },
            Detail {
                field: "voice.tone",
                label: "Tone",
                hint: "For example: warm, dry, factual.",
                characters_max: 0,
                value: "/brand/voice/tone",
                own: "/overrides/voice/tone",
                ..LINE
            },
            Detail {
                field: "voice.words",
                label: "Words to use",
                characters_max: 0,
                value: "/brand/voice/words",
                own: "/overrides/voice/words",
                ..LINE
            },
            Detail {
                field: "voice.avoid",
                label: "Words to avoid",
                hint: "An email that contains one of these words gets a warning.",
                characters_max: 0,
                value: "/brand/voice/avoid",
                own: "/overrides/voice/avoid",
                ..LINE
            },
        ],
    ),
    (
        "Default sender",
        "Test sends and new campaigns use this sender. For live email, use an address at a verified domain.",
        &[
            Detail {
                field: "defaultSender.from",
                label: "From address",
                kind: "email",
                characters_max: 254,
                value: "/defaultSender/from",
                ..LINE
            },
            Detail {
                field: "defaultSender.fromName",
                label: "From name",
                characters_max: limits::SENDER_NAME_CHARACTERS_MAX,
                value: "/defaultSender/fromName",
                ..LINE
            },
            Detail {
                field: "defaultSender.replyTo",
                label: "Reply-to address",
                kind: "email",
                characters_max: 254,
                value: "/defaultSender/replyTo",
                ..LINE
            },
        ],
    ),
];

page_context!(DetailsPage, "brand_details.html", {
    let project = json!({ "brand": { "name": "Acme", "voice": { "formality": "formal", "tone": ["warm"] } }, "overrides": { "name": "Acme" } });
    let page = |focus: &str| Self {
        head: BrandHead::sample("details", "active"),
        groups: groups(&project, |_| None),
        names: names(),
        focus: focus.into(),
    };
    vec![page(""), page("address")]
});

/// Returns the groups of fields. Each field has its submitted value or, if there is none, the project's value.
fn groups(project: &Value, submitted: impl Fn(&str) -> Option<String>) -> Vec<FieldGroup> {
    let field = |detail: &Detail| DetailField {
        field: detail.field,
        label: detail.label,
        hint: detail.hint,
        kind: detail.kind,
        rows: detail.rows,
        characters_max: detail.characters_max,
        choices: detail.choices,
        value: submitted(detail.field).unwrap_or_else(|| text(project, detail)),
        was: submitted(&was(detail.field)).unwrap_or_else(|| text(project, detail)),
        is_own: project.pointer(detail.own).is_some_and(|own| !own.is_null() && !detail.own.is_empty()),
    };
    let group = |&(title, about, fields): &(&'static str, &'static str, &[Detail])| FieldGroup {
        title,
        about,
        fields: fields.iter().map(&field).collect(),
    };
    GROUPS.iter().map(group).collect()
}

/// Returns the name of the hidden field with the value that the page showed before the user's changes.
fn was(field: &str) -> String {
    format!("was.{field}")
}

fn names() -> Vec<&'static str> {
    GROUPS.iter().flat_map(|(_, _, fields)| *fields).map(|detail| detail.field).collect()
}

/// Returns the project's value for a field, as the form shows it.
fn text(project: &Value, detail: &Detail) -> String {
    match project.pointer(detail.value) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) if detail.field == "social" => {
            items.iter().filter_map(|link| link["url"].as_str()).collect::<Vec<_>>().join("\n")
        }
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    }
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let (project, head) = prepare(visit, "details").await?;
    let submitted = |field: &str| (error.is_some() && visit.form.has(field)).then(|| visit.form.get(field).to_owned());
    let groups = groups(&template::context(&project), submitted);
    let context = DetailsPage { head, groups, names: names(), focus: visit.query.get("focus").to_owned() };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Saves the fields that the user changed. The others keep their values, even if another user has changed them in the meantime.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let (project, _) = prepare(visit, "details").await?;
    let input = changes(visit, &project);
    match visit.ask::<projects::ops::update::Update>(input).await {
        Ok(_) => Ok(done(visit, "details")),
        Err(error) if is_shown(&error) => draw(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

fn changes(visit: &Visit, project: &ProjectView) -> Value {
    let shown = template::context(project);
    let mut input = json!({ "projectId": visit.path_parameter("id"), "voice": {} });
    // Browsers send line breaks as CR LF.
    let sent = |field: &str| visit.form.get(field).replace("\r\n", "\n");
    let known = |field: &str, now: String| if visit.form.has(&was(field)) { sent(&was(field)) } else { now };
    let details = || GROUPS.iter().flat_map(|(_, _, fields)| *fields);
    for detail in details().filter(|detail| !detail.own.is_empty()) {
        let (field, sent) = (detail.field, sent(detail.field));
        let reset = visit.form.get("reset") == field;
        if reset || sent != known(field, text(&shown, detail)) {
            let value = if reset { Value::Null } else { value(detail, &sent, project) };
            match field.strip_prefix("voice.") {
                Some(name) => input["voice"][name] = value,
                None => input[field] = value,
            }
        }
    }
    let mut sender = shown["defaultSender"].as_object().cloned().unwrap_or_default();
    let before = sender.clone();
    for name in ["from", "fromName", "replyTo"] {
        let field = format!("defaultSender.{name}");
        let (sent, now) = (sent(&field), before.get(name).and_then(Value::as_str).unwrap_or_default().to_owned());
        if sent != known(&field, now) {
            sender.insert(name.to_owned(), sent.into());
        }
    }
    if sender != before {
        sender.retain(|_, value| value.as_str().is_some_and(|value| !value.is_empty()));
        input["defaultSender"] = if sender.is_empty() { Value::Null } else { sender.into() };
    }
    input
}

/// Converts a submitted value to the API's format.
fn value(detail: &Detail, sent: &str, project: &ProjectView) -> Value {
    match detail.field {
        "name" if sent.is_empty() => Value::Null,
        "social" => {
            let known = project.brand.as_ref().map(|brand| brand.social.as_slice()).unwrap_or_default();
            let profile = |url: &str| json!({ "network": network(&in_full(url), known), "url": in_full(url) });
            sent.split_whitespace().map(profile).collect()
        }
        _ if detail.kind == "choice" && sent.is_empty() => Value::Null,
        _ if detail.field.starts_with("voice.") && detail.kind == "text" => {
            sent.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
        }
        _ => sent.into(),
    }
}

/// Returns the name of the social network that a profile URL belongs to. The name comes from the brand's known links or, if they do not
/// contain the URL, from the domain.
fn network(url: &str, known: &[BrandSocialLink]) -> String {
    if let Some(link) = known.iter().find(|link| link.url == url) {
        return link.network.clone();
    }
    let host = url.split('/').nth(2).unwrap_or_default();
    let domain = registrable(host).unwrap_or(host);
    match domain {
        "twitter.com" => "x".to_owned(),
        "youtu.be" => "youtube".to_owned(),
        "wa.me" => "whatsapp".to_owned(),
        "t.me" => "telegram".to_owned(),
        domain => domain.split('.').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_named_after_its_network() {
        let known = [BrandSocialLink { network: "mastodon".into(), url: "https://social.example/@acme".into() }];
        for (url, name) in [
            ("https://www.instagram.com/acme", "instagram"),
            ("https://twitter.com/acme", "x"),
            ("https://social.example/@acme", "mastodon"),
            ("https://uk.pinterest.co.uk/acme", "pinterest"),
        ] {
            assert_eq!(network(url, &known), name, "{url}");
        }
    }
}
