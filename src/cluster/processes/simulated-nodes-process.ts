/** The process of all simulated nodes. */
import type { Clock } from "../../base/clock.ts";
import { fileExists, joinPath } from "../../host/files/files.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { componentLog } from "../home/home-paths.ts";
import { fleetNames, simulatedFleet, type FleetConfig } from "../../components/simulated-nodes/simulated-fleet.ts";
import { writeServingFiles } from "./node-files.ts";
import type { SupervisedProcess } from "../../processes/supervised-process.ts";
import { certificateDirectory, pkiOf, type NodeStart } from "./process-start.ts";

/**
 * Simulated nodes impersonate their users, so the kubeconfig is the administrator's. They are nodes of this home, and an earlier start may
 * have left a real node of the same name; the lock of the home guarantees that its kubelet no longer runs.
 */
export async function startNodes(count: number, { options, context, door, supervise }: NodeStart): Promise<SupervisedProcess> {
  const { held, clock } = context;
  const { home } = held;
  const { namePrefix } = fleetFor(count, { options, context });
  const directory = certificateDirectory(options);
  return supervise(`registered ${count === 1 ? "1 simulated node" : `${count} simulated nodes`}`, {
    name: "process of the simulated nodes",
    logFile: componentLog(home, "nodes"),
    ready: /^simulated nodes? .* listening on port \d+$/,
    async words() {
      const nodeIp = reachableAddress() ?? "127.0.0.1";
      const words = [
        "simulated-nodes",
        `--kubeconfig=${door.kubeconfig}`,
        `--count=${count}`,
        `--name-prefix=${namePrefix}`,
        "--take-over",
      ];
      const access = [`--node-ip=${nodeIp}`, `--client-ca-file=${joinPath(directory, "ca.crt")}`];
      return [...words, ...access, ...(await clock.external(servingWords(directory, nodeIp, clock)))];
    },
  });
}

function fleetFor(count: number, { options: { store, nodeName }, context: { held } }: Pick<NodeStart, "options" | "context">): FleetConfig {
  return simulatedFleet({ count, driver: store.driver, nodeName, clusterName: held.home.name });
}

export function firstSimulated(count: number, start: NodeStart): string | undefined {
  return count === 0 ? undefined : fleetNames(fleetFor(count, start))[0];
}

/** Without the CA key the nodes generate a self-signed certificate, which an API server without --kubelet-certificate-authority accepts. */
async function servingWords(directory: string, nodeIp: string, clock: Clock): Promise<readonly string[]> {
  if (!(await fileExists(joinPath(directory, "ca.key")))) return [];
  const options = { path: joinPath(directory, "kubelet", "simulated-nodes"), name: "simulated-nodes", addresses: [nodeIp] };
  const { certificate, key } = await writeServingFiles({ ...options, pki: await pkiOf(directory, clock) }, clock.now());
  return [`--tls-cert-file=${certificate}`, `--tls-private-key-file=${key}`];
}
