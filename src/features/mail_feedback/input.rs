//! Checks the input of the operations on mail services, seals secrets, and creates webhook URLs.

use schemars::Schema;
use serde_json::json;

use super::model::secret_context;
use crate::base::random::Random;
use crate::base::secret::Secret;
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::{Engine, Failure};
use crate::engine::mail::feedback::secret_error;
use crate::engine::mail::feedback::sns::Topic;
use crate::vocab::ids::{AccountId, MailFeedbackId, kinds};
use crate::vocab::limits;
use crate::vocab::mail_services::MailService;

/// Adds schema rules for the secret and the topics of each service. The rules allow spaces around these values, because the spaces are
/// removed later.
pub fn by_service(schema: &mut Schema) {
    let secret = |pattern: &str| json!({ "type": ["string", "null"], "pattern": format!(r"^[\t-\r ]*{pattern}[\t-\r ]*$") });
    let topic = r"^[\t-\r ]*arn:aws(?:-us-gov|-cn)?:sns:[a-z]{2}(?:-[a-z]+)+-[0-9]+:[0-9]{12}:[A-Za-z0-9_.-]+[\t-\r ]*$";
    let no_topics = json!({ "type": ["array", "null"], "maxItems": 0 });
    let sendgrid = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQg[A-D][A-Za-z0-9+/]{86}[AQgw]==";
    let base64 = "[A-Za-z0-9+/]";
    let resend = format!("whsec_(?:{base64}{{4}})*(?:{base64}{{4}}|{base64}{{2}}[AEIMQUYcgkosw048]=|{base64}[AQgw]==)");
    let service = |names: &[&str], pattern: &str| {
        let fields = json!({ "service": { "enum": names }, "secret": secret(pattern), "topicArns": no_topics });
        json!({ "properties": fields })
    };
    let alternatives = json!([
        { "required": ["topicArns"],
          "properties": { "service": { "const": "amazon_ses" }, "secret": { "type": "null" },
            "topicArns": { "type": "array", "minItems": 1, "items": { "pattern": topic } } } },
        service(&["postmark"], "[ -~]*:[ -~]*"),
        service(&["sendgrid"], sendgrid),
        service(&["resend"], &resend),
        service(&["mailgun", "brevo"], "[!-~](?:[ -~]*[!-~])?"),
    ]);
    schema.insert("anyOf".to_owned(), alternatives);
}

/// Checks a secret and returns it sealed.
pub fn seal(
    engine: &Engine,
    service: MailService,
    (account, id): (AccountId, MailFeedbackId),
    secret: &Secret<String>,
    random: &dyn Random,
) -> Result<Vec<u8>, Failure> {
    let text = secret.expose().trim();
    let refused = |why: &str| Err(Failure::field("secret", why));
    if text.chars().any(|c| c.is_control() || !c.is_ascii()) {
        return refused("must contain only printable ASCII characters; copy the secret again");
    }
    if text.is_empty() || text.len() > limits::MAIL_FEEDBACK_SECRET_CHARACTERS_MAX {
        return refused(&format!("must have 1 to {} characters", limits::MAIL_FEEDBACK_SECRET_CHARACTERS_MAX));
    }
    match secret_error(service, text) {
        Some(why) => refused(why),
        None => Ok(engine.seal.seal(&secret_context(account, id), text.as_bytes(), random)),
    }
}

/// Checks the ARNs of topics and removes duplicates.
pub fn topics(service: MailService, given: Vec<String>) -> Result<Vec<String>, Failure> {
    let refused = |why: String| Err(Failure::field("topicArns", why));
    if service != MailService::AmazonSes {
        let name = service.info().name;
        return if given.is_empty() { Ok(given) } else { refused(format!("{name} does not use SNS topics; omit topicArns")) };
    }
    let mut topics: Vec<String> = Vec::new();
    for arn in given.iter().map(|arn| arn.trim()) {
        if arn.len() > limits::SNS_TOPIC_CHARACTERS_MAX || Topic::parse(arn).is_none() {
            return refused("must be ARNs like arn:aws:sns:us-east-1:123456789012:bounces".to_owned());
        }
        if !topics.iter().any(|known| known == arn) {
            topics.push(arn.to_owned());
        }
    }
    match topics.len() {
        0 => refused("enter the ARN of at least one SNS topic".to_owned()),
        1..=limits::SNS_TOPICS_MAX => Ok(topics),
        _ => refused(format!("enter at most {} topics", limits::SNS_TOPICS_MAX)),
    }
}

/// Returns the public URL of a mail service's webhook, which contains its secret token.
pub fn url(engine: &Engine, token: &UrlToken<kinds::MailFeedback>) -> String {
    format!("{}/feedback/{}", engine.base_url().trim_end_matches('/'), token.text().expose())
}
