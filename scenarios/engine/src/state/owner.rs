//! Who an I/O's record belongs to, in the 32 bits of its mark.
//!
//! The number of leading zeros says the kind, the bits behind the first 1 the number; all that
//! begin with six zeros are places of loads. Results depend on these bits: an outside thread
//! stands in for the thread of a job's commands, and is chosen by them.

use crate::ids::{JobId, MemberId, PlaceId};
use raidlab_io::Mark;

/// Bits of the number of an outside caller's I/O, of a job, of a cut-off place, of a page cache's
/// command, of a step towards durability and of a load's place.
const OUTSIDE_BITS: u32 = 31;
const JOB_BITS: u32 = 30;
const ABORTED_BITS: u32 = 29;
const CUT_OFF_BITS: u32 = 28;
const PAGES_BITS: u32 = 27;
const SYNC_BITS: u32 = 26;

/// How many places the loads of a system can have in all: fewer than this.
pub(crate) const PLACES: u64 = 1 << SYNC_BITS;
/// How many numbers an outside caller can give its I/Os.
pub(crate) const OUTSIDE_NUMBERS: u32 = 1 << OUTSIDE_BITS;

/// Who a record belongs to. Commands of a request or a job belong to their parent, and have the
/// mark of place 0 unless they are cut off or aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// An I/O that an outside caller submitted, with the caller's number.
    Outside(u32),
    /// The record of a job.
    Job(JobId),
    /// The power failed while it was in flight: only its last event is still to come.
    Aborted,
    /// A command whose drive has failed, which comes back with an error: the drive's place in its
    /// array.
    CutOff(MemberId),
    /// A request of a page cache, with the number of its command.
    Pages(u32),
    /// A request that makes writes durable, with its number.
    Sync(u32),
    /// An I/O of a load, with the load's place that issued it.
    Slot(PlaceId),
}

impl From<Mark> for Owner {
    #[inline]
    fn from(mark: Mark) -> Owner {
        let bits = mark.bits();
        let number = |length: u32| bits & ((1 << length) - 1);
        match bits.leading_zeros() {
            0 => Owner::Outside(number(OUTSIDE_BITS)),
            1 => Owner::Job(JobId::new(number(JOB_BITS))),
            2 => Owner::Aborted,
            3 => Owner::CutOff(MemberId::new(number(CUT_OFF_BITS))),
            4 => Owner::Pages(number(PAGES_BITS)),
            5 => Owner::Sync(number(SYNC_BITS)),
            _ => Owner::Slot(PlaceId::new(bits)),
        }
    }
}

impl From<Owner> for Mark {
    #[inline]
    fn from(owner: Owner) -> Mark {
        let (kind, number) = match owner {
            Owner::Outside(number) => (OUTSIDE_BITS, number),
            Owner::Job(job) => (JOB_BITS, job.number()),
            Owner::Aborted => (ABORTED_BITS, 0),
            Owner::CutOff(place) => (CUT_OFF_BITS, place.number()),
            Owner::Pages(command) => (PAGES_BITS, command),
            Owner::Sync(step) => (SYNC_BITS, step),
            Owner::Slot(place) => {
                debug_assert!(u64::from(place.number()) < PLACES, "place {place}");
                return Mark::new(place.number());
            }
        };
        debug_assert!(number < 1 << kind, "{owner:?}");
        Mark::new(1 << kind | number)
    }
}

/// What the hot path asks of a mark: one comparison each.
pub(crate) trait OwnerOf: Copy {
    /// The load's place, if a load issued it.
    fn slot(self) -> Option<PlaceId>;
    /// The job, if it is a job's record.
    fn job(self) -> Option<JobId>;
    /// True if the drive of this command has failed while it was in flight.
    fn is_cut_off(self) -> bool;
    /// True if the power failed while it was in flight.
    fn is_aborted(self) -> bool;
    /// The number by which an outside thread is chosen where no load's thread is there to be
    /// charged: all bits but the first.
    fn outside_number(self) -> u32;
}

impl OwnerOf for Mark {
    #[inline]
    fn slot(self) -> Option<PlaceId> {
        (self.bits() < 1 << SYNC_BITS).then_some(PlaceId::new(self.bits()))
    }

    #[inline]
    fn job(self) -> Option<JobId> {
        (self.bits() >> JOB_BITS == 1).then_some(JobId::new(self.bits() ^ 1 << JOB_BITS))
    }

    #[inline]
    fn is_cut_off(self) -> bool {
        self.bits() >> CUT_OFF_BITS == 1
    }

    #[inline]
    fn is_aborted(self) -> bool {
        self.bits() >> ABORTED_BITS == 1
    }

    #[inline]
    fn outside_number(self) -> u32 {
        self.bits() & (OUTSIDE_NUMBERS - 1)
    }
}

/// The job that a record belongs to, if it is a job's.
#[inline]
pub(crate) fn job_of(io: &raidlab_io::Io) -> Option<JobId> {
    io.owner.job()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every kind with the numbers at both of its ends, and the bits that stand for them.
    #[test]
    fn every_kind_goes_there_and_back() {
        let most = |length: u32| (1_u32 << length) - 1;
        for (owner, bits) in [
            (Owner::Outside(0), 1 << 31),
            (Owner::Outside(most(31)), u32::MAX),
            (Owner::Job(JobId::new(0)), 1 << 30),
            (Owner::Job(JobId::new(most(30))), most(31)),
            (Owner::Aborted, 1 << 29),
            (Owner::CutOff(MemberId::new(0)), 1 << 28),
            (Owner::CutOff(MemberId::new(most(28))), most(29)),
            (Owner::Pages(0), 1 << 27),
            (Owner::Pages(most(27)), most(28)),
            (Owner::Sync(0), 1 << 26),
            (Owner::Sync(most(26)), most(27)),
            (Owner::Slot(PlaceId::new(0)), 0),
            (Owner::Slot(PlaceId::new(most(26))), most(26)),
        ] {
            let mark = Mark::from(owner);
            assert_eq!(mark.bits(), bits, "{owner:?}");
            assert_eq!(Owner::from(mark), owner);
        }
    }

    proptest! {
        #[test]
        fn single_questions_answer_as_the_kind_does(bits: u32, shift in 0u32..32) {
            let mark = Mark::new(bits >> shift);
            let owner = Owner::from(mark);
            let job = if let Owner::Job(job) = owner { Some(job) } else { None };
            let slot = if let Owner::Slot(slot) = owner { Some(slot) } else { None };
            prop_assert_eq!((mark.job(), mark.slot()), (job, slot));
            prop_assert_eq!(mark.is_cut_off(), matches!(owner, Owner::CutOff(_)));
            prop_assert_eq!(mark.is_aborted(), owner == Owner::Aborted);
            if owner != Owner::Aborted {
                prop_assert_eq!(Mark::from(owner), mark);
            }
        }
    }

    #[test]
    fn an_owner_fits_two_registers_halves() {
        assert_eq!(size_of::<Owner>(), 8);
    }
}
