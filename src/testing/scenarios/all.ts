/** Every scenario. A controller without one fails the test. */
import type { NamedScenario } from "./scenario.ts";
import { workloadScenarios } from "./workloads.ts";

export const all: readonly NamedScenario[] = [...workloadScenarios];
