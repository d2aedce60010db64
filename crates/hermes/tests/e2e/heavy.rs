//! Nothing that is sent costs the daemon much: every route, tool and page with texts, lists and nestings without end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::listening::Listening;
use crate::pages::Visitor;
use crate::sandbox::Sandbox;

/// What one request may cost, whatever is in it.
const MOST: Duration = Duration::from_secs(2);
/// A text, the words of one, the depth of a nesting, and a list.
const BYTES: usize = 1_000_000;
const WORDS: usize = 10_000;
const DEPTH: usize = 100_000;
const IDS: usize = 100_000;
/// What fits into the head of a request.
const HEAD: usize = 50_000;

/// The CPU time of a process, in its own threads.
fn cpu(pid: u64) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

fn words(count: usize) -> String {
    (0..count).map(|number| format!("w{number}x")).collect::<Vec<_>>().join(" ")
}

/// Texts that cost: one without an end, many different words, one without spaces in it, and quotes.
fn texts(bytes: usize) -> Vec<String> {
    let cut = |text: String| text.chars().take(bytes / 3).collect::<String>();
    vec![
        "a".repeat(bytes),
        words((bytes / 8).max(WORDS.min(bytes / 8))),
        cut("界隈の猫が".repeat(bytes / 5)),
        "\"a b\" ".repeat(bytes / 6),
        "Ada Lovelace, ".repeat(bytes / 14),
    ]
}

/// Values for one property: texts, numbers out of bounds, long lists, deep nestings.
fn values(schema: &Value) -> Vec<Value> {
    let kind = schema["type"]
        .as_str()
        .map_or_else(|| schema["type"][0].as_str().unwrap_or("string").to_owned(), str::to_owned);
    match kind.as_str() {
        "array" => {
            let ids = |one: &Value| Value::from(vec![one.clone(); IDS]);
            let element = &schema["items"];
            let one = if element["type"] == "object" { filled(element) } else { json!("fact:1") };
            let different: Vec<String> = (0..IDS).map(|number| format!("n{number}")).collect();
            vec![ids(&one), json!(different), json!([texts(BYTES)[0]])]
        }
        "integer" | "number" => vec![json!(u32::MAX), json!(i64::MAX), json!(-1)],
        "boolean" => vec![json!(true)],
        _ => texts(BYTES).into_iter().map(Value::from).collect(),
    }
}

/// An object with something harmless in each place that must be filled.
fn filled(schema: &Value) -> Value {
    let needed = schema["required"].as_array().cloned().unwrap_or_default();
    let mut object = Map::new();
    for name in needed.iter().filter_map(Value::as_str) {
        let value = match schema["properties"][name]["type"].as_str() {
            Some("array") => json!(["tea"]),
            Some("integer") => json!(1),
            _ => json!("tea"),
        };
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

/// Every object with one property that costs.
fn bodies(schema: &Value) -> Vec<Value> {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut all = Vec::new();
    for (name, property) in &properties {
        for value in values(property) {
            let mut body = filled(schema);
            body[name] = value;
            all.push(body);
        }
    }
    all
}

/// What was measured: the most that a request cost, and how many there were.
#[derive(Default)]
struct Bill {
    tries: usize,
    most: Duration,
    what: String,
}

impl Bill {
    fn add(&mut self, what: &str, cost: Duration) {
        self.tries += 1;
        if cost > self.most {
            (self.most, self.what) = (cost, what.to_owned());
        }
        assert!(cost <= MOST, "{what} cost {cost:?}");
    }

    #[expect(clippy::print_stderr, reason = "what the dearest request cost is worth knowing")]
    fn tell(&self, of: &str) {
        eprintln!("{of}: {} requests, the dearest cost {:?}: {}", self.tries, self.most, self.what);
    }
}

/// A daemon with something to find, and no limit of requests.
fn busy() -> (Listening, u64) {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "server.requests_per_minute", "0"]);
    let daemon = Listening::at(sandbox);
    let turn = |number: usize| {
        json!({ "session_id": format!("s{number}"), "messages": [
            { "role": "user", "text": format!("Ada said w{number}x about tea in Lisbon and Porto. {}", words(30)) },
            { "role": "assistant", "text": "Noted, Ada." },
        ]})
    };
    let turns: Vec<Value> = (0..150).map(turn).collect();
    assert_eq!(daemon.post("/api/v1/turns", &json!({ "turns": turns })).status, 200);
    for number in 0..30 {
        let fact = json!({ "text": format!("Ada likes tea number {number}"), "entities": ["Ada"] });
        assert_eq!(daemon.post("/api/v1/facts", &fact).status, 201);
    }
    let state: Value = serde_json::from_str(&daemon.sandbox.read("hermesd/daemon.json")).unwrap();
    let pid = state["pid"].as_u64().unwrap();
    // What is done in the background with what was recorded is nobody's request.
    crate::sandbox::until("nothing is left to do", || {
        let status = daemon.get("/metrics").text;
        status.contains("hermes_open_jobs 0")
    });
    (daemon, pid)
}

