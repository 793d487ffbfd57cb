"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Resource = exports.Client = void 0;
exports.path = path;
const node_crypto_1 = require("node:crypto");
const errors_js_1 = require("./errors.js");
const list_js_1 = require("./list.js");
const upload_js_1 = require("./upload.js");
const version_js_1 = require("./version.js");
const TIMEOUT_MS = 60_000;
const UPLOAD_TIMEOUT_MS = 600_000;
const RETRIES = 2;
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;
const BACKOFF_MS = 500;
const BACKOFF_MAX_MS = 8_000;
const RETRY_AFTER_MAX_S = 60;
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);
class Client {
 baseUrl;
 #apiKey;
 #options;
 constructor(options = {}) {
  this.#options = options;
  this.#apiKey = setting(options.apiKey, "MAILMILL_KEY", "apiKey");
  const address = setting(options.baseUrl, "MAILMILL_URL", "baseUrl");
  if (address.includes("@"))
   throw invalid("baseUrl contains a user name or password. Remove it: the API key identifies the caller.", "baseUrl");
  if (!/^https?:\/\/[^/?#]/.test(address) || !URL.canParse(address) || /[?#]/.test(address)) {
   throw invalid(`baseUrl is ${JSON.stringify(address)}. It must be a URL such as https://mail.example.com.`, "baseUrl");
  }
  if (/[^\x21-\x7e]/.test(this.#apiKey))
   throw invalid("apiKey contains a space or another character that no key contains.", "apiKey");
  this.baseUrl = `${address.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
 }
 toJSON() {
  return { baseUrl: this.baseUrl };
 }
 async _send(method, path, params, options = {}, flags = {}) {
  const key = options.idempotencyKey === undefined ? (flags.keyed ? (0, node_crypto_1.randomUUID)() : undefined) : checkedKey(options.idempotencyKey, flags);
  const body = await encode(method, params, flags);
  const url = this.baseUrl + path + (body.query ?? "");
  const retries = options.maxRetries ?? this.#options.maxRetries ?? RETRIES;
  const repeatable = method !== "POST" || key !== undefined;
  for (let attempt = 0;; attempt += 1) {
   try {
    return await this.#attempt(method, url, body, key, options, flags);
   }
   catch (error) {
    const wait = error instanceof errors_js_1.MailmillError && attempt < retries && body.replayable ? pause(error, repeatable, attempt) : undefined;
    if (wait === undefined)
     throw error;
    await sleep(wait, options.signal);
   }
  }
 }
 async #attempt(method, url, body, key, options, flags) {
  options.signal?.throwIfAborted();
  const headers = new Headers({
   Authorization: `Bearer ${this.#apiKey}`,
   "User-Agent": `mailmill-node/${version_js_1.VERSION} node/${process.versions.node}`,
   ...this.#options.headers,
   ...options.headers,
  });
  if (body.type)
   headers.set("Content-Type", body.type);
  if (key !== undefined)
   headers.set("Idempotency-Key", key);
  const timeout = options.timeout ?? this.#options.timeout ?? (flags.form ? UPLOAD_TIMEOUT_MS : TIMEOUT_MS);
  const controller = new AbortController();
  const abort = () => controller.abort();
  options.signal?.addEventListener("abort", abort, { once: true });
  let timedOut = false;
  const timer = setTimeout(() => {
   timedOut = true;
   controller.abort();
  }, timeout);
  try {
   const init = {
    method,
    headers,
    body: body.content?.() ?? null,
    signal: controller.signal,
    redirect: "manual",
    duplex: "half",
   };
   const response = await (this.#options.fetch ?? fetch)(url, init);
   const envelope = await read(response, flags);
   options.onResponse?.({
    status: response.status,
    headers: response.headers,
    requestId: response.headers.get("x-request-id") ?? undefined,
    replayed: response.headers.get("idempotent-replayed") === "true",
    idempotencyKey: key,
   });
   return envelope;
  }
  catch (error) {
   if (error instanceof errors_js_1.MailmillError)
    throw error;
   options.signal?.throwIfAborted();
   if (timedOut) {
    throw new errors_js_1.RequestTimeoutError(`No complete response within ${timeout} ms. Set a longer timeout.`, { code: "TIMEOUT", cause: error });
   }
   const cause = error.cause;
   if (!(error instanceof TypeError) && !cause)
    throw error;
   const reason = (0, errors_js_1.plain)(cause?.code ?? cause?.message ?? String(error)).replace(/\.+$/, "");
   throw new errors_js_1.NetworkError(`The connection to ${this.baseUrl} failed: ${reason}. Check baseUrl and that the server runs.`, {
    code: "NETWORK_ERROR",
    cause: error,
    data: { reason, sent: !UNSENT.has(reason) },
   });
  }
  finally {
   clearTimeout(timer);
   options.signal?.removeEventListener("abort", abort);
  }
 }
}
exports.Client = Client;
class Resource {
 _client;
 constructor(client) {
  this._client = client;
 }
 _get(path, params, options, flags) {
  return this.#call("GET", path, params, options, flags);
 }
 _post(path, params, options, flags) {
  return this.#call("POST", path, params, options, flags);
 }
 _put(path, params, options, flags) {
  return this.#call("PUT", path, params, options, flags);
 }
 _patch(path, params, options, flags) {
  return this.#call("PATCH", path, params, options, flags);
 }
 _delete(path, params, options, flags) {
  return this.#call("DELETE", path, params, options, flags);
 }
 async #call(method, path, params, options, flags) {
  const { data } = await this._client._send(method, path, params, options, flags);
  return data;
 }
 _list(path, paging, params, options) {
  return new list_js_1.List((changes) => this._client._send("GET", path, { ...params, ...changes }, options), paging, params);
 }
 async _wait(start, poll, { done, failed, fields }, options = {}) {
  const { onProgress, pollInterval = 2_000, waitTimeout = 600_000, idempotencyKey, onResponse, ...common } = options;
  const end = Date.now() + waitTimeout;
  const started = await start({ ...common, idempotencyKey, onResponse });
  for (;;) {
   const status = await poll(started, common);
   onProgress?.(status);
   const data = status;
   if (done.includes(status.status)) {
    const missing = fields.find((name) => data[name] === undefined);
    if (missing === undefined)
     return status;
    throw new errors_js_1.JobFailedError(`The job has completed, but its status has no ${missing}. Start the job again.`, { code: "UNEXPECTED_RESPONSE", data });
   }
   if (failed.includes(status.status)) {
    const reason = typeof data["error"] === "string" ? data["error"] : `The job ended with the status ${status.status}.`;
    throw new errors_js_1.JobFailedError(reason, { code: "JOB_FAILED", data });
   }
   if (Date.now() + pollInterval > end) {
    throw new errors_js_1.RequestTimeoutError(`The job has not ended within ${waitTimeout} ms, and continues on the server. Set a longer waitTimeout.`, {
     code: "WAIT_TIMEOUT",
     data,
    });
   }
   await sleep(pollInterval, options.signal);
  }
 }
}
exports.Resource = Resource;
function path(texts, ...parts) {
 return texts.reduce((whole, text, index) => {
  const part = parts[index - 1];
  if (!/^(string|number)$/.test(typeof part) || /^\.{0,2}$/.test(String(part))) {
   throw invalid(`A part of the path ${texts.join("…")} is ${JSON.stringify(part)}. It must be the ID of an object.`, undefined);
  }
  return whole + encodeURIComponent(part) + text;
 });
}
async function encode(method, params, flags) {
 if (method === "GET" || method === "DELETE")
  return { query: query(params), replayable: true };
 if (params === undefined)
  return { replayable: true };
 if (flags.form)
  return (0, upload_js_1.multipart)(params);
 let fields = params;
 const file = flags.base64 === undefined ? undefined : params[flags.base64];
 if (flags.base64 !== undefined && typeof file !== "string" && file !== undefined) {
  fields = { ...params, [flags.base64]: (await (0, upload_js_1.readAll)(file)).toString("base64") };
 }
 const text = JSON.stringify(fields);
 return { type: "application/json", content: () => text, replayable: true };
}
function query(params = {}) {
 const pairs = new URLSearchParams();
 for (const [name, value] of Object.entries(params)) {
  if (value === undefined || value === null)
   continue;
  if (value instanceof Date)
   pairs.append(name, value.toISOString());
  else if (Array.isArray(value))
   pairs.append(name, value.some((one) => String(one).includes(",")) ? JSON.stringify(value) : value.join(","));
  else
   pairs.append(name, String(value));
 }
 const text = pairs.toString();
 return text && `?${text}`;
}
async function read(response, flags) {
 const bytes = await readBody(response);
 if (response.ok && flags.answer === "bytes")
  return { data: bytes };
 const text = new TextDecoder().decode(bytes);
 if (response.ok && flags.answer === "text")
  return { data: text };
 let body = {};
 try {
  const parsed = JSON.parse(text);
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed))
   body = parsed;
 }
 catch {
 }
 if (response.ok && flags.answer === "json")
  return { data: body };
 if (response.ok && body["success"] === true)
  return { data: body["data"], count: body["count"] };
 throw failure(response, body);
}
async function readBody(response) {
 const chunks = [];
 let size = 0;
 for await (const chunk of (response.body ?? [])) {
  size += chunk.length;
  if (size > RESPONSE_BYTES_MAX) {
   throw (0, errors_js_1.errorOfStatus)(`The response is larger than ${RESPONSE_BYTES_MAX} bytes. Request fewer items.`, response.status, { code: "RESPONSE_TOO_LARGE" });
  }
  chunks.push(chunk);
 }
 const bytes = new Uint8Array(size);
 let end = 0;
 for (const chunk of chunks) {
  bytes.set(chunk, end);
  end += chunk.length;
 }
 return bytes;
}
function failure(response, body) {
 const data = typeof body["data"] === "object" && body["data"] !== null ? body["data"] : undefined;
 const requestId = response.headers.get("x-request-id") ?? undefined;
 const seconds = retryAfter(response.headers.get("retry-after"), data?.["retryAfterMs"]);
 const details = { requestId, retryAfter: seconds, data };
 if (typeof body["error"] === "string") {
  const field = typeof data?.["field"] === "string" ? data["field"] : undefined;
  const code = typeof body["code"] === "string" ? body["code"] : body["error"];
  const message = typeof body["error_description"] === "string" ? body["error_description"] : body["error"];
  return (0, errors_js_1.errorOfStatus)(message, response.status, { ...details, code, field });
 }
 const location = response.headers.get("location");
 const hint = location
  ? `The server redirects to ${location}. Set baseUrl to that server.`
  : `The response with status ${response.status} is not a response of the API. Check baseUrl and the proxy before the server.`;
 return (0, errors_js_1.errorOfStatus)(hint, response.status, { ...details, code: "UNEXPECTED_RESPONSE" });
}
function retryAfter(header, milliseconds) {
 if (header !== null) {
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - Date.now()) / 1000);
  if (Number.isFinite(seconds))
   return Math.max(0, seconds);
 }
 return typeof milliseconds === "number" ? Math.ceil(milliseconds / 1000) : undefined;
}
function pause(error, repeatable, attempt) {
 if (error instanceof errors_js_1.NetworkError) {
  if (!repeatable && error.data["sent"] !== false)
   return undefined;
 }
 else if (error.status === undefined || (error.status !== 429 && error.status < 500)) {
  return undefined;
 }
 else if (!repeatable && error.code === "UNEXPECTED_RESPONSE") {
  return undefined;
 }
 const backoff = Math.random() * Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** attempt);
 if (error.retryAfter === undefined)
  return backoff;
 return error.retryAfter > RETRY_AFTER_MAX_S ? undefined : error.retryAfter * 1000 + Math.random() * BACKOFF_MS;
}
function sleep(milliseconds, signal) {
 return new Promise((resolve, reject) => {
  const abort = () => {
   clearTimeout(timer);
   reject(signal?.reason);
  };
  const timer = setTimeout(() => {
   signal?.removeEventListener("abort", abort);
   resolve();
  }, milliseconds);
  if (signal?.aborted)
   abort();
  else
   signal?.addEventListener("abort", abort, { once: true });
 });
}
function setting(given, name, option) {
 const value = given ?? process.env[name];
 if (!value)
  throw invalid(`${option} is missing. Pass it to new Mailmill(), or set ${name} in the environment.`, option);
 return value;
}
function checkedKey(key, flags) {
 if (!/^[\x20-\x7e]{1,100}$/.test(key) || key.trim() !== key) {
  throw invalid("idempotencyKey must have 1 to 100 ASCII characters, without line breaks, and without a space at its start or end.", "idempotencyKey");
 }
 if (!flags.keyed)
  throw invalid("This operation does not support an idempotencyKey. Remove it.", "idempotencyKey");
 return key;
}
function invalid(message, field) {
 return new errors_js_1.MailmillError(message, { code: "INVALID_OPTION", field });
}
