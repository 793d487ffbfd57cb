//! TABLE: the cause and the remedy of every error code, for the documentation's page about errors.

use crate::engine::api::Entry;
use crate::surfaces::docs_links;
use crate::vocab::codes::{CODES, Code};

/// Returns the Markdown list of all error codes for the errors page.
pub fn page(operations: &[Entry]) -> String {
    let mut text = String::new();
    for info in CODES {
        let (_, cause, remedy) = ADVICE[info.code as usize];
        let anchor = info.wire.to_ascii_lowercase();
        text.push_str(&format!(
            "### `{}` {{#{anchor}}}\n\nStatus {}. {} {}\n\n",
            info.wire,
            info.status,
            sentence(info.message),
            cause
        ));
        text.push_str(&format!("**Remedy:** {remedy}\n\n"));
        let operations: Vec<String> = operations
            .iter()
            .filter(|entry| entry.spec.fails.contains(&info.code))
            .filter_map(|entry| entry.spec.client_name())
            .map(|name| format!("[`{name}`]({})", docs_links::address(name)))
            .collect();
        if !operations.is_empty() && operations.len() <= 12 {
            text.push_str(&format!("Returned by {}.\n\n", operations.join(", ")));
        }
    }
    text
}

fn sentence(message: &str) -> String {
    if message.ends_with('.') { message.to_owned() } else { format!("{message}.") }
}

