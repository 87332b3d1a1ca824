//! Jobs of the dies for what the translation layer decides.

use crate::port::Port;
use crate::ssd::buffer::Buffer;
use crate::ssd::buffer::programs::Programs;
use crate::ssd::drive::Ssd;
use crate::ssd::firmware::Firmware;
use crate::ssd::front::Front;
use crate::ssd::ids::{DieId, SetId, SetInBlock, UnitId};
use crate::ssd::map::demand::DemandMap;
use crate::ssd::nand::Nand;
use crate::ssd::nand::job::Job;
use crate::ssd::token::Token;
use crate::ssd::translation::blocks::Origin;
use crate::ssd::translation::{Translation, Work};
use raidlab_kernel::Time;

/// The parts of a drive that jobs concern, beside its translation layer.
pub(super) struct Jobs<'a, F, P> {
    pub(super) port: &'a mut P,
    pub(super) buffer: &'a mut Buffer,
    pub(super) programs: &'a mut Programs,
    front: &'a mut F,
    nand: &'a mut Nand,
    firmware: &'a mut Firmware,
    demand_map: Option<&'a mut DemandMap>,
    /// When the back end lets dies begin.
    begins: Time,
    sets_per_block: u32,
    dies: u32,
}

impl<F: Front> Ssd<F> {
    /// The translation layer, and beside it the parts that its decisions concern.
    #[inline]
    pub(super) fn jobs<'a, P: Port>(
        &'a mut self,
        port: &'a mut P,
    ) -> (&'a mut Translation, Jobs<'a, F, P>) {
        let shape = self.store.translation.space.shape();
        let jobs = Jobs {
            port,
            buffer: &mut self.store.buffer,
            programs: &mut self.store.programs,
            front: &mut self.front,
            nand: &mut self.store.nand,
            firmware: &mut self.firmware,
            demand_map: self.demand_map.as_deref_mut(),
            begins: self
                .power
                .back_end
                .as_ref()
                .map_or(Time::ZERO, |it| it.awake),
            sets_per_block: shape.sets_per_block,
            dies: shape.dies,
        };
        (&mut self.store.translation, jobs)
    }
}

impl<F: Front, P: Port> Jobs<'_, F, P> {
    fn in_block(&self, set: SetId) -> SetInBlock {
        SetInBlock::new(set.number() % self.sets_per_block)
    }

    #[inline]
    fn add(&mut self, die: DieId, job: Job) {
        let now = self.port.now();
        if let Some(at) = self.nand.add(die, job, now) {
            self.port.wake(at.max(self.begins), Token::Die(die).into());
        }
    }
}

impl<F: Front, P: Port> Work for Jobs<'_, F, P> {
    fn program(&mut self, die: DieId, origin: Origin, set: SetId) {
        let host = origin == Origin::Host;
        let host_units = if host {
            std::mem::take(&mut self.programs.open_units[die])
        } else {
            0
        };
        let sequence = self.buffer.program_issued();
        if host_units > 0 {
            self.programs.pending[die].push_back(set);
        }
        let set = self.in_block(set);
        let parity_is_due = self.programs.count_set();
        self.add(
            die,
            Job::Program {
                set,
                host_units,
                host,
                sequence,
            },
        );
        if parity_is_due {
            let next = DieId::new((die.number() + 1) % self.dies);
            self.add(next, Job::Parity { set });
        }
    }

    fn collect_read(&mut self, die: DieId, set: SetId, units: u32) {
        let set = self.in_block(set);
        let now = self.port.now();
        let cores = &mut self.firmware.cores;
        self.front.collects(cores, self.nand, (set, units), now);
        self.add(die, Job::CollectRead { set, units });
    }

    fn erase(&mut self, die: DieId) {
        self.add(die, Job::Erase);
    }

    #[inline]
    fn follows_map(&self) -> bool {
        self.demand_map.is_some()
    }

    #[inline]
    fn has_share(&self, die: DieId) -> bool {
        self.programs.pending[die].len() < self.programs.share
    }

    fn moved(&mut self, unit: UnitId) {
        let now = self.port.now();
        if let Some(map) = &mut self.demand_map {
            map.moved(unit, |die, job| {
                if let Some(at) = self.nand.add(die, job, now) {
                    self.port.wake(at, Token::Die(die).into());
                }
            });
        }
    }
}
