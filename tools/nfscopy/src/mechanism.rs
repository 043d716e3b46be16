//! How the bytes of a copy moved.

/// The cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    /// Source and copy share their blocks.
    Reflink = 1,
    /// The kernel copied, or on NFS 4.2 the server.
    CopyFileRange = 2,
    /// We read and wrote.
    ReadWrite = 3,
}

impl Mechanism {
    /// From its number; zero is none.
    pub fn of(number: u8) -> Option<Self> {
        [Self::Reflink, Self::CopyFileRange, Self::ReadWrite].into_iter().find(|mechanism| *mechanism as u8 == number)
    }

    /// The word in the mechanism column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reflink => "reflink",
            Self::CopyFileRange => "copy_file_range",
            Self::ReadWrite => "read_write",
        }
    }
}
