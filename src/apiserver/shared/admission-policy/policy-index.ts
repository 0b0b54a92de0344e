/**
 * Policies of one kind with their bindings, indexed by endpoint, operation and subresource: a request that no policy wants costs one
 * lookup. A policy without bindings has no effect. A change takes effect with the next request.
 */
import type { MatchResources, NamedRuleWithOperations, ParamRef } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import type { PolicySpec } from "../../../api/admissionregistration.k8s.io/v1/policy.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import type { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import type { Endpoint, Endpoints } from "../../framework/endpoints.ts";
import type { Follower } from "../../framework/objects.ts";
import { findTarget, isAdmissionPolicy, isReview, type AdmissionTarget, type RequestPlace } from "../admission/admission-target.ts";
import type { RequestSelectors } from "../admission/selected-request.ts";
import { CompiledOnce } from "./compiled-once.ts";

export interface Policy<Spec extends PolicySpec> extends KubeObject {
  readonly spec?: Spec;
}

export interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  readonly validationActions?: readonly string[];
}

export interface IndexedBinding {
  readonly name: string;
  readonly spec: BindingSpec;
  readonly match: ResourceMatch;
}

export interface IndexedPolicy<Spec extends PolicySpec, Compiled> {
  readonly name: string;
  readonly spec: Spec;
  readonly match: ResourceMatch;
  /** Compiled on first use: most policies of a large cluster never match a request of a small one. */
  readonly compiled: CompiledOnce<Compiled>;
  /** By name. */
  readonly bindings: readonly IndexedBinding[];
}

export interface PolicyMatch<Spec extends PolicySpec, Compiled> {
  readonly policy: IndexedPolicy<Spec, Compiled>;
  /** Undefined if it depends on the name of the object: then `ResourceMatch.target` decides. */
  readonly target: AdmissionTarget | undefined;
}

/** The rules and selectors of a policy or binding. */
export class ResourceMatch implements RequestSelectors {
  readonly namespaceSelector;
  readonly objectSelector;
  readonly #match: MatchResources;
  /** True if a rule is for some names only. */
  readonly isByName: boolean;

  constructor(match: MatchResources = {}) {
    this.#match = match;
    this.namespaceSelector = labelSelectorFromObject(match.namespaceSelector ?? {});
    this.objectSelector = labelSelectorFromObject(match.objectSelector ?? {});
    this.isByName = [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])].some(
      ({ resourceNames = [] }) => resourceNames.length > 0,
    );
  }

  /** undefined: the rules do not match. */
  target(endpoints: Endpoints, place: RequestPlace, name: string): AdmissionTarget | undefined {
    const { resourceRules = [], excludeResourceRules = [], matchPolicy = "Equivalent" } = this.#match;
    if (findTarget(endpoints, place, { rules: namedRules(excludeResourceRules, name), matchPolicy }) !== undefined) return undefined;
    const rules = resourceRules.length === 0 ? EVERYTHING : namedRules(resourceRules, name);
    return findTarget(endpoints, place, { rules, matchPolicy });
  }

  /** False only if the rules match no name at all. */
  mayMatch(endpoints: Endpoints, place: RequestPlace): boolean {
    const { resourceRules = [], excludeResourceRules = [], matchPolicy = "Equivalent" } = this.#match;
    const excluding = excludeResourceRules.filter(({ resourceNames = [] }) => resourceNames.length === 0);
    if (findTarget(endpoints, place, { rules: excluding, matchPolicy }) !== undefined) return false;
    return resourceRules.length === 0 || findTarget(endpoints, place, { rules: resourceRules, matchPolicy }) !== undefined;
  }
}

const EVERYTHING = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*" as const], resources: ["*/*"] }];

function namedRules(rules: readonly NamedRuleWithOperations[], name: string): readonly NamedRuleWithOperations[] {
  return rules.filter(({ resourceNames = [] }) => resourceNames.length === 0 || resourceNames.includes(name));
}

/** Yields where the event loop should be yielded. */
type CompilePolicy<Spec, Compiled> = (spec: Spec) => Generator<void, Compiled>;

