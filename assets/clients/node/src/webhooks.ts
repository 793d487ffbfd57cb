import { createHmac, timingSafeEqual } from "node:crypto";
import { WebhookVerificationError } from "./errors.js";

/** An event that the server sends to a webhook. */
export interface WebhookEvent {
  /** The ID of the event, which is the same in every attempt. Use it to ignore repeats. */
  id: string;
  /** The type, such as `subscriber.added`. */
  type: string;
  /** When the event was created, in ISO 8601. */
  timestamp: string;
  apiVersion: string;
  data: Record<string, unknown>;
  metadata: { userId?: string; projectId?: string; conversationId?: string };
}

/** The settings of {@link verify}. */
export interface VerifyOptions {
  /**
   * The greatest difference in seconds between the signed time and this machine's time; 300 if absent, and 0 allows any. Requests with only
   * `X-Service-Signature` have no time of their own: their event's time is checked if `tolerance` is given, which also rejects events
   * that you deliver again later.
   */
  tolerance?: number;
}

type HeaderValues = Headers | Record<string, string | readonly string[] | undefined>;

const TOLERANCE_S = 300;

/**
 * Verifies that a webhook request comes from the server, and returns its event.
 *
 * Both forms of signature are supported: Standard Webhooks (`webhook-signature`), and `X-Service-Signature` with its alternate, whatever
 * word the server's settings have in place of `Service`. If a request has both, the first is verified, because it includes the time.
 *
 * @param rawBody The exact bytes of the body, before any parsing.
 * @param headers The request's headers, such as `request.headers`.
 * @param secret The webhook's secret as it was shown: `whsec_…`. A missing secret is an error.
 * @throws WebhookVerificationError if the request is not signed with the secret, or is too old.
 *
 * @example
 * ```ts
 * import { webhooks } from "mailmill";
 *
 * const event = webhooks.verify(rawBody, request.headers, process.env.WEBHOOK_SECRET);
 * if (event.type === "subscriber.added") console.log(event.data.email);
 * ```
 */
export function verify(rawBody: string | Uint8Array, headers: HeaderValues, secret: string | undefined, options: VerifyOptions = {}): WebhookEvent {
  if (!secret) throw refused("SECRET_MISSING", "The secret is empty. Pass the webhook's secret, which starts with whsec_.");
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
  if (signatures.length === 0) throw refused("SIGNATURE_MISSING", "The request has no signature.");
  const expected = createHmac("sha256", secret).update(body).digest();
  if (!signatures.some((text) => /^[0-9a-f]{64}$/i.test(text) && timingSafeEqual(Buffer.from(text, "hex"), expected))) throw wrong();
  const event = parse(body);
  checkTime(Date.parse(event.timestamp) / 1000, options.tolerance ?? 0);
  return event;
}

/** Verifies the signature of https://www.standardwebhooks.com. */
function verifyStandard(body: Uint8Array, values: Map<string, string>, given: string, secret: string, tolerance: number): void {
  const id = values.get("webhook-id");
  const seconds = values.get("webhook-timestamp");
  if (id === undefined || seconds === undefined || !/^\d{1,12}$/.test(seconds)) {
    throw refused("SIGNATURE_MISSING", "The request has webhook-signature, but no valid webhook-id and webhook-timestamp.");
  }
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  // Anyone can sign with an empty key.
  if (key.length === 0) throw refused("SECRET_INVALID", "The secret is not base64. Pass the webhook's secret as it was shown.");
  const expected = createHmac("sha256", key).update(`${id}.${seconds}.`).update(body).digest();
  const matches = given.split(" ").some((entry) => {
    const digest = entry.startsWith("v1,") ? Buffer.from(entry.slice(3), "base64") : Buffer.alloc(0);
    return digest.length === expected.length && timingSafeEqual(digest, expected);
  });
  if (!matches) throw wrong();
  checkTime(Number(seconds), tolerance);
}

function checkTime(seconds: number, tolerance: number): void {
  if (tolerance > 0 && !(Math.abs(Date.now() / 1000 - seconds) <= tolerance)) {
    throw refused("TIMESTAMP_OUTSIDE_TOLERANCE", `The request's time differs by more than ${tolerance} seconds from this machine's time.`);
  }
}

function lowercase(headers: HeaderValues): Map<string, string> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const values = new Map<string, string>();
  for (const [name, value] of entries) {
    const text = typeof value === "string" ? value : value?.[0];
    if (text !== undefined) values.set(name.toLowerCase(), text);
  }
  return values;
}

function parse(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8")) as WebhookEvent;
  } catch (cause) {
    throw new WebhookVerificationError("The body is signed, but it is not JSON.", { code: "BODY_INVALID", cause });
  }
}

function wrong(): WebhookVerificationError {
  return refused("SIGNATURE_WRONG", "The signature does not match. Check the secret, and that rawBody has the exact bytes of the request.");
}

function refused(code: string, message: string): WebhookVerificationError {
  return new WebhookVerificationError(message, { code });
}
