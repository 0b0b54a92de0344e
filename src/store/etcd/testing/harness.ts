/** What the tests of the etcd driver share: a real etcd and stores on it, all gone when the test is over. */
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
 * For tests that are not about members which are slow: a disk that is busy for seconds must not make the store send a commit again, after
 * which it may be that nobody can say what became of the first.
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

/** On it whoever is waited for answers in time, however long a busy machine takes for it. Nothing must be tried again after a pause. */
export const endlessWaits: Clock = { ...realClock, sleep: (_durationMs, signal) => realClock.sleep(Infinity, signal) };

export function openStore(endpoints: readonly string[], options: Partial<EtcdStoreOptions> = {}): Promise<Store> {
  return openEtcdStore({ endpoints, clock: realClock, random: seededRandom(testSeed()), log: silentLogger, ...options });
}

/** A store that is closed before the etcd under it goes. */
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

/** Writers, each of one key, that go on through every fault and remember what was acknowledged to them. */
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

  /** Every writer tries `writes` times; each write needs the one before it, as Kubernetes' do. */
  async write(options: { writers: number; writes: number; onAcknowledged?: (total: number) => unknown }): Promise<void> {
    await Promise.all(Array.from({ length: options.writers }, (_, writer) => this.#writeKey(`${PODS}writer${writer}`, options)));
  }

  /** What was acknowledged and is not among `changes` at its revision. */
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
