//! Follows the guide of the cluster (`assets/docs/cluster.md`) word for word, on three nodes: its settings and its commands run as they are
//! printed, with other paths, ports and addresses, because the three machines are one.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use tempfile::TempDir;
use tokio::time::Instant;

use super::nodes::{LEASE_SECONDS, RECOVERY_TIME, database, leads};
use crate::support::client::Call;
use crate::support::server::PROGRAM;
use crate::support::{Client, free_address, missing, operation};

const GUIDE: &str = include_str!("../../../assets/docs/cluster.md");
const NODES: usize = 3;
const LOOK: Duration = Duration::from_millis(50);
const PUBLIC_URL: &str = "https://mail.example.com";

/// Returns the code blocks of a section of the guide, each as it is printed.
fn blocks(heading: &str) -> Vec<String> {
    let rest = GUIDE.split_once(&format!("## {heading}\n")).unwrap_or_else(|| panic!("the guide has no section {heading}")).1;
    let section = rest.split_once("\n## ").map_or(rest, |(section, _)| section);
    let mut blocks: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in section.lines() {
        // Text in a list is indented by three spaces.
        let is_code = line.starts_with("    ");
        match blocks.last_mut().filter(|_| is_open && is_code) {
            Some(block) => block.push_str(&format!("\n{}", line.trim())),
            None if is_code => blocks.push(line.trim().to_owned()),
            None => {}
        }
        is_open = is_code;
    }
    blocks
}

/// The three machines, and the words of the guide that are different on each.
struct Machines {
    folder: TempDir,
    database: String,
    secret: String,
    http: [SocketAddr; NODES],
    own: [SocketAddr; NODES],
    services: [Option<Child>; NODES],
}

