//! How much of anything is taken, and why that much. What an operator may want to change is a setting instead.

// --- Lists ---

/// What clients of this interface expect when they name no number.
pub const PAGE_LIMIT_DEFAULT: u64 = 20;
/// Enough for a screen of any size; more would make one answer cost as much as a hundred.
pub const PAGE_LIMIT_MAX: u64 = 100;
/// Skipping costs time in proportion: beyond this, filters or an export are the right way.
pub const PAGE_OFFSET_MAX: u64 = 10_000_000;

// --- Requests ---

/// The interface's window for request budgets. It starts with its first request.
pub const BUDGET_WINDOW_MS: i64 = 60_000;
/// A direct-send budget below this many requests per recipient per second could not use the sending capacity.
pub const SENDING_BUDGET_PER_RECIPIENT_SECOND: u64 = 60;
/// The interface's limit for an `Idempotency-Key`.
pub const IDEMPOTENCY_KEY_CHARACTERS_MAX: usize = 100;
/// The interface's time for which an answer can be replayed.
pub const IDEMPOTENCY_WINDOW_MS: i64 = 24 * 60 * 60 * 1000;

// --- Keys ---

/// A name is shown in one line of a table.
pub const KEY_NAME_CHARACTERS_MAX: usize = 100;
/// An account with more keys than this has lost track of them.
pub const KEYS_PER_ACCOUNT_MAX: usize = 1_000;
/// The interface shows this many characters of a key's id, never of the key.
pub const KEY_ID_CHARACTERS_SHOWN: usize = 8;

// --- Users ---

/// Shorter passwords are guessed; the usual rules about kinds of characters add less than length does.
pub const PASSWORD_BYTES_MIN: usize = 12;
/// Long enough for any sentence, short enough that hashing a stranger's text costs nothing to speak of.
pub const PASSWORD_BYTES_MAX: usize = 128;
/// A set-up link is opened right after it was printed, or by tomorrow; then it is forgotten.
pub const SETUP_LINK_MS: i64 = 24 * 60 * 60 * 1000;
/// The set-up form is an email address and a password.
pub const SETUP_FORM_BYTES_MAX: usize = 8 * 1024;

// --- Projects ---

/// A name is shown in one line of a list.
pub const PROJECT_NAME_CHARACTERS_MAX: usize = 200;
/// One brand seldom has more sites; each is fetched and read whole.
pub const PROJECT_URLS_MAX: usize = 10;
/// What browsers and servers commonly take.
pub const URL_CHARACTERS_MAX: usize = 2_048;
/// Agencies have hundreds; each project costs counters and a share of every list.
pub const PROJECTS_MAX: u64 = 10_000;

// --- Contacts ---

/// Long enough for any real name, short enough for one line.
pub const PERSON_NAME_CHARACTERS_MAX: usize = 100;
/// All of a contact's tags are read with it and indexed with it.
pub const TAGS_PER_CONTACT_MAX: usize = 100;
/// As many as people can have a use for; a contact is read whole each time.
pub const CUSTOM_FIELDS_MAX: usize = 100;
/// The key names a column: a line at most.
pub const CUSTOM_FIELD_KEY_CHARACTERS_MAX: usize = 100;
/// All of a contact's custom fields as JSON. Like the properties of a customer event in the interface.
pub const CUSTOM_FIELDS_BYTES_MAX: usize = 16 * 1024;
/// Levels of objects and lists within custom fields. Like the properties of a customer event in the interface.
pub const CUSTOM_FIELDS_DEPTH_MAX: usize = 4;
/// So much is found by search in custom fields of one contact; an index of whole essays would outgrow the data.
pub const CUSTOM_FIELDS_INDEXED_CHARACTERS_MAX: usize = 2_000;
/// Text of a search: longer ones find nothing more.
pub const SEARCH_CHARACTERS_MAX: usize = 256;
/// Words of a search; each costs a look into the index.
pub const SEARCH_TERMS_MAX: usize = 16;

// --- Many contacts at once ---

