//! Loads on the simulated tile, until its state no longer changes.

use crate::patience;
use crate::ssd::preconditioning::load::HistoryLoad;
use crate::ssd::preconditioning::pace::Pace;
use crate::ssd::preconditioning::tiling::Tiling;
use crate::ssd::preconditioning::writer::Writer;
use crate::ssd::translation::Translation;
use raidlab_kernel::Stream;

/// Write amplification has settled when two successive rounds differ by less than this share.
const SETTLED: f64 = 0.004;
/// Rounds after which a load that does not settle is taken as it is.
const MOST_ROUNDS: u64 = 24;
/// Writes after which the tile no longer changes, however many are stated or however seldom a load
/// writes an area; in spaces of the tile.
const MOST_WRITES: u64 = 256;
/// Blocks of the host's that may be filled so, in a tile of any size.
const MOST_BLOCKS_MORE: u32 = 64;
/// Units after which it is asked whether to go on.
const ASKED_AFTER: u64 = 1 << 14;

/// Applies to the tile its share of a load, or of several that run at the same time. Gives the pace
/// of collection at the end, if they have settled.
pub(super) fn apply(
    tile: &mut Translation,
    loads: &[HistoryLoad],
    tiling: Tiling,
    unit_bytes: u64,
    draws: &mut Stream,
) -> Pace {
    let mut pace = Pace::default();
    let mut writers = Writer::of_all(loads, tiling, unit_bytes);
    let area: u64 = writers.iter().map(|writer| writer.area.units).sum();
    let rarest = rarest_share(&writers);
    let stated = match loads {
        [only] => only.written_bytes,
        _ => 0,
    };
    if stated == 0 {
        let area = area.min(u64::from(tiling.shape.units));
        pace = Pace::of_rounds(round_units(tile, area));
    }
    let mut round = |tile: &mut Translation, writes| {
        write(tile, &mut writers, writes, draws, &mut pace);
    };
    if stated > 0 {
        let share = stated.div_ceil(u64::from(tiling.count) * unit_bytes);
        let most = MOST_WRITES * u64::from(tile.space.shape().units_per_die());
        let per_set = u64::from(tiling.shape.units_per_set);
        round(tile, share.min(most).next_multiple_of(per_set));
    } else {
        let area = area.min(u64::from(tiling.shape.units));
        settle(tile, area, rarest, &mut round);
    }
    let (most_worn, _) = tile.space.wear();
    if stated == 0 || most_worn > 0 {
        end_with_full_blocks(tile, &mut round);
    }
    pace
}

/// Applies the loads for `units` more and, with `to_the_end`, until the tile may end there.
pub(super) fn go_on(
    tile: &mut Translation,
    writers: &mut [Writer],
    (units, to_the_end): (u64, bool),
    draws: &mut Stream,
) {
    let mut unseen = Pace::default();
    let mut round = |tile: &mut Translation, writes| {
        write(tile, writers, writes, draws, &mut unseen);
    };
    round(tile, units);
    if to_the_end {
        end_with_full_blocks(tile, &mut round);
    }
}

/// Writes `units` units of a load or, block by block, of several in proportion to their weights.
fn write(
    tile: &mut Translation,
    writers: &mut [Writer],
    units: u64,
    draws: &mut Stream,
    pace: &mut Pace,
) {
    let mut left = units;
    pace.resume(tile.counts());
    if let [only] = writers {
        // In whole blocks, so that the same is written however often it is looked at.
        let mut unasked = ASKED_AFTER;
        while left > 0 {
            if unasked >= ASKED_AFTER {
                patience::ask();
                unasked = 0;
            }
            let piece = next_look(tile, pace).next_multiple_of(only.area.block);
            only.write(tile, left.min(piece), draws);
            unasked += piece;
            left = left.saturating_sub(piece);
            look(tile, pace);
        }
        return;
    }
    let all = writers.iter().map(Writer::frequency).sum();
    let (mut unasked, mut unseen) = (0, 0);
    let mut looked_after = next_look(tile, pace);
    while left > 0 {
        if unasked >= ASKED_AFTER {
            patience::ask();
            unasked = 0;
        }
        if unseen >= looked_after {
            look(tile, pace);
            (unseen, looked_after) = (0, next_look(tile, pace));
        }
        let mut drawn = draws.below(all);
        let next = writers.iter_mut().find(|writer| {
            let found = drawn < writer.frequency();
            drawn = drawn.saturating_sub(writer.frequency());
            found
        });
        let writer = next.expect("less than the sum was drawn");
        let block = writer.area.block;
        writer.write(tile, block, draws);
        unasked += block;
        unseen += block;
        left = left.saturating_sub(block);
    }
    look(tile, pace);
}

