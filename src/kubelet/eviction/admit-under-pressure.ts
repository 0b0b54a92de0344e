/** Which Pods a node under pressure still admits. Pure, with upstream's rules and message. */
import type { Pod } from "../../api/generated/core/v1.ts";
import { qosClassOf } from "../../api/core/v1/pod/qos.ts";
import { tolerates } from "../../api/core/v1/pod/tolerations.ts";
import type { AdmissionRefusal } from "../pod/admit-pod.ts";
import { isCritical } from "./rank-pods.ts";
import type { PressureCondition } from "./signals.ts";

const MEMORY_TAINT = { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" } as const;

/**
 * Undefined: the Pod is admitted. Critical Pods always are; under memory pressure alone also those that request resources, and those that
 * tolerate it.
 */
export function pressureRefusal(pod: Pod, conditions: readonly PressureCondition[]): AdmissionRefusal | undefined {
  if (conditions.length === 0 || isCritical(pod)) return undefined;
  if (conditions.length === 1 && conditions[0] === "MemoryPressure") {
    if (qosClassOf(pod.spec ?? { containers: [] }) !== "BestEffort") return undefined;
    if ((pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, MEMORY_TAINT))) return undefined;
  }
  return { reason: "Evicted", message: `The node had condition: [${conditions.join(" ")}]. ` };
}
