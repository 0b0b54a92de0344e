/** `k8ts dashboard`: prints a one-time link that opens the dashboard with the identity of a kubeconfig. */
import { silentLogger } from "../../base/logger.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { chosenConnection } from "../../cluster/tokens/token-connection.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { CODE_PATH, loginLink } from "../../dashboard/data/paths.ts";
import { defineCommand } from "../framework/command.ts";

export const dashboard = defineCommand({
  description:
    "Print a link that opens the dashboard of a cluster in a browser, logged in with the identity of the kubeconfig. The link works once, within a minute. " +
    "The browser may do what this identity may do, until you log out, and for at most 12 hours.",
  flags: {
    ...homeFlags,
    kubeconfig: {
      type: "string",
      placeholder: "FILE",
      doc: "kubeconfig with the identity to log in with. Default: the administrator of the local cluster.",
    },
  },
  arguments: {},
  examples: ["k8ts dashboard", "k8ts dashboard --name second", "k8ts dashboard --kubeconfig reader.conf"],

  options(values, environment) {
    const home = chooseHome(values, environment);
    const { kubeconfig } = values;
    return home.ok ? { ok: true, options: { home: home.options, ...(kubeconfig === undefined ? {} : { kubeconfig }) } } : home;
  },

  async run(options, io) {
    const config = await chosenConnection(options, io, "open the dashboard");
    // Nothing about the code may be logged.
    await using transport = httpsTransport(config, { clock: io.clock, log: silentLogger, userAgent: "k8ts-dashboard" });
    const { code } = await transport.document(CODE_PATH, { signal: io.signal }).catch((error: unknown) => {
      throw new Error(`Cannot log in to the dashboard at ${config.server}: ${(error as Error).message}`, { cause: error });
    });
    if (typeof code !== "string")
      throw new Error(`Cannot log in to the dashboard: ${config.server} serves none; start the cluster with "k8ts up" of this version`);
    io.out(loginLink(config.server, code));
  },
});
