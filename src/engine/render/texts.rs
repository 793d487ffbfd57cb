//! Renders plain text from templates, such as prompts for a language model. Values are not escaped, because the result is not HTML.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

pub struct Texts(Environment<'static>);

impl Texts {
    /// Creates a set of templates, given by name. Panics if a template is invalid, which is a bug in the program.
    pub fn new(sources: &[(&'static str, &'static str)]) -> Self {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        for (name, source) in sources {
            environment.add_template(name, source).unwrap_or_else(|error| panic!("the template {name} is invalid: {error:#}"));
        }
        Self(environment)
    }

    /// Renders the template `name` with this context. Panics if the context does not fit the template, which is a bug in the program.
    pub fn write(&self, name: &str, context: &impl Serialize) -> String {
        let written = self.0.get_template(name).and_then(|template| template.render(Serde(context)));
        written.unwrap_or_else(|error| panic!("the template {name} cannot be rendered: {error:#}"))
    }
}
