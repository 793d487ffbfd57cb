//! The size limits, and the reason for each. Anything that an operator may want to change is a setting instead.
// long: one table with the reason for each number, looked up by name.

// --- Lists ---

/// What clients of this API expect when they set no limit.
/// They get one screen of rows.
pub const PAGE_LIMIT_DEFAULT: u64 = 20;
/// Enough for a screen of any size; larger pages would make one response as costly as a hundred.
pub const PAGE_LIMIT_MAX: u64 = 100;
/// The cost of an offset grows with its size: beyond this, filters or an export are the right way.
pub const PAGE_OFFSET_MAX: u64 = 10_000_000;

// --- Data files ---

/// Files up to this size are compared with their checksums at every start, which reads them once: a third of a second from the disk of a
/// small virtual server. `mailmill check-data` compares larger files.
pub const CHECKED_AT_START_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Campaigns and sends that are counted when a hold on sending is shown: each count reads a few rows.
pub const HELD_SCANNED_MAX: usize = 10_000;
/// Campaigns that are then listed by name: a longer list would not be read.
pub const HELD_LISTED_MAX: usize = 100;

// --- Requests ---

/// The API's window for request budgets. It starts with the first request.
pub const BUDGET_WINDOW_MS: i64 = 60_000;
/// The request budget of users is this many times a key's, in windows of their own: a page calls up to about ten operations.
pub const OPERATIONS_PER_PAGE: u32 = 10;
/// A direct-send budget below this many requests per recipient per second could not use the sending capacity.
pub const SENDING_BUDGET_PER_RECIPIENT_SECOND: u64 = 60;
/// The API's limit for an `Idempotency-Key`.
pub const IDEMPOTENCY_KEY_CHARACTERS_MAX: usize = 100;
/// How long the API can replay a response.
pub const IDEMPOTENCY_WINDOW_MS: i64 = 24 * 60 * 60 * 1000;

// --- Keys ---

/// Names are shown in one line of a table.
pub const KEY_NAME_CHARACTERS_MAX: usize = 100;
/// An account with more keys than this has lost track of them.
pub const KEYS_PER_ACCOUNT_MAX: usize = 1_000;
/// Characters of a key's id that the API shows. It never shows the key.
pub const KEY_ID_CHARACTERS_SHOWN: usize = 8;
/// Days of request counts that are stored: what a chart shows, and some more for views around midnight.
pub const KEY_DAYS_KEPT: u32 = 32;
/// Days shown in a key's chart.
/// A month shows every weekday four times.
pub const KEY_DAYS_SHOWN: u32 = 30;

// --- Users ---

/// Shorter passwords can be guessed; the usual rules about kinds of characters add less than length does.
pub const PASSWORD_CHARACTERS_MIN: usize = 12;
/// Long enough for any sentence, short enough that hashing untrusted text costs almost nothing.
pub const PASSWORD_CHARACTERS_MAX: usize = 128;
/// [`PASSWORD_CHARACTERS_MAX`] in bytes of UTF-8: a character has up to four.
pub const PASSWORD_BYTES_MAX: usize = 4 * PASSWORD_CHARACTERS_MAX;
/// A setup link is opened right after it was printed, or by the next day; then it expires.
pub const SETUP_LINK_MS: i64 = 24 * 60 * 60 * 1000;

/// Browsers and programs in which one user is signed in at a time; the oldest sessions end first.
pub const SESSIONS_PER_USER_MAX: usize = 20;
/// A fresh sign-in guards what cannot be undone: long enough to read a page and press a button.
pub const FRESH_SIGN_IN_MS: i64 = 10 * 60 * 1000;
/// The part of a browser's User-Agent that a list of sessions shows.
/// Real ones are shorter, and only a prefix is needed to name the browser.
pub const AGENT_CHARACTERS_MAX: usize = 200;
/// Requests within this time do not write a session's new end to disk.
pub const SESSION_SEEN_STEP_MS: i64 = 60 * 1000;
/// Free sign-in attempts, by address and by account, within [`SIGN_IN_WINDOW_MS`].
/// People mistype a password a few times, not ten.
pub const SIGN_IN_TRIES_FREE: u32 = 10;
/// See [`SIGN_IN_TRIES_FREE`].
/// A short wait stops guessing, not people.
pub const SIGN_IN_WINDOW_MS: i64 = 60 * 1000;
/// The longest wait between attempts: guessing at this pace is hopeless, and no user is locked out of their own account for long.
pub const SIGN_IN_WAIT_MAX_MS: i64 = 60 * 1000;
/// Passwords waiting to be hashed; each takes some tens of milliseconds.
pub const PASSWORDS_WAITING_MAX: usize = 64;
/// Used codes of an authenticator app that are stored: one hour, so that a clock set back by less cannot accept one twice.
pub const TOTP_STEPS_KEPT: usize = 120;
/// Names that a brute-force throttle remembers; each takes about a hundred bytes.
pub const THROTTLED_NAMES_MAX: usize = 50_000;
/// Our signed tokens have some 400 bytes.
/// Longer ones are rejected before their signature is checked.
pub const TOKEN_BYTES_MAX: usize = 2_048;
/// Members of an account, and also its open invitations.
/// The list is loaded whole.
pub const MEMBERS_MAX: usize = 1_000;
/// Names are shown in one line.
pub const MEMBER_NAME_CHARACTERS_MAX: usize = 100;
/// An invitation may wait over a weekend and a holiday.
/// It must not expire before the invited person is back.
pub const INVITATION_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// A password-reset link is requested when it is needed.
pub const RESET_LINK_MS: i64 = 60 * 60 * 1000;
/// One-time codes for users who have lost their phone.
/// They fit on one printed page and last for years.
pub const RECOVERY_CODES: usize = 10;
/// Rows of the audit log that one request may read to find those of an account.
/// A page must not walk through the whole log.
pub const AUDIT_WALK_MAX: usize = 5_000;

// --- Agents that request a key ---

/// The API's lifetime of a code.
pub const CLAIM_CODE_MS: i64 = 600 * 1000;
/// The API's lifetime of a registration.
pub const CLAIM_MS: i64 = 60 * 60 * 1000;
/// The API's interval between polls, in seconds.
pub const CLAIM_POLL_SECONDS: u64 = 5;
/// The API's limit for registrations in an hour from one address; the same for one user.
pub const CLAIMS_PER_HOUR: u32 = 10;
/// Registrations in an hour from one IPv6 site (a /48): a tenth of what can wait, so that no site fills the queue.
pub const CLAIMS_PER_SITE_HOUR: u32 = 200;
/// New codes for one registration: one each time the old one expires, and some more.
pub const CLAIM_CODES_MAX: u32 = 12;
/// Registrations waiting for approval, of all accounts together; each expires within an hour.
pub const CLAIMS_WAITING_MAX: usize = 2_000;
/// Polls in a minute from one address before it counts as abuse: a hundred agents behind one address poll 1,200 times.
pub const CLAIM_POLLS_PER_MINUTE: u32 = 2_400;
/// Wrong codes in ten minutes by one user or from one address: codes have 34 bits, so guessing is hopeless.
pub const CLAIM_GUESSES_FREE: u32 = 5;
/// See [`CLAIM_GUESSES_FREE`].
/// A code lives as long.
pub const CLAIM_GUESS_WINDOW_MS: i64 = 10 * 60 * 1000;
/// Agent names are shown in one line.
pub const AGENT_NAME_CHARACTERS_MAX: usize = 100;
/// A registration, a poll and a form each have some hundred bytes.
pub const AGENT_BODY_BYTES_MAX: usize = 16 * 1024;
/// Past agent requests shown in a list.
/// The list is for recent ones.
pub const CLAIMS_SHOWN_MAX: usize = 100;

// --- The dashboard ---

/// A dashboard form: text that users type, without files.
pub const DASHBOARD_FORM_BYTES_MAX: usize = 256 * 1024;
/// A form with an image: a phone photo, small enough that its base64 fits the body of an operation.
pub const DASHBOARD_IMAGE_BYTES_MAX: usize = 7 * 1024 * 1024;
/// A form with a long text or a text file: any text that the knowledge base accepts, in any form encoding.
pub const DASHBOARD_TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// A form with imported HTML: the largest that an import accepts, in any form encoding.
pub const DASHBOARD_EMAIL_BYTES_MAX: usize = 3 * 1024 * 1024;
/// The first field of a form with a large file: a token and the field's name.
pub const DASHBOARD_TOKEN_BYTES_MAX: usize = 4 * 1024;
/// The path to open after sign-in, one of our own pages.
/// Its query can hold a filter, nothing larger.
pub const NEXT_BYTES_MAX: usize = 500;

// --- Projects ---

