//! Shell completions and manual pages, generated from the definitions of the commands.

use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::super::OPTIONS_WITH_VALUES;
use super::super::problem::Problem;
use super::super::terminal::{note, print};
use super::own;

const PROGRAM: &str = "mailmill";

/// The maximum length of a title. A title of this length fits twice into a page header, which is 78 characters wide.
const TITLE_MAX: usize = 24;
/// In the bash completion script, the start of the loop that finds the command among the words.
const BASH_LOOP: &str = "    do\n        case \"${cmd},${i}\" in";

/// Prints the completions of all commands for a shell.
pub fn completions(mut whole: Command, shell: &str) -> Result<u8, Problem> {
    let shell = own::shell(shell).ok_or_else(|| {
        Problem::misused(format_args!("there are no completions for {shell}; see --help for the supported shells"))
    })?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut whole, PROGRAM, &mut script);
    print(&skipping_values(&String::from_utf8_lossy(&script)));
    Ok(0)
}

/// Changes the bash completion script so that the value of a global option is not mistaken for a command, even if a command has the same
/// name. The scripts for other shells do not contain the loop and stay unchanged.
fn skipping_values(script: &str) -> String {
    let options = OPTIONS_WITH_VALUES.join("|");
    let start = format!(
        "    do\n        if [[ -n \"${{skips}}\" ]]; then\n            skips=\"\"\n            continue\n        fi\n        \
         case \"${{i}}\" in\n            {options})\n                skips=1\n                continue\n                ;;\n        \
         esac\n        case \"${{cmd}},${{i}}\" in"
    );
    script.replace("local i cur prev opts cmd\n", "local i cur prev opts cmd skips=\"\"\n").replace(BASH_LOOP, &start)
}

/// Prints the manual page of the program, or writes the pages of all commands to a folder.
pub fn man(mut whole: Command, folder: Option<&Path>) -> Result<u8, Problem> {
    let failed = |error: io::Error| Problem::failed(format_args!("cannot create the manual page: {error}; report this bug"));
    whole = whole.disable_help_subcommand(true);
    whole.build();
    let Some(folder) = folder else {
        print(&String::from_utf8_lossy(&page(&whole).map_err(failed)?.1));
        return Ok(0);
    };
    let section = folder.join("man1");
    let failed = |error: io::Error| {
        Problem::failed(format_args!(
            "cannot write the manual pages to {}: {error}; check that the folder is writable and that the disk \
             has free space",
            section.display()
        ))
    };
    std::fs::create_dir_all(&section).map_err(failed)?;
    write_pages(&whole, &section).map_err(failed)?;
    note(&format!("The manual pages are in {}. Read them with `man -M {} mailmill`.", section.display(), folder.display()));
    Ok(0)
}

/// Writes the pages of a command and of all visible subcommands.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        write_pages(inner, folder)?;
    }
    let (name, text) = page(command)?;
    std::fs::write(folder.join(name), text)
}

/// Returns the name and the text of a command's page.
fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    // Set a blank date, because without a date the later arguments of the title would move to its position.
    let man =
        Man::new(command.clone()).date(" ").source(concat!("mailmill ", env!("CARGO_PKG_VERSION"))).manual("Mailmill manual");
    let file = man.get_filename();
    let man = if file.len() > TITLE_MAX { man.title(PROGRAM) } else { man };
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut text)?;
    }
    if command.get_subcommands().any(|inner| !inner.is_hide_set()) {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(further) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        further_sections(&further.to_string()).to_writer(&mut text)?;
    }
    Ok((file, text))
}

/// Returns the sections of the text that follows a command's help. A paragraph whose first line ends with a colon becomes a section that
/// keeps its line breaks, for example `Example:`. Any other paragraph becomes a note.
fn further_sections(text: &str) -> Roff {
    let mut roff = Roff::default();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        match first.strip_suffix(':').filter(|_| !rest.is_empty()) {
            Some(heading) => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
                rest.lines().for_each(|line| {
                    roff.text([roman(line)]);
                });
                roff.control("fi", []);
            }
            None => {
                roff.control("SH", ["NOTES"]);
                roff.text([roman(paragraph.replace('\n', " "))]);
            }
        }
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_fixed_examples_and_the_programs_version() {
        let inner = Command::new("create").after_help("It asks.\n\nExample:\n  mailmill things create a");
        let mut all = Command::new("mailmill").subcommand(Command::new("very-long-name-of-things").subcommand(inner));
        all.build();
        let things = all.find_subcommand("very-long-name-of-things").expect("the command exists");
        let (name, text) = page(things.find_subcommand("create").expect("the command exists")).expect("a page");
        let text = String::from_utf8(text).expect("a page is text");
        assert_eq!(name, "mailmill-very-long-name-of-things-create.1");
        assert!(text.contains("\n.TH mailmill 1") || text.starts_with(".TH mailmill 1"), "{text}");
        assert!(text.contains(concat!("mailmill ", env!("CARGO_PKG_VERSION"))) && !text.contains("EXTRA"), "{text}");
        let example = text.split_once(".SH EXAMPLE\n.nf\n").expect("an example").1;
        assert!(example.contains("mailmill things create a\n.fi") && text.contains(".SH NOTES\nIt asks."), "{text}");
    }

    #[test]
    fn bash_does_not_take_the_value_of_an_option_as_a_command() {
        let mut all = Command::new(PROGRAM).subcommand(Command::new("demo"));
        let mut script = Vec::new();
        clap_complete::generate(clap_complete::Shell::Bash, &mut all, PROGRAM, &mut script);
        let script = skipping_values(&String::from_utf8(script).expect("the script is text"));
        assert!(script.contains("local i cur prev opts cmd skips=\"\"\n"), "{script}");
        assert!(script.contains("--data|--config|--profile|--server)\n                skips=1\n"), "{script}");
    }
}
