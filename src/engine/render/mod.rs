//! Rendering: pages from templates, and emails as screenshots and PDF. The only module that uses the libraries for it.
//!
//! Everything inserted into a page is escaped for HTML, and a name that the context lacks is an error. A test of all templates with their
//! sample contexts finds such errors.

pub mod css;
mod filters;
pub mod html_limits;
pub mod images;
pub mod imported_html;
pub mod merge;
pub mod mjml;
pub mod pixels;
pub mod texts;
pub mod tree;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior, Value, escape_formatter};
use serde::Serialize;

/// A set of templates that may include each other.
pub struct Pages(Environment<'static>);

impl Pages {
    /// Templates by name. An invalid template is a bug in the program.
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

    /// Renders the page `name` with this context. A context that does not fit its template is a bug in the program.
    pub fn draw(&self, name: &str, context: &impl Serialize) -> String {
        let drawn = self.0.get_template(name).and_then(|template| template.render(Serde(context)));
        drawn.unwrap_or_else(|error| panic!("the page {name} cannot be drawn: {error:#}"))
    }
}

/// Writes text escaped for HTML. The library's own function would also escape `/`, which makes every URL in a page hard to find.
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
    #[should_panic(expected = "the page greeting cannot be drawn")]
    fn a_name_missing_from_the_context_panics() {
        Pages::new(&[("greeting", "{{ name }}")]).draw("greeting", &json!({}));
    }
}
