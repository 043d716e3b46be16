//! `udpblast listen`: challenges whoever says hello, and gives every client that answered a socket and a thread.
//!
//! The listening socket keeps nothing of a client until it has shown the cookie that was sent to its address: the cookie
//! is a MAC of that address under a key of this process, so that a forged address learns nothing and costs nothing.

use std::collections::HashMap;
use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use common::cli::Ending;
use common::net::access::{self, Secret};
use common::net::listener::{self, Company, Journal, Places, Refusal, Stay, TurnedAway, Visit};
use common::net::wire::WireError;
use common::schema::udpblast::SCHEMA;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};

use crate::args::ListenArgs;
use crate::letter::{self, ABILITIES, HELLO_BYTES, Letter};
use crate::request::{Request, TestKind};
use crate::serve::{Joined, Shared, Standing, Visitor, serve};
use crate::taken;
use crate::udp::{self, MAX_DATAGRAM};

/// How long a cookie is good: half of it at least, the whole at most.
const COOKIE_AGE: Duration = Duration::from_secs(20);

/// Most used cookies that are remembered, so that an opening cannot be replayed.
const MAX_USED: usize = 10_000;

/// How long a client may take to begin before it has to give way to others.
const HEAD_START: Duration = Duration::from_secs(1);

/// Runs the verb until a signal, or with `--once` until one client has been served.
pub fn listen(args: &ListenArgs) -> anyhow::Result<Ending> {
    let journal = Journal::open(&args.lines, "udpblast", &SCHEMA)?;
    let socket = open(args)?;
    socket.set_nonblocking(true)?;
    let local = socket.local_addr()?;
    journal.session.console.notice(&format!("listening on {local}"));
    let secret = args.guard.secret_file.as_deref().map(Secret::read).transpose()?;
    let shared = Arc::new(Shared { args: args.clone(), journal, company: Company::default() });
    let mut listener = Listener {
        shared: Arc::clone(&shared),
        socket,
        secret,
        cookies: Secret::random(),
        started: Instant::now(),
        used: HashMap::new(),
        places: Places::new(args.guard.max_clients as usize)?,
        tests: HashMap::new(),
        visit: None,
        turned_away: TurnedAway::default(),
    };
    let served = listener.serve();
    listener.turned_away.tell(&shared.journal.session.console);
    if served.is_err() {
        shared.journal.session.stop.set();
    }
    listener.places.join_all();
    served?;
    shared.journal.ending(args.once)
}

fn open(args: &ListenArgs) -> anyhow::Result<UdpSocket> {
    let socket = listener::on_all_families(args.bind, args.port, udp::bind)?;
    // A second listener would take some of the first one's clients: both may be bound, so ask whether one is.
    if args.port != 0 && taken::is_taken(&socket)? {
        anyhow::bail!("cannot listen on {}: Address already in use", socket.local_addr()?);
    }
    if socket.local_addr()?.is_ipv6() {
        setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?;
    } else {
        setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
    }
    Ok(socket)
}

struct Listener {
    shared: Arc<Shared>,
    socket: UdpSocket,
    secret: Option<Secret>,
    cookies: Secret,
    started: Instant,
    /// Cookies that have begun a test or a stream, and when.
    used: HashMap<String, Instant>,
    places: Places,
    /// Tests that go on, by their secret numbers.
    tests: HashMap<u64, Test>,
    /// The one that is served with --once.
    visit: Option<Visit>,
    turned_away: TurnedAway,
}

/// A test that goes on.
struct Test {
    joins: Sender<Joined>,
    /// Gone when it has been served.
    standing: Weak<Standing>,
    /// How many streams it may still be joined by: each is a socket.
    streams_left: u64,
    since: Instant,
    idle: Duration,
    tag: u32,
}

/// A datagram to the listening socket.
struct Mail {
    bytes: Vec<u8>,
    from: SocketAddr,
    to: Option<IpAddr>,
}

