//! `udpblast listen`: challenges whoever says hello, and gives every client that answered a socket and a thread.
//!
//! The listening socket keeps nothing of a client until it has shown the cookie that was sent to its address: the cookie
//! is a MAC of that address under a key of this process, so that a forged address learns nothing and costs nothing.

use std::collections::HashMap;
use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::cli::Ending;
use common::net::access::{self, Secret};
use common::net::listener::{self, Journal, Places, Refusal};
use common::schema::udpblast::SCHEMA;
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
    let journal = Journal::open(&args.lines, "udpblast", &SCHEMA)?;
    let socket = open(args)?;
    socket.set_nonblocking(true)?;
    let local = socket.local_addr()?;
    journal.session.console.notice(&format!("listening on {local}"));
    let secret = args.guard.secret_file.as_deref().map(Secret::read).transpose()?;
    let one_only = args.once.then_some("--once");
    let shared = Arc::new(Shared { args: args.clone(), journal });
    let mut listener = Listener {
        shared: Arc::clone(&shared),
        socket,
        secret,
        cookies: Secret::random(),
        started: Instant::now(),
        used: HashMap::new(),
        places: Places::new(args.guard.max_clients as usize, one_only)?,
    };
    let served = listener.serve();
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
    if args.port != 0 && is_taken(&socket)? {
        anyhow::bail!("cannot listen on {}: Address already in use", socket.local_addr()?);
    }
    if socket.local_addr()?.is_ipv6() {
        setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?;
    } else {
        setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
    }
    Ok(socket)
}

