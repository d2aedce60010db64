//! Opened memories that wait for the next request, one asker at a time each.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hermes_home::{Home, profile};
use hermes_store::Stop;
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;

use crate::app::App;
use crate::clock;
use crate::context::{self, Handed};
use crate::memory::OpenMemory;
use crate::process::{self, Identity};
use crate::turn::{self, Transcripts};
use crate::writer::Writer;

/// After so long without a request a memory is closed, so that nobody finds a database in use for nothing.
const IDLE: Duration = Duration::from_secs(30);
/// How many memories of a profile wait open at most.
const WAITING: usize = 4;

/// The profiles of a root home, opened as they are asked for.
pub struct Pool {
    /// By what new seats are made.
    app: Mutex<App>,
    home: Home,
    seats: Mutex<HashMap<String, Vec<Seat>>>,
    /// What was handed out at each profile, and is not noted yet.
    handed: Mutex<HashMap<String, Vec<Handed>>>,
}

/// A profile with its settings and its opened memory.
pub struct Seat {
    /// What it is opened with.
    pub app: App,
    /// The profile.
    pub home: Home,
    read: Option<(OpenMemory, Option<Identity>)>,
    write: Writer,
    /// The transcripts, opened to be written.
    transcripts: Option<(SessionStore, (Identity, i64))>,
    /// What was handed out and is noted later, all at once: a change of the file each time would cost
    /// whoever reads next what they have in memory of it. None: it is noted at once.
    handed: Option<Vec<Handed>>,
    /// Whether many questions will be asked.
    is_lasting: bool,
    stamp: Stamp,
    used: Instant,
}

/// What settings depend on: times and sizes of their files.
type Stamp = [Option<(SystemTime, u64)>; 2];

impl Pool {
    /// Nothing is open yet.
    pub fn new(app: App, home: Home) -> Pool {
        Pool { app: Mutex::new(app), home, seats: Mutex::default(), handed: Mutex::default() }
    }

    /// A seat at a profile that exists.
    pub fn take(&self, name: &str) -> anyhow::Result<Seat> {
        let mut home = self.home_of(name)?;
        let waiting = lock(&self.seats).get_mut(name).and_then(Vec::pop);
        let stamp = stamp(&home);
        let now = clock::now();
        let seat = match waiting.filter(|seat| seat.stamp == stamp && seat.used.elapsed() < IDLE) {
            Some(mut seat) => {
                seat.app.now = now;
                seat.heed(&Stop::default())?;
                seat
            }
            None => {
                let app = lock(&self.app).for_profile(&home);
                home = app.existing_home()?;
                Seat { stamp, handed: Some(Vec::new()), is_lasting: true, ..Seat::new(app, home) }
            }
        };
        Ok(seat)
    }

    /// The home of a profile that exists.
    pub fn home_of(&self, name: &str) -> anyhow::Result<Home> {
        let home = self.home.sibling(hermes_home::layout::parse_profile(name)?);
        home.must_exist()?;
        Ok(home)
    }

    /// How often memories in files were opened.
    pub fn openings(&self) -> u64 {
        lock(&self.app).openings()
    }

    /// The root home.
    pub fn root(&self) -> &Home {
        &self.home
    }

    /// Puts a seat back for the next one.
    pub fn give_back(&self, mut seat: Seat) {
        seat.used = Instant::now();
        seat.close_still();
        let name = seat.home.profile_name().to_owned();
        if let Some(handed) = seat.handed.as_mut().filter(|handed| !handed.is_empty()) {
            lock(&self.handed).entry(name.clone()).or_default().append(handed);
        }
        let mut seats = lock(&self.seats);
        let waiting = seats.entry(name).or_default();
        if waiting.len() < WAITING {
            waiting.push(seat);
        }
    }

    /// Whether something was handed out that is not noted yet.
    pub fn has_handed(&self) -> bool {
        !lock(&self.handed).is_empty()
    }

    /// Notes what was handed out since the last time; what cannot be noted is let go.
    pub fn note_handed(&self) {
        let handed = std::mem::take(&mut *lock(&self.handed));
        for (name, handed) in handed {
            let Ok(mut seat) = self.take(&name) else { continue };
            if let Ok((_, _, memory)) = seat.writer() {
                context::note(&mut memory.store, &handed);
            }
            self.give_back(seat);
        }
    }

    /// Closes what nobody asked for in a while.
    pub fn close_idle(&self) {
        for waiting in lock(&self.seats).values_mut() {
            waiting.retain(|seat| seat.used.elapsed() < IDLE);
        }
    }

    /// The profiles there are.
    pub fn profiles(&self) -> anyhow::Result<Vec<String>> {
        let mut names = vec![self.home.sibling(None).profile_name().to_owned()];
        names.extend(profile::list(&self.home)?.into_iter().map(|name| name.to_string()));
        Ok(names)
    }
}

