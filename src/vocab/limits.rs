//! Limits on sizes, counts and times, with the reason for each. A value that operators may want to change is a setting instead.
// long: all limits are in one table, with the reason for each number.

// --- Lists ---

/// The default number of rows on a page of a list: about one screen. Clients that set no limit expect this number.
pub const PAGE_LIMIT_DEFAULT: u64 = 20;
/// The maximum number of rows on a page of a list: enough for a large screen. A larger page would make one request as expensive as many;
/// larger limits are rejected.
pub const PAGE_LIMIT_MAX: u64 = 100;
/// The maximum offset in a list. A request with an offset gets slower as the offset grows. Larger offsets are rejected; filters or an
/// export reach those rows faster.
pub const PAGE_OFFSET_MAX: u64 = 10_000_000;

// --- Data files ---

/// The maximum size of a data file that is compared with its checksums at every start. Reading a file of this size from the disk of a small
/// virtual server takes a third of a second. `mailmill check-data` compares larger files.
pub const CHECKED_AT_START_BYTES_MAX: u64 = 64 * 1024 * 1024;

// --- Requests ---

/// The length of a request budget's window: a minute, because budgets are documented per minute. A window starts with its first
/// request; requests beyond the budget get a 429 until it ends.
pub const BUDGET_WINDOW_MS: i64 = 60_000;
/// The ratio of a user's request budget to a key's budget. It is this high because a dashboard page calls up to about ten operations.
/// Users and keys have separate windows.
pub const OPERATIONS_PER_PAGE: u32 = 10;
/// The minimum request budget for direct sends, in requests per minute, per unit of the plan's sending rate (recipients per second). With a
/// smaller budget, an account could not use its sending rate.
pub const SENDING_BUDGET_PER_RECIPIENT_SECOND: u64 = 60;
/// The maximum length of an idempotency key: two UUIDs with a prefix fit. Longer keys are rejected.
pub const IDEMPOTENCY_KEY_CHARACTERS_MAX: usize = 100;
/// How long the response to a request with an idempotency key is stored. Clients retry within minutes or, after an outage, within a day.
/// Later, a request with the same key runs again.
pub const IDEMPOTENCY_WINDOW_MS: i64 = 24 * 60 * 60 * 1000;

// --- Keys ---

/// The maximum length of a key's name, which is shown on one line of a table. Longer names are rejected.
pub const KEY_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum number of keys in an account. Users cannot keep track of more. Further keys are rejected until a key is revoked.
pub const KEYS_PER_ACCOUNT_MAX: usize = 1_000;
/// The number of characters of a key's ID that the API shows: enough to distinguish a thousand keys. The API shows the key itself only
/// once, when it is created.
pub const KEY_ID_CHARACTERS_SHOWN: usize = 8;
/// The number of days for which request counts are stored: the days of a chart, and two more, because the day in the viewer's time zone and
/// the server's day start at different times.
pub const KEY_DAYS_KEPT: u32 = 32;
/// The number of days in a key's chart: a month, which shows every weekday at least four times.
pub const KEY_DAYS_SHOWN: u32 = 30;

// --- Users ---

/// The minimum length of a password. Shorter passwords can be guessed, so they are rejected. Requiring several kinds of characters would
/// help less than requiring length.
pub const PASSWORD_CHARACTERS_MIN: usize = 12;
/// The maximum length of a password: long enough for a sentence, short enough not to slow down hashing. Longer passwords are rejected.
pub const PASSWORD_CHARACTERS_MAX: usize = 128;
/// [`PASSWORD_CHARACTERS_MAX`] in bytes of UTF-8: a character takes up to four bytes.
pub const PASSWORD_BYTES_MAX: usize = 4 * PASSWORD_CHARACTERS_MAX;
/// How long a setup link works. Operators use the link right after it is printed, or the next day. After the link has expired, operators
/// create the owner on the command line.
pub const SETUP_LINK_MS: i64 = 24 * 60 * 60 * 1000;

/// The maximum number of sessions of a user: browsers on a few devices, and scripts that sign in for each run. At the limit, the oldest
/// session ends.
pub const SESSIONS_PER_USER_MAX: usize = 20;
/// How long a sign-in counts as recent enough for actions that cannot be undone: long enough to read a page and press a button.
pub const FRESH_SIGN_IN_MS: i64 = 10 * 60 * 1000;
/// The number of characters of a browser's User-Agent that a list of sessions shows. Browsers identify themselves within this length; the
/// rest is removed.
pub const AGENT_CHARACTERS_MAX: usize = 200;
/// The minimum time between two writes of a session's last use to disk, so that most requests cost no write.
pub const SESSION_SEEN_STEP_MS: i64 = 60 * 1000;
/// The number of failed sign-in attempts within [`SIGN_IN_WINDOW_MS`] before further attempts must wait, per client address and per
/// account. Users mistype a password a few times, not ten.
pub const SIGN_IN_TRIES_FREE: u32 = 10;
/// The period in which [`SIGN_IN_TRIES_FREE`] attempts are allowed. A minute is short for a user, and ten guesses a minute are too few
/// to find a password.
pub const SIGN_IN_WINDOW_MS: i64 = 60 * 1000;
/// The maximum wait between sign-in attempts. Guessing at this pace is hopeless, and users are not locked out of their own accounts for
/// long.
pub const SIGN_IN_WAIT_MAX_MS: i64 = 60 * 1000;
/// The maximum number of passwords that wait to be hashed. Each hash takes tens of milliseconds, so the last one waits for a few
/// seconds; further sign-ins get a 503.
pub const PASSWORDS_WAITING_MAX: usize = 64;
/// The number of used authenticator codes that are stored: the codes of one hour, so that no code is accepted twice if the clock is set
/// back by less than an hour.
pub const TOTP_STEPS_KEPT: usize = 120;
/// The maximum number of addresses and accounts that a brute-force throttle remembers. Each takes about a hundred bytes, for a total of 5
/// MB. At the limit, the less recently used half is dropped.
pub const THROTTLED_NAMES_MAX: usize = 50_000;
/// The maximum size of a signed token. Mailmill's own tokens are about 400 bytes long. Longer tokens are rejected before their signature is
/// checked.
pub const TOKEN_BYTES_MAX: usize = 2_048;
/// The maximum number of members in an account; the same limit applies to the account's open invitations. Lists load all members at once;
/// further members are rejected until a member is removed.
pub const MEMBERS_MAX: usize = 1_000;
/// The maximum length of a member's name, which is shown on one line. Longer names are rejected.
pub const MEMBER_NAME_CHARACTERS_MAX: usize = 100;
/// How long an invitation is valid: enough for a long weekend or a short holiday. After that, an admin must send a new invitation.
pub const INVITATION_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// How long a password-reset link is valid. Users open the link as soon as it arrives. It expires after an hour, so that an old email does
/// not give access to the account.
pub const RESET_LINK_MS: i64 = 60 * 60 * 1000;
/// The number of one-time recovery codes for users who have lost their phone. Ten fit on a printed page and last for years.
pub const RECOVERY_CODES: usize = 10;

// --- Agents that request a key ---

/// How long an agent's code is valid: long enough to sign in and enter the code, and too short to guess it. After that, the agent requests
/// a new code.
pub const CLAIM_CODE_MS: i64 = 600 * 1000;
/// How long an agent's registration is valid: long enough for several codes, in case the user returns late. After that, the agent registers
/// again.
pub const CLAIM_MS: i64 = 60 * 60 * 1000;
/// The poll interval that responses tell agents to use. Users do not notice a delay of five seconds, and a poll costs one read.
pub const CLAIM_POLL_SECONDS: u64 = 5;
/// The maximum number of registrations per hour from one address or for one user, and of sign-ups per hour from one address. An agent
/// registers once to get a key; ten registrations allow for mistakes. Further requests get a 429.
pub const CLAIMS_PER_HOUR: u32 = 10;
/// The maximum number of registrations in an hour from one IPv6 site (a /48): a tenth of the registrations that can wait, so that no
/// single site fills the queue. Further registrations get a 429.
pub const CLAIMS_PER_SITE_HOUR: u32 = 200;
/// The maximum number of codes for one registration. Six codes can expire within the hour of its validity; the limit is twice as high
/// for safety. After that, the agent must register again.
pub const CLAIM_CODES_MAX: u32 = 12;
/// The maximum number of registrations that wait for approval, across all accounts. This many take a few megabytes. Further registrations
/// are rejected until others are approved or expire, within an hour at most.
pub const CLAIMS_WAITING_MAX: usize = 2_000;
/// The maximum number of polls in a minute from one address: twice what a hundred agents behind one address send. Further polls are
/// rejected.
pub const CLAIM_POLLS_PER_MINUTE: u32 = 2_400;
/// The number of wrong codes within [`CLAIM_GUESS_WINDOW_MS`] before further attempts must wait, per user and per client address. Users
/// mistype a code once or twice, and a code has 34 random bits, too many to guess at this rate.
pub const CLAIM_GUESSES_FREE: u32 = 5;
/// The period in which [`CLAIM_GUESSES_FREE`] wrong codes are allowed: the validity of a code.
pub const CLAIM_GUESS_WINDOW_MS: i64 = 10 * 60 * 1000;
/// The maximum length of an agent's name, which is shown on one line. Longer names are rejected.
pub const AGENT_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum size of an agent's request body. A registration, a poll and a form are each a few hundred bytes long. Larger bodies are
/// rejected.
pub const AGENT_BODY_BYTES_MAX: usize = 16 * 1024;
/// The maximum number of past agent requests in a list, newest first. The audit log contains older requests.
pub const CLAIMS_SHOWN_MAX: usize = 100;

// --- Programs that users connect ---

/// How long an authorization code is valid. The program exchanges the code as soon as the browser returns.
pub const OAUTH_CODE_MS: i64 = 60 * 1000;
/// How long a used authorization code is kept after it expires, so that a second use is detected.
pub const OAUTH_CODE_KEPT_MS: i64 = 60 * 60 * 1000;
/// How long an access token is valid. A stolen token is useless after an hour.
pub const ACCESS_TOKEN_MS: i64 = 60 * 60 * 1000;
/// How long a refresh token is valid: programs that are used at least once a month stay connected.
pub const REFRESH_TOKEN_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// How long a refresh token still works after its replacement. Some programs refresh a token from several processes at once, or repeat a
/// request whose response was lost.
pub const REFRESH_GRACE_MS: i64 = 30 * 1000;
/// The maximum number of access tokens of one grant (a program's access) that are valid at the same time. Above the limit, the oldest
/// tokens stop working.
pub const ACCESS_TOKENS_PER_GRANT_MAX: usize = 8;
/// The maximum length of the `state` parameter in a program's authorization request, which must fit into a URL together with the other
/// parameters.
pub const OAUTH_STATE_BYTES_MAX: usize = 1_000;
/// The maximum length of a program's client ID. The ID of a registered program contains its name and redirect URIs.
pub const CLIENT_ID_BYTES_MAX: usize = 1_500;
/// The maximum number of a program's redirect URIs. Programs have one for each platform that they run on.
pub const REDIRECT_URIS_MAX: usize = 10;
/// The maximum total length of a program's redirect URIs, so that its client ID fits into a URL.
pub const REDIRECT_URIS_BYTES_MAX: usize = 800;
/// The maximum number of programs registered in an hour from one address. Programs register once per server, and some register at every
/// start.
pub const CLIENTS_PER_HOUR: u32 = 60;
/// The maximum size of a program's metadata document. The draft standard recommends 5 kB, and real documents take a few hundred bytes.
pub const CLIENT_METADATA_BYTES_MAX: usize = 5 * 1024;
/// The time limit for fetching a program's metadata document, because the user waits for the consent page.
pub const CLIENT_METADATA_TIME: std::time::Duration = std::time::Duration::from_secs(5);

// --- The audit log ---

/// The maximum number of audit-log rows that one request reads to find the rows of an account. Reading this many rows takes a few
/// hundredths of a second. At the limit, the page has fewer entries, and the next page continues.
pub const AUDIT_WALK_MAX: usize = 5_000;
/// How long the audit log keeps entries: 90 days, like raw customer events.
pub const AUDIT_KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;

// --- The documentation ---

/// The maximum length of a documentation search: longer than a heading or an error message that a user might paste.
pub const DOCS_QUERY_CHARACTERS_MAX: usize = 200;
/// The maximum number of words of a query that a documentation search uses. Each word is compared with every section.
pub const DOCS_QUERY_WORDS_MAX: usize = 8;
/// The maximum number of search results, more than users read.
pub const DOCS_RESULTS_MAX: usize = 20;
/// The maximum number of response fields that a page describes, so that the page stays small. The OpenAPI document has all of them.
pub const DOCS_RESULT_FIELDS_MAX: usize = 40;

// --- The dashboard ---

/// The maximum size of a dashboard form without files, ten times the longest text that users type. Larger forms are rejected.
pub const DASHBOARD_FORM_BYTES_MAX: usize = 256 * 1024;
/// The maximum total size of the fields that the sign-in form carries over from a form that the user submitted after the session had ended.
/// The sign-in form's own fields, mainly the return path, use the rest of the maximum form size.
pub const DASHBOARD_CARRIED_BYTES_MAX: usize = DASHBOARD_FORM_BYTES_MAX - 32 * 1024;
/// The maximum size of a dashboard form with an image: a phone photo whose Base64 encoding fits into the body of an API request. Larger
/// forms are rejected.
pub const DASHBOARD_IMAGE_BYTES_MAX: usize = 7 * 1024 * 1024;
/// The maximum size of a dashboard form with long text or a text file: any text that the knowledge base accepts, in any form encoding.
/// Larger forms are rejected.
pub const DASHBOARD_TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The maximum size of a dashboard form with imported HTML: the largest HTML that an import accepts, in any form encoding. Larger
/// forms are rejected.
pub const DASHBOARD_EMAIL_BYTES_MAX: usize = 3 * 1024 * 1024;
/// The maximum size of the first field of a form with a large file: a CSRF token of about 100 bytes and the field's name. A form with a
/// longer first field is rejected before the file is read.
pub const DASHBOARD_TOKEN_BYTES_MAX: usize = 4 * 1024;
/// The maximum length of the dashboard path that opens after sign-in. The longest paths are the authorization requests of programs. If the
/// path is longer, the home page opens instead.
pub const NEXT_BYTES_MAX: usize = 4_000;

// --- Projects ---

/// The maximum length of a project's name, which is shown on one line of a list. Longer names are rejected.
pub const PROJECT_NAME_CHARACTERS_MAX: usize = 200;
/// The maximum number of a project's website URLs. A brand rarely has more than a few websites, and an import reads every URL in the list.
/// Longer lists are rejected.
pub const PROJECT_URLS_MAX: usize = 10;
/// The maximum length of a URL. Common browsers and servers accept URLs of this length; longer URLs are rejected.
pub const URL_CHARACTERS_MAX: usize = 2_048;
/// The maximum number of projects in an account. Agencies have hundreds. Each project makes every list longer; further projects are
/// rejected.
pub const PROJECTS_MAX: u64 = 10_000;

/// The maximum length of a knowledge-base entry's title, which is shown on one line of a list. Longer titles are rejected, or truncated in
/// imports.
pub const KNOWLEDGE_TITLE_CHARACTERS_MAX: usize = 200;
/// The maximum length of a knowledge-base entry's content: a long page or a short booklet. Longer content is rejected, or truncated in
/// imports.
pub const KNOWLEDGE_CONTENT_CHARACTERS_MAX: usize = 100_000;
/// The maximum length of a file name, as in common file systems. Longer names are rejected.
pub const FILE_NAME_CHARACTERS_MAX: usize = 255;
/// The maximum number of entries in a knowledge base. Generating an email reads the titles of all of them. Further entries are rejected,
/// and imports skip them, until one is removed.
pub const KNOWLEDGE_ENTRIES_MAX: usize = 500;
/// The maximum length of the brand guidelines: two pages. Writers do not follow longer guidelines, so these are rejected.
pub const GUIDELINES_CHARACTERS_MAX: usize = 5_000;
/// The maximum length of a brand's tagline, company name or postal address. The footer of an email shows an address on two lines at most;
/// longer values are rejected.
pub const BRAND_LINE_CHARACTERS_MAX: usize = 300;
/// The maximum length of a brand's telephone number. International numbers have at most 15 digits, so an extension and a note fit.
/// Longer values are rejected.
pub const BRAND_PHONE_CHARACTERS_MAX: usize = 50;
/// The maximum number of a brand's social links, more than the [`EMAIL_SOCIAL_LINKS_MAX`] that an email shows. Longer lists are
/// rejected.
pub const BRAND_SOCIAL_LINKS_MAX: usize = 20;
/// The maximum length of a social network's name, more than any known name needs. Longer names are rejected.
pub const SOCIAL_NETWORK_CHARACTERS_MAX: usize = 40;
/// The maximum number of words in one list about a brand's voice. Writers do not follow longer lists, so these are rejected.
pub const BRAND_WORDS_MAX: usize = 50;
/// The maximum length of a word or phrase in a list about a brand's voice: about eight words. Longer phrases are rejected.
pub const BRAND_WORD_CHARACTERS_MAX: usize = 50;
/// The maximum corner radius in pixels: half the height of the tallest button, because a larger radius makes no visible difference.
/// Larger numbers are rejected.
pub const CORNER_RADIUS_MAX: u64 = 100;
/// The maximum number of products of a brand. The composer chooses among all of them. Further products are rejected, and imports skip
/// them.
pub const PRODUCTS_MAX: usize = COMPOSER_PRODUCTS_MAX;
/// The maximum number of products that one request merges. Its transaction reads and deletes each of them. Longer lists are rejected.
pub const PRODUCTS_MERGED_MAX: usize = 50;
/// The maximum length of a product's name. Emails have no space for longer names, so these are rejected, or truncated in imports.
pub const PRODUCT_NAME_CHARACTERS_MAX: usize = 200;
/// The maximum length of a price: nine digits, a decimal point and three decimals, with some spaces. Longer prices are rejected.
pub const PRICE_CHARACTERS_MAX: usize = 20;
/// The maximum number of contacts that one go-live request copies. Copying them takes a few seconds. The response states where the next
/// request continues.
pub const GO_LIVE_CONTACTS_MAX: usize = 20_000;
/// The number of contacts that go live per transaction, few enough that other writes do not wait long.
pub const GO_LIVE_CONTACTS_PER_WRITE: usize = 500;
/// The maximum length of a font name, twice the longest name in use. Longer names are rejected.
pub const FONT_NAME_CHARACTERS_MAX: usize = 100;

