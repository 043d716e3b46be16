//! Questions to the kernel over netlink(7), and the attributes of its answers.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NLMSG_NOOP, NetlinkBuffer, NlasIterator,
};
use netlink_sys::{Socket, SocketAddr};

/// The kernel fills at most this much in one piece of a dump (`NLMSG_GOODSIZE` grows to it for readers with room).
const BUFFER: usize = 64 * 1024;

/// How often a dump is asked for again because the list changed under it. One that is never left alone is used as it is.
const ATTEMPTS: usize = 16;

/// `NLM_F_DUMP_INTR`: the list changed while it was being dumped.
const INTERRUPTED: u16 = 0x10;

const HEADER: usize = 16;

/// A socket to one family of netlink, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netlink {
    socket: Socket,
    buffer: Vec<u8>,
    sequence: u32,
}

/// A question without its header.
#[derive(Debug, Clone)]
pub struct Question {
    kind: u16,
    /// Room for the header, then the payload.
    message: Vec<u8>,
}

impl Question {
    /// A question of this type with the fixed part of its payload.
    pub fn new(kind: u16, fixed: &[u8]) -> Self {
        Self { kind, message: [&[0; HEADER], fixed].concat() }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn with(mut self, kind: u16, value: &[u8]) -> Self {
        // No attribute asked for is anywhere near 64 KiB.
        let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
        self.message.extend(length.to_ne_bytes());
        self.message.extend(kind.to_ne_bytes());
        self.message.extend(value);
        self.message.resize(self.message.len().next_multiple_of(4), 0);
        self
    }

    /// Adds an attribute that holds attributes: each a number and a value.
    #[must_use]
    pub fn with_nested(self, kind: u16, inner: &[(u16, &[u8])]) -> Self {
        const NESTED: u16 = 0x8000;
        let inner = inner.iter().fold(Self::new(0, &[]), |nest, (kind, value)| nest.with(*kind, value));
        self.with(kind | NESTED, &inner.message[HEADER..])
    }

    fn numbered(&mut self, sequence: u32, flags: u16) -> &[u8] {
        let length = u32::try_from(self.message.len()).unwrap_or(u32::MAX);
        let mut header = NetlinkBuffer::new(&mut self.message);
        header.set_length(length);
        header.set_message_type(self.kind);
        header.set_flags(NLM_F_REQUEST | flags);
        header.set_sequence_number(sequence);
        header.set_port_number(0);
        &self.message
    }
}

/// How a dump went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dump {
    /// Nothing changed meanwhile.
    Whole,
    /// The list changed under every attempt: something may be missing, or twice.
    Interrupted,
}

impl Netlink {
    /// A socket to `protocol` (`NETLINK_ROUTE`, ...).
    pub fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // Kernels before 4.20 do not have it, and ignore what they do not know.
        let _ = socket.set_netlink_get_strict_chk(true);
        Ok(Self { socket, buffer: vec![0; BUFFER], sequence: 0 })
    }

    /// Asks for all of a kind; `found` gets what `read` makes of each message's payload, in the kernel's order. Asks again
    /// when the list changed meanwhile.
    pub fn dump<T>(
        &mut self,
        question: &mut Question,
        found: &mut Vec<T>,
        mut read: impl FnMut(&[u8]) -> Option<T>,
    ) -> io::Result<Dump> {
        for _ in 0..ATTEMPTS {
            found.clear();
            if self.exchange(question, NLM_F_DUMP, |payload| found.extend(read(payload)))? == Dump::Whole {
                return Ok(Dump::Whole);
            }
        }
        Ok(Dump::Interrupted)
    }

    /// Asks for one thing; `Ok(None)` when the kernel has no answer but no error either.
    pub fn ask<T>(&mut self, question: &mut Question, read: impl Fn(&[u8]) -> Option<T>) -> io::Result<Option<T>> {
        let mut answer = None;
        self.exchange(question, NLM_F_ACK, |payload| answer = answer.take().or_else(|| read(payload)))?;
        Ok(answer)
    }

    fn exchange(&mut self, question: &mut Question, flags: u16, mut take: impl FnMut(&[u8])) -> io::Result<Dump> {
        self.sequence = self.sequence.wrapping_add(1);
        self.socket.send(question.numbered(self.sequence, flags), 0)?;
        let mut dump = Dump::Whole;
        loop {
            let length = receive(&self.socket, &mut self.buffer, 0)?;
            for message in messages(&self.buffer[..length]) {
                if message.sequence_number() != self.sequence {
                    continue;
                }
                if message.flags() & INTERRUPTED != 0 {
                    dump = Dump::Interrupted;
                }
                match message.message_type() {
                    NLMSG_NOOP => {}
                    NLMSG_DONE | NLMSG_ERROR => return status(message.payload()).map(|()| dump),
                    _ => take(message.payload()),
                }
            }
        }
    }
}

