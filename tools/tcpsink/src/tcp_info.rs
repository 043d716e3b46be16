//! What the kernel knows of a TCP connection: `struct tcp_info` of linux/tcp.h, read by offset, so that kernels older and
//! newer than this file both answer.

use std::io;
use std::mem::offset_of;
use std::net::TcpStream;
use std::os::fd::AsFd;

use common::sys;
use libc::tcp_info;

/// One reading. Fields that an older kernel does not fill are `None`.
#[derive(Debug, Clone, Copy)]
pub struct TcpInfo {
    raw: [u8; Self::SIZE],
    filled: usize,
}

impl TcpInfo {
    /// All fields that this file knows; the kernel cuts its answer to fit.
    const SIZE: usize = size_of::<tcp_info>();

    /// Asks the kernel.
    pub fn of(stream: &TcpStream) -> io::Result<Self> {
        let mut raw = [0; Self::SIZE];
        let filled = sys::socket_option(stream.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw)?;
        Ok(Self { raw, filled })
    }

    fn field<const WIDTH: usize>(&self, offset: usize) -> Option<[u8; WIDTH]> {
        let end = offset + WIDTH;
        if end > self.filled { None } else { self.raw.get(offset..end)?.try_into().ok() }
    }

    fn u32(&self, offset: usize) -> Option<u64> {
        self.field(offset).map(|bytes| u64::from(u32::from_ne_bytes(bytes)))
    }

    fn u64(&self, offset: usize) -> Option<u64> {
        self.field(offset).map(u64::from_ne_bytes)
    }

    /// `tcpi_snd_mss`, bytes.
    pub fn send_mss(&self) -> Option<u64> {
        self.u32(offset_of!(tcp_info, tcpi_snd_mss))
    }

    /// `tcpi_rcv_mss`, bytes.
    pub fn recv_mss(&self) -> Option<u64> {
        self.u32(offset_of!(tcp_info, tcpi_rcv_mss))
    }

    /// `tcpi_rtt`, microseconds; `None` before the first measurement.
    pub fn rtt_us(&self) -> Option<u64> {
        self.u32(offset_of!(tcp_info, tcpi_rtt)).filter(|rtt| *rtt > 0)
    }

    /// `tcpi_rttvar`, microseconds; `None` before the first measurement.
    pub fn rtt_var_us(&self) -> Option<u64> {
        self.rtt_us().and(self.u32(offset_of!(tcp_info, tcpi_rttvar)))
    }

    /// `tcpi_snd_cwnd`, segments.
    pub fn send_cwnd(&self) -> Option<u64> {
        self.u32(offset_of!(tcp_info, tcpi_snd_cwnd))
    }

    /// `tcpi_total_retrans`, segments.
    pub fn total_retransmits(&self) -> Option<u64> {
        self.u32(offset_of!(tcp_info, tcpi_total_retrans))
    }

    /// `tcpi_bytes_acked`, bytes of ours that the other end's kernel has.
    pub fn bytes_acked(&self) -> Option<u64> {
        self.u64(offset_of!(tcp_info, tcpi_bytes_acked))
    }

    /// `tcpi_bytes_acked` and `tcpi_bytes_received`: whatever got through, either way.
    pub fn bytes_moved(&self) -> Option<u64> {
        Some(self.bytes_acked()? + self.u64(offset_of!(tcp_info, tcpi_bytes_received))?)
    }

    /// Whether `tcpi_unacked` or `tcpi_notsent_bytes` says that bytes of ours are still to be acknowledged.
    pub fn has_outstanding(&self) -> bool {
        [offset_of!(tcp_info, tcpi_unacked), offset_of!(tcp_info, tcpi_notsent_bytes)]
            .iter()
            .any(|offset| self.u32(*offset).is_some_and(|amount| amount > 0))
    }

    /// `tcpi_notsent_bytes`, and `tcpi_unacked` segments.
    pub fn outstanding_bytes(&self) -> u64 {
        let amount = |offset| self.u32(offset).unwrap_or_default();
        let unacked = amount(offset_of!(tcp_info, tcpi_unacked));
        amount(offset_of!(tcp_info, tcpi_notsent_bytes)) + unacked * self.send_mss().unwrap_or_default()
    }

    /// `tcpi_delivery_rate`, bytes per second.
    pub fn delivery_rate(&self) -> Option<u64> {
        self.u64(offset_of!(tcp_info, tcpi_delivery_rate))
    }

    /// `tcpi_max_pacing_rate`, bytes per second; the kernel's ~0 says that there is no limit.
    pub fn max_pacing_rate(&self) -> Option<u64> {
        self.u64(offset_of!(tcp_info, tcpi_max_pacing_rate)).filter(|rate| *rate != u64::MAX)
    }

    /// `tcpi_busy_time`, microseconds.
    pub fn busy_us(&self) -> Option<u64> {
        self.u64(offset_of!(tcp_info, tcpi_busy_time))
    }

    /// `tcpi_rwnd_limited`, microseconds.
    pub fn rwnd_limited_us(&self) -> Option<u64> {
        self.u64(offset_of!(tcp_info, tcpi_rwnd_limited))
    }

    /// `tcpi_sndbuf_limited`, microseconds.
    pub fn sndbuf_limited_us(&self) -> Option<u64> {
        self.u64(offset_of!(tcp_info, tcpi_sndbuf_limited))
    }

    /// `tcpi_bytes_retrans`.
    pub fn bytes_retransmitted(&self) -> Option<u64> {
        self.u64(offset_of!(tcp_info, tcpi_bytes_retrans))
    }

    /// `tcpi_reord_seen`.
    pub fn reorderings(&self) -> Option<u64> {
        self.u32(offset_of!(tcp_info, tcpi_reord_seen))
    }

    /// `tcpi_rcv_ooopack`.
    pub fn out_of_order_packets(&self) -> Option<u64> {
        self.u32(offset_of!(tcp_info, tcpi_rcv_ooopack))
    }

    /// `tcpi_min_rtt`, microseconds; the kernel's ~0 says that there is none.
    pub fn min_rtt_us(&self) -> Option<u64> {
        self.u32(offset_of!(tcp_info, tcpi_min_rtt)).filter(|rtt| *rtt != u64::from(u32::MAX) && *rtt > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_beyond_an_older_kernels_answer_are_unknown() {
        let mut info = TcpInfo { raw: [7; TcpInfo::SIZE], filled: 104 };
        assert_eq!(info.total_retransmits(), Some(0x0707_0707));
        assert_eq!(info.bytes_acked(), None);
        assert_eq!(info.min_rtt_us(), None);
        info.filled = TcpInfo::SIZE;
        let min_rtt = offset_of!(tcp_info, tcpi_min_rtt);
        info.raw[min_rtt..min_rtt + 4].fill(0xff);
        assert_eq!(info.min_rtt_us(), None, "the kernel's word for none");
    }
}
