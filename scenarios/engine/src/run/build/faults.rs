//! Faults of a plan, collected one by one.

use raidlab_models::Fault;

/// Faults collected under the dotted key at which they stand.
pub(crate) struct Faults(pub(crate) Vec<Fault>);

impl Faults {
    pub(crate) fn add(
        &mut self,
        key: String,
        value: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) {
        self.0.push(Fault::new(key, value, allowed));
    }

    pub(crate) fn under(&mut self, key: &str, faults: Vec<Fault>) {
        let nested = faults.into_iter().map(|fault| Fault {
            key: format!("{key}.{}", fault.key),
            ..fault
        });
        self.0.extend(nested);
    }

    /// Goes on only without faults.
    pub(crate) fn none(&mut self) -> Result<(), Vec<Fault>> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(std::mem::take(&mut self.0))
    }

    pub(crate) fn index(&mut self, key: String, index: u32, count: usize) -> bool {
        let fits = (index as usize) < count;
        if !fits {
            self.add(key, index, format!("an index below {count}"));
        }
        fits
    }
}
