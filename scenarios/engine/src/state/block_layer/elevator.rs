//! Waiting requests by position.

use raidlab_io::IoId;
use raidlab_kernel::{Nanos, Time};

/// A request that waits in order of position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    offset: u64,
    id: IoId,
    since: Time,
    /// Order of arrival.
    ticket: u64,
}

/// Requests by position.
#[derive(Debug, Default)]
pub(crate) struct Elevator {
    /// Ascending by position; first come first among equals.
    pub(crate) waiting: Vec<Waiting>,
    /// Beyond the last request that was taken in order of position.
    position: u64,
    /// The request after the one that was taken last, by place and ticket.
    pub(crate) next: Option<(u64, u64)>,
    tickets: u64,
}

impl Elevator {
    pub(crate) fn with_capacity(places: usize) -> Elevator {
        Elevator {
            waiting: Vec::with_capacity(places),
            ..Elevator::default()
        }
    }

    pub(crate) fn push(&mut self, offset: u64, id: IoId, since: Time) {
        let at = self.waiting.partition_point(|other| other.offset <= offset);
        let ticket = self.tickets;
        self.tickets += 1;
        let request = Waiting {
            offset,
            id,
            since,
            ticket,
        };
        self.waiting.insert(at, request);
    }

    /// The nearest one ahead, whenever it came; from the lowest again at the end.
    pub(crate) fn pop_nearest(&mut self) -> Option<IoId> {
        let at = self
            .waiting
            .partition_point(|other| other.offset < self.position);
        let at = if at == self.waiting.len() { 0 } else { at };
        self.take(at)
    }

    /// The one that was next when the one before it was taken; the oldest if there was none.
    pub(crate) fn pop_settled(&mut self) -> Option<IoId> {
        let at = match self.next {
            Some(key) => self
                .waiting
                .partition_point(|other| (other.offset, other.ticket) < key),
            None => self.oldest()?,
        };
        let id = self.take(at);
        self.next = self
            .waiting
            .get(at)
            .map(|request| (request.offset, request.ticket));
        id
    }

    fn take(&mut self, at: usize) -> Option<IoId> {
        let request = *self.waiting.get(at)?;
        self.waiting.remove(at);
        self.position = request.offset + 1;
        Some(request.id)
    }

    fn oldest(&self) -> Option<usize> {
        let waiting = self.waiting.iter().enumerate();
        let oldest = waiting.min_by_key(|(_, request)| request.ticket);
        oldest.map(|(at, _)| at)
    }

    /// Goes on at the oldest request if it has waited for longer than `limit`.
    pub(crate) fn heed(&mut self, now: Time, limit: Nanos) {
        let oldest = self.oldest().map(|at| &self.waiting[at]);
        if oldest.is_some_and(|request| now.since(request.since) > limit) {
            self.next = None;
        }
    }
}
