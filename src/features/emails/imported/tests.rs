//! Sample emails for edit tests.

use std::collections::HashMap;

use super::ImportedEmail;
use crate::base::locale::LanguageTag;
use crate::engine::render::imported_html::{self, ImportedHtml};

/// A typical newsletter from an email builder: table rows with inline styles.
pub const NEWSLETTER: &str = include_str!("../../../../tests/samples/imported-html/newsletter.html");
/// A hand-written email with paragraphs and a style sheet.
pub const PLAIN: &str = include_str!("../../../../tests/samples/imported-html/plain.html");

/// Returns a sample as sanitized HTML.
pub fn safe(source: &str) -> ImportedHtml {
    imported_html::html(source, &HashMap::new()).expect("the HTML is within the limits")
}

/// Returns sanitized HTML as an imported email, which edits can change.
pub fn imported(imported_html: &ImportedHtml, language: &str) -> ImportedEmail {
    let subject = imported_html.subject.clone().unwrap_or_default();
    ImportedEmail::new(&subject, LanguageTag::parse(language).expect("the language tag is valid"), imported_html.outline.clone())
}

#[test]
fn paragraphs_images_and_small_print_are_distinguished() {
    let imported_html = safe(NEWSLETTER);
    let imported = imported(&imported_html, "en");
    let texts = |places: Vec<usize>| places.into_iter().map(|place| imported.text(place)).collect::<Vec<_>>();
    assert_eq!(imported.subject, "Autumn teas are here");
    assert_eq!(imported.preheader(), "Three new blends, and free shipping until Sunday.");
    let paragraphs = texts(imported.paragraphs());
    assert_eq!(paragraphs.len(), 3, "{paragraphs:?}");
    assert!(paragraphs[0].starts_with("The evenings are drawing in"), "{paragraphs:?}");
    assert_eq!(imported.title().map(|place| imported.text(place)).as_deref(), Some("Autumn teas are here"));
    assert_eq!(texts(imported.images())[..2], ["A pot of tea on a windowsill", "A tin of tea"]);
    assert_eq!(imported.last().map(|place| imported.text(place)).as_deref(), Some("See the tins"));
}
