/** `k8ts apiserver`: runs a standalone API server until a signal. */
import type { ApiServerPart } from "../../components/api-server/secure-serving.ts";
import { startStoreAndApiServer } from "../../components/api-server/start-api-server.ts";
import { clusterFlagOptions, clusterFlags } from "../../config/cluster-flags.ts";
import { defineCommand } from "../framework/command.ts";
import { DECISIONS_ELSEWHERE, decisionsDocument } from "../../components/api-server/decisions-document.ts";
import { readDecisions } from "../../components/pages/decisions-page.ts";
import { fetchDecisions } from "../../components/pages/decisions-socket.ts";
import { dashboardAround } from "../../components/dashboard.ts";
import { listenOrExplain } from "../../cluster/listen-or-explain.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { clusterFileChecks } from "../../components/api-server/check-files.ts";
import { shellQuote } from "../framework/shell-quote.ts";
import { waitForStop } from "../framework/wait-for-stop.ts";

export const apiServer = defineCommand({
  description:
    "Run a standalone API server until Ctrl-C (SIGINT) or SIGTERM, and write a kubeconfig with an administrator's client certificate.",
  flags: {
    ...clusterFlags,
    dashboard: { type: "boolean", doc: "Serve the dashboard at /dashboard/." },
    "scheduler-decisions-socket": {
      type: "string",
      placeholder: "FILE",
      doc: "Unix socket of a scheduler on this machine (--decisions-socket), whose decisions are served at /debug/k8ts/decisions.",
    },
  },
  arguments: {},
  examples: ["k8ts apiserver", "k8ts apiserver --store memory --secure-port 0", "k8ts apiserver --etcd-servers http://127.0.0.1:2379"],
  options(values, environment) {
    const parsed = clusterFlagOptions(values, environment);
    return parsed.ok
      ? { ok: true, options: { ...parsed.options, hasDashboard: values.dashboard, decisionsSocket: values["scheduler-decisions-socket"] } }
      : parsed;
  },
  fileProblems: (values) => problemsOfFiles(clusterFileChecks(values)),

  async run(options, io) {
    const { decisionsSocket } = options;
    const read = (query: URLSearchParams) =>
      decisionsSocket === undefined
        ? readDecisions(query, undefined)
        : io.clock.external(fetchDecisions(decisionsSocket, query, { userHome: io.environment["HOME"] }));
    const moreDocuments = [decisionsDocument({ read, elsewhere: DECISIONS_ELSEWHERE })];
    // Assigned later: the API server serves its dashboard before it is started.
    const late: { part?: ApiServerPart } = {};
    const around = options.hasDashboard ? { aroundExchange: dashboardAround(io, () => late.part) } : {};
    const { bindAddress: address, securePort: port } = options.apiServer.serving;
    const place = { address, port, addressFlag: "--bind-address", portFlag: "--secure-port" };
    await using server = await listenOrExplain(place, io, () => startStoreAndApiServer(options, { ...io, moreDocuments, ...around }));
    late.part = server.part;
    io.out(`export KUBECONFIG=${shellQuote(server.part.kubeconfig)}`);
    io.out(`listening on ${server.part.url}`);
    await waitForStop(io);
    io.out("Stopping");
  },
});
