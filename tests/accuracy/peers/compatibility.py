"""Compares the compatibility check with the npm package caniemail on the cases of tests/samples/validation/compatibility.

Usage: python3 tests/accuracy/peers/compatibility.py
Needs Python 3.11, Node 22 and cargo. Installs caniemail 2.0.2 into a temporary folder.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Clients for which every feature has a row, because caniemail fails without one.
CLIENTS = [
    "gmail.desktop-webmail", "gmail.ios", "gmail.android", "apple-mail.ios", "apple-mail.macos", "outlook.windows",
    "outlook.outlook-com", "outlook.ios", "yahoo.desktop-webmail", "yahoo.ios", "aol.desktop-webmail", "samsung-email.android",
]
FREE = {"always", "reader", "account", "google-account"}


def expected(data, free, uses, client):
    """Returns the slugs that the tables call unsupported for a client, if the listed notes hold."""
    family, platform = client.split(".")
    found = set()
    for used in uses.split():
        used, _, side = used.partition("/")
        if side == "drops":
            found |= {used} if family == "gmail" else set()
            continue
        if side and (side == "word") != (client == "outlook.windows"):
            continue
        slug, *holds = used.split("#")
        versions = data[slug]["stats"].get(family, {}).get(platform) or {"": "u"}
        letter, *notes = list(versions.values())[-1].split()
        notes = [note.strip("#") for note in notes]
        if letter == "n" and not (slug == "html-target" and "1" in notes and "1" not in holds):
            found.add(slug)
        if letter == "a" and (not notes or any(note in holds or f"{slug}#{note}" in free for note in notes)):
            found.add(slug)
    return found


def main():
    cases = tomllib.loads((ROOT / "tests/samples/validation/compatibility/cases.toml").read_text())["cases"]
    data = {one["slug"]: one for one in json.loads((ROOT / "assets/email_clients/caniemail.json").read_text())["data"]}
    conditions = tomllib.loads((ROOT / "assets/email_clients/conditions.toml").read_text())["condition"]
    free = {note for one in conditions if one["test"] in FREE for note in one["notes"]}
    titles = {one["title"]: slug for slug, one in data.items()}
    with tempfile.TemporaryDirectory() as folder:
        emails = pathlib.Path(folder, "emails.json")
        emails.write_text(json.dumps([html for html, _ in cases]))
        subprocess.run(["npm", "install", "--silent", "--prefix", folder, "caniemail@2.0.2"], check=True)
        script = shutil.copy(ROOT / "tests/accuracy/peers/caniemail.mjs", folder)
        command = ["node", script, str(emails), *CLIENTS]
        peer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
        reports = pathlib.Path(folder, "reports.json")
        names = {"ACCURACY_EMAILS": str(emails), "ACCURACY_REPORTS": str(reports), "ACCURACY_CLIENTS": " ".join(CLIENTS)}
        command = ["cargo", "test", "--test", "accuracy", "write_reports_for_peers", "--", "--ignored"]
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **names})
        ours = json.loads(reports.read_text())
    results = {
        "npm caniemail 2.0.2": [{(client, titles.get(title, title)) for client, title, _ in triples} for triples in peer],
        "ours": [
            {(one["client"], issue["slug"]) for one in report["clientIssues"] for issue in one["issues"] + one["warnings"]}
            for report in ours
        ],
    }
    truth = [{(client, slug) for client in CLIENTS for slug in expected(data, free, uses, client)} for _, uses in cases]
    print(f"{len(cases)} cases, {len(CLIENTS)} clients, {sum(map(len, truth))} findings")
    for name, found in results.items():
        right = sum(len(one & wanted) for one, wanted in zip(found, truth))
        precision, recall = right / max(1, sum(map(len, found))), right / sum(map(len, truth))
        print(f"{name:24} precision {precision:.3f}  recall {recall:.3f}")


main()
