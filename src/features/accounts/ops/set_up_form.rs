//! Handles the form of the set-up page: the owner's email and password.

use serde::Deserialize;
use serde_json::{Value, json};

use super::set_up::create_owner;
use super::set_up_page::{SetUpLink, link_works};
use crate::base::email::EmailAddress;
use crate::base::secret::{Secret, sha256};
use crate::engine::api::call::body_failure;
use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::engine::store::WriteTx;
use crate::features::accounts::model::Password;
use crate::features::accounts::pages::{Form, Page};
use crate::features::accounts::{api_keys, members, password_hash, store};
use crate::vocab::codes::Code;
use crate::vocab::limits;

pub struct SetUpForm;

/// The raw fields of the form.
#[derive(Deserialize)]
struct Fields {
    #[serde(default)]
    email: String,
    password: Option<Secret>,
}

impl Operation for SetUpForm {
    const SPEC: Spec = Spec::post("accounts.set_up_form", "/setup/{token}", public())
        .summary("Submit the set-up form")
        .about("Takes the page's form (application/x-www-form-urlencoded) with email and password.");
    type Input = SetUpLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "0123456789abcdefghijABCDEFGHIJ01" }), Bare)
    }
}

impl Raw for SetUpForm {
    const MEDIA: Media = Media::PAGE;

    async fn run(context: Context, input: SetUpLink, request: RawRequest) -> Result<Reply, Failure> {
        let random = context.engine.random.clone();
        // Without a working link, no further work is done.
        if !link_works(&context, &input.token)? {
            return Ok(Page::Gone.reply(random.as_ref()));
        }
        let max = limits::SETUP_FORM_BYTES_MAX;
        let body = request.body.collect(max).await.map_err(|error| body_failure(error, max))?;
        let fields: Fields = serde_urlencoded::from_bytes(&body)
            .map_err(|_| Failure::because(Code::InvalidRequest, "The form cannot be read; open the set-up link again."))?;
        let page = match checked(&fields) {
            Err(form) => Page::Form(form),
            Ok((email, password)) => set_up(&context, &input.token, email, password).await?,
        };
        Ok(page.reply(random.as_ref()))
    }
}

/// Returns the owner's credentials, or the form with its errors.
fn checked(fields: &Fields) -> Result<(EmailAddress, Password), Form> {
    let email = EmailAddress::parse(&fields.email);
    let password: Result<Password, _> = fields.password.as_ref().map_or("", |password| password.expose().as_str()).parse();
    // Checked here so that the error appears at its field; hashing checks again.
    let password = password.and_then(|password| password.fits(&fields.email).map(|()| password));
    match (email, password) {
        (Ok(email), Ok(password)) => Ok((email, password)),
        (email, password) => Err(Form {
            email: fields.email.clone(),
            email_error: email.err().map(|error| error.to_string()),
            password_error: password.err().map(|error| error.to_string()),
        }),
    }
}

async fn set_up(context: &Context, token: &str, email: EmailAddress, password: Password) -> Result<Page, Failure> {
    let password = password_hash::hash(password, email.as_str(), context.engine.random.as_ref()).await?;
    let plan = context.engine.settings.accounts.owner_plan.clone();
    let digest = sha256(token.as_bytes());
    let envelope = context.envelope;
    let write = move |tx: &mut WriteTx<'_>| {
        // Checked again inside the transaction: of two concurrent forms, only one still finds the link.
        if !store::link_works(tx, digest, tx.now())? {
            return Err(Failure::new(Code::AlreadySetUp));
        }
        store::delete_link(tx, digest);
        create_owner(tx, &plan, &email, password, envelope)
    };
    let _turn = api_keys::CACHE_LOCK.lock().await;
    match context.engine.control.write(write).await? {
        Ok((owner, user)) => {
            members::update_cache(&context.engine, &user)?;
            Ok(Page::Done { email: owner.email })
        }
        Err(failure) if failure.code == Code::AlreadySetUp => Ok(Page::Gone),
        Err(failure) => Err(failure),
    }
}
