//! Stores the results of AI edits that users preview before saving. The preview frame shows the stored result, because running the edit
//! again would double the cost, and a language model could write a different email.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::vocab::ids::{AccountId, EditId};
use crate::vocab::limits;

struct PreviewedEmail {
    account: AccountId,
    id: EditId,
    html: String,
}

impl PreviewedEmail {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.html.len()
    }
}

/// The newest previews of this process, oldest first. Their total size is limited.
#[derive(Default)]
pub struct EditPreviews(Mutex<VecDeque<PreviewedEmail>>);

impl EditPreviews {
    pub fn keep(&self, account: AccountId, id: EditId, html: String) {
        let mut kept = self.kept();
        kept.push_back(PreviewedEmail { account, id, html });
        let mut bytes: usize = kept.iter().map(PreviewedEmail::bytes).sum();
        while bytes > limits::EDIT_PREVIEWS_BYTES_MAX
            && let Some(oldest) = kept.pop_front()
        {
            bytes -= oldest.bytes();
        }
    }

    /// Returns the HTML of a preview; `None` if it is no longer stored, or belongs to another account.
    pub fn html(&self, account: AccountId, id: EditId) -> Option<String> {
        let kept = self.kept();
        kept.iter().find(|email| (email.account, email.id) == (account, id)).map(|email| email.html.clone())
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<PreviewedEmail>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_previews_are_dropped_and_other_accounts_see_none() {
        let [ours, other] = [1, 2].map(|byte| AccountId::from_bytes([byte; 12]));
        let [first, second] = [3, 4].map(|byte| EditId::from_bytes([byte; 12]));
        let previews = EditPreviews::default();
        previews.keep(ours, first, "<p>first</p>".to_owned());
        assert_eq!((previews.html(ours, first).as_deref(), previews.html(other, first)), (Some("<p>first</p>"), None));
        let large = "x".repeat(limits::EDIT_PREVIEWS_BYTES_MAX - 100);
        previews.keep(ours, second, large.clone());
        assert_eq!((previews.html(ours, first), previews.html(ours, second)), (None, Some(large)));
    }
}
