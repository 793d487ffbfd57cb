//! TABLE: the fields of a contact, used by the API, the OpenAPI document, segment filters, CSV files, the search index, merge fields and
//! the dashboard.
//!
//! Most fields are *profile fields*: optional text that describes a person. To add one:
//!
//! 1. Add a row to [`profile_fields`], at the position where forms and CSV files should show the field. Filters, imports, exports and merge
//!    fields then include the field.
//! 2. Add a row to `assets/docs/contacts.md`.
//! 3. Update the OpenAPI snapshot (`SNAPSHOTS=write cargo test --test tidy openapi`), and regenerate the API clients
//!    (`assets/clients/README.md`).
//!
//! After the first release, a new field, at any position, also needs a new `Contact::VERSION` and an `upgrade` of older rows, because rows
//! store the fields by position. `ContactRow::read` and `features/filters/row.rs` read rows without `upgrade`, and compile only if the
//! version is 1. Jobs also store one value per field by position (the field's column in the file, in `Import::columns`), so `Job` in
//! `features/contacts/jobs` also needs a new version and an `upgrade`.

use serde::{Deserialize, Serialize};

use crate::base::locale::{CountryCode, LanguageTag};
use crate::base::phone::Phone;
use crate::base::text::ShortText;

/// TABLE: the profile fields, in the order of rows on disk, CSV columns and forms. Each entry has the field's struct member and enum
/// variant, the type of its values in contacts and requests, their type in responses, and the field's names in the API, on pages and in
/// files. `sample` is the example value in the documentation.
macro_rules! profile_fields {
    ($callback:ident! $($arguments:tt)*) => {
        $crate::vocab::contact_fields::$callback! {
            { $($arguments)* }
            first_name FirstName: $crate::base::text::ShortText<{ $crate::vocab::limits::PERSON_NAME_CHARACTERS_MAX }>,
            Option<String> {
                key: "firstName", label: "First name", hint: "", characters_max: $crate::vocab::limits::PERSON_NAME_CHARACTERS_MAX,
                headers: &["firstname", "givenname", "forename", "fname", "first", "vorname", "prenom", "prénom", "nombre"],
                search: Some(SearchAs::Name), sample: "Ada",
            }
            last_name LastName: $crate::base::text::ShortText<{ $crate::vocab::limits::PERSON_NAME_CHARACTERS_MAX }>,
            Option<String> {
                key: "lastName", label: "Last name", hint: "", characters_max: $crate::vocab::limits::PERSON_NAME_CHARACTERS_MAX,
                headers: &["lastname", "surname", "familyname", "lname", "last", "nachname", "nom", "apellido"],
                search: Some(SearchAs::Name), sample: "Lovelace",
            }
            /// The company or organization that the contact belongs to.
            company Company: $crate::base::text::ShortText<{ $crate::vocab::limits::COMPANY_CHARACTERS_MAX }>,
            Option<String> {
                key: "company", label: "Company", hint: "", characters_max: $crate::vocab::limits::COMPANY_CHARACTERS_MAX,
                headers: &[
                    "company", "companyname", "organization", "organisation", "organizationname", "organisationname",
                    "companyorganization", "org", "employer", "business", "businessname", "firma", "unternehmen", "entreprise",
                    "societe", "société", "empresa", "azienda", "bedrijf",
                ],
                search: Some(SearchAs::Name), sample: "Analytical Engines",
            }
            /// The phone number, as free-form text.
            phone Phone: $crate::base::phone::Phone,
            $crate::base::optional::Nullable<String> {
                key: "phone", label: "Phone", hint: "", characters_max: $crate::base::phone::PHONE_CHARACTERS_MAX,
                headers: &[
                    "phone", "phonenumber", "phoneno", "telephone", "mobile", "mobilenumber", "mobilephone", "cell", "tel", "telefon",
                    "telefonnummer", "handy", "handynummer", "téléphone", "telefono", "teléfono", "telefone", "telefoon",
                ],
                search: Some(SearchAs::Phone), sample: "+44 20 7946 0958",
            }
            /// The city or town.
            city City: $crate::base::text::ShortText<{ $crate::vocab::limits::CITY_CHARACTERS_MAX }>,
            Option<String> {
                key: "city", label: "City", hint: "", characters_max: $crate::vocab::limits::CITY_CHARACTERS_MAX,
                headers: &[
                    "city", "town", "citytown", "cityname", "locality", "stadt", "ort", "wohnort", "ville", "ciudad", "citta", "città",
                    "cidade", "plaats",
                ],
                search: Some(SearchAs::Value), sample: "London",
            }
            /// The country's ISO 3166-1 alpha-2 code.
            country Country: $crate::base::locale::CountryCode,
            Option<String> {
                key: "country", label: "Country", hint: "Two-letter code, like CH", characters_max: 2,
                headers: &["country", "countrycode", "land", "pays", "pais", "país"],
                search: None, sample: "GB",
            }
            /// The language's ISO 639-1 code or BCP 47 tag.
            language Language: $crate::base::locale::LanguageTag,
            Option<String> {
                key: "language", label: "Language", hint: "For example, en or de-CH",
                characters_max: $crate::base::locale::LANGUAGE_TAG_CHARACTERS_MAX,
                headers: &["language", "languagecode", "lang", "locale", "sprache"],
                search: None, sample: "en-GB",
            }
        }
    };
}
pub(crate) use profile_fields;

