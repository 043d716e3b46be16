//! A udpblast client written by hand: it says what a test wants it to say, right or wrong.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A client that has agreed with a listener.
#[derive(Debug)]
pub struct HandSender {
    socket: UdpSocket,
    tag: u32,
    key: String,
    said: AtomicU64,
}

fn value(line: &str, key: &str) -> Option<String> {
    let mut words = line.split_ascii_whitespace();
    words.find_map(|pair| pair.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
}

/// Asks until an answer contains `word`.
fn ask(socket: &UdpSocket, question: impl Fn() -> String, word: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut buffer = vec![0; 65_536];
    while Instant::now() < deadline {
        socket.send(question().as_bytes()).expect("can send");
        while let Ok(length) = socket.recv(&mut buffer) {
            let answer = String::from_utf8_lossy(&buffer[..length]).into_owned();
            if answer.contains(&format!("udpblast/2 {word}")) {
                return answer;
            }
        }
    }
    panic!("no answer '{word}' to: {}", question());
}

/// Shows that it receives at its address: the nonce and the cookie.
fn challenge(socket: &UdpSocket) -> (String, String) {
    let nonce = format!("{:032x}", std::process::id());
    let hello = format!("udpblast/2 hello nonce={nonce} pad={}\n", "x".repeat(256));
    let cookie = value(&ask(socket, || hello.clone(), "challenge "), "cookie").expect("a cookie");
    (nonce, cookie)
}

/// A socket that is connected to the listener on this port of loopback.
///
/// # Panics
/// If there is none to be had.
pub fn socket(port: &str) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.connect(format!("127.0.0.1:{port}")).expect("can connect");
    socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    socket
}

/// The listener's answer to whoever asks for `request`, which is what follows the cookie.
///
/// # Panics
/// If there is none.
pub fn start(socket: &UdpSocket, request: &str) -> String {
    let (nonce, cookie) = challenge(socket);
    let question = format!("udpblast/2 start nonce={nonce} cookie={cookie} {request}\n");
    ask(socket, || question.clone(), "")
}

/// A request for a minute of datagrams of 24 bytes.
pub const REQUEST: &str = "kind=send run=1 visit=1 next=0us streams=1 per_stream=0 warmup=0us idle=5000000us fragment=0 \
     offload=1 size=24 rate=1000000 time=60000000us";

impl HandSender {
    /// Agrees with the listener on this port of loopback to send datagrams of 24 bytes.
    ///
    /// # Panics
    /// If the listener does not.
    pub fn agree(port: &str) -> Self {
        Self::agree_as(port, REQUEST, "")
    }

    /// Agrees on this request and begins with these words, such as a label.
    ///
    /// # Panics
    /// If the listener does not.
    pub fn agree_as(port: &str, request: &str, begin: &str) -> Self {
        let socket = socket(port);
        let answer = start(&socket, request);
        let tag = value(&answer, "tag").unwrap_or_else(|| panic!("no tag in {answer}")).parse().expect("a number");
        let key = value(&answer, "key").expect("a key");
        let sender = Self { socket, tag, key, said: AtomicU64::new(0) };
        ask(&sender.socket, || sender.piece(&format!("begin{begin}")), "go");
        sender
    }

    /// A word in one piece.
    pub fn piece(&self, word: &str) -> String {
        let n = self.said.fetch_add(1, Ordering::Relaxed);
        format!("udpblast/2 piece key={} word={n:016x} part=0 of=1 n={n}\nudpblast/2 {word}\n", self.key)
    }

    /// Sends a data datagram with this number.
    ///
    /// # Panics
    /// If it cannot be sent.
    pub fn data(&self, sequence: u64) {
        self.raw(&self.datagram(sequence));
    }

    /// A data datagram with this number.
    pub fn datagram(&self, sequence: u64) -> Vec<u8> {
        let mut datagram = vec![0, b'U', b'B', 1];
        datagram.extend(self.tag.to_be_bytes());
        datagram.extend(sequence.to_be_bytes());
        datagram.extend(0_u64.to_be_bytes());
        datagram
    }

    /// The same, so many bytes long.
    pub fn data_like(&self, sequence: u64, bytes: usize) -> Vec<u8> {
        let mut datagram = self.datagram(sequence);
        datagram.resize(bytes, 0);
        datagram
    }

    /// What was said that contains `word`, if it comes in time.
    pub fn heard(&self, word: &str) -> Option<String> {
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut buffer = vec![0; 65_536];
        while Instant::now() < deadline {
            let Ok(length) = self.socket.recv(&mut buffer) else { continue };
            let answer = String::from_utf8_lossy(&buffer[..length]).into_owned();
            if answer.contains(&format!("udpblast/2 {word}")) {
                return Some(answer);
            }
        }
        None
    }

    /// Sends anything.
    ///
    /// # Panics
    /// If it cannot be sent.
    pub fn raw(&self, datagram: &[u8]) {
        self.socket.send(datagram).expect("can send");
    }

    /// The socket.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Says how much was sent, and takes the listener's report.
    pub fn end(&self, sent: u64) -> String {
        ask(&self.socket, || self.piece(&format!("end sent={sent} span=0 whole=1 sure=1 words=0")), "report")
    }

    /// Says that it has all it wants.
    pub fn bye(self) {
        (0..3).for_each(|_| self.raw(self.piece("bye").as_bytes()));
    }
}
