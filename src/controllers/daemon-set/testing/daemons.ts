/** Builders of DaemonSets, nodes and Pods for tests. */
import type { DaemonSet, DaemonSetSpec, DaemonSetStatus } from "../../../api/generated/apps/v1.ts";
import type { Node, Pod, PodSpec, PodTemplateSpec, Taint } from "../../../api/generated/core/v1.ts";
import { buildPod } from "../../../api/testing/pod.ts";
import { podsByNode, REVISION_HASH_LABEL } from "../daemon-pod.ts";
import type { DaemonObserved } from "../node-plan.ts";
import { placementsOf } from "../placement.ts";

export interface DaemonFacts extends Omit<Partial<DaemonSetSpec>, "template"> {
  readonly image?: string;
  readonly pod?: Partial<PodSpec>;
  readonly maxUnavailable?: number | string;
  readonly maxSurge?: number | string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly status?: DaemonSetStatus;
}

export function aTemplate(image = "agent:1", pod: Partial<PodSpec> = {}): PodTemplateSpec {
  return { metadata: { labels: { app: "agent" } }, spec: { containers: [{ name: "agent", image }], ...pod } };
}

/** DaemonSet default/agent. */
export function aDaemonSet(facts: DaemonFacts = {}): DaemonSet {
  const { image, pod, maxSurge = 0, maxUnavailable = maxSurge === 0 ? 1 : 0, annotations, status, ...spec } = facts;
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: {
      name: "agent",
      namespace: "default",
      uid: "uid-agent",
      generation: 1,
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: {
      selector: { matchLabels: { app: "agent" } },
      template: aTemplate(image, pod),
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

export interface NodeFacts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
}

export function aNode(name: string, { labels, taints }: NodeFacts = {}): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, ...(labels === undefined ? {} : { labels }) },
    spec: taints === undefined ? {} : { taints },
  };
}

export interface DaemonPodFacts {
  readonly name?: string;
  readonly revision?: "old" | "new";
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  readonly isReady?: boolean;
  readonly isTerminating?: true;
  /** Meant for the node, but not yet bound to it. */
  readonly isUnbound?: true;
  /** Seconds after midnight. */
  readonly bornAt?: number;
  readonly readyAt?: number;
}

/** A running, ready Pod of revision "new", named after its node. */
export function aDaemonPod(node: string, facts: DaemonPodFacts = {}): Pod {
  const {
    name = `on-${node}`,
    revision = "new",
    phase = "Running",
    isReady = phase === "Running",
    isTerminating,
    isUnbound,
    bornAt = 0,
    readyAt = 0,
  } = facts;
  const time = (seconds: number) => `2026-01-01T00:00:${`${seconds}`.padStart(2, "0")}Z`;
  const term = { matchFields: [{ key: "metadata.name", operator: "In" as const, values: [node] }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } };
  return buildPod({
    metadata: {
      name,
      uid: `uid-${name}`,
      labels: { app: "agent", [REVISION_HASH_LABEL]: revision },
      creationTimestamp: time(bornAt),
      ...(isTerminating === undefined ? {} : { deletionTimestamp: time(30) }),
    },
    spec: isUnbound === undefined ? { nodeName: node } : { affinity },
    status: { phase, conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: time(readyAt) }] },
  });
}

/** At ten seconds after midnight; "new" is the hash of the template. */
export function seenBy(daemonSet: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]): DaemonObserved {
  return {
    nodes,
    pods: podsByNode(pods),
    placements: placementsOf(daemonSet),
    current: { hash: "new", generation: undefined },
    availability: { minReadySeconds: daemonSet.spec?.minReadySeconds ?? 0, nowMs: Date.parse("2026-01-01T00:00:10Z") },
  };
}

export const someNodes = (count: number): readonly Node[] => Array.from({ length: count }, (_, index) => aNode(`n${index + 1}`));
