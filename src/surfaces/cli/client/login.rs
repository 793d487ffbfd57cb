//! `mailmill login`: obtains a key with the user's consent in the browser (`assets/docs/authentication.md`), and stores it in a profile.

use std::io::{BufRead, IsTerminal, Read};
use std::time::Duration;

use clap::ArgMatches;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::{Host, Position, Url};

use super::super::problem::{Exit, Problem, named};
use super::super::terminal::{complain, note};
use super::arguments::{flag, one};
use super::environment::Environment;
use super::output::Output;
use super::profiles::{self, Profile, Profiles, environment_of, server_url};
use super::progress::Progress;
use super::requests::{ApiResponse, Call, Remote, envelope, refusal};
use super::session::open_page;
use crate::base::machine;
use crate::base::secret::Secret;

const METADATA: &str = "/.well-known/oauth-authorization-server";
/// The suffix of the OAuth grant type. The server's settings determine its prefix.
const GRANT_SUFFIX: &str = "agent-auth:grant-type:claim";
/// How long the command waits for the user's decision. The registration on the server is valid for longer; when a code expires, the client
/// requests a new one.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
/// The pause between polls if the server does not specify one.
const INTERVAL_SECONDS: u64 = 5;
/// The maximum length of a key file in bytes. Keys are far shorter.
const KEY_BYTES_MAX: u64 = 1_024;

/// Runs the command; returns the exit code.
pub async fn run(matches: &ArgMatches, environment: &Environment, output: &Output) -> Result<u8, Problem> {
    let stored = Profiles::load(environment)?;
    let name = one(matches, "profile").or_else(|| environment.profile.clone()).unwrap_or_else(|| profiles::DEFAULT.to_owned());
    profiles::check_name(&name)?;
    let known = stored.profiles.get(&name);
    let address = one(matches, "url").or_else(|| environment.url.clone()).or_else(|| known.map(|profile| profile.url.clone()));
    let address = address.ok_or_else(|| {
        Problem::misused("the server's URL is missing; add it, as in `mailmill login https://mail.example.com`")
    })?;
    let url = server_url(&address)?;
    warn_about_plain_text(&url);
    let key = match one(matches, "key-file") {
        Some(file) => read_key(&file)?,
        None => request_key(matches, environment, output, &url).await?,
    };
    check_environment(matches, &key)?;
    let project = known.filter(|profile| profile.url == url.as_str()).and_then(|profile| profile.project.clone());
    let environment_name = environment_of(&key);
    check_key(&url, &key).await?;
    let ((), path) = Profiles::change(environment, |profiles| {
        profiles.profiles.insert(name.clone(), Profile { url: url.to_string(), key, project });
        profiles.default = Some(name.clone());
        Ok(())
    })?;
    if output.notes {
        note(&format!("Signed in to {url} ({environment_name} environment). The profile {name} is in {}.", path.display()));
    }
    Ok(0)
}

/// Warns if the key would be sent over the network without encryption.
fn warn_about_plain_text(url: &Url) {
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() == "http" && !is_local {
        note(
            "Warning: connections to this address are not encrypted, so others on the network can read the key. Use https:// instead.",
        );
    }
}

fn read_key(file: &str) -> Result<String, Problem> {
    let mut text = String::new();
    let read = match file {
        "-" => std::io::stdin().take(KEY_BYTES_MAX).read_to_string(&mut text),
        _ => std::fs::File::open(file).and_then(|open| open.take(KEY_BYTES_MAX).read_to_string(&mut text)),
    };
    read.map_err(|error| Problem::unreadable("--key-file: ", file, &error))?;
    let key = text.trim();
    let is_key = key.starts_with("sk_test_") || key.starts_with("sk_live_");
    match is_key && key.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(key.to_owned()),
        false => Err(Problem::misused(format_args!(
            "--key-file: {} must contain only an API key, which starts with sk_test_ or sk_live_",
            named(file)
        ))),
    }
}

/// Fails if the key is for a different environment than the user requested.
fn check_environment(matches: &ArgMatches, key: &str) -> Result<(), Problem> {
    let granted = environment_of(key);
    for wanted in ["test", "live"] {
        if flag(matches, wanted) && wanted != granted {
            let remedy = match one(matches, "key-file") {
                Some(_) => "use a different key",
                None => "revoke it in the dashboard under API keys, and sign in again",
            };
            return Err(Problem::failed(format_args!(
                "the key is for the {granted} environment, not for {wanted}, and was not stored; {remedy}"
            )));
        }
    }
    Ok(())
}

/// Checks that the server accepts the key.
async fn check_key(url: &Url, key: &str) -> Result<(), Problem> {
    let remote = Remote::new(url.clone(), Some(Secret::new(key.to_owned())), false);
    let answer = remote.send(&Call::get("/v1/projects?limit=1")).await?;
    // A key that lacks the permission to read projects is still valid.
    if answer.status == 403 { Ok(()) } else { envelope(&answer).map(drop) }
}

