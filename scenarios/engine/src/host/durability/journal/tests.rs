use super::*;
use raidlab_io::ByteRange;
use raidlab_kernel::Nanos;

const FIRST: FileId = FileId::new(0);
const SECOND: FileId = FileId::new(1);
const MS: u64 = 1_000_000;

fn journal(kind: JournalKind) -> Journal {
    let plan = FileSystemPlan {
        journal: kind,
        start_bytes: 1 << 30,
        bytes: 1 << 20,
        tick_ns: Nanos(4 * MS),
        flushes: true,
        fua: false,
        async_commit: false,
        wake_ns: Nanos::ZERO,
    };
    Journal::new(plan, 40)
}

/// By hand, from jbd2's commit: descriptor and inode table in one write, flush, commit block, flush.
#[test]
fn ext4_writes_its_blocks_flushes_writes_the_commit_block_and_flushes() {
    let mut journal = journal(JournalKind::Ext4);
    journal.write(FIRST, Time(0), false);
    assert_eq!(journal.call(IoId::new(7), FIRST, true), Wait::Begins);
    assert_eq!(
        journal.begin(Time(MS)),
        Ask::Write(ByteRange::new(1 << 30, 8192))
    );
    assert_eq!(journal.go_on(), Some(Ask::Flush));
    assert_eq!(
        journal.go_on(),
        Some(Ask::Write(ByteRange::new((1 << 30) + 8192, 4096)))
    );
    assert_eq!(journal.go_on(), Some(Ask::FlushBehind));
    assert_eq!(journal.go_on(), None);
    assert_eq!(journal.end(), (vec![IoId::new(7)], vec![]));
    // Allocation: bitmap and group descriptor besides; behind the first commit.
    journal.write(FIRST, Time(2 * MS), true);
    assert_eq!(journal.call(IoId::new(7), FIRST, false), Wait::Begins);
    assert_eq!(
        journal.begin(Time(3 * MS)),
        Ask::Write(ByteRange::new((1 << 30) + 12288, 16384))
    );
}

/// XFS has one record instead: a media operation fewer.
#[test]
fn xfs_flushes_writes_one_record_and_flushes() {
    let mut journal = journal(JournalKind::Xfs);
    journal.write(FIRST, Time(0), true);
    assert_eq!(journal.call(IoId::new(7), FIRST, false), Wait::Begins);
    assert_eq!(journal.begin(Time(MS)), Ask::Flush);
    assert_eq!(
        journal.go_on(),
        Some(Ask::Write(ByteRange::new(1 << 30, 4096)))
    );
    assert_eq!(journal.go_on(), Some(Ask::FlushBehind));
    assert_eq!(journal.go_on(), None);
}

/// On drives that take FUA the record carries it and no flush follows; beside its transaction it
/// goes out plainly, and is flushed.
#[test]
fn a_record_with_fua_needs_no_flush_behind_it() {
    for kind in [JournalKind::Ext4, JournalKind::Xfs] {
        let mut journal = journal(kind);
        journal.plan.fua = true;
        journal.write(FIRST, Time(0), true);
        assert_eq!(journal.call(IoId::new(7), FIRST, false), Wait::Begins);
        let mut asks = vec![journal.begin(Time(MS))];
        asks.extend(std::iter::from_fn(|| journal.go_on()));
        let last = asks.pop();
        assert!(
            matches!(last, Some(Ask::Forced(ByteRange { bytes: 4096, .. }))),
            "{last:?}"
        );
        assert_eq!(asks.pop(), Some(Ask::Flush));
    }
    let mut journal = journal(JournalKind::Ext4);
    (journal.plan.fua, journal.plan.async_commit) = (true, true);
    journal.write(FIRST, Time(0), false);
    journal.call(IoId::new(7), FIRST, true);
    assert_eq!(
        journal.begin(Time(MS)),
        Ask::Write(ByteRange::new(1 << 30, 12288))
    );
    assert_eq!(journal.go_on(), Some(Ask::Flush));
    assert_eq!(journal.go_on(), None);
}

