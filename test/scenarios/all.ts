/** Scenarios in which several controllers work together. Each controller alone is tried in its own folder. */
import { certificateScenarios } from "./certificates.ts";
import type { NamedScenario } from "./scenario.ts";
import { wholeClusterScenarios } from "./whole-cluster.ts";
import { workloadScenarios } from "./workloads.ts";

export const all: readonly NamedScenario[] = [...certificateScenarios, ...workloadScenarios, ...wholeClusterScenarios];
