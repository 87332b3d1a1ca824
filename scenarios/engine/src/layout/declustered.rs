//! Declustered RAID: stripes that are narrower than the array, spread over all of its drives, and
//! spare space on each of them.
//!
//! Drives are cut into *chunks*. A *slice* is as many rows of chunks, one a drive, as hold a whole
//! number of groups of `width` chunks besides the spare ones; a group's stripes lie in its chunks.
//! In each slice another permutation says which drive has which place: the last `spares` of a row
//! are spare. Permutations are drawn once, and each is turned by one drive after the other before
//! the next one comes. So each drive shares stripes with every other one alike, and what it held is
//! rebuilt from all of them onto all of them.
//!
//! Sources: Holland and Gibson, "Parity declustering for continuous operation in redundant disk
//! arrays" (ASPLOS 1992); OpenZFS, `module/zfs/vdev_draid.c`: groups, slices, permutations, rows
//! of 16 MiB; Thomasian and Menon, "RAID5 performance with distributed sparing" (1997).

use crate::ids::{ColumnId, MemberId, ParityId, RowId, SpareId, StripeId};
use crate::layout::stripe::Role;
use crate::plan::DeclusteredPlan;
use raidlab_kernel::Stream;

/// Permutations that are drawn; OpenZFS has 64 to 512 by the number of drives.
const DRAWN: u64 = 256;
/// Seed of the permutations: the layout of an array is always the same one.
const SEED: u64 = 0;

/// Where the units of a declustered array lie.
#[derive(Clone, Debug)]
pub(crate) struct Declustered {
    parities: u32,
    width: u32,
    spares: u32,
    members: u32,
    /// Rows of units of a chunk.
    height: u64,
    /// Groups of a slice, and its rows of chunks.
    groups: u64,
    rows: u64,
    /// For each permutation and place its drive, and for each drive its place.
    drives: Vec<u16>,
    places: Vec<u16>,
}

impl Declustered {
    /// The layout over `members` drives of stripes with `parities`, in units of `unit` bytes.
    ///
    /// # Errors
    /// Says which widths, spares and chunks there are.
    pub(crate) fn new(
        plan: DeclusteredPlan,
        parities: u32,
        members: u32,
        unit: u64,
    ) -> Result<Declustered, String> {
        let DeclusteredPlan {
            width,
            spares,
            chunk_bytes,
        } = plan;
        let working = u64::from(members.saturating_sub(spares));
        if !(1..=2).contains(&parities) || width <= parities || u64::from(width) > working {
            return Err(format!(
                "stripes {width} wide with {parities} parities on {members} drives, {spares} of \
                 them spare; allowed: levels 5 and 6, wider than the parities, at most the drives \
                 that are not spare"
            ));
        }
        if chunk_bytes == 0 || chunk_bytes % unit != 0 || members > 1024 {
            return Err(format!(
                "chunks of {chunk_bytes} bytes on {members} drives; allowed: whole stripe units of \
                 {unit} bytes, at most 1024 drives"
            ));
        }
        let each = u64::from(width) / common_divisor(u64::from(width), working);
        let mut drives: Vec<u16> = Vec::with_capacity(DRAWN as usize * members as usize);
        let mut stream = Stream::new(SEED, "layout", "permutation");
        for _ in 0..DRAWN {
            let first = drives.len();
            drives.extend(0..members as u16);
            for last in (1..members as usize).rev() {
                let other = stream.below(last as u64 + 1) as usize;
                drives.swap(first + last, first + other);
            }
        }
        let mut places = vec![0; drives.len()];
        for (at, &drive) in drives.iter().enumerate() {
            let first = at - at % members as usize;
            places[first + usize::from(drive)] = (at - first) as u16;
        }
        Ok(Declustered {
            parities,
            width,
            spares,
            members,
            height: chunk_bytes / unit,
            groups: each * working / u64::from(width),
            rows: each,
            drives,
            places,
        })
    }

    /// Stripes on drives of `rows` rows of units.
    pub(crate) fn stripes(&self, rows: u64) -> u64 {
        (rows / (self.rows * self.height))
            .saturating_mul(self.groups)
            .saturating_mul(self.height)
    }

