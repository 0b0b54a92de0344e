/** apps/v1 DaemonSet: one Pod of a template on every matching node. Not here: the controller (controllers/daemon-set). */
import { deepEqual } from "../../../base/deep.ts";
import { changed, withChanges, withMembersOf } from "../../changes.ts";
import { defaultPodTemplate } from "../../core/v1/pod/defaults/pod.ts";
import { validatePodTemplateSpec } from "../../core/v1/pod/validation/template.ts";
import { podTemplateWarnings } from "../../core/v1/pod/warnings/pod.ts";
import type {
  DaemonSet,
  DaemonSetSpec,
  DaemonSetStatus,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
} from "../../generated/apps/v1.ts";
import { ageColumn, formatLabels, nameColumn, textColumn } from "../../machinery/columns.ts";
import { child, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { warningsOf, errorsOf } from "../../machinery/findings.ts";
import { formatLabelSelector, validateLabelSelectorObject } from "../../machinery/selectors/label-selector.ts";
import { defineResource, type Column } from "../../machinery/resource.ts";
import { amountOf, validateAtMostAll, validateNumberOrPercent } from "../../number-or-percent.ts";
import { nonNegative } from "../../number-validation.ts";
import {
  isSameGeneration,
  withFirstGeneration,
  withGenerationOf,
  withNextGeneration,
  withReadableGeneration,
} from "./daemon-set-generation.ts";
import { shownStrategy } from "./deployment-strategy.ts";
import {
  compileSelector,
  isEmptySelector,
  labelsMissed,
  statusSubresource,
  validateCollisionCount,
  validateEndless,
  validateSameSelector,
  workloadWideColumns,
} from "./workload.ts";

const REVISION_HISTORY_LIMIT = 10;
const ROLLING_UPDATE = "RollingUpdate";
const ON_DELETE = "OnDelete";
const NO_STATUS: DaemonSetStatus = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };

const status = statusSubresource<DaemonSet>(validateStatus);

export const daemonSets = defineResource<DaemonSet>({
  kind: "DaemonSet",
  plural: "daemonsets",
  singular: "daemonset",
  shortNames: ["ds"],
  categories: ["all"],
  scope: "Namespaced",
  served: [{ group: "apps", version: "v1", schema: "io.k8s.api.apps.v1.DaemonSet", defaults: defaultDaemonSet }],

  prepareForCreate: (daemonSet) => ({ ...withFirstGeneration(daemonSet), status: NO_STATUS }),
  prepareForUpdate: (next, previous) => withNextGeneration(withMembersOf(next, previous, "status"), previous),
  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  *validate(daemonSet, previous) {
    if (previous !== undefined) yield* validateSameSelector(daemonSet, previous);
    if (daemonSet.spec !== undefined) yield* validateSpec(daemonSet.spec, previous?.spec);
  },
  *warnings(daemonSet, previous) {
    if (previous !== undefined && isSameGeneration(daemonSet, previous)) return;
    const template = daemonSet.spec?.template;
    if (template !== undefined) yield* warningsOf((warnings) => podTemplateWarnings(warnings, template, "spec.template"));
  },

  subresources: {
    status: {
      ...status,
      prepareForUpdate: (next, previous, write) => withGenerationOf(previous, status.prepareForUpdate(next, previous, write)),
    },
  },

  columns: [
    nameColumn,
    countColumn("Desired", "Desired number of nodes with a Pod", "desiredNumberScheduled"),
    countColumn("Current", "Number of nodes with a Pod, among those that should have one", "currentNumberScheduled"),
    countColumn("Ready", "Number of nodes with a ready Pod", "numberReady"),
    countColumn("Up-to-date", "Number of nodes with a Pod of the current template", "updatedNumberScheduled"),
    countColumn("Available", "Number of nodes with a Pod that is ready for at least minReadySeconds", "numberAvailable"),
    textColumn("Node Selector", "Node selector of the Pods", ({ spec }) => formatLabels(spec?.template?.spec?.nodeSelector)),
    ageColumn,
    ...workloadWideColumns<DaemonSet>(formatLabelSelector),
  ],
});

function countColumn(name: string, description: string, count: keyof Omit<DaemonSetStatus, "conditions">): Column<DaemonSet> {
  return textColumn<DaemonSet>(name, description, (daemonSet) => daemonSet.status?.[count] ?? 0, { type: "integer" });
}

function defaultDaemonSet(daemonSet: DaemonSet): DaemonSet {
  return withChanges(withReadableGeneration(daemonSet), { spec: changed(daemonSet.spec, defaultSpec) });
}

