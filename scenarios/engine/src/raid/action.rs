//! What happens at given times: drives fail, power fails, batteries learn.

use super::background::Task;
use crate::agenda::Up;
use crate::plan::Action;
use crate::system::System;
use raidlab_kernel::{Nanos, Time};
use serde::Serialize;

/// An entry of the log of what happened.
#[derive(Clone, Debug, Serialize)]
pub struct LogEntry {
    /// When, in seconds of simulated time.
    pub t_s: f64,
    /// What.
    pub what: String,
}

impl System {
    pub(crate) fn log(&mut self, now: Time, what: String) {
        let t_s = now.since(Time::ZERO).seconds();
        for workload in &mut self.workloads {
            workload.meter.begin_period(now, &what);
        }
        self.raid.log.push(LogEntry { t_s, what });
    }

    /// An event of the plan is due.
    pub(crate) fn act(&mut self, index: u32, now: Time) {
        let action = self.raid.actions[index as usize].clone();
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
        let failed = self.raid.health[drive as usize].failed;
        failed.then(|| self.drives[drive as usize].name.clone())
    }

    /// Something happens.
    pub(crate) fn happen(&mut self, action: Action, now: Time) {
        if let Some(name) = self.has_failed_already(&action) {
            return self.log(
                now,
                format!("nothing more happens to {name}: it has failed"),
            );
        }
        match action {
            Action::FailDrive { drive } => self.fail_drive(drive, now),
            Action::SlowDrive { drive, extra_ns } => {
                self.raid.health[drive as usize].slow = extra_ns;
                let name = &self.drives[drive as usize].name;
                let what = if extra_ns == Nanos::ZERO {
                    format!("drive {name} is as fast as ever")
                } else {
                    format!(
                        "drive {name} is slow: {:.3} ms a command more",
                        extra_ns.micros() / 1e3
                    )
                };
                self.log(now, what);
            }
            Action::UnreadableSectors {
                drive,
                offset_bytes,
                bytes,
            } => {
                let unreadable = &mut self.raid.health[drive as usize].unreadable;
                unreadable.insert(offset_bytes, offset_bytes + bytes);
                let name = &self.drives[drive as usize].name;
                self.log(
                    now,
                    format!("drive {name}: {bytes} bytes at {offset_bytes} unreadable"),
                );
            }
            Action::ReplaceDrive { drive } => self.replace_drive(drive, now),
            Action::PowerFail { off_ns } => self.power_fails(now + off_ns, now),
            Action::PatrolRead { array } => self.start_task(array, Task::Patrol, now),
            Action::ConsistencyCheck { array } => self.start_task(array, Task::Check, now),
            Action::MoveHotSpot {
                workload,
                start_bytes,
            } => self.move_hot_spot(workload, start_bytes, now),
            Action::BackupReady { controller, ready } => {
                let state = if ready { "ready" } else { "not ready" };
                self.log(now, format!("backup of the cache {state}"));
                if let Some(store) = self.raid.stores[controller as usize].as_mut() {
                    store.safe = ready;
                    // Without it nothing dirty may stay.
                    store.sweep = store.cache.groups_waiting();
                    if now >= self.raid.off_until {
                        self.admit_waiting(controller, now);
                        self.settle(Up::None, now);
                        self.destage(controller, now);
                    }
                }
            }
        }
    }
}
