//! The administration commands. Each command sends one request and formats the reply as text.

use std::fs;
use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, Uri};
use serde_json::{Value, json};

use super::args::{Accounts, Administration, Backup, Keys, Reindex, ResetLink, Resume, Setup};
use super::problem::Problem;
use crate::base::secret::Secret;
use crate::engine::api::http_types::{Body, Incoming, Peer, Reply, ReplyBody};
use crate::vocab::finding::{Finding, Verdict};
use crate::vocab::limits::PASSWORD_BYTES_MAX;

/// A command's output: the result for standard output, the explanation for standard error, and the exit code.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandOutput {
    pub out: String,
    pub err: String,
    pub code: u8,
}

/// The exit code of `mailmill doctor` if it finds a problem.
const FOUND_PROBLEM: u8 = 1;
/// The exit code of `mailmill doctor` if it finds warnings but no problems.
const FOUND_WARNING: u8 = 2;

/// Runs an administration command; `call` sends the command's request and returns the reply.
pub async fn perform(
    command: &Administration,
    call: impl AsyncFnOnce(Incoming) -> Result<Reply, Problem>,
) -> Result<CommandOutput, Problem> {
    let reply = call(request(command)?).await?;
    let data = data(reply)?;
    Ok(say(command, &data))
}

fn request(command: &Administration) -> Result<Incoming, Problem> {
    Ok(match command {
        Administration::Setup(setup) => post("/admin/setup", owner(setup)?),
        Administration::ResetLink(ResetLink { email }) => post("/admin/reset-link", json!({ "email": email })),
        Administration::Keys(Keys::Create { env, name, permissions }) => {
            post("/admin/keys", json!({ "environment": env, "name": name, "permissions": permissions }))
        }
        Administration::Keys(Keys::List) => incoming(Method::GET, "/admin/keys", Body::Empty),
        Administration::Keys(Keys::Revoke { id }) => {
            // A valid key ID contains only hexadecimal digits, so it needs no escaping in the path.
            if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(Problem::misused(format_args!(
                    "\"{id}\" is not an API key ID; run `mailmill keys list` to see the IDs"
                )));
            }
            incoming(Method::DELETE, &format!("/admin/keys/{id}"), Body::Empty)
        }
        Administration::Accounts(Accounts::List) => post("/admin/accounts", json!({})),
        Administration::Accounts(Accounts::Plan { plan, owner }) => {
            post("/admin/accounts", json!({ "plan": plan, "owner": owner }))
        }
        Administration::Backup(Backup { to }) => {
            // The server's working directory may differ from this one, so the path must be absolute.
            let to = std::path::absolute(to).map_err(Problem::misused)?;
            let to =
                to.to_str().ok_or_else(|| Problem::misused("the folder's path is not valid UTF-8; choose a different folder"))?;
            post("/admin/backups", json!({ "to": to }))
        }
        Administration::Reindex(Reindex { env }) => {
            post("/admin/reindex", env.map_or_else(|| json!({}), |env| json!({ "environment": env })))
        }
        Administration::Resume(Resume { yes }) => post("/admin/resume", json!({ "confirm": yes })),
        Administration::Drain { undo } => post("/admin/cluster/drain", json!({ "undo": undo })),
        Administration::Doctor(_) => post("/admin/doctor", json!({})),
    })
}

fn owner(setup: &Setup) -> Result<Value, Problem> {
    let password = read_password(&setup.password_file)?;
    Ok(json!({ "email": setup.email, "password": password.expose() }))
}

fn read_password(file: &Path) -> Result<Secret, Problem> {
    // The limit is longer than any password, but short enough that reading the wrong file does no harm.
    let limit = PASSWORD_BYTES_MAX as u64 + 3;
    let mut text = String::with_capacity(limit as usize);
    let read = match file == Path::new("-") {
        true => std::io::stdin().take(limit).read_to_string(&mut text),
        false => fs::File::open(file).and_then(|file| file.take(limit).read_to_string(&mut text)),
    };
    read.map_err(|error| Problem::unreadable("--password-file: ", &file.to_string_lossy(), &error))?;
    let text = Secret::new(text);
    let line = text.expose().strip_suffix('\n').unwrap_or(text.expose());
    Ok(Secret::new(line.strip_suffix('\r').unwrap_or(line).to_owned()))
}

