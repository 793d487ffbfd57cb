/**
 * A file to upload: text, bytes, a blob such as the result of `fs.openAsBlob(path)`, or a stream such as `fs.createReadStream(path)`. A
 * failed upload of a stream is not retried, because its beginning has been consumed.
 */
export type Upload = string | Uint8Array | Blob | AsyncIterable<Uint8Array>;
