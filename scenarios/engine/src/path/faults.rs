//! Commands whose drive or whose power has failed, and what the log says of it.

use crate::ids::{DriveId, MemberId};
use crate::integrity::commands::Target;
use crate::path::IoPath;
use crate::state::drive::DrivePort;
use crate::state::owner::job_of;
use crate::state::owner::{Owner, OwnerOf};
use raidlab_io::{Io, IoId};
use raidlab_kernel::Time;

impl IoPath {
    /// Commands in flight to a drive of this place do not reach its content any more.
    pub(crate) fn cut_off(&mut self, drive: DriveId, place: MemberId) {
        for id in self.ios.ids().collect::<Vec<_>>() {
            let io = &mut self.ios[id];
            let command = io.parent != Io::NONE && job_of(io).is_none();
            if command && io.drive == drive && !io.owner.is_cut_off() {
                io.owner = Owner::CutOff(place).into();
            }
        }
    }

    /// What a command carries next, for the versions of the data.
    pub(crate) fn attach(&mut self, command: IoId, target: Target, bytes: u64) {
        let op = self.ios[command].op;
        if let Some(integrity) = &mut self.integrity {
            integrity.attach(command, op, target, bytes);
        }
    }

    /// An event of a record whose power failed meanwhile.
    pub(crate) fn release_aborted(&mut self, id: IoId, at_drive: bool, now: Time) {
        if at_drive {
            let drive = self.ios[id].drive;
            self.leaves(id, drive, now);
            self.dispatch_waiting(drive, now);
        }
        self.ios.release(id);
    }

    /// Every drive's volatile cache loses its content; gives the sectors whose older content is
    /// back, by drive.
    pub(crate) fn drives_lose_power(&mut self, now: Time) -> Vec<(DriveId, Vec<u64>)> {
        let mut older = Vec::new();
        for drive in self.drives.ids() {
            if let Some(integrity) = &mut self.integrity {
                let sectors = integrity.drives.drive_loses_power(drive, now);
                if !sectors.is_empty() {
                    older.push((drive, sectors));
                }
            }
            let mut port = DrivePort {
                drive,
                calendar: &mut self.calendar,
                ios: &mut self.ios,
                integrity: None,
            };
            self.drives[drive].device.power_cut(&mut port);
        }
        older
    }
}
