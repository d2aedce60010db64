// What a person does: look for something, put it right, take that back.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { notice } from "./desk.mjs";

const firstFact = (desk, text) => desk.json("memory", "fact", "list", "--limit", "0", "--all").results.find((fact) => fact.text === text);

export async function search(desk) {
  const page = await desk.window();
  await page.show("");
  await page.fill("#everything", "release day");
  await page.press("#everything", "Enter");
  await page.waitForURL("**/search?*");
  const main = page.locator("main");
  await main.getByText("The release day is Wednesday").first().waitFor();
  assert.ok((await main.locator("mark").count()) > 0, "what was asked for is marked");
  const labels = await main.innerText();
  assert.match(labels, /keyword|semantic|both/);
  // A facet narrows, the address keeps it, and a click lets go of it.
  const all = await main.locator("[data-row]").count();
  const facet = main.locator("p:has-text('Filter by source') a").first();
  const counted = Number((await facet.innerText()).match(/\((\d+)\)/)[1]);
  assert.ok(counted < all, "a facet says how many it leaves");
  await facet.click();
  await page.waitForURL("**source=*");
  await main.locator("a.badge.on").first().waitFor();
  assert.ok((await main.locator("[data-row]").count()) >= counted);
  await main.locator("p:has-text('Filter by source') a.on").click();
  await page.waitForURL((url) => !url.search.includes("source="));
}

export async function editAndUndo(desk) {
  const text = "The shop answers within 300 milliseconds on a usual day";
  const { id } = firstFact(desk, text);
  const page = await desk.window();
  await page.show(`facts/${Number(id.replace("fact:", ""))}`);
  await page.keyboard.press("e");
  const area = page.locator("main form:has([value=edit]) textarea, main form:has([value=edit]) input[name=text]").first();
  await area.fill("The shop answers within 250 milliseconds on a usual day");
  await page.locator("main button[value=edit]").click();
  await notice(page).waitFor();
  await page.locator("main").getByText("within 250 milliseconds").first().waitFor();
  assert.equal(desk.json("memory", "fact", "show", id).text, "The shop answers within 250 milliseconds on a usual day");
  // The history tells of both texts all along: what says that it was taken back is the answer to the click.
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await page.locator("form[data-undo] button").click();
  await answered;
  await page.locator("main").getByText("within 300 milliseconds").first().waitFor();
  assert.equal(desk.json("memory", "fact", "show", id).text, text);
}

export async function conflict(desk) {
  const { id } = firstFact(desk, "Dogs travel for free, cats need a ticket");
  const page = await desk.window({ expected: ["status of 409"] });
  await page.show(`facts/${Number(id.replace("fact:", ""))}`);
  await page.keyboard.press("e");
  const area = page.locator("main form:has([value=edit]) textarea, main form:has([value=edit]) input[name=text]").first();
  await area.fill("Dogs travel for free, birds need a ticket");
  desk.hermes("memory", "fact", "edit", id, "Dogs travel for free, horses need a trailer");
  await page.locator("main button[value=edit]").click();
  const main = page.locator("main");
  await main.getByText("horses need a trailer").first().waitFor();
  assert.ok((await main.innerHTML()).includes("birds need a ticket"), "both versions are there");
  assert.equal(desk.json("memory", "fact", "show", id).text, "Dogs travel for free, horses need a trailer");
}

