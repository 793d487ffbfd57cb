//! Complaints: feedback reports (RFC 5965), and the older form of one large provider.

use super::Complaint;
use super::mime::Part;
use super::report::address;

/// Where one provider's complaints come from: the reported message itself, attached, and no report beside it.
const BARE_REPORTERS: [&str; 2] = ["staff@hotmail.com", "staff@outlook.com"];
/// The field in which that provider leaves the recipient.
const BARE_RECIPIENT: &str = "x-hmxmroriginalrecipient";

/// What the complaint in this message says. `None`: it is no feedback at all. `Some(None)`: it is, but no complaint.
pub fn read(message: &Part<'_>) -> Option<Option<Complaint>> {
    if let Some(part) = message.find(&["message/feedback-report"]) {
        return Some(report(message, part));
    }
    let from = message.from()?.to_ascii_lowercase();
    let original = message.original().filter(|_| BARE_REPORTERS.contains(&from.as_str()))?;
    let recipient = original.field(BARE_RECIPIENT).or_else(|| original.field("to")).and_then(|to| address(&to));
    Some(Some(Complaint { kind: "abuse".into(), recipient }))
}

fn report(message: &Part<'_>, part: &Part<'_>) -> Option<Complaint> {
    let text = part.text();
    let values = |name: &'static str| {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.filter(move |(own, _)| own.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    let mut kinds = values("feedback-type");
    // Exactly one: a report with two says nothing that could be relied on.
    let kind = kinds.next().filter(|_| kinds.next().is_none())?.to_ascii_lowercase();
    match kind.as_str() {
        // Somebody took a complaint back, or a server reports on signatures: neither is a complaint.
        "not-spam" | "auth-failure" | "dmarc" | "dkim" => return None,
        _ => {}
    }
    let original = || message.original().and_then(|original| original.field("to"));
    let recipient = values("original-rcpt-to").next().or_else(original).and_then(|to| address(&to));
    Some(Complaint { kind, recipient })
}
