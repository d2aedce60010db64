//! Opens a conversation: the model, the user, the session, what goes into its prompt.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hermes_agent::prompt::Prompt;
use hermes_agent::window::{Row, Window, size_of};
use hermes_home::{Home, UserId};
use hermes_llm::chat::ChatLimits;
use hermes_memory::record::summaries;
use hermes_store::Error as StoreError;
use hermes_store::memory::{Memory, Scope};
use hermes_store::sessions::{
    Message, MessageState, OUR_SUMMARY, SessionFilter, SessionId, SessionKind, SessionStore,
    Spending, Whose, Window as Shown, random_bytes,
};

use super::front::Figures;
use super::tools::Tools;
use super::{Conversation, Opening, Talker, Which, outside, parts};
use hermes_app::app::{App, OWNER_NAME};
use hermes_app::asker::Asker;
use hermes_app::clock;
use hermes_app::known_users;
use hermes_app::models::{Chosen, ModelName, Purpose};
use hermes_app::pool::Seat;
use hermes_app::problem::{self, Kind, Problem};
use hermes_app::turn;

/// Who makes the changes of a conversation.
const ACTOR: &str = "chat";
/// The most messages of a session that are taken up again; older ones are found by searching.
const MOST_TAKEN_UP: usize = 4_000;
/// A person waits: two more tries, not four.
const TRIES: u32 = 3;

impl Conversation {
    /// Opens a conversation; nothing is written until something is said.
    pub(crate) fn open(app: &App, opening: Opening) -> anyhow::Result<Conversation> {
        Conversation::open_with(app, opening, Arc::new(AtomicBool::new(false)))
    }

    /// The same with what is set elsewhere to end a turn.
    pub(super) fn open_with(
        app: &App,
        opening: Opening,
        cancel: Arc<AtomicBool>,
    ) -> anyhow::Result<Conversation> {
        let home = app.existing_home()?;
        let mut own = app.for_profile(&home);
        own.actor = ACTOR.into();
        own.now = clock::now();
        let mut seat = Seat::alone(own)?;
        let model = talker(&seat.app, &seat.home, opening.model.as_deref())?;
        let asker = asker(&mut seat, opening.user.as_ref())?;
        let sessions = turn::open_sessions(&seat.home);
        let taken_up = match (&opening.which, &sessions) {
            (Which::New, _) => None,
            (which, Ok(Some(store))) => Some(find(store, &mut seat, &asker, which)?),
            (_, Ok(None)) => return Err(nothing_to_resume().into()),
            (_, Err(error)) => return Err(anyhow::anyhow!("{error}")),
        };
        let size = window_size(&seat.app, &seat.home, &model.name)?;
        let (prompt, mut window, spent) = match (&taken_up, &sessions) {
            (Some(id), Ok(Some(store))) => take_up(store, id, &mut seat, &asker, size)?,
            _ => (None, Window::new(size), Spending::default()),
        };
        let session =
            taken_up.clone().unwrap_or_else(|| SessionId::new(seat.app.now, random_bytes()));
        let prompt = match prompt {
            Some(prompt) => prompt,
            None => {
                let store = sessions.as_ref().ok().and_then(Option::as_ref);
                let (parts, is_outside) = parts::read(&mut seat, store, &asker, &opening)?;
                window.has_outside_before |= is_outside;
                Prompt::build(&parts)
            }
        };
        let max_rounds = seat.app.config(&seat.home)?.config.agent.max_rounds;
        let own = seat.app.for_profile(&seat.home);
        let tools = Tools::new(own, &asker, &session, &opening, &cancel)?;
        Ok(Conversation {
            tools,
            is_begun: taken_up.is_some(),
            figures: Figures { model: model.name.clone(), ..Figures::default() },
            seat,
            asker,
            opening,
            session,
            prompt,
            window,
            model,
            spent,
            last_recall: None,
            written: Vec::new(),
            turns: 0,
            max_rounds,
            takes_tools: true,
            cancel,
            sessions,
        })
    }
}

/// The model for a conversation, ready to be asked.
pub(super) fn talker(app: &App, home: &Home, typed: Option<&str>) -> anyhow::Result<Talker> {
    let models = app.models(home)?;
    let name = match typed {
        Some(typed) => ModelName::parse(typed)?,
        None => match models.chosen(Purpose::Conversation)? {
            Chosen::Model(picked) => picked.name,
            _ => return Err(no_model().into()),
        },
    };
    if let Some(variable) = models.missing_key(&name) {
        let what = format!("could not ask {name}: {variable} is not set");
        let hint = format!(
            "store the key with `hermes config set {variable} -`; `hermes model list` shows the available providers"
        );
        return Err(Problem::new(Kind::Unavailable, what).hint(hint).into());
    }
    let limits = ChatLimits { tries: TRIES, ..ChatLimits::default() };
    Ok(Talker {
        chat: Arc::new(models.prepare(&name, limits)?),
        provider: name.provider.as_str().to_owned(),
        price: models.price(&name),
        name: name.to_string(),
    })
}

/// How many tokens a model can look at: as the settings say, else by its name.
pub(super) fn window_size(app: &App, home: &Home, model: &str) -> anyhow::Result<usize> {
    let said = app.config(home)?.config.agent.window_tokens;
    Ok(said.map_or_else(|| size_of(model), |tokens| tokens as usize))
}