/// The interface answers at once up to here; more become a job.
pub const BULK_AT_ONCE_MAX: usize = 5_000;
/// Contacts in one request, answered at once or as a job: about as many as fit the body limit. Beyond that: a file.
pub const BULK_MAX: usize = 50_000;
/// The interface's limit for one deletion by email.
pub const BULK_DELETE_MAX: usize = 1_000;
/// Failed rows are told one by one up to here and counted beyond: nobody reads more, and the report must stay small.
pub const BULK_ERRORS_SHOWN_MAX: usize = 1_000;
/// Contacts that one step of a job writes in one transaction: large enough for sorted writes to pay off, small enough that
/// other writers wait only briefly.
pub const JOB_STEP_CONTACTS: usize = 10_000;
/// The same for a file. Three such pieces are in memory at a time: one being read, one waiting, one being written.
pub const IMPORT_STEP_CONTACTS: usize = 10_000;
/// Rows of one import file.
pub const IMPORT_ROWS_MAX: u64 = 5_000_000;
/// One row of an import file: all fields of a contact at their largest, and some.
pub const IMPORT_ROW_BYTES_MAX: usize = 64 * 1024;
/// Columns of an import file.
pub const IMPORT_COLUMNS_MAX: usize = 500;
/// Custom fields that have a column in an export; further ones are left out.
pub const EXPORT_CUSTOM_COLUMNS_MAX: usize = 500;
/// One field of an upload's form beside the file: a map of columns at its largest.
pub const UPLOAD_FIELD_BYTES_MAX: usize = 64 * 1024;
/// An upload that was interrupted is swept away after this long.
pub const UPLOAD_KEPT_MS: i64 = 60 * 60 * 1000;
/// An export's file and its link live this long.
pub const EXPORT_LINK_MS: i64 = 60 * 60 * 1000;
/// Jobs of one project that wait or run: more is a client in a loop.
pub const JOBS_OPEN_PER_PROJECT_MAX: usize = 20;
/// Finished jobs are told about this long.
pub const JOB_RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1000;

// --- Tags, topics, segments ---

/// A tag is a word or a few.
pub const TAG_NAME_CHARACTERS_MAX: usize = 50;
/// Tags are created on demand: this stops a mistaken column of an import from making a million.
pub const TAGS_PER_PROJECT_MAX: usize = 10_000;
/// A name is shown in one line of a list.
pub const TOPIC_NAME_CHARACTERS_MAX: usize = 100;
/// Topics are offered to subscribers on one page.
pub const TOPICS_PER_PROJECT_MAX: usize = 200;
/// Far beyond the number of topics, so that there is room between any two.
pub const TOPIC_DISPLAY_ORDER_MAX: u64 = 1_000_000;
/// A name is shown in one line of a list.
pub const SEGMENT_NAME_CHARACTERS_MAX: usize = 100;
/// Each can be listed with its current count.
pub const SEGMENTS_PER_PROJECT_MAX: usize = 1_000;
/// Descriptions of tags, topics and segments: a paragraph.
pub const DESCRIPTION_CHARACTERS_MAX: usize = 1_000;
/// The interface's limit for groups within one group of a segment's filter.
pub const SEGMENT_GROUPS_PER_GROUP_MAX: usize = 10;
/// The interface's limit for levels of groups under the root of a segment's filter.
pub const SEGMENT_LEVELS_MAX: usize = 3;
/// The interface's limit for conditions in a whole segment filter.
pub const SEGMENT_CONDITIONS_MAX: usize = 50;
/// Values of one condition; each is compared with every contact.
pub const SEGMENT_VALUES_PER_CONDITION_MAX: usize = 100;
/// Characters of one value of a condition.
pub const SEGMENT_VALUE_CHARACTERS_MAX: usize = 500;
/// How far back a condition on activity can look, in days: ten years, longer than activity is kept.
pub const SEGMENT_ACTIVITY_DAYS_MAX: u32 = 3_650;

/// How long a search with `refresh` waits for the index: a commit takes milliseconds, so longer means trouble.
pub const SEARCH_REFRESH_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
/// How long acts stay in the audit table: 90 days, like the raw events of the specification.
pub const AUDIT_KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;
/// How long webhook events wait for delivery: longer than any retry schedule, short enough that a table nobody reads stays small.
pub const OUTBOX_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Rows forgotten by a sweep in one transaction: a few milliseconds of the writer's time.
pub const SWEEP_ROWS: usize = 5_000;
