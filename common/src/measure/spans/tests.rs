//! The arithmetic with invented instants: no clock, no thread. Times are milliseconds after an invented beginning.

use std::time::{Duration, Instant};

use super::*;

/// A tool's counters as somebody sets them.
struct Counted {
    counts: Counts,
    errors: Option<u64>,
    recorded: Vec<Latencies>,
}

impl Source for Counted {
    type State = u64;

    fn mark(&mut self, at: Instant) -> Mark<u64> {
        let snapshot = Snapshot::take(at, self.counts, Duration::from_micros(self.counts.ops));
        Mark { snapshot, lanes: vec![self.counts], errors: self.errors, state: self.counts.ops }
    }

    fn latencies(&mut self) -> Vec<Latencies> {
        std::mem::replace(&mut self.recorded, vec![Latencies::default()])
    }
}

/// A measurement that is told what happens when, and keeps what becomes of it.
struct Story {
    epoch: Epoch,
    beginning: Instant,
    first: Option<Instant>,
    last: Option<Instant>,
    lead: Duration,
    is_over: bool,
    counted: Counted,
    spans: Spans<u64>,
    cuts: Vec<Cut<u64>>,
}

impl Story {
    fn new(timing: Timing) -> Self {
        let epoch = Epoch::now();
        let beginning = epoch.on_grid(Instant::now());
        let mut counted = Counted { counts: Counts::default(), errors: Some(0), recorded: vec![Latencies::default()] };
        let before = counted.mark(beginning);
        let spans = Spans::new(timing, epoch, before);
        Self {
            epoch,
            beginning,
            first: None,
            last: None,
            lead: Duration::ZERO,
            is_over: false,
            counted,
            spans,
            cuts: Vec::new(),
        }
    }

    fn at(&self, ms: u64) -> Instant {
        self.beginning + Duration::from_millis(ms)
    }

    /// An operation of 10 bytes and 1 ms ends.
    fn operation(&mut self, ms: u64) {
        let at = self.at(ms);
        self.first.get_or_insert(at);
        self.last = Some(at);
        self.counted.counts.bytes += 10;
        self.counted.counts.ops += 1;
        self.counted.recorded[0].record(Duration::from_millis(1));
    }

    /// Whoever watches wakes.
    fn wake(&mut self, ms: u64) -> &mut Self {
        let (now, first) = (self.at(ms), self.first);
        self.cuts.extend(self.spans.pass(now, first, self.is_over, &mut self.counted));
        self
    }

    fn close(mut self) -> Ended {
        let closed = self.spans.close(self.last, self.lead, &mut self.counted);
        let mut intervals = self.cuts;
        intervals.extend(closed.interval);
        Ended { beginning: self.beginning, intervals, total: closed.total, has_begun: closed.has_begun }
    }
}

struct Ended {
    beginning: Instant,
    intervals: Vec<Cut<u64>>,
    total: Cut<u64>,
    has_begun: bool,
}

/// Beginning and end in milliseconds, and operations.
type Told = (u128, u128, u64);

impl Ended {
    /// Beginning, end and operations of each interval, and of the total.
    fn lines(&self) -> (Vec<Told>, Told) {
        let line = |cut: &Cut<u64>| {
            let ms = |mark: &Mark<u64>| mark.snapshot.at.duration_since(self.beginning).as_millis();
            (ms(&cut.from), ms(&cut.to), cut.sample().counts.ops)
        };
        (self.intervals.iter().map(line).collect(), line(&self.total))
    }

    fn adds_up(&self) {
        let samples: Vec<_> = self.intervals.iter().map(Cut::sample).collect();
        let total = self.total.sample();
        assert!(!samples.is_empty());
        assert_eq!(samples.iter().map(|sample| sample.counts).sum::<Counts>(), total.counts);
        assert_eq!(samples.iter().map(|sample| sample.length).sum::<Duration>(), total.length);
        let errors: Option<u64> = self.intervals.iter().map(Cut::errors).sum();
        assert_eq!(errors, self.total.errors());
        let latencies: u64 = self.intervals.iter().map(|cut| cut.latency().count()).sum();
        assert_eq!(latencies, self.total.latency().count());
    }
}

