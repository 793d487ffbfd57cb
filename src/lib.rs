//! Mailmill: a team's own AI email marketing service in one binary. **This page is the map.**
//!
//! # Layers
//!
//! ```text
//! base ← vocab ← engine ← features ← surfaces ← app, operations, workers
//! ```
//!
//! A module imports only from layers to its left; `tests/tidy` enforces this.
//!
//! | Layer | What it is | What it does not contain |
//! |---|---|---|
//! | [`base`] | small general tools: clock, randomness, email addresses, languages, secrets | terms of the product |
//! | [`vocab`] | tables of words all layers share: codes, permissions, limits, tables, settings | logic, input, output |
//! | [`engine`] | machinery: store, search, pipeline, access, jobs, fetching, language models, rendering, mail | nouns of the product |
//! | [`features`] | the nouns: projects, contacts, tags, … each with the same structure | code that depends on how a request arrived |
//! | [`surfaces`] | the interfaces: HTTP, dashboard, documentation, MCP server, command line | rules of the product |
//! | [`app`], [`operations`], [`workers`] | composition, and the tables of all operations and all workers | |
//!
//! # The life of a request
//!
//! ```text
//! surfaces/http ─ engine/api/call.rs ─ features/contacts/ops/create.rs ─ features/contact_records/store ─ engine/store
//!   sockets, TLS     one pipeline          the operation                    the only module that           group commit,
//!   time limits      route → authenticate  declaration, input, run          opens these tables             redb, change feed
//!                    → count → authorize
//!                    → replay → decode
//!                    → run → commit → encode
//! ```
//!
//! The command line, the administration socket, the dashboard and the MCP server use the same pipeline as HTTP, so permissions, budgets and
//! idempotency rules hold everywhere. The caller is a [`engine::api::Principal`]: an API key or a signed-in user, with permissions. Users
//! are identified by a cookie in the dashboard, and by a token in programs.
//!
//! # The life of an email
//!
//! ```text
//! features/projects ─ features/emails/brief ─ …/writing ─ …/contract ─ …/document ─ …/theme + …/render ─ engine/render
//!   web site →           prompt →                composer or    keeps the    typed      a brand's theme       MJML → HTML;
//!   Brand                facts, notes            model          brief?       blocks     and layouts → MJML    PNG, PDF
//! ```
//!
//! `features/emails/generation` takes each email through these steps as stages that can be repeated. In the server, only `engine/fetch`
//! sends requests to URLs that users supply.
//!
//! # The life of a message
//!
//! ```text
//! features/campaigns ─ features/sending ─ …/planning ─ …/dispatch ─ engine/mail ─ features/tracking
//!   launch, schedule,    a mailing,         a row per     round: claim,   message, DKIM,  opens, clicks,
//!   pause, report        stored in one      recipient,    handoff on disk, transport:      bounces, unsubscribes:
//!                        transaction        or skipped    then sending     relay, MX,      evidence for the rows
//!                                                                          inbox
//! ```
//!
//! `features/sending/delivery.rs` is the state machine of one row; `simulation.rs` in the same folder tests the state machine against
//! failing disks and relays.
//!
//! # The life of an event
//!
//! ```text
//! engine/outbox ─ features/webhooks/fanout ─ …/dispatch ─ engine/fetch
//!   in its cause's    a delivery for each        lanes per endpoint,     one request,
//!   transaction       subscribed webhook         attempts recorded       a checked address
//! ```
//!
//! # Where to look
//!
//! - *What can be called?* [`operations::OPERATIONS`]. An operation's ID is its address: `contacts.create` is
//!   `features/contacts/ops/create.rs`.
//! - *Who has access, and how?* `features/accounts`: keys, members, sign-in, and agents that request keys. Requests use the copy in memory:
//!   [`engine::access`].
//! - *Where do pages come from?* [`surfaces::dashboard`]: a table of pages. Each calls operations as the signed-in user.
//! - *Which errors exist?* [`vocab::codes`]. *What are the limits, and why?* [`vocab::limits`]; limits that operators can change, such as
//!   the size of uploads, are in `config/default.toml`.
//! - *How large may a contact import be?* `CONTACT_IMPORT_*` in [`vocab::limits`], and `limits.upload_bytes_max`; scheduled imports:
//!   `SCHEDULED_IMPORT_BYTES_MAX`.
//! - *What is on disk?* [`vocab::tables`]; how bytes become values: [`engine::store`]. Which installation owns the data, and whether the
//!   installation is complete: `app/installation`. Whether the folder is a copy: `app/instance`. Whether every row can be read:
//!   `features/installation/row_checks.rs`, for `mailmill check-data`.
//! - *How does the continuous backup work?* [`engine::backup`]: the path of a commit from the writer to the target, and which server may
//!   write there. The record of a commit: `engine/store/commit_log.rs`. Its age, drills and emails: `features/system/continuous.rs`; the
//!   command `restore`: `app/restore_continuous.rs`.
//! - *How is one brand restored from the backup?* `features/restores`; `features/go_live/copier.rs` copies the brand, as when a brand goes
//!   live.
//! - *How do several nodes share an installation?* [`engine::store::cluster`]: the log, the lease, and the store of a leader or a follower.
//!   `app/node.rs` joins a cluster, and `app/roles.rs` starts the leader's workers; [`surfaces::leader`] decides which requests run on
//!   which node, and reports the visits that a node answers without a leader. Lost commits: `cluster/lease.rs`. The commands
//!   `mailmill cluster`: `app/cluster.rs`. `tests/it/cluster.rs` tests nodes with faults.
//! - *What would change with several writers?* `assets/docs/growth.md`: a log per group of accounts. `engine/store/cluster/tests/shards.rs`
//!   simulates it. Tables whose keys start with an account, or with an object of an account, do not change; queues by time, the change
//!   feed, the outbox and the search index exist once per shard; identifiers in links and returned mail must lead to a shard.
//! - *Why is nothing sent after a restore?* [`engine::hold`]; what is waiting: [`features::installation`].
//! - *How do I add an operation with a page?* Write `features/<noun>/ops/<verb>.rs` and a row in [`operations::OPERATIONS`]; then a file in
//!   `surfaces/dashboard/pages` that calls it, its template, and a row in the table of `pages/mod.rs`, which lists the steps; then update
//!   the OpenAPI snapshot (`SNAPSHOTS=write cargo test --test tidy openapi`), and regenerate the API clients (`assets/clients/README.md`).
//!   An operation for AI assistants also needs a row in `surfaces/mcp/tools.rs`. A small example is `features/tags/ops/create.rs` with
//!   `surfaces/dashboard/pages/tags.rs`.
//! - *Where do the commands of the command-line client come from?* `surfaces/cli/client`: `names` and `fields` read
//!   [`operations::OPERATIONS`], `commands` defines the commands, `operation` runs one. A new operation becomes a command automatically;
//!   `features` lists the additional features of some commands, such as `--wait`.
//! - *Which permissions does a page need?* The permissions of the operations that it calls; each operation declares its permission in its
//!   `SPEC`. `calls` in the page's row in `surfaces/dashboard/pages/mod.rs` also removes the page from the menus of users who may not call
//!   these operations. A page that is only a form calls `visit.need`, because it calls no operation before it is submitted. Roles:
//!   [`vocab::roles`].
//! - *What happens to a campaign in a crash?* `assets/docs/delivery.md` describes what is guaranteed. Planning continues after its last
//!   committed chunk (`features/sending/planning.rs`). At startup, `recover` in `features/sending/dispatch` marks messages that were being
//!   handed over as unknown; `mail.unknown`, or the campaign's own choice, decides whether they are sent again. `tests/it/delivery.rs`
//!   kills the server.
//! - *What is the retry backoff?* For mail: `Schedule` in `features/sending/delivery.rs`; the first pause and the time limit are settings
//!   (`mail.retry_minutes`, `mail.give_up_hours`), the longest pause is `RETRY_PAUSE_MS_MAX`. For a mail server that cannot be reached:
//!   `engine/mail/transport/host_throttle.rs`. For webhooks: `RetryBackoff` in `features/webhooks/model.rs`, with the settings
//!   `webhooks.first_retry_seconds` and `webhooks.second_retry_seconds`.
//! - *How does one-click unsubscribe work?* `ListHeaders` in `engine/mail/message.rs` writes the headers of RFC 8058, which requires
//!   `https://` links. `features/tracking/ops/unsubscribe.rs` receives the request, and `leave` in `features/tracking/unsubscribe.rs`
//!   applies it, as for all other ways to unsubscribe.
//! - *How do mail services report bounces and complaints?* [`engine::mail::feedback`] checks the requests of each service and reads the
//!   events; `features/mail_feedback` finds the messages by their references, and `features/tracking/feedback.rs` applies the consequences.
//!   The services and their relays: [`vocab::mail_services`].
//! - *How do forms and automations add contacts?* `features/hooks`: the mapping of bodies in `mapping.rs`, the rules in `receiving.rs`.
//! - *Where do DKIM keys come from?* [`engine::mail::dkim`] creates keys and signs with them. Where the keys are stored, and how they
//!   rotate: `features/domains/mod.rs`; `key_pairs.rs` there creates and encrypts both keys of a domain.
//! - *How does an email become a PNG?* [`engine::render::pixels`]: `prepare` adapts the HTML, and `draw.rs` draws it with the takumi
//!   library in a worker process, or an installed Chromium draws it (`rendering.engine`).
//! - *How does a prompt become a brief?* `features/emails/brief/parse`, with a table of words per language in `assets/brief`. What every
//!   email must keep from the brief: `features/emails/contract`; `contract/score.rs` scores the emails of the prompts in
//!   `tests/samples/prompts`.
//! - *How does the editor work?* `surfaces/dashboard/pages/email/editor` has its forms and its data, `assets/dashboard/editor` its script.
//!   Both save with `emails.document_update`; changes to documents are in `features/emails/document/change.rs`.
//! - *How is an email checked?* [`features::checks`]: links, email clients, spelling, deliverability, accessibility. A worker process
//!   parses the HTML ([`engine::render::inspect`], [`engine::clients`]); `engine/fetch/link_probes.rs` requests the links;
//!   [`engine::spelling`] and [`engine::deliverability`] read the text. `features/emails/checking.rs` checks every version and stores the
//!   result; `features/validation` checks an email on request; `app/check_file.rs` checks a file.
//! - *How is an email previewed on devices?* [`features::previews`] stores and draws; [`engine::clients::transform`] turns the email into
//!   what a client shows; the devices are in `assets/email_clients/devices.toml`.
//! - *How does search tolerate typos?* `engine/search/query.rs` decides when, and `typo.rs` finds similar words.
//! - *How do AI assistants use the service?* [`surfaces::mcp`] is the MCP server: its table of operations is in `tools.rs`, `schemas.rs`
//!   shortens their schemas, `confirmation.rs` asks the user, and `calling.rs` runs a call. Users connect programs with the flow in
//!   `features/accounts/authorization`.
//! - *What runs in the background?* [`workers`]; the listeners, and the task that reloads certificates: [`surfaces::http`]. The status of
//!   the workers: [`engine::tasks::status`], and `GET /health/ready` for the whole service.
//! - *How are the pages tested?* `every_template_renders_its_samples` in `surfaces/dashboard/layout.rs` renders every template;
//!   `tests/it/browser` opens every page in Chromium.
//! - *Which client gets a connection when all are in use?* [`engine::admission`]. How many connections the file descriptors allow:
//!   `app/connections.rs`.
//! - *How much memory do large requests take?* [`engine::api::bodies`] bounds their bodies, and `tests/it/memory.rs` measures them.
//! - *What happens on a full disk?* [`engine::store::space`]: the stores accept only essential writes, and keep a reserve for them.
//! - *How does a template become one recipient's message?* [`engine::render::merge`] fills in the template, [`engine::mail::message`]
//!   writes the message, and [`engine::mail::dkim`] signs it.
//! - *What does Mailmill fetch from other servers, and how is that guarded?* [`engine::fetch`]. How a site becomes a brand:
//!   `features/projects/importing` (stages), `features/projects/reading` (the content of pages).
//! - *Which email is credited with an order?* [`features::events`]: the rules are in `attribution`. Orders and totals: `features/revenue`.
//! - *Where are opens, clicks and bounces counted?* `features/engagement`; `features/tracking` decides which visits are counted.
//! - *Where are contacts stored, and how do filters find them?* [`features::contact_records`] and [`features::filters`]. Sets by tag and
//!   status: [`features::contact_sets`].
//! - *How are contacts imported from other platforms?* `features/connections` has the keys, the client for all requests, and an adapter per
//!   platform. An import is a contact job, whose pages `features/contacts/jobs/provider.rs` applies. `fields.rs` maps the platform's fields
//!   to contact fields.
//! - *How are contacts and events imported on a schedule?* `features/scheduled_imports`: the schedule in `model.rs`, the steps of a run in
//!   `running.rs`. A contact job imports contacts from a file or a platform; `events.rs` imports events. The adapters in
//!   `features/connections/platform` return the changes on a platform since the last run.
//! - *How are accounts connected with OAuth?* `features/connections/oauth.rs` has the flow, its state, and the refresh of tokens; the
//!   operations are `connections.authorize` and `connections.complete`.
//! - *How are emails exported to other platforms?* `features/exports/translate.rs` writes the platform's language,
//!   `features/connections/templates` creates and updates templates and drafts; `publish.rs` there explains why there are no duplicates.
//! - *How is a store connected?* `features/storefront`: `sync` imports products and customers in steps, `incoming` and `apply` handle
//!   webhooks, and `platform` has an adapter for Shopify and one for WooCommerce. Products become products of the brand through
//!   `features/projects/shop_products.rs`, orders become customer events through `features/events/reporting.rs`. `install` has the OAuth
//!   flow of Shopify.
//! - *How do I add a contact field?* Add a row to [`vocab::contact_fields`], which filters, CSV files, the search index, merge fields,
//!   forms and OpenAPI read. The documentation of the module lists all steps.
//! - *Where are customer events stored, and how are they found?* [`features::customer_events`]; `store/index.rs` explains why index rows
//!   are written after the response.
//! - *What is the threat model?* `assets/security/README.md`. Parsers of untrusted input are fuzzed: `src/fuzzing.rs`.
//! - *What can be configured?* `config/default.toml`, read into [`vocab::settings`].
//! - *Where are the Node.js SDK and the Python client?* In `assets/clients`, generated from the OpenAPI document;
//!   `features/system/clients.rs` packs them, and the server offers them under `/clients/`.
//! - *What does the API promise, beyond the OpenAPI document?* The pages under "Reference" in `assets/docs`, such as `sending.md`.
//! - *How is the documentation shown?* [`surfaces::docs`]: `chapters.rs` lists the pages of `assets/docs`, `reference.rs` writes the pages
//!   of the API from the table of operations, and `remedies.rs` has the cause and remedy of every error code.
//! - *What does a word mean, and which word should I use?* The glossary: `assets/docs/glossary.md`; `tests/tidy/words.rs` rejects the words
//!   that it replaces.
//!
//! # Invariants
//!
//! 1. **Acknowledged means durable.** A command responds after the commit that holds its effect, its replay record, its audit row, its
//!    counters, its entry in the change feed and its webhook events: one transaction.
//! 2. **Two environments.** A test key opens `test.redb`, and a live key opens `live.redb`. An operation reads and writes only its caller's
//!    environment, except `features/go_live`, which copies a brand from test to live, and operations on the whole installation, such as
//!    backups and `features/restores`.
//! 3. **Derived data can be lost.** The search index follows the change feed and keeps its position in its own commit; `mailmill reindex`
//!    rebuilds it while the service runs.
//! 4. **An object of another account does not exist.** The response is the same as for an unknown ID.
//! 5. **Everything is bounded:** queues, bodies, batches, retries, lists. The numbers are in [`vocab::limits`] or the settings; numbers
//!    that belong to one algorithm, such as thresholds, are next to the algorithm.
//! 6. **Only worker processes parse imported emails, images and websites** ([`engine::render::pixels`]). They have limits, and no access to
//!    files or the network. `mailmill check` reads its user's own file in its own process, with the same limits. The server itself reads
//!    only the dimensions of images and, for the spelling and deliverability checks, the words of emails, with a scanner that takes linear
//!    time and builds no tree.
//! 7. **Time, randomness and IDs are arguments.** `clippy.toml` bans the ambient sources and names the replacements.

// `println!` and `eprintln!` panic when they cannot write, for example because the disk is full; see `surfaces/cli/terminal.rs`.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod app;
pub mod base;
pub mod engine;
pub mod features;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod operations;
pub mod surfaces;
#[cfg(test)]
mod testing;
pub mod vocab;
pub mod workers;