    /// Rows of units that `stripes` stripes take on each drive.
    pub(crate) fn unit_rows(&self, stripes: u64) -> u64 {
        stripes / self.groups * self.rows
    }

    /// Drives' worth of spare space.
    pub(crate) fn spares(&self) -> u32 {
        self.spares
    }

    /// The drive and the row of a unit.
    #[inline]
    pub(crate) fn place(&self, stripe: StripeId, role: Role) -> (MemberId, RowId) {
        let index = match role {
            Role::Data(column) | Role::Copy(column, _) => self.parities + column.number(),
            Role::Parity(which) => which.number(),
        };
        let stripe = stripe.number();
        let (group, inner) = (stripe / self.height, stripe % self.height);
        let (slice, group) = (group / self.groups, group % self.groups);
        let at = group * u64::from(self.width) + u64::from(index);
        let working = u64::from(self.members - self.spares);
        let chunk = slice * self.rows + at / working;
        let drive = self.drive(slice, (at % working) as u32);
        (drive, RowId::new(chunk * self.height + inner))
    }

    /// The stripe of the unit at a row of a drive, and what the unit is to it; none where the row
    /// is spare there.
    pub(crate) fn unit_at(&self, member: MemberId, row: RowId) -> Option<(StripeId, Role)> {
        let row = row.number();
        let (chunk, inner) = (row / self.height, row % self.height);
        let (slice, line) = (chunk / self.rows, chunk % self.rows);
        let (working, width) = (u64::from(self.members - self.spares), u64::from(self.width));
        let place = u64::from(self.place_of(slice, member));
        if place >= working {
            return None;
        }
        let at = line * working + place;
        let group = slice * self.groups + at / width;
        let index = (at % width) as u32;
        let role = match index.checked_sub(self.parities) {
            Some(column) => Role::Data(ColumnId::new(column)),
            None => Role::Parity(ParityId::new(index)),
        };
        Some((StripeId::new(group * self.height + inner), role))
    }

    /// The first row from `row` on at which a drive has a unit.
    pub(crate) fn next_row(&self, member: MemberId, row: RowId) -> RowId {
        let mut next = row;
        // A drive is spare in at most as many slices in a row as there are drives and spares.
        while self.unit_at(member, next).is_none() {
            let slice = self.rows * self.height;
            next = RowId::new((next.number() / slice + 1) * slice);
        }
        next
    }

    /// The drive that has spare number `spare` at a row.
    #[inline]
    pub(crate) fn spare_at(&self, spare: SpareId, row: RowId) -> MemberId {
        let slice = row.number() / self.height / self.rows;
        self.drive(slice, self.members - self.spares + spare.number())
    }

    /// The drive of a place in a slice.
    #[inline]
    fn drive(&self, slice: u64, place: u32) -> MemberId {
        let (first, turn) = self.permutation(slice);
        let drive = u32::from(self.drives[first + place as usize]) + turn;
        MemberId::new(if drive < self.members {
            drive
        } else {
            drive - self.members
        })
    }

    /// The place of a drive in a slice.
    #[inline]
    fn place_of(&self, slice: u64, member: MemberId) -> u32 {
        let (first, turn) = self.permutation(slice);
        let member = member.number();
        let drive = if member < turn {
            member + self.members - turn
        } else {
            member - turn
        };
        u32::from(self.places[first + drive as usize])
    }

