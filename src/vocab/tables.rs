//! TABLE: the ordered tables, with their database file and a description of their rows.
//!
//! Database files identify tables by name, so do not rename a table. The order here is not stored, but a table's ID is its index, so add
//! new tables at the end.

/// The database files that contain a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    /// The file `control.redb`, with accounts, users, keys and other data that the environments share.
    Control,
    /// The files `test.redb` and `live.redb`, each with the data of one environment.
    Environment,
    /// All three database files.
    Every,
}

/// The identity of a table, which is its index in [`TABLES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u8);

/// The entry of a table in [`TABLES`].
#[derive(Clone, Copy, Debug)]
pub struct TableInfo {
    pub id: TableId,
    /// The table's name in the database file.
    pub name: &'static str,
    pub database_kind: DatabaseKind,
    /// A description of the table's keys and values.
    pub holds: &'static str,
}

const fn table(id: u8, name: &'static str, database_kind: DatabaseKind, holds: &'static str) -> TableInfo {
    TableInfo { id: TableId(id), name, database_kind, holds }
}

use DatabaseKind::{Control, Environment, Every};

pub const META: TableId = TableId(0);
pub const AUDIT: TableId = TableId(1);
pub const ACCOUNTS: TableId = TableId(2);
pub const USERS: TableId = TableId(3);
pub const USERS_BY_EMAIL: TableId = TableId(4);
pub const KEYS: TableId = TableId(5);
pub const KEY_USAGE: TableId = TableId(6);
pub const FEED: TableId = TableId(7);
pub const BLOBS: TableId = TableId(8);
pub const BLOB_HEADS: TableId = TableId(9);
pub const OUTBOX: TableId = TableId(10);
pub const REPLAYS: TableId = TableId(11);
pub const REPLAY_EXPIRY: TableId = TableId(12);
pub const PROJECTS: TableId = TableId(13);
pub const TAGS: TableId = TableId(14);
pub const TAGS_BY_NAME: TableId = TableId(15);
pub const TOPICS: TableId = TableId(16);
pub const TOPIC_BITS: TableId = TableId(17);
pub const CONTACTS: TableId = TableId(18);
pub const CONTACTS_BY_EMAIL: TableId = TableId(19);
pub const CONTACT_BITS: TableId = TableId(20);
pub const CONTACT_UPDATES: TableId = TableId(21);
pub const CONTACT_COUNTS: TableId = TableId(22);
pub const CONTACT_JOBS: TableId = TableId(23);
pub const CONTACT_JOB_ROWS: TableId = TableId(24);
pub const SEGMENTS: TableId = TableId(25);
pub const SETUP_LINKS: TableId = TableId(26);
pub const CONTACT_EMAIL_RUNS: TableId = TableId(27);
pub const PROJECT_BRANDS: TableId = TableId(28);
pub const PROJECT_GUIDELINES: TableId = TableId(29);
pub const PROJECT_KNOWLEDGE: TableId = TableId(30);
pub const PROJECT_IMAGES: TableId = TableId(31);
pub const PROJECT_IMAGE_QUEUE: TableId = TableId(32);
pub const PROJECT_IMPORTS: TableId = TableId(33);
pub const PROJECT_IMPORT_QUEUE: TableId = TableId(34);
pub const PROJECT_IMPORT_FILES: TableId = TableId(35);
pub const CONVERSATIONS: TableId = TableId(36);
pub const CONVERSATIONS_BY_PROJECT: TableId = TableId(37);
pub const CONVERSATION_QUEUE: TableId = TableId(38);
pub const EMAILS: TableId = TableId(39);
pub const EMAILS_BY_CONVERSATION: TableId = TableId(40);
pub const EMAIL_VERSIONS: TableId = TableId(41);
pub const EMAIL_TEXTS: TableId = TableId(42);
pub const EMAIL_EDITS: TableId = TableId(43);
pub const EMAIL_EDIT_QUEUE: TableId = TableId(44);
pub const MAILINGS: TableId = TableId(45);
pub const MAILING_TEXTS: TableId = TableId(46);
pub const MAILING_LINKS: TableId = TableId(47);
pub const MAILING_QUEUE: TableId = TableId(48);
pub const MAILING_COUNTS: TableId = TableId(49);
pub const RECIPIENTS: TableId = TableId(50);
pub const RECIPIENT_RETRIES: TableId = TableId(51);
pub const QUOTAS: TableId = TableId(52);
pub const CAMPAIGNS: TableId = TableId(53);
pub const CAMPAIGNS_BY_PROJECT: TableId = TableId(54);
pub const CAMPAIGN_QUEUE: TableId = TableId(55);
pub const DOMAINS: TableId = TableId(56);
pub const DOMAIN_QUEUE: TableId = TableId(57);
pub const SUPPRESSIONS: TableId = TableId(58);
pub const ENGAGEMENTS: TableId = TableId(59);
pub const ENGAGEMENT_COUNTS: TableId = TableId(60);
pub const CONTACT_ACTIVITY: TableId = TableId(61);
pub const ACTIVITY_BITS: TableId = TableId(62);
pub const INBOX: TableId = TableId(63);
pub const INBOX_BODIES: TableId = TableId(64);
pub const SIMULATIONS: TableId = TableId(65);
pub const MAILING_AUDIENCES: TableId = TableId(66);
pub const ERASURES: TableId = TableId(67);
pub const SOFT_BOUNCES: TableId = TableId(68);
pub const EMAIL_DAYS: TableId = TableId(69);
pub const EMAIL_MAILINGS: TableId = TableId(70);
pub const SUPPRESSION_ORDER: TableId = TableId(71);
pub const SUPPRESSION_COUNTS: TableId = TableId(72);
pub const INBOX_TOTALS: TableId = TableId(73);
pub const OUTBOX_QUEUE: TableId = TableId(74);
pub const OUTBOX_INTEREST: TableId = TableId(75);
pub const WEBHOOKS: TableId = TableId(76);
pub const WEBHOOK_STANDINGS: TableId = TableId(77);
pub const WEBHOOK_DELIVERIES: TableId = TableId(78);
pub const WEBHOOK_DUE: TableId = TableId(79);
pub const WEBHOOK_REMOVALS: TableId = TableId(80);
pub const WEBHOOK_REDELIVERIES: TableId = TableId(81);
pub const WEBHOOK_DAYS: TableId = TableId(82);
pub const CUSTOMER_EVENTS: TableId = TableId(83);
pub const CUSTOMER_EVENTS_BY_CONTACT: TableId = TableId(84);
pub const CUSTOMER_EVENT_KEYS: TableId = TableId(85);
pub const CUSTOMER_EVENT_NAMES: TableId = TableId(86);
pub const CUSTOMER_EVENT_BITS: TableId = TableId(87);
pub const CUSTOMER_EVENT_DAYS: TableId = TableId(88);
pub const EXTERNAL_IDS: TableId = TableId(89);
pub const CONTACT_EXTERNAL_IDS: TableId = TableId(90);
pub const CLICK_CHANGES: TableId = TableId(91);
pub const ORDERS: TableId = TableId(92);
pub const CONVERSIONS: TableId = TableId(93);
pub const SESSIONS: TableId = TableId(94);
pub const SECOND_FACTORS: TableId = TableId(95);
pub const INVITATIONS: TableId = TableId(96);
pub const RESET_LINKS: TableId = TableId(97);
pub const CLAIMS: TableId = TableId(98);
pub const CLAIM_CODES: TableId = TableId(99);
pub const ACTIVITY_DAYS: TableId = TableId(100);
pub const REVENUE_DAYS: TableId = TableId(101);
pub const CLICKED_LINKS: TableId = TableId(102);
pub const KEY_DAYS: TableId = TableId(103);
pub const CUSTOMER_EVENT_BACKLOG: TableId = TableId(104);
pub const CUSTOMER_EVENT_KEY_RUNS: TableId = TableId(105);
pub const PROJECT_OVERRIDES: TableId = TableId(106);
pub const NONCONTACT_CLICKS: TableId = TableId(107);
pub const NONCONTACT_CLICKS_BY_TIME: TableId = TableId(108);
pub const FORMER_MEMBERS: TableId = TableId(109);
pub const THROTTLES: TableId = TableId(110);
pub const ORDERS_BY_CONTACT: TableId = TableId(111);
pub const MAILING_TURNS: TableId = TableId(112);
pub const CUSTOMER_EVENT_COUNTS: TableId = TableId(113);
pub const PRODUCTS: TableId = TableId(114);
pub const IMPORT_CHANGES: TableId = TableId(115);
pub const LIVE_COPIES: TableId = TableId(116);
pub const MODEL_USAGE: TableId = TableId(117);
pub const EMAIL_SCREENSHOT_QUEUE: TableId = TableId(118);
pub const SAVED_BLOCKS: TableId = TableId(119);
pub const PREVIEWS: TableId = TableId(120);
pub const PREVIEWS_BY_TIME: TableId = TableId(121);
pub const PREVIEW_QUEUE: TableId = TableId(122);
pub const PREVIEW_DRAWINGS: TableId = TableId(123);
pub const PREVIEW_DIGESTS: TableId = TableId(124);
pub const EMAIL_CHECKS: TableId = TableId(125);
pub const EMAIL_CHECK_QUEUE: TableId = TableId(126);
pub const IGNORED_FINDINGS: TableId = TableId(127);
pub const MAIL_FEEDBACK: TableId = TableId(128);
pub const MAIL_FEEDBACK_STANDINGS: TableId = TableId(129);
pub const MAIL_FEEDBACK_REQUESTS: TableId = TableId(130);
pub const MAIL_FEEDBACK_REQUEST_ORDER: TableId = TableId(131);
pub const CONNECTIONS: TableId = TableId(132);
pub const HOOKS: TableId = TableId(133);
pub const HOOK_STANDINGS: TableId = TableId(134);
pub const HOOK_DELIVERIES: TableId = TableId(135);
pub const SCHEDULED_IMPORTS: TableId = TableId(136);
pub const SCHEDULED_IMPORT_QUEUE: TableId = TableId(137);
pub const EXPORTED_TEMPLATES: TableId = TableId(138);
pub const EXPORTED_IMAGES: TableId = TableId(139);
pub const STORES: TableId = TableId(140);
pub const STORE_SYNCS: TableId = TableId(141);
pub const STORE_SYNC_QUEUE: TableId = TableId(142);
pub const STORE_DELIVERIES: TableId = TableId(143);
pub const STORE_DELIVERY_ORDER: TableId = TableId(144);
pub const STORE_WAITING_EVENTS: TableId = TableId(145);
pub const STORE_DATA_REQUESTS: TableId = TableId(146);
pub const STORE_CONTACTS: TableId = TableId(147);
pub const OAUTH_CODES: TableId = TableId(148);
pub const OAUTH_GRANTS: TableId = TableId(149);
pub const OAUTH_REFRESH_TOKENS: TableId = TableId(150);
pub const STORE_CUSTOMERS: TableId = TableId(151);
pub const EMAIL_PREVIEWED_EDITS: TableId = TableId(152);

