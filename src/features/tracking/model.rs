//! TABLES: who opens and clicks (a person, a mail service for them, or a bot), and the consequences of bounces and complaints.
//!
//! Pure rules: no store, no clock, no network.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::mail::inbound::ReplyClass;

/// The kind of visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Visitor {
    /// A person, as far as can be determined.
    Person,
    /// A mail service that loads images for a reader when the message is opened.
    Proxy,
    /// A mail service that loads the images of every message in advance, read or not.
    Privacy,
    /// A browser or mail client that prefetches.
    Prefetch,
    /// A bot that scans for threats or shows link previews.
    Scanner,
}

impl Visitor {
    /// Returns whether the visit counts as an action of the recipient.
    pub fn is_person(self) -> bool {
        matches!(self, Visitor::Person | Visitor::Proxy)
    }
}

/// The known facts about one visit.
#[derive(Clone, Copy, Debug)]
pub struct VisitSigns<'a> {
    /// The user agent.
    pub agent: &'a str,
    /// A HEAD request: only the headers were requested.
    pub is_head: bool,
    /// A Purpose, Sec-Purpose or X-Moz header announces a prefetch.
    pub is_prefetch: bool,
    /// Milliseconds since the recipient's server accepted the message; `None` if it has not yet.
    pub since_delivery_ms: Option<i64>,
}

/// How a user agent is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    /// The whole user agent.
    Is(&'static str),
    /// A part of the user agent, ignoring case. Must be lowercase.
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

/// TABLE: known user agents, with the source of each entry. The first match counts.
const AGENTS: &[(Agent, Visitor, &str)] = &[
    // Proxies of mail services, each by the name it documents.
    (Agent::Has("googleimageproxy"), Visitor::Proxy, "Gmail's image proxy: \"(via ggpht.com GoogleImageProxy)\""),
    (
        Agent::Has("yahoomailproxy"),
        Visitor::Proxy,
        "Yahoo Mail's image proxy: \"YahooMailProxy; https://help.yahoo.com/…SLN28749\"",
    ),
    (Agent::Is("Mozilla/5.0"), Visitor::Privacy, "Apple Mail Privacy Protection sends exactly this and nothing more"),
    // Mail security: products that follow the links of incoming mail and identify themselves.
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
    // Previews of shared links: the person who pastes a link does not read the message.
    (Agent::Has("facebookexternalhit"), Visitor::Scanner, "Meta's documentation for web crawlers"),
    (Agent::Has("whatsapp/"), Visitor::Scanner, "WhatsApp link previews"),
    (Agent::Has("skypeuripreview"), Visitor::Scanner, "Skype and Teams previews"),
    // Self-declared bots (RFC 9309 §2.2.1 asks crawlers to identify themselves), and tools.
    (Agent::Has("bot"), Visitor::Scanner, "crawlers call themselves bots"),
    (Agent::Has("crawler"), Visitor::Scanner, "crawlers call themselves crawlers"),
    (Agent::Has("spider"), Visitor::Scanner, "crawlers call themselves spiders"),
    (Agent::Has("headlesschrome"), Visitor::Scanner, "headless Chromium"),
    (Agent::Has("phantomjs"), Visitor::Scanner, "a headless browser"),
    (Agent::Has("curl/"), Visitor::Scanner, "a tool"),
    (Agent::Has("wget/"), Visitor::Scanner, "a tool"),
    (Agent::Has("python-"), Visitor::Scanner, "python-requests, python-urllib"),
    (Agent::Has("go-http-client"), Visitor::Scanner, "Go's own client"),
    (Agent::Has("java/"), Visitor::Scanner, "Java's own client"),
    (Agent::Has("libwww-perl"), Visitor::Scanner, "Perl's own client"),
    (Agent::Is(""), Visitor::Scanner, "every mail client and browser sends a user agent"),
];

/// Classifies a visitor.
pub fn visitor(signs: &VisitSigns<'_>) -> Visitor {
    if signs.is_head || signs.since_delivery_ms.is_none_or(|ms| ms < 0) {
        // A message cannot be read before it has arrived.
        return Visitor::Scanner;
    }
    if signs.is_prefetch {
        return Visitor::Prefetch;
    }
    AGENTS.iter().find(|(agent, _, _)| agent.fits(signs.agent)).map_or(Visitor::Person, |(_, visitor, _)| *visitor)
}

/// The maximum time from a server's first scan of a message to our record of its response.
pub const DELIVERY_MS_MAX: i64 = 15 * 60 * 1000;

/// Returns how long after its delivery a message was visited. It cannot have been visited long before delivery; if the times say so, a
/// clock was wrong when one of them was recorded, and only the fact of delivery is certain.
pub fn since_delivery_ms(visited: Timestamp, delivered: Timestamp) -> i64 {
    let ms = visited.ms_since(delivered);
    if ms < -DELIVERY_MS_MAX { BURST_WITHIN_MS } else { ms }
}

/// Scanners follow links right after delivery…
pub const BURST_WITHIN_MS: i64 = 15_000;
/// …and more different links than a person could in that time.
pub const BURST_LINKS: usize = 3;

/// The class of a failed delivery, according to a report or a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Bounce {
    /// The mailbox or its domain does not exist.
    Hard,
    /// A temporary problem: full, slow or out of order.
    Soft,
    /// The sender, its address or its reputation was refused.
    Policy,
    /// The content of this message was refused.
    Content,
}

impl From<ReplyClass> for Bounce {
    fn from(class: ReplyClass) -> Self {
        match class {
            ReplyClass::Hard => Bounce::Hard,
            // A wrong "hard" suppresses a recipient for good; a wrong "soft" costs four more attempts.
            ReplyClass::Soft | ReplyClass::Unknown => Bounce::Soft,
            ReplyClass::Policy => Bounce::Policy,
            ReplyClass::Content => Bounce::Content,
        }
    }
}

impl Bounce {
    /// The wire name.
    pub fn word(self) -> &'static str {
        match self {
            Bounce::Hard => "hard",
            Bounce::Soft => "soft",
            Bounce::Policy => "policy",
            Bounce::Content => "content",
        }
    }
}

/// What happens to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BounceAction {
    /// It may be mailed again.
    Keep,
    /// The address is suppressed for the whole account, and its contacts become bounced.
    Bounced,
}

/// TABLE: the consequence of a bounce, by the number of consecutive bounces of its class without a delivery in between.
const BOUNCE_ACTIONS: &[(Bounce, u8, BounceAction)] = &[
    // An address that does not exist will not exist tomorrow; mailing it again costs reputation.
    (Bounce::Hard, 1, BounceAction::Bounced),
    // Full mailboxes are emptied; one that is full for five messages is abandoned.
    (Bounce::Soft, 5, BounceAction::Bounced),
    // These concern the sender or the message. The recipient is not at fault, so nothing happens however often they occur.
    (Bounce::Policy, u8::MAX, BounceAction::Keep),
    (Bounce::Content, u8::MAX, BounceAction::Keep),
];

/// Returns the consequence of the `in_a_row`-th consecutive bounce of this class.
pub fn bounce_action(bounce: Bounce, in_a_row: u8) -> BounceAction {
    let row = BOUNCE_ACTIONS.iter().find(|(class, _, _)| *class == bounce).expect("the table has every class");
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
            let first = AGENTS.iter().position(|(other, _, _)| other.fits(name)).expect("it fits itself");
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
