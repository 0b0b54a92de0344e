/**
 * An event on its way to the API server: first an occurrence, then a write. The translation depends on the API (core-events.ts,
 * series-events.ts); timing and retries are in create-event-recorder.ts.
 */
import type { ObjectReference } from "../../api/generated/core/v1.ts";
import type { Cause } from "../../api/machinery/cause.ts";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { validateDnsSubdomain } from "../../api/machinery/names.ts";
import type { Random } from "../../base/random.ts";
import type { Draft, ResourceKind } from "../client.ts";
import type { RecordedEvent } from "./event-recorder.ts";

/** A recorded event with its timestamp. */
export interface Happening {
  readonly about: ObjectReference;
  readonly related?: ObjectReference;
  readonly event: RecordedEvent;
  readonly timeMs: number;
  /** Name of the Event, should it become a new one. */
  readonly name: string;
}

export interface EventWrite {
  // oxlint-disable-next-line typescript/no-explicit-any -- an Event of core/v1 or of events.k8s.io/v1, each with its own kind
  readonly kind: ResourceKind<any>;
  /** The whole Event. Created also if the one to be patched no longer exists: Events expire after an hour. */
  readonly object: Draft<KubeObject>;
  /** Difference from the previously written Event, if there is one. */
  readonly change?: JsonObject;
}

/** One of upstream's two ways to write Events. Keeps a cache of what it has written. */
export interface EventForm {
  /** Undefined: nothing to write now. "silenced": dropped as spam. */
  next(happening: Happening): EventWrite | "silenced" | undefined;
  /** Writes that are due although nothing was recorded. */
  readonly chores: readonly { readonly everyMs: number; due(): Iterable<EventWrite> }[];
  /** Writes that would be lost if the recorder stopped now. */
  last(): Iterable<EventWrite>;
}

/** Upstream's limit for all caches of a recorder. */
export const CACHED_MAX = 4_096;

/** Namespace of Events about cluster-scoped objects. */
const DEFAULT_NAMESPACE = "default";

export function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(uid === undefined ? {} : { uid }),
    apiVersion,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

export function namespaceOf({ namespace = "" }: ObjectReference): string {
  return namespace === "" ? DEFAULT_NAMESPACE : namespace;
}

/** Cause of writing an Event: the object version that the component saw. */
export function causeOfEvent(event: Draft<KubeObject>, controller: string): Cause {
  // core/v1 and events.k8s.io/v1 name this field differently.
  const { involvedObject, regarding, reason } = event as { involvedObject?: ObjectReference; regarding?: ObjectReference; reason?: string };
  const { namespace = "", name = "", resourceVersion } = involvedObject ?? regarding ?? {};
  return {
    controller,
    key: namespace === "" ? name : `${namespace}/${name}`,
    ...(reason === undefined ? {} : { reason }),
    ...(resourceVersion === undefined ? {} : { revision: resourceVersion }),
  };
}

/** Unambiguous key of arbitrary strings. */
export function keyOf(parts: readonly (string | undefined)[]): string {
  return parts.map((part) => part ?? "").join("\0");
}

/**
 * Names as upstream's, `<object>.<hex of nanoseconds>`. Clocks have milliseconds, so the rest is random and unique: two Events at the same
 * instant get two names, also from two processes.
 */
export class EventNames {
  readonly #random: Random;
  #lastNanoseconds = 0n;

  constructor(random: Random) {
    this.#random = random;
  }

  next(object: string, timeMs: number): string {
    const nanoseconds = BigInt(Math.floor(timeMs)) * 1_000_000n + BigInt(this.#random.below(1_000_000));
    this.#lastNanoseconds = nanoseconds > this.#lastNanoseconds ? nanoseconds : this.#lastNanoseconds + 1n;
    const name = `${object}.${this.#lastNanoseconds.toString(16)}`;
    // Some objects have names that are invalid for Events ("system:node"): these Events are named by UUID, as upstream.
    return validateDnsSubdomain(name).length === 0 ? name : this.#uuid();
  }

  #uuid(): string {
    const hex = Array.from({ length: 8 }, () => this.#random.below(0x1_0000).toString(16).padStart(4, "0")).join("");
    const variant = "89ab".charAt(this.#random.below(4));
    return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join("-");
  }
}
