/**
 * Lets the rules see packets between Pods of one bridge: the answer of a Pod to another one goes over the bridge directly, and must be
 * translated back on its way.
 */
import type { Logger } from "../../../base/logger.ts";
import type { NetworkNamespace } from "../../../host/network/network-namespace.ts";

const SWITCHES = ["/proc/sys/net/bridge/bridge-nf-call-iptables", "/proc/sys/net/bridge/bridge-nf-call-ip6tables"];

export async function passBridgedPackets(namespace: NetworkNamespace, log: Logger): Promise<void> {
  for (const file of SWITCHES) {
    try {
      if ((await namespace.run("cat", [file])).trim() !== "1") await namespace.run("tee", [file], "1\n");
    } catch (error) {
      log.warn("Pods may not reach each other through Services: load the kernel module br_netfilter", { file, error });
    }
  }
}
