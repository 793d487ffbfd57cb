//! Copies a brand from one store to another: from test to live, or from a restored backup to the environment that lost the brand.
//!
//! `brand`, `audience` and `conversation` each write one part of the copy in one transaction. In the same transaction, the callback `note`
//! can store the progress of the copy. The brand's files are written first. Repeating a copy does not create duplicates.

use std::collections::HashMap;
use std::sync::Arc;

use super::report::{CopyCounts, CopyKind, CopyOutcome, Counter};
use super::store;
use crate::base::secret::sha256;
use crate::base::text::fold;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Result as StoreResult, Store, Value, WriteTx, blobs};
use crate::features::emails::copy::{self as emails, ConversationCopy};
use crate::features::projects::copy::{BrandCopy, BrandPart, file_id};
use crate::features::saved_blocks::{self, SavedBlock};
use crate::features::segments::copy::SegmentCopy;
use crate::features::{campaigns, projects, tags, topics};
use crate::vocab::ids::{AccountId, BlobId, CampaignId, ConversationId, CopyIds, ProjectId, TagId, TopicId};
use crate::vocab::limits;

/// The brand to copy, the stores to copy from and to, and the rules of the copy.
pub struct BrandCopier {
    pub engine: Arc<Engine>,
    pub account: AccountId,
    pub from: Arc<Store>,
    pub project: ProjectId,
    pub into: Arc<Store>,
    pub ids: CopyIds,
    pub rule: CopyRule,
}

/// What happens if the target already has an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyRule {
    /// The object is copied if the original has changed since the last copy.
    Changed,
    /// The target's object stays unchanged.
    Missing,
    /// The original replaces the target's object.
    Replace,
}

/// The result of copying one part of the brand in one transaction.
#[derive(Clone, Debug, Default)]
pub struct CopiedPart {
    pub counts: Vec<CopyCounts>,
    /// Why objects were not copied, worded for users.
    pub skipped: Vec<String>,
    /// The folded names of the tags that the target did not have.
    pub new_tags: Vec<String>,
    /// Whether the part is a conversation that was not copied because it is unfinished or none of its emails is ready.
    pub is_unfinished: bool,
}

impl BrandCopier {
    /// Runs `change`, then `note`, in one transaction.
    async fn write(
        &self,
        change: impl FnOnce(&mut WriteTx<'_>) -> Result<CopiedPart, Failure> + Send + 'static,
        note: impl FnOnce(&mut WriteTx<'_>, &CopiedPart) -> StoreResult<()> + Send + 'static,
    ) -> Result<CopiedPart, Failure> {
        let write = move |tx: &mut WriteTx<'_>| {
            let piece = change(tx)?;
            note(tx, &piece)?;
            Ok::<_, Failure>(piece)
        };
        self.into.write(write).await?
    }

    /// Copies the brand, its knowledge base, images, products and saved blocks. If `name` is given, the copy gets this name.
    pub async fn brand(
        &self,
        target: ProjectId,
        name: Option<String>,
        note: impl FnOnce(&mut WriteTx<'_>, &CopiedPart) -> StoreResult<()> + Send + 'static,
    ) -> Result<CopiedPart, Failure> {
        let (account, project, ids, how) = (self.account, self.project, self.ids, self.how(target));
        let tx = self.from.read();
        let found = projects::find(&tx, account, project)?.ok_or_else(projects::not_found)?;
        let (brand, parts) = (BrandCopy::read(&tx, found)?, BrandPart::all(&tx, project)?);
        let blocks = saved_blocks::all(&tx, project)?;
        drop(tx);
        for file in parts.iter().filter_map(|part| part.file(&self.engine)).chain(brand.files(&self.engine)) {
            self.file(file).await?;
        }
        let brand = brand.with_files(&self.engine, ids);
        let brand = match name {
            Some(name) => brand.named(name),
            None => brand,
        };
        let parts: Vec<BrandPart> = parts.into_iter().map(|part| part.with_file(&self.engine, ids)).collect();
        let copy = move |tx: &mut WriteTx<'_>| -> Result<CopiedPart, Failure> {
            let mut copying = Copying::new(tx, how);
            let known = projects::find(copying.tx, account, target)?;
            let mut content = Vec::new();
            brand.encode(&mut content);
            copying.copy((CopyKind::Brand, project.0), known.map(|_| false), &content, |tx| {
                brand.write(tx, account, target);
                Ok(())
            })?;
            let mut room = Room::of(&BrandPart::all(copying.tx, target)?);
            for part in parts {
                let (kind, id, content) = described(&part);
                let known = part.copy_in(copying.tx, target, ids)?.map(|known| described(&known).2 == content);
                if known.is_none() && !room.take(kind) {
                    copying.skip(format!(
                        "{} was not copied: the target brand already has the maximum number of items of this kind.",
                        part.label()
                    ));
                    continue;
                }
                copying.copy((kind, id), known, &content, |tx| part.write(tx, target, ids))?;
            }
            for block in blocks {
                copying.block(&block)?;
            }
            Ok(copying.done())
        };
        self.write(copy, note).await
    }

    /// Copies an uploaded file unless the target has a permanent copy. A copy that would expire is replaced.
    async fn file(&self, file: BlobId) -> Result<(), Failure> {
        let copy = file_id(file, self.ids);
        let known = blobs::head(&self.into.read(), copy)?;
        if known.is_some_and(|known| known.expires_at.is_none()) {
            return Ok(());
        }
        let tx = self.from.read();
        let (head, bytes) = (blobs::head(&tx, file)?, blobs::bytes(&tx, file)?);
        drop(tx);
        if let (Some(head), Some(bytes)) = (head, bytes) {
            let put = move |tx: &mut WriteTx<'_>| {
                blobs::put_as(tx, copy, head, &bytes);
                Ok::<_, Failure>(())
            };
            self.into.write(put).await??;
        }
        Ok(())
    }

