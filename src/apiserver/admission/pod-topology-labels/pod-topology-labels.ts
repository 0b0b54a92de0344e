/**
 * Copies the zone and region labels of its node to a pod, so that its containers can read their location. Equivalent to upstream's plugin
 * of this name: on binding, whose labels are copied to the pod (bind-pod.ts), and on create of a pod with a node name. An unknown node, or
 * one without these labels, changes nothing; labels set by the pod are overwritten.
 */
import { pods } from "../../../api/core/v1/pod.ts";
import type { Binding, Node } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf, isOf } from "../../shared/admission-request.ts";

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

/** The node that the pod is bound to; "" if none. */
function nodeNameOf(request: AdmissionRequest): string {
  if (isCreateOf(request, pods)) return request.object.spec?.nodeName ?? "";
  if (request.subresource !== "binding") return "";
  const { target } = request.object as Partial<Binding>;
  return target?.kind === "Node" ? (target.name ?? "") : "";
}
