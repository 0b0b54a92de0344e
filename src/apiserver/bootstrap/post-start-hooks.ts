/**
 * Tracks which post-start hooks have finished, by upstream's names (poststarthook/NAME of /healthz, /livez and /readyz). Upstream's hooks
 * without a counterpart in this server are not listed.
 */

/** In upstream's order, which is the order of the checks. */
const HOOKS = [
  "start-apiserver-admission-initializer",
  "generic-apiserver-start-informers",
  "priority-and-fairness-config-consumer",
  "priority-and-fairness-filter",
  "start-apiextensions-informers",
  "start-apiextensions-controllers",
  "crd-informer-synced",
  "start-system-namespaces-controller",
  "start-cluster-authentication-info-controller",
  "storage-readiness",
  "start-legacy-token-tracking-controller",
  "start-service-ip-repair-controllers",
  "rbac/bootstrap-roles",
  "scheduling/bootstrap-system-priority-classes",
  "priority-and-fairness-config-producer",
  "bootstrap-controller",
  "start-kubernetes-service-cidr-controller",
  "start-kube-aggregator-informers",
  "apiservice-status-local-available-controller",
  "apiservice-status-remote-available-controller",
  "apiservice-registration-controller",
  "apiservice-discovery-controller",
  "kube-apiserver-autoregistration",
  "autoregister-completion",
  "apiservice-openapi-controller",
  "apiservice-openapiv3-controller",
] as const;

export type PostStartHook = (typeof HOOKS)[number];

/** Hooks of API Priority and Fairness. */
export const FAIRNESS_HOOKS = ["priority-and-fairness-config-consumer", "priority-and-fairness-filter"] as const;

/** Hooks of custom resources, which are one part here. */
export const CUSTOM_RESOURCE_HOOKS = ["start-apiextensions-informers", "start-apiextensions-controllers", "crd-informer-synced"] as const;

/** Hooks of aggregation, which is one part here. */
export const AGGREGATION_HOOKS = [
  "start-kube-aggregator-informers",
  "apiservice-status-local-available-controller",
  "apiservice-status-remote-available-controller",
  "apiservice-registration-controller",
  "apiservice-discovery-controller",
  "kube-apiserver-autoregistration",
  "autoregister-completion",
  "apiservice-openapi-controller",
  "apiservice-openapiv3-controller",
] as const;

/** A check of upstream's that waits for a hook, but is none itself. */
const PLAIN_CHECK: PostStartHook = "autoregister-completion";

export class PostStartHooks {
  readonly #hooks: readonly PostStartHook[];
  readonly #finished = new Set<PostStartHook>();

  /** `without`: hooks that the configuration of this server disables. */
  constructor({ without = [] }: { readonly without?: readonly PostStartHook[] } = {}) {
    this.#hooks = HOOKS.filter((hook) => !without.includes(hook));
  }

  /** Undefined: a step without an upstream hook name. */
  finished(hook: PostStartHook | undefined): void {
    if (hook !== undefined) this.#finished.add(hook);
  }

  isFinished(hook: PostStartHook): boolean {
    return this.#finished.has(hook);
  }

  checks(): readonly { readonly name: string; readonly ok: boolean; readonly reason: string }[] {
    return this.#hooks.map((hook) => ({
      name: hook === PLAIN_CHECK ? hook : `poststarthook/${hook}`,
      ok: this.#finished.has(hook),
      reason: "not finished",
    }));
  }
}
