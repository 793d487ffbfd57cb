//! The page about the user's sign-in: password, authenticator app and sessions.

use serde::Serialize;
use serde_json::json;

use crate::base::qr;
use crate::engine::api::Done;
use crate::features::accounts;
use crate::features::accounts::user_views::{SessionState, SessionView};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::codes::Code;

#[derive(Serialize)]
pub struct SecurityPage {
    /// The name of the submitted form.
    act: String,
    sessions: Vec<NamedSession>,
    session: SessionState,
    app: App,
}

#[derive(Serialize)]
struct NamedSession {
    #[serde(flatten)]
    session: SessionView,
    program: Option<String>,
}

/// The state of the user's authenticator app after a form is submitted, with the details that are shown only once.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
enum App {
    None,
    Unconfirmed { secret: String, uri: String, qr: Option<QrCode> },
    Confirmed { codes: Vec<String> },
    Renewed { codes: Vec<String> },
}

#[derive(Serialize)]
struct QrCode {
    size: usize,
    path: String,
}

page_context!(SecurityPage, "security.html", {
    let named = |agent: &str, current| NamedSession {
        program: program(agent),
        session: SessionView { agent: agent.into(), current, ..SessionView::sample() },
    };
    let page = |app, session: SessionState| Self {
        act: "password".into(),
        sessions: vec![named("Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0", true), named("Shop 1.2", false)],
        session,
        app,
    };
    let session = |second_factor, left| SessionState {
        second_factor,
        recovery_codes_left: second_factor.then_some(left),
        ..SessionState::sample()
    };
    let codes = || vec!["ABCD-EFGH".to_owned()];
    let uri = "otpauth://totp/Mailmill:ada@example.com?secret=JBSWY3DPEHPK3PXP";
    let mut samples = vec![
        page(unconfirmed("JBSWY3DPEHPK3PXP".into(), uri), session(false, 0)),
        page(unconfirmed("JBSWY3DPEHPK3PXP".into(), "elsewhere"), session(false, 0)),
        page(App::Confirmed { codes: codes() }, session(true, 8)),
        page(App::Renewed { codes: codes() }, session(true, 8)),
        page(App::None, session(false, 0)),
    ];
    samples.extend([0, 1, 8].map(|left| page(App::None, session(true, left))));
    samples
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, App::None, None).await
}

async fn draw(visit: &Visit, app: App, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let Done(sessions) = visit.ask::<accounts::ops::session_list::SessionList>(json!({})).await?;
    let Done(session) = visit.ask::<accounts::ops::session::State>(json!({})).await?;
    let named = |session: SessionView| NamedSession { program: program(&session.agent), session };
    let context = SecurityPage {
        act: visit.form.get("act").to_owned(),
        sessions: sessions.sessions.into_iter().map(named).collect(),
        session,
        app,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    match form.get("act") {
        "password" => {
            let input = json!({ "current": form.raw("current"), "code": form.some("code"), "password": form.raw("password") });
            match visit.ask::<accounts::ops::password::ChangePassword>(input).await {
                Ok(_) => Ok(PageResponse::redirect(format!("{}?done=password", visit.path))),
                Err(error) if error.code == Some(Code::NotSignedIn) => Err(error),
                Err(error) => draw(visit, App::None, Some(error)).await,
            }
        }
        "end" => {
            visit.ask::<accounts::ops::session_end::SessionEnd>(json!({ "id": form.get("id") })).await?;
            Ok(PageResponse::redirect(format!("{}?done=end", visit.path)))
        }
        "app" => {
            let Done(app) = visit.ask::<accounts::ops::totp_begin::TotpBegin>(json!({})).await?;
            draw(visit, unconfirmed(app.secret, &app.uri), None).await
        }
        "app-confirm" => match visit.ask::<accounts::ops::totp_confirm::TotpConfirm>(json!({ "code": form.get("code") })).await {
            Ok(Done(made)) => draw(visit, App::Confirmed { codes: made.recovery_codes }, None).await,
            Err(error) if error.code == Some(Code::SignInFailed) => {
                draw(visit, unconfirmed(form.get("secret").to_owned(), form.get("uri")), Some(error)).await
            }
            Err(error) => Err(error),
        },
        "codes" => {
            let Done(made) = visit.ask::<accounts::ops::recovery_codes::RenewRecoveryCodes>(json!({})).await?;
            draw(visit, App::Renewed { codes: made.recovery_codes }, None).await
        }
        "app-remove" => {
            visit.ask::<accounts::ops::totp_remove::TotpRemove>(json!({})).await?;
            Ok(PageResponse::redirect(format!("{}?done=app-remove", visit.path)))
        }
        _ => Err(PageError::unknown_action()),
    }
}

/// Returns the details of an authenticator app that is being set up: the secret, the URI, and a QR code of the URI.
fn unconfirmed(secret: String, uri: &str) -> App {
    // After a wrong code, the URI comes from the form and is untrusted, so other kinds of URIs are rejected.
    let uri = if uri.starts_with("otpauth://totp/") { uri } else { "" };
    let qr = qr::draw(uri).map(|code| QrCode { size: code.size, path: code.path });
    App::Unconfirmed { secret, uri: uri.to_owned(), qr }
}

/// TABLE: tokens in the User-Agent header, with the browsers that they identify. The most specific tokens come first, because Edge and
/// Opera also send `Chrome/` and `Safari/`.
const BROWSERS: [(&str, &str); 6] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];

/// TABLE: tokens in the User-Agent header, with the operating systems that they identify.
const SYSTEMS: [(&str, &str); 6] = [
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "a Mac"),
    ("Linux", "Linux"),
];

/// Returns the browser and operating system named in a User-Agent header; `None` if the browser is unknown.
fn program(agent: &str) -> Option<String> {
    let known = |table: &[(&str, &'static str)]| table.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
    let browser = known(&BROWSERS)?;
    Some(known(&SYSTEMS).map_or_else(|| browser.to_owned(), |system| format!("{browser} on {system}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_browsers_are_named_and_others_are_not() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
        assert_eq!(program(chrome).as_deref(), Some("Chrome on Linux"));
        assert_eq!(program(&format!("{chrome} Edg/156.0")).as_deref(), Some("Edge on Linux"));
        let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1 Version/26.0 Mobile Safari/604.1";
        assert_eq!(program(safari).as_deref(), Some("Safari on an iPhone"));
        assert_eq!(program("curl/8.5").as_deref(), Some("curl"));
        assert_eq!(program("Shop 1.2"), None);
    }
}
