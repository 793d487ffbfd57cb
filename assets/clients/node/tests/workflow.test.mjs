// Runs the main workflow against a real server, twice. The second run must change nothing.

import assert from "node:assert/strict";
import { createReadStream, writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { BadRequestError, AuthenticationError, ConflictError, Mailmill, NotFoundError, webhooks } from "mailmill";
import { serve, shop } from "./support.mjs";

const mailmill = new Mailmill();
const folder = mkdtempSync(join(tmpdir(), "mailmill-test-"));
const csv = join(folder, "contacts.csv");
let site;
let sink;

before(async () => {
  site = await shop();
  sink = await serve((_, response) => response.end());
  writeFileSync(csv, "email,first name,tags\ncleo@example.com,Cleo,vip\ndan@example.com,Dan,vip\nnot an address,Eve,vip\n");
});
after(async () => {
  await site.close();
  await sink.close();
  rmSync(folder, { recursive: true });
});

/** Returns the result of `create`, or the existing object that its conflict names. */
async function ensure(create, existing) {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return existing(error.data);
  }
}

/** Runs the workflow and returns what it made, with the times of its steps. */
async function run() {
  const times = {};
  let step = performance.now();
  const mark = (name) => {
    times[name] = Math.round(performance.now() - step);
    step = performance.now();
  };
  const replayed = [];
  const keyed = (idempotencyKey) => ({ idempotencyKey, onResponse: (response) => replayed.push(response.replayed) });

  const stages = [];
  const project = await ensure(
    () => mailmill.projects.importAndWait({ urls: [site.url] }, { pollInterval: 100, onProgress: (status) => stages.push(status.status) }),
    ({ projectId }) => ({ projectId, status: "active" }),
  );
  assert.equal(project.status, "active");
  const { projectId } = project;
  mark("import the brand");

  const generation = await mailmill.emails.generateAndWait(
    { projectId, prompt: "20% off all teas until Sunday with LEAF20", count: 1 },
    { ...keyed("sale-email"), pollInterval: 100 },
  );
  const [email] = generation.result.emails;
  assert.match(email.html, /LEAF20/);
  mark("generate an email");

  const ada = await mailmill.contacts.create({ projectId, email: "ada@example.com", tags: ["vip"] }, keyed("contact-ada"));
  const imported = await mailmill.contacts.importAndWait({ projectId, file: createReadStream(csv) }, { pollInterval: 50 });
  assert.deepEqual([imported.counts.total, imported.counts.failed], [3, 1]);
  mark("add contacts");

  const tag = (await mailmill.tags.list({ projectId, search: "vip" })).tags[0];
  const segment = await ensure(
    () => mailmill.segments.create({ projectId, name: "VIP", filters: { match: "all", tags: [tag.id] } }),
    ({ id }) => mailmill.segments.get(id, { projectId }),
  );
  assert.equal(segment.count, 3);
  mark("create a segment");

  const campaign = await mailmill.campaigns.create(
    { projectId, name: "Sale", emailId: email.emailId, from: "news@leaf.example", fromName: "Leaf", recipientType: "segment", recipientId: segment.id },
    keyed("sale-campaign"),
  );
  await mailmill.campaigns.send(campaign.id, {}, keyed("sale-send"));
  let stats;
  do {
    stats = await mailmill.campaigns.get(campaign.id, { projectId });
    if (stats.status !== "sent") await new Promise((resolve) => setTimeout(resolve, 50));
  } while (stats.status !== "sent");
  mark("send the campaign");

  const messages = [];
  for await (const message of mailmill.inbox.list({ limit: 2 })) messages.push(message.id);
  mark("read the inbox");
  return { times, stages, replayed, made: { projectId, email: email.emailId, contact: ada.id, segment: segment.id, campaign: campaign.id, messages } };
}

test("the main workflow runs twice, and the second time changes nothing", async () => {
  const first = await run();
  const second = await run();
  assert.deepEqual(second.made, first.made);
  assert.equal(first.made.messages.length, 3);
  assert.equal(first.stages.at(-1), "active");
  assert.deepEqual(first.replayed, [false, false, false, false]);
  assert.deepEqual(second.replayed, [true, true, true, true]);
  console.log(JSON.stringify({ first: first.times, second: second.times }));
});

