import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ResourceKind } from "../client.ts";
import { byController, byOwner, defineIndex, withoutController } from "./index.ts";
import type { Index } from "./informer.ts";
import { ObjectStore } from "./object-store.ts";

interface Thing extends KubeObject {
  readonly tags: readonly string[];
}

const things: ResourceKind<Thing> = { kind: "Thing", plural: "things", scope: "Namespaced", storage: { group: "", version: "v1" } };

const byTag = defineIndex(things, ({ tags }) => tags);

function aThing(
  name: string,
  { namespace = "default", tags = [] as readonly string[], owners = [] as readonly string[], controller = "" } = {},
): Thing {
  const references = [...owners, ...(controller === "" ? [] : [controller])];
  const ownerReferences = references.map((uid) => ({ apiVersion: "v1", kind: "Thing", name: uid, uid, controller: uid === controller }));
  return { apiVersion: "v1", kind: "Thing", metadata: { name, namespace, ownerReferences }, tags };
}

function emptyStore(): ObjectStore<Thing> {
  return new ObjectStore({
    onIndexFailure: (error) => {
      throw error;
    },
  });
}

// ── against a naive model ───────────────────────────────────────────────────────────────────────────

const NAMESPACES = ["a", "a-b", "", "__proto__"];
const NAMES = ["x", "x-y", "constructor", "z"];
const TAGS = ["", "red", "__proto__"];
const UIDS = ["u1", "u2"];

const thing = fc
  .record({
    name: fc.constantFrom(...NAMES),
    namespace: fc.constantFrom(...NAMESPACES),
    tags: fc.array(fc.constantFrom(...TAGS)),
    owners: fc.uniqueArray(fc.constantFrom("o1", "o2")),
    controller: fc.constantFrom("", ...UIDS),
  })
  .map(({ name, ...rest }) => aThing(name, rest));

const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("put" as const), thing }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), thing }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("look" as const), thing }) },
);

/** Every query. */
function answersOf(store: Pick<ObjectStore<Thing>, "get" | "list" | "indexed">): unknown {
  const all = (index: Index<Thing>, values: readonly string[]) => values.map((value) => store.indexed(index, value));
  return [
    store.list(),
    ...NAMESPACES.map((namespace) => store.list(namespace)),
    ...NAMESPACES.flatMap((namespace) => NAMES.map((name) => store.get({ namespace, name }))),
    all(byTag, TAGS),
    all(byController(things), UIDS),
    all(byOwner(things), [...UIDS, "o1", "o2"]),
    all(withoutController(things), NAMESPACES),
  ];
}

/** A list that is scanned for every query. */
class NaiveStore {
  #things: readonly Thing[] = [];

  put(object: Thing): void {
    this.delete(object.metadata);
    this.#things = [...this.#things, object].toSorted(
      (a, b) => compare(a.metadata.namespace, b.metadata.namespace) || compare(a.metadata.name, b.metadata.name),
    );
  }

  delete({ namespace, name }: { readonly namespace?: string; readonly name: string }): void {
    this.#things = this.#things.filter(({ metadata }) => metadata.namespace !== namespace || metadata.name !== name);
  }

  get({ namespace = "", name }: { readonly namespace?: string | undefined; readonly name: string }): Thing | undefined {
    return this.#things.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  }

  list(namespace?: string): readonly Thing[] {
    return this.#things.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  }

  indexed(index: Index<Thing>, value: string): readonly Thing[] {
    return this.#things.filter((object) => [...index.values(object)].includes(value));
  }
}

function compare(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

test("a store and its indexes answer like a linear scan, whenever they are first queried", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const [store, naive] = [emptyStore(), new NaiveStore()];
      for (const { do: what, thing: object } of actions) {
        if (what === "look") assert.deepEqual(answersOf(store), answersOf(naive));
        else if (what === "put") {
          assert.equal(store.put(object), naive.get(object.metadata));
          naive.put(object);
        } else {
          assert.equal(store.delete(object.metadata), naive.get(object.metadata));
          naive.delete(object.metadata);
        }
      }
      assert.deepEqual(answersOf(store), answersOf(naive));
    }),
    { numRuns: 200 },
  );
});

// ── further guarantees ──────────────────────────────────────────────────────────────────────────────

test("a returned list never changes, and is the same array while nothing does", () => {
  const store = emptyStore();
  store.put(aThing("a", { tags: ["red"] }));
  const [all, some, tagged] = [store.list(), store.list("default"), store.indexed(byTag, "red")];

  assert.equal(store.list(), all);
  assert.equal(store.list("default"), some);
  assert.equal(store.indexed(byTag, "red"), tagged);
  store.put(aThing("b", { tags: ["red"] }));

  assert.deepEqual([all.length, some.length, tagged.length], [1, 1, 1]);
  assert.deepEqual([store.list().length, store.list("default").length, store.indexed(byTag, "red").length], [2, 2, 2]);
});

test("a change in one namespace keeps the lists of the others", () => {
  const store = emptyStore();
  store.put(aThing("a", { namespace: "one" }));
  const one = store.list("one");

  store.put(aThing("a", { namespace: "two" }));

  assert.equal(store.list("one"), one);
});

test("an object whose index function throws is missing from that index only", () => {
  const failures: unknown[] = [];
  const store = new ObjectStore<Thing>({ onIndexFailure: (error) => void failures.push(error) });
  const picky = defineIndex(things, ({ tags }) => {
    if (tags.includes("bad")) throw new Error("Cannot say");
    return tags;
  });
  store.put(aThing("a", { tags: ["x", "bad"] }));
  store.put(aThing("b", { tags: ["x"] }));

  assert.deepEqual(
    store.indexed(picky, "x").map(({ metadata }) => metadata.name),
    ["b"],
  );
  store.put(aThing("a", { tags: ["x"] }));
  assert.deepEqual(
    store.indexed(picky, "x").map(({ metadata }) => metadata.name),
    ["a", "b"],
  );
  assert.deepEqual(store.list().length, 2);
  assert.deepEqual(failures.map(String), ["Error: Cannot say", "Error: Cannot say"]);
});

test("there is one ownership index per kind", () => {
  const others: ResourceKind = { kind: "Other", plural: "others", scope: "Cluster", storage: { group: "", version: "v1" } };
  assert.equal(byController(things), byController(things));
  assert.notEqual(byController<KubeObject>(others), byController(things));
  assert.equal(byController(things).kind, things);
});
