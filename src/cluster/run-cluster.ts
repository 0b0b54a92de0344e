/**
 * Lifecycle of a cluster in this process: what is started, the context in the user's kubeconfig, the record, and suggested next steps. Not
 * here: what every home has in common (run-home.ts).
 */
import { findOnPath } from "../host/processes/find-program.ts";
import { PAUSE_IMAGE } from "../kubelet/machine/images/pause-image-name.ts";
import type { Io } from "../cli/framework/command.ts";
import { version } from "../base/generated/version.ts";
import type { ListenPlace } from "../cli/framework/listen-errors.ts";
import { shellQuote } from "../cli/framework/shell-quote.ts";
import { DASHBOARD_PATH } from "../dashboard/data/paths.ts";
import { fileExists } from "../host/files/files.ts";
import { listenOrExplain } from "./listen-or-explain.ts";
import type { HeldHome } from "./home/cluster-home.ts";
import type { ClusterRecord } from "./home/cluster-record.ts";
import { startCluster, type StartedCluster } from "./start-cluster.ts";
import { nextSteps } from "./next-steps.ts";
import { runInHome, type RunningHome } from "./run-home.ts";
import type { UpOptions } from "./up-options.ts";
import { addContext, type AddedContext } from "./kubeconfig/user-contexts.ts";

/** Runs until cancelled; with --detach, until the background process is ready. */
export async function runCluster(options: UpOptions, io: Io): Promise<void> {
  await runInHome(
    {
      home: options.home,
      isDetached: options.isDetached,
      mode: options.processes === undefined ? "one process" : "one process per component",
      noun: "cluster",
      check: checkNotJoined,
      start: (running) => start({ ...running, options }),
      introduce: (running, cluster, begun) => introduce({ ...running, options }, cluster, begun),
    },
    io,
  );
}

/** A joined node has the certificate of another cluster. */
async function checkNotJoined({ home }: HeldHome): Promise<void> {
  if (await fileExists(home.joinRecord))
    throw new Error(
      `Cannot start a cluster in ${home.directory}: this machine is a node of another cluster there; start that with ` +
        `"k8ts join${home.commandArguments}", remove it with "k8ts reset${home.commandArguments}", or choose another --name`,
    );
}

interface Running extends RunningHome {
  readonly options: UpOptions;
}

async function start({ options, held, steps, log, io }: Running): Promise<StartedCluster> {
  const context = { held, environment: io.environment, steps, clock: io.clock, log, signal: io.signal };
  return listenOrExplain(placeOf(options), io, async () => {
    const { processes, testControl } = options;
    if (testControl !== undefined) {
      // Loaded on demand.
      const { startTestCluster } = await io.clock.external(import("./start-test-cluster.ts"));
      return startTestCluster({ ...options, testControl }, context);
    }
    if (processes === undefined) return startCluster(options, context);
    // Loaded on demand.
    const { startProcesses } = await io.clock.external(import("./processes/start-processes.ts"));
    return startProcesses({ ...options, processes }, context);
  });
}

function placeOf({ listenFlags, apiServer: { serving } }: UpOptions): ListenPlace {
  return {
    address: serving.bindAddress,
    port: serving.securePort,
    addressFlag: listenFlags.address,
    portFlag: listenFlags.port,
    anotherPort: "--listen ADDRESS:PORT (port 0 picks a free port)",
  };
}

/** Announces the running cluster: kubeconfig, record, output. */
async function introduce(running: Running, cluster: StartedCluster, begun: ClusterRecord): Promise<ClusterRecord> {
  const { held, io, options } = running;
  const put = await mergeContext(running, cluster);
  const record: ClusterRecord = {
    ...begun,
    state: "running",
    context: put?.context ?? held.home.context,
    parts: cluster.list,
    ...(cluster.door === undefined ? {} : { server: cluster.door.url, adminKubeconfig: cluster.door.kubeconfig }),
    ...(put === undefined ? {} : { kubeconfig: put.kubeconfig }),
    ...(cluster.node === undefined ? {} : { node: cluster.node }),
  };
  await io.clock.external(held.writeRecord(record));
  for (const line of summary(record, cluster, running, put)) io.out(line);
  io.out(options.isDetached ? `"k8ts down${held.home.commandArguments}" stops it` : "Ctrl-C stops it");
  return record;
}

/** Undefined if none was written. A file that cannot be written does not prevent the start. */
async function mergeContext({ options, held, steps, io }: Running, { door }: StartedCluster): Promise<AddedContext | undefined> {
  const { kubeconfigs: files } = options;
  if (files.length === 0 || door === undefined) return undefined;
  const { clock, environment } = io;
  const entry = { server: door.url, authority: door.authority, ...door.admin };
  try {
    const put = await steps.step("wrote kubeconfig", () => clock.external(addContext(held.home, { files, entry, environment, clock })));
    for (const warning of put.warnings) steps.note(`  warning: ${warning}`);
    return put;
  } catch (error) {
    steps.note(`  warning: ${(error as Error).message}`);
    return undefined;
  }
}

function summary(
  record: ClusterRecord,
  cluster: StartedCluster,
  { held, options, io }: Running,
  put: AddedContext | undefined,
): readonly string[] {
  const isSimulated = options.simulatedNodes > 0 || cluster.simulatedBecause !== undefined;
  const podsAre = cluster.node !== undefined ? "containers" : isSimulated ? "simulated" : "nothing";
  const { kubeconfig, adminKubeconfig = "", parts = [] } = record;
  return [
    `k8ts ${version} is up (Kubernetes ${record.kubernetesVersion}):`,
    ...parts.map(({ name, description }) => `  ${name}: ${description}`),
    ...(cluster.simulatedBecause === undefined ? [] : [`Pods are simulated, no containers run: ${cluster.simulatedBecause}`]),
    ...(record.server === undefined || options.testControl !== undefined
      ? []
      : [`Dashboard: ${record.server}${DASHBOARD_PATH} ("k8ts dashboard${held.home.commandArguments}" prints a link that logs in)`]),
    ...(put?.isFoundByKubectl === true
      ? [`kubectl's current context is "${record.context}" (in ${kubeconfig})`]
      : [`export KUBECONFIG=${shellQuote(kubeconfig ?? adminKubeconfig)}`]),
    ...nextSteps({
      podsAre,
      commandArguments: held.home.commandArguments,
      hasKubectl: findOnPath("kubectl", io.environment["PATH"]) !== undefined,
      ...(isOwnRuntime(record, held) ? { presentImage: PAUSE_IMAGE } : {}),
    }),
  ];
}

/** Its sockets are in the cluster's runtime directory. */
function isOwnRuntime({ node }: ClusterRecord, { home }: HeldHome): boolean {
  return node?.runtimeEndpoint?.replace(/^unix:\/\//, "").startsWith(`${home.runtimeDirectory}/`) === true;
}
