// Opens pages in Chromium, does what a line of JSON says, and answers with what came of it.
//
// {"url", "width", "steps": [["evaluate" | "until", expression] | ["screenshot", file]]}
import { createInterface } from "node:readline";
import { Browser } from "./browser.mjs";

const browser = await Browser.start(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const { url, width, steps } = JSON.parse(line);
  const answer = { values: [] };
  try {
    await browser.open(url, width);
    for (const [what, argument] of steps ?? []) {
      answer.values.push(await browser[what](argument) ?? null);
    }
  } catch (error) {
    answer.failed = String(error);
  }
  answer.errors = browser.errors;
  answer.requests = browser.requests;
  process.stdout.write(JSON.stringify(answer) + "\n");
}
await browser.stop();