impl Mail {
    fn peer(&self) -> IpAddr {
        self.from.ip().to_canonical()
    }
}

impl Listener {
    fn serve(&mut self) -> anyhow::Result<()> {
        loop {
            let until = match self.stay() {
                Some(Stay::Over) => return Ok(()),
                Some(Stay::Until(until)) => Some(until),
                // Whoever was admitted and did not begin does not count.
                Some(Stay::Forfeited) => {
                    self.visit = None;
                    None
                }
                None => None,
            };
            if self.shared.journal.session.stop.is_set() {
                return Ok(());
            }
            self.shared.journal.session.stop.wait(&[self.socket.as_fd(), self.places.news()], until)?;
            self.places.sweep();
            self.used.retain(|_, at| at.elapsed() < COOKIE_AGE);
            self.tests.retain(|_, test| test.standing.strong_count() > 0);
            // A handful at a time, so that a flood does not keep this thread from its other duties.
            for _ in 0..64 {
                let Some(mail) = self.receive() else { break };
                self.answer(&mail);
            }
        }
    }

    /// What has become of the one visit that there is to be, while nobody is served.
    fn stay(&mut self) -> Option<Stay> {
        Some(self.visit.as_mut().filter(|_| self.places.is_idle())?.stay(Instant::now()))
    }

