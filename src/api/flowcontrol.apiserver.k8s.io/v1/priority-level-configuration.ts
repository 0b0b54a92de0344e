/**
 * flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration: a share of the server's concurrent requests, and whether excess requests are
 * queued or rejected.
 *
 * The two mandatory ones (built-in.ts) are fixed, except for how much "exempt" lends. Not here: queueing requests (apiserver/fairness), and
 * creating the built-in ones.
 */
import { deepEqual } from "../../../base/deep.ts";
import { changed, withChanges } from "../../changes.ts";
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from "../../generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { ageColumn, nameColumn, NONE, textColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validatePriorityLevel } from "./priority-level-configuration/validate.ts";
import { validateStatus } from "./status-conditions.ts";

const NOMINAL_CONCURRENCY_SHARES = 30;
const QUEUES = 64;
const HAND_SIZE = 8;
const QUEUE_LENGTH_LIMIT = 50;

export const priorityLevelConfigurations = defineResource<PriorityLevelConfiguration>({
  kind: "PriorityLevelConfiguration",
  plural: "prioritylevelconfigurations",
  singular: "prioritylevelconfiguration",
  scope: "Cluster",
  served: [
    {
      group: "flowcontrol.apiserver.k8s.io",
      version: "v1",
      schema: "io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration",
      defaults: (level: PriorityLevelConfiguration) => withChanges(level, { spec: changed(level.spec, defaultSpec) }),
    },
  ],

  prepareForCreate: (level) => ({ ...level, status: {} }),
  prepareForUpdate: (next, previous) => withChanges(next, { status: previous.status }),
  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  validate: validatePriorityLevel,

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["metadata"], ["spec"]],
      prepareForUpdate: (next, previous) => withChanges(next, { metadata: previous.metadata, spec: previous.spec }),
      validateUpdate: ({ status = {} }) => validateStatus(status),
    },
  },

  columns: [
    nameColumn,
    textColumn("Type", "Exempt or Limited", ({ spec }) => spec?.type ?? ""),
    textColumn(
      "NominalConcurrencyShares",
      "Nominal concurrency shares, relative to the other levels",
      ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? NONE,
    ),
    textColumn("Queues", "Number of queues", (level) => queuingOf(level).queues ?? NONE),
    textColumn("HandSize", "Number of queues per flow (shuffle sharding)", (level) => queuingOf(level).handSize ?? NONE),
    textColumn("QueueLengthLimit", "Maximum length of a queue", (level) => queuingOf(level).queueLengthLimit ?? NONE),
    ageColumn,
  ],
});

function queuingOf({ spec }: PriorityLevelConfiguration): QueuingConfiguration {
  return spec?.limited?.limitResponse?.queuing ?? {};
}

function defaultSpec(spec: PriorityLevelConfigurationSpec): PriorityLevelConfigurationSpec {
  return withChanges(spec, { limited: changed(spec.limited, defaultLimited), exempt: changed(spec.exempt, defaultExempt) });
}

function defaultLimited(limited: LimitedPriorityLevelConfiguration): LimitedPriorityLevelConfiguration {
  return withChanges(limited, {
    nominalConcurrencyShares: limited.nominalConcurrencyShares ?? NOMINAL_CONCURRENCY_SHARES,
    limitResponse: changed(limited.limitResponse, (response) =>
      withChanges(response, { queuing: changed(response.queuing, defaultQueuing) }),
    ),
    lendablePercent: limited.lendablePercent ?? 0,
  });
}

function defaultExempt(exempt: ExemptPriorityLevelConfiguration): ExemptPriorityLevelConfiguration {
  return withChanges(exempt, {
    nominalConcurrencyShares: exempt.nominalConcurrencyShares ?? 0,
    lendablePercent: exempt.lendablePercent ?? 0,
  });
}

/** Zero counts as absent. */
function defaultQueuing(queuing: QueuingConfiguration): QueuingConfiguration {
  return withChanges(queuing, {
    queues: queuing.queues || QUEUES,
    handSize: queuing.handSize || HAND_SIZE,
    queueLengthLimit: queuing.queueLengthLimit || QUEUE_LENGTH_LIMIT,
  });
}