#[test]
fn an_overwrite_commits_times_once_in_a_tick_and_nothing_for_fdatasync() {
    let mut journal = journal(JournalKind::Ext4);
    journal.write(FIRST, Time(MS), false);
    assert_eq!(journal.call(IoId::new(1), FIRST, false), Wait::Flush);
    assert_eq!(journal.call(IoId::new(1), FIRST, true), Wait::Begins);
    journal.begin(Time(MS));
    while journal.go_on().is_some() {}
    journal.end();
    // In this tick of 4 ms the times have not changed.
    journal.write(FIRST, Time(3 * MS), false);
    assert_eq!(journal.call(IoId::new(1), FIRST, true), Wait::Flush);
    journal.write(FIRST, Time(4 * MS), false);
    assert_eq!(journal.call(IoId::new(1), FIRST, true), Wait::Begins);
}

#[test]
fn who_comes_during_a_commit_shares_the_next_one() {
    let mut journal = journal(JournalKind::Ext4);
    journal.write(FIRST, Time(0), false);
    journal.write(SECOND, Time(0), false);
    assert_eq!(journal.call(IoId::new(10), FIRST, true), Wait::Begins);
    journal.begin(Time(MS));
    // File 1 changed before the commit began: it is in it. File 2 and 3 come later.
    assert_eq!(journal.call(IoId::new(11), SECOND, true), Wait::Commit);
    for file in [2, 3] {
        journal.write(FileId::new(file), Time(2 * MS), false);
        assert_eq!(
            journal.call(IoId::new(10 + file), FileId::new(file), true),
            Wait::Commit
        );
    }
    assert_eq!(journal.go_on(), Some(Ask::Flush));
    // The barrier has gone out: the commit is waited for, then a flush.
    assert_eq!(journal.call(IoId::new(14), SECOND, true), Wait::Commit);
    while journal.go_on().is_some() {}
    assert_eq!(
        journal.end(),
        (vec![IoId::new(10), IoId::new(11)], vec![IoId::new(14)])
    );
    assert!(journal.is_wanted());
    journal.begin(Time(5 * MS));
    while journal.go_on().is_some() {}
    assert_eq!(journal.end(), (vec![IoId::new(12), IoId::new(13)], vec![]));
    assert!(!journal.is_wanted());
}

/// 33 inodes are in three blocks of the table, beside the descriptor.
#[test]
fn a_group_commit_writes_a_block_for_every_sixteen_inodes() {
    let mut journal = journal(JournalKind::Ext4);
    for file in 0..33 {
        journal.write(FileId::new(file), Time(0), false);
    }
    journal.call(IoId::new(0), FIRST, true);
    assert_eq!(
        journal.begin(Time(MS)),
        Ask::Write(ByteRange::new(1 << 30, 4 * 4096))
    );
}

#[test]
fn without_barriers_nothing_is_flushed_and_an_async_commit_is_one_write() {
    let mut without = journal(JournalKind::Ext4);
    without.plan.flushes = false;
    without.write(FIRST, Time(0), false);
    without.call(IoId::new(1), FIRST, true);
    without.begin(Time(MS));
    assert!(matches!(
        without.go_on(),
        Some(Ask::Write(ByteRange { bytes: 4096, .. }))
    ));
    assert_eq!(without.go_on(), None);
    let mut one = journal(JournalKind::Ext4);
    one.plan.async_commit = true;
    one.write(FIRST, Time(0), false);
    one.call(IoId::new(1), FIRST, true);
    assert_eq!(
        one.begin(Time(MS)),
        Ask::Write(ByteRange::new(1 << 30, 12288))
    );
    assert_eq!(one.go_on(), Some(Ask::Flush));
    assert_eq!(one.go_on(), None);
}

#[test]
fn the_journal_goes_on_at_its_start() {
    let mut journal = journal(JournalKind::Ext4);
    let mut last = 0;
    for commit in 0..100 {
        journal.write(FIRST, Time(commit * 4 * MS), false);
        journal.call(IoId::new(1), FIRST, true);
        let mut asks = vec![journal.begin(Time(commit * 4 * MS + MS))];
        asks.extend(std::iter::from_fn(|| journal.go_on()));
        journal.end();
        for ask in asks {
            if let Ask::Write(ByteRange { offset: at, bytes }) = ask {
                assert!(at >= 1 << 30 && at + bytes <= (1 << 30) + (1 << 20));
                assert!(at == last || last == 0 || at == 1 << 30);
                last = at + bytes;
            }
        }
    }
}
