//! Decides whether conditions on elements, attributes and images apply.

use data_encoding::BASE64;

use super::super::css::Owner;
use super::super::features::detect::{Site, Use};
use super::super::html::Element;
use super::super::view::View;
use super::{Applies, Condition, Test};

/// The maximum number of characters to search for signs of an animation in an embedded image.
const IMAGE_CHARACTERS_MAX: usize = 256 * 1024;

/// The maximum number of elements inside an HTML list that are searched for `li` elements with a `value` attribute.
const LIST_ELEMENTS_MAX: usize = 300;

/// The maximum number of declarations that are searched for a body background.
const DECLARATIONS_MAX: usize = 2_000;

/// The maximum number of ancestors that are searched. Emails are nested about 20 levels deep.
const ANCESTORS_MAX: usize = 200;

/// Returns whether the condition applies to a use of an element or attribute.
pub fn decide(condition: &Condition, view: &View<'_>, one: &Use) -> bool {
    let (index, attribute) = match one.site {
        Site::Element(index) => (index, None),
        Site::Attribute(index, span) => (index, Some(span)),
        _ => return false,
    };
    let Some(element) = view.element(index) else { return false };
    let source = view.source;
    let has = |name: &str| view.document.attributes_of(element).iter().any(|attribute| attribute.name == name);
    let written = attribute.and_then(|span| view.document.attributes_of(element).iter().find(|attribute| attribute.span == span));
    let value = written.map_or("", |attribute| attribute.value.of(source).trim());
    match condition.test {
        Test::ElementIn => condition.has(&element.name),
        Test::ElementNotIn => !condition.has(&element.name),
        Test::HasAttribute => condition.words.iter().any(|name| has(name)),
        Test::LacksAttribute => !condition.words.iter().any(|name| has(name)),
        Test::AttributeValueIn => condition.has(value),
        Test::AttributeValueNotIn => !condition.has(value),
        Test::AttributeUnquoted => written.is_some_and(|attribute| !attribute.span.of(source).contains('=')),
        Test::AlignTable => element.name == "table" && condition.has(value),
        Test::AnchorId => !view.anchor_names.contains(value.trim_start_matches('#')),
        Test::LocalAnchors => view.has_local_anchor,
        Test::ImagePercent => element.name == "img" && value.ends_with('%'),
        Test::Inside => ancestors(view, index).any(|element| condition.has(&element.name)),
        Test::BodyWithoutBackground => !has_body_background(view),
        Test::ResourceIn => {
            let resource = view.document.attributes_of(element).iter().filter(|one| matches!(&*one.name, "type" | "data"));
            let text = resource.map(|one| one.value.of(source).to_ascii_lowercase()).collect::<Vec<_>>().join(" ");
            condition.words.iter().any(|word| text.contains(word.as_str()))
        }
        Test::ListValue => element.name == "ol" && has_list_value(view, index),
        Test::MailtoParameter => mailto_parameters(value).any(|name| condition.has(name)),
        Test::StyleInBody => !element.in_head,
        Test::StyleLate => element.name == "style" && is_late(view, index),
        Test::Base64In => condition.has(data_type(value)),
        Test::Base64NotIn => !condition.has(data_type(value)),
        Test::InSheet => element.name == "style",
        _ => false,
    }
}

/// Returns the elements that contain an element, innermost first.
fn ancestors<'v, 'a>(view: &'v View<'a>, index: u32) -> impl Iterator<Item = &'v Element<'a>> {
    let parent = |element: &&Element<'a>| element.parent.and_then(|parent| view.element(parent));
    std::iter::successors(view.element(index).and_then(|element| parent(&element)), parent).take(ANCESTORS_MAX)
}

/// Returns whether an attribute, an inline style or a rule gives the body a background.
fn has_body_background(view: &View<'_>) -> bool {
    let Some((index, body)) = (0_u32..).zip(&view.document.elements).find(|(_, element)| element.name == "body") else {
        return false;
    };
    if view.document.attributes_of(body).iter().any(|attribute| matches!(&*attribute.name, "bgcolor" | "background")) {
        return true;
    }
    view.sheets.declarations.iter().take(DECLARATIONS_MAX).any(|declaration| {
        let name = declaration.name.of(view.source);
        name.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("background"))
            && match declaration.owner {
                Owner::Element(element) => element == index,
                _ => view.touched(declaration).contains(&index),
            }
    })
}

fn has_list_value(view: &View<'_>, list: u32) -> bool {
    let end = view.element(list).map_or(0, |element| element.content_end);
    let inside = view
        .document
        .elements
        .iter()
        .skip(list as usize + 1)
        .take(LIST_ELEMENTS_MAX)
        .take_while(|element| element.start_tag.start < end);
    let mut items = inside.filter(|element| element.name == "li" && element.parent == Some(list));
    items.any(|element| view.document.attribute(view.source, element, "value").is_some())
}

fn mailto_parameters(value: &str) -> impl Iterator<Item = &str> {
    let query = value.split_once('?').map_or("", |(_, query)| query);
    query.split('&').map(|pair| pair.trim_start_matches("amp;")).filter_map(|pair| pair.split('=').next())
}

/// Returns whether any rule of the `style` element `index` matches an element that precedes this `style` element.
fn is_late(view: &View<'_>, index: u32) -> bool {
    let rules = view.sheets.rules.iter().zip(&view.reach).filter(|(rule, _)| rule.element == index);
    rules.into_iter().any(|(_, reach)| reach.elements.first().is_some_and(|first| *first < index))
}

/// Returns the subtype of an embedded image, such as `png`.
pub fn data_type(text: &str) -> &str {
    let start = text.find("image/").map_or(text.len(), |at| at + "image/".len());
    text.get(start..).unwrap_or_default().split([';', ',']).next().unwrap_or_default()
}

/// Decides whether the image in a use is animated. The result is [`Applies::Unknown`] if the image is not embedded in the email or cannot
/// be decoded.
pub fn animated(view: &View<'_>, one: &Use) -> Applies {
    let text = one.span.of(view.source);
    let Some(data) = text.find(";base64,").and_then(|at| text.get(at + ";base64,".len()..)) else { return Applies::Unknown };
    let encoded: String =
        data.chars().take(IMAGE_CHARACTERS_MAX).filter(|one| one.is_ascii_alphanumeric() || matches!(one, '+' | '/')).collect();
    let whole = encoded.get(..encoded.len() / 4 * 4).unwrap_or_default();
    let Ok(bytes) = BASE64.decode(whole.as_bytes()) else { return Applies::Unknown };
    // Each frame of an animated GIF has a graphic control extension; an animated WebP file has an ANIM chunk.
    let frames = bytes.windows(3).filter(|window| window == b"\x21\xF9\x04").count();
    (frames > 1 || bytes.windows(4).any(|window| window == b"ANIM")).into()
}
