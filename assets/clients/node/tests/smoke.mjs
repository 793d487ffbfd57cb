// Loads the package as an ES module and as CommonJS.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as module from "mailmill";

const common = createRequire(import.meta.url)("mailmill");
assert.deepEqual(Object.keys(module).sort(), Object.keys(common).sort());
for (const { Mailmill, VERSION, webhooks } of [module, common]) {
  assert.match(VERSION, /^\d+\.\d+\.\d+$/);
  assert.equal(typeof webhooks.verify, "function");
  const mailmill = new Mailmill();
  const { projects } = await mailmill.projects.list({ limit: 1 });
  assert.ok(Array.isArray(projects));
}
console.log(process.version);
