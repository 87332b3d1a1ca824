//! One record from its claim to its release: what was charged, put in order.

use crate::ids::{ArrayId, DriveId, ThreadId};
use crate::run::io_trace::component::{Component, Places};
use raidlab_io::{Io, Mark, Op, Part, Parts};
use raidlab_kernel::{Nanos, Time};

/// What a record stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An I/O of a load or of an outside caller.
    Request,
    /// An I/O of a load that goes through a page cache.
    Call,
    /// A request of a page cache.
    Pages,
    /// Work on a stripe.
    Job,
    /// A command to a drive.
    Command,
}

/// A part of an I/O's time, at a component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    /// The number of the record.
    pub(crate) of: u32,
    pub(crate) component: Component,
    pub(crate) part: Part,
    pub(crate) begin: Time,
    pub(crate) end: Time,
}

/// What a record below a request was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Below {
    pub(crate) number: u32,
    pub(crate) parent: u32,
    pub(crate) role: Role,
    pub(crate) op: Op,
    pub(crate) drive: DriveId,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// A record and what it has been charged with so far.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) number: u32,
    /// The number of the record above; 0 for none.
    parent: u32,
    pub(crate) role: Role,
    pub(crate) array: ArrayId,
    pub(crate) thread: ThreadId,
    pub(crate) owner: Mark,
    pub(crate) op: Op,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) issued: Time,
    pub(crate) mark: Time,
    /// True if its intervals add up to the time from `issued` to `mark`.
    pub(crate) whole: bool,
    parts: Parts,
    hop: u8,
    drive: DriveId,
    /// Without a gap from `issued` to `mark`: those of the last child are the record's own.
    pub(crate) path: Vec<Interval>,
    /// Of children that others took longer than.
    pub(crate) beside: Vec<Interval>,
    /// All records below.
    pub(crate) below: Vec<Below>,
}

/// Parts above the drives in the order of the path down.
const ABOVE: [Part; 5] = [
    Part::Raid,
    Part::ControllerWait,
    Part::Controller,
    Part::CacheWait,
    Part::Cache,
];
/// Parts at the drives.
pub(crate) const BELOW: [Part; 9] = [
    Part::Overhead,
    Part::GarbageCollection,
    Part::Seek,
    Part::Rotation,
    Part::NandProgram,
    Part::NandRead,
    Part::Queue,
    Part::Transfer,
    Part::Service,
];
const HOST: [Part; 4] = [Part::LimitWait, Part::ShareWait, Part::HostWait, Part::Host];

impl Life {
    pub(crate) fn new(number: u32, parent: u32, io: &Io, role: Role) -> Life {
        Life {
            number,
            parent,
            role,
            array: io.array,
            thread: ThreadId::default(),
            owner: io.owner,
            op: io.op,
            offset: io.offset,
            bytes: io.bytes,
            issued: io.issued,
            mark: io.issued,
            whole: true,
            parts: Parts::default(),
            hop: 0,
            drive: io.drive,
            path: Vec::with_capacity(16),
            beside: Vec::new(),
            below: Vec::new(),
        }
    }

    /// Notes what was charged since the last look, and takes over those of its children among the
    /// records that have `ended` meanwhile.
    pub(crate) fn advance(&mut self, io: &Io, ended: &mut Vec<Life>, places: &Places) {
        self.drive = io.drive;
        if io.mark > self.mark {
            let mut own = io.parts.since(&self.parts);
            if let Some(at) = ended.iter().rposition(|child| self.waited_for(child, &own)) {
                let child = ended.remove(at);
                own = own.since(&child.parts);
                let before = child.issued.since(self.mark);
                self.charge(io, &mut own, before, places);
                self.take(child, true);
            }
            self.charge(io, &mut own, Nanos(u64::MAX), places);
            // The power failed, and nobody knows what it was doing.
            self.whole &= self.mark == io.mark;
            self.mark = io.mark;
            self.parts = io.parts;
        }
        let mut at = 0;
        while at < ended.len() {
            if ended[at].parent == self.number {
                let child = ended.remove(at);
                self.take(child, false);
            } else {
                at += 1;
            }
        }
        self.hop = io.hop;
    }

