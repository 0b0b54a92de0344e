/**
 * Taints a new node as not ready, so that nothing is scheduled to it before the node lifecycle controller observes it ready and removes the
 * taint. Equivalent to upstream's plugin of this name: on create only.
 */
import { nodes } from "../../../api/core/v1/node.ts";
import type { Taint } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionPlugin } from "../../framework/admission.ts";
import { isCreateOf } from "../../shared/admission-request.ts";

const NOT_READY: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

export function taintNodesByCondition(): AdmissionPlugin {
  return {
    name: "TaintNodesByCondition",

    mutate(request) {
      if (!isCreateOf(request, nodes)) return undefined;
      const { object: node } = request;
      const taints = node.spec?.taints ?? [];
      if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return undefined;
      return { ...node, spec: { ...node.spec, taints: [...taints, NOT_READY] } } as KubeObject;
    },
  };
}
