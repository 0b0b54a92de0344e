/**
 * Labels and annotations of sandboxes and containers, from which a kubelet without state recovers everything: upstream's by their names,
 * and three of our own. The owner label separates two clusters on one runtime: every list is filtered by it.
 */
import type { Container, EphemeralContainer, Pod } from "../../../api/generated/core/v1.ts";
import { fnv1a32 } from "../../../base/crypto/fnv-1a.ts";
import type { TerminationMessage } from "../../contracts/container-run.ts";

export const POD_NAME = "io.kubernetes.pod.name";
export const POD_NAMESPACE = "io.kubernetes.pod.namespace";
export const POD_UID = "io.kubernetes.pod.uid";
export const CONTAINER_NAME = "io.kubernetes.container.name";

/** The owner: a node of a cluster. */
export const OWNER = "k8ts.io/node";
/** On containers: the image name of the Pod spec, which runtimes replace. */
export const WANTED_IMAGE = "k8ts.io/image";
/** On sandboxes: the CRI does not return it, and it is removed with the sandbox. */
export const LOG_DIRECTORY = "k8ts.io/log-directory";

const HASH = "io.kubernetes.container.hash";
const RESTART_COUNT = "io.kubernetes.container.restartCount";
export const TERMINATION_MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath";
export const TERMINATION_MESSAGE_POLICY = "io.kubernetes.container.terminationMessagePolicy";
const POD_DELETION_GRACE = "io.kubernetes.pod.deletionGracePeriod";
const POD_GRACE = "io.kubernetes.pod.terminationGracePeriod";
const PRE_STOP = "io.kubernetes.container.preStopHandler";
const PORTS = "io.kubernetes.container.ports";

/** The API's default. */
const TERMINATION_MESSAGE_PATH_DEFAULT = "/dev/termination-log";

type Texts = Readonly<Record<string, string>>;

export function podLabels({ metadata }: Pod, owner: string, own: Texts): Texts {
  const { name, namespace = "", uid = "" } = metadata;
  return { ...own, [POD_NAME]: name, [POD_NAMESPACE]: namespace, [POD_UID]: uid, [OWNER]: owner };
}

export function containerLabels(pod: Pod, container: { readonly name: string }, owner: string, own: Texts): Texts {
  return { ...podLabels(pod, owner, own), [CONTAINER_NAME]: container.name };
}

export function containerAnnotations(pod: Pod, container: Container | EphemeralContainer, { attempt, own, termination }: Noted): Texts {
  const { deletionGracePeriodSeconds: deletionGrace } = pod.metadata;
  const grace = pod.spec?.terminationGracePeriodSeconds;
  const { lifecycle, ports = [] } = container;
  return {
    ...own,
    // Upstream hashes a dump of its Go types, so the value is our own.
    [HASH]: fnv1a32(`${container.name}\n${container.image ?? ""}`).toString(16),
    [WANTED_IMAGE]: container.image ?? "",
    [RESTART_COUNT]: String(attempt),
    [TERMINATION_MESSAGE_PATH]: terminationPathOf(container),
    [TERMINATION_MESSAGE_POLICY]: termination?.fallsBackToLogs === true ? "FallbackToLogsOnError" : "File",
    ...(deletionGrace === undefined ? {} : { [POD_DELETION_GRACE]: String(deletionGrace) }),
    ...(grace === undefined ? {} : { [POD_GRACE]: String(grace) }),
    ...(lifecycle?.preStop === undefined ? {} : { [PRE_STOP]: JSON.stringify(lifecycle.preStop) }),
    ...(ports.length === 0 ? {} : { [PORTS]: JSON.stringify(ports) }),
  };
}

interface Noted {
  readonly attempt: number;
  readonly own: Texts;
  readonly termination: TerminationMessage | undefined;
}

export function terminationPathOf({ terminationMessagePath = "" }: Container | EphemeralContainer): string {
  return terminationMessagePath === "" ? TERMINATION_MESSAGE_PATH_DEFAULT : terminationMessagePath;
}
