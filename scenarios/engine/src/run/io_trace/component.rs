//! Which component a part of an I/O's time was spent at.

use crate::host::page_cache::PageCaches;
use crate::ids::{ArrayId, ControllerId, DriveId, LinkId, ThreadId};
use crate::path::IoPath;
use crate::path::loads::Loads;
use crate::raid::volume::Volumes;
use crate::run::io_trace::life::{Life, Role};
use crate::run::system::System;
use raidlab_io::{Io, Op, Part};
use raidlab_kernel::Time;

/// Where an I/O can be, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    /// A thread of the host.
    Thread(ThreadId),
    /// What the host does for an array that it manages.
    Array(ArrayId),
    /// The operating system's page cache of an array.
    PageCache(ArrayId),
    /// A controller's queue and cores.
    Controller(ControllerId),
    /// A controller's memory.
    Memory(ControllerId),
    /// A link.
    Link(LinkId),
    /// A drive, its queue before it included.
    Drive(DriveId),
}

impl Component {
    /// What reports call it.
    pub(crate) fn name(self, system: &System) -> String {
        let path = &system.layers.path;
        match self {
            Component::Thread(thread) => format!("host thread {thread}"),
            Component::Array(array) => format!("{} in the host", path.arrays[array].name),
            Component::PageCache(array) => {
                format!("page cache of {}", path.arrays[array].name)
            }
            Component::Controller(index) => path.controllers[index].name.clone(),
            Component::Memory(index) => {
                format!("{} memory", path.controllers[index].name)
            }
            Component::Link(link) => system.link_names[link].clone(),
            Component::Drive(drive) => path.drives[drive].name.clone(),
        }
    }

    /// Its kind, as in the list of components.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Component::Thread(_) | Component::Array(_) | Component::PageCache(_) => "host",
            Component::Controller(_) => "controller",
            Component::Memory(_) => "memory",
            Component::Link(_) => "link",
            Component::Drive(_) => "drive",
        }
    }
}

/// What a look at the records needs to know of the system.
pub(crate) struct Places<'a> {
    pub(crate) path: &'a IoPath,
    pub(crate) loads: &'a Loads,
    pub(crate) caches: &'a PageCaches,
    volumes: &'a Volumes,
    pub(crate) now: Time,
}

impl Places<'_> {
    pub(crate) fn of(system: &System) -> Places<'_> {
        Places {
            path: &system.layers.path,
            loads: &system.layers.loads,
            caches: &system.caches,
            volumes: system.layers.raid.stripes().state().volumes(),
            now: system.now(),
        }
    }

    /// Where a record spends a part of its time; of a link, that which its data crossed last.
    pub(crate) fn component(&self, life: &Life, io: &Io, part: Part) -> Component {
        let array = &self.path.arrays[life.array];
        let in_host = Component::Array(life.array);
        let controller = array.controller.map_or(in_host, Component::Controller);
        let memory = array.raid_controller().map_or(in_host, Component::Memory);
        match part {
            Part::LimitWait | Part::ShareWait | Part::HostWait | Part::Host => {
                Component::Thread(life.thread)
            }
            Part::Raid => array
                .raid_controller()
                .map_or(in_host, Component::Controller),
            Part::ControllerWait | Part::Controller => controller,
            Part::Cache | Part::CacheWait if life.role == Role::Call => {
                Component::PageCache(life.array)
            }
            Part::Cache | Part::CacheWait if self.is_at_drive(life) => Component::Drive(io.drive),
            Part::Cache | Part::CacheWait => memory,
            Part::LinkWait | Part::Link => {
                let own = (io.hop > 0).then(|| self.link(io, io.hop - 1)).flatten();
                let host = || self.volumes.get(life.array)?.host_link();
                own.or_else(host).map_or(controller, Component::Link)
            }
            _ => Component::Drive(io.drive),
        }
    }

    /// Whether the record itself goes to a drive.
    pub(crate) fn is_at_drive(&self, life: &Life) -> bool {
        match life.role {
            Role::Command => true,
            Role::Call | Role::Job => false,
            Role::Request | Role::Pages => !self.path.arrays[life.array].in_memory,
        }
    }

    /// The link that a command's data cross as number `hop`.
    pub(crate) fn link(&self, io: &Io, hop: u8) -> Option<LinkId> {
        let path = &self.path.drives[io.drive].path;
        let at = match io.op {
            Op::Write => io.hops.checked_sub(1 + hop)?,
            _ => hop,
        };
        path.get(at as usize).copied()
    }
}
