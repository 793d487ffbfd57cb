//! Tests the command-line client: the real program as users run it, with its own configuration folder.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

use super::campaigns::{Stage, until};
use super::docs;
use super::support::hook_sink::HookSink;
use super::support::server::{BOUNDLESS, PROGRAM};
use super::support::{Client, Server, shared};
use super::users::{OWNER, owned, signed_in};

/// A user's machine: a home folder, and the variables that select the server.
struct Machine {
    home: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Machine {
    /// A machine without profiles and variables.
    fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a temporary folder"), variables: Vec::new() }
    }

    /// A machine whose variables select a server and a key.
    fn with(server: &Server, key: &str) -> Self {
        let variables = vec![("MAILMILL_URL", format!("http://{}", server.address())), ("MAILMILL_KEY", key.to_owned())];
        Self { variables, ..Self::new() }
    }

    #[expect(clippy::disallowed_methods, reason = "nothing is read here but names, to keep them away from the program")]
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("MAILMILL_")) {
            command.env_remove(name);
        }
        let home = self.home.path();
        command.env("HOME", home).env_remove("XDG_CONFIG_HOME").env_remove("COLUMNS").env("BROWSER", "true");
        command.envs(self.variables.iter().map(|(name, value)| (name, value))).current_dir(home).stdin(Stdio::null());
        command
    }

    fn run(&self, line: &[&str]) -> Output {
        self.command(PROGRAM).args(line).output().expect("the program runs")
    }

    /// Runs a command that succeeds; returns its standard output.
    fn out(&self, line: &[&str]) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line:?}: {}", errors(&output));
        String::from_utf8(output.stdout).expect("text")
    }

    fn json(&self, line: &[&str]) -> Value {
        let text = self.out(&[line, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line:?}: {error}: {text}"))
    }

    /// Runs a command that fails; returns its exit code and its message.
    fn fails(&self, line: &[&str]) -> (i32, String) {
        let output = self.run(line);
        assert!(output.stdout.is_empty(), "{line:?} prints {}", String::from_utf8_lossy(&output.stdout));
        (output.status.code().expect("no signal"), errors(&output))
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns a machine for the shared server, and a new project there.
async fn with_project(name: &str) -> (Machine, Client, String) {
    let shared = shared();
    let client = shared.client();
    let project = client.project(name).await;
    (Machine::with(&shared.server, &shared.key), client, project)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_workflow_runs_twice_with_only_the_command_line() {
    let settings = format!("{BOUNDLESS}\n[server]\ndemo_shop = true\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n");
    let server = Server::start(&settings);
    let machine = Machine::new();
    let at = |name: &str| machine.home.path().join(name);
    std::fs::write(at("key"), server.key("test", "all")).expect("a file");
    std::fs::write(at("contacts.csv"), "email,first name\nada@example.com,Ada\nbob@example.com,Bob\n").expect("a file");
    std::os::unix::fs::symlink(PROGRAM, at("mailmill")).expect("a link");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/cli/workflow.sh");
    #[expect(clippy::disallowed_methods, reason = "the script finds the shell's programs where this test does")]
    let path = format!("{}:{}", machine.home.path().display(), std::env::var("PATH").expect("a path"));
    let url = format!("http://{}", server.address());
    let run = || {
        let start = Instant::now();
        let mut command = machine.command("sh");
        command.arg(script).env("PATH", &path).env("SERVER", &url).env("SITE", format!("{url}/demo-shop/"));
        let output = command.env("KEY_FILE", at("key")).env("CONTACTS", at("contacts.csv")).output().expect("there is a shell");
        assert!(output.status.success(), "{}", errors(&output));
        eprintln!("the workflow took {:?}", start.elapsed());
        String::from_utf8(output.stdout).expect("text")
    };
    let without_times =
        |text: &str| -> Vec<String> { text.lines().filter(|line| !line.contains("lastUpdated")).map(str::to_owned).collect() };
    let first = run();
    assert!(first.contains("\ncontacts 2\n"), "{first}");
    assert!(first.contains("\nlogs 2\n"), "all pages of the log are printed: {first}");
    assert!(first.contains("\"totalDelivered\": 2"), "{first}");
    assert_eq!(without_times(&run()), without_times(&first), "the second run changes nothing");
    let client = server.all();
    let inbox = client.data("sending.inbox_list", json!({})).await;
    assert_eq!(inbox["total"], 3, "one test and two messages of the campaign");
    for (id, count) in [("projects.list", 1), ("webhooks.list", 1)] {
        assert_eq!(client.data(id, json!({})).await["total"], count, "{id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_print_tables_json_lines_and_ids() {
    let (machine, _, project) = with_project("Command tables").await;
    for name in ["ada", "bob", "eve"] {
        let email = format!("{name}@example.com");
        let line = ["contacts", "create", &email, "--project", "command tables", "--first-name", name, "--tags", "vip"];
        let output = machine.run(&line);
        assert!(output.status.success() && errors(&output).contains("Idempotency-Key: cli-"), "{}", errors(&output));
    }
    let list = ["contacts", "list", "--project", &project];
    let table = machine.out(&list);
    let mut lines = table.lines();
    let head = lines.next().expect("a heading");
    assert!(head.starts_with("ID ") && head.contains("EMAIL") && head.contains("STATUS"), "{table}");
    assert!(lines.count() == 3 && table.contains("ada@example.com"), "{table}");
    assert_eq!(machine.json(&list)["total"], 3);
    let lines = machine.out(&[&list[..], &["--jsonl", "--limit", "1"]].concat());
    let items: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(items.len(), 3, "all pages are printed: {lines}");
    let ids = machine.out(&[&list[..], &["--quiet"]].concat());
    assert_eq!(ids.lines().collect::<Vec<_>>(), items.iter().filter_map(|item| item["id"].as_str()).collect::<Vec<_>>());
    let one = machine.out(&["contacts", "get", ids.lines().next().expect("an ID"), "--project", &project]);
    assert!(one.lines().any(|line| line.starts_with("email:")), "{one}");
    let output = machine.run(&[&list[..], &["--limit", "1"]].concat());
    assert_eq!(errors(&output), "1 of 3 shown; --jsonl prints all\n");
    for width in [60, 80] {
        let narrow = machine.command(PROGRAM).args(list).env("COLUMNS", width.to_string()).output().expect("the program runs");
        let narrow = String::from_utf8(narrow.stdout).expect("text");
        assert!(narrow.lines().all(|line| line.chars().count() <= width), "{narrow}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_the_remedy_and_have_documented_exit_codes() {
    let (mut machine, _, project) = with_project("Command errors").await;
    let (code, message) = machine.fails(&["contacts", "get", "66f1a2b3d4e5f60718293a4b", "--project", &project]);
    assert!(code == 4 && message.contains("(RESOURCE_NOT_FOUND, req_"), "{code} {message}");
    let (code, message) = machine.fails(&["contacts", "create", "no-address", "--project", &project]);
    assert!(code == 2 && message.starts_with("mailmill: EMAIL: "), "{code} {message}");
    let (code, message) = machine.fails(&["tags", "create", "--project", &project]);
    assert!(code == 2 && message.contains("NAME is missing"), "{code} {message}");
    let (code, message) = machine.fails(&["contacts", "list", "--project", "No such brand"]);
    assert!(code == 4 && message.contains("mailmill projects list"), "{code} {message}");
    let (code, message) = machine.fails(&["contacts", "lst"]);
    assert!(code == 2 && message.contains("list"), "{code} {message}");
    let (code, message) = machine.fails(&["contcts", "list"]);
    assert!(code == 2 && message.contains("contacts"), "{code} {message}");
    machine.variables[1].1 = "sk_test_wrong".into();
    let (code, message) = machine.fails(&["projects", "list"]);
    assert!(code == 3 && message.contains("mailmill login"), "{code} {message}");
    machine.variables[0].1 = "http://127.0.0.1:1".into();
    let (code, message) = machine.fails(&["projects", "list"]);
    assert!(code == 7 && message.contains("no response from 127.0.0.1:1"), "{code} {message}");
    let (code, message) = Machine::new().fails(&["projects", "list"]);
    assert!(code == 3 && message.contains("mailmill login URL"), "{code} {message}");
}

/// The server refuses the key, so a command fails only after its arguments were understood.
#[tokio::test(flavor = "multi_thread")]
async fn every_sample_of_the_reference_is_a_valid_command() {
    let samples = docs::samples(&shared().client(), "```sh tab=CLI").await;
    let machine = Machine::with(&shared().server, "sk_test_wrong");
    for name in ["contacts.csv", "image.png"] {
        std::fs::write(machine.home.path().join(name), "email\nada@example.com\n").expect("the file can be written");
    }
    let mut wrong = Vec::new();
    for sample in samples {
        let line = sample.replacen("mailmill", PROGRAM, 1) + " --yes";
        let output = machine.command("sh").args(["-c", &line]).output().expect("a shell");
        let said = errors(&output);
        if output.status.code() != Some(3) || !said.contains("mailmill login") {
            wrong.push(format!("{sample}\n{:?} {said}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_or_deleted_without_confirmation() {
    let (machine, client, project) = with_project("Command confirmation").await;
    let contact = client.contact(&project, "ada@example.com").await;
    let line = ["contacts", "delete", &contact, "--project", &project];
    let (code, message) = machine.fails(&line);
    assert!(code == 8 && message.contains("--yes"), "{code} {message}");
    let path = format!("/v1/contacts/{contact}?projectId={project}");
    assert_eq!(machine.fails(&["api", "delete", &path]).0, 8);
    // Only the body says that this request deletes.
    let body = json!({ "projectId": project, "delete": true }).to_string();
    assert_eq!(machine.fails(&["api", "POST", "/v1/contacts/bulk-change", "--body", &body]).0, 8);
    assert_eq!(client.total(json!({ "projectId": project })).await, 1);
    machine.out(&[&line[..], &["--yes"]].concat());
    assert_eq!(machine.fails(&[&line[..], &["--yes"]].concat()).0, 4);
}

/// `script` gives the program a terminal.
#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_names_the_object_and_only_yes_confirms() {
    let (machine, client, project) = with_project("confirmations").await;
    let ada = client.contact(&project, "ada@example.com").await;
    let answered = |id: &str, answer: &str| {
        let line = format!("{PROGRAM} contacts delete {id} --project {project}");
        let mut command = machine.command("script");
        let mut child =
            command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script runs");
        child.stdin.take().expect("a pipe").write_all(answer.as_bytes()).expect("the answer can be written");
        let output = child.wait_with_output().expect("the program ends");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = answered(&ada, "n\n");
    assert!(code == Some(8) && text.contains("(“ada@example.com”) on 127.0.0.1"), "{code:?}: {text}");
    let (code, text) = answered("66f1a2b3d4e5f60718293a4b", "y\n");
    assert!(code == Some(4) && !text.contains("Continue?"), "{code:?}: {text}");
    let (code, text) = answered(&ada, "y\n");
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(machine.fails(&["contacts", "get", &ada, "--project", &project]).0, 4);
}

/// `script` gives the program a terminal. An empty NO_COLOR counts as not set.
#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_shows_progress_and_colors() {
    let (machine, _, project) = with_project("Command terminal").await;
    std::fs::write(machine.home.path().join("contacts.csv"), "email\nada@example.com\n").expect("the file can be written");
    let line = format!("{PROGRAM} contacts import contacts.csv --project {project} --wait");
    let shown = |no_color: &str| {
        let mut command = machine.command("script");
        command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env("NO_COLOR", no_color);
        let output = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().and_then(Child::wait_with_output);
        String::from_utf8_lossy(&output.expect("script runs").stdout).into_owned()
    };
    let colored = shown("");
    assert!(colored.contains("Uploading [") && colored.contains("Importing contacts"), "{colored:?}");
    assert!(colored.contains("\u{1b}[32mcompleted\u{1b}[0m"), "{colored:?}");
    let plain = shown("1");
    assert!(plain.contains("completed") && !plain.contains("\u{1b}[3"), "{plain:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_come_from_files_and_standard_input() {
    let (machine, _, project) = with_project("Command bodies").await;
    let body = json!({ "projectId": project, "name": "from a file", "color": "#ff0000" });
    std::fs::write(machine.home.path().join("tag.json"), body.to_string()).expect("a file");
    assert_eq!(machine.json(&["tags", "create", "--body", "@tag.json"])["name"], "from a file");
    let mut command = machine.command(PROGRAM);
    let command = command.args(["tags", "create", "--body", "-", "--name", "piped", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    child.stdin.take().expect("piped").write_all(body.to_string().as_bytes()).expect("it reads");
    let made: Value = serde_json::from_slice(&child.wait_with_output().expect("it ends").stdout).expect("JSON");
    assert_eq!((&made["name"], &made["color"]), (&json!("piped"), &json!("#FF0000")));
    let path = format!("/v1/tags?projectId={project}");
    let page = machine.json(&["api", "GET", &path]);
    let short = machine.out(&["api", "GET", &path, "-q"]);
    assert!(!short.contains('{'), "{short}");
    assert_eq!(machine.fails(&["contacts", "list", "--json", "--quiet"]).0, 2);
    assert_eq!(page["data"]["total"], 2);
    let line = ["tags", "create", "again", "--project", &project, "--idempotency-key", "cli-again"];
    let (first, second) = (machine.run(&line), machine.run(&line));
    assert_eq!(first.stdout, second.stdout);
    assert!(errors(&second).contains("Idempotency-Key: cli-again (repeated"), "{}", errors(&second));
    let body = json!({ "projectId": project, "name": "raw" }).to_string();
    let raw = machine.run(&["api", "POST", "/v1/tags", "--body", &body]);
    assert!(raw.status.success() && errors(&raw).contains("Idempotency-Key: cli-"), "{}", errors(&raw));
}

/// Reads lines of a running command until one contains `part`.
fn line_with(child: &mut BufReader<impl std::io::Read>, part: &str) -> String {
    for _ in 0..50 {
        let mut line = String::new();
        child.read_line(&mut line).expect("text");
        if line.contains(part) {
            return line;
        }
        assert!(!line.is_empty(), "the command ended without {part}");
    }
    panic!("there is no line with {part}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_signs_in_with_the_browser_and_signs_out() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let machine = Machine::new();
    let url = format!("http://{}", server.address());
    let mut command = machine.command(PROGRAM);
    command.args([
        "login",
        &url,
        "--email",
        OWNER,
        "--test",
        "--permissions",
        "audience:read,audience:write",
        "--profile",
        "work",
    ]);
    let mut child: Child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped"));
    let line = line_with(&mut lines, "Compare this code");
    let code = line.trim().rsplit(' ').next().expect("a code").to_owned();
    assert!(line_with(&mut lines, "The page").contains(&format!("{url}/agent?code={code}")));
    owner.data("accounts.approval_grant", json!({ "code": code, "permissions": ["audience:read"], "environment": "test" })).await;
    line_with(&mut lines, "Signed in to");
    assert!(child.wait().expect("it ends").success());
    let file = machine.home.path().join(".config/mailmill/profiles.toml");
    assert_eq!(mode(&file), 0o600);
    let profiles = machine.json(&["profiles"]);
    assert_eq!((&profiles[0]["name"], &profiles[0]["environment"]), (&json!("work"), &json!("test")));
    assert!(!profiles.to_string().contains("sk_test_"), "keys are not shown");
    let (code, message) = machine.fails(&["campaigns", "list", "--project", "66f1a2b3d4e5f60718293a4b"]);
    assert!(code == 3 && message.contains("campaign:read"), "{code} {message}");
    assert_eq!(machine.fails(&["contacts", "list", "--project", "66f1a2b3d4e5f60718293a4b", "--profile", "work"]).0, 4);
    // The key of a profile is not sent to another server.
    assert_eq!(machine.fails(&["contacts", "list", "--server", "http://127.0.0.1:1"]).0, 3);
    assert!(machine.run(&["logout"]).status.success());
    assert_eq!(machine.json(&["profiles"]), json!([]));
    let said = machine.run(&["profiles"]).stderr;
    assert!(String::from_utf8_lossy(&said).contains("`mailmill login URL` creates a profile."));
    assert!(!std::fs::read_to_string(&file).expect("a file").contains("sk_test_"));
}

fn mode(file: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).expect("a file").permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_forwarded_with_valid_signatures_and_the_webhook_is_deleted() {
    let (machine, client, project) = with_project("Command listening").await;
    let sink = HookSink::content().await;
    let mut command = machine.command(PROGRAM);
    command.args(["listen", "--forward", &sink.url(), "--events", "subscriber.added", "--count", "1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped"));
    let secret = line_with(&mut lines, "Its secret: ").trim().rsplit(' ').next().expect("a secret").to_owned();
    client.contact(&project, "zoe@example.com").await;
    let got = sink.wait(1).await.remove(0);
    assert!(got.is_signed("x-service-signature", &secret), "{got:?}");
    assert_eq!(
        (got.header("x-service-event-type"), &got.json()["data"]["email"]),
        (Some("subscriber.added"), &json!("zoe@example.com"))
    );
    let output = child.wait_with_output().expect("it ends");
    let shown = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success() && shown.contains("subscriber.added  -> 200 OK"), "{shown}");
    let left = async || {
        let all = client.data("webhooks.list", json!({ "limit": 100 })).await;
        let all = all["webhooks"].as_array().expect("a list").clone();
        all.iter().filter(|webhook| webhook["url"].as_str().is_some_and(|url| url.contains("listen.mailmill.invalid"))).count()
    };
    assert_eq!(left().await, 0);
    let mut child = machine.command(PROGRAM).arg("listen").stderr(Stdio::piped()).spawn().expect("the program starts");
    line_with(&mut BufReader::new(child.stderr.take().expect("piped")), "Its secret: ");
    let kill = format!("kill {}", child.id());
    assert!(machine.command("sh").args(["-c", &kill]).status().expect("a shell").success());
    assert!(child.wait().expect("it ends").success());
    assert_eq!(left().await, 0, "a terminated command deletes its webhook, too");
}

/// Only two commands are not run: `listen` waits for events, and `man` is another program.
#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_documentation_run() {
    let server = Server::start(BOUNDLESS);
    let client = server.all();
    let stage = Stage::new(&client).await;
    stage.crowd(&client, 2).await;
    let campaign = stage.campaign(&client).await;
    client.data("sending.test", json!({ "conversationId": stage.conversation, "to": "reader0@example.com" })).await;
    let message = until(async || {
        let inbox = client.data("sending.inbox_list", json!({})).await;
        inbox["messages"][0]["id"].as_str().map(str::to_owned)
    })
    .await;
    let key = client.key().expect("a key").to_owned();
    let mut machine = Machine::with(&server, &key);
    machine.variables.push(("MAILMILL_PROJECT", stage.project.clone()));
    std::fs::write(machine.home.path().join("key"), key).expect("the file can be written");
    std::fs::write(machine.home.path().join("contacts.csv"), "email\ncarl@example.com\n").expect("the file can be written");
    std::fs::create_dir(machine.home.path().join(".zfunc")).expect("the folder is new");
    let mut count = 0;
    for command in docs::commands(&docs::markdown(&client, "command-line").await, "```sh") {
        if command.starts_with("mailmill listen") || command.starts_with("man ") {
            continue;
        }
        let filled = command.replace("CAMPAIGN", &campaign).replace("MESSAGE", &message).replace("PROJECT", &stage.project);
        // No user signs in during this test, so the command gets a key from a file.
        let filled = if filled.starts_with("mailmill login") { filled + " --key-file key" } else { filled };
        let script = format!("mailmill() {{ \"$PROGRAM\" \"$@\"; }}\n{filled}");
        let output = machine.command("sh").args(["-c", &script]).env("PROGRAM", PROGRAM).output().expect("there is a shell");
        assert!(output.status.success(), "{filled}: {}", errors(&output));
        count += 1;
    }
    assert!(count > 15, "{count}");
}

/// Runs the administration commands in the documentation with `--help`, which only fails after an unknown word or option.
#[test]
fn the_administration_commands_of_the_documentation_exist() {
    let machine = Machine::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/docs");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder can be read").path();
        let Some(page) = std::fs::read_to_string(&path).ok().filter(|_| path.extension().is_some_and(|kind| kind == "md")) else {
            continue;
        };
        for line in page.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| line.starts_with("mailmill ")) {
            let command = line.split(" #").next().unwrap_or(line).replace("BRAND_ID", "66f1a2b3d4e5f60718293a4b");
            let script = format!("mailmill() {{ \"$PROGRAM\" \"$@\"; }}\n{command} --help");
            let output = machine.command("sh").args(["-c", &script]).env("PROGRAM", PROGRAM).output().expect("there is a shell");
            if !output.status.success() {
                wrong.push(format!("{}: {command}\n{}", path.display(), errors(&output)));
            }
            count += 1;
        }
    }
    assert!(count > 15 && wrong.is_empty(), "{count}:\n{}", wrong.join("\n"));
}

#[test]
fn help_completions_and_manual_pages_are_generated() {
    let machine = Machine::new();
    let help = machine.out(&["--help"]);
    for part in ["Administration of this server", "API client", "  contacts ", "  backup ", "Exit codes"] {
        assert!(help.contains(part), "{part}: {help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    assert_eq!(machine.out(&["help", "contacts", "create"]), machine.out(&["contacts", "create", "--help"]));
    assert!(machine.out(&["contacts", "--help"]).contains("imports"));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = machine.out(&["completions", shell]);
        assert!(script.contains("rotate-secret") && script.contains("check-data"), "{shell}");
    }
    assert!(machine.out(&["man"]).contains(".TH mailmill"));
    assert!(machine.run(&["man", "--to", "pages"]).status.success());
    assert!(machine.home.path().join("pages/man1/mailmill-contacts-list.1").exists());
}
