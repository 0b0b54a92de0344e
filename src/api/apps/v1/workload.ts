/**
 * Shared by workloads: a label selector of their Pods, a template for new ones, a number of replicas, a status that their controller
 * writes. The template must create Pods that the selector matches, or the controller would create Pods without end.
 */
import { deepEqual } from "../../../base/deep.ts";
import { withMembersOf } from "../../changes.ts";
import type { PodTemplateSpec } from "../../generated/core/v1.ts";
import type { LabelSelector } from "../../generated/meta/v1.ts";
import { containerCells, textColumn } from "../../machinery/columns.ts";
import { child, forbidden, immutable, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { SelectorError } from "../../machinery/selectors/label-requirement.ts";
import {
  labelSelectorFromObject,
  validateLabelSelectorObject,
  type LabelSelector as CompiledSelector,
} from "../../machinery/selectors/label-selector.ts";
import { validateDnsLabel } from "../../machinery/names.ts";
import type { KubeObject } from "../../machinery/object.ts";
import type { Column, Subresource } from "../../machinery/resource.ts";
import { validatePodTemplateSpec } from "../../core/v1/pod/validation/template.ts";

export interface Workload extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template?: PodTemplateSpec;
  };
  readonly status?: { readonly replicas?: number };
}

type Labels = Readonly<Record<string, string>>;

/** A workload, with or without replicas. */
type Selecting = KubeObject & { readonly spec?: { readonly selector?: LabelSelector; readonly template?: PodTemplateSpec } };

/** Validates a ReplicaSet or Deployment; `previous` on update. */
export function* validateSelectorAndTemplate(spec: NonNullable<Workload["spec"]>, previous?: Workload["spec"]): Iterable<FieldError> {
  // Required by the type; a client may have omitted it.
  const selector: LabelSelector | undefined = spec.selector;
  if (selector === undefined) yield required("spec.selector");
  else {
    yield* validateLabelSelectorObject(selector, "spec.selector");
    // Upstream's message says "deployment" for a ReplicaSet too.
    if (isEmptySelector(selector)) yield invalid("spec.selector", selector, "empty selector is invalid for deployment");
  }
  const compiled = compileSelector(selector);
  if (compiled === undefined) yield invalid("spec.selector", shownSelector(selector), "invalid label selector");
  else yield* validateTemplate(spec.template ?? EMPTY_TEMPLATE, compiled, previous?.template);
}

const EMPTY_TEMPLATE: PodTemplateSpec = { spec: { containers: [] } };

function* validateTemplate(template: PodTemplateSpec, selector: CompiledSelector, previous?: PodTemplateSpec): Iterable<FieldError> {
  const at = "spec.template";
  const labels = template.metadata?.labels;
  if (!selector.matches(labels)) yield labelsMissed(labels, at);
  yield* errorsOf((errors) => validatePodTemplateSpec(errors, template, at, previous));
  // Upstream's message says "ReplicaSet" for a Deployment too.
  yield* validateEndless(template, { at, kind: "ReplicaSet" });
}

export function labelsMissed(labels: Labels | undefined, at: string): FieldError {
  return invalid(child(at, "metadata.labels"), shownLabels(labels), "`selector` does not match template `labels`");
}