#[derive(Debug)]
pub struct ContactField {
    /// The name in the API, in merge fields and in filters.
    pub key: &'static str,
    /// The column name in CSV exports.
    pub column: &'static str,
    /// The label in the dashboard.
    pub label: &'static str,
    /// The place in a contact where the value is stored, which also determines the type of the value.
    pub place: FieldSource,
    /// Whether the `fields` member of a segment filter can contain a condition on this field. Tags have separate conditions.
    pub filterable: bool,
    /// Whether CSV imports accept the field.
    pub importable: bool,
    /// The column headers that an import recognizes without a column map: lowercase, letters only.
    pub headers: &'static [&'static str],
}

/// The place in a contact where a field's value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldSource {
    Id,
    Email,
    Profile(ProfileField),
    Tags,
    Status,
    CreatedAt,
    UpdatedAt,
    UnsubscribedAt,
}

impl ContactField {
    pub fn is_text(&self) -> bool {
        matches!(self.place, FieldSource::Email | FieldSource::Profile(_))
    }

    pub fn is_time(&self) -> bool {
        matches!(self.place, FieldSource::CreatedAt | FieldSource::UpdatedAt | FieldSource::UnsubscribedAt)
    }
}

/// How the search index treats a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchAs {
    Name,
    Phone,
    Value,
}

/// A row of the table of profile fields.
#[derive(Debug)]
pub struct ProfileSpec {
    pub key: &'static str,
    pub label: &'static str,
    /// The hint next to the field's input in the dashboard; empty for none.
    pub hint: &'static str,
    pub characters_max: usize,
    /// How the search index treats the values; `None` if search ignores them.
    pub search: Option<SearchAs>,
    pub sample: &'static str,
    /// Validates a value and converts it to the form that contacts store; `None` for an empty value.
    pub parse: fn(&str) -> Result<Option<String>, String>,
}

/// A type of profile field values, which parses and validates them.
pub trait ProfileValue: std::str::FromStr<Err: std::fmt::Display> {
    /// Returns the value as contacts store it.
    fn into_text(self) -> String;
}

impl<const MAX: usize> ProfileValue for ShortText<MAX> {
    fn into_text(self) -> String {
        self.into_string()
    }
}

impl ProfileValue for Phone {
    fn into_text(self) -> String {
        self.into_string()
    }
}

impl ProfileValue for CountryCode {
    fn into_text(self) -> String {
        self.as_str().to_owned()
    }
}

impl ProfileValue for LanguageTag {
    fn into_text(self) -> String {
        self.as_str().to_owned()
    }
}

/// Returns the value as contacts store it; `None` if it is empty.
pub fn kept_text(value: impl ProfileValue) -> Option<String> {
    Some(value.into_text()).filter(|text| !text.is_empty())
}

fn parse<V: ProfileValue>(text: &str) -> Result<Option<String>, String> {
    text.parse::<V>().map(kept_text).map_err(|error| error.to_string())
}

