//! The devices available for previews. A device is an email client with a window size, in variants such as dark mode.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The maximum number of similar keys that are suggested for an unknown key.
const NEAREST: usize = 3;

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "DeviceCategory")]
pub enum Category {
    /// A program on a computer.
    Desktop,
    /// An app on a phone or tablet.
    Mobile,
    /// A client in a browser.
    Web,
    /// Not a client, but the text part of the message.
    Misc,
}

/// A setting that a user has changed in the client or the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Variant {
    #[serde(rename = "dark")]
    Dark,
    #[serde(rename = "no-images")]
    NoImages,
    #[serde(rename = "120dpi")]
    Dpi120,
}

impl Variant {
    /// Returns the suffixes that the variant adds to a device's key and name.
    const fn endings(self) -> (&'static str, &'static str) {
        match self {
            Self::Dark => ("dark", "dark mode"),
            Self::NoImages => ("no-images", "images blocked"),
            Self::Dpi120 => ("120dpi", "120 dpi"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    key: String,
    profile: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    name: String,
    client: String,
    os: String,
    category: Category,
    viewport: (u32, u32, f32),
    #[serde(default)]
    variants: Vec<Variant>,
    #[serde(default)]
    common: bool,
}

#[derive(Deserialize)]
struct File {
    device: Vec<Row>,
}

/// An email client with a window size, and possibly with a variant such as dark mode.
#[derive(Clone, Debug)]
pub struct Device {
    pub key: String,
    aliases: Vec<String>,
    /// The device's display name.
    pub name: String,
    /// The client's display name.
    pub client: String,
    pub os: String,
    pub category: Category,
    /// The key of the client's profile.
    pub profile: String,
    /// The width and the height of the window in CSS pixels.
    pub viewport: (u32, u32),
    /// The number of image pixels per CSS pixel.
    pub density: f32,
    pub is_dark: bool,
    pub loads_images: bool,
    /// Whether the device shows the text part of the message.
    pub is_text: bool,
    /// The scale factor that is set in Windows, such as 1.25 for 120 dpi.
    pub scale: f32,
    /// Whether the device is drawn if a request names no devices.
    pub is_common: bool,
}

static DEVICES: LazyLock<Vec<Device>> = LazyLock::new(|| {
    let file: File =
        toml::from_str(include_str!("../../../assets/email_clients/devices.toml")).expect("a test parses the embedded file");
    file.device
        .iter()
        .flat_map(|row| [device(row, None)].into_iter().chain(row.variants.iter().map(|one| device(row, Some(*one)))))
        .collect()
});

fn device(row: &Row, variant: Option<Variant>) -> Device {
    let key = |key: &String| variant.map_or_else(|| key.clone(), |variant| format!("{key}.{}", variant.endings().0));
    let (width, height, density) = row.viewport;
    Device {
        key: key(&row.key),
        aliases: row.aliases.iter().map(key).collect(),
        name: variant.map_or_else(|| row.name.clone(), |variant| format!("{}, {}", row.name, variant.endings().1)),
        client: row.client.clone(),
        os: row.os.clone(),
        category: row.category,
        profile: row.profile.clone().unwrap_or_else(|| row.key.clone()),
        viewport: (width, height),
        density,
        is_dark: variant == Some(Variant::Dark),
        loads_images: variant != Some(Variant::NoImages),
        is_text: row.category == Category::Misc,
        scale: if variant == Some(Variant::Dpi120) { 1.25 } else { 1.0 },
        is_common: row.common && variant.is_none(),
    }
}

/// Returns all devices, each before its variants.
pub fn all() -> &'static [Device] {
    &DEVICES
}

/// Returns the device with this key or alias.
pub fn find(key: &str) -> Option<&'static Device> {
    DEVICES.iter().find(|device| device.key == key || device.aliases.iter().any(|alias| alias == key))
}

/// Returns the schema of a device's key.
pub fn key_schema() -> Value {
    let keys: Vec<&String> = DEVICES.iter().flat_map(|device| std::iter::once(&device.key).chain(&device.aliases)).collect();
    json!({ "type": "string", "enum": keys })
}

/// Returns the keys that are most similar to an unknown key.
pub fn nearest(key: &str) -> Vec<&'static str> {
    let mut keys: Vec<&str> = DEVICES.iter().map(|device| device.key.as_str()).collect();
    let key: String = key.chars().take(100).collect::<String>().to_ascii_lowercase();
    let distance = |known: &str| {
        let extends = !key.is_empty() && known.split(['.', '-']).any(|part| part == key);
        (!known.starts_with(&*key), !extends, strsim::damerau_levenshtein(known, &key))
    };
    keys.sort_by_cached_key(|known| distance(known));
    keys.truncate(NEAREST);
    keys
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::engine::clients::findings::Checker;

    #[test]
    fn every_device_has_a_client_and_a_key_of_its_own() {
        let checker = Checker::embedded();
        let mut keys = HashSet::new();
        for device in all() {
            assert!(device.is_text || checker.profile(&device.profile).is_some(), "{}", device.key);
            assert!(std::iter::once(&device.key).chain(&device.aliases).all(|key| keys.insert(key)), "{}", device.key);
        }
        assert_eq!((all().len(), all().iter().filter(|device| device.is_common).count()), (50, 10));
    }

    #[test]
    fn devices_are_found_by_their_aliases() {
        let dark = find("outlook.desktop-windows.dark").expect("the alias is known");
        assert_eq!((dark.key.as_str(), dark.is_dark, dark.profile.as_str()), ("outlook.windows.dark", true, "outlook.windows"));
        assert_eq!(find("outlook.windows.120dpi").map(|device| device.scale), Some(1.25));
        assert!(find("outlook").is_none());
    }

    #[test]
    fn similar_keys_are_found() {
        assert_eq!(nearest("gmail.desktop")[0], "gmail.desktop-webmail");
        assert_eq!(nearest("aple-mail.ios")[0], "apple-mail.ios");
        assert!(nearest("outlook").iter().all(|key| key.starts_with("outlook.")));
    }
}