/** Sorted, as in upstream's messages. */
export function shownLabels(labels: Labels | undefined): Labels | undefined {
  return labels && Object.fromEntries(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Likewise, with the members in the order of upstream's types. */
export function shownSelector(selector: LabelSelector | undefined): unknown {
  return (
    selector && {
      matchLabels: shownLabels(selector.matchLabels),
      matchExpressions: selector.matchExpressions?.map(({ key, operator, values }) => ({ key, operator, values })),
    }
  );
}

/** Pods that exit would be replaced forever. */
export function* validateEndless(
  template: PodTemplateSpec,
  { at, kind }: { readonly at: string; readonly kind: string },
): Iterable<FieldError> {
  const { restartPolicy, activeDeadlineSeconds } = template.spec ?? {};
  if (restartPolicy !== "Always") yield notSupported(child(at, "spec.restartPolicy"), restartPolicy ?? "", ["Always"]);
  if (activeDeadlineSeconds !== undefined) {
    yield forbidden(child(at, "spec.activeDeadlineSeconds"), `activeDeadlineSeconds in ${kind} is not Supported`);
  }
}

/** A changed selector would orphan the running Pods. */
export function* validateSameSelector(next: Selecting, previous: Selecting): Iterable<FieldError> {
  const selector = next.spec?.selector;
  if (!deepEqual(selector, previous.spec?.selector)) yield immutable("spec.selector", shownSelector(selector));
}

export function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** Undefined if the selector is malformed. */
export function compileSelector(selector: LabelSelector | undefined): CompiledSelector | undefined {
  try {
    return labelSelectorFromObject(selector);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** A name that is too long or invalid for the Pods' host names is allowed, but probably a mistake. */
export function* nameWarnings(name: string): Iterable<string> {
  const wrong = validateDnsLabel(name);
  if (wrong.length === 0) return;
  const advice = "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended";
  yield `metadata.name: ${advice}: [${wrong.join(" ")}]`;
}

/** It is part of the names of created objects (ReplicaSets, revisions), and must never yield the same name again. */
export function* validateCollisionCount(next: number | undefined, previous: number | undefined): Iterable<FieldError> {
  if (previous === undefined || (next !== undefined && next >= previous)) return;
  yield invalid("status.collisionCount", next ?? 0, "cannot be decremented");
}

/** The status subresource of the controller. */
export function statusSubresource<T extends KubeObject & { readonly spec?: unknown }>(
  validateUpdate: (next: T, previous: T) => Iterable<FieldError>,
): Extract<Subresource<T>, { readonly of: "object" }> {
  return {
    of: "object",
    verbs: ["get", "patch", "update"],
    prepareForUpdate: (next, previous) => withMembersOf(next, previous, "spec"),
    validateUpdate,
  };
}

/** The scale subresource, with which autoscalers and `kubectl scale` set the replicas of any kind. */
export function scaleSubresource<T extends Workload>(): Subresource<T> {
  return {
    of: "scale",
    verbs: ["get", "patch", "update"],
    replicasPath: ["spec", "replicas"],
    read: ({ spec, status }) => ({
      specReplicas: spec?.replicas ?? 0,
      statusReplicas: status?.replicas ?? 0,
      selector: compileSelector(spec?.selector)?.toString() ?? "",
    }),
    write: (object, replicas) => (object.spec?.replicas === replicas ? object : { ...object, spec: { ...object.spec, replicas } }),
  };
}

/** Columns of `-o wide`. The text of an absent selector differs between the kinds. */
export function workloadWideColumns<T extends Selecting>(
  selectorText: (selector: LabelSelector | undefined) => string,
): readonly Column<T>[] {
  return [...containerColumns<T>(({ spec }) => spec?.template), selectorColumn<T>(({ spec }) => selectorText(spec?.selector))];
}

/** Path of the template in the kind. */
export function containerColumns<T extends KubeObject>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
  { priority = 1 }: { readonly priority?: 0 | 1 } = {},
): readonly Column<T>[] {
  const cells = (object: T) => containerCells(templateOf(object)?.spec?.containers);
  return [
    textColumn("Containers", "Names of the containers of the template", (object) => cells(object).names, { priority }),
    textColumn("Images", "Images of the containers of the template", (object) => cells(object).images, { priority }),
  ];
}

export function selectorColumn<T extends KubeObject>(text: (object: T) => string): Column<T> {
  return textColumn("Selector", "Pod selector", text, { priority: 1 });
}

/** The selector as text; `<invalid>` if malformed. */
export function plainSelectorText(selector: LabelSelector | undefined): string {
  return compileSelector(selector)?.toString() ?? "<invalid>";
}
