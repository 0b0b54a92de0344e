/**
 * A pod created by a node must be a mirror pod: bound to that node, owned by its Node object, and without references to other API objects,
 * which would give the node read access to them.
 */
import type { Node, Pod, Volume, VolumeProjection } from "../../../api/generated/core/v1.ts";
import { configMapNames, isMirror, MIRROR_ANNOTATION, secretNames } from "../../../api/core/v1/pod/references.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import type { OwnerReference } from "../../../api/machinery/object.ts";
import type { AdmissionDependencies } from "../../framework/admission.ts";
import type { CreateOf } from "../../shared/admission-request.ts";
import { missing, refuse } from "./errors.ts";

const NODES = { group: "", plural: "nodes" };

export async function checkMirrorPod(request: CreateOf<Pod>, node: string, { objects }: AdmissionDependencies): Promise<void> {
  const { object: pod } = request;
  const whose = `node ${quoteGo(node)}`;
  if (!isMirror(pod)) {
    refuse(request, `pod does not have ${quoteGo(MIRROR_ANNOTATION)} annotation, ${whose} can only create mirror pods`);
  }
  if (pod.spec?.nodeName !== node) refuse(request, `${whose} can only create pods with spec.nodeName set to itself`);
  const problem = ownersProblem(pod.metadata.ownerReferences ?? [], node);
  if (problem !== undefined) refuse(request, `${whose} ${problem}`);
  const found = await objects.get<Node>(NODES, { namespace: "", name: node });
  if (found === undefined) throw missing({ singular: "node", name: node });
  const [wanted = "", actual = ""] = [pod.metadata.ownerReferences?.[0]?.uid, found.metadata.uid];
  // Upstream's message, which has expected and actual value swapped.
  if (wanted !== actual) refuse(request, `node ${node} UID mismatch: expected ${wanted} got ${actual}`);
  const reference = objectReference(pod);
  if (reference?.unknown !== undefined) refuse(request, `error checking mirror pod for API references: ${reference.unknown}`);
  if (reference?.to !== undefined) refuse(request, `${whose} can not create pods that reference ${reference.to}`);
}

function ownersProblem(owners: readonly OwnerReference[], node: string): string | undefined {
  const [owner] = owners;
  if (owners.length > 1) return "can only create pods with a single owner reference set to itself";
  if (owner === undefined || owner.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node) {
    return "can only create pods with an owner reference set to itself";
  }
  if (owner.controller !== true) return "can only create pods with a controller owner reference set to itself";
  return owner.blockOwnerDeletion === true ? "must not set blockOwnerDeletion on an owner reference" : undefined;
}

interface Reference {
  /** Plural of the referenced resource, and where it is referenced. */
  readonly to?: string;
  /** An unknown volume source could reference anything. */
  readonly unknown?: string;
}

/** Returns the first API object that a pod references, or undefined. */
export function objectReference({ spec }: Pod): Reference | undefined {
  if (spec === undefined) return undefined;
  if ((spec.serviceAccountName ?? "") !== "") return { to: "serviceaccounts" };
  if (secretNames(spec).size > 0) return { to: "secrets" };
  if (configMapNames(spec).size > 0) return { to: "configmaps" };
  if ((spec.resourceClaims ?? []).length > 0) return { to: "resourceclaims" };
  for (const volume of spec.volumes ?? []) {
    const found = volumeReference(volume);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Volume sources without API references, apart from those that secretNames finds. */
const HARMLESS: readonly (keyof Volume)[] = [
  ...(["awsElasticBlockStore", "azureDisk", "cephfs", "cinder", "downwardAPI", "emptyDir", "fc", "flexVolume"] as const),
  ...(["flocker", "gcePersistentDisk", "gitRepo", "hostPath", "image", "iscsi", "nfs", "photonPersistentDisk"] as const),
  ...(["portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume"] as const),
];

const NAMING: readonly (readonly [keyof Volume, string])[] = [
  ["configMap", "configmaps (via configmap volumes)"],
  ["secret", "secrets (via secret volumes)"],
  ["csi", "csidrivers (via CSI volumes)"],
  ["glusterfs", "endpoints (via glusterFS volumes)"],
  ["persistentVolumeClaim", "persistentvolumeclaims"],
  ["ephemeral", "persistentvolumeclaims (via ephemeral volumes)"],
  ["azureFile", "secrets (via azureFile volumes)"],
];

const NAMING_PROJECTIONS: readonly (readonly [keyof VolumeProjection, string])[] = [
  ["configMap", "configmaps (via projected volumes)"],
  ["secret", "secrets (via projected volumes)"],
  ["serviceAccountToken", "serviceaccounts (via projected volumes)"],
  ["clusterTrustBundle", "clustertrustbundles"],
  ["podCertificate", "podcertificates"],
];

function volumeReference(volume: Volume): Reference | undefined {
  if (HARMLESS.some((source) => volume[source] !== undefined)) return undefined;
  const naming = NAMING.find(([source]) => volume[source] !== undefined);
  if (naming !== undefined) return { to: naming[1] };
  if (volume.projected === undefined) return { unknown: `unknown volume type for volume  ${quoteGo(volume.name)}` };
  for (const source of volume.projected.sources ?? []) {
    const projection = NAMING_PROJECTIONS.find(([member]) => source[member] !== undefined);
    if (projection !== undefined) return { to: projection[1] };
    if (source.downwardAPI === undefined) return { unknown: `unknown source for projected volume ${quoteGo(volume.name)}` };
  }
  return undefined;
}
