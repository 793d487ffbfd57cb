import { randomUUID } from "node:crypto";
import { JobFailedError, MailmillError, NetworkError, RequestTimeoutError, errorOfStatus, plain } from "./errors.js";
import { List, type Envelope, type Paging } from "./list.js";
import { multipart, readAll, type Upload } from "./upload.js";
import { VERSION } from "./version.js";

/** The settings of a client. */
export interface ClientOptions {
  /** The API key; `MAILMILL_KEY` of the environment if absent. */
  apiKey?: string | undefined;
  /** The address of the server, such as `https://mail.example.com`, with or without `/v1`; `MAILMILL_URL` of the environment if absent. */
  baseUrl?: string | undefined;
  /** The milliseconds that an attempt may take, until the end of the response; 60,000 if absent, and 600,000 for uploads. */
  timeout?: number | undefined;
  /** How often a failed request is retried; 2 if absent. */
  maxRetries?: number | undefined;
  /** Headers for every request. */
  headers?: Record<string, string> | undefined;
  /** The function that makes requests, for example with a proxy; the global `fetch` if absent. */
  fetch?: typeof fetch | undefined;
}

/** Details of a successful response. */
export interface ResponseInfo {
  status: number;
  headers: Headers;
  /** The ID of the request in the server's log. */
  requestId: string | undefined;
  /** Whether the server repeated the response to an earlier request with the same idempotency key. */
  replayed: boolean;
  /** The idempotency key that was sent. */
  idempotencyKey: string | undefined;
}

/** The settings of one call. */
export interface CallOptions {
  /**
   * Identifies the operation: a repeat within 24 hours returns the first response. By default, each call of an operation that supports a key
   * gets a random one, which its retries share. Choose a key, such as `welcome-${contact.id}`, so that a repeat by your own program is safe,
   * too. A key has 1 to 100 ASCII characters.
   */
  idempotencyKey?: string | undefined;
  /** Cancels the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The milliseconds that an attempt may take, until the end of the response. */
  timeout?: number | undefined;
  /** How often a failed request is retried. */
  maxRetries?: number | undefined;
  /** More headers. */
  headers?: Record<string, string> | undefined;
  /** Receives details of the successful response. */
  onResponse?: ((response: ResponseInfo) => void) | undefined;
}

/** The settings of a call that waits for a job. */
export interface WaitOptions<Status> extends CallOptions {
  /** Receives each status that the job reports. */
  onProgress?: ((status: Status) => void) | undefined;
  /** The milliseconds between two requests for the status; 2,000 if absent. */
  pollInterval?: number | undefined;
  /** The milliseconds that the job may take; 600,000 if absent. The job continues on the server after that. */
  waitTimeout?: number | undefined;
}

/** What a method of a resource says about its operation. */
interface Flags {
  /** Whether the operation supports an idempotency key. */
  keyed?: boolean;
  /** The form of the response; an envelope if absent. `json` is JSON without an envelope. */
  answer?: "json" | "text" | "bytes";
  /** The field whose file is sent as base64. */
  base64?: string;
  /** Whether the body is a form. */
  form?: boolean;
}

/** What a method that waits for a job knows about its status. */
interface Job {
  /** The values of \`status\` of a completed job. */
  done: readonly string[];
  failed: readonly string[];
  /** The fields that every completed job has. */
  fields: readonly string[];
}

type Fields = Record<string, unknown>;

const TIMEOUT_MS = 60_000;
const UPLOAD_TIMEOUT_MS = 600_000;
const RETRIES = 2;
/** The greatest size of a response; a page of a list has at most 100 items, and an email at most a few megabytes. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;
/** The pauses grow from half a second to eight seconds. */
const BACKOFF_MS = 500;
const BACKOFF_MAX_MS = 8_000;
/** A request budget is renewed after 60 seconds; the client does not wait longer for a retry. */
const RETRY_AFTER_MAX_S = 60;
/** Errors of connections that did not reach the server, so that a retry cannot repeat an effect. */
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** Sends requests. {@link Mailmill} adds the operations. */
export class Client {
  /** The address of the API, which ends with `/v1`. */
  readonly baseUrl: string;
  readonly #apiKey: string;
  readonly #options: ClientOptions;

