//! Detects complaints: feedback reports (RFC 5965), and the older format of one large provider.

use super::Complaint;
use super::mime::Part;
use super::report::address;

/// The addresses that one provider sends complaints from. The provider attaches the reported message without a feedback report.
const BARE_REPORTERS: [&str; 2] = ["staff@hotmail.com", "staff@outlook.com"];
/// The header field that names the recipient in the reported messages that [`BARE_REPORTERS`] attach.
const BARE_RECIPIENT: &str = "x-hmxmroriginalrecipient";

/// Returns the complaint in this message. `None` means that the message has neither of the two formats; `Some(None)`, that it is a feedback
/// report but not a valid complaint.
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
    // A report must have exactly one kind: a report with two kinds is unreliable.
    let kind = kinds.next().filter(|_| kinds.next().is_none())?.to_ascii_lowercase();
    match kind.as_str() {
        // The report withdraws a complaint or is about signatures, so it is not a complaint.
        "not-spam" | "auth-failure" | "dmarc" | "dkim" => return None,
        _ => {}
    }
    let original = || message.original().and_then(|original| original.field("to"));
    let recipient = values("original-rcpt-to").next().or_else(original).and_then(|to| address(&to));
    Some(Complaint { kind, recipient })
}
