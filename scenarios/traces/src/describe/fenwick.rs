//! How many marks stand behind a place (Fenwick, A new data structure for cumulative frequency
//! tables, 1994).

/// Marks on places from 0 on.
pub(super) struct Fenwick {
    sums: Vec<u32>,
}

impl Fenwick {
    pub(super) fn new(places: usize) -> Fenwick {
        Fenwick {
            sums: vec![0; places + 1],
        }
    }

    pub(super) fn places(&self) -> usize {
        self.sums.len() - 1
    }

    pub(super) fn clear(&mut self) {
        self.sums.fill(0);
    }

    pub(super) fn mark(&mut self, place: usize) {
        self.change(place, 1);
    }

    pub(super) fn unmark(&mut self, place: usize) {
        self.change(place, u32::MAX);
    }

    fn change(&mut self, place: usize, by: u32) {
        let mut at = place + 1;
        while let Some(sum) = self.sums.get_mut(at) {
            *sum = sum.wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }

    /// Marks on places up to this one, itself included.
    pub(super) fn up_to(&self, place: usize) -> u32 {
        let (mut at, mut sum) = (place + 1, 0u32);
        while at > 0 {
            sum = sum.wrapping_add(self.sums[at]);
            at &= at - 1;
        }
        sum
    }
}
