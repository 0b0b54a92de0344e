/**
 * What an event is on its way from whoever tells it to the API server: first a happening, then a write. How the one becomes the other is
 * a form's business (core-events.ts, series-events.ts); when and how often it is tried is create-event-recorder.ts's.
 */
import type { ObjectReference } from "../../api/generated/core/v1.ts";
import type { Cause } from "../../api/machinery/cause.ts";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { validateDnsSubdomain } from "../../api/machinery/names.ts";
import type { Random } from "../../base/random.ts";
import type { Draft, ResourceKind } from "../client.ts";
import type { RecordedEvent } from "./event-recorder.ts";

/** Something that was told, with the time at which it was. */
export interface Happening {
  readonly about: ObjectReference;
  readonly related?: ObjectReference;
  readonly event: RecordedEvent;
  readonly timeMs: number;
  /** The Event's name, should it become a new one. */
  readonly name: string;
}

export interface EventWrite {
  // oxlint-disable-next-line typescript/no-explicit-any -- an Event of core/v1 or of events.k8s.io/v1, each with its own kind
  readonly kind: ResourceKind<any>;
  /** The whole Event. It is created, also if the one to be changed has gone: Events live for an hour only. */
  readonly object: Draft<KubeObject>;
  /** What differs from the one that was written before, if there was one. */
  readonly change?: JsonObject;
}

/** One of the two ways in which upstream writes Events. It remembers what it has told before. */
export interface EventForm {
  /** Undefined: nothing is to be written now. Rejected as spam: "silenced". */
  next(happening: Happening): EventWrite | "silenced" | undefined;
  /** What is due by now, although nothing was told. */
  readonly chores: readonly { readonly everyMs: number; due(): Iterable<EventWrite> }[];
  /** What would be lost if it ended now. */
  last(): Iterable<EventWrite>;
}

/** Upstream's number for all that a recorder remembers. */
export const REMEMBERED_MAX = 4_096;

/** Where Events about objects that are in no namespace are kept. */
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

/** Why an Event is written: what the component saw of the object that the Event is about, at the version that it saw. */
export function causeOfEvent(event: Draft<KubeObject>, controller: string): Cause {
  // core/v1 and events.k8s.io/v1 have different names for it.
  const { involvedObject, regarding, reason } = event as { involvedObject?: ObjectReference; regarding?: ObjectReference; reason?: string };
  const { namespace = "", name = "", resourceVersion } = involvedObject ?? regarding ?? {};
  return {
    controller,
    key: namespace === "" ? name : `${namespace}/${name}`,
    ...(reason === undefined ? {} : { reason }),
    ...(resourceVersion === undefined ? {} : { revision: resourceVersion }),
  };
}

/** Texts with any letters in them as one key. */
export function keyOf(parts: readonly (string | undefined)[]): string {
  return parts.map((part) => part ?? "").join("\0");
}

/**
 * Names as upstream's, `<object>.<hex of nanoseconds>`. Clocks show milliseconds, so the rest is by chance, and never the same twice:
 * two Events of one moment are two, also if two processes tell them.
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
    // Objects of some kinds have names that no Event may have ("system:node"): theirs are uuids, as upstream's.
    return validateDnsSubdomain(name).length === 0 ? name : this.#uuid();
  }

  #uuid(): string {
    const hex = Array.from({ length: 8 }, () => this.#random.below(0x1_0000).toString(16).padStart(4, "0")).join("");
    const variant = "89ab".charAt(this.#random.below(4));
    return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join("-");
  }
}
