/** The whole lifecycle of every kind under the real kubectl, against a real server: as its golden file says, from create to delete. */
import { ok } from "node:assert/strict";
import { after, suite, test } from "node:test";
import { QUIET_ADMISSION } from "../../src/apiserver/testing/server.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { readGoldens, type Golden } from "./golden.ts";
import {
  applyTwice,
  change,
  create,
  createAndSeeAnswer,
  createBad,
  describe,
  explain,
  getYaml,
  patchStatus,
  prepare,
  remove,
  scale,
  showTable,
  type Stage,
} from "./kubectl-steps.ts";

/** Every kubectl command is a process, so a few kinds at a time keep two cores busy. */
const KINDS_AT_A_TIME = 4;

// Golden files describe a kind by itself, so mutating admission plugins are off. Only kubectl writes here, as when the golden files were
// recorded: Priority and Fairness would write the condition of a FlowSchema.
const server = await startTestApiServer({ api: { admission: QUIET_ADMISSION, priorityAndFairness: false }, controllers: [] });
after(() => server.close());

suite("the real kubectl", { concurrency: KINDS_AT_A_TIME }, () => {
  for (const golden of readGoldens()) {
    const { apiVersion, kind } = golden.given;
    test(
      `kubectl creates, shows, explains, changes and deletes ${apiVersion} ${kind}, and prints all errors of an invalid one`,
      needs("kubectl"),
      () => live(golden),
    );
  }
});

async function live(golden: Golden): Promise<void> {
  const stage = await prepare(golden, server);
  const { verbs, stored, subresources } = stage.resource;
  await explain(stage);
  if (golden.bad !== undefined) await createBad(stage, golden.bad, golden.causes ?? []);
  if (!stored) return verbs.includes("create") ? createAndSeeAnswer(stage) : look(stage);
  await create(stage);
  await getYaml(stage);
  if (golden.status !== undefined) await patchStatus(stage, golden.status);
  await look(stage);
  await applyTwice(stage);
  ok(golden.change !== undefined, "the golden file of a stored kind has a change");
  await change(stage, golden.change);
  if (subresources["scale"] !== undefined) await scale(stage);
  await remove(stage);
}

async function look(stage: Stage): Promise<void> {
  await showTable(stage);
  await describe(stage);
}
