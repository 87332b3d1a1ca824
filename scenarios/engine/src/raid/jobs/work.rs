//! What jobs are for.

use crate::ids::{RowId, TaskId};
use crate::layout::Role;
use crate::raid::bitmap::Update;
use crate::state::slowest::Beside;
use raidlab_io::{ByteRange, Queue};
use raidlab_models::{GroupId, GroupSlot, SlotId};

/// What a job is for, with what only this kind of job needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Work {
    /// Writes new data to a stripe.
    #[default]
    Write,
    /// Writes new data of a line to the line's slot of the SSD cache.
    WriteSlot(SlotRange),
    /// Recovers data of a lost drive or of unreadable sectors: it computes them from the other units
    /// or reads another copy.
    Recover,
    /// Writes a group of the cache to the drives.
    Destage(Destage),
    /// Reads into the cache.
    Fill(Fill),
    /// Reads or computes a unit of one member for a background task.
    Row(Row),
    /// Reads a group to see whether it can be read, or to compare its parity with its data, or its
    /// copies.
    Check(Check),
    /// Copies a line between an array and its SSD cache.
    Copy(LineCopy),
    /// Reads a part of a request from the SSD cache.
    Fetch(SlotRange),
    /// Moves a part of a request that bypasses the SSD cache, since the SSD cache has lost it.
    Bypass,
    /// Writes the bitmap of an array to its members.
    Bitmap(Update),
}

const _: () = assert!(
    size_of::<Work>() <= 32,
    "a job's work is copied in a few moves"
);

/// A range of an array and the slot of the SSD cache that holds its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotRange {
    pub slot: SlotId,
    pub range: ByteRange,
}

/// A group of the cache that leaves, and the slot that takes it if it goes to the SSD cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Destage {
    pub group: GroupSlot,
    pub slot: Option<SlotId>,
}

/// A range of an array that is read into the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub range: ByteRange,
    /// Requests that wait for the data.
    pub readers: Queue,
}

/// A row of a background task: one unit of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The number of the task.
    pub task: TaskId,
    pub row: RowId,
    pub role: Role,
}

/// A group of a patrol read or of a consistency check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    /// The number of the task.
    pub task: TaskId,
    pub group: GroupId,
    /// True if it compares what it reads, and does not only look whether it can be read.
    pub compares: bool,
    /// True if parity does not fit the data, or copies differ.
    pub differs: bool,
}

/// Where a copied line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyTo {
    /// A hot line goes to the SSD cache.
    Cache,
    /// A dirty line goes back to the array.
    Array,
}

/// A line that is copied: its range of the array and its slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineCopy {
    pub to: CopyTo,
    pub slot: SlotId,
    pub range: ByteRange,
}

impl LineCopy {
    pub fn at(&self) -> SlotRange {
        SlotRange {
            slot: self.slot,
            range: self.range,
        }
    }
}

impl Work {
    /// What it is to requests that meet it: work of a cache. Rows and checks are their task's.
    #[inline]
    pub fn beside(&self) -> Option<Beside> {
        Some(match self {
            Work::Destage(_) => Beside::Destage,
            Work::Fill(_) => Beside::ReadAhead,
            Work::Copy(copy) if copy.to == CopyTo::Cache => Beside::Promotion,
            Work::Copy(_) => Beside::WriteBack,
            _ => return None,
        })
    }

    /// Whether the job writes new data, and parity with them.
    #[inline]
    pub fn is_write(&self) -> bool {
        matches!(self, Work::Write | Work::WriteSlot(_) | Work::Destage(_))
    }

    /// Whether the job writes to a slot of an SSD cache.
    #[inline]
    pub fn is_in_slot(&self) -> bool {
        match self {
            Work::WriteSlot(_) => true,
            Work::Destage(destage) => destage.slot.is_some(),
            _ => false,
        }
    }

    /// Whether the job moves lines or parts of them, and locks no stripe itself.
    #[inline]
    pub fn is_of_lines(&self) -> bool {
        matches!(
            self,
            Work::Fill(_) | Work::Copy(_) | Work::Fetch(_) | Work::Bypass
        )
    }

    /// Whether a read that failed is repeated elsewhere by itself, without the job.
    pub fn reads_elsewhere(&self) -> bool {
        match self {
            Work::Fill(_) | Work::Bypass => true,
            Work::Copy(copy) => copy.to == CopyTo::Cache,
            _ => false,
        }
    }

    /// Whether the job brings a dirty line back to its array.
    pub fn is_write_back(&self) -> bool {
        matches!(self, Work::Copy(copy) if copy.to == CopyTo::Array)
    }

    /// The number of the background task that the job belongs to.
    pub fn task(&self) -> Option<TaskId> {
        match *self {
            Work::Row(Row { task, .. }) | Work::Check(Check { task, .. }) => Some(task),
            _ => None,
        }
    }

    /// The row of its background task that the job is.
    pub fn row(&self) -> Option<RowId> {
        match *self {
            Work::Row(Row { row, .. }) => Some(row),
            Work::Check(Check { group, .. }) => Some(RowId::new(group.number())),
            _ => None,
        }
    }

    /// Whether a consistency check has found a difference.
    pub fn differs(&self) -> bool {
        matches!(self, Work::Check(check) if check.differs)
    }

    /// This work once the SSD cache no longer waits for it.
    pub fn without_slot(self) -> Work {
        match self {
            Work::WriteSlot(_) => Work::Write,
            Work::Destage(Destage { group, .. }) => Work::Destage(Destage { group, slot: None }),
            other => other,
        }
    }
}
