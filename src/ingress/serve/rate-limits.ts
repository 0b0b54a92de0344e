/** Requests per client address and Ingress. The number of recorded clients is bounded: the least recently seen are dropped. */
import { parseIp } from "../../api/machinery/ip/ip-address.ts";
import type { Clock } from "../../base/clock.ts";
import { Lru } from "../../base/lru.ts";
import { TokenBucket } from "../../base/rate-limiter.ts";
import type { RateLimit } from "../model.ts";

/** A few megabytes. */
const CLIENTS_MAX = 20_000;

/** A subscriber's share of IPv6: a client has all addresses of a /64. */
const IPV6_HOST_BITS = 64n;

interface Client {
  readonly limit: RateLimit;
  readonly bucket: TokenBucket;
}

export class RateLimits {
  readonly #clock: Clock;
  readonly #clients = new Lru<string, Client>({ max: CLIENTS_MAX });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True if the request is within the limit, and counts it. */
  admit(ingress: string, address: string, limit: RateLimit): boolean {
    const key = `${ingress} ${clientOf(address)}`;
    let client = this.#clients.get(key);
    if (client === undefined || client.limit.perSecond !== limit.perSecond || client.limit.burst !== limit.burst) {
      client = { limit, bucket: new TokenBucket({ clock: this.#clock, ...limit }) };
      this.#clients.set(key, client);
    }
    return client.bucket.takeNow();
  }
}

function clientOf(address: string): string {
  if (!address.includes(":")) return address;
  const parsed = parseIp(address);
  return parsed === undefined ? address : (parsed.value >> IPV6_HOST_BITS).toString(16);
}
