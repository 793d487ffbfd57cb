//! The rules for the settings of the continuous backup.

use super::is_origin;
use crate::vocab::limits;
use crate::vocab::settings::Backup;

/// Returns the first violated rule that the types do not express: the key to change, and the reason.
pub(super) fn check(backup: &Backup) -> Option<(String, String)> {
    let broken = |setting: &str, reason: &str| Some((format!("backup.{setting}"), reason.to_owned()));
    let url = backup.url.as_deref()?;
    let place = ["s3://", "gs://", "az://", "file://"].into_iter().find_map(|scheme| url.strip_prefix(scheme));
    let is_folder = |path: &str| path.starts_with('/');
    if !(is_folder(url) || place.is_some_and(|place| is_folder(place) == url.starts_with("file:") && !place.is_empty())) {
        return broken(
            "url",
            "must be s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or the full path of a folder",
        );
    }
    if !backup.endpoint.as_deref().is_none_or(|endpoint| is_origin(endpoint.trim_end_matches('/'))) {
        return broken("endpoint", "must consist of a scheme, a host and optionally a port, like https://minio.example.com:9000");
    }
    if backup.access_key.is_some() != backup.secret_key.is_some() {
        let missing = if backup.secret_key.is_none() { "secret_key" } else { "access_key" };
        return broken(missing, "set both backup.access_key and backup.secret_key, or neither");
    }
    // A busy service uploads an object at each interval, and one listing must contain all objects. Half of the listing is reserved for
    // snapshots.
    let (seconds, days) = (backup.interval_seconds.get(), backup.log_days.get());
    let objects_max = limits::BACKUP_OBJECTS_MAX as u64 / 2;
    if days * 86_400 / seconds > objects_max {
        let days_max = objects_max * seconds / 86_400;
        let reason =
            format!("must be at most {days_max} if backup.interval_seconds is {seconds}; for more days, increase the interval");
        return broken("log_days", &reason);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tests::{refused, with_file};

    #[test]
    fn the_target_of_a_backup_is_a_bucket_or_an_absolute_path() {
        for url in ["s3://bucket/prefix", "gs://bucket", "az://container/a/b", "/mnt/backup", "file:///mnt/backup"] {
            assert!(with_file(&format!("backup.url = '{url}'")).is_ok(), "{url}");
        }
        for url in ["bucket", "ftp://host/x", "s3://", "file://backup", "./backup"] {
            assert!(refused(with_file(&format!("backup.url = '{url}'"))).contains("backup.url"), "{url}");
        }
        let half = refused(with_file("backup.url = 's3://b'\nbackup.access_key = 'id'"));
        assert!(half.contains("backup.secret_key"), "{half}");
        let long = |days: u64| with_file(&format!("[backup]\nurl = '/mnt/backup'\ninterval_seconds = 5\nlog_days = {days}"));
        assert!(long(72).is_ok());
        let many = refused(long(73));
        assert!(many.contains("backup.log_days") && many.contains("at most 72"), "{many}");
    }
}
