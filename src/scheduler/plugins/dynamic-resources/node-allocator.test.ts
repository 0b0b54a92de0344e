import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { ResourceClaim, ResourceSlice } from "../../../api/generated/resource.k8s.io/v1.ts";
import { NO_DEVICES } from "../../framework/device-view.ts";
import { aNode, aPod, nodeInfo, podInfo } from "../../framework/testing/builders.ts";
import { AvailableCounters } from "./allocator/counters.ts";
import { cycleClaim, type CycleState } from "./cycle-claims.ts";
import { DeviceLedger } from "./device-ledger.ts";
import { NodeAllocator } from "./node-allocator.ts";
import { aClaim, aDeviceClass, aRequest, aSlice, DRIVER } from "./testing/devices.ts";

/** More than an attempt and a slice in the background may take: every look at the clock suspends the search. */
const LOOK_MS = 20;

class Situation {
  readonly activated: string[] = [];
  readonly ledger: DeviceLedger;
  readonly #allocator: NodeAllocator;
  readonly #claim: ResourceClaim;
  #background: Iterator<void> | undefined;
  #nowMs = 0;

  constructor(slice: ResourceSlice, claim: ResourceClaim) {
    this.#claim = claim;
    const runInBackground = (work: Iterator<void>) => void (this.#background = work);
    const view = { ...NO_DEVICES, onSlices: ({ changed }: Parameters<typeof NO_DEVICES.onSlices>[0]) => changed(slice, undefined) };
    this.ledger = new DeviceLedger(view, runInBackground);
    this.#allocator = new NodeAllocator({
      ledger: this.ledger,
      deviceClass: () => aDeviceClass(),
      newShareId: () => "share",
      activate: (podUid) => void this.activated.push(podUid),
      nowMs: () => (this.#nowMs += LOOK_MS),
      runInBackground,
      timeoutMs: 0,
    });
  }

  attempt(deadlineMs = this.#nowMs + 1) {
    const state: CycleState = {
      ...{ podUid: "pod", claims: [cycleClaim(this.#claim, false)], extended: new Map(), allocations: new Map(), unavailable: new Set() },
      counters: new AvailableCounters((device) => this.ledger.allocated.isAllocated(device)),
      ownAllocator: undefined,
      deadlineMs,
      isWaitingForDevices: false,
    };
    const answer = this.#allocator.allocateOn(state, podInfo(aPod("p")), nodeInfo(aNode("n1")));
    return { answer, isWaiting: state.isWaitingForDevices };
  }

  /** Ticks until the search in the background has ended. */
  runBackground(): number {
    let ticks = 0;
    while (this.#background?.next().done !== true) ticks++;
    return ticks;
  }
}

const devices = Array.from({ length: 15 }, (_, index) => ({ name: `d${index}`, attributes: { numa: { int: index % 3 } } }));
const CLAIM = aClaim("c", [aRequest({ count: 8 }), aRequest({ count: 5 }, "more")], {
  constraints: [{ requests: ["more"], matchAttribute: `${DRIVER}/numa` }],
});

test("a search that takes longer than an attempt continues in the background, and the next attempt has its devices", () => {
  const situation = new Situation(aSlice("s", devices, { nodeName: "n1" }), CLAIM);
  const first = situation.attempt();
  const meanwhile = situation.attempt();
  const ticks = situation.runBackground();

  const { answer } = situation.attempt(Infinity);

  for (const { answer: pending, isWaiting } of [first, meanwhile]) {
    deepEqual([pending, isWaiting], [{ rejection: { reasons: ["devices are being searched"], resolvable: false } }, true]);
  }
  ok(ticks > 1, `${ticks} ticks`);
  deepEqual(situation.activated, ["pod"]);
  const uninterrupted = new Situation(aSlice("s", devices, { nodeName: "n1" }), CLAIM).attempt(Infinity);
  deepEqual(
    "allocation" in answer && answer.allocation.results,
    "allocation" in uninterrupted.answer && uninterrupted.answer.allocation.results,
  );
  equal("allocation" in answer && answer.allocation.results[0]?.allocation.devices?.results?.length, 13);
});

test("devices that are taken during the search are not allocated twice", () => {
  const situation = new Situation(aSlice("s", devices, { nodeName: "n1" }), CLAIM);
  situation.attempt();
  situation.runBackground();
  const results = ["d0", "d1", "d2"].map((device) => ({ request: "gpu", driver: DRIVER, pool: "n1", device }));
  situation.ledger.reserve("another", { devices: { results } });

  const { answer } = situation.attempt(Infinity);

  deepEqual(answer, { rejection: { reasons: ["cannot allocate all claims"], resolvable: false } });
});
