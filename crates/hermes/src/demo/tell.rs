//! Tells the story: each thing at its own time, by the code that does it in earnest.

use hermes_app::prepare;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use hermes_home::Home;
use hermes_home::memory_file::{self, WholeText};
use hermes_memory::record::turn::{Caller, Identity, Turn, TurnMessage};
use hermes_store::memory::{Admin, Chat, FactFilter, Scope, UserNumber};
use hermes_store::sessions::{Beginning, SessionId, Spending};
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::Filled;
use super::story::{Deed, Step, Talk};
use crate::confirm::Asking;
use crate::output::Sheet;
use crate::terminal::{Commands, Terminal};
use hermes_app::app::App;
use hermes_app::asker::Asker;
use hermes_app::clock;
use hermes_app::context::{self, Handed, Request};
use hermes_app::numbers::Numbers;
use hermes_app::problem::Problem;
use hermes_app::recall::Recall;
use hermes_app::rules;
use hermes_app::turn::Recorder;

/// Who tells, and where.
pub(super) struct Teller<'a> {
    app: &'a App,
    commands: Commands,
    home: Home,
    numbers: Numbers,
    /// When the story ends.
    end: Timestamp,
}

/// The model that the conversations in a terminal were with.
const MODEL: &str = "claude-sonnet-4-5";
/// How long people and models take for a message.
const PAUSE: SignedDuration = SignedDuration::from_secs(50);
/// Verbs of `hermes memory fact` whose first word is a fact; the story names it by its sentence.
const ABOUT_A_FACT: [&str; 4] = ["supersede", "edit", "delete", "pin"];

impl<'a> Teller<'a> {
    /// Makes the home.
    pub(super) fn begin(
        app: &'a App,
        commands: Commands,
        folder: &Path,
        numbers: Numbers,
    ) -> anyhow::Result<Self> {
        let made = app.for_folder(folder);
        let home = made.home()?;
        prepare::prepare(&made, &home)?;
        Ok(Teller { app, commands, home, numbers, end: app.now })
    }

    /// The commands that make a key and backups in the last days of the story, and prove one.
    pub(super) fn backups(&self, key: &Path) -> anyhow::Result<Vec<Step>> {
        let key = key.to_str().context("the name of the folder is no text")?;
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut generate = words("backup key generate --format age --no-passphrase --private");
        generate.push(key.to_owned());
        let mut drill = words("backup drill --identity");
        drill.push(key.to_owned());
        let create = words("backup create --all");
        let at = |days_ago, hour, words| -> anyhow::Result<Step> {
            let time = jiff::civil::Time::new(hour, 10, 0, 0)?;
            Ok(Step { days_ago, time, deed: Deed::Type(words) })
        };
        Ok(vec![
            at(40, 2, generate)?,
            at(8, 3, create.clone())?,
            at(2, 3, create.clone())?,
            at(2, 4, drill)?,
            at(1, 3, create)?,
        ])
    }

    /// All that happened, in its order.
    pub(super) fn tell(&mut self, mut steps: Vec<Step>) -> anyhow::Result<()> {
        steps.sort_by_key(|step| self.moment(step));
        for step in steps {
            let at = self.moment(&step);
            let told = clock::at(at, || self.one(at, &step.deed));
            told.with_context(|| {
                format!("{} days before the end: {:?}", step.days_ago, step.deed)
            })?;
        }
        Ok(())
    }

    /// What there is at the end.
    pub(super) fn end(&self) -> anyhow::Result<Filled> {
        let app = self.app.for_profile(&self.home);
        let stats = app.sessions(&self.home, Access::Read)?.stats()?;
        let memory = app.memory(&self.home, Access::Read)?;
        let mut facts = 0;
        for user in memory.store.users(Admin)? {
            let filter = FactFilter::default();
            facts += memory.store.list_facts(Scope::of(user.number), &filter, self.end)?.len();
        }
        Ok(Filled {
            sessions: u64::try_from(stats.sessions).unwrap_or_default(),
            messages: u64::try_from(stats.messages).unwrap_or_default(),
            facts: facts as u64,
            ..Filled::default()
        })
    }