/// Returns a request to an operator operation.
pub fn post(path: &str, body: Value) -> Incoming {
    let mut request = incoming(Method::POST, path, Body::Whole(Bytes::from(body.to_string())));
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request
}

fn incoming(method: Method, path: &str, body: Body) -> Incoming {
    let uri: Uri = path.parse().expect("a path of letters, digits and slashes is a valid URI");
    Incoming { method, uri, headers: HeaderMap::new(), body, peer: Peer::Operator }
}

/// Returns the data of the reply's envelope, or the envelope's error as a problem.
pub fn data(reply: Reply) -> Result<Value, Problem> {
    let foreign = || {
        Problem::failed(
            "the response has an unexpected format; check that the running service and this command have the same version",
        )
    };
    let ReplyBody::Whole(bytes) = reply.body else { return Err(foreign()) };
    let mut envelope: Value = serde_json::from_slice(&bytes).map_err(|_| foreign())?;
    if reply.status.is_success() {
        return Ok(envelope["data"].take());
    }
    let sentence = envelope["error"].as_str().unwrap_or("the server gave no reason").to_owned();
    Err(if reply.status.is_client_error() { Problem::misused(sentence) } else { Problem::failed(sentence) })
}

/// Formats the findings of `mailmill doctor`, and the next step to take.
pub fn report(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.subject.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for finding in findings {
        let word = match finding.verdict {
            Verdict::Good => "good   ",
            Verdict::Skipped => "-      ",
            Verdict::Warning => "warning",
            Verdict::Problem => "PROBLEM",
        };
        text.push_str(&format!("{word}  {:<width$}  {}\n", finding.subject, finding.said));
    }
    let worst = |verdict| findings.iter().find(|finding| finding.verdict == verdict);
    let next = worst(Verdict::Problem).or_else(|| worst(Verdict::Warning));
    match next.and_then(|finding| Some((finding, finding.remedy.as_ref()?))) {
        Some((finding, remedy)) => text.push_str(&format!("\nNext ({}): {remedy}\n", finding.subject)),
        None => text.push_str("\nNothing to do.\n"),
    }
    text
}

/// Returns the exit code for the findings of `mailmill doctor`.
pub fn exit_code(findings: &[Finding]) -> u8 {
    let is_there = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
    match (is_there(Verdict::Problem), is_there(Verdict::Warning)) {
        (true, _) => FOUND_PROBLEM,
        (false, true) => FOUND_WARNING,
        (false, false) => 0,
    }
}

