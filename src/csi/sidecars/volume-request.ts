/** What a claim and its class ask a driver for, as the official provisioner translates it, and the PersistentVolume that results. Pure. */
import { BUILT_IN_SIDECARS } from "../../api/csi-sidecars.ts";
import { PROVISIONED_BY } from "../../api/core/v1/persistent-volume/binding.ts";
import { readQuantity } from "../../api/core/v1/pod/resource-list.ts";
import type { Node, PersistentVolume, PersistentVolumeClaim, SecretReference } from "../../api/generated/core/v1.ts";
import type { CSINode, StorageClass } from "../../api/generated/storage.k8s.io/v1.ts";
import { formatQuantity, quantityOf, quantityToNumber } from "../../api/machinery/quantity.ts";
import type { Draft } from "../../client/client.ts";
import type { CsiCreateVolumeRequest, CsiMap, CsiTopologyRequirement, CsiVolume } from "../contract.ts";
import { capabilitiesOf } from "./sidecar.ts";

/** Parameters with this prefix are for the sidecars and not for the driver. */
const PREFIX = "csi.storage.k8s.io/";

/** Holds a PersistentVolume until the driver has deleted the volume. The official provisioner's name. */
export const PROVISIONER_FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer";

export const DELETION_SECRET_NAME = "volume.kubernetes.io/provisioner-deletion-secret-name";
export const DELETION_SECRET_NAMESPACE = "volume.kubernetes.io/provisioner-deletion-secret-namespace";

export interface Wanted {
  readonly name: string;
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
}

/** The Secret for a purpose: "provisioner", "controller-publish", "node-stage", "node-publish", "controller-expand", "node-expand". */
export function secretRefFor(purpose: string, { name, claim, storageClass }: Wanted): SecretReference | undefined {
  const { parameters = {} } = storageClass;
  const secretName = parameters[`${PREFIX}${purpose}-secret-name`];
  const namespace = parameters[`${PREFIX}${purpose}-secret-namespace`];
  if (secretName === undefined || namespace === undefined) return undefined;
  const { metadata } = claim;
  const filled = (text: string): string =>
    text
      .replaceAll("${pv.name}", name)
      .replaceAll("${pvc.name}", metadata.name)
      .replaceAll("${pvc.namespace}", metadata.namespace ?? "")
      .replaceAll(/\$\{pvc\.annotations\['([^']+)'\]\}/g, (_, key: string) => metadata.annotations?.[key] ?? "");
  return { name: filled(secretName), namespace: filled(namespace) };
}

function fsTypeOf({ parameters = {} }: StorageClass): string {
  return parameters[`${PREFIX}fstype`] ?? "";
}

export function createRequest(
  wanted: Wanted,
  { secrets, accessibility }: { readonly secrets: CsiMap; readonly accessibility: CsiTopologyRequirement | undefined },
): CsiCreateVolumeRequest {
  const { name, claim, storageClass } = wanted;
  const { volumeMode, accessModes, resources } = claim.spec ?? {};
  const bytes = (text: string | undefined): number => (text === undefined ? 0 : Math.ceil(quantityToNumber(readQuantity(text))));
  const parameters = Object.entries(storageClass.parameters ?? {}).filter(([key]) => !key.startsWith(PREFIX) && key !== BUILT_IN_SIDECARS);
  return {
    name,
    capacity: { requiredBytes: bytes(resources?.requests?.["storage"]), limitBytes: bytes(resources?.limits?.["storage"]) },
    capabilities: capabilitiesOf({ volumeMode, accessModes, fsType: fsTypeOf(storageClass), mountFlags: storageClass.mountOptions ?? [] }),
    parameters: Object.fromEntries(parameters),
    secrets,
    accessibility,
    mutableParameters: {},
  };
}

export interface TopologyView {
  readonly nodes: readonly Node[];
  readonly csiNodes: readonly CSINode[];
  readonly driver: string;
  /** Undefined: the class binds immediately. */
  readonly selectedNode: string | undefined;
}

/** All topologies that the driver serves and the class allows, the selected node's first. Undefined if no node has one yet. */
export function accessibilityOf({ allowedTopologies = [] }: StorageClass, view: TopologyView): CsiTopologyRequirement | undefined {
  const segments = new Map<string, CsiMap>();
  const first = view.nodes.filter(({ metadata }) => metadata.name === view.selectedNode);
  for (const node of [...first, ...view.nodes]) {
    const segment = segmentOf(node, view);
    if (segment !== undefined && isAllowed(segment, allowedTopologies)) segments.set(JSON.stringify(segment), segment);
  }
  const list = [...segments.values()];
  return list.length === 0 ? undefined : { requisite: list, preferred: list };
}

function segmentOf({ metadata }: Node, { csiNodes, driver }: TopologyView): CsiMap | undefined {
  const drivers: CSINode["spec"]["drivers"] | null | undefined = csiNodes.find((one) => one.metadata.name === metadata.name)?.spec.drivers;
  const keys = drivers?.find(({ name }) => name === driver)?.topologyKeys ?? [];
  const entries = keys.map((key) => [key, metadata.labels?.[key]] as const);
  if (entries.length === 0 || entries.some(([, value]) => value === undefined)) return undefined;
  return Object.fromEntries(entries) as CsiMap;
}

function isAllowed(segment: CsiMap, terms: NonNullable<StorageClass["allowedTopologies"]>): boolean {
  if (terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(segment[key] ?? "")),
  );
}

