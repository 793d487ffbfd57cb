//! Types for the name and position of a topic. Topics themselves are stored with contacts, because filters use them.

use crate::base::bounded::Bounded;
use crate::base::text::Name;
use crate::vocab::limits;

/// The name of a topic.
pub type TopicName = Name<{ limits::TOPIC_NAME_CHARACTERS_MAX }>;
/// A topic's position among others.
pub type DisplayOrder = Bounded<0, { limits::TOPIC_DISPLAY_ORDER_MAX }>;
