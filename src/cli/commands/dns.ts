/** `k8ts dns`: runs the DNS server as a separate process until a signal. */
import { Disposables } from "../../base/disposables.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { DNS_AGENT, pagesOfDns } from "../../components/network/dns.ts";
import { parseHttpAddress, startHttpPages, type HttpAddress } from "../../components/pages/http-pages.ts";
import { connectionFileCheck, connectionFlags, loadConnection } from "../../config/connection-flags.ts";
import { dnsFlags, readDnsConfiguration } from "../../config/dns-flags.ts";
import { dnsPlugins } from "../../dns/plugins/all.ts";
import { startDns } from "../../dns/start-dns.ts";
import { realRandom } from "../../host/real-random.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { defineCommand } from "../framework/command.ts";
import type { FlagSet } from "../framework/flags.ts";
import { explainListenError } from "../framework/listen-errors.ts";
import { waitForStop } from "../framework/wait-for-stop.ts";

const addressExpected = (text: string) => (parseHttpAddress(text) === undefined ? "an address such as 127.0.0.1:5353 or :53" : undefined);

const flags = {
  ...connectionFlags,
  listen: {
    type: "string",
    placeholder: "HOST:PORT",
    default: ":53",
    doc: "Address to answer queries on, UDP and TCP. Without a host: all IPv4 addresses.",
    expects: addressExpected,
  },
  "metrics-address": {
    type: "string",
    placeholder: "HOST:PORT",
    doc: "Address to serve /metrics, /health and /ready on, without TLS. Default: disabled.",
    expects: addressExpected,
  },
  "cluster-domain": { type: "string", placeholder: "NAME", default: "cluster.local", doc: "Domain of the cluster's names." },
  ...dnsFlags,
} as const satisfies FlagSet;

export const dns = defineCommand({
  description:
    "Answer DNS queries for the names of a cluster's Services and Pods, and forward others, until Ctrl-C (SIGINT) or SIGTERM. " +
    "k8ts up runs this server itself, with the Service kube-system/kube-dns; this command runs one more, for the host or another machine. " +
    "The user of the kubeconfig must be allowed to list and watch Services, EndpointSlices and namespaces.",
  flags,
  arguments: {},
  examples: [
    "k8ts dns --listen 127.0.0.1:5353",
    "k8ts dns --kubeconfig dns.conf --dns-upstreams 192.0.2.1 --metrics-address 127.0.0.1:9153",
  ],
  options: (values) => ({ ok: true, options: values }),

  fileProblems: (values, environment) => problemsOfFiles(connectionFileCheck(values, environment)),

  async run(values, io) {
    const { clock } = io;
    const log = io.log.with({ part: "dns" });
    const configuration = await clock.external(readDnsConfiguration(values, values["cluster-domain"]));
    const connection = await loadConnection(values, io);
    await using owned = new Disposables();
    const transport = owned.use(httpsTransport(connection, { clock, log, userAgent: DNS_AGENT }));
    const listen = parseHttpAddress(values.listen) ?? { host: "0.0.0.0", port: 53 };
    const starting = startDns({ configuration, plugins: dnsPlugins, transport, listen: [listen], clock, random: realRandom(), log });
    const server = owned.use(await starting.catch(explained("--listen", listen)));
    const metrics = parseHttpAddress(values["metrics-address"] ?? "");
    if (metrics !== undefined) {
      const pages = owned.use(await startHttpPages(metrics, pagesOfDns(server)).catch(explained("--metrics-address", metrics)));
      io.out(`serving metrics on ${pages.url}`);
    }
    io.out(`answering names of ${configuration.zone} on ${server.host}:${server.port} (${server.plugins.join(", ")})`);
    await waitForStop(io);
    io.out("Stopping");
  },
});

/** Rejects with the process that has the port, and the flag that chooses another. */
function explained(flag: string, { host, port }: HttpAddress): (error: unknown) => Promise<never> {
  const anotherPort = `${flag} HOST:PORT (port 0 picks a free port)`;
  return async (error) => {
    throw await explainListenError(error, { address: host, port, addressFlag: flag, portFlag: flag, anotherPort });
  };
}
