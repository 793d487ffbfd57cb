//! Renders a document with a theme as MJML, HTML and plain text, with pure functions that use no clock, store or network.
//!
//! Blocks are converted to parts, rows and cells ([`parts`] and related modules). Templates in `assets/email` write them as MJML, and
//! [`engine::render::mjml`](crate::engine::render::mjml) converts the MJML to HTML. Plain text is rendered from the document itself.

mod block_context;
mod body;
mod callouts;
mod cells;
mod draft;
mod footer;
mod glue;
mod header;
mod inline;
mod minify;
mod page;
mod parts;
mod products;
mod stats;
mod text;
mod title;
mod wrap;

pub use footer::address_in;
pub use stats::{EmailStats, stats};
pub use text::text;

use std::sync::LazyLock;

use crate::engine::render::{Pages, mjml};
use crate::features::emails::document::{Block, Email, Violation, ViolationKind};
use crate::features::emails::theme::Theme;
use crate::vocab::limits;

/// A rendered email. All three formats contain the placeholders of [`placeholders`](crate::vocab::placeholders) unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub mjml: String,
    pub html: String,
    pub text: String,
    /// Problems that make the email worse but not invalid, each with its remedy.
    pub warnings: Vec<Violation>,
}

pub fn render(email: &Email, theme: &Theme) -> Rendered {
    let mjml = to_mjml(email, theme);
    let html = mjml::to_html(&mjml).expect("the templates escape all input, so the MJML is valid");
    let html = minify::minify(&html);
    let warnings = warnings(email, &html);
    Rendered { mjml, html, text: text(email), warnings }
}

pub fn to_mjml(email: &Email, theme: &Theme) -> String {
    static PAGES: LazyLock<Pages> = LazyLock::new(|| {
        Pages::new(&[
            ("email/email.mjml", include_str!("../../../../assets/email/email.mjml")),
            ("email/row.mjml", include_str!("../../../../assets/email/row.mjml")),
            ("email/cell.mjml", include_str!("../../../../assets/email/cell.mjml")),
            ("email/style.css", include_str!("../../../../assets/email/style.css")),
            ("email/night.css", include_str!("../../../../assets/email/night.css")),
        ])
    });
    let mut mjml = PAGES.draw("email/email.mjml", &page::page(email, theme));
    if !mjml.chars().all(is_markup) {
        mjml.retain(is_markup);
    }
    mjml
}

/// Returns whether XML allows this character ("Char" in the standard). Other characters are invalid even if they are escaped. Also returns
/// false for control characters that XML discourages.
fn is_markup(character: char) -> bool {
    !matches!(character, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

fn warnings(email: &Email, html: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut warn = |path: String, problem: String| found.push(Violation { path, kind: ViolationKind::Invalid, problem });
    if html.len() > limits::EMAIL_HTML_BYTES_MAX {
        let (size, most) = (html.len() / 1024, limits::EMAIL_HTML_BYTES_MAX / 1024);
        warn(
            String::new(),
            format!("The HTML is {size} KB. Gmail clips emails that are larger than {most} KB, so remove some blocks."),
        );
    }
    for (index, block) in email.blocks.iter().enumerate() {
        match block {
            Block::Image(image) if image.image.alt.is_none() && image.image.href.is_some() => {
                let problem = "is missing, but the image is a link; describe the link's target";
                warn(format!("blocks[{index}].image.alt"), problem.to_owned());
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests;
