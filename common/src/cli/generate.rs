//! `--generate`: man pages and shell completions, made from what the tool understands.

use std::io::Write;

use clap::{Command, ValueEnum};

/// `--generate`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Generate {
    Man,
    Bash,
    Zsh,
    Fish,
}

impl Generate {
    /// The page or script.
    pub(super) fn text(self, command: &mut Command) -> anyhow::Result<Vec<u8>> {
        let name = command.get_name().to_owned();
        let mut text = Vec::new();
        let shell = match self {
            Self::Man => return man_page(command),
            Self::Bash => clap_complete::Shell::Bash,
            Self::Zsh => clap_complete::Shell::Zsh,
            Self::Fish => clap_complete::Shell::Fish,
        };
        clap_complete::generate(shell, command, name, &mut text);
        Ok(text)
    }
}

/// One page for the tool and all its verbs.
fn man_page(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    page.extend(examples(command, ".SH").bytes());
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let mut section = Vec::new();
        let man = clap_mangen::Man::new(verb.clone());
        man.render_synopsis_section(&mut section)?;
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        let section = String::from_utf8(section)?.replace(".SH ", ".SS ");
        writeln!(page, ".SH \"{} {}\"\n{section}{}", command.get_name(), verb.get_name(), examples(verb, ".SS"))?;
    }
    Ok(page)
}

/// What `--help` begins with, as a section: lines as they are, where a backslash, or a dot or quote at a line's
/// beginning, would be roff's.
fn examples(command: &Command, heading: &str) -> String {
    let Some(text) = command.get_before_long_help() else { return String::new() };
    let text = text.to_string();
    let lines =
        text.lines().skip(1).map(|line| format!("\\&{}\n", line.trim_start().replace('\\', "\\e").replace('-', "\\-")));
    format!("{heading} EXAMPLES\n.nf\n{}.fi\n", lines.collect::<String>())
}
