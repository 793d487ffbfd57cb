//! Reads only the fields that a filter needs from the bytes of a contact's row.
//!
//! Building a whole contact requires a dozen allocations. For a million contacts, this takes about a second. This code therefore reads the
//! bytes in the order of [`Contact`]'s fields and skips the fields that the filter does not need. The planner's test compares the result
//! with the whole contact, on random contacts and filters.

use super::check::Field;
use super::compare::RowValue;
use crate::engine::store::Record;
use crate::engine::store::partial_decode::PartialDecoder;
use crate::features::contact_records::Contact;
use crate::vocab::contact_fields::ProfileField;

const _: () = assert!(Contact::VERSION == 1, "this reader supports only version 1 of the record");

/// The variants of a stored custom value, in the order of `fields::FieldValue`.
mod variant {
    pub const NULL: u64 = 0;
    pub const BOOL: u64 = 1;
    pub const WHOLE: u64 = 2;
    pub const NUMBER: u64 = 3;
    pub const TEXT: u64 = 4;
    pub const LIST: u64 = 5;
    pub const MAP: u64 = 6;
}

/// The bytes of a contact's row, partly decoded.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    email: &'a [u8],
    /// The bytes from the start of the profile to the end of the row.
    rest: PartialDecoder<'a>,
}

impl<'a> Row<'a> {
    /// Creates a reader for a row. Returns `None` if the row cannot be decoded as a contact.
    #[inline]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut skim = PartialDecoder::record(bytes, Contact::VERSION)?;
        let _id = skim.bytes(12)?;
        let _status = skim.number()?;
        Some(Self { email: skim.text()?, rest: skim })
    }

    /// Returns whether any value of `field` passes; `None` if the bytes cannot be decoded as a contact. Each item of a list is a value.
    #[inline]
    pub fn any(&self, field: &Field, holds: &impl Fn(RowValue<'_>) -> bool) -> Option<bool> {
        let text = match field {
            Field::Email => Some(self.email),
            Field::Profile(field) => {
                let mut skim = self.rest;
                for _ in 0..*field as usize {
                    skim.optional_text()?;
                }
                skim.optional_text()?
            }
            Field::Custom(name) => return self.any_custom(name.as_bytes(), holds),
        };
        Some(text.is_some_and(|text| holds(RowValue::Text(text))))
    }

    fn any_custom(&self, wanted: &[u8], holds: &impl Fn(RowValue<'_>) -> bool) -> Option<bool> {
        let mut skim = self.rest;
        for _ in ProfileField::ALL {
            skim.optional_text()?;
        }
        for _ in 0..skim.number()? {
            skim.number()?;
        }
        for _ in 0..skim.number()? {
            let name = skim.text()?;
            if name == wanted {
                return value(&mut skim, true, &mut |piece| holds(piece));
            }
            value(&mut skim, false, &mut |_| false)?;
        }
        Some(false)
    }
}

/// Reads one custom value and returns whether `holds` accepts it; `None` if the value cannot be decoded. If the value is a list, returns
/// whether `holds` accepts any of its items, or false if `whole` is false.
fn value(skim: &mut PartialDecoder<'_>, whole: bool, holds: &mut dyn FnMut(RowValue<'_>) -> bool) -> Option<bool> {
    match skim.number()? {
        variant::NULL => Some(false),
        variant::BOOL => skim.flag().map(|flag| holds(RowValue::Bool(flag))),
        variant::WHOLE => skim.signed().map(|number| holds(RowValue::Whole(number))),
        variant::NUMBER => skim.fraction().map(|number| holds(RowValue::Number(number))),
        variant::TEXT => skim.text().map(|text| holds(RowValue::Text(text))),
        variant::LIST => {
            let mut any = false;
            for _ in 0..skim.number()? {
                any |= if whole { value(skim, false, holds)? } else { value(skim, false, &mut |_| false)? };
            }
            Some(any)
        }
        variant::MAP => {
            for _ in 0..skim.number()? {
                skim.text()?;
                value(skim, false, &mut |_| false)?;
            }
            Some(false)
        }
        _ => None,
    }
}
