//! TABLE: every operation, in the order of the documentation.
//!
//! A row here is all it takes for an operation to be routed, checked, documented, offered on the command line and swept by tests.

use crate::engine::api::{Entry, command, outward, query, raw};
use crate::features::{accounts, contacts, projects, segments, system, tags, topics};

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
    command::<contacts::ops::bulk::Bulk>(),
    query::<contacts::ops::bulk_status::BulkStatus>(),
    raw::<contacts::ops::import::Import>(),
    query::<contacts::ops::import_status::ImportStatus>(),
    query::<contacts::ops::import_errors::ImportErrors>(),
    command::<contacts::ops::export::Export>(),
    outward::<contacts::ops::export_status::ExportStatus>(),
    raw::<contacts::ops::export_download::ExportDownload>(),
    // Tags.
    query::<tags::ops::list::List>(),
    command::<tags::ops::create::Create>(),
    query::<tags::ops::get::Get>(),
    command::<tags::ops::update::Update>(),
    command::<tags::ops::delete::Delete>(),
    // Topics.
    query::<topics::ops::list::List>(),
    command::<topics::ops::create::Create>(),
    query::<topics::ops::get::Get>(),
    command::<topics::ops::update::Update>(),
    command::<topics::ops::delete::Delete>(),
    command::<topics::ops::subscribe::Subscribe>(),
    command::<topics::ops::unsubscribe::Unsubscribe>(),
    // Segments.
    query::<segments::ops::list::List>(),
    outward::<segments::ops::create::Create>(),
    query::<segments::ops::get::Get>(),
    outward::<segments::ops::update::Update>(),
    command::<segments::ops::delete::Delete>(),
];