test("a list can be awaited, iterated, and read page by page", async () => {
  const [project] = (await mailmill.projects.list()).projects;
  const contacts = mailmill.contacts.list({ projectId: project.id, limit: 2 });
  const page = await contacts;
  assert.equal(page.contacts.length, 2);
  assert.equal(page.total, 3);
  const emails = [];
  for await (const contact of contacts) emails.push(contact.email);
  assert.deepEqual(emails.sort(), ["ada@example.com", "cleo@example.com", "dan@example.com"]);
  const sizes = [];
  for await (const one of contacts.pages()) sizes.push(one.contacts.length);
  assert.deepEqual(sizes, [2, 1]);
  // This list has cursors instead of offsets.
  const [campaign] = (await mailmill.campaigns.list({ projectId: project.id })).campaigns;
  const logs = [];
  for await (const line of mailmill.campaigns.logs(campaign.id, { projectId: project.id, limit: 1 })) logs.push(line);
  assert.equal(logs.length, 3);
});

test("errors are typed and name the field", async () => {
  const [project] = (await mailmill.projects.list()).projects;
  await assert.rejects(mailmill.contacts.create({ projectId: project.id, email: "no address" }), (error) => {
    assert.ok(error instanceof BadRequestError);
    assert.deepEqual([error.code, error.status, error.field, error.name], ["INVALID_REQUEST", 400, "email", "BadRequestError"]);
    assert.match(error.requestId, /^req_/);
    return true;
  });
  await assert.rejects(mailmill.contacts.create({ projectId: project.id, email: "ada@example.com" }), (error) => {
    assert.ok(error instanceof ConflictError);
    assert.equal(error.code, "CONTACT_EXISTS");
    return typeof error.data.id === "string";
  });
  await assert.rejects(mailmill.contacts.get("000000000000000000000000", { projectId: project.id }), NotFoundError);
  await assert.rejects(new Mailmill({ apiKey: "sk_test_wrong" }).projects.list(), AuthenticationError);
});

test("an image is uploaded as a stream", async () => {
  const [project] = (await mailmill.projects.list()).projects;
  const pixel = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  const image = await mailmill.projects.images.upload(project.id, { file: new Blob([pixel]), description: "A pixel" });
  assert.match(image.url, /^http/);
  const bytes = await mailmill.projects.images.preview(project.id, { imageUrl: image.url });
  assert.ok(bytes instanceof Uint8Array && bytes.length > 0);
});

test("a large file is uploaded while it is produced", async () => {
  const [project] = (await mailmill.projects.list()).projects;
  async function* rows() {
    yield Buffer.from("email\n");
    for (let index = 0; index < 200; index += 1) {
      yield Buffer.from(Array.from({ length: 100 }, (_, row) => `c${index}-${row}@example.org\n`).join(""));
    }
  }
  const status = await mailmill.contacts.importAndWait({ projectId: project.id, file: rows(), tags: JSON.stringify(["bulk"]) }, { pollInterval: 100 });
  assert.equal(status.counts.created, 20_000);
});

test("texts that are not JSON are returned as text", async () => {
  const [project] = (await mailmill.projects.list()).projects;
  const html = await mailmill.projects.previewTheme(project.id);
  assert.match(html, /^<!doctype html>/i);
});

test("the server's webhooks are verified in both forms", async () => {
  const [project] = (await mailmill.projects.list()).projects;
  for (const standardSignature of [false, true]) {
    const webhook = await mailmill.webhooks.create({ url: sink.url, events: ["subscriber.added"], standardSignature });
    const seen = sink.requests.length;
    const email = `hook-${standardSignature}@example.com`;
    const contact = await mailmill.contacts.create({ projectId: project.id, email });
    while (sink.requests.length === seen) await new Promise((resolve) => setTimeout(resolve, 20));
    const { body, headers } = sink.requests[seen];
    assert.equal("webhook-signature" in headers, standardSignature);
    const event = webhooks.verify(body, headers, webhook.secret, { tolerance: 60 });
    assert.deepEqual([event.type, event.data.subscriberId], ["subscriber.added", contact.id]);
    assert.throws(() => webhooks.verify(body.replace("hook-", "Hook-"), headers, webhook.secret), { code: "SIGNATURE_WRONG" });
    await mailmill.webhooks.delete(webhook.id);
  }
});
