//! The demo: creates a brand, emails, contacts, a campaign with opens and clicks, and revenue.
//!
//! The demo calls API operations with test data and visits the links in its messages, so its results look like those of real use. `mailmill
//! demo` runs it on the command line with a made-up shop ([`shop`]); the dashboard runs it with the user's website or, if enabled, the
//! shop.

mod crowd;
pub mod shop;
mod story;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

pub use story::{Ending, Step, Story, StoryOwner, StoryProgress};

use crate::engine::tasks::Tasks;
use crate::vocab::ids::AccountId;

/// The demos started on the dashboard, at most one running per account. The progress of a demo is lost when the process ends; the
/// objects that it created remain.
pub struct Stories {
    tasks: Tasks,
    progress: Mutex<HashMap<AccountId, watch::Receiver<StoryProgress>>>,
}

impl Stories {
    pub fn new(tasks: Tasks) -> Self {
        Self { tasks, progress: Mutex::default() }
    }

    /// Starts a demo, unless one is already running for this account.
    pub fn begin(&self, account: AccountId, story: Story) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running = |demo: &watch::Receiver<StoryProgress>| demo.borrow().ending.is_none() && demo.has_changed().is_ok();
        if progress.get(&account).is_some_and(is_running) {
            return;
        }
        let (sender, receiver) = watch::channel(StoryProgress::default());
        progress.insert(account, receiver);
        self.tasks.spawn("first minute", story.run(sender));
    }

    /// Returns the progress of this account's last demo, if there was one in this process.
    pub fn progress(&self, account: AccountId) -> Option<StoryProgress> {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.get(&account).map(|demo| demo.borrow().clone())
    }
}