// --- Imports of brands' websites ---

/// The maximum number of parallel imports. An import mostly waits for its website; reading the pages of this many imports uses about
/// one processor. Other imports wait in the queue.
pub const SITE_IMPORTS_AT_ONCE: usize = 4;
/// The maximum number of parallel requests of one import: as many as a browser makes. Other requests wait.
pub const SITE_IMPORT_FETCHES_AT_ONCE: usize = 6;
/// The maximum number of pages in one import: enough for the informative pages of nearly every website. Further pages are not read.
pub const SITE_IMPORT_PAGES_MAX: usize = 20;
/// The maximum number of style sheets in one import. Websites have two or three; further style sheets are not read.
pub const SITE_IMPORT_STYLES_MAX: usize = 12;
/// The maximum number of sitemaps in one import: an index and some of its entries. Further sitemaps are not read.
pub const SITE_IMPORT_SITEMAPS_MAX: usize = 4;
/// The maximum number of bytes that are read from a page, style sheet or sitemap. The rest of a larger file rarely adds information.
pub const SITE_IMPORT_PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The maximum number of bytes in one import, without images: 20 pages and their style sheets rarely reach half of this size. At the limit,
/// the import continues with the files fetched so far. While a worker process reads the files, they are in memory twice.
pub const SITE_IMPORT_BYTES_MAX: u64 = 24 * 1024 * 1024;
/// The maximum total size, in bytes, of the files that all imports together fetch at the same time. The files are in memory until they are
/// stored; other imports wait until enough of this memory is free.
pub const SITE_IMPORTS_BYTES_MAX: usize = 24 * 1024 * 1024;
/// The maximum number of bytes that a worker process returns after it has read a site: several times the size of the largest brand.
pub const SITE_IMPORT_RESULT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The maximum number of bytes of one image: a large photograph. A larger image is not read; it is listed as unavailable, with its size as
/// the reason.
pub const SITE_IMPORT_IMAGE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// The time limit for one request of an import: three times as long as a slow shop takes to respond. A page that takes longer is skipped.
pub const SITE_IMPORT_FETCH_TIME: std::time::Duration = std::time::Duration::from_secs(15);
/// How long an import reads pages before it continues with the pages read so far. The limit is short, because a user is waiting.
pub const SITE_IMPORT_TIME_MAX_MS: i64 = 4 * 60 * 1000;
/// The number of consecutive failed steps after which an import fails. The pauses between the steps grow, so a temporary problem has
/// ended by then.
pub const SITE_IMPORT_FAILURES_MAX: u8 = 5;
/// The maximum number of changes from an import that users decide on, one for each field and product. Further changes are applied
/// directly.
pub const SITE_IMPORT_CHANGES_MAX: usize = 500;

// --- Images of projects ---

/// The maximum length of an image's description: a long paragraph. Prompts for emails contain the descriptions, so longer descriptions are
/// rejected, or truncated if Mailmill writes them.
pub const IMAGE_DESCRIPTION_CHARACTERS_MAX: usize = 1_000;
/// The maximum of each number in the aspect ratio of a cropped image. Common ratios such as 16:9 have smaller numbers, and an email cannot
/// show narrower strips clearly.
pub const IMAGE_RATIO_SIDE_MAX: u64 = 100;
/// The maximum number of tags of an image. More tags do not help to choose an image, so they are rejected.
pub const IMAGE_TAGS_MAX: usize = 10;
/// The maximum length of an image's tag: a few words. Longer tags are rejected.
pub const IMAGE_TAG_CHARACTERS_MAX: usize = 50;
/// The maximum number of images that users add to a project. Generating an email reads the descriptions of the project's images. Further
/// images are rejected until an image is removed.
pub const PROJECT_IMAGES_MAX: usize = 500;
/// The maximum number of images analyzed in parallel. Analysis mostly waits for other servers, so two processors can handle eight images.
pub const IMAGES_AT_ONCE: usize = 8;
/// The maximum number of attempts to analyze an image before it is marked as unavailable. The pauses between the attempts grow, so a
/// server that was briefly down is available again by then.
pub const IMAGE_ATTEMPTS_MAX: u8 = 4;
/// The maximum width of an uploaded image: more than twice the width of an email, for high-resolution screens. Wider images are scaled
/// down.
pub const UPLOADED_IMAGE_WIDTH_MAX: u32 = 1_600;
/// The maximum size, in bytes, of an uploaded animation. Animations are stored unchanged, and recipients would not wait for a larger one.
pub const UPLOADED_ANIMATION_BYTES_MAX: usize = 3 * 1024 * 1024;
/// How long the file of a deleted image is kept. Sent emails still show the image, and few emails are opened after a year.
pub const UPLOADED_IMAGE_KEPT_MS: i64 = 365 * 24 * 60 * 60 * 1000;
/// The maximum length of a preview image's longer side in pixels: enough for a list card on a screen with two pixels per CSS pixel.
pub const PREVIEW_SIDE_MAX: u32 = 480;
/// How long a preview image is kept before its original is fetched again, because websites change their images.
pub const PREVIEW_KEPT_MS: i64 = 14 * 24 * 60 * 60 * 1000;
/// The maximum size of an SVG file that is shown unchanged as a preview, ten times the size of a logo. Larger files get no preview.
pub const PREVIEW_DRAWING_BYTES_MAX: usize = 512 * 1024;

// --- Requests to other servers ---

/// The maximum number of redirects that a request follows. Websites need two or three (to HTTPS, to `www`, to a language). More redirects
/// are usually a loop, so the request fails.
pub const FETCH_REDIRECTS_MAX: usize = 8;
/// The maximum number of addresses tried for one host name: two of each IP version. The first address nearly always responds. If none
/// responds, the request fails.
pub const FETCH_ADDRESSES_TRIED_MAX: usize = 4;
/// The time limit for connecting to an address. Connecting around the world takes a third of a second. After the limit, the next
/// address is tried.
pub const FETCH_CONNECT_TIME: std::time::Duration = std::time::Duration::from_secs(5);
/// The maximum number of headers in a response. Websites with long security policies send about fifty. With more headers, the request
/// fails.
pub const FETCH_HEADERS_MAX: usize = 200;
/// The maximum size of a response's head. Websites with many cookies send about 20 KB; with a larger head, the request fails.
pub const FETCH_HEAD_BYTES_MAX: usize = 128 * 1024;
/// The maximum number of threads for blocking work. A DNS lookup whose servers do not respond occupies a thread for half a minute, even
/// after the caller has given up. In the worst case, webhook endpoints cause about 800 such lookups at a time, and store reads must not
/// wait for them.
pub const WAITING_THREADS_MAX: usize = 2_048;
/// The maximum size of a small response from another server. Small responses are read even while large responses use all memory that is
/// reserved for large responses ([`RESPONSES_BYTES_MAX`]).
pub const RESPONSE_SMALL_BYTES: usize = 64 * 1024;
/// The maximum total size of larger responses in memory: two compressed images, or a dozen pages. Once parsed, they take several times as
/// much. Further large responses wait for up to a minute, which their time limits do not include.
pub const RESPONSES_BYTES_MAX: usize = 24 * 1024 * 1024;

// --- Contacts ---

/// The maximum length of a person's name: long enough for nearly all names, short enough for one line. Longer names are rejected.
pub const PERSON_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum length of a company name. Companies House registers names of at most 160 characters. Longer names are rejected.
pub const COMPANY_CHARACTERS_MAX: usize = 160;
/// The maximum length of a city's name. The longest place name in official use has 85 characters. Longer names are rejected.
pub const CITY_CHARACTERS_MAX: usize = 100;
/// The maximum number of tags of a contact. Every read of a contact reads all its tags, and every write indexes them. Few contacts have
/// more than ten tags; further tags are rejected.
pub const TAGS_PER_CONTACT_MAX: usize = 100;
/// The maximum number of custom fields of a contact. Every read of a contact reads all its fields. Few audiences use more than twenty;
/// further fields are rejected.
pub const CUSTOM_FIELDS_MAX: usize = 100;
/// The maximum length of a custom field's key, which is a column name shown on one line. Longer keys are rejected.
pub const CUSTOM_FIELD_KEY_CHARACTERS_MAX: usize = 100;
/// The maximum size of all custom fields of a contact as JSON, equal to the API's limit for the properties of a customer event.
/// Larger custom fields are rejected.
pub const CUSTOM_FIELDS_BYTES_MAX: usize = 16 * 1024;
/// The maximum nesting depth of objects and lists in custom fields, equal to the API's limit for the properties of a customer
/// event. Deeper custom fields are rejected.
pub const CUSTOM_FIELDS_DEPTH_MAX: usize = 4;
/// The number of characters of a contact's custom fields that search covers; an index of whole essays would become larger than the data.
pub const CUSTOM_FIELDS_INDEXED_CHARACTERS_MAX: usize = 2_000;

// --- Imports, exports and bulk writes of contacts ---

/// The maximum number of contacts that a bulk request writes before it responds, few enough that other writers wait only briefly. Larger
/// requests become jobs.
pub const BULK_AT_ONCE_MAX: usize = 5_000;
/// The maximum number of contacts in one request, processed immediately or by a job: about as many as fit the body limit. Longer
/// lists are rejected; files can contain more contacts.
pub const BULK_MAX: usize = 50_000;
/// The maximum number of contacts that one request deletes. All of them are deleted in one transaction, which makes other writes wait.
/// Longer lists are rejected.
pub const BULK_DELETE_MAX: usize = 1_000;
/// The maximum number of failed rows that a report lists, because it must stay small and users do not read more. Further failed rows
/// are only counted.
pub const BULK_ERRORS_SHOWN_MAX: usize = 1_000;
/// The number of contacts that one step of a job writes per transaction: enough to benefit from writing in sorted order, few enough
/// that other writers wait only briefly.
pub const JOB_STEP_CONTACTS: usize = 10_000;
/// The number of contacts from a file that one step writes per transaction. Three chunks of this size are in memory at a time, about 30 MB:
/// one is being read, one waits, and one is being written.
pub const CONTACT_IMPORT_STEP_CONTACTS: usize = 10_000;
/// The size in bytes at which a chunk ends even if it has fewer than [`CONTACT_IMPORT_STEP_CONTACTS`] contacts. Without this limit, a chunk
/// of 10,000 of the longest rows would take 655 MB.
pub const CONTACT_IMPORT_CHUNK_BYTES: u64 = 8 * 1024 * 1024;
/// The number of chunks of a file in one step, which takes a second or two. After a step, other jobs get their turn.
pub const CONTACT_IMPORT_CHUNKS_PER_STEP: usize = 16;
/// The maximum number of rows imported from a file. The maximum upload size (`limits.upload_bytes_max`) is usually reached first: its
/// default allows two million contacts of 128 bytes. This limit allows files of short rows, and larger uploads on servers that raise the
/// setting. Rows beyond the limit must be imported from another file.
pub const CONTACT_IMPORT_ROWS_MAX: u64 = 5_000_000;
/// The maximum size of a row in an import file, in bytes: all fields of a contact at their maximum length, with space to spare. A longer
/// row usually has an unclosed quotation mark, so the import stops there.
pub const CONTACT_IMPORT_ROW_BYTES_MAX: usize = 64 * 1024;
/// The maximum number of columns in an import file. Exports from other services have a hundred; a file with more columns than the limit
/// usually has a wrong delimiter, and is rejected.
pub const CONTACT_IMPORT_COLUMNS_MAX: usize = 500;
/// The maximum number of custom fields with a column in an export, as many as an import reads. Other custom fields are omitted.
pub const EXPORT_CUSTOM_COLUMNS_MAX: usize = 500;
/// The maximum number of contacts from which the field catalog is computed. Reading them takes a tenth of a second, and more contacts would
/// hardly add fields.
pub const FIELD_CATALOG_CONTACTS_MAX: u64 = 50_000;
/// The maximum size of a form field in an upload, other than the file: the largest column mapping. Larger fields are rejected.
pub const CONTACT_UPLOAD_FIELD_BYTES_MAX: usize = 64 * 1024;
/// How long an unfinished upload is kept. An upload takes an hour at most, so an older one was interrupted, and is deleted.
pub const CONTACT_UPLOAD_KEPT_MS: i64 = 60 * 60 * 1000;
/// How long a file waits for its column mapping: until the next day, in case the user has to ask a colleague.
pub const CONTACT_PENDING_IMPORT_MS: i64 = 24 * 60 * 60 * 1000;
/// The maximum number of a project's files that wait for a column mapping: one or two for each member who imports. At the limit, the
/// oldest file is deleted.
pub const CONTACT_PENDING_IMPORTS_PER_PROJECT_MAX: usize = 10;
/// The maximum number of rows of an uploaded file that are shown as a preview: enough to recognize each column.
pub const CONTACT_UPLOAD_ROWS_SHOWN_MAX: u64 = 20;
/// How long an export's file and link are kept: long enough to download the file, and short, because the file contains personal data.
pub const EXPORT_LINK_MS: i64 = 60 * 60 * 1000;
/// The maximum number of waiting and running jobs in a project. A client that starts more is probably in a loop; further jobs are rejected
/// until one finishes.
pub const JOBS_OPEN_PER_PROJECT_MAX: usize = 20;
/// The maximum number of the installation's jobs that one request searches for the newest jobs of a project. The search takes a few
/// hundredths of a second. Older jobs are not listed.
pub const JOBS_SCANNED_MAX: usize = 2_000;
/// The maximum number of contact IDs in a request that changes these contacts immediately, in one transaction that takes well under a
/// second. For more contacts, the API offers a job.
pub const CHANGE_IDS_MAX: usize = 1_000;
/// The number of contacts that a bulk change processes per transaction. Each contact is read, written and reported, so the number is
/// lower than for other jobs.
pub const CHANGE_STEP_CONTACTS: usize = 2_000;
/// How long a finished job can be retrieved: 30 days, because users ask about an import for about a month. After that, the job is
/// deleted.
pub const JOB_RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1000;

// --- Tags, topics, segments ---

/// The maximum length of a tag's name: a few words. Longer names are rejected, or truncated in imports from platforms.
pub const TAG_NAME_CHARACTERS_MAX: usize = 50;
/// The maximum number of tags in a project. Tags are created on demand; the limit stops an import with a wrong column mapping from
/// creating a million tags. Further tags are rejected.
pub const TAGS_PER_PROJECT_MAX: usize = 10_000;
/// The maximum length of a topic's name, which is shown on one line of a list. Longer names are rejected.
pub const TOPIC_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum number of topics in a project. Recipients choose topics on one page, and do not read a longer page. Further topics are
/// rejected.
pub const TOPICS_PER_PROJECT_MAX: usize = 200;
/// The maximum display order of a topic, far above the number of topics, so that users can leave gaps for later topics. Larger numbers
/// are rejected.
pub const TOPIC_DISPLAY_ORDER_MAX: u64 = 1_000_000;
/// The maximum length of a segment's name, which is shown on one line of a list. Longer names are rejected.
pub const SEGMENT_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum number of segments in a project. A list shows each segment with its current count; computing the counts of all segments
/// takes a second. Further segments are rejected.
pub const SEGMENTS_PER_PROJECT_MAX: usize = 1_000;
/// The maximum length of the description of a tag, topic, segment, product or brand: a paragraph. Longer descriptions are rejected.
pub const DESCRIPTION_CHARACTERS_MAX: usize = 1_000;
/// The maximum number of groups side by side in a filter, as many as the segment form can show clearly. Larger filters are rejected.
pub const SEGMENT_GROUPS_PER_GROUP_MAX: usize = 10;
/// The maximum nesting depth of groups in a filter, as deep as the segment form can show clearly. Deeper filters are rejected.
pub const SEGMENT_LEVELS_MAX: usize = 3;
/// The maximum number of conditions in a filter. In the worst case, each condition is compared with every contact. Filters with more
/// conditions are rejected.
pub const SEGMENT_CONDITIONS_MAX: usize = 50;
/// The maximum number of values in one condition. Each value is compared with every contact. Conditions with more values are rejected;
/// a condition on a tag is faster.
pub const SEGMENT_VALUES_PER_CONDITION_MAX: usize = 100;
/// The maximum length of one value in a condition: longer than any address or profile field of a contact. Longer values are rejected.
pub const SEGMENT_VALUE_CHARACTERS_MAX: usize = 500;
/// The maximum number of contacts that a filter preview shows: one page. Larger numbers are rejected.
pub const SEGMENT_PREVIEW_MAX: usize = 100;
/// The maximum number of days that a condition on activity can go back: ten years. Larger numbers are rejected.
pub const SEGMENT_ACTIVITY_DAYS_MAX: u32 = 3_650;

// --- Search ---

/// The maximum length of the text in a search: longer than any name or address. Longer text is truncated; exports reject it.
pub const SEARCH_CHARACTERS_MAX: usize = 256;
/// The maximum number of words in a search. Each word costs an index lookup; further words are ignored.
pub const SEARCH_TERMS_MAX: usize = 16;
/// How long a search with `refresh` waits for the index. A commit of the index takes milliseconds, so a longer wait indicates a
/// problem.
pub const SEARCH_REFRESH_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
/// How long a search without `refresh` waits for the caller's own writes: enough for some commits of the index, and too short for users
/// to notice.
pub const SEARCH_OWN_WRITES_TIMEOUT: std::time::Duration = std::time::Duration::from_millis(200);
/// How long a caller's write counts as recent. After a second, the index contains the write, unless an import keeps the index busy for
/// longer than a search may wait.
pub const SEARCH_OWN_WRITES_MS: i64 = 1_000;

// --- Campaigns ---