/// The cause of every error code and the remedy for it, in the order of [`Code`].
const ADVICE: &[(Code, &str, &str)] = &[
    (
        Code::InvalidRequest,
        "A field or parameter is missing, unknown or has a value that the operation does not accept. `data.field` names the field.",
        "Read `error`: it names the field and the accepted values. Unknown fields are often misspelled ones.",
    ),
    (
        Code::MalformedJson,
        "The body could not be parsed, for example because of a missing quotation mark or a comma after the last field.",
        "Create the body with a JSON library instead of joining strings. In a shell, put the body in single quotes.",
    ),
    (
        Code::IdempotencyKeyInvalid,
        "The header `Idempotency-Key` is empty, too long or contains characters that are not printable ASCII.",
        "Use a short key that describes the logical operation, such as `welcome-66f1a2b3c4d5e6f708192a3b`.",
    ),
    (
        Code::IntegrationAccountRequired,
        "`data.connections` lists the connections that the request can use, with their IDs and names.",
        "Repeat the request with `connectionId` set to one of these IDs.",
    ),
    (
        Code::InvalidApiKey,
        "The header `Authorization` is missing or malformed, or the key was revoked. Keys of the test and the live environment both \
             work at the same address.",
        "Send `Authorization: Bearer sk_…`. If the key was lost or revoked, create another one under Developers, API keys.",
    ),
    (
        Code::NotSignedIn,
        "The operation belongs to a member of the account, and an API key cannot call it.",
        "Sign in in the dashboard, or get a token from `POST /v1/auth/login` and send it as the bearer token.",
    ),
    (
        Code::SignInFailed,
        "The response is the same for every cause, so that no one can test which addresses have accounts.",
        "Check the address and the password. After several failures, wait a few minutes. An admin can send a password-reset link; the \
             operator can create one with `mailmill reset-link`.",
    ),
    (
        Code::SecondFactorRequired,
        "The password is correct, and the user has set up an authenticator app.",
        "Send the sign-in again with the current `code`. Each recovery code works once.",
    ),
    (
        Code::InvalidSignature,
        "A mail service or another system sent a request whose signature or secret does not match, that is too old, or that \
         reuses an ID.",
        "Compare the secret in the sending system with the one in Mailmill. Check the clock of the server with `mailmill \
         doctor`.",
    ),
    (
        Code::InsufficientPermissions,
        "The key or the role of the user lacks the permission of this operation. The header `WWW-Authenticate` names it.",
        "Create a key with this permission. The permissions of an existing key cannot change.",
    ),
    (
        Code::FreshSignInRequired,
        "The operation changes how users get access, and the last sign-in was some time ago.",
        "Confirm the password with `POST /v1/auth/confirm`, and repeat the request.",
    ),
    (
        Code::SignUpClosed,
        "The setting `accounts.sign_up` is off, or the installation has no owner yet.",
        "Ask an owner or admin of an account for an invitation.",
    ),
    (
        Code::NotFound,
        "The ID is wrong, the object was deleted, or it belongs to another project, account or environment. The response does not \
             distinguish these cases. A live key does not find test data.",
        "Check the ID, `projectId` and the environment of the key. `GET /v1/projects` lists the projects that the key can use.",
    ),
    (Code::MethodNotAllowed, "", "Use one of the methods in the header `Allow`."),
    (
        Code::NeverAccepted,
        "The body is not in the format of the mail service, has too many events, or has the ID of an earlier request with other content.",
        "Check which service uses this URL. `lastRejection` of `GET /v1/mail-services` shows the reason.",
    ),
    (
        Code::RequestTimeout,
        "The body arrived more slowly than `server.body_min_bytes_per_second`, or not at all.",
        "Repeat the request. Over a slow connection, split a large bulk request.",
    ),
    (
        Code::ContactExists,
        "An email address occurs once in a project. `data.id` is the existing contact.",
        "Change the existing contact with `PATCH /v1/contacts/{id}`, or use `POST /v1/contacts/bulk`, which creates or updates.",
    ),
    (
        Code::BrandExists,
        "A website can be imported once in each environment. `data.projectId` is the existing brand.",
        "Use the existing brand. To read the website again, call `POST /v1/projects/import/{projectId}/retry`.",
    ),
    (Code::NameTaken, "`data.id` is the object with this name.", "Choose another name, or use the existing object."),
    (
        Code::LimitReached,
        "`error` names the limit. Limits keep one account from using the memory and disk of all others.",
        "Delete objects that you no longer need.",
    ),
    (
        Code::ModelNotConfigured,
        "The settings contain no enabled model with this name under `[models]`.",
        "Omit `model`, or add the model to the settings. See [briefs and models](briefs-and-models.md#language-models).",
    ),
    (
        Code::ModelFailed,
        "The language model refused, did not respond in time, or gave no valid response. `error` contains the reason.",
        "Repeat the request, or set `model` to `composer`. The operator can let the composer step in with `language_model.on_failure`.",
    ),
    (
        Code::EditFailed,
        "The instruction was unclear, or the language model failed or did not follow the brief. `data.editId` is the edit.",
        "Describe one change per sentence, with the text or block that it concerns. `error` suggests a similar instruction that works.",
    ),
    (
        Code::VersionConflict,
        "Another user or program saved a version after the one that the request was based on. `data.version` is the current version.",
        "Get the email, apply the change to its current version, and send the request with this version.",
    ),
    (
        Code::NotExportable,
        "The generation is not complete, or its emails do not have this format: imported HTML has no MJML.",
        "`GET /v1/export/status/{conversationId}` lists the available formats.",
    ),
    (
        Code::ProviderNotConnected,
        "No account of the platform is connected for this brand in this environment.",
        "Open `data.connectUrl` and connect the account, or call `POST /v1/connections/{provider}`.",
    ),
    (
        Code::ProviderReconnectRequired,
        "The platform rejects the stored key or tokens, they lack a scope, or the master key of Mailmill was replaced.",
        "Open `data.connectUrl`, and sign in to the platform again, or enter a new key with the [required scopes](connections.md).",
    ),
    (
        Code::WrongState,
        "For example, a campaign that is being sent cannot be edited. `error` names the state; `data.status`, if present, is \
         the current status.",
        "Get the object, and choose an operation that its status allows.",
    ),
    (
        Code::OnHold,
        "After a restore or a copy, waiting work is held, because it may already have been done.",
        "Check what is waiting with `mailmill resume`, cancel what must not be sent, then run `mailmill resume --yes`. See \
             [operating](operating.md#after-a-restore-or-on-a-copy).",
    ),
    (
        Code::TransportNotConfigured,
        "Live mail needs a transport. Mail from test keys goes to the built-in inbox and needs none.",
        "Set `mail.relay`, or `mail.direct = true`, and restart the service. See [sending domains](sending-domains.md).",
    ),
    (
        Code::DomainNotVerified,
        "Live mail is sent only from domains whose DNS records prove that they are yours.",
        "Add the domain, publish its records, and verify it. See [sending domains](sending-domains.md).",
    ),
    (
        Code::RecipientNotSendable,
        "`data.reason` says why: the address bounced, is suppressed, or the contact is not subscribed.",
        "Do not send to this address. A transactional message may go to an unsubscribed contact: set `transactional`.",
    ),
    (
        Code::NotValidated,
        "The campaign has a `minimumScore`, and its email has a lower score or has not been checked yet. `data.findings` lists the worst \
             findings.",
        "Fix the findings under Checks, or lower `minimumScore`. If there is no score yet, try again in a few seconds. See \
             [checks](checks.md).",
    ),
    (Code::AlreadySetUp, "", "Sign in. If the password is lost, run `mailmill reset-link --email OWNER` on the server."),
    (
        Code::IdempotencyConflict,
        "The key was used in the last 24 hours with another method, path or body.",
        "Use one key per logical operation, and a new key for a different request.",
    ),
    (Code::AnswerErased, "", "Do not repeat the request: it had its effect. Get the object to see the result."),
    (
        Code::PayloadTooLarge,
        "The maximum is 1 MiB, 10 MiB for bulk operations, and 256 MiB for uploaded files, unless the settings under `[limits]` differ.",
        "Split the request, or upload a file.",
    ),
    (
        Code::UriTooLong,
        "",
        "Use fewer or shorter parameters, for example fewer tags in a filter. A segment can hold a long filter.",
    ),
    (
        Code::UnsupportedMediaType,
        "Bodies are JSON, except for uploads, which are `multipart/form-data`.",
        "Set the header `Content-Type`. `curl -d` without it sends a form.",
    ),
    (Code::HeadersTooLarge, "", "Remove cookies and headers that the API does not need."),
    (
        Code::RateLimitExceeded,
        "All keys of an account share its request budget per minute and group of operations.",
        "Wait for the seconds in `Retry-After`. Use bulk operations instead of many single requests. The page Plan and limits shows the budgets.",
    ),
    (
        Code::SendingCapacity,
        "More direct sends are waiting than the plan's rate can send in a few seconds.",
        "Repeat the same request with the same `Idempotency-Key` after `data.retryAfterMs`. Campaigns and batches wait automatically.",
    ),
    (
        Code::QuotaExceeded,
        "`data.retryAfterMs` is the time until the day or month ends, in UTC.",
        "Wait, or ask the operator for another plan: `mailmill accounts plan`.",
    ),
    (
        Code::Internal,
        "This is a bug, the disk failed, or a data file is damaged. An operation that writes in one step has had no effect.",
        "Repeat the request. If the error persists, search the server's log for `metadata.requestId` and report it with the log line.",
    ),
    (Code::IdempotencyInProgress, "", "Wait for the seconds in `Retry-After`, and repeat the request with the same key."),
    (Code::LimiterUnavailable, "", "Wait for the seconds in `Retry-After`, and repeat the request."),
    (
        Code::StorageFull,
        "The disk of the data folder has less free space than `data.free_mib_min`. Unsubscribe links and redirects still work.",
        "Free space on the disk. The service accepts writes again without a restart.",
    ),
    (
        Code::ProviderUnavailable,
        "Mailmill has already repeated the request to the platform.",
        "Wait for the seconds in `Retry-After`. Waiting imports continue automatically.",
    ),
    (
        Code::Unavailable,
        "The service is starting, stopping or busy, or many large requests share its memory.",
        "Repeat the request after the seconds in `Retry-After`. If the error persists, check `/health/ready`.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_advice_at_its_index() {
        assert_eq!(ADVICE.len(), CODES.len());
        for (index, (code, ..)) in ADVICE.iter().enumerate() {
            assert_eq!(*code as usize, index, "{}", CODES[index].wire);
        }
    }
}
