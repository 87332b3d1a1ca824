//! A second arithmetic of the levels, as plain as possible, for tests.
//!
//! It draws the table of an array row by row, sector by sector, as textbooks do, and looks
//! everything up in it.

use crate::plan::{Level, Rotation};

/// A sector on a drive.
pub type Spot = (u32, u64);

/// A command: drive, first sector there, number of sectors, and its first sector on the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub at: Spot,
    pub sectors: u64,
    pub first: u64,
    /// The unit in which it ends, counted along the array.
    unit: u64,
}

/// A stripe: for each data column its copies, then the parities; each a drive and a row of it.
#[derive(Debug)]
pub struct StripeRow {
    pub columns: Vec<Vec<(u32, u64)>>,
    pub parities: Vec<(u32, u64)>,
}

/// The table of an array, by the sectors that its drives hold.
#[derive(Debug)]
pub struct Table {
    level: Level,
    unit: u64,
    /// Of jbod alone: the drives' sectors, of all but the last whole units.
    sizes: Vec<u64>,
    pub stripes: Vec<StripeRow>,
}

impl Table {
    /// `unit` and `sizes` in sectors.
    pub fn new(level: Level, rotation: Rotation, unit: u64, spans: u32, sizes: &[u64]) -> Table {
        let drives: Vec<u32> = (0..sizes.len() as u32).collect();
        let rows = sizes.iter().min().expect("a drive") / unit;
        let mut stripes = Vec::new();
        for row in 0..rows {
            match level {
                Level::Jbod => {}
                Level::Raid0 => stripes.push(plain(drives.iter().map(|&d| vec![d]), row)),
                Level::Raid1 => stripes.push(plain([drives.clone()].into_iter(), row)),
                Level::Raid10 => {
                    stripes.push(plain(drives.chunks(2).map(<[u32]>::to_vec), row));
                }
                Level::Raid1e if row % 2 == 1 => {
                    let mut shifted = drives.clone();
                    shifted.rotate_left(1);
                    let both = drives.iter().zip(shifted);
                    stripes.push(StripeRow {
                        columns: both.map(|(&a, b)| vec![(a, row - 1), (b, row)]).collect(),
                        parities: Vec::new(),
                    });
                }
                Level::Raid1e => {}
                Level::Raid5 | Level::Raid50 => {
                    for span in drives.chunks(drives.len() / spans as usize) {
                        stripes.push(rotated(rotation, span, 1, row));
                    }
                }
                Level::Raid6 | Level::Raid60 => {
                    for span in drives.chunks(drives.len() / spans as usize) {
                        stripes.push(rotated(rotation, span, 2, row));
                    }
                }
            }
        }
        let whole = |(nth, &size): (usize, &u64)| match nth + 1 == sizes.len() {
            true => size,
            false => size - size % unit,
        };
        Table {
            level,
            unit,
            sizes: sizes.iter().enumerate().map(whole).collect(),
            stripes,
        }
    }

    pub fn sectors(&self) -> u64 {
        if self.level == Level::Jbod {
            return self.sizes.iter().sum();
        }
        let columns = self
            .stripes
            .first()
            .map_or(0, |stripe| stripe.columns.len());
        (self.stripes.len() * columns) as u64 * self.unit
    }

    /// Where the copies of a sector lie.
    pub fn spots(&self, sector: u64) -> Vec<Spot> {
        if self.level == Level::Jbod {
            let mut left = sector;
            for (drive, &size) in self.sizes.iter().enumerate() {
                if left < size {
                    return vec![(drive as u32, left)];
                }
                left -= size;
            }
            return Vec::new();
        }
        let (nth, within) = ((sector / self.unit) as usize, sector % self.unit);
        let columns = self.stripes[0].columns.len();
        let copies = &self.stripes[nth / columns].columns[nth % columns];
        let spot = |&(drive, row): &(u32, u64)| (drive, row * self.unit + within);
        copies.iter().map(spot).collect()
    }

    /// The commands of a range: sectors that follow each other on a drive go together, with parity
    /// inside a unit only.
    pub fn commands(&self, first: u64, sectors: u64) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        for sector in first..first + sectors {
            let (at, unit) = (self.spots(sector)[0], sector / self.unit);
            let goes_on = |c: &&mut Command| {
                let follows = (c.at.0, c.at.1 + c.sectors) == at;
                follows && (!self.level.has_parity() || c.unit == unit)
            };
            match commands.iter_mut().find(goes_on) {
                Some(command) => (command.sectors, command.unit) = (command.sectors + 1, unit),
                None => commands.push(Command {
                    at,
                    sectors: 1,
                    first: sector,
                    unit,
                }),
            }
        }
        commands
    }

    /// Whether each data unit can still be read or computed.
    pub fn survives(&self, lost: impl Fn(u32) -> bool) -> bool {
        self.stripes.iter().all(|stripe| {
            let lost = |(drive, _): &(u32, u64)| lost(*drive);
            let columns = stripe.columns.iter();
            let missing = columns.filter(|copies| copies.iter().all(lost)).count();
            let given = stripe.parities.iter().filter(|unit| !lost(unit)).count();
            missing <= given
        })
    }
}

fn plain(columns: impl Iterator<Item = Vec<u32>>, row: u64) -> StripeRow {
    let place = |copies: Vec<u32>| copies.into_iter().map(|drive| (drive, row)).collect();
    StripeRow {
        columns: columns.map(place).collect(),
        parities: Vec::new(),
    }
}

/// A stripe with parity over the drives of a span.
fn rotated(rotation: Rotation, span: &[u32], parities: usize, row: u64) -> StripeRow {
    let n = span.len();
    let step = row as usize % n;
    let first = match rotation {
        Rotation::LeftSymmetric | Rotation::LeftAsymmetric => n - 1 - step,
        Rotation::RightSymmetric | Rotation::RightAsymmetric => step,
    };
    let around: Vec<usize> = (first..first + n).map(|at| at % n).collect();
    let (parity, rest) = around.split_at(parities);
    let mut data = rest.to_vec();
    if matches!(
        rotation,
        Rotation::LeftAsymmetric | Rotation::RightAsymmetric
    ) {
        data.sort_unstable();
    }
    StripeRow {
        columns: data.iter().map(|&at| vec![(span[at], row)]).collect(),
        parities: parity.iter().map(|&at| (span[at], row)).collect(),
    }
}
