// Tests retries, timeouts and errors against a server that fails in the ways that a test sets.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { inspect } from "node:util";
import { Mailmill, NetworkError, RateLimitError, RequestTimeoutError, ServerError } from "mailmill";
import { answer, failure, serve, success } from "./support.mjs";

let server;
afterEach(() => server?.close());

/** Starts a server and returns a client of it. */
async function client(handle, options = {}) {
  server = await serve(handle);
  return new Mailmill({ apiKey: "sk_test_x", baseUrl: server.url, ...options });
}

const contact = { projectId: "66f1a2b3d4e5f60718293a4b", email: "ada@example.com" };

test("a request that fails twice is repeated with the same key and body", async () => {
  const mailmill = await client((_, response, __, number) => {
    if (number === 1) answer(response, 503, failure("SERVICE_UNAVAILABLE", "Busy"));
    else if (number === 2) response.destroy();
    else answer(response, 201, success({ id: "1" }));
  });
  let sent;
  assert.deepEqual(await mailmill.contacts.create(contact, { onResponse: (info) => (sent = info) }), { id: "1" });
  const keys = server.requests.map((request) => request.headers["idempotency-key"]);
  assert.equal(keys.length, 3);
  assert.match(keys[0], /^[0-9a-f-]{36}$/);
  assert.deepEqual([keys[1], keys[2], sent.idempotencyKey], [keys[0], keys[0], keys[0]]);
  assert.equal(new Set(server.requests.map((request) => request.body)).size, 1);
  const [{ headers }] = server.requests;
  assert.equal(headers.authorization, "Bearer sk_test_x");
  assert.match(headers["user-agent"], /^mailmill-node\/\d+\.\d+\.\d+ node\//);
});

test("two calls have different keys, and a given key is used", async () => {
  const mailmill = await client((_, response) => answer(response, 201, success({})));
  await mailmill.contacts.create(contact);
  await mailmill.contacts.create(contact);
  await mailmill.contacts.create(contact, { idempotencyKey: "own" });
  const [one, two, three] = server.requests.map((request) => request.headers["idempotency-key"]);
  assert.notEqual(one, two);
  assert.equal(three, "own");
});

test("a 429 is retried after the time that the server states", async () => {
  const mailmill = await client((_, response, __, number) =>
    number === 1 ? answer(response, 429, failure("RATE_LIMIT_EXCEEDED", "Rate limit exceeded"), { "Retry-After": "1" }) : answer(response, 200, success({ projects: [] })),
  );
  const start = performance.now();
  await mailmill.projects.list();
  assert.ok(performance.now() - start >= 1000);
});

test("a 429 with a long wait is an error that says how long", async () => {
  const mailmill = await client((_, response) => answer(response, 429, failure("QUOTA_EXCEEDED", "The daily quota is used up", { retryAfterMs: 7_200_000 })));
  await assert.rejects(mailmill.emails.sendTest({ to: "ada@example.com", emailId: "x" }), (error) => {
    assert.ok(error instanceof RateLimitError);
    assert.deepEqual([error.retryAfter, error.code], [7200, "QUOTA_EXCEEDED"]);
    return true;
  });
  assert.equal(server.requests.length, 1);
});

test("retries are bounded, and other errors are not retried", async () => {
  const mailmill = await client((request, response) =>
    request.url.startsWith("/v1/projects") ? answer(response, 500, failure("INTERNAL_ERROR", "Failed")) : answer(response, 404, failure("RESOURCE_NOT_FOUND", "No such contact")),
  );
  await assert.rejects(mailmill.projects.list(), ServerError);
  assert.equal(server.requests.length, 3);
  await assert.rejects(mailmill.tags.get("1", { projectId: "2" }), { code: "RESOURCE_NOT_FOUND", status: 404 });
  assert.equal(server.requests.length, 4);
  await assert.rejects(mailmill.projects.list({}, { maxRetries: 0 }), ServerError);
  assert.equal(server.requests.length, 5);
});

test("a POST without a key is not repeated if its outcome is unknown", async () => {
  const mailmill = await client((_, response, __, number) => {
    if (number === 1) response.destroy();
    else if (number === 2) response.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad gateway</h1>");
    else if (number === 3) answer(response, 503, failure("SERVICE_UNAVAILABLE", "Busy"));
    else answer(response, 201, success({ id: "1" }));
  });
  const create = () => mailmill.webhooks.test("1");
  await assert.rejects(create(), NetworkError);
  await assert.rejects(create(), { code: "UNEXPECTED_RESPONSE", status: 502 });
  assert.equal(server.requests.length, 2);
  // The API itself never returns 5xx after an effect.
  assert.deepEqual(await create(), { id: "1" });
  assert.equal(server.requests[0].headers["idempotency-key"], undefined);
});

test("a connection that is refused is retried and then explained", async () => {
  const gone = await serve(() => {});
  await gone.close();
  const mailmill = new Mailmill({ apiKey: "k", baseUrl: gone.url });
  await assert.rejects(mailmill.segments.create({ projectId: "1", name: "VIP", filters: {} }), (error) => {
    assert.ok(error instanceof NetworkError);
    assert.match(error.message, /ECONNREFUSED.*Check baseUrl/);
    return error.code === "NETWORK_ERROR";
  });
});

test("a timeout covers headers and body", async () => {
  const mailmill = await client((_, response, __, number) => {
    if (number % 2 === 0) response.writeHead(200, { "Content-Type": "application/json" }).write('{"success":');
  });
  for (let index = 0; index < 2; index += 1) {
    await assert.rejects(mailmill.projects.list({}, { timeout: 50, maxRetries: 0 }), RequestTimeoutError);
  }
  await assert.rejects(mailmill.projects.list({}, { timeout: 20, maxRetries: 2 }), { code: "TIMEOUT" });
  assert.equal(server.requests.length, 5);
});

test("an abort signal ends a request, a pause and a wait with its own reason", async () => {
  const mailmill = await client((request, response) => {
    if (request.url.includes("/tags")) answer(response, 503, failure("SERVICE_UNAVAILABLE", "Busy"), { "Retry-After": "30" });
    else if (request.url.includes("/generate")) answer(response, 201, success({ conversationId: "1" }));
    else if (request.url.includes("/status")) answer(response, 200, success({ status: "processing" }));
  });
  const reason = new Error("no longer needed");
  const soon = () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 30);
    return controller.signal;
  };
  const isReason = (error) => error === reason;
  await assert.rejects(mailmill.projects.list({}, { signal: soon() }), isReason);
  await assert.rejects(mailmill.tags.list({ projectId: "1" }, { signal: soon() }), isReason);
  await assert.rejects(mailmill.emails.generateAndWait({ projectId: "1" }, { signal: soon() }), isReason);
  const count = server.requests.length;
  await assert.rejects(mailmill.projects.list({}, { signal: AbortSignal.abort(reason) }), isReason);
  assert.equal(server.requests.length, count);
});