export async function forgetAndRestore(desk) {
  const text = "The lift in the office fits one bicycle";
  const { id } = firstFact(desk, text);
  const number = Number(id.replace("fact:", ""));
  const page = await desk.window();
  page.acceptDialogs = true;
  await page.show(`facts/${number}`);
  await page.locator("main button[value=forget]").first().evaluate((button) => { for (let fold = button.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true; });
  await page.locator("main button[value=forget]").first().click();
  await notice(page).waitFor();
  assert.ok(desk.json("memory", "fact", "show", id).retired_at, "it is forgotten");
  await page.locator("form[data-undo] button").click();
  await page.waitForFunction(() => document.querySelector("[data-notice]")?.textContent.includes("Restored"));
  assert.ok(!desk.json("memory", "fact", "show", id).retired_at, "it is back");
}

export async function fileEdit(desk) {
  const file = path.join(desk.home, "memories", "MEMORY.md");
  const before = readFileSync(file, "utf8");
  const page = await desk.window({ expected: ["status of 409"] });
  await page.show("files/memory");
  const count = () => page.locator("#cost output").innerText().then(Number);
  const cost = await count();
  const area = page.locator("#text");
  await area.fill(`${await area.inputValue()}\n## Fun\n- Likes *teal*, & <b>dry</b> humour "a lot"\n`);
  assert.ok((await count()) > cost, "the meter is live");
  await page.locator("button[value=save]").click();
  await notice(page).waitFor();
  const after = readFileSync(file, "utf8");
  assert.equal(after, `${before}\n## Fun\n- Likes *teal*, & <b>dry</b> humour "a lot"\n`, "to the byte");
  await page.locator("form[data-undo] button").click();
  await page.waitForFunction(() => document.querySelector("[data-notice]")?.textContent.includes("Restored"));
  assert.equal(readFileSync(file, "utf8"), before);
  // Changed on the disk while it is being edited: both texts are shown, and nothing is lost.
  await page.show("files/memory");
  await page.locator("#text").fill(`${before}- Mine\n`);
  appendFileSync(file, "- Theirs\n");
  await page.locator("button[value=save]").click();
  await page.locator("#mine").waitFor();
  assert.ok((await page.locator("#mine").inputValue()).includes("- Mine"));
  assert.ok((await page.locator("#theirs").inputValue()).includes("- Theirs"));
  assert.equal(readFileSync(file, "utf8"), `${before}- Theirs\n`);
  await page.locator("#mine").fill(`${before}- Theirs\n- Mine\n`);
  await page.locator("button[value=save]").click();
  await notice(page).waitFor();
  assert.equal(readFileSync(file, "utf8"), `${before}- Theirs\n- Mine\n`);
  // A version is compared and restored.
  await page.show("files/memory?version=3");
  await page.locator("#compared ins").first().waitFor();
  await page.locator("button[value=restore]").click();
  await notice(page).waitFor();
  assert.ok(!readFileSync(file, "utf8").includes("- Mine"));
}

export async function sessions(desk) {
  const page = await desk.window();
  await page.show("sessions");
  await page.locator("main select[name=source]").selectOption("telegram");
  await page.waitForURL("**source=telegram*");
  assert.ok((await page.locator("main").innerText()).includes("Running shoes") || (await page.locator("a[rel=next]").count()) > 0);
  await page.show("sessions?q=disk+of+Rosalind");
  await page.locator(".hits a").first().click();
  await page.waitForURL("**around=*");
  await page.locator(".transcript .hit").waitFor();
  assert.ok((await page.locator(".transcript .hit mark").count()) > 0, "the hit is marked");
  await page.locator("button[value=pin]").click();
  await notice(page).waitFor();
  await page.locator("form[data-undo] button").click();
  await page.locator("button[value=pin]").waitFor();
  const latest = desk.json("sessions", "list", "--source", "cli").results[0];
  await page.show(`sessions/${latest.id}`);
  assert.ok((await page.locator("#given li").count()) > 0, "what was injected is shown");
}

export async function inspector(desk) {
  const page = await desk.window();
  await page.show("inspector?task=when+is+the+next+release");
  const main = page.locator("main");
  const text = await main.textContent();
  assert.match(text, /tokens/);
  assert.ok(text.includes("The release day is Wednesday"), "what would be given is there");
  const budget = page.locator("main input[name=budget]").first();
  await budget.fill("300");
  await budget.press("Enter");
  await page.waitForURL("**budget=300*");
  const row = main.locator("tr[data-row]:has-text('fact:')").first();
  const parts = await row.locator("td[data-label=Score] .parts li").allInnerTexts();
  const sum = parts.reduce((all, part) => all + Number(part.match(/[\d.]+$/)[0]), 0);
  const score = Number((await row.locator("td[data-label=Score]").innerText()).match(/^[\d.]+/)[0]);
  assert.ok(Math.abs(sum - score) < 0.02, `${parts} is not ${score}`);
  assert.match(await row.locator("td[data-label=Relevance]").innerText(), /words|name/);
}

// What was rejected, deleted or edited comes back from the notice; agents are connected after a look.
export async function waysBack(desk) {
  const page = await desk.window({ expected: ["status of 409", "status of 422"] });
  page.acceptDialogs = true;
  await page.show("skills");
  const pending = () => desk.json("skills", "list", "--pending").results.length;
  const before = pending();
  assert.ok(before > 0, "the demo has a skill that waits");
  await page.locator("button[name=reject]").first().click();
  await notice(page).waitFor();
  assert.equal(pending(), before - 1);
  await page.keyboard.press("u");
  await page.waitForFunction(() => /is (back|restored)/.test(document.querySelector("[data-notice]")?.textContent));
  assert.equal(pending(), before);
  // A skill is checked before it is saved.
  await page.show("skills/deploy-staging");
  await page.keyboard.press("e");
  await page.waitForURL("**/edit");
  const area = page.locator("#text");
  const text = await area.inputValue();
  await area.fill(text.replace(/description:.*\n/, ""));
  await page.locator("button[value=save]").click();
  await page.locator("[role=alert]").getByText("description").waitFor();
  assert.ok(!(await area.inputValue()).includes("description:"), "what was typed stays");
  await area.fill(`${text}\n- Look twice\n`);
  await page.locator("button[value=save]").click();
  await notice(page).waitFor();
  assert.ok(desk.hermes("skills", "show", "deploy-staging").includes("Look twice"));
  await page.locator("form[data-undo] button").click();
  await page.waitForFunction(() => !document.querySelector("#text")?.value.includes("Look twice"));
  // A session comes back.
  const { id } = desk.json("sessions", "list", "--source", "cli").results[0];
  await page.show(`sessions/${id}`);
  await page.locator("#delete summary").click();
  await page.locator("button[value=delete]").click();
  await notice(page).waitFor();
  assert.ok(!desk.json("sessions", "list").results.some((one) => one.id === id));
  await page.locator("form[data-undo] button").click();
  await page.locator(".transcript").waitFor();
  assert.ok(desk.json("sessions", "list").results.some((one) => one.id === id));
  // An agent is connected as it was shown, and taken out.
  await page.show("integrations?agent=claude-code");
  await page.locator("#plan pre").first().waitFor();
  await page.locator("button[value=connect]").click();
  await notice(page).waitFor();
  await page.getByText("Disconnect …").first().waitFor();
  await page.locator("form[data-undo] button").click();
  await page.waitForFunction(() => document.querySelector("[data-notice]")?.textContent.includes("is disconnected"));
  assert.equal(await page.getByText("Disconnect …").count(), 0);
}

export async function backupNow(desk) {
  const page = await desk.window();
  const count = () => desk.json("backup", "list").results.length;
  const before = count();
  await page.show("backups");
  await page.locator("main button[value=create]").click();
  await notice(page).waitFor({ timeout: 60000 });
  assert.equal(count(), before + 1);
  await page.locator("main table.rows a").first().click();
  await page.waitForURL("**/backups/*");
  const key = path.join(desk.home, "..", "backup-key");
  await page.locator("form:has([value=verify]) input[name=identity]").fill(key);
  await page.locator("button[value=verify]").click();
  await notice(page).waitFor();
  assert.match(await notice(page).innerText(), /compared one by one/);
  const folder = await page.locator("input[name=to]").inputValue();
  await page.locator("form:has([value=restore]) input[name=identity]").fill(key);
  await page.locator("button[value=restore]").click();
  await page.waitForFunction((name) => document.querySelector("[data-notice]")?.textContent.includes(name), folder);
  assert.ok(existsSync(path.join(folder, "SOUL.md")), "it is in the scratch folder");
}

export async function skillsAndSettings(desk) {
  const page = await desk.window();
  await page.show("skills");
  await page.locator("button[name=approve]").first().click();
  await notice(page).waitFor();
  assert.equal(desk.json("skills", "list", "--pending").results.length, 0);
  await page.show("settings?q=stale_after");
  await page.locator(".setting input[name=value]").fill("90");
  await page.locator("button[value=set]").click();
  await notice(page).waitFor();
  assert.equal(desk.json("config", "get", "memory.stale_after_days").value, "90");
  await page.locator("form[data-undo] button").click();
  await page.waitForFunction(() => document.querySelector(".setting input[name=value]")?.value === "180");
  assert.equal(desk.json("config", "get", "memory.stale_after_days").value, "180");
  await page.show("people");
  await page.locator("#add-user summary").click();
  await page.locator("#add-user input[name=name]").fill("rui");
  await page.locator("button[value=add]").click();
  await notice(page).waitFor();
  assert.ok(desk.json("user", "list").results.some((user) => user.name === "rui"));
  await page.show("jobs");
  await page.locator("button[name=run][value=vacuum]").click();
  await notice(page).waitFor();
}

export async function carry(desk) {
  const page = await desk.window({ acceptDownloads: true, expected: ["status of 400"] });
  await page.show("carry");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Download the whole memory").click()]);
  const whole = JSON.parse(readFileSync(await download.path(), "utf8"));
  assert.ok(JSON.stringify(whole).includes("Oda Brandt approves every release"));
  // Without the name nothing goes; with it, after a backup.
  const backups = desk.json("backup", "list").results.length;
  await page.locator("select[name=what]").selectOption("type:events");
  await page.locator("input[name=sure]").fill("event");
  await page.locator("button[value=forget]").click();
  await page.locator("main .trouble").waitFor();
  assert.ok(desk.json("memory", "timeline", "--since", "1y").results.length > 0);
  await page.show("carry");
  await page.locator("select[name=what]").selectOption("type:events");
  await page.locator("input[name=sure]").fill("events");
  await page.locator("button[value=forget]").click();
  await notice(page).waitFor({ timeout: 60000 });
  assert.equal(desk.json("memory", "timeline", "--since", "1y").results.length, 0);
  assert.equal(desk.json("backup", "list").results.length, backups + 1);
}

// From the address to a changed fact without a mouse.
export async function keyboardOnly(desk) {
  const page = await desk.window();
  await page.show("");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  await page.keyboard.press("?");
  await page.locator("dialog#keys[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await page.waitForURL("**/facts");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const text = await page.locator("[data-row].at a").first().innerText();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/facts/*");
  assert.ok((await page.locator("main").innerText()).includes(text));
  await page.keyboard.press("e");
  await page.waitForFunction(() => document.activeElement?.matches("textarea, input"));
  await page.keyboard.press("End");
  await page.keyboard.type(" (seen)");
  assert.match(await page.evaluate(() => document.activeElement.value), /\(seen\)/);
  for (let step = 0; step < 6 && !(await page.evaluate(() => document.activeElement?.value === "edit")); step++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await notice(page).waitFor();
  await page.keyboard.press("u");
  await page.waitForFunction(() => !document.querySelector("main .said")?.textContent.includes("(seen)"));
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "everything");
  await page.keyboard.type("ferry e");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/search?q=ferry+e*");
}

export async function withoutScript(desk) {
  const page = await desk.window({ javaScriptEnabled: false });
  for (const rest of ["", "facts", "sessions", "sessions?older=30d", "files", "backups", "procedures", "skills", "skills/deploy-staging/edit", "people", "jobs", "integrations?agent=claude-code", "settings", "carry", "timeline", "search?q=ferry"]) {
    const answer = await page.show(rest);
    assert.equal(answer.status(), 200, rest);
    assert.ok((await page.locator("main").innerText()).length > 80, `${rest} says something`);
  }
  await page.show("facts");
  await page.locator("main form.filters input[name=q]").fill("Albatros");
  await page.locator("main form.filters button").first().click();
  assert.ok((await page.locator("main").innerText()).includes("Albatros"));
  await page.show("files/user");
  await page.locator("#text").fill("# User\n\n- Reads without scripts\n");
  await page.locator("button[value=save]").click();
  await notice(page).waitFor();
  assert.ok(readFileSync(path.join(desk.home, "memories", "USER.md"), "utf8").includes("without scripts"));
  await page.locator("form[data-undo] button").click();
  assert.ok(!readFileSync(path.join(desk.home, "memories", "USER.md"), "utf8").includes("without scripts"));
  await page.show("skills/deploy-staging/edit");
  await page.locator("#text").fill(`${await page.locator("#text").inputValue()}\n- Without scripts\n`);
  await page.locator("button[value=save]").click();
  await notice(page).waitFor();
  assert.ok(desk.hermes("skills", "show", "deploy-staging").includes("Without scripts"));
}
