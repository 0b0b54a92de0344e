/** `k8ts join`: runs this machine as a node of a cluster that runs elsewhere, until a signal or in the background. */
import { defineCommand } from "../framework/command.ts";
import { joinFlags, joinOptions } from "../../cluster/join/join-options.ts";

export const join = defineCommand({
  description:
    "Join this machine to a cluster as a node and run its Pods until Ctrl-C (SIGINT) or SIGTERM, or in the background with --detach. " +
    "The first time a bootstrap token and the hash of the cluster's CA are required: k8ts token create on the cluster prints the command. " +
    "The node then has a certificate of its own, which it renews; the next k8ts join needs no arguments.",
  flags: joinFlags,
  arguments: {
    address: { doc: "Address and port of the API server, such as 192.0.2.1:6443. Default: that of the last join.", optional: true },
  },
  examples: ["k8ts join", "k8ts join --detach", "k8ts join 192.0.2.1:6443 --node-ip 192.0.2.7", "k8ts join --data-dir /var/lib/k8ts-node"],
  options: joinOptions,

  async run(options, io) {
    // Loaded on demand.
    const { runJoin } = await io.clock.external(import("../../cluster/join/run-join.ts"));
    await runJoin(options, io);
  },
});
