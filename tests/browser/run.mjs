// Runs one suite of browser tests: node run.mjs SUITE. What it needs is in the environment; browser.rs sets it.
import { suites } from "./suites.mjs";
import { Desk } from "./desk.mjs";

const name = process.argv[2];
const suite = suites[name];
if (!suite) {
  console.error(`there is no suite ${name}; known: ${Object.keys(suites).join(", ")}`);
  process.exit(2);
}
const desk = await Desk.open();
try {
  await suite(desk);
  desk.mustBeClean();
  console.log(`${name}: ok`);
} catch (error) {
  console.error(error.stack || String(error));
  process.exitCode = 1;
} finally {
  await desk.close();
}
