//! The dashboard's files: templates, style sheets and scripts.
//!
//! The files are built into the program. A debug build reads them from the source tree again whenever they change, so that developers can
//! edit pages without a rebuild.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, VARY,
};
use http::{Method, StatusCode};

use super::pages::PAGES;
use super::template::{Template, template};
use crate::base::secret::sha256;
use crate::engine::api::http_types::{Incoming, Reply, ReplyBody};
use crate::engine::render::Pages;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../assets/dashboard/", $name)))),*]
    };
}

/// The templates that page templates extend or import, and the template of the error page.
const SHARED: &[Template] = &[
    template!("layout.html"),
    template!("parts.html"),
    template!("brand.html"),
    template!("campaign_base.html"),
    template!("contact_fields.html"),
    template!("docs.html"),
    template!("email.html"),
    template!("hook_parts.html"),
    template!("scheduled_import_parts.html"),
    template!("webhook_parts.html"),
    template!("error.html"),
];

fn templates() -> impl Iterator<Item = Template> {
    SHARED.iter().copied().chain(PAGES.iter().flat_map(|page| page.templates).map(|one| one.template))
}

/// The style sheets and scripts: first those for all pages, then those for the editor, then those for the documentation.
const ASSETS: &[(&str, &str)] = files![
    "dashboard.css",
    "dashboard.js",
    "editor/editor.css",
    "editor/editor.js",
    "editor/prosemirror.min.js",
    "docs.css",
    "docs.js"
];

/// All files of the dashboard, read and checked.
pub struct Files {
    pub pages: Pages,
    pub style: Asset,
    pub script: Asset,
    pub editor_style: Asset,
    pub editor_script: Asset,
    pub prosemirror: Asset,
    pub docs_style: Asset,
    pub docs_script: Asset,
}

/// A file that pages load. Its URL changes with its content.
pub struct Asset {
    /// The file's URL path.
    pub path: String,
    content_type: &'static str,
    content: &'static str,
    /// The file compressed with gzip, which almost every browser accepts. Pages are not compressed, because the compressed size of a page
    /// that also contains user input could reveal a form's secret.
    packed: Bytes,
}

impl Asset {
    fn new(name: &str, content: &'static str) -> Self {
        let (ending, content_type) = match name.ends_with(".css") {
            true => ("css", "text/css; charset=utf-8"),
            false => ("js", "text/javascript; charset=utf-8"),
        };
        let sum = HEXLOWER.encode(&sha256(content.as_bytes())[..8]);
        let path = format!("/assets/dashboard-{sum}.{ending}");
        Self { path, content_type, content, packed: packed(content.as_bytes()) }
    }

    fn reply(&self, takes_gzip: bool) -> Reply {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        let body = match takes_gzip {
            true => {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                self.packed.clone()
            }
            false => Bytes::from_static(self.content.as_bytes()),
        };
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(body) }
    }
}

impl Files {
    fn new(text: impl Fn(&'static str, &'static str) -> &'static str) -> Self {
        let templates: Vec<(&str, &str)> = templates().map(|one| (one.name, text(one.name, one.source))).collect();
        let [style, script, editor_style, editor_script, prosemirror, docs_style, docs_script] =
            [0, 1, 2, 3, 4, 5, 6].map(|index| Asset::new(ASSETS[index].0, text(ASSETS[index].0, ASSETS[index].1)));
        let pages = Pages::new(&templates);
        Self { pages, style, script, editor_style, editor_script, prosemirror, docs_style, docs_script }
    }

    fn assets(&self) -> [&Asset; 7] {
        let (style, script) = (&self.editor_style, &self.editor_script);
        [&self.style, &self.script, style, script, &self.prosemirror, &self.docs_style, &self.docs_script]
    }
}

/// Returns the files that are built into the program.
#[cfg(not(debug_assertions))]
pub fn files() -> Arc<Files> {
    static FILES: std::sync::LazyLock<Arc<Files>> = std::sync::LazyLock::new(|| Arc::new(Files::new(|_, built_in| built_in)));
    FILES.clone()
}

