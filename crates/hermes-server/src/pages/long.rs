//! Deeds that may take long: they go on where nobody waits for them any more.

use std::sync::mpsc;
use std::time::Duration;

use hermes_app::App;
use hermes_app::pool::Seat;

/// How long a page waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// Does it in a thread of its own, for the whole home, whatever profile is looked at; nothing where it still goes on.
pub(super) fn run<T: Send + 'static>(
    seat: &Seat,
    deed: impl FnOnce(&App) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<Option<T>> {
    let app = seat.app.for_folder(seat.home.root());
    let (sender, ended) = mpsc::channel();
    std::thread::Builder::new().name("page-deed".to_owned()).spawn(move || {
        // Whoever waited may be gone.
        let _ = sender.send(deed(&app));
    })?;
    ended.recv_timeout(PATIENCE).ok().transpose()
}
