/** Replaces kubelet and scheduler in tests of controllers that create Pods. */
import { pods } from "../../../api/core/v1/pod.ts";
import type { Pod, PodStatus } from "../../../api/generated/core/v1.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { Given } from "../../../testing/given.ts";

export const POD_SPEC = { containers: [{ name: "web", image: "nginx" }] } as const;

/** Ordered by name, including terminating ones. */
export function podsOf(cluster: Given): Promise<readonly Pod[]> {
  return cluster.list(pods, "default");
}

export async function podNames(cluster: Given): Promise<readonly string[]> {
  return (await podsOf(cluster)).map(({ metadata }) => metadata.name);
}

/** An orphaned Pod on a node, so that it stays for a while when deleted. */
export function anOrphan(name: string, labels: Readonly<Record<string, string>>) {
  const metadata = { name, namespace: "default", labels };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { ...POD_SPEC, nodeName: "n1" } } as const;
}

/** Since now. */
export function markReady(cluster: Given, name: string, { isReady = true } = {}): Promise<Pod> {
  const lastTransitionTime = formatTime(cluster.clock.now());
  const conditions = [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime }];
  return setStatus(cluster, name, { phase: "Running", conditions });
}

export function setStatus(cluster: Given, name: string, status: PodStatus): Promise<Pod> {
  const value = { status: status as JsonObject };
  return cluster.client.patch(pods, { namespace: "default", name }, { type: "merge", value }, { subresource: "status" });
}

export function setLabels(cluster: Given, name: string, labels: Readonly<Record<string, string | null>>): Promise<Pod> {
  return cluster.client.patch(pods, { namespace: "default", name }, { type: "merge", value: { metadata: { labels } } });
}