/// Names are shown in one line of a list.
pub const PROJECT_NAME_CHARACTERS_MAX: usize = 200;
/// One brand seldom has more sites; each is fetched and read in full.
pub const PROJECT_URLS_MAX: usize = 10;
/// What browsers and servers commonly accept.
pub const URL_CHARACTERS_MAX: usize = 2_048;
/// Agencies have hundreds; each project costs counters and makes every list longer.
pub const PROJECTS_MAX: u64 = 10_000;

/// Titles are shown in one line of a list.
pub const KNOWLEDGE_TITLE_CHARACTERS_MAX: usize = 200;
/// A long page or a short booklet; users split longer texts.
pub const KNOWLEDGE_CONTENT_CHARACTERS_MAX: usize = 100_000;
/// File names are shown in one line. The API's limit.
pub const FILE_NAME_CHARACTERS_MAX: usize = 255;
/// Generating an email reads all titles.
pub const KNOWLEDGE_ENTRIES_MAX: usize = 500;
/// The API's limit for an image's description.
pub const IMAGE_DESCRIPTION_CHARACTERS_MAX: usize = 1_000;
/// The API's limit for an image's tags.
pub const IMAGE_TAGS_MAX: usize = 10;
/// The API's limit for one tag of an image.
pub const IMAGE_TAG_CHARACTERS_MAX: usize = 50;
/// Generating an email reads all of them.
pub const PROJECT_IMAGES_MAX: usize = 500;
/// A page of rules: writers do not follow longer ones.
pub const GUIDELINES_CHARACTERS_MAX: usize = 5_000;
/// The longest font names in use are half as long.
pub const FONT_NAME_CHARACTERS_MAX: usize = 100;

// --- Imports of projects ---

/// Imports that run in parallel; each has a few requests open.
pub const IMPORTS_AT_ONCE: usize = 4;
/// Parallel requests of one import: as many as a browser makes.
pub const IMPORT_FETCHES_AT_ONCE: usize = 6;
/// Pages of one import: enough for the informative pages of nearly every site.
pub const IMPORT_PAGES_MAX: usize = 16;
/// Style sheets of one import; sites have two or three.
pub const IMPORT_STYLES_MAX: usize = 12;
/// Sitemaps of one import: an index and some of its entries.
pub const IMPORT_SITEMAPS_MAX: usize = 4;
/// Bytes of one page, style sheet or sitemap that are read; the rest of larger ones adds nothing new.
pub const IMPORT_PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of one import, images excluded.
/// Its pages and their style sheets rarely have a tenth of it.
pub const IMPORT_BYTES_MAX: u64 = 40 * 1024 * 1024;
/// Bytes of one image: a large photograph.
pub const IMPORT_IMAGE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Time for one request of an import.
/// A slow shop answers in five seconds.
pub const IMPORT_FETCH_TIME: std::time::Duration = std::time::Duration::from_secs(15);
/// The time after which an import continues with what it has.
/// Somebody waits for it.
pub const IMPORT_TIME_MAX_MS: i64 = 4 * 60 * 1000;
/// Steps in a row in which an import only fails before it is given up.
/// A failure that is not over by then will stay.
pub const IMPORT_FAILURES_MAX: u8 = 5;
/// Images analyzed in parallel.
/// Analysis mostly waits for other servers, so two cores can serve eight.
pub const IMAGES_AT_ONCE: usize = 8;
/// Attempts to analyze one image.
/// A server that is down for a moment is back by then.
pub const IMAGE_LOOKS_MAX: u8 = 4;
/// The width of an uploaded image: twice that of an email, for high-resolution screens. Wider images are scaled down.
pub const UPLOADED_IMAGE_WIDTH_MAX: u32 = 1_600;
/// Bytes of an uploaded animation, which is stored unchanged: recipients would not wait for more.
pub const UPLOADED_ANIMATION_BYTES_MAX: usize = 3 * 1024 * 1024;
/// How long the file of a deleted uploaded image is kept: emails already sent still show it.
pub const UPLOADED_IMAGE_KEPT_MS: i64 = 365 * 24 * 60 * 60 * 1000;
/// The longer side of a preview: a card in a list, on a screen with two pixels per point.
pub const PREVIEW_SIDE_MAX: u32 = 480;
/// How long a preview is kept before its image is fetched again: sites change their images.
pub const PREVIEW_KEPT_MS: i64 = 14 * 24 * 60 * 60 * 1000;
/// An SVG file that is shown unchanged; larger ones are not logos.
pub const PREVIEW_DRAWING_BYTES_MAX: usize = 512 * 1024;

// --- Requests to other servers ---

/// Sites need two or three (to https, to www, to a language); more is a loop.
pub const FETCH_REDIRECTS_MAX: usize = 8;
/// Addresses tried for one name; the first nearly always responds.
pub const FETCH_ADDRESSES_TRIED_MAX: usize = 4;
/// A connection around the world takes a third of a second.
pub const FETCH_CONNECT_TIME: std::time::Duration = std::time::Duration::from_secs(5);
/// Sites with long security policies send about fifty.
pub const FETCH_HEADERS_MAX: usize = 200;
/// The head of a response; sites with many cookies send some 20 KB.
pub const FETCH_HEAD_BYTES_MAX: usize = 128 * 1024;
/// Threads for blocking work. A name look-up whose servers are silent holds one for half a minute, long after the caller has given up.
/// Webhook endpoints cause up to some 800 such look-ups at a time in the worst case, and store reads must not wait for those.
pub const WAITING_THREADS_MAX: usize = 2_048;

// --- Contacts ---

/// Long enough for any real name, short enough for one line.
pub const PERSON_NAME_CHARACTERS_MAX: usize = 100;
/// A contact's tags are all read and indexed with it.
pub const TAGS_PER_CONTACT_MAX: usize = 100;
/// More than an audience has use for; a contact is always read in full.
pub const CUSTOM_FIELDS_MAX: usize = 100;
/// The key is a column name: one line at most.
pub const CUSTOM_FIELD_KEY_CHARACTERS_MAX: usize = 100;
/// All custom fields of a contact as JSON. The same limit as for the properties of a customer event in the API.
pub const CUSTOM_FIELDS_BYTES_MAX: usize = 16 * 1024;
/// Nesting depth of objects and lists in custom fields. The same limit as for the properties of a customer event in the API.
pub const CUSTOM_FIELDS_DEPTH_MAX: usize = 4;
/// Characters of a contact's custom fields that search covers; an index of whole essays would outgrow the data.
pub const CUSTOM_FIELDS_INDEXED_CHARACTERS_MAX: usize = 2_000;
/// The length of a search text: longer ones find nothing more.
pub const SEARCH_CHARACTERS_MAX: usize = 256;
/// Words of a search; each costs an index look-up.
pub const SEARCH_TERMS_MAX: usize = 16;

// --- Many contacts at once ---

/// The API responds at once up to this number; more contacts become a job.
pub const BULK_AT_ONCE_MAX: usize = 5_000;
/// Contacts in one request, handled at once or as a job: about as many as fit the body limit. Use a file for more.
pub const BULK_MAX: usize = 50_000;
/// The API's limit for one deletion by email.
pub const BULK_DELETE_MAX: usize = 1_000;
/// Failed rows listed one by one; further ones are only counted: no one reads more, and the report must stay small.
pub const BULK_ERRORS_SHOWN_MAX: usize = 1_000;
/// Contacts that one step of a job writes in one transaction: enough for sorted writes to pay off, few enough that other writers wait only
/// briefly.
pub const JOB_STEP_CONTACTS: usize = 10_000;
/// The same for a file. Three such chunks are in memory at a time: one being read, one waiting, one being written.
pub const IMPORT_STEP_CONTACTS: usize = 10_000;
/// Rows of one import file.
/// Five times the contacts that one project is tested with.
pub const IMPORT_ROWS_MAX: u64 = 5_000_000;
/// One row of an import file: all fields of a contact at their largest, and some spare.
pub const IMPORT_ROW_BYTES_MAX: usize = 64 * 1024;
/// Columns of an import file.
/// Exports of other services have a hundred.
pub const IMPORT_COLUMNS_MAX: usize = 500;
/// Custom fields that get a column in an export; others are omitted.
pub const EXPORT_CUSTOM_COLUMNS_MAX: usize = 500;
/// Contacts from which the field catalog is computed: a tenth of a second of work, and as informative as all of them.
pub const FIELD_CATALOG_CONTACTS_MAX: u64 = 50_000;
/// One form field of an upload besides the file: a column mapping at its largest.
pub const UPLOAD_FIELD_BYTES_MAX: usize = 64 * 1024;
/// Interrupted uploads are deleted after this time.
pub const UPLOAD_KEPT_MS: i64 = 60 * 60 * 1000;
/// How long a file waits for its column mapping: until the next day, in case the user has to ask someone.
pub const PENDING_IMPORT_MS: i64 = 24 * 60 * 60 * 1000;
/// Files of one project that wait for a column mapping; the oldest beyond this are deleted.
pub const PENDING_IMPORTS_PER_PROJECT_MAX: usize = 10;
/// Rows of such a file shown as a preview.
pub const UPLOAD_ROWS_SHOWN_MAX: u64 = 20;
/// How long an export's file and its link live.
pub const EXPORT_LINK_MS: i64 = 60 * 60 * 1000;
/// Jobs of one project that wait or run: more come from a client in a loop.
pub const JOBS_OPEN_PER_PROJECT_MAX: usize = 20;
/// Jobs of the whole installation that are searched for the newest of one project.
pub const JOBS_SCANNED_MAX: usize = 2_000;
/// Contacts that one request may list and change at once.
/// One transaction changes so many in well under a second.
pub const CHANGE_IDS_MAX: usize = 1_000;
/// Contacts changed per transaction in a bulk change: each is read, written and reported, so the number is lower than for other jobs.
pub const CHANGE_STEP_CONTACTS: usize = 2_000;
/// How long finished jobs can be retrieved.
pub const JOB_RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1000;

