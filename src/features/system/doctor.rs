//! Checks for problems that prevent an installation's mail from arriving, in the order in which the problems should be fixed.
//!
//! The checks send no mail and change no data. The running process checks its own state, such as its sockets and its certificate.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use crate::engine::api::{Engine, Failure};
use crate::engine::mail::dns::{DnsLookupError, MaxAge};
use crate::engine::mail::transport::hello_name;
use crate::engine::store::space::Space;
use crate::engine::store::{Error, Store};
use crate::features::system::continuous;
use crate::features::{domains, mail_feedback, sending};
use crate::vocab::environment::Environment;
use crate::vocab::finding::Finding;
use crate::vocab::limits::{DOCTOR_DISK_FREE_BYTES_MIN, DOCTOR_DISK_FREE_BYTES_WANTED};
use crate::vocab::mail_services::{MailService, MailServiceInfo};

/// Runs all checks; returns the damaged data files, followed by the findings of the checks in order.
pub async fn run(engine: &Arc<Engine>) -> Result<Vec<Finding>, Failure> {
    let checked = check(engine).await;
    // The checks read the data, so they may be the first to find damage.
    let mut findings = damage(engine);
    match checked {
        // The check failed because it needs a damaged file, which has already been reported.
        Err(_) if !findings.is_empty() => {}
        checked => findings.extend(checked?),
    }
    Ok(findings)
}

/// Reports the data files that have been found damaged since the service started.
fn damage(engine: &Engine) -> Vec<Finding> {
    let finding = |store: &Arc<Store>| {
        let damaged = Error::Damaged { file: store.file().to_path_buf(), found: store.damage()? };
        let remedy = "Stop the service, restore the newest backup into a new folder, and start the service with the new folder. Keep this \
                      folder until the restored service works. Then fix any other problems in this report.";
        Some(Finding::problem("data", damaged.to_string(), remedy))
    };
    engine.stores().into_iter().filter_map(finding).collect()
}

async fn check(engine: &Arc<Engine>) -> Result<Vec<Finding>, Failure> {
    let folder = engine.control.file().parent().map(Path::to_path_buf).unwrap_or_default();
    let mut findings: Vec<Finding> = ports(engine.listening()).into_iter().collect();
    findings.extend([key(engine), clock(), disk(&folder, engine.control.space())]);
    findings.extend(hold(engine));
    findings.extend(continuous::findings(engine).await?);
    findings.push(confinement(engine).await);
    findings.extend(transport(engine).await);
    findings.extend(feedback(engine)?);
    findings.push(reverse_dns(engine).await);
    findings.extend(sending_domains(engine).await?);
    Ok(findings)
}

/// Reports the addresses on which the service listens; `None` if there are none.
fn ports(listening: &[SocketAddr]) -> Option<Finding> {
    let shown: Vec<String> = listening.iter().map(ToString::to_string).collect();
    (!shown.is_empty()).then(|| Finding::good("ports", format!("the service is running and listens on {}", shown.join(", "))))
}

/// Checks whether the master key will be found at the next start. When the service started, it verified that the key decrypts the data.
fn key(engine: &Engine) -> Finding {
    const SUBJECT: &str = "master key";
    match engine.check_key() {
        Ok(()) => Finding::good(
            SUBJECT,
            "the key belongs to this installation; keep a copy of it elsewhere, because backups do not contain it",
        ),
        Err(trouble) => Finding::problem(SUBJECT, trouble.to_string(), trouble.remedy()),
    }
}

/// Checks whether sending is on hold.
fn hold(engine: &Engine) -> Option<Finding> {
    let hold = engine.hold.current()?;
    let said = format!("sending has been on hold since {}: {}", hold.since, hold.cause);
    let remedy = "Run `mailmill resume` with this data folder (--data) to see what is waiting and what may be sent twice; add --yes to \
        resume.";
    Some(Finding::warning("hold", said, remedy))
}

/// Checks whether the system synchronizes its clock, which signatures, tokens and schedules depend on.
fn clock() -> Finding {
    // SAFETY: all fields of the structure are numbers, so zero is valid for them. Because no mode is set, the call only fills the
    // structure.
    let state = unsafe {
        let mut state: libc::timex = std::mem::zeroed();
        libc::adjtimex(&raw mut state)
    };
    match state {
        libc::TIME_ERROR => Finding::warning(
            "clock",
            "the system clock is not synchronized",
            "Install a time service, such as chrony or systemd-timesyncd: signatures and schedules depend on the clock.",
        ),
        state if state < 0 => Finding::skipped("clock", "the system does not report whether its clock is synchronized"),
        _ => Finding::good("clock", "the system synchronizes its clock"),
    }
}