  /**
   * @example
   * ```ts
   * const mailmill = new Mailmill({ apiKey: "sk_test_…", baseUrl: "https://mail.example.com" });
   * ```
   */
  constructor(options: ClientOptions = {}) {
    this.#options = options;
    this.#apiKey = setting(options.apiKey, "MAILMILL_KEY", "apiKey");
    const address = setting(options.baseUrl, "MAILMILL_URL", "baseUrl");
    // The message does not repeat the address, because it contains a password.
    if (address.includes("@")) throw invalid("baseUrl contains a user name or password. Remove it: the API key identifies the caller.", "baseUrl");
    if (!/^https?:\/\/[^/?#]/.test(address) || !URL.canParse(address) || /[?#]/.test(address)) {
      throw invalid(`baseUrl is ${JSON.stringify(address)}. It must be a URL such as https://mail.example.com.`, "baseUrl");
    }
    if (/[^\x21-\x7e]/.test(this.#apiKey)) throw invalid("apiKey contains a space or another character that no key contains.", "apiKey");
    this.baseUrl = `${address.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
  }

  /** Returns what `JSON.stringify` shows of a client, for example in a log: the address without the key. */
  toJSON(): { baseUrl: string } {
    return { baseUrl: this.baseUrl };
  }

  /** @internal */
  async _send(method: string, path: string, params: Fields | undefined, options: CallOptions = {}, flags: Flags = {}): Promise<Envelope> {
    const key = options.idempotencyKey === undefined ? (flags.keyed ? randomUUID() : undefined) : checkedKey(options.idempotencyKey, flags);
    const body = await encode(method, params, flags);
    const url = this.baseUrl + path + (body.query ?? "");
    const retries = options.maxRetries ?? this.#options.maxRetries ?? RETRIES;
    // An attempt whose outcome is unknown may be repeated if the operation has no second effect.
    const repeatable = method !== "POST" || key !== undefined;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#attempt(method, url, body, key, options, flags);
      } catch (error) {
        const wait = error instanceof MailmillError && attempt < retries && body.replayable ? pause(error, repeatable, attempt) : undefined;
        if (wait === undefined) throw error;
        await sleep(wait, options.signal);
      }
    }
  }

  async #attempt(
    method: string,
    url: string,
    body: Encoded,
    key: string | undefined,
    options: CallOptions,
    flags: Flags,
  ): Promise<Envelope> {
    options.signal?.throwIfAborted();
    const headers = new Headers({
      Authorization: `Bearer ${this.#apiKey}`,
      "User-Agent": `mailmill-node/${VERSION} node/${process.versions.node}`,
      ...this.#options.headers,
      ...options.headers,
    });
    if (body.type) headers.set("Content-Type", body.type);
    if (key !== undefined) headers.set("Idempotency-Key", key);
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
      // A redirect would change a POST into a GET, so it is an error that names the right address.
      const init: RequestInit & { duplex: "half" } = {
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
    } catch (error) {
      if (error instanceof MailmillError) throw error;
      options.signal?.throwIfAborted();
      if (timedOut) {
        throw new RequestTimeoutError(`No complete response within ${timeout} ms. Set a longer timeout.`, { code: "TIMEOUT", cause: error });
      }
      const cause = (error as { cause?: { code?: string; message?: string } }).cause;
      if (!(error instanceof TypeError) && !cause) throw error;
      const reason = plain(cause?.code ?? cause?.message ?? String(error)).replace(/\.+$/, "");
      throw new NetworkError(`The connection to ${this.baseUrl} failed: ${reason}. Check baseUrl and that the server runs.`, {
        code: "NETWORK_ERROR",
        cause: error,
        data: { reason, sent: !UNSENT.has(reason) },
      });
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", abort);
    }
  }
}

/** The base of the resources. */
export class Resource<Root extends Client> {
  /** @internal */
  protected readonly _client: Root;

  /** @internal */
  constructor(client: Root) {
    this._client = client;
  }

  /** @internal */
  protected _get<T>(path: string, params?: object, options?: CallOptions, flags?: Flags): Promise<T> {
    return this.#call("GET", path, params, options, flags);
  }

  /** @internal */
  protected _post<T>(path: string, params?: object, options?: CallOptions, flags?: Flags): Promise<T> {
    return this.#call("POST", path, params, options, flags);
  }

  /** @internal */
  protected _put<T>(path: string, params?: object, options?: CallOptions, flags?: Flags): Promise<T> {
    return this.#call("PUT", path, params, options, flags);
  }

  /** @internal */
  protected _patch<T>(path: string, params?: object, options?: CallOptions, flags?: Flags): Promise<T> {
    return this.#call("PATCH", path, params, options, flags);
  }

  /** @internal */
  protected _delete<T>(path: string, params?: object, options?: CallOptions, flags?: Flags): Promise<T> {
    return this.#call("DELETE", path, params, options, flags);
  }

  async #call<T>(method: string, path: string, params?: object, options?: CallOptions, flags?: Flags): Promise<T> {
    const { data } = await this._client._send(method, path, params as Fields | undefined, options, flags);
    return data as T;
  }

  /** @internal */
  protected _list<Page, Item>(path: string, paging: Paging, params: object | undefined, options: CallOptions | undefined): List<Page, Item> {
    return new List<Page, Item>((changes) => this._client._send("GET", path, { ...params, ...changes }, options), paging, params as Fields | undefined);
  }

  /** @internal */
  protected async _wait<Started, Status extends { status: string }, Completed extends Status>(
    start: (options: CallOptions) => Promise<Started>,
    poll: (started: Started, options: CallOptions) => Promise<Status>,
    { done, failed, fields }: Job,
    options: WaitOptions<Status> = {},
  ): Promise<Completed> {
    const { onProgress, pollInterval = 2_000, waitTimeout = 600_000, idempotencyKey, onResponse, ...common } = options;
    const end = Date.now() + waitTimeout;
    const started = await start({ ...common, idempotencyKey, onResponse });
    for (;;) {
      const status = await poll(started, common);
      onProgress?.(status);
      const data = status as unknown as Fields;
      if (done.includes(status.status)) {
        const missing = fields.find((name) => data[name] === undefined);
        if (missing === undefined) return status as Completed;
        throw new JobFailedError(`The job has completed, but its status has no ${missing}. Start the job again.`, { code: "UNEXPECTED_RESPONSE", data });
      }
      if (failed.includes(status.status)) {
        const reason = typeof data["error"] === "string" ? data["error"] : `The job ended with the status ${status.status}.`;
        throw new JobFailedError(reason, { code: "JOB_FAILED", data });
      }
      if (Date.now() + pollInterval > end) {
        throw new RequestTimeoutError(`The job has not ended within ${waitTimeout} ms, and continues on the server. Set a longer waitTimeout.`, {
          code: "WAIT_TIMEOUT",
          data,
        });
      }
      await sleep(pollInterval, options.signal);
    }
  }
}

/**
 * Returns the path with encoded parts.
 * @internal
 */
export function path(texts: TemplateStringsArray, ...parts: (string | number)[]): string {
  return texts.reduce((whole, text, index) => {
    const part = parts[index - 1];
    // A URL drops the parts `.` and `..`, so the request would reach another operation.
    if (!/^(string|number)$/.test(typeof part) || /^\.{0,2}$/.test(String(part))) {
      throw invalid(`A part of the path ${texts.join("…")} is ${JSON.stringify(part)}. It must be the ID of an object.`, undefined);
    }
    return whole + encodeURIComponent(part as string | number) + text;
  });
}

interface Encoded {
  query?: string;
  type?: string;
  content?: () => NonNullable<RequestInit["body"]>;
  replayable: boolean;
}

async function encode(method: string, params: Fields | undefined, flags: Flags): Promise<Encoded> {
  if (method === "GET" || method === "DELETE") return { query: query(params), replayable: true };
  if (params === undefined) return { replayable: true };
  if (flags.form) return multipart(params);
  let fields = params;
  const file = flags.base64 === undefined ? undefined : params[flags.base64];
  if (flags.base64 !== undefined && typeof file !== "string" && file !== undefined) {
    fields = { ...params, [flags.base64]: (await readAll(file as Upload)).toString("base64") };
  }
  const text = JSON.stringify(fields);
  return { type: "application/json", content: () => text, replayable: true };
}

function query(params: Fields = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === null) continue;
    if (value instanceof Date) pairs.append(name, value.toISOString());
    // A comma separates values, so a list with a comma in a value is sent as JSON.
    else if (Array.isArray(value)) pairs.append(name, value.some((one) => String(one).includes(",")) ? JSON.stringify(value) : value.join(","));
    else pairs.append(name, String(value));
  }
  const text = pairs.toString();
  return text && `?${text}`;
}

