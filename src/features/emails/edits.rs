//! Edits of emails by prompt: each makes a version, whole, in the transaction that says that it is done.
//!
//! An edit is a row before anything else happens, whoever waits for it; so it survives a restart like everything in a queue.

use super::drawing;
use super::generation::Mill;
use super::generation::stages::{brief, date, document};
use super::model::{Edit, EditState, Email, Origin, Pictures, Stage, Version};
use super::writing::material;
use super::writing::{Edited, Wish, Writer};
use super::{store, versions};
use crate::engine::api::Failure;
use crate::engine::language_model::Usage;
use crate::engine::store::{self as rows, WriteTx};
use crate::vocab::ids::EditId;
use crate::vocab::limits;

/// What the work on an edit came to, before it is kept.
enum Outcome {
    Made(Box<Edited>, Box<drawing::Drawn>, drawing::Painted, Usage),
    /// It cannot be done, and why.
    Nothing(String, Usage),
}

/// Do an edit that waits.
pub async fn work(mill: &Mill, id: EditId) -> Result<(), Failure> {
    let Some(edit) = claim(mill, id).await? else { return Ok(()) };
    let email = store::email(&mill.world.store.read(), edit.account, edit.email)?;
    let Some(email) = email else {
        return end(mill, edit, None, Outcome::Nothing("There is no such email any more.".into(), Usage::default())).await;
    };
    let outcome = attempt(mill, &edit, &email).await?;
    end(mill, edit, Some(email), outcome).await
}

/// Begin, unless it is done, or was begun too often.
async fn claim(mill: &Mill, id: EditId) -> Result<Option<Edit>, Failure> {
    let claim = move |tx: &mut WriteTx<'_>| -> Result<Option<Edit>, rows::Error> {
        let Some(mut edit) = store::any_edit(tx, id)? else {
            store::close_edit(tx, id);
            return Ok(None);
        };
        edit.attempts += 1;
        edit.updated_at = tx.now();
        let is_hopeless = edit.attempts > limits::EMAIL_ATTEMPTS_MAX;
        edit.state = match is_hopeless {
            true => EditState::Failed("It was interrupted again and again; ask for it once more.".into()),
            false => EditState::Processing,
        };
        if is_hopeless {
            store::close_edit(tx, id);
        }
        store::save_edit(tx, &edit);
        Ok((!is_hopeless).then_some(edit))
    };
    Ok(mill.world.store.write(claim).await??)
}

async fn attempt(mill: &Mill, edit: &Edit, email: &Email) -> Result<Outcome, Failure> {
    let nothing = |reason: &str| Ok(Outcome::Nothing(reason.to_owned(), Usage::default()));
    if email.stage != Stage::Ready {
        return nothing("The email is not ready yet, or could not be made; only finished emails can be edited.");
    }
    let tx = mill.world.store.read();
    let Some(document) = document(&tx, email)? else {
        return nothing("The email was handed in as HTML; only emails that were written here can be edited by a prompt.");
    };
    let conversation = store::conversation(&tx, edit.account, email.conversation)?;
    let conversation = conversation.ok_or_else(|| Failure::internal("an email has a conversation"))?;
    let material = material::gather(&tx, edit.account, email.project, &conversation.wanted)?;
    let brief = brief(&tx, edit.account, &conversation, email)?;
    drop(tx);
    let writer = Writer::named(&conversation.wanted.model, &mill.engine).unwrap_or_else(|_| Writer::preferred(&mill.engine));
    let wish = Wish { document, prompt: edit.prompt.clone(), brief, today: date(mill.engine.clock.now()) };
    let (edited, usage) = writer.edit(wish, material.into()).await;
    let edited = match edited {
        Ok(edited) => edited,
        Err(reason) => return Ok(Outcome::Nothing(reason, usage)),
    };
    let (store, account) = (mill.world.store.clone(), edit.account);
    let document = edited.document.clone();
    let drawing = tokio::task::spawn_blocking(move || drawing::texts(&store.read(), account, &conversation, &document));
    let mut drawn = drawing.await.map_err(Failure::internal)??;
    let (painted, warnings) = drawing::pictures(&mill.engine, &drawn.texts.html).await?;
    drawn.warnings.extend(warnings);
    Ok(Outcome::Made(Box::new(edited), Box::new(drawn), painted, usage))
}

/// Keep what was made and say that the edit is done. If the email has changed meanwhile, nothing is kept and the edit stays in the
/// queue: it is done again, on what there is now.
async fn end(mill: &Mill, edit: Edit, seen: Option<Email>, outcome: Outcome) -> Result<(), Failure> {
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        let Some(mut edit) = store::any_edit(tx, edit.id)?.filter(|found| found.state == EditState::Processing) else {
            return Ok(());
        };
        let email = store::email(tx, edit.account, edit.email)?;
        let usage = match &outcome {
            Outcome::Made(.., usage) | Outcome::Nothing(_, usage) => *usage,
        };
        if let Some(email) = &email
            && let Some(mut conversation) = store::conversation(tx, edit.account, email.conversation)?
        {
            conversation.usage = conversation.usage.plus(usage);
            store::save_conversation(tx, edit.account, &conversation);
        }
        edit.updated_at = tx.now();
        if let Outcome::Made(edited, ..) = &outcome {
            edit.done = edited.done.clone();
        }
        edit.state = match (outcome, email, seen) {
            (Outcome::Made(edited, drawn, painted, _), Some(mut email), Some(seen)) => {
                if email.version != seen.version {
                    return Ok(());
                }
                // A translation is in another language than before.
                email.language = edited.document.language.as_str().to_owned();
                let pictures = painted.keep(tx);
                let version = version(&edit, *edited, &drawn, pictures);
                EditState::Completed(versions::add(tx, edit.account, &mut email, version, drawn.texts)?)
            }
            (Outcome::Nothing(reason, _), ..) => EditState::Failed(reason),
            (Outcome::Made(..), ..) => EditState::Failed("There is no such email any more.".into()),
        };
        store::close_edit(tx, edit.id);
        store::save_edit(tx, &edit);
        Ok(())
    };
    Ok(mill.world.store.write(keep).await??)
}

fn version(edit: &Edit, edited: Edited, drawn: &drawing::Drawn, pictures: Pictures) -> Version {
    let document = edited.document;
    Version {
        number: 0,
        origin: Origin::Edited { prompt: edit.prompt.clone(), label: edit.label.clone() },
        subject: document.subject.as_str().to_owned(),
        preheader: document.preheader.as_str().to_owned(),
        document: Some(document.to_json().to_string()),
        warnings: drawn.warnings.clone(),
        pictures,
        facts: drawn.facts.clone(),
        created_at: edit.created_at,
    }
}