/// Returns the files from the source tree, or the built-in files if there is no source tree.
#[cfg(debug_assertions)]
pub fn files() -> Arc<Files> {
    use std::fs;
    use std::path::Path;
    use std::sync::{Mutex, PoisonError};
    use std::time::SystemTime;

    type Stamps = Vec<Option<SystemTime>>;
    static LAST: Mutex<Option<(Stamps, Arc<Files>)>> = Mutex::new(None);

    let path = |name: &str| Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/dashboard")).join(name);
    let stamp = |name: &str| fs::metadata(path(name)).and_then(|file| file.modified()).ok();
    let names = templates().map(|one| one.name).chain(ASSETS.iter().map(|(name, _)| *name));
    let stamps: Stamps = names.map(stamp).collect();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, files)) = last.as_ref().filter(|(before, _)| *before == stamps) {
        return files.clone();
    }
    // The memory of each version of a file is never freed, which costs a few kilobytes per edit.
    let read = |name: &str, built_in| fs::read_to_string(path(name)).map_or(built_in, |text| &*text.leak());
    let files = Arc::new(Files::new(read));
    *last = Some((stamps, files.clone()));
    files
}

/// Returns the requested file, if the request is for one of the dashboard's files.
pub fn reply(request: &Incoming) -> Option<Reply> {
    let path = request.uri.path();
    if !path.starts_with("/assets/") || !matches!(request.method, Method::GET | Method::HEAD) {
        return None;
    }
    let files = files();
    let asset = files.assets().into_iter().find(|asset| asset.path == path)?;
    Some(asset.reply(takes_gzip(&request.headers)))
}

pub fn packed(content: &[u8]) -> Bytes {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    let packed = packer.write_all(content).and_then(|()| packer.finish());
    packed.expect("compressing into memory does not fail").into()
}

/// Returns whether the client accepts gzip (RFC 9110 §12.5.3): the header lists gzip, and its weight is not zero.
pub fn takes_gzip(headers: &HeaderMap) -> bool {
    let named = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
    named.map(|one| one.split_once(';').unwrap_or((one, ""))).any(|(coding, weight)| {
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        coding.trim().eq_ignore_ascii_case("gzip") && weight != Some(0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_of_the_editor_have_less_than_100_kilobytes_compressed() {
        let files = files();
        let bytes = files.editor_script.packed.len() + files.prosemirror.packed.len();
        assert!(bytes < 100_000, "{bytes}");
    }

    #[test]
    fn the_editor_takes_the_same_image_files_as_the_page_of_images() {
        let editor = files().editor_script.content;
        for format in ["png", "jpeg", "gif", "webp"].map(|format| format!("image/{format}")) {
            let accepts = |text: &str, start: &str| {
                let list =
                    text.split(start).nth(1).and_then(|rest| rest.split('"').next()).expect("the file input lists its formats");
                list.split(',').any(|one| one == format)
            };
            assert!(accepts(editor, "type: \"file\", accept: \""), "{format}");
            assert!(accepts(include_str!("../../../assets/dashboard/brand_images.html"), "type=\"file\" accept=\""), "{format}");
        }
    }

    #[test]
    fn statuses_of_the_api_are_shown_in_plain_words() {
        let parts = include_str!("../../../assets/dashboard/parts.html");
        let page = "{% import \"parts.html\" as parts %}{% for word in words %}{{ parts.state(word) }}{% endfor %}";
        let pages = Pages::new(&[("parts.html", parts), ("page.html", page)]);
        let shown = pages.draw("page.html", &serde_json::json!({ "words": ["throttled", "pending_review", "cancelled"] }));
        for word in ["waits\">waiting</span>", ">pending review</span>", ">canceled</span>"] {
            assert!(shown.contains(word), "{word} in {shown}");
        }
    }

    #[test]
    fn only_clients_that_accept_gzip_get_it() {
        for (said, takes) in [
            ("gzip, deflate, br", true),
            ("br;q=1.0, GZIP;q=0.5", true),
            ("br, gzip;q=0", false),
            ("gzip; q=0.0", false),
            ("deflate", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(said))]);
            assert_eq!(takes_gzip(&headers), takes, "{said}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
