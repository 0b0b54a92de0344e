/**
 * Cluster events as bits: whether a rule concerns an event is a single "and", which is evaluated for every event and every group of waiting
 * Pods. The tables list every change, so that a new one cannot be forgotten.
 */
import type { ClusterEvent, NodeChange, ObjectKind, PodChange, RetryRule } from "../framework/cluster-event.ts";

/** A set of event kinds. */
export type Channels = number;

const NODE: Readonly<Record<NodeChange, Channels>> = {
  added: 1 << 0,
  deleted: 1 << 1,
  allocatable: 1 << 2,
  labels: 1 << 3,
  taints: 1 << 4,
  conditions: 1 << 5,
  annotations: 1 << 6,
  unschedulable: 1 << 7,
  images: 1 << 8,
  "declared-features": 1 << 31,
};

const ASSIGNED_POD: Readonly<Record<PodChange, Channels>> = {
  added: 1 << 9,
  deleted: 1 << 10,
  labels: 1 << 11,
  "scaled-down": 1 << 12,
  tolerations: 1 << 13,
  ungated: 1 << 14,
  // No plugin waits for that of another Pod.
  "claim-names": 1 << 15,
  other: 1 << 15,
};

const WAITING_POD: Readonly<Record<PodChange, Channels>> = {
  added: 1 << 16,
  deleted: 1 << 17,
  labels: 1 << 18,
  "scaled-down": 1 << 19,
  tolerations: 1 << 20,
  ungated: 1 << 21,
  other: 1 << 22,
  "claim-names": 1 << 30,
};

const NAMESPACE: Channels = 1 << 23;

/**
 * Rules of objects name a kind and its changes, which are compared, too (isOfSameKind): rare kinds share a bit. No bit is unused.
 */
const OBJECT: Readonly<Record<ObjectKind, Channels>> = {
  PersistentVolumeClaim: 1 << 24,
  PersistentVolume: 1 << 25,
  StorageClass: 1 << 26,
  CSINode: 1 << 27,
  CSIDriver: 1 << 26,
  CSIStorageCapacity: 1 << 26,
  VolumeAttachment: 1 << 27,
  ResourceClaim: 1 << 28,
  DeviceClass: 1 << 29,
  ResourceSlice: 1 << 29,
};

/** Every bit. */
export const ALL_CHANNELS: Channels = -1;

/** The event's bit; 0 if irrelevant. */
export function channelsOfEvent(event: ClusterEvent): Channels {
  switch (event.of) {
    case "node":
      return union(NODE, event.changes);
    case "assigned-pod":
      return union(ASSIGNED_POD, event.changes);
    case "waiting-pod":
      return union(WAITING_POD, event.changes);
    case "namespace":
      return NAMESPACE;
    case "object":
      return OBJECT[event.kind];
  }
}

/** The events of a rule. */
export function channelsOfRule(rule: RetryRule): Channels {
  switch (rule.of) {
    case "node":
      return union(NODE, rule.changes);
    case "assigned-pod":
      return union(ASSIGNED_POD, rule.changes);
    case "waiting-pod":
      return union(WAITING_POD, rule.changes);
    case "namespace":
      return NAMESPACE;
    case "object":
      return OBJECT[rule.kind];
  }
}

/** Whether a rule concerns an event that shares a bit with it. */
export function isOfSameKind(rule: RetryRule, event: ClusterEvent): boolean {
  if (rule.of !== event.of) return false;
  return rule.of !== "object" || event.of !== "object" || (rule.kind === event.kind && rule.changes.includes(event.change));
}

function union<Change extends string>(table: Readonly<Record<Change, Channels>>, changes: Iterable<Change>): Channels {
  let channels = 0;
  for (const change of changes) channels |= table[change];
  return channels;
}
