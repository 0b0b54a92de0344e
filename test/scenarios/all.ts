/** Scenarios in which several controllers interact. Single controllers are tested in their own folders. */
import { certificateScenarios } from "./certificates.ts";
import type { NamedScenario } from "./scenario.ts";
import { wholeClusterScenarios } from "./whole-cluster.ts";
import { workloadScenarios } from "./workloads.ts";

export const all: readonly NamedScenario[] = [...certificateScenarios, ...workloadScenarios, ...wholeClusterScenarios];
