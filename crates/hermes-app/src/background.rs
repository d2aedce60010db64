//! The model that works in the background, within the allowance of the day.

use std::cell::Cell;

use hermes_home::{Home, atomic};
use hermes_llm::ErrorKind;
use hermes_llm::chat::price::Price;
use hermes_llm::chat::{
    AnswerForm, ChatLimits, ChatMessage, ChatModel as _, ChatRequest, HttpChat, Stop, SystemPart,
    Usage,
};
use hermes_memory::Error;
use hermes_memory::ask::{Prompt, Reply};
use hermes_store::memory::Admin;
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::clock;
use crate::models::{Chosen, Purpose};
use crate::problem::message;
use crate::text;

/// What background work cost, by the day; dollars are counted in millionths.
pub const TOKENS: &str = "model.tokens";
/// The same in money.
pub const MICRODOLLARS: &str = "model.microdollars";

/// A model for background work, with what it may cost.
pub struct Background<'a> {
    app: &'a App,
    home: &'a Home,
    model: HttpChat,
    name: String,
    price: Option<Price>,
    has_failed: Cell<bool>,
}

/// Why the model of background work did not answer the last time it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// The model that was asked.
    pub model: String,
    /// What went wrong.
    pub error: String,
    /// When.
    pub at: Timestamp,
}

/// The longest text that is kept of what went wrong.
const LONGEST_ERROR: usize = 300;

/// What background work cost on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Spent {
    /// Tokens, in and out.
    pub tokens: u64,
    /// US dollars, where the price is known.
    pub dollars: f64,
}

impl<'a> Background<'a> {
    /// The model the settings name for background work; none: rules do it.
    pub fn open(app: &'a App, home: &'a Home) -> anyhow::Result<Option<Background<'a>>> {
        let models = app.models(home)?;
        let Chosen::Model(picked) = models.chosen(Purpose::Background)? else { return Ok(None) };
        let model = models.open(&picked.name, ChatLimits::default())?;
        let price = models.price(&picked.name);
        let name = picked.name.to_string();
        Ok(Some(Background { app, home, model, name, price, has_failed: Cell::new(false) }))
    }

    /// The same for jobs: where it cannot even be asked, because a key is missing or its name is none, that
    /// is noted and rules do the work.
    pub fn open_for_job(app: &'a App, home: &'a Home) -> anyhow::Result<Option<Background<'a>>> {
        match Background::open(app, home) {
            Ok(opened) => Ok(opened),
            Err(error) => {
                let name = app.config(home)?.config.model.light.clone();
                note(home, &name.unwrap_or_default(), &message(&error));
                Ok(None)
            }
        }
    }

    /// Whether it turned out that asking it is no use now: nobody is there, the key is no good, or there is
    /// no such model.
    pub fn has_failed(&self) -> bool {
        self.has_failed.get()
    }

    /// Its name as the settings write it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What so many tokens would cost, in US dollars, where the price is known.
    pub fn cost(&self, input: u64, output: u64) -> Option<f64> {
        self.price.map(|price| price.cost(&Usage { input, output, ..Usage::default() }))
    }

    /// Asks, if the allowance of today is not spent, and counts what it cost.
    pub fn ask(&self, prompt: &Prompt) -> hermes_memory::Result<Reply> {
        self.refuse_if_spent()?;
        let request = ChatRequest {
            system: vec![SystemPart::lasting(&prompt.system)],
            messages: vec![ChatMessage::user(&prompt.user)],
            max_tokens: prompt.max_tokens,
            answer: AnswerForm::Text,
            ..ChatRequest::default()
        };
        let answer = self.model.complete_quietly(&request).inspect_err(|error| {
            if is_no_use(error) {
                self.has_failed.set(true);
                note(self.home, &self.name, &error.to_string());
            }
        })?;
        forget_trouble(self.home);
        self.count(&answer.usage)?;
        let bad = |why: &str| Error::BadReply { model: self.name.clone(), why: why.to_owned() };
        match answer.stop {
            Stop::Refusal => return Err(bad("it refused")),
            Stop::MaxTokens => return Err(bad("its answer exceeded the length limit")),
            _ => {}
        }
        Ok(Reply { text: answer.text(), model: self.name.clone() })
    }

    fn refuse_if_spent(&self) -> hermes_memory::Result<()> {
        let spent = spent(self.app, self.home).map_err(|why| self.uncounted(&why))?;
        let settings = &self.settings()?.config.model;
        let tokens = settings.daily_tokens > 0 && spent.tokens >= settings.daily_tokens;
        let dollars = settings.daily_cost > 0.0 && spent.dollars >= settings.daily_cost;
        if tokens || dollars {
            let spent = format!("{} tokens, ${:.2}", spent.tokens, spent.dollars);
            return Err(Error::Spent { model: self.name.clone(), spent });
        }
        Ok(())
    }

    fn count(&self, usage: &Usage) -> hermes_memory::Result<()> {
        let add = || -> anyhow::Result<()> {
            let day = self.app.today(self.home)?;
            let mut memory = self.app.memory(self.home, Access::Write)?;
            let tokens = i64::try_from(usage.total()).unwrap_or(i64::MAX);
            memory.store.add_to_counter(Admin, day, TOKENS, tokens)?;
            if let Some(price) = self.price {
                let micro = (price.cost(usage) * 1e6).ceil() as i64;
                memory.store.add_to_counter(Admin, day, MICRODOLLARS, micro)?;
            }
            Ok(())
        };
        add().map_err(|why| self.uncounted(&why))
    }

    fn settings(&self) -> hermes_memory::Result<&hermes_home::config::Loaded> {
        self.app.config(self.home).map_err(|why| self.uncounted(&why))
    }

    /// What cannot be counted is not asked for: the allowance must hold.
    fn uncounted(&self, why: &anyhow::Error) -> Error {
        Error::Spent { model: self.name.clone(), spent: format!("it cannot be counted: {why:#}") }
    }
}

