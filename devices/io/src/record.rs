//! The record of one I/O: what is asked, and where its time went.

use crate::range::ByteRange;
use prefetch_index::prefetch_index;
use raidlab_kernel::{Nanos, Slab, Time, ids};
use std::ops::{Index, IndexMut};

/// What an I/O asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Op {
    /// Data to the host.
    #[default]
    Read,
    /// Data from the host.
    Write,
    /// The range is not needed any more.
    Trim,
    /// Everything written so far is on stable media when this completes.
    Flush,
}

impl Op {
    /// True if data moves from the host to the device.
    pub fn is_write(self) -> bool {
        self == Op::Write
    }
}

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Where an I/O's time can go.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Part { $($(#[$doc])* $name,)* }

        /// Number of parts.
        pub const PART_COUNT: usize = [$(Part::$name),*].len();

        impl Part {
            /// All parts, in the order in which reports list them.
            pub const ALL: [Part; PART_COUNT] = [$(Part::$name),*];

            /// The name that reports print.
            pub fn name(self) -> &'static str {
                match self { $(Part::$name => $text,)* }
            }
        }
    };
}

parts! {
    /// Waiting for tokens of its load's limit.
    LimitWait = "limit_wait",
    /// Waiting while other tenants of its array have their share.
    ShareWait = "share_wait",
    /// Waiting for a host CPU thread.
    HostWait = "host_wait",
    /// CPU time on a host thread.
    Host = "host",
    /// RAID in the host or in the controller: splitting, copying, parity, waits for a bitmap.
    Raid = "raid",
    /// Waiting for a place in the controller's queue or for one of its cores.
    ControllerWait = "controller_wait",
    /// Firmware time on the controller's cores.
    Controller = "controller",
    /// Moving into a cache or out of it.
    Cache = "cache",
    /// Waiting for room in a cache, for data in flight to it, or until what it holds is written.
    CacheWait = "cache_wait",
    /// Waiting for a link that is busy with other transfers.
    LinkWait = "link_wait",
    /// Moving over links.
    Link = "link",
    /// Waiting in the queue of the drive.
    Queue = "queue",
    /// The drive's own command processing.
    Overhead = "overhead",
    /// Arm movement, head switches and settling.
    Seek = "seek",
    /// Waiting for the sector to come round.
    Rotation = "rotation",
    /// Moving between medium and buffer, or over a drive's own bus.
    Transfer = "transfer",
    /// NAND array reads.
    NandRead = "nand_read",
    /// NAND programming.
    NandProgram = "nand_program",
    /// Waiting for garbage collection, erases included.
    GarbageCollection = "garbage_collection",
    /// Service of a device that is only a service time.
    Service = "service",
}

/// Durations by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts([Nanos; PART_COUNT]);

impl Parts {
    /// The sum of all parts.
    pub fn total(&self) -> Nanos {
        self.0.iter().fold(Nanos::ZERO, |sum, &part| sum + part)
    }

    /// Adds every part of `other`.
    #[inline]
    pub fn add(&mut self, other: &Parts) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += *theirs;
        }
    }
}

impl Parts {
    /// What was added since these parts were as `earlier`.
    pub fn since(&self, earlier: &Parts) -> Parts {
        let each = self.0.iter().zip(&earlier.0);
        let mut since = Parts::default();
        for (to, (now, before)) in since.0.iter_mut().zip(each) {
            *to = Nanos(now.0.saturating_sub(before.0));
        }
        since
    }

    /// Whether no part of `other` is longer.
    pub fn covers(&self, other: &Parts) -> bool {
        self.0
            .iter()
            .zip(&other.0)
            .all(|(mine, theirs)| mine >= theirs)
    }

    /// Prefetches all parts.
    #[inline]
    pub fn prefetch(&self) {
        for line in self.0.chunks(8) {
            prefetch_index(line, 0);
        }
    }
}

impl Index<Part> for Parts {
    type Output = Nanos;
    fn index(&self, part: Part) -> &Nanos {
        &self.0[part as usize]
    }
}

impl IndexMut<Part> for Parts {
    fn index_mut(&mut self, part: Part) -> &mut Nanos {
        &mut self.0[part as usize]
    }
}

ids! {
    /// An I/O in the slab of all I/Os.
    IoId;
    /// A drive of the system.
    DriveId;
    /// An array of the system.
    ArrayId;
    /// A thread of the host.
    ThreadId;
}

/// All I/Os in flight.
pub type Ios = Slab<IoId, Io>;

/// Who issued an I/O: 32 bits of the engine's own, which the kernel does not interpret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Mark(u32);

impl Mark {
    /// A mark of these bits.
    #[inline]
    pub const fn new(bits: u32) -> Mark {
        Mark(bits)
    }

