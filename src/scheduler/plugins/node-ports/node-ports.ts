/** NodePorts: a Pod with host ports is not placed where one of them is in use. */
import { doAnyCollide, type HostPort } from "../../../api/core/v1/pod/host-ports.ts";
import { podInfoOf } from "../../framework/make-pod-info.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin, PluginFactory, PreFilterAnswer, Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";

const TAKEN: Rejection = { reasons: ["node(s) didn't have free ports for the requested pod ports"], resolvable: true };

const plugin: Plugin<readonly HostPort[]> = {
  name: "NodePorts",

  retryOn: [
    {
      of: "assigned-pod",
      changes: ["deleted"],
      isWorthIt: (pod, { pod: deleted }) => doAnyCollide(podInfoOf(pod).hostPorts, podInfoOf(deleted).hostPorts),
    },
    { of: "node", changes: ["added"] },
  ],

  preFilter({ hostPorts }: PodInfo): PreFilterAnswer<readonly HostPort[]> {
    return hostPorts.length === 0 ? { is: "skip" } : { is: "ready", state: hostPorts };
  },

  filter(wanted: readonly HostPort[], _pod: PodInfo, { usedPorts }: NodeInfo): Rejection | undefined {
    return doAnyCollide(wanted, usedPorts) ? TAKEN : undefined;
  },
};

export const nodePorts: PluginFactory = {
  name: plugin.name,
  make: () => plugin,
};
