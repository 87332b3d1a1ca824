//! A drive's place in an array: which drive stands there, and what of it can be used.

use crate::ids::{DriveId, SpareId};
use crate::layout::Ranges;

/// A drive's place in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Holds its data.
    Good,
    /// Holds nothing that can be used.
    Failed,
    /// Holds its data up to this offset; the rest is being rebuilt.
    Rebuilding(u64),
}

/// A member of an array.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Index of the drive that stands there now.
    drive: DriveId,
    state: State,
    /// Sectors of its drive that are known to be unreadable.
    unreadable: Ranges,
    /// The drive to which it is being copied, and up to where.
    copy: Option<(DriveId, u64)>,
    /// The number of the distributed spare space that has taken its drive's place.
    spare: Option<SpareId>,
}

impl Member {
    /// A drive stands there, and holds its data.
    pub fn new(drive: DriveId) -> Member {
        Member {
            drive,
            state: State::Good,
            unreadable: Ranges::default(),
            copy: None,
            spare: None,
        }
    }

    /// The drive that stands there now.
    #[inline]
    pub fn drive(&self) -> DriveId {
        self.drive
    }

    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// Sectors of its drive that are known to be unreadable.
    pub fn unreadable(&self) -> &Ranges {
        &self.unreadable
    }

    /// As `unreadable`, mutable.
    pub fn unreadable_mut(&mut self) -> &mut Ranges {
        &mut self.unreadable
    }

    /// The drive to which it is being copied, and up to where.
    #[inline]
    pub fn copy(&self) -> Option<(DriveId, u64)> {
        self.copy
    }

    /// It is not copied to this drive any more.
    pub fn end_copy_to(&mut self, drive: DriveId) {
        self.copy = self.copy.filter(|&(to, _)| to != drive);
    }

    /// What its drive holds is lost.
    pub fn fail(&mut self) {
        self.state = State::Failed;
        self.unreadable.clear();
        self.copy = None;
    }

    /// The number of the distributed spare space that has taken its drive's place.
    #[inline]
    pub fn spare(&self) -> Option<SpareId> {
        self.spare
    }

    /// Distributed spare space takes its drive's place.
    pub fn be_spread(&mut self, spare: SpareId) {
        self.spare = Some(spare);
    }

    /// Another drive stands there.
    pub fn set_drive(&mut self, drive: DriveId) {
        self.drive = drive;
    }

    /// Its drive is being filled, and holds its data up to an offset.
    pub fn rebuild_from(&mut self, upto: u64) {
        self.state = State::Rebuilding(upto);
    }

    /// Its drive holds its data.
    pub fn be_good(&mut self) {
        self.state = State::Good;
    }

    /// It has been copied to a drive up to an offset.
    pub fn copy_up_to(&mut self, copy: (DriveId, u64)) {
        self.copy = Some(copy);
    }

    /// The copy has lost what lies behind an offset.
    pub fn cut_copy(&mut self, upto: u64) {
        self.copy = self.copy.map(|(to, done)| (to, upto.min(done)));
    }

    /// The drive to which it has been copied takes its place; gives the one that stood there. What
    /// the new one has of unreadable sectors is met anew.
    pub fn move_to(&mut self, drive: DriveId) -> DriveId {
        self.copy = None;
        self.spare = None;
        self.unreadable.clear();
        std::mem::replace(&mut self.drive, drive)
    }
}
