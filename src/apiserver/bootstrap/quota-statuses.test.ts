import assert from "node:assert/strict";
import { test } from "node:test";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import type { Store } from "../../store/store.ts";
import { StoreError } from "../../store/store-error.ts";
import { memoryStore } from "../../testing/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { DEFAULT_ADMISSION_CONFIG } from "../admission-config.ts";
import { startServer, type StartedServer } from "../testing/server.ts";
import { wrappedStore } from "../testing/wrapped-store.ts";

const QUOTAS = "/api/v1/namespaces/ns/resourcequotas";
const MERGE = { "content-type": "application/merge-patch+json" };

async function start(
  options: { readonly clock?: VirtualClock; readonly store?: Store; readonly runsLoops?: boolean } = {},
): Promise<StartedServer> {
  const { runsLoops = true, ...more } = options;
  const server = await startServer({ config: { runsLoops, admission: DEFAULT_ADMISSION_CONFIG }, ...more });
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
  return server;
}

async function addQuota(server: StartedServer, hard: JsonObject): Promise<void> {
  assert.equal((await server.call("POST", QUOTAS, { metadata: { name: "q" }, spec: { hard } })).code, 201);
}

/** Once everything has come to rest. */
async function quotaOf(server: StartedServer): Promise<CallBody> {
  await server.clock.settle();
  return (await server.call("GET", `${QUOTAS}/q`)).body;
}

interface CallBody {
  readonly status: object;
}

async function makeSecrets(server: StartedServer, ...names: readonly string[]): Promise<void> {
  for (const name of names) await server.call("POST", "/api/v1/namespaces/ns/secrets", { metadata: { name } });
}

test("a quota shows what is taken soon after it was made, and after it was changed", async () => {
  await using server = await start();
  await makeSecrets(server, "a", "b");

  await addQuota(server, { secrets: "1" });
  assert.deepEqual((await quotaOf(server)).status, { hard: { secrets: "1" }, used: { secrets: "2" } });

  await server.call("PATCH", `${QUOTAS}/q`, { spec: { hard: { secrets: "2", services: "0" } } }, MERGE);
  assert.deepEqual((await quotaOf(server)).status, { hard: { secrets: "2", services: "0" }, used: { secrets: "2", services: "0" } });
});

test("a quota that shows what it limits is not counted, whatever else of it changes", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  let counts = 0;
  const store = wrappedStore(memory, {
    get(key) {
      // Whoever counts looks at the mark first.
      if (key.includes("/quotamarks/")) counts += 1;
      return memory.get(key);
    },
  });
  await using server = await start({ store, clock });
  await addQuota(server, { secrets: "1" });
  await quotaOf(server);
  assert.equal(counts, 1);

  await server.call("PATCH", `${QUOTAS}/q`, { metadata: { labels: { a: "b" } } }, MERGE);
  await quotaOf(server);

  assert.equal(counts, 1);
});

test("quotas that were made while nobody looked are counted at the start", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  const before = await start({ clock, store: memory, runsLoops: false });
  await addQuota(before, { secrets: "1" });
  assert.deepEqual((await quotaOf(before)).status, {});
  await before.server.close();

  await using after = await start({ clock, store: memory });

  assert.deepEqual((await quotaOf(after)).status, { hard: { secrets: "1" }, used: { secrets: "0" } });
});

test("what could not be written is written when the store takes it again, and not after the end", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  let isBroken = true;
  const store = wrappedStore(memory, {
    commit: (operations, ...more) =>
      isBroken && operations.length > 1 && operations[0]?.key.startsWith("/core/resourcequotas/") === true
        ? Promise.reject(new StoreError("Unavailable", "Nobody answers"))
        : memory.commit(operations, ...more),
  });
  await using server = await start({ store, clock });
  await addQuota(server, { secrets: "1" });
  assert.deepEqual((await quotaOf(server)).status, {});
  isBroken = false;
  await clock.advance(10_000);
  assert.deepEqual((await quotaOf(server)).status, { hard: { secrets: "1" }, used: { secrets: "0" } });

  isBroken = true;
  await server.call("PATCH", `${QUOTAS}/q`, { spec: { hard: { secrets: "2" } } }, MERGE);
  await clock.settle();
  await server.server.close();
  isBroken = false;
  await clock.advance(10_000);
  const [stored] = (await memory.list("/core/resourcequotas/")).entries;
  assert.match(new TextDecoder().decode(stored?.value.bytes()), /"status":\{"hard":\{"secrets":"1"\}/);
});

test("many who write right after a quota was made are let in up to what it allows, and it shows that", async () => {
  await using server = await start();
  await makeSecrets(server, "before");
  await addQuota(server, { secrets: "5" });

  await Promise.all(Array.from({ length: 16 }, (_, index) => makeSecrets(server, `s${index}`)));

  assert.deepEqual((await quotaOf(server)).status, { hard: { secrets: "5" }, used: { secrets: "5" } });
  assert.equal((await server.call("GET", "/api/v1/namespaces/ns/secrets")).body.items.length, 5);
});