// --- Tags, topics, segments ---

/// A tag is one word or a few.
pub const TAG_NAME_CHARACTERS_MAX: usize = 50;
/// Tags are created on demand: this stops an import with a wrong column mapping from creating a million.
pub const TAGS_PER_PROJECT_MAX: usize = 10_000;
/// Names are shown in one line of a list.
pub const TOPIC_NAME_CHARACTERS_MAX: usize = 100;
/// Recipients choose topics on one page.
/// A longer list is not read.
pub const TOPICS_PER_PROJECT_MAX: usize = 200;
/// Far more than the number of topics, so that there is space between any two.
pub const TOPIC_DISPLAY_ORDER_MAX: u64 = 1_000_000;
/// Names are shown in one line of a list.
pub const SEGMENT_NAME_CHARACTERS_MAX: usize = 100;
/// A list can show each with its current count.
pub const SEGMENTS_PER_PROJECT_MAX: usize = 1_000;
/// Descriptions of tags, topics and segments: a paragraph.
pub const DESCRIPTION_CHARACTERS_MAX: usize = 1_000;
/// The API's limit for groups within one group of a segment's filter.
pub const SEGMENT_GROUPS_PER_GROUP_MAX: usize = 10;
/// The API's limit for levels of groups under the root of a segment's filter.
pub const SEGMENT_LEVELS_MAX: usize = 3;
/// The API's limit for conditions in a whole segment filter.
pub const SEGMENT_CONDITIONS_MAX: usize = 50;
/// Values of one condition; each is compared with every contact.
pub const SEGMENT_VALUES_PER_CONDITION_MAX: usize = 100;
/// Characters of one value of a condition.
/// The longest text field of a contact has so many.
pub const SEGMENT_VALUE_CHARACTERS_MAX: usize = 500;
/// Contacts shown as a preview of a filter that is being written: one page.
pub const SEGMENT_PREVIEW_MAX: usize = 100;
/// How far back, in days, a condition on activity reaches: ten years, longer than activity is kept.
pub const SEGMENT_ACTIVITY_DAYS_MAX: u32 = 3_650;

/// How long a search with `refresh` waits for the index: a commit takes milliseconds, so a longer wait means trouble.
pub const SEARCH_REFRESH_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
/// How long any other search waits for the caller's own writes: some commits of the index, too short for a user to notice.
pub const SEARCH_OWN_WRITES_TIMEOUT: std::time::Duration = std::time::Duration::from_millis(200);
/// A caller's write counts as recent for a second. After that the index has it, unless an import keeps it busy for longer than a search
/// may wait.
pub const SEARCH_OWN_WRITES_MS: i64 = 1_000;
/// How long the audit log keeps entries: 90 days, like raw customer events.
pub const AUDIT_KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;
/// How long webhook events wait for delivery: longer than any retry schedule, short enough that a table that is not read stays small.
pub const OUTBOX_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Rows that a sweep deletes in one transaction: a few milliseconds of the writer's time.
pub const SWEEP_ROWS: usize = 5_000;

// --- Campaigns ---

/// Names are shown in one line of a list.
pub const CAMPAIGN_NAME_CHARACTERS_MAX: usize = 200;
/// Three a day for ten years; each makes every list longer.
pub const CAMPAIGNS_PER_PROJECT_MAX: usize = 10_000;
/// The name in the From field: every mail client truncates longer ones.
pub const FROM_NAME_CHARACTERS_MAX: usize = 100;
/// The client's name for the transport: one word.
pub const PROVIDER_TYPE_CHARACTERS_MAX: usize = 50;
/// Two years: time zone rules are unknown beyond that, and a later date is a typo.
pub const SCHEDULE_AHEAD_MS: i64 = 731 * 24 * 60 * 60 * 1000;
/// The colleagues who check a test email before the campaign is sent.
/// More recipients would be a campaign.
pub const CAMPAIGN_TEST_ADDRESSES_MAX: usize = 20;
/// Campaigns that one request across all projects reads: some hundredths of a second.
pub const CAMPAIGNS_SCANNED_MAX: usize = 2_000;
/// Campaigns handled in one step of the worker, which then checks for a shutdown.
/// A step stays short.
pub const CAMPAIGNS_PER_STEP: usize = 256;
/// How long a due campaign waits for an edit of its email: edits take a minute at most.
pub const CAMPAIGN_EDIT_AWAITED_MS: i64 = 10 * 60 * 1000;
/// The pause before it checks again whether the edit is done.
/// An edit takes some seconds.
pub const CAMPAIGN_EDIT_CHECK_MS: i64 = 2_000;

// --- Files ---

/// The minimum lifetime of a link to an image or an export: a page opened yesterday still works.
pub const FILE_LINK_MS: i64 = 24 * 60 * 60 * 1000;

// --- Emails ---

/// A brief of several pages; a longer text is a document and belongs in the knowledge base.
pub const PROMPT_CHARACTERS_MAX: usize = 10_000;
/// The API's limit for languages in one request.
pub const EMAIL_LANGUAGES_MAX: usize = 5;
/// The API's limit for images in one request.
pub const PROMPT_IMAGES_MAX: usize = 5;
/// Linked pages that are read for a prompt; each may take seconds.
pub const PROMPT_PAGES_MAX: usize = 3;
/// Each takes a queue slot and work; more waiting requests come from a client in a loop.
pub const CONVERSATIONS_WAITING_PER_PROJECT_MAX: usize = 50;
/// How often a stage of an email is started before it is given up: it was interrupted each time, perhaps through its own fault.
pub const EMAIL_ATTEMPTS_MAX: u8 = 5;
/// Emails generated at once in each environment, which wait for the language model in parallel.
/// More would take the model's budget in one burst.
pub const EMAILS_AT_ONCE: usize = 4;
/// How long a generation waits for its brand import, which takes a minute at most.
pub const IMPORT_AWAITED_MS: i64 = 3 * 60 * 1000;
/// Stages started in one step of the worker, which then checks for a shutdown.
/// A step stays short.
pub const EMAIL_STAGES_PER_STEP: usize = 64;
/// Waiting edits of one project; more come from a client in a loop.
pub const EDITS_WAITING_MAX: usize = 200;
/// How long a request waits for an edit before it returns the operation instead: shorter than a request's time limit.
pub const EDIT_WAIT_MS: u64 = 20_000;
/// Version names are shown in one line.
pub const EDIT_LABEL_CHARACTERS_MAX: usize = 200;
/// No one browses more versions than this; the oldest ones after the first are deleted.
pub const EMAIL_VERSIONS_MAX: u32 = 200;

/// The API's limit for emails in one HTML import.
pub const HTML_IMPORTS_MAX: usize = 12;
/// Gmail clips HTML after 102 KB; an import may have much to remove, but not many times that.
pub const HTML_IMPORT_BYTES_MAX: usize = 1024 * 1024;
/// Changes that one edit makes in an imported email; "every tea" in a long newsletter is a hundred places.
pub const LETTER_CHANGES_MAX: usize = 2_000;
/// One text of such an email; longer ones are split.
pub const LETTER_TEXT_CHARACTERS_MAX: usize = 5_000;
/// What a language model gets of such an email: the texts of 100 KB of HTML are a tenth of this.
pub const LETTER_TOLD_CHARACTERS_MAX: usize = 60_000;

// --- Language models ---