    /// Copies tags, topics and segments. If the target has a tag or topic with the same name, no duplicate is created.
    pub async fn audience(
        &self,
        target: ProjectId,
        note: impl FnOnce(&mut WriteTx<'_>, &CopiedPart) -> StoreResult<()> + Send + 'static,
    ) -> Result<CopiedPart, Failure> {
        let (account, how) = (self.account, self.how(target));
        let tx = self.from.read();
        let (all_tags, all_topics) = (tags::all(&tx, self.project)?, topics::all(&tx, self.project)?);
        let segments = SegmentCopy::all(&tx, self.project)?;
        drop(tx);
        let copy = move |tx: &mut WriteTx<'_>| -> Result<CopiedPart, Failure> {
            let mut copying = Copying::new(tx, how);
            let mut ids: HashMap<String, String> = HashMap::new();
            for tag in all_tags {
                match copying.tag(&tag)? {
                    Some(copy) => drop(ids.insert(tag.id.to_string(), copy.to_string())),
                    None => copying.skip(format!(
                        "The tag {} was not copied: the target brand already has the maximum number of tags.",
                        tag.name
                    )),
                }
            }
            for topic in all_topics {
                match copying.topic(&topic)? {
                    Some(copy) => drop(ids.insert(topic.id.to_string(), copy.to_string())),
                    None => copying.skip(format!(
                        "The topic {} was not copied: the target brand already has the maximum number of topics.",
                        topic.name
                    )),
                }
            }
            for segment in segments {
                copying.segment(segment, account, &ids)?;
            }
            Ok(copying.done())
        };
        self.write(copy, note).await
    }

    /// Returns the IDs of the conversations in which the brand's emails were created.
    pub fn conversations(&self) -> StoreResult<Vec<ConversationId>> {
        emails::conversations(&self.from.read(), self.account, self.project)
    }

