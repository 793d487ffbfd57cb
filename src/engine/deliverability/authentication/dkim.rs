//! Checks the keys of DKIM signatures (RFC 6376).

use super::{Level, Lookup, Records, Report, Status, status, tag};

/// The recommended minimum length of RSA keys, in bits. RFC 8301 requires 1,024 bits and recommends 2,048.
const RSA_BITS_MIN: usize = 2_048;

/// Checks the keys of the domain that signs the mail.
pub(super) fn audit_dkim(records: &Records, signer: &str, report: &mut Report) -> Status {
    let before = report.problems.len();
    let mut is_checked = false;
    let mut has_key = false;
    for selector in &records.selectors {
        let name = format!("{}._domainkey.{signer}", selector.name);
        match &selector.records {
            Lookup::NotChecked => continue,
            Lookup::Absent => {
                is_checked = true;
                let remedy = format!("Publish the DKIM key as a TXT record at {name}.");
                report.add("dkim_missing", Level::Critical, &format!("{name} has no DKIM key."), &remedy);
            }
            Lookup::Found(found) => {
                is_checked = true;
                has_key = true;
                audit_key(&name, found, report);
            }
        }
    }
    match (is_checked, has_key) {
        (false, _) => Status::NotChecked,
        (true, false) => Status::Missing,
        (true, true) => status(report, before),
    }
}

fn audit_key(name: &str, records: &[String], report: &mut Report) {
    let publish = format!("Publish the DKIM key at {name}, exactly as your mail service shows it.");
    // Records with other purposes count too: several TXT records make the result undefined (RFC 6376, section 3.6.2.2).
    if records.len() > 1 {
        let remedy = format!("Keep only the TXT record with the DKIM key at {name}.");
        report.add("dkim_several", Level::Important, &format!("{name} has several TXT records."), &remedy);
    }
    let key = records.iter().find_map(|record| Some((record, tag(record, "p")?)));
    let Some((record, key)) = key else {
        report.add("dkim_invalid", Level::Critical, &format!("No TXT record at {name} contains a DKIM key."), &publish);
        return;
    };
    if key.is_empty() {
        let remedy = format!("Publish a new DKIM key, or stop signing with {name}.");
        report.add("dkim_revoked", Level::Critical, &format!("The DKIM key at {name} is revoked."), &remedy);
        return;
    }
    if tag(record, "k").is_none_or(|kind| !kind.eq_ignore_ascii_case("ed25519")) {
        audit_rsa_key(name, key, &publish, report);
    }
    if tag(record, "t").is_some_and(|flags| flags.split(':').any(|flag| flag.trim() == "y")) {
        report.add("dkim_testing", Level::Suggested, &format!("The DKIM key at {name} is in test mode."), "Remove “t=y”.");
    }
}

fn audit_rsa_key(name: &str, key: &str, publish: &str, report: &mut Report) {
    let key: String = key.chars().filter(|c| !c.is_whitespace()).collect();
    let bytes = data_encoding::BASE64.decode(key.as_bytes()).ok();
    match bytes.as_deref().and_then(rsa_bits) {
        None => {
            report.add("dkim_invalid", Level::Critical, &format!("The DKIM key at {name} is not a valid RSA key."), publish);
        }
        Some(bits) if bits < RSA_BITS_MIN => {
            let text = format!("The DKIM key at {name} has only {bits} bits.");
            report.add("dkim_short", Level::Important, &text, "Use a 2,048-bit key.");
        }
        Some(_) => {}
    }
}

/// Returns the bit length of an RSA key's modulus. The key is encoded as SubjectPublicKeyInfo (RFC 5280) or RSAPublicKey (RFC 8017).
fn rsa_bits(key: &[u8]) -> Option<usize> {
    let (0x30, sequence, _) = element(key)? else { return None };
    let (kind, first, rest) = element(sequence)?;
    let modulus = if kind == 0x02 {
        first
    } else {
        let (0x03, bits, _) = element(rest)? else { return None };
        // Skip the first byte of the DER bit string, which is the number of unused bits.
        let (0x30, inner, _) = element(bits.get(1..)?)? else { return None };
        let (0x02, modulus, _) = element(inner)? else { return None };
        modulus
    };
    let significant: &[u8] = modulus.get(modulus.iter().position(|byte| *byte != 0)?..)?;
    let first = significant.first()?;
    Some(significant.len() * 8 - first.leading_zeros() as usize)
}

/// Reads a DER element. Returns its tag, its content, and the bytes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7F)).filter(|(digits, _)| digits.len() <= 4)?;
        (digits.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*kind, content, rest))
}
