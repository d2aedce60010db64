// What must not happen: stored text that runs, strangers that are let in, work that is lost with the daemon.
import assert from "node:assert/strict";
import http from "node:http";
import { readFileSync } from "node:fs";
import path from "node:path";
import { MARKER, notice } from "./desk.mjs";

const RUN = `console.log('${MARKER}')`;

// Families of texts that would run somewhere: each way in with each way of writing it.
export function hostile() {
  const made = new Set();
  const handlers = ["onerror", "onload", "onclick", "onmouseover", "onfocus", "ontoggle", "onanimationstart", "onpointerenter"];
  const carriers = ["img src=x", "svg", "details open", "input autofocus", "video src=x", "body", "iframe src=x", "style", "marquee", "audio src=x"];
  for (const handler of handlers) for (const carrier of carriers) made.add(`<${carrier} ${handler}="${RUN}">`);
  for (const carrier of carriers) made.add(`"><${carrier} ${handlers[0]}=${RUN}//`);
  for (const close of ["</textarea>", "</title>", "</script>", "</style>", "</pre>", "-->", "</a>", "</main>", "</td></tr></table>", "</form>", "]]>", "</noscript>", "</option></select>"]) {
    made.add(`${close}<script>${RUN}</script>`);
    made.add(`${close}<img src=x onerror="${RUN}">`);
    made.add(`${close}<svg onload=${RUN}>`);
  }
  for (const scheme of ["javascript:", "JaVaScRiPt:", "java\tscript:", " javascript:", "\u0001javascript:", "data:text/html,<script>", "vbscript:", "javascript&colon;"]) {
    made.add(`[click](${scheme}${RUN})`);
    made.add(`![picture](${scheme}${RUN})`);
    made.add(`<a href="${scheme}${RUN}">click</a>`);
    made.add(`[ref]: ${scheme}${RUN}\n\n[ref]`);
    made.add(`<${scheme}${RUN}>`);
    made.add(`<form action="${scheme}${RUN}"><button>send</button></form>`);
  }
  for (const quote of ['"', "'", "`", " ", "&quot;", "&#34;", "\\\"", "\n"]) {
    made.add(`${quote} autofocus onfocus=${RUN} x=${quote}`);
    made.add(`x${quote}><script>${RUN}</script>`);
    made.add(`${quote}-${RUN}-${quote}`);
    made.add(`${quote};${RUN};//`);
    made.add(`x${quote} style=${quote}background:url(javascript:${RUN})`);
  }
  for (const odd of ["<scr<script>ipt>", "<SCRIPT>", "<script/x>", "<script\n>", "<script\t>", "\u003cscript\u003e", "%3Cscript%3E", "&lt;script&gt;", "&#60;script&#62;", "＜script＞", "<script\u0000>", "<\u0000script>", "<svg><script>", "<math><mi><script>", "<template><script>"]) {
    made.add(`${odd}${RUN}</script>`);
    made.add(`a${odd}${RUN}`);
    made.add(`**${odd}** ${RUN}`);
    made.add(`\`${odd}\` ${RUN}`);
  }
  for (const text of ["{{constructor.constructor('CODE')()}}", "${CODE}", "#{CODE}", "<%= CODE %>", "{% raw %}CODE", "{{ CODE|safe }}", "[[CODE]]", "<x-y is=CODE>", "@import 'javascript:CODE'", "expression(CODE)", "<base href=javascript:CODE//>", "<link rel=stylesheet href=data:text/css,CODE>", "<meta http-equiv=refresh content='0;url=javascript:CODE'>", "<object data=javascript:CODE>", "<embed src=javascript:CODE>", "<iframe srcdoc='<script>CODE</script>'>", "=HYPERLINK(\"javascript:CODE\")", "\u202e<script>CODE</script>", "\u2028CODE\u2029", "\ufeff<script>CODE</script>"]) {
    for (const before of ["", "Remember ", "> ", "| a | "]) made.add(before + text.replaceAll("CODE", RUN));
  }
  return [...made];
}

async function call(desk, method, rest, body) {
  desk.token ||= desk.hermes("token", "show");
  for (;;) {
    const answer = await fetch(`${desk.api}/api/v1/${rest}`, {
      method,
      headers: { authorization: `Bearer ${desk.token}`, ...(typeof body === "string" ? {} : { "content-type": "application/json" }), ...(call.more || {}) },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    if (answer.status !== 429) return answer;
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(answer.headers.get("retry-after") || 1)));
  }
}

