//! The operations on the installation, one file per operation.

pub mod backup;
pub mod backup_run;
pub mod client_file;
pub mod cluster_drain;
pub mod doctor;
pub mod file;
pub mod health;
pub mod key_create;
pub mod key_list;
pub mod key_revoke;
pub mod live;
pub mod mail_link;
pub mod metrics;
pub mod openapi;
pub mod ready;
pub mod reindex;
pub mod status;
