/**
 * Makes packets between two Pods of one bridge pass the rules: the kernel bridges them below IP, and shows them to the hooks of IP only
 * with br_netfilter.
 */
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";

const SWITCHES = ["bridge-nf-call-iptables", "bridge-nf-call-ip6tables"];

/** In the node's namespace: the switches of each have their own value. Loading the module fails where it is built in, which is fine. */
const SCRIPT = `[ -e /proc/sys/net/bridge ] || modprobe br_netfilter || true
for name in ${SWITCHES.join(" ")}; do
  [ "$(cat /proc/sys/net/bridge/$name)" = 1 ] || echo 1 > /proc/sys/net/bridge/$name || exit 1
done
`;

/** Resolves with the reason if policies cannot be enforced between Pods of this node. */
export async function filterBridgedPackets(namespace: NetworkNamespace): Promise<string | undefined> {
  try {
    await namespace.run("sh", ["-s"], SCRIPT);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
