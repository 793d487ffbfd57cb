//! Finds brands in the restored state, which is a past state of the data from the continuous backup, and compares them with the current
//! brands.

use super::views::{BrandPreview, ContactsPreview, KindPreview, RestorableBrand};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Engine, Failure};
use crate::engine::backup::restored_copy::RestoredCopy;
use crate::engine::store::{Read, ReadTx, Result};
use crate::features::contacts::copy::{self as contacts, ContactsCopy, ReturnCounts, ReturnRule};
use crate::features::emails::copy as emails;
use crate::features::go_live::CopyKind;
use crate::features::go_live::copier::{block_twin, described, twin};
use crate::features::projects::copy::BrandPart;
use crate::features::projects::{self, Project};
use crate::features::segments::copy::SegmentCopy;
use crate::features::suppressions::Digester;
use crate::features::{saved_blocks, tags, topics};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, CopyIds, ProjectId};
use crate::vocab::limits;

/// A brand in the restored state, with its account and environment.
pub struct BackupBrand {
    pub account: AccountId,
    pub environment: Environment,
    pub project: Project,
}

/// Returns the brand with this ID in the restored state. If `account` is given, the brand must belong to this account.
pub fn find(copy: &RestoredCopy, account: Option<AccountId>, project: ProjectId) -> Result<Option<BackupBrand>> {
    for environment in Environment::ALL {
        let tx = copy.store(environment).read();
        let owner = match account {
            Some(account) => Some(account),
            None => projects::owner(&tx, project)?,
        };
        if let Some(account) = owner
            && let Some(project) = projects::find(&tx, account, project)?
        {
            return Ok(Some(BackupBrand { account, environment, project }));
        }
    }
    Ok(None)
}

/// Returns an account's brands in the restored state, live brands first.
pub fn list(engine: &Engine, copy: &RestoredCopy, account: AccountId) -> Result<Vec<RestorableBrand>> {
    let mut brands = Vec::new();
    for environment in [Environment::Live, Environment::Test] {
        let (then, now) = (copy.store(environment).read(), engine.data(environment).store.read());
        for project in projects::list(&then, account)?.into_iter().take(limits::RESTORE_BRANDS_SHOWN) {
            brands.push(RestorableBrand {
                project_id: project.id,
                environment: environment.word(),
                exists: projects::find(&now, account, project.id)?.is_some(),
                contacts: contacts::count(&then, project.id)?,
                contacts_now: contacts::count(&now, project.id)?,
                name: project.name,
                domain: project.domain,
            });
        }
    }
    Ok(brands)
}

/// Returns whether the brand is new to the store: the store has no brand with this ID, and has never assigned a number to a contact of this
/// brand.
pub fn is_fresh(now: &impl Read, account: AccountId, project: ProjectId) -> Result<bool> {
    Ok(projects::find(now, account, project)?.is_none() && contacts::next_number(now, project)? == 0)
}

/// Compares a brand in the restored state with the current brand. Reads all contacts of the brand.
pub fn preview(engine: &Engine, copy: &RestoredCopy, found: BackupBrand) -> std::result::Result<BrandPreview, Failure> {
    let BackupBrand { account, environment, project } = found;
    let (then, now, id) = (copy.store(environment).read(), engine.data(environment).store.read(), project.id);
    let ids = CopyIds::Same;
    let exists = projects::find(&now, account, id)?.is_some();
    let mut kinds = vec![KindPreview::new(CopyKind::Brand, [exists])];
    let parts = BrandPart::all(&then, id)?;
    for wanted in [CopyKind::Knowledge, CopyKind::Images, CopyKind::Products] {
        let of_kind = parts.iter().filter(|part| described(part).0 == wanted);
        let known: Result<Vec<bool>> = of_kind.map(|part| Ok(part.copy_in(&now, id, ids)?.is_some())).collect();
        kinds.push(KindPreview::new(wanted, known?));
    }
    let blocks_now = saved_blocks::all(&now, id)?;
    let known = saved_blocks::all(&then, id)?.into_iter().map(|block| block_twin(&blocks_now, &block, ids).is_some());
    kinds.push(KindPreview::new(CopyKind::Blocks, known));
    let known: Result<Vec<bool>> =
        tags::all(&then, id)?.iter().map(|tag| Ok(tags::number(&now, id, &tag.name)?.is_some())).collect();
    kinds.push(KindPreview::new(CopyKind::Tags, known?));
    let topics_now = topics::all(&now, id)?;
    let known = topics::all(&then, id)?.into_iter().map(|topic| twin(&topics_now, &topic, ids).is_some());
    kinds.push(KindPreview::new(CopyKind::Topics, known));
    let known: Result<Vec<bool>> =
        SegmentCopy::all(&then, id)?.iter().map(|segment| Ok(segment.target(&now, id, ids)?.1)).collect();
    kinds.push(KindPreview::new(CopyKind::Segments, known?));
    kinds.push(emails_preview(&then, &now, (account, id))?);
    let rule = ReturnRule {
        account,
        original: id,
        is_fresh: is_fresh(&now, account, id)?,
        with_deleted: false,
        replaces: false,
        tags: Vec::new(),
        digester: Digester::new(&engine.seal),
    };
    let contacts = contacts_preview(&then, &now, id, &rule)?;
    Ok(BrandPreview {
        project_id: id,
        name: project.name,
        domain: project.domain,
        environment: environment.word(),
        at: WireTime(copy.until),
        exists,
        kinds,
        contacts,
    })
}

fn emails_preview(then: &ReadTx, now: &ReadTx, (account, project): (AccountId, ProjectId)) -> Result<KindPreview> {
    let mut preview = KindPreview::new(CopyKind::Emails, []);
    for id in emails::conversations(then, account, project)? {
        let count = emails::count(then, account, id)?;
        preview.in_backup += count;
        if emails::exists(now, account, id)? {
            preview.existing += count;
        } else {
            preview.missing += count;
        }
    }
    Ok(preview)
}

fn contacts_preview(then: &ReadTx, now: &ReadTx, project: ProjectId, rule: &ReturnRule) -> Result<ContactsPreview> {
    let (mut sum, mut after) = (ReturnCounts::default(), None);
    loop {
        let batch = ContactsCopy::read(then, project, after, limits::RESTORE_CONTACTS_READ)?;
        sum += batch.preview(now, project, rule)?;
        let Some(next) = batch.next else { break };
        after = Some(next);
    }
    Ok(ContactsPreview {
        in_backup: sum.created + sum.updated + sum.unchanged + sum.deleted + sum.erased,
        missing: sum.created,
        existing: sum.updated + sum.unchanged,
        deleted: sum.deleted,
        erased: sum.erased,
    })
}
