/** Order of the removal of a Pod's sandboxes and logs, on a fake runtime that records calls and fails on request. */
import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import type { CriClient } from "./cri-client.ts";
import { LOG_DIRECTORY, POD_UID } from "./labels.ts";
import { PodViews } from "./pod-views.ts";
import { Sandboxes } from "./sandboxes.ts";
import { listPodSandbox, removePodSandbox } from "./messages/sandbox.ts";

const UID = "11111111-2222-3333-4444-555555555555";

async function start(context: TestContext, ids: readonly string[], { failsToRemove = "" } = {}) {
  const root = await mkdtemp(join(tmpdir(), "k8ts-sandboxes-"));
  context.after(() => rm(root, { recursive: true }));
  const logs = join(root, `default_web_${UID}`);
  await mkdir(logs);
  const there = new Set(ids);
  /** Each removal, and whether the logs existed at that time. */
  const removed: { readonly id: string; readonly hasLogs: boolean }[] = [];
  const client = {
    async call({ path }: { readonly path: string }, { id = "" }: { readonly id?: string }) {
      if (path === listPodSandbox.path) return { items: [...there].map((each) => sandbox(each, ids.indexOf(each), logs)) };
      if (path !== removePodSandbox.path) return {};
      removed.push({ id, hasLogs: (await readdir(root)).length > 0 });
      if (id === failsToRemove) throw new Error("the runtime died");
      there.delete(id);
      return {};
    },
  } as CriClient;
  const views = new PodViews({ client, owner: "o", clock: realClock });
  return { sandboxes: new Sandboxes({ client, views, owner: "o", log: silentLogger }), removed, root };
}

function sandbox(id: string, attempt: number, logs: string) {
  return {
    ...{ id, state: 1, createdAt: BigInt(attempt), metadata: { attempt, name: "web", namespace: "default", uid: UID } },
    labels: [{ key: POD_UID, value: UID }],
    annotations: [{ key: LOG_DIRECTORY, value: logs }],
  };
}

test("removing a Pod deletes its logs before its last sandbox, so that an interrupted removal finds them again", async (context) => {
  const { sandboxes, removed, root } = await start(context, ["old", "new"], { failsToRemove: "new" });
  await rejects(sandboxes.remove("new"), /the runtime died/);
  deepEqual(removed, [
    { id: "old", hasLogs: true },
    { id: "new", hasLogs: false },
  ]);
  deepEqual(await readdir(root), []);
});

test("logs are kept while a newer sandbox exists", async (context) => {
  const { sandboxes, removed, root } = await start(context, ["old", "new"]);
  await sandboxes.remove("old");
  deepEqual(removed, [{ id: "old", hasLogs: true }]);
  equal((await readdir(root)).length, 1);
});
