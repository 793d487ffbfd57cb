//! A PostgreSQL server on loopback, in a temporary folder, and its standby. Tests can stop and restart both; both end with the test
//! process.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use super::ports::free_address;

/// The folder where Debian's packages install PostgreSQL, with a subfolder for each version.
const PACKAGES: &str = "/usr/lib/postgresql";
/// The user who runs the server if the tests run as root, because PostgreSQL refuses to run as root.
const USER: &str = "daemon";
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(50);
/// The maximum number of ports that are tried when a new server starts.
const STARTS_MAX: usize = 10;

/// A PostgreSQL server with a new database cluster.
pub struct Postgres {
    folder: PathBuf,
    programs: PathBuf,
    port: u16,
    databases: AtomicU64,
    process: Mutex<Option<u32>>,
}

impl Postgres {
    /// Returns the server shared by this test process, which starts at the first call; `None` if PostgreSQL is not installed.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// Starts a separate server; `None` if PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        let versions = fs::read_dir(PACKAGES).ok()?.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
        let mut own = Self::stopped(versions.filter(|bin| bin.join("initdb").exists()).max()?);
        let made = own
            .program("initdb")
            .args(["--auth=trust", "--username=mailmill", "--encoding=UTF8", "--no-sync", "-D"])
            .arg(own.data())
            .output();
        let made = made.expect("initdb runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        own.first_start();
        Some(own)
    }

    /// Starts a standby with this name that receives all changes from this server.
    pub fn standby(&self, name: &str) -> Self {
        let mut own = Self::stopped(self.programs.clone());
        let port = self.port.to_string();
        let mut copy = own.program("pg_basebackup");
        copy.args([
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "mailmill",
            "-R",
            "-X",
            "stream",
            "--checkpoint=fast",
            "--no-sync",
            "-D",
        ]);
        let copied = copy.arg(own.data()).output().expect("pg_basebackup runs");
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        let file = fs::File::options().append(true).open(own.data().join("postgresql.auto.conf"));
        let source = format!("primary_conninfo = 'host=127.0.0.1 port={port} user=mailmill application_name={name}'");
        writeln!(file.expect("the copy has this file"), "{source}").expect("the file can be written");
        own.first_start();
        own
    }

    /// Makes every commit wait for the standby with this name, and waits until the standby has all earlier commits.
    pub fn wait_for_commits_of(&self, standby: &str) {
        for statement in [format!("ALTER SYSTEM SET synchronous_standby_names = '{standby}'").as_str(), "SELECT pg_reload_conf()"]
        {
            self.run("postgres", statement).expect("the setting can be changed");
        }
        let state = format!("SELECT sync_state FROM pg_stat_replication WHERE application_name = '{standby}'");
        let tries = PATIENCE.as_millis() / LOOK.as_millis();
        assert!((0..tries).any(|_| {
            std::thread::sleep(LOOK);
            self.run("postgres", &state).is_ok_and(|state| state == "sync")
        }));
    }

