//! The lives of I/Os as plain data.

use crate::run::io_trace::life::{Below, Interval, Life, Role};
use crate::run::system::System;
use raidlab_io::Op;
use raidlab_kernel::Time;
use schemars::JsonSchema;
use serde::Serialize;

/// One I/O, from the call in the host to its completion.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TracedIo {
    /// read, write, trim or flush.
    pub op: &'static str,
    /// First byte on the array.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// When it was issued, in nanoseconds of simulated time.
    pub issued_ns: u64,
    /// Its latency.
    pub latency_ns: u64,
    /// Where it was, in order of time. Those on the critical path add up to the latency.
    pub stages: Vec<Stage>,
    /// Jobs on stripes and commands to drives that it became.
    pub commands: Vec<Command>,
}

/// A time that an I/O, or a command of it, spent at a component.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Stage {
    /// The component's name.
    pub component: String,
    /// host, controller, memory, link or drive.
    pub kind: &'static str,
    /// The part of the latency: seek, queue ...
    pub stage: &'static str,
    /// From when on, in nanoseconds of simulated time.
    pub begin_ns: u64,
    /// Up to when.
    pub end_ns: u64,
    /// 0 for the request itself, else the number of the command.
    pub command: u32,
    /// False if it ran beside others that took longer.
    pub critical: bool,
}

/// What a request became.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Command {
    /// From 1 on.
    pub number: u32,
    /// What it is part of: 0 for the request.
    pub parent: u32,
    /// request (of a page cache), job (on a stripe) or command (to a drive).
    pub kind: &'static str,
    /// read, write, trim or flush.
    pub op: &'static str,
    /// The drive of a command.
    pub drive: Option<String>,
    /// First byte on the drive.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// The name of an operation.
pub(crate) fn op_name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "flush",
    }
}

impl TracedIo {
    pub(crate) fn new(system: &System, life: &Life) -> TracedIo {
        let mut numbers: Vec<u32> = life.below.iter().map(|below| below.number).collect();
        numbers.sort_unstable();
        let number_of = |number: u32| numbers.binary_search(&number).map_or(0, |at| at as u32 + 1);
        let path = life.path.iter().map(|interval| (interval, true));
        let beside = life.beside.iter().map(|interval| (interval, false));
        let mut stages: Vec<Stage> = path
            .chain(beside)
            .map(|(interval, critical)| {
                Stage::new(system, interval, critical, number_of(interval.of))
            })
            .collect();
        stages.sort_by_key(|stage| (stage.begin_ns, stage.end_ns, stage.command));
        let mut commands: Vec<Command> = life
            .below
            .iter()
            .map(|below| Command {
                number: number_of(below.number),
                parent: number_of(below.parent),
                ..Command::new(system, below)
            })
            .collect();
        commands.sort_by_key(|command| command.number);
        TracedIo {
            op: op_name(life.op),
            offset: life.offset,
            bytes: life.bytes,
            issued_ns: life.issued.since(Time::ZERO).0,
            latency_ns: life.mark.since(life.issued).0,
            stages,
            commands,
        }
    }
}

impl Stage {
    fn new(system: &System, interval: &Interval, critical: bool, command: u32) -> Stage {
        Stage {
            component: interval.component.name(system),
            kind: interval.component.kind(),
            stage: interval.part.name(),
            begin_ns: interval.begin.0,
            end_ns: interval.end.0,
            command,
            critical,
        }
    }
}

impl Command {
    fn new(system: &System, below: &Below) -> Command {
        let (kind, at_drive) = match below.role {
            Role::Request | Role::Call | Role::Pages => ("request", false),
            Role::Job => ("job", false),
            Role::Command => ("command", true),
        };
        let drives = &system.layers.path.drives;
        let drive = at_drive.then(|| drives[below.drive].name.clone());
        Command {
            number: below.number,
            parent: below.parent,
            kind,
            op: op_name(below.op),
            drive,
            offset: below.offset,
            bytes: below.bytes,
        }
    }
}
