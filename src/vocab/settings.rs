//! The settings that an operator can change. `config/default.toml` contains each key with its default and its meaning.
//!
//! The code has no defaults: a key that is missing from that file is an error, and so is an unknown key. `engine/settings` loads the
//! values.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::rates::RouteGroup;
use crate::base::bounded::Bounded;
use crate::base::email::EmailAddress;
use crate::base::network::Network;
use crate::base::secret::Secret;
use crate::base::serde_str;

/// A duration in seconds, from one second to one hour.
pub type Seconds = Bounded<1, 3600>;
/// A number of requests per budget window. Zero allows no requests.
pub type Allowance = Bounded<0, 1_000_000_000>;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub server: Server,
    pub tls: Tls,
    pub data: Data,
    pub backup: Backup,
    pub cluster: Cluster,
    pub limits: Limits,
    pub language_model: LanguageModel,
    /// The language models by their name in the settings. Invariant after loading: none is named [`COMPOSER`].
    pub models: BTreeMap<String, Model>,
    pub outbound: Outbound,
    pub validation: Validation,
    pub rendering: Rendering,
    pub mail: Mail,
    pub webhooks: Webhooks,
    pub connections: Connections,
    pub log: Log,
    pub accounts: Accounts,
    pub plans: BTreeMap<String, Plan>,
}

/// The settings of the HTTP listeners, and the limits on connections.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    #[serde(deserialize_with = "none_if_empty")]
    pub http: Option<SocketAddr>,
    #[serde(deserialize_with = "none_if_empty")]
    pub https: Option<SocketAddr>,
    #[serde(deserialize_with = "none_if_empty")]
    pub public_url: Option<String>,
    pub behind_proxy: bool,
    pub trusted_proxies: Vec<Network>,
    pub header_read_seconds: Seconds,
    pub body_seconds: Seconds,
    pub body_min_bytes_per_second: Bounded<1, 1_000_000_000>,
    pub idle_seconds: Seconds,
    pub tls_handshake_seconds: Seconds,
    pub request_seconds: Seconds,
    pub drain_seconds: Seconds,
    pub connections_max: Bounded<1, 1_000_000>,
    pub connections_per_address_max: Bounded<1, 1_000_000>,
    pub http2_streams_max: Bounded<1, 10_000>,
    pub headers_bytes_max: Bounded<8_192, 1_048_576>,
    pub demo_shop: bool,
    #[serde(deserialize_with = "none_if_empty")]
    pub metrics_token: Option<Secret>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    #[serde(deserialize_with = "none_if_empty")]
    pub certificate: Option<PathBuf>,
    #[serde(deserialize_with = "none_if_empty")]
    pub key: Option<PathBuf>,
    pub names: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    pub cache_mib: Bounded<4, 65_536>,
    /// The memory of the search index's writer in MiB. Each of its two threads needs at least 15 MB to start.
    pub search_writer_mib: Bounded<32, 4_096>,
    pub free_mib_min: Bounded<1, 1_048_576>,
    pub reserve_mib: Bounded<1, 4_096>,
    /// Whether the service detects that its data folder is a copy. Disable this only on file systems where the folder looks like a copy at
    /// every start.
    pub hold_copies: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    /// The target of the backup: the path of a folder, or the URL of an object store. Without a value, the backup is off. Invariant
    /// after loading: a valid target, if present.
    #[serde(deserialize_with = "none_if_empty")]
    pub url: Option<String>,
    /// The URL of a compatible object store. Without a value, the provider's own endpoint is used.
    #[serde(deserialize_with = "none_if_empty")]
    pub endpoint: Option<String>,
    #[serde(deserialize_with = "none_if_empty")]
    pub region: Option<String>,
    /// Whether requests contain the bucket's name in the path instead of in the host name.
    pub path_style: bool,
    #[serde(deserialize_with = "none_if_empty")]
    pub access_key: Option<String>,
    #[serde(deserialize_with = "none_if_empty")]
    pub secret_key: Option<Secret>,
    #[serde(deserialize_with = "none_if_empty")]
    pub credentials_file: Option<PathBuf>,
    pub interval_seconds: Bounded<1, 300>,
    pub snapshot_hours: Bounded<1, 744>,
    pub log_days: Bounded<0, 3_650>,
    pub daily: Bounded<0, 3_650>,
    pub weekly: Bounded<0, 1_000>,
    pub monthly: Bounded<0, 1_000>,
    pub spool_mib: Bounded<8, 1_048_576>,
    pub warn_after_minutes: Bounded<1, 10_080>,
    /// The number of days between restore drills; zero disables drills.
    pub drill_days: Bounded<0, 365>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// The URL of the cluster's database, which may contain a password. If it is set, the service is a node of a cluster.
    #[serde(deserialize_with = "none_if_empty")]
    pub database: Option<Secret>,
    #[serde(deserialize_with = "none_if_empty")]
    pub database_authorities: Option<PathBuf>,
    /// The name of this node. Invariant after loading: if `database` is set, then `node`, `address` and `secret` are not empty.
    pub node: String,
    pub address: String,
    #[serde(deserialize_with = "none_if_empty")]
    pub listen: Option<SocketAddr>,
    #[serde(deserialize_with = "none_if_empty")]
    pub secret: Option<Secret>,
    #[serde(deserialize_with = "none_if_empty")]
    pub master_key: Option<PathBuf>,
    pub lease_seconds: Bounded<2, 60>,
}

