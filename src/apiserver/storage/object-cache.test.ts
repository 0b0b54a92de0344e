import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import { ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { StoreError } from "../../store/store-error.ts";
import type { Store, Watch, WatchListener } from "../../store/store.ts";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { wrappedStore } from "../testing/wrapped-store.ts";
import { WatchedCache } from "./object-cache.ts";
import { ObjectFormat } from "./object-format.ts";
import { ObjectFamily, SharedObject } from "./stored-object.ts";
import type { Widget } from "../testing/widget.ts";
import type { CacheListener } from "../framework/storage/storage.ts";

const PREFIX = "/example.com/widgets/";
const family = new ObjectFamily(new ObjectFormat({ apiVersion: "example.com/v1", kind: "Widget" }), { freezes: true });

function widgetOn(shelf: string): SharedObject {
  const object = { kind: "Widget", apiVersion: "example.com/v1", metadata: { name: "a" }, spec: { shelf } } as KubeObject;
  return SharedObject.fromObject(family, object, ManagedFields.none);
}

async function put(store: Store, name: string, shelf = "1"): Promise<number> {
  const result = await store.commit([{ type: "put", key: `${PREFIX}${name}`, value: widgetOn(shelf).value({ asBytes: false }) }]);
  assert(result.committed);
  return result.revision;
}

function cacheOn(store: Store, clock: VirtualClock): WatchedCache {
  const indexed = { "spec.shelf": (object: KubeObject) => (object as Widget).spec?.shelf ?? "" };
  return new WatchedCache({ store, prefix: PREFIX, family, indexed, clock, log: silentLogger });
}

function names(cache: WatchedCache): string[] {
  return [...cache.snapshot().entries()].map(([key]) => key.slice(PREFIX.length));
}

function listener(): CacheListener & { readonly heard: string[] } {
  const heard: string[] = [];
  return {
    heard,
    scope: { namespace: "" },
    changed: ({ type, name }) => void heard.push(`${type} ${name}`),
    ended: () => void heard.push("ended"),
  };
}

/** A store whose watches can be broken, and whose reads can fail for a while. */
function breakable(store: Store): { readonly store: Store; break(): void; refuse(times: number): void } {
  const feeds: { readonly listener: WatchListener; readonly watch: Watch }[] = [];
  let refusals = 0;
  const broken = wrappedStore(store, {
    watch(prefix, options, listener) {
      const watch = store.watch(prefix, options, { ...listener, changes: (changes) => listener.changes(changes), ended() {} });
      feeds.push({ listener, watch });
      return watch;
    },
    async list(...all) {
      if (refusals-- > 0) throw new StoreError("Unavailable", "The store does not respond");
      return store.list(...all);
    },
  });
  return {
    store: broken,
    break() {
      const feed = feeds.at(-1);
      feed?.watch.close();
      feed?.listener.ended({ reason: "failed", error: new Error("broken") });
    },
    refuse: (times) => void (refusals = times),
  };
}

test("the cache contains the stored objects, and each write before it is acknowledged", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  await put(store, "a");
  const cache = cacheOn(store, clock);
  await cache.load();
  const before = cache.snapshot();

  const revision = await put(store, "b");

  assert.deepEqual(names(cache), ["a", "b"]);
  assert.equal(before.size, 1, "an earlier snapshot does not change");
  assert.deepEqual([cache.lastChange, await cache.freshRevision()], [revision, revision]);
});

test("a write during the load of the cache is visible to the next reader", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  await put(store, "a");
  for (let turns = 0; turns < 12; turns++) {
    const cache = cacheOn(store, clock);
    let answered = 0;
    const loaded = cache.load().then(() => ({ seen: cache.get(`${PREFIX}a`)?.revision ?? 0, answered }));
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    answered = await put(store, "a");
    await clock.settle();

    const reader = await loaded;
    assert(reader.seen >= reader.answered, `written after ${turns} ticks: saw ${reader.seen}, could know of ${reader.answered}`);
    cache.close();
  }
});

test("an index lookup uses the current value of the field", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  await put(store, "a", "1");
  await put(store, "b", "2");
  const cache = cacheOn(store, clock);
  await cache.load();
  const on = (shelf: string) => [...cache.withField("spec.shelf", shelf)!].map(([key]) => key.slice(PREFIX.length));
  assert.deepEqual([on("1"), on("2"), on("__proto__")], [["a"], ["b"], []]);

  await put(store, "b", "1");
  await put(store, "c", "2");
  await store.commit([{ type: "delete", key: `${PREFIX}a`, precondition: { is: "exists" } }]);

  assert.deepEqual([on("1"), on("2")], [["b"], ["c"]]);
  assert.equal(cache.withField("spec.size", "1"), undefined);
  assert.equal(cache.withField("__proto__", "1"), undefined);
});

