//! Maps the columns of a file to contact fields, and converts a record of the file to a contact input.
//!
//! The caller maps fields to headers, or the fields are guessed from common header names. An empty cell is treated as absent.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formula_escape;
use super::records::{Encoding, RecordRef};
use crate::base::email::EmailAddress;
use crate::engine::api::Failure;
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::contacts::batch::RowNote;
use crate::features::contacts::write::ContactInput;
use crate::features::tags::TagName;
use crate::vocab::contact_fields::{CONTACT_FIELDS, Profile, with_profile_fields};
use crate::vocab::contact_status::Status;
use crate::vocab::limits;

with_profile_fields! { header
/// Maps contact fields to the headers of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ColumnMap {
    pub email: String,
    /// The header of a column with first and last name combined.
    pub name: Option<String>,
} profile {
    /// The header of a column with tag names, separated by commas or semicolons, or as a JSON array.
    pub tags: Option<String>,
    pub status: Option<String>,
    /// Maps names of custom fields to headers.
    #[serde(default)]
    pub custom_fields: BTreeMap<String, String>,
} }

/// The positions of mapped columns in a file, counted from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    pub email: u16,
    pub profile: Profile<u16>,
    /// The column with first and last name combined, which is used if a row has no separate first or last name.
    pub name: Option<u16>,
    pub tags: Option<u16>,
    pub status: Option<u16>,
    pub custom_fields: Vec<(String, u16)>,
}

/// The recognized headers, reduced to lowercase letters, of a column with first and last name combined. The combined name is not a contact
/// field, so these headers are not in the table of contact fields.
const NAME_HEADERS: &[&str] = &["name", "fullname", "contactname", "displayname"];

/// The header prefix for custom fields in files that Mailmill exports.
pub const CUSTOM_PREFIX: &str = "custom.";
/// The prefix that marks the name of a custom field among field names, as in `customFields.plan`.
const CUSTOM_FIELDS: &str = "customFields.";

impl Columns {
    /// Returns the columns to import. `mapping` identifies each column by its header.
    pub fn named(mapping: &ColumnMap, headers: &[String]) -> Result<Self, Failure> {
        let column = |header: Option<&String>| header.map(|header| find(headers, header)).transpose();
        let mut custom_fields = Vec::new();
        for (field, header) in &mapping.custom_fields {
            custom_fields.push((field.clone(), find(headers, header)?));
        }
        let columns = Self {
            email: find(headers, &mapping.email)?,
            profile: Profile::try_from_fn(|field| column(mapping.profile().get(field).copied()))?,
            name: column(mapping.name.as_ref())?,
            tags: column(mapping.tags.as_ref())?,
            status: column(mapping.status.as_ref())?,
            custom_fields,
        };
        columns.checked()
    }

    /// Guesses from a file's headers which columns to import, and into which fields.
    pub fn guessed(headers: &[String]) -> Result<Self, Failure> {
        let understood = Self::understood(headers);
        let guess = |field: &str| understood.iter().find(|(known, _)| known == field).map(|(_, at)| *at);
        let custom = |(field, at): &(String, u16)| Some((field.strip_prefix(CUSTOM_FIELDS)?.to_owned(), *at));
        let Some(email) = guess("email") else {
            let detail = format!(
                "no column was recognized as the email address; map the column with {{\"email\": \"…\"}}. {}",
                found(headers)
            );
            return Err(Failure::field("columnMap", detail));
        };
        let columns = Self {
            email,
            profile: Profile::from_fn(|field| guess(field.spec().key)),
            name: guess("name"),
            tags: guess("tags"),
            status: guess("status"),
            custom_fields: understood.iter().filter_map(custom).collect(),
        };
        columns.checked()
    }

