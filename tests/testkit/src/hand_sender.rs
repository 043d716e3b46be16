//! A udpblast client written by hand: it says what a test wants it to say, right or wrong.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// A client that has agreed with a listener.
#[derive(Debug)]
pub struct HandSender {
    socket: UdpSocket,
    tag: u32,
}

fn value(line: &str, key: &str) -> Option<String> {
    let line = line.trim_end();
    line.split(' ').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
}

/// Asks until an answer begins with `word`.
fn ask(socket: &UdpSocket, question: &str, word: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut buffer = vec![0; 65_536];
    while Instant::now() < deadline {
        socket.send(question.as_bytes()).expect("can send");
        while let Ok(length) = socket.recv(&mut buffer) {
            let answer = String::from_utf8_lossy(&buffer[..length]).into_owned();
            if answer.starts_with(&format!("udpblast/1 {word} ")) {
                return answer;
            }
        }
    }
    panic!("no answer '{word}' to: {question}");
}

impl HandSender {
    /// Agrees with the listener on this port of loopback to send datagrams of 24 bytes.
    ///
    /// # Panics
    /// If the listener does not.
    pub fn agree(port: &str) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.connect(format!("127.0.0.1:{port}")).expect("can connect");
        socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        let nonce = format!("{:032x}", std::process::id());
        let hello = format!("udpblast/1 hello nonce={nonce} pad={}\n", "x".repeat(256));
        let cookie = value(&ask(&socket, &hello, "challenge"), "cookie").expect("a cookie");
        let start = format!(
            "udpblast/1 start nonce={nonce} cookie={cookie} kind=send run=1 warmup=0us idle=5000000us fragment=0 \
             offload=1 size=24 rate=1000000 time=60000000us\n"
        );
        let tag = value(&ask(&socket, &start, "ok"), "tag").expect("a tag").parse().expect("a number");
        Self { socket, tag }
    }

    /// Sends a data datagram with this number.
    ///
    /// # Panics
    /// If it cannot be sent.
    pub fn data(&self, sequence: u64) {
        let mut datagram = vec![0, b'U', b'B', 1];
        datagram.extend(self.tag.to_be_bytes());
        datagram.extend(sequence.to_be_bytes());
        datagram.extend(0_u64.to_be_bytes());
        self.raw(&datagram);
    }

    /// Sends anything.
    ///
    /// # Panics
    /// If it cannot be sent.
    pub fn raw(&self, datagram: &[u8]) {
        self.socket.send(datagram).expect("can send");
    }

    /// Says how much was sent, and takes the listener's report.
    pub fn end(&self, sent: u64) -> String {
        ask(&self.socket, &format!("udpblast/1 end sent={sent} whole=1\n"), "report")
    }

    /// Says that it has all it wants.
    pub fn bye(self) {
        (0..3).for_each(|_| self.raw(b"udpblast/1 bye\n"));
    }
}
