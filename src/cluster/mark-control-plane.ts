/**
 * Gives the node of `k8ts up` the role "control-plane", which `kubectl get nodes` shows. As kubeadm does it: with the administrator's rights
 * after the node has registered, since NodeRestriction forbids kubelets labels of this prefix. Without kubeadm's NoSchedule taint, since
 * the cluster may have no other node.
 */
import { nodes } from "../api/core/v1/node.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { createClient } from "../client/rest-client.ts";

export const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";

const FIELD_MANAGER = "k8ts";

/** `transport`: the administrator's. */
export async function markControlPlane(transport: Transport, nodeName: string): Promise<void> {
  const client = createClient(transport).with({ fieldManager: FIELD_MANAGER });
  const { metadata } = await client.get(nodes, { name: nodeName });
  if (metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined) return;
  await client.patch(nodes, { name: nodeName }, { type: "merge", value: { metadata: { labels: { [CONTROL_PLANE_LABEL]: "" } } } });
}
