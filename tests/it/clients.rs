//! The API clients for Node.js and Python: installed from a running server as users install them, with their own tests.

mod generated;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use http::StatusCode;
use serde_json::{Value, json};

use super::support::client::Call;
use super::support::fixtures::settings;
use super::support::{Server, missing, operation, python_with};

/// The package that npm installs.
const NODE: &str = "/clients/mailmill-node.tgz";

/// A signed request for the receivers in `assets/docs/webhooks-guide.md`, and what they must return for it.
const NODE_REQUEST: &str = r#"import { createHmac as hmac } from "node:crypto";
const secret = (process.env.WEBHOOK_SECRET = "whsec_AAEC");
const rawBody = JSON.stringify({ id: "evt_1", type: "subscriber.added", timestamp: new Date().toISOString() });
const signature = hmac("sha256", secret).update(rawBody).digest("hex");
const request = { headers: { "x-service-signature": signature } };
"#;
const NODE_CHECK: &str = r#"
const right = event.id === "evt_1" && isAuthentic(secret, rawBody, signature) && !isAuthentic("other", rawBody, signature);
if (!right) throw new Error("a receiver accepts the wrong requests");
"#;
const PYTHON_REQUEST: &str = r#"import datetime, hashlib, hmac, json, os, types
os.environ["WEBHOOK_SECRET"] = "whsec_AAEC"
now = datetime.datetime.now(datetime.timezone.utc).isoformat()
raw_body = json.dumps({"id": "evt_1", "type": "subscriber.added", "timestamp": now}).encode()
signature = hmac.new(b"whsec_AAEC", raw_body, hashlib.sha256).hexdigest()
request = types.SimpleNamespace(headers={"x-service-signature": signature})
"#;
const PYTHON_CHECK: &str = r#"
assert event["id"] == "evt_1"
assert is_authentic("whsec_AAEC", raw_body, signature) and not is_authentic("other", raw_body, signature)
"#;

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/clients")
}

/// Returns the folder in which `.ci/run` installs Node.js packages. If the compiler is missing, prints a warning or, in CI, fails.
fn tools() -> Option<PathBuf> {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("ci-tools/node");
    let has_all =
        ["openapi-typescript", "typescript", "@types/node"].iter().all(|name| tools.join("node_modules").join(name).exists());
    if !has_all {
        missing(&format!("openapi-typescript, typescript and @types/node are not in {}: .ci/run installs them", tools.display()));
    }
    has_all.then_some(tools)
}

/// Returns the examples in a page of `assets`, as one program.
fn examples(page: &str, language: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(page);
    let text = fs::read_to_string(file).expect("the page can be read");
    let fence = format!("\n```{language}\n");
    let examples = text.split(&fence).skip(1).filter_map(|rest| rest.split_once("\n```"));
    let examples: Vec<&str> = examples.map(|(code, _)| code).collect();
    assert!(!examples.is_empty(), "{page} has no examples");
    examples.join("\n") + "\n"
}

/// Runs a command and returns its output; panics with the output if the command fails.
fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}\n{said}");
    said
}

/// A running server, and a folder in which a client of it is installed.
struct Installed {
    server: Server,
    folder: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        Self { server: Server::start(&settings()), folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Installs the Node.js package, and copies its tests next to it.
    fn node() -> Self {
        let installed = Self::new();
        fs::write(installed.path("package.json"), r#"{ "private": true }"#).expect("the file can be written");
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--cache"]).arg(installed.path("cache")).arg(installed.url(NODE));
        run(npm.current_dir(installed.folder.path()));
        fs::create_dir(installed.path("tests")).expect("the folder is new");
        for entry in fs::read_dir(clients().join("node/tests")).expect("the tests exist") {
            let entry = entry.expect("the folder can be read");
            fs::copy(entry.path(), installed.path("tests").join(entry.file_name())).expect("the file can be copied");
        }
        installed
    }

    /// Installs the Python package in the folder `site`.
    fn python(python: &Path) -> Self {
        let installed = Self::new();
        let wheel = format!("/clients/mailmill-{}-py3-none-any.whl", env!("CARGO_PKG_VERSION"));
        let mut pip = Command::new(python);
        // The environment has the dependency, and the test must not depend on a registry.
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir", "--target"]);
        run(pip.arg(installed.path("site")).arg(installed.url(&wheel)));
        installed
    }

    /// Returns a command that runs with the server's address and a key.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        command.env("MAILMILL_URL", self.url("")).env("MAILMILL_KEY", self.server.key("test", "all"));
        command
    }
}

/// Returns the programs of Node.js: that of the machine, and the other version that `.ci/run` installs.
fn nodes() -> Vec<PathBuf> {
    let other = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("ci-tools/other-node/node_modules/.bin/node");
    if !other.exists() {
        missing(&format!("there is no second version of Node.js at {}: .ci/run installs it", other.display()));
    }
    ["node".into(), other].into_iter().filter(|path: &PathBuf| path.as_os_str() == "node" || path.exists()).collect()
}

/// Whether this machine has Node.js and npm.
fn has_npm() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let found = Command::new("npm").arg("--version").output().is_ok_and(|output| output.status.success());
        if !found {
            missing("there is no npm");
        }
        found
    })
}

