"""Runs the samples of the API reference for Python, and prints what each of them did as a line of JSON: nothing, the API's error, or the
fault of the sample."""

import json
import traceback

from mailmill import Mailmill, MailmillError

with open("samples.json", encoding="utf-8") as source:
    given = json.load(source)
with Mailmill(max_retries=0) as client:
    for sample in given["samples"]:
        names = {"client": client, "project_id": given["projectId"], "file": b"email\nada@example.com\n", "print": lambda item: None}
        outcome = {}
        try:
            exec(compile(sample, "sample", "exec"), names)
        except MailmillError as error:
            is_answer = error.status is not None
            answer = {"status": error.status, "code": error.code, "message": error.message}
            outcome = answer if is_answer else {"fault": traceback.format_exc()}
        except Exception:
            outcome = {"fault": traceback.format_exc()}
        print(json.dumps(outcome))