    /// Copies the finished emails of a conversation.
    pub async fn conversation(
        &self,
        target: ProjectId,
        id: ConversationId,
        note: impl FnOnce(&mut WriteTx<'_>, &CopiedPart) -> StoreResult<()> + Send + 'static,
    ) -> Result<CopiedPart, Failure> {
        let (account, ids, how, store) = (self.account, self.ids, self.how(target), self.from.clone());
        let reading = tokio::task::spawn_blocking(move || ConversationCopy::read(&store.read(), account, id));
        let Some(copy) = reading.await.map_err(Failure::internal)?? else {
            return self.write(|_| Ok(CopiedPart { is_unfinished: true, ..CopiedPart::default() }), note).await;
        };
        let copy = move |tx: &mut WriteTx<'_>| -> Result<CopiedPart, Failure> {
            let (content, count, exists) = (copy.content(), copy.count() as u64, copy.is_in(tx, account, ids)?);
            let mut copying = Copying::new(tx, how);
            let mut changed = 0;
            copying.copy((CopyKind::Emails, id.0), exists.then_some(false), &content, |tx| {
                changed = copy.write(tx, account, target, ids)?;
                Ok(())
            })?;
            let mut piece = copying.done();
            for counts in &mut piece.counts {
                // The report counts emails instead of conversations.
                *counts = match (counts.created, counts.updated, how.rule) {
                    (1, ..) => CopyCounts { created: count, ..counts.clone() },
                    (0, 1, CopyRule::Replace) => CopyCounts { updated: changed, unchanged: count - changed, ..counts.clone() },
                    (0, 1, _) => CopyCounts { updated: count, ..counts.clone() },
                    _ => CopyCounts { unchanged: count, ..counts.clone() },
                };
            }
            Ok(piece)
        };
        self.write(copy, note).await
    }

    /// Returns a map from the ID of each of the brand's topics to the ID of the topic's copy. Topics without a copy are left out.
    pub fn topics(&self, target: ProjectId) -> Result<HashMap<TopicId, TopicId>, Failure> {
        let originals = topics::all(&self.from.read(), self.project)?;
        let copies = topics::all(&self.into.read(), target)?;
        Ok(originals.iter().filter_map(|topic| Some((topic.id, twin(&copies, topic, self.ids)?.id))).collect())
    }

    fn how(&self, target: ProjectId) -> How {
        How { target, ids: self.ids, rule: self.rule }
    }
}

/// Returns the copy of a topic among the target's topics: the topic with the ID that the copy would get or, if there is none, the topic
/// with the same name.
pub fn twin<'t>(copies: &'t [topics::Topic], topic: &topics::Topic, ids: CopyIds) -> Option<&'t topics::Topic> {
    let same_name = |other: &&topics::Topic| fold(&other.name) == fold(&topic.name);
    copies.iter().find(|other| other.id == ids.of(topic.id)).or_else(|| copies.iter().find(same_name))
}

/// Returns the copy of a saved block among the target's saved blocks: the block with the ID that the copy would get or, if there is none,
/// the block with the same name.
pub fn block_twin<'b>(copies: &'b [SavedBlock], block: &SavedBlock, ids: CopyIds) -> Option<&'b SavedBlock> {
    let same_name = |other: &&SavedBlock| fold(&other.name) == fold(&block.name);
    copies.iter().find(|other| other.id == ids.of(block.id)).or_else(|| copies.iter().find(same_name))
}

/// Returns the kind of a part, the bytes of its ID, and its encoded content, which is used to detect changes.
pub fn described(part: &BrandPart) -> (CopyKind, [u8; 12], Vec<u8>) {
    let mut content = Vec::new();
    let (kind, id) = match part {
        BrandPart::Knowledge(entry) => {
            entry.encode(&mut content);
            (CopyKind::Knowledge, entry.id.0)
        }
        BrandPart::Image(image) => {
            image.encode(&mut content);
            (CopyKind::Images, image.id.0)
        }
        BrandPart::Product(product) => {
            product.encode(&mut content);
            (CopyKind::Products, product.id.0)
        }
    };
    (kind, id, content)
}

/// The number of parts of each kind that can still be added to the target brand.
struct Room([(CopyKind, usize); 3]);

impl Room {
    fn of(parts: &[BrandPart]) -> Self {
        let count = |wanted: CopyKind| parts.iter().filter(|part| described(part).0 == wanted).count();
        let room = |kind, limit: usize| (kind, limit.saturating_sub(count(kind)));
        Self([
            room(CopyKind::Knowledge, limits::KNOWLEDGE_ENTRIES_MAX),
            room(CopyKind::Images, limits::PROJECT_IMAGES_MAX),
            room(CopyKind::Products, limits::PRODUCTS_MAX),
        ])
    }

