import { randomUUID } from "node:crypto";

/**
 * A file to upload: text, bytes, a blob such as the result of `fs.openAsBlob(path)`, or a stream such as `fs.createReadStream(path)`. A
 * failed upload of a stream is not retried, because its beginning has been consumed.
 */
export type Upload = string | Uint8Array | Blob | AsyncIterable<Uint8Array>;

/**
 * Returns the bytes of a file.
 * @internal
 */
export async function readAll(file: Upload): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(file)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Returns a form as in RFC 7578, with the file last, because the server reads a file while it arrives.
 * @internal
 */
export function multipart(params: Record<string, unknown>): {
  type: string;
  content: () => ReadableStream<Uint8Array>;
  replayable: boolean;
} {
  const boundary = `mailmill-${randomUUID()}`;
  const { file, ...rest } = params;
  let start = "";
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined || value === null) continue;
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    start += `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  }
  start += `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  async function* parts(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from(start);
    yield* chunksOf(file as Upload);
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const replayable = typeof file === "string" || file instanceof Uint8Array || file instanceof Blob;
  return { type: `multipart/form-data; boundary=${boundary}`, content: () => stream(parts()), replayable };
}

async function* chunksOf(file: Upload): AsyncGenerator<Uint8Array, void, undefined> {
  if (typeof file === "string") yield Buffer.from(file);
  else if (file instanceof Uint8Array) yield file;
  else if (file instanceof Blob) yield* file.stream() as unknown as AsyncIterable<Uint8Array>;
  else for await (const chunk of file) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

/** Returns a stream that reads the next chunk only when there is room for it. */
function stream(chunks: AsyncGenerator<Uint8Array, void, undefined>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return();
    },
  });
}
