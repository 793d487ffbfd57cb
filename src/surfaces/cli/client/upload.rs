//! Uploads a file as multipart/form-data (RFC 7578), and shows the progress.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use serde_json::{Map, Value};
use tokio::io::AsyncReadExt;

use super::super::problem::Problem;
use super::progress::Progress;
use crate::base::random::Random;

/// The size of the chunks that are read from the file: large enough that reading costs little, small enough for smooth progress.
const CHUNK_BYTES: usize = 128 * 1024;
/// The maximum number of bytes accepted from standard input, which is held in memory. Larger data must be in a file.
const INPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Where the content of the form's file comes from.
enum Source {
    File(PathBuf),
    Whole(Bytes),
}

/// A form with fields and one file. Its body can be read several times, for repeated requests.
pub struct Form {
    boundary: String,
    source: Source,
    /// The part of the body before the content of the file.
    head: Bytes,
    /// The part of the body after the content of the file.
    tail: Bytes,
    file_bytes: u64,
    progress: Arc<Progress>,
}

impl Form {
    /// Checks that `path` is a regular file, or reads standard input if `path` is `-`.
    pub fn new(path: &Path, fields: &Map<String, Value>, random: &dyn Random, progress: Arc<Progress>) -> Result<Self, Problem> {
        let unreadable = |error: io::Error| Problem::unreadable("", &path.to_string_lossy(), &error);
        let (source, file_bytes) = if path == Path::new("-") {
            let mut bytes = Vec::new();
            let mut input = io::Read::take(io::stdin(), INPUT_BYTES_MAX + 1);
            io::Read::read_to_end(&mut input, &mut bytes).map_err(unreadable)?;
            let length = bytes.len() as u64;
            if length > INPUT_BYTES_MAX {
                return Err(Problem::misused(format_args!(
                    "standard input has more than {INPUT_BYTES_MAX} bytes; enter the path of a file instead"
                )));
            }
            (Source::Whole(bytes.into()), length)
        } else {
            let found = std::fs::metadata(path).map_err(unreadable)?;
            if !found.is_file() {
                return Err(Problem::misused(format_args!(
                    "{} is not a regular file; enter the path of a file, or - for standard input",
                    path.display()
                )));
            }
            (Source::File(path.to_owned()), found.len())
        };
        let boundary = format!("mailmill-{}", data_encoding::HEXLOWER.encode(&random.bytes::<16>()));
        let name = path.file_name().map_or_else(|| "input.csv".into(), |name| name.to_string_lossy());
        let name: String = name.chars().filter(|character| !character.is_control() && *character != '"').collect();
        let mut head = String::new();
        for (field, value) in fields {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            head.push_str(&format!("--{boundary}\r\ncontent-disposition: form-data; name=\"{field}\"\r\n\r\n{text}\r\n"));
        }
        head.push_str(&format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             content-type: application/octet-stream\r\n\r\n"
        ));
        let tail = format!("\r\n--{boundary}--\r\n").into();
        Ok(Self { boundary, source, head: head.into(), tail, file_bytes, progress })
    }

    pub fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    pub fn length(&self) -> u64 {
        self.head.len() as u64 + self.file_bytes + self.tail.len() as u64
    }

    /// Returns the body. The request fails if the file becomes shorter during the upload.
    pub async fn body(&self) -> io::Result<UnsyncBoxBody<Bytes, io::Error>> {
        let file = match &self.source {
            Source::Whole(bytes) => Reader::Whole(bytes.clone()),
            Source::File(path) => Reader::File(tokio::fs::File::open(path).await?.take(self.file_bytes)),
        };
        let state = Sending {
            head: Some(self.head.clone()),
            file: Some(file),
            tail: Some(self.tail.clone()),
            sent: 0,
            form: self.share(),
        };
        let frames = stream::unfold(state, |mut state| async move {
            let chunk = state.next().await.transpose()?;
            Some((chunk.map(Frame::data), state))
        });
        Ok(StreamBody::new(frames).boxed_unsync())
    }

    fn share(&self) -> (Arc<Progress>, u64) {
        (self.progress.clone(), self.file_bytes)
    }
}

enum Reader {
    Whole(Bytes),
    File(tokio::io::Take<tokio::fs::File>),
}

struct Sending {
    head: Option<Bytes>,
    file: Option<Reader>,
    tail: Option<Bytes>,
    sent: u64,
    form: (Arc<Progress>, u64),
}

impl Sending {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        if let Some(head) = self.head.take() {
            return Ok(Some(head));
        }
        let chunk = match &mut self.file {
            None => return Ok(self.tail.take()),
            Some(Reader::Whole(bytes)) => bytes.split_to(bytes.len().min(CHUNK_BYTES)),
            Some(Reader::File(file)) => {
                let mut chunk = vec![0; CHUNK_BYTES];
                let length = file.read(&mut chunk).await?;
                chunk.truncate(length);
                Bytes::from(chunk)
            }
        };
        if chunk.is_empty() {
            self.file = None;
            return Ok(self.tail.take());
        }
        self.sent += chunk.len() as u64;
        let (progress, total) = &self.form;
        progress.show(Some((self.sent * 100 / (*total).max(1)) as u8), "");
        Ok(Some(chunk))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::random::SeededRandom;

    #[tokio::test]
    async fn a_form_has_its_fields_and_the_whole_file_each_time() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("a\"b.csv");
        let content = "email\n".to_owned() + &"ada@example.com\n".repeat(20_000);
        std::fs::write(&path, &content).expect("the file can be written");
        let fields = json!({ "projectId": "p", "hold": true });
        let fields = fields.as_object().expect("an object");
        let progress = Arc::new(Progress::hidden());
        let form = Form::new(&path, fields, &SeededRandom::new(1), progress).expect("the file can be read");
        for _ in 0..2 {
            let body =
                form.body().await.expect("the file can be opened").collect().await.expect("the body is complete").to_bytes();
            assert_eq!(body.len() as u64, form.length());
            let text = String::from_utf8(body.to_vec()).expect("the body is text");
            let boundary = form.content_type().split_once("boundary=").expect("there is a boundary").1.to_owned();
            assert_eq!(text.matches(&format!("--{boundary}")).count(), 4);
            assert!(text.contains("name=\"hold\"\r\n\r\ntrue\r\n") && text.contains("filename=\"ab.csv\""));
            assert!(text.contains(&content));
        }
        let absent = Form::new(Path::new("/nowhere"), fields, &SeededRandom::new(1), Arc::new(Progress::hidden()));
        assert!(absent.err().expect("there is no such file").to_string().starts_with("cannot read /nowhere"));
    }
}
