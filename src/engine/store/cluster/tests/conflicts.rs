//! Tests that a statement is repeated if the database rolls it back because of another transaction.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};

use regex::Regex;

use super::*;

/// The source files that contain the cluster's SQL statements.
const SOURCES: [&str; 5] = [
    include_str!("../lease.rs"),
    include_str!("../prepare.rs"),
    include_str!("../schema.rs"),
    include_str!("../shared_log.rs"),
    include_str!("../snapshots.rs"),
];
const VERBS: [&str; 7] = ["ALTER", "CREATE", "DELETE", "INSERT", "SELECT", "UPDATE", "WITH"];
/// The statement that the proxy sends instead of the client's statement. The database rolls it back, as after a conflict.
const CONFLICT: &[u8] = b"DO $$ BEGIN RAISE EXCEPTION 'a conflict' USING ERRCODE = '40001'; END $$\0";

/// Distributed SQL databases use serializable isolation by default, and roll back a statement whose rows another transaction has changed.
#[test]
fn a_statement_is_repeated_after_a_serialization_failure() {
    let Some(server) = server() else { return };
    let url = format!("{}&options=-c%20default_transaction_isolation%3Dserializable", server.database());
    let (shared, runtime) = shared_of(&url);
    let [mut first, mut second, mut third] = [(); 3].map(|()| Link::new(shared.database.clone()));
    let changed = runtime.block_on(async {
        schema::create(&mut first).await.expect("the tables can be created");
        first.define("BEGIN; UPDATE mailmill_lease SET epoch = 7").await.expect("the database works");
        let commit = async {
            let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
            while third.query(waiting, &[]).await.expect("the database works").is_empty() {
                tokio::time::sleep(limits::CLUSTER_POLL_PAUSE).await;
            }
            first.define("COMMIT").await.expect("the database works");
        };
        tokio::join!(second.execute("UPDATE mailmill_lease SET epoch = epoch + 1", &[]), commit).0
    });
    assert_eq!(changed.expect("the statement is repeated"), StoreName::ALL.len());
    assert_eq!(server.query(&url, "SELECT max(epoch) FROM mailmill_lease").trim(), "8");
}

/// Returns the statements in the sources, as they are sent to the database.
fn statements() -> Vec<String> {
    let line_end = Regex::new(r"\\\n\s*").expect("the pattern is valid");
    let literals = SOURCES.iter().flat_map(|source| source.split('"').skip(1).step_by(2));
    let texts = literals.map(|literal| line_end.replace_all(literal, "").into_owned());
    texts.filter(|text| VERBS.iter().any(|verb| text.trim_start().starts_with(verb))).collect()
}

/// A proxy for a database. It makes each statement fail once, as if the statement conflicted with another transaction.
struct Conflicting {
    address: SocketAddr,
    /// The statements that have already failed.
    statements: Arc<Mutex<BTreeSet<String>>>,
}

impl Conflicting {
    fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let statements: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let own = Arc::clone(&statements);
        spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(target).expect("the database accepts connections");
                // The proxy writes the messages of a statement one by one. Without `TCP_NODELAY`, the system would delay some of them.
                for socket in [&client, &server] {
                    socket.set_nodelay(true).expect("the socket is open");
                }
                let (client, server, own) = (Arc::new(client), Arc::new(server), Arc::clone(&own));
                let (to_client, from_server) = (client.clone(), server.clone());
                spawn(move || {
                    // Ignore the result: the end of the connection ends the copy, with or without an error.
                    let _ = io::copy(&mut &*from_server, &mut &*to_client);
                    let _ = to_client.shutdown(std::net::Shutdown::Both);
                });
                spawn(move || {
                    let _ = forward(&client, &server, &own);
                    let _ = server.shutdown(std::net::Shutdown::Both);
                });
            }
        });
        Self { address, statements }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().name("conflicts".into()).spawn(work).expect("a thread");
}

