//! Combines the settings from their layers: the built-in defaults, a file, environment variables and the command line.
//!
//! Later layers replace earlier ones value by value, and lists as a whole; `layers.rs` implements this. This file contains the errors and
//! the rules that the types of the settings do not express.
//!
//! This module reads neither files nor the environment: the caller passes both, without the variables that the command line itself uses
//! (such as the one for the data folder).

mod backup;
mod layers;
mod models;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::engine::mail::transport::is_hello_name;
use crate::engine::mail::transport::relay::relays;
use crate::vocab::limits::SENDING_BUDGET_PER_RECIPIENT_SECOND;
use crate::vocab::settings::{Connections, Plan, Settings};

use layers::Layers;

/// The built-in defaults, with an explanation of every key.
pub const DEFAULT: &str = include_str!("../../../config/default.toml");

/// The prefix of the environment variables that contain settings.
pub const VARIABLE_PREFIX: &str = "MAILMILL_";

/// Returns the settings from all layers. `vars` are the environment variables with [`VARIABLE_PREFIX`] (variables without it, and empty
/// ones, are ignored); `overrides` are keys and values from the command line.
pub fn load(
    default: &str,
    file: Option<(&Path, &str)>,
    vars: &[(String, String)],
    overrides: &[(String, String)],
) -> Result<Settings, SettingsError> {
    let mut layers = Layers::of_defaults(default)?;
    if let Some((path, text)) = file {
        layers.add_file(path, text)?;
    }
    let is_set = |(name, text): &&(String, String)| name.starts_with(VARIABLE_PREFIX) && !text.is_empty();
    for (name, text) in vars.iter().filter(is_set) {
        layers.add_variable(name, text)?;
    }
    for (key, text) in overrides {
        layers.add_text(key, text, Origin::CommandLine)?;
    }
    let settings = layers.settings()?;
    match check(&settings) {
        Some((key, reason)) => Err(layers.invalid(&key, reason)),
        None => Ok(settings),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File { path: PathBuf, line: usize },
    Variable(String),
    CommandLine,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// The file is not valid TOML; the message shows where.
    Syntax {
        path: PathBuf,
        message: String,
    },
    /// There is no such key. `nearest` is the most similar key, written in the same style as `key`.
    UnknownKey {
        key: String,
        origin: Origin,
        nearest: String,
    },
    /// The name matches several keys, because it separates levels with single underscores.
    AmbiguousVariable {
        name: String,
        candidates: Vec<String>,
    },
    WrongType {
        key: String,
        origin: Origin,
        found: String,
        expected: &'static str,
    },
    Invalid {
        key: String,
        origin: Origin,
        reason: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("in the built-in defaults"),
            Self::File { path, line } => write!(f, "in {}, line {line}", path.display()),
            Self::Variable(name) => write!(f, "in the variable {name}"),
            Self::CommandLine => f.write_str("on the command line"),
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { path, message } => write!(f, "{} is not valid TOML: {message}", path.display()),
            Self::UnknownKey { key, origin: Origin::Variable(_), nearest } => {
                write!(f, "The environment variable {key} matches no setting; did you mean {nearest}?")
            }
            Self::UnknownKey { key, origin, nearest } => {
                write!(f, "Unknown setting {key} ({origin}); did you mean {nearest}?")
            }
            Self::AmbiguousVariable { name, candidates } => {
                let candidates: Vec<_> = candidates.iter().map(|key| layers::variable_name(key)).collect();
                let candidates = candidates.join(" or ");
                write!(f, "The environment variable {name} matches more than one setting; use {candidates}.")
            }
            Self::WrongType { key, origin, found, expected } => {
                write!(f, "The setting {key} ({origin}) must be {expected}, not {found}.")
            }
            Self::Invalid { key, origin, reason } => write!(f, "The setting {key} ({origin}) is invalid: {reason}."),
        }
    }
}

impl std::error::Error for SettingsError {}

