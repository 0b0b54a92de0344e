/**
 * NodeName: a Pod that names a node is placed there or nowhere. It does not narrow the nodes beforehand, so that the event reports the
 * rejection of the others.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin, PluginFactory, PreFilterAnswer, Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";

const ANOTHER_NAME: Rejection = { reasons: ["node(s) didn't match the requested node name"], resolvable: false };

const plugin: Plugin<string> = {
  name: "NodeName",

  // Only a new node can have the missing name: node names never change.
  retryOn: [{ of: "node", changes: ["added"] }],

  preFilter({ pod }: PodInfo): PreFilterAnswer<string> {
    const wanted = pod.spec?.nodeName ?? "";
    return wanted === "" ? { is: "skip" } : { is: "ready", state: wanted };
  },

  filter(wanted: string, _pod: PodInfo, node: NodeInfo): Rejection | undefined {
    return node.name === wanted ? undefined : ANOTHER_NAME;
  },
};

export const nodeName: PluginFactory = {
  name: plugin.name,
  make: () => plugin,
};
