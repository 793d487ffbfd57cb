//! The tables of jobs, erasures and clicks by recipients who are not contacts, and all access to them. The contacts themselves are in
//! `contact_records`.

pub mod erasure;
pub mod jobs;
pub mod noncontact_clicks;
