/** Pod templates with volumes of all kinds, with the hashes that upstream's ComputeHash (Kubernetes 1.36) returned for them. */
import { SELECTOR, withProjections, withVolume, type HashedTemplate } from "./hashed-template.ts";

export const VOLUME_HASHES: readonly HashedTemplate[] = [
  { has: "an emptyDir", hash: "6446577469", template: withVolume({ emptyDir: {} }) },
  { has: "an emptyDir in memory", hash: "995d44b79", template: withVolume({ emptyDir: { medium: "Memory", sizeLimit: "512Mi" } }) },
  { has: "hostPaths", hash: "7bc545f948", template: withVolume({ hostPath: { path: "/a", type: "" } }, { hostPath: { path: "/b" } }) },
  {
    has: "ConfigMaps and Secrets",
    hash: "f6f97f8fc",
    template: withVolume(
      { configMap: { name: "c", defaultMode: 420, items: [{ key: "k", path: "p", mode: 256 }] } },
      { secret: { secretName: "s", defaultMode: 420, optional: false } },
    ),
  },
  {
    has: "a downward API volume",
    hash: "848d968d4c",
    template: withVolume({
      downwardAPI: {
        defaultMode: 420,
        items: [
          { path: "labels", fieldRef: { apiVersion: "v1", fieldPath: "metadata.labels" } },
          { path: "cpu", resourceFieldRef: { containerName: "app", resource: "limits.cpu", divisor: "0" }, mode: 292 },
        ],
      },
    }),
  },
  {
    has: "projected tokens and trust bundles",
    hash: "6669c498d",
    template: withProjections(
      { serviceAccountToken: { path: "token", expirationSeconds: 3607, audience: "a" } },
      { clusterTrustBundle: { signerName: "example.com/s", labelSelector: SELECTOR, path: "ca.pem", optional: true } },
      { podCertificate: { signerName: "example.com/s", keyType: "ED25519", credentialBundlePath: "b.pem", maxExpirationSeconds: 3600 } },
    ),
  },
  {
    has: "projected objects",
    hash: "545c889596",
    template: withProjections(
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { secret: { name: "s" } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] } },
    ),
  },
  {
    has: "claims",
    hash: "546d9546c9",
    template: withVolume(
      { persistentVolumeClaim: { claimName: "c", readOnly: true } },
      {
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { labels: { a: "b" } },
            spec: {
              accessModes: ["ReadWriteOnce"],
              resources: { requests: { storage: "1Gi" } },
              storageClassName: "",
              volumeMode: "Filesystem",
              selector: SELECTOR,
              dataSourceRef: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s", namespace: "n" },
            },
          },
        },
      },
    ),
  },
  {
    has: "CSI and image volumes",
    hash: "7659bd5d4f",
    template: withVolume(
      { csi: { driver: "d", readOnly: false, fsType: "ext4", volumeAttributes: { b: "2", a: "1" }, nodePublishSecretRef: { name: "s" } } },
      { image: { reference: "registry.example/files:1", pullPolicy: "Always" } },
    ),
  },
  {
    has: "volumes of networks",
    hash: "79cff95d89",
    template: withVolume(
      { nfs: { server: "s", path: "/p", readOnly: true } },
      {
        iscsi: {
          targetPortal: "t",
          iqn: "i",
          lun: 1,
          iscsiInterface: "default",
          portals: ["p"],
          chapAuthSession: true,
          initiatorName: "n",
        },
      },
      { fc: { targetWWNs: ["w"], lun: 0, wwids: [], fsType: "xfs" } },
      { cephfs: { monitors: ["m"], path: "/", user: "admin", secretRef: { name: "s" } } },
      { rbd: { monitors: ["m"], image: "i", pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" } },
      { glusterfs: { endpoints: "e", path: "p" } },
      { flexVolume: { driver: "d", options: { a: "1" } } },
    ),
  },
  {
    has: "volumes of clouds",
    hash: "6bcc7546bb",
    template: withVolume(
      { awsElasticBlockStore: { volumeID: "v", fsType: "ext4", partition: 1 } },
      { gcePersistentDisk: { pdName: "p", readOnly: true } },
      { azureDisk: { diskName: "d", diskURI: "u", cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" } },
      { azureFile: { secretName: "s", shareName: "n" } },
      { cinder: { volumeID: "v" } },
      { vsphereVolume: { volumePath: "p", storagePolicyName: "n", storagePolicyID: "i" } },
      { photonPersistentDisk: { pdID: "p" } },
      { portworxVolume: { volumeID: "v" } },
    ),
  },
  {
    has: "volumes of the past",
    hash: "67ff9c9dc",
    template: withVolume(
      { gitRepo: { repository: "r", revision: "v", directory: "." } },
      { flocker: { datasetName: "n", datasetUUID: "u" } },
      { quobyte: { registry: "r", volume: "v", user: "u", group: "g", tenant: "t" } },
      { scaleIO: { gateway: "g", system: "s", secretRef: { name: "n" }, sslEnabled: true, storageMode: "ThinProvisioned", fsType: "xfs" } },
      { storageos: { volumeName: "v", volumeNamespace: "n" } },
    ),
  },
];