impl Machines {
    fn new(database: String, secret: String) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for index in 0..NODES {
            fs::create_dir_all(folder.path().join(format!("machine-{index}/mailmill"))).expect("a folder");
        }
        Self {
            folder,
            database,
            secret,
            http: [0; NODES].map(|_| free_address()),
            own: [0; NODES].map(|_| free_address()),
            services: [const { None }; NODES],
        }
    }

    /// Returns the place of a file of a machine.
    fn place(&self, index: usize, path: &str) -> PathBuf {
        let name = path.strip_prefix("/etc/").or_else(|| path.strip_prefix("/var/lib/")).expect("a path of the guide");
        let name = if path == "/var/lib/mailmill" { "data" } else { name };
        self.folder.path().join(format!("machine-{index}")).join(name)
    }

    /// Replaces the words that are different on this machine.
    fn adapted(&self, index: usize, text: &str) -> String {
        let path = |path: &str| self.place(index, path).display().to_string();
        let words = [
            ("THE OUTPUT OF openssl rand -hex 32, THE SAME ON ALL NODES", self.secret.clone()),
            ("postgres://mailmill:PASSWORD@db.internal/mailmill", self.database.clone()),
            ("0.0.0.0:8080", self.http[index].to_string()),
            ("10.0.0.0/24", "127.0.0.0/8".to_owned()),
            ("node-1", format!("node-{}", index + 1)),
            ("10.0.0.1:7443", self.own[index].to_string()),
            ("/etc/mailmill.toml", path("/etc/mailmill.toml")),
            ("/etc/mailmill/master.key", path("/etc/mailmill/master.key")),
            ("/var/lib/mailmill", path("/var/lib/mailmill")),
        ];
        words.iter().fold(text.to_owned(), |text, (word, own)| text.replace(word, own))
    }

    fn command(&self, index: usize, command: &str) -> Command {
        let text = self.adapted(index, command);
        let mut words = text.split(' ');
        assert_eq!(words.next(), Some("mailmill"), "{command}");
        let mut command = Command::new(PROGRAM);
        // No test makes DNS queries outside this machine, and a leader that gets no CPU for several seconds keeps its lease.
        command.args(words).env("MAILMILL_MAIL__DNS", "127.0.0.1:1");
        command.env("MAILMILL_CLUSTER__LEASE_SECONDS", LEASE_SECONDS.to_string());
        command
    }

    /// Runs a command of the guide on a machine. It must succeed.
    fn run(&self, index: usize, command: &str) -> String {
        let output: Output = self.command(index, command).output().expect("the program runs");
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn serve(&mut self, index: usize, command: &str) {
        let log = fs::File::options().create(true).append(true).open(self.log(index)).expect("a log file");
        let mut service = self.command(index, command);
        service.stdin(Stdio::null()).stdout(log.try_clone().expect("a second handle of the log")).stderr(log);
        self.services[index] = Some(service.spawn().expect("the program starts"));
    }

    fn log(&self, index: usize) -> PathBuf {
        self.folder.path().join(format!("machine-{index}/log"))
    }

    /// Waits until these machines answer health checks and one of them leads. Returns the leader.
    async fn ready(&self, machines: &[usize]) -> usize {
        let deadline = Instant::now() + RECOVERY_TIME;
        loop {
            let mut ready = 0;
            let mut leader = None;
            for index in machines {
                let client = Client::new(self.http[*index], None);
                let any = client.try_send(Call::new(operation("system.ready"), json!({}))).await;
                ready += usize::from(any.is_ok_and(|reply| reply.status == 200));
                if leads(&client).await {
                    assert_eq!(leader.replace(*index), None, "only one node leads");
                }
            }
            match leader.filter(|_| ready == machines.len()) {
                Some(leader) => return leader,
                None => tokio::time::sleep(LOOK).await,
            }
            let logs: Vec<_> = (0..NODES).map(|index| fs::read_to_string(self.log(index)).unwrap_or_default()).collect();
            assert!(Instant::now() < deadline, "{}", logs.join("\n---\n"));
        }
    }

    fn signal(&mut self, index: usize, name: &str) {
        let mut service = self.services[index].take().expect("the service runs");
        let id = service.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().expect("there is a kill").success());
        let ended = service.wait().expect("its end can be waited for");
        assert!(name != "TERM" || ended.success(), "{ended}");
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for service in self.services.iter_mut().flatten() {
            // The service may have ended already.
            let _ = service.kill();
            let _ = service.wait();
        }
    }
}

fn private(file: &Path) {
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("the permissions can be changed");
}

/// Returns the secret, as the guide creates it.
fn secret() -> Option<String> {
    let made = Command::new("openssl").args(["rand", "-hex", "32"]).output();
    match made {
        Ok(made) if made.status.success() => Some(String::from_utf8_lossy(&made.stdout).trim().to_owned()),
        _ => {
            missing("there is no openssl");
            None
        }
    }
}

