//! The tables of the parts of an email and their order, by the email's job. Each job has several arrangements, so that emails differ.
//!
//! A part without material from the brand or the prompt is skipped when the email is written.

use crate::features::emails::document::{Layout, Purpose};

/// A part of an email.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The title, lead, picture and button; in a letter, the greeting.
    Opening,
    /// The running text of the job.
    Body,
    /// The statements of the prompt, in the prompt's words.
    Verbatim,
    /// The steps of the job, for example how a recommendation works.
    Steps,
    /// The code, period and conditions of an offer.
    Offer,
    /// The day on which something starts or ends, in large type.
    Deadline,
    /// The day, time, place and price.
    Facts,
    /// The lines and the total of an order.
    Order,
    /// The product that the email is about.
    Featured,
    Products,
    Story,
    Knowledge,
    Praise,
    /// The given pictures that are not yet in the email.
    Pictures,
    /// An additional button.
    Call,
    Contact,
    Closing,
    Social,
}

use Part::*;

/// Returns the parts of a job; `choice` selects one of its arrangements.
#[allow(clippy::too_many_lines, reason = "a table of the order of parts, one entry for each job")]
pub fn parts(job: &str, choice: usize) -> &'static [Part] {
    let all: &[&[Part]] = match job {
        "welcome.main" => &[
            &[Opening, Body, Verbatim, Offer, Products, Story, Praise, Closing, Social],
            &[Opening, Offer, Verbatim, Story, Body, Products, Praise, Social],
            &[Opening, Body, Verbatim, Knowledge, Offer, Products, Closing, Social],
        ],
        "welcome.reminder" => &[
            &[Opening, Offer, Verbatim, Products, Body, Praise, Social],
            &[Opening, Products, Offer, Verbatim, Body, Call, Social],
        ],
        "sale.teaser" => {
            &[&[Opening, Deadline, Verbatim, Body, Products, Social], &[Opening, Verbatim, Body, Products, Deadline, Social]]
        }
        "sale.main" => &[
            &[Opening, Offer, Verbatim, Body, Products, Praise, Pictures, Call, Social],
            &[Opening, Verbatim, Body, Products, Offer, Deadline, Pictures, Social],
            &[Opening, Offer, Verbatim, Deadline, Body, Products, Praise, Pictures, Social],
            &[Opening, Featured, Offer, Verbatim, Products, Pictures, Call, Social],
        ],
        "sale.reminder" => {
            &[&[Opening, Offer, Body, Products, Verbatim, Social], &[Opening, Body, Products, Offer, Praise, Social]]
        }
        "sale.last" => {
            &[&[Opening, Deadline, Offer, Body, Products, Social], &[Opening, Offer, Deadline, Body, Products, Social]]
        }
        "launch.teaser" => &[&[Opening, Verbatim, Deadline, Body, Social], &[Opening, Deadline, Verbatim, Body, Story, Social]],
        "launch.main" => &[
            &[Opening, Verbatim, Featured, Body, Offer, Praise, Pictures, Products, Social],
            &[Opening, Featured, Verbatim, Offer, Praise, Pictures, Body, Closing, Social],
            &[Opening, Verbatim, Pictures, Offer, Body, Call, Products, Social],
        ],
        "launch.reminder" => &[
            &[Opening, Featured, Verbatim, Body, Offer, Call, Social],
            &[Opening, Verbatim, Featured, Offer, Body, Products, Social],
        ],
        "newsletter.main" => &[
            &[Opening, Verbatim, Pictures, Knowledge, Products, Offer, Body, Call, Closing, Social],
            &[Opening, Verbatim, Knowledge, Offer, Products, Pictures, Praise, Body, Call, Social],
            &[Opening, Verbatim, Pictures, Products, Knowledge, Offer, Call, Closing, Social],
        ],
        "event.main" => &[
            &[Opening, Facts, Verbatim, Pictures, Body, Call, Contact, Social],
            &[Opening, Verbatim, Facts, Pictures, Body, Contact, Closing, Social],
            &[Opening, Pictures, Verbatim, Facts, Body, Call, Social],
        ],
        "event.reminder" | "event.last" => {
            &[&[Opening, Facts, Verbatim, Body, Contact, Social], &[Opening, Verbatim, Facts, Body, Closing, Social]]
        }
        "cart.main" => &[
            &[Opening, Featured, Offer, Verbatim, Body, Contact, Social],
            &[Opening, Offer, Featured, Verbatim, Body, Contact, Products],
        ],
        "cart.second" => {
            &[&[Opening, Featured, Body, Verbatim, Offer, Contact, Closing], &[Opening, Body, Verbatim, Contact, Offer, Products]]
        }
        "cart.last" => &[&[Opening, Offer, Featured, Body, Products], &[Opening, Body, Offer, Products, Closing]],
        "winback.main" => &[
            &[Opening, Body, Offer, Verbatim, Products, Closing, Social],
            &[Opening, Verbatim, Body, Offer, Knowledge, Products, Social],
        ],
        "winback.second" => {
            &[&[Opening, Products, Verbatim, Body, Offer, Closing, Social], &[Opening, Products, Offer, Body, Knowledge, Social]]
        }
        "winback.last" => &[&[Opening, Body, Offer, Verbatim, Closing], &[Opening, Verbatim, Body, Offer, Social]],
        "review.main" | "review.reminder" => &[
            &[Opening, Featured, Verbatim, Body, Offer, Contact, Closing],
            &[Opening, Verbatim, Body, Offer, Call, Contact, Closing],
        ],
        "receipt.main" => {
            &[&[Opening, Order, Verbatim, Body, Contact, Closing], &[Opening, Verbatim, Order, Body, Contact, Closing]]
        }
        "seasonal.teaser" => {
            &[&[Opening, Body, Verbatim, Deadline, Products, Social], &[Opening, Verbatim, Products, Body, Social]]
        }
        "seasonal.main" => &[
            &[Opening, Verbatim, Products, Body, Offer, Pictures, Praise, Social],
            &[Opening, Verbatim, Body, Offer, Products, Pictures, Closing, Social],
            &[Opening, Verbatim, Body, Featured, Products, Offer, Pictures, Call, Social],
        ],
        "seasonal.last" => {
            &[&[Opening, Body, Offer, Products, Verbatim, Social], &[Opening, Products, Body, Offer, Deadline, Social]]
        }
        "referral.main" => {
            &[&[Opening, Steps, Verbatim, Offer, Body, Call, Social], &[Opening, Verbatim, Body, Steps, Offer, Closing, Social]]
        }
        "referral.reminder" => {
            &[&[Opening, Body, Steps, Verbatim, Offer, Call, Social], &[Opening, Verbatim, Body, Offer, Closing, Social]]
        }
        "announcement.main" => &[
            &[Opening, Verbatim, Facts, Pictures, Body, Call, Contact, Closing, Social],
            &[Opening, Verbatim, Pictures, Offer, Body, Call, Closing, Social],
            &[Opening, Verbatim, Facts, Offer, Body, Call, Contact, Products, Social],
        ],
        "shipping.main" => &[
            &[Opening, Offer, Verbatim, Body, Products, Call, Social],
            &[Opening, Verbatim, Offer, Products, Body, Pictures, Social],
        ],
        "stock.main" => &[
            &[Opening, Featured, Verbatim, Body, Pictures, Contact, Social],
            &[Opening, Verbatim, Featured, Pictures, Body, Closing, Social],
        ],
        // A thank-you email does not advertise products.
        "thanks.main" => {
            &[&[Opening, Verbatim, Offer, Body, Closing, Social], &[Opening, Body, Verbatim, Offer, Pictures, Closing]]
        }
        "tips.main" => &[
            &[Opening, Verbatim, Knowledge, Pictures, Body, Contact, Social],
            &[Opening, Knowledge, Verbatim, Pictures, Body, Products, Social],
        ],
        "apology.main" => &[&[Opening, Verbatim, Facts, Offer, Body, Contact, Closing]],
        "maintenance.main" => &[&[Opening, Verbatim, Facts, Body, Contact, Closing]],
        "moving.main" | "hours.main" | "closed.main" | "prices.main" | "job.main" => &[
            &[Opening, Verbatim, Facts, Pictures, Body, Contact, Closing, Social],
            &[Opening, Verbatim, Facts, Body, Call, Contact, Closing],
        ],
        "report.main" => {
            &[&[Opening, Verbatim, Pictures, Body, Closing, Social], &[Opening, Verbatim, Knowledge, Body, Call, Social]]
        }
        "announcement.reminder" => &[&[Opening, Verbatim, Facts, Body, Call, Contact, Closing, Social]],
        "general.story" => &[&[Opening, Story, Body, Praise, Closing, Social], &[Opening, Story, Knowledge, Body, Social]],
        "general.picks" => {
            &[&[Opening, Products, Body, Offer, Social], &[Opening, Products, Praise, Offer, Body, Closing, Social]]
        }
        "general.spotlight" => &[&[Opening, Featured, Body, Offer, Social], &[Opening, Featured, Body, Praise, Contact, Social]],
        "general.help" => &[&[Opening, Contact, Body, Closing, Social], &[Opening, Body, Contact, Closing]],
        "general.social" => &[&[Opening, Social, Body, Closing], &[Opening, Body, Social]],
        "general.knowledge" => &[&[Opening, Knowledge, Body, Social], &[Opening, Knowledge, Products, Body, Social]],
        // This arrangement is for languages with one set of phrases for all purposes.
        _ => &[&[Opening, Verbatim, Offer, Facts, Order, Story, Knowledge, Products, Contact, Social]],
    };
    all[choice % all.len()]
}

