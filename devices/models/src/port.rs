//! The engine as a device sees it.

use raidlab_io::{ByteRange, Io, IoId};
use raidlab_kernel::{Nanos, Time};

/// What a device may do while it handles a command or one of its own events.
///
/// Devices are generic over it, so calls are static; a test hands them a few lines of its own.
pub trait Port {
    /// The time of the event being handled.
    fn now(&self) -> Time;

    /// The record of a command, to read what it asks and to charge its time.
    fn io(&mut self, io: IoId) -> &mut Io;

    /// Calls the device's `event` with `token` at `at`, which is now or later.
    fn wake(&mut self, at: Time, token: u32);

    /// The device is done with a command at `at`, which is now or later.
    ///
    /// The record must be charged up to exactly `at`. For a read, the data were ready for the
    /// link from `at - lead` on, evenly until `at`; the engine moves them over the links. After
    /// this the device may not touch the record any more.
    fn done(&mut self, io: IoId, at: Time, lead: Nanos);

    /// The device cannot continue; `Device::failure` says why. The run ends.
    fn fails(&mut self) {}

    /// The data of a write are in volatile memory. The write is acknowledged before the medium has
    /// them.
    fn holds(&mut self, _io: IoId) {}

    /// The data of a range that are in volatile memory now are on the medium from `at` on.
    fn settles(&mut self, _range: ByteRange, _at: Time) {}

    /// True if the engine uses `settles`.
    fn listens(&self) -> bool {
        false
    }
}
