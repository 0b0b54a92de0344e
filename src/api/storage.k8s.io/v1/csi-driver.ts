/**
 * storage.k8s.io/v1 CSIDriver: what a storage driver requires of Kubernetes. Named after the driver; deployed with the driver, and read by
 * the kubelet, the scheduler and the attach controller.
 */
import { deepEqual } from "../../../base/deep.ts";
import { withChanges } from "../../changes.ts";
import type { CSIDriver, CSIDriverSpec, TokenRequest } from "../../generated/storage.k8s.io/v1.ts";
import { ageColumn, formatList, nameColumn, textColumn, UNSET } from "../../machinery/columns.ts";
import { duplicate, element, immutable, invalid, notSupported, type FieldError } from "../../machinery/field-error.ts";
import { defineResource } from "../../machinery/resource.ts";
import { without } from "../../members.ts";

const GROUP_POLICIES = ["File", "None", "ReadWriteOnceWithFSType"];
const LIFECYCLE_MODES = ["Persistent", "Ephemeral"];
/** Minimum period for updating how many volumes a node can attach. */
const UPDATE_PERIOD_MIN_SECONDS = 10;
const TOKEN_LIFETIME_MIN_SECONDS = 600;
const TOKEN_LIFETIME_MAX_SECONDS = 2 ** 32;

export const csiDrivers = defineResource<CSIDriver>({
  kind: "CSIDriver",
  plural: "csidrivers",
  singular: "csidriver",
  scope: "Cluster",
  served: [{ group: "storage.k8s.io", version: "v1", schema: "io.k8s.api.storage.v1.CSIDriver", defaults: defaultDriver }],
  unconditionalUpdate: false,
  returnsDeletedObject: true,

  prepareForCreate: withoutGatedFields,
  prepareForUpdate: (next, previous) => withGeneration(withoutGatedFields(next), previous),

  validate: ({ spec }) => validateSpec(spec, "spec"),
  *validateUpdate({ spec }, { spec: before }) {
    // Upstream's name of the field.
    if (spec.attachRequired !== before.attachRequired) yield immutable("spec.attachedRequired", spec.attachRequired);
    if (!deepEqual(spec.volumeLifecycleModes, before.volumeLifecycleModes)) {
      yield immutable("spec.volumeLifecycleModes", spec.volumeLifecycleModes);
    }
  },
  *warnings({ spec }, previous) {
    const { tokenRequests = [], serviceAccountTokenInSecrets } = spec;
    if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return;
    if (previous !== undefined && deepEqual(tokenRequests, previous.spec.tokenRequests)) return;
    yield "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";
  },

  columns: [
    nameColumn,
    flagColumn("AttachRequired", "Whether volumes must be attached before they are mounted", "attachRequired"),
    flagColumn("PodInfoOnMount", "Whether it receives Pod information on mount", "podInfoOnMount"),
    flagColumn("StorageCapacity", "Whether the scheduler considers the storage capacity", "storageCapacity"),
    textColumn("TokenRequests", "Audiences of the service account tokens that the driver requests", tokenRequestsCell),
    flagColumn("RequiresRepublish", "Whether NodePublishVolume is called periodically", "requiresRepublish"),
    textColumn("Modes", "Supported volume lifecycle modes", ({ spec }) => formatList(spec.volumeLifecycleModes)),
    ageColumn,
  ],
});

type Flag = "attachRequired" | "podInfoOnMount" | "storageCapacity" | "requiresRepublish";

function flagColumn(name: string, description: string, flag: Flag) {
  return textColumn<CSIDriver>(name, description, ({ spec }) => spec[flag] ?? false, { type: "boolean" });
}

function tokenRequestsCell({ spec }: CSIDriver): string {
  return spec.tokenRequests?.map(({ audience }) => audience).join(",") ?? UNSET;
}

function defaultDriver(driver: CSIDriver): CSIDriver {
  const { spec } = driver;
  return withChanges(driver, {
    spec: withChanges(spec, {
      attachRequired: spec.attachRequired ?? true,
      podInfoOnMount: spec.podInfoOnMount ?? false,
      storageCapacity: spec.storageCapacity ?? false,
      fsGroupPolicy: spec.fsGroupPolicy ?? "ReadWriteOnceWithFSType",
      volumeLifecycleModes: (spec.volumeLifecycleModes ?? []).length === 0 ? ["Persistent"] : spec.volumeLifecycleModes,
      requiresRepublish: spec.requiresRepublish ?? false,
      seLinuxMount: spec.seLinuxMount ?? false,
    }),
  });
}

/** Keeping Pods away from nodes without the driver is behind a feature gate that is off upstream. */
function withoutGatedFields(driver: CSIDriver): CSIDriver {
  return withChanges(driver, { spec: without(driver.spec, "preventPodSchedulingIfMissing") });
}

/** Unlike for other kinds, the generation of a new one is not 1: upstream starts at zero. */
function withGeneration(next: CSIDriver, previous: CSIDriver): CSIDriver {
  if (deepEqual(next.spec, previous.spec)) return next;
  return { ...next, metadata: { ...next.metadata, generation: (previous.metadata.generation ?? 0) + 1 } };
}

function* validateSpec(spec: CSIDriverSpec, at: string): Iterable<FieldError> {
  const { fsGroupPolicy, tokenRequests = [], volumeLifecycleModes = [], nodeAllocatableUpdatePeriodSeconds: periodSeconds } = spec;
  if (fsGroupPolicy !== undefined && !GROUP_POLICIES.includes(fsGroupPolicy)) {
    yield notSupported(`${at}.fsGroupPolicy`, fsGroupPolicy, GROUP_POLICIES);
  }
  yield* validateTokenRequests(tokenRequests, `${at}.tokenRequests`);
  for (const mode of volumeLifecycleModes) {
    if (!LIFECYCLE_MODES.includes(mode)) yield notSupported(`${at}.volumeLifecycleModes`, mode, LIFECYCLE_MODES);
  }
  if (periodSeconds !== undefined && periodSeconds < UPDATE_PERIOD_MIN_SECONDS) {
    yield invalid(`${at}.nodeAllocatableUpdatePeriodSeconds`, periodSeconds, "must be greater than or equal to 10 seconds");
  }
  if (spec.serviceAccountTokenInSecrets !== undefined && tokenRequests.length === 0) {
    const why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    yield invalid(`${at}.serviceAccountTokenInSecrets`, spec.serviceAccountTokenInSecrets, why);
  }
}

/** One token per audience. */
function* validateTokenRequests(requests: readonly TokenRequest[], at: string): Iterable<FieldError> {
  const audiences = new Set<string>();
  for (const [index, { audience = "", expirationSeconds }] of requests.entries()) {
    const here = element(at, index);
    if (audiences.has(audience)) {
      yield duplicate(`${here}.audience`, audience);
      continue;
    }
    audiences.add(audience);
    if (expirationSeconds === undefined) continue;
    if (expirationSeconds < TOKEN_LIFETIME_MIN_SECONDS) {
      yield invalid(`${here}.expirationSeconds`, expirationSeconds, "may not specify a duration less than 10 minutes");
    }
    if (expirationSeconds > TOKEN_LIFETIME_MAX_SECONDS) {
      yield invalid(`${here}.expirationSeconds`, expirationSeconds, "may not specify a duration larger than 2^32 seconds");
    }
  }
}
