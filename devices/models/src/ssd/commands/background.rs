//! Garbage collection in the background, of dies that have nothing else to do.

use crate::port::Port;
use crate::ssd::drive::Ssd;
use crate::ssd::front::Front;
use crate::ssd::ids::DieId;
use crate::ssd::token::Token;

impl<F: Front> Ssd<F> {
    /// Dies that collect in the background begin with the first command.
    #[inline]
    pub(super) fn start_background<P: Port>(&mut self, port: &mut P) {
        if let Some(background) = self.background.as_mut().filter(|b| !b.started) {
            background.started = true;
            for die in (0..self.store.translation.space.shape().dies).map(DieId::new) {
                self.background_event(port, die);
            }
        }
    }

    /// A die that has nothing to do collects in the background. It rests between the steps, so that
    /// it spends no more than its share of the time on them.
    pub(super) fn background_event<P: Port>(&mut self, port: &mut P, die: DieId) {
        let now = port.now();
        let Some(background) = &mut self.background else {
            return;
        };
        if self.store.nand.is_awake(die) {
            return;
        }
        if let Some(until) = background.rest(die, now) {
            if background.wakes(die) {
                port.wake(until, Token::Rested(die).into());
            }
            return;
        }
        background.begins(die, now);
        let (translation, mut jobs) = self.jobs(port);
        let found = translation.collect_in_background(die, &mut jobs);
        if !found && self.store.translation.wants_free_blocks(die) {
            // No candidate is worth emptying: it looks again later.
            let Some(background) = &mut self.background else {
                return;
            };
            background.found_nothing(die);
            if background.wakes(die) {
                port.wake(now + background.pause(), Token::Rested(die).into());
            }
        }
    }

    /// A die has rested.
    pub(super) fn rested<P: Port>(&mut self, port: &mut P, die: DieId) {
        if let Some(background) = &mut self.background {
            background.woke(die);
        }
        self.background_event(port, die);
    }
}
