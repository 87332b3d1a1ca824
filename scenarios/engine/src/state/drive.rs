//! A drive in its slot: its device, the commands that wait before it, its path to the host.

use crate::ids::{DriveId, LinkId};
use crate::layout::Ranges;
use raidlab_io::{ByteRange, Io, IoId, Ios};
use raidlab_kernel::{Calendar, Nanos, Time, TimeWeighted, prefetch};
use raidlab_models::{Device, Pauses, Port};

use crate::integrity::Integrity;
use crate::state::block_layer::BlockLayer;
use crate::state::event::{Event, RunEvent};
use crate::state::flushes::Flushes;
use crate::state::owner::OwnerOf;
use crate::state::read_balance::Candidate;
use crate::state::read_balance::CopyChoice;

/// Commands by which the copy that reads a stream may have more to do than the other copy.
/// Assumed: long enough to pay for a seek between the runs, short against a deep queue.
const STREAM_RUN: u64 = 16;

/// What is wrong with a drive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    /// Answers nothing any more.
    pub failed: bool,
    /// Takes so much longer for each command.
    pub slow: Nanos,
    /// Sectors that cannot be read until they are written: the drive finds them a new place then.
    pub unreadable: Ranges,
}

/// A drive and what the engine stores of it.
#[derive(Debug)]
pub struct Drive {
    /// For reports.
    pub name: String,
    /// The model.
    pub device: Device,
    /// Indices of the links from the drive to the host.
    pub path: Vec<LinkId>,
    /// How many of them data cross that come from the controller's memory or end there.
    pub own_hops: u8,
    /// Commands that the device takes at once.
    pub queue_depth: u32,
    /// Commands at the device.
    pub in_flight: u32,
    /// Those of them before which others wait.
    pub ahead: u32,
    /// When the device takes up no command; none if it always does.
    pub(crate) pauses: Option<Box<Pauses>>,
    /// Commands that wait for a place at the device.
    pub waiting: BlockLayer,
    /// Commands here, waiting or at the device.
    pub load: TimeWeighted,
    /// Where the last command that was sent here ended.
    pub position: u64,
    /// Where the last read that was sent here ended.
    pub(crate) read_to: u64,
    /// Where the last command that came back ended.
    pub(crate) head: u64,
    pub(crate) health: Health,
    pub(crate) flushes: Flushes,
}

impl Drive {
    /// Prefetches its own fields, not what they point to.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.device);
        prefetch(&self.path);
        prefetch(&self.in_flight);
        prefetch(&self.waiting);
        prefetch(&self.load);
    }

    /// Whether the device has a place for another command.
    #[inline]
    pub fn has_place(&self) -> bool {
        self.ahead == 0
            && !self.flushes.stop_others()
            && (self.queue_depth == 0 || self.in_flight < self.queue_depth)
    }

    /// What a mirror weighs before it sends a read here: how many commands stand before it,
    /// and then how far the medium has to move.
    ///
    /// A read that goes on where the last one ended counts for less, up to `STREAM_RUN` commands:
    /// one copy reads a stream on until it has that many more to do than the other, which then
    /// takes over. So both copies read long runs of a deep stream, and one alone a shallow one.
    /// A mirror in the host's software that is not md's looks at the queues first.
    ///
    /// Of drives of different models each command here counts with the time of a small read, and
    /// the read itself with the positioning of the arm, if there is one.
    pub(crate) fn cost(&self, now: Time, offset: u64, choice: CopyChoice) -> (u64, Nanos, u64) {
        let level = self.load.level();
        let positioning = self.device.positioning(now, offset);
        let away = self.position.abs_diff(offset);
        match choice {
            CopyChoice::Nearest if away > 0 => (level + STREAM_RUN, positioning, away),
            CopyChoice::OneForStream if away == 0 => (0, positioning, away),
            CopyChoice::OneForStream => (level + STREAM_RUN, positioning, away),
            CopyChoice::Nearest | CopyChoice::ShortestQueue | CopyChoice::Md(_) => {
                (level, positioning, away)
            }
            CopyChoice::Expected => {
                let each = self.device.read_time() + self.health.slow;
                (each.0 * (level + 1) + positioning.0, positioning, away)
            }
        }
    }

    /// A command's data come before the first of the links that they cross; false if there is none.
    #[inline]
    pub(crate) fn set_out(&self, io: &mut Io) -> bool {
        let all = self.path.len() as u8;
        let hops = if io.from_memory { self.own_hops } else { all };
        (io.hop, io.hops) = (0, hops);
        hops > 0
    }

    /// The power fails: flushes that no drive has are gone.
    pub(crate) fn forget_flushes(&mut self, ios: &mut Ios, now: Time) {
        while let Some(id) = self.flushes.waiting.pop(ios) {
            self.load.change(now, -1);
            ios.release(id);
        }
        while let Some(id) = self.flushes.riders.pop(ios) {
            self.load.change(now, -1);
            self.in_flight -= 1;
            ios.release(id);
        }
        self.flushes.at_drive = false;
    }

    /// What md knows of a copy at `offset` here.
    pub(crate) fn candidate(&self, offset: u64) -> Candidate {
        Candidate {
            offset,
            pending: self.load.level(),
            read_to: self.read_to,
            head: self.head,
            rotates: self.device.rotates(),
        }
    }
}

/// The engine as the device of one drive sees it.
pub struct DrivePort<'a> {
    /// Index of the drive.
    pub drive: DriveId,
    /// The calendar of the run.
    pub calendar: &'a mut Calendar<Event>,
    /// All I/Os.
    pub ios: &'a mut Ios,
    /// The versions of the data, if the run follows them.
    pub(crate) integrity: Option<&'a mut Integrity>,
}

impl Port for DrivePort<'_> {
    #[inline]
    fn now(&self) -> Time {
        self.calendar.now()
    }

    #[inline]
    fn io(&mut self, io: IoId) -> &mut Io {
        &mut self.ios[io]
    }

    #[inline]
    fn wake(&mut self, at: Time, token: u32) {
        let drive = self.drive;
        self.calendar.push(at, Event::Device { drive, token });
    }

    #[inline]
    fn done(&mut self, io: IoId, at: Time, lead: Nanos) {
        let record = &mut self.ios[io];
        debug_assert_eq!(
            record.mark, at,
            "charged up to {:?}, done at {at:?}",
            record.mark
        );
        record.data_end = Time(at.0.saturating_sub(lead.0));
        self.calendar.push(at, Event::Done(io));
    }

    fn fails(&mut self) {
        let failed = RunEvent::DriveFailed(self.drive).into();
        self.calendar.push(self.calendar.now(), failed);
    }

    #[inline]
    fn holds(&mut self, io: IoId) {
        if let Some(integrity) = &mut self.integrity {
            let record = &self.ios[io];
            if !record.owner.is_cut_off() {
                integrity
                    .drives
                    .cache_in_drive(io, self.drive, record.offset);
            }
        }
    }

    #[inline]
    fn settles(&mut self, range: ByteRange, at: Time) {
        if let Some(integrity) = &mut self.integrity {
            integrity
                .drives
                .write_back(self.drive, range, at, self.calendar.now());
        }
    }

    #[inline]
    fn listens(&self) -> bool {
        self.integrity.is_some()
    }
}
