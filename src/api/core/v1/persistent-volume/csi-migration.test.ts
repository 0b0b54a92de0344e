import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { NodeSelectorRequirement, PersistentVolume, PersistentVolumeSpec, Volume } from "../../../generated/core/v1.ts";
import type { ObjectMeta } from "../../../machinery/object.ts";
import { MigrationError, translatedInlineVolume, translatedVolume } from "./csi-migration.ts";

function aVolume(spec: PersistentVolumeSpec, metadata: Partial<ObjectMeta> = {}): PersistentVolume {
  return { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "pv", ...metadata }, spec };
}

const ZONE = "topology.kubernetes.io/zone";
const ZONE_BETA = "failure-domain.beta.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const AUTH = { "openstorage.io/auth-secret-name": "s", "openstorage.io/auth-secret-namespace": "n" };
const AUTH_REF = { name: "s", namespace: "n" };
const claimRef = { namespace: "ns", name: "c" };

for (const [title, spec, metadata, csi] of [
  [
    "awsElasticBlockStore",
    { awsElasticBlockStore: { volumeID: "vol-1", fsType: "ext4", partition: 2, readOnly: true } },
    {},
    { driver: "ebs.csi.aws.com", volumeHandle: "vol-1", fsType: "ext4", readOnly: true, volumeAttributes: { partition: "2" } },
  ],
  [
    "awsElasticBlockStore with a zone",
    { awsElasticBlockStore: { volumeID: "aws://us-east-1a/vol-1" } },
    {},
    { driver: "ebs.csi.aws.com", volumeHandle: "vol-1", volumeAttributes: { partition: "0" } },
  ],
  [
    "gcePersistentDisk",
    { gcePersistentDisk: { pdName: "d" } },
    {},
    {
      driver: "pd.csi.storage.gke.io",
      volumeHandle: "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
      volumeAttributes: { partition: "" },
    },
  ],
  [
    "gcePersistentDisk of a zone",
    { gcePersistentDisk: { pdName: "d", partition: 1 } },
    { labels: { [ZONE]: "no", [ZONE_BETA]: "us-east1-a" } },
    {
      driver: "pd.csi.storage.gke.io",
      volumeHandle: "projects/UNSPECIFIED/zones/us-east1-a/disks/d",
      volumeAttributes: { partition: "1" },
    },
  ],
  [
    "gcePersistentDisk of a region",
    { gcePersistentDisk: { pdName: "d" } },
    { labels: { [ZONE]: "us-east1-a__us-east1-c" } },
    {
      driver: "pd.csi.storage.gke.io",
      volumeHandle: "projects/UNSPECIFIED/regions/us-east1/disks/d",
      volumeAttributes: { partition: "" },
    },
  ],
  [
    "azureDisk",
    { azureDisk: { diskName: "d", diskURI: "/disks/d", kind: "Managed", cachingMode: "ReadOnly", fsType: "xfs", readOnly: false } },
    {},
    {
      driver: "disk.csi.azure.com",
      volumeHandle: "/disks/d",
      fsType: "xfs",
      readOnly: false,
      volumeAttributes: { kind: "Managed", cachingmode: "ReadOnly", fstype: "xfs" },
    },
  ],
  [
    "azureFile",
    { azureFile: { secretName: "azure-storage-account-acc-secret", shareName: "share" }, claimRef },
    { annotations: { "kubernetes.io/azure-file-resource-group": "rg" } },
    {
      driver: "file.csi.azure.com",
      volumeHandle: "rg#acc#share#pv#ns",
      volumeAttributes: { sharename: "share" },
      nodeStageSecretRef: { name: "azure-storage-account-acc-secret", namespace: "ns" },
    },
  ],
  [
    "azureFile with a Secret elsewhere",
    { azureFile: { secretName: "s", secretNamespace: "other", shareName: "share", readOnly: true }, claimRef },
    {},
    {
      driver: "file.csi.azure.com",
      volumeHandle: "#s#share#pv#other",
      readOnly: true,
      volumeAttributes: { sharename: "share" },
      nodeStageSecretRef: { name: "s", namespace: "other" },
    },
  ],
  ["cinder", { cinder: { volumeID: "v", fsType: "ext4" } }, {}, { driver: "cinder.csi.openstack.org", volumeHandle: "v", fsType: "ext4" }],
  [
    "vsphereVolume",
    { vsphereVolume: { volumePath: "[ds] v.vmdk", storagePolicyName: "gold" } },
    {},
    { driver: "csi.vsphere.vmware.com", volumeHandle: "[ds] v.vmdk", volumeAttributes: { storagepolicyname: "gold" } },
  ],
  [
    "portworxVolume",
    { portworxVolume: { volumeID: "v" } },
    { annotations: AUTH },
    {
      driver: "pxd.portworx.com",
      volumeHandle: "v",
      controllerPublishSecretRef: AUTH_REF,
      nodeStageSecretRef: AUTH_REF,
      nodePublishSecretRef: AUTH_REF,
      controllerExpandSecretRef: AUTH_REF,
      nodeExpandSecretRef: AUTH_REF,
    },
  ],
] as const satisfies readonly (readonly [string, PersistentVolumeSpec, Partial<ObjectMeta>, PersistentVolumeSpec["csi"]])[]) {
  test(`a PersistentVolume of ${title} is one of its CSI driver`, () => {
    const { spec: translated } = translatedVolume(aVolume(spec, metadata));
    deepEqual(translated?.csi, csi);
    equal(Object.keys(translated ?? {}).filter((field) => /^(aws|gce|azure|cinder|vsphere|portworx)/.test(field)).length, 0);
  });
}

