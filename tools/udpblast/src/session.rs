//! What both ends of a test keep of their talk: lines, reports, signs of life. Every state of it has an end: nobody is
//! waited for longer than the idle timeout unless something new came.

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use common::stop::Stop;

use crate::engine::Inbox;
use crate::part::End;
use crate::pieces::{self, HEADER_ROOM, Heard};
use crate::protocol::{Report, Sent, Word};
use crate::told::{Beginning, Departure, State};
use crate::udp;

/// How long an answer is waited for before the question is asked again.
pub const RETRY: Duration = Duration::from_millis(100);

/// How often an end says that it is there, at the least.
const BEAT: Duration = Duration::from_secs(1);

/// The talk so far.
#[derive(Debug)]
pub struct Talk {
    /// One for each stream; words go over the first.
    sockets: Vec<UdpSocket>,
    key: u64,
    side: End,
    beat: Duration,
    /// What a listener answered to the start, should it come again.
    answer: Option<String>,
    state: Mutex<State>,
}

impl Talk {
    /// A talk over connected sockets; `key` is the test's secret number, and a listener repeats `answer` to whoever starts
    /// again.
    pub fn new(
        sockets: &[UdpSocket],
        key: u64,
        side: End,
        idle_timeout: Duration,
        answer: Option<String>,
    ) -> io::Result<Self> {
        let now = Some(Instant::now());
        Ok(Self {
            sockets: sockets.iter().map(UdpSocket::try_clone).collect::<Result<_, _>>()?,
            key,
            side,
            // Four of them may be lost before anybody takes that for silence.
            beat: BEAT.min(idle_timeout / 5),
            answer,
            state: Mutex::new(State { heard_at: now, news_at: now, spoke_at: now, ..State::default() }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the streams after the first.
    pub fn add_streams(&mut self, others: &[UdpSocket]) -> io::Result<()> {
        for socket in others {
            self.sockets.push(socket.try_clone()?);
        }
        Ok(())
    }

    /// Says once more what was agreed on.
    pub fn answer_again(&self) {
        if let Some(answer) = &self.answer {
            // One that is lost is asked for again.
            let _ = self.sockets[0].send(answer.as_bytes());
        }
    }

    /// How long the other end has been silent.
    pub fn silence(&self) -> Duration {
        self.state().heard_at.map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// For how long nothing new has come.
    pub fn stagnation(&self) -> Duration {
        self.state().news_at.map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// The client has begun.
    pub fn has_begun(&self) -> bool {
        matches!(self.state().beginning, Beginning::Begun { .. })
    }

    /// Its label.
    pub fn label(&self) -> Option<String> {
        match &self.state().beginning {
            Beginning::Begun { label } => label.clone(),
            _ => None,
        }
    }

    /// The listener said that it goes, or goes: what it said may be lost, and its data is no word.
    pub fn goes(&self) -> bool {
        matches!(self.state().beginning, Beginning::Goes) || self.sockets.iter().any(udp::has_data)
    }

    /// The sender's final counts, of each stream.
    pub fn all_sent(&self) -> Option<Vec<Sent>> {
        self.state().end.as_ref().map(|end| end.streams.clone())
    }

    /// Whether the sender's counts have all that was lost on its own host.
    pub fn is_sure(&self) -> bool {
        self.state().end.as_ref().is_some_and(|end| end.is_sure)
    }

    /// The sender did not run to its planned end.
    pub fn was_cut(&self) -> bool {
        self.state().end.as_ref().is_some_and(|end| !end.is_whole)
    }

    /// The receiver's report.
    pub fn report(&self) -> Option<Vec<Report>> {
        self.state().report.clone()
    }

    /// Why the other end failed.
    pub fn failed(&self) -> Option<String> {
        self.state().failed.clone()
    }

    /// The other end wants to end before the time.
    pub fn has_left(&self) -> bool {
        self.state().departure == Some(Departure::BeforeTime)
    }

    /// The client has all it wants.
    pub fn is_over(&self) -> bool {
        self.state().departure == Some(Departure::HasAll)
    }

    /// Pieces of words of a sender that have not come: of those while it sent data, and of those after.
    pub fn missing_pieces(&self) -> (u64, u64) {
        let state = self.state();
        let before = state.end.as_ref().map_or(0, |end| end.words_before);
        (state.pieces.missing_of(before), state.pieces.missing_after(before))
    }

    /// Pieces of words that this end has said.
    pub fn said_pieces(&self) -> u64 {
        self.state().said
    }

    /// Pieces that this host's own queue refused.
    pub fn refused_pieces(&self) -> u64 {
        self.state().refused
    }

    /// The next line in order, if it is there.
    pub fn next_line(&self) -> Option<String> {
        let mut state = self.state();
        let next = state.taken;
        let line = state.lines.remove(&next)?;
        state.taken += 1;
        Some(line)
    }

    /// The line to ask for: the first one that is missing; `None` when all have been taken.
    pub fn missing(&self) -> Option<u64> {
        let state = self.state();
        (state.of != Some(state.taken)).then_some(state.taken)
    }

    /// A later line is there, so that the next one in order was lost.
    pub fn has_gap(&self) -> bool {
        let state = self.state();
        state.lines.keys().next().is_some_and(|first| *first > state.taken)
    }

    /// How many lines the client has, from the first on.
    pub fn client_has(&self) -> u64 {
        self.state().client_has
    }

    /// Whether the sender said since the last call that it is done.
    pub fn was_asked_for_report(&self) -> bool {
        std::mem::take(&mut self.state().wants_report)
    }

    /// The lines that the client asked for since the last call.
    pub fn asked_for(&self) -> Vec<u64> {
        std::mem::take(&mut self.state().asked_for)
    }

    /// Says something; what is lost is said again. `Err` when the other end's port is closed: the ICMP message that an
    /// earlier datagram caused is told to whoever uses the socket next, be it for sending.
    pub fn say(&self, word: &Word) -> io::Result<()> {
        self.say_over(&self.sockets[..1], word)
    }

    /// Says it over every stream: the receivers learn from it what their sockets dropped at the very end.
    pub fn say_everywhere(&self, word: &Word) -> io::Result<()> {
        self.say_over(&self.sockets, word)
    }

    /// As the beat of an end that sends data, which is beat enough: says which lines it has, if they are more.
    pub fn beat_beside_data(&self) {
        let state = self.state();
        if state.taken > state.told_taken && state.spoke_at.is_none_or(|at| at.elapsed() >= self.beat) {
            self.tell_taken(state);
        }
    }

    fn tell_taken(&self, mut state: MutexGuard<'_, State>) {
        let taken = state.taken;
        state.told_taken = taken;
        drop(state);
        // One that is lost is followed by the next.
        let _ = self.say(&Word::Alive { taken });
    }

    fn say_over(&self, sockets: &[UdpSocket], word: &Word) -> io::Result<()> {
        let text = word.text();
        for socket in sockets {
            // The path may have become narrower, or have turned out to be.
            let piece = usize::try_from(udp::fits(socket)).unwrap_or(pieces::PIECE).saturating_sub(HEADER_ROOM);
            let pieces = {
                let mut state = self.state();
                state.spoke_at = Some(Instant::now());
                pieces::cut(&text, self.key, piece, &mut state.said)
            };
            for piece in pieces {
                match socket.send(&piece) {
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Err(error),
                    Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => self.state().refused += 1,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The same, woken at once by any of `others` and by `stop`.
    pub fn wait_and_hear(&self, stop: &Stop, others: Vec<BorrowedFd<'_>>) -> io::Result<()> {
        let own = self.sockets.iter().map(AsFd::as_fd);
        let sockets: Vec<_> = own.chain(others).collect();
        let ready = stop.wait(&sockets, Some(Instant::now() + udp::GLANCE))?;
        // A client's data is for its workers.
        let is_word = self.side == End::Listener || !udp::has_data(&self.sockets[0]);
        if is_word && ready.first() == Some(&true) { self.hear() } else { Ok(()) }
    }

    /// Takes one buffer from the first socket, if there is one in time. `Err` when the other end's port is closed.
    pub fn hear(&self) -> io::Result<()> {
        let mut buffer = vec![0; udp::LARGEST];
        // Strangers are none of this talk's business; a receiver counts them.
        let heard = udp::receive_each(&self.sockets[0], &mut buffer, |datagram| {
            self.take(datagram);
        });
        match heard {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Err(error),
            _ => Ok(()),
        }
    }
}

impl Inbox for Talk {
    fn take(&self, datagram: &[u8]) -> bool {
        if self.answer.is_some() && datagram.starts_with(b"udpblast/2 start ") {
            self.answer_again();
            return true;
        }
        let mut state = self.state();
        let word = match state.pieces.take(datagram, self.key) {
            Heard::Stranger => return false,
            Heard::Piece => None,
            Heard::Word(text) => Word::parse(&text).ok(),
        };
        state.heard_at = Some(Instant::now());
        let answer = word.and_then(|word| state.take(word, self.side));
        drop(state);
        if let Some(answer) = answer {
            // As above.
            let _ = self.say(&answer);
        }
        true
    }

    fn has_ended(&self) -> bool {
        let state = self.state();
        state.end.is_some() || state.departure.is_some() || state.failed.is_some()
    }

    fn sent(&self, stream: usize) -> Option<Sent> {
        self.state().end.as_ref()?.streams.get(stream).copied()
    }

    fn beat(&self) {
        let state = self.state();
        if state.spoke_at.is_none_or(|at| at.elapsed() >= self.beat) {
            self.tell_taken(state);
        }
    }
}
