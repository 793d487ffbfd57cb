//! How much of anything is taken, and why that much. What an operator may want to change is a setting instead.
// long: one table with the reason of each number, read by looking a name up.

// --- Lists ---

/// What clients of this interface expect when they name no number.
pub const PAGE_LIMIT_DEFAULT: u64 = 20;
/// Enough for a screen of any size; more would make one answer cost as much as a hundred.
pub const PAGE_LIMIT_MAX: u64 = 100;
/// Skipping costs time in proportion: beyond this, filters or an export are the right way.
pub const PAGE_OFFSET_MAX: u64 = 10_000_000;

// --- Data files ---

/// A file up to this size is compared with its checksums at every start, which reads it once: a third of a second from a disk of a small
/// virtual server. Larger files are compared by `mailmill check-data`.
pub const CHECKED_AT_START_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Campaigns and sends that are counted when a hold on sending is shown: counting each reads a few rows.
pub const HELD_SCANNED_MAX: usize = 10_000;
/// Campaigns that are named then: more would not be read.
pub const HELD_LISTED_MAX: usize = 100;

// --- Requests ---

/// The interface's window for request budgets. It starts with its first request.
pub const BUDGET_WINDOW_MS: i64 = 60_000;
/// So many times a key's budget is that of people, who have windows of their own: a page asks up to about ten operations.
pub const OPERATIONS_PER_PAGE: u32 = 10;
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
/// Requests are counted by day for so long: what a chart shows, and some more for whoever looks at midnight.
pub const KEY_DAYS_KEPT: u32 = 32;
/// Days of a key that its chart shows.
pub const KEY_DAYS_SHOWN: u32 = 30;

// --- Users ---

/// Shorter passwords are guessed; the usual rules about kinds of characters add less than length does.
pub const PASSWORD_CHARACTERS_MIN: usize = 12;
/// Long enough for any sentence, short enough that hashing a stranger's text costs nothing to speak of.
pub const PASSWORD_CHARACTERS_MAX: usize = 128;
/// The same in bytes of UTF-8, of which a character has up to four.
pub const PASSWORD_BYTES_MAX: usize = 4 * PASSWORD_CHARACTERS_MAX;
/// A set-up link is opened right after it was printed, or by tomorrow; then it is forgotten.
pub const SETUP_LINK_MS: i64 = 24 * 60 * 60 * 1000;

/// Browsers of one person that are signed in at a time, and programs; the oldest give way.
pub const SESSIONS_PER_USER_MAX: usize = 20;
/// Guards what cannot be undone: long enough to read a page and press a button.
pub const FRESH_SIGN_IN_MS: i64 = 10 * 60 * 1000;
/// What a browser says of itself, as far as a list of sessions shows it.
pub const AGENT_CHARACTERS_MAX: usize = 200;
/// Requests within this time do not move a session's end on the disk.
pub const SESSION_SEEN_STEP_MS: i64 = 60 * 1000;
/// Tries to sign in that cost no wait, by address and by account, within [`SIGN_IN_WINDOW_MS`].
pub const SIGN_IN_TRIES_FREE: u32 = 10;
/// See [`SIGN_IN_TRIES_FREE`].
pub const SIGN_IN_WINDOW_MS: i64 = 60 * 1000;
/// The longest wait between tries: guessing at this pace is hopeless, and nobody is locked out of their own account for long.
pub const SIGN_IN_WAIT_MAX_MS: i64 = 60 * 1000;
/// Passwords waiting to be hashed; each is some tens of milliseconds of work.
pub const PASSWORDS_WAITING_MAX: usize = 64;
/// Used codes of an authenticator app that are remembered: an hour of them, so that a clock set back by less repeats none.
pub const TOTP_STEPS_KEPT: usize = 120;
/// Names that a brake on guessing remembers; each is about a hundred bytes.
pub const THROTTLED_NAMES_MAX: usize = 50_000;
/// Signed tokens of ours have some 400 bytes.
pub const TOKEN_BYTES_MAX: usize = 2_048;
/// Members of an account and open invitations, each.
pub const MEMBERS_MAX: usize = 1_000;
/// A name is shown in one line.
pub const MEMBER_NAME_CHARACTERS_MAX: usize = 100;
/// An invitation may lie over a weekend and a holiday.
pub const INVITATION_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// A link to a new password is asked for when it is needed.
pub const RESET_LINK_MS: i64 = 60 * 60 * 1000;
/// Codes for those who have lost their telephone.
pub const RECOVERY_CODES: usize = 10;
/// Rows of the audit log that one look may walk to find those of an account.
pub const AUDIT_WALK_MAX: usize = 5_000;

// --- Agents that ask for a key ---

/// The interface's lifetime of a code.
pub const CLAIM_CODE_MS: i64 = 600 * 1000;
/// The interface's lifetime of a registration.
pub const CLAIM_MS: i64 = 60 * 60 * 1000;
/// The interface's interval between polls, in seconds.
pub const CLAIM_POLL_SECONDS: u64 = 5;
/// The interface's limit of registrations in an hour from one address; the same for one person.
pub const CLAIMS_PER_HOUR: u32 = 10;
/// Registrations in an hour from one site of IPv6 (a /48): a tenth of what can wait, so that no site fills it.
pub const CLAIMS_PER_SITE_HOUR: u32 = 200;
/// New codes that one registration can have: one for each time the old one ends, and some more.
pub const CLAIM_CODES_MAX: u32 = 12;
/// Registrations that wait for somebody, of all accounts together; each ends within an hour.
pub const CLAIMS_WAITING_MAX: usize = 2_000;
/// Polls in a minute from one address before it is abuse: a hundred agents behind one address poll 1,200 times.
pub const CLAIM_POLLS_PER_MINUTE: u32 = 2_400;
/// Wrong codes in ten minutes by one person or from one address: with 34 bits in a code, guessing is hopeless.
pub const CLAIM_GUESSES_FREE: u32 = 5;
/// See [`CLAIM_GUESSES_FREE`].
pub const CLAIM_GUESS_WINDOW_MS: i64 = 10 * 60 * 1000;
/// An agent's name is shown in one line.
pub const AGENT_NAME_CHARACTERS_MAX: usize = 100;
/// A registration, a poll and a form are some hundred bytes.
pub const AGENT_BODY_BYTES_MAX: usize = 16 * 1024;
/// Past requests of agents that a list shows.
pub const CLAIMS_SHOWN_MAX: usize = 100;

// --- The dashboard ---

/// A form of the dashboard: texts of people, no files.
pub const DASHBOARD_FORM_BYTES_MAX: usize = 256 * 1024;
/// A form with a picture: a photograph of a telephone, and what base64 makes of it still fits the body of an operation.
pub const DASHBOARD_IMAGE_BYTES_MAX: usize = 7 * 1024 * 1024;
/// A form with a long text or a text file: every text that the knowledge base takes, however it is coded.
pub const DASHBOARD_TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// A form with an email that was made elsewhere: the largest that is taken in, however it is coded.
pub const DASHBOARD_EMAIL_BYTES_MAX: usize = 3 * 1024 * 1024;
/// The first field of a form with a large file: a token and its name.
pub const DASHBOARD_TOKEN_BYTES_MAX: usize = 4 * 1024;
/// Where to go after signing in: a path of our own pages.
pub const NEXT_BYTES_MAX: usize = 500;

// --- Projects ---

/// A name is shown in one line of a list.
pub const PROJECT_NAME_CHARACTERS_MAX: usize = 200;
/// One brand seldom has more sites; each is fetched and read whole.
pub const PROJECT_URLS_MAX: usize = 10;
/// What browsers and servers commonly take.
pub const URL_CHARACTERS_MAX: usize = 2_048;
/// Agencies have hundreds; each project costs counters and a share of every list.
pub const PROJECTS_MAX: u64 = 10_000;

