/** All plugins of the DNS server; each states its position in the chain. One more is a folder and a line here. */
import type { DnsPlugin } from "../plugin.ts";
import { cache } from "./cache/cache.ts";
import { errors } from "./errors/errors.ts";
import { forward } from "./forward/forward.ts";
import { health } from "./health/health.ts";
import { hosts } from "./hosts/hosts.ts";
import { kubernetes } from "./kubernetes/kubernetes.ts";
import { metrics } from "./metrics/metrics.ts";

export const dnsPlugins: readonly DnsPlugin[] = [errors, metrics, health, hosts, kubernetes, cache, forward];
