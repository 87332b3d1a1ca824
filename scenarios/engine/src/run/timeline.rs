//! The events of a plan: drives fail and are replaced, batteries learn, hot spots move.

use crate::ids::{ArrayId, ControllerId, DriveId, WorkloadId};
use crate::path::agenda::Up;
use crate::plan::Action;
use crate::raid::background::task::Task;
use crate::run::layers::Layers;
use crate::run::system::System;
use crate::state::event::{Event, LoadsEvent, RaidEvent};
use crate::state::log::EventKind;
use crate::state::owner::OwnerOf;
use raidlab_io::ByteRange;
use raidlab_kernel::Nanos;
use raidlab_kernel::Time;

impl System {
    /// An event of the plan is due.
    pub(crate) fn act(&mut self, index: u32, now: Time) {
        let action = self.actions[index as usize].clone();
        self.happen(action, now);
    }

    /// The name of the drive that an action is about, if it has failed and nothing but its
    /// replacement makes a difference.
    fn has_failed_already(&self, action: &Action) -> Option<String> {
        let (Action::FailDrive { drive }
        | Action::SlowDrive { drive, .. }
        | Action::UnreadableSectors { drive, .. }) = *action
        else {
            return None;
        };
        let failed = self.layers.path.drives[DriveId::new(drive)].health.failed;
        failed.then(|| self.layers.path.drives[DriveId::new(drive)].name.clone())
    }

    /// The hot spot of a workload moves, and that of its shadow with it.
    pub(crate) fn move_hot_spot(&mut self, workload: WorkloadId, start: u64, now: Time) {
        let load = self.layers.loads.records_mut().workload_mut(workload);
        load.load.move_hot_spot(start);
        let what = format!("hot spot of {} moves to byte {start}", load.name);
        let name = load.name.clone();
        let array = load.array;
        self.layers
            .ssd_caches
            .move_shadow_spot(array, workload, start);
        let path = &mut self.layers.path;
        path.log.note(now, EventKind::HotSpotMoved, name, what);
    }

    /// Something happens.
    pub(crate) fn happen(&mut self, action: Action, now: Time) {
        if let Some(name) = self.has_failed_already(&action) {
            let what = format!("nothing more happens to {name}: it has failed");
            let path = &mut self.layers.path;
            return path.log.note(now, EventKind::Ignored, name, what);
        }
        match action {
            Action::FailDrive { drive } => self.fail_drive(DriveId::new(drive), now),
            Action::SlowDrive { drive, extra_ns } => {
                self.layers.path.drives[DriveId::new(drive)].health.slow = extra_ns;
                let name = self.layers.path.drives[DriveId::new(drive)].name.clone();
                let (kind, what) = if extra_ns == Nanos::ZERO {
                    let what = format!("drive {name} is as fast as ever");
                    (EventKind::DriveRecovered, what)
                } else {
                    let what = format!("drive {name} is slow: {extra_ns} a command more");
                    (EventKind::DriveSlow, what)
                };
                self.layers.path.log.note(now, kind, name, what);
            }
            Action::UnreadableSectors {
                drive,
                offset_bytes,
                bytes,
            } => {
                let unreadable = &mut self.layers.path.drives[DriveId::new(drive)]
                    .health
                    .unreadable;
                unreadable.insert(ByteRange::new(offset_bytes, bytes));
                let name = self.layers.path.drives[DriveId::new(drive)].name.clone();
                let what = format!("drive {name}: {bytes} bytes at {offset_bytes} unreadable");
                let path = &mut self.layers.path;
                path.log.note(now, EventKind::UnreadableSectors, name, what);
            }
            Action::ReplaceDrive { drive } => self.replace_drive(DriveId::new(drive), now),
            Action::PowerFail { off_ns } => self.power_fails(now + off_ns, now),
            Action::PatrolRead { array } => self.layers.raid.start_task(
                &mut self.layers.path,
                ArrayId::new(array),
                Task::Patrol,
                now,
            ),
            Action::ConsistencyCheck { array } => self.layers.raid.start_task(
                &mut self.layers.path,
                ArrayId::new(array),
                Task::Check,
                now,
            ),
            Action::MoveHotSpot {
                workload,
                start_bytes,
            } => self.move_hot_spot(WorkloadId::new(workload), start_bytes, now),
            Action::BackupReady { controller, ready } => {
                let controller = ControllerId::new(controller);
                let (kind, state) = match ready {
                    true => (EventKind::BackupReady, "ready"),
                    false => (EventKind::BackupNotReady, "not ready"),
                };
                let Layers { path, raid, .. } = &mut self.layers;
                let name = path.controllers[controller].name.clone();
                path.log
                    .note(now, kind, name, format!("backup of the cache {state}"));
                if raid.set_safe(controller, ready) && now >= path.off_until {
                    raid.admit_waiting(path, controller, now);
                    self.layers.settle(Up::None, now);
                    let Layers { path, raid, .. } = &mut self.layers;
                    raid.destage(path, controller, now);
                }
            }
        }
    }