/// A title is shown in one line of a list.
pub const KNOWLEDGE_TITLE_CHARACTERS_MAX: usize = 200;
/// A long page or a short booklet; longer texts are split by whoever adds them.
pub const KNOWLEDGE_CONTENT_CHARACTERS_MAX: usize = 100_000;
/// Names of files are shown in one line. The interface's limit.
pub const FILE_NAME_CHARACTERS_MAX: usize = 255;
/// All titles are looked through when an email is made.
pub const KNOWLEDGE_ENTRIES_MAX: usize = 500;
/// The interface's limit for an image's description.
pub const IMAGE_DESCRIPTION_CHARACTERS_MAX: usize = 1_000;
/// The interface's limit for an image's tags.
pub const IMAGE_TAGS_MAX: usize = 10;
/// The interface's limit for one tag of an image.
pub const IMAGE_TAG_CHARACTERS_MAX: usize = 50;
/// All of them are looked through when an email is made.
pub const PROJECT_IMAGES_MAX: usize = 500;
/// A page of rules: what is longer is not followed.
pub const GUIDELINES_CHARACTERS_MAX: usize = 5_000;
/// The name of a font: the longest in use are half as long.
pub const FONT_NAME_CHARACTERS_MAX: usize = 100;

// --- Imports of projects ---

/// Imports that fetch side by side; each has a few requests open.
pub const IMPORTS_AT_ONCE: usize = 4;
/// Requests of one import at a time: what a browser does, too.
pub const IMPORT_FETCHES_AT_ONCE: usize = 6;
/// Pages of one import: the telling ones of nearly every site.
pub const IMPORT_PAGES_MAX: usize = 16;
/// Style sheets of one import; sites have two or three.
pub const IMPORT_STYLES_MAX: usize = 12;
/// Sitemaps of one import: an index and some of what it names.
pub const IMPORT_SITEMAPS_MAX: usize = 4;
/// Bytes of one page, style sheet or sitemap that are read; what follows in larger ones says nothing new.
pub const IMPORT_PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of one import, without images.
pub const IMPORT_BYTES_MAX: u64 = 40 * 1024 * 1024;
/// Bytes of one image: a large photograph.
pub const IMPORT_IMAGE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Time for one request of an import.
pub const IMPORT_FETCH_TIME: std::time::Duration = std::time::Duration::from_secs(15);
/// Time after which an import goes on with what it has.
pub const IMPORT_TIME_MAX_MS: i64 = 4 * 60 * 1000;
/// Turns of an import that do nothing but fail, before it is given up.
pub const IMPORT_FAILURES_MAX: u8 = 5;
/// Images that are looked at side by side.
pub const IMAGES_AT_ONCE: usize = 8;
/// Looks at one image before it is left alone.
pub const IMAGE_LOOKS_MAX: u8 = 4;
/// Width of an uploaded image: twice that of an email, for today's screens. Wider ones are made smaller.
pub const UPLOADED_IMAGE_WIDTH_MAX: u32 = 1_600;
/// Bytes of an uploaded animation, which is kept as it is: recipients would not wait for more.
pub const UPLOADED_ANIMATION_BYTES_MAX: usize = 3 * 1024 * 1024;
/// How long the file of an uploaded image is there after it was removed: emails that were sent still show it.
pub const UPLOADED_IMAGE_KEPT_MS: i64 = 365 * 24 * 60 * 60 * 1000;
/// The longer side of a preview: a card in a list, on a screen with two pixels for one.
pub const PREVIEW_SIDE_MAX: u32 = 480;
/// How long a preview is kept before its image is fetched again: sites change theirs.
pub const PREVIEW_KEPT_MS: i64 = 14 * 24 * 60 * 60 * 1000;
/// A drawing (SVG) that is shown as it is; larger ones are no logos.
pub const PREVIEW_DRAWING_BYTES_MAX: usize = 512 * 1024;

// --- Requests to other servers ---

/// Sites need two or three (to https, to www, to a language); more is a circle.
pub const FETCH_REDIRECTS_MAX: usize = 8;
/// Addresses of one name that are tried; the first nearly always answers.
pub const FETCH_ADDRESSES_TRIED_MAX: usize = 4;
/// A connection around the world takes a third of a second.
pub const FETCH_CONNECT_TIME: std::time::Duration = std::time::Duration::from_secs(5);
/// Sites with long security policies have about fifty.
pub const FETCH_HEADERS_MAX: usize = 200;
/// The head of an answer; sites with many cookies come to some 20 KB.
pub const FETCH_HEAD_BYTES_MAX: usize = 128 * 1024;
/// Threads for work that waits. The look-up of a name whose servers are silent holds one for half a minute, long after whoever asked
/// has given up. Endpoints of webhooks come to some 800 of them at a time in the worst case, and reads of the store must not wait for
/// those.
pub const WAITING_THREADS_MAX: usize = 2_048;

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
/// Contacts from which the catalogue of fields is computed: a tenth of a second, and as telling as all of them.
pub const FIELD_CATALOG_CONTACTS_MAX: u64 = 50_000;
/// One field of an upload's form beside the file: a map of columns at its largest.
pub const UPLOAD_FIELD_BYTES_MAX: usize = 64 * 1024;
/// An upload that was interrupted is swept away after this long.
pub const UPLOAD_KEPT_MS: i64 = 60 * 60 * 1000;
/// A file whose columns nobody has named yet is kept this long: until tomorrow, if somebody has to ask.
pub const PENDING_IMPORT_MS: i64 = 24 * 60 * 60 * 1000;
/// Files of one project that wait for that; of more the oldest are let go.
pub const PENDING_IMPORTS_PER_PROJECT_MAX: usize = 10;
/// Rows of such a file that are shown.
pub const UPLOAD_ROWS_SHOWN_MAX: u64 = 20;
/// An export's file and its link live this long.
pub const EXPORT_LINK_MS: i64 = 60 * 60 * 1000;
/// Jobs of one project that wait or run: more is a client in a loop.
pub const JOBS_OPEN_PER_PROJECT_MAX: usize = 20;
/// Jobs of the whole installation that are looked through for the newest of one project.
pub const JOBS_SCANNED_MAX: usize = 2_000;
/// Contacts that one request may name and change, answered at once.
pub const CHANGE_IDS_MAX: usize = 1_000;
/// Contacts changed in one transaction when many are: each is read, written and told of, so these are fewer than of other jobs.
pub const CHANGE_STEP_CONTACTS: usize = 2_000;
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
/// Contacts shown of a condition that is being written: a page of them.
pub const SEGMENT_PREVIEW_MAX: usize = 100;
/// How far back a condition on activity can look, in days: ten years, longer than activity is kept.
pub const SEGMENT_ACTIVITY_DAYS_MAX: u32 = 3_650;

/// How long a search with `refresh` waits for the index: a commit takes milliseconds, so longer means trouble.
pub const SEARCH_REFRESH_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
/// How long any other search waits for the caller's own writes: some commits of the index, and no pause that a person notices.
pub const SEARCH_OWN_WRITES_TIMEOUT: std::time::Duration = std::time::Duration::from_millis(200);
/// A caller's write counts as recent for a second. After that the index has it, unless an import keeps it busy for longer than a search
/// may wait.
pub const SEARCH_OWN_WRITES_MS: i64 = 1_000;
/// How long the audit log keeps entries: 90 days, like raw customer events.
pub const AUDIT_KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;
/// How long webhook events wait for delivery: longer than any retry schedule, short enough that a table nobody reads stays small.
pub const OUTBOX_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Rows forgotten by a sweep in one transaction: a few milliseconds of the writer's time.
pub const SWEEP_ROWS: usize = 5_000;

