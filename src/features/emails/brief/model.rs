//! The typed brief: the parts of an email that a prompt asks for.
//!
//! Rules or a language model read the brief from a prompt, users can correct it, and the composer or a language model writes the email from
//! it. Parts keep their spans in the prompt, so that warnings can report prompt text that the email does not contain.

use jiff::civil::{Date, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::locale::LanguageTag;

/// The content and the form of the email that a prompt asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Brief")]
pub struct Brief {
    pub purpose: Goal,
    /// The recipients, as the prompt describes them: "customers who have not ordered for a year".
    #[serde(default)]
    pub audience: Option<Part>,
    /// The language of the email, as a BCP 47 tag.
    pub language: LanguageTag,
    /// The subject that the prompt prescribes.
    #[serde(default)]
    pub subject: Option<Part>,
    /// The preheader that the prompt prescribes.
    #[serde(default)]
    pub preheader: Option<Part>,
    /// The headline that the prompt prescribes.
    #[serde(default)]
    pub headline: Option<Part>,
    /// The facts that the email must contain, in the order of the prompt.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// The stories of a newsletter, in the order of the prompt. The facts of a story refer to the story by its position.
    #[serde(default)]
    pub stories: Vec<Story>,
    /// The brand's offer. Its numbers and dates are facts with an offer role, and its code is a fact of the kind `code`.
    #[serde(default)]
    pub offer: Option<Offer>,
    /// The event. Its dates and times are facts with the role `event`, and its place is a fact of the kind `place`.
    #[serde(default)]
    pub event: Option<Event>,
    /// The main button.
    #[serde(default)]
    pub cta: Option<CallToAction>,
    #[serde(default)]
    pub signature: Option<Signature>,
    /// Notes on the tone, in the prompt's words.
    #[serde(default)]
    pub tone: Vec<Part>,
    #[serde(default)]
    pub constraints: Vec<Constraint>,
    /// Instructions to the writer, labels and other text that the email must not contain.
    #[serde(default)]
    pub instructions: Vec<Part>,
    /// Text that could be a fact or an instruction. A warning reports it, and the email does not contain it.
    #[serde(default)]
    pub unclear: Vec<Part>,
}

impl Brief {
    /// Returns a brief without content.
    pub fn empty(purpose: Goal, language: LanguageTag) -> Self {
        Self {
            purpose,
            audience: None,
            language,
            subject: None,
            preheader: None,
            headline: None,
            facts: Vec::new(),
            stories: Vec::new(),
            offer: None,
            event: None,
            cta: None,
            signature: None,
            tone: Vec::new(),
            constraints: Vec::new(),
            instructions: Vec::new(),
            unclear: Vec::new(),
        }
    }
}

/// A range of characters of the prompt, in Unicode code points from 0. `end` is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BriefSpan")]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// Text in the brief, with its span in the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BriefText")]
pub struct Part {
    pub text: String,
    /// The span of the part in the prompt; absent if a user added the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// The purpose of an email.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "EmailPurpose")]
pub enum Goal {
    Welcome,
    Sale,
    Launch,
    Digest,
    Event,
    Webinar,
    Apology,
    Outage,
    ServiceNotice,
    Recall,
    PriceChange,
    Cart,
    WinBack,
    TrialEnding,
    OrderDeadline,
    Closing,
    OpeningHours,
    Voucher,
    Survey,
    Review,
    Referral,
    Receipt,
    Hiring,
    Seasonal,
    ThankYou,
    Legal,
    Waitlist,
    Reminder,
    /// News that fits no other purpose.
    Announcement,
    /// The prompt does not state what the email is for.
    Unclear,
}

/// A fact that the email must contain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BriefFact")]
pub struct Fact {
    pub kind: FactKind,
    /// The meaning of the number or date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<FactRole>,
    /// The fact as the email can print it. The text of a `sentence` is a complete sentence addressed to the recipient.
    pub text: String,
    /// The value of a number, date or time, which each language writes in its own format. In a request, the value must not contradict the
    /// text. If absent, the value is read from the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<FactValue>,
    /// The position of the story that the fact belongs to, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub story: Option<u8>,
    /// The span of the fact in the prompt; absent if a user added the fact. The span of a sentence can contain the spans of other
    /// facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    Percentage,
    /// Money that is given away, collected or deducted.
    Amount,
    Code,
    Date,
    /// A range of dates or a length of time.
    Period,
    Time,
    Place,
    Capacity,
    /// The current price, not a price before a discount.
    Price,
    OldPrice,
    /// A minimum, such as an order value or a number of guests.
    Minimum,
    /// A product of the brand.
    Product,
    Person,
    /// A phone number or an email address.
    Contact,
    Link,
    Condition,
    /// Any other statement, as a sentence.
    Sentence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactRole {
    /// The number is part of the brand's own offer.
    Offer,
    OfferStarts,
    OfferEnds,
    OrderBy,
    Event,
    Closed,
    Reopens,
    PriceChanges,
    Delivery,
    /// The date of a past event.
    Happened,
    Other,
}

/// The value of a fact, independent of the language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields, tag = "type")]
pub enum FactValue {
    Percent { percent: f64 },
    Money { amount: f64, currency: String },
    Days { first: Date, last: Option<Date> },
    Clock { start: Time, end: Option<Time> },
    Count { count: u64 },
}

/// A story of a newsletter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BriefStory")]
pub struct Story {
    /// The heading, if the prompt contains one.
    #[serde(default)]
    pub heading: Option<Part>,
    /// The text of the story.
    pub text: Part,
    #[serde(default)]
    pub link: Option<String>,
}

/// The brand's own offer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BriefOffer")]
pub struct Offer {
    /// What the offer applies to: "all teas". Absent if it applies to everything, or if the prompt does not specify it.
    #[serde(default)]
    pub scope: Option<Part>,
    /// Whether delivery is free.
    #[serde(default)]
    pub free_delivery: bool,
    /// What the recipient gets in addition to or instead of a discount: "a free tiramisù".
    #[serde(default)]
    pub gift: Option<Part>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BriefEvent")]
pub struct Event {
    /// The name of the event: "Truffle evening".
    pub name: Part,
}

/// The main button.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallToAction {
    /// The label that the prompt prescribes.
    #[serde(default)]
    pub label: Option<Part>,
    /// The address that the button opens.
    #[serde(default)]
    pub link: Option<String>,
}

/// The person who signs the email.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BriefSignature")]
pub struct Signature {
    pub name: String,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// A limit that the prompt sets for the email.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BriefConstraint")]
pub struct Constraint {
    pub kind: ConstraintKind,
    /// The number of words, emails or products, the word to avoid, the name of the layout, or the color as `#RRGGBB`. Other kinds have no
    /// value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConstraintKind {
    NoImages,
    NoProducts,
    NoExclamation,
    NoEmoji,
    /// The prompt asks for emoji.
    Emoji,
    PlainLayout,
    OneButton,
    WordLimit,
    Formal,
    Informal,
    AvoidWord,
    /// The number of emails in a series.
    Emails,
    /// The number of products that the email shows.
    Products,
    Layout,
    Color,
}
