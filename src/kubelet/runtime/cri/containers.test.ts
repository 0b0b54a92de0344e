/** A stop on a runtime that is played: it says that a container is stopped before its own lists show it. */
import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { CONTAINER_EXITED, CONTAINER_RUNNING } from "./messages/container.ts";
import { Containers } from "./containers.ts";
import { PodViews } from "./pod-views.ts";
import { PLAYED_ID, PLAYED_OWNER, playRuntime } from "./testing/played-runtime.ts";

function start() {
  const clock = virtualClock();
  const runtime = playRuntime({ state: CONTAINER_RUNNING });
  const { client } = runtime;
  const views = new PodViews({ client, owner: PLAYED_OWNER, clock });
  return { clock, runtime, containers: new Containers({ client, views, owner: PLAYED_OWNER, clock }) };
}

test("a stop is over when the runtime shows the end, though that takes it several tries of its own", async () => {
  const { clock, runtime, containers } = start();
  let isOver = false;
  const stopping = containers.stop(PLAYED_ID, 0).then(() => (isOver = true));

  await clock.advance(20_000);
  equal(isOver, false);
  runtime.becomes({ state: CONTAINER_EXITED });
  await clock.advance(320);

  equal(isOver, true);
  await stopping;
});

test("a container that goes on for longer than that was not stopped", async () => {
  const { clock, containers } = start();
  const failed = rejects(containers.stop(PLAYED_ID, 0), { message: /it still runs 30000 ms after the runtime stopped it/ });
  await clock.advance(31_000);
  await failed;
});
