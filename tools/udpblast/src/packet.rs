//! The header of a data datagram. Control datagrams are text and begin with a letter; data begins with a zero byte.

/// Bytes of the header, hence the smallest datagram.
pub const HEADER: usize = 24;

const MAGIC: [u8; 4] = [0, b'U', b'B', 1];

/// What a data datagram says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Names the test, so that a stray datagram of another one is told apart.
    pub tag: u32,
    /// 0, 1, 2, ...
    pub sequence: u64,
    /// The sender's monotonic clock, nanoseconds. Only differences of it mean anything to others.
    pub stamp_ns: u64,
}

impl Header {
    /// Writes it to the front of `datagram`, which must be at least [`HEADER`] bytes long.
    pub fn write(&self, datagram: &mut [u8]) {
        datagram[..4].copy_from_slice(&MAGIC);
        datagram[4..8].copy_from_slice(&self.tag.to_be_bytes());
        datagram[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        datagram[16..24].copy_from_slice(&self.stamp_ns.to_be_bytes());
    }

    /// Reads it; `None` if this is no data of ours.
    pub fn read(datagram: &[u8]) -> Option<Self> {
        let header: &[u8; HEADER] = datagram.first_chunk()?;
        let (magic, rest) = header.split_first_chunk::<4>()?;
        let (tag, rest) = rest.split_first_chunk::<4>()?;
        let (sequence, stamp) = rest.split_first_chunk::<8>()?;
        (*magic == MAGIC).then_some(Self {
            tag: u32::from_be_bytes(*tag),
            sequence: u64::from_be_bytes(*sequence),
            stamp_ns: u64::from_be_bytes(*stamp.first_chunk()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_wire() {
        let header = Header { tag: 0xdead_beef, sequence: (1 << 32) + 5, stamp_ns: u64::MAX };
        let mut datagram = [0xff; 40];
        header.write(&mut datagram);
        assert_eq!(Header::read(&datagram), Some(header));
        assert_eq!(Header::read(&datagram[..HEADER - 1]), None);
        datagram[1] = b'X';
        assert_eq!(Header::read(&datagram), None);
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_datagrams_do_nothing(bytes: Vec<u8>) {
            let _ = Header::read(&bytes);
        }
    }
}
