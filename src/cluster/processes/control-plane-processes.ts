/** The processes of API server, controllers and scheduler: their command lines, and the lines that say that they are ready. */
import { fileExists, joinPath } from "../../host/files/files.ts";
import { tryPort } from "../../host/network/free-port.ts";
import { componentLog, decisionsSocket } from "../home/home-paths.ts";
import type { StartClusterContext } from "../start-cluster.ts";
import type { UpOptions } from "../up-options.ts";
import { featureGateArguments } from "../../config/api-server-config.ts";
import { clusterIpamArguments } from "../../config/node-ipam-flags.ts";
import type { PodNetworkPart } from "../machine/prepare-machine.ts";
import { rangesOf } from "../machine/machine-network.ts";
import { clusterCidrsOf } from "../../api/pod-ranges.ts";
import { autoscalerArguments } from "../../config/autoscaler-flags.ts";
import { certificateDirectory, type OwnOptions } from "./process-start.ts";

type Processes = NonNullable<UpOptions["processes"]>;

export async function apiServerPart(
  options: UpOptions & { readonly processes: Processes },
  { held: { home } }: StartClusterContext,
): Promise<OwnOptions> {
  const { bindAddress: host, securePort: port, additionalBindAddresses = [], advertiseAddress } = options.apiServer.serving;
  const given = options.processes.apiServerWords;
  const forPods = additionalBindAddresses.map((address) => `--additional-bind-address=${address}`);
  const advertised = advertiseAddress === undefined ? [] : [`--advertise-address=${advertiseAddress}`];
  // Port conflicts are reported as without --processes.
  await tryPort({ host, port });
  return {
    name: "API server",
    logFile: componentLog(home, "apiserver"),
    ready: LISTENING,
    // An automatically chosen port is kept, because it is in kubeconfigs.
    words: (line) => [
      "apiserver",
      "--dashboard",
      `--scheduler-decisions-socket=${decisionsSocket(home)}`,
      ...given.filter((word) => !/^--(additional-bind|advertise)-address=/.test(word)),
      ...forPods,
      ...advertised,
      `--secure-port=${line === undefined ? port : new URL(urlOf(line)).port}`,
    ],
  };
}

const LISTENING = /^listening on (\S+)$/;

export function urlOf(line: string): string {
  return LISTENING.exec(line)?.[1] ?? "";
}

export function controllersPart(
  options: UpOptions,
  { held: { home } }: StartClusterContext,
  network: PodNetworkPart | undefined,
): OwnOptions {
  const { api, identity } = options.apiServer;
  const { serviceClusterIpRange } = api;
  const ranges = rangesOf(network);
  const clusterCidrs = ranges === undefined ? [] : clusterCidrsOf(ranges);
  const directory = certificateDirectory(options);
  const [certificate, key] = [joinPath(directory, "ca.crt"), joinPath(directory, "ca.key")];
  return {
    name: "controllers",
    logFile: componentLog(home, "controllers"),
    ready: STANDS,
    async words() {
      // The CA key may be kept elsewhere: then certificates are signed elsewhere.
      const signing = (await fileExists(key)) ? [`--cluster-signing-cert-file=${certificate}`, `--cluster-signing-key-file=${key}`] : [];
      const chosen = options.controllers.map((name) => `--controllers=${name}`);
      return [
        "controller-manager",
        `--kubeconfig=${kubeconfigOf(options, "controller-manager")}`,
        ...chosen,
        `--load-balancer-range=${options.loadBalancerRange}`,
        `--node-monitor-grace-period=${options.nodeMonitorGracePeriod}`,
        ...autoscalerArguments(options.autoscaler),
        ...featureGateArguments(api.featureGates),
        ...clusterIpamArguments({ clusterCidrs, serviceClusterIpRange }),
        ...signing,
        `--service-account-private-key-file=${identity.serviceAccount.signingKeyFile ?? joinPath(directory, "sa.key")}`,
        ...election(options),
      ];
    },
  };
}

export function schedulerPart(options: UpOptions, { held: { home } }: StartClusterContext): OwnOptions {
  const file = options.scheduler === undefined ? [] : [`--config=${options.scheduler}`];
  const kubeconfig = `--kubeconfig=${kubeconfigOf(options, "scheduler")}`;
  return {
    name: "scheduler",
    logFile: componentLog(home, "scheduler"),
    ready: STANDS,
    words: () => ["scheduler", kubeconfig, ...file, `--decisions-socket=${decisionsSocket(home)}`, ...election(options)],
  };
}

/** It is active, or on standby. */
const STANDS = /^(active as |(?:controllers|scheduler) for .*, leader election with )/;

function election({ store }: UpOptions): readonly string[] {
  return store.driver === "etcd" ? [] : ["--leader-elect=false"];
}

function kubeconfigOf(options: UpOptions, part: string): string {
  return joinPath(certificateDirectory(options), "kubeconfigs", `${part}.conf`);
}