fn timing(warmup: u64, time: Option<u64>, interval: Option<u64>) -> Timing {
    let ms = Duration::from_millis;
    Timing { warmup: ms(warmup), time: time.map(ms), interval: interval.map(ms) }
}

#[test]
fn without_an_operation_nothing_begins() {
    let mut story = Story::new(timing(0, Some(1000), Some(100)));
    assert_eq!((story.spans.due(None), story.spans.end(None)), (None, None));
    story.wake(500);
    let ended = story.close();
    assert!(!ended.has_begun && ended.intervals.is_empty());
    assert_eq!(ended.lines().1, (0, 0, 0));
}

#[test]
fn counting_begins_with_the_first_operation_however_late_it_is_noticed() {
    let mut story = Story::new(timing(0, None, None));
    story.operation(20);
    story.operation(30);
    story.wake(90);
    story.operation(120);
    assert_eq!(story.close().lines().1, (20, 120, 3));
}

#[test]
fn a_run_that_is_over_before_anybody_looked_is_whole() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(1);
    story.operation(2);
    story.wake(3);
    let ended = story.close();
    assert!(ended.has_begun);
    assert_eq!(ended.lines(), (vec![(1, 2, 2)], (1, 2, 2)));
}

#[test]
fn who_begins_at_the_end_ends_no_interval() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.wake(0);
    story.operation(120);
    let (now, first) = (story.at(150), story.first);
    story.spans.begin(now, first, &mut story.counted);
    let ended = story.close();
    assert_eq!(ended.lines(), (vec![(0, 120, 2)], (0, 120, 2)));
    ended.adds_up();
}

#[test]
fn intervals_end_by_the_clock_and_not_by_the_data() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.wake(0);
    assert_eq!(story.spans.due(story.first), Some(story.at(100)));
    story.operation(50);
    story.wake(100);
    story.operation(120);
    story.wake(200);
    story.operation(230);
    let ended = story.close();
    assert_eq!(ended.lines(), (vec![(0, 100, 2), (100, 200, 1), (200, 230, 1)], (0, 230, 4)));
    ended.adds_up();
}

#[test]
fn a_stall_gives_lines_with_nothing_in_them() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.wake(0).wake(100).wake(200).wake(300);
    story.operation(350);
    let ended = story.close();
    assert_eq!(ended.lines().0, [(0, 100, 1), (100, 200, 0), (200, 300, 0), (300, 350, 1)]);
    ended.adds_up();
}

#[test]
fn who_wakes_late_makes_one_long_interval_and_no_burst() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.wake(0);
    story.operation(340);
    story.wake(350);
    assert_eq!(story.spans.due(story.first), Some(story.at(400)));
    story.operation(420);
    let ended = story.close();
    assert_eq!(ended.lines().0, [(0, 350, 2), (350, 420, 1)]);
    ended.adds_up();
}

#[test]
fn an_operation_on_the_last_tick_is_not_lost() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.wake(0).wake(100);
    // It ended before the tick, and was counted after it.
    story.last = Some(story.at(100));
    story.counted.counts.ops += 1;
    let ended = story.close();
    assert_eq!(ended.lines(), (vec![(0, 100, 1), (100, 100, 1)], (0, 100, 2)));
    ended.adds_up();
}

#[test]
fn an_error_after_the_last_tick_is_not_lost() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.wake(0).wake(100);
    story.last = Some(story.at(60));
    story.counted.errors = Some(1);
    let ended = story.close();
    assert_eq!(ended.intervals.last().unwrap().errors(), Some(1));
    ended.adds_up();
}

