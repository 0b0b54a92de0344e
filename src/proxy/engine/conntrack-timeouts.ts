/**
 * How long the kernel tracks idle TCP connections, with upstream's defaults. A connection of which one side is closed may still carry
 * data of the other one; the kernel's own minute would end it, since a connection that is not tracked any more is not translated.
 */
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";

const SECONDS = { established: 86_400, close_wait: 3_600 };

const SCRIPT = Object.entries(SECONDS)
  .map(([state, seconds]) => `echo ${seconds} > /proc/sys/net/netfilter/nf_conntrack_tcp_timeout_${state}`)
  .join(" && ");

/** Rejects if the kernel tracks no connections, or this process may not set it. */
export async function setConntrackTimeouts(namespace: NetworkNamespace): Promise<void> {
  await namespace.run("sh", ["-c", SCRIPT]);
}