macro_rules! profile_types {
    ({} $($(#[$doc:meta])* $name:ident $Variant:ident: $Type:ty, $View:ty {
        key: $key:literal, label: $label:literal, hint: $hint:literal, characters_max: $max:expr, headers: $headers:expr,
        search: $search:expr, sample: $sample:literal,
    })*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ProfileField {
            $($Variant,)*
        }

        impl ProfileField {
            /// All profile fields, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$Variant,)*];

            /// Returns the field's row in the table.
            pub const fn spec(self) -> &'static ProfileSpec {
                match self {
                    $(Self::$Variant => &ProfileSpec {
                        key: $key, label: $label, hint: $hint, characters_max: $max, search: $search, sample: $sample,
                        parse: parse::<$Type>,
                    },)*
                }
            }
        }

        /// An optional value for each profile field, such as its text in a contact or its column in an import.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Profile<T> {
            $(pub $name: Option<T>,)*
        }

        impl<T> Profile<T> {
            /// Builds a profile by calling `value` for each field in table order. Stops at the first error.
            #[inline]
            pub fn try_from_fn<E>(mut value: impl FnMut(ProfileField) -> Result<Option<T>, E>) -> Result<Self, E> {
                Ok(Self { $($name: value(ProfileField::$Variant)?,)* })
            }

            #[inline]
            pub fn get(&self, field: ProfileField) -> Option<&T> {
                match field {
                    $(ProfileField::$Variant => self.$name.as_ref(),)*
                }
            }

            /// For each field that has a value in `given`, replaces this profile's value with it.
            pub fn overlay(&mut self, given: Self) {
                $(if given.$name.is_some() {
                    self.$name = given.$name;
                })*
            }
        }

        /// TABLE: all fields of a contact, in the order of CSV columns.
        pub const CONTACT_FIELDS: &[ContactField] = &[
            ContactField {
                key: "id", column: "id", label: "ID", place: FieldSource::Id, filterable: false, importable: false, headers: &[],
            },
            ContactField {
                key: "email", column: "email", label: "Email", place: FieldSource::Email, filterable: true, importable: true,
                headers: &[
                    "email", "emailaddress", "mail", "mailaddress", "emailid", "emailadresse", "mailadresse", "adresseemail", "correo",
                    "correoelectronico", "correoelectrónico", "courriel", "indirizzoemail", "emailadres",
                ],
            },
            $(ContactField {
                key: $key, column: stringify!($name), label: $label, place: FieldSource::Profile(ProfileField::$Variant), filterable: true,
                importable: true, headers: $headers,
            },)*
            ContactField {
                key: "tags", column: "tags", label: "Tags", place: FieldSource::Tags, filterable: false, importable: true,
                headers: &["tags", "tag", "labels"],
            },
            ContactField {
                key: "status", column: "status", label: "Status", place: FieldSource::Status, filterable: true, importable: true,
                headers: &["status", "subscriptionstatus"],
            },
            ContactField {
                key: "createdAt", column: "created_at", label: "Added on", place: FieldSource::CreatedAt, filterable: true,
                importable: false, headers: &[],
            },
            ContactField {
                key: "updatedAt", column: "updated_at", label: "Updated on", place: FieldSource::UpdatedAt, filterable: true,
                importable: false, headers: &[],
            },
            ContactField {
                key: "unsubscribedAt", column: "unsubscribed_at", label: "Unsubscribed on", place: FieldSource::UnsubscribedAt,
                filterable: false, importable: false, headers: &[],
            },
        ];
    };
}
use profile_types;

profile_fields! { profile_types! }

impl<T> Profile<T> {
    /// Builds a profile by calling `value` for each field in table order.
    pub fn from_fn(mut value: impl FnMut(ProfileField) -> Option<T>) -> Self {
        let Ok(profile) = Self::try_from_fn(|field| Ok::<_, std::convert::Infallible>(value(field)));
        profile
    }

    /// Returns each field that has a value, with the value.
    pub fn iter(&self) -> impl Iterator<Item = (ProfileField, &T)> {
        ProfileField::ALL.iter().filter_map(|field| Some((*field, self.get(*field)?)))
    }
}

impl Profile<String> {
    /// Returns a profile with the example values of the documentation.
    pub fn sample() -> Self {
        Self::from_fn(|field| Some(field.spec().sample.to_owned()))
    }
}

impl ProfileField {
    /// Returns the profile field that has this name in the API.
    pub fn by_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|field| field.spec().key == key)
    }
}

