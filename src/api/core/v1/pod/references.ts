/**
 * Objects that a Pod references in its namespace: Secrets, ConfigMaps and claims. The node of the Pod may read them, so what is missing
 * here breaks Pods, and what is too much gives nodes access to unrelated objects.
 */
import type { Pod, PodResourceClaim, PodSpec, Volume } from "../../../generated/core/v1.ts";
import { allContainers, type AnyContainer } from "./containers.ts";

/** Marks a mirror Pod: it represents one that a kubelet runs from a manifest file. */
export const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

export function isMirror({ metadata }: Pod): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, MIRROR_ANNOTATION);
}

export function secretNames(spec: PodSpec): ReadonlySet<string> {
  return named([
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(spec).flatMap(environmentSecrets),
    ...(spec.volumes ?? []).flatMap(volumeSecrets),
  ]);
}

export function configMapNames(spec: PodSpec): ReadonlySet<string> {
  return named([...containersOf(spec).flatMap(environmentConfigMaps), ...(spec.volumes ?? []).flatMap(volumeConfigMaps)]);
}

/** Named claims, and those of ephemeral volumes. */
export function volumeClaimNames({ metadata, spec }: Pod): ReadonlySet<string> {
  return named((spec?.volumes ?? []).map((volume) => volumeClaimName(metadata.name, volume)));
}

/** The claim of one volume of the Pod with this name. */
export function volumeClaimName(pod: string, { name, persistentVolumeClaim, ephemeral }: Volume): string | undefined {
  if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName;
  return ephemeral === undefined ? undefined : `${pod}-${name}`;
}

/** Existing claims: those from a template have their names in the status, once they are created. */
export function resourceClaimNames({ spec, status }: Pod): ReadonlySet<string> {
  const made = status?.resourceClaimStatuses ?? [];
  const nameOf = ({ name, resourceClaimName, resourceClaimTemplateName }: PodResourceClaim) => {
    if (resourceClaimName !== undefined || resourceClaimTemplateName === undefined) return resourceClaimName;
    return made.find((claim) => claim.name === name)?.resourceClaimName;
  };
  return named([...(spec?.resourceClaims ?? []).map(nameOf), status?.extendedResourceClaimStatus?.resourceClaimName]);
}

function containersOf(spec: PodSpec): readonly AnyContainer[] {
  return allContainers(spec, "spec").map(({ container }) => container);
}

type Names = readonly (string | undefined)[];

const NONE_GIVEN: readonly never[] = [];

/** Most containers have none. Hot path (called for every version of every Pod). */
const NONE: Names = [];

function environmentSecrets({ envFrom = NONE_GIVEN, env = NONE_GIVEN }: AnyContainer): Names {
  if (envFrom.length === 0 && env.length === 0) return NONE;
  return [...envFrom.map(({ secretRef }) => secretRef?.name), ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name)];
}

function environmentConfigMaps({ envFrom = NONE_GIVEN, env = NONE_GIVEN }: AnyContainer): Names {
  if (envFrom.length === 0 && env.length === 0) return NONE;
  return [...envFrom.map(({ configMapRef }) => configMapRef?.name), ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name)];
}

function volumeSecrets(volume: Volume): Names {
  const { azureFile, cephfs, cinder, flexVolume, projected, rbd, secret, scaleIO, iscsi, storageos, csi } = volume;
  const references = [cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef?.name);
  const ofProjected = (projected?.sources ?? []).map((source) => source.secret?.name);
  return [azureFile?.secretName, secret?.secretName, csi?.nodePublishSecretRef?.name, ...references, ...ofProjected];
}

function volumeConfigMaps({ configMap, projected }: Volume): Names {
  return [configMap?.name, ...(projected?.sources ?? []).map((source) => source.configMap?.name)];
}

function named(names: Names): ReadonlySet<string> {
  return new Set(names.filter((name): name is string => name !== undefined && name !== ""));
}
