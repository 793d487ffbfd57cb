//! The demo: creates a brand, emails, contacts, a campaign with opens and clicks, and revenue from an empty account.
//!
//! The demo only calls API operations, with test data, so its results look like a user's own. `mailmill demo` runs it on the command line
//! with a made-up shop ([`shop`]); the dashboard runs it with the user's own website.

mod crowd;
pub mod shop;
mod story;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

pub use story::{Ending, Step, Story, StoryOwner, StoryProgress};

use crate::engine::tasks::Tasks;
use crate::vocab::ids::AccountId;

/// The demos started on the dashboard, one per account at a time. A demo's progress is lost when the process ends; the objects that it
/// created stay.
pub struct Stories {
    tasks: Tasks,
    told: Mutex<HashMap<AccountId, watch::Receiver<StoryProgress>>>,
}

impl Stories {
    /// Creates an empty list of demos.
    pub fn new(tasks: Tasks) -> Self {
        Self { tasks, told: Mutex::default() }
    }

    /// Starts a demo, unless one is running for this account.
    pub fn begin(&self, account: AccountId, story: Story) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running = |told: &watch::Receiver<StoryProgress>| told.borrow().ending.is_none() && told.has_changed().is_ok();
        if told.get(&account).is_some_and(is_running) {
            return;
        }
        let (sender, receiver) = watch::channel(StoryProgress::default());
        told.insert(account, receiver);
        self.tasks.spawn("first minute", story.tell(sender));
    }

    /// Returns the progress of this account's demo, if one was started.
    pub fn told(&self, account: AccountId) -> Option<StoryProgress> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(&account).map(|told| told.borrow().clone())
    }
}
