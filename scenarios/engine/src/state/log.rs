//! What happened during a run.

use raidlab_kernel::Time;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;

/// What a task in the background of an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// The data of a drive are computed again.
    Rebuild,
    /// The data of a spare are copied to a new drive.
    Copyback,
    /// All data are read.
    PatrolRead,
    /// Parity or copies are compared.
    ConsistencyCheck,
}

/// What becomes of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPhase {
    /// It begins.
    Begun,
    /// A more urgent one takes its place.
    Suspended,
    /// It goes on where it was.
    Resumed,
    /// It is done.
    Done,
    /// It ends before it is done.
    GivenUp,
    /// It cannot begin.
    Refused,
}

/// What kind of thing happened; in the result by its name: `drive-failed`, `rebuild-done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A drive fails for good.
    DriveFailed,
    /// A new drive stands in its place.
    DriveReplaced,
    /// A drive's commands take longer.
    DriveSlow,
    /// They take as long as before.
    DriveRecovered,
    /// Sectors cannot be read.
    UnreadableSectors,
    /// The power fails.
    PowerFailed,
    /// The power is back.
    PowerBack,
    /// The hot spot of a load moves.
    HotSpotMoved,
    /// What keeps a controller's memory through an outage is ready.
    BackupReady,
    /// It is not ready.
    BackupNotReady,
    /// An array has lost more than it tolerates.
    ArrayOffline,
    /// Dirty lines of an SSD cache are lost.
    LinesLost,
    /// An event of the plan has no effect.
    Ignored,
    /// A task in the background of an array.
    Task(TaskKind, TaskPhase),
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            EventKind::DriveFailed => "drive-failed",
            EventKind::DriveReplaced => "drive-replaced",
            EventKind::DriveSlow => "drive-slow",
            EventKind::DriveRecovered => "drive-recovered",
            EventKind::UnreadableSectors => "unreadable-sectors",
            EventKind::PowerFailed => "power-failed",
            EventKind::PowerBack => "power-back",
            EventKind::HotSpotMoved => "hot-spot-moved",
            EventKind::BackupReady => "backup-ready",
            EventKind::BackupNotReady => "backup-not-ready",
            EventKind::ArrayOffline => "array-offline",
            EventKind::LinesLost => "lines-lost",
            EventKind::Ignored => "ignored",
            EventKind::Task(task, phase) => {
                let task = match task {
                    TaskKind::Rebuild => "rebuild",
                    TaskKind::Copyback => "copyback",
                    TaskKind::PatrolRead => "patrol-read",
                    TaskKind::ConsistencyCheck => "consistency-check",
                };
                let phase = match phase {
                    TaskPhase::Begun => "begun",
                    TaskPhase::Suspended => "suspended",
                    TaskPhase::Resumed => "resumed",
                    TaskPhase::Done => "done",
                    TaskPhase::GivenUp => "given-up",
                    TaskPhase::Refused => "refused",
                };
                return write!(f, "{task}-{phase}");
            }
        };
        f.write_str(name)
    }
}

impl Serialize for EventKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An entry of the log of what happened.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LogEntry {
    #[serde(skip)]
    pub(crate) at: Time,
    /// When, in seconds of simulated time.
    pub t_s: f64,
    /// What, in words.
    pub what: String,
    /// What kind of thing.
    #[schemars(with = "String")]
    pub kind: EventKind,
    /// The drive, array, load or controller that it happened to; empty for the whole system.
    pub subject: String,
}

/// What has happened so far.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: Vec<LogEntry>,
}

impl Log {
    /// Notes what happened to `subject`, a name; an empty one stands for the whole system.
    pub fn note(&mut self, now: Time, kind: EventKind, subject: String, what: String) {
        self.entries.push(LogEntry {
            at: now,
            t_s: now.since(Time::ZERO).seconds(),
            what,
            kind,
            subject,
        });
    }

    /// All of it, in the order of time.
    pub fn entries(&self) -> &[LogEntry] {
        &self.entries
    }

    /// How many entries it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}