#[test]
fn a_stall_at_the_end_is_in_the_total_as_it_was_in_the_intervals() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.wake(0);
    story.operation(90);
    story.wake(100).wake(200);
    let ended = story.close();
    assert_eq!(ended.lines(), (vec![(0, 100, 2), (100, 200, 0)], (0, 200, 2)));
    ended.adds_up();
}

#[test]
fn without_intervals_the_end_is_the_last_operation() {
    let mut story = Story::new(timing(0, Some(1000), None));
    story.operation(0);
    story.wake(0);
    story.operation(90);
    story.wake(500);
    assert_eq!(story.close().lines().1, (0, 90, 2));
}

#[test]
fn the_tail_after_the_planned_end_belongs_to_the_last_interval() {
    let mut story = Story::new(timing(0, Some(200), Some(100)));
    story.operation(0);
    story.wake(0).wake(100);
    assert_eq!(story.spans.end(story.first), Some(story.at(200)));
    assert_eq!(story.spans.due(story.first), Some(story.at(250)), "half an interval of grace");
    story.operation(210);
    story.wake(211);
    let ended = story.close();
    assert_eq!(ended.lines(), (vec![(0, 100, 1), (100, 210, 1)], (0, 210, 2)));
}

#[test]
fn a_tail_that_goes_on_has_intervals_like_any_other_but_no_empty_ones() {
    let mut story = Story::new(timing(0, Some(200), Some(100)));
    story.operation(0);
    story.wake(0).wake(100);
    story.operation(240);
    story.wake(250).wake(300);
    story.operation(320);
    story.wake(400).wake(500).wake(600);
    let ended = story.close();
    assert_eq!(ended.lines(), (vec![(0, 100, 1), (100, 250, 1), (250, 400, 1)], (0, 400, 3)));
    ended.adds_up();
}

#[test]
fn the_wait_for_the_end_is_no_stall() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.wake(0).wake(100);
    story.operation(150);
    story.is_over = true;
    story.wake(200).wake(300);
    // A straggler, after which all is over again.
    story.operation(320);
    story.wake(400);
    let ended = story.close();
    assert_eq!(ended.lines(), (vec![(0, 100, 1), (100, 320, 2)], (0, 320, 3)));
    ended.adds_up();
}

#[test]
fn the_warm_up_is_not_counted() {
    let mut story = Story::new(timing(100, Some(200), Some(100)));
    story.operation(0);
    story.wake(50);
    assert_eq!(story.spans.due(story.first), Some(story.at(100)));
    assert_eq!(story.spans.end(story.first), Some(story.at(300)));
    story.operation(90);
    story.wake(110);
    assert_eq!(story.spans.end(story.first), Some(story.at(310)), "the whole time is counted");
    story.operation(150);
    story.wake(210);
    story.operation(250);
    let ended = story.close();
    assert_eq!(ended.lines(), (vec![(110, 210, 1), (210, 250, 1)], (110, 250, 2)));
    assert_eq!(ended.total.latency().count(), 2, "those of the warm-up are gone");
    assert_eq!(ended.total.to.state - ended.total.from.state, 2);
    ended.adds_up();
}

#[test]
fn a_warm_up_longer_than_the_run_leaves_nothing() {
    let mut story = Story::new(timing(1000, None, Some(100)));
    story.operation(0);
    story.operation(200);
    story.wake(200);
    let ended = story.close();
    assert!(!ended.has_begun && ended.intervals.is_empty());
    assert_eq!(ended.lines().1, (200, 200, 0));
    assert_eq!(ended.total.errors(), Some(0));
}

#[test]
fn a_stop_in_the_first_span_closes_it() {
    let mut story = Story::new(timing(0, Some(1000), Some(100)));
    story.operation(0);
    story.wake(0);
    story.operation(30);
    let ended = story.close();
    assert_eq!(ended.lines(), (vec![(0, 30, 2)], (0, 30, 2)));
    ended.adds_up();
}