/// The maximum length of a campaign's name, which is shown on one line of a list. Longer names are rejected.
pub const CAMPAIGN_NAME_CHARACTERS_MAX: usize = 200;
/// The maximum number of campaigns in a project: nearly three a day for ten years. Each campaign makes every list longer; further campaigns
/// are rejected until drafts are deleted.
pub const CAMPAIGNS_PER_PROJECT_MAX: usize = 10_000;
/// The maximum length of the From field's display name. Email clients truncate longer names, so these are rejected.
pub const FROM_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum length of the name that a client gives the transport (`providerType`): one word. Longer names are rejected.
pub const PROVIDER_TYPE_CHARACTERS_MAX: usize = 50;
/// How far ahead a campaign can be scheduled: two years. Time zone rules beyond that are unknown, and a later date is usually a typo,
/// so it is rejected.
pub const SCHEDULE_AHEAD_MS: i64 = 731 * 24 * 60 * 60 * 1000;
/// The maximum number of recipients of a campaign's test send: the colleagues who check the email. A send to more recipients should be
/// a campaign, so it is rejected.
pub const CAMPAIGN_TEST_ADDRESSES_MAX: usize = 20;
/// The maximum number of campaigns that a request across all projects reads. Reading them takes a few hundredths of a second. At the limit,
/// the page ends, and the next page continues.
pub const CAMPAIGNS_SCANNED_MAX: usize = 2_000;
/// The maximum number of campaigns that the worker handles per step. A step takes less than a second. Between steps, the worker checks for
/// a shutdown.
pub const CAMPAIGNS_PER_STEP: usize = 256;
/// How long a due campaign waits for an edit of its email. Edits take a minute at most. When this time is over, the campaign starts with
/// the current email.
pub const CAMPAIGN_EDIT_AWAITED_MS: i64 = 10 * 60 * 1000;
/// The pause between two checks of whether an edit of a campaign's email has ended. Edits take a few seconds.
pub const CAMPAIGN_EDIT_CHECK_MS: i64 = 2_000;
/// The number of days after a campaign's start for which daily statistics are kept. Nearly all opens happen in the first week. Activity
/// after the last of these days is included only in the totals.
pub const CAMPAIGN_DAYS: u32 = 92;
/// The maximum number of links in a campaign report, most clicked first. Few newsletters have more, and users do not read a longer
/// list. Other links are omitted.
pub const CAMPAIGN_LINKS_SHOWN: usize = 20;

// --- Files ---

/// The minimum lifetime of a link to an image or an exported email, so that a page opened yesterday still works.
pub const FILE_LINK_MS: i64 = 24 * 60 * 60 * 1000;

// --- Emails ---

/// The maximum number of facts, stories or other parts in a brief: twice as many as a prompt of the maximum length can contain. Longer
/// lists are rejected.
pub const BRIEF_PARTS_MAX: usize = 500;
/// The maximum length of a brief as JSON, in characters: each character of a prompt of the maximum length may occur in a fact, its
/// value and its spans. Longer briefs are rejected.
pub const BRIEF_CHARACTERS_MAX: usize = 100_000;
/// The maximum length of a prompt: a brief of several pages. Longer text is a document that belongs in the knowledge base, so it is
/// rejected.
pub const PROMPT_CHARACTERS_MAX: usize = 10_000;
/// The maximum number of languages in a generation request. Each language is written separately, which multiplies time and cost. Longer
/// lists are rejected.
pub const EMAIL_LANGUAGES_MAX: usize = 5;
/// The maximum number of images given with a prompt. They take precedence over the brand's images, and an email shows only a few images.
/// Longer lists are rejected.
pub const PROMPT_IMAGES_MAX: usize = 5;
/// The maximum number of linked pages that are read for a prompt. Each may take seconds while the user waits; further links are not
/// read.
pub const PROMPT_PAGES_MAX: usize = 3;
/// The maximum number of queued and running generations in a project. A client that starts more is probably in a loop; further generations
/// are rejected until one finishes.
pub const CONVERSATIONS_WAITING_PER_PROJECT_MAX: usize = 50;
/// The maximum number of times that a stage of an email is started. If no attempt finishes, the email fails, because the stage itself
/// may cause the interruptions.
pub const EMAIL_ATTEMPTS_MAX: u8 = 5;
/// The maximum number of emails generated in parallel in each environment. They mostly wait for the language model, and more would
/// exceed its rate limit. Other emails wait in the queue.
pub const EMAILS_AT_ONCE: usize = 4;
/// How long a generation waits for the import of its brand. An import rarely takes more than a minute. When this time is over, the
/// generation starts without the import.
pub const SITE_IMPORT_AWAITED_MS: i64 = 3 * 60 * 1000;
/// The maximum number of stages that the worker starts per step. A step takes less than a second. Between steps, the worker checks for a
/// shutdown.
pub const EMAIL_STAGES_PER_STEP: usize = 64;
/// The maximum number of waiting and running edits in an environment, across all accounts. A client that starts this many is probably in a
/// loop; further edits are rejected until one finishes.
pub const EDITS_WAITING_MAX: usize = 200;
/// The maximum total size of the edited emails that users preview on the dashboard: a hundred emails or more. The oldest are dropped first.
pub const EDIT_PREVIEWS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a request waits for an edit before it returns the unfinished edit, and how long it waits for a model to read a brief: less than
/// the default time limit of a request, 30 seconds.
pub const EDIT_WAIT_MS: u64 = 20_000;
/// The maximum number of changes in one request that edits a document. Users change a few fields between two saves; programs that
/// change more should replace whole blocks. Requests with more changes are rejected.
pub const EMAIL_CHANGES_MAX: usize = 100;
/// The period in which a user's autosaves are combined into one version. An hour of writing then leaves six versions, enough steps to
/// go back.
pub const EMAIL_AUTOSAVES_MS: i64 = 10 * 60 * 1000;
/// The maximum length of a version's label, which is shown on one line. Longer labels are rejected.
pub const EDIT_LABEL_CHARACTERS_MAX: usize = 200;
/// The maximum number of versions of an email, more than users look back through. Above the limit, the oldest versions except the first
/// are deleted.
pub const EMAIL_VERSIONS_MAX: u32 = 200;

// --- Imported emails ---

/// The maximum number of emails in one import request, as many as a series can have. Requests with more are rejected.
pub const HTML_IMPORTS_MAX: usize = 12;
/// The maximum size of imported HTML. Gmail clips HTML after 102 KB; imported HTML may contain markup that is removed, but is rarely
/// ten times as large. Larger HTML is rejected.
pub const HTML_IMPORT_BYTES_MAX: usize = 1024 * 1024;
/// The maximum number of an imported email's embedded images that are stored and replaced with links. Newsletters have up to fifty images.
/// Further images stay in the HTML.
pub const IMPORTED_IMAGES_STORED_MAX: usize = 50;
/// The maximum number of changes that one edit makes in an imported email, far more than the hundred places that an edit such as "rename
/// every tea" affects in a long newsletter. An edit with more changes is rejected.
pub const IMPORTED_EMAIL_CHANGES_MAX: usize = 2_000;
/// The maximum length of one piece of text in an imported email: a page. Longer text is rejected.
pub const IMPORTED_EMAIL_TEXT_CHARACTERS_MAX: usize = 5_000;
/// The maximum size of the list that describes an imported email's text, images and links in a request to a language model. About a tenth
/// of an email's HTML is text. The request states if parts are omitted.
pub const IMPORTED_EMAIL_PROMPT_BYTES_MAX: usize = 60_000;

// --- Language models ---

/// The pause before the first retry of a language-model request: enough if only a connection was dropped. The pause doubles with each
/// retry.
pub const LANGUAGE_MODEL_PAUSE_MS: u64 = 500;
/// The maximum pause before a retry. Overloaded services rarely ask for more than a minute, and users do not wait longer.
pub const LANGUAGE_MODEL_PAUSE_MS_MAX: u64 = 60_000;
/// The maximum size of a language model's response. The longest responses are emails as JSON, about a hundredth of this size. Longer
/// responses are rejected.
pub const LANGUAGE_MODEL_ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The maximum size of an image for a language model. Services reject images beyond 5 MB, the size of this many bytes in base64.
/// The request omits larger images.
pub const LANGUAGE_MODEL_PICTURE_BYTES_MAX: usize = 3_700_000;
/// The maximum number of times that an invalid response is returned to the model with a list of its violations. A model that has failed
/// three times usually fails again, and each attempt costs money.
pub const LANGUAGE_MODEL_CORRECTIONS_MAX: usize = 2;

/// The maximum length, in characters, of the JSON Schema in a request for an email: 2,500 tokens of three characters. Small local models do
/// not follow longer schemas reliably.
pub const SCHEMA_CHARACTERS_MAX: usize = 7_500;
/// The maximum number of old language-model usage rows that one request deletes. An account adds a few rows a month.
pub const MODEL_USAGE_DELETED_AT_ONCE: usize = 1_000;

// --- The prompt for a language model ---

/// The maximum number of images with descriptions in a prompt, starting with those given with the request. More images make a prompt
/// more expensive without improving the email.
pub const MATERIAL_IMAGES_MAX: usize = 40;
/// The maximum number of pages that the model may link to. Websites list the important pages first, and more pages only lengthen the
/// prompt.
pub const MATERIAL_LINKS_MAX: usize = 60;
/// The number of characters of a linked page that a prompt contains: about a thousand tokens, in which a page states its subject.
pub const MATERIAL_PAGE_CHARACTERS_MAX: usize = 4_000;
/// The maximum number of knowledge-base entries in a prompt, newest first. If each has the maximum length, they take about four thousand
/// tokens.
pub const MATERIAL_FACTS_MAX: usize = 20;
/// The number of characters of each knowledge-base entry in a prompt: a paragraph, which contains the entry's main point.
pub const MATERIAL_FACT_CHARACTERS_MAX: usize = 800;
/// The maximum number of products with prices in a prompt. An email shows nine products, and the model needs more to choose from.
pub const MATERIAL_PRODUCTS_MAX: usize = 40;

// --- The email document ---

/// The maximum length of a subject. Email clients show 40 to 90 characters of a subject. A longer subject is rejected, or truncated in an
/// imported email.
pub const EMAIL_SUBJECT_CHARACTERS_MAX: usize = 150;
/// The maximum length of a preheader. Email clients show up to about 140 characters after the subject. A longer preheader is rejected, or
/// truncated in an imported email.
pub const EMAIL_PREHEADER_CHARACTERS_MAX: usize = 200;
/// The maximum number of blocks in an email, twice as many as readers scroll through. Documents with more blocks are rejected.
pub const EMAIL_BLOCKS_MAX: usize = 40;
/// The size at which Gmail clips an email's HTML and hides the rest, including the unsubscribe link.
pub const EMAIL_HTML_BYTES_MAX: usize = 102 * 1024;
/// The maximum length of a block's ID: one or two words. Longer IDs are rejected.
pub const EMAIL_BLOCK_ID_CHARACTERS_MAX: usize = 40;
/// The maximum length of a title, which fills two or three lines on a phone. Longer titles push the text off the first screen, so they are
/// rejected.
pub const EMAIL_TITLE_CHARACTERS_MAX: usize = 140;
/// The maximum length of a button label, a name or a price: one line. Longer text is rejected.
pub const EMAIL_LABEL_CHARACTERS_MAX: usize = 80;
/// The maximum length of a caption, an alternative text or an address: one sentence. Longer text is rejected; longer alternative text in an
/// imported email is truncated.
pub const EMAIL_SENTENCE_CHARACTERS_MAX: usize = 300;
/// The maximum length of a short paragraph within a block: about a hundred words. Longer paragraphs are rejected.
pub const EMAIL_PARAGRAPH_CHARACTERS_MAX: usize = 600;
/// The maximum length of the running text in a block: about five hundred words. Longer text is split into blocks, or rejected.
pub const EMAIL_PROSE_CHARACTERS_MAX: usize = 3_000;
/// The maximum number of links in a header. More links do not fit next to a logo at a width of 600 pixels, so they are rejected.
pub const EMAIL_HEADER_LINKS_MAX: usize = 3;
/// The maximum number of links in a footer. A fifth link would wrap to a second line on a phone, so it is rejected.
pub const EMAIL_FOOTER_LINKS_MAX: usize = 4;
/// The minimum number of columns in a columns block. A single column does not need a columns block, so it is rejected.
pub const EMAIL_COLUMNS_MIN: usize = 2;
/// The maximum number of columns in a columns block. At 600 pixels, a fourth column would be narrower than a long word. More
/// columns are rejected.
pub const EMAIL_COLUMNS_MAX: usize = 3;
/// The maximum number of blocks in a column: an image, a heading, a text block, a button and two more blocks. Longer content belongs in a
/// separate email. Longer columns are rejected.
pub const EMAIL_COLUMN_BLOCKS_MAX: usize = 6;
/// The maximum number of products in a block: three rows of three. An email with more is a catalog. Blocks with more products are
/// rejected.
pub const EMAIL_PRODUCTS_MAX: usize = 9;
/// The maximum number of items in a list: about as many as fit on a phone's screen. Longer lists belong on a page that the email links to,
/// so they are rejected.
pub const EMAIL_LIST_ITEMS_MAX: usize = 12;
/// The maximum number of columns in a table. More columns cannot be read on a phone, so they are rejected.
pub const EMAIL_TABLE_COLUMNS_MAX: usize = 5;
/// The maximum number of rows in a table: an order of many items. Longer tables belong on a page that the email links to, so they are
/// rejected.
pub const EMAIL_TABLE_ROWS_MAX: usize = 40;
/// The maximum number of social links: one row on a phone. More links are rejected.
pub const EMAIL_SOCIAL_LINKS_MAX: usize = 8;
/// The maximum width and height of an image in a document, in pixels, larger than those of any image that Mailmill decodes. Larger numbers
/// are mistakes, so they are rejected.
pub const EMAIL_IMAGE_PIXELS_MAX: u32 = 20_000;
/// The maximum length of a deadline: a timestamp with a UTC offset and fractions of a second.
pub const EMAIL_DEADLINE_CHARACTERS_MAX: usize = 40;
/// The maximum number of violations that one check of a document reports: enough to fix the document, few enough for a model's context.
pub const EMAIL_VIOLATIONS_MAX: usize = 50;

// --- Saved blocks ---

/// The maximum number of saved blocks in a project: as many as a palette can show. More blocks are rejected.
pub const SAVED_BLOCKS_MAX: usize = 100;
/// The maximum length of a saved block's name: one line of a palette. Longer names are rejected.
pub const SAVED_BLOCK_NAME_CHARACTERS_MAX: usize = 80;

// --- Screenshots of emails ---

/// The maximum number of images fetched for a screenshot. Newsletters have thirty; further images are shown as blocked.
pub const DRAWN_IMAGES_FETCHED_MAX: usize = 60;
/// The maximum number of parallel image fetches in the whole process. Each image may have the maximum size, so these fetches use up to 64
/// MB.
pub const DRAWN_IMAGES_AT_ONCE: usize = 8;
/// How long a screenshot waits for one image. The time is short because a user waits for the screenshot. After that, the image is shown
/// as blocked.
pub const DRAWN_IMAGE_MS_MAX: u64 = 8_000;
/// The maximum total size of the images that are cached for later screenshots: the images in one brand's emails. The oldest images are
/// dropped first.
pub const RECENT_BYTES_MAX: usize = 24 * 1024 * 1024;
/// How long a link to a remote image in a displayed email is valid: longer than users look at the email. After that, they must reload the
/// page.
pub const REMOTE_IMAGE_LINK_MS: i64 = 60 * 60 * 1000;
/// How long a remote image is cached: long enough for the screenshots of a series, and short enough that a changed image appears soon.
pub const RECENT_MS: i64 = 5 * 60 * 1000;
/// The maximum size of one image in a screenshot. Larger images, such as photos straight from a camera, are shown as blocked; recipients
/// would not wait for them either.
pub const DRAWN_IMAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

// --- Decoding images ---

/// The maximum number of pixels in a decoded image. High-resolution phone photos have 50 million pixels; larger images are rejected.
pub const DECODED_IMAGE_PIXELS_MAX: u64 = 50_000_000;
/// The maximum width or height of a decoded image in pixels. Camera images are smaller; larger images are rejected.
pub const DECODED_IMAGE_SIDE_MAX: u32 = 10_000;
/// The maximum memory of one decoded image: 8,000 by 6,000 pixels of four bytes. Larger images are rejected.
pub const DECODED_IMAGE_BYTES_MAX: u64 = 200 * 1024 * 1024;
/// The memory, in bytes, that a worker process may use for one image in addition to the bare process: the decoded image, and its copy for
/// scaling, which uses more bytes per pixel.
pub const DECODING_MEMORY_BYTES: u64 = 512 * 1024 * 1024;
/// The maximum number of pixels that all workers decode at the same time. They take 256 MiB of memory, which a server with 2 GB can spare.
/// Other images wait.
pub const DECODED_PIXELS_AT_ONCE: u64 = 64 * 1024 * 1024;
/// How long an image or an email waits in the queue before its request gets a 503: less than the default time limit of a request, 30
/// seconds.
pub const DRAWING_WAIT: std::time::Duration = std::time::Duration::from_secs(20);
/// The maximum width of a PNG drawn from an SVG logo, in pixels: four times the space for a logo in the header of an email.
pub const DRAWN_LOGO_WIDTH_MAX: u32 = 760;
/// The maximum height of a PNG drawn from an SVG logo, in pixels. It can be smaller than the maximum width, because logos are wider than
/// tall. Together, both limits bound the memory that drawing takes.
pub const DRAWN_LOGO_HEIGHT_MAX: u32 = 400;
/// The minimum height of a PNG drawn from an SVG logo: twice the height of a logo in the header of an email.
pub const DRAWN_LOGO_HEIGHT_MIN: u32 = 96;

// --- Rendering emails ---

