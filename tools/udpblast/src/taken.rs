//! Whether a port is in use: a socket of UDP that may share its address is not told by bind(2).

use std::net::{IpAddr, SocketAddr, UdpSocket};

/// Whether another socket that belongs to nobody in particular takes what comes to this one's address.
pub fn is_taken(socket: &UdpSocket) -> std::io::Result<bool> {
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
        let v6 = hex(&std::net::Ipv6Addr::LOCALHOST.octets()) + ":0001";
        assert_eq!(open_socket(&line(&v6, "0:0000")), Some("[::1]:1".parse().unwrap()));
        for wrong in ["", "sl local_address rem_address", "1: x:y z:0000", "1: ü00000:0001 :0000"] {
            assert_eq!(open_socket(wrong), None, "{wrong}");
        }
    }
}
