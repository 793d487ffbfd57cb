//! A DNS server on loopback, for tests: it answers over UDP and TCP from the records that a test adds, and fails if a test requests it.
//!
//! It uses none of the product's code, so that the tests of the shipped binary can use it too.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

const A: u16 = 1;
const CNAME: u16 = 5;
const SOA: u16 = 6;
const PTR: u16 = 12;
const MX: u16 = 15;
const TXT: u16 = 16;
const AAAA: u16 = 28;
/// The maximum size of a UDP response in bytes, as in current resolvers. Larger responses require TCP.
const UDP_BYTES_MAX: usize = 1_232;
const SECONDS_TO_LIVE: u32 = 300;

/// The records by name: the type and the data of each record.
type Zone = BTreeMap<String, Vec<(u16, Vec<u8>)>>;

#[derive(Default)]
struct State {
    zone: Mutex<Zone>,
    fails: AtomicBool,
    asked: AtomicUsize,
    stops: AtomicBool,
}

/// A running DNS server, which stops when it is dropped.
pub struct NameServer {
    pub address: SocketAddr,
    state: Arc<State>,
    threads: Vec<JoinHandle<()>>,
}

impl NameServer {
    pub fn start() -> Self {
        let (udp, tcp) = sockets();
        let address = udp.local_addr().expect("bound");
        let state = Arc::new(State::default());
        udp.set_read_timeout(Some(Duration::from_millis(50))).expect("a time-out");
        let (by_udp, by_tcp) = (state.clone(), state.clone());
        let threads = vec![
            Builder::new().name("name server".into()).spawn(move || serve_udp(&udp, &by_udp)).expect("a thread"),
            Builder::new().name("name server tcp".into()).spawn(move || serve_tcp(&tcp, &by_tcp)).expect("a thread"),
        ];
        Self { address, state, threads }
    }

    pub fn txt(&self, name: &str, text: &str) -> &Self {
        let parts = text.as_bytes().chunks(255).flat_map(|part| {
            let length = u8::try_from(part.len()).expect("parts of at most 255 bytes");
            std::iter::once(length).chain(part.iter().copied())
        });
        self.add(name, TXT, parts.collect())
    }

    pub fn mx(&self, name: &str, preference: u16, host: &str) -> &Self {
        self.add(name, MX, [preference.to_be_bytes().as_slice(), &wire_name(host)].concat())
    }

    pub fn cname(&self, name: &str, target: &str) -> &Self {
        self.add(name, CNAME, wire_name(target))
    }

    /// Adds an A or AAAA record.
    pub fn address(&self, name: &str, address: IpAddr) -> &Self {
        match address {
            IpAddr::V4(address) => self.add(name, A, address.octets().to_vec()),
            IpAddr::V6(address) => self.add(name, AAAA, address.octets().to_vec()),
        }
    }

    pub fn pointer(&self, address: IpAddr, name: &str) -> &Self {
        let IpAddr::V4(address) = address else { panic!("only IPv4 here") };
        let [a, b, c, d] = address.octets();
        self.add(&format!("{d}.{c}.{b}.{a}.in-addr.arpa"), PTR, wire_name(name))
    }

    pub fn remove(&self, name: &str) -> &Self {
        self.state.zone.lock().expect("no panic while held").remove(&name.to_ascii_lowercase());
        self
    }

    /// Sets whether the server responds to every query with SERVFAIL.
    pub fn fail(&self, fails: bool) -> &Self {
        self.state.fails.store(fails, Ordering::SeqCst);
        self
    }

    pub fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }

    fn add(&self, name: &str, kind: u16, data: Vec<u8>) -> &Self {
        let mut zone = self.state.zone.lock().expect("no panic while held");
        zone.entry(name.to_ascii_lowercase()).or_default().push((kind, data));
        drop(zone);
        self
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.state.stops.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        for thread in self.threads.drain(..) {
            thread.join().expect("the name server does not panic");
        }
    }
}

/// Returns a UDP socket and a TCP listener on the same port.
fn sockets() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().expect("bound")) {
            return (udp, tcp);
        }
    }
    panic!("no port is free for both UDP and TCP")
}

fn serve_udp(socket: &UdpSocket, state: &State) {
    let mut question = [0; 4_096];
    while !state.stops.load(Ordering::SeqCst) {
        let Ok((length, from)) = socket.recv_from(&mut question) else { continue };
        if let Some(answer) = answer(&question[..length], state, UDP_BYTES_MAX) {
            drop(socket.send_to(&answer, from));
        }
    }
}

