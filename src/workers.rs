//! TABLE: every background worker: what wakes it, how often it looks by itself, and what one step is.

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
use crate::features::{campaigns, contacts, domains, emails, events, projects, sending, tracking, webhooks};
use crate::vocab::environment::Environment;
use crate::vocab::limits::SWEEP_ROWS;
use crate::vocab::tables;

/// A step in each environment.
macro_rules! each {
    ($step:path) => {
        Work::EachEnvironment(|engine, environment| Box::pin($step(engine, environment)))
    };
}

/// Every worker. What runs until the service drains comes last.
pub const WORKERS: &[Worker] = &[
    // Counts in memory are lost by a crash: ten seconds of them at most.
    Worker { name: "key usage", wakes: &[], period: Duration::from_secs(10), work: Work::Control(write_usage) },
    // The period is for the case that an index fell behind without a commit, as after a restart.
    Worker {
        name: indexing::WORKER,
        wakes: &[tables::FEED],
        period: Duration::from_secs(5),
        work: each!(contacts::worker::index),
    },
    // The period is for what a step that failed has left.
    Worker {
        name: "jobs on contacts",
        wakes: &[tables::CONTACT_JOBS],
        period: Duration::from_secs(5),
        work: each!(contacts::worker::run_jobs),
    },
    // The period is for what a step that failed has left.
    Worker {
        name: "emails",
        // Projects: a generation waits for the import of its brand.
        wakes: &[tables::CONVERSATION_QUEUE, tables::EMAIL_EDIT_QUEUE, tables::PROJECTS],
        period: Duration::from_secs(5),
        work: each!(emails::worker::generate),
    },
    // The period is for what a restart or a failed step has left.
    Worker {
        name: "imports of projects",
        wakes: &[tables::PROJECT_IMPORT_QUEUE],
        period: Duration::from_secs(5),
        work: each!(projects::worker::import_sites),
    },
    // The period is for images that are tried again later.
    Worker {
        name: "images of projects",
        wakes: &[tables::PROJECT_IMAGE_QUEUE],
        period: Duration::from_secs(10),
        work: each!(projects::worker::analyze_images),
    },
    // The period is for those whose time comes.
    Worker {
        name: "campaigns",
        wakes: &[tables::CAMPAIGN_QUEUE, tables::MAILINGS],
        period: Duration::from_secs(1),
        work: each!(campaigns::worker::step),
    },
    // The period is for domains whose next look has come.
    Worker { name: "sending domains", wakes: &[], period: Duration::from_secs(15), work: each!(domains::worker::check_records) },
    // The period is for what a step that failed has left.
    Worker {
        name: "planning of mailings",
        wakes: &[tables::MAILING_QUEUE],
        period: Duration::from_secs(5),
        work: each!(sending::worker::plan),
    },
    // A tenth of a second of visits is lost by a crash at most.
    Worker {
        name: "opens and clicks",
        wakes: &[],
        period: Duration::from_millis(100),
        work: each!(tracking::worker::write_visits),
    },
    // The period is for simulated recipients, who take their time.
    Worker {
        name: "bounces and complaints",
        wakes: &[tables::SIMULATIONS],
        period: Duration::from_secs(1),
        work: each!(tracking::worker::record_delivery_events),
    },
    // The period is for what a restart or a failed step has left.
    Worker {
        name: "conversions",
        wakes: &[tables::CLICK_CHANGES],
        period: Duration::from_secs(5),
        work: each!(events::worker::attribute_again),
    },
    // By its period alone: what waits meanwhile is brought in together, which is what it waits for.
    Worker { name: "indexes of events", wakes: &[], period: Duration::from_millis(500), work: each!(events::worker::index) },
    // The period is for what a restart or a failed step has left.
    Worker {
        name: "erasure of contacts",
        wakes: &[tables::ERASURES],
        period: Duration::from_secs(5),
        work: each!(tracking::worker::erase),
    },
    // What an import or a campaign leaves free is not held for long.
    Worker { name: "memory", wakes: &[], period: Duration::from_secs(5), work: Work::Control(give_memory_back) },
    // The period is for what a step that failed has left.
    Worker {
        name: "events for webhooks",
        wakes: &[tables::OUTBOX_QUEUE],
        period: Duration::from_secs(5),
        work: each!(webhooks::worker::fan_out),
    },
    // The period is for redeliveries that wait until there is room again.
    Worker {
        name: "redeliveries of webhooks",
        wakes: &[tables::WEBHOOK_REDELIVERIES, tables::WEBHOOK_REMOVALS],
        period: Duration::from_secs(5),
        work: each!(webhooks::worker::redeliver),
    },
    // The stores look themselves before they write. This is for the end of a shortage in which nothing is written.
    Worker { name: "disk space", wakes: &[], period: Duration::from_secs(1), work: Work::Control(watch_space) },
    // What is over is not used any more; when it goes matters only for space.
    Worker { name: "sweep", wakes: &[], period: Duration::from_secs(60), work: Work::EachEnvironment(sweep_environment) },
    Worker { name: "sweep control", wakes: &[], period: Duration::from_secs(60), work: Work::Control(sweep_control) },
    Worker::lasting(
        "sending",
        Work::EachService(|tasks, engine, environment| Box::pin(sending::dispatch::run(tasks, engine, environment))),
    ),
    Worker::lasting(
        "webhooks",
        Work::EachService(|tasks, engine, environment| Box::pin(webhooks::dispatch::run(tasks, engine, environment))),
    ),
    Worker::lasting("inbound mail", Work::Service(|tasks, engine| Box::pin(tracking::worker::receive_mail(tasks, engine)))),
];

