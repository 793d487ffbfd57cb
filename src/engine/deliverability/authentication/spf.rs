//! Checks SPF records (RFC 7208).

use super::{Level, Lookup, Records, Report, Sending, Status, status};

/// The maximum number of lookups in an SPF evaluation (RFC 7208, section 4.6.4).
const SPF_LOOKUPS_MAX: usize = 10;
/// The maximum number of SPF records that are read. Without a limit, a hostile record could include others endlessly.
pub(super) const SPF_RECORDS_MAX: usize = 40;

/// The characters that can precede a mechanism and that state the result if the mechanism matches.
const QUALIFIERS: [char; 4] = ['+', '-', '~', '?'];

fn is_spf(record: &&String) -> bool {
    let mut words = record.split_whitespace();
    words.next().is_some_and(|version| version.eq_ignore_ascii_case("v=spf1"))
}

pub(super) fn audit_spf(
    records: &Records,
    sending: &Sending,
    resolve: &dyn Fn(&str) -> Lookup<Vec<String>>,
    report: &mut Report,
) -> Status {
    let found: Vec<&String> = match &records.txt {
        Lookup::NotChecked => return Status::NotChecked,
        Lookup::Absent => Vec::new(),
        Lookup::Found(txt) => txt.iter().filter(is_spf).collect(),
    };
    // Receivers check SPF for the domain of the envelope sender, so that domain needs the record.
    let domain = sending.envelope_domain.as_deref().unwrap_or(&records.domain);
    let Some(record) = found.first() else {
        let remedy = format!("Publish a TXT record such as “v=spf1 include:… ~all” at {domain}.");
        report.add("spf_missing", Level::Critical, &format!("{domain} has no SPF record."), &remedy);
        return Status::Missing;
    };
    let before = report.problems.len();
    if found.len() > 1 {
        let remedy = "Merge the SPF records into one. More than one record is an error (RFC 7208, section 4.5).";
        report.add("spf_several", Level::Critical, &format!("{domain} has several SPF records."), remedy);
    }
    let record = record.to_ascii_lowercase();
    let has = |words: &[&str]| record.split_whitespace().any(|word| words.contains(&word));
    if has(&["+all", "all"]) {
        report.add(
            "spf_allows_all",
            Level::Critical,
            "The SPF record allows every server to send for the domain.",
            "Replace “all” or “+all” with “~all” or “-all”.",
        );
    } else if has(&["?all"]) {
        report.add(
            "spf_neutral",
            Level::Important,
            "The SPF record is neutral about unknown servers.",
            "Replace “?all” with “~all” or “-all”.",
        );
    } else if !has(&["-all", "~all"]) && !record.contains("redirect=") {
        report.add(
            "spf_open",
            Level::Important,
            "The SPF record has no rule for unknown servers.",
            "End the record with “~all” or “-all”.",
        );
    }
    if let Some(mechanism) = &sending.spf_mechanism
        && !record.split_whitespace().any(|word| word.trim_start_matches('+').eq_ignore_ascii_case(mechanism))
    {
        let text = format!("The SPF record does not contain “{mechanism}”, which covers the server that sends the mail.");
        report.add("spf_relay_missing", Level::Critical, &text, &format!("Add “{mechanism}” to the SPF record."));
    }
    let path = vec![domain.to_ascii_lowercase()];
    let mut count = SpfCount { resolve, path, read: 1, lookups: 0, is_complete: true, absent: None, repeated: None };
    count.record(&record);
    report.spf_lookups = count.is_complete.then_some(count.lookups);
    if count.lookups > SPF_LOOKUPS_MAX {
        let text = format!("The SPF record requires {} DNS lookups; receivers stop after {SPF_LOOKUPS_MAX}.", count.lookups);
        report.add("spf_lookups", Level::Critical, &text, "Remove includes that no longer send for the domain.");
    }
    if let Some(repeated) = count.repeated {
        let text = format!("The SPF record leads back to {repeated}, so SPF can fail (RFC 7208, section 4.6.4).");
        report.add("spf_loop", Level::Critical, &text, &format!("Remove the include or redirect that leads back to {repeated}."));
    }
    if let Some(absent) = count.absent {
        let text =
            format!("The SPF record refers to {absent}, which has no SPF record, so SPF can fail (RFC 7208, section 5.2).");
        report.add("spf_include_missing", Level::Critical, &text, &format!("Remove {absent}, or the include that refers to it."));
    }
    status(report, before)
}

struct SpfCount<'a> {
    resolve: &'a dyn Fn(&str) -> Lookup<Vec<String>>,
    /// The domains whose records led to the record that is being counted. An include of one of them is a loop, which is not followed.
    path: Vec<String>,
    /// The number of records that were read.
    read: usize,
    lookups: usize,
    is_complete: bool,
    /// The first domain without an SPF record that an include or a redirect refers to.
    absent: Option<String>,
    /// The first domain that its own record leads back to, through includes or redirects.
    repeated: Option<String>,
}

impl SpfCount<'_> {
    /// Counts the lookups of a record and of the records that it includes. A domain that is included twice counts twice, because receivers
    /// evaluate it twice.
    fn record(&mut self, record: &str) {
        let terms = || record.split_whitespace().skip(1).take(100);
        // With `all`, receivers ignore `redirect` (RFC 7208, section 6.1).
        let has_all = terms().any(|term| term.trim_start_matches(QUALIFIERS) == "all");
        for term in terms().filter(|term| !has_all || !term.starts_with("redirect=")) {
            self.term(term);
        }
    }

    fn term(&mut self, term: &str) {
        let term = term.trim_start_matches(QUALIFIERS);
        let name = term.split([':', '=', '/']).next().unwrap_or_default();
        if !matches!(name, "include" | "a" | "mx" | "ptr" | "exists" | "redirect") {
            return;
        }
        self.lookups += 1;
        let Some(domain) = term.strip_prefix("include:").or_else(|| term.strip_prefix("redirect=")) else { return };
        if self.path.iter().any(|open| open == domain) {
            self.repeated.get_or_insert_with(|| domain.to_owned());
            return;
        }
        // The value of a macro depends on the message, so the record that it leads to is unknown, and its lookups cannot be counted.
        if domain.contains('%') || self.read == SPF_RECORDS_MAX {
            self.is_complete = false;
            return;
        }
        self.read += 1;
        let txt = match (self.resolve)(domain) {
            Lookup::Found(txt) => txt,
            Lookup::Absent => Vec::new(),
            Lookup::NotChecked => {
                self.is_complete = false;
                return;
            }
        };
        match txt.iter().find(is_spf) {
            Some(record) => {
                self.path.push(domain.to_owned());
                self.record(&record.to_ascii_lowercase());
                self.path.pop();
            }
            None => self.absent = self.absent.take().or(Some(domain.to_owned())),
        }
    }
}
