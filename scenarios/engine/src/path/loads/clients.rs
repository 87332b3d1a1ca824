//! Clients of a target across a network, each with a link of its own.
//!
//! Data cross the client's link and the target's, which all clients share. What is between passes
//! on each frame as it comes, so both links carry one stream and the slower of them bounds it. With
//! `c` and `t`, the times of the data on each link, and the frames `fc` and `ft`, write data that
//! begin to leave the client at `s` are at the target by `max(s + fc + t, s + c + ft)`, and read
//! data that begin to leave the target at `s` are at the client by `max(s + ft + c, s + t + fc)`,
//! as long as no other data are in their way.

use crate::ids::{LinkId, ThreadId};
use crate::path::IoPath;
use crate::plan::WorkloadPlan;
use crate::state::event::{Event, LoadsEvent};
use raidlab_io::{Io, IoId, Op, Part};
use raidlab_kernel::{Table, Time};
use raidlab_models::Direction;

/// Links that the data of a client cross.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    own: LinkId,
    target: LinkId,
}

/// By load thread: its client's link, if it has one.
#[derive(Debug)]
pub(crate) struct Clients(Table<ThreadId, Option<Client>>);

impl Clients {
    /// Those of the loads; none if no load has a link of its own.
    pub(crate) fn of(loads: &[WorkloadPlan]) -> Option<Box<Clients>> {
        let client = |load: &WorkloadPlan| {
            load.client.map(|client| Client {
                own: LinkId::new(client.link),
                target: LinkId::new(client.target),
            })
        };
        let threads = |load| std::iter::repeat_n(client(load), load.threads as usize);
        let all: Vec<_> = loads.iter().flat_map(threads).collect();
        all.iter()
            .any(Option::is_some)
            .then(|| Box::new(Clients(all.into())))
    }

    /// The links that data of an I/O of a thread cross; none if there are no data, or no link.
    #[inline]
    pub(crate) fn crossed(&self, io: &Io, thread: ThreadId, way: Op) -> Option<Client> {
        let moves = io.op == way && !io.refused;
        self.0.get(thread).copied().flatten().filter(|_| moves)
    }
}

impl Client {
    /// Write data leave the client, and are at the target as soon as its link could pass them on.
    pub(crate) fn send(self, path: &mut IoPath, id: IoId, now: Time) {
        let io = &mut path.ios[id];
        let target = &path.links[self.target];
        let (all, first) = (target.duration(io.bytes), target.frame(io.bytes));
        let own = &mut path.links[self.own];
        let frame = own.frame(io.bytes);
        let served = own.transfer(Direction::Down, io.bytes, now, now);
        // From then on the target's link is fed without a gap.
        let gapless = Time((served.end + first).0.saturating_sub(all.0));
        let at = (served.start + frame).max(gapless);
        io.charge(Part::LinkWait, served.start);
        io.charge(Part::Link, at);
        io.entered = at;
        path.calendar.push(at, Event::Admit(id));
    }

    /// Read data are through the target's link, and cross the client's.
    pub(crate) fn receive(self, path: &mut IoPath, id: IoId, now: Time) {
        let io = &mut path.ios[id];
        let target = &path.links[self.target];
        let lead = target.duration(io.bytes) - target.frame(io.bytes);
        // The first frame came so much earlier than the last one.
        let ready = Time(now.0.saturating_sub(lead.0));
        let served = path.links[self.own].transfer(Direction::Up, io.bytes, ready, now);
        io.charge_stay(Part::LinkWait, Part::Link, served);
        // It is no longer between host and host.
        io.entered = Time::NEVER;
        path.calendar
            .push(served.end, LoadsEvent::Received(id).into());
    }
}
