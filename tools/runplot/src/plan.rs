//! What to draw and where to, valid by construction, before any line is read.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use common::cli::Usage;
use common::lines::{Condition, or_stdin};

use crate::args::{Args, ChartKind};
use crate::chart::unit::Unit;

/// What `--live` shows when nobody says.
const LIVE_WINDOW: Duration = Duration::from_mins(5);

/// Least pixels of a picture: below that texts have no room.
const LEAST_PICTURE: (u32, u32) = (320, 200);

/// The whole request.
#[derive(Debug, Clone)]
pub struct Plan {
    pub files: Vec<PathBuf>,
    pub picture: Option<Picture>,
    /// Whether there is a chart in the terminal, and from when on.
    pub chart: Option<Drawn>,
    pub tees: bool,
    pub last: Option<Duration>,
    pub conditions: Vec<Condition>,
    pub request: Request,
    /// Characters of the chart, if the user says.
    pub characters: Option<(u32, u32)>,
    pub is_ascii: bool,
}

/// A file to save.
#[derive(Debug, Clone)]
pub struct Picture {
    pub path: PathBuf,
    pub format: Format,
    /// Pixels; without them what suits the chart.
    pub size: Option<(u32, u32)>,
}

/// What a picture's file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
}

/// When the chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// When lines arrive, over itself, and at the end.
    Live,
    AtEnd,
}

/// What the chart shows, wherever it is drawn.
#[derive(Debug, Clone)]
pub struct Request {
    pub kind: Option<ChartKind>,
    pub x: Option<String>,
    pub y: Vec<String>,
    pub by: Vec<String>,
    pub keeps_flagged: bool,
    pub title: Option<String>,
    pub unit: Option<Unit>,
    pub is_log: bool,
    pub is_zoomed: bool,
}

impl Plan {
    /// Checks what belongs together.
    pub fn new(args: Args) -> Result<Self, Usage> {
        for name in args.y.iter().chain(&args.by).chain(&args.x) {
            if name.trim().is_empty() {
                return Err(Usage(format!("'{name}' is no column (--x, --y, --by)")));
            }
        }
        let is_time = args.x.as_ref().is_some_and(|x| x == "time" || x == "elapsed");
        if let (Some(kind), Some(x)) = (args.kind, &args.x)
            && (kind == ChartKind::Percentiles || (kind == ChartKind::Time) != is_time)
        {
            return Err(Usage(format!("--x {x} makes no chart of --kind {}", word(kind))));
        }
        let picture = args.output.map(|path| Picture::new(path, args.size)).transpose()?;
        let to_terminal = if args.tee { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
        if args.live && args.tee && io::stdout().is_terminal() {
            return Err(Usage("--tee prints to the terminal that --live draws on: send stdout elsewhere".into()));
        }
        let chart = match (&picture, args.live) {
            (_, true) if to_terminal => Some(Drawn::Live),
            (None, _) => Some(Drawn::AtEnd),
            (Some(_), _) => None,
        };
        Ok(Self {
            files: or_stdin(args.files)?,
            characters: args.size.filter(|_| picture.is_none()),
            picture,
            chart,
            tees: args.tee,
            last: args.last.or(args.live.then_some(LIVE_WINDOW)),
            conditions: args.conditions,
            request: Request {
                kind: args.kind,
                x: args.x,
                y: args.y,
                by: args.by,
                keeps_flagged: args.keep_flagged,
                title: args.title,
                unit: args.unit,
                is_log: args.log,
                is_zoomed: args.zoom,
            },
            is_ascii: args.ascii,
        })
    }
}

impl Picture {
    fn new(path: PathBuf, size: Option<(u32, u32)>) -> Result<Self, Usage> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let format = match extension.as_deref() {
            Some("svg") => Format::Svg,
            Some("png") => Format::Png,
            _ => return Err(Usage(format!("--output {}: the name must end in .svg or .png", path.display()))),
        };
        let (least_width, least_height) = LEAST_PICTURE;
        if let Some((width, height)) = size.filter(|(width, height)| *width < least_width || *height < least_height) {
            return Err(Usage(format!(
                "--size {width}x{height}: a picture needs {least_width}x{least_height} at least"
            )));
        }
        Ok(Self { path, format, size })
    }
}

fn word(kind: ChartKind) -> &'static str {
    match kind {
        ChartKind::Time => "time",
        ChartKind::Runs => "runs",
        ChartKind::Percentiles => "percentiles",
        ChartKind::Sweep => "sweep",
    }
}
