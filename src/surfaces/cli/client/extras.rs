//! Shell completions and manual pages, generated from the definitions of the commands.

use std::path::Path;

use clap::Command;

use super::super::problem::Problem;
use super::super::terminal::{note, print};
use super::own;

const PROGRAM: &str = "mailmill";

/// Prints the completions of all commands for a shell.
pub fn completions(mut whole: Command, shell: &str) -> Result<u8, Problem> {
    let shell = own::shell(shell).ok_or_else(|| {
        Problem::misused(format_args!("there are no completions for {shell}; see --help for the supported shells"))
    })?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut whole, PROGRAM, &mut script);
    print(&String::from_utf8_lossy(&script));
    Ok(0)
}

/// Prints the manual page of the program, or writes the pages of all commands to a folder.
pub fn man(whole: Command, folder: Option<&Path>) -> Result<u8, Problem> {
    let failed = |error: std::io::Error| Problem::failed(format_args!("cannot write the manual pages: {error}"));
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(whole).render(&mut page).map_err(failed)?;
        print(&String::from_utf8_lossy(&page));
        return Ok(0);
    };
    let section = folder.join("man1");
    let failed = |error: std::io::Error| {
        Problem::failed(format_args!(
            "cannot write the manual pages to {}: {error}; check the folder's path, permissions and free space",
            section.display()
        ))
    };
    std::fs::create_dir_all(&section).map_err(failed)?;
    clap_mangen::generate_to(whole, &section).map_err(failed)?;
    note(&format!("The manual pages are in {}. Read them with `man -M {} mailmill`.", section.display(), folder.display()));
    Ok(0)
}
