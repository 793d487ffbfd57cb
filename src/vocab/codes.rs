//! TABLE: the error codes of the API, with their HTTP status, their spelling in responses, and a default message.
//!
//! Two failures have different codes only if the caller can react to them differently. Most failures replace the default message with a
//! specific one, and can also name a field and a related operation. `surfaces/docs/remedies.rs` explains the codes.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    InvalidRequest,
    MalformedJson,
    IdempotencyKeyInvalid,
    IntegrationAccountRequired,
    InvalidApiKey,
    NotSignedIn,
    SignInFailed,
    SecondFactorRequired,
    InvalidSignature,
    InsufficientPermissions,
    FreshSignInRequired,
    SignUpClosed,
    NotFound,
    MethodNotAllowed,
    NeverAccepted,
    RequestTimeout,
    ContactExists,
    BrandExists,
    NameTaken,
    LimitReached,
    ModelNotConfigured,
    ModelFailed,
    EditFailed,
    VersionConflict,
    NotExportable,
    ProviderNotConnected,
    ProviderReconnectRequired,
    WrongState,
    OnHold,
    TransportNotConfigured,
    DomainNotVerified,
    RecipientNotSendable,
    NotValidated,
    AlreadySetUp,
    IdempotencyConflict,
    AnswerErased,
    PayloadTooLarge,
    UriTooLong,
    UnsupportedMediaType,
    HeadersTooLarge,
    RateLimitExceeded,
    SendingCapacity,
    QuotaExceeded,
    Internal,
    IdempotencyInProgress,
    LimiterUnavailable,
    StorageFull,
    ProviderUnavailable,
    Unavailable,
}

/// An error code with its HTTP status, its spelling in responses and its default message.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    pub code: Code,
    pub status: u16,
    /// The code as written in responses.
    pub wire: &'static str,
    /// The default message, which a failure can replace with a more specific one.
    pub message: &'static str,
}

const fn code(code: Code, status: u16, wire: &'static str, message: &'static str) -> CodeInfo {
    CodeInfo { code, status, wire, message }
}

