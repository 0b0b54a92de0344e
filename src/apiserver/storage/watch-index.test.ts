import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testSeed } from "../../testing/rounds.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { WatchIndex } from "./watch-index.ts";
import { stub } from "../../base/testing/stub.ts";
import type { ChangeListener, ObjectChange, StoredObject, WatchScope } from "../framework/storage/storage.ts";

const word = fc.constantFrom("", "a", "b", "__proto__");
const name = fc.constantFrom("a", "b", "constructor");

const scope: fc.Arbitrary<WatchScope> = fc.oneof(
  word.map((namespace) => ({ namespace })),
  fc.record({ namespace: word, name }),
  fc.record({ namespace: word, field: fc.record({ path: fc.constantFrom("shelf", "colour", "unknown"), value: word }) }),
);

interface Fields {
  readonly shelf: string;
  readonly colour: string;
}

const fields: fc.Arbitrary<Fields> = fc.record({ shelf: word, colour: word });
interface Happened {
  readonly namespace: string;
  readonly name: string;
  readonly object: Fields;
  readonly previous: Fields | undefined;
}

const change: fc.Arbitrary<Happened> = fc.record({
  namespace: word,
  name,
  object: fields,
  previous: fc.option(fields, { nil: undefined }),
});

const READERS = {
  shelf: (object: KubeObject) => (object as KubeObject & Fields).shelf,
  colour: (object: KubeObject) => (object as KubeObject & Fields).colour,
};

function stored(values: Fields): StoredObject {
  return stub<StoredObject>({ object: values });
}

/** The reference model of which listeners a change may concern. A group by field ignores the namespace. */
function concerns(wanted: WatchScope, { namespace, name: changed, object, previous }: Happened): boolean {
  const isInNamespace = wanted.namespace === "" || wanted.namespace === namespace;
  if (wanted.name !== undefined) return isInNamespace && wanted.name === changed;
  if (wanted.field === undefined || wanted.field.path === "unknown") return isInNamespace;
  const { path, value } = wanted.field as { path: keyof Fields; value: string };
  return object[path] === value || previous?.[path] === value;
}

test("a change is delivered once to every listener that it may concern, and to no other", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(scope, fc.boolean()), { maxLength: 12 }), fc.array(change, { maxLength: 6 }), (scopes, changes) => {
      const index = new WatchIndex(READERS);
      const notified: number[] = [];
      const listeners = scopes.map(([wanted], position): ChangeListener => ({
        scope: wanted,
        changed: () => void notified.push(position),
      }));
      for (const listener of listeners) index.add(listener);
      for (const [position, [, leaves]] of scopes.entries()) if (leaves) index.remove(listeners[position]!);
      const staying = scopes.flatMap(([wanted, leaves], position) => (leaves ? [] : [{ wanted, position }]));

      assert.equal(index.size, staying.length);
      assert.equal(index.all().length, staying.length);
      for (const happened of changes) {
        notified.length = 0;
        const { object, previous, ...place } = happened;
        const at = { ...place, type: "put", revision: 1, object: stored(object), shared: new Map() } as const;
        index.notify({ ...at, previous: previous === undefined ? undefined : stored(previous) } satisfies ObjectChange);

        const expected = staying.filter(({ wanted }) => concerns(wanted, happened)).map(({ position }) => position);
        assert.deepEqual(
          notified.toSorted((a, b) => a - b),
          expected,
        );
      }
    }),
    { seed: testSeed(), numRuns: 500 },
  );
});

test("adding or removing a listener twice has no effect", () => {
  const index = new WatchIndex(READERS);
  const listener: ChangeListener = { scope: { namespace: "a" }, changed() {} };

  index.add(listener);
  index.add(listener);
  assert.equal(index.size, 1);
  index.remove(listener);
  index.remove(listener);
  assert.equal(index.size, 0);
});
