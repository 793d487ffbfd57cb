//! Types for the name and position of a topic.

use crate::base::bounded::Bounded;
use crate::base::text::Name;
use crate::vocab::limits;

pub type TopicName = Name<{ limits::TOPIC_NAME_CHARACTERS_MAX }>;
/// A topic's position in the order in which topics are displayed.
pub type DisplayOrder = Bounded<0, { limits::TOPIC_DISPLAY_ORDER_MAX }>;
