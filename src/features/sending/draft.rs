//! Builds a mailing from a request, ready to be stored.

use super::model::{Audience, Content, Mailing, MailingKind, NewMailing, Plan, Policy, State, Translation};
use super::store;
use crate::base::clock::Timestamp;
use crate::vocab::ids::{AccountId, MailingId};

/// Builds a mailing from a request. `create` sets its UTM parameters and its hold number.
pub fn draft(new: &NewMailing, id: MailingId, now: Timestamp) -> Mailing {
    let audience = new.to.audience();
    let direct = audience == Audience::Addresses;
    Mailing {
        id,
        account: new.account,
        project: new.project,
        kind: new.kind,
        state: if direct { State::Sending } else { State::Planning },
        plan: if direct { Plan::Done } else { Plan::Selecting },
        from: new.from.clone(),
        conversation: new.contents.first().and_then(|content| content.conversation),
        translations: new.contents.iter().map(|content| translation(new.account, content)).collect(),
        audience,
        transactional: new.transactional,
        topic: new.topic,
        variables: serde_json::Value::Object(new.variables.clone()).to_string(),
        tracking: new.tracking,
        utm: None,
        // Only campaigns resend automatically. For other sends, a user decides whether to resend after an unknown delivery, regardless of
        // the setting.
        unknown: if matches!(new.kind, MailingKind::Campaign(_)) { new.unknown } else { Policy::Hold },
        local: new.local.clone(),
        hold_number: 0,
        created_at: now,
        updated_at: now,
    }
}

fn translation(account: AccountId, content: &Content) -> Translation {
    Translation {
        language: content.language.clone(),
        email: content.email,
        subject: content.subject.clone(),
        content: store::content_id(account, content),
    }
}
