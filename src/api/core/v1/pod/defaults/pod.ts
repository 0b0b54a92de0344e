/**
 * Defaults of a Pod and of a Pod template: applied after decoding and again after admission. A template gets fewer than a Pod, since those
 * of Pods alone can be set when the Pod is created: upstream adds new defaults to Pods alone, so that the templates of running workloads do
 * not change.
 *
 * This file also has upstream's conversions between its versions of a Pod: aliases of one field are kept equal (serviceAccount, podIP),
 * legacy annotations are removed, and fields of disabled feature gates are dropped. Not here: what admission sets (tolerations, priority,
 * the service account), and topology (the scheduler).
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

/** Legacy annotations of init containers. Unused, so they are dropped. */
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

/** Defaults that Pods and templates share. */
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

/** Upstream once accepted these; they mean "as soon as possible". */
function isNegative(seconds: number | undefined): boolean {
  return seconds !== undefined && seconds < 0;
}

/** With hostNetwork every port of a container is one of the node. */
function onHostNetwork(container: Container): Container {
  const withRequests = requestsFromLimits(container);
  return withChanges(withRequests, { ports: changedItems(container.ports, samePortOnHost) });
}

function samePortOnHost(port: ContainerPort): ContainerPort {
  return port.hostPort ? port : withChanges(port, { hostPort: port.containerPort });
}

/** Gang scheduling is behind a feature gate that is off upstream. */
function withoutClosedFields(spec: PodSpec): PodSpec {
  if (spec.schedulingGroup === undefined) return spec;
  const { schedulingGroup: _, ...kept } = spec;
  return kept;
}

/** `podIP` is the first of `podIPs`; a client that knows only `podIP` may have changed it, so it wins. */
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
