/**
 * What Deployment and ReplicaSet have in common: a selector that finds their Pods by labels, a template for new ones, a number of them.
 * The template must make Pods that the selector finds, or the controller would make more and more of them.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { PodTemplateSpec } from "../../generated/core/v1.ts";
import type { LabelSelector } from "../../generated/meta/v1.ts";
import { containerCells, textColumn } from "../../machinery/columns.ts";
import { child, forbidden, immutable, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { SelectorError } from "../../machinery/label-requirement.ts";
import {
  labelSelectorFromObject,
  validateLabelSelectorObject,
  type LabelSelector as CompiledSelector,
} from "../../machinery/label-selector.ts";
import { validateDnsLabel } from "../../machinery/names.ts";
import type { KubeObject } from "../../machinery/object.ts";
import type { Column, Subresource } from "../../machinery/resource.ts";
import { validatePodTemplateSpec } from "../../core/v1/pod/validate-template.ts";

export interface Workload extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template?: PodTemplateSpec;
  };
  readonly status?: { readonly replicas?: number };
}

/** Of one ReplicaSet or Deployment, and what stood there before. */
export function* validateSelectorAndTemplate(spec: NonNullable<Workload["spec"]>, previous?: Workload["spec"]): Iterable<FieldError> {
  // The type says that there is one; a client may have left it out.
  const selector: LabelSelector | undefined = spec.selector;
  if (selector === undefined) yield required("spec.selector");
  else {
    yield* validateLabelSelectorObject(selector, "spec.selector");
    // Upstream says "deployment" of a ReplicaSet too.
    if (isEmpty(selector)) yield invalid("spec.selector", selector, "empty selector is invalid for deployment");
  }
  const compiled = compile(selector);
  if (compiled === undefined) yield invalid("spec.selector", selector, "invalid label selector");
  else yield* validateTemplate(spec.template ?? EMPTY_TEMPLATE, compiled, previous?.template);
}

const EMPTY_TEMPLATE: PodTemplateSpec = { spec: { containers: [] } };

function* validateTemplate(template: PodTemplateSpec, selector: CompiledSelector, previous?: PodTemplateSpec): Iterable<FieldError> {
  const at = "spec.template";
  const labels = template.metadata?.labels;
  if (!selector.matches(labels)) yield invalid(child(at, "metadata.labels"), labels, "`selector` does not match template `labels`");
  yield* validatePodTemplateSpec(template, at, previous);
  const { restartPolicy, activeDeadlineSeconds } = template.spec ?? {};
  if (restartPolicy !== "Always") yield notSupported(child(at, "spec.restartPolicy"), restartPolicy ?? "", ["Always"]);
  if (activeDeadlineSeconds !== undefined) {
    yield forbidden(child(at, "spec.activeDeadlineSeconds"), "activeDeadlineSeconds in ReplicaSet is not Supported");
  }
}

/** A changed selector would leave the running Pods without an owner. */
export function* validateSameSelector(next: Workload, previous: Workload): Iterable<FieldError> {
  const selector = next.spec?.selector;
  if (!deepEqual(selector, previous.spec?.selector)) yield immutable("spec.selector", selector);
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** Undefined if the selector makes no sense. */
function compile(selector: LabelSelector | undefined): CompiledSelector | undefined {
  try {
    return labelSelectorFromObject(selector);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** A name that is too long for, or not possible in, the host names of the Pods is allowed, but seldom meant. */
export function* nameWarnings(name: string): Iterable<string> {
  const wrong = validateDnsLabel(name);
  if (wrong.length === 0) return;
  const advice = "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended";
  yield `metadata.name: ${advice}: [${wrong.join(" ")}]`;
}

/** The subresource through which autoscalers and `kubectl scale` set the number, knowing nothing else of the kind. */
export function scaleSubresource<T extends Workload>(): Subresource<T> {
  return {
    of: "scale",
    verbs: ["get", "patch", "update"],
    replicasPath: ["spec", "replicas"],
    read: ({ spec, status }) => ({
      specReplicas: spec?.replicas ?? 0,
      statusReplicas: status?.replicas ?? 0,
      selector: compile(spec?.selector)?.toString() ?? "",
    }),
    write: (object, replicas) => (object.spec?.replicas === replicas ? object : { ...object, spec: { ...object.spec, replicas } }),
  };
}

/** Shown with `-o wide`. The text of the selector differs between the kinds where there is none. */
export function workloadWideColumns<T extends Workload>(
  selectorText: (selector: LabelSelector | undefined) => string,
): readonly Column<T>[] {
  const wide = { priority: 1 } as const;
  return [
    textColumn("Containers", "Names of the containers of the template", ({ spec }) => cells(spec).names, wide),
    textColumn("Images", "Images of the containers of the template", ({ spec }) => cells(spec).images, wide),
    textColumn("Selector", "Which Pods are counted", ({ spec }) => selectorText(spec?.selector), wide),
  ];
}

function cells(spec: Workload["spec"]): ReturnType<typeof containerCells> {
  return containerCells(spec?.template?.spec?.containers);
}

/** The selector as one reads it; `<invalid>` where it makes no sense. */
export function plainSelectorText(selector: LabelSelector | undefined): string {
  return compile(selector)?.toString() ?? "<invalid>";
}
