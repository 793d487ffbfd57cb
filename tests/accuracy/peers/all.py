"""Compares the checks with other programs on the blind sets of tests/samples/validation/blind, and writes a table in Markdown.

Usage: python3 tests/accuracy/peers/all.py TABLE.md
Needs Python 3.11, Node 20, cargo, and Debian's packages spamassassin and bogofilter. Installs caniemail, doiuse-email and cspell from npm
into a temporary folder. With DELIVERABILITY_CORPUS, bogofilter is trained on the mail that the shipped weights were trained on; see
assets/deliverability/model-card.md. A program that is not installed has no row.
"""

import email.message
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
BLIND = ROOT / "tests/samples/validation/blind"


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def install(folder, *packages):
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    done = run(["npm", "install", "--silent", "--no-audit", "--no-fund", *packages], cwd=folder)
    if done.returncode:
        print(f"npm cannot install {' '.join(packages)}: {done.stderr.strip()[:200]}")
    return not done.returncode


def ours():
    """Returns the summary lines of our own tests."""
    output = run(["cargo", "test", "--test", "accuracy", "blind", "--", "--nocapture", "--test-threads=1"], cwd=ROOT).stdout
    return output


def compatibility(folder):
    cases = json.loads((BLIND / "compatibility.json").read_text())["cases"]
    titles = {one["title"]: one["slug"] for one in json.loads((ROOT / "assets/email_clients/caniemail.json").read_text())["data"]}
    truth = [{tuple(pair) for pair in case["expect"]} for case in cases]
    ignored = [{tuple(pair) for pair in case["ignore"]} for case in cases]
    rows = []
    scripts = {
        "npm caniemail 2.0.2": ("caniemail@2.0.2", "caniemail.mjs"),
        "npm doiuse-email 0.4.1": ("doiuse-email@0.4.1", "doiuse.mjs"),
    }
    for name, (package, script) in scripts.items():
        if not install(folder, package):
            continue
        shutil.copy(ROOT / "tests/accuracy/peers" / script, folder)
        (folder / "cases.json").write_text(json.dumps(cases))
        done = run(["node", script, "cases.json"], cwd=folder)
        if done.returncode:
            print(f"{name} fails: {done.stderr.strip()[:300]}")
            continue
        right = wrong = missed = 0
        for found, wanted, ignore in zip(json.loads(done.stdout), truth, ignored):
            found = {(client, titles.get(title, title)) for client, title, *_ in found}
            right += len(found & wanted)
            wrong += len(found - wanted - ignore)
            missed += len(wanted - found)
        rows.append((name, f"{right / max(1, right + wrong):.3f}", f"{right / (right + missed):.3f}"))
    return rows


def sentences(name):
    for line in (BLIND / name).read_text().splitlines():
        if line.startswith("#"):
            continue
        language, rest = line.split("\t")
        text, ranges = "", []
        for at, part in enumerate(re.split(r"\[\[|\]\]", rest)):
            if at % 2:
                ranges.append((len(text), len(text) + len(part)))
            text += part
        yield language, text, ranges


def spelling(folder):
    if not install(folder, "cspell", "@cspell/dict-companies", "@cspell/dict-en-gb"):
        return []
    (folder / "cspell.json").write_text('{"language": "en,en-GB", "dictionaries": ["companies", "softwareTerms"]}')
    rows = []
    for name in ("spelling.txt", "spelling-second.txt"):
        english = [one for one in sentences(name) if one[0].startswith("en")]
        (folder / "text.txt").write_text("\n".join(text for _, text, _ in english))
        output = run(["npx", "cspell", "lint", "--no-progress", "--no-summary", "text.txt"], cwd=folder).stdout
        found = wrong = 0
        hits = {}
        for line, column, word in re.findall(r":(\d+):(\d+) - Unknown word \(([^)]+)\)", output):
            hits.setdefault(int(line), []).append((int(column) - 1, int(column) - 1 + len(word)))
        for number, (_, _, ranges) in enumerate(english, 1):
            left = list(ranges)
            for start, end in hits.get(number, []):
                match = next((one for one in left if start < one[1] and one[0] < end), None)
                if match:
                    left.remove(match)
                    found += 1
                elif not any(start < to and begin < end for begin, to in ranges):
                    wrong += 1
        seeded = sum(len(ranges) for _, _, ranges in english)
        rows.append((f"cspell, English of {name}", f"{found / max(1, found + wrong):.3f}", f"{found / seeded:.3f}"))
    return rows


