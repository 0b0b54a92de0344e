/**
 * The volume with API credentials of containers: a rotated token, the CA certificate of the API server, and the namespace. An existing
 * mount at the same path is kept, and an existing volume of this name is reused.
 */
import type { Container, PodSpec, Volume, VolumeMount } from "../../../api/generated/core/v1.ts";
import { changedItems, withChanges } from "../../../api/changes.ts";
import type { Random } from "../../../base/random.ts";
import { generateName } from "../../framework/storage/identifiers.ts";

const NAME_PREFIX = "kube-api-access-";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

/** 3607 s: upstream recognizes automatically added tokens by this value and extends their lifetime for clients that never reload them. */
const TOKEN_SECONDS = 3607;

/** Readable by everyone in the container. */
const DEFAULT_MODE = 0o644;

export function withToken(spec: PodSpec, random: Random): PodSpec {
  const { volumes = [] } = spec;
  const given = volumes.find(({ name }) => name.startsWith(NAME_PREFIX));
  const name = given?.name ?? generateName(NAME_PREFIX, random);
  const mount: VolumeMount = { name, readOnly: true, mountPath: MOUNT_PATH };
  const mounted = withChanges(spec, {
    initContainers: changedItems(spec.initContainers, (container) => withMount(container, mount)),
    containers: changedItems(spec.containers, (container) => withMount(container, mount)),
  });
  if (mounted === spec || given !== undefined) return mounted;
  return { ...mounted, volumes: [...volumes, tokenVolume(name)] };
}

function withMount(container: Container, mount: VolumeMount): Container {
  const { volumeMounts = [] } = container;
  if (volumeMounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) return container;
  return { ...container, volumeMounts: [...volumeMounts, mount] };
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        { downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] } },
      ],
      defaultMode: DEFAULT_MODE,
    },
  };
}
