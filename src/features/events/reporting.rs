//! Events that another feature reports, such as a connected store's orders. They follow the same rules as events from clients.

use super::ingest::{IngestError, IngestOutcome, ingest};
use super::input::EventRow;
use crate::engine::api::Failure;
use crate::engine::store::WriteTx;
use crate::vocab::ids::ProjectId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    Stored,
    /// An event with the same key was stored before.
    Duplicate,
    NoContact,
    Refused {
        field: String,
        reason: String,
    },
}

/// Stores an event. `event` is JSON in the format of the body of `POST /v1/events`, without `projectId`.
pub fn report(tx: &mut WriteTx<'_>, project: ProjectId, event: &str) -> Result<Reported, Failure> {
    let mut only = Reported::Duplicate;
    report_all(tx, project, &[event], |reported| only = reported)?;
    Ok(only)
}

/// Stores events in order and passes the result of each event to `each`.
pub fn report_all(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    events: &[impl AsRef<str>],
    mut each: impl FnMut(Reported),
) -> Result<(), Failure> {
    ingest(tx, project, events.iter().map(|event| EventRow::read(event.as_ref())).collect(), |outcome| {
        each(match outcome {
            Ok((IngestOutcome::Stored(_), _)) => Reported::Stored,
            Ok((IngestOutcome::Duplicate(_), _)) => Reported::Duplicate,
            Err(IngestError::NoContact(_)) => Reported::NoContact,
            Err(IngestError::Field(refusal)) => Reported::Refused { field: refusal.field.into_owned(), reason: refusal.reason },
            Err(IngestError::Store(error)) => return Err(error.into()),
        });
        Ok(())
    })
}
