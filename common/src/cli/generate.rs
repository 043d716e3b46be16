//! `--generate`: man pages and shell completions, made from what the tool understands.

use std::io::Write;

use clap::{Command, ValueEnum};

use crate::schema::line;

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
fn man_page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut command = with_all_texts(command.clone());
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    page.extend(examples(&command, ".SH").bytes());
    page.extend(flags().bytes());
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

/// A page leaves out texts that `-h` leaves out, unless they are those of `--help`, too.
fn with_all_texts(command: Command) -> Command {
    let command = command.mut_args(|arg| match (arg.get_long_help(), arg.get_help().cloned()) {
        (None, Some(help)) => arg.long_help(help),
        _ => arg,
    });
    command.mut_subcommands(with_all_texts)
}

/// What the warnings in the lines mean.
fn flags() -> String {
    let mut text =
        ".SH FLAGS\nWords in the last shared column of a line, if there is something to know about it.\n".to_owned();
    for (word, meaning) in line::glossary() {
        text.extend([".TP\n", word, "\n", &meaning.replace('-', "\\-"), "\n"]);
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_texts_that_brief_help_leaves_out_and_the_flags() {
        let rare = clap::Arg::new("rare").long("rare").hide_short_help(true).help("Seldom needed");
        let verb = Command::new("verb").arg(rare.clone());
        let page = man_page(&Command::new("probe").arg(rare).subcommand(verb)).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert_eq!(page.matches("Seldom needed").count(), 2, "{page}");
        for (word, meaning) in line::glossary() {
            assert!(page.contains(&format!("{word}\n{}", meaning.replace('-', "\\-"))), "{word}: {page}");
        }
    }
}
