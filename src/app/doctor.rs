//! The checks of `mailmill doctor` that do not need the engine: the data folder, the ports, the certificate, the cluster and the
//! language models.

use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use url::Url;

use super::folder::admin_socket;
use crate::base::clock::{Clock, SystemClock};
use crate::engine::store::cluster::{self, Database, Link};
use crate::surfaces::cli::is_served;
use crate::surfaces::http::certificate_trouble;
use crate::vocab::finding::Finding;
use crate::vocab::limits;
use crate::vocab::settings::{Cluster, Settings};

/// Runs the checks. `config` is the settings file.
pub fn check(data: &Path, config: Option<&Path>, settings: &Settings) -> Vec<Finding> {
    let mut findings = vec![folder(data)];
    findings.extend(ports(data, settings));
    findings.push(tls(settings));
    findings.push(models(settings));
    findings.extend(settings_file(config, settings));
    findings.extend(cluster(settings));
    findings
}

/// Lists the configured language models without contacting them. `mailmill models test` checks whether their endpoints respond.
fn models(settings: &Settings) -> Finding {
    const SUBJECT: &str = "models";
    let enabled = settings.models.iter().filter(|(_, model)| model.protocol.is_some());
    let names: Vec<&str> = enabled.clone().map(|(name, _)| name.as_str()).collect();
    let limited = &settings.language_model;
    let has_limit = limited.monthly_cost_max.get().or(limited.monthly_cost_max_per_brand.get()).is_some();
    let unpriced =
        enabled.filter(|(_, model)| model.input_price == 0.0 && model.output_price == 0.0).map(|(name, _)| name.as_str());
    let unpriced: Vec<&str> = unpriced.collect();
    if names.is_empty() {
        return Finding::good(SUBJECT, "the built-in composer writes all emails");
    }
    if has_limit && !unpriced.is_empty() {
        return Finding::warning(
            SUBJECT,
            format!("the monthly cost limit does not apply to models without prices: {}", unpriced.join(", ")),
            "Set input_price and output_price for each model that is not free.",
        );
    }
    Finding::good(SUBJECT, format!("enabled: {}; test each one with `mailmill models test`", names.join(", ")))
}

/// Checks whether this machine can reach the cluster's database, whether their clocks agree, and whether the cluster has a leader.
fn cluster(settings: &Settings) -> Option<Finding> {
    const SUBJECT: &str = "cluster";
    let Cluster { database: Some(url), database_authorities, .. } = &settings.cluster else { return None };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| cluster::Error::Local(error.to_string()));
    let found = runtime.and_then(|runtime| {
        let database = Database::new(url.expose(), database_authorities.as_deref(), runtime.handle().clone())?;
        runtime.block_on(async {
            let mut link = Link::new(database);
            cluster::read_schema(&mut link).await?;
            let ahead_ms = cluster::clock_offset_ms(&mut link, &SystemClock).await?;
            Ok::<_, cluster::Error>((cluster::read_lease(&mut link).await?, ahead_ms))
        })
    });
    Some(match found {
        Ok((holder, _)) if !holder.loss.is_empty() => Finding::problem(
            SUBJECT,
            format!("{} has found that the database has lost commits, so no node leads", holder.loss),
            "Restore the database that has these commits. To accept the loss instead, follow the message in the log of that node.",
        ),
        Ok((_, ahead_ms)) if ahead_ms.abs() > limits::CLUSTER_CLOCK_MS_MAX => clock_finding(ahead_ms),
        Ok((holder, _)) if holder.remaining_ms > 0 => {
            Finding::good(SUBJECT, format!("{} leads, epoch {}", holder.node, holder.epoch))
        }
        Ok(_) => Finding::problem(
            SUBJECT,
            "no node leads the cluster",
            "Start a node with `mailmill serve`, or see the logs of the running nodes.",
        ),
        Err(error) => {
            let remedy = "Correct [cluster] in the settings, or check that the database is running.";
            Finding::problem(SUBJECT, error.to_string(), remedy)
        }
    })
}

fn folder(data: &Path) -> Finding {
    let shown = data.display();
    match fs::metadata(data) {
        Err(error) if error.kind() == ErrorKind::NotFound => Finding::problem(
            "folder",
            format!("the data folder {shown} does not exist"),
            "Run `mailmill serve` first to create the folder, or choose another folder with --data.",
        ),
        Err(error) => Finding::problem(
            "folder",
            format!("the data folder {shown} cannot be read: {error}"),
            "Make the folder readable, or choose another folder with --data.",
        ),
        Ok(found) if found.permissions().mode() & 0o077 != 0 => Finding::warning(
            "folder",
            format!("other users of this machine can access the data folder {shown}"),
            format!("Run `chmod 700 '{shown}'`: the folder contains the master key and all contacts."),
        ),
        Ok(_) => Finding::good("folder", format!("only its owner can access the data folder {shown}")),
    }
}

