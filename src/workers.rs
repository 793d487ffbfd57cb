//! TABLE: every background worker, with the tables whose changes wake it, how often it runs without being woken, and its step.

use std::sync::Arc;
use std::time::Duration;

use crate::base::memory;
use crate::engine::access::{audit, idempotency};
use crate::engine::api::{Engine, Failure};
use crate::engine::outbox;
use crate::engine::runner::{Running, Step, Work, Worker};
use crate::engine::store::{self, Store, WriteTx, blobs};
use crate::features::accounts;
use crate::features::contacts::{indexing, jobs};
use crate::features::{
    campaigns, connections, contacts, domains, emails, events, previews, projects, restores, scheduled_imports, sending,
    storefront, system, tracking, webhooks,
};
use crate::vocab::environment::Environment;
use crate::vocab::limits::SWEEP_ROWS;
use crate::vocab::tables;

/// Creates the work of a worker that runs its step in each environment.
macro_rules! each {
    ($step:path) => {
        Work::EachEnvironment(|engine, environment| Box::pin($step(engine, environment)))
    };
}

/// Like `each!`, but does nothing while sending is on hold. This installation may then be a copy, and the original may contact the same
/// services with the same tokens.
macro_rules! each_unless_held {
    ($step:path) => {
        Work::EachEnvironment(|engine, environment| {
            Box::pin(async move {
                match engine.hold.is_on() {
                    true => Ok(Step::Done),
                    false => $step(engine, environment).await,
                }
            })
        })
    };
}

/// The workers that run on every node of a cluster, because they concern the node itself. Workers that run until the service drains are
/// last.
pub static NODE_WORKERS: &[Worker] = &[
    // The search index also needs periodic runs, because it can fall behind even without a new commit, for example after a restart.
    Worker {
        name: indexing::WORKER,
        wakes: &[tables::FEED],
        period: Duration::from_secs(5),
        work: each!(contacts::worker::index),
    },
    // Memory is returned to the system soon after an import or a campaign.
    Worker { name: "memory", wakes: &[], period: Duration::from_secs(5), work: Work::Control(give_memory_back) },
    // The stores check the free space before each write. This worker detects the end of a shortage even if nothing is written.
    Worker { name: "disk space", wakes: &[], period: Duration::from_secs(1), work: Work::Control(watch_space) },
    // Mail can arrive at every node. A follower forwards it to the leader.
    Worker::lasting("inbound mail", Work::Service(|tasks, engine| Box::pin(tracking::worker::receive_mail(tasks, engine)))),
];

