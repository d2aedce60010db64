// What pages gain with a script: forms without reloading, keys, live updates, nothing lost when the daemon is away.
"use strict";

const byId = (id) => document.getElementById(id);
const main = () => byId("main");
const isTyping = (node) => node.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
const page = () => location.pathname + location.search;
let shown = page();
let retry = null;
let unsaved = false;
let lastSaid = "";
let asked = 0;

function say(text) {
  const place = byId("said");
  if (place) place.textContent = text;
}

function lost(again) {
  retry = again;
  byId("lost").hidden = false;
}

function found() {
  retry = null;
  byId("lost").hidden = true;
}

// Puts the main part of an answer in the place of the old one.
function swap(text, address, keepPlace, isLive) {
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("main");
  if (!fresh) return false;
  const old = main();
  const [left, top] = [window.scrollX, window.scrollY];
  const row = rowAt() ? rows().indexOf(rowAt()) : -1;
  const open = [...old.querySelectorAll("details[open][id]")].map((one) => one.id);
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  const typed = active && isTyping(active) ? [active.value, active.selectionStart, active.selectionEnd] : null;
  old.replaceWith(fresh);
  document.title = fresh.dataset.title;
  for (const line of document.querySelectorAll(".side a[data-section]")) {
    if (line.dataset.section === fresh.dataset.section) line.setAttribute("aria-current", "page");
    else line.removeAttribute("aria-current");
  }
  if (address && address !== location.href) history[isLive ? "replaceState" : "pushState"](null, "", address);
  shown = page();
  unsaved = false;
  ready(fresh);
  if (keepPlace) {
    open.forEach((id) => byId(id)?.setAttribute("open", ""));
    if (row >= 0) mark(rows()[Math.min(row, rows().length - 1)], false);
    window.scrollTo(left, top);
    const again = active?.id ? byId(active.id) : null;
    again?.focus({ preventScroll: true });
    // What was typed while the answer was on its way stays.
    if (again && typed && isLive) {
      again.value = typed[0];
      try { again.setSelectionRange(typed[1], typed[2]); } catch { /* numbers have no selection */ }
    }
  } else {
    fresh.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
  const notice = fresh.querySelector("[data-notice] > span");
  if (notice && notice.textContent !== lastSaid) say(lastSaid = notice.textContent);
  return true;
}

async function fetchPage(address, options = {}) {
  const headers = { "x-fragment": "1", accept: "text/html", ...options.headers };
  const answer = await fetch(address, { ...options, headers, credentials: "same-origin" });
  if ([401, 503, 504].includes(answer.status)) throw new Error("away");
  return answer;
}

// Sends a form and shows what comes back; where nobody answers the form stays as it is.
async function send(form, button) {
  const fields = new FormData(form, button);
  const method = (button?.formMethod || form.method || "get").toLowerCase();
  const action = new URL(button?.getAttribute("formaction") || form.getAttribute("action") || location.href, location.href);
  const body = new URLSearchParams(fields);
  const isLive = form.hasAttribute("data-live");
  const turn = ++asked;
  form.setAttribute("aria-busy", "true");
  try {
    let answer;
    if (method === "post") {
      answer = await fetchPage(action, { method: "POST", body });
    } else {
      for (const [name, value] of [...body]) if (value === "") body.delete(name, value);
      action.search = body;
      answer = await fetchPage(action);
    }
    const text = await answer.text();
    found();
    // A later question has overtaken this one.
    if (isLive && turn !== asked) return;
    const address = answer.redirected || method === "get" ? answer.url : null;
    if (!swap(text, address, isLive || "stay" in form.dataset, isLive)) location.reload();
  } catch {
    unsaved = method === "post";
    lost(() => send(form, button));
  } finally {
    form.removeAttribute("aria-busy");
  }
}

// Shows the page anew, unless somebody is in the midst of something.
async function refresh() {
  if (unsaved || document.hidden || isTyping(document.activeElement) || document.querySelector("dialog[open]")) return;
  if (main().querySelector("input[type=checkbox][data-pick]:checked, form[aria-busy], [data-still]")) return;
  try {
    const answer = await fetchPage(location.href);
    if (answer.ok) swap(await answer.text(), null, true);
    found();
  } catch {
    lost(refresh);
  }
}

function listen() {
  const address = document.body.dataset.events;
  if (!address || !window.EventSource) return;
  const source = new EventSource(address);
  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 400);
  };
  const actions = ["add", "edit", "retire", "restore", "supersede", "succeed", "unsupersede", "pin", "unpin", "confirm", "settle"];
  for (const kind of ["fact", "episode", "procedure", "event"]) {
    for (const action of actions) source.addEventListener(`${kind}.${action}`, soon);
  }
  source.onopen = () => { if (retry === listen) found(); };
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) setTimeout(listen, 5000); };
  window.addEventListener("pagehide", () => source.close());
}

