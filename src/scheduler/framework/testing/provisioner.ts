/** What an external provisioner does for claims with a selected node: creates a volume that only this node can access. */
import { persistentVolumeClaims } from "../../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../../api/core/v1/persistent-volume.ts";
import { annotationOf, SELECTED_NODE } from "../../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import type { Client } from "../../../client/client.ts";
import { HOSTNAME } from "./volumes.ts";

/** Returns the number of created volumes. */
export async function provisionSelected(client: Client): Promise<number> {
  const claims = (await client.list(persistentVolumeClaims)).items;
  const existing = new Set((await client.list(persistentVolumes)).items.map(({ metadata }) => metadata.name));
  let created = 0;
  for (const claim of claims) {
    const node = annotationOf(claim, SELECTED_NODE);
    const name = `pvc-${claim.metadata.uid}`;
    if (node === undefined || (claim.spec?.volumeName ?? "") !== "" || existing.has(name)) continue;
    await client.create(persistentVolumes, volumeFor(claim, name, node));
    created++;
  }
  return created;
}

function volumeFor({ metadata, spec }: PersistentVolumeClaim, name: string, node: string): PersistentVolume {
  const { namespace = "", uid = "" } = metadata;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": "fast.example" } },
    spec: {
      accessModes: spec?.accessModes ?? [],
      capacity: { storage: spec?.resources?.requests?.["storage"] ?? "1Gi" },
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: spec?.storageClassName ?? "",
      local: { path: `/volumes/${name}` },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: HOSTNAME, operator: "In", values: [node] }] }] } },
      claimRef: { kind: "PersistentVolumeClaim", apiVersion: "v1", namespace, name: metadata.name, uid },
    },
  };
}
