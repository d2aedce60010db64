//! What differs between operating systems: file modes, free space, signals, zones.

use std::path::Path;

use hermes_home::env::Env;
use jiff::tz::TimeZone;

/// The exit code of a program that was interrupted, as shells count it.
pub const INTERRUPTED: i32 = 130;

/// The permission bits of a file, where the system has them.
pub fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::symlink_metadata(path).ok().map(|found| found.permissions().mode() & 0o7777)
}

/// Whether a path is a folder, and no link to one, that only this user may touch.
pub fn is_private_folder(path: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let Ok(found) = std::fs::symlink_metadata(path) else { return false };
    let is_ours = found.uid() == user_number();
    found.is_dir() && is_ours && found.permissions().mode() & 0o077 == 0
}

/// The number of the user this process works for.
pub fn user_number() -> u32 {
    nix::unistd::geteuid().as_raw()
}

/// Sets the permission bits of a file.
pub fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

/// A write beyond the largest file that this process may make fails, instead of ending it.
pub fn outlive_file_limits() {
    // Caught and not ignored: programs that are started from here get the usual behaviour back.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// Sets a flag whenever somebody presses Ctrl-C.
pub fn on_interrupt(flag: &std::sync::Arc<std::sync::atomic::AtomicBool>) -> std::io::Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGINT, std::sync::Arc::clone(flag))?;
    Ok(())
}

/// The same where nobody types: a second one, while the flag is still set, ends the program.
pub fn on_interrupt_once(
    flag: &std::sync::Arc<std::sync::atomic::AtomicBool>,
) -> std::io::Result<()> {
    let (signal, code) = (signal_hook::consts::SIGINT, INTERRUPTED);
    signal_hook::flag::register_conditional_shutdown(signal, code, std::sync::Arc::clone(flag))?;
    on_interrupt(flag)
}

/// Opens a page in the browser of the desktop, where there is one; nobody waits for it.
pub fn open_in_browser(page: &Path) -> bool {
    use std::process::{Command, Stdio};
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It outlives the terminal that it was opened from.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().is_ok()
}

/// Forgets what was typed and not read yet.
pub fn drop_typed() {
    use nix::sys::termios::{FlushArg, tcflush};
    let _ = tcflush(std::io::stdin(), FlushArg::TCIFLUSH);
}

/// While it is there, what is typed is not shown by the terminal itself; it waits for the next line.
pub struct Unseen {
    before: Option<nix::sys::termios::Termios>,
}

impl Unseen {
    /// From now on nothing that is typed is shown.
    pub fn begin() -> Unseen {
        use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(mut quiet) = before.clone() {
            quiet.local_flags.remove(LocalFlags::ECHO);
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &quiet);
        }
        Unseen { before }
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        use nix::sys::termios::{SetArg, tcsetattr};
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

/// Bytes that this user can still write below `path`.
pub fn free_space(path: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(path).ok()?;
    Some(found.blocks_available() as u64 * found.fragment_size() as u64)
}

/// What keeps anything from being written below `path`, besides a lack of space.
pub fn refuses_files(path: &Path) -> Option<&'static str> {
    let found = nix::sys::statvfs::statvfs(path).ok()?;
    if found.flags().contains(nix::sys::statvfs::FsFlags::ST_RDONLY) {
        return Some("it is mounted read-only");
    }
    // File systems that make inodes as they are needed say that they have none at all.
    (found.files() > 0 && found.files_available() == 0).then_some("it has no inodes left")
}

/// The name of this host.
pub fn host() -> String {
    let name = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "this host".to_owned())
}

/// The seed of a key that signs.
pub fn random_seed() -> std::io::Result<[u8; 32]> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(std::io::Error::other)?;
    Ok(seed)
}

/// A number by chance.
pub fn random_number() -> std::io::Result<u32> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(u32::from_le_bytes(bytes))
}

/// The zone of this machine.
///
/// Read from its own file where there is one: finding the zone by name walks the whole zone folder, which
/// costs a millisecond in every command.
pub fn system_zone(env: &Env) -> TimeZone {
    let own = env.get("TZ").is_none().then(|| std::fs::read("/etc/localtime").ok()).flatten();
    own.and_then(|bytes| TimeZone::tzif("Local", &bytes).ok()).unwrap_or_else(TimeZone::system)
}

/// Whether the file can be run.
pub fn is_program(path: &Path) -> bool {
    path.is_file() && mode(&path.canonicalize().unwrap_or_default()).unwrap_or(0) & 0o111 != 0
}

/// The name of the network or shared file system that `path` is on, if it is on one.
#[cfg(target_os = "linux")]
pub fn network_file_system(path: &Path) -> Option<&'static str> {
    // Magic numbers of linux/magic.h.
    const KINDS: &[(i64, &str)] = &[
        (0x6969, "NFS"),
        (0x517b, "SMB"),
        (0xff53_4d42, "CIFS"),
        (0xfe53_4d42, "SMB2"),
        (0x0102_1997, "9P"),
        (0x6573_5546, "FUSE"),
        (0x00c3_6400, "Ceph"),
    ];
    let found = nix::sys::statfs::statfs(path).ok()?.filesystem_type().0 as i64;
    KINDS.iter().find(|(magic, _)| *magic == found).map(|(_, name)| *name)
}

/// The name of the network or shared file system that `path` is on; not known on this system.
#[cfg(not(target_os = "linux"))]
pub fn network_file_system(_path: &Path) -> Option<&'static str> {
    None
}
