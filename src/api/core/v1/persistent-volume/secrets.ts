/**
 * The Secrets that a kubelet needs to mount a PersistentVolume. Not those that only controllers need (for attaching or controller-side
 * expansion): a node may not read them.
 */
import type { PersistentVolume } from "../../../generated/core/v1.ts";

export interface NamedSecret {
  readonly namespace: string;
  readonly name: string;
}

export function mountSecrets({ spec = {} }: PersistentVolume): readonly NamedSecret[] {
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = spec;
  // Volumes older than cross-namespace Secret references use the namespace of the claim.
  const claimNamespace = spec.claimRef?.namespace ?? "";
  const found = [
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace || claimNamespace },
    ...[cephfs, flexVolume, rbd, scaleIO, iscsi].map((source) => source?.secretRef && inNamespace(source.secretRef, claimNamespace)),
    ...[cinder?.secretRef, storageos?.secretRef].map((reference) => reference && inNamespace(reference, "")),
    ...[csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef].map(
      (reference) => reference && inNamespace(reference, ""),
    ),
  ];
  return found.filter((secret) => secret !== undefined && secret.name !== "") as readonly NamedSecret[];
}

function inNamespace({ name = "", namespace = "" }: Partial<NamedSecret>, otherwise: string): NamedSecret {
  return { name, namespace: namespace || otherwise };
}
