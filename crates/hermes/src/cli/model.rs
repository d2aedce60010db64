//! hermes model list, test

use crate::terminal::Terminal;
use std::io;
use std::time::{Duration, Instant};

use clap::Subcommand;
use hermes_llm::chat::{Answer, ChatLimits, ChatModel, ChatRequest, Flow, Preview, Usage};
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{BOLD, DIM, Page, Show};
use hermes_app::models::{Chosen, ModelName, Models, Provider, Purpose};
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::{counted, one_line};
use hermes_app::variables::Place;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the providers, where each key was found, and which model is used for what
    List,
    /// Send one small request to a model and show the result
    Test {
        /// Model to test, as provider/name [default: the one for conversations]
        model: Option<String>,
        /// Print the request with the key hidden, and send nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// A provider and whether it can be asked.
#[derive(Debug, Serialize)]
struct Row {
    provider: Provider,
    /// Whether nothing is missing; whether it answers, only `hermes model test` knows.
    ready: bool,
    /// The variable that holds the key, or that should.
    key: Option<&'static str>,
    key_found_in: Option<Place>,
    needs_key: bool,
    address: String,
}

#[derive(Debug, Serialize)]
struct Overview {
    results: Vec<Row>,
    conversation: Use,
    background: Use,
    #[serde(skip)]
    background_line: String,
}

/// The model that a kind of work uses.
#[derive(Debug, Serialize)]
struct Use {
    model: Option<String>,
    why: String,
}

#[derive(Debug, Serialize)]
struct Tested {
    model: String,
    answered_by: String,
    milliseconds: u64,
    usage: Usage,
    cost_usd: Option<f64>,
    request_id: Option<String>,
    answer: String,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Request(Preview);

/// Room for models that think before they answer.
const MAX_TOKENS: u32 = 2048;

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let models = app.models(&home)?;
    match command {
        Command::List => {
            let overview = overview(&models);
            app.out.show(&overview)?;
        }
        Command::Test { model, dry_run } => {
            let name = wanted(&models, model.as_deref())?;
            let request = ChatRequest::of("Answer with the one word: ready", MAX_TOKENS);
            if *dry_run {
                let shown = Request(models.prepare(&name, once())?.preview(&request));
                let missing = models.missing_key(&name);
                app.out.show(&shown)?;
                if let Some(variable) = missing {
                    app.out.note(format_args!(
                        "{variable} is not set: the provider would refuse this request"
                    ));
                }
            } else {
                let tested = test(&models, &name, &request)?;
                app.out.show(&tested)?;
            }
        }
    }
    Ok(Outcome::Done)
}

/// Somebody wants to know how things stand, so the first answer counts.
fn once() -> ChatLimits {
    ChatLimits {
        connect: Duration::from_secs(5),
        first_token: Duration::from_secs(90),
        deadline: Duration::from_secs(120),
        tries: 1,
        ..ChatLimits::default()
    }
}

fn wanted(models: &Models<'_>, typed: Option<&str>) -> Result<ModelName, Problem> {
    if let Some(typed) = typed {
        return ModelName::parse(typed);
    }
    match models.chosen(Purpose::Conversation)? {
        Chosen::Model(picked) => Ok(picked.name),
        Chosen::RulesOnly | Chosen::Nothing => Err(Problem::new(
            Kind::NotFound,
            "there is no model to test: none is configured, and no key was found",
        )
        .hint(
            "set one, for example `hermes config set model.default ollama/llama3.2`, or store a key with \
             `hermes config set ANTHROPIC_API_KEY -`",
        )),
    }
}

fn test(models: &Models<'_>, name: &ModelName, request: &ChatRequest) -> anyhow::Result<Tested> {
    let model = models.open(name, once())?;
    let started = Instant::now();
    let answer = model.complete(request, &mut |_| Flow::Go)?;
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let answer_text = one_line(&answer.text(), 60);
    let Answer { usage, request_id, model: answered_by, .. } = answer;
    Ok(Tested {
        model: name.to_string(),
        answered_by,
        milliseconds,
        cost_usd: models.price(name).map(|price| price.cost(&usage)),
        usage,
        request_id,
        answer: answer_text,
    })
}

fn overview(models: &Models<'_>) -> Overview {
    Overview {
        results: Provider::NAMED.iter().map(|provider| row(models, *provider)).collect(),
        conversation: used(models, Purpose::Conversation),
        background: used(models, Purpose::Background),
        background_line: models.describe(),
    }
}

fn row(models: &Models<'_>, provider: Provider) -> Row {
    let found = models.key(provider);
    let address = models.address(provider, None);
    let name = ModelName { provider, model: String::new(), base: None };
    Row {
        provider,
        ready: models.missing_key(&name).is_none(),
        key: match &found {
            Some(key) => Some(key.variable),
            None => provider.keys().first().map(|(variable, _)| *variable),
        },
        key_found_in: found.map(|key| key.place),
        needs_key: provider.needs_key(),
        address,
    }
}

fn used(models: &Models<'_>, purpose: Purpose) -> Use {
    match models.chosen(purpose) {
        Ok(Chosen::Model(picked)) => {
            let why = match models.missing_key(&picked.name) {
                Some(variable) => format!("{}, but {variable} is not set", picked.why),
                None => picked.why,
            };
            Use { model: Some(picked.name.to_string()), why }
        }
        Ok(Chosen::RulesOnly) => Use { model: None, why: "no model.light set".to_owned() },
        Ok(Chosen::Nothing) => {
            Use { model: None, why: "none is configured, no key was found".to_owned() }
        }
        Err(problem) => Use { model: None, why: problem.to_string() },
    }
}

impl Row {
    fn key_text(&self) -> String {
        match (self.key, self.key_found_in) {
            (Some(variable), Some(place)) => format!("{variable} {}", place.shown()),
            (Some(variable), None) if self.needs_key => format!("{variable} is not set"),
            _ => "not needed".to_owned(),
        }
    }
}

impl Show for Overview {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let cells = |row: &Row| {
            let ready = if row.ready { "yes" } else { "no" };
            let provider = row.provider.as_str().to_owned();
            vec![provider, ready.to_owned(), row.key_text(), row.address.clone()]
        };
        let rows: Vec<_> = self.results.iter().map(cells).collect();
        page.table(&["provider", "ready", "key", "address"], &rows)?;
        page.line("")?;
        let Use { model, why } = &self.conversation;
        let model = model.as_deref().unwrap_or("no model");
        page.line(format_args!("conversations: {model} {DIM}({why}){DIM:#}"))?;
        page.line(&self.background_line)
    }
}

impl Show for Tested {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let seconds = self.milliseconds as f64 / 1000.0;
        page.line(format_args!("{BOLD}{}{BOLD:#} answered in {seconds:.1} s", self.model))?;
        page.line(format_args!("  model       {}", one_line(&self.answered_by, 80)))?;
        let (read, written) = (counted(self.usage.read(), "token"), self.usage.output);
        page.line(format_args!("  tokens      {read} read, {written} written"))?;
        if let Some(cost) = self.cost_usd {
            page.line(format_args!("  cost        about ${cost:.6}"))?;
        }
        if let Some(id) = &self.request_id {
            page.line(format_args!("  request id  {}", one_line(id, 80)))?;
        }
        page.line(format_args!("  answer      {}", self.answer))
    }
}

impl Show for Request {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(serde_json::to_string_pretty(&self.0).map_err(io::Error::from)?)
    }
}
