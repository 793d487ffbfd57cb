"""Runs the main workflow against a real server, twice. The second run must change nothing."""

from __future__ import annotations

import asyncio
import io
import json
import time
import unittest
from typing import Any

from mailmill import (
    AsyncMailmill,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    Mailmill,
    NotFoundError,
    WebhookVerificationError,
    webhooks,
)
from support import Server, shop

CSV = b"email,first name,tags\nfay@example.com,Fay,mugs\ngus@example.com,Gus,mugs\nnot an address,Eve,mugs\n"


def run(client: Mailmill, site: Server) -> tuple[dict[str, Any], list[bool], dict[str, int]]:
    """Runs the workflow. Returns what it made, which responses were replayed, and the milliseconds of its steps."""
    times: dict[str, int] = {}
    last = time.monotonic()

    def mark(name: str) -> None:
        nonlocal last
        times[name] = round((time.monotonic() - last) * 1000)
        last = time.monotonic()

    replayed: list[bool] = []

    def keyed(key: str) -> Any:
        return {"idempotency_key": key, "on_response": lambda response: replayed.append(response["replayed"])}

    stages: list[str] = []
    try:
        project_id = client.projects.import_and_wait(
            urls=[site.url], poll_interval=0.1, on_progress=lambda status: stages.append(status["status"])
        )["projectId"]
        assert stages[-1] == "active"
    except ConflictError as error:
        assert error.data
        project_id = error.data["projectId"]
    mark("import the brand")
    generation = client.emails.generate_and_wait(
        project_id=project_id,
        prompt="20% off all mugs until Sunday with MUGS20",
        count=1,
        poll_interval=0.1,
        request_options=keyed("mugs-email"),
    )
    email = generation["result"]["emails"][0]
    assert "MUGS20" in email["html"]
    mark("generate an email")
    contact = client.contacts.create(
        project_id=project_id, email="ida@example.com", first_name="Ida", tags=["mugs"], request_options=keyed("contact-ida")
    )
    status = client.contacts.import_and_wait(project_id=project_id, file=io.BytesIO(CSV), poll_interval=0.05)
    assert (status["counts"]["total"], status["counts"]["failed"]) == (3, 1)
    mark("add contacts")
    tag = client.tags.list(project_id=project_id, search="mugs").page()["tags"][0]
    try:
        segment = client.segments.create(project_id=project_id, name="Mugs", filters={"match": "all", "tags": [tag["id"]]})
    except ConflictError as error:
        assert error.data
        segment = client.segments.get(error.data["id"], project_id=project_id)
    assert segment["count"] == 3
    mark("create a segment")
    campaign = client.campaigns.create(
        project_id=project_id,
        name="Mugs",
        email_id=email["emailId"],
        from_="news@mugs.example",
        from_name="Mugs",
        recipient_type="segment",
        recipient_id=segment["id"],
        request_options=keyed("mugs-campaign"),
    )
    client.campaigns.send(campaign["id"], request_options=keyed("mugs-send"))
    while client.campaigns.get(campaign["id"], project_id=project_id)["status"] != "sent":
        time.sleep(0.05)
    mark("send the campaign")
    logs = list(client.campaigns.logs(campaign["id"], project_id=project_id, limit=2))
    mark("read the log")
    made = {
        "project": project_id,
        "email": email["emailId"],
        "contact": contact["id"],
        "segment": segment["id"],
        "campaign": campaign["id"],
        "recipients": sorted(line["to_email"] for line in logs),
    }
    return made, replayed, times