/// Returns the first violated rule that the types do not express: the key to change, and the reason.
fn check(settings: &Settings) -> Option<(String, String)> {
    let broken = |key: &str, reason: &str| Some((key.to_owned(), reason.to_owned()));
    let server = &settings.server;
    if server.http.is_none() && server.https.is_none() {
        return broken("server.https", "neither server.http nor server.https is set; set at least one of the two");
    }
    if server.http.is_some_and(|address| !address.ip().is_loopback()) && !server.behind_proxy {
        return broken(
            "server.http",
            "plain HTTP is allowed only on a loopback address, like 127.0.0.1:8080; behind a reverse proxy, set \
             server.behind_proxy",
        );
    }
    if let Some(url) = &server.public_url
        && (url.ends_with('/') || !is_origin(url))
    {
        return broken(
            "server.public_url",
            "must consist of a scheme, a host and optionally a port, like https://mail.example.com",
        );
    }
    if settings.tls.certificate.is_some() != settings.tls.key.is_some() {
        let missing = if settings.tls.key.is_none() { "tls.key" } else { "tls.certificate" };
        return broken(missing, "set both tls.certificate and tls.key, or neither");
    }
    if let Some(violation) = models::check(settings) {
        return Some(violation);
    }
    if !settings.validation.language_tool.as_deref().is_none_or(is_origin) {
        return broken(
            "validation.language_tool",
            "must consist of a scheme, a host and optionally a port, like http://127.0.0.1:8081",
        );
    }
    if let Some(name) = &settings.validation.model
        && settings.models.get(name).is_none_or(|model| model.protocol.is_none())
    {
        return broken("validation.model", "must be the name of an enabled model, which has a protocol under [models.NAME]");
    }
    if let Err(reason) = relays(&settings.mail.relay) {
        return broken("mail.relay", &reason);
    }
    if !settings.mail.hello_name.as_deref().is_none_or(is_hello_name) {
        return broken("mail.hello_name", "must be the DNS name of this machine, like mail.example.com");
    }
    let word = &settings.webhooks.header_word;
    if !(1..=32).contains(&word.len()) || !word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return broken("webhooks.header_word", "must have 1 to 32 ASCII letters and digits, like Acme");
    }
    if let Some(violation) = backup::check(&settings.backup) {
        return Some(violation);
    }
    if let Some(violation) = cluster(settings) {
        return Some(violation);
    }
    if let Some(violation) = connections(&settings.connections) {
        return Some(violation);
    }
    for (setting, plan) in [("accounts.owner_plan", &settings.accounts.owner_plan), ("accounts.plan", &settings.accounts.plan)] {
        if !settings.plans.contains_key(plan) {
            return broken(setting, &format!("unknown plan; the plans are {}", settings.plan_names()));
        }
    }
    let is_vendor = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let vendor = &settings.accounts.agent_vendor;
    if vendor.is_empty() || !vendor.bytes().all(is_vendor) {
        return broken("accounts.agent_vendor", "must consist of lowercase letters, digits and hyphens");
    }
    settings.plans.iter().find_map(|(name, plan)| check_plan(name, plan))
}

fn cluster(settings: &Settings) -> Option<(String, String)> {
    let broken = |setting: &str, reason: &str| Some((format!("cluster.{setting}"), reason.to_owned()));
    let cluster = &settings.cluster;
    cluster.database.as_ref()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if !(1..=64).contains(&cluster.node.len()) || !cluster.node.bytes().all(is_name) {
        return broken("node", "must be a name of 1 to 64 letters, digits, periods, hyphens and underscores, like node-1");
    }
    let port =
        cluster.address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).and_then(|(_, port)| port.parse::<u16>().ok());
    if port.is_none() {
        return broken("address", "must be the address at which other nodes reach this one, like 10.0.0.1:7443");
    }
    if cluster.listen.is_none() && cluster.address.parse::<std::net::SocketAddr>().is_err() {
        return broken("listen", "must be set if cluster.address has a host name, like 0.0.0.0:7443");
    }
    if cluster.secret.as_ref().is_none_or(|secret| secret.expose().len() < 32) {
        return broken("secret", "must have at least 32 characters; create one with `openssl rand -hex 32`");
    }
    if settings.server.public_url.is_none() {
        let reason = "must be set in a cluster, because links and tokens must contain the same URL on all nodes";
        return Some(("server.public_url".to_owned(), reason.to_owned()));
    }
    None
}