/// Units until the next look: the end of a piece, or of the host's block.
fn next_look(tile: &Translation, pace: &Pace) -> u64 {
    let Some(piece) = pace.left_of_piece() else {
        return ASKED_AFTER;
    };
    let block = tile.space.room_for_host(tile.current_die());
    piece.min(u64::from(block)).min(ASKED_AFTER)
}

/// Looks how far collection has come, and at places where the history could end.
fn look(tile: &Translation, pace: &mut Pace) {
    pace.look(tile.counts());
    if pace.left_of_piece().is_some() && tile.space.at_block_boundary(tile.current_die()) {
        pace.block_is_full(|tried| may_end(tile, tried), || tile.freed_ahead());
    }
}

/// The least part of the units that one of the writers writes.
fn rarest_share(writers: &[Writer]) -> f64 {
    let units = |writer: &Writer| (writer.frequency() * writer.area.block) as f64;
    let all: f64 = writers.iter().map(units).sum();
    writers.iter().map(units).fold(all, f64::min) / all
}

/// What a load writes in a round.
fn round_units(tile: &Translation, area: u64) -> u64 {
    let space = u64::from(tile.space.shape().units_per_die());
    area.max(space.saturating_sub(tile.space.valid_units()))
}

/// Repeats rounds until write amplification no longer changes. A round writes as much as the area
/// takes or, if that is more, the spare space. In that time a collection that goes through all
/// blocks in order reaches every one of them, those with cold data too.
///
/// The load that writes least makes the `rarest` share of the writes. Beside a strong hot spot that
/// is all the rest. The holes that it leaves remain until they have taken the spare space; only
/// then are other blocks than the hot spot's collected.
pub(super) fn settle(
    tile: &mut Translation,
    area: u64,
    rarest: f64,
    round: &mut impl FnMut(&mut Translation, u64),
) {
    let space = u64::from(tile.space.shape().units_per_die());
    let spare = space.saturating_sub(tile.space.valid_units());
    let units = round_units(tile, area);
    // While there are free blocks, nothing is collected and nothing can settle.
    let mut written = 0;
    while tile.counts().erases == 0 && written < 2 * space {
        round(tile, units);
        written += units;
    }
    let until_holes_fill_it = ((spare as f64 / rarest) as u64).min(MOST_WRITES * space);
    let at_least = until_holes_fill_it / units;
    let mut before = 0.0;
    let mut settled = 0;
    for rounds in 0..at_least + MOST_ROUNDS {
        tile.reset_counts();
        round(tile, units);
        let now = tile.counts().write_amplification();
        settled = if (now - before).abs() < SETTLED * now {
            settled + 1
        } else {
            0
        };
        if settled >= 2 && rounds >= at_least {
            break;
        }
        before = now;
    }
}

/// Blocks of the host's that may be filled to end where collection's block is full as well.
fn most_tries(tile: &Translation) -> u32 {
    (tile.space.shape().blocks_per_die / 2).min(MOST_BLOCKS_MORE)
}

/// Whether the tile may end where it is, when this number of the host's blocks have been tried: if
/// collection's block is nearly full. The two blocks fill at independent rates, so the longer this
/// takes the less full the second has to be.
fn may_end(tile: &Translation, tried: u32) -> bool {
    let most = most_tries(tile);
    let allowed = tile.space.shape().units_per_block() * tried.min(most) / most;
    tile.space.room_for_collection(tile.current_die()) <= allowed
}

/// Goes on until the host's block is full and collection's block nearly so. A block that is half
/// full would be lost space in every tile but a die's first, and an easy victim there.
fn end_with_full_blocks(tile: &mut Translation, round: &mut impl FnMut(&mut Translation, u64)) {
    for tried in 1..=most_tries(tile) {
        for _ in 0..tile.space.shape().units_per_block() {
            if tile.space.at_block_boundary(tile.current_die()) {
                break;
            }
            round(tile, 1);
        }
        if may_end(tile, tried) {
            break;
        }
        round(tile, 1);
    }
}
