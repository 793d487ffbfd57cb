//! The replies of an edit in a form that is independent of the language: the key of a sentence in the reply tables, and the facts that fill
//! its gaps.

use super::action::Target;

/// A sentence of the reply tables, with the facts that fill its gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The key of the sentence in `[messages]`.
    pub key: &'static str,
    pub facts: Vec<(&'static str, Fact)>,
    /// The sentence that follows this one.
    pub then: Option<Box<Reply>>,
}

/// A value that fills a gap in the sentence of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    Text(String),
    /// The name of a part, in the language of the sentence.
    Part(Target),
    /// The names of several parts.
    Parts(Vec<Target>),
    /// Another message of the reply tables, identified by its key, such as the name of a topic.
    Message(String),
}

/// The reply that describes the change, or the reply that gives the reason why it was not made.
pub type ActionResult = Result<Reply, Reply>;

impl Reply {
    pub fn new(key: &'static str) -> Self {
        Self { key, facts: Vec::new(), then: None }
    }

    /// Returns a sentence about one part.
    pub fn about(key: &'static str, target: Target) -> Self {
        Self::new(key).with("part", Fact::Part(target))
    }

    pub fn with(mut self, name: &'static str, fact: Fact) -> Self {
        self.facts.push((name, fact));
        self
    }

    pub fn text(self, name: &'static str, text: impl ToString) -> Self {
        self.with(name, Fact::Text(text.to_string()))
    }
}
