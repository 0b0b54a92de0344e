import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec, ServiceAccount } from "../../../api/generated/core/v1.ts";
import { forbiddenEphemeralReference, forbiddenReference } from "./secret-references.ts";

const ACCOUNT: ServiceAccount = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: "a" },
  secrets: [{ name: "own" }],
  imagePullSecrets: [{ name: "pull" }],
};

function variable(name: string, secret: string) {
  return { name: "c", env: [{ name, valueFrom: { secretKeyRef: { name: secret, key: "k" } } }] };
}

function variables(secret: string) {
  return { name: "c", envFrom: [{ secretRef: { name: secret } }] };
}

const NOT = "is not allowed because service account a does not reference that secret";

const ROWS: readonly (readonly [what: string, spec: Partial<PodSpec>, why: string | undefined])[] = [
  ["references no secret", {}, undefined],
  [
    "names what its account names",
    { containers: [variable("E", "own"), variables("own")], imagePullSecrets: [{ name: "pull" }] },
    undefined,
  ],
  ["mounts its account's", { volumes: [{ name: "v", secret: { secretName: "own" } }] }, undefined],
  ["mounts another secret", { volumes: [{ name: "v", secret: { secretName: "x" } }] }, `volume with secret.secretName="x" ${NOT}`],
  [
    "projects another secret, which upstream does not check",
    { volumes: [{ name: "v", projected: { sources: [{ secret: { name: "x" } }] } }] },
    undefined,
  ],
  [
    "has a variable from another secret",
    { containers: [variable("E", "x")] },
    `container c with envVar E referencing secret.secretName="x" ${NOT}`,
  ],
  [
    "has variables from another secret",
    { containers: [variables("x")] },
    `container c with envFrom referencing secret.secretName="x" ${NOT}`,
  ],
  [
    "has an init container with a variable from another secret",
    { initContainers: [variable("E", "x")] },
    `init container c with envVar E referencing secret.secretName="x" ${NOT}`,
  ],
  [
    "has an init container with variables from another secret",
    { initContainers: [variables("x")] },
    `init container c with envFrom referencing secret.secretName="x" ${NOT}`,
  ],
  [
    "pulls images with another secret",
    { imagePullSecrets: [{ name: "pull" }, { name: "own" }] },
    'imagePullSecrets[1].name="own" is not allowed because service account a does not reference that imagePullSecret',
  ],
];

for (const [what, spec, why] of ROWS) {
  test(`a pod that ${what} is ${why === undefined ? "admitted" : "rejected"} under enforced mountable secrets`, () => {
    assert.equal(forbiddenReference(ACCOUNT, { containers: [], ...spec }), why);
  });
}

for (const [what, container, why] of [
  ["of its account", variable("E", "own"), undefined],
  ["from another secret", variable("E", "x"), `ephemeral container c with envVar E referencing secret.secretName="x" ${NOT}`],
  ["all from another secret", variables("x"), `ephemeral container c with envFrom referencing secret.secretName="x" ${NOT}`],
] as const) {
  test(`an ephemeral container with variables ${what} is ${why === undefined ? "admitted" : "rejected"} under enforced mountable secrets`, () => {
    assert.equal(forbiddenEphemeralReference(ACCOUNT, { containers: [], ephemeralContainers: [container] }), why);
  });
}
