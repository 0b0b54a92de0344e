/** Builders of Deployments and ReplicaSets for tests, and a stand-in for the ReplicaSet controller. */
import { DESIRED_REPLICAS_ANNOTATION, MAX_REPLICAS_ANNOTATION, REVISION_ANNOTATION } from "../../../api/apps/v1/deployment-revision.ts";
import { replicaSets } from "../../../api/apps/v1/replica-set.ts";
import type { Deployment, DeploymentSpec, DeploymentStatus, ReplicaSet, ReplicaSetStatus } from "../../../api/generated/apps/v1.ts";
import type { PodTemplateSpec } from "../../../api/generated/core/v1.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { Client } from "../../../client/client.ts";
import { defineController, onChange, watch } from "../../runtime/controller.ts";
import { itself } from "../../runtime/keys.ts";
import type { Rollout } from "../rollout.ts";

export function aTemplate(image = "app:1"): PodTemplateSpec {
  return { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app", image }] } };
}

export interface DeploymentFacts extends Omit<Partial<DeploymentSpec>, "template"> {
  readonly name?: string;
  readonly image?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly generation?: number;
  readonly status?: DeploymentStatus;
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
}

export function aDeployment(facts: DeploymentFacts = {}): Deployment {
  const { name = "web", image, annotations, generation, status, maxSurge = "25%", maxUnavailable = "25%", ...spec } = facts;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name,
      namespace: "default",
      ...(annotations === undefined ? {} : { annotations }),
      ...(generation === undefined ? {} : { generation }),
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "web" } },
      template: aTemplate(image),
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } },
      progressDeadlineSeconds: 600,
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

export interface ReplicaSetFacts {
  readonly image?: string;
  /** Desired and, by default, actual Pods, all available. */
  readonly size?: number;
  readonly available?: number;
  readonly replicas?: number;
  readonly revision?: bigint | number | string;
  readonly desired?: number | string;
  readonly max?: number | string;
  /** Seconds after midnight. */
  readonly bornAt?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly status?: Partial<ReplicaSetStatus>;
  readonly isTerminating?: true;
}

export function aReplicaSet(name: string, facts: ReplicaSetFacts = {}): ReplicaSet {
  const { image = name, size = 0, replicas = size, available = replicas, revision, desired, max, bornAt = 0, isTerminating } = facts;
  const annotations = {
    ...(revision === undefined ? {} : { [REVISION_ANNOTATION]: `${revision}` }),
    ...(desired === undefined ? {} : { [DESIRED_REPLICAS_ANNOTATION]: `${desired}` }),
    ...(max === undefined ? {} : { [MAX_REPLICAS_ANNOTATION]: `${max}` }),
    ...facts.annotations,
  };
  const time = (seconds: number) => `2026-01-01T00:00:${`${seconds}`.padStart(2, "0")}Z`;
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${name}`,
      generation: 1,
      creationTimestamp: time(bornAt),
      labels: { app: "web" },
      annotations,
      ...(isTerminating === undefined ? {} : { deletionTimestamp: time(59) }),
    },
    spec: { replicas: size, selector: { matchLabels: { app: "web" } }, template: aTemplate(image) },
    status: { replicas, readyReplicas: available, availableReplicas: available, observedGeneration: 1, ...facts.status },
  };
}

/** The new one is named "new". */
export function aRollout(deployment: Deployment, ...all: readonly ReplicaSet[]): Rollout {
  const isNew = ({ metadata }: ReplicaSet) => metadata.name === "new";
  return { deployment, newReplicaSet: all.find(isNew), oldReplicaSets: all.filter((one) => !isNew(one)) };
}

/** As if all desired Pods existed and were available at once. */
export const obedientReplicaSets = defineController({
  name: "obedient",
  account: "replicaset-controller",
  rules: [
    { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["apps"], resources: ["replicasets/status"], verbs: ["update"] },
  ],
  watches: [watch(replicaSets, itself)],
  async reconcile(key, { read, write }) {
    const replicaSet = read.get(replicaSets, key);
    if (replicaSet === undefined) return onChange;
    const status = obeyed(replicaSet);
    if (!deepEqual(status, replicaSet.status)) await write.updateStatus(replicaSets, { ...replicaSet, status });
    return onChange;
  },
});

function obeyed({ spec, metadata }: ReplicaSet, available = spec?.replicas ?? 0): ReplicaSetStatus {
  const replicas = spec?.replicas ?? 0;
  const counts = replicas === 0 ? {} : { fullyLabeledReplicas: replicas };
  const availables = available === 0 ? {} : { readyReplicas: available, availableReplicas: available };
  return { replicas, ...counts, ...availables, terminatingReplicas: 0, observedGeneration: metadata.generation ?? 0 };
}

/** The status after a while: all Pods exist, and this many are available. Default: all. */
export async function obey(client: Client, { metadata }: ReplicaSet, available?: number): Promise<void> {
  const fresh = await client.get(replicaSets, { namespace: metadata.namespace, name: metadata.name });
  await client.updateStatus(replicaSets, { ...fresh, status: obeyed(fresh, available) });
}
