//! The tantivy schema: one field of byte terms, and the number of each document. No content is stored, and matches are not scored by
//! frequency, so there are neither field norms nor positions.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf, Value};
use tantivy::schema::{BytesOptions, Field, NumericOptions, Schema};

use super::tokens::Terms;

/// The version of the tokenization; raised whenever the tokenization changes. An index of a different version is rebuilt.
pub(super) const VERSION: u32 = 3;

/// The name of the column that stores each document's number.
pub(super) const NUMBER: &str = "number";

/// The field of the terms. Fields are numbered in the order of [`schema`].
pub(super) const TERMS_FIELD: Field = Field::from_field_id(0);
const NUMBER_FIELD: Field = Field::from_field_id(1);

pub(super) fn schema() -> Schema {
    let mut builder = Schema::builder();
    let terms = builder.add_bytes_field("terms", BytesOptions::default().set_indexed());
    let number = builder.add_u64_field(NUMBER, NumericOptions::default().set_fast());
    assert_eq!((terms, number), (TERMS_FIELD, NUMBER_FIELD), "the constants name the fields in this order");
    builder.build()
}

/// The terms of a batch of documents. When the last document of a batch is dropped, the batch's buffer returns to the writer, which uses it
/// for another batch. A caller that adds documents waits until a buffer is free, so it cannot run ahead of the indexing threads.
pub(super) struct Batch {
    pub(super) terms: Terms,
    pub(super) home: SyncSender<Terms>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        let mut terms = std::mem::take(&mut self.terms);
        terms.clear();
        // Sending fails if the writer, which receives the buffers, no longer exists.
        let _ = self.home.try_send(terms);
    }
}

/// One document of a batch, in tantivy's form.
pub(super) struct Entry {
    pub(super) batch: Arc<Batch>,
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) number: u32,
}

impl tantivy::Document for Entry {
    type Value<'a> = Item<'a>;
    type FieldsValuesIter<'a> = Items<'a>;

    fn iter_fields_and_values(&self) -> Items<'_> {
        Items { entry: self, at: self.first, number_given: false }
    }
}

/// Iterates over the terms of an entry, then returns its number.
pub(super) struct Items<'a> {
    entry: &'a Entry,
    at: u32,
    number_given: bool,
}

impl<'a> Iterator for Items<'a> {
    type Item = (Field, Item<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at < self.entry.end {
            self.at += 1;
            return Some((TERMS_FIELD, Item::Term(self.entry.batch.terms.get(self.at as usize - 1))));
        }
        let number = (!self.number_given).then_some((NUMBER_FIELD, Item::Number(self.entry.number)));
        self.number_given = true;
        number
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.entry.end - self.at) as usize + usize::from(!self.number_given);
        (left, Some(left))
    }
}

/// The value of a field of an entry.
#[derive(Clone, Debug)]
pub(super) enum Item<'a> {
    Term(&'a [u8]),
    Number(u32),
}

impl<'a> Value<'a> for Item<'a> {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match self {
            Item::Term(term) => ReferenceValueLeaf::Bytes(term),
            Item::Number(number) => ReferenceValueLeaf::U64(u64::from(*number)),
        })
    }
}
