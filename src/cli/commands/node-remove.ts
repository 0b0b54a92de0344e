/** `k8ts node remove`: removes a node of this machine from a running cluster, with its data. */
import { changeNode, runningCluster } from "../../cluster/nodes/change-node.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { defineCommand } from "../framework/command.ts";

export const nodeRemove = defineCommand({
  description:
    "Stop a node that k8ts node add or k8ts up --nodes created, and delete it: its Pods, its Node object, its network namespace and its data. Drain it first (kubectl drain) if its Pods must be replaced before they stop.",
  flags: homeFlags,
  arguments: { node: { doc: "Name of the node." } },
  examples: ["k8ts node remove worker-1"],
  options(values, environment) {
    const home = chooseHome(values, environment);
    return home.ok ? { ok: true, options: { home: home.options, node: values.node } } : home;
  },
  async run({ home, node }, io) {
    await changeNode(await runningCluster(home, "remove a node", io), node, "removed", io);
    io.out(`Removed node ${node}`);
  },
});
