//! What the two ends say to each other: of any length, from whomever, in whatever shape the network delivers it.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use testkit::bed::{Bed, RECEIVER};
use testkit::hand_listener::{HandListener, Said};
use testkit::hand_sender::HandSender;

use super::{across, both_totals, counts, in_namespace, listener, udpblast};

/// A client of a listener by hand, which answers what it is told as `answer` wants.
fn against(args: &[&str], answer: impl FnMut(&HandListener, std::net::SocketAddr, &Said)) -> testkit::Ended {
    let hand = HandListener::open();
    let client = udpblast().start(&[args, &["--port", &hand.port()]].concat());
    hand.serve(answer);
    client.end()
}

const SEND: &[&str] = &["send", "127.0.0.1", "--bytes", "37500", "--rate", "1M", "--size", "100"];

#[test]
fn words_are_not_cut_where_the_kernel_cuts_data() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    for end in [bed.sender(), bed.receiver()] {
        in_namespace(&end, "ethtool -K eth0 tx-udp-segmentation off");
    }
    for (verb, size) in [("recv", "64"), ("recv", "200"), ("send", "24")] {
        for rate in ["500K", "200M"] {
            let args = [verb, RECEIVER, "--rate", rate, "--time", "500ms", "--size", size, "--interval", "100ms"];
            let ended = sender.run(&args).success();
            let [sent, _] = both_totals(&ended);
            assert!(sent.count("sent") > 50, "{ended:?}");
            let columns = ended.stdout.lines().next().unwrap().split(',').count();
            assert!(ended.stdout.lines().all(|line| line.split(',').count() == columns), "{ended:?}");
        }
    }
}

#[test]
fn labels_of_every_length_and_kind_arrive() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    for (sign, count) in [("\"", 700), ("ü", 450), ("%", 1024)] {
        let label = sign.repeat(count);
        for verb in ["send", "recv"] {
            let ended = sender.run(&[verb, RECEIVER, "--time", "200ms", "--label", &label]).success();
            for total in both_totals(&ended) {
                assert_eq!(total.text("label"), label);
            }
        }
    }
}

#[test]
fn joined_words_are_each_understood() {
    let (listener, port) = listener(&[]);
    let sender = HandSender::agree(&port);
    let (one, other) = (sender.data_like(0, 150), sender.data_like(1, 150));
    joined(sender.socket(), &[one, other].concat(), 150).unwrap();
    // Two words of one length, as a card or the loopback joins them.
    let pad = "x".repeat(20);
    let words = [format!("failing {pad}"), "end sent=2 span=0 whole=1 sure=1 words=0".into()];
    let pieces = words.map(|word| sender.piece(&word));
    let longest = pieces.iter().map(String::len).max().unwrap();
    let padded = pieces.map(|piece| format!("{piece}{}", "\n".repeat(longest - piece.len())));
    joined(sender.socket(), padded.concat().as_bytes(), longest).unwrap();
    let report = sender.heard("report").expect("it understood the second one");
    assert!(report.contains("received=2"), "{report}");
    sender.bye();
    let record = listener.wait_for_records(1).remove(0);
    assert_eq!(counts(&record)[..3], [2, 2, 0]);
    assert_eq!(record.count("strangers"), 0);
}

/// Sends them as one buffer, which the other end may get as one (`UDP_SEGMENT`, udp(7)).
fn joined(socket: &UdpSocket, bytes: &[u8], size: usize) -> io::Result<()> {
    let size = u16::try_from(size).unwrap();
    let cut = [ControlMessage::UdpGsoSegments(&size)];
    sendmsg::<()>(socket.as_raw_fd(), &[io::IoSlice::new(bytes)], &cut, MsgFlags::empty(), None)?;
    Ok(())
}

#[test]
fn a_listener_that_only_says_that_it_is_there_is_left() {
    let args = [SEND, &["--idle-timeout", "500ms"]].concat();
    let ended = against(&args, |hand, client, said| {
        if !matches!(said, Said::Letter(_)) {
            hand.say(client, "alive taken=0");
        }
    });
    assert!(ended.took < Duration::from_secs(5), "{ended:?}");
    let ended = ended.failure(1, &["fell silent", "--idle-timeout"]);
    assert!(ended.total("udp_send").has_flag("partial"));
}

#[test]
fn words_of_others_are_none() {
    let ended = against(&[SEND, &["--idle-timeout", "500ms"]].concat(), |hand, client, said| {
        if matches!(said, Said::Data) {
            // From the listener's own address and port, as only a forger's would be: without the secret number.
            for forged in ["udpblast/1 report expected=5 received=1\n", "udpblast/2 report expected=5 received=1\n"] {
                hand.raw(client, forged.as_bytes());
            }
            hand.raw(client, b"udpblast/2 piece key=0000000000000001 word=1 part=0 of=1 n=0\nudpblast/2 bye\n");
            hand.say(client, "alive taken=0");
        }
    });
    let ended = ended.failure(1, &["fell silent"]);
    assert_eq!(ended.total("udp_send").text("lost"), "", "{ended:?}");
}

/// What a receiver says of 375 datagrams, all alike but for what is lost.
fn report(received: u64) -> String {
    format!(
        "report expected=375 received={received} duplicated=0 reordered=0 late=0 socket_drops=0 unsure=0 steps=0 strangers=0 jitter="
    )
}

