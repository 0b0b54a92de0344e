/**
 * NodeDeclaredFeatures: a Pod that needs a feature of the kubelet is placed only on nodes that declare it in `status.declaredFeatures`.
 * Upstream behaviour: kube-scheduler plugin "NodeDeclaredFeatures" with the features of 1.36.
 */
import type { Pod, PodSpec } from "../../../api/generated/core/v1.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { Plugin, PluginFactory, Rejection } from "../../framework/plugin.ts";

const NAME = "NodeDeclaredFeatures";
const SKIP = { is: "skip" } as const;
const MISSING: Rejection = { reasons: ["node(s) didn't match Pod's required features"], resolvable: false };

/** Features that matter for scheduling, by the fields of a Pod that need them. */
const FEATURES: readonly (readonly [feature: string, isNeeded: (spec: PodSpec) => boolean])[] = [
  ["RestartAllContainersOnContainerExits", restartsAllContainers],
  ["UserNamespacesHostNetworkSupport", ({ hostNetwork, hostUsers }) => hostNetwork === true && hostUsers === false],
];

export const nodeDeclaredFeatures: PluginFactory<undefined> = {
  name: NAME,
  make: (): Plugin<readonly string[]> => ({
    name: NAME,
    retryOn: [
      { of: "node", changes: ["added", "declared-features"] },
      {
        of: "waiting-pod",
        changes: ["labels", "scaled-down", "tolerations", "ungated", "other"],
        isWorthIt: (_pod, { pod, previous }) => previous === undefined || !deepEqual(neededFeatures(pod), neededFeatures(previous)),
      },
    ],
    preFilter({ pod }) {
      const needed = neededFeatures(pod);
      return needed.length === 0 ? SKIP : { is: "ready", state: needed };
    },
    filter(needed, _pod, { node }) {
      const declared = node.status?.declaredFeatures;
      return needed.every((feature) => declared?.includes(feature) === true) ? undefined : MISSING;
    },
  }),
};

const NONE: readonly string[] = [];

function neededFeatures({ spec }: Pod): readonly string[] {
  if (spec === undefined) return NONE;
  let needed: string[] | undefined;
  for (const [feature, isNeeded] of FEATURES) if (isNeeded(spec)) (needed ??= []).push(feature);
  return needed ?? NONE;
}

function restartsAllContainers({ containers, initContainers = [] }: PodSpec): boolean {
  for (const list of [containers, initContainers])
    for (const { restartPolicyRules } of list)
      if (restartPolicyRules?.some(({ action }) => action === "RestartAllContainers") === true) return true;
  return false;
}
