//! Look a skill over: everything that is wrong with it, each with its line.

use std::path::Path;

use crate::error::Result;
use crate::layout::SKILL_FILE;
use crate::skill::{Fault, Problem, add, file, frontmatter};

/// Everything that is wrong with the skill in a folder, or with a SKILL.md by itself.
///
/// The folder of a lone SKILL.md, and files beside it, do not count.
pub fn check_path(path: &Path) -> Result<Vec<Problem>> {
    let found = path.metadata().map_err(|source| crate::Error::read(path, source))?;
    if !found.is_dir() {
        return Ok(check_file(path, None));
    }
    let whole = path.canonicalize().map_err(|source| crate::Error::read(path, source))?;
    let folder = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut problems = check_file(&whole.join(SKILL_FILE), Some(&folder));
    let refused = add::plan(&whole).err().map(|(file, why)| {
        let what = file.strip_prefix(&whole).unwrap_or(&file).display().to_string();
        Fault::Support { what, why }.at(1)
    });
    problems.extend(refused);
    Ok(problems)
}

fn check_file(path: &Path, folder: Option<&str>) -> Vec<Problem> {
    match file::read(path) {
        Err(problem) => vec![problem],
        Ok(bytes) => frontmatter::read(&bytes, folder).problems,
    }
}