    /// Returns the names of the fields recognized from headers, each with its column. The name of a custom field has the prefix
    /// `customFields.`.
    pub fn understood(headers: &[String]) -> Vec<(String, u16)> {
        let plain =
            |header: &String| -> String { header.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect() };
        let plain: Vec<String> = headers.iter().map(plain).collect();
        let fields = CONTACT_FIELDS.iter().filter(|field| field.importable).map(|field| (field.key, field.headers));
        let own = fields.chain([("name", NAME_HEADERS)]).filter_map(|(field, words)| {
            let at = words.iter().find_map(|word| plain.iter().position(|header| header == word))?;
            Some((field.to_owned(), at as u16))
        });
        let custom = headers.iter().enumerate().filter_map(|(at, header)| {
            let field = header.strip_prefix(CUSTOM_PREFIX).filter(|field| !field.is_empty())?;
            Some((format!("{CUSTOM_FIELDS}{field}"), at as u16))
        });
        own.chain(custom).collect()
    }

    /// Checks the number of custom fields and their names. A file can have columns for more custom fields than a contact can have, because
    /// a row can leave some of them empty; `contact_input` checks each row against the limits for a contact.
    fn checked(self) -> Result<Self, Failure> {
        let refused = |reason: String| Failure::field("columnMap.customFields", reason);
        if self.custom_fields.len() > limits::CONTACT_IMPORT_COLUMNS_MAX {
            return Err(refused(format!("map at most {} custom fields", limits::CONTACT_IMPORT_COLUMNS_MAX)));
        }
        for (name, _) in &self.custom_fields {
            if let Some(reason) = fields::refusal(&BTreeMap::from([(name.clone(), FieldValue::Null)])) {
                return Err(refused(reason));
            }
        }
        Ok(self)
    }

    /// Converts a record to a contact input, or returns a note on the first invalid cell.
    pub fn contact_input(&self, record: &RecordRef<'_>, encoding: Encoding, row: u32) -> Result<ContactInput, RowNote> {
        let cell = |column: u16| encoding.text(formula_escape::unescape(record.cell(column.into())));
        let email_text = cell(self.email);
        let refused = |field: &str, error: String| RowNote {
            row,
            email: Some(email_text.trim()).filter(|email| !email.is_empty()).map(|email| email.chars().take(254).collect()),
            field: field.to_owned(),
            error,
        };
        let given = |column: Option<u16>| column.map(cell).filter(|text| !text.trim().is_empty());
        let email = EmailAddress::parse(&email_text).map_err(|error| refused("email", error.to_string()))?;
        let mut input = ContactInput::of(email);
        let whole = given(self.name);
        let mut texts = Profile::from_fn(|field| given(self.profile.get(field).copied()));
        if texts.first_name.is_none()
            && texts.last_name.is_none()
            && let Some(whole) = &whole
        {
            (texts.first_name, texts.last_name) = split_name(whole);
        }
        input.profile = Profile::try_from_fn(|field| match texts.get(field) {
            Some(text) => (field.spec().parse)(text).map_err(|error| refused(field.spec().key, error)),
            None => Ok(None),
        })?;
        if let Some(names) = given(self.tags) {
            input.tags = tag_names(&names).map_err(|error| refused("tags", error))?;
        }
        input.status = parsed(given(self.status), status).map_err(|error| refused("status", error))?;
        for (name, column) in &self.custom_fields {
            let Some(text) = given(Some(*column)) else { continue };
            if text.contains('\0') {
                return Err(refused(name, "a cell must not contain the character U+0000; remove it".to_owned()));
            }
            input.custom_fields.insert(name.clone(), FieldValue::Text(text.into_owned()));
        }
        input.check().map_err(|refusal| refused(&refusal.field, refusal.reason.clone()))?;
        Ok(input)
    }
}

fn parsed<T, E: std::fmt::Display>(
    text: Option<Cow<'_, str>>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, String> {
    text.map(|text| parse(&text)).transpose().map_err(|error| error.to_string())
}

/// Splits a full name into first and last name at the first space.
fn split_name<'n>(whole: &'n str) -> (Option<Cow<'n, str>>, Option<Cow<'n, str>>) {
    match whole.trim().split_once(char::is_whitespace) {
        Some((first, last)) => (Some(first.into()), Some(last.trim().into())),
        None => (Some(whole.trim().into()), None),
    }
}