export async function hostileTexts(desk) {
  const texts = hostile();
  assert.ok(texts.length >= 300, `only ${texts.length} texts`);
  const kept = texts.filter((text) => !text.includes("\u0000"));
  for (const [number, text] of kept.entries()) {
    const answer = await call(desk, "POST", "facts", { text, entities: number % 5 ? [] : [text.slice(0, 60)] });
    assert.ok(answer.ok, `${answer.status} ${await answer.text()}`);
  }
  const messages = texts.flatMap((text) => [{ role: "user", text }, { role: "assistant", text }]);
  for (let from = 0; from < messages.length; from += 60) {
    const turn = { session_id: `hostile-${from}`, channel: "<img src=x onerror=" + RUN + ">", messages: messages.slice(from, from + 60) };
    const answer = await call(desk, "POST", "turns", turn);
    assert.ok(answer.ok, await answer.text());
  }
  desk.hermes("sessions", "rename", "hostile-0", texts[90]);
  const file = await fetch(`${desk.api}/api/v1/files/memory`, { headers: { authorization: `Bearer ${desk.token}` } });
  const whole = `${await file.text()}\n${kept.map((text) => `- ${text.replaceAll("\n", " ")}`).join("\n")}\n`;
  call.more = { "if-match": file.headers.get("etag"), "content-type": "text/markdown" };
  const saved = await call(desk, "PUT", "files/memory", whole);
  call.more = null;
  assert.ok(saved.ok, await saved.text());
  const page = await desk.window({ expected: [] });
  const looked = ["", "timeline", "files", "files/memory?version=3", "people", "procedures", "jobs", "carry", "search?q=script", "search?q=javascript", "search?q=" + encodeURIComponent(texts[0]), "inspector?task=" + encodeURIComponent(texts[3]), "sessions", "sessions?q=script", `facts?q=${encodeURIComponent(texts[1])}`];
  for (let from = 0; from < kept.length + 60; from += 50) looked.push(`facts?offset=${from}`);
  for (let from = 0; from < messages.length; from += 60) looked.push(`sessions/hostile-${from}`);
  const listed = desk.json("memory", "fact", "list", "--limit", "60").results;
  for (const fact of listed) looked.push(`facts/${Number(fact.id.replace("fact:", ""))}`);
  for (const rest of looked) {
    const answer = await page.show(rest);
    assert.equal(answer.status(), 200, rest);
    await page.evaluate(() => { for (const fold of document.querySelectorAll("details")) fold.open = true; });
    assert.equal(await page.locator("main script, main iframe, main object, main embed, main base, main [onerror], main [onload], main [onclick], main [onfocus], main [srcdoc]").count(), 0, rest);
    const links = await page.locator("main a[href]").evaluateAll((all) => all.map((one) => one.href).filter((href) => !/^(https?|mailto):/.test(href)));
    assert.deepEqual(links, [], rest);
    desk.mustBeClean();
  }
}

