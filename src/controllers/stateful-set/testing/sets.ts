/** Builders of StatefulSets, their Pods and claims for tests. */
import type { StatefulSet, StatefulSetSpec, StatefulSetStatus } from "../../../api/generated/apps/v1.ts";
import type { PersistentVolumeClaim, Pod, PodTemplateSpec } from "../../../api/generated/core/v1.ts";
import type { OwnerReference } from "../../../api/machinery/object.ts";
import { buildPod } from "../../../api/testing/pod.ts";
import { REVISION_LABEL } from "../identity.ts";

export function aTemplate(image = "app:1"): PodTemplateSpec {
  return { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app", image }] } };
}

export interface SetFacts extends Partial<StatefulSetSpec> {
  readonly image?: string;
  readonly partition?: number;
  /** Adds a claim template "data". */
  readonly claims?: true;
  readonly retain?: { readonly whenDeleted?: string; readonly whenScaled?: string };
  readonly status?: StatefulSetStatus;
  readonly isTerminating?: true;
}

export const SET_UID = "uid-web";

/** StatefulSet default/web of 3. */
export function aSet(facts: SetFacts = {}): StatefulSet {
  const { image, partition = 0, claims, retain, status, isTerminating, ...spec } = facts;
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      name: "web",
      namespace: "default",
      uid: SET_UID,
      generation: 1,
      ...(isTerminating === undefined ? {} : { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: {
      replicas: 3,
      serviceName: "web",
      selector: { matchLabels: { app: "web" } },
      template: aTemplate(image),
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } },
      ...(claims === undefined ? {} : { volumeClaimTemplates: [CLAIM_TEMPLATE] as never }),
      ...(retain === undefined ? {} : { persistentVolumeClaimRetentionPolicy: retain }),
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

const CLAIM_TEMPLATE = {
  metadata: { name: "data", labels: { tier: "disk" } },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

export interface MemberFacts {
  readonly revision?: string;
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  readonly isReady?: boolean;
  readonly isTerminating?: true;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A running, ready Pod web-<ordinal> at revision "new". */
export function aMember(ordinal: number, facts: MemberFacts = {}): Pod {
  const { revision = "new", phase = "Running", isReady = phase === "Running", isTerminating } = facts;
  const name = `web-${ordinal}`;
  return buildPod({
    metadata: {
      name,
      uid: `uid-${name}`,
      labels: { app: "web", "statefulset.kubernetes.io/pod-name": name, [REVISION_LABEL]: revision, ...facts.labels },
      ...(isTerminating === undefined ? {} : { deletionTimestamp: "2026-01-01T00:00:30Z" }),
    },
    spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName: `data-${name}` } }] },
    status: {
      phase,
      conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: "2026-01-01T00:00:00Z" }],
    },
  });
}

export function aClaim(ordinal: number, ...ownerReferences: readonly OwnerReference[]): PersistentVolumeClaim {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: `data-web-${ordinal}`, namespace: "default", ownerReferences },
  };
}

export const BY_SET: OwnerReference = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  name: "web",
  uid: SET_UID,
  controller: true,
  blockOwnerDeletion: true,
};

export function byPod(ordinal: number, uid = `uid-web-${ordinal}`): OwnerReference {
  return { apiVersion: "v1", kind: "Pod", name: `web-${ordinal}`, uid, controller: true, blockOwnerDeletion: true };
}
