//! A memo of computed results. A hit changes the wall time of a run, not its result.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Cell<V> = Arc<OnceLock<Arc<V>>>;

/// Results by their arguments, shared by all threads of a process. The least recently used leave.
#[derive(Debug)]
pub struct Memo<K, V> {
    /// The most recently used one at the end.
    entries: Mutex<Vec<(K, Cell<V>)>>,
    /// Memory for results that no caller uses at the moment.
    bytes_max: usize,
}

impl<K: Clone + PartialEq, V> Memo<K, V> {
    /// An empty memo that stores up to `bytes_max` bytes.
    pub const fn new(bytes_max: usize) -> Memo<K, V> {
        Memo {
            entries: Mutex::new(Vec::new()),
            bytes_max,
        }
    }

    /// The result for `key`: stored, or computed now. Other threads that need it meanwhile wait.
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
            self.evict(&mut entries, bytes);
            cell
        };
        Arc::clone(cell.get_or_init(|| Arc::new(compute())))
    }

    fn evict(&self, entries: &mut Vec<(K, Cell<V>)>, bytes: fn(&V) -> usize) {
        let of = |(_, cell): &(K, Cell<V>)| cell.get().map_or(0, |value| bytes(value));
        let mut total: usize = entries.iter().map(of).sum();
        while total > self.bytes_max && entries.len() > 1 {
            total -= of(&entries.remove(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_stored_as_far_as_memory_goes() {
        let memo: Memo<u32, Vec<u8>> = Memo::new(20);
        let computed = std::cell::Cell::new(0);
        let ask = |key| {
            let compute = || {
                computed.set(computed.get() + 1);
                vec![0; 10]
            };
            memo.get(&key, compute, Vec::len)
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
