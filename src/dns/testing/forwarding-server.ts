/** A DNS server for tests that only forwards, on real sockets. */
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { openDatagramSocket, exchangeDatagram, type DatagramPeer } from "../../host/network/datagrams.ts";
import { realClock } from "../../host/real-clock.ts";
import { DEFAULT_DNS_CONFIGURATION } from "../configuration.ts";
import { dnsPlugins } from "../plugins/all.ts";
import { startDns } from "../start-dns.ts";
import { ask } from "./dns-client.ts";
import { pluginContext } from "./plugin-context.ts";

/** Long enough for a server in this process on a loaded machine, short enough for tests of silence. */
const TIMEOUT_MS = 1_000;

export interface ForwardingServer extends AsyncDisposable {
  readonly peer: DatagramPeer;
  /** The answer without its TTL, which depends on its age. */
  ask(name: string): Promise<string>;
}

export interface ForwardingServerOptions {
  readonly upstreams: readonly string[];
  /** Default: that of the configuration. */
  readonly concurrencyMax?: number;
}

export async function startForwardingServer({
  upstreams,
  concurrencyMax = DEFAULT_DNS_CONFIGURATION.forward.concurrencyMax,
}: ForwardingServerOptions): Promise<ForwardingServer> {
  const dns = await startDns({
    configuration: {
      ...DEFAULT_DNS_CONFIGURATION,
      plugins: ["errors", "metrics", "cache", "forward"],
      forward: { ...DEFAULT_DNS_CONFIGURATION.forward, upstreams, concurrencyMax, timeoutMs: TIMEOUT_MS },
    },
    plugins: dnsPlugins,
    transport: pluginContext(realClock).transport,
    listen: [{ host: "127.0.0.1", port: 0 }],
    ...{ clock: realClock, random: seededRandom(Date.now()), log: silentLogger },
  });
  const peer = { address: dns.host, port: dns.port };
  return {
    peer,
    ask: async (name) => (await ask(peer, name)).replace(/ \d+ A /, " A "),
    [Symbol.asyncDispose]: () => dns[Symbol.asyncDispose](),
  };
}

export interface Relay extends AsyncDisposable {
  readonly name: string;
  /** Datagrams received before are relayed now. */
  relayTo(peer: DatagramPeer): void;
}

/** Passes queries to another server and its responses back. */
export async function startRelay(): Promise<Relay> {
  let found: (peer: DatagramPeer) => void = () => {};
  const target = new Promise<DatagramPeer>((resolve) => (found = resolve));
  const stop = new AbortController();
  const socket = await openDatagramSocket({
    ...{ host: "127.0.0.1", port: 0 },
    receive(bytes, from) {
      void target
        .then((to) => exchangeDatagram({ to, bytes, accepts: () => true, signal: stop.signal }))
        .then((answer) => socket.send(answer, from))
        .catch(() => undefined);
    },
  });
  return {
    name: `127.0.0.1:${socket.port}`,
    relayTo: (peer) => found(peer),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await socket[Symbol.asyncDispose]();
    },
  };
}
