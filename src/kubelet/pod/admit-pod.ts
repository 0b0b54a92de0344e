/**
 * Whether the node takes a Pod that is bound to it: it looks once more, since whoever bound it may have known less. And whether one that it
 * took may have what it asks for now. As upstream's general predicates, of which the first reason counts. Amounts of what the node does not have by name (extended resources of others) do not count.
 * Not here: making room for critical Pods.
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
  /** The others on this node that have not ended, each with what it was allocated. */
  readonly others: readonly Pod[];
}

/** Undefined: it is taken. */
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

/** Only what would drive out a Pod that runs keeps out one that is bound. */
function isRepelled({ spec }: Pod, taint: Taint): boolean {
  return taint.effect === "NoExecute" && !(spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

// ── amounts ─────────────────────────────────────────────────────────────────────────────────────────

/** In the order in which upstream looks; others follow in the Pod's own order. */
const FIRST = ["cpu", "memory", "ephemeral-storage"];

/** What Pods ask for: they are looked at each time another one comes. */
const remembered = new WeakMap<Pod, ReadonlyMap<string, number>>();

function demandOf(pod: Pod): ReadonlyMap<string, number> {
  const known = remembered.get(pod);
  if (known !== undefined) return known;
  const demand = new Map<string, number>();
  for (const [name, quantity] of podRequests(pod))
    demand.set(name, name === "cpu" ? quantityMilliValue(quantity) : quantityToNumber(quantity));
  remembered.set(pod, demand);
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
  // What it asks for: what it has or had by now is not the question.
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
