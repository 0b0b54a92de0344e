/** Stopping containers on a fake runtime that reports a container as stopped before its own lists show it. */
import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { CONTAINER_EXITED, CONTAINER_RUNNING } from "./messages/container.ts";
import { Containers } from "./containers.ts";
import { PodViews } from "./pod-views.ts";
import { FAKE_ID, FAKE_OWNER, fakeRuntime } from "./testing/fake-runtime.ts";

function start() {
  const clock = virtualClock();
  const runtime = fakeRuntime({ state: CONTAINER_RUNNING });
  const { client } = runtime;
  const views = new PodViews({ client, owner: FAKE_OWNER, clock });
  return { clock, runtime, containers: new Containers({ client, views, owner: FAKE_OWNER, clock }) };
}

test("Containers.stop resolves when the runtime lists the exit, even after several attempts of the runtime", async () => {
  const { clock, runtime, containers } = start();
  let isOver = false;
  const stopping = containers.stop(FAKE_ID, 0).then(() => (isOver = true));

  await clock.advance(20_000);
  equal(isOver, false);
  runtime.setStatus({ state: CONTAINER_EXITED });
  await clock.advance(320);

  equal(isOver, true);
  await stopping;
});

test("Containers.stop rejects if the container keeps running", async () => {
  const { clock, containers } = start();
  const failed = rejects(containers.stop(FAKE_ID, 0), { message: /it is still running 30000 ms after the runtime stopped it/ });
  await clock.advance(31_000);
  await failed;
});
