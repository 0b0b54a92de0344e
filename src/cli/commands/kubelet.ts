/** `k8ts kubelet`: runs the kubelet of this machine as a separate process until a signal. */
import { nodes } from "../../api/core/v1/node.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { ConnectionConfig } from "../../client/kubeconfig/connection-config.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { createClient } from "../../client/rest-client.ts";
import { silentLogger } from "../../base/logger.ts";
import { isPipe } from "../../host/files/files.ts";
import { StopOrder } from "../../host/processes/supervision.ts";
import { isServerThere, type AwaitedServer } from "../../config/await-server.ts";
import { defineCommand, type Io } from "../framework/command.ts";
import { connectionFileCheck, connectionSource, loadConnection } from "../../config/connection-flags.ts";
import { parseArguments, type FlagValues } from "../framework/flags.ts";
import { readFileFlagBytes } from "../framework/file-flag.ts";
import { networkStatusLine } from "../../components/network/network-status-line.ts";
import { startHttpPages, type HttpPages } from "../../components/pages/http-pages.ts";
import {
  kubeletCommandFlags,
  kubeletFileFlags,
  kubeletFileChecks,
  kubeletProblems,
  type KubeletFlagValues,
} from "../../config/kubelet-flags.ts";
import { readKubeletConfigFile, type KubeletConfigFile } from "../../config/kubelet-config-file.ts";
import { findKubeletRuntime, kubeletNodeName, startKubeletNode } from "../../components/node/kubelet-node.ts";
import { listenOrExplain } from "../../cluster/listen-or-explain.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { STOP_PODS_ORDER, STOP_GRACE_MS } from "../../components/node/stop-pods-order.ts";
import { UnusableFiles } from "../framework/unusable-files.ts";
import { waitForStop } from "../framework/wait-for-stop.ts";

const FILE_DEFAULTS = parseArguments({ flags: kubeletFileFlags, arguments: {} }, []).values;

export const kubelet = defineCommand({
  description:
    "Join this machine to a cluster as a node and run the Pods bound to it on an installed container runtime, until Ctrl-C (SIGINT) or SIGTERM. Containers keep running when the kubelet stops; the next start takes them over.",
  flags: kubeletCommandFlags,
  arguments: {},
  examples: [
    "k8ts kubelet --kubeconfig kubelet.conf --client-ca-file pki/ca.crt",
    "k8ts kubelet --kubeconfig kubelet.conf --config kubelet.yaml --hostname-override node-2",
    "k8ts kubelet --kubeconfig kubelet.conf --pod-cidr 10.244.1.0/24",
    "k8ts kubelet --kubeconfig kubelet.conf --node-labels disk=ssd --max-pods 50",
  ],
  options(typed, _environment, given) {
    // Combinations are validated after the file is read: it may supply what the flags alone lack.
    const problems = typed.config === undefined ? kubeletProblems({ ...FILE_DEFAULTS, ...typed }) : [];
    return problems.length === 0 ? { ok: true, options: { typed, given } } : { ok: false, problems };
  },

  async fileProblems(typed, environment, given) {
    if (typed.config !== undefined && (await isPipe(typed.config))) return problemsOfFiles(connectionFileCheck(typed, environment));
    const { values, problems } = await readGivenConfig({ typed, given });
    return [...problems, ...(await problemsOfFiles([...connectionFileCheck(values, environment), ...kubeletFileChecks(values)]))];
  },

  async run({ typed, given }, io) {
    const { clock, signal } = io;
    const log = io.log.with({ part: "kubelet" });
    const { values, problems } = await clock.external(readGivenConfig({ typed, given }));
    if (problems.length > 0) throw new UnusableFiles(problems);
    const connection = await loadConnection(values, io);
    const runtime = await clock.external(findKubeletRuntime(values, clock));
    await using _health = await healthPage(values, io);
    const source = connectionSource(values, io.environment, connection);
    if (!(await isNodesServerThere({ connection, source }, kubeletNodeName(values), io))) return;
    const place = { address: values.address, port: values.port, addressFlag: "--address", portFlag: "--port" };
    const warn = (message: string): void => io.note(`warning: ${message}`);
    const start = () => startUnlessStopped({ values, runtime, connection, clock, log, signal, warn });
    await using node = await listenOrExplain(place, io, start);
    if (node === undefined) return;
    const { network, nodeName } = node;
    const report = (): void => (network === undefined ? undefined : io.out(networkStatusLine(nodeName, network.list)));
    network?.onChange(report);
    report();
    io.out(`registered node ${node.nodeName} with ${connection.server}, container runtime ${node.runtime}, listening on port ${node.port}`);
    await waitForStop(io);
    io.out("Stopping");
    if (signal.reason instanceof StopOrder && signal.reason.order === STOP_PODS_ORDER) await node.stopPods({ graceMs: STOP_GRACE_MS });
  },
});