/// The maximum size of HTML, excluding its embedded images. Email clients clip at a twentieth of this size. In the worst case, the parser's
/// time is quadratic, so larger HTML is rejected.
pub const DRAWN_HTML_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The maximum size of HTML with its embedded images: the usual maximum for an email with attachments. Larger HTML is rejected.
pub const DRAWN_INPUT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The maximum number of attributes of one tag. Parsers compare each attribute with all the others; HTML with more attributes is rejected.
pub const DRAWN_ATTRIBUTES_MAX: usize = 200;
/// The maximum nesting depth of elements. The worker's stack has space for more than this depth; emails have about 30 levels.
/// Deeper HTML is rejected.
pub const DRAWN_LEVELS_MAX: usize = 300;
/// The maximum number of elements in an email, where two text nodes or comments count as one element. Long newsletters have 5,000. HTML
/// that exceeds the limit is rejected.
pub const DRAWN_NODES_MAX: usize = 60_000;
/// The maximum total size of the image files for one rendering. They stay in memory until the rendering is done. The images of a newsletter
/// take about 5 MiB. Images beyond the limit are shown as blocked.
pub const DRAWN_IMAGES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The maximum total number of pixels of the images in one rendering. They take 256 MiB, a quarter of the worker's memory.
pub const DRAWN_IMAGE_PIXELS_MAX: u64 = 64 * 1024 * 1024;
/// The maximum number of screenshot widths in one request: phone, tablet and desktop, each in a few sizes. More widths are rejected.
pub const DRAWN_WIDTHS_MAX: usize = 8;
/// The minimum width of a screenshot: a watch, the narrowest screen on which email is read. Smaller widths are rejected.
pub const DRAWN_WIDTH_PX_MIN: u32 = 120;
/// The maximum width of a screenshot. A wider screenshot only shows more background around an email, and uses more memory. Larger widths
/// are rejected.
pub const DRAWN_WIDTH_PX_MAX: u32 = 2_000;
/// The height at which screenshots are cropped: 20 screens, and within the engine's limit of 64 million pixels at any width.
pub const DRAWN_HEIGHT_PX_MAX: u32 = 16_000;
/// The time limit for one rendering. A typical rendering takes a hundredth of this time.
pub const DRAWING_TIME: std::time::Duration = std::time::Duration::from_secs(15);
/// The maximum processor time of one rendering. Real emails take less than a second; the operating system ends a worker that takes
/// longer.
pub const DRAWING_CPU_SECONDS: u64 = 10;
/// The memory that a rendering may use in addition to the bare process. A typical rendering uses 20 MiB; a rendering that needs more than
/// the limit fails.
pub const DRAWING_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// The maximum size of the output of one rendering: several long screenshots. A rendering with more output fails.
pub const DRAWING_ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The stack size of the rendering thread in bytes. HTML with the maximum of 300 levels needs less than 2 MiB; an overflow would end the
/// process.
pub const DRAWING_STACK_BYTES: usize = 32 * 1024 * 1024;
/// The maximum number of renderings that wait for a free processor. At 100 ms each, the last one waits for a few seconds; further
/// renderings get a 503.
pub const DRAWINGS_WAITING_MAX: usize = 64;
/// The number of renderings after which a Chromium process is replaced, because its memory grows with each rendering.
pub const DRAWINGS_PER_BROWSER_MAX: u32 = 300;
/// The maximum number of files read from the folder of additional fonts, more than the two hundred files of all Noto fonts. Further
/// files are not read.
pub const FONT_FILES_MAX: usize = 500;
/// The maximum size of a font file. The largest fonts, which cover Chinese, Japanese and Korean, take 20 MB. Larger files are not read.
pub const FONT_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

// --- The composer ---

/// The number of characters of a prompt that the composer reads, which is the maximum length of a prompt in a request.
pub const COMPOSER_PROMPT_CHARACTERS_MAX: usize = 10_000;
/// The maximum number of links, points, statements or images taken from one prompt, as many as fit into an email.
pub const COMPOSER_LIST_MAX: usize = 12;
/// The maximum number of products that the composer chooses from. It reads all of them for each email, in a few milliseconds.
pub const COMPOSER_PRODUCTS_MAX: usize = 1_000;
/// The maximum number of knowledge-base entries that the composer considers for quotes. It reads all of these for each email, in tens of
/// milliseconds.
pub const COMPOSER_KNOWLEDGE_MAX: usize = 100;
/// The maximum number of emails in a series: one a month for a year. Requests for more are rejected.
pub const EMAILS_PER_SERIES_MAX: usize = 12;

// --- DNS ---

/// The time limit for one DNS query and its retries. It is short enough that a request that needs several queries in a row is still
/// answered in time.
pub const DNS_TIME: std::time::Duration = std::time::Duration::from_secs(8);
/// The time limit for one attempt of a DNS query. Name servers usually respond within a second.
pub const DNS_ATTEMPT_TIME: std::time::Duration = std::time::Duration::from_secs(3);
/// The number of times that a failed DNS query is retried. Packets get lost, so a query without a response is sent again; three lost
/// packets in a row are rare.
pub const DNS_ATTEMPTS: usize = 2;
/// The maximum number of cached DNS responses. They take a few megabytes and cover the domains that receive the most mail. The least used
/// responses are dropped first.
pub const DNS_CACHE_ANSWERS: u64 = 8_192;
/// The maximum time that a DNS record is cached, even if its TTL is longer. If a server moves, its new address is used within this time.
pub const DNS_CACHED_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// How long the absence of a DNS record is cached. The time is short, because a user who has just created the record does not want to
/// wait.
pub const DNS_NOTHING_CACHED_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(60);

// --- Sending domains ---

/// The maximum number of sending domains in an account. Agencies have several for each client, and each domain is checked daily. Further
/// domains are rejected until a domain is deleted.
pub const DOMAINS_MAX: usize = 500;
/// The pause before the second check of a domain that waits for its DNS records. The pause is short, because the user who has just added
/// the records is watching. The pause doubles with each check.
pub const DOMAIN_CHECK_INTERVAL_MS: i64 = 60 * 1000;
/// The maximum pause between checks of a domain that waits for its DNS records, so that a record that appears overnight is found in the
/// morning.
pub const DOMAIN_CHECK_INTERVAL_MS_MAX: i64 = 6 * 60 * 60 * 1000;
/// How long a domain may wait for its DNS records. They reach all name servers within two days; after three days, the user has probably
/// forgotten them.
pub const DOMAIN_VERIFICATION_MS: i64 = 72 * 60 * 60 * 1000;
/// The pause between checks of a verified domain, whose DNS records are rarely removed.
pub const DOMAIN_DAILY_MS: i64 = 24 * 60 * 60 * 1000;
/// The number of failed checks in a row after which a verified domain is treated as failed. A single failed check may be a temporary DNS
/// problem.
pub const DOMAIN_MISSES_MAX: u8 = 3;
/// The pause after a failed check before the domain is checked again. A name server that failed briefly is available again by then.
pub const DOMAIN_MISS_PAUSE_MS: i64 = 15 * 60 * 1000;
/// How long a replaced DKIM key stays in DNS, because messages can be in transit for up to five days.
pub const DOMAIN_KEY_RETIRES_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// The maximum number of domains checked in parallel. Checks mostly wait for name servers; other domains wait in the queue.
pub const DOMAINS_AT_ONCE: usize = 8;
/// The maximum number of domains in which a DMARC record is looked up: the domain itself and its parents. RFC 9989 has the same limit.
pub const DMARC_LEVELS_MAX: usize = 8;
/// The maximum number of actual DNS values that are shown for one expected record: enough to find the mistake.
pub const DOMAIN_FOUND_SHOWN_MAX: usize = 5;
/// The number of characters of each DNS value that are shown: enough to find a mistake. A TXT record can contain kilobytes.
pub const DOMAIN_FOUND_CHARACTERS_MAX: usize = 500;

// --- Suppressions ---

/// The maximum number of an account's suppressions that are held in memory while a mailing is planned. They take about 20 MB. If an account
/// has more suppressions, each address is looked up in the store instead.
pub const SUPPRESSIONS_IN_MEMORY_MAX: u64 = 500_000;

// --- Tracking ---

/// The maximum number of visits to tracking links that are waiting to be written. At the highest rate that the service accepts, this many
/// arrive within ten seconds. Further visits are dropped and counted.
pub const VISITS_WAITING_MAX: usize = 20_000;
/// The number of visits written per transaction, few enough that outgoing messages wait only for milliseconds.
pub const VISITS_PER_WRITE: usize = 1_000;
/// The number of characters of a visitor's User-Agent that are stored. The part that identifies a client is at the start.
pub const VISIT_AGENT_CHARACTERS_MAX: usize = 200;
/// The time within which repeated visits by the same client to the same link count as one visit. Clients retry slow requests, and users
/// double-click.
pub const VISIT_REPEAT_MS: i64 = 1_000;
/// The number of server replies and actions of simulated recipients that one transaction processes. The transaction takes a few
/// milliseconds, and other writes wait for it.
pub const DELIVERY_EVENTS_PER_STEP: usize = 500;
/// The number of rows that one step of an erasure reads. A step occupies the writer for a few milliseconds.
pub const ERASURE_ROWS_PER_STEP: usize = 500;
/// The maximum number of a contact's activities in which a timeline looks for messages, to show their results (bounces, complaints and
/// unsubscribes): enough for several years. Older results are not shown.
pub const TIMELINE_ACTIVITIES_MAX: usize = 2_000;
/// The maximum number of messages for which a contact's timeline shows the result. Each result costs three lookups; for older messages, the
/// timeline shows only that they were sent.
pub const TIMELINE_SENDS_MAX: usize = 500;
/// The maximum number of rows of each kind in the data export of one contact. They take a few megabytes. Older rows are omitted, and the
/// export states that rows are missing.
pub const PERSONAL_DATA_ROWS_MAX: usize = 10_000;
/// The maximum number of an email's mailings that are searched for one page of its log. Mailings without matching rows cost as much as
/// others; the next page continues the search.
pub const LOG_MAILINGS_SCANNED_MAX: usize = 200;
/// The maximum number of messages in the built-in inbox that one step of an erasure removes. A message can be several megabytes in size,
/// and other writes wait for the step.
pub const ERASURE_MESSAGES_PER_STEP: usize = 100;
/// The maximum size of a form on the pages that messages link to: one checkbox for each topic, about ten kilobytes at most. Larger forms
/// are rejected.
pub const CHOICES_FORM_BYTES_MAX: usize = 64 * 1024;

// --- Sending ---

/// The maximum length of one UTM parameter, which web analytics tools show on one line. Longer parameters are rejected.
pub const UTM_CHARACTERS_MAX: usize = 200;
/// The length of a day in milliseconds, because some limits and settings are stated in days.
pub const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The minimum pause before a retry of mail to a throttled server. A shorter pause would poll the queue unnecessarily.
pub const POSTPONED_MS_MIN: i64 = 5_000;
/// The maximum pause between two attempts for deferred mail. Servers that defer because of greylisting or load accept the mail within
/// hours.
pub const RETRY_PAUSE_MS_MAX: i64 = 4 * 60 * 60 * 1000;
/// The number of attempts after which a message whose delivery is unknown is no longer resent automatically. A server that accepts every
/// copy without a reply would otherwise deliver the message to the recipient again and again.
pub const RESEND_ATTEMPTS_MAX: u16 = 4;
/// How far ahead a retry can be scheduled. The limit exceeds the longest pause and any time zone offset, so a retry beyond the limit was
/// scheduled while the clock was wrong.
pub const RETRY_AHEAD_MS_MAX: i64 = 48 * 60 * 60 * 1000;
/// The pause between two attempts to write recipient rows while too many other writes are waiting: about the duration of a commit.
pub const RECIPIENT_WRITER_BUSY_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);
/// The maximum number of recipient rows that one request searches for matches. The search takes a tenth of a second. The next page
/// continues after these rows.
pub const RECIPIENT_ROWS_SCANNED_MAX: usize = 100_000;
/// The maximum number of counted links in the content of a mailing. Newsletters have a few dozen; further links are not counted.
pub const MAILING_LINKS_MAX: usize = 1_000;
/// The maximum number of recipient-row updates that wait for the writer: a few for each connection at the maximum number of connections. At
/// the limit, the senders wait.
pub const RECIPIENT_UPDATES_QUEUED_MAX: usize = 4_096;
/// The number of recipient-row updates in one commit. A commit occupies the writer for a few milliseconds.
pub const RECIPIENT_UPDATES_PER_COMMIT: usize = 1_024;
/// How long the writer waits for the next claim before it writes updates that no task waits for, so that one commit contains both: about
/// the duration of a commit.
pub const RECIPIENT_WRITER_WAIT: std::time::Duration = std::time::Duration::from_millis(20);
/// The maximum number of messages that are rendered before a connection is free for them, so that connections do not wait: this number, or
/// two per processor core if that is more. The messages use a few megabytes.
pub const MESSAGES_AHEAD_MAX: usize = 32;
/// The fallback poll interval of the send queue, in case a wake-up was missed. A poll of an idle queue costs microseconds.
pub const SEND_QUEUE_POLL_PERIOD: std::time::Duration = std::time::Duration::from_secs(5);
/// The number of a mailing's recipients that are read ahead. They use a few hundred kilobytes and last for a few seconds of sending.
pub const RECIPIENTS_READ_AT_ONCE: usize = 512;
/// The number of recipients after which a mailing's cursor is stored. No recipient before the cursor is still queued, so a restart
/// reads at most this many recipients again.
pub const CURSOR_MOVED_EVERY: u32 = 4_096;
/// The number of mailings with work that one poll handles. A poll takes a few milliseconds. The next poll handles the remaining mailings.
pub const MAILINGS_SCANNED_MAX: usize = 1_000;
/// The number of a mailing's retries that are read ahead. They use a few hundred kilobytes.
pub const RETRIES_READ_AT_ONCE: usize = 256;
/// The number of accounts whose retries one poll reads. A poll takes a few milliseconds. The next poll continues after these accounts.
pub const ACCOUNTS_SCANNED_MAX: usize = 1_000;
/// The number of an account's due mailings that one poll handles, so that an account with very many mailings leaves capacity for
/// others.
pub const DUE_MAILINGS_PER_ACCOUNT: usize = 50;
/// The pause before the next poll if there are more accounts than one poll reads. Retries wait for minutes, so a second makes no
/// difference.
pub const RETRIES_POLL_PAUSE_MS: i64 = 1_000;
/// The number of blocked mailings that one poll checks again. Each check reads a few rows; the next poll continues after the last checked
/// mailing.
pub const BLOCKED_MAILINGS_SCANNED: usize = 20;
/// The number of a mailing's retries that one poll reschedules because they were scheduled while the clock was wrong. Rescheduling them
/// takes a few milliseconds; the next poll continues with the others.
pub const RETRIES_SCANNED_MAX: usize = 1_000;
/// The number of mailings that one sweep of old direct sends reads. A sweep occupies the writer for a few milliseconds.
pub const MAILINGS_SWEPT: usize = 200;
/// The number of recipient rows that the planning of a mailing writes per transaction: enough to benefit from writing in sorted order, few
/// enough that other writers wait only briefly.
pub const PLAN_CHUNK_RECIPIENTS: usize = 10_000;
/// The maximum number of chunks of [`PLAN_CHUNK_RECIPIENTS`] rows that one planning step writes. The step loads the data for all chunks
/// once. A step takes less than a second, so it delays a shutdown only briefly.
pub const PLAN_CHUNKS_PER_STEP: usize = 20;
/// The number of characters of a server's reply that are stored. Users read the reply when mail does not arrive, and replies rarely have
/// more than two lines.
pub const REPLY_CHARACTERS_KEPT: usize = 300;
/// The pause after the first transport failure: enough if only a connection was dropped. The pause doubles with each consecutive failure.
pub const TRANSPORT_REST_MIN: std::time::Duration = std::time::Duration::from_secs(1);
/// The maximum pause after transport failures, so that a relay that has recovered is used within a minute.
pub const TRANSPORT_REST: std::time::Duration = std::time::Duration::from_secs(30);
/// The maximum total size of the compiled contents that are cached, so that the next mailing with the same content can reuse them: a few
/// dozen newsletters. Above the limit, the cache is emptied.
pub const CONTENTS_KEPT_BYTES: usize = 16 * 1024 * 1024;
/// How long the keys and settings of a From domain are cached. The time is short, because users may change them.
pub const SENDER_KEPT_MS: i64 = 60 * 1000;
/// The maximum number of From domains whose decrypted keys are held in memory, more than a server uses in a minute. Above the limit,
/// the cache is emptied.
pub const SENDERS_KEPT_MAX: usize = 256;
/// The maximum number of addresses in one direct send: the recipient and up to 50 copies. A send with more is rejected; a campaign to a
/// tag or segment can have more.
pub const DIRECT_RECIPIENTS_MAX: usize = 51;
/// The maximum backlog of direct sends, in seconds of sending. If the backlog is larger, callers get an error that asks them to slow down.
pub const DIRECT_BACKLOG_SECONDS: u64 = 10;
/// The maximum length of a region, a short name that clients of other services send. Mailmill ignores regions, but rejects longer
/// names.
pub const REGION_CHARACTERS_MAX: usize = 64;
/// The number of direct sends per second from which the maximum backlog is computed if the plan has no rate limit. It exceeds what one
/// server's connections deliver.
pub const DIRECT_PER_SECOND_ASSUMED: u64 = 1_000;
/// The maximum length of the name next to a From address, which is shown on one line. Longer names are rejected.
pub const SENDER_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum length of a subject with its unfilled merge fields: more than three times the maximum length of an email's subject.
/// Longer subjects are rejected.
pub const SEND_SUBJECT_CHARACTERS_MAX: usize = 500;
/// The maximum number of past months that metrics cover: three years, for comparisons with the same month of earlier years. Larger numbers
/// are rejected.
pub const METRICS_MONTHS_MAX: u64 = 36;
/// The maximum number of past days that charts and their tables cover: a quarter of a year, with at least one pixel for each day.
/// Larger numbers are rejected.
pub const TIMELINE_DAYS_MAX: u64 = 92;
/// The default number of days in a chart: a month, which shows every weekday at least four times.
pub const TIMELINE_DAYS: u64 = 30;

// --- The built-in inbox and the demo ---