// --- Campaigns ---

/// A name is shown in one line of a list.
pub const CAMPAIGN_NAME_CHARACTERS_MAX: usize = 200;
/// Three a day for ten years; each costs a share of every list.
pub const CAMPAIGNS_PER_PROJECT_MAX: usize = 10_000;
/// A name in the From field: longer ones are cut by every mail client.
pub const FROM_NAME_CHARACTERS_MAX: usize = 100;
/// What clients call the way out: a word.
pub const PROVIDER_TYPE_CHARACTERS_MAX: usize = 50;
/// Two years: beyond that nobody knows the rules of time zones, and it is a slip of the pen.
pub const SCHEDULE_AHEAD_MS: i64 = 731 * 24 * 60 * 60 * 1000;
/// The colleagues who look at a test before it goes to everybody.
pub const CAMPAIGN_TEST_ADDRESSES_MAX: usize = 20;
/// Campaigns that one look at those of all projects goes through: some hundredths of a second.
pub const CAMPAIGNS_SCANNED_MAX: usize = 2_000;
/// Campaigns looked at in one step of the worker; then it looks whether the service is to stop.
pub const CAMPAIGNS_PER_STEP: usize = 256;
/// How long a campaign whose time has come waits for an edit of its email: edits take a minute at most.
pub const CAMPAIGN_EDIT_AWAITED_MS: i64 = 10 * 60 * 1000;
/// How soon it looks again whether that edit is done.
pub const CAMPAIGN_EDIT_CHECK_MS: i64 = 2_000;

// --- Files ---

/// A link to a picture or an export works at least this long: as long as somebody looks at a page that was opened yesterday.
pub const FILE_LINK_MS: i64 = 24 * 60 * 60 * 1000;

// --- Emails ---

/// A brief of several pages; more is a document, which belongs into the knowledge base.
pub const PROMPT_CHARACTERS_MAX: usize = 10_000;
/// The interface's limit for languages of one request.
pub const EMAIL_LANGUAGES_MAX: usize = 5;
/// The interface's limit for pictures given with a request.
pub const PROMPT_IMAGES_MAX: usize = 5;
/// Pages that a prompt links to and that are read for it; each may take seconds.
pub const PROMPT_PAGES_MAX: usize = 3;
/// Each keeps a place in the queue and costs work; who waits for more than this has a loop that goes wrong.
pub const CONVERSATIONS_WAITING_PER_PROJECT_MAX: usize = 50;
/// How often a stage of an email is begun before it is given up: it was interrupted each time, perhaps by itself.
pub const EMAIL_ATTEMPTS_MAX: u8 = 5;
/// Emails that are worked on at once in each environment: answers of a language model are waited for side by side.
pub const EMAILS_AT_ONCE: usize = 4;
/// How long a generation waits for the import of its brand, which takes a minute at most.
pub const IMPORT_AWAITED_MS: i64 = 3 * 60 * 1000;
/// Stages begun in one step of the worker; then it looks whether the service is to stop.
pub const EMAIL_STAGES_PER_STEP: usize = 64;
/// Edits of one project that wait; who waits for more has a loop that goes wrong.
pub const EDITS_WAITING_MAX: usize = 200;
/// Within the time of a request, with time to answer: how long an edit is waited for before its operation is answered instead.
pub const EDIT_WAIT_MS: u64 = 20_000;
/// A name for a version is shown in one line.
pub const EDIT_LABEL_CHARACTERS_MAX: usize = 200;
/// Nobody takes up one version out of more than these; the oldest ones behind the first go.
pub const EMAIL_VERSIONS_MAX: u32 = 200;

/// The interface's limit for emails that are handed in at once.
pub const HTML_IMPORTS_MAX: usize = 12;
/// Gmail cuts what is longer than 102 KB; what is handed in may be cleaned of much, but not be many times that.
pub const HTML_IMPORT_BYTES_MAX: usize = 1024 * 1024;
/// What one edit changes in an email that was handed in as HTML; "every tea" in a long newsletter is a hundred places.
pub const LETTER_CHANGES_MAX: usize = 2_000;
/// One text of such an email; longer ones are several.
pub const LETTER_TEXT_CHARACTERS_MAX: usize = 5_000;
/// What a language model is told of such an email: the texts of 100 KB of HTML are a tenth of this.
pub const LETTER_TOLD_CHARACTERS_MAX: usize = 60_000;

// --- Language models ---

/// A pause before the first repeat; each further one is twice as long.
pub const LANGUAGE_MODEL_PAUSE_MS: u64 = 500;
/// Services that are overloaded say "in a minute" at most; who waits longer has forgotten.
pub const LANGUAGE_MODEL_PAUSE_MS_MAX: u64 = 60_000;
/// The longest answer is an email as JSON.
pub const LANGUAGE_MODEL_ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Services refuse pictures beyond 5 MB, which Base64 makes of this.
pub const LANGUAGE_MODEL_PICTURE_BYTES_MAX: usize = 3_700_000;
/// How often an answer that breaks the rules goes back to the model with what is wrong.
pub const LANGUAGE_MODEL_CORRECTIONS_MAX: usize = 2;

// --- What a language model is told ---

/// Pictures with their descriptions; more make a prompt that costs more than it helps.
pub const MATERIAL_IMAGES_MAX: usize = 40;
/// Pages a writer may link to.
pub const MATERIAL_LINKS_MAX: usize = 60;
/// The beginning of a page that a prompt links to.
pub const MATERIAL_PAGE_CHARACTERS_MAX: usize = 4_000;
/// Texts of the knowledge base, the newest first.
pub const MATERIAL_FACTS_MAX: usize = 20;
/// The beginning of each.
pub const MATERIAL_FACT_CHARACTERS_MAX: usize = 800;
/// Products with their prices.
pub const MATERIAL_PRODUCTS_MAX: usize = 40;

// --- The email document ---

/// Mail clients show 40 to 90 characters of a subject; more than this is a paragraph.
pub const EMAIL_SUBJECT_CHARACTERS_MAX: usize = 150;
/// Mail clients show up to about 140 characters after the subject.
pub const EMAIL_PREHEADER_CHARACTERS_MAX: usize = 200;
/// Blocks of one email: twice what readers scroll through. It also keeps the HTML under the length at which mail clients cut.
pub const EMAIL_BLOCKS_MAX: usize = 40;
/// A block's name: a word or two.
pub const EMAIL_BLOCK_ID_CHARACTERS_MAX: usize = 40;
/// A title takes two or three lines on a telephone.
pub const EMAIL_TITLE_CHARACTERS_MAX: usize = 140;
/// Words on a button, a name, a price: one line.
pub const EMAIL_LABEL_CHARACTERS_MAX: usize = 80;
/// One sentence: a caption, an alternative text, an address.
pub const EMAIL_SENTENCE_CHARACTERS_MAX: usize = 300;
/// One short paragraph within a block.
pub const EMAIL_PARAGRAPH_CHARACTERS_MAX: usize = 600;
/// Running text of one block; longer texts are several blocks.
pub const EMAIL_PROSE_CHARACTERS_MAX: usize = 3_000;
/// More links than this do not fit beside a logo on 600 pixels.
pub const EMAIL_HEADER_LINKS_MAX: usize = 3;
/// More links than this take a second line in a footer.
pub const EMAIL_FOOTER_LINKS_MAX: usize = 4;
/// One column is no columns.
pub const EMAIL_COLUMNS_MIN: usize = 2;
/// A fourth column would be narrower than a word is long on 600 pixels.
pub const EMAIL_COLUMNS_MAX: usize = 3;
/// A column is a small part of one email.
pub const EMAIL_COLUMN_BLOCKS_MAX: usize = 6;
/// Three rows of three.
pub const EMAIL_PRODUCTS_MAX: usize = 9;
/// A longer list is a page.
pub const EMAIL_LIST_ITEMS_MAX: usize = 12;
/// More columns than this cannot be read on a telephone.
pub const EMAIL_TABLE_COLUMNS_MAX: usize = 5;
/// An order of many items.
pub const EMAIL_TABLE_ROWS_MAX: usize = 40;
/// A row of names.
pub const EMAIL_SOCIAL_LINKS_MAX: usize = 8;
/// Sides of images in pixels: what cameras and decoders know.
pub const EMAIL_IMAGE_PIXELS_MAX: u32 = 20_000;
/// A moment with offset and fractions of a second.
pub const EMAIL_DEADLINE_CHARACTERS_MAX: usize = 40;
/// Violations that one check tells of: enough to mend a document by, few enough for a model's context.
pub const EMAIL_VIOLATIONS_MAX: usize = 50;

