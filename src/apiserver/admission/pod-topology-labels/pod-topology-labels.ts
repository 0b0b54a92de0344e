/**
 * A pod carries the zone and region of its node, so that what runs in it can know where it is. As upstream's plugin of this name: on
 * binding, whose labels become the pod's (bind-pod.ts), and when a pod is made with its node. A node that is not known, or has no such
 * labels, changes nothing; what the pod says itself is overwritten.
 */
import type { Binding, Node, Pod } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { isOf } from "../../shared/admission-request.ts";

const PODS = { group: "", plural: "pods" };
const NODES = { group: "", plural: "nodes" };

const COPIED = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

export function podTopologyLabels({ objects }: Pick<AdmissionDependencies, "objects">): AdmissionPlugin {
  return {
    name: "PodTopologyLabels",

    start: () => objects.load(NODES),

    mutate(request) {
      if (request.operation !== "CREATE" || !isOf(request, PODS)) return undefined;
      const name = nodeNameOf(request);
      if (name === "") return undefined;
      const labels = objects.cached<Node>(NODES, { namespace: "", name })?.metadata.labels ?? {};
      const copied = COPIED.filter((key) => Object.hasOwn(labels, key)).map((key) => [key, labels[key]] as const);
      if (copied.length === 0) return undefined;
      const object = request.object as KubeObject;
      return {
        ...object,
        metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...Object.fromEntries(copied) } },
      } as KubeObject;
    },
  };
}

/** The node that the pod gets; "" if none. */
function nodeNameOf({ subresource, object }: AdmissionRequest): string {
  if (subresource === "") return (object as Pod).spec?.nodeName ?? "";
  if (subresource !== "binding") return "";
  const { target } = object as Partial<Binding>;
  return target?.kind === "Node" ? (target.name ?? "") : "";
}