fn resolved<'a>(page: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(name) => &page["components"]["schemas"][name.rsplit('/').next().unwrap()],
        None => schema,
    }
}

/// What can be asked of one route with something that costs: addresses with bodies.
fn requests(page: &Value, path: &str, operation: &Value) -> Vec<(String, String)> {
    let plain = path.replace("{id}", "1").replace("{name}", "memory");
    let long = path.replace("{id}", &"9".repeat(HEAD)).replace("{name}", &"m".repeat(HEAD));
    let mut all = vec![(plain.clone(), String::new()), (long, "{}".to_owned())];
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    let named = parameters.iter().filter(|one| one["in"] == "query");
    let names: Vec<&str> = named.filter_map(|one| one["name"].as_str()).collect();
    for name in &names {
        let needed = if *name != "q" && names.contains(&"q") { "&q=tea" } else { "" };
        for text in texts(HEAD / 9) {
            let text: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            all.push((format!("{plain}?{name}={text}{needed}"), String::new()));
        }
        all.push((format!("{plain}?{name}=4294967295{needed}"), String::new()));
    }
    if let Some(schema) = operation["requestBody"]["content"]["application/json"].get("schema") {
        let deep = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
        all.push((plain.clone(), format!("{{\"text\":{deep}}}")));
        all.push((plain.clone(), deep));
        let bodies = bodies(resolved(page, schema)).into_iter();
        all.extend(bodies.map(|body| (plain.clone(), body.to_string())));
    }
    all
}

#[test]
fn no_route_costs_more_than_two_seconds_whatever_is_sent() {
    let (daemon, pid) = busy();
    let page = daemon.get("/openapi.json").json();
    let mut bill = Bill::default();
    let bearer = format!("Authorization: Bearer {}", daemon.token);
    let kind = "Content-Type: application/json";
    for (path, methods) in page["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            // It goes on for as long as somebody listens.
            if path.ends_with("/changes") {
                continue;
            }
            for (address, body) in requests(&page, path, operation) {
                let before = cpu(pid);
                let answer = daemon.ask(&method.to_uppercase(), &address, &[&bearer, kind], &body);
                let what: String = format!("{method} {address} {body}").chars().take(90).collect();
                bill.add(&format!("{what} ({})", answer.status), cpu(pid) - before);
            }
        }
    }
    for name in ["memory", "user", "soul"] {
        let file = format!("/api/v1/files/{name}");
        for text in texts(BYTES) {
            let read = daemon.get(&file);
            let version = format!("If-Match: {}", read.header("etag").unwrap());
            let before = cpu(pid);
            let saved = daemon.ask("PUT", &file, &[&bearer, &version], &format!("- {text}\n"));
            bill.add(&format!("PUT {file} ({})", saved.status), cpu(pid) - before);
        }
    }
    bill.tell("routes");
}

#[test]
fn a_text_that_is_too_long_is_refused_by_a_search_and_cut_for_a_task() {
    let daemon = Listening::new();
    // What is looked for is bounded, and the error says how.
    let refused = daemon.post("/api/v1/search", &json!({ "q": words(WORDS) }));
    assert_eq!(refused.status, 400, "{}", refused.text);
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("at most 8192 are allowed"), "{message}");
    // A task may be long: a part of it is looked for, and that is said.
    let given = daemon.post("/api/v1/context", &json!({ "task": format!("tea {}", words(WORDS)) }));
    assert_eq!(given.status, 200, "{}", given.text);
    assert!(given.json()["notes"].to_string().contains("were searched for"), "{}", given.text);
    assert_eq!(daemon.ask("GET", "/health", &[], "").status, 200);
}

