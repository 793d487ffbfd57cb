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
 metadata: {
  userId?: string;
  projectId?: string;
  conversationId?: string;
 };
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
export declare function verify(rawBody: string | Uint8Array, headers: HeaderValues, secret: string | undefined, options?: VerifyOptions): WebhookEvent;
export {};
