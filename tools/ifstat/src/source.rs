//! The kernel's side of a sample: one dump of all interfaces, the notices of who came and went, the drivers' settings.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use anyhow::Context;
use common::cli::Session;
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::sys::socket::{setsockopt, sockopt};

use crate::link::{Counters, FIXED, Link, Name};
use crate::settings::Drivers;
use crate::stack::Stack;
use crate::tracker::{Span, Tracker};
use common::sys::netlink::{self, Dump, Netlink, Question};

/// Room for the notices of a storm: each takes about 2 KiB. Without privilege the kernel grants less.
const NOTICES: usize = 8 << 20;

/// One notice fits; the kernel sends one at a time.
const NOTICE: usize = 64 * 1024;

/// `RTEXT_FILTER_SKIP_STATS`: without the IPv6 statistics of each interface, which cost more than all the rest.
const SKIP_IPV6_STATISTICS: u32 = 1 << 3;

/// What is measured, in one network namespace.
///
/// All interfaces are listed (`RTM_GETLINK`) at the beginning and whenever notices were lost; in between, notices say what
/// changed about them, and a sample is a dump of the counters alone (`RTM_GETSTATS`, the same struct), which costs the
/// kernel a sixth of a list.
#[derive(Debug)]
pub struct Source {
    /// Name of the namespace for lines.
    pub netns: String,
    /// Speeds and drivers.
    pub drivers: Drivers,
    /// The layers above, with `--stack`.
    pub stack: Option<Stack>,
    /// The interfaces as they are, in the order of their numbers, with counters of the last sample.
    pub links: Vec<Link>,
    route: Netlink,
    all_links: Question,
    all_counters: Question,
    notices: Notices,
    /// `links` may lack changes.
    is_stale: bool,
}

impl Source {
    /// Opens all sockets and files; the caller is in the right namespace.
    pub fn open(netns: &str, with_stack: bool) -> anyhow::Result<Self> {
        Ok(Self {
            netns: netns.to_owned(),
            drivers: Drivers::open().context("cannot open a socket")?,
            stack: with_stack.then(Stack::open).transpose()?,
            links: Vec::new(),
            // Before the first list, so that no change falls between.
            notices: Notices::open().context("cannot listen to netlink")?,
            route: Netlink::open(NETLINK_ROUTE).context("cannot open netlink")?,
            all_links: Question::new(libc::RTM_GETLINK, &[0; FIXED])
                .with(libc::IFLA_EXT_MASK, &SKIP_IPV6_STATISTICS.to_ne_bytes()),
            all_counters: counters::question(),
            is_stale: true,
        })
    }

    /// Lists all interfaces. False when some may be missing.
    fn list(&mut self) -> anyhow::Result<bool> {
        let dump = self.route.dump(&mut self.all_links, &mut self.links, Link::parse);
        self.links.sort_unstable_by_key(|link| link.index);
        self.is_stale = dump.context("cannot list the interfaces")? != Dump::Whole;
        Ok(!self.is_stale)
    }

    /// The counters of the last list are the beginning.
    pub fn track(&mut self, wanted: Vec<Name>, at: Instant) -> Tracker {
        let (drivers, links) = (&mut self.drivers, &self.links);
        Tracker::new(wanted, links, at, |link, settings| drivers.look(link, links, at, settings))
    }

    /// Closes the open spans of `tracker` with the counters of this moment, which is returned with them.
    pub fn sample(&mut self, tracker: &mut Tracker) -> anyhow::Result<(Instant, Vec<Span>)> {
        self.hear(tracker)?;
        tracker.expect_dump();
        let at = Instant::now();
        let mut counted = Vec::new();
        let mut is_whole = match tracker.few() {
            _ if self.is_stale => self.list()?,
            // Who is not among the few is not missing.
            Some(few) => self.count_few(&few, &mut counted)?,
            None => self.count(&mut counted)?,
        };
        if counted.is_empty() && is_whole {
            counted = self.links.iter().map(|link| (link.index, link.counters)).collect();
        }
        is_whole &= self.hear(tracker)?;
        let sampled = self.sampled(&counted);
        let (drivers, links) = (&mut self.drivers, &self.links);
        let spans = tracker.sample(&sampled, is_whole, at, |link, settings| drivers.look(link, links, at, settings));
        Ok((at, spans))
    }

    /// Dumps the counters. False when some may be missing.
    fn count(&mut self, counted: &mut Vec<(u32, Counters)>) -> anyhow::Result<bool> {
        match self.route.dump(&mut self.all_counters, counted, counters::parse) {
            // Kernels before 4.7 cannot.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => self.list(),
            dump => Ok(dump.context("cannot read the counters")? == Dump::Whole),
        }
    }

