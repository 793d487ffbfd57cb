//! The parts of an email and their order, by its job. Only tables; several arrangements per job, so that emails differ.
//!
//! A part without material from the brand or the prompt is skipped when the email is written.

use crate::features::emails::document::{Layout, Purpose};

/// A part of an email.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Title, lead, picture and button; in a letter, a greeting.
    Opening,
    /// The job's own running text.
    Body,
    /// Statements of the prompt in its own words.
    Told,
    /// Steps of the job itself, for example how a recommendation works.
    Steps,
    /// Code, period and conditions.
    Offer,
    /// The day on which something starts or ends, in large type.
    Deadline,
    /// Day, time, place and price.
    Facts,
    /// An order's lines and its total.
    Order,
    /// The product that the email is about.
    Featured,
    Products,
    Story,
    Knowledge,
    Praise,
    /// Further given pictures.
    Pictures,
    /// Another button.
    Call,
    Contact,
    Closing,
    Social,
}

use Part::*;

/// Returns the parts of a job; `choice` selects one of its arrangements.
// long: a table of the order of parts, one entry for each job.
pub fn parts(job: &str, choice: usize) -> &'static [Part] {
    // long: one table of all jobs, to be read from top to bottom.
    let all: &[&[Part]] = match job {
        "welcome.main" => &[
            &[Opening, Body, Told, Offer, Products, Story, Praise, Closing, Social],
            &[Opening, Offer, Told, Story, Body, Products, Praise, Social],
            &[Opening, Body, Told, Knowledge, Offer, Products, Closing, Social],
        ],
        "welcome.reminder" => {
            &[&[Opening, Offer, Told, Products, Body, Praise, Social], &[Opening, Products, Offer, Told, Body, Call, Social]]
        }
        "sale.teaser" => {
            &[&[Opening, Deadline, Told, Body, Products, Social], &[Opening, Told, Body, Products, Deadline, Social]]
        }
        "sale.main" => &[
            &[Opening, Offer, Told, Body, Products, Praise, Pictures, Call, Social],
            &[Opening, Told, Body, Products, Offer, Deadline, Pictures, Social],
            &[Opening, Offer, Told, Deadline, Body, Products, Praise, Pictures, Social],
            &[Opening, Featured, Offer, Told, Products, Pictures, Call, Social],
        ],
        "sale.reminder" => &[&[Opening, Offer, Body, Products, Told, Social], &[Opening, Body, Products, Offer, Praise, Social]],
        "sale.last" => {
            &[&[Opening, Deadline, Offer, Body, Products, Social], &[Opening, Offer, Deadline, Body, Products, Social]]
        }
        "launch.teaser" => &[&[Opening, Told, Deadline, Body, Social], &[Opening, Deadline, Told, Body, Story, Social]],
        "launch.main" => &[
            &[Opening, Told, Featured, Body, Offer, Praise, Pictures, Products, Social],
            &[Opening, Featured, Told, Offer, Praise, Pictures, Body, Closing, Social],
            &[Opening, Told, Pictures, Offer, Body, Call, Products, Social],
        ],
        "launch.reminder" => {
            &[&[Opening, Featured, Told, Body, Offer, Call, Social], &[Opening, Told, Featured, Offer, Body, Products, Social]]
        }
        "newsletter.main" => &[
            &[Opening, Told, Pictures, Knowledge, Products, Offer, Body, Call, Closing, Social],
            &[Opening, Told, Knowledge, Offer, Products, Pictures, Praise, Body, Call, Social],
            &[Opening, Told, Pictures, Products, Knowledge, Offer, Call, Closing, Social],
        ],
        "event.main" => &[
            &[Opening, Facts, Told, Pictures, Body, Call, Contact, Social],
            &[Opening, Told, Facts, Pictures, Body, Contact, Closing, Social],
            &[Opening, Pictures, Told, Facts, Body, Call, Social],
        ],
        "event.reminder" | "event.last" => {
            &[&[Opening, Facts, Told, Body, Contact, Social], &[Opening, Told, Facts, Body, Closing, Social]]
        }
        "cart.main" => &[
            &[Opening, Featured, Offer, Told, Body, Contact, Social],
            &[Opening, Offer, Featured, Told, Body, Contact, Products],
        ],
        "cart.second" => {
            &[&[Opening, Featured, Body, Told, Offer, Contact, Closing], &[Opening, Body, Told, Contact, Offer, Products]]
        }
        "cart.last" => &[&[Opening, Offer, Featured, Body, Products], &[Opening, Body, Offer, Products, Closing]],
        "winback.main" => &[
            &[Opening, Body, Offer, Told, Products, Closing, Social],
            &[Opening, Told, Body, Offer, Knowledge, Products, Social],
        ],
        "winback.second" => {
            &[&[Opening, Products, Told, Body, Offer, Closing, Social], &[Opening, Products, Offer, Body, Knowledge, Social]]
        }
        "winback.last" => &[&[Opening, Body, Offer, Told, Closing], &[Opening, Told, Body, Offer, Social]],
        "review.main" | "review.reminder" => {
            &[&[Opening, Featured, Told, Body, Offer, Contact, Closing], &[Opening, Told, Body, Offer, Call, Contact, Closing]]
        }
        "receipt.main" => &[&[Opening, Order, Told, Body, Contact, Closing], &[Opening, Told, Order, Body, Contact, Closing]],
        "seasonal.teaser" => &[&[Opening, Body, Told, Deadline, Products, Social], &[Opening, Told, Products, Body, Social]],
        "seasonal.main" => &[
            &[Opening, Told, Products, Body, Offer, Pictures, Praise, Social],
            &[Opening, Told, Body, Offer, Products, Pictures, Closing, Social],
            &[Opening, Told, Body, Featured, Products, Offer, Pictures, Call, Social],
        ],
        "seasonal.last" => {
            &[&[Opening, Body, Offer, Products, Told, Social], &[Opening, Products, Body, Offer, Deadline, Social]]
        }
        "referral.main" => {
            &[&[Opening, Steps, Told, Offer, Body, Call, Social], &[Opening, Told, Body, Steps, Offer, Closing, Social]]
        }
        "referral.reminder" => {
            &[&[Opening, Body, Steps, Told, Offer, Call, Social], &[Opening, Told, Body, Offer, Closing, Social]]
        }
        "announcement.main" => &[
            &[Opening, Told, Facts, Pictures, Body, Call, Contact, Closing, Social],
            &[Opening, Told, Pictures, Offer, Body, Call, Closing, Social],
            &[Opening, Told, Facts, Offer, Body, Call, Contact, Products, Social],
        ],
        "shipping.main" => {
            &[&[Opening, Offer, Told, Body, Products, Call, Social], &[Opening, Told, Offer, Products, Body, Pictures, Social]]
        }
        "stock.main" => &[
            &[Opening, Featured, Told, Body, Pictures, Contact, Social],
            &[Opening, Told, Featured, Pictures, Body, Closing, Social],
        ],
        // A thank-you email sells nothing.
        "thanks.main" => &[&[Opening, Told, Offer, Body, Closing, Social], &[Opening, Body, Told, Offer, Pictures, Closing]],
        "tips.main" => &[
            &[Opening, Told, Knowledge, Pictures, Body, Contact, Social],
            &[Opening, Knowledge, Told, Pictures, Body, Products, Social],
        ],
        "apology.main" => &[&[Opening, Told, Facts, Offer, Body, Contact, Closing]],
        "maintenance.main" => &[&[Opening, Told, Facts, Body, Contact, Closing]],
        "moving.main" | "hours.main" | "closed.main" | "prices.main" | "job.main" => &[
            &[Opening, Told, Facts, Pictures, Body, Contact, Closing, Social],
            &[Opening, Told, Facts, Body, Call, Contact, Closing],
        ],
        "report.main" => &[&[Opening, Told, Pictures, Body, Closing, Social], &[Opening, Told, Knowledge, Body, Call, Social]],
        "announcement.reminder" => &[&[Opening, Told, Facts, Body, Call, Contact, Closing, Social]],
        "general.story" => &[&[Opening, Story, Body, Praise, Closing, Social], &[Opening, Story, Knowledge, Body, Social]],
        "general.picks" => {
            &[&[Opening, Products, Body, Offer, Social], &[Opening, Products, Praise, Offer, Body, Closing, Social]]
        }
        "general.spotlight" => &[&[Opening, Featured, Body, Offer, Social], &[Opening, Featured, Body, Praise, Contact, Social]],
        "general.help" => &[&[Opening, Contact, Body, Closing, Social], &[Opening, Body, Contact, Closing]],
        "general.social" => &[&[Opening, Social, Body, Closing], &[Opening, Body, Social]],
        "general.knowledge" => &[&[Opening, Knowledge, Body, Social], &[Opening, Knowledge, Products, Body, Social]],
        // The languages with one set of phrases for all purposes.
        _ => &[&[Opening, Told, Offer, Facts, Order, Story, Knowledge, Products, Contact, Social]],
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

/// Returns whether an email of this job starts with a picture of the brand; conversational emails do not.
pub fn opens_with_picture(job: &str) -> bool {
    let talks =
        ["cart.second", "cart.last", "winback.last", "review.reminder", "general.help", "apology.main", "maintenance.main"];
    !(job.starts_with("receipt") || job.starts_with("review") || talks.contains(&job))
}