/** Returns the response's data, or throws its error. */
async function read(response: Response, flags: Flags): Promise<Envelope> {
  const bytes = await readBody(response);
  if (response.ok && flags.answer === "bytes") return { data: bytes };
  const text = new TextDecoder().decode(bytes);
  if (response.ok && flags.answer === "text") return { data: text };
  let body: Fields = {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) body = parsed as Fields;
  } catch {
    // An intermediary, such as a proxy, has responded; the error below says so.
  }
  if (response.ok && flags.answer === "json") return { data: body };
  if (response.ok && body["success"] === true) return { data: body["data"], count: body["count"] as number | undefined };
  throw failure(response, body);
}

async function readBody(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // The types of the iterator are missing in those of \`fetch\`.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > RESPONSE_BYTES_MAX) {
      throw errorOfStatus(`The response is larger than ${RESPONSE_BYTES_MAX} bytes. Request fewer items.`, response.status, { code: "RESPONSE_TOO_LARGE" });
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

function failure(response: Response, body: Fields): MailmillError {
  const data = typeof body["data"] === "object" && body["data"] !== null ? (body["data"] as Fields) : undefined;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const seconds = retryAfter(response.headers.get("retry-after"), data?.["retryAfterMs"]);
  const details = { requestId, retryAfter: seconds, data };
  if (typeof body["error"] === "string") {
    const field = typeof data?.["field"] === "string" ? data["field"] : undefined;
    // The endpoints of OAuth name the code in `error`.
    const code = typeof body["code"] === "string" ? body["code"] : body["error"];
    const message = typeof body["error_description"] === "string" ? body["error_description"] : body["error"];
    return errorOfStatus(message, response.status, { ...details, code, field });
  }
  const location = response.headers.get("location");
  const hint = location
    ? `The server redirects to ${location}. Set baseUrl to that server.`
    : `The response with status ${response.status} is not a response of the API. Check baseUrl and the proxy before the server.`;
  return errorOfStatus(hint, response.status, { ...details, code: "UNEXPECTED_RESPONSE" });
}

/** Reads the seconds of `Retry-After`, which is a number or a date (RFC 9110). */
function retryAfter(header: string | null, milliseconds: unknown): number | undefined {
  if (header !== null) {
    const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - Date.now()) / 1000);
    if (Number.isFinite(seconds)) return Math.max(0, seconds);
  }
  return typeof milliseconds === "number" ? Math.ceil(milliseconds / 1000) : undefined;
}

