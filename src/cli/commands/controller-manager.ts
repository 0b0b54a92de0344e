/** `k8ts controller-manager`: runs the controllers as a separate process until a signal. */
import { decodeText } from "../../api/machinery/codec/json.ts";
import type { Source } from "../../client/kubeconfig/connection-config.ts";
import { readWhole } from "../../host/files/files.ts";
import { defineCommand } from "../framework/command.ts";
import { connectionFlags, connectionFileCheck, loadConnection } from "../../config/connection-flags.ts";
import {
  chosenControllers,
  chosenControllersProblems,
  controllerFlags,
  controllerFlagWarnings,
  controllerFileChecks,
  readControllerSettings,
  signingProblems,
} from "../../config/controller-flags.ts";
import { nodeIpamProblems } from "../../config/node-ipam-flags.ts";
import { httpsTransports } from "../../components/controller-manager.ts";
import { electionOf, leaderElectFlags, leaderElectProblems, runLeaderElectedCommand } from "../shared/leader-elected-command.ts";
import { CONTROLLER_MANAGER_LEASE, startLeaderElectedControllers } from "../../components/leader-election/leader-elected-controllers.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { metricsFlags } from "../../components/pages/metrics-pages.ts";

const flags = {
  ...connectionFlags,
  ...controllerFlags,
  ...leaderElectFlags(CONTROLLER_MANAGER_LEASE),
  "use-service-account-credentials": {
    type: "boolean",
    default: true,
    doc: "Run each controller under its own service account. If false, all controllers use the identity of the kubeconfig.",
  },
  ...metricsFlags,
} as const;

export const controllerManager = defineCommand({
  description:
    "Run the Kubernetes controllers against an API server until Ctrl-C (SIGINT) or SIGTERM. With leader election several instances can run: one is active, the others are on standby.",
  flags,
  arguments: {},
  examples: [
    "k8ts controller-manager --kubeconfig pki/kubeconfigs/controller-manager.conf",
    "k8ts controller-manager --controllers=*,-garbage-collector-controller",
    "k8ts controller-manager --leader-elect=false",
  ],
  options(values) {
    const problems = [
      ...chosenControllersProblems(values),
      ...signingProblems(values),
      ...nodeIpamProblems(values),
      ...leaderElectProblems(values),
    ];
    return problems.length === 0 ? { ok: true, options: values } : { ok: false, problems };
  },
  fileProblems: (values, environment) => problemsOfFiles([...connectionFileCheck(values, environment), ...controllerFileChecks(values)]),

  async run(values, io) {
    const { clock, log } = io;
    for (const warning of controllerFlagWarnings(values)) io.note(`Warning: ${warning}`);
    const connection = await loadConnection(values, io);
    const useServiceAccountCredentials = values["use-service-account-credentials"];
    const settings = await clock.external(readControllerSettings(values, await clock.external(textOf(connection.authority))));
    await runLeaderElectedCommand(
      {
        what: "controllers",
        connection,
        election: electionOf(values),
        metricsAddress: values["metrics-address"],
        start: (context, owner, counted) =>
          startLeaderElectedControllers({
            ...context,
            controllers: chosenControllers(values),
            settings,
            transportFor: httpsTransports({ connection, useServiceAccountCredentials, counted, clock, log }, owner),
          }),
      },
      io,
    );
  },
});

async function textOf(source: Source | undefined): Promise<string> {
  if (source === undefined) return "";
  return "text" in source ? source.text : decodeText(await readWhole(source.file));
}
