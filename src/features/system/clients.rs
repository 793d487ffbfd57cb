//! The packages of the API clients for Node.js and Python. The service itself offers them, so that the clients match the server.
//!
//! The program contains the files in `assets/clients`. The files need no compilation, so a package is only an archive of them.

use std::sync::LazyLock;

use bytes::Bytes;
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use http::HeaderValue;
use serde::Deserialize;

use crate::base::archive::{self, Entry};
use crate::base::secret::sha256;

/// The version of the clients, which is the version of the server.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The file name of the Node.js package. It is the same for every version, so that one command installs and updates.
const NODE: &str = "mailmill-node.tgz";
/// The file name of the Python package without a version. It redirects to the name with the version, because pip reads the version from
/// the name.
const PYTHON: &str = "mailmill-python.whl";
/// The licenses; users can choose either. To stay below its maximum size, the Node.js package contains only the shorter license, which is
/// the last in this array.
const LICENSES: [File; 2] =
    [("LICENSE-APACHE", include_bytes!("../../../LICENSE-APACHE")), ("LICENSE-MIT", include_bytes!("../../../LICENSE-MIT"))];

type File = (&'static str, &'static [u8]);

macro_rules! files {
    ($folder:literal, $($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../../assets/clients/", $folder, "/", $name)))),*]
    };
}

/// The files of the Node.js package. Files with similar content are adjacent, because compression then stores their common parts once.
const NODE_FILES: &[File] = files![
    "node",
    "package.json",
    "README.md",
    "dist/cjs/core.js",
    "dist/esm/core.js",
    "dist/cjs/errors.js",
    "dist/esm/errors.js",
    "dist/cjs/index.js",
    "dist/esm/index.js",
    "dist/cjs/list.js",
    "dist/esm/list.js",
    "dist/cjs/resources.js",
    "dist/esm/resources.js",
    "dist/cjs/upload.js",
    "dist/esm/upload.js",
    "dist/cjs/version.js",
    "dist/esm/version.js",
    "dist/cjs/webhooks.js",
    "dist/esm/webhooks.js",
    "dist/esm/package.json",
    "dist/cjs/core.d.ts",
    "dist/cjs/errors.d.ts",
    "dist/cjs/index.d.ts",
    "dist/esm/index.d.ts",
    "dist/cjs/list.d.ts",
    "dist/cjs/resources.d.ts",
    "dist/cjs/types.d.ts",
    "dist/cjs/upload.d.ts",
    "dist/cjs/version.d.ts",
    "dist/cjs/webhooks.d.ts",
];

const PYTHON_FILES: &[File] = files![
    "python/src",
    "mailmill/__init__.py",
    "mailmill/_async.py",
    "mailmill/_client.py",
    "mailmill/_request.py",
    "mailmill/_sync.py",
    "mailmill/_version.py",
    "mailmill/errors.py",
    "mailmill/py.typed",
    "mailmill/types.py",
    "mailmill/webhooks.py",
];

/// A package, ready to be served.
pub struct Package {
    pub name: String,
    pub content_type: &'static str,
    pub bytes: Bytes,
    pub etag: HeaderValue,
    /// Whether the file name contains the version. If so, the content under this name never changes.
    pub has_version: bool,
}

pub enum Found {
    Package(&'static Package),
    /// The file name of the package, to which the response redirects.
    Redirect(&'static str),
}

/// The packages for Node.js and Python. The first request builds them, which takes a few hundredths of a second.
static PACKAGES: LazyLock<[Package; 2]> = LazyLock::new(|| {
    let wheel = format!("mailmill-{VERSION}-py3-none-any.whl");
    [
        package(NODE.to_owned(), "application/gzip", archive::tar_gz(&node_entries()), false),
        package(wheel, "application/zip", archive::zip(&python_entries()), true),
    ]
});

/// Returns the package with this file name, or the file name to which requests for this name are redirected.
pub fn find(name: &str) -> Option<Found> {
    if name == PYTHON {
        return Some(Found::Redirect(&PACKAGES[1].name));
    }
    PACKAGES.iter().find(|package| package.name == name).map(Found::Package)
}

fn package(name: String, content_type: &'static str, bytes: Vec<u8>, has_version: bool) -> Package {
    let etag = format!("\"{}\"", HEXLOWER.encode(&sha256(&bytes)[..16]));
    let etag = HeaderValue::from_str(&etag).expect("hexadecimal digits in quotes are a header");
    Package { name, content_type, bytes: bytes.into(), etag, has_version }
}

/// Returns the files as `npm pack` arranges them.
fn node_entries() -> Vec<Entry<'static>> {
    let own = NODE_FILES.iter().copied().chain([LICENSES[1]]);
    own.map(|(name, content)| Entry { name: format!("package/{name}"), content: content.into() }).collect()
}

/// Returns the files of a wheel (PEP 427). The last file lists the other files with their digests.
fn python_entries() -> Vec<Entry<'static>> {
    let info = format!("mailmill-{VERSION}.dist-info");
    let mut entries: Vec<Entry<'static>> =
        PYTHON_FILES.iter().map(|(name, content)| Entry { name: (*name).to_owned(), content: (*content).into() }).collect();
    let wheel = "Wheel-Version: 1.0\nGenerator: mailmill\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    entries.push(Entry { name: format!("{info}/METADATA"), content: metadata().into_bytes().into() });
    entries.push(Entry { name: format!("{info}/WHEEL"), content: wheel.as_bytes().into() });
    for (name, content) in LICENSES {
        entries.push(Entry { name: format!("{info}/licenses/{name}"), content: content.into() });
    }
    let mut record = String::new();
    for Entry { name, content } in &entries {
        record += &format!("{name},sha256={},{}\n", BASE64URL_NOPAD.encode(&sha256(content)), content.len());
    }
    record += &format!("{info}/RECORD,,\n");
    entries.push(Entry { name: format!("{info}/RECORD"), content: record.into_bytes().into() });
    entries
}

/// The parts of `pyproject.toml` that are copied into the metadata of the wheel.
#[derive(Deserialize)]
struct PythonProject {
    project: Project,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Project {
    name: String,
    description: String,
    license: String,
    requires_python: String,
    dependencies: Vec<String>,
}

/// Returns the Python package's core metadata (metadata version 2.4), with the README as the description.
fn metadata() -> String {
    let PythonProject { project } =
        toml::from_str(include_str!("../../../assets/clients/python/pyproject.toml")).expect("a test reads the file");
    let Project { name, description, license, requires_python, dependencies } = project;
    let needs: String = dependencies.iter().map(|one| format!("Requires-Dist: {one}\n")).collect();
    let readme = include_str!("../../../assets/clients/python/README.md");
    format!(
        "Metadata-Version: 2.4\nName: {name}\nVersion: {VERSION}\nSummary: {description}\nLicense-Expression: {license}\n\
         License-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\nRequires-Python: {requires_python}\n{needs}Description-Content-Type: text/markdown\n\n{readme}"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The maximum size of the Node.js package in bytes. The limit is low, because builds of users' projects download the package.
    const NODE_BYTES_MAX: usize = 60_000;

    /// Returns the paths of all files in a folder and its subfolders.
    fn files_in(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).expect("the folder exists") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
            if path.is_dir() {
                found.extend(files_in(&path).iter().map(|inside| format!("{name}/{inside}")));
            } else if !name.ends_with(".pyc") {
                found.push(name);
            }
        }
        found
    }

    #[test]
    fn the_packages_contain_all_files_of_their_folders() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/clients");
        let names = |files: &[File]| files.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<String>>();
        let mut node: BTreeSet<String> = files_in(&root.join("node/dist")).iter().map(|name| format!("dist/{name}")).collect();
        node.extend(["package.json".to_owned(), "README.md".to_owned()]);
        assert_eq!(names(NODE_FILES), node);
        assert_eq!(names(PYTHON_FILES), files_in(&root.join("python/src")).into_iter().collect::<BTreeSet<String>>());
    }

    #[test]
    fn the_packages_are_small_and_have_the_version_of_the_server() {
        let Some(Found::Package(node)) = find(NODE) else { panic!("there is no {NODE}") };
        let contains = |entries: Vec<Entry<'static>>, end: &str| entries.iter().any(|entry| entry.name.ends_with(end));
        assert!(contains(node_entries(), "LICENSE-MIT"));
        for (name, _) in LICENSES {
            assert!(contains(python_entries(), name), "{name}");
        }
        assert!(node.bytes.len() < NODE_BYTES_MAX, "{} bytes", node.bytes.len());
        let Some(Found::Redirect(name)) = find(PYTHON) else { panic!("there is no {PYTHON}") };
        assert_eq!(name, format!("mailmill-{VERSION}-py3-none-any.whl"));
        assert!(matches!(find(name), Some(Found::Package(wheel)) if wheel.has_version));
        assert!(find("mailmill-0.0.0-py3-none-any.whl").is_none(), "other versions do not exist");
        let manifest = String::from_utf8_lossy(NODE_FILES[0].1);
        assert!(manifest.contains(&format!("\"version\": \"{VERSION}\"")), "run the generator: {manifest}");
        let project = include_str!("../../../assets/clients/python/pyproject.toml");
        assert!(project.contains(&format!("\nversion = \"{VERSION}\"\n")), "run the generator: {project}");
    }
}
