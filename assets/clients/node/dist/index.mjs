export { AuthenticationError, BadRequestError, ConflictError, JobFailedError, MailmillError, NetworkError, NotFoundError, PermissionDeniedError, RateLimitError, RequestTimeoutError, ServerError, WebhookVerificationError, } from "./errors.mjs";
export { List } from "./list.mjs";
export { Mailmill } from "./resources.mjs";
export { VERSION } from "./version.mjs";
export * as webhooks from "./webhooks.mjs";
