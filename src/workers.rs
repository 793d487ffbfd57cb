//! TABLE: every background worker: what wakes it, how often it looks by itself, and what one step is.

use std::sync::Arc;
use std::time::Duration;

use crate::base::memory;
use crate::engine::access::{audit, replays};
use crate::engine::api::{Engine, Failure};
use crate::engine::jobs::runner::{Running, Step, Work, Worker};
use crate::engine::outbox;
use crate::engine::store::{self, Store, WriteTx, blobs};
use crate::features::accounts;
use crate::features::contacts::{indexing, jobs};
use crate::features::emails::generation;
use crate::features::{campaigns, domains, events, projects, sending, tracking, webhooks};
use crate::vocab::environment::Environment;
use crate::vocab::limits::SWEEP_ROWS;
use crate::vocab::tables;

/// Every worker.
pub const WORKERS: &[Worker] = &[
    // Counts in memory are lost by a crash: ten seconds of them at most.
    Worker { name: "key usage", wakes: &[], period: Duration::from_secs(10), work: Work::Control(write_usage) },
    // The period is for the case that an index fell behind without a commit, as after a restart.
    Worker { name: indexing::WORKER, wakes: &[tables::FEED], period: Duration::from_secs(5), work: Work::EachWorld(index) },
    // The period is for what a step that failed has left.
    Worker {
        name: "jobs on contacts",
        wakes: &[tables::CONTACT_JOBS],
        period: Duration::from_secs(5),
        work: Work::EachWorld(jobs),
    },
    // The period is for what a step that failed has left.
    Worker {
        name: "emails",
        // Projects: a generation waits for the import of its brand.
        wakes: &[tables::CONVERSATION_QUEUE, tables::EMAIL_EDIT_QUEUE, tables::PROJECTS],
        period: Duration::from_secs(5),
        work: Work::EachWorld(emails),
    },
    // The period is for what a restart or a failed step has left.
    Worker {
        name: "imports of projects",
        wakes: &[tables::PROJECT_IMPORT_QUEUE],
        period: Duration::from_secs(5),
        work: Work::EachWorld(imports),
    },
    // The period is for images that are tried again later.
    Worker {
        name: "images of projects",
        wakes: &[tables::PROJECT_IMAGE_QUEUE],
        period: Duration::from_secs(10),
        work: Work::EachWorld(images),
    },
    // The period is for those whose time comes.
    Worker {
        name: "campaigns",
        wakes: &[tables::CAMPAIGN_QUEUE, tables::MAILINGS],
        period: Duration::from_secs(1),
        work: Work::EachWorld(campaigns),
    },
    // The period is for domains whose next look has come.
    Worker { name: "sending domains", wakes: &[], period: Duration::from_secs(15), work: Work::EachWorld(sending_domains) },
    // The period is for what a step that failed has left.
    Worker {
        name: "planning of mailings",
        wakes: &[tables::MAILING_QUEUE],
        period: Duration::from_secs(5),
        work: Work::EachWorld(plans),
    },
    // A tenth of a second of visits is lost by a crash at most.
    Worker { name: "opens and clicks", wakes: &[], period: Duration::from_millis(100), work: Work::EachWorld(visits) },
    // The period is for simulated recipients, who take their time.
    Worker {
        name: "bounces and complaints",
        wakes: &[tables::SIMULATIONS],
        period: Duration::from_secs(1),
        work: Work::EachWorld(happenings),
    },
    // The period is for what a restart or a failed step has left.
    Worker {
        name: "conversions",
        wakes: &[tables::CLICKERS],
        period: Duration::from_secs(5),
        work: Work::EachWorld(conversions),
    },
    // By its period alone: what waits meanwhile is brought in together, which is what it waits for.
    Worker { name: "indexes of events", wakes: &[], period: Duration::from_millis(500), work: Work::EachWorld(event_indexes) },
    // The period is for what a restart or a failed step has left.
    Worker {
        name: "erasure of contacts",
        wakes: &[tables::ERASURES],
        period: Duration::from_secs(5),
        work: Work::EachWorld(erasures),
    },
    // What an import or a campaign leaves free is not held for long.
    Worker { name: "memory", wakes: &[], period: Duration::from_secs(5), work: Work::Control(give_memory_back) },
    // The period is for what a step that failed has left.
    Worker {
        name: "events for webhooks",
        wakes: &[tables::OUTBOX_QUEUE],
        period: Duration::from_secs(5),
        work: Work::EachWorld(webhook_events),
    },
    // The period is for redeliveries that wait until there is room again.
    Worker {
        name: "redeliveries of webhooks",
        wakes: &[tables::WEBHOOK_REDELIVERIES, tables::WEBHOOK_REMOVALS],
        period: Duration::from_secs(5),
        work: Work::EachWorld(webhook_redeliveries),
    },
    // The stores look themselves before they write. This is for the end of a shortage in which nothing is written.
    Worker { name: "disk space", wakes: &[], period: Duration::from_secs(1), work: Work::Control(watch_space) },
    // What is over is not used any more; when it goes matters only for space.
    Worker { name: "sweep", wakes: &[], period: Duration::from_secs(60), work: Work::EachWorld(sweep_world) },
    Worker { name: "sweep control", wakes: &[], period: Duration::from_secs(60), work: Work::Control(sweep_control) },
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

fn index(engine: Arc<Engine>, environment: Environment) -> Running {
    let world = engine.world(environment).clone();
    Box::pin(async move {
        if world.store.space().is_low() {
            // Its files are on the same disk, and merging them takes many times what has changed.
            return Err(store::Error::NoSpace.into());
        }
        let step = tokio::task::spawn_blocking(move || indexing::step(&world)).await;
        step.map_err(Failure::internal)?.map(Step::more_if).map_err(Failure::internal)
    })
}

fn jobs(engine: Arc<Engine>, environment: Environment) -> Running {
    let world = engine.world(environment).clone();
    Box::pin(async move {
        let step = tokio::task::spawn_blocking(move || jobs::step(&world)).await;
        Ok(Step::more_if(step.map_err(Failure::internal)??))
    })
}

fn emails(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { generation::step(engine, environment).await.map(Step::more_if) })
}

