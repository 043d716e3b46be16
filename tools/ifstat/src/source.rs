//! The kernel's side of a sample: one dump of all interfaces, the notices of who came and went, the drivers' settings.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use anyhow::Context;
use common::cli::Session;
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::sys::socket::{setsockopt, sockopt};

use crate::link::{FIXED, Link, Name};
use crate::netlink::{self, Dump, Netlink, Question};
use crate::settings::Drivers;
use crate::stack::Stack;
use crate::tracker::Tracker;

/// Room for the notices of a storm: each takes about 2 KiB. Without privilege the kernel grants less.
const NOTICES: usize = 8 << 20;

/// One notice fits; the kernel sends one at a time.
const NOTICE: usize = 64 * 1024;

/// `RTEXT_FILTER_SKIP_STATS`: without the IPv6 statistics of each interface, which cost more than all the rest.
const SKIP_IPV6_STATISTICS: u32 = 1 << 3;

/// What is measured, in one network namespace.
#[derive(Debug)]
pub struct Source {
    /// Name of the namespace for lines.
    pub netns: String,
    /// Speeds and drivers.
    pub drivers: Drivers,
    /// The layers above, with `--stack`.
    pub stack: Option<Stack>,
    route: Netlink,
    all_links: Question,
    notices: Notices,
    /// The last dump, in the order of the interfaces' numbers.
    pub links: Vec<Link>,
}

impl Source {
    /// Opens all sockets and files; the caller is in the right namespace.
    pub fn open(netns: &str, with_stack: bool) -> anyhow::Result<Self> {
        let fixed = [0; FIXED];
        Ok(Self {
            netns: netns.to_owned(),
            drivers: Drivers::open().context("cannot open a socket")?,
            stack: with_stack.then(Stack::open).transpose()?,
            // Before the first dump, so that no change falls between.
            notices: Notices::open().context("cannot listen to netlink")?,
            route: Netlink::open(NETLINK_ROUTE).context("cannot open netlink")?,
            all_links: Question::new(libc::RTM_GETLINK, &fixed)
                .with(libc::IFLA_EXT_MASK, &SKIP_IPV6_STATISTICS.to_ne_bytes()),
            links: Vec::new(),
        })
    }

    /// Dumps all interfaces into [`Source::links`]. False when some may be missing.
    fn dump(&mut self) -> anyhow::Result<bool> {
        let dump = self.route.dump(&mut self.all_links, &mut self.links, Link::parse);
        self.links.sort_unstable_by_key(|link| link.index);
        Ok(dump.context("cannot list the interfaces")? == Dump::Whole)
    }

    /// The counters of the last dump are the beginning.
    pub fn track(&mut self, wanted: Vec<Name>, at: Instant) -> Tracker {
        let (drivers, links) = (&mut self.drivers, &self.links);
        Tracker::new(wanted, links, at, |link, settings| drivers.look(link, links, at, settings))
    }

    /// Closes the open spans of `tracker` with a dump of this moment, which is returned with them.
    pub fn sample(&mut self, tracker: &mut Tracker) -> anyhow::Result<(Instant, Vec<crate::tracker::Span>)> {
        self.hear(tracker)?;
        tracker.expect_dump();
        let at = Instant::now();
        let is_whole = self.dump()? && self.hear(tracker)?;
        let (drivers, links) = (&mut self.drivers, &self.links);
        let spans = tracker.sample(links, is_whole, at, |link, settings| drivers.look(link, links, at, settings));
        Ok((at, spans))
    }

    /// Readable when interfaces came, went or changed.
    pub fn news(&self) -> BorrowedFd<'_> {
        self.notices.socket.as_fd()
    }

    /// Tells `tracker` who came and went. False when notices were lost.
    pub fn hear(&mut self, tracker: &mut Tracker) -> anyhow::Result<bool> {
        let is_whole = self.notices.drain(|kind, link| match kind {
            libc::RTM_NEWLINK => tracker.is_there(link, Instant::now()),
            libc::RTM_DELLINK => tracker.has_left(link, Instant::now()),
            _ => {}
        });
        is_whole.context("cannot read netlink's notices")
    }

    /// Waits until all of `names` are there, if `wait` says so; else the missing ones are an error. Returns false when
    /// stopped meanwhile.
    pub fn find(&mut self, names: &[Name], wait: bool, session: &Session) -> anyhow::Result<bool> {
        loop {
            self.notices.drain(|_, _| ()).context("cannot read netlink's notices")?;
            self.dump()?;
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