fn connections(connections: &Connections) -> Option<(String, String)> {
    let mailchimp = connections.mailchimp_url.replace("{dc}", "us1");
    let shopify = connections.shopify_url.replace("{shop}", "acme.myshopify.com");
    let addresses = [
        ("klaviyo_url", &connections.klaviyo_url),
        ("mailchimp_url", &mailchimp),
        ("hubspot_url", &connections.hubspot_url),
        ("klaviyo_login_url", &connections.klaviyo_login_url),
        ("mailchimp_login_url", &connections.mailchimp_login_url),
        ("hubspot_login_url", &connections.hubspot_login_url),
        ("shopify_url", &shopify),
    ];
    let (setting, _) = addresses.into_iter().find(|(_, url)| !is_origin(url))?;
    let reason = "must consist of a scheme, a host and optionally a port, like https://gateway.example.com";
    Some((format!("connections.{setting}"), reason.to_owned()))
}

fn is_origin(url: &str) -> bool {
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    host.is_some_and(|host| !host.is_empty() && host.bytes().all(is_allowed))
}

fn check_plan(name: &str, plan: &Plan) -> Option<(String, String)> {
    let per_second = plan.recipients_per_second.get()?;
    let (needed, sending) = (SENDING_BUDGET_PER_RECIPIENT_SECOND * per_second, plan.budgets.sending.get());
    if sending == 0 || sending >= needed {
        return None;
    }
    let reason = format!(
        "{sending} requests per minute are too few for {per_second} recipients per second; set at least {needed}, or 0 to block direct sending"
    );
    Some((format!("plans.{name}.budgets.sending"), reason))
}

#[cfg(test)]
pub mod tests {
    use std::time::Duration;

    use super::*;
    use crate::vocab::rates::RouteGroup;
    use crate::vocab::settings::{LogFormat, LogLevel};

    pub fn with_file(text: &str) -> Result<Settings, SettingsError> {
        load(DEFAULT, Some((Path::new("my.toml"), text)), &[], &[])
    }

    fn with_variable(name: &str, text: &str) -> Result<Settings, SettingsError> {
        load(DEFAULT, None, &[(name.to_owned(), text.to_owned())], &[])
    }

    pub fn refused(result: Result<Settings, SettingsError>) -> String {
        result.expect_err("the settings are invalid").to_string()
    }

    #[test]
    fn the_defaults_are_complete_and_valid() {
        let settings = load(DEFAULT, None, &[], &[]).expect("the defaults alone are enough");
        assert_eq!(settings.server.http.map(|address| address.to_string()).as_deref(), Some("127.0.0.1:8080"));
        assert_eq!((settings.log.level, settings.log.format), (LogLevel::Info, LogFormat::Text));
        assert_eq!(settings.server.public_url, None);
        assert_eq!(settings.plans.keys().collect::<Vec<_>>(), ["enterprise", "standard", "unlimited"]);
        assert_eq!(settings.plans["standard"].budgets.of(RouteGroup::Sending).get(), 600);
        assert_eq!(Duration::from_secs(settings.server.drain_seconds.get()), Duration::from_secs(30));
    }

    #[test]
    fn the_example_works() {
        let settings = with_file(include_str!("../../../config/example.toml")).expect("the example is valid");
        assert_eq!((settings.server.https, settings.log.format), (None, LogFormat::Json));
        assert_eq!(settings.plans["trial"].budgets.general.get(), 100);
    }

    #[test]
    fn later_layers_win() {
        let file = "[server]\nidle_seconds = 1\nbody_seconds = 1\nrequest_seconds = 1\n";
        let own = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let vars = [own("MAILMILL_SERVER__BODY_SECONDS", "2"), own("MAILMILL_SERVER__REQUEST_SECONDS", "2"), own("HOME", "/")];
        let overrides = [own("server.request_seconds", "3")];
        let settings = load(DEFAULT, Some((Path::new("my.toml"), file)), &vars, &overrides).expect("the input is valid").server;
        let seconds = [settings.idle_seconds, settings.body_seconds, settings.request_seconds, settings.drain_seconds];
        assert_eq!(seconds.map(|seconds| seconds.get()), [1, 2, 3, 30]);
    }

