/** The address of a node's kubelet, by the node's status. Pure. */
import type { Node } from "../../api/generated/core/v1.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { NodeAddress } from "../framework/node-connector.ts";

const KUBELET_PORT = 10_250;

/** `preferred`: address types in order of preference. Throws a StatusError if the node has none of them. */
export function kubeletAddress({ metadata, status }: Node, preferred: readonly string[]): NodeAddress {
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  return { name: metadata.name, host: preferredAddress(status?.addresses ?? [], preferred), port: port > 0 ? port : KUBELET_PORT };
}

function preferredAddress(addresses: NonNullable<NonNullable<Node["status"]>["addresses"]>, preferred: readonly string[]): string {
  for (const wanted of preferred) {
    const found = addresses.find(({ type }) => type === wanted);
    if (found !== undefined) return found.address;
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
  throw new StatusError("Unknown", `no preferred addresses found; known addresses: [${known}]`);
}
