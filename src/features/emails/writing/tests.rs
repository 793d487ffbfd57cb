//! Tests writing emails with a language model.

use std::sync::Arc;

use serde_json::Value;

use super::material::Material;
use super::{Brief, Draft, Writer};
use crate::base::clock::Timestamp;
use crate::base::random::{Random, SeededRandom};
use crate::engine::fetch::Fetch;
use crate::engine::language_model::Models;
use crate::engine::settings;
use crate::features::emails::document::{Email, notation};
use crate::features::emails::model::{GenerationRequest, Source, Visibility};
use crate::features::projects::knowledge::{Entry, KnowledgeOrigin};
use crate::testing::fake_model::{FakeModel, Reaction};
use crate::vocab::ids::KnowledgeId;
use crate::vocab::limits::SCHEMA_CHARACTERS_MAX;
use crate::vocab::settings::OnFailure;

/// Writes an email with the fake model. `keys` are additional settings of the model.
fn write(peer: &FakeModel, keys: &[(&str, &str)], brief: Brief, material: Material) -> Result<Draft, String> {
    let url = peer.url();
    let given = [("protocol", "openai"), ("url", &url), ("model", "peer"), ("repeats", "0")];
    let given = given.iter().chain(keys).map(|(key, value)| (format!("models.peer.{key}"), (*value).to_owned()));
    let settings = settings::load(settings::DEFAULT, None, &[], &given.collect::<Vec<_>>()).expect("the settings are valid");
    let random: Arc<dyn Random> = Arc::new(SeededRandom::new(1));
    let models = Models::new(&settings, &Arc::new(Fetch::new(&settings)), &random);
    let writer = Writer::unmetered(models.default().expect("the model is enabled").clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    runtime.block_on(writer.write(brief, Arc::new(material))).0
}

/// Returns the input for an email that may contain only these links and images.
fn brief(links: &[String], images: Vec<String>) -> Brief {
    let wanted = GenerationRequest {
        prompt: format!("Write to our readers. Links: {}", links.join(" ")),
        brief: None,
        model: "peer".into(),
        on_failure: OnFailure::Fail,
        languages: vec!["en".into()],
        count: Some(1),
        images,
        reference: None,
        web: false,
        pages: Vec::new(),
        visibility: Visibility::Private,
        source: Source::Prompt,
    };
    let today = jiff::civil::date(2026, 11, 23);
    Brief {
        wanted,
        plan: None,
        slot: 0,
        language: "en".into(),
        pattern: None,
        original: None,
        others: None,
        edits: Vec::new(),
        seed: 1,
        today,
    }
}

/// Collects the URLs of the links and images in a document's JSON.
fn addresses(json: &Value, key: &str, links: &mut Vec<String>, images: &mut Vec<String>) {
    match json {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| addresses(value, name, links, images)),
        Value::Array(items) => items.iter().for_each(|item| addresses(item, key, links, images)),
        Value::String(text) if key == "src" => images.push(text.clone()),
        Value::String(text) => {
            let found = text.split(['(', ')', ' ']).filter(|part| part.starts_with("https://"));
            links.extend(found.map(str::to_owned));
        }
        _ => {}
    }
}

#[test]
fn every_request_has_a_small_schema_and_small_models_get_one_block_at_a_time() {
    let whole = Email::sample().to_json();
    let (mut links, mut images) = (Vec::new(), Vec::new());
    addresses(&whole, "", &mut links, &mut images);
    for at_once in ["1", "40"] {
        let peer = FakeModel::with(vec![Reaction::Text(whole.to_string())]);
        let material = Material {
            name: "Leaf".into(),
            site: "https://example.com/".into(),
            given_images: images.clone(),
            ..Default::default()
        };
        let draft = write(&peer, &[("blocks_at_once", at_once)], brief(&links, images.clone()), material);
        let draft = draft.expect("the model writes the email");
        assert_eq!((draft.written_by.as_str(), draft.document.blocks.len()), ("peer", Email::sample().blocks.len()));
        let content = |json: &Value| json["blocks"].as_array().map(|blocks| blocks[1..blocks.len() - 1].to_vec());
        assert_eq!(content(&draft.document.to_json()), content(&whole), "every block is as the model wrote it");
        let mut requests = 0;
        for call in peer.asked() {
            let (name, schema) = call.schema();
            let length = schema.to_string().chars().count();
            assert!(length <= SCHEMA_CHARACTERS_MAX, "{name}: {length}");
            requests += usize::from(name == "write_blocks");
        }
        let blocks = Email::sample().blocks.len() - 2;
        match at_once {
            "1" => assert_eq!(requests, blocks),
            _ => assert!((2..blocks).contains(&requests), "{requests}"),
        }
    }
    assert!(notation().chars().count() <= SCHEMA_CHARACTERS_MAX, "{}", notation().chars().count());
}

#[test]
fn knowledge_is_left_out_if_the_model_has_too_little_context() {
    let entry = |number: usize| Entry {
        id: KnowledgeId::from_bytes([number as u8; 12]),
        title: format!("Page {number}"),
        content: "word ".repeat(150),
        origin: KnowledgeOrigin::Manual,
        url: None,
        source_file_name: None,
        preview_html: None,
        thumbnail_url: None,
        screenshot_url: None,
        date: Timestamp(0),
    };
    let material = |given_images| Material {
        given_images,
        name: "Leaf".into(),
        site: "https://example.com/".into(),
        knowledge: (0..20).map(entry).collect(),
        ..Default::default()
    };
    let length = |keys: &[(&str, &str)]| {
        let (mut links, mut images) = (Vec::new(), Vec::new());
        let whole = Email::sample().to_json();
        addresses(&whole, "", &mut links, &mut images);
        let peer = FakeModel::with(vec![Reaction::Text(whole.to_string())]);
        write(&peer, keys, brief(&links, images.clone()), material(images)).expect("the model writes the email");
        let system = peer.asked()[0].body["messages"][0]["content"].as_str().map(str::to_owned);
        let system = system.expect("the field is a string");
        assert!(system.contains("Page 0"), "the newest entry stays");
        system.len()
    };
    let (small, large) = (length(&[("context_tokens", "12_000"), ("output_tokens_max", "2_000")]), length(&[]));
    assert!(small < large && small < 3 * 10_000, "{small} {large}");
}