impl Seat {
    fn new(app: App, home: Home) -> Seat {
        let used = Instant::now();
        Seat {
            app,
            home,
            read: None,
            write: Writer::default(),
            transcripts: None,
            handed: None,
            is_lasting: false,
            stamp: Stamp::default(),
            used,
        }
    }

    /// A seat for one program alone, at the profile that was asked for.
    pub fn alone(app: App) -> anyhow::Result<Seat> {
        let home = app.existing_home()?;
        let stamp = stamp(&home);
        Ok(Seat { stamp, ..Seat::new(app, home) })
    }

    /// Ends what is read from now on when the flag says so.
    pub fn heed(&mut self, stop: &Stop) -> anyhow::Result<()> {
        self.app.stop = stop.clone();
        if let Some((memory, _)) = &mut self.read {
            memory.store.heed(stop)?;
        }
        Ok(self.write.heed(stop)?)
    }

    /// The settings, the home and the memory to read; a missing one is read as an empty one.
    pub fn reader(&mut self) -> anyhow::Result<(&App, &Home, &OpenMemory)> {
        self.close_still();
        // One that was put in the place of ours is opened anew.
        self.read.take_if(|(memory, identity)| !memory.is_in_place(*identity));
        if self.read.as_ref().is_none_or(|(memory, _)| !memory.exists) {
            let memory = self.app.memory(&self.home, Access::Read)?;
            if self.is_lasting {
                memory.store.map()?;
            }
            let identity = process::identity(&memory.path);
            self.read = Some((memory, identity));
        }
        match &self.read {
            Some((memory, _)) => Ok((&self.app, &self.home, memory)),
            None => Err(anyhow::anyhow!("the memory could not be opened")),
        }
    }

    /// The same through the connection that writes, where it is open: its own changes cost it nothing to see.
    pub fn either(&mut self) -> anyhow::Result<(&App, &Home, &OpenMemory)> {
        self.close_still();
        self.write.close_replaced();
        if self.write.opened().is_none() {
            return self.reader();
        }
        match self.write.opened() {
            Some(memory) => Ok((&self.app, &self.home, memory)),
            None => Err(anyhow::anyhow!("the memory could not be opened")),
        }
    }

    /// The same to write; a missing memory is made.
    pub fn writer(&mut self) -> anyhow::Result<(&App, &Home, &mut OpenMemory)> {
        self.close_still();
        let Seat { app, home, write, .. } = self;
        let memory = write.memory(app, home, app.lock_wait(home)?)?;
        Ok((app, home, memory))
    }

    /// The settings, the home and the connection that writes, for one who opens it when it is needed.
    pub fn parts(&mut self) -> (&App, &Home, &mut Writer) {
        (&self.app, &self.home, &mut self.write)
    }

    /// The transcripts to write: those of the last request, if neither the file nor its tables were changed since.
    /// [`Seat::put_transcripts`] leaves them open for the next one.
    pub fn take_transcripts(&mut self) -> Transcripts {
        match self.transcripts.take() {
            Some((store, opened)) if state_of(&store) == Some(opened) => Ok(Some(store)),
            _ => turn::open_sessions(&self.home),
        }
    }

    /// Leaves the transcripts open for the next request.
    pub fn put_transcripts(&mut self, transcripts: Transcripts) {
        let Ok(Some(store)) = transcripts else { return };
        let opened = state_of(&store).filter(|_| store.access() == Access::Write);
        self.transcripts = opened.map(|opened| (store, opened));
    }

    /// Notes what was handed out, or keeps it to be noted soon.
    pub fn hand_out(&mut self, handed: Option<Handed>) -> anyhow::Result<()> {
        match (handed, &mut self.handed) {
            (None, _) => Ok(()),
            (Some(handed), Some(later)) => {
                later.push(handed);
                Ok(())
            }
            (Some(handed), None) => {
                context::note(&mut self.writer()?.2.store, &[handed]);
                Ok(())
            }
        }
    }

    /// The same with the settings read anew.
    pub fn again(&self) -> anyhow::Result<Seat> {
        Seat::alone(self.app.for_profile(&self.home))
    }

    /// Whether the settings changed since, so that a new seat is needed.
    pub fn is_outdated(&self) -> bool {
        stamp(&self.home) != self.stamp
    }

    /// A database that is read as it stands, because nothing can be written beside it, is opened anew for each question.
    fn close_still(&mut self) {
        self.read.take_if(|(memory, _)| memory.store.is_still());
    }
}

/// Which file the transcripts are in, and the state of its tables.
fn state_of(store: &SessionStore) -> Option<(Identity, i64)> {
    Some((process::identity(store.path())?, store.schema_number().ok()?))
}

fn stamp(home: &Home) -> Stamp {
    [home.config(), home.secrets()].map(|path| {
        let found = path.metadata().ok()?;
        Some((found.modified().ok()?, found.len()))
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
