//! A table on its way to a terminal, on a thread of its own: a terminal that is slow, or stopped, holds up nobody who
//! measures.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::grid::Grid;
use super::stdout::Stdout;
use super::table::{Size, Table};

/// How long an interval may wait for the terminal; what is older says nothing about now.
const PATIENCE: Duration = Duration::from_secs(1);
/// Rows that wait, at most: one sample of very many interfaces.
const QUEUE: usize = 10_000;
/// Where stdout is no terminal, and nobody says how wide it is.
const PAGE: Size = Size { width: 80, height: usize::MAX };

const SKIPPED: &str = "the terminal is slower than the intervals: rows are skipped here, and counted in the totals";

/// What is shown.
#[derive(Debug)]
enum What {
    Cells(csv::StringRecord),
    Closing(Grid),
}

/// Where rows go.
#[derive(Debug)]
pub struct Screen {
    /// `None` once it ends.
    rows: Option<SyncSender<Row>>,
    has_skipped: Arc<AtomicBool>,
    failure: Arc<Mutex<Option<io::Error>>>,
    /// The place of the column that tells intervals from totals.
    span: Option<usize>,
    painter: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Row {
    what: What,
    at: Instant,
    /// Who waits until it stands there; nobody for an interval.
    done: Option<SyncSender<()>>,
}

impl Screen {
    /// A table that is written to `out`.
    pub fn new(out: Stdout, table: Table) -> anyhow::Result<Self> {
        let (rows, queue) = mpsc::sync_channel(QUEUE);
        let has_skipped: Arc<AtomicBool> = Arc::default();
        let failure: Arc<Mutex<Option<io::Error>>> = Arc::default();
        let span = table.schema().columns().position(|column| column.name == "span");
        let painter = Painter {
            out,
            table,
            has_skipped: Arc::clone(&has_skipped),
            has_said_so: false,
            failure: Arc::clone(&failure),
        };
        let painter = thread::Builder::new()
            .name("table".into())
            .spawn(move || painter.run(&queue))
            .context("cannot start the thread that writes the table")?;
        Ok(Self { rows: Some(rows), has_skipped, failure, span, painter: Some(painter) })
    }

    /// Shows a line. An interval may be skipped; anything else is there when this returns.
    pub fn show(&self, cells: csv::StringRecord) -> io::Result<()> {
        let is_interval = self.span.is_some_and(|place| cells.get(place) == Some("interval"));
        self.pass(What::Cells(cells), is_interval)
    }

    /// Shows a table of its own after the others.
    pub fn close_with(&self, grid: Grid) -> io::Result<()> {
        self.pass(What::Closing(grid), false)
    }

    fn pass(&self, what: What, is_interval: bool) -> io::Result<()> {
        let Some(rows) = &self.rows else { return Ok(()) };
        let row = |done| Row { what, at: Instant::now(), done };
        if is_interval {
            if let Err(TrySendError::Full(_)) = rows.try_send(row(None)) {
                self.has_skipped.store(true, Ordering::Relaxed);
            }
        } else {
            let (done, stands) = mpsc::sync_channel(1);
            if rows.send(row(Some(done))).is_ok() {
                // An error is one of writing, and told below.
                let _ = stands.recv();
            }
        }
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.rows = None;
        if let Some(painter) = self.painter.take() {
            // It does not panic; if it did, there is nobody left to tell.
            let _ = painter.join();
        }
    }
}

/// Who writes.
struct Painter {
    out: Stdout,
    table: Table,
    has_skipped: Arc<AtomicBool>,
    has_said_so: bool,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Painter {
    fn run(mut self, queue: &Receiver<Row>) {
        for mut row in queue {
            // A picture shows the newest: what waits goes into it, too.
            loop {
                self.take(row);
                match queue.recv_timeout(self.table.settles_within()) {
                    Ok(next) => row = next,
                    Err(_) => break,
                }
            }
            let picture = self.table.repaint(self.size());
            self.write(&picture);
        }
        let rest = self.table.rest(self.size());
        self.write(&rest);
    }

    fn take(&mut self, row: Row) {
        if row.done.is_none() && row.at.elapsed() > PATIENCE {
            self.has_skipped.store(true, Ordering::Relaxed);
            return;
        }
        let size = self.size();
        let mut text = match row.what {
            What::Cells(cells) => self.table.add(cells, size),
            What::Closing(grid) => self.table.rest(size) + "\n" + &grid.closing(size.width),
        };
        if !self.has_said_so && self.has_skipped.load(Ordering::Relaxed) {
            self.has_said_so = true;
            text += &self.table.remark(SKIPPED, size);
        }
        self.write(&text);
        if let Some(done) = row.done {
            // Who does not wait any more needs no answer.
            let _ = done.send(());
        }
    }

    fn write(&mut self, text: &str) {
        if let Err(error) = self.out.write_all(text.as_bytes()) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }

    /// How large the terminal is now; elsewhere as wide as the environment says.
    fn size(&self) -> Size {
        if let Some((width, height)) = terminal_size::terminal_size_of(self.out.file()) {
            return Size { width: width.0.into(), height: height.0.into() };
        }
        let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        Size { width: width.unwrap_or(PAGE.width), ..PAGE }
    }
}
