/**
 * Copies overhead and scheduling constraints of its RuntimeClass to a pod. Equivalent to upstream's plugin of this name: on create only, so
 * that later changes of the class change no pod. Overhead can be set by the class only.
 */
import { pods } from "../../../api/core/v1/pod.ts";
import type { Pod, PodSpec } from "../../../api/generated/core/v1.ts";
import type { RuntimeClass } from "../../../api/generated/node.k8s.io/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { compareQuantities, parseQuantity } from "../../../api/machinery/quantity.ts";
import { StatusError } from "../../../api/machinery/status-error.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf, refused, type CreateOf } from "../../shared/admission-request.ts";
import { mergeTolerations } from "./merge-tolerations.ts";

const RUNTIME_CLASSES = { group: "node.k8s.io", plural: "runtimeclasses" };

type Amounts = NonNullable<PodSpec["overhead"]>;

export function runtimeClass({ objects }: Pick<AdmissionDependencies, "objects">): AdmissionPlugin {
  /** Cache first; where the cache may lag, the store decides. */
  async function classOf(request: AdmissionRequest, name: string): Promise<RuntimeClass> {
    // Upstream's client fails so before it sends a request.
    if (name === "") throw new StatusError("Unknown", "resource name may not be empty");
    const place = { namespace: "", name };
    const found = objects.cached<RuntimeClass>(RUNTIME_CLASSES, place) ?? (await objects.getExact<RuntimeClass>(RUNTIME_CLASSES, place));
    if (found === undefined) throw refused(request, `pod rejected: RuntimeClass ${quoteGo(name)} not found`);
    return found;
  }

  return {
    name: "RuntimeClass",

    start: () => objects.load(RUNTIME_CLASSES),

    mutate(request) {
      if (!isCreateOf(request, pods)) return undefined;
      const name = classNameOf(request);
      return name === undefined ? undefined : classOf(request, name).then((found) => withClass(request, found));
    },

    validate(request) {
      if (!isCreateOf(request, pods)) return;
      const name = classNameOf(request);
      if (name === undefined) return checkOverhead(request, undefined);
      return classOf(request, name).then((found) => checkOverhead(request, found));
    },
  };
}

function specOf({ object }: CreateOf<Pod>): Partial<PodSpec> {
  return object.spec ?? {};
}

function classNameOf(request: CreateOf<Pod>): string | undefined {
  return specOf(request).runtimeClassName;
}

function withClass(request: CreateOf<Pod>, { overhead, scheduling }: RuntimeClass): KubeObject {
  const spec = specOf(request);
  const ofOverhead = overhead === undefined ? {} : overheadOf(request, spec, overhead.podFixed);
  const ofScheduling =
    scheduling === undefined
      ? {}
      : { ...selectorOf(request, spec, scheduling.nodeSelector), ...tolerationsOf(spec, scheduling.tolerations) };
  return { ...request.object, spec: { ...spec, ...ofOverhead, ...ofScheduling } } as KubeObject;
}

function overheadOf(request: AdmissionRequest, { overhead = {} }: Partial<PodSpec>, podFixed: Amounts = {}): Partial<PodSpec> {
  if (Object.keys(overhead).length > 0 && !areSame(overhead, podFixed)) throw otherOverhead(request);
  return Object.keys(podFixed).length === 0 ? {} : { overhead: podFixed };
}

/** Validated after all mutating plugins, which may have changed the values of the class. */
function checkOverhead(request: CreateOf<Pod>, found: RuntimeClass | undefined): void {
  const { overhead } = specOf(request);
  if (found?.overhead === undefined) {
    if (overhead === undefined) return;
    throw refused(request, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  if (!areSame(overhead ?? {}, found.overhead.podFixed ?? {})) throw otherOverhead(request);
}

function otherOverhead(request: AdmissionRequest): StatusError {
  return refused(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

/** Compared as quantities: 1000m equals 1. */
function areSame(a: Amounts, b: Amounts): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(
    (name) => Object.hasOwn(b, name) && compareQuantities(parseQuantity(a[name] as string), parseQuantity(b[name] as string)) === 0,
  );
}

function selectorOf(
  request: AdmissionRequest,
  { nodeSelector: own = {} }: Partial<PodSpec>,
  ofClass: Readonly<Record<string, string>> = {},
): Partial<PodSpec> {
  for (const [key, value] of Object.entries(ofClass)) {
    if (!Object.hasOwn(own, key) || own[key] === value) continue;
    throw refused(
      request,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`,
    );
  }
  return Object.keys(ofClass).length === 0 ? {} : { nodeSelector: { ...own, ...ofClass } };
}

function tolerationsOf({ tolerations: own = [] }: Partial<PodSpec>, ofClass: PodSpec["tolerations"] = []): Partial<PodSpec> {
  const tolerations = mergeTolerations(own, ofClass);
  return tolerations.length === 0 ? {} : { tolerations };
}
