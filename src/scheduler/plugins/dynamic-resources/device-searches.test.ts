import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { SearchSuspended, type SearchPosition } from "./allocator/search.ts";
import { DeviceSearches, type SearchSlice } from "./device-searches.ts";

const SLICE_MS = 5;

/** A search whose slices each take their time and move one position on; `ends` says what is at a position. */
function started(ends: (position: number) => "found" | "none" | Error | undefined, timeoutMs = 1_000) {
  let nowMs = 0;
  let work: Iterator<void> | undefined;
  const activated: string[] = [];
  const searches = new DeviceSearches({
    activate: (podUid) => void activated.push(podUid),
    runInBackground: (given) => (work = given),
    nowMs: () => nowMs,
    timeoutMs,
  });
  const slice: SearchSlice = ([position = 0]: SearchPosition) => {
    nowMs += SLICE_MS;
    const end = ends(position);
    if (end === undefined) throw new SearchSuspended([position + 1]);
    if (end instanceof Error) throw end;
    return end === "found" ? [] : undefined;
  };
  searches.start({ podUid: "p", node: "n", position: [1] }, slice);
  const run = (ticksMax = 1_000): number => {
    let ticks = 0;
    while (ticks < ticksMax && work?.next().done !== true) ticks++;
    return ticks;
  };
  return { searches, activated, run };
}

test("a search in the background takes a tick for each slice, and its Pod is attempted again when it has ended", () => {
  const { searches, activated, run } = started((position) => (position === 4 ? "found" : undefined));
  run(2);
  deepEqual([searches.take("p", "n"), activated], [{ is: "running" }, []]);

  const ticks = run();

  equal(ticks, 2);
  deepEqual(activated, ["p"]);
  deepEqual(searches.take("p", "n"), { is: "found", position: [4] });
  equal(searches.take("p", "n"), undefined);
});

test("a search that finds no devices says so once", () => {
  const { searches, run } = started(() => "none");
  run();

  deepEqual([searches.take("p", "n"), searches.take("p", "n")], [{ is: "none" }, undefined]);
});

test("a search ends with upstream's message when all its slices together took too long", () => {
  const { searches, activated, run } = started(() => undefined, 50);
  run();

  const search = searches.take("p", "n");

  deepEqual([search?.is, activated], ["failed", ["p"]]);
  match(String(search?.is === "failed" && search.error), /node n: timed out trying to allocate devices/);
});

test("an error of a search is that of the next attempt", () => {
  const error = new Error("allocation max size exceeded");
  const { searches, run } = started(() => error);
  run();

  deepEqual(searches.take("p", "n"), { is: "failed", error });
});
