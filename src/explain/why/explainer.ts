/**
 * The contract of an explainer: one situation that `k8ts why` recognizes. Pure functions of the view. A finding is a fact with the facts that
 * caused it below; what the view does not show is said as unknown. A remedy is a change that would end the situation according to the
 * explainer; it is shown only after a trial (explain/live) has confirmed that.
 */
import type { Json, JsonObject, KubeObject } from "../../api/machinery/object.ts";
import type { ClusterView, Seen, Subject } from "./cluster-view.ts";

export interface Finding {
  /** A sentence without a full stop. */
  readonly text: string;
  readonly because?: readonly Finding[];
  /** Set on the last cause that is known: one word, such as "InsufficientResources". */
  readonly root?: string;
  /** The cause is not known, and the text says where to look. */
  readonly isUnknown?: true;
}

/** An object of any kind, as a user writes it. */
export type Manifest = KubeObject & { readonly [member: string]: Json | undefined };

/** A change of the cluster, as a kubectl command can make it. */
export type Change =
  | { readonly type: "patch"; readonly target: Subject; readonly patch: JsonObject; readonly patchType?: "strategic" }
  | { readonly type: "create"; readonly object: Manifest }
  | { readonly type: "delete"; readonly target: Subject; readonly force?: true };

export interface Remedy {
  /** What the change does, starting with a verb. */
  readonly text: string;
  readonly changes: readonly Change[];
  /** The object that must be healthy afterwards, or gone if it is being deleted. Default: the explained object. */
  readonly goal?: Subject;
  /** Must be allowed afterwards, instead of a healthy object. */
  readonly access?: RequestedAccess;
}

export interface RequestedAccess {
  readonly user: string;
  readonly groups: readonly string[];
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Explanation {
  readonly finding: Finding;
  /** Smallest change first. */
  readonly remedies: readonly Remedy[];
}

export interface ExplainContext {
  readonly view: ClusterView;
  /** Explains another object on which this one depends; undefined if nothing is wrong with it. */
  explain(subject: Subject): Explanation | undefined;
}

export interface Explainer {
  /** The resources that it explains; "*": all; "others": those that no other explainer names. */
  readonly resources: readonly string[];
  /** Undefined: the object is not in this situation. */
  explain(object: Seen, subject: Subject, context: ExplainContext): Explanation | undefined;
}

export function defineExplainer(explainer: Explainer): Explainer {
  return explainer;
}

export function found(finding: Finding, remedies: readonly Remedy[] = []): Explanation {
  return { finding, remedies };
}

/** "deployment default/web", "node n1", "the DNS name web". */
export function nameOf({ resource, namespace, name }: Subject): string {
  if (resource === "dns") return `the DNS name ${name}`;
  const singular = (resource.split(".")[0] ?? "")
    .replace(/ses$/, "ss")
    .replace(/ies$/, "y")
    .replace(/([^s])s$/, "$1");
  return `${singular} ${namespace === "" ? name : `${namespace}/${name}`}`;
}

export function subjectOf(resource: string, object: Seen): Subject {
  return { resource, namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}

export function conditionOf(object: Seen, type: string): Seen {
  return (object.status?.conditions ?? []).find((condition: Seen) => condition.type === type);
}

/** Patches metadata, spec or data of an object. */
export function patch(target: Subject, value: JsonObject): Change {
  return { type: "patch", target, patch: value };
}

/** ", since 2026-…": empty if it is not known. */
export function since(time: string | undefined): string {
  return time === undefined || time === null ? "" : ` since ${time}`;
}
