/** Exit reasons that a fake runtime reports late. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../base/logger.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { Changes } from "./changes.ts";
import { TASK_EXIT, TASK_OOM } from "./messages/event.ts";
import { PodViews } from "./pod-views.ts";
import { FAKE_OWNER, FAKE_UID, fakeRuntime } from "./testing/fake-runtime.ts";

for (const { title, exitCode, firstReason } of [
  { title: "was killed", exitCode: 137, firstReason: "Error" },
  { title: "failed", exitCode: 1, firstReason: "Error" },
  { title: "completed although a process in it was killed", exitCode: 0, firstReason: "Completed" },
]) {
  test(`OOMKilled of a container that ${title} is reported even if the runtime notes it half a minute later`, async () => {
    const clock = virtualClock();
    const runtime = fakeRuntime({ exitCode, finishedAt: BigInt(clock.now()) * 1_000_000n });
    const views = new PodViews({ client: runtime.client, owner: FAKE_OWNER, clock });
    using changes = new Changes({
      client: runtime.client,
      views,
      owner: FAKE_OWNER,
      runtimeName: "containerd",
      clock,
      log: silentLogger,
    });
    const reason = async (): Promise<string | undefined> => {
      const state = (await views.status(FAKE_UID))?.containers[0]?.state;
      return state?.is === "exited" ? state.reason : undefined;
    };
    const reported: string[] = [];
    using _watching = changes.watch((podUid) => reported.push(podUid));
    await clock.settle();

    runtime.emit(TASK_EXIT);
    runtime.emit(TASK_OOM);
    await clock.advance(30_000);
    equal(await reason(), firstReason);
    reported.length = 0;
    runtime.setStatus({ reason: "OOMKilled" });
    await clock.advance(2_000);

    deepEqual([reported, await reason()], [[FAKE_UID], "OOMKilled"]);
  });
}

test("polling for an OOM kill that the runtime never notes ends", async () => {
  const clock = virtualClock();
  const runtime = fakeRuntime({ exitCode: 137 });
  const views = new PodViews({ client: runtime.client, owner: FAKE_OWNER, clock });
  using changes = new Changes({ client: runtime.client, views, owner: FAKE_OWNER, runtimeName: "containerd", clock, log: silentLogger });
  using _watching = changes.watch(() => undefined);
  await clock.settle();

  runtime.emit(TASK_OOM);
  await clock.advance(70_000);
  const requests = runtime.statusRequests();
  await clock.advance(600_000);

  equal(runtime.statusRequests(), requests);
});
