/** `k8ts apiserver`: runs a standalone API server until a signal. */
import { startStoreAndApiServer } from "../../components/api-server-core.ts";
import { clusterFlagOptions, clusterFlags } from "../../config/cluster-flags.ts";
import { defineCommand } from "../framework/command.ts";
import { DECISIONS_ELSEWHERE, decisionsDocument } from "../../components/decisions-document.ts";
import { listenOrExplain } from "../../cluster/listen-or-explain.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { clusterLooks } from "../../components/check-named-files.ts";
import { shellWord } from "../framework/shell-quote.ts";
import { untilStopped } from "../framework/until-stopped.ts";

export const apiServer = defineCommand({
  description:
    "Run a standalone API server until Ctrl-C (SIGINT) or SIGTERM, and write a kubeconfig with an administrator's client certificate.",
  flags: clusterFlags,
  arguments: {},
  examples: ["k8ts apiserver", "k8ts apiserver --store memory --secure-port 0", "k8ts apiserver --etcd-servers http://127.0.0.1:2379"],
  options: clusterFlagOptions,
  fileProblems: (values) => problemsOfFiles(clusterLooks(values)),

  async run(options, io) {
    const moreDocuments = [decisionsDocument({ acting: () => undefined, elsewhere: DECISIONS_ELSEWHERE })];
    const { bindAddress: address, securePort: port } = options.apiServer.serving;
    const place = { address, port, addressFlag: "--bind-address", portFlag: "--secure-port" };
    await using server = await listenOrExplain(place, io, () => startStoreAndApiServer(options, { ...io, moreDocuments }));
    io.out(`export KUBECONFIG=${shellWord(server.part.kubeconfig)}`);
    io.out(`listening on ${server.part.url}`);
    await untilStopped(io);
    io.out("Stopping");
  },
});
