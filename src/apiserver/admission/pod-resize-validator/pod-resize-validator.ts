/**
 * Rejects resizing a bound pod beyond its node's allocatable resources. Equivalent to upstream's plugin of this name: on updates of
 * `/resize` that change the pod. Whether the resize fits beside the node's other pods is for the kubelet to decide.
 */
import { pods } from "../../../api/core/v1/pod.ts";
import type { Node, Pod } from "../../../api/generated/core/v1.ts";
import { isSameSpec } from "../../../api/core/v1/pod/same-spec.ts";
import { readQuantity } from "../../../api/core/v1/pod/resource-list.ts";
import { asSpecified, podRequests } from "../../../api/core/v1/resource-quota/pod-demand.ts";
import { compareQuantities, quantityMilliValue, quantityOf, quantityToNumber, type Quantity } from "../../../api/machinery/quantity.ts";
import { StatusError } from "../../../api/machinery/status-error.ts";
import type { AdmissionDependencies, AdmissionPlugin } from "../../framework/admission.ts";
import { isUpdateOf, refused } from "../../shared/admission-request.ts";

const NODES = { group: "", plural: "nodes" };

const OS_LABEL = "kubernetes.io/os";

export function podResizeValidator({ objects }: Pick<AdmissionDependencies, "objects">): AdmissionPlugin {
  return {
    name: "PodResizeValidator",

    start: () => objects.load(NODES),

    validate(request) {
      if (!isUpdateOf(request, pods, "resize")) return;
      const { object: pod, oldObject: before } = request;
      const name = pod.spec?.nodeName ?? "";
      if (name === "" || (pod.spec !== undefined && before.spec !== undefined && isSameSpec(pod.spec, before.spec))) return;
      const node = objects.cached<Node>(NODES, { namespace: "", name });
      if (node === undefined) throw refused(request, `node ${JSON.stringify(name)} not found`);
      const os = node.metadata.labels?.[OS_LABEL] ?? "linux";
      if (os !== "linux") {
        const why = `pod resize is only supported on linux nodes, node ${JSON.stringify(name)} is ${JSON.stringify(os)}`;
        throw withCause(refused(request, why), "UnsupportedPlatform");
      }
      const shortages = shortagesOf(pod, node);
      if (shortages.length === 0) return;
      throw withCause(refused(request, `node didn't have enough allocatable resources: ${shortages.join("; ")}`), "NodeCapacity");
    },
  };
}

/** Based on desired, not currently allocated resources. */
function shortagesOf(pod: Pod, { status }: Node): readonly string[] {
  const requests = podRequests(asSpecified(pod));
  const shortageOf = (name: "cpu" | "memory", value: (quantity: Quantity) => number): readonly string[] => {
    const [requested, allocatable] = [requests.get(name) ?? quantityOf(0), readQuantity(status?.allocatable?.[name] ?? "0")];
    if (compareQuantities(requested, allocatable) <= 0) return [];
    return [`${name}, requested: ${value(requested)}, allocatable: ${value(allocatable)}`];
  };
  return [...shortageOf("cpu", quantityMilliValue), ...shortageOf("memory", quantityToNumber)];
}

function withCause({ reason, message, details }: StatusError, cause: string): StatusError {
  return new StatusError(reason, message, { details: { ...details, causes: [{ reason: cause }] } });
}
