//! Copies a brand. This is the only code with access to both environments.

use std::sync::Arc;

use super::report::{CopyCounts, CopyReport, Counter, Kind, Outcome};
use super::store::{self, ProjectCopy};
use crate::base::secret::sha256;
use crate::engine::api::{Engine, EnvironmentData, Failure};
use crate::engine::store::{Result as StoreResult, Value, WriteTx, blobs};
use crate::features::contacts::Source;
use crate::features::contacts::copy::ContactsCopy;
use crate::features::emails::copy::{self as emails, ConversationCopy};
use crate::features::projects::copy::{BrandCopy, BrandPart};
use crate::features::segments::copy::SegmentCopy;
use crate::features::{projects, tags, topics};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, BlobId, ProjectId, TagId, TopicId};
use crate::vocab::limits::{GO_LIVE_CONTACTS_MAX, GO_LIVE_CONTACTS_PER_WRITE};

/// Both environments, for one copy of one brand.
pub struct Crossing {
    pub engine: Arc<Engine>,
    pub account: AccountId,
    /// The project in the test environment.
    pub project: ProjectId,
    /// The cause of status changes of contacts.
    pub source: Source,
}

/// The contacts to copy.
#[derive(Clone, Copy, Debug)]
pub struct ContactsWish {
    /// The number of the last contact that was copied by an earlier request.
    pub after: Option<u32>,
}

impl Crossing {
    fn test(&self) -> &Arc<EnvironmentData> {
        self.engine.data(Environment::Test)
    }

    fn live(&self) -> &Arc<EnvironmentData> {
        self.engine.data(Environment::Live)
    }

