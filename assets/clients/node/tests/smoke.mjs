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
// An error of one kind is an instance of the class of the other kind, but not of classes that a program derives.
for (const [one, other] of [[module, common], [common, module]]) {
  const error = await new one.Mailmill({ maxRetries: 0 }).projects.get("0".repeat(24)).catch((error) => error);
  assert.ok(error instanceof one.NotFoundError && error instanceof other.NotFoundError && error instanceof other.MailmillError);
  assert.ok(!(error instanceof one.ConflictError) && !(error instanceof other.ConflictError));
  class Derived extends other.MailmillError {}
  assert.ok(!(error instanceof Derived));
  assert.ok(new Derived("x", { code: "X" }) instanceof Derived && new Derived("x", { code: "X" }) instanceof one.MailmillError);
  for (const value of [null, undefined, "text", {}, Object.create(null), new Error("x")]) assert.ok(!(value instanceof one.MailmillError));
}
console.log(process.version);
