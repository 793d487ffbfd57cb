//! Identifiers (IDs): 12 bytes, written as 24 hexadecimal characters. They sort by the second in which they were created.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::clock::Timestamp;
use crate::base::random::Random;
use crate::base::secret::sha256;

/// An identifier of one kind of object. The type parameter `K` only distinguishes kinds of identifiers at compile time.
pub struct Id<K>(pub [u8; 12], PhantomData<fn() -> K>);

pub mod kinds {
    use super::Kind;

    pub enum Account {}
    pub enum User {}
    pub enum Key {}
    pub enum Project {}
    pub enum Contact {}
    pub enum Topic {}
    pub enum Tag {}
    pub enum Segment {}
    pub enum Job {}
    pub enum Blob {}
    pub enum Event {}
    pub enum Campaign {}
    pub enum Conversation {}
    pub enum Email {}
    pub enum Edit {}
    pub enum Knowledge {}
    pub enum Picture {}
    pub enum Product {}
    pub enum SavedBlock {}
    pub enum Mailing {}
    pub enum Message {}
    pub enum Recipient {}
    pub enum Webhook {}
    pub enum Delivery {}
    pub enum Session {}
    pub enum Claim {}
    pub enum Invitation {}
    pub enum Preview {}
    pub enum Drawing {}
    pub enum MailFeedback {}
    pub enum Hook {}
    pub enum ScheduledImport {}
    pub enum Connection {}
    pub enum Store {}

    impl Kind for Account {
        const NAME: &'static str = "account";
    }
    impl Kind for User {
        const NAME: &'static str = "user";
    }
    impl Kind for Key {
        const NAME: &'static str = "key";
    }
    impl Kind for Project {
        const NAME: &'static str = "project";
    }
    impl Kind for Contact {
        const NAME: &'static str = "contact";
    }
    impl Kind for Topic {
        const NAME: &'static str = "topic";
    }
    impl Kind for Tag {
        const NAME: &'static str = "tag";
    }
    impl Kind for Segment {
        const NAME: &'static str = "segment";
    }
    impl Kind for Job {
        const NAME: &'static str = "job";
    }
    impl Kind for Blob {
        const NAME: &'static str = "blob";
    }
    impl Kind for Event {
        const NAME: &'static str = "event";
    }
    impl Kind for Campaign {
        const NAME: &'static str = "campaign";
    }
    impl Kind for Conversation {
        const NAME: &'static str = "conversation";
    }
    impl Kind for Email {
        const NAME: &'static str = "email";
    }
    impl Kind for Edit {
        const NAME: &'static str = "edit";
    }
    impl Kind for Knowledge {
        const NAME: &'static str = "knowledge base entry";
    }
    impl Kind for SavedBlock {
        const NAME: &'static str = "saved block";
    }
    impl Kind for Picture {
        const NAME: &'static str = "image";
    }
    impl Kind for Product {
        const NAME: &'static str = "product";
    }
    impl Kind for Mailing {
        const NAME: &'static str = "send or batch";
    }
    impl Kind for Message {
        const NAME: &'static str = "message";
    }
    /// A segment or a tag; the field next to the ID states which of the two it is.
    impl Kind for Recipient {
        const NAME: &'static str = "segment or tag";
    }
    impl Kind for Webhook {
        const NAME: &'static str = "webhook";
    }
    impl Kind for Delivery {
        const NAME: &'static str = "delivery";
    }
    impl Kind for Session {
        const NAME: &'static str = "session";
    }
    impl Kind for Claim {
        const NAME: &'static str = "agent's request";
    }
    impl Kind for Invitation {
        const NAME: &'static str = "invitation";
    }
    impl Kind for Preview {
        const NAME: &'static str = "preview";
    }
    impl Kind for Drawing {
        const NAME: &'static str = "drawing";
    }
    impl Kind for MailFeedback {
        const NAME: &'static str = "mail service";
    }
    impl Kind for Hook {
        const NAME: &'static str = "incoming webhook";
    }
    impl Kind for ScheduledImport {
        const NAME: &'static str = "scheduled import";
    }

    impl Kind for Connection {
        const NAME: &'static str = "connection";
    }

    impl Kind for Store {
        const NAME: &'static str = "store";
    }
}

/// How copies of a brand's objects get their identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyIds {
    /// Each copy keeps the original's identifier, because the original no longer exists or is replaced.
    Same,
    /// The copies are in the other environment, so their identifiers are derived from the originals' identifiers.
    OtherEnvironment,
    /// The copies belong to a second brand in the same environment. Their identifiers are derived from the originals' identifiers
    /// and the ID of this job, which creates them.
    Beside(JobId),
}

impl CopyIds {
    /// Returns the identifier of an object's copy.
    pub fn of<K>(self, id: Id<K>) -> Id<K> {
        match self {
            Self::Same => id,
            Self::OtherEnvironment => id.copied(),
            Self::Beside(job) => id.derived(&job.0),
        }
    }
}

/// A kind of object that has identifiers.
pub trait Kind {
    /// The name of the kind in error messages.
    const NAME: &'static str;
}

