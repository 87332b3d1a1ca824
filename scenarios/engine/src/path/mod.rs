//! From the host to the media and back: the calendar, all I/Os, links, drives and what they share.

pub(crate) mod agenda;
pub(crate) mod completion;
pub(crate) mod descent;
pub(crate) mod dispatch;
pub(crate) mod faults;
pub(crate) mod flushes;
pub(crate) mod interrupts;
pub(crate) mod loads;
pub(crate) mod outside;
pub(crate) mod submission;

use crate::ids::{ArrayId, ControllerId, DriveId, LinkId, PlaceId};
use crate::integrity::Integrity;
use crate::path::agenda::Agenda;
use crate::path::interrupts::Interrupts;
use crate::path::outside::{Outbox, OutsideThreads};
use crate::state::drive::Drive;
use crate::state::event::Event;
use crate::state::log::Log;
use crate::state::records::{Array, Controller, Slot};
use raidlab_io::{IoId, Ios};
use raidlab_kernel::{Calendar, Table, Time, TimeWeighted};
use raidlab_models::Link;

/// What every layer stands on.
pub(crate) struct IoPath {
    pub(crate) calendar: Calendar<Event>,
    pub(crate) ios: Ios,
    /// What goes up, and what waits for it.
    pub(crate) agenda: Agenda,
    /// The request of a managed array that was handed in last, until its tables are prefetched.
    pub(crate) handed_in: IoId,
    pub(crate) links: Table<LinkId, Link>,
    /// Of an adapter that gathers completions.
    pub(crate) interrupts: Option<Interrupts>,
    pub(crate) controllers: Table<ControllerId, Controller>,
    pub(crate) drives: Table<DriveId, Drive>,
    pub(crate) arrays: Table<ArrayId, Array>,
    /// Places of loads; they do not change during a run.
    pub(crate) slots: Table<PlaceId, Slot>,
    /// The load threads of outside callers.
    pub(crate) outside_threads: OutsideThreads,
    /// What outside callers get back.
    pub(crate) outside: Outbox,
    /// Requests between host and host.
    pub(crate) inside: TimeWeighted,
    /// True if anything can fail or the data are followed: commands are looked at.
    pub(crate) can_fail: bool,
    /// The power is off until then.
    pub(crate) off_until: Time,
    pub(crate) integrity: Option<Integrity>,
    pub(crate) log: Log,
}
