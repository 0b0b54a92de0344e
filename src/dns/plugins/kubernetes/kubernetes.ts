/**
 * Plugin `kubernetes`: the names of Services, endpoints and Pods, and the reverse names of their addresses. Answers follow the watch at
 * once. Until the first sync, names of the cluster are answered with SERVFAIL, which clients retry; a wrong NXDOMAIN they would believe.
 */
import { createInformers } from "../../../client/informer/informers.ts";
import { answerRecords, failure } from "../../answers.ts";
import { addressOfReverseName } from "../../addresses.ts";
import type { DnsAnswer, DnsPlugin, DnsQuery, Handled, PluginContext, RunningPlugin } from "../../plugin.ts";
import { RCODE, TYPE } from "../../wire/codes.ts";
import { isWithin } from "../../wire/names.ts";
import { answerName, answerReverse, type Alias, type NameOptions } from "./answer-name.ts";
import { createClusterIndex } from "./cluster-index.ts";

/** Maximum length of a chain of aliases. */
const ALIASES_MAX = 8;

/** Times of the SOA record, as CoreDNS has them. No server transfers the zone, so only its minimum has a meaning. */
const SOA_TIMES = { refreshSeconds: 7_200, retrySeconds: 1_800, expireSeconds: 86_400 };

export const kubernetes: DnsPlugin = {
  name: "kubernetes",
  order: 50,
  async start(context): Promise<RunningPlugin> {
    const { transport, clock, random, log } = context;
    const informers = createInformers({ transport, clock, random: random.derive("dns-informers"), log });
    const index = createClusterIndex(informers, (subject) => context.changed(subject));
    const options = nameOptions(context);
    const { zone } = options;
    return {
      isReady: () => index.isSynced,
      handle(query, next) {
        const { name, type } = query;
        if (isWithin(name, zone.name)) {
          if (!index.isSynced) return failure(RCODE.SERVFAIL);
          const found = answerName(query, index, options);
          return found.is === "alias" ? answerAlias(found, query, context) : found;
        }
        const address = type === TYPE.PTR || type === TYPE.ANY ? addressOfReverseName(name) : undefined;
        if (address === undefined) return next(query);
        // Not answered by upstreams before: an address of the cluster could be one of the site's network, too.
        if (!index.isSynced) return failure(RCODE.SERVFAIL);
        return answerReverse({ name, address }, index, options) ?? next(query);
      },
      [Symbol.asyncDispose]: () => informers.close(),
    };
  },
};

function nameOptions({ configuration, clock }: PluginContext): NameOptions {
  const { zone: name, kubernetes: own } = configuration;
  const { ttlSeconds } = own;
  const serial = Math.floor(clock.now() / 1_000);
  const soa = { server: `ns.dns.${name}`, mailbox: `hostmaster.${name}`, serial, ...SOA_TIMES, minimumSeconds: ttlSeconds };
  return { zone: { name, ttlSeconds, soa }, hasPodNames: own.pods === "insecure" };
}

/** The alias and what its target resolves to. A target that cannot be resolved leaves the alias, as with CoreDNS. */
function answerAlias({ record, target, subject }: Alias, query: DnsQuery, context: PluginContext): Handled {
  const alias = { is: "records", rcode: RCODE.NOERROR, isAuthoritative: true, answers: [record], authority: [], additional: [] } as const;
  if (query.type === TYPE.CNAME || query.type === TYPE.ANY) return { ...alias, subject };
  if (query.type === TYPE.SRV || query.depth >= ALIASES_MAX) return alias;
  const withTarget = (answer: DnsAnswer): DnsAnswer => ({ ...alias, answers: [record, ...answerRecords(answer)] });
  const resolved = context.resolve(target, query.type, query);
  return resolved instanceof Promise ? resolved.then(withTarget, () => alias) : withTarget(resolved);
}
