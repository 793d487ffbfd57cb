//! Adds an address to the suppression list.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::base::text::ShortText;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::suppressions::store::{self, Digester};
use crate::features::suppressions::views::SuppressionView;
use crate::features::suppressions::{Reason, Source};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Create;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSuppression {
    pub email: EmailAddress,
    /// The reason. If absent, `manual`. The other reasons are for lists imported from other systems.
    #[serde(default)]
    pub reason: GivenReason,
    /// A note that is shown with the address.
    pub note: Option<ShortText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
}

/// The reasons that users and programs can give when they add an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GivenReason {
    #[default]
    Manual,
    /// The recipient does not want marketing email. Transactional messages are still sent.
    Unsubscribe,
    BounceHard,
    Complaint,
}

impl From<GivenReason> for Reason {
    fn from(given: GivenReason) -> Self {
        match given {
            GivenReason::Manual => Self::Manual,
            GivenReason::Unsubscribe => Self::Unsubscribe,
            GivenReason::BounceHard => Self::BounceHard,
            GivenReason::Complaint => Self::Complaint,
        }
    }
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("suppressions.create", "/v1/suppressions", needs(Permission::AudienceWrite))
        .summary("Suppress an address")
        .about(
            "Takes effect immediately for the whole account, including queued messages. The entry of an address already on the list \
             does not change, unless the new reason is more serious. The response shows the resulting entry.",
        )
        .replay(Replay::Keyed);
    type Input = NewSuppression;
    type Output = Created<SuppressionView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "email": "ada@example.com", "note": "Asked us by telephone" }), Created(SuppressionView::sample()))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewSuppression) -> Result<Self::Output, Failure> {
        let digester = Digester::new(&caller.engine.seal);
        let note = input.note.filter(|note| !note.is_empty()).map(|note| note.to_string());
        let because = (input.reason.into(), Source::Api);
        let row = store::add(tx, &digester, caller.account(), &input.email.normalized(), because, note)?;
        Ok(Created(row.into()))
    }
}
