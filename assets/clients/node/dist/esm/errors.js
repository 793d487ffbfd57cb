const NAME = Symbol.for("mailmill.error");
export class MailmillError extends Error {
 code;
 status;
 field;
 requestId;
 retryAfter;
 data;
 constructor(message, details) {
  super(plain(message), details.cause === undefined ? undefined : { cause: details.cause });
  this.name = new.target.name;
  this.code = plain(details.code);
  this.status = details.status;
  this.field = details.field === undefined ? undefined : plain(details.field);
  this.requestId = details.requestId === undefined ? undefined : plain(details.requestId);
  this.retryAfter = details.retryAfter;
  this.data = details.data ?? {};
 }
 static [Symbol.hasInstance](value) {
  const name = nameOf(this);
  if (name === undefined)
   return Function.prototype[Symbol.hasInstance].call(this, value);
  for (let one = value; typeof one === "object" && one !== null; one = Object.getPrototypeOf(one)) {
   if (nameOf(one.constructor) === name)
    return true;
  }
  return false;
 }
}
function nameOf(Class) {
 return typeof Class === "function" && Object.hasOwn(Class, NAME) ? Class[NAME] : undefined;
}
export function plain(text) {
 return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ");
}
export class BadRequestError extends MailmillError {
}
export class AuthenticationError extends MailmillError {
}
export class PermissionDeniedError extends MailmillError {
}
export class NotFoundError extends MailmillError {
}
export class ConflictError extends MailmillError {
}
export class RateLimitError extends MailmillError {
}
export class ServerError extends MailmillError {
}
export class NetworkError extends MailmillError {
}
export class RequestTimeoutError extends NetworkError {
}
export class JobFailedError extends MailmillError {
}
export class WebhookVerificationError extends MailmillError {
}
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
for (const [name, Class] of Object.entries(CLASSES))
 Object.defineProperty(Class, NAME, { value: name });
const BY_STATUS = {
 400: BadRequestError,
 401: AuthenticationError,
 403: PermissionDeniedError,
 404: NotFoundError,
 409: ConflictError,
 429: RateLimitError,
};
export function errorOfStatus(message, status, details) {
 const Class = BY_STATUS[status] ?? (status >= 500 ? ServerError : MailmillError);
 return new Class(message, { ...details, status });
}
