"""Verifies the requests that the server sends to webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, cast

from .errors import WebhookVerificationError

__all__ = ["WebhookEvent", "verify"]

_TOLERANCE_S = 300


class WebhookEvent(TypedDict):
    """An event that the server sends to a webhook."""

    id: str
    """The ID of the event, which is the same in every attempt. Use it to ignore repeats."""
    type: str
    """The type, such as `subscriber.added`."""
    timestamp: str
    """When the event was created, in ISO 8601."""
    apiVersion: str
    data: dict[str, Any]
    metadata: dict[str, str]


def verify(
    raw_body: bytes | str, headers: Mapping[str, str], secret: str, *, tolerance: float | None = None
) -> WebhookEvent:
    """Verifies that a webhook request comes from the server, and returns its event.

    Both forms of signature are supported: Standard Webhooks (`webhook-signature`), and `X-Service-Signature` with its alternate, whatever
    word the server's settings have in place of `Service`. If a request has both, the first is verified, because it includes the time.

    Args:
        raw_body: The exact bytes of the body, before any parsing.
        headers: The request's headers.
        secret: The webhook's secret as it was shown: `whsec_…`.
        tolerance: The greatest difference in seconds between the signed time and this machine's time; 300 if absent, and 0 allows any.
            Requests with only `X-Service-Signature` have no time of their own: their event's time is checked if `tolerance` is given,
            which also rejects events that you deliver again later.

    Raises:
        WebhookVerificationError: The request is not signed with the secret, or is too old.

    Example:
        event = webhooks.verify(raw_body, request.headers, os.environ["WEBHOOK_SECRET"])
    """
    if not secret:
        raise _refused("SECRET_MISSING", "The secret is empty. Pass the webhook's secret, which starts with whsec_.")
    if not isinstance(raw_body, (bytes, bytearray, str)):
        raise _refused("BODY_PARSED", "raw_body must be the body as text or bytes, before any parsing.")
    body = raw_body.encode() if isinstance(raw_body, str) else bytes(raw_body)
    values = {name.lower(): value for name, value in headers.items()}
    given = values.get("webhook-signature")
    if given is not None:
        _verify_standard(body, values, given, secret, _TOLERANCE_S if tolerance is None else tolerance)
        return _parse(body)
    signatures = [value for name, value in values.items() if re.fullmatch(r"x-.+-signature(-alternate)?", name)]
    if not signatures:
        raise _refused("SIGNATURE_MISSING", "The request has no signature.")
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not any([hmac.compare_digest(text.lower().encode(), expected.encode()) for text in signatures]):
        raise _wrong()
    event = _parse(body)
    if tolerance:
        _check_time(datetime.fromisoformat(event["timestamp"].replace("Z", "+00:00")).timestamp(), tolerance)
    return event


def _verify_standard(body: bytes, values: Mapping[str, str], given: str, secret: str, tolerance: float) -> None:
    """Verifies the signature of https://www.standardwebhooks.com."""
    identifier, seconds = values.get("webhook-id"), values.get("webhook-timestamp", "")
    if identifier is None or not re.fullmatch(r"[0-9]{1,12}", seconds):
        message = "The request has webhook-signature, but no valid webhook-id and webhook-timestamp."
        raise _refused("SIGNATURE_MISSING", message)
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    # Anyone can sign with an empty key.
    if not key:
        raise _refused("SECRET_INVALID", "The secret is not base64. Pass the webhook's secret as it was shown.")
    expected = hmac.new(key, f"{identifier}.{seconds}.".encode() + body, hashlib.sha256).digest()
    entry = b"v1," + base64.b64encode(expected)
    if not any([hmac.compare_digest(one.encode(), entry) for one in given.split(" ")]):
        raise _wrong()
    _check_time(float(seconds), tolerance)


def _check_time(seconds: float, tolerance: float) -> None:
    if tolerance > 0 and abs(time.time() - seconds) > tolerance:
        message = f"The request's time differs by more than {tolerance} seconds from this machine's time."
        raise _refused("TIMESTAMP_OUTSIDE_TOLERANCE", message)


def _parse(body: bytes) -> WebhookEvent:
    try:
        return cast(WebhookEvent, json.loads(body))
    except ValueError as cause:
        raise _refused("BODY_INVALID", "The body is signed, but it is not JSON.") from cause


def _wrong() -> WebhookVerificationError:
    message = "The signature does not match. Check the secret, and that raw_body has the exact bytes of the request."
    return _refused("SIGNATURE_WRONG", message)


def _refused(code: str, message: str) -> WebhookVerificationError:
    return WebhookVerificationError(message, code=code)
