//! What a topic's name and place may be. Topics themselves are kept beside contacts, whose conditions ask about them.

use crate::base::bounded::Bounded;
use crate::base::text::Name;
use crate::vocab::limits;

/// The name of a topic.
pub type TopicName = Name<{ limits::TOPIC_NAME_CHARACTERS_MAX }>;
/// A topic's place among others.
pub type DisplayOrder = Bounded<0, { limits::TOPIC_DISPLAY_ORDER_MAX }>;
