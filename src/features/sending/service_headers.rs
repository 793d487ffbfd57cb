//! Writes the headers that mail services copy into their events, so that an event can be matched to its message. The Message-ID is not
//! sufficient, because some services replace it.

use url::Url;

use crate::engine::mail::feedback::TOKEN_FIELD;
use crate::engine::mail::headers::ExtraHeader;
use crate::vocab::mail_services::MailService;
use crate::vocab::settings::Settings;

/// Returns the mail services that operate the configured relays.
pub fn relay_services(settings: &Settings) -> Vec<MailService> {
    let hosts = settings.mail.relay.iter().filter_map(|relay| Url::parse(relay.expose()).ok()?.host_str().map(str::to_owned));
    let mut services: Vec<MailService> = hosts.filter_map(|host| MailService::of_host(&host)).collect();
    services.sort_unstable();
    services.dedup();
    services
}

/// Returns one header per service. Each header contains `reference`, which identifies the message.
pub fn service_headers(services: &[MailService], reference: &str) -> Vec<ExtraHeader> {
    let json = || format!("{{\"{TOKEN_FIELD}\":\"{reference}\"}}");
    let value = |service| match service {
        MailService::AmazonSes => format!("{TOKEN_FIELD}={reference}"),
        MailService::Postmark | MailService::Brevo | MailService::Resend => reference.to_owned(),
        MailService::Mailgun => json(),
        MailService::Sendgrid => format!("{{\"unique_args\":{}}}", json()),
    };
    let header = |service: &MailService| ExtraHeader::parse(service.info().header, &value(*service));
    services
        .iter()
        .map(|service| header(service).expect("the header is valid, because a reference has letters and digits"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::secret::Secret;
    use crate::engine::settings;

    #[test]
    fn every_service_among_the_relays_gets_its_header() {
        let mut settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the default settings are valid");
        assert_eq!(relay_services(&settings), []);
        let relays = [
            "smtp://a:b@smtp.postmarkapp.com",
            "smtps://a:b@email-smtp.eu-west-1.amazonaws.com",
            "smtp://a:b@SMTP.postmarkapp.com:2525",
            "smtp://mail.example.com",
        ];
        settings.mail.relay = relays.map(|relay| Secret::new(relay.to_owned())).into();
        assert_eq!(relay_services(&settings), [MailService::AmazonSes, MailService::Postmark]);
        let mut written = Vec::new();
        service_headers(&MailService::ALL, "abc234").iter().for_each(|header| header.write(&mut written));
        let lines = [
            "X-SES-MESSAGE-TAGS: mailmill=abc234",
            "X-PM-Metadata-mailmill: abc234",
            "X-Mailgun-Variables: {\"mailmill\":\"abc234\"}",
            "X-SMTPAPI: {\"unique_args\":{\"mailmill\":\"abc234\"}}",
            "X-Mailin-custom: abc234",
            "X-Mailmill-Message: abc234",
        ];
        assert_eq!(String::from_utf8_lossy(&written).lines().collect::<Vec<_>>(), lines);
    }
}
