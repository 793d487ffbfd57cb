//! TABLE: the commands of the client that are not operations.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};
use clap_complete::Shell;

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn value(name: &'static str, shown: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(shown).help(help)
}

pub fn commands() -> [Command; 8] {
    [login(), logout(), profiles(), api(), listen(), watch(), completions(), man()]
}

fn login() -> Command {
    Command::new("login")
        .about("Sign in to a server in the browser, and store the key in a profile")
        .long_about(
            "Sign in to a server in the browser, and store the key in a profile.\n\nThe browser shows a code and the requested permissions. \
             You choose the permissions and the environment there. The key is stored in a file that only you can read; without a \
             browser, use --key-file with a key from the dashboard, or set MAILMILL_KEY and MAILMILL_URL.",
        )
        .args([
            value("url", "URL", "The address of the server, like https://mail.example.com"),
            option("email", "EMAIL", "The email that you use to sign in to the dashboard [default: asks]"),
            flag("test", "Accept only a key for the test environment"),
            flag("live", "Accept only a key for the live environment").conflicts_with("test"),
            option("permissions", "A,B", "The permissions to request, such as audience:read,email:write [default: all]"),
            option("name", "NAME", "The name that the browser shows for this program [default: the name of the machine]"),
            flag("no-browser", "Only print the address of the page"),
            option("key-file", "FILE", "Read an API key from this file instead of requesting one; - for standard input"),
        ])
}

fn logout() -> Command {
    Command::new("logout").about("Remove a profile and its key from this machine")
}

fn profiles() -> Command {
    let select = Command::new("use").about("Choose the profile that commands use by default, and its default project").args([
        value("name", "NAME", "The name of the profile").required(true),
        option("project", "PROJECT", "The default project: a name or an ID; empty for none"),
    ]);
    Command::new("profiles").about("List the profiles, or choose the default one").subcommand(select)
}

fn api() -> Command {
    let header = Arg::new("header").long("header").short('H').value_name("NAME: VALUE").action(ArgAction::Append);
    Command::new("api").about("Send any request to the API").args([
        value("method", "METHOD", "GET, POST, PUT, PATCH or DELETE").required(true),
        value("path", "PATH", "The path and query, like /v1/projects?limit=1").required(true),
        option("body", "JSON", "The body; @FILE reads a file, - standard input"),
        header.help("An additional header; repeat the option for more"),
        option(
            "idempotency-key",
            "KEY",
            "The idempotency key: requests with the same key take effect once [default: a new one, if supported]",
        ),
        flag("include", "Also print the status and the headers").short('i'),
    ])
}

fn listen() -> Command {
    let events = option("events", "A,B", "The types of events [default: all]").action(ArgAction::Append).value_delimiter(',');
    Command::new("listen")
        .about("Show webhook events while you develop, and forward them to a local server")
        .long_about(
            "Show webhook events while you develop, and forward them to a local server.\n\nThe server cannot reach your machine, so this \
             command polls: it creates a temporary webhook with an address that does not exist, reads the webhook's deliveries every \
             second, and sends each event to your local server with the signatures of a real delivery. The server's own attempts for \
             this webhook fail and count as failed in the statistics. The webhook is deleted when you press Ctrl-C. The key needs \
             webhook:read and webhook:write.",
        )
        .args([
            option("forward", "URL", "Send each event to this URL, like http://localhost:3000/hook"),
            events,
            option("webhook", "ID", "Show the deliveries of this webhook instead of creating a temporary one"),
            option("secret", "SECRET", "The secret of --webhook, which signs the forwarded events; @FILE reads a file").requires("webhook"),
            option("count", "N", "Stop after this many events").value_parser(value_parser!(u64).range(1..)),
        ])
}

fn watch() -> Command {
    let campaign = Command::new("campaign")
        .about("Show a campaign's live progress and results, and exit when the campaign is complete, canceled or failed")
        .arg(value("id", "ID", "The ID of the campaign").required(true));
    Command::new("watch")
        .about("Show the live progress of a campaign")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(campaign)
}

fn completions() -> Command {
    let shells = PossibleValuesParser::new(["bash", "elvish", "fish", "powershell", "zsh"]);
    Command::new("completions")
        .about("Print the completions for a shell")
        .long_about(
            "Print the completions for a shell.\n\nFor bash:\n  mailmill completions bash \\\n    \
             > ~/.local/share/bash-completion/completions/mailmill\n\n\
             For zsh, in a folder of $fpath:\n  mailmill completions zsh > ~/.zfunc/_mailmill",
        )
        .arg(value("shell", "SHELL", "The shell").required(true).value_parser(shells))
}

fn man() -> Command {
    Command::new("man").about("Print the manual page, or write a page for each command").arg(
        option("to", "FOLDER", "Write all pages to this folder, which man finds if it is in MANPATH as FOLDER/man1")
            .value_parser(value_parser!(PathBuf)),
    )
}

pub fn shell(name: &str) -> Option<Shell> {
    name.parse().ok()
}
