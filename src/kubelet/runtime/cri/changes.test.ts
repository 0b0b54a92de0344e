/** Ends that their runtime explains late, on a runtime that is played. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../base/logger.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { Changes } from "./changes.ts";
import { TASK_EXIT, TASK_OOM } from "./messages/event.ts";
import { PodViews } from "./pod-views.ts";
import { PLAYED_OWNER, PLAYED_UID, playRuntime } from "./testing/played-runtime.ts";

for (const { title, exitCode, firstReason } of [
  { title: "was killed", exitCode: 137, firstReason: "Error" },
  { title: "has failed", exitCode: 1, firstReason: "Error" },
  { title: "has completed without what was killed in it", exitCode: 0, firstReason: "Completed" },
]) {
  test(`that a container that ${title} took too much memory is told though the runtime notes it half a minute later`, async () => {
    const clock = virtualClock();
    const runtime = playRuntime({ exitCode, finishedAt: BigInt(clock.now()) * 1_000_000n });
    const views = new PodViews({ client: runtime.client, owner: PLAYED_OWNER, clock });
    using changes = new Changes({
      client: runtime.client,
      views,
      owner: PLAYED_OWNER,
      runtimeName: "containerd",
      clock,
      log: silentLogger,
    });
    const reason = async (): Promise<string | undefined> => {
      const state = (await views.status(PLAYED_UID))?.containers[0]?.state;
      return state?.is === "exited" ? state.reason : undefined;
    };
    const told: string[] = [];
    using _watching = changes.watch((podUid) => told.push(podUid));
    await clock.settle();

    runtime.tells(TASK_EXIT);
    runtime.tells(TASK_OOM);
    await clock.advance(30_000);
    equal(await reason(), firstReason);
    told.length = 0;
    runtime.becomes({ reason: "OOMKilled" });
    await clock.advance(2_000);

    deepEqual([told, await reason()], [[PLAYED_UID], "OOMKilled"]);
  });
}

test("a want of memory that the runtime never notes is not looked for without end", async () => {
  const clock = virtualClock();
  const runtime = playRuntime({ exitCode: 137 });
  const views = new PodViews({ client: runtime.client, owner: PLAYED_OWNER, clock });
  using changes = new Changes({ client: runtime.client, views, owner: PLAYED_OWNER, runtimeName: "containerd", clock, log: silentLogger });
  using _watching = changes.watch(() => undefined);
  await clock.settle();

  runtime.tells(TASK_OOM);
  await clock.advance(70_000);
  const looks = runtime.looks();
  await clock.advance(600_000);

  equal(runtime.looks(), looks);
});
