//! The write buffer: host data between their arrival and the end of their program.
//!
//! The buffer takes writes in the order of arrival, as it has room for them. Without room writes
//! wait for programs to end, and through them for garbage collection. A write is complete when the
//! buffer has taken it or, written through, when its data are in NAND.

pub(crate) mod flushes;
pub mod prefetch;
pub mod prefilled;
pub mod programs;
pub mod read_buffer;

use crate::ssd::nand::job::Work;
use raidlab_io::IoId;
use raidlab_kernel::Time;
use std::collections::VecDeque;

/// A write that waits for room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitingWrite {
    pub(crate) io: IoId,
    /// Room that it needs.
    pub(crate) units: u32,
    /// Firmware is done with it.
    pub(crate) processed: Time,
    /// Die time so far when it began to wait.
    pub(crate) before: Work,
}

/// The buffer, and the commands that wait for it.
#[derive(Debug)]
pub(crate) struct Buffer {
    capacity: u32,
    used: u32,
    pub(crate) waiting: VecDeque<WaitingWrite>,
    /// Commands that are complete when all programs before a sequence number have ended.
    durable: VecDeque<(IoId, u32)>,
    /// Programs in flight from `oldest` on: true once they have ended.
    ended: VecDeque<bool>,
    oldest: u32,
}

impl Buffer {
    pub(crate) fn new(capacity: u32) -> Buffer {
        Buffer {
            capacity,
            used: 0,
            waiting: VecDeque::with_capacity(1024),
            durable: VecDeque::with_capacity(1024),
            ended: VecDeque::with_capacity(1024),
            oldest: 0,
        }
    }

    /// True if `units` can be taken at once; a command larger than the buffer when it is empty.
    #[inline]
    pub(crate) fn has_room(&self, units: u32) -> bool {
        self.used + units <= self.capacity || self.used == 0
    }

    #[inline]
    pub(crate) fn take(&mut self, units: u32) {
        self.used += units;
    }

    #[inline]
    pub(crate) fn release(&mut self, units: u32) {
        debug_assert!(self.used >= units);
        self.used -= units;
    }

    /// True if a write waits for room or for NAND.
    #[inline]
    pub(crate) fn makes_wait(&self) -> bool {
        !self.waiting.is_empty() || !self.durable.is_empty()
    }

    /// Units that fit into it.
    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Units in it.
    pub(crate) fn used(&self) -> u32 {
        self.used
    }

    /// A program goes to NAND; returns its sequence number.
    #[inline]
    pub(crate) fn program_issued(&mut self) -> u32 {
        self.ended.push_back(false);
        self.oldest.wrapping_add(self.ended.len() as u32 - 1)
    }

    /// A program has ended.
    #[inline]
    pub(crate) fn program_ended(&mut self, sequence: u32) {
        self.ended[sequence.wrapping_sub(self.oldest) as usize] = true;
        while self.ended.front() == Some(&true) {
            self.ended.pop_front();
            self.oldest = self.oldest.wrapping_add(1);
        }
    }

    /// `io` is complete when all programs issued so far have ended; false if they have.
    pub(crate) fn wait_until_durable(&mut self, io: IoId) -> bool {
        if self.ended.is_empty() {
            return false;
        }
        let target = self.oldest.wrapping_add(self.ended.len() as u32);
        self.durable.push_back((io, target));
        true
    }

    /// The next command whose programs have all ended.
    #[inline]
    pub(crate) fn next_durable(&mut self) -> Option<IoId> {
        let &(io, target) = self.durable.front()?;
        if (target.wrapping_sub(self.oldest) as i32) > 0 {
            return None;
        }
        self.durable.pop_front();
        Some(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_waits_for_the_programs_before_it_and_for_no_later_one() {
        let mut buffer = Buffer::new(8);
        let first = buffer.program_issued();
        let second = buffer.program_issued();
        assert!(buffer.wait_until_durable(IoId::new(7)));
        let third = buffer.program_issued();
        buffer.program_ended(second);
        assert_eq!(buffer.next_durable(), None);
        buffer.program_ended(first);
        assert_eq!(buffer.next_durable(), Some(IoId::new(7)));
        buffer.program_ended(third);
        assert!(!buffer.wait_until_durable(IoId::new(8)));
    }
}
