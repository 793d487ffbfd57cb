"""What both clients do before and after a request: settings, encoding, decoding, and whether to retry."""

from __future__ import annotations

import base64
import email.utils
import json
import os
import platform
import random
import re
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from typing import IO, Any, Final, TypedDict, Union, cast
from urllib.parse import quote, urlencode

import httpx

from . import errors
from ._version import VERSION

TIMEOUT_S: Final = 60.0
UPLOAD_TIMEOUT_S: Final = 600.0
RETRIES: Final = 2
# The pauses grow from half a second to eight seconds.
BACKOFF_S: Final = 0.5
BACKOFF_MAX_S: Final = 8.0
# A request budget is renewed after 60 seconds; the client does not wait longer for a retry.
RETRY_AFTER_MAX_S: Final = 60.0
CHUNK: Final = 65_536
# The greatest size of a response. A page of a list has at most 100 items, and an email at most a few megabytes.
RESPONSE_BYTES_MAX: Final = 64 * 1024 * 1024

Upload = Union[str, bytes, IO[bytes], Iterable[bytes]]
"""A file to upload: text, bytes, a file opened in binary mode, or an iterable of bytes. A failed upload of an iterable is not retried,
because its beginning has been consumed."""

AsyncUpload = Union[str, bytes, IO[bytes], Iterable[bytes], AsyncIterable[bytes]]
"""Like Upload, or an asynchronous iterable of bytes."""


class Unset:
    """The default of optional arguments, because None means `null` in the API."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset()


class ResponseInfo(TypedDict):
    """Details of a successful response."""

    status: int
    headers: httpx.Headers
    request_id: str | None
    """The ID of the request in the server's log."""
    replayed: bool
    """Whether the server repeated the response to an earlier request with the same idempotency key."""
    idempotency_key: str | None
    """The idempotency key that was sent."""


class CallOptions(TypedDict, total=False):
    """The settings of one call."""

    idempotency_key: str
    """Identifies the operation: a repeat within 24 hours returns the first response. By default, each call of an operation that supports a key
    gets a random one, which its retries share. Choose a key, such as f"welcome-{contact['id']}", so that a repeat by your own program is safe,
    too. A key has 1 to 100 ASCII characters."""
    timeout: float
    """The seconds that an attempt may take, until the end of the response."""
    max_retries: int
    """How often a failed request is retried."""
    headers: Mapping[str, str]
    """More headers."""
    on_response: Callable[[ResponseInfo], object]
    """Receives details of the successful response."""


class Settings:
    """The settings of a client."""

    def __init__(
        self,
        api_key: str | None,
        base_url: str | None,
        timeout: float | None,
        max_retries: int,
        headers: Mapping[str, str] | None,
    ) -> None:
        self.api_key = _setting(api_key, "MAILMILL_KEY", "api_key")
        address = _setting(base_url, "MAILMILL_URL", "base_url")
        if "@" in address:
            # The message does not repeat the address, because it contains a password.
            message = "base_url contains a user name or password. Remove it: the API key identifies the caller."
            raise _invalid(message, "base_url")
        try:
            url = httpx.URL(address)
        except httpx.InvalidURL:
            url = httpx.URL("")
        if url.scheme not in ("http", "https") or not url.host or "?" in address or "#" in address:
            raise _invalid(f"base_url is {address!r}. It must be a URL such as https://mail.example.com.", "base_url")
        if not all("!" <= character <= "~" for character in self.api_key):
            raise _invalid("api_key contains a space or another character that no key contains.", "api_key")
        self.base_url = address.rstrip("/").removesuffix("/v1") + "/v1"
        self.timeout = timeout
        self.max_retries = max_retries
        self.headers = dict(headers or {})