/// The pause before the first retry; each further one is twice as long.
pub const LANGUAGE_MODEL_PAUSE_MS: u64 = 500;
/// Overloaded services ask for a minute at most; after a longer pause the user has left.
pub const LANGUAGE_MODEL_PAUSE_MS_MAX: u64 = 60_000;
/// The longest response is an email as JSON.
pub const LANGUAGE_MODEL_ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Services reject images beyond 5 MB, the size of these bytes in base64.
pub const LANGUAGE_MODEL_PICTURE_BYTES_MAX: usize = 3_700_000;
/// How often a response that breaks the rules goes back to the model with its violations.
/// A model that has failed three times fails again, and each try costs money.
pub const LANGUAGE_MODEL_CORRECTIONS_MAX: usize = 2;

// --- The prompt for a language model ---

/// Images with their descriptions; more make a prompt costlier without improving the result.
pub const MATERIAL_IMAGES_MAX: usize = 40;
/// Pages that the model may link to.
/// A prompt has room for them, and sites list the important ones first.
pub const MATERIAL_LINKS_MAX: usize = 60;
/// The beginning of a page that a prompt links to.
/// About a thousand tokens, which hold what a page is about.
pub const MATERIAL_PAGE_CHARACTERS_MAX: usize = 4_000;
/// Texts of the knowledge base, the newest first.
/// With the length of each, about four thousand tokens.
pub const MATERIAL_FACTS_MAX: usize = 20;
/// The beginning of each.
/// A fact is one paragraph.
pub const MATERIAL_FACT_CHARACTERS_MAX: usize = 800;
/// Products with their prices.
/// An email shows nine, and the model needs a choice.
pub const MATERIAL_PRODUCTS_MAX: usize = 40;

// --- The email document ---

/// Mail clients show 40 to 90 characters of a subject; a longer one is a paragraph.
pub const EMAIL_SUBJECT_CHARACTERS_MAX: usize = 150;
/// Mail clients show up to about 140 characters after the subject.
/// More is never read.
pub const EMAIL_PREHEADER_CHARACTERS_MAX: usize = 200;
/// Blocks of one email: twice what readers scroll through. It also keeps the HTML under the size at which mail clients clip it.
pub const EMAIL_BLOCKS_MAX: usize = 40;
/// A block's name: one or two words.
pub const EMAIL_BLOCK_ID_CHARACTERS_MAX: usize = 40;
/// A title fills two or three lines on a phone.
/// Longer titles push the text off the first screen.
pub const EMAIL_TITLE_CHARACTERS_MAX: usize = 140;
/// Text of a button, a name, a price: one line.
pub const EMAIL_LABEL_CHARACTERS_MAX: usize = 80;
/// One sentence: a caption, an alternative text, an address.
pub const EMAIL_SENTENCE_CHARACTERS_MAX: usize = 300;
/// One short paragraph within a block.
pub const EMAIL_PARAGRAPH_CHARACTERS_MAX: usize = 600;
/// Running text of one block; longer texts are several blocks.
pub const EMAIL_PROSE_CHARACTERS_MAX: usize = 3_000;
/// More links do not fit beside a logo at a width of 600 pixels.
pub const EMAIL_HEADER_LINKS_MAX: usize = 3;
/// More links wrap to a second line in a footer.
/// A footer should stay small.
pub const EMAIL_FOOTER_LINKS_MAX: usize = 4;
/// A single column is not a columns block.
pub const EMAIL_COLUMNS_MIN: usize = 2;
/// At 600 pixels a fourth column would be narrower than a long word.
pub const EMAIL_COLUMNS_MAX: usize = 3;
/// A column is a small part of an email.
pub const EMAIL_COLUMN_BLOCKS_MAX: usize = 6;
/// Three rows of three.
/// An email with more is a catalog.
pub const EMAIL_PRODUCTS_MAX: usize = 9;
/// Longer lists belong on a page.
/// An email can link to it.
pub const EMAIL_LIST_ITEMS_MAX: usize = 12;
/// More columns cannot be read on a phone.
pub const EMAIL_TABLE_COLUMNS_MAX: usize = 5;
/// An order of many items.
/// Longer tables belong on a page.
pub const EMAIL_TABLE_ROWS_MAX: usize = 40;
/// A row of names.
/// More do not fit on one line of a phone.
pub const EMAIL_SOCIAL_LINKS_MAX: usize = 8;
/// Width and height of images in pixels: what cameras and decoders support.
pub const EMAIL_IMAGE_PIXELS_MAX: u32 = 20_000;
/// A timestamp with offset and fractions of a second.
/// No valid one is longer.
pub const EMAIL_DEADLINE_CHARACTERS_MAX: usize = 40;
/// Violations reported by one check: enough to fix a document by, few enough for a model's context.
pub const EMAIL_VIOLATIONS_MAX: usize = 50;

// --- Screenshots of emails ---

/// Images fetched for a screenshot; further ones are shown as blocked.
pub const DRAWN_IMAGES_FETCHED_MAX: usize = 60;
/// Parallel fetches of the whole process: each image may have the largest size.
pub const DRAWN_IMAGES_AT_ONCE: usize = 8;
/// How long a screenshot waits for one image.
pub const DRAWN_IMAGE_MS_MAX: u64 = 8_000;
/// Images cached for the next screenshot: those of one brand's emails.
pub const RECENT_BYTES_MAX: usize = 24 * 1024 * 1024;
/// The lifetime of a link to another server's image in a displayed email: as long as a user views it.
pub const REMOTE_IMAGE_LINK_MS: i64 = 60 * 60 * 1000;
/// As long as the screenshots of a series take; a change of an image on its server shows soon.
pub const RECENT_MS: i64 = 5 * 60 * 1000;
/// Photos straight from a camera are rejected: recipients would not wait for them either.
pub const DRAWN_IMAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

// --- Decoding images ---

/// Pixels of one decoded image. The largest phone photos have 50 million.
pub const DECODED_IMAGE_PIXELS_MAX: u64 = 50_000_000;
/// Width or height of such an image in pixels.
/// Cameras stay below it.
pub const DECODED_IMAGE_SIDE_MAX: u32 = 10_000;
/// Memory of one decoded image: 8,000 by 6,000 pixels of four bytes.
pub const DECODED_IMAGE_BYTES_MAX: u64 = 200 * 1024 * 1024;
/// Memory that a worker process for one image may use beyond the bare process: the decoded image, and the wider numbers used while scaling.
pub const DECODING_MEMORY_BYTES: u64 = 512 * 1024 * 1024;
/// Pixels that all workers decode at a time, which unpack to 256 MiB: what a server with 2 GB can spare.
pub const DECODED_PIXELS_AT_ONCE: u64 = 64 * 1024 * 1024;
/// How long an image or a drawing waits in the queue before its request gets a 503.
pub const DRAWING_WAIT: std::time::Duration = std::time::Duration::from_secs(20);

// --- Drawing emails ---

/// HTML without its embedded images. Mail clients clip at a twentieth of this; in the worst case the parser's time is quadratic.
pub const DRAWN_HTML_BYTES_MAX: usize = 2 * 1024 * 1024;
/// HTML with its embedded images: as much as an email with attachments commonly may have.
pub const DRAWN_INPUT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Attributes of one tag: parsers compare each with all the others.
pub const DRAWN_ATTRIBUTES_MAX: usize = 200;
/// Nesting depth of elements: this many fit the worker's stack with space to spare; emails have 30.
pub const DRAWN_LEVELS_MAX: usize = 300;
/// Elements and text nodes of one email. Long newsletters have 5,000.
pub const DRAWN_NODES_MAX: usize = 60_000;
/// All image files passed to one drawing: they stay in the server's memory until it is done. Newsletters have 5 MiB.
pub const DRAWN_IMAGES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// All pixels of the images of one drawing: 256 MiB when unpacked, a quarter of the worker's memory.
pub const DRAWN_IMAGE_PIXELS_MAX: u64 = 64 * 1024 * 1024;
/// Screenshots of different widths in one drawing.
/// Phone, tablet and desktop, each in a few sizes.
pub const DRAWN_WIDTHS_MAX: usize = 8;
/// The narrowest screen on which mail is read.
pub const DRAWN_WIDTH_PX_MIN: u32 = 120;
/// Wider windows only show more white around an email.
/// They also take more memory.
pub const DRAWN_WIDTH_PX_MAX: u32 = 2_000;
/// Screenshots are cut at this height: 20 screens, and within the engine's 64 million pixels at any width.
pub const DRAWN_HEIGHT_PX_MAX: u32 = 16_000;
/// The time limit of one drawing; a typical one takes a hundredth of it.
pub const DRAWING_TIME: std::time::Duration = std::time::Duration::from_secs(15);
/// Processor time of one drawing, enforced by the operating system.
/// Real emails take less than one second.
pub const DRAWING_CPU_SECONDS: u64 = 10;
/// Memory that a drawing may use beyond the bare process. A typical one uses 20 MiB.
pub const DRAWING_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// Output of one drawing: several long screenshots.
pub const DRAWING_ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The stack of the drawing thread: 300 levels need less than 2 MiB, and an overflow would end the process.
pub const DRAWING_STACK_BYTES: usize = 32 * 1024 * 1024;
/// Drawings waiting for a free processor. At 100 ms each, the last one waits a few seconds.
pub const DRAWINGS_WAITING_MAX: usize = 64;
/// Drawings by one Chromium before it is replaced: it grows with each.
pub const DRAWINGS_PER_BROWSER_MAX: u32 = 300;
/// Files read from the folder of additional fonts.
pub const FONT_FILES_MAX: usize = 500;
/// One font file: the largest ones for Chinese, Japanese and Korean together have 20 MB.
pub const FONT_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Gmail clips an email's HTML here and hides the rest, including the unsubscribe link.
pub const EMAIL_HTML_BYTES_MAX: usize = 102 * 1024;

