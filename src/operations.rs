//! TABLE: every operation, in the order of the documentation.
//!
//! A row here is all it takes for an operation to be routed, checked, documented, offered on the command line and swept by tests.

use crate::engine::api::{Entry, command, outward, query, raw};
use crate::features::{accounts, contacts, emails, exports, projects, segments, system, tags, topics};

/// Every operation.
pub const OPERATIONS: &[Entry] = &[
    // The installation.
    outward::<system::ops::health::Health>(),
    raw::<system::ops::openapi::OpenApi>(),
    outward::<system::ops::backup::Backup>(),
    outward::<system::ops::reindex::Reindex>(),
    raw::<system::ops::file::File>(),
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
    command::<projects::ops::import_retry::ImportRetry>(),
    query::<projects::ops::knowledge_list::KnowledgeList>(),
    command::<projects::ops::knowledge_add::KnowledgeAdd>(),
    command::<projects::ops::knowledge_update::KnowledgeUpdate>(),
    command::<projects::ops::knowledge_remove::KnowledgeRemove>(),
    query::<projects::ops::images_list::ImagesList>(),
    command::<projects::ops::images_add::ImagesAdd>(),
    command::<projects::ops::images_update::ImagesUpdate>(),
    command::<projects::ops::images_remove::ImagesRemove>(),
    command::<projects::ops::logos_update::LogosUpdate>(),
    command::<projects::ops::guidelines_update::GuidelinesUpdate>(),
    // Emails.
    command::<emails::ops::generate::Generate>(),
    outward::<emails::ops::status::Status>(),
    outward::<emails::ops::list::List>(),
    outward::<emails::ops::get::Get>(),
    outward::<emails::ops::edit::Edit>(),
    outward::<emails::ops::edit_status::EditStatus>(),
    outward::<emails::ops::versions::Versions>(),
    outward::<emails::ops::restore::Restore>(),
    command::<emails::ops::favorite::Favorite>(),
    outward::<emails::ops::references::References>(),
    raw::<emails::ops::page::Page>(),
    // Exports.
    outward::<exports::ops::html::Html>(),
    outward::<exports::ops::mjml::Mjml>(),
    outward::<exports::ops::png::Png>(),
    outward::<exports::ops::pdf::Pdf>(),
    outward::<exports::ops::platform_a::PlatformA>(),
    outward::<exports::ops::platform_b::PlatformB>(),
    outward::<exports::ops::platform_c::PlatformC>(),
    query::<exports::ops::status::Status>(),
    query::<exports::ops::formats::Formats>(),
    // Contacts.
    query::<contacts::ops::list::List>(),
    command::<contacts::ops::create::Create>(),
    query::<contacts::ops::get::Get>(),
    query::<contacts::ops::field_catalog::FieldCatalog>(),
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
