//! The dashboard as a browser without a script sees it: who is let in, what is shown, what forms do.

use serde_json::Value;

use crate::listening::{Answer, Listening};
use crate::sandbox::Sandbox;

/// Somebody who was let in.
pub(crate) struct Visitor<'a> {
    pub(crate) daemon: &'a Listening,
    pub(crate) cookie: String,
    /// The name by which the dashboard is asked.
    pub(crate) host: String,
}

/// Every page that needs no id.
const PAGES: [&str; 6] =
    ["", "search?q=tea", "timeline", "facts", "facts/conflicts", "inspector?task=tea"];

/// Texts that want to be more than text.
const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "'><svg onload=alert(3)>",
    "</textarea><script>alert(4)</script>",
    "{{ 7*7 }} ${7*7} <%= 7*7 %> tea",
    "<a href=\"javascript:alert(5)\">tea</a>",
];

impl<'a> Visitor<'a> {
    pub(crate) fn new(daemon: &'a Listening) -> Visitor<'a> {
        let host = daemon.own_host();
        let entered = daemon.ask_at(&host, ("GET", &code(daemon)), &[], "");
        assert_eq!(entered.status, 200, "{}", entered.text);
        let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Visitor { daemon, cookie, host }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let cookie = format!("Cookie: {}", self.cookie);
        self.daemon.ask_at(&self.host, ("GET", path), &[&cookie, "Accept: text/html"], "")
    }

    pub(crate) fn page(&self, rest: &str) -> Answer {
        let answer = self.get(&format!("/p/default/{rest}"));
        assert_eq!(answer.status, 200, "{rest}: {}", answer.text);
        answer
    }

    pub(crate) fn json(&self, rest: &str) -> Value {
        let mark = if rest.contains('?') { '&' } else { '?' };
        self.page(&format!("{rest}{mark}format=json")).json()
    }

    /// What every form must hold, as a page says it.
    pub(crate) fn csrf(&self) -> String {
        let page = self.page("facts").text;
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    pub(crate) fn send(&self, rest: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = self.csrf();
        let all: Vec<(&str, &str)> =
            fields.iter().copied().chain([("csrf", csrf.as_str())]).collect();
        self.send_only(rest, &all, &[])
    }

    pub(crate) fn send_only(
        &self,
        rest: &str,
        fields: &[(&str, &str)],
        headers: &[&str],
    ) -> Answer {
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let cookie = format!("Cookie: {}", self.cookie);
        let kind = "Content-Type: application/x-www-form-urlencoded";
        let headers: Vec<&str> =
            [cookie.as_str(), kind].into_iter().chain(headers.iter().copied()).collect();
        let path = format!("/p/default/{rest}");
        self.daemon.ask_at(&self.host, ("POST", &path), &headers, &body.join("&"))
    }

    /// Sends a form and looks at the page that it leads to.
    pub(crate) fn does(&self, rest: &str, fields: &[(&str, &str)]) -> Answer {
        let sent = self.send(rest, fields);
        assert_eq!(sent.status, 303, "{rest} {fields:?}: {}", sent.text);
        let there = self.get(sent.header("location").unwrap());
        assert_eq!(there.status, 200, "{}", there.text);
        there
    }

    /// The fact as the API's own commands see it.
    pub(crate) fn fact(&self, id: &str) -> Value {
        self.daemon.sandbox.json(&["memory", "fact", "show", id])
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The path of an address that lets somebody in.
fn code(daemon: &Listening) -> String {
    let printed = daemon.sandbox.ok(&["dashboard", "--print"]);
    let url = printed.lines().next().unwrap();
    let (_, code) = url.split_once("/login?code=").unwrap_or_else(|| panic!("{printed}"));
    format!("/login?code={code}")
}

fn with_facts(facts: &[&str]) -> Listening {
    let sandbox = Sandbox::ready();
    for fact in facts {
        sandbox.ok(&["memory", "fact", "add", fact]);
    }
    Listening::at(sandbox)
}

#[test]
fn the_printed_address_lets_one_browser_in_once() {
    let daemon = with_facts(&[]);
    let again = daemon.sandbox.ok(&["start"]);
    assert!(again.contains("/login?code="), "{again}");
    let path = code(&daemon);
    let host = daemon.own_host();
    let first = daemon.ask_at(&host, ("GET", &path), &[], "");
    assert_eq!(first.status, 200, "{}", first.text);
    let cookie = first.header("set-cookie").unwrap();
    for flag in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(cookie.contains(flag), "{cookie}");
    }
    assert!(!cookie.contains("Secure") && !first.text.contains(&daemon.token), "{cookie}");
    let second = daemon.ask_at(&host, ("GET", &path), &[], "");
    assert_eq!((second.status, second.header("set-cookie")), (401, None));
    assert!(second.text.contains("hermes dashboard"), "{}", second.text);
    // Nothing that lets in lies about in the clear.
    let value = cookie.split(['=', ';']).nth(1).unwrap();
    for (file, bytes) in daemon.sandbox.snapshot() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            !text.contains(value) && !file.display().to_string().contains(value),
            "{}",
            file.display()
        );
    }
    // A daemon that begins anew still knows its visitors.
    let visitor = Visitor::new(&daemon);
    let cookie = format!("Cookie: {}", visitor.cookie);
    daemon.sandbox.ok(&["restart"]);
    let state: Value = serde_json::from_str(&daemon.sandbox.read("hermesd/daemon.json")).unwrap();
    let address = state["address"].as_str().unwrap().to_owned();
    let sandbox = Sandbox::empty();
    let renewed = Listening { sandbox, address, token: String::new() };
    let host = daemon.own_host();
    assert_eq!(renewed.ask_at(&host, ("GET", "/p/default/"), &[&cookie], "").status, 200);
}

#[test]
fn pages_are_for_visitors_and_the_api_is_for_tokens() {
    let daemon = with_facts(&["Prefers tea"]);
    for rest in PAGES {
        let path = format!("/p/default/{rest}");
        let nobody = daemon.ask("GET", &path, &["Accept: text/html"], "");
        assert_eq!(nobody.status, 401, "{path}");
        assert!(nobody.text.contains("hermes dashboard") && !nobody.text.contains("Prefers"));
        assert_eq!(daemon.get(&path).status, 401, "a token opened {path}");
    }
    let wrong = format!("Cookie: hermes={}", "0".repeat(64));
    let host = daemon.own_host();
    assert_eq!(daemon.ask_at(&host, ("GET", "/p/default/"), &[&wrong], "").status, 401);
    assert_eq!(daemon.ask("GET", "/p/default/events", &[], "").status, 401);
    let visitor = Visitor::new(&daemon);
    assert_eq!(visitor.get("/api/v1/facts").status, 401);
    let gone = visitor.daemon.ask_at(
        &visitor.host,
        ("POST", "/logout"),
        &[&format!("Cookie: {}", visitor.cookie)],
        &format!("csrf={}", visitor.csrf()),
    );
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(visitor.get("/p/default/").status, 401);
}

#[test]
fn forms_from_elsewhere_change_nothing() {
    let daemon = with_facts(&["Prefers tea"]);
    let (visitor, other) = (Visitor::new(&daemon), Visitor::new(&daemon));
    let forget = [("deed", "forget")];
    assert_eq!(visitor.send_only("facts/1", &forget, &[]).status, 403);
    let stolen = [("deed", "forget"), ("csrf", &other.csrf())];
    assert_eq!(visitor.send_only("facts/1", &stolen, &[]).status, 403);
    let csrf = visitor.csrf();
    let good = [("deed", "forget"), ("csrf", csrf.as_str())];
    for origin in ["http://evil.example", "null", "http://localhost:1", "http://localhost"] {
        let sent = visitor.send_only("facts/1", &good, &[&format!("Origin: {origin}")]);
        assert_eq!(sent.status, 403, "{origin}");
    }
    let head = format!(
        "GET /p/default/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nCookie: {}\r\n\r\n",
        visitor.cookie
    );
    assert_eq!(daemon.send(&head, b"").status, 403);
    assert!(visitor.fact("1")["retired_at"].is_null());
    // With its own origin it is done; and a form never leads to another site.
    let own = format!("Origin: http://{}", visitor.host);
    let back = [("deed", "forget"), ("csrf", csrf.as_str()), ("back", "https://evil.example/")];
    let sent = visitor.send_only("facts/1", &back, &[&own]);
    assert_eq!(sent.status, 303, "{}", sent.text);
    assert!(sent.header("location").unwrap().starts_with("/p/default/"));
    assert!(!visitor.fact("1")["retired_at"].is_null());
}

#[test]
fn stored_text_is_shown_as_text_on_every_page() {
    let daemon = with_facts(&HOSTILE);
    let visitor = Visitor::new(&daemon);
    let mut pages: Vec<String> = PAGES.map(str::to_owned).to_vec();
    pages.extend((1..=HOSTILE.len()).map(|id| format!("facts/{id}?edit=1")));
    for hostile in HOSTILE {
        pages.push(format!("search?q={}", encoded(hostile)));
        pages.push(format!("inspector?task={}&compare=1", encoded(hostile)));
        pages.push(format!("facts?entity={0}&kind={0}", encoded(hostile)));
        pages.push(format!("timeline?session={}", encoded(hostile)));
    }
    for page in pages {
        let answer = visitor.page(&page);
        for hostile in HOSTILE.iter().filter(|text| text.contains('<')) {
            assert!(!answer.text.contains(hostile), "{page}: {hostile}");
        }
        for word in ["<script>", "onerror=alert(2)>", " style=\"", "href=\"javascript:"] {
            assert!(!answer.text.contains(word), "{page}: {word}");
        }
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
}

#[test]
fn what_is_not_there_is_a_page_with_a_search() {
    let daemon = with_facts(&["Prefers tea"]);
    let visitor = Visitor::new(&daemon);
    for path in ["/p/default/facts/99", "/p/default/nothing", "/p/default/timeline/7", "/p/nobody/"]
    {
        let missing = visitor.get(path);
        assert_eq!(missing.status, 404, "{path}: {}", missing.text);
        assert!(missing.text.contains("<h1>Not found</h1>"), "{path}: {}", missing.text);
        assert!(missing.text.contains("role=\"search\""), "{path}");
    }
    let json = visitor.get("/p/default/facts/99?format=json");
    assert_eq!((json.status, &json.json()["error"]["kind"]), (404, &Value::from("not_found")));
    let deed = visitor.send("facts/1", &[("deed", "dance")]);
    assert_eq!(deed.status, 400, "{}", deed.text);
}

#[test]
fn an_edit_over_somebody_elses_shows_both_and_saves_nothing() {
    let daemon = with_facts(&["Prefers tea"]);
    let visitor = Visitor::new(&daemon);
    daemon.sandbox.ok(&["memory", "fact", "edit", "1", "Prefers green tea"]);
    let yours = [("deed", "edit"), ("revision", "1"), ("text", "Prefers <b>black</b> tea")];
    let stale = visitor.send("facts/1", &yours);
    assert_eq!(stale.status, 409, "{}", stale.text);
    assert!(stale.text.contains("Prefers green tea"), "{}", stale.text);
    assert!(stale.text.contains("&#60;b&#62;black"), "{}", stale.text);
    assert!(stale.text.contains("name=\"revision\" value=\"2\""), "{}", stale.text);
    assert_eq!(visitor.fact("1")["text"], "Prefers green tea");
    visitor.does("facts/1", &[("deed", "edit"), ("revision", "2"), ("text", "Prefers black tea")]);
    assert_eq!(visitor.fact("1")["text"], "Prefers black tea");
}

#[test]
fn facts_are_changed_and_every_change_is_undone() {
    let daemon = with_facts(&["Lives in Porto", "Prefers tea", "Likes tea best"]);
    let visitor = Visitor::new(&daemon);
    let edited = visitor
        .does("facts/1", &[("deed", "edit"), ("revision", "1"), ("text", "Lives in Lisbon")]);
    assert!(edited.text.contains("Saved: Lives in Lisbon") && edited.text.contains("data-undo"));
    assert!(edited.text.contains("<del>Porto</del>"), "{}", edited.text);
    visitor.does("facts/1", &[("deed", "undo")]);
    assert_eq!(visitor.fact("1")["text"], "Lives in Porto");
    let forgotten = visitor.does("facts/1", &[("deed", "forget"), ("reason", "outdated")]);
    assert!(forgotten.text.contains("user (outdated)"), "{}", forgotten.text);
    assert!(daemon.sandbox.ok(&["memory", "fact", "history", "1"]).contains("user (outdated)"));
    assert!(!visitor.page("facts").text.contains("Lives in Porto"));
    assert!(visitor.page("facts?show=forgotten").text.contains("Lives in Porto"));
    visitor.does("facts", &[("deed", "restore"), ("fact", "fact:001")]);
    visitor.does("facts", &[("deed", "pin"), ("fact", "fact:001"), ("fact", "fact:002")]);
    assert_eq!(visitor.json("facts?show=pinned")["results"].as_array().unwrap().len(), 2);
    let asked =
        visitor.send("facts", &[("deed", "merge"), ("fact", "fact:002"), ("fact", "fact:003")]);
    assert!(
        asked.status == 200 && asked.text.contains("Choose the fact to keep"),
        "{}",
        asked.text
    );
    visitor.does(
        "facts",
        &[("deed", "merge into"), ("keep", "fact:002"), ("fact", "fact:002"), ("fact", "fact:003")],
    );
    assert_eq!(visitor.fact("3")["superseded_by"], "fact:002");
    visitor.does("facts", &[("deed", "undo"), ("fact", "fact:003")]);
    assert!(
        visitor.fact("3")["superseded_by"].is_null() && visitor.fact("2")["retired_at"].is_null()
    );
    let moved = visitor.does("facts/1", &[("deed", "supersede"), ("text", "Lives in Berlin")]);
    assert!(moved.text.contains("Lives in Berlin"), "{}", moved.text);
    assert_eq!(visitor.fact("1")["superseded_by"], "fact:004");
    // What a person forgot here stays forgotten: it is the user's word.
    let none = visitor.send("facts", &[("deed", "forget")]);
    assert_eq!(none.status, 400, "{}", none.text);
    visitor.does("facts", &[("deed", "add"), ("text", "Has a cat"), ("kind", "fact")]);
    assert_eq!(visitor.fact("5")["origin"], "user");
}

#[test]
fn what_was_said_is_shown_with_what_was_drawn_from_it_and_can_be_excluded() {
    let daemon = with_facts(&[]);
    let turn = serde_json::json!({ "session_id": "s1", "channel": "cli", "messages": [
        { "role": "user", "text": "Remember that the shop is deployed to Lisbon", "external_id": "m1" },
        { "role": "assistant", "text": "Noted.", "external_id": "m2" },
    ]});
    assert_eq!(daemon.post("/api/v1/turns", &turn).status, 200);
    let visitor = Visitor::new(&daemon);
    let list = visitor.page("timeline").text;
    assert!(
        list.contains("deployed to Lisbon") && list.contains("/p/default/timeline/1"),
        "{list}"
    );
    assert!(visitor.page("timeline/1").text.contains("Noted."));
    let found = visitor.page("search?q=where+is+the+shop+deployed").text;
    assert!(
        found.contains("<mark>deployed</mark>") || found.contains("<mark>shop</mark>"),
        "{found}"
    );
    visitor.does("timeline/1", &[("deed", "exclude")]);
    assert!(!visitor.page("timeline").text.contains("deployed to Lisbon"));
    assert_eq!(
        visitor.json("search?q=shop+deployed+Lisbon&type=episodes")["results"],
        Value::Array(Vec::new())
    );
    visitor.does("timeline/1", &[("deed", "restore")]);
    let back = visitor.json("search?q=shop+deployed+Lisbon&type=episodes");
    assert_eq!(back["results"][0]["id"], "episode:1", "{back}");
    visitor.does("timeline/1", &[("deed", "extract")]);
}

#[test]
fn the_inspector_says_what_is_kept_and_what_is_not_and_compares() {
    let daemon =
        with_facts(&["Maria prefers tea in the morning", "The shop is deployed to Lisbon"]);
    let visitor = Visitor::new(&daemon);
    let shown = visitor.json("inspector?task=what+does+Maria+drink&compare=1&budget_b=0");
    assert_eq!(shown["sides"].as_array().unwrap().len(), 2, "{shown}");
    let tea = shown["results"].as_array().unwrap().iter().find(|one| one["name"] == "fact:001");
    let kept = &tea.unwrap_or_else(|| panic!("{shown}"))["kept"];
    assert_eq!(kept[0], "", "{shown}");
    assert_ne!(kept[1], "", "{shown}");
    // Looking is no use.
    assert_eq!(visitor.fact("1")["uses"], 0);
    let page = visitor.page("inspector?task=what+does+Maria+drink&compare=1&budget_b=0").text;
    assert!(
        page.contains(">included</span>") && page.contains("Text that the model would be given"),
        "{page}"
    );
}

#[test]
fn every_page_is_also_json_and_a_table() {
    let daemon = with_facts(&["Prefers tea, always", "=HYPERLINK(\"x\")"]);
    let visitor = Visitor::new(&daemon);
    for rest in PAGES {
        let json = visitor.json(rest);
        assert!(json["results"].is_array(), "{rest}: {json}");
        let mark = if rest.contains('?') { '&' } else { '?' };
        let csv = visitor.page(&format!("{rest}{mark}format=csv"));
        assert!(csv.header("content-type").unwrap().starts_with("text/csv"), "{rest}");
    }
    let csv = visitor.page("facts?format=csv").text;
    assert!(csv.contains("\"Prefers tea, always\"") && csv.contains("'=HYPERLINK"), "{csv}");
    let cookie = format!("Cookie: {}", visitor.cookie);
    let headers = [cookie.as_str(), "Accept: application/json"];
    let json = daemon.ask_at(&visitor.host, ("GET", "/p/default/facts"), &headers, "");
    assert_eq!(json.json()["results"].as_array().unwrap().len(), 2);
}

#[test]
fn what_every_page_loads_is_small_and_kept() {
    let daemon = with_facts(&["Prefers tea"]);
    let visitor = Visitor::new(&daemon);
    let page = visitor.page("").text;
    let addresses: Vec<&str> =
        page.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert!(addresses.len() >= 3, "{page}");
    let mut sum = 0;
    for address in addresses {
        let asset = daemon.ask("GET", address, &["Accept-Encoding: gzip"], "");
        assert_eq!((asset.status, asset.header("content-encoding")), (200, Some("gzip")));
        assert!(asset.header("cache-control").unwrap().contains("immutable"));
        sum += asset.header("content-length").unwrap().parse::<usize>().unwrap();
    }
    assert!(sum <= 60_000, "{sum} bytes");
    assert_eq!(daemon.ask("GET", "/assets/0000/style.css", &[], "").status, 404);
    let cookie = format!("Cookie: {}", visitor.cookie);
    let get =
        |path: &str, more: &str| daemon.ask_at(&visitor.host, ("GET", path), &[&cookie, more], "");
    let small = get("/p/default/", "Accept-Encoding: gzip");
    assert_eq!(small.header("content-encoding"), Some("gzip"));
    let fragment = get("/p/default/facts", "x-fragment: 1");
    assert!(
        fragment.text.starts_with("<main") && fragment.text.len() < page.len(),
        "{}",
        fragment.text
    );
}

#[test]
fn an_empty_memory_says_what_comes_next() {
    let daemon = with_facts(&[]);
    let visitor = Visitor::new(&daemon);
    for (rest, step) in [
        ("", "hermes integrate"),
        ("facts", "hermes memory fact add"),
        ("timeline", "hermes import"),
        ("facts/conflicts", "No conflicts"),
        ("inspector", "hermes integrate"),
        ("search", "Ask as you would ask a person"),
    ] {
        let text = visitor.page(rest).text;
        assert!(text.contains(step), "{rest}: {text}");
    }
    // Looking makes no memory.
    assert!(!daemon.sandbox.path("memory.db").exists());
}
