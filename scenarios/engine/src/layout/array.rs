//! The layout of an array, with its sizes.

use crate::ids::{MemberId, RowId, SpareId};
use crate::layout::concatenated::Concatenated;
use crate::layout::copies::Copies;
use crate::layout::declustered::Declustered;
use crate::layout::level::{self, Shape};
use crate::layout::rotated::Rotated;
use crate::plan::{Arrangement, CopiesPlan, DeclusteredPlan, Level, Rotation};
use raidlab_kernel::Divider;
use std::sync::Arc;

/// The layout of an array, with its sizes.
///
/// A stripe holds one unit of each data column and, on levels with parity, one unit of each
/// parity. A column of a level with copies lies on several drives.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(super) level: Level,
    /// Bytes of a unit.
    pub(super) unit: Divider,
    /// Data columns of a stripe.
    pub(super) columns: Divider,
    pub(super) parities: u32,
    pub(super) copies: u32,
    pub(super) members: u32,
    /// Of levels 5, 6, 50 and 60: where units lie.
    pub(super) rotated: Rotated,
    pub(super) capacity: u64,
    /// Of levels 10 and 1E: where copies lie.
    pub(super) mirrored: Option<Copies>,
    /// Of levels 5 and 6 whose stripes are narrower than the array: where units lie.
    pub(super) declustered: Option<Arc<Declustered>>,
    /// Of jbod: where each drive begins.
    pub(super) concatenated: Option<Concatenated>,
}

impl Layout {
    /// The layout of an array over drives of these capacities.
    ///
    /// Striped and mirrored levels use of every drive what the smallest has, in whole stripe
    /// units. `rotation` matters on levels with parity only, `spans` on levels 50 and 60 only.
    ///
    /// # Errors
    /// Says which number of drives or stripe unit the level wants.
    pub fn new(
        level: Level,
        rotation: Rotation,
        unit: u64,
        spans: u32,
        capacities: &[u64],
    ) -> Result<Layout, String> {
        let members = capacities.len() as u32;
        let spans = match level {
            Level::Raid50 | Level::Raid60 => spans,
            Level::Jbod
            | Level::Raid0
            | Level::Raid1
            | Level::Raid10
            | Level::Raid1e
            | Level::Raid5
            | Level::Raid6 => 1,
        };
        level::check(level, unit, members, spans)?;
        let arrangement = match level {
            Level::Raid10 => Some(Arrangement::Near),
            Level::Raid1e => Some(Arrangement::Offset),
            _ => None,
        };
        let pairs = |arrangement| CopiesPlan {
            arrangement,
            copies: 2,
        };
        let mirrored = arrangement.map(|it| mirrored(pairs(it), unit, capacities));
        let shape = match mirrored.transpose()? {
            Some(copies) => Shape::mirrored(copies),
            None => Shape::of(level, members, spans),
        };
        Ok(Layout::of_shape(
            level,
            rotation,
            unit,
            spans,
            (shape, capacities),
        ))
    }

    /// The layout of level 10 with its copies as Linux md lays them.
    ///
    /// # Errors
    /// Says which number of copies or stripe unit there may be.
    pub fn copied(plan: CopiesPlan, unit: u64, capacities: &[u64]) -> Result<Layout, String> {
        level::check_unit(unit)?;
        let shape = Shape::mirrored(mirrored(plan, unit, capacities)?);
        let (level, rotation) = (Level::Raid10, Rotation::LeftSymmetric);
        Ok(Layout::of_shape(
            level,
            rotation,
            unit,
            1,
            (shape, capacities),
        ))
    }

    /// The layout of level 5 or 6 whose stripes are narrower than the array.
    ///
    /// # Errors
    /// Says which widths, spares, chunks and stripe units there may be.
    pub fn declustered(
        level: Level,
        plan: DeclusteredPlan,
        unit: u64,
        capacities: &[u64],
    ) -> Result<Layout, String> {
        level::check_unit(unit)?;
        let (parities, members) = (level.parities(), capacities.len() as u32);
        let spread = match level {
            Level::Raid5 | Level::Raid6 => Declustered::new(plan, parities, members, unit)?,
            _ => return Err(format!("{level:?}; allowed: levels 5 and 6")),
        };
        let shape = Shape::declustered(spread, plan.width, parities);
        let rotation = Rotation::LeftSymmetric;
        Ok(Layout::of_shape(
            level,
            rotation,
            unit,
            1,
            (shape, capacities),
        ))
    }

