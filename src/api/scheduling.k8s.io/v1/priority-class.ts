/**
 * scheduling.k8s.io/v1 PriorityClass: a named priority. Pods of a higher one may preempt those of a lower one.
 *
 * The two built-in classes (built-in.ts) are higher than any user-defined one, and fixed. The value is immutable: it has been copied into
 * Pods.
 */
import { withChanges } from "../../changes.ts";
import { validatePreemptionPolicy } from "../../core/v1/pod/validation/spec.ts";
import type { PriorityClass } from "../../generated/scheduling.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { forbidden, immutable, type FieldError } from "../../machinery/field-error.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { defineResource } from "../../machinery/resource.ts";
import { builtInPriorityClasses } from "./built-in.ts";

/** Higher values are reserved for the system. */
const USER_PRIORITY_MAX = 1_000_000_000;
const SYSTEM_PREFIX = "system-";

export const priorityClasses = defineResource<PriorityClass>({
  kind: "PriorityClass",
  plural: "priorityclasses",
  singular: "priorityclass",
  shortNames: ["pc"],
  scope: "Cluster",
  served: [
    {
      group: "scheduling.k8s.io",
      version: "v1",
      schema: "io.k8s.api.scheduling.v1.PriorityClass",
      defaults: (object: PriorityClass) => withChanges(object, { preemptionPolicy: object.preemptionPolicy ?? "PreemptLowerPriority" }),
    },
  ],

  // The generation stays 1: upstream never increments it.
  changesGeneration: () => false,

  *validate(object, previous) {
    if (previous === undefined) yield* validateNew(object);
  },
  *validateUpdate(next, previous) {
    if ((next.value ?? 0) !== (previous.value ?? 0)) yield forbidden("value", "may not be changed in an update.");
    if (next.preemptionPolicy !== previous.preemptionPolicy) yield immutable("preemptionPolicy", next.preemptionPolicy);
  },

  refusesDeletion: ({ metadata }) =>
    builtInPriorityClasses.some(({ metadata: { name } }) => name === metadata.name)
      ? "this is a system priority class and cannot be deleted"
      : undefined,

  columns: [
    nameColumn,
    textColumn("Value", "Priority of the class", ({ value }) => value ?? 0, { type: "integer" }),
    textColumn("Global-Default", "Whether it is the default priority class", ({ globalDefault }) => globalDefault ?? false, {
      type: "boolean",
    }),
    ageColumn,
    textColumn("PreemptionPolicy", "Whether Pods of this priority preempt others", ({ preemptionPolicy }) => preemptionPolicy ?? ""),
  ],
});

function* validateNew({ metadata, value = 0, globalDefault = false, preemptionPolicy }: PriorityClass): Iterable<FieldError> {
  if (metadata.name.startsWith(SYSTEM_PREFIX)) {
    const wrong = systemClassError(metadata.name, value, globalDefault);
    const reserved = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only`;
    if (wrong !== undefined) yield forbidden("metadata.name", `${reserved}. error: ${wrong}`);
  } else if (value > USER_PRIORITY_MAX) {
    yield forbidden("value", `maximum allowed value of a user defined priority is ${USER_PRIORITY_MAX}`);
  }
  if (preemptionPolicy !== undefined) yield* errorsOf((errors) => validatePreemptionPolicy(errors, preemptionPolicy, "preemptionPolicy"));
}

/** Differences of an object with such a name from the built-in one. */
function systemClassError(name: string, value: number, globalDefault: boolean): string | undefined {
  const known = builtInPriorityClasses.find(({ metadata }) => metadata.name === name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known.value) return `value of ${name} PriorityClass must be ${known.value}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
