//! TABLE: what can be asked on the command line.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};

use crate::engine::render::pixels::Duty;
use crate::vocab::environment::Environment;
use crate::vocab::finding::Finding;
use crate::vocab::permissions::PermissionSet;

/// A team's own AI email marketing service.
#[derive(Debug, Parser)]
#[command(name = "mailmill", version, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub place: Place,
    #[command(subcommand)]
    pub command: Command,
}

/// Where the data and the settings are.
#[derive(Debug, Args)]
pub struct Place {
    /// The data folder [default: ./data, and ./demo for the demo]
    #[arg(long, global = true, value_name = "DIR", env = "MAILMILL_DATA")]
    data: Option<PathBuf>,
    /// A file with settings that differ from the defaults
    #[arg(long, global = true, value_name = "FILE", env = "MAILMILL_CONFIG")]
    pub config: Option<PathBuf>,
}

impl Place {
    /// The data folder.
    pub fn data(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new("./data"))
    }

    /// The data folder of the demo: nothing of it mixes with real work.
    pub fn demo(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new("./demo"))
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service
    Serve(Serve),
    /// Show everything in a minute: a brand, emails, contacts, a campaign, opens, clicks and revenue, then keep the service running
    Demo(Demo),
    /// Create the owner of this installation
    Setup(Setup),
    /// Make a link to a new password for somebody who forgot theirs
    ResetLink(ResetLink),
    /// API keys
    #[command(subcommand)]
    Keys(Keys),
    /// Accounts and their plans
    #[command(subcommand)]
    Accounts(Accounts),
    /// Look for what keeps mail from arriving, and name the one next thing to do
    Doctor,
    /// Copy all data into a new folder, also while the service runs
    Backup(Backup),
    /// Check a backup, or put one into an empty data folder
    Restore(Restore),
    /// Compare every page of the data files with its checksum (stop the service first)
    CheckData,
    /// Show what waits while sending is on hold; with --yes, resume sending
    Resume(Resume),
    /// List what is lost without the master key, and create a new key if every copy is lost
    Rekey(Rekey),
    /// Build the search index anew, also while the service runs
    Reindex(Reindex),
    /// Hand a message that came back, from the standard input, to the running service: for the pipe of a mail server
    Inbound(Inbound),
    /// Print the OpenAPI document
    Openapi,
    /// Print the licences of the fonts and sources of others within this program
    Notices,
    /// Draw one email: how the service starts processes of its own
    #[command(hide = true)]
    RenderWorker(RenderWorker),
}

