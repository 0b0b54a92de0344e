/**
 * Lists all objects of a kind at one revision, page by page, so that neither side holds one huge response. If the revision is compacted
 * between two pages, everything is requested in one response instead.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { badRequest, isReason } from "../../api/machinery/status-error.ts";
import type { RequestOptions, Transport, TransportRequest } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { onAbort } from "../../base/abort.ts";
import { ObjectStore } from "./object-store.ts";
import { isWellFormed } from "./well-formed.ts";

/** Upstream's page size. */
const PAGE_SIZE = 500;

/** Timeout of a page: the server gives up on any request after a minute. */
const PAGE_TIMEOUT_MS = 90_000;

export interface ListAllOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly request: Omit<TransportRequest, "verb" | "signal">;
  readonly signal: AbortSignal;
}

export interface WholeList {
  /** Ordered by namespace and name. */
  readonly objects: readonly KubeObject[];
  readonly revision: string;
}

export async function listAll(options: ListAllOptions): Promise<WholeList> {
  const { resourceVersion } = options.request.options ?? {};
  const start: RequestOptions = resourceVersion === undefined ? {} : { resourceVersionMatch: "NotOlderThan" };
  const first = await page(options, { ...start, limit: PAGE_SIZE });
  try {
    return await withTheRest(options, first);
  } catch (error) {
    if (!isReason(error, "Expired") && !isReason(error, "Gone")) throw error;
    return collect([await page(options, start)]);
  }
}

interface Page extends WholeList {
  readonly continue: string | undefined;
}

async function withTheRest(options: ListAllOptions, first: Page): Promise<WholeList> {
  const pages = [first];
  for (let token = first.continue; token !== undefined && token !== ""; token = pages.at(-1)?.continue) {
    pages.push(await page(options, { limit: PAGE_SIZE, continue: token }));
  }
  return collect(pages);
}

/** Sorted here: the server's order is its own. */
function collect(pages: readonly Page[]): WholeList {
  const objects = new ObjectStore({ onIndexFailure: () => undefined });
  for (const { objects: some } of pages) {
    for (const object of some) {
      if (!isWellFormed(object)) throw new Error("Cannot list: each object must have a name and a version, and one has not");
      objects.put(object);
    }
  }
  return { objects: objects.list(), revision: pages[0]?.revision ?? "" };
}

async function page(options: ListAllOptions, more: RequestOptions): Promise<Page> {
  const { transport, request } = options;
  // A following page is determined by its token alone.
  const { resourceVersion: _resourceVersion, ...selection } = request.options ?? {};
  const all = { ...(more.continue === undefined ? request.options : selection), ...more };
  const answer = await withTimeout(options, (signal) => transport.request({ ...request, options: all, verb: "list", signal }));
  if (answer.is !== "list") throw badRequest(`${request.plural} cannot be listed: the answer is no list`);
  return { objects: answer.items, revision: answer.metadata.resourceVersion ?? "", continue: answer.metadata.continue };
}

/** Cancels at the signal or the timeout, whether the transport listens or not. */
async function withTimeout<T>({ clock, signal }: ListAllOptions, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const abort = new AbortController();
  const stopListening = onAbort(signal, () => abort.abort(signal.reason));
  try {
    const late = clock.sleep(PAGE_TIMEOUT_MS, abort.signal).then(() => {
      throw new Error(`Cannot list: no answer within ${PAGE_TIMEOUT_MS} ms`);
    });
    return await Promise.race([request(abort.signal), late]);
  } finally {
    stopListening();
    abort.abort();
  }
}
