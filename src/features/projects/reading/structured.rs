//! Parses the structured data of a page, JSON-LD and microdata, into one list of objects.
//!
//! Sites write structured data by hand or with plug-ins, often with mistakes, so common mistakes are tolerated. This file does not depend
//! on how the objects are used.

use scraper::ElementRef;
use serde_json::{Map, Value};

use super::clean;
use super::page::{Page, text_of};

/// The maximum nesting depth of objects.
const DEPTH_MAX: u8 = 16;
/// The maximum nesting depth of elements inside one object.
const LEVELS_MAX: u8 = 64;
/// The maximum number of objects on a page.
const NODES_MAX: usize = 5_000;
/// Properties that contain people and companies unrelated to the owner of the page.
const OTHERS: [&str; 12] = [
    "author",
    "review",
    "reviews",
    "reviewedBy",
    "sponsor",
    "funder",
    "worksFor",
    "memberOf",
    "customer",
    "isRelatedTo",
    "isSimilarTo",
    "mentions",
];

/// Returns the objects on the page that have a type, outer objects first. Excludes objects in properties about unrelated people and
/// companies.
pub fn nodes(page: &Page) -> Vec<Value> {
    let mut found = Vec::new();
    for script in page.all("script[type]") {
        let is_data = script.attr("type").is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with("application/ld+json"));
        if is_data && let Some(value) = lenient(&script.text().collect::<String>()) {
            collect(&value, &mut found, 0);
        }
    }
    for element in page.all("[itemscope]") {
        if element.attr("itemprop").is_none() {
            collect(&item(element, page, 0), &mut found, 0);
        }
    }
    found
}

/// Parses JSON that contains common mistakes: surrounding comments, line breaks in strings, or trailing commas.
fn lenient(text: &str) -> Option<Value> {
    let text = text.trim().trim_start_matches("<!--").trim_end_matches("-->").trim();
    let text = text
        .trim_start_matches("//<![CDATA[")
        .trim_start_matches("<![CDATA[")
        .trim_end_matches("]]>")
        .trim_end_matches("//")
        .trim();
    let text = text.trim_end_matches(';');
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let mut repaired = String::with_capacity(text.len());
    let (mut in_text, mut escaped) = (false, false);
    for character in text.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            '}' | ']' if !in_text => {
                let end = repaired.trim_end().len();
                if repaired[..end].ends_with(',') {
                    repaired.truncate(end - 1);
                }
            }
            _ => {}
        }
        repaired.push(if character.is_control() { ' ' } else { character });
    }
    serde_json::from_str(&repaired).ok()
}

fn collect(value: &Value, found: &mut Vec<Value>, depth: u8) {
    if depth > DEPTH_MAX || found.len() >= NODES_MAX {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found, depth + 1)),
        Value::Object(fields) => {
            if fields.contains_key("@type") {
                found.push(value.clone());
            }
            for (name, inner) in fields {
                if !OTHERS.contains(&name.as_str()) {
                    collect(inner, found, depth + 1);
                }
            }
        }
        _ => {}
    }
}

/// Converts an element that has an `itemscope` attribute to an object.
fn item(element: ElementRef<'_>, page: &Page, depth: u8) -> Value {
    let mut fields = Map::new();
    if let Some(kind) = element.attr("itemtype") {
        fields.insert("@type".into(), kind.split('/').next_back().unwrap_or_default().trim().into());
    }
    if depth <= DEPTH_MAX {
        properties(element, page, &mut fields, (depth, 0));
    }
    Value::Object(fields)
}

/// Collects the properties in an element. `depth` counts nested objects; `level` counts nested elements inside one object.
fn properties(element: ElementRef<'_>, page: &Page, fields: &mut Map<String, Value>, (depth, level): (u8, u8)) {
    for child in element.child_elements() {
        let is_item = child.attr("itemscope").is_some();
        for name in child.attr("itemprop").unwrap_or_default().split_whitespace() {
            let value = if is_item { item(child, page, depth + 1) } else { property(child, page) };
            match fields.get_mut(name) {
                None => drop(fields.insert(name.to_owned(), value)),
                Some(Value::Array(values)) => values.push(value),
                Some(first) => *first = Value::Array(vec![first.take(), value]),
            }
        }
        if !is_item && level < LEVELS_MAX {
            properties(child, page, fields, (depth, level + 1));
        }
    }
}

fn property(element: ElementRef<'_>, page: &Page) -> Value {
    let address = |name: &str| element.attr(name).and_then(|href| page.address(href)).map(|url| url.to_string());
    let text = match element.value().name() {
        "meta" => element.attr("content").map(str::to_owned),
        "a" | "link" | "area" => address("href"),
        "img" | "audio" | "video" | "source" | "embed" => address("src"),
        "time" => element.attr("datetime").map(str::to_owned),
        "data" | "meter" => element.attr("value").map(str::to_owned),
        _ => element.attr("content").map(str::to_owned),
    };
    Value::String(text.unwrap_or_else(|| text_of(element)))
}

