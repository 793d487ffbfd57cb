//! Finds the legal name of the company behind a brand. The name contains the company's legal form.

use super::Site;
use super::page::{Page, lines_of};

/// Legal forms at the end of company names.
const LEGAL_FORMS: [&str; 44] = [
    "S.L.P.",
    "S.L.U.",
    "S.C.P.",
    "S.A.S. di",
    "GmbH & Co. KG",
    "GmbH & Co KG",
    "gGmbH",
    "GmbH",
    "AG",
    "UG (haftungsbeschränkt)",
    "UG",
    "OHG",
    "KG",
    "e.K.",
    "e. K.",
    "e.V.",
    "eG",
    "SE",
    "Ltd.",
    "Ltd",
    "Limited",
    "LLC",
    "L.L.C.",
    "Inc.",
    "Inc",
    "Corp.",
    "PLC",
    "LLP",
    "SARL",
    "S.A.R.L.",
    "SAS",
    "S.A.S.",
    "SA",
    "S.A.",
    "S.L.",
    "S.r.l.",
    "Srl",
    "S.p.A.",
    "SpA",
    "B.V.",
    "BV",
    "N.V.",
    "Lda.",
    "株式会社",
];
/// Legal forms that can come before the name.
const FORMS_IN_FRONT: [&str; 4] = ["SARL", "SAS", "S.A.R.L.", "株式会社"];
/// Words that precede a company's name in footers and imprints.
const BEFORE_COMPANIES: [&str; 7] = ["Copyright", "Inhaberin", "Inhaber", "Inh.", "Owner:", "Company:", "by "];

/// Returns the legal name of the company from footers and imprints.
pub fn written_company(site: &Site) -> Option<String> {
    let footers = site.pages.iter().flat_map(Page::footer_lines);
    let imprints =
        site.pages.iter().filter(|page| page.is_imprint()).flat_map(|page| page.first("body").map(lines_of).unwrap_or_default());
    imprints.chain(footers).find_map(|line| company_in(&line))
}

fn company_in(line: &str) -> Option<String> {
    if line.chars().count() > 160 {
        return None;
    }
    let line = company_parts(line).into_iter().find(|part| legal_form(part).is_some())?;
    let start = line.rfind('©').map_or(0, |at| at + '©'.len_utf8());
    let mut company = line[start..].trim();
    for before in BEFORE_COMPANIES {
        company = company.strip_prefix(before).unwrap_or(company).trim();
    }
    let company = company.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '–' | ' ' | ':'));
    let (at, form) = legal_form(company)?;
    // The name ends with the legal form, because other text can follow. If the form comes first, the name ends with the sentence.
    let company = if at == 0 { company.split(". ").next().unwrap_or(company) } else { &company[..at + form.len()] };
    let company = company.split(": ").last().unwrap_or(company).trim();
    (company.split_whitespace().count() <= 8 && company.chars().count() > form.chars().count() + 1).then(|| company.to_owned())
}

/// Splits a line at characters that separate a name from other text. The comma in `Acme, Inc.` does not end a name.
fn company_parts(line: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for (place, part) in line.split(',').enumerate() {
        let bare = part.trim_start();
        let is_form =
            LEGAL_FORMS.iter().any(|form| bare.strip_prefix(form).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)));
        match parts.last_mut().filter(|_| place > 0 && is_form) {
            Some(before) => *before = format!("{before}, {bare}"),
            None => parts.push(part.to_owned()),
        }
    }
    let further = parts.iter().flat_map(|part| part.split(['|', '·', '•', '–', '（', '）', '(', ')']));
    further.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Returns a company name without its legal form; `None` if the name does not end with a legal form, or if almost
/// nothing else remains.
pub fn without_legal_form(name: &str) -> Option<String> {
    let (at, form) = legal_form(name).filter(|(at, form)| *at > 0 && at + form.len() == name.len())?;
    debug_assert!(name.ends_with(form));
    Some(name[..at].trim_end_matches([' ', ',']).to_owned()).filter(|bare| bare.chars().count() >= 2)
}

/// Returns the legal form in a string and its position.
fn legal_form(text: &str) -> Option<(usize, &'static str)> {
    let stands_alone = |at: usize, form: &str| {
        let before = text[..at].chars().next_back();
        let after = text[at + form.len()..].chars().next();
        let may_come_first = FORMS_IN_FRONT.contains(&form);
        let ends = after.is_none_or(|c| !c.is_alphanumeric()) || !form.is_ascii() && may_come_first;
        ends && (before == Some(' ') || before.is_none() && may_come_first || !form.is_ascii() && may_come_first)
    };
    LEGAL_FORMS
        .iter()
        .find_map(|form| text.match_indices(form).find(|(at, _)| stands_alone(*at, form)).map(|(at, _)| (at, *form)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companies_are_recognized_by_their_legal_form() {
        for (line, expected) in [
            ("© 2024 Nordlicht Fahrräder GmbH. Alle Rechte vorbehalten.", Some("Nordlicht Fahrräder GmbH")),
            ("Copyright 2020–2024 Acme Labs, Inc. All rights reserved", Some("Acme Labs, Inc.")),
            ("Titular: Clínica Olmo, S.L.P., CIF B-1", Some("Clínica Olmo, S.L.P.")),
            ("© 2025 Acme Labs Inc. All rights reserved", Some("Acme Labs Inc.")),
            ("Angaben gemäß § 5 TMG: Blatt & Bohne OHG", Some("Blatt & Bohne OHG")),
            ("Made in Incheon", None),
        ] {
            assert_eq!(company_in(line).as_deref(), expected, "{line}");
        }
    }
}
