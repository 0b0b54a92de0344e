import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../base/random.ts";
import type { VirtualClock } from "../../../base/virtual-clock.ts";
import { listOf } from "../../../api/core/v1/resource-quota/amounts.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { Change, Store } from "../../../store/store.ts";
import { memoryStore } from "../../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { KindName } from "../../framework/objects.ts";
import { CachedObjects } from "../../storage/cached-objects.ts";
import { RecordedCauses } from "../../storage/recorded-causes.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";
import { wrappedStore } from "../../testing/wrapped-store.ts";
import { quotaOf, QuotaUsage } from "./quota-usage.ts";

const NAMESPACE = "/api/v1/namespaces/ns";
const QUOTA = { namespace: "ns", name: "q" };

/** How often all objects of a namespace were listed. */
class CountingObjects extends CachedObjects {
  lists = 0;

  override list<T>(kind: KindName, namespace: string): Promise<readonly T[]> {
    this.lists += 1;
    return super.list<T>(kind, namespace);
  }
}

interface Run extends AsyncDisposable {
  readonly server: StartedServer;
  readonly usage: QuotaUsage;
  /** Returns the current usage and the number of full listings it took. */
  count(): Promise<readonly [used: object, lists: number]>;
}

async function started(hard: JsonObject, options: { readonly clock?: VirtualClock; readonly store?: Store } = {}): Promise<Run> {
  const server = await startServer(options);
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
  await server.call("POST", `${NAMESPACE}/resourcequotas`, { metadata: { name: "q" }, spec: { hard } });
  const { endpoints } = server.server;
  const objects = new CountingObjects(endpoints);
  const { store, clock } = server;
  const usage = new QuotaUsage({ endpoints, objects, store, clock, random: seededRandom(1), causes: new RecordedCauses(clock) });
  return {
    server,
    usage,
    async count() {
      const before = objects.lists;
      const stored = await usage.read(QUOTA);
      assert.ok(stored);
      return [listOf(await usage.count(quotaOf(stored))), objects.lists - before];
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function make(server: StartedServer, plural: string, name: string, more: JsonObject = {}): Promise<unknown> {
  return server.call("POST", `${NAMESPACE}/${plural}`, { metadata: { name }, ...more });
}

const POD = { spec: { containers: [{ name: "c", image: "i" }] } };

test("quota usage is recomputed only after a counted object or the quota has changed", async () => {
  await using run = await started({ configmaps: "9", secrets: "9" });
  const { server } = run;
  await make(server, "configmaps", "a");

  assert.deepEqual(await run.count(), [{ configmaps: "1", secrets: "0" }, 2]);
  assert.deepEqual(await run.count(), [{ configmaps: "1", secrets: "0" }, 0]);
  await make(server, "pods", "unrelated", POD);
  assert.deepEqual(await run.count(), [{ configmaps: "1", secrets: "0" }, 0]);

  await make(server, "secrets", "b");
  assert.deepEqual(await run.count(), [{ configmaps: "1", secrets: "1" }, 2]);
  await server.call("DELETE", `${NAMESPACE}/configmaps/a`);
  assert.deepEqual(await run.count(), [{ configmaps: "0", secrets: "1" }, 2]);

  const spec = { hard: { secrets: null } };
  await server.call("PATCH", `${NAMESPACE}/resourcequotas/q`, { spec }, { "content-type": "application/merge-patch+json" });
  assert.deepEqual(await run.count(), [{ configmaps: "0" }, 1]);
});

test("a terminating Pod stops counting against the quota when its grace period expires, without a write", async () => {
  await using run = await started({ pods: "9" });
  const { server } = run;
  await make(server, "pods", "a", { metadata: { name: "a", finalizers: ["example.com/stay"] }, ...POD });
  await server.call(
    "PATCH",
    `${NAMESPACE}/pods/a/status`,
    { status: { phase: "Running" } },
    { "content-type": "application/merge-patch+json" },
  );
  await server.call("DELETE", `${NAMESPACE}/pods/a?gracePeriodSeconds=30`);

  assert.deepEqual(await run.count(), [{ pods: "1" }, 1]);
  await server.clock.advance(120_000);
  assert.deepEqual(await run.count(), [{ pods: "0" }, 1]);
  // Stable from then on.
  assert.deepEqual(await run.count(), [{ pods: "0" }, 0]);
});

test("a resource that becomes served is counted against the quota", async () => {
  await using run = await started({ "count/configmaps": "9" });
  const { endpoints } = run.server.server;
  assert.deepEqual(await run.count(), [{ "count/configmaps": "0" }, 1]);
  assert.deepEqual(await run.count(), [{ "count/configmaps": "0" }, 0]);

  const { resource } = endpoints.stored("", "configmaps") ?? assert.fail();
  endpoints.remove(resource);
  assert.deepEqual(await run.count(), [{}, 0]);
  endpoints.add(resource);
  await make(run.server, "configmaps", "a");
  assert.deepEqual(await run.count(), [{ "count/configmaps": "1" }, 1]);
});

/** Access to a shared store takes time, so the clock must advance. */
async function inTime<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const finished = work.finally(() => (isDone = true));
  await clock.advanceUntil(() => isDone, { withinMs: 60_000 });
  return finished;
}

/** Delivers events on request only; reports progress only if `progress` is set. */
function lateStore(store: Store, { progress } = { progress: true }): Store {
  return wrappedStore(store, {
    capabilities: { ...store.capabilities, shared: true, progress },
    close: () => Promise.resolve(),
    watch(prefix, options, listener) {
      const late: Change[] = [];
      return store.watch(prefix, options, {
        ...listener,
        changes: (changes) => void late.push(...changes),
        progress(revision) {
          if (late.length > 0) void listener.changes(late.splice(0));
          listener.progress?.(revision);
        },
      });
    },
  });
}

test("on a shared store, writes of other servers are counted even if the cache lags behind", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  await using run = await inTime(clock, started({ configmaps: "9" }, { clock, store: lateStore(memory) }));
  await using other = await startServer({ clock, store: wrappedStore(memory, { close: () => Promise.resolve() }) });
  await inTime(clock, run.count());
  assert.deepEqual(await inTime(clock, run.count()), [{ configmaps: "0" }, 0]);

  await make(other, "configmaps", "a");

  assert.deepEqual(await inTime(clock, run.count()), [{ configmaps: "1" }, 1]);
});

test("on a store without progress notifications, quota usage is counted from the store itself", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  await using run = await inTime(clock, started({ configmaps: "9" }, { clock, store: lateStore(memory, { progress: false }) }));
  await using other = await startServer({ clock, store: wrappedStore(memory, { close: () => Promise.resolve() }) });

  await make(other, "configmaps", "a");

  const [used] = await inTime(clock, run.count());
  assert.deepEqual(used, { configmaps: "1" });
});

test("recounting updates the hard limits in the quota status even if usage is unchanged", async () => {
  await using run = await started({ configmaps: "9" });
  const status = async () => (await run.server.call("GET", `${NAMESPACE}/resourcequotas/q`)).body.status;
  assert.equal(await run.usage.recount(QUOTA), true);
  assert.deepEqual(await status(), { hard: { configmaps: "9" }, used: { configmaps: "0" } });

  const spec = { hard: { configmaps: "8" } };
  await run.server.call("PATCH", `${NAMESPACE}/resourcequotas/q`, { spec }, { "content-type": "application/merge-patch+json" });
  assert.equal(await run.usage.recount(QUOTA), true);

  assert.deepEqual(await status(), { hard: { configmaps: "8" }, used: { configmaps: "0" } });
});
