//! hermes completions and hermes man

use crate::terminal::Terminal;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};

use crate::cli::Cli;
use crate::failure::Outcome;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to print the script for
    shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write one page per command to this folder
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(crate) fn completions(arguments: &Completions, app: &mut Terminal) -> anyhow::Result<Outcome> {
    // The generator panics when it cannot write, so it writes to memory first.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "hermes", &mut script);
    app.out.raw().write_all(&script)?;
    app.out.raw().flush()?;
    Ok(Outcome::Done)
}

pub(crate) fn man(arguments: &Man, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let mut command = Cli::command();
    command.build();
    match &arguments.output {
        None => {
            clap_mangen::Man::new(command).render(app.out.raw())?;
            app.out.raw().flush()?;
        }
        Some(folder) => {
            hermes_home::atomic::make_folder(folder)?;
            write_pages(&command, "hermes", folder)?;
        }
    }
    Ok(Outcome::Done)
}

fn write_pages(command: &clap::Command, name: &str, folder: &Path) -> anyhow::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.to_owned())).render(&mut page)?;
    hermes_home::atomic::write(&folder.join(format!("{name}.1")), &page)?;
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        write_pages(child, &format!("{name}-{}", child.get_name()), folder)?;
    }
    Ok(())
}
