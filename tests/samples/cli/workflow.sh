# The main workflow with only the command line: brand, contacts, email, test send, campaign, webhook, statistics.
# Each step can be repeated: an idempotency key returns the first response again, and an import updates the same contacts.
# Needs: mailmill in PATH, SERVER, KEY_FILE, SITE (the brand's website) and CONTACTS (a CSV file).
set -eu

mailmill login "$SERVER" --key-file "$KEY_FILE" --test --quiet
project=$(mailmill projects import "$SITE" --name Leaf --idempotency-key flow-brand --wait --quiet)
mailmill profiles use default --project Leaf --quiet

mailmill contacts import "$CONTACTS" --wait --quiet > /dev/null
contacts=$(mailmill contacts list --jsonl | wc -l)
mailmill tags create vip --idempotency-key flow-tag --quiet

conversation=$(mailmill emails generate "Welcome our customers: 10% off the first order with the code HELLO10" \
  --languages en --idempotency-key flow-email --wait --quiet)
mailmill emails send-test --conversation-id "$conversation" --to ada@example.com --idempotency-key flow-test --yes --quiet

webhook=$(mailmill webhooks create https://hooks.leaf.example/mailmill --events subscriber.added,subscriber.unsubscribed \
  --idempotency-key flow-webhook --quiet)

campaign=$(mailmill campaigns create Welcome --conversation-id "$conversation" --from news@leaf.example --from-name Leaf \
  --recipient-type audience --idempotency-key flow-campaign --quiet)
mailmill campaigns send "$campaign" --dry-run --json > /dev/null
mailmill campaigns send "$campaign" --idempotency-key flow-send --yes --quiet
mailmill watch campaign "$campaign" --quiet > /dev/null
# The log has pages with cursors.
logs=$(mailmill campaigns logs "$campaign" --jsonl --limit 1 | wc -l)
sent=$(mailmill campaigns stats "$campaign" --json)

printf '%s\n' "project $project" "contacts $contacts" "conversation $conversation" "webhook $webhook" "campaign $campaign" "logs $logs" "$sent"
