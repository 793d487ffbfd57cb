"""Tests retries, timeouts and errors against a server that fails in the ways that a test sets."""

from __future__ import annotations

import asyncio
import io
import os
import resource
import time
import unittest
from collections.abc import Awaitable, Callable
from typing import Any
from unittest import mock

import httpx
from mailmill import (
    AsyncMailmill,
    CallOptions,
    JobFailedError,
    Mailmill,
    MailmillError,
    NetworkError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from support import Handler, Server, failure, success

BUSY = failure("SERVICE_UNAVAILABLE", "Busy")


class Faults(unittest.TestCase):
    def client(self, handle: Callable[[Handler, int], None]) -> Mailmill:
        self.server = Server(handle)
        self.addCleanup(self.server.close)
        client = Mailmill(api_key="sk_test_x", base_url=self.server.url)
        self.addCleanup(client.close)
        return client

    def keys(self) -> list[str | None]:
        return [request.headers.get("Idempotency-Key") for request in self.server.requests]

    def test_a_request_that_fails_twice_is_repeated_with_the_same_key_and_body(self) -> None:
        def handle(request: Handler, number: int) -> None:
            if number == 1:
                request.answer(503, BUSY)
            elif number == 2:
                request.drop()
            else:
                request.answer(201, success({"id": "1"}))

        client = self.client(handle)
        self.assertEqual(client.contacts.create(project_id="1", email="ada@example.com"), {"id": "1"})
        keys = self.keys()
        self.assertEqual(len(keys), 3)
        self.assertEqual(len(set(keys)), 1)
        self.assertRegex(keys[0] or "", "^[0-9a-f-]{36}$")
        self.assertEqual({request.body for request in self.server.requests}, {b'{"projectId": "1", "email": "ada@example.com"}'})
        self.assertEqual(self.server.requests[0].headers["Authorization"], "Bearer sk_test_x")
        self.assertRegex(self.server.requests[0].headers["User-Agent"], r"^mailmill-python/\d+\.\d+\.\d+ python/")

    def test_a_429_is_retried_after_the_time_that_the_server_states(self) -> None:
        def handle(request: Handler, number: int) -> None:
            if number == 1:
                request.answer(429, failure("RATE_LIMIT_EXCEEDED", "Rate limit exceeded"), {"Retry-After": "1"})
            else:
                request.answer(200, success({}))

        client = self.client(handle)
        start = time.monotonic()
        client.plan.get()
        self.assertGreaterEqual(time.monotonic() - start, 1)

    def test_a_429_with_a_long_wait_is_an_error_that_says_how_long(self) -> None:
        client = self.client(lambda request, _: request.answer(429, failure("QUOTA_EXCEEDED", "Used up", {"retryAfterMs": 7_200_000})))
        with self.assertRaises(RateLimitError) as caught:
            client.emails.send_test(to="ada@example.com", email_id="x")
        self.assertEqual((caught.exception.retry_after, caught.exception.code), (7200, "QUOTA_EXCEEDED"))
        self.assertEqual(len(self.server.requests), 1)

    def test_retries_are_bounded_and_other_errors_are_not_retried(self) -> None:
        def handle(request: Handler, number: int) -> None:
            if request.path.startswith("/v1/plan"):
                request.answer(500, failure("INTERNAL_ERROR", "Failed"))
            else:
                request.answer(404, failure("RESOURCE_NOT_FOUND", "No such tag"))

        client = self.client(handle)
        with self.assertRaises(ServerError):
            client.plan.get()
        self.assertEqual(len(self.server.requests), 3)
        with self.assertRaises(MailmillError) as caught:
            client.tags.get("1", project_id="2")
        self.assertEqual((caught.exception.code, caught.exception.status), ("RESOURCE_NOT_FOUND", 404))
        with self.assertRaises(ServerError):
            client.plan.get(request_options={"max_retries": 0})
        self.assertEqual(len(self.server.requests), 5)

    def test_a_post_without_a_key_is_not_repeated_if_its_outcome_is_unknown(self) -> None:
        def handle(request: Handler, number: int) -> None:
            if number == 1:
                request.drop()
            elif number == 2:
                request.answer(502, b"<h1>Bad gateway</h1>")
            elif number == 3:
                request.answer(503, BUSY)
            else:
                request.answer(201, success({"id": "1"}))

        client = self.client(handle)
        with self.assertRaises(NetworkError):
            client.webhooks.test("1")
        with self.assertRaises(ServerError) as caught:
            client.webhooks.test("1")
        self.assertEqual(caught.exception.code, "UNEXPECTED_RESPONSE")
        self.assertEqual(len(self.server.requests), 2)
        # The API itself never returns 5xx after an effect.
        self.assertEqual(client.webhooks.test("1"), {"id": "1"})
        self.assertEqual(self.keys(), [None] * 4)

    def test_a_connection_that_is_refused_is_retried_and_then_explained(self) -> None:
        gone = Server(lambda request, _: request.answer(200, success({})))
        gone.close()
        client = Mailmill(api_key="k", base_url=gone.url)
        with mock.patch("time.sleep") as sleep, self.assertRaisesRegex(NetworkError, "Check base_url"):
            client.segments.create(project_id="1", name="VIP", filters={})
        self.assertEqual(sleep.call_count, 2)

    def test_a_timeout_is_an_error_of_its_own(self) -> None:
        client = self.client(lambda request, _: time.sleep(0.3))
        with self.assertRaises(RequestTimeoutError) as caught:
            client.plan.get(request_options={"timeout": 0.05, "max_retries": 1})
        self.assertEqual(caught.exception.code, "TIMEOUT")
        self.assertEqual(len(self.server.requests), 2)

    def test_a_timeout_limits_the_whole_attempt(self) -> None:
        def drip(request: Handler, first: bytes, byte: bytes) -> None:
            request.wfile.write(first)
            try:
                while True:
                    time.sleep(0.02)
                    request.wfile.write(byte)
            except OSError:
                request.close_connection = True

        def handle(request: Handler, number: int) -> None:
            if "/plan" in request.path:
                drip(request, b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x")
            elif "/projects" in request.path:
                drip(request, b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" ")
            elif "/contacts" in request.path:
                # Without a length, the body ends with the connection.
                drip(request, b"HTTP/1.1 200 OK\r\n\r\n", b" ")
            else:
                request.protocol_version = "HTTP/1.1"
                request.close_connection = False
                request.answer(200, success({"tags": []}))

        options: CallOptions = {"timeout": 0.4, "max_retries": 0}
        client = self.client(handle)
        calls: list[Callable[[], object]] = [
            lambda: client.plan.get(request_options=options),
            lambda: client.projects.list(request_options=options).page(),
            lambda: client.contacts.get("1", project_id="1", request_options=options),
        ]
        for call in calls:
            # The connection of this request is used again.
            client.tags.list(project_id="1").page()
            for _ in range(2):
                start = time.monotonic()
                with self.assertRaises(RequestTimeoutError) as caught:
                    call()
                self.assertRegex(str(caught.exception), "^No complete response within 0.4 seconds")
                self.assertLess(time.monotonic() - start, 1)

        async def work() -> None:
            async with AsyncMailmill(api_key="k", base_url=self.server.url) as other:
                calls: list[Callable[[], Awaitable[object]]] = [
                    lambda: other.plan.get(request_options=options),
                    lambda: other.projects.list(request_options=options).page(),
                ]
                for call in calls:
                    start = time.monotonic()
                    with self.assertRaises(RequestTimeoutError):
                        await call()
                    self.assertLess(time.monotonic() - start, 1)

        asyncio.run(work())

    def test_the_callers_own_requests_on_a_shared_connection_have_the_callers_time_limits(self) -> None:
        def handle(request: Handler, number: int) -> None:
            request.protocol_version = "HTTP/1.1"
            request.close_connection = False
            if number == 2:
                time.sleep(0.3)
            request.answer(200, success({}))

        self.client(handle)
        with httpx.Client(timeout=None) as http:
            client = Mailmill(api_key="k", base_url=self.server.url, http_client=http)
            client.plan.get(request_options={"timeout": 0.2})
            self.assertEqual(http.get(self.server.url).status_code, 200)
        self.assertEqual(len({request.client_address for request in self.server.requests}), 1)

    def test_a_response_without_an_end_is_stopped_at_the_limit(self) -> None:
        def handle(request: Handler, number: int) -> None:
            request.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            try:
                while True:
                    request.wfile.write(b" " * 1_048_576)
            except OSError:
                request.close_connection = True

        client = self.client(handle)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        message = "^The response is larger than 67108864 bytes. Request fewer items.$"
        for call in (lambda: client.projects.list().page(), lambda: client.inbox.screenshot("1"), lambda: client.emails.html("1")):
            with self.assertRaisesRegex(MailmillError, message) as caught:
                call()
            self.assertEqual(caught.exception.code, "RESPONSE_TOO_LARGE")

        async def work() -> None:
            async with AsyncMailmill(api_key="k", base_url=self.server.url) as other:
                with self.assertRaisesRegex(MailmillError, message):
                    await other.inbox.screenshot("1")

        asyncio.run(work())
        self.assertEqual(len(self.server.requests), 4)
        # Linux reports kibibytes.
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 400 * 1024)

    def test_a_broken_encoding_is_an_error_of_the_connection(self) -> None:
        client = self.client(lambda request, _: request.answer(200, b"no gzip", {"Content-Encoding": "gzip"}))
        with self.assertRaises(NetworkError):
            client.plan.get(request_options={"max_retries": 0})

    def test_the_texts_of_errors_have_no_control_characters_and_no_doubled_periods(self) -> None:
        evil = "\x1b]0;pwn\x07 \x9b2J\u202ereversed\r\n."

        def handle(request: Handler, number: int) -> None:
            if number == 1:
                request.answer(400, failure(f"CODE{evil}", f"Text{evil}", {"field": f"email{evil}", "id": evil}))
            elif number == 2:
                request.drop()
            else:
                request.answer(200, success({"status": "failed", "error": f"Job{evil}", "conversationId": "1"}))

        client = self.client(handle)
        with self.assertRaises(MailmillError) as caught:
            client.contacts.create(project_id="1", email="ada@example.com")
        error = caught.exception
        clean = " ]0;pwn   2J reversed ."
        self.assertEqual((str(error), error.message, error.code, error.field), (f"Text{clean}",) * 2 + (f"CODE{clean}", f"email{clean}"))
        self.assertEqual(error.data["id"], evil)
        with self.assertRaisesRegex(NetworkError, r"without sending a response\. Check base_url"):
            client.plan.get(request_options={"max_retries": 0})
        with self.assertRaises(JobFailedError) as failed:
            client.emails.generate_and_wait(project_id="1")
        self.assertEqual(str(failed.exception), f"Job{clean}")

    def test_an_idempotency_key_that_the_server_would_reject_or_ignore_is_an_error(self) -> None:
        client = self.client(lambda request, _: request.answer(201, success({})))
        for key in ("a\nb", "", "ü", " a", "a ", "a" * 101):
            with self.assertRaisesRegex(MailmillError, "1 to 100 ASCII characters") as caught:
                client.contacts.create(project_id="1", email="ada@example.com", request_options={"idempotency_key": key})
            self.assertEqual((caught.exception.code, caught.exception.field), ("INVALID_OPTION", "idempotency_key"))
        calls = (
            lambda: client.contacts.delete("1", project_id="1", request_options={"idempotency_key": "k"}),
            lambda: client.projects.list(request_options={"idempotency_key": "k"}).page(),
        )
        for call in calls:
            with self.assertRaisesRegex(MailmillError, "does not support an idempotency_key"):
                call()
        self.assertEqual(len(self.server.requests), 0)

    def test_a_job_that_has_completed_without_a_result_is_an_error(self) -> None:
        client = self.client(lambda request, _: request.answer(200, success({"status": "completed", "conversationId": "1"})))
        with self.assertRaisesRegex(JobFailedError, "no result") as caught:
            client.emails.generate_and_wait(project_id="1")
        self.assertEqual(caught.exception.code, "UNEXPECTED_RESPONSE")

    def test_a_client_that_is_printed_shows_its_address_and_not_the_key(self) -> None:
        client = Mailmill(api_key="sk_test_secret", base_url="https://mail.example.com")
        self.addCleanup(client.close)
        self.assertEqual(repr(client), "Mailmill(base_url='https://mail.example.com/v1')")
        self.assertNotIn("sk_test_secret", repr((vars(client), client.contacts, vars(client.contacts))))
        self.assertTrue(repr(AsyncMailmill(api_key="k", base_url="http://a.example")).startswith("AsyncMailmill("))

    def test_waiting_reports_progress_fails_with_the_job_and_has_a_limit(self) -> None:
        statuses = ["pending", "processing", "failed"]

        def handle(request: Handler, number: int) -> None:
            if request.command == "POST":
                request.answer(201, success({"conversationId": "1"}))
            else:
                word = statuses.pop(0) if statuses else "processing"
                request.answer(200, success({"status": word, "error": "The model refused."}))

        client = self.client(handle)
        seen: list[str] = []
        with self.assertRaisesRegex(JobFailedError, "The model refused."):
            client.emails.generate_and_wait(
                project_id="1",
                poll_interval=0.001,
                on_progress=lambda status: seen.append(status["status"]),
                request_options={"idempotency_key": "k"},
            )
        self.assertEqual(seen, ["pending", "processing", "failed"])
        self.assertEqual(self.keys(), ["k", None, None, None])
        with self.assertRaises(RequestTimeoutError) as caught:
            client.emails.generate_and_wait(project_id="1", poll_interval=0.005, wait_timeout=0.02)
        self.assertEqual(caught.exception.code, "WAIT_TIMEOUT")

    def test_waiting_for_a_held_import_ends_when_its_file_is_uploaded(self) -> None:
        def handle(request: Handler, number: int) -> None:
            held = {"id": "1", "status": "uploaded"}
            request.answer(201 if request.command == "POST" else 200, success(held))

        client = self.client(handle)
        status = client.contacts.import_and_wait(project_id="1", file=b"email\n", hold=True, poll_interval=0.001, wait_timeout=0.02)
        self.assertEqual(status["status"], "uploaded")

    def test_the_upload_of_an_iterable_is_not_retried_that_of_a_file_is(self) -> None:
        client = self.client(
            lambda request, number: request.answer(201, success({})) if number == 3 else request.answer(503, BUSY)
        )
        with self.assertRaises(ServerError):
            client.contacts.imports.create(project_id="1", file=iter([b"email\n"]))
        self.assertEqual(len(self.server.requests), 1)
        file = io.BytesIO(b"skipped email\nada@example.com\n")
        file.seek(8)
        client.contacts.imports.create(project_id="1", file=file, column_map={"email": "email"})
        first, second = self.server.requests[1:]
        self.assertRegex(second.body, rb'(?s)name="columnMap"\r\n\r\n\{"email": "email"\}\r\n.*filename="file"')
        self.assertRegex(second.body, rb"\r\n\r\nemail\nada@example.com\n\r\n--")
        self.assertEqual(first.body.split(b"email\n")[1][:16], second.body.split(b"email\n")[1][:16])

    def test_a_redirect_and_a_page_are_explained(self) -> None:
        def handle(request: Handler, number: int) -> None:
            if number == 1:
                request.answer(301, b"", {"Location": "https://mail.example.com/v1/plan"})
            else:
                request.answer(200, b"<html>" if number == 2 else b"[" * 100_000)

        client = self.client(handle)
        with self.assertRaisesRegex(MailmillError, "redirects to https://mail.example.com.*Set base_url"):
            client.plan.get()
        for _ in range(2):
            with self.assertRaisesRegex(MailmillError, "not a response of the API.*Check base_url"):
                client.plan.get()

    def test_queries_and_paths_are_encoded(self) -> None:
        client = self.client(lambda request, _: request.answer(200, success({"contacts": []})))
        client.contacts.list(project_id="1", tags=["a", "b"], refresh=True, search="a&b").page()
        client.contacts.list(project_id="1", tags=["a,b"]).page()
        client.suppressions.delete("a/b+c@example.com")
        client.emails.versions.restore("1", 2)
        self.assertEqual(
            [request.path for request in self.server.requests],
            [
                "/v1/contacts?projectId=1&search=a%26b&refresh=true&tags=a%2Cb",
                "/v1/contacts?projectId=1&tags=%5B%22a%2Cb%22%5D",
                "/v1/suppressions/a%2Fb%2Bc%40example.com",
                "/v1/emails/1/versions/2/restore",
            ],
        )
        for bad in ("", ".", ".."):
            with self.assertRaises(MailmillError):
                client.contacts.get(bad, project_id="1")
        self.assertEqual(len(self.server.requests), 4)

    def test_iterating_stops_when_the_caller_stops(self) -> None:
        client = self.client(lambda request, number: request.answer(200, success({"contacts": [number] * 2, "total": 99}, count=99)))
        items = iter(client.contacts.list(project_id="1", limit=2))
        self.assertEqual([next(items) for _ in range(3)], [1, 1, 2])
        self.assertEqual(len(self.server.requests), 2)

    def test_the_asynchronous_client_retries_and_can_be_canceled(self) -> None:
        def handle(request: Handler, number: int) -> None:
            if request.path.endswith("/plan"):
                time.sleep(0.3)
            elif number == 1:
                request.answer(503, BUSY)
            else:
                request.answer(201, success({"id": "1"}))

        self.client(handle)

        async def work() -> None:
            async with AsyncMailmill(api_key="k", base_url=self.server.url) as client:
                await client.contacts.create(project_id="1", email="ada@example.com")
                self.assertEqual(len(set(self.keys())), 1)
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(client.plan.get(), 0.05)

        asyncio.run(work())
        self.assertEqual(len(self.server.requests), 3)

    def test_the_settings_come_from_the_arguments_or_the_environment(self) -> None:
        with mock.patch.dict(os.environ, clear=True):
            for given, field in (({}, "api_key"), ({"api_key": "k"}, "base_url")):
                with self.assertRaises(MailmillError) as caught:
                    Mailmill(**given)  # type: ignore[arg-type]
                self.assertEqual((caught.exception.code, caught.exception.field), ("INVALID_OPTION", field))
            os.environ["MAILMILL_KEY"] = "k"
            os.environ["MAILMILL_URL"] = "https://mail.example.com/v1/"
            self.assertEqual(Mailmill()._settings.base_url, "https://mail.example.com/v1")
            for bad in ("mail.example.com", "ftp://a.example", "http://", "https://a.example/?b", "https://a.example/#b"):
                with self.assertRaisesRegex(MailmillError, "It must be a URL such as"):
                    Mailmill(base_url=bad)
            for bad in ("http://ada:hunter2@a.example", "http://ada:hunter2@", "ada:hunter2@a.example"):
                with self.assertRaisesRegex(MailmillError, "^base_url contains a user name or password. Remove it") as caught:
                    Mailmill(base_url=bad)
                self.assertNotIn("hunter2", str(caught.exception))
            with self.assertRaises(MailmillError):
                Mailmill(api_key="sk_test\n")


if __name__ == "__main__":
    unittest.main()