// A request as it stands, without what a browser adds.
function plain(desk, { method = "GET", rest, headers, body }) {
  const { hostname, port } = new URL(desk.api);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, method, path: rest, headers }, (answer) => {
      let text = "";
      answer.on("data", (piece) => { text += piece; });
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

export async function refused(desk) {
  const cookie = desk.state.cookies.map((one) => `${one.name}=${one.value}`).join("; ");
  const host = new URL(desk.origin).host;
  const rest = "/p/default/facts/1";
  const form = { "content-type": "application/x-www-form-urlencoded", cookie, host };
  assert.equal((await plain(desk, { rest, headers: { host, cookie } })).status, 200);
  assert.equal((await plain(desk, { rest, headers: { host } })).status, 401);
  assert.equal((await plain(desk, { rest, headers: { host: "evil.example", cookie } })).status, 403);
  for (const body of ["deed=forget", "deed=forget&csrf=00", `deed=forget&csrf=${"0".repeat(64)}`]) {
    const answer = await plain(desk, { method: "POST", rest, headers: form, body });
    assert.equal(answer.status, 403, body);
  }
  const page = await desk.window({ expected: ["status of 403"] });
  await page.show("facts/1");
  const csrf = await page.locator("main input[name=csrf]").first().inputValue();
  const body = `deed=forget&csrf=${csrf}`;
  for (const origin of ["https://evil.example", "null", `${desk.origin}.evil.example`]) {
    const answer = await plain(desk, { method: "POST", rest, headers: { ...form, origin }, body });
    assert.equal(answer.status, 403, origin);
  }
  assert.ok(!desk.json("memory", "fact", "show", "1").retired_at, "nothing happened");
  // A page of somebody else cannot send one of our forms along with our cookie.
  const stranger = await desk.browser.newContext({ storageState: desk.state });
  const theirs = await stranger.newPage();
  await theirs.route("https://evil.example/", (route) => route.fulfill({ contentType: "text/html", body: `<form method=post action="${desk.origin}${rest}"><input name=deed value=forget><input name=csrf value=${csrf}></form>` }));
  await theirs.goto("https://evil.example/");
  const [answer] = await Promise.all([theirs.waitForResponse((one) => one.url().includes("/facts/1")), theirs.evaluate(() => document.forms[0].submit())]);
  assert.ok([401, 403].includes(answer.status()), String(answer.status()));
  assert.ok(!desk.json("memory", "fact", "show", "1").retired_at, "nothing happened");
  // A code lets one in, once.
  const code = desk.json("dashboard", "--print").url;
  const again = new URL(code);
  assert.equal((await plain(desk, { rest: again.pathname + again.search, headers: { host } })).status, 200);
  assert.notEqual((await plain(desk, { rest: again.pathname + again.search, headers: { host } })).status, 200);
  const policy = (await plain(desk, { rest, headers: { host, cookie } })).headers["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.ok(!policy.includes("unsafe"));
}

// A server of somebody else on another port of this machine, which keeps what browsers send it.
async function neighbour() {
  const heard = [];
  const server = http.createServer((request, answer) => {
    heard.push(request.headers);
    answer.setHeader("content-type", "text/html");
    answer.end("<!doctype html><title>neighbour</title><script>fetch('/again', { credentials: 'include' })</script>");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { heard, port: server.address().port, close: () => server.close() };
}

// The cookie of the dashboard goes to no other port, and where it came from another name it opens nothing.
export async function otherPorts(desk) {
  const page = await desk.window();
  await page.show("facts/1");
  const theirs = await neighbour();
  for (const name of ["127.0.0.1", "localhost", "hermes.localhost", "evil.localhost"]) {
    await page.goto(`http://${name}:${theirs.port}/`);
    await page.waitForLoadState("networkidle");
  }
  theirs.close();
  assert.ok(theirs.heard.length >= 8, `${theirs.heard.length} requests`);
  for (const headers of theirs.heard) assert.ok(!(headers.cookie || "").includes("hermes="), JSON.stringify(headers));
  // What a thief would replay at the address that everybody knows.
  const cookie = desk.state.cookies.map((one) => `${one.name}=${one.value}`).join("; ");
  for (const name of ["127.0.0.1", "localhost"]) {
    const { port } = new URL(desk.api);
    const answer = await plain(desk, { rest: "/p/default/facts/1", headers: { host: `${name}:${port}`, cookie } });
    assert.equal(answer.status, 401, name);
    assert.ok(!answer.text.includes(new URL(desk.origin).hostname), "the name is not told");
  }
  // Where the name is not found: the code as a password, which browsers send to one port alone.
  const code = new URL(desk.json("dashboard", "--print").url).searchParams.get("code");
  const context = await desk.browser.newContext({ httpCredentials: { username: "me", password: code } });
  const own = await context.newPage();
  await own.goto(`${desk.api}/enter`);
  await own.waitForURL("**/p/default/");
  await own.goto(`${desk.api}/p/default/facts/1`);
  assert.ok(await own.locator("main input[name=csrf]").count());
  await context.close();
}

export async function lostDaemon(desk) {
  const page = await desk.window({ expected: ["ERR_CONNECTION_REFUSED", "Failed to load resource", "ERR_INCOMPLETE", "ERR_NETWORK"] });
  await page.show("files/user");
  const typed = "# User\n\n- Typed while nobody answered\n";
  await page.locator("#text").fill(typed);
  const { pid } = JSON.parse(readFileSync(path.join(desk.home, "hermesd", "daemon.json"), "utf8"));
  process.kill(pid, "SIGKILL");
  await page.locator("button[value=save]").click();
  await page.locator("#lost:not([hidden])").waitFor();
  assert.equal(await page.locator("#text").inputValue(), typed, "the form is kept");
  desk.hermes("start");
  await page.locator("[data-retry]").click();
  await notice(page).waitFor();
  assert.equal(await page.locator("#lost").isHidden(), true);
  assert.equal(readFileSync(path.join(desk.home, "memories", "USER.md"), "utf8"), typed);
}