    /// Where the permutation of a slice begins in the tables, and by how much it is turned.
    #[inline]
    fn permutation(&self, slice: u64) -> (usize, u32) {
        let members = u64::from(self.members);
        let which = slice / members % DRAWN;
        ((which * members) as usize, (slice % members) as u32)
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(members: u32, width: u32, spares: u32, parities: u32) -> Declustered {
        let plan = DeclusteredPlan {
            width,
            spares,
            chunk_bytes: 4 * 65_536,
        };
        Declustered::new(plan, parities, members, 65_536).expect("it can be")
    }

    /// By hand: eleven drives, one spare, stripes of six: three rows of ten chunks hold five groups.
    #[test]
    fn a_slice_holds_whole_groups() {
        let found = layout(11, 6, 1, 2);
        assert_eq!((found.groups, found.rows), (5, 3));
        // 100 rows of units are 25 rows of chunks, 8 whole slices, 40 groups of 4 stripes.
        assert_eq!(found.stripes(100), 160);
        assert_eq!(found.unit_rows(160), 96);
    }

    /// Every unit is where it is looked for, a stripe's are on drives of their own, and what no
    /// stripe has is spare: one row in `members / spares`.
    #[test]
    fn each_place_has_one_unit() {
        for (members, width, spares, parities) in
            [(11, 6, 1, 2), (14, 4, 2, 1), (5, 3, 0, 1), (42, 10, 2, 2)]
        {
            let found = layout(members, width, spares, parities);
            let slices = 2 * u64::from(members) + 1;
            let rows = slices * found.rows * 4;
            let mut taken = vec![false; (rows * u64::from(members)) as usize];
            let at = |drive: MemberId, row: RowId| row.index() * members as usize + drive.index();
            for stripe in 0..found.stripes(rows) {
                let stripe = StripeId::new(stripe);
                let roles = ParityId::first(parities).map(Role::Parity);
                let roles = roles.chain(ColumnId::first(width - parities).map(Role::Data));
                let mut drives = Vec::new();
                for role in roles {
                    let (drive, row) = found.place(stripe, role);
                    assert_eq!(found.unit_at(drive, row), Some((stripe, role)));
                    assert!(!std::mem::replace(&mut taken[at(drive, row)], true));
                    assert!(!drives.contains(&drive));
                    drives.push(drive);
                }
            }
            for row in RowId::first(rows) {
                for spare in SpareId::first(spares) {
                    let drive = found.spare_at(spare, row);
                    assert_eq!(found.unit_at(drive, row), None);
                    assert!(!std::mem::replace(&mut taken[at(drive, row)], true));
                }
            }
            assert!(taken.iter().all(|&taken| taken));
        }
    }

    /// What a drive held is read from all others alike, and written to all others alike: over all
    /// permutations each has `(drives - spares) (width - 1) / (drives - 1)` of a drive's reads to
    /// each of the places, within 10 %.
    #[test]
    fn a_rebuild_falls_on_all_drives_alike() {
        let (members, width, spares) = (14, 6, 2);
        let found = layout(members, width, spares, 2);
        let slices = DRAWN * u64::from(members);
        let (mut reads, mut writes) = (vec![0u32; 14], vec![0u32; 14]);
        for chunk in 0..slices * found.rows {
            let row = RowId::new(chunk * found.height);
            let Some((stripe, own)) = found.unit_at(MemberId::new(3), row) else {
                continue;
            };
            writes[found.spare_at(SpareId::new(0), row).index()] += 1;
            let roles = ParityId::first(2).map(Role::Parity);
            for role in roles.chain(ColumnId::first(width - 2).map(Role::Data)) {
                if role != own {
                    reads[found.place(stripe, role).0.index()] += 1;
                }
            }
        }
        for counts in [reads, writes] {
            assert_eq!(counts[3], 0);
            let others: Vec<u32> = counts.into_iter().filter(|&count| count > 0).collect();
            assert_eq!(others.len(), 13);
            let mean = f64::from(others.iter().sum::<u32>()) / 13.0;
            for count in others {
                assert!(
                    (f64::from(count) / mean - 1.0).abs() < 0.1,
                    "{count} {mean}"
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let plan = |width, spares, chunk_bytes| DeclusteredPlan {
            width,
            spares,
            chunk_bytes,
        };
        for (plan, parities) in [
            (plan(12, 1, 65_536), 2),
            (plan(2, 1, 65_536), 2),
            (plan(6, 1, 65_537), 2),
            (plan(6, 1, 65_536), 0),
        ] {
            assert!(Declustered::new(plan, parities, 12, 65_536).is_err());
        }
    }
}
