/** The state of API Priority and Fairness for the debug documents. */
import type { Clock } from "../../base/clock.ts";
import type { FairnessReport } from "../framework/document.ts";
import { dumpPriorityLevels, dumpQueues, dumpRequests } from "./dump.ts";
import type { Fairness } from "./fairness.ts";
import { fairnessFamilies } from "./metric-families.ts";

export function fairnessReport(fairness: Fairness, clock: Clock): FairnessReport {
  return {
    metricFamilies: () => fairnessFamilies(fairness, clock.monotonic()),
    dumpPriorityLevels: () => dumpPriorityLevels(fairness.levels()),
    dumpQueues: () => dumpQueues(fairness.levels()),
    dumpRequests({ withDetails }) {
      const offsetMs = clock.now() - clock.monotonic();
      return dumpRequests(fairness.levels(), { withDetails, wallMs: (monotonicMs) => monotonicMs + offsetMs });
    },
  };
}
