//! Decompresses a body up to a size limit, because a few kilobytes can decompress to gigabytes.

use std::io::{self, Read, Write};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use flate2::write;

/// The size of the read buffer.
const BUFFER_BYTES: usize = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Gzip,
    Deflate,
    Brotli,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Inflated {
    pub bytes: Vec<u8>,
    /// Whether the body was cut off because it is longer than the limit or, if it is partial, because the rest cannot be decompressed.
    pub cut: bool,
}

impl Encoding {
    /// The value of the `Accept-Encoding` header: the encodings that this program can decompress.
    pub const ACCEPTED: &'static str = "gzip, deflate, br";

    /// Parses the value of `Content-Encoding`. Returns `Ok(None)` if the body is not compressed, and an error for an encoding that
    /// was not requested. Multiple encodings are also an error, because legitimate servers do not compress a body twice.
    pub fn of(header: &str) -> Result<Option<Self>, String> {
        match header.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(None),
            "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
            "deflate" => Ok(Some(Self::Deflate)),
            "br" => Ok(Some(Self::Brotli)),
            other => Err(format!("the encoding \"{other}\" was not requested")),
        }
    }

    /// Returns how many bytes of memory decompression needs: `bytes_max` bytes for the compressed body, the same for the result, and
    /// brotli's window. `compressed` is the start of the body, which declares the size of the window.
    pub fn memory_bytes(self, compressed: &[u8], bytes_max: usize) -> usize {
        let window = if self == Self::Brotli { brotli_window_bytes(compressed).unwrap_or_default() } else { 0 };
        bytes_max.saturating_mul(2).saturating_add(window)
    }

    /// Decompresses `compressed` to at most `bytes_max` bytes. If `partial` is true, an error after the first decompressed bytes only
    /// truncates the result.
    pub fn inflate(self, compressed: &[u8], bytes_max: usize, partial: bool) -> io::Result<Inflated> {
        match self {
            Self::Gzip => read(MultiGzDecoder::new(compressed), bytes_max, partial),
            // The standard requires zlib (RFC 9110), but some servers send a raw deflate stream.
            Self::Deflate if is_zlib(compressed) => read(ZlibDecoder::new(compressed), bytes_max, partial),
            Self::Deflate => read(DeflateDecoder::new(compressed), bytes_max, partial),
            Self::Brotli if brotli_window_bytes(compressed).is_none() => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "the brotli window is larger than 16 MiB"))
            }
            Self::Brotli => read(brotli_decompressor::Decompressor::new(compressed, BUFFER_BYTES), bytes_max, partial),
        }
    }
}

/// Returns the size of the window that the first byte of a brotli stream declares, at most 16 MiB (RFC 7932, section 9.1). Returns `None`
/// if the stream uses the extension for windows of up to 1 GiB: the content encoding does not allow this extension, but the decompressor
/// would accept it.
fn brotli_window_bytes(compressed: &[u8]) -> Option<usize> {
    let first = *compressed.first()?;
    let bits = match (first & 1, first >> 1 & 7, first >> 4 & 7) {
        (0, ..) => 16,
        (_, 0, 0) => 17,
        (_, 0, 1) => return None,
        (_, 0, few) => 8 + few,
        (_, more, _) => 17 + more,
    };
    Some(1 << bits)
}

/// Decompresses a gzip body while it arrives.
pub struct GzipStream(write::MultiGzDecoder<Vec<u8>>);

impl GzipStream {
    /// The number of compressed bytes per step. They decompress to about 1 MiB at most.
    pub const STEP_BYTES: usize = 1024;

    pub fn new() -> Self {
        Self(write::MultiGzDecoder::new(Vec::new()))
    }

    /// Decompresses the next bytes.
    pub fn step(&mut self, compressed: &[u8]) -> io::Result<Vec<u8>> {
        debug_assert!(compressed.len() <= Self::STEP_BYTES, "a step could use a lot of memory");
        self.0.write_all(compressed)?;
        Ok(std::mem::take(self.0.get_mut()))
    }

    /// Returns the last decompressed bytes. Fails if the body is incomplete.
    pub fn end(mut self) -> io::Result<Vec<u8>> {
        self.0.try_finish()?;
        Ok(std::mem::take(self.0.get_mut()))
    }
}

fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [first, second, ..] if first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