/// Returns the layouts that suit a purpose.
pub fn layouts(purpose: Purpose) -> &'static [Layout] {
    use Layout::*;
    match purpose {
        Purpose::Welcome => &[Editorial, Minimal, Cards, Letter, Showcase],
        Purpose::Sale => &[Bold, Showcase, Cards, Midnight],
        Purpose::Launch => &[Showcase, Editorial, Midnight, Minimal],
        Purpose::Newsletter => &[Bulletin, Editorial, Cards],
        Purpose::Event => &[Bold, Editorial, Cards, Midnight],
        Purpose::CartReminder => &[Minimal, Cards, Letter],
        Purpose::WinBack => &[Letter, Minimal, Editorial, Cards],
        Purpose::ReviewRequest => &[Letter, Minimal, Cards],
        Purpose::Receipt => &[Minimal, Cards],
        Purpose::Seasonal => &[Editorial, Showcase, Cards, Bold],
        Purpose::Referral => &[Bold, Cards, Minimal, Letter],
        Purpose::Announcement => &[Letter, Editorial, Minimal, Bulletin],
    }
}

/// Returns whether a layout needs a picture at the top.
pub fn needs_picture(layout: Layout) -> bool {
    matches!(layout, Layout::Showcase | Layout::Editorial)
}

/// Returns whether an email of this job starts with a picture of the brand; receipts, requests for reviews and conversational emails do
/// not.
pub fn opens_with_picture(job: &str) -> bool {
    let talks =
        ["cart.second", "cart.last", "winback.last", "review.reminder", "general.help", "apology.main", "maintenance.main"];
    !(job.starts_with("receipt") || job.starts_with("review") || talks.contains(&job))
}