test("when the store's watch breaks, listeners are ended once, and the cache reloads until it succeeds", async () => {
  const clock = virtualClock();
  const { store, ...control } = breakable(memoryStore(clock));
  const cache = cacheOn(store, clock);
  await cache.load();
  const [before, meanwhile] = [listener(), listener()];
  cache.join({ ...before, ended: () => (before.ended(), cache.leave(before)) });
  control.refuse(3);

  control.break();
  assert.equal(cache.isLoaded, false);
  cache.join(meanwhile);
  await clock.advance(100 + 200 + 400);
  await put(store, "late");

  assert.equal(cache.isLoaded, true);
  assert.deepEqual(names(cache), ["late"]);
  assert.equal(before.heard[0], "ended");
  assert.equal(meanwhile.heard[0], "ended", "a listener that joined in between would miss changes");
});

test("after a reload, an index has no objects that were deleted or changed while the watch was broken", async () => {
  const clock = virtualClock();
  const { store, ...control } = breakable(memoryStore(clock));
  for (const name of ["gone", "moved", "stays"]) await put(store, name, "1");
  const cache = cacheOn(store, clock);
  await cache.load();
  const on = (shelf: string) => [...cache.withField("spec.shelf", shelf)!].map(([key]) => key.slice(PREFIX.length));
  assert.deepEqual(on("1"), ["gone", "moved", "stays"]);
  control.refuse(1);

  control.break();
  await store.commit([{ type: "delete", key: `${PREFIX}gone`, precondition: { is: "exists" } }]);
  await put(store, "moved", "2");
  await clock.advance(100);

  assert.equal(cache.isLoaded, true);
  assert.deepEqual([on("1"), on("2")], [["stays"], ["moved"]]);
});

test("a failing store is reported to the reader, and the next read retries", async () => {
  const clock = virtualClock();
  const { store, ...control } = breakable(memoryStore(clock));
  const cache = cacheOn(store, clock);
  control.refuse(1);

  await assert.rejects(cache.load(), (error) => isReason(error, "ServiceUnavailable"));
  await cache.load();

  assert.equal(cache.isLoaded, true);
});

test("on a shared store the cache requests progress until it has reached the newest revision", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  let asked = 0;
  let feed: WatchListener | undefined;
  const shared: Store = Object.create(memory, {
    capabilities: { value: { ...memory.capabilities, shared: true } },
    list: { value: memory.list.bind(memory) },
    currentRevision: { value: memory.currentRevision.bind(memory) },
    watch: {
      value: (_prefix: string, _options: object, to: WatchListener) => {
        feed = to;
        return { requestProgress: () => void asked++, close() {} };
      },
    },
  });
  const cache = cacheOn(shared, clock);
  await cache.load();
  const revision = await put(memory, "a");

  let fresh: number | undefined;
  void cache.freshRevision().then((found) => (fresh = found));
  await clock.settle();
  feed?.progress?.(revision - 1);
  await clock.advance(100);
  assert.deepEqual([asked, fresh], [2, undefined], "a lagging member is queried again");
  feed?.progress?.(revision);
  await clock.settle();

  assert.equal(fresh, revision);
});

test("closing the cache ends its listeners, and those that join later", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const cache = cacheOn(store, clock);
  await cache.load();
  const [early, late] = [listener(), listener()];
  cache.join(early);

  cache.close();
  cache.close();
  cache.join(late);
  await put(store, "a");
  await clock.settle();

  assert.deepEqual([early.heard, late.heard], [["ended"], ["ended"]]);
});

test("readers of a cache that is closed while or before it is loaded see the state of the load, and are sent to the store", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  await put(store, "a");
  for (let turns = 0; turns < 12; turns++) {
    const cache = cacheOn(store, clock);
    const loaded = cache.load();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    cache.close();
    await loaded;

    assert.deepEqual([cache.isClosed, names(cache), await cache.freshRevision()], [true, ["a"], undefined], `closed after ${turns} ticks`);
  }
  const unloaded = cacheOn(store, clock);
  unloaded.close();
  await unloaded.load();
  assert.deepEqual([names(unloaded), await unloaded.freshRevision()], [["a"], undefined]);
});

test("a reader that waits for the newest revision is sent to the store when the cache is closed", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  const shared: Store = Object.create(memory, {
    capabilities: { value: { ...memory.capabilities, shared: true } },
    list: { value: memory.list.bind(memory) },
    currentRevision: { value: memory.currentRevision.bind(memory) },
    watch: { value: () => ({ requestProgress() {}, close() {} }) },
  });
  const cache = cacheOn(shared, clock);
  await cache.load();
  await put(memory, "a");

  const reading = cache.freshRevision();
  await clock.settle();
  cache.close();

  assert.equal(await reading, undefined);
});

test("the parsed managedFields of a replaced or deleted version are not kept", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const cache = cacheOn(store, clock);
  await cache.load();
  const before = family.managed.size;

  await put(store, "a", "1");
  await put(store, "a", "2");
  assert.equal(family.managed.size, before + 1);

  await store.commit([{ type: "delete", key: `${PREFIX}a`, precondition: { is: "exists" } }]);
  assert.equal(family.managed.size, before);
});
