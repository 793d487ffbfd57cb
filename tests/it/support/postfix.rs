//! A separate Postfix on loopback, configured as packages do: it requires a password, relays mail to one server, and sends bounces
//! to another.
//!
//! It needs root, like every Postfix, and `saslpasswd2` for the password. If one of them is missing, it prints a note.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = "/usr/sbin/postfix";
const PASSWORDS: &str = "/usr/sbin/saslpasswd2";
const DAEMONS: &str = "/usr/lib/postfix/sbin";
const OWNER: &str = "postfix";
pub const USER: &str = "mill@relay.example";
pub const PASSWORD: &str = "not so secret";

/// The services of a small installation.
const SERVICES: &str = "
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
";

/// A running Postfix. It stops when this value is dropped.
pub struct Postfix {
    folder: TempDir,
    child: Option<Child>,
}

impl Postfix {
    /// Returns whether Postfix can run on this machine.
    pub fn can_run() -> bool {
        let is_superuser = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        let missing = [PROGRAM, PASSWORDS].into_iter().find(|program| !Path::new(program).exists());
        match (is_superuser, missing) {
            (true, None) => return true,
            (false, _) => super::missing("only the superuser can start Postfix"),
            (true, Some(program)) => super::missing(&format!("there is no {program} (Debian: postfix and sasl2-bin)")),
        }
        false
    }

    /// Starts Postfix on this port. It relays mail for `domain` to `back`, and all other mail to `next`.
    pub fn start(port: u16, next: SocketAddr, domain: &str, back: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = folder.path();
        fs::set_permissions(at, fs::Permissions::from_mode(0o755)).expect("its own");
        for name in ["conf/sasl", "queue", "data"] {
            fs::create_dir_all(at.join(name)).expect("its own");
        }
        let place = at.display();
        let main = format!(
            "compatibility_level = 3.6\nqueue_directory = {place}/queue\ndata_directory = {place}/data\ndaemon_directory = {DAEMONS}\n\
             command_directory = /usr/sbin\nmail_owner = {OWNER}\nsetgid_group = postdrop\ninet_interfaces = 127.0.0.1\n\
             inet_protocols = ipv4\nmyhostname = relay.example\nmydestination =\nlocal_recipient_maps =\nalias_maps =\n\
             mynetworks = 192.0.2.1/32\nsmtpd_relay_restrictions = permit_sasl_authenticated, reject\nsmtpd_sasl_auth_enable = yes\n\
             smtpd_sasl_security_options = noanonymous\nsmtpd_sasl_local_domain = relay.example\n\
             relayhost = [127.0.0.1]:{}\ntransport_maps = inline:{{ {domain}=smtp:[127.0.0.1]:{} }}\nsmtp_tls_security_level = none\n\
             smtp_host_lookup = native\nsmtp_dns_support_level = disabled\nmaillog_file = {place}/log\nmaillog_file_prefixes = {place}\n",
            next.port(),
            back.port(),
        );
        fs::write(at.join("conf/main.cf"), main).expect("written");
        fs::write(at.join("conf/master.cf"), format!("127.0.0.1:{port} inet n - n - - smtpd{SERVICES}")).expect("written");
        let passwords = at.join("conf/sasl/passwords");
        let sasl = format!(
            "pwcheck_method: auxprop\nauxprop_plugin: sasldb\nmech_list: PLAIN LOGIN\nsasldb_path: {}\n",
            passwords.display()
        );
        fs::write(at.join("conf/sasl/smtpd.conf"), sasl).expect("written");
        let (user, database_kind) = USER.split_once('@').expect("a user and a realm");
        let mut keeping = Command::new(PASSWORDS);
        keeping.args(["-p", "-c", "-f"]).arg(&passwords).args(["-u", database_kind, user]).stdin(Stdio::piped());
        let mut keeping = keeping.spawn().expect("it starts");
        std::io::Write::write_all(&mut keeping.stdin.take().expect("piped"), PASSWORD.as_bytes()).expect("it reads");
        assert!(keeping.wait().expect("it ends").success());
        for name in ["data", "conf/sasl/passwords"] {
            assert!(Command::new("chown").arg(OWNER).arg(at.join(name)).status().expect("there is a chown").success());
        }
        let mut starting = Command::new(PROGRAM);
        starting.arg("-c").arg(at.join("conf")).arg("start-fg").stdout(Stdio::null()).stderr(Stdio::null());
        let child = Some(starting.spawn().expect("it starts"));
        Self { folder, child }
    }

    /// Returns whether a server listens on this port.
    pub fn listens(port: u16) -> bool {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    }

    /// Returns the log of Postfix.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Postfix {
    fn drop(&mut self) {
        // Use the process ID that Postfix wrote into its own folder.
        let stop =
            Command::new(PROGRAM).arg("-c").arg(self.folder.path().join("conf")).arg("stop").stderr(Stdio::null()).status();
        if let (Ok(_), Some(mut child)) = (stop, self.child.take()) {
            let _ = child.wait();
        }
        if std::thread::panicking() {
            eprintln!("Postfix said:\n{}", self.log());
        }
    }
}
