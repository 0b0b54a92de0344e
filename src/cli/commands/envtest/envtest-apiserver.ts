/** `k8ts envtest apiserver`: an API server that is started like kube-apiserver by controller-runtime's envtest, until SIGTERM. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Disposables } from "../../../base/disposables.ts";
import { listenOrExplain } from "../../../cluster/listen-or-explain.ts";
import { CONTROLLER_MANAGER_AGENT, controllerSettings, startControllersPart } from "../../../components/controllers.ts";
import { startStoreAndApiServer } from "../../../components/api-server/start-api-server.ts";
import { clusterFlagOptions, clusterFlags, type ClusterFlagOptions } from "../../../config/cluster-flags.ts";
import { realRandom } from "../../../host/real-random.ts";
import { forwardRequest } from "../../../host/http/forward.ts";
import { defineCommand, type Command, type Environment, type Io } from "../../framework/command.ts";
import type { Parsed } from "../../framework/flags.ts";
import { waitForStop } from "../../framework/wait-for-stop.ts";
import { serverArguments } from "./server-arguments.ts";
import { STAND_IN_VERSION } from "./stand-in-version.ts";

/** "*" or names of controllers, separated by commas: they run in the API server's process. Unset: none, as with kube-apiserver. */
export const CONTROLLERS_VARIABLE = "K8TS_ENVTEST_CONTROLLERS";

interface Options {
  /** In memory. */
  readonly own: ClusterFlagOptions;
  /** In the etcd of --etcd-servers, if it is a real one. */
  readonly inEtcd: ClusterFlagOptions | undefined;
  readonly etcdServers: readonly string[];
  readonly controllers: readonly string[];
  readonly ignored: readonly string[];
}

const withFlags = defineCommand({
  description:
    "Run an API server with the command line of kube-apiserver, for controller-runtime's envtest; the executables that `k8ts envtest` writes call it. " +
    `Objects are in memory, unless --etcd-servers is a real etcd. The environment variable ${CONTROLLERS_VARIABLE} starts controllers in the same process ("*" for all). ` +
    "Flags of kube-apiserver that k8ts does not have are ignored.",
  flags: clusterFlags,
  arguments: {},
  examples: ["k8ts envtest apiserver --secure-port=6443 --cert-dir=/tmp/certificates"],
  options: clusterFlagOptions,
  run: () => Promise.resolve(),
});

export const envtestApiServer: Command<Options> = { ...withFlags, parse, run };

function parse(argv: readonly string[], environment: Environment): Parsed<Options> {
  const { flags, etcdFlags, etcdServers, certificateDirectory, ignored } = serverArguments(argv, clusterFlags);
  const files = certificateDirectory === undefined ? [] : filesIn(certificateDirectory, flags);
  const own = withFlags.parse([...flags, ...files, "--store=memory"], environment);
  if (!own.ok) return own;
  const etcd = withFlags.parse([...flags, ...files, ...etcdFlags, `--etcd-servers=${etcdServers.join(",")}`], environment);
  const controllers = (environment[CONTROLLERS_VARIABLE] ?? "").split(",").filter((name) => name !== "");
  const inEtcd = etcd.ok && etcdServers.length > 0 ? etcd.options : undefined;
  return { ok: true, options: { own: own.options, inEtcd, etcdServers, controllers, ignored } };
}

/** envtest leaves its serving certificate where kube-apiserver looks for one, and removes the directory in the end. */
function filesIn(directory: string, flags: readonly string[]): readonly string[] {
  const certificate = join(directory, "apiserver.crt");
  const isGiven = flags.some((flag) => flag.startsWith("--tls-cert-file"));
  const tls = [`--tls-cert-file=${certificate}`, `--tls-private-key-file=${join(directory, "apiserver.key")}`];
  return [...(isGiven || !existsSync(certificate) ? [] : tls), `--kubeconfig=${join(directory, "k8ts-administrator.kubeconfig")}`];
}

async function run({ own, inEtcd, etcdServers, controllers, ignored }: Options, io: Io): Promise<void> {
  if (ignored.length > 0) io.note(`Ignored flags of kube-apiserver: ${ignored.map((name) => `--${name}`).join(", ")}`);
  const options = inEtcd !== undefined && (await isRealEtcd(etcdServers[0] ?? "", io)) ? inEtcd : own;
  const { bindAddress: address, securePort: port } = options.apiServer.serving;
  const place = { address, port, addressFlag: "--bind-address", portFlag: "--secure-port" };
  await using running = new Disposables();
  const { part, core } = running.use(await listenOrExplain(place, io, () => startStoreAndApiServer(options, io)));
  if (controllers.length > 0) {
    running.use(
      await startControllersPart({
        controllers,
        settings: controllerSettings(part),
        transportFor: (identity) => core.transport({ user: identity, userAgent: CONTROLLER_MANAGER_AGENT }),
        ...{ clock: io.clock, random: realRandom(), log: io.log, signal: io.signal },
      }),
    );
  }
  io.out(`listening on ${part.url}`);
  await waitForStop(io);
}

/** It has been started just before, so it responds at once. */
const VERSION_TIMEOUT_MS = 5_000;

/** The etcd that `k8ts envtest` writes has another version document. A server that does not respond counts as real: connecting explains why. */
async function isRealEtcd(url: string, { clock, signal }: Io): Promise<boolean> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:") return true;
  const late = new AbortController();
  const done = new AbortController();
  void clock.sleep(VERSION_TIMEOUT_MS, done.signal).then(
    () => late.abort(new Error("it does not respond")),
    () => undefined,
  );
  try {
    const place = { scheme: "http", host: hostname, port: Number(port === "" ? "80" : port) } as const;
    const given = AbortSignal.any([late.signal, signal]);
    const reply = await forwardRequest({ ...place, method: "GET", path: "/version", headers: {}, signal: given });
    const pieces: Uint8Array[] = [];
    for await (const piece of reply.pieces(given)) pieces.push(piece);
    return !Buffer.concat(pieces).toString().includes(STAND_IN_VERSION);
  } catch {
    return true;
  } finally {
    done.abort();
  }
}