    /// Writes to the live store.
    async fn write<T, F>(&self, change: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&mut WriteTx<'_>) -> Result<T, Failure> + Send + 'static,
    {
        self.live().store.write(change).await?
    }

    /// Copies the brand, its tags, topics, segments and finished emails, and on request its contacts.
    pub async fn run(self: Arc<Self>, into: Option<ProjectId>, contacts: Option<ContactsWish>) -> Result<CopyReport, Failure> {
        let live = self.target(into)?;
        let mut counter = Counter::default();
        let mut skipped = Vec::new();
        self.brand(live, &mut counter).await?;
        self.audience(live, &mut counter, &mut skipped).await?;
        self.emails(live, &mut counter, &mut skipped).await?;
        let contacts_after = match contacts {
            Some(wish) => self.contacts(live, wish, &mut counter).await?,
            None => None,
        };
        let (project, counts) = (self.project, counter.counts.clone());
        self.write(move |tx| {
            let at = tx.now();
            store::save_project(tx, project, ProjectCopy { live, at, counts });
            Ok(())
        })
        .await?;
        Ok(CopyReport { project_id: self.project, live_project_id: live, copied: counter.counts, skipped, contacts_after })
    }

    /// Returns the live project: that of the last copy, the one that the caller names, or a new one. Fails if the live environment has
    /// another brand of the same site, because users rarely want two brands of one site.
    fn target(&self, into: Option<ProjectId>) -> Result<ProjectId, Failure> {
        let test = projects::find(&self.test().store.read(), self.account, self.project)?;
        let test = test.ok_or_else(projects::not_found)?;
        let tx = self.live().store.read();
        if let Some(known) = store::project(&tx, self.project)? {
            return Ok(known.live);
        }
        if let Some(into) = into {
            projects::require(&tx, self.account, into).map_err(|failure| failure.in_field("liveProjectId"))?;
            return Ok(into);
        }
        let url = test.urls.first().map_or("", String::as_str);
        match projects::with_site(&tx, self.account, url)? {
            Some(other) if other.id != self.project.copied() => {
                let detail = format!(
                    "The live environment already has the brand {}, which was imported from the same site. Set liveProjectId to {} to \
                     replace its values with those of the test brand.",
                    other.name, other.id
                );
                let data = serde_json::json!({ "projectId": other.id, "name": other.name });
                Err(Failure::because(Code::BrandExists, detail).in_field("liveProjectId").with(data))
            }
            _ => Ok(self.project.copied()),
        }
    }

    async fn brand(&self, live: ProjectId, counter: &mut Counter) -> Result<(), Failure> {
        let (account, project) = (self.account, self.project);
        let tx = self.test().store.read();
        let found = projects::find(&tx, account, project)?.ok_or_else(projects::not_found)?;
        let (brand, parts) = (BrandCopy::read(&tx, found)?, BrandPart::all(&tx, project)?);
        drop(tx);
        for file in parts.iter().filter_map(|part| part.file(&self.engine)) {
            self.file(file).await?;
        }
        let counts = self
            .write(move |tx| {
                let mut copier = Copier { tx, live, counter: Counter::default() };
                let exists = projects::find(copier.tx, account, live)?.is_some();
                let mut content = Vec::new();
                brand.encode(&mut content);
                copier.copy((Kind::Brand, project.0, exists), &content, |tx| {
                    brand.write(tx, account, live);
                    Ok(())
                })?;
                for part in parts {
                    let (kind, id, content) = described(&part);
                    let exists = part.is_in(copier.tx, live)?;
                    copier.copy((kind, id, exists), &content, |tx| {
                        part.write(tx, live);
                        Ok(())
                    })?;
                }
                Ok(copier.counter.counts)
            })
            .await?;
        counts.into_iter().for_each(|counts| counter.add(counts));
        Ok(())
    }

    /// Copies an uploaded file under the same ID: its URL, which emails contain, stays valid when the original is deleted.
    async fn file(&self, file: BlobId) -> Result<(), Failure> {
        if blobs::head(&self.live().store.read(), file)?.is_some() {
            return Ok(());
        }
        let tx = self.test().store.read();
        let (head, bytes) = (blobs::head(&tx, file)?, blobs::bytes(&tx, file)?);
        drop(tx);
        if let (Some(head), Some(bytes)) = (head, bytes) {
            self.write(move |tx| {
                blobs::put_as(tx, file, head, &bytes);
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// Copies tags, topics and segments. Tags and topics with the same name are treated as the same.
    async fn audience(&self, live: ProjectId, counter: &mut Counter, skipped: &mut Vec<String>) -> Result<(), Failure> {
        let tx = self.test().store.read();
        let (all_tags, all_topics) = (tags::all(&tx, self.project)?, topics::all(&tx, self.project)?);
        let segments = SegmentCopy::all(&tx, self.project)?;
        drop(tx);
        let copy = move |tx: &mut WriteTx<'_>| -> Result<(Vec<CopyCounts>, Vec<String>), Failure> {
            let mut copier = Copier { tx, live, counter: Counter::default() };
            let mut skipped = Vec::new();
            let mut ids: Vec<(String, String)> = Vec::new();
            for tag in all_tags {
                match copier.tag(&tag)? {
                    Some(copy) => ids.push((tag.id.to_string(), copy.to_string())),
                    None => skipped.push(format!("The tag {} was not copied: the live brand has too many tags.", tag.name)),
                }
            }
            for topic in all_topics {
                let copy = copier.topic(&topic)?;
                ids.push((topic.id.to_string(), copy.to_string()));
            }
            for segment in segments {
                let name = segment.name().to_owned();
                if !copier.segment(segment, &ids)? {
                    skipped.push(format!(
                        "The segment {name} was not copied: it refers to a test campaign or a deleted tag or topic."
                    ));
                }
            }
            Ok((copier.counter.counts, skipped))
        };
        let (counts, more) = self.write(copy).await?;
        counts.into_iter().for_each(|counts| counter.add(counts));
        skipped.extend(more);
        Ok(())
    }

    /// Copies the finished emails, one conversation per transaction.
    async fn emails(&self, live: ProjectId, counter: &mut Counter, skipped: &mut Vec<String>) -> Result<(), Failure> {
        let account = self.account;
        let ids = emails::conversations(&self.test().store.read(), account, self.project)?;
        let mut unfinished = 0_usize;
        for id in ids {
            let store = self.test().store.clone();
            let reading = tokio::task::spawn_blocking(move || ConversationCopy::read(&store.read(), account, id));
            let Some(copy) = reading.await.map_err(Failure::internal)?? else {
                unfinished += 1;
                continue;
            };
            let counts = self
                .write(move |tx| {
                    let (content, count, exists) = (copy.content(), copy.count() as u64, copy.is_in(tx, account)?);
                    let mut copier = Copier { tx, live, counter: Counter::default() };
                    copier.copy((Kind::Emails, id.0, exists), &content, |tx| copy.write(tx, account, live))?;
                    // The report counts emails, not conversations.
                    let counts = copier.counter.counts.into_iter().map(|counts| CopyCounts {
                        created: counts.created * count,
                        updated: counts.updated * count,
                        unchanged: counts.unchanged * count,
                        ..counts
                    });
                    Ok(counts.collect::<Vec<_>>())
                })
                .await?;
            counts.into_iter().for_each(|counts| counter.add(counts));
        }
        if unfinished > 0 {
            skipped.push(format!("Series of emails that were not copied because they are unfinished or failed: {unfinished}."));
        }
        Ok(())
    }

    /// Copies a bounded number of contacts; returns where to continue.
    async fn contacts(&self, live: ProjectId, wish: ContactsWish, counter: &mut Counter) -> Result<Option<u32>, Failure> {
        let (account, project, source) = (self.account, self.project, self.source);
        let mut after = wish.after;
        for _ in 0..GO_LIVE_CONTACTS_MAX / GO_LIVE_CONTACTS_PER_WRITE {
            let store = self.test().store.clone();
            let reading = tokio::task::spawn_blocking(move || {
                ContactsCopy::read(&store.read(), project, after, GO_LIVE_CONTACTS_PER_WRITE)
            });
            let copy = reading.await.map_err(Failure::internal)??;
            let next = copy.next;
            let topics = self.topics(live)?;
            let topic = move |id: TopicId| topics.iter().find(|(test, _)| *test == id).map(|(_, live)| *live);
            let counts = self.write(move |tx| Ok(copy.write(tx, (account, live), source, topic)?)).await?;
            let unchanged = counts.skipped + counts.failed;
            counter.add(CopyCounts { kind: Kind::Contacts, created: counts.created, updated: counts.updated, unchanged });
            let Some(next) = next else { return Ok(None) };
            after = Some(next);
        }
        Ok(after)
    }

    /// Returns the topics of the test project with their copies.
    fn topics(&self, live: ProjectId) -> Result<Vec<(TopicId, TopicId)>, Failure> {
        let (test, live) = (topics::all(&self.test().store.read(), self.project)?, topics::all(&self.live().store.read(), live)?);
        let pair = |topic: &topics::Topic| Some((topic.id, twin(&live, topic)?.id));
        Ok(test.iter().filter_map(pair).collect())
    }
}

/// Returns the copy of a topic among the topics of the live project.
fn twin<'t>(live: &'t [topics::Topic], topic: &topics::Topic) -> Option<&'t topics::Topic> {
    let same_name = |other: &&topics::Topic| crate::base::text::fold(&other.name) == crate::base::text::fold(&topic.name);
    live.iter().find(|other| other.id == topic.id.copied()).or_else(|| live.iter().find(same_name))
}

fn described(part: &BrandPart) -> (Kind, [u8; 12], Vec<u8>) {
    let mut content = Vec::new();
    let (kind, id) = match part {
        BrandPart::Knowledge(entry) => {
            entry.encode(&mut content);
            (Kind::Knowledge, entry.id.0)
        }
        BrandPart::Image(image) => {
            image.encode(&mut content);
            (Kind::Images, image.id.0)
        }
        BrandPart::Product(product) => {
            product.encode(&mut content);
            (Kind::Products, product.id.0)
        }
    };
    (kind, id, content)
}

/// Copies objects to the live project in one transaction, and counts them.
struct Copier<'t, 's> {
    tx: &'t mut WriteTx<'s>,
    live: ProjectId,
    counter: Counter,
}

impl Copier<'_, '_> {
    /// Copies an object if the live project does not have it, or if it has changed since the last copy.
    fn copy(
        &mut self,
        (kind, id, exists): (Kind, [u8; 12], bool),
        content: &[u8],
        write: impl FnOnce(&mut WriteTx<'_>) -> StoreResult<()>,
    ) -> StoreResult<()> {
        let digest = sha256(content);
        let outcome = match (exists, store::digest(self.tx, self.live, kind, id)? == Some(digest)) {
            (true, true) => Outcome::Unchanged,
            (true, false) => Outcome::Updated,
            (false, _) => Outcome::Created,
        };
        if outcome != Outcome::Unchanged {
            write(self.tx)?;
            store::save_digest(self.tx, self.live, kind, id, digest);
        }
        self.counter.count(kind, outcome);
        Ok(())
    }

    /// Copies a tag; returns the ID of the copy, or `None` if the project has the maximum number of tags.
    fn tag(&mut self, tag: &tags::Tag) -> StoreResult<Option<TagId>> {
        let live = self.live;
        let known = match tags::number(self.tx, live, &tag.name)? {
            Some(number) => tags::by_number(self.tx, live, number)?,
            None => None,
        };
        let exists = known.is_some();
        let Some(known) = (match known {
            Some(known) => Some(known),
            None => tags::create(self.tx, live, &tag.name)?,
        }) else {
            return Ok(None);
        };
        let mut content = Vec::new();
        tag.encode(&mut content);
        self.copy((Kind::Tags, tag.id.0, exists), &content, |tx| {
            let after = tags::Tag {
                color: tag.color.clone(),
                description: tag.description.clone(),
                updated_at: tx.now(),
                ..known.clone()
            };
            tags::save(tx, live, Some(&known), &after);
            Ok(())
        })?;
        Ok(Some(known.id))
    }

    /// Copies a topic; returns the ID of the copy.
    fn topic(&mut self, topic: &topics::Topic) -> StoreResult<TopicId> {
        let live = self.live;
        let all = topics::all(self.tx, live)?;
        let known = twin(&all, topic);
        let id = known.map_or(topic.id.copied(), |known| known.id);
        let mut content = Vec::new();
        topic.encode(&mut content);
        self.copy((Kind::Topics, topic.id.0, known.is_some()), &content, |tx| {
            topics::save(tx, live, &topics::Topic { id, updated_at: tx.now(), ..topic.clone() })
        })?;
        Ok(id)
    }

    /// Copies a segment; returns whether it could be copied.
    fn segment(&mut self, segment: SegmentCopy, ids: &[(String, String)]) -> StoreResult<bool> {
        let live = self.live;
        let (target, exists) = segment.target(self.tx, live)?;
        let (id, content) = (segment.id().0, segment.content());
        let known = store::digest(self.tx, live, Kind::Segments, id)? == Some(sha256(&content));
        if exists && known {
            self.counter.count(Kind::Segments, Outcome::Unchanged);
            return Ok(true);
        }
        let copy = |id: &str| ids.iter().find(|(test, _)| test == id).map(|(_, live)| live.clone());
        if !segment.write(self.tx, live, target, copy)? {
            return Ok(false);
        }
        store::save_digest(self.tx, live, Kind::Segments, id, sha256(&content));
        self.counter.count(Kind::Segments, if exists { Outcome::Updated } else { Outcome::Created });
        Ok(true)
    }
}
