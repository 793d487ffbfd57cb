//! Mailmill: a team's own AI email marketing service in one binary. **This page is the map.**
//!
//! # Layers
//!
//! ```text
//! base ← vocab ← engine ← features ← surfaces ← app, operations, workers
//! ```
//!
//! A module imports only what stands to its left; `tests/tidy.rs` checks it.
//!
//! | Layer | What it is | What it does not know |
//! |---|---|---|
//! | [`base`] | small general tools: clock, randomness, email addresses, languages, secrets | any word of the product |
//! | [`vocab`] | tables of words all layers share: codes, permissions, limits, tables, settings | logic, input, output |
//! | [`engine`] | machinery: store, search, pipeline, access, jobs, fetching, language models, drawing, mail | any noun of the product |
//! | [`features`] | the nouns: projects, contacts, tags, … each with the same skeleton | how a request came in |
//! | [`surfaces`] | ways in: HTTP, dashboard, command line | rules of any kind |
//! | [`app`], [`operations`], [`workers`] | composition, and the two tables that everything follows from | |
//!
//! # The life of a request
//!
//! ```text
//! surfaces/http ─ engine/api/call.rs ─ features/contacts/ops/create.rs ─ features/contacts/store.rs ─ engine/store
//!   sockets, TLS     one pipeline          the operation                    the only file that          group commit,
//!   time limits      route → authenticate  declaration, input, run          names these tables          redb, change feed
//!                    → count → authorise
//!                    → replay → decode
//!                    → run → commit → encode
//! ```
//!
//! The command line, the administration socket and the dashboard enter through the same pipeline as HTTP, so a permission, a budget or
//! an idempotency rule holds on every way in. Who calls is a [`engine::api::Principal`]: a key, or a person who is signed in (in the
//! dashboard by a cookie, in programs by a token) with what their role allows.
//!
//! # The life of an email
//!
//! ```text
//! features/projects ─ features/emails/writing ─ …/document ─ …/look + …/render ─ engine/render/mjml ─ engine/render/pixels
//!   web site →           composer or               typed blocks,  a brand's colours    MJML →             a worker process:
//!   Brand                language model            checked        and layouts → MJML   HTML               PNG, PDF
//! ```
//!
//! `features/emails/generation` takes each email through these as stages that can be repeated; `engine/fetch` is the only way out to
//! addresses that users supply.
//!
//! # The life of a message
//!
//! ```text
//! features/campaigns ─ features/sending ─ …/planning ─ …/dispatch ─ engine/mail ─ features/tracking
//!   launch, schedule,    a mailing, taken   a row per     round: claim,   message, DKIM,  opens, clicks,
//!   pause, report        on in one          recipient,    handoff on disk, transport:      bounces, leaving:
//!                        transaction        or the reason then the dot     relay, MX,      evidence for the rows
//!                                                                          inbox
//! ```
//!
//! `features/sending/delivery.rs` is the state machine of one row; `simulation.rs` beside it runs it against failing disks and relays.
//!
//! # The life of an event
//!
//! ```text
//! engine/outbox ─ features/webhooks/fanout ─ …/delivering ─ engine/fetch
//!   in its cause's    a delivery for each        lanes per endpoint,     one request,
//!   transaction       webhook that asks          attempts on record      a checked address
//! ```
//!
//! # Where to look
//!
//! - *What can be called?* [`operations::OPERATIONS`]. An operation's id is its address: `contacts.create` is
//!   `features/contacts/ops/create.rs`.
//! - *Who gets in, and how?* `features/accounts`: keys, members, sign-in, and agents that ask people for keys. What requests see of it
//!   is in memory: [`engine::access`].
//! - *Where do pages come from?* [`surfaces::dashboard`]: a table of pages, each of which asks operations as the person who looks.
//! - *What can go wrong?* [`vocab::codes`]. *What is bounded, and why by that number?* [`vocab::limits`].
//! - *What is on disk?* [`vocab::tables`]; how bytes become values: [`engine::store`]. Whose it is, and whether it is whole: `app/installation`;
//!   whether the folder is a copy: `app/instance`.
//! - *Why is nothing sent after a restore?* [`engine::hold`]; what waits: [`features::installation`].
//! - *What runs by itself?* [`workers`]. How it is doing: [`engine::jobs::standing`], and `GET /health/ready` for the whole service.
//! - *Who gets a connection when all are in use?* [`engine::admission`]. How many fit into the descriptors: `app/connections.rs`.
//! - *What happens on a full disk?* [`engine::store::space`]: the stores take essential writes only, and keep a reserve for them.
//! - *How does a template become what one recipient gets?* [`engine::render::merge`] fills it, [`engine::mail::message`] writes the
//!   message around it, [`engine::mail::dkim`] signs it.
//! - *What is fetched from elsewhere, and what guards it?* [`engine::fetch`]. How a site becomes a brand: `features/projects/importing`
//!   (stages), `features/projects/reading` (what pages say).
//! - *Which email is credited with an order?* [`features::events`]: the rules are in `attribution`.
//! - *Where are events of customers kept, and how are they found?* [`features::contacts::journal`]; its `index` says why rows of indexes are
//!   written later than what is answered.
//! - *What protects what from whom?* `assets/security/README.md`, the threat model. Parsers of foreign input are fuzzed: `src/fuzzing.rs`.
//! - *What can be configured?* `config/default.toml`, read into [`vocab::settings`].
//! - *What does the API promise, beyond the OpenAPI document?* The pages in `assets/docs`, listed in `assets/docs/README.md`:
//!   `projects.md`, `emails.md`, `contacts.md`, `sending.md`, `attribution.md`, and `validation.md` for the planned validators.
//! - *What does a word mean, and which word do I use?* The glossary: `assets/docs/glossary.md`.
//!
//! # Invariants
//!
//! 1. **Acknowledged means durable.** A command is answered after the commit that holds its effect, its replay record, its audit
//!    row, its counters, its entry in the change feed and its webhook events: one transaction.
//! 2. **Two worlds.** A test key opens `test.redb`, a live key `live.redb`; neither holds a handle to the other.
//! 3. **Derived data can be lost.** The search index follows the change feed and keeps its position in its own commit; `mailmill
//!    reindex` builds it anew while it answers.
//! 4. **Another's object does not exist.** It is answered like one that was never made.
//! 5. **Everything is bounded:** queues, bodies, batches, retries, lists. The numbers stand in [`vocab::limits`] or the settings.
//! 6. **Foreign emails and images are decoded by worker processes only** ([`engine::render::pixels`]), which have limits, no files and no
//!    network. Of an image the server itself reads the dimensions.
//! 7. **Time, randomness and ids come in as arguments.** `clippy.toml` bans the ambient ones and names the substitute.

// `println!` and `eprintln!` panic when they cannot write, as on a full disk; see `app::print` and `app::complain`.
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
