//! TABLES: the classification of visitors (a person, a mail service or a bot), and the effects of bounces and complaints.
//!
//! The rules are pure functions that use no store, clock or network.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::mail::inbound::ReplyClass;

/// The kind of visitor who opens a message or clicks a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Visitor {
    /// A person. This is the default if nothing indicates another kind of visitor.
    Person,
    /// A mail service that loads images on behalf of a reader when the reader opens the message.
    Proxy,
    /// A mail service that loads the images of every message in advance, whether or not the message is read.
    Privacy,
    /// A browser or email client that prefetches links.
    Prefetch,
    /// A bot that scans for threats or shows link previews.
    Scanner,
}

impl Visitor {
    /// Returns whether a visit by this visitor is treated as an action of the recipient.
    pub fn is_person(self) -> bool {
        matches!(self, Visitor::Person | Visitor::Proxy)
    }
}

/// The properties of a visit that are used to classify the visitor.
#[derive(Clone, Copy, Debug)]
pub struct VisitSigns<'a> {
    pub agent: &'a str,
    /// Whether the request was a HEAD request, which requests only the headers.
    pub is_head: bool,
    /// Whether the headers of the request announce a prefetch.
    pub is_prefetch: bool,
    /// Milliseconds since the recipient's server accepted the message, negative if the visit came first; `None` if the server has not
    /// accepted the message yet.
    pub since_delivery_ms: Option<i64>,
}

