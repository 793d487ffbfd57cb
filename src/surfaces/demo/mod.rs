//! The first minute: from nothing to a brand, emails, contacts, a campaign that was opened and clicked, and the revenue it brought.
//!
//! Everything happens by the operations that programs use, with test data, so what is left behind is what one's own work would leave.
//! `mailmill demo` tells it on the command line with a made-up shop ([`shop`]); the dashboard tells it with somebody's own web site.

mod crowd;
pub mod shop;
mod story;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

pub use story::{Ending, Story, StoryOwner, StoryProgress};

use crate::engine::tasks::Tasks;
use crate::vocab::ids::AccountId;

/// The stories that the dashboard tells, one for each account at a time. What was told is forgotten when the process ends; what it
/// made stays.
pub struct Stories {
    tasks: Tasks,
    told: Mutex<HashMap<AccountId, watch::Receiver<StoryProgress>>>,
}

impl Stories {
    /// None yet.
    pub fn new(tasks: Tasks) -> Self {
        Self { tasks, told: Mutex::default() }
    }

    /// Begin one, unless one is being told to this account.
    pub fn begin(&self, account: AccountId, story: Story) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let goes_on = |told: &watch::Receiver<StoryProgress>| told.borrow().ending.is_none() && told.has_changed().is_ok();
        if told.get(&account).is_some_and(goes_on) {
            return;
        }
        let (sender, receiver) = watch::channel(StoryProgress::default());
        told.insert(account, receiver);
        self.tasks.spawn("first minute", story.tell(sender));
    }

    /// How far this account's story is, if one was begun.
    pub fn told(&self, account: AccountId) -> Option<StoryProgress> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(&account).map(|told| told.borrow().clone())
    }
}
