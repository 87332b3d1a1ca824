//! A controller's queue before a drive: what the host waits for goes before destages.
//!
//! Nobody waits for a destage, so it has a lower priority than reads of the disk, without preemption:
//! what the drive has already it orders itself (Thomasian, "Priority queueing in RAID disk arrays with
//! an NVS cache", MASCOTS 1995). So that the cache does not stay full beside a reader without pause,
//! a destage that waits lets two others pass, and then goes: `writes_starved` of Linux's deadline
//! scheduler.

use raidlab_io::{IoId, Ios, Queue, Stage};

/// Others that pass a destage in a row.
const PASS: u8 = 2;

/// What waits before a drive behind a controller.
#[derive(Debug, Default)]
pub struct ReadsFirst {
    first: Queue,
    /// Commands of destages.
    behind: Queue,
    /// Others that have passed them in a row.
    passed: u8,
}

impl ReadsFirst {
    /// A command waits for a place.
    #[inline]
    pub fn push(&mut self, ios: &mut Ios, id: IoId) {
        match ios[id].stage {
            Stage::Behind => self.behind.push(ios, id),
            _ => self.first.push(ios, id),
        }
    }

    /// The next one for the drive.
    #[inline]
    pub fn pop(&mut self, ios: &Ios) -> Option<IoId> {
        if self.behind.is_empty() {
            return self.first.pop(ios);
        }
        self.pop_of_two(ios)
    }

    /// The next one where destages wait.
    fn pop_of_two(&mut self, ios: &Ios) -> Option<IoId> {
        if self.passed < PASS
            && let Some(next) = self.first.pop(ios)
        {
            self.passed += 1;
            return Some(next);
        }
        self.passed = 0;
        self.behind.pop(ios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: three destages wait before four reads. Two reads go first, then one destage.
    #[test]
    fn of_three_commands_one_is_a_destage() {
        let mut ios = Ios::with_capacity(8);
        let mut queue = ReadsFirst::default();
        let ids: Vec<IoId> = (0..7).map(|_| ios.claim()).collect();
        for (at, &id) in ids.iter().enumerate() {
            if at < 3 {
                ios[id].stage = Stage::Behind;
            }
            queue.push(&mut ios, id);
        }
        let order: Vec<usize> = std::iter::from_fn(|| queue.pop(&ios))
            .map(|id| {
                ids.iter()
                    .position(|&other| other == id)
                    .expect("one of them")
            })
            .collect();
        assert_eq!(order, [3, 4, 0, 5, 6, 1, 2]);
    }

    /// Without destages they go as they came, and destages alone do so too.
    #[test]
    fn of_one_kind_they_go_as_they_came() {
        for stage in [Stage::default(), Stage::Behind] {
            let mut ios = Ios::with_capacity(4);
            let mut queue = ReadsFirst::default();
            let ids: Vec<IoId> = (0..4).map(|_| ios.claim()).collect();
            for &id in &ids {
                ios[id].stage = stage;
                queue.push(&mut ios, id);
            }
            let order: Vec<IoId> = std::iter::from_fn(|| queue.pop(&ios)).collect();
            assert_eq!(order, ids);
        }
    }
}
