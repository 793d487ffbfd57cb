//! Checks the rules for the settings of language models that the types do not express.

use url::Url;

use crate::vocab::settings::{COMPOSER, Model, Settings};

/// Returns the first violated rule: the key to change, and the reason.
pub(super) fn check(settings: &Settings) -> Option<(String, String)> {
    let broken = settings.models.iter().find_map(|(name, model)| {
        let (key, reason) = check_model(name, model)?;
        Some((format!("models.{name}.{key}"), reason.to_owned()))
    });
    broken.or_else(|| check_default(settings))
}

fn check_default(settings: &Settings) -> Option<(String, String)> {
    let enabled: Vec<&str> =
        settings.models.iter().filter(|(_, model)| model.protocol.is_some()).map(|(name, _)| name.as_str()).collect();
    let names = [&[COMPOSER][..], enabled.as_slice()].concat().join(", ");
    let reason = match settings.language_model.default.as_deref() {
        None if enabled.len() > 1 => format!("several models are enabled; set the default model to one of: {names}"),
        Some(name) if name != COMPOSER && !enabled.contains(&name) => {
            format!("no model with this name is enabled; use one of: {names}")
        }
        _ => return None,
    };
    Some(("language_model.default".to_owned(), reason))
}

/// Returns the first invalid setting of a model, and the reason.
fn check_model(name: &str, model: &Model) -> Option<(&'static str, &'static str)> {
    if name == COMPOSER {
        return Some(("protocol", "\"composer\" is the built-in composer; give the model a different name"));
    }
    if model.protocol.is_some() && model.model.is_none() {
        return Some(("model", "the model has a protocol, so set the endpoint's name for the model too"));
    }
    let is_web_address = |url: &String| {
        Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none())
    };
    if !model.url.as_ref().is_none_or(is_web_address) {
        return Some(("url", "must be a URL like http://127.0.0.1:11434/v1"));
    }
    if !model.key.as_ref().is_none_or(|key| key.expose().bytes().all(|byte| byte.is_ascii_graphic())) {
        return Some(("key", "must consist of visible ASCII characters"));
    }
    if model.output_tokens_max.get() > model.context_tokens.get() / 2 {
        return Some(("output_tokens_max", "must be at most half of context_tokens, so that there is room for the request"));
    }
    let is_price = |price: f64| (0.0..=1_000_000.0).contains(&price);
    if !is_price(model.input_price) {
        return Some(("input_price", "must be a price per million tokens, from 0 to 1,000,000"));
    }
    if !is_price(model.output_price) {
        return Some(("output_price", "must be a price per million tokens, from 0 to 1,000,000"));
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::engine::settings::{DEFAULT, load};
    use crate::vocab::settings::{OnFailure, Settings};

    fn with(text: &str) -> Result<Settings, String> {
        load(DEFAULT, Some((Path::new("my.toml"), text)), &[], &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_model_needs_only_a_protocol_and_the_name_of_the_endpoint() {
        let settings = with("[models.fast]\nprotocol = 'openai'\nmodel = 'x-1'\n").expect("the settings are valid");
        let (own, built_in) = (&settings.models["fast"], &settings.models["local"]);
        assert_eq!(own.model.as_deref(), Some("x-1"));
        assert_eq!(own.timeout_seconds, built_in.timeout_seconds, "missing keys have the built-in values");
        assert!(built_in.protocol.is_none() && settings.language_model.default.is_none());
        assert_eq!(settings.language_model.on_failure, OnFailure::Fail);
        let vars = [("MAILMILL_MODELS__FAST__KEY".to_owned(), "secret".to_owned())];
        let settings = load(DEFAULT, None, &vars, &[]).expect("the variable of a new model is known");
        assert!(settings.models["fast"].key.is_some());
    }

    #[test]
    fn an_invalid_model_is_rejected_with_its_key_and_the_remedy() {
        let enabled = |name: &str| format!("[models.{name}]\nprotocol = 'openai'\nmodel = 'x'\n");
        for (text, expected) in [
            ("[models.a]\nprotocol = 'openai'".to_owned(), "models.a.model"),
            (enabled("composer"), "give the model a different name"),
            (enabled("a") + "url = 'ftp://x'", "models.a.url (in my.toml, line 4)"),
            (enabled("a") + "input_price = -1", "must be a price per million tokens"),
            (enabled("a") + "output_tokens_max = 20_000", "at most half of context_tokens"),
            (enabled("a") + &enabled("b"), "set the default model to one of: composer, a, b"),
            (enabled("a") + "[language_model]\ndefault = 'b'", "use one of: composer, a"),
            ("[language_model]\non_failure = 'retry'".to_owned(), "language_model.on_failure"),
            ("[language_model]\nmonthly_cost_max = -1".to_owned(), "for no limit, use \"unlimited\""),
        ] {
            let error = with(&text).expect_err("the settings are invalid");
            assert!(error.contains(expected), "{text}: {error}");
        }
        let both = enabled("a") + &enabled("b") + "[language_model]\ndefault = 'composer'";
        assert_eq!(with(&both).expect("the composer may be the default").models.len(), 3);
    }
}
