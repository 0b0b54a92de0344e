/** `k8ts node remove`: removes a node of this machine from a running cluster, with its data. */
import { changeNode, runningCluster } from "../../cluster/nodes/change-node.ts";
import { countVolumesOfNode } from "../../cluster/machine/count-volumes.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { defineCommand } from "../framework/command.ts";
import { confirmationFlag, confirmDeletion, volumesText } from "../framework/confirm-deletion.ts";

export const nodeRemove = defineCommand({
  description:
    "Stop a node that k8ts node add or k8ts up --nodes created, and delete it: its Pods, its Node object, its network namespace and its data. Drain it first (kubectl drain) if its Pods must be replaced before they stop. Asks for confirmation if that deletes volumes of PersistentVolumeClaims.",
  flags: { ...homeFlags, ...confirmationFlag },
  arguments: { node: { doc: "Name of the node." } },
  examples: ["k8ts node remove worker-1", "k8ts node remove worker-1 --yes"],
  options(values, environment) {
    const home = chooseHome(values, environment);
    return home.ok ? { ok: true, options: { home: home.options, node: values.node, isSure: values.yes } } : home;
  },
  async run({ home, node, isSure }, io) {
    const cluster = await runningCluster(home, "remove a node", io);
    const volumes = isSure ? 0 : await countVolumesOfNode(cluster.home, node);
    if (volumes > 0 && !(await confirmDeletion(`node ${node} with ${volumesText(volumes)}`))) return io.out("Nothing was deleted");
    await changeNode(cluster, node, "removed", io);
    io.out(`Removed node ${node}`);
  },
});
