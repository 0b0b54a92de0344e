/**
 * Starts a DNS server: its plugins, their chain, and its sockets. It answers from the start; `isReady` is true when all plugins are, the
 * plugin `kubernetes` after its first sync. Not here: the Service that clients use (service/), HTTP pages (the component).
 */
import { Disposables } from "../base/disposables.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { DnsConfiguration } from "./configuration.ts";
import type { DnsPlugin, DnsQuery, Handled, Next, PluginContext, PluginPage, RunningPlugin } from "./plugin.ts";
import { openDnsSockets, type DnsSockets } from "./server/dns-server.ts";
import { QueryHandler } from "./server/query-handler.ts";
import { FLAG, RCODE } from "./wire/codes.ts";
import { writeQuestion } from "./wire/write-message.ts";

export interface DnsOptions {
  readonly configuration: DnsConfiguration;
  /** All that exist; the configuration enables some. */
  readonly plugins: readonly DnsPlugin[];
  readonly transport: Transport;
  /** Tried in order; port 0 is any free port. */
  readonly listen: readonly { readonly host: string; readonly port: number }[];
  /** An address of the other IP family, on which it listens, too: on the same port, or another one if that is taken. */
  readonly secondHost?: string | undefined;
  /** Other addresses that route to this server: the cluster IP of its Service. */
  readonly otherAddresses?: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface RunningDns extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Where it listens for the other IP family. */
  readonly second?: { readonly host: string; readonly port: number } | undefined;
  /** In the order in which a query passes through them. */
  readonly plugins: readonly string[];
  readonly isReady: boolean;
  /** Names of plugins that are not ready. */
  notReady(): readonly string[];
  readonly pages: Readonly<Record<string, () => PluginPage>>;
}

/** Names of enabled plugins that do not exist. */
export function unknownPlugins(names: readonly string[], plugins: readonly DnsPlugin[]): readonly string[] {
  return names.filter((name) => !plugins.some((plugin) => plugin.name === name));
}

interface Started {
  readonly name: string;
  readonly running: RunningPlugin;
}

export async function startDns(options: DnsOptions): Promise<RunningDns> {
  const { configuration, clock, log } = options;
  await using starting = new Disposables();
  const started: Started[] = [];
  // The handler is needed by plugins, and needs them: the chain is set when all have started.
  let chain: Next = () => ({ is: "records", rcode: RCODE.SERVFAIL, isAuthoritative: false, answers: [], authority: [], additional: [] });
  const observed: Required<RunningPlugin>["observed"][] = [];
  const isRecursive = configuration.plugins.includes("forward");
  const handler = new QueryHandler({ chain: (query) => chain(query), isRecursive, observed, clock, log });
  const sockets = starting.use(await openFirst(options, options.listen, handler));
  const second = await openSecond(options, sockets, handler);
  if (second !== undefined) starting.use(second);
  const notReady = () => started.filter(({ running }) => running.isReady?.() === false).map(({ name }) => name);
  const context: PluginContext = {
    ...options,
    listens: {
      addresses: [sockets.host, ...(second === undefined ? [] : [second.host]), ...(options.otherAddresses ?? [])],
      port: sockets.port,
    },
    resolve: (name, type, from) => chain(internalQuery(name, type, from)),
    changed: (subject) => handler.kept.drop(subject),
    changedAll: () => handler.kept.clear(),
    notReady,
    metrics: () => started.flatMap(({ running }) => running.metrics?.() ?? []),
  };
  for (const plugin of enabledPlugins(options)) {
    const running = starting.use(await plugin.start({ ...context, log: log.with({ plugin: plugin.name }) }));
    started.push({ name: plugin.name, running });
    if (running.observed !== undefined) observed.push((observation) => running.observed?.(observation));
  }
  chain = chainOf(started.map(({ running }) => running));
  const owned = starting.move();
  return {
    ...{ host: sockets.host, port: sockets.port, second, notReady },
    plugins: started.map(({ name }) => name),
    get isReady() {
      return notReady().length === 0;
    },
    pages: Object.assign({}, ...started.map(({ running }) => running.pages ?? {})) as RunningDns["pages"],
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function enabledPlugins({ configuration, plugins }: DnsOptions): readonly DnsPlugin[] {
  const enabled = plugins.filter(({ name }) => configuration.plugins.includes(name));
  return enabled.toSorted((a, b) => a.order - b.order);
}

async function openSecond(
  { secondHost: host, log }: DnsOptions,
  { port }: DnsSockets,
  handler: QueryHandler,
): Promise<DnsSockets | undefined> {
  if (host === undefined) return undefined;
  const places = [port, 0].map((one) => ({ host, port: one }));
  return openFirst({ log }, places, handler);
}

async function openFirst({ log }: Pick<DnsOptions, "log">, listen: DnsOptions["listen"], handler: QueryHandler): Promise<DnsSockets> {
  const problems: unknown[] = [];
  for (const place of listen) {
    try {
      return await openDnsSockets(place, handler);
    } catch (error) {
      log.info("Listening for DNS queries failed", { ...place, error });
      problems.push(error);
    }
  }
  throw problems[0];
}

function internalQuery(name: string, type: number, from: DnsQuery): DnsQuery {
  const question = writeQuestion(name, type);
  return { flags: FLAG.RECURSION_DESIRED, name, type, question, edns: undefined, transport: "internal", depth: from.depth + 1 };
}

/** A query that no plugin answers is refused, as by a server that is not responsible. */
function unanswered(): Handled {
  return { is: "records", rcode: RCODE.REFUSED, isAuthoritative: false, answers: [], authority: [], additional: [] };
}

export function chainOf(plugins: readonly Pick<RunningPlugin, "handle">[]): Next {
  return plugins.reduceRight<Next>((next, plugin) => {
    if (plugin.handle === undefined) return next;
    return (query) => plugin.handle?.(query, next) ?? next(query);
  }, unanswered);
}
