/** Nodes, Pods, a claim and its volume of a CSI driver, for tests of the controller. */
import { nodes } from "../../../api/core/v1/node.ts";
import { persistentVolumeClaims } from "../../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../../api/core/v1/persistent-volume.ts";
import type { PersistentVolumeSpec } from "../../../api/generated/core/v1.ts";
import { volumeAttachments } from "../../../api/storage.k8s.io/v1/volume-attachment.ts";
import { buildPod } from "../../../api/testing/pod.ts";
import type { Client } from "../../../client/client.ts";
import type { Given } from "../../../testing/given.ts";

export const DRIVER = "disks.example.com";
export const UNIQUE = `kubernetes.io/csi/${DRIVER}^h1`;
/** Deletes at once. */
export const NOW = { gracePeriodSeconds: 0 };
export const key = (name: string) => ({ namespace: "default", name });

export function aNode(name: string) {
  const annotations = { "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
  return { apiVersion: "v1", kind: "Node", metadata: { name, annotations }, status: { conditions: [{ type: "Ready", status: "True" }] } };
}

export function aPod(name: string, nodeName: string, claimName = "data") {
  const volumes = [{ name: "v", persistentVolumeClaim: { claimName } }];
  return buildPod({ metadata: key(name), spec: { nodeName, containers: [{ name: "c", image: "i" }], volumes } });
}

export const CLAIM = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: key("data"),
  spec: { accessModes: ["ReadWriteOnce"], volumeName: "pv1", resources: { requests: { storage: "1Gi" } } },
};

/** Binds the claim to the volume pv1. */
export async function bindVolume(client: Client, facts: Partial<PersistentVolumeSpec> = {}): Promise<void> {
  const claim = await client.get(persistentVolumeClaims, key("data"));
  const spec: PersistentVolumeSpec = {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    claimRef: { ...key("data"), uid: claim.metadata.uid ?? "" },
    ...(facts.awsElasticBlockStore === undefined ? { csi: { driver: DRIVER, volumeHandle: "h1" } } : {}),
    ...facts,
  };
  await client.create(persistentVolumes, { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "pv1" }, spec });
  await client.updateStatus(persistentVolumeClaims, { ...claim, status: { phase: "Bound" } });
}

export async function inUse(client: Client, name: string, ...volumesInUse: readonly string[]): Promise<void> {
  await client.patch(nodes, { name }, { type: "merge", value: { status: { volumesInUse: [...volumesInUse] } } }, { subresource: "status" });
}

/** "n1 attached", and what each Node reports: "n1 has <name>". */
export async function stateOf(cluster: Given): Promise<readonly string[]> {
  const attachments = (await cluster.list(volumeAttachments)).map(
    ({ metadata, spec, status }) =>
      `${spec.nodeName} ${metadata.deletionTimestamp !== undefined ? "detaching" : status?.attached === true ? "attached" : "attaching"}`,
  );
  const reported = (await cluster.list(nodes)).flatMap(({ metadata, status }) =>
    (status?.volumesAttached ?? []).map(({ name }) => `${metadata.name} has ${name}`),
  );
  return [...attachments, ...reported];
}
