import { deepEqual, equal, ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isFulfilled } from "../../src/browser/lessons/check.ts";
import { parseLesson, type Lesson, type Step } from "../../src/browser/lessons/lesson.ts";
import { ClusterApi } from "../../src/dashboard/data/cluster-api.ts";
import { fetchKinds } from "../../src/dashboard/data/kinds.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { startTabPrompt, type TabPrompt } from "./tab-prompt.ts";

const LEARN = join(packageDirectory(import.meta.dirname), "docs/learn");
const LANGUAGES = ["en", "ko"] as const;
const NAMES = readdirSync(join(LEARN, "en")).sort();

/** Virtual time in which a step takes effect: eviction from a lost node is the longest. */
const EFFECT_MAX_MS = 10 * 60_000;
const POLL_MS = 1_000;

function lessonOf(language: string, name: string): Lesson {
  return parseLesson(readFileSync(join(LEARN, language, name), "utf8"));
}

test("there are nine lessons, each in English and Korean with the same commands, files and checks", () => {
  equal(NAMES.length, 9);
  deepEqual(readdirSync(join(LEARN, "ko")).sort(), NAMES);
  for (const name of NAMES) {
    const [english, korean] = LANGUAGES.map((language) => lessonOf(language, name));
    const works = (lesson: Lesson | undefined) => ({
      files: [...(lesson?.files ?? [])],
      steps: lesson?.steps.map(({ commands, checks }) => ({ commands, checks })),
    });
    deepEqual(works(korean), works(english), name);
    ok(
      english?.steps.every(({ title, checks }) => title !== "" && checks.length > 0),
      `${name}: every step has a check`,
    );
    ok(
      korean?.steps.every(({ title }) => /\p{Script=Hangul}/u.test(title)),
      `${name}: Korean titles`,
    );
  }
});

test("no step of any lesson is done in a cluster in which nothing was done, so a step that is skipped is not counted", async () => {
  await using tab = await startTabPrompt();
  const done: string[] = [];

  for (const name of NAMES)
    for (const step of lessonOf("en", name).steps) if (await isStepDone(tab, step)) done.push(`${name}: ${step.title}`);

  deepEqual(done, []);
});

for (const language of LANGUAGES) {
  for (const name of NAMES) {
    test(`lesson ${language}/${name}: each step's check fails before its commands and passes after them`, async () => {
      await using tab = await startTabPrompt();
      const lesson = lessonOf(language, name);
      for (const [file, text] of lesson.files) tab.prompt.files.set(file, text);
      for (const step of lesson.steps) await runStep(tab, step);
    });
  }
}

async function runStep(tab: TabPrompt, step: Step): Promise<void> {
  equal(await isStepDone(tab, step), false, `"${step.title}" is not done before its commands`);
  for (const { text, fails } of step.commands) {
    const { outcome, text: printed } = await tab.run(text);
    equal(outcome, fails ? "failed" : "done", `${text}\n${printed}`);
  }
  for (let waitedMs = 0; waitedMs < EFFECT_MAX_MS; waitedMs += POLL_MS) {
    if (await isStepDone(tab, step)) return;
    await tab.cluster.driver.advance(POLL_MS);
  }
  ok(false, `"${step.title}" is done after its commands:\n${tab.printed.join("\n")}`);
}

async function isStepDone({ cluster }: TabPrompt, { checks }: Step): Promise<boolean> {
  const api = new ClusterApi(cluster.connection);
  const kinds = await fetchKinds(api);
  for (const check of checks) if (!(await isFulfilled(check, api, kinds))) return false;
  return true;
}
