import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../../../base/clock.ts";
import { seededRandom } from "../../../base/random.ts";
import type { VirtualClock } from "../../../base/virtual-clock.ts";
import { inProcessTransport } from "../../pipeline/in-process.ts";
import { leaseLeadership } from "../../shared/lease-leadership.ts";
import { MaxInFlight } from "../../limits/max-in-flight.ts";
import { RequestMetrics } from "../../pipeline/request-metrics.ts";
import { Pipeline } from "../../pipeline/pipeline.ts";
import { admittingContext } from "../../testing/admitting-server.ts";
import { Verbs } from "../../verbs/verbs.ts";
import { WatchRegistry } from "../../watch/watch-registry.ts";
import { AccountDirectory } from "./account-directory.ts";

/** Minimum and maximum of upstream's retry time. */
const WAIT_MIN_MS = 900;
const WAIT_MAX_MS = 1_791;

async function start() {
  const server = admittingContext({ plugins: [] });
  const pipeline = new Pipeline(server, new Verbs(server, new WatchRegistry(server.clock, { started() {}, ended() {}, event() {} })), {
    metrics: new RequestMetrics(),
    gate: new MaxInFlight({ readOnly: 100, mutating: 100 }),
    checkLeadership: leaseLeadership(server.objects),
  });
  const transport = inProcessTransport(pipeline, { user: { name: "admin", groups: ["system:masters"] }, userAgent: "test" });
  const { objects, clock } = server;
  const directory = new AccountDirectory({ objects, clock, random: seededRandom(1) });
  await directory.start();
  return {
    directory,
    objects,
    clock: clock as VirtualClock,
    async create(namespace: string, name: string) {
      await transport.request({
        verb: "create",
        group: "",
        version: "v1",
        plural: "serviceaccounts",
        namespace,
        object: { metadata: { name } },
      });
    },
  };
}

/** The resolved value; "waits" while pending. */
async function stateOf(
  found: Promise<{ readonly metadata: { readonly namespace?: string } } | undefined>,
  clock: VirtualClock,
): Promise<string> {
  let state = "waits";
  void found.then((account) => (state = account?.metadata.namespace ?? "none"));
  await clock.settle();
  return state;
}

test("an existing service account is found without waiting, and a missing one other than default is not waited for", async () => {
  const { directory, clock, create } = await start();
  await create("n", "a");

  assert.equal(directory.cached("n", "a")?.metadata.name, "a");
  assert.equal(await stateOf(directory.find("n", "a", undefined), clock), "n");
  assert.equal(await stateOf(directory.find("n", "b", undefined), clock), "none");
});

test("all requests wait for the default service account until it is created", async () => {
  const { directory, clock, create } = await start();
  const waiting = [directory.find("n", "default", undefined), directory.find("n", "default", undefined)];
  const other = directory.find("m", "default", undefined);
  await clock.settle();

  await create("n", "other");
  for (const found of waiting) assert.equal(await stateOf(found, clock), "waits");
  await create("n", "default");
  for (const found of waiting) assert.equal(await stateOf(found, clock), "n");
  assert.equal(await stateOf(other, clock), "waits");
  await clock.advance(WAIT_MAX_MS);
  assert.equal(await stateOf(other, clock), "none");
});

test("waiting for the default service account ends after upstream's retry time or when the client disconnects", async () => {
  const { directory, clock } = await start();
  const client = new AbortController();
  const [found, left] = [directory.find("n", "default", undefined), directory.find("n", "default", client.signal)];

  await clock.advance(WAIT_MIN_MS - 1);
  assert.equal(await stateOf(found, clock), "waits");
  client.abort(new Error("gone"));
  await assert.rejects(left, { message: "gone" });
  await clock.advance(WAIT_MAX_MS - WAIT_MIN_MS + 1);
  assert.equal(await stateOf(found, clock), "none");
});

test("a process stalled for the whole wait gives the default service account another chance to appear", async () => {
  const { objects, clock, create } = await start();
  // Simulates a stalled process: the first timer fires before any other event, regardless of its delay.
  const waits: number[] = [];
  const heldUp: Pick<Clock, "sleep"> = {
    sleep: (ms, signal) => (waits.push(ms) === 1 ? Promise.resolve() : clock.sleep(ms, signal)),
  };
  const directory = new AccountDirectory({ objects, clock: heldUp, random: seededRandom(1) });
  await directory.start();
  const found = directory.find("n", "default", undefined);

  assert.equal(await stateOf(found, clock), "waits");
  await create("n", "default");

  assert.equal(await stateOf(found, clock), "n");
});
