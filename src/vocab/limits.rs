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
/// Fetched side by side.
pub const DRAWN_IMAGES_AT_ONCE: usize = 8;
/// A picture does not wait longer for one image.
pub const DRAWN_IMAGE_MS_MAX: u64 = 8_000;
/// Images that are remembered for the next picture: those of one brand's emails.
pub const RECENT_BYTES_MAX: usize = 24 * 1024 * 1024;
/// As long as a series takes to be drawn; whoever changes an image on their server sees it soon.
pub const RECENT_MS: i64 = 5 * 60 * 1000;
/// Photographs straight from a camera are refused: recipients would not wait for them either.
pub const DRAWN_IMAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

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
/// All images handed to one drawing, as files.
pub const DRAWN_IMAGES_BYTES_MAX: usize = 64 * 1024 * 1024;
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
