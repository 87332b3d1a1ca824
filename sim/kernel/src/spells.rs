//! Times in which something holds, such as an empty bucket: a few, each with its begin and end.

use crate::{Nanos, Time};

/// Spells at most; what comes later lengthens the last one.
const MOST: usize = 32;

/// Spells that follow each other; those with a short pause between them are one.
#[derive(Clone, Debug)]
pub struct Spells {
    all: Vec<(Time, Time)>,
    pause: Nanos,
}

impl Spells {
    /// None so far; two with at most `pause` between them count as one.
    pub fn new(pause: Nanos) -> Spells {
        Spells {
            all: Vec::with_capacity(MOST),
            pause,
        }
    }

    /// It holds from `from` to `to`; `from` does not lie before that of an earlier call, but for
    /// parts that work side by side.
    #[inline]
    pub fn add(&mut self, from: Time, to: Time) {
        let full = self.all.len() == MOST;
        match self.all.last_mut() {
            Some((_, end)) if full || from <= *end + self.pause => *end = (*end).max(to),
            _ => self.all.push((from, to)),
        }
    }

    /// Begin and end of each up to `now`.
    pub fn until(&self, now: Time) -> impl Iterator<Item = (Time, Time)> + '_ {
        let begun = self.all.iter().filter(move |(from, _)| *from < now);
        begun.map(move |&(from, to)| (from, to.min(now)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0 to 1 and 1 to 3 touch, 5 is 2 behind 3, 9 is 3 behind 6; at 10 the last one has
    /// not ended.
    #[test]
    fn spells_with_a_short_pause_between_them_are_one() {
        let mut spells = Spells::new(Nanos(2));
        for (from, to) in [(0, 1), (1, 3), (5, 6), (9, 12)] {
            spells.add(Time(from), Time(to));
        }
        let until = |now| spells.until(Time(now)).collect::<Vec<_>>();
        assert_eq!(until(10), [(Time(0), Time(6)), (Time(9), Time(10))]);
        assert_eq!(until(4), [(Time(0), Time(4))]);
        assert_eq!(Spells::new(Nanos(2)).until(Time(9)).count(), 0);
    }

    #[test]
    fn there_are_few() {
        let mut spells = Spells::new(Nanos(0));
        for at in 0..1000 {
            spells.add(Time(10 * at), Time(10 * at + 1));
        }
        assert_eq!(spells.until(Time::NEVER).count(), MOST);
        let last = spells.until(Time::NEVER).last();
        assert_eq!(last, Some((Time(10 * (MOST as u64 - 1)), Time(9_991))));
    }
}
