/** The enforcers, in order of preference: the first that the machine can run is used. */
import type { EnforcerMode } from "./enforcer.ts";
import { iptablesEnforcer } from "./iptables/iptables-enforcer.ts";
import { nftablesEnforcer } from "./nftables/nftables-enforcer.ts";

export const enforcers: readonly EnforcerMode[] = [nftablesEnforcer, iptablesEnforcer];
