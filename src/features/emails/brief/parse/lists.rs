//! TABLE: the word lists of the parser, each with its table and its key in the language files.

macro_rules! lists {
    ($($(#[$note:meta])* $name:ident = $key:literal,)*) => {
        /// A word list. The literal after each name is the table and key of the list in the language files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum List { $($(#[$note])* $name,)* Month, Weekday, ShortWeekday, Numeral, DayOrdinal, Position, NamedDay, Language, Goal }

        /// The lists with their keys.
        pub const LISTS: &[(&str, List)] = &[$(($key, List::$name),)*];

        impl List {
            /// Returns the table and key of the list in the language files.
            pub fn key(self) -> &'static str {
                match self {
                    $(Self::$name => $key,)*
                    Self::Month => "months",
                    Self::Weekday => "weekdays",
                    Self::ShortWeekday => "short_weekdays",
                    Self::Numeral => "numerals",
                    Self::DayOrdinal => "ordinals",
                    Self::Position => "positions",
                    Self::NamedDay => "named_days",
                    Self::Language => "languages",
                    Self::Goal => "goals",
                }
            }
        }
    };
}

lists! {
    /// The most common words of the language, which identify it.
    Common = "words.common",
    /// Long words that are often misspelled.
    Spelling = "words.spelling",
    /// Abbreviations whose period does not end a sentence: "plus MwSt.", "until approx. 11 December".
    OpenAbbreviation = "words.open_abbreviation",
    Article = "words.article",
    /// Finite verbs. A fragment without a finite verb is not a sentence.
    Finite = "words.finite",
    Or = "words.or",
    That = "words.that",
    Not = "words.not",
    /// The word before an infinitive: "tell them to book".
    ToVerb = "words.to",
    Question = "words.question",
    Please = "words.please",
    And = "words.and",
    Email = "words.email",
    Readers = "words.readers",
    For = "words.for",
    With = "words.with",
    At = "words.at",
    LabelSubject = "label.subject",
    LabelPreheader = "label.preheader",
    LabelHeadline = "label.headline",
    LabelButton = "label.button",
    LabelLink = "label.link",
    LabelBody = "label.body",
    LabelSign = "label.sign",
    LabelAudience = "label.audience",
    LabelTone = "label.tone",
    LabelNote = "label.note",
    LabelWhen = "label.when",
    LabelWhere = "label.where",
    LabelCode = "label.code",
    /// Nouns before the letter or number of an item: "story A".
    LabelItem = "label.item",
    /// Words between a label and its value: "should be".
    LabelIs = "label.is",
    /// Imperatives whose object is the email: "draft".
    Write = "say.write",
    /// Words before the topic of the email: "about".
    About = "say.about",
    /// Words that introduce the content in a request: "mention".
    Report = "say.report",
    /// Requests that are followed by only a topic: "ask for".
    Ask = "say.ask",
    /// Infinitives at the end of a request, after the content: "hinweisen".
    ReportEnd = "say.report_end",
    /// Notes to the writer after a statement: "maybe mention that".
    Tail = "say.tail",
    /// Starts of requests that have no content: "keep it".
    NoteStart = "note.start",
    /// Words for the occasion of the email: "after the call:".
    Moment = "note.moment",
    /// Phrases that make a fragment a note to the writer: "in this email".
    NoteAny = "note.any",
    /// Phrases that are notes to the writer if they fill a whole fragment: "thank you".
    NoteWhole = "note.whole",
    /// Words that make up a note about the tone: "friendly".
    Tone = "note.tone",
    ToneFill = "note.tone_fill",
    /// Phrases that mark sentences that the email leaves out, such as attempts to give orders to a language model.
    Attack = "note.attack",
    Greeting = "note.greeting",
    Closing = "note.closing",
    /// Thanks and other closing words after the last sentence, without punctuation before them.
    Thanks = "note.thanks",
    /// Verbs that attribute words in the prompt to a person: "Steve said".
    Says = "note.says",
    /// Verbs that report what colleagues say or want: "my boss says", "legal wants".
    Colleague = "note.colleague",
    Header = "note.header",
    Correction = "note.correction",
    /// Phrases that withdraw the words before them: "keep that out".
    Withdrawn = "note.withdrawn",
    /// Phrases that express doubt about which of several values is right: "not sure which".
    Unsure = "note.unsure",
    /// Words for older text that the prompt quotes: "last year's text".
    OldText = "note.old_text",
    /// Words before a reason: "because", "otherwise".
    Because = "words.because",
    /// Words that people use when they think aloud or chat: "I guess", "lol".
    Remark = "note.remark",
    /// Interjections and chat abbreviations that the email leaves out: "um", "lol".
    Sound = "note.sound",
    /// Nouns for the email that precede or follow the name of a language: "English version".
    Version = "note.version",
    /// Words for "no" and "nothing" before a noun.
    Without = "note.without",
    /// Words that merely introduce a statement: "well".
    Filler = "note.filler",
    /// Words for the parts of an email and for writing it: "photo", "logo".
    Craft = "note.craft",
    AudienceStart = "note.audience",
    InLanguage = "note.in_language",
    NoImages = "limit.no_images",
    NoProducts = "limit.no_products",
    NoExclamation = "limit.no_exclamation",
    NoEmoji = "limit.no_emoji",
    Emoji = "limit.emoji",
    Plain = "limit.plain",
    OneButton = "limit.one_button",
    /// Words for the emails in a series, after their number: "3 emails".
    Emails = "limit.emails",
    /// Words for the products that an email shows, after their number: "3 products".
    Products = "limit.products",
    /// Words for a series of emails, near their number: "sequence".
    Series = "limit.series",
    WordLimit = "limit.words",
    Formal = "limit.formal",
    Informal = "limit.informal",
    Avoid = "limit.avoid",
    Percent = "number.percent",
    HalfPrice = "number.half_price",
    Currency = "number.currency",
    /// Words that mark a reduction: "off".
    Off = "number.off",
    /// Words that show that a number does not belong to an offer of the brand: "tax", "inflation".
    NotOffer = "number.not_offer",
    /// Words before an old price: "instead of".
    Old = "number.old",
    /// Words before a price without a currency: "stays at 18".
    Costs = "number.costs",
    /// Words after a price without a currency: "19.50 each".
    Each = "number.each",
    /// Words after an old price: "until now".
    OldAfter = "number.old_after",
    /// Words before a minimum order value: "orders over".
    Minimum = "number.minimum",
    /// Words before a minimum order value that can also precede a price or a date: "from".
    MinimumFrom = "number.minimum_from",
    MinimumAfter = "number.minimum_after",
    /// Words that mark money as given away, collected or paid back: "donation", "refund".
    Given = "number.given",
    Code = "number.code",
    CodeWith = "number.code_with",
    Unit = "number.duration",
    Places = "number.places",
    Limited = "number.limited",
    Condition = "number.condition",
    Free = "number.free",
    Delivery = "number.delivery",
    /// Words stating that something does not change: "shipping stays free".
    Unchanged = "number.unchanged",
    /// Verbs for using a product, which a recall can forbid: "do not use".
    Consume = "words.consume",
    /// Words that cancel or postpone what the email is about: "we have to cancel the tasting".
    Canceled = "words.canceled",
    /// Statements that recipients do not have to do anything: "no action needed".
    Assure = "words.assure",
    /// Imperatives that invite the recipients: "win a trip".
    Invite = "words.invite",
    SpokenComma = "spoken.comma",
    SpokenStop = "spoken.stop",
    SpokenQuestion = "spoken.question",
    SpokenExclamation = "spoken.exclamation",
    SpokenColon = "spoken.colon",
    SpokenLine = "spoken.line",
    SpokenOpen = "spoken.open",
    SpokenClose = "spoken.close",
    /// Words for the digit 0 in telephone numbers: "oh".
    SpokenZero = "spoken.zero",
    Of = "date.of",
    Ordinal = "date.ordinal",
    To = "date.to",
    Between = "date.between",
    FromWord = "date.from",
    UntilWord = "date.until",
    OnWord = "date.on",
    PartOf = "date.part",
    Today = "date.today",
    Tomorrow = "date.tomorrow",
    Yesterday = "date.yesterday",
    Past = "date.past",
    /// Verbs in the past tense: "who came", "abgeholt haben".
    PastVerb = "date.past_verb",
    /// Phrases that contain the name of a weekday but do not denote a weekday: "Black Friday".
    NotDay = "date.not_day",
    Hour = "date.hour",
    Am = "date.am",
    Pm = "date.pm",
    Noon = "date.noon",
    Midnight = "date.midnight",
    HalfPast = "date.half_past",
    HalfTo = "date.half_to",
    TimeAt = "date.time_at",
    Zone = "date.zone",
    CueOrder = "role.order_by",
    CueClosed = "role.closed",
    CueReopens = "role.reopens",
    CuePrice = "role.price_changes",
    CueDelivery = "role.delivery",
    CueEvent = "role.event",
    CueHappened = "role.happened",
    CueOffer = "role.offer",
    CueStarts = "role.offer_starts",
    CueOther = "role.other",
    Title = "name.title",
    PersonAfter = "name.person_after",
    Street = "name.street",
    Venue = "name.venue",
    Phone = "name.phone",
    /// Words that introduce the name of the person who wrote the prompt: "my name is".
    Introduction = "name.introduction",
}
