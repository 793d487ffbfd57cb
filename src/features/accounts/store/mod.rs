//! The tables of accounts, users and keys, and all access to them.

pub mod claims;
pub mod grants;
pub mod sign_in;

use std::ops::ControlFlow;

use crate::base::clock::Timestamp;
use crate::base::day;
use crate::engine::store::key::Key as _;
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::accounts::model::{Account, FormerMember, Key, KeyUsage, SetupLink, User};
use crate::vocab::ids::{AccountId, KeyId, UserId};
use crate::vocab::limits;
use crate::vocab::tables;

const ACCOUNTS: Table<AccountId, Account> = Table::new(tables::ACCOUNTS);
const USERS: Table<UserId, User> = Table::new(tables::USERS);
const USERS_BY_EMAIL: Table<String, UserIdRow> = Table::new(tables::USERS_BY_EMAIL);
const FORMER_MEMBERS: Table<UserId, FormerMember> = Table::new(tables::FORMER_MEMBERS);
const KEYS: Table<KeyId, Key> = Table::new(tables::KEYS);
const USAGE: Table<KeyId, KeyUsage> = Table::new(tables::KEY_USAGE);
/// The number of requests made with a key on a UTC day. Days are numbered from 1970-01-01.
const DAYS: Table<(KeyId, u32), i64> = Table::new(tables::KEY_DAYS);
const LINKS: Table<[u8; 32], SetupLink> = Table::new(tables::SETUP_LINKS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[
    RowCheck::of(ACCOUNTS),
    RowCheck::of(USERS),
    RowCheck::of(USERS_BY_EMAIL),
    RowCheck::of(FORMER_MEMBERS),
    RowCheck::of(KEYS),
    RowCheck::of(USAGE),
    RowCheck::of(DAYS),
    RowCheck::of(LINKS),
];

/// The ID of the user whose normalized email is the key of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct UserIdRow(UserId);

impl crate::engine::store::Record for UserIdRow {}

/// Returns the installation's own account, which is the oldest account, if any account exists.
pub fn account(tx: &impl Read) -> Result<Option<Account>> {
    // Rows are sorted by ID, and an ID starts with its creation time in seconds, so the oldest account is among the first rows.
    let first = tx.list(ACCOUNTS, &Span::default(), Order::Forward, 100)?;
    Ok(first.into_iter().map(|(_, account)| account).min_by_key(|account| account.created_at))
}

/// Returns the installation's own account. If no account exists, creates one on the plan `plan`.
pub fn ensure_account(tx: &mut WriteTx<'_>, plan: &str) -> Result<Account> {
    if let Some(account) = account(tx)? {
        return Ok(account);
    }
    let account = Account { id: AccountId::make(tx.now(), tx.random()), plan: plan.to_owned(), created_at: tx.now() };
    tx.put(ACCOUNTS, &account.id, &account);
    Ok(account)
}

pub fn account_of(tx: &impl Read, id: AccountId) -> Result<Option<Account>> {
    tx.get(ACCOUNTS, &id)
}

pub fn has_user(tx: &impl Read) -> Result<bool> {
    let mut found = false;
    tx.visit_bytes(USERS.id, &Span::default(), Order::Forward, &mut |_, _| {
        found = true;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Saves a new user. `normalized` is the user's normalized email; the caller has checked that no other user has this email.
pub fn save_user(tx: &mut WriteTx<'_>, user: &User, normalized: &str) {
    tx.put(USERS, &user.id, user);
    tx.put(USERS_BY_EMAIL, &normalized.to_owned(), &UserIdRow(user.id));
}

pub fn update_user(tx: &mut WriteTx<'_>, user: &User) {
    tx.put(USERS, &user.id, user);
}

/// Deletes a user. Their email is kept for the audit log.
pub fn delete_user(tx: &mut WriteTx<'_>, user: &User, normalized: &str) {
    let former = FormerMember { email: user.email.clone(), left_at: tx.now() };
    tx.put(FORMER_MEMBERS, &user.id, &former);
    tx.delete(USERS, &user.id);
    tx.delete(USERS_BY_EMAIL, &normalized.to_owned());
}

/// Returns the former member with this ID, if the audit log may still contain their entries.
pub fn former_member(tx: &impl Read, id: UserId) -> Result<Option<FormerMember>> {
    tx.get(FORMER_MEMBERS, &id)
}

pub fn user(tx: &impl Read, id: UserId) -> Result<Option<User>> {
    tx.get(USERS, &id)
}

pub fn user_by_email(tx: &impl Read, normalized: &str) -> Result<Option<User>> {
    match tx.get(USERS_BY_EMAIL, &normalized.to_owned())? {
        Some(UserIdRow(id)) => tx.get(USERS, &id),
        None => Ok(None),
    }
}

/// Returns the users in all accounts. Each account has at most [`limits::MEMBERS_MAX`] users.
pub fn users(tx: &impl Read) -> Result<Vec<User>> {
    Ok(tx.list(USERS, &Span::default(), Order::Forward, usize::MAX)?.into_iter().map(|(_, user)| user).collect())
}

pub fn save_account(tx: &mut WriteTx<'_>, account: &Account) {
    tx.put(ACCOUNTS, &account.id, account);
}

pub fn accounts(tx: &impl Read) -> Result<Vec<Account>> {
    Ok(tx.list(ACCOUNTS, &Span::default(), Order::Forward, usize::MAX)?.into_iter().map(|(_, account)| account).collect())
}

/// Returns every key, including revoked keys. There are few: at most [`limits::KEYS_PER_ACCOUNT_MAX`] working keys per account, and
/// recently revoked keys.
pub fn keys(tx: &impl Read) -> Result<Vec<Key>> {
    Ok(tx.list(KEYS, &Span::default(), Order::Forward, usize::MAX)?.into_iter().map(|(_, key)| key).collect())
}

pub fn key(tx: &impl Read, id: KeyId) -> Result<Option<Key>> {
    tx.get(KEYS, &id)
}

pub fn save_key(tx: &mut WriteTx<'_>, key: &Key) {
    tx.put(KEYS, &key.id, key);
}

/// Returns the stored usage of a key, which excludes requests counted only in memory.
pub fn usage(tx: &impl Read, key: KeyId) -> Result<KeyUsage> {
    Ok(tx.get(USAGE, &key)?.unwrap_or_default())
}

/// Adds `requests` to the usage of a key; `last` is the time of the last request.
pub fn add_usage(tx: &mut WriteTx<'_>, key: KeyId, requests: u64, last: Timestamp) -> Result<()> {
    let usage = usage(tx, key)?.plus(requests, last);
    tx.put(USAGE, &key, &usage);
    let day = day::of(last);
    if tx.add(DAYS, &(key, day), i64::try_from(requests).unwrap_or(i64::MAX))? == i64::try_from(requests).unwrap_or(i64::MAX) {
        // With the first count of a day, delete the counts of days that charts no longer show.
        let over = Span { to: Some((key, day.saturating_sub(limits::KEY_DAYS_KEPT)).to_bytes()), ..DAYS.under(&(key,)) };
        tx.delete_span(DAYS, &over, limits::KEY_DAYS_KEPT as usize)?;
    }
    Ok(())
}

/// Returns the days, starting at `first`, on which requests were made with this key, and the number of requests on each of these days.
pub fn days(tx: &impl Read, key: KeyId, first: u32) -> Result<Vec<(u32, u64)>> {
    let span = Span { from: (key, first).to_bytes(), ..DAYS.under(&(key,)) };
    let found = tx.list(DAYS, &span, Order::Forward, limits::KEY_DAYS_KEPT as usize + 1)?;
    Ok(found.into_iter().map(|((_, day), requests)| (day, requests.max(0) as u64)).collect())
}

/// Saves a setup link that works for [`limits::SETUP_LINK_MS`] from now.
pub fn save_link(tx: &mut WriteTx<'_>, digest: [u8; 32]) {
    let expires_at = tx.now().plus_ms(limits::SETUP_LINK_MS);
    tx.put(LINKS, &digest, &SetupLink { expires_at });
}

/// Returns whether the setup link with this hash works now: the link exists and has not expired, and there is no owner yet.
pub fn setup_link_works(tx: &impl Read, digest: [u8; 32], now: Timestamp) -> Result<bool> {
    Ok(tx.get(LINKS, &digest)?.is_some_and(|link| now < link.expires_at) && !has_user(tx)?)
}

pub fn delete_link(tx: &mut WriteTx<'_>, digest: [u8; 32]) {
    tx.delete(LINKS, &digest);
}

/// Deletes expired setup links, keys that were revoked longer ago than the audit log's retention period, and former members who left longer
/// ago than this period, up to `limit` of each; returns whether there may be more of them.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> Result<bool> {
    let now = tx.now();
    let mut over = Vec::new();
    tx.visit(LINKS, &Span::default(), Order::Forward, |digest, link| {
        if link.expires_at <= now {
            over.push(digest);
        }
        Ok(if over.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let forgotten_before = now.plus_ms(-limits::AUDIT_KEPT_MS);
    let mut revoked = Vec::new();
    tx.visit(KEYS, &Span::default(), Order::Forward, |id, key| {
        if key.revoked_at.is_some_and(|at| at < forgotten_before) {
            revoked.push(id);
        }
        Ok(if revoked.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let mut former = Vec::new();
    tx.visit(FORMER_MEMBERS, &Span::default(), Order::Forward, |id, member| {
        if member.left_at < forgotten_before {
            former.push(id);
        }
        Ok(if former.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let more = [over.len(), revoked.len(), former.len()].contains(&limit);
    former.iter().for_each(|id| tx.delete(FORMER_MEMBERS, id));
    over.iter().for_each(|digest| tx.delete(LINKS, digest));
    for id in &revoked {
        tx.delete(KEYS, id);
        tx.delete(USAGE, id);
        tx.delete_span(DAYS, &DAYS.under(&(*id,)), 2 * limits::KEY_DAYS_KEPT as usize)?;
    }
    Ok(more)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::clock::ManualClock;
    use crate::base::random::SeededRandom;
    use crate::engine::store::{Error, Options, Store};
    use crate::vocab::environment::Environment;
    use crate::vocab::permissions::PermissionSet;
    use crate::vocab::tables::DatabaseKind;

    const START: Timestamp = Timestamp(1_767_225_600_000);

    struct Control {
        _folder: tempfile::TempDir,
        clock: Arc<ManualClock>,
        store: Store,
    }

    impl Control {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a temporary folder can be created");
            let clock = Arc::new(ManualClock::at(START));
            let options = Options { database_kind: DatabaseKind::Control, cache_bytes: 1 << 20 };
            let file = folder.path().join("control.redb");
            let store = Store::open(&file, &options, clock.clone(), Arc::new(SeededRandom::new(1))).expect("the store opens");
            Self { _folder: folder, clock, store }
        }

        fn write<T: Send + 'static>(&self, act: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static) -> T {
            self.store.write_blocking(act).expect("the store works").expect("the act succeeds")
        }
    }

    fn key(byte: u8, revoked_at: Option<Timestamp>) -> Key {
        Key {
            id: KeyId::from_bytes([byte; 12]),
            account: AccountId::from_bytes([9; 12]),
            name: "a key".into(),
            environment: Environment::Live,
            permissions: PermissionSet::ALL,
            hash: [byte; 32],
            created_at: START,
            revoked_at,
        }
    }

    #[test]
    fn the_account_is_created_once() {
        let control = Control::new();
        assert_eq!(account(&control.store.read()), Ok(None));
        let first = control.write(|tx| ensure_account(tx, "standard"));
        let second = control.write(|tx| ensure_account(tx, "another"));
        assert_eq!((first.plan.as_str(), &first), ("standard", &second));
        assert_eq!(accounts(&control.store.read()), Ok(vec![first]));
    }

    #[test]
    fn a_link_works_until_it_expires_or_is_used() {
        let control = Control::new();
        control.write(|tx| {
            save_link(tx, [1; 32]);
            save_link(tx, [2; 32]);
            Ok(())
        });
        let works =
            |digest: u8| setup_link_works(&control.store.read(), [digest; 32], crate::base::clock::Clock::now(&*control.clock));
        assert_eq!((works(1), works(2), works(3)), (Ok(true), Ok(true), Ok(false)));
        control.write(|tx| {
            delete_link(tx, [1; 32]);
            Ok(())
        });
        assert_eq!((works(1), works(2)), (Ok(false), Ok(true)));
        control.clock.advance_ms(limits::SETUP_LINK_MS);
        assert_eq!(works(2), Ok(false));
    }

    #[test]
    fn requests_are_counted_by_day_and_old_days_are_deleted() {
        let control = Control::new();
        let id = KeyId::from_bytes([1; 12]);
        let on = |day: i64| START.plus_ms(day * limits::DAY_MS);
        control.write(move |tx| {
            add_usage(tx, id, 2, on(0))?;
            add_usage(tx, id, 3, on(0))?;
            add_usage(tx, id, 7, on(1))?;
            add_usage(tx, KeyId::from_bytes([2; 12]), 9, on(1))
        });
        let first = day::of(START);
        let kept = || days(&control.store.read(), id, 0).expect("the store is readable");
        assert_eq!(kept(), [(first, 5), (first + 1, 7)]);
        assert_eq!(days(&control.store.read(), id, first + 1), Ok(vec![(first + 1, 7)]));
        control.write(move |tx| add_usage(tx, id, 1, on(i64::from(limits::KEY_DAYS_KEPT) + 1)));
        assert_eq!(kept(), [(first + 1, 7), (first + 1 + limits::KEY_DAYS_KEPT, 1)]);
    }

    #[test]
    fn the_sweep_deletes_only_expired_links_and_keys_revoked_long_ago() {
        let control = Control::new();
        control.write(|tx| {
            save_link(tx, [1; 32]);
            for kept in [key(1, None), key(2, Some(START)), key(3, Some(START.plus_ms(limits::AUDIT_KEPT_MS)))] {
                save_key(tx, &kept);
                add_usage(tx, kept.id, 1, START)?;
            }
            Ok(())
        });
        control.clock.advance_ms(limits::AUDIT_KEPT_MS + 1);
        control.write(|tx| {
            save_link(tx, [2; 32]);
            Ok(())
        });
        assert!(!control.write(|tx| sweep(tx, 10)));
        let tx = control.store.read();
        let left: Vec<u8> = keys(&tx).expect("the store is readable").iter().map(|key| key.hash[0]).collect();
        assert_eq!(left, [1, 3]);
        assert_eq!(usage(&tx, KeyId::from_bytes([2; 12])), Ok(KeyUsage::default()));
        assert_eq!((tx.has(LINKS, &[1; 32]), tx.has(LINKS, &[2; 32])), (Ok(false), Ok(true)));
    }

    fn user(account: AccountId) -> User {
        User {
            id: UserId::from_bytes([1; 12]),
            account,
            email: "a@b.example".into(),
            name: String::new(),
            role: crate::vocab::roles::Role::Owner,
            password: crate::features::accounts::model::PasswordHash {
                memory_kib: 8,
                passes: 1,
                lanes: 1,
                salt: [0; 16],
                hash: [0; 32],
            },
            created_at: START,
        }
    }

    #[test]
    fn a_former_member_is_kept_as_long_as_their_log_entries() {
        let control = Control::new();
        let user = user(AccountId::from_bytes([9; 12]));
        let id = user.id;
        control.write(move |tx| {
            save_user(tx, &user, "a@b.example");
            delete_user(tx, &user, "a@b.example");
            Ok(())
        });
        let email = || former_member(&control.store.read(), id).expect("the store is readable").map(|former| former.email);
        control.clock.advance_ms(limits::AUDIT_KEPT_MS);
        control.write(|tx| sweep(tx, 10));
        assert_eq!(email().as_deref(), Some("a@b.example"));
        control.clock.advance_ms(1);
        assert!(!control.write(|tx| sweep(tx, 10)));
        assert_eq!(email(), None);
    }

    #[test]
    fn a_failed_write_leaves_no_user() {
        let control = Control::new();
        let failed: std::result::Result<(), Error> = control
            .store
            .write_blocking(|tx| {
                let account = ensure_account(tx, "standard")?.id;
                save_user(tx, &user(account), "a@b.example");
                Err(Error::Busy)
            })
            .expect("the store works");
        assert_eq!((failed, has_user(&control.store.read())), (Err(Error::Busy), Ok(false)));
    }
}
