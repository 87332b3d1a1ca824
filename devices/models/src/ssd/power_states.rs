//! What slows a drive down or lets parts of it sleep: temperature, power states, the back end.

use crate::idle_states::IdleStates;
use crate::ssd::buffer::Buffer;
use crate::ssd::firmware::Firmware;
use crate::ssd::firmware::back_end::BackEnd;
use crate::ssd::nand::Nand;
use crate::ssd::nand::temperature::Temperature;
use raidlab_kernel::Time;

/// Those of a drive.
#[derive(Debug)]
pub(crate) struct PowerStates {
    pub(crate) temperature: Option<Temperature>,
    pub(crate) idle_states: Option<Box<IdleStates>>,
    /// The back end, if it sleeps.
    pub(crate) back_end: Option<Box<BackEnd>>,
}

impl PowerStates {
    /// A command comes: it meets the speed that temperature leaves, and ends a power state. The last
    /// command was done at `last_done`, unless one waits for the buffer.
    #[inline]
    pub(crate) fn command(
        &mut self,
        nand: &mut Nand,
        firmware: &mut Firmware,
        buffer: &Buffer,
        last_done: Time,
        now: Time,
    ) {
        if let Some(temperature) = &mut self.temperature {
            if let Some(stretch) = temperature.update(now, &nand.operations) {
                nand.throttle(stretch);
            }
        }
        if let Some(states) = &mut self.idle_states {
            if let Some(awake) = states.command(now, last_done, buffer.makes_wait()) {
                firmware.cores.occupy_until(awake, now);
                if let Some(back_end) = &mut self.back_end {
                    back_end.woken(awake);
                }
            }
        }
    }

    /// A command that comes now needs channels and map from `ready` on: when it goes on.
    /// `idle_since` says when the drive had the last command or operation, if it has none now.
    #[inline]
    pub(crate) fn back_end_needed(
        &mut self,
        idle_since: impl FnOnce() -> Option<Time>,
        now: Time,
        ready: Time,
    ) -> Time {
        match &mut self.back_end {
            None => ready,
            Some(back_end) => back_end.needed(idle_since(), now, ready),
        }
    }

    /// What non-operational power states have saved up to `now`, and how often a command ended one.
    pub(crate) fn idle_figures(
        &self,
        now: Time,
        last_done: Time,
        waits: bool,
    ) -> Option<(f64, u64)> {
        let states = self.idle_states.as_ref()?;
        Some(states.figures(now, last_done, waits))
    }

    /// Seconds for which temperature has slowed the drive down, and the highest one in degrees
    /// Celsius; None if it never has.
    pub(crate) fn throttled(&self) -> Option<(f64, f64)> {
        let (_, highest, seconds, _) = self.temperature.as_ref()?.figures();
        (seconds > 0.0).then_some((seconds, highest))
    }
}