async function startUnlessStopped(options: Parameters<typeof startKubeletNode>[0]) {
  try {
    return await startKubeletNode(options);
  } catch (error) {
    if (options.signal.aborted) return undefined;
    throw error;
  }
}

interface Given {
  readonly typed: FlagValues<typeof kubeletCommandFlags>;
  /** Names of the flags that were set on the command line. */
  readonly given: ReadonlySet<string>;
}

/** Merges file and flags; a flag on the command line wins. Invalid combinations are reported here only if there is a file. */
async function readGivenConfig({
  typed,
  given,
}: Given): Promise<{ readonly values: KubeletFlagValues; readonly problems: readonly string[] }> {
  const { config } = typed;
  if (config === undefined) return { values: { ...FILE_DEFAULTS, ...typed }, problems: [] };
  const file = await readFile(config);
  const values: KubeletFlagValues = {
    ...FILE_DEFAULTS,
    ...typed,
    ...Object.fromEntries(file.values),
    ...Object.fromEntries(Object.entries(typed).filter(([name]) => given.has(name))),
  };
  return { values, problems: [...file.problems, ...kubeletProblems(values)] };
}

async function readFile(path: string): Promise<KubeletConfigFile> {
  try {
    return readKubeletConfigFile(path, await readFileFlagBytes(path, "--config"));
  } catch (error) {
    return { values: new Map(), problems: [(error as Error).message] };
  }
}

/** Like upstream's: shows that the process is alive. If it cannot listen, the kubelet still runs Pods. */
async function healthPage(values: KubeletFlagValues, io: Io): Promise<HttpPages | undefined> {
  const [host, port] = [values["healthz-bind-address"], values["healthz-port"]];
  if (port === 0) return undefined;
  const anotherPort = "--healthz-port (0 disables it)";
  const place = { address: host, port, addressFlag: "--healthz-bind-address", portFlag: "--healthz-port", anotherPort };
  return listenOrExplain(place, io, () => io.clock.external(startHttpPages({ host, port }, {}))).catch((error: unknown) => {
    io.log.warn("Serving GET /healthz failed", { error });
    return undefined;
  });
}

interface NodesServer extends Pick<AwaitedServer, "source"> {
  readonly connection: ConnectionConfig;
}

/** Waits until the API server authenticates this node. False: cancelled before that. */
async function isNodesServerThere({ connection, source }: NodesServer, name: string, io: Io): Promise<boolean> {
  const { clock, signal } = io;
  await using transport = httpsTransport(connection, { clock, log: silentLogger, userAgent: "kubelet" });
  const client = createClient(transport).with({ signal });
  const query = () =>
    client.get(nodes, { name }).catch((error: unknown) => {
      // The Node may not be registered yet.
      if (!isReason(error, "NotFound")) throw error;
    });
  // Awaited here: the transport is closed when this function returns.
  return await isServerThere({ server: connection.server, source, query }, io);
}
