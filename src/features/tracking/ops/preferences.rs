//! Handles the form of the preferences page.

use serde_json::{Value, json};

use super::preferences_page::{PURPOSES, page};
use crate::engine::api::call::body_failure;
use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::engine::store::WriteTx;
use crate::features::contacts::Source;
use crate::features::tracking::bounces::SuppressionList;
use crate::features::tracking::link_visit::{self, LinkVisit};
use crate::features::tracking::links::MessageLink;
use crate::features::tracking::pages::RecipientPage;
use crate::features::tracking::recipient::MessageRecipient;
use crate::features::tracking::unsubscribe::{self, Scope};
use crate::vocab::ids::TopicId;
use crate::vocab::limits;

pub struct Preferences;

impl Operation for Preferences {
    const SPEC: Spec =
        Spec::post("tracking.preferences", "/u/{token}/preferences", public()).summary("Save a recipient's choices").about(
            "Accepts the page's form (application/x-www-form-urlencoded): `topic` (once for each chosen topic), `again` (to \
             resubscribe), and `act=leave` (to unsubscribe from all mail).",
        );
    type Input = MessageLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "BmY50c2rT0a1kLm9pQxYzAAAAB0w2ZkV1c3RPZg" }), Bare)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Form {
    topics: Vec<TopicId>,
    returns: bool,
    leaves: bool,
}

impl Raw for Preferences {
    const MEDIA: Media = Media::PAGE;

    async fn run(context: Context, input: MessageLink, request: RawRequest) -> Result<Reply, Failure> {
        let visit = link_visit::resolve(&context, &input.token, &PURPOSES, &request.headers)?;
        let Some(LinkVisit { token, reader, tx, .. }) = visit else { return Ok(link_visit::gone(&context, &request.headers)) };
        drop(tx);
        let max = limits::CHOICES_FORM_BYTES_MAX;
        let body = request.body.collect(max).await.map_err(|error| body_failure(error, max))?;
        let form = form(&body);
        let leaves = form.leaves;
        let list = SuppressionList::new(&context.engine);
        let keep = move |tx: &mut WriteTx<'_>| -> Result<Option<MessageRecipient>, Failure> {
            let Some(recipient) = MessageRecipient::find(tx, token.mailing, token.number)? else { return Ok(None) };
            match form.leaves {
                true => unsubscribe::leave(tx, &list, &recipient, Scope::Everything, Source::Link)?,
                false => unsubscribe::choose(tx, &recipient, &form.topics, form.returns)?,
            }
            // Load the recipient again, so that the page shows the new choices.
            Ok(MessageRecipient::find(tx, token.mailing, token.number)?)
        };
        let store = &context.engine.data(token.environment).store;
        let Some(recipient) = store.write_essential(keep).await?? else {
            return Ok(link_visit::gone(&context, &request.headers));
        };
        let page = if leaves { RecipientPage::Left { topic: None } } else { page(&store.read(), &recipient, true)? };
        Ok(page.reply(&reader, context.engine.random.as_ref()))
    }
}

/// Parses the form. Invalid topic IDs are ignored, because the preferences page does not send any.
fn form(body: &[u8]) -> Form {
    let fields: Vec<(String, String)> = serde_urlencoded::from_bytes(body).unwrap_or_default();
    let mut form = Form::default();
    for (name, value) in fields {
        match name.as_str() {
            "topic" => form.topics.extend(TopicId::parse(&value)),
            "again" => form.returns = true,
            "act" => form.leaves = value == "leave",
            _ => {}
        }
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_the_selected_topics_and_the_button() {
        let topic = TopicId::from_bytes([7; 12]);
        let sent = form(format!("topic={topic}&topic=none&again=1&act=save").as_bytes());
        assert_eq!(sent, Form { topics: vec![topic], returns: true, leaves: false });
        assert!(form(b"act=leave").leaves);
        assert_eq!(form(b"\xff"), Form::default());
    }
}