fn say(command: &Administration, data: &Value) -> CommandOutput {
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    match command {
        Administration::Setup(_) => CommandOutput {
            err: format!("{} is now the owner of this installation.\n", text("email")),
            ..CommandOutput::default()
        },
        Administration::Doctor(local) => {
            let mut findings = local.clone();
            findings.extend(serde_json::from_value::<Vec<Finding>>(data["findings"].clone()).unwrap_or_default());
            CommandOutput { out: report(&findings), code: exit_code(&findings), ..CommandOutput::default() }
        }
        Administration::ResetLink(_) => CommandOutput {
            out: format!("{}\n", text("link")),
            err: format!("{} can use this link once, until {}, to set a new password.\n", text("email"), text("expiresAt")),
            code: 0,
        },
        Administration::Keys(Keys::Create { .. }) => CommandOutput {
            out: format!("{}\n", text("key")),
            err: format!("This is the only time the {} key \"{}\" is shown.\n", text("environment"), text("name")),
            code: 0,
        },
        Administration::Keys(Keys::List) => CommandOutput { out: key_table(&data["keys"]), ..CommandOutput::default() },
        Administration::Keys(Keys::Revoke { .. }) => CommandOutput {
            err: format!("Revoked the {} key \"{}\" ({}).\n", text("environment"), text("name"), text("id")),
            ..CommandOutput::default()
        },
        Administration::Accounts(_) => CommandOutput { out: account_table(&data["accounts"]), ..CommandOutput::default() },
        Administration::Backup(_) => CommandOutput {
            out: format!("{}\n", text("folder")),
            err: format!(
                "The backup is complete. It does not contain the master key: keep a copy of {} elsewhere. Without it, encrypted secrets are lost.\n",
                text("masterKey")
            ),
            code: 0,
        },
        Administration::Resume(Resume { yes }) => hold(data, *yes),
        Administration::Drain { undo: true } => {
            CommandOutput { err: format!("{} can lead the cluster again.\n", text("node")), ..CommandOutput::default() }
        }
        Administration::Drain { undo: false } => {
            let leads = match data["leader"].as_str() {
                Some(leader) => format!("{leader} leads the cluster. "),
                None => "No other node has taken over yet. ".to_owned(),
            };
            let err = format!(
                "{leads}{} does not lead again until it restarts, or until `mailmill cluster drain --undo`.\n",
                text("node")
            );
            CommandOutput { err, ..CommandOutput::default() }
        }
        Administration::Reindex(_) => {
            let one = |index: &Value| {
                format!("{}: {} contacts indexed\n", index["environment"].as_str().unwrap_or_default(), index["contacts"])
            };
            CommandOutput { out: data["indexes"].as_array().into_iter().flatten().map(one).collect(), ..CommandOutput::default() }
        }
    }
}

/// Formats the work that is waiting while sending is on hold, with a notice about emails that may be sent twice.
fn hold(data: &Value, resumed: bool) -> CommandOutput {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    // If sending is not on hold, there is nothing to show.
    if data["since"].is_null() {
        return CommandOutput {
            err: "Sending is not on hold in this data folder. Choose another folder with --data.\n".into(),
            ..CommandOutput::default()
        };
    }
    let mut out = format!("{} On hold since {}.\n", text(data, "reason"), text(data, "since"));
    for campaign in data["campaigns"].as_array().into_iter().flatten() {
        let waits = match campaign["scheduledAt"].as_str() {
            Some(at) => format!("scheduled for {at}"),
            None => {
                let (recipients, retries) = (&campaign["recipients"], &campaign["retries"]);
                format!("{}, recipients waiting: {recipients}, of them retries: {retries}", text(campaign, "status"))
            }
        };
        out.push_str(&format!("  {:<4}  {}: {waits}\n", text(campaign, "environment"), text(campaign, "name")));
    }
    for item in data["other"].as_array().into_iter().flatten() {
        let (kind, name) = (text(item, "kind"), text(item, "name"));
        out.push_str(&format!("  {:<4}  {kind} {}: {name} ({})\n", text(item, "environment"), text(item, "id"), item["count"]));
    }
    for held in data["environments"].as_array().into_iter().flatten() {
        out.push_str(&format!(
            "  {:<4}  direct sends and batches: {}, retries: {}, webhook deliveries: {}, imports: {}, generations: {}\n",
            text(held, "environment"),
            held["sends"],
            held["retries"],
            held["webhookDeliveries"],
            held["imports"],
            held["generations"]
        ));
    }
    out.push_str(&format!("{}\n", text(data, "notice")));
    let err = match resumed {
        true => "Sending resumed.\n",
        false => "Sending is still on hold. To resume sending, repeat this command with --yes.\n",
    };
    CommandOutput { out, err: err.into(), code: 0 }
}

fn account_table(accounts: &Value) -> String {
    let mut out = format!("{:<24}  {:<16}  OWNER\n", "ID", "PLAN");
    for account in accounts.as_array().into_iter().flatten() {
        let text = |name: &str| account[name].as_str().unwrap_or("-");
        out.push_str(&format!("{:<24}  {:<16}  {}\n", text("id"), text("plan"), text("owner")));
    }
    out
}

