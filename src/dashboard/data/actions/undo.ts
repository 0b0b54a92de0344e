/** Returns to the template before the last one, as `kubectl rollout undo` does. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { isObject } from "../../../api/machinery/object.ts";
import { field, textAt } from "../fields.ts";
import { findKind, kindId, pathOf } from "../kinds.ts";
import { onObject, type Action, type ActionContext } from "./action.ts";

const REVISION = "deployment.kubernetes.io/revision";
const TEMPLATE_HASH = "pod-template-hash";
/** More than any workload keeps. */
const REVISIONS_MAX = 500;

interface ObjectList {
  readonly items?: readonly KubeObject[];
}

export const undo: Action = {
  title: "Undo last rollout",
  kinds: ["deployments.apps", "statefulsets.apps", "daemonsets.apps"],
  isFor: (object) => field(object, "spec", "paused") !== true,
  needs: (kind, object) => onObject("patch", kind, object),
  async run(context) {
    const isDeployment = kindId(context.kind) === "deployments.apps";
    const owned = await ownedRevisions(context, isDeployment ? "replicasets" : "controllerrevisions");
    const numberOf = (object: KubeObject) =>
      Number(isDeployment ? (object.metadata.annotations?.[REVISION] ?? "0") : textAt(object, "revision"));
    const previous = previousRevision(owned, numberOf);
    if (previous === undefined) throw new Error("There is no earlier revision.");
    await patch(context, isDeployment ? templatePatch(previous) : { type: STRATEGIC, body: field(previous, "data") });
    return `Returning to revision ${numberOf(previous)}.`;
  },
};

/** The one before the newest. */
export function previousRevision(owned: readonly KubeObject[], numberOf: (object: KubeObject) => number): KubeObject | undefined {
  return [...owned].sort((a, b) => numberOf(b) - numberOf(a))[1];
}

async function ownedRevisions({ api, kinds, object }: ActionContext, plural: string): Promise<readonly KubeObject[]> {
  const kind = findKind(kinds, plural, "apps");
  if (kind === undefined) return [];
  const { namespace = "", uid } = object.metadata;
  const { items = [] } = await api.get<ObjectList>(`${pathOf(kind, { namespace })}?limit=${REVISIONS_MAX}`);
  return items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.controller === true));
}

const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

interface Patch {
  readonly type: string;
  readonly body: unknown;
}

/** The template of a ReplicaSet without the label that its Deployment added. */
export function templatePatch(replicaSet: KubeObject): Patch {
  const template = field(replicaSet, "spec", "template");
  const metadata = field(template, "metadata");
  const labels = Object.fromEntries(Object.entries(field(metadata, "labels") ?? {}).filter(([name]) => name !== TEMPLATE_HASH));
  const value = isObject(template) ? { ...template, metadata: { ...(isObject(metadata) ? metadata : {}), labels } } : {};
  return { type: JSON_PATCH, body: [{ op: "replace", path: "/spec/template", value }] };
}

async function patch({ api, kind, object }: ActionContext, { type, body }: Patch): Promise<void> {
  const { namespace = "", name } = object.metadata;
  await api.json({
    method: "PATCH",
    path: `${pathOf(kind, { namespace, name })}?fieldManager=k8ts-dashboard`,
    contentType: type,
    body: JSON.stringify(body),
  });
}
