//! What a client may ask for, and what not.

use super::*;

/// A request that says something of everything.
pub fn request() -> Request {
    Request {
        kind: TestKind::Ping(Sizes { request: 1, response: 1000, depth: 5 }),
        run: 3,
        visit: 0xabc,
        next_within: Duration::from_secs(5),
        queues: true,
        label: Some("hub=auto, \"x\" 100 % köln".into()),
        streams: 4,
        per_stream: true,
        time: Some(Duration::from_secs(3)),
        bytes: Some(u64::MAX),
        warmup: Duration::ZERO,
        interval: Some(Duration::from_millis(100)),
        idle_timeout: Duration::from_secs(10),
        copy: true,
        message: Some(1),
        method: Method::Zerocopy,
        rate: Some(5_000_000_000),
        buffer: Some(1 << 30),
        congestion: Some("cubic".into()),
        dscp: Some(46),
        nodelay: true,
    }
}

fn read(request: &Request) -> Result<Request, WireError> {
    Request::read(&common::net::wire::split(TAG, request.text().trim_end().as_bytes()).unwrap().1)
}

#[test]
fn numbers_out_of_range_are_refused_where_they_arrive() {
    let recv = || Request { kind: TestKind::Recv, ..request() };
    let refused = |request: Request| match read(&request).unwrap_err() {
        WireError::BadValue(key) => key,
        other => panic!("{other}"),
    };
    assert_eq!(read(&request()), Ok(request()));
    assert_eq!(refused(Request { streams: 0, ..request() }), "streams");
    assert_eq!(refused(Request { streams: 257, ..request() }), "streams");
    assert_eq!(refused(Request { rate: Some(8), streams: 2, ..request() }), "rate");
    assert_eq!(refused(Request { rate: Some(u64::MAX), ..request() }), "rate");
    let interval = |micros| Some(Duration::from_micros(micros));
    assert_eq!(refused(Request { interval: interval(1), ..request() }), "interval");
    assert_eq!(refused(Request { interval: interval(3999), ..request() }), "interval", "four streams' lines");
    assert!(read(&Request { interval: interval(1000), per_stream: false, ..request() }).is_ok());
    assert_eq!(refused(Request { time: None, bytes: None, ..recv() }), "time", "nothing ends it");
    assert!(read(&Request { time: None, bytes: None, ..request() }).is_ok(), "the client ends a ping");
    for name in ["", "../evil", "a b", "much_too_long_for_the_kernel"] {
        assert_eq!(refused(Request { congestion: Some(name.into()), ..request() }), "congestion");
    }
    let label = Some("x".repeat(MAX_LABEL + 1));
    assert_eq!(refused(Request { label, ..request() }), "label");
}

#[test]
fn a_client_that_says_nothing_of_its_visit_stays_for_one_test() {
    let text = request().text().replace(" visit=abc", "").replace(" next=5000000us", "").replace(" queue=1", "");
    let read = Request::read(&common::net::wire::split(TAG, text.trim_end().as_bytes()).unwrap().1).unwrap();
    assert_eq!((read.next_within, read.queues), (Duration::ZERO, false));
    assert_ne!(read.visit, request().visit);
}

#[test]
fn what_it_costs_the_sink_is_known_in_advance() {
    let ping = |request, response, streams| Request {
        kind: TestKind::Ping(Sizes { request, response, depth: 1 }),
        streams,
        ..self::request()
    };
    assert!(ping(MAX_MESSAGE, MAX_MESSAGE, 4).memory(false) < 2 << 20, "however large the messages are");
    let send = Request { kind: TestKind::Send, message: Some(MAX_MESSAGE), streams: MAX_STREAMS, ..request() };
    assert!(send.memory(false) > 1 << 38);
    assert!(Request { copy: false, ..send }.memory(false) < 16 << 20);
    let recv = Request { kind: TestKind::Recv, streams: 1, message: Some(64 << 20), ..request() };
    assert!(Request { bytes: Some(1000), ..recv.clone() }.memory(false) < 1 << 20);
    assert!(
        recv.memory(false) > 64 << 20
            && Request { method: Method::Write, message: None, ..recv }.memory(false) < 1 << 20
    );
}

#[test]
fn who_makes_the_sink_send_is_known() {
    let kind = |kind| Request { kind, ..request() }.makes_sink_send();
    assert!(kind(TestKind::Recv) && kind(TestKind::Both) && kind(request().kind));
    assert!(!kind(TestKind::Send) && !kind(TestKind::Connect));
}

proptest::proptest! {
    #[test]
    fn whatever_is_asked_for_can_be_reckoned_with(
        rate in proptest::option::of(proptest::num::u64::ANY), bytes in proptest::option::of(proptest::num::u64::ANY),
        message in proptest::option::of(proptest::num::u64::ANY), streams in 0_u64..300, copy: bool, run: u64,
        time in proptest::option::of(proptest::num::u64::ANY), which in 0_usize..5,
    ) {
        let sizes = Sizes { request: message.unwrap_or(1), response: run, depth: 1 };
        let kinds = [TestKind::Send, TestKind::Recv, TestKind::Both, TestKind::Connect, TestKind::Ping(sizes)];
        let time = time.map(Duration::from_micros);
        let asked = Request { kind: kinds[which], rate, bytes, message, streams, copy, run, time, ..request() };
        if let Ok(request) = read(&asked) {
            let _ = (request.memory(true), request.memory(false), request.flaw());
            proptest::prop_assert!(request.rate.is_none_or(|bits| bits / 8 >= request.streams));
            proptest::prop_assert_eq!(request, asked);
        }
    }
}
