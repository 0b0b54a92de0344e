/**
 * The state of a cluster at one revision, as `k8ts why` reads it: objects, recorded causes, the scheduler's decisions. Explainers get nothing
 * else, so they are pure, and a trial is explained like the cluster itself.
 */
import type { KubeObject, OwnerReference } from "../../api/machinery/object.ts";
import { parseApiVersion } from "../../api/machinery/object.ts";
import type { CauseItem } from "../explain-api.ts";

/** One object by its resource ("pods", "deployments.apps"). */
export interface Subject {
  readonly resource: string;
  /** "" for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/** A node or several that the scheduler rejected for one reason. */
export interface RejectedNodes {
  readonly plugin: string;
  readonly reason: string;
  /** How many. */
  readonly nodes: number;
  readonly examples: readonly string[];
}

export interface SchedulingDecision {
  readonly atMs: number;
  readonly outcome: string;
  readonly message: string;
  readonly refused: readonly RejectedNodes[];
}

export interface ClusterViewOptions {
  readonly objects: ReadonlyMap<string, readonly KubeObject[]>;
  readonly causes: readonly CauseItem[];
  /** By "namespace/name"; absent: not known. */
  readonly decisions: ReadonlyMap<string, readonly SchedulingDecision[]>;
  readonly nowMs: number;
  /** What could not be read: shown as unknown. */
  readonly unread?: readonly Unread[];
}

/** A resource, causes or decisions, and why they could not be read. */
export interface Unread {
  readonly resource: string;
  readonly message: string;
  /** The user has no permission. Otherwise the server failed, or does not have the state any more. */
  readonly isForbidden: boolean;
  /** The only namespace whose objects could be read. Absent: none could. */
  readonly exceptNamespace?: string;
}

/** Thrown when a conclusion needs what could not be read: that it is not there would be a guess. */
export class UnreadError extends Error {
  override readonly name = "UnreadError";
  readonly unread: Unread;

  constructor(unread: Unread) {
    super(unread.message);
    this.unread = unread;
  }
}

export const CAUSES = "causes";
export const DECISIONS = "decisions";

/** Members of objects of any kind, as JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- explainers read members of many kinds, each optional
export type Seen = any;

export class ClusterView {
  readonly nowMs: number;
  readonly unread: readonly Unread[];
  readonly objects: ReadonlyMap<string, readonly KubeObject[]>;
  readonly #causes: readonly CauseItem[];
  readonly #decisions: ReadonlyMap<string, readonly SchedulingDecision[]>;

  constructor({ objects, causes, decisions, nowMs, unread = [] }: ClusterViewOptions) {
    this.objects = objects;
    this.#causes = causes;
    this.nowMs = nowMs;
    this.unread = unread;
    this.#decisions = decisions;
  }

  /** False: objects are missing that the user may not read. What was tried on a copy without them would prove nothing. */
  get isWhole(): boolean {
    return !this.unread.some(({ isForbidden, resource }) => isForbidden && resource !== CAUSES && resource !== DECISIONS);
  }

  /** False: `list` would throw. For facts that add to an explanation which stands without them. */
  isReadable(resource: string, namespace?: string): boolean {
    const unread = this.unread.find((candidate) => candidate.resource === resource);
    return unread === undefined || (namespace !== undefined && namespace === unread.exceptNamespace);
  }

  /** In one namespace, or all. Throws an UnreadError. */
  list(resource: string, namespace?: string): readonly Seen[] {
    const unread = this.unread.find((candidate) => candidate.resource === resource);
    if (unread !== undefined && (namespace === undefined || namespace !== unread.exceptNamespace)) throw new UnreadError(unread);
    const found = this.objects.get(resource) ?? [];
    return namespace === undefined ? found : found.filter(({ metadata }) => (metadata.namespace ?? "") === namespace);
  }

  /** Throws an UnreadError. */
  get({ resource, namespace, name }: Subject): Seen {
    return this.list(resource, namespace).find(({ metadata }) => metadata.name === name);
  }

  /** All that are recorded. Throws an UnreadError. */
  recordedCauses(): readonly CauseItem[] {
    const unread = this.unread.find(({ resource }) => resource === CAUSES);
    if (unread !== undefined) throw new UnreadError(unread);
    return this.#causes;
  }

  /** The object that an owner reference names; undefined if it does not exist any more, or could not be read. */
  owner(object: Seen): (Subject & { readonly object: Seen }) | undefined {
    const reference = (object.metadata.ownerReferences as readonly OwnerReference[] | undefined)?.find(
      ({ controller }) => controller === true,
    );
    if (reference === undefined) return undefined;
    const group = parseApiVersion(reference.apiVersion)?.group ?? "";
    for (const [resource, objects] of this.objects) {
      if (resource.split(".").slice(1).join(".") !== group) continue;
      const found = objects.find(({ metadata }) => metadata.uid === reference.uid);
      if (found !== undefined) return { resource, namespace: found.metadata.namespace ?? "", name: found.metadata.name, object: found };
    }
    return undefined;
  }

  /** Objects of a resource that this one controls. Throws an UnreadError. */
  ownedBy(owner: Seen, resource: string): readonly Seen[] {
    const { uid, namespace = "" } = owner.metadata;
    return this.list(resource, namespace).filter(({ metadata }: Seen) =>
      (metadata.ownerReferences as readonly OwnerReference[] | undefined)?.some(
        (reference) => reference.uid === uid && reference.controller === true,
      ),
    );
  }

  decisions({ namespace, name }: Pick<Subject, "namespace" | "name">): readonly SchedulingDecision[] {
    return this.#decisions.get(`${namespace}/${name}`) ?? [];
  }

  /**
   * The newest Event with one of these reasons about an object, and a message that matches. Undefined if none exists, or Events could not be
   * read.
   */
  event(object: Seen, reasons: readonly string[], message?: RegExp): Seen {
    return (this.objects.get("events") ?? [])
      .filter(
        ({ involvedObject, reason, message: text = "" }: Seen) =>
          involvedObject?.uid === object.metadata.uid && reasons.includes(reason) && (message === undefined || message.test(text)),
      )
      .toSorted((a: Seen, b: Seen) => timeOf(a) - timeOf(b))
      .at(-1);
  }

  /** The last recorded write that a user made to this object, or that created it. */
  origin({ resource, namespace, name }: Subject): CauseItem | undefined {
    const own = this.#causes.filter(
      (item) => item.refusal === undefined && item.resource === resource && (item.namespace ?? "") === namespace && item.name === name,
    );
    return own.findLast(({ cause }) => cause === undefined) ?? own.find(({ verb }) => verb === "create");
  }
}

function timeOf(event: Seen): number {
  return Date.parse(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "") || 0;
}
