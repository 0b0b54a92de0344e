/**
 * apiregistration.k8s.io/v1 APIService: which server serves a group version, this one or a Service behind it. Not here: proxying requests,
 * and availability checks of the other server (apiserver).
 */
import type { APIService, APIServiceSpec, APIServiceStatus, ServiceReference } from "../../generated/apiregistration.k8s.io/v1.ts";
import { withChanges, withMembersOf, withMetadataOf } from "../../changes.ts";
import { decodedLength } from "../../core/v1/secret/contents.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { findCondition } from "../../machinery/conditions.ts";
import { element, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { validateDns1035Label, validateDnsSubdomain, validatePathSegmentName, validatePortNumber } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { formatTime } from "../../machinery/time.ts";

export const apiServices = defineResource<APIService>({
  kind: "APIService",
  plural: "apiservices",
  singular: "apiservice",
  categories: ["api-extensions"],
  scope: "Cluster",
  served: [
    {
      group: "apiregistration.k8s.io",
      version: "v1",
      schema: "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
      defaults: defaultApiService,
    },
  ],
  unconditionalUpdate: false,

  prepareForCreate: (apiService, { nowMs }) => ({
    ...apiService,
    status: apiService.spec?.service === undefined ? localStatus(nowMs) : {},
  }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),

  allowsPlainFinalizers: true,
  validateName: validatePathSegmentName,
  *validate(apiService) {
    const spec = apiService.spec ?? NO_SPEC;
    yield* validateOwnName(apiService, spec);
    yield* validateGroupAndVersion(spec);
    yield* spec.service === undefined ? validateLocal(spec) : validateRemote(spec, spec.service);
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["spec"], ["metadata"]],
      prepareForUpdate: (next, previous) => withMetadataOf(withMembersOf(next, previous, "spec"), previous),
      validateUpdate: validateStatus,
    },
  },

  columns: [
    nameColumn,
    textColumn("Service", "Service that serves the API; Local for this server", ({ spec }) => serviceCell(spec?.service)),
    textColumn("Available", "Whether the API service is available", ({ status }) => availableCell(status)),
    ageColumn,
  ],
});

const NO_SPEC: APIServiceSpec = { groupPriorityMinimum: 0, versionPriority: 0 };
const DEFAULT_PORT = 443;
const GROUP_PRIORITY_MAX = 20_000;
const VERSION_PRIORITY_MAX = 1_000;
const AVAILABLE = "Available";

function defaultApiService(apiService: APIService): APIService {
  const { spec } = apiService;
  if (spec?.service === undefined || spec.service.port !== undefined) return apiService;
  return withChanges(apiService, { spec: { ...spec, service: { ...spec.service, port: DEFAULT_PORT } } });
}

/** A locally served version is always available. */
function localStatus(nowMs: number): APIServiceStatus {
  const message = "Local APIServices are always available";
  return { conditions: [{ type: AVAILABLE, status: "True", lastTransitionTime: formatTime(nowMs), reason: "Local", message }] };
}

/** Named after its group version, so that there is one of each. */
function* validateOwnName({ metadata }: APIService, { group = "", version = "" }: APIServiceSpec): Iterable<FieldError> {
  const expected = `${version}.${group}`;
  for (const field of ["generateName", "name"] as const) {
    const name = metadata[field] ?? "";
    // `validateName` alone reports malformed names.
    if (name === "" || name === expected || validatePathSegmentName(name).length > 0) continue;
    yield invalid(`metadata.${field}`, name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`);
  }
}

function* validateGroupAndVersion(spec: APIServiceSpec): Iterable<FieldError> {
  const { group = "", version = "", groupPriorityMinimum, versionPriority } = spec;
  if (group === "" && version !== "v1") yield required("spec.group", "only v1 may have an empty group and it better be legacy kube");
  if (group !== "") for (const wrong of validateDnsSubdomain(group)) yield invalid("spec.group", group, wrong);
  for (const wrong of validateDns1035Label(version)) yield invalid("spec.version", version, wrong);
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > GROUP_PRIORITY_MAX) {
    yield invalid("spec.groupPriorityMinimum", groupPriorityMinimum, `must be positive and less than ${GROUP_PRIORITY_MAX}`);
  }
  if (versionPriority <= 0 || versionPriority > VERSION_PRIORITY_MAX) {
    yield invalid("spec.versionPriority", versionPriority, `must be positive and less than ${VERSION_PRIORITY_MAX}`);
  }
}

function* validateLocal({ caBundle = "", insecureSkipTLSVerify = false }: APIServiceSpec): Iterable<FieldError> {
  if (caBundle !== "") yield invalid("spec.caBundle", `${decodedLength(caBundle)} bytes`, "local APIServices may not have a caBundle");
  if (insecureSkipTLSVerify) yield invalid("spec.insecureSkipTLSVerify", true, "local APIServices may not have insecureSkipTLSVerify");
}

function* validateRemote(
  { caBundle = "", insecureSkipTLSVerify = false }: APIServiceSpec,
  service: ServiceReference,
): Iterable<FieldError> {
  const { namespace = "", name = "", port = DEFAULT_PORT } = service;
  if (namespace === "") yield required("spec.service.namespace");
  if (name === "") yield required("spec.service.name");
  const wrong = validatePortNumber(port);
  if (wrong.length > 0) yield invalid("spec.service.port", port, `port is not valid: ${wrong.join(", ")}`);
  if (insecureSkipTLSVerify && caBundle !== "") yield invalid("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present");
}

const CONDITION_STATUSES = ["True", "False", "Unknown"];

function* validateStatus({ status }: APIService): Iterable<FieldError> {
  for (const [index, condition] of (status?.conditions ?? []).entries()) {
    if (CONDITION_STATUSES.includes(condition.status)) continue;
    yield notSupported(`${element("status.conditions", index)}.status`, condition.status, CONDITION_STATUSES);
  }
}

function serviceCell(service: ServiceReference | undefined): string {
  return service === undefined ? "Local" : `${service.namespace ?? ""}/${service.name ?? ""}`;
}

function availableCell(status: APIServiceStatus | undefined): string {
  const condition = findCondition(status?.conditions, AVAILABLE);
  if (condition === undefined) return "Unknown";
  const { reason = "" } = condition;
  return condition.status === "True" || reason === "" ? condition.status : `${condition.status} (${reason})`;
}