// --- Pictures of emails ---

/// Images that are fetched for a picture; the others are shown as if they were blocked.
pub const DRAWN_IMAGES_FETCHED_MAX: usize = 60;
/// Fetched side by side, by the whole process: each may be as large as an image may be.
pub const DRAWN_IMAGES_AT_ONCE: usize = 8;
/// A picture does not wait longer for one image.
pub const DRAWN_IMAGE_MS_MAX: u64 = 8_000;
/// Images that are remembered for the next picture: those of one brand's emails.
pub const RECENT_BYTES_MAX: usize = 24 * 1024 * 1024;
/// A link to an image of another server inside an email that is shown: as long as one looks at it.
pub const REMOTE_IMAGE_LINK_MS: i64 = 60 * 60 * 1000;
/// As long as a series takes to be drawn; whoever changes an image on their server sees it soon.
pub const RECENT_MS: i64 = 5 * 60 * 1000;
/// Photographs straight from a camera are refused: recipients would not wait for them either.
pub const DRAWN_IMAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

// --- Decoding images ---

/// Pixels of one image that is decoded. The largest photographs of telephones have 50 million.
pub const DECODED_IMAGE_PIXELS_MAX: u64 = 50_000_000;
/// Pixels on a side of such an image.
pub const DECODED_IMAGE_SIDE_MAX: u32 = 10_000;
/// Memory of one decoded image: 8,000 by 6,000 pixels of four bytes.
pub const DECODED_IMAGE_BYTES_MAX: u64 = 200 * 1024 * 1024;
/// Memory that a worker for one image may take beyond the bare process: the decoded image, and the wide numbers between two sizes.
pub const DECODING_MEMORY_BYTES: u64 = 512 * 1024 * 1024;
/// Pixels that all workers together decode at a time, which unpack to 256 MiB: what a server with 2 GB can spare.
pub const DECODED_PIXELS_AT_ONCE: u64 = 64 * 1024 * 1024;
/// How long an image or a drawing waits for its turn before its request is answered with 503.
pub const DRAWING_WAIT: std::time::Duration = std::time::Duration::from_secs(20);

// --- Drawing emails ---

/// HTML without its embedded images. Mail clients clip at a twentieth of this; the parser's time grows with the square of the worst.
pub const DRAWN_HTML_BYTES_MAX: usize = 2 * 1024 * 1024;
/// HTML with its embedded images: as much as an email with attachments commonly may have.
pub const DRAWN_INPUT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Attributes of one tag: parsers compare each with all others.
pub const DRAWN_ATTRIBUTES_MAX: usize = 200;
/// Levels of elements: so many fit the worker's stack with room to spare; emails have 30.
pub const DRAWN_LEVELS_MAX: usize = 300;
/// Elements and texts of one email. Long newsletters have 5,000.
pub const DRAWN_NODES_MAX: usize = 60_000;
/// All images handed to one drawing, as files: they are in the server's memory until they are drawn. Newsletters have 5 MiB.
pub const DRAWN_IMAGES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// All pixels of the images of one drawing: 256 MiB when unpacked, a quarter of the worker's memory.
pub const DRAWN_IMAGE_PIXELS_MAX: u64 = 64 * 1024 * 1024;
/// Pictures of different widths made in one go.
pub const DRAWN_WIDTHS_MAX: usize = 8;
/// The narrowest screen that anybody reads mail on.
pub const DRAWN_WIDTH_PX_MIN: u32 = 120;
/// Wider windows show nothing more of an email than white.
pub const DRAWN_WIDTH_PX_MAX: u32 = 2_000;
/// Pictures are cut at this height: 20 screens, and within the engine's 64 million pixels at any width.
pub const DRAWN_HEIGHT_PX_MAX: u32 = 16_000;
/// Time one drawing may take; a usual one takes a hundredth of it.
pub const DRAWING_TIME: std::time::Duration = std::time::Duration::from_secs(15);
/// Processor time of one drawing, which the system itself watches.
pub const DRAWING_CPU_SECONDS: u64 = 10;
/// Memory that a drawing may take beyond the bare process. A usual one takes 20 MiB.
pub const DRAWING_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// What one drawing may give back: several long pictures.
pub const DRAWING_ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Stack of the thread that draws: 300 levels need less than 2 MiB, and an overflow would end the process.
pub const DRAWING_STACK_BYTES: usize = 32 * 1024 * 1024;
/// Drawings that wait for a free processor. At 100 ms each the last one waits a few seconds.
pub const DRAWINGS_WAITING_MAX: usize = 64;
/// Drawings by one Chromium before another takes its place: it grows with each.
pub const DRAWINGS_PER_BROWSER_MAX: u32 = 300;
/// Files of the folder with further fonts that are looked at.
pub const FONT_FILES_MAX: usize = 500;
/// One font file: the largest for Chinese, Japanese and Korean together have 20 MB.
pub const FONT_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Gmail cuts an email's HTML here and hides the rest, the link to unsubscribe included.
pub const EMAIL_HTML_BYTES_MAX: usize = 102 * 1024;

// --- The composer ---

/// Characters of a prompt that the composer reads: two pages.
pub const COMPOSER_PROMPT_CHARACTERS_MAX: usize = 10_000;
/// Links, points, statements or pictures taken from one prompt: more do not fit into an email.
pub const COMPOSER_LIST_MAX: usize = 12;
/// Products of a brand among which the composer chooses.
pub const COMPOSER_PRODUCTS_MAX: usize = 1_000;
/// Texts of a brand from which the composer quotes.
pub const COMPOSER_KNOWLEDGE_MAX: usize = 100;
/// The interface's limit for emails of one series.
pub const EMAILS_PER_SERIES_MAX: usize = 12;

// --- The DNS ---

/// Time for one question with all its attempts: a request that waits for some of them in a row still has time to answer.
pub const DNS_TIME: std::time::Duration = std::time::Duration::from_secs(8);
/// Time for one attempt; name servers answer within a second or not at all.
pub const DNS_ATTEMPT_TIME: std::time::Duration = std::time::Duration::from_secs(3);
/// A lost packet is not the end.
pub const DNS_ATTEMPTS: usize = 2;
/// Answers in memory: those of the domains that most mail goes to.
pub const DNS_CACHE_ANSWERS: u64 = 8_192;
/// A server that moves is found after this long, whatever its records allow.
pub const DNS_CACHED_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// Who has just made a record does not want to wait for long.
pub const DNS_NOTHING_CACHED_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(60);

// --- Sending domains ---

