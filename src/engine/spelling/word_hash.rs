//! The hash that identifies words and pairs of words in the embedded tables.

/// The number of bytes of a hash. With four bytes, one in 45,000 unknown pairs would get the count of another pair.
pub const HASH_BYTES: usize = 5;

/// Returns the hash of a string (FNV-1a, 64 bits, cut to [`HASH_BYTES`]).
pub(super) fn hash_of(bytes: impl Iterator<Item = u8>) -> [u8; HASH_BYTES] {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let [_, _, _, rest @ ..] = hash.to_be_bytes();
    rest
}