/// The maximum number of messages in an account's inbox. Lists scan all of them, in a few hundredths of a second; the oldest messages are
/// deleted first.
pub const INBOX_MESSAGES_MAX: i64 = 5_000;
/// The maximum number of bytes in an account's inbox. The disk of a small server has space for the inboxes of dozens of accounts. The
/// oldest messages are deleted first.
pub const INBOX_BYTES_MAX: i64 = 256 * 1024 * 1024;
/// The number of old messages that one sweep deletes per account. The sweep ends as soon as it has deleted at least this many in total. A
/// message can be several megabytes in size, and other writes wait for the sweep.
pub const INBOX_MESSAGES_SWEPT: usize = 100;
/// The number of bytes in each row of a stored message. Most messages fit into one row, and a store handles larger rows slowly.
pub const INBOX_CHUNK_BYTES: usize = 256 * 1024;
/// The pause between a message to a simulated recipient and the recipient's action: long enough for users to see the message as sent first,
/// and short enough for them to wait for the action.
pub const SIMULATED_PAUSE_MS: i64 = 1_000;
/// How far in the past a new demo starts: enough days for a chart, and less than the default of `mail.give_up_hours`, so that messages to
/// full mailboxes are still being retried when the demo ends.
pub const DEMO_PAST_MS: i64 = 4 * DAY_MS;

// --- Messages ---

/// The maximum size of a template with its merge fields. Long newsletters have a fifth of this size; email clients show less than
/// half of it. Larger templates are rejected.
pub const MERGE_SOURCE_BYTES_MAX: usize = 256 * 1024;
/// The maximum size of one recipient's HTML or text: a template of maximum length that contains long lists. A larger message fails.
pub const MERGE_OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// The maximum size of one recipient's subject or name. Email clients show a tenth of it; a message with a longer subject or name fails.
pub const MERGE_HEADER_BYTES_MAX: usize = 2_000;
/// The maximum number of template steps for one recipient. They take about 20 ms on one processor. A newsletter with an order of forty rows
/// takes 2,000 steps; a message that needs more than the limit fails.
pub const MERGE_STEPS_MAX: usize = 500_000;
/// The maximum nesting depth of `if` and `for` blocks, and of parentheses in a condition. Deeper templates are unreadable and could
/// overflow the parser's stack, so they are rejected.
pub const MERGE_LEVELS_MAX: usize = 16;
/// The maximum number of filters after one field. Templates use up to four: trim, shorten, change case, default. More filters are rejected.
pub const MERGE_FILTERS_MAX: usize = 8;
/// The maximum number of names in one field path, like `order.address.city`. Real data is nested three or four levels deep; longer paths
/// are rejected.
pub const MERGE_PATH_WORDS_MAX: usize = 8;
/// The maximum size of a header that a sender adds: two lines of the maximum length in RFC 5322 §2.1.1. Longer headers are rejected.
pub const EXTRA_HEADER_BYTES_MAX: usize = 1_996;
/// The maximum size of the name of a header that a sender adds. The longest registered name has 44 characters. Names above the limit are
/// rejected.
pub const EXTRA_HEADER_NAME_BYTES_MAX: usize = 76;

// --- Outgoing mail ---

/// The time limit for connecting to a server. Connecting around the world takes a third of a second; RFC 5321 §4.5.3.2 allows five minutes
/// for the greeting alone.
pub const SMTP_CONNECT_TIME: std::time::Duration = std::time::Duration::from_secs(30);
/// The time limit for the reply to a command (RFC 5321 §4.5.3.2).
pub const SMTP_COMMAND_TIME: std::time::Duration = std::time::Duration::from_secs(300);
/// The time limit for the reply to the final dot (RFC 5321 §4.5.3.2.6). Giving up earlier causes duplicates.
pub const SMTP_DOT_TIME: std::time::Duration = std::time::Duration::from_secs(600);
/// The time limit for the reply to QUIT. The message is already accepted, so the connection is closed even if the reply does not arrive.
pub const SMTP_QUIT_TIME: std::time::Duration = std::time::Duration::from_secs(5);
/// How long an unused connection is kept. Servers close unused connections after one to five minutes, and pauses within a burst of mail
/// are shorter than this.
pub const SMTP_IDLE_TIME: std::time::Duration = std::time::Duration::from_secs(30);
/// How long deliveries in progress wait for a relay. A restarting relay is available again within a minute, so its deliveries do not need
/// to be deferred.
pub const SMTP_PATIENCE: std::time::Duration = std::time::Duration::from_secs(90);
/// The first pause after a failure to reach a server: enough if only a connection was dropped. The pause doubles with each consecutive
/// failure.
pub const SMTP_PAUSE_MIN: std::time::Duration = std::time::Duration::from_secs(1);
/// The maximum pause after a failure to reach a server, so that a server that is available again receives its mail within a minute.
pub const SMTP_PAUSE_MAX: std::time::Duration = std::time::Duration::from_secs(60);
/// The first pause after a failure to reach a recipient's mail server. It is longer than for a relay, because mail to a single destination
/// is less urgent.
pub const SMTP_EXCHANGER_PAUSE_MIN: std::time::Duration = std::time::Duration::from_secs(60);
/// The maximum pause after a failure to reach a recipient's mail server. A server that was down overnight then receives its mail within an
/// hour.
pub const SMTP_EXCHANGER_PAUSE_MAX: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// The maximum number of messages per connection. Many servers close the connection after a hundred messages.
pub const SMTP_MESSAGES_PER_CONNECTION_MAX: usize = 100;
/// The maximum size of a line in a server's reply. RFC 5321 allows 512 bytes, but some servers send long URLs. A longer line ends the
/// connection.
pub const SMTP_REPLY_LINE_BYTES_MAX: usize = 2_048;
/// The maximum number of lines in a server's reply. Long policies have ten lines, and long EHLO replies have thirty. A longer reply
/// ends the connection.
pub const SMTP_REPLY_LINES_MAX: usize = 100;
/// The size, in bytes, of the chunks in which a message is sent. Nearly all messages fit into one.
pub const SMTP_PIECE_BYTES: usize = 128 * 1024;
/// The number of consecutive successful messages after which a server that was overloaded gets one more connection. Fewer successes
/// could be luck.
pub const SMTP_GROWTH_MESSAGES: u32 = 20;
/// The share of all connections that the servers of one destination may use: at most one in this many, so that a slow destination does not
/// delay the others.
pub const SMTP_DESTINATION_SHARE: usize = 8;
/// The maximum number of a destination's servers that are tried for one message. Large providers have five; after that, the message is
/// retried later.
pub const SMTP_EXCHANGERS_TRIED_MAX: usize = 5;
/// The maximum number of addresses tried for one server: two of each IP version. After that, the next server is tried.
pub const SMTP_ADDRESSES_TRIED_MAX: usize = 4;
/// The maximum number of destinations whose throttling state is kept, and of domains whose MTA-STS policy is cached. Both take a few
/// megabytes. At the limit, destinations without deliveries in progress and expired policies are dropped.
pub const SMTP_DESTINATIONS_MAX: usize = 10_000;
/// The maximum number of relays. Operators have two or three relays, or one for each domain. A longer list is a mistake, and the
/// service does not start.
pub const SMTP_RELAYS_MAX: usize = 20;
/// The time after which a domain's MTA-STS policy is checked again. Policies last for weeks, but mail should not wait a day for a
/// changed policy.
pub const STS_RECHECK_AFTER: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// The maximum age of an MTA-STS policy: one year, the maximum in RFC 8461 §3.2. The cache ends with the process in any case.
pub const STS_AGE_MAX: std::time::Duration = std::time::Duration::from_secs(31_557_600);
/// The time limit for fetching an MTA-STS policy. RFC 8461 §3.3 advises a minute; mail waits for the policy, so the limit is shorter.
pub const STS_FETCH_TIME: std::time::Duration = std::time::Duration::from_secs(20);
/// The maximum size of an MTA-STS policy. RFC 8461 §3.3 advises at least 64 KB. A larger policy is treated as unreadable.
pub const STS_POLICY_BYTES_MAX: usize = 64 * 1024;
/// The maximum number of servers in an MTA-STS policy. Real policies have ten; further servers are ignored.
pub const STS_POLICY_HOSTS_MAX: usize = 200;

// --- Request bodies ---

/// The maximum size of bodies that do not count toward the memory limit for large bodies. Nearly all bodies are this small, and few of
/// them are in memory at the same time.
pub const BODY_SMALL_BYTES: usize = 64 * 1024;
/// The maximum total size of larger bodies in memory: one body of the maximum size with the default settings, and several smaller ones.
/// Together with the parsed data (10 MB of contacts take 43 MiB) and the memory of the previous body, which may not be free yet, this is a
/// tenth of the memory of a server with 1 GB.
pub const BODIES_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a large body waits for memory before its request gets a 503: a third of the default time limit of a request.
pub const BODIES_WAIT: std::time::Duration = std::time::Duration::from_secs(10);
/// The `Retry-After`, in seconds, of the 503 response to a large body for which there was not enough free memory. By then, some uploads
/// have usually ended.
pub const BODIES_RETRY_SECONDS: u64 = 5;

// --- Disk space ---

/// The number of stages in which the disk reserve is released. With the default size, each stage has space for thousands of unsubscribes.
/// With fewer stages, the reserve would be used up sooner; with more, each stage would be too small.
pub const DISK_RESERVE_STAGES: u64 = 8;
/// The free space that a new installation waits for. The empty data files and indexes take less, so a first start does not stop halfway for
/// lack of space.
pub const NEW_INSTALLATION_BYTES: u64 = 16 * 1024 * 1024;
/// The `Retry-After`, in seconds, while the service is read-only because its disk is full. The operator has to act first.
pub const STORAGE_FULL_RETRY_SECONDS: u64 = 60;
/// The pause before a worker checks again for free disk space. The check costs one system call, and work resumes within a second.
pub const STORAGE_FULL_PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

// --- File descriptors ---

/// The number of descriptors reserved for uses that have no limit of their own: three stores, two search indexes while they merge,
/// listeners, worker processes with their pipes, the continuous backup, and requests to language models. A busy server had 60 descriptors
/// open for these uses.
const DESCRIPTORS_FOR_FILES: usize = 104;
/// The number of descriptors for the workers' requests. Each request needs one, for DNS or for its connection, and most workers run in both
/// environments.
const DESCRIPTORS_FOR_WORKERS: usize = 2
    * (SITE_IMPORTS_AT_ONCE * SITE_IMPORT_FETCHES_AT_ONCE
        + IMAGES_AT_ONCE
        + PROVIDER_IMPORTS_AT_ONCE
        + STORE_SYNCS_AT_ONCE
        + SCHEDULED_IMPORTS_AT_ONCE
        + EMAILS_AT_ONCE
        + EMAIL_CHECKS_AT_ONCE
        + DOMAINS_AT_ONCE)
    + LINK_CHECKS_AT_ONCE
    + DRAWN_IMAGES_AT_ONCE;
/// The number of descriptors reserved for everything except HTTP, mail and webhooks: 256.
pub const DESCRIPTORS_RESERVED: usize = DESCRIPTORS_FOR_FILES + DESCRIPTORS_FOR_WORKERS;
/// The number of free descriptors below which the service is not ready: an import or a worker process may need several at the same time.
pub const DESCRIPTORS_FREE_MIN: u64 = 16;
/// The minimum number of HTTP connections, even if the descriptor limit leaves no space for them: with fewer, a browser could not load a
/// page.
pub const HTTP_CONNECTIONS_MIN: usize = 32;
/// The share of file descriptors for incoming mail: one in this many, up to [`INBOUND_CONNECTIONS_MAX`] connections.
pub const INBOUND_SHARE_OF_DESCRIPTORS: usize = 16;
/// The minimum number of connections for incoming mail: even without a listener, programs that run as the service's user can deliver mail.
pub const INBOUND_CONNECTIONS_MIN: usize = 16;

// --- Workers ---

/// The minimum pause before a failed step is retried. A conflict between writers has ended by then. The pause doubles with each consecutive
/// failure.
pub const WORKER_RETRY_MIN: std::time::Duration = std::time::Duration::from_millis(100);
/// The maximum pause before a failed step is retried: a step that keeps failing is retried about every minute.
pub const WORKER_RETRY_MAX: std::time::Duration = std::time::Duration::from_secs(60);
/// The number of consecutive failures after which a worker is treated as failing. A single failure may be a coincidence.
pub const WORKER_FAILURES_BAD: u64 = 2;
/// How long a dispatcher that failed and was restarted is reported as failing, so that a probe that runs every few seconds detects the
/// failure.
pub const DISPATCHER_FAILING_MS: i64 = 60_000;
/// The time after which a step of a worker is reported as stuck. Steps that wait for language models and other sites take minutes.
pub const WORKER_STEP_MS_MAX: i64 = 30 * 60 * 1000;
/// The time after which a step of the search index is reported as stuck: a commit takes seconds, and while the index is stuck, searches
/// return old data.
pub const INDEX_STEP_MS_MAX: i64 = 5 * 60 * 1000;
/// The number of waiting changes above which the search index is reported as too far behind. The index applies thousands a second, so only
/// an index that cannot keep up falls this far behind.
pub const INDEX_LAG_MAX: u64 = 100_000;
/// The `Retry-After` for a probe of a service that is not ready, in seconds. Probes run about this often.
pub const NOT_READY_RETRY_SECONDS: u64 = 10;
/// The number of rows that a sweep deletes per transaction. A transaction occupies the writer for a few milliseconds.
pub const SWEEP_ROWS: usize = 5_000;

// --- Incoming mail ---

/// The maximum size of an incoming message. A bounce contains the original message, which is no larger than this. Larger messages are
/// rejected.
pub const INBOUND_BYTES_MAX: usize = 10 * 1024 * 1024;
/// The maximum number of MIME parts in an incoming message. Reports have three parts. Messages with more parts than the limit are rejected.
pub const INBOUND_PARTS_MAX: usize = 500;
/// The maximum nesting depth of MIME parts. A bounce of a forwarded bounce has six levels. Messages with deeper nesting than the limit are
/// rejected.
pub const INBOUND_NESTING_MAX: usize = 30;
/// The number of bytes of a MIME part's header that are read. Mail servers usually reject messages with larger headers.
pub const INBOUND_HEAD_BYTES_MAX: usize = 64 * 1024;
/// The number of bytes of a MIME part's text that are read. In a bounce, the rest is the returned message.
pub const INBOUND_TEXT_BYTES_MAX: usize = 512 * 1024;
/// The maximum number of recipients in a report. Each of Mailmill's messages has one recipient; further recipients are ignored.
pub const INBOUND_RECIPIENTS_MAX: usize = 100;
/// The number of bytes of a server's diagnostic text that are stored. Users read only a few lines.
pub const INBOUND_DIAGNOSTIC_BYTES_MAX: usize = 1_000;
/// The maximum number of strings in a message that look like Mailmill's tokens. A real bounce contains three; further strings are ignored.
pub const INBOUND_TOKENS_MAX: usize = 20;
/// The maximum number of connections of the mail listener: many times the limit per address, so that a few addresses cannot use all of
/// them. Each connection uses about 20 KiB, plus [`INBOUND_SMALL_BYTES`] while it receives a message.
pub const INBOUND_CONNECTIONS_MAX: usize = 256;
/// The maximum number of connections from one address. Large providers open several at a time; further connections are closed.
pub const INBOUND_CONNECTIONS_PER_ADDRESS_MAX: usize = 8;
/// The maximum number of messages from one address in a minute, enough for the bounces that a large provider sends after a campaign to an
/// outdated list. Further messages get a 421, so the sending servers retry them later.
pub const INBOUND_MESSAGES_PER_MINUTE_MAX: usize = 600;
/// The number of client addresses whose messages are counted at the same time. Above this number, addresses whose minute has passed are
/// dropped. This many addresses take about a megabyte.
pub const INBOUND_ADDRESSES_KNOWN_MAX: usize = 10_000;
/// The maximum number of messages per connection, because other clients may be waiting for a connection. After that, the client must
/// reconnect.
pub const INBOUND_MESSAGES_PER_SESSION_MAX: usize = 500;
/// The maximum number of failed commands in one connection. A mail server causes two at most; an attacker who guesses addresses causes
/// hundreds. At the limit, the connection is closed.
pub const INBOUND_ERRORS_MAX: usize = 10;
/// The maximum number of recipients of an incoming message. Messages to Mailmill have one recipient each; further recipients are refused.
pub const INBOUND_RECIPIENTS_PER_MESSAGE_MAX: usize = 20;
/// The maximum size of a path in a command. RFC 5321 limits a path to 256 bytes, but its longest local part and longest domain add up to
/// 320 bytes. Longer paths are rejected.
pub const INBOUND_ADDRESS_BYTES_MAX: usize = 320;
/// The maximum size of a command line. RFC 5321 limits a command line to 512 bytes, and extensions raise this limit. A longer line
/// ends the connection.
pub const INBOUND_LINE_BYTES_MAX: usize = 2_048;
/// The maximum number of bytes that are read of one message. A message that is too large is discarded but read up to this limit, so that
/// its sender gets the reply. Beyond the limit, the connection is closed.
pub const INBOUND_READ_BYTES_MAX: usize = 3 * INBOUND_BYTES_MAX;
/// The size up to which a message does not count toward [`INBOUND_MEMORY_BYTES_MAX`]. The bounces of nearly all servers are smaller. On all
/// connections together, the uncounted parts of the messages take at most 32 MiB.
pub const INBOUND_SMALL_BYTES: usize = 128 * 1024;
/// The memory for the parts of messages beyond [`INBOUND_SMALL_BYTES`] while they are received: three messages of the maximum size.
pub const INBOUND_MEMORY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The unit in which [`INBOUND_MEMORY_BYTES_MAX`] is counted. Nearly all bounces are at most [`INBOUND_SMALL_BYTES`] in size, so they do
/// not use any of this memory.
pub const INBOUND_MEMORY_UNIT_BYTES: usize = 64 * 1024;
/// The maximum number of messages processed at a time. Each message is one transaction, and transactions share commits; other messages
/// wait.
pub const INBOUND_AT_ONCE: usize = 8;
/// The time limit for processing one message, including the wait. Storing a message takes milliseconds; after the limit, the sender is
/// asked to try again later.
pub const INBOUND_HANDLER_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// The time limit for one command. RFC 5321 asks for five minutes, but a busy server needs its connections back.
pub const INBOUND_COMMAND_TIME: std::time::Duration = std::time::Duration::from_secs(120);
/// The base time for receiving one message, which allows for pauses. Each byte of the message adds to this time, at the rate
/// [`INBOUND_BYTES_PER_SECOND_MIN`].
pub const INBOUND_MESSAGE_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// The minimum rate at which a message must arrive. A slower message only occupies a connection; the slowest real servers are many times
/// faster.
pub const INBOUND_BYTES_PER_SECOND_MIN: u64 = 1024;
/// The time limit between two chunks of a message. RFC 5321 asks for three minutes, but a busy server needs its memory back.
pub const INBOUND_CHUNK_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// The time limit for a TLS handshake, which takes two round trips, or a few seconds on the slowest lines.
pub const INBOUND_HANDSHAKE_TIME: std::time::Duration = std::time::Duration::from_secs(20);
/// The time limit for one connection. Senders send hundreds of messages over one connection, then open another.
pub const INBOUND_SESSION_TIME: std::time::Duration = std::time::Duration::from_secs(30 * 60);

