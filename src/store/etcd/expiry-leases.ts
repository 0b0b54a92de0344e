/**
 * etcd leases for expiring keys. store/expiry.ts deletes such keys in time, each by its own commit. A lease expires some minutes later and
 * deletes what is left, all at once: it only matters where no k8ts API server runs any more, because upstream's took over or the cluster
 * was abandoned. As upstream does, keys that expire at about the same time share a lease.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { LEASE_GRANT } from "./etcd-messages.ts";

/** Minimum time from a key's expiry to the end of its lease: longer than a restarted or busy API server lags behind. */
const MARGIN_MS = 10 * 60_000;

/** How long later keys share a lease; upstream's value. A lease may last twice this longer than a key needs. */
const REUSE_MS = 60_000;

/** Keys per lease, since etcd deletes them in one transaction; upstream's value. */
const KEYS_MAX = 1_000;

/** Maximum number of leases reused concurrently: one per usual time to live (Events, quota marks, API servers) and some more. */
const LEASES_MAX = 8;

/** Longer than any object's time to live; etcd rejects leases of some hundred years. */
const DURATION_MS_MAX = 365 * 24 * 3_600_000;

/** Timeout of a commit for its lease; then it proceeds without. */
const GRANT_TIMEOUT_MS = 2_000;

interface Lease {
  readonly endsAtMs: number;
  /** Undefined: etcd did not grant it. */
  readonly id: Promise<bigint | undefined>;
  keys: number;
}

export interface ExpiryLeasesOptions {
  readonly cluster: Pick<EtcdCluster, "attempt">;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ExpiryLeases {
  readonly #options: ExpiryLeasesOptions;
  #leases: readonly Lease[] = [];

  constructor(options: ExpiryLeasesOptions) {
    this.#options = options;
  }

  /** A lease for `keys` keys that expire at `expiresAtMs`; undefined if none exists. Does not reject. */
  async leaseFor(expiresAtMs: number, keys: number): Promise<bigint | undefined> {
    const nowMs = this.#options.clock.now();
    const neededMs = Math.max(expiresAtMs, nowMs) + MARGIN_MS;
    if (neededMs - nowMs > DURATION_MS_MAX) return undefined;
    const fitting = this.#leases.find(
      (lease) => lease.endsAtMs >= neededMs && lease.endsAtMs <= neededMs + 2 * REUSE_MS && lease.keys + keys <= KEYS_MAX,
    );
    const lease = fitting ?? this.#add(neededMs + REUSE_MS, nowMs);
    lease.keys += keys;
    return lease.id;
  }

  #add(endsAtMs: number, nowMs: number): Lease {
    const lease = { endsAtMs, id: this.#grant(Math.ceil((endsAtMs - nowMs) / 1_000)), keys: 0 };
    this.#leases = [lease, ...this.#leases].slice(0, LEASES_MAX);
    void lease.id.then((id) => {
      if (id === undefined) this.#leases = this.#leases.filter((each) => each !== lease);
    });
    return lease;
  }

  async #grant(ttlSeconds: number): Promise<bigint | undefined> {
    const { cluster, log } = this.#options;
    const attempt = await cluster.attempt(GRANT_TIMEOUT_MS, (endpoint) =>
      endpoint.call(LEASE_GRANT, { ttlSeconds }, { timeoutMs: GRANT_TIMEOUT_MS }),
    );
    if (attempt.answered) return attempt.response.id;
    log.debug("etcd granted no lease; keys expire by our own timer", { part: "expiry", failure: attempt.failure });
    return undefined;
  }
}
