//! A udpblast listener written by hand: it says what a test wants it to say, right or wrong.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// The secret number of its tests.
const KEY: &str = "00000000deadbeef";

/// A listener that agrees to whatever it is asked for.
#[derive(Debug)]
pub struct HandListener {
    socket: UdpSocket,
}

/// What a client said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A letter, such as `hello nonce=...`.
    Letter(String),
    /// A word of the test, such as `end sent=5 ...`.
    Word(String),
    /// Data.
    Data,
}

impl HandListener {
    /// One on a free port of loopback.
    ///
    /// # Panics
    /// If there is none.
    pub fn open() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
        Self { socket }
    }

    /// Its port.
    ///
    /// # Panics
    /// If it has none.
    pub fn port(&self) -> String {
        self.socket.local_addr().expect("an address").port().to_string()
    }

    /// What comes next, if anything comes in time.
    pub fn hear(&self) -> Option<(Said, SocketAddr)> {
        let mut buffer = vec![0; 65_536];
        let (length, from) = self.socket.recv_from(&mut buffer).ok()?;
        let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
        let said = match text.strip_prefix("udpblast/2 piece ") {
            Some(piece) => Said::Word(piece.split_once("udpblast/2 ").map_or("", |(_, word)| word).trim().to_owned()),
            None if buffer[0] == 0 => Said::Data,
            None => Said::Letter(text.trim().to_owned()),
        };
        Some((said, from))
    }

    /// Sends anything.
    ///
    /// # Panics
    /// If it cannot be sent.
    pub fn raw(&self, to: SocketAddr, datagram: &[u8]) {
        self.socket.send_to(datagram, to).expect("can send");
    }

    /// Says a word of the test.
    pub fn say(&self, to: SocketAddr, word: &str) {
        self.raw(to, &piece(word));
    }

    /// Goes on until nothing has come for a second: it agrees to a test, and answers everything else as `answer` wants.
    pub fn serve(&self, mut answer: impl FnMut(&Self, SocketAddr, &Said)) {
        let mut heard = Instant::now();
        while heard.elapsed() < Duration::from_secs(1) {
            let Some((said, from)) = self.hear() else { continue };
            heard = Instant::now();
            match &said {
                Said::Letter(letter) => {
                    let nonce =
                        letter.split(' ').find(|word| word.starts_with("nonce=")).unwrap_or_default().to_owned();
                    if letter.starts_with("udpblast/2 hello ") {
                        self.raw(from, format!("udpblast/2 challenge {nonce} cookie=c can=streams\n").as_bytes());
                    } else if letter.starts_with("udpblast/2 start ") {
                        self.raw(from, format!("udpblast/2 ok {nonce} key={KEY} tag=1 idle=5000000us\n").as_bytes());
                    }
                }
                Said::Word(word) if word.starts_with("begin") => self.say(from, "go"),
                Said::Word(_) | Said::Data => {}
            }
            answer(self, from, &said);
        }
    }
}

/// A word in one piece.
pub fn piece(word: &str) -> Vec<u8> {
    let number = word.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("udpblast/2 piece key={KEY} word={number:016x} part=0 of=1 n=0\nudpblast/2 {word}\n").into_bytes()
}
