/** `k8ts node add`: adds a node in a network namespace of this machine to a running cluster. */
import { addNode, runningCluster } from "../../cluster/nodes/change-node.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { upFlags } from "../../cluster/up-flags.ts";
import { defineCommand } from "../framework/command.ts";

export const nodeAdd = defineCommand({
  description:
    "Add a node to a running cluster on this machine, in a network namespace with a kubelet, containerd and network components of its own, and wait until it is registered. The next k8ts up starts it again.",
  flags: homeFlags,
  arguments: {
    node: { doc: "Name of the node. Default: that of the machine's node and a number.", optional: true },
  },
  examples: ["k8ts node add", "k8ts node add worker-1"],
  options(values, environment) {
    const home = chooseHome(values, environment);
    const expected = values.node === undefined ? undefined : upFlags["node-name"].expects(values.node);
    if (!home.ok || expected !== undefined)
      return { ok: false, problems: [...(home.ok ? [] : home.problems), ...(expected === undefined ? [] : [`NODE must be ${expected}`])] };
    return { ok: true, options: { home: home.options, node: values.node } };
  },
  async run({ home, node }, io) {
    const name = await addNode(await runningCluster(home, "add a node", io), node, io);
    io.out(`Added node ${name}`);
  },
});
