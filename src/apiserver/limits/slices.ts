/**
 * Yields the event loop between slices of work of a large request (large-bodies.ts). Small requests do not yield: they would only become
 * slower.
 */
import type { ApiRequest, RequestBody } from "../framework/request.ts";

/** Yields to other requests. */
export type YieldLoop = () => Promise<void>;

/** Undefined: the request is small. */
export function yieldLoopOf({ body }: { readonly body?: RequestBody }): YieldLoop | undefined {
  return body?.form === "bytes" ? body.yieldLoop : undefined;
}

/** Undefined if the request is small: it does not wait. */
export function yieldLoop(request: ApiRequest): Promise<void> | undefined {
  return yieldLoopOf(request)?.();
}

/** Runs steps to their end: synchronously, or for a large request with a pause after each. */
export function runSteps<T>(steps: Generator<void, T>, request: ApiRequest): T | Promise<T> {
  const pause = yieldLoopOf(request);
  return pause === undefined ? allSteps(steps) : slowly(steps, pause);
}

export function allSteps<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

async function slowly<T>(steps: Generator<void, T>, pause: YieldLoop): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