fn write_usage(engine: Arc<Engine>) -> Running {
    Box::pin(async move { accounts::flush_usage(&engine).await.map(|()| Step::Done) })
}

fn give_memory_back(_: Arc<Engine>) -> Running {
    Box::pin(async move {
        tokio::task::spawn_blocking(memory::give_back).await.map_err(Failure::internal)?;
        Ok(Step::Done)
    })
}

fn watch_space(engine: Arc<Engine>) -> Running {
    Box::pin(async move {
        // The reserve is made by asking the disk for all of it at once, which may take a while.
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
        // Each of them, whatever the others say.
        let more = [
            idempotency::sweep(tx, SWEEP_ROWS)?,
            audit::sweep(tx, SWEEP_ROWS)?,
            outbox::sweep(tx, SWEEP_ROWS)?,
            events::sweep(tx)?,
            blobs::sweep(tx)?,
            jobs::forget(tx)?,
            sending::sweep(tx, retention)?,
            webhooks::sweep(tx, upkeep, SWEEP_ROWS)?,
        ];
        Ok(more.contains(&true))
    })
}

fn sweep_control(engine: Arc<Engine>) -> Running {
    // On an almost full disk too: what strangers try there must not use up the reserve.
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

    /// Guesses are counted on a full disk too. Were their rows not swept there, strangers could use up the reserve.
    #[test]
    fn rows_of_guesses_are_written_and_swept_on_a_full_disk() {
        static RULE: Rule = Rule { name: "test", free: 3, window_ms: 60_000, wait_max_ms: 0 };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let app = TestApp::new().restarted_on(&Space::open(folder.path(), u64::MAX / 4, 0));
        let engine = app.engine().clone();
        let rows = || engine.control.read().rows(tables::THROTTLES).expect("readable");
        let ordinary = app.wait(engine.control.write(|_| Ok::<_, ()>(())));
        assert_eq!(ordinary, Err(store::Error::NoSpace), "the disk counts as full");
        for name in ["ada", "bob"] {
            app.wait(attempts::count(&engine, &[(&RULE, name.to_owned())])).expect("counted");
            app.clock.advance_ms(40_000);
        }
        assert_eq!(rows(), 2);
        app.wait(sweep_control(engine.clone())).expect("swept");
        assert_eq!(rows(), 1, "the first was last seen more than a minute ago");
        app.clock.advance_ms(60_000);
        app.wait(sweep_control(engine.clone())).expect("swept");
        assert_eq!(rows(), 0);
    }
}
