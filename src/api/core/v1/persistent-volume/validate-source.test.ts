/** Validation of the sources of PersistentVolumes. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { problemsOfNew } from "../../../testing/kind.ts";
import { persistentVolumes } from "../persistent-volume.ts";
import { NOT_A_LABEL, NOT_A_SUBDOMAIN } from "../pod/testing/pods.ts";

const LONG = "a".repeat(64);
const NODES = {
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] }] } },
};

const ROWS: readonly [title: string, source: JsonObject, problems: readonly string[]][] = [
  ["a path of the node is given", { hostPath: { path: "" } }, ["spec.hostPath.path: Required value"]],
  [
    "a path of the node leads down and is of a known type",
    { hostPath: { path: "/a/../b", type: "Odd" } },
    [
      "spec.hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
      'spec.hostPath.type: Unsupported value: "Odd": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
  ],
  [
    "a GCE disk is named, and has partitions",
    { gcePersistentDisk: { pdName: "", partition: 256 } },
    [
      "spec.persistentDisk.pdName: Required value",
      "spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive",
    ],
  ],
  [
    "an AWS volume is named, and has partitions",
    { awsElasticBlockStore: { volumeID: "", partition: -1 } },
    [
      "spec.awsElasticBlockStore.volumeID: Required value",
      "spec.awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, inclusive",
    ],
  ],
  [
    "GlusterFS is found by endpoints and a path",
    { glusterfs: { endpoints: "", path: "" } },
    ["spec.glusterfs.endpoints: Required value", "spec.glusterfs.path: Required value"],
  ],
  [
    "GlusterFS' endpoints are in a namespace",
    { glusterfs: { endpoints: "e", path: "p", endpointsNamespace: "" } },
    ['spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name'],
  ],
  [
    "GlusterFS' namespace is called as one",
    { glusterfs: { endpoints: "e", path: "p", endpointsNamespace: "N" } },
    [`spec.glusterfs.endpointsNamespace: Invalid value: "N": ${NOT_A_LABEL}`],
  ],
  ["Flocker has a name or an id", { flocker: {} }, ["spec.flocker: Required value: one of datasetName and datasetUUID is required"]],
  [
    "Flocker has not both, and no slash",
    { flocker: { datasetName: "a/b", datasetUUID: "c" } },
    [
      'spec.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
      "spec.flocker.datasetName: Invalid value: \"a/b\": must not contain '/'",
    ],
  ],
  [
    "NFS has a server and a path",
    { nfs: { server: "", path: "" } },
    ["spec.nfs.server: Required value", "spec.nfs.path: Required value", 'spec.nfs.path: Invalid value: "": must be an absolute path'],
  ],
  [
    "RBD has monitors and an image",
    { rbd: { monitors: [], image: "" } },
    ["spec.rbd.monitors: Required value", "spec.rbd.image: Required value"],
  ],
  [
    "Quobyte has a registry and a volume",
    { quobyte: { registry: "", volume: "" } },
    [
      "spec.quobyte.registry: Required value: must be a host:port pair or multiple pairs separated by commas",
      "spec.quobyte.volume: Required value",
    ],
  ],
  [
    "Quobyte's tenant is an id",
    { quobyte: { registry: "a:1", volume: "v", tenant: `${LONG}b` } },
    ["spec.quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters"],
  ],
  [
    "Quobyte's registry is a list of hosts with ports",
    { quobyte: { registry: "a:1,b", volume: "v" } },
    ['spec.quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas'],
  ],
  ["CephFS has monitors", { cephfs: { monitors: [] } }, ["spec.cephfs.monitors: Required value"]],
  [
    "iSCSI has a portal and a name",
    { iscsi: { targetPortal: "", iqn: "", lun: 0 } },
    ["spec.iscsi.targetPortal: Required value", "spec.iscsi.iqn: Required value"],
  ],
  [
    "iSCSI names have one of three forms, numbers a range, and who authenticates has a secret",
    { iscsi: { targetPortal: "10.0.0.1", iqn: "odd", lun: 256, chapAuthSession: true, initiatorName: "iqn.odd" } },
    [
      'spec.iscsi.iqn: Invalid value: "odd": must be valid format',
      "spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
      "spec.iscsi.secretRef: Required value",
      'spec.iscsi.initiatorname: Invalid value: "iqn.odd": must be valid format',
    ],
  ],
  [
    "an iSCSI initiator's interface is called after volume and portal, and a secret has a name",
    { iscsi: { targetPortal: LONG, iqn: "eui.odd", lun: -1, secretRef: {}, initiatorName: "naa.odd" } },
    [
      'spec.iscsi.targetportal: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
      'spec.iscsi.iqn: Invalid value: "eui.odd": must be valid format',
      "spec.iscsi.lun: Invalid value: -1: must be between 0 and 255, inclusive",
      "spec.iscsi.secretRef.name: Required value",
      'spec.iscsi.initiatorname: Invalid value: "naa.odd": must be valid format',
    ],
  ],
  [
    "an iSCSI initiator has a name of a known form",
    { iscsi: { targetPortal: "p", iqn: "iqn.2001-04.com.example:disk", lun: 0, initiatorName: "odd" } },
    ['spec.iscsi.initiatorname: Invalid value: "odd": must be valid format'],
  ],
  ["iSCSI of another form is right", { iscsi: { targetPortal: "p", iqn: "naa.62004567BA64678D0123456789ABCDEF", lun: 0 } }, []],
  [
    "a Cinder volume is named, and its secret is somewhere",
    { cinder: { volumeID: "", secretRef: {} } },
    [
      "spec.cinder.volumeID: Required value",
      "spec.cinder.secretRef.name: Required value",
      "spec.cinder.secretRef.namespace: Required value",
    ],
  ],
  [
    "Fibre Channel has targets or ids",
    { fc: {} },
    ["spec.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"],
  ],
  [
    "Fibre Channel has not both, and targets have a number",
    { fc: { targetWWNs: ["a"], wwids: ["b"] } },
    [
      'spec.fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
      "spec.fc.lun: Required value: lun is required if targetWWNs is specified",
    ],
  ],
  [
    "Fibre Channel's number has a range",
    { fc: { targetWWNs: ["a"], lun: 256 } },
    ["spec.fc.lun: Invalid value: 256: must be between 0 and 255, inclusive"],
  ],
  [
    "a FlexVolume has a driver, and options of its own",
    { flexVolume: { driver: "", options: { "storage.k8s.io/x": "1" } } },
    [
      "spec.flexVolume.driver: Required value",
      'spec.flexVolume.options[storage.k8s.io/x]: Invalid value: "storage.k8s.io/x": kubernetes.io and k8s.io namespaces are reserved',
    ],
  ],
  [
    "an Azure file has a secret and a share",
    { azureFile: { secretName: "", shareName: "", secretNamespace: "" } },
    [
      "spec.azureFile.secretName: Required value",
      "spec.azureFile.shareName: Required value",
      "spec.azureFile.secretNamespace: Required value",
    ],
  ],
  ["a vSphere volume has a path", { vsphereVolume: { volumePath: "" } }, ["spec.vsphereVolume.volumePath: Required value"]],
  ["a Photon disk is named", { photonPersistentDisk: { pdID: "" } }, ["spec.photonPersistentDisk.pdID: Required value"]],
  ["a Portworx volume is named", { portworxVolume: { volumeID: "" } }, ["spec.portworxVolume.volumeID: Required value"]],
  [
    "an Azure disk has a name, an address and known words",
    { azureDisk: { diskName: "", diskURI: "", cachingMode: "Odd", kind: "Odd" } },
    [
      "spec.azureDisk.diskName: Required value",
      "spec.azureDisk.diskURI: Required value",
      'spec.azureDisk.cachingMode: Unsupported value: "Odd": supported values: "None", "ReadOnly", "ReadWrite"',
      'spec.azureDisk.kind: Unsupported value: "Odd": supported values: "Dedicated", "Managed", "Shared"',
      'spec.azureDisk.diskURI: Unsupported value: "": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
    ],
  ],
  [
    "an Azure disk that is managed has an address of that form",
    { azureDisk: { diskName: "d", diskURI: "d", kind: "Managed" } },
    [
      'spec.azureDisk.diskURI: Unsupported value: "d": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
    ],
  ],
  [
    "ScaleIO has a gateway, a system and a volume",
    { scaleIO: { gateway: "", system: "", secretRef: {} } },
    ["spec.scaleIO.gateway: Required value", "spec.scaleIO.system: Required value", "spec.scaleIO.volumeName: Required value"],
  ],
  [
    "a local volume has a path, and nodes",
    { local: { path: "" } },
    ["spec.local.path: Required value", "spec.nodeAffinity: Required value: Local volume requires node affinity"],
  ],
  [
    "a local path leads down",
    { local: { path: "/a/../b" }, ...NODES },
    ["spec.local.path: Invalid value: \"/a/../b\": must not contain '..'"],
  ],
  ["StorageOS has a volume", { storageos: {} }, ["spec.storageos.volumeName: Required value"]],
  [
    "StorageOS' names are labels, and its secret is somewhere",
    { storageos: { volumeName: "A", volumeNamespace: "B", secretRef: {} } },
    [
      `spec.storageos.volumeName: Invalid value: "A": ${NOT_A_LABEL}`,
      `spec.storageos.volumeNamespace: Invalid value: "B": ${NOT_A_LABEL}`,
      "spec.storageos.secretRef.name: Required value",
      "spec.storageos.secretRef.namespace: Required value",
    ],
  ],
  [
    "CSI has a driver and a volume",
    { csi: { driver: "", volumeHandle: "" } },
    ["spec.csi.driver: Required value", "spec.csi.volumeHandle: Required value"],
  ],
  [
    "a CSI driver is called as a domain, in any letters",
    { csi: { driver: `Disks_${LONG}`, volumeHandle: "v" } },
    [
      "spec.csi.driver: Too long: may not be more than 63 bytes",
      `spec.csi.driver: Invalid value: "Disks_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": ${NOT_A_SUBDOMAIN}`,
    ],
  ],
  [
    "CSI secrets have a name and a namespace",
    {
      csi: {
        driver: "Disks.example.com",
        volumeHandle: "v",
        controllerPublishSecretRef: {},
        controllerExpandSecretRef: { name: "A", namespace: "B" },
        nodePublishSecretRef: { name: "a" },
        nodeExpandSecretRef: { namespace: "b" },
        nodeStageSecretRef: {},
      },
    },
    [
      "spec.csi.controllerPublishSecretRef.name: Required value",
      "spec.csi.controllerPublishSecretRef.namespace: Required value",
      `spec.csi.controllerExpandSecretRef.name: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      `spec.csi.controllerExpandSecretRef.namespace: Invalid value: "B": ${NOT_A_LABEL}`,
      "spec.csi.nodePublishSecretRef.namespace: Required value",
      "spec.csi.nodeExpandSecretRef.name: Required value",
    ],
  ],
  [
    "there is one source only, which upstream forgets to say of FlexVolumes",
    {
      hostPath: { path: "/data" },
      gcePersistentDisk: {},
      awsElasticBlockStore: {},
      glusterfs: {},
      flocker: {},
      nfs: {},
      rbd: {},
      quobyte: {},
      cephfs: {},
      iscsi: {},
      cinder: {},
      fc: {},
      flexVolume: {},
      azureFile: {},
      vsphereVolume: {},
      photonPersistentDisk: {},
      portworxVolume: {},
      azureDisk: {},
      scaleIO: {},
      local: {},
      storageos: {},
      csi: {},
    },
    [
      "spec.gcePersistentDisk: Forbidden: may not specify more than 1 volume type",
      "spec.awsElasticBlockStore: Forbidden: may not specify more than 1 volume type",
      "spec.glusterfs: Forbidden: may not specify more than 1 volume type",
      "spec.flocker: Forbidden: may not specify more than 1 volume type",
      "spec.nfs: Forbidden: may not specify more than 1 volume type",
      "spec.rbd: Forbidden: may not specify more than 1 volume type",
      "spec.quobyte: Forbidden: may not specify more than 1 volume type",
      "spec.cephFS: Forbidden: may not specify more than 1 volume type",
      "spec.iscsi: Forbidden: may not specify more than 1 volume type",
      "spec.cinder: Forbidden: may not specify more than 1 volume type",
      "spec.fc: Forbidden: may not specify more than 1 volume type",
      "spec.flexVolume.driver: Required value",
      "spec.azureFile: Forbidden: may not specify more than 1 volume type",
      "spec.vsphereVolume: Forbidden: may not specify more than 1 volume type",
      "spec.photonPersistentDisk: Forbidden: may not specify more than 1 volume type",
      "spec.portworxVolume: Forbidden: may not specify more than 1 volume type",
      "spec.azureDisk: Forbidden: may not specify more than 1 volume type",
      "spec.scaleIO: Forbidden: may not specify more than 1 volume type",
      "spec.local: Forbidden: may not specify more than 1 volume type",
      "spec.storageos: Forbidden: may not specify more than 1 volume type",
      "spec.csi: Forbidden: may not specify more than 1 volume type",
    ],
  ],
];

for (const [title, source, expected] of ROWS) {
  test(title, () => {
    const sent = { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...source } };

    assert.deepEqual(problemsOfNew(persistentVolumes, sent), expected);
  });
}
