//! The worker that carries out restores of brands.

use std::fs;
use std::sync::Arc;

use super::model::{Restore, State};
use super::{brands, copying, store};
use crate::engine::api::{Engine, Failure};
use crate::engine::backup;
use crate::engine::backup::restored_copy::RestoredCopy;
use crate::engine::runner::Step;
use crate::engine::store::identity::{self, Identity};
use crate::features::system::continuous;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// The prefix of the names of temporary folders in the data folder. Each restore has its own folder, because a preview may still read from
/// the folder of an earlier restore.
const FOLDER: &str = "restore-brand-";

/// Continues the restore, or removes the temporary folders of a restore that has ended.
pub async fn restore(engine: Arc<Engine>) -> Result<Step, Failure> {
    let Some(restore) = store::restore(&engine.control.read())?.filter(Restore::is_open) else {
        clean_up(&engine).await;
        return Ok(Step::Done);
    };
    let now = engine.clock.now();
    let has_copy = engine.restored.copy().is_some();
    match restore.state {
        State::Ready { .. } if !has_copy => {
            let reason = "The service restarted before a brand was chosen. Nothing was changed. Start the restore again.";
            end(&engine, restore, State::Failed(reason.to_owned())).await
        }
        State::Ready { since } if !(0..limits::RESTORE_KEPT_MS).contains(&now.ms_since(since)) => {
            let reason = "No brand was chosen within an hour. Nothing was changed. Start the restore again.";
            end(&engine, restore, State::Failed(reason.to_owned())).await
        }
        State::Ready { .. } => Ok(Step::Done),
        State::Preparing => prepare(&engine, restore).await,
        State::Copying if !has_copy => prepare(&engine, restore).await,
        State::Copying => match copying::step(&engine, &restore).await {
            Ok(true) => {
                if restore.attempts > 0 {
                    save(&engine, Restore { attempts: 0, ..restore }).await?;
                }
                Ok(Step::More)
            }
            Ok(false) => end(&engine, restore, State::Completed).await,
            // Do not count this as a failed attempt: the worker tries again until the disk has free space.
            Err(failure) if failure.code == Code::StorageFull => Err(failure),
            Err(failure) => {
                let reason = failure.cause.clone().unwrap_or_else(|| failure.sentence());
                tracing::warn!(reason, "a step of the restore of a brand failed");
                let restore = Restore { attempts: restore.attempts + 1, ..restore };
                save(&engine, restore.clone()).await?;
                try_again(&engine, restore, reason).await
            }
        },
        State::Completed | State::Failed(_) => Ok(Step::Done),
    }
}

/// Restores the state at the requested time into the temporary folder.
async fn prepare(engine: &Arc<Engine>, mut restore: Restore) -> Result<Step, Failure> {
    clean_up(engine).await;
    // Count the attempt before it starts, so that a restore that keeps crashing the service is eventually ended.
    restore.attempts += 1;
    if restore.attempts > limits::RESTORE_ATTEMPTS {
        let reason =
            "The restore was interrupted several times. Check the service's log, then start the restore again.".to_owned();
        return end(engine, restore, State::Failed(reason)).await;
    }
    save(engine, restore.clone()).await?;
    let Some(backup) = engine.backup.clone() else {
        let reason =
            "There is no continuous backup. Set backup.url in the settings, restart the service, then start the restore again.";
        return end(engine, restore, State::Failed(reason.to_owned())).await;
    };
    let folder = engine.control.file().with_file_name(format!("{FOLDER}{}", restore.id));
    if let Err(reason) = continuous::make_folder(engine, &folder, "the restore of a brand") {
        return try_again(engine, restore, sentence(&reason)).await;
    }
    let progress = engine.restored.start();
    let services = (engine.clock.clone(), engine.random.clone());
    let restoring = async {
        let sealed = backup.target()?;
        RestoredCopy::restore(&sealed, Some(restore.at), &folder, &progress, services).await
    };
    let copy = match restoring.await {
        Ok(copy) => copy,
        Err(error @ (backup::Error::Target { .. } | backup::Error::Folder { .. })) => {
            return try_again(engine, restore, sentence(&error.to_string())).await;
        }
        Err(error) => return end(engine, restore, State::Failed(sentence(&error.to_string()))).await,
    };
    let own = identity::identity(&engine.control.read())?;
    for environment in Environment::ALL {
        let found = identity::identity(&copy.store(environment).read())?;
        if let Some(reason) = refusal(found.as_ref(), own.as_ref(), environment.word()) {
            return end(engine, restore, State::Failed(reason.to_owned())).await;
        }
    }
    if let Some(project) = restore.project
        && brands::find(&copy, restore.account, project)?.is_none()
    {
        let reason = format!(
            "At {}, there was no brand with the ID {project} that you can restore. Check the ID, or choose another time.",
            copy.until
        );
        return end(engine, restore, State::Failed(reason)).await;
    }
    // A user may have discarded the restore in the meantime.
    if store::restore(&engine.control.read())?.is_none_or(|current| current.id != restore.id) {
        return Ok(Step::More);
    }
    restore.at = copy.until;
    if restore.state == State::Preparing {
        restore.is_exact = copy.is_exact;
        restore.state = State::Ready { since: engine.clock.now() };
        restore.attempts = 0;
    }
    drop(engine.restored.set(Some(copy)));
    save(engine, restore).await?;
    Ok(Step::More)
}

