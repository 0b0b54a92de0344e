/**
 * Enforces the level of the Pod Security Standards that a namespace selects by its labels: rejects pods ("enforce"), warns about pods and
 * pod templates ("warn"), and notes their violations for the audit log ("audit"). Invalid labels are rejected on namespaces; where they
 * exist nevertheless, the strictest level is enforced. Equivalent to upstream's plugin of this name.
 */
import { deepEqual } from "../../../base/deep.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";
import { namespaces } from "../../../api/core/v1/namespace.ts";
import type { Container, Namespace, Pod, PodSpec } from "../../../api/generated/core/v1.ts";
import { describeFieldError } from "../../../api/machinery/field-error.ts";
import { forbiddenError, internalError, invalidObject } from "../../../api/machinery/status-error.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf, isOf, isUpdateOf, type CreateOf, type UpdateOf } from "../../shared/admission-request.ts";
import type { CheckedPod } from "./check.ts";
import { describeViolations, violationsOf } from "./evaluate.ts";
import { warningsOfPods } from "./existing-pods.ts";
import {
  compareLevels,
  defaultPolicy,
  describe,
  exemptWarning,
  isFullyPrivileged,
  isSame,
  policyOf,
  type NamespacePolicy,
  type ReadPolicy,
} from "./policy.ts";
import { hasPodTemplate, templateOf } from "./templates.ts";

const NAMESPACES = { group: "", plural: "namespaces" };
const PODS = { group: "", plural: "pods" };

/** These subresources change nothing that is evaluated here. All others carry a whole pod. */
const IGNORED_SUBRESOURCES = ["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"];

export function podSecurity(dependencies: AdmissionDependencies): AdmissionPlugin {
  const plugin = new PodSecurity(dependencies);
  return { name: "PodSecurity", validate: (request) => plugin.validate(request), start: () => dependencies.objects.load(NAMESPACES) };
}

class PodSecurity {
  readonly #objects: AdmissionDependencies["objects"];
  readonly #clock: AdmissionDependencies["clock"];
  readonly #exemptions: AdmissionDependencies["config"]["podSecurity"]["exemptions"];
  readonly #defaults: NamespacePolicy;

  constructor({ objects, clock, config: { podSecurity: config } }: AdmissionDependencies) {
    this.#objects = objects;
    this.#clock = clock;
    this.#exemptions = config.exemptions;
    this.#defaults = defaultPolicy(config);
  }

  validate(request: AdmissionRequest): Promise<void> | void {
    const { operation, subresource, endpoint } = request;
    if (operation !== "CREATE" && operation !== "UPDATE") return undefined;
    if (isOf(request, PODS)) return IGNORED_SUBRESOURCES.includes(subresource) ? undefined : this.#withPolicy(request, checkPod);
    if (subresource !== "") return undefined;
    if (isCreateOf(request, namespaces) || isUpdateOf(request, namespaces)) return this.#checkNamespace(request);
    return hasPodTemplate(endpoint.name) ? this.#withPolicy(request, checkTemplate) : undefined;
  }

