/**
 * Yields the event loop between slices of work of a large request (large-bodies.ts). Small requests do not yield: they would only become
 * slower.
 */
import type { ApiRequest, RequestBody } from "../framework/request.ts";

/** Yields to other requests. */
export type Breathe = () => Promise<void>;

/** Undefined: the request is small. */
export function breatheOf({ body }: { readonly body?: RequestBody }): Breathe | undefined {
  return body?.form === "bytes" ? body.breathe : undefined;
}

/** Undefined if the request is small: it does not wait. */
export function breathe(request: ApiRequest): Promise<void> | undefined {
  return breatheOf(request)?.();
}

/** Runs steps to their end: synchronously, or for a large request with a pause after each. */
export function runSteps<T>(steps: Generator<void, T>, request: ApiRequest): T | Promise<T> {
  const pause = breatheOf(request);
  return pause === undefined ? allSteps(steps) : slowly(steps, pause);
}

export function allSteps<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

async function slowly<T>(steps: Generator<void, T>, pause: Breathe): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
