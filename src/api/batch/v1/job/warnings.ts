/** Warnings about a valid Job, or Job template, that is probably a mistake. */
import { podTemplateWarnings } from "../../../core/v1/pod/warnings/pod.ts";
import type { JobSpec } from "../../../generated/batch/v1.ts";
import { warningsOf } from "../../../machinery/findings.ts";

/** Above both, the text of completed indexes can become too long for an object. */
const COMPLETIONS_MAX = 100_000;
const PARALLELISM_MAX = 10_000;

export function* jobSpecWarnings(spec: JobSpec, at: string): Iterable<string> {
  const { completions = 0, parallelism = 0 } = spec;
  if (spec.completionMode === "Indexed" && completions > COMPLETIONS_MAX && parallelism > PARALLELISM_MAX) {
    const limits = "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4";
    yield `${at}: ${limits}, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`;
  }
  yield* warningsOf((warnings) => podTemplateWarnings(warnings, spec.template, `${at}.template`));
}
