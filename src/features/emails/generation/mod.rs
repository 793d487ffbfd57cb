//! Generates emails in repeatable stages: plan → write → render → screenshot → finish.
//!
//! The plan stage of a queued conversation creates a row for each email. The emails then go through their stages in parallel, because
//! language models can be slow. The result of a stage and the email's new state are stored in one transaction. An interrupted stage is
//! restarted a limited number of times. One transaction finishes a conversation, emits its event and removes it from the queue.

#[cfg(test)]
mod brief_tests;
pub mod context;
#[cfg(test)]
mod contract_tests;
pub mod embedded_images;
pub mod import;
#[cfg(test)]
mod model_tests;
pub mod stages;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};

use self::context::StageContext;
use super::edits;
use super::model::{Conversation, Email, State};
use super::store;
use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::ReadTx;
use crate::features::projects::{self, ProjectStatus};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ConversationId, EditId, EmailId};
use crate::vocab::{limits, tables};

/// A task that can run now and does not depend on other tasks.
enum Task {
    Plan(AccountId, Box<Conversation>),
    Advance(AccountId, Box<Conversation>, Box<Email>),
    Finish(AccountId, ConversationId),
    Edit(EditId),
    Screenshots(AccountId, EmailId),
}

/// The conversation, email or edit that a task works on, used to avoid starting a task twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Subject {
    Conversation(ConversationId),
    Email(EmailId),
    Edit(EditId),
    Screenshots(EmailId),
}

impl Task {
    fn subject(&self) -> Subject {
        match self {
            Self::Plan(_, conversation) => Subject::Conversation(conversation.id),
            Self::Finish(_, conversation) => Subject::Conversation(*conversation),
            Self::Advance(_, _, email) => Subject::Email(email.id),
            Self::Edit(edit) => Subject::Edit(*edit),
            Self::Screenshots(_, email) => Subject::Screenshots(*email),
        }
    }

    async fn run(self, context: StageContext) -> (Subject, Result<(), Failure>) {
        let subject = self.subject();
        let result = match self {
            Self::Plan(account, conversation) => stages::plan(&context, account, *conversation).await,
            Self::Advance(account, conversation, email) => stages::advance(&context, account, *conversation, *email).await,
            Self::Finish(account, conversation) => stages::finish(&context, account, conversation).await,
            Self::Edit(edit) => edits::work(&context, edit).await,
            Self::Screenshots(account, email) => stages::screenshots(&context, account, email).await,
        };
        (subject, result)
    }
}

/// Runs a limited number of tasks in parallel. Returns whether more tasks may be waiting.
pub async fn step(engine: Arc<Engine>, environment: Environment) -> Result<bool, Failure> {
    let context = StageContext { data: engine.data(environment).clone(), engine };
    let mut running = FuturesUnordered::new();
    let mut started = HashSet::new();
    let mut left = limits::EMAIL_STAGES_PER_STEP;
    let mut failed = None;
    loop {
        // Subscribe before reading the queues, so that no new task is missed in between.
        let added = [tables::CONVERSATION_QUEUE, tables::EMAIL_EDIT_QUEUE, tables::EMAIL_SCREENSHOT_QUEUE]
            .map(|table| Box::pin(context.data.store.changed(table).notified()));
        for task in due(&context.data.store.read(), &context.engine, limits::EMAILS_AT_ONCE, &started)? {
            if left == 0 || running.len() >= limits::EMAILS_AT_ONCE {
                break;
            }
            left -= 1;
            started.insert(task.subject());
            running.push(task.run(context.clone()));
        }
        if running.is_empty() {
            return failed.map_or(Ok(left == 0), Err);
        }
        tokio::select! {
            Some((subject, result)) = running.next() => {
                match result {
                    Ok(()) => _ = started.remove(&subject),
                    // A failed task is retried in the next step. The other tasks finish first.
                    Err(failure) => failed = Some(failure),
                }
            }
            _ = futures_util::future::select_all(added), if left > 0 && running.len() < limits::EMAILS_AT_ONCE => {}
        }
    }
}

/// Returns up to `limit` tasks that can start now. Edits come first, because users wait for them. While sending is on hold, generations and
/// edits that were requested before the hold wait, because they send requests to language models.
fn due(tx: &ReadTx, engine: &Engine, limit: usize, started: &HashSet<Subject>) -> Result<Vec<Task>, Failure> {
    let (now, hold) = (engine.clock.now(), engine.hold.current());
    // Tasks on hold stay at the front of the queues, so the scan reads past a limited number of them.
    let skipped_max = if hold.is_some() { limits::HELD_SCANNED_MAX } else { 0 };
    let is_held = |number| hold.as_ref().is_some_and(|hold| hold.holds(number));
    let mut tasks: Vec<Task> = Vec::new();
    let is_free = |task: &Task| !started.contains(&task.subject());
    for edit in store::open_edits(tx, limit + started.len() + skipped_max)? {
        if hold.is_none() || store::any_edit(tx, edit)?.is_none_or(|edit| !is_held(edit.hold_number)) {
            tasks.extend(Some(Task::Edit(edit)).filter(is_free));
        }
    }
    for (id, account) in store::open_conversations(tx, limits::EMAIL_STAGES_PER_STEP + skipped_max)? {
        if tasks.len() >= limit {
            break;
        }
        let Some(conversation) = store::conversation(tx, account, id)? else { continue };
        if is_held(conversation.hold_number) {
            continue;
        }
        if conversation.state == State::Pending {
            if waits_for_import(tx, account, &conversation, now)? {
                continue;
            }
            tasks.extend(Some(Task::Plan(account, Box::new(conversation))).filter(is_free));
            continue;
        }
        let emails = store::emails(tx, account, id)?;
        if emails.iter().all(|email| email.stage.is_final()) {
            tasks.extend(Some(Task::Finish(account, id)).filter(is_free));
            continue;
        }
        for email in emails.iter().filter(|email| stages::can_advance(email, &emails)) {
            let task = Task::Advance(account, Box::new(conversation.clone()), Box::new(email.clone()));
            tasks.extend(Some(task).filter(is_free));
        }
    }
    for (account, email) in store::open_screenshots(tx, limit + started.len())? {
        tasks.extend(Some(Task::Screenshots(account, email)).filter(is_free));
    }
    tasks.truncate(limit);
    Ok(tasks)
}

/// Returns whether to wait for the import of the brand's sites. Users who import a brand and request emails right afterward expect the
/// emails to have the style of that brand. The wait is limited.
fn waits_for_import(tx: &ReadTx, account: AccountId, conversation: &Conversation, now: Timestamp) -> Result<bool, Failure> {
    let project = projects::find(tx, account, conversation.project)?;
    let is_reading = project.is_some_and(|project| matches!(project.status, ProjectStatus::Pending | ProjectStatus::Processing));
    Ok(is_reading && now.ms_since(conversation.created_at) < limits::SITE_IMPORT_AWAITED_MS)
}