/// Returns the finding for a difference between this machine's clock and the clock of the cluster's database.
fn clock_finding(ahead_ms: i64) -> Finding {
    let direction = if ahead_ms > 0 { "ahead of" } else { "behind" };
    Finding::warning(
        "cluster",
        format!("the clock of this machine is {} s {direction} the clock of the cluster's database", ahead_ms.abs() / 1000),
        "Synchronize the clocks of both machines with a time service, such as chrony or systemd-timesyncd.",
    )
}

/// Checks whether other users of this machine have access to a node's settings file, which can contain secrets.
fn settings_file(config: Option<&Path>, settings: &Settings) -> Option<Finding> {
    let file = config.filter(|_| settings.cluster.database.is_some())?;
    let mode = fs::metadata(file).ok()?.permissions().mode();
    (mode & 0o007 != 0).then(|| {
        let shown = file.display();
        Finding::warning(
            "settings",
            format!(
                "other users of this machine have access to {shown}, which can contain the database's password and cluster.secret"
            ),
            format!(
                "Run `chgrp GROUP '{shown}'`, with the name of the service's group as GROUP, and then `chmod 640 '{shown}'`."
            ),
        )
    })
}

/// Checks whether the configured addresses are free. The check is skipped while the service is running, because the service itself uses
/// the addresses.
fn ports(data: &Path, settings: &Settings) -> Vec<Finding> {
    let wanted = [
        ("server.http", settings.server.http),
        ("server.https", settings.server.https),
        ("mail.inbound", settings.mail.inbound),
        ("mail.inbound_lmtp", settings.mail.inbound_lmtp),
    ];
    if is_served(&admin_socket(data)) {
        let said = "the ports in the settings are not checked while the service uses them; the transport and the domains are checked \
                    with the settings of the running service, so restart the service after you change its \
                    settings";
        return vec![Finding::skipped("settings", said)];
    }
    let wanted = wanted.into_iter().filter_map(|(setting, address)| Some((setting, address?)));
    wanted.map(|(setting, address)| port(setting, address)).collect()
}

fn port(setting: &str, address: SocketAddr) -> Finding {
    match TcpListener::bind(address) {
        Ok(_) => Finding::good("ports", format!("{address} ({setting}) is free")),
        Err(error) => Finding::problem(
            "ports",
            format!("cannot listen on {address} ({setting}): {error}"),
            format!(
                "Stop the program that uses this port (see `ss -ltnp`), or change {setting}. Ports below 1024 need CAP_NET_BIND_SERVICE."
            ),
        ),
    }
}

/// Checks whether browsers and email clients trust the service's certificate.
fn tls(settings: &Settings) -> Finding {
    const SUBJECT: &str = "tls";
    let public = settings.server.public_url.as_deref().and_then(|url| Url::parse(url).ok());
    let host = public.as_ref().and_then(Url::host_str);
    let is_secure = public.as_ref().is_some_and(|url| url.scheme() == "https");
    match (&settings.tls.certificate, host) {
        _ if settings.server.behind_proxy && is_secure => Finding::skipped(SUBJECT, "the reverse proxy handles TLS"),
        (_, None) => Finding::warning(
            SUBJECT,
            "no public URL is set, so links in emails lead to an address of this machine",
            "Set [server] public_url = \"https://mail.example.com\". Then set [tls] certificate and key or, behind an HTTPS reverse proxy, \
             [server] behind_proxy.",
        ),
        (None, Some(host)) => Finding::problem(
            SUBJECT,
            format!("no certificate is set for {host}, so Mailmill uses a self-signed certificate, which browsers do not trust"),
            "Get a certificate (Let's Encrypt is free) and set [tls] certificate and key, or run Mailmill behind an HTTPS reverse proxy \
             and set [server] behind_proxy.",
        ),
        (Some(chain), Some(host)) => match certificate_trouble(chain, host, SystemClock.now()) {
            None => Finding::good(SUBJECT, format!("the certificate is valid for {host}")),
            Some(trouble) => Finding::problem(
                SUBJECT,
                format!("{}: {trouble}", chain.display()),
                format!("Correct the file, or renew the certificate for {host}. Mailmill reloads the file when it changes."),
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::{DEFAULT, load};

    #[test]
    fn a_settings_file_of_a_node_is_for_the_service_only() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let file = outer.path().join("mailmill.toml");
        fs::write(&file, "").expect("the file can be written");
        let mut settings = load(DEFAULT, None, &[], &[]).expect("the defaults are valid");
        let mut found = |mode: u32, database: Option<&str>| {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("the mode can be changed");
            settings.cluster.database = database.and_then(|url| url.parse().ok());
            settings_file(Some(&file), &settings).is_some()
        };
        assert!(found(0o644, Some("postgres://db/m")));
        assert!(!found(0o640, Some("postgres://db/m")) && !found(0o644, None));
    }

    #[test]
    fn a_wrong_clock_is_reported_with_its_direction() {
        assert!(format!("{:?}", clock_finding(3_600_000)).contains("3600 s ahead of"));
        assert!(format!("{:?}", clock_finding(-7_000)).contains("7 s behind"));
    }
}