/// The maximum sizes of incoming data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub body_bytes_default: Bounded<1_024, 1_073_741_824>,
    pub body_bytes_bulk: Bounded<1_024, 1_073_741_824>,
    pub upload_bytes_max: Bounded<1_024, 1_099_511_627_776>,
}

/// The settings that apply to all language models.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageModel {
    /// The name of the model for requests that name none. Invariant after loading: if present, [`COMPOSER`] or the name of an enabled
    /// model.
    #[serde(deserialize_with = "none_if_empty")]
    pub default: Option<String>,
    pub on_failure: OnFailure,
    pub monthly_cost_max: Cap<1_000_000_000>,
    pub monthly_cost_max_per_brand: Cap<1_000_000_000>,
}

/// The name that stands for the built-in composer wherever a model can be named.
pub const COMPOSER: &str = "composer";

/// What happens if a language model cannot read a prompt, or cannot write or edit an email.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The request, the generation or the edit fails.
    Fail,
    /// The built-in composer reads, writes or edits instead.
    Composer,
}

/// A language model and its endpoint.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The protocol of the endpoint. A model without a protocol is disabled.
    #[serde(deserialize_with = "none_if_empty")]
    pub protocol: Option<Protocol>,
    /// The URL of the endpoint. Invariant after loading: if present, an HTTP or HTTPS URL.
    #[serde(deserialize_with = "none_if_empty")]
    pub url: Option<String>,
    /// The model's name at the endpoint. Invariant after loading: present if `protocol` is present.
    #[serde(deserialize_with = "none_if_empty")]
    pub model: Option<String>,
    /// The API key for the endpoint. Invariant after loading: only visible ASCII characters.
    #[serde(deserialize_with = "none_if_empty")]
    pub key: Option<Secret>,
    pub vision: bool,
    pub blocks_at_once: Bounded<1, 40>,
    pub timeout_seconds: Seconds,
    pub repeats: Bounded<0, 10>,
    /// The maximum number of tokens in a response. Invariant after loading: at most half of `context_tokens`.
    pub output_tokens_max: Bounded<256, 200_000>,
    pub context_tokens: Bounded<4_096, 10_000_000>,
    /// The price per million input tokens. Invariant after loading: finite and not negative.
    pub input_price: f64,
    /// The price per million output tokens. Invariant after loading: finite and not negative.
    pub output_price: f64,
}

/// The protocol of a language model's endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The Chat Completions protocol of OpenAI.
    OpenAi,
    /// The Messages protocol of Anthropic.
    Anthropic,
}

impl FromStr for Protocol {
    type Err = &'static str;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        match given {
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            _ => Err("must be \"openai\", \"anthropic\" or an empty string"),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outbound {
    pub allow_networks: Vec<Network>,
}

/// An email client's share of opens.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientShare {
    /// The key or an alias of the email client, such as `gmail.ios`.
    pub client: String,
    /// The share, from 0 to 1.
    pub share: f64,
}

