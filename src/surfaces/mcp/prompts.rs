//! The guided prompts: step-by-step instructions for three common tasks.

use rmcp::model::{ErrorData, GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role};

use crate::vocab::limits;

struct Guide {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// The arguments: name, description, and whether the argument is required.
    arguments: &'static [(&'static str, &'static str, bool)],
    /// The text of the steps. `{name}` stands for the value of an argument.
    steps: &'static str,
}

const GUIDES: [Guide; 3] = [
    Guide {
        name: "launch_campaign",
        title: "Launch a campaign",
        about: "From an idea to a sent campaign: email, checks, test, dry run, and launch.",
        arguments: &[
            ("brand", "The name or ID of the brand", true),
            ("goal", "What the email is about, and what it should achieve", true),
            ("audience", "Who gets the email: a tag, a segment, or all subscribers", true),
            ("when", "When to send: now, or a date and time", false),
        ],
        steps: "Launch an email campaign.\n\nBrand: {brand}\nGoal: {goal}\nAudience: {audience}\nWhen: {when}\n\n\
            1. Call get_capabilities, and tell me whether this is test or live data.\n\
            2. Find the brand with projects_list.\n\
            3. Write the email with emails_generate and wait: true. Show me the subject and the image resource.\n\
            4. Improve the email with emails_edits_create until I agree. Check it with validation_all, and fix what is critical.\n\
            5. Send me a test with emails_send_test.\n\
            6. Check with domains_list that a sending domain is verified. Find the tag or segment.\n\
            7. Create the campaign with campaigns_create. Run campaigns_dry_run, and tell me how many people get it and who is skipped.\n\
            8. Only after I agree, call campaigns_send or campaigns_schedule, with the campaign's ID as idempotency key.\n\
            9. Report the results with campaigns_stats.",
    },
    Guide {
        name: "build_segment_and_send",
        title: "Build a segment and send to it",
        about: "Turns a description of people into a segment, then sends an existing email to them.",
        arguments: &[
            ("brand", "The name or ID of the brand", true),
            ("people", "Who belongs to the segment, in your own words", true),
            ("email", "The ID or the subject of the email", false),
        ],
        steps: "Build a segment and send an email to it.\n\nBrand: {brand}\nPeople: {people}\nEmail: {email}\n\n\
            1. Call get_capabilities, and tell me whether this is test or live data.\n\
            2. Find the brand with projects_list, and the fields of its contacts with contacts_field_catalog.\n\
            3. Translate the description into conditions. Check them with segments_preview, and show me the conditions, the number of \
               people and a few examples.\n\
            4. After I agree, create the segment with segments_create.\n\
            5. Find the email with emails_list, or write one with emails_generate and wait: true.\n\
            6. Create the campaign with campaigns_create, run campaigns_dry_run, and show me the result.\n\
            7. Only after I agree, call campaigns_send, with the campaign's ID as idempotency key.",
    },
    Guide {
        name: "import_brand_and_generate",
        title: "Import a brand and write its first email",
        about: "Reads a website into a brand, then writes an on-brand email.",
        arguments: &[("website", "The address of the website", true), ("email", "What the first email is about", true)],
        steps: "Import a brand from its website and write its first email.\n\nWebsite: {website}\nEmail: {email}\n\n\
            1. Call get_capabilities, and tell me whether this is test or live data.\n\
            2. Import the website with projects_imports_create and wait: true.\n\
            3. Show me what was found with projects_get: name, colors, fonts, voice, logos and products. Ask me what to correct.\n\
            4. Write the email with emails_generate and wait: true. Show me the subject and the image resource.\n\
            5. Check the email with validation_all, and tell me what you would improve.",
    },
];

pub fn list() -> ListPromptsResult {
    let argument = |(name, about, required): &(&str, &str, bool)| {
        PromptArgument::new(*name).with_description(*about).with_required(*required)
    };
    let prompt = |guide: &Guide| {
        let arguments = guide.arguments.iter().map(argument).collect();
        Prompt::new(guide.name, Some(guide.about), Some(arguments)).with_title(guide.title)
    };
    ListPromptsResult::with_all_items(GUIDES.iter().map(prompt).collect())
}

/// Returns the text of a prompt, with its arguments filled in.
pub fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let guide = GUIDES.iter().find(|guide| guide.name == name);
    let guide = guide.ok_or_else(|| {
        ErrorData::invalid_params(format!("there is no prompt with the name {name}; prompts/list returns all names"), None)
    })?;
    let mut values = Vec::new();
    for (name, _, required) in guide.arguments {
        let given = arguments.and_then(|given| given.get(*name)).and_then(|value| value.as_str()).map(str::trim);
        match given.filter(|value| !value.is_empty()) {
            Some(value) if value.len() > limits::TOOL_PROMPT_BYTES_MAX => {
                let bytes = limits::TOOL_PROMPT_BYTES_MAX;
                return Err(ErrorData::invalid_params(format!("{name} is longer than {bytes} bytes; shorten it"), None));
            }
            Some(value) => values.push((*name, value)),
            None if *required => {
                return Err(ErrorData::invalid_params(format!("{name}: this argument must be a non-empty string"), None));
            }
            None => values.push((*name, "ask me")),
        }
    }
    let message = PromptMessage::new_text(Role::User, filled(guide.steps, &values));
    Ok(GetPromptResult::new(vec![message]).with_description(guide.about))
}

/// Replaces the placeholders in one pass, so braces in a value are not treated as placeholders.
fn filled(steps: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(steps.len());
    let mut rest = steps;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (name, after) = after.split_once('}').expect("the steps close every brace");
        let value = values.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        text.push_str(value.expect("the steps name only arguments"));
        rest = after;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::api::openapi;
    use crate::operations::OPERATIONS;
    use crate::surfaces::mcp::capabilities;
    use crate::surfaces::mcp::tools::definitions;

    #[test]
    fn every_prompt_fills_in_its_arguments_once() {
        for guide in &GUIDES {
            let mut arguments = JsonObject::new();
            for (name, ..) in guide.arguments {
                arguments.insert((*name).to_owned(), json!("{brand} value"));
            }
            let prompt = get(guide.name, Some(&arguments)).expect("the arguments are complete");
            let text = &prompt.messages[0].content.as_text().expect("the prompt is text").text;
            assert_eq!(text.matches("{brand} value").count(), guide.arguments.len(), "{text}");
        }
    }

    #[test]
    fn every_tool_in_the_prompts_exists() {
        let document = openapi::document(OPERATIONS, None);
        let tools: Vec<String> =
            definitions(OPERATIONS, &document).iter().map(|definition| definition.tool.name.to_string()).collect();
        for guide in &GUIDES {
            let words = guide.steps.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
            for word in words.filter(|word| word.contains('_')) {
                assert!(word == capabilities::NAME || tools.iter().any(|tool| tool == word), "{word}");
            }
        }
    }

    #[test]
    fn a_missing_or_too_long_argument_is_named() {
        let refused = |arguments: serde_json::Value| {
            get("import_brand_and_generate", arguments.as_object()).expect_err("the arguments are invalid").message.to_string()
        };
        assert!(refused(json!({ "website": "https://a.example" })).starts_with("email: this argument"));
        let long = "x".repeat(limits::TOOL_PROMPT_BYTES_MAX + 1);
        assert!(refused(json!({ "website": long, "email": "x" })).starts_with("website is longer"));
        assert!(get("other", None).is_err());
    }
}
