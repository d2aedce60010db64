// A browser that is let in, and what every suite asks of it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const need = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run ./test, which installs what is missing`);
  return value;
};
const require = createRequire(path.join(need("HERMES_TEST_BROWSER"), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// What a page must never do, whatever is stored: the marker of hostile texts.
export const MARKER = "hermes-was-here";

export class Desk {
  static async open() {
    const desk = new Desk();
    desk.home = need("HERMES_TEST_HOME");
    desk.program = need("HERMES_TEST_PROGRAM");
    desk.origin = need("HERMES_TEST_ORIGIN");
    // The same listener for programs, which need not know the name that browsers use.
    desk.api = need("HERMES_TEST_API");
    desk.complaints = [];
    desk.browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-lcd-text"] });
    desk.state = await desk.letIn();
    return desk;
  }

  // The program itself, on the same home.
  hermes(...words) {
    const env = { ...process.env, HERMES_HOME: this.home };
    return execFileSync(this.program, words, { env, encoding: "utf8" }).trim();
  }

  json(...words) {
    return JSON.parse(this.hermes(...words, "--json"));
  }

  // Redeems a login code, and returns the cookies it gave.
  async letIn() {
    const context = await this.browser.newContext();
    const page = await context.newPage();
    await page.goto(this.json("dashboard", "--print").url);
    await page.waitForURL("**/p/default/");
    const state = await context.storageState();
    await context.close();
    return state;
  }

  // A window of its own; what goes wrong in it is a complaint.
  async window(options = {}) {
    const context = await this.browser.newContext({
      storageState: this.state,
      viewport: { width: 1280, height: 900 },
      reducedMotion: "reduce",
      ...options,
    });
    context.setDefaultTimeout(60000);
    const page = await context.newPage();
    const expected = options.expected || [];
    const complain = (text) => {
      if (!expected.some((one) => text.includes(one))) this.complaints.push(`${page.url()}: ${text}`);
    };
    page.on("pageerror", (error) => complain(`error: ${error.message}`));
    page.on("console", (message) => { if (["error", "warning"].includes(message.type()) || message.text().includes(MARKER)) complain(`${message.type()}: ${message.text()}`); });
    page.on("dialog", (dialog) => {
      if (page.acceptDialogs) return dialog.accept();
      complain(`dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    page.at = (rest) => `${this.origin}/p/default/${rest}`;
    page.show = async (rest) => {
      const answer = await page.goto(page.at(rest));
      return answer;
    };
    return page;
  }

  mustBeClean() {
    assert.deepEqual(this.complaints, []);
  }

  async close() {
    await this.browser.close();
  }
}

// What axe finds, in a line for each.
export async function findings(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const seen = await window.axe.run(document, { resultTypes: ["violations"] });
    return seen.violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 160)} ${node.any?.[0]?.message || ""}`));
  });
  return found;
}

export async function isTooWide(page) {
  return page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return null;
    const wide = [...document.querySelectorAll("body *")].filter((node) => node.getBoundingClientRect().right > root.clientWidth + 1 && !node.closest(".scroll, pre, .plot"));
    return `${root.scrollWidth} > ${root.clientWidth}: ${wide.slice(0, 5).map((node) => node.tagName + "." + node.className).join(", ")}`;
  });
}

export const notice = (page) => page.locator("[data-notice]");