#[derive(Debug, Args)]
pub struct RenderWorker {
    /// Folder with further fonts
    #[arg(long)]
    fonts: Option<PathBuf>,
    /// The order is about one image
    #[arg(long)]
    decodes: bool,
    /// Run also where the kernel cannot confine the process
    #[arg(long)]
    unconfined: bool,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Address for plain HTTP; port 0 chooses one; "" for none
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// Address for HTTPS; port 0 chooses one; "" for none
    #[arg(long, value_name = "ADDR")]
    pub https: Option<String>,
    /// Write addresses and process id to this file, as JSON, once requests are taken
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// If this folder was restored or copied, resume sending at once: anything sent since then arrives twice
    #[arg(long)]
    pub resume: bool,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// The web site to read instead of the made-up shop's, like https://example.com
    #[arg(long, value_name = "URL")]
    pub site: Option<String>,
    /// Address for plain HTTP; port 0 chooses one
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// Write addresses and process id to this file, as JSON, once requests are taken
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Setup {
    /// The owner's email address
    #[arg(long, value_name = "OWNER")]
    pub email: String,
    /// A file with the owner's password; "-" for the standard input
    #[arg(long, value_name = "FILE")]
    pub password_file: PathBuf,
}

#[derive(Debug, Args)]
pub struct ResetLink {
    /// The email that they sign in with
    #[arg(long, value_name = "EMAIL")]
    pub email: String,
}

#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Make a key and print it, once
    Create {
        /// Which data it works on
        #[arg(long, value_name = "test|live")]
        env: Environment,
        /// What it is for
        #[arg(long)]
        name: String,
        /// What it allows: "all", or names separated by commas
        #[arg(long, value_name = "all|a,b")]
        permissions: PermissionSet,
    },
    /// List all keys
    List,
    /// Revoke a key; the next request with it fails
    Revoke {
        /// The id that the list shows
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

#[derive(Debug, Args)]
pub struct Backup {
    /// A folder that does not exist yet, or is empty
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

#[derive(Debug, Args)]
pub struct Restore {
    /// The folder with the backup
    pub folder: PathBuf,
    /// Only check that the backup is intact and, with --master-key, that the key belongs to it
    #[arg(long)]
    pub verify: bool,
    /// Your copy of the file master.key, which is in no backup
    #[arg(long, value_name = "FILE", conflicts_with = "without_key")]
    pub master_key: Option<PathBuf>,
    /// Restore without the key if every copy is lost; run `mailmill rekey` before you start the service
    #[arg(long)]
    pub without_key: bool,
    /// Do not put sending on hold: what was sent after the backup arrives twice
    #[arg(long)]
    pub resume: bool,
}

#[derive(Debug, Args)]
pub struct Resume {
    /// Resume; without it, only show what waits
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct Rekey {
    /// Losses that you accept, named as in the list, separated by commas
    #[arg(long, value_name = "a,b", value_delimiter = ',')]
    pub accept_loss: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Reindex {
    /// Only the index of this environment
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

/// A command that is a request to an operation of the operator.
#[derive(Debug)]
pub enum Administration {
    Setup(Setup),
    ResetLink(ResetLink),
    Keys(Keys),
    Accounts(Accounts),
    Backup(Backup),
    Reindex(Reindex),
    Resume(Resume),
    /// With what the process around found by itself.
    Doctor(Vec<Finding>),
}

/// What a command needs to be done.
#[derive(Debug)]
pub enum Asked {
    Serve(Serve),
    Demo(Demo),
    Doctor,
    Administration(Administration),
    Restore(Restore),
    CheckData,
    Rekey(Rekey),
    Inbound(Inbound),
    Openapi,
    Notices,
    RenderWorker(Duty),
}

impl Command {
    /// Sorted by what it needs.
    pub fn asked(self) -> Asked {
        match self {
            Command::Serve(serve) => Asked::Serve(serve),
            Command::Demo(demo) => Asked::Demo(demo),
            Command::Doctor => Asked::Doctor,
            Command::Setup(setup) => Asked::Administration(Administration::Setup(setup)),
            Command::ResetLink(who) => Asked::Administration(Administration::ResetLink(who)),
            Command::Keys(keys) => Asked::Administration(Administration::Keys(keys)),
            Command::Accounts(accounts) => Asked::Administration(Administration::Accounts(accounts)),
            Command::Backup(backup) => Asked::Administration(Administration::Backup(backup)),
            Command::Reindex(reindex) => Asked::Administration(Administration::Reindex(reindex)),
            Command::Resume(resume) => Asked::Administration(Administration::Resume(resume)),
            Command::Restore(restore) => Asked::Restore(restore),
            Command::CheckData => Asked::CheckData,
            Command::Rekey(rekey) => Asked::Rekey(rekey),
            Command::Inbound(inbound) => Asked::Inbound(inbound),
            Command::Openapi => Asked::Openapi,
            Command::Notices => Asked::Notices,
            Command::RenderWorker(RenderWorker { fonts, decodes, unconfined }) => {
                Asked::RenderWorker(Duty { fonts, decodes, unconfined })
            }
        }
    }
}

impl Administration {
    /// Whether it makes sense before there is any data.
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
    fn an_empty_list_of_permissions_and_unknown_words_are_refused() {
        let parse = |permissions: &str| {
            Cli::try_parse_from(["mailmill", "keys", "create", "--env", "test", "--name", "n", "--permissions", permissions])
        };
        assert!(parse("all").is_ok() && parse("audience:read,email:send").is_ok());
        let error = parse("audience:raed").expect_err("misspelt").to_string();
        assert!(error.contains("the nearest is audience:read"), "{error}");
    }
}
