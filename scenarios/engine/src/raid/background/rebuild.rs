//! Drives that take the place of failed ones: rebuild on a spare or a new drive, copyback to the drive
//! that replaces a spare.

use crate::ids::{ArrayId, DriveId, MemberId, RowId};
use crate::path::IoPath;
use crate::raid::background::Background;
use crate::raid::background::task::Task;
use crate::raid::jobs::Stripes;
use crate::raid::member::{Member, State};
use raidlab_kernel::Time;

impl Background {
    /// Starts to rebuild a failed member if the array has a spare and enough is left.
    pub(crate) fn rebuild_on_spare(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        member: MemberId,
        now: Time,
    ) {
        let Some(volume) = stripes.state_mut().volumes_mut().get_mut(array) else {
            return;
        };
        if !volume.geometry().is_redundant() {
            return;
        }
        if let Some(spare) = volume.free_spare() {
            volume.places_mut().of_mut(member).be_spread(spare);
        } else if let Some(spare) = self.tasks_mut(array).spares.pop() {
            volume.places_mut().of_mut(member).set_drive(spare);
            if let Some(integrity) = &mut path.integrity {
                integrity.drives.empty(spare);
            }
        } else {
            return;
        }
        self.rebuild(stripes, path, array, member, now);
    }

    /// A drive waits for others of the array to fail; if one has, and nothing stands in for it yet, it is
    /// rebuilt there.
    pub(crate) fn be_spare(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        drive: DriveId,
        now: Time,
    ) {
        let Some(volume) = stripes.state().volumes().get(array) else {
            return;
        };
        self.tasks_mut(array).spares.push(drive);
        let failed = |member: &Member| member.state() == State::Failed;
        let waits = volume.places().all().position(failed);
        if let Some(member) = waits.filter(|_| !volume.is_offline()) {
            self.rebuild_on_spare(stripes, path, array, member, now);
        }
    }

    /// A drive is no spare of an array any more.
    pub(crate) fn lose_spare(&mut self, array: ArrayId, drive: DriveId) {
        let spares = &mut self.tasks_mut(array).spares;
        spares.retain(|&spare| spare != drive);
    }

    /// Starts to rebuild a member on the drive that now stands there.
    pub(crate) fn rebuild(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        member: MemberId,
        now: Time,
    ) {
        if let Some(volume) = stripes.state_mut().volumes_mut().get_mut(array) {
            let upto = self.tasks(array).first_row(volume) * volume.geometry().unit();
            volume.places_mut().count_change();
            volume.places_mut().of_mut(member).rebuild_from(upto);
        }
        self.rebuilt = None;
        self.start_task(stripes, path, array, Task::Rebuild { member }, now);
    }

    /// The share of the rows that each running rebuild has done.
    pub(crate) fn rebuilding(&self, stripes: &Stripes) -> Vec<f64> {
        let volumes = stripes.state().volumes().iter().zip(&self.of_array);
        let volumes = volumes.filter_map(|(volume, tasks)| Some((volume?, tasks)));
        let shares = volumes.flat_map(|(volume, tasks)| {
            let rows = volume.geometry().rows().max(1) as f64;
            let rebuilds = tasks.by_urgency.iter();
            let rebuilds = rebuilds.filter(|task| matches!(task.task, Task::Rebuild { .. }));
            rebuilds.map(move |task| task.row.number() as f64 / rows)
        });
        shares.collect()
    }

    /// A new drive stands in its place again, from which a spare has taken over: the spare's data are
    /// copied back or, if it has failed as well, the drive is rebuilt.
    pub(crate) fn come_home(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        (array, member): (ArrayId, MemberId),
        drive: DriveId,
        now: Time,
    ) {
        let Some(volume) = stripes.state_mut().volumes_mut().get_mut(array) else {
            return;
        };
        let offline = volume.is_offline();
        let place = volume.places_mut().of_mut(member);
        if place.state() == State::Failed && !offline {
            place.set_drive(drive);
            return self.rebuild(stripes, path, array, member, now);
        }
        let task = Task::Copyback { member, to: drive };
        self.start_task(stripes, path, array, task, now);
    }

    /// A drive that is being filled has lost rows from `offset` on: its task goes on from there.
    pub(crate) fn begin_copies_again(
        &mut self,
        stripes: &mut Stripes,
        drive: DriveId,
        offset: u64,
    ) {
        let volumes = stripes
            .state_mut()
            .volumes_mut()
            .iter_mut()
            .zip(&mut self.of_array);
        for (volume, tasks) in volumes.filter_map(|(volume, tasks)| Some((volume?, tasks))) {
            let unit = volume.geometry().unit();
            let (row, upto) = (RowId::new(offset / unit), offset / unit * unit);
            for task in &mut tasks.by_urgency {
                let of = |member| volume.geometry().next_row(member, row);
                let row = task.task.member().map_or(row, of);
                match task.task {
                    Task::Rebuild { member } => {
                        let member = volume.places_mut().of_mut(member);
                        if let State::Rebuilding(done) = member.state()
                            && member.drive() == drive
                        {
                            member.rebuild_from(upto.min(done));
                            task.go_back(row);
                        }
                    }
                    Task::Copyback { member, to } if to == drive => {
                        volume.places_mut().of_mut(member).cut_copy(upto);
                        task.go_back(row);
                    }
                    _ => {}
                }
            }
        }
    }
}