/// Agencies have some for each client; each is looked at daily.
pub const DOMAINS_MAX: usize = 500;
/// Before the second look at a domain that waits for its records; each further pause is twice as long.
pub const DOMAIN_CHECK_INTERVAL_MS: i64 = 60 * 1000;
/// And never longer than this.
pub const DOMAIN_CHECK_INTERVAL_MS_MAX: i64 = 6 * 60 * 60 * 1000;
/// Records reach all name servers within two days; who has not set them after three has forgotten.
pub const DOMAIN_VERIFICATION_MS: i64 = 72 * 60 * 60 * 1000;
/// Between looks at a domain whose records are there.
pub const DOMAIN_DAILY_MS: i64 = 24 * 60 * 60 * 1000;
/// Looks in a row without the records after which a verified domain has failed: one alone may be a mishap of the DNS.
pub const DOMAIN_MISSES_MAX: u8 = 3;
/// Between those looks.
pub const DOMAIN_MISS_PAUSE_MS: i64 = 15 * 60 * 1000;
/// A key that was replaced stays in the DNS this long: mail is on the way for up to five days.
pub const DOMAIN_KEY_RETIRES_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Domains that are looked at side by side.
pub const DOMAINS_AT_ONCE: usize = 8;
/// Levels of a name above which a DMARC record is looked for. The successor of RFC 7489 has the same.
pub const DMARC_LEVELS_MAX: usize = 8;
/// What the DNS has instead of a record, shown to people: of each record, and in characters of each text.
pub const DOMAIN_FOUND_SHOWN_MAX: usize = 5;
/// The same in characters of each text.
pub const DOMAIN_FOUND_CHARACTERS_MAX: usize = 500;

// --- Suppressions ---

/// Suppressions of one account that are held in memory while a mailing is planned: some 20 MB. More are looked up one by one.
pub const SUPPRESSIONS_IN_MEMORY_MAX: u64 = 500_000;

// --- Tracking ---

/// Visits that wait to be written: ten seconds of what the service takes in at its fastest.
pub const VISITS_WAITING_MAX: usize = 20_000;
/// Visits written in one transaction: few enough that messages on their way out wait for milliseconds only.
pub const VISITS_PER_WRITE: usize = 1_000;
/// The part of a client's name by which it is recognised stands in front.
pub const VISIT_AGENT_CHARACTERS_MAX: usize = 200;
/// Clients repeat what is slow, and people click twice: the same client at the same link is another visit only after this, at least.
pub const VISIT_REPEAT_MS: i64 = 1_000;
/// What servers said and simulated recipients do, taken in one transaction.
pub const DELIVERY_EVENTS_PER_STEP: usize = 500;
/// Rows that one step of an erasure looks at: a few milliseconds of the writer's time.
pub const ERASURE_ROWS_PER_STEP: usize = 500;
/// Deeds of one contact that are looked through for what became of its messages: years of them.
pub const TIMELINE_ACTIVITIES_MAX: usize = 2_000;
/// Messages to one contact of which a time line tells what came back; each is three look-ups.
pub const TIMELINE_SENDS_MAX: usize = 500;
/// What one person's export lists of each kind; what is older is counted only.
pub const PERSONAL_DATA_ROWS_MAX: usize = 10_000;
/// Mailings of one email that a part of its log looks into: those without rows of the wanted kind cost as much as others.
pub const LOG_MAILINGS_SCANNED_MAX: usize = 200;
/// Messages of the built-in inbox that one step of an erasure removes.
pub const ERASURE_MESSAGES_PER_STEP: usize = 100;
/// Forms of the pages behind links in messages: one box for each topic.
pub const CHOICES_FORM_BYTES_MAX: usize = 64 * 1024;

// --- Sending ---

/// One parameter that marks links: sites' statistics show one line of it.
pub const UTM_CHARACTERS_MAX: usize = 200;
/// What settings count in days.
pub const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// A server that is left alone for a moment only is not worth a second look before this.
pub const POSTPONED_MS_MIN: i64 = 5_000;
/// The longest pause between two tries of deferred mail: servers that defer for greylisting or load take it within hours.
pub const RETRY_PAUSE_MS_MAX: i64 = 4 * 60 * 60 * 1000;
/// Retries further away than this were written down by a clock that was wrong: more than the longest pause, and than all time zones.
pub const RETRY_AHEAD_MS_MAX: i64 = 48 * 60 * 60 * 1000;
/// Between two tries to write entries of the ledger down while too much else waits to be written.
pub const RECIPIENT_WRITER_BUSY_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);
/// Rows of a ledger that one request looks through for those it wants: a tenth of a second.
pub const RECIPIENT_ROWS_SCANNED_MAX: usize = 100_000;
/// Links of one content that are counted; newsletters have some dozens.
pub const MAILING_LINKS_MAX: usize = 1_000;
/// Entries of the ledger that wait for its writer: some for each of the most connections.
pub const RECIPIENT_UPDATES_QUEUED_MAX: usize = 4_096;
/// Entries of the ledger in one commit: a few milliseconds of the writer's time.
pub const RECIPIENT_UPDATES_PER_COMMIT: usize = 1_024;
/// Outcomes wait so long for a claim to be committed with: several commits of a slow disk.
pub const RECIPIENT_WRITER_WAIT: std::time::Duration = std::time::Duration::from_millis(20);
/// Messages that are finished before a connection is free for them: some megabytes.
pub const MESSAGES_AHEAD_MAX: usize = 32;
/// The longest time between two looks for something to send when nothing says that there is: for what a lost signal has left.
pub const SEND_QUEUE_POLL_PERIOD: std::time::Duration = std::time::Duration::from_secs(5);
/// Recipients of one mailing that are read ahead.
pub const RECIPIENTS_READ_AT_ONCE: usize = 512;
/// After so many recipients the place up to which a ledger is settled is written down.
pub const CURSOR_MOVED_EVERY: u32 = 4_096;
/// Mailings with work to do that one look takes up; the next look sees what is left.
pub const MAILINGS_SCANNED_MAX: usize = 1_000;
/// Retries of one mailing that are read ahead.
pub const RETRIES_READ_AT_ONCE: usize = 256;
/// Accounts whose retries one look goes through; the next look begins behind them.
pub const ACCOUNTS_SCANNED_MAX: usize = 1_000;
/// Mailings of one account whose turn has come that one look takes up, so that one with very many leaves room for the others.
pub const DUE_MAILINGS_PER_ACCOUNT: usize = 50;
/// With more accounts than one look goes through, the next one follows after this.
pub const RETRIES_POLL_PAUSE_MS: i64 = 1_000;
/// Mailings that rest of which one look sees whether they must: the next goes on behind them.
pub const BLOCKED_MAILINGS_SCANNED: usize = 20;
/// Retries of one mailing, put too far away by a wrong clock, that one look brings back.
pub const RETRIES_SCANNED_MAX: usize = 1_000;
/// Mailings that one sweep of old direct sends looks at: a few milliseconds of the writer's time.
pub const MAILINGS_SWEPT: usize = 200;
/// Rows that planning writes in one transaction: large enough for sorted writes to pay off, small enough that others wait only briefly.
pub const PLAN_CHUNK_RECIPIENTS: usize = 10_000;
/// Chunks of one step of planning, which share what is loaded for them.
pub const PLAN_CHUNKS_PER_STEP: usize = 20;
/// Of a server's reply so much is kept: it is what people look at when mail does not arrive.
pub const REPLY_CHARACTERS_KEPT: usize = 300;
/// After the first failure of the way out nothing is tried for this long; then twice as long each time.
pub const TRANSPORT_REST_MIN: std::time::Duration = std::time::Duration::from_secs(1);
/// And never longer than this: a relay that comes back is used within a minute.
pub const TRANSPORT_REST: std::time::Duration = std::time::Duration::from_secs(30);
/// Compiled contents that are kept for the next mailing with the same: some dozens of newsletters.
pub const CONTENTS_KEPT_BYTES: usize = 16 * 1024 * 1024;
/// What a From address stands for is looked up again after this: keys and settings of its domain may have changed.
pub const SENDER_KEPT_MS: i64 = 60 * 1000;
/// From addresses whose keys are held unsealed.
pub const SENDERS_KEPT_MAX: usize = 256;
/// Addresses of one direct send: the recipient and its copies.
pub const DIRECT_RECIPIENTS_MAX: usize = 51;
/// Direct sends may wait for about this long; who sends more at a time is told to slow down.
pub const DIRECT_BACKLOG_SECONDS: u64 = 10;
/// A region is a short name of another service; it is ignored.
pub const REGION_CHARACTERS_MAX: usize = 64;
/// Direct sends per second that the backlog is sized for where the plan has no limit: more than one server's connections deliver.
pub const DIRECT_PER_SECOND_ASSUMED: u64 = 1_000;
/// A name beside a From address is shown in one line.
pub const SENDER_NAME_CHARACTERS_MAX: usize = 100;
/// A subject with its merge fields, before they are filled.
pub const SEND_SUBJECT_CHARACTERS_MAX: usize = 500;
/// Months before the present one that are told of: three years.
pub const METRICS_MONTHS_MAX: u64 = 36;
/// Days before today that charts and their tables may show: a quarter of a year, still one pixel and more for each day.
pub const TIMELINE_DAYS_MAX: u64 = 92;
/// What charts show if nobody asks for more.
pub const TIMELINE_DAYS: u64 = 30;
/// What becomes of a campaign is told by day for so long after its start; what comes later is in its totals only.
pub const CAMPAIGN_DAYS: u32 = 92;
/// Links of a campaign that are told of, the most clicked ones.
pub const CAMPAIGN_LINKS_SHOWN: usize = 20;