class Call:
    """One call of an operation, which may take several attempts."""

    def __init__(
        self,
        settings: Settings,
        method: str,
        path: str,
        fields: Mapping[str, Any] | None,
        options: CallOptions | None,
        *,
        keyed: bool = False,
        form: bool = False,
        answer: str = "",
        encoded: str | None = None,
    ) -> None:
        self.options: CallOptions = options or {}
        self.method = method
        self.url = settings.base_url + path
        self.answer = answer
        self.max_retries = self.options.get("max_retries", settings.max_retries)
        self.key = _idempotency_key(self.options.get("idempotency_key"), keyed)
        self.headers = {
            "Authorization": f"Bearer {settings.api_key}",
            "User-Agent": f"mailmill-python/{VERSION} python/{platform.python_version()}",
            **settings.headers,
            **self.options.get("headers", {}),
        }
        if self.key is not None:
            self.headers["Idempotency-Key"] = self.key
        self.timeout = self.options.get("timeout") or settings.timeout or (UPLOAD_TIMEOUT_S if form else TIMEOUT_S)
        self._content: bytes | None = None
        self._form: Form | None = None
        given = {name: value for name, value in (fields or {}).items() if value is not UNSET}
        if method in ("GET", "DELETE"):
            query = urlencode([(name, _query_value(value)) for name, value in given.items() if value is not None])
            self.url += f"?{query}" if query else ""
        elif form:
            self._form = Form(given)
            self.headers["Content-Type"] = self._form.content_type
        elif fields is not None:
            if encoded is not None and encoded in given and not isinstance(given[encoded], str):
                given[encoded] = base64.b64encode(read_all(given[encoded])).decode()
            self._content = json.dumps(given, default=_json_value, ensure_ascii=False, allow_nan=False).encode()
            self.headers["Content-Type"] = "application/json"

    def content(self) -> bytes | Iterator[bytes] | None:
        """Returns the body for one attempt of a synchronous client."""
        return self._form.chunks() if self._form else self._content

    def async_content(self) -> bytes | AsyncIterator[bytes] | None:
        """Returns the body for one attempt of an asynchronous client."""
        return self._form.async_chunks() if self._form else self._content

    def read(self, response: httpx.Response, content: bytes) -> tuple[Any, int | None]:
        """Returns the response's data, and the total number of items of a list. Raises the response's error."""
        result = self._decode(response, content)
        if on_response := self.options.get("on_response"):
            on_response(
                {
                    "status": response.status_code,
                    "headers": response.headers,
                    "request_id": response.headers.get("x-request-id"),
                    "replayed": response.headers.get("idempotent-replayed") == "true",
                    "idempotency_key": self.key,
                }
            )
        return result

    def _decode(self, response: httpx.Response, content: bytes) -> tuple[Any, int | None]:
        if response.is_success and self.answer == "text":
            return content.decode(errors="replace"), None
        if response.is_success and self.answer == "bytes":
            return content, None
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            # An intermediary, such as a proxy, has responded; the error below says so.
            body = None
        if not isinstance(body, dict):
            body = {}
        if response.is_success and body.get("success") is True:
            return body.get("data"), body.get("count")
        raise _failure(response, body)

    def timeout_error(self, sent: bool = True) -> errors.MailmillError:
        """Returns the error for an attempt that took too long. `sent` says whether the server may have received the request."""
        message = f"No complete response within {self.timeout} seconds. Set a longer timeout."
        return errors.RequestTimeoutError(message, code="TIMEOUT", data={"sent": sent})

    def network_error(self, cause: httpx.RequestError) -> errors.MailmillError:
        """Returns the error for an attempt without a complete response."""
        sent = not isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
        if isinstance(cause, httpx.TimeoutException):
            return self.timeout_error(sent)
        data = {"reason": errors.plain(str(cause)).rstrip(".") or type(cause).__name__, "sent": sent}
        message = f"The connection to {self.url.partition('?')[0]} failed: {data['reason']}. Check base_url and that the server runs."
        return errors.NetworkError(message, code="NETWORK_ERROR", data=data)

    def pause(self, error: errors.MailmillError, attempt: int) -> float | None:
        """Returns the seconds before the next attempt; None if the request must not be repeated."""
        if attempt >= self.max_retries or (self._form is not None and not self._form.rewind()):
            return None
        # An attempt whose outcome is unknown may be repeated if the operation has no second effect.
        repeatable = self.method != "POST" or self.key is not None
        if isinstance(error, errors.NetworkError):
            if not repeatable and error.data.get("sent", True):
                return None
        elif error.status is None or (error.status != 429 and error.status < 500):
            return None
        elif not repeatable and error.code == "UNEXPECTED_RESPONSE":
            # The API never returns 5xx after an effect, but a proxy may.
            return None
        if error.retry_after is None:
            return random.uniform(0, min(BACKOFF_MAX_S, BACKOFF_S * 2**attempt))
        return None if error.retry_after > RETRY_AFTER_MAX_S else error.retry_after + random.uniform(0, BACKOFF_S)


