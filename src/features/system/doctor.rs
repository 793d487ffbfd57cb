//! What keeps an installation from sending mail that arrives, looked for in the order in which it has to be put right.
//!
//! Nothing is sent and nothing is changed. What only the process around knows (its sockets, its certificate) is looked for there.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use crate::engine::api::{Engine, Failure};
use crate::engine::mail::dns::{DnsLookupError, MaxAge};
use crate::engine::mail::transport::hello_name;
use crate::engine::store::space::Space;
use crate::features::{domains, sending};
use crate::vocab::environment::Environment;
use crate::vocab::finding::Finding;
use crate::vocab::limits::{DOCTOR_DISK_FREE_BYTES_MIN, DOCTOR_DISK_FREE_BYTES_WANTED};

/// Everything, the most urgent first.
pub async fn run(engine: &Arc<Engine>) -> Result<Vec<Finding>, Failure> {
    let folder = engine.control.file().parent().map(Path::to_path_buf).unwrap_or_default();
    let mut findings: Vec<Finding> = ports(engine.listening()).into_iter().collect();
    findings.extend([key(engine), clock(), disk(&folder, engine.control.space())]);
    findings.extend(hold(engine));
    findings.push(confinement(engine).await);
    findings.extend(transport(engine).await);
    findings.push(reverse_dns(engine).await);
    findings.extend(sending_domains(engine).await?);
    Ok(findings)
}

/// Where the service runs, if it does.
fn ports(listening: &[SocketAddr]) -> Option<Finding> {
    let shown: Vec<String> = listening.iter().map(ToString::to_string).collect();
    (!shown.is_empty()).then(|| Finding::good("ports", format!("the service runs, on {}", shown.join(", "))))
}

/// Whether the next start will find the master key. That it opens the data was verified at this one.
fn key(engine: &Engine) -> Finding {
    match engine.check_key() {
        Ok(()) => Finding::good("master key", "it is the key of this installation; keep a copy elsewhere, it is in no backup"),
        Err(trouble) => Finding::problem(
            "master key",
            trouble.to_string(),
            "Put your copy of the key back before the service stops: Mailmill does not start without it.",
        ),
    }
}

/// Whether sending waits for a decision.
fn hold(engine: &Engine) -> Option<Finding> {
    let hold = engine.hold.current()?;
    let said = format!("sending is on hold since {}: {}", hold.since, hold.cause);
    let remedy = "Run `mailmill resume` to see what waits and may arrive twice, then `mailmill resume --yes` to send it.";
    Some(Finding::warning("hold", said, remedy))
}

/// Whether the system keeps its clock right: signatures, tokens and schedules go by it.
fn clock() -> Finding {
    // SAFETY: a structure of numbers, for which zero is a value, and which the call only fills: no mode is set.
    let state = unsafe {
        let mut state: libc::timex = std::mem::zeroed();
        libc::adjtimex(&raw mut state)
    };
    match state {
        libc::TIME_ERROR => Finding::warning(
            "clock",
            "nobody keeps the system's clock right",
            "Install a time service, like chrony or systemd-timesyncd: signatures and schedules go by the clock.",
        ),
        state if state < 0 => Finding::skipped("clock", "the system does not tell whether its clock is kept right"),
        _ => Finding::good("clock", "kept right by the system"),
    }
}

fn disk(folder: &Path, space: &Space) -> Finding {
    let disk = space.status();
    let Some(free) = disk.free else { return Finding::skipped("disk", "the system does not tell how much is free") };
    let said = format!("{:.1} GB free for {}", free as f64 / 1e9, folder.display());
    let remedy = "Make room, or move the data folder to a larger disk (stop, copy the folder, start with --data).";
    if disk.is_low {
        let said = format!("the service is read-only: {said}, and data.free_mib_min is {} MiB", disk.free_min >> 20);
        return Finding::problem("disk", said, format!("{remedy} Mailmill then accepts writes again."));
    }
    match free {
        free if free < DOCTOR_DISK_FREE_BYTES_MIN => Finding::problem("disk", said, remedy),
        free if free < DOCTOR_DISK_FREE_BYTES_WANTED => Finding::warning("disk", said, remedy),
        _ => Finding::good("disk", said),
    }
}

