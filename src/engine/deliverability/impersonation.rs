//! The rules about senders and links that imitate a known company.

use super::links::{Address, registrable};
use super::message::Message;
use super::observations::{EvidencePlace, FACTS, Observations, Part};

/// The rules that match claims typical of fraud.
const CLAIMS: [&str; 7] =
    ["account_threat", "mailbox_fraud", "parcel_fraud", "credentials", "device_fraud", "wallet_fraud", "refund"];

/// The rules about senders and links that hide who sent the email.
const DISGUISES: [&str; 8] = [
    "from_imitation",
    "from_bait_domain",
    "from_suspicious_ending",
    "link_bait_domain",
    "link_numeric_host",
    "link_shortener",
    "link_mismatch",
    "link_suspicious_ending",
];

/// Applies the rules about imitated companies, except for the one that [`combine`] applies.
pub fn check(message: &Message, found: &mut Observations) {
    let email = message.from_email.as_deref().unwrap_or_default();
    let domain = email.rsplit_once('@').map(|(_, domain)| registrable(&domain.to_ascii_lowercase()));
    if let (Some(name), Some(domain)) = (&message.from_name, &domain)
        && imitates(name, domain)
    {
        found.add("from_imitation", EvidencePlace::new(Part::FromName, 0, name));
    }
    if domain.as_deref().is_some_and(is_bait) {
        found.add("from_bait_domain", EvidencePlace::new(Part::FromEmail, 0, email));
    }
    for link in &message.links {
        let Some(address) = Address::parse(&link.address) else { continue };
        if is_bait(&registrable(&address.host)) {
            found.add("link_bait_domain", EvidencePlace::html(link.at, &link.address));
        }
    }
}

/// Applies the rule about a fraudulent claim combined with a disguise. The caller must apply all other rules first.
pub fn combine(message: &Message, found: &mut Observations) {
    if found.has_any(&CLAIMS) && found.has_any(&DISGUISES) {
        let at = message.links.first().map_or(0, |link| link.at);
        found.add("fraud_and_disguise", EvidencePlace::html(at, message.links.first().map_or("", |link| &link.address)));
    }
}

/// Returns whether the sender's name is a known company's name, alone or with a word such as "support", but the domain is not the
/// company's.
fn imitates(name: &str, domain: &str) -> bool {
    let folded: String = name.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    // Senders imitate "PayPal" with an uppercase i instead of the last letter: "PayPaI".
    let folded = if name.contains("PayPaI") { folded.replace("paypai", "paypal") } else { folded };
    let words: Vec<&str> = folded.split_whitespace().collect();
    let label = domain.split('.').next().unwrap_or_default();
    let is_rest = |word: &&str| FACTS.sender_words.contains(*word) || word.chars().all(|c| c.is_ascii_digit());
    FACTS.imitated.iter().any(|company| {
        let own: Vec<&str> = company.split(' ').collect();
        let starts = words.starts_with(&own);
        let rest = words.get(own.len()..).unwrap_or_default();
        let joined = own.concat();
        starts && rest.iter().all(is_rest) && label != joined && !FACTS.imitated_domains.contains(domain)
    })
}

/// Returns whether the first label of a domain has hyphens and contains a word that phishing uses, as in "mybank-verify.com".
fn is_bait(domain: &str) -> bool {
    let label = domain.split('.').next().unwrap_or_default();
    let mut parts = label.split('-');
    label.contains('-') && !label.starts_with("xn--") && parts.any(|part| FACTS.bait.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_need_their_own_domain() {
        for (name, domain) in [
            ("PayPal", "paypal-resolve.support"),
            ("Microsoft 365 Support", "mail-8821.top"),
            ("PayPaI Service", "pp.example"),
            ("NETFLIX", "nflx.info"),
        ] {
            assert!(imitates(name, domain), "{name} {domain}");
        }
        for (name, domain) in [
            ("PayPal", "paypal.de"),
            ("Microsoft", "office.com"),
            ("Apple Grove Farm", "applegrove.example"),
            ("Amazon Rainforest Fund", "rainforest.example"),
        ] {
            assert!(!imitates(name, domain), "{name} {domain}");
        }
    }

    #[test]
    fn bait_is_a_part_of_the_name() {
        assert!(is_bait("mybank-verify.com") && is_bait("secure-login.example"));
        assert!(!is_bait("verify.example") && !is_bait("gartenhaus-linde.example") && !is_bait("loginov-art.example"));
    }
}