const rows = () => [...main().querySelectorAll("[data-row]")];
const rowAt = () => main().querySelector("[data-row].at");

function mark(row, focus = true) {
  if (!row) return;
  rowAt()?.classList.remove("at");
  row.classList.add("at");
  if (!focus) return;
  row.scrollIntoView({ block: "nearest" });
  row.querySelector("a[href]")?.focus({ preventScroll: true });
}

function move(step) {
  const all = rows();
  const here = all.indexOf(rowAt());
  mark(all[here < 0 ? (step > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, here + step))]);
}

// What a key does is what a click on the thing that bears it does: in the row, else on the page.
function act(key) {
  const place = rowAt()?.querySelector(`[data-act="${key}"]`) || main().querySelector(`[data-act="${key}"]:not([data-row] *)`);
  if (!place) return false;
  if (place.matches("details")) {
    place.open = true;
    place.querySelector("textarea, input:not([type=hidden])")?.focus();
  } else if (place.matches("input, textarea")) place.focus();
  else place.click();
  return true;
}

let going = false;

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.key === "Escape" && isTyping(event.target)) return event.target.blur();
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (going) {
    going = false;
    const line = document.querySelector(`.side [data-go="${CSS.escape(event.key)}"]`);
    if (line) { event.preventDefault(); location.href = line.href; }
    return;
  }
  const deeds = {
    "/": () => { const box = document.querySelector('[data-key="/"]'); box?.focus(); box?.select(); },
    "?": () => byId("keys").showModal(),
    g: () => { going = true; setTimeout(() => { going = false; }, 1500); },
    j: () => move(1),
    k: () => move(-1),
    e: () => act("e"),
    d: () => act("d"),
    x: () => { const box = rowAt()?.querySelector("input[type=checkbox]"); if (box) box.click(); },
    u: () => main().querySelector("form[data-undo]")?.requestSubmit(),
  };
  if (event.key === "Enter" && rowAt() && event.target === document.body) {
    rowAt().querySelector("a[href]")?.click();
    return;
  }
  const deed = deeds[event.key];
  if (deed) { event.preventDefault(); deed(); }
}

// How many tokens a text costs, about: the server says it exactly when the file is saved.
function meter(area) {
  const place = byId(area.dataset.meter);
  const count = Math.ceil(new TextEncoder().encode(area.value.replace(/<!--[^]*?-->/g, "")).length / 4);
  if (!place) return;
  const output = place.querySelector("output");
  const gauge = place.querySelector("meter");
  if (output) output.textContent = String(count);
  if (gauge) gauge.value = count;
}

function ready(part) {
  for (const area of part.querySelectorAll("textarea[data-meter]")) meter(area);
  for (const button of document.querySelectorAll("[data-keys]")) button.hidden = false;
  for (const box of part.querySelectorAll("[data-all]")) box.hidden = false;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog" || !main().contains(form)) return;
  const question = event.submitter?.dataset.sure || form.dataset.sure;
  if (question && !window.confirm(question)) return event.preventDefault();
  unsaved = false;
  if (form.hasAttribute("data-plain")) return;
  event.preventDefault();
  send(form, event.submitter);
});

document.addEventListener("input", (event) => {
  const node = event.target;
  if (node.matches("textarea[data-meter]")) meter(node);
  if (node.form?.method === "post" && isTyping(node)) unsaved = true;
  const live = node.closest("form[data-live]");
  if (live && node.type !== "checkbox") {
    clearTimeout(live.waiting);
    live.waiting = setTimeout(() => send(live), 350);
  }
});

document.addEventListener("change", (event) => {
  const node = event.target;
  if (node.matches("[data-all]")) {
    for (const box of node.form.querySelectorAll("[data-pick]")) box.checked = node.checked;
  }
  if (node.matches("form[data-live] select, form[data-live] [type=checkbox]")) send(node.form);
});

document.addEventListener("click", (event) => {
  const node = event.target;
  if (node.closest("[data-keys]")) byId("keys").showModal();
  if (node.closest("[data-retry]") && retry) retry();
  const copy = node.closest("code.copy");
  if (copy && navigator.clipboard) navigator.clipboard.writeText(copy.textContent).then(() => say("Copied"), () => {});
  for (const open of document.querySelectorAll("details[data-closes][open]")) if (!open.contains(node)) open.open = false;
});

document.addEventListener("keydown", key);
// A link inside the page is no other page.
window.addEventListener("popstate", () => { if (page() !== shown) location.reload(); });
window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
ready(document);
listen();