    /// The bits of the mark.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// How far a request has come whose data pass through a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// The controller has taken it up.
    #[default]
    TakenUp,
    /// Write data are in memory.
    DataIn,
    /// The bitmap of the array says on every member that they are coming.
    Marked,
    /// Commands or jobs are in flight.
    Working,
    /// Only the host has to learn of its completion.
    Done,
    /// The data that a read waited for have come into the cache.
    Awaited,
    /// A command before which others wait for its drive.
    Ahead,
    /// A command that waits for its drive behind those that the host waits for.
    Behind,
}

/// One I/O in flight: a host's request, or one of the commands it was split into.
///
/// The first 64 bytes, one line of the processor's cache, hold what nearly every step needs: with
/// thousands of I/Os in flight, each step meets another record and waits for its memory.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Io {
    /// What is asked.
    pub op: Op,
    /// How far a request has come.
    pub stage: Stage,
    /// True if a request cannot be served: its data are lost, or cannot be stored.
    pub refused: bool,
    /// True if a command's data come from its controller's memory or end there.
    pub from_memory: bool,
    /// True of a write that is complete once the medium has its data: FUA, force unit access.
    pub fua: bool,
    /// How many of its links a command's data have reached.
    pub hop: u8,
    /// How many links a command's data cross.
    pub hops: u8,
    /// First byte, on the array for a request, on the drive for a command.
    pub offset: u64,
    /// Number of bytes; may be 0 for a flush.
    pub bytes: u64,
    /// Up to when its time is accounted for.
    pub mark: Time,
    /// When the last of its data came or comes in at that link; before the first link of a
    /// read, when the first of them came.
    pub data_end: Time,
    /// The drive that serves it as a command; of a request, that of the last of its commands.
    pub drive: DriveId,
    /// The request that this command serves; `Io::NONE` for a request itself.
    pub parent: IoId,
    /// The one behind it in the queue where it waits.
    pub next: IoId,
    /// Commands that a request still waits for.
    pub pending: u32,
    /// Who issued it.
    pub owner: Mark,
    /// The array that a request is for.
    pub array: ArrayId,
    /// Where its time went up to `mark`: the parts add up to `mark - issued`.
    pub parts: Parts,
    /// When it was issued.
    pub issued: Time,
    /// When it left the host's CPU.
    pub entered: Time,
    /// Bytes that the commands of a request have moved so far.
    pub moved: u64,
    /// Of a flash read's waiting: for the channel, behind its sense.
    pub channel_wait: Nanos,
}

impl Io {
    /// No I/O.
    pub const NONE: IoId = IoId::NONE;

    /// A request or command issued at `now`, with no time accounted for yet.
    #[inline]
    pub fn new(op: Op, range: ByteRange, now: Time) -> Io {
        Io {
            op,
            offset: range.offset,
            bytes: range.bytes,
            issued: now,
            mark: now,
            parent: Io::NONE,
            ..Io::default()
        }
    }

    /// What it is about: bytes of the array for a request, of the drive for a command.
    #[inline]
    pub const fn range(&self) -> ByteRange {
        ByteRange::new(self.offset, self.bytes)
    }

    /// Keeps it waiting while its children are being sent.
    #[inline]
    pub fn hold(&mut self) {
        self.pending += 1;
    }

    /// Accounts the time from `mark` to `until` to `part`; nothing if `until` is not later.
    #[inline]
    pub fn charge(&mut self, part: Part, until: Time) {
        self.parts[part] += until.since(self.mark);
        self.mark = self.mark.max(until);
    }

    /// Accounts a stay at a first-come station: waiting, then service.
    #[inline]
    pub fn charge_stay(&mut self, wait: Part, service: Part, served: raidlab_kernel::Served) {
        self.charge(wait, served.start);
        self.charge(service, served.end);
    }

    /// Time since it was issued that is accounted for.
    pub fn latency(&self) -> Nanos {
        self.mark - self.issued
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn what_every_step_needs_lies_in_one_line_of_the_cache() {
        assert_eq!(offset_of!(Io, offset), 8);
        assert_eq!(offset_of!(Io, drive), 40);
        assert_eq!(offset_of!(Io, array) + size_of::<ArrayId>(), 64);
        assert_eq!(offset_of!(Io, parts), 64);
        assert_eq!(size_of::<Io>(), 256);
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_latency(
            charges in prop::collection::vec((0usize..PART_COUNT, 0u64..1000), 0..40),
        ) {
            let mut io = Io::new(Op::Read, ByteRange::new(0, 4096), Time(500));
            for (part, until) in charges {
                io.charge(Part::ALL[part], Time(500 + until));
                prop_assert_eq!(io.parts.total(), io.latency());
            }
        }
    }
}