/// What holds the processes that read foreign HTML and images, as one of them finds it.
async fn confinement(engine: &Engine) -> Finding {
    const SUBJECT: &str = "workers";
    let remedy = "Run on Linux 5.13 or newer, and let containers use seccomp, Landlock and user namespaces.";
    let names = |layers: Vec<String>| layers.join(", ");
    match engine.pixels.confinement().await {
        Ok(None) => Finding::skipped(SUBJECT, "this process draws by itself"),
        Err(fault) => {
            let remedy =
                format!("{remedy} rendering.require_confinement = false runs them unconfined: only for input that you trust.");
            Finding::problem(SUBJECT, fault.to_string(), remedy)
        }
        Ok(Some(found)) => {
            let on = names(found.on().map(|layer| layer.name.clone()).collect());
            let off = names(found.off().map(ToString::to_string).collect());
            match (found.missing(), off.is_empty()) {
                (Some(_), _) => Finding::problem(SUBJECT, format!("running without required confinement: {off}"), remedy),
                (None, false) => Finding::warning(SUBJECT, format!("confined by {on}; off: {off}"), remedy),
                (None, true) => Finding::good(SUBJECT, format!("confined by {on}")),
            }
        }
    }
}

/// Whether mail can leave: each relay is greeted and signed in to, or a well-known server of direct delivery.
async fn transport(engine: &Arc<Engine>) -> Vec<Finding> {
    if engine.settings.mail.development {
        let said = "live mail stays in the built-in inbox: mail.development is on";
        let remedy = "Set [mail] relay, and development = false, before real people are written to.";
        return vec![Finding::warning("transport", said, remedy)];
    }
    let probes = sending::probe(engine).await;
    if probes.is_empty() {
        let remedy = "Set [mail] relay = [\"smtp://user:password@host:587\"], or direct = true where port 25 is open.";
        return vec![Finding::problem("transport", "none is set: live sends are refused", remedy)];
    }
    let finding_of = |(server, result): (String, Result<(), String>)| match result {
        Ok(()) => Finding::good("transport", format!("{server} takes mail from here")),
        Err(why) => {
            let remedy =
                "Check host, port, user and password in [mail] relay, and that the network lets port 25 (direct) or 587 out.";
            Finding::problem("transport", format!("{server}: {why}"), remedy)
        }
    };
    probes.into_iter().map(finding_of).collect()
}

/// Receivers ask whether the address that greets them has the name that it greets with, and the name the address.
async fn reverse_dns(engine: &Engine) -> Finding {
    const SUBJECT: &str = "reverse dns";
    if !engine.settings.mail.direct {
        return Finding::skipped(SUBJECT, "matters for direct delivery only");
    }
    let name = hello_name(&engine.settings);
    let remedy = |what: &str| format!("{what} Or set [mail] hello_name to the name that this machine has.");
    let addresses = match engine.dns.addresses(&name, MaxAge::Fresh).await {
        Ok(addresses) if !addresses.is_empty() => addresses,
        Err(DnsLookupError::Unreachable(why)) => return Finding::skipped(SUBJECT, format!("the DNS cannot be asked: {why}")),
        _ => {
            let remedy = remedy(&format!("Add an A record for {name} with this machine's public address."));
            return Finding::problem(SUBJECT, format!("{name}, with which servers are greeted, has no address"), remedy);
        }
    };
    let mut strangers: Vec<IpAddr> = Vec::new();
    for address in addresses {
        let names = engine.dns.names(address, MaxAge::Fresh).await.unwrap_or_default();
        if !names.iter().any(|other| other.trim_end_matches('.').eq_ignore_ascii_case(&name)) {
            strangers.push(address);
        }
    }
    match strangers.first() {
        None => Finding::good(SUBJECT, format!("{name} and its address name each other")),
        Some(address) => Finding::problem(
            SUBJECT,
            format!("{address} does not name {name} in return"),
            remedy(&format!("Ask your hoster to set the reverse DNS (PTR) of {address} to {name}.")),
        ),
    }
}

async fn sending_domains(engine: &Arc<Engine>) -> Result<Vec<Finding>, Failure> {
    let reports = domains::check_all(engine, Environment::Live).await?;
    if reports.is_empty() {
        let remedy = "Add the domain of your From addresses: POST /v1/domains with a live key, or Domains in the dashboard.";
        return Ok(vec![Finding::warning("domains", "there is no sending domain for live mail", remedy)]);
    }
    let finding_of = |domain: domains::DomainReport| {
        let missing: Vec<String> =
            domain.missing.iter().map(|record| format!("{} {} ({})", record.kind, record.name, record.status)).collect();
        match (domain.is_verified, missing.is_empty()) {
            (true, true) => Finding::good(domain.name, "verified: DKIM, SPF, DMARC and return path are there"),
            (true, false) => Finding::warning(
                domain.name,
                format!("verified, but not as it should be: {}", missing.join(", ")),
                "Paste the records that GET /v1/domains/{domain} lists; mail arrives better with all of them.",
            ),
            (false, _) => Finding::problem(
                domain.name,
                format!("not verified: {}", missing.join(", ")),
                "Paste the records that GET /v1/domains/{domain} lists at your DNS provider, then run this again.",
            ),
        }
    };
    Ok(reports.into_iter().map(finding_of).collect())
}
