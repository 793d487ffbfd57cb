//! TABLE: the mail services whose relays and events Mailmill supports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mail service, which relays mail and reports by webhook what happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MailService {
    /// Amazon Simple Email Service, whose events arrive through Amazon SNS.
    AmazonSes,
    Postmark,
    Mailgun,
    /// Twilio SendGrid.
    Sendgrid,
    /// Brevo, formerly Sendinblue.
    Brevo,
    Resend,
}

/// The facts about a mail service, for the dashboard and the documentation.
#[derive(Debug)]
pub struct MailServiceInfo {
    pub service: MailService,
    /// The service's name in the API.
    pub word: &'static str,
    /// The service's brand name.
    pub name: &'static str,
    /// The host names of the service's SMTP relays; `*` stands for a region. The dashboard suggests the first one.
    pub hosts: &'static [&'static str],
    pub port: u16,
    /// The user name for the relay, or where to find it.
    pub user: &'static str,
    /// The password for the relay, and where the service shows it.
    pub password: &'static str,
    /// A documented limit of the relay, or advice on which host to choose.
    pub relay_note: &'static str,
    /// The header that Mailmill adds to messages, so that the service returns Mailmill's reference in its events.
    pub header: &'static str,
    /// Where to enter the webhook's URL in the provider's settings, and which events to select.
    pub webhook: &'static str,
    /// The secret for the webhook, and where the service shows it.
    pub secret: &'static str,
    /// Whether Mailmill accepts the service's requests only once the secret is entered.
    pub needs_secret: bool,
}

/// All mail services, in the order of [`MailService`].
pub const MAIL_SERVICES: [MailServiceInfo; 6] = [
    MailServiceInfo {
        service: MailService::AmazonSes,
        word: "amazon_ses",
        name: "Amazon SES",
        hosts: &["email-smtp.*.amazonaws.com"],
        port: 587,
        user: "the SMTP user name",
        password: "the SMTP password, from SMTP settings in the SES console; it is not an AWS access key",
        relay_note: "one connection carries any number of messages; the sending rate and quota are under Account dashboard",
        header: "X-SES-MESSAGE-TAGS",
        webhook: "Create an SNS topic in the region of SES, and an HTTPS subscription with this URL; Mailmill confirms it. Then select the \
                  topic for bounces, complaints and deliveries: as an event destination of your configuration set, or under Notifications of \
                  your identity, with the original headers included.",
        secret: "the ARN of the topic, from the SNS console; there is no secret, because SNS signs with a certificate",
        needs_secret: false,
    },
    MailServiceInfo {
        service: MailService::Postmark,
        word: "postmark",
        name: "Postmark",
        hosts: &["smtp.postmarkapp.com", "smtp-broadcasts.postmarkapp.com"],
        port: 587,
        user: "the server API token",
        password: "the server API token again, from API Tokens of your server",
        relay_note: "campaigns need the host smtp-broadcasts.postmarkapp.com; smtp.postmarkapp.com is for transactional mail",
        header: "X-PM-Metadata-mailmill",
        webhook: "Open Webhooks of the message stream, add this URL, and select Delivery, Bounce, Spam Complaint and Subscription Change.",
        secret: "the basic authentication of the webhook, as user:password (optional: without it, only the secret in the URL protects \
                 the webhook)",
        needs_secret: false,
    },
    MailServiceInfo {
        service: MailService::Mailgun,
        word: "mailgun",
        name: "Mailgun",
        hosts: &["smtp.mailgun.org", "smtp.eu.mailgun.org"],
        port: 587,
        user: "the SMTP login of your domain, such as postmaster@mg.example.com",
        password: "the SMTP password, from SMTP credentials in the settings of your domain",
        relay_note: "domains in the EU region use the host smtp.eu.mailgun.org",
        header: "X-Mailgun-Variables",
        webhook: "Open Webhooks, and add this URL for Delivered Messages, Permanent Failure, Spam Complaints and Unsubscribes.",
        secret: "the HTTP webhook signing key, from API security in your account",
        needs_secret: true,
    },
    MailServiceInfo {
        service: MailService::Sendgrid,
        word: "sendgrid",
        name: "SendGrid",
        hosts: &["smtp.sendgrid.net", "smtp.eu.sendgrid.net"],
        port: 587,
        user: "the word apikey",
        password: "an API key with the permission Mail Send, from Settings, API Keys",
        relay_note: "up to 5,000 messages per connection",
        header: "X-SMTPAPI",
        webhook: "Open Settings, Mail Settings, Event Webhooks, and add this URL. Select Delivered, Bounced, Dropped, Spam Reports, \
                  Unsubscribes and Group Unsubscribes, and enable Signed Event Webhook.",
        secret: "the verification key, which the webhook shows after you enable the signature",
        needs_secret: true,
    },
    MailServiceInfo {
        service: MailService::Brevo,
        word: "brevo",
        name: "Brevo",
        hosts: &["smtp-relay.brevo.com", "smtp-relay.sendinblue.com"],
        port: 587,
        user: "the SMTP login",
        password: "an SMTP key, from SMTP & API in the settings; it is not an API key",
        relay_note: "the plan limits the emails per day or month",
        header: "X-Mailin-custom",
        webhook: "Open Transactional, Settings, Webhook, and add this URL with token authentication. Select Delivered, Hard bounced, Soft \
                  bounced, Blocked, Invalid email, Complaint and Unsubscribed.",
        secret: "the token that you entered for the webhook at Brevo, or its user:password",
        needs_secret: true,
    },
    MailServiceInfo {
        service: MailService::Resend,
        word: "resend",
        name: "Resend",
        hosts: &["smtp.resend.com"],
        port: 587,
        user: "the word resend",
        password: "an API key, from API Keys",
        relay_note: "the plan limits the requests per second and the emails per day or month",
        header: "X-Mailmill-Message",
        webhook: "Open Webhooks, add this URL, and select email.delivered, email.bounced, email.complained, email.suppressed and \
                  email.failed.",
        secret: "the signing secret of the webhook, which starts with whsec_",
        needs_secret: true,
    },
];

