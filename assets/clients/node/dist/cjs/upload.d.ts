/**
 * A file to upload: text, bytes, a blob such as the result of `fs.openAsBlob(path)`, or a stream such as `fs.createReadStream(path)`. A
 * failed upload of a stream is not retried, because its beginning has been consumed.
 */
export type Upload = string | Uint8Array | Blob | AsyncIterable<Uint8Array>;
/** Returns the bytes of a file. */
export declare function readAll(file: Upload): Promise<Buffer>;
/** Returns a form as in RFC 7578, with the file last, because the server reads a file while it arrives. */
export declare function multipart(params: Record<string, unknown>): {
 type: string;
 content: () => ReadableStream<Uint8Array>;
 replayable: boolean;
};