/// Opens the link that `cluster init` printed, through the load balancer.
async fn opens(address: SocketAddr, path: &str) -> bool {
    let call = Call { target: path.to_owned(), ..Call::new(operation("system.live"), json!({})) };
    let call = call.header("host", "mail.example.com").header("x-forwarded-proto", "https").header("accept", "text/html");
    let reply = Client::new(address, None).try_send(call).await.expect("the node answers");
    reply.status == StatusCode::OK && String::from_utf8_lossy(&reply.bytes).contains("<form")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_guide_leads_to_a_cluster_and_its_commands_work() {
    let (Some(postgres), Some(secret)) = (database(), secret()) else { return };
    let url = postgres.database();
    let [settings, init, serve, status] = <[String; 4]>::try_from(blocks("Three nodes by hand"))
        .unwrap_or_else(|blocks| panic!("these blocks are new: {blocks:#?}"));
    let mut machines = Machines::new(url.clone(), secret);
    for index in 0..NODES {
        let file = machines.place(index, "/etc/mailmill.toml");
        let adapted = machines.adapted(index, &settings);
        assert!(!adapted.contains("PASSWORD") && !adapted.contains("10.0.0"), "{adapted}");
        fs::write(&file, adapted).expect("the settings can be written");
        private(&file);
    }
    let said = machines.run(0, &init);
    let link = said.split_whitespace().find_map(|word| word.strip_prefix(PUBLIC_URL)).expect("a link").to_owned();
    assert!(said.contains("sk_test_"), "{said}");
    for index in 0..NODES {
        let (from, to) =
            (machines.place(0, "/var/lib/mailmill").join("master.key"), machines.place(index, "/etc/mailmill/master.key"));
        fs::copy(from, &to).expect("the key can be copied");
        private(&to);
    }
    for index in 0..NODES {
        machines.serve(index, &serve);
    }
    let leader = machines.ready(&[0, 1, 2]).await;
    let said = machines.run(0, &status);
    assert!(said.contains(&format!("leader        node-{} at {}", leader + 1, machines.own[leader])), "{said}");
    for address in machines.http {
        let deadline = Instant::now() + RECOVERY_TIME;
        while !opens(address, &link).await {
            assert!(Instant::now() < deadline, "every node opens the link");
            tokio::time::sleep(LOOK).await;
        }
    }
    // Upgrades: the lead moves, and can come back after `--undo`.
    let [drain] = <[String; 1]>::try_from(blocks("Upgrades")).unwrap_or_else(|blocks| panic!("{blocks:#?}"));
    machines.run(leader, &drain);
    let next = machines.ready(&[0, 1, 2]).await;
    assert_ne!(next, leader);
    let undo = "mailmill cluster drain --undo --data /var/lib/mailmill";
    assert!(GUIDE.contains(&format!("`{undo}`")), "the guide has another command");
    machines.run(leader, undo);
    // Failures: the machine of the leader fails, and its service starts again.
    machines.signal(next, "KILL");
    let others: Vec<usize> = (0..NODES).filter(|index| *index != next).collect();
    machines.ready(&others).await;
    machines.serve(next, &serve);
    let leader = machines.ready(&[0, 1, 2]).await;
    // Backup: a restored database becomes a folder.
    let [export] = <[String; 1]>::try_from(blocks("Backup")).unwrap_or_else(|blocks| panic!("{blocks:#?}"));
    let restored = machines.folder.path().join("other.toml");
    fs::write(&restored, machines.adapted(0, &settings).replace(&url, &postgres.restored(&url)))
        .expect("the settings can be written");
    let to = machines.folder.path().join("exported");
    let export = export.replace("DIR", &to.display().to_string()).replace("OTHER.toml", &restored.display().to_string());
    machines.run(0, &export);
    assert!(to.join("live.redb").exists() && to.join("master.key").exists());
    // A node is removed.
    let leaving = (leader + 1) % NODES;
    machines.signal(leaving, "TERM");
    assert!(GUIDE.contains("To remove a node, stop it and run `leave`."));
    machines.run(leaving, "mailmill cluster leave --data /var/lib/mailmill --config /etc/mailmill.toml");
    assert!(!machines.place(leaving, "/var/lib/mailmill").join("live.redb").exists());
    // A node is added: `join` prepares its folder.
    machines.run(leaving, "mailmill cluster join --data /var/lib/mailmill --config /etc/mailmill.toml");
    machines.serve(leaving, &serve);
    machines.ready(&[0, 1, 2]).await;
}

#[test]
fn the_commands_in_the_table_of_the_guide_exist() {
    let table = GUIDE.split_once("## Commands\n").and_then(|(_, rest)| rest.split_once("\n## ")).expect("a section").0;
    let names: Vec<&str> =
        table.lines().filter_map(|line| line.strip_prefix("| `mailmill cluster ")?.split(['`', ' ']).next()).collect();
    assert_eq!(names, ["init", "import", "join", "status", "drain", "export", "accept-loss", "leave"]);
    for name in names {
        let help = Command::new(PROGRAM).args(["cluster", name, "--help"]).output().expect("the program runs");
        assert!(help.status.success(), "{name}");
    }
}
