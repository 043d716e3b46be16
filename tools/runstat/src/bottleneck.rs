//! stub
pub fn run(_: &crate::args::BottleneckArgs) -> anyhow::Result<common::cli::Ending> {
    anyhow::bail!("no")
}