export function volumeFor(wanted: Wanted, created: CsiVolume): Draft<PersistentVolume> {
  const { name, claim, storageClass } = wanted;
  const { spec = {}, metadata } = claim;
  const deletionSecret = secretRefFor("provisioner", wanted);
  const size =
    created.capacityBytes === 0 ? spec.resources?.requests?.["storage"] : formatQuantity(quantityOf(created.capacityBytes, "BinarySI"));
  const { mountOptions = [] } = storageClass;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      name,
      annotations: {
        [PROVISIONED_BY]: storageClass.provisioner,
        [BUILT_IN_SIDECARS]: "true",
        ...(deletionSecret === undefined
          ? {}
          : { [DELETION_SECRET_NAME]: deletionSecret.name ?? "", [DELETION_SECRET_NAMESPACE]: deletionSecret.namespace ?? "" }),
      },
      finalizers: [PROVISIONER_FINALIZER],
    },
    spec: {
      capacity: { storage: size ?? "0" },
      accessModes: spec.accessModes ?? [],
      volumeMode: spec.volumeMode ?? "Filesystem",
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      ...(mountOptions.length === 0 ? {} : { mountOptions }),
      csi: csiSource(wanted, created),
      ...affinityOf(created),
      claimRef: {
        ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: metadata.namespace ?? "", name: metadata.name },
        ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
        ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
      },
    },
  };
}

function csiSource(wanted: Wanted, { volumeId, volumeContext }: CsiVolume) {
  const refs = [
    ["controllerPublishSecretRef", "controller-publish"],
    ["nodeStageSecretRef", "node-stage"],
    ["nodePublishSecretRef", "node-publish"],
    ["controllerExpandSecretRef", "controller-expand"],
    ["nodeExpandSecretRef", "node-expand"],
  ] as const;
  const found = refs.map(([field, purpose]) => [field, secretRefFor(purpose, wanted)] as const);
  const fsType = fsTypeOf(wanted.storageClass);
  return {
    driver: wanted.storageClass.provisioner,
    volumeHandle: volumeId,
    ...(fsType === "" || wanted.claim.spec?.volumeMode === "Block" ? {} : { fsType }),
    ...(Object.keys(volumeContext).length === 0 ? {} : { volumeAttributes: volumeContext }),
    ...Object.fromEntries(found.filter(([, ref]) => ref !== undefined)),
  };
}

function affinityOf({ accessibleTopology }: CsiVolume) {
  if (accessibleTopology.length === 0) return {};
  const nodeSelectorTerms = accessibleTopology.map((segments) => ({
    matchExpressions: Object.entries(segments)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => ({ key, operator: "In" as const, values: [value] })),
  }));
  return { nodeAffinity: { required: { nodeSelectorTerms } } };
}
