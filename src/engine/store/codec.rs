//! Encodes values as bytes and decodes them, with versions.
//!
//! Except in tests, only this file uses bincode. A record starts with its version; a newer program upgrades older bytes when it reads them,
//! so that a changed record type does not require rewriting the table.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A value that can be stored in a table.
pub trait Value: Sized {
    fn encode(&self, out: &mut Vec<u8>);
    /// Decodes the value; `None` if the bytes are not valid.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

/// A value that is written field by field after a version byte.
pub trait Record: Serialize + DeserializeOwned {
    /// The version of the record that this program writes.
    const VERSION: u8 = 1;

    /// Decodes a record of an older version, without its version byte.
    fn upgrade(_version: u8, _bytes: &[u8]) -> Option<Self> {
        None
    }
}

/// The maximum size of a decoded record, so that a wrong length in a damaged record does not cause a huge allocation. Real rows are much
/// smaller.
const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;

type Config = bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Varint,
    bincode::config::Limit<RECORD_BYTES_MAX>,
>;

const CONFIG: Config = bincode::config::standard().with_limit();

impl<T: Record> Value for T {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(T::VERSION);
        bincode::serde::encode_into_std_write(self, out, CONFIG).expect("records hold only types that bincode can write");
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (&version, body) = bytes.split_first()?;
        if version != T::VERSION {
            return T::upgrade(version, body);
        }
        decode_fields(body)
    }
}

/// Decodes the fields of a record without a version byte.
pub fn decode_fields<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    bincode::serde::decode_from_slice(bytes, CONFIG).ok().map(|(value, _)| value)
}

/// Decodes a record of version `version` into a type that borrows its text from `bytes`, for scans over many rows.
pub fn decode_borrowed<'de, T: Deserialize<'de>>(bytes: &'de [u8], version: u8) -> Option<T> {
    let (&found, body) = bytes.split_first()?;
    if found != version {
        return None;
    }
    bincode::serde::borrow_decode_from_slice(body, CONFIG).ok().map(|(value, _)| value)
}

impl Value for () {
    fn encode(&self, _: &mut Vec<u8>) {}
    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.is_empty().then_some(())
    }
}

impl Value for u32 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_le_bytes)
    }
}

impl Value for i64 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_le_bytes)
    }
}

/// Stores plain bytes: the caller defines their format.
impl Value for Vec<u8> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    struct Old {
        name: String,
    }
    impl Record for Old {}

    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    struct New {
        name: String,
        age: u8,
    }
    impl Record for New {
        const VERSION: u8 = 2;
        fn upgrade(version: u8, bytes: &[u8]) -> Option<Self> {
            (version == 1).then(|| decode_fields::<Old>(bytes)).flatten().map(|old| Self { name: old.name, age: 0 })
        }
    }

    #[test]
    fn a_damaged_length_is_rejected_before_memory_is_allocated() {
        let mut bytes = vec![1, 253];
        bytes.extend_from_slice(&(u64::MAX / 4).to_le_bytes());
        assert_eq!(Old::decode(&bytes), None);
    }

    #[test]
    fn an_older_record_is_upgraded_when_read_and_a_newer_one_rejected() {
        let mut bytes = Vec::new();
        Old { name: "Ann".into() }.encode(&mut bytes);
        assert_eq!(New::decode(&bytes), Some(New { name: "Ann".into(), age: 0 }));
        let mut newer = Vec::new();
        New { name: "Ann".into(), age: 3 }.encode(&mut newer);
        assert_eq!(Old::decode(&newer), None);
    }
}
