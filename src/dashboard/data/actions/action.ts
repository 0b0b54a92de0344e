/** The contract of an action on an object. One file per topic; `all.ts` lists them. Every action is a request of the user's own. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Attributes } from "../access.ts";
import type { ClusterApi } from "../cluster-api.ts";
import { pathOf, type Kind } from "../kinds.ts";

export interface ActionContext {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly kinds: readonly Kind[];
  readonly kind: Kind;
  readonly object: KubeObject;
  /** Called with each step of an action of several. */
  progress(text: string): void;
}

export interface Action {
  readonly title: string;
  /** By id: "deployments.apps". */
  readonly kinds: readonly string[];
  /** Whether it makes sense for the object as it is. Default: always. */
  isFor?(object: KubeObject): boolean;
  /** A number that the user chooses. */
  readonly number?: { readonly label: string; initial(object: KubeObject): number };
  /** What the user must be allowed to do. */
  needs(kind: Kind, object: KubeObject): Attributes;
  /** Resolves with what was done, as a sentence. */
  run(context: ActionContext, number: number): Promise<string>;
}

export function onObject(verb: string, { group, plural: resource }: Kind, { metadata }: KubeObject, subresource?: string): Attributes {
  const { namespace = "", name } = metadata;
  return { verb, group, resource, namespace, name, ...(subresource === undefined ? {} : { subresource }) };
}

/** A JSON merge patch of the object, or of a subresource. */
export async function mergePatch({ api, kind, object }: ActionContext, patch: object, subresource = ""): Promise<void> {
  const { namespace = "", name } = object.metadata;
  await api.json({
    method: "PATCH",
    path: `${pathOf(kind, { namespace, name })}${subresource}?fieldManager=k8ts-dashboard`,
    contentType: "application/merge-patch+json",
    body: JSON.stringify(patch),
  });
}
