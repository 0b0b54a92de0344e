/** Only SELinux types for containers are allowed; user and role must not be set. */
import type { SELinuxOptions } from "../../../../api/generated/core/v1.ts";
import { containersOf, containersThat, distinct, plural, quoted, setters, type Check, type CheckedPod, type Violation } from "../check.ts";

const TYPES = ["container_t", "container_init_t", "container_kvm_t"];
const TYPES_SINCE_1_31 = [...TYPES, "container_engine_t"];

export const seLinuxOptions: Check = {
  id: "seLinuxOptions",
  level: "baseline",
  versions: [
    { since: 0, judge: (pod) => judge(pod, TYPES) },
    { since: 31, judge: (pod) => judge(pod, TYPES_SINCE_1_31) },
  ],
};

function judge(pod: CheckedPod, allowedTypes: readonly string[]): Violation | undefined {
  const isBadType = (type: string) => type !== "" && !allowedTypes.includes(type);
  const isBad = ({ type = "", user = "", role = "" }: SELinuxOptions = {}) => isBadType(type) || user !== "" || role !== "";
  const ofPod = pod.spec.securityContext?.seLinuxOptions;
  const containers = containersThat(pod, ({ securityContext }) => isBad(securityContext?.seLinuxOptions));
  const who = setters({ pod: isBad(ofPod), containers });
  if (who.length === 0) return undefined;
  const all = [ofPod, ...containersOf(pod.spec).map(({ securityContext }) => securityContext?.seLinuxOptions)];
  const types = distinct(all.map((options) => options?.type ?? "").filter(isBadType));
  const what = [
    ...(types.length === 0 ? [] : [`${plural("type", types.length)} ${quoted(types)}`]),
    ...(all.some((options) => (options?.user ?? "") !== "") ? ["user may not be set"] : []),
    ...(all.some((options) => (options?.role ?? "") !== "") ? ["role may not be set"] : []),
  ];
  return { reason: "seLinuxOptions", detail: `${who.join(" and ")} set forbidden securityContext.seLinuxOptions: ${what.join("; ")}` };
}
