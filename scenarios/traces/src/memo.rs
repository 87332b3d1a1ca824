//! Files that were read through, so that the same one is not read through again: a scenario's plan
//! asks for what a trace holds, and so does its run.
//!
//! A file is the same while its path, size and time of its last change are. One that was changed a
//! moment ago is not kept: another change might leave its time as it is.

use crate::columns::Columns;
use crate::record::Options;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Files that are kept; the one that was found longest ago leaves.
const MOST: usize = 32;
/// A file that was changed within so long is not kept.
const SETTLED: Duration = Duration::from_secs(2);

/// What is read of which state of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    path: PathBuf,
    format: String,
    columns: Option<Columns>,
    unit: Option<String>,
    without_trims: bool,
    bytes: u64,
    changed: SystemTime,
}

impl Key {
    /// That of a file that stays as it is; none if it may change, or cannot be read.
    pub(crate) fn of(options: &Options) -> Option<Key> {
        let about = std::fs::metadata(&options.path).ok()?;
        let changed = about.modified().ok()?;
        let settled = changed.elapsed().is_ok_and(|age| age >= SETTLED);
        (about.is_file() && settled).then(|| Key {
            path: options.path.clone(),
            format: options.format.clone(),
            columns: options.columns.clone(),
            unit: options.unit.clone(),
            without_trims: options.without_trims,
            bytes: about.len(),
            changed,
        })
    }
}

/// What was found in files, the one that was asked for last at the end.
pub(crate) struct Memo<T>(Mutex<Vec<(Key, Arc<T>)>>);

impl<T> Memo<T> {
    pub(crate) const fn new() -> Memo<T> {
        Memo(Mutex::new(Vec::new()))
    }

    /// What is remembered of a file, or what `read` finds in it now.
    ///
    /// # Errors
    /// Those of `read`, which are not kept.
    pub(crate) fn get<E>(
        &self,
        key: Option<Key>,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let Some(key) = key else {
            return read().map(Arc::new);
        };
        if let Some(found) = self.find(&key) {
            return Ok(found);
        }
        let found = Arc::new(read()?);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == MOST {
            all.remove(0);
        }
        all.push((key, Arc::clone(&found)));
        Ok(found)
    }

    fn find(&self, key: &Key) -> Option<Arc<T>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(known, _)| known == key)?;
        let entry = all.remove(at);
        let found = Arc::clone(&entry.1);
        all.push(entry);
        Some(found)
    }
}
