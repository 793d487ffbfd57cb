//! TABLE: the commands and options of the command line.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::engine::api::response::WireTime;
use crate::engine::render::pixels::WorkerOptions;
use crate::vocab::environment::Environment;
use crate::vocab::finding::Finding;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::PermissionSet;

/// Self-hosted email marketing service.
#[derive(Debug, Parser)]
#[command(name = "mailmill", version, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub place: Location,
    #[command(subcommand)]
    pub command: Command,
}

/// The options for the data folder and the settings file.
#[derive(Debug, Args)]
pub struct Location {
    /// The data folder [default: ./data, or ./demo for the demo]
    #[arg(long, global = true, value_name = "DIR", env = "MAILMILL_DATA")]
    data: Option<PathBuf>,
    /// A settings file that overrides the defaults
    #[arg(long, global = true, value_name = "FILE", env = "MAILMILL_CONFIG")]
    pub config: Option<PathBuf>,
}

impl Location {
    pub fn data(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new("./data"))
    }

    /// Returns the demo's data folder, which is separate from real data.
    pub fn demo(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new("./demo"))
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service
    Serve(Serve),
    /// Run a one-minute demo with test data, from a website to a campaign report, then keep the service running
    Demo(Demo),
    /// Create the owner of this installation
    Setup(Setup),
    /// Create a password-reset link for a user
    ResetLink(ResetLink),
    /// Manage API keys
    #[command(subcommand)]
    Keys(Keys),
    /// Manage the plans of accounts
    #[command(subcommand)]
    Accounts(Accounts),
    /// Check for problems that keep email from arriving, and show what to fix next
    ///
    /// Exit codes: 0 if all is well, 1 if there is a problem, 2 if there are only warnings.
    Doctor,
    /// Back up all data to a new folder, even while the service runs
    Backup(Backup),
    /// Verify a backup, or restore one into an empty data folder
    Restore(Restore),
    /// Verify the checksum of every page in the data files, and read every row (stop the service first)
    CheckData,
    /// Show what is waiting while sending is on hold; with --yes, resume sending
    Resume(Resume),
    /// List what is lost without the master key, and create a new key if every copy is lost
    Rekey(Rekey),
    /// Rebuild the search index, even while the service runs
    Reindex(Reindex),
    /// Run several nodes on one PostgreSQL database
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Pass a bounce, complaint or unsubscribe message from standard input to the running service (the pipe command for a mail server)
    Inbound(Inbound),
    /// Compare language models
    #[command(subcommand)]
    Models(Models),
    /// Check an email in a file: email clients, links, spelling, deliverability and accessibility
    ///
    /// Needs no server and no data folder. Exit codes: 0 if the email passes, 1 if there are critical findings or the score is below
    /// --min-score, 2 if the file or the options cannot be used.
    Check(CheckFile),
    /// Connect an AI assistant to a server's MCP endpoint over standard input and output (the stdio transport)
    ///
    /// Uses the profile of `mailmill login`, or MAILMILL_URL and MAILMILL_KEY. Assistants that accept a URL don't need this command: give
    /// them the server's address followed by /mcp.
    Mcp(ToolForwarding),
    /// Print the OpenAPI document
    Openapi,
    /// Print the licenses of the fonts and code that this program includes
    Notices,
    /// Render one email in a worker process (started by the service)
    #[command(hide = true)]
    RenderWorker(RenderWorker),
}

#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Create a new installation in the empty data folder, and its cluster in the empty database that the settings name
    Init,
    /// Turn the installation in the data folder into a cluster in the empty database that the settings name (stop the service first)
    Import,
    /// Write the cluster's data into a new folder for a single machine
    Export {
        /// The new folder, which must be empty or absent
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
    },
    /// Build the data folder of this node from the database, so that its first start is fast
    Join,
    /// Show the leader, any reported loss of commits, the logs and the snapshots in the database
    Status,
    /// Hand leadership from this running node to another, for example before an upgrade
    Drain {
        /// Let this node lead again
        #[arg(long)]
        undo: bool,
    },
    /// Let the cluster continue without the commits that its database has lost (stop all nodes first)
    AcceptLoss,
    /// Delete this node's copy of the data (stop the service first)
    Leave,
}

