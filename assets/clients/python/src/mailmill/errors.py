"""The errors that this package raises."""

from __future__ import annotations

import re
from typing import Any, Final

# Characters that control a terminal or reverse a line. Errors are printed and logged.
_CONTROLS: Final = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]+")


def plain(text: str) -> str:
    """Returns the text without characters that control a terminal or reverse a line."""
    return _CONTROLS.sub(" ", text)


class MailmillError(Exception):
    """The base of every error that this package raises.

    Example:
        try:
            client.contacts.create(project_id=project_id, email="not an address")
        except MailmillError as error:
            print(error.code, error.field, error.request_id)
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        field: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        self.message = plain(message)
        super().__init__(self.message)
        self.code = plain(code)
        """The API's code, such as `CONTACT_EXISTS`; or a code of this package, such as `NETWORK_ERROR`."""
        self.status = status
        """The HTTP status; None if there was no response."""
        self.field = None if field is None else plain(field)
        """The field with the invalid value, such as `email` or `subscribers[2].email`."""
        self.request_id = None if request_id is None else plain(request_id)
        """The ID of the request in the server's log."""
        self.retry_after = retry_after
        """The number of seconds to wait before retrying, if the server states it."""
        self.data: dict[str, Any] = data or {}
        """More details about the error, such as `id` of the existing contact; empty if there are none."""


class BadRequestError(MailmillError):
    """Status 400: a value of the request is invalid. `field` names it."""


class AuthenticationError(MailmillError):
    """Status 401: the API key is missing, invalid or revoked."""


class PermissionDeniedError(MailmillError):
    """Status 403: the API key lacks a permission."""


class NotFoundError(MailmillError):
    """Status 404: the object does not exist, or belongs to another project or account."""


class ConflictError(MailmillError):
    """Status 409: the request conflicts with the current state."""


class RateLimitError(MailmillError):
    """Status 429: a request budget, the sending capacity or a quota is used up. `retry_after` says when to retry."""


class ServerError(MailmillError):
    """Status 5xx: the server failed or is temporarily unavailable."""


class NetworkError(MailmillError):
    """There is no response: the connection failed."""


class RequestTimeoutError(NetworkError):
    """There is no complete response within the timeout."""


class JobFailedError(MailmillError):
    """A generation, import or other job failed. `data` is its last status."""


class WebhookVerificationError(MailmillError):
    """A webhook request has no valid signature, or is older than the tolerance."""


_BY_STATUS: dict[int, type[MailmillError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def class_of_status(status: int) -> type[MailmillError]:
    """Returns the class of the errors with this HTTP status."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else MailmillError)
