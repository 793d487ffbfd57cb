//! Messages of Amazon SNS: their signatures and URLs (docs.aws.amazon.com/sns, Verifying the signatures of Amazon SNS messages).
//!
//! The URLs in a message are not trusted. The URL of the certificate must be an Amazon URL for the topic's region, and the URL that
//! confirms a subscription is built here from the topic.

use data_encoding::BASE64;
use ring::signature::{
    RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY, RSA_PKCS1_2048_8192_SHA256, RsaParameters, UnparsedPublicKey,
};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde::Deserialize;
use url::Url;
use x509_parser::parse_x509_certificate;

use super::{FeedbackEvent, Refusal, Report, amazon_ses, recent};
use crate::base::clock::Timestamp;
use crate::vocab::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum MessageType {
    Notification,
    SubscriptionConfirmation,
    UnsubscribeConfirmation,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Message {
    #[serde(rename = "Type")]
    pub kind: MessageType,
    pub message_id: String,
    pub topic_arn: String,
    #[serde(rename = "Message")]
    pub text: String,
    pub timestamp: String,
    pub signature_version: String,
    pub signature: String,
    #[serde(rename = "SigningCertURL")]
    pub signing_cert_url: String,
    pub subject: Option<String>,
    #[serde(rename = "SubscribeURL")]
    pub subscribe_url: Option<String>,
    pub token: Option<String>,
}

/// The public key of a certificate, in DER (PKCS #1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(pub Vec<u8>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic<'a> {
    region: &'a str,
    /// The domain of SNS hosts, which is different in China.
    domain: &'static str,
}

impl<'a> Topic<'a> {
    /// Parses an ARN such as `arn:aws:sns:us-east-1:123456789012:bounces`.
    pub fn parse(arn: &'a str) -> Option<Self> {
        let mut parts = arn.split(':');
        let head = [parts.next()?, parts.next()?, parts.next()?];
        let (region, account, name) = (parts.next()?, parts.next()?, parts.next()?);
        let domain = match head {
            ["arn", "aws" | "aws-us-gov", "sns"] => "amazonaws.com",
            ["arn", "aws-cn", "sns"] => "amazonaws.com.cn",
            _ => return None,
        };
        let is_word =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        (is_region(region) && is_account && is_word(name) && parts.next().is_none()).then_some(Self { region, domain })
    }

    fn host(&self) -> String {
        format!("sns.{}.{}", self.region, self.domain)
    }

    fn confirmation(&self, arn: &str, token: &str) -> Url {
        let mut url = Url::parse(&format!("https://{}/", self.host())).expect("the region has only letters, digits and hyphens");
        url.query_pairs_mut()
            .append_pair("Action", "ConfirmSubscription")
            .append_pair("TopicArn", arn)
            .append_pair("Token", token)
            .append_pair("Version", "2010-03-31");
        url
    }
}

/// Returns whether `text` looks like a region, such as `us-gov-west-1`. Without this check, the host name built from the ARN could belong
/// to another Amazon service, which serves other customers' content.
fn is_region(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    match parts.as_slice() {
        [area, words @ .., number] => {
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            area.len() == 2 && is_word(area) && !words.is_empty() && words.iter().all(is_word) && is_number
        }
        _ => false,
    }
}

impl Message {
    pub fn parse(body: &[u8]) -> Result<Self, Refusal> {
        serde_json::from_slice(body).map_err(|_| Refusal::Malformed)
    }

    /// Returns the URL of the certificate, if it is an Amazon URL for the topic's region.
    pub fn certificate_url(&self) -> Result<Url, Refusal> {
        let topic = Topic::parse(&self.topic_arn).ok_or(Refusal::TopicUnknown)?;
        let url = Url::parse(&self.signing_cert_url).map_err(|_| Refusal::SignatureWrong)?;
        let name = url.path().strip_prefix("/SimpleNotificationService-").and_then(|rest| rest.strip_suffix(".pem"));
        let is_file = name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let is_plain = url.port().is_none() && url.query().is_none() && url.fragment().is_none();
        let is_open = url.username().is_empty() && url.password().is_none();
        let is_amazons = url.scheme() == "https" && url.host_str() == Some(topic.host().as_str());
        if is_amazons && is_file && is_plain && is_open { Ok(url) } else { Err(Refusal::SignatureWrong) }
    }