#[derive(Debug, Args)]
pub struct RenderWorker {
    /// A folder with additional fonts
    #[arg(long)]
    fonts: Option<PathBuf>,
    /// Decode one image
    #[arg(long)]
    decodes: bool,
    /// Run even if the kernel cannot confine the process
    #[arg(long)]
    unconfined: bool,
}

#[derive(Debug, Args)]
pub struct ToolForwarding {
    /// The profile with the server and the key [default: the profile of the last login]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// The address of the server
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Address for plain HTTP; port 0 picks a free port; "" turns it off
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// Address for HTTPS; port 0 picks a free port; "" turns it off
    #[arg(long, value_name = "ADDR")]
    pub https: Option<String>,
    /// Write the addresses and the process ID to this file, as JSON, once the service accepts requests
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// If this folder was restored or copied, resume sending immediately; emails sent since the backup or copy may be sent again
    #[arg(long)]
    pub resume: bool,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// The website to read instead of the made-up shop's, such as https://example.com; only for a new demo
    #[arg(long, value_name = "URL")]
    pub site: Option<String>,
    /// Address for plain HTTP; port 0 picks a free port
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// Write the addresses and the process ID to this file, as JSON, once the service accepts requests
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Setup {
    /// The owner's email address
    #[arg(long, value_name = "OWNER")]
    pub email: String,
    /// A file with the owner's password; "-" for standard input
    #[arg(long, value_name = "FILE")]
    pub password_file: PathBuf,
}

#[derive(Debug, Args)]
pub struct ResetLink {
    /// The user's email address
    #[arg(long, value_name = "EMAIL")]
    pub email: String,
}

#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Create a key and print it once
    #[command(override_usage = "mailmill keys create [OPTIONS] --env <ENV> --name <NAME>\n         --permissions <LIST>")]
    Create {
        /// The environment of the key: test or live
        #[arg(long, value_name = "ENV")]
        env: Environment,
        /// What the key is for
        #[arg(long)]
        name: String,
        /// The permissions of the key: "all", or names separated by commas
        #[arg(long, value_name = "LIST")]
        permissions: PermissionSet,
    },
    /// List all keys
    List,
    /// Revoke a key, so that it stops working
    Revoke {
        /// The key ID that `mailmill keys list` shows
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum Accounts {
    /// List the accounts with their plans
    List,
    /// Change the plan of an account
    Plan {
        /// A plan in the settings, for example standard
        plan: String,
        /// The email address of the account's owner [default: the installation's own account]
        #[arg(long, value_name = "EMAIL")]
        owner: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum Models {
    /// Let a model write 40 test emails, and print how many facts it keeps, what it invents, how long it takes and what it costs
    Test(ModelTest),
}

#[derive(Debug, Args)]
pub struct ModelTest {
    /// A name from [models] in the settings [default: the default model]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Print the figures and all results as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckFile {
    /// The email: HTML, or a whole message (.eml); "-" for standard input
    pub file: PathBuf,
    /// Print the report as JSON
    #[arg(long, conflicts_with = "sarif")]
    pub json: bool,
    /// Print the findings as SARIF 2.1.0, for code review tools
    #[arg(long)]
    pub sarif: bool,
    /// Fail if the score is below this number from 0 to 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub min_score: Option<u8>,
    /// Request the URLs of the links and images; without this option, the URLs are checked but not requested
    #[arg(long)]
    pub links: bool,
    /// The subject [default: the subject of the message]
    #[arg(long, value_name = "TEXT")]
    pub subject: Option<String>,
    /// Leave out the findings of a rule, such as links/unsubscribe_missing; the score still counts them; repeat the option for more rules
    #[arg(long = "ignore", value_name = "RULE")]
    pub ignored: Vec<String>,
    /// A name that is spelled correctly, such as a brand or product; repeat the option for more names
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<String>,
}

/// The output format of `mailmill check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    Text,
    Json,
    Sarif,
}

impl CheckFile {
    pub fn format(&self) -> ReportFormat {
        match (self.json, self.sarif) {
            (_, true) => ReportFormat::Sarif,
            (true, false) => ReportFormat::Json,
            (false, false) => ReportFormat::Text,
        }
    }
}

#[derive(Debug, Args)]
pub struct Backup {
    /// A folder that does not exist yet or is empty
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

/// The options of `restore` that cannot be used with `--brand`. They also conflict with the options that require `--brand`. Otherwise such
/// an option would be ignored if `--brand` is missing: clap does not report a missing option if the command has an option that conflicts
/// with it.
const NOT_WITH_BRAND: [&str; 6] = ["verify", "resume", "contacts", "to", "master_key", "without_key"];

#[derive(Debug, Args)]
pub struct Restore {
    /// The backup folder, or the URL of a continuous backup, such as s3://bucket/prefix
    #[arg(value_name = "FOLDER|URL")]
    pub folder: PathBuf,
    /// Only check the backup: compare a backup folder with its manifest, or restore a continuous backup into a temporary folder
    #[arg(long)]
    pub verify: bool,
    /// Restore the state at this time, such as 2026-12-01T10:00:00Z, instead of the newest state (continuous backups only)
    #[arg(long, value_name = "TIME")]
    pub at: Option<WireTime>,
    /// Only write this brand's contacts to a CSV file, which you can import (continuous backups only)
    #[arg(long, value_name = "BRAND_ID", value_parser = brand_id, requires = "to", conflicts_with_all = ["verify", "resume"])]
    pub contacts: Option<ProjectId>,
    /// Restore this brand from the installation's own backup into the running service; shows a preview unless --yes is given
    #[arg(long, value_name = "BRAND_ID", value_parser = brand_id, conflicts_with_all = NOT_WITH_BRAND)]
    pub brand: Option<ProjectId>,
    /// With --brand: restore missing items (the default), also replace existing items, or create a second brand
    #[arg(long, value_name = "missing|replace|copy", requires = "brand", conflicts_with_all = NOT_WITH_BRAND)]
    pub mode: Option<RestoreMode>,
    /// With --brand: also restore contacts that were deleted after the time of the restored state
    #[arg(long, requires = "brand", conflicts_with_all = NOT_WITH_BRAND)]
    pub deleted_contacts: bool,
    /// With --brand: restore the brand instead of showing a preview
    #[arg(long, requires = "brand", conflicts_with_all = NOT_WITH_BRAND)]
    pub yes: bool,
    /// The CSV file for --contacts; it must not exist yet
    #[arg(long, value_name = "FILE", requires = "contacts", conflicts_with_all = ["verify", "resume"])]
    pub to: Option<PathBuf>,
    /// Your copy of master.key, which backups do not contain
    #[arg(long, value_name = "FILE", conflicts_with = "without_key")]
    pub master_key: Option<PathBuf>,
    /// Restore without the key if every copy is lost; run `mailmill rekey` before you start the service
    #[arg(long)]
    pub without_key: bool,
    /// Do not put sending on hold; emails sent after the backup may be sent again
    #[arg(long)]
    pub resume: bool,
}

/// How `restore --brand` treats the brand's current data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RestoreMode {
    Missing,
    Replace,
    Copy,
}

impl RestoreMode {
    /// Returns the mode's name in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Replace => "replace",
            Self::Copy => "copy",
        }
    }
}

fn brand_id(text: &str) -> Result<ProjectId, &'static str> {
    ProjectId::parse(text).ok_or("must be the ID of a brand, which has 24 hexadecimal digits")
}