fn imports(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { projects::importing::step(&engine, environment).await.map(Step::more_if) })
}

fn images(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { projects::look(&engine, environment).await.map(Step::more_if) })
}

fn campaigns(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { campaigns::step(engine, environment).await.map(|()| Step::Done) })
}

fn sending_domains(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { domains::look(&engine, environment).await.map(Step::more_if) })
}

fn plans(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { sending::plan(&engine, environment).await.map(Step::more_if) })
}

fn visits(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { tracking::write_visits(&engine, environment).await.map(Step::more_if) })
}

fn happenings(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { tracking::take_happenings(&engine, environment).await.map(Step::more_if) })
}

fn conversions(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { events::step(&engine, environment).await.map(Step::more_if) })
}

fn event_indexes(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { events::index(&engine, environment).await.map(Step::more_if) })
}

fn erasures(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { tracking::erase(&engine, environment).await.map(Step::more_if) })
}

fn webhook_events(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move { webhooks::tell(&engine, environment).await.map(Step::more_if) })
}

fn webhook_redeliveries(engine: Arc<Engine>, environment: Environment) -> Running {
    Box::pin(async move {
        let more = webhooks::redeliver(&engine, environment).await? | webhooks::clear(&engine, environment).await?;
        Ok(Step::more_if(more))
    })
}

fn sweep_world(engine: Arc<Engine>, environment: Environment) -> Running {
    let store = engine.world(environment).store.clone();
    let kept = sending::Kept::of(&engine.settings.mail);
    let upkeep = webhooks::Upkeep::new(&engine.settings);
    sweep(store, move |tx| {
        // Each of them, whatever the others say.
        let more = [
            replays::sweep(tx, SWEEP_ROWS)?,
            audit::sweep(tx, SWEEP_ROWS)?,
            outbox::sweep(tx, SWEEP_ROWS)?,
            events::sweep(tx)?,
            blobs::sweep(tx)?,
            jobs::forget(tx)?,
            sending::sweep(tx, kept)?,
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
    use crate::engine::api::guesses;
    use crate::engine::store::space::Space;
    use crate::testing::Mill;
    use crate::vocab::tables;

    /// Guesses are counted on a full disk too. Were their rows not swept there, strangers could use up the reserve.
    #[test]
    fn rows_of_guesses_are_written_and_swept_on_a_full_disk() {
        static RULE: Rule = Rule { name: "test", free: 3, window_ms: 60_000, wait_max_ms: 0 };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mill = Mill::new().restarted_on(&Space::open(folder.path(), u64::MAX / 4, 0));
        let engine = mill.engine().clone();
        let rows = || engine.control.read().rows(tables::THROTTLES).expect("readable");
        let ordinary = mill.wait(engine.control.write(|_| Ok::<_, ()>(())));
        assert_eq!(ordinary, Err(store::Error::NoSpace), "the disk counts as full");
        for name in ["ada", "bob"] {
            mill.wait(guesses::count(&engine, &[(&RULE, name.to_owned())])).expect("counted");
            mill.clock.advance_ms(40_000);
        }
        assert_eq!(rows(), 2);
        mill.wait(sweep_control(engine.clone())).expect("swept");
        assert_eq!(rows(), 1, "the first was last seen more than a minute ago");
        mill.clock.advance_ms(60_000);
        mill.wait(sweep_control(engine.clone())).expect("swept");
        assert_eq!(rows(), 0);
    }
}