function defaultSpec(spec: DaemonSetSpec): DaemonSetSpec {
  return withChanges(spec, {
    updateStrategy: defaultUpdateStrategy(spec.updateStrategy ?? {}),
    revisionHistoryLimit: spec.revisionHistoryLimit ?? REVISION_HISTORY_LIMIT,
    template: changed(spec.template, defaultPodTemplate),
  });
}

function defaultUpdateStrategy(strategy: DaemonSetUpdateStrategy): DaemonSetUpdateStrategy {
  const type = strategy.type || ROLLING_UPDATE;
  if (type === ROLLING_UPDATE) return withChanges(strategy, { type, rollingUpdate: withSteps(strategy.rollingUpdate ?? {}, ONE_BY_ONE) });
  // Where they have no effect, omitted parameters are zero.
  return withChanges(strategy, { rollingUpdate: changed(strategy.rollingUpdate, (steps) => withSteps(steps, NO_STEPS)) });
}

const ONE_BY_ONE: RollingUpdateDaemonSet = { maxUnavailable: 1, maxSurge: 0 };
const NO_STEPS: RollingUpdateDaemonSet = { maxUnavailable: 0, maxSurge: 0 };

function withSteps(rollingUpdate: RollingUpdateDaemonSet, otherwise: RollingUpdateDaemonSet): RollingUpdateDaemonSet {
  const { maxUnavailable = otherwise.maxUnavailable, maxSurge = otherwise.maxSurge } = rollingUpdate;
  return withChanges(rollingUpdate, { maxUnavailable, maxSurge });
}

function* validateSpec(spec: DaemonSetSpec, previous?: DaemonSetSpec): Iterable<FieldError> {
  const { selector, template } = spec;
  yield* validateLabelSelectorObject(selector, "spec.selector");
  const labels = template.metadata?.labels;
  if (compileSelector(selector)?.matches(labels) === false) yield labelsMissed(labels, "spec.template");
  // Required by the type; a client may have omitted it, which selects nothing.
  if ((selector as unknown) !== undefined && isEmptySelector(selector)) {
    yield invalid("spec.selector", selector, "empty selector is invalid for daemonset");
  }
  yield* errorsOf((errors) => validatePodTemplateSpec(errors, template, "spec.template", previous?.template));
  yield* validateEndless(template, { at: "spec.template", kind: "DaemonSet" });
  yield* nonNegative(spec.minReadySeconds, "spec.minReadySeconds");
  yield* validateUpdateStrategy(spec.updateStrategy ?? {}, "spec.updateStrategy");
  yield* nonNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit");
}

function* validateUpdateStrategy({ type, rollingUpdate }: DaemonSetUpdateStrategy, at: string): Iterable<FieldError> {
  if (type === ON_DELETE) return;
  if (type !== ROLLING_UPDATE) yield notSupported(at, shownStrategy(type, rollingUpdate), [ROLLING_UPDATE, ON_DELETE]);
  else if (rollingUpdate === undefined) yield required(child(at, "rollingUpdate"));
  else yield* validateRollingUpdate(rollingUpdate, child(at, "rollingUpdate"));
}

function* validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDaemonSet, at: string): Iterable<FieldError> {
  const [unavailableAt, surgeAt] = [child(at, "maxUnavailable"), child(at, "maxSurge")];
  yield* validateNumberOrPercent(maxUnavailable, unavailableAt);
  yield* validateNumberOrPercent(maxSurge, surgeAt);
  yield* validateAtMostAll(maxUnavailable, unavailableAt);
  yield* validateAtMostAll(maxSurge, surgeAt);
  // Exactly one of maxUnavailable and maxSurge is positive: the controller does not mix the two.
  const [mayMiss, mayExceed] = [amountOf(maxUnavailable) !== 0, amountOf(maxSurge) !== 0];
  if (mayMiss && mayExceed) yield invalid(surgeAt, maxSurge, "may not be set when maxUnavailable is non-zero");
  if (!mayMiss && !mayExceed) yield required(unavailableAt, "cannot be 0 when maxSurge is 0");
}

const COUNTS = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
] as const satisfies readonly (keyof DaemonSetStatus)[];

function* validateStatus(next: DaemonSet, previous: DaemonSet): Iterable<FieldError> {
  for (const count of COUNTS) yield* nonNegative(next.status?.[count], `status.${count}`);
  yield* validateCollisionCount(next.status?.collisionCount, previous.status?.collisionCount);
}