test("waiting reports progress, fails with the job, and has a limit", async () => {
  const statuses = ["pending", "processing", "failed"];
  const mailmill = await client((request, response) => {
    if (request.method === "POST") answer(response, 201, success({ conversationId: "1" }));
    else answer(response, 200, success({ status: statuses.length > 0 ? statuses.shift() : "processing", error: "The model refused." }));
  });
  const seen = [];
  await assert.rejects(
    mailmill.emails.generateAndWait({ projectId: "1" }, { pollInterval: 1, onProgress: (status) => seen.push(status.status), idempotencyKey: "k" }),
    { name: "JobFailedError", message: "The model refused.", code: "JOB_FAILED" },
  );
  assert.deepEqual(seen, ["pending", "processing", "failed"]);
  assert.deepEqual(server.requests.map((request) => request.headers["idempotency-key"]), ["k", undefined, undefined, undefined]);
  await assert.rejects(mailmill.emails.generateAndWait({ projectId: "1" }, { pollInterval: 5, waitTimeout: 20 }), { code: "WAIT_TIMEOUT" });
});

test("waiting for a held import ends when its file is uploaded", async () => {
  const mailmill = await client((request, response) => {
    if (request.method === "POST") answer(response, 201, success({ id: "1" }));
    else answer(response, 200, success({ id: "1", status: "uploaded" }));
  });
  const status = await mailmill.contacts.importAndWait({ projectId: "1", file: "email\n", hold: true }, { pollInterval: 1, waitTimeout: 20 });
  assert.equal(status.status, "uploaded");
});

