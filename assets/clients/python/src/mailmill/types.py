# Written by assets/clients/generator from the OpenAPI document. Change the operation's declaration instead.

"""The types of the API: objects have the API's own field names."""

from __future__ import annotations

import typing as _t


class _AcceptedGenerationRequired(_t.TypedDict):
    conversationId: str
    status: _t.Literal["pending"]
    message: str
    """The next step, as a sentence for users."""
    link: str
    """The URL to poll for the status."""


class AcceptedGeneration(_AcceptedGenerationRequired, total=False):
    """An accepted generation request."""
    count: int
    referenceId: str


class AccessibilityAnalysis(_t.TypedDict):
    """The score and the accessibility problems of an email."""
    score: int
    """The score from 0 to 100; 100 if no problem was found, and less than 90 with a critical problem. Resolving
    a problem never lowers the
    score.
    """
    findings: list[AccessibilityFinding]
    """The problems, most severe first."""
    summary: AccessibilitySummary


class AccessibilityFinding(_t.TypedDict):
    """A problem for people with disabilities."""
    rule: str
    """A fixed name for programs, such as `image_alt`."""
    severity: FindingSeverity
    title: str
    message: str
    """What is wrong at the first occurrence."""
    fix: str
    """How to resolve the problem."""
    wcag: str
    """The WCAG 2.2 success criterion that the problem violates."""
    count: int
    """The number of occurrences."""
    occurrences: list[SourcePlace]
    """The first occurrences of the problem in the source."""


class AccessibilitySummary(_t.TypedDict):
    """The number of problems by severity."""
    critical: int
    warnings: int
    info: int


class _AccountPlanRequired(_t.TypedDict):
    plan: str
    """The plan's name in the settings."""
    daily: PlanQuota
    """The quota of emails per UTC day. An email counts once for each recipient; skipped recipients do not count."""
    monthly: PlanQuota
    """The quota of emails per UTC month."""
    requests: list[PlanRequests]
    """The limits on requests, which all keys of the account share."""
    sizes: list[PlanSize]
    """The limits on sizes."""


class AccountPlan(_AccountPlanRequired, total=False):
    """The limits of an account's plan."""
    provider: str
    """The provider that delivers this environment's mail: `inbox` or `smtp`. Absent if neither is configured."""
    recipientsPerSecond: int
    """The maximum number of recipients per second. `null` means that only the transport limits the rate."""


_ActivityConditionWords = _t.TypedDict("_ActivityConditionWords", {"from": "str"}, total=False)


class _ActivityConditionRequired(_t.TypedDict):
    action: ContactAction
    mode: ActivityMode


class ActivityCondition(_ActivityConditionWords, _ActivityConditionRequired, total=False):
    """A condition on what was sent to the contact and what the contact did in response."""
    unit: TimeUnit
    """With `within` and `before`: the unit of `amount`."""
    amount: int
    """With `within` and `before`: the number of units before now, up to ten years."""
    to: str
    """With `between`: the end of the period, exclusive."""
    campaignId: str
    """The campaign that the activity must belong to. If absent, activity of any campaign matches."""


_ActivityConditionInputWords = _t.TypedDict("_ActivityConditionInputWords", {"from": "str | None"}, total=False)


class _ActivityConditionInputRequired(_t.TypedDict):
    action: ContactAction
    mode: ActivityMode


class ActivityConditionInput(_ActivityConditionInputWords, _ActivityConditionInputRequired, total=False):
    """A condition on what was sent to the contact and what the contact did in response."""
    unit: TimeUnit | None
    """With `within` and `before`: the unit of `amount`."""
    amount: int | None
    """With `within` and `before`: the number of units before now, up to ten years."""
    to: str | None
    """With `between`: the end of the period, exclusive."""
    campaignId: str | None
    """The campaign that the activity must belong to. If absent, activity of any campaign matches."""


ActivityMode = _t.Literal["within", "before", "never", "between"]
"""When the activity must have happened."""


AddressValidation = _t.Literal["valid", "invalid", "risky", "unknown"]
"""The result of validating an email address."""


AnyJson = _t.Any


class _AttemptViewRequired(_t.TypedDict):
    id: str
    """The ID of the attempt: the value of `X-Service-Delivery-Id`."""
    startedAt: str


class AttemptView(_AttemptViewRequired, total=False):
    """One attempt of a delivery."""
    endedAt: str
    """When the attempt ended; absent while it is in flight."""
    responseTime: int
    """The duration of the attempt in milliseconds; absent while it is in flight."""
    statusCode: int
    response: str
    """The start of the endpoint's response."""
    error: str


class BatchThrottle(_t.TypedDict):
    throttledAt: str
    expiresAt: str
    """When the batch continues automatically."""
    reason: str
    """Why the batch is waiting: `quota`, `transport` or `deferred`."""
    remainingCount: int
    """The number of recipients whose message is queued, in flight or waiting for a retry."""


_BatchViewRequiredWords = _t.TypedDict("_BatchViewRequiredWords", {"from": "str"})


class _BatchViewRequired(_t.TypedDict):
    batchId: str
    status: str
    """The status: `queued`, `processing`, `paused`, `throttled`, `completed`, `partial`, `cancelled` or
    `failed`.
    """
    recipientType: str
    """The kind of recipients: `audience`, `segment`, `tag` or `email`."""
    provider: str
    """The provider that delivers the mail."""
    totalCount: int
    """The total number of recipients, including skipped ones. It grows until all contacts of the audience have
    been added.
    """
    queuedCount: int
    """The number of recipients whose message is queued, in flight or waiting for a retry."""
    sentCount: int
    failedCount: int
    unknownCount: int
    """The number of recipients whose delivery is unknown, because the service stopped, the connection broke, or
    no valid reply arrived in
    time. The message is sent to them again automatically only if the batch belongs to a campaign whose
    `unknown` field is `resend`.
    """
    skipped: dict[str, int]
    """The number of skipped recipients, by reason."""
    subject: str
    """The subject. If the batch has several languages, the subject in the first language."""
    createdAt: str


class BatchView(_BatchViewRequiredWords, _BatchViewRequired, total=False):
    """A batch, which is a send to an audience, and its progress."""
    recipientId: str
    """The ID of the segment or tag; absent for other kinds of recipients."""
    fromName: str
    updatedAt: str
    error: str
    """Why the batch failed."""
    throttle: BatchThrottle
    """Why and until when the batch is waiting. Absent if it is not waiting."""


class _BrandRequired(_t.TypedDict):
    languages: list[str]
    """The languages of the brand's pages (BCP 47 tags), main language first."""
    logos: list[BrandLogo]
    """Candidates for a logo, best first."""
    palette: BrandPalette
    fonts: BrandFonts
    webFonts: list[BrandWebFont]
    """The font files or style sheets of the families in `fonts`. Emails load them in clients that support web
    fonts.
    """
    products: list[BrandProduct]
    images: list[BrandImage]
    social: list[BrandSocialLink]
    contact: BrandContact
    voice: BrandVoice
    guidelines: BrandGuidelines


class Brand(_BrandRequired, total=False):
    """The facts about a brand, stored separately from its project."""
    name: str
    """The name that the brand uses for itself."""
    tagline: str
    """The slogan of the brand."""
    description: str
    """A description of what the brand does, in one or two sentences."""
    cornerRadius: int
    """The corner radius of buttons and cards, in pixels."""


class BrandContact(_t.TypedDict, total=False):
    """The contact details of a brand, for the legal footer."""
    company: str
    """The legal name of the company, if it differs from the brand's name."""
    address: str
    """The postal address on one line."""
    email: str
    phone: str


class BrandFonts(_t.TypedDict, total=False):
    """The fonts of a brand as CSS font stacks. Each stack ends with fonts that are available in most email
    clients.
    """
    heading: str
    body: str


BrandFormality = _t.Literal["neutral", "casual", "formal"]


class BrandGuidelines(_t.TypedDict, total=False):
    """The rules that users set for a brand's emails."""
    designRules: str
    """Rules for the design and the wording of emails."""
    imageStyle: str
    """Rules for the style of images."""


class _BrandImageRequired(_t.TypedDict):
    url: str
    tags: list[str]
    colors: list[str]
    """The colors that cover most of the image, as `#RRGGBB`."""


class BrandImage(_BrandImageRequired, total=False):
    """An image found on the brand's pages or added by a user."""
    description: str
    """The alternative text from the page, or a description."""
    width: int
    """The measured width of the image in pixels."""
    height: int
    """The measured height of the image in pixels."""


class _BrandLogoRequired(_t.TypedDict):
    url: str
    source: BrandLogoSource
    """Where the logo was found."""
    background: BrandLogoBackground
    """The backgrounds on which the logo is visible."""


class BrandLogo(_BrandLogoRequired, total=False):
    """A candidate for the brand's logo."""
    width: int
    """The measured width in pixels; absent if the logo has not been measured."""
    height: int
    """The measured height in pixels; absent if the logo has not been measured."""


BrandLogoBackground = _t.Literal["light", "dark", "any", "unknown"]


BrandLogoSource = _t.Literal["given", "header", "structuredData", "manifest", "iconLink", "share"]


class _BrandOverridesRequired(_t.TypedDict):
    voice: VoiceOverrides
    palette: BrandPalette
    fonts: BrandFonts


class BrandOverrides(_BrandOverridesRequired, total=False):
    """The values that users set, in the same structure as the input of `projects.update`. An absent value keeps
    the imported value. An empty
    string or list removes the imported value. Colors, fonts, the person, the formality and the corner radius
    cannot be removed.
    """
    name: str
    """The name of the brand in lists and emails."""
    tagline: str
    description: str
    company: str
    """The legal name of the company."""
    address: str
    """The postal address on one line."""
    email: str
    phone: str
    social: list[BrandSocialLink]
    cornerRadius: int
    """The corner radius of buttons and cards, in pixels."""


class BrandPalette(_t.TypedDict, total=False):
    """The colors of a brand by role, as `#RRGGBB`."""
    background: str
    text: str
    primary: str
    """The main brand color."""
    accent: str
    """A second color, for small elements."""
    button: str
    buttonText: str
    """The text color on buttons. An imported color has a WCAG contrast of at least 4.5 with `button`."""


BrandPerson = _t.Literal["we", "i", "third"]


class _BrandProductRequired(_t.TypedDict):
    name: str


class BrandProduct(_BrandProductRequired, total=False):
    url: str
    image: str
    description: str
    price: str
    """The price in major units, such as `19.90`."""
    priceBefore: str
    """The list price of a product on sale, which is higher than `price`."""
    currency: str
    """The currency as an ISO 4217 code."""


class BrandSocialLink(_t.TypedDict):
    network: str
    """The social network as a lowercase word: `instagram`, `facebook`, `x`, `linkedin`, `youtube`, `tiktok`,
    `pinterest`, …
    """
    url: str


class BrandUsage(_t.TypedDict):
    """The usage of one model by one brand."""
    projectId: str
    model: str
    calls: int
    """The number of requests, including requests in progress and requests that a crash interrupted. For these,
    the estimated tokens and
    cost are counted.
    """
    inputTokens: int
    outputTokens: int
    milliseconds: int
    """The total response time of the model in milliseconds."""
    cost: float
    """The cost, in the currency of the configured prices."""


class _BrandVoiceRequired(_t.TypedDict):
    words: list[str]
    """Words that the brand uses often, excluding the most common words of the language."""
    tone: list[str]
    """Words that describe the tone, such as `warm` or `dry`. Set only by users."""
    avoid: list[str]
    """Words that emails must not contain. Set only by users."""
    emoji: bool
    """Whether the brand's writing contains emoji."""


class BrandVoice(_BrandVoiceRequired, total=False):
    """The voice of a brand: how it writes."""
    person: BrandPerson
    """The grammatical person: "we", "I", or the brand's name."""
    formality: BrandFormality
    sentenceWords: float
    """The average number of words per sentence."""


class _BrandWebFontRequired(_t.TypedDict):
    family: str
    url: str
    """The URL of a WOFF2 file or of a Google Fonts style sheet. Always starts with `https://`."""
    weight: str
    """The weight of the font (400 is normal, 700 is bold), or a range such as `100 900`."""
    italic: bool


class BrandWebFont(_BrandWebFontRequired, total=False):
    """A font file on the web, or a style sheet from a font service."""
    characters: str
    """The characters in the file (a CSS `unicode-range`), if the file contains only some."""


class _BriefRequired(_t.TypedDict):
    purpose: EmailPurpose
    language: str
    """The language of the email, as a BCP 47 tag."""
    facts: list[BriefFact]
    """The facts that the email must contain, in the order of the prompt."""
    stories: list[BriefStory]
    """The stories of a newsletter, in the order of the prompt. The facts of a story refer to the story by its
    position.
    """
    tone: list[BriefText]
    """Notes on the tone, in the prompt's words."""
    constraints: list[BriefConstraint]
    instructions: list[BriefText]
    """Instructions to the writer, labels and other text that the email must not contain."""
    unclear: list[BriefText]
    """Text that could be a fact or an instruction. A warning reports it, and the email does not contain it."""


class Brief(_BriefRequired, total=False):
    """The content and the form of the email that a prompt asks for."""
    audience: BriefText
    """The recipients, as the prompt describes them: "customers who have not ordered for a year"."""
    subject: BriefText
    """The subject that the prompt prescribes."""
    preheader: BriefText
    """The preheader that the prompt prescribes."""
    headline: BriefText
    """The headline that the prompt prescribes."""
    offer: BriefOffer
    """The brand's offer. Its numbers and dates are facts with an offer role, and its code is a fact of the kind
    `code`.
    """
    event: BriefEvent
    """The event. Its dates and times are facts with the role `event`, and its place is a fact of the kind
    `place`.
    """
    cta: CallToAction
    """The main button."""
    signature: BriefSignature


class _BriefConstraintRequired(_t.TypedDict):
    kind: ConstraintKind


class BriefConstraint(_BriefConstraintRequired, total=False):
    """A limit that the prompt sets for the email."""
    value: str
    """The number of words, emails or products, the word to avoid, the name of the layout, or the color as
    `#RRGGBB`. Other kinds have no
    value.
    """
    span: BriefSpan


class _BriefConstraintInputRequired(_t.TypedDict):
    kind: ConstraintKind


class BriefConstraintInput(_BriefConstraintInputRequired, total=False):
    """A limit that the prompt sets for the email."""
    value: str | None
    """The number of words, emails or products, the word to avoid, the name of the layout, or the color as
    `#RRGGBB`. Other kinds have no
    value.
    """
    span: BriefSpan | None


class BriefEvent(_t.TypedDict):
    name: BriefText
    """The name of the event: "Truffle evening"."""


class BriefEventInput(_t.TypedDict):
    name: BriefTextInput
    """The name of the event: "Truffle evening"."""


class _BriefFactRequired(_t.TypedDict):
    kind: FactKind
    text: str
    """The fact as the email can print it. The text of a `sentence` is a complete sentence addressed to the
    recipient.
    """


class BriefFact(_BriefFactRequired, total=False):
    """A fact that the email must contain."""
    role: FactRole
    """The meaning of the number or date."""
    value: FactValue
    """The value of a number, date or time, which each language writes in its own format. In a request, the value
    must not contradict the
    text. If absent, the value is read from the text.
    """
    story: int
    """The position of the story that the fact belongs to, from 0."""
    span: BriefSpan
    """The span of the fact in the prompt; absent if a user added the fact. The span of a sentence can contain
    the spans of other
    facts.
    """


class _BriefFactInputRequired(_t.TypedDict):
    kind: FactKind
    text: str
    """The fact as the email can print it. The text of a `sentence` is a complete sentence addressed to the
    recipient.
    """


class BriefFactInput(_BriefFactInputRequired, total=False):
    """A fact that the email must contain."""
    role: FactRole | None
    """The meaning of the number or date."""
    value: FactValueInput | None
    """The value of a number, date or time, which each language writes in its own format. In a request, the value
    must not contradict the
    text. If absent, the value is read from the text.
    """
    story: int | None
    """The position of the story that the fact belongs to, from 0."""
    span: BriefSpan | None
    """The span of the fact in the prompt; absent if a user added the fact. The span of a sentence can contain
    the spans of other
    facts.
    """


class _BriefInputRequired(_t.TypedDict):
    purpose: EmailPurpose
    language: str
    """The language of the email, as a BCP 47 tag."""


class BriefInput(_BriefInputRequired, total=False):
    """The content and the form of the email that a prompt asks for."""
    audience: BriefTextInput | None
    """The recipients, as the prompt describes them: "customers who have not ordered for a year"."""
    subject: BriefTextInput | None
    """The subject that the prompt prescribes."""
    preheader: BriefTextInput | None
    """The preheader that the prompt prescribes."""
    headline: BriefTextInput | None
    """The headline that the prompt prescribes."""
    facts: list[BriefFactInput]
    """The facts that the email must contain, in the order of the prompt."""
    stories: list[BriefStoryInput]
    """The stories of a newsletter, in the order of the prompt. The facts of a story refer to the story by its
    position.
    """
    offer: BriefOfferInput | None
    """The brand's offer. Its numbers and dates are facts with an offer role, and its code is a fact of the kind
    `code`.
    """
    event: BriefEventInput | None
    """The event. Its dates and times are facts with the role `event`, and its place is a fact of the kind
    `place`.
    """
    cta: CallToActionInput | None
    """The main button."""
    signature: BriefSignatureInput | None
    tone: list[BriefTextInput]
    """Notes on the tone, in the prompt's words."""
    constraints: list[BriefConstraintInput]
    instructions: list[BriefTextInput]
    """Instructions to the writer, labels and other text that the email must not contain."""
    unclear: list[BriefTextInput]
    """Text that could be a fact or an instruction. A warning reports it, and the email does not contain it."""


class _BriefOfferRequired(_t.TypedDict):
    freeDelivery: bool
    """Whether delivery is free."""


class BriefOffer(_BriefOfferRequired, total=False):
    """The brand's own offer."""
    scope: BriefText
    """What the offer applies to: "all teas". Absent if it applies to everything, or if the prompt does not
    specify it.
    """
    gift: BriefText
    """What the recipient gets in addition to or instead of a discount: "a free tiramisù"."""


class BriefOfferInput(_t.TypedDict, total=False):
    """The brand's own offer."""
    scope: BriefTextInput | None
    """What the offer applies to: "all teas". Absent if it applies to everything, or if the prompt does not
    specify it.
    """
    freeDelivery: bool
    """Whether delivery is free."""
    gift: BriefTextInput | None
    """What the recipient gets in addition to or instead of a discount: "a free tiramisù"."""


class _BriefSignatureRequired(_t.TypedDict):
    name: str


class BriefSignature(_BriefSignatureRequired, total=False):
    """The person who signs the email."""
    title: str
    span: BriefSpan


class _BriefSignatureInputRequired(_t.TypedDict):
    name: str


class BriefSignatureInput(_BriefSignatureInputRequired, total=False):
    """The person who signs the email."""
    title: str | None
    span: BriefSpan | None


class BriefSpan(_t.TypedDict):
    """A range of characters of the prompt, in Unicode code points from 0. `end` is exclusive."""
    start: int
    end: int


class _BriefStoryRequired(_t.TypedDict):
    text: BriefText
    """The text of the story."""


class BriefStory(_BriefStoryRequired, total=False):
    """A story of a newsletter."""
    heading: BriefText
    """The heading, if the prompt contains one."""
    link: str


class _BriefStoryInputRequired(_t.TypedDict):
    text: BriefTextInput
    """The text of the story."""


class BriefStoryInput(_BriefStoryInputRequired, total=False):
    """A story of a newsletter."""
    heading: BriefTextInput | None
    """The heading, if the prompt contains one."""
    link: str | None


class _BriefTextRequired(_t.TypedDict):
    text: str


class BriefText(_BriefTextRequired, total=False):
    """Text in the brief, with its span in the prompt."""
    span: BriefSpan
    """The span of the part in the prompt; absent if a user added the part."""


class _BriefTextInputRequired(_t.TypedDict):
    text: str


class BriefTextInput(_BriefTextInputRequired, total=False):
    """Text in the brief, with its span in the prompt."""
    span: BriefSpan | None
    """The span of the part in the prompt; absent if a user added the part."""


class _BulkChangeDoneRequired(_t.TypedDict):
    status: _t.Literal["pending", "completed"]


class BulkChangeDone(_BulkChangeDoneRequired, total=False):
    """The result of the change, or the job that processes the contacts."""
    jobId: str
    """The job's ID, if `all` was set. GET /v1/contacts/bulk-change/{jobId} returns the progress."""
    result: ChangeResult
    """The result of the change, if `ids` were given."""


class _BulkChangeProgressRequired(_t.TypedDict):
    jobId: str
    status: _t.Literal["pending", "processing", "completed", "failed"]
    processed: int
    """The number of contacts that have been processed."""
    createdAt: str


class BulkChangeProgress(_BulkChangeProgressRequired, total=False):
    """The progress of a bulk change."""
    total: int
    """The number of contacts that the change covers; absent until they have been counted."""
    result: ChangeResult
    """The result of the change; present once the job has finished."""
    error: str
    """Why the job failed, and what to do; absent if the job did not fail."""
    completedAt: str


BulkChangeResult = _t.Union["BulkResult | BulkStarted"]
"""The result of the request: the counts, or the job that processes the contacts."""


class BulkProgress(_t.TypedDict):
    """The progress of a bulk write."""
    jobId: str
    status: _t.Literal["pending", "processing", "completed", "failed"]
    totalContacts: int
    processed: int
    """The number of rows that have been processed."""
    result: BulkResult | None
    """The result of the bulk write; `null` until the job is completed."""
    error: str | None
    """Why the job failed, and what to do; `null` if the job did not fail."""
    createdAt: str
    completedAt: str | None
    """When the job ended; `null` until then."""


class _BulkResultRequired(_t.TypedDict):
    success: int
    """The number of accepted contacts: new, changed, or already up to date."""
    failed: int
    """The number of refused contacts."""
    updated: int
    """The number of contacts in `success` that already existed and were changed."""


class BulkResult(_BulkResultRequired, total=False):
    """The result of a bulk write."""
    errors: list[RowError]
    """Notes on individual contacts, at most a thousand: why a contact was refused, or why its status was not
    changed.
    """


class _BulkRowRequired(_t.TypedDict):
    email: str
    """The contact's email, which is unique in the project, ignoring case. A new contact keeps this spelling,
    without surrounding spaces.
    """