// --- The built-in inbox ---

/// Messages of one account; the oldest give way. Lists look through all of them.
pub const INBOX_MESSAGES_MAX: i64 = 5_000;
/// Bytes of one account's messages; the oldest give way.
pub const INBOX_BYTES_MAX: i64 = 256 * 1024 * 1024;
/// Old messages that one sweep removes of an account, and about how many of all.
pub const INBOX_MESSAGES_SWEPT: usize = 100;
/// A message is kept in rows of this many bytes.
pub const INBOX_CHUNK_BYTES: usize = 256 * 1024;
/// What simulated recipients do happens this long after they were sent to.
pub const SIMULATED_PAUSE_MS: i64 = 1_000;
/// A new demo starts this long ago: enough days for a chart, and less than the default of `mail.give_up_hours`, so that its full mailboxes
/// are still being retried at the end.
pub const DEMO_PAST_MS: i64 = 4 * DAY_MS;

// --- Messages ---

/// A template with its merge fields. Long newsletters have a fifth of it; beyond the half, mail clients show no part of it.
pub const MERGE_SOURCE_BYTES_MAX: usize = 256 * 1024;
/// One recipient's HTML or text: room for a template of full length with long lists in it.
pub const MERGE_OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// One recipient's subject or name. Mail clients show a tenth of it.
pub const MERGE_HEADER_BYTES_MAX: usize = 2_000;
/// Steps for one recipient: some 20 ms on one processor. A newsletter with an order of forty rows takes 2,000.
pub const MERGE_STEPS_MAX: usize = 500_000;
/// `if` and `for` within each other, and parentheses of a condition: more cannot be read, and the reader's stack has an end.
pub const MERGE_LEVELS_MAX: usize = 16;
/// Filters behind one field: trim, shorten, spell, default.
pub const MERGE_FILTERS_MAX: usize = 8;
/// Names of one field, like `order.address.city`.
pub const MERGE_PATH_WORDS_MAX: usize = 8;
/// A header that a sender adds: two lines of the longest form (RFC 5322 §2.1.1).
pub const EXTRA_HEADER_BYTES_MAX: usize = 1_996;
/// Its name. The longest registered one has 44 letters.
pub const EXTRA_HEADER_NAME_BYTES_MAX: usize = 76;

// --- Mail on its way out ---

/// RFC 5321 §4.5.3.2 would wait five minutes for the greeting alone; a connection itself takes a third of a second around the world.
pub const SMTP_CONNECT_TIME: std::time::Duration = std::time::Duration::from_secs(30);
/// RFC 5321 §4.5.3.2: what a command may take.
pub const SMTP_COMMAND_TIME: std::time::Duration = std::time::Duration::from_secs(300);
/// RFC 5321 §4.5.3.2.6: who gives up earlier after the final dot makes second copies.
pub const SMTP_DOT_TIME: std::time::Duration = std::time::Duration::from_secs(600);
/// A goodbye is a courtesy.
pub const SMTP_QUIT_TIME: std::time::Duration = std::time::Duration::from_secs(5);
/// Servers close unused connections after one to five minutes; to keep them longer than a burst lasts helps nobody.
pub const SMTP_IDLE_TIME: std::time::Duration = std::time::Duration::from_secs(30);
/// A relay that restarts is back in a minute: deliveries under way wait for it instead of being put off by half an hour.
pub const SMTP_PATIENCE: std::time::Duration = std::time::Duration::from_secs(90);
/// The first pause after a server could not be reached; it doubles with each failure.
pub const SMTP_PAUSE_MIN: std::time::Duration = std::time::Duration::from_secs(1);
/// The longest such pause.
pub const SMTP_PAUSE_MAX: std::time::Duration = std::time::Duration::from_secs(60);
/// The same for a recipient's own server: it has all day, and so do we.
pub const SMTP_EXCHANGER_PAUSE_MIN: std::time::Duration = std::time::Duration::from_secs(60);
/// A server that was away for a night gets its mail within the hour.
pub const SMTP_EXCHANGER_PAUSE_MAX: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// Many servers allow a hundred messages per connection, then close.
pub const SMTP_MESSAGES_PER_CONNECTION_MAX: usize = 100;
/// RFC 5321 allows 512 bytes; some servers send long web addresses.
pub const SMTP_REPLY_LINE_BYTES_MAX: usize = 2_048;
/// Long policies have ten lines, long lists of extensions thirty.
pub const SMTP_REPLY_LINES_MAX: usize = 100;
/// A message is sent in pieces of this size: nearly all fit into one.
pub const SMTP_PIECE_BYTES: usize = 128 * 1024;
/// Messages in a row that go well before a server that was too busy is given one connection more.
pub const SMTP_GROWTH_MESSAGES: u32 = 20;
/// The part of all connections that one destination's servers get, so that a slow one does not hold up the others.
pub const SMTP_DESTINATION_SHARE: usize = 8;
/// Servers of one destination that are tried for one message.
pub const SMTP_EXCHANGERS_TRIED_MAX: usize = 5;
/// Addresses of one server that are tried.
pub const SMTP_ADDRESSES_TRIED_MAX: usize = 4;
/// Destinations whose pace is remembered. Those at rest are forgotten first.
pub const SMTP_DESTINATIONS_MAX: usize = 10_000;
/// More relays than this are a mistake.
pub const SMTP_RELAYS_MAX: usize = 20;
/// A domain's demand for encryption is looked at again this often.
pub const STS_RECHECK_AFTER: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// RFC 8461 §3.2 allows a year; what is remembered does not outlive the process anyway.
pub const STS_AGE_MAX: std::time::Duration = std::time::Duration::from_secs(31_557_600);
/// RFC 8461 §3.3 advises a minute for fetching a policy; mail waits for it, so it gets less.
pub const STS_FETCH_TIME: std::time::Duration = std::time::Duration::from_secs(20);
/// RFC 8461 §3.3 advises at least 64 KB.
pub const STS_POLICY_BYTES_MAX: usize = 64 * 1024;
/// Servers that one policy names.
pub const STS_POLICY_HOSTS_MAX: usize = 200;