/// Returns why brands cannot be restored from this copy of a store. Returns `None` if the copy is of this installation's store with this
/// name, and was made with the current master key.
fn refusal(found: Option<&Identity>, own: Option<&Identity>, name: &str) -> Option<&'static str> {
    let is_installations = |found: &Identity, own: &Identity| found.installation == own.installation && found.store == name;
    match found.zip(own) {
        _ if continuous::is_own(found, own, name) => None,
        Some((found, own)) if is_installations(found, own) => {
            Some("The backup at this time was made with a different master key. Choose a time after the master key was replaced.")
        }
        _ => Some("The backup belongs to another installation. Check the setting backup.url."),
    }
}

/// Releases the restored state, and deletes the temporary folders of this process and of earlier processes.
async fn clean_up(engine: &Arc<Engine>) {
    let (copy, data) = (engine.restored.set(None), engine.control.file().to_path_buf());
    let removing = tokio::task::spawn_blocking(move || {
        drop(copy);
        let entries = data.parent().and_then(|folder| fs::read_dir(folder).ok());
        let left =
            entries.into_iter().flatten().flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(FOLDER));
        // A folder that cannot be removed now is removed later: the worker runs every second.
        left.for_each(|entry| drop(fs::remove_dir_all(entry.path())));
    });
    let _ = removing.await;
}

/// Leaves the restore for the worker's next run. After too many attempts without progress, ends the restore.
async fn try_again(engine: &Arc<Engine>, restore: Restore, reason: String) -> Result<Step, Failure> {
    match restore.attempts < limits::RESTORE_ATTEMPTS {
        true => Ok(Step::Done),
        false => end(engine, restore, State::Failed(reason)).await,
    }
}

async fn end(engine: &Arc<Engine>, mut restore: Restore, state: State) -> Result<Step, Failure> {
    match &state {
        State::Failed(reason) => tracing::warn!(reason, "the restore of a brand failed"),
        _ => {
            let project = restore.order.map(|order| order.target(restore.id).to_string());
            tracing::info!(project, "a brand was restored");
        }
    }
    restore.end(state, engine.clock.now());
    save(engine, restore).await?;
    clean_up(engine).await;
    Ok(Step::Done)
}

/// Saves the restore, unless a user has discarded it or has started another one.
async fn save(engine: &Engine, restore: Restore) -> Result<(), Failure> {
    tracing::debug!(restore = %restore.id, state = restore.state.word(), attempts = restore.attempts, "restore of a brand");
    let save = move |tx: &mut crate::engine::store::WriteTx<'_>| {
        if store::restore(tx)?.is_some_and(|current| current.id == restore.id) {
            store::save(tx, &restore);
        }
        Ok::<_, Failure>(())
    };
    engine.control.write_essential(save).await?
}

/// Turns an error message from the backup into a sentence for users.
fn sentence(text: &str) -> String {
    Failure::because(Code::WrongState, text.to_owned()).sentence()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;
    use crate::engine::store::identity::Installation;
    use crate::engine::store::seal::Seal;

    // Regression test: a state with an older master key was reported as the backup of another installation.
    #[test]
    fn a_different_master_key_is_not_reported_as_a_different_installation() {
        let random = SeededRandom::new(1);
        let (one, another) = (Installation::new(&random), Installation::new(&random));
        let (key, old_key) = (Seal::from_key(&[1; 32]), Seal::from_key(&[2; 32]));
        let own = Identity::new(&one, "live", &key);
        let of = |found: &Identity| refusal(Some(found), Some(&own), "live").unwrap_or_default();
        assert_eq!(of(&own), "");
        assert!(of(&Identity::new(&one, "live", &old_key)).contains("a different master key"));
        for foreign in [Identity::new(&another, "live", &key), Identity::new(&one, "test", &old_key)] {
            assert!(of(&foreign).starts_with("The backup belongs to another installation."));
        }
        assert!(refusal(None, Some(&own), "live").is_some());
    }
}
