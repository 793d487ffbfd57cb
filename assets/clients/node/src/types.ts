// Written by assets/clients/generator from the OpenAPI document. Change the operation's declaration instead.

import type { Upload } from "./upload.js";

export type AcceptedGeneration = {
    conversationId: string;
    status: "pending";
    message: string;
    link: string;
    count?: number;
    referenceId?: string;
};
export type AccessibilityAnalysis = {
    score: number;
    findings: AccessibilityFinding[];
    summary: AccessibilitySummary;
};
export type AccessibilityFinding = {
    rule: string;
    severity: FindingSeverity;
    title: string;
    message: string;
    fix: string;
    wcag: string;
    count: number;
    occurrences: SourcePlace[];
};
export type AccessibilitySummary = {
    critical: number;
    warnings: number;
    info: number;
};
export type AccountPlan = {
    plan: string;
    provider?: string;
    recipientsPerSecond?: number;
    daily: PlanQuota;
    monthly: PlanQuota;
    requests: PlanRequests[];
    sizes: PlanSize[];
};
export type ActivityCondition = {
    action: ContactAction;
    mode: ActivityMode;
    unit?: TimeUnit;
    amount?: number;
    from?: string;
    to?: string;
    campaignId?: string;
};
export type ActivityConditionInput = {
    action: ContactAction;
    mode: ActivityMode;
    unit?: TimeUnit | null;
    amount?: number | null;
    from?: string | null;
    to?: string | null;
    campaignId?: string | null;
};
export type ActivityMode = "within" | "before" | "never" | "between";
export type AddressValidation = "valid" | "invalid" | "risky" | "unknown";
export type AnyJson = unknown;
export type AttemptView = {
    id: string;
    startedAt: string;
    endedAt?: string;
    responseTime?: number;
    statusCode?: number;
    response?: string;
    error?: string;
};
export type BatchThrottle = {
    throttledAt: string;
    expiresAt: string;
    reason: string;
    remainingCount: number;
};
export type BatchView = {
    batchId: string;
    status: string;
    recipientType: string;
    recipientId?: string;
    provider: string;
    totalCount: number;
    queuedCount: number;
    sentCount: number;
    failedCount: number;
    unknownCount: number;
    skipped: {
        [key: string]: number;
    };
    from: string;
    fromName?: string;
    subject: string;
    createdAt: string;
    updatedAt?: string;
    error?: string;
    throttle?: BatchThrottle;
};
export type Brand = {
    name?: string;
    tagline?: string;
    description?: string;
    languages: string[];
    logos: BrandLogo[];
    palette: BrandPalette;
    fonts: BrandFonts;
    webFonts: BrandWebFont[];
    cornerRadius?: number;
    products: BrandProduct[];
    images: BrandImage[];
    social: BrandSocialLink[];
    contact: BrandContact;
    voice: BrandVoice;
    guidelines: BrandGuidelines;
};
export type BrandContact = {
    company?: string;
    address?: string;
    email?: string;
    phone?: string;
};
export type BrandFonts = {
    heading?: string;
    body?: string;
};
export type BrandFormality = "neutral" | "casual" | "formal";
export type BrandGuidelines = {
    designRules?: string;
    imageStyle?: string;
};
export type BrandImage = {
    url: string;
    description?: string;
    tags: string[];
    width?: number;
    height?: number;
    colors: string[];
};
export type BrandLogo = {
    url: string;
    source: BrandLogoSource;
    width?: number;
    height?: number;
    background: BrandLogoBackground;
};
export type BrandLogoBackground = "light" | "dark" | "any" | "unknown";
export type BrandLogoSource = "given" | "header" | "structuredData" | "manifest" | "iconLink" | "share";
export type BrandOverrides = {
    name?: string;
    tagline?: string;
    description?: string;
    company?: string;
    address?: string;
    email?: string;
    phone?: string;
    social?: BrandSocialLink[];
    voice: VoiceOverrides;
    palette: BrandPalette;
    fonts: BrandFonts;
    cornerRadius?: number;
};
export type BrandPalette = {
    background?: string;
    text?: string;
    primary?: string;
    accent?: string;
    button?: string;
    buttonText?: string;
};
export type BrandPerson = "we" | "i" | "third";
export type BrandProduct = {
    name: string;
    url?: string;
    image?: string;
    description?: string;
    price?: string;
    priceBefore?: string;
    currency?: string;
};
export type BrandSocialLink = {
    network: string;
    url: string;
};
export type BrandUsage = {
    projectId: string;
    model: string;
    calls: number;
    inputTokens: number;
    outputTokens: number;
    milliseconds: number;
    cost: number;
};
export type BrandVoice = {
    person?: BrandPerson;
    formality?: BrandFormality;
    sentenceWords?: number;
    words: string[];
    tone: string[];
    avoid: string[];
    emoji: boolean;
};
export type BrandWebFont = {
    family: string;
    url: string;
    weight: string;
    italic: boolean;
    characters?: string;
};
export type Brief = {
    purpose: EmailPurpose;
    audience?: BriefText;
    language: string;
    subject?: BriefText;
    preheader?: BriefText;
    headline?: BriefText;
    facts: BriefFact[];
    stories: BriefStory[];
    offer?: BriefOffer;
    event?: BriefEvent;
    cta?: CallToAction;
    signature?: BriefSignature;
    tone: BriefText[];
    constraints: BriefConstraint[];
    instructions: BriefText[];
    unclear: BriefText[];
};
export type BriefConstraint = {
    kind: ConstraintKind;
    value?: string;
    span?: BriefSpan;
};
export type BriefConstraintInput = {
    kind: ConstraintKind;
    value?: string | null;
    span?: BriefSpan | null;
};
export type BriefEvent = {
    name: BriefText;
};
export type BriefEventInput = {
    name: BriefTextInput;
};
export type BriefFact = {
    kind: FactKind;
    role?: FactRole;
    text: string;
    value?: FactValue;
    story?: number;
    span?: BriefSpan;
};
export type BriefFactInput = {
    kind: FactKind;
    role?: FactRole | null;
    text: string;
    value?: FactValueInput | null;
    story?: number | null;
    span?: BriefSpan | null;
};
export type BriefInput = {
    purpose: EmailPurpose;
    audience?: BriefTextInput | null;
    language: string;
    subject?: BriefTextInput | null;
    preheader?: BriefTextInput | null;
    headline?: BriefTextInput | null;
    facts?: BriefFactInput[];
    stories?: BriefStoryInput[];
    offer?: BriefOfferInput | null;
    event?: BriefEventInput | null;
    cta?: CallToActionInput | null;
    signature?: BriefSignatureInput | null;
    tone?: BriefTextInput[];
    constraints?: BriefConstraintInput[];
    instructions?: BriefTextInput[];
    unclear?: BriefTextInput[];
};
export type BriefOffer = {
    scope?: BriefText;
    freeDelivery: boolean;
    gift?: BriefText;
};
export type BriefOfferInput = {
    scope?: BriefTextInput | null;
    freeDelivery?: boolean;
    gift?: BriefTextInput | null;
};
export type BriefSignature = {
    name: string;
    title?: string;
    span?: BriefSpan;
};
export type BriefSignatureInput = {
    name: string;
    title?: string | null;
    span?: BriefSpan | null;
};
export type BriefSpan = {
    start: number;
    end: number;
};
export type BriefStory = {
    heading?: BriefText;
    text: BriefText;
    link?: string;
};
export type BriefStoryInput = {
    heading?: BriefTextInput | null;
    text: BriefTextInput;
    link?: string | null;
};
export type BriefText = {
    text: string;
    span?: BriefSpan;
};
export type BriefTextInput = {
    text: string;
    span?: BriefSpan | null;
};
export type BulkChangeDone = {
    jobId?: string;
    status: "pending" | "completed";
    result?: ChangeResult;
};
export type BulkChangeProgress = {
    jobId: string;
    status: "pending" | "processing" | "completed" | "failed";
    total?: number;
    processed: number;
    result?: ChangeResult;
    error?: string;
    createdAt: string;
    completedAt?: string;
};
export type BulkChangeResult = BulkResult | BulkStarted;
export type BulkProgress = {
    jobId: string;
    status: "pending" | "processing" | "completed" | "failed";
    totalContacts: number;
    processed: number;
    result: BulkResult | null;
    error: string | null;
    createdAt: string;
    completedAt: string | null;
};
export type BulkResult = {
    success: number;
    failed: number;
    updated: number;
    errors?: RowError[];
};
export type BulkRow = {
    email: string;
    firstName?: string | null;
    lastName?: string | null;
    company?: string | null;
    phone?: string | null;
    city?: string | null;
    country?: string | null;
    language?: string | null;
    tags?: string[] | null;
    customFields?: {
        [key: string]: FieldValue;
    } | null;
    status?: ContactStatus | null;
};
export type BulkStarted = {
    jobId: string;
    status: string;
    totalContacts: number;
    message: string;
};
export type CallToAction = {
    label?: BriefText;
    link?: string;
};
export type CallToActionInput = {
    label?: BriefTextInput | null;
    link?: string | null;
};
export type CampaignDryRun = {
    campaignId: string;
    ready: boolean;
    total: number;
    recipients: number;
    skipped: number;
    skippedReasons: {
        [key: string]: number;
    };
    missingFields: {
        [key: string]: number;
    };
    languages: LanguageShare[];
    checks: EmailCheckSummary[];
    warnings: CampaignWarning[];
    estimatedSeconds?: number;
};
export type CampaignLine = {
    campaign: CampaignView;
    stats: CampaignStats;
};
export type CampaignLink = {
    url: string;
    clicks: number;
};
export type CampaignLog = {
    id: string;
    tracking_id: string;
    user_id: string;
    domain: string;
    from_email: string;
    to_email?: string;
    subscriber_id?: string;
    subject: string;
    status: CampaignLogStatus;
    opened_at?: string;
    clicked_at?: string;
    open_count: number;
    click_count: number;
    bounce_type?: string;
    complaint_type?: string;
    suppression_type?: string;
    suppression_reason?: string;
    conversation_id?: string;
    campaign_id?: string;
    created_at: string;
    sent_at?: string;
    next_attempt_at?: string;
    reply?: string;
};
export type CampaignLogStatus = "opened" | "clicked" | "queued" | "deferred" | "delivered" | "bounced" | "complained" | "failed" | "unknown" | "skipped";
export type CampaignReport = {
    campaignId: string;
    days: TimelineDay[];
    links: CampaignLink[];
    lastUpdated: string;
};
export type CampaignResent = {
    resent: number;
    campaign: CampaignView;
};
export type CampaignStats = {
    totalSent: number;
    totalDelivered: number;
    uniqueOpens: number;
    totalOpens: number;
    uniqueClicks: number;
    totalClicks: number;
    unsubscribes: number;
    bounces: number;
    complaints: number;
    openRate: number;
    clickRate: number;
    unsubscribeRate: number;
    bounceRate: number;
    botOpens: number;
    botClicks: number;
    mppOpens: number;
    recipients: number;
    queued: number;
    deferred: number;
    failed: number;
    unknown: number;
    skipped: number;
    skippedReasons: {
        [key: string]: number;
    };
    conversion?: Conversion;
    lastUpdated: string;
    reporting: StatsReporting;
};
export type CampaignStatus = "draft" | "pending_review" | "scheduled" | "sending" | "throttled" | "paused" | "sent" | "failed" | "cancelled";
export type CampaignTo = "segment" | "tag" | "audience";
export type CampaignView = {
    id: string;
    projectId: string;
    name: string;
    conversationId: string;
    emailId: string;
    languages: string[];
    subject: string;
    preheaderText: string;
    from: string;
    fromName: string;
    replyTo?: string;
    recipientType: CampaignTo;
    recipientId: string;
    topicId?: string;
    estimatedRecipients?: number;
    providerType?: string;
    variables: {
        [key: string]: unknown;
    };
    utm?: UtmParameters;
    status: CampaignStatus;
    scheduledAt?: string;
    scheduledTimezone?: string;
    timezoneMode?: TimezoneMode;
    scheduleNotice?: string;
    batchId?: string;
    sentAt?: string;
    completedAt?: string;
    error?: string;
    archived: boolean;
    archivedAt?: string;
    triggeredBy: string;
    minimumScore?: number;
    unknown: UnknownPolicy;
    skipped: number;
    warnings?: ResponseWarning[];
    createdAt: string;
    updatedAt: string;
};
export type CampaignWarning = {
    code: string;
    message: string;
    stops: boolean;
};
/** The campaign to act on. */
export type CampaignsArchiveParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
};
/** The campaign to act on. */
export type CampaignsCancelParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
};
/** The campaign to create. */
export type CampaignsCreateParams = {
    /** The project whose contacts receive the campaign. */
    projectId: string;
    name: string;
    /** The completed generation that contains the email to send. */
    conversationId?: string | null;
    /** The email to send. */
    emailId?: string | null;
    /** The subject, which may contain merge fields. */
    subject?: string | null;
    /** The preview text that email clients show after the subject. */
    preheaderText?: string | null;
    /** The sender's address. */
    from: string;
    /** The sender's name. */
    fromName: string;
    /** The address for replies. */
    replyTo?: string | null;
    recipientType: CampaignTo;
    /** The ID of the segment or tag. */
    recipientId?: string | null;
    /** The topic of the campaign. */
    topicId?: string | null;
    /** The client's name for a transport, stored and returned only for compatibility. */
    providerType?: string | null;
    /** Merge field values for all recipients. */
    variables?: {
        [key: string]: FieldValue;
    } | null;
    /** UTM parameters for links, for web analytics. */
    utm?: UtmParametersInput | null;
    /** The minimum validation score for sending. */
    minimumScore?: number | null;
    /** What to do with recipients whose delivery is unknown after a crash or a broken connection. */
    unknown?: UnknownPolicy | null;
};
export type CampaignsDeleteParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string;
};
export type CampaignsDryRunParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string;
};
/** The campaign to copy, and the name of the copy. */
export type CampaignsDuplicateParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
    /** The name of the copy. */
    name?: string | null;
};
export type CampaignsGetParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string;
};
export type CampaignsListPage = {
    campaigns: CampaignView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type CampaignsListParams = {
    /** The project that the campaigns belong to. */
    projectId: string;
    /** Lists only campaigns with one of these statuses. */
    status?: CampaignStatus[];
    /** Lists only archived campaigns if true, or only campaigns that are not archived if false. */
    archived?: boolean;
    /** Text to find in the names of campaigns, ignoring case. */
    search?: string;
    limit?: number;
    /** The number of campaigns to skip. */
    offset?: number;
};
export type CampaignsLogsParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string;
    limit?: number;
    /** The `nextCursor` of the previous page. */
    cursor?: string;
    /** Lists only recipients with this status. */
    status?: CampaignLogStatus;
    /** Lists only recipients who were skipped for this reason. */
    skipReason?: SkipReason;
};
export type CampaignsOverview = {
    campaigns: CampaignLine[];
    next?: string;
};
export type CampaignsOverviewParams = {
    /** Lists only campaigns in this project. */
    projectId?: string;
    /** Lists only campaigns with one of these statuses. */
    status?: CampaignStatus[];
    /** Lists only archived campaigns if true, or only campaigns that are not archived if false. */
    archived?: boolean;
    /** Text to find in the names of campaigns, ignoring case. */
    search?: string;
    limit?: number;
    /** The value of `next` from the previous page. */
    before?: string;
};
/** The campaign to act on. */
export type CampaignsPauseParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
};
export type CampaignsReportParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string;
};
/** The campaign and its new start time. */
export type CampaignsRescheduleParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
    /** The new start time, in ISO 8601 format. */
    scheduledAt: string;
    /** The IANA name of the new time zone. */
    scheduledTimezone?: TimeZone | null;
    /** Whose time zone applies: the campaign's, or each recipient's own. */
    timezoneMode?: TimezoneMode | null;
};
/** The campaign to act on. */
export type CampaignsResendUnknownParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
};
/** The campaign to act on. */
export type CampaignsResumeParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
};
/** The campaign and its start time. */
export type CampaignsScheduleParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
    /** The start time, in ISO 8601 format. */
    scheduledAt: string;
    /** The IANA name of the time zone; former names are accepted too. */
    scheduledTimezone?: TimeZone | null;
    /** Whose time zone applies. */
    timezoneMode?: TimezoneMode | null;
};
/** The campaign to act on. */
export type CampaignsSendParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
};
export type CampaignsStatsParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string;
};
/** The campaign and the test addresses. */
export type CampaignsTestParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
    /** The test addresses: 1 to 20. */
    emails: string[];
};
/** The campaign to act on. */
export type CampaignsUnarchiveParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
};
/** The campaign to act on. */
export type CampaignsUnscheduleParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
};
/** The changes to a campaign. */
export type CampaignsUpdateParams = {
    /** If given, the campaign must belong to this project. */
    projectId?: string | null;
    name?: string | null;
    /** The generation that contains the emails to send, one per language, as in the request that creates a campaign. */
    conversationId?: string | null;
    /** The email to send. */
    emailId?: string | null;
    /** Replaces the email's own subject; `null` uses the email's own subject. */
    subject?: string | null;
    /** Replaces the email's own preheader; `null` uses the email's own preheader. */
    preheaderText?: string | null;
    from?: string | null;
    fromName?: string | null;
    replyTo?: string | null;
    /** The kind of recipients. */
    recipientType?: CampaignTo | null;
    recipientId?: string | null;
    topicId?: string | null;
    providerType?: string | null;
    /** Replaces all variables; `{}` removes all variables. */
    variables?: {
        [key: string]: FieldValue;
    } | null;
    /** UTM parameters for links; `null` uses the setting of the From address's domain. */
    utm?: UtmParametersInput | null;
    /** The minimum validation score for sending; `null` requires no score. */
    minimumScore?: number | null;
    /** What to do with recipients whose delivery is unknown; `null` uses the installation's setting. */
    unknown?: UnknownPolicy | null;
};
export type CatalogField = {
    key: string;
    label: string;
    type: FieldKind;
    fillRate: number;
    sample: string[];
    auto: boolean;
};
export type ChangeResult = {
    changed: number;
    unchanged: number;
    failed: number;
    errors: RowError[];
};
export type ChangeState = "pending" | "kept";
export type CheckFinding = {
    id: string;
    check: ValidationCheck;
    rule: string;
    severity: FindingSeverity;
    message: string;
    effect?: string;
    fix?: string;
    text?: string;
    suggestion?: string;
    fixable: boolean;
    automaticFix?: string;
    count: number;
    occurrences: SourcePlace[];
    url?: string;
    weight: number;
};
export type CheckOptions = {
    checkCompatibility?: boolean | null;
    checkLinks?: boolean | null;
    checkSpelling?: boolean | null;
    checkDeliverability?: boolean | null;
    checkAccessibility?: boolean | null;
    clients?: string[];
    languages?: string[];
};
export type CheckScores = {
    overall?: number;
    compatibility?: number;
    links?: number;
    spelling?: number;
    deliverability?: number;
    accessibility?: number;
};
export type CheckedLink = {
    url: string;
    kind: LinkKind;
    status: LinkStatus;
    statusCode?: number;
    responseTime?: number;
    error?: string;
    finalUrl?: string;
    hops: LinkHop[];
    certificateDaysLeft?: number;
    contentType?: string;
    contentBytes?: number;
    text: string;
    count: number;
    outlookOnly: boolean;
    occurrences: SourcePlace[];
};
export type ColorContrast = {
    text: "text" | "buttonText";
    ground: "background" | "button";
    ratio: number;
    legible: boolean;
};
export type ColumnMap = {
    email: string;
    name?: string;
    firstName?: string;
    lastName?: string;
    company?: string;
    phone?: string;
    city?: string;
    country?: string;
    language?: string;
    tags?: string;
    status?: string;
    customFields: {
        [key: string]: string;
    };
};
export type ColumnMapInput = {
    email: string;
    name?: string | null;
    firstName?: string | null;
    lastName?: string | null;
    company?: string | null;
    phone?: string | null;
    city?: string | null;
    country?: string | null;
    language?: string | null;
    tags?: string | null;
    status?: string | null;
    customFields?: {
        [key: string]: string;
    };
};
export type CompatibilityApplies = "false" | "unknown" | "true";
export type CompatibilityAutofix = {
    start: number;
    end: number;
    original: string;
    replacement: string;
};
export type CompatibilityClient = {
    client: string;
    clientName: string;
    share: number;
    score: number;
    issues: CompatibilityIssue[];
    warnings: CompatibilityIssue[];
    untested: string[];
};
export type CompatibilityCondition = {
    note: string;
    applies: CompatibilityApplies;
};
export type CompatibilityEffect = "nothing" | "cosmetic" | "layout" | "content" | "link" | "drops-attribute" | "drops-style-element";
export type CompatibilityIssue = {
    slug: string;
    title: string;
    category: string;
    url: string;
    support: CompatibilitySupport;
    condition?: CompatibilityCondition;
    effect: CompatibilityEffect;
    occurrences: CompatibilityOccurrence[];
    count: number;
    reach: number;
    unused: boolean;
    fallback?: string;
    fix?: string;
    autofix?: CompatibilityAutofix[];
    tested: CompatibilityTest;
};
export type CompatibilityLimits = {
    htmlBytes: number;
    clipsAt: number;
    isClipped: boolean;
    clippedLine?: number;
    cssBytes: number;
    cssBytesMax: number;
    images: number;
    imagesWithoutAlt: number;
    imagesWithoutSize: number;
    embeddedImageBytes: number;
};
export type CompatibilityMetadata = {
    clientsTested: number;
    dataVersion: string;
    processingTime: number;
};
export type CompatibilityOccurrence = {
    line: number;
    column: number;
    endLine: number;
    endColumn: number;
    excerpt: string;
    selector?: string;
};
export type CompatibilityReport = {
    clientIssues: CompatibilityClient[];
    summary: CompatibilitySummary;
    limits: CompatibilityLimits;
    supportedClients: string[];
    metadata: CompatibilityMetadata;
};
export type CompatibilitySummary = {
    totalErrors: number;
    totalWarnings: number;
    compatibilityScore: number;
    byEffect: {
        [key: string]: number;
    };
    worstClients: CompatibilityWorstClient[];
};
export type CompatibilitySupport = "none" | "partial" | "unknown";
export type CompatibilityTest = {
    version?: string;
    date: string;
    stale: boolean;
};
export type CompatibilityWorstClient = {
    client: string;
    score: number;
};
export type CompletedExportView = {
    jobId: string;
    projectId: string;
    status: "completed";
    contactCount: number;
    fileName: string;
    createdAt: string;
    completedAt?: string;
    downloadUrl: string;
    downloadExpiresAt?: string;
    error?: string;
};
export type CompletedGenerationStatus = {
    conversationId: string;
    projectId: string;
    status: "completed";
    progress: GenerationProgress;
    title: string;
    prompt: string;
    brief?: Brief;
    model: string;
    onFailure: OnFailure;
    createdAt: string;
    updatedAt: string;
    error?: string;
    result: ResultView;
};
export type ConditionMatch = "all" | "any";
export type ConnectedStore = {
    serverId: string;
    projectId: string;
    provider: StorePlatform;
    providerName: "Shopify" | "WooCommerce";
    store: string;
    storeUrl: string;
    status: "connected" | "reconnect_required" | "disconnected";
    error?: string;
    toolsEnabled: StoreTool[];
    customers: StoreCustomers;
    sync: SyncView;
    webhookUrl?: string;
    dataRequests: DataRequestView[];
    connectedAt: string;
};
export type ConnectionList = {
    connections: ConnectionView[];
    total: number;
};
export type ConnectionProvider = "platform_a" | "klaviyo" | "platform_b" | "mailchimp" | "platform_c" | "hubspot";
export type ConnectionUse = "imports" | "exports";
export type ConnectionView = {
    id: string;
    provider: ConnectionProvider;
    providerName: "Klaviyo" | "Mailchimp" | "HubSpot";
    name: string;
    externalId: string;
    externalName: string;
    projectId?: string;
    method: "key" | "oauth";
    uses: ConnectionUse[];
    status: "connected" | "reconnect_required" | "rate_limited";
    error?: string;
    rateLimitedUntil?: string;
    createdAt: string;
    connectedAt: string;
};
/** The account to connect by signing in to the platform. */
export type ConnectionsAuthorizeParams = {
    /** A name for the connection. */
    name?: string | null;
    /** The only project that can use the connection. */
    projectId?: string | null;
    /** The connection to reconnect. */
    connectionId?: string | null;
    /** What the connection may do. */
    uses?: ConnectionUse[] | null;
};
/** The parameters of the platform's redirect to the callback page. */
export type ConnectionsCompleteParams = {
    /** The authorization code, which works once. */
    code: string;
    /** The `state` parameter, unchanged. */
    state: string;
};
/** The account to connect. */
export type ConnectionsCreateParams = {
    /** The account's private API key: for Klaviyo a key that starts with pk_, for Mailchimp a key that ends with its data center, for HubSpot the access token of a private app. */
    apiKey: string;
    /** A name for the connection. */
    name?: string | null;
    /** The only project that can use the connection. */
    projectId?: string | null;
    /** The connection to reconnect. */
    connectionId?: string | null;
};
export type ConnectionsDeleteParams = {
    connectionId: string;
};
/** The contacts to import. */
export type ConnectionsImportContactsParams = {
    provider: ConnectionProvider;
    /** The project to which the contacts are added. */
    projectId: string;
    /** The sources to import, as `GET /v1/contacts/imports/providers/{provider}/sources` lists them. */
    sources: SourceRef[];
    /** Which contacts without recorded consent are imported. */
    consentMode?: ConsentMode;
    /** The connection to use. */
    connectionId?: string | null;
    /** The platform's fields to map, each with its contact field: a profile field, `customFields.NAME`, or null to leave the field out. */
    fieldMap?: {
        [key: string]: string | null;
    };
};
export type ConnectionsListParams = {
    /** Returns only connections to this provider. */
    provider?: ConnectionProvider;
    /** Returns only connections that this project can use. */
    projectId?: string;
};
/** The import to preview. */
export type ConnectionsPreviewImportParams = {
    provider: ConnectionProvider;
    /** The project to which the contacts would be added. */
    projectId: string;
    /** The sources, as `GET /v1/contacts/imports/providers/{provider}/sources` lists them. */
    sources: SourceRef[];
    /** Which contacts without recorded consent would be imported. */
    consentMode?: ConsentMode;
    /** The connection to use. */
    connectionId?: string | null;
    /** Maps the platform's fields to contact fields, as in the import. */
    fieldMap?: {
        [key: string]: string | null;
    };
};
export type ConnectionsSourcesParams = {
    /** The project into which the contacts would be imported. */
    projectId: string;
    /** The connection to use. */
    connectionId?: string;
};
export type ConsentMode = "subscribed-only" | "include-all";
export type ConstraintKind = "no_images" | "no_products" | "no_exclamation" | "no_emoji" | "plain_layout" | "one_button" | "word_limit" | "formal" | "informal" | "avoid_word" | "layout" | "color" | "emoji" | "emails" | "products";
export type ContactAction = "sent" | "opened" | "clicked";
export type ContactJob = {
    id: string;
    projectId: string;
    kind: "bulk" | "import" | "export" | "change";
    status: "pending" | "processing" | "completed" | "failed" | "uploaded";
    processed: number;
    failed: number;
    error?: string;
    seen: boolean;
    createdAt: string;
    completedAt?: string;
};
export type ContactJobs = {
    jobs: ContactJob[];
};
export type ContactProfile = {
    firstName?: string | null;
    lastName?: string | null;
    company?: string | null;
    phone?: string | null;
    city?: string | null;
    country?: string | null;
    language?: string | null;
    customFields?: {
        [key: string]: FieldValue;
    } | null;
};
export type ContactStatus = "subscribed" | "unsubscribed" | "bounced" | "non-subscribed";
export type ContactTopicChoice = {
    topicId: string;
    subscriberId: string;
    subscribed: boolean;
};
export type ContactView = {
    id: string;
    email: string;
    firstName?: string;
    lastName?: string;
    company?: string;
    phone: string | null;
    city?: string;
    country?: string;
    language?: string;
    tags: string[];
    customFields: {
        [key: string]: FieldValue;
    };
    status: ContactStatus;
    createdAt: string;
    updatedAt: string;
    unsubscribedAt?: string;
    suppression?: SuppressionReason;
};
/** The contacts and the change. */
export type ContactsBulkChangesCreateParams = {
    /** The project that the contacts belong to. */
    projectId: string;
    /** The IDs of 1 to 1,000 contacts. */
    ids?: string[] | null;
    /** True to select all contacts, optionally limited by `segmentId` and `filters`. */
    all?: boolean;
    /** With `all`, selects only contacts in this segment. */
    segmentId?: string | null;
    /** With `all`, selects only contacts that match these filters. */
    filters?: ExportFilters | null;
    /** Names of tags to add. */
    addTags?: string[];
    /** Names of tags to remove. */
    removeTags?: string[];
    /** The new status. */
    status?: ContactStatus | null;
    /** True to delete the contacts. */
    delete?: boolean;
};
export type ContactsBulkChangesGetParams = {
    /** The job's project. */
    projectId?: string;
};
/** The contacts to add or update, each in the same form as when a single contact is added. */
export type ContactsBulkCreateParams = {
    /** The project of the contacts. */
    projectId: string;
    /** 1 to 50,000 contacts. */
    subscribers: BulkRow[];
};
/** The contacts to delete. */
export type ContactsBulkDeleteParams = {
    /** The project of the contacts. */
    projectId: string;
    /** The emails of 1 to 1,000 contacts. */
    emails: string[];
};
export type ContactsBulkGetParams = {
    /** The job's project. */
    projectId?: string;
};
/** A new contact. */
export type ContactsCreateParams = {
    /** The ID of the contact's project. */
    projectId: string;
    /** The contact's email. */
    email: string;
    firstName?: string | null;
    lastName?: string | null;
    /** The company or organization that the contact belongs to. */
    company?: string | null;
    /** The phone number, as free-form text. */
    phone?: string | null;
    /** The city or town. */
    city?: string | null;
    /** The country's ISO 3166-1 alpha-2 code. */
    country?: string | null;
    /** The language's ISO 639-1 code or BCP 47 tag. */
    language?: string | null;
    /** Names of tags for the contact. */
    tags?: string[] | null;
    /** Any other data about the contact, by name. */
    customFields?: {
        [key: string]: FieldValue;
    } | null;
    /** The contact's status. */
    status?: ContactStatus | null;
};
export type ContactsDeleteParams = {
    /** The ID of the contact's project. */
    projectId: string;
};
export type ContactsEventsParams = {
    /** The ID of the contact's project. */
    projectId: string;
    limit?: number;
    /** The `nextCursor` of the previous page. */
    cursor?: string;
};
/** Selects the contacts to export. */
export type ContactsExportsCreateParams = {
    projectId: string;
    /** Exports only contacts in this segment. */
    segmentId?: string | null;
    /** Exports only contacts that match these filters. */
    filters?: ExportFilters | null;
};
export type ContactsExportsGetParams = {
    /** The project of the export. */
    projectId: string;
};
export type ContactsFieldCatalogParams = {
    /** Examines only contacts in this segment. */
    segmentId?: string;
    /** Examines only contacts that have the tag with this name. */
    tag?: string;
    /** The maximum number of contacts to examine, newest first. */
    examine?: number;
};
export type ContactsGetParams = {
    /** The ID of the contact's project. */
    projectId: string;
};
/** The fields of the form. */
export type ContactsImportsCreateParams = {
    /** The CSV file with a header row, encoded in UTF-8, UTF-16 with a byte order mark, or Windows-1252. */
    file: Upload;
    /** The project to which the contacts are added. */
    projectId: string;
    /** JSON that maps fields to headers. */
    columnMap?: string;
    /** `upsert` (the default) updates existing contacts with values from the file; `skip` leaves them unchanged. */
    onConflict?: "upsert" | "skip";
    /** The separator between cells: one ASCII character. */
    delimiter?: string;
    /** Names of tags to add to every contact in the file, as a JSON array or separated by commas. */
    tags?: string;
    /** The status for contacts whose row has no status. */
    status?: ContactStatus;
    /** Whether to store the file for a day without importing it; POST /v1/contacts/imports/{id}/start imports it. */
    hold?: boolean;
};
export type ContactsImportsErrorsPage = {
    errors: ImportError[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type ContactsImportsErrorsParams = {
    /** The import's project. */
    projectId?: string;
    limit?: number;
    /** The number of errors to skip. */
    offset?: number;
};
export type ContactsImportsGetParams = {
    /** The import's project. */
    projectId?: string;
};
export type ContactsImportsPreviewParams = {
    /** The file's project. */
    projectId?: string;
    /** The separator between cells. */
    delimiter?: string;
    /** The number of rows to return. */
    rows?: number;
};
/** The pending file, and how to import it. */
export type ContactsImportsStartParams = {
    /** The file's project. */
    projectId?: string | null;
    /** Maps contact fields to column headers. */
    columnMap?: ColumnMapInput | null;
    /** What to do with contacts that already exist. */
    onConflict?: OnConflict;
    /** The separator between cells. */
    delimiter?: string | null;
    /** Names of tags to add to every contact in the file. */
    tags?: string[];
    /** The status for rows that have no status. */
    status?: ContactStatus | null;
};
export type ContactsJobsListParams = {
    /** Returns only jobs in this project. */
    projectId?: string;
    limit?: number;
};
/** Selects an import or another job. */
export type ContactsJobsMarkSeenParams = {
    /** The import's project. */
    projectId?: string | null;
};
export type ContactsListPage = {
    contacts: ContactView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type ContactsListParams = {
    /** The project whose contacts are listed. */
    projectId: string;
    /** Words to find in a contact's email, names, company, phone, city, tags and custom fields. */
    search?: string;
    /** If true, a search waits until the search index contains every write that was completed before this request; if this takes more than 5 seconds, the response is 503. */
    refresh?: boolean;
    /** Returns only contacts with this status. */
    status?: ContactStatus;
    /** Returns only contacts that have at least one of these tags. */
    tags?: string[];
    /** Returns only contacts in this segment. */
    segmentId?: string;
    /** Returns only contacts created at or after this time. */
    createdAfter?: string;
    /** Returns only contacts created before this time. */
    createdBefore?: string;
    /** Returns only contacts last changed at or after this time. */
    updatedAfter?: string;
    /** Returns only contacts last changed before this time. */
    updatedBefore?: string;
    /** The field to sort by. */
    sortBy?: SortBy;
    sortOrder?: SortOrder;
    limit?: number;
    /** The number of contacts to skip. */
    offset?: number;
};
export type ContactsPersonalDataParams = {
    /** The ID of the contact's project. */
    projectId: string;
};
/** The contact, and the change of its status or tags. */
export type ContactsSetStatusParams = {
    /** The ID of the contact's project. */
    projectId: string;
    /** The contact's email. */
    email: string;
    status: ContactStatus;
    /** If true, or if both this and `tags` are absent, changes the contact's status. */
    allLists?: boolean | null;
    /** Names of tags to add or remove instead of changing the status. */
    tags?: string[] | null;
};
export type ContactsTimelineParams = {
    /** The ID of the contact's project. */
    projectId: string;
    limit?: number;
    /** The `nextCursor` of the previous response. */
    cursor?: string;
};
export type ContactsTopicsParams = {
    /** The ID of the contact's project. */
    projectId: string;
};
/** The contact, and the scope of the unsubscription. */
export type ContactsUnsubscribeParams = {
    /** The contact's email. */
    email: string;
    /** The ID of the contact's project. */
    projectId: string;
    /** If true or absent, unsubscribes the contact from all mail except transactional messages. */
    allLists?: boolean | null;
    /** Names of tags to remove when `allLists` is false. */
    tags?: string[] | null;
};
/** The changes to a contact. */
export type ContactsUpdateParams = {
    /** The ID of the contact's project. */
    projectId: string;
    firstName?: string | null;
    lastName?: string | null;
    /** The company or organization that the contact belongs to. */
    company?: string | null;
    /** The phone number, as free-form text. */
    phone?: string | null;
    /** The city or town. */
    city?: string | null;
    /** The country's ISO 3166-1 alpha-2 code. */
    country?: string | null;
    /** The language's ISO 639-1 code or BCP 47 tag. */
    language?: string | null;
    /** All tags that the contact should have. */
    tags?: string[] | null;
    /** Custom fields to merge: omitted fields stay unchanged, `null` removes a field, and an empty object removes all fields. */
    customFields?: {
        [key: string]: FieldValue;
    } | null;
    /** The new status. */
    status?: ContactStatus | null;
};
export type ConversationView = {
    conversationId: string;
    title: string;
    subject?: string;
    previewText?: string;
    status: "pending" | "processing" | "completed" | "failed";
    screenshotUrl?: string;
    thumbnailUrl?: string;
    emailCount: number;
    favorite: boolean;
    createdAt: string;
    updatedAt: string;
};
export type Conversion = {
    conversions: number;
    revenue: number;
    currency: string;
    source: string;
    otherCurrencies?: ConversionInOtherCurrency[];
};
export type ConversionInOtherCurrency = {
    currency: string;
    conversions: number;
    revenue: number;
};
export type CountryCount = {
    country: string;
    count: number;
};
export type CustomerEvent = {
    eventId: string;
    name: string;
    identifiers: ExternalIds;
    properties?: {
        [key: string]: unknown;
    };
    occurredAt: string;
    receivedAt: string;
    dedupeKey?: string;
};
export type CustomerEventPart = {
    events: CustomerEvent[];
    nextCursor?: string;
    hasMore: boolean;
};
export type DataRequestView = {
    requestId: string;
    contactId?: string;
    receivedAt: string;
};
export type DayView = {
    date: string;
    successful: number;
    failed: number;
    attempts: number;
};
export type DeletedBlock = {
    id: string;
    deleted: boolean;
};
export type DeletedCampaign = {
    id: string;
    deleted: boolean;
};
export type DeletedContact = {
    id: string;
    deleted: boolean;
};
export type DeletedContacts = {
    deleted: number;
    notFound: string[];
};
export type DeletedDomain = {
    domain: string;
    deleted: boolean;
};
export type DeletedHook = {
    id: string;
    deleted: boolean;
};
export type DeletedMailService = {
    id: string;
    deleted: boolean;
};
export type DeletedMessage = {
    id: string;
    deleted: boolean;
};
export type DeletedScheduledImport = {
    id: string;
    deleted: boolean;
};
export type DeletedSegment = {
    id: string;
    deleted: boolean;
};
export type DeletedSuppression = {
    email: string;
    deleted: boolean;
};
export type DeletedTag = {
    id: string;
    deleted: boolean;
};
export type DeletedTopic = {
    id: string;
    deleted: boolean;
};
export type DeletedWebhook = {
    id: string;
    deleted: boolean;
};
export type DeliverabilityAnalysis = {
    prediction: DeliverabilityPrediction;
    contentSignals: DeliverabilityContentSignals;
    spamScore: DeliverabilitySpamScore;
    recommendations: DeliverabilityRecommendations;
    authentication?: DeliverabilityAuthentication;
    metadata: DeliverabilityMetadata;
};
export type DeliverabilityAuthentication = {
    domain: string;
    spf: DeliverabilityRecordStatus;
    spfLookups?: number;
    dkim: DeliverabilityRecordStatus;
    dmarc: DeliverabilityRecordStatus;
    dmarcPolicy?: string;
    mx: DeliverabilityRecordStatus;
    bimi: DeliverabilityRecordStatus;
    problems: DeliverabilityRecordProblem[];
};
export type DeliverabilityCategory = "inbox" | "promotions" | "spam";
export type DeliverabilityContentSignals = {
    promotional: string[];
    transactional: string[];
    spam: string[];
    engagement: string[];
};
export type DeliverabilityEvidence = {
    part: DeliverabilityPart;
    line: number;
    column: number;
    excerpt: string;
};
export type DeliverabilityFinding = {
    rule: string;
    family: string;
    level: DeliverabilityLevel;
    points: number;
    text: string;
    remedy: string;
    occurrences: number;
    evidence: DeliverabilityEvidence[];
};
export type DeliverabilityLevel = "critical" | "important" | "suggested";
export type DeliverabilityMetadata = {
    processingTime: number;
    analysisType: string;
};
export type DeliverabilityPart = "html" | "subject" | "fromName" | "fromEmail";
export type DeliverabilityPrediction = {
    category: DeliverabilityCategory;
    confidence: number;
    score: number;
    reasoning: string;
};
export type DeliverabilityRecommendations = {
    critical: string[];
    important: string[];
    suggested: string[];
};
export type DeliverabilityRecordProblem = {
    id: string;
    level: DeliverabilityLevel;
    text: string;
    remedy: string;
};
export type DeliverabilityRecordStatus = "ok" | "problem" | "missing" | "not checked";
export type DeliverabilitySpamScore = {
    score: number;
    triggers: string[];
    recommendations: string[];
    tokenPoints: number;
    findings: DeliverabilityFinding[];
};
export type DeliveryDetails = {
    id: string;
    eventId: string;
    eventType: string;
    status: DeliveryStatus;
    attempts: number;
    lastAttemptAt?: string;
    nextAttemptAt?: string;
    response?: ResponseView;
    error?: string;
    test: boolean;
    redeliveryOf?: string;
    attemptLog: AttemptView[];
    createdAt: string;
    completedAt?: string;
    body?: string;
};
export type DeliveryStatus = "pending" | "success" | "failed" | "cancelled";
export type DeliveryView = {
    id: string;
    eventId: string;
    eventType: string;
    status: DeliveryStatus;
    attempts: number;
    lastAttemptAt?: string;
    nextAttemptAt?: string;
    response?: ResponseView;
    error?: string;
    test: boolean;
    redeliveryOf?: string;
    attemptLog: AttemptView[];
    createdAt: string;
    completedAt?: string;
};
export type DesignList = {
    designs: DesignView[];
};
export type DesignView = {
    name: string;
    title: string;
    about: string;
};
export type DeviceCategories = {
    desktop: string[];
    mobile: string[];
    web: string[];
    misc: string[];
};
export type DeviceCategory = "DESKTOP" | "MOBILE" | "WEB" | "MISC";
export type DeviceStatus = "PROCESSING" | "SUCCESSFUL" | "FAILED";
export type DisconnectedStore = {
    id: string;
    deleted: boolean;
    webhooksRemoved: boolean;
};
export type DkimSignature = {
    domain: string;
    selector: string;
    algorithm: string;
    result: string;
    reason?: string;
};
export type DocumentChange = {
    op: DocumentChangeKind;
    path?: string;
    id?: string;
    after?: string;
    before?: string;
    value: unknown;
};
export type DocumentChangeInput = {
    op: DocumentChangeKind;
    path?: string | null;
    id?: string | null;
    after?: string | null;
    before?: string | null;
    value?: unknown;
};
export type DocumentChangeKind = "insert" | "remove" | "move" | "set" | "duplicate";
export type DomainStatus = "pending" | "verified" | "failed";
export type DomainTracking = {
    openTracking: boolean;
    clickTracking: boolean;
    brandedTracking: boolean;
};
export type DomainVerification = {
    domain: string;
    status: DomainStatus;
    statusReason?: string;
    dnsRecords: RecordView[];
};
export type DomainView = {
    domain: string;
    region: string;
    status: DomainStatus;
    isVerified: boolean;
    statusReason?: string;
    dnsRecords: RecordView[];
    notes: string[];
    trackingSettings: DomainTracking;
    utm?: UtmParameters;
    stream?: MailStream;
    vanityRootFrom: boolean;
    fromName?: string;
    rotating: boolean;
    checkedAt?: string;
    createdAt: string;
    updatedAt: string;
};
/** The sending domain to add. */
export type DomainsCreateParams = {
    /** The domain name, such as `example.com`. */
    domain: string;
    /** Accepted and ignored, because this installation sends the mail. */
    region?: string | null;
};
/** The sending subdomain to add. */
export type DomainsCreateStreamParams = {
    /** The root domain, such as `example.com`. */
    rootDomain: string;
    /** The kind of mail: `transactional` creates `notify.<root>`, `marketing` creates `send.<root>`. */
    stream: MailStream;
    /** Whether this subdomain signs for From addresses at the root domain itself. */
    vanityRootFrom?: boolean;
};
export type DomainsListParams = {
    /** The maximum number of domains to return. */
    limit?: number;
    /** The number of domains to skip. */
    offset?: number;
};
/** The root domain to create sending subdomains for, and options for the subdomains. */
export type DomainsSetupParams = {
    /** The root domain, such as `example.com`. */
    rootDomain: string;
    /** The sender's name, stored with both subdomains. */
    fromName?: string | null;
    /** A project in the account. */
    projectId?: string | null;
    /** Whether the subdomains sign for From addresses at the root domain itself. */
    vanityRootFrom?: boolean;
};
/** The changes to a domain. */
export type DomainsUpdateParams = {
    /** Whether opens are tracked. */
    openTracking?: boolean | null;
    /** Whether clicks are tracked. */
    clickTracking?: boolean | null;
    /** Whether links use a host name inside the sending domain, which requires one more DNS record. */
    brandedTracking?: boolean | null;
    /** The default UTM parameters (`utm_source` and so on) for links in mail from this domain, unless a campaign or send sets different ones. */
    utm?: UtmParametersInput | null;
};
export type EarlierView = {
    emailId: string;
    provider: ConnectionProvider;
    type: "html" | "hybrid" | "template" | "campaign" | "email";
    name: string;
    url: string;
    version: number;
    exportedAt: string;
};
export type EditView = {
    editId: string;
    emailId: string;
    conversationId: string;
    status: "pending" | "processing" | "completed" | "failed";
    stage: "waiting" | "editing" | "completed" | "failed";
    createdAt: string;
    updatedAt: string;
    pollAfterMs: number;
    error?: string;
    changesMayHaveBeenSaved?: boolean;
    prompt: string;
    done: string[];
    notDone: string[];
    result?: EmailView;
};
export type EditedEmail = {
    id: string;
    emailId: string;
    conversationId: string;
    projectId: string;
    messageId: string;
    slotIdx: number;
    slot: number;
    slotUuid: string;
    language: string;
    status: "processing" | "ready" | "failed";
    subject: string;
    preheader: string;
    html: string;
    text: string;
    sendOffsetDays?: number;
    screenshotUrl?: string;
    screenshotFullUrl?: string;
    thumbnailUrl?: string;
    shareUrl?: string;
    writtenBy?: string;
    warnings: EmailWarning[];
    error?: string;
    favorite: boolean;
    version: number;
    createdAt: string;
    updatedAt: string;
    document?: unknown;
    done: string[];
    notDone: string[];
    previewId?: string;
};
export type EmailCheckFinding = {
    id: string;
    check: ValidationCheck;
    rule: string;
    severity: FindingSeverity;
    message: string;
    effect?: string;
    fix?: string;
    text?: string;
    suggestion?: string;
    fixable: boolean;
    automaticFix?: string;
    count: number;
    occurrences: SourcePlace[];
    url?: string;
    weight: number;
    ignored: boolean;
};
export type EmailCheckSummary = {
    emailId: string;
    language: string;
    scores?: CheckScores;
    worstFindings: CheckFinding[];
    linksRequested: boolean;
};
export type EmailChecks = {
    emailId: string;
    version: number;
    scores: CheckScores;
    findings: EmailCheckFinding[];
    linksRequested: boolean;
    pending: boolean;
    checksIncomplete: IncompleteCheck[];
    checkedAt?: string;
};
export type EmailDetails = {
    id: string;
    emailId: string;
    conversationId: string;
    projectId: string;
    messageId: string;
    slotIdx: number;
    slot: number;
    slotUuid: string;
    language: string;
    status: "processing" | "ready" | "failed";
    subject: string;
    preheader: string;
    html: string;
    text: string;
    sendOffsetDays?: number;
    screenshotUrl?: string;
    screenshotFullUrl?: string;
    thumbnailUrl?: string;
    shareUrl?: string;
    writtenBy?: string;
    warnings: EmailWarning[];
    error?: string;
    favorite: boolean;
    version: number;
    createdAt: string;
    updatedAt: string;
    document?: unknown;
    prompt: string;
    brief?: Brief;
    series: SiblingView[];
};
export type EmailEditResult = EditedEmail | EditView;
export type EmailExport = {
    conversationId: string;
    files: FileView[];
    executionTime: number;
    exportType: "html" | "mjml" | "png" | "pdf" | "platform_a" | "platform_b" | "platform_c";
};
export type EmailLogPart = {
    emails: CampaignLog[];
    nextCursor?: string;
    hasMore: boolean;
};
export type EmailLogStatus = "opened" | "clicked" | "bounced" | "complained" | "delivered" | "suppressed";
export type EmailMetrics = {
    emailId: string;
    summary: EmailMetricsSummary;
    timeSeries: EmailMetricsDay[];
    countryBreakdown: CountryCount[];
    conversion?: Conversion;
    lastUpdated: string;
    cached: boolean;
};
export type EmailMetricsDay = {
    date: string;
    sent: number;
    delivered: number;
    opened: number;
    clicked: number;
    bounced: number;
    complained: number;
};
export type EmailMetricsSummary = {
    totalEmails: number;
    delivered: number;
    opened: number;
    clicked: number;
    bounced: number;
    complained: number;
    unsubscribed: number;
    deliveredRate: number;
    openedRate: number;
    clickedRate: number;
    bouncedRate: number;
    complainedRate: number;
    unsubscribedRate: number;
};
export type EmailPurpose = "welcome" | "sale" | "launch" | "digest" | "event" | "webinar" | "apology" | "outage" | "service_notice" | "recall" | "price_change" | "cart" | "win_back" | "trial_ending" | "order_deadline" | "closing" | "opening_hours" | "voucher" | "survey" | "review" | "referral" | "receipt" | "hiring" | "seasonal" | "thank_you" | "legal" | "waitlist" | "reminder" | "announcement" | "unclear";
export type EmailStats = {
    imageCount: number;
    buttonCount: number;
    estimatedLength: number;
    colors: string[];
};
export type EmailView = {
    id: string;
    emailId: string;
    conversationId: string;
    projectId: string;
    messageId: string;
    slotIdx: number;
    slot: number;
    slotUuid: string;
    language: string;
    status: "processing" | "ready" | "failed";
    subject: string;
    preheader: string;
    html: string;
    text: string;
    sendOffsetDays?: number;
    screenshotUrl?: string;
    screenshotFullUrl?: string;
    thumbnailUrl?: string;
    shareUrl?: string;
    writtenBy?: string;
    warnings: EmailWarning[];
    error?: string;
    favorite: boolean;
    version: number;
    createdAt: string;
    updatedAt: string;
};
export type EmailVisibility = "private" | "unlisted" | "public";
export type EmailWarning = {
    kind: FindingKind;
    message: string;
    text?: string;
    span?: BriefSpan;
    block?: string;
    add?: DocumentChange;
    remove?: DocumentChange;
    accept?: string;
    checkFinding?: string;
};
/** The email and the text to add to its brief. */
export type EmailsAddToBriefParams = {
    /** The text to add: the `accept` value of a warning, or other text that the email must contain from now on, such as its subject, its preheader, a URL that it links to, or a sentence. */
    text: string;
};
/** The prompt to read, with the project, the languages and the model. */
export type EmailsBriefParams = {
    /** The project of the brand that sends the email. */
    projectId: string;
    /** A description of the email: its purpose, and every fact that it must contain. */
    prompt: string;
    /** The languages of the email as BCP 47 tags. */
    languages?: string[];
    /** The model that reads the prompt: the name of a language model in the settings, or `composer` for the rules of the built-in composer. */
    model?: string | null;
};
/** The finding to resolve. */
export type EmailsChecksFixParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string | null;
    /** The version that the finding concerns. */
    version?: number | null;
};
export type EmailsChecksGetParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string;
};
/** The finding and whether it is ignored. */
export type EmailsChecksIgnoreParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string | null;
    ignored: boolean;
};
/** The email whose checks to return. */
export type EmailsChecksRunParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string | null;
};
/** The email to create, from a starter design or a complete document. */
export type EmailsCreateParams = {
    /** The project of the brand that sends the email. */
    projectId: string;
    /** The name of a starter design; `blank` if both `design` and `document` are absent. */
    design?: string | null;
    /** The email's document: typed blocks, starting with a header and ending with a footer. */
    document?: unknown;
    /** The language of a design's header and footer, as a BCP 47 tag. */
    language?: string | null;
    /** Who may see the email without an API key. */
    visibility?: EmailVisibility;
};
export type EmailsDesignsHtmlParams = {
    projectId: string;
    /** Whether to load remote images through this service. */
    images?: boolean;
};
/** The email to edit, the change, and options for making and saving the change. */
export type EmailsEditsCreateParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string | null;
    /** The change to make, in plain words, such as "make the button green and shorten the intro". */
    prompt: string;
    /** The model that makes the change: `composer`, or the name of a language model in the settings. */
    model?: string | null;
    /** A name for the new version. */
    label?: string | null;
    /** Whether to respond immediately with the unfinished edit, whose status can be polled, instead of waiting for the edited email. */
    async?: boolean;
    /** Whether to return the changed email without saving it. */
    preview?: boolean;
};
/** The preview to save. */
export type EmailsEditsSaveParams = {
    /** A name for the new version. */
    label?: string | null;
};
/** The email and whether it becomes a favorite. */
export type EmailsFavoriteParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string | null;
    favorite: boolean;
};
/** The brand, and the content and options of the emails to generate. */
export type EmailsGenerateParams = {
    /** The project of the brand that sends the emails. */
    projectId: string;
    /** The purpose of the emails, and every fact that the emails must contain: offers, codes, dates, names and links. */
    prompt?: string | null;
    /** The content of the emails, part by part, as `POST /v1/projects/emails/brief` returns it. */
    brief?: BriefInput | null;
    /** The images to use in the emails. */
    images?: GivenImage[];
    /** The model: `composer` for the built-in composer, or the name of a language model in the settings. */
    model?: string | null;
    /** Whether pages that the prompt links to may be read. */
    webMode?: boolean | null;
    /** The languages in which each email is generated, as BCP 47 tags. */
    languages?: string[];
    /** Who may see the emails without an API key. */
    visibility?: EmailVisibility;
    /** A conversation whose emails serve as a reference for the style of the new emails. */
    referenceId?: string | null;
    /** The number of emails. */
    count?: number | null;
};
export type EmailsGetParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string;
};
export type EmailsHtmlParams = {
    /** Whether to load remote images through this service. */
    images?: boolean;
    /** Whether to show the email's colors for dark mode. */
    dark?: boolean;
};
/** The emails to import: one email in `html`, or several emails in `htmls`. */
export type EmailsImportHtmlParams = {
    projectId: string;
    /** The email's HTML. */
    html?: string | null;
    /** The name of the email. */
    name?: string | null;
    /** The emails to import, instead of `html`. */
    htmls?: NamedSource[];
    /** A list whose first item is the language of the emails; all other items are ignored. */
    languages?: string[];
    /** A change to make to each email, in plain words. */
    instruction?: string | null;
    /** Who may see the emails without an API key. */
    visibility?: EmailVisibility;
    /** Whether to generate images for the emails. */
    generateMedia?: boolean;
};
export type EmailsListPage = {
    emails: ConversationView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type EmailsListParams = {
    /** The project that the conversations belong to. */
    projectId: string;
    /** If given, only conversations with this status are listed. */
    status?: StateWord;
    /** If given, only conversations are listed whose title or prompt, or the subject of one of their emails, contains this text, ignoring case. */
    search?: string;
    /** Whether to list only conversations with a favorite email. */
    favorite?: boolean;
    limit?: number;
    /** The number of conversations to skip. */
    offset?: number;
};
export type EmailsLogsParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string;
    limit?: number;
    /** The `nextCursor` of the previous response. */
    cursor?: string;
    /** Return only recipients with this status. */
    status?: EmailLogStatus;
};
export type EmailsMetricsParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string;
};
/** The email to send, its sender and recipients, and how to send it. */
export type EmailsSendParams = {
    recipientType: SendTo;
    /** The ID of the segment or tag. */
    recipientId?: string | null;
    /** The recipient's address. */
    recipientEmail?: string | null;
    /** The From address. */
    from: string;
    /** The sender's name. */
    fromName?: string | null;
    /** The subject, which may contain merge fields. */
    subject?: string | null;
    /** The address that receives replies. */
    replyTo?: string | null;
    /** Additional addresses. */
    bcc?: string[] | null;
    /** HTML with merge fields, to send instead of a stored email. */
    template?: string | null;
    /** The ID of the email to send. */
    emailId?: string | null;
    /** The ID of the conversation that contains the email: the email selected by `emailId` or, without `emailId`, the first email in the series. */
    conversationId?: string | null;
    /** Values of merge fields, shared by all recipients. */
    variables?: {
        [key: string]: AnyJson;
    } | null;
    /** The ID of the project that owns the contacts. */
    projectId?: string | null;
    /** Accepted for compatibility and ignored: the settings determine the provider that delivers mail. */
    providerType?: string | null;
    /** Whether the recipient expects this message. */
    transactional?: boolean | null;
    /** Send only to contacts who are subscribed to the topic with this ID. */
    topicId?: string | null;
    /** UTM parameters for links, for web analytics. */
    utm?: UtmParametersInput | null;
};
/** The email to test, and the address that receives the test. */
export type EmailsSendTestParams = {
    /** The ID of the email to send. */
    emailId?: string | null;
    /** The ID of the conversation that contains the email: the email selected by `emailId` or, without `emailId`, the first email in the series. */
    conversationId?: string | null;
    /** The address that receives the test. */
    to: string;
    /** The From address. */
    from?: string | null;
    /** The sender's name. */
    fromName?: string | null;
    /** Values of merge fields. */
    variables?: {
        [key: string]: AnyJson;
    } | null;
};
export type EmailsStatusParams = {
    /** If given, the conversation must belong to this project. */
    projectId?: string;
};
/** The email, the changes to its document, and how to save them. */
export type EmailsUpdateDocumentParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string | null;
    /** The changes, in order. */
    operations: DocumentChangeInput[];
    /** The version that the changes are based on. */
    version?: number | null;
    /** Whether to return the changed email without saving it. */
    preview?: boolean;
    /** Whether this is an autosave. */
    autosave?: boolean;
};
export type EmailsVersionsListPage = {
    versions: VersionView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type EmailsVersionsListParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string;
    limit?: number;
    /** The number of versions to skip. */
    offset?: number;
};
/** The email and the version to restore. */
export type EmailsVersionsRestoreParams = {
    /** If given, the email must belong to the project with this ID. */
    projectId?: string | null;
};
export type EventCondition = {
    name: string;
    mode: EventMode;
    unit?: TimeUnit;
    amount?: number;
    from?: string;
    to?: string;
};
export type EventConditionInput = {
    name: string;
    mode: EventMode;
    unit?: TimeUnit | null;
    amount?: number | null;
    from?: string | null;
    to?: string | null;
};
export type EventIdentifiers = {
    email?: string | null;
    subscriberId?: string | null;
    externalCustomerId?: string | null;
    externalCheckoutId?: string | null;
    externalOrderId?: string | null;
};
export type EventMode = "within" | "not_within" | "ever" | "never" | "between" | "not_between";
export type EventNames = {
    names: string[];
};
export type EventRow = {
    name: string;
    identifiers: EventIdentifiers;
    profile?: ContactProfile | null;
    properties?: {
        [key: string]: unknown;
    } | null;
    occurredAt?: string | null;
    dedupeKey?: string | null;
};
export type EventRowResult = {
    stored: boolean;
    eventId?: string;
    dedupeKey?: string;
    duplicate?: boolean;
};
export type EventType = {
    type: "email.generation.started" | "email.generation.completed" | "email.generation.failed" | "email.test.sent" | "project.import.started" | "subscriber.added" | "subscriber.updated" | "subscriber.unsubscribed" | "subscriber.bulk_imported" | "email.delivered" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained";
    description: string;
    optIn: boolean;
};
export type EventTypes = {
    events: EventType[];
    total: number;
};
export type EventsNamesParams = {
    limit?: number;
};
/** The events to record in one project. */
export type EventsRecordBatchParams = {
    /** The project to record the events in. */
    projectId: string;
    /** 1 to 500 events, each in the same form as when recording a single event, but without projectId. */
    events: EventRow[];
};
/** The event to record in a project. */
export type EventsRecordParams = {
    /** The project to record the event in. */
    projectId: string;
    /** The event name, such as `purchase.completed`. */
    name: string;
    identifiers: EventIdentifiers;
    /** Current data about the contact, in the same form as when updating a contact. */
    profile?: ContactProfile | null;
    /** The event's properties: at most 16 KB of JSON, 50 top-level properties, and 4 levels of objects and lists. */
    properties?: {
        [key: string]: unknown;
    } | null;
    /** When the event occurred: at most 90 days ago, and at most 5 minutes ahead of the service's clock. */
    occurredAt?: string | null;
    /** A key that identifies the event. */
    dedupeKey?: string | null;
};
export type ExportDestination = "file";
export type ExportFilters = {
    search?: string | null;
    match?: ConditionMatch;
    groups?: FilterTreeInput[];
    tags?: string[];
    excludeTags?: string[];
    topics?: string[];
    excludeTopics?: string[];
    status?: ContactStatus | null;
    validationStatus?: AddressValidation | null;
    customFields?: {
        [key: string]: (string | number | boolean)[];
    };
    fields?: FieldCondition[];
    activity?: ActivityConditionInput[];
    events?: EventConditionInput[];
};
export type ExportStatusView = {
    conversationId: string;
    canExport: boolean;
    availableFormats: string[];
    reason: string;
    platforms: PlatformState[];
    exported: EarlierView[];
};
export type ExportView = {
    jobId: string;
    projectId: string;
    status: "pending" | "processing" | "completed" | "failed";
    contactCount: number;
    fileName: string;
    createdAt: string;
    completedAt?: string;
    downloadUrl?: string;
    downloadExpiresAt?: string;
    error?: string;
};
export type ExportsHtmlParams = {
    /** The only email to export. */
    emailId?: string;
    /** If given, the conversation must belong to this project. */
    projectId?: string;
};
/** The emails to export for HubSpot, and what to create there. */
export type ExportsHubspotParams = {
    conversationId: string;
    /** The only email to export. */
    emailId?: string | null;
    /** If given, the conversation must belong to this project. */
    projectId?: string | null;
    /** `file` creates files to download instead of exporting into a connected account. */
    as?: ExportDestination | null;
    /** What to create. */
    customOptions?: {
        customInstructions?: AnyJson;
        type?: "template";
    } | {
        activeDomain?: AnyJson;
        businessUnitId?: AnyJson;
        campaign?: AnyJson;
        folderIdV2?: AnyJson;
        from?: AnyJson;
        language?: AnyJson;
        subscriptionDetails?: AnyJson;
        customInstructions?: AnyJson;
        type: "email";
    };
    /** The connection to use. */
    connectionId?: string | null;
    images?: ImageHosting;
};
export type ExportsKlaviyoParams = {
    /** The only email to export. */
    emailId?: string;
    /** If given, the conversation must belong to this project. */
    projectId?: string;
    /** `file` creates files to download instead of exporting into a connected account. */
    as?: ExportDestination;
    klaviyoType?: KlaviyoType;
    /** The connection to use. */
    connectionId?: string;
    images?: ImageHosting;
};
export type ExportsMailchimpParams = {
    /** The only email to export. */
    emailId?: string;
    /** If given, the conversation must belong to this project. */
    projectId?: string;
    /** `file` creates files to download instead of exporting into a connected account. */
    as?: ExportDestination;
    mailchimpType?: MailchimpType;
    /** The connection to use. */
    connectionId?: string;
    images?: ImageHosting;
};
export type ExportsMjmlParams = {
    /** The only email to export. */
    emailId?: string;
    /** If given, the conversation must belong to this project. */
    projectId?: string;
};
export type ExportsPdfParams = {
    /** The only email to export. */
    emailId?: string;
    /** If given, the conversation must belong to this project. */
    projectId?: string;
};
export type ExportsPngParams = {
    /** The only email to export. */
    emailId?: string;
    /** If given, the conversation must belong to this project. */
    projectId?: string;
};
export type ExportsStatusParams = {
    /** The only email to export. */
    emailId?: string;
    /** If given, the conversation must belong to this project. */
    projectId?: string;
};
export type ExternalIds = {
    externalCustomerId?: string;
    externalCheckoutId?: string;
    externalOrderId?: string;
};
export type FactKind = "percentage" | "code" | "date" | "time" | "place" | "capacity" | "old_price" | "person" | "link" | "condition" | "amount" | "period" | "price" | "minimum" | "product" | "contact" | "sentence";
export type FactRole = "offer_starts" | "offer_ends" | "order_by" | "event" | "closed" | "reopens" | "price_changes" | "delivery" | "other" | "offer" | "happened";
export type FactValue = {
    type: "percent";
    percent: number;
} | {
    type: "money";
    amount: number;
    currency: string;
} | {
    type: "days";
    first: string;
    last?: string;
} | {
    type: "clock";
    start: string;
    end?: string;
} | {
    type: "count";
    count: number;
};
export type FactValueInput = {
    type: "percent";
    percent: number;
} | {
    type: "money";
    amount: number;
    currency: string;
} | {
    type: "days";
    first: string;
    last?: string | null;
} | {
    type: "clock";
    start: string;
    end?: string | null;
} | {
    type: "count";
    count: number;
};
export type FavoriteResult = {
    emailId: string;
    favorite: boolean;
    conversationId: string;
    slotUuid: string;
};
export type FieldCatalog = {
    entries: CatalogField[];
    totalSubscribers: number;
    examined: number;
    computedAt: string;
};
export type FieldCondition = {
    key: string;
    mode: FieldMode;
    values: (string | number | boolean)[];
};
export type FieldKind = "string" | "number" | "boolean" | "date" | "url" | "unknown";
export type FieldMode = "number_gt" | "number_gte" | "number_lt" | "number_lte" | "is" | "is_not" | "starts_with" | "ends_with" | "contains" | "not_contains" | "date_after" | "date_before" | "date_on" | "date_between" | "number_between";
export type FieldValue = unknown;
export type FileView = {
    filename: string;
    url: string;
    format: "html" | "mjml" | "png" | "pdf";
    emailId: string;
    untranslated?: string[];
    expiresAt?: string;
    platform?: PlatformObject;
};
export type FilterTree = {
    match: ConditionMatch;
    groups?: FilterTree[];
    tags?: string[];
    excludeTags?: string[];
    topics?: string[];
    excludeTopics?: string[];
    status?: ContactStatus;
    validationStatus?: AddressValidation;
    customFields?: {
        [key: string]: (string | number | boolean)[];
    };
    fields?: FieldCondition[];
    activity?: ActivityCondition[];
    events?: EventCondition[];
};
export type FilterTreeInput = {
    match?: ConditionMatch;
    groups?: FilterTreeInput[];
    tags?: string[];
    excludeTags?: string[];
    topics?: string[];
    excludeTopics?: string[];
    status?: ContactStatus | null;
    validationStatus?: AddressValidation | null;
    customFields?: {
        [key: string]: (string | number | boolean)[];
    };
    fields?: FieldCondition[];
    activity?: ActivityConditionInput[];
    events?: EventConditionInput[];
};
export type FindingKind = "fact_missing" | "fact_repeated" | "fact_misused" | "text_missing" | "constraint_broken" | "instruction_printed" | "not_in_brief" | "line_incomplete" | "unclear" | "not_translated" | "note" | "compatibility" | "links" | "spelling" | "deliverability" | "accessibility";
export type FindingSeverity = "critical" | "warning" | "info";
export type FontsPatch = {
    heading?: string | null;
    body?: string | null;
};
export type FormatView = {
    name: string;
    description: string;
    supportedFormats: string[];
    types?: string[];
    type: "simple" | "complex";
};
export type FormatsView = {
    formats: FormatView[];
    total: number;
};
export type GenerationProgress = {
    stage: "waiting" | "writing" | "rendering" | "completed" | "failed";
    step: number;
    steps: number;
    percentage: number;
};
export type GenerationStatus = {
    conversationId: string;
    projectId: string;
    status: "pending" | "processing" | "completed" | "failed";
    progress: GenerationProgress;
    title: string;
    prompt: string;
    brief?: Brief;
    model: string;
    onFailure: OnFailure;
    createdAt: string;
    updatedAt: string;
    error?: string;
    result?: ResultView;
};
export type GivenImage = {
    source: ImageSource;
};
export type GivenReason = "manual" | "bounce_hard" | "complaint" | "unsubscribe";
export type GivenSignature = {
    header: string;
    secret: string;
};
export type GrantedScope = {
    scope: string;
    purpose: string;
};
export type HookDeliveries = {
    deliveries: HookDeliveryView[];
};
export type HookDeliveryView = {
    at: string;
    result: "created" | "updated" | "unchanged" | "recorded" | "rejected";
    field?: string;
    reason?: string;
};
export type HookKind = "contacts" | "events";
export type HookTested = {
    success: boolean;
    field?: string;
    reason?: string;
    input: unknown;
};
export type HookView = {
    id: string;
    projectId: string;
    name: string;
    kind: HookKind;
    signatureHeader?: string;
    mapping: {
        [key: string]: string;
    };
    eventName?: string;
    tags: string[];
    topicId?: string;
    consentSource?: string;
    redirectUrl?: string;
    active: boolean;
    acceptedCount: number;
    rejectedCount: number;
    lastReceivedAt?: string;
    createdAt: string;
    updatedAt: string;
};
export type HookWithUrl = {
    id: string;
    projectId: string;
    name: string;
    kind: HookKind;
    signatureHeader?: string;
    mapping: {
        [key: string]: string;
    };
    eventName?: string;
    tags: string[];
    topicId?: string;
    consentSource?: string;
    redirectUrl?: string;
    active: boolean;
    acceptedCount: number;
    rejectedCount: number;
    lastReceivedAt?: string;
    createdAt: string;
    updatedAt: string;
    url?: string;
};
export type ImageCrop = {
    width: number;
    height: number;
    x?: number | null;
    y?: number | null;
};
export type ImageHosting = "hosted" | "upload";
export type ImageSource = {
    type: "url";
    url: string;
};
export type ImportAccepted = {
    projectId: string;
    status: ProjectStatus;
    domain: string;
    urls: string[];
    message: string;
};
export type ImportChangeView = {
    id: string;
    label: string;
    before?: string;
    now?: string;
    state: ChangeState;
};
export type ImportChangesView = {
    changes: ImportChangeView[];
    pending: number;
    foundAt?: string;
};
export type ImportColumn = {
    header: string;
    guess?: string;
    samples: string[];
};
export type ImportError = {
    row: number;
    email?: string;
    field: string;
    error: string;
};
export type ImportMetrics = {
    pagesRead: number;
    pagesFailed: number;
    stylesheetsRead: number;
    bytesRead: number;
    imagesMeasured: number;
    productsFound: number;
    knowledgeEntries: number;
    durationMs: number;
    missing: string[];
    notes: string[];
};
export type ImportPreview = {
    read: number;
    isComplete: boolean;
    created: number;
    updated: number;
    skipped: number;
    failed: number;
    excluded: number;
    unsubscribed: number;
    fields: PreviewField[];
    contacts: PreviewContact[];
    problems: PreviewProblem[];
};
export type ImportPreviewed = {
    id: string;
    projectId: string;
    fileName: string;
    bytes: number;
    delimiter: string;
    columns: ImportColumn[];
    expiresAt: string;
};
export type ImportProgress = {
    object: string;
    id: string;
    status: "pending" | "processing" | "completed" | "failed" | "uploaded";
    counts: RowCounts;
    progress: number;
    provider?: ConnectionProvider;
    excluded?: number;
    waiting?: string;
    error?: string;
    created_at: string;
    completed_at?: string;
};
export type ImportProgressOfProject = {
    stage: "initializing" | "fetching" | "reading" | "measuring" | "completed" | "failed";
    percentage: number;
};
export type ImportRetryResult = {
    projectId: string;
    status: ProjectStatus;
    message: string;
};
export type ImportSources = {
    sources: SourceView[];
};
export type ImportStarted = {
    object: string;
    id: string;
    status: "processing" | "uploaded";
};
export type ImportTarget = "contacts" | "events";
export type ImportView = {
    projectId: string;
    status: ProjectStatus;
    name: string;
    description?: string;
    domain: string;
    error?: string;
    progress: ImportProgressOfProject;
    importMetrics: ImportMetrics;
};
export type ImportedSource = {
    id: string;
    type: ProviderSourceType;
    name: string;
};
export type InboxHtmlParams = {
    /** Whether this server fetches remote images and shows them. */
    images?: boolean;
};
export type InboxListPage = {
    messages: MessageView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type InboxListParams = {
    /** Return only messages to this address. */
    to?: string;
    /** Return only messages that contain this text in the subject or in an address. */
    search?: string;
    /** Return only messages of the send or batch with this ID. */
    sendId?: string;
    limit?: number;
    /** The number of messages to skip. */
    offset?: number;
};
/** The incoming webhook to create. */
export type IncomingWebhooksCreateParams = {
    /** The project to which the contacts or events are added. */
    projectId: string;
    /** The name of the webhook, such as the name of the form. */
    name: string;
    /** What the request bodies contain. */
    kind?: HookKind | null;
    /** The path of each field's value in the body, such as `contact.email`. */
    mapping?: {
        [key: string]: string;
    } | null;
    /** How the other system signs its requests. */
    signature?: GivenSignature | null;
    /** The name that every event receives. */
    eventName?: string | null;
    /** The tags to add to every contact. */
    tags?: string[] | null;
    /** The topic to which contacts are subscribed. */
    topicId?: string | null;
    /** Where the contacts agreed to marketing email, such as the form. */
    consentSource?: string | null;
    /** The page to which browsers are redirected after they submit a form. */
    redirectUrl?: string | null;
};
export type IncomingWebhooksListPage = {
    hooks: HookView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type IncomingWebhooksListParams = {
    /** If given, only the incoming webhooks of this project are returned. */
    projectId?: string;
    limit?: number;
    /** The number of incoming webhooks to skip. */
    offset?: number;
};
/** The body to test. */
export type IncomingWebhooksTestParams = {
    /** A request body from the other system, such as a sample that the other system displays. */
    body: {
        [key: string]: AnyJson;
    };
};
/** The changes to an incoming webhook. */
export type IncomingWebhooksUpdateParams = {
    name?: string | null;
    /** The path of each field's value in the body. */
    mapping?: {
        [key: string]: string;
    } | null;
    /** How the other system signs its requests. */
    signature?: GivenSignature | null;
    /** The name that every event receives. */
    eventName?: string | null;
    /** The tags to add to every contact. */
    tags?: string[] | null;
    /** The topic to which contacts are subscribed. */
    topicId?: string | null;
    /** Where the contacts agreed to marketing email. */
    consentSource?: string | null;
    /** The page to which browsers are redirected after they submit a form. */
    redirectUrl?: string | null;
    /** Whether requests are accepted. */
    active?: boolean | null;
    /** Whether to create a new URL, which is shown only in this response. */
    newUrl?: boolean | null;
};
export type IncompleteCheck = {
    check: ValidationCheck;
    reason: string;
};
export type InstallPage = {
    authorizeUrl: string;
    expiresAt: string;
    scopes: StoreScope[];
};
export type InvalidEventRow = {
    index: number;
    error: string;
    field: string;
};
export type KeptGuidelines = {
    brandGuidelines: BrandGuidelines;
};
export type KlaviyoType = "html" | "hybrid" | "code";
export type KnowledgeOrigin = "website" | "favorite" | "upload" | "manual";
export type KnowledgeView = {
    id: string;
    title: string;
    content: string;
    date: string;
    referenceOrigin: KnowledgeOrigin;
    url?: string;
    sourceFileName?: string;
    previewHtml?: string;
    thumbnailUrl?: string;
    screenshotUrl?: string;
};
export type LanguageShare = {
    language: string;
    emailId: string;
    recipients: number;
};
export type LinkAnalysis = {
    totalLinks: number;
    totalOccurrences: number;
    score: number;
    checkedLinks: CheckedLink[];
    findings: LinkFinding[];
    summary: LinkSummary;
    recommendations: string[];
    metadata: LinkMetadata;
};
export type LinkFinding = {
    rule: string;
    severity: FindingSeverity;
    message: string;
    fix: string;
    url?: string;
    count: number;
    occurrences: SourcePlace[];
};
export type LinkHop = {
    url: string;
    statusCode: number;
};
export type LinkKind = "image" | "link" | "background" | "form" | "stylesheet" | "media";
export type LinkMetadata = {
    processingTime: number;
    linksChecked: number;
    linksSkipped: number;
    complete: boolean;
};
export type LinkStatus = "ok" | "redirected" | "broken" | "unreachable" | "unverifiable" | "blocked" | "invalid" | "skipped";
export type LinkSummary = {
    okLinks: number;
    redirectedLinks: number;
    brokenLinks: number;
    unreachableLinks: number;
    unverifiableLinks: number;
    blockedLinks: number;
    invalidLinks: number;
    skippedLinks: number;
    averageResponseTime: number;
};
export type LogPart = {
    emails: CampaignLog[];
    nextCursor?: string;
    hasMore: boolean;
};
export type LogosUpdateResult = {
    logoUrls: LogosView;
};
export type LogosView = {
    primary: string | null;
    secondary: string | null;
    favicon: string | null;
};
export type MailFeedbackStatus = "waiting" | "active" | "rejecting";
export type MailFeedbackView = {
    id: string;
    service: MailService;
    name?: string;
    status: MailFeedbackStatus;
    secretConfigured: boolean;
    secretRequired: boolean;
    topicArns: string[];
    confirmedAt?: string;
    lastEventAt?: string;
    lastRejection?: RejectionView;
    deliveries: number;
    bounces: number;
    complaints: number;
    unsubscribes: number;
    otherEvents: number;
    unmatchedEvents: number;
    repeatedRequests: number;
    createdAt: string;
    updatedAt: string;
};
export type MailFeedbackWithUrl = {
    id: string;
    service: MailService;
    name?: string;
    status: MailFeedbackStatus;
    secretConfigured: boolean;
    secretRequired: boolean;
    topicArns: string[];
    confirmedAt?: string;
    lastEventAt?: string;
    lastRejection?: RejectionView;
    deliveries: number;
    bounces: number;
    complaints: number;
    unsubscribes: number;
    otherEvents: number;
    unmatchedEvents: number;
    repeatedRequests: number;
    createdAt: string;
    updatedAt: string;
    url?: string;
};
export type MailService = "postmark" | "mailgun" | "resend" | "amazon_ses" | "sendgrid" | "brevo";
export type MailServiceTested = {
    success: boolean;
    reason?: RejectionReason;
    message: string;
    temporaryKey: boolean;
};
/** The mail service to create. */
export type MailServicesCreateParams = {
    service: MailService;
    /** A name that distinguishes this webhook from other webhooks for the same service. */
    name?: string | null;
    /** The secret for verifying requests: Mailgun's signing key, SendGrid's verification key, Brevo's token, Resend's signing secret, or `user:password` for Postmark. */
    secret?: string | null;
    /** For Amazon SES: the ARNs of the SNS topics from which notifications are accepted. */
    topicArns?: string[] | null;
};
export type MailServicesListPage = {
    mailServices: MailFeedbackView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type MailServicesListParams = {
    limit?: number;
    /** The number of mail services to skip. */
    offset?: number;
};
/** The changes to a mail service. */
export type MailServicesUpdateParams = {
    name?: string | null;
    /** The new secret for verifying requests. */
    secret?: string | null;
    /** For Amazon SES: the ARNs of the SNS topics from which notifications are accepted. */
    topicArns?: string[] | null;
    /** Whether to create a new URL, which is shown only in this response. */
    newUrl?: boolean | null;
};
export type MailStream = "transactional" | "marketing";
export type MailchimpType = "template" | "campaign";
export type MessageHeader = {
    name: string;
    value: string;
};
export type MessageView = {
    id: string;
    sendId: string;
    from: string;
    fromName?: string;
    to: string;
    subject: string;
    size: number;
    receivedAt: string;
};
export type MetricsModelsParams = {
    /** The number of earlier months to return in addition to the current month. */
    months?: number;
};
export type MetricsSendingParams = {
    /** The number of earlier months to return. */
    months?: number;
};
export type MetricsTimelineParams = {
    /** The number of days, including today. */
    days?: number;
};
export type ModelMetrics = {
    models: string[];
    defaultModel: string;
    onFailure: OnFailure;
    monthlyLimit?: number;
    monthlyLimitPerBrand?: number;
    months: ModelMonth[];
};
export type ModelMonth = {
    period: string;
    cost: number;
    usage: BrandUsage[];
};
export type NamedSegment = {
    id: string;
    name: string;
};
export type NamedSource = {
    name: string;
    source: string;
};
export type NamedTag = {
    id: string;
    name: string;
};
export type NewLogos = {
    primary?: string | null;
    secondary?: string | null;
    favicon?: string | null;
};
export type NewSender = {
    from: string;
    fromName?: string | null;
    replyTo?: string | null;
};
export type OnConflict = "upsert" | "skip";
export type OnFailure = "fail" | "composer";
export type OneDeviceView = {
    previewId: string;
    device: PreviewDeviceView;
};
export type OrderPayment = {
    at: string;
    amount: number;
    currency: string;
    isRefund: boolean;
    creditedSendId?: string;
};
export type OwningProject = {
    projectId: string;
};
export type Pagination = {
    total: number;
    limit: number;
    offset: number;
    page: number;
    hasMore: boolean;
};
export type PalettePatch = {
    background?: string | null;
    text?: string | null;
    primary?: string | null;
    accent?: string | null;
    button?: string | null;
    buttonText?: string | null;
};
export type PauseReason = "failing" | "rate_limited" | "gone";
export type PersonalData = {
    profile: ContactView;
    topics: TopicState[];
    sends: SentMessage[];
    activity: RecordedAction[];
    events: CustomerEvent[];
    payments: OrderPayment[];
    suppression?: SuppressionReason;
    exportedAt: string;
    truncated: boolean;
};
export type PlanQuota = {
    limit?: number;
    used: number;
    remaining?: number;
    resetsAt: string;
};
export type PlanRequests = {
    group: string;
    covers: string;
    limit: number;
    windowSeconds: number;
};
export type PlanSize = {
    what: string;
    limit: number;
    unit: string;
};
export type PlatformObject = {
    id: string;
    type: "html" | "hybrid" | "template" | "campaign" | "email";
    created: boolean;
    leftImages?: string[];
};
export type PlatformState = {
    provider: ConnectionProvider;
    isConnected: boolean;
    connections: ConnectionView[];
    connectUrl: string;
};
export type PreviewContact = {
    email: string;
    result: "created" | "updated" | "unchanged";
    status: ContactStatus;
    changes: string[];
};
export type PreviewCut = {
    line: number;
    what: string;
    why: string;
    slug: string;
    count: number;
};
export type PreviewDeviceView = {
    deviceKey: string;
    deviceName: string;
    client: string;
    os: string;
    category: DeviceCategory;
    status: DeviceStatus;
    dark: boolean;
    images: boolean;
    viewportWidth: number;
    width?: number;
    height?: number;
    screenshotUrl?: string;
    thumbnailUrl?: string;
    fullThumbnailUrl?: string;
    engine?: string;
    tier?: PreviewTier;
    dataVersion?: string;
    cuts: PreviewCut[];
    notes: PreviewNote[];
    cached: boolean;
    processingTime?: number;
    error?: string;
};
export type PreviewField = {
    name: string;
    to?: string;
    sample: string;
};
export type PreviewMetadata = {
    requestedDevices: number;
    completedDevices: number;
    failedDevices: number;
    processingDevices: number;
    processingTime?: number;
};
export type PreviewNote = {
    rule: string;
    message: string;
    lines: number[];
};
export type PreviewProblem = {
    email?: string;
    field: string;
    error: string;
};
export type PreviewStatus = "PROCESSING" | "COMPLETED" | "PARTIAL_SUCCESS" | "FAILED";
export type PreviewStatusView = {
    previewId: string;
    status: PreviewStatus;
    metadata: PreviewMetadata;
};
export type PreviewTier = "near-browser" | "filtered" | "approximated";
export type PreviewView = {
    previewId: string;
    name?: string;
    subject: string;
    emailId?: string;
    status: PreviewStatus;
    devices: PreviewDeviceView[];
    metadata: PreviewMetadata;
    cached: boolean;
    createdAt: string;
    expiresAt: string;
};
/** The email to show, as either `html` or `emailId`, with the devices and a name. */
export type PreviewsCreateParams = {
    /** The email's HTML. */
    html?: string | null;
    /** The ID of a stored email, instead of `html`. */
    emailId?: string | null;
    /** The subject. */
    subject?: string | null;
    /** The keys of the devices, such as `gmail.ios` or `outlook.windows.dark`. */
    devices?: ("apple-mail.ios" | "apple-mail.ios.dark" | "apple-mail.ios.no-images" | "apple-mail.ios-small" | "apple-mail.ios-small.dark" | "apple-mail.ios-large" | "apple-mail.ios-large.dark" | "apple-mail.ios-ipad" | "apple-mail.ipad" | "apple-mail.ios-ipad.dark" | "apple-mail.ipad.dark" | "apple-mail.macos" | "apple-mail.macos.dark" | "gmail.desktop-webmail" | "gmail.desktop-webmail.no-images" | "gmail.ios" | "gmail.ios.dark" | "gmail.android" | "gmail.android.dark" | "gmail.imap" | "gmail.imap.dark" | "gmail.mobile-webmail" | "outlook.windows" | "outlook.desktop-windows" | "outlook.windows.dark" | "outlook.desktop-windows.dark" | "outlook.windows.no-images" | "outlook.desktop-windows.no-images" | "outlook.windows.120dpi" | "outlook.desktop-windows.120dpi" | "outlook.outlook-com" | "outlook.outlook-com.dark" | "outlook.macos" | "outlook.macos.dark" | "outlook.ios" | "outlook.ios.dark" | "outlook.android" | "outlook.android.dark" | "yahoo.desktop-webmail" | "yahoo.ios" | "yahoo.android" | "aol.desktop-webmail" | "samsung-email.android" | "samsung-email.android.dark" | "protonmail.desktop-webmail" | "protonmail.desktop-webmail.no-images" | "protonmail.ios" | "protonmail.ios.no-images" | "thunderbird.macos" | "thunderbird.windows" | "thunderbird.macos.dark" | "thunderbird.windows.dark" | "thunderbird.macos.no-images" | "thunderbird.windows.no-images" | "gmx.desktop-webmail" | "web-de.desktop-webmail" | "fastmail.desktop-webmail" | "hey.desktop-webmail" | "plain.text")[];
    /** A name for the preview. */
    name?: string | null;
};
export type ProblemView = {
    row: number;
    field: string;
    error: string;
};
export type ProductOverrides = {
    name?: string;
    url?: string;
    image?: string;
    description?: string;
    price?: string;
    priceBefore?: string;
    currency?: string;
};
export type ProductView = {
    id: string;
    name: string;
    url?: string;
    image?: string;
    description?: string;
    price?: string;
    priceBefore?: string;
    currency?: string;
    hidden: boolean;
    position: number;
    origin: "imported" | "added" | "store";
    stock?: number;
    soldOut?: boolean;
    collections?: string[];
    edited: boolean;
    overrides: ProductOverrides;
};
export type ProjectImageView = {
    url: string;
    description?: string;
    tags: string[];
    width?: number;
    height?: number;
    colors: string[];
    origin: "given" | "found";
    problem?: string;
};
export type ProjectStatus = "pending" | "processing" | "active" | "error";
export type ProjectView = {
    id: string;
    _id: string;
    name: string;
    description?: string;
    status: ProjectStatus;
    domain: string;
    urls?: string[];
    logoUrls?: LogosView;
    palette?: BrandPalette;
    defaultSender?: SenderView;
    error?: string;
    brand?: Brand;
    overrides?: BrandOverrides;
    contrasts?: ColorContrast[];
    createdAt: string;
    updatedAt: string;
};
/** The image to add. */
export type ProjectsImagesCreateParams = {
    /** The URL of the image. */
    url: string;
    /** A description of what the image shows. */
    description?: string | null;
    /** Tags for finding the image. */
    tags?: string[] | null;
};
export type ProjectsImagesDeleteParams = {
    /** The URL of the image to remove. */
    imageUrl: string;
};
export type ProjectsImagesListPage = {
    images: ProjectImageView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type ProjectsImagesListParams = {
    limit?: number;
    /** The number of images to skip. */
    offset?: number;
};
export type ProjectsImagesPreviewParams = {
    /** The URL of one of the project's images, logos or product images. */
    imageUrl: string;
};
/** The changes to an image. */
export type ProjectsImagesUpdateParams = {
    /** The URL of the image. */
    imageUrl: string;
    /** A description of what the image shows. */
    description?: string | null;
    /** Tags for finding the image. */
    tags?: string[] | null;
};
/** The image to upload. */
export type ProjectsImagesUploadParams = {
    /** The PNG, JPEG, WebP or GIF file as base64. */
    file: Upload;
    /** A description of what the image shows. */
    description?: string | null;
    /** Tags for finding the image. */
    tags?: string[] | null;
    /** The part of the image to keep. */
    crop?: ImageCrop | null;
};
/** The brand to import. */
export type ProjectsImportsCreateParams = {
    /** The brand's web pages, the home page first. */
    urls: string[];
    /** The name of the brand. */
    name?: string | null;
    /** The URLs of logos to use instead of logos that the import finds. */
    logoUrls?: NewLogos | null;
};
/** The decisions. */
export type ProjectsImportsDecideParams = {
    /** The IDs of the changes to accept. */
    accept?: string[];
    /** The IDs of the changes to reject. */
    keep?: string[];
};
/** The entry to add. */
export type ProjectsKnowledgeCreateParams = {
    title: string;
    /** The content of the entry, as plain text or Markdown. */
    content: string;
    /** The name of the file from which the entry was created. */
    sourceFileName?: string | null;
    /** The origin of the entry. */
    referenceOrigin?: "favorite" | "upload" | "manual" | null;
    /** An HTML preview of the entry. */
    previewHtml?: string | null;
    thumbnailUrl?: string | null;
    screenshotUrl?: string | null;
};
export type ProjectsKnowledgeListPage = {
    entries: KnowledgeView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type ProjectsKnowledgeListParams = {
    limit?: number;
    /** The number of entries to skip. */
    offset?: number;
};
/** The changes to an entry. */
export type ProjectsKnowledgeUpdateParams = {
    title?: string | null;
    /** The content of the entry, as plain text or Markdown. */
    content?: string | null;
    /** The name of the file from which the entry was created; an empty string clears it. */
    sourceFileName?: string | null;
};
export type ProjectsListPage = {
    projects: ProjectView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type ProjectsListParams = {
    limit?: number;
    /** The number of projects to skip. */
    offset?: number;
    /** If given, only projects with this import status are returned. */
    status?: ProjectStatus;
};
export type ProjectsPreviewThemeParams = {
    background?: string;
    text?: string;
    primary?: string;
    accent?: string;
    button?: string;
    buttonText?: string;
    /** The name of the heading font. */
    heading?: string;
    /** The name of the text font. */
    body?: string;
    cornerRadius?: number;
    /** Whether to load the logo through this service. */
    images?: boolean;
};
/** A product to add. */
export type ProjectsProductsCreateParams = {
    name: string;
    /** The URL of the product's page. */
    url?: string | null;
    /** The URL of an image of the product. */
    image?: string | null;
    description?: string | null;
    /** The current price in major units, such as `19.90`. */
    price?: string | null;
    /** The original price before a discount. */
    priceBefore?: string | null;
    /** The currency as an ISO 4217 code. */
    currency?: string | null;
};
export type ProjectsProductsListPage = {
    products: ProductView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type ProjectsProductsListParams = {
    limit?: number;
    /** The number of products to skip. */
    offset?: number;
};
/** The products to merge. */
export type ProjectsProductsMergeParams = {
    /** The products to merge into `productId`. */
    productIds: string[];
};
/** The changes to a product. */
export type ProjectsProductsUpdateParams = {
    name?: string | null;
    /** The URL of the product's page. */
    url?: string | null;
    /** The URL of an image of the product. */
    image?: string | null;
    description?: string | null;
    /** The current price in major units, such as `19.90`. */
    price?: string | null;
    /** The original price before a discount. */
    priceBefore?: string | null;
    /** The currency as an ISO 4217 code. */
    currency?: string | null;
    /** Whether emails leave the product out. */
    hidden?: boolean | null;
    /** The new position among the project's products, starting at 0. */
    position?: number | null;
};
/** The rules to change. */
export type ProjectsUpdateGuidelinesParams = {
    /** Rules for the design and the wording of emails. */
    designRules?: string | null;
    /** Rules for the style of images. */
    imageStyle?: string | null;
};
/** The logos to set. */
export type ProjectsUpdateLogosParams = {
    /** The URL of the logo in the header of emails. */
    primary?: string | null;
    /** The URL of a variant of the logo, for example for dark backgrounds. */
    secondary?: string | null;
    /** The URL of the small square icon. */
    favicon?: string | null;
};
/** The values to set. */
export type ProjectsUpdateParams = {
    /** The name of the brand in lists and emails. */
    name?: string | null;
    tagline?: string | null;
    /** What the brand does, in one or two sentences. */
    description?: string | null;
    /** The company's legal name. */
    company?: string | null;
    /** The postal address. */
    address?: string | null;
    /** The email address for questions from customers. */
    email?: string | null;
    phone?: string | null;
    /** The brand's profiles on social networks. */
    social?: SocialProfile[] | null;
    voice?: VoicePatch;
    palette?: PalettePatch;
    fonts?: FontsPatch;
    /** The corner radius of buttons and cards, in pixels. */
    cornerRadius?: number | null;
    /** The default sender of test sends and new campaigns. */
    defaultSender?: NewSender | null;
};
export type ProviderImportStarted = {
    object: string;
    id: string;
    status: string;
    tag: NamedTag;
    segment: NamedSegment;
};
export type ProviderSourceType = "audience" | "list" | "segment" | "tag";
export type RecipientView = {
    email: string;
    status: string;
    reply?: string;
    reason?: string;
    nextAttemptAt?: string;
    at?: string;
};
export type RecordPurpose = "dkim" | "return_path" | "spf" | "dmarc" | "tracking";
export type RecordStatus = "pending" | "verified" | "missing" | "mismatch" | "unreachable";
export type RecordType = "TXT" | "CNAME" | "MX";
export type RecordView = {
    type: RecordType;
    name: string;
    value: string;
    priority?: number;
    purpose: RecordPurpose;
    required: boolean;
    status: RecordStatus;
    found: string[];
    removeAfter?: string;
};
export type RecordedAction = {
    action: ContactAction;
    at: string;
    sendId: string;
    campaignId?: string;
};
export type RecordedEvent = {
    stored: boolean;
    eventId: string;
    dedupeKey?: string;
    duplicate?: boolean;
    notes?: string[];
};
export type RecordedEvents = {
    accepted: number;
    duplicates: number;
    results: EventRowResult[];
    invalid: InvalidEventRow[];
};
export type RedeliveryView = {
    status: string;
    from: string;
    to: string;
    queued: number;
    startedAt: string;
    completedAt?: string;
};
export type ReferencesView = {
    favorites: EmailView[];
    total: number;
};
export type RejectionReason = "secret_missing" | "signature_missing" | "signature_wrong" | "wrong_time" | "replayed" | "topic_unknown" | "malformed";
export type RejectionView = {
    at: string;
    reason: RejectionReason;
    message: string;
};
export type RemovalResult = {
    message: string;
};
export type RemovedConnection = {
    id: string;
    deleted: boolean;
    revoked: boolean;
};
export type ResentBatch = {
    batchId: string;
    resent: number;
};
export type ResponseView = {
    statusCode: number;
    body: string;
};
export type ResponseWarning = {
    code: string;
    message: string;
};
export type ResultView = {
    subject: string;
    previewText: string;
    html: string;
    emails: EmailView[];
    seriesPlan?: SeriesPlan;
    screenshotUrl?: string;
    screenshotFullUrl?: string;
    stats: EmailStats;
    languages: string[];
    usage: UsageView;
};
export type RevenueView = {
    currency: string;
    conversions: number;
    revenue: number;
};
export type RowCounts = {
    total: number;
    created: number;
    updated: number;
    skipped: number;
    failed: number;
};
export type RowError = {
    index: number;
    email?: string;
    field: string;
    error: string;
};
export type RunView = {
    endedAt: string;
    result: "imported" | "unchanged" | "failed";
    importId?: string;
    created: number;
    updated: number;
    skipped: number;
    failed: number;
    excluded: number;
    problems: ProblemView[];
    error?: string;
};
export type SavedBlockView = {
    id: string;
    name: string;
    block: unknown;
    createdAt: string;
    updatedAt: string;
};
/** The block to save. */
export type SavedBlocksCreateParams = {
    /** The name of the block. */
    name: string;
    /** The block, in the format of an email's document. */
    block: unknown;
};
export type SavedBlocksListPage = {
    blocks: SavedBlockView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type SavedBlocksListParams = {
    limit?: number;
    /** The number of saved blocks to skip. */
    offset?: number;
};
/** The saved block, and its new name. */
export type SavedBlocksUpdateParams = {
    /** The new name of the block. */
    name: string;
};
export type ScheduledImportView = {
    id: string;
    projectId: string;
    name: string;
    everyHours: number;
    target: "contacts" | "events";
    url?: string;
    delimiter?: string;
    columnMap?: ColumnMap;
    onConflict?: "upsert" | "skip";
    tags: string[];
    status?: ContactStatus;
    consentMode?: ConsentMode;
    mapping: {
        [key: string]: string;
    };
    eventName?: string;
    provider?: ConnectionProvider;
    providerName?: string;
    connectionId?: string;
    sources: ImportedSource[];
    fieldMap: {
        [key: string]: string | null;
    };
    tag?: string;
    changesUntil?: string;
    state: "active" | "running" | "paused";
    pausedReason?: string;
    importId?: string;
    nextRunAt?: string;
    lastRun?: RunView;
    failures: number;
    createdAt: string;
    updatedAt: string;
};
/** The scheduled import to create. */
export type ScheduledImportsCreateParams = {
    /** The ID of the project to which the contacts or events are added. */
    projectId: string;
    name: string;
    /** The number of hours between two runs. */
    everyHours?: number | null;
    /** The URL of a CSV file with a header row. */
    url?: string | null;
    /** What each row in the file becomes. */
    target?: ImportTarget;
    /** The separator between cells of the file. */
    delimiter?: string | null;
    /** For imports of contacts from a file: the column header for each contact field. */
    columnMap?: ColumnMapInput | null;
    /** For imports of contacts from a file: what happens to contacts that already exist. */
    onConflict?: OnConflict | null;
    /** For imports of contacts from a file: the names of the tags to add to every contact. */
    tags?: string[] | null;
    /** For imports of contacts from a file: the status for contacts whose row has no status. */
    status?: ContactStatus | null;
    /** Whether to import contacts who have neither subscribed nor unsubscribed, if `status` is absent. */
    consentMode?: ConsentMode | null;
    /** For imports of events from a file: the column header for each event field. */
    mapping?: {
        [key: string]: string;
    } | null;
    /** For imports of events from a file: the name that every event receives. */
    eventName?: string | null;
    /** The platform from which contacts are imported. */
    provider?: ConnectionProvider | null;
    /** For imports of contacts from a platform: the ID of the connection to use. */
    connectionId?: string | null;
    /** For imports of contacts from a platform: the sources, as `GET /v1/contacts/imports/providers/{provider}/sources` lists them. */
    sources?: SourceRef[] | null;
    /** For imports of contacts from a platform: the contact field for each platform field, as in POST /v1/contacts/imports/provider. */
    fieldMap?: {
        [key: string]: string | null;
    } | null;
};
export type ScheduledImportsListPage = {
    imports: ScheduledImportView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type ScheduledImportsListParams = {
    /** If given, only the scheduled imports of the project with this ID are returned. */
    projectId?: string;
    limit?: number;
    /** The number of scheduled imports to skip. */
    offset?: number;
};
/** The changes to a scheduled import. */
export type ScheduledImportsUpdateParams = {
    name?: string | null;
    /** The number of hours between two runs. */
    everyHours?: number | null;
    /** The URL of a CSV file with a header row. */
    url?: string | null;
    /** The separator between cells of the file. */
    delimiter?: string | null;
    /** For imports of contacts from a file: the column header for each contact field. */
    columnMap?: ColumnMapInput | null;
    /** For imports of contacts from a file: what happens to contacts that already exist. */
    onConflict?: OnConflict | null;
    /** For imports of contacts from a file: the names of the tags to add to every contact. */
    tags?: string[] | null;
    /** For imports of contacts from a file: the status for contacts whose row has no status. */
    status?: ContactStatus | null;
    /** Whether to import contacts who have neither subscribed nor unsubscribed, if `status` is absent. */
    consentMode?: ConsentMode | null;
    /** For imports of events from a file: the column header for each event field. */
    mapping?: {
        [key: string]: string;
    } | null;
    /** For imports of events from a file: the name that every event receives. */
    eventName?: string | null;
    /** For imports of contacts from a platform: the ID of the connection to use, which must be to the same platform. */
    connectionId?: string | null;
    /** For imports of contacts from a platform: the sources. */
    sources?: SourceRef[] | null;
    /** For imports of contacts from a platform: the contact field for each platform field. */
    fieldMap?: {
        [key: string]: string | null;
    } | null;
    /** False pauses the scheduled import; true ends a pause and starts a run. */
    active?: boolean | null;
};
export type SegmentPreview = {
    count: number;
    contacts: ContactView[];
};
export type SegmentView = {
    id: string;
    name: string;
    description?: string;
    filters: FilterTree;
    count?: number;
    createdAt: string;
    updatedAt: string;
};
/** A new segment. */
export type SegmentsCreateParams = {
    /** The ID of the segment's project. */
    projectId: string;
    /** The name of the segment. */
    name: string;
    /** A description of the segment's purpose. */
    description?: string | null;
    /** The filter that selects the segment's contacts. */
    filters?: FilterTreeInput | null;
};
export type SegmentsDeleteParams = {
    /** The ID of the segment's project. */
    projectId: string;
};
export type SegmentsGetParams = {
    /** The ID of the segment's project. */
    projectId: string;
    /** Whether to count the segment's contacts. */
    count?: boolean;
};
export type SegmentsListPage = {
    segments: SegmentView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type SegmentsListParams = {
    /** The ID of the project whose segments are listed. */
    projectId: string;
    /** Whether to count the contacts of each segment. */
    count?: boolean;
    limit?: number;
    /** The number of segments to skip. */
    offset?: number;
};
/** The filter, the project whose contacts it selects, and the number of contacts to return. */
export type SegmentsPreviewParams = {
    /** The ID of the project whose contacts are filtered. */
    projectId: string;
    /** The filter to preview. */
    filters?: FilterTreeInput | null;
    /** The maximum number of contacts to return. */
    limit?: number | null;
};
/** The changes to a segment. */
export type SegmentsUpdateParams = {
    /** The ID of the segment's project. */
    projectId: string;
    /** The new name of the segment. */
    name?: string | null;
    /** A description of the segment's purpose. */
    description?: string | null;
    /** The complete new filter, which replaces the current filter. */
    filters?: FilterTreeInput | null;
};
export type SendAccepted = {
    id: string;
    provider: string;
    status: string;
    sendId?: string;
    batchId?: string;
    emailId?: string;
    conversationId?: string;
    message: string;
    warnings?: ResponseWarning[];
};
export type SendTo = "email" | "audience" | "segment" | "tag";
export type SendView = {
    sendId: string;
    status: string;
    provider: string;
    emailId?: string;
    conversationId?: string;
    from: string;
    fromName?: string;
    subject: string;
    transactional: boolean;
    createdAt: string;
    recipients: RecipientView[];
};
export type SenderView = {
    from: string;
    fromName?: string;
    replyTo?: string;
};
export type SendingMetrics = {
    period: string;
    monthly: SendingTotals;
    today: SendingToday;
    monthlyLimit?: number;
    remainingMonth?: number;
    history: SendingMonth[];
};
export type SendingMonth = {
    period: string;
    sent: number;
    delivered: number;
    bounced: number;
    complained: number;
};
export type SendingSubdomains = {
    marketing: DomainView;
    transactional: DomainView;
};
export type SendingTimeline = {
    days: TimelineDay[];
    summary: SendingTimelineSummary;
    lastUpdated: string;
};
export type SendingTimelineSummary = {
    sent: number;
    delivered: number;
    bounced: number;
    complained: number;
    opened: number;
    clicked: number;
    unsubscribed: number;
    deliveredRate?: number;
    bounceRate?: number;
    complaintRate?: number;
};
export type SendingToday = {
    sent: number;
    reserved: number;
    dailyLimit?: number;
    remainingToday?: number;
};
export type SendingTotals = {
    sent: number;
    delivered: number;
    bounced: number;
    complained: number;
};
export type SentMessage = {
    sendId: string;
    campaignId?: string;
    subject: string;
    from: string;
    sentAt: string;
    status: string;
    reply?: string;
    opens: number;
    clicks: number;
    firstOpenedAt?: string;
    firstClickedAt?: string;
    unsubscribedAt?: string;
    complainedAt?: string;
    bouncedAt?: string;
    bounceDetail?: string;
};
export type SeriesPlan = {
    name: string;
    count: number;
    themeId: string;
    slots: SlotView[];
};
export type SiblingView = {
    emailId: string;
    slot: number;
    language: string;
    status: "processing" | "ready" | "failed";
};
export type SignInPage = {
    authorizeUrl: string;
    expiresAt: string;
    scopes: GrantedScope[];
};
export type SkipReason = "suppressed" | "unsubscribed" | "bounced" | "not_subscribed" | "topic_unsubscribed" | "invalid_address" | "duplicate_address" | "missing_field" | "erased" | "cancelled" | "merge_failed";
export type SlotView = {
    slotIdx: number;
    purpose: string;
    sendOffsetDays: number;
};
export type SocialProfile = {
    network: string;
    url: string;
};
export type SortBy = "createdAt" | "updatedAt";
export type SortOrder = "asc" | "desc";
export type SourcePlace = {
    line: number;
    column: number;
    endLine: number;
    endColumn: number;
    excerpt: string;
};
export type SourceRef = {
    id: string;
    type: ProviderSourceType;
    name: string;
    count?: number | null;
};
export type SourceView = {
    id: string;
    type: ProviderSourceType;
    name: string;
    count?: number;
};
export type SpellingAnalysis = {
    totalWords: number;
    score: number;
    errors: SpellingError[];
    summary: SpellingSummary;
    metadata: SpellingMetadata;
};
export type SpellingError = {
    word: string;
    suggestions: string[];
    context: string;
    type: SpellingErrorType;
    rule: string;
    line: number;
    column: number;
    offset: number;
    length: number;
    language: string;
    confidence: number;
};
export type SpellingErrorType = "spelling" | "grammar" | "repeat" | "style";
export type SpellingMetadata = {
    processingTime: number;
    aiModel: string;
    tokensUsed: number;
    wordsChecked: number;
    complete: boolean;
    languages: string[];
    languagesWithoutDictionary: string[];
    checkersIncomplete: string[];
};
export type SpellingSummary = {
    totalErrors: number;
    uniqueErrors: number;
};
export type StateWord = "pending" | "processing" | "completed" | "failed";
export type StatsReporting = {
    status: string;
    source: string;
};
export type StatsView = {
    totalWebhooks: number;
    activeWebhooks: number;
    pausedWebhooks: number;
    totalDeliveries: number;
    successfulDeliveries: number;
    failedDeliveries: number;
    pendingDeliveries: number;
    successRate?: number;
    attempts: number;
    averageResponseTime?: number;
    lastTriggeredAt?: string;
    days: DayView[];
};
export type StatusChangeResult = {
    success: boolean;
};
export type StoreCustomers = "subscribed-only" | "include-all" | "none";
export type StoreList = {
    stores: ConnectedStore[];
    total: number;
};
export type StorePlatform = "storefront" | "shopify" | "woocommerce";
export type StoreScope = {
    scope: string;
    purpose: string;
};
export type StoreTool = "products" | "collections" | "customers" | "orders" | "refunds" | "checkouts" | "privacy";
export type StorefrontAuthorizeParams = {
    /** The ID of the project to which the products and customers are added. */
    projectId: string;
    /** The shop's myshopify.com domain. */
    storefrontStoreUrl: string;
    /** Which customers are imported. */
    customers?: StoreCustomers | null;
};
export type StorefrontCompleteParams = {
    /** The complete, unchanged query of the URL to which Shopify redirected the user. */
    query: string;
};
export type StorefrontConnectParams = {
    /** The ID of the project to which the products and customers are added. */
    projectId: string;
    /** The store's URL: for Shopify, the myshopify.com domain; for WooCommerce, the URL of the site. */
    storefrontStoreUrl: string;
    /** Shopify: the client ID of an app in the Dev Dashboard that is installed on the store. */
    clientId?: string | null;
    /** Shopify, instead of a client ID: the Admin API access token of an app that was created in the Shopify admin before 2026. */
    accessToken?: string | null;
    /** Shopify: the client secret of the same app, with which Shopify signs webhooks. */
    apiSecret?: string | null;
    /** WooCommerce: the consumer key of a REST API key with the permission Read/Write. */
    consumerKey?: string | null;
    /** WooCommerce: the consumer secret of the same key. */
    consumerSecret?: string | null;
    /** Which customers are imported. */
    customers?: StoreCustomers | null;
    /** The ID of the connected store whose keys are used if the request contains no keys. */
    connectionId?: string | null;
};
export type StorefrontConnection = {
    serverId: string;
    projectId: string;
    status: string;
    message: string;
    store: string;
    toolsEnabled: StoreTool[];
};
export type StorefrontListParams = {
    /** Return only stores on this platform. */
    provider?: StorePlatform;
    /** Return only stores of the project with this ID. */
    projectId?: string;
};
export type SupportedDevice = {
    key: string;
    name: string;
    category: DeviceCategory;
    client: string;
    os: string;
    viewportWidth: number;
    dark: boolean;
    images: boolean;
    isDefault: boolean;
};
export type SupportedDevices = {
    total: number;
    categories: DeviceCategories;
    devices: SupportedDevice[];
};
export type SuppressionReason = "unsubscribe" | "manual" | "bounce_hard" | "complaint" | "erased";
export type SuppressionSource = "api" | "smtp" | "inbound" | "recipient" | "mail_service";
export type SuppressionView = {
    email?: string;
    reason: SuppressionReason;
    source: SuppressionSource;
    note?: string;
    createdAt: string;
};
export type SuppressionsCreateParams = {
    email: string;
    /** The reason. */
    reason?: GivenReason;
    /** A note that is shown with the address. */
    note?: string | null;
};
export type SuppressionsListPage = {
    suppressions: SuppressionView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type SuppressionsListParams = {
    /** Return only addresses suppressed for this reason. */
    reason?: SuppressionReason;
    /** Return only this address. */
    email?: string;
    limit?: number;
    /** The number of addresses to skip. */
    offset?: number;
};
export type SyncView = {
    stage: "idle" | "webhooks" | "products" | "customers" | "erasing" | "disconnected";
    completedAt?: string;
    nextAt: string;
    waiting?: string;
    webhooksOff?: string;
    products: number;
    productsLeftOut: number;
    customersImported: number;
    customersExcluded: number;
    customersFailed: number;
    webhooksApplied: number;
    webhooksRepeated: number;
    webhooksIgnored: number;
    lastWebhookAt?: string;
};
export type TagSortBy = "createdAt" | "name";
export type TagView = {
    id: string;
    name: string;
    color?: string;
    description?: string;
    subscriberCount: number;
    createdAt: string;
    updatedAt: string;
};
export type TagsCreateParams = {
    /** The ID of the tag's project. */
    projectId: string;
    /** The name of the tag. */
    name: string;
    /** The tag's color as `#RRGGBB`. */
    color?: string | null;
    /** A description of the tag's purpose. */
    description?: string | null;
};
export type TagsDeleteParams = {
    /** The ID of the tag's project. */
    projectId: string;
};
export type TagsGetParams = {
    /** The ID of the tag's project. */
    projectId: string;
};
export type TagsListPage = {
    tags: TagView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type TagsListParams = {
    /** The ID of the project whose tags are listed. */
    projectId: string;
    /** Return only tags whose name contains this string, ignoring case. */
    search?: string;
    sortBy?: TagSortBy;
    sortOrder?: SortOrder;
    limit?: number;
    /** The number of tags to skip. */
    offset?: number;
};
/** The changes to a tag. */
export type TagsUpdateParams = {
    /** The ID of the tag's project. */
    projectId: string;
    /** The new name of the tag. */
    name?: string | null;
    /** The tag's color as `#RRGGBB`. */
    color?: string | null;
    /** A description of the tag's purpose. */
    description?: string | null;
};
export type TestSendResult = {
    messageId: string;
    emailId: string;
    conversationId: string;
    sentTo: string;
    sentAt: string;
    subject: string;
    warnings?: ResponseWarning[];
};
export type TestSent = {
    campaignId: string;
    sendId: string;
    status: string;
    emails: string[];
};
export type TimeUnit = "hours" | "days";
export type TimeZone = string;
export type TimelineDay = {
    date: string;
    sent: number;
    failed: number;
    bounced: number;
    complained: number;
    opened: number;
    clicked: number;
    unsubscribed: number;
    revenue: RevenueView[];
};
export type TimelineEntry = {
    at: string;
    kind: TimelineKind;
    sendId?: string;
    campaignId?: string;
    subject?: string;
    detail?: string;
    event?: CustomerEvent;
};
export type TimelineKind = "created" | "sent" | "opened" | "clicked" | "bounced" | "complained" | "unsubscribed" | "event";
export type TimelinePart = {
    entries: TimelineEntry[];
    nextCursor?: string;
    hasMore: boolean;
};
export type TimezoneMode = "campaign" | "recipient";
export type TopicChoice = {
    topicId: string;
    name: string;
    isActive: boolean;
    subscribed: boolean;
    chosen: boolean;
};
export type TopicChoices = {
    topics: TopicChoice[];
};
export type TopicDefault = "opt_in" | "opt_out";
export type TopicState = {
    topicId: string;
    name: string;
    subscribed: boolean;
};
export type TopicView = {
    id: string;
    name: string;
    description?: string;
    defaultSubscription: TopicDefault;
    visibility: TopicVisibility;
    displayOrder: number;
    isActive: boolean;
    subscriberCount: number;
    createdAt: string;
    updatedAt: string;
};
export type TopicVisibility = "public" | "private";
export type TopicsCreateParams = {
    /** The ID of the topic's project. */
    projectId: string;
    /** The name of the topic. */
    name: string;
    /** The description that is shown to contacts. */
    description?: string | null;
    /** Whether contacts who have neither opted in nor opted out are subscribed to the topic. */
    defaultSubscription?: TopicDefault;
    /** Which contacts see the topic. */
    visibility?: TopicVisibility;
    /** The position of the topic in lists. */
    displayOrder?: number | null;
};
export type TopicsDeleteParams = {
    /** The ID of the topic's project. */
    projectId: string;
};
export type TopicsGetParams = {
    /** The ID of the topic's project. */
    projectId: string;
};
export type TopicsListPage = {
    topics: TopicView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type TopicsListParams = {
    /** The ID of the project whose topics are listed. */
    projectId: string;
    /** Whether to include inactive topics. */
    includeInactive?: boolean;
    limit?: number;
    /** The number of topics to skip. */
    offset?: number;
};
/** The contact and the topic. */
export type TopicsSubscribeParams = {
    /** The contact's ID. */
    subscriberId: string;
    /** The project of the contact and the topic. */
    projectId: string;
};
/** The contact and the topic. */
export type TopicsUnsubscribeParams = {
    /** The contact's ID. */
    subscriberId: string;
    /** The project of the contact and the topic. */
    projectId: string;
};
/** The changes to a topic. */
export type TopicsUpdateParams = {
    /** The ID of the topic's project. */
    projectId: string;
    /** The new name of the topic. */
    name?: string | null;
    /** The description that is shown to contacts. */
    description?: string | null;
    /** Whether contacts who have neither opted in nor opted out are subscribed to the topic. */
    defaultSubscription?: TopicDefault | null;
    /** Which contacts see the topic. */
    visibility?: TopicVisibility | null;
    /** The position of the topic in lists. */
    displayOrder?: number | null;
    /** Whether the topic is active. */
    isActive?: boolean | null;
};
export type UnknownPolicy = "hold" | "resend";
export type UpdatedWebhook = {
    updated: boolean;
    id: string;
    url: string;
    events: ("email.generation.started" | "email.generation.completed" | "email.generation.failed" | "email.test.sent" | "project.import.started" | "subscriber.added" | "subscriber.updated" | "subscriber.unsubscribed" | "subscriber.bulk_imported" | "email.delivered" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "project.import.processing" | "project.import.completed" | "project.import.failed" | "export.completed" | "export.failed" | "api_key.created" | "api_key.revoked")[];
    active: boolean;
    description?: string;
    customHeaders: {
        [key: string]: string;
    };
    standardSignature: boolean;
    secretConfigured: boolean;
    previousSecretExpiresAt?: string;
    successCount: number;
    failureCount: number;
    pendingCount: number;
    lastTriggeredAt?: string;
    pausedUntil?: string;
    pauseReason?: PauseReason;
    consecutiveFailures: number;
    redelivery?: RedeliveryView;
    createdAt: string;
    updatedAt: string;
};
export type UsageView = {
    calls: number;
    inputTokens: number;
    outputTokens: number;
    milliseconds: number;
    cost: number;
};
export type UtmParameters = {
    enabled?: boolean;
    source?: string;
    medium?: string;
    campaign?: string;
    term?: string;
    content?: string;
};
export type UtmParametersInput = {
    enabled?: boolean | null;
    source?: string | null;
    medium?: string | null;
    campaign?: string | null;
    term?: string | null;
    content?: string | null;
};
/** The email to check: either `html` or `emailId`. */
export type ValidationAllParams = {
    /** The email's HTML. */
    html?: string | null;
    /** The ID of a stored email, instead of `html`. */
    emailId?: string | null;
    /** The ID of the project whose names the spelling check accepts. */
    projectId?: string | null;
    /** The subject of the email. */
    subject?: string | null;
    /** The sender's name. */
    fromName?: string | null;
    /** The sender's address. */
    fromEmail?: string | null;
    /** The checks to run, with their options. */
    options?: CheckOptions;
};
export type ValidationCheck = "compatibility" | "links" | "spelling" | "deliverability" | "accessibility";
/** The email to check: either `html` or `emailId`. */
export type ValidationCompatibilityParams = {
    /** The email's HTML. */
    html?: string | null;
    /** The ID of a stored email, instead of `html`. */
    emailId?: string | null;
    /** The keys of the clients to check, such as `gmail.desktop-webmail`. */
    clients?: string[];
};
/** The email to check: either `html` or `emailId`. */
export type ValidationDeliverabilityParams = {
    /** The email's HTML. */
    html?: string | null;
    /** The ID of a stored email, instead of `html`. */
    emailId?: string | null;
    /** The subject of the email. */
    subject?: string | null;
    /** The sender's name. */
    fromName?: string | null;
    /** The sender's address. */
    fromEmail?: string | null;
};
/** The email whose links are checked: either `html` or `emailId`. */
export type ValidationLinksParams = {
    /** The email's HTML. */
    html?: string | null;
    /** The ID of a stored email, instead of `html`. */
    emailId?: string | null;
    /** The time limit for each link in milliseconds. */
    timeout?: number | null;
    /** Whether redirects are followed. */
    followRedirects?: boolean | null;
};
export type ValidationMetadata = {
    totalProcessingTime: number;
    checksPerformed: ValidationCheck[];
    checksIncomplete: IncompleteCheck[];
};
export type ValidationRecommendations = {
    critical: string[];
    important: string[];
    suggested: string[];
};
export type ValidationReport = {
    overallScore?: number;
    compatibility?: CompatibilityReport;
    linkAnalysis?: LinkAnalysis;
    spelling?: SpellingAnalysis;
    deliverability?: DeliverabilityAnalysis;
    accessibility?: AccessibilityAnalysis;
    summary: ValidationSummary;
    recommendations: ValidationRecommendations;
    metadata: ValidationMetadata;
};
/** The email to check: either `html` or `emailId`. */
export type ValidationSpellingParams = {
    /** The email's HTML. */
    html?: string | null;
    /** The ID of a stored email, instead of `html`. */
    emailId?: string | null;
    /** The ID of the project whose names and terms count as correct, such as those of the brand, its products and its sender. */
    projectId?: string | null;
    /** The languages of the email, such as `en` or `pt-BR`. */
    languages?: string[];
    /** Whether to check grammar too. */
    checkGrammar?: boolean | null;
};
export type ValidationSummary = {
    criticalIssues: number;
    warnings: number;
    passed: ValidationCheck[];
    failed: ValidationCheck[];
};
export type VersionView = {
    version: number;
    origin: "generated" | "imported" | "edited" | "restored" | "manual";
    prompt?: string;
    label?: string;
    restoredVersion?: number;
    subject: string;
    screenshotUrl?: string;
    thumbnailUrl?: string;
    current: boolean;
    createdAt: string;
};
export type VoiceOverrides = {
    person?: BrandPerson;
    formality?: BrandFormality;
    words?: string[];
    tone?: string[];
    avoid?: string[];
};
export type VoicePatch = {
    person?: BrandPerson | null;
    formality?: BrandFormality | null;
    words?: string[] | null;
    tone?: string[] | null;
    avoid?: string[] | null;
};
export type WebhookTested = {
    success: boolean;
    statusCode?: number;
    responseTime: number;
    error?: string;
    deliveryId: string;
    eventId: string;
};
export type WebhookView = {
    id: string;
    url: string;
    events: ("email.generation.started" | "email.generation.completed" | "email.generation.failed" | "email.test.sent" | "project.import.started" | "subscriber.added" | "subscriber.updated" | "subscriber.unsubscribed" | "subscriber.bulk_imported" | "email.delivered" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "project.import.processing" | "project.import.completed" | "project.import.failed" | "export.completed" | "export.failed" | "api_key.created" | "api_key.revoked")[];
    active: boolean;
    description?: string;
    customHeaders: {
        [key: string]: string;
    };
    standardSignature: boolean;
    secretConfigured: boolean;
    previousSecretExpiresAt?: string;
    successCount: number;
    failureCount: number;
    pendingCount: number;
    lastTriggeredAt?: string;
    pausedUntil?: string;
    pauseReason?: PauseReason;
    consecutiveFailures: number;
    redelivery?: RedeliveryView;
    createdAt: string;
    updatedAt: string;
};
export type WebhookWithSecret = {
    id: string;
    url: string;
    events: ("email.generation.started" | "email.generation.completed" | "email.generation.failed" | "email.test.sent" | "project.import.started" | "subscriber.added" | "subscriber.updated" | "subscriber.unsubscribed" | "subscriber.bulk_imported" | "email.delivered" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "project.import.processing" | "project.import.completed" | "project.import.failed" | "export.completed" | "export.failed" | "api_key.created" | "api_key.revoked")[];
    active: boolean;
    description?: string;
    customHeaders: {
        [key: string]: string;
    };
    standardSignature: boolean;
    secretConfigured: boolean;
    previousSecretExpiresAt?: string;
    successCount: number;
    failureCount: number;
    pendingCount: number;
    lastTriggeredAt?: string;
    pausedUntil?: string;
    pauseReason?: PauseReason;
    consecutiveFailures: number;
    redelivery?: RedeliveryView;
    createdAt: string;
    updatedAt: string;
    secret: string;
};
/** The webhook to create. */
export type WebhooksCreateParams = {
    /** The URL for deliveries: an https URL that is reachable from the public internet. */
    url: string;
    /** The types of events that the webhook receives: at least one of those that `GET /v1/webhooks/events` lists. */
    events: ("email.generation.started" | "email.generation.completed" | "email.generation.failed" | "email.test.sent" | "project.import.started" | "subscriber.added" | "subscriber.updated" | "subscriber.unsubscribed" | "subscriber.bulk_imported" | "email.delivered" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "project.import.processing" | "project.import.completed" | "project.import.failed" | "export.completed" | "export.failed" | "api_key.created" | "api_key.revoked")[];
    /** The purpose of the webhook. */
    description?: string | null;
    /** Headers to send with every delivery, such as `Authorization`: at most 20, and none that Mailmill sets or reserves. */
    customHeaders?: {
        [key: string]: string;
    } | null;
    /** Whether the webhook receives events. */
    active?: boolean | null;
    /** Whether deliveries also have the Standard Webhooks headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, which the public Standard Webhooks libraries verify with the same secret. */
    standardSignature?: boolean | null;
};
export type WebhooksDeliveriesListPage = {
    deliveries: DeliveryView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type WebhooksDeliveriesListParams = {
    /** Return only deliveries with this status. */
    status?: DeliveryStatus;
    limit?: number;
    /** The number of deliveries to skip. */
    offset?: number;
};
export type WebhooksListPage = {
    webhooks: WebhookView[];
    total: number;
    limit: number;
    offset: number;
    pagination: Pagination;
};
export type WebhooksListParams = {
    limit?: number;
    /** The number of webhooks to skip. */
    offset?: number;
};
/** The webhook, the time range, and whether to include events that have already arrived. */
export type WebhooksRedeliverParams = {
    /** The start of the range: at most seven days ago, because events are kept for seven days. */
    from: string;
    /** The end of the range. */
    to?: string | null;
    /** Whether to include events that have already arrived. */
    all?: boolean | null;
};
/** The webhook, and the grace period of its current secret. */
export type WebhooksRotateSecretParams = {
    /** The number of hours for which the old secret continues to be used for signing. */
    graceHours?: number | null;
};
/** The changes to a webhook. */
export type WebhooksUpdateParams = {
    /** The URL for deliveries, including pending deliveries. */
    url?: string | null;
    /** The events that the webhook receives after the change. */
    events?: ("email.generation.started" | "email.generation.completed" | "email.generation.failed" | "email.test.sent" | "project.import.started" | "subscriber.added" | "subscriber.updated" | "subscriber.unsubscribed" | "subscriber.bulk_imported" | "email.delivered" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "project.import.processing" | "project.import.completed" | "project.import.failed" | "export.completed" | "export.failed" | "api_key.created" | "api_key.revoked")[] | null;
    /** Whether the webhook receives events. */
    active?: boolean | null;
    /** The purpose of the webhook. */
    description?: string | null;
    /** The headers to send with every delivery. */
    customHeaders?: {
        [key: string]: string;
    } | null;
    /** Whether deliveries also have the Standard Webhooks signature. */
    standardSignature?: boolean | null;
};
export type WholeMessage = {
    message: MessageView;
    envelopeFrom: string;
    headers: MessageHeader[];
    text?: string;
    html?: string;
    links: string[];
    dkim: DkimSignature[];
};
