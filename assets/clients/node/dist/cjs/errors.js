"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.WebhookVerificationError = exports.JobFailedError = exports.RequestTimeoutError = exports.NetworkError = exports.ServerError = exports.RateLimitError = exports.ConflictError = exports.NotFoundError = exports.PermissionDeniedError = exports.AuthenticationError = exports.BadRequestError = exports.MailmillError = void 0;
exports.plain = plain;
exports.errorOfStatus = errorOfStatus;
const NAME = Symbol.for("mailmill.error");
class MailmillError extends Error {
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
exports.MailmillError = MailmillError;
function nameOf(Class) {
 return typeof Class === "function" && Object.hasOwn(Class, NAME) ? Class[NAME] : undefined;
}
function plain(text) {
 return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ");
}
class BadRequestError extends MailmillError {
}
exports.BadRequestError = BadRequestError;
class AuthenticationError extends MailmillError {
}
exports.AuthenticationError = AuthenticationError;
class PermissionDeniedError extends MailmillError {
}
exports.PermissionDeniedError = PermissionDeniedError;
class NotFoundError extends MailmillError {
}
exports.NotFoundError = NotFoundError;
class ConflictError extends MailmillError {
}
exports.ConflictError = ConflictError;
class RateLimitError extends MailmillError {
}
exports.RateLimitError = RateLimitError;
class ServerError extends MailmillError {
}
exports.ServerError = ServerError;
class NetworkError extends MailmillError {
}
exports.NetworkError = NetworkError;
class RequestTimeoutError extends NetworkError {
}
exports.RequestTimeoutError = RequestTimeoutError;
class JobFailedError extends MailmillError {
}
exports.JobFailedError = JobFailedError;
class WebhookVerificationError extends MailmillError {
}
exports.WebhookVerificationError = WebhookVerificationError;
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
function errorOfStatus(message, status, details) {
 const Class = BY_STATUS[status] ?? (status >= 500 ? ServerError : MailmillError);
 return new Class(message, { ...details, status });
}