test("the upload of a stream is not retried, that of bytes is", async () => {
  const mailmill = await client((_, response, __, number) =>
    number === 3 ? answer(response, 201, success({ id: "1" })) : answer(response, 503, failure("SERVICE_UNAVAILABLE", "Busy")),
  );
  async function* rows() {
    yield Buffer.from("email\n");
  }
  await assert.rejects(mailmill.contacts.imports.create({ projectId: "1", file: rows() }), ServerError);
  assert.equal(server.requests.length, 1);
  await mailmill.contacts.imports.create({ projectId: "1", file: Buffer.from("email\nada@example.com\n") });
  assert.equal(server.requests.length, 3);
  assert.match(server.requests[2].body, /name="projectId"\r\n\r\n1\r\n.*filename="file".*\r\n\r\nemail\nada@example.com\n\r\n--/s);
});

test("an error of the caller's stream is the caller's error", async () => {
  const mailmill = await client((_, response) => answer(response, 201, success({})));
  async function* rows() {
    yield Buffer.from("email\n");
    throw new RangeError("the file broke");
  }
  await assert.rejects(mailmill.contacts.imports.create({ projectId: "1", file: rows() }), /the file broke/);
});

test("a redirect and a page are explained", async () => {
  const mailmill = await client((_, response, __, number) =>
    number === 1 ? response.writeHead(301, { Location: "https://mail.example.com/v1/projects" }).end() : response.end("<html>"),
  );
  await assert.rejects(mailmill.projects.list(), /redirects to https:\/\/mail\.example\.com.*Set baseUrl/);
  await assert.rejects(mailmill.projects.list(), /not a response of the API.*Check baseUrl/);
});

test("queries and paths are encoded", async () => {
  const mailmill = await client((_, response) => answer(response, 200, success({ contacts: [] })));
  await mailmill.contacts.list({ projectId: "1", tags: ["a", "b"], refresh: true, search: "a&b" });
  await mailmill.contacts.list({ projectId: "1", tags: ["a,b"] });
  await mailmill.suppressions.delete("a/b+c@example.com");
  await mailmill.emails.versions.restore("1", 2);
  const [one, two, three, four] = server.requests.map((request) => new URL(request.url, server.url));
  assert.deepEqual(Object.fromEntries(one.searchParams), { projectId: "1", tags: "a,b", refresh: "true", search: "a&b" });
  assert.equal(two.searchParams.get("tags"), '["a,b"]');
  assert.equal(three.pathname, "/v1/suppressions/a%2Fb%2Bc%40example.com");
  assert.equal(four.pathname, "/v1/emails/1/versions/2/restore");
  for (const id of ["", ".", "..", undefined]) {
    await assert.rejects(async () => mailmill.contacts.get(id, { projectId: "1" }), { code: "INVALID_OPTION" });
  }
  assert.equal(server.requests.length, 4);
});

test("iterating stops when the caller stops", async () => {
  const mailmill = await client((request, response) => {
    const offset = Number(new URL(request.url, server.url).searchParams.get("offset") ?? 0);
    answer(response, 200, success({ contacts: [offset, offset + 1], total: 1000 }, { count: 1000 }));
  });
  const seen = [];
  for await (const item of mailmill.contacts.list({ projectId: "1", limit: 2 })) {
    seen.push(item);
    if (seen.length === 3) break;
  }
  assert.deepEqual(seen, [0, 1, 2]);
  assert.equal(server.requests.length, 2);
});

test("the settings come from the options or the environment", () => {
  const names = ["MAILMILL_KEY", "MAILMILL_URL"];
  const before = names.map((name) => process.env[name]);
  try {
    for (const name of names) delete process.env[name];
    assert.throws(() => new Mailmill(), { code: "INVALID_OPTION", field: "apiKey" });
    process.env.MAILMILL_KEY = "k";
    assert.throws(() => new Mailmill(), { field: "baseUrl" });
    process.env.MAILMILL_URL = "https://mail.example.com/v1/";
    assert.equal(new Mailmill().baseUrl, "https://mail.example.com/v1");
    assert.equal(new Mailmill({ baseUrl: "https://a.example/mail" }).baseUrl, "https://a.example/mail/v1");
    for (const baseUrl of ["mail.example.com", "ftp://a.example", "http://", "https://a.example/?b", "https://a.example/#b"]) {
      assert.throws(() => new Mailmill({ baseUrl }), { field: "baseUrl", message: /It must be a URL such as/ });
    }
    for (const baseUrl of ["http://ada:hunter2@a.example", "http://ada:hunter2@", "ada:hunter2@a.example"]) {
      assert.throws(() => new Mailmill({ baseUrl }), (error) => {
        assert.match(error.message, /^baseUrl contains a user name or password. Remove it/);
        return !inspect(error).includes("hunter2") && error.field === "baseUrl";
      });
    }
    assert.throws(() => new Mailmill({ apiKey: "sk_test\n" }), { field: "apiKey" });
  } finally {
    names.forEach((name, index) => (before[index] === undefined ? delete process.env[name] : (process.env[name] = before[index])));
  }
});

