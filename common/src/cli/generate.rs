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
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let mut section = Vec::new();
        let man = clap_mangen::Man::new(verb.clone());
        man.render_synopsis_section(&mut section)?;
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        let section = String::from_utf8(section)?.replace(".SH ", ".SS ");
        writeln!(page, ".SH \"{} {}\"\n{section}", command.get_name(), verb.get_name())?;
    }
    Ok(page)
}