test("a PersistentVolume that no driver has replaced stays as it is", () => {
  const volume = aVolume({ nfs: { server: "s", path: "/" } });
  equal(translatedVolume(volume), volume);
});

for (const [problem, spec, labels] of [
  [
    "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://a/disk)",
    { awsElasticBlockStore: { volumeID: "aws://a/disk" } },
    {},
  ],
  ["kind(Shared) is not supported in csi migration", { azureDisk: { diskName: "d", diskURI: "u", kind: "Shared" } }, {}],
  ["could not find a secret namespace in PersistentVolumeSource or ClaimRef", { azureFile: { secretName: "s", shareName: "share" } }, {}],
  [
    "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: b",
    { gcePersistentDisk: { pdName: "d" } },
    { [ZONE]: "us-east1-a__b" },
  ],
] as const satisfies readonly (readonly [string, PersistentVolumeSpec, Readonly<Record<string, string>>])[]) {
  test(`a PersistentVolume without a counterpart is refused: ${problem}`, () => {
    const message = `failed to translate in-tree pv to CSI: ${problem}`;
    throws(
      () => translatedVolume(aVolume(spec, { labels })),
      (error) => error instanceof MigrationError && error.message === message,
    );
  });
}

for (const [before, after] of [
  [["ReadWriteMany"], ["ReadWriteOnce"]],
  [["ReadWriteOnce", "ReadOnlyMany"], ["ReadWriteOnce"]],
  [["ReadOnlyMany"], ["ReadOnlyMany"]],
] as const) {
  test(`a gcePersistentDisk with ${before.join(" and ")} has ${after.join()} for its driver`, () => {
    deepEqual(translatedVolume(aVolume({ gcePersistentDisk: { pdName: "d" }, accessModes: before })).spec?.accessModes, after);
  });
}

const requires = (key: string, ...values: readonly string[]): NodeSelectorRequirement => ({ key, operator: "In", values });

for (const [title, spec, labels, expected] of [
  [
    "the label of an EBS volume",
    { awsElasticBlockStore: { volumeID: "v" } },
    { [ZONE]: "a" },
    [requires("topology.ebs.csi.aws.com/zone", "a")],
  ],
  [
    "the labels of a vSphere volume",
    { vsphereVolume: { volumePath: "v" } },
    { [ZONE]: "a", [REGION]: "r" },
    [requires("topology.csi.vmware.com/zone", "a"), requires("topology.csi.vmware.com/region", "r")],
  ],
  [
    "the affinity of a Cinder volume",
    {
      cinder: { volumeID: "v" },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [requires(ZONE, "b"), requires(REGION, "r")] }] } },
    },
    { [ZONE]: "a" },
    [requires("topology.cinder.csi.openstack.org/zone", "b"), requires(REGION, "r")],
  ],
  [
    "the affinity of an Azure disk, which stays",
    {
      azureDisk: { diskName: "d", diskURI: "u" },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [requires(ZONE, "b")] }] } },
    },
    {},
    [requires(ZONE, "b")],
  ],
] as const satisfies readonly (readonly [
  string,
  PersistentVolumeSpec,
  Readonly<Record<string, string>>,
  readonly NodeSelectorRequirement[],
])[]) {
  test(`nodes are selected by the driver's labels: ${title}`, () => {
    const { nodeAffinity } = translatedVolume(aVolume(spec, { labels })).spec ?? {};
    deepEqual(nodeAffinity?.required?.nodeSelectorTerms, [{ matchExpressions: expected }]);
  });
}

for (const [source, name, accessModes, handle] of [
  [{ awsElasticBlockStore: { volumeID: "vol-1" } }, "ebs.csi.aws.com-vol-1", ["ReadWriteOnce"], "vol-1"],
  [
    { gcePersistentDisk: { pdName: "d", readOnly: true } },
    "pd.csi.storage.gke.io-d",
    ["ReadOnlyMany"],
    "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
  ],
  [{ azureDisk: { diskName: "d", diskURI: "/disks/d" } }, "/disks/d", ["ReadWriteOnce"], "/disks/d"],
  [{ azureFile: { secretName: "s", shareName: "share" } }, "#s#share#v#ns", ["ReadWriteMany"], "#s#share#v#ns"],
  [{ cinder: { volumeID: "c" } }, "cinder.csi.openstack.org-c", ["ReadWriteOnce"], "c"],
  [{ vsphereVolume: { volumePath: "p" } }, "csi.vsphere.vmware.com-p", ["ReadWriteOnce"], "p"],
  [{ portworxVolume: { volumeID: "x", readOnly: true } }, "pxd.portworx.com-x", ["ReadOnlyMany"], "x"],
] as const satisfies readonly (readonly [Partial<Volume>, string, readonly string[], string])[]) {
  test(`a volume in a Pod with ${Object.keys(source).join()} is one of its CSI driver`, () => {
    const translated = translatedInlineVolume({ name: "v", ...source }, "ns");
    deepEqual(
      [translated?.metadata.name, translated?.spec?.accessModes, translated?.spec?.csi?.volumeHandle, translated?.spec?.volumeMode],
      [name, accessModes, handle, "Filesystem"],
    );
  });
}

test("a volume in a Pod that no driver has replaced has no counterpart", () => {
  equal(translatedInlineVolume({ name: "v", emptyDir: {} }, "ns"), undefined);
});
