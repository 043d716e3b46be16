//! `udpblast listen`: challenges whoever says hello, and gives every client that answered a socket and a thread.
//!
//! The listening socket keeps nothing of a client until it has shown the cookie that was sent to its address: the cookie
//! is a MAC of that address under a key of this process, so that a forged address learns nothing and costs nothing.

use std::collections::HashMap;
use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use common::cli::Ending;
use common::measure::sample;
use common::net::access::{self, Secret};
use common::schema::udpblast::SCHEMA;
use common::units;
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};

use crate::args::ListenArgs;
use crate::protocol::{HELLO_BYTES, Word};
use crate::request::{Request, TestKind};
use crate::serve::{Shared, serve};
use crate::session::say;
use crate::udp;

/// How long a cookie is good: half of it at least, the whole at most.
const COOKIE_AGE: Duration = Duration::from_secs(20);

/// Most used cookies that are remembered, so that an opening cannot be replayed.
const MAX_USED: usize = 10_000;

/// Runs the verb until a signal, or with `--once` until one client has been served.
pub fn listen(args: &ListenArgs) -> anyhow::Result<Ending> {
    let session = args.lines.open("udpblast", &SCHEMA)?;
    let socket = open(args).with_context(|| format!("cannot listen on port {}", args.port))?;
    socket.set_nonblocking(true)?;
    let local = socket.local_addr()?;
    session.console.notice(&format!("listening on {local}"));
    let secret = args.guard.secret_file.as_deref().map(Secret::read).transpose()?;
    let shared = Arc::new(Shared {
        args: args.clone(),
        host: sample::host_name(),
        session,
        running: AtomicUsize::new(0),
        news: EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?,
        was_partial: AtomicBool::new(false),
        failure: Mutex::default(),
    });
    let mut listener = Listener {
        shared: Arc::clone(&shared),
        socket,
        secret,
        cookies: Secret::random(),
        started: Instant::now(),
        used: HashMap::new(),
        has_begun: false,
        threads: Vec::new(),
    };
    let served = listener.serve();
    if served.is_err() {
        shared.session.stop.set();
    }
    for thread in listener.threads.drain(..) {
        // Its panic has been printed; the others' lines still count.
        let _ = thread.join();
    }
    served?;
    let failure = shared.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    match failure {
        Some(error) => Err(error),
        None if args.once && shared.was_partial.load(Ordering::Relaxed) => Ok(Ending::Failed),
        None => Ok(Ending::Measured),
    }
}

fn open(args: &ListenArgs) -> anyhow::Result<UdpSocket> {
    let any = |ip: IpAddr| SocketAddr::new(ip, args.port);
    let socket = match args.bind {
        Some(address) => udp::bind(any(address))?,
        None => match udp::bind(any(Ipv6Addr::UNSPECIFIED.into())) {
            Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => {
                udp::bind(any(Ipv4Addr::UNSPECIFIED.into()))?
            }
            socket => socket?,
        },
    };
    // A second listener would take some of the first one's clients: both may be bound, so ask whether one is.
    if args.port != 0 && is_taken(&socket)? {
        anyhow::bail!("Address already in use");
    }
    if socket.local_addr()?.is_ipv6() {
        setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?;
    } else {
        setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
    }
    Ok(socket)
}

/// Whether another socket has this one's port: one that may not share it cannot be bound then.
fn is_taken(socket: &UdpSocket) -> std::io::Result<bool> {
    let local = socket.local_addr()?;
    let table = if local.is_ipv6() { "/proc/net/udp6" } else { "/proc/net/udp" };
    let port = format!(":{:04X}", local.port());
    let table = std::fs::read_to_string(table).unwrap_or_default();
    let peers = table.lines().skip(1).filter(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (own, peer) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        own.ends_with(&port) && peer.ends_with(":0000")
    });
    Ok(peers.count() > 1)
}

struct Listener {
    shared: Arc<Shared>,
    socket: UdpSocket,
    secret: Option<Secret>,
    cookies: Secret,
    started: Instant,
    /// Cookies that have begun a test, and when.
    used: HashMap<String, Instant>,
    has_begun: bool,
    threads: Vec<std::thread::JoinHandle<()>>,
}

/// A datagram to the listening socket.
struct Letter {
    bytes: Vec<u8>,
    from: SocketAddr,
    to: Option<IpAddr>,
}

impl Listener {
    fn serve(&mut self) -> anyhow::Result<()> {
        loop {
            let stop = &self.shared.session.stop;
            let idle = self.shared.running.load(Ordering::Acquire) == 0;
            if stop.is_set() || (self.shared.args.once && self.has_begun && idle) {
                return Ok(());
            }
            stop.wait(&[self.socket.as_fd(), self.shared.news.as_fd()], None)?;
            // Nothing to read is no news.
            let _ = self.shared.news.read();
            self.threads.retain(|thread| !thread.is_finished());
            self.used.retain(|_, at| at.elapsed() < COOKIE_AGE);
            // A handful at a time, so that a flood does not keep this thread from its other duties.
            for _ in 0..64 {
                let Some(letter) = self.receive() else { break };
                self.answer(&letter)?;
            }
        }
    }

    fn receive(&self) -> Option<Letter> {
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
        Some(Letter { bytes: buffer[..length].to_vec(), from, to })
    }