#[derive(Debug, Args)]
pub struct Resume {
    /// Resume sending; without this option, only show what is on hold
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct Rekey {
    /// The losses to accept: names that `mailmill rekey` lists, separated by commas
    #[arg(long, value_name = "a,b", value_delimiter = ',')]
    pub accept_loss: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Reindex {
    /// Rebuild only the index of this environment
    #[arg(long, value_name = "test|live")]
    pub env: Option<Environment>,
}

#[derive(Debug, Args)]
pub struct Inbound {
    /// The envelope sender; empty for bounces
    #[arg(long, default_value = "")]
    pub sender: String,
    /// The envelope recipients
    #[arg(required = true, value_name = "RECIPIENT")]
    pub recipients: Vec<String>,
}

/// A command that is sent as a request to an operator operation.
#[derive(Debug)]
pub enum Administration {
    Setup(Setup),
    ResetLink(ResetLink),
    Keys(Keys),
    Accounts(Accounts),
    Backup(Backup),
    Reindex(Reindex),
    Resume(Resume),
    /// Moves the leadership of the cluster to another node; with `undo`, lets this node lead again.
    Drain {
        undo: bool,
    },
    /// Runs the checks of `mailmill doctor` in the service. The command's own findings are shown first.
    Doctor(Vec<Finding>),
}

/// A command. All commands that are sent as one request to an operator operation share one variant, [`Administration`].
#[derive(Debug)]
pub enum ParsedCommand {
    Serve(Serve),
    Demo(Demo),
    Doctor,
    Administration(Administration),
    Restore(Restore),
    CheckData,
    Rekey(Rekey),
    Cluster(ClusterCommand),
    Inbound(Inbound),
    ModelTest(ModelTest),
    Check(CheckFile),
    Mcp(ToolForwarding),
    Openapi,
    Notices,
    RenderWorker(WorkerOptions),
}

impl Command {
    pub fn parsed(self) -> ParsedCommand {
        match self {
            Command::Serve(serve) => ParsedCommand::Serve(serve),
            Command::Demo(demo) => ParsedCommand::Demo(demo),
            Command::Doctor => ParsedCommand::Doctor,
            Command::Setup(setup) => ParsedCommand::Administration(Administration::Setup(setup)),
            Command::ResetLink(who) => ParsedCommand::Administration(Administration::ResetLink(who)),
            Command::Keys(keys) => ParsedCommand::Administration(Administration::Keys(keys)),
            Command::Accounts(accounts) => ParsedCommand::Administration(Administration::Accounts(accounts)),
            Command::Backup(backup) => ParsedCommand::Administration(Administration::Backup(backup)),
            Command::Cluster(ClusterCommand::Drain { undo }) => ParsedCommand::Administration(Administration::Drain { undo }),
            Command::Cluster(command) => ParsedCommand::Cluster(command),
            Command::Reindex(reindex) => ParsedCommand::Administration(Administration::Reindex(reindex)),
            Command::Resume(resume) => ParsedCommand::Administration(Administration::Resume(resume)),
            Command::Restore(restore) => ParsedCommand::Restore(restore),
            Command::CheckData => ParsedCommand::CheckData,
            Command::Rekey(rekey) => ParsedCommand::Rekey(rekey),
            Command::Inbound(inbound) => ParsedCommand::Inbound(inbound),
            Command::Models(Models::Test(wanted)) => ParsedCommand::ModelTest(wanted),
            Command::Check(wanted) => ParsedCommand::Check(wanted),
            Command::Mcp(wanted) => ParsedCommand::Mcp(wanted),
            Command::Openapi => ParsedCommand::Openapi,
            Command::Notices => ParsedCommand::Notices,
            Command::RenderWorker(RenderWorker { fonts, decodes, unconfined }) => {
                ParsedCommand::RenderWorker(WorkerOptions { fonts, decodes, unconfined })
            }
        }
    }
}

impl Administration {
    /// Returns whether the command can run with an empty data folder.
    pub fn may_begin(&self) -> bool {
        matches!(self, Self::Setup(_) | Self::Keys(Keys::Create { .. }))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_that_restore_one_brand_are_not_ignored_in_other_restores() {
        let parse = |options: &str| {
            let words = ["mailmill", "restore", "s3://acme/backup"].into_iter().chain(options.split_whitespace());
            Cli::try_parse_from(words).map(drop)
        };
        let brand = "--brand 66f1a2b3d4e5f60718293a4b";
        for option in ["--mode copy", "--deleted-contacts", "--yes"] {
            assert!(parse(&format!("{brand} {option}")).is_ok(), "{option}");
            for other in ["", "--master-key k", "--without-key", "--verify", "--resume", "--to f"] {
                assert!(parse(&format!("{option} {other}")).is_err(), "{option} {other}");
            }
        }
        for other in ["", "--verify", "--resume", brand] {
            assert!(parse(&format!("--to f {other}")).is_err(), "--to f {other}");
        }
        assert!(parse("--contacts 66f1a2b3d4e5f60718293a4b --to f --master-key k").is_ok());
    }

    #[test]
    fn an_empty_list_of_permissions_and_unknown_words_are_refused() {
        let parse = |permissions: &str| {
            Cli::try_parse_from(["mailmill", "keys", "create", "--env", "test", "--name", "n", "--permissions", permissions])
        };
        assert!(parse("all").is_ok() && parse("audience:read,email:send").is_ok());
        let error = parse("audience:raed").expect_err("a misspelled permission is rejected").to_string();
        assert!(error.contains("did you mean audience:read?"), "{error}");
    }
}
