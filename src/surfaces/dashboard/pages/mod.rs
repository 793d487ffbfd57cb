//! TABLE: every page, with its path, its entry in the navigation, its functions, and its templates.
//!
//! To add a page: write its file in this folder, with a context struct and its samples (`page_context!`), and its template in
//! `assets/dashboard`; then add a `pub mod` and a row here. Operations that a page calls by type are in `features/<noun>/ops`, each with a
//! `pub mod` in that folder and a row in `operations.rs`; a new operation also changes the OpenAPI snapshot and the generated API clients
//! (`assets/clients/README.md`).
//!
//! A page can do only what its operations allow: each operation declares its permission in its `SPEC`. `calls` in a row also hides the page
//! and its entry in the navigation from users who lack permission for any of these operations. A page that is only a form calls
//! `visit.need`, because it calls no operation before it is submitted. Roles: [`crate::vocab::roles`].
//!
//! The functions are in the files of this folder. They call operations as the signed-in user and fill a context; they contain no business
//! rules. The navigation lists the pages in the order of the table.

pub mod agent;
pub mod api_call;
pub mod approvals;
pub mod audience;
pub mod audit;
pub mod authorize;
pub mod brand_changes;
pub mod brand_details;
pub mod brand_parts;
pub mod brand_products;
pub mod brand_theme;
pub mod brands;
pub mod campaigns;
pub mod connections;
mod consent;
pub mod contact;
mod contact_form;
pub mod contact_jobs;
pub mod contacts;
pub mod demo;
pub mod domains;
pub mod email;
pub mod emails;
pub mod go_live;
pub mod home;
pub mod hooks;
pub mod imports;
pub mod inbox;
pub mod keys;
pub mod links;
pub mod mail_services;
pub mod members;
pub mod models;
pub mod plan;
pub mod platform_imports;
pub mod restore;
pub mod scheduled_imports;
pub mod security;
pub mod segment_form;
pub mod segments;
pub mod sign_in;
pub mod stores;
pub mod suppressions;
pub mod system;
pub mod tags;
pub mod topics;
pub mod webhooks;

use serde::Serialize;

use super::page::{Page, closed, open, page_template, spec};
use crate::features;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// Creates a row of `PAGES`. The paths of operations in `calls` are relative to `features`.
macro_rules! page {
    ($auth:ident $path:literal $(, menu $group:literal $label:literal)? $(, calls [$($($call:ident)::+),+])? $(, get $get:path)?
     $(, post $post:path)? $(, files $bytes:path)? $(, streams $streams:literal)? $(, draws [$($context:ty),+])?) => {
        Page {
            $(menu: Some(($group, $label)),)?
            $(calls: const { &[$(spec::<features::$($call)::+>()),+] },)?
            $(get: Some(|visit| Box::pin($get(visit))),)?
            $(post: Some(|visit| Box::pin($post(visit))),)?
            $(files: Some($bytes),)?
            $(streams: $streams,)?
            $(templates: const { &[$(page_template::<$context>()),+] },)?
            ..$auth($path)
        }
    };
}