/// What to do after an error of a model that says nothing about it itself.
pub(super) fn hint_for(error: &hermes_llm::Error) -> Option<String> {
    use hermes_llm::ErrorKind;
    let hint = match error.kind() {
        ErrorKind::Unavailable => {
            "send it again with /retry when the network is back; `hermes model test` shows what is wrong"
        }
        ErrorKind::NoAccess => "`hermes model list` shows where the key comes from",
        ErrorKind::NoSuchModel => "list the available providers with `hermes model list`",
        ErrorKind::TooLong => {
            "start a new conversation with /new, or shorten this one with /compact"
        }
        ErrorKind::Declined => "rephrase your request, or use another model",
        _ => return None,
    };
    Some(hint.to_owned())
}

fn no_model() -> Problem {
    Problem::new(Kind::Unavailable, "no chat model is configured")
        .hint("choose one with `hermes config set model.default anthropic/claude-sonnet-5` and store its key with `hermes config set ANTHROPIC_API_KEY -`; `hermes model list` shows the available providers")
}

fn nothing_to_resume() -> Problem {
    Problem::new(Kind::NotFound, "there is no session to continue")
        .hint("start one with `hermes chat`")
}

/// Who talks. While the memory cannot be asked, somebody whom it knew before is let talk all the same.
fn asker(seat: &mut Seat, user: Option<&UserId>) -> anyhow::Result<Asker> {
    let Some(user) = user else { return Ok(Asker::owner()) };
    let error = match asked(seat, user) {
        Err(error) if is_away(&error) => error,
        asked => return asked,
    };
    match known_users::has(&seat.home, user) {
        true if user.as_str() == OWNER_NAME => Ok(Asker::owner()),
        true => Ok(Asker::unasked(user)),
        false => Err(Problem::new(
            Kind::Unavailable,
            format!("could not look up user {user}: {}", problem::message(&error)),
        )
        .hint("try again when `hermes db status` can reach the server; users whom this home already knows can chat in the meantime")
        .into()),
    }
}

/// Who somebody is by the memory; one who is named for the first time becomes a user.
pub(super) fn asked(seat: &mut Seat, user: &UserId) -> anyhow::Result<Asker> {
    let (_, home, memory) = seat.reader()?;
    if let Some(known) = memory.store.user(user.as_str())? {
        note_users(home, &memory.store);
        return Ok(Asker::of(&known));
    }
    let (app, home, memory) = seat.writer()?;
    let number = memory.store.user_or_new(user.as_str(), app.change())?;
    note_users(home, &memory.store);
    Ok(Asker { scope: Scope::of(number), user: Some(user.clone()) })
}

/// Notes who is known, for when the server is away; what cannot be noted now is noted the next time.
fn note_users(home: &Home, store: &Memory) {
    drop(known_users::note(home, store));
}

/// Whether the memory cannot be asked now.
fn is_away(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<StoreError>()
            .is_some_and(|error| matches!(error, StoreError::Server(_)))
    })
}

/// The sessions of one user, newest first.
pub(super) fn sessions_of(whose: Whose, limit: usize) -> SessionFilter {
    SessionFilter {
        user: Some(whose),
        kinds: vec![SessionKind::Conversation, SessionKind::Branch, SessionKind::Continuation],
        limit: Some(limit),
        ..SessionFilter::default()
    }
}

/// The session that is meant, if it is one of this user's.
fn find(
    store: &SessionStore,
    seat: &mut Seat,
    asker: &Asker,
    which: &Which,
) -> anyhow::Result<SessionId> {
    let whose = asker.own_sessions(&seat.reader()?.2.store)?;
    let Which::Named(selector) = which else {
        let last = store.latest(&sessions_of(whose, 1))?.into_iter().next();
        return last.map(|session| session.id).ok_or_else(|| nothing_to_resume().into());
    };
    own(store, &whose, selector)
}

/// The session with this id, beginning of an id, or title, if it is one of this user's.
pub(super) fn own(
    store: &SessionStore,
    whose: &Whose,
    selector: &str,
) -> anyhow::Result<SessionId> {
    // That there is such a session of somebody else is nobody's business.
    Ok(store.find_of(selector, Some(whose))?)
}

/// What a session was: its prompt, its window and its cost.
fn take_up(
    store: &SessionStore,
    id: &SessionId,
    seat: &mut Seat,
    asker: &Asker,
    size: usize,
) -> anyhow::Result<(Option<Prompt>, Window, Spending)> {
    // Without the memory nothing is known for a summary: what it says is shown as the message that it is.
    let ours = match seat.writer() {
        Err(_) => Vec::new(),
        Ok((app, home, memory)) => {
            let note = home.transcript_note();
            summaries::known(store, &mut memory.store, id, &note, app.now)?
        }
    };
    let is_summary = |message: &&&Message| ours.contains(&message.id);
    let prompt = store.prompt_of(id)?.map(|text| Prompt::read(&text)).filter(Prompt::is_ours);
    let messages = store.messages(id, Shown::Last(MOST_TAKEN_UP))?;
    let live: Vec<&Message> =
        messages.iter().filter(|message| message.state == MessageState::Active).collect();
    let summary = live.iter().rev().find(is_summary).map(|message| summary_in(&message.text));
    let rows: Vec<Row> = live
        .iter()
        .filter(|message| !is_summary(message))
        .map(|message| Row {
            number: message.id,
            role: message.role.clone(),
            text: message.text.clone(),
            tool_calls: message.tool_calls.clone(),
            tool_call_id: message.tool_call_id.clone(),
            is_outside: outside::is_outside(message),
        })
        .collect();
    let mut window = Window::restore(size, summary, &rows);
    window.has_outside_before = outside::is_before(seat, asker, id, prompt.as_ref(), &messages);
    Ok((prompt, window, store.spent(id)?))
}

/// What a row says that is known for a summary.
fn summary_in(text: &str) -> String {
    text.strip_prefix(OUR_SUMMARY).unwrap_or(text).trim().to_owned()
}
