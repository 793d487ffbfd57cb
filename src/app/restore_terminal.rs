//! Prints the messages of `mailmill restore`, and asks for the master key at the terminal.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use crate::surfaces::cli::{Problem, Restore};

/// Prints whether sending is on hold in the restored folder.
pub fn say_hold(data: &Path, resume: bool) {
    match resume {
        true => say("Sending resumes at the next start: emails that were sent after the backup was made can be sent again."),
        false => {
            let shown = data.display();
            say(&format!(
                "Sending is on hold until you resume it. To see what is waiting, run `mailmill resume --data {shown}`."
            ));
        }
    }
}

pub fn say(line: &str) {
    super::complain(&format!("{line}\n"));
}

/// Returns the path of the master key, from the command line or entered at the terminal.
pub fn ask_for_key(wanted: &Restore) -> Result<PathBuf, Problem> {
    if let Some(file) = &wanted.master_key {
        return Ok(file.clone());
    }
    let lacking = "backups do not contain the master key: pass your copy with --master-key FILE. If every copy is lost, restore a backup \
                   folder with --without-key, then run `mailmill rekey` to see which data cannot be recovered";
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Err(Problem::misused(lacking));
    }
    super::complain("Path of your copy of master.key: ");
    let mut line = String::new();
    input.lock().read_line(&mut line).map_err(Problem::failed)?;
    match line.trim() {
        "" => Err(Problem::misused(lacking)),
        file => Ok(PathBuf::from(file)),
    }
}