impl FromStr for ClientShare {
    type Err = &'static str;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let parsed = given.split_once('=').and_then(|(client, share)| Some((client.trim(), share.trim().parse::<f64>().ok()?)));
        match parsed.filter(|(client, share)| !client.is_empty() && (0.0..=1.0).contains(share)) {
            Some((client, share)) => Ok(Self { client: client.to_owned(), share }),
            None => Err("must be an email client and its share of opens from 0 to 1, like gmail.ios=0.06"),
        }
    }
}

impl<'de> Deserialize<'de> for ClientShare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "an email client and its share of opens, like gmail.ios=0.06")
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    #[serde(deserialize_with = "none_if_empty")]
    pub dictionaries: Option<PathBuf>,
    #[serde(deserialize_with = "none_if_empty")]
    pub clients: Option<PathBuf>,
    /// The shares of opens by email client. If the list is empty, the service assumes shares from public statistics.
    pub shares: Vec<ClientShare>,
    #[serde(deserialize_with = "none_if_empty")]
    pub language_tool: Option<String>,
    #[serde(deserialize_with = "none_if_empty")]
    pub model: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rendering {
    pub engine: RenderingEngine,
    #[serde(deserialize_with = "none_if_empty")]
    pub fonts: Option<PathBuf>,
    pub chromium: PathBuf,
    pub require_confinement: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RenderingEngine {
    Embedded,
    Chromium,
}

impl RenderingEngine {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Chromium => "chromium",
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// The addresses of the relays. Invariant after loading: each can be parsed.
    pub relay: Vec<Secret>,
    pub direct: bool,
    pub development: bool,
    pub connections: Bounded<1, 512>,
    #[serde(deserialize_with = "none_if_empty")]
    pub hello_name: Option<String>,
    pub require_verified_domain: bool,
    #[serde(deserialize_with = "none_if_empty")]
    pub bounce_domain: Option<String>,
    pub unknown: UnknownPolicy,
    pub retry_minutes: Bounded<1, 1_440>,
    pub give_up_hours: Bounded<1, 240>,
    pub stop_seconds: Seconds,
    #[serde(deserialize_with = "none_if_empty")]
    pub dns: Option<SocketAddr>,
    #[serde(deserialize_with = "none_if_empty")]
    pub inbound: Option<SocketAddr>,
    #[serde(deserialize_with = "none_if_empty")]
    pub inbound_lmtp: Option<SocketAddr>,
    pub direct_days: Bounded<7, 3_650>,
    pub inbox_days: Bounded<1, 3_650>,
}

impl Mail {
    /// Returns whether a transport for outgoing mail is configured.
    pub fn has_transport(&self) -> bool {
        self.direct || !self.relay.is_empty()
    }
}

/// The action for messages whose delivery is uncertain, because the server's response is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownPolicy {
    /// Holds the message until there is evidence of its delivery, or until a user decides whether to send it again.
    Hold,
    /// Sends the message again.
    Resend,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// The word after `X-` in the header names of webhook requests, such as `Service` in `X-Service-Signature`. Invariant after loading:
    /// only letters and digits.
    pub header_word: String,
    pub allow_http: bool,
    pub first_retry_seconds: Seconds,
    pub second_retry_seconds: Seconds,
    pub connections: Bounded<1, 10_000>,
    pub connections_per_endpoint: Bounded<1, 1_000>,
    pub pause_after_failures: Bounded<1, 1_000_000>,
    pub pause_seconds: Seconds,
    pub deliveries_kept_days: Bounded<1, 3_650>,
}

