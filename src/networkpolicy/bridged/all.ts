/** The ways to filter bridged packets, in order of preference: the first that the machine can use is used. */
import { brNetfilter } from "./br-netfilter.ts";
import type { BridgedPacketsWay } from "./bridged-packets.ts";
import { routedPorts } from "./routed-ports.ts";

export const bridgedPacketsWays: readonly BridgedPacketsWay[] = [brNetfilter, routedPorts];