// --- The composer ---

/// Characters of a prompt that the composer reads: two pages.
pub const COMPOSER_PROMPT_CHARACTERS_MAX: usize = 10_000;
/// Links, points, statements or images taken from one prompt: more do not fit into an email.
pub const COMPOSER_LIST_MAX: usize = 12;
/// Products of a brand that the composer chooses from.
/// It reads them all for each email.
pub const COMPOSER_PRODUCTS_MAX: usize = 1_000;
/// Texts of a brand that the composer quotes.
/// It reads them all for each email.
pub const COMPOSER_KNOWLEDGE_MAX: usize = 100;
/// The API's limit for emails of one series.
pub const EMAILS_PER_SERIES_MAX: usize = 12;

// --- The DNS ---

/// Time for one DNS query with all its attempts: a request that waits for several in a row can still respond in time.
pub const DNS_TIME: std::time::Duration = std::time::Duration::from_secs(8);
/// Time for one attempt; name servers answer within a second or not at all.
pub const DNS_ATTEMPT_TIME: std::time::Duration = std::time::Duration::from_secs(3);
/// Packets get lost: try twice.
pub const DNS_ATTEMPTS: usize = 2;
/// Cached DNS responses: those of the domains that get most mail.
pub const DNS_CACHE_ANSWERS: u64 = 8_192;
/// The longest time that a record is cached, whatever its TTL: a server that moves is found after this time.
pub const DNS_CACHED_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// How long the absence of a record is cached: a user who has just created it does not want to wait.
pub const DNS_NOTHING_CACHED_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(60);

// --- Sending domains ---

/// Agencies have some for each client; each is checked daily.
pub const DOMAINS_MAX: usize = 500;
/// The pause before the second check of a domain that waits for its records; each further pause is twice as long.
pub const DOMAIN_CHECK_INTERVAL_MS: i64 = 60 * 1000;
/// The longest such pause.
/// A record that appears overnight is found in the morning.
pub const DOMAIN_CHECK_INTERVAL_MS_MAX: i64 = 6 * 60 * 60 * 1000;
/// Records reach all name servers within two days; if they are missing after three, the user has forgotten them.
pub const DOMAIN_VERIFICATION_MS: i64 = 72 * 60 * 60 * 1000;
/// The pause between checks of a verified domain.
/// Records that work are rarely removed.
pub const DOMAIN_DAILY_MS: i64 = 24 * 60 * 60 * 1000;
/// Failed checks in a row after which a verified domain counts as failed: a single one may be a DNS glitch.
pub const DOMAIN_MISSES_MAX: u8 = 3;
/// The pause between those checks.
/// A name server that fails for a moment is back by then.
pub const DOMAIN_MISS_PAUSE_MS: i64 = 15 * 60 * 1000;
/// How long a replaced key stays in the DNS: messages travel for up to five days.
pub const DOMAIN_KEY_RETIRES_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Domains checked in parallel.
/// Checks mostly wait for name servers.
pub const DOMAINS_AT_ONCE: usize = 8;
/// Parent domains in which a DMARC record is looked up. The successor of RFC 7489 has the same limit.
pub const DMARC_LEVELS_MAX: usize = 8;
/// Values shown that the DNS has in place of one expected record.
pub const DOMAIN_FOUND_SHOWN_MAX: usize = 5;
/// Characters shown of each value.
/// They are shown to find a mistake, and DNS texts can have kilobytes.
pub const DOMAIN_FOUND_CHARACTERS_MAX: usize = 500;

// --- Suppressions ---

/// Suppressions of one account that are held in memory while a mailing is planned: some 20 MB. Further ones are looked up one by one.
pub const SUPPRESSIONS_IN_MEMORY_MAX: u64 = 500_000;

// --- Tracking ---

/// Visits waiting to be written: ten seconds at the highest rate that the service accepts.
pub const VISITS_WAITING_MAX: usize = 20_000;
/// Visits written in one transaction: few enough that outgoing messages wait for milliseconds only.
pub const VISITS_PER_WRITE: usize = 1_000;
/// The part of a User-Agent that identifies a client is at its beginning.
pub const VISIT_AGENT_CHARACTERS_MAX: usize = 200;
/// Clients retry slow requests, and people double-click: the same client on the same link counts as a new visit only after this time.
pub const VISIT_REPEAT_MS: i64 = 1_000;
/// Server replies and actions of simulated recipients that one transaction processes.
/// They share one commit, and other writes wait for it.
pub const DELIVERY_EVENTS_PER_STEP: usize = 500;
/// Rows that one step of an erasure reads: a few milliseconds of the writer's time.
pub const ERASURE_ROWS_PER_STEP: usize = 500;
/// Activities of one contact that are searched for the results of its messages: years of them.
pub const TIMELINE_ACTIVITIES_MAX: usize = 2_000;
/// Messages to one contact for which a timeline shows the result; each costs three look-ups.
pub const TIMELINE_SENDS_MAX: usize = 500;
/// Rows of each kind that the data export of one contact lists; older ones are only counted.
pub const PERSONAL_DATA_ROWS_MAX: usize = 10_000;
/// Mailings of one email that a page of its log searches: those without matching rows cost as much as others.
pub const LOG_MAILINGS_SCANNED_MAX: usize = 200;
/// Messages of the built-in inbox that one step of an erasure removes.
/// Each can have megabytes.
pub const ERASURE_MESSAGES_PER_STEP: usize = 100;
/// Forms of the pages that messages link to: one checkbox for each topic.
pub const CHOICES_FORM_BYTES_MAX: usize = 64 * 1024;

// --- Sending ---

