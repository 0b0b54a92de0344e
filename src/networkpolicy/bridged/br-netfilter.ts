/** Shows bridged packets to the rules of IP, with the kernel's br_netfilter. */
import { CommandError } from "../../host/network/network-namespace.ts";
import type { BridgedPacketsWay } from "./bridged-packets.ts";

const SWITCHES = ["bridge-nf-call-iptables", "bridge-nf-call-ip6tables"];

/** In the node's namespace: the switches of each have their own value. Loading the module fails where it is built in, which is fine. */
const SWITCH_ON = `[ -e /proc/sys/net/bridge ] || modprobe br_netfilter || true
for name in ${SWITCHES.join(" ")}; do
  [ "$(cat /proc/sys/net/bridge/$name)" = 1 ] || echo 1 > /proc/sys/net/bridge/$name || exit 1
done
`;

const CHECK = SWITCHES.map((name) => `[ "$(cat /proc/sys/net/bridge/${name})" = 1 ]`).join(" && ");

export const brNetfilter: BridgedPacketsWay = {
  name: "br_netfilter",
  open: ({ namespace }) => ({
    async ensure() {
      await namespace.run("sh", ["-s"], SWITCH_ON);
    },
    async isIntact() {
      try {
        await namespace.run("sh", ["-c", CHECK]);
        return true;
      } catch (error) {
        if (error instanceof CommandError) return false;
        throw error;
      }
    },
  }),
  // The switches stay: other clusters and programs of the machine may need them by now.
  cleanUp: async () => {},
};
