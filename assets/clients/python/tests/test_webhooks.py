"""Tests the verification of webhook requests."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import unittest
from datetime import datetime, timezone
from typing import Any

from mailmill import WebhookVerificationError, webhooks

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
EVENT = {
    "id": "evt_1",
    "type": "subscriber.added",
    "timestamp": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    "apiVersion": "v1",
    "data": {},
    "metadata": {},
}
BODY = json.dumps(EVENT).encode()


def simple(body: bytes = BODY, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard(seconds: float, body: bytes = BODY) -> dict[str, str]:
    stamp = str(int(seconds))
    key = base64.b64decode(SECRET[6:])
    digest = hmac.new(key, b"evt_1." + stamp.encode() + b"." + body, hashlib.sha256).digest()
    return {"webhook-id": "evt_1", "webhook-timestamp": stamp, "webhook-signature": "v1," + base64.b64encode(digest).decode()}


class Verification(unittest.TestCase):
    def refused(self, code: str, body: Any, headers: dict[str, str], secret: str = SECRET, **options: Any) -> None:
        with self.assertRaises(WebhookVerificationError) as caught:
            webhooks.verify(body, headers, secret, **options)
        self.assertEqual(caught.exception.code, code)

    def test_the_simple_form_is_verified(self) -> None:
        for headers in (
            {"x-service-signature": simple()},
            {"X-Acme-Signature": simple().upper()},
            {"x-service-signature": simple(secret="old"), "x-service-signature-alternate": simple()},
        ):
            self.assertEqual(webhooks.verify(BODY, headers, SECRET), EVENT)
            self.assertEqual(webhooks.verify(BODY.decode(), headers, SECRET), EVENT)

    def test_digests_of_the_server_match(self) -> None:
        headers = {
            "webhook-id": "evt",
            "webhook-timestamp": "1700000000",
            "webhook-signature": "v1,HRuZCedO+PssxGDGFJFxYEgm9jSi18+GPruIagDDyRc=",
        }
        self.assertEqual(webhooks.verify('{"a":1}', headers, SECRET, tolerance=0), {"a": 1})

    def test_the_standard_form_is_verified_with_a_tolerance(self) -> None:
        self.assertEqual(webhooks.verify(BODY, standard(time.time()), SECRET), EVENT)
        several = standard(time.time())
        several["webhook-signature"] = f"v1a,AAAA v1,AAAA {several['webhook-signature']}"
        self.assertEqual(webhooks.verify(BODY, several, SECRET), EVENT)
        for seconds in (time.time() - 302, time.time() + 302):
            self.refused("TIMESTAMP_OUTSIDE_TOLERANCE", BODY, standard(seconds))
            self.assertEqual(webhooks.verify(BODY, standard(seconds), SECRET, tolerance=600), EVENT)

    def test_a_wrong_standard_signature_is_refused_although_the_simple_one_is_right(self) -> None:
        headers = {**standard(time.time()), "webhook-signature": "v1,AAAA", "x-service-signature": simple()}
        self.refused("SIGNATURE_WRONG", BODY, headers)

    def test_the_time_of_the_event_is_checked_if_the_caller_asks_for_it(self) -> None:
        old = json.dumps({**EVENT, "timestamp": "2026-01-01T00:00:00.000Z"}).encode()
        headers = {"x-service-signature": simple(old)}
        self.assertEqual(webhooks.verify(old, headers, SECRET)["id"], "evt_1")
        self.refused("TIMESTAMP_OUTSIDE_TOLERANCE", old, headers, tolerance=300)
        self.assertEqual(webhooks.verify(BODY, {"x-service-signature": simple()}, SECRET, tolerance=300), EVENT)

    def test_other_requests_are_refused(self) -> None:
        good = {"x-service-signature": simple()}
        self.refused("SIGNATURE_MISSING", BODY, {})
        self.refused("SIGNATURE_WRONG", BODY + b" ", good)
        self.refused("SIGNATURE_WRONG", BODY, {"x-service-signature": simple()[2:]})
        self.refused("SIGNATURE_WRONG", BODY, {"x-service-signature": "é"})
        self.refused("SIGNATURE_WRONG", BODY, {"x-service-signature": simple(secret="other")})
        self.refused("SIGNATURE_MISSING", BODY, {**standard(time.time()), "webhook-timestamp": "soon"})
        self.refused("SECRET_INVALID", BODY, standard(time.time()), secret="no base64")
        self.refused("SECRET_INVALID", BODY, standard(time.time()), secret="whsec_")
        self.refused("BODY_PARSED", EVENT, good)
        self.refused("SECRET_MISSING", BODY, {"x-service-signature": simple(secret="")}, secret="")
        self.refused("BODY_INVALID", b"no", {"x-service-signature": simple(b"no")})


if __name__ == "__main__":
    unittest.main()
