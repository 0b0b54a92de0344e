/** Cordons, uncordons and drains a node, as kubectl does. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { field, textAt } from "../fields.ts";
import { mergePatch, onObject, type Action, type ActionContext } from "./action.ts";

const needs: Action["needs"] = (kind, object) => onObject("patch", kind, object);
const isCordoned = (node: KubeObject) => field(node, "spec", "unschedulable") === true;

export const cordon: Action = {
  ...{ title: "Cordon", kinds: ["nodes"], needs },
  isFor: (node) => !isCordoned(node),
  async run(context) {
    await mergePatch(context, { spec: { unschedulable: true } });
    return "Cordoned: no new Pods are scheduled to it.";
  },
};

export const uncordon: Action = {
  ...{ title: "Uncordon", kinds: ["nodes"], needs },
  isFor: isCordoned,
  async run(context) {
    await mergePatch(context, { spec: { unschedulable: null } });
    return "Uncordoned.";
  },
};

/** A PodDisruptionBudget that stays violated ends the drain: the user sees which one. */
const ATTEMPTS_MAX = 24;
const RETRY_MS = 5_000;

export const drain: Action = {
  title: "Drain",
  kinds: ["nodes"],
  needs: () => ({ verb: "create", resource: "pods", subresource: "eviction" }),
  async run(context) {
    const { api, object, progress } = context;
    await mergePatch(context, { spec: { unschedulable: true } });
    const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${object.metadata.name}` }).toString();
    const { items = [] } = await api.get<{ readonly items?: readonly KubeObject[] }>(`/api/v1/pods?${query}`);
    const evicted = items.filter(isEvicted);
    for (const [index, pod] of evicted.entries()) {
      progress(`Evicting ${index + 1} of ${evicted.length}: ${pod.metadata.namespace ?? ""}/${pod.metadata.name}`);
      await evict(context, pod);
    }
    return `Cordoned, and ${evicted.length} Pods evicted. Pods of DaemonSets stay.`;
  },
};

/** Pods of DaemonSets would return at once; mirror Pods are not the API's; finished Pods do not run. */
export function isEvicted({ metadata, ...pod }: KubeObject): boolean {
  if (metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined) return false;
  if (metadata.ownerReferences?.some(({ kind, controller }) => kind === "DaemonSet" && controller === true) === true) return false;
  return !["Succeeded", "Failed"].includes(textAt(pod, "status", "phase"));
}

async function evict({ api, clock }: ActionContext, { metadata: { namespace = "", name } }: KubeObject): Promise<void> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
  for (let attempt = 1; ; attempt++) {
    try {
      await api.post(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/eviction`, eviction);
      return;
    } catch (error) {
      if (isReason(error, "NotFound")) return;
      if (!isReason(error, "TooManyRequests") || attempt >= ATTEMPTS_MAX) throw error;
      await clock.sleep(RETRY_MS);
    }
  }
}
