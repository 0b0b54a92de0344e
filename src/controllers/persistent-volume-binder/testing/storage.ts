/** Volumes, claims and classes for tests of the binder. */
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeSpec,
} from "../../../api/generated/core/v1.ts";
import type { StorageClass } from "../../../api/generated/storage.k8s.io/v1.ts";

interface Facts {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly uid?: string;
}

export interface VolumeFacts extends Facts, Partial<PersistentVolumeSpec> {
  readonly size?: string;
  readonly phase?: NonNullable<PersistentVolume["status"]>["phase"];
}

export function aVolume(name: string, { annotations, labels, uid, size = "1Gi", phase, ...spec }: VolumeFacts = {}): PersistentVolume {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, ...defined({ annotations, labels, uid }) },
    spec: {
      capacity: { storage: size },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      hostPath: { path: "/data" },
      ...spec,
    },
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}

export interface ClaimFacts extends Facts, Partial<PersistentVolumeClaimSpec> {
  readonly size?: string;
  readonly phase?: NonNullable<PersistentVolumeClaim["status"]>["phase"];
}

/** In "default", of the class "", which opts out of the default class. */
export function aClaim(name: string, { annotations, labels, uid, size = "1Gi", phase, ...spec }: ClaimFacts = {}): PersistentVolumeClaim {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { namespace: "default", name, ...defined({ annotations, labels, uid }) },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: size } }, ...spec },
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}

export function aClass(name: string, facts: Partial<StorageClass> & { readonly isDefault?: true } = {}): StorageClass {
  const { isDefault, ...fields } = facts;
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name, ...(isDefault === true ? { annotations } : {}) },
    provisioner: "example.com/disks",
    volumeBindingMode: "Immediate",
    ...fields,
  };
}

/** A claim without a class: a default may be assigned. */
export function withoutClass(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { storageClassName: _class, ...spec } = claim.spec ?? {};
  return { ...claim, spec };
}

function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
