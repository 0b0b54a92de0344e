/**
 * The webhooks of all configurations of one kind, indexed by endpoint, operation and subresource: a request that no webhook wants costs one
 * lookup. A change of a configuration takes effect with the next request.
 */
import type { MutatingWebhook, ValidatingWebhook } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import type { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import type { Endpoint, Endpoints } from "../../framework/endpoints.ts";
import type { Follower } from "../../framework/objects.ts";
import { findTarget, type AdmissionTarget } from "../admission/admission-target.ts";
import { CompiledOnce } from "../admission-policy/compiled-once.ts";
import { compileConditions, type CompiledCondition } from "../admission-policy/match-conditions.ts";
import type { RequestSelectors } from "../admission/selected-request.ts";
import { isExemptFromWebhooks } from "../admission/vital-requests.ts";

/** Both kinds; a validating webhook has no reinvocation policy. */
export type Webhook = MutatingWebhook | ValidatingWebhook;

export interface ConfiguredWebhook extends RequestSelectors {
  readonly configuration: string;
  readonly webhook: Webhook;
  /** Unique among all webhooks, also if one configuration has two of the same name. */
  readonly id: string;
  readonly conditions: CompiledOnce<readonly CompiledCondition[]>;
}

/** A webhook whose rules match, and the version in which it gets the object. */
export interface WebhookMatch {
  readonly hook: ConfiguredWebhook;
  readonly target: AdmissionTarget;
}

const NO_MATCHES: readonly WebhookMatch[] = [];

interface Configuration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}

export class ConfiguredWebhooks implements Follower {
  readonly #endpoints: Endpoints;
  readonly #turns: EvaluationTurns;
  readonly #configurations = new Map<string, readonly ConfiguredWebhook[]>();
  /** In the order of calling: by the names of configurations, as upstream. Computed on first use after a change. */
  #hooks: readonly ConfiguredWebhook[] | undefined;
  #matches = new WeakMap<Endpoint, Map<string, readonly WebhookMatch[]>>();

  constructor({ endpoints, evaluations }: Pick<AdmissionDependencies, "endpoints" | "evaluations">) {
    this.#endpoints = endpoints;
    this.#turns = evaluations;
    // A rule may match by a version that was not served before.
    endpoints.onChange(() => this.#forget());
  }

  /** Those whose rules match; selectors and conditions are up to the caller. */
  matching(request: AdmissionRequest): readonly WebhookMatch[] {
    if (this.#configurations.size === 0) return NO_MATCHES;
    const { endpoint, operation, subresource } = request;
    let known = this.#matches.get(endpoint);
    if (known === undefined) this.#matches.set(endpoint, (known = new Map()));
    const key = `${operation}/${subresource}`;
    let matches = known.get(key);
    if (matches === undefined) known.set(key, (matches = this.#match({ endpoint, operation, subresource })));
    return matches.length === 0 || isExemptFromWebhooks(request) ? NO_MATCHES : matches;
  }

  put(object: KubeObject): void {
    const { metadata, webhooks = [] } = object as Configuration;
    this.#configurations.set(
      metadata.name,
      webhooks.map((webhook, index) => this.#configured(metadata.name, webhook, index)),
    );
    this.#forget();
  }

  remove({ metadata }: KubeObject): void {
    this.#configurations.delete(metadata.name);
    this.#forget();
  }

  reset(): void {
    this.#configurations.clear();
    this.#forget();
  }

  #match(place: Pick<AdmissionRequest, "endpoint" | "operation" | "subresource">): readonly WebhookMatch[] {
    this.#hooks ??= [...this.#configurations].toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, hooks]) => hooks);
    return this.#hooks.flatMap((hook) => {
      const { rules = [], matchPolicy = "Equivalent" } = hook.webhook;
      const target = findTarget(this.#endpoints, place, { rules, matchPolicy });
      return target === undefined ? [] : { hook, target };
    });
  }

  #forget(): void {
    this.#hooks = undefined;
    this.#matches = new WeakMap();
  }

  #configured(configuration: string, webhook: Webhook, index: number): ConfiguredWebhook {
    return {
      conditions: new CompiledOnce(this.#turns, () => compileConditions(webhook.matchConditions ?? [], { hasParams: false })),
      configuration,
      webhook,
      id: `${configuration}/${webhook.name}/${index}`,
      namespaceSelector: labelSelectorFromObject(webhook.namespaceSelector ?? {}),
      objectSelector: labelSelectorFromObject(webhook.objectSelector ?? {}),
    };
  }
}
