/** Decides whether a node's model allows a connection: what its enforcer must do. */
import type { Allowance, Direction, PolicyModel, Protocol } from "../model.ts";
import { cidrContains, parseCidr, parseIp } from "../../api/machinery/ip/ip-address.ts";

export interface ModelConnection {
  readonly client: string;
  readonly server: string;
  readonly port: number;
  readonly protocol: Protocol;
}

export function modelAllows(model: PolicyModel, connection: ModelConnection): boolean {
  if (connection.client === connection.server) return true;
  return (["egress", "ingress"] as const).every((direction) => {
    const selected = direction === "egress" ? connection.client : connection.server;
    const policies = model.isolated.get(selected)?.[direction];
    if (policies === undefined) return true;
    return policies.some((key) => (model.policies.get(key)?.[direction] ?? []).some((one) => isMet(one, connection, { model, direction })));
  });
}

function isMet(
  { peers, block, targets, ports }: Allowance,
  { client, server, port, protocol }: ModelConnection,
  { model, direction }: { readonly model: PolicyModel; readonly direction: Direction },
): boolean {
  const [selected, peer] = direction === "egress" ? [client, server] : [server, client];
  const isInSet = (key: string | undefined, address: string): boolean =>
    key === undefined || model.addressSets.get(key)?.includes(address) === true;
  return (
    isInSet(peers, peer) &&
    isInSet(targets, selected) &&
    (block === undefined || (isIn(peer, block.cidr) && !block.except.some((cidr) => isIn(peer, cidr)))) &&
    (ports === undefined || ports.some(({ protocol: allowed, first, last }) => allowed === protocol && first <= port && port <= last))
  );
}

function isIn(address: string, cidr: string): boolean {
  const [ip, range] = [parseIp(address), parseCidr(cidr)];
  return ip !== undefined && range !== undefined && ip.family === range.address.family && cidrContains(range, ip);
}
