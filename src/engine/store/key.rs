//! Keys, encoded so that their bytes sort in the same order as their values.

use crate::base::clock::Timestamp;
use crate::vocab::ids::Id;

/// A table key. The bytes of keys sort in the same order as their values, and no key's bytes are a prefix of another key's bytes in the
/// same table.
pub trait Key: Sized {
    fn write(&self, out: &mut Vec<u8>);
    /// Removes the first key from the front of `bytes` and returns it.
    fn read(bytes: &mut &[u8]) -> Option<Self>;

    #[inline]
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(40);
        self.write(&mut out);
        out
    }
}

/// Marks `Self` as the leading part of the key `K`: a scan over this prefix finds every key that starts with it.
pub trait PrefixOf<K>: Key {}

/// The empty prefix, which selects the whole table.
impl Key for () {
    fn write(&self, _: &mut Vec<u8>) {}
    #[inline]
    fn read(_: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}
impl<K: Key> PrefixOf<K> for () {}

#[inline]
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

macro_rules! integer_keys {
    ($($integer:ty),*) => {
        $(impl Key for $integer {
            #[inline]
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }
            #[inline]
            fn read(bytes: &mut &[u8]) -> Option<Self> {
                take(bytes).map(Self::from_be_bytes)
            }
        })*
    };
}
integer_keys!(u8, u16, u32, u64);

/// Times before 1970 do not occur in keys, but flipping the sign bit keeps their order correct anyway.
impl Key for Timestamp {
    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        ((self.0 as u64) ^ (1 << 63)).write(out);
    }
    #[inline]
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        u64::read(bytes).map(|bits| Self((bits ^ (1 << 63)) as i64))
    }
}

impl<const N: usize> Key for [u8; N] {
    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    #[inline]
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        take(bytes)
    }
}

impl<T> Key for Id<T> {
    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
    #[inline]
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        take(bytes).map(Self::from_bytes)
    }
}

/// Text of any length. Zero bytes are escaped, and two zero bytes end the text. Therefore a string sorts before longer strings that start
/// with it, and no key is a prefix of another key.
impl Key for String {
    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        for byte in self.bytes() {
            out.push(byte);
            if byte == 0 {
                out.push(0xFF);
            }
        }
        out.extend_from_slice(&[0, 0]);
    }
    #[inline]
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut text = Vec::new();
        loop {
            let (&byte, rest) = bytes.split_first()?;
            *bytes = rest;
            if byte != 0 {
                text.push(byte);
                continue;
            }
            let (&mark, rest) = bytes.split_first()?;
            *bytes = rest;
            match mark {
                0xFF => text.push(0),
                0 => return Self::from_utf8(text).ok(),
                _ => return None,
            }
        }
    }
}

impl<A: Key, B: Key> Key for (A, B) {
    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }
    #[inline]
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::read(bytes)?, B::read(bytes)?))
    }
}
impl<A: Key> Key for (A,) {
    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }
    #[inline]
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::read(bytes)?,))
    }
}
impl<A: Key, B: Key> PrefixOf<(A, B)> for (A,) {}

impl<A: Key, B: Key, C: Key> Key for (A, B, C) {
    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
        self.2.write(out);
    }
    #[inline]
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::read(bytes)?, B::read(bytes)?, C::read(bytes)?))
    }
}
impl<A: Key, B: Key, C: Key> PrefixOf<(A, B, C)> for (A,) {}
impl<A: Key, B: Key, C: Key> PrefixOf<(A, B, C)> for (A, B) {}

impl<A: Key, B: Key, C: Key, D: Key> Key for (A, B, C, D) {
    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
        self.2.write(out);
        self.3.write(out);
    }
    #[inline]
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::read(bytes)?, B::read(bytes)?, C::read(bytes)?, D::read(bytes)?))
    }
}
impl<A: Key, B: Key, C: Key, D: Key> PrefixOf<(A, B, C, D)> for (A,) {}
impl<A: Key, B: Key, C: Key, D: Key> PrefixOf<(A, B, C, D)> for (A, B) {}
impl<A: Key, B: Key, C: Key, D: Key> PrefixOf<(A, B, C, D)> for (A, B, C) {}

/// Returns the smallest bytes that sort after all keys that start with `prefix`; `None` if there are none.
pub fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_sort_like_values(a: (u16, String, u64), b: (u16, String, u64)) {
            prop_assert_eq!(a.to_bytes().cmp(&b.to_bytes()), a.cmp(&b));
            let bytes = a.to_bytes();
            prop_assert_eq!(<(u16, String, u64)>::read(&mut bytes.as_slice()), Some(a));
        }

        #[test]
        fn times_sort_like_numbers(a: i64, b: i64) {
            prop_assert_eq!(Timestamp(a).to_bytes().cmp(&Timestamp(b).to_bytes()), a.cmp(&b));
        }

        #[test]
        fn the_end_of_a_prefix_is_after_all_keys_that_start_with_it(prefix: Vec<u8>, tail: Vec<u8>) {
            let whole = [prefix.as_slice(), &tail].concat();
            if let Some(end) = after_prefix(&prefix) {
                prop_assert!(whole < end);
                prop_assert!(!end.starts_with(&prefix) || prefix.is_empty());
            }
        }
    }
}
