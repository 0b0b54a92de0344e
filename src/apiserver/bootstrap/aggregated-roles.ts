/**
 * Keeps the rules of ClusterRoles that are put together from others: whenever any ClusterRole changes, those that differ from what they
 * should be are written, one after the other, under the name and with the rights of upstream's controller for it. What is as it should
 * be is not written, so it comes to rest.
 */
import type { ClusterRole } from "../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { aggregatedRules, haveSameRules } from "../../api/rbac.authorization.k8s.io/v1/aggregation.ts";
import type { Follower } from "../objects.ts";
import type { BootstrapContext } from "./bootstrap.ts";

const FIELD_MANAGER = "clusterrole-aggregation-controller";

const CLUSTER_ROLES = { group: "rbac.authorization.k8s.io", version: "v1", plural: "clusterroles", namespace: "" };

/** After something went wrong: the store may be gone, or the right to write not be given yet. */
const RETRY_MS = 1_000;

export class AggregatedRoles {
  readonly #context: BootstrapContext;
  /** By name, as far as is known: what was written here is known at once. */
  readonly #roles = new Map<string, ClusterRole>();
  readonly #closed = new AbortController();
  #isWoken = false;
  #isRunning = false;
  #isRetrying = false;

  /** `context.requests` are those of upstream's controller, which may escalate. */
  constructor(context: BootstrapContext) {
    this.#context = context;
  }

  /** Resolves when it knows what is there; what is to be written is written afterwards. */
  async start(): Promise<void> {
    const follower: Follower = {
      put: (role) => {
        this.#roles.set(role.metadata.name, role as unknown as ClusterRole);
        this.#wake();
      },
      gone: ({ metadata }) => {
        this.#roles.delete(metadata.name);
        this.#wake();
      },
      reset: () => this.#roles.clear(),
    };
    // All are told one by one, and looked at together.
    this.#isRunning = true;
    await this.#context.server.objects.follow(CLUSTER_ROLES, follower);
    void this.#run();
  }

  /** Nothing begins any more. What runs may wait for a store that is gone, so nobody waits for it. */
  close(): void {
    this.#closed.abort();
  }

  #wake(): void {
    this.#isWoken = true;
    if (!this.#isRunning && !this.#closed.signal.aborted) void this.#run();
  }

  /** However often it was woken, one pass after the other, and one more if something changed meanwhile. Never rejects. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isWoken && !this.#closed.signal.aborted) {
      this.#isWoken = false;
      await this.#pass();
    }
    // In the same turn as the last look at whether it was woken.
    this.#isRunning = false;
  }

  /** One that cannot be written does not keep the others from it. */
  async #pass(): Promise<void> {
    let failure: unknown;
    const aggregated = [...this.#roles.values()].filter(({ aggregationRule }) => aggregationRule !== undefined);
    for (const { metadata } of aggregated) {
      try {
        await this.#fill(metadata.name);
      } catch (error) {
        failure = error;
      }
    }
    if (failure !== undefined) this.#retry(failure);
  }

  #retry(failure: unknown): void {
    const { signal } = this.#closed;
    if (signal.aborted || this.#isRetrying) return;
    this.#isRetrying = true;
    const { clock, log } = this.#context.server;
    log.warn(`Aggregated ClusterRoles could not be written: ${String(failure)}; it is tried again in ${RETRY_MS / 1_000} s`);
    clock.sleep(RETRY_MS, signal).then(
      () => {
        this.#isRetrying = false;
        this.#wake();
      },
      () => undefined,
    );
  }

  /** By what is known now: another one that was written before it may be part of it. */
  async #fill(name: string): Promise<void> {
    const role = this.#roles.get(name);
    if (role === undefined || this.#closed.signal.aborted) return;
    const rules = aggregatedRules(role, this.#roles.values());
    // That a role has none is null.
    if (haveSameRules(rules, role.rules ?? [])) return;
    // Only what it is about is named, so nothing else of the role becomes this manager's. As upstream, no rules is to name none.
    const { apiVersion, kind } = role;
    const part = { apiVersion, kind, metadata: { name }, ...(rules.length === 0 ? {} : { rules }) };
    const { object } = await this.#context.requests.apply(CLUSTER_ROLES, part, FIELD_MANAGER);
    this.#roles.set(name, object as unknown as ClusterRole);
  }
}
