/**
 * The sysctl route_localnet, which lets packets of loopback addresses leave the machine after translation: node ports on 127.0.0.1 need it.
 * Loopback addresses become reachable for neighbours with it, which a rule of the proxy prevents (fixed-chains.ts); so it is set only
 * while the rule exists.
 */
import type { NetworkNamespace } from "../../../host/network/network-namespace.ts";

const FILE = "/proc/sys/net/ipv4/conf/all/route_localnet";

export async function readRouteLocalnet(namespace: NetworkNamespace): Promise<string> {
  return (await namespace.run("cat", [FILE])).trim();
}

export async function enableRouteLocalnet(namespace: NetworkNamespace): Promise<void> {
  if ((await readRouteLocalnet(namespace)) === "1") return;
  await namespace.run("tee", [FILE], "1\n");
}

export async function disableRouteLocalnet(namespace: NetworkNamespace): Promise<void> {
  await namespace.run("tee", [FILE], "0\n");
}
