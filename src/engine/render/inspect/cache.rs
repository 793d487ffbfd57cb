//! Caches recent inspections by the content of the email, because users often check an email several times.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use sha2::{Digest, Sha256};

use super::Inspection;
use crate::vocab::limits::INSPECTIONS_CACHED_MAX;

/// The maximum size of a cached inspection in bytes. Larger inspections are rare, and are not cached.
const BYTES_MAX: usize = 512 * 1024;

type Key = [u8; 32];

/// A bounded cache of inspections. The least recently used one is dropped first.
#[derive(Default)]
pub struct InspectionCache(Mutex<VecDeque<(Key, Arc<Inspection>)>>);

impl InspectionCache {
    pub fn get(&self, html: &str) -> Option<Arc<Inspection>> {
        let key = key(html);
        let mut entries = self.entries();
        let place = entries.iter().position(|(known, _)| *known == key)?;
        let entry = entries.remove(place)?;
        let found = entry.1.clone();
        entries.push_back(entry);
        Some(found)
    }

    /// Caches an inspection if it is not larger than `BYTES_MAX`. Returns the inspection in either case.
    pub fn put(&self, html: &str, inspection: Inspection) -> Arc<Inspection> {
        let is_small = weight(&inspection) <= BYTES_MAX;
        let inspection = Arc::new(inspection);
        if is_small {
            let mut entries = self.entries();
            entries.push_back((key(html), inspection.clone()));
            while entries.len() > INSPECTIONS_CACHED_MAX {
                entries.pop_front();
            }
        }
        inspection
    }

    fn entries(&self) -> MutexGuard<'_, VecDeque<(Key, Arc<Inspection>)>> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

fn key(html: &str) -> Key {
    Sha256::digest(html.as_bytes()).into()
}

/// Returns the approximate size of an inspection in bytes.
fn weight(inspection: &Inspection) -> usize {
    let uses =
        inspection.links.uses.iter().map(|one| size_of_val(one) + one.url.len() + one.text.len() + one.place.excerpt.len());
    let places = inspection.accessibility.iter().flat_map(|problem| &problem.places);
    uses.sum::<usize>()
        + inspection.links.targets.iter().map(String::len).sum::<usize>()
        + places.map(|place| size_of_val(place) + place.excerpt.len()).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_inspections_are_found_and_old_ones_are_dropped() {
        let cache = InspectionCache::default();
        let first = cache.put("<p>0", Inspection::default());
        for number in 1..INSPECTIONS_CACHED_MAX {
            cache.put(&format!("<p>{number}"), Inspection::default());
        }
        assert!(cache.get("<p>0").is_some_and(|found| Arc::ptr_eq(&found, &first)));
        cache.put("<p>new", Inspection::default());
        assert!(cache.get("<p>0").is_some() && cache.get("<p>1").is_none(), "the least recently used one was dropped");
    }
}