/// One `recv(2)`; the buffer is large enough for any message.
pub fn receive(socket: &Socket, buffer: &mut [u8], flags: i32) -> io::Result<usize> {
    loop {
        let mut room = &mut *buffer;
        match socket.recv(&mut room, flags) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => return Ok(received?.min(buffer.len())),
        }
    }
}

/// The messages in what one receive brought.
pub fn messages(mut bytes: &[u8]) -> impl Iterator<Item = NetlinkBuffer<&[u8]>> {
    std::iter::from_fn(move || {
        let message = NetlinkBuffer::new_checked(bytes).ok()?;
        let step = (message.length() as usize).next_multiple_of(4);
        bytes = bytes.get(step..).unwrap_or_default();
        Some(message)
    })
}

/// The errno that an acknowledgement or the end of a dump carries, negative.
fn status(payload: &[u8]) -> io::Result<()> {
    match payload.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes)) {
        error if error < 0 => Err(io::Error::from_raw_os_error(error.saturating_neg())),
        _ => Ok(()),
    }
}

/// The attributes in `bytes`: number without its flags, and value.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    NlasIterator::new(bytes).map_while(Result::ok).map(|attribute| {
        let (kind, length) = (attribute.kind(), attribute.length() as usize);
        (kind, attribute.into_inner().get(4..length).unwrap_or_default())
    })
}

/// The value of the first attribute with this number.
pub fn attribute(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(found, _)| *found == kind).map(|(_, value)| value)
}

/// The first eight bytes as a number.
pub fn u64_of(value: &[u8]) -> Option<u64> {
    value.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}

/// The first four bytes as a number.
pub fn u32_of(value: &[u8]) -> Option<u32> {
    value.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

/// The first byte.
pub fn u8_of(value: &[u8]) -> Option<u8> {
    value.first().copied()
}

/// Text up to its NUL.
pub fn text_of(value: &[u8]) -> String {
    let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let question = Question::new(1, &[]).with(3, b"eth0\0").with_nested(4, &[(1, &7_u32.to_ne_bytes())]);
        let attributes: Vec<_> = attributes(&question.message[HEADER..]).collect();
        assert_eq!(attributes[0], (3, &b"eth0\0"[..]));
        assert_eq!(text_of(attributes[0].1), "eth0");
        assert_eq!(attributes[1].0, 4, "the nested flag is no part of the number");
        assert_eq!(attribute(attributes[1].1, 1).and_then(u32_of), Some(7));
    }

    #[test]
    fn garbage_ends_the_list() {
        assert_eq!(attributes(&[3, 0, 1, 0, 9]).count(), 0, "shorter than its own header");
        assert_eq!(attributes(&[200, 0, 1, 0, 9]).count(), 0, "longer than what is there");
        assert_eq!(messages(&[1; 5]).count(), 0);
    }

    #[test]
    fn an_error_of_the_kernel_is_an_errno() {
        assert_eq!(status(&(-19_i32).to_ne_bytes()).unwrap_err().raw_os_error(), Some(19));
        assert!(status(&0_i32.to_ne_bytes()).is_ok());
    }
}
