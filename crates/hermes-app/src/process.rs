//! A process in the background: signals, sessions, other processes.

use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{self, Signal};
use nix::unistd::{self, Pid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::{flag, low_level};

/// Which file it is, whatever its name: a file that was replaced has another.
pub type Identity = (u64, u64);

/// The requests that come from outside, and the sleep that they end.
pub struct Signals {
    stop: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
    nudge: Arc<AtomicBool>,
    ear: UnixStream,
    mouth: UnixStream,
}

/// Ends the sleep from another thread.
pub struct Waker(UnixStream);

/// Hears that the daemon is to stop, whatever its own thread is at.
pub struct StopBell(UnixStream);

impl Signals {
    /// From now on SIGTERM and SIGINT ask to stop, SIGHUP to read the settings again, SIGUSR1 to
    /// look again at once.
    pub fn listen() -> io::Result<Signals> {
        let (ear, mouth) = UnixStream::pair()?;
        let stop = Arc::new(AtomicBool::new(false));
        let (reload, nudge) = (Arc::default(), Arc::default());
        for number in [SIGTERM, SIGINT] {
            // The second one ends the process at once: this must be asked before the flag is set.
            flag::register_conditional_shutdown(number, 130, Arc::clone(&stop))?;
            flag::register(number, Arc::clone(&stop))?;
        }
        flag::register(SIGHUP, Arc::clone(&reload))?;
        flag::register(SIGUSR1, Arc::clone(&nudge))?;
        for number in [SIGTERM, SIGINT, SIGHUP, SIGUSR1] {
            low_level::pipe::register(number, mouth.try_clone()?)?;
        }
        Ok(Signals { stop, reload, nudge, ear, mouth })
    }

    /// Set when the process must end.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether the settings are to be read again.
    pub fn take_reload(&self) -> bool {
        self.reload.swap(false, Ordering::SeqCst)
    }

    /// Whether to look again at once.
    pub fn take_nudge(&self) -> bool {
        self.nudge.swap(false, Ordering::SeqCst)
    }

    /// What ends the sleep from another thread.
    pub fn waker(&self) -> io::Result<Waker> {
        Ok(Waker(self.mouth.try_clone()?))
    }

    /// What hears that the process must end.
    pub fn stop_bell(&self) -> io::Result<StopBell> {
        let (ear, mouth) = UnixStream::pair()?;
        for number in [SIGTERM, SIGINT] {
            low_level::pipe::register(number, mouth.try_clone()?)?;
        }
        Ok(StopBell(ear))
    }

    /// Sleeps until a signal, a wake or the end of the time.
    pub fn wait(&self, most: Duration) {
        // A time of zero would mean for ever.
        let most = most.max(Duration::from_millis(1));
        let _ = self.ear.set_read_timeout(Some(most));
        let _ = (&self.ear).read(&mut [0; 64]);
    }
}

impl Waker {
    /// Ends the sleep.
    pub fn wake(&self) {
        let _ = (&self.0).write(&[1]);
    }
}

impl StopBell {
    /// Sleeps until the daemon is to stop; false if that cannot be heard any more.
    pub fn wait(&self) -> bool {
        (&self.0).read_exact(&mut [0]).is_ok()
    }
}

/// Leaves the terminal and its session, so that closing it does not end this process.
pub fn leave_terminal() {
    // It fails only where this process leads a group, which is as good.
    let _ = unistd::setsid();
}

/// Whether a process runs.
pub fn is_alive(pid: u32) -> bool {
    let Ok(pid) = i32::try_from(pid) else { return false };
    matches!(signal::kill(Pid::from_raw(pid), None), Ok(()) | Err(nix::errno::Errno::EPERM))
}

/// Asks a process to end.
pub fn ask_to_end(pid: u32) -> io::Result<()> {
    send(pid, Signal::SIGTERM)
}

/// Asks the daemon to look again at once.
pub fn nudge(pid: u32) -> io::Result<()> {
    send(pid, Signal::SIGUSR1)
}

fn send(pid: u32, what: Signal) -> io::Result<()> {
    let pid = i32::try_from(pid).map_err(io::Error::other)?;
    Ok(signal::kill(Pid::from_raw(pid), what)?)
}

/// Which file is at a path.
pub fn identity(path: &Path) -> Option<Identity> {
    path.metadata().ok().map(|found| (found.dev(), found.ino()))
}

/// The name of the user who runs this.
pub fn user_name() -> Option<String> {
    unistd::User::from_uid(unistd::getuid()).ok().flatten().map(|user| user.name)
}

/// Whether this process may do everything.
pub fn is_root() -> bool {
    unistd::geteuid().is_root()
}
