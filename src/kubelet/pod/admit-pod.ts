/**
 * Admits a Pod that is bound to this node, or a resize of an admitted Pod. Checked again here because the scheduler may have decided from
 * older data. Follows upstream's general predicates; the first reason is reported. Extended resources that the node does not list are
 * ignored. Not here: preemption for critical Pods.
 */
import type { Node, Pod, Taint } from "../../api/generated/core/v1.ts";
import { RequiredNodes } from "../../api/core/v1/node/node-selector.ts";
import { doAnyCollide, hostPortsOf } from "../../api/core/v1/pod/host-ports.ts";
import { tolerates } from "../../api/core/v1/pod/tolerations.ts";
import { forbiddenSysctl } from "../container-config/sysctls.ts";
import { readQuantity } from "../../api/core/v1/pod/resource-list.ts";
import { asSpecified, podRequests } from "../../api/core/v1/resource-quota/pod-demand.ts";
import { quantityMilliValue, quantityToNumber } from "../../api/machinery/quantity.ts";

export interface AdmissionRefusal {
  /** "OutOfcpu", "NodeAffinity". */
  readonly reason: string;
  readonly message: string;
}

export interface AdmissionView {
  readonly pod: Pod;
  readonly node: Node;
  /** The other Pods on this node that are not terminal, with their allocated resources. */
  readonly others: readonly Pod[];
}

/** Undefined: the Pod is admitted. */
export function refusalOf(view: AdmissionView): AdmissionRefusal | undefined {
  const { pod, node } = view;
  const os = pod.spec?.os?.name;
  const nodeOs = node.status?.nodeInfo?.operatingSystem;
  if (os !== undefined && nodeOs !== undefined && os !== nodeOs) {
    return { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  const sysctl = forbiddenSysctl(pod);
  if (sysctl !== undefined) return { reason: "SysctlForbidden", message: sysctl };
  const shortage = shortageOf(view);
  if (shortage !== undefined) return shortage;
  if (pod.spec !== undefined && !new RequiredNodes(pod.spec).matches(node))
    return failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  if (pod.spec?.nodeName !== node.metadata.name) return failed("NodeName", "node(s) didn't match the requested node name");
  if (hasTakenPort(view)) return failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  if ((node.spec?.taints ?? []).some((taint) => isRepelled(pod, taint))) {
    return failed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
  }
  return undefined;
}

function failed(predicate: string, why: string): AdmissionRefusal {
  return { reason: predicate, message: `Predicate ${predicate} failed: ${why}` };
}

/** Only taints that would evict a running Pod (NoExecute) reject one that is bound. */
function isRepelled({ spec }: Pod, taint: Taint): boolean {
  return taint.effect === "NoExecute" && !(spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

// ── resources ───────────────────────────────────────────────────────────────────────────────────────

/** Checked in upstream's order; others follow in the order of the Pod's spec. */
const FIRST = ["cpu", "memory", "ephemeral-storage"];

/** Requests per Pod, cached: they are read for every Pod that is admitted. */
const cached = new WeakMap<Pod, ReadonlyMap<string, number>>();

function demandOf(pod: Pod): ReadonlyMap<string, number> {
  const known = cached.get(pod);
  if (known !== undefined) return known;
  const demand = new Map<string, number>();
  for (const [name, quantity] of podRequests(pod))
    demand.set(name, name === "cpu" ? quantityMilliValue(quantity) : quantityToNumber(quantity));
  cached.set(pod, demand);
  return demand;
}

function shortageOf({ pod, node, others }: AdmissionView): AdmissionRefusal | undefined {
  const allocatable = node.status?.allocatable ?? {};
  const used = new Map<string, number>();
  let pods = 0;
  for (const other of others) {
    pods++;
    for (const [name, amount] of demandOf(other)) used.set(name, (used.get(name) ?? 0) + amount);
  }
  const podsMax = allocatable["pods"] === undefined ? Number.POSITIVE_INFINITY : quantityToNumber(readQuantity(allocatable["pods"]));
  if (pods + 1 > podsMax) return shortage("pods", { requested: 1, used: pods, capacity: podsMax });
  // Requests of the spec; allocated and actual resources do not matter here.
  const demand = demandOf(asSpecified(pod));
  for (const name of new Set([...FIRST, ...demand.keys()])) {
    const requested = demand.get(name) ?? 0;
    const text = Object.hasOwn(allocatable, name) ? allocatable[name] : undefined;
    if (requested === 0 || (text === undefined && !FIRST.includes(name))) continue;
    const quantity = readQuantity(text ?? "0");
    const capacity = name === "cpu" ? quantityMilliValue(quantity) : quantityToNumber(quantity);
    const taken = used.get(name) ?? 0;
    if (requested > capacity - taken) return shortage(name, { requested, used: taken, capacity });
  }
  return undefined;
}

function shortage(
  name: string,
  { requested, used, capacity }: { readonly requested: number; readonly used: number; readonly capacity: number },
): AdmissionRefusal {
  const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${name}`, message };
}

function hasTakenPort({ pod, others }: AdmissionView): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return false;
  for (const other of others) if (doAnyCollide(wanted, hostPortsOf(other))) return true;
  return false;
}
