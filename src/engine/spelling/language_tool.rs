//! The API of LanguageTool: requests to `/v2/check` and their responses. The caller sends the requests.
//!
//! A request sends text and markup as separate parts, so that positions in the response include the markup. Positions count UTF-16 code
//! units (the server is written in Java).

use serde::{Deserialize, Serialize};

use super::findings::{Finding, FindingKind, context};
use super::suggestions::SUGGESTIONS_MAX;
use super::text::{Block, OPAQUE};

/// The maximum length of a request. The public API accepts 20,000 characters; other servers may accept more.
pub const REQUEST_CHARACTERS_MAX: usize = 20_000;

/// The maximum number of findings read from a response; further findings are ignored.
const MATCHES_MAX: usize = 500;

/// The name of this checker in `aiModel`.
pub const NAME: &str = "LanguageTool";

/// A request to `/v2/check`, with the data needed to read its response.
#[derive(Debug)]
pub struct Request<'b> {
    /// The body, as `application/x-www-form-urlencoded`.
    pub body: String,
    parts: Vec<Part<'b>>,
}

#[derive(Debug)]
struct Part<'b> {
    block: &'b Block,
    /// The position in the request in UTF-16 code units.
    start: usize,
    length: usize,
}

#[derive(Serialize)]
struct Form<'f> {
    language: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "preferredVariants")]
    preferred_variants: Option<&'f str>,
    data: &'f str,
}

#[derive(Serialize)]
struct Annotated {
    annotation: Vec<Annotation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", untagged)]
enum Annotation {
    Text {
        text: String,
    },
    #[serde(rename_all = "camelCase")]
    Markup {
        markup: String,
        interpret_as: String,
    },
}

/// Returns the requests for these blocks. Blocks that are too long for a request are omitted. `language` is a code with a region, such
/// as `en-US`, or `auto`.
pub fn requests<'b>(blocks: &'b [Block], language: &str) -> Vec<Request<'b>> {
    let mut requests = Vec::new();
    let mut pending: Vec<Part<'b>> = Vec::new();
    let mut start = 0;
    for block in blocks {
        let length = units(&block.text);
        if length > REQUEST_CHARACTERS_MAX {
            continue;
        }
        if start + length + 1 > REQUEST_CHARACTERS_MAX && !pending.is_empty() {
            requests.extend(request(std::mem::take(&mut pending), language));
            start = 0;
        }
        pending.push(Part { block, start, length });
        // A markup part of one UTF-16 code unit separates the blocks.
        start += length + 1;
    }
    requests.extend(request(pending, language));
    requests
}

fn request<'b>(parts: Vec<Part<'b>>, language: &str) -> Option<Request<'b>> {
    if parts.is_empty() {
        return None;
    }
    let mut annotation = Vec::new();
    for part in &parts {
        for (at, text) in part.block.text.split(OPAQUE).enumerate() {
            if at > 0 {
                annotation.push(Annotation::Markup { markup: OPAQUE.to_string(), interpret_as: String::new() });
            }
            if !text.is_empty() {
                annotation.push(Annotation::Text { text: text.to_owned() });
            }
        }
        annotation.push(Annotation::Markup { markup: "\n".to_owned(), interpret_as: "\n\n".to_owned() });
    }
    let data = serde_json::to_string(&Annotated { annotation }).ok()?;
    let preferred_variants = (language == "auto").then_some("en-US,de-DE,pt-BR,ca-ES");
    let body = serde_urlencoded::to_string(Form { language, preferred_variants, data: &data }).ok()?;
    Some(Request { body, parts })
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Converts a position in UTF-16 code units to a byte position.
fn byte_position(text: &str, unit: usize) -> Option<usize> {
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        if seen == unit {
            return Some(at);
        }
        seen += character.len_utf16();
    }
    (seen == unit).then_some(text.len())
}

/// A response of `/v2/check`. Unknown fields are ignored.
#[derive(Debug, Deserialize)]
struct CheckResponse {
    #[serde(default)]
    language: ResponseLanguage,
    matches: Vec<Match>,
}

#[derive(Debug, Default, Deserialize)]
struct ResponseLanguage {
    #[serde(default)]
    code: String,
}

#[derive(Debug, Deserialize)]
struct Match {
    offset: usize,
    length: usize,
    #[serde(default)]
    replacements: Vec<Replacement>,
    rule: MatchRule,
}