    fn receive(&self) -> Option<Mail> {
        let mut buffer = [0; 4096];
        let mut parts = [IoSliceMut::new(&mut buffer)];
        let mut space = nix::cmsg_space!(libc::in6_pktinfo);
        let message =
            recvmsg::<SockaddrStorage>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_DONTWAIT)
                .ok()?;
        let address = message.address?;
        let from = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
            (Some(v4), _) => SocketAddr::new(v4.ip().into(), v4.port()),
            (_, Some(v6)) => SocketAddr::V6(std::net::SocketAddrV6::new(v6.ip(), v6.port(), 0, v6.scope_id())),
            _ => return None,
        };
        let to = message.cmsgs().ok()?.find_map(|part| match part {
            ControlMessageOwned::Ipv4PacketInfo(info) => {
                Some(Ipv4Addr::from(u32::from_be(info.ipi_addr.s_addr)).into())
            }
            ControlMessageOwned::Ipv6PacketInfo(info) => Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).to_canonical()),
            _ => None,
        });
        let length = message.bytes;
        Some(Mail { bytes: buffer[..length].to_vec(), from, to })
    }

    fn answer(&mut self, mail: &Mail) {
        if !access::is_allowed(&self.shared.args.guard.allow, mail.from.ip()) {
            return;
        }
        match Letter::parse(&mail.bytes) {
            Ok(Letter::Hello { nonce }) if mail.bytes.len() >= HELLO_BYTES => {
                let cookie = self.cookie(&nonce, mail.from, 0);
                self.reply(mail, &Letter::Challenge { nonce, cookie, can: ABILITIES.into() }.text());
            }
            // One that has begun already is answered by its own socket.
            Ok(Letter::Start { nonce, cookie, request, proof }) if self.is_fresh(&nonce, mail.from, &cookie) => {
                match self.refusal(mail, &cookie, proof.as_deref(), &request) {
                    // It asks again, and there will be room.
                    Some(Refusal::Full(_)) if self.makes_room() => {}
                    Some(refusal) => self.refuse(mail, nonce, &refusal),
                    None => self.begin(mail, nonce, cookie, *request),
                }
            }
            Ok(Letter::Join { nonce, cookie, key, stream }) if self.is_fresh(&nonce, mail.from, &cookie) => {
                self.join(mail, nonce, cookie, key, stream);
            }
            Err(WireError::Foreign | WireError::OtherVersion(..)) => {
                if let Some(answer) = letter::answer_to_former(&mail.bytes).filter(|_| mail.bytes.len() >= HELLO_BYTES)
                {
                    self.reply(mail, &answer);
                }
            }
            // Whoever was challenged and is not understood is told so.
            Err(error) => {
                if let Some((nonce, cookie)) = letter::opening_of(&mail.bytes)
                    && self.is_fresh(&nonce, mail.from, &cookie)
                {
                    self.refuse(mail, nonce, &Refusal::NotUnderstood(error.to_string()));
                }
            }
            // Strangers.
            Ok(_) => {}
        }
    }

    /// From the address that was asked. Never more than came: what comes may be forged.
    fn reply(&self, mail: &Mail, text: &str) {
        if text.len() <= mail.bytes.len() {
            // One that is lost is asked for again.
            let _ = udp::send_from(&self.socket, mail.to, mail.from, text.as_bytes());
        }
    }

    fn refuse(&mut self, mail: &Mail, nonce: String, refusal: &Refusal) {
        self.turned_away.note(&self.shared.journal.session.console, mail.peer(), refusal);
        let is_full = matches!(refusal, Refusal::Full(_));
        self.reply(mail, &Letter::Refused { nonce, is_full, why: refusal.to_string() }.text());
    }

    /// Whoever asked for a test and has not begun it gives way when all places are taken; false if all have begun.
    fn makes_room(&self) -> bool {
        let waiting = |test: &Test| Some((test.since, test.standing.upgrade().filter(|one| !one.has_begun())?));
        let oldest = self.tests.values().filter_map(waiting).min_by_key(|(since, _)| *since);
        oldest.is_some_and(|(since, standing)| {
            let is_slow = since.elapsed() >= HEAD_START;
            if is_slow {
                standing.give_way();
            }
            is_slow
        })
    }

    /// The cookie for an address, of this time slot or one before.
    fn cookie(&self, nonce: &str, from: SocketAddr, age: u64) -> String {
        self.cookies.proof(&self.slot(age), &format!("{from} {nonce}"))
    }

    fn slot(&self, age: u64) -> String {
        let slot = (self.started.elapsed().as_secs() * 2 / COOKIE_AGE.as_secs() + 1).saturating_sub(age);
        format!("{slot:016x}")
    }

    /// Whether it is a cookie of this address that has not been used.
    fn is_fresh(&self, nonce: &str, from: SocketAddr, cookie: &str) -> bool {
        let address = format!("{from} {nonce}");
        let is_own = [0, 1].iter().any(|age| self.cookies.verifies(&self.slot(*age), &address, cookie));
        is_own && !self.used.contains_key(cookie) && self.used.len() < MAX_USED
    }

    /// Why a test is not served, if it is not: the proof first, since who has none is to learn nothing else.
    fn refusal(&self, mail: &Mail, cookie: &str, proof: Option<&str>, request: &Request) -> Option<Refusal> {
        let (args, guard) = (&self.shared.args, &self.shared.args.guard);
        let one_only = self.visit.as_ref().is_some_and(|visit| !visit.has(request.visit));
        self.refusal_without(mail, cookie, proof, request.kind)
            .or_else(|| guard.refusal(request.time.map(|time| time.saturating_add(request.warmup))))
            .or_else(|| args.max_rate.filter(|most| is_too_fast(request, *most)).map(Refusal::TooFast))
            .or_else(|| one_only.then_some(Refusal::OneOnly("--once")))
            .or_else(|| self.places.refusal())
    }

    /// Why a client with this proof is not trusted, if it has to be and is not.
    fn refusal_without(&self, mail: &Mail, cookie: &str, proof: Option<&str>, kind: TestKind) -> Option<Refusal> {
        let is_needed = kind == TestKind::Recv || self.shared.args.guard.require_secret;
        let secret = self.secret.as_ref().filter(|_| is_needed)?;
        match proof.zip(letter::proved(&mail.bytes)) {
            Some((proof, asked)) if secret.verifies(cookie, asked, proof) => None,
            Some(_) => Some(Refusal::WrongProof),
            None => Some(Refusal::NoProof),
        }
    }

    /// A socket of the client's own on the same port.
    fn connected(&self, mail: &Mail) -> std::io::Result<UdpSocket> {
        let port = self.socket.local_addr()?.port();
        let peer = canonical(mail.from);
        let any: IpAddr = if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let mut local = SocketAddr::new(mail.to.filter(|to| to.is_ipv4() == peer.is_ipv4()).unwrap_or(any), port);
        if let (SocketAddr::V6(local), SocketAddr::V6(peer)) = (&mut local, peer) {
            local.set_scope_id(peer.scope_id());
        }
        let socket = udp::bind(local)?;
        socket.connect(peer)?;
        Ok(socket)
    }

    /// Gives the client a socket of its own, and a thread.
    fn begin(&mut self, mail: &Mail, nonce: String, cookie: String, request: Request) {
        let socket = match self.connected(mail) {
            Ok(socket) => socket,
            Err(error) => return self.refuse(mail, nonce, &Refusal::Exhausted(error.to_string())),
        };
        let (key, tag) = (rand::random::<u64>(), rand::random::<u32>());
        let idle = request.idle_timeout.min(self.shared.args.idle_timeout);
        let answer = Letter::Ok { nonce: nonce.clone(), key, tag, idle }.text();
        let (joins, receiver) = mpsc::channel();
        let standing = Arc::new(Standing::default());
        let test = Test {
            joins,
            standing: Arc::downgrade(&standing),
            since: Instant::now(),
            streams_left: 2 * request.streams,
            idle,
            tag,
        };
        let mut visit = Visit::new(request.visit, request.next_within);
        if let Some(known) = self.visit.take().filter(|_| self.shared.args.once) {
            visit = known;
            visit.extend(request.next_within);
        }
        let beginning = visit.beginning();
        let peer = canonical(mail.from);
        let visitor = Visitor { socket, peer, request, key, tag, idle, answer, joins: receiver, beginning, standing };
        let shared = Arc::clone(&self.shared);
        let served = self.places.spawn(move || {
            if let Err(error) = serve(&shared, &visitor) {
                shared.journal.complain(&peer.ip().to_string(), &error);
            }
        });
        if self.shared.args.once {
            self.visit = Some(visit);
        }
        if let Err(error) = served {
            return self.refuse(mail, nonce, &Refusal::Exhausted(error.to_string()));
        }
        self.used.insert(cookie, Instant::now());
        self.tests.insert(key, test);
    }

    /// Gives a test one more stream.
    fn join(&mut self, mail: &Mail, nonce: String, cookie: String, key: u64, stream: u64) {
        let Some(test) = self.tests.get(&key).filter(|test| test.streams_left > 0) else { return };
        let answer = Letter::Ok { nonce: nonce.clone(), key, tag: test.tag, idle: test.idle }.text();
        match self.connected(mail) {
            Ok(socket) => {
                self.used.insert(cookie, Instant::now());
                if let Some(test) = self.tests.get_mut(&key) {
                    test.streams_left -= 1;
                    // A test that has ended needs no stream.
                    let _ = test.joins.send(Joined { stream, socket, answer });
                }
            }
            Err(error) => self.refuse(mail, nonce, &Refusal::Exhausted(error.to_string())),
        }
    }
}

/// More than so many bits per second, or more than falls to a tenth of a second at a time: a datagram by itself may.
fn is_too_fast(request: &Request, most: u64) -> bool {
    let portion = u128::from(request.burst.unwrap_or(1)) * u128::from(request.size.unwrap_or(MAX_DATAGRAM)) * 8;
    let is_burst =
        request.burst.is_some_and(|burst| burst > 1) && portion * u128::from(request.streams) > u128::from(most / 10);
    request.kind != TestKind::Ping && (request.rate.is_none_or(|rate| rate > most) || is_burst)
}

/// An address of IPv4 as such, on a socket of both families too.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(v4) => SocketAddr::new(v4.into(), address.port()),
        IpAddr::V6(_) => address,
    }
}
