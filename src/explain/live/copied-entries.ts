/** What a copy of a cluster starts from: its objects as entries of a store, and its nodes as simulated ones. Pure. */
import { storagePrefix } from "../../api/machinery/storage-prefix.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { objectKey } from "../../apiserver/framework/storage/object-key.ts";
import type { CopyOptions } from "../../embedded/start-cluster.ts";
import type { Entry } from "../../store/store.ts";
import { bytesValue } from "../../store/value.ts";
import type { ClusterView, Seen } from "../why/cluster-view.ts";
import { conditionOf } from "../why/explainer.ts";

/**
 * Events are history; leases of components name holders that do not run in the copy. Webhooks are programs of the real cluster: they must not
 * be called for a trial.
 */
const LEFT_OUT = new Set([
  "events",
  "leases.coordination.k8s.io",
  "componentstatuses",
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
]);

export interface ClusterCopy {
  /** Ordered by key. */
  readonly entries: AsyncIterable<Entry>;
  readonly revision: number;
  readonly nodes: CopyOptions["nodes"];
}

export function copyOf(view: ClusterView): ClusterCopy {
  const entries = [...view.objects]
    .filter(([resource]) => !LEFT_OUT.has(resource))
    .flatMap(([resource, objects]) => objects.map((object) => entryOf(resource, object)));
  const revision = entries.reduce((newest, entry) => Math.max(newest, entry.revision), 1);
  return { entries: ordered(entries), revision, nodes: nodesOf(view) };
}

function nodesOf(view: ClusterView): CopyOptions["nodes"] {
  const nodes = view.list("nodes");
  const capacities = new Map(nodes.map((node: Seen) => [node.metadata.name as string, node.status?.capacity]));
  return {
    count: nodes.length,
    members: nodes.map((node: Seen, index) => ({
      name: node.metadata.name,
      index,
      isRunning: conditionOf(node, "Ready")?.status === "True",
    })),
    factsFor: ({ name }) => {
      const capacity = capacities.get(name);
      return capacity === undefined ? {} : { capacity };
    },
  };
}

function entryOf(resource: string, object: KubeObject): Entry {
  const [plural = "", ...groupParts] = resource.split(".");
  const { namespace = "", name, resourceVersion = "1" } = object.metadata;
  const { resourceVersion: _version, ...metadata } = object.metadata;
  const key = objectKey(storagePrefix({ group: groupParts.join("."), plural }), { namespace, name });
  const { kind, apiVersion, ...rest } = object;
  return {
    key,
    revision: Number(resourceVersion),
    value: bytesValue(new TextEncoder().encode(JSON.stringify({ kind, apiVersion, ...rest, metadata }))),
  };
}

/** A restored store requires the order of its keys. */
async function* ordered(entries: readonly Entry[]): AsyncGenerator<Entry> {
  yield* entries.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
