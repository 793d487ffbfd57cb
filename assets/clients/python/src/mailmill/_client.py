"""Sends requests: synchronously and asynchronously. The operations are in `_sync` and `_async`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Generic, TypeVar, cast

import anyio
import httpx

from . import errors
from ._request import RETRIES, Body, Call, CallOptions, Settings, Unset, deadline, limit_connection, time_left

Page = TypeVar("Page")
Item = TypeVar("Item")
Started = TypeVar("Started")
Status = TypeVar("Status")

# The largest page that the API returns.
PAGE_MAX = 100


class Client:
    """The synchronous client without its operations."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = None,
        max_retries: int = RETRIES,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Creates a client.

        Args:
            api_key: The API key; `MAILMILL_KEY` of the environment if absent.
            base_url: The address of the server, with or without `/v1`; `MAILMILL_URL` of the environment if absent.
            timeout: The seconds that an attempt may take, until the end of the response; 60 if absent, and 600 for uploads.
            max_retries: How often a failed request is retried.
            headers: Headers for every request.
            http_client: The httpx client to use, for example with a proxy. It is not closed with this client.
        """
        self._settings = Settings(api_key, base_url, timeout, max_retries, headers)
        self._owned = http_client is None
        self._http = http_client or httpx.Client()

    def close(self) -> None:
        """Closes the connections."""
        if self._owned:
            self._http.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._settings.base_url!r})"

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _send(self, call: Call) -> tuple[Any, int | None]:
        attempt = 0
        while True:
            try:
                return call.read(*self._attempt(call))
            except errors.MailmillError as error:
                wait = call.pause(error, attempt)
                if wait is None:
                    raise
            time.sleep(wait)
            attempt += 1

    def _attempt(self, call: Call) -> tuple[httpx.Response, bytes]:
        """Sends the request once. Returns the response and its body."""
        try:
            with deadline(call.timeout):
                request = self._http.build_request(
                    call.method,
                    call.url,
                    headers=call.headers,
                    content=call.content(),
                    timeout=call.timeout,
                    extensions={"trace": limit_connection},
                )
                response = self._http.send(request, stream=True, follow_redirects=False)
                try:
                    body = Body(response.status_code)
                    for chunk in response.iter_bytes():
                        body.add(chunk)
                        time_left()
                finally:
                    response.close()
                return response, body.content()
        except httpx.RequestError as cause:
            raise call.network_error(cause) from cause


class AsyncClient:
    """The asynchronous client without its operations."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = None,
        max_retries: int = RETRIES,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Creates a client; see Mailmill for the arguments."""
        self._settings = Settings(api_key, base_url, timeout, max_retries, headers)
        self._owned = http_client is None
        self._http = http_client or httpx.AsyncClient()

    async def close(self) -> None:
        """Closes the connections."""
        if self._owned:
            await self._http.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._settings.base_url!r})"

    async def __aenter__(self: AsyncSelf) -> AsyncSelf:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def _send(self, call: Call) -> tuple[Any, int | None]:
        attempt = 0
        while True:
            try:
                return call.read(*await self._attempt(call))
            except errors.MailmillError as error:
                wait = call.pause(error, attempt)
                if wait is None:
                    raise
            await anyio.sleep(wait)
            attempt += 1

    async def _attempt(self, call: Call) -> tuple[httpx.Response, bytes]:
        """Sends the request once. Returns the response and its body."""
        try:
            with anyio.move_on_after(call.timeout):
                request = self._http.build_request(
                    call.method, call.url, headers=call.headers, content=call.async_content(), timeout=call.timeout
                )
                response = await self._http.send(request, stream=True, follow_redirects=False)
                try:
                    body = Body(response.status_code)
                    async for chunk in response.aiter_bytes():
                        body.add(chunk)
                finally:
                    await response.aclose()
                return response, body.content()
        except httpx.RequestError as cause:
            raise call.network_error(cause) from cause
        raise call.timeout_error()


Self = TypeVar("Self", bound=Client)
AsyncSelf = TypeVar("AsyncSelf", bound=AsyncClient)


class List(Generic[Page, Item]):
    """A list of the API. Iterate over it to receive all items, or call `page` to receive one page. Nothing is requested before.

    Example:
        for contact in client.contacts.list(project_id=project_id):
            print(contact["email"])
    """

    def __init__(self, load: Callable[[Mapping[str, Any]], tuple[Any, int | None]], paging: Paging) -> None:
        self._load = load
        self._paging = paging

    def page(self) -> Page:
        """Requests one page."""
        return cast(Page, self._load(self._paging.fields)[0])

    def pages(self) -> Iterator[Page]:
        """Returns the pages, each with up to `limit` items; 100 if there is no `limit`."""
        fields: Mapping[str, Any] | None = self._paging.first()
        while fields is not None:
            data, count = self._load(fields)
            yield data
            fields = self._paging.following(fields, data, count)

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from self._paging.items_of(page)


class AsyncList(Generic[Page, Item]):
    """A list of the API. Iterate over it to receive all items, or await `page` to receive one page. Nothing is requested before.

    Example:
        async for contact in client.contacts.list(project_id=project_id):
            print(contact["email"])
    """

    def __init__(self, load: Callable[[Mapping[str, Any]], Awaitable[tuple[Any, int | None]]], paging: Paging) -> None:
        self._load = load
        self._paging = paging

    async def page(self) -> Page:
        """Requests one page."""
        return cast(Page, (await self._load(self._paging.fields))[0])

    async def pages(self) -> AsyncIterator[Page]:
        """Returns the pages, each with up to `limit` items; 100 if there is no `limit`."""
        fields: Mapping[str, Any] | None = self._paging.first()
        while fields is not None:
            data, count = await self._load(fields)
            yield data
            fields = self._paging.following(fields, data, count)

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in self._paging.items_of(page):
                yield item


class Paging:
    """How a list continues: the name of its items in the page, if the page is an object; and the parameter for the next page."""

    def __init__(self, items: str | None, by: str, fields: Mapping[str, Any]) -> None:
        self._items = items
        self._by = by
        self.fields = {name: value for name, value in fields.items() if not isinstance(value, Unset)}

    def first(self) -> Mapping[str, Any]:
        return {**self.fields, "limit": self.fields.get("limit", PAGE_MAX)}

    def following(self, fields: Mapping[str, Any], data: Any, count: int | None) -> Mapping[str, Any] | None:
        """Returns the parameters of the next page; None if there is none."""
        if self._by == "offset":
            number = len(self.items_of(data))
            offset = fields.get("offset", 0) + number
            return None if number == 0 or (count is not None and offset >= count) else {**fields, "offset": offset}
        following = data.get("nextCursor" if self._by == "cursor" else "next")
        return None if following is None else {**fields, self._by: following}

    def items_of(self, data: Any) -> list[Any]:
        return cast("list[Any]", data if self._items is None else data[self._items])


class Resource:
    """The base of the synchronous resources."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def _call(
        self, method: str, path: str, fields: Mapping[str, Any] | None, options: CallOptions | None, **flags: Any
    ) -> Any:
        return self._client._send(Call(self._client._settings, method, path, fields, options, **flags))[0]

    def _list(
        self, path: str, items: str | None, by: str, fields: Mapping[str, Any], options: CallOptions | None
    ) -> List[Any, Any]:
        def load(fields: Mapping[str, Any]) -> tuple[Any, int | None]:
            return self._client._send(Call(self._client._settings, "GET", path, fields, options))

        return List(load, Paging(items, by, fields))

    def _wait(
        self,
        started: Started,
        poll: Callable[[Started, CallOptions], Status],
        job: Job[Status],
    ) -> Status:
        while True:
            status = poll(started, job.poll_options)
            if job.ends(status):
                return status
            time.sleep(job.poll_interval)


