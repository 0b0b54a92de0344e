/** Resolves the kubelet's address of a node from the node's status. */
import type { Node } from "../../api/generated/core/v1.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { ResolveCall, ResolveContext } from "../framework/connection.ts";
import { readObject } from "./read.ts";
import type { NodeAddress } from "../framework/node-connector.ts";

const KUBELET_PORT = 10_250;

export async function kubeletOf(server: ResolveContext, call: ResolveCall, nodeName: string): Promise<NodeAddress> {
  const { status } = await readObject<Node>(server, call, { plural: "nodes", namespace: "", name: nodeName });
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  return {
    name: nodeName,
    host: preferredAddress(status?.addresses ?? [], server.config.kubeletPreferredAddressTypes),
    port: port > 0 ? port : KUBELET_PORT,
  };
}

function preferredAddress(addresses: NonNullable<NonNullable<Node["status"]>["addresses"]>, preferred: readonly string[]): string {
  for (const wanted of preferred) {
    const found = addresses.find(({ type }) => type === wanted);
    if (found !== undefined) return found.address;
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
  throw new StatusError("Unknown", `no preferred addresses found; known addresses: [${known}]`);
}
