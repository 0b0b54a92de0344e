/**
 * Assigns Pod CIDRs to Nodes that have none: spec.podCIDR and spec.podCIDRs, out of the cluster CIDRs. CIDRs of existing Nodes are in use,
 * also those that a kubelet or user has set; a deleted Node frees its own. Upstream's range allocator. Not here: choosing the cluster CIDR (cluster/machine), and
 * routes (podnetwork).
 */
import { nodes } from "../../api/core/v1/node.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, defineController, onChange, watch, type Change, type Controller, type Outcome, type Pass } from "../runtime/controller.ts";
import type { WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { chooseNodeCidrs, podCidrsOf, type NodeIpamSettings } from "./node-cidr-ranges.ts";

export interface NodeIpamControllerSettings {
  /** Absent: Nodes get no Pod CIDR, as without --allocate-node-cidrs. */
  readonly nodeIpam?: NodeIpamSettings;
}

/** After a start from an outdated list: until the watch has delivered the rest. */
const CATCH_UP_MS = 100;

/** A Node that waits for a CIDR is also woken by the deletion of another; this repeats the event. */
const RETRY_MS = 60_000;

const WITHOUT = "without CIDR";
const waiting = defineIndex(nodes, (node) => (podCidrsOf(node).length === 0 ? [WITHOUT] : []));

export function nodeIpamController({ nodeIpam }: NodeIpamControllerSettings = {}): Controller {
  return defineController({
    name: "node-ipam-controller",
    aliases: ["nodeipam"],
    account: "node-controller",
    component: "cidrAllocator",
    rules: [
      { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
    watches: [watch(nodes, keysOfNode)],
    // Two Nodes must not be given the same CIDR at the same time.
    concurrency: 1,
    start() {
      const memory = { isCurrent: false };
      return (key, pass) => (nodeIpam === undefined ? Promise.resolve(onChange) : reconcile(key, pass, nodeIpam, memory));
    },
  });
}

/** A deleted Node wakes those that wait for a CIDR. */
function* keysOfNode({ is, object }: Change<Node>, read: Reader): Iterable<WorkKey> {
  if (is !== "deleted") {
    if (podCidrsOf(object).length === 0) yield keyOf(object);
    return;
  }
  for (const other of read.indexed(waiting, WITHOUT)) yield keyOf(other);
}

interface Memory {
  /** True once the cache has shown every assignment of an earlier process: from then on it shows all, since only this one assigns. */
  isCurrent: boolean;
}

async function reconcile({ name }: WorkKey, pass: Pass, settings: NodeIpamSettings, memory: Memory): Promise<Outcome> {
  const { read, write, events, log } = pass;
  const node = read.get(nodes, { name });
  if (node === undefined || node.metadata.deletionTimestamp !== undefined || podCidrsOf(node).length > 0) return onChange;
  memory.isCurrent ||= await isCacheCurrent(pass);
  if (!memory.isCurrent) return after(CATCH_UP_MS);
  const cidrs = chooseNodeCidrs(settings, read.list(nodes));
  if (cidrs === undefined) {
    events.record(node, { type: "Normal", reason: "CIDRNotAvailable", message: `Node ${name} status is now: CIDRNotAvailable` });
    return after(RETRY_MS);
  }
  const spec = { podCIDR: cidrs[0], podCIDRs: cidrs };
  // With the UID: a Node of the same name that was created meanwhile is another.
  const value = { metadata: { uid: node.metadata.uid }, spec };
  try {
    await write.patch(nodes, { name }, { type: "strategic", value });
    log.info("Assigned Pod CIDRs", { node: name, podCIDRs: cidrs });
  } catch (error) {
    // Deleted or recreated meanwhile, or its kubelet has set a CIDR: the watch delivers it.
    if (!isReason(error, "NotFound") && !isReason(error, "Conflict")) throw error;
  }
  return onChange;
}

/** A cache may start from an outdated list, in which a CIDR that is in use looks free. */
async function isCacheCurrent({ read, write }: Pass): Promise<boolean> {
  const { items } = await write.list(nodes);
  return items.every(({ metadata: { name, resourceVersion = "" } }) => {
    const cached = read.get(nodes, { name })?.metadata.resourceVersion ?? "";
    return compareResourceVersions(cached, resourceVersion) >= 0;
  });
}