/// All pages of the dashboard, in the order of the navigation.
pub const PAGES: &[Page] = &[
    page!(open "/", get home::start),
    page!(closed "/{environment}/", menu "" "Home", get home::show, post home::seen, draws [home::HomePage]),
    page!(closed "/test/demo", get demo::show, post demo::begin, draws [demo::DemoPage]),
    page!(closed "/{environment}/brands", menu "" "Brands", calls [projects::ops::get::Get], get brands::list, draws [brands::BrandsPage]),
    page!(closed "/{environment}/brands/new", get brands::new, post brands::send_new, draws [brands::NewBrandPage]),
    page!(closed "/{environment}/brands/{id}", get brands::show, post brands::send, draws [brands::BrandPage]),
    page!(closed "/{environment}/brands/{id}/picture", get brands::picture),
    page!(closed "/{environment}/brands/{id}/look", get brand_theme::show, post brand_theme::send,
        files limits::DASHBOARD_IMAGE_BYTES_MAX, draws [brand_theme::ThemePage]),
    page!(closed "/{environment}/brands/{id}/look/preview", get brand_theme::preview),
    page!(closed "/{environment}/brands/{id}/changes", get brand_changes::show, post brand_changes::send,
        draws [brand_changes::ChangesPage]),
    page!(closed "/test/go-live", get go_live::choose, draws [go_live::ChooseBrandPage]),
    page!(closed "/test/brands/{id}/go-live", get go_live::show, post go_live::send, draws [go_live::GoLivePage]),
    page!(closed "/{environment}/brands/{id}/details", get brand_details::show, post brand_details::send,
        draws [brand_details::DetailsPage]),
    page!(closed "/{environment}/brands/{id}/products", get brand_products::show, post brand_products::send,
        draws [brand_products::ProductsPage]),
    page!(closed "/{environment}/brands/{id}/images", get brand_parts::images, post brand_parts::send_images,
        files limits::DASHBOARD_IMAGE_BYTES_MAX, draws [brand_parts::ImagesPage]),
    page!(closed "/{environment}/brands/{id}/knowledge", get brand_parts::knowledge, post brand_parts::send_knowledge,
        files limits::DASHBOARD_TEXT_BYTES_MAX, draws [brand_parts::KnowledgePage]),
    page!(closed "/{environment}/brands/{id}/knowledge/{entry}", get brand_parts::entry, post brand_parts::send_entry,
        files limits::DASHBOARD_TEXT_BYTES_MAX, draws [brand_parts::EntryPage]),
    page!(closed "/{environment}/brands/{id}/guidelines", get brand_parts::guidelines, post brand_parts::send_guidelines,
        draws [brand_parts::GuidelinesPage]),
    page!(closed "/{environment}/brands/{id}/designs/{design}", get email::gallery::frame),
    page!(closed "/{environment}/emails", menu "" "Emails", calls [projects::ops::list::List, emails::ops::list::List], get emails::list,
        draws [emails::EmailsPage]),
    page!(closed "/{environment}/emails/new", get emails::new, post emails::send_new,
        draws [emails::NewEmailPage, emails::brief::BriefPage]),
    page!(closed "/{environment}/emails/designs", get email::gallery::show, post email::gallery::send, draws [email::gallery::GalleryPage]),
    page!(closed "/{environment}/emails/import", get emails::import, post emails::send_import, files limits::DASHBOARD_EMAIL_BYTES_MAX,
        draws [emails::ImportEmailPage]),
    page!(closed "/{environment}/emails/series/{conversation}", get emails::series, draws [emails::SeriesPage]),
    page!(closed "/{environment}/emails/{id}", get email::show, post email::send, draws [email::EmailPage]),
    page!(closed "/{environment}/emails/{id}/frame", get email::frame),
    page!(closed "/{environment}/emails/{id}/document", get email::editor::show, post email::editor::send,
        files limits::DASHBOARD_IMAGE_BYTES_MAX, draws [email::editor::EditorPage]),
    page!(closed "/{environment}/emails/{id}/editor", get email::editor::data, post email::editor::send_script,
        files limits::DASHBOARD_IMAGE_BYTES_MAX),
    page!(closed "/{environment}/emails/{id}/image", get email::editor::image),
    page!(closed "/{environment}/emails/{id}/text", get email::text, draws [email::TextPage]),
    page!(closed "/{environment}/emails/{id}/checks", get email::checks::show, post email::checks::send,
        draws [email::checks::ChecksPage]),
    page!(closed "/{environment}/emails/{id}/previews", calls [previews::ops::create::Create], get email::previews::show,
        post email::previews::send, draws [email::previews::PreviewsPage]),
    page!(closed "/{environment}/emails/{id}/versions", get email::versions, post email::send_version, draws [email::VersionsPage]),
    page!(closed "/{environment}/emails/{id}/exports", get email::exports::show, post email::exports::send,
        draws [email::exports::ExportsPage]),
    page!(closed "/{environment}/emails/{id}/try", get email::trial, post email::send_trial, draws [email::TestPage]),
    page!(closed "/{environment}/campaigns", menu "" "Campaigns", calls [campaigns::ops::overview::Overview], get campaigns::list::show,
        draws [campaigns::list::CampaignsPage]),
    page!(closed "/{environment}/campaigns/new", get campaigns::edit::new, post campaigns::edit::create,
        draws [campaigns::edit::ChoosePage, campaigns::edit::EditPage]),
    page!(closed "/{environment}/campaigns/{id}", get campaigns::detail::show, post campaigns::detail::send,
        draws [campaigns::detail::CampaignPage]),
    page!(closed "/{environment}/campaigns/{id}/edit", get campaigns::edit::show, post campaigns::edit::change),
    page!(closed "/{environment}/campaigns/{id}/launch", get campaigns::launch::show, post campaigns::launch::send,
        draws [campaigns::launch::LaunchPage]),
    page!(closed "/{environment}/campaigns/{id}/frame", get campaigns::detail::frame),
    page!(closed "/{environment}/campaigns/{id}/report", get campaigns::report::show, draws [campaigns::report::ReportPage]),
    page!(closed "/{environment}/campaigns/{id}/log", get campaigns::report::log, draws [campaigns::report::LogPage]),
    page!(closed "/{environment}/inbox", menu "" "Inbox", calls [sending::ops::inbox_list::InboxList], get inbox::list,
        draws [inbox::InboxPage]),
    page!(closed "/{environment}/inbox/{id}", get inbox::show, post inbox::delete, draws [inbox::MessagePage]),
    page!(closed "/{environment}/inbox/{id}/mail", get inbox::mail),
    page!(closed "/{environment}/inbox/{id}/picture", get inbox::picture),
    page!(closed "/{environment}/inbox/{id}/source", get inbox::source),
    page!(closed "/{environment}/contacts", menu "Audience" "Contacts", calls [projects::ops::list::List, contacts::ops::list::List],
        get contacts::show, post contacts::send, draws [contacts::ContactsPage, audience::NoBrandPage]),
    page!(closed "/{environment}/contacts/new", get contacts::new, post contacts::add, draws [contacts::NewContactPage]),
    page!(closed "/{environment}/contacts/{id}", get contact::show, post contact::send, draws [contact::ContactPage]),
    page!(closed "/{environment}/contacts/{id}/data", get contact::data),
    page!(closed "/{environment}/contacts/import", get imports::show, post imports::upload, streams true, draws [imports::ImportPage]),
    page!(closed "/{environment}/contacts/import/platform", calls [connections::ops::sources::Sources], get platform_imports::show,
        post platform_imports::start, draws [platform_imports::PlatformImportPage]),
    page!(closed "/{environment}/contacts/scheduled-imports", calls [scheduled_imports::ops::list::List], get scheduled_imports::show_all,
        post scheduled_imports::create, draws [scheduled_imports::ScheduledImportsPage]),
    page!(closed "/{environment}/contacts/scheduled-imports/{id}", get scheduled_imports::show, post scheduled_imports::send,
        draws [scheduled_imports::ScheduledImportPage]),
    page!(closed "/{environment}/contacts/import/{id}", get imports::one, post imports::start,
        draws [imports::ImportColumnsPage, imports::ImportProgressPage]),
    page!(closed "/{environment}/contacts/import/{id}/errors.csv", get imports::errors),
    page!(closed "/{environment}/contacts/jobs/{kind}/{id}", get contact_jobs::show, draws [contact_jobs::ContactJobPage]),
    page!(closed "/{environment}/segments", menu "Audience" "Segments", calls [projects::ops::list::List, segments::ops::list::List],
        get segments::list, post segments::remove, draws [segments::SegmentsPage]),
    page!(closed "/{environment}/segments/new", get segments::show, post segments::send, draws [segments::SegmentPage]),
    page!(closed "/{environment}/segments/{id}", get segments::show, post segments::send),
    page!(closed "/{environment}/tags", menu "Audience" "Tags", calls [projects::ops::list::List, tags::ops::list::List], get tags::show,
        post tags::send, draws [tags::TagsPage]),
    page!(closed "/{environment}/topics", menu "Audience" "Topics", calls [projects::ops::list::List, topics::ops::list::List],
        get topics::show, post topics::send, draws [topics::TopicsPage]),
    page!(closed "/{environment}/suppressions", menu "Audience" "Suppressions", calls [suppressions::ops::list::List],
        get suppressions::show, post suppressions::send, draws [suppressions::SuppressionsPage]),
    page!(closed "/{environment}/domains", menu "Setup" "Domains", calls [domains::ops::list::List], get domains::show_all,
        post domains::add, draws [domains::DomainsPage]),
    page!(closed "/{environment}/domains/{domain}", get domains::show, post domains::send, draws [domains::DomainPage]),
    page!(closed "/{environment}/settings/mail-services", menu "Setup" "Mail services", calls [mail_feedback::ops::list::List],
        get mail_services::show_all, post mail_services::create, draws [mail_services::MailServicesPage]),
    page!(closed "/{environment}/settings/mail-services/{id}", get mail_services::show, post mail_services::send,
        draws [mail_services::MailServicePage]),
    page!(open "/connections/shopify/callback", get stores::receive),
    page!(closed "/{environment}/settings/stores/complete", get stores::complete),
    page!(open "/connections/{provider}/callback", get connections::receive),
    page!(closed "/{environment}/settings/connections/{provider}/complete", get connections::complete),
    page!(closed "/{environment}/settings/connections", menu "Setup" "Connections", calls [connections::ops::list::List],
        get connections::show, post connections::send, draws [connections::ConnectionsPage]),
    page!(closed "/{environment}/settings/stores", menu "Setup" "Stores", calls [storefront::ops::list::List], get stores::show,
        post stores::send, draws [stores::StoresPage]),
    page!(closed "/{environment}/settings/keys", menu "Developers" "API keys", calls [accounts::ops::key_list::KeyList], get keys::show,
        post keys::send, draws [keys::KeysPage]),
    page!(closed "/{environment}/settings/approvals", menu "Developers" "Agent requests",
        calls [accounts::ops::approval_list::ApprovalList], get approvals::show, post approvals::send, draws [approvals::ApprovalsPage]),
    page!(closed "/oauth2/authorize", get authorize::show, post authorize::decide, draws [authorize::AuthorizePage]),
    page!(closed "/test/api/{operation}", get api_call::show, post api_call::call, draws [api_call::ApiCallPage]),
    page!(closed "/agent", get agent::show, post agent::decide, draws [agent::AgentPage]),
    page!(closed "/{environment}/settings/webhooks", menu "Developers" "Webhooks", calls [webhooks::ops::list::List],
        get webhooks::show_all, post webhooks::create, draws [webhooks::WebhooksPage]),
    page!(closed "/{environment}/settings/incoming", menu "Developers" "Incoming webhooks",
        calls [projects::ops::list::List, topics::ops::list::List, hooks::ops::list::List], get hooks::show_all, post hooks::create,
        draws [hooks::HooksPage]),
    page!(closed "/{environment}/settings/incoming/{id}", get hooks::show, post hooks::send, draws [hooks::HookPage]),
    page!(closed "/{environment}/settings/webhooks/{id}", get webhooks::show, post webhooks::send, draws [webhooks::WebhookPage]),
    page!(closed "/{environment}/settings/members", menu "Account" "Members", calls [accounts::ops::member_list::MemberList],
        get members::show, post members::send, draws [members::MembersPage]),
    page!(closed "/{environment}/settings/security", menu "Account" "Security", calls [accounts::ops::session_list::SessionList],
        get security::show, post security::send, draws [security::SecurityPage]),
    page!(closed "/{environment}/settings/plan", menu "Account" "Plan and limits", calls [sending::ops::plan::Plan], get plan::show,
        post plan::change, draws [plan::PlanPage]),
    page!(closed "/{environment}/settings/models", menu "Account" "Language models", calls [models::ops::metrics::Metrics],
        get models::show, draws [models::ModelsPage]),
    page!(closed "/{environment}/settings/audit", menu "Account" "Audit log", calls [accounts::ops::audit_list::AuditList],
        get audit::show, draws [audit::AuditPage]),
    page!(closed "/{environment}/settings/system", menu "Account" "System", calls [system::ops::status::Status], get system::show,
        post system::send, draws [system::SystemPage]),
    page!(closed "/{environment}/settings/system/restore", calls [restores::ops::get::Get], get restore::show, post restore::send,
        draws [restore::RestorePage]),
    page!(open "/signin", get sign_in::show, post sign_in::send, draws [sign_in::SignInPage, sign_in::ResumePage]),
    page!(closed "/signout", post sign_in::sign_out),
    page!(closed "/confirm", get sign_in::confirm, post sign_in::send_confirm, draws [sign_in::ConfirmPage]),
    page!(open "/setup/{token}", get links::set_up, post links::send_set_up, draws [links::SetUpPage]),
    page!(open "/signup", get links::sign_up, post links::send_sign_up, draws [links::SignUpPage]),
    page!(open "/forgot", get links::forgot, post links::send_forgot, draws [links::ForgotPage]),
    page!(open "/reset/{token}", get links::reset, post links::send_reset, draws [links::ResetPage]),
    page!(open "/join/{token}", get links::join, post links::send_join, draws [links::JoinPage]),
];

#[derive(Clone, Debug, Serialize)]
pub struct PermissionChoice {
    word: &'static str,
    allows: &'static str,
    chosen: bool,
}

/// Returns all permissions with their descriptions. `is_chosen` returns whether a permission's check box is selected.
pub fn permissions(is_chosen: impl Fn(Permission) -> bool) -> Vec<PermissionChoice> {
    let one = |permission: Permission| PermissionChoice {
        word: permission.word(),
        allows: permission.allows(),
        chosen: is_chosen(permission),
    };
    Permission::ALL.map(one).into()
}