/// Parses tag names from a string that is either a JSON array or a list of names separated by commas or semicolons.
pub fn tag_names(text: &str) -> Result<Vec<TagName>, String> {
    let listed: Vec<String> = match text.trim().starts_with('[') {
        true => serde_json::from_str(text)
            .map_err(|_| "must be names separated by commas or semicolons, or a JSON array of names".to_owned())?,
        false => text.split([',', ';']).map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect(),
    };
    listed.iter().map(|name| TagName::parse(name).map_err(|error| error.to_string())).collect()
}

fn status(text: &str) -> Result<Status, String> {
    let word = text.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    // Users may write the status as the dashboard shows it: "Not subscribed".
    let word = if word == "not-subscribed" { Status::NonSubscribed.word() } else { word.as_str() };
    let found = Status::ALL.into_iter().find(|status| status.word() == word);
    let words = || Status::ALL.map(Status::word).join(", ");
    found.ok_or_else(|| format!("must be one of {}, not \"{}\"", words(), text.trim().chars().take(50).collect::<String>()))
}

fn find(headers: &[String], wanted: &str) -> Result<u16, Failure> {
    let same = |header: &&String| header.trim().to_lowercase() == wanted.trim().to_lowercase();
    let exact = headers.iter().position(|header| header == wanted);
    let at = exact.or_else(|| headers.iter().position(|header| same(&header)));
    at.map(|at| at as u16)
        .ok_or_else(|| Failure::field("columnMap", format_args!("the file has no column \"{wanted}\". {}", found(headers))))
}

