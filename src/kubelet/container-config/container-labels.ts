/**
 * Labels and annotations of sandboxes and containers, with upstream's names and formats, which container tools know. A kubelet that
 * restarts, or a person who inspects the runtime, identifies containers by them.
 */
import { fnv1a32 } from "../../base/crypto/fnv-1a.ts";
import { encodeUtf8 } from "../../base/utf8.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { AnyContainer } from "../../api/core/v1/pod/containers.ts";

type Texts = Readonly<Record<string, string>>;

export const POD_NAME_LABEL = "io.kubernetes.pod.name";
export const POD_NAMESPACE_LABEL = "io.kubernetes.pod.namespace";
export const POD_UID_LABEL = "io.kubernetes.pod.uid";
export const CONTAINER_NAME_LABEL = "io.kubernetes.container.name";

export const CONTAINER_HASH_ANNOTATION = "io.kubernetes.container.hash";
export const RESTART_COUNT_ANNOTATION = "io.kubernetes.container.restartCount";
export const TERMINATION_PATH_ANNOTATION = "io.kubernetes.container.terminationMessagePath";
export const TERMINATION_POLICY_ANNOTATION = "io.kubernetes.container.terminationMessagePolicy";
export const PRE_STOP_ANNOTATION = "io.kubernetes.container.preStopHandler";
export const PORTS_ANNOTATION = "io.kubernetes.container.ports";
export const DELETION_GRACE_ANNOTATION = "io.kubernetes.pod.deletionGracePeriod";
export const TERMINATION_GRACE_ANNOTATION = "io.kubernetes.pod.terminationGracePeriod";

export function sandboxLabels(pod: Pod): Texts {
  return { ...pod.metadata.labels, ...podLabels(pod) };
}

export function containerLabels(pod: Pod, { name }: AnyContainer): Texts {
  return { ...podLabels(pod), [CONTAINER_NAME_LABEL]: name };
}

function podLabels({ metadata: { name, namespace = "", uid = "" } }: Pod): Texts {
  return { [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid };
}

export function containerAnnotations({ metadata, spec }: Pod, container: AnyContainer, attempt: number): Texts {
  const { terminationMessagePath = "", terminationMessagePolicy = "", lifecycle, ports = [] } = container;
  const { deletionGracePeriodSeconds: deletionGrace } = metadata;
  const terminationGrace = spec?.terminationGracePeriodSeconds;
  return {
    [CONTAINER_HASH_ANNOTATION]: containerHash(container),
    [RESTART_COUNT_ANNOTATION]: String(attempt),
    [TERMINATION_PATH_ANNOTATION]: terminationMessagePath,
    [TERMINATION_POLICY_ANNOTATION]: terminationMessagePolicy,
    ...(deletionGrace === undefined ? {} : { [DELETION_GRACE_ANNOTATION]: String(deletionGrace) }),
    ...(terminationGrace === undefined ? {} : { [TERMINATION_GRACE_ANNOTATION]: String(terminationGrace) }),
    ...(lifecycle?.preStop === undefined ? {} : { [PRE_STOP_ANNOTATION]: JSON.stringify(lifecycle.preStop) }),
    ...(ports.length === 0 ? {} : { [PORTS_ANNOTATION]: JSON.stringify(ports) }),
  };
}

/**
 * Hash of the fields whose change replaces a running container: its image. Equal to upstream's, which hashes a debugging dump of the bytes,
 * so that containers of an upstream kubelet are recognized.
 */
export function containerHash({ name, image = "" }: AnyContainer): string {
  const bytes = encodeUtf8(JSON.stringify({ image, name }));
  return fnv1a32(`([]uint8)[${[...bytes].join(" ")}]`).toString(16);
}
