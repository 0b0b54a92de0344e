/** `k8ts node start`: brings a node back that k8ts node stop cut off. */
import { changeNode, runningCluster } from "../../cluster/nodes/change-node.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { defineCommand } from "../framework/command.ts";

export const nodeStart = defineCommand({
  description: "Bring back a node of this machine that k8ts node stop cut off. Pods that were evicted meanwhile are stopped on it.",
  flags: homeFlags,
  arguments: { node: { doc: "Name of the node." } },
  examples: ["k8ts node start worker-1"],
  options(values, environment) {
    const home = chooseHome(values, environment);
    return home.ok ? { ok: true, options: { home: home.options, node: values.node } } : home;
  },
  async run({ home, node }, io) {
    await changeNode(await runningCluster(home, "start a node", io), node, "running", io);
    io.out(`Node ${node} is running`);
  },
});
