//! Copies a brand from the test environment to the live environment.

use std::sync::Arc;

use super::copier::{BrandCopier, CopyRule};
use super::report::{CopyCounts, CopyKind, CopyReport, Counter};
use super::store::{self, ProjectCopy};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::WriteTx;
use crate::features::contacts::Source;
use crate::features::contacts::copy::ContactsCopy;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, CopyIds, ProjectId};
use crate::vocab::limits::{GO_LIVE_CONTACTS_MAX, GO_LIVE_CONTACTS_PER_WRITE};

/// A copy of one brand from the test environment to the live environment.
pub struct Crossing {
    copier: BrandCopier,
    /// The source to record for the contacts' status changes.
    source: Source,
}

/// A request to copy contacts, with the position at which to continue.
#[derive(Clone, Copy, Debug)]
pub struct ContactsWish {
    /// The number of the last contact that was copied by an earlier request.
    pub after: Option<u32>,
}

impl Crossing {
    /// Prepares a copy of a project from the test environment.
    pub fn new(engine: &Arc<Engine>, account: AccountId, project: ProjectId, source: Source) -> Self {
        let store = |environment| engine.data(environment).store.clone();
        let (from, into) = (store(Environment::Test), store(Environment::Live));
        let (ids, rule) = (CopyIds::OtherEnvironment, CopyRule::Changed);
        Self { copier: BrandCopier { engine: engine.clone(), account, from, project, into, ids, rule }, source }
    }

    /// Copies the brand, its tags, topics, segments and finished emails, and, on request, its contacts. A request that continues an earlier
    /// one copies only contacts and adds them to the counts of the earlier request.
    pub async fn run(self, into: Option<ProjectId>, contacts: Option<ContactsWish>) -> Result<CopyReport, Failure> {
        let (live, copier) = (self.target(into)?, &self.copier);
        let (mut counter, mut skipped) = (Counter::default(), Vec::new());
        let continues = contacts.is_some_and(|wish| wish.after.is_some());
        let earlier = store::project(&copier.into.read(), copier.project)?.filter(|_| continues);
        match earlier {
            Some(earlier) => counter.counts = earlier.counts,
            None => self.content(live, (&mut counter, &mut skipped)).await?,
        }
        let contacts_after = match contacts {
            Some(wish) => self.contacts(live, wish, (&mut counter, &mut skipped)).await?,
            None => None,
        };
        let (project, counts) = (copier.project, counter.counts.clone());
        let save = move |tx: &mut WriteTx<'_>| {
            let at = tx.now();
            store::save_project(tx, project, ProjectCopy { live, at, counts });
            Ok::<_, Failure>(())
        };
        copier.into.write(save).await??;
        Ok(CopyReport { project_id: project, live_project_id: live, copied: counter.counts, skipped, contacts_after })
    }

    /// Copies the brand, its tags, topics, segments and finished emails.
    async fn content(&self, live: ProjectId, (counter, skipped): (&mut Counter, &mut Vec<String>)) -> Result<(), Failure> {
        let copier = &self.copier;
        let mut pieces = vec![copier.brand(live, None, |_, _| Ok(())).await?, copier.audience(live, |_, _| Ok(())).await?];
        for id in copier.conversations()? {
            pieces.push(copier.conversation(live, id, |_, _| Ok(())).await?);
        }
        let unfinished = pieces.iter().filter(|piece| piece.is_unfinished).count();
        for piece in pieces {
            piece.counts.into_iter().for_each(|counts| counter.add(counts));
            skipped.extend(piece.skipped);
        }
        if unfinished > 0 {
            skipped.push(format!("Series not copied because some emails are unfinished or failed: {unfinished}."));
        }
        Ok(())
    }

    /// Returns the ID of the live project: the project of the last copy, otherwise the project that the caller names, otherwise a project
    /// to create. Returns an error instead of the ID of a second brand for the same site, because users rarely want two.
    fn target(&self, into: Option<ProjectId>) -> Result<ProjectId, Failure> {
        let (account, project) = (self.copier.account, self.copier.project);
        let test = projects::find(&self.copier.from.read(), account, project)?;
        let test = test.ok_or_else(projects::not_found)?;
        let tx = self.copier.into.read();
        if let Some(known) = store::project(&tx, project)? {
            return Ok(known.live);
        }
        if let Some(into) = into {
            projects::require(&tx, account, into).map_err(|failure| failure.in_field("liveProjectId"))?;
            return Ok(into);
        }
        let url = test.urls.first().map_or("", String::as_str);
        match projects::with_site(&tx, account, url)? {
            Some(other) if other.id != project.copied() => {
                let detail = format!(
                    "The live environment already has the brand {}, which was imported from the same site. Set liveProjectId to {} to \
                     replace the live brand's values with those of the test brand.",
                    other.name, other.id
                );
                let data = serde_json::json!({ "projectId": other.id, "name": other.name });
                Err(Failure::because(Code::BrandExists, detail).in_field("liveProjectId").with(data))
            }
            _ => Ok(project.copied()),
        }
    }

    /// Copies a limited number of contacts. Returns the number of the last copied contact if more contacts may remain.
    async fn contacts(
        &self,
        live: ProjectId,
        wish: ContactsWish,
        (counter, skipped): (&mut Counter, &mut Vec<String>),
    ) -> Result<Option<u32>, Failure> {
        let (copier, source) = (&self.copier, self.source);
        let (account, project) = (copier.account, copier.project);
        let mut after = wish.after;
        for _ in 0..GO_LIVE_CONTACTS_MAX / GO_LIVE_CONTACTS_PER_WRITE {
            let store = copier.from.clone();
            let reading = tokio::task::spawn_blocking(move || {
                ContactsCopy::read(&store.read(), project, after, GO_LIVE_CONTACTS_PER_WRITE)
            });
            let copy = reading.await.map_err(Failure::internal)??;
            let next = copy.next;
            let topics = copier.topics(live)?;
            let write = move |tx: &mut WriteTx<'_>| copy.write(tx, (account, live), source, |id| topics.get(&id).copied());
            let outcome = copier.into.write(write).await??;
            let counts = outcome.counts;
            counter.add(CopyCounts {
                kind: CopyKind::Contacts,
                created: counts.created,
                updated: counts.updated,
                unchanged: counts.skipped,
            });
            skipped.extend(outcome.failures("copied"));
            let Some(next) = next else { return Ok(None) };
            after = Some(next);
        }
        Ok(after)
    }
}
