//! TABLE: every way an operation can fail: status, code on the wire, and what the caller should know.
//!
//! Codes are told apart by what the caller can do about them. The sentence here is the general one; a failure usually carries a
//! detail that names the field and the remedy. Statuses and codes are those of the specification's Errors section; the ones it
//! does not list are marked "ours".

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
    // Ours: tells a client's broken serialiser apart from a wrong value.
    code(Code::MalformedJson, 400, "MALFORMED_JSON", "The body is not valid JSON."),
    code(Code::IdempotencyKeyInvalid, 400, "IDEMPOTENCY_KEY_INVALID", "Idempotency-Key must have 1 to 100 characters."),
    code(Code::InvalidApiKey, 401, "INVALID_API_KEY", "Invalid or missing API key"),
    // Ours: for what people do and keys do not.
    code(Code::NotSignedIn, 401, "NOT_SIGNED_IN", "Sign in first: POST /v1/auth/login gives a token for this."),
    // Ours: the same for every reason, so that nobody learns which emails have accounts.
    code(Code::SignInFailed, 401, "SIGN_IN_FAILED", "Email, password or code is wrong."),
    // Ours.
    code(
        Code::SecondFactorRequired,
        401,
        "SECOND_FACTOR_REQUIRED",
        "Give the code of the authenticator app, or a recovery code.",
    ),
    code(Code::InsufficientPermissions, 403, "INSUFFICIENT_PERMISSIONS", "Insufficient permissions"),
    // Ours.
    code(
        Code::FreshSignInRequired,
        403,
        "FRESH_SIGN_IN_REQUIRED",
        "Confirm your password first (POST /v1/auth/confirm): this needs a sign-in of the last minutes.",
    ),
    // Ours.
    code(Code::SignUpClosed, 403, "SIGN_UP_CLOSED", "Sign-up is closed here; ask an administrator for an invitation."),
    code(Code::NotFound, 404, "RESOURCE_NOT_FOUND", "There is no such resource."),
    // Ours.
    code(Code::MethodNotAllowed, 405, "METHOD_NOT_ALLOWED", "This path does not take that method; see the Allow header."),
    // Ours.
    code(Code::RequestTimeout, 408, "REQUEST_TIMEOUT", "The request did not arrive in time."),
    // Ours: data.id says which contact it is.
    code(Code::ContactExists, 409, "CONTACT_EXISTS", "The project has a contact with this email already."),
    // Ours: data.id says what has the name.
    code(Code::NameTaken, 409, "NAME_TAKEN", "This name is taken; choose another or change the one that has it."),
    // Ours.
    code(Code::LimitReached, 409, "LIMIT_REACHED", "There are as many of these as one project may have."),
    // Ours.
    code(Code::ModelNotConfigured, 409, "MODEL_NOT_CONFIGURED", "There is no such model here; leave it out to use the default."),
    // Ours: data.editId says which edit it is.
    code(Code::EditFailed, 409, "EDIT_FAILED", "The edit cannot be made; nothing was changed."),
    // Ours.
    code(Code::NotExportable, 409, "NOT_EXPORTABLE", "There is nothing that could be exported in this format."),
    code(
        Code::ProviderNotConnected,
        409,
        "PROVIDER_NOT_CONNECTED",
        "The provider is not connected; data.connectUrl says what can be done.",
    ),
    // Ours: data.status says which state it is in.
    code(Code::WrongState, 409, "WRONG_STATE", "This cannot be done in its present state."),
    // Ours.
    code(
        Code::OnHold,
        409,
        "ON_HOLD",
        "Sending is on hold after a restore or a copy; resume it first: POST /v1/system/hold/resume, or the System page.",
    ),
    // Ours.
    code(
        Code::TransportNotConfigured,
        409,
        "TRANSPORT_NOT_CONFIGURED",
        "No way out for mail is set: see [mail] in the settings.",
    ),
    // Ours.
    code(Code::DomainNotVerified, 409, "DOMAIN_NOT_VERIFIED", "Verify the domain of the From address first; see /v1/domains."),
    // Ours: data.reason says why.
    code(Code::RecipientNotSendable, 409, "RECIPIENT_NOT_SENDABLE", "This recipient must not be mailed."),
    // Ours.
    code(Code::NotValidated, 409, "NOT_VALIDATED", "The email has not the validation score that is demanded of it."),
    // Ours.
    code(Code::AlreadySetUp, 409, "ALREADY_SET_UP", "This installation has its owner already."),
    code(Code::IdempotencyConflict, 409, "IDEMPOTENCY_CONFLICT", "This Idempotency-Key was used with another request."),
    // Ours: nothing of an erased person is said again, and nothing is done twice.
    code(
        Code::AnswerErased,
        410,
        "ANSWER_ERASED",
        "This request was done, and its answer was erased with the person it named; it is not done again.",
    ),
    // Ours.
    code(Code::PayloadTooLarge, 413, "PAYLOAD_TOO_LARGE", "The body is larger than this operation takes."),
    // Ours.
    code(Code::UriTooLong, 414, "URI_TOO_LONG", "The path and query are too long."),
    // Ours.
    code(Code::UnsupportedMediaType, 415, "UNSUPPORTED_MEDIA_TYPE", "Send the body with Content-Type: application/json."),
    // Ours.
    code(Code::HeadersTooLarge, 431, "HEADERS_TOO_LARGE", "The request has too many header fields, or they are too large."),
    code(Code::RateLimitExceeded, 429, "RATE_LIMIT_EXCEEDED", "Rate limit exceeded"),
    code(
        Code::SendingCapacity,
        429,
        "SENDING_CAPACITY",
        "More than the plan sends at a time; data.retryAfterMs says when to retry.",
    ),
    // Ours: data.retryAfterMs says when the day or month is over.
    code(Code::QuotaExceeded, 429, "QUOTA_EXCEEDED", "The plan's emails for this day or month are used up."),
    // Ours.
    code(Code::Internal, 500, "INTERNAL_ERROR", "Something failed here; the requestId finds it in the log."),
    code(Code::IdempotencyInProgress, 503, "IDEMPOTENCY_IN_PROGRESS", "A request with this Idempotency-Key is still running."),
    // Ours.
    code(Code::LimiterUnavailable, 503, "LIMITER_UNAVAILABLE", "The request limiter is not available; try again."),
    // Ours.
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