fn key_table(keys: &Value) -> String {
    let head = ["ID", "ENV", "STATE", "CREATED", "LAST USED", "REQUESTS", "NAME", "PERMISSIONS"].map(str::to_owned);
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(keys.as_array().into_iter().flatten().map(key_row)).collect();
    let widths: [usize; 8] = std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn key_row(key: &Value) -> [String; 8] {
    let text = |name: &str| key[name].as_str().unwrap_or("-").to_owned();
    // Times are shown to the minute, which is precise enough for a list.
    let time = |name: &str| key[name].as_str().and_then(|time| time.get(..16)).unwrap_or("-").replace('T', " ");
    let permissions: Vec<&str> = key["permissions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let all = crate::vocab::permissions::Permission::ALL.len();
    let permissions = if permissions.len() == all { "all".to_owned() } else { permissions.join(",") };
    let state = if key["revokedAt"].is_null() { "active" } else { "revoked" };
    [
        text("id"),
        text("environment"),
        state.to_owned(),
        time("createdAt"),
        time("lastUsedAt"),
        key["requests"].to_string(),
        text("name"),
        permissions,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &Value) -> Reply {
        let status = http::StatusCode::from_u16(status).expect("the status is valid");
        Reply { status, headers: HeaderMap::new(), body: ReplyBody::Whole(Bytes::from(body.to_string())) }
    }

    #[tokio::test]
    async fn only_the_new_key_goes_to_standard_output() {
        let permissions = "all".parse().expect("the permissions are valid");
        let create = Keys::Create { env: crate::vocab::environment::Environment::Test, name: "n".into(), permissions };
        let answer = json!({ "data": { "key": "sk_test_x", "name": "n", "environment": "test" } });
        let create = Administration::Keys(create);
        let said = perform(&create, async |request: Incoming| {
            assert_eq!((request.method.as_str(), request.uri.path()), ("POST", "/admin/keys"));
            Ok(reply(201, &answer))
        });
        let said = said.await.expect("the command succeeds");
        assert_eq!(said.out, "sk_test_x\n");
        assert!(said.err.contains("only time"));
    }

    #[tokio::test]
    async fn a_refusal_is_shown_in_the_servers_words() {
        let list = Administration::Keys(Keys::List);
        let answer = json!({ "success": false, "error": "Give more.", "code": "INVALID_REQUEST" });
        let problem =
            perform(&list, async |_| Ok(reply(400, &answer))).await.expect_err("a response with status 400 is an error");
        assert_eq!((problem.to_string().as_str(), problem.code()), ("Give more.", 2));
        let broken = perform(&list, async |_| Ok(reply(500, &answer))).await.expect_err("a response with status 500 is an error");
        assert_eq!(broken.code(), 1);
    }

    #[test]
    fn the_doctor_exits_with_one_on_a_problem_and_two_on_a_warning() {
        let [good, skipped] = [Finding::good("clock", "right"), Finding::skipped("reverse dns", "not used")];
        let [warning, problem] =
            [Finding::warning("tls", "no address", "Set one."), Finding::problem("disk", "full", "Make room.")];
        for (findings, code) in [
            (vec![], 0),
            (vec![good.clone(), skipped.clone()], 0),
            (vec![good.clone(), warning.clone(), skipped], 2),
            (vec![warning, good, problem.clone()], 1),
            (vec![problem], 1),
        ] {
            assert_eq!(exit_code(&findings), code, "{findings:?}");
        }
    }

    #[test]
    fn an_invalid_id_never_becomes_a_path() {
        for id in ["", "../keys", "a b", "é"] {
            assert!(request(&Administration::Keys(Keys::Revoke { id: id.into() })).is_err(), "{id}");
        }
    }

    #[test]
    fn a_password_is_read_without_its_line_ending() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = folder.path().join("password");
        for (text, password) in [("secret words\n", "secret words"), ("secret words\r\n", "secret words"), ("a \n\n", "a \n")] {
            fs::write(&file, text).expect("the file can be written");
            assert_eq!(read_password(&file).expect("the file can be read").expose(), password);
        }
        fs::remove_file(&file).expect("the file can be removed");
        assert!(read_password(&file).expect_err("a missing file is an error").to_string().contains("cannot read"));
    }
}
