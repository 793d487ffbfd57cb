"use strict";
var __createBinding = (this && this.__createBinding) || (Object.create ? (function(o, m, k, k2) {
 if (k2 === undefined) k2 = k;
 var desc = Object.getOwnPropertyDescriptor(m, k);
 if (!desc || ("get" in desc ? !m.__esModule : desc.writable || desc.configurable)) {
   desc = { enumerable: true, get: function() { return m[k]; } };
 }
 Object.defineProperty(o, k2, desc);
}) : (function(o, m, k, k2) {
 if (k2 === undefined) k2 = k;
 o[k2] = m[k];
}));
var __setModuleDefault = (this && this.__setModuleDefault) || (Object.create ? (function(o, v) {
 Object.defineProperty(o, "default", { enumerable: true, value: v });
}) : function(o, v) {
 o["default"] = v;
});
var __importStar = (this && this.__importStar) || (function () {
 var ownKeys = function(o) {
  ownKeys = Object.getOwnPropertyNames || function (o) {
   var ar = [];
   for (var k in o) if (Object.prototype.hasOwnProperty.call(o, k)) ar[ar.length] = k;
   return ar;
  };
  return ownKeys(o);
 };
 return function (mod) {
  if (mod && mod.__esModule) return mod;
  var result = {};
  if (mod != null) for (var k = ownKeys(mod), i = 0; i < k.length; i++) if (k[i] !== "default") __createBinding(result, mod, k[i]);
  __setModuleDefault(result, mod);
  return result;
 };
})();
Object.defineProperty(exports, "__esModule", { value: true });
exports.webhooks = exports.VERSION = exports.Mailmill = exports.List = exports.WebhookVerificationError = exports.ServerError = exports.RequestTimeoutError = exports.RateLimitError = exports.PermissionDeniedError = exports.NotFoundError = exports.NetworkError = exports.MailmillError = exports.JobFailedError = exports.ConflictError = exports.BadRequestError = exports.AuthenticationError = void 0;
var errors_js_1 = require("./errors.js");
Object.defineProperty(exports, "AuthenticationError", { enumerable: true, get: function () { return errors_js_1.AuthenticationError; } });
Object.defineProperty(exports, "BadRequestError", { enumerable: true, get: function () { return errors_js_1.BadRequestError; } });
Object.defineProperty(exports, "ConflictError", { enumerable: true, get: function () { return errors_js_1.ConflictError; } });
Object.defineProperty(exports, "JobFailedError", { enumerable: true, get: function () { return errors_js_1.JobFailedError; } });
Object.defineProperty(exports, "MailmillError", { enumerable: true, get: function () { return errors_js_1.MailmillError; } });
Object.defineProperty(exports, "NetworkError", { enumerable: true, get: function () { return errors_js_1.NetworkError; } });
Object.defineProperty(exports, "NotFoundError", { enumerable: true, get: function () { return errors_js_1.NotFoundError; } });
Object.defineProperty(exports, "PermissionDeniedError", { enumerable: true, get: function () { return errors_js_1.PermissionDeniedError; } });
Object.defineProperty(exports, "RateLimitError", { enumerable: true, get: function () { return errors_js_1.RateLimitError; } });
Object.defineProperty(exports, "RequestTimeoutError", { enumerable: true, get: function () { return errors_js_1.RequestTimeoutError; } });
Object.defineProperty(exports, "ServerError", { enumerable: true, get: function () { return errors_js_1.ServerError; } });
Object.defineProperty(exports, "WebhookVerificationError", { enumerable: true, get: function () { return errors_js_1.WebhookVerificationError; } });
var list_js_1 = require("./list.js");
Object.defineProperty(exports, "List", { enumerable: true, get: function () { return list_js_1.List; } });
var resources_js_1 = require("./resources.js");
Object.defineProperty(exports, "Mailmill", { enumerable: true, get: function () { return resources_js_1.Mailmill; } });
var version_js_1 = require("./version.js");
Object.defineProperty(exports, "VERSION", { enumerable: true, get: function () { return version_js_1.VERSION; } });
exports.webhooks = __importStar(require("./webhooks.js"));
