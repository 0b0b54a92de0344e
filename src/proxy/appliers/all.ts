/** The proxy modes. One more is a folder here and a line. */
import type { ProxyMode } from "./applier.ts";
import { iptables } from "./iptables/iptables-mode.ts";
import { ipvs } from "./ipvs/ipvs-mode.ts";
import { nftables } from "./nftables/nftables-mode.ts";
import { userspace } from "./userspace/userspace.ts";

export const proxyModes: readonly ProxyMode[] = [iptables, nftables, ipvs, userspace];
