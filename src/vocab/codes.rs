//! TABLE: every way an operation can fail: status, code on the wire, and a message for the caller.
//!
//! Two codes differ if the caller can do different things about them. The message here is the general one; a failure usually has a
//! detail that names the field and the remedy. `assets/docs/errors.md` lists the codes, and which of them Mailmill adds to the
//! shared API.

/// A way to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    InvalidRequest,
    MalformedJson,
    IdempotencyKeyInvalid,
    InvalidApiKey,
    NotSignedIn,
    SignInFailed,
    SecondFactorRequired,
    InsufficientPermissions,
    FreshSignInRequired,
    SignUpClosed,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    ContactExists,
    NameTaken,
    LimitReached,
    ModelNotConfigured,
    EditFailed,
    NotExportable,
    ProviderNotConnected,
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
    Unavailable,
}

/// What is said of a code.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    pub code: Code,
    pub status: u16,
    /// The word on the wire.
    pub wire: &'static str,
    /// The sentence a caller gets when the failure has no detail of its own.
    pub message: &'static str,
}

const fn code(code: Code, status: u16, wire: &'static str, message: &'static str) -> CodeInfo {
    CodeInfo { code, status, wire, message }
}

/// Every code, in the order of [`Code`].
pub const CODES: &[CodeInfo] = &[
    code(Code::InvalidRequest, 400, "INVALID_REQUEST", "The request has a value that cannot be used."),
    // Tells a client's broken serializer apart from a wrong value.
    code(Code::MalformedJson, 400, "MALFORMED_JSON", "The body is not valid JSON."),
    code(Code::IdempotencyKeyInvalid, 400, "IDEMPOTENCY_KEY_INVALID", "Idempotency-Key must have 1 to 100 characters."),
    code(Code::InvalidApiKey, 401, "INVALID_API_KEY", "Invalid or missing API key"),
    // For operations that need a member and not a key.
    code(Code::NotSignedIn, 401, "NOT_SIGNED_IN", "Sign in first: POST /v1/auth/login gives a token for this."),
    // One code for every cause, so that no one can test which emails have accounts.
    code(Code::SignInFailed, 401, "SIGN_IN_FAILED", "Email, password or code is wrong."),
    code(
        Code::SecondFactorRequired,
        401,
        "SECOND_FACTOR_REQUIRED",
        "Give the code of the authenticator app, or a recovery code.",
    ),
    code(Code::InsufficientPermissions, 403, "INSUFFICIENT_PERMISSIONS", "Insufficient permissions"),
    code(
        Code::FreshSignInRequired,
        403,
        "FRESH_SIGN_IN_REQUIRED",
        "Confirm your password first (POST /v1/auth/confirm): this needs a sign-in of the last minutes.",
    ),
    code(Code::SignUpClosed, 403, "SIGN_UP_CLOSED", "Sign-up is closed here; ask an administrator for an invitation."),
    code(Code::NotFound, 404, "RESOURCE_NOT_FOUND", "There is no such resource."),
    code(Code::MethodNotAllowed, 405, "METHOD_NOT_ALLOWED", "This path does not take that method; see the Allow header."),
    code(Code::RequestTimeout, 408, "REQUEST_TIMEOUT", "The request did not arrive in time."),
    // `data.id` is the existing contact.
    code(Code::ContactExists, 409, "CONTACT_EXISTS", "The project has a contact with this email already."),
    // `data.id` is the object with this name.
    code(Code::NameTaken, 409, "NAME_TAKEN", "This name is taken; choose another or change the one that has it."),
    code(Code::LimitReached, 409, "LIMIT_REACHED", "There are as many of these as one project may have."),
    code(Code::ModelNotConfigured, 409, "MODEL_NOT_CONFIGURED", "There is no such model here; leave it out to use the default."),
    // `data.editId` is the edit.
    code(Code::EditFailed, 409, "EDIT_FAILED", "The edit cannot be made; nothing was changed."),
    code(Code::NotExportable, 409, "NOT_EXPORTABLE", "There is nothing that could be exported in this format."),
    code(
        Code::ProviderNotConnected,
        409,
        "PROVIDER_NOT_CONNECTED",
        "The provider is not connected; data.connectUrl says what can be done.",
    ),
    // `data.status` is the current state.
    code(Code::WrongState, 409, "WRONG_STATE", "This cannot be done in its present state."),
    code(
        Code::OnHold,
        409,
        "ON_HOLD",
        "Sending is on hold after a restore or a copy; resume it first: POST /v1/system/hold/resume, or the System page.",
    ),
    code(
        Code::TransportNotConfigured,
        409,
        "TRANSPORT_NOT_CONFIGURED",
        "No way out for mail is set: see [mail] in the settings.",
    ),
    code(Code::DomainNotVerified, 409, "DOMAIN_NOT_VERIFIED", "Verify the domain of the From address first; see /v1/domains."),
    // `data.reason` is the reason.
    code(Code::RecipientNotSendable, 409, "RECIPIENT_NOT_SENDABLE", "This recipient must not be mailed."),
    code(Code::NotValidated, 409, "NOT_VALIDATED", "The email has not the validation score that is demanded of it."),
    code(Code::AlreadySetUp, 409, "ALREADY_SET_UP", "This installation has its owner already."),
    code(Code::IdempotencyConflict, 409, "IDEMPOTENCY_CONFLICT", "This Idempotency-Key was used with another request."),
    // The stored response named a contact who was erased: it is not replayed, and the operation does not run again.
    code(
        Code::AnswerErased,
        410,
        "ANSWER_ERASED",
        "This request was done, and its answer was erased with the person it named; it is not done again.",
    ),
    code(Code::PayloadTooLarge, 413, "PAYLOAD_TOO_LARGE", "The body is larger than this operation takes."),
    code(Code::UriTooLong, 414, "URI_TOO_LONG", "The path and query are too long."),
    code(Code::UnsupportedMediaType, 415, "UNSUPPORTED_MEDIA_TYPE", "Send the body with Content-Type: application/json."),
    code(Code::HeadersTooLarge, 431, "HEADERS_TOO_LARGE", "The request has too many header fields, or they are too large."),
    code(Code::RateLimitExceeded, 429, "RATE_LIMIT_EXCEEDED", "Rate limit exceeded"),
    code(
        Code::SendingCapacity,
        429,
        "SENDING_CAPACITY",
        "More than the plan sends at a time; data.retryAfterMs says when to retry.",
    ),
    // `data.retryAfterMs` is the time until the day or month ends.
    code(Code::QuotaExceeded, 429, "QUOTA_EXCEEDED", "The plan's emails for this day or month are used up."),
    code(Code::Internal, 500, "INTERNAL_ERROR", "Something failed here; the requestId finds it in the log."),
    code(Code::IdempotencyInProgress, 503, "IDEMPOTENCY_IN_PROGRESS", "A request with this Idempotency-Key is still running."),
    code(Code::LimiterUnavailable, 503, "LIMITER_UNAVAILABLE", "The request limiter is not available; try again."),
    // Ends when space is freed.
    code(
        Code::StorageFull,
        503,
        "STORAGE_FULL",
        "The server's disk is almost full, so it is read-only until space is freed; nothing was changed.",
    ),
    code(Code::Unavailable, 503, "SERVICE_UNAVAILABLE", "The service cannot take this request now; try again."),
];

impl Code {
    /// What the table says of this code.
    pub fn info(self) -> &'static CodeInfo {
        &CODES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_stands_at_its_own_place_and_its_word_is_used_once() {
        for (index, info) in CODES.iter().enumerate() {
            assert_eq!(info.code as usize, index, "{}", info.wire);
            assert_eq!(CODES.iter().filter(|other| other.wire == info.wire).count(), 1, "{}", info.wire);
        }
        assert_eq!(Code::Unavailable as usize + 1, CODES.len());
    }
}
