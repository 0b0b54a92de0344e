/**
 * flowcontrol.apiserver.k8s.io/v1 FlowSchema: assigns requests to a priority level and to a flow, so that a client with too many requests
 * only delays itself. Of those that match a request, the one with the lowest `matchingPrecedence` counts.
 *
 * The two mandatory ones (built-in.ts) are fixed. Not here: queueing requests (apiserver/fairness), and creating the built-in ones.
 */
import { deepEqual } from "../../../base/deep.ts";
import { changedItems, withChanges } from "../../changes.ts";
import type { FlowSchema, FlowSchemaSpec, PolicyRulesWithSubjects } from "../../generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { ageColumn, nameColumn, NONE, textColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { listOrAbsent } from "../../members.ts";
import { validateFlowSchemaSpec } from "./flow-schema/validate.ts";
import { validateStatus } from "./status-conditions.ts";

const MATCHING_PRECEDENCE_DEFAULT = 1_000;
const NO_SPEC: FlowSchemaSpec = { priorityLevelConfiguration: { name: "" } };

export const flowSchemas = defineResource<FlowSchema>({
  kind: "FlowSchema",
  plural: "flowschemas",
  singular: "flowschema",
  scope: "Cluster",
  served: [
    { group: "flowcontrol.apiserver.k8s.io", version: "v1", schema: "io.k8s.api.flowcontrol.v1.FlowSchema", defaults: defaultSchema },
  ],

  prepareForCreate: (schema) => ({ ...schema, status: {} }),
  prepareForUpdate: (next, previous) => withChanges(next, { status: previous.status }),
  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  validate: ({ metadata, spec = NO_SPEC }) => validateFlowSchemaSpec(spec, metadata.name),

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["metadata"], ["spec"]],
      prepareForUpdate: (next, previous) => withChanges(next, { metadata: previous.metadata, spec: previous.spec }),
      validateUpdate: ({ status = {} }) => validateStatus(status),
    },
  },

  // In matching order.
  tableOrder: (a, b) =>
    (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) || (a.metadata.name < b.metadata.name ? -1 : 1),
  columns: [
    nameColumn,
    textColumn("PriorityLevel", "Priority level of matching requests", ({ spec = NO_SPEC }) => spec.priorityLevelConfiguration.name),
    textColumn("MatchingPrecedence", "Precedence among matching FlowSchemas; the lowest wins", ({ spec }) => spec?.matchingPrecedence ?? 0),
    textColumn("DistinguisherMethod", "Flow distinguisher method", ({ spec }) => spec?.distinguisherMethod?.type ?? NONE),
    ageColumn,
    textColumn("MissingPL", "Whether the priority level is missing", missingLevelCell),
  ],
});

function defaultSchema(schema: FlowSchema): FlowSchema {
  const { spec = NO_SPEC } = schema;
  const matchingPrecedence = spec.matchingPrecedence || MATCHING_PRECEDENCE_DEFAULT;
  return withChanges(schema, { spec: withChanges(spec, { matchingPrecedence, rules: changedItems(spec.rules, defaultRules) }) });
}

function defaultRules(rules: PolicyRulesWithSubjects): PolicyRulesWithSubjects {
  const resourceRules = changedItems(rules.resourceRules, (rule) => withChanges(rule, { namespaces: listOrAbsent(rule.namespaces) }));
  return withChanges(rules, { resourceRules });
}

/** Unknown until a controller has set the condition. */
function missingLevelCell({ status }: FlowSchema): string {
  const condition = status?.conditions?.find(({ type }) => type === "Dangling");
  return condition === undefined ? "?" : (condition.status ?? "");
}