#[derive(Debug, Deserialize)]
struct Replacement {
    value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MatchRule {
    id: String,
    #[serde(default)]
    issue_type: String,
}

impl Request<'_> {
    /// Returns the findings in the response to this request. Matches outside the text are ignored. An error describes why the response is
    /// invalid.
    pub fn read(&self, answer: &str) -> Result<Vec<Finding>, String> {
        let answer: CheckResponse = serde_json::from_str(answer)
            .map_err(|error| format!("the LanguageTool server returned an invalid response: {error}"))?;
        let language = answer.language.code;
        Ok(answer.matches.into_iter().take(MATCHES_MAX).filter_map(|found| self.finding(found, &language)).collect())
    }

    fn finding(&self, found: Match, language: &str) -> Option<Finding> {
        let end = found.offset.checked_add(found.length)?;
        let part = self.parts.iter().find(|part| part.start <= found.offset && end <= part.start + part.length)?;
        let text = &part.block.text;
        let (from, to) = (byte_position(text, found.offset - part.start)?, byte_position(text, end - part.start)?);
        let word = text.get(from..to).filter(|word| !word.trim().is_empty())?.to_owned();
        let (offset, source_end) = part.block.source_range(from, to);
        let suggestions =
            found.replacements.into_iter().map(|replacement| cut(&replacement.value)).take(SUGGESTIONS_MAX).collect();
        Some(Finding {
            word,
            suggestions,
            context: context(text, from, to),
            kind: kind(&found.rule),
            rule: cut(&found.rule.id),
            line: 0,
            column: 0,
            offset,
            length: source_end - offset,
            language: cut(language),
            confidence: 0.7,
        })
    }
}

/// Truncates text from a response to 100 characters, because the response is untrusted.
fn cut(text: &str) -> String {
    text.chars().take(100).collect()
}

/// Maps LanguageTool's issue types, which follow the Internationalization Tag Set (ITS 2.0), to finding types.
fn kind(rule: &MatchRule) -> FindingKind {
    match rule.issue_type.as_str() {
        "misspelling" => FindingKind::Spelling,
        "duplication" => FindingKind::Repeat,
        "style" | "typographical" | "locale-violation" | "register" | "whitespace" => FindingKind::Style,
        _ => FindingKind::Grammar,
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::html_blocks;
    use super::*;

    #[test]
    fn matches_map_to_the_source_across_blocks_and_characters_outside_the_basic_plane() {
        let source = "<p>🎉 Caf&eacute;</p>\n<p>Teh <b>be</b>st</p>";
        let blocks = html_blocks(source);
        let requests = requests(&blocks, "auto");
        let [request] = requests.as_slice() else { panic!("one request") };
        assert!(request.body.starts_with("language=auto&preferredVariants="));
        // Offsets count UTF-16 code units: "🎉 Café" has 7, and the separator after it has 1.
        let answer = r#"{"language":{"code":"en-US"},"matches":[
            {"offset":8,"length":3,"replacements":[{"value":"The"}],"rule":{"id":"MORFOLOGIK","issueType":"misspelling"}},
            {"offset":12,"length":4,"replacements":[],"rule":{"id":"X","issueType":"style"}},
            {"offset":5,"length":6,"rule":{"id":"SPANS_BLOCKS"}}, {"offset":900,"length":3,"rule":{"id":"OUTSIDE"}}]}"#;
        let found = request.read(answer).expect("findings");
        let parts: Vec<_> =
            found.iter().map(|finding| (&source[finding.offset..finding.offset + finding.length], finding.kind)).collect();
        assert_eq!(parts, [("Teh", FindingKind::Spelling), ("be</b>st", FindingKind::Style)]);
        assert_eq!(found[0].suggestions, ["The"]);
    }

    #[test]
    fn wrong_answers_are_errors_and_long_texts_need_several_requests() {
        let source = format!("<p>{}</p>", "word ".repeat(2_000)).repeat(5);
        let blocks = html_blocks(&source);
        let requests = requests(&blocks, "en-US");
        // Two blocks fit into one request.
        assert_eq!(requests.len(), 3);
        for answer in ["", "[]", "{\"matches\":[{\"offset\":-1,\"length\":2,\"rule\":{\"id\":\"A\"}}]}", "<html>"] {
            assert!(requests[0].read(answer).is_err(), "{answer}");
        }
        let huge = r#"{"matches":[{"offset":18446744073709551615,"length":18446744073709551615,"rule":{"id":"A"}}]}"#;
        assert_eq!(requests[0].read(huge), Ok(Vec::new()));
    }
}