/// Whether the same question would fail again at once, whatever is asked.
fn is_no_use(error: &hermes_llm::Error) -> bool {
    matches!(error, hermes_llm::Error::Unreachable { .. })
        || matches!(error.kind(), ErrorKind::NoAccess | ErrorKind::NoSuchModel)
}

/// Notes why a model did not answer; that this cannot be noted must not stop the work.
fn note(home: &Home, model: &str, error: &str) {
    let error = text::one_line(error, LONGEST_ERROR);
    let trouble = Trouble { model: model.to_owned(), error, at: clock::now() };
    if let Ok(text) = serde_json::to_string(&trouble) {
        let _ = atomic::write_private(&home.model_trouble(), format!("{text}\n").as_bytes());
    }
}

fn forget_trouble(home: &Home) {
    let path = home.model_trouble();
    if path.exists() {
        let _ = std::fs::remove_file(path);
    }
}

/// Why the model that the settings name for background work did not answer the last time; none if it did,
/// or another one is named since.
pub fn trouble(app: &App, home: &Home) -> Option<Trouble> {
    let text = std::fs::read(home.model_trouble()).ok()?;
    let trouble: Trouble = serde_json::from_slice(&text).ok()?;
    let light = app.config(home).ok()?.config.model.light.clone()?;
    let named = app.models(home).ok()?.chosen(Purpose::Background).ok();
    let is_named =
        matches!(named, Some(Chosen::Model(picked)) if picked.name.to_string() == trouble.model);
    (is_named || light == trouble.model).then_some(trouble)
}

/// What background work cost today.
pub fn spent(app: &App, home: &Home) -> anyhow::Result<Spent> {
    let day: Date = app.today(home)?;
    let memory = app.memory(home, Access::Read)?;
    let tokens = memory.store.counter(Admin, day, TOKENS)?;
    let micro = memory.store.counter(Admin, day, MICRODOLLARS)?;
    Ok(Spent { tokens: u64::try_from(tokens).unwrap_or(0), dollars: micro as f64 / 1e6 })
}
