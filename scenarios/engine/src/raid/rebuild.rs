//! Drives that take the place of failed ones: rebuild on a spare or a new drive, copyback to the drive
//! that replaces a spare.

use super::background::Task;
use super::volume::{Member, State};
use crate::agenda::Up;
use crate::system::System;
use raidlab_kernel::Time;

impl System {
    /// Starts to rebuild a failed member if the array has a spare and enough is left.
    pub(crate) fn rebuild_on_spare(&mut self, array: u32, member: u32, now: Time) {
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        if !volume.geometry.is_redundant() {
            return;
        }
        let Some(spare) = volume.spares.pop() else {
            return;
        };
        volume.members[member as usize].drive = spare;
        if let Some(fate) = &mut self.raid.fate {
            fate.empty(spare);
        }
        self.rebuild(array, member, now);
    }

    /// A drive waits for others of the array to fail; if one has, and nothing stands in for it yet, it is
    /// rebuilt there.
    pub(super) fn be_spare(&mut self, array: u32, drive: u32, now: Time) {
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        volume.spares.push(drive);
        let failed = |member: &Member| member.state == State::Failed;
        let waits = volume.members.iter().position(failed);
        if let Some(member) = waits.filter(|_| !volume.offline) {
            self.rebuild_on_spare(array, member as u32, now);
        }
    }

    /// Starts to rebuild a member on the drive that now stands there.
    pub(crate) fn rebuild(&mut self, array: u32, member: u32, now: Time) {
        if let Some(volume) = self.raid.volumes[array as usize].as_mut() {
            volume.changes += 1;
            volume.members[member as usize].state = State::Rebuilding(0);
        }
        self.raid.rebuilt = None;
        self.start_task(array, Task::Rebuild { member }, now);
    }

    /// The share of the rows that each rebuild under way has behind it.
    pub(crate) fn rebuilding(&self) -> Vec<f64> {
        let volumes = self.raid.volumes.iter().flatten();
        let shares = volumes.flat_map(|volume| {
            let rows = volume.geometry.rows().max(1) as f64;
            let rebuilds = volume.tasks.iter();
            let rebuilds = rebuilds.filter(|task| matches!(task.task, Task::Rebuild { .. }));
            rebuilds.map(move |task| task.row as f64 / rows)
        });
        shares.collect()
    }

    /// A new, empty drive stands where one has failed: it is rebuilt; where a spare has taken over,
    /// the spare's data are copied back; and where a spare has failed, it is the spare.
    pub(crate) fn replace_drive(&mut self, drive: u32, now: Time) {
        let lost = self.lose(drive, now);
        self.settle(Up::None, now);
        self.raid.health[drive as usize] = Default::default();
        if let Some(fate) = &mut self.raid.fate {
            fate.empty(drive);
        }
        let name = self.drives[drive as usize].name.clone();
        self.log(now, format!("drive {name} replaced"));
        if let Some((array, member)) = lost {
            let volume = self.volume(array);
            if volume.offline || !volume.geometry.is_redundant() {
                let what = format!("nothing to rebuild {name} from: its data are lost");
                self.log(now, what);
            } else {
                self.rebuild(array, member, now);
            }
            return;
        }
        for array in 0..self.arrays.len() as u32 {
            let built = &self.arrays[array as usize];
            if built.spares.contains(&drive) {
                return self.be_spare(array, drive, now);
            }
            if let Some(member) = built.drives.iter().position(|&d| d == drive) {
                return self.come_home(array, member as u32, drive, now);
            }
        }
    }

    /// A new drive stands in its place again, from which a spare has taken over: the spare's data are
    /// copied back or, if it has failed as well, the drive is rebuilt.
    fn come_home(&mut self, array: u32, member: u32, drive: u32, now: Time) {
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        let place = &mut volume.members[member as usize];
        if place.state == State::Failed && !volume.offline {
            place.drive = drive;
            return self.rebuild(array, member, now);
        }
        let task = Task::Copyback { member, to: drive };
        self.start_task(array, task, now);
    }

    /// A drive that is being filled has lost rows from `offset` on: its task goes on from there.
    pub(super) fn begin_copies_again(&mut self, drive: u32, offset: u64) {
        for volume in self.raid.volumes.iter_mut().flatten() {
            let unit = volume.geometry.unit();
            let (row, upto) = (offset / unit, offset / unit * unit);
            for task in &mut volume.tasks {
                match task.task {
                    Task::Rebuild { member } => {
                        let member = &mut volume.members[member as usize];
                        if member.drive == drive {
                            if let State::Rebuilding(done) = &mut member.state {
                                *done = upto.min(*done);
                                task.go_back(row);
                            }
                        }
                    }
                    Task::Copyback { member, to } if to == drive => {
                        let copy = &mut volume.members[member as usize].copy;
                        *copy = copy.map(|(to, done)| (to, upto.min(done)));
                        task.go_back(row);
                    }
                    _ => {}
                }
            }
        }
    }
}