fn read(mut source: impl Read, bytes_max: usize, partial: bool) -> io::Result<Inflated> {
    let mut bytes = Vec::new();
    let mut buffer = [0; BUFFER_BYTES];
    loop {
        let count = match source.read(&mut buffer) {
            Ok(0) => return Ok(Inflated { bytes, cut: false }),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) if partial && !bytes.is_empty() => return Ok(Inflated { bytes, cut: true }),
            Err(error) => return Err(error),
        };
        let room = bytes_max - bytes.len();
        bytes.extend_from_slice(&buffer[..count.min(room)]);
        if count > room {
            return Ok(Inflated { bytes, cut: true });
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    /// The text "hello hello hello hello", compressed by a brotli encoder.
    const HELLO_BROTLI: [u8; 20] =
        [0x1b, 0x16, 0x00, 0xf8, 0x8d, 0x94, 0x6e, 0xde, 0x44, 0x55, 0x86, 0x96, 0x6c, 0x20, 0x6f, 0x21, 0x4f, 0x1c, 0xe0, 0x38];

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("writing to memory cannot fail");
        encoder.finish().expect("writing to memory cannot fail")
    }

    #[test]
    fn each_encoding_is_decompressed() {
        let text = b"a text that is compressed ".repeat(50);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).expect("writing to memory cannot fail");
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(&text).expect("writing to memory cannot fail");
        for (encoding, compressed) in [
            (Encoding::Gzip, gzip(&text)),
            (Encoding::Deflate, zlib.finish().expect("writing to memory cannot fail")),
            (Encoding::Deflate, bare.finish().expect("writing to memory cannot fail")),
        ] {
            let inflated = encoding.inflate(&compressed, 1 << 20, false).expect("the data is readable");
            assert_eq!(inflated, Inflated { bytes: text.clone(), cut: false });
        }
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let bomb = gzip(&vec![0; 50_000_000]);
        let inflated = Encoding::Gzip.inflate(&bomb, 1_000_000, false).expect("the data is readable");
        assert!(inflated.cut && inflated.bytes.len() == 1_000_000);
    }

    #[test]
    fn a_stream_is_decompressed_in_small_parts() {
        let text = [vec![0; 5_000_000], b"end".to_vec()].concat();
        let whole = gzip(&text);
        let (mut stream, mut parts) = (GzipStream::new(), Vec::new());
        for step in whole.chunks(GzipStream::STEP_BYTES) {
            parts.push(stream.step(step).expect("the data is readable"));
        }
        parts.push(stream.end().expect("the stream is complete"));
        assert!(parts.iter().all(|part| part.len() <= 1_100_000) && parts.concat() == text);
        let mut cut = GzipStream::new();
        cut.step(&whole[..100]).expect("the data is readable");
        assert!(cut.end().is_err());
    }

    #[test]
    fn garbage_is_an_error_and_a_truncated_body_is_one_unless_partial() {
        for encoding in [Encoding::Gzip, Encoding::Deflate, Encoding::Brotli] {
            assert!(encoding.inflate(b"\xff\xfe nonsense that is nothing", 1000, false).is_err(), "{encoding:?}");
        }
        let text: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let whole = gzip(&text);
        let half = &whole[..whole.len() / 2];
        assert!(Encoding::Gzip.inflate(half, 1 << 20, false).is_err());
        let read = Encoding::Gzip.inflate(half, 1 << 20, true).expect("the first half can be inflated");
        assert!(read.cut && text.starts_with(&read.bytes));
    }

    #[test]
    fn brotli_is_decompressed() {
        let inflated = Encoding::Brotli.inflate(&HELLO_BROTLI, 1000, false).expect("the data is readable");
        assert_eq!(String::from_utf8_lossy(&inflated.bytes), "hello hello hello hello");
    }

    /// Regression test: the window was counted as 2 MiB, although a few bytes can declare a window of 1 GiB.
    #[test]
    fn the_memory_for_brotli_includes_its_window() {
        for (first, window_bits) in [(0x00, 16), (0x01, 17), (0x03, 18), (0x0b, 22), (0x0f, 24), (0x21, 10), (0x71, 15)] {
            assert_eq!(Encoding::Brotli.memory_bytes(&[first], 1000), 2000 + (1 << window_bits), "{first:#x}");
        }
        assert_eq!(Encoding::Gzip.memory_bytes(&[0x0f], 1000), 2000);
        // A window of 2^30 bytes, then an empty last block.
        let error = Encoding::Brotli.inflate(&[0x11, 0x1e, 0x03], 1000, false).expect_err("the window is too large");
        assert!(error.to_string().contains("window"), "{error}");
    }

    #[test]
    fn only_requested_encodings_are_accepted() {
        assert_eq!(Encoding::of(" GZIP "), Ok(Some(Encoding::Gzip)));
        assert_eq!(Encoding::of("identity"), Ok(None));
        assert!(Encoding::of("gzip, gzip").is_err() && Encoding::of("zstd").is_err());
    }
}
