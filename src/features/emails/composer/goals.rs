//! The table of email goals: the phrases, products, pictures, buttons and layouts of each goal.

use crate::features::emails::brief::Goal;
use crate::features::emails::document::{Layout, Purpose};

/// The pictures that suit a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    None,
    /// Only a picture of something that the email names.
    Named,
    /// A picture of something that the email names or, if it names nothing, any picture of the brand.
    Any,
}

/// The structure of emails with a certain goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The key of the goal's phrases.
    pub key: &'static str,
    pub purpose: Purpose,
    /// Whether the email may advertise an offer and the products that the brief names.
    pub sells: bool,
    /// Whether the email shows products of the brand if the brief names none.
    pub fills: bool,
    pub pictures: Pictures,
    /// Whether the email has a button if the brief names neither a link nor a label.
    pub calls: bool,
    /// Whether the team signs the email if the brief names no person.
    pub signs: bool,
    pub social: bool,
    pub layouts: &'static [Layout],
}

/// The layouts of messages without decoration.
const PLAIN: &[Layout] = &[Layout::Letter, Layout::Minimal];

/// The shape of emails that sell something.
const SELLS: Shape = Shape {
    key: "sale",
    purpose: Purpose::Sale,
    sells: true,
    fills: true,
    pictures: Pictures::Any,
    calls: true,
    signs: false,
    social: true,
    layouts: &[Layout::Bold, Layout::Showcase, Layout::Cards, Layout::Midnight],
};

/// The shape of invitations.
const INVITES: Shape = Shape {
    key: "event",
    purpose: Purpose::Event,
    fills: false,
    pictures: Pictures::Named,
    layouts: &[Layout::Bold, Layout::Editorial, Layout::Cards, Layout::Midnight],
    ..SELLS
};

/// The shape of emails that ask recipients for something.
const ASKS: Shape = Shape {
    fills: false,
    pictures: Pictures::None,
    social: false,
    signs: true,
    layouts: &[Layout::Minimal, Layout::Cards, Layout::Letter],
    ..SELLS
};

/// The shape of announcements.
const ANNOUNCES: Shape = Shape {
    key: "announcement",
    purpose: Purpose::Announcement,
    sells: false,
    fills: false,
    pictures: Pictures::Named,
    calls: false,
    signs: true,
    social: false,
    layouts: &[Layout::Letter, Layout::Editorial, Layout::Minimal, Layout::Bulletin],
};

/// The shape of service notices.
const NOTIFIES: Shape = Shape { pictures: Pictures::None, layouts: PLAIN, ..ANNOUNCES };

pub fn shape(goal: Goal) -> Shape {
    use Layout::*;
    match goal {
        Goal::Welcome => {
            let layouts = &[Editorial, Minimal, Cards, Letter, Showcase];
            Shape { key: "welcome", purpose: Purpose::Welcome, signs: true, layouts, ..SELLS }
        }
        Goal::Sale => SELLS,
        Goal::Voucher => Shape { key: "voucher", fills: false, pictures: Pictures::Named, ..SELLS },
        Goal::Launch => {
            let layouts = &[Showcase, Editorial, Midnight, Cards, Minimal];
            Shape { key: "launch", purpose: Purpose::Launch, fills: false, pictures: Pictures::Named, layouts, ..SELLS }
        }
        Goal::Digest => {
            let layouts = &[Bulletin, Editorial, Cards];
            Shape { key: "newsletter", purpose: Purpose::Newsletter, pictures: Pictures::Named, calls: false, layouts, ..SELLS }
        }
        Goal::Event | Goal::Webinar => INVITES,
        Goal::Waitlist => Shape { key: "waitlist", purpose: Purpose::Announcement, calls: false, ..INVITES },
        Goal::Seasonal => {
            let layouts = &[Editorial, Showcase, Cards, Bold];
            Shape { key: "seasonal", purpose: Purpose::Seasonal, layouts, ..SELLS }
        }
        Goal::WinBack => {
            let layouts = &[Letter, Minimal, Editorial, Cards];
            Shape { key: "winback", purpose: Purpose::WinBack, signs: true, layouts, ..SELLS }
        }
        Goal::Cart => Shape { key: "cart", purpose: Purpose::CartReminder, ..ASKS },
        Goal::OrderDeadline => {
            Shape { key: "deadline", purpose: Purpose::Announcement, sells: false, layouts: &[Minimal, Cards, Bold], ..ASKS }
        }
        Goal::TrialEnding => Shape { key: "trial", purpose: Purpose::Announcement, ..ASKS },
        Goal::Review => Shape { key: "review", purpose: Purpose::ReviewRequest, layouts: &[Letter, Minimal, Cards], ..ASKS },
        Goal::Survey => Shape { key: "survey", purpose: Purpose::ReviewRequest, layouts: &[Letter, Minimal, Cards], ..ASKS },
        Goal::Referral => Shape { key: "referral", purpose: Purpose::Referral, layouts: &[Bold, Cards, Minimal, Letter], ..ASKS },
        Goal::Receipt => Shape { key: "receipt", purpose: Purpose::Receipt, sells: false, layouts: &[Minimal, Cards], ..ASKS },
        Goal::ThankYou => Shape { key: "thanks", layouts: &[Letter, Editorial, Minimal], ..ANNOUNCES },
        Goal::Hiring => Shape { key: "job", layouts: &[Editorial, Minimal, Letter, Cards], ..ANNOUNCES },
        Goal::OpeningHours => Shape { key: "hours", ..NOTIFIES },
        Goal::Closing => Shape { key: "closed", ..NOTIFIES },
        Goal::PriceChange => Shape { key: "prices", ..NOTIFIES },
        Goal::Apology => Shape { key: "apology", ..NOTIFIES },
        Goal::Outage => Shape { key: "outage", ..NOTIFIES },
        Goal::ServiceNotice => Shape { key: "notice", ..NOTIFIES },
        Goal::Recall => Shape { key: "recall", ..NOTIFIES },
        Goal::Legal => Shape { key: "legal", ..NOTIFIES },
        Goal::Reminder => Shape { key: "reminder", ..NOTIFIES },
        Goal::Announcement | Goal::Unclear => ANNOUNCES,
    }
}

/// Returns the goal that corresponds to the purpose of an existing email.
pub fn of(purpose: Purpose) -> Goal {
    match purpose {
        Purpose::Welcome => Goal::Welcome,
        Purpose::Sale => Goal::Sale,
        Purpose::Launch => Goal::Launch,
        Purpose::Newsletter => Goal::Digest,
        Purpose::Event => Goal::Event,
        Purpose::CartReminder => Goal::Cart,
        Purpose::WinBack => Goal::WinBack,
        Purpose::ReviewRequest => Goal::Review,
        Purpose::Receipt => Goal::Receipt,
        Purpose::Seasonal => Goal::Seasonal,
        Purpose::Referral => Goal::Referral,
        Purpose::Announcement => Goal::Announcement,
    }
}

/// Returns whether an email with this goal is about the brand as a whole, so that all of the brand's pictures and products suit it.
pub fn is_about_brand(goal: Goal) -> bool {
    matches!(goal, Goal::Welcome | Goal::WinBack)
}

/// Returns whether a layout needs a picture at the top.
pub fn needs_picture(layout: Layout) -> bool {
    matches!(layout, Layout::Showcase | Layout::Editorial)
}
