/**
 * NodeMetrics and PodMetrics of the resource metrics API (metrics.k8s.io), which `kubectl top` and the autoscaler read: the usage of nodes
 * (usage-source.ts) under the names and labels of Nodes and Pods. Upstream leaves the group to metrics-server, an aggregated API server.
 */
import type { Node, Pod } from "../../../api/generated/core/v1.ts";
import type { NodeMetrics, PodMetrics } from "../../../api/generated/metrics.k8s.io/v1beta1.ts";
import { durationOfMs, formatDuration } from "../../../api/machinery/duration.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { ExtensionFactory, ServerContext } from "../../framework/server-context.ts";
import { UsageSource } from "./usage-source.ts";
import { quantitiesOf, type Usage } from "./usage.ts";

const GROUP = "metrics.k8s.io";
const API_VERSION = "metrics.k8s.io/v1beta1";
const NODES = { group: "", plural: "nodes" };
const PODS = { group: "", plural: "pods" };

/** Both kinds of one server share its measurements. */
const sources = new WeakMap<ServerContext, UsageSource>();

function sourceOf(server: ServerContext): UsageSource {
  const source = sources.get(server) ?? new UsageSource(server);
  sources.set(server, source);
  return source;
}

export const nodeMetricsExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "nodes",
  async objects({ selects }) {
    const byNode = await sourceOf(server).usage();
    const nodes = (await server.objects.list<Node>(NODES, "")).filter(({ metadata }) => selects(metadata));
    return nodes.flatMap((node): readonly NodeMetrics[] => {
      const usage = byNode.get(node.metadata.name)?.node;
      if (usage === undefined) return [];
      const metadata = metadataOf(node, server);
      return [{ apiVersion: API_VERSION, kind: "NodeMetrics", metadata, ...timesOf([usage]), usage: quantitiesOf(usage) }];
    });
  },
});

export const podMetricsExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "pods",
  async objects({ namespace, selects }) {
    const byNode = await sourceOf(server).usage();
    const pods = (await server.objects.list<Pod>(PODS, namespace)).filter(({ metadata }) => selects(metadata));
    return pods.flatMap((pod): readonly PodMetrics[] => {
      const { spec, status, metadata: own } = pod;
      const containers = byNode.get(spec?.nodeName ?? "")?.pods.get(`${own.namespace}/${own.name}`);
      if (status?.phase !== "Running" || containers === undefined) return [];
      const metadata = { ...metadataOf(pod, server), namespace: own.namespace ?? "" };
      const used = Array.from(containers, ([name, usage]) => ({ name, usage: quantitiesOf(usage) }));
      return [{ apiVersion: API_VERSION, kind: "PodMetrics", metadata, ...timesOf([...containers.values()]), containers: used }];
    });
  },
});

function metadataOf({ metadata: { name, labels } }: KubeObject, { clock }: ServerContext) {
  return { name, creationTimestamp: formatTime(clock.now()), ...(labels === undefined ? {} : { labels }) };
}

/** Those of the earliest measurement: the others are at least as new. */
function timesOf(usages: readonly Usage[]): { readonly timestamp: string; readonly window: string } {
  const [first] = usages.toSorted((a, b) => a.atMs - b.atMs);
  const { atMs = 0, windowMs = 0 } = first ?? {};
  return { timestamp: formatTime(atMs), window: formatDuration(durationOfMs(windowMs)) };
}
