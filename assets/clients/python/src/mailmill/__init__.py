"""The Python client of Mailmill, a self-hosted email marketing service.

Example:
    from mailmill import Mailmill

    client = Mailmill()  # reads MAILMILL_KEY and MAILMILL_URL
    for project in client.projects.list():
        print(project["name"])
"""

from . import types, webhooks
from ._async import AsyncMailmill
from ._client import AsyncList, List
from ._request import UNSET, AsyncUpload, CallOptions, ResponseInfo, Upload
from ._sync import Mailmill
from ._version import VERSION as __version__
from .errors import (
    AuthenticationError,
    BadRequestError,
    ConflictError,
    JobFailedError,
    MailmillError,
    NetworkError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    WebhookVerificationError,
)

__all__ = [
    "UNSET",
    "AsyncList",
    "AsyncMailmill",
    "AsyncUpload",
    "AuthenticationError",
    "BadRequestError",
    "CallOptions",
    "ConflictError",
    "JobFailedError",
    "List",
    "Mailmill",
    "MailmillError",
    "NetworkError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestTimeoutError",
    "ResponseInfo",
    "ServerError",
    "Upload",
    "WebhookVerificationError",
    "__version__",
    "types",
    "webhooks",
]
