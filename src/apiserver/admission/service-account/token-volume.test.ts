import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../base/random.ts";
import type { Container, PodSpec, Volume } from "../../../api/generated/core/v1.ts";
import { withToken } from "./token-volume.ts";

const PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const EMPTY: Volume = { name: "own", emptyDir: {} };

function container(name: string, ...volumeMounts: Container["volumeMounts"] & object): Container {
  return { name, ...(volumeMounts.length === 0 ? {} : { volumeMounts }) };
}

function added(spec: PodSpec): PodSpec {
  return withToken(spec, seededRandom(1));
}

test("every container except ephemeral ones mounts the volume with token, CA certificate and namespace", () => {
  const ephemeralContainers = [{ name: "e" }];
  const spec = added({
    containers: [container("a"), container("b")],
    initContainers: [container("i")],
    ephemeralContainers,
    volumes: [EMPTY],
  });

  const [own, volume] = spec.volumes ?? [];
  assert.match(volume?.name ?? "", /^kube-api-access-[a-z0-9]{5}$/);
  const mount = { name: volume?.name, readOnly: true, mountPath: PATH };
  assert.deepEqual(spec, {
    containers: [
      { name: "a", volumeMounts: [mount] },
      { name: "b", volumeMounts: [mount] },
    ],
    initContainers: [{ name: "i", volumeMounts: [mount] }],
    ephemeralContainers,
    volumes: [EMPTY, volume],
  });
  assert.equal(own, EMPTY);
  assert.deepEqual(volume?.projected, {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] } },
    ],
  });
});

test("a container with a mount at the token path keeps it, and if all have one no volume is added", () => {
  const taken = container("a", { name: "own", mountPath: PATH });

  const some = added({ containers: [taken, container("b", { name: "own", mountPath: `${PATH}/more` })], volumes: [EMPTY] });
  const none = { containers: [taken], initContainers: [taken], volumes: [EMPTY] };

  assert.equal(some.containers[0], taken);
  assert.deepEqual(
    some.containers[1]?.volumeMounts?.map(({ mountPath }) => mountPath),
    [`${PATH}/more`, PATH],
  );
  assert.equal(some.volumes?.length, 2);
  assert.equal(added(none), none);
});

test("an existing token volume is reused, unless only its prefix matches", () => {
  const again: Volume = { name: "kube-api-access-mine", emptyDir: {} };

  const spec = added({ containers: [container("a")], volumes: [EMPTY, again] });
  const other = added({ containers: [container("a")], volumes: [{ name: "kube-api-access", emptyDir: {} }] });

  assert.deepEqual([spec.volumes, spec.containers[0]?.volumeMounts?.[0]?.name], [[EMPTY, again], again.name]);
  assert.equal(other.volumes?.length, 2);
});