/// The other workers. In a cluster, only the leader runs them. Workers that run until the service drains are last. Workers that a change
/// wakes also run periodically, because some work waits for a time, such as a retry.
pub static WORKERS: &[Worker] = &[
    // A crash loses the request counts in memory, usually those of the last ten seconds or less.
    Worker { name: "key usage", wakes: &[], period: Duration::from_secs(10), work: Work::Control(write_usage) },
    Worker {
        name: "contact jobs",
        wakes: &[tables::CONTACT_JOBS],
        period: Duration::from_secs(5),
        work: each!(contacts::worker::run_jobs),
    },
    // Periodic runs continue imports after a pause.
    Worker {
        name: "platform imports",
        wakes: &[tables::CONTACT_JOBS],
        period: Duration::from_secs(5),
        work: each_unless_held!(connections::worker::import),
    },
    // Periodic runs start the imports that are due, and record the results of imports.
    Worker {
        name: "scheduled imports",
        wakes: &[tables::SCHEDULED_IMPORTS],
        period: Duration::from_secs(5),
        work: each_unless_held!(scheduled_imports::worker::run),
    },
    // Periodic runs continue imports after a pause, and start those that are due.
    Worker {
        name: "store imports",
        wakes: &[tables::STORE_SYNC_QUEUE],
        period: Duration::from_secs(2),
        work: each!(storefront::worker::sync),
    },
    Worker {
        name: "emails",
        // Changes to projects also wake this worker, because a generation waits for the import of its brand.
        wakes: &[tables::CONVERSATION_QUEUE, tables::EMAIL_EDIT_QUEUE, tables::EMAIL_SCREENSHOT_QUEUE, tables::PROJECTS],
        period: Duration::from_secs(5),
        work: each!(emails::worker::generate),
    },
    Worker {
        name: "email checks",
        wakes: &[tables::EMAIL_CHECK_QUEUE],
        period: Duration::from_secs(5),
        work: each!(emails::worker::check),
    },
    Worker {
        name: "previews",
        wakes: &[tables::PREVIEW_QUEUE],
        period: Duration::from_secs(5),
        work: each!(previews::worker::draw),
    },
    Worker {
        name: "brand imports",
        wakes: &[tables::PROJECT_IMPORT_QUEUE],
        period: Duration::from_secs(5),
        work: each!(projects::worker::import_sites),
    },
    // Periodic runs retry fetching images.
    Worker {
        name: "brand images",
        wakes: &[tables::PROJECT_IMAGE_QUEUE],
        period: Duration::from_secs(10),
        work: each_unless_held!(projects::worker::analyze_images),
    },
    // Periodic runs start campaigns whose scheduled time has come.
    Worker {
        name: "campaigns",
        wakes: &[tables::CAMPAIGN_QUEUE, tables::MAILINGS],
        period: Duration::from_secs(1),
        work: each!(campaigns::worker::step),
    },
    // This worker runs only periodically, because each domain has its own time for the next check.
    Worker { name: "sending domains", wakes: &[], period: Duration::from_secs(15), work: each!(domains::worker::check_records) },
    Worker {
        name: "mailing planning",
        wakes: &[tables::MAILING_QUEUE],
        period: Duration::from_secs(5),
        work: each!(sending::worker::plan),
    },
    // A crash loses the visits in memory, usually those of the last tenth of a second or less.
    Worker {
        name: "opens and clicks",
        wakes: &[],
        period: Duration::from_millis(100),
        work: each!(tracking::worker::write_visits),
    },
    // Periodic runs are needed because simulated recipients react after a delay.
    Worker {
        name: "bounces and complaints",
        wakes: &[tables::SIMULATIONS],
        period: Duration::from_secs(1),
        work: each!(tracking::worker::record_delivery_events),
    },
    Worker {
        name: "conversions",
        wakes: &[tables::CLICK_CHANGES],
        period: Duration::from_secs(5),
        work: each!(events::worker::attribute_again),
    },
    // Customer events are indexed only periodically, so that the events of a whole period are indexed together.
    Worker { name: "customer event indexes", wakes: &[], period: Duration::from_millis(500), work: each!(events::worker::index) },
    Worker {
        name: "contact erasure",
        wakes: &[tables::ERASURES],
        period: Duration::from_secs(5),
        work: each!(tracking::worker::erase),
    },
    Worker {
        name: "webhook events",
        wakes: &[tables::OUTBOX_QUEUE],
        period: Duration::from_secs(5),
        work: each!(webhooks::worker::fan_out),
    },
    // Periodic runs create redeliveries that waited for space in the queue.
    Worker {
        name: "webhook redeliveries",
        wakes: &[tables::WEBHOOK_REDELIVERIES, tables::WEBHOOK_REMOVALS],
        period: Duration::from_secs(5),
        work: each!(webhooks::worker::redeliver),
    },
    // Deleting expired rows is not urgent, so a run every minute is enough.
    Worker { name: "sweep", wakes: &[], period: Duration::from_secs(60), work: Work::EachEnvironment(sweep_environment) },
    Worker { name: "sweep control", wakes: &[], period: Duration::from_secs(60), work: Work::Control(sweep_control) },
    // The backup's age grows even if nothing is committed, so it is checked periodically.
    Worker {
        name: "backup monitor",
        wakes: &[],
        period: Duration::from_secs(5),
        work: Work::Control(|engine| Box::pin(system::worker::watch_backup(engine))),
    },
    Worker {
        name: "restore drills",
        wakes: &[],
        period: Duration::from_secs(5),
        work: Work::LongControl(|engine| Box::pin(system::worker::drill(engine))),
    },
    // Restores of brands run only periodically, so that there is a pause between failed attempts.
    Worker {
        name: "brand restores",
        wakes: &[],
        period: Duration::from_secs(1),
        work: Work::LongControl(|engine| Box::pin(restores::worker::restore(engine))),
    },
    // The cluster's log grows slowly, so a check every minute is enough.
    Worker {
        name: "cluster snapshots",
        wakes: &[],
        period: Duration::from_secs(60),
        work: Work::LongControl(|engine| Box::pin(system::worker::take_cluster_snapshots(engine))),
    },
    Worker::lasting("continuous backup", Work::Service(|tasks, engine| Box::pin(system::worker::back_up(tasks, engine)))),
    Worker::lasting(
        "sending",
        Work::EachService(|tasks, engine, environment| Box::pin(sending::worker::dispatch(tasks, engine, environment))),
    ),
    Worker::lasting(
        "webhooks",
        Work::EachService(|tasks, engine, environment| Box::pin(webhooks::worker::dispatch(tasks, engine, environment))),
    ),
];

