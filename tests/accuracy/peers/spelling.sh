#!/bin/sh
# Compares the check with cspell on the development sets: seeded errors found, and words reported in clean sentences.
# Needs npm and python3. Run: sh tests/accuracy/peers/spelling.sh
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
cd "$work"
npm init -y >/dev/null 2>&1
npm install --silent --no-audit --no-fund cspell @cspell/dict-companies @cspell/dict-people-names >/dev/null 2>&1 ||
    npm install --silent --no-audit --no-fund cspell @cspell/dict-companies >/dev/null 2>&1
echo '{"language":"en","dictionaries":["companies","en_us","en-gb"]}' > cspell.json
python3 - "$root" <<'PY'
import re, subprocess, sys, tomllib
ENGLISH = set("the your our you we for and of with on at it it's its from get this that".split())
for name in ("first", "second"):
    data = tomllib.load(open(f"{sys.argv[1]}/tests/samples/validation/spelling/{name}.toml", "rb"))
    seeded = found = alarms = clean = 0
    samples = [s for s in data["error"] + data["clean"] if ENGLISH & set(s["text"].lower().split())]
    open("text.txt", "w").write("\n".join(sample["text"] for sample in samples))
    run = ["npx", "cspell", "lint", "--no-progress", "--no-summary", "text.txt"]
    output = subprocess.run(run, capture_output=True, text=True).stdout
    by_line = {}
    for line in output.splitlines():
        if "Unknown word" in line:
            by_line.setdefault(int(line.split(":")[1]), []).append(re.search(r"Unknown word \(([^)]+)\)", line)[1])
    for number, sample in enumerate(samples, 1):
        wanted = [word for word in sample.get("wrong", "").split(";") if word]
        seeded += len(wanted)
        for word in by_line.get(number, []):
            if word in wanted:
                wanted.remove(word)
                found += 1
            else:
                alarms += 1
                clean += not sample.get("wrong")
    print(f"cspell {name}: {seeded} errors, {found} found ({found / seeded:.3f}), {alarms} false alarms of which {clean} in clean samples; "
          f"precision {found / max(1, found + alarms):.3f}")
PY
rm -rf "$work"
