"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.readAll = readAll;
exports.multipart = multipart;
const node_crypto_1 = require("node:crypto");
async function readAll(file) {
 const chunks = [];
 for await (const chunk of chunksOf(file))
  chunks.push(chunk);
 return Buffer.concat(chunks);
}
function multipart(params) {
 const boundary = `mailmill-${(0, node_crypto_1.randomUUID)()}`;
 const { file, ...rest } = params;
 let start = "";
 for (const [name, value] of Object.entries(rest)) {
  if (value === undefined || value === null)
   continue;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  start += `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
 }
 start += `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: application/octet-stream\r\n\r\n`;
 async function* parts() {
  yield Buffer.from(start);
  yield* chunksOf(file);
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
 }
 const replayable = typeof file === "string" || file instanceof Uint8Array || file instanceof Blob;
 return { type: `multipart/form-data; boundary=${boundary}`, content: () => stream(parts()), replayable };
}
async function* chunksOf(file) {
 if (typeof file === "string")
  yield Buffer.from(file);
 else if (file instanceof Uint8Array)
  yield file;
 else if (file instanceof Blob)
  yield* file.stream();
 else
  for await (const chunk of file)
   yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}
function stream(chunks) {
 return new ReadableStream({
  async pull(controller) {
   const { done, value } = await chunks.next();
   if (done)
    controller.close();
   else
    controller.enqueue(value);
  },
  async cancel() {
   await chunks.return();
  },
 });
}