// --- Webhooks ---

/// The maximum number of webhooks in an account. Users cannot keep track of more, and each event of the account is checked against every
/// webhook. Further webhooks are rejected.
pub const WEBHOOKS_MAX: usize = 200;
/// The size of a webhook's secret. Standard Webhooks asks for 24 to 64 random bytes.
pub const WEBHOOK_SECRET_BYTES: usize = 32;
/// The maximum number of custom headers per webhook: enough for credentials, a tenant and a route, with room to spare. More headers
/// are rejected.
pub const WEBHOOK_HEADERS_MAX: usize = 20;
/// The maximum size of a custom header's name. The longest registered name has 44 characters. Names above the limit are rejected.
pub const WEBHOOK_HEADER_NAME_BYTES_MAX: usize = 100;
/// The maximum size of a custom header's value: the longest tokens in use fit, and some servers reject heads beyond 8 KB. Longer values are
/// rejected.
pub const WEBHOOK_HEADER_VALUE_BYTES_MAX: usize = 4_096;
/// The maximum size of all custom headers together. Common servers accept heads of 8 to 16 KB, and Mailmill's own headers take less
/// than 1 KB. Larger headers are rejected.
pub const WEBHOOK_HEADERS_BYTES_MAX: usize = 8_000;
/// The maximum number of attempts of a delivery. With the default pauses, three attempts cover the restart of an endpoint. After the last
/// attempt, the delivery has failed, and users can repeat it.
pub const WEBHOOK_ATTEMPTS_MAX: usize = 3;
/// The time limit for one attempt. Endpoints that only store an event respond in milliseconds; ten seconds also cover a slow start. After
/// the limit, the attempt has failed.
pub const WEBHOOK_ATTEMPT_TIME: std::time::Duration = std::time::Duration::from_secs(10);
/// The time after which an attempt without a recorded result counts as lost: twice its time limit. A process still working on the
/// attempt would have recorded the result by then.
pub const WEBHOOK_ATTEMPT_LOST_MS: i64 = 20_000;
/// The number of bytes of a response body that are read before the connection is closed: more than the part of the body that is stored.
pub const WEBHOOK_RESPONSE_BYTES_READ: usize = 16 * 1024;
/// The maximum number of raw bytes of a response, including its head and the framing of the body. More bytes add no useful information.
pub const WEBHOOK_ANSWER_BYTES_MAX: usize = 256 * 1024;
/// The number of characters of a response body that are stored: an error message, or the start of a page.
pub const WEBHOOK_RESPONSE_CHARACTERS_KEPT: usize = 1_000;
/// The pause, in milliseconds, before an attempt is repeated that could not be sent for lack of file descriptors. By then, other requests
/// have ended.
pub const WEBHOOK_NOT_SENT_PAUSE_MS: i64 = 5_000;
/// The maximum pause that an endpoint can request, so that an incorrect header does not stop its deliveries for a day.
pub const WEBHOOK_RETRY_AFTER_MAX_MS: i64 = 15 * 60 * 1000;
/// The maximum pause of deliveries to a failing endpoint, so that its recovery is noticed within the hour.
pub const WEBHOOK_PAUSE_MAX_MS: i64 = 60 * 60 * 1000;
/// The time that the service must run before it repeats attempts that a crash interrupted. A service that crashes repeatedly would
/// otherwise use up all attempts without delivering anything.
pub const WEBHOOK_STEADY_MS: i64 = 5_000;
/// The maximum number of deliveries that wait for one endpoint: an hour of 30 events per second. Later deliveries fail, and users can
/// repeat them.
pub const WEBHOOK_PENDING_MAX: u64 = 100_000;
/// The maximum number of times that one event can be redelivered to one webhook. A client that requests more is probably in a loop; further
/// redeliveries are rejected.
pub const WEBHOOK_REPEATS_MAX: usize = 50;
/// The maximum number of deliveries that are searched for one page of a list filtered by status. The search takes well under a second.
/// Older deliveries are not found.
pub const WEBHOOK_DELIVERIES_SCANNED_MAX: usize = 20_000;
/// The number of events matched with webhooks in one transaction. The transaction occupies the writer for a few milliseconds.
pub const WEBHOOK_EVENTS_PER_STEP: usize = 256;
/// The maximum number of deliveries created in one transaction. The transaction takes tens of milliseconds. The next transaction creates
/// the remaining deliveries.
pub const WEBHOOK_DELIVERIES_PER_STEP: u64 = 2_000;
/// The number of endpoints with waiting deliveries that one poll reads. A poll takes a few milliseconds. The next poll continues after
/// these endpoints.
pub const WEBHOOK_LANES_PER_POLL: usize = 1_000;
/// The maximum number of endpoints whose health is remembered. They take a few megabytes. Above the limit, endpoints without attempts in
/// progress are dropped.
pub const WEBHOOK_LANES_MAX: usize = 10_000;
/// The number of parallel attempts for an endpoint whose speed is not known yet. With two, one slow attempt does not stop the others.
pub const WEBHOOK_WINDOW_FIRST: usize = 2;
/// The response time below which an endpoint is considered fast and receives more parallel attempts. A receiver that only queues its events
/// is faster than this.
pub const WEBHOOK_QUICK_TIME: std::time::Duration = std::time::Duration::from_secs(1);
/// The maximum number of attempts started in one transaction: twice the default number of connections.
pub const WEBHOOK_BEGINS_PER_COMMIT: usize = 512;
/// The maximum number of attempt results stored in one transaction: twice the default number of connections.
pub const WEBHOOK_ENDS_PER_COMMIT: usize = 512;
/// The default number of hours for which requests are also signed with the previous secret after a rotation: users have a day to update the
/// receiver.
pub const WEBHOOK_GRACE_HOURS_DEFAULT: u64 = 24;
/// The maximum number of hours for which requests are also signed with the previous secret after a rotation: a week. A replaced secret
/// should not be used for long; larger numbers are rejected.
pub const WEBHOOK_GRACE_HOURS_MAX: u64 = 168;
/// The number of days in delivery statistics: as many as charts show.
pub const WEBHOOK_STATS_DAYS: u32 = 30;
/// How long webhook events are stored, for delivery and redelivery: longer than the retries of a delivery take, and short enough to bound
/// the table.
pub const OUTBOX_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;

// --- Events of mail services ---

/// The maximum number of mail services that report to an account. A company sends through two or three; further mail services are
/// rejected.
pub const MAIL_FEEDBACK_MAX: usize = 20;
/// The size of the secret in URLs to which other services send requests, in bytes: 160 bits are too many to guess.
pub const URL_TOKEN_BYTES: usize = 20;
/// The maximum size of a request from a mail service that sends many events at once, or that includes the bounce message. The largest
/// batches seen are smaller than 1 MB; larger requests are rejected.
pub const MAIL_FEEDBACK_BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The maximum size of one request from a mail service that sends one event without the message. An event takes a few kilobytes;
/// larger requests are rejected.
pub const MAIL_FEEDBACK_EVENT_BYTES_MAX: usize = 256 * 1024;
/// The maximum number of events in one request. The largest documented batch has 1,000 events; larger requests are rejected.
pub const MAIL_FEEDBACK_EVENTS_MAX: usize = 5_000;
/// The maximum age of a signed request. Services repeat a request for up to a day, some with the original time in the signature.
pub const MAIL_FEEDBACK_AGE_MAX_MS: i64 = 24 * 60 * 60 * 1000;
/// The maximum age of a request from a service that signs each attempt with the current time (Standard Webhooks recommends five minutes).
/// The clock of any mail service may be ahead of the server's clock by at most the same time.
pub const MAIL_FEEDBACK_CLOCK_MS_MAX: i64 = 5 * 60 * 1000;
/// The number of request IDs that are remembered per mail service. They take about 10 MB. Above the limit, the oldest ID is forgotten. If
/// the request with this ID is repeated, its events still have no second effect.
pub const MAIL_FEEDBACK_REQUESTS_MAX: u64 = 50_000;
/// The maximum length of a mail service's secret. Real secrets have up to 200 characters; longer ones are rejected.
pub const MAIL_FEEDBACK_SECRET_CHARACTERS_MAX: usize = 1_000;
/// The maximum number of Amazon SNS topics from which one webhook accepts notifications: a topic for each kind of event, with room to
/// spare. Longer lists are rejected.
pub const SNS_TOPICS_MAX: usize = 10;
/// The maximum length of an SNS topic's ARN. The topic's name alone has up to 256 characters. Longer ARNs are rejected.
pub const SNS_TOPIC_CHARACTERS_MAX: usize = 350;
/// The maximum size of Amazon SNS's signing certificate, and of its response to a confirmation. Each is about 2 KB in size; larger
/// responses are rejected.
pub const SNS_RESPONSE_BYTES_MAX: usize = 16 * 1024;
/// The time limit for requests to Amazon SNS, which itself waits fifteen seconds for the response to a notification.
pub const SNS_TIME: std::time::Duration = std::time::Duration::from_secs(8);

// --- Incoming webhooks ---

/// The maximum number of incoming webhooks of an account: one for each form and automation. Further incoming webhooks are rejected.
pub const HOOKS_MAX: usize = 200;
/// The maximum length of an incoming webhook's name, which is shown on one line of a table. Longer names are rejected.
pub const HOOK_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum number of fields in the mapping of an incoming webhook: the maximum number of a contact's custom fields. Larger mappings are
/// rejected.
pub const HOOK_FIELDS_MAX: usize = 100;
/// The maximum length of a path or of a custom field's name in a mapping: a path through ten objects fits. Longer ones are rejected.
pub const HOOK_PATH_CHARACTERS_MAX: usize = 200;
/// The maximum number of tags that an incoming webhook adds to a contact. Few forms need more than one or two. Longer lists are rejected.
pub const HOOK_TAGS_MAX: usize = 20;
/// The maximum size of a request to an incoming webhook. One contact or event takes a few kilobytes; larger requests are rejected.
pub const HOOK_BODY_BYTES_MAX: usize = 256 * 1024;
/// The maximum length of a signature secret. The longest known secrets have 64 characters.
pub const HOOK_SECRET_BYTES_MAX: usize = 500;
/// The maximum number of requests to an incoming webhook in a minute: 2,500 a second on average, in bursts of any size. A shop or a form
/// service that sends its backlog reaches 2,000 a second; the limit is higher, so that it only stops floods of requests to a leaked URL,
/// which would delay the writes of other webhooks. Requests are counted before their bodies are read.
pub const HOOK_REQUESTS_PER_MINUTE: u32 = 150_000;
/// The maximum number of requests with an invalid signature that are recorded per minute for an incoming webhook: enough for a wrong secret
/// to be noticed. Further such requests are rejected without a write, so that forged requests cost little more than their signature checks.
pub const HOOK_FORGERIES_RECORDED_PER_MINUTE: u32 = 600;
/// The number of an incoming webhook's deliveries that are stored. Older deliveries are deleted.
pub const HOOK_DELIVERIES_KEPT: usize = 50;

// --- Scheduled imports ---

/// The maximum number of scheduled imports of an account. Each fetches a file or reads from a platform up to once an hour. Further
/// scheduled imports are rejected.
pub const SCHEDULED_IMPORTS_MAX: usize = 50;
/// The maximum length of a scheduled import's name, which is shown on one line of a table. Longer names are rejected.
pub const SCHEDULED_IMPORT_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum number of hours between two runs of a scheduled import: 30 days.
pub const SCHEDULED_IMPORT_HOURS_MAX: u64 = 30 * 24;
/// The maximum size of a scheduled import's file: half a million small rows. Larger files can be uploaded instead.
pub const SCHEDULED_IMPORT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// The maximum number of files that are fetched at the same time in an environment. A few megabytes of each are in memory.
pub const SCHEDULED_IMPORTS_AT_ONCE: usize = 4;
/// The maximum time for fetching a file, including redirects: 32 MiB over a slow line. A longer time would delay other files.
pub const SCHEDULED_IMPORT_FETCH_TIME: std::time::Duration = std::time::Duration::from_secs(300);
/// The maximum time to wait for the head of the response: some servers generate the file before they respond.
pub const SCHEDULED_IMPORT_HEAD_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// The pause between two checks of whether the import of a fetched file has ended, in milliseconds. Most imports take a few seconds.
pub const SCHEDULED_IMPORT_POLL_MS: i64 = 5_000;
/// The pause after the first failed run, in milliseconds. It doubles with each consecutive failure, up to the time between two runs.
pub const SCHEDULED_IMPORT_RETRY_MS: i64 = 5 * 60 * 1000;
/// The number of consecutive failed runs after which a scheduled import is paused: after six hours if runs are hourly, and after two days
/// if they are daily.
pub const SCHEDULED_IMPORT_FAILURES_MAX: u32 = 10;
/// The number of problems that a run's result shows. Contact imports also store a list of up to [`BULK_ERRORS_SHOWN_MAX`] problems.
pub const SCHEDULED_IMPORT_PROBLEMS_MAX: usize = 20;
/// The overlap between the changes that two consecutive runs read from a platform, in milliseconds. It must be longer than the platform's
/// search takes to find a new change.
pub const SCHEDULED_IMPORT_OVERLAP_MS: i64 = 15 * 60 * 1000;
/// The maximum number of fields in the mapping of a scheduled import: the maximum number of a contact's custom fields. Larger mappings are
/// rejected.
pub const SCHEDULED_IMPORT_FIELDS_MAX: usize = 100;
/// The maximum length of a mapped column's header: a question in a form, which is a sentence or two. Longer headers are rejected.
pub const SCHEDULED_IMPORT_HEADER_CHARACTERS_MAX: usize = 200;
/// The maximum length of the version (ETag) that a server states for a file. A longer one is ignored, so the whole file is fetched
/// again.
pub const FETCH_VERSION_BYTES_MAX: usize = 512;

// --- Customer events ---

/// The maximum number of events in a batch: one transaction with at most 8 MB of properties. Larger batches are rejected.
pub const EVENTS_PER_BATCH_MAX: usize = 500;
/// The maximum size of an event's properties, as JSON in the form that was sent: an order with a hundred items fits. Larger properties are
/// rejected.
pub const EVENT_PROPERTIES_BYTES_MAX: usize = 16 * 1024;
/// The maximum number of top-level properties of an event. Systems that report events send about ten. More properties are rejected.
pub const EVENT_PROPERTIES_KEYS_MAX: usize = 50;
/// The maximum nesting depth of an event's properties. An order needs four levels: the properties, the list of items, an item, and the list
/// of its options. Deeper properties are rejected.
pub const EVENT_PROPERTIES_LEVELS_MAX: usize = 4;
/// The maximum length of an event's name. Names like `purchase.completed` are chosen from a list that shows each name on one line. Longer
/// names are rejected.
pub const EVENT_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum number of event names in a project. For each name, sets of contacts are stored for filters; a project with more names has
/// put data into event names. Further names are rejected.
pub const EVENT_NAMES_PER_PROJECT_MAX: u64 = 1_000;
/// The maximum length of an external ID. Shop IDs have up to about sixty characters, and some shops use URLs as IDs. Longer IDs are
/// rejected.
pub const EVENT_EXTERNAL_ID_CHARACTERS_MAX: usize = 255;
/// The maximum length of a dedupe key, which is composed of external IDs. Longer keys are rejected.
pub const EVENT_DEDUPE_KEY_CHARACTERS_MAX: usize = 255;
/// The number of days for which the API keeps raw events. Older events are not accepted.
pub const EVENT_KEPT_DAYS: u32 = 90;
/// How far ahead of the service's clock an event's time may be. Server clocks differ by seconds, and the clocks of cash registers by
/// minutes. Later events are rejected.
pub const EVENT_AHEAD_MS: i64 = 5 * 60 * 1000;
/// The maximum number of old events deleted in one transaction. The transaction occupies the writer for a few milliseconds.
pub const EVENTS_FORGOTTEN_PER_STEP: usize = 1_000;
/// The maximum number of days whose sets of contacts are deleted in one transaction together with old events; days are counted separately
/// for each event name. For each day, there are up to 25 sets: one for the day, and one for each hour.
pub const EVENT_DAYS_FORGOTTEN_PER_STEP: usize = 50;
/// The maximum number of a project's events that wait to be indexed. At the highest rate, this many arrive within a few seconds, and
/// each query searches all of them. Further events are indexed immediately.
pub const EVENTS_WAITING_MAX: u64 = 100_000;
/// The number of events indexed in one transaction: enough that the events share database pages, few enough that the transaction takes only
/// a tenth of a second.
pub const EVENTS_MERGED_PER_STEP: usize = 16_384;
/// The minimum number of new event keys in one request for which the keys are stored together as a run. Fewer keys are indexed immediately,
/// because each lookup searches every run.
pub const EVENT_KEY_RUN_MIN: usize = 64;
/// How long after a click an order is still credited to the click: five days.
pub const CONVERSION_WINDOW_MS: i64 = 5 * 24 * 60 * 60 * 1000;
/// The number of clicks by non-contacts that one step deletes. A step occupies the writer for a few milliseconds.
pub const NONCONTACT_CLICKS_DELETED_PER_STEP: usize = 1_000;
/// The maximum number of payments and refunds of one order. Each payment or refund is compared with all others; most orders have two, long
/// subscriptions a few dozen. Further payments and refunds are rejected.
pub const ORDER_FACTS_MAX: usize = 100;
/// The number of contacts whose orders one step re-attributes. A contact can have hundreds of orders, and other writes wait for the
/// step.
pub const CLICK_CHANGES_PER_STEP: usize = 200;
/// The number of orders that one step re-attributes. A step occupies the writer for a few milliseconds.
pub const CLICK_CHANGE_ORDERS_PER_STEP: usize = 200;

