//! A drive's content is lost to its array: it has failed, or another one stands in its place.

use crate::ids::{ArrayId, DriveId, MemberId};
use crate::path::IoPath;
use crate::raid::Raid;
use crate::raid::background::task::Task;
use crate::state::log::{EventKind, TaskKind, TaskPhase};
use raidlab_kernel::Time;

impl Raid {
    /// The content of a drive is lost to its array; gives the array and its place there.
    pub(crate) fn lose(
        &mut self,
        path: &mut IoPath,
        drive: DriveId,
        now: Time,
    ) -> Option<(ArrayId, MemberId)> {
        let Raid {
            stripes,
            background,
            ..
        } = self;
        let place = stripes
            .state()
            .volumes()
            .member_of(drive)
            .map_or(MemberId::new(0), |(_, place)| place);
        path.cut_off(drive, place);
        for array in stripes.state().volumes().arrays() {
            background.end_tasks(stripes, path, array, now, |task| match task {
                Task::Copyback { to, .. } => to == drive,
                _ => false,
            });
            background.lose_spare(array, drive);
            if let Some(volume) = stripes.state_mut().volumes_mut().get_mut(array) {
                volume.places_mut().end_copies_to(drive);
            }
        }
        let (array, place) = stripes.state().volumes().member_of(drive)?;
        background.end_tasks(stripes, path, array, now, |task| match task {
            Task::Rebuild { member } | Task::Copyback { member, .. } => member == place,
            _ => false,
        });
        let volume = stripes.state_mut().volume_mut(array);
        volume.places_mut().count_change();
        volume.places_mut().of_mut(place).fail();
        if volume.has_lost_too_much() && !volume.is_offline() {
            volume.go_offline();
            let name = path.arrays[array].name.clone();
            let what = format!("array {name} offline: more is lost than it can bear");
            path.log.note(now, EventKind::ArrayOffline, name, what);
            background.give_up(stripes, path, array, now);
            if let Some(controller) = self.lines().ssd_cache_fails(path, array, now) {
                self.destage(path, controller, now);
            }
        }
        Some((array, place))
    }

    /// A spare takes the (array, member) of a drive that has failed, if enough is left.
    pub(crate) fn replace_by_spare(
        &mut self,
        path: &mut IoPath,
        (array, member): (ArrayId, MemberId),
        now: Time,
    ) {
        let Raid {
            stripes,
            background,
            ..
        } = self;
        if !stripes.state().volume(array).is_offline() {
            background.rebuild_on_spare(stripes, path, array, member, now);
        }
    }

    /// A new, empty drive stands in its place: its data are rebuilt if they were `lost` with the
    /// drive before it, of an (array, member); where a spare has taken over, the spare's data are
    /// copied back; and where a spare has failed, it is the spare.
    pub(crate) fn fill(
        &mut self,
        path: &mut IoPath,
        drive: DriveId,
        lost: Option<(ArrayId, MemberId)>,
        now: Time,
    ) {
        let Raid {
            stripes,
            background,
            ..
        } = self;
        if let Some((array, member)) = lost {
            let volume = stripes.state().volume(array);
            if volume.is_offline() || !volume.geometry().is_redundant() {
                let name = path.drives[drive].name.clone();
                let what = format!("nothing to rebuild {name} from: its data are lost");
                let refused = EventKind::Task(TaskKind::Rebuild, TaskPhase::Refused);
                path.log.note(now, refused, name, what);
            } else {
                background.rebuild(stripes, path, array, member, now);
            }
            return;
        }
        for array in path.arrays.ids() {
            let built = &path.arrays[array];
            if built.spares.contains(&drive) {
                return background.be_spare(stripes, path, array, drive, now);
            }
            if let Some(member) = built.drives.position(|&d| d == drive) {
                let place = (array, member);
                return background.come_home(stripes, path, place, drive, now);
            }
        }
    }
}
