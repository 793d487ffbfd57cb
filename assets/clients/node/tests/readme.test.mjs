// Runs the examples of the README, in order, as one program.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { shop } from "./support.mjs";

const readme = readFileSync(join(dirname(createRequire(import.meta.url).resolve("mailmill/package.json")), "README.md"), "utf8");
const examples = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);

/** What follows the examples: the server of the last one receives a signed request and another one. */
const REQUESTS = `
import { createHmac } from "node:crypto";
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const body = JSON.stringify({ id: "1", type: "subscriber.added", timestamp: new Date().toISOString(), data: {} });
const url = "http://127.0.0.1:" + server.address().port;
for (const secret of [process.env.WEBHOOK_SECRET, "other"]) {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  console.log((await fetch(url, { method: "POST", body, headers: { "X-Service-Signature": signature } })).status);
}
server.close();
server.closeAllConnections();
`;

test("the examples run", async () => {
  const site = await shop();
  // Inside this folder, so that the program finds the package.
  const folder = mkdtempSync(join(import.meta.dirname ?? dirname(new URL(import.meta.url).pathname), "readme-"));
  try {
    assert.equal(examples.length, 7);
    writeFileSync(join(folder, "example.mjs"), examples.join("\n").replace("https://example.com", `${site.url}/readme`) + REQUESTS);
    writeFileSync(join(folder, "contacts.csv"), "email\nzoe@example.com\nno address\n");
    const env = { ...process.env, WEBHOOK_SECRET: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=" };
    const { stdout } = await promisify(execFile)(process.execPath, ["example.mjs"], { cwd: folder, env, timeout: 120_000 });
    const lines = stdout.trim().split("\n");
    assert.deepEqual(lines.slice(0, 2), ["ada@example.com", "1 of 1"]);
    assert.ok(lines.includes("100%"), stdout);
    assert.ok(lines.includes("1 created, 1 failed"), stdout);
    assert.match(stdout, /CONTACT_EXISTS [0-9a-f]{24}\n\{ replayed: false \}\nsubscriber.added \{\}\n200\n400\n$/);
  } finally {
    rmSync(folder, { recursive: true });
    await site.close();
  }
});