#[test]
fn the_generated_files_are_what_the_generator_writes() {
    let Some(tools) = tools() else { return };
    run(Command::new("node").arg(clients().join("generator/main.mjs")).arg(tools).arg("check"));
}

#[test]
fn the_node_package_passes_its_tests_and_runs_its_examples() {
    if !has_npm() {
        return;
    }
    let installed = Installed::node();
    let tests = ["workflow", "faults", "webhooks", "readme"].map(|name| format!("tests/{name}.test.mjs"));
    let said = run(installed.command("node").args(["--test", "--test-reporter=spec"]).args(tests));
    println!("{said}");
    // The tests above have created the brand that the page needs. The last example starts a server, which would keep the program
    // running.
    fs::write(installed.path("contacts.csv"), "email\nfritz@example.com\n").expect("the file can be written");
    fs::write(installed.path("page.mjs"), examples("docs/node.md", "js").replace("server.listen(3000);", ""))
        .expect("the file can be written");
    run(installed.command("node").arg("page.mjs"));
    for (name, code) in [
        ("first.mjs", examples("docs/clients.md", "js")),
        ("receiver.mjs", format!("{NODE_REQUEST}{}{NODE_CHECK}", examples("docs/webhooks-guide.md", "js tab=Node"))),
    ] {
        fs::write(installed.path(name), code).expect("the file can be written");
        run(installed.command("node").arg(name));
    }
    let versions: Vec<String> = nodes().iter().map(|node| run(installed.command(node).arg("tests/smoke.mjs"))).collect();
    println!("works with {versions:?}");
}

#[test]
fn the_types_of_the_node_package_are_checked_strictly_in_both_kinds_of_modules() {
    let Some(tools) = tools() else { return };
    let installed = Installed::node();
    for name in ["esm.mts", "common.cts"] {
        fs::copy(installed.path("tests/consumer.ts"), installed.path(name)).expect("the file can be copied");
    }
    let compile = |options: &[&str]| {
        let mut compiler = Command::new("node");
        compiler.current_dir(installed.folder.path()).arg(tools.join("node_modules/typescript/bin/tsc"));
        compiler.args([
            "--noEmit",
            "--strict",
            "--exactOptionalPropertyTypes",
            "--target",
            "es2022",
            "--types",
            "node",
            "--typeRoots",
        ]);
        run(compiler.arg(tools.join("node_modules/@types")).args(options));
    };
    compile(&["--module", "node16", "esm.mts", "common.cts"]);
    compile(&["--module", "esnext", "--moduleResolution", "bundler", "esm.mts"]);
    for (name, page) in [("readme.mts", "clients/node/README.md"), ("page.mts", "docs/node.md")] {
        fs::write(installed.path(name), examples(page, "js")).expect("the file can be written");
    }
    compile(&["--noUncheckedIndexedAccess", "--module", "node16", "readme.mts", "page.mts"]);
}

/// A program with only the check of webhooks does not contain the API's operations.
#[test]
fn bundlers_leave_out_what_a_program_does_not_use() {
    let Some(tools) = tools().filter(|_| has_npm()) else { return };
    let esbuild = tools.join("node_modules/.bin/esbuild");
    if !esbuild.exists() {
        return missing(&format!("there is no {}: .ci/run installs it", esbuild.display()));
    }
    let installed = Installed::node();
    let bundled = |code: &str| {
        fs::write(installed.path("entry.mjs"), code).expect("the file can be written");
        let mut bundler = Command::new(&esbuild);
        bundler.current_dir(installed.folder.path()).args(["entry.mjs", "--bundle", "--platform=node", "--outfile=bundle.cjs"]);
        run(&mut bundler);
        fs::read_to_string(installed.path("bundle.cjs")).expect("the bundle can be read")
    };
    let webhooks = bundled("import { webhooks } from \"mailmill\";\nconsole.log(webhooks.verify);\n");
    assert!(
        webhooks.contains("createHmac") && !webhooks.contains("/projects/import") && !webhooks.contains("fetch("),
        "{webhooks}"
    );
    let whole = bundled("import { Mailmill } from \"mailmill\";\nconsole.log(Mailmill);\n");
    assert!(whole.contains("/projects/import") && !whole.contains("createHmac"), "{}", whole.len());
    println!("a program that checks webhooks has {} bytes, one that calls the API has {}", webhooks.len(), whole.len());
}

