import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolumeClaimSpec } from "../api/generated/core/v1.ts";
import { volumeRequest } from "./volume-request.ts";

function decided(spec: PersistentVolumeClaimSpec, parameters: Readonly<Record<string, string>> = {}) {
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", namespace: "default" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  } as const;
  return volumeRequest(claim, { parameters });
}

const GIBIBYTE = 2 ** 30;

test("a claim gets a directory, with quota an image of whole blocks, and with volumeMode Block one without a file system", () => {
  const rows = [
    [decided({}), { is: "directory" }],
    [decided({}, { quota: "false" }), { is: "directory" }],
    [decided({ accessModes: ["ReadWriteOncePod"] }), { is: "directory" }],
    [decided({}, { quota: "true" }), { is: "image", sizeBytes: GIBIBYTE, fsType: "ext4" }],
    [decided({}, { quota: "true", fsType: "xfs" }), { is: "image", sizeBytes: GIBIBYTE, fsType: "xfs" }],
    [decided({ volumeMode: "Block" }, { quota: "true" }), { is: "image", sizeBytes: GIBIBYTE }],
    [
      decided({ resources: { requests: { storage: "10000001" } } }, { quota: "true" }),
      { is: "image", sizeBytes: 10_002_432, fsType: "ext4" },
    ],
  ] as const;
  for (const [request, storage] of rows) assert.deepEqual(request, { is: "accepted", storage });
});

test("a claim that a volume on a node cannot serve is refused with the reason", () => {
  const rows: readonly (readonly [ReturnType<typeof decided>, RegExp])[] = [
    [decided({ accessModes: ["ReadWriteMany"] }), /^access mode ReadWriteMany is not supported/],
    [decided({ accessModes: ["ReadWriteOnce", "ReadOnlyMany"] }), /^access mode ReadOnlyMany is not supported/],
    [decided({ selector: {} }), /^claim.spec.selector is not supported/],
    [decided({ dataSource: { kind: "PersistentVolumeClaim", name: "other" } }), /^a data source is not supported/],
    [decided({ volumeAttributesClassName: "gold" }), /^a VolumeAttributesClass is not supported/],
    [decided({ volumeMode: "Block" }), /^volumeMode Block needs a StorageClass with the parameter quota/],
    [decided({}, { nodePath: "/data" }), /^unknown parameter "nodePath"/],
    [decided({}, { quota: "yes" }), /^parameter quota must be/],
    [decided({}, { quota: "true", fsType: "btrfs" }), /^parameter fsType must be/],
    [decided({}, { fsType: "ext4" }), /^parameter fsType needs quota/],
    [
      decided({ resources: { requests: { storage: "100Mi" } } }, { quota: "true", fsType: "xfs" }),
      /^100Mi is too small: xfs needs at least 300Mi/,
    ],
    [decided({ resources: { requests: { storage: "8E" } } }, { quota: "true" }), /^a volume of 8E is not possible/],
  ];
  for (const [request, reason] of rows) {
    assert(request.is === "refused");
    assert.match(request.reason, reason);
  }
});