/// Declares a struct that has a member for each profile field, between its other members. The first word of the declaration determines the
/// types of these members:
///
/// - `given`: typed optional values, for requests
/// - `patch`: typed values that a request can also clear
/// - `header`: the name of the column that contains the field
/// - `shown`: the values in responses
macro_rules! with_profile_fields {
    ($($item:tt)*) => {
        $crate::vocab::contact_fields::profile_fields! { profile_struct! $($item)* }
    };
}
pub(crate) use with_profile_fields;

macro_rules! profile_struct {
    ({ given $(#[$meta:meta])* pub struct $Struct:ident { $($before:tt)* } profile { $($after:tt)* } }
        $($(#[$doc:meta])* $name:ident $Variant:ident: $Type:ty, $View:ty { $($spec:tt)* })*) => {
        $(#[$meta])*
        pub struct $Struct {
            $($before)*
            $($(#[$doc])* pub $name: Option<$Type>,)*
            $($after)*
        }

        impl $Struct {
            /// Moves the values of the profile fields out of this struct, as text.
            pub fn take_profile(&mut self) -> $crate::vocab::contact_fields::Profile<String> {
                $crate::vocab::contact_fields::Profile {
                    $($name: self.$name.take().and_then($crate::vocab::contact_fields::kept_text),)*
                }
            }
        }
    };
    ({ patch $(#[$meta:meta])* pub struct $Struct:ident { $($before:tt)* } profile { $($after:tt)* } }
        $($(#[$doc:meta])* $name:ident $Variant:ident: $Type:ty, $View:ty { $($spec:tt)* })*) => {
        $(#[$meta])*
        pub struct $Struct {
            $($before)*
            $($(#[$doc])* #[serde(default)] pub $name: $crate::base::patch::Patch<$Type>,)*
            $($after)*
        }

        impl $Struct {
            /// Applies the profile fields that the request contains to `profile`; null or an empty value clears the field.
            pub fn patch_profile(&mut self, profile: &mut $crate::vocab::contact_fields::Profile<String>) {
                $(match std::mem::take(&mut self.$name) {
                    $crate::base::patch::Patch::Absent => {}
                    $crate::base::patch::Patch::Null => profile.$name = None,
                    $crate::base::patch::Patch::Value(value) => {
                        profile.$name = $crate::vocab::contact_fields::kept_text(value);
                    }
                })*
            }
        }
    };
    ({ header $(#[$meta:meta])* pub struct $Struct:ident { $($before:tt)* } profile { $($after:tt)* } }
        $($(#[$doc:meta])* $name:ident $Variant:ident: $Type:ty, $View:ty { $($spec:tt)* })*) => {
        $(#[$meta])*
        pub struct $Struct {
            $($before)*
            $(pub $name: Option<String>,)*
            $($after)*
        }

        impl $Struct {
            /// Returns the column name of each profile field.
            pub fn profile(&self) -> $crate::vocab::contact_fields::Profile<&String> {
                $crate::vocab::contact_fields::Profile { $($name: self.$name.as_ref(),)* }
            }
        }
    };
    ({ shown $(#[$meta:meta])* pub struct $Struct:ident { $($before:tt)* } profile { $($after:tt)* } }
        $($(#[$doc:meta])* $name:ident $Variant:ident: $Type:ty, $View:ty { $($spec:tt)* })*) => {
        $(#[$meta])*
        pub struct $Struct {
            $($before)*
            $($(#[$doc])* pub $name: $View,)*
            $($after)*
        }
    };
    ({ fill $profile:tt $Struct:ident { $($members:tt)* } }
        $($(#[$doc:meta])* $name:ident $Variant:ident: $Type:ty, $View:ty { $($spec:tt)* })*) => {
        $Struct { $($name: $profile.$name.into(),)* $($members)* }
    };
}
pub(crate) use profile_struct;

/// Creates a value of a `shown` struct, with the profile fields from `$profile` and the other members as given.
macro_rules! fill_profile_fields {
    ($profile:ident => $Struct:ident { $($members:tt)* }) => {
        $crate::vocab::contact_fields::profile_fields! { profile_struct! fill $profile $Struct { $($members)* } }
    };
}
pub(crate) use fill_profile_fields;
