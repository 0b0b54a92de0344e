/** Validation of volumes, with upstream's messages. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mistakesOf, NOT_A_LABEL, NOT_A_SUBDOMAIN, NOT_A_QUALIFIED_NAME, NOT_A_LABEL_VALUE, type PodParts } from "../testing/pods.ts";

interface Row {
  readonly title: string;
  readonly given: PodParts;
  readonly mistakes: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    title: "a volume requires a unique name and exactly one source",
    given: {
      spec: {
        volumes: [
          { name: "" },
          { name: "A", emptyDir: { sizeLimit: "-1" } },
          { name: "h", hostPath: { path: "" } },
          { name: "h2", hostPath: { path: "/a/../b", type: "Odd" } },
          { name: "two", emptyDir: {}, hostPath: { path: "/x" }, cephfs: { monitors: [] }, downwardAPI: {} },
          {
            name: "s",
            secret: {
              secretName: "",
              defaultMode: 512,
              items: [
                { key: "", path: "", mode: -1 },
                { key: "a", path: "../x" },
                { key: "a", path: "/x" },
                { key: "a", path: "..x" },
              ],
            },
          },
          { name: "c", configMap: { name: "", defaultMode: -1 } },
          { name: "p", persistentVolumeClaim: { claimName: "" } },
          { name: "dup" },
          { name: "dup" },
        ],
      },
    },
    mistakes: [
      "spec.volumes[0].name: Required value",
      "spec.volumes[1].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
      `spec.volumes[1].name: Invalid value: "A": ${NOT_A_LABEL}`,
      "spec.volumes[2].hostPath.path: Required value",
      "spec.volumes[3].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
      'spec.volumes[3].hostPath.type: Unsupported value: "Odd": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      "spec.volumes[4].hostPath: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[4].cephFS: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[4].downwarAPI: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[5].secret.secretName: Required value",
      "spec.volumes[5].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
      "spec.volumes[5].secret.items[0].key: Required value",
      "spec.volumes[5].secret.items[0].path: Required value",
      "spec.volumes[5].secret.items[0].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
      "spec.volumes[5].secret.items[1].path: Invalid value: \"../x\": must not contain '..'",
      'spec.volumes[5].secret.items[2].path: Invalid value: "/x": must be a relative path',
      "spec.volumes[5].secret.items[3].path: Invalid value: \"..x\": must not start with '..'",
      "spec.volumes[6].configMap.name: Required value",
      "spec.volumes[6].configMap.defaultMode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
      "spec.volumes[7].persistentVolumeClaim.claimName: Required value",
      'spec.volumes[9].name: Duplicate value: "dup"',
    ],
  },
  {
    title: "items of a volume require a key and a relative path",
    given: {
      spec: {
        volumes: [
          {
            name: "d",
            downwardAPI: {
              defaultMode: 1000,
              items: [
                { path: "" },
                { path: "../a", fieldRef: { fieldPath: "metadata.name" }, resourceFieldRef: { resource: "limits.cpu" } },
                { path: "b", resourceFieldRef: { resource: "limits.cpu" } },
                { path: "c", fieldRef: { fieldPath: "spec.nodeName" }, mode: 1000 },
                { path: "d", fieldRef: { fieldPath: "metadata.labels" } },
              ],
            },
          },
        ],
      },
    },
    mistakes: [
      "spec.volumes[0].downwardAPI.defaultMode: Invalid value: 1000: must be a number between 0 and 0777 (octal), both inclusive",
      "spec.volumes[0].downwardAPI.path: Required value",
      "spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
      "spec.volumes[0].downwardAPI.path: Invalid value: \"../a\": must not contain '..'",
      'spec.volumes[0].downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
      "spec.volumes[0].downwardAPI.resourceFieldRef.containerName: Required value",
      'spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
      "spec.volumes[0].downwardAPI.mode: Invalid value: 1000: must be a number between 0 and 0777 (octal), both inclusive",
    ],
  },
  {
    title: "sources of a projected volume must not have the same path",
    given: {
      spec: {
        volumes: [
          {
            name: "p",
            projected: {
              defaultMode: 1000,
              sources: [
                {},
                { secret: { name: "" } },
                { secret: { name: "a", items: [{ key: "k", path: "x" }] }, configMap: { name: "b", items: [{ key: "k", path: "x" }] } },
                { downwardAPI: { items: [{ path: "x", fieldRef: { fieldPath: "metadata.name" } }] } },
                { serviceAccountToken: { path: "" } },
                { serviceAccountToken: { path: "../t", expirationSeconds: 5 } },
                { serviceAccountToken: { path: "t", expirationSeconds: 99999999999 } },
              ],
            },
          },
        ],
      },
    },
    mistakes: [
      "spec.volumes[0].projected.defaultMode: Invalid value: 1000: must be a number between 0 and 0777 (octal), both inclusive",
      "spec.volumes[0].projected.sources[1].secret.name: Required value",
      'spec.volumes[0].projected: Invalid value: "b": conflicting duplicate paths',
      "spec.volumes[0].projected.sources[2]: Forbidden: may not specify more than 1 volume type per source",
      'spec.volumes[0].projected: Invalid value: "x": conflicting duplicate paths',
      "spec.volumes[0].projected.path: Required value",
      "spec.volumes[0].projected.sources[5].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes",
      "spec.volumes[0].projected.path: Invalid value: \"../t\": must not contain '..'",
      "spec.volumes[0].projected.sources[6].serviceAccountToken.expirationSeconds: Invalid value: 99999999999: may not specify a duration larger than 2^32 seconds",
      "spec.volumes[0].projected.sources[4].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
      "spec.volumes[0].projected.sources[5].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
      "spec.volumes[0].projected.sources[6].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
    ],
  },
  {
    title: "required fields of storage sources are validated",
    given: {
      spec: {
        volumes: [
          { name: "a", gcePersistentDisk: { pdName: "", partition: 300 } },
          { name: "b", awsElasticBlockStore: { volumeID: "", partition: -1 } },
          { name: "c", gitRepo: { repository: "", directory: "../x" } },
          { name: "d", nfs: { server: "", path: "" } },
          { name: "e", nfs: { server: "s", path: "x" } },
          { name: "f", iscsi: { targetPortal: "", iqn: "", lun: 300 } },
          { name: "g", iscsi: { targetPortal: "1.2.3.4", iqn: "odd", lun: 0, chapAuthSession: true, initiatorName: "iqn.x" } },
          {
            name: "h",
            iscsi: {
              targetPortal: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
              iqn: "eui.123",
              lun: 0,
              initiatorName: "naa.x",
            },
          },
          { name: "i", glusterfs: { endpoints: "", path: "" } },
          { name: "j", flocker: {} },
          { name: "k", flocker: { datasetName: "a/b", datasetUUID: "c" } },
          { name: "l", rbd: { monitors: [], image: "" } },
          { name: "m", cinder: { volumeID: "", secretRef: { name: "" } } },
          { name: "n", cephfs: { monitors: [] } },
        ],
      },
    },
    mistakes: [
      "spec.volumes[0].persistentDisk.pdName: Required value",
      "spec.volumes[0].persistentDisk.partition: Invalid value: 300: must be between 1 and 255, inclusive",
      "spec.volumes[1].awsElasticBlockStore.volumeID: Required value",
      "spec.volumes[1].awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, inclusive",
      "spec.volumes[2].gitRepo.repository: Required value",
      "spec.volumes[2].gitRepo.directory: Invalid value: \"../x\": must not contain '..'",
      "spec.volumes[3].nfs.server: Required value",
      "spec.volumes[3].nfs.path: Required value",
      'spec.volumes[3].nfs.path: Invalid value: "": must be an absolute path',
      'spec.volumes[4].nfs.path: Invalid value: "x": must be an absolute path',
      "spec.volumes[5].iscsi.targetPortal: Required value",
      "spec.volumes[5].iscsi.iqn: Required value",
      "spec.volumes[5].iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive",
      'spec.volumes[6].iscsi.iqn: Invalid value: "odd": must be valid format starting with iqn, eui, or naa',
      "spec.volumes[6].iscsi.secretRef: Required value",
      'spec.volumes[6].iscsi.initiatorname: Invalid value: "iqn.x": must be valid format',
      'spec.volumes[7].iscsi.iqn: Invalid value: "eui.123": must be valid format',
      'spec.volumes[7].iscsi.initiatorname: Invalid value: "naa.x": must be valid format',
      'spec.volumes[7].name: Invalid value: "h": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
      "spec.volumes[8].glusterfs.endpoints: Required value",
      "spec.volumes[8].glusterfs.path: Required value",
      "spec.volumes[9].flocker: Required value: one of datasetName and datasetUUID is required",
      'spec.volumes[10].flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
      "spec.volumes[10].flocker.datasetName: Invalid value: \"a/b\": must not contain '/'",
      "spec.volumes[11].rbd.monitors: Required value",
      "spec.volumes[11].rbd.image: Required value",
      "spec.volumes[12].cinder.volumeID: Required value",
      "spec.volumes[12].cinder.secretRef.name: Required value",
      "spec.volumes[13].cephfs.monitors: Required value",
    ],
  },
  {
    title: "required fields of further storage sources are validated",
    given: {
      spec: {
        volumes: [
          { name: "a", quobyte: { registry: "", volume: "" } },
          {
            name: "b",
            quobyte: { registry: "x", volume: "v", tenant: "ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" },
          },
          { name: "c", quobyte: { registry: "a:1,b", volume: "v" } },
          { name: "d", fc: {} },
          { name: "e", fc: { targetWWNs: ["a"], wwids: ["b"] } },
          { name: "f", fc: { targetWWNs: ["a"], lun: 300 } },
          { name: "g", flexVolume: { driver: "", options: { "a.kubernetes.io/x": "1", "k8s.io": "1", ok: "2" } } },
          { name: "h", azureFile: { secretName: "", shareName: "" } },
          { name: "i", vsphereVolume: { volumePath: "" } },
          { name: "j", photonPersistentDisk: { pdID: "" } },
          { name: "k", portworxVolume: { volumeID: "" } },
          { name: "l", azureDisk: { diskName: "", diskURI: "", cachingMode: "Odd", kind: "Odd" } },
          { name: "m", azureDisk: { diskName: "d", diskURI: "x", kind: "Managed" } },
          { name: "n", storageos: { volumeName: "", volumeNamespace: "A", secretRef: { name: "" } } },
          { name: "o", scaleIO: { gateway: "", system: "", secretRef: { name: "x" } } },
          { name: "p", csi: { driver: "" } },
          {
            name: "q",
            csi: { driver: "A_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", nodePublishSecretRef: { name: "" } },
          },
          { name: "r", csi: { driver: "D.x", nodePublishSecretRef: { name: "A" } } },
          { name: "s", image: { reference: "", pullPolicy: "Odd" } },
        ],
      },
    },
    mistakes: [
      "spec.volumes[0].quobyte.registry: Required value: must be a host:port pair or multiple pairs separated by commas",
      "spec.volumes[0].quobyte.volume: Required value",
      "spec.volumes[1].quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters",
      'spec.volumes[2].quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas',
      "spec.volumes[3].fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both",
      'spec.volumes[4].fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
      "spec.volumes[4].fc.lun: Required value: lun is required if targetWWNs is specified",
      "spec.volumes[5].fc.lun: Invalid value: 300: must be between 0 and 255, inclusive",
      "spec.volumes[6].flexVolume.driver: Required value",
      'spec.volumes[6].flexVolume.options[a.kubernetes.io/x]: Invalid value: "a.kubernetes.io/x": kubernetes.io and k8s.io namespaces are reserved',
      'spec.volumes[6].flexVolume.options[k8s.io]: Invalid value: "k8s.io": kubernetes.io and k8s.io namespaces are reserved',
      "spec.volumes[7].azureFile.secretName: Required value",
      "spec.volumes[7].azureFile.shareName: Required value",
      "spec.volumes[8].vsphereVolume.volumePath: Required value",
      "spec.volumes[9].photonPersistentDisk.pdID: Required value",
      "spec.volumes[10].portworxVolume.volumeID: Required value",
      "spec.volumes[11].azureDisk.diskName: Required value",
      "spec.volumes[11].azureDisk.diskURI: Required value",
      'spec.volumes[11].azureDisk.cachingMode: Unsupported value: "Odd": supported values: "None", "ReadOnly", "ReadWrite"',
      'spec.volumes[11].azureDisk.kind: Unsupported value: "Odd": supported values: "Dedicated", "Managed", "Shared"',
      'spec.volumes[11].azureDisk.diskURI: Unsupported value: "": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
      'spec.volumes[12].azureDisk.diskURI: Unsupported value: "x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
      "spec.volumes[13].storageos.volumeName: Required value",
      `spec.volumes[13].storageos.volumeNamespace: Invalid value: "A": ${NOT_A_LABEL}`,
      "spec.volumes[13].storageos.secretRef.name: Required value",
      "spec.volumes[14].scaleIO.gateway: Required value",
      "spec.volumes[14].scaleIO.system: Required value",
      "spec.volumes[14].scaleIO.volumeName: Required value",
      "spec.volumes[15].csi.driver: Required value",
      "spec.volumes[16].csi.driver: Too long: may not be more than 63 bytes",
      `spec.volumes[16].csi.driver: Invalid value: "A_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb": ${NOT_A_SUBDOMAIN}`,
      "spec.volumes[16].csi.nodePublishSecretRef.name: Required value",
      `spec.volumes[17].csi.name: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      "spec.volumes[18].image.reference: Required value",
      'spec.volumes[18].image.pullPolicy: Unsupported value: "Odd": supported values: "Always", "IfNotPresent", "Never"',
    ],
  },
  {
    title: "the claim template of an ephemeral volume is validated like a claim",
    given: {
      spec: {
        volumes: [
          { name: "a", ephemeral: {} },
          {
            name: "b",
            ephemeral: {
              volumeClaimTemplate: {
                metadata: { name: "x", labels: { "a b": "c d" }, annotations: { "a b": "" }, finalizers: ["x"] },
                spec: {},
              },
            },
          },
          {
            name: "c",
            ephemeral: {
              volumeClaimTemplate: {
                spec: {
                  accessModes: ["Odd", "ReadWriteOncePod", "ReadWriteOnce"],
                  resources: { requests: { storage: "-1" } },
                  storageClassName: "A",
                  volumeMode: "Odd",
                  dataSource: { kind: "X", name: "", apiGroup: "" },
                  dataSourceRef: { kind: "PersistentVolumeClaim", name: "b" },
                  selector: { matchExpressions: [{ key: "a", operator: "Odd" }] },
                  volumeAttributesClassName: "A",
                },
              },
            },
          },
          {
            name: "d",
            ephemeral: {
              volumeClaimTemplate: {
                spec: {
                  accessModes: ["ReadWriteOnce"],
                  resources: { requests: { storage: "1.5" } },
                  dataSource: { kind: "PersistentVolumeClaim", name: "a" },
                  dataSourceRef: { kind: "PersistentVolumeClaim", name: "b", namespace: "N" },
                },
              },
            },
          },
          { name: "e", persistentVolumeClaim: { claimName: "web-d" } },
        ],
      },
    },
    mistakes: [
      "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value",
      `spec.volumes[1].ephemeral.volumeClaimTemplate.metadata.annotations: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      `spec.volumes[1].ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      `spec.volumes[1].ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "c d": ${NOT_A_LABEL_VALUE}`,
      "spec.volumes[1].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
      "spec.volumes[1].ephemeral.volumeClaimTemplate.metadata.finalizers: Forbidden: cannot be set",
      "spec.volumes[1].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required",
      "spec.volumes[1].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
      'spec.volumes[2].ephemeral.volumeClaimTemplate.spec.selector.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator',
      'spec.volumes[2].ephemeral.volumeClaimTemplate.spec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      "spec.volumes[2].ephemeral.volumeClaimTemplate.spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
      'spec.volumes[2].ephemeral.volumeClaimTemplate.spec.resources[storage]: Invalid value: "-1": must be greater than zero',
      `spec.volumes[2].ephemeral.volumeClaimTemplate.spec.storageClassName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      'spec.volumes[2].ephemeral.volumeClaimTemplate.spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem"',
      "spec.volumes[2].ephemeral.volumeClaimTemplate.spec.dataSource.name: Required value",
      "spec.volumes[2].ephemeral.volumeClaimTemplate.spec.dataSource: Invalid value: \"X\": must be 'PersistentVolumeClaim' when referencing the default apiGroup",
      "spec.volumes[2].ephemeral.volumeClaimTemplate.spec: Invalid value: {}: must match dataSourceRef",
      `spec.volumes[2].ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      `spec.volumes[3].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace: Invalid value: "N": ${NOT_A_LABEL}`,
      "spec.volumes[3].ephemeral.volumeClaimTemplate.spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is specified",
      'spec.volumes[4].persistentVolumeClaim.claimName: Invalid value: "web-d": must not reference a PVC that gets created for an ephemeral volume',
    ],
  },
  {
    title: "each source of a volume after the first is rejected",
    given: {
      spec: {
        volumes: [
          {
            name: "v",
            emptyDir: {},
            awsElasticBlockStore: { volumeID: "v" },
            azureDisk: { diskName: "d", diskURI: "u" },
            azureFile: { secretName: "s", shareName: "s" },
            cinder: { volumeID: "v" },
            configMap: { name: "c" },
            csi: { driver: "d" },
            ephemeral: { volumeClaimTemplate: { spec: {} } },
            fc: {},
            flexVolume: { driver: "d" },
            flocker: {},
            gcePersistentDisk: { pdName: "p" },
            gitRepo: { repository: "r" },
            glusterfs: { endpoints: "e", path: "p" },
            image: { reference: "r" },
            iscsi: { targetPortal: "p", iqn: "i", lun: 0 },
            nfs: { server: "s", path: "/" },
            persistentVolumeClaim: { claimName: "c" },
            photonPersistentDisk: { pdID: "p" },
            portworxVolume: { volumeID: "v" },
            projected: { sources: [] },
            quobyte: { registry: "r", volume: "v" },
            rbd: { monitors: [], image: "i" },
            scaleIO: { gateway: "g", system: "s", secretRef: null },
            secret: { secretName: "s" },
            storageos: {},
            vsphereVolume: { volumePath: "p" },
          },
        ],
      },
    },
    mistakes: [
      "spec.volumes[0].gitRepo: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].gcePersistentDisk: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].awsElasticBlockStore: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].nfs: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].iscsi: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].glusterfs: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].flocker: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].persistentVolumeClaim: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].rbd: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].cinder: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].quobyte: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].fc: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].flexVolume: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].azureFile: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].vsphereVolume: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].photonPersistentDisk: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].portworxVolume: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].azureDisk: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].storageos: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].projected: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].scaleIO: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].csi: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].ephemeral: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[0].image: Forbidden: may not specify more than 1 volume type",
    ],
  },
  {
    title: "a downwardAPI item requires a field and a path",
    given: {
      spec: {
        volumes: [
          {
            name: "d",
            downwardAPI: {
              items: [
                { path: "/a", fieldRef: { fieldPath: "metadata.labels['a b']" } },
                { path: "..a", fieldRef: { fieldPath: "metadata.name['a']" } },
                { path: "b", fieldRef: { fieldPath: "metadata.annotations['-A']" } },
              ],
            },
          },
          {
            name: "p",
            projected: {
              sources: [
                {
                  downwardAPI: {
                    items: [
                      { path: "a" },
                      {
                        path: "b",
                        fieldRef: { fieldPath: "metadata.name" },
                        resourceFieldRef: { containerName: "web", resource: "limits.cpu" },
                      },
                    ],
                  },
                },
              ],
            },
          },
        ],
      },
    },
    mistakes: [
      'spec.volumes[0].downwardAPI.path: Invalid value: "/a": must be a relative path',
      `spec.volumes[0].downwardAPI.fieldRef: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      "spec.volumes[0].downwardAPI.path: Invalid value: \"..a\": must not start with '..'",
      "spec.volumes[0].downwardAPI.fieldRef.fieldPath: Invalid value: \"metadata.name['a']\": error converting fieldPath: field label does not support subscript: metadata.name['a']",
      `spec.volumes[0].downwardAPI.fieldRef: Invalid value: "-a": ${NOT_A_QUALIFIED_NAME}`,
      "spec.volumes[1].projected.sources[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
      'spec.volumes[1].projected.sources[0].downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
    ],
  },
  {
    title: "gitRepo directory, iSCSI initiator name and storage names must be valid",
    given: {
      spec: {
        volumes: [
          { name: "g", gitRepo: { repository: "r", directory: "/a" } },
          { name: "i", iscsi: { targetPortal: "p", iqn: "iqn.2001-04.com.example:a", lun: 0, initiatorName: "odd" } },
          { name: "s", storageos: { volumeName: "A_" } },
          { name: "m", image: { reference: "r", pullPolicy: "" } },
        ],
      },
    },
    mistakes: [
      'spec.volumes[0].gitRepo.directory: Invalid value: "/a": must be a relative path',
      'spec.volumes[1].iscsi.initiatorname: Invalid value: "odd": must be valid format starting with iqn, eui, or naa',
      `spec.volumes[2].storageos.volumeName: Invalid value: "A_": ${NOT_A_LABEL}`,
    ],
  },
  {
    title: "the generated claim name of an ephemeral volume is limited in length",
    given: {
      metadata: { name: `${"w".repeat(201)}` },
      spec: {
        volumes: [
          {
            name: `${"v".repeat(60)}`,
            ephemeral: { volumeClaimTemplate: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } } } },
          },
        ],
      },
    },
    mistakes: [
      `spec.volumes[0].name: Invalid value: "${"v".repeat(60)}": PVC name "${"w".repeat(201)}-${"v".repeat(60)}": must be no more than 253 characters`,
    ],
  },
];

for (const { title, given, mistakes } of ROWS) {
  test(title, () => {
    assert.deepEqual(mistakesOf(given), mistakes);
  });
}