/// All error codes, in the order of [`Code`].
pub const CODES: &[CodeInfo] = &[
    code(Code::InvalidRequest, 400, "INVALID_REQUEST", "The request has an invalid value; data.field names the field."),
    // A client with a broken serializer gets this code; a client that sent a wrong value gets `INVALID_REQUEST`.
    code(Code::MalformedJson, 400, "MALFORMED_JSON", "The body is not valid JSON; correct its syntax."),
    code(
        Code::IdempotencyKeyInvalid,
        400,
        "IDEMPOTENCY_KEY_INVALID",
        "Idempotency-Key must have 1 to 100 characters: visible ASCII characters and spaces.",
    ),
    // In the response, `data.connections` lists the connections that the caller can choose from.
    code(
        Code::IntegrationAccountRequired,
        400,
        "INTEGRATION_ACCOUNT_REQUIRED",
        "Several connections fit this request; set connectionId to one of the IDs in data.connections.",
    ),
    code(Code::InvalidApiKey, 401, "INVALID_API_KEY", "Invalid or missing API key"),
    // Operations that require a signed-in user instead of an API key return this code.
    code(Code::NotSignedIn, 401, "NOT_SIGNED_IN", "Sign in first: POST /v1/auth/login returns a token."),
    // All causes have the same code, so that the response does not reveal which email addresses have accounts.
    code(Code::SignInFailed, 401, "SIGN_IN_FAILED", "The email, password or code is wrong."),
    code(
        Code::SecondFactorRequired,
        401,
        "SECOND_FACTOR_REQUIRED",
        "Enter the code from the authenticator app, or a recovery code.",
    ),
    // Other services get this code: mail services, stores, and senders to incoming webhooks. They authenticate with a signature or a secret
    // instead of an API key.
    code(
        Code::InvalidSignature,
        401,
        "INVALID_SIGNATURE",
        "The request's signature or secret is missing or wrong, or the request is too old; compare the secrets and clocks on both sides.",
    ),
    code(Code::InsufficientPermissions, 403, "INSUFFICIENT_PERMISSIONS", "Insufficient permissions"),
    code(
        Code::FreshSignInRequired,
        403,
        "FRESH_SIGN_IN_REQUIRED",
        "Confirm your password first (POST /v1/auth/confirm): this operation requires a recent sign-in.",
    ),
    code(Code::SignUpClosed, 403, "SIGN_UP_CLOSED", "Sign-up is closed on this server; ask an account admin for an invitation."),
    code(Code::NotFound, 404, "RESOURCE_NOT_FOUND", "The resource does not exist; check the path and the ID."),
    code(
        Code::MethodNotAllowed,
        405,
        "METHOD_NOT_ALLOWED",
        "This path does not support this method; the Allow header lists the supported methods.",
    ),
    // Mailgun repeats a rejected request unless the response has this status.
    code(Code::NeverAccepted, 406, "NEVER_ACCEPTED", "The request is invalid and can never be accepted; do not send it again."),
    code(Code::RequestTimeout, 408, "REQUEST_TIMEOUT", "The request took too long to arrive; send it again."),
    // In the response, `data.id` is the ID of the existing contact.
    code(
        Code::ContactExists,
        409,
        "CONTACT_EXISTS",
        "The brand already has a contact with this email. Edit that contact instead.",
    ),
    // In the response, `data.projectId` and `data.name` describe the existing brand.
    code(
        Code::BrandExists,
        409,
        "BRAND_EXISTS",
        "The account already has a brand that was imported from this site; use that brand instead.",
    ),
    // In the response, `data.id` is the ID of the object that already has this name.
    code(Code::NameTaken, 409, "NAME_TAKEN", "This name is taken; choose a different name, or rename the object that has it."),
    code(
        Code::LimitReached,
        409,
        "LIMIT_REACHED",
        "The account or brand has reached its limit for this resource; delete what you no longer need.",
    ),
    code(
        Code::ModelNotConfigured,
        409,
        "MODEL_NOT_CONFIGURED",
        "This model is not configured; omit the model field to use the default.",
    ),
    code(
        Code::ModelFailed,
        409,
        "MODEL_FAILED",
        "The language model gave no usable response; try again, or use the built-in composer.",
    ),
    // In the response, `data.editId` is the ID of the edit.
    code(
        Code::EditFailed,
        409,
        "EDIT_FAILED",
        "The edit could not be applied, so nothing was changed; rephrase the instruction.",
    ),
    // In the response, `data.version` is the email's current version.
    code(
        Code::VersionConflict,
        409,
        "VERSION_CONFLICT",
        "A newer version was saved, so nothing was changed. Get the current version and repeat the change.",
    ),
    code(
        Code::NotExportable,
        409,
        "NOT_EXPORTABLE",
        "The emails are not ready, or are not available in this format; wait, or choose another format.",
    ),
    code(
        Code::ProviderNotConnected,
        409,
        "PROVIDER_NOT_CONNECTED",
        "No connection fits this request; connect an account or store at data.connectUrl.",
    ),
    code(
        Code::ProviderReconnectRequired,
        409,
        "PROVIDER_RECONNECT_REQUIRED",
        "The stored credentials of the connection cannot be used; reconnect the account or store at data.connectUrl.",
    ),
    // In the response, `data.status` is the object's current status.
    code(
        Code::WrongState,
        409,
        "WRONG_STATE",
        "The object's current status does not allow this operation; get the object to see its status.",
    ),
    code(
        Code::OnHold,
        409,
        "ON_HOLD",
        "Sending is on hold because the data was restored, exported or copied. Resume sending on the System page or with the API.",
    ),
    code(
        Code::TransportNotConfigured,
        409,
        "TRANSPORT_NOT_CONFIGURED",
        "No mail transport is configured; set mail.relay or mail.direct.",
    ),
    code(Code::DomainNotVerified, 409, "DOMAIN_NOT_VERIFIED", "Verify the domain of the From address first; see /v1/domains."),
    // In the response, `data.reason` states why the recipient cannot be mailed.
    code(Code::RecipientNotSendable, 409, "RECIPIENT_NOT_SENDABLE", "This recipient cannot be emailed; see data.reason."),
    code(
        Code::NotValidated,
        409,
        "NOT_VALIDATED",
        "The email has not been checked yet (try again in a few seconds), or its score is below the required minimum (fix the \
         findings, or lower the minimum).",
    ),
    code(Code::AlreadySetUp, 409, "ALREADY_SET_UP", "This installation already has an owner; sign in instead."),
    code(
        Code::IdempotencyConflict,
        409,
        "IDEMPOTENCY_CONFLICT",
        "This Idempotency-Key was already used for a different request; use a new key.",
    ),
    // A request with a used idempotency key gets this code if the stored response referred to a contact that has since been erased. The
    // response cannot be replayed, and the operation does not run again.
    code(
        Code::AnswerErased,
        410,
        "ANSWER_ERASED",
        "This request has already run, so it was not run again. Its stored response was deleted because it referred to a contact that was \
         later erased. To see the result, get the object.",
    ),
    code(Code::PayloadTooLarge, 413, "PAYLOAD_TOO_LARGE", "The body is larger than this operation accepts; shorten or split it."),
    code(Code::UriTooLong, 414, "URI_TOO_LONG", "The path and query are too long; shorten them."),
    code(Code::UnsupportedMediaType, 415, "UNSUPPORTED_MEDIA_TYPE", "Send the body with Content-Type: application/json."),
    code(
        Code::HeadersTooLarge,
        431,
        "HEADERS_TOO_LARGE",
        "The request has too many headers, or its headers are too large; send fewer or smaller headers.",
    ),
    code(Code::RateLimitExceeded, 429, "RATE_LIMIT_EXCEEDED", "Rate limit exceeded"),
    code(
        Code::SendingCapacity,
        429,
        "SENDING_CAPACITY",
        "Too many emails are waiting to be sent; retry after data.retryAfterMs milliseconds.",
    ),
    // In the response, `data.retryAfterMs` is the time in milliseconds until the day or month ends.
    code(
        Code::QuotaExceeded,
        429,
        "QUOTA_EXCEEDED",
        "The plan's remaining email quota for this day or month is too small; retry after data.retryAfterMs milliseconds.",
    ),
    code(Code::Internal, 500, "INTERNAL_ERROR", "An internal error occurred; search the server log for the requestId."),
    code(
        Code::IdempotencyInProgress,
        503,
        "IDEMPOTENCY_IN_PROGRESS",
        "A request with this Idempotency-Key is still running; try again later.",
    ),
    code(Code::LimiterUnavailable, 503, "LIMITER_UNAVAILABLE", "The rate limiter is temporarily unavailable; try again."),
    // Operations that write return this error until disk space is freed.
    code(
        Code::StorageFull,
        503,
        "STORAGE_FULL",
        "The server is read-only because its disk is almost full; try again after space is freed.",
    ),
    // The platform or store failed, or is rate limiting the connected account.
    code(
        Code::ProviderUnavailable,
        503,
        "PROVIDER_UNAVAILABLE",
        "The provider is unavailable or is rate limiting this account; try again later.",
    ),
    code(Code::Unavailable, 503, "SERVICE_UNAVAILABLE", "The service cannot handle this request now; try again later."),
];

impl Code {
    pub fn info(self) -> &'static CodeInfo {
        &CODES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_at_its_index_and_wire_codes_are_unique() {
        for (index, info) in CODES.iter().enumerate() {
            assert_eq!(info.code as usize, index, "{}", info.wire);
            assert_eq!(CODES.iter().filter(|other| other.wire == info.wire).count(), 1, "{}", info.wire);
        }
        assert_eq!(Code::Unavailable as usize + 1, CODES.len());
    }
}
