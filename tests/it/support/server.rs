//! Starts the program as users start it.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;

use super::{Client, Faults};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_mailmill");
/// The time limit for a start. A start takes milliseconds, but a busy machine may need much longer.
const START_TIME: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(20);

/// Settings with budgets and quotas that no test uses up.
pub const BOUNDLESS: &str = r#"
[accounts]
owner_plan = "boundless"
plan = "boundless"
[log]
level = "warn"
[plans.boundless]
recipients_per_second = 1_000_000
daily_emails = 1_000_000_000
monthly_emails = 1_000_000_000
[plans.boundless.budgets]
general = 1_000_000_000
sending = 1_000_000_000
emails = 1_000_000_000
campaigns = 1_000_000_000
imports = 1_000_000_000
"#;

/// A data folder and, while it runs, the server with this folder. The server is killed when dropped.
pub struct Server {
    /// The program, which is another version in tests of upgrades.
    program: PathBuf,
    folder: TempDir,
    child: Option<Child>,
    http: Option<SocketAddr>,
    inbound: Option<SocketAddr>,
    inbound_lmtp: Option<SocketAddr>,
    /// Additional environment variables.
    environment: Vec<(&'static str, PathBuf)>,
    /// The server's soft and hard limits on file descriptors, if they differ from those of the tests.
    descriptors: Option<(u64, u64)>,
    /// The file for the server's standard error, if it is not the log next to the data folder.
    standard_error: Option<PathBuf>,
}

impl Server {
    /// Starts a server with these settings.
    pub fn start(settings: &str) -> Self {
        let mut server = Self::stopped(settings);
        server.serve();
        server
    }

    /// Creates a folder with these settings, without starting the server.
    pub fn stopped(settings: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("settings.toml"), settings).expect("the settings can be written");
        Self {
            program: PROGRAM.into(),
            folder,
            child: None,
            http: None,
            inbound: None,
            inbound_lmtp: None,
            environment: Vec::new(),
            descriptors: None,
            standard_error: None,
        }
    }

    /// Sets the program, effective from the next start or command.
    pub fn set_program(&mut self, program: PathBuf) {
        self.program = program;
    }

    /// Sets additional environment variables, effective from the next start or command.
    pub fn set_environment(&mut self, variables: Vec<(&'static str, PathBuf)>) {
        self.environment = variables;
    }

    /// Returns the faults of the server's machine, effective from the next start or command. If faults cannot be simulated, prints
    /// the reason and returns `None`.
    pub fn faults(&mut self) -> Option<Faults> {
        let folder = fs::canonicalize(self.folder.path()).expect("it is there");
        let faults = Faults::new(&folder)?;
        self.environment = faults.environment(&folder.join("data"));
        Some(faults)
    }

    /// Limits the server's file descriptors from the next start on.
    pub fn limit_descriptors(&mut self, soft: u64, hard: u64) {
        self.descriptors = Some((soft, hard));
    }

    /// Changes the soft limit of the running server.
    pub fn set_descriptor_limit(&self, soft: u64) {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let id = i32::try_from(self.child.as_ref().expect("it runs").id()).ok().and_then(Pid::from_raw);
        let hard = self.descriptors.map(|(_, hard)| hard);
        prlimit(id, Resource::Nofile, Rlimit { current: Some(soft), maximum: hard }).expect("it is our own process");
    }

    /// Redirects the server's standard error from the next start on, as a supervisor may.
    pub fn standard_error(&mut self, file: PathBuf) {
        self.standard_error = Some(file);
    }

    /// Replaces the settings, effective from the next start.
    pub fn set(&self, settings: &str) {
        fs::write(self.folder.path().join("settings.toml"), settings).expect("the settings can be written");
    }

    /// Returns the data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    #[expect(clippy::disallowed_methods, reason = "nothing is read here but names, to keep them away from the program")]
    fn bare(&self, mut command: Command, arguments: &[&str]) -> Command {
        // Settings of the developer's own server must not apply here.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("MAILMILL_")) {
            command.env_remove(name);
        }
        let settings = fs::read_to_string(self.folder.path().join("settings.toml")).expect("written before");
        if !settings.contains("dns = ") {
            // No server listens there: no test makes DNS queries outside this machine.
            command.env("MAILMILL_MAIL__DNS", "127.0.0.1:1");
        }
        command.args(arguments).arg("--config").arg(self.folder.path().join("settings.toml"));
        command
    }

