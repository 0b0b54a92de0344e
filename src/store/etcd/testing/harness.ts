/** Shared by the tests of the etcd driver: a real etcd and stores on it, all removed when the test is over. */
import type { TestContext } from "node:test";
import type { Clock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/logger.ts";
import { seededRandom } from "../../../base/random.ts";
import { realClock } from "../../../host/real-clock.ts";
import { startEtcd, type EtcdServer, type EtcdServerOptions } from "../../../testing/servers/etcd-server.ts";
import { testSeed } from "../../../testing/rounds.ts";
import { startTcpProxy, type TcpProxy } from "../../../testing/servers/tcp-proxy.ts";
import { PODS, absent, at, put, textOf } from "../../testing/harness.ts";
import type { Change, Store } from "../../store.ts";
import { isStoreError } from "../../store-error.ts";
import { openEtcdStore, type EtcdStoreOptions } from "../etcd-store.ts";

export async function etcd(context: TestContext, options: EtcdServerOptions = {}): Promise<EtcdServer> {
  const server = await startEtcd(options);
  context.after(async () => server[Symbol.asyncDispose]());
  return server;
}

/**
 * For tests that are not about slow members: a disk that is busy for seconds must not make the store retry a commit, after which the
 * outcome of the first may be unknown.
 */
export const PATIENT: Pick<EtcdStoreOptions, "timeouts"> = {
  timeouts: {
    openMs: 60_000,
    readAttemptMs: 30_000,
    readMs: 60_000,
    commitAttemptMs: 30_000,
    repeatableAttemptMs: 30_000,
    commitMs: 60_000,
  },
};

/** A clock on which awaited responses come in time, however busy the machine is. Nothing may rely on a retry after a delay. */
export const endlessWaits: Clock = { ...realClock, sleep: (_durationMs, signal) => realClock.sleep(Infinity, signal) };

export function openStore(endpoints: readonly string[], options: Partial<EtcdStoreOptions> = {}): Promise<Store> {
  return openEtcdStore({ endpoints, clock: realClock, random: seededRandom(testSeed()), log: silentLogger, ...options });
}

/** A store that is closed before its etcd stops. */
export async function storeOn(context: TestContext, endpoints: readonly string[], options: Partial<EtcdStoreOptions> = {}): Promise<Store> {
  const store = await openStore(endpoints, options);
  context.after(() => store.close());
  return store;
}

export async function proxyOf(context: TestContext, port: number): Promise<TcpProxy & { readonly url: string }> {
  const proxy = await startTcpProxy(port);
  context.after(async () => proxy[Symbol.asyncDispose]());
  return Object.assign(proxy, { url: `http://127.0.0.1:${proxy.port}` });
}

/** Writers, each of one key, that continue through every fault and record what was acknowledged. */
export class Writers {
  readonly #store: Store;
  /** `key=content` by revision. */
  readonly #acknowledged = new Map<number, string>();
  #uncertain = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  get uncertain(): number {
    return this.#uncertain;
  }

  /** Every writer tries `writes` times; each write depends on the one before it, as Kubernetes' do. */
  async write(options: { writers: number; writes: number; onAcknowledged?: (total: number) => unknown }): Promise<void> {
    await Promise.all(Array.from({ length: options.writers }, (_, writer) => this.#writeKey(`${PODS}writer${writer}`, options)));
  }

  /** Acknowledged writes that are missing from `changes` at their revision. */
  missingFrom(changes: readonly Change[]): readonly string[] {
    const shown = new Map(changes.map((change) => [change.revision, change.type === "put" ? `${change.key}=${textOf(change.value)}` : ""]));
    return [...this.#acknowledged]
      .filter(([revision, line]) => shown.get(revision) !== line)
      .map(([revision, line]) => `${line}@${revision}`);
  }

  async #writeKey(key: string, { writes, onAcknowledged }: { writes: number; onAcknowledged?: (total: number) => unknown }): Promise<void> {
    let found = (await this.#store.get(key))?.revision;
    for (let index = 0; index < writes; index++) {
      const content = `${found ?? 0}.${index}`;
      try {
        const result = await this.#store.commit([put(key, content, found === undefined ? absent : at(found))]);
        found = result.committed ? result.revision : result.failed[0]?.found?.revision;
        if (!result.committed) continue;
        this.#acknowledged.set(result.revision, `${key}=${content}`);
        onAcknowledged?.(this.#acknowledged.size);
      } catch (error) {
        if (!isStoreError(error, "Uncertain")) throw error;
        this.#uncertain += 1;
        found = (await this.#store.get(key))?.revision;
      }
    }
  }
}
