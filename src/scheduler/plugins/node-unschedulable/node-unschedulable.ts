/**
 * NodeUnschedulable: cordoned nodes are rejected, except for Pods that tolerate the unschedulable taint. The node's spec is checked, since
 * the taint follows with a delay.
 */
import { TAINT_UNSCHEDULABLE } from "../../../api/core/v1/node/taint-keys.ts";
import { isTolerated } from "../../../api/core/v1/pod/tolerations.ts";
import type { Node, Pod, Taint } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin, PluginFactory, PreFilterAnswer, Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";

const CORDONED: Rejection = { reasons: ["node(s) were unschedulable"], resolvable: false };
const TAINT: Taint = { key: TAINT_UNSCHEDULABLE, effect: "NoSchedule" };

const READY: PreFilterAnswer<undefined> = { is: "ready", state: undefined };
const SKIP: PreFilterAnswer<undefined> = { is: "skip" };

const plugin: Plugin<undefined> = {
  name: "NodeUnschedulable",

  retryOn: [
    { of: "node", changes: ["added", "unschedulable"], isWorthIt: (_pod, { node, previous }) => isNewlyOpen(node, previous) },
    { of: "waiting-pod", changes: ["tolerations"], isWorthIt: (_pod, { pod }) => toleratesCordon(pod) },
  ],

  preFilter({ pod }: PodInfo): PreFilterAnswer<undefined> {
    return toleratesCordon(pod) ? SKIP : READY;
  },

  filter(_state: undefined, _pod: PodInfo, node: NodeInfo): Rejection | undefined {
    return node.isCordoned ? CORDONED : undefined;
  },
};

export const nodeUnschedulable: PluginFactory = {
  name: plugin.name,
  make: () => plugin,
};

function isCordoned({ spec }: Node): boolean {
  return spec?.unschedulable === true;
}

function isNewlyOpen(node: Node, previous: Node | undefined): boolean {
  return !isCordoned(node) && (previous === undefined || isCordoned(previous));
}

function toleratesCordon({ spec }: Pod): boolean {
  return isTolerated(TAINT, spec?.tolerations ?? []);
}
