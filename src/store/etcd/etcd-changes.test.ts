import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { array, assert, boolean, integer, property } from "fast-check";
import { rounds, testSeed } from "../../testing/rounds.ts";
import type { Entry } from "../store.ts";
import { bytesValue } from "../value.ts";
import { EventAssembler, changesOf } from "./etcd-changes.ts";
import type { KeyValue, WatchEvent } from "./etcd-messages.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 500, full: 20_000 }) };
const NOTHING = new Uint8Array(0);

function kv(key: string, modRevision: number, createRevision = 1): KeyValue {
  return { key: new TextEncoder().encode(key), value: NOTHING, modRevision, createRevision };
}

function event(key: string, revision: number, previous?: number): WatchEvent {
  return { type: 0, kv: kv(key, revision), previous: previous === undefined ? undefined : kv(key, previous) };
}

const show = ({ kv: shown }: WatchEvent) => `${new TextDecoder().decode(shown?.key)}@${shown?.modRevision}`;

test("however responses are fragmented, and wherever the stream breaks, every event is delivered once and every revision whole", () => {
  // Events per revision: usually one; foreign writers may write several keys of a prefix at once.
  const histories = array(integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 20 });
  // After each event, whether the fragment ends there; after each fragment, whether the stream breaks.
  const cuts = array(boolean(), { maxLength: 80 });
  const breaks = array(boolean(), { maxLength: 12 });
  assert(
    property(histories, cuts, breaks, (history, cutList, breakList) => {
      const events = history.flatMap((count, index) => Array.from({ length: count }, (_, part) => event(`k${part}`, index + 2)));
      const assembler = new EventAssembler(1);
      const passed: string[] = [];
      const [cutsLeft, breaksLeft] = [[...cutList], [...breakList]];
      for (let finished = false; !finished;) {
        assembler.restart();
        // etcd starts at the requested revision itself, in a single response.
        finished = deliver(
          assembler,
          events.filter(({ kv: sent }) => (sent?.modRevision ?? 0) >= assembler.last),
          passed,
          cutsLeft,
          breaksLeft,
        );
      }
      deepEqual(passed, events.map(show));
      equal(assembler.last, history.length + 1);
    }),
    settings,
  );
});

/** Sends one response in fragments; false if the stream broke on the way. */
function deliver(assembler: EventAssembler, events: readonly WatchEvent[], passed: string[], cuts: boolean[], breaks: boolean[]): boolean {
  let piece: WatchEvent[] = [];
  for (const [index, one] of events.entries()) {
    piece.push(one);
    const isLast = index === events.length - 1;
    if (!isLast && cuts.shift() !== true) continue;
    const whole = assembler.add(piece, !isLast);
    const revisions = new Set(whole.map(({ kv: shown }) => shown?.modRevision));
    for (const revision of revisions) {
      const expected = events.filter(({ kv: sent }) => sent?.modRevision === revision).length;
      equal(whole.filter(({ kv: shown }) => shown?.modRevision === revision).length, expected, "a revision is whole");
    }
    passed.push(...whole.map(show));
    piece = [];
    if (!isLast && breaks.shift() === true) return false;
  }
  return true;
}

test("revisions known to have no events are not requested again", () => {
  const assembler = new EventAssembler(5);
  assembler.advance(9);
  assembler.advance(7);
  equal(assembler.last, 9);
  deepEqual(assembler.add([event("a", 9), event("a", 10)], false).map(show), ["a@10"]);
});

const entryOf = ({ key, modRevision }: KeyValue): Entry => ({
  key: new TextDecoder().decode(key),
  value: bytesValue(NOTHING),
  revision: modRevision,
});

test("a change whose previous value etcd has compacted is not reported as a creation, and nothing after it is delivered", () => {
  const created: WatchEvent = { type: 0, kv: kv("a", 2, 2), previous: undefined };
  const changed = event("a", 3, 2);
  const orphan: WatchEvent = { type: 0, kv: kv("a", 4, 2), previous: undefined };
  const deletedOrphan: WatchEvent = { type: 1, kv: kv("a", 4, 0), previous: undefined };
  const deleted: WatchEvent = { type: 1, kv: kv("a", 4, 0), previous: kv("a", 3) };

  const shown = (events: readonly WatchEvent[]) => {
    const result = changesOf(events, entryOf);
    const lines = result.changes.map(({ type, revision, previous }) => `${type}@${revision} was ${previous?.revision ?? "nothing"}`);
    return "previousLostAt" in result ? [...lines, `lost at ${result.previousLostAt}`] : lines;
  };
  deepEqual(shown([created, changed, deleted]), ["put@2 was nothing", "put@3 was 2", "delete@4 was 3"]);
  deepEqual(shown([created, orphan, changed]), ["put@2 was nothing", "lost at 4"]);
  deepEqual(shown([deletedOrphan]), ["lost at 4"]);
});
