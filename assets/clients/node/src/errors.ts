/** The key of a class's name. Other copies of the package use the same key. */
const NAME = Symbol.for("mailmill.error");

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
export class MailmillError extends Error {
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

  constructor(message: string, details: ErrorDetails) {
    super(plain(message), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = plain(details.code);
    this.status = details.status;
    this.field = details.field === undefined ? undefined : plain(details.field);
    this.requestId = details.requestId === undefined ? undefined : plain(details.requestId);
    this.retryAfter = details.retryAfter;
    this.data = details.data ?? {};
  }

  /**
   * The package contains each class twice: as an ES module and in CommonJS. An error is also an instance of the other class with its name.
   * @internal
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    const name = nameOf(this);
    // A class that a program derives has no name of this package.
    if (name === undefined) return Function.prototype[Symbol.hasInstance].call(this, value);
    for (let one = value; typeof one === "object" && one !== null; one = Object.getPrototypeOf(one)) {
      if (nameOf(one.constructor) === name) return true;
    }
    return false;
  }
}

function nameOf(Class: unknown): unknown {
  return typeof Class === "function" && Object.hasOwn(Class, NAME) ? (Class as { [NAME]?: unknown })[NAME] : undefined;
}

/**
 * Returns the text without characters that control a terminal or reverse a line, because errors are printed and logged.
 * @internal
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ");
}

/** Status 400: a value of the request is invalid. `field` names it. */
export class BadRequestError extends MailmillError {}
/** Status 401: the API key is missing, invalid or revoked. */
export class AuthenticationError extends MailmillError {}
/** Status 403: the API key lacks a permission. */
export class PermissionDeniedError extends MailmillError {}
/** Status 404: the object does not exist, or belongs to another project or account. */
export class NotFoundError extends MailmillError {}
/** Status 409: the request conflicts with the current state. */
export class ConflictError extends MailmillError {}
/** Status 429: a request budget, the sending capacity or a quota is used up. `retryAfter` says when to retry. */
export class RateLimitError extends MailmillError {}
/** Status 5xx: the server failed or is temporarily unavailable. */
export class ServerError extends MailmillError {}
/** There is no response: the connection failed. */
export class NetworkError extends MailmillError {}
/** There is no complete response within the timeout. */
export class RequestTimeoutError extends NetworkError {}
/** A generation, import or other job failed. `data` is its last status. */
export class JobFailedError extends MailmillError {}
/** A webhook request has no valid signature, or is older than the tolerance. */
export class WebhookVerificationError extends MailmillError {}

const CLASSES = {
  MailmillError,
  BadRequestError,
  AuthenticationError,
  PermissionDeniedError,
  NotFoundError,
  ConflictError,
  RateLimitError,
  ServerError,
  NetworkError,
  RequestTimeoutError,
  JobFailedError,
  WebhookVerificationError,
};
for (const [name, Class] of Object.entries(CLASSES)) Object.defineProperty(Class, NAME, { value: name });

const BY_STATUS: Record<number, typeof MailmillError> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

/**
 * Returns the error of the class for `status`.
 * @internal
 */
export function errorOfStatus(message: string, status: number, details: ErrorDetails): MailmillError {
  const Class = BY_STATUS[status] ?? (status >= 500 ? ServerError : MailmillError);
  return new Class(message, { ...details, status });
}