    fn answer(&mut self, letter: &Letter) -> anyhow::Result<()> {
        if !access::is_allowed(&self.shared.args.guard.allow, letter.from.ip()) {
            return Ok(());
        }
        match Word::parse(&letter.bytes) {
            Ok(Word::Hello { nonce }) if letter.bytes.len() >= HELLO_BYTES && nonce.len() <= 32 => {
                let cookie = self.cookie(&nonce, letter.from, 0);
                self.reply(letter.from, letter.bytes.len(), &Word::Challenge { nonce, cookie });
                Ok(())
            }
            Ok(Word::Start { nonce, cookie, proof, request }) => {
                let is_fresh = [0, 1].iter().any(|age| self.cookie(&nonce, letter.from, *age) == cookie);
                // One that has begun already is answered by its own socket.
                if !is_fresh || self.used.contains_key(&cookie) || self.used.len() >= MAX_USED {
                    return Ok(());
                }
                match self.objection(&cookie, proof.as_deref(), &request) {
                    Some(why) => {
                        self.shared
                            .session
                            .console
                            .notice(&format!("refused {}: {why}", letter.from.ip().to_canonical()));
                        self.reply(letter.from, letter.bytes.len(), &Word::Refused { why });
                        Ok(())
                    }
                    None => self.begin(letter, cookie, *request),
                }
            }
            // Strangers.
            _ => Ok(()),
        }
    }

    /// Never more than came: what comes may be forged.
    fn reply(&self, to: SocketAddr, most: usize, word: &Word) {
        let text = word.text();
        if text.len() <= most {
            // One that is lost is asked for again.
            let _ = self.socket.send_to(text.as_bytes(), to);
        }
    }

    /// The cookie for an address, of this time slot or one before.
    fn cookie(&self, nonce: &str, from: SocketAddr, age: u64) -> String {
        let slot = (self.started.elapsed().as_secs() * 2 / COOKIE_AGE.as_secs() + 1).saturating_sub(age);
        self.cookies.proof(&format!("{slot:016x}"), &format!("{from} {nonce}"))
    }

    /// Why a test is not served, if it is not.
    fn objection(&self, cookie: &str, proof: Option<&str>, request: &Request) -> Option<String> {
        let (args, guard) = (&self.shared.args, &self.shared.args.guard);
        if args.once && self.has_begun {
            return Some("this listener serves one client only (--once)".into());
        }
        if self.shared.running.load(Ordering::Acquire) >= guard.max_clients as usize {
            return Some(format!("{} clients are being served already (--max-clients)", guard.max_clients));
        }
        let time = request.time.map(|time| time + request.warmup);
        if let Some((most, time)) = guard.max_time.zip(time).filter(|(most, time)| time > most) {
            let [most, time] = [most, time].map(units::duration_text);
            return Some(format!("{time} were asked for, {most} are allowed (--max-time)"));
        }
        if let Some(most) =
            args.max_rate.filter(|most| request.kind != TestKind::Ping && request.rate.is_none_or(|rate| rate > *most))
        {
            return Some(format!("at most {most} bit/s are allowed (--max-rate)"));
        }
        let secret = self.secret.as_ref().filter(|_| request.kind == TestKind::Recv || guard.require_secret)?;
        match proof {
            Some(proof) if secret.verifies(cookie, "start", proof) => None,
            Some(_) => Some("the client does not know the secret (--secret-file)".into()),
            None => Some("the listener wants to see that the client knows its secret (--secret-file)".into()),
        }
    }

    /// Gives the client a socket of its own on the same port, and a thread.
    fn begin(&mut self, letter: &Letter, cookie: String, request: Request) -> anyhow::Result<()> {
        let port = self.socket.local_addr()?.port();
        let peer = SocketAddr::new(letter.from.ip().to_canonical(), letter.from.port());
        let peer = if peer.is_ipv6() { letter.from } else { peer };
        let any: IpAddr = if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let mut local = SocketAddr::new(letter.to.filter(|to| to.is_ipv4() == peer.is_ipv4()).unwrap_or(any), port);
        if let (SocketAddr::V6(local), SocketAddr::V6(peer)) = (&mut local, peer) {
            local.set_scope_id(peer.scope_id());
        }
        let socket = udp::bind(local).and_then(|socket| socket.connect(peer).map(|()| socket));
        let socket = match socket {
            Ok(socket) => socket,
            Err(error) => {
                self.shared.session.console.notice(&format!("client {}: {error}", peer.ip()));
                return Ok(());
            }
        };
        self.used.insert(cookie, Instant::now());
        self.has_begun = true;
        let shared = Arc::clone(&self.shared);
        shared.running.fetch_add(1, Ordering::AcqRel);
        let place = Place(Arc::clone(&shared));
        self.threads.push(std::thread::Builder::new().name("client".into()).spawn(move || {
            if let Err(error) = serve(&shared, &socket, peer, &request) {
                shared.was_partial.store(true, Ordering::Relaxed);
                shared.session.console.notice(&format!("client {}: {error:#}", peer.ip()));
                say(&socket, &Word::Failed { why: format!("{error:#}") });
            }
            drop(place);
        })?);
        Ok(())
    }
}

/// One client being served; it ends also by panic.
struct Place(Arc<Shared>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
        // It can fail only when the listener has been rung awake already.
        let _ = self.0.news.write(1);
    }
}
