//! CPU time: of this thread, of a process, of the processes that have ended.

use std::time::Duration;

use anyhow::ensure;

/// Fails where the system does not tell.
pub(crate) fn must_be_known() -> anyhow::Result<()> {
    ensure!(of_thread() > Duration::ZERO, "CPU time cannot be measured on this system");
    Ok(())
}

/// CPU time this thread has used.
#[cfg(unix)]
pub(crate) fn of_thread() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// CPU time that a running process has used, all its threads together, also those that ended.
#[cfg(unix)]
pub(crate) fn of_process(id: u32) -> Duration {
    use nix::time::ClockId;
    use nix::unistd::Pid;
    let clock = i32::try_from(id).ok().map(Pid::from_raw).map(ClockId::pid_cpu_clock_id);
    let spent = clock.and_then(Result::ok).and_then(|clock| clock.now().ok());
    spent.map(Duration::from).unwrap_or_default()
}

/// CPU time, user and system, of all ended child processes.
#[cfg(unix)]
pub(crate) fn of_children() -> Duration {
    use nix::sys::resource::{UsageWho, getrusage};
    let micros = |time: nix::sys::time::TimeVal| {
        Duration::from_secs(time.tv_sec() as u64) + Duration::from_micros(time.tv_usec() as u64)
    };
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .map(|usage| micros(usage.user_time()) + micros(usage.system_time()))
        .unwrap_or_default()
}

#[cfg(not(unix))]
mod other {
    use std::time::Duration;

    pub(crate) fn of_thread() -> Duration {
        Duration::ZERO
    }

    pub(crate) fn of_process(_id: u32) -> Duration {
        Duration::ZERO
    }

    pub(crate) fn of_children() -> Duration {
        Duration::ZERO
    }
}

#[cfg(not(unix))]
pub(crate) use other::{of_children, of_process, of_thread};
