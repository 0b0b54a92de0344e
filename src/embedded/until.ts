/** Waits for a condition on objects with informers, without polling. With virtual time it advances time from one due event to the next. */
import type { Transport } from "../api/machinery/transport.ts";
import { onAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { Informer, InformerScope } from "../client/informer/informer.ts";
import { createInformers } from "../client/informer/informers.ts";
import type { Driver } from "./driver.ts";
import { durationInputMs, type DurationInput } from "./duration-input.ts";
import type { ObjectReference } from "./object-reference.ts";
import { untilReport, type ReportSources, type Seen } from "./until-report.ts";

/** Virtual time is cheap, and most of what a cluster waits for (node failure, eviction) happens within this. */
const WITHIN_VIRTUAL = "10m";
const WITHIN_REAL = "30s";

export interface UntilOptions {
  /** Default: "default" for namespaced kinds. "": all namespaces. */
  readonly namespace?: string;
  /** For a reference without a name: label selector. */
  readonly labelSelector?: string;
  /** Default: 10 minutes of virtual time, 30 seconds of real time. */
  readonly within?: DurationInput;
}

export interface UntilContext {
  readonly transport: Transport;
  /** Sources of the failure report. */
  readonly report: ReportSources;
  readonly driver: Driver | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Aborted when the cluster is closed. */
  readonly signal: AbortSignal;
}

/** Resolves with what was observed when the condition was first true. Rejects with what the condition throws. */
export async function untilSeen(
  reference: ObjectReference & { readonly text: string },
  condition: (seen: Seen) => boolean,
  options: UntilOptions,
  context: UntilContext,
): Promise<Seen> {
  const { driver, clock, signal } = context;
  if (reference.name !== undefined && reference.kind.scope === "Namespaced" && options.namespace === "")
    throw new Error(`Ambiguous object reference "${reference.text}": a named object needs a namespace`);
  const within = options.within ?? (driver === undefined ? WITHIN_REAL : WITHIN_VIRTUAL);
  const withinMs = durationInputMs(within);
  await using informers = createInformers(context);
  const informer = informers.of(reference.kind, scopeOf(reference, options));
  const synced = informer.synced(signal);
  await (driver === undefined ? synced : driver.through(synced));
  const look = () => seenBy(informer, reference.name, options.namespace);
  let met: { readonly seen: Seen } | undefined;
  const isMetNow = () => {
    signal.throwIfAborted();
    const seen = look();
    if (met === undefined && isTrue(condition(seen), reference.text)) met = { seen };
    return met !== undefined;
  };
  if (driver === undefined) await metInTime(informer, isMetNow, { clock, withinMs, signal });
  else await driver.advanceUntil(isMetNow, withinMs);
  if (met !== undefined) return met.seen;
  const length = `${typeof within === "number" ? `${within} ms` : within} of ${driver === undefined ? "real" : "virtual"} time`;
  const title = `Timed out waiting for ${reference.text} after ${length}`;
  throw new Error(await untilReport({ title, condition, seen: look() }, context.report));
}

/** A promise would always be truthy. */
function isTrue(answer: unknown, reference: string): boolean {
  if (typeof (answer as { readonly then?: unknown } | undefined | null)?.then !== "function") return Boolean(answer);
  (answer as Promise<unknown>).then(undefined, () => undefined);
  throw new Error(`Cannot wait for "${reference}": the condition returned a promise; it must return its result synchronously`);
}

function scopeOf({ kind, name }: ObjectReference, { namespace = "default", labelSelector }: UntilOptions): InformerScope {
  return {
    ...(kind.scope === "Namespaced" && namespace !== "" ? { namespace } : {}),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
}

function seenBy(informer: Informer, name: string | undefined, namespace = "default"): Seen {
  if (name === undefined) return informer.list();
  return informer.kind.scope === "Namespaced" ? informer.get({ namespace, name }) : informer.get({ name });
}

/** Checks the condition at every change. */
async function metInTime(
  informer: Informer,
  isMet: () => boolean,
  { clock, withinMs, signal }: { readonly clock: Clock; readonly withinMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const over = new AbortController();
  const met = new Promise<boolean>((resolve, reject) => {
    const look = (): void => {
      try {
        if (isMet()) resolve(true);
      } catch (error) {
        reject(error);
      }
    };
    const listening = informer.listen({ added: look, updated: look, deleted: look });
    const stopListening = onAbort(signal, look);
    onAbort(over.signal, () => {
      listening[Symbol.dispose]();
      stopListening();
    });
    look();
  });
  const late = clock.sleep(withinMs, over.signal).then(isMet, () => false);
  try {
    return await Promise.race([met, late]);
  } finally {
    over.abort();
  }
}