/// One UTM parameter: web analytics shows one line of it.
pub const UTM_CHARACTERS_MAX: usize = 200;
/// One day: some settings are in days.
/// Days are those of UTC.
pub const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The shortest pause before mail is retried after its server was throttled for only a moment.
pub const POSTPONED_MS_MIN: i64 = 5_000;
/// The longest pause between two attempts for deferred mail: servers that defer for greylisting or load accept it within hours.
pub const RETRY_PAUSE_MS_MAX: i64 = 4 * 60 * 60 * 1000;
/// Retries further ahead than this were scheduled by a wrong clock: this is more than the longest pause and any time zone offset.
pub const RETRY_AHEAD_MS_MAX: i64 = 48 * 60 * 60 * 1000;
/// The pause between two attempts to write recipient rows while too many other writes wait.
pub const RECIPIENT_WRITER_BUSY_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);
/// Recipient rows that one request scans for matches: a tenth of a second.
pub const RECIPIENT_ROWS_SCANNED_MAX: usize = 100_000;
/// Counted links of one content; newsletters have some dozens.
pub const MAILING_LINKS_MAX: usize = 1_000;
/// Updates of recipient rows that wait for the writer: a few for each of the most connections.
pub const RECIPIENT_UPDATES_QUEUED_MAX: usize = 4_096;
/// Updates of recipient rows in one commit: a few milliseconds of the writer's time.
pub const RECIPIENT_UPDATES_PER_COMMIT: usize = 1_024;
/// How long outcomes wait for a claim to be committed with: several commits of a slow disk.
pub const RECIPIENT_WRITER_WAIT: std::time::Duration = std::time::Duration::from_millis(20);
/// Messages rendered before a connection is free for them: some megabytes.
pub const MESSAGES_AHEAD_MAX: usize = 32;
/// The fallback poll interval of the send queue, in case a wake-up was missed.
/// A poll of an idle queue costs microseconds.
pub const SEND_QUEUE_POLL_PERIOD: std::time::Duration = std::time::Duration::from_secs(5);
/// Recipients of one mailing that are read ahead.
pub const RECIPIENTS_READ_AT_ONCE: usize = 512;
/// The cursor up to which all recipient rows are settled is stored after this many recipients.
pub const CURSOR_MOVED_EVERY: u32 = 4_096;
/// Mailings with work that one poll handles; the next poll sees the rest.
pub const MAILINGS_SCANNED_MAX: usize = 1_000;
/// Retries of one mailing that are read ahead.
pub const RETRIES_READ_AT_ONCE: usize = 256;
/// Accounts whose retries one poll reads; the next poll continues after them.
pub const ACCOUNTS_SCANNED_MAX: usize = 1_000;
/// Due mailings of one account that one poll handles, so that an account with very many leaves capacity for others.
pub const DUE_MAILINGS_PER_ACCOUNT: usize = 50;
/// The pause before the next poll if there are more accounts than one poll reads.
pub const RETRIES_POLL_PAUSE_MS: i64 = 1_000;
/// Blocked mailings re-checked per poll; the next poll continues after the last one checked.
pub const BLOCKED_MAILINGS_SCANNED: usize = 20;
/// Retries of one mailing, scheduled too far ahead by a wrong clock, that one poll reschedules.
pub const RETRIES_SCANNED_MAX: usize = 1_000;
/// Mailings that one sweep of old direct sends reads: a few milliseconds of the writer's time.
pub const MAILINGS_SWEPT: usize = 200;
/// Rows that planning writes in one transaction: enough for sorted writes to pay off, few enough that others wait only briefly.
pub const PLAN_CHUNK_RECIPIENTS: usize = 10_000;
/// Chunks in one planning step, which share the loaded data.
/// A step stays under a second, so that a shutdown waits for no longer.
pub const PLAN_CHUNKS_PER_STEP: usize = 20;
/// Characters of a server's reply that are stored: users read it when mail does not arrive.
pub const REPLY_CHARACTERS_KEPT: usize = 300;
/// The pause after the first transport failure; each further one is twice as long.
pub const TRANSPORT_REST_MIN: std::time::Duration = std::time::Duration::from_secs(1);
/// The longest such pause: a relay that recovers is used within a minute.
pub const TRANSPORT_REST: std::time::Duration = std::time::Duration::from_secs(30);
/// Compiled contents cached for the next mailing with the same content: some dozens of newsletters.
pub const CONTENTS_KEPT_BYTES: usize = 16 * 1024 * 1024;
/// How long the sender data of a From address is cached: the keys and settings of its domain may change.
pub const SENDER_KEPT_MS: i64 = 60 * 1000;
/// From addresses whose keys are held unsealed.
pub const SENDERS_KEPT_MAX: usize = 256;
/// Addresses of one direct send: the recipient and its copies.
pub const DIRECT_RECIPIENTS_MAX: usize = 51;
/// How long a direct send may wait, roughly: beyond this backlog, callers are asked to slow down.
pub const DIRECT_BACKLOG_SECONDS: u64 = 10;
/// A region is a short name from another service; it is ignored.
pub const REGION_CHARACTERS_MAX: usize = 64;
/// Direct sends per second assumed for the backlog if the plan has no limit: more than one server's connections deliver.
pub const DIRECT_PER_SECOND_ASSUMED: u64 = 1_000;
/// The name next to a From address is shown in one line.
pub const SENDER_NAME_CHARACTERS_MAX: usize = 100;
/// A subject with its merge fields, before they are filled in.
pub const SEND_SUBJECT_CHARACTERS_MAX: usize = 500;
/// Past months that metrics cover: three years.
pub const METRICS_MONTHS_MAX: u64 = 36;
/// Past days that charts and their tables may cover: a quarter of a year, with at least one pixel for each day.
pub const TIMELINE_DAYS_MAX: u64 = 92;
/// Days in a chart if the request sets no number.
/// A month shows every weekday four times.
pub const TIMELINE_DAYS: u64 = 30;
/// Days after a campaign's start with daily statistics; later activity counts only in its totals.
pub const CAMPAIGN_DAYS: u32 = 92;
/// Links in a campaign report, the most clicked ones.
pub const CAMPAIGN_LINKS_SHOWN: usize = 20;

// --- The built-in inbox ---

/// Messages of one account; the oldest are deleted first. Lists scan all of them.
pub const INBOX_MESSAGES_MAX: i64 = 5_000;
/// Bytes of one account's messages; the oldest are deleted first.
pub const INBOX_BYTES_MAX: i64 = 256 * 1024 * 1024;
/// Old messages of one account that one sweep deletes, and about how many in total.
/// Each can have megabytes.
pub const INBOX_MESSAGES_SWEPT: usize = 100;
/// A message is stored in rows of this many bytes.
pub const INBOX_CHUNK_BYTES: usize = 256 * 1024;
/// The pause between a message to a simulated recipient and the recipient's action.
/// Long enough to see the message sent first, short enough to wait for.
pub const SIMULATED_PAUSE_MS: i64 = 1_000;
/// A new demo starts this long ago: enough days for a chart, and less than the default of `mail.give_up_hours`, so that its full mailboxes
/// are still being retried at the end.
pub const DEMO_PAST_MS: i64 = 4 * DAY_MS;

// --- Messages ---

/// A template with its merge fields. Long newsletters have a fifth of it; mail clients show nothing beyond half of it.
pub const MERGE_SOURCE_BYTES_MAX: usize = 256 * 1024;
/// One recipient's HTML or text: a template of full length with long lists in it.
pub const MERGE_OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// One recipient's subject or name. Mail clients show a tenth of it.
pub const MERGE_HEADER_BYTES_MAX: usize = 2_000;
/// Steps for one recipient: some 20 ms on one processor. A newsletter with an order of forty rows takes 2,000.
pub const MERGE_STEPS_MAX: usize = 500_000;
/// Nesting of `if`, `for` and the parentheses of a condition: deeper templates cannot be read, and the parser's stack is limited.
pub const MERGE_LEVELS_MAX: usize = 16;
/// Filters behind one field: trim, shorten, spell, default.
pub const MERGE_FILTERS_MAX: usize = 8;
/// Names in one field path, like `order.address.city`.
/// Real data is nested three or four levels deep.
pub const MERGE_PATH_WORDS_MAX: usize = 8;
/// A header added by a sender: two lines of the longest form (RFC 5322 §2.1.1).
pub const EXTRA_HEADER_BYTES_MAX: usize = 1_996;
/// The name of such a header. The longest registered one has 44 characters.
pub const EXTRA_HEADER_NAME_BYTES_MAX: usize = 76;

// --- Outgoing mail ---

/// RFC 5321 §4.5.3.2 would wait five minutes for the greeting alone; a connection itself takes a third of a second around the world.
pub const SMTP_CONNECT_TIME: std::time::Duration = std::time::Duration::from_secs(30);
/// RFC 5321 §4.5.3.2: the time limit of a command.
pub const SMTP_COMMAND_TIME: std::time::Duration = std::time::Duration::from_secs(300);
/// RFC 5321 §4.5.3.2.6: giving up earlier after the final dot causes duplicates.
pub const SMTP_DOT_TIME: std::time::Duration = std::time::Duration::from_secs(600);
/// QUIT is a courtesy.
pub const SMTP_QUIT_TIME: std::time::Duration = std::time::Duration::from_secs(5);
/// Servers close unused connections after one to five minutes; keeping them longer than a burst lasts does not help.
pub const SMTP_IDLE_TIME: std::time::Duration = std::time::Duration::from_secs(30);
/// A relay that restarts is back in a minute: deliveries in flight wait for it instead of being deferred by half an hour.
pub const SMTP_PATIENCE: std::time::Duration = std::time::Duration::from_secs(90);
/// The first pause after a server could not be reached; it doubles with each failure.
pub const SMTP_PAUSE_MIN: std::time::Duration = std::time::Duration::from_secs(1);
/// The longest such pause.
/// A server that recovers gets its mail within a minute.
pub const SMTP_PAUSE_MAX: std::time::Duration = std::time::Duration::from_secs(60);
/// The first pause for a recipient's own server: neither side is in a hurry.
pub const SMTP_EXCHANGER_PAUSE_MIN: std::time::Duration = std::time::Duration::from_secs(60);
/// The longest such pause: a server that was down overnight gets its mail within the hour.
/// A longer pause would delay mail without need.
pub const SMTP_EXCHANGER_PAUSE_MAX: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// Many servers allow a hundred messages per connection, then close.
pub const SMTP_MESSAGES_PER_CONNECTION_MAX: usize = 100;
/// RFC 5321 allows 512 bytes; some servers send long web addresses.
pub const SMTP_REPLY_LINE_BYTES_MAX: usize = 2_048;
/// Long policies have ten lines, long EHLO lists thirty.
pub const SMTP_REPLY_LINES_MAX: usize = 100;
/// A message is sent in chunks of this size: nearly all fit into one.
pub const SMTP_PIECE_BYTES: usize = 128 * 1024;
/// Successful messages in a row before a server that was overloaded gets one more connection.
/// Fewer could be luck.
pub const SMTP_GROWTH_MESSAGES: u32 = 20;
/// One destination's servers get at most this fraction of all connections, so that a slow one does not hold up the others.
pub const SMTP_DESTINATION_SHARE: usize = 8;
/// Servers of one destination tried for one message.
/// Large providers have five.
pub const SMTP_EXCHANGERS_TRIED_MAX: usize = 5;
/// Addresses tried for one server.
/// Two of each IP version.
pub const SMTP_ADDRESSES_TRIED_MAX: usize = 4;
/// Destinations whose throttling state is kept. Idle ones are dropped first.
pub const SMTP_DESTINATIONS_MAX: usize = 10_000;
/// More relays than this are a mistake.
pub const SMTP_RELAYS_MAX: usize = 20;
/// How often a domain's MTA-STS policy is checked again.
/// Policies last for weeks, and a changed one must not wait for a day.
pub const STS_RECHECK_AFTER: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// RFC 8461 §3.2 allows a year; the cache does not outlive the process anyway.
pub const STS_AGE_MAX: std::time::Duration = std::time::Duration::from_secs(31_557_600);
/// RFC 8461 §3.3 advises a minute for fetching a policy; mail waits for it, so it gets less.
pub const STS_FETCH_TIME: std::time::Duration = std::time::Duration::from_secs(20);
/// RFC 8461 §3.3 advises at least 64 KB.
pub const STS_POLICY_BYTES_MAX: usize = 64 * 1024;
/// Servers in one policy.
/// Real policies have ten.
pub const STS_POLICY_HOSTS_MAX: usize = 200;