    /// Enables TLS on the server, with this certificate and key in PEM format.
    pub fn secure(&self, certificate: &str, key: &str) {
        // The server reads these files from its folder, and rejects a key that other users can read.
        for (name, content) in [("server.crt", certificate), ("server.key", key)] {
            let file = self.data().join(name);
            fs::write(&file, content).expect("the file can be written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("the permissions can be changed");
            own(&file);
        }
        for statement in ["ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"] {
            self.run("postgres", statement).expect("the setting can be changed");
        }
        let tries = PATIENCE.as_millis() / LOOK.as_millis();
        assert!((0..tries).any(|_| {
            std::thread::sleep(LOOK);
            self.run("postgres", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").as_deref() == Ok("t")
        }));
    }

    /// Makes this standby a primary server.
    pub fn promote(&self) {
        assert_eq!(self.run("postgres", "SELECT pg_promote()").as_deref(), Ok("t"));
    }

    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Returns a server that has a folder and a port, but has no data and is not running.
    fn stopped(programs: PathBuf) -> Self {
        let folder = tempfile::Builder::new().prefix("mailmill-postgres-").tempdir().expect("a temporary folder").keep();
        own(&folder);
        Self { folder, programs, port: free_address().port(), databases: AtomicU64::new(0), process: Mutex::new(None) }
    }

    /// Returns a command that does not run as root, and whose process ends when the thread that started it ends.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "QUIT"]);
        if is_superuser() {
            command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]);
        }
        command.arg(program).env_clear().env("LC_ALL", "C").current_dir(&self.folder);
        command
    }

    /// Starts the server, even after [`Postgres::stop`], and waits until it accepts connections.
    pub fn resume(&self) {
        let log = || fs::read_to_string(self.folder.with_extension("log")).unwrap_or_default();
        assert!(self.comes_up(), "PostgreSQL accepts connections: {}", log());
    }

    /// Starts a new server. Another program may have taken the port, so this function tries several ports.
    fn first_start(&mut self) {
        for _ in 1..STARTS_MAX {
            if self.comes_up() {
                return;
            }
            self.port = free_address().port();
        }
        self.resume();
    }

    /// Starts the server; returns whether it accepts connections.
    fn comes_up(&self) -> bool {
        let mut command = self.program("postgres");
        command.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder);
        // Tests kill processes but not the machine, so data does not need to reach the disk.
        for setting in ["listen_addresses=127.0.0.1", "fsync=off", "shared_buffers=64MB", "max_connections=200"] {
            command.args(["-c", setting]);
        }
        command.args(["-p", &self.port.to_string()]).stdin(Stdio::null()).stdout(Stdio::null());
        let log = fs::File::options().create(true).append(true).open(self.folder.with_extension("log")).expect("a log file");
        command.stderr(log);
        let (started, id) = mpsc::channel();
        // The server ends when the thread that started it ends, so this thread waits until the server has ended.
        let wait = move || {
            let mut child = command.spawn().expect("postgres starts");
            let _ = started.send(child.id());
            let _ = child.wait();
        };
        std::thread::Builder::new().name("postgres".into()).spawn(wait).expect("a thread");
        *self.process.lock().expect("not poisoned") = Some(id.recv().expect("postgres starts"));
        for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
            std::thread::sleep(LOOK);
            if !self.is_running() {
                return false;
            }
            if self.run("postgres", "SELECT 1").is_ok() {
                return true;
            }
        }
        false
    }

    fn is_running(&self) -> bool {
        let process = *self.process.lock().expect("not poisoned");
        process.is_some_and(|id| Path::new(&format!("/proc/{id}")).exists())
    }

    /// Stops the server immediately, as in a crash of its machine.
    pub fn stop(&self) {
        let Some(id) = self.process.lock().expect("not poisoned").take() else { return };
        assert!(Command::new("kill").args(["-s", "QUIT", &id.to_string()]).status().expect("there is a kill").success());
        // Once the process or its PID file is gone, the server has stopped.
        let file = self.folder.join("data/postmaster.pid");
        let tries = PATIENCE.as_millis() / LOOK.as_millis();
        assert!((0..tries).any(|_| {
            std::thread::sleep(LOOK);
            !Path::new(&format!("/proc/{id}")).exists() || !file.exists()
        }));
    }

    /// Creates an empty database. Returns its URL.
    pub fn database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.run("postgres", &format!("CREATE DATABASE {name}")).expect("the database can be created");
        self.url(&name)
    }

    /// Backs up the database with this URL, and restores the backup into a new database. Returns the URL of the new database.
    pub fn restored(&self, url: &str) -> String {
        let (copy, port) = (self.database(), self.port.to_string());
        let file = self.folder.join("backup.sql");
        let place = ["-h", "127.0.0.1", "-p", port.as_str(), "-U", "mailmill", "-d"];
        let mut dump = self.program("pg_dump");
        let dumped = dump.args(place).args([database_of(url), "-f"]).arg(&file).output().expect("pg_dump runs");
        assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
        let mut restore = self.program("psql");
        let restored = restore.args(place).args([database_of(&copy), "-v", "ON_ERROR_STOP=1", "-qXf"]).arg(&file).output();
        let restored = restored.expect("psql runs");
        assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
        copy
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://mailmill@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// Runs SQL statements in the database with this URL. Returns the rows as lines, with columns separated by `|`.
    pub fn query(&self, url: &str, statements: &str) -> String {
        self.run(database_of(url), statements).expect("the statement succeeds")
    }

    fn run(&self, database: &str, statements: &str) -> Result<String, String> {
        let mut command = self.program("psql");
        command.args([
            "-h",
            "127.0.0.1",
            "-p",
            &self.port.to_string(),
            "-U",
            "mailmill",
            "-d",
            database,
            "-v",
            "ON_ERROR_STOP=1",
        ]);
        let done = command.args(["-AtX", "-c", statements]).output().expect("psql runs");
        match done.status.success() {
            true => Ok(String::from_utf8_lossy(&done.stdout).trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_file(self.folder.with_extension("log"));
    }
}

/// Returns the name of the database in a URL.
pub fn database_of(url: &str) -> &str {
    url.rsplit('/').next().and_then(|rest| rest.split('?').next()).expect("a URL of a database")
}

/// Makes the user who runs the server the owner of a file or folder.
fn own(path: &Path) {
    if is_superuser() {
        assert!(Command::new("chown").arg(USER).arg(path).status().expect("there is a chown").success());
    }
}

fn is_superuser() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