fn disk(folder: &Path, space: &Space) -> Finding {
    let disk = space.status();
    let Some(free) = disk.free else { return Finding::skipped("disk", "the system does not report how much disk space is free") };
    let said = format!("{:.1} GB are free on the disk that contains {}", free as f64 / 1e9, folder.display());
    let remedy =
        "Free up space, or move the data folder to a larger disk (stop the service, copy the folder, start with --data).";
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

/// Asks a worker process how the processes for untrusted HTML and images are confined, and checks whether Chromium uses its sandbox.
async fn confinement(engine: &Engine) -> Finding {
    const SUBJECT: &str = "workers";
    let remedy = "Run Mailmill on Linux 5.13 or newer, allow containers to use seccomp, Landlock and user namespaces, and do not run \
                  Chromium as root.";
    let names = |layers: Vec<String>| layers.join(", ");
    match engine.pixels.confinement().await {
        Ok(None) => Finding::skipped(SUBJECT, "this process renders without worker processes"),
        Err(fault) => {
            let remedy = format!(
                "{remedy} rendering.require_confinement = false lets workers run unconfined; use this setting only for trusted input."
            );
            Finding::problem(SUBJECT, fault.to_string(), remedy)
        }
        Ok(Some(found)) => {
            let on = names(found.on().map(|layer| layer.name.clone()).collect());
            let off = names(found.off().map(ToString::to_string).collect());
            match (found.missing(), off.is_empty()) {
                (Some(_), _) => Finding::problem(
                    SUBJECT,
                    format!("a required layer of the confinement is inactive; inactive layers: {off}"),
                    remedy,
                ),
                (None, false) => Finding::warning(
                    SUBJECT,
                    format!("worker processes are only partly confined; active layers: {on}; inactive layers: {off}"),
                    remedy,
                ),
                (None, true) => Finding::good(SUBJECT, format!("worker processes are confined; active layers: {on}")),
            }
        }
    }
}

/// Checks whether mail can be sent: connects to each relay and signs in, or connects to a well-known server for direct delivery.
async fn transport(engine: &Arc<Engine>) -> Vec<Finding> {
    if engine.settings.mail.development {
        let said = "live mail stays in the built-in inbox because mail.development is on";
        let remedy = "Set [mail] relay, and development = false, before you send to real recipients.";
        return vec![Finding::warning("transport", said, remedy)];
    }
    let probes = sending::probe(engine).await;
    if probes.is_empty() {
        let remedy = "Set [mail] relay = [\"smtp://user:password@host:587\"], or direct = true if outgoing port 25 is open. Setup → Mail \
                      services shows the host and user name, and where to find the password, for Amazon SES, Postmark, Mailgun, SendGrid, \
                      Brevo and Resend.";
        return vec![Finding::problem("transport", "no transport is configured, so live sends are refused", remedy)];
    }
    let finding_of = |(server, result): (String, Result<(), String>)| match result {
        Ok(()) => Finding::good("transport", format!("{server} accepts mail from this machine")),
        Err(why) => Finding::problem("transport", format!("{server}: {why}"), relay_remedy(&server)),
    };
    probes.into_iter().map(finding_of).collect()
}

/// Returns what to check if a server does not accept mail. For a mail service's relay, this includes the settings that the service
/// documents.
fn relay_remedy(server: &str) -> String {
    let Some(service) = MailService::of_host(server) else {
        return "Check the host, port, user name and password in [mail] relay, and make sure that the network allows connections \
            to the relay's port or, for direct delivery, to port 25."
            .to_owned();
    };
    let MailServiceInfo { name, port, user, password, relay_note, .. } = service.info();
    format!(
        "Check the user name and password in [mail] relay, and make sure that the network allows port {port}. For {name}, the user name is \
         {user}, and the password is {password}. Note: {relay_note}."
    )
}

/// Checks whether the mail services that operate the relays report bounces and complaints.
fn feedback(engine: &Engine) -> Result<Vec<Finding>, Failure> {
    const SUBJECT: &str = "mail services";
    let services = sending::relay_services(&engine.settings);
    let silent = mail_feedback::silent(engine, &services)?;
    let finding = |service: &MailService| {
        let name = service.info().name;
        if !silent.contains(service) {
            return Finding::good(SUBJECT, format!("a webhook receives the events of {name}"));
        }
        Finding::warning(
            SUBJECT,
            format!("{name} relays mail, but no webhook receives its bounces and complaints"),
            format!(
                "Add {name} under Setup → Mail services in the live environment, or with POST /v1/mail-services and a live key."
            ),
        )
    };
    Ok(services.iter().map(finding).collect())
}

/// Checks reverse DNS: receiving servers verify that the sending IP address resolves to the name in the SMTP greeting, and that this name
/// resolves to the IP address.
async fn reverse_dns(engine: &Engine) -> Finding {
    const SUBJECT: &str = "reverse dns";
    if !engine.settings.mail.direct {
        return Finding::skipped(SUBJECT, "reverse DNS matters only for direct delivery");
    }
    let name = hello_name(&engine.settings);
    let remedy = |what: &str| format!("{what} Or set [mail] hello_name to this machine's host name.");
    let addresses = match engine.dns.addresses(&name, MaxAge::Fresh).await {
        Ok(addresses) if !addresses.is_empty() => addresses,
        Err(DnsLookupError::Unreachable(why)) => return Finding::skipped(SUBJECT, format!("the DNS lookup failed: {why}")),
        _ => {
            let remedy = remedy(&format!("Add an A record for {name} with this machine's public address."));
            return Finding::problem(SUBJECT, format!("{name}, the name in the SMTP greeting, has no address"), remedy);
        }
    };
    let mut mismatched: Vec<IpAddr> = Vec::new();
    for address in addresses {
        let names = engine.dns.names(address, MaxAge::Fresh).await.unwrap_or_default();
        if !names.iter().any(|other| other.trim_end_matches('.').eq_ignore_ascii_case(&name)) {
            mismatched.push(address);
        }
    }
    match mismatched.first() {
        None => Finding::good(SUBJECT, format!("{name} and its address resolve to each other")),
        Some(address) => Finding::problem(
            SUBJECT,
            format!("no reverse DNS record that maps {address} to {name} was found"),
            remedy(&format!("Ask your hosting provider to set the reverse DNS (PTR) of {address} to {name}.")),
        ),
    }
}

async fn sending_domains(engine: &Arc<Engine>) -> Result<Vec<Finding>, Failure> {
    let reports = domains::check_all(engine, Environment::Live).await?;
    if reports.is_empty() {
        let remedy =
            "Add the domain of your From addresses: use POST /v1/domains with a live key, or open Domains in the dashboard.";
        return Ok(vec![Finding::warning("domains", "no sending domain for live mail has been added", remedy)]);
    }
    let finding_of = |domain: domains::DomainReport| {
        let missing: Vec<String> =
            domain.missing.iter().map(|record| format!("{} {} ({})", record.kind, record.name, record.status)).collect();
        match (domain.is_verified, missing.is_empty()) {
            (true, true) => Finding::good(domain.name, "the domain is verified, and its DNS records are correct"),
            (true, false) => Finding::warning(
                domain.name,
                format!("the domain is verified but has problems: {}", missing.join(", ")),
                "At your DNS provider, add or correct the records that GET /v1/domains/{domain} lists.",
            ),
            (false, _) => Finding::problem(
                domain.name,
                format!("the domain is not verified: {}", missing.join(", ")),
                "At your DNS provider, add or correct the records that GET /v1/domains/{domain} lists, then repeat this check.",
            ),
        }
    };
    Ok(reports.into_iter().map(finding_of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_for_a_known_relay_says_where_its_password_is() {
        let known = relay_remedy("email-smtp.eu-west-1.amazonaws.com");
        assert!(known.contains("SMTP settings in the SES console") && known.contains("the sending rate and quota"), "{known}");
        assert!(relay_remedy("smtp.postmarkapp.com").contains("the user name is the server API token"));
        for other in ["mail.example.com", "2001:db8::1"] {
            assert!(relay_remedy(other).starts_with("Check the host, port, user"), "{other}");
        }
    }
}