fn write_usage(engine: Arc<Engine>) -> Running {
    Box::pin(async move { accounts::flush_usage(&engine).await.map(|()| Step::Done) })
}

fn give_memory_back(engine: Arc<Engine>) -> Running {
    Box::pin(async move {
        engine.dictionaries.release_idle(engine.clock.now().0 / 1000);
        tokio::task::spawn_blocking(memory::give_back).await.map_err(Failure::internal)?;
        Ok(Step::Done)
    })
}

fn watch_space(engine: Arc<Engine>) -> Running {
    Box::pin(async move {
        // Creating the reserve allocates all of its disk space at once. This may take a while, so it runs on a thread for blocking work.
        let space = engine.control.space().clone();
        tokio::task::spawn_blocking(move || space.tend()).await.map_err(Failure::internal)?;
        Ok(Step::Done)
    })
}

fn sweep_environment(engine: Arc<Engine>, environment: Environment) -> Running {
    let store = engine.data(environment).store.clone();
    let retention = sending::Retention::of(&engine.settings.mail);
    let upkeep = webhooks::Upkeep::new(&engine.settings);
    sweep(store, move |tx| {
        // Every element of an array is evaluated, so all sweeps run. With `||`, the first sweep with more rows would be the last to run.
        let more = [
            idempotency::sweep(tx, SWEEP_ROWS)?,
            audit::sweep(tx, SWEEP_ROWS)?,
            outbox::sweep(tx, SWEEP_ROWS)?,
            events::sweep(tx)?,
            previews::sweep(tx)?,
            blobs::sweep(tx)?,
            jobs::forget(tx)?,
            sending::sweep(tx, retention)?,
            webhooks::sweep(tx, upkeep, SWEEP_ROWS)?,
        ];
        Ok(more.contains(&true))
    })
}

fn sweep_control(engine: Arc<Engine>) -> Running {
    // Old attempts are deleted even on an almost full disk, so that attackers cannot use up the reserve with sign-in attempts.
    let control = engine.control.clone();
    let sweep = move |tx: &mut WriteTx<'_>| -> store::Result<bool> {
        let more = [audit::sweep(tx, SWEEP_ROWS)?, accounts::sweep(&engine, tx, SWEEP_ROWS)?];
        Ok(more.contains(&true))
    };
    Box::pin(async move { Ok(Step::more_if(control.write_essential(sweep).await??)) })
}

fn sweep(store: Arc<Store>, sweep: impl FnOnce(&mut WriteTx<'_>) -> store::Result<bool> + Send + 'static) -> Running {
    Box::pin(async move { Ok(Step::more_if(store.write(sweep).await??)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::access::throttle::Rule;
    use crate::engine::api::attempts;
    use crate::engine::store::space::Space;
    use crate::testing::TestApp;
    use crate::vocab::tables;

    /// Password guesses are counted even on a full disk. If their rows were not deleted then, attackers could use up the reserve.
    #[test]
    fn rows_of_guesses_are_written_and_swept_on_a_full_disk() {
        static RULE: Rule = Rule { name: "test", free: 3, window_ms: 60_000, wait_max_ms: 0 };
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let app = TestApp::new().restarted_on(&Space::open(folder.path(), u64::MAX / 4, 0));
        let engine = app.engine().clone();
        let rows = || engine.control.read().rows(tables::THROTTLES).expect("the store can be read");
        let ordinary = app.wait(engine.control.write(|_| Ok::<_, ()>(())));
        assert_eq!(ordinary, Err(store::Error::NoSpace), "the disk is treated as full");
        for name in ["ada", "bob"] {
            app.wait(attempts::count(&engine, &[(&RULE, name.to_owned())])).expect("the attempt can be counted");
            app.clock.advance_ms(40_000);
        }
        assert_eq!(rows(), 2);
        app.wait(sweep_control(engine.clone())).expect("the store can be swept");
        assert_eq!(rows(), 1, "the row of the first name is more than a minute old and was swept");
        app.clock.advance_ms(60_000);
        app.wait(sweep_control(engine.clone())).expect("the store can be swept");
        assert_eq!(rows(), 0);
    }
}