/// All tables, in the order of their IDs.
pub const TABLES: &[TableInfo] = &[
    table(0, "meta", Every, "name -> value, such as the schema version and the identity of the store"),
    table(1, "audit", Every, "(time, number) -> who did what to which object"),
    table(2, "accounts", Control, "account id -> name, plan"),
    table(3, "users", Control, "user id -> email, password hash, account"),
    table(4, "users_by_email", Control, "normalized email -> user id"),
    table(5, "keys", Control, "key id -> hash, name, permissions, environment, account"),
    table(6, "key_usage", Control, "key id -> last used, requests"),
    table(7, "feed", Environment, "position -> the changed rows, for indexes and other derived data"),
    table(8, "blobs", Environment, "(blob id, chunk) -> bytes"),
    table(9, "blob_heads", Environment, "blob id -> length, type, expiry"),
    table(10, "outbox", Environment, "event id -> webhook event of the last days"),
    table(11, "replays", Environment, "(key id, digest of the idempotency key) -> request digest, response"),
    table(12, "replay_expiry", Environment, "(expiry, key id, digest) -> no value"),
    table(13, "projects", Environment, "(account id, project id) -> project"),
    table(14, "tags", Environment, "(project id, tag number) -> tag"),
    table(15, "tags_by_name", Environment, "(project id, folded name) -> tag number"),
    table(16, "topics", Environment, "(project id, topic id) -> topic"),
    table(17, "topic_bits", Environment, "(project id, topic id, choice, block) -> contact numbers with that choice"),
    table(18, "contacts", Environment, "(project id, contact number) -> contact"),
    table(19, "contacts_by_email", Environment, "(project id, digest of the normalized email) -> contact number"),
    table(20, "contact_bits", Environment, "(project id, facet, block) -> contact numbers that have it"),
    table(21, "contact_updates", Environment, "(project id, block) -> time of last change of each contact in the block"),
    table(22, "contact_counts", Environment, "(project id, facet) -> how many contacts have it"),
    table(23, "contact_jobs", Environment, "(finished or not, job id) -> bulk write, import or export"),
    table(24, "contact_job_rows", Environment, "(job id, row) -> rows waiting, or why a row was rejected"),
    table(25, "segments", Environment, "(project id, segment id) -> segment"),
    table(26, "setup_links", Control, "digest of the link's token -> account, expiry"),
    table(
        27,
        "contact_email_runs",
        Environment,
        "(project id, run) -> digests and contact numbers that wait to be merged into contacts_by_email",
    ),
    table(28, "project_brands", Environment, "project id -> the brand as read from its sites"),
    table(29, "project_guidelines", Environment, "project id -> the user's rules for its emails"),
    table(30, "project_knowledge", Environment, "(project id, entry id) -> text that emails may use"),
    table(31, "project_images", Environment, "(project id, image id) -> image"),
    table(32, "project_image_queue", Environment, "(project id, image id) -> image or logo waiting for analysis"),
    table(33, "project_imports", Environment, "project id -> progress of its import"),
    table(34, "project_import_queue", Environment, "project id -> account; imports that are not done"),
    table(35, "project_import_files", Environment, "(project id, number) -> a page or file that an import has fetched"),
    table(36, "conversations", Environment, "(account id, conversation id) -> conversation"),
    table(37, "conversations_by_project", Environment, "(project id, conversation id) -> no value"),
    table(38, "conversation_queue", Environment, "(conversation id, account id) -> no value: its emails are not finished"),
    table(39, "emails", Environment, "(account id, email id) -> email"),
    table(40, "emails_by_conversation", Environment, "(conversation id, place, email id) -> no value"),
    table(41, "email_versions", Environment, "(email id, number) -> version of the email"),
    table(42, "email_texts", Environment, "(email id, number, part) -> HTML, MJML or plain text of a version"),
    table(43, "email_edits", Environment, "edit id -> edit of an email"),
    table(44, "email_edit_queue", Environment, "edit id -> no value: the edit is not finished"),
    table(45, "mailings", Environment, "mailing id -> mailing: what is sent to whom, and its progress"),
    table(46, "mailing_texts", Environment, "(content, part) -> subject, HTML or plain text with its merge fields"),
    table(47, "mailing_links", Environment, "(content, number) -> URL that a tracked link leads to"),
    table(48, "mailing_queue", Environment, "(queue, mailing id) -> no value: it can be sent, is planned, or may not send now"),
    table(49, "mailing_counts", Environment, "(mailing id, state or reason) -> how many recipients"),
    table(50, "recipients", Environment, "(mailing id, number) -> recipient, and the state of its delivery"),
    table(51, "recipient_retries", Environment, "(mailing id, time, number) -> no value: the recipient is retried then"),
    table(52, "quotas", Environment, "(account id, day or month) -> emails"),
    table(53, "campaigns", Environment, "(account id, campaign id) -> campaign"),
    table(54, "campaigns_by_project", Environment, "(project id, campaign id) -> no value"),
    table(55, "campaign_queue", Environment, "(time, campaign id, account id) -> no value: when it is handled next"),
    table(56, "domains", Environment, "(account id, domain) -> sending domain, its keys sealed"),
    table(57, "domain_queue", Environment, "(time, account id, domain) -> no value: when its DNS is checked next"),
    table(58, "suppressions", Environment, "(account id, keyed hash of the normalized email) -> why it is not mailed"),
    table(
        59,
        "engagements",
        Environment,
        "(mailing id, number) -> what a recipient did: opens, clicks, bounce, complaint, unsubscribing",
    ),
    table(60, "engagement_counts", Environment, "(mailing id, kind) -> how many"),
    table(
        61,
        "contact_activity",
        Environment,
        "(project id, contact number, time, kind, mailing id) -> campaign: what was sent to a contact, and its activity",
    ),
    table(
        62,
        "activity_bits",
        Environment,
        "(project id, kind, campaign or any, hour or day or ever, block) -> contact numbers with such activity",
    ),
    table(63, "inbox", Environment, "(account id, message id) -> message of the built-in inbox"),
    table(64, "inbox_bodies", Environment, "(message id, chunk) -> the message as it would have gone out"),
    table(
        65,
        "simulations",
        Environment,
        "(time, mailing id, number) -> server reply, or action of a simulated recipient, at that time",
    ),
    table(66, "mailing_audiences", Environment, "(mailing id, block) -> contact numbers that belong to it, while it is planned"),
    table(67, "erasures", Environment, "(project id, contact number) -> deleted contact whose data other tables still have"),
    table(68, "soft_bounces", Environment, "(project id, contact number) -> soft bounces in a row, and when the last one was"),
    table(69, "email_days", Environment, "(email id, day, kind) -> how many were sent, opened, … on that day, by its mailings"),
    table(70, "email_mailings", Environment, "(email id, mailing id) -> no value: the mailing sends that email"),
    table(
        71,
        "suppression_order",
        Environment,
        "(account id, reason or all, time, keyed hash) -> no value: suppressions by time",
    ),
    table(72, "suppression_counts", Environment, "(account id, reason or all) -> how many suppressions"),
    table(73, "inbox_totals", Environment, "(account id, messages or bytes) -> how many the built-in inbox has"),
    table(74, "outbox_queue", Environment, "event id -> no value: not yet matched with webhooks"),
    table(75, "outbox_interest", Environment, "(account id, kind of event) -> how many webhooks subscribe: active ones, or all"),
    table(76, "webhooks", Environment, "(account id, webhook id) -> webhook, its secrets sealed"),
    table(
        77,
        "webhook_standings",
        Environment,
        "(account id, webhook id) -> counts of a webhook, and the health of its endpoint",
    ),
    table(78, "webhook_deliveries", Environment, "(webhook id, delivery id) -> delivery with its attempts"),
    table(
        79,
        "webhook_due",
        Environment,
        "(account id, webhook id, time, delivery id) -> no value: when the delivery is handled next",
    ),
    table(80, "webhook_removals", Environment, "(account id, webhook id) -> no value: deleted webhook that still has rows"),
    table(81, "webhook_redeliveries", Environment, "(finished or not, account id, webhook id) -> time range to redeliver"),
    table(82, "webhook_days", Environment, "(account id, day) -> deliveries and attempts that ended on that day"),
    table(83, "customer_events", Environment, "event id -> event reported by a customer's system"),
    table(
        84,
        "customer_events_by_contact",
        Environment,
        "(project id, contact number, time, event id) -> number of the event's name",
    ),
    table(85, "customer_event_keys", Environment, "(project id, digest of the dedupeKey) -> event id"),
    table(86, "customer_event_names", Environment, "(project id, folded name) -> number of the name"),
    table(
        87,
        "customer_event_bits",
        Environment,
        "(project id, number of a name, hour or day or ever, block) -> contact numbers with such an event",
    ),
    table(
        88,
        "customer_event_days",
        Environment,
        "(day, project id, number of a name) -> no value: the name has sets of that day",
    ),
    table(89, "external_ids", Environment, "(project id, kind, digest of a customer, checkout or order id) -> contact number"),
    table(
        90,
        "contact_external_ids",
        Environment,
        "(project id, contact number, kind, digest) -> no value: external ids by contact",
    ),
    table(91, "clickers", Environment, "(project id, contact number) -> its orders are attributed again from this position"),
    table(
        92,
        "orders",
        Environment,
        "(project id, digest of the order id) -> payments and refunds of an order, and its attribution",
    ),
    table(93, "conversions", Environment, "(mailing or email, id, currency) -> number and amount of orders"),
    table(94, "sessions", Control, "session id -> user, digest of its token, expiry"),
    table(95, "second_factors", Control, "user id -> sealed secret of the authenticator app, digests of recovery codes"),
    table(96, "invitations", Control, "invitation id -> email, role, digest of its link's token, expiry"),
    table(97, "reset_links", Control, "digest of the link's token -> user id, expiry"),
    table(98, "claims", Control, "claim id -> agent, user, request and result"),
    table(99, "claim_codes", Control, "digest of the code -> claim id"),
    table(100, "activity_days", Environment, "(account or mailing, id, day, kind) -> how many opened, clicked, … on that day"),
    table(101, "revenue_days", Environment, "(account or mailing, id, day, currency) -> number and amount of orders of that day"),
    table(102, "clicked_links", Environment, "(mailing id, index of a translation, number of a link) -> clicks that look human"),
    table(103, "key_days", Control, "(key id, day) -> requests on that day"),
    table(
        104,
        "customer_event_backlog",
        Environment,
        "(project id, number of the first) -> events of one request that are not yet indexed by contact",
    ),
    table(
        105,
        "customer_event_key_runs",
        Environment,
        "(project id, number of the first event) -> digests of dedupeKeys and event ids, sorted, that are not yet indexed",
    ),
    table(106, "project_overrides", Environment, "project id -> brand values set by users in place of the imported ones"),
    table(
        107,
        "noncontact_clicks",
        Environment,
        "(project id, digest of the normalized email, time, mailing id) -> no value: click in a direct send by a non-contact",
    ),
    table(
        108,
        "noncontact_clicks_by_time",
        Environment,
        "(time, project id, digest, mailing id) -> no value: the same clicks by time",
    ),
    table(109, "former_members", Control, "user id -> email, time of leaving: as long as the audit log has their entries"),
    table(110, "throttles", Control, "digest of a rule and a name -> counted attempts, remaining wait"),
    table(
        111,
        "orders_by_contact",
        Environment,
        "(project id, contact number, credited or unpaid, time, digest of the order id) -> no value: orders that refunds depend on",
    ),
    table(112, "mailing_turns", Environment, "(lane, account id, time, mailing id) -> no value: the mailing continues then"),
    table(
        113,
        "customer_event_counts",
        Environment,
        "(project id, events or names) -> how many customer events or names of events",
    ),
    table(114, "products", Environment, "(project id, product id) -> product: its imported values, and those that users set"),
    table(115, "import_changes", Environment, "project id -> changes that an import found and users have not decided on yet"),
    table(
        116,
        "live_copies",
        Environment,
        "(project id, kind, id in the test environment) -> digest of what was copied from there, or the project's copy",
    ),
    table(117, "model_usage", Control, "(account id, month, project id, model) -> requests to a language model, and their cost"),
    table(
        118,
        "email_screenshot_queue",
        Environment,
        "(account id, email id) -> no value: the current version has no screenshots yet",
    ),
    table(119, "saved_blocks", Environment, "(project id, saved block id) -> block that users saved for other emails"),
    table(120, "previews", Environment, "(account id, preview id) -> preview: an email on a list of devices"),
    table(121, "previews_by_time", Environment, "(preview id, account id) -> no value: previews by time"),
    table(122, "preview_queue", Environment, "(preview id, account id) -> no value: devices of the preview wait"),
    table(123, "preview_drawings", Environment, "(account id, drawing id) -> the picture of an email on a device"),
    table(124, "preview_digests", Environment, "(account id, digest of email and device) -> rendering that previews share"),
    table(125, "email_checks", Environment, "(email id, number) -> scores and findings of a version"),
    table(
        126,
        "email_check_queue",
        Environment,
        "(account id, email id) -> no value: its current version is not fully checked yet",
    ),
    table(127, "ignored_findings", Environment, "(email id, finding id) -> finding that users ignore, and who ignored it"),
    table(
        128,
        "mail_feedback",
        Environment,
        "(account id, mail service id) -> mail service that reports events, its secret sealed",
    ),
    table(
        129,
        "mail_feedback_standings",
        Environment,
        "(account id, mail service id) -> how many events it reported, and the last one",
    ),
    table(
        130,
        "mail_feedback_requests",
        Environment,
        "(mail service id, digest of the request's id) -> digest of its body: requests that are not accepted with another body",
    ),
    table(
        131,
        "mail_feedback_request_order",
        Environment,
        "(mail service id, time, digest of the request's id) -> no value: the same requests by time",
    ),
    table(
        132,
        "connections",
        Environment,
        "(account id, connection id) -> connected account on another platform, its key sealed",
    ),
    table(
        133,
        "hooks",
        Environment,
        "(account id, incoming webhook id) -> incoming webhook; the secret of its URL hashed, the secret of its signatures sealed",
    ),
    table(134, "hook_standings", Environment, "incoming webhook id -> how many requests it accepted and rejected"),
    table(135, "hook_deliveries", Environment, "(incoming webhook id, number) -> outcome of a request, without its values"),
    table(136, "scheduled_imports", Environment, "(account id, scheduled import id) -> URL, mapping, schedule, last run"),
    table(137, "scheduled_import_queue", Environment, "(time, account id, scheduled import id) -> no value: the next runs"),
    table(
        138,
        "exported_templates",
        Environment,
        "(account id, email id, digest of the platform's account, kind) -> template or draft that exports write on a platform",
    ),
    table(
        139,
        "exported_images",
        Environment,
        "(account id, digest of the platform's account, digest of an image) -> its URL on the platform",
    ),
    table(140, "stores", Environment, "(account id, store id) -> connected or disconnected store, its keys sealed"),
    table(141, "store_syncs", Environment, "(account id, store id) -> progress of the imports from a store"),
    table(142, "store_sync_queue", Environment, "(time, account id, store id) -> no value: when the next step of a sync is due"),
    table(143, "store_deliveries", Environment, "(store id, digest of the delivery's id) -> no value: webhooks already applied"),
    table(
        144,
        "store_delivery_order",
        Environment,
        "(store id, time, digest of the delivery's id) -> no value: the same by time",
    ),
    table(
        145,
        "store_waiting_events",
        Environment,
        "(store id, digest of the order's id, digest of the event's key) -> event that arrived before its order",
    ),
    table(146, "store_data_requests", Environment, "(store id, digest of the request's id) -> customer's request for their data"),
    table(147, "store_contacts", Environment, "(store id, contact number) -> no value: contacts that the store added"),
    table(148, "oauth_codes", Control, "SHA-256 of an authorization code -> user's consent"),
    table(149, "oauth_grants", Control, "key id -> program's access and the hashes of its current tokens"),
    table(150, "oauth_refresh_tokens", Control, "SHA-256 of a refresh token -> key id; also replaced tokens, until they expire"),
    table(151, "store_customers", Environment, "(store id, digest of the customer's id) -> when the imported data had changed"),
    table(152, "email_previewed_edits", Environment, "email id -> latest edit of the email that was previewed and not saved yet"),
];

impl TableId {
    pub fn info(self) -> &'static TableInfo {
        &TABLES[self.0 as usize]
    }
}

impl DatabaseKind {
    /// Returns whether a table of the kind `self` is in database files of the kind `file`.
    pub fn is_in(self, file: DatabaseKind) -> bool {
        self == DatabaseKind::Every || self == file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_its_own_index_and_every_name_is_used_once() {
        for (index, info) in TABLES.iter().enumerate() {
            assert_eq!(info.id.0 as usize, index, "{}", info.name);
            assert_eq!(TABLES.iter().filter(|other| other.name == info.name).count(), 1, "{}", info.name);
        }
    }
}
