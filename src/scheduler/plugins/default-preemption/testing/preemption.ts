/** DefaultPreemption in a constructed cluster, whose effects are recorded instead of executed. */
import type { Pod } from "../../../../api/generated/core/v1.ts";
import type { PodDisruptionBudget } from "../../../../api/generated/policy/v1.ts";
import { silentLogger } from "../../../../base/logger.ts";
import { seededRandom } from "../../../../base/random.ts";
import { virtualClock } from "../../../../testing/virtual-clock.ts";
import type { Effects, Plugin, PluginContext } from "../../../framework/plugin.ts";
import { NO_DEVICE_EFFECTS, NO_DEVICES } from "../../../framework/device-view.ts";
import { NO_STORAGE, NO_STORAGE_EFFECTS } from "../../../framework/storage-view.ts";
import { podInfo } from "../../../framework/testing/builders.ts";
import { DEFAULT_ARGUMENTS, type DefaultPreemptionArguments } from "../arguments.ts";
import { defaultPreemption } from "../default-preemption.ts";

const nothing = (): Promise<void> => Promise.resolve();
export const NO_EFFECTS: Effects = {
  bind: nothing,
  preempt: nothing,
  clearNomination: nothing,
  storage: NO_STORAGE_EFFECTS,
  devices: NO_DEVICE_EFFECTS,
};

export interface PreemptionParts {
  /** The cluster's Pods, as they were last seen. */
  readonly pods?: readonly Pod[];
  readonly budgets?: readonly PodDisruptionBudget[];
  /** Pods that are nominated, by node. */
  readonly nominated?: Readonly<Record<string, readonly Pod[]>>;
  readonly effects?: Effects;
  readonly args?: Partial<DefaultPreemptionArguments>;
  readonly seed?: number;
}

export function preemptionIn({
  pods = [],
  budgets = [],
  nominated = {},
  effects = NO_EFFECTS,
  args = {},
  seed = 1,
}: PreemptionParts): Required<Pick<Plugin, "preEnqueue" | "postFilter" | "retryOn">> {
  const context: PluginContext = {
    cluster: {
      namespace: () => undefined,
      namespaces: () => [],
      services: () => [],
      replicationControllers: () => [],
      replicaSets: () => [],
      statefulSets: () => [],
      podDisruptionBudgets: (namespace) => budgets.filter(({ metadata }) => metadata.namespace === namespace),
      pod: (namespace, name) => pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
      node: () => undefined,
      storage: NO_STORAGE,
      devices: NO_DEVICES,
    },
    effects,
    nominatedPods: (nodeName) => (nominated[nodeName] ?? []).map(podInfo),
    activate: () => undefined,
    runInBackground: () => undefined,
    clock: virtualClock(),
    random: seededRandom(seed),
    log: silentLogger,
  };
  return defaultPreemption.make(context, { ...DEFAULT_ARGUMENTS, ...args }) as ReturnType<typeof preemptionIn>;
}

export function aBudget(
  name: string,
  allowed: number,
  labels: Readonly<Record<string, string>>,
  disrupted: readonly string[] = [],
): PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: "default" },
    spec: { selector: { matchLabels: labels } },
    status: {
      disruptionsAllowed: allowed,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
      disruptedPods: Object.fromEntries(disrupted.map((pod) => [pod, "2026-01-01T00:00:00Z"])),
    },
  };
}