/// The API URLs of the platforms that users can connect, and the credentials of Mailmill's apps on these platforms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    pub klaviyo_url: String,
    /// The API URL of Mailchimp; `{dc}` stands for a data center. Invariant after loading: a valid URL once `{dc}` is replaced.
    pub mailchimp_url: String,
    pub hubspot_url: String,
    #[serde(deserialize_with = "none_if_empty")]
    pub klaviyo_client_id: Option<String>,
    #[serde(deserialize_with = "none_if_empty")]
    pub klaviyo_client_secret: Option<Secret>,
    pub klaviyo_login_url: String,
    #[serde(deserialize_with = "none_if_empty")]
    pub mailchimp_client_id: Option<String>,
    #[serde(deserialize_with = "none_if_empty")]
    pub mailchimp_client_secret: Option<Secret>,
    pub mailchimp_login_url: String,
    #[serde(deserialize_with = "none_if_empty")]
    pub hubspot_client_id: Option<String>,
    #[serde(deserialize_with = "none_if_empty")]
    pub hubspot_client_secret: Option<Secret>,
    pub hubspot_login_url: String,
    #[serde(deserialize_with = "none_if_empty")]
    pub shopify_client_id: Option<String>,
    #[serde(deserialize_with = "none_if_empty")]
    pub shopify_client_secret: Option<Secret>,
    /// The API URL of Shopify; `{shop}` stands for the domain of a shop. Invariant after loading: a valid URL once `{shop}` is
    /// replaced.
    pub shopify_url: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub level: LogLevel,
    pub format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The format of the log: text for human readers, or JSON for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accounts {
    /// The plan of the account that manages the installation. Invariant after loading: a key of `plans`.
    pub owner_plan: String,
    /// The plan of new accounts. Invariant after loading: a key of `plans`.
    pub plan: String,
    pub sign_up: bool,
    pub session_idle_hours: Bounded<1, 720>,
    pub session_days: Bounded<1, 365>,
    pub token_minutes: Bounded<1, 1_440>,
    /// The vendor in the URN that identifies the grant type for agents. Invariant after loading: only lowercase letters, digits and
    /// hyphens.
    pub agent_vendor: String,
    #[serde(deserialize_with = "none_if_empty")]
    pub mail_from: Option<EmailAddress>,
}

impl Settings {
    /// Returns the names of all plans, separated by commas, for error messages.
    pub fn plan_names(&self) -> String {
        self.plans.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// The limits of an account with this plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub recipients_per_second: Cap<1_000_000>,
    pub daily_emails: Cap<1_000_000_000>,
    pub monthly_emails: Cap<1_000_000_000>,
    pub budgets: Budgets,
}

/// A limit: a whole number up to `MAX`, or "unlimited".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "NumberOrWord")]
pub struct Cap<const MAX: u64>(Option<u64>);

impl<const MAX: u64> Cap<MAX> {
    /// Creates a limit; `None` is unlimited.
    #[cfg(test)]
    pub fn new(number: Option<u64>) -> Self {
        Self(number)
    }

    /// Returns the limit; `None` if unlimited.
    pub fn get(self) -> Option<u64> {
        self.0
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "must be a whole number or \"unlimited\"")]
enum NumberOrWord {
    Number(i64),
    Word(String),
}

impl<const MAX: u64> TryFrom<NumberOrWord> for Cap<MAX> {
    type Error = String;

    fn try_from(given: NumberOrWord) -> Result<Self, String> {
        match given {
            NumberOrWord::Number(number) => match u64::try_from(number).ok().filter(|number| *number <= MAX) {
                Some(number) => Ok(Self(Some(number))),
                None => Err(format!("{number} is not between 0 and {MAX}; for no limit, use \"unlimited\"")),
            },
            NumberOrWord::Word(word) if word == "unlimited" => Ok(Self(None)),
            NumberOrWord::Word(word) => match word.replace('_', "").parse() {
                // Environment variables contain numbers as text.
                Ok(number) => Self::try_from(NumberOrWord::Number(number)),
                Err(_) => Err(format!("use a whole number up to {MAX}, or \"unlimited\", instead of \"{word}\"")),
            },
        }
    }
}

/// The request budget per window for each group of operations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budgets {
    pub general: Allowance,
    pub sending: Allowance,
    pub emails: Allowance,
    pub campaigns: Allowance,
    pub imports: Allowance,
}

impl Budgets {
    pub fn of(&self, group: RouteGroup) -> Allowance {
        match group {
            RouteGroup::General => self.general,
            RouteGroup::Sending => self.sending,
            RouteGroup::Emails => self.emails,
            RouteGroup::Campaigns => self.campaigns,
            RouteGroup::Imports => self.imports,
        }
    }
}

/// Deserializes an optional setting. Every key must be present in the settings, so an empty string means that there is no value.
fn none_if_empty<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err: std::fmt::Display>,
    D: Deserializer<'de>,
{
    let text = String::deserialize(deserializer)?;
    let given = text.trim();
    if given.is_empty() { Ok(None) } else { given.parse().map(Some).map_err(D::Error::custom) }
}
