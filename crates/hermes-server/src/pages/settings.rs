//! Settings: every value with where it comes from; secrets only as set or not; one is changed at a time.

use askama::Template;
use hermes_app::settings;
use hermes_home::config::{self, Origin, Unknown};
use hermes_home::secret::{self, Secrets};
use serde::Serialize;

use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};

const NAME: &str = "Settings";
/// Keys of models and embeddings that are looked for.
const SECRETS: [&str; 6] = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "VOYAGE_API_KEY",
    "LLAMA_API_KEY",
    "MODEL_API_KEY",
];

/// The page.
pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "," });
    Page { path: "/p/{profile}/settings", menu, show, deed: Some(change) }
}

#[derive(Template, Serialize)]
#[template(path = "settings.html")]
struct List {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    file: String,
    results: Vec<Row>,
    secrets: Vec<Kept>,
    #[serde(skip)]
    q: String,
    #[serde(skip)]
    changed: bool,
}

#[derive(Serialize)]
struct Row {
    key: &'static str,
    value: String,
    from: String,
    default: String,
    doc: &'static str,
    acts: bool,
    #[serde(skip)]
    is_default: bool,
    #[serde(skip)]
    is_in_file: bool,
    #[serde(skip)]
    is_secret: bool,
    #[serde(skip)]
    is_for_terminal: bool,
    #[serde(skip)]
    group: Option<&'static str>,
}

impl Row {
    fn is_switch(&self) -> bool {
        matches!(self.default.as_str(), "true" | "false")
    }
}

#[derive(Serialize)]
struct Kept {
    name: String,
    is_set: bool,
    from: &'static str,
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let app = seat.app.for_profile(&seat.home);
    let q = visit.asked("q").unwrap_or_default().to_lowercase();
    let changed = visit.asked("changed").is_some();
    let mut results: Vec<Row> = Vec::new();
    let mut last = "";
    for setting in config::list(app.config(&seat.home)?) {
        let is_default = setting.origin == Origin::Default;
        let is_asked = q.is_empty()
            || setting.key.contains(q.as_str())
            || setting.doc.to_lowercase().contains(q.as_str());
        if !is_asked || (changed && is_default) {
            continue;
        }
        let group = setting.key.split_once('.').map_or("general", |(group, _)| group);
        results.push(Row {
            group: (group != last).then_some(group),
            is_in_file: matches!(setting.origin, Origin::File { .. }),
            is_secret: secret::is_secret_key(setting.key),
            is_for_terminal: is_for_terminal(setting.key),
            is_default,
            from: from(&setting.origin),
            key: setting.key,
            value: setting.value,
            default: setting.default,
            doc: setting.doc,
            acts: setting.acts,
        });
        last = group;
    }
    let list = List {
        address: frame.link("settings"),
        file: seat.home.config().display().to_string(),
        secrets: secrets(seat)?,
        frame,
        results,
        q,
        changed,
    };
    let command = "hermes config list".to_owned();
    show::view(visit, Head { title: NAME.to_owned(), section: NAME, command }, &list)
}

/// Whether a setting runs programs, lets the agent do more, opens the listener, or says where what is remembered goes: who
/// gets hold of a browser must not be able to change it.
fn is_for_terminal(key: &str) -> bool {
    const BEGINNINGS: [&str; 2] = ["agent.", "server."];
    const ENDINGS: [&str; 3] = ["_command", "_webhook", "base_url"];
    const WHOLE: [&str; 3] = ["backup.targets", "backup.recipients", "memory.connection_string"];
    BEGINNINGS.iter().any(|beginning| key.starts_with(beginning))
        || ENDINGS.iter().any(|ending| key.ends_with(ending))
        || WHOLE.contains(&key)
}

/// Whether keys are set, and where; never what they are.
fn secrets(seat: &Seat) -> anyhow::Result<Vec<Kept>> {
    let kept = Secrets::read(&seat.home)?;
    let mut names: Vec<String> = kept.names().map(str::to_owned).collect();
    names.extend(SECRETS.iter().map(|name| (*name).to_owned()));
    names.sort();
    names.dedup();
    let one = |name: String| {
        let (in_file, in_environment) =
            (kept.get(&name).is_some(), seat.app.env.get(&name).is_some());
        let from = match (in_file, in_environment) {
            (_, true) => "the environment",
            (true, false) => ".env",
            (false, false) => "",
        };
        Kept { is_set: in_file || in_environment, from, name }
    };
    Ok(names.into_iter().map(one).collect())
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let key = visit.must_say("key")?;
    if secret::is_secret_name(key) || secret::is_secret_key(key) {
        let why = format!("{key} is a secret and cannot be set on this page");
        return Err(Problem::new(Kind::Refused, why)
            .hint(format!("run `hermes config set {key} -` and enter the value on standard input"))
            .into());
    }
    let mut app = seat.app.for_profile(&seat.home);
    let before = config::get(app.config(&seat.home)?, key)?;
    if is_for_terminal(before.key) {
        let why = format!("{} can only be changed in a terminal", before.key);
        return Err(Problem::new(Kind::Refused, why)
            .hint(format!("run `hermes config set {} VALUE`", before.key))
            .into());
    }
    let said = match visit.deed() {
        "set" => match visit.said("value").unwrap_or_default() {
            "" => settings::unset(&app, &seat.home, key, Unknown::Refuse)?,
            value => settings::set(&mut app, &seat.home, key, value, Unknown::Refuse)?,
        },
        "unset" => settings::unset(&app, &seat.home, key, Unknown::Refuse)?,
        _ => return Err(unknown_deed(visit)),
    };
    let address = visit.frame(seat)?.link("settings");
    let was_in_file = matches!(before.origin, Origin::File { .. });
    let value = if was_in_file { before.value.as_str() } else { "" };
    let notice = Notice::new(said.message).undo(&address, "set", &[("key", key), ("value", value)]);
    Ok(Answer::Done { back: visit.back(), notice })
}

fn from(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".to_owned(),
        Origin::File { path, line } => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            format!("{name}, line {line}")
        }
        Origin::Environment { name } => format!("${name}"),
        Origin::Flag => "option --set of the daemon".to_owned(),
    }
}
