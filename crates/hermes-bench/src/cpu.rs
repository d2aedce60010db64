//! CPU time: of this thread, of a process, of the processes that have ended; zero where the system does not tell.

use std::time::Duration;

use anyhow::ensure;
use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};

/// Fails where the system does not tell.
pub(crate) fn must_be_known() -> anyhow::Result<()> {
    ensure!(of_thread() > Duration::ZERO, "CPU time cannot be measured on this system");
    Ok(())
}

/// Does something; what came of it, and the CPU time that this thread used for it.
pub(crate) fn timed<T, E>(deed: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let begun = of_thread();
    Ok((deed()?, of_thread() - begun))
}

/// CPU time this thread has used.
pub(crate) fn of_thread() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// CPU time that a running process has used, all its threads together, also those that ended.
pub(crate) fn of_process(id: u32) -> Duration {
    let clock = i32::try_from(id).ok().map(nix::unistd::Pid::from_raw);
    let clock = clock.and_then(|process| ClockId::pid_cpu_clock_id(process).ok());
    clock.and_then(|clock| clock.now().ok()).map(Duration::from).unwrap_or_default()
}

/// CPU time, user and system, of all ended child processes.
pub(crate) fn of_children() -> Duration {
    let micros = |time: nix::sys::time::TimeVal| {
        Duration::from_secs(time.tv_sec() as u64) + Duration::from_micros(time.tv_usec() as u64)
    };
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .map(|usage| micros(usage.user_time()) + micros(usage.system_time()))
        .unwrap_or_default()
}