    /// Asks for the counters of these interfaces. Always false: nothing is said of the others, and one that has left has its
    /// notice on the way.
    fn count_few(&mut self, few: &[u32], counted: &mut Vec<(u32, Counters)>) -> anyhow::Result<bool> {
        for index in few {
            match self.route.ask(&mut counters::question_about(*index), counters::parse) {
                Ok(answer) => counted.extend(answer),
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                // Kernels before 4.7 cannot.
                Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => return self.list(),
                Err(error) => return Err(error).context("cannot read the counters"),
            }
        }
        Ok(false)
    }

    /// The interfaces that were counted, as they are by now.
    fn sampled(&mut self, counted: &[(u32, Counters)]) -> Vec<Link> {
        let links = &mut self.links;
        let with_counters = |(index, counters): &(u32, Counters)| {
            // One that is not known has its notice on the way.
            let place = links.binary_search_by_key(index, |link| link.index).ok()?;
            links[place].counters = *counters;
            Some(links[place])
        };
        counted.iter().filter_map(with_counters).collect()
    }

    /// Readable when interfaces came, went or changed.
    pub fn news(&self) -> BorrowedFd<'_> {
        self.notices.socket.as_fd()
    }

    /// Tells `tracker` who came and went. False when notices were lost.
    pub fn hear(&mut self, tracker: &mut Tracker) -> anyhow::Result<bool> {
        let links = &mut self.links;
        let is_whole = self.notices.drain(|kind, link| {
            let place = links.binary_search_by_key(&link.index, |link| link.index);
            match (kind, place) {
                (libc::RTM_NEWLINK, place) => {
                    match place {
                        // Its counters are older than those of the last sample, or not of a sample's moment.
                        Ok(place) => links[place] = Link { counters: links[place].counters, ..*link },
                        Err(place) => links.insert(place, *link),
                    }
                    tracker.is_there(link, Instant::now());
                }
                (libc::RTM_DELLINK, place) => {
                    if let Ok(place) = place {
                        links.remove(place);
                    }
                    tracker.has_left(link, Instant::now());
                }
                _ => {}
            }
        });
        let is_whole = is_whole.context("cannot read netlink's notices")?;
        self.is_stale |= !is_whole;
        Ok(is_whole)
    }

    /// Waits until all of `names` are there, if `wait` says so; else the missing ones are an error. Returns false when
    /// stopped meanwhile.
    pub fn find(&mut self, names: &[Name], wait: bool, session: &Session) -> anyhow::Result<bool> {
        loop {
            self.notices.drain(|_, _| ()).context("cannot read netlink's notices")?;
            self.list()?;
            let missing = names.iter().find(|name| !self.links.iter().any(|link| link.name == **name));
            let Some(missing) = missing else { return Ok(true) };
            if !wait {
                anyhow::bail!("no interface named '{}' (--wait waits for it)", missing.text());
            }
            session.stop.wait(&[self.notices.socket.as_fd()], None)?;
            if session.stop.is_set() {
                return Ok(false);
            }
        }
    }
}

/// `RTM_GETSTATS` (`linux/if_link.h`).
mod counters {
    use super::{Counters, Question};
    use common::sys::netlink::{attribute, u32_of};

    const GET: u16 = 94;
    const LINK_64: u16 = 1;
    /// Length of struct `if_stats_msg`.
    const FIXED: usize = 12;

    /// Asks for the counters of all interfaces and nothing else.
    pub fn question() -> Question {
        question_about(0)
    }

    /// Asks for the counters of one interface and nothing else.
    pub fn question_about(index: u32) -> Question {
        let mut fixed = [0; FIXED];
        fixed[4..8].copy_from_slice(&index.to_ne_bytes());
        fixed[8..].copy_from_slice(&(1_u32 << (LINK_64 - 1)).to_ne_bytes());
        Question::new(GET, &fixed)
    }

    /// Number of an interface and its counters.
    pub fn parse(payload: &[u8]) -> Option<(u32, Counters)> {
        let index = u32_of(payload.get(4..)?)?;
        Some((index, Counters::parse(attribute(payload.get(FIXED..)?, LINK_64)?)))
    }
}

/// The kernel's notices of changes (`RTNLGRP_LINK`).
#[derive(Debug)]
struct Notices {
    socket: Socket,
    buffer: Vec<u8>,
}

impl Notices {
    fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        if setsockopt(&socket, sockopt::RcvBufForce, &NOTICES).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &NOTICES)?;
        }
        socket.add_membership(libc::RTNLGRP_LINK)?;
        Ok(Self { socket, buffer: vec![0; NOTICE] })
    }

    /// Hands over what waits. False when there was more than the kernel could keep.
    fn drain(&mut self, mut each: impl FnMut(u16, &Link)) -> io::Result<bool> {
        let mut is_whole = true;
        loop {
            match netlink::receive(&self.socket, &mut self.buffer, libc::MSG_DONTWAIT) {
                Ok(length) => {
                    for message in netlink::messages(&self.buffer[..length]) {
                        if let Some(link) = Link::parse(message.payload()) {
                            each(message.message_type(), &link);
                        }
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(is_whole),
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => is_whole = false,
                Err(error) => return Err(error),
            }
        }
    }
}