pub type AccountId = Id<kinds::Account>;
pub type UserId = Id<kinds::User>;
pub type KeyId = Id<kinds::Key>;
pub type ProjectId = Id<kinds::Project>;
pub type ContactId = Id<kinds::Contact>;
pub type TopicId = Id<kinds::Topic>;
pub type TagId = Id<kinds::Tag>;
pub type SegmentId = Id<kinds::Segment>;
pub type JobId = Id<kinds::Job>;
pub type BlobId = Id<kinds::Blob>;
pub type EventId = Id<kinds::Event>;
pub type CampaignId = Id<kinds::Campaign>;
pub type ConversationId = Id<kinds::Conversation>;
pub type EmailId = Id<kinds::Email>;
pub type EditId = Id<kinds::Edit>;
pub type KnowledgeId = Id<kinds::Knowledge>;
pub type PictureId = Id<kinds::Picture>;
pub type ProductId = Id<kinds::Product>;
pub type SavedBlockId = Id<kinds::SavedBlock>;
pub type MailingId = Id<kinds::Mailing>;
pub type MessageId = Id<kinds::Message>;
pub type RecipientId = Id<kinds::Recipient>;
pub type WebhookId = Id<kinds::Webhook>;
pub type DeliveryId = Id<kinds::Delivery>;
pub type SessionId = Id<kinds::Session>;
pub type ClaimId = Id<kinds::Claim>;
pub type InvitationId = Id<kinds::Invitation>;
pub type PreviewId = Id<kinds::Preview>;
pub type DrawingId = Id<kinds::Drawing>;
pub type MailFeedbackId = Id<kinds::MailFeedback>;
pub type HookId = Id<kinds::Hook>;
pub type ScheduledImportId = Id<kinds::ScheduledImport>;
pub type ConnectionId = Id<kinds::Connection>;
pub type StoreId = Id<kinds::Store>;

impl<K> Id<K> {
    pub const fn from_bytes(bytes: [u8; 12]) -> Self {
        Self(bytes, PhantomData)
    }

    /// Creates an identifier that consists of four bytes of time and eight random bytes. The time comes first, so that new rows are
    /// appended to the end of their table.
    pub fn make(now: Timestamp, random: &dyn Random) -> Self {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&(now.seconds() as u32).to_be_bytes());
        random.fill(&mut bytes[4..]);
        Self::from_bytes(bytes)
    }

    /// Returns the smallest possible identifier of the second that contains `at`. Identifiers of earlier seconds are smaller.
    pub fn first_of(at: Timestamp) -> Self {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&(at.seconds().clamp(0, i64::from(u32::MAX)) as u32).to_be_bytes());
        Self::from_bytes(bytes)
    }

    /// Creates an identifier that consists of four bytes of time, the row's `number` in a table ordered by number, and four random bytes.
    ///
    /// The row is found by its number, without an index of identifiers, and the random bytes make the identifiers of neighboring rows hard
    /// to guess.
    pub fn numbered(now: Timestamp, number: u32, random: &dyn Random) -> Self {
        Self::numbered_with(now, number, random.bytes())
    }

    /// Creates an identifier like [`Id::numbered`], but from random bytes that the caller has already fetched. A caller that creates a
    /// million IDs fetches the bytes for all of them at once, because one system call per ID would be slow.
    pub fn numbered_with(now: Timestamp, number: u32, random: [u8; 4]) -> Self {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&(now.seconds() as u32).to_be_bytes());
        bytes[4..8].copy_from_slice(&number.to_be_bytes());
        bytes[8..].copy_from_slice(&random);
        Self::from_bytes(bytes)
    }

    /// Returns the number in an identifier created by [`Id::numbered`]. Callers must compare the whole identifier with that of the
    /// row, because the number can be guessed.
    pub fn number(&self) -> u32 {
        u32::from_be_bytes([self.0[4], self.0[5], self.0[6], self.0[7]])
    }

    /// Returns the identifier that this object's copy gets in the other environment. It differs from this identifier.
    pub fn copied(&self) -> Self {
        self.derived(b"copy")
    }

    /// Returns an identifier with the same time, and with eight bytes that depend only on this identifier and `purpose`. Copying an object
    /// again results in the same identifier.
    fn derived(&self, purpose: &[u8]) -> Self {
        let mut bytes = self.0;
        bytes[4..].copy_from_slice(&sha256(&[purpose, &self.0].concat())[..8]);
        Self::from_bytes(bytes)
    }

    /// Parses an identifier written as 24 hexadecimal characters, in either case.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        if text.len() != 24 {
            return None;
        }
        let mut bytes = [0; 12];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Some(Self::from_bytes(bytes))
    }

    /// Returns the identifier as 24 hexadecimal characters, without a heap allocation.
    pub fn hex(&self) -> [u8; 24] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 24];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[(byte >> 4) as usize];
            pair[1] = DIGITS[(byte & 15) as usize];
        }
        hex
    }
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<K> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.hex()).expect("hexadecimal digits are ASCII"))
    }
}
impl<K> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<K> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            let hex = self.hex();
            serializer.serialize_str(std::str::from_utf8(&hex).expect("hexadecimal digits are ASCII"))
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return <[u8; 12]>::deserialize(deserializer).map(Self::from_bytes);
        }
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            let article = if K::NAME.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
            D::Error::custom(format_args!("must be {article} {} ID with 24 hexadecimal characters", K::NAME))
        })
    }
}

impl<K: Kind> schemars::JsonSchema for Id<K> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}Id", K::NAME).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-fA-F]{24}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    #[test]
    fn an_id_parses_its_own_text_in_either_case() {
        let id = ProjectId::make(Timestamp(1_700_000_000_000), &SeededRandom::new(7));
        assert_eq!(ProjectId::parse(&id.to_string()), Some(id));
        assert_eq!(ProjectId::parse(&id.to_string().to_uppercase()), Some(id));
        assert_eq!(ProjectId::parse("65"), None);
        assert_eq!(ProjectId::parse(&"g".repeat(24)), None);
    }

    #[test]
    fn a_numbered_id_carries_its_number_and_sorts_by_time_and_number() {
        let random = SeededRandom::new(7);
        let first = ContactId::numbered(Timestamp(1_700_000_000_000), 41, &random);
        let second = ContactId::numbered(Timestamp(1_700_000_000_000), 42, &random);
        assert_eq!(second.number(), 42);
        assert!(first < second);
    }
}