    /// Nothing happens after the end.
    fn moment(&self, step: &Step) -> Timestamp {
        let end = self.end.to_zoned(jiff::tz::TimeZone::UTC);
        let day = end.date().saturating_sub(step.days_ago.days());
        let moment = day.to_datetime(step.time).to_zoned(jiff::tz::TimeZone::UTC);
        let latest = self.end - SignedDuration::from_mins(20);
        moment.map_or(latest, |moment| moment.timestamp().min(latest))
    }

    fn one(&mut self, at: Timestamp, deed: &Deed) -> anyhow::Result<()> {
        match deed {
            Deed::Talk(talk) => self.talk(at, talk),
            Deed::Type(words) => self.command(words),
            Deed::Night => self.night(),
            Deed::Write(target, text) => {
                let app = self.app.for_profile(&self.home);
                let context = rules::of_change(&app, &self.home, target, "edit")?;
                let now = memory_file::read(&self.home, target, context.rules)?;
                let whole = WholeText { text, expected_hash: &now.hash };
                memory_file::replace_whole(&self.home, target, &context, &whole)?;
                Ok(())
            }
        }
    }

    fn talk(&mut self, at: Timestamp, talk: &Talk) -> anyhow::Result<()> {
        let random = [0; 3].map(|_| self.numbers.below(256) as u8);
        let id = SessionId::new(at, random);
        self.recall(&id, talk)?;
        let mut recorder = Recorder::open(&self.home);
        let mut now = at;
        for (number, messages) in talk.turns.iter().enumerate() {
            let messages = timed(messages, &mut now);
            let said = Turn {
                session_id: Some(id.to_string()),
                channel: talk.channel.clone(),
                identity: identity(talk),
                user: None,
                agent: Some(agent(talk).to_owned()),
                project: talk.project.clone(),
                messages,
                from: Caller::OurOwn,
                ended: number + 1 == talk.turns.len(),
            };
            clock::at(now, || {
                let app = self.app.for_profile(&self.home);
                recorder.record(&app, &self.home, &said)
            })?;
        }
        let sessions = recorder.into_sessions()?.context("the home has no state.db")?;
        self.dress(sessions, &id, talk)
    }

    /// The title, and what the model cost.
    fn dress(
        &mut self,
        mut sessions: hermes_store::sessions::SessionStore,
        id: &SessionId,
        talk: &Talk,
    ) -> anyhow::Result<()> {
        sessions.rename(id, Some(&talk.title))?;
        if talk.channel == "telegram" {
            return Ok(());
        }
        let cwd = talk.project.as_deref();
        let beginning = Beginning { model: Some(MODEL), system_prompt: None, provider: None, cwd };
        sessions.note_beginning(id, &beginning)?;
        let calls = talk.turns.iter().map(Vec::len).sum::<usize>() as u64;
        let (input, output) = (calls * (700 + self.numbers.below(600) as u64), calls * 90);
        let cost = (input as f64).mul_add(3.0, output as f64 * 15.0) / 1e6;
        let spent = Spending {
            input_tokens: input,
            output_tokens: output,
            calls,
            cost: Some(cost),
            ..Spending::default()
        };
        sessions.add_spending(id, &spent)?;
        Ok(())
    }

