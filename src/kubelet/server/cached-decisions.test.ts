import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { KeptAnswers } from "./cached-decisions.ts";

test("CachedDecisions keeps each answer for its own lifetime", async () => {
  const clock = virtualClock();
  const kept = new KeptAnswers<boolean>(clock, (allowed) => (allowed ? 100 : 10));
  const asked: string[] = [];
  const ask = (key: string, answer: boolean) =>
    kept.get(key, () => {
      asked.push(key);
      return Promise.resolve(answer);
    });

  deepEqual(await Promise.all([ask("yes", true), ask("yes", true), ask("no", false)]), [true, true, false]);
  deepEqual(asked, ["yes", "no"]);
  await clock.advance(10);
  await ask("yes", true);
  equal(await ask("no", true), true);
  deepEqual(asked, ["yes", "no", "no"]);
  await clock.advance(90);
  await ask("yes", true);
  deepEqual(asked, ["yes", "no", "no", "yes"]);
});

test("CachedDecisions repeats a failed request", async () => {
  const kept = new KeptAnswers<boolean>(virtualClock(), () => 100);
  const fails = () => kept.get("key", () => Promise.reject(new Error("not now")));

  await Promise.all([rejects(fails, /not now/), rejects(fails, /not now/)]);
  equal(await kept.get("key", () => Promise.resolve(true)), true);
});
