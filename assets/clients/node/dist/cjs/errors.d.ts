/** The values of a {@link MailmillError}. */
export interface ErrorDetails {
 code: string;
 status?: number | undefined;
 field?: string | undefined;
 requestId?: string | undefined;
 retryAfter?: number | undefined;
 data?: Record<string, unknown> | undefined;
 cause?: unknown;
}
/**
 * The base of every error that this package throws. Abort signals are the exception: an aborted call throws the signal's reason.
 *
 * @example
 * ```ts
 * try {
 *   await mailmill.contacts.create({ projectId, email: "not an address" });
 * } catch (error) {
 *   if (error instanceof MailmillError) console.error(error.code, error.field, error.requestId);
 *   else throw error;
 * }
 * ```
 */
export declare class MailmillError extends Error {
 /** The API's code, such as `CONTACT_EXISTS`; or a code of this package, such as `NETWORK_ERROR`. */
 readonly code: string;
 /** The HTTP status; undefined if there was no response. */
 readonly status: number | undefined;
 /** The field with the invalid value, such as `email` or `subscribers[2].email`. */
 readonly field: string | undefined;
 /** The ID of the request in the server's log. */
 readonly requestId: string | undefined;
 /** The number of seconds to wait before retrying, if the server states it. */
 readonly retryAfter: number | undefined;
 /** More details about the error, such as `id` of the existing contact; empty if there are none. */
 readonly data: Record<string, unknown>;
 constructor(message: string, details: ErrorDetails);
}
/** Status 400: a value of the request is invalid. `field` names it. */
export declare class BadRequestError extends MailmillError {
}
/** Status 401: the API key is missing, invalid or revoked. */
export declare class AuthenticationError extends MailmillError {
}
/** Status 403: the API key lacks a permission. */
export declare class PermissionDeniedError extends MailmillError {
}
/** Status 404: the object does not exist, or belongs to another project or account. */
export declare class NotFoundError extends MailmillError {
}
/** Status 409: the request conflicts with the current state. */
export declare class ConflictError extends MailmillError {
}
/** Status 429: a request budget, the sending capacity or a quota is used up. `retryAfter` says when to retry. */
export declare class RateLimitError extends MailmillError {
}
/** Status 5xx: the server failed or is temporarily unavailable. */
export declare class ServerError extends MailmillError {
}
/** There is no response: the connection failed. */
export declare class NetworkError extends MailmillError {
}
/** There is no complete response within the timeout. */
export declare class RequestTimeoutError extends NetworkError {
}
/** A generation, import or other job failed. `data` is its last status. */
export declare class JobFailedError extends MailmillError {
}
/** A webhook request has no valid signature, or is older than the tolerance. */
export declare class WebhookVerificationError extends MailmillError {
}