class Workflow(unittest.TestCase):
    client: Mailmill
    site: Server
    first: tuple[dict[str, Any], list[bool], dict[str, int]]
    second: tuple[dict[str, Any], list[bool], dict[str, int]]
    project: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = Mailmill()
        cls.site = shop()
        cls.first = run(cls.client, cls.site)
        cls.second = run(cls.client, cls.site)
        cls.project = cls.first[0]["project"]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.client.close()
        cls.site.close()

    def test_the_second_run_changes_nothing(self) -> None:
        self.assertEqual(self.second[0], self.first[0])
        self.assertEqual(self.first[0]["recipients"], ["fay@example.com", "gus@example.com", "ida@example.com"])
        self.assertEqual(self.first[1], [False] * 4)
        self.assertEqual(self.second[1], [True] * 4)
        print(json.dumps({"first": self.first[2], "second": self.second[2]}))

    def test_lists_have_items_and_pages(self) -> None:
        contacts = self.client.contacts.list(project_id=self.project, tags=["mugs"], limit=2)
        page = contacts.page()
        self.assertEqual((len(page["contacts"]), page["total"]), (2, 3))
        self.assertEqual(
            sorted(contact["email"] for contact in contacts), ["fay@example.com", "gus@example.com", "ida@example.com"]
        )
        self.assertEqual([len(one["contacts"]) for one in contacts.pages()], [2, 1])

    def test_errors_are_typed_and_name_the_field(self) -> None:
        with self.assertRaises(BadRequestError) as caught:
            self.client.contacts.create(project_id=self.project, email="no address")
        error = caught.exception
        self.assertEqual((error.code, error.status, error.field), ("INVALID_REQUEST", 400, "email"))
        self.assertRegex(error.request_id or "", "^req_")
        with self.assertRaises(ConflictError) as conflict:
            self.client.contacts.create(project_id=self.project, email="ida@example.com")
        self.assertEqual(conflict.exception.code, "CONTACT_EXISTS")
        with self.assertRaises(NotFoundError):
            self.client.contacts.get("0" * 24, project_id=self.project)
        with self.assertRaises(AuthenticationError):
            with Mailmill(api_key="sk_test_wrong") as other:
                other.plan.get()

    def test_files_are_uploaded(self) -> None:
        rows = (b"email\n" if index == 0 else f"p{index}@example.org\n".encode() for index in range(10_001))
        status = self.client.contacts.import_and_wait(
            project_id=self.project, file=rows, tags=["bulk, one"], poll_interval=0.1
        )
        self.assertEqual(status["counts"]["created"], 10_000)
        png = bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
        )
        image = self.client.projects.images.upload(self.project, file=io.BytesIO(png), description="A pixel")
        preview = self.client.projects.images.preview(self.project, image_url=image["url"])
        self.assertIsInstance(preview, bytes)

    def test_a_value_of_none_is_sent_as_null(self) -> None:
        contact = self.client.contacts.list(project_id=self.project, search="ida").page()["contacts"][0]
        self.client.contacts.update(contact["id"], project_id=self.project, phone="+44 20 7946 0958")
        changed = self.client.contacts.update(contact["id"], project_id=self.project, phone=None)
        self.assertIsNone(changed.get("phone"))
        self.assertEqual(changed["firstName"], "Ida")

    def test_the_asynchronous_client_does_the_same(self) -> None:
        async def work() -> None:
            async with AsyncMailmill() as client:
                contacts = client.contacts.list(project_id=self.project, tags=["mugs"], limit=2)
                emails = [contact["email"] async for contact in contacts]
                self.assertEqual(sorted(emails), self.first[0]["recipients"])
                self.assertEqual((await contacts.page())["total"], 3)

                async def rows() -> Any:
                    yield b"email\n"
                    yield b"async@example.org\n"

                status = await client.contacts.import_and_wait(project_id=self.project, file=rows(), poll_interval=0.05)
                self.assertEqual(status["counts"]["created"], 1)
                with self.assertRaises(NotFoundError):
                    await client.contacts.get("0" * 24, project_id=self.project)

        asyncio.run(work())

    def test_the_servers_webhooks_are_verified_in_both_forms(self) -> None:
        sink = Server(lambda request, _: request.answer(200, b""))
        try:
            for standard in (False, True):
                webhook = self.client.webhooks.create(
                    url=sink.url, events=["subscriber.added"], standard_signature=standard
                )
                seen = len(sink.requests)
                contact = self.client.contacts.create(project_id=self.project, email=f"py-{standard}@example.com")
                while len(sink.requests) == seen:
                    time.sleep(0.02)
                request = sink.requests[seen]
                self.assertEqual("webhook-signature" in request.headers, standard)
                event = webhooks.verify(request.body, dict(request.headers), webhook["secret"], tolerance=60)
                self.assertEqual((event["type"], event["data"]["subscriberId"]), ("subscriber.added", contact["id"]))
                with self.assertRaises(WebhookVerificationError):
                    webhooks.verify(request.body + b" ", dict(request.headers), webhook["secret"])
                self.client.webhooks.delete(webhook["id"])
        finally:
            sink.close()


if __name__ == "__main__":
    unittest.main()
