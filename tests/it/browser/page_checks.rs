//! The requirements for every page: no console errors, no policy violations, nothing wider than a phone, and no axe-core findings
//! of any severity.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::driver::Tab;
use crate::support::missing;

/// The width of a phone.
pub const NARROW: u32 = 375;
/// The width of a desktop.
pub const WIDE: u32 = 1280;

/// Returns the source of axe-core (MPL-2.0), which `.ci/run` downloads with the other tools. If it is missing, prints a warning or,
/// in CI, fails.
pub fn axe() -> Option<String> {
    let tools = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("ci-tools");
    let path = tools.join("node/node_modules/axe-core/axe.min.js");
    match std::fs::read_to_string(&path) {
        Ok(source) => Some(source),
        Err(_) => {
            let said = format!("axe-core is not at {}: .ci/run fetches it", path.display());
            missing(&said);
            None
        }
    }
}

/// Returns the errors of the open page in the console output since the last check.
pub async fn console(tab: &Tab<'_>) -> Vec<String> {
    let address = tab.address().await;
    let is_own_status = |entry: &Value| {
        // The browser reports pages with a 4xx status, which are expected after an invalid input. The files of a page must not have such a
        // status.
        let message = entry["message"].as_str().unwrap_or_default();
        entry["source"] == "network"
            && !message.contains("/assets/")
            && message.contains("Failed to load resource: the server responded with a status of 4")
    };
    let is_wrong =
        |entry: &&Value| entry["level"] == "SEVERE" || entry["source"] == "security" || entry["source"] == "javascript";
    let said = tab.console().await;
    said.iter()
        .filter(is_wrong)
        .filter(|entry| !is_own_status(entry))
        .map(|entry| format!("{address}: console: {}", entry["message"]))
        .collect()
}

/// Returns whether the page scrolls sideways on a phone.
pub async fn width(tab: &Tab<'_>) -> Vec<String> {
    tab.wide(NARROW).await;
    let script = "const wide = document.documentElement.scrollWidth; const all = [...document.querySelectorAll('body *')]; \
                  const over = all.filter(e => e.getBoundingClientRect().right > arguments[0] + 1 && \
                  !e.closest('.scroll, .hidden, .skip, pre')).slice(0, 3).map(e => \
                  e.outerHTML.slice(0, 160)); return [wide, over];";
    let found = tab.run(script, json!([NARROW])).await;
    let address = tab.address().await;
    tab.wide(WIDE).await;
    match found[0].as_u64() {
        Some(wide) if wide <= u64::from(NARROW) => Vec::new(),
        _ => vec![format!("{address}: {} pixels wide on a telephone: {}", found[0], found[1])],
    }
}

/// Returns duplicate IDs in the page: a label or link would lead to the wrong element.
pub async fn names(tab: &Tab<'_>) -> Vec<String> {
    let script = "const all = [...document.querySelectorAll('[id]')].map(one => one.id); \
                  return all.filter((id, at) => all.indexOf(id) < at)";
    let twice = tab.run(script, json!([])).await;
    let address = tab.address().await;
    twice.as_array().expect("a list").iter().map(|id| format!("{address}: two things have the id {id}")).collect()
}

/// Returns axe-core's findings in the open page: those of all rules in the light theme, and those about colors in the dark theme, which differs
/// from it only in colors.
pub async fn accessibility(tab: &Tab<'_>, axe: &str) -> Vec<String> {
    let address = tab.address().await;
    let mut wrong = Vec::new();
    tab.run(axe, json!([])).await;
    for (scheme, rules) in [("light", "undefined"), ("dark", "['color-contrast', 'link-in-text-block']")] {
        tab.prefer(scheme).await;
        // axe-core logs a message for frames it cannot access; frames hold mail, which is not ours.
        let run = format!(
            "const done = arguments[arguments.length - 1]; \
             axe.run(document, {{ resultTypes: ['violations'], iframes: false, runOnly: {rules} }}).then(found => \
             done(found.violations.map(v => [v.impact, v.id, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + \
             ' ' + (n.any[0] ? n.any[0].message : ''))])), error => done([['critical', 'axe', String(error), []]]));"
        );
        for found in tab.run_until_done(&run).await.as_array().expect("a list") {
            let said = format!("{address} ({scheme}): {}: {} ({}): {}", found[0], found[2], found[1], found[3]);
            wrong.push(said);
        }
    }
    wrong
}

/// Saves screenshots of the page if a folder is set: `SHOTS=folder cargo test --test it browser`.
pub async fn keep_pictures(tab: &Tab<'_>, name: &str) {
    let Some(folder) = std::env::var_os("SHOTS").map(PathBuf::from) else { return };
    for (width, scheme) in [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light")] {
        tab.prefer(scheme).await;
        tab.wide(width).await;
        let letters = tab.picture().await.replace('+', "-").replace('/', "_").replace('=', "");
        let picture = data_encoding::BASE64URL_NOPAD.decode(letters.as_bytes()).expect("base64");
        let file = format!("{}-{width}-{scheme}.png", name.trim_matches('/').replace('/', "_"));
        std::fs::write(folder.join(file), picture).expect("the folder can be written to");
    }
    tab.wide(WIDE).await;
}