    /// Returns whether there is room for another part of this kind and, if so, counts the part.
    fn take(&mut self, kind: CopyKind) -> bool {
        let Some((_, room)) = self.0.iter_mut().find(|(own, _)| *own == kind) else { return true };
        let has_room = *room > 0;
        *room = room.saturating_sub(1);
        has_room
    }
}

/// The target of copied objects, and the rules for their IDs and for objects that already exist.
#[derive(Clone, Copy)]
struct How {
    target: ProjectId,
    ids: CopyIds,
    rule: CopyRule,
}

/// Copies objects in one transaction and counts them.
struct Copying<'t, 's> {
    tx: &'t mut WriteTx<'s>,
    how: How,
    counter: Counter,
    skipped: Vec<String>,
    new_tags: Vec<String>,
}

impl<'t, 's> Copying<'t, 's> {
    fn new(tx: &'t mut WriteTx<'s>, how: How) -> Self {
        Self { tx, how, counter: Counter::default(), skipped: Vec::new(), new_tags: Vec::new() }
    }

    fn skip(&mut self, reason: String) {
        self.skipped.push(reason);
    }

    fn done(self) -> CopiedPart {
        CopiedPart { counts: self.counter.counts, skipped: self.skipped, new_tags: self.new_tags, is_unfinished: false }
    }

