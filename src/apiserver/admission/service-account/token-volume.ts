/**
 * The volume in which containers find what they need to speak to this API: a token that is renewed, the authority that signed the server's
 * certificate, and the namespace. Whatever already stands where it would be mounted stays, and a volume of this name is used again.
 */
import type { Container, PodSpec, Volume, VolumeMount } from "../../../api/generated/core/v1.ts";
import { changedItems, withChanges } from "../../../api/changes.ts";
import type { Random } from "../../../base/random.ts";
import { generateName } from "../../framework/storage/identifiers.ts";

const NAME_PREFIX = "kube-api-access-";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

/** An hour and a little: by this number upstream knows tokens that were not asked for, and lets them live on for clients that never read them again. */
const TOKEN_SECONDS = 3607;

/** Readable by everybody in the container. */
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
