//! Turns API error messages into text for dashboard users.
//!
//! API messages are for programmers: they name operations, fields and projects. Dashboard users see buttons, labels and brands. Most
//! messages work for both, so few are replaced here. This module does not know which page shows the message.

/// Replacements: the field (or any, if empty), a part of the message, and the new text.
const ANEW: &[(&str, &str, &str)] = &[
    ("scheduledAt", " is past ", "This time is in the past. Choose a later time, or send the campaign now."),
    ("scheduledAt", " days ahead", "This time is too far ahead. Choose an earlier time."),
    ("scheduledAt", "expected a date and a time", "Choose a date and a time."),
    ("events", "at least one event type", "Select at least one event."),
    ("permissions", "at least one permission", "Select at least one permission."),
    ("permissions", "grant at least one", "Select at least one permission, or deny the request."),
    ("", "There is no such project", "This brand doesn't exist."),
    ("", "has no segment with this id", "This segment no longer exists. Choose another one."),
    ("", "has no tag with this id", "This tag no longer exists. Choose another one."),
    ("", "has no topic with this id", "This topic no longer exists. Choose another one."),
    ("", "is not ready yet. Poll GET", "The email isn't ready yet. Wait until it is, then try again."),
];

/// The next step for codes whose API message names an operation.
const NEXT: &[(&str, &str)] = &[("DOMAIN_NOT_VERIFIED", "Add it under Domains, and publish the DNS records shown there.")];

/// The names of API fields on pages. Merge fields like firstName belong to users and stay.
const NAMES: &[(&str, &str)] = &[
    ("scheduledAt", "the date and the time"),
    ("scheduledTimezone", "the time zone"),
    ("recipientType", "the kind of recipients"),
    ("recipientId", "the recipients"),
    ("fromName", "the From name"),
    ("replyTo", "the reply-to address"),
    ("preheaderText", "the preview text"),
    ("minimumScore", "the minimum score"),
    ("topicId", "the topic"),
    ("projectId", "the brand"),
    ("emailId", "the email"),
    ("conversationId", "the series"),
    ("segmentId", "the segment"),
    ("columnMap", "the columns"),
    ("customFields", "the custom fields"),
    ("customHeaders", "the custom headers"),
    ("designRules", "the design and writing rules"),
    ("skippedReasons", "the list of reasons"),
    ("project", "brand"),
    ("projects", "brands"),
];

/// Prefixes of operation names.
const VERBS: [&str; 5] = ["GET /", "POST /", "PATCH /", "PUT /", "DELETE /"];

/// Returns the message for dashboard users. `field` is the field in error, if there is one.
pub fn for_people(code: &str, field: &str, message: &str) -> String {
    let is_meant = |(of, part, _): &&(&str, &str, &str)| (of.is_empty() || *of == field) && message.contains(part);
    if let Some((_, _, words)) = ANEW.iter().find(is_meant) {
        return (*words).to_owned();
    }
    let (kept, is_cut) = without_operations(message);
    let next = NEXT.iter().find(|(other, _)| is_cut && *other == code).map(|(_, next)| format!(" {next}"));
    format!("{}{}", sentence(&renamed(&kept)), next.unwrap_or_default())
}

/// Removes the clauses that name an operation; returns whether there was one. A message that is only such a clause stays as it is.
fn without_operations(message: &str) -> (String, bool) {
    let mut rest = message.to_owned();
    while let Some(at) = VERBS.iter().filter_map(|verb| rest.find(verb)).min() {
        let begin = ["; ", ". ", ", or ", ": ", " ("].iter().filter_map(|end| rest[..at].rfind(end)).max().unwrap_or(0);
        if begin == 0 {
            return (message.to_owned(), false);
        }
        let end = rest[at..].find(". ").map_or(rest.len(), |end| at + end + 1);
        rest = format!("{}.{}", rest[..begin].trim_end_matches(['.', ';', ',', ':']), &rest[end..]);
    }
    let is_cut = rest != message;
    (rest, is_cut)
}

/// Replaces API names by the names on pages. Quoted text belongs to users and stays.
fn renamed(message: &str) -> String {
    let mut renamed = String::with_capacity(message.len());
    let mut word = String::new();
    let mut is_quoted = false;
    let mut letters = message.chars().chain(['\n']).peekable();
    while let Some(c) = letters.next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        // Permissions are written `project:write`.
        let is_permission = c == ':' && letters.peek().is_some_and(|next| next.is_alphanumeric());
        let name = NAMES.iter().find(|(name, _)| !is_quoted && !is_permission && *name == word).map(|(_, name)| *name);
        renamed.push_str(name.unwrap_or(&word));
        renamed.push(c);
        word.clear();
        match c {
            '"' => is_quoted = !is_quoted,
            '“' => is_quoted = true,
            '”' => is_quoted = false,
            _ => {}
        }
    }
    renamed.pop();
    renamed
}

/// Capitalizes the first word, unless it is a URL or similar, and adds a period.
fn sentence(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default().trim_end_matches([',', ':', ';', '.']);
    let mut letters = text.chars();
    let first = match letters.next() {
        Some(first) if word.chars().all(char::is_alphabetic) => first.to_uppercase().to_string(),
        Some(first) => first.to_string(),
        None => return String::new(),
    };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_fields_of_the_api_are_not_shown_to_users() {
        for (code, field, message, words) in [
            (
                "INVALID_REQUEST",
                "scheduledAt",
                "2020-01-01T09:00:00.000Z is past (it is 2026-11-22T09:00:00.000Z now); set a later time, or start it with \
                 POST /v1/campaigns/{id}/send",
                "This time is in the past. Choose a later time, or send the campaign now.",
            ),
            (
                "INVALID_REQUEST",
                "scheduledAt",
                "expected a date and a time, like 2026-01-31T09:30:00Z, or 2026-01-31T09:30 with scheduledTimezone",
                "Choose a date and a time.",
            ),
            (
                "INVALID_REQUEST",
                "events",
                "set at least one event type; GET /v1/webhooks/events lists them",
                "Select at least one event.",
            ),
            ("NOT_FOUND", "", "There is no such project; GET /v1/projects lists those of this key.", "This brand doesn't exist."),
            (
                "NOT_FOUND",
                "",
                "The project has no segment with this id; GET /v1/segments lists its segments.",
                "This segment no longer exists. Choose another one.",
            ),
            (
                "DOMAIN_NOT_VERIFIED",
                "from",
                "the domain a.example is not verified. Add it with POST /v1/domains {\"domain\": \"a.example\"}, publish the DNS \
                 records in the response, then call POST /v1/domains/a.example/verify.",
                "The domain a.example is not verified. Add it under Domains, and publish the DNS records shown there.",
            ),
            (
                "WRONG_STATE",
                "",
                "Tests cannot be redelivered; send another with POST /v1/webhooks/{webhookId}/test. It is quick.",
                "Tests cannot be redelivered. It is quick.",
            ),
            (
                "INVALID_REQUEST",
                "topicId",
                "a topic belongs to a project; set projectId too",
                "A topic belongs to a brand; set the brand too.",
            ),
        ] {
            assert_eq!(for_people(code, field, message), words);
        }
    }

    #[test]
    fn user_friendly_messages_stay_as_they_are() {
        for message in [
            "There is one owner.",
            "The segment \"my project; projectId\" already has this name; choose another name or change that segment.",
            "This needs the permission project:write.",
            "news.example.com is no domain.",
            "3 recipients have no value for the merge field firstName.",
            "GET /v1/things is all.",
            "",
        ] {
            assert_eq!(for_people("INVALID_REQUEST", "", message), message);
        }
    }
}
