"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.verify = verify;
const node_crypto_1 = require("node:crypto");
const errors_js_1 = require("./errors.js");
const TOLERANCE_S = 300;
function verify(rawBody, headers, secret, options = {}) {
 if (!secret)
  throw refused("SECRET_MISSING", "The secret is empty. Pass the webhook's secret, which starts with whsec_.");
 if (typeof rawBody !== "string" && !(rawBody instanceof Uint8Array)) {
  throw refused("BODY_PARSED", "rawBody must be the body as text or bytes, before any parsing.");
 }
 const body = typeof rawBody === "string" ? Buffer.from(rawBody) : rawBody;
 const values = lowercase(headers);
 const given = values.get("webhook-signature");
 if (given !== undefined) {
  verifyStandard(body, values, given, secret, options.tolerance ?? TOLERANCE_S);
  return parse(body);
 }
 const signatures = [...values].filter(([name]) => /^x-.+-signature(-alternate)?$/.test(name)).map(([, value]) => value);
 if (signatures.length === 0)
  throw refused("SIGNATURE_MISSING", "The request has no signature.");
 const expected = (0, node_crypto_1.createHmac)("sha256", secret).update(body).digest();
 if (!signatures.some((text) => /^[0-9a-f]{64}$/i.test(text) && (0, node_crypto_1.timingSafeEqual)(Buffer.from(text, "hex"), expected)))
  throw wrong();
 const event = parse(body);
 checkTime(Date.parse(event.timestamp) / 1000, options.tolerance ?? 0);
 return event;
}
function verifyStandard(body, values, given, secret, tolerance) {
 const id = values.get("webhook-id");
 const seconds = values.get("webhook-timestamp");
 if (id === undefined || seconds === undefined || !/^\d{1,12}$/.test(seconds)) {
  throw refused("SIGNATURE_MISSING", "The request has webhook-signature, but no valid webhook-id and webhook-timestamp.");
 }
 const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
 if (key.length === 0)
  throw refused("SECRET_INVALID", "The secret is not base64. Pass the webhook's secret as it was shown.");
 const expected = (0, node_crypto_1.createHmac)("sha256", key).update(`${id}.${seconds}.`).update(body).digest();
 const matches = given.split(" ").some((entry) => {
  const digest = entry.startsWith("v1,") ? Buffer.from(entry.slice(3), "base64") : Buffer.alloc(0);
  return digest.length === expected.length && (0, node_crypto_1.timingSafeEqual)(digest, expected);
 });
 if (!matches)
  throw wrong();
 checkTime(Number(seconds), tolerance);
}
function checkTime(seconds, tolerance) {
 if (tolerance > 0 && !(Math.abs(Date.now() / 1000 - seconds) <= tolerance)) {
  throw refused("TIMESTAMP_OUTSIDE_TOLERANCE", `The request's time differs by more than ${tolerance} seconds from this machine's time.`);
 }
}
function lowercase(headers) {
 const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
 const values = new Map();
 for (const [name, value] of entries) {
  const text = typeof value === "string" ? value : value?.[0];
  if (text !== undefined)
   values.set(name.toLowerCase(), text);
 }
 return values;
}
function parse(body) {
 try {
  return JSON.parse(Buffer.from(body).toString("utf8"));
 }
 catch (cause) {
  throw new errors_js_1.WebhookVerificationError("The body is signed, but it is not JSON.", { code: "BODY_INVALID", cause });
 }
}
function wrong() {
 return refused("SIGNATURE_WRONG", "The signature does not match. Check the secret, and that rawBody has the exact bytes of the request.");
}
function refused(code, message) {
 return new errors_js_1.WebhookVerificationError(message, { code });
}
