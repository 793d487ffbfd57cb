//! The statuses of the contacts.

/// The status of a contact on a platform. Initially, it depends on the contact's number: of ten contacts, six are subscribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Subscribed,
    Unsubscribed,
    Bounced,
    Silent,
    Complained,
}

pub fn standing(number: usize) -> Standing {
    match number % 10 {
        0..=5 => Standing::Subscribed,
        6 => Standing::Unsubscribed,
        7 => Standing::Bounced,
        8 => Standing::Silent,
        _ => Standing::Complained,
    }
}
