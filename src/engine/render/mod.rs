//! Rendering: pages from templates, and emails as screenshots and PDF. Only this module uses the rendering libraries.
//!
//! Values that are inserted into a page are escaped for HTML unless they are marked as safe, and a name that is missing from the context is
//! an error. A test renders all templates with their sample contexts to find such errors.

pub mod css;
mod filters;
pub mod html_limits;
pub mod image_name;
pub mod images;
pub mod imported_html;
pub mod inspect;
pub mod merge;
pub mod mjml;
pub mod pixels;
pub mod texts;
pub mod tree;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior, Value, escape_formatter};
use serde::Serialize;

/// A set of page templates, which can include each other.
pub struct Pages(Environment<'static>);

impl Pages {
    /// Creates a set of templates from their names and sources. Panics if a template is invalid, which is a bug in the program.
    pub fn new(sources: &[(&'static str, &'static str)]) -> Self {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_formatter(write_escaped);
        filters::add(&mut environment);
        for (name, source) in sources {
            environment.add_template(name, source).unwrap_or_else(|error| panic!("the template {name} is invalid: {error:#}"));
        }
        Self(environment)
    }

    /// Renders the page `name` with this context, and panics if that fails. Use it only for templates that a test renders with all their
    /// contexts.
    pub fn draw(&self, name: &str, context: &impl Serialize) -> String {
        self.try_draw(name, context).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Renders the page `name` with this context, or returns why the context does not fit the template.
    pub fn try_draw(&self, name: &str, context: &impl Serialize) -> Result<String, String> {
        let drawn = self.0.get_template(name).and_then(|template| template.render(Serde(context)));
        drawn.map_err(|error| format!("the page {name} cannot be rendered: {error:#}"))
    }

    /// Returns the top-level names that the template reads, in any of its branches, but that this context does not contain.
    #[cfg(test)]
    pub fn unknown_names(&self, name: &str, context: &serde_json::Value) -> Vec<String> {
        let template = self.0.get_template(name).expect("the template exists");
        let globals: Vec<&str> = self.0.globals().map(|(name, _)| name).collect();
        let is_unknown = |name: &String| !globals.contains(&name.as_str()) && context.get(name.as_str()).is_none();
        let mut unknown: Vec<String> = template.undeclared_variables(false).into_iter().filter(is_unknown).collect();
        unknown.sort();
        unknown
    }
}

/// Writes text escaped for HTML. The library's own function would also escape `/`, which would make the URLs in a page's source
/// hard to read.
fn write_escaped(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let text = value.as_str().filter(|_| matches!(state.auto_escape(), AutoEscape::Html) && !value.is_safe());
    let Some(mut rest) = text else { return escape_formatter(out, state, value) };
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        let escape = match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#x27;",
        };
        out.write_str(&rest[..at])?;
        out.write_str(escape)?;
        rest = &rest[at + 1..];
    }
    Ok(out.write_str(rest)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_in_a_page_is_escaped() {
        let pages = Pages::new(&[("greeting", "<p>{{ name }}</p>")]);
        let drawn = pages.draw("greeting", &json!({ "name": "<script>\"&'/" }));
        assert_eq!(drawn, "<p>&lt;script&gt;&quot;&amp;&#x27;/</p>");
    }

    #[test]
    fn a_name_missing_from_the_context_is_an_error() {
        let rendered = Pages::new(&[("greeting", "{{ name }}")]).try_draw("greeting", &json!({}));
        assert!(rendered.expect_err("the field name is missing").starts_with("the page greeting cannot be rendered"));
    }
}