fn line(text: &str) -> String {
    let escaped = text.replace('%', "%25").replace(' ', "%20").replace('=', "%3D").replace('\n', "%0A");
    format!("line index=0 of=1 text={}", escaped.replace('\u{1b}', "%1B"))
}

const CELLS: &str = "schema=udpblast/1 time=2026-12-01T00:00:00.000Z host=h test=udp_recv target=t run=1 span=total \
     seconds=0.3 bytes=37500 ops=375 errors=0 direction=up offload=none sent=375 received=375 lost=0 duplicated=0 reordered=0";

#[test]
fn lines_that_contradict_each_other_are_an_error() {
    for (received, word) in [(375, None), (10, Some("received is 10 here and 375 there"))] {
        let ended = against(SEND, |hand, client, said| {
            if matches!(said, Said::Word(word) if word.starts_with("end ") || word.starts_with("get ")) {
                hand.say(client, &report(received));
                hand.say(client, &line(CELLS));
            }
        });
        match word {
            None => assert_eq!(ended.success().total("udp_recv").count("received"), 375),
            Some(word) => {
                let ended = ended.failure(1, &["contradict", word]);
                assert_eq!(ended.total("udp_recv").count("received"), 375, "both are shown: {ended:?}");
            }
        }
    }
}

#[test]
fn a_report_of_something_else_is_an_error() {
    let ended = against(SEND, |hand, client, said| {
        if matches!(said, Said::Word(word) if word.starts_with("end ") || word.starts_with("get ")) {
            hand.say(client, &report(5).replace("expected=375", "expected=5"));
            hand.say(client, &line(&CELLS.replace("=375", "=5")));
        }
    });
    let _ = ended.failure(1, &["contradict", "375"]);
}

#[test]
fn a_line_of_the_other_end_is_written_anew() {
    for (cells, is_line) in [
        (CELLS.to_owned(), true),
        (CELLS.replace("udpblast/1", "udpblast/7") + " new_column=5", true),
        (CELLS.replace("host=h", "host=a%0Aifstat/1;%1B[31m"), true),
        (CELLS.replace("bytes=37500", "bytes=many"), false),
        (CELLS.replace("udpblast/1", "tcpsink/1"), false),
        (CELLS.replace("span=total", "span=to%0Atal"), false),
        ("schema=udpblast/1 time=2026-".to_owned(), false),
    ] {
        let ended = against(SEND, |hand, client, said| {
            if matches!(said, Said::Word(word) if word.starts_with("end ") || word.starts_with("get ")) {
                hand.say(client, &report(375));
                hand.say(client, &line(&cells));
            }
        });
        assert!(!ended.stdout.contains('\u{1b}'), "{ended:?}");
        let lines: Vec<_> = ended.stdout.lines().collect();
        let columns = lines[0].split(',').count();
        assert!(lines.iter().all(|line| line.split(',').count() == columns), "{ended:?}");
        assert!(lines.iter().skip(1).all(|line| line.starts_with("udpblast/2,")), "{ended:?}");
        assert_eq!(ended.status.success(), is_line, "{cells}: {ended:?}");
    }
}

#[test]
fn ends_of_the_version_before_are_told_so() {
    let (_listener, port) = listener(&[]);
    let socket = testkit::hand_sender::socket(&port);
    let hello = format!("udpblast/1 hello nonce=1 pad={}\n", "x".repeat(256));
    socket.send(hello.as_bytes()).unwrap();
    let mut answer = [0; 500];
    let length = socket.recv(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(answer.starts_with("udpblast/1 refused ") && answer.contains("udpblast/2"), "{answer}");
    assert!(length <= hello.len());

    let old = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = old.local_addr().unwrap().port().to_string();
    let client = udpblast().start(&["send", "127.0.0.1", "--port", &port]);
    let mut buffer = [0; 2000];
    loop {
        let (length, from) = old.recv_from(&mut buffer).unwrap();
        if buffer[..length].starts_with(b"udpblast/1 hello ") {
            old.send_to(b"udpblast/1 challenge nonce=0 cookie=0\n", from).unwrap();
            break;
        }
    }
    let _ = client.end().failure(1, &["earlier version", "up to date"]);
}

#[test]
fn a_stranger_writes_no_control_characters() {
    let (listener, port) = listener(&[]);
    let request = testkit::hand_sender::REQUEST;
    let sender = HandSender::agree_as(&port, request, " label=a%1B[31m%0Aifstat/1,forged");
    sender.data(0);
    sender.end(1);
    sender.bye();
    let record = listener.wait_for_records(1).remove(0);
    assert_eq!(record.text("label"), "a?[31m?ifstat/1,forged");
    let text = listener.stdout();
    assert!(!text.contains('\u{1b}') && !text.lines().any(|line| line.starts_with("ifstat")), "{text}");
}

#[test]
fn a_small_path_is_enough_for_words() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    for (namespace, device) in [(bed.sender(), "eth0"), (bed.router(), "port1")] {
        in_namespace(&namespace, &format!("ip link set {device} mtu 576"));
    }
    let label = "x".repeat(1000);
    let ended = sender.run(&["send", "10.0.2.2", "--time", "200ms", "--size", "100", "--label", &label]).success();
    assert_eq!(both_totals(&ended)[1].text("label"), label);
}
