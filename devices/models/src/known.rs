//! What has been simulated already: whether it was kept changes the time of a run, not its result.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Cell<V> = Arc<OnceLock<Arc<V>>>;

/// Results by what they depend on, of all threads of a process; the latest ones are kept.
#[derive(Debug)]
pub struct Known<K, V> {
    /// The one that was asked for last at the end.
    entries: Mutex<Vec<(K, Cell<V>)>>,
    /// Memory for results that nobody uses at the moment.
    kept_bytes: usize,
}

impl<K: Clone + PartialEq, V> Known<K, V> {
    /// Nothing is known yet.
    pub const fn new(kept_bytes: usize) -> Known<K, V> {
        Known {
            entries: Mutex::new(Vec::new()),
            kept_bytes,
        }
    }

    /// The result for `key`: found, or computed now. Whoever asks for it meanwhile waits for it.
    ///
    /// `bytes` is the memory of a result.
    pub fn get(&self, key: &K, compute: impl FnOnce() -> V, bytes: fn(&V) -> usize) -> Arc<V> {
        let cell = {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            let found = entries.iter().position(|(other, _)| other == key);
            let entry = match found {
                Some(at) => entries.remove(at),
                None => (key.clone(), Cell::default()),
            };
            let cell = Arc::clone(&entry.1);
            entries.push(entry);
            self.forget_the_oldest(&mut entries, bytes);
            cell
        };
        Arc::clone(cell.get_or_init(|| Arc::new(compute())))
    }

    fn forget_the_oldest(&self, entries: &mut Vec<(K, Cell<V>)>, bytes: fn(&V) -> usize) {
        let of = |(_, cell): &(K, Cell<V>)| cell.get().map_or(0, |value| bytes(value));
        let mut total: usize = entries.iter().map(of).sum();
        while total > self.kept_bytes && entries.len() > 1 {
            total -= of(&entries.remove(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_results_are_kept_as_far_as_memory_goes() {
        let known: Known<u32, Vec<u8>> = Known::new(20);
        let computed = std::cell::Cell::new(0);
        let ask = |key| {
            let compute = || {
                computed.set(computed.get() + 1);
                vec![0; 10]
            };
            known.get(&key, compute, Vec::len)
        };
        ask(1);
        ask(1);
        ask(2);
        assert_eq!(computed.get(), 2);
        // A third and a fourth are more than 20 bytes: the first goes.
        ask(3);
        ask(4);
        ask(3);
        assert_eq!(computed.get(), 4);
        ask(1);
        assert_eq!(computed.get(), 5);
    }
}