/// Forwards the messages of a client to the database until the connection ends, but sends `CONFLICT` instead of a statement that it sees
/// for the first time. A statement is either one message (`Q`), or several messages that end with a request to synchronize (`S`).
fn forward(mut client: &TcpStream, server: &TcpStream, statements: &Mutex<BTreeSet<String>>) -> io::Result<()> {
    // The first message of a connection has no type byte.
    send(server, &[], &receive(client)?)?;
    let mut is_dropped = false;
    loop {
        let mut kind = [0];
        client.read_exact(&mut kind)?;
        let content = receive(client)?;
        let mut texts = content.split(|byte| *byte == 0);
        let statement = match &kind {
            b"Q" => texts.next(),
            // A `Parse` message contains the name of the prepared statement, and then its text.
            b"P" => texts.nth(1),
            _ => None,
        };
        let is_new = |text: &[u8]| {
            let text = String::from_utf8_lossy(text).into_owned();
            statements.lock().unwrap_or_else(PoisonError::into_inner).insert(text)
        };
        if statement.is_some_and(is_new) {
            send(server, b"Q", CONFLICT)?;
            is_dropped = true;
        }
        if !is_dropped {
            send(server, &kind, &content)?;
        }
        is_dropped &= !matches!(&kind, b"Q" | b"S");
    }
}

fn receive(mut client: &TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    client.read_exact(&mut length)?;
    // The length includes its own four bytes.
    let mut content = vec![0; (u32::from_be_bytes(length) as usize).saturating_sub(4)];
    client.read_exact(&mut content)?;
    Ok(content)
}

fn send(mut server: &TcpStream, kind: &[u8], content: &[u8]) -> io::Result<()> {
    let length = (content.len() as u32 + 4).to_be_bytes();
    server.write_all(&[kind, length.as_slice(), content].concat())
}

#[test]
fn every_statement_is_repeated_after_a_conflict() {
    let Some(server) = server() else { return };
    let database = Conflicting::start(server.address());
    let cluster = Cluster::init_at(server.database().replace(&server.address().to_string(), &database.address.to_string()));
    server.query(
        &cluster.url,
        "ALTER TABLE mailmill_cluster DROP COLUMN secret_check, DROP COLUMN loss, DROP COLUMN losses_accepted",
    );
    let one = cluster.node("one");
    one.lead();
    one.put(1).expect("the leader accepts writes");
    let (shared, runtime) = shared_of(&cluster.url);
    let mut log = SharedLog::new(StoreName::Live, shared.database.clone());
    assert_eq!(append(&mut log, &runtime, (1, 0), b"late"), Ok(Appended::Fenced));
    let done = runtime.block_on(async {
        let mut link = Link::new(shared.database.clone());
        schema::check_secret(&mut link, "secret").await?;
        lease::clock_offset_ms(&mut link, &SystemClock).await?;
        lease::renew(&mut link, "none", 0, LEASE).await?;
        lease::release(&mut link, "none", 0).await?;
        snapshots::take(&mut link, StoreName::Live, one.live().read()).await?;
        snapshots::truncate(&mut link, StoreName::Live).await?;
        // The record exists, as after an append whose response was lost.
        let (epoch, (at, body)) = (lease::read(&mut link).await?.epoch, log.after(0).await?.swap_remove(0));
        assert_eq!(log.append(at, epoch, &body, || true).await, Ok(Appended::Done));
        snapshots::status(&mut link, StoreName::Live).await
    });
    assert_eq!(done.expect("the database works").snapshots, [0, 1]);
    let two = cluster.node("two");
    assert_equal(&[&one, &two]);
    one.stop();
    two.stop();
    let reported = runtime.block_on(async {
        let mut link = Link::new(shared.database.clone());
        lease::report_loss(&mut link, "none", 0, [u64::MAX >> 1; 3]).await?;
        lease::accept_loss(&mut link).await
    });
    assert_eq!(reported, Ok(true));
    let (all, sent) = (statements(), database.statements.lock().unwrap_or_else(PoisonError::into_inner));
    let untested: Vec<&String> = all.iter().filter(|one| !sent.iter().any(|text| text.contains(one.as_str()))).collect();
    assert!(all.len() > 20 && untested.is_empty(), "{} statements; without a conflict: {untested:#?}", all.len());
}