// --- Request bodies ---

/// Bodies up to this size bypass the memory limit for large bodies: nearly all requests. All connections together bring few at a time.
pub const BODY_SMALL_BYTES: usize = 64 * 1024;
/// Bytes of larger bodies in memory at a time, for the whole service: one of the largest with the default settings, and several smaller
/// ones. Parsed, 10 MB of contacts takes 43 MiB, and the memory of the body before may not be free yet: a tenth of a server with 1 GB.
pub const BODIES_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a large body waits for memory before its request gets a 503: a third of a response's time limit.
pub const BODIES_WAIT: std::time::Duration = std::time::Duration::from_secs(10);
/// The Retry-After of that response: an upload takes a few seconds.
pub const BODIES_RETRY_SECONDS: u64 = 5;

// --- Disk space ---

/// Stages in which the disk reserve is released. With the default size, each holds thousands of unsubscribes.
pub const DISK_RESERVE_STAGES: u64 = 8;
/// The Retry-After while the service is read-only for lack of disk space: the operator has to act first.
pub const STORAGE_FULL_RETRY_SECONDS: u64 = 60;
/// The pause before a worker checks again for free disk space.
/// The check costs a system call.
pub const STORAGE_FULL_PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

// --- Descriptors ---

/// Descriptors reserved for everything without a limit of its own: three stores, two search indexes while they merge, listeners, worker
/// processes with their pipes, fetches for imports, DNS. A busy server was seen to have 60 open.
pub const DESCRIPTORS_RESERVED: usize = 128;
/// With fewer free descriptors than this, the service is not ready: an import or a worker process may need some at once.
pub const DESCRIPTORS_FREE_MIN: u64 = 16;
/// The minimum number of HTTP connections, even if the descriptor limit leaves no space for them.
pub const HTTP_CONNECTIONS_MIN: usize = 32;
/// One descriptor in this many is for incoming mail, up to [`INBOUND_CONNECTIONS_MAX`].
pub const INBOUND_SHARE_OF_DESCRIPTORS: usize = 16;
/// The minimum number of connections for incoming mail: programs of the same user deliver it through a socket.
pub const INBOUND_CONNECTIONS_MIN: usize = 16;

// --- Workers ---

/// The shortest pause before a failed step is retried; it doubles with each failure in a row.
pub const WORKER_RETRY_MIN: std::time::Duration = std::time::Duration::from_millis(100);
/// Failures in a row after which a worker counts as failing. A single one may be chance.
pub const WORKER_FAILURES_DOUBTED: u64 = 2;
/// How long a dispatcher that failed and was restarted counts as failing.
pub const DISPATCHER_DOUBT_MS: i64 = 60_000;
/// The Retry-After for a probe of a service that is not ready.
/// Probes run about this often.
pub const NOT_READY_RETRY_SECONDS: u64 = 10;
/// The longest such pause: failed work is retried about every minute until it succeeds.
pub const WORKER_RETRY_MAX: std::time::Duration = std::time::Duration::from_secs(60);

// --- Incoming mail ---

/// One message: a bounce returns what was sent, and that is at most this large.
pub const INBOUND_BYTES_MAX: usize = 10 * 1024 * 1024;
/// MIME parts of one message; reports have three.
pub const INBOUND_PARTS_MAX: usize = 500;
/// Nesting of MIME parts; a bounce of a forwarded bounce has six levels.
pub const INBOUND_NESTING_MAX: usize = 30;
/// Header bytes of one part that are read; servers themselves reject more.
pub const INBOUND_HEAD_BYTES_MAX: usize = 64 * 1024;
/// Text bytes of one part that are read: the rest is the returned message.
pub const INBOUND_TEXT_BYTES_MAX: usize = 512 * 1024;
/// Recipients of one report; each of our messages has one.
pub const INBOUND_RECIPIENTS_MAX: usize = 100;
/// Bytes of a server's diagnostic text that are stored.
pub const INBOUND_DIAGNOSTIC_BYTES_MAX: usize = 1_000;
/// Texts in one message that look like our tokens; a real bounce has three.
pub const INBOUND_TOKENS_MAX: usize = 20;
/// Connections of the mail listener. Many times those of one address, so that a few addresses cannot take them all. Each costs some 20 KiB,
/// and [`INBOUND_SMALL_BYTES`] while it receives a message.
pub const INBOUND_CONNECTIONS_MAX: usize = 256;
/// Connections of one address: large providers open several at a time.
pub const INBOUND_CONNECTIONS_PER_ADDRESS_MAX: usize = 8;
/// Messages from one address in a minute: a large provider's bounces of a campaign to a dead list.
pub const INBOUND_MESSAGES_PER_MINUTE_MAX: usize = 600;
/// Addresses that are remembered; beyond this, idle ones are dropped.
pub const INBOUND_ADDRESSES_KNOWN_MAX: usize = 10_000;
/// Messages in one connection; then the client must reconnect.
pub const INBOUND_MESSAGES_PER_SESSION_MAX: usize = 500;
/// Failed commands in one connection.
/// A mail server makes none or two, a guesser hundreds.
pub const INBOUND_ERRORS_MAX: usize = 10;
/// Recipients of one incoming message; ours have one each.
pub const INBOUND_RECIPIENTS_PER_MESSAGE_MAX: usize = 20;
/// A path in a command: RFC 5321 limits it to 256.
pub const INBOUND_ADDRESS_BYTES_MAX: usize = 320;
/// A command line: RFC 5321 limits it to 512, and extensions lengthen it.
pub const INBOUND_LINE_BYTES_MAX: usize = 2_048;
/// All bytes read of one message, including those discarded because it is too large.
pub const INBOUND_READ_BYTES_MAX: usize = 3 * INBOUND_BYTES_MAX;
/// The memory reserved for each message: bounces of nearly all servers are smaller. With all connections that is 32 MiB.
pub const INBOUND_SMALL_BYTES: usize = 128 * 1024;
/// The memory beyond that, shared by all messages being received: three of the largest.
pub const INBOUND_MEMORY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The unit in which that memory is counted.
/// A bounce takes one unit.
pub const INBOUND_MEMORY_UNIT_BYTES: usize = 64 * 1024;
/// Messages processed at a time: each is one transaction.
pub const INBOUND_AT_ONCE: usize = 8;
/// Time for processing one message, including the wait.
/// Storing takes milliseconds, and senders wait for ten minutes.
pub const INBOUND_DESK_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// Time for one command.
/// RFC 5321 asks for five minutes, but a busy server needs its connections back.
pub const INBOUND_COMMAND_TIME: std::time::Duration = std::time::Duration::from_secs(120);
/// Base time for one message; its bytes add time at [`INBOUND_BYTES_PER_SECOND_MIN`].
pub const INBOUND_MESSAGE_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// A slower message only ties up a connection: the slowest servers send many times as fast.
pub const INBOUND_BYTES_PER_SECOND_MIN: u64 = 1024;
/// Time between two chunks of a message.
/// RFC 5321 asks for three minutes, but a busy server needs its memory back.
pub const INBOUND_CHUNK_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// Time for a TLS handshake.
/// It takes two round trips.
pub const INBOUND_HANDSHAKE_TIME: std::time::Duration = std::time::Duration::from_secs(20);
/// Time for one connection.
/// Senders put hundreds of messages into one connection, then open another.
pub const INBOUND_SESSION_TIME: std::time::Duration = std::time::Duration::from_secs(30 * 60);

