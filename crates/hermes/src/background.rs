//! The model that works in the background, within the allowance of the day.

use hermes_home::Home;
use hermes_llm::chat::price::Price;
use hermes_llm::chat::{
    AnswerForm, ChatLimits, ChatMessage, ChatModel as _, ChatRequest, HttpChat, Stop, SystemPart,
    Usage,
};
use hermes_memory::Error;
use hermes_memory::ask::{Prompt, Reply};
use hermes_store::memory::{Admin, Counters as _};
use hermes_store::sqlite::Access;
use jiff::civil::Date;

use crate::app::App;
use crate::models::{Chosen, Purpose};

/// What background work cost, by the day; dollars are counted in millionths.
pub(crate) const TOKENS: &str = "model.tokens";
pub(crate) const MICRODOLLARS: &str = "model.microdollars";

/// A model for background work, with what it may cost.
pub(crate) struct Background<'a> {
    app: &'a App,
    home: &'a Home,
    model: HttpChat,
    name: String,
    price: Option<Price>,
}

/// What background work cost on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub(crate) struct Spent {
    pub(crate) tokens: u64,
    pub(crate) dollars: f64,
}

impl<'a> Background<'a> {
    /// The model the settings name for background work; none: rules do it.
    pub(crate) fn open(app: &'a App, home: &'a Home) -> anyhow::Result<Option<Background<'a>>> {
        let models = app.models(home)?;
        let Chosen::Model(picked) = models.chosen(Purpose::Background)? else { return Ok(None) };
        let model = models.open(&picked.name, ChatLimits::default())?;
        let price = models.price(&picked.name);
        Ok(Some(Background { app, home, model, name: picked.name.to_string(), price }))
    }

    /// Its name as the settings write it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What so many tokens would cost, in US dollars, where the price is known.
    pub(crate) fn cost(&self, input: u64, output: u64) -> Option<f64> {
        self.price.map(|price| price.cost(&Usage { input, output, ..Usage::default() }))
    }

    /// Asks, if the allowance of today is not spent, and counts what it cost.
    pub(crate) fn ask(&self, prompt: &Prompt) -> hermes_memory::Result<Reply> {
        self.refuse_if_spent()?;
        let request = ChatRequest {
            system: vec![SystemPart::lasting(&prompt.system)],
            messages: vec![ChatMessage::user(&prompt.user)],
            max_tokens: prompt.max_tokens,
            answer: AnswerForm::Text,
            ..ChatRequest::default()
        };
        let answer = self.model.complete_quietly(&request)?;
        self.count(&answer.usage)?;
        let bad = |why: &str| Error::BadReply { model: self.name.clone(), why: why.to_owned() };
        match answer.stop {
            Stop::Refusal => return Err(bad("it refused")),
            Stop::MaxTokens => return Err(bad("its answer was longer than allowed")),
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

/// What background work cost today.
pub(crate) fn spent(app: &App, home: &Home) -> anyhow::Result<Spent> {
    let day: Date = app.today(home)?;
    let memory = app.memory(home, Access::Read)?;
    let tokens = memory.store.counter(Admin, day, TOKENS)?;
    let micro = memory.store.counter(Admin, day, MICRODOLLARS)?;
    Ok(Spent { tokens: u64::try_from(tokens).unwrap_or(0), dollars: micro as f64 / 1e6 })
}