    /// Runs a command on another data folder.
    pub fn run_on(&self, data: &Path, arguments: &[&str]) -> Output {
        self.bare(Command::new(PROGRAM), arguments).arg("--data").arg(data).output().expect("the program runs")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.command_by(Command::new(&self.program), arguments)
    }

    fn command_by(&self, command: Command, arguments: &[&str]) -> Command {
        let mut command = self.bare(command, arguments);
        command.arg("--data").arg(self.data());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs an administration command to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// Runs an administration command with standard input.
    pub fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Output {
        let piped = || Stdio::piped();
        let mut child =
            self.command(arguments).stdin(piped()).stdout(piped()).stderr(piped()).spawn().expect("the program starts");
        let mut pipe = child.stdin.take().expect("piped");
        // Ignore the error, because some commands end without reading their input.
        let _ = pipe.write_all(input);
        drop(pipe);
        child.wait_with_output().expect("the program ends")
    }

    fn serving(&self) -> Command {
        let serve = ["serve", "--http", "127.0.0.1:0", "--https", "127.0.0.1:0"];
        let mut command = match self.descriptors {
            None => self.command(&serve),
            Some((soft, hard)) => {
                let limited = format!("ulimit -S -n {soft} && ulimit -H -n {hard} && exec \"$0\" \"$@\"");
                self.command_by(Command::new("sh"), &[&["-c", &limited, PROGRAM], serve.as_slice()].concat())
            }
        };
        command.arg("--ready-file").arg(self.ready_file());
        command
    }

    fn ready_file(&self) -> PathBuf {
        self.folder.path().join("ready.json")
    }

    fn spawn(&mut self, more: &[&str]) -> Child {
        assert!(self.child.is_none(), "it runs already");
        let _ = fs::remove_file(self.ready_file());
        let log = fs::File::options().create(true).append(true).open(self.folder.path().join("log")).expect("a log file");
        let errors = match &self.standard_error {
            None => log.try_clone().expect("a second handle of the log"),
            Some(file) => fs::File::options().create(true).append(true).open(file).expect("a file for errors"),
        };
        self.serving().args(more).stdout(log).stderr(errors).spawn().expect("the program starts")
    }

    /// Starts the server and waits until it accepts requests.
    pub fn serve(&mut self) {
        self.serve_with(&[]);
    }

    /// Starts the server with additional arguments, and waits until it accepts requests.
    pub fn serve_with(&mut self, more: &[&str]) {
        let mut child = self.spawn(more);
        let deadline = tokio::time::Instant::now() + START_TIME;
        while !self.ready_file().exists() {
            let ended = child.try_wait().expect("the program can be asked");
            assert!(ended.is_none(), "the server ended with {ended:?}:\n{}", self.log());
            assert!(tokio::time::Instant::now() < deadline, "the server does not get ready:\n{}", self.log());
            std::thread::sleep(LOOK);
        }
        let ready: serde_json::Value =
            serde_json::from_slice(&fs::read(self.ready_file()).expect("readable")).expect("the ready file is JSON");
        assert_eq!(ready["pid"], child.id());
        self.http = Some(ready["http"].as_str().expect("an address").parse().expect("an address"));
        let listens = |name: &str| ready[name].as_str().map(|address| address.parse().expect("an address"));
        (self.inbound, self.inbound_lmtp) = (listens("inbound"), listens("inboundLmtp"));
        self.child = Some(child);
    }

    /// Returns whether the server was started and has not ended.
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| child.try_wait().expect("the program can be asked").is_none())
    }

    /// Returns the server's exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let ended = self.child.as_mut().expect("it was started").try_wait().expect("the program can be asked");
        if ended.is_some() {
            self.child = None;
        }
        ended
    }

    /// Waits until the server ends without a signal.
    pub async fn end(&mut self) -> ExitStatus {
        let deadline = tokio::time::Instant::now() + START_TIME;
        loop {
            if let Some(ended) = self.ended() {
                return ended;
            }
            assert!(tokio::time::Instant::now() < deadline, "the server does not end:\n{}", self.log());
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Starts a server on another data folder and waits until it is ready or has failed to start. Returns the output.
    pub async fn serve_on(&self, data: &Path) -> Output {
        let ready = self.folder.path().join("other-ready.json");
        let _ = fs::remove_file(&ready);
        let mut command = self.bare(Command::new(PROGRAM), &["serve", "--http", "127.0.0.1:0", "--https", ""]);
        command.arg("--data").arg(data).arg("--ready-file").arg(&ready).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let deadline = tokio::time::Instant::now() + START_TIME;
        while child.try_wait().expect("the program can be asked").is_none() {
            assert!(tokio::time::Instant::now() < deadline, "it neither gets ready nor ends");
            if ready.exists() {
                let id = child.id().to_string();
                assert!(Command::new("kill").args(["-s", "TERM", &id]).status().expect("there is a kill").success());
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        child.wait_with_output().expect("its end can be waited for")
    }

    /// Starts a process on the data folder. The test must end the process.
    pub fn spawn_again(&self) -> Child {
        self.serving().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    /// Runs a second process on the same data folder; returns its output.
    pub fn serve_again(&self) -> Output {
        self.serving().output().expect("the program runs")
    }

    /// Returns the server's log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Returns the server's plain HTTP address.
    pub fn address(&self) -> SocketAddr {
        self.http.expect("it was started")
    }

    /// Returns the SMTP address for returned mail, if a setting enables it.
    pub fn inbound(&self) -> SocketAddr {
        self.inbound.expect("the settings name an address")
    }

    /// Returns the LMTP address for a local mail server, if a setting enables it.
    pub fn inbound_lmtp(&self) -> SocketAddr {
        self.inbound_lmtp.expect("the settings name an address")
    }

    /// Sends a signal to the server, like `TERM`.
    pub fn signal(&self, name: &str) {
        let id = self.child.as_ref().expect("it runs").id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status().expect("there is a kill");
        assert!(status.success());
    }

    /// Waits until the server ends.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.take().expect("it runs").wait().expect("its end can be waited for")
    }

    /// Kills the server with `kill -9`.
    pub fn kill(&mut self) {
        self.signal("KILL");
        self.wait();
    }

    /// Creates a key.
    pub fn key(&self, environment: &str, permissions: &str) -> String {
        let output = self.run(&["keys", "create", "--env", environment, "--name", "tests", "--permissions", permissions]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("a key is ASCII").trim().to_owned()
    }

    /// Returns a client with a new key.
    pub fn client(&self, environment: &str, permissions: &str) -> Client {
        Client::new(self.address(), Some(self.key(environment, permissions)))
    }

    /// Returns the server's process ID.
    pub fn id(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// Returns a client with a key that has all permissions on test data.
    pub fn all(&self) -> Client {
        self.client("test", "all")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            eprintln!("the server said:\n{}", self.log());
        }
    }
}

/// A server for several tests. It has an owner, and ends together with the test process.
pub fn lasting(settings: &str) -> Server {
    let server = crate::users::owned(settings);
    guard(server.child.as_ref().expect("just started").id());
    server
}

/// The server that most tests share, and a key with all permissions on its test data.
pub struct Shared {
    pub server: Server,
    pub key: String,
}

impl Shared {
    /// Returns a client with the shared key.
    pub fn client(&self) -> Client {
        Client::new(self.server.address(), Some(self.key.clone()))
    }
}

/// Returns the shared server. A static is never dropped, so [`guard`] ends its process.
pub fn shared() -> &'static Shared {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    SHARED.get_or_init(|| {
        let server = Server::start(BOUNDLESS);
        guard(server.child.as_ref().expect("just started").id());
        let key = server.key("test", "all");
        Shared { server, key }
    })
}

/// Ends the server when this process ends: a shell waits for the end of its standard input, which this process holds open.
fn guard(id: u32) {
    let script = format!("cat > /dev/null; kill -s KILL {id}");
    let guard = Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).spawn().expect("there is a shell");
    // The pipe must stay open exactly as long as this process lives.
    std::mem::forget(guard);
}