    #[test]
    fn a_node_of_a_cluster_has_a_name_an_address_and_a_secret() {
        let whole = "[server]\npublic_url = 'https://mail.example.com'\n[cluster]\ndatabase = 'postgres://db/m'\nnode = 'one'\n\
                     address = '10.0.0.1:7443'\nsecret = '0123456789abcdef0123456789abcdef'\n";
        assert!(with_file(whole).is_ok());
        assert!(with_file("[cluster]\nnode = 'one'").is_ok(), "without a database, the settings are not used");
        for (from, to, named) in [
            ("node = 'one'", "node = ''", "cluster.node"),
            ("10.0.0.1:7443", "10.0.0.1", "cluster.address"),
            ("10.0.0.1:7443", "node-1:7443", "cluster.listen"),
            ("0123456789abcdef'", "'", "cluster.secret"),
            ("public_url = 'https://mail.example.com'", "", "server.public_url"),
        ] {
            assert!(refused(with_file(&whole.replace(from, to))).contains(named), "{named}");
        }
        assert!(with_file(&format!("[backup]\nurl = '/mnt/backup'\n{whole}")).is_ok());
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest() {
        assert_eq!(
            refused(with_file("[server]\n\nidel_seconds = 5\n")),
            "Unknown setting server.idel_seconds (in my.toml, line 3); did you mean server.idle_seconds?"
        );
        let nearest = |text: &str| match with_file(text) {
            Err(SettingsError::UnknownKey { nearest, .. }) => nearest,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(nearest("https = 'x'"), "server.https");
        assert_eq!(nearest("[log]\nlvl = 'info'"), "log.level");
        assert_eq!(nearest("[plans.standard]\ndayly_emails = 1"), "plans.standard.daily_emails");
        assert_eq!(nearest("[plans.standard.budgets]\nimport = 1"), "plans.standard.budgets.imports");
        assert_eq!(nearest("'server.http' = 'x'"), "server.http");
        assert_eq!(nearest("[sever]"), "server");
        assert!(refused(load(DEFAULT, None, &[], &[("log.fromat".into(), "json".into())])).contains("(on the command line)"));
    }

    #[test]
    fn variables_may_have_single_underscores_if_only_one_key_fits() {
        for name in ["MAILMILL_LOG__LEVEL", "MAILMILL_LOG_LEVEL"] {
            assert_eq!(with_variable(name, "debug").expect(name).log.level, LogLevel::Debug);
        }
        let settings = with_variable("MAILMILL_SERVER_HTTP2_STREAMS_MAX", "9").expect("the variable is unambiguous");
        assert_eq!(settings.server.http2_streams_max.get(), 9);
        let settings = with_variable("MAILMILL_PLANS_STANDARD_BUDGETS_GENERAL", "9").expect("the variable is unambiguous");
        assert_eq!(settings.plans["standard"].budgets.general.get(), 9);
        assert_eq!(
            refused(with_variable("MAILMILL_LOG_LEVLE", "debug")),
            "The environment variable MAILMILL_LOG_LEVLE matches no setting; did you mean MAILMILL_LOG__LEVEL?"
        );
    }

    /// Docker Compose passes unset variables as empty strings.
    #[test]
    fn an_empty_variable_counts_as_unset() {
        for name in
            ["MAILMILL_SERVER__HTTP", "MAILMILL_SERVER_IDLE_SECONDS", "MAILMILL_SERVER__TRUSTED_PROXIES", "MAILMILL_NO_SETTING"]
        {
            let settings = with_variable(name, "").expect(name);
            let defaults = load(DEFAULT, None, &[], &[]).expect("the defaults are valid");
            assert_eq!(format!("{settings:?}"), format!("{defaults:?}"), "{name}");
        }
        let vars = [("MAILMILL_LOG__LEVEL".to_owned(), String::new())];
        let settings =
            load(DEFAULT, Some((Path::new("my.toml"), "log.level = 'debug'")), &vars, &[]).expect("the input is valid");
        assert_eq!(settings.log.level, LogLevel::Debug, "the file's value stays");
    }

    #[test]
    fn a_variable_that_fits_two_keys_is_rejected_with_both() {
        // The names of these plans give two keys the same variable name.
        let defaults = format!("{DEFAULT}\n[plans.a]\nb_c = 1\n[plans.a_b]\nc = 1\n");
        let error = load(&defaults, None, &[("MAILMILL_PLANS_A_B_C".into(), "2".into())], &[]);
        assert_eq!(
            refused(error),
            "The environment variable MAILMILL_PLANS_A_B_C matches more than one setting; use MAILMILL_PLANS__A__B_C or \
             MAILMILL_PLANS__A_B__C."
        );
    }

    #[test]
    fn variables_make_lists_and_new_plans() {
        for text in ["10.0.0.0/8, 192.168.0.1", "['10.0.0.0/8', '192.168.0.1']"] {
            let settings = with_variable("MAILMILL_SERVER__TRUSTED_PROXIES", text).expect(text);
            let networks: Vec<_> = settings.server.trusted_proxies.iter().map(ToString::to_string).collect();
            assert_eq!(networks, ["10.0.0.0/8", "192.168.0.1/32"]);
        }
        assert!(
            with_variable("MAILMILL_SERVER__TRUSTED_PROXIES", "[]")
                .expect("the empty list is valid")
                .server
                .trusted_proxies
                .is_empty()
        );
        let error = refused(with_variable("MAILMILL_PLANS__FREE__DAILY_EMAILS", "7"));
        assert!(error.starts_with("The setting plans.free (in the variable MAILMILL_PLANS__FREE__DAILY_EMAILS)"), "{error}");
        assert!(error.contains("missing field `recipients_per_second`"), "{error}");
    }

    #[test]
    fn a_wrong_type_is_reported_with_the_expected_type() {
        for (text, expected) in [
            (
                "[server]\nidle_seconds = '5'",
                "The setting server.idle_seconds (in my.toml, line 2) must be a whole number, not text.",
            ),
            (
                "[server]\nidle_seconds = 5.0",
                "The setting server.idle_seconds (in my.toml, line 2) must be a whole number, not a number with a fraction.",
            ),
            (
                "[language_model]\nmonthly_cost_max = 1.5",
                "The setting language_model.monthly_cost_max (in my.toml, line 2) must be a whole number or \"unlimited\", not a number \
                 with a fraction.",
            ),
            (
                "[accounts]\nowner_plan = 5",
                "The setting accounts.owner_plan (in my.toml, line 2) must be text, not a whole number.",
            ),
            ("server = 5", "The setting server (in my.toml, line 1) must be a table, not a whole number."),
            (
                "[tls]\nnames = [1]",
                "The setting tls.names (in my.toml, line 2) must be a list of strings, not a list that contains other values.",
            ),
        ] {
            assert_eq!(refused(with_file(text)), expected);
        }
        assert_eq!(
            refused(with_variable("MAILMILL_SERVER_BEHIND_PROXY", "yes")),
            "The setting server.behind_proxy (in the variable MAILMILL_SERVER_BEHIND_PROXY) must be true or false, not \"yes\"."
        );
    }

    #[test]
    fn a_value_outside_its_range_is_rejected_with_its_origin() {
        for (text, expected) in [
            (
                "[server]\nidle_seconds = 0",
                "server.idle_seconds (in my.toml, line 2) is invalid: must be a whole number from 1 to 3600, not 0.",
            ),
            ("[server]\nidle_seconds = -1", "must be a whole number from 1 to 3600, not -1."),
            (
                "[server]\nhttps = 'x'",
                "server.https (in my.toml, line 2) is invalid: must be an address with its port, such as 127.0.0.1:8080.",
            ),
            (
                "[server]\nhttp = '8090'",
                "server.http (in my.toml, line 2) is invalid: must be an address with its port, such as 127.0.0.1:8090.",
            ),
            ("[log]\nlevel = 'loud'", "log.level (in my.toml, line 2) is invalid: must be one of off, error, "),
            ("[log]\nlevel = 'loud'", "; \"loud\" is not allowed."),
            (
                "[server]\ntrusted_proxies = ['::1', 'x']",
                "(in my.toml, line 2) is invalid: must be an IP address or a range of IP addresses",
            ),
        ] {
            let error = refused(with_file(text));
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn rules_between_keys_name_the_remedy() {
        for (text, expected) in [
            (
                "[plans.standard]\nrecipients_per_second = 11",
                "plans.standard.budgets.sending (in the built-in defaults) is invalid: 600 requests per minute are too few for \
                 11 recipients per second; set at least 660, or 0 to block direct sending",
            ),
            (
                "[accounts]\nplan = 'gold'",
                "accounts.plan (in my.toml, line 2) is invalid: unknown plan; the plans are enterprise, standard, unlimited.",
            ),
            ("[server]\nhttp = '0.0.0.0:80'", "set server.behind_proxy"),
            ("[server]\nhttp = ''\nhttps = ''", "set at least one of the two"),
            (
                "[tls]\ncertificate = 'a.pem'",
                "The setting tls.key (in the built-in defaults) is invalid: set both tls.certificate and tls.key, or neither",
            ),
            (
                "[mail]\nrelay = ['smtp://localhost', 'smtp://ana:hunter2@mail.example.com?tls=off']",
                "The setting mail.relay (in my.toml, line 2) is invalid: relay 2: a password or token cannot be sent \
                 unencrypted to another machine; remove tls=off",
            ),
            ("[mail]\nhello_name = 'my mill'", "The setting mail.hello_name (in my.toml, line 2) is invalid"),
            ("[server]\npublic_url = 'mail.example.com'", "like https://mail.example.com"),
            ("[server]\npublic_url = 'https://mail.example.com/'", "like https://mail.example.com"),
            (
                "[connections]\nmailchimp_url = 'https://{region}.example.com'",
                "The setting connections.mailchimp_url (in my.toml, line 2)",
            ),
        ] {
            let error = refused(with_file(text));
            assert!(error.contains(expected), "{error}");
        }
        assert!(with_file("[plans.standard]\nbudgets.sending = 0").is_ok());
        assert!(with_file("[server]\nhttp = '0.0.0.0:80'\nbehind_proxy = true").is_ok());
        let one = with_file("[mail]\nrelay = 'smtp://localhost'").expect("a list with one value can be written as that value");
        assert_eq!(one.mail.relay.len(), 1);
        assert!(with_file("[mail]\nrelay = ''").expect("an empty list can be written as an empty string").mail.relay.is_empty());
        for name in ["mail.example.com", "mill", "[192.0.2.1]", "[IPv6:2001:db8::1]"] {
            assert!(with_file(&format!("[mail]\nhello_name = '{name}'")).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_plan_has_numbers_or_no_limit() {
        let plan = |text: &str| {
            let settings = with_file(&format!("[plans.standard]\n{text}"))?;
            Ok::<_, SettingsError>(settings.plans["standard"].daily_emails.get())
        };
        assert_eq!(plan("daily_emails = 5").expect("the value is a number"), Some(5));
        assert_eq!(plan("daily_emails = 'unlimited'").expect("the word is accepted"), None);
        for (text, expected) in [
            ("-1", "-1 is not between 0 and 1000000000"),
            ("'none'", "or \"unlimited\""),
            ("2_000_000_000", "2000000000 is not between 0 and"),
        ] {
            let error = plan(&format!("daily_emails = {text}")).expect_err("the plan is invalid").to_string();
            assert!(error.contains("plans.standard.daily_emails") && error.contains(expected), "{error}");
        }
        let settings = with_variable("MAILMILL_PLANS_STANDARD_DAILY_EMAILS", "7").expect("the value is a number");
        assert_eq!(settings.plans["standard"].daily_emails.get(), Some(7));
    }

    #[test]
    fn a_plan_name_that_no_variable_can_contain_is_rejected() {
        assert_eq!(
            refused(with_file("[plans.my-plan]\ndaily_emails = 1")),
            "The setting plans.my-plan.daily_emails (in my.toml, line 2) is invalid: the name my-plan in plans must consist of \
             1 to 40 lowercase letters, digits and single underscores."
        );
    }

    #[test]
    fn invalid_toml_is_reported_with_its_line() {
        let error = refused(with_file("[server]\nhttp = 127\n= 3"));
        assert!(error.starts_with("my.toml is not valid TOML: ") && error.contains("line 3"), "{error}");
        let error = refused(with_file("[log]\nlevel = 'info'\nlevel = 'warn'"));
        assert!(error.contains("duplicate key") && error.contains("line 3"), "{error}");
    }

    #[test]
    fn a_table_whose_keys_are_all_commented_out_changes_nothing() {
        assert!(with_file("[server]\n# http = ''\n[plans.standard.budgets]").is_ok());
    }
}