/// Whether another socket that belongs to nobody in particular takes what comes to this one's address.
fn is_taken(socket: &UdpSocket) -> std::io::Result<bool> {
    let own = socket.local_addr()?;
    let tables = ["/proc/net/udp", "/proc/net/udp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let open = tables.iter().flat_map(|table| table.lines()).filter_map(open_socket);
    Ok(open.filter(|other| share_a_datagram(own, *other)).count() > 1)
}

/// The address of a socket that is not connected, from its line in /proc/net/udp (`proc_pid_net(5)`).
fn open_socket(line: &str) -> Option<SocketAddr> {
    let mut words = line.split_whitespace().skip(1);
    let (address, port) = words.next()?.split_once(':')?;
    words.next()?.ends_with(":0000").then_some(())?;
    // In words of 32 bits, each in the byte order of the machine.
    let word = |place: usize| u32::from_str_radix(address.get(8 * place..8 * (place + 1))?, 16).ok();
    let bytes: Vec<u8> =
        (0..address.len() / 8).map(word).collect::<Option<Vec<_>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    let ip = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?),
        _ => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// Whether one datagram may be for both: the same address, or one of them has all.
fn share_a_datagram(one: SocketAddr, other: SocketAddr) -> bool {
    let has_all_of = |all: IpAddr, ip: IpAddr| all.is_unspecified() && (all.is_ipv6() || ip.to_canonical().is_ipv4());
    let (a, b) = (one.ip(), other.ip());
    one.port() == other.port() && (a.to_canonical() == b.to_canonical() || has_all_of(a, b) || has_all_of(b, a))
}

struct Listener {
    shared: Arc<Shared>,
    socket: UdpSocket,
    secret: Option<Secret>,
    cookies: Secret,
    started: Instant,
    /// Cookies that have begun a test, and when.
    used: HashMap<String, Instant>,
    places: Places,
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
            let stop = &self.shared.journal.session.stop;
            if stop.is_set() || self.places.is_over() {
                return Ok(());
            }
            stop.wait(&[self.socket.as_fd(), self.places.news()], None)?;
            self.places.sweep();
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
                self.reply(letter, &Word::Challenge { nonce, cookie });
                Ok(())
            }
            Ok(Word::Start { nonce, cookie, proof, request }) => {
                let is_fresh = [0, 1].iter().any(|age| self.cookie(&nonce, letter.from, *age) == cookie);
                // One that has begun already is answered by its own socket.
                if !is_fresh || self.used.contains_key(&cookie) || self.used.len() >= MAX_USED {
                    return Ok(());
                }
                let Some(refusal) = self.refusal(&cookie, proof.as_deref(), &request) else {
                    return self.begin(letter, cookie, *request);
                };
                let peer = letter.from.ip().to_canonical();
                self.shared.journal.session.console.notice(&format!("refused {peer}: {refusal}"));
                self.reply(letter, &Word::Refused { why: refusal.to_string() });
                Ok(())
            }
            // Strangers.
            _ => Ok(()),
        }
    }

    /// From the address that was asked. Never more than came: what comes may be forged.
    fn reply(&self, letter: &Letter, word: &Word) {
        let text = word.text();
        if text.len() <= letter.bytes.len() {
            // One that is lost is asked for again.
            let _ = udp::send_from(&self.socket, letter.to, letter.from, text.as_bytes());
        }
    }

    /// The cookie for an address, of this time slot or one before.
    fn cookie(&self, nonce: &str, from: SocketAddr, age: u64) -> String {
        let slot = (self.started.elapsed().as_secs() * 2 / COOKIE_AGE.as_secs() + 1).saturating_sub(age);
        self.cookies.proof(&format!("{slot:016x}"), &format!("{from} {nonce}"))
    }

    /// Why a test is not served, if it is not.
    fn refusal(&self, cookie: &str, proof: Option<&str>, request: &Request) -> Option<Refusal> {
        let (args, guard) = (&self.shared.args, &self.shared.args.guard);
        let is_too_fast = |most: &u64| request.kind != TestKind::Ping && request.rate.is_none_or(|rate| rate > *most);
        self.places
            .refusal()
            .or_else(|| guard.refusal(request.time.map(|time| time + request.warmup)))
            .or_else(|| args.max_rate.filter(is_too_fast).map(Refusal::TooFast))
            .or_else(|| self.refusal_without(cookie, proof, request.kind))
    }

    /// Why a client with this proof is not trusted, if it has to be and is not.
    fn refusal_without(&self, cookie: &str, proof: Option<&str>, kind: TestKind) -> Option<Refusal> {
        let is_needed = kind == TestKind::Recv || self.shared.args.guard.require_secret;
        let secret = self.secret.as_ref().filter(|_| is_needed)?;
        match proof {
            Some(proof) if secret.verifies(cookie, "start", proof) => None,
            Some(_) => Some(Refusal::WrongProof),
            None => Some(Refusal::NoProof),
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
                self.shared.journal.session.console.notice(&format!("client {}: {error}", peer.ip()));
                return Ok(());
            }
        };
        self.used.insert(cookie, Instant::now());
        let shared = Arc::clone(&self.shared);
        let served = self.places.spawn(move || {
            if let Err(error) = serve(&shared, &socket, peer, &request) {
                shared.journal.complain(&peer.ip().to_string(), &error);
                say(&socket, &Word::Failed { why: format!("{error:#}") });
            }
        });
        if let Err(error) = served {
            let refusal = Refusal::Exhausted(error.to_string());
            self.shared.journal.session.console.notice(&format!("refused {}: {refusal}", peer.ip()));
            self.reply(letter, &Word::Refused { why: refusal.to_string() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_get_the_same_datagram() {
        let shares = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| text.parse::<SocketAddr>().unwrap());
            assert_eq!(share_a_datagram(one, other), share_a_datagram(other, one));
            share_a_datagram(one, other)
        };
        assert!(shares("127.0.0.1:5", "127.0.0.1:5") && shares("0.0.0.0:5", "127.0.0.1:5"));
        assert!(shares("[::]:5", "127.0.0.1:5") && shares("[::]:5", "[::1]:5") && shares("[::]:5", "0.0.0.0:5"));
        assert!(shares("[::ffff:127.0.0.1]:5", "127.0.0.1:5") && shares("0.0.0.0:5", "[::ffff:127.0.0.1]:5"));
        assert!(!shares("127.0.0.1:5", "127.0.0.2:5") && !shares("0.0.0.0:5", "[::1]:5"));
        assert!(!shares("127.0.0.1:5", "127.0.0.1:6"));
    }

    #[test]
    fn a_line_of_the_kernel_is_an_open_socket_or_none() {
        let hex = |bytes: &[u8]| -> String {
            let words = bytes.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap()));
            words.map(|word| format!("{word:08X}")).collect::<Vec<_>>().concat()
        };
        let line =
            |local: &str, peer: &str| format!(" 123: {local} {peer} 07 00000000:00000000 00:00000000 00000000 0 0");
        let v4 = hex(&[127, 0, 0, 2]) + ":1451";
        assert_eq!(open_socket(&line(&v4, "00000000:0000")), Some("127.0.0.2:5201".parse().unwrap()));
        assert_eq!(open_socket(&line(&v4, "0100007F:C001")), None, "it is connected");
        let v6 = hex(&Ipv6Addr::LOCALHOST.octets()) + ":0001";
        assert_eq!(open_socket(&line(&v6, "0:0000")), Some("[::1]:1".parse().unwrap()));
        for wrong in ["", "sl local_address rem_address", "1: x:y z:0000", "1: ü00000:0001 :0000"] {
            assert_eq!(open_socket(wrong), None, "{wrong}");
        }
    }
}