// --- Validation of emails ---

/// The maximum number of URLs in an email that are reported. Long newsletters have two hundred; further URLs are only counted.
pub const LINKS_INSPECTED_MAX: usize = 2_000;
/// The maximum number of places listed for one finding: enough to repair a template whose parts repeat. Further places are only counted.
pub const PLACES_PER_FINDING_MAX: usize = 20;
/// The maximum number of an email's different URLs that the link check requests. Links to further URLs are reported as skipped.
pub const LINKS_CHECKED_MAX: usize = 200;
/// The maximum number of links that are checked at the same time, in the whole process. Each takes a connection and a few kilobytes.
pub const LINK_CHECKS_AT_ONCE: usize = 16;
/// The maximum number of links to the same registrable domain that are checked at the same time, so that its server is not overloaded.
pub const LINK_CHECKS_PER_DOMAIN: usize = 2;
/// The maximum number of redirects that the check of a link follows. Links in emails pass through two or three trackers; browsers stop at
/// 20.
pub const LINK_REDIRECTS_MAX: usize = 5;
/// The time limit for checking one link, including redirects and a second attempt. Readers do not wait longer.
pub const LINK_CHECK_TIME: std::time::Duration = std::time::Duration::from_secs(10);
/// The minimum time limit that a caller can set for a link. With a shorter limit, even working sites seem unreachable.
pub const LINK_CHECK_MS_MIN: u64 = 1_000;
/// The maximum time limit that a caller can set for a link, which is [`LINK_CHECK_TIME`].
pub const LINK_CHECK_MS_MAX: u64 = 10_000;
/// The time limit for checking all links in an email. If the request's own time limit ends earlier, the check ends with it.
pub const LINKS_CHECK_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// The part of a request's time limit that a validation reserves for its response. Encoding a long report takes milliseconds.
pub const VALIDATION_RESPONSE_TIME: std::time::Duration = std::time::Duration::from_secs(4);
/// How long the result for a URL is cached. A user who fixes an email and checks it again after a minute gets new results.
pub const LINK_RESULTS_MS: i64 = 60 * 1000;
/// The maximum number of URLs whose results are cached. They take about two megabytes. Above the limit, the oldest result is dropped.
pub const LINK_RESULTS_MAX: usize = 4_000;
/// The maximum length of a link that the link check accepts. Some clients and mail scanners truncate longer URLs.
pub const LINK_CHARACTERS_MAX: usize = 2_000;
/// The time after which an unused dictionary is released. Loading a dictionary takes up to a quarter of a second, and a loaded dictionary
/// uses up to 30 MB.
pub const DICTIONARY_IDLE_MINUTES: u32 = 5;
/// The time limit for the DNS lookups of one email. Without a response, the records are reported as not checked.
pub const VALIDATION_DNS_TIME: std::time::Duration = std::time::Duration::from_secs(3);
/// The time limit for the spelling check of one email. After that, the report states that spelling was not checked.
pub const SPELLING_TIME: std::time::Duration = std::time::Duration::from_secs(10);
/// The time limit for the additional spelling checkers, a LanguageTool server and a language model, which run in parallel with the
/// rules. Later findings are omitted.
pub const SPELLING_PEER_TIME: std::time::Duration = std::time::Duration::from_secs(8);
/// The maximum size of a LanguageTool server's response. A response with 500 findings is about 1 MB in size.
pub const LANGUAGE_TOOL_ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The time limit for the content check of one email. The check takes a few milliseconds. After the limit, the report states that the
/// content was not checked.
pub const DELIVERABILITY_TIME: std::time::Duration = std::time::Duration::from_secs(5);
/// The maximum number of clients or languages in one request. There are about fifty clients; longer lists are rejected.
pub const VALIDATION_CHOICES_MAX: usize = 100;
/// The maximum number of products whose names the spelling check accepts. Each word of the email is compared with them.
pub const SPELLING_PRODUCTS_MAX: usize = 500;
/// The number of bytes of a brand's text in which the spelling check counts words, because it accepts words that the text repeats. Counting
/// takes a few milliseconds.
pub const SPELLING_VOCABULARY_BYTES_MAX: usize = 512 * 1024;
/// The time limit for the background checks of one email. Most sites respond within a second; slower links can be checked again.
pub const EMAIL_CHECK_TIME: std::time::Duration = std::time::Duration::from_secs(15);
/// The number of emails that are checked at the same time. Most of the time is spent waiting for the servers of links.
pub const EMAIL_CHECKS_AT_ONCE: usize = 4;
/// The number of emails that one step checks, so that a step ends within a few minutes.
pub const EMAIL_CHECKS_PER_STEP: usize = 40;
/// The factor that reduces the score of a check with a critical finding, and the overall score of an email with a critical finding in any
/// check. A score of 90 or more means that an email is ready to send, so no score with a critical finding reaches it. The score is
/// multiplied, not capped, so that each further fix still raises it.
pub const CRITICAL_SCORE_SHARE: f64 = 0.89;
/// The maximum number of findings stored with a version, worst first: about 60 KB of JSON, more than users read.
pub const EMAIL_FINDINGS_MAX: usize = 100;
/// The maximum number of places that are stored for each finding: a few examples show what to correct. Further places are only counted.
pub const EMAIL_FINDING_PLACES_MAX: usize = 5;
/// The maximum number of ignored findings of an email. A version has at most a hundred findings, so users need far fewer.
pub const IGNORED_FINDINGS_MAX: usize = 500;
/// The maximum number of inspected emails that are cached, so that several checks of one email parse it only once.
pub const INSPECTIONS_CACHED_MAX: usize = 32;

// --- Previews of emails on devices ---

/// The maximum number of devices in one preview. There are about fifty devices, and a device that is listed twice is drawn once.
pub const EMAIL_PREVIEW_DEVICES_MAX: usize = 100;
/// The maximum length of a preview's name, which is shown on one line. Longer names are rejected.
pub const EMAIL_PREVIEW_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum length of a preview's subject: longer than email clients show. Longer subjects are rejected.
pub const EMAIL_PREVIEW_SUBJECT_CHARACTERS_MAX: usize = 998;
/// The maximum number of waiting previews per account. Each takes seconds, and the users of other accounts wait too. Further previews
/// are rejected.
pub const EMAIL_PREVIEWS_WAITING_PER_ACCOUNT_MAX: usize = 10;
/// The maximum number of previews that wait in an environment. The last one waits a few minutes; further previews get a 503.
pub const EMAIL_PREVIEWS_WAITING_MAX: usize = 100;
/// The number of previews that are processed at the same time in each environment. With two, the devices of one are drawn while the
/// images of the other are fetched.
pub const EMAIL_PREVIEWS_AT_ONCE: usize = 2;
/// The maximum number of previews that one step of the worker starts. A preview takes seconds. The worker checks for a shutdown between
/// steps.
pub const EMAIL_PREVIEWS_PER_STEP: usize = 20;
/// The number of a preview's devices that are drawn at the same time or wait for a worker process. The limit leaves worker processes
/// free for other requests.
pub const EMAIL_PREVIEW_DRAWINGS_AT_ONCE: usize = 4;
/// The maximum number of times that work on a preview is started. If no attempt finishes, the preview itself may cause the
/// interruptions, so it fails.
pub const EMAIL_PREVIEW_ATTEMPTS_MAX: u8 = 3;
/// How long previews are kept. Users view them while they work on an email; another request draws them again.
pub const EMAIL_PREVIEW_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// The maximum number of previews of an account. A user who works on an email creates dozens in a day. Above the limit, the oldest
/// finished preview is deleted.
pub const EMAIL_PREVIEWS_KEPT_MAX: usize = 200;
/// The maximum total size of the pictures in an account's previews. The pictures of one device take about 200 KB, so this is enough for two
/// thousand devices. Beyond this size, the oldest previews are deleted.
pub const EMAIL_PREVIEW_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// How long a rendering is reused in new previews of the same content. After a day, its images may have changed.
pub const EMAIL_PREVIEW_SHARED_MS: i64 = 24 * 60 * 60 * 1000;
/// The number of expired previews deleted per transaction, so that other writes do not wait long.
pub const EMAIL_PREVIEWS_SWEPT: usize = 20;
/// The height at which the picture of a device is cropped, in CSS pixels: ten screens of a phone, after which the design of an email
/// repeats.
pub const EMAIL_PREVIEW_HEIGHT_PX_MAX: u32 = 8_000;
/// The maximum number of pixels in the picture of a device. A rendering of this size takes less than 64 MiB. Longer emails are rendered
/// with a lower pixel density.
pub const EMAIL_PREVIEW_PIXELS_MAX: u32 = 2_000_000;
/// The width of device thumbnails: a card in a grid on a screen with two pixels per CSS pixel.
pub const EMAIL_PREVIEW_THUMBNAIL_PX: u32 = 320;

// --- Connections ---

/// The maximum number of connections in an account: every brand of a large agency on each platform.
pub const CONNECTIONS_MAX: usize = 200;
/// The maximum length of a platform's API key. The longest keys have about 200 characters.
pub const CONNECTION_KEY_CHARACTERS_MAX: usize = 1_000;
/// The maximum length of a connection's name. Platforms' account names are shorter.
pub const CONNECTION_NAME_CHARACTERS_MAX: usize = 100;
/// The maximum number of sources in one import from a platform, as stated in the API documentation.
pub const PROVIDER_IMPORT_SOURCES_MAX: usize = 25;
/// The maximum number of fields in the mapping of an import from a platform: twice the maximum number of a contact's custom fields, because
/// a mapping also names the fields to omit. Larger mappings are rejected.
pub const PROVIDER_FIELDS_MAPPED_MAX: usize = 200;
/// The maximum length of a field's name in the mapping of an import from a platform, in bytes. Names on platforms are a few words long.
/// Longer names are rejected.
pub const PROVIDER_FIELD_NAME_BYTES_MAX: usize = 200;
/// The maximum number of fields that an import preview shows. Further fields are omitted.
pub const PROVIDER_FIELDS_SHOWN_MAX: usize = 200;
/// The number of characters of a value that an import preview shows. Longer values would not fit into a table cell.
pub const PROVIDER_FIELD_SAMPLE_CHARACTERS: usize = 60;
/// The number of contacts after which an import preview stops reading, because its transaction delays other writes by a fraction of a
/// second.
pub const PROVIDER_PREVIEW_CONTACTS_MAX: usize = 2_000;
/// How long an import preview reads further pages, because a user waits for it.
pub const PROVIDER_PREVIEW_TIME: std::time::Duration = std::time::Duration::from_secs(15);
/// The maximum number of contacts, and of problems, that an import preview shows. These are only a sample; the counts include all contacts
/// and problems.
pub const PROVIDER_PREVIEW_ROWS_MAX: usize = 20;
/// The maximum length of a source's ID, which consists of at most two platform IDs.
pub const PROVIDER_SOURCE_ID_CHARACTERS_MAX: usize = 200;
/// The maximum length of a source's name. Platforms allow at most 255 characters.
pub const PROVIDER_SOURCE_NAME_CHARACTERS_MAX: usize = 300;
/// The maximum number of sources listed for an account. Pages cannot show more, and listing them takes dozens of requests.
pub const PROVIDER_SOURCES_LISTED_MAX: usize = 1_000;
/// The maximum number of requests for one list of sources. Some platforms return only ten sources per request.
pub const PROVIDER_SOURCES_REQUESTS_MAX: usize = 120;
/// The maximum size of a platform's response: a thousand contacts with all of their fields.
pub const PROVIDER_RESPONSE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The maximum number of JSON values in the response of a platform or store: a thousand contacts with 150 fields each. They take a few
/// dozen megabytes at most, no matter how small the response is.
pub const PROVIDER_RESPONSE_VALUES_MAX: usize = 150_000;
/// The maximum size of an error response whose description is read. Descriptions are a few sentences long.
pub const PROVIDER_ERROR_BYTES_MAX: usize = 64 * 1024;
/// The time limit for one request to a platform. The slowest pages take half of this time.
pub const PROVIDER_REQUEST_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// The maximum number of attempts for one request to a platform: enough for a short interruption. After a longer one, the request fails.
pub const PROVIDER_ATTEMPTS_MAX: u32 = 3;
/// The pause before the second attempt of a request to a platform, in milliseconds. It doubles with each attempt.
pub const PROVIDER_RETRY_MS: u64 = 500;
/// The longest pause for which a request to a platform waits, in milliseconds. If the platform requires a longer pause, the work continues
/// later, so that no request stays open.
pub const PROVIDER_WAIT_MS_MAX: u64 = 5_000;
/// The pause after a request exceeds a platform's rate limit, if the platform states no duration, in milliseconds. Most rate limits are per
/// minute or shorter.
pub const PROVIDER_PAUSE_MS: i64 = 60_000;
/// The longest pause that a platform can request, in milliseconds. Daily limits reset within a day.
pub const PROVIDER_PAUSE_MS_MAX: i64 = 24 * 60 * 60 * 1000;
/// The maximum number of imports from platforms that run at the same time in an environment. Each holds a page of contacts in memory.
pub const PROVIDER_IMPORTS_AT_ONCE: usize = 8;
/// The time limit for listing the sources of an account. A list takes up to [`PROVIDER_SOURCES_REQUESTS_MAX`] requests.
pub const PROVIDER_SOURCES_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// The number of contacts that an import from a platform collects for one transaction. Each transaction waits for the disk once.
pub const PROVIDER_IMPORT_STEP_CONTACTS: usize = 5_000;
/// How long an import from a platform collects contacts for one transaction, so that the import's page shows progress.
pub const PROVIDER_IMPORT_STEP_TIME: std::time::Duration = std::time::Duration::from_secs(3);
/// The first pause of an import from a platform after a failure, in milliseconds. It doubles with each consecutive failure, up to
/// [`PROVIDER_IMPORT_RETRY_MS_MAX`].
pub const PROVIDER_IMPORT_RETRY_MS: i64 = 5_000;
/// The maximum pause of an import from a platform after a failure, in milliseconds. An import continues soon after an outage ends.
pub const PROVIDER_IMPORT_RETRY_MS_MAX: i64 = 10 * 60 * 1000;
/// The number of consecutive failures after which an import from a platform fails. The platform has then been down for about four
/// hours.
pub const PROVIDER_IMPORT_FAILURES_MAX: u32 = 30;
/// How long an import from a platform waits for a new key or the end of a rate limit before it fails, in milliseconds.
pub const PROVIDER_IMPORT_RECONNECT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// How long before its expiry a platform's token is refreshed, in milliseconds: longer than an export or a step of an import takes.
pub const PROVIDER_TOKEN_MARGIN_MS: i64 = 5 * 60 * 1000;
/// The time that a user has to sign in to a platform, in milliseconds: enough to find a password and a second factor.
pub const PROVIDER_SIGN_IN_MS: i64 = 10 * 60 * 1000;
/// The maximum length of the code and of the state in a platform's callback. A sealed state has about 600 characters.
pub const PROVIDER_SIGN_IN_CHARACTERS_MAX: usize = 2_000;
/// How long the removal of a connection waits for the platform to revoke the connection's tokens.
pub const PROVIDER_REVOKE_TIME: std::time::Duration = std::time::Duration::from_secs(10);

// --- Exports of emails to platforms ---

/// The time limit for one export to a connected account. The results up to then are stored, and the next export continues from there.
pub const PROVIDER_EXPORT_TIME: std::time::Duration = std::time::Duration::from_secs(120);
/// The maximum number of images of an email that an export uploads. Klaviyo accepts 100 images per day.
pub const PROVIDER_EXPORT_IMAGES_MAX: usize = 50;
/// The maximum size of an image that an export uploads: the lowest of the platforms' limits.
pub const PROVIDER_EXPORT_IMAGE_BYTES_MAX: usize = 5_000_000;
/// The maximum number of pages that an export searches for a draft by name: a thousand drafts, enough for those of the last day.
pub const PROVIDER_EXPORT_PAGES_MAX: usize = 10;
/// How far back, in milliseconds, an export searches for objects that an interrupted attempt may have created. The time allows for
/// differences between the clocks.
pub const PROVIDER_EXPORT_CLOCK_MS: i64 = 24 * 60 * 60 * 1000;
/// The maximum length of the subject in the name of an exported template. Mailchimp shows 100 characters of a name.
pub const EXPORT_NAME_CHARACTERS_MAX: usize = 80;
/// The maximum number of pieces of text, and of images, that an export makes editable. Emails have a few dozen of each.
pub const EXPORT_REGIONS_MAX: usize = 200;
/// The maximum number of earlier exports of an email that are listed: enough for several accounts on each platform.
pub const EARLIER_EXPORTS_MAX: usize = 50;

// --- Stores ---