class Body:
    """The body of a response, as far as it has arrived."""

    def __init__(self, status: int) -> None:
        self._status = status
        self._chunks: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > RESPONSE_BYTES_MAX:
            message = f"The response is larger than {RESPONSE_BYTES_MAX} bytes. Request fewer items."
            raise errors.class_of_status(self._status)(message, code="RESPONSE_TOO_LARGE", status=self._status)
        self._chunks.append(chunk)

    def content(self) -> bytes:
        return b"".join(self._chunks)


_END: ContextVar[float | None] = ContextVar("mailmill_end", default=None)
"""When the attempt of this thread must end, in the time of `time.monotonic`; None outside of attempts."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Limits an attempt of a synchronous client.

    httpx limits each read and write, so a server that sends one byte at a time would never be too slow. See `limit_connection`.
    """
    token = _END.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _END.reset(token)


def time_left(limit: float | None = None) -> float | None:
    """Returns the seconds that the attempt has left, at most `limit`. Raises an error if there are none."""
    end = _END.get()
    if end is None:
        # The caller's own request, with the httpx client that it has passed.
        return limit
    left = end - time.monotonic()
    if left <= 0:
        raise httpx.ReadTimeout("The attempt took too long.")
    return left if limit is None else min(left, limit)


def limit_connection(event: str, info: Mapping[str, Any]) -> None:
    """Receives what httpx reports about an attempt, and limits the reads and writes of new connections to the time that is left.

    Later attempts use the same connections, so the limit is that of the attempt that reads.
    """
    if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
        return
    stream = info["return_value"]
    read, write = stream.read, stream.write

    def limited_read(size: int, timeout: float | None = None) -> bytes:
        return cast(bytes, read(size, timeout=time_left(timeout)))

    def limited_write(data: bytes, timeout: float | None = None) -> None:
        # The time of one write is that of each part that the connection accepts.
        for start in range(0, len(data), CHUNK):
            write(data[start : start + CHUNK], timeout=time_left(timeout))

    stream.read, stream.write = limited_read, limited_write


