/** Resolves the kubelet's address of a node from the node's status. */
import type { Node } from "../../api/generated/core/v1.ts";
import type { ResolveCall, ResolveContext } from "../framework/connection.ts";
import type { NodeAddress } from "../framework/node-connector.ts";
import { kubeletAddress } from "../shared/kubelet-address.ts";
import { readObject } from "./read.ts";

export async function kubeletOf(server: ResolveContext, call: ResolveCall, nodeName: string): Promise<NodeAddress> {
  const node = await readObject<Node>(server, call, { plural: "nodes", namespace: "", name: nodeName });
  return kubeletAddress(node, server.config.kubeletPreferredAddressTypes);
}