/// The maximum number of connected stores in an account: one for every brand of a large agency.
pub const STORES_MAX: usize = 200;
/// The maximum number of disconnected stores in an account that are kept for their platforms' privacy requests: as many as can be
/// connected. Above the limit, the store that was disconnected first is deleted.
pub const STORES_DISCONNECTED_MAX: usize = STORES_MAX;
/// How long a disconnected store is kept for its platform's privacy requests, in milliseconds: 200 days. Shopify requests the erasure of a
/// store two days after the app is removed, and the erasure of a customer up to six months after the customer asked.
pub const STORE_DISCONNECTED_KEPT_MS: i64 = 200 * 24 * 60 * 60 * 1000;
/// The maximum length of the URL of a store. Stores are at the root of a site or in one of its folders.
pub const STORE_URL_CHARACTERS_MAX: usize = 300;
/// The maximum length of the query with which Shopify redirects a user back. Longer queries are rejected.
pub const STORE_INSTALL_QUERY_BYTES_MAX: usize = 4_000;
/// The maximum number of a product's collections that are stored. Users choose products by collection.
pub const STORE_COLLECTIONS_PER_PRODUCT_MAX: usize = 20;
/// The maximum size of a store's response: a hundred products with 40 KB of text each. Larger responses are rejected, because the user
/// chooses the server and its responses could have any size.
pub const STORE_RESPONSE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The maximum size of a webhook request from a store: enough for an order with thousands of lines.
pub const STORE_WEBHOOK_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The maximum number of webhook requests whose IDs are remembered for a store. A repeat of an older request is recognized by the IDs of
/// its orders, refunds and products, so it has no second effect.
pub const STORE_DELIVERIES_MAX: u64 = 50_000;
/// How long the ID of a webhook request is remembered, in milliseconds. Platforms repeat a request for at most five days.
pub const STORE_DELIVERIES_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// The maximum number of a store's events that wait for their orders. Events wait only if refunds arrive before their orders.
pub const STORE_WAITING_EVENTS_MAX: usize = 1_000;
/// The maximum number of customers' data requests that are stored per store. Few shops get more than one a day. Further requests are
/// dropped.
pub const STORE_DATA_REQUESTS_MAX: usize = 500;
/// The maximum number of stores whose imports run at the same time in an environment. Each holds a page in memory.
pub const STORE_SYNCS_AT_ONCE: usize = 4;
/// The pause between two complete imports from a store, in milliseconds: a day. The imports find changes whose webhooks were lost.
pub const STORE_SYNC_PERIOD_MS: i64 = 24 * 60 * 60 * 1000;
/// How long changed collections wait for more changes before the products are read again, in milliseconds. Shop owners change several
/// collections in a row.
pub const STORE_SYNC_SOON_MS: i64 = 60_000;
/// The pause between two polls of a store's export, in milliseconds. Small exports take a few seconds.
pub const STORE_EXPORT_POLL_MS: i64 = 2_000;
/// How long an export of a store can take before it is started again, in milliseconds. Exports of large stores take less, so a longer one
/// has probably been lost.
pub const STORE_EXPORT_MS_MAX: i64 = 6 * 60 * 60 * 1000;
/// The time limit for downloading a store's export.
pub const STORE_DOWNLOAD_TIME: std::time::Duration = std::time::Duration::from_secs(300);
/// The maximum size of a store's export, in bytes: a million customers.
pub const STORE_DOWNLOAD_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// The maximum size of a line in a store's export. A product's description takes at most 512 KB.
pub const STORE_LINE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The number of customers that are imported in one transaction, as for other platforms: each transaction waits for the disk once.
pub const STORE_CUSTOMERS_PER_STEP: usize = 5_000;
/// The number of contacts that are erased in one transaction after a store is deleted on its platform. Erasing a contact deletes many rows,
/// and other writes wait for the transaction.
pub const STORE_CONTACTS_ERASED_PER_STEP: usize = 200;
/// The maximum number of rows about contacts that are deleted together with the store that they belong to. The remaining rows have no
/// effect, because store IDs are not reused.
pub const STORE_CONTACTS_FORGOTTEN_MAX: usize = 100_000;

// --- The doctor ---

/// The free disk space below which the doctor reports a problem: the service is about to stop accepting writes.
pub const DOCTOR_DISK_FREE_BYTES_MIN: u64 = 512 * 1024 * 1024;
/// The free disk space below which the doctor warns: enough for an import of a million contacts, a backup on the same disk, and some
/// time to notice the shortage.
pub const DOCTOR_DISK_FREE_BYTES_WANTED: u64 = 4 * 1024 * 1024 * 1024;
/// The maximum number of domains that the doctor checks. Each check costs several DNS queries, so more would take minutes; further domains
/// are not checked.
pub const DOCTOR_DOMAINS_MAX: usize = 50;

// --- The MCP server ---

/// The maximum size of a request to the MCP server. The largest requests are bulk writes of contacts; larger ones must use the HTTP API.
pub const TOOL_REQUEST_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The maximum size of the data in a tool's result: about 20,000 tokens, which is a tenth of what models can read at once.
pub const TOOL_RESULT_BYTES_MAX: usize = 80 * 1024;
/// The maximum length of a string in a tool's result. Few strings are longer; an email's HTML and its document can be.
pub const TOOL_TEXT_BYTES_MAX: usize = 8 * 1024;
/// The number of items in a list that a tool returns if the agent sets no limit. They take a few thousand tokens, which leaves the model
/// room for its task.
pub const TOOL_PAGE_LIMIT: u64 = 25;
/// The maximum size of an MCP resource: enough for the HTML and the screenshots of nearly all emails.
pub const TOOL_RESOURCE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The maximum length of an argument in a guided prompt. Users describe a goal in a few sentences, about a tenth of this length.
pub const TOOL_PROMPT_BYTES_MAX: usize = 2_000;
/// The maximum total length of the arguments that the confirmation question shows. Dialogs show about as much without scrolling.
pub const TOOL_QUESTION_BYTES_MAX: usize = 1_000;
/// The time that the user has to answer the confirmation question. Users who are away must not block the assistant forever.
pub const TOOL_QUESTION_TIME: std::time::Duration = std::time::Duration::from_secs(5 * 60);
/// How long a tool waits for the work that it started. Nearly all work ends within minutes, and agents can read its status later.
pub const TOOL_WAIT: std::time::Duration = std::time::Duration::from_secs(10 * 60);
/// The maximum number of open sessions of the MCP server. Each session has a task and a few buffers.
pub const TOOL_SESSIONS_MAX: usize = 1_000;
/// The maximum number of open sessions of one key: agents open several at a time, and rarely close them.
pub const TOOL_SESSIONS_PER_KEY_MAX: usize = 32;
/// How long a session without messages stays open. Clients open a new session when theirs has ended.
pub const TOOL_SESSION_IDLE: std::time::Duration = std::time::Duration::from_secs(30 * 60);
/// The maximum number of messages that `mailmill mcp` forwards at the same time, more than agents send.
pub const STDIO_MESSAGES_MAX: usize = 64;
/// The maximum size of a message that `mailmill mcp` receives, enough for a resource in Base64.
pub const STDIO_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

// --- The system ---

/// The number of log lines kept in memory for the System page. On a service that logs problems, these lines cover the last minutes.
pub const LOG_LINES_KEPT: usize = 200;
/// The maximum length of a log line kept in memory. With [`LOG_LINES_KEPT`] lines, this takes a few hundred kilobytes at most.
pub const LOG_LINE_CHARACTERS_MAX: usize = 500;
/// The maximum number of open contact jobs that the system status counts. Above the limit, the exact number does not matter, and
/// counting costs time.
pub const OPEN_JOBS_COUNTED: usize = 100;
/// The maximum number of objects of one kind, such as campaigns or sends, that the page about a sending hold counts, and that a worker
/// skips to find newer work. Each count reads a few rows, so the page takes less than a second. If there are more, the page says that there
/// are at least this many.
pub const HELD_SCANNED_MAX: usize = 10_000;
/// The maximum number of campaigns, and of other objects, that the hold page lists by name. Users do not read a longer list; the rest is
/// only counted.
pub const HELD_LISTED_MAX: usize = 100;

// --- Continuous backup ---

/// The size in bytes at which a part of the commit log or of a snapshot is complete: large enough to compress well and to need few
/// requests, small enough that a few parts fit into memory.
pub const BACKUP_PART_BYTES: usize = 8 * 1024 * 1024;
/// The maximum size of an object in the backup's target. A part has at least one commit, and the largest group of commits has 100,000
/// rows.
pub const BACKUP_OBJECT_BYTES_MAX: usize = 512 * 1024 * 1024;
/// The maximum total size of the commits that wait for the thread that writes them to the spool. Above the limit, commits wait for the
/// disk, as they do for the data file.
pub const BACKUP_QUEUE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The time limit for one request to the backup's target, enough for a large part over a slow connection.
pub const BACKUP_REQUEST_TIME: std::time::Duration = std::time::Duration::from_secs(120);
/// The number of immediate retries of a failed request to the backup's target. If they fail too, the next step of the backup retries the
/// request.
pub const BACKUP_REQUEST_RETRIES: usize = 2;
/// The maximum number of seconds between two heartbeats of the server that writes to the backup's target, short enough that a takeover
/// after a crash takes only a minute.
pub const BACKUP_HEARTBEAT_SECONDS: u64 = 15;
/// The number of missing heartbeats after which another server takes over the backup's target. A slow network can lose two.
pub const BACKUP_HEARTBEATS_MISSED: u64 = 4;
/// The maximum number of times that a cluster's leader takes the backup's target back from another server. The former leader can have
/// started a backup before it noticed that it no longer led, and so can the leader before it.
pub const BACKUP_TAKEOVERS_PER_LEAD: u32 = 2;
/// The first pause after a failure of the backup's target. Most failures last less than a second.
pub const BACKUP_RETRY_MIN: std::time::Duration = std::time::Duration::from_secs(1);
/// The longest pause after a failure of the backup's target, so that the end of an outage is noticed within this time.
pub const BACKUP_RETRY_MAX: std::time::Duration = std::time::Duration::from_secs(30);
/// The pause before thinning is repeated after a failure. Thinning lists all objects, so it must not be repeated often.
pub const BACKUP_THINNING_RETRY: std::time::Duration = std::time::Duration::from_secs(600);
/// The maximum number of objects that one listing of the backup's target returns: the log of four weeks at one part per second.
pub const BACKUP_OBJECTS_MAX: usize = 2_500_000;
/// The number of parts that a restore requests at the same time, enough to hide the latency of an object store.
pub const BACKUP_PARTS_AHEAD: usize = 8;
/// The pause before an email about the backup is retried, in milliseconds. A mail server that rejects one email needs time to recover.
pub const BACKUP_MAIL_RETRY_MS: i64 = 10 * 60 * 1000;
/// The pause before a failed restore drill is repeated, in milliseconds. Often the cause is a short outage of the target.
pub const BACKUP_DRILL_RETRY_MS: i64 = 60 * 60 * 1000;
/// The number of attempts to write a part of a snapshot, with doubling pauses, so that an outage of half a minute does not restart a large
/// snapshot.
pub const BACKUP_PART_ATTEMPTS: u32 = 6;

// --- Restores of brands ---

/// How long restored data is kept while a user chooses a brand: long enough to compare several brands, short enough that its disk space is
/// free again soon.
pub const RESTORE_KEPT_MS: i64 = 60 * 60 * 1000;
/// The maximum number of consecutive attempts without progress to restore a brand, enough for a short outage of the backup's target.
pub const RESTORE_ATTEMPTS: u32 = 5;
/// The maximum number of brands listed per environment. Users can select other brands by ID.
pub const RESTORE_BRANDS_SHOWN: usize = 200;
/// The number of contacts that a restore compares at a time, few enough to fit into memory.
pub const RESTORE_CONTACTS_READ: usize = 5_000;
/// The number of contacts that a restore writes per transaction, so that other writes do not wait long.
pub const RESTORE_CONTACTS_PER_WRITE: usize = 500;
/// The number of transactions in one step of a restore. The worker can stop between steps.
pub const RESTORE_WRITES_PER_STEP: usize = 50;
/// The maximum number of notes about objects that a restore left out, more than users read.
pub const RESTORE_NOTES_MAX: usize = 100;

// --- Cluster ---

/// The time limit for connecting to the cluster's database.
pub const CLUSTER_CONNECT_TIME: std::time::Duration = std::time::Duration::from_secs(3);
/// The time limit for a TCP connection to one of several servers of the cluster's database. A statement about the lease may take a third of
/// the lease's duration. Even for the shortest lease, this limit is less than half of that, so that two servers can be tried.
pub const CLUSTER_HOST_CONNECT_TIME: std::time::Duration = std::time::Duration::from_millis(300);
/// The time after which a connection to the cluster's database ends if the database server does not acknowledge packets. It is short enough
/// that another node can lead within ten seconds, and longer than the pauses of a busy network.
pub const CLUSTER_SILENCE_TIME: std::time::Duration = std::time::Duration::from_secs(4);
/// How long other nodes may have continued without lost commits until a node no longer reports the loss: stopping the cluster then would cost
/// more than it saves.
pub const CLUSTER_LOSS_REPORT_TIME: std::time::Duration = std::time::Duration::from_secs(600);
/// How long a node that has found a loss of commits waits until the database has its report, enough for several attempts.
pub const CLUSTER_LOSS_WAIT: std::time::Duration = std::time::Duration::from_secs(10);
/// The time limit for one statement in the cluster's database, enough for a large commit over a slow connection.
pub const CLUSTER_STATEMENT_TIME: std::time::Duration = std::time::Duration::from_secs(20);
/// The maximum number of retries of a statement that the database rolled back because of a conflict. The pauses double, so the retries
/// take more than a second in total.
pub const CLUSTER_CONFLICTS_MAX: u32 = 8;
/// The pause after a failure of the cluster's database. Most failures end within a second.
pub const CLUSTER_RETRY_PAUSE: std::time::Duration = std::time::Duration::from_millis(100);
/// The pause after a read of the log that returned no new records. A follower lags by about this time. A few nodes that read three logs
/// each are a small load for the database.
pub const CLUSTER_POLL_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);
/// The number of records in one read of the log: enough to hide the round trip, few enough that large commits fit into memory.
pub const CLUSTER_RECORDS_PER_READ: usize = 16;
/// The maximum size of a log record, so that a damaged record cannot exhaust the memory. The largest group of commits has 100,000 rows.
pub const CLUSTER_RECORD_BYTES_MAX: usize = 512 * 1024 * 1024;
/// How long a node may run without making its local file durable. After a crash of the machine, the node rereads the changes of this period
/// from the log.
pub const CLUSTER_FLUSH_MS: i64 = 1_000;
/// How long a leader must be idle before it makes its local file durable, so that its next start is fast.
pub const CLUSTER_SETTLE_PAUSE: std::time::Duration = std::time::Duration::from_millis(200);
/// The time between two reads of the lease by a node that does not hold it, so that a handover takes less than a second.
pub const CLUSTER_LEASE_POLL: std::time::Duration = std::time::Duration::from_millis(200);
/// The time between the leader's checks of its lease. It is less than [`CLUSTER_LEASE_MARGIN_MS`], the time before the end of the lease at
/// which the leader must stop, so that a check falls within this margin.
pub const CLUSTER_LEASE_TICK: std::time::Duration = std::time::Duration::from_millis(50);
/// How long before the end of its lease, by its own monotonic clock, a node stops leading. Clocks drift by far less within a lease of a
/// few seconds.
pub const CLUSTER_LEASE_MARGIN_MS: i64 = 500;
/// The remaining time of a lease above which the lease cannot be right: twice the maximum of `cluster.lease_seconds`. The database's clock
/// was ahead when such a lease was taken, for example because the clock of a promoted standby is behind that of the former primary server.
pub const CLUSTER_LEASE_MS_MAX: i64 = 120_000;
/// How long the cluster must be without a leader before a node with a different secret can start. The usual pause between two leaders is
/// shorter.
pub const CLUSTER_SECRET_IDLE_MS: i64 = 60_000;
/// The difference between a node's clock and the database's clock above which a problem is reported. Synchronized clocks differ by far
/// less; a greater difference makes schedules and times wrong after a change of the leader.
pub const CLUSTER_CLOCK_MS_MAX: i64 = 5_000;
/// The minimum time between two warnings about the same lasting failure in the cluster, so that they do not fill the log.
pub const CLUSTER_WARN_PAUSE: std::time::Duration = std::time::Duration::from_secs(10);
/// The size in bytes of a part of a snapshot: large enough to compress well, small enough that a few parts fit into memory.
pub const CLUSTER_PART_BYTES: usize = 4 * 1024 * 1024;
/// The number of parts of a snapshot that are read ahead while the database stores earlier parts, so that disk and database work at the
/// same time.
pub const CLUSTER_PARTS_AHEAD: usize = 2;
/// The minimum size that the log since the last snapshot must have to trigger a new snapshot. A node that reads this much log starts within
/// seconds.
pub const CLUSTER_LOG_BYTES_MIN: u64 = 64 * 1024 * 1024;
/// The number of commits since the last snapshot above which a new snapshot is taken, if the log of these commits is larger than a quarter
/// of the last snapshot. A new node applies each of these commits, so more of them would make its start slow.
pub const CLUSTER_LOG_COMMITS_MAX: u64 = 10_000;
/// The maximum age, in milliseconds, of the data from which a follower answers reads. If its data is older, the follower forwards reads
/// too, because users would notice.
pub const CLUSTER_LAG_MS_MAX: i64 = 5_000;
/// How long a follower waits for the client's own write before it forwards a read to the leader. The usual lag is shorter.
pub const CLUSTER_POSITION_TIME: std::time::Duration = std::time::Duration::from_millis(500);
/// The number of change-feed entries that a leader keeps for the search indexes of other nodes. Without these entries, the indexes would
/// have to be rebuilt.
pub const CLUSTER_FEED_KEPT: u64 = 100_000;
/// How long a former leader waits for its workers to stop before it aborts them. The time is short, because another node may already lead.
pub const CLUSTER_WORKER_END_TIME: std::time::Duration = std::time::Duration::from_millis(500);
/// The pause between a follower's attempts to send the visits in its memory to the leader. Such visits arrive during a handover, which
/// rarely takes longer.
pub const CLUSTER_REPORT_PAUSE: std::time::Duration = std::time::Duration::from_secs(1);
/// How long a node with a full disk waits after it has given up its leadership before it can give it up again. If there is no other node,
/// each attempt interrupts writes for twice the time of the lease, so attempts are rare.
pub const CLUSTER_FULL_DISK_PAUSE: std::time::Duration = std::time::Duration::from_secs(600);
/// The time limit for each of the last writes of a node that gives up its lease, and the additional time that a stopping node waits for
/// these writes. Without a limit, an append to the log whose outcome is unknown could take longer.
pub const CLUSTER_RESIGN_TIME: std::time::Duration = std::time::Duration::from_secs(5);
