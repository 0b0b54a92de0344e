/**
 * etcd's leases for keys that expire. store/expiry.ts deletes such keys in time, each by a commit of its own. A lease ends some minutes
 * later and deletes what is left, all at once: it only matters where no API server of ours runs any more, because upstream's took over
 * or the cluster was given up. As upstream does, keys that expire at about the same time share a lease.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { LEASE_GRANT } from "./etcd-messages.ts";

/** How long after the time of expiry a lease ends at the earliest: longer than an API server that is restarted or busy lags behind. */
const MARGIN_MS = 10 * 60_000;

/** For how long later keys share a lease; upstream's value. A lease may be twice as much longer than a key needs. */
const REUSE_MS = 60_000;

/** Keys per lease, since etcd deletes them in one transaction; upstream's value. */
const KEYS_MAX = 1_000;

/** Leases that are reused at the same time: one per usual time to live (Events, quota marks, API servers) and some more. */
const LEASES_MAX = 8;

/** Longer than any object lives by its kind; etcd refuses leases of some hundred years. */
const DURATION_MS_MAX = 365 * 24 * 3_600_000;

/** A commit does not wait longer for a lease; it goes without. */
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

  /** A lease for `keys` keys that expire at `expiresAtMs`; undefined if there is none to be had. Does not reject. */
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
    log.debug("etcd granted no lease; expiring keys go without", { part: "expiry", failure: attempt.failure });
    return undefined;
  }
}
