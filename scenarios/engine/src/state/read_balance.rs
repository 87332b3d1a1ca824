//! Which copy of a mirror in the host Linux md reads (`raid1.c` and `raid10.c`: `read_balance`).
//!
//! RAID 1: the first drive that the read continues on, where the last read sent to it or the last
//! I/O that came back from it ended. Else an idle drive, or of flash the one with the fewest I/Os;
//! else the one whose last I/O ended nearest. RAID 10 knows no streams: of flash the fewest I/Os,
//! else an idle drive, else the nearest. RAID 1E is RAID 10 in the layout `offset`: of flash the
//! fewest I/Os, else the copy at the lowest address; so are far copies. Before kernel 5.4 flash was
//! no case of its own on RAID 10. Among equals the first.

use crate::ids::CopyId;

/// What a mirror chooses a copy by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyChoice {
    /// Commands before it, a stream's continuation, then the positioning of the arm: a controller's.
    Nearest,
    /// Commands before it, then the positioning of the arm: the host's software.
    ShortestQueue,
    /// As `Nearest`, but what goes on where a copy's last read ended stays on that copy: a
    /// controller's that reads a stream from one copy alone.
    OneForStream,
    /// When it is expected to be done, where drives are of different models.
    Expected,
    /// As md does.
    Md(ReadBalance),
}

/// What md looks at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadBalance {
    /// Of RAID 1: whether the read continues a stream.
    Streams,
    /// Of RAID 10: which copy is idle.
    Idle {
        /// Whether the I/Os at a drive of flash decide.
        by_load: bool,
    },
    /// Of RAID 1E and of far copies: where they lie.
    Lowest {
        /// Whether the I/Os at a drive of flash decide.
        by_load: bool,
    },
}

/// A copy that could serve a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Where the read begins on its drive.
    pub offset: u64,
    /// I/Os at the drive, and before it.
    pub pending: u64,
    /// Where the last read sent to the drive ends.
    pub read_to: u64,
    /// Where the last I/O that came back from it ended.
    pub head: u64,
    /// False for flash.
    pub rotates: bool,
}

/// Smaller is better; among equals the first one stays.
#[derive(Clone, Copy)]
struct Least {
    value: u64,
    copy: Option<CopyId>,
}

impl Least {
    const NONE: Least = Least {
        value: u64::MAX,
        copy: None,
    };

    fn meet(&mut self, value: u64, copy: CopyId) {
        if self.copy.is_none() || value < self.value {
            *self = Least {
                value,
                copy: Some(copy),
            };
        }
    }
}

impl ReadBalance {
    /// The number of the copy that is read.
    pub(crate) fn copy(self, copies: impl Iterator<Item = Candidate>) -> Option<CopyId> {
        let (mut shortest, mut nearest) = (Least::NONE, Least::NONE);
        let mut flash = false;
        for (copy, candidate) in CopyId::first(u32::MAX).zip(copies) {
            let Candidate {
                offset, pending, ..
            } = candidate;
            let away = candidate.head.abs_diff(offset);
            flash |= !candidate.rotates;
            match self {
                ReadBalance::Streams => {
                    if candidate.read_to == offset || away == 0 {
                        return Some(copy);
                    }
                    shortest.meet(pending, copy);
                    nearest.meet(away, copy);
                }
                ReadBalance::Idle { by_load } | ReadBalance::Lowest { by_load } => {
                    flash &= by_load;
                    if !candidate.rotates {
                        shortest.meet(pending, copy);
                    }
                    let way = match self {
                        ReadBalance::Lowest { .. } => offset,
                        _ if pending == 0 => 0,
                        _ => away,
                    };
                    nearest.meet(way, copy);
                }
            }
        }
        let idle = self == ReadBalance::Streams && shortest.value == 0;
        match flash || idle {
            true => shortest.copy,
            false => nearest.copy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A read of what lies at 1000 on two drives; each has its number of I/Os, where the last read
    /// sent there ended, and where the last I/O that came back ended.
    fn of_two(balance: ReadBalance, rotates: bool, drives: [(u64, u64, u64); 2]) -> usize {
        let copies = drives.map(|(pending, read_to, head)| Candidate {
            offset: 1000,
            pending,
            read_to,
            head,
            rotates,
        });
        balance.copy(copies.into_iter()).unwrap().index()
    }

    /// A stream stays where it is, however much waits there; on flash too.
    #[test]
    fn raid_1_keeps_a_stream_on_one_drive() {
        for rotates in [true, false] {
            let busy = [(0, 0, 0), (64, 1000, 200)];
            assert_eq!(of_two(ReadBalance::Streams, rotates, busy), 1);
            let came_back = [(0, 0, 0), (64, 0, 1000)];
            assert_eq!(of_two(ReadBalance::Streams, rotates, came_back), 1);
        }
    }

    /// What continues nothing goes to an idle drive; if none is, to the one whose last I/O ended
    /// nearest, 900 or 100 away; of flash to the one with fewer I/Os.
    #[test]
    fn raid_1_looks_for_an_idle_drive_and_then_for_a_near_one() {
        let one_idle = [(1, 0, 900), (0, 0, 100)];
        assert_eq!(of_two(ReadBalance::Streams, true, one_idle), 1);
        let both_busy = [(9, 0, 900), (1, 0, 100)];
        assert_eq!(of_two(ReadBalance::Streams, true, both_busy), 0);
        assert_eq!(of_two(ReadBalance::Streams, false, both_busy), 1);
        let both_idle = [(0, 0, 100), (0, 0, 900)];
        assert_eq!(of_two(ReadBalance::Streams, true, both_idle), 0);
    }

    /// RAID 10 knows no streams: the drive that the read continues on is the nearest, at 0, unless
    /// an idle one comes before it.
    #[test]
    fn raid_10_takes_an_idle_drive_or_the_nearest() {
        let continues = [(0, 0, 0), (1, 1000, 1000)];
        assert_eq!(
            of_two(ReadBalance::Idle { by_load: true }, true, continues),
            0
        );
        let busy = [(1, 1000, 900), (1, 0, 950)];
        assert_eq!(of_two(ReadBalance::Idle { by_load: true }, true, busy), 1);
        let unequal = [(3, 1000, 1000), (2, 0, 0)];
        assert_eq!(
            of_two(ReadBalance::Idle { by_load: true }, false, unequal),
            1
        );
        assert_eq!(
            of_two(ReadBalance::Idle { by_load: false }, false, unequal),
            0
        );
    }

    /// The second copy lies behind the first one, whatever waits.
    #[test]
    fn raid_1e_reads_the_lower_copy() {
        let copy = |offset, rotates| Candidate {
            offset,
            pending: 64 - offset,
            read_to: 0,
            head: 64,
            rotates,
        };
        let of = |rotates| {
            let copies = [copy(0, rotates), copy(64, rotates)];
            ReadBalance::Lowest { by_load: true }
                .copy(copies.into_iter())
                .unwrap()
                .index()
        };
        assert_eq!((of(true), of(false)), (0, 1));
    }
}
