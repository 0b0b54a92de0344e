/** `k8ts node stop`: cuts a node of this machine off, to see what the cluster does. */
import { changeNode, runningCluster } from "../../cluster/nodes/change-node.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { defineCommand } from "../framework/command.ts";

const HOW = { disconnect: "disconnected", pause: "paused", kill: "killed" } as const;

export const nodeStop = defineCommand({
  description:
    "Make a node of this machine fail: the cluster marks it as not ready after --node-monitor-grace-period, its endpoints leave, and its Pods are evicted and replaced. k8ts node start brings it back, and so does the next k8ts up.",
  flags: {
    ...homeFlags,
    how: {
      type: "choice",
      of: ["disconnect", "pause", "kill"],
      default: "disconnect",
      doc: "disconnect: its network link is down, its Pods continue. pause: its kubelet is frozen (SIGSTOP), its Pods continue. kill: all its processes and Pods are killed, as by a power failure.",
    },
  },
  arguments: { node: { doc: "Name of the node." } },
  examples: ["k8ts node stop worker-1", "k8ts node stop worker-1 --how kill"],
  options(values, environment) {
    const home = chooseHome(values, environment);
    return home.ok ? { ok: true, options: { home: home.options, node: values.node, how: values.how } } : home;
  },
  async run({ home, node, how }, io) {
    const state = how === "pause" || how === "kill" ? HOW[how] : HOW.disconnect;
    await changeNode(await runningCluster(home, "stop a node", io), node, state, io);
    io.out(`Node ${node} is ${state}`);
  },
});