/** Returns the milliseconds before the next attempt; undefined if the request must not be repeated. */
function pause(error: MailmillError, repeatable: boolean, attempt: number): number | undefined {
  if (error instanceof NetworkError) {
    if (!repeatable && error.data["sent"] !== false) return undefined;
  } else if (error.status === undefined || (error.status !== 429 && error.status < 500)) {
    return undefined;
  } else if (!repeatable && error.code === "UNEXPECTED_RESPONSE") {
    // The API never returns 5xx after an effect, but a proxy may.
    return undefined;
  }
  const backoff = Math.random() * Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** attempt);
  if (error.retryAfter === undefined) return backoff;
  return error.retryAfter > RETRY_AFTER_MAX_S ? undefined : error.retryAfter * 1000 + Math.random() * BACKOFF_MS;
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

function setting(given: string | undefined, name: string, option: string): string {
  const value = given ?? process.env[name];
  if (!value) throw invalid(`${option} is missing. Pass it to new Mailmill(), or set ${name} in the environment.`, option);
  return value;
}

function checkedKey(key: string, flags: Flags): string {
  if (!/^[\x20-\x7e]{1,100}$/.test(key) || key.trim() !== key) {
    throw invalid("idempotencyKey must have 1 to 100 ASCII characters, without line breaks, and without a space at its start or end.", "idempotencyKey");
  }
  // The server would ignore the key, and a retry could repeat the effect.
  if (!flags.keyed) throw invalid("This operation does not support an idempotencyKey. Remove it.", "idempotencyKey");
  return key;
}

function invalid(message: string, field: string | undefined): MailmillError {
  return new MailmillError(message, { code: "INVALID_OPTION", field });
}
