//! Reads parts of a record's bytes without decoding the whole record, for scans over many rows that need one or two fields.
//!
//! Only this file and `codec.rs` depend on the record format. A number up to 250 takes one byte; a larger number starts with a marker. Text
//! and lists start with their length, an enum with the number of its variant, and an option with a byte that states whether it has a value.
//! The fields of a record are not defined here: the reader of each record type reads or skips its fields in order, and a test of that
//! reader compares the result with the decoded record.

/// A position in a record's bytes. Every method takes the next field; `None` means that the bytes cannot be read as this field.
#[derive(Clone, Copy, Debug)]
pub struct PartialDecoder<'a>(&'a [u8]);

impl<'a> PartialDecoder<'a> {
    /// Starts at the first field of a record of version `version`.
    pub fn record(bytes: &'a [u8], version: u8) -> Option<Self> {
        let (&found, fields) = bytes.split_first()?;
        (found == version).then_some(Self(fields))
    }

    /// Takes a fixed number of raw bytes: a byte array has no length prefix.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    /// Takes an unsigned number: a length, a variant, or a number of type `u16` to `u64`.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let [first] = self.array()?;
        match first {
            0..=250 => Some(u64::from(first)),
            251 => self.array().map(u16::from_le_bytes).map(u64::from),
            252 => self.array().map(u32::from_le_bytes).map(u64::from),
            253 => self.array().map(u64::from_le_bytes),
            _ => None,
        }
    }

    /// Takes a signed number, whose sign is stored in the lowest bit.
    #[inline]
    pub fn signed(&mut self) -> Option<i64> {
        let folded = self.number()?;
        Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    #[inline]
    pub fn fraction(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// Takes a boolean, or the byte that states whether an option has a value.
    #[inline]
    pub fn flag(&mut self) -> Option<bool> {
        match self.array()? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    /// Takes the bytes of a string.
    #[inline]
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.bytes(length)
    }

    #[inline]
    pub fn optional_text(&mut self) -> Option<Option<&'a [u8]>> {
        if self.flag()? { self.text().map(Some) } else { Some(None) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::engine::store::{Record, Value};

    #[derive(Clone, Debug, Serialize, Deserialize)]
    enum Word {
        Nothing,
        Said(String),
    }

    #[derive(Clone, Debug, Serialize, Deserialize)]
    struct Sample {
        id: [u8; 3],
        numbers: Vec<u32>,
        long: u64,
        signed: i64,
        fraction: f64,
        name: Option<String>,
        yes: bool,
        word: Word,
    }

    impl Record for Sample {
        const VERSION: u8 = 9;
    }

    fn sample() -> impl Strategy<Value = Sample> {
        let word = prop_oneof![Just(Word::Nothing), any::<String>().prop_map(Word::Said)];
        let parts = (any::<[u8; 3]>(), any::<Vec<u32>>(), any::<u64>(), any::<i64>(), -1e300..1e300, any::<Option<String>>());
        (parts, any::<bool>(), word).prop_map(|((id, numbers, long, signed, fraction, name), yes, word)| Sample {
            id,
            numbers,
            long,
            signed,
            fraction,
            name,
            yes,
            word,
        })
    }

    fn same(skim: &mut PartialDecoder<'_>, sample: &Sample) -> Option<bool> {
        let mut same = skim.bytes(3)? == sample.id;
        same &= skim.number()? == sample.numbers.len() as u64;
        for number in &sample.numbers {
            same &= skim.number()? == u64::from(*number);
        }
        same &= skim.number()? == sample.long;
        same &= skim.signed()? == sample.signed;
        same &= skim.fraction()? == sample.fraction;
        same &= skim.optional_text()? == sample.name.as_deref().map(str::as_bytes);
        same &= skim.flag()? == sample.yes;
        same &= match &sample.word {
            Word::Nothing => skim.number()? == 0,
            Word::Said(text) => skim.number()? == 1 && skim.text()? == text.as_bytes(),
        };
        Some(same && skim.0.is_empty())
    }

    proptest! {
        #[test]
        fn reads_bytes_of_the_codec(sample in sample()) {
            let mut bytes = Vec::new();
            sample.encode(&mut bytes);
            let mut skim = PartialDecoder::record(&bytes, 9).expect("the record has this version");
            prop_assert_eq!(same(&mut skim, &sample), Some(true));
            prop_assert!(PartialDecoder::record(&bytes, 8).is_none());
        }

        #[test]
        fn truncated_bytes_are_rejected_and_never_read_beyond(sample in sample(), share in 0.0..1.0) {
            let mut bytes = Vec::new();
            sample.encode(&mut bytes);
            let cut = (bytes.len() as f64 * share) as usize;
            let read = PartialDecoder::record(&bytes[..cut], 9).and_then(|mut skim| same(&mut skim, &sample));
            prop_assert_ne!(read, Some(true));
        }
    }
}