export class PolicyIndex<Spec extends PolicySpec, Compiled> {
  readonly #endpoints: Endpoints;
  readonly #compile: CompilePolicy<Spec, Compiled>;
  readonly #turns: EvaluationTurns;
  readonly #policies = new Map<string, Omit<IndexedPolicy<Spec, Compiled>, "bindings">>();
  readonly #bindings = new Map<string, IndexedBinding>();
  #bound: readonly IndexedPolicy<Spec, Compiled>[] | undefined;
  #matches = new WeakMap<Endpoint, Map<string, readonly PolicyMatch<Spec, Compiled>[]>>();
  readonly #none: readonly PolicyMatch<Spec, Compiled>[] = [];

  constructor(
    { endpoints, evaluations }: Pick<AdmissionDependencies, "endpoints" | "evaluations">,
    compile: CompilePolicy<Spec, Compiled>,
  ) {
    this.#endpoints = endpoints;
    this.#turns = evaluations;
    this.#compile = compile;
    endpoints.onChange(() => this.#forget());
  }

  /** Those whose rules match; selectors, bindings and conditions are up to the caller. */
  matching({ endpoint, operation, subresource }: AdmissionRequest): readonly PolicyMatch<Spec, Compiled>[] {
    if (this.#bindings.size === 0 || this.#policies.size === 0) return this.#none;
    let known = this.#matches.get(endpoint);
    if (known === undefined) this.#matches.set(endpoint, (known = new Map()));
    const key = `${operation}/${subresource}`;
    let matches = known.get(key);
    if (matches === undefined) known.set(key, (matches = this.#match({ endpoint, operation, subresource })));
    return matches;
  }

  readonly policyFollower: Follower = {
    put: (object) => {
      const { metadata, spec = {} as Spec } = object as Policy<Spec>;
      this.#policies.set(metadata.name, {
        name: metadata.name,
        spec,
        match: new ResourceMatch(spec.matchConstraints),
        compiled: new CompiledOnce(this.#turns, () => this.#compile(spec)),
      });
      this.#forget();
    },
    remove: ({ metadata }) => {
      this.#policies.delete(metadata.name);
      this.#forget();
    },
    reset: () => {
      this.#policies.clear();
      this.#forget();
    },
  };

  readonly bindingFollower: Follower = {
    put: (object) => {
      const { metadata, spec = {} } = object as KubeObject & { readonly spec?: BindingSpec };
      this.#bindings.set(metadata.name, { name: metadata.name, spec, match: new ResourceMatch(spec.matchResources) });
      this.#forget();
    },
    remove: ({ metadata }) => {
      this.#bindings.delete(metadata.name);
      this.#forget();
    },
    reset: () => {
      this.#bindings.clear();
      this.#forget();
    },
  };

  #match(place: RequestPlace): readonly PolicyMatch<Spec, Compiled>[] {
    if (isAdmissionPolicy(place.endpoint) || isReview(place.endpoint)) return this.#none;
    this.#bound ??= this.#bind();
    return this.#bound.flatMap((policy) => {
      if (policy.match.isByName) return policy.match.mayMatch(this.#endpoints, place) ? { policy, target: undefined } : [];
      const target = policy.match.target(this.#endpoints, place, "");
      return target === undefined ? [] : { policy, target };
    });
  }

  /** In the order of names, so that the first denial is always the same one. */
  #bind(): readonly IndexedPolicy<Spec, Compiled>[] {
    const byPolicy = new Map<string, IndexedBinding[]>();
    for (const binding of [...this.#bindings.values()].toSorted(byName)) {
      const { policyName = "" } = binding.spec;
      const known = byPolicy.get(policyName);
      if (known === undefined) byPolicy.set(policyName, [binding]);
      else known.push(binding);
    }
    return [...this.#policies.values()].toSorted(byName).flatMap((policy) => {
      const bindings = byPolicy.get(policy.name);
      return bindings === undefined ? [] : { ...policy, bindings };
    });
  }

  #forget(): void {
    this.#bound = undefined;
    this.#matches = new WeakMap();
  }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
