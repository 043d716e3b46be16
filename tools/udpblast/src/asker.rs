//! A socket over which a client asks until it is answered.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::letter::{self, Letter};
use crate::udp::Path;

/// A socket with a question.
pub struct Asker {
    pub address: SocketAddr,
    pub socket: UdpSocket,
    pub nonce: String,
    pub question: String,
    pub asked_at: Option<Instant>,
}

impl Asker {
    pub fn new(address: SocketAddr, path: &Path) -> anyhow::Result<io::Result<Self>> {
        let socket = match path.connect(address)? {
            Ok(socket) => socket,
            Err(error) => return Ok(Err(error)),
        };
        socket.set_nonblocking(true)?;
        let nonce = format!("{:032x}", rand::random::<u128>());
        let question = Letter::Hello { nonce: nonce.clone() }.text();
        Ok(Ok(Self { address, socket, nonce, question, asked_at: None }))
    }

    pub fn ask(&mut self, letter: &Letter) {
        self.question = letter.text();
        self.asked_at = None;
    }

    /// What this socket was told, if it is meant.
    pub fn heard(&self) -> io::Result<Option<Said>> {
        let mut datagram = [0; 2048];
        let length = match self.socket.recv(&mut datagram) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Err(error),
            Err(_) => return Ok(None),
        };
        let is_own = |nonce: &String| *nonce == self.nonce;
        Ok(match Letter::parse(&datagram[..length]) {
            Ok(Letter::Challenge { nonce, cookie, can }) if is_own(&nonce) => Some(Said::Challenge { cookie, can }),
            Ok(Letter::Ok { nonce, key, tag, idle }) if is_own(&nonce) => Some(Said::Ok { key, tag, idle }),
            Ok(Letter::Refused { nonce, is_full, why }) if is_own(&nonce) => Some(Said::Refused { is_full, why }),
            Ok(_) => None,
            Err(_) if letter::is_of_former(&datagram[..length]) => Some(Said::Former),
            Err(_) => Some(Said::Strange),
        })
    }
}

/// What an asker was told.
#[derive(Debug)]
pub enum Said {
    Challenge {
        cookie: String,
        can: String,
    },
    Ok {
        key: u64,
        tag: u32,
        idle: Duration,
    },
    Refused {
        is_full: bool,
        why: String,
    },
    /// In the protocol before this one.
    Former,
    Strange,
}