def mail(message):
    made = email.message.EmailMessage()
    made["From"] = f'"{message["fromName"]}" <{message["fromEmail"]}>'
    made["To"] = "ada@example.com"
    made["Date"] = "Mon, 5 Aug 2024 10:00:00 +0000"
    made["Message-ID"] = "<1@example.com>"
    made["Subject"] = message["subject"]
    made.set_content(message["html"], subtype="html", cte="8bit")
    return made.as_bytes()


def area(spam, legitimate):
    wins = sum((one > other) + (one == other) / 2 for one in spam for other in legitimate)
    return wins / (len(spam) * len(legitimate))


def rated(name, cutoff, messages, score):
    scores = [(message["spam"], score(mail(message))) for message in messages]
    spam = [points for is_spam, points in scores if is_spam]
    legitimate = [points for is_spam, points in scores if not is_spam]
    found, alarms = sum(points >= cutoff for points in spam), sum(points >= cutoff for points in legitimate)
    return (name, f"{area(spam, legitimate):.3f}", f"{found}/{len(spam)}", f"{alarms}/{len(legitimate)}")


def deliverability(folder):
    messages = json.loads((BLIND / "deliverability.json").read_text())["messages"]
    rows = []
    if shutil.which("spamassassin"):

        def spamassassin(raw):
            output = subprocess.run(["spamassassin", "--local", "--test-mode"], input=raw, capture_output=True).stdout.decode(errors="replace")
            return float(re.search(r"score=(-?[\d.]+)", output)[1])

        rows.append(rated("SpamAssassin, no network, cutoff 5", 5.0, messages, spamassassin))
    corpus = os.environ.get("DELIVERABILITY_CORPUS")
    train = corpus and pathlib.Path(corpus, "peers/train")
    if shutil.which("bogofilter") and train and train.is_dir():
        words = folder / "words"
        words.mkdir()
        subprocess.run(["bogofilter", "-d", words, "-s", "-B", train / "spam"], check=True)
        for kind in ("easy", "hard", "modern"):
            subprocess.run(["bogofilter", "-d", words, "-n", "-B", train / kind], check=True)

        def bogofilter(raw):
            output = subprocess.run(["bogofilter", "-d", words, "-T"], input=raw, capture_output=True).stdout.decode()
            return float(output.split()[1])

        rows.append(rated("bogofilter, cutoff 0.6", 0.6, messages, bogofilter))
    return rows


def main():
    table = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peers = {"compatibility": compatibility(folder), "spelling": spelling(folder), "deliverability": deliverability(folder)}
    output = ours()
    own = re.search(r"\d+ cases: .*precision ([\d.]+), recall ([\d.]+)", output)
    table += ["## Compatibility", "", "| | Precision | Recall |", "|---|---|---|"]
    table += [f"| {' | '.join(row)} |" for row in peers["compatibility"]] + [f"| **Mailmill** | {own[1]} | {own[2]} |", ""]
    receipt = re.search(r"(\d+) errors, (\d+) warnings, score (\d+)", output)
    table += [f"Receipt in six clients: {receipt[1]} errors, {receipt[2]} warnings.", ""]
    table += ["## Spelling and grammar", "", "| | Precision | Found |", "|---|---|---|"]
    table += [f"| {' | '.join(row)} |" for row in peers["spelling"]]
    for line in re.findall(r"^(?:all|[a-z]{2}(?:-[A-Z]{2})?): .*found.*$", output, re.M):
        name, rest = line.split(": ", 1)
        shares = re.search(r"found ([\d.]+), precision ([\d.]+)", rest)
        if shares:
            table.append(f"| **Mailmill**, all languages of a set | {shares[2]} | {shares[1]} |")
    table += ["", "## Deliverability", "", "| | AUC | Spam found | False alarms |", "|---|---|---|---|"]
    table += [f"| {' | '.join(row)} |" for row in peers["deliverability"]]
    own = re.search(r"AUC ([\d.]+), (\d+) of (\d+) spam, (\d+) of (\d+) false", output)
    table += [f"| **Mailmill** | {own[1]} | {own[2]}/{own[3]} | {own[4]}/{own[5]} |", ""]
    text = "\n".join(table)
    pathlib.Path(sys.argv[1]).write_text("# Accuracy on the blind sets\n\n" + text)
    print(text)


main()