class BulkRow(_BulkRowRequired, total=False):
    """One contact in a bulk write."""
    firstName: str | None
    lastName: str | None
    company: str | None
    """The company or organization that the contact belongs to."""
    phone: str | None
    """The phone number, as free-form text."""
    city: str | None
    """The city or town."""
    country: str | None
    """The country's ISO 3166-1 alpha-2 code."""
    language: str | None
    """The language's ISO 639-1 code or BCP 47 tag."""
    tags: list[str] | None
    """Names of tags to add to the contact. Tags that do not exist are created."""
    customFields: dict[str, FieldValue] | None
    """Custom fields to merge into the contact's existing custom fields."""
    status: ContactStatus | None
    """The contact's status. If absent, a new contact is `subscribed`. An unsubscribed or bounced contact is not
    resubscribed.
    """


class BulkStarted(_t.TypedDict):
    """The job that processes the contacts if a request contains too many for an immediate response."""
    jobId: str
    status: str
    """Always `processing`."""
    totalContacts: int
    message: str


class CallToAction(_t.TypedDict, total=False):
    """The main button."""
    label: BriefText
    """The label that the prompt prescribes."""
    link: str
    """The address that the button opens."""


class CallToActionInput(_t.TypedDict, total=False):
    """The main button."""
    label: BriefTextInput | None
    """The label that the prompt prescribes."""
    link: str | None
    """The address that the button opens."""


class _CampaignDryRunRequired(_t.TypedDict):
    campaignId: str
    ready: bool
    """Whether the campaign can be sent without changes."""
    total: int
    """The number of contacts in the audience."""
    recipients: int
    """The number of contacts who would receive the campaign."""
    skipped: int
    """The number of contacts who would be skipped."""
    skippedReasons: dict[str, int]
    """The number of skipped contacts for each reason."""
    missingFields: dict[str, int]
    """For each merge field without a default, the number of contacts who would be skipped because they have no
    value for it. A
    contact is counted only for the first field that it lacks.
    """
    languages: list[LanguageShare]
    """The number of recipients for each language of the email."""
    checks: list[EmailCheckSummary]
    """The scores and the worst findings of each email, in the order of `languages`."""
    warnings: list[CampaignWarning]
    """Warnings, and problems to fix before sending."""


class CampaignDryRun(_CampaignDryRunRequired, total=False):
    """The result of a dry run."""
    estimatedSeconds: int
    """The number of seconds that sending takes at the rate of the account's plan; absent if the plan has no rate
    limit, or if its rate is
    zero.
    """


class CampaignLine(_t.TypedDict):
    """A campaign with its statistics."""
    campaign: CampaignView
    stats: CampaignStats


class CampaignLink(_t.TypedDict):
    """A link in the email."""
    url: str
    """The target URL."""
    clicks: int
    """The number of clicks, excluding detected bots. In the first seconds after delivery, repeated clicks by the
    same recipient count as
    one.
    """


class _CampaignLogRequired(_t.TypedDict):
    id: str
    tracking_id: str
    """The ID of the send that the message belongs to."""
    user_id: str
    """The account's ID."""
    domain: str
    """The sender's domain."""
    from_email: str
    subject: str
    """The subject as written, before merge fields are replaced with values."""
    status: CampaignLogStatus
    open_count: int
    click_count: int
    created_at: str


class CampaignLog(_CampaignLogRequired, total=False):
    """The state of the message to one recipient."""
    to_email: str
    """The recipient's email address; absent if the contact was deleted."""
    subscriber_id: str
    """The recipient's contact ID; absent if the contact was deleted, or if the message was sent to a plain
    address.
    """
    opened_at: str
    clicked_at: str
    bounce_type: str
    """The kind of bounce: `hard`, `soft`, `policy` or `content`."""
    complaint_type: str
    """The type of complaint that the feedback report states; `abuse` if the report states no type."""
    suppression_type: str
    """A code that states why the recipient was skipped."""
    suppression_reason: str
    """A sentence that explains why the recipient was skipped."""
    conversation_id: str
    campaign_id: str
    """The campaign's ID; absent if the message does not belong to a campaign."""
    sent_at: str
    """When the next mail server, such as a relay, accepted the message."""
    next_attempt_at: str
    """When the next delivery attempt is due, if one is planned."""
    reply: str
    """The mail server's last reply, Mailmill's own description of the result, or why the delivery is unknown."""


CampaignLogStatus = _t.Literal["opened", "clicked", "queued", "deferred", "delivered", "bounced", "complained", "failed", "unknown", "skipped"]
"""The status of a message: its delivery state or, once the message was sent, the most significant recorded
event.
"""


class CampaignReport(_t.TypedDict):
    """A campaign's results over time."""
    campaignId: str
    days: list[TimelineDay]
    """The results of each day from the start of the campaign to the last day with activity, at most 92 days;
    empty before the start.
    """
    links: list[CampaignLink]
    """The most clicked links, most clicks first; at most 20."""
    lastUpdated: str


class CampaignResent(_t.TypedDict):
    """The result of a resend."""
    resent: int
    """The number of recipients to whom the message will be sent again."""
    campaign: CampaignView


class _CampaignStatsRequired(_t.TypedDict):
    totalSent: int
    """The number of messages that the next mail server accepted."""
    totalDelivered: int
    """The number of messages that the next mail server accepted and that did not bounce."""
    uniqueOpens: int
    """The number of recipients who opened the message, excluding detected bots."""
    totalOpens: int
    uniqueClicks: int
    """The number of recipients who clicked a link in the message, excluding detected bots."""
    totalClicks: int
    unsubscribes: int
    """The number of recipients who unsubscribed with a link in the message or with a button of their email
    client.
    """
    bounces: int
    """The number of messages that were rejected, that were deferred for too long, or that bounced after they
    were accepted.
    """
    complaints: int
    """The number of recipients who reported the message as spam."""
    openRate: float
    """Opened messages as a percentage of delivered messages, with two decimals."""
    clickRate: float
    """Clicked messages as a percentage of delivered messages."""
    unsubscribeRate: float
    """Unsubscribes as a percentage of delivered messages."""
    bounceRate: float
    """Bounces as a percentage of the messages that were sent or failed."""
    botOpens: int
    """The number of opens by scanners and other bots. No other field includes these opens."""
    botClicks: int
    """The number of clicks by scanners and other bots. No other field includes these clicks."""
    mppOpens: int
    """The number of opens by privacy proxies, which load images whether or not the recipient reads the email."""
    recipients: int
    """The number of all recipients, including skipped recipients."""
    queued: int
    """The number of messages that have not been sent yet or are in flight."""
    deferred: int
    """The number of messages that are waiting for a retry or for the start time in the recipient's time zone."""
    failed: int
    """The number of messages that were rejected permanently or deferred for too long."""
    unknown: int
    """The number of messages whose delivery is unknown."""
    skipped: int
    """The number of skipped recipients."""
    skippedReasons: dict[str, int]
    """The number of skipped recipients for each reason."""
    lastUpdated: str
    reporting: StatsReporting


class CampaignStats(_CampaignStatsRequired, total=False):
    """A campaign's statistics."""
    conversion: Conversion
    """The revenue of the campaign; absent if no revenue was attributed to the campaign."""


CampaignStatus = _t.Literal["draft", "pending_review", "scheduled", "sending", "throttled", "paused", "sent", "failed", "cancelled"]
"""The status of a campaign."""


CampaignTo = _t.Literal["segment", "tag", "audience"]
"""The kinds of recipients."""


_CampaignViewRequiredWords = _t.TypedDict("_CampaignViewRequiredWords", {"from": "str"})


class _CampaignViewRequired(_t.TypedDict):
    id: str
    projectId: str
    name: str
    conversationId: str
    """The generation that contains the email."""
    emailId: str
    languages: list[str]
    """The languages of the campaign's emails. Recipients with any other language get the email in the first of
    these languages: the email
    with the ID `emailId`.
    """
    subject: str
    """The campaign's own subject or, if it has none, the subject of the email's current version."""
    preheaderText: str
    """The preview text that email clients show after the subject: the campaign's own or, if it has none, the
    email's.
    """
    fromName: str
    recipientType: CampaignTo
    recipientId: str
    """The ID of the segment or tag; the project's ID if the campaign goes to all contacts."""
    variables: dict[str, _t.Any]
    """Merge field values for all recipients."""
    status: CampaignStatus
    archived: bool
    triggeredBy: str
    """How the campaign was created; currently always `api`."""
    unknown: UnknownPolicy
    """What to do with recipients whose delivery is unknown after a crash or a broken connection."""
    skipped: int
    """The number of skipped recipients. The statistics and the log contain the reasons."""
    createdAt: str
    updatedAt: str


class CampaignView(_CampaignViewRequiredWords, _CampaignViewRequired, total=False):
    """A campaign: an email to the contacts of a project."""
    replyTo: str
    topicId: str
    estimatedRecipients: int
    """The number of recipients who are not skipped, once all recipients have been determined after the start.
    Before that, the number of
    subscribed contacts in the audience; absent where counting would be slow, as in the response to a request
    that creates or changes a
    campaign for a segment. A dry run returns exact numbers.
    """
    providerType: str
    """The client's own name for a transport, returned as given. It has no effect: the installation's settings
    determine the transport.
    """
    utm: UtmParameters
    """UTM parameters for links. If absent, the setting of the From address's domain applies."""
    scheduledAt: str
    """The scheduled start time, which may be in the past."""
    scheduledTimezone: str
    """The IANA name of the campaign's time zone."""
    timezoneMode: TimezoneMode
    """Whose time zone determines when sending starts: the campaign's, or each recipient's own."""
    scheduleNotice: str
    """A notice about the start time, for example that the given local time does not exist because clocks are set
    forward at that time.
    """
    batchId: str
    """The ID of the send that delivers the campaign; absent until the campaign starts. See GET
    /v1/sending/batches/{batchId}.
    """
    sentAt: str
    """When sending started."""
    completedAt: str
    """When the last delivery succeeded or failed, or when the campaign was canceled or failed. Absent from a
    `sent` campaign while
    deferred recipients are retried.
    """
    error: str
    """Why the campaign failed, or what it waits for."""
    archivedAt: str
    minimumScore: int
    """The minimum validation score for sending; absent if no score is required."""
    warnings: list[ResponseWarning]
    """Warnings about the chosen email, in responses to operations that choose an email."""


class CampaignWarning(_t.TypedDict):
    """A warning about a campaign, or a problem that blocks sending the campaign."""
    code: str
    """A code for programs, such as `NO_UNSUBSCRIBE_LINK`, or the error code that sending would return."""
    message: str
    """What the problem is and how to solve it."""
    stops: bool
    """Whether the problem blocks sending."""