class AsyncResource:
    """The base of the asynchronous resources."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def _call(
        self, method: str, path: str, fields: Mapping[str, Any] | None, options: CallOptions | None, **flags: Any
    ) -> Any:
        return (await self._client._send(Call(self._client._settings, method, path, fields, options, **flags)))[0]

    def _list(
        self, path: str, items: str | None, by: str, fields: Mapping[str, Any], options: CallOptions | None
    ) -> AsyncList[Any, Any]:
        def load(fields: Mapping[str, Any]) -> Awaitable[tuple[Any, int | None]]:
            return self._client._send(Call(self._client._settings, "GET", path, fields, options))

        return AsyncList(load, Paging(items, by, fields))

    async def _wait(
        self,
        started: Started,
        poll: Callable[[Started, CallOptions], Awaitable[Status]],
        job: Job[Status],
    ) -> Status:
        while True:
            status = await poll(started, job.poll_options)
            if job.ends(status):
                return status
            await anyio.sleep(job.poll_interval)


class Job(Generic[Status]):
    """A job that a call waits for."""

    def __init__(
        self,
        done: tuple[str, ...],
        failed: tuple[str, ...],
        fields: tuple[str, ...],
        on_progress: Callable[[Status], object] | None,
        poll_interval: float,
        wait_timeout: float,
        options: CallOptions | None,
    ) -> None:
        self._done = done
        self._failed = failed
        self._fields = fields
        self._on_progress = on_progress
        self.poll_interval = poll_interval
        self._wait_timeout = wait_timeout
        self._end = time.monotonic() + wait_timeout
        # The key and the callback are for the call that starts the job.
        kept = {name: value for name, value in (options or {}).items() if name not in ("idempotency_key", "on_response")}
        self.poll_options = cast(CallOptions, kept)

    def ends(self, status: Status) -> bool:
        """Returns whether the job has completed. Raises an error if it failed or takes too long."""
        if self._on_progress is not None:
            self._on_progress(status)
        data = cast("dict[str, Any]", status)
        word = data["status"]
        if word in self._done:
            for name in self._fields:
                if data.get(name) is None:
                    message = f"The job has completed, but its status has no {name}. Start the job again."
                    raise errors.JobFailedError(message, code="UNEXPECTED_RESPONSE", data=data)
            return True
        if word in self._failed:
            reason = data.get("error")
            message = reason if isinstance(reason, str) else f"The job ended with the status {word}."
            raise errors.JobFailedError(message, code="JOB_FAILED", data=data)
        if time.monotonic() + self.poll_interval > self._end:
            raise errors.RequestTimeoutError(
                f"The job has not ended within {self._wait_timeout} seconds, and continues on the server. Set a longer wait_timeout.",
                code="WAIT_TIMEOUT",
                data=data,
            )
        return False
