/** Pods as policies see them: labels, addresses and named ports. Pods of the host network and finished Pods are not in the Pod network. */
import type { Container, Pod } from "../../api/generated/core/v1.ts";
import type { Labels } from "../../api/machinery/selectors/label-requirement.ts";
import type { Protocol } from "../model.ts";

export interface PolicyPod {
  readonly namespace: string;
  readonly labels: Labels | undefined;
  readonly addresses: readonly string[];
  readonly isLocal: boolean;
  /** RFC 3339. Of two Pods with one address, the younger one has it: the address of a finished Pod may be in use again. */
  readonly created: string;
  portNumber(name: string, protocol: Protocol): number | undefined;
}

/** Undefined if policies cannot be about it. `addresses`: those of the sandbox, which the status may not report yet. */
export function policyPod(
  pod: Pod,
  { nodeName, addresses }: { readonly nodeName: string; readonly addresses?: readonly string[] },
): PolicyPod | undefined {
  const { metadata, spec, status } = pod;
  if (spec?.hostNetwork === true || status?.phase === "Succeeded" || status?.phase === "Failed") return undefined;
  const reported = status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP === undefined ? [] : [status.podIP]);
  const found = addresses ?? reported;
  if (found.length === 0) return undefined;
  return {
    namespace: metadata.namespace ?? "",
    labels: metadata.labels,
    addresses: found,
    isLocal: spec?.nodeName === nodeName,
    created: metadata.creationTimestamp ?? "",
    portNumber: (name, protocol) => portNumber(pod, name, protocol),
  };
}

function portNumber({ spec }: Pod, name: string, protocol: Protocol): number | undefined {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const containers: readonly Container[] = [...(spec?.containers ?? []), ...sidecars];
  return containers.flatMap(({ ports = [] }) => ports).find((port) => port.name === name && (port.protocol ?? "TCP") === protocol)
    ?.containerPort;
}