    /// Whether the child's time is part of `own`: the child is the one that came last.
    fn waited_for(&self, child: &Life, own: &Parts) -> bool {
        let is_child =
            child.parent == self.number || child.role == Role::Pages && self.role == Role::Call;
        let has_time = child.mark > child.issued;
        is_child && has_time && child.issued >= self.mark && own.covers(&child.parts)
    }

    /// A child's time becomes the record's own, or runs beside it.
    fn take(&mut self, child: Life, own: bool) {
        self.below.push(Below {
            number: child.number,
            parent: self.number,
            role: child.role,
            op: child.op,
            drive: child.drive,
            offset: child.offset,
            bytes: child.bytes,
        });
        self.below.extend(child.below);
        self.beside.extend(child.beside);
        if own {
            self.whole &= child.whole;
            self.path.extend(child.path);
            self.mark = child.mark;
        } else {
            self.beside.extend(child.path);
        }
    }

    /// Puts so much of `own` at the end of the path, in the order of the system.
    fn charge(&mut self, io: &Io, own: &mut Parts, most: Nanos, places: &Places) {
        let mut left = most;
        for (part, component, length) in self.in_order(io, own, places) {
            let length = length.min(left).min(own[part]);
            if length == Nanos::ZERO {
                continue;
            }
            left = Nanos(left.0 - length.0);
            own[part] = Nanos(own[part].0 - length.0);
            let (begin, end) = (self.mark, self.mark + length);
            self.mark = end;
            match self.path.last_mut() {
                Some(last)
                    if (last.of, last.component, last.part) == (self.number, component, part) =>
                {
                    last.end = end;
                }
                _ => self.path.push(Interval {
                    of: self.number,
                    component,
                    part,
                    begin,
                    end,
                }),
            }
        }
    }

    /// The parts of `own` one after the other, each with its component.
    fn in_order(&self, io: &Io, own: &Parts, places: &Places) -> Vec<(Part, Component, Nanos)> {
        let mut order = Vec::with_capacity(20);
        let mut put = |part: Part, length: Nanos| {
            order.push((part, places.component(self, io, part), length));
        };
        let at_drive = places.is_at_drive(self);
        let first = self.mark == self.issued;
        if first {
            HOST.iter().for_each(|&part| put(part, own[part]));
        }
        for part in ABOVE {
            if !(at_drive && matches!(part, Part::Cache | Part::CacheWait)) {
                put(part, own[part]);
            }
        }
        // A flash read waits for the channel behind its sense.
        let behind = match own[Part::NandRead] {
            Nanos::ZERO => Nanos::ZERO,
            _ => io.channel_wait.min(own[Part::Queue]),
        };
        put(Part::Queue, Nanos(own[Part::Queue].0 - behind.0));
        put(Part::LinkWait, own[Part::LinkWait]);
        put(Part::Link, own[Part::Link]);
        for part in BELOW {
            put(
                part,
                if part == Part::Queue {
                    behind
                } else {
                    own[part]
                },
            );
        }
        if at_drive {
            put(Part::CacheWait, own[Part::CacheWait]);
            put(Part::Cache, own[Part::Cache]);
        }
        if !first {
            HOST.iter().for_each(|&part| put(part, own[part]));
        }
        self.put_last_link_first(io, own, places, &mut order);
        order
    }

    /// Data that reach a link crossed the one before it up to now.
    fn put_last_link_first(
        &self,
        io: &Io,
        own: &Parts,
        places: &Places,
        order: &mut Vec<(Part, Component, Nanos)>,
    ) {
        let went_on = self.hop > 0 && io.hop > self.hop;
        let before = self.hop.checked_sub(1).filter(|_| went_on);
        let Some(link) = before.and_then(|hop| places.link(io, hop)) else {
            return;
        };
        let length = places.now.since(self.mark).min(own[Part::Link]);
        order.insert(0, (Part::Link, Component::Link(link), length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part without a place would leave a gap.
    #[test]
    fn every_part_has_its_place() {
        let links = [Part::LinkWait, Part::Link];
        let places = [&HOST[..], &ABOVE, &links, &BELOW].concat();
        for part in Part::ALL {
            assert_eq!(
                places.iter().filter(|&&each| each == part).count(),
                1,
                "{part:?}"
            );
        }
    }
}