// --- Request bodies ---

/// Bodies up to here need no room among the large ones: nearly all requests. All connections together bring few at a time.
pub const BODY_SMALL_BYTES: usize = 64 * 1024;
/// Bytes of larger bodies in memory at a time, for the whole service: two of the largest with the default settings. With what is made of
/// it, 10 MB of contacts takes 43 MiB, so these cost a server with 1 GB a tenth of its memory.
pub const BODIES_BYTES_MAX: usize = 24 * 1024 * 1024;
/// How long a large body waits for room before its request is answered with 503. A third of the time that a reply may take.
pub const BODIES_WAIT: std::time::Duration = std::time::Duration::from_secs(10);
/// What callers are told to wait then: an upload takes a few seconds.
pub const BODIES_RETRY_SECONDS: u64 = 5;

// --- Disk space ---

/// Stages in which the reserve on the disk is given back. In each, thousands of unsubscribes fit with the default size.
pub const DISK_RESERVE_STAGES: u64 = 8;
/// What callers are told to wait while the service is read-only for want of disk space: a person has to act first.
pub const STORAGE_FULL_RETRY_SECONDS: u64 = 60;
/// Pause of a worker before it looks whether there is disk space again.
pub const STORAGE_FULL_PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

// --- Descriptors ---

/// Kept for what has no number of its own: three stores, two search indexes while they merge, listeners, worker processes with their
/// pipes, fetches for imports, DNS. A busy server was seen to have 60 open.
pub const DESCRIPTORS_RESERVED: usize = 128;
/// With fewer free descriptors than this, the service is not ready: an import or a worker process may need some at once.
pub const DESCRIPTORS_FREE_MIN: u64 = 16;
/// HTTP connections there are in any case, even where the limit on descriptors leaves no room for them.
pub const HTTP_CONNECTIONS_MIN: usize = 32;
/// One descriptor in so many is for mail that comes in, up to [`INBOUND_CONNECTIONS_MAX`].
pub const INBOUND_SHARE_OF_DESCRIPTORS: usize = 16;
/// Connections for mail that comes in, in any case: programs of the same user bring it by a socket.
pub const INBOUND_CONNECTIONS_MIN: usize = 16;

// --- Workers ---

/// The shortest pause before a step that failed is repeated; it doubles with each failure in a row.
pub const WORKER_RETRY_MIN: std::time::Duration = std::time::Duration::from_millis(100);
/// Failures in a row from which on a worker counts as failing. One may be chance.
pub const WORKER_FAILURES_DOUBTED: u64 = 2;
/// A dispatcher that failed and was started again counts as failing for this long.
pub const DISPATCHER_DOUBT_MS: i64 = 60_000;
/// What a probe of a service that is not ready is told to wait.
pub const NOT_READY_RETRY_SECONDS: u64 = 10;
/// And the longest: what went wrong is tried again about every minute, for as long as it takes.
pub const WORKER_RETRY_MAX: std::time::Duration = std::time::Duration::from_secs(60);

// --- Mail that comes in ---

/// One message: bounces bring back what was sent, and that is at most this large.
pub const INBOUND_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Parts of one message; reports have three.
pub const INBOUND_PARTS_MAX: usize = 500;
/// Parts within parts; a bounce of a forwarded bounce has six.
pub const INBOUND_NESTING_MAX: usize = 30;
/// The header fields of one part that are read; servers themselves refuse more.
pub const INBOUND_HEAD_BYTES_MAX: usize = 64 * 1024;
/// The text of one part that is read: what follows is the message that came back.
pub const INBOUND_TEXT_BYTES_MAX: usize = 512 * 1024;
/// Recipients of one report; each of our messages has one.
pub const INBOUND_RECIPIENTS_MAX: usize = 100;
/// What a server said, as it is kept.
pub const INBOUND_DIAGNOSTIC_BYTES_MAX: usize = 1_000;
/// Texts in one message that look like our tokens; a real one has three.
pub const INBOUND_TOKENS_MAX: usize = 20;
/// Connections of the mail listener in all. Many times those of one address, so that a few addresses cannot take them all. Each costs
/// some 20 KiB, and [`INBOUND_SMALL_BYTES`] while it brings a message.
pub const INBOUND_CONNECTIONS_MAX: usize = 256;
/// And of one address: large providers open some at a time.
pub const INBOUND_CONNECTIONS_PER_ADDRESS_MAX: usize = 8;
/// Messages of one address in a minute: a large provider's bounces of a campaign to a dead list.
pub const INBOUND_MESSAGES_PER_MINUTE_MAX: usize = 600;
/// Addresses that are remembered before those that are quiet are forgotten.
pub const INBOUND_ADDRESSES_KNOWN_MAX: usize = 10_000;
/// Messages of one connection; then it begins anew.
pub const INBOUND_MESSAGES_PER_SESSION_MAX: usize = 500;
/// Commands that went wrong in one connection.
pub const INBOUND_ERRORS_MAX: usize = 10;
/// Recipients of one message that comes in; ours have one each.
pub const INBOUND_RECIPIENTS_PER_MESSAGE_MAX: usize = 20;
/// A path in a command: RFC 5321 ends it at 256.
pub const INBOUND_ADDRESS_BYTES_MAX: usize = 320;
/// A command: RFC 5321 ends it at 512, and extensions lengthen it.
pub const INBOUND_LINE_BYTES_MAX: usize = 2_048;
/// All that is read of one message, with what is thrown away because it is too large.
pub const INBOUND_READ_BYTES_MAX: usize = 3 * INBOUND_BYTES_MAX;
/// The part of each message that has memory of its own: bounces of nearly all servers are smaller. With all connections that is 32 MiB.
pub const INBOUND_SMALL_BYTES: usize = 128 * 1024;
/// What all messages that are being received have beyond that, together: three of the largest.
pub const INBOUND_MEMORY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// In which steps that is counted.
pub const INBOUND_MEMORY_UNIT_BYTES: usize = 64 * 1024;
/// Messages that are taken at a time: each is one transaction.
pub const INBOUND_AT_ONCE: usize = 8;
/// Time for taking one, waiting included.
pub const INBOUND_DESK_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// Time for one command.
pub const INBOUND_COMMAND_TIME: std::time::Duration = std::time::Duration::from_secs(120);
/// Time for one message, to which is added what its bytes take at [`INBOUND_BYTES_PER_SECOND_MIN`].
pub const INBOUND_MESSAGE_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// A message that comes more slowly holds a connection without need: the slowest servers send many times as fast.
pub const INBOUND_BYTES_PER_SECOND_MIN: u64 = 1024;
/// Time between two pieces of a message.
pub const INBOUND_CHUNK_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// Time for a TLS handshake.
pub const INBOUND_HANDSHAKE_TIME: std::time::Duration = std::time::Duration::from_secs(20);
/// Time for one connection.
pub const INBOUND_SESSION_TIME: std::time::Duration = std::time::Duration::from_secs(30 * 60);

// --- Webhooks ---

