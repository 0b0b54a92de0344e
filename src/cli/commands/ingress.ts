/** `k8ts ingress`: runs the ingress controller as a separate process until a signal. */
import { homedir } from "node:os";
import { ingresses } from "../../api/networking.k8s.io/v1/ingress.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { createClient } from "../../client/rest-client.ts";
import { ingressFlags, startIngress } from "../../components/network/ingress.ts";
import { isServerThere } from "../../config/await-server.ts";
import { connectionFileCheck, connectionFlags, connectionSource, loadConnection } from "../../config/connection-flags.ts";
import { nodeAddressExpected } from "../../config/kubelet-flags.ts";
import { joinPath } from "../../host/files/files.ts";
import { realRandom } from "../../host/real-random.ts";
import { defineCommand } from "../framework/command.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import type { FlagSet } from "../framework/flags.ts";
import { waitForStop } from "../framework/wait-for-stop.ts";

const flags = {
  ...connectionFlags,
  "publish-address": {
    type: "string",
    placeholder: "ADDRESS",
    required: true,
    doc: "Address at which clients reach this process. It is written into the status of Ingresses.",
    expects: nodeAddressExpected,
  },
  "bind-address": { type: "string", placeholder: "ADDRESS", doc: "Address to listen on. Default: all addresses of the machine." },
  "access-log-dir": {
    type: "string",
    placeholder: "DIRECTORY",
    doc: "Directory of the access log. Default: ~/.k8ts/ingress.",
  },
  ...ingressFlags,
} as const satisfies FlagSet;

export const ingress = defineCommand({
  description:
    "Serve the Ingresses of class k8ts of a cluster until Ctrl-C (SIGINT) or SIGTERM. Requests are sent to the addresses of Pods, " +
    "which this machine must reach. The user needs the permissions of the ClusterRole system:k8ts-ingress.",
  flags,
  arguments: {},
  examples: [
    "k8ts ingress --publish-address 192.0.2.1",
    "k8ts ingress --kubeconfig a.conf --publish-address 192.0.2.1 --ingress-http-port 8080",
  ],
  options: (values) => ({ ok: true, options: values }),

  fileProblems: (values, environment) => problemsOfFiles(connectionFileCheck(values, environment)),

  async run(values, io) {
    const { clock, signal } = io;
    const log = io.log.with({ part: "ingress" });
    const connection = await loadConnection(values, io);
    await using transport = httpsTransport(connection, { clock, log, userAgent: "k8ts-ingress" });
    const source = connectionSource(values, io.environment, connection);
    const query = () => createClient(transport).with({ signal }).list(ingresses, { limit: 1 });
    if (!(await isServerThere({ server: connection.server, source, query, isFinal: () => false }, io))) return;
    await using running = await startIngress({
      ...{ values, transport, clock, random: realRandom(), log },
      addresses: [values["publish-address"]],
      host: values["bind-address"],
      directory: values["access-log-dir"] ?? joinPath(homedir(), ".k8ts", "ingress"),
    });
    const report = () => io.out(`ingress controller: ${running.description}`);
    report();
    running.onDescriptionChange?.(report);
    await waitForStop(io);
    io.out("Stopping");
  },
});
