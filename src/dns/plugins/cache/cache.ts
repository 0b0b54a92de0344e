/**
 * Plugin `cache`: keeps responses of the plugin `forward`, positive and negative, for the time that their TTLs allow. It comes after
 * `kubernetes`, so that names of the cluster are never stale. Queries for the same name at the same time share one request.
 */
import { Lru } from "../../../base/lru.ts";
import type { DnsAnswer, DnsPlugin, DnsQuery, MessageAnswer, Next, RunningPlugin } from "../../plugin.ts";
import { FLAG } from "../../wire/codes.ts";
import { agedMessage, cachedMessage, type CachedMessage } from "./cached-message.ts";

/** An entry that was used this often is refreshed when less than PREFETCH_SHARE of its time is left (if prefetch is on). */
const PREFETCH_HITS = 5;
const PREFETCH_SHARE = 0.1;

interface Entry extends CachedMessage {
  readonly storedMs: number;
  hits: number;
  isRefreshing: boolean;
}

export const cache: DnsPlugin = {
  name: "cache",
  order: 60,
  async start({ configuration, clock }): Promise<RunningPlugin> {
    const bounds = configuration.cache;
    const entries = new Lru<string, Entry>({ max: Math.max(1, bounds.entriesMax) });
    const pending = new Map<string, Promise<DnsAnswer>>();
    const counts = { hits: 0, misses: 0, prefetches: 0 };

    const keep = (key: string, answer: DnsAnswer): DnsAnswer => {
      const cached = answer.is === "message" ? cachedMessage(answer.bytes, bounds) : undefined;
      if (cached !== undefined) entries.set(key, { ...cached, storedMs: clock.monotonic(), hits: 0, isRefreshing: false });
      return answer;
    };
    const load = (key: string, query: DnsQuery, next: Next) => {
      const handled = next(query);
      if (!(handled instanceof Promise)) return keep(key, handled);
      const loading = handled.then((answer) => keep(key, answer)).finally(() => pending.delete(key));
      pending.set(key, loading);
      return loading;
    };
    const refresh = (key: string, entry: Entry, of: { readonly query: DnsQuery; readonly next: Next }) => {
      entry.isRefreshing = true;
      counts.prefetches++;
      const loading = load(key, of.query, of.next);
      // The entry stays if it fails.
      if (loading instanceof Promise) loading.catch(() => (entry.isRefreshing = false));
    };
    const find = (key: string, query: DnsQuery, next: Next): MessageAnswer | undefined => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const ageSeconds = Math.floor((clock.monotonic() - entry.storedMs) / 1_000);
      const leftSeconds = entry.ttlSeconds - ageSeconds;
      if (leftSeconds <= 0) return void entries.delete(key);
      entry.hits++;
      const isDue = bounds.prefetch && entry.hits >= PREFETCH_HITS && leftSeconds <= Math.max(1, entry.ttlSeconds * PREFETCH_SHARE);
      if (isDue && !entry.isRefreshing) refresh(key, entry, { query, next });
      return { is: "message", rcode: entry.rcode, bytes: agedMessage(entry, ageSeconds) };
    };
    return {
      handle(query, next) {
        const key = keyOf(query);
        const found = find(key, query, next);
        if (found !== undefined) {
          counts.hits++;
          return found;
        }
        counts.misses++;
        return pending.get(key) ?? load(key, query, next);
      },
      metrics: () => [
        counter("coredns_cache_hits_total", "The count of cache hits.", counts.hits),
        counter("coredns_cache_misses_total", "The count of cache misses.", counts.misses),
        counter("coredns_cache_prefetch_total", "The number of times the cache has prefetched a cached item.", counts.prefetches),
        { ...counter("coredns_cache_entries", "The number of elements in the cache.", entries.size), type: "gauge" },
      ],
      async [Symbol.asyncDispose]() {},
    };
  },
};

/** Everything that changes the response of an upstream. */
function keyOf({ name, type, flags, edns }: DnsQuery): string {
  return `${type} ${flags & FLAG.CHECKING_DISABLED} ${edns === undefined ? "-" : edns.isDnssecOk ? "d" : "e"} ${name}`;
}

function counter(name: string, help: string, value: number) {
  return { name, help, type: "counter" as const, samples: [{ labels: {}, value }] };
}