    /// Events that come to nothing, or later, since the power failed: true if that is so.
    pub(crate) fn is_void(&mut self, event: Event, now: Time) -> bool {
        let (id, at_drive) = match event {
            Event::Loads(
                LoadsEvent::Released(id)
                | LoadsEvent::Granted(id)
                | LoadsEvent::Sent(id)
                | LoadsEvent::Received(id)
                | LoadsEvent::FlushTaken(id)
                | LoadsEvent::Flushed(id),
            )
            | Event::Admit(id)
            | Event::Counted(id)
            | Event::Dispatch(id)
            | Event::Raid(RaidEvent::GoOn(id)) => (id, false),
            Event::Leg(id)
            | Event::AtDrive(id)
            | Event::Done(id)
            | Event::Raid(RaidEvent::Late(id))
            | Event::Returned(id)
            | Event::Interrupt(id) => (id, true),
            Event::Issue(_)
            | Event::Arrival(_)
            | Event::Raid(RaidEvent::Flush(_) | RaidEvent::Background(_))
                if now < self.layers.path.off_until =>
            {
                self.layers
                    .path
                    .calendar
                    .push(self.layers.path.off_until, event);
                return true;
            }
            _ => return false,
        };
        let aborted = self.layers.path.ios[id].owner.is_aborted();
        if aborted {
            self.layers.path.release_aborted(id, at_drive, now);
        }
        aborted
    }

    /// A drive fails for good.
    pub(crate) fn fail_drive(&mut self, drive: DriveId, now: Time) {
        self.layers.path.drives[drive].health.failed = true;
        let name = self.layers.path.drives[drive].name.clone();
        let what = format!("drive {name} failed");
        let path = &mut self.layers.path;
        path.log.note(now, EventKind::DriveFailed, name, what);
        let lost = self.layers.raid.lose(&mut self.layers.path, drive, now);
        self.layers.settle(Up::None, now);
        if let Some(place) = lost {
            self.layers
                .raid
                .replace_by_spare(&mut self.layers.path, place, now);
        }
    }

    /// A new, empty drive stands where one has failed: it is rebuilt; where a spare has taken over,
    /// the spare's data are copied back; and where a spare has failed, it is the spare.
    pub(crate) fn replace_drive(&mut self, drive: DriveId, now: Time) {
        let lost = self.layers.raid.lose(&mut self.layers.path, drive, now);
        self.layers.settle(Up::None, now);
        self.layers.path.drives[drive].health = Default::default();
        if let Some(integrity) = &mut self.layers.path.integrity {
            integrity.drives.empty(drive);
        }
        let name = self.layers.path.drives[drive].name.clone();
        let what = format!("drive {name} replaced");
        let path = &mut self.layers.path;
        path.log.note(now, EventKind::DriveReplaced, name, what);
        self.layers
            .raid
            .fill(&mut self.layers.path, drive, lost, now);
    }
}