/// Registers with the server, shows the code, and polls until the user has decided.
async fn request_key(matches: &ArgMatches, environment: &Environment, output: &Output, url: &Url) -> Result<String, Problem> {
    let email = match one(matches, "email") {
        Some(email) => email,
        None => ask_email()?,
    };
    let remote = Remote::new(url.clone(), None, output.notes);
    let metadata = plain(&remote.send(&Call::get(METADATA)).await?)?;
    let endpoint = |value: &Value, usual: &str| {
        let path = value.as_str().and_then(|text| text.parse::<Url>().ok()).map(|url| url[Position::BeforePath..].to_owned());
        path.unwrap_or_else(|| usual.to_owned())
    };
    let identity = endpoint(&metadata["agent_auth"]["identity_endpoint"], "/agent/identity");
    let token = endpoint(&metadata["token_endpoint"], "/oauth2/token");
    let grants = metadata["grant_types_supported"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let grant = grants.into_iter().find(|grant| grant.ends_with(GRANT_SUFFIX));
    let grant = grant
        .ok_or_else(|| {
            Problem::failed(format_args!(
                "{url} does not offer sign-in from the command line; create a key in the dashboard, and use --key-file"
            ))
        })?
        .to_owned();
    let scopes = one(matches, "permissions").unwrap_or_else(|| "all".to_owned()).replace(',', " ");
    let agent = one(matches, "name").unwrap_or_else(agent_name);
    let body = json!({ "type": "service_auth", "login_hint": email, "agent_name": agent, "scope": scopes });
    let registered = plain(&remote.send(&Call::post(identity.as_str(), &body)).await?)?;
    let claim_token = registered["claim_token"].as_str().unwrap_or_default().to_owned();
    show_code(&registered["claim"], url, matches, environment, output);
    let interval = registered["claim"]["interval"].as_u64().unwrap_or(INTERVAL_SECONDS).clamp(1, 60);
    let progress = Progress::new("Waiting for your decision in the browser", output.shows_progress());
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        progress.show(None, "");
        tokio::time::sleep(Duration::from_secs(interval)).await;
        let poll = json!({ "grant_type": grant, "claim_token": claim_token });
        let answer = remote.send(&Call { is_repeatable: false, ..Call::post(token.as_str(), &poll) }).await?;
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        match (answer.status.as_u16(), body["error"].as_str()) {
            (200, _) => {
                let key = body["access_token"].as_str().unwrap_or_default();
                note(&format!("Granted: {}", super::table::cell(&body["scope"])));
                return Ok(key.to_owned());
            }
            (400, Some("authorization_pending" | "slow_down")) => {}
            (400, Some("expired_token")) => {
                let renewed =
                    remote.send(&Call::post(format!("{identity}/claim"), &json!({ "claim_token": claim_token }))).await?;
                show_code(&plain(&renewed)?["claim"], url, matches, environment, output);
            }
            (400, Some("invalid_grant")) => {
                return Err(Problem::new(
                    Exit::Denied,
                    "the request was denied or has expired; run the command again to request access again",
                ));
            }
            _ => return Err(plain(&answer).err().unwrap_or_else(|| refusal(&answer, &body))),
        }
    }
    Err(Problem::new(Exit::Denied, "the request was not approved within 30 minutes; run the command again"))
}

/// Shows the code, and opens the page on which the user decides.
fn show_code(claim: &Value, server: &Url, matches: &ArgMatches, environment: &Environment, output: &Output) {
    let text = |name: &str| super::table::cell(&claim[name]);
    let page = text("verification_uri_complete");
    note(&format!("Compare this code with the one in the browser: {}", text("user_code")));
    match flag(matches, "no-browser") {
        true => note(&format!("Open this page to decide: {page}")),
        false => {
            note(&format!("The page: {page}"));
            open_page(&page, server, environment, output.notes);
        }
    }
}

/// Returns the body of a response in OAuth's format, or the error that the response describes.
fn plain(answer: &ApiResponse) -> Result<Value, Problem> {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if answer.status.is_success() && body.is_object() {
        return Ok(body);
    }
    match body["error_description"].as_str() {
        Some(description) => Err(Problem::misused(description)),
        None => Err(refusal(answer, &body)),
    }
}

fn ask_email() -> Result<String, Problem> {
    if !std::io::stdin().is_terminal() {
        return Err(Problem::misused("--email is missing; enter the email address that you use to sign in to the dashboard"));
    }
    complain("The email address that you use to sign in to the dashboard: ");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| {
        Problem::failed(format_args!("cannot read the email address from standard input: {error}; use --email instead"))
    })?;
    Ok(line.trim().to_owned())
}

/// Returns the name of this program for the consent page, including the name of the machine if it is known.
fn agent_name() -> String {
    let host = machine::host_name();
    if host.is_empty() { "mailmill command line".to_owned() } else { format!("mailmill on {host}") }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Command};

    use super::*;

    #[test]
    fn a_key_for_the_other_environment_is_not_stored() {
        let flags = ["test", "live"].map(|name| Arg::new(name).long(name).action(ArgAction::SetTrue));
        let command = Command::new("login").args(flags).no_binary_name(true);
        let of = |line: &[&str], key: &str| check_environment(&command.clone().get_matches_from(line), key);
        assert!(of(&["--test"], "sk_test_x").is_ok() && of(&["--live"], "sk_live_x").is_ok() && of(&[], "sk_live_x").is_ok());
        let refused = of(&["--test"], "sk_live_x").expect_err("the key is live").to_string();
        assert!(refused.contains("revoke it"), "{refused}");
    }

    #[test]
    fn only_a_key_is_read_from_a_file() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = folder.path().join("key");
        let read = |text: &str| {
            std::fs::write(&file, text).expect("the file can be written");
            read_key(file.to_str().expect("the path is text"))
        };
        assert_eq!(read("sk_test_abc\n").as_deref(), Ok("sk_test_abc"));
        for text in ["", "password", "sk_test_a b"] {
            assert_eq!(read(text).expect_err("it is no key").code(), 2, "{text}");
        }
    }
}
