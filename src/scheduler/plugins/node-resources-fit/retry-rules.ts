/** Queueing hints of NodeResourcesFit: when something that the Pod requests became free, or more. */
import type { Node, Pod } from "../../../api/generated/core/v1.ts";
import type { DeviceClass } from "../../../api/generated/resource.k8s.io/v1.ts";
import { amountsOf, resourcesOf } from "../../framework/amounts.ts";
import type { RetryRule } from "../../framework/cluster-event.ts";
import { podInfoOf } from "../../framework/make-pod-info.ts";
import { NO_RESOURCES, type Resources } from "../../framework/resources.ts";
import { demandOf, insufficiency, type Demand, type ResourceRules, type Room } from "./insufficiency.ts";

export function retryRules(rules: ResourceRules): readonly RetryRule[] {
  const demand = (pod: Pod): Demand => demandOf(podInfoOf(pod).requests, rules);
  return [
    { of: "assigned-pod", changes: ["deleted"] },
    {
      of: "assigned-pod",
      changes: ["scaled-down"],
      isWorthIt: (pod, { pod: other, previous }) => previous === undefined || isLessUsed(demand(pod), previous, other),
    },
    { of: "waiting-pod", changes: ["scaled-down"] },
    {
      of: "node",
      changes: ["added", "allocatable"],
      isWorthIt: (pod, { node, previous }) => isNewRoom(demand(pod), node, previous),
    },
    { of: "object", kind: "DeviceClass", changes: ["added", "updated"], isWorthIt: (pod, { object }) => isProvidedBy(pod, object) },
  ];
}

/** Whether devices of the class can provide something that the Pod requests. */
function isProvidedBy(pod: Pod, { metadata, spec }: DeviceClass): boolean {
  const { scalars } = podInfoOf(pod).requests;
  return scalars.has(spec.extendedResourceName ?? "") || scalars.has(`deviceclass.resource.kubernetes.io/${metadata.name}`);
}

function isLessUsed(demand: Demand, before: Pod, after: Pod): boolean {
  return isMoreOfAny(demand, podInfoOf(before).requests, podInfoOf(after).requests);
}

/** A node on which the Pod would not even fit alone cannot help, nor one without an increase of what it requests. */
function isNewRoom(demand: Demand, node: Node, previous: Node | undefined): boolean {
  const room = emptyRoomOf(node);
  if (insufficiency(demand, room) !== undefined) return false;
  if (previous === undefined) return true;
  const before = emptyRoomOf(previous);
  return room.allowedPods > before.allowedPods || isMoreOfAny(demand, room.allocatable, before.allocatable);
}

/** Whether anything requested increased. */
function isMoreOfAny({ milliCpu, memoryBytes, ephemeralStorageBytes, scalars }: Demand, here: Resources, there: Resources): boolean {
  if (milliCpu > 0 && here.milliCpu > there.milliCpu) return true;
  if (memoryBytes > 0 && here.memoryBytes > there.memoryBytes) return true;
  if (ephemeralStorageBytes > 0 && here.ephemeralStorageBytes > there.ephemeralStorageBytes) return true;
  return scalars.some(({ name }) => (here.scalars.get(name) ?? 0) > (there.scalars.get(name) ?? 0));
}

/** One event is evaluated for every waiting Pod, so its nodes are parsed once. */
const rooms = new WeakMap<Node, Room>();

/** Of the node alone, without its Pods. */
function emptyRoomOf(node: Node): Room {
  const known = rooms.get(node);
  if (known !== undefined) return known;
  const amounts = new Map(amountsOf(node.status?.allocatable));
  const room: Room = { podCount: 0, allowedPods: amounts.get("pods") ?? 0, allocatable: resourcesOf(amounts), requested: NO_RESOURCES };
  rooms.set(node, room);
  return room;
}
