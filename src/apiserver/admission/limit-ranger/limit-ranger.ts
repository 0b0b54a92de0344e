/**
 * Sets missing requests and limits of containers to the defaults of the namespace's LimitRanges, then rejects containers, Pods and claims
 * outside their minimum and maximum. Equivalent to upstream's plugin of this name: Pods on create and resize, claims also on update, and
 * never objects that are being deleted.
 */
import { persistentVolumeClaims } from "../../../api/core/v1/persistent-volume-claim.ts";
import { pods } from "../../../api/core/v1/pod.ts";
import type { Container, LimitRange, Pod } from "../../../api/generated/core/v1.ts";
import { filledFrom } from "../../../api/core/v1/pod/defaults/resources.ts";
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf, isUpdateOf, refused, type CreateOf, type UpdateOf } from "../../shared/admission-request.ts";
import { ByNamespace } from "../../shared/by-namespace.ts";
import { claimViolations, podViolations } from "./constraints.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";

const LIMIT_RANGES = { group: "", plural: "limitranges" };

/** Annotation that lists the defaults that were set. */
const ANNOTATION = "kubernetes.io/limit-ranger";

export function limitRanger({ objects }: Pick<AdmissionDependencies, "objects">): AdmissionPlugin {
  const ranges = new ByNamespace<LimitRange>();
  const rangesFor = (request: AdmissionRequest) => (isTerminating(request) ? [] : ranges.of(request.namespace));
  return {
    name: "LimitRanger",
    start: () => objects.follow(LIMIT_RANGES, ranges),

    mutate(request) {
      if (!isPodWrite(request)) return undefined;
      const { object: sent } = request;
      const pod = rangesFor(request).reduce(withDefaults, sent);
      return pod === sent ? undefined : pod;
    },

    validate(request) {
      for (const range of rangesFor(request)) {
        const sentences = violationsOf(range, request);
        if (sentences.length > 0) throw refused(request, joinedErrors(sentences));
      }
    },
  };
}

function isTerminating({ oldObject }: AdmissionRequest): boolean {
  return oldObject?.metadata.deletionTimestamp !== undefined;
}

function isPodWrite(request: AdmissionRequest): request is CreateOf<Pod> | UpdateOf<Pod> {
  return isCreateOf(request, pods) || isUpdateOf(request, pods, "resize");
}

function violationsOf(range: LimitRange, request: AdmissionRequest): readonly string[] {
  if (isPodWrite(request)) return podViolations(range, request.object);
  const isClaimWrite = isCreateOf(request, persistentVolumeClaims) || isUpdateOf(request, persistentVolumeClaims);
  return isClaimWrite ? claimViolations(range, request.object) : [];
}

interface Filled {
  readonly container: Container;
  /** "cpu request for container c". */
  readonly notes: readonly string[];
}

/** Returns the same Pod if nothing is missing. */
export function withDefaults(pod: Pod, range: LimitRange): Pod {
  const { requests, limits } = defaultsOf(range);
  const fill = (title: string, containers: readonly Container[] = []) => containers.map((one) => filled(one, title, { requests, limits }));
  const containers = fill("container", pod.spec?.containers);
  const initContainers = fill("init container", pod.spec?.initContainers);
  const notes = [...containers, ...initContainers].flatMap((one) => one.notes);
  if (notes.length === 0) return pod;
  const annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}` };
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations },
    spec: {
      ...pod.spec,
      containers: containers.map(({ container }) => container),
      ...(initContainers.length === 0 ? {} : { initContainers: initContainers.map(({ container }) => container) }),
    },
  };
}

/** If several container limits name a resource, the last one wins. */
function defaultsOf({ spec }: LimitRange): { readonly requests: ResourceList; readonly limits: ResourceList } {
  const items = (spec?.limits ?? []).filter(({ type }) => type === "Container");
  return {
    requests: Object.fromEntries(items.flatMap(({ defaultRequest = {} }) => Object.entries(defaultRequest))),
    limits: Object.fromEntries(items.flatMap((item) => Object.entries(item.default ?? {}))),
  };
}

function filled(container: Container, title: string, defaults: { readonly requests: ResourceList; readonly limits: ResourceList }): Filled {
  const { resources } = container;
  const missing = { requests: missingIn(resources?.requests, defaults.requests), limits: missingIn(resources?.limits, defaults.limits) };
  const notes = [
    ...(missing.requests.length === 0 ? [] : [`${missing.requests.join(", ")} request for ${title} ${container.name}`]),
    ...(missing.limits.length === 0 ? [] : [`${missing.limits.join(", ")} limit for ${title} ${container.name}`]),
  ];
  if (notes.length === 0) return { container, notes };
  const requests = missing.requests.length === 0 ? {} : { requests: filledFrom(resources?.requests, defaults.requests) };
  const limits = missing.limits.length === 0 ? {} : { limits: filledFrom(resources?.limits, defaults.limits) };
  return { container: { ...container, resources: { ...resources, ...requests, ...limits } }, notes };
}

function missingIn(list: ResourceList = {}, defaults: ResourceList): readonly string[] {
  return Object.keys(defaults)
    .filter((name) => !Object.hasOwn(list, name))
    .toSorted();
}