    /// Copies an object if the rule allows it, and counts the outcome. `known` is `None` if the target does not have the object,
    /// `Some(true)` if the target's object is equal to the original, and otherwise `Some(false)`.
    fn copy(
        &mut self,
        (kind, id): (CopyKind, [u8; 12]),
        known: Option<bool>,
        content: &[u8],
        write: impl FnOnce(&mut WriteTx<'_>) -> StoreResult<()>,
    ) -> StoreResult<()> {
        let How { target, rule, .. } = self.how;
        let digest = sha256(content);
        let outcome = match (rule, known) {
            (_, None) => CopyOutcome::Created,
            (CopyRule::Changed, Some(_)) if store::digest(self.tx, target, kind, id)? == Some(digest) => CopyOutcome::Unchanged,
            (CopyRule::Missing, Some(_)) | (CopyRule::Replace, Some(true)) => CopyOutcome::Unchanged,
            (CopyRule::Changed | CopyRule::Replace, Some(_)) => CopyOutcome::Updated,
        };
        if outcome != CopyOutcome::Unchanged {
            write(self.tx)?;
            if rule == CopyRule::Changed {
                store::save_digest(self.tx, target, kind, id, digest);
            }
        }
        self.counter.count(kind, outcome);
        Ok(())
    }

    fn block(&mut self, block: &SavedBlock) -> StoreResult<()> {
        let How { target, ids, .. } = self.how;
        let all = saved_blocks::all(self.tx, target)?;
        let known = block_twin(&all, block, ids);
        if known.is_none() && all.len() >= limits::SAVED_BLOCKS_MAX {
            self.skip(format!(
                "The saved block {} was not copied: the target brand already has the maximum number of saved blocks.",
                block.name
            ));
            return Ok(());
        }
        let id = known.map_or(ids.of(block.id), |known| known.id);
        let is_same = known.map(|known| known.name == block.name && known.block == block.block);
        let mut content = Vec::new();
        block.encode(&mut content);
        self.copy((CopyKind::Blocks, block.id.0), is_same, &content, |tx| {
            saved_blocks::save(tx, target, &SavedBlock { id, updated_at: tx.now(), ..block.clone() });
            Ok(())
        })
    }

    /// Copies a tag. Returns the ID of the copy, or `None` if the project has the maximum number of tags.
    fn tag(&mut self, tag: &tags::Tag) -> StoreResult<Option<TagId>> {
        let How { target, ids, .. } = self.how;
        let known = match tags::number(self.tx, target, &tag.name)? {
            Some(number) => tags::by_number(self.tx, target, number)?,
            None => None,
        };
        let is_same = known.as_ref().map(|known| known.color == tag.color && known.description == tag.description);
        let created = match (known, ids) {
            (Some(known), _) => Some(known),
            (None, CopyIds::Same) => tags::create_again(self.tx, target, tag)?,
            (None, CopyIds::OtherEnvironment | CopyIds::Beside(_)) => tags::create(self.tx, target, &tag.name)?,
        };
        let Some(known) = created else { return Ok(None) };
        if is_same.is_none() {
            self.new_tags.push(fold(&tag.name));
        }
        let mut content = Vec::new();
        tag.encode(&mut content);
        self.copy((CopyKind::Tags, tag.id.0), is_same, &content, |tx| {
            let after = tags::Tag {
                color: tag.color.clone(),
                description: tag.description.clone(),
                updated_at: tx.now(),
                ..known.clone()
            };
            tags::save(tx, target, Some(&known), &after);
            Ok(())
        })?;
        Ok(Some(known.id))
    }

    /// Copies a topic. Returns the ID of the copy, or `None` if the project has the maximum number of topics.
    fn topic(&mut self, topic: &topics::Topic) -> StoreResult<Option<TopicId>> {
        let How { target, ids, .. } = self.how;
        let all = topics::all(self.tx, target)?;
        let known = twin(&all, topic, ids);
        if known.is_none() && all.len() >= limits::TOPICS_PER_PROJECT_MAX {
            return Ok(None);
        }
        let id = known.map_or(ids.of(topic.id), |known| known.id);
        let of = |known: &topics::Topic| topics::Topic { id, updated_at: known.updated_at, ..topic.clone() };
        let is_same = known.map(|known| *known == of(known));
        let mut content = Vec::new();
        topic.encode(&mut content);
        self.copy((CopyKind::Topics, topic.id.0), is_same, &content, |tx| {
            topics::save(tx, target, &topics::Topic { id, updated_at: tx.now(), ..topic.clone() })
        })?;
        Ok(Some(id))
    }

    /// Copies a segment. `copies` maps the IDs of tags and topics to the IDs of their copies.
    fn segment(&mut self, segment: SegmentCopy, account: AccountId, copies: &HashMap<String, String>) -> StoreResult<()> {
        let How { target, ids, rule } = self.how;
        let (name, (own, exists)) = (segment.name().to_owned(), segment.target(self.tx, target, ids)?);
        if !exists && SegmentCopy::is_full(self.tx, target)? {
            self.skip(format!("The segment {name} was not copied: the target brand already has the maximum number of segments."));
            return Ok(());
        }
        let (id, digest) = (segment.id().0, sha256(&segment.content()));
        let is_unchanged = exists
            && match rule {
                CopyRule::Changed => store::digest(self.tx, target, CopyKind::Segments, id)? == Some(digest),
                CopyRule::Missing => true,
                CopyRule::Replace => segment.is_same_in(self.tx, target, ids)?,
            };
        if is_unchanged {
            self.counter.count(CopyKind::Segments, CopyOutcome::Unchanged);
            return Ok(());
        }
        // Campaigns are not copied. A copied segment can refer to campaigns only if IDs are kept and the campaigns still exist.
        let mut campaigns: HashMap<String, String> = HashMap::new();
        for id in segment.campaigns().into_iter().filter(|_| ids == CopyIds::Same) {
            if CampaignId::parse(&id).map(|id| campaigns::exists(self.tx, account, id)).transpose()? == Some(true) {
                campaigns.insert(id.clone(), id);
            }
        }
        let copy = |id: &str| copies.get(id).or_else(|| campaigns.get(id)).cloned();
        if !segment.write(self.tx, target, own, copy)? {
            self.skip(format!(
                "The segment {name} was not copied: it refers to a campaign, tag or topic that the target brand does not have."
            ));
            return Ok(());
        }
        if rule == CopyRule::Changed {
            store::save_digest(self.tx, target, CopyKind::Segments, id, digest);
        }
        self.counter.count(CopyKind::Segments, if exists { CopyOutcome::Updated } else { CopyOutcome::Created });
        Ok(())
    }
}