/// A pattern for user agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    /// Matches a user agent that equals the string.
    Is(&'static str),
    /// Matches a user agent that contains the string, ignoring case. The string must be lowercase.
    Has(&'static str),
}

impl Agent {
    fn fits(self, agent: &str) -> bool {
        match self {
            Agent::Is(whole) => agent == whole,
            Agent::Has(part) => {
                let (agent, part) = (agent.as_bytes(), part.as_bytes());
                agent.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
            }
        }
    }
}

/// TABLE: known user agents. The last string in each entry states the product, the source or the reason. The first matching entry applies.
const AGENTS: &[(Agent, Visitor, &str)] = &[
    // Proxies of mail services, each with the user agent that the service sends.
    (Agent::Has("googleimageproxy"), Visitor::Proxy, "Gmail's image proxy: \"(via ggpht.com GoogleImageProxy)\""),
    (
        Agent::Has("yahoomailproxy"),
        Visitor::Proxy,
        "Yahoo Mail's image proxy: \"YahooMailProxy; https://help.yahoo.com/…SLN28749\"",
    ),
    (Agent::Is("Mozilla/5.0"), Visitor::Privacy, "Apple Mail Privacy Protection sends exactly this user agent"),
    // Mail security products that follow the links in incoming mail and identify themselves.
    (Agent::Has("barracuda"), Visitor::Scanner, "Barracuda Email Security, Link Protection"),
    (Agent::Has("proofpoint"), Visitor::Scanner, "Proofpoint URL Defense"),
    (Agent::Has("mimecast"), Visitor::Scanner, "Mimecast Targeted Threat Protection"),
    (Agent::Has("messagelabs"), Visitor::Scanner, "Symantec Email Security.cloud"),
    (Agent::Has("symantec"), Visitor::Scanner, "Symantec Click-time Protection"),
    (Agent::Has("trendmicro"), Visitor::Scanner, "Trend Micro Email Security"),
    (Agent::Has("bitdefender"), Visitor::Scanner, "Bitdefender GravityZone"),
    (Agent::Has("fortiguard"), Visitor::Scanner, "FortiMail and FortiGuard"),
    (Agent::Has("fireeye"), Visitor::Scanner, "FireEye (Trellix) Email Security"),
    (Agent::Has("cloudmark"), Visitor::Scanner, "Cloudmark"),
    (Agent::Has("sophos"), Visitor::Scanner, "Sophos Email"),
    (Agent::Has("safelinks"), Visitor::Scanner, "Microsoft Defender, when it identifies itself"),
    (Agent::Has("google-safety"), Visitor::Scanner, "Google's list of special crawlers"),
    (Agent::Has("google-pagerenderer"), Visitor::Scanner, "Google's list of user-triggered fetchers"),
    // Services that preview shared links. Their visits do not show that the recipient has read the message.
    (Agent::Has("facebookexternalhit"), Visitor::Scanner, "Meta's documentation for web crawlers"),
    (Agent::Has("whatsapp/"), Visitor::Scanner, "WhatsApp link previews"),
    (Agent::Has("skypeuripreview"), Visitor::Scanner, "Skype and Teams previews"),
    // Bots that identify themselves, as RFC 9309 §2.2.1 recommends, and command-line tools.
    (Agent::Has("bot"), Visitor::Scanner, "crawlers call themselves bots"),
    (Agent::Has("crawler"), Visitor::Scanner, "crawlers call themselves crawlers"),
    (Agent::Has("spider"), Visitor::Scanner, "crawlers call themselves spiders"),
    (Agent::Has("headlesschrome"), Visitor::Scanner, "headless Chromium"),
    (Agent::Has("phantomjs"), Visitor::Scanner, "a headless browser"),
    (Agent::Has("curl/"), Visitor::Scanner, "a command-line tool"),
    (Agent::Has("wget/"), Visitor::Scanner, "a command-line tool"),
    (Agent::Has("python-"), Visitor::Scanner, "python-requests, python-urllib"),
    (Agent::Has("go-http-client"), Visitor::Scanner, "Go's own client"),
    (Agent::Has("java/"), Visitor::Scanner, "Java's own client"),
    (Agent::Has("libwww-perl"), Visitor::Scanner, "Perl's own client"),
    (Agent::Is(""), Visitor::Scanner, "email clients and browsers send a user agent"),
];

pub fn visitor(signs: &VisitSigns<'_>) -> Visitor {
    if signs.is_head || signs.since_delivery_ms.is_none_or(|ms| ms < 0) {
        // A recipient cannot read a message before it has arrived, and a HEAD request does not fetch what a reader would see.
        return Visitor::Scanner;
    }
    if signs.is_prefetch {
        return Visitor::Prefetch;
    }
    AGENTS.iter().find(|(agent, _, _)| agent.fits(signs.agent)).map_or(Visitor::Person, |(_, visitor, _)| *visitor)
}

/// The maximum time between a server's first scan of a message and Mailmill's record of the server's response.
pub const DELIVERY_MS_MAX: i64 = 15 * 60 * 1000;

/// Returns the time from the delivery to a visit in milliseconds, which is negative if the visit came first. If a visit precedes the
/// delivery by more than [`DELIVERY_MS_MAX`], a clock was wrong, and the visit is treated as if it came [`BURST_WITHIN_MS`] after the
/// delivery.
pub fn since_delivery_ms(visited: Timestamp, delivered: Timestamp) -> i64 {
    let ms = visited.ms_since(delivered);
    if ms < -DELIVERY_MS_MAX { BURST_WITHIN_MS } else { ms }
}

/// Visits within this time after delivery may come from a scanner that follows all links.
pub const BURST_WITHIN_MS: i64 = 15_000;
/// Clicks on at least this many different links within [`BURST_WITHIN_MS`] are attributed to a scanner.
pub const BURST_LINKS: usize = 3;

/// The class of a failed delivery, according to a bounce report or a server's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Bounce {
    /// The mailbox or its domain does not exist.
    Hard,
    /// The mailbox or its server has a temporary problem, such as a full mailbox.
    Soft,
    /// The server refused the sender, for example because of its IP address or reputation.
    Policy,
    /// The server refused the content of the message.
    Content,
}

impl From<ReplyClass> for Bounce {
    fn from(class: ReplyClass) -> Self {
        match class {
            ReplyClass::Hard => Bounce::Hard,
            // An unclear reply counts as soft: wrongly classifying a bounce as hard suppresses a recipient permanently, but wrongly
            // classifying it as soft costs at most four more bounced messages.
            ReplyClass::Soft | ReplyClass::Unknown => Bounce::Soft,
            ReplyClass::Policy => Bounce::Policy,
            ReplyClass::Content => Bounce::Content,
        }
    }
}

impl Bounce {
    /// Returns the name of the class in the API.
    pub fn word(self) -> &'static str {
        match self {
            Bounce::Hard => "hard",
            Bounce::Soft => "soft",
            Bounce::Policy => "policy",
            Bounce::Content => "content",
        }
    }
}

/// The effect of a bounce on the recipient's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BounceAction {
    /// The address may be mailed again.
    Keep,
    /// The address is suppressed for the whole account, and the contact to whom the message was sent is marked as bounced.
    Bounced,
}

