export { AuthenticationError, BadRequestError, ConflictError, JobFailedError, MailmillError, NetworkError, NotFoundError, PermissionDeniedError, RateLimitError, RequestTimeoutError, ServerError, WebhookVerificationError, } from "./errors.js";
export { List } from "./list.js";
export { Mailmill } from "./resources.js";
export { VERSION } from "./version.js";
export * as webhooks from "./webhooks.js";
