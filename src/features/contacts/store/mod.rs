//! The tables of jobs, of erasures, and of clicks by recipients who are not contacts, and all access to these tables. The contacts
//! themselves are in `contact_records`.

pub mod erasure;
pub mod jobs;
pub mod noncontact_clicks;