/// TABLE: for each bounce class, the number of consecutive bounces that triggers an effect, and the effect.
const BOUNCE_ACTIONS: &[(Bounce, u8, BounceAction)] = &[
    // An address that does not exist is rarely created later, and mailing it again harms the sender's reputation.
    (Bounce::Hard, 1, BounceAction::Bounced),
    // Owners empty full mailboxes. A mailbox that is full for five messages in a row is probably abandoned.
    (Bounce::Soft, 5, BounceAction::Bounced),
    // Policy and content bounces relate to the sender or the message, not to the recipient, so the address is kept regardless of the number
    // of these bounces.
    (Bounce::Policy, u8::MAX, BounceAction::Keep),
    (Bounce::Content, u8::MAX, BounceAction::Keep),
];

/// Returns the effect of the `in_a_row`-th consecutive bounce of this class.
pub fn bounce_action(bounce: Bounce, in_a_row: u8) -> BounceAction {
    let row = BOUNCE_ACTIONS.iter().find(|(class, _, _)| *class == bounce).expect("the table has a row for every bounce class");
    if in_a_row >= row.1 { row.2 } else { BounceAction::Keep }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

    fn signs(agent: &str) -> VisitSigns<'_> {
        VisitSigns { agent, is_head: false, is_prefetch: false, since_delivery_ms: Some(60_000) }
    }

    #[test]
    fn visitors_are_classified_by_user_agent() {
        for (agent, expected) in [
            (BROWSER, Visitor::Person),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
                Visitor::Person,
            ),
            ("Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)", Visitor::Proxy),
            ("YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html", Visitor::Proxy),
            ("Mozilla/5.0", Visitor::Privacy),
            ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", Visitor::Scanner),
            ("BarracudaCentral/1.0", Visitor::Scanner),
            ("python-requests/2.32", Visitor::Scanner),
            ("", Visitor::Scanner),
        ] {
            assert_eq!(visitor(&signs(agent)), expected, "{agent}");
        }
    }

    #[test]
    fn head_requests_and_visits_before_delivery_are_scanners_and_prefetches_are_recognized() {
        assert_eq!(visitor(&VisitSigns { is_head: true, ..signs(BROWSER) }), Visitor::Scanner);
        assert_eq!(visitor(&VisitSigns { since_delivery_ms: None, ..signs(BROWSER) }), Visitor::Scanner);
        assert_eq!(visitor(&VisitSigns { since_delivery_ms: Some(-1), ..signs(BROWSER) }), Visitor::Scanner);
        assert_eq!(visitor(&VisitSigns { is_prefetch: true, ..signs(BROWSER) }), Visitor::Prefetch);
    }

    #[test]
    fn every_agent_matches_its_own_entry_before_a_broader_one() {
        for (place, (agent, visitor, source)) in AGENTS.iter().enumerate() {
            let (Agent::Is(name) | Agent::Has(name)) = agent;
            let first = AGENTS.iter().position(|(other, _, _)| other.fits(name)).expect("each user agent matches its own row");
            assert!(first == place || AGENTS[first].1 == *visitor, "{name}");
            assert!(!source.is_empty());
        }
    }

    #[test]
    fn a_visit_long_before_delivery_is_attributed_to_a_wrong_clock() {
        let delivered = Timestamp(DELIVERY_MS_MAX * 10);
        for (after_ms, expected) in
            [(5_000, 5_000), (-5_000, -5_000), (-DELIVERY_MS_MAX, -DELIVERY_MS_MAX), (-DELIVERY_MS_MAX - 1, BURST_WITHIN_MS)]
        {
            assert_eq!(since_delivery_ms(delivered.plus_ms(after_ms), delivered), expected);
        }
    }

    #[test]
    fn five_soft_bounces_or_one_hard_bounce_suppress_an_address_but_content_bounces_never_do() {
        assert_eq!(bounce_action(Bounce::Hard, 1), BounceAction::Bounced);
        assert_eq!((bounce_action(Bounce::Soft, 4), bounce_action(Bounce::Soft, 5)), (BounceAction::Keep, BounceAction::Bounced));
        for count in [1, 5, u8::MAX] {
            assert_eq!(bounce_action(Bounce::Content, count), BounceAction::Keep);
            assert_eq!(bounce_action(Bounce::Policy, count), BounceAction::Keep);
        }
    }
}