test("a client that is printed or logged shows its address and not the key", () => {
  const mailmill = new Mailmill({ apiKey: "sk_test_secret", baseUrl: "https://mail.example.com" });
  assert.equal(JSON.stringify({ mailmill }), '{"mailmill":{"baseUrl":"https://mail.example.com/v1"}}');
  const texts = [inspect(mailmill, { depth: 9, showHidden: true }), JSON.stringify(mailmill.contacts), JSON.stringify(Object.keys(mailmill))];
  assert.doesNotMatch(texts.join(), /sk_test_secret/);
});

test("an error's texts have no control characters and no doubled periods", async () => {
  const evil = "\x1b]0;pwn\x07 \u009b2J\u202Ereversed\r\n.";
  const mailmill = await client((_, response, __, number) => {
    if (number === 1) answer(response, 400, failure(`CODE${evil}`, `Text${evil}`, { field: `email${evil}`, id: evil }));
    else answer(response, 200, success({ status: "failed", error: `Job${evil}`, conversationId: "1" }));
  });
  await assert.rejects(mailmill.contacts.create(contact), (error) => {
    assert.deepEqual([error.message, error.code, error.field].map((text) => text.replace(/ +/g, " ")), ["Text", "CODE", "email"].map((word) => `${word} ]0;pwn 2J reversed .`));
    return error.data.id === evil;
  });
  await assert.rejects(mailmill.emails.generateAndWait({ projectId: "1" }), { message: /^Job ]0;pwn  +2J reversed \.$/ });
  const broken = new Mailmill({ apiKey: "k", baseUrl: server.url, maxRetries: 0, fetch: () => Promise.reject(new TypeError("x", { cause: new Error("It broke.\x1b[2J.") })) });
  await assert.rejects(broken.projects.list(), { message: `The connection to ${server.url}/v1 failed: It broke. [2J. Check baseUrl and that the server runs.` });
});

test("an idempotency key that the server would reject or ignore is an error", async () => {
  const mailmill = await client((_, response) => answer(response, 201, success({})));
  for (const idempotencyKey of ["a\nb", "", "ü", " a", "a ", "a".repeat(101)]) {
    await assert.rejects(mailmill.contacts.create(contact, { idempotencyKey }), { code: "INVALID_OPTION", field: "idempotencyKey", message: /1 to 100 ASCII characters/ });
  }
  for (const call of [() => mailmill.contacts.delete("1", { projectId: "1" }, { idempotencyKey: "k" }), () => mailmill.projects.list({}, { idempotencyKey: "k" })]) {
    await assert.rejects(call(), { code: "INVALID_OPTION", field: "idempotencyKey", message: /does not support an idempotencyKey/ });
  }
  assert.equal(server.requests.length, 0);
  await mailmill.contacts.create(contact, { idempotencyKey: "Welcome, Ada ".repeat(8).slice(0, 100).replace(/ $/, ".") });
  assert.equal(server.requests.length, 1);
});

test("a response without an end is stopped at the limit", async () => {
  let ended = 0;
  const mailmill = await client((request, response) => {
    response.writeHead(request.url.includes("/tags") ? 400 : 200, { "Content-Type": "application/json" });
    const chunk = Buffer.alloc(1 << 20, " ");
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", more).on("close", () => (ended += 1));
    more();
  });
  const before = process.memoryUsage().rss;
  for (const call of [() => mailmill.projects.list(), () => mailmill.inbox.screenshot("1"), () => mailmill.emails.html("1"), () => mailmill.tags.list({ projectId: "1" })]) {
    await assert.rejects(call(), { code: "RESPONSE_TOO_LARGE", message: "The response is larger than 67108864 bytes. Request fewer items." });
  }
  assert.equal(server.requests.length, 4);
  while (ended < 4) await new Promise((resolve) => setTimeout(resolve, 5));
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 400 << 20, `${grown} bytes`);
});

test("a job that has completed without a result is an error", async () => {
  const mailmill = await client((_, response) => answer(response, 200, success({ status: "completed", conversationId: "1" })));
  await assert.rejects(mailmill.emails.generateAndWait({ projectId: "1" }), { name: "JobFailedError", code: "UNEXPECTED_RESPONSE", message: /no result/ });
});
