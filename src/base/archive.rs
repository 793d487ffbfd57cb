//! Writes archives: tar archives compressed with gzip, and zip archives.
//!
//! The files in an archive have a fixed date and fixed permissions, so the same files always produce the same archive.

use std::borrow::Cow;
use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

pub struct Entry<'a> {
    /// The path, with `/` between folders.
    pub name: String,
    pub content: Cow<'a, [u8]>,
}

/// The size of a block in a tar archive, in bytes. Headers and contents are padded to whole blocks.
const BLOCK: usize = 512;
/// The size of the name field in a tar header, in bytes.
const TAR_NAME_BYTES_MAX: usize = 100;
/// 1985-10-26, 08:15 UTC: the modification time that npm sets for the files in its packages.
const TAR_SECONDS: u64 = 499_162_500;
/// 1980-01-01, 00:00: the earliest date that a zip archive can store.
const ZIP_DATE: u16 = 0x21;

/// Returns a tar archive (POSIX ustar), compressed with gzip.
///
/// # Panics
///
/// Panics if a name is longer than 100 bytes.
pub fn tar_gz(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    let mut write = |bytes: &[u8]| packer.write_all(bytes).expect("compressing into memory does not fail");
    for entry in entries {
        write(&tar_header(entry));
        write(&entry.content);
        write(&[0; BLOCK][..entry.content.len().next_multiple_of(BLOCK) - entry.content.len()]);
    }
    write(&[0; 2 * BLOCK]);
    packer.finish().expect("compressing into memory does not fail")
}

fn tar_header(entry: &Entry<'_>) -> [u8; BLOCK] {
    assert!(entry.name.len() <= TAR_NAME_BYTES_MAX, "{} is too long for a tar archive", entry.name);
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, &entry.name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{:011o}\0", entry.content.len()));
    put(136, &format!("{TAR_SECONDS:011o}\0"));
    // The checksum is computed as if its own field contained spaces.
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// Returns a zip archive (PKWARE APPNOTE 6.3) with deflated files.
///
/// # Panics
///
/// Panics if the archive or a file is 4 GiB or larger, if there are more than 65,535 files, or if a name is longer than 65,535 bytes.
pub fn zip(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::best());
        let packed =
            packer.write_all(&entry.content).and_then(|()| packer.finish()).expect("compressing into memory does not fail");
        let mut common = Vec::new();
        // The fields: version 2.0 needed to extract, no flags, deflated, the time and the date.
        for field in [20, 0, 8, 0, ZIP_DATE] {
            common.extend_from_slice(&u16::to_le_bytes(field));
        }
        for field in [crc32fast::hash(&entry.content), size(packed.len()), size(entry.content.len())] {
            common.extend_from_slice(&field.to_le_bytes());
        }
        common.extend_from_slice(&count(entry.name.len()).to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        directory.extend_from_slice(b"PK\x01\x02");
        // The archive was made by version 2.0 on Unix.
        directory.extend_from_slice(&[20, 3]);
        directory.extend_from_slice(&common);
        // The fields: no comment, on the first disk, binary, a regular file with permissions 644.
        directory.extend_from_slice(&[0; 6]);
        directory.extend_from_slice(&(0o100_644_u32 << 16).to_le_bytes());
        directory.extend_from_slice(&size(archive.len()).to_le_bytes());
        directory.extend_from_slice(entry.name.as_bytes());
        archive.extend_from_slice(b"PK\x03\x04");
        archive.extend_from_slice(&common);
        archive.extend_from_slice(entry.name.as_bytes());
        archive.extend_from_slice(&packed);
    }
    let (at, files) = (size(archive.len()), count(entries.len()).to_le_bytes());
    archive.extend_from_slice(&directory);
    archive.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    archive.extend_from_slice(&files);
    archive.extend_from_slice(&files);
    archive.extend_from_slice(&size(directory.len()).to_le_bytes());
    archive.extend_from_slice(&at.to_le_bytes());
    archive.extend_from_slice(&[0, 0]);
    archive
}

fn size(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("the archive is smaller than 4 GiB")
}

fn count(number: usize) -> u16 {
    u16::try_from(number).expect("the archive has at most 65,535 files with names of at most 65,535 bytes")
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Command;

    use super::*;

    fn entries() -> Vec<Entry<'static>> {
        vec![
            Entry { name: "folder/one.txt".to_owned(), content: Cow::Borrowed(b"one\n") },
            Entry { name: "empty".to_owned(), content: Cow::Borrowed(b"") },
            Entry { name: "full".to_owned(), content: vec![b'x'; 512].into() },
        ]
    }

    #[test]
    fn a_tar_archive_has_a_header_and_whole_blocks_for_each_file() {
        let packed = tar_gz(&entries());
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut plain).expect("it is compressed with gzip");
        // The archive has three headers, two blocks with content, and two blocks at the end.
        assert_eq!(plain.len(), 7 * BLOCK);
        assert_eq!(&plain[..14], b"folder/one.txt");
        assert_eq!(&plain[BLOCK..BLOCK + 5], b"one\n\0");
        let stored = u32::from_str_radix(std::str::from_utf8(&plain[148..154]).expect("digits"), 8).expect("an octal number");
        let own: u32 = plain[148..156].iter().map(|byte| u32::from(*byte)).sum();
        let sum: u32 = plain[..BLOCK].iter().map(|byte| u32::from(*byte)).sum();
        assert_eq!(stored, sum - own + 8 * u32::from(b' '));
    }

    #[test]
    fn archives_are_the_same_every_time() {
        assert_eq!(tar_gz(&entries()), tar_gz(&entries()));
        assert_eq!(zip(&entries()), zip(&entries()));
    }

    /// Python's standard library, an independent implementation, can read both archives.
    #[test]
    fn another_program_reads_both_archives() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("a.tgz"), tar_gz(&entries())).expect("the archive can be written");
        std::fs::write(folder.path().join("a.zip"), zip(&entries())).expect("the archive can be written");
        let script = "import tarfile, zipfile\n\
            t = tarfile.open('a.tgz', errorlevel=2)\n\
            print([(m.name, m.size, oct(m.mode), m.mtime, t.extractfile(m).read()[:4]) for m in t])\n\
            z = zipfile.ZipFile('a.zip')\n\
            assert z.testzip() is None\n\
            print([(i.filename, i.file_size, oct(i.external_attr >> 16), i.date_time[0], z.read(i)[:4]) for i in z.infolist()])\n";
        let output = Command::new("python3").args(["-c", script]).current_dir(folder.path()).output().expect("Python starts");
        let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(
            said,
            "[('folder/one.txt', 4, '0o644', 499162500, b'one\\n'), ('empty', 0, '0o644', 499162500, b''), ('full', 512, '0o644', \
             499162500, b'xxxx')]\n\
             [('folder/one.txt', 4, '0o100644', 1980, b'one\\n'), ('empty', 0, '0o100644', 1980, b''), ('full', 512, '0o100644', 1980, \
             b'xxxx')]\n",
            "{complaint}"
        );
    }
}
