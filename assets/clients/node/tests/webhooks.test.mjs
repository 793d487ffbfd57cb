// Tests the verification of webhook requests. The digests were computed by Python's hmac module, independently of this package.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { WebhookVerificationError, webhooks } from "mailmill";

const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const event = { id: "evt_1", type: "subscriber.added", timestamp: new Date().toISOString(), apiVersion: "v1", data: {}, metadata: {} };
const body = JSON.stringify(event);
const simple = (text = body, key = secret) => createHmac("sha256", key).update(text).digest("hex");
const standard = (seconds, text = body, id = "evt_1") => ({
  "webhook-id": id,
  "webhook-timestamp": String(seconds),
  "webhook-signature": `v1,${createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`${id}.${seconds}.${text}`).digest("base64")}`,
});
const now = () => Math.floor(Date.now() / 1000);
const refused = (code) => (error) => error instanceof WebhookVerificationError && error.code === code;

test("the simple form is verified, with any word in its header, and with its alternate", () => {
  for (const headers of [
    { "x-service-signature": simple() },
    { "X-Acme-Signature": simple().toUpperCase() },
    { "x-service-signature": simple(body, "old"), "x-service-signature-alternate": simple() },
    new Headers({ "X-Service-Signature": simple() }),
  ]) {
    assert.deepEqual(webhooks.verify(body, headers, secret), event);
    assert.deepEqual(webhooks.verify(new TextEncoder().encode(body), headers, secret), event);
  }
});

test("published digests match", () => {
  const headers = { "webhook-id": "evt", "webhook-timestamp": "1700000000", "webhook-signature": "v1,HRuZCedO+PssxGDGFJFxYEgm9jSi18+GPruIagDDyRc=" };
  assert.deepEqual(webhooks.verify('{"a":1}', headers, secret, { tolerance: 0 }), { a: 1 });
  const simple = { "x-service-signature": "7192be8026088460d6c99fbdd4d7f59dad86a207af9fa902d082484f04618b89" };
  assert.deepEqual(webhooks.verify('{"name":"Zoë 北京 🎉"}', simple, secret), { name: "Zoë 北京 🎉" });
});

test("the standard form is verified, with several signatures and a tolerance", () => {
  assert.deepEqual(webhooks.verify(body, standard(now()), secret), event);
  const two = standard(now());
  two["webhook-signature"] = `v1a,AAAA v1,AAAA ${two["webhook-signature"]}`;
  assert.deepEqual(webhooks.verify(body, two, secret), event);
  for (const seconds of [now() - 310, now() + 310]) {
    assert.throws(() => webhooks.verify(body, standard(seconds), secret), refused("TIMESTAMP_OUTSIDE_TOLERANCE"));
    assert.deepEqual(webhooks.verify(body, standard(seconds), secret, { tolerance: 600 }), event);
  }
});

test("a wrong standard signature is refused although the simple one is right", () => {
  const headers = { ...standard(now()), "x-service-signature": simple() };
  headers["webhook-signature"] = "v1,AAAA";
  assert.throws(() => webhooks.verify(body, headers, secret), refused("SIGNATURE_WRONG"));
});

test("the event's time is checked if the caller asks for it", () => {
  const old = JSON.stringify({ ...event, timestamp: "2026-01-01T00:00:00.000Z" });
  const headers = { "x-service-signature": simple(old) };
  assert.equal(webhooks.verify(old, headers, secret).id, "evt_1");
  assert.throws(() => webhooks.verify(old, headers, secret, { tolerance: 300 }), refused("TIMESTAMP_OUTSIDE_TOLERANCE"));
});

test("other requests are refused", () => {
  assert.throws(() => webhooks.verify(body, {}, secret), refused("SIGNATURE_MISSING"));
  assert.throws(() => webhooks.verify(`${body} `, { "x-service-signature": simple() }, secret), refused("SIGNATURE_WRONG"));
  assert.throws(() => webhooks.verify(body, { "x-service-signature": simple().slice(2) }, secret), refused("SIGNATURE_WRONG"));
  assert.throws(() => webhooks.verify(body, { "x-service-signature": simple(body, "other") }, secret), refused("SIGNATURE_WRONG"));
  assert.throws(() => webhooks.verify(body, { ...standard(now()), "webhook-timestamp": "soon" }, secret), refused("SIGNATURE_MISSING"));
  for (const empty of ["whsec_", "whsec_!"]) assert.throws(() => webhooks.verify(body, standard(now()), empty), refused("SECRET_INVALID"));
  assert.throws(() => webhooks.verify(event, { "x-service-signature": simple() }, secret), refused("BODY_PARSED"));
  assert.throws(() => webhooks.verify(body, { "x-service-signature": simple(body, "") }, ""), refused("SECRET_MISSING"));
  assert.throws(() => webhooks.verify("no", { "x-service-signature": simple("no") }, secret), refused("BODY_INVALID"));
});