#[test]
fn every_method_of_the_node_package_has_an_example() {
    let types = fs::read_to_string(clients().join("node/dist/cjs/resources.d.ts")).expect("the file can be read");
    let is_method = |line: &str| line.starts_with(' ') && line.contains("options?: ");
    let (methods, examples) = (types.lines().filter(|line| is_method(line)).count(), types.matches("* @example").count());
    // The class of the client has an example, too.
    assert!(methods > 200 && examples == methods + 1, "{examples} examples of {methods} methods");
}

#[test]
fn the_served_package_has_the_files_that_npm_packs() {
    if !has_npm() {
        return;
    }
    let installed = Installed::node();
    let packed =
        run(Command::new("npm").args(["pack", "--dry-run", "--json", "--loglevel=error"]).current_dir(clients().join("node")));
    let packed: Value = serde_json::from_str(&packed).unwrap_or_else(|error| panic!("{error}: {packed}"));
    let mut expected: Vec<&str> =
        packed[0]["files"].as_array().expect("files").iter().map(|file| file["path"].as_str().expect("a path")).collect();
    expected.push("LICENSE-MIT");
    expected.sort_unstable();
    let served = installed.path("node_modules/mailmill");
    let mut found = Vec::new();
    list(&served, &served, &mut found);
    found.sort();
    assert_eq!(found, expected);
    assert!(packed[0]["size"].as_u64().is_some_and(|bytes| bytes < 60_000), "{}", packed[0]["size"]);
}

/// Adds the paths of all files in a folder.
fn list(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder can be read").path();
        match path.is_dir() {
            true => list(root, &path, found),
            false => found.push(path.strip_prefix(root).expect("it is inside").to_string_lossy().into_owned()),
        }
    }
}

#[test]
fn the_python_package_passes_its_tests_and_runs_its_examples() {
    let Some(python) = python_with("httpx, mypy, pip") else { return };
    let installed = Installed::python(&python);
    let tests = clients().join("python/tests");
    let mut program = installed.command(&python);
    program.args(["-B", "-W", "error::ResourceWarning", "-m", "unittest", "discover", "--start-directory"]).arg(&tests);
    println!("{}", run(program.env("PYTHONPATH", installed.path("site"))));
    // The tests above have created the brand that the page needs.
    fs::write(installed.path("contacts.csv"), "email\nfritz@example.com\n").expect("the file can be written");
    let mut checker = Command::new(&python);
    checker.args(["-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir"]).arg(installed.path("types"));
    checker.arg(installed.path("site/mailmill")).arg(&tests);
    for (name, page) in [("readme.py", "clients/python/README.md"), ("page.py", "docs/python.md")] {
        fs::write(installed.path(name), examples(page, "python")).expect("the file can be written");
        checker.arg(installed.path(name));
    }
    run(checker.env("MYPYPATH", installed.path("site")));
    let receiver = format!("{PYTHON_REQUEST}{}{PYTHON_CHECK}", examples("docs/webhooks-guide.md", "python tab=Python"));
    fs::write(installed.path("receiver.py"), receiver).expect("the file can be written");
    fs::write(installed.path("first.py"), examples("docs/clients.md", "python")).expect("the file can be written");
    for name in ["page.py", "first.py", "receiver.py"] {
        run(installed.command(&python).args(["-B", name]).env("PYTHONPATH", installed.path("site")));
    }
}

#[tokio::test]
async fn packages_are_cached_by_their_content_and_version() {
    let server = Server::start(&settings());
    let client = server.all().with_key(None);
    let get = async |name: &str, known: Option<&str>| {
        let mut call = Call::new(operation("system.client_file"), json!({ "name": name }));
        if let Some(tag) = known {
            call = call.header("if-none-match", tag);
        }
        client.try_send(call).await.expect("the server answers")
    };
    let node = get("mailmill-node.tgz", None).await;
    assert_eq!(
        (node.status, node.header("content-type"), node.header("cache-control")),
        (200, Some("application/gzip"), Some("no-cache"))
    );
    let tag = node.header("etag").expect("a tag").to_owned();
    for known in [tag.clone(), format!("\"other\", W/{tag}")] {
        let again = get("mailmill-node.tgz", Some(&known)).await;
        assert_eq!((again.status, again.bytes.len(), again.header("etag")), (304, 0, Some(tag.as_str())));
    }
    assert_eq!(get("mailmill-node.tgz", Some("\"other\"")).await.bytes, node.bytes);
    let redirect = get("mailmill-python.whl", None).await;
    assert_eq!(redirect.status, 302);
    let name = redirect.header("location").and_then(|place| place.strip_prefix("/clients/")).expect("the package's address");
    let wheel = get(name, None).await;
    assert_eq!((wheel.status, wheel.header("cache-control")), (200, Some("public, max-age=31536000, immutable")));
    assert!(wheel.bytes.starts_with(b"PK\x03\x04"));
    get("mailmill-9.9.9-py3-none-any.whl", None).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
}
