#!/bin/sh
# Compares SpamAssassin and bogofilter with the deliverability check on the held-out folds.
#
#   apt-get install spamassassin bogofilter
#   DELIVERABILITY_CORPUS=folder cargo test --release --test accuracy export_for_peers -- --ignored
#   DELIVERABILITY_CORPUS=folder sh tests/accuracy/peers/deliverability.sh
#   DELIVERABILITY_CORPUS=folder cargo test --release --test accuracy the_shipped_weights -- --nocapture
#
# All three read the same messages: HTML, subject and sender, without transport headers. bogofilter is trained on the same folds as the
# shipped weights. SPAMASSASSIN_MAX limits the number of messages per class that SpamAssassin reads, because it needs 0.1 to 1 s each.
set -eu
peers="$DELIVERABILITY_CORPUS/peers"
words="$(mktemp -d)"
trap 'rm -rf "$words"' EXIT
bogofilter -d "$words" -s -B "$peers/train/spam"
for class in easy hard modern; do bogofilter -d "$words" -n -B "$peers/train/$class"; done
for cutoff in 0.5 0.6 0.99; do
    for class in spam easy hard modern; do
        all=$(find "$peers/test/$class" -type f | wc -l)
        found=$(bogofilter -d "$words" -o "$cutoff,0" -v -B "$peers/test/$class" | grep -c 'Spam, tests' || true)
        echo "bogofilter $cutoff: $class $found/$all classified as spam"
    done
done
max="${SPAMASSASSIN_MAX:-100000}"
for class in spam easy hard modern; do
    all=0
    found=0
    for message in $(find "$peers/test/$class" -type f | sort | head -n "$max"); do
        all=$((all + 1))
        if spamassassin --local --test-mode <"$message" 2>/dev/null | grep -q '^X-Spam-Flag: YES'; then found=$((found + 1)); fi
    done
    echo "SpamAssassin: $class $found/$all classified as spam"
done
