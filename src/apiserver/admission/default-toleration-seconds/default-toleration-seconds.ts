/**
 * Adds default tolerations for not-ready and unreachable nodes, so that Pods are evicted only after a delay, unless they set their own
 * tolerations. Equivalent to upstream's plugin of this name: on create and on every update, so that a removed toleration is restored.
 */
import { pods } from "../../../api/core/v1/pod.ts";
import type { Toleration } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionDependencies, AdmissionPlugin } from "../../framework/admission.ts";
import { isCreateOf, isUpdateOf } from "../../shared/admission-request.ts";

export function defaultTolerationSeconds({ config }: Pick<AdmissionDependencies, "config">): AdmissionPlugin {
  const defaults = [
    toleration("node.kubernetes.io/not-ready", config.notReadyTolerationSeconds),
    toleration("node.kubernetes.io/unreachable", config.unreachableTolerationSeconds),
  ];
  return {
    name: "DefaultTolerationSeconds",

    mutate(request) {
      if (!isCreateOf(request, pods) && !isUpdateOf(request, pods)) return undefined;
      const { object: pod } = request;
      const given = pod.spec?.tolerations ?? [];
      const missing = defaults.filter(({ key }) => !given.some((one) => covers(one, key)));
      if (missing.length === 0) return undefined;
      return { ...pod, spec: { ...pod.spec, tolerations: [...given, ...missing] } } as KubeObject;
    },
  };
}

function toleration(key: string, tolerationSeconds: number): Toleration & { readonly key: string } {
  return { key, operator: "Exists", effect: "NoExecute", tolerationSeconds };
}

/** Any operator and value: a toleration of this taint suppresses the default. */
function covers({ key = "", effect }: Toleration, taint: string): boolean {
  return (key === "" || key === taint) && (!effect || effect === "NoExecute");
}