    fn of_shape(
        level: Level,
        rotation: Rotation,
        unit: u64,
        spans: u32,
        (shape, capacities): (Shape, &[u64]),
    ) -> Layout {
        let members = capacities.len() as u32;
        let mut layout = Layout {
            level,
            unit: Divider::new(unit as u32),
            columns: Divider::new(shape.columns),
            parities: shape.parities,
            copies: shape.copies,
            members,
            rotated: Rotated::new(rotation, shape.parities, spans, members / spans),
            capacity: 0,
            mirrored: shape.mirrored,
            declustered: shape.declustered,
            concatenated: (level == Level::Jbod).then(|| Concatenated::new(unit, capacities)),
        };
        layout.measure(capacities);
        layout
    }

    fn measure(&mut self, capacities: &[u64]) {
        if let Some(drives) = &self.concatenated {
            self.capacity = drives.end().bytes;
            return;
        }
        let least = capacities.iter().copied().min().unwrap_or(0);
        let rows = least / self.unit();
        let stripes = match (&self.mirrored, &self.declustered) {
            (Some(copies), _) => copies.stripes(rows),
            (None, Some(spread)) => spread.stripes(rows),
            (None, None) => rows.saturating_mul(u64::from(self.spans())),
        };
        self.capacity = stripes.saturating_mul(self.width());
    }

    /// Bytes that the array offers.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes of a unit.
    #[inline]
    pub fn unit(&self) -> u64 {
        u64::from(self.unit.get())
    }

    /// Data columns of a stripe.
    #[inline]
    pub fn columns(&self) -> u32 {
        self.columns.get()
    }

    /// Parity units of a stripe.
    #[inline]
    pub fn parities(&self) -> u32 {
        self.parities
    }

    /// How many drives hold each data unit.
    #[inline]
    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// Number of spans.
    pub fn spans(&self) -> u32 {
        self.rotated.spans()
    }

    /// Number of stripes.
    pub fn stripes(&self) -> u64 {
        match &self.concatenated {
            Some(drives) => drives.end().stripe.number(),
            None => self.capacity / self.width(),
        }
    }

    /// Rows of units on each drive; none of jbod, whose drives may differ.
    pub fn rows(&self) -> u64 {
        match (&self.mirrored, &self.declustered, self.level) {
            (Some(copies), _, _) => copies.rows(self.stripes()),
            (None, Some(spread), _) => spread.unit_rows(self.stripes()),
            (None, None, Level::Jbod) => 0,
            (None, None, _) => self.stripes() / u64::from(self.spans()),
        }
    }

    /// Drives' worth of spare space that is spread over the drives.
    pub fn spread_spares(&self) -> u32 {
        self.declustered.as_ref().map_or(0, |it| it.spares())
    }

    /// The member that has distributed spare number `spare` at a row.
    #[inline]
    pub(crate) fn spare_at(&self, spare: SpareId, row: RowId) -> Option<MemberId> {
        let spread = self.declustered.as_ref()?;
        Some(spread.spare_at(spare, row))
    }

    /// The first row from `row` on at which a member has a unit, at most the number of rows.
    pub(crate) fn next_row(&self, member: MemberId, row: RowId) -> RowId {
        let end = RowId::new(self.rows());
        match &self.declustered {
            Some(spread) if row < end => spread.next_row(member, row).min(end),
            _ => row,
        }
    }

    /// Rows from `row` on at which a member has a unit; those behind `most` are not counted.
    pub(crate) fn rows_left(&self, member: MemberId, row: RowId, most: u64) -> u64 {
        if self.declustered.is_none() {
            return self.rows() - row.number();
        }
        let (mut left, mut next) = (0, self.next_row(member, row));
        while left < most && next.number() < self.rows() {
            left += 1;
            next = self.next_row(member, next.plus(1));
        }
        left
    }

    /// Data bytes of a stripe.
    #[inline]
    pub(super) fn width(&self) -> u64 {
        self.unit() * u64::from(self.columns())
    }

    /// Whether each unit of a column follows the column's previous unit on the drive.
    #[inline]
    pub(super) fn is_straight(&self) -> bool {
        match self.level {
            Level::Raid0 | Level::Raid1 => true,
            Level::Raid10 | Level::Raid1e => {
                self.mirrored.as_ref().is_some_and(Copies::is_straight)
            }
            Level::Jbod | Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => false,
        }
    }
}

/// The copies of an array over drives of these capacities.
fn mirrored(plan: CopiesPlan, unit: u64, capacities: &[u64]) -> Result<Copies, String> {
    let least = capacities.iter().copied().min().unwrap_or(0);
    Copies::new(plan, capacities.len() as u32, least / unit)
}
