// Every page: it is there in both colours, on a phone, without violations, and as a picture in the documents.
import assert from "node:assert/strict";
import { mkdirSync, statSync } from "node:fs";
import path from "node:path";
import { findings, isTooWide } from "./desk.mjs";

// The pages by name; what they are about is taken from the demo.
export function pages(desk) {
  const session = desk.json("sessions", "list", "--source", "cli").results[0].id;
  const backup = desk.json("backup", "list").results[0].id;
  return {
    overview: "",
    search: "search?q=when+is+the+release",
    timeline: "timeline",
    facts: "facts",
    fact: "facts/1",
    procedures: "procedures",
    files: "files",
    file: "files/memory?version=2",
    skills: "skills",
    skill: "skills/deploy-staging",
    "skill-edit": "skills/deploy-staging/edit",
    sessions: "sessions",
    "sessions-search": "sessions?q=seat+locks",
    session: `sessions/${session}`,
    inspector: "inspector?task=what+is+left+until+the+voucher+release",
    backups: "backups",
    backup: `backups/${backup}`,
    people: "people",
    jobs: "jobs?doctor=1",
    integrations: "integrations",
    connect: "integrations?agent=claude-code",
    prune: "sessions?older=30d",
    settings: "settings",
    carry: "carry",
    missing: "facts/99999",
  };
}

const expected = ["status of 404"];

export async function everyPageInBothColoursAndSmall(desk) {
  const known = pages(desk);
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 375]) {
      const page = await desk.window({ colorScheme, viewport: { width, height: 800 }, expected });
      for (const [name, rest] of Object.entries(known)) {
        const answer = await page.show(rest);
        assert.equal(answer.status(), name === "missing" ? 404 : 200, `${name}: ${answer.status()}`);
        assert.equal(await page.locator("main h1").count(), 1, `${name} has no heading of its own`);
        assert.equal(await isTooWide(page), null, `${name} at ${width} px`);
        assert.equal(await page.locator("[style]").count(), 0, `${name} has style attributes`);
        const shade = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
        const light = Number(shade.match(/\d+/)[0]) > 128;
        assert.equal(light, colorScheme === "light", `${name} is ${shade} in ${colorScheme}`);
      }
      await page.context().close();
    }
  }
  // A choice of one's own outlasts the system's.
  const page = await desk.window({ colorScheme: "light" });
  await page.show("");
  await page.locator("form[action='/theme'] button").click();
  await page.locator("html[data-theme=dark]").waitFor();
}

export async function noViolations(desk) {
  const failed = [];
  for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 375]]) {
    const page = await desk.window({ colorScheme, viewport: { width, height: 800 }, expected });
    for (const [name, rest] of Object.entries(pages(desk))) {
      await page.show(rest);
      for (const one of await findings(page)) failed.push(`${name} ${colorScheme} ${width}: ${one}`);
    }
    await page.context().close();
  }
  assert.deepEqual(failed, []);
}

// The pictures of the documents: written anew when asked, else only there and small.
export async function pictures(desk) {
  const folder = process.env.HERMES_TEST_IMAGES;
  const shown = ["overview", "search", "timeline", "facts", "fact", "procedures", "files", "file", "skills", "sessions", "session", "inspector", "backups", "backup", "people", "jobs", "integrations", "settings", "carry"];
  if (process.env.HERMES_UPDATE_DOCS === "1") {
    mkdirSync(folder, { recursive: true });
    const known = pages(desk);
    for (const name of shown) await picture(desk, known[name], path.join(folder, `${name}.png`), {});
    await picture(desk, known.facts, path.join(folder, "facts-dark.png"), { colorScheme: "dark" });
    await picture(desk, known.overview, path.join(folder, "overview-phone.png"), { viewport: { width: 375, height: 760 } });
  }
  for (const name of [...shown, "facts-dark", "overview-phone"]) {
    const { size } = statSync(path.join(folder, `${name}.png`));
    assert.ok(size > 2000 && size <= 150 * 1024, `${name}.png has ${size} bytes`);
  }
}

async function picture(desk, rest, file, options) {
  const page = await desk.window({ colorScheme: "light", viewport: { width: 1040, height: 720 }, ...options });
  await page.show(rest);
  await page.screenshot({ path: file });
  await page.context().close();
}