fn found(headers: &[String]) -> String {
    const SHOWN: usize = 50;
    let shown: Vec<String> =
        headers.iter().take(SHOWN).map(|header| format!("\"{}\"", header.chars().take(60).collect::<String>())).collect();
    let more = if headers.len() > SHOWN { format!(" and {} more", headers.len() - SHOWN) } else { String::new() };
    format!("The columns of the file: {}{more}.", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::records::Records;
    use super::*;

    fn headers(line: &str) -> Vec<String> {
        line.split(',').map(str::to_owned).collect()
    }

    fn read(columns: &Columns, line: &str) -> Result<ContactInput, RowNote> {
        let mut records = Records::new(line.as_bytes(), b',', 0);
        let record = records.read().expect("the line is well formed").expect("the line has a record");
        columns.contact_input(&record, Encoding::Utf8, 2)
    }

    #[test]
    fn common_headers_and_those_of_our_own_exports_are_recognized() {
        let columns = Columns::guessed(&headers("ID,E-Mail Address,First Name,SURNAME,Mobile,custom.plan,Notes"))
            .expect("a header is recognized as email");
        let expected = Columns {
            email: 1,
            profile: Profile { first_name: Some(2), last_name: Some(3), phone: Some(4), ..Profile::default() },
            custom_fields: vec![("plan".into(), 5)],
            ..Columns::default()
        };
        assert_eq!(columns, expected);
        let german = Columns::guessed(&headers("Vorname,E-Mail-Adresse,Telefonnummer")).expect("a header is recognized as email");
        assert_eq!((german.email, german.profile.first_name, german.profile.phone), (1, Some(0), Some(2)));
    }

    #[test]
    fn every_header_in_the_table_is_recognized_for_its_field_alone() {
        let known: Vec<&str> = CONTACT_FIELDS.iter().flat_map(|field| field.headers).chain(NAME_HEADERS).copied().collect();
        for field in CONTACT_FIELDS {
            assert_eq!(field.headers.is_empty(), !field.importable, "{}", field.key);
            let exported = [field.column, field.label].map(|header| Columns::understood(&[header.to_owned()]));
            assert!(exported.iter().all(|found| found.is_empty() != field.importable), "{exported:?}");
            for header in field.headers {
                assert_eq!(Columns::understood(&[header.to_string()]), [(field.key.to_owned(), 0)]);
                assert_eq!(known.iter().filter(|other| *other == header).count(), 1, "{header} maps to only one field");
            }
        }
    }

    // Regression test: exports have up to 500 columns for custom fields, but an import refused files with more than 100.
    #[test]
    fn a_file_can_have_more_custom_fields_than_a_contact() {
        let many = limits::CUSTOM_FIELDS_MAX + 1;
        let names: Vec<String> = (0..many).map(|number| format!("custom.f{number}")).collect();
        let columns = Columns::guessed(&headers(&format!("email,{}", names.join(",")))).expect("the columns are valid");
        assert_eq!(columns.custom_fields.len(), many);
        let input = read(&columns, &format!("ada@example.com{}x", ",".repeat(many))).expect("one field has a value");
        assert_eq!(input.custom_fields.len(), 1);
        let refused = read(&columns, &format!("ada@example.com{}", ",x".repeat(many))).expect_err("all fields have a value");
        assert_eq!((refused.field.as_str(), refused.error.contains("at most 100 fields")), ("customFields", true));
        let unnamed =
            ColumnMap { email: "a".into(), custom_fields: BTreeMap::from([(" ".into(), "a".into())]), ..ColumnMap::default() };
        let failure = Columns::named(&unnamed, &headers("a")).expect_err("the name is blank");
        assert!(failure.text().starts_with("columnMap.customFields: a field name is blank"), "{}", failure.text());
    }

    #[test]
    fn an_error_about_a_missing_email_column_lists_the_columns() {
        let failure = Columns::guessed(&headers("Who,Where")).expect_err("no header is recognized as email");
        assert!(failure.text().contains("The columns of the file: \"Who\", \"Where\"."));
        let mapping = ColumnMap { email: "Adresse".into(), ..ColumnMap::default() };
        let failure = Columns::named(&mapping, &headers("Who,Where")).expect_err("the header does not exist");
        assert!(failure.text().contains("no column \"Adresse\". The columns of the file: "));
    }

    #[test]
    fn a_record_becomes_an_input_and_empty_cells_are_absent() {
        let columns = Columns::guessed(&headers("email,name,country,tags,status,custom.plan,custom.city"))
            .expect("a header is recognized as email");
        let input =
            read(&columns, "ada@example.com,Ada King Lovelace,gb,\"a; b,c\",Non Subscribed,pro,").expect("the record is valid");
        assert_eq!(
            (input.profile.first_name.as_deref(), input.profile.last_name.as_deref()),
            (Some("Ada"), Some("King Lovelace"))
        );
        assert_eq!(input.profile.country, Some("GB".into()));
        assert_eq!(input.tags.iter().map(|tag| &**tag).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(input.status, Some(Status::NonSubscribed));
        assert_eq!(input.custom_fields, BTreeMap::from([("plan".into(), FieldValue::Text("pro".into()))]));
        let labeled = read(&columns, "ada@example.com,,,,Not subscribed").expect("the record is valid");
        assert_eq!(labeled.status, Some(Status::NonSubscribed), "the dashboard's label is accepted");
        // Missing cells at the end of a short record are treated as empty.
        assert_eq!(read(&columns, "ada@example.com").expect("the record is valid").status, None);
    }

    #[test]
    fn an_invalid_cell_is_reported_with_its_row_field_and_reason() {
        let columns = Columns::guessed(&headers("email,country,status")).expect("a header is recognized as email");
        let refusal = |line: &str| read(&columns, line).map(|_| ()).expect_err("the record is refused");
        assert_eq!(
            (refusal("ada,,").field.as_str(), refusal("ada,,").email.as_deref(), refusal("ada,,").row),
            ("email", Some("ada"), 2)
        );
        assert_eq!(refusal("a@b.co,UK,").error, "UK is not an ISO 3166-1 country code; the United Kingdom is GB.");
        assert!(refusal("a@b.co,,active").error.starts_with("must be one of subscribed, unsubscribed, bounced"));
    }
}
