export type { CallOptions, ClientOptions, ResponseInfo, WaitOptions } from "./core.js";
export { AuthenticationError, BadRequestError, ConflictError, JobFailedError, MailmillError, NetworkError, NotFoundError, PermissionDeniedError, RateLimitError, RequestTimeoutError, ServerError, WebhookVerificationError, } from "./errors.js";
export { List } from "./list.js";
export { Mailmill } from "./resources.js";
export type * from "./types.js";
export type { Upload } from "./upload.js";
export { VERSION } from "./version.js";
export * as webhooks from "./webhooks.js";
