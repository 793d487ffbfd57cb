"""Runs the examples of the README, in order, as one program."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import importlib.metadata
import io
import json
import os
import pathlib
import re
import tempfile
import unittest
from datetime import datetime, timezone
from typing import Any
from unittest import mock

from support import shop

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def readme() -> str:
    """Returns the README of the installed package, or that of the source tree."""
    try:
        return str(importlib.metadata.metadata("mailmill").get_payload())  # type: ignore[attr-defined]
    except importlib.metadata.PackageNotFoundError:
        return pathlib.Path(__file__).parent.parent.joinpath("README.md").read_text()


class Examples(unittest.TestCase):
    def test_the_examples_run(self) -> None:
        examples: list[str] = re.findall(r"^```python\n(.*?)^```$", readme(), re.MULTILINE | re.DOTALL)
        self.assertEqual(len(examples), 8)
        site = shop()
        self.addCleanup(site.close)
        program = "\n".join(examples).replace("https://example.com", f"{site.url}/readme")
        names: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            pathlib.Path(folder, "contacts.csv").write_text("email\nzoe@example.com\nno address\n")
            before = os.getcwd()
            os.chdir(folder)
            try:
                exec(compile(program, "README.md", "exec"), names)
            finally:
                os.chdir(before)
                names["client"].close()
        text = out.getvalue()
        self.assertTrue(text.startswith("ada@example.com\n1 of 1\n"), text)
        self.assertIn("100 %\n", text)
        self.assertIn("1 created, 1 failed\n", text)
        self.assertRegex(text, r"CONTACT_EXISTS [0-9a-f]{24}\n")
        self.assertEqual(sorted(text.splitlines()[-3:]), ["ada@example.com", "bob@example.com", "zoe@example.com"])
        body = json.dumps({"id": "1", "type": "t", "timestamp": datetime.now(timezone.utc).isoformat(), "data": {}}).encode()
        with mock.patch.dict(os.environ, {"WEBHOOK_SECRET": SECRET}), contextlib.redirect_stdout(io.StringIO()):
            for secret, status in ((SECRET, 200), ("other", 400)):
                signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
                self.assertEqual(names["receive"](body, {"X-Service-Signature": signature}), status)


if __name__ == "__main__":
    unittest.main()
