/** Lifecycle of a joined node in this process (run-home.ts): until a signal, or in the background. */
import { fileExists, joinPath } from "../../host/files/files.ts";
import { killThisProcess } from "../../host/processes/exit-process.ts";
import { SupervisorLost } from "../../host/processes/supervision.ts";
import type { Io } from "../../cli/framework/command.ts";
import type { HeldHome } from "../home/cluster-home.ts";
import type { ClusterRecord } from "../home/cluster-record.ts";
import { listenOrExplain } from "../listen-or-explain.ts";
import { runInHome, type RunningHome } from "../run-home.ts";
import type { JoinOptions } from "./join-options.ts";
import { secretInput } from "./join-token.ts";
import { startJoinedNode, type JoinedNode } from "./start-joined-node.ts";
import { KUBELET_PORT } from "../../kubelet/server/kubelet-server.ts";

export async function runJoin(options: JoinOptions, io: Io): Promise<void> {
  endWithSupervisor(io);
  await runInHome(
    {
      secret: () => secretInput(options),
      home: options.home,
      isDetached: options.isDetached,
      mode: "one process",
      noun: "node",
      check: checkNoCluster,
      start: (running) => listenOrExplain(PLACE, io, () => startJoinedNode(options, running)),
      introduce: (running, node, begun) => introduce(running, node, begun, options),
    },
    io,
  );
}

/** A node of a cluster that was killed ends as one that was: its Pods continue, and the next start adopts them, as those of the first node. */
function endWithSupervisor({ signal }: Io): void {
  const endIfLost = (): void => {
    if (signal.reason instanceof SupervisorLost) killThisProcess();
  };
  if (signal.aborted) endIfLost();
  signal.addEventListener("abort", endIfLost, { once: true });
}

/** The kubelet moves to another port if this one is in use. */
const PLACE = { address: "0.0.0.0", port: KUBELET_PORT, addressFlag: "--node-ip", portFlag: "--node-ip" };

async function checkNoCluster({ home }: HeldHome): Promise<void> {
  if (await fileExists(joinPath(home.pkiDirectory, "ca.key")))
    throw new Error(
      `Cannot join with ${home.directory}: it is the data directory of the cluster "${home.name}"; choose another one with --name or --data-dir`,
    );
}

async function introduce(
  { held, io }: RunningHome,
  { node, server, kubeletPort, list }: JoinedNode,
  begun: ClusterRecord,
  { isDetached }: JoinOptions,
): Promise<ClusterRecord> {
  const record: ClusterRecord = { ...begun, state: "running", role: "node", server, node, parts: list };
  await io.clock.external(held.writeRecord(record));
  for (const { name, description } of list) io.out(`  ${name}: ${description}`);
  // Supervisors wait for this line.
  io.out(`registered node ${node.name} with ${server}, container runtime ${node.runtime}, listening on port ${kubeletPort}`);
  io.out(isDetached ? `"k8ts down${held.home.commandArguments}" stops it` : "Ctrl-C stops it");
  return record;
}
