//! A network of three namespaces: sender - router - receiver, where the router shapes and drops.
//!
//! The shaper sits on the router, not at the sender: a queue in the sender's own namespace pushes back into its socket
//! instead of dropping.

use std::fs::File;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sched::{CloneFlags, setns};

use crate::tool::Tool;

/// The receiver's addresses.
pub const RECEIVER: &str = "10.0.2.2";
/// The receiver's IPv6 address.
pub const RECEIVER_V6: &str = "fd00:2::2";

static COUNT: AtomicU32 = AtomicU32::new(0);

/// The network; it is taken down when this is dropped.
#[derive(Debug)]
pub struct Bed {
    tag: String,
}

impl Bed {
    /// Lays it out; `None`, and says so, where that is impossible.
    ///
    /// # Panics
    /// If a command fails.
    pub fn new() -> Option<Self> {
        if !crate::is_root() || !crate::has_program("ip", "iproute2") || !crate::has_program("nft", "nftables") {
            return None;
        }
        let bed = Self { tag: format!("lb{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)) };
        let [sender, router, receiver] = [bed.sender(), bed.router(), bed.receiver()];
        for name in [&sender, &router, &receiver] {
            run(&format!("ip netns add {name}"));
            run(&format!("ip -n {name} link set lo up"));
        }
        for (end, net) in [(&sender, 1), (&receiver, 2)] {
            run(&format!("ip link add eth0 netns {end} type veth peer name port{net} netns {router}"));
            run(&format!("ip -n {end} addr add 10.0.{net}.2/24 dev eth0"));
            run(&format!("ip -n {router} addr add 10.0.{net}.1/24 dev port{net}"));
            run(&format!("ip -n {end} addr add fd00:{net}::2/64 dev eth0 nodad"));
            run(&format!("ip -n {router} addr add fd00:{net}::1/64 dev port{net} nodad"));
            run(&format!("ip -n {end} link set eth0 up"));
            run(&format!("ip -n {router} link set port{net} up"));
            run(&format!("ip -n {end} route add default via 10.0.{net}.1"));
            run(&format!("ip -n {end} -6 route add default via fd00:{net}::1"));
        }
        run(&format!("ip netns exec {router} sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"));
        Some(bed)
    }

    /// Name of the sender's namespace.
    pub fn sender(&self) -> String {
        format!("{}s", self.tag)
    }

    /// Name of the router's namespace. Its interfaces are `port1` (to the sender) and `port2` (to the receiver).
    pub fn router(&self) -> String {
        format!("{}r", self.tag)
    }

    /// Name of the receiver's namespace.
    pub fn receiver(&self) -> String {
        format!("{}d", self.tag)
    }

    /// `tool` at the sender.
    pub fn at_sender(&self, tool: &Tool) -> Tool {
        tool.within(&["ip", "netns", "exec", &self.sender()])
    }

    /// `tool` at the router.
    pub fn at_router(&self, tool: &Tool) -> Tool {
        tool.within(&["ip", "netns", "exec", &self.router()])
    }

    /// Gives both ends of the sender's link an address of that link: `fe80::2` on eth0, and `fe80::1` on the router's port1.
    ///
    /// # Panics
    /// If ip refuses.
    pub fn add_link_local(&self) {
        run(&format!("ip -n {} addr add fe80::2/64 dev eth0 nodad", self.sender()));
        run(&format!("ip -n {} addr add fe80::1/64 dev port1 nodad", self.router()));
    }

    /// `tool` at the receiver.
    pub fn at_receiver(&self, tool: &Tool) -> Tool {
        tool.within(&["ip", "netns", "exec", &self.receiver()])
    }

    /// `tool` at the sender, where the server of names never answers for as long as what comes with it is held.
    ///
    /// # Panics
    /// If the port of such a server cannot be had.
    pub fn at_sender_without_names(&self, tool: &Tool) -> (Tool, impl Sized + use<>) {
        let server = enter(&self.sender(), || UdpSocket::bind("127.0.0.1:53").expect("a free port"));
        let directory = tempfile::tempdir().expect("room for a file");
        let file = directory.path().join("resolv.conf");
        std::fs::write(&file, "nameserver 127.0.0.1\n").expect("room for a file");
        // ip-netns(8) gives what it executes mounts of its own.
        let script = format!("mount --bind {} /etc/resolv.conf && exec \"$0\" \"$@\"", file.display());
        let tool = tool.within(&["ip", "netns", "exec", &self.sender(), "sh", "-c", &script]);
        (tool, (server, directory))
    }

    /// `tool` at the sender, where names are what `hosts` says (hosts(5)). The second part has to be kept.
    ///
    /// # Panics
    /// If there is no room for a file.
    pub fn at_sender_with_names(&self, tool: &Tool, hosts: &str) -> (Tool, impl Sized + use<>) {
        let directory = tempfile::tempdir().expect("room for a file");
        let file = directory.path().join("hosts");
        std::fs::write(&file, hosts).expect("room for a file");
        let script = format!("mount --bind {} /etc/hosts && exec \"$0\" \"$@\"", file.display());
        let tool = tool.within(&["ip", "netns", "exec", &self.sender(), "sh", "-c", &script]);
        (tool, directory)
    }

    /// Limits what goes to the receiver: tc-tbf(8)'s arguments, such as `rate 10mbit burst 5000 latency 400ms`.
    ///
    /// # Panics
    /// If tc refuses.
    pub fn shape(&self, tbf: &str) {
        run(&format!("tc -n {} qdisc replace dev port2 root tbf {tbf}", self.router()));
    }

    /// The router forgets a TCP connection on which nothing has passed for so long, and drops what comes after that, as
    /// firewalls and NAT do.
    ///
    /// # Panics
    /// If nft refuses.
    pub fn forget_idle(&self, seconds: u32) {
        let router = self.router();
        let nft = |words: &str| run(&format!("ip netns exec {router} nft {words}"));
        nft("add table inet memory");
        nft(&format!(
            "add ct timeout inet memory short {{ protocol tcp ; l3proto ip ; policy = {{ established : {seconds} }} ; }}"
        ));
        nft("add chain inet memory stamp { type filter hook prerouting priority -150 ; }");
        nft("add rule inet memory stamp ip protocol tcp ct timeout set short");
        nft("add chain inet memory pass { type filter hook forward priority 0 ; }");
        nft("add rule inet memory pass tcp flags & (syn|ack) != syn ct state new drop");
        nft("add rule inet memory pass ct state invalid drop");
    }

    /// Drops this share of what is forwarded, both ways, at random.
    ///
    /// # Panics
    /// If nft refuses.
    pub fn lose(&self, percent: u32) {
        let router = self.router();
        run(&format!("ip netns exec {router} nft add table inet loss"));
        run(&format!("ip netns exec {router} nft add chain inet loss cut {{ type filter hook forward priority 0 ; }}"));
        let rule =
            if percent < 100 { format!("numgen random mod 100 < {percent} drop") } else { "counter drop".to_owned() };
        run(&format!("ip netns exec {router} nft add rule inet loss cut {rule}"));
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        for name in [self.sender(), self.router(), self.receiver()] {
            // One that was not made yet is none to take down.
            let _ = Command::new("ip").args(["netns", "del", &name]).stderr(Stdio::null()).status();
        }
    }
}

/// Runs a command, its words apart by spaces.
///
/// # Panics
/// If it fails.
pub fn run(command: &str) {
    let mut words = command.split_whitespace();
    let output = Command::new(words.next().unwrap_or_default()).args(words).output().expect("a command that is there");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Does `action` in a thread inside the namespace with this name for `ip netns`.
///
/// # Panics
/// If it is not there, or `action` panics.
pub fn enter<T: Send>(namespace: &str, action: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let there = File::open(format!("/run/netns/{namespace}")).expect("a namespace that is there");
            setns(there, CloneFlags::CLONE_NEWNET).expect("root may enter");
            action()
        });
        thread.join().expect("no panic")
    })
}
