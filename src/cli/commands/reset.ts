/** `k8ts reset`: stops a cluster and deletes its data, volumes, certificates, images, logs and kubectl context. */
import { fileExists } from "../../host/files/files.ts";
import { defineCommand } from "../framework/command.ts";
import { confirmationFlag, confirmDeletion, volumesText } from "../framework/confirm-deletion.ts";
import { findHome, type ClusterHome } from "../../cluster/home/cluster-home.ts";
import { countVolumes } from "../../cluster/machine/count-volumes.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { removeHome } from "../../cluster/home/remove-home.ts";
import { stopCluster } from "../../cluster/stop-cluster.ts";
import { stopTimeoutFlag, stopTimeoutMs } from "../../cluster/stop-flags.ts";
import { removeContexts } from "../../cluster/kubeconfig/user-contexts.ts";

export const reset = defineCommand({
  description:
    "Stop a local cluster and delete it: its data, volumes, certificates, images, logs and kubectl context. Asks for confirmation.",
  flags: { ...homeFlags, ...stopTimeoutFlag, ...confirmationFlag },
  arguments: {},
  examples: ["k8ts reset", "k8ts reset --yes", "k8ts reset --name second --yes"],

  options(values, environment) {
    const home = chooseHome(values, environment);
    return home.ok ? { ok: true, options: { home: home.options, timeoutMs: stopTimeoutMs(values), isSure: values.yes } } : home;
  },

  async run({ home: choice, timeoutMs, isSure }, io) {
    const home = await findHome(choice, io.environment);
    if (home === undefined) {
      if (await fileExists(choice.directory))
        throw new Error(
          `Cannot delete ${choice.directory}: it is not the directory of a cluster; "k8ts status --all" lists the clusters of this machine`,
        );
      return io.out(`Nothing to delete: there is no cluster in ${choice.directory}`);
    }
    if (!isSure && !(await isConfirmed(home))) return io.out("Nothing was deleted");
    await stopCluster(home, { timeoutMs, isForGood: true }, io);
    await reportRemovedContexts(home, io);
    const left = await io.clock.external(removeHome(home));
    io.out(`Deleted cluster "${home.name}" (${home.directory})`);
    if (left.length > 0) io.out(`Kept files that k8ts did not create: ${left.join(", ")}`);
  },
});

async function isConfirmed(home: ClusterHome): Promise<boolean> {
  const volumes = await countVolumes(home);
  const including = volumes === 0 ? "" : `, including ${volumesText(volumes)}`;
  return confirmDeletion(`cluster "${home.name}" and all data in ${home.directory}${including}`);
}

/** A kubeconfig that cannot be changed does not prevent the deletion of the rest. */
async function reportRemovedContexts(home: ClusterHome, { out, note, clock }: Parameters<typeof reset.run>[1]): Promise<void> {
  try {
    const { takenOut, problems } = await clock.external(removeContexts(home, clock));
    for (const { kubeconfig, contexts } of takenOut) out(`Removed ${contextsText(contexts)} from ${kubeconfig}`);
    for (const problem of problems) note(`Warning: ${problem}`);
  } catch (error) {
    note(`Warning: ${(error as Error).message}`);
  }
}

/** The user may have removed only the context. */
function contextsText(contexts: readonly string[]): string {
  return contexts.length === 0 ? "remaining entries of its context" : `context ${contexts.map((name) => `"${name}"`).join(", ")}`;
}