class CampaignsListPage(_t.TypedDict):
    campaigns: list[CampaignView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class _CampaignsOverviewRequired(_t.TypedDict):
    campaigns: list[CampaignLine]


class CampaignsOverview(_CampaignsOverviewRequired, total=False):
    """A page of campaigns, newest first."""
    next: str
    """The value of `before` that returns the next page; absent on the last page."""


class CatalogField(_t.TypedDict):
    """A contact field."""
    key: str
    """The name in merge fields and filters."""
    label: str
    """The display name."""
    type: FieldKind
    fillRate: float
    """The share of the examined contacts that have the field, from 0 to 1."""
    sample: list[str]
    """A few different values of the field."""
    auto: bool
    """Whether the field is a standard field rather than a custom field."""


class ChangeResult(_t.TypedDict):
    """The result of a bulk change."""
    changed: int
    """The number of contacts that were changed or deleted."""
    unchanged: int
    """The number of contacts that needed no change."""
    failed: int
    """The number of contacts that could not be changed."""
    errors: list[RowError]
    """At most a thousand of the contacts that could not be changed, with the reasons. `index` is the contact's
    number in the project.
    """


ChangeState = _t.Literal["pending", "kept"]
"""Whether a change waits for a user's decision."""


class _CheckFindingRequired(_t.TypedDict):
    id: str
    """The ID of the finding, which stays the same in later versions of the email while the problem exists."""
    check: ValidationCheck
    rule: str
    """The name of the rule for programs, such as `image_alt`; for the compatibility check, the slug of the
    feature at caniemail.com.
    """
    severity: FindingSeverity
    message: str
    """The problem, in one sentence."""
    fixable: bool
    """Whether Mailmill can resolve the problem, by using the suggestion or by replacing a part of the source."""
    count: int
    """The number of occurrences."""
    occurrences: list[SourcePlace]
    """The first occurrences in the HTML."""
    weight: float
    """The weight of the finding among findings of the same severity."""


class CheckFinding(_CheckFindingRequired, total=False):
    """A problem that a check found in an email."""
    effect: str
    """The effect that recipients notice."""
    fix: str
    """How to resolve the problem."""
    text: str
    """The word, URL or excerpt that the finding is about."""
    suggestion: str
    """The replacement for the word."""
    automaticFix: str
    """What Mailmill does to resolve the problem, such as `Replace “recieve” with “receive”`. Absent if only a
    user can resolve it.
    """
    url: str
    """The URL of a page about the problem."""


class CheckOptions(_t.TypedDict, total=False):
    """The checks to run, with their options."""
    checkCompatibility: bool | None
    """Whether to check compatibility with email clients. The default is true."""
    checkLinks: bool | None
    """Whether to check the links. The default is true."""
    checkSpelling: bool | None
    """Whether to check spelling and grammar. The default is true."""
    checkDeliverability: bool | None
    """Whether to check deliverability. The default is true."""
    checkAccessibility: bool | None
    """Whether to check accessibility. The default is true."""
    clients: list[str]
    """The keys of the clients to check. If empty or absent, all clients are checked."""
    languages: list[str]
    """The languages of the email. If empty or absent, they are detected."""


class CheckScores(_t.TypedDict, total=False):
    """The scores of an email, from 0 to 100. If a check did not finish, its score is absent."""
    overall: int
    """The weighted mean of the scores of the checks that finished; less than 90 if a finding is critical. A
    campaign's minimum score
    refers to this score.
    """
    compatibility: int
    links: int
    spelling: int
    deliverability: int
    accessibility: int


class _CheckedLinkRequired(_t.TypedDict):
    url: str
    """The URL as written."""
    kind: LinkKind
    status: LinkStatus
    hops: list[LinkHop]
    """The URLs that redirected, in order."""
    text: str
    """The visible text of the first link to the URL, or the alt text of the images in that link."""
    count: int
    """The number of uses of the URL."""
    outlookOnly: bool
    """Whether the URL is only in conditional comments, so that only Outlook for Windows uses it."""
    occurrences: list[SourcePlace]
    """The first uses of the URL."""


class CheckedLink(_CheckedLinkRequired, total=False):
    """A URL of the email."""
    statusCode: int
    """The HTTP status of the final response."""
    responseTime: int
    """The time that the requests took, in milliseconds. Absent if no requests were sent."""
    error: str
    """Why the link is neither `ok` nor `redirected`."""
    finalUrl: str
    """The URL to which the redirects lead. If the check does not follow redirects, the target of the first
    redirect.
    """
    certificateDaysLeft: int
    """The number of days until the certificate of the first encrypted host expires: the URL's own host or, for
    an unencrypted URL, a host
    to which it redirects.
    """
    contentType: str
    """The content type of the final response."""
    contentBytes: int
    """The size of the content in bytes, if the server states it."""


class ColorContrast(_t.TypedDict):
    """The contrast between a text color and its background color."""
    text: _t.Literal["text", "buttonText"]
    """The role of the text color."""
    ground: _t.Literal["background", "button"]
    """The role of the background color."""
    ratio: float
    """The contrast ratio, from 1 to 21 (WCAG)."""
    legible: bool
    """Whether the ratio is at least 4.5. If it is lower, emails use a different color for the text."""


class _ColumnMapRequired(_t.TypedDict):
    email: str
    customFields: dict[str, str]
    """Maps names of custom fields to headers."""


class ColumnMap(_ColumnMapRequired, total=False):
    """Maps contact fields to the headers of a file."""
    name: str
    """The header of a column with first and last name combined."""
    firstName: str
    lastName: str
    company: str
    phone: str
    city: str
    country: str
    language: str
    tags: str
    """The header of a column with tag names, separated by commas or semicolons, or as a JSON array."""
    status: str


class _ColumnMapInputRequired(_t.TypedDict):
    email: str


class ColumnMapInput(_ColumnMapInputRequired, total=False):
    """Maps contact fields to the headers of a file."""
    name: str | None
    """The header of a column with first and last name combined."""
    firstName: str | None
    lastName: str | None
    company: str | None
    phone: str | None
    city: str | None
    country: str | None
    language: str | None
    tags: str | None
    """The header of a column with tag names, separated by commas or semicolons, or as a JSON array."""
    status: str | None
    customFields: dict[str, str]
    """Maps names of custom fields to headers."""


CompatibilityApplies = _t.Literal["false", "unknown", "true"]
"""Whether a note applies to a use of a feature."""


class CompatibilityAutofix(_t.TypedDict):
    """A replacement in the source. Positions are byte offsets from 0."""
    start: int
    end: int
    original: str
    """The source text that is replaced. Empty if `replacement` is inserted without replacing text."""
    replacement: str


class CompatibilityClient(_t.TypedDict):
    """The findings of a client."""
    client: str
    clientName: str
    share: float
    """The assumed share of opens, from 0 to 1."""
    score: float
    issues: list[CompatibilityIssue]
    """Features that the client does not support."""
    warnings: list[CompatibilityIssue]
    """Features that the client supports in part, and features that only unused rules use."""
    untested: list[str]
    """The features that were not tested in this client."""


class CompatibilityCondition(_t.TypedDict):
    """A note of the support tables, and whether it applies."""
    note: str
    applies: CompatibilityApplies


CompatibilityEffect = _t.Literal["nothing", "cosmetic", "layout", "content", "link", "drops-attribute", "drops-style-element"]
"""What a reader loses if a client does not support a feature."""


class _CompatibilityIssueRequired(_t.TypedDict):
    slug: str
    title: str
    category: str
    url: str
    support: CompatibilitySupport
    effect: CompatibilityEffect
    occurrences: list[CompatibilityOccurrence]
    count: int
    reach: int
    """The number of affected elements."""
    unused: bool
    """Whether only rules that match no element use the feature."""
    tested: CompatibilityTest


class CompatibilityIssue(_CompatibilityIssueRequired, total=False):
    """A feature that a client does not fully support."""
    condition: CompatibilityCondition
    """The note that is most likely to apply."""
    fallback: str
    fix: str
    autofix: list[CompatibilityAutofix]


class _CompatibilityLimitsRequired(_t.TypedDict):
    htmlBytes: int
    clipsAt: int
    """The size of HTML, in bytes, beyond which Gmail clips a message."""
    isClipped: bool
    cssBytes: int
    cssBytesMax: int
    """The maximum total size of the `style` elements that Gmail reads, in bytes."""
    images: int
    imagesWithoutAlt: int
    imagesWithoutSize: int
    embeddedImageBytes: int
    """The number of bytes of images embedded in the HTML."""


class CompatibilityLimits(_CompatibilityLimitsRequired, total=False):
    """The sizes that clients limit."""
    clippedLine: int
    """The line where Gmail clips the message."""


class CompatibilityMetadata(_t.TypedDict):
    clientsTested: int
    dataVersion: str
    processingTime: float
    """The time that the check took, in milliseconds."""


class _CompatibilityOccurrenceRequired(_t.TypedDict):
    line: int
    column: int
    endLine: int
    endColumn: int
    excerpt: str
    """The source, shortened."""


class CompatibilityOccurrence(_CompatibilityOccurrenceRequired, total=False):
    """A part of the source that uses a feature."""
    selector: str
    """The selectors of the rule that contains the part."""


class CompatibilityReport(_t.TypedDict):
    """The compatibility report."""
    clientIssues: list[CompatibilityClient]
    summary: CompatibilitySummary
    limits: CompatibilityLimits
    supportedClients: list[str]
    metadata: CompatibilityMetadata


class CompatibilitySummary(_t.TypedDict):
    totalErrors: int
    totalWarnings: int
    compatibilityScore: int
    """The compatibility score of the email, from 0 to 100; less than 90 if Gmail is checked and clips the
    message.
    """
    byEffect: dict[str, int]
    """The number of issues with each effect."""
    worstClients: list[CompatibilityWorstClient]


CompatibilitySupport = _t.Literal["none", "partial", "unknown"]
"""The support of a feature in a client."""


class _CompatibilityTestRequired(_t.TypedDict):
    date: str
    """The month, as `YYYY-MM`."""
    stale: bool
    """Whether the test is older than 24 months."""


class CompatibilityTest(_CompatibilityTestRequired, total=False):
    """The version and date of a test."""
    version: str
    """The version of the client, if the client has versions."""


class CompatibilityWorstClient(_t.TypedDict):
    """A client with a low score."""
    client: str
    score: float


class _CompletedExportViewRequired(_t.TypedDict):
    jobId: str
    projectId: str
    status: _t.Literal["completed"]
    contactCount: int
    """The number of contacts in the file; 0 until the file has been written."""
    fileName: str
    createdAt: str
    downloadUrl: str
    """The URL of the file. Anyone who has the URL can download the file. Absent if there is no file or the URL
    has expired.
    """


class CompletedExportView(_CompletedExportViewRequired, total=False):
    """An export and its status."""
    completedAt: str
    downloadExpiresAt: str
    """When the download link and the file expire."""
    error: str
    """Why the export failed, and what to do; absent if it did not fail."""


class _CompletedGenerationStatusRequired(_t.TypedDict):
    conversationId: str
    projectId: str
    status: _t.Literal["completed"]
    progress: GenerationProgress
    title: str
    """The title of the emails or, for imported HTML, the first subject. Until the emails are planned, the start
    of the prompt or of the
    brief.
    """
    prompt: str
    """The prompt or, for imported HTML, the instruction; empty if there is none."""
    model: str
    """The model that the request names or, if it names none, the default model. For emails that are created from
    a design or a document,
    `composer`, the built-in composer.
    """
    onFailure: OnFailure
    """What happens if the model cannot write: the generation fails, or the built-in composer writes the emails.
    Each email's `writtenBy`
    names its writer.
    """
    createdAt: str
    updatedAt: str
    result: ResultView
    """The emails, including emails that are still being generated. Absent until the emails are planned."""


class CompletedGenerationStatus(_CompletedGenerationStatusRequired, total=False):
    """The status of a conversation and its emails."""
    brief: Brief
    """The brief that the emails are written from. Absent until the prompt is read, and for emails that are
    imported or created from a
    design or a document.
    """
    error: str
    """Why the generation failed; absent if it did not fail."""


ConditionMatch = _t.Literal["all", "any"]
"""How the conditions of a group are combined."""


class _ConnectedStoreRequired(_t.TypedDict):
    serverId: str
    projectId: str
    provider: StorePlatform
    providerName: _t.Literal["Shopify", "WooCommerce"]
    """The platform's name for display."""
    store: str
    """The store's name."""
    storeUrl: str
    """The URL of the site that customers visit."""
    status: _t.Literal["connected", "reconnect_required", "disconnected"]
    """`connected`; `reconnect_required` if the keys cannot be used; `disconnected` if the store was
    disconnected, but is still listed
    because its customers requested their data.
    """
    toolsEnabled: list[StoreTool]
    """The kinds of data that Mailmill syncs."""
    customers: StoreCustomers
    sync: SyncView
    dataRequests: list[DataRequestView]
    """Customers' requests for their personal data, newest first."""
    connectedAt: str


class ConnectedStore(_ConnectedStoreRequired, total=False):
    """A connected store with the state of its imports. The keys are never returned."""
    error: str
    """Why the user must connect the store again; absent if that is not necessary."""
    webhookUrl: str
    """The URL to which the store sends webhooks. For a Shopify app, also enter it in the app's settings as the
    URL of the privacy
    webhooks. Keep it secret. Absent if the stored keys cannot be decrypted, if the caller cannot change
    projects, or if the store was
    disconnected.
    """


class ConnectionList(_t.TypedDict):
    """A list of connections."""
    connections: list[ConnectionView]
    """The connections, oldest first."""
    total: int


ConnectionProvider = _t.Literal["platform_a", "klaviyo", "platform_b", "mailchimp", "platform_c", "hubspot"]
"""The provider: platform_a is Klaviyo, platform_b is Mailchimp, platform_c is HubSpot. Requests accept both
names; responses contain the neutral one.
"""


ConnectionUse = _t.Literal["imports", "exports"]
"""What a connection may do."""


class _ConnectionViewRequired(_t.TypedDict):
    id: str
    provider: ConnectionProvider
    providerName: _t.Literal["Klaviyo", "Mailchimp", "HubSpot"]
    """The platform's name for display."""
    name: str
    """The connection's name: the name that a user gave it or, by default, the account's name on the platform."""
    externalId: str
    """The connected account's ID on the platform."""
    externalName: str
    """The connected account's name on the platform."""
    method: _t.Literal["key", "oauth"]
    """`key` for an API key; `oauth` if the user signed in to the platform."""
    uses: list[ConnectionUse]
    """What the connection may do: what the user allowed at sign-in or, for a key, imports and exports, even if
    the key's scopes do not
    allow both.
    """
    status: _t.Literal["connected", "reconnect_required", "rate_limited"]
    """`reconnect_required` if the credentials cannot be used; `rate_limited` until `rateLimitedUntil`; otherwise
    `connected`.
    """
    createdAt: str
    connectedAt: str
    """When the account was connected or last reconnected."""


class ConnectionView(_ConnectionViewRequired, total=False):
    """A connected account on another platform. Its credentials are never returned."""
    projectId: str
    """The only project that can use the connection; absent if every project of the account can."""
    error: str
    """Why the connection must be reconnected: the platform's own message, or a note that the credentials cannot
    be decrypted.
    """
    rateLimitedUntil: str
    """When the platform accepts requests again."""


ConsentMode = _t.Literal["subscribed-only", "include-all"]
"""Whether an import from a platform includes contacts who have neither subscribed nor unsubscribed."""


ConstraintKind = _t.Literal["no_images", "no_products", "no_exclamation", "no_emoji", "plain_layout", "one_button", "word_limit", "formal", "informal", "avoid_word", "layout", "color", "emoji", "emails", "products"]


ContactAction = _t.Literal["sent", "opened", "clicked"]
"""An action: an email was sent to a contact, or the contact opened it or clicked a link in it."""


class _ContactJobRequired(_t.TypedDict):
    id: str
    projectId: str
    kind: _t.Literal["bulk", "import", "export", "change"]
    status: _t.Literal["pending", "processing", "completed", "failed", "uploaded"]
    processed: int
    """The number of rows or contacts that have been processed."""
    failed: int
    """The number of processed rows or contacts that were refused."""
    seen: bool
    """Whether a user has acknowledged that the job failed."""
    createdAt: str


class ContactJob(_ContactJobRequired, total=False):
    """A summary of a job."""
    error: str
    """Why the job failed, and what to do; absent if the job did not fail."""
    completedAt: str


class ContactJobs(_t.TypedDict):
    """A list of jobs."""
    jobs: list[ContactJob]
    """The jobs, newest first."""


class ContactProfile(_t.TypedDict, total=False):
    """The profile fields to change. Omitted fields stay unchanged; `null` clears a field."""
    firstName: str | None
    lastName: str | None
    company: str | None
    """The company or organization that the contact belongs to."""
    phone: str | None
    """The phone number, as free-form text."""
    city: str | None
    """The city or town."""
    country: str | None
    """The country's ISO 3166-1 alpha-2 code."""
    language: str | None
    """The language's ISO 639-1 code or BCP 47 tag."""
    customFields: dict[str, FieldValue] | None
    """Custom fields to merge: omitted fields stay unchanged, `null` removes a field, and an empty object removes
    all fields.
    """


ContactStatus = _t.Literal["subscribed", "unsubscribed", "bounced", "non-subscribed"]
"""Whether a contact may be mailed and, if not, the reason."""


class ContactTopicChoice(_t.TypedDict):
    """A contact's current choice for a topic."""
    topicId: str
    subscriberId: str
    subscribed: bool
    """Whether the contact is subscribed to the topic."""


class _ContactViewRequired(_t.TypedDict):
    id: str
    email: str
    """The email address as it was provided, including its case."""
    phone: str | None
    """The phone number, as free-form text."""
    tags: list[str]
    """The names of the contact's tags."""
    customFields: dict[str, FieldValue]
    status: ContactStatus
    createdAt: str
    updatedAt: str


class ContactView(_ContactViewRequired, total=False):
    """A contact in a project."""
    firstName: str
    lastName: str
    company: str
    """The company or organization that the contact belongs to."""
    city: str
    """The city or town."""
    country: str
    """The country's ISO 3166-1 alpha-2 code."""
    language: str
    """The language's ISO 639-1 code or BCP 47 tag."""
    unsubscribedAt: str
    """When the contact unsubscribed; absent unless the status is `unsubscribed`."""
    suppression: SuppressionReason
    """Why the address is on the account's suppression list; absent if the address is not on the list. A
    suppressed contact gets no
    marketing email, regardless of its status. An address stays on the list even if its contacts are deleted.
    """


class ContactsImportsErrorsPage(_t.TypedDict):
    errors: list[ImportError]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class ContactsListPage(_t.TypedDict):
    contacts: list[ContactView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class _ConversationViewRequired(_t.TypedDict):
    conversationId: str
    title: str
    """The title of the emails or, for imported HTML, the first subject. Until the emails are planned, the start
    of the prompt or of the
    brief.
    """
    status: _t.Literal["pending", "processing", "completed", "failed"]
    emailCount: int
    """The number of emails, with each language counted separately; 0 until the emails are planned."""
    favorite: bool
    """Whether one of the emails is a favorite."""
    createdAt: str
    updatedAt: str


class ConversationView(_ConversationViewRequired, total=False):
    """A conversation in a list."""
    subject: str
    previewText: str
    screenshotUrl: str
    thumbnailUrl: str


class _ConversionRequired(_t.TypedDict):
    conversions: int
    """The number of orders in `currency`, including refunded orders. Each order is counted once."""
    revenue: float
    """The revenue of the orders in `currency` minus refunds, as an exact decimal."""
    currency: str
    """The currency with the most orders, as an ISO 4217 code. If several currencies tie, this is the first of
    them in alphabetical order.
    """
    source: str
    """How the orders were reported; always `events`, because orders are reported as customer events."""


class Conversion(_ConversionRequired, total=False):
    """The orders attributed to an email. An order is attributed to the last email that the contact clicked in
    the five days before the order.
    """
    otherCurrencies: list[ConversionInOtherCurrency]
    """The orders in other currencies; absent if there are none."""


class ConversionInOtherCurrency(_t.TypedDict):
    """The orders in another currency that are attributed to an email."""
    currency: str
    conversions: int
    revenue: float


class CountryCount(_t.TypedDict):
    """The number of recipients from one country who opened the email."""
    country: str
    """The country's ISO 3166-1 alpha-2 code."""
    count: int


class _CustomerEventRequired(_t.TypedDict):
    eventId: str
    name: str
    identifiers: ExternalIds
    occurredAt: str
    receivedAt: str


class CustomerEvent(_CustomerEventRequired, total=False):
    """A customer event that was reported for a contact."""
    properties: dict[str, _t.Any]
    """The properties of the event, as received."""
    dedupeKey: str


class _CustomerEventPartRequired(_t.TypedDict):
    events: list[CustomerEvent]
    """The events, sorted by the time at which they occurred, newest first."""
    hasMore: bool


class CustomerEventPart(_CustomerEventPartRequired, total=False):
    """A page of a contact's events."""
    nextCursor: str
    """The cursor of the next page; absent on the last page."""


class _DataRequestViewRequired(_t.TypedDict):
    requestId: str
    """The platform's ID for the request."""
    receivedAt: str


class DataRequestView(_DataRequestViewRequired, total=False):
    """A customer's request for their personal data."""
    contactId: str
    """The ID of the contact that matches the request; absent if no contact matched. `GET
    /v1/contacts/{id}/personal-data` returns the
    contact's data.
    """


class DayView(_t.TypedDict):
    """The numbers of deliveries and attempts that ended on one day."""
    date: str
    """The day in UTC, such as `2026-01-31`."""
    successful: int
    """The number of deliveries that succeeded."""
    failed: int
    """The number of deliveries that failed."""
    attempts: int
    """The number of attempts that ended."""


class DeletedBlock(_t.TypedDict):
    """The result of deleting a saved block."""
    id: str
    deleted: bool
    """Always true; a failed deletion returns an error instead."""


class DeletedCampaign(_t.TypedDict):
    """The campaign that was deleted."""
    id: str
    deleted: bool


class DeletedContact(_t.TypedDict):
    """The result of deleting a contact."""
    id: str
    """The ID of the deleted contact."""
    deleted: bool
    """Always true; a failed deletion returns an error instead."""


class DeletedContacts(_t.TypedDict):
    """The result of deleting contacts."""
    deleted: int
    """The number of deleted contacts."""
    notFound: list[str]
    """The given emails that do not belong to any contact in the project."""


class DeletedDomain(_t.TypedDict):
    """The result of deleting a sending domain."""
    domain: str
    """The name of the deleted domain."""
    deleted: bool
    """Always true in a successful response."""


class DeletedHook(_t.TypedDict):
    """The result of deleting an incoming webhook."""
    id: str
    """The ID of the deleted incoming webhook."""
    deleted: bool
    """Always true in a successful response."""


class DeletedMailService(_t.TypedDict):
    """The result of deleting a mail service."""
    id: str
    """The ID of the deleted mail service."""
    deleted: bool
    """Always true in a successful response."""


class DeletedMessage(_t.TypedDict):
    """Confirms the deletion."""
    id: str
    deleted: bool


class DeletedScheduledImport(_t.TypedDict):
    """The result of deleting a scheduled import."""
    id: str
    """The ID of the deleted scheduled import."""
    deleted: bool
    """Always true in a successful response."""


class DeletedSegment(_t.TypedDict):
    """The result of deleting a segment."""
    id: str
    """The ID of the deleted segment."""
    deleted: bool
    """Always true; a failed deletion returns an error instead."""


class DeletedSuppression(_t.TypedDict):
    """The result of removing an address from the suppression list."""
    email: str
    """The removed address."""
    deleted: bool
    """Always true; a failed removal returns an error instead."""


class DeletedTag(_t.TypedDict):
    id: str
    """The ID of the deleted tag."""
    deleted: bool
    """Always true; a failed deletion returns an error instead."""


class DeletedTopic(_t.TypedDict):
    id: str
    """The ID of the deleted topic."""
    deleted: bool
    """Always true; a failed deletion returns an error instead."""


class DeletedWebhook(_t.TypedDict):
    """The result of deleting a webhook."""
    id: str
    """The ID of the deleted webhook."""
    deleted: bool
    """Always true in a successful response."""


class _DeliverabilityAnalysisRequired(_t.TypedDict):
    prediction: DeliverabilityPrediction
    contentSignals: DeliverabilityContentSignals
    spamScore: DeliverabilitySpamScore
    recommendations: DeliverabilityRecommendations
    metadata: DeliverabilityMetadata


class DeliverabilityAnalysis(_DeliverabilityAnalysisRequired, total=False):
    """The result of the deliverability check."""
    authentication: DeliverabilityAuthentication
    """The DNS records of the sender's domain. Absent if the sender is unknown."""


class _DeliverabilityAuthenticationRequired(_t.TypedDict):
    domain: str
    spf: DeliverabilityRecordStatus
    dkim: DeliverabilityRecordStatus
    dmarc: DeliverabilityRecordStatus
    mx: DeliverabilityRecordStatus
    bimi: DeliverabilityRecordStatus
    problems: list[DeliverabilityRecordProblem]


class DeliverabilityAuthentication(_DeliverabilityAuthenticationRequired, total=False):
    """The result of checking the records."""
    spfLookups: int
    """The number of DNS lookups that a receiver needs to evaluate the SPF record. At most 10 are allowed."""
    dmarcPolicy: str
    """The policy that applies to the domain: the value of `p` or, for a subdomain without its own record, the
    value of `np` or `sp` if the
    record has these tags.
    """


DeliverabilityCategory = _t.Literal["inbox", "promotions", "spam"]
"""The folder that a mailbox provider puts an email into."""


class DeliverabilityContentSignals(_t.TypedDict):
    """The words and features that support the prediction."""
    promotional: list[str]
    transactional: list[str]
    spam: list[str]
    engagement: list[str]


class DeliverabilityEvidence(_t.TypedDict):
    """A place where a rule found something. Lines and columns are counted from 1, and columns are counted in
    characters.
    """
    part: DeliverabilityPart
    line: int
    column: int
    excerpt: str


class DeliverabilityFinding(_t.TypedDict):
    """A rule that an email triggers."""
    rule: str
    family: str
    level: DeliverabilityLevel
    points: float
    """The points that the rule adds to the spam score."""
    text: str
    remedy: str
    occurrences: int
    """The number of times that the rule found something."""
    evidence: list[DeliverabilityEvidence]
    """The first places where the rule found something, up to five."""


DeliverabilityLevel = _t.Literal["critical", "important", "suggested"]
"""How important a recommendation is."""


class DeliverabilityMetadata(_t.TypedDict):
    """How the result was produced."""
    processingTime: float
    """The time that the check took, in milliseconds."""
    analysisType: str
    """`rules+model`, and `+dns` if DNS records were checked."""


DeliverabilityPart = _t.Literal["html", "subject", "fromName", "fromEmail"]
"""A part of an email that the rules search."""


class DeliverabilityPrediction(_t.TypedDict):
    """The predicted placement."""
    category: DeliverabilityCategory
    confidence: float
    """The probability that the category is right. At most 0.8, because the sender's reputation is unknown."""
    score: float
    """The deliverability score, from 0 to 100. A score of 100 means that the check found nothing that harms
    delivery. With a critical
    finding, the score is less than 90.
    """
    reasoning: str


class DeliverabilityRecommendations(_t.TypedDict):
    """The recommendations, grouped by importance."""
    critical: list[str]
    important: list[str]
    suggested: list[str]


class DeliverabilityRecordProblem(_t.TypedDict):
    """A problem with the records."""
    id: str
    level: DeliverabilityLevel
    text: str
    remedy: str


DeliverabilityRecordStatus = _t.Literal["ok", "problem", "missing", "not checked"]
"""The state of one kind of record."""


class DeliverabilitySpamScore(_t.TypedDict):
    """The spam score."""
    score: float
    """The score on SpamAssassin's scale: 5 or more is spam. Words that are typical of legitimate mail can make
    the score negative.
    """
    triggers: list[str]
    recommendations: list[str]
    tokenPoints: float
    """The part of the score that comes from the words in the email."""
    findings: list[DeliverabilityFinding]
    """What the rules found, including rules that add no points."""


class _DeliveryDetailsRequired(_t.TypedDict):
    id: str
    eventId: str
    """The ID of the event, which is the same in every delivery of the event."""
    eventType: str
    status: DeliveryStatus
    attempts: int
    """The number of attempts that were started, at most three."""
    test: bool
    """Whether the delivery was created by `POST /v1/webhooks/{webhookId}/test`."""
    attemptLog: list[AttemptView]
    """All attempts, in the order in which they were made."""
    createdAt: str


class DeliveryDetails(_DeliveryDetailsRequired, total=False):
    """A delivery with its body."""
    lastAttemptAt: str
    nextAttemptAt: str
    """When the next attempt is due; absent while an attempt is in flight, and if no attempt follows. If the
    endpoint is paused at that
    time, the attempt is made later.
    """
    response: ResponseView
    """The endpoint's response to the last finished attempt; absent if there was no response."""
    error: str
    """Why the delivery ended without success or, while the delivery is pending, why its last attempt failed."""
    redeliveryOf: str
    """If this is a redelivery, the ID of the event's first delivery to this webhook."""
    completedAt: str
    body: str
    """The raw body: the event as JSON text, exactly as it is sent and signed. Absent if the event is no longer
    stored. Also absent if the
    caller lacks the permission `webhook:write`, because events contain contacts' data.
    """


DeliveryStatus = _t.Literal["pending", "success", "failed", "cancelled"]


class _DeliveryViewRequired(_t.TypedDict):
    id: str
    eventId: str
    """The ID of the event, which is the same in every delivery of the event."""
    eventType: str
    status: DeliveryStatus
    attempts: int
    """The number of attempts that were started, at most three."""
    test: bool
    """Whether the delivery was created by `POST /v1/webhooks/{webhookId}/test`."""
    attemptLog: list[AttemptView]
    """All attempts, in the order in which they were made."""
    createdAt: str


class DeliveryView(_DeliveryViewRequired, total=False):
    """A delivery of an event to a webhook."""
    lastAttemptAt: str
    nextAttemptAt: str
    """When the next attempt is due; absent while an attempt is in flight, and if no attempt follows. If the
    endpoint is paused at that
    time, the attempt is made later.
    """
    response: ResponseView
    """The endpoint's response to the last finished attempt; absent if there was no response."""
    error: str
    """Why the delivery ended without success or, while the delivery is pending, why its last attempt failed."""
    redeliveryOf: str
    """If this is a redelivery, the ID of the event's first delivery to this webhook."""
    completedAt: str


class DesignList(_t.TypedDict):
    """The starter designs, in the order of the gallery."""
    designs: list[DesignView]


class DesignView(_t.TypedDict):
    """A starter design."""
    name: str
    """The name of the design, for `design` in `POST /v1/emails`."""
    title: str
    """The title of the design, as users see it."""
    about: str
    """A one-sentence description of the content."""


class DeviceCategories(_t.TypedDict):
    """The keys of the devices, by category."""
    desktop: list[str]
    mobile: list[str]
    web: list[str]
    misc: list[str]


DeviceCategory = _t.Literal["DESKTOP", "MOBILE", "WEB", "MISC"]
"""The kind of a device."""


DeviceStatus = _t.Literal["PROCESSING", "SUCCESSFUL", "FAILED"]
"""The status of a device."""


class DisconnectedStore(_t.TypedDict):
    id: str
    """The ID of the store."""
    deleted: bool
    """Always true in a successful response."""
    webhooksRemoved: bool
    """Whether the store's webhooks were removed. If false, the store stops sending webhooks after Mailmill has
    rejected them for a while.
    """


class _DkimSignatureRequired(_t.TypedDict):
    domain: str
    """The domain that signed the message (`d=`)."""
    selector: str
    """The selector of the domain's key (`s=`)."""
    algorithm: str
    """The signature algorithm: `rsa-sha256` or `ed25519-sha256`."""
    result: str
    """The result: `pass`, `fail`, or `no_key` if the signing key was removed after the message was signed."""


class DkimSignature(_DkimSignatureRequired, total=False):
    """A DKIM signature on a message."""
    reason: str
    """Why the signature is invalid, if `result` is `fail`."""


class _DocumentChangeRequired(_t.TypedDict):
    op: DocumentChangeKind
    value: _t.Any
    """The value to `set`, or the block to `insert`. A block without an ID gets an unused ID. Null removes an
    optional field.
    """


class DocumentChange(_DocumentChangeRequired, total=False):
    """One change to a document."""
    path: str
    """The field to `set`, such as `subject` or `blocks.intro.text`, or the block to replace, such as
    `blocks.intro`, where `intro` is the
    ID of a block.
    """
    id: str
    """The ID of the block to `remove`, `move` or `duplicate`. Blocks in columns have IDs, too."""
    after: str
    """The ID of the block after which to `insert` or `move` a block."""
    before: str
    """The ID of the block before which to `insert` or `move` a block, instead of `after`."""


class _DocumentChangeInputRequired(_t.TypedDict):
    op: DocumentChangeKind


class DocumentChangeInput(_DocumentChangeInputRequired, total=False):
    """One change to a document."""
    path: str | None
    """The field to `set`, such as `subject` or `blocks.intro.text`, or the block to replace, such as
    `blocks.intro`, where `intro` is the
    ID of a block.
    """
    id: str | None
    """The ID of the block to `remove`, `move` or `duplicate`. Blocks in columns have IDs, too."""
    after: str | None
    """The ID of the block after which to `insert` or `move` a block."""
    before: str | None
    """The ID of the block before which to `insert` or `move` a block, instead of `after`."""
    value: _t.Any
    """The value to `set`, or the block to `insert`. A block without an ID gets an unused ID. Null removes an
    optional field.
    """


DocumentChangeKind = _t.Literal["insert", "remove", "move", "set", "duplicate"]
"""The effect of a change on the document."""


DomainStatus = _t.Literal["pending", "verified", "failed"]
"""The verification status of a domain."""


class DomainTracking(_t.TypedDict):
    """What is tracked in mail sent from a domain."""
    openTracking: bool
    clickTracking: bool
    brandedTracking: bool
    """Whether links use a host name inside the sending domain."""


class _DomainVerificationRequired(_t.TypedDict):
    domain: str
    status: DomainStatus
    dnsRecords: list[RecordView]
    """The DNS records that the domain should have, with the result of the check."""


class DomainVerification(_DomainVerificationRequired, total=False):
    """The result of a domain's DNS check."""
    statusReason: str
    """Why the domain is not verified, or a problem that may soon affect its verification."""


class _DomainViewRequired(_t.TypedDict):
    domain: str
    """The domain name, in ASCII and lowercase."""
    region: str
    """Always `local`, because this installation sends the mail."""
    status: DomainStatus
    isVerified: bool
    """Whether mail can be sent from the domain."""
    dnsRecords: list[RecordView]
    """The DNS records to add for the domain."""
    notes: list[str]
    """Other notes about the domain's DNS records."""
    trackingSettings: DomainTracking
    vanityRootFrom: bool
    """Whether the domain signs for From addresses at the root domain."""
    rotating: bool
    """Whether the domain has been verified before and has new keys that are waiting for their DNS records."""
    createdAt: str
    updatedAt: str


class DomainView(_DomainViewRequired, total=False):
    """A sending domain, as the API returns it."""
    statusReason: str
    """Why the domain is not verified, or a problem that may soon affect its verification."""
    utm: UtmParameters
    """The default UTM parameters for links in mail from the domain, unless a campaign or send sets different
    ones. Absent if there
    are no defaults.
    """
    stream: MailStream
    """The kind of mail that the domain is for, if it was created as a subdomain of a root domain."""
    fromName: str
    """The sender's name that is stored with the domain."""
    checkedAt: str
    """When the domain's DNS records were last checked."""


class EarlierView(_t.TypedDict):
    """A template or draft that an earlier export created on a platform."""
    emailId: str
    provider: ConnectionProvider
    type: _t.Literal["html", "hybrid", "template", "campaign", "email"]
    name: str
    """The name of the template or draft on the platform."""
    url: str
    """The URL of the template or draft on the platform."""
    version: int
    """The number of the email version that was exported last."""
    exportedAt: str


class _EditViewRequired(_t.TypedDict):
    editId: str
    emailId: str
    conversationId: str
    status: _t.Literal["pending", "processing", "completed", "failed"]
    stage: _t.Literal["waiting", "editing", "completed", "failed"]
    createdAt: str
    updatedAt: str
    pollAfterMs: int
    """The milliseconds to wait before the next poll."""
    prompt: str
    """The requested change, in the user's words."""
    done: list[str]
    """Descriptions of the changes, for users."""
    notDone: list[str]
    """The parts of the prompt that were not applied, each with the reason and, in some cases, a similar prompt
    that works.
    """


class EditView(_EditViewRequired, total=False):
    """An edit of an email. The edit may still be running when this object is returned."""
    error: str
    changesMayHaveBeenSaved: bool
    """Always false if present: a failed edit makes no changes, because a version is either created completely or
    not at all.
    """
    result: EmailView
    """The email, once the edit is done."""


class _EditedEmailRequired(_t.TypedDict):
    id: str
    emailId: str
    """The email's ID, equal to `id`."""
    conversationId: str
    projectId: str
    messageId: str
    """The ID of the email's current version."""
    slotIdx: int
    """The email's slot in the series, starting at 0."""
    slot: int
    """The email's slot in the series, starting at 1."""
    slotUuid: str
    """The ID of the slot in the series. All languages and versions of the email share this ID."""
    language: str
    """The language of the email, as a BCP 47 tag."""
    status: _t.Literal["processing", "ready", "failed"]
    subject: str
    preheader: str
    html: str
    """The email's HTML; empty until the email is rendered."""
    text: str
    """The email's plain-text part; empty until the email is rendered."""
    warnings: list[EmailWarning]
    """Warnings about the email, for users. A warning about missing text can contain the change that adds the
    text.
    """
    favorite: bool
    version: int
    """The number of the current version."""
    createdAt: str
    updatedAt: str
    done: list[str]
    """Descriptions of the changes, for users."""
    notDone: list[str]
    """The parts of the prompt that were not applied, each with the reason and, in some cases, a similar prompt
    that works.
    """


class EditedEmail(_EditedEmailRequired, total=False):
    """An email after an edit."""
    sendOffsetDays: int
    """The planned number of days between the first email in the series and this email. Absent if there is no
    series.
    """
    screenshotUrl: str
    """The URL of a screenshot of the whole email, 600 CSS pixels wide, with two image pixels per CSS pixel."""
    screenshotFullUrl: str
    """The URL of the screenshot, equal to `screenshotUrl`."""
    thumbnailUrl: str
    shareUrl: str
    """The URL of a page that shows the email without an API key; absent if the email is private."""
    writtenBy: str
    """The writer of the current version: `composer`, or the name of a language model. Absent if the text was
    imported or a user wrote it.
    """
    error: str
    """Why the generation failed; absent if it did not fail."""
    document: _t.Any
    """The changed document of a preview. Absent for imported HTML or if the edit was saved."""
    previewId: str
    """The ID of a preview. To save the returned email, use this ID as `editId` in POST
    /v1/emails/{emailId}/edits/{editId}/save. Absent if
    the edit was saved.
    """


class _EmailCheckFindingRequired(_t.TypedDict):
    id: str
    """The ID of the finding, which stays the same in later versions of the email while the problem exists."""
    check: ValidationCheck
    rule: str
    """The name of the rule for programs, such as `image_alt`; for the compatibility check, the slug of the
    feature at caniemail.com.
    """
    severity: FindingSeverity
    message: str
    """The problem, in one sentence."""
    fixable: bool
    """Whether Mailmill can resolve the problem, by using the suggestion or by replacing a part of the source."""
    count: int
    """The number of occurrences."""
    occurrences: list[SourcePlace]
    """The first occurrences in the HTML."""
    weight: float
    """The weight of the finding among findings of the same severity."""
    ignored: bool
    """Whether the finding is ignored. An ignored finding is not a warning, but still affects the scores."""


class EmailCheckFinding(_EmailCheckFindingRequired, total=False):
    """A finding of a check, and whether it is ignored."""
    effect: str
    """The effect that recipients notice."""
    fix: str
    """How to resolve the problem."""
    text: str
    """The word, URL or excerpt that the finding is about."""
    suggestion: str
    """The replacement for the word."""
    automaticFix: str
    """What Mailmill does to resolve the problem, such as `Replace “recieve” with “receive”`. Absent if only a
    user can resolve it.
    """
    url: str
    """The URL of a page about the problem."""


class _EmailCheckSummaryRequired(_t.TypedDict):
    emailId: str
    language: str
    worstFindings: list[CheckFinding]
    """The worst findings, worst first: at most three about the email, three about signs of spam in the
    campaign's own subject, three about
    the spelling of that subject, and three about the spelling of the campaign's own preheader. Ignored
    findings are left out.
    """
    linksRequested: bool
    """Whether the URLs of the links were requested."""


class EmailCheckSummary(_EmailCheckSummaryRequired, total=False):
    """A summary of the checks of one of the campaign's emails."""
    scores: CheckScores
    """The scores of the email; absent if its current version has not been checked yet."""


class _EmailChecksRequired(_t.TypedDict):
    emailId: str
    version: int
    """The number of the email's current version, to which the result applies."""
    scores: CheckScores
    findings: list[EmailCheckFinding]
    """The findings, most severe first."""
    linksRequested: bool
    """Whether the URLs of the links were requested. If not, the links were checked without requests."""
    pending: bool
    """Whether a check of this version is waiting or running."""
    checksIncomplete: list[IncompleteCheck]
    """The checks that did not finish or finished only partially, each with the reason."""


class EmailChecks(_EmailChecksRequired, total=False):
    """The result of the checks of an email's current version."""
    checkedAt: str
    """The time of the check. Absent if the version has not been checked yet."""


class _EmailDetailsRequired(_t.TypedDict):
    id: str
    emailId: str
    """The email's ID, equal to `id`."""
    conversationId: str
    projectId: str
    messageId: str
    """The ID of the email's current version."""
    slotIdx: int
    """The email's slot in the series, starting at 0."""
    slot: int
    """The email's slot in the series, starting at 1."""
    slotUuid: str
    """The ID of the slot in the series. All languages and versions of the email share this ID."""
    language: str
    """The language of the email, as a BCP 47 tag."""
    status: _t.Literal["processing", "ready", "failed"]
    subject: str
    preheader: str
    html: str
    """The email's HTML; empty until the email is rendered."""
    text: str
    """The email's plain-text part; empty until the email is rendered."""
    warnings: list[EmailWarning]
    """Warnings about the email, for users. A warning about missing text can contain the change that adds the
    text.
    """
    favorite: bool
    version: int
    """The number of the current version."""
    createdAt: str
    updatedAt: str
    prompt: str
    """The prompt of the conversation; empty if there is none. The spans of the brief and of the warnings refer
    to it.
    """
    series: list[SiblingView]
    """The emails in the conversation, including this email, sorted by slot, then by language."""


class EmailDetails(_EmailDetailsRequired, total=False):
    """An email with its document and its series."""
    sendOffsetDays: int
    """The planned number of days between the first email in the series and this email. Absent if there is no
    series.
    """
    screenshotUrl: str
    """The URL of a screenshot of the whole email, 600 CSS pixels wide, with two image pixels per CSS pixel."""
    screenshotFullUrl: str
    """The URL of the screenshot, equal to `screenshotUrl`."""
    thumbnailUrl: str
    shareUrl: str
    """The URL of a page that shows the email without an API key; absent if the email is private."""
    writtenBy: str
    """The writer of the current version: `composer`, or the name of a language model. Absent if the text was
    imported or a user wrote it.
    """
    error: str
    """Why the generation failed; absent if it did not fail."""
    document: _t.Any
    """The email's document: typed blocks, from which all outputs are rendered. Absent for imported HTML."""
    brief: Brief
    """The brief of the conversation. Absent for imported HTML, and for emails that were created from a design or
    a document.
    """


EmailEditResult = _t.Union["EditedEmail | EditView"]
"""The edited email. With `async`, or if the edit takes longer than 20 seconds, the unfinished edit instead,
whose status can be polled.
"""


class EmailExport(_t.TypedDict):
    """The exported files, or the templates and drafts that an export created on a platform."""
    conversationId: str
    files: list[FileView]
    """The files, or the templates and drafts on the platform, in the order of the emails."""
    executionTime: int
    """The duration of the export in milliseconds."""
    exportType: _t.Literal["html", "mjml", "png", "pdf", "platform_a", "platform_b", "platform_c"]


class _EmailLogPartRequired(_t.TypedDict):
    emails: list[CampaignLog]
    hasMore: bool


class EmailLogPart(_EmailLogPartRequired, total=False):
    """A page of an email's recipient log."""
    nextCursor: str
    """The cursor of the next page; absent on the last page."""


EmailLogStatus = _t.Literal["opened", "clicked", "bounced", "complained", "delivered", "suppressed"]
"""A status to filter recipients by."""


class _EmailMetricsRequired(_t.TypedDict):
    emailId: str
    summary: EmailMetricsSummary
    timeSeries: list[EmailMetricsDay]
    """The results by UTC day, earliest first. Days without activity are omitted."""
    countryBreakdown: list[CountryCount]
    """For each country, the number of recipients who opened the email and have this country in their contact
    profile; largest number
    first.
    """
    lastUpdated: str
    cached: bool
    """Whether the numbers come from a cache: always false."""


class EmailMetrics(_EmailMetricsRequired, total=False):
    """The results of an email."""
    conversion: Conversion
    """The revenue of all campaigns, batches and sends of the email; absent if no order is attributed to them."""


class EmailMetricsDay(_t.TypedDict):
    """An email's results on one day."""
    date: str
    """The UTC day, such as 2026-01-31."""
    sent: int
    delivered: int
    opened: int
    clicked: int
    bounced: int
    complained: int


class EmailMetricsSummary(_t.TypedDict):
    """The totals of all days. Opens and clicks count each recipient once per mailing, and exclude bots and
    privacy proxies.
    """
    totalEmails: int
    """The number of messages that servers accepted, refused permanently, or deferred for too long."""
    delivered: int
    """The number of messages that were accepted and did not bounce."""
    opened: int
    clicked: int
    bounced: int
    complained: int
    unsubscribed: int
    deliveredRate: float
    """Delivered messages as a percentage of all messages, with two decimals."""
    openedRate: float
    """Opened messages as a percentage of delivered messages."""
    clickedRate: float
    """Clicked messages as a percentage of delivered messages."""
    bouncedRate: float
    """Bounced messages as a percentage of all messages."""
    complainedRate: float
    """Complaints as a percentage of delivered messages."""
    unsubscribedRate: float
    """Unsubscribes as a percentage of delivered messages."""


EmailPurpose = _t.Literal["welcome", "sale", "launch", "digest", "event", "webinar", "apology", "outage", "service_notice", "recall", "price_change", "cart", "win_back", "trial_ending", "order_deadline", "closing", "opening_hours", "voucher", "survey", "review", "referral", "receipt", "hiring", "seasonal", "thank_you", "legal", "waitlist", "reminder", "announcement", "unclear"]
"""The purpose of an email."""


class EmailStats(_t.TypedDict):
    """The measured properties of an email, such as its length."""
    imageCount: int
    buttonCount: int
    estimatedLength: int
    """The length of the email's text: in words for an email with a document, in characters for imported HTML."""
    colors: list[str]
    """The email's main colors as `#RRGGBB`."""


class _EmailViewRequired(_t.TypedDict):
    id: str
    emailId: str
    """The email's ID, equal to `id`."""
    conversationId: str
    projectId: str
    messageId: str
    """The ID of the email's current version."""
    slotIdx: int
    """The email's slot in the series, starting at 0."""
    slot: int
    """The email's slot in the series, starting at 1."""
    slotUuid: str
    """The ID of the slot in the series. All languages and versions of the email share this ID."""
    language: str
    """The language of the email, as a BCP 47 tag."""
    status: _t.Literal["processing", "ready", "failed"]
    subject: str
    preheader: str
    html: str
    """The email's HTML; empty until the email is rendered."""
    text: str
    """The email's plain-text part; empty until the email is rendered."""
    warnings: list[EmailWarning]
    """Warnings about the email, for users. A warning about missing text can contain the change that adds the
    text.
    """
    favorite: bool
    version: int
    """The number of the current version."""
    createdAt: str
    updatedAt: str


class EmailView(_EmailViewRequired, total=False):
    """An email in one language, with the outputs and warnings of its current version."""
    sendOffsetDays: int
    """The planned number of days between the first email in the series and this email. Absent if there is no
    series.
    """
    screenshotUrl: str
    """The URL of a screenshot of the whole email, 600 CSS pixels wide, with two image pixels per CSS pixel."""
    screenshotFullUrl: str
    """The URL of the screenshot, equal to `screenshotUrl`."""
    thumbnailUrl: str
    shareUrl: str
    """The URL of a page that shows the email without an API key; absent if the email is private."""
    writtenBy: str
    """The writer of the current version: `composer`, or the name of a language model. Absent if the text was
    imported or a user wrote it.
    """
    error: str
    """Why the generation failed; absent if it did not fail."""


EmailVisibility = _t.Literal["private", "unlisted", "public"]
"""Who may see the emails without an API key."""


class _EmailWarningRequired(_t.TypedDict):
    kind: FindingKind
    message: str
    """The problem and, in most cases, the remedy, worded for users."""


class EmailWarning(_EmailWarningRequired, total=False):
    """A warning about an email."""
    text: str
    """The text that the warning concerns."""
    span: BriefSpan
    """The span of the text in the prompt."""
    block: str
    """The ID of the block that the warning concerns."""
    add: DocumentChange
    """The change that adds the missing text to the email."""
    remove: DocumentChange
    """The change that removes the text that must not be in the email."""
    accept: str
    """The text to send to POST /v1/emails/{emailId}/brief, which adds it to the brief, so that the email may
    contain it.
    """
    checkFinding: str
    """The ID of the finding in GET /v1/emails/{emailId}/checks, if a check found the problem."""


class EmailsListPage(_t.TypedDict):
    emails: list[ConversationView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class EmailsVersionsListPage(_t.TypedDict):
    versions: list[VersionView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


_EventConditionWords = _t.TypedDict("_EventConditionWords", {"from": "str"}, total=False)


class _EventConditionRequired(_t.TypedDict):
    name: str
    """The name of the event, such as `purchase.completed`. Case is ignored."""
    mode: EventMode


class EventCondition(_EventConditionWords, _EventConditionRequired, total=False):
    """A condition on the customer events with a given name."""
    unit: TimeUnit
    """With `within` and `not_within`: the unit of `amount`."""
    amount: int
    """With `within` and `not_within`: the length of the period, up to 90 days, because events are kept for 90
    days.
    """
    to: str
    """With `between` and `not_between`: the end of the period, exclusive."""


_EventConditionInputWords = _t.TypedDict("_EventConditionInputWords", {"from": "str | None"}, total=False)


class _EventConditionInputRequired(_t.TypedDict):
    name: str
    """The name of the event, such as `purchase.completed`. Case is ignored."""
    mode: EventMode


class EventConditionInput(_EventConditionInputWords, _EventConditionInputRequired, total=False):
    """A condition on the customer events with a given name."""
    unit: TimeUnit | None
    """With `within` and `not_within`: the unit of `amount`."""
    amount: int | None
    """With `within` and `not_within`: the length of the period, up to 90 days, because events are kept for 90
    days.
    """
    to: str | None
    """With `between` and `not_between`: the end of the period, exclusive."""


class EventIdentifiers(_t.TypedDict, total=False):
    """The identifiers of the contact; at least one is required. The service tries them in this order and uses
    the first one that matches a
    contact; an `email` that matches none creates a contact. External IDs are then stored for the contact, so
    that later events can use only
    an external ID.
    """
    email: str | None
    """The contact's address. If no contact has this address, a contact is created as `non-subscribed`: an event
    never subscribes a
    contact.
    """
    subscriberId: str | None
    """The contact's ID."""
    externalCustomerId: str | None
    """A customer ID from another system. Identifies the contact of an earlier event that had this ID and another
    identifier.
    """
    externalCheckoutId: str | None
    """A checkout ID from another system. Identifies the contact of an earlier event that had this ID and another
    identifier.
    """
    externalOrderId: str | None
    """An order ID from another system. Identifies the contact of an earlier event that had this ID and another
    identifier. With this ID
    and a number in `properties.value`, the event is a conversion.
    """


EventMode = _t.Literal["within", "not_within", "ever", "never", "between", "not_between"]
"""Whether and when an event must have occurred."""


class EventNames(_t.TypedDict):
    """The event names of a project."""
    names: list[str]
    """The event names, in lowercase and alphabetical order."""


class _EventRowRequired(_t.TypedDict):
    name: str
    """The event name, such as `purchase.completed`. If the name contains `refund`, `cancelled` or `canceled`, in
    uppercase or lowercase,
    the amount is treated as negative.
    """
    identifiers: EventIdentifiers


class EventRow(_EventRowRequired, total=False):
    """One event in a batch."""
    profile: ContactProfile | None
    """Current data about the contact, in the same form as when updating a contact. Never changes the contact's
    status.
    """
    properties: dict[str, _t.Any] | None
    """The event's properties: at most 16 KB of JSON, 50 top-level properties, and 4 levels of objects and lists.
    The property `value` is
    an amount in major units, and `currency` is the ISO 4217 code of its currency. The default currency is
    USD.
    """
    occurredAt: str | None
    """When the event occurred: at most 90 days ago, and at most 5 minutes ahead of the service's clock. The
    default is the current time. A
    time without an offset is in UTC.
    """
    dedupeKey: str | None
    """A key that identifies the event. A project stores only the first event with a given key, until that event
    is deleted.
    """


class _EventRowResultRequired(_t.TypedDict):
    stored: bool


class EventRowResult(_EventRowResultRequired, total=False):
    """The result for one row of a batch."""
    eventId: str
    """The ID of the event; present if the row was stored."""
    dedupeKey: str
    """The row's dedupeKey; present if the row was stored and has a key."""
    duplicate: bool
    """True if the row was skipped because an event with its key was already stored, from an earlier row of this
    batch or from an earlier
    request.
    """


class EventType(_t.TypedDict):
    type: _t.Literal["email.generation.started", "email.generation.completed", "email.generation.failed", "email.test.sent", "project.import.started", "subscriber.added", "subscriber.updated", "subscriber.unsubscribed", "subscriber.bulk_imported", "email.delivered", "email.opened", "email.clicked", "email.bounced", "email.complained"]
    """The name of the event type, as used in the field `events` of a webhook."""
    description: str
    """When an event of this type is emitted."""
    optIn: bool
    """Whether events of this type are emitted only if a webhook subscribes to them. This applies to engagement
    events, which are numerous.
    """


class EventTypes(_t.TypedDict):
    """The event types that webhooks can subscribe to."""
    events: list[EventType]
    total: int


ExportDestination = _t.Literal["file"]
"""Where the result of an export for a platform goes."""


class ExportFilters(_t.TypedDict, total=False):
    """Filters like those of a segment, and words to search for."""
    search: str | None
    """Words to find in email, names, company, phone, city, tags and custom fields."""
    match: ConditionMatch
    """Whether all conditions and nested groups in this group must match, or at least one of them."""
    groups: list[FilterTreeInput]
    """Nested groups: at most 10 in one group and at most 3 levels below the root. The whole tree can have at
    most 50 conditions.
    """
    tags: list[str]
    """The IDs of tags. The condition matches contacts that have at least one of these tags."""
    excludeTags: list[str]
    """The IDs of tags. The condition matches contacts that have none of these tags."""
    topics: list[str]
    """The IDs of topics. The condition matches contacts that are subscribed to at least one of these topics, by
    explicit choice or by the
    topic's default.
    """
    excludeTopics: list[str]
    """The IDs of topics. The condition matches contacts that are subscribed to none of these topics."""
    status: ContactStatus | None
    """The contact's status."""
    validationStatus: AddressValidation | None
    """The result of validating the address. Addresses are not validated yet, so this is `unknown` for every
    contact.
    """
    customFields: dict[str, list[str | float | bool]]
    """The names of custom fields, each with a list of values. Each name is a condition: the field equals one of
    its listed values.
    Equivalent to conditions in `fields` with mode `is`.
    """
    fields: list[FieldCondition]
    """Conditions on single fields."""
    activity: list[ActivityConditionInput]
    """Conditions on what was sent to the contact and what the contact did in response. Opens and clicks by
    security scanners, and by mail
    services that prefetch all links and images, are ignored.
    """
    events: list[EventConditionInput]
    """Conditions on customer events, whether reported through the API, imported, or received from a store or an
    incoming webhook.
    """


class ExportStatusView(_t.TypedDict):
    """Whether a conversation's emails can be exported and in which formats."""
    conversationId: str
    canExport: bool
    availableFormats: list[str]
    reason: str
    """Why the emails cannot be exported, or why some formats are unavailable; empty if every format is
    available.
    """
    platforms: list[PlatformState]
    """The platforms, each with the connected accounts that the project can use."""
    exported: list[EarlierView]
    """The templates and drafts that earlier exports created on platforms. Exporting an email again updates its
    template or draft.
    """


class _ExportViewRequired(_t.TypedDict):
    jobId: str
    projectId: str
    status: _t.Literal["pending", "processing", "completed", "failed"]
    contactCount: int
    """The number of contacts in the file; 0 until the file has been written."""
    fileName: str
    createdAt: str


class ExportView(_ExportViewRequired, total=False):
    """An export and its status."""
    completedAt: str
    downloadUrl: str
    """The URL of the file. Anyone who has the URL can download the file. Absent if there is no file or the URL
    has expired.
    """
    downloadExpiresAt: str
    """When the download link and the file expire."""
    error: str
    """Why the export failed, and what to do; absent if it did not fail."""


class ExportsHubspotCustomOptions(_t.TypedDict, total=False):
    customInstructions: AnyJson
    type: _t.Literal["template"]


_ExportsHubspotCustomOptions2Words = _t.TypedDict("_ExportsHubspotCustomOptions2Words", {"from": "AnyJson"}, total=False)


class _ExportsHubspotCustomOptions2Required(_t.TypedDict):
    type: _t.Literal["email"]


class ExportsHubspotCustomOptions2(_ExportsHubspotCustomOptions2Words, _ExportsHubspotCustomOptions2Required, total=False):
    activeDomain: AnyJson
    businessUnitId: AnyJson
    campaign: AnyJson
    folderIdV2: AnyJson
    language: AnyJson
    subscriptionDetails: AnyJson
    customInstructions: AnyJson


class ExternalIds(_t.TypedDict, total=False):
    """The IDs of the customer, the checkout and the order in the reporting system."""
    externalCustomerId: str
    externalCheckoutId: str
    externalOrderId: str


FactKind = _t.Literal["percentage", "code", "date", "time", "place", "capacity", "old_price", "person", "link", "condition", "amount", "period", "price", "minimum", "product", "contact", "sentence"]


FactRole = _t.Literal["offer_starts", "offer_ends", "order_by", "event", "closed", "reopens", "price_changes", "delivery", "other", "offer", "happened"]


FactValue = _t.Union["FactValueValue | FactValueValue2 | FactValueValue3 | FactValueValue4 | FactValueValue5"]
"""The value of a fact, independent of the language."""


FactValueInput = _t.Union["FactValueInputValue | FactValueInputValue2 | FactValueInputValue3 | FactValueInputValue4 | FactValueInputValue5"]
"""The value of a fact, independent of the language."""


class FactValueInputValue(_t.TypedDict):
    type: _t.Literal["percent"]
    percent: float


class FactValueInputValue2(_t.TypedDict):
    type: _t.Literal["money"]
    amount: float
    currency: str


class _FactValueInputValue3Required(_t.TypedDict):
    type: _t.Literal["days"]
    first: str


class FactValueInputValue3(_FactValueInputValue3Required, total=False):
    last: str | None


class _FactValueInputValue4Required(_t.TypedDict):
    type: _t.Literal["clock"]
    start: str


class FactValueInputValue4(_FactValueInputValue4Required, total=False):
    end: str | None


class FactValueInputValue5(_t.TypedDict):
    type: _t.Literal["count"]
    count: int


class FactValueValue(_t.TypedDict):
    type: _t.Literal["percent"]
    percent: float


class FactValueValue2(_t.TypedDict):
    type: _t.Literal["money"]
    amount: float
    currency: str


class _FactValueValue3Required(_t.TypedDict):
    type: _t.Literal["days"]
    first: str


class FactValueValue3(_FactValueValue3Required, total=False):
    last: str


class _FactValueValue4Required(_t.TypedDict):
    type: _t.Literal["clock"]
    start: str


class FactValueValue4(_FactValueValue4Required, total=False):
    end: str


class FactValueValue5(_t.TypedDict):
    type: _t.Literal["count"]
    count: int


class FavoriteResult(_t.TypedDict):
    """The email and whether it is now a favorite."""
    emailId: str
    favorite: bool
    conversationId: str
    slotUuid: str


class FieldCatalog(_t.TypedDict):
    """The fields of the examined contacts."""
    entries: list[CatalogField]
    """The fields: first standard fields, then custom fields, most common first."""
    totalSubscribers: int
    """The number of contacts selected."""
    examined: int
    """The number of contacts examined: the newest of the selected contacts, up to `examine`."""
    computedAt: str


class FieldCondition(_t.TypedDict):
    """A condition on one contact field."""
    key: str
    """`email`, `firstName`, `lastName`, `company`, `phone`, `city`, `country`, `language`, `status`,
    `createdAt`, `updatedAt`, or the name of a custom field, with or without the prefix `customFields.`.
    """
    mode: FieldMode
    """How the field is compared."""
    values: list[str | float | bool]
    """The values to compare with. Text modes accept one or more values. `date_between` and `number_between`
    require two values, and the
    other date and number modes require one.
    """


FieldKind = _t.Literal["string", "number", "boolean", "date", "url", "unknown"]
"""The type of a field's values."""


FieldMode = _t.Literal["number_gt", "number_gte", "number_lt", "number_lte", "is", "is_not", "starts_with", "ends_with", "contains", "not_contains", "date_after", "date_before", "date_on", "date_between", "number_between"]
"""How a field is compared. String comparison ignores case. Dates are UTC days or moments."""


FieldValue = _t.Any


class _FileViewRequired(_t.TypedDict):
    filename: str
    """The name of the file, or of the template or draft on the platform."""
    url: str
    """The file's URL, which anyone can open, or the URL of the template or draft on the platform."""
    format: _t.Literal["html", "mjml", "png", "pdf"]
    emailId: str


class FileView(_FileViewRequired, total=False):
    """An exported file, or a template or draft on a platform."""
    untranslated: list[str]
    """The merge fields that were removed because the platform does not support them; absent if there are none."""
    expiresAt: str
    """When the link expires; absent for templates and drafts on a platform."""
    platform: PlatformObject
    """The template or draft that the export created or updated on the platform; absent for files."""


class _FilterTreeRequired(_t.TypedDict):
    match: ConditionMatch
    """Whether all conditions and nested groups in this group must match, or at least one of them."""


class FilterTree(_FilterTreeRequired, total=False):
    """A filter on contacts: a group of conditions and nested groups. A filter without conditions matches every
    contact.
    """
    groups: list[FilterTree]
    """Nested groups: at most 10 in one group and at most 3 levels below the root. The whole tree can have at
    most 50 conditions.
    """
    tags: list[str]
    """The IDs of tags. The condition matches contacts that have at least one of these tags."""
    excludeTags: list[str]
    """The IDs of tags. The condition matches contacts that have none of these tags."""
    topics: list[str]
    """The IDs of topics. The condition matches contacts that are subscribed to at least one of these topics, by
    explicit choice or by the
    topic's default.
    """
    excludeTopics: list[str]
    """The IDs of topics. The condition matches contacts that are subscribed to none of these topics."""
    status: ContactStatus
    """The contact's status."""
    validationStatus: AddressValidation
    """The result of validating the address. Addresses are not validated yet, so this is `unknown` for every
    contact.
    """
    customFields: dict[str, list[str | float | bool]]
    """The names of custom fields, each with a list of values. Each name is a condition: the field equals one of
    its listed values.
    Equivalent to conditions in `fields` with mode `is`.
    """
    fields: list[FieldCondition]
    """Conditions on single fields."""
    activity: list[ActivityCondition]
    """Conditions on what was sent to the contact and what the contact did in response. Opens and clicks by
    security scanners, and by mail
    services that prefetch all links and images, are ignored.
    """
    events: list[EventCondition]
    """Conditions on customer events, whether reported through the API, imported, or received from a store or an
    incoming webhook.
    """


class FilterTreeInput(_t.TypedDict, total=False):
    """A filter on contacts: a group of conditions and nested groups. A filter without conditions matches every
    contact.
    """
    match: ConditionMatch
    """Whether all conditions and nested groups in this group must match, or at least one of them."""
    groups: list[FilterTreeInput]
    """Nested groups: at most 10 in one group and at most 3 levels below the root. The whole tree can have at
    most 50 conditions.
    """
    tags: list[str]
    """The IDs of tags. The condition matches contacts that have at least one of these tags."""
    excludeTags: list[str]
    """The IDs of tags. The condition matches contacts that have none of these tags."""
    topics: list[str]
    """The IDs of topics. The condition matches contacts that are subscribed to at least one of these topics, by
    explicit choice or by the
    topic's default.
    """
    excludeTopics: list[str]
    """The IDs of topics. The condition matches contacts that are subscribed to none of these topics."""
    status: ContactStatus | None
    """The contact's status."""
    validationStatus: AddressValidation | None
    """The result of validating the address. Addresses are not validated yet, so this is `unknown` for every
    contact.
    """
    customFields: dict[str, list[str | float | bool]]
    """The names of custom fields, each with a list of values. Each name is a condition: the field equals one of
    its listed values.
    Equivalent to conditions in `fields` with mode `is`.
    """
    fields: list[FieldCondition]
    """Conditions on single fields."""
    activity: list[ActivityConditionInput]
    """Conditions on what was sent to the contact and what the contact did in response. Opens and clicks by
    security scanners, and by mail
    services that prefetch all links and images, are ignored.
    """
    events: list[EventConditionInput]
    """Conditions on customer events, whether reported through the API, imported, or received from a store or an
    incoming webhook.
    """


FindingKind = _t.Literal["fact_missing", "fact_repeated", "fact_misused", "text_missing", "constraint_broken", "instruction_printed", "not_in_brief", "line_incomplete", "unclear", "not_translated", "note", "compatibility", "links", "spelling", "deliverability", "accessibility"]
"""The subject of a warning."""


FindingSeverity = _t.Literal["critical", "warning", "info"]
"""How serious a finding is."""


class FontsPatch(_t.TypedDict, total=False):
    """The fonts to set, as names such as `Lora`. Families that are available in most email clients are appended
    as fallbacks.
    """
    heading: str | None
    body: str | None


class _FormatViewRequired(_t.TypedDict):
    name: str
    description: str
    supportedFormats: list[str]
    """The extensions of the files that an export can create."""
    type: _t.Literal["simple", "complex"]
    """`simple` for a file format, or `complex` for a platform."""


class FormatView(_FormatViewRequired, total=False):
    """A file format, or a platform that emails can be exported for."""
    types: list[str]
    """What an export for a platform can create in a connected account; absent for file formats."""


class FormatsView(_t.TypedDict):
    """The formats in which emails can be exported."""
    formats: list[FormatView]
    total: int


class GenerationProgress(_t.TypedDict):
    """The progress of a generation."""
    stage: _t.Literal["waiting", "writing", "rendering", "completed", "failed"]
    step: int
    """The number of the current step, starting at 1. Planning takes one step. Each email then takes three steps:
    it is written, rendered,
    and captured in screenshots.
    """
    steps: int
    """The number of steps. This is an estimate until the emails are planned."""
    percentage: int
    """The progress as a percentage from 0 to 100."""


class _GenerationStatusRequired(_t.TypedDict):
    conversationId: str
    projectId: str
    status: _t.Literal["pending", "processing", "completed", "failed"]
    progress: GenerationProgress
    title: str
    """The title of the emails or, for imported HTML, the first subject. Until the emails are planned, the start
    of the prompt or of the
    brief.
    """
    prompt: str
    """The prompt or, for imported HTML, the instruction; empty if there is none."""
    model: str
    """The model that the request names or, if it names none, the default model. For emails that are created from
    a design or a document,
    `composer`, the built-in composer.
    """
    onFailure: OnFailure
    """What happens if the model cannot write: the generation fails, or the built-in composer writes the emails.
    Each email's `writtenBy`
    names its writer.
    """
    createdAt: str
    updatedAt: str


class GenerationStatus(_GenerationStatusRequired, total=False):
    """The status of a conversation and its emails."""
    brief: Brief
    """The brief that the emails are written from. Absent until the prompt is read, and for emails that are
    imported or created from a
    design or a document.
    """
    error: str
    """Why the generation failed; absent if it did not fail."""
    result: ResultView
    """The emails, including emails that are still being generated. Absent until the emails are planned."""


class GivenImage(_t.TypedDict):
    """An image to use in the emails."""
    source: ImageSource


GivenReason = _t.Literal["manual", "bounce_hard", "complaint", "unsubscribe"]
"""The reasons that users and programs can give when they add an address."""


class GivenSignature(_t.TypedDict):
    """How another system signs its requests: with the HMAC-SHA256 of the body, in hexadecimal or Base64, with or
    without the prefix `sha256=`.
    """
    header: str
    """The header with the signature, such as `Typeform-Signature`."""
    secret: str
    """The secret that you entered in the other system, or that the other system shows. It is stored encrypted
    and never shown
    again.
    """


class GrantedScope(_t.TypedDict):
    """A permission on a platform."""
    scope: str
    purpose: str


class HookDeliveries(_t.TypedDict):
    """The latest requests to an incoming webhook."""
    deliveries: list[HookDeliveryView]
    """The last 50 requests, newest first."""


class _HookDeliveryViewRequired(_t.TypedDict):
    at: str
    result: _t.Literal["created", "updated", "unchanged", "recorded", "rejected"]
    """`created`, `updated` or `unchanged` for contacts, `recorded` or `unchanged` for events, or `rejected`."""


class HookDeliveryView(_HookDeliveryViewRequired, total=False):
    """A request that an incoming webhook received, with its result. Contains no text from the request body."""
    field: str
    """The field that cannot be used."""
    reason: str
    """Why the field cannot be used."""


HookKind = _t.Literal["contacts", "events"]
"""What the request bodies sent to a webhook contain."""


class _HookTestedRequired(_t.TypedDict):
    success: bool
    """Whether the body can be stored."""
    input: _t.Any
    """The values that the mapping extracts from the body, in the API's format for a contact or customer event."""


class HookTested(_HookTestedRequired, total=False):
    """What the incoming webhook would do with the body."""
    field: str
    """The field that cannot be used."""
    reason: str
    """Why the field cannot be used."""


class _HookViewRequired(_t.TypedDict):
    id: str
    projectId: str
    name: str
    kind: HookKind
    """What the bodies contain."""
    mapping: dict[str, str]
    """The path of each field's value in the body. If there are no paths, each field gets the value with the same
    name in the body.
    """
    tags: list[str]
    """The tags to add to every contact."""
    active: bool
    """Whether requests are accepted."""
    acceptedCount: int
    rejectedCount: int
    createdAt: str
    updatedAt: str


class HookView(_HookViewRequired, total=False):
    """An incoming webhook, without its URL."""
    signatureHeader: str
    """The header with the signature of each request. If absent, signatures are not checked."""
    eventName: str
    """The name that every event receives. If absent, the name comes from the body."""
    topicId: str
    """The topic to which contacts with consent are subscribed."""
    consentSource: str
    """Where the contacts agreed to marketing email. If absent, new contacts are non-subscribed."""
    redirectUrl: str
    """The page to which browsers are redirected after they submit a form."""
    lastReceivedAt: str
    """When the last request arrived."""


class _HookWithUrlRequired(_t.TypedDict):
    id: str
    projectId: str
    name: str
    kind: HookKind
    """What the bodies contain."""
    mapping: dict[str, str]
    """The path of each field's value in the body. If there are no paths, each field gets the value with the same
    name in the body.
    """
    tags: list[str]
    """The tags to add to every contact."""
    active: bool
    """Whether requests are accepted."""
    acceptedCount: int
    rejectedCount: int
    createdAt: str
    updatedAt: str


class HookWithUrl(_HookWithUrlRequired, total=False):
    """An incoming webhook, with its URL if this response shows it."""
    signatureHeader: str
    """The header with the signature of each request. If absent, signatures are not checked."""
    eventName: str
    """The name that every event receives. If absent, the name comes from the body."""
    topicId: str
    """The topic to which contacts with consent are subscribed."""
    consentSource: str
    """Where the contacts agreed to marketing email. If absent, new contacts are non-subscribed."""
    redirectUrl: str
    """The page to which browsers are redirected after they submit a form."""
    lastReceivedAt: str
    """When the last request arrived."""
    url: str
    """The URL to enter in the other system. It contains a secret and is shown only in this response."""


class _ImageCropRequired(_t.TypedDict):
    width: int
    """The width in the aspect ratio, such as 3 in 3:2."""
    height: int
    """The height in the aspect ratio, such as 2 in 3:2."""


class ImageCrop(_ImageCropRequired, total=False):
    """The crop of an image: the largest area with the given aspect ratio, centered as closely as possible on a
    focus point.
    """
    x: int | None
    """The distance of the focus point from the left side, as a percentage of the image's width. The default is
    50.
    """
    y: int | None
    """The distance of the focus point from the top, as a percentage of the image's height. The default is 50."""


ImageHosting = _t.Literal["hosted", "upload"]
"""Where an email's images are hosted after an export into an account."""


ImageSource = _t.Union["ImageSourceValue"]
"""The source of an image."""


class ImageSourceValue(_t.TypedDict):
    """The image at this URL."""
    type: _t.Literal["url"]
    url: str


class ImportAccepted(_t.TypedDict):
    """The response to an accepted import."""
    projectId: str
    status: ProjectStatus
    domain: str
    """The host of the first address, without `www.`."""
    urls: list[str]
    message: str
    """A message that tells the user what to do next."""


class _ImportChangeViewRequired(_t.TypedDict):
    id: str
    """The ID of the change: a field such as `palette.primary`, or `product.` followed by the product's ID."""
    label: str
    """A description of the change, worded for users."""
    state: ChangeState
    """`pending`: the current value is used until a user decides. `kept`: a user set the current value, so it
    stays.
    """


class ImportChangeView(_ImportChangeViewRequired, total=False):
    """A change that an import found."""
    before: str
    """The current value, worded for users; absent if there is none."""
    now: str
    """The value on the website; absent if there is none."""


class _ImportChangesViewRequired(_t.TypedDict):
    changes: list[ImportChangeView]
    """The changes. Changes to the brand come first, then changes to products."""
    pending: int
    """The number of changes that wait for a decision."""


class ImportChangesView(_ImportChangesViewRequired, total=False):
    """The changes that the last import found."""
    foundAt: str
    """When the import found the changes; absent if there are no changes."""


class _ImportColumnRequired(_t.TypedDict):
    header: str
    """The cell of this column in the header row."""
    samples: list[str]
    """The cells of this column in the first rows after the headers."""


class ImportColumn(_ImportColumnRequired, total=False):
    """A column of a file."""
    guess: str
    """The field that the column probably contains: its name, or `customFields.` followed by the name of a custom
    field; absent if unknown.
    """


class _ImportErrorRequired(_t.TypedDict):
    row: int
    """The number of the row in the file, where the headers are row 1. In an import from a platform: the number
    of the contact, counted in
    the order in which the contacts are read.
    """
    field: str
    """The invalid field."""
    error: str
    """What is wrong with the row and what was expected, or why the contact's status was not changed."""


class ImportError(_ImportErrorRequired, total=False):
    """A note on one row of the imported file."""
    email: str
    """The email in the row, if there is one."""


class ImportMetrics(_t.TypedDict):
    """Metrics about an import."""
    pagesRead: int
    """The number of pages that were read."""
    pagesFailed: int
    """The number of pages that could not be read."""
    stylesheetsRead: int
    bytesRead: int
    """The number of bytes fetched, excluding images."""
    imagesMeasured: int
    """The number of logos and images fetched and measured."""
    productsFound: int
    knowledgeEntries: int
    """The number of entries added to the knowledge base."""
    durationMs: int
    missing: list[str]
    """Facts about the brand that were not found on the sites."""
    notes: list[str]
    """Remarks about how the sites were read, worded for users."""


class ImportPreview(_t.TypedDict):
    """What an import would change."""
    read: int
    """The number of contacts that were read for the preview."""
    isComplete: bool
    """Whether the preview covers all contacts. The preview reads at most 2,000 contacts."""
    created: int
    """The number of contacts that would be added."""
    updated: int
    """The number of existing contacts that would change, not counting the import's tags."""
    skipped: int
    """The number of existing contacts that would not change."""
    failed: int
    """The number of contacts that would be rejected; `problems` contains the reasons."""
    excluded: int
    """The number of contacts that `consentMode` would leave out."""
    unsubscribed: int
    """The number of contacts who would be unsubscribed, or added as unsubscribed."""
    fields: list[PreviewField]
    """The fields of the contacts that were read, with the platform's names; at most 200."""
    contacts: list[PreviewContact]
    """At most 20 of the contacts that were read, starting with those that would change."""
    problems: list[PreviewProblem]
    """The first 20 problems."""


class ImportPreviewed(_t.TypedDict):
    """A preview of a pending file."""
    id: str
    projectId: str
    fileName: str
    bytes: int
    delimiter: str
    """The separator that was used to split the rows into cells."""
    columns: list[ImportColumn]
    """All columns of the file."""
    expiresAt: str
    """When the file will be deleted, unless its import has been started by then."""


class _ImportProgressRequired(_t.TypedDict):
    object: str
    """Always `contact_import`."""
    id: str
    status: _t.Literal["pending", "processing", "completed", "failed", "uploaded"]
    counts: RowCounts
    progress: float
    """The approximate share of the import that is done, from 0 to 1."""
    created_at: str


class ImportProgress(_ImportProgressRequired, total=False):
    """The progress of an import. API clients expect its field names in snake case."""
    provider: ConnectionProvider
    """The platform that the contacts are imported from; absent for a file."""
    excluded: int
    """The number of contacts that were left out because they never subscribed or have no status. Absent for a
    file import that keeps rows
    without a status.
    """
    waiting: str
    """Why the import is paused, and what resumes it; absent if it is not paused."""
    error: str
    """Why the import failed, and what to do; absent if it did not fail."""
    completed_at: str


class ImportProgressOfProject(_t.TypedDict):
    """The progress of the import."""
    stage: _t.Literal["initializing", "fetching", "reading", "measuring", "completed", "failed"]
    """The current stage of the import."""
    percentage: int


class ImportRetryResult(_t.TypedDict):
    """The state of an import that was started again or is still running."""
    projectId: str
    status: ProjectStatus
    message: str
    """A message that tells the user what happens next."""


class ImportSources(_t.TypedDict):
    """The sources of a connected account."""
    sources: list[SourceView]
    """At most a thousand sources, in the platform's order. For Klaviyo and HubSpot, the first source contains
    the suppressed contacts, who
    unsubscribed or bounced.
    """


class ImportStarted(_t.TypedDict):
    """The import that was started."""
    object: str
    """Always `contact_import`."""
    id: str
    status: _t.Literal["processing", "uploaded"]


ImportTarget = _t.Literal["contacts", "events"]
"""What each row in a file becomes."""


class _ImportViewRequired(_t.TypedDict):
    projectId: str
    status: ProjectStatus
    """The status of the project. Poll until the status is `active` or `error`."""
    name: str
    domain: str
    progress: ImportProgressOfProject
    importMetrics: ImportMetrics
    """The results of the import so far."""


class ImportView(_ImportViewRequired, total=False):
    """The state of an import."""
    description: str
    error: str
    """Why the import failed, and what to do; absent if it did not fail."""


class ImportedSource(_t.TypedDict):
    """A source on a platform."""
    id: str
    type: ProviderSourceType
    name: str


class InboxListPage(_t.TypedDict):
    messages: list[MessageView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class IncomingWebhooksListPage(_t.TypedDict):
    hooks: list[HookView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class IncompleteCheck(_t.TypedDict):
    """A check that did not finish, or that finished only in part."""
    check: ValidationCheck
    reason: str


class InstallPage(_t.TypedDict):
    """The link to the shop's page for installing the app."""
    authorizeUrl: str
    """The URL of the shop's installation page. Open it in the signed-in user's browser."""
    expiresAt: str
    """When the link expires. The user must complete the installation before this time."""
    scopes: list[StoreScope]
    """The scopes that the user is asked to grant."""


class InvalidEventRow(_t.TypedDict):
    """A rejected row and the reason."""
    index: int
    """The position of the row in the request, starting at 0."""
    error: str
    """What is invalid and what was expected."""
    field: str
    """The name of the invalid field, such as `identifiers.email`; empty if the whole row is invalid."""


class KeptGuidelines(_t.TypedDict):
    """The guidelines after the change."""
    brandGuidelines: BrandGuidelines


KlaviyoType = _t.Literal["html", "hybrid", "code"]
"""The type of a Klaviyo template."""


KnowledgeOrigin = _t.Literal["website", "favorite", "upload", "manual"]
"""The origin of an entry."""


class _KnowledgeViewRequired(_t.TypedDict):
    id: str
    title: str
    content: str
    date: str
    """When the entry was created or last changed."""
    referenceOrigin: KnowledgeOrigin


class KnowledgeView(_KnowledgeViewRequired, total=False):
    """An entry in the knowledge base."""
    url: str
    """The URL of the page that the entry was read from, if it comes from a site."""
    sourceFileName: str
    previewHtml: str
    thumbnailUrl: str
    screenshotUrl: str


class LanguageShare(_t.TypedDict):
    """The recipients of one language's email."""
    language: str
    """The language of the email. The first email in the list also goes to recipients whose language is not in
    the list.
    """
    emailId: str
    recipients: int


class LinkAnalysis(_t.TypedDict):
    """The links in an email, with the result of their check."""
    totalLinks: int
    """The number of distinct URLs."""
    totalOccurrences: int
    """The total number of uses of URLs in the email."""
    score: int
    """The score from 0 to 100; 100 if no problem was found, and less than 90 with a critical finding or a link
    that does not work.
    """
    checkedLinks: list[CheckedLink]
    """The URLs with their kind, such as link or image."""
    findings: list[LinkFinding]
    """The problems, other than broken links, that readers and spam filters notice, most severe first."""
    summary: LinkSummary
    recommendations: list[str]
    """Recommendations, most important first."""
    metadata: LinkMetadata


class _LinkFindingRequired(_t.TypedDict):
    rule: str
    """A fixed name for programs, such as `shortener`."""
    severity: FindingSeverity
    message: str
    fix: str
    """How to resolve the finding."""
    count: int
    """The number of uses that the finding is about."""
    occurrences: list[SourcePlace]
    """The first uses that the finding is about."""


class LinkFinding(_LinkFindingRequired, total=False):
    """A finding about the links."""
    url: str
    """The URL that the finding is about; absent if the finding is about several URLs or the whole email."""


class LinkHop(_t.TypedDict):
    """A URL that redirects, with the status of its response."""
    url: str
    statusCode: int


LinkKind = _t.Literal["image", "link", "background", "form", "stylesheet", "media"]
"""What the email does with the URL."""


class LinkMetadata(_t.TypedDict):
    """How long the check took, and how much it covered."""
    processingTime: int
    """The time that the whole check took, in milliseconds."""
    linksChecked: int
    """The number of URLs that were requested."""
    linksSkipped: int
    """The number of URLs that were not requested."""
    complete: bool
    """Whether every URL that needs a request was checked. False, for example, if the time limit or the limit of
    200 URLs was reached.
    """


LinkStatus = _t.Literal["ok", "redirected", "broken", "unreachable", "unverifiable", "blocked", "invalid", "skipped"]
"""The status of a link after a check."""


class LinkSummary(_t.TypedDict):
    """The number of URLs with each status."""
    okLinks: int
    redirectedLinks: int
    brokenLinks: int
    unreachableLinks: int
    unverifiableLinks: int
    blockedLinks: int
    invalidLinks: int
    skippedLinks: int
    averageResponseTime: int
    """The average response time in milliseconds; 0 if no request was sent."""


class _LogPartRequired(_t.TypedDict):
    emails: list[CampaignLog]
    hasMore: bool


class LogPart(_LogPartRequired, total=False):
    """A page of a campaign's log."""
    nextCursor: str
    """The cursor of the next page; absent on the last page."""


class LogosUpdateResult(_t.TypedDict):
    """The logos after the change."""
    logoUrls: LogosView


class LogosView(_t.TypedDict):
    """The logo URLs; `null` for each logo that is missing."""
    primary: str | None
    secondary: str | None
    favicon: str | None


MailFeedbackStatus = _t.Literal["waiting", "active", "rejecting"]
"""The status of a mail service: whether its events arrive."""


class _MailFeedbackViewRequired(_t.TypedDict):
    id: str
    service: MailService
    status: MailFeedbackStatus
    """`waiting` before the first request; `rejecting` if a request was rejected and none has been accepted
    since; otherwise `active`.
    """
    secretConfigured: bool
    """Whether the secret for verifying requests is set. The secret itself is never shown."""
    secretRequired: bool
    """Whether requests are rejected until the secret is set."""
    topicArns: list[str]
    """The ARNs of the topics from which notifications are accepted; only for Amazon SES."""
    deliveries: int
    """The number of reported deliveries."""
    bounces: int
    complaints: int
    unsubscribes: int
    otherEvents: int
    """The number of other events, such as opens. They have no effect."""
    unmatchedEvents: int
    """The number of events that match no message of this environment. They have no effect."""
    repeatedRequests: int
    """The number of duplicate requests, which have no effect."""
    createdAt: str
    updatedAt: str


class MailFeedbackView(_MailFeedbackViewRequired, total=False):
    """A mail service that reports events. The view contains no secrets."""
    name: str
    confirmedAt: str
    """When Mailmill last confirmed a subscription to a topic; only for Amazon SES."""
    lastEventAt: str
    """When the last accepted request arrived."""
    lastRejection: RejectionView


class _MailFeedbackWithUrlRequired(_t.TypedDict):
    id: str
    service: MailService
    status: MailFeedbackStatus
    """`waiting` before the first request; `rejecting` if a request was rejected and none has been accepted
    since; otherwise `active`.
    """
    secretConfigured: bool
    """Whether the secret for verifying requests is set. The secret itself is never shown."""
    secretRequired: bool
    """Whether requests are rejected until the secret is set."""
    topicArns: list[str]
    """The ARNs of the topics from which notifications are accepted; only for Amazon SES."""
    deliveries: int
    """The number of reported deliveries."""
    bounces: int
    complaints: int
    unsubscribes: int
    otherEvents: int
    """The number of other events, such as opens. They have no effect."""
    unmatchedEvents: int
    """The number of events that match no message of this environment. They have no effect."""
    repeatedRequests: int
    """The number of duplicate requests, which have no effect."""
    createdAt: str
    updatedAt: str


class MailFeedbackWithUrl(_MailFeedbackWithUrlRequired, total=False):
    """A mail service, with the URL of its webhook if this response shows it."""
    name: str
    confirmedAt: str
    """When Mailmill last confirmed a subscription to a topic; only for Amazon SES."""
    lastEventAt: str
    """When the last accepted request arrived."""
    lastRejection: RejectionView
    url: str
    """The URL to enter in the provider's settings. It contains a secret and is shown only in this response."""


MailService = _t.Literal["postmark", "mailgun", "resend", "amazon_ses", "sendgrid", "brevo"]
"""A mail service, which relays mail and reports by webhook what happened to it."""


class _MailServiceTestedRequired(_t.TypedDict):
    success: bool
    """Whether the signature was valid and the reference to a message was found."""
    message: str
    """The checks that passed, or the problem and its remedy."""
    temporaryKey: bool
    """Whether the sample was signed with a temporary key, because only the mail service has the key for real
    requests.
    """


class MailServiceTested(_MailServiceTestedRequired, total=False):
    """The result of checking a sample event."""
    reason: RejectionReason
    """Why the request was rejected."""


class MailServicesListPage(_t.TypedDict):
    mailServices: list[MailFeedbackView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


MailStream = _t.Literal["transactional", "marketing"]
"""The kind of mail that a subdomain of a root domain sends."""


MailchimpType = _t.Literal["template", "campaign"]
"""What an export creates in Mailchimp."""


class MessageHeader(_t.TypedDict):
    """A header of a message."""
    name: str
    value: str


_MessageViewRequiredWords = _t.TypedDict("_MessageViewRequiredWords", {"from": "str"})


class _MessageViewRequired(_t.TypedDict):
    id: str
    sendId: str
    """The ID of the send or batch that the message belongs to."""
    to: str
    subject: str
    size: int
    """The size in bytes of the message as it would have been sent."""
    receivedAt: str


class MessageView(_MessageViewRequiredWords, _MessageViewRequired, total=False):
    """A message in the built-in inbox."""
    fromName: str


class _ModelMetricsRequired(_t.TypedDict):
    models: list[str]
    """The values that a request can use for `model`; `composer` is the built-in composer."""
    defaultModel: str
    """The model that writes emails if a request does not name a model."""
    onFailure: OnFailure
    """What happens if a language model cannot write an email."""
    months: list[ModelMonth]
    """The current month and the earlier months, latest first."""


class ModelMetrics(_ModelMetricsRequired, total=False):
    """The language models, their usage and the limits."""
    monthlyLimit: int
    """The account's maximum cost per month. `null` means unlimited."""
    monthlyLimitPerBrand: int
    """The maximum cost per month for each brand. `null` means unlimited."""


class ModelMonth(_t.TypedDict):
    """The usage of a month."""
    period: str
    """The month in UTC, such as `2026-01`."""
    cost: float
    """The cost of both environments together, which counts toward the account's limit."""
    usage: list[BrandUsage]
    """The usage in the environment of the request, by brand and model."""


class NamedSegment(_t.TypedDict):
    """The segment of an import's contacts."""
    id: str
    name: str


class NamedSource(_t.TypedDict):
    """An existing email to import."""
    name: str
    """The name of the file or the email. It becomes the subject if the source has none."""
    source: str
    """The source of the email: HTML, or a complete message with headers (.eml)."""


class NamedTag(_t.TypedDict):
    """The tag that an import adds."""
    id: str
    name: str


class NewLogos(_t.TypedDict, total=False):
    """The URLs of logos that users set."""
    primary: str | None
    secondary: str | None
    favicon: str | None


_NewSenderRequiredWords = _t.TypedDict("_NewSenderRequiredWords", {"from": "str"})


class NewSender(_NewSenderRequiredWords, total=False):
    """A default sender."""
    fromName: str | None
    """The name shown with the From address."""
    replyTo: str | None
    """The address that replies are sent to. If none is set, replies go to the From address."""


OnConflict = _t.Literal["upsert", "skip"]
"""What to do with a contact that already exists."""


OnFailure = _t.Literal["fail", "composer"]
"""What happens if a language model cannot read a prompt, or cannot write or edit an email."""


class OneDeviceView(_t.TypedDict):
    """One device of a preview."""
    previewId: str
    device: PreviewDeviceView


class _OrderPaymentRequired(_t.TypedDict):
    at: str
    amount: float
    currency: str
    isRefund: bool


class OrderPayment(_OrderPaymentRequired, total=False):
    """A payment or refund of an order."""
    creditedSendId: str
    """The ID of the send or batch to which the order is attributed."""


class OwningProject(_t.TypedDict):
    """The project that an object belongs to."""
    projectId: str
    """The project's ID."""


class Pagination(_t.TypedDict):
    total: int
    limit: int
    offset: int
    page: int
    hasMore: bool


class PalettePatch(_t.TypedDict, total=False):
    """The colors to set by role, as `#RRGGBB`."""
    background: str | None
    text: str | None
    primary: str | None
    """The main brand color."""
    accent: str | None
    """A second color, for small elements."""
    button: str | None
    buttonText: str | None


PauseReason = _t.Literal["failing", "rate_limited", "gone"]
"""Why an endpoint is paused."""


class _PersonalDataRequired(_t.TypedDict):
    profile: ContactView
    """The contact's profile, including tags."""
    topics: list[TopicState]
    """Every topic in the project, and whether the contact is subscribed to the topic."""
    sends: list[SentMessage]
    """The messages sent to the contact, newest first, with the contact's opens and clicks."""
    activity: list[RecordedAction]
    """The contact's recorded opens and clicks, newest first."""
    events: list[CustomerEvent]
    """The customer events of the last 90 days, newest first."""
    payments: list[OrderPayment]
    """The payments and refunds of the contact's orders."""
    exportedAt: str
    truncated: bool
    """Whether the oldest data was omitted because there is too much data for one response."""


class PersonalData(_PersonalDataRequired, total=False):
    """The data about one contact in one project."""
    suppression: SuppressionReason
    """Why the address is on the account's suppression list; absent if the address is not on the list."""


class _PlanQuotaRequired(_t.TypedDict):
    used: int
    resetsAt: str
    """When `used` is reset to 0."""


class PlanQuota(_PlanQuotaRequired, total=False):
    """A quota and how much of it is used."""
    limit: int
    """The number of emails that the plan allows. `null` means unlimited."""
    remaining: int
    """The number of emails that remain in this quota. `null` means unlimited."""


class PlanRequests(_t.TypedDict):
    """The request limit for a group of operations."""
    group: str
    covers: str
    """The operations that the group includes."""
    limit: int
    """The maximum number of requests per window. 0 means that no requests are allowed."""
    windowSeconds: int


class PlanSize(_t.TypedDict):
    what: str
    limit: int
    unit: str
    """The unit of the limit: `items`, `bytes` or `characters`."""


class _PlatformObjectRequired(_t.TypedDict):
    id: str
    """The ID of the template or draft on the platform. For a HubSpot coded template, the ID is the template's
    path.
    """
    type: _t.Literal["html", "hybrid", "template", "campaign", "email"]
    created: bool
    """Whether this export created the template or draft. If false, this export updated the result of an earlier
    export.
    """


class PlatformObject(_PlatformObjectRequired, total=False):
    """A template or draft on a platform."""
    leftImages: list[str]
    """The URLs of the images that could not be uploaded and stay at these URLs; absent if there are none."""


class PlatformState(_t.TypedDict):
    """A platform, and whether emails can be exported into an account there."""
    provider: ConnectionProvider
    isConnected: bool
    """Whether at least one of the connections works and may be used for exports."""
    connections: list[ConnectionView]
    """The connections that the project can use."""
    connectUrl: str
    """The URL of the page where users connect and reconnect accounts."""


class PreviewContact(_t.TypedDict):
    """A contact that was read for the preview, and what the import would change."""
    email: str
    result: _t.Literal["created", "updated", "unchanged"]
    status: ContactStatus
    """The status after the import."""
    changes: list[str]
    """The fields that would change. For a new contact, the fields that would be set."""


class PreviewCut(_t.TypedDict):
    """A part of an email that a client removes or changes."""
    line: int
    what: str
    """The source of the part, shortened."""
    why: str
    slug: str
    """The slug of the feature in the support tables."""
    count: int
    """The number of times that the line contains this part."""


class _PreviewDeviceViewRequired(_t.TypedDict):
    deviceKey: str
    """The key, such as `gmail.ios` or `apple-mail.ios.dark`."""
    deviceName: str
    client: str
    """The client's name."""
    os: str
    category: DeviceCategory
    status: DeviceStatus
    dark: bool
    """Whether the client is in dark mode."""
    images: bool
    """Whether the client loads images."""
    viewportWidth: int
    """The width of the window in CSS pixels."""
    cuts: list[PreviewCut]
    """The parts of the email that the client removes or changes."""
    notes: list[PreviewNote]
    """Problems with the email in this client, and limitations of the picture."""
    cached: bool
    """Whether the rendering was already finished when the preview was created."""


class PreviewDeviceView(_PreviewDeviceViewRequired, total=False):
    """An email on one device. The picture is a simulation, not a screenshot of the client."""
    width: int
    """The width of the screenshot in pixels."""
    height: int
    """The height of the screenshot in pixels."""
    screenshotUrl: str
    """The URL of a PNG of the email. If the PNG lacks the end of the email, `notes` contains the note `cut_off`.
    The URL is valid for one
    to two days. To get a new URL, get the preview again.
    """
    thumbnailUrl: str
    """The URL of a small PNG of the top of the email."""
    fullThumbnailUrl: str
    """The URL of a small version of the screenshot."""
    engine: str
    """The rendering engine: `embedded` or `chromium`."""
    tier: PreviewTier
    """How closely the simulation matches the client."""
    dataVersion: str
    """The date of the HTML and CSS support tables on which the simulation is based, as `YYYY-MM-DD`."""
    processingTime: int
    """The time that rendering took, in milliseconds."""
    error: str
    """Why rendering failed."""


class _PreviewFieldRequired(_t.TypedDict):
    name: str
    sample: str
    """The first value, shortened."""


class PreviewField(_PreviewFieldRequired, total=False):
    """A field on the platform."""
    to: str
    """The contact field; absent if the field is not imported."""


class _PreviewMetadataRequired(_t.TypedDict):
    requestedDevices: int
    completedDevices: int
    failedDevices: int
    processingDevices: int


class PreviewMetadata(_PreviewMetadataRequired, total=False):
    """The number of devices in each status."""
    processingTime: int
    """The time from the creation of the preview until all devices were finished, in milliseconds; absent while
    devices are waiting or
    being drawn.
    """


class PreviewNote(_t.TypedDict):
    """A note about something that a reader with this client may miss."""
    rule: str
    """The rule: `image_alt_missing`, `few_words`, `background_without_color`, `dark_image`, `images_absent`,
    `image_unsound`,
    `glyphs_missing`, `not_drawn` or `cut_off`.
    """
    message: str
    """The problem and the remedy."""
    lines: list[int]
    """The lines of the email that the note refers to."""


class _PreviewProblemRequired(_t.TypedDict):
    field: str
    error: str


class PreviewProblem(_PreviewProblemRequired, total=False):
    """Why a contact would be rejected, or why a value would be left out."""
    email: str


PreviewStatus = _t.Literal["PROCESSING", "COMPLETED", "PARTIAL_SUCCESS", "FAILED"]
"""The status of a preview."""


class PreviewStatusView(_t.TypedDict):
    """The status of a preview."""
    previewId: str
    status: PreviewStatus
    metadata: PreviewMetadata


PreviewTier = _t.Literal["near-browser", "filtered", "approximated"]
"""How closely a preview matches the client's own rendering."""


class _PreviewViewRequired(_t.TypedDict):
    previewId: str
    subject: str
    status: PreviewStatus
    devices: list[PreviewDeviceView]
    """The devices in the order of the request."""
    metadata: PreviewMetadata
    cached: bool
    """Whether all renderings were already finished when the preview was created."""
    createdAt: str
    expiresAt: str
    """When the preview is deleted."""


class PreviewView(_PreviewViewRequired, total=False):
    """A preview with its devices."""
    name: str
    emailId: str
    """The ID of the stored email, if the preview shows one."""


class ProblemView(_t.TypedDict):
    """Why a row was not imported."""
    row: int
    """The number of the row in the file. The row with the headers is row 1."""
    field: str
    """The invalid field."""
    error: str


class ProductOverrides(_t.TypedDict, total=False):
    """The values of a product that users set. An empty string removes the imported value."""
    name: str
    url: str
    image: str
    description: str
    price: str
    """The current price in major units, such as `19.90`."""
    priceBefore: str
    """The original price, before a discount."""
    currency: str
    """The currency as an ISO 4217 code."""


class _ProductViewRequired(_t.TypedDict):
    id: str
    name: str
    hidden: bool
    """Whether emails leave the product out."""
    position: int
    """The position among the project's products, starting at 0."""
    origin: _t.Literal["imported", "added", "store"]
    """Where the product comes from: `imported` from a site, `added` by a user, or `store` for a connected store."""
    edited: bool
    """Whether users have set any of the product's values."""
    overrides: ProductOverrides
    """The values that users set. All other values come from the site or the connected store."""


class ProductView(_ProductViewRequired, total=False):
    """A product of a brand."""
    url: str
    """The URL of the product's page."""
    image: str
    description: str
    price: str
    """The current price in major units, such as `19.90`."""
    priceBefore: str
    """The original price before a discount. Emails show it crossed out."""
    currency: str
    """The currency as an ISO 4217 code."""
    stock: int
    """The number of units in stock, if the product comes from a connected store that counts them."""
    soldOut: bool
    """Whether the product is currently unavailable in the connected store. If true, emails leave the product
    out.
    """
    collections: list[str]
    """The collections that contain the product in the connected store."""


class _ProjectImageViewRequired(_t.TypedDict):
    url: str
    tags: list[str]
    colors: list[str]
    """The colors that cover most of the image, as `#RRGGBB`."""
    origin: _t.Literal["given", "found"]
    """The origin of the image: `given` by a user, or `found` on the project's pages."""


class ProjectImageView(_ProjectImageViewRequired, total=False):
    """An image in a project."""
    description: str
    """A description of the image, set by a user or filled in by the image analysis."""
    width: int
    """The measured width of the image in pixels."""
    height: int
    """The measured height of the image in pixels."""
    problem: str
    """Why the image could not be analyzed; absent if it was analyzed or is still waiting for analysis."""


ProjectStatus = _t.Literal["pending", "processing", "active", "error"]
"""The import status of a project."""


class _ProjectViewRequired(_t.TypedDict):
    id: str
    _id: str
    """The project's ID again, for clients that expect it under this name."""
    name: str
    status: ProjectStatus
    """The import status of the project."""
    domain: str
    """The host of the first imported URL, without `www.`."""
    createdAt: str
    updatedAt: str


class ProjectView(_ProjectViewRequired, total=False):
    """A brand. Every contact, segment, campaign and email belongs to a brand. For a key that cannot read
    projects, the description, the URLs,
    the logos, the palette and the error are absent.
    """
    description: str
    """What the brand does, imported from its sites or set by a user."""
    urls: list[str]
    """The URLs that the project was imported from."""
    logoUrls: LogosView
    palette: BrandPalette
    """The brand's colors by role, as found on its sites or set by users."""
    defaultSender: SenderView
    """The default sender of the project's emails. A campaign or send can override it."""
    error: str
    """Why the import failed, and what to do; absent if it did not fail."""
    brand: Brand
    """The facts about the brand. Included only in responses about a single project."""
    overrides: BrandOverrides
    """The values that users set. All other values are imported. Included only in responses about a single
    project.
    """
    contrasts: list[ColorContrast]
    """The contrast of each text color with its background color, if both colors are known. Included only in
    responses about a single
    project.
    """


class ProjectsImagesListPage(_t.TypedDict):
    images: list[ProjectImageView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class ProjectsKnowledgeListPage(_t.TypedDict):
    entries: list[KnowledgeView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class ProjectsListPage(_t.TypedDict):
    projects: list[ProjectView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class ProjectsProductsListPage(_t.TypedDict):
    products: list[ProductView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class ProviderImportStarted(_t.TypedDict):
    """The import that was started."""
    object: str
    """Always `contact_import`."""
    id: str
    """The ID of the import. `GET /v1/contacts/imports/{id}` returns its progress."""
    status: str
    """Always `pending`."""
    tag: NamedTag
    """The tag that every imported contact gets."""
    segment: NamedSegment
    """The segment of the contacts with this tag."""


ProviderSourceType = _t.Literal["audience", "list", "segment", "tag"]
"""The kind of a set of contacts on a platform, such as a list."""


class _RecipientViewRequired(_t.TypedDict):
    email: str
    status: str
    """The status: `queued`, `handoff`, `sent`, `deferred`, `failed`, `unknown` or `skipped`."""


class RecipientView(_RecipientViewRequired, total=False):
    """One recipient of a direct send."""
    reply: str
    """The last reply of the next mail server, or Mailmill's own description of the result."""
    reason: str
    """Why the recipient was skipped, or why the delivery is unknown."""
    nextAttemptAt: str
    """When the next delivery attempt is due; absent unless the recipient's status is `deferred`."""
    at: str
    """When the status last changed. Absent for queued, deferred and skipped recipients."""


RecordPurpose = _t.Literal["dkim", "return_path", "spf", "dmarc", "tracking"]
"""The purpose of a DNS record."""


RecordStatus = _t.Literal["pending", "verified", "missing", "mismatch", "unreachable"]
"""How a record in DNS compares with the required one."""


RecordType = _t.Literal["TXT", "CNAME", "MX"]
"""The type of a DNS record."""


class _RecordViewRequired(_t.TypedDict):
    type: RecordType
    name: str
    """The full name of the record."""
    value: str
    purpose: RecordPurpose
    """The purpose of the record: `dkim`, `return_path`, `spf`, `dmarc` or `tracking`."""
    required: bool
    """Whether sending requires this record. Records that are not required are recommended. One of the two DKIM
    records is
    sufficient.
    """
    status: RecordStatus
    found: list[str]
    """For `mismatch`, the values that were found instead of the required value; for `unreachable`, the error."""


class RecordView(_RecordViewRequired, total=False):
    """A record to add to DNS."""
    priority: int
    """The priority of an MX record."""
    removeAfter: str
    """When the record may be removed, because another key has replaced the record's key."""


class _RecordedActionRequired(_t.TypedDict):
    action: ContactAction
    at: str
    sendId: str


class RecordedAction(_RecordedActionRequired, total=False):
    """A recorded open or click of the contact."""
    campaignId: str


class _RecordedEventRequired(_t.TypedDict):
    stored: bool
    """Whether this request stored the event."""
    eventId: str
    """The ID of the stored event: of this event or, for a duplicate, of the earlier event with the same key."""


class RecordedEvent(_RecordedEventRequired, total=False):
    """The result of recording one event."""
    dedupeKey: str
    duplicate: bool
    """True if an event with this key was already stored."""
    notes: list[str]
    """Warnings about the amount of the event: the amount is not a number, or an order has no currency."""


class RecordedEvents(_t.TypedDict):
    """The result of recording a batch of events."""
    accepted: int
    """The number of rows that were stored."""
    duplicates: int
    """The number of rows that were skipped because their dedupeKey was already stored."""
    results: list[EventRowResult]
    """One result for each row, in the same order as in the request."""
    invalid: list[InvalidEventRow]
    """The rows that were rejected."""


_RedeliveryViewRequiredWords = _t.TypedDict("_RedeliveryViewRequiredWords", {"from": "str"})


class _RedeliveryViewRequired(_t.TypedDict):
    status: str
    """The status of the redelivery: `processing` or `completed`."""
    to: str
    queued: int
    """The number of deliveries that the redelivery has created so far."""
    startedAt: str


class RedeliveryView(_RedeliveryViewRequiredWords, _RedeliveryViewRequired, total=False):
    """A redelivery of events from a time range."""
    completedAt: str


class ReferencesView(_t.TypedDict):
    """The favorite emails in a project. To use an email as a reference, pass its `conversationId` as the
    `referenceId` of a generation.
    """
    favorites: list[EmailView]
    """The favorite emails, newest first; at most 100."""
    total: int


RejectionReason = _t.Literal["secret_missing", "signature_missing", "signature_wrong", "wrong_time", "replayed", "topic_unknown", "malformed"]
"""Why a request is rejected."""


class RejectionView(_t.TypedDict):
    """The last rejected request."""
    at: str
    reason: RejectionReason
    message: str
    """The problem and its remedy."""


class RemovalResult(_t.TypedDict):
    """The result of removing an image, a knowledge-base entry or a product."""
    message: str
    """A message that tells users what was removed."""


class RemovedConnection(_t.TypedDict):
    """The result of removing a connection."""
    id: str
    """The ID of the removed connection."""
    deleted: bool
    """Always true in a successful response."""
    revoked: bool
    """Whether the platform revoked the tokens of the connection. An API key stays valid until you revoke it on
    the platform.
    """


class ResentBatch(_t.TypedDict):
    batchId: str
    resent: int
    """The number of recipients who were queued again."""


class ResponseView(_t.TypedDict):
    """An endpoint's response."""
    statusCode: int
    body: str
    """The first 1,000 characters of the response body."""


class ResponseWarning(_t.TypedDict):
    """A notice for the caller about a successful request."""
    code: str
    """A constant code for programs, such as `FIRST_EMAIL_OF_SERIES`."""
    message: str
    """What happens, and how the caller can change that."""


class _ResultViewRequired(_t.TypedDict):
    subject: str
    previewText: str
    html: str
    emails: list[EmailView]
    """The emails, sorted by slot, then by language."""
    stats: EmailStats
    languages: list[str]
    usage: UsageView
    """The usage of language models for the emails and their edits."""


class ResultView(_ResultViewRequired, total=False):
    """The emails in a conversation. `subject`, `previewText`, `html`, `stats` and the screenshot URLs are taken
    from the first email.
    """
    seriesPlan: SeriesPlan
    screenshotUrl: str
    screenshotFullUrl: str


class RevenueView(_t.TypedDict):
    """The orders and revenue in one currency."""
    currency: str
    conversions: int
    revenue: float


class RowCounts(_t.TypedDict):
    """The number of rows with each result, so far."""
    total: int
    """The number of rows processed so far, without rows that were left out (see `excluded`). Equals the sum of
    the other counts.
    """
    created: int
    """The number of rows that created a contact."""
    updated: int
    """The number of rows that changed a contact."""
    skipped: int
    """The number of rows that changed nothing, because the contact exists and `onConflict` is `skip`, or because
    the contact already
    matched the row.
    """
    failed: int
    """The number of rows with errors, which were not imported. GET /v1/contacts/imports/{id}/errors lists the
    errors.
    """


class _RowErrorRequired(_t.TypedDict):
    index: int
    """The position of the contact in the request, starting at 0; in the result of a bulk change, the contact's
    number in the project.
    """
    field: str
    """The invalid field; empty if the whole row is invalid."""
    error: str
    """What is wrong with the row and what was expected, or why the contact's status was not changed."""


class RowError(_RowErrorRequired, total=False):
    """A note on one contact."""
    email: str
    """The contact's email, if the row contains one."""


class _RunViewRequired(_t.TypedDict):
    endedAt: str
    result: _t.Literal["imported", "unchanged", "failed"]
    """`unchanged` if the file has not changed since the last import."""
    created: int
    """The number of rows that created a contact or stored an event."""
    updated: int
    """The number of rows that changed a contact."""
    skipped: int
    """The number of rows that changed nothing, such as events that were already stored."""
    failed: int
    """The number of rows that were not imported because they have errors. For an import of contacts, the
    import's list of errors contains
    these rows.
    """
    excluded: int
    """The number of rows that were left out: contacts without a status, and events that are too old."""
    problems: list[ProblemView]
    """The first rows with errors; only for imports of events."""


class RunView(_RunViewRequired, total=False):
    """The result of a run."""
    importId: str
    """The ID of the contact import, if it has started. `GET /v1/contacts/imports/{id}` returns its details for
    30 days after it ends.
    """
    error: str
    """Why the run failed, and what to do."""


class SavedBlockView(_t.TypedDict):
    """A block that users saved for use in other emails."""
    id: str
    name: str
    block: _t.Any
    """The block, without IDs. Insert it with PATCH /v1/emails/{emailId}/document."""
    createdAt: str
    updatedAt: str


class SavedBlocksListPage(_t.TypedDict):
    blocks: list[SavedBlockView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class _ScheduledImportViewRequired(_t.TypedDict):
    id: str
    projectId: str
    name: str
    everyHours: int
    """The number of hours between two runs."""
    target: _t.Literal["contacts", "events"]
    """What each row of the file becomes; always `contacts` for a platform."""
    tags: list[str]
    """The tags that are added to every contact in the file."""
    mapping: dict[str, str]
    """The column header for each event field."""
    sources: list[ImportedSource]
    """The sources on the platform."""
    fieldMap: dict[str, str | None]
    """The contact field for each platform field that users mapped. All other fields are imported with the
    default mapping.
    """
    state: _t.Literal["active", "running", "paused"]
    """`running` while a run imports contacts or events."""
    failures: int
    """The number of failed runs since the last run that succeeded, or since a user last started a run or ended a
    pause.
    """
    createdAt: str
    updatedAt: str


class ScheduledImportView(_ScheduledImportViewRequired, total=False):
    """An import of contacts or customer events that runs regularly."""
    url: str
    """The URL of the file; absent for a platform."""
    delimiter: str
    """The separator between cells; absent if it is detected."""
    columnMap: ColumnMap
    """The mapped columns; absent if they are guessed from the headers."""
    onConflict: _t.Literal["upsert", "skip"]
    """What happens to contacts that already exist; present only for imports of contacts from a file."""
    status: ContactStatus
    """The status for contacts whose row has no status."""
    consentMode: ConsentMode
    """Whether contacts who have neither subscribed nor unsubscribed are imported, if `status` is absent. Omitted
    for imports of events.
    """
    eventName: str
    """The name that every event receives."""
    provider: ConnectionProvider
    """The platform from which contacts are imported; absent for a file."""
    providerName: str
    """The platform's name for display."""
    connectionId: str
    tag: str
    """The tag that is added to all contacts from the sources."""
    changesUntil: str
    """The time up to which all of the platform's changes have been imported. The next run imports later changes."""
    pausedReason: str
    """Why the scheduled import is paused, if it was paused after failures."""
    importId: str
    """The ID of the contact import that is in progress."""
    nextRunAt: str
    """When the next run starts; absent during a run and during a pause."""
    lastRun: RunView
    """The last run that has ended."""


class ScheduledImportsListPage(_t.TypedDict):
    imports: list[ScheduledImportView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class SegmentPreview(_t.TypedDict):
    """The contacts that currently match the filter."""
    count: int
    """The number of matching contacts, regardless of their status."""
    contacts: list[ContactView]
    """The newest matching contacts."""


class _SegmentViewRequired(_t.TypedDict):
    id: str
    name: str
    filters: FilterTree
    """The filter as supplied by the caller."""
    createdAt: str
    updatedAt: str


class SegmentView(_SegmentViewRequired, total=False):
    """A saved filter for contacts."""
    description: str
    count: int
    """The number of contacts that match the filter now, regardless of their status; absent if the request skips
    the count.
    """


class SegmentsListPage(_t.TypedDict):
    segments: list[SegmentView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class _SendAcceptedRequired(_t.TypedDict):
    id: str
    provider: str
    """The provider that delivers the mail: `smtp`, or `inbox` for mail that stays in the built-in inbox."""
    status: str
    """Always `queued`: the send is stored, and delivery follows."""
    message: str


class SendAccepted(_SendAcceptedRequired, total=False):
    """A send that was accepted."""
    sendId: str
    """The ID of a direct send. Check its status with GET /v1/sending/{sendId}."""
    batchId: str
    """The ID of a send to an audience. Check its progress with GET /v1/sending/batches/{batchId}."""
    emailId: str
    """The ID of the email that the recipient receives. For an audience, the ID of the email for recipients whose
    language has no email.
    """
    conversationId: str
    warnings: list[ResponseWarning]
    """Warnings about the content; for example, that only the first email in a series is sent, or that a language
    is left out.
    """


SendTo = _t.Literal["email", "audience", "segment", "tag"]
"""Who receives the email."""


_SendViewRequiredWords = _t.TypedDict("_SendViewRequiredWords", {"from": "str"})


class _SendViewRequired(_t.TypedDict):
    sendId: str
    status: str
    """The status of the first recipient: `queued`, `handoff`, `sent`, `deferred`, `failed`, `unknown` or
    `skipped`.
    """
    provider: str
    """The provider that delivers the mail."""
    subject: str
    transactional: bool
    createdAt: str
    recipients: list[RecipientView]
    """The recipient, and the recipients of copies."""


class SendView(_SendViewRequiredWords, _SendViewRequired, total=False):
    """A direct send and its status."""
    emailId: str
    """The ID of the email that the first recipient receives."""
    conversationId: str
    fromName: str


_SenderViewRequiredWords = _t.TypedDict("_SenderViewRequiredWords", {"from": "str"})


class SenderView(_SenderViewRequiredWords, total=False):
    """A project's default sender."""
    fromName: str
    replyTo: str
    """The address that replies are sent to. If none is set, replies go to the From address."""


class _SendingMetricsRequired(_t.TypedDict):
    period: str
    """The current month in UTC, such as `2026-01`."""
    monthly: SendingTotals
    today: SendingToday
    history: list[SendingMonth]
    """Totals for earlier months, latest first."""


class SendingMetrics(_SendingMetricsRequired, total=False):
    """The number of emails that were sent, and the remaining quota."""
    monthlyLimit: int
    """The number of emails per month that the plan allows. `null` means unlimited."""
    remainingMonth: int
    """The number of emails that remain in the monthly quota. `null` means unlimited."""


class SendingMonth(_t.TypedDict):
    """The results of an earlier month."""
    period: str
    """The month in UTC, such as `2026-01`."""
    sent: int
    delivered: int
    bounced: int
    complained: int


class SendingSubdomains(_t.TypedDict):
    """The two sending subdomains of a root domain."""
    marketing: DomainView
    """For newsletters and offers: `send.<root>`."""
    transactional: DomainView
    """For transactional emails: `notify.<root>`."""


class SendingTimeline(_t.TypedDict):
    """Daily statistics and their totals."""
    days: list[TimelineDay]
    """The statistics of each day in UTC, earliest first, including days without messages."""
    summary: SendingTimelineSummary
    lastUpdated: str


class _SendingTimelineSummaryRequired(_t.TypedDict):
    sent: int
    delivered: int
    """Messages that were sent and did not bounce."""
    bounced: int
    complained: int
    opened: int
    clicked: int
    unsubscribed: int


class SendingTimelineSummary(_SendingTimelineSummaryRequired, total=False):
    """The totals of the days in the response."""
    deliveredRate: float
    """Delivered messages as a percentage of all messages that were sent, rejected or deferred for too long, with
    two decimals. Absent if
    there are none.
    """
    bounceRate: float
    """Bounced messages as a percentage of all messages that were sent, rejected or deferred for too long."""
    complaintRate: float
    """Complaints as a percentage of messages sent."""


class _SendingTodayRequired(_t.TypedDict):
    sent: int
    reserved: int
    """The number of queued emails from direct sends and tests."""


class SendingToday(_SendingTodayRequired, total=False):
    """The numbers of emails on the current day in UTC, and the daily quota."""
    dailyLimit: int
    """The number of emails per day that the plan allows. `null` means unlimited."""
    remainingToday: int
    """The number of emails that remain in the daily quota. `null` means unlimited."""


class SendingTotals(_t.TypedDict):
    """The numbers of emails in a month, by result."""
    sent: int
    """Emails that the next mail server accepted."""
    delivered: int
    """Emails that were accepted and did not bounce."""
    bounced: int
    """Emails that were rejected, were deferred for too long, or bounced later."""
    complained: int


_SentMessageRequiredWords = _t.TypedDict("_SentMessageRequiredWords", {"from": "str"})


class _SentMessageRequired(_t.TypedDict):
    sendId: str
    subject: str
    sentAt: str
    status: str
    """The status of the message, such as `sent`, `failed` or `unknown`."""
    opens: int
    clicks: int


class SentMessage(_SentMessageRequiredWords, _SentMessageRequired, total=False):
    """A message that was sent to one contact."""
    campaignId: str
    reply: str
    """The mail server's response."""
    firstOpenedAt: str
    firstClickedAt: str
    unsubscribedAt: str
    complainedAt: str
    bouncedAt: str
    bounceDetail: str


class SeriesPlan(_t.TypedDict):
    """The plan of a series of emails."""
    name: str
    count: int
    themeId: str
    """The ID of the theme that all emails in the series share."""
    slots: list[SlotView]


class SiblingView(_t.TypedDict):
    """An email in the same conversation."""
    emailId: str
    slot: int
    """The email's slot in the series, starting at 1."""
    language: str
    """The language of the email, as a BCP 47 tag."""
    status: _t.Literal["processing", "ready", "failed"]


class SignInPage(_t.TypedDict):
    """The page on which the user signs in."""
    authorizeUrl: str
    """The URL of the platform's page. Open it in the signed-in user's browser."""
    expiresAt: str
    """The deadline for completing the sign-in."""
    scopes: list[GrantedScope]
    """The permissions that the user is asked to grant. Empty for Mailchimp, whose tokens have all of the user's
    permissions.
    """


SkipReason = _t.Literal["suppressed", "unsubscribed", "bounced", "not_subscribed", "topic_unsubscribed", "invalid_address", "duplicate_address", "missing_field", "erased", "cancelled", "merge_failed"]
"""Why a recipient was skipped."""


class SlotView(_t.TypedDict):
    """A planned email in a series."""
    slotIdx: int
    purpose: str
    """The purpose of the email."""
    sendOffsetDays: int


class SocialProfile(_t.TypedDict):
    """A profile on a social network."""
    network: str
    """The social network as a lowercase word, such as `instagram`."""
    url: str


SortBy = _t.Literal["createdAt", "updatedAt"]
"""The field that a list is ordered by."""


SortOrder = _t.Literal["asc", "desc"]
"""The sort direction of a list."""


class SourcePlace(_t.TypedDict):
    """A place in the source of the email. Lines and columns start at 1; columns count characters."""
    line: int
    column: int
    endLine: int
    endColumn: int
    """The column after the last character."""
    excerpt: str
    """The source text, shortened."""


class _SourceRefRequired(_t.TypedDict):
    id: str
    type: ProviderSourceType
    name: str


class SourceRef(_SourceRefRequired, total=False):
    """A source to import."""
    count: int | None
    """The number of contacts, as in the list of sources. The import ignores this field; it is accepted so that
    clients can pass a listed
    source unchanged.
    """


class _SourceViewRequired(_t.TypedDict):
    id: str
    """The source's ID on the platform. Pass it unchanged to the import."""
    type: ProviderSourceType
    name: str


class SourceView(_SourceViewRequired, total=False):
    """A set of contacts that can be imported from a platform."""
    count: int
    """The number of contacts, if the platform states it."""


class SpellingAnalysis(_t.TypedDict):
    """The result of checking the spelling and grammar of an email."""
    totalWords: int
    score: int
    """The score from 0 to 100; 100 if nothing was found. Resolving a finding never lowers the score."""
    errors: list[SpellingError]
    """The findings, in the order in which they occur in the source."""
    summary: SpellingSummary
    metadata: SpellingMetadata


class SpellingError(_t.TypedDict):
    """A finding in the text."""
    word: str
    """The reported text, as readers see it."""
    suggestions: list[str]
    """Up to five replacements, best first."""
    context: str
    """The text around the finding."""
    type: SpellingErrorType
    rule: str
    """The ID of the rule that the text violates."""
    line: int
    """The line in the source, counted from 1."""
    column: int
    """The column in the line, in characters, counted from 1."""
    offset: int
    """The byte offset in the UTF-8 source, counted from 0."""
    length: int
    """The length in the source in bytes, including tags inside the text."""
    language: str
    """The language in which the text was checked."""
    confidence: float
    """The confidence, from 0 to 1."""


SpellingErrorType = _t.Literal["spelling", "grammar", "repeat", "style"]
"""The type of a finding."""


class SpellingMetadata(_t.TypedDict):
    """How long the check took, and how much it covered."""
    processingTime: int
    """The time that the check took, in milliseconds."""
    aiModel: str
    """The names of the additional checkers; `none (rules)` if there were none."""
    tokensUsed: int
    """The number of tokens that a language model used."""
    wordsChecked: int
    """The number of words that were checked."""
    complete: bool
    """Whether the whole text was checked and all findings are listed."""
    languages: list[str]
    """The languages of the text."""
    languagesWithoutDictionary: list[str]
    """The languages whose spelling was not checked because they have no dictionary."""
    checkersIncomplete: list[str]
    """The additional checkers that did not return a usable response in time."""


class SpellingSummary(_t.TypedDict):
    """Totals of a spelling check."""
    totalErrors: int
    uniqueErrors: int
    """The number of distinct findings: findings with the same word and rule count once."""


StateWord = _t.Literal["pending", "processing", "completed", "failed"]
"""The status of a conversation."""


class StatsReporting(_t.TypedDict):
    """How the statistics were computed."""
    status: str
    """How current the statistics are: always `live`."""
    source: str
    """The source of the statistics: always `ledger`."""


class _StatsViewRequired(_t.TypedDict):
    totalWebhooks: int
    activeWebhooks: int
    pausedWebhooks: int
    """The number of active webhooks whose endpoints are paused."""
    totalDeliveries: int
    """The number of deliveries that have succeeded, have failed, or are pending."""
    successfulDeliveries: int
    failedDeliveries: int
    pendingDeliveries: int
    attempts: int
    """The number of attempts that have ended."""
    days: list[DayView]
    """The daily statistics of the last 30 days, without days on which no delivery or attempt ended. Deleted
    webhooks are included.
    """


class StatsView(_StatsViewRequired, total=False):
    """Delivery statistics of all existing webhooks, each since its creation."""
    successRate: float
    """Among the deliveries that succeeded or failed, the percentage that succeeded; absent if there are none."""
    averageResponseTime: int
    """The average duration of attempts with a response, in milliseconds; absent if there are no such attempts."""
    lastTriggeredAt: str


class StatusChangeResult(_t.TypedDict):
    """The result of a status change."""
    success: bool
    """Always true; a failed change returns an error instead."""


StoreCustomers = _t.Literal["subscribed-only", "include-all", "none"]


class StoreList(_t.TypedDict):
    stores: list[ConnectedStore]
    """The stores, oldest first."""
    total: int


StorePlatform = _t.Literal["storefront", "shopify", "woocommerce"]
"""The platform of a store: storefront is Shopify. Requests accept both names; responses contain the neutral one."""


class StoreScope(_t.TypedDict):
    scope: str
    purpose: str


StoreTool = _t.Literal["products", "collections", "customers", "orders", "refunds", "checkouts", "privacy"]
"""What a connected store provides."""


class StorefrontConnection(_t.TypedDict):
    """A store that was connected to a project."""
    serverId: str
    projectId: str
    status: str
    """The status, which is always `connected`."""
    message: str
    """A sentence that tells users the state of the store."""
    store: str
    """The store's name."""
    toolsEnabled: list[StoreTool]
    """The kinds of data that Mailmill syncs."""


class SupportedDevice(_t.TypedDict):
    """A device on which an email can be previewed."""
    key: str
    name: str
    category: DeviceCategory
    client: str
    """The client's name."""
    os: str
    viewportWidth: int
    """The width of the window in CSS pixels."""
    dark: bool
    """Whether the client is in dark mode."""
    images: bool
    """Whether the client loads images."""
    isDefault: bool
    """Whether the device is used if a request names no devices."""


class SupportedDevices(_t.TypedDict):
    """The devices for previews."""
    total: int
    categories: DeviceCategories
    devices: list[SupportedDevice]


SuppressionReason = _t.Literal["unsubscribe", "manual", "bounce_hard", "complaint", "erased"]
"""Why an address is on the suppression list. The least serious reason comes first."""


SuppressionSource = _t.Literal["api", "smtp", "inbound", "recipient", "mail_service"]
"""Where the suppression came from."""


class _SuppressionViewRequired(_t.TypedDict):
    reason: SuppressionReason
    source: SuppressionSource
    createdAt: str


class SuppressionView(_SuppressionViewRequired, total=False):
    """A suppressed address."""
    email: str
    """The address in lowercase; absent if the recipient's data was erased."""
    note: str
    """The mail server's reply, or a note written by a user."""


class SuppressionsListPage(_t.TypedDict):
    suppressions: list[SuppressionView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class _SyncViewRequired(_t.TypedDict):
    stage: _t.Literal["idle", "webhooks", "products", "customers", "erasing", "disconnected"]
    """The current stage of the import; `idle` between imports."""
    nextAt: str
    """When the next import starts, or when the current import continues."""
    products: int
    """The number of the store's products in the brand."""
    productsLeftOut: int
    """The number of products that were not imported because the brand has the maximum number of products."""
    customersImported: int
    """The number of customers imported in the current or last import."""
    customersExcluded: int
    """The number of customers who were not imported because they neither subscribed nor unsubscribed."""
    customersFailed: int
    """The number of customers who could not be imported, for example because their addresses are invalid."""
    webhooksApplied: int
    """The number of webhooks that were applied."""
    webhooksRepeated: int
    """The number of webhooks that had been received before. They had no effect."""
    webhooksIgnored: int
    """The number of webhooks without an effect, such as webhooks about orders without an email address."""


class SyncView(_SyncViewRequired, total=False):
    """The state of a store's imports and webhooks."""
    completedAt: str
    """When the last complete import ended."""
    waiting: str
    """Why the import is paused or incomplete; absent if it is neither."""
    webhooksOff: str
    """Why the store refused some or all webhooks; absent if it accepted them. The daily import finds the changes
    that the refused webhooks
    would have reported.
    """
    lastWebhookAt: str


TagSortBy = _t.Literal["createdAt", "name"]
"""The field by which tags are sorted."""


class _TagViewRequired(_t.TypedDict):
    id: str
    name: str
    subscriberCount: int
    """The number of contacts that have the tag now, regardless of their status."""
    createdAt: str
    updatedAt: str


class TagView(_TagViewRequired, total=False):
    """A tag in a project."""
    color: str
    """The tag's color as `#RRGGBB`."""
    description: str


class TagsListPage(_t.TypedDict):
    tags: list[TagView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class _TestSendResultRequired(_t.TypedDict):
    messageId: str
    """The ID of the send. Check its status with GET /v1/sending/{messageId}."""
    emailId: str
    conversationId: str
    sentTo: str
    sentAt: str
    subject: str


class TestSendResult(_TestSendResultRequired, total=False):
    """An accepted test send."""
    warnings: list[ResponseWarning]
    """Warnings about the content; for example, that only the first email in a series is sent, or that a language
    is left out.
    """


class TestSent(_t.TypedDict):
    """The test send."""
    campaignId: str
    sendId: str
    """The ID of the send that delivers the test email."""
    status: str
    """The status of the send: always `queued`."""
    emails: list[str]


TimeUnit = _t.Literal["hours", "days"]
"""A unit of time."""


TimeZone = _t.Union["str"]


class TimelineDay(_t.TypedDict):
    """The statistics of one day, in UTC."""
    date: str
    """The date in UTC, for example 2026-01-31."""
    sent: int
    """Messages that the next mail server accepted."""
    failed: int
    """Messages that were rejected permanently or deferred for too long."""
    bounced: int
    """Messages that were rejected permanently, deferred for too long, or returned as bounces later."""
    complained: int
    opened: int
    """Recipients who opened their message for the first time on this day, excluding detected bots."""
    clicked: int
    """Recipients who clicked a link in their message for the first time on this day, excluding detected bots."""
    unsubscribed: int
    revenue: list[RevenueView]
    """The orders of the day and their revenue, minus later refunds; one row per currency."""


class _TimelineEntryRequired(_t.TypedDict):
    at: str
    kind: TimelineKind


class TimelineEntry(_TimelineEntryRequired, total=False):
    """One entry of the timeline."""
    sendId: str
    """The ID of the send or batch that the entry belongs to."""
    campaignId: str
    """The ID of the campaign that the entry belongs to."""
    subject: str
    """The subject of the message."""
    detail: str
    """The mail server's response to a bounced message, or the type of a complaint."""
    event: CustomerEvent
    """The customer event, if the kind is `event`."""


TimelineKind = _t.Literal["created", "sent", "opened", "clicked", "bounced", "complained", "unsubscribed", "event"]
"""The kind of a timeline entry."""


class _TimelinePartRequired(_t.TypedDict):
    entries: list[TimelineEntry]
    """The entries, newest first."""
    hasMore: bool


class TimelinePart(_TimelinePartRequired, total=False):
    """A page of a timeline."""
    nextCursor: str
    """The cursor of the next page; absent on the last page."""


TimezoneMode = _t.Literal["campaign", "recipient"]
"""The time zone in which the start time applies: the campaign's time zone, or each recipient's own."""


class TopicChoice(_t.TypedDict):
    """A topic with one contact's subscription."""
    topicId: str
    name: str
    isActive: bool
    """Whether the topic is active. Contacts see only active topics on the preferences page."""
    subscribed: bool
    """Whether the contact is subscribed to the topic. The contact receives mail on the topic only if the
    contact's status also allows
    mail.
    """
    chosen: bool
    """Whether the contact or a user set the subscription. If false, the topic's default applies."""


class TopicChoices(_t.TypedDict):
    """Every topic in the project, with the contact's subscription."""
    topics: list[TopicChoice]
    """The topics, in display order."""


TopicDefault = _t.Literal["opt_in", "opt_out"]
"""Whether contacts who have neither opted in nor opted out are subscribed to a topic."""


class TopicState(_t.TypedDict):
    """A topic, and whether the contact is subscribed to it."""
    topicId: str
    name: str
    subscribed: bool


class _TopicViewRequired(_t.TypedDict):
    id: str
    name: str
    defaultSubscription: TopicDefault
    """Whether contacts who have neither opted in nor opted out are subscribed to the topic."""
    visibility: TopicVisibility
    """Which contacts see the topic."""
    displayOrder: int
    """The position of the topic in lists. The topic with the smallest position comes first."""
    isActive: bool
    """Whether the topic is active. An inactive topic is not shown on the preferences page, and is listed only if
    the request sets
    `includeInactive`. Sends can still use an inactive topic.
    """
    subscriberCount: int
    """The number of contacts who are subscribed to the topic now, by choice or by default, regardless of their
    status.
    """
    createdAt: str
    updatedAt: str


class TopicView(_TopicViewRequired, total=False):
    """A kind of mail that contacts can subscribe to separately."""
    description: str


TopicVisibility = _t.Literal["public", "private"]
"""Which contacts see a topic on their preferences page."""


class TopicsListPage(_t.TypedDict):
    topics: list[TopicView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


UnknownPolicy = _t.Literal["hold", "resend"]
"""What to do with recipients whose delivery is unknown."""


class _UpdatedWebhookRequired(_t.TypedDict):
    updated: bool
    """Always true in a successful response."""
    id: str
    url: str
    """The URL for deliveries."""
    events: list[_t.Literal["email.generation.started", "email.generation.completed", "email.generation.failed", "email.test.sent", "project.import.started", "subscriber.added", "subscriber.updated", "subscriber.unsubscribed", "subscriber.bulk_imported", "email.delivered", "email.opened", "email.clicked", "email.bounced", "email.complained", "project.import.processing", "project.import.completed", "project.import.failed", "export.completed", "export.failed", "api_key.created", "api_key.revoked"]]
    """The events that the webhook receives."""
    active: bool
    """Whether the webhook receives events. Mailmill does not change this setting: if an endpoint fails, it is
    paused, but its webhook
    stays active.
    """
    customHeaders: dict[str, str]
    """The headers that are sent with every delivery, by name. Values are not returned: each value is `********`,
    which keeps the current
    value when it is sent back.
    """
    standardSignature: bool
    """Whether deliveries also have the Standard Webhooks signature."""
    secretConfigured: bool
    """Always true, because every webhook has a secret. The secret itself is returned only when it is created."""
    successCount: int
    """The number of deliveries that have succeeded."""
    failureCount: int
    """The number of deliveries that have failed."""
    pendingCount: int
    """The number of deliveries that have not ended."""
    consecutiveFailures: int
    """The number of consecutive failed attempts."""
    createdAt: str
    updatedAt: str


class UpdatedWebhook(_UpdatedWebhookRequired, total=False):
    """A webhook after an update."""
    description: str
    previousSecretExpiresAt: str
    """When the previous secret stops being used for signing; absent if only the current secret is used."""
    lastTriggeredAt: str
    """When the last attempt ended; absent if no attempt has ended."""
    pausedUntil: str
    """When the endpoint's pause ends; absent if the endpoint is not paused. Deliveries wait during a pause."""
    pauseReason: PauseReason
    """Why the endpoint is paused."""
    redelivery: RedeliveryView
    """The active redelivery of events from a time range or, if there is none, the last redelivery."""


class UsageView(_t.TypedDict):
    """The usage of a language model."""
    calls: int
    inputTokens: int
    outputTokens: int
    milliseconds: int
    """The total response time of the model's calls, in milliseconds."""
    cost: float
    """The cost of the usage, in the currency of the configured prices."""


class UtmParameters(_t.TypedDict, total=False):
    """UTM parameters for links. Parameters that a URL already has are kept."""
    enabled: bool
    """If false, no UTM parameters are added, regardless of the domain's setting."""
    source: str
    """The value of `utm_source`. If absent, the sending domain's value applies or, if it has none, the domain of
    the From address.
    """
    medium: str
    """The value of `utm_medium`. If absent, the sending domain's value applies or, if it has none, `email`."""
    campaign: str
    """The value of `utm_campaign`. If absent, the sending domain's value applies or, if it has none, the name of
    the campaign. Mail
    without a campaign then has no `utm_campaign`.
    """
    term: str
    """The value of `utm_term`. If absent, the sending domain's value applies; if it has none, links have no
    `utm_term`.
    """
    content: str
    """The value of `utm_content`. If absent, the sending domain's value applies; if it has none, links have no
    `utm_content`.
    """


class UtmParametersInput(_t.TypedDict, total=False):
    """UTM parameters for links. Parameters that a URL already has are kept."""
    enabled: bool | None
    """If false, no UTM parameters are added, regardless of the domain's setting."""
    source: str | None
    """The value of `utm_source`. If absent, the sending domain's value applies or, if it has none, the domain of
    the From address.
    """
    medium: str | None
    """The value of `utm_medium`. If absent, the sending domain's value applies or, if it has none, `email`."""
    campaign: str | None
    """The value of `utm_campaign`. If absent, the sending domain's value applies or, if it has none, the name of
    the campaign. Mail
    without a campaign then has no `utm_campaign`.
    """
    term: str | None
    """The value of `utm_term`. If absent, the sending domain's value applies; if it has none, links have no
    `utm_term`.
    """
    content: str | None
    """The value of `utm_content`. If absent, the sending domain's value applies; if it has none, links have no
    `utm_content`.
    """


ValidationCheck = _t.Literal["compatibility", "links", "spelling", "deliverability", "accessibility"]
"""A check of an email."""


class ValidationMetadata(_t.TypedDict):
    """The checks that ran, and the time that they took."""
    totalProcessingTime: int
    """The time that all checks took, in milliseconds. The checks run in parallel, so this is not the sum of
    their times.
    """
    checksPerformed: list[ValidationCheck]
    """The checks whose results the report contains."""
    checksIncomplete: list[IncompleteCheck]
    """The requested checks that did not finish, or that finished only in part, with the reasons."""


class ValidationRecommendations(_t.TypedDict):
    """Recommendations, grouped by importance."""
    critical: list[str]
    """What to do before sending."""
    important: list[str]
    """Improvements that should be made before sending, if possible."""
    suggested: list[str]


class _ValidationReportRequired(_t.TypedDict):
    summary: ValidationSummary
    recommendations: ValidationRecommendations
    metadata: ValidationMetadata


class ValidationReport(_ValidationReportRequired, total=False):
    """The results of all checks of an email. A check that was not requested, or that did not finish, is absent."""
    overallScore: int
    """The weighted mean of the scores of the checks that finished, from 0 to 100; less than 90 if a problem is
    critical, and absent if no
    check finished.
    """
    compatibility: CompatibilityReport
    linkAnalysis: LinkAnalysis
    spelling: SpellingAnalysis
    deliverability: DeliverabilityAnalysis
    accessibility: AccessibilityAnalysis


class ValidationSummary(_t.TypedDict):
    """The totals of all checks, and which checks passed or failed."""
    criticalIssues: int
    """The number of critical problems."""
    warnings: int
    passed: list[ValidationCheck]
    """The checks that passed."""
    failed: list[ValidationCheck]
    """The checks that failed, for example because of a critical problem or a spelling error."""


class _VersionViewRequired(_t.TypedDict):
    version: int
    origin: _t.Literal["generated", "imported", "edited", "restored", "manual"]
    subject: str
    current: bool
    """Whether this version is the email's current version."""
    createdAt: str


class VersionView(_VersionViewRequired, total=False):
    """One version of an email."""
    prompt: str
    """The prompt of the edit that created the version, or the description of an automatic fix."""
    label: str
    restoredVersion: int
    """The number of the earlier version that was restored."""
    screenshotUrl: str
    thumbnailUrl: str


class VoiceOverrides(_t.TypedDict, total=False):
    """How the brand writes, as set by users."""
    person: BrandPerson
    formality: BrandFormality
    """The form of address."""
    words: list[str]
    """Words that the brand uses often."""
    tone: list[str]
    """Words that describe the tone, such as `warm` or `dry`."""
    avoid: list[str]
    """Words that emails must not contain."""


class VoicePatch(_t.TypedDict, total=False):
    """How the brand writes."""
    person: BrandPerson | None
    """The grammatical person."""
    formality: BrandFormality | None
    """The form of address."""
    words: list[str] | None
    """Words that the brand uses often."""
    tone: list[str] | None
    """Words that describe the tone, such as `warm` or `dry`."""
    avoid: list[str] | None
    """Words that emails must not contain. An email that contains one of these words gets a warning."""


class _WebhookTestedRequired(_t.TypedDict):
    success: bool
    """Whether the endpoint responded with a 2xx status in time."""
    responseTime: int
    """The duration of the attempt in milliseconds."""
    deliveryId: str
    """The ID of the test delivery, which is listed among the webhook's other deliveries."""
    eventId: str


class WebhookTested(_WebhookTestedRequired, total=False):
    """The result of a test."""
    statusCode: int
    """The status of the endpoint's response; absent if there was no response."""
    error: str
    """Why the test failed; absent if it succeeded."""


class _WebhookViewRequired(_t.TypedDict):
    id: str
    url: str
    """The URL for deliveries."""
    events: list[_t.Literal["email.generation.started", "email.generation.completed", "email.generation.failed", "email.test.sent", "project.import.started", "subscriber.added", "subscriber.updated", "subscriber.unsubscribed", "subscriber.bulk_imported", "email.delivered", "email.opened", "email.clicked", "email.bounced", "email.complained", "project.import.processing", "project.import.completed", "project.import.failed", "export.completed", "export.failed", "api_key.created", "api_key.revoked"]]
    """The events that the webhook receives."""
    active: bool
    """Whether the webhook receives events. Mailmill does not change this setting: if an endpoint fails, it is
    paused, but its webhook
    stays active.
    """
    customHeaders: dict[str, str]
    """The headers that are sent with every delivery, by name. Values are not returned: each value is `********`,
    which keeps the current
    value when it is sent back.
    """
    standardSignature: bool
    """Whether deliveries also have the Standard Webhooks signature."""
    secretConfigured: bool
    """Always true, because every webhook has a secret. The secret itself is returned only when it is created."""
    successCount: int
    """The number of deliveries that have succeeded."""
    failureCount: int
    """The number of deliveries that have failed."""
    pendingCount: int
    """The number of deliveries that have not ended."""
    consecutiveFailures: int
    """The number of consecutive failed attempts."""
    createdAt: str
    updatedAt: str


class WebhookView(_WebhookViewRequired, total=False):
    """A webhook without its secret."""
    description: str
    previousSecretExpiresAt: str
    """When the previous secret stops being used for signing; absent if only the current secret is used."""
    lastTriggeredAt: str
    """When the last attempt ended; absent if no attempt has ended."""
    pausedUntil: str
    """When the endpoint's pause ends; absent if the endpoint is not paused. Deliveries wait during a pause."""
    pauseReason: PauseReason
    """Why the endpoint is paused."""
    redelivery: RedeliveryView
    """The active redelivery of events from a time range or, if there is none, the last redelivery."""


class _WebhookWithSecretRequired(_t.TypedDict):
    id: str
    url: str
    """The URL for deliveries."""
    events: list[_t.Literal["email.generation.started", "email.generation.completed", "email.generation.failed", "email.test.sent", "project.import.started", "subscriber.added", "subscriber.updated", "subscriber.unsubscribed", "subscriber.bulk_imported", "email.delivered", "email.opened", "email.clicked", "email.bounced", "email.complained", "project.import.processing", "project.import.completed", "project.import.failed", "export.completed", "export.failed", "api_key.created", "api_key.revoked"]]
    """The events that the webhook receives."""
    active: bool
    """Whether the webhook receives events. Mailmill does not change this setting: if an endpoint fails, it is
    paused, but its webhook
    stays active.
    """
    customHeaders: dict[str, str]
    """The headers that are sent with every delivery, by name. Values are not returned: each value is `********`,
    which keeps the current
    value when it is sent back.
    """
    standardSignature: bool
    """Whether deliveries also have the Standard Webhooks signature."""
    secretConfigured: bool
    """Always true, because every webhook has a secret. The secret itself is returned only when it is created."""
    successCount: int
    """The number of deliveries that have succeeded."""
    failureCount: int
    """The number of deliveries that have failed."""
    pendingCount: int
    """The number of deliveries that have not ended."""
    consecutiveFailures: int
    """The number of consecutive failed attempts."""
    createdAt: str
    updatedAt: str
    secret: str
    """The signing secret. `X-Service-Signature` is the HMAC-SHA256 of the raw body, keyed with exactly this
    text. To verify the Standard
    Webhooks signature, pass this text unchanged to the public Standard Webhooks libraries.
    """


class WebhookWithSecret(_WebhookWithSecretRequired, total=False):
    """A webhook with its secret, which no later response contains."""
    description: str
    previousSecretExpiresAt: str
    """When the previous secret stops being used for signing; absent if only the current secret is used."""
    lastTriggeredAt: str
    """When the last attempt ended; absent if no attempt has ended."""
    pausedUntil: str
    """When the endpoint's pause ends; absent if the endpoint is not paused. Deliveries wait during a pause."""
    pauseReason: PauseReason
    """Why the endpoint is paused."""
    redelivery: RedeliveryView
    """The active redelivery of events from a time range or, if there is none, the last redelivery."""


class WebhooksDeliveriesListPage(_t.TypedDict):
    deliveries: list[DeliveryView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class WebhooksListPage(_t.TypedDict):
    webhooks: list[WebhookView]
    total: int
    limit: int
    offset: int
    pagination: Pagination


class _WholeMessageRequired(_t.TypedDict):
    message: MessageView
    envelopeFrom: str
    """The envelope sender, to which bounces would be returned."""
    headers: list[MessageHeader]
    """The headers, in the order in which they appear in the message."""
    links: list[str]
    """The targets of the links in the HTML, without duplicates."""
    dkim: list[DkimSignature]
    """The result of each DKIM signature (RFC 6376), verified with the keys of this account's sending domains,
    without DNS queries. Empty
    if the message has no signature, because its From domain is not verified.
    """


class WholeMessage(_WholeMessageRequired, total=False):
    """A parsed message from the built-in inbox."""
    text: str
    html: str