impl MailService {
    pub const ALL: [Self; 6] = [Self::AmazonSes, Self::Postmark, Self::Mailgun, Self::Sendgrid, Self::Brevo, Self::Resend];

    /// Returns the entry of this service in [`MAIL_SERVICES`].
    pub fn info(self) -> &'static MailServiceInfo {
        &MAIL_SERVICES[self as usize]
    }

    /// Returns the service that operates a relay with this host; `None` for other hosts.
    pub fn of_host(host: &str) -> Option<Self> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let is_own = |pattern: &&str| match pattern.split_once('*') {
            None => **pattern == host,
            Some((start, end)) => host
                .strip_prefix(start)
                .and_then(|rest| rest.strip_suffix(end))
                .is_some_and(|region| !region.is_empty() && !region.contains('.')),
        };
        Self::ALL.into_iter().find(|service| service.info().hosts.iter().any(is_own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_is_at_its_index_with_a_name_of_its_own() {
        for (index, info) in MAIL_SERVICES.iter().enumerate() {
            assert_eq!((info.service as usize, MailService::ALL[index]), (index, info.service));
            assert_eq!(serde_json::to_value(info.service).expect("a word"), info.word);
            assert!(!info.hosts.is_empty() && !info.webhook.is_empty() && !info.secret.is_empty(), "{}", info.word);
        }
    }

    #[test]
    fn relays_are_recognized_by_their_host() {
        for (host, expected) in [
            ("email-smtp.eu-west-1.amazonaws.com", Some(MailService::AmazonSes)),
            ("Email-SMTP.us-east-1.amazonaws.com.", Some(MailService::AmazonSes)),
            ("email-smtp.a.b.amazonaws.com", None),
            ("email-smtp..amazonaws.com", None),
            ("evil.example.email-smtp.eu-west-1.amazonaws.com", None),
            ("smtp-broadcasts.postmarkapp.com", Some(MailService::Postmark)),
            ("smtp.eu.mailgun.org", Some(MailService::Mailgun)),
            ("smtp.sendgrid.net", Some(MailService::Sendgrid)),
            ("smtp-relay.brevo.com", Some(MailService::Brevo)),
            ("smtp.resend.com", Some(MailService::Resend)),
            ("smtp.resend.com.example", None),
        ] {
            assert_eq!(MailService::of_host(host), expected, "{host}");
        }
    }
}