/// An account with more has lost track of them; each is looked at for every event.
pub const WEBHOOKS_MAX: usize = 200;
/// Standard Webhooks asks for 24 to 64 random bytes.
pub const WEBHOOK_SECRET_BYTES: usize = 32;
/// Headers that the owner of a webhook adds: credentials, a tenant, a route.
pub const WEBHOOK_HEADERS_MAX: usize = 20;
/// A header's name. The longest registered one has 44 letters.
pub const WEBHOOK_HEADER_NAME_BYTES_MAX: usize = 100;
/// A header's value: the longest tokens in use fit; servers refuse heads beyond 8 KB.
pub const WEBHOOK_HEADER_VALUE_BYTES_MAX: usize = 4_096;
/// All of them together: common servers take heads of 8 to 16 KB, and ours come to less than one.
pub const WEBHOOK_HEADERS_BYTES_MAX: usize = 8_000;
/// The interface's number of attempts.
pub const WEBHOOK_ATTEMPTS_MAX: usize = 3;
/// The interface's time for an attempt.
pub const WEBHOOK_ATTEMPT_TIME: std::time::Duration = std::time::Duration::from_secs(10);
/// An attempt of which no end was written down after this long has none any more: twice the time that it may take.
pub const WEBHOOK_ATTEMPT_LOST_MS: i64 = 20_000;
/// How much of an answer's body is read before the connection is closed.
pub const WEBHOOK_RESPONSE_BYTES_READ: usize = 16 * 1024;
/// Bytes of an answer as they come, with heads and with what frames the body: more says nothing that is wanted.
pub const WEBHOOK_ANSWER_BYTES_MAX: usize = 256 * 1024;
/// How much of it is kept: a sentence that says what is wrong, or the beginning of a page.
pub const WEBHOOK_RESPONSE_CHARACTERS_KEPT: usize = 1_000;
/// The longest pause that an endpoint can ask for.
pub const WEBHOOK_RETRY_AFTER_MAX_MS: i64 = 15 * 60 * 1000;
/// The longest pause of an endpoint that fails: when it is well again, it is seen within the hour.
pub const WEBHOOK_PAUSE_MAX_MS: i64 = 60 * 60 * 1000;
/// Attempts that a crash cut off are made again only when the service has run for so long: one that dies again and again would use
/// them up without any that arrives.
pub const WEBHOOK_STEADY_MS: i64 = 5_000;
/// Deliveries that wait for one endpoint: an hour of 30 events per second.
pub const WEBHOOK_PENDING_MAX: u64 = 100_000;
/// How often one event can be delivered again to one webhook.
pub const WEBHOOK_REPEATS_MAX: usize = 50;
/// Deliveries looked at for one page of those with a certain status.
pub const WEBHOOK_DELIVERIES_SCANNED_MAX: usize = 20_000;
/// Events whose receivers are looked for in one transaction.
pub const WEBHOOK_EVENTS_PER_STEP: usize = 256;
/// Deliveries that are made in one transaction: after so many the next one goes on.
pub const WEBHOOK_DELIVERIES_PER_STEP: u64 = 2_000;
/// Endpoints with something to be sent that one look sees; the next goes on behind them.
pub const WEBHOOK_LANES_PER_POLL: usize = 1_000;
/// Endpoints of which is remembered how they did; those at rest are forgotten first.
pub const WEBHOOK_LANES_MAX: usize = 10_000;
/// Attempts at a time at an endpoint that has not shown yet how quick it is.
pub const WEBHOOK_WINDOW_FIRST: usize = 2;
/// An endpoint that answers within this time is quick.
pub const WEBHOOK_QUICK_TIME: std::time::Duration = std::time::Duration::from_secs(1);
/// Attempts that are begun in one transaction.
pub const WEBHOOK_BEGINS_PER_COMMIT: usize = 512;
/// Ends of attempts that are written down in one transaction.
pub const WEBHOOK_ENDS_PER_COMMIT: usize = 512;
/// For how long the secret before the new one signs too, if nothing else is said.
pub const WEBHOOK_GRACE_HOURS_DEFAULT: u64 = 24;
/// The longest such time: a secret that is to be replaced should not live on.
pub const WEBHOOK_GRACE_HOURS_MAX: u64 = 168;
/// Days in the statistics.
pub const WEBHOOK_STATS_DAYS: u32 = 30;
// --- Customer events ---

/// The interface's limit for events of one batch.
pub const EVENTS_PER_BATCH_MAX: usize = 500;
/// The interface's limit for the properties of an event: bytes of JSON as they were sent.
pub const EVENT_PROPERTIES_BYTES_MAX: usize = 16 * 1024;
/// The interface's limit for names at the top of an event's properties.
pub const EVENT_PROPERTIES_KEYS_MAX: usize = 50;
/// The interface's limit for objects and lists within each other, the properties themselves included.
pub const EVENT_PROPERTIES_LEVELS_MAX: usize = 4;
/// A name like `purchase.completed` is chosen from a list.
pub const EVENT_NAME_CHARACTERS_MAX: usize = 100;
/// Names of one project: each has sets of contacts for conditions. Whoever has more has put data into names.
pub const EVENT_NAMES_PER_PROJECT_MAX: u64 = 1_000;
/// Ids of shops have up to some sixty characters; web addresses are used as ids, too.
pub const EVENT_EXTERNAL_ID_CHARACTERS_MAX: usize = 255;
/// Keys are put together from ids.
pub const EVENT_DEDUPE_KEY_CHARACTERS_MAX: usize = 255;
/// The interface's time for which raw events are kept, in days. Nothing older is taken in.
pub const EVENT_KEPT_DAYS: u32 = 90;
/// Clocks of servers differ by seconds, those of shops' tills by minutes: so far ahead an event may be.
pub const EVENT_AHEAD_MS: i64 = 5 * 60 * 1000;
/// Rows that one step of forgetting removes: a few milliseconds of the writer's time.
pub const EVENTS_FORGOTTEN_PER_STEP: usize = 1_000;
/// Sets of a day, of all names, that one step of forgetting removes: each has up to 25 stretches of time.
pub const EVENT_DAYS_FORGOTTEN_PER_STEP: usize = 50;
/// Events of a project that wait to be brought into the indexes: some seconds of the most that come in. Who asks looks through them.
pub const EVENTS_WAITING_MAX: u64 = 100_000;
/// Events that are brought into the indexes in one transaction: so many that pages are shared, so few that it takes a tenth of a second.
pub const EVENTS_MERGED_PER_STEP: usize = 16_384;
/// Fewer keys than this go into their index at once: each look-up searches every run.
pub const EVENT_KEY_RUN_MIN: usize = 64;
/// The interface's time for which a click can be credited with an order.
pub const CONVERSION_WINDOW_MS: i64 = 5 * 24 * 60 * 60 * 1000;
/// Clicks by people who were no contacts that one step of forgetting removes: a few milliseconds of the writer's time.
pub const NONCONTACT_CLICKS_DELETED_PER_STEP: usize = 1_000;
/// Payments and refunds of one order: each is held against all others. Orders have two, subscriptions that never end some dozens.
pub const ORDER_FACTS_MAX: usize = 100;
/// Contacts whose orders one step credits again.
pub const CLICK_CHANGES_PER_STEP: usize = 200;
/// Orders that one step credits again: a few milliseconds of the writer's time.
pub const CLICK_CHANGE_ORDERS_PER_STEP: usize = 200;

// The doctor.

/// With less room on the disk than this, work is about to stop.
pub const DOCTOR_DISK_FREE_BYTES_MIN: u64 = 512 * 1024 * 1024;
/// An import of a million contacts, a backup beside the data, and some time to notice.
pub const DOCTOR_DISK_FREE_BYTES_WANTED: u64 = 4 * 1024 * 1024 * 1024;
/// Domains that are looked at: each costs several questions to the DNS.
pub const DOCTOR_DOMAINS_MAX: usize = 50;
// --- The system ---

/// Lines of the log that are kept in memory for people to read: what happened in the last minutes of a service that has trouble.
pub const LOG_LINES_KEPT: usize = 200;
/// Of each line of them: with the number of lines, some hundred kilobytes at most.
pub const LOG_LINE_CHARACTERS_MAX: usize = 500;
/// Open jobs on contacts that a look at the system counts; more than this is a lot, however many they are.
pub const OPEN_JOBS_COUNTED: usize = 100;