#[test]
fn a_stop_right_after_the_warm_up_has_no_negative_length() {
    let mut story = Story::new(timing(100, None, Some(100)));
    story.operation(0);
    story.operation(95);
    story.wake(100);
    let ended = story.close();
    assert!(ended.has_begun);
    assert_eq!(ended.lines(), (vec![], (100, 100, 0)));
    assert_eq!(ended.total.sample().bytes_per_s(), None);
}

#[test]
fn lengths_are_whole_microseconds_so_that_printed_ones_add_up() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.first = Some(story.at(0) + Duration::from_nanos(1_499));
    story.wake(1);
    for tick in 1..=5 {
        let now = story.at(100 * tick) + Duration::from_nanos(777 * tick + 1_500);
        let first = story.first;
        story.cuts.extend(story.spans.pass(now, first, false, &mut story.counted));
    }
    story.last = Some(story.at(560) + Duration::from_nanos(333));
    let ended = story.close();
    assert_eq!(ended.intervals.len(), 6);
    assert!(ended.intervals.iter().all(|cut| cut.sample().length.subsec_nanos() % 1_000 == 0));
    ended.adds_up();
}

#[test]
fn the_cpu_time_of_a_span_is_between_its_two_ends() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.operation(0);
    story.wake(0);
    story.operation(50);
    story.wake(100);
    story.operation(150);
    let ended = story.close();
    let cpu = |cut: &Cut<u64>| cut.to.snapshot.cpu.saturating_sub(cut.from.snapshot.cpu);
    assert_eq!(ended.intervals.iter().map(cpu).sum::<Duration>(), cpu(&ended.total));
    assert_eq!(cpu(&ended.total), Duration::from_micros(3), "that of the first operation too");
}

#[test]
fn a_lane_has_its_own_counts_over_the_same_time() {
    let mut story = Story::new(timing(0, None, None));
    story.operation(0);
    story.wake(0);
    story.operation(80);
    let total = story.close().total;
    assert_eq!(total.sample_of(0..1).counts, Counts { bytes: 20, ops: 2 });
    assert_eq!(total.sample_of(0..1).length, total.sample().length);
    assert_eq!(total.sample_of(7..8).counts, Counts::default());
}

#[test]
fn what_nobody_counts_stays_unknown() {
    let mut story = Story::new(timing(0, None, Some(100)));
    story.counted.errors = None;
    story.operation(0);
    story.wake(0);
    story.operation(80);
    assert_eq!(story.close().total.errors(), None);
}

#[test]
fn time_of_day_and_span_stand_in_the_line() {
    let mut story = Story::new(timing(0, None, None));
    story.operation(10);
    story.wake(10);
    story.operation(510);
    let (epoch, first) = (story.epoch, story.at(10));
    let total = story.close().total;
    let of = Identity { schema: "x/1", host: "h".into(), label: "l".into(), test: "t", target: "p".into(), run: 1 };
    let line = total.line(&total.sample(), &of, total.errors(), Flags::default());
    assert_eq!((line.time.0, line.span), (epoch.wall_at(first), Span::Total));
    assert_eq!((line.bytes, line.ops, line.errors), (Some(20), Some(2), Some(0)));
    assert_eq!(line.seconds.map(crate::schema::Fixed::value), Some(0.5));
}

#[test]
fn what_led_up_to_the_first_operation_counts_where_nobody_was_told_otherwise() {
    let interval = Some(Duration::from_millis(100));
    for (timing, seconds) in [
        (Timing::default(), Duration::from_millis(20)),
        (Timing { interval, ..Timing::default() }, Duration::from_millis(10)),
    ] {
        let mut story = Story::new(timing);
        story.operation(30);
        story.operation(40);
        story.wake(41);
        story.lead = Duration::from_millis(10);
        assert_eq!(story.close().total.sample().length, seconds);
    }
}
