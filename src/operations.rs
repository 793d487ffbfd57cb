//! TABLE: every operation, in the order of the documentation.
//!
//! A row here is all it takes for an operation to be routed, checked, documented, offered on the command line and swept by tests.

use crate::engine::api::{Entry, command, outward, query, raw};
use crate::features::{accounts, contacts, projects, system};

/// Every operation.
pub const OPERATIONS: &[Entry] = &[
    // The installation.
    outward::<system::ops::health::Health>(),
    raw::<system::ops::openapi::OpenApi>(),
    outward::<system::ops::backup::Backup>(),
    outward::<system::ops::reindex::Reindex>(),
    // Accounts.
    raw::<accounts::ops::set_up_page::SetUpPage>(),
    raw::<accounts::ops::set_up_form::SetUpForm>(),
    outward::<accounts::ops::set_up::SetUp>(),
    outward::<accounts::ops::create_key::CreateKey>(),
    outward::<accounts::ops::list_keys::ListKeys>(),
    outward::<accounts::ops::revoke_key::RevokeKey>(),
    // Projects.
    query::<projects::ops::list::List>(),
    query::<projects::ops::get::Get>(),
    command::<projects::ops::import::Import>(),
    query::<projects::ops::import_status::ImportStatus>(),
    // Contacts.
    query::<contacts::ops::list::List>(),
    command::<contacts::ops::create::Create>(),
    query::<contacts::ops::get::Get>(),
    command::<contacts::ops::update::Update>(),
    command::<contacts::ops::delete::Delete>(),
    command::<contacts::ops::set_status::SetStatus>(),
    command::<contacts::ops::unsubscribe::Unsubscribe>(),
    command::<contacts::ops::bulk_delete::BulkDelete>(),
];