/// Returns whether an object has one of these types.
pub fn is_a(node: &Value, kinds: &[&str]) -> bool {
    let fits = |name: &str| {
        let name =
            name.trim_start_matches("https://schema.org/").trim_start_matches("http://schema.org/").trim_start_matches("schema:");
        kinds.contains(&name)
    };
    match &node["@type"] {
        Value::String(name) => fits(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(fits),
        _ => false,
    }
}

/// Returns the value of a property as a string. If there are several values, returns the first; if the value is an object, returns its
/// `@value`, name, URL or `@id`.
pub fn text(node: &Value, name: &str) -> Option<String> {
    plain(&node[name])
}

/// Returns a value as a string, as [`text`] does.
pub fn plain(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => clean(&unescaped(text)),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => return items.iter().find_map(plain),
        Value::Object(fields) => {
            return ["@value", "name", "url", "contentUrl", "@id"].iter().find_map(|name| fields.get(*name).and_then(plain));
        }
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Returns all values of a property. A single value is returned as a list with one value.
pub fn list<'a>(node: &'a Value, name: &str) -> Vec<&'a Value> {
    match &node[name] {
        Value::Array(items) => items.iter().collect(),
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

/// Returns the object itself or, if it is a reference, the object in `nodes` that it refers to.
pub fn resolved<'a>(value: &'a Value, nodes: &'a [Value]) -> &'a Value {
    let is_reference = value.as_object().is_some_and(|fields| fields.len() == 1);
    let id = value["@id"].as_str().filter(|_| is_reference);
    let target =
        id.and_then(|id| nodes.iter().find(|node| node["@id"] == id && node.as_object().is_some_and(|fields| fields.len() > 1)));
    target.unwrap_or(value)
}

/// Decodes HTML entities, which strings in JSON-LD often contain by mistake.
fn unescaped(text: &str) -> String {
    if !text.contains('&') && !text.contains('<') {
        return text.to_owned();
    }
    let fragment = scraper::Html::parse_fragment(text);
    fragment.root_element().text().collect()
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::super::Raw;
    use super::*;

    fn page(html: &str) -> Page {
        let url: Url = "https://acme.example/a/".parse().expect("the address is valid");
        Page::parse(&Raw { url: &url, given: true, content_type: "text/html", language: "", bytes: html.as_bytes() })
    }

    #[test]
    fn graphs_lists_and_nested_objects_are_found_but_not_those_of_others() {
        let found = nodes(&page(
            r##"<script type="application/ld+json">{"@context":"https://schema.org","@graph":[
                {"@type":["Organization","Brand"],"name":"Acme &amp; Sons","logo":{"@id":"#logo"}},
                {"@type":"ImageObject","@id":"#logo","url":"/l.png"},
                {"@type":"Product","name":"A","review":{"@type":"Review","author":{"@type":"Organization","name":"Other"}}},
            ]}</script>"##,
        ));
        let names: Vec<_> = found.iter().map(|node| text(node, "name")).collect();
        assert_eq!(names, [Some("Acme & Sons".into()), None, Some("A".into())]);
        assert!(is_a(&found[0], &["Brand"]) && !is_a(&found[0], &["Product"]));
        assert_eq!(text(resolved(&found[0]["logo"], &found), "url").as_deref(), Some("/l.png"));
    }

    #[test]
    fn common_mistakes_are_corrected() {
        for text in [
            "<!-- {\"@type\":\"A\",\"name\":\"x\"} -->",
            "{\"@type\":\"A\",\"name\":\"x\",}",
            "{\"@type\":\"A\",\"name\":\"x\",\"d\":\"a\nb\"};",
        ] {
            assert_eq!(lenient(text).expect(text)["name"], "x");
        }
        assert_eq!(lenient("{ broken"), None);
    }

    #[test]
    fn microdata_is_read_like_the_rest() {
        let found = nodes(&page(
            r#"<div itemscope itemtype="https://schema.org/Product"><h2 itemprop="name"> Red  shoe </h2><img itemprop="image" src="r.jpg">
               <div><span itemprop="offers" itemscope itemtype="http://schema.org/Offer"><meta itemprop="priceCurrency" content="EUR">
               <b itemprop="price" content="49.9">49,90</b></span></div></div>"#,
        ));
        assert_eq!(found[0]["name"], "Red shoe");
        assert_eq!(found[0]["image"], "https://acme.example/a/r.jpg");
        assert_eq!((&found[0]["offers"]["price"], &found[0]["offers"]["priceCurrency"]), (&"49.9".into(), &"EUR".into()));
    }
}