class Form:
    """A form as in RFC 7578, with the file last, because the server reads a file while it arrives."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        boundary = f"mailmill-{uuid.uuid4()}"
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self._file: Any = fields["file"]
        self._start_of_file = self._file.tell() if _is_seekable(self._file) else None
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{_form_value(value)}\r\n'
            for name, value in fields.items()
            if name != "file" and value is not None
        ]
        parts.append(
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        self._before = "".join(parts).encode()
        self._after = f"\r\n--{boundary}--\r\n".encode()

    def chunks(self) -> Iterator[bytes]:
        yield self._before
        if isinstance(self._file, AsyncIterable):
            raise TypeError("file is an asynchronous iterable, which only AsyncMailmill reads.")
        yield from chunks_of(self._file)
        yield self._after

    async def async_chunks(self) -> AsyncIterator[bytes]:
        yield self._before
        if isinstance(self._file, AsyncIterable):
            async for chunk in self._file:
                yield chunk
        else:
            for chunk in chunks_of(self._file):
                yield chunk
        yield self._after

    def rewind(self) -> bool:
        """Prepares the next attempt; returns whether that is possible."""
        if isinstance(self._file, (str, bytes)):
            return True
        if self._start_of_file is None:
            return False
        self._file.seek(self._start_of_file)
        return True


def path_part(value: str | int) -> str:
    """Returns the value for a path, encoded."""
    # A URL drops the parts `.` and `..`, so the request would reach another operation.
    if not isinstance(value, (str, int)) or value in ("", ".", ".."):
        raise _invalid(f"A part of the path is {value!r}. It must be the ID of an object.", None)
    return quote(str(value), safe="")


def read_all(file: Upload) -> bytes:
    """Returns the bytes of a file."""
    return b"".join(chunks_of(file))


def chunks_of(file: Upload) -> Iterator[bytes]:
    """Returns the bytes of a file, in chunks."""
    if isinstance(file, str):
        yield file.encode()
    elif isinstance(file, (bytes, bytearray, memoryview)):
        yield bytes(file)
    elif hasattr(file, "read"):
        while chunk := file.read(CHUNK):
            if not isinstance(chunk, bytes):
                raise TypeError("file is open in text mode. Open it in binary mode: open(path, 'rb').")
            yield chunk
    else:
        yield from file


def _is_seekable(file: Any) -> bool:
    return bool(hasattr(file, "seekable") and file.seekable())


def _json_value(value: Any) -> Any:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    raise TypeError(f"{value!r} is not a JSON value.")


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        # A comma separates values, so a list with a comma in a value is sent as JSON.
        return json.dumps(list(value)) if any("," in str(one) for one in value) else ",".join(map(str, value))
    return str(value)


def _form_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, default=_json_value, ensure_ascii=False)


def _failure(response: httpx.Response, body: dict[str, Any]) -> errors.MailmillError:
    data = body["data"] if isinstance(body.get("data"), dict) else None
    status = response.status_code
    cls = errors.class_of_status(status)
    request_id = response.headers.get("x-request-id")
    seconds = _retry_after(response.headers.get("retry-after"), (data or {}).get("retryAfterMs"))
    if isinstance(body.get("error"), str):
        field = (data or {}).get("field")
        return cls(
            body["error"],
            code=str(body.get("code") or body["error"]),
            status=status,
            field=field if isinstance(field, str) else None,
            request_id=request_id,
            retry_after=seconds,
            data=data,
        )
    if location := response.headers.get("location"):
        message = f"The server redirects to {location}. Set base_url to that server."
    else:
        message = (
            f"The response with status {status} is not a response of the API. Check base_url and the proxy before the server."
        )
    return cls(message, code="UNEXPECTED_RESPONSE", status=status, request_id=request_id, retry_after=seconds, data=data)


def _retry_after(header: str | None, milliseconds: object) -> float | None:
    """Reads the seconds of `Retry-After`, which is a number or a date (RFC 9110)."""
    if header is not None:
        if header.isdigit():
            return float(header)
        try:
            return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
        except (TypeError, ValueError):
            pass
    return milliseconds / 1000 if isinstance(milliseconds, (int, float)) else None


def _setting(given: str | None, name: str, option: str) -> str:
    value = given or os.environ.get(name)
    if not value:
        raise _invalid(f"{option} is missing. Pass it to the client, or set {name} in the environment.", option)
    return value


def _idempotency_key(given: str | None, keyed: bool) -> str | None:
    if given is None:
        return str(uuid.uuid4()) if keyed else None
    if not re.fullmatch("[ -~]{1,100}", given) or given.strip() != given:
        message = "idempotency_key must have 1 to 100 ASCII characters, without line breaks, and without a space at its start or end."
        raise _invalid(message, "idempotency_key")
    if not keyed:
        # The server would ignore the key, and a retry could repeat the effect.
        raise _invalid("This operation does not support an idempotency_key. Remove it.", "idempotency_key")
    return given


def _invalid(message: str, field: str | None) -> errors.MailmillError:
    return errors.MailmillError(message, code="INVALID_OPTION", field=field)
