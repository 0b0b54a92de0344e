import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { builtInPriorityLevels } from "../../api/flowcontrol.apiserver.k8s.io/v1/built-in.ts";
import { specOf } from "./level.ts";
import { currentLimits, nominalLimits, requestSeatsMax, sharesOf, type LevelDemand } from "./limits.ts";

const SPECS = builtInPriorityLevels.map(({ object }) => [object.metadata.name, specOf(object)] as const);
const SHARE_SUM = SPECS.reduce((sum, [, spec]) => sum + sharesOf(spec), 0);

test("the built-in levels have upstream's limits for 600 seats", () => {
  const limits = Object.fromEntries(
    SPECS.map(([name, spec]) => {
      const { nominal, min, max } = nominalLimits(spec, SHARE_SUM, 600);
      return [name, [nominal, min, max, requestSeatsMax(spec, nominal)]];
    }),
  );
  // From apiserver_flowcontrol_{nominal,lower,upper}_limit_seats of kube-apiserver 1.36.
  deepEqual(limits, {
    exempt: [0, 0, 600, undefined],
    "catch-all": [13, 13, 613, undefined],
    system: [74, 50, 674, 12],
    "node-high": [98, 73, 698, 15],
    "leader-election": [25, 25, 625, 4],
    "workload-high": [98, 49, 698, 15],
    "workload-low": [245, 24, 845, 37],
    "global-default": [49, 24, 649, 8],
  });
});

test("borrowingLimitPercent limits borrowed seats", () => {
  const spec = { type: "Limited", limited: { nominalConcurrencyShares: 10, lendablePercent: 50, borrowingLimitPercent: 20 } };
  deepEqual(nominalLimits(spec, 20, 100), { nominal: 50, min: 25, max: 60 });
});

function level(changes: Partial<LevelDemand> & { readonly smoothed?: number; readonly highWatermark?: number }): LevelDemand {
  const { smoothed = 0, highWatermark = 0, ...rest } = changes;
  const demand = { average: 0, deviation: 0, highWatermark, smoothed };
  return { isExempt: false, nominal: 50, min: 25, max: 150, current: 50, demand, ...rest };
}

test("a level with more demand borrows what others lend, and no level goes below its minimum", () => {
  const { limits } = currentLimits([level({ smoothed: 200, highWatermark: 200 }), level({})]);
  deepEqual(limits, [75, 25]);
});

test("a level keeps what it used in the last period, up to its nominal limit", () => {
  const { limits } = currentLimits([level({ smoothed: 500, highWatermark: 500 }), level({ smoothed: 40, highWatermark: 40 })]);
  deepEqual(limits, [60, 40]);
});

test("exempt requests reduce the lendable seats; if these are exhausted, every level falls to its minimum", () => {
  const exempt = (highWatermark: number) => level({ isExempt: true, nominal: 0, min: 0, max: 0, highWatermark });
  const busy = level({ smoothed: 50, highWatermark: 50 });
  deepEqual(currentLimits([exempt(60), busy, busy]).limits, [60, 25, 25]);
  deepEqual(currentLimits([exempt(25), busy, busy]).limits, [25, 38, 38]);
  equal(currentLimits([exempt(60), busy, busy]).fairFraction, 0);
});
