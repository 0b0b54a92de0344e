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
  /** What could not be read, and why: shown as unknown. */
  readonly unread?: readonly string[];
}

/** Members of objects of any kind, as JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- explainers read members of many kinds, each optional
export type Seen = any;

export class ClusterView {
  readonly nowMs: number;
  readonly causes: readonly CauseItem[];
  readonly unread: readonly string[];
  readonly objects: ReadonlyMap<string, readonly KubeObject[]>;
  readonly #decisions: ReadonlyMap<string, readonly SchedulingDecision[]>;

  constructor({ objects, causes, decisions, nowMs, unread = [] }: ClusterViewOptions) {
    this.objects = objects;
    this.causes = causes;
    this.nowMs = nowMs;
    this.unread = unread;
    this.#decisions = decisions;
  }

  /** In one namespace, or all. */
  list(resource: string, namespace?: string): readonly Seen[] {
    const found = this.objects.get(resource) ?? [];
    return namespace === undefined ? found : found.filter(({ metadata }) => (metadata.namespace ?? "") === namespace);
  }

  get({ resource, namespace, name }: Subject): Seen {
    return this.list(resource, namespace).find(({ metadata }) => metadata.name === name);
  }

  /** The object that an owner reference names; undefined if it does not exist any more. */
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

  /** Objects of a resource that this one controls. */
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

  /** Messages of the newest event with this reason about an object. */
  event(object: Seen, reasons: readonly string[]): Seen {
    return this.list("events", object.metadata.namespace)
      .filter(({ involvedObject, reason }: Seen) => involvedObject?.uid === object.metadata.uid && reasons.includes(reason))
      .toSorted((a: Seen, b: Seen) => timeOf(a) - timeOf(b))
      .at(-1);
  }

  /** The last recorded write that a user made to this object, or that created it. */
  origin({ resource, namespace, name }: Subject): CauseItem | undefined {
    const own = this.causes.filter(
      (item) => item.refusal === undefined && item.resource === resource && (item.namespace ?? "") === namespace && item.name === name,
    );
    return own.findLast(({ cause }) => cause === undefined) ?? own.find(({ verb }) => verb === "create");
  }
}

function timeOf(event: Seen): number {
  return Date.parse(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "") || 0;
}