    /// What the model was given before the first answer, with its receipt.
    fn recall(&self, id: &SessionId, talk: &Talk) -> anyhow::Result<()> {
        let app = self.app.for_profile(&self.home);
        let mut memory = app.memory(&self.home, Access::Write)?;
        let asker = match &talk.user {
            None => Asker::owner(),
            Some(name) => {
                let users = memory.store.users(Admin)?;
                let user = users.iter().find(|user| user.name == *name);
                let number = user.map_or(UserNumber::OWNER, |user| user.number);
                let name = name.parse().map_err(|_| anyhow!("{name} is no name of a user"))?;
                Asker { scope: Scope::of(number), user: Some(name) }
            }
        };
        let task = talk.turns.first().and_then(|turn| turn.first());
        let request = Request {
            task: task.map_or("", |message| &message.text),
            session: Some(id.as_str()),
            project: talk.project.as_deref(),
            channel: Some(&talk.channel),
            ..Request::default()
        };
        let recall = Recall { app: &app, home: &self.home, store: &memory.store, asker: &asker };
        let given = recall.give(&request)?;
        let handed = Handed::of(asker.scope, request.session, &given.context, app.now);
        context::note(&mut memory.store, handed.as_slice());
        Ok(())
    }

    fn night(&self) -> anyhow::Result<()> {
        for words in [
            vec!["memory", "extract"],
            vec!["memory", "reflect"],
            vec!["memory", "compact", "--no-vacuum"],
        ] {
            self.run(&self.home, &words)?;
        }
        Ok(())
    }

    /// A command as it is typed; `-p NAME` before it names a profile.
    fn command(&self, words: &[String]) -> anyhow::Result<()> {
        let mut words: Vec<String> = words.to_vec();
        let is_about_a_fact = words.first().is_some_and(|word| word == "memory")
            && words.get(1).is_some_and(|word| word == "fact")
            && words.get(2).is_some_and(|word| ABOUT_A_FACT.contains(&word.as_str()));
        if is_about_a_fact {
            words[3] = self.fact(&words[3])?;
        }
        let profile = words.iter().position(|word| word == "-p");
        let home = match profile {
            None => self.home.clone(),
            Some(at) => {
                let name = words.drain(at..at + 2).next_back().unwrap_or_default();
                let wanted = hermes_home::layout::Wanted {
                    home: Some(self.home.root().to_owned()),
                    profile: Some(name),
                };
                Home::locate(&wanted, &self.app.env)?
            }
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.run(&home, &words)
    }

    fn run(&self, home: &Home, words: &[&str]) -> anyhow::Result<()> {
        let sheet = Sheet::default();
        let asking = Asking { yes: true, no_input: true };
        let mut terminal = Terminal::inside(self.app, home, sheet.clone(), asking);
        (self.commands)(words, &mut terminal)
            .with_context(|| format!("{words:?}: {}", sheet.text()))?;
        Ok(())
    }

    /// The id of the fact with this sentence.
    fn fact(&self, sentence: &str) -> anyhow::Result<String> {
        let app = self.app.for_profile(&self.home);
        let memory = app.memory(&self.home, Access::Read)?;
        let filter = FactFilter::default();
        let facts = memory.store.list_facts(Asker::owner().scope, &filter, app.now)?;
        let found = facts.iter().find(|fact| fact.statement == sentence);
        let missing = || Problem::usage(format!("no fact says {sentence:?}"));
        Ok(found.ok_or_else(missing)?.id.to_string())
    }
}

/// Who talks, as the messenger knows them; the story links both.
fn identity(talk: &Talk) -> Option<Identity> {
    let (id, name) = match talk.user.as_deref() {
        Some(_) => ("7718", "Tomas"),
        None => ("4411", "Ines"),
    };
    let known =
        Identity { native_id: id.to_owned(), chat: Chat::Direct, name: Some(name.to_owned()) };
    (talk.channel == "telegram").then_some(known)
}

fn agent(talk: &Talk) -> &'static str {
    match talk.channel.as_str() {
        "claude-code" => "claude-code",
        _ => "hermes",
    }
}

/// The messages, each a little after the one before.
fn timed(messages: &[TurnMessage], now: &mut Timestamp) -> Vec<TurnMessage> {
    let one = |message: &TurnMessage| {
        let at = *now;
        *now += PAUSE;
        TurnMessage { at: Some(at), ..message.clone() }
    };
    messages.iter().map(one).collect()
}
