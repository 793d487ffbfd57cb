//! `mailmill check-data`: compares every page of the data files with its checksum, reads every row, and checks that the files belong to the
//! same installation and that the master key belongs to this installation. The command changes no data.

use std::path::Path;

use super::folder::Folder;
use super::installation::{Inspection, Refusal, STORES, UNTESTED, fit, require_all};
use crate::engine::store::damage::RESTORE;
use crate::engine::store::seal::{KeyError, Seal};
use crate::engine::store::{Error, StoreFile};
use crate::features::installation::row_checks;
use crate::features::installation::sealed::Fit;
use crate::surfaces::cli::{self, Problem};
use crate::vocab::finding::{Finding, Verdict};
use crate::vocab::tables::{DatabaseKind, TABLES};

/// The size of the page cache, in bytes, for a store file that is only checked.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// Checks the data in the folder `data` and prints the findings.
pub fn check(data: &Path) -> Result<(), Problem> {
    let folder = Folder::open_existing(data).map_err(Problem::failed)?;
    require_all(&folder)?;
    let mut findings = Vec::new();
    let mut whole = Vec::new();
    for (name, database_kind) in STORES {
        match StoreFile::open_verified(&folder.store(name), CACHE_BYTES).and_then(|file| Ok((rows(&file, database_kind)?, file)))
        {
            Ok((rows, file)) => {
                findings.push(Finding::good(
                    format!("{name}.redb"),
                    format!("all page checksums match, and all {rows} rows can be read"),
                ));
                whole.push(file);
            }
            Err(error) => findings.push(damaged(name, &error)),
        }
    }
    match <[StoreFile; 3]>::try_from(whole) {
        Ok(files) => findings.extend(identities(&folder, files)?),
        Err(_) => findings.push(Finding::skipped(
            "installation",
            "to check whether the files belong to the same installation, fix the problems above, and run `mailmill check-data` again",
        )),
    }
    super::print(&cli::report(&findings));
    match findings.iter().filter(|finding| finding.verdict == Verdict::Problem).count() {
        0 => Ok(()),
        1 => Err(Problem::failed(format_args!("1 problem found in {}; see the report", folder.path().display()))),
        many => Err(Problem::failed(format_args!("{many} problems found in {}; see the report", folder.path().display()))),
    }
}

/// Reads every row, and returns the number of rows.
fn rows(file: &StoreFile, database_kind: DatabaseKind) -> Result<u64, Error> {
    let tx = file.read()?;
    let here = file.table_names()?;
    let own = TABLES.iter().filter(|info| info.database_kind.is_in(database_kind) && here.iter().any(|name| name == info.name));
    let (mut rows, mut unreadable) = (0, Vec::new());
    for info in own {
        let (all, bad) = row_checks::count(&tx, info.id)?;
        rows += all;
        if bad > 0 {
            unreadable.push(format!("{bad} of {all} rows of the table \"{}\"", info.name));
        }
    }
    match unreadable.as_slice() {
        [] => Ok(rows),
        some => Err(Error::Damaged { file: file.path().to_path_buf(), found: format!("{} cannot be read", some.join(", ")) }),
    }
}

fn damaged(name: &str, error: &Error) -> Finding {
    let restore =
        || format!("Restore the newest backup into a new folder: {RESTORE}. Keep this folder until the restore succeeds.");
    let (said, remedy) = match error {
        Error::Damaged { file, found } => (format!("{} is damaged: {found}", file.display()), restore()),
        other => (other.to_string(), "Follow the instructions in the message above.".to_owned()),
    };
    Finding::problem(format!("{name}.redb"), said, remedy)
}

/// Checks whether the stores belong to the same installation, and whether the master key in the folder is the key of this installation.
fn identities(folder: &Folder, files: [StoreFile; 3]) -> Result<[Finding; 2], Problem> {
    const SUBJECT: &str = "master key";
    let inspection = Inspection::of(files).map_err(Problem::failed)?;
    let installation = match inspection.mismatch().map_err(Problem::failed)? {
        None => Finding::good("installation", "all stores belong to one installation, each under its own name"),
        Some(refusal) => Finding::problem("installation", refusal.to_string(), "Follow the instructions in the message above."),
    };
    let remedy = "Copy your master key to this path (mode 600). If every copy is lost, run `mailmill rekey` to see which data cannot be \
                  recovered.";
    let rekey = folder.rekey();
    let key = match Seal::read(&folder.master_key()) {
        _ if rekey.exists() => {
            let said = Refusal::RekeyIncomplete(rekey.display().to_string()).to_string();
            Finding::problem(SUBJECT, said, "Run `mailmill rekey` again.")
        }
        Err(trouble @ KeyError::Open(_)) => {
            Finding::problem(SUBJECT, trouble.to_string(), "Run the command in the message above.")
        }
        Err(trouble) => Finding::problem(SUBJECT, trouble.to_string(), remedy),
        Ok(seal) => match fit(folder, &inspection, &seal)? {
            Fit::Right => Finding::good(SUBJECT, "the key belongs to this installation"),
            Fit::Untested => Finding::skipped(SUBJECT, UNTESTED),
            Fit::Wrong if installation.verdict == Verdict::Problem => Finding::skipped(
                SUBJECT,
                "to check whether the key belongs to this installation, fix the problem above, and run `mailmill check-data` again",
            ),
            Fit::Wrong => {
                let said = format!("{} is not the master key of this installation", folder.master_key().display());
                Finding::problem(SUBJECT, said, remedy)
            }
        },
    };
    Ok([installation, key])
}
