//! A copy-on-write view of a file: writes stay in memory, and the file never changes.
//!
//! The engine writes to a file even when it only checks the file: it writes a header that says "in use", and the map of free pages. A
//! backup may be on a read-only medium, and a check must never change the backup.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

const BLOCK: usize = 4096;

/// The data written to the view: the contents of each written block, by the number of the block.
type Blocks = BTreeMap<u64, Box<[u8; BLOCK]>>;

/// A file and the writes on top of it.
#[derive(Debug)]
pub struct CowFile {
    file: File,
    /// The length of the file in bytes. Readers of the view see a written block instead of the file's block.
    file_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    length: u64,
    blocks: Blocks,
}

impl CowFile {
    /// Opens a file, which must exist and must not be empty.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        if length == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty"));
        }
        Ok(Self { file, file_bytes: length, state: Mutex::new(State { length, blocks: Blocks::new() }) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the block as it is in the file, with zeros after the end of the file.
    fn in_file(&self, block: u64) -> io::Result<Box<[u8; BLOCK]>> {
        let mut bytes = Box::new([0; BLOCK]);
        let start = block * BLOCK as u64;
        let there = self.file_bytes.saturating_sub(start).min(BLOCK as u64) as usize;
        self.file.read_exact_at(&mut bytes[..there], start)?;
        Ok(bytes)
    }
}

/// Splits `length` bytes from `offset` into parts at block boundaries. Returns for each part the block, the offset inside the block, and
/// the number of bytes.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let within = (at % BLOCK as u64) as usize;
        let many = (BLOCK - within).min(length - done);
        done += many;
        (many > 0).then_some((at / BLOCK as u64, within, many))
    })
}

impl redb::StorageBackend for CowFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.state();
        if offset + out.len() as u64 > state.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let there = self.file_bytes.saturating_sub(offset).min(out.len() as u64) as usize;
        self.file.read_exact_at(&mut out[..there], offset)?;
        out[there..].fill(0);
        let mut rest = out;
        for (block, within, many) in parts(offset, rest.len()) {
            let (part, behind) = rest.split_at_mut(many);
            if let Some(written) = state.blocks.get(&block) {
                part.copy_from_slice(&written[within..within + many]);
            }
            rest = behind;
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut state = self.state();
        if length < state.length {
            // The truncated part of the file must read as zeros when the file grows again.
            for block in length / BLOCK as u64..state.length.div_ceil(BLOCK as u64) {
                let mut bytes = match state.blocks.remove(&block) {
                    Some(bytes) => bytes,
                    None => self.in_file(block)?,
                };
                let kept = length.saturating_sub(block * BLOCK as u64).min(BLOCK as u64) as usize;
                bytes[kept..].fill(0);
                state.blocks.insert(block, bytes);
            }
        }
        state.length = length;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        if offset + data.len() as u64 > state.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut rest = data;
        for (block, within, many) in parts(offset, data.len()) {
            let (part, behind) = rest.split_at(many);
            let mut bytes = match state.blocks.remove(&block) {
                Some(bytes) => bytes,
                None => self.in_file(block)?,
            };
            bytes[within..within + many].copy_from_slice(part);
            state.blocks.insert(block, bytes);
            rest = behind;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use redb::StorageBackend;

    use super::super::testing::Dice;
    use super::*;

    #[test]
    fn reads_like_a_writable_file_and_leaves_the_file_unchanged() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("file");
        let mut dice = Dice::new(3);
        let original = dice.bytes(3 * BLOCK + 100);
        std::fs::write(&path, &original).expect("the write succeeds");
        let aside = CowFile::open(&path).expect("the file exists");
        let mut plain = original.clone();
        for _ in 0..400 {
            if dice.below(10) == 0 {
                let length = dice.below(6 * BLOCK as u64) + 1;
                aside.set_len(length).expect("the change succeeds");
                plain.resize(length as usize, 0);
                continue;
            }
            let offset = dice.below(plain.len() as u64);
            let most = (plain.len() as u64 - offset).min(2 * BLOCK as u64);
            let length = dice.below(most) as usize + 1;
            let bytes = dice.bytes(length);
            aside.write(offset, &bytes).expect("the write succeeds");
            plain[offset as usize..][..bytes.len()].copy_from_slice(&bytes);
            assert_eq!(aside.len().expect("the length is known"), plain.len() as u64);
            let mut seen = vec![1; plain.len()];
            aside.read(0, &mut seen).expect("the data is readable");
            assert!(seen == plain);
        }
        let mut beyond = [0; 2];
        assert!(aside.read(plain.len() as u64 - 1, &mut beyond).is_err());
        assert!(aside.write(plain.len() as u64 - 1, &beyond).is_err());
        assert_eq!(std::fs::read(&path).expect("the file exists"), original);
    }

    #[test]
    fn an_empty_file_is_rejected() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("file");
        std::fs::write(&path, b"").expect("the write succeeds");
        assert!(CowFile::open(&path).is_err());
    }
}
