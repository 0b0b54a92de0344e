/**
 * What a pod and a pod template are given that say nothing of their own, on their way in: after decoding and again after admission.
 * A template is given less than a pod, since what only a pod needs can be filled in when the pod is made: upstream adds new defaults
 * to pods alone, so that the templates of running workloads do not change under them.
 *
 * Here is also what upstream does between its versions of a pod: two names of one field are kept the same (serviceAccount, podIP),
 * annotations of long ago go, and fields whose gates upstream has closed are dropped unread.
 * Not here: what admission gives (tolerations, priority, the service account), and what the topology says (the scheduler).
 */
import type {
  Container,
  ContainerPort,
  EphemeralContainer,
  Pod,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
} from "../../../../generated/core/v1.ts";
import { changed, changedItems, withChanges } from "../../../../changes.ts";
import { defaultContainer } from "./container.ts";
import { defaultPodLevelResources, requestsFromLimits, roundedList, roundedRequirements } from "./resources.ts";
import { defaultVolume } from "./volume.ts";

const TERMINATION_GRACE_PERIOD_SECONDS = 30;
const DEFAULT_SCHEDULER = "default-scheduler";

/** Where init containers stood before they were a field. Nothing reads them, so they are not kept. */
const INIT_CONTAINER_ANNOTATIONS = [
  "pod.beta.kubernetes.io/init-containers",
  "pod.alpha.kubernetes.io/init-containers",
  "pod.beta.kubernetes.io/init-container-statuses",
  "pod.alpha.kubernetes.io/init-container-statuses",
];

export function defaultPod(pod: Pod): Pod {
  return withChanges(pod, {
    metadata: withoutInitContainerAnnotations(pod.metadata),
    spec: changed(pod.spec, (spec) => defaultPodSpec(defaultOfPodsOnly(spec))),
    status: changed(pod.status, withBothAddresses),
  });
}

export function defaultPodTemplate(template: PodTemplateSpec): PodTemplateSpec {
  return withChanges(template, {
    metadata: changed(template.metadata, withoutInitContainerAnnotations),
    spec: changed(template.spec, defaultPodSpec),
  });
}

/** What pods and templates have in common. */
export function defaultPodSpec(spec: PodSpec): PodSpec {
  const serviceAccountName = spec.serviceAccountName || spec.serviceAccount;
  return withChanges(withoutClosedFields(spec), {
    restartPolicy: spec.restartPolicy || "Always",
    dnsPolicy: spec.dnsPolicy || "ClusterFirst",
    schedulerName: spec.schedulerName || DEFAULT_SCHEDULER,
    securityContext: spec.securityContext ?? {},
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? TERMINATION_GRACE_PERIOD_SECONDS,
    serviceAccountName,
    serviceAccount: serviceAccountName,
    volumes: changedItems(spec.volumes, defaultVolume),
    containers: changedItems(spec.containers, defaultContainer),
    initContainers: changedItems(spec.initContainers, defaultContainer),
    ephemeralContainers: changedItems(spec.ephemeralContainers, defaultEphemeralContainer),
    overhead: changed(spec.overhead, roundedList),
    resources: changed(spec.resources, roundedRequirements),
  });
}

/** An ephemeral container is a container with one field more, which has no default. */
const defaultEphemeralContainer: (container: EphemeralContainer) => EphemeralContainer = defaultContainer;

function defaultOfPodsOnly(spec: PodSpec): PodSpec {
  const ofContainers = spec.hostNetwork === true ? onHostNetwork : requestsFromLimits;
  const filled = withChanges(spec, {
    enableServiceLinks: spec.enableServiceLinks ?? true,
    terminationGracePeriodSeconds: isNegative(spec.terminationGracePeriodSeconds) ? 1 : undefined,
    containers: changedItems(spec.containers, ofContainers),
    initContainers: changedItems(spec.initContainers, ofContainers),
  });
  return defaultPodLevelResources(filled);
}

/** Upstream once let these in; they mean "as soon as possible". */
function isNegative(seconds: number | undefined): boolean {
  return seconds !== undefined && seconds < 0;
}

/** On the node's own network every port of a container is one of the node. */
function onHostNetwork(container: Container): Container {
  const withRequests = requestsFromLimits(container);
  return withChanges(withRequests, { ports: changedItems(container.ports, samePortOnHost) });
}

function samePortOnHost(port: ContainerPort): ContainerPort {
  return port.hostPort ? port : withChanges(port, { hostPort: port.containerPort });
}

/** Scheduling in groups is behind a gate that upstream has closed. */
function withoutClosedFields(spec: PodSpec): PodSpec {
  if (spec.schedulingGroup === undefined) return spec;
  const { schedulingGroup: _, ...kept } = spec;
  return kept;
}

/** `podIP` is the first of `podIPs`; where a client that knows only the one has changed it, it counts. */
function withBothAddresses(status: PodStatus): PodStatus {
  const { podIP, podIPs } = status;
  const first = podIPs?.[0]?.ip;
  if (podIP === first || (!podIP && first === undefined)) return status;
  return podIP ? { ...status, podIPs: [{ ip: podIP }] } : withChanges(status, { podIP: first });
}

function withoutInitContainerAnnotations<Meta extends { readonly annotations?: Readonly<Record<string, string>> }>(metadata: Meta): Meta {
  const { annotations } = metadata;
  if (annotations === undefined || !INIT_CONTAINER_ANNOTATIONS.some((name) => Object.hasOwn(annotations, name))) return metadata;
  const kept = Object.entries(annotations).filter(([name]) => !INIT_CONTAINER_ANNOTATIONS.includes(name));
  return { ...metadata, annotations: Object.fromEntries(kept) };
}
