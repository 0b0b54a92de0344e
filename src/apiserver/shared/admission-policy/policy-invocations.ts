/**
 * Finds what a request has to be evaluated against: all matching policies with their matching bindings, once for each parameter object.
 * Common to validating and mutating policies.
 */
import type { PolicySpec } from "../../../api/admissionregistration.k8s.io/v1/policy.ts";
import type { Namespace } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { isStatusError, notFound } from "../../../api/machinery/status-error.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import type { AdmissionTarget } from "../admission/admission-target.ts";
import { isSelected, NAMESPACES, namespaceOf } from "../admission/selected-request.ts";
import { collectParams, ConfigurationError, paramEndpoint, paramKindText } from "./collect-params.ts";
import type { IndexedBinding, IndexedPolicy, PolicyMatch } from "./policy-index.ts";

export interface PolicyInvocation<Spec extends PolicySpec, Compiled> {
  readonly policy: IndexedPolicy<Spec, Compiled>;
  readonly binding: IndexedBinding;
  readonly target: AdmissionTarget;
  readonly params: KubeObject | undefined;
}

/** A policy or binding that cannot be used for the request; counts unless its failurePolicy is Ignore. */
export interface UnusablePolicy {
  readonly policy: string;
  /** Absent: the policy itself is wrong. */
  readonly binding?: string;
  readonly message: string;
}

export interface FoundInvocations<Spec extends PolicySpec, Compiled> {
  readonly invocations: readonly PolicyInvocation<Spec, Compiled>[];
  readonly unusable: readonly UnusablePolicy[];
}

type Dependencies = Pick<AdmissionDependencies, "objects" | "endpoints">;

export async function findInvocations<Spec extends PolicySpec, Compiled>(
  dependencies: Dependencies,
  request: AdmissionRequest,
  matches: readonly PolicyMatch<Spec, Compiled>[],
): Promise<FoundInvocations<Spec, Compiled>> {
  const invocations: PolicyInvocation<Spec, Compiled>[] = [];
  const unusable: UnusablePolicy[] = [];
  for (const { policy, target: known } of matches) {
    const report = (message: string, binding?: string): void => {
      if (policy.spec.failurePolicy === "Ignore") return;
      unusable.push({ policy: policy.name, message, ...(binding === undefined ? {} : { binding }) });
    };
    try {
      const target = known ?? policy.match.target(dependencies.endpoints, request, request.name);
      if (target === undefined || !(await isSelected(dependencies.objects, policy.match, request))) continue;
      const endpoint = paramsOf(dependencies, policy.spec);
      for (const binding of policy.bindings) {
        try {
          const params = await boundParams(dependencies, request, binding, endpoint);
          for (const one of params) invocations.push({ policy, binding, target, params: one });
        } catch (error) {
          report(`failed to configure binding: ${messageOf(error)}`, binding.name);
        }
      }
    } catch (error) {
      report(`failed to configure policy: ${messageOf(error)}`);
    }
  }
  return { invocations, unusable };
}

function messageOf(error: unknown): string {
  if (error instanceof ConfigurationError || isStatusError(error)) return error.message;
  throw error;
}

function paramsOf({ endpoints }: Dependencies, { paramKind }: PolicySpec): Endpoint | undefined {
  if (paramKind === undefined) return undefined;
  const endpoint = paramEndpoint(endpoints, paramKind);
  if (endpoint === undefined) {
    throw new ConfigurationError(`failed to find resource referenced by paramKind: '${paramKindText(paramKind)}'`);
  }
  return endpoint;
}

async function boundParams(
  { objects, endpoints }: Dependencies,
  request: AdmissionRequest,
  { spec, match }: IndexedBinding,
  endpoint: Endpoint | undefined,
): Promise<readonly (KubeObject | undefined)[]> {
  if (match.target(endpoints, request, request.name) === undefined || !(await isSelected(objects, match, request))) return [];
  return collectParams(objects, { endpoint, paramRef: spec.paramRef, namespace: namespaceOf(request) });
}

/** For `namespaceObject`. undefined: the object is cluster-scoped, or is a Namespace. */
export async function requestNamespace(
  objects: Dependencies["objects"],
  { endpoint, namespace: name }: AdmissionRequest,
): Promise<Namespace | undefined> {
  if (endpoint.resource.scope === "Cluster" || name === "") return undefined;
  const key = { namespace: "", name };
  const found = objects.cached<Namespace>(NAMESPACES, key) ?? (await objects.get<Namespace>(NAMESPACES, key));
  if (found === undefined) throw notFound(NAMESPACES, name);
  return found;
}
