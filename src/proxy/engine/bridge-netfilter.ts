/**
 * Lets the kernel's rules see packets between Pods of one bridge. Without it the answer of a Pod that was reached by a cluster IP goes
 * straight to the client on the same bridge, untranslated, and the client refuses it. Upstream requires the same of a node.
 */
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";

const SWITCHES = ["bridge-nf-call-iptables", "bridge-nf-call-ip6tables"].map((name) => `/proc/sys/net/bridge/${name}`);

/** The switches exist once the module is loaded; it may also be built into the kernel, or a container may not load it. */
const SCRIPT = [`test -e ${SWITCHES[0]} || modprobe br_netfilter`, ...SWITCHES.map((file) => `echo 1 > ${file}`)].join(" && ");

/** Resolves with the reason if it is not possible. */
export async function enableBridgeNetfilter(namespace: NetworkNamespace): Promise<string | undefined> {
  try {
    await namespace.run("sh", ["-c", SCRIPT]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