  /** Synchronous if the cache has the namespace, which is nearly always. */
  #withPolicy(request: AdmissionRequest, check: typeof checkPod): Promise<void> | void {
    const { namespace: name, context } = request;
    if (isListed(this.#exemptions.namespaces, name)) return noteExemption(request, "namespace");
    if (isListed(this.#exemptions.usernames, context.user.name)) return noteExemption(request, "user");
    const found = this.#objects.cached<Namespace>(NAMESPACES, { namespace: "", name });
    if (found !== undefined) return check(request, this.#policyOf(found), this.#exemptions.runtimeClasses);
    return this.#objects.get<Namespace>(NAMESPACES, { namespace: "", name }).then((namespace) => {
      if (namespace === undefined) throw internalError(new Error(`failed to lookup namespace "${name}"`));
      check(request, this.#policyOf(namespace), this.#exemptions.runtimeClasses);
    });
  }

  #policyOf({ metadata }: Namespace): ReadPolicy {
    return policyOf(metadata.labels, this.#defaults);
  }

  #checkNamespace(request: CreateOf<Namespace> | UpdateOf<Namespace>): Promise<void> | void {
    const { object: namespace } = request;
    const { policy, errors } = this.#policyOf(namespace);
    const previous = request.operation === "UPDATE" ? this.#policyOf(request.oldObject) : undefined;
    // Labels that were already invalid are tolerated, so that other labels can be changed.
    if (errors.length > 0 && (previous === undefined || !deepEqual(errors, previous.errors)))
      throw invalidObject({ group: "", kind: "Namespace" }, request.name, errors);
    if (previous !== undefined && !isStricter(policy, previous.policy)) return undefined;
    if (isListed(this.#exemptions.namespaces, request.name)) return this.#warnOfExemption(request, namespace, policy);
    return previous === undefined ? undefined : this.#warnOfPods(request, policy);
  }

  #warnOfExemption({ name, context }: AdmissionRequest, { metadata: { labels = {} } }: Namespace, policy: NamespacePolicy): void {
    const warning = exemptWarning(name, policy, labels, this.#defaults);
    if (warning !== undefined) context.warn(warning);
  }

  async #warnOfPods({ name, context }: AdmissionRequest, { enforce }: NamespacePolicy): Promise<void> {
    const pods = await this.#objects.list<Pod>(PODS, name);
    const { runtimeClasses } = this.#exemptions;
    for (const warning of warningsOfPods(pods, { namespace: name, enforce, runtimeClasses }, this.#clock)) context.warn(warning);
  }
}

/** An empty user name is never exempt. */
function isListed(list: readonly string[], name: string | undefined): boolean {
  return name !== undefined && name !== "" && list.includes(name);
}

/** True if existing pods may violate the new policy: a different version counts as stricter, since the two cannot be compared. */
function isStricter({ enforce: now }: NamespacePolicy, { enforce: before }: NamespacePolicy): boolean {
  if (isSame(now, before) || now.level === "privileged") return false;
  return now.version !== before.version || compareLevels(now.level, before.level) > 0;
}

function checkPod(request: AdmissionRequest, { policy, errors }: ReadPolicy, exemptRuntimeClasses: readonly string[]): void {
  if (errors.length === 0 && isFullyPrivileged(policy)) {
    notePolicy(request, policy);
    return;
  }
  const { metadata, spec } = request.object as Pod;
  if (spec === undefined) return;
  if (request.operation === "UPDATE" && !runsOther(spec, (request.oldObject as Pod).spec)) return;
  if (isListed(exemptRuntimeClasses, spec.runtimeClassName)) return noteExemption(request, "runtimeClass");
  const pod = { annotations: metadata.annotations ?? {}, spec };
  notePolicy(request, policy);
  noteErrors(request, errors);
  auditOf(request, policy, pod);
  const violations = violationsOf(policy.enforce, pod);
  if (violations.length > 0) {
    const why = `violates PodSecurity "${describe(policy.enforce)}": ${describeViolations(violations)}`;
    throw forbiddenError(PODS, request.name, why);
  }
  warnOf(request, policy, pod);
}

function checkTemplate(request: AdmissionRequest, { policy, errors }: ReadPolicy, exemptRuntimeClasses: readonly string[]): void {
  const isIgnored = errors.length === 0 && policy.warn.level === "privileged" && policy.audit.level === "privileged";
  if (isIgnored || request.object === undefined) return;
  const pod = templateOf(request.endpoint.name, request.object);
  if (pod === undefined) return;
  if (isListed(exemptRuntimeClasses, pod.spec.runtimeClassName)) return noteExemption(request, "runtimeClass");
  noteErrors(request, errors);
  auditOf(request, policy, pod);
  warnOf(request, policy, pod);
}

/** Prefix of this plugin's audit annotations. */
const AUDIT = "pod-security.kubernetes.io/";

/** Hot path (called per Pod): annotations that most Pods have are for the audit log only. */
function notePolicy({ context }: AdmissionRequest, { enforce }: NamespacePolicy): void {
  context.trail?.audit?.annotate(`${AUDIT}enforce-policy`, describe(enforce));
}

function noteExemption({ context }: AdmissionRequest, reason: "namespace" | "user" | "runtimeClass"): void {
  context.trail?.audit?.annotate(`${AUDIT}exempt`, reason);
}

function noteErrors({ context }: AdmissionRequest, errors: ReadPolicy["errors"]): void {
  if (errors.length === 0) return;
  context.trail?.annotate(`${AUDIT}error`, `Failed to parse policy: ${joinedErrors(errors.map(describeFieldError))}`);
}

function auditOf({ context }: AdmissionRequest, { audit }: NamespacePolicy, pod: CheckedPod): void {
  const violations = violationsOf(audit, pod);
  if (violations.length === 0) return;
  context.trail?.annotate(`${AUDIT}audit-violations`, `would violate PodSecurity "${describe(audit)}": ${describeViolations(violations)}`);
}

function warnOf({ context }: AdmissionRequest, { warn }: NamespacePolicy, pod: CheckedPod): void {
  const violations = violationsOf(warn, pod);
  if (violations.length > 0) context.warn(`would violate PodSecurity "${describe(warn)}": ${describeViolations(violations)}`);
}

/** Of the mutable fields of a pod only images and added ephemeral containers are relevant. */
function runsOther(spec: PodSpec, previous: PodSpec | undefined): boolean {
  if (previous === undefined) return true;
  const { ephemeralContainers: added = [] } = spec;
  return (
    differ(spec.containers, previous.containers) ||
    differ(spec.initContainers ?? [], previous.initContainers ?? []) ||
    added.some(({ name, image }) => !previous.ephemeralContainers?.some((old) => old.name === name && old.image === image))
  );
}

function differ(containers: readonly Container[], previous: readonly Container[]): boolean {
  return containers.length !== previous.length || containers.some(({ image }, index) => image !== previous[index]?.image);
}