    /// Checks that the signature is valid and that the message is recent.
    pub fn verify(&self, key: &PublicKey, now: Timestamp) -> Result<(), Refusal> {
        let algorithm: &RsaParameters = match self.signature_version.as_str() {
            "1" => &RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
            "2" => &RSA_PKCS1_2048_8192_SHA256,
            _ => return Err(Refusal::SignatureWrong),
        };
        let signature = BASE64.decode(self.signature.as_bytes()).map_err(|_| Refusal::SignatureWrong)?;
        let key = UnparsedPublicKey::new(algorithm, &key.0);
        key.verify(self.signed_text().as_bytes(), &signature).map_err(|_| Refusal::SignatureWrong)?;
        let at: jiff::Timestamp = self.timestamp.parse().map_err(|_| Refusal::Malformed)?;
        recent(Timestamp(at.as_millisecond()), now, limits::MAIL_FEEDBACK_AGE_MAX_MS)
    }

    /// Returns the text that the signature covers: names and values, each on its own line.
    pub fn signed_text(&self) -> String {
        let is_notification = self.kind == MessageType::Notification;
        let fields = [
            ("Message", Some(self.text.as_str())),
            ("MessageId", Some(self.message_id.as_str())),
            ("Subject", self.subject.as_deref().filter(|_| is_notification)),
            ("SubscribeURL", self.subscribe_url.as_deref().filter(|_| !is_notification)),
            ("Timestamp", Some(self.timestamp.as_str())),
            ("Token", self.token.as_deref().filter(|_| !is_notification)),
            ("TopicArn", Some(self.topic_arn.as_str())),
            (
                "Type",
                Some(match self.kind {
                    MessageType::Notification => "Notification",
                    MessageType::SubscriptionConfirmation => "SubscriptionConfirmation",
                    MessageType::UnsubscribeConfirmation => "UnsubscribeConfirmation",
                }),
            ),
        ];
        fields.into_iter().filter_map(|(name, value)| Some(format!("{name}\n{}\n", value?))).collect()
    }

    /// Returns the URL that confirms the subscription. Fails if the message has no confirmation token.
    pub fn confirmation_url(&self) -> Result<Url, Refusal> {
        let topic = Topic::parse(&self.topic_arn).ok_or(Refusal::TopicUnknown)?;
        let token = self.token.as_deref().filter(|token| !token.is_empty()).ok_or(Refusal::Malformed)?;
        Ok(topic.confirmation(&self.topic_arn, token))
    }

    /// Returns the event of a notification.
    pub fn report(&self) -> Result<Report, Refusal> {
        let event: FeedbackEvent = amazon_ses::read(&self.text)?;
        Ok(Report { id: Some(self.message_id.clone()), events: vec![event] })
    }
}

impl PublicKey {
    /// Reads the key of a certificate in PEM. The certificate must be valid now and name an SNS host. Amazon serves the certificate
    /// without its issuers, so only the connection to Amazon's host proves its origin.
    pub fn of_certificate(pem: &[u8], now: Timestamp) -> Result<Self, Refusal> {
        let der = CertificateDer::from_pem_slice(pem).map_err(|_| Refusal::SignatureWrong)?;
        let (_, certificate) = parse_x509_certificate(&der).map_err(|_| Refusal::SignatureWrong)?;
        let names = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
        let is_amazons =
            |name: &str| name.starts_with("sns") && (name.ends_with(".amazonaws.com") || name.ends_with(".amazonaws.com.cn"));
        let validity = certificate.validity();
        let is_valid = (validity.not_before.timestamp()..=validity.not_after.timestamp()).contains(&now.seconds());
        if !is_valid || !names.into_iter().any(is_amazons) {
            return Err(Refusal::SignatureWrong);
        }
        Ok(Self(certificate.public_key().subject_public_key.data.to_vec()))
    }
}