fn serve_tcp(listener: &TcpListener, state: &State) {
    for stream in listener.incoming() {
        if state.stops.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        drop(stream.set_read_timeout(Some(Duration::from_millis(500))));
        while let Ok(question) = read_framed(&mut stream) {
            let Some(answer) = answer(&question, state, usize::from(u16::MAX)) else { break };
            let length = u16::try_from(answer.len()).expect("within the limit");
            if stream.write_all(&[length.to_be_bytes().as_slice(), &answer].concat()).is_err() {
                break;
            }
        }
    }
}

fn read_framed(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut question)?;
    Ok(question)
}

/// Returns the response to a query; `None` if the bytes are not a valid query.
fn answer(question: &[u8], state: &State, bytes_max: usize) -> Option<Vec<u8>> {
    state.asked.fetch_add(1, Ordering::SeqCst);
    let (name, end) = read_name(question, 12)?;
    let kind = u16::from_be_bytes([*question.get(end)?, *question.get(end + 1)?]);
    let asked = question.get(12..end + 4)?;
    let (records, exists) = find(&state.zone.lock().expect("no panic while held"), &name, kind);
    let code = match (state.fails.load(Ordering::SeqCst), exists) {
        (true, _) => 2,
        (false, true) => 0,
        (false, false) => 3,
    };
    let records = if code == 2 { Vec::new() } else { records };
    let written: Vec<u8> = records.iter().flat_map(|(name, kind, data)| record(name, *kind, data)).collect();
    let is_cut = 12 + asked.len() + written.len() > bytes_max;
    let (count, written) = if is_cut { (0, Vec::new()) } else { (records.len() as u16, written) };
    // If there are no matching records, the authority section states how long their absence may be cached.
    let authority = if count == 0 && code != 2 && !is_cut { record(&name, SOA, &start_of_authority()) } else { Vec::new() };
    let mut answer = question.get(..2)?.to_vec();
    answer.extend_from_slice(&[0x85 | if is_cut { 0x02 } else { 0 }, 0x80 | code]);
    for number in [1, count, u16::from(!authority.is_empty()), 0] {
        answer.extend_from_slice(&number.to_be_bytes());
    }
    answer.extend_from_slice(asked);
    answer.extend_from_slice(&written);
    answer.extend_from_slice(&authority);
    Some(answer)
}

/// Returns the records of this type for a name, following CNAME records, and whether the name exists.
fn find(zone: &Zone, name: &str, kind: u16) -> (Vec<(String, u16, Vec<u8>)>, bool) {
    let mut found = Vec::new();
    let mut name = name.to_owned();
    for _ in 0..8 {
        let Some(records) = zone.get(&name) else {
            // A name without records exists if it has subdomains.
            let below = format!(".{name}");
            return (found, zone.keys().any(|other| other.ends_with(&below)));
        };
        let matching: Vec<_> = records.iter().filter(|(other, _)| *other == kind).collect();
        if !matching.is_empty() {
            found.extend(matching.into_iter().map(|(kind, data)| (name.clone(), *kind, data.clone())));
            return (found, true);
        }
        let Some((_, target)) = records.iter().find(|(other, _)| *other == CNAME) else { return (found, true) };
        found.push((name.clone(), CNAME, target.clone()));
        name = read_name(target, 0).expect("a name that was written here").0;
    }
    (found, true)
}

fn record(name: &str, kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("short records");
    let head = [kind.to_be_bytes(), 1_u16.to_be_bytes()].concat();
    [wire_name(name), head, SECONDS_TO_LIVE.to_be_bytes().to_vec(), length.to_be_bytes().to_vec(), data.to_vec()].concat()
}

fn start_of_authority() -> Vec<u8> {
    let mut data = [wire_name("ns.test"), wire_name("admin.test")].concat();
    for number in [1_u32, 3_600, 600, 86_400, SECONDS_TO_LIVE] {
        data.extend_from_slice(&number.to_be_bytes());
    }
    data
}

fn wire_name(name: &str) -> Vec<u8> {
    let mut wire = Vec::new();
    for label in name.split('.').filter(|label| !label.is_empty()) {
        wire.push(u8::try_from(label.len()).expect("labels are short"));
        wire.extend_from_slice(label.as_bytes());
    }
    wire.push(0);
    wire
}

/// Returns the name at `at` in lowercase, and the position after it. Neither queries nor this server's records use compression
/// pointers.
fn read_name(bytes: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        if length == 0 {
            return Some((labels.join("."), at));
        }
        labels.push(String::from_utf8_lossy(bytes.get(at..at + length)?).to_ascii_lowercase());
        at += length;
    }
}
