//! Plain texts from templates, like prompts for a language model: nothing is escaped, because nothing interprets it.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

/// A set of text templates.
pub struct Texts(Environment<'static>);

impl Texts {
    /// Templates by name. An invalid template is a bug in the program.
    pub fn new(sources: &[(&'static str, &'static str)]) -> Self {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        for (name, source) in sources {
            environment.add_template(name, source).unwrap_or_else(|error| panic!("the template {name} is invalid: {error:#}"));
        }
        Self(environment)
    }

    /// Renders the text `name` with this context. A context that does not fit its template is a bug in the program.
    pub fn write(&self, name: &str, context: &impl Serialize) -> String {
        let written = self.0.get_template(name).and_then(|template| template.render(Serde(context)));
        written.unwrap_or_else(|error| panic!("the text {name} cannot be rendered: {error:#}"))
    }
}
