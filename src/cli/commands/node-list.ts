/** `k8ts node list`: lists the nodes of a cluster on this machine. */
import { findHome } from "../../cluster/home/cluster-home.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { listedNodes } from "../../cluster/nodes/list-nodes.ts";
import { defineCommand } from "../framework/command.ts";

export const nodeList = defineCommand({
  description: "List the nodes of a cluster on this machine besides the machine itself: name, state, address and network namespace.",
  flags: homeFlags,
  arguments: {},
  examples: ["k8ts node list", "nsenter --net=/run/netns/NAMESPACE ip route"],
  options(values, environment) {
    const home = chooseHome(values, environment);
    return home.ok ? { ok: true, options: home.options } : home;
  },
  async run(choice, io) {
    const home = await findHome(choice, io.environment);
    const rows = home === undefined ? [] : await io.clock.external(listedNodes(home));
    if (rows.length === 0) return io.out(`There are no further nodes; "k8ts node add" adds one to a running cluster`);
    const all = [["NAME", "STATE", "ADDRESS", "NAMESPACE"], ...rows.map((row) => [row.name, row.state, row.address, row.namespace])];
    const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
    for (const row of all)
      io.out(
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd(),
      );
  },
});