// --- Webhooks ---

/// An account with more has lost track of them; each is checked for every event.
pub const WEBHOOKS_MAX: usize = 200;
/// Standard Webhooks asks for 24 to 64 random bytes.
pub const WEBHOOK_SECRET_BYTES: usize = 32;
/// Headers that a webhook's owner adds: credentials, a tenant, a route.
pub const WEBHOOK_HEADERS_MAX: usize = 20;
/// A header's name. The longest registered one has 44 characters.
pub const WEBHOOK_HEADER_NAME_BYTES_MAX: usize = 100;
/// A header's value: the longest tokens in use fit; servers reject heads beyond 8 KB.
pub const WEBHOOK_HEADER_VALUE_BYTES_MAX: usize = 4_096;
/// All custom headers together: common servers accept heads of 8 to 16 KB, and ours have less than one.
pub const WEBHOOK_HEADERS_BYTES_MAX: usize = 8_000;
/// The API's number of attempts.
pub const WEBHOOK_ATTEMPTS_MAX: usize = 3;
/// The API's time limit for an attempt.
pub const WEBHOOK_ATTEMPT_TIME: std::time::Duration = std::time::Duration::from_secs(10);
/// An attempt without a recorded end counts as lost after this time: twice its time limit.
pub const WEBHOOK_ATTEMPT_LOST_MS: i64 = 20_000;
/// Bytes of a response body that are read before the connection is closed.
pub const WEBHOOK_RESPONSE_BYTES_READ: usize = 16 * 1024;
/// Raw bytes of a response, including its head and the framing of the body: more adds nothing useful.
pub const WEBHOOK_ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Characters of the body that are stored: an error message, or the beginning of a page.
pub const WEBHOOK_RESPONSE_CHARACTERS_KEPT: usize = 1_000;
/// The longest pause that an endpoint can ask for.
pub const WEBHOOK_RETRY_AFTER_MAX_MS: i64 = 15 * 60 * 1000;
/// The longest pause of a failing endpoint: a recovery is noticed within the hour.
pub const WEBHOOK_PAUSE_MAX_MS: i64 = 60 * 60 * 1000;
/// The service must run this long before attempts that a crash cut off are repeated: a service that keeps crashing would use them up
/// without delivering any.
pub const WEBHOOK_STEADY_MS: i64 = 5_000;
/// Deliveries that wait for one endpoint: an hour at 30 events per second.
pub const WEBHOOK_PENDING_MAX: u64 = 100_000;
/// How often one event can be redelivered to one webhook.
pub const WEBHOOK_REPEATS_MAX: usize = 50;
/// Deliveries scanned for one page of a list filtered by status.
/// A scan stays well below a second.
pub const WEBHOOK_DELIVERIES_SCANNED_MAX: usize = 20_000;
/// Events whose webhooks are looked up in one transaction.
pub const WEBHOOK_EVENTS_PER_STEP: usize = 256;
/// Deliveries created in one transaction: the next one continues after them.
pub const WEBHOOK_DELIVERIES_PER_STEP: u64 = 2_000;
/// Endpoints with waiting deliveries that one poll reads; the next poll continues after them.
pub const WEBHOOK_LANES_PER_POLL: usize = 1_000;
/// Endpoints whose health is remembered; idle ones are dropped first.
pub const WEBHOOK_LANES_MAX: usize = 10_000;
/// Parallel attempts for an endpoint whose speed is not known yet.
/// One slow attempt must not stop the rest.
pub const WEBHOOK_WINDOW_FIRST: usize = 2;
/// An endpoint that responds within this time is fast.
/// A receiver that only queues its events needs less.
pub const WEBHOOK_QUICK_TIME: std::time::Duration = std::time::Duration::from_secs(1);
/// Attempts started in one transaction.
/// Twice the default number of connections.
pub const WEBHOOK_BEGINS_PER_COMMIT: usize = 512;
/// Attempt results stored in one transaction.
/// Twice the default number of connections.
pub const WEBHOOK_ENDS_PER_COMMIT: usize = 512;
/// How long the previous secret also signs after a rotation, by default.
pub const WEBHOOK_GRACE_HOURS_DEFAULT: u64 = 24;
/// The longest such time: a replaced secret should not live on.
pub const WEBHOOK_GRACE_HOURS_MAX: u64 = 168;
/// Days in the statistics.
/// As many as the charts show.
pub const WEBHOOK_STATS_DAYS: u32 = 30;
// --- Customer events ---

/// The API's limit for events in one batch.
pub const EVENTS_PER_BATCH_MAX: usize = 500;
/// The API's limit for the properties of an event: bytes of JSON as they were sent.
pub const EVENT_PROPERTIES_BYTES_MAX: usize = 16 * 1024;
/// The API's limit for top-level names in an event's properties.
pub const EVENT_PROPERTIES_KEYS_MAX: usize = 50;
/// The API's limit for nested objects and lists, the properties themselves included.
pub const EVENT_PROPERTIES_LEVELS_MAX: usize = 4;
/// Names like `purchase.completed` are chosen from a list.
pub const EVENT_NAME_CHARACTERS_MAX: usize = 100;
/// Event names of one project: each has sets of contacts for filters. A project with more has put data into names.
pub const EVENT_NAMES_PER_PROJECT_MAX: u64 = 1_000;
/// Shop ids have up to some sixty characters; URLs are used as ids, too.
pub const EVENT_EXTERNAL_ID_CHARACTERS_MAX: usize = 255;
/// Keys are composed of ids.
pub const EVENT_DEDUPE_KEY_CHARACTERS_MAX: usize = 255;
/// How many days the API keeps raw events. Older ones are not accepted.
pub const EVENT_KEPT_DAYS: u32 = 90;
/// How far ahead of our clock an event may be: server clocks differ by seconds, those of shop tills by minutes.
pub const EVENT_AHEAD_MS: i64 = 5 * 60 * 1000;
/// Rows deleted in one step of the event retention: a few milliseconds of the writer's time.
pub const EVENTS_FORGOTTEN_PER_STEP: usize = 1_000;
/// Daily sets, of all names, deleted in one such step: each has up to 25 time ranges.
pub const EVENT_DAYS_FORGOTTEN_PER_STEP: usize = 50;
/// Events of a project that wait to be indexed: some seconds at the highest rate. Queries search through them.
pub const EVENTS_WAITING_MAX: u64 = 100_000;
/// Events indexed in one transaction: enough to share pages, few enough to take a tenth of a second.
pub const EVENTS_MERGED_PER_STEP: usize = 16_384;
/// Fewer keys than this are indexed at once: each look-up searches every run.
pub const EVENT_KEY_RUN_MIN: usize = 64;
/// How long the API credits a click with an order.
pub const CONVERSION_WINDOW_MS: i64 = 5 * 24 * 60 * 60 * 1000;
/// Clicks by non-contacts deleted in one step: a few milliseconds of the writer's time.
pub const NONCONTACT_CLICKS_DELETED_PER_STEP: usize = 1_000;
/// Payments and refunds of one order: each is compared with all others. Orders have two, endless subscriptions some dozens.
pub const ORDER_FACTS_MAX: usize = 100;
/// Contacts whose orders one step attributes again.
/// Each can have hundreds of orders.
pub const CLICK_CHANGES_PER_STEP: usize = 200;
/// Orders that one step attributes again: a few milliseconds of the writer's time.
pub const CLICK_CHANGE_ORDERS_PER_STEP: usize = 200;

// --- The doctor ---

/// With less free disk space than this, the service is about to stop.
pub const DOCTOR_DISK_FREE_BYTES_MIN: u64 = 512 * 1024 * 1024;
/// Free disk space for an import of a million contacts, a backup beside the data, and some time to notice.
pub const DOCTOR_DISK_FREE_BYTES_WANTED: u64 = 4 * 1024 * 1024 * 1024;
/// Domains checked: each costs several DNS queries.
pub const DOCTOR_DOMAINS_MAX: usize = 50;
// --- The system ---

/// Log lines kept in memory for the System page: the last minutes of a service that has trouble.
pub const LOG_LINES_KEPT: usize = 200;
/// Characters of each such line: with the number of lines, some hundred kilobytes at most.
pub const LOG_LINE_CHARACTERS_MAX: usize = 500;
/// Open contact jobs that the system status counts; beyond this, the exact number does not matter.
pub const OPEN_JOBS_COUNTED: usize = 100;
