/**
 * A random history of a store beside a trivial model: a list of whole states, one per revision. Everything is drawn from a seed; a failure
 * names it.
 */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { seededRandom, type Random } from "../../base/random.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import type { Operation, Precondition, Store } from "../store.ts";
import { holds } from "../operations.ts";
import { Seen, show, storeTest, text, textOf, type Driver } from "./harness.ts";

const RESOURCES = ["/pods/", "/services/specs/", "/services/endpoints/", "/example.com/widgets/", "/k8ts/records/"];
const NAMES = ["a", "b", "ns1/a", "ns1/b", "ns2/a", "ü", "😀"];
const COMMITS = 150;

export function randomSuite(driver: Driver): void {
  const lives = rounds({ quick: 3, full: 100 });
  for (let seed = testSeed(); seed < testSeed() + lives; seed++) {
    storeTest(driver, `a random life agrees with a simple model (K8TS_SEED=${seed})`, (store) => liveAndCompare(store, seededRandom(seed)));
  }
  test(`${driver.name}: the model itself rejects what preconditions forbid`, () => {
    const model = new Model(1);
    equal(model.commit([{ type: "delete", key: "/pods/a", precondition: { is: "exists" } }]), undefined);
    equal(model.commit([{ type: "put", key: "/pods/a", value: text("1") }]), 2);
  });
}

/** key → `content@revision`, for every revision. */
class Model {
  readonly states: Map<number, ReadonlyMap<string, Cell>>;
  readonly log: { readonly revision: number; readonly key: string; readonly line: string }[] = [];
  revision: number;

  constructor(revision: number) {
    this.revision = revision;
    this.states = new Map([[revision, new Map()]]);
  }

  get newest(): ReadonlyMap<string, Cell> {
    return this.states.get(this.revision) ?? new Map();
  }

  commit(operations: readonly Operation[]): number | undefined {
    if (!operations.every(({ key, precondition }) => holds(precondition, this.newest.get(key)))) return undefined;
    const revision = this.revision + 1;
    const state = new Map(this.newest);
    for (const operation of operations) {
      const { key } = operation;
      const line = operation.type === "put" ? `put ${key}=${textOf(operation.value)}` : `delete ${key}`;
      this.log.push({ revision, key, line: `${line}@${revision}${was(state.get(key))}` });
      if (operation.type === "put") state.set(key, { content: textOf(operation.value), revision });
      else state.delete(key);
    }
    this.revision = revision;
    this.states.set(revision, state);
    return revision;
  }
}

interface Cell {
  readonly content: string;
  readonly revision: number;
}

async function liveAndCompare(store: Store, random: Random): Promise<void> {
  const model = new Model(await store.currentRevision());
  const watches: { readonly prefix: string; readonly after: number; readonly seen: Seen }[] = [];
  let compacted = model.revision;
  const keptRevision = () => compacted + random.below(model.revision - compacted + 1);

  for (let step = 0; step < COMMITS; step++) {
    await commitOnBoth(store, model, random, step);
    if (random.below(10) === 0) await compareReads(store, model, random, keptRevision());
    if (random.below(15) === 0) {
      const [prefix, after] = [pick(random, RESOURCES), keptRevision()];
      watches.push({ prefix, after, seen: new Seen(store, prefix, after) });
    }
    if (random.below(40) === 0) {
      // Watches that are still catching up may not survive this; those end with that reason and are left out.
      compacted = keptRevision();
      await store.compact(compacted);
    }
  }
  for (const prefix of RESOURCES) model.commit([{ type: "put", key: `${prefix}last`, value: text("1") }]);
  for (const prefix of RESOURCES) await store.commit([{ type: "put", key: `${prefix}last`, value: text("1") }]);
  for (const { prefix, after, seen } of watches) {
    await seen.until(({ changes, ends }) => ends.length > 0 || changes.at(-1)?.key === `${prefix}last`);
    if (seen.ends.length === 0) deepEqual(seen.lines, linesOf(model, prefix, after));
    else equal(seen.ends[0]?.reason, "compacted");
  }
}

async function commitOnBoth(store: Store, model: Model, random: Random, step: number): Promise<void> {
  const operations = shuffled(random, RESOURCES)
    .slice(0, 1 + random.below(2))
    .map((resource) => drawOperation(model, random, resource + pick(random, NAMES), step));
  const expected = model.commit(operations);
  const result = await store.commit(operations);
  equal(result.committed ? result.revision : undefined, expected);
  if (!result.committed) {
    const refused = operations.flatMap(({ key, precondition }, operation) =>
      holds(precondition, model.newest.get(key)) ? [] : [{ operation, found: cellLine(key, model.newest.get(key)) }],
    );
    deepEqual(
      result.failed.map(({ operation, found }) => ({ operation, found: show(found) })),
      refused,
    );
  }
}

function drawOperation(model: Model, random: Random, key: string, step: number): Operation {
  const there = model.newest.get(key);
  const preconditions: Precondition[] = [{ is: "exists" }, { is: "at", revision: there?.revision ?? 1 + random.below(model.revision) }];
  const precondition = pick(random, preconditions) as Exclude<Precondition, { is: "absent" }>;
  if (random.below(4) === 0) return { type: "delete", key, precondition };
  const value = text(`${step}-${random.below(1_000)}`);
  switch (random.below(3)) {
    case 0:
      return { type: "put", key, value };
    case 1:
      return { type: "put", key, value, precondition: { is: "absent" } };
    default:
      return { type: "put", key, value, precondition };
  }
}

async function compareReads(store: Store, model: Model, random: Random, revision: number): Promise<void> {
  const state = model.states.get(revision) ?? new Map<string, Cell>();
  const prefix = pick(random, ["", ...RESOURCES, "/pods/ns1/", "/services/", "/", "/k"]);
  const expected = [...state]
    .filter(([key]) => key.startsWith(prefix))
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([key, cell]) => cellLine(key, cell));
  const limit = 1 + random.below(5);
  const page = await store.list(prefix, { revision, limit });
  deepEqual(page.entries.map(show), expected.slice(0, limit));
  equal(page.remaining, Math.max(0, expected.length - limit));
  deepEqual((await store.list(prefix, { revision })).entries.map(show), expected);
  const key = pick(random, RESOURCES) + pick(random, NAMES);
  equal(show(await store.get(key, { revision })), cellLine(key, state.get(key)));
}

function linesOf(model: Model, prefix: string, after: number): string[] {
  return model.log.filter(({ key, revision }) => key.startsWith(prefix) && revision > after).map(({ line }) => line);
}

function was(cell: Cell | undefined): string {
  return cell === undefined ? "" : ` (was ${cell.content}@${cell.revision})`;
}

function cellLine(key: string, cell: Cell | undefined): string | undefined {
  return cell === undefined ? undefined : `${key}=${cell.content}@${cell.revision}`;
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random.below(items.length)] as T;
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: random.fraction() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