/// A program that speaks MCP over its standard input.
struct Tools {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Tools {
    fn of(sandbox: &Sandbox, surface: &str) -> Tools {
        let mut command = sandbox.command(&["mcp", "--compat", surface]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut tools = Tools { child, input, output: BufReader::new(output), last: 0 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        tools.ask("initialize", &hello);
        writeln!(
            tools.input,
            "{}",
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
        )
        .unwrap();
        tools
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        writeln!(self.input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "it ended at {method}");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == self.last {
                return answer;
            }
        }
    }
}

impl Drop for Tools {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn no_tool_costs_more_than_two_seconds_whatever_is_sent() {
    let (daemon, _) = busy();
    let mut bill = Bill::default();
    for surface in ["hermes", "mem0", "reference", "anthropic"] {
        let mut tools = Tools::of(&daemon.sandbox, surface);
        let pid = u64::from(tools.child.id());
        let listed = tools.ask("tools/list", &json!({}))["result"]["tools"].clone();
        for tool in listed.as_array().unwrap() {
            for arguments in bodies(&tool["inputSchema"]) {
                let before = cpu(pid);
                let call = json!({ "name": tool["name"], "arguments": arguments });
                let answer = tools.ask("tools/call", &call);
                assert!(answer.get("result").or(answer.get("error")).is_some(), "{answer}");
                let begins: String = arguments.to_string().chars().take(60).collect();
                bill.add(&format!("{surface} {} {begins}", tool["name"]), cpu(pid) - before);
            }
        }
    }
    // The same over HTTP, where the daemon works.
    let state: Value = serde_json::from_str(&daemon.sandbox.read("hermesd/daemon.json")).unwrap();
    let pid = state["pid"].as_u64().unwrap();
    let bearer = format!("Authorization: Bearer {}", daemon.token);
    let headers = [
        bearer.as_str(),
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
    ];
    for text in texts(BYTES) {
        for (tool, name) in [
            ("memory_search", "query"),
            ("memory_context", "task"),
            ("memory_add", "text"),
            ("session_search", "query"),
        ] {
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": { name: text } } });
            let before = cpu(pid);
            let answer = daemon.ask("POST", "/mcp", &headers, &call.to_string());
            assert_eq!(answer.status, 200, "{}", answer.text);
            bill.add(&format!("/mcp {tool}"), cpu(pid) - before);
        }
    }
    bill.tell("tools");
}

#[test]
fn no_page_costs_more_than_two_seconds_whatever_is_sent() {
    let (daemon, pid) = busy();
    let visitor = Visitor::new(&daemon);
    let mut bill = Bill::default();
    let parameters = [
        ("search", "q"),
        ("search", "entity"),
        ("search", "project"),
        ("facts", "q"),
        ("facts", "entity"),
        ("facts", "kind"),
        ("facts", "offset"),
        ("sessions", "q"),
        ("sessions", "offset"),
        ("timeline", "session"),
        ("timeline", "q"),
        ("inspector", "task"),
        ("settings", "q"),
        ("skills", "q"),
        ("procedures", "q"),
        ("files/memory", "version"),
        ("jobs", "q"),
    ];
    for (page, name) in parameters {
        for text in texts(HEAD / 9).iter().chain([&"4294967295".to_owned()]) {
            let text: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let before = cpu(pid);
            let text = &text[..text.len().min(HEAD)];
            let answer = visitor.get(&format!("/p/default/{page}?{name}={text}"));
            bill.add(&format!("page {page} {name} ({})", answer.status), cpu(pid) - before);
        }
    }
    let csrf = visitor.csrf();
    let long = words(BYTES / 8);
    let ids: Vec<String> = (0..IDS).map(|number| (number % 40).to_string()).collect();
    let chosen = |deed: &'static str| {
        let mut form: Vec<(&str, &str)> = ids.iter().map(|id| ("fact", id.as_str())).collect();
        form.extend([("deed", deed), ("csrf", csrf.as_str())]);
        form
    };
    let text =
        |deed: &'static str| vec![("text", long.as_str()), ("deed", deed), ("csrf", csrf.as_str())];
    let mut forms: Vec<(&str, Vec<(&str, &str)>)> =
        ["forget", "restore", "pin", "merge", "merge into", "undo"]
            .map(|deed| ("facts", chosen(deed)))
            .to_vec();
    forms.extend([
        ("facts", text("add")),
        ("facts/1", text("edit")),
        ("facts/1", text("supersede")),
        ("files/memory", text("save")),
    ]);
    for (page, form) in forms {
        let before = cpu(pid);
        let answer = visitor.send_only(page, &form, &[]);
        assert!(answer.status >= 200, "{page}");
        bill.add(&format!("form {page} ({})", answer.status), cpu(pid) - before);
    }
    bill.tell("pages");
}

#[test]
fn a_person_may_type_any_text_and_a_hook_takes_any() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "Deploys go to Lisbon"]);
    let long = words(WORDS);
    let ran = sandbox.run(&["memory", "search", &format!("deploys to Lisbon {long}")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("Lisbon") && ran.stderr.contains("were searched for"),
        "{}",
        ran.stderr
    );
    let given = sandbox.json(&["memory", "context", &format!("Where do deploys go? {long}")]);
    assert!(given["text"].as_str().unwrap().contains("Lisbon"), "{given}");
    let prompt = format!("{long} Where do deploys go, is it Lisbon?");
    let event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "h1", "cwd": sandbox.folder(), "prompt": prompt });
    let ran = sandbox.feed(&["hook", "claude-code"], event.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Lisbon"), "{}", ran.stdout);
}
